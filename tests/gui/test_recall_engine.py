"""The Recall page over the real laboratory: why a memory did not come, a weight with its effect, applied, undone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from engine_rig import Rig
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton
from pytestqt.qtbot import QtBot
from window_rig import settle

from core.types.values import Status
from core.types.views import Revision
from ui.context import Context
from ui.inspector.panel import Inspector
from ui.inspector.provenance import DisclosuresSection
from ui.pages.recall.page import RecallPage
from ui.pages.recall.why_not import WhyNotDialog
from ui.registry import ROOMS
from ui.shell.window import MainWindow

QUESTION = "which harbour crane one stands at the pier"


class Lab:
    """The window on its Recall page, over a real engine."""

    def __init__(self, context: Context, rig: Rig, qtbot: QtBot) -> None:
        self.context, self.rig, self.qtbot = context, rig, qtbot
        self.window = MainWindow(context, ROOMS)
        self.window.show()
        qtbot.waitExposed(self.window)
        self.window.resize(1440, 900)
        self.window.activateWindow()

    @property
    def page(self) -> RecallPage:
        """The page."""
        assert self.window.house is not None
        found = self.window.house.page
        assert isinstance(found, RecallPage)
        return found

    def rest(self) -> None:
        """Wait until nothing is under way."""
        settle(self.qtbot, lambda: not self.context.tasks.running and self.page.is_settled())

    def ask(self, question: str = QUESTION) -> RecallPage:
        """Go to the page and ask."""
        self.window.show_page("recall")
        self.rest()
        self.page.ask_question(question)
        self.rest()
        return self.page

    def order(self) -> list[str]:
        """Texts of the answer."""
        return [row.text for row in self.page.list.lines.list_rows() if row.is_answer]

    def press(self, key: Qt.Key) -> None:
        """Press a key on the list."""
        self.window.activateWindow()
        settle(self.qtbot, self.window.isActiveWindow)
        self.page.list.setFocus()
        QTest.keyClick(self.page.list, key)
        self.rest()


@pytest.fixture
def lab(context: Context, rig: Rig, qtbot: QtBot) -> Iterator[Lab]:
    made = Lab(context, rig, qtbot)
    yield made
    settle(qtbot, lambda: not context.tasks.running)
    made.window.close()
    made.window.deleteLater()


def cranes(rig: Rig) -> tuple[str, str]:
    """Two memories of the same words but one; the one that fits less matters more."""
    plain = rig.store("Harbour crane one stands at the pier.", importance=0.0).memory_id
    weighty = rig.store("Harbour crane nine stands at the pier.", importance=1.0).memory_id
    rig.store("Quince jam needs a lemon.")
    return plain, weighty


def why(lab: Lab, memory_id: str) -> str:
    """What the page says of a memory that is named."""
    lab.page.acts.ask_why_missing(memory_id)
    found = next(one for one in lab.page.findChildren(WhyNotDialog) if one.isVisible())
    settle(lab.qtbot, lambda: bool(found.sentence))
    sentence = found.sentence
    found.accept()
    return sentence


def test_an_answer_says_where_it_stood_in_every_list(lab: Lab, rig: Rig) -> None:
    plain, _ = cranes(rig)
    page = lab.ask()
    first = page.list.lines.list_rows()[0]
    assert first.id == plain
    assert "search words: " in first.note
    assert sum(first.parts.values()) == pytest.approx(first.score)
    assert page.pane.funnel.boxes["answered"].count == len(lab.order())
    lab.press(Qt.Key.Key_Return)
    assert page.list.open_row is not None


def test_why_a_memory_did_not_come_is_found(lab: Lab, rig: Rig) -> None:
    plain, weighty = cranes(rig)
    stays = rig.store("A recipe for plum cake with cinnamon.").memory_id
    rig.engine.library.revise_memories((weighty,), Revision(status=Status.ARCHIVED)).result(30)
    lab.ask()
    assert why(lab, plain).startswith("It is 1st in the answer")
    assert "It is archived." in why(lab, weighty)
    assert not why(lab, stays).startswith("It is in the answer")


def test_a_weight_is_tried_applied_and_undone(lab: Lab, rig: Rig) -> None:
    plain, weighty = cranes(rig)
    page = lab.ask()
    assert page.list.lines.list_rows()[0].id == plain
    lab.page.list.select_memory(weighty)
    lab.press(Qt.Key.Key_S)  # it should be among the first: a question to try weights on
    settle(lab.qtbot, lambda: len(rig.engine.recall_trials.list_probes().result(30)) == 1)
    knobs = {knob.name: knob for knob in page.tuner.knobs}
    knobs["side_bound"].slider.setValue(0)
    knobs["sides_importance"].slider.setValue(100)
    knobs["sides_confidence"].slider.setValue(0)
    knobs["sides_recency"].slider.setValue(0)
    lab.rest()
    assert page.list.lines.list_rows()[0].id == weighty
    assert page.list.lines.list_rows()[0].moved == 1
    assert rig.found(QUESTION)[0] == "Harbour crane one stands at the pier."  # nothing is applied yet
    assert page.tuner.effect.lines[0].startswith("Found in first 5: now 1 of 1, would be 1 of 1")

    page.tuner.apply.click()
    lab.rest()
    settle(lab.qtbot, lambda: rig.found(QUESTION)[0] == "Harbour crane nine stands at the pier.")
    lab.rest()
    assert page.list.lines.list_rows()[0].id == weighty
    assert page.list.lines.list_rows()[0].moved == 0
    (applied,) = rig.engine.recall_trials.list_applications().result(30)
    assert set(applied.changes) == {"side_bound", "sides_importance", "sides_confidence", "sides_recency"}

    undo = next(made for made in lab.window.findChildren(QAbstractButton) if made.text() == "Undo" and made.isVisible())
    undo.click()
    settle(lab.qtbot, lambda: rig.found(QUESTION)[0] == "Harbour crane one stands at the pier.")
    settle(lab.qtbot, lambda: page.list.lines.list_rows()[0].id == plain)
    settle(lab.qtbot, lambda: knobs["side_bound"].value_text == "0.95")
    lab.rest()


def test_not_this_one_holds_for_the_question_and_is_undone(lab: Lab, rig: Rig) -> None:
    plain, _ = cranes(rig)
    page = lab.ask()
    page.list.select_memory(plain)
    lab.press(Qt.Key.Key_X)
    settle(lab.qtbot, lambda: plain not in [row.id for row in page.list.lines.list_rows() if row.is_answer])
    assert "not this one" in why(lab, plain)
    undo = next(made for made in lab.window.findChildren(QAbstractButton) if made.text() == "Undo" and made.isVisible())
    undo.click()
    settle(lab.qtbot, lambda: plain in [row.id for row in page.list.lines.list_rows() if row.is_answer])
    lab.rest()


def test_a_trial_is_no_access(lab: Lab, rig: Rig) -> None:
    cranes(rig)
    lab.ask()
    rig.engine.flush_journal()
    assert rig.value("SELECT count(*) FROM accesses") == 0
    assert rig.value("SELECT count(*) FROM receipts") == 0


def test_a_clients_view_leaves_out_what_it_may_not_see(lab: Lab, rig: Rig) -> None:
    plain, _ = cranes(rig)
    rig.client("Claude Code", "read")
    page = lab.ask()
    assert plain in [row.id for row in page.list.lines.list_rows()]
    settle(lab.qtbot, lambda: len(page.header.chips.view.menu().actions()) == 2)
    page.header.chips.view.menu().actions()[1].trigger()
    lab.rest()
    assert plain not in [row.id for row in page.list.lines.list_rows() if row.is_answer]


def test_the_inspector_says_to_whom_a_memory_was_given(lab: Lab, rig: Rig) -> None:
    client = rig.client("Claude Code", "read", "all_spaces")
    plain, weighty = cranes(rig)
    rig.recall(QUESTION, client, limit=1)
    rig.engine.flush_journal()
    lab.ask()
    assert isinstance(lab.window.house and lab.window.house.inspector, Inspector)
    lab.page.list.select_memory(plain)
    lab.press(Qt.Key.Key_I)
    part = lab.window.findChild(DisclosuresSection)
    assert part is not None
    settle(lab.qtbot, lambda: part.sentence.text().startswith("Given once, to Claude Code on "))
    lab.page.list.select_memory(weighty)
    settle(lab.qtbot, lambda: part.sentence.text().startswith("Never given to an assistant yet."))
    lab.rest()
