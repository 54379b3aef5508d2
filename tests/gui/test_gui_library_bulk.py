"""Changing many memories: shown beforehand, one undo step, said afterwards; and what it does to the table's place."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from engine_rig import Rig, facts
from library_rig import put_away
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot
from window_rig import hear, remember, settle

from core.security.passphrase import KdfCost
from core.types.values import Status
from core.types.views import Facets, FindRequest
from ui.context import Context
from ui.pages.library.dialogs import ImportanceForm, MoveForm, PlainForm, RevisionDialog, TagForm
from ui.pages.library.page import LIBRARY, LibraryPage, library_commands
from ui.pages.library.table import _join_ranges
from ui.undo import undo_step
from ui.widgets.secret import NewPassphraseDialog


@pytest.fixture
def page(qtbot: QtBot, context: Context, rig: Rig) -> Iterator[LibraryPage]:
    """The page over eight facts, entered."""
    rig.bring(facts(8))
    made = LIBRARY.make(context)
    assert isinstance(made, LibraryPage)
    made.resize(1200, 700)
    made.show()
    context.bridge.changed.connect(made.handle_change)
    made.activate()
    settle(qtbot, lambda: made.facets is not None and made.table.memories.row_of(first(made)) is not None)
    yield made
    put_away(qtbot, made)


def first(page: LibraryPage) -> str:
    """The memory of the first line, "" where there is none."""
    return next(iter(page.table.memories.ids), "")


def found(rig: Rig, query: str) -> int:
    """How many memories match."""
    return len(rig.engine.library.find_memories(FindRequest(query)).result(30).ids)


def asked(qtbot: QtBot, page: LibraryPage, act: str) -> RevisionDialog:
    """Ask for an act and wait for the dialog."""
    page.run_action(act)
    dialog = page.changes.dialog
    assert isinstance(dialog, RevisionDialog)
    qtbot.waitExposed(dialog)
    return dialog


def undo_last(context: Context) -> list[object]:
    """Catches what the toast's button would do."""
    kept: list[object] = []
    context.desk.message_asked.connect(lambda _sentence, _action, run: kept.append(run))
    return kept


def test_forgetting_one_is_immediate_and_can_be_undone(
    qtbot: QtBot, page: LibraryPage, rig: Rig, context: Context
) -> None:
    heard, runs = hear(context), undo_last(context)
    page.table.selectRow(2)
    gone, next_one = page.table.memories.ids[2], page.table.memories.ids[3]
    QTest.keyClick(page.table, Qt.Key.Key_Delete)
    settle(qtbot, lambda: page.table.memories.rowCount() == 7)
    assert heard.sentences == ["1 memory forgotten."]
    assert gone not in page.table.memories.ids
    assert page.table.chosen_ids() == (next_one,)  # one can go on by keyboard
    assert context.selection.current == next_one
    run = runs[0]
    assert callable(run)
    run()
    settle(qtbot, lambda: page.table.memories.rowCount() == 8)
    assert page.table.chosen_ids() == (next_one,)


def test_forgetting_many_is_shown_first(qtbot: QtBot, page: LibraryPage, rig: Rig, context: Context) -> None:
    heard = hear(context)
    page.table.selectAll()
    dialog = asked(qtbot, page, "forget")
    settle(qtbot, dialog.act.isEnabled)
    assert dialog.act.text() == "Forget 8 memories"
    assert dialog.summary == "8 memories will change:"
    assert len(dialog.list_examples()) == 8
    assert dialog.list_examples()[0][1] == "Active  →  Forgotten"
    assert found(rig, "") == 8  # nothing was done yet
    dialog.act.click()
    settle(qtbot, lambda: page.table.memories.rowCount() == 0)
    assert heard.sentences == ["8 memories forgotten."]
    assert page.bar.isHidden()


def test_cancelled_is_nothing(qtbot: QtBot, page: LibraryPage, rig: Rig) -> None:
    page.table.selectAll()
    dialog = asked(qtbot, page, "archive")
    settle(qtbot, dialog.act.isEnabled)
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    settle(qtbot, lambda: not page.context.tasks.running)
    assert found(rig, "status:archived") == 0


