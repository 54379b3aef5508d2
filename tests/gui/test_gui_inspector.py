"""The inspector: it follows the selection, keeps unsaved words, and lets go at locking."""

from __future__ import annotations

from engine_rig import Rig
from inspector_rig import (
    look,
    press,
    text_section,
    words_of,
    write_anew,
)
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPlainTextEdit, QPushButton
from pytestqt.qtbot import QtBot
from window_rig import hear, settle

from core.types.values import Kind, Status
from core.types.views import Revision
from ui.context import Context, Inspected, InspectorSection, InspectorSectionSpec
from ui.inspector.panel import Inspector
from ui.inspector.text import TextSection


def test_it_teaches_while_nothing_is_selected(inspector: Inspector) -> None:
    assert inspector.inspected is None
    assert "Nothing is selected" in words_of(inspector)


def test_it_shows_the_selected_memory_with_kind_status_and_where_it_is_kept(
    qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector
) -> None:
    stored = rig.store("The weir is closed.", kind=Kind.RULE, tags=("river",), category="place", importance=0.7)
    look(qtbot, inspector, context, stored.memory_id)
    assert inspector.caps.whole == "RULE · ACTIVE"
    assert inspector.date.whole.startswith(("You · Said ", "You · Added "))
    said = words_of(text_section(inspector))
    assert "home" in said
    assert "place" in said
    assert "0.70" in said
    assert text_section(inspector).view.toPlainText() == "The weir is closed."
    assert [b.text() for b in text_section(inspector).findChildren(QPushButton) if b.property("kind") == "chip"] == [
        "river"
    ]


def test_it_says_in_which_room_a_memory_lies_and_leads_there(
    qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector
) -> None:
    placed = [rig.store(f"The weir number {n} is closed.").memory_id for n in range(3)]
    look(qtbot, inspector, context, placed[0])
    assert inspector.room.isHidden()
    rig.engine.palace.place_waiting().result(60)
    room = rig.engine.palace.find_locus(placed[0]).result(30).room
    settle(qtbot, lambda: not inspector.room.isHidden())
    assert inspector.room.button.accessibleName() == f"Room: {room}, wing home"
    gone: list[tuple[str, str]] = []
    context.desk.go.connect(lambda page, target: gone.append((page, target)))
    inspector.room.button.click()
    assert gone == [("palace", f"show:{placed[0]}")]


def test_the_line_above_a_section_goes_with_it(qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector) -> None:
    look(qtbot, inspector, context, rig.store("The weir is closed.").memory_id)
    parts = [(section, line) for _, section, line in inspector._column.sections if not section.isHidden()]
    section, line = parts[2]
    assert not line.isHidden()
    section.hide()
    assert line.isHidden()
    section.show()
    assert not line.isHidden()
    (first, _), (second, below) = parts[:2]
    assert not below.isHidden()
    first.hide()
    assert (second.isHidden(), below.isHidden()) == (False, True), "nothing is above it any more"
    first.show()
    assert not below.isHidden()


def test_only_the_last_of_quick_selections_is_shown(
    qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector
) -> None:
    ids = [rig.store(f"Jar number {n}").memory_id for n in range(5)]
    for memory_id in ids:
        context.selection.select(memory_id, "test")
    settle(qtbot, lambda: inspector.inspected is not None)
    assert inspector.inspected is not None
    assert inspector.inspected.memory.id == ids[-1]


def test_a_memory_that_is_gone_is_said_to_be(qtbot: QtBot, context: Context, inspector: Inspector) -> None:
    context.selection.select("no-such-memory", "test")
    settle(qtbot, lambda: "This memory is no longer here" in words_of(inspector))
    assert inspector.inspected is None


def test_it_reads_anew_when_the_memory_changes(qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector) -> None:
    memory_id = rig.store("The bell rings at six.").memory_id
    look(qtbot, inspector, context, memory_id)
    rig.engine.library.revise_memories((memory_id,), Revision(pinned=True)).result(30)
    settle(qtbot, lambda: inspector.caps.whole == "FACT · ACTIVE · PINNED")


def test_hidden_it_reads_nothing_and_once_shown_what_stands_then(
    qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector
) -> None:
    first, second = (rig.store(f"Jar number {n}").memory_id for n in range(2))
    look(qtbot, inspector, context, first)
    inspector.hide()
    context.selection.select(second, "test")
    qtbot.wait(300)
    assert inspector.inspected is not None
    assert inspector.inspected.memory.id == first
    inspector.show()
    settle(qtbot, lambda: inspector.inspected is not None and inspector.inspected.memory.id == second)
    inspector.hide()
    rig.engine.library.revise_memories((second,), Revision(pinned=True)).result(30)
    qtbot.wait(300)
    assert inspector.caps.whole == "FACT · ACTIVE"
    inspector.show()
    settle(qtbot, lambda: inspector.caps.whole == "FACT · ACTIVE · PINNED")


