"""The Review page over the real desk: keys reach the vault, Undo brings items back, rules and batches hold."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from desk_rig import came, have, make_pair
from engine_rig import Rig
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton
from pytestqt.qtbot import QtBot
from review_room import dialog_of
from window_rig import settle

from core.types.values import Source
from ui.context import Context
from ui.pages.review.dialogs import DatesDialog, MergedTextDialog
from ui.pages.review.page import ReviewPage
from ui.pages.review.queue import ClosedDialog
from ui.registry import ROOMS
from ui.shell.window import MainWindow


class Desk:
    """The window on its Review page, over a real engine."""

    def __init__(self, context: Context, rig: Rig, qtbot: QtBot) -> None:
        self.context, self.rig, self.qtbot = context, rig, qtbot
        self.window = MainWindow(context, ROOMS)
        self.window.show()
        qtbot.waitExposed(self.window)
        self.window.activateWindow()

    def open(self) -> ReviewPage:
        """Go to the page."""
        self.window.show_page("review")
        page = self.page
        settle(self.qtbot, page.is_settled)
        return page

    @property
    def page(self) -> ReviewPage:
        """The page."""
        assert self.window.house is not None
        found = self.window.house.page
        assert isinstance(found, ReviewPage)
        return found

    def press(self, key: Qt.Key, held: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        """Press a key when the desk is ready."""
        self.window.activateWindow()  # a dialog that closed gives the keyboard back to nobody here
        settle(self.qtbot, lambda: self.page.is_ready and self.window.isActiveWindow())
        QTest.keyClick(self.window.focusWidget() or self.page, key, held)

    def statuses(self) -> dict[str, str]:
        """Text to status."""
        return dict(self.rig.rows("SELECT text, status FROM memories"))

    def states(self) -> list[tuple[str, str | None]]:
        """State and resolution of every item, oldest first."""
        return [(state, how) for state, how in self.rig.rows("SELECT state, resolution FROM conflicts ORDER BY id")]


@pytest.fixture
def desk(context: Context, rig: Rig, qtbot: QtBot) -> Iterator[Desk]:
    made = Desk(context, rig, qtbot)
    yield made
    settle(qtbot, lambda: not context.tasks.running)
    made.window.close()
    made.window.deleteLater()


def test_a_pair_is_shown_as_the_desk_reads_it(desk: Desk, rig: Rig) -> None:
    make_pair(rig)
    page = desk.open()
    assert page.item_panel.question == "Where do you live: Graz or Vienna?"
    assert [part.original for part in page.item_panel.existing_card.text.parts if part.is_odd] == ["Graz"]
    assert [part.original for part in page.item_panel.incoming_card.text.parts if part.is_odd] == ["Vienna"]
    assert page.item_panel.actions_bar.remember.isHidden()  # what stands is the owner's word


def test_left_keeps_mine_and_ctrl_z_brings_the_question_back(desk: Desk, rig: Rig) -> None:
    make_pair(rig)
    page = desk.open()
    desk.press(Qt.Key.Key_Left)
    settle(desk.qtbot, lambda: desk.states() == [("resolved", "reject")])
    assert desk.statuses() == {"User lives in Graz.": "active", "User lives in Vienna.": "archived"}
    settle(desk.qtbot, lambda: "Undo" in [made.text() for made in desk.window.findChildren(QAbstractButton)])
    assert desk.window.toasts.sentence.endswith("done.")
    settle(desk.qtbot, lambda: not desk.context.tasks.running)
    desk.window.activateWindow()
    undo = desk.window.actions_box._actions["edit.undo"]
    settle(desk.qtbot, lambda: desk.window.isActiveWindow() and undo.isEnabled())
    QTest.keyClick(desk.window.focusWidget() or page, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    settle(desk.qtbot, lambda: desk.states() == [("open", None)])
    assert desk.statuses()["User lives in Vienna."] == "quarantined"
    settle(desk.qtbot, lambda: len(page.queue.rows) == 1 and page.is_settled())


def test_right_takes_the_new_one(desk: Desk, rig: Rig) -> None:
    make_pair(rig)
    desk.open()
    desk.press(Qt.Key.Key_Right)
    settle(desk.qtbot, lambda: desk.states() == [("resolved", "supersede")])
    assert desk.statuses() == {"User lives in Graz.": "superseded", "User lives in Vienna.": "active"}


def test_both_and_dates_and_merge_reach_the_vault(desk: Desk, rig: Rig) -> None:
    for number, name in enumerate(("Ada", "Ben", "Cleo")):
        old = have(f"{name} lives in Graz.", None, recalled=3 - number)
        make_pair(rig, old, came(f"{name} lives in Vienna.", None), suggestion=None)
    page = desk.open()
    desk.press(Qt.Key.Key_B)
    settle(desk.qtbot, lambda: len(page.queue.rows) == 2 and page.is_settled())
    desk.press(Qt.Key.Key_D)
    dates = dialog_of(page, DatesDialog, desk.qtbot)
    assert isinstance(dates, DatesDialog)
    dates.act.click()
    settle(desk.qtbot, lambda: len(page.queue.rows) == 1 and page.is_settled())
    desk.press(Qt.Key.Key_M)
    merge = dialog_of(page, MergedTextDialog, desk.qtbot)
    assert isinstance(merge, MergedTextDialog)
    merge.field.setPlainText("One of them lives in Graz and works in Vienna.")
    merge.act.click()
    settle(desk.qtbot, lambda: {how for _, how in desk.states()} == {"keep_both", "keep_both_dated", "merge"})
    assert desk.statuses()["One of them lives in Graz and works in Vienna."] == "active"
    settle(desk.qtbot, lambda: "Nothing to review" in page.states.currentWidget().accessibleName())  # type: ignore[union-attr]  # something is shown


def test_a_batch_is_one_step(desk: Desk, rig: Rig, qtbot: QtBot) -> None:
    client = rig.client("Claude Code", "read", "write")
    for name in ("Ada", "Ben", "Cleo"):
        new = came(f"{name} lives in Vienna.", None, client_id=client.client_id)
        make_pair(rig, have(f"{name} lives in Graz.", None), new)
    page = desk.open()
    before = rig.value("SELECT count(*) FROM undo_steps")
    desk.press(Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    assert page.batch.title == "3 chosen"
    desk.press(Qt.Key.Key_Left)
    settle(qtbot, lambda: desk.states() == [("resolved", "reject")] * 3)
    assert rig.value("SELECT count(*) FROM undo_steps") == before + 1


def test_a_tick_becomes_a_rule_that_is_listed(desk: Desk, rig: Rig, qtbot: QtBot) -> None:
    client = rig.client("Claude Code", "read", "write")
    old = have("The shed is green.", None, source=Source.DOCUMENT)
    new = came("The shed is red.", None, source=Source.INFERENCE, client_id=client.client_id)
    make_pair(rig, old, new)
    page = desk.open()
    page.item_panel.actions_bar.remember.setChecked(True)
    desk.press(Qt.Key.Key_Left)
    settle(qtbot, lambda: rig.value("SELECT count(*) FROM review_rules") == 1)
    assert rig.rows("SELECT kind, action FROM review_rules") == [("contradiction", "reject")]


def test_one_memory_alone_is_accepted_or_turned_down(desk: Desk, rig: Rig, qtbot: QtBot) -> None:
    make_pair(rig, None, came("Node 24 runs.", None), kind="proposal", alone=True, suggestion=None)
    page = desk.open()
    assert page.item_panel.existing_card.isHidden()
    desk.press(Qt.Key.Key_Right)
    settle(qtbot, lambda: desk.statuses() == {"Node 24 runs.": "active"})


def test_what_was_settled_elsewhere_leaves_the_queue_and_says_why(desk: Desk, rig: Rig, qtbot: QtBot) -> None:
    pair = make_pair(rig)
    make_pair(rig, have("Ada lives in Graz.", None), came("Ada lives in Vienna.", None))
    page = desk.open()
    assert len(page.queue.rows) == 2
    rig.forget(pair.came)
    settle(qtbot, lambda: pair.item not in [row.id for row in page.queue.rows])
    page.queue.see_why.click()
    dialog = dialog_of(page, ClosedDialog, qtbot)
    assert isinstance(dialog, ClosedDialog)
    settle(qtbot, lambda: any("Closed automatically" in line.why for line in dialog.list.lines.list_rows()))
    dialog.close_button.click()


def test_locking_leaves_nothing_of_the_desk(desk: Desk, rig: Rig, qtbot: QtBot) -> None:
    make_pair(rig)
    desk.open()
    desk.window.lock_vault()
    settle(qtbot, lambda: desk.window.house is None)
    shown = [made.text() for made in desk.window.status.findChildren(QAbstractButton) if made.isVisible()]
    assert not any("Review" in text for text in shown)