def test_moving_makes_the_space(qtbot: QtBot, page: LibraryPage, rig: Rig, context: Context) -> None:
    heard = hear(context)
    page.table.selectAll()
    dialog = asked(qtbot, page, "move")
    assert isinstance(dialog.form, MoveForm)
    assert not dialog.act.isEnabled()
    dialog.form.space.setEditText("garden")
    assert "It will be created" in dialog.form._note.text()
    settle(qtbot, dialog.act.isEnabled)
    assert dialog.list_examples()[0][1] == "home  →  garden"
    dialog.act.click()
    settle(qtbot, lambda: bool(heard.sentences))
    assert heard.sentences == ["8 memories moved to garden."]
    assert found(rig, "space:garden") == 8


def test_tagging_offers_what_is_used(qtbot: QtBot, page: LibraryPage, rig: Rig, context: Context) -> None:
    remember(rig.engine, "Already tagged", tags=("boat",))
    settle(qtbot, lambda: page.facets is not None and "boat" in page.facets.tags)
    settle(qtbot, lambda: page.table.memories.rowCount() == 9)
    settle(qtbot, lambda: page.table.memories.row_of(first(page)) is not None)
    heard = hear(context)
    page.table.selectAll()
    dialog = asked(qtbot, page, "tag")
    assert isinstance(dialog.form, TagForm)
    dialog.form._make_tag_adder("boat")()
    dialog.form._make_tag_adder("boat")()
    assert dialog.form.add.text() == "boat"
    dialog.form.add.setText("boat, new ,, new")
    settle(qtbot, dialog.act.isEnabled)
    assert dialog.act.text() == "Tag 9 memories"
    assert ("none  →  boat, new") in {change for _, change in dialog.list_examples()}
    dialog.act.click()
    settle(qtbot, lambda: bool(heard.sentences))
    assert found(rig, "tag:boat tag:new") == 9


def test_importance_and_what_is_like_that_already(qtbot: QtBot, page: LibraryPage, rig: Rig) -> None:
    page.table.selectAll()
    dialog = asked(qtbot, page, "importance")
    assert isinstance(dialog.form, ImportanceForm)
    settle(qtbot, lambda: dialog.summary == "They already are.")
    assert not dialog.act.isEnabled()
    dialog.form.slider.setValue(18)
    settle(qtbot, dialog.act.isEnabled)
    assert dialog.list_examples()[0][1] == "0.50  →  0.90"
    dialog.act.click()
    settle(qtbot, lambda: found(rig, "importance:>=0.9") == 8)


def test_refused_is_said_with_its_reason(qtbot: QtBot, page: LibraryPage, rig: Rig, context: Context) -> None:
    heard = hear(context)
    page.changes.run_action("archive", page.table.memories.ids[:1])
    settle(qtbot, lambda: bool(heard.sentences))
    page.query.set_text("status:all")
    settle(qtbot, lambda: page.table.memories.rowCount() == 8)
    page.table.selectAll()
    dialog = asked(qtbot, page, "restore")
    settle(qtbot, dialog.act.isEnabled)
    assert dialog.summary == "7 need no change. 1 memory will change:"
    dialog.reject()
    gone = page.table.memories.ids[0]
    rig.forget(gone)
    page.changes.run_action("pin", [gone])
    settle(qtbot, lambda: heard.sentences[-1].startswith("Nothing changed. It is forgotten"))


def test_pin_becomes_unpin(qtbot: QtBot, page: LibraryPage, rig: Rig) -> None:
    page.table.selectRow(0)
    QTest.keyClick(page.table, Qt.Key.Key_P)
    settle(qtbot, lambda: found(rig, "is:pinned") == 1)
    settle(qtbot, lambda: page._are_pinned)
    QTest.keyClick(page.table, Qt.Key.Key_P)
    settle(qtbot, lambda: found(rig, "is:pinned") == 0)


def test_memories_are_hidden_from_assistants_and_shown_again(qtbot: QtBot, page: LibraryPage, rig: Rig) -> None:
    page.table.selectAll()
    dialog = asked(qtbot, page, "protect")
    settle(qtbot, dialog.act.isEnabled)
    dialog.act.click()
    settle(qtbot, lambda: found(rig, "tier:sensitive") == found(rig, "") > 1)
    page.changes.run_action("unprotect", page.table.memories.ids[:1])
    settle(qtbot, lambda: found(rig, "tier:cleartext") == 1)


def test_bar_offers_what_makes_sense_and_what_has_room(qtbot: QtBot, page: LibraryPage) -> None:
    page.table.selectAll()
    assert "restore" not in page.bar.offered_actions()
    assert not page.bar.find_button("tag").isHidden()
    page.resize(480, 700)
    settle(qtbot, lambda: page.bar.find_button("export").isHidden())
    page.bar._fill_menu()
    assert "Export …\tX" in [action.text() for action in page.bar._menu.actions()]