def test_a_selection_taken_back_while_it_is_hidden_leaves_nothing_to_show(
    qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector
) -> None:
    look(qtbot, inspector, context, rig.store("The bell rings at six.").memory_id)
    inspector.hide()
    context.selection.select("", "test")
    inspector.show()
    assert inspector.inspected is None
    assert "Nothing is selected" in words_of(inspector)


def test_a_version_made_elsewhere_is_followed_and_its_undo_too(
    qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector
) -> None:
    old = rig.store("The bell rings at six.").memory_id
    look(qtbot, inspector, context, old)
    report = rig.engine.library.revise_memories((old,), Revision(text="The bell rings at seven.")).result(30)
    settle(qtbot, lambda: context.selection.current == report.ids[0])
    settle(qtbot, lambda: inspector.inspected is not None and inspector.inspected.memory.text.endswith("seven."))
    rig.undo(report.step_id)
    settle(qtbot, lambda: inspector.inspected is not None and inspector.inspected.memory.id == old)
    assert inspector.inspected is not None
    assert inspector.inspected.memory.status is Status.ACTIVE


def test_an_old_version_that_was_asked_for_stays(
    qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector
) -> None:
    old = rig.store("The bell rings at six.").memory_id
    rig.engine.library.revise_memories((old,), Revision(text="The bell rings at seven.")).result(30)
    look(qtbot, inspector, context, old)
    context.selection.reselect(old, "test")
    qtbot.wait(300)
    assert context.selection.current == old
    assert inspector.caps.whole == "FACT · OUTDATED"


def test_locking_leaves_no_word_behind(qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector) -> None:
    look(qtbot, inspector, context, rig.store("The key lies under the third pot.").memory_id)
    write_anew(context, inspector, "Under the fourth pot")
    rig.lock()
    settle(qtbot, lambda: inspector.inspected is None)
    settle(qtbot, lambda: len(inspector.findChildren(TextSection)) == 1)
    assert not text_section(inspector).is_editing
    shown = [field.toPlainText() for field in inspector.findChildren(QPlainTextEdit)]
    assert "pot" not in "".join(shown) + text_section(inspector).view.toPlainText() + words_of(inspector)
    assert context.selection.current == ""
    heard = hear(context)
    context.commands.run("memory.edit")
    assert heard.sentences == ["Select a memory first."]


def test_sections_come_in_the_order_of_the_list_and_for_their_kinds(qtbot: QtBot, rig: Rig, context: Context) -> None:
    class Word(InspectorSection):
        """A section of a later issue."""

        def show_memory(self, inspected: Inspected) -> bool:
            return inspected.memory.text != "hush"

    specs = [
        InspectorSectionSpec("second", 5, Word),
        InspectorSectionSpec("first", 1, Word),
        InspectorSectionSpec("rules", 2, Word, frozenset({Kind.RULE})),
    ]
    made = Inspector(context, specs)
    qtbot.addWidget(made)
    made.show()
    look(qtbot, made, context, rig.store("said").memory_id)
    assert not made.find_section("first").isHidden()
    assert made.find_section("rules").isHidden()
    look(qtbot, made, context, rig.store("hush").memory_id)
    assert made.find_section("first").isHidden()


def test_hidden_characters_stand_as_marks_and_are_copied_as_they_were(
    qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector
) -> None:
    text = "pay \u202egnp.exe\u202c\u200b\u200b now\r\nor 😀 later"
    look(qtbot, inspector, context, rig.store(text).memory_id)
    part = text_section(inspector)
    assert "U+202E" in part.view.toPlainText()
    assert "U+200B×2" in part.view.toPlainText()
    assert "\u202e" not in part.view.toPlainText()
    assert not part.hidden.isHidden()
    part.view.selectAll()
    part.view.copy()
    assert QGuiApplication.clipboard().text() == text


def test_markup_in_a_memory_stays_what_was_written(
    qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector
) -> None:
    text = '<b>bold</b> <img src="http://x.example/y.png"> &amp;'
    look(qtbot, inspector, context, rig.store(text).memory_id)
    assert text_section(inspector).view.toPlainText() == text


def test_a_long_text_is_folded_and_opens(qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector) -> None:
    text = "\n".join(f"Line {n} of a long note about the harbour." for n in range(60))
    look(qtbot, inspector, context, rig.store(text).memory_id)
    part = text_section(inspector)
    settle(qtbot, lambda: part.fold.text() == f"Show all {len(text):,} characters")
    folded = part.view.height()
    part.fold.click()
    assert part.view.height() > folded * 3
    assert part.fold.text() == "Show less"


