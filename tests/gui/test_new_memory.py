"""Writing a memory in the window: what is stored, what is said of it, what a closed dialog and a locked vault keep."""

from __future__ import annotations

import json
from concurrent.futures import Future
from importlib.resources import files

import pytest
from engine_rig import Rig
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog
from pytestqt.qtbot import QtBot
from window_rig import hear, remember, settle

from core.errors import Code, EnvironmentFaultError
from core.types.replies import StoreReply
from core.types.sensitivity import SensitiveType
from core.types.values import Kind, SecurityTier
from ui.context import Context
from ui.registry import ROOMS
from ui.shell.new_memory import MemoryDraft, NewMemoryDialog, describe_protection, make_follow_up, name_outcome
from ui.shell.window import MainWindow

OUTCOMES = json.loads((files("resources") / "help" / "new_memory.json").read_text(encoding="utf-8"))["outcomes"]


@pytest.fixture
def draft() -> MemoryDraft:
    return MemoryDraft()


@pytest.fixture
def dialog(context: Context, draft: MemoryDraft, qtbot: QtBot) -> NewMemoryDialog:
    made = NewMemoryDialog(context, draft, None)  # type: ignore[arg-type]  # nothing holds it but the test
    made.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, on=False)
    qtbot.addWidget(made)
    made.show()
    return made


def test_what_is_written_is_stored_as_the_persons_own_word(
    dialog: NewMemoryDialog, context: Context, rig: Rig, qtbot: QtBot, draft: MemoryDraft
) -> None:
    heard = hear(context)
    assert not dialog.save_button.isEnabled()
    QTest.keyClicks(dialog.text, "The ferry to Skerrow sails at nine.")
    QTest.keyClick(dialog.text, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    settle(qtbot, lambda: not dialog.isVisible())
    rows = rig.rows("SELECT m.text, m.kind, s.name, m.source FROM memories m JOIN spaces s ON s.id = m.space_id")
    assert [tuple(row) for row in rows] == [("The ferry to Skerrow sails at nine.", "fact", "home", "user_explicit")]
    assert heard.sentences == [OUTCOMES["saved"]]
    assert draft.text == ""


def test_kind_and_space_are_the_chosen_ones(context: Context, rig: Rig, qtbot: QtBot) -> None:
    remember(rig.engine, "The printer wants blue paper.", space="work")
    again = NewMemoryDialog(context, MemoryDraft(), None)  # type: ignore[arg-type]  # nothing holds it but the test
    again.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, on=False)
    qtbot.addWidget(again)
    settle(qtbot, lambda: again.space.findData("work") >= 0)
    again.space.setCurrentIndex(again.space.findData("work"))
    again.kinds.show_choice("rule")
    again.text.setPlainText("Answer in short sentences.")
    again.save_memory()
    settle(qtbot, lambda: "Answer in short sentences." in {row[0] for row in rig.rows("SELECT text FROM memories")})
    (row,) = rig.rows(
        "SELECT m.kind, s.name FROM memories m JOIN spaces s ON s.id = m.space_id WHERE m.text LIKE 'Answer%'"
    )
    assert tuple(row) == (Kind.RULE.value, "work")


def test_a_refused_text_stays_and_says_why(
    dialog: NewMemoryDialog, rig: Rig, qtbot: QtBot, draft: MemoryDraft, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed: Future[StoreReply] = Future()
    failed.set_exception(EnvironmentFaultError(Code.DISK_FULL, "The disk is full."))
    monkeypatch.setattr(rig.engine.memories, "store", lambda *_: failed)
    dialog.text.setPlainText("The quinces are ripe.")
    dialog.save_memory()
    settle(qtbot, lambda: bool(dialog.problem.text()))
    assert dialog.isVisible()
    assert dialog.problem.text().startswith("The disk is full")
    assert draft.text == dialog.text.toPlainText() == "The quinces are ripe."
    monkeypatch.undo()
    dialog.save_button.click()
    settle(qtbot, lambda: not dialog.isVisible())
    assert rig.value("SELECT count(*) FROM memories") == 1


def test_a_text_that_contradicts_leads_to_its_question(context: Context, qtbot: QtBot) -> None:
    went: list[tuple[str, str]] = []
    context.desk.go.connect(lambda page, target: went.append((page, target)))
    title, run = make_follow_up(context, StoreReply("ADD", "m1", conflict="item1"))
    run()
    assert (title, went) == ("Decide", [("review", "item1")])
    title, run = make_follow_up(context, StoreReply("ADD", "m1"))
    run()
    assert (title, went[-1], context.selection.current) == ("Show", ("library", ""), "m1")


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        (StoreReply("ADD", "m"), "saved"),
        (StoreReply("SUPERSEDE", "m", superseded=("o",)), "replaced"),
        (StoreReply("NOOP", "m", deduplicated=True), "known"),
        (StoreReply("MERGE", "m", merged=True), "merged"),
        (StoreReply("ADD", "m", conflict="i"), "conflict"),
        (StoreReply("QUARANTINE", "m", conflict="i"), "held"),
        (StoreReply("QUARANTINE", "m"), "rejected"),
    ],
)
def test_every_outcome_has_its_sentence(reply: StoreReply, outcome: str) -> None:
    assert name_outcome(reply) == outcome
    assert OUTCOMES[outcome].endswith(".")


def test_what_was_protected_is_told_by_the_kind_of_what_was_found(rig: Rig) -> None:
    reply = rig.store("My card for the boatyard is 4111 1111 1111 1111.")
    told = describe_protection(reply)
    assert told == (
        "Saved. It contains a card number, so Loci protected it: no assistant can read it without your permission."
    )
    assert describe_protection(rig.store("The hall is green.")) == ""
    found = frozenset({SensitiveType.EMAIL, SensitiveType.PERSON_NAME, SensitiveType.PHONE})
    several = StoreReply("ADD", "m", protection=(SecurityTier.SENSITIVE, found))
    assert "contains an e-mail address, the name of a person and a phone number, so" in describe_protection(several)
    assert describe_protection(StoreReply("ADD", "m", protection=(SecurityTier.CLEARTEXT, found))) == ""


def test_the_window_opens_it_by_key_keeps_the_draft_and_drops_it_with_the_lock(
    context: Context, rig: Rig, qtbot: QtBot
) -> None:
    window = MainWindow(context, ROOMS)
    qtbot.addWidget(window)
    window.show()
    qtbot.waitExposed(window)

    def opened() -> NewMemoryDialog | None:
        shown = [one for one in window.findChildren(NewMemoryDialog) if one.isVisible()]
        return shown[0] if shown else None

    context.commands.run("file.new")
    settle(qtbot, lambda: opened() is not None)
    first = opened()
    assert first is not None
    first.text.setPlainText("The boiler is serviced in")
    first.reject()
    settle(qtbot, lambda: opened() is None)
    window.top.new.click()
    second = opened()
    assert second is not None
    assert second.text.toPlainText() == "The boiler is serviced in"
    rig.lock()
    settle(qtbot, lambda: window.house is None)
    assert not [one for one in window.findChildren(QDialog) if one.isVisible()]
    rig.unlock()
    settle(qtbot, lambda: window.house is not None)
    window.write_memory()
    third = opened()
    assert third is not None
    assert third.text.toPlainText() == ""
    third.reject()
    window.close()