def test_export_writes_what_is_chosen(qtbot: QtBot, page: LibraryPage, rig: Rig, context: Context) -> None:
    heard = hear(context)
    page.table.selectAll()
    page.run_action("export")
    dialog = page.changes.dialog
    assert dialog is not None
    qtbot.waitExposed(dialog)
    to = rig.folder / "out.md"
    page.changes.write_export(page.table.chosen_ids()[:3], to, "")
    settle(qtbot, lambda: bool(heard.sentences))
    assert heard.sentences == ["3 memories exported."]
    assert to.read_text().startswith("# Memories")
    lines = Path(rig.folder / "out")
    page.changes.write_export(page.table.chosen_ids(), lines, "")
    settle(qtbot, lambda: len(heard.sentences) == 2)
    assert len([json.loads(line) for line in lines.read_text().splitlines()]) == 8
    dialog.close()


def test_an_archive_asks_for_a_passphrase_of_its_own(
    qtbot: QtBot, page: LibraryPage, rig: Rig, context: Context
) -> None:
    rig.engine.library.archive_cost = KdfCost.lowest()
    heard, to = hear(context), rig.folder / "all.loci"
    page.changes.write_export(page.table.chosen_ids(), to, "")
    dialog = page.changes.dialog
    assert isinstance(dialog, NewPassphraseDialog)
    qtbot.waitExposed(dialog)
    dialog.act.click()
    assert dialog.trouble.text() == "It needs at least 12 characters."
    dialog.first.setText("twelve o'clock in the kitchen")
    assert dialog.trouble.isHidden()
    dialog.second.setText("twelve o'clock in the garden")
    dialog.act.click()
    assert dialog.trouble.text() == "The two do not match. Type it again."
    dialog.second.setText("twelve o'clock in the kitchen")
    dialog.act.click()
    settle(qtbot, lambda: bool(heard.sentences))
    assert heard.sentences == ["8 memories exported, encrypted."]
    assert to.read_bytes().startswith(b"LOCI-ARCHIVE")


def test_everything_is_exported_by_one_command_of_the_file_menu(
    qtbot: QtBot, page: LibraryPage, rig: Rig, context: Context
) -> None:
    (command,) = library_commands(context)
    assert (command.menu, command.title) == ("file", "Export everything, encrypted …")
    asked: list[tuple[str, str]] = []
    context.desk.go.connect(lambda *to: asked.append(to))
    command.run()
    ((name, target),) = asked
    assert name == LIBRARY.id
    page.activate(target)
    dialog = page.changes.dialog
    assert isinstance(dialog, QFileDialog)
    assert page.query.text == ""
    dialog.fileSelected.emit(str(rig.folder / "all.loci"))
    assert isinstance(page.changes.dialog, NewPassphraseDialog)
    page.changes.dialog.close()
    dialog.close()


def test_a_change_outlives_its_page(qtbot: QtBot, context: Context, rig: Rig) -> None:
    kept = remember(rig.engine, "Stays").memory_id
    page = LIBRARY.make(context)
    assert isinstance(page, LibraryPage)
    heard = hear(context)
    page.changes.run_action("archive", [kept])
    page.deleteLater()
    settle(qtbot, lambda: heard.sentences == ["1 memory archived."])
    undo_step(context, rig.engine.history.next_undo().result(30).id)  # type: ignore[union-attr]  # there is one
    settle(qtbot, lambda: rig.get(kept).status is Status.ACTIVE)


def test_forms_that_are_not_filled_ask_for_nothing(qtbot: QtBot, context: Context) -> None:
    tag, move = TagForm(None), MoveForm(context, Facets({}, {}, {"home": 3}, {}, {}, {}, {}, None, None))
    for form in (tag, move):
        qtbot.addWidget(form)
        assert form.make_revision() is None
    tag.remove.setText("old")
    assert tag.make_revision() is not None
    assert tag.describe_done() == "untagged"
    assert PlainForm.describe_value(tag, "deleted") == "Forgotten"  # type: ignore[arg-type]  # a bag of fields


def test_lines_are_joined() -> None:
    assert list(_join_ranges([])) == []
    assert list(_join_ranges([0, 1, 2, 5, 7, 8])) == [(0, 2), (5, 5), (7, 8)]