def test_editing_makes_a_version_and_moves_the_selection(
    qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector
) -> None:
    old = rig.store("The ferry leaves at nine.").memory_id
    look(qtbot, inspector, context, old)
    heard = hear(context)
    write_anew(context, inspector, "The ferry leaves at ten.")
    QTest.keyClick(text_section(inspector).editor.field, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    settle(qtbot, lambda: inspector.inspected is not None and inspector.inspected.memory.id != old)
    assert inspector.inspected is not None
    assert inspector.inspected.memory.text == "The ferry leaves at ten."
    assert inspector.inspected.memory.supersedes_id == old
    assert heard.sentences == ["Saved. The old version stays in the history."]
    assert not text_section(inspector).is_editing


def test_saving_without_a_change_makes_no_version(
    qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector
) -> None:
    text = "No break\u00a0here\u2028nor there."
    memory_id = rig.store(text).memory_id
    look(qtbot, inspector, context, memory_id)
    context.commands.run("memory.edit")
    assert text_section(inspector).editor.written == text
    press(inspector, "Save")
    assert not text_section(inspector).is_editing
    assert rig.value("SELECT count(*) FROM memories") == 1


def test_no_break_spaces_and_line_ends_survive_an_edit(
    qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector
) -> None:
    look(qtbot, inspector, context, rig.store("ten\u00a0km\r\nand back").memory_id)
    context.commands.run("memory.edit")
    text_section(inspector).editor.field.insertPlainText("!")
    assert text_section(inspector).editor.written == "ten\u00a0km\r\nand back!"


def test_what_cannot_be_saved_is_said_in_place(qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector) -> None:
    memory_id = rig.store("The ferry leaves at nine.").memory_id
    rig.store("The bridge is shut.")
    look(qtbot, inspector, context, memory_id)
    heard = hear(context)
    editor = text_section(inspector).editor
    for words, reason in (("nul\0nul", "NUL"), ("   ", "empty"), ("The bridge is shut.", "same words")):
        write_anew(context, inspector, words)
        press(inspector, "Save")
        settle(qtbot, lambda: reason in editor.wrong.text())  # noqa: B023 - within the loop
        assert text_section(inspector).is_editing
        assert editor.save_button.isEnabled()
    assert heard.sentences == []
    assert heard.problems == []


def test_the_editor_can_take_hidden_characters_out(
    qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector
) -> None:
    look(qtbot, inspector, context, rig.store("safe\u202etxt.\u200bexe").memory_id)
    context.commands.run("memory.edit")
    press(inspector, "Remove them")
    assert text_section(inspector).editor.written == "safetxt.exe"


def test_unsaved_words_are_asked_about(qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector) -> None:
    first, second = (rig.store(text).memory_id for text in ("The ferry leaves at nine.", "The bridge is shut."))
    look(qtbot, inspector, context, first)
    write_anew(context, inspector, "The ferry leaves at ten.")
    context.selection.select(second, "test")
    settle(qtbot, lambda: "This text is not saved yet." in words_of(inspector))
    assert inspector.inspected is not None
    assert inspector.inspected.memory.id == first
    press(inspector, "Stay here")
    assert context.selection.current == first
    assert text_section(inspector).editor.written == "The ferry leaves at ten."
    context.selection.select(second, "test")
    settle(qtbot, lambda: "This text is not saved yet." in words_of(inspector))
    press(inspector, "Save")
    settle(qtbot, lambda: inspector.inspected is not None and inspector.inspected.memory.id == second)
    assert rig.texts() == ["The bridge is shut.", "The ferry leaves at ten."]


def test_discarded_words_are_gone(qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector) -> None:
    first, second = (rig.store(text).memory_id for text in ("The ferry leaves at nine.", "The bridge is shut."))
    look(qtbot, inspector, context, first)
    write_anew(context, inspector, "Never mind.")
    context.selection.select(second, "test")
    settle(qtbot, lambda: "This text is not saved yet." in words_of(inspector))
    press(inspector, "Discard")
    settle(qtbot, lambda: inspector.inspected is not None and inspector.inspected.memory.id == second)
    assert not text_section(inspector).is_editing
    assert rig.value("SELECT count(*) FROM memories") == 2


def test_esc_leaves_the_editor_and_the_words_can_be_had_back(
    qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector
) -> None:
    look(qtbot, inspector, context, rig.store("The ferry leaves at nine.").memory_id)
    offered: list[object] = []
    context.desk.message_asked.connect(lambda _sentence, title, run: offered.extend((title, run)))
    write_anew(context, inspector, "The ferry leaves at ten.")
    QTest.keyClick(text_section(inspector).editor.field, Qt.Key.Key_Escape)
    assert not text_section(inspector).is_editing
    assert offered[0] == "Keep editing"
    assert callable(offered[1])
    offered[1]()
    assert text_section(inspector).editor.written == "The ferry leaves at ten."
