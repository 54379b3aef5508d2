"""The inspector's parts beside the text, and its verbs: what they say, what they do, and that it can be undone."""

from __future__ import annotations

import json

from belief_rig import derive
from engine_rig import Rig
from inspector_rig import (
    conversation,
    edge,
    footer,
    lines,
    look,
    press,
    text_section,
    words_of,
)
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot
from window_rig import hear, settle

from core.types.views import Revision
from ui.context import Context
from ui.inspector.dialogs import MoveDialog
from ui.inspector.history import HistorySection
from ui.inspector.panel import Inspector
from ui.inspector.provenance import ProvenanceSection
from ui.inspector.relations import RelationsSection
from ui.inspector.text_view import TextView, plain_runs_of_text
from ui.registry import INSPECTOR_SECTIONS
from ui.widgets.basics import make_column


def test_a_message_is_told_with_its_conversation_and_the_place_can_be_walked(
    qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector
) -> None:
    ids = conversation(rig)
    look(qtbot, inspector, context, ids[2])
    part = inspector.find_section("provenance")
    assert isinstance(part, ProvenanceSection)
    assert part.sentence.text() == "You said so on 3 Mar 2026, 10:00, in a conversation."
    assert "rows.jsonl, line 3" in part.way.text()
    part.place.button.click()
    settle(qtbot, lambda: len(lines(part.round)) == 5)
    assert [line.memory_id for line in lines(part.round)] == ids[:5]
    assert [line.property("current") for line in lines(part.round)] == ["false", "false", "true", "false", "false"]
    assert part.round.earlier.isHidden()
    part.round.later.click()
    settle(qtbot, lambda: len(lines(part.round)) == 6)
    lines(part.round)[5].click()
    settle(qtbot, lambda: inspector.inspected is not None and inspector.inspected.memory.id == ids[5])
    settle(qtbot, lambda: [x.memory_id for x in lines(part.round) if x.property("current") == "true"] == [ids[5]])
    assert len(lines(part.round)) == 6


def test_sections_are_made_one_at_a_time_while_nothing_is_shown(qtbot: QtBot, rig: Rig, context: Context) -> None:
    def made(inspector: Inspector) -> int:
        return sum(child.objectName().startswith("section-") for child in inspector.findChildren(QWidget))

    inspector = Inspector(context, INSPECTOR_SECTIONS)
    qtbot.addWidget(inspector)
    assert made(inspector) == 0, "the window waits for none of them"
    counts = {0}

    def grow() -> bool:
        counts.add(made(inspector))
        return made(inspector) == len(INSPECTOR_SECTIONS)

    inspector._column._make_soon.timeout.connect(grow)
    settle(qtbot, grow)
    assert len(counts) > len(INSPECTOR_SECTIONS) // 2


def test_a_text_reads_without_its_marks_and_is_there_as_stored(
    qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector
) -> None:
    stored = "## Moss\n**Moss** likes cheese \ue200cite\ue202turn0search1\ue201."
    look(qtbot, inspector, context, rig.store(stored).memory_id)
    section = text_section(inspector)
    assert section.view.toPlainText() == "Moss\nMoss likes cheese."
    assert section.hidden.isHidden(), "a code of a source is no hidden text"
    section.stored.click()
    assert section.view.toPlainText().startswith("## Moss\n**Moss** likes cheese")
    section.stored.click()
    assert section.view.toPlainText() == "Moss\nMoss likes cheese."
    look(qtbot, inspector, context, rig.store("Moss likes cheese rinds.").memory_id)
    assert section.stored.isHidden()


def test_the_exact_values_can_be_copied(qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector) -> None:
    memory_id = rig.store("The weir is closed.").memory_id
    look(qtbot, inspector, context, memory_id)
    part = inspector.find_section("provenance")
    assert isinstance(part, ProvenanceSection)
    assert part.sentence.text().startswith("You wrote it down on ")
    copies = [tool for tool in part.values.findChildren(QWidget) if tool.accessibleName() == "Copy: Id"]
    copies[0].click()  # type: ignore[attr-defined]  # the widget or clock of this test has it
    assert QGuiApplication.clipboard().text() == memory_id


def test_relations_are_said_in_words_and_lead_to_the_other(
    qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector
) -> None:
    one, two, three = (rig.store(text).memory_id for text in ("Budget: 2,400.", "Budget: 3,100.", "An invoice."))
    edge(rig, two, one, "contradicts")
    edge(rig, three, one, "supports")
    look(qtbot, inspector, context, one)
    part = inspector.find_section("relations")
    assert isinstance(part, RelationsSection)
    settle(qtbot, lambda: len(lines(part)) == 2)
    assert [line.memory_id for line in lines(part)] == [two, three]
    assert "Contradicts" in words_of(part)
    assert "Supported by" in words_of(part)
    lines(part)[0].click()
    settle(qtbot, lambda: context.selection.current == two)


def test_a_statement_shows_what_it_was_made_of(qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector) -> None:
    said, made = (rig.store(text).memory_id for text in ("I got a new kitten, Luna!", "Caroline has a kitten, Luna."))
    derive(rig, made, said)
    look(qtbot, inspector, context, made)
    part = inspector.find_section("relations")
    settle(qtbot, lambda: [line.memory_id for line in lines(part)] == [said])
    assert "Made of" in words_of(part)


def test_parts_of_a_split_text_are_listed(qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector) -> None:
    memory_id = rig.store("A sentence about the long river. " * 600).memory_id
    look(qtbot, inspector, context, memory_id)
    part = inspector.find_section("relations")
    settle(qtbot, lambda: len(lines(part)) > 1)
    assert inspector.inspected is not None
    assert len(lines(part)) == len(inspector.inspected.detail.parts)
    heard = hear(context)
    context.commands.run("memory.edit")
    assert heard.sentences == ["It is part of a longer text. Parts cannot be edited separately."]


def test_history_marks_what_differs_and_brings_old_words_back(
    qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector
) -> None:
    old = rig.store("The release is on 28 November.").memory_id
    new = rig.engine.library.revise_memories((old,), Revision(text="The release is on 12 December.")).result(30).ids[0]
    look(qtbot, inspector, context, new)
    part = inspector.find_section("history")
    assert isinstance(part, HistorySection)
    views = sorted(part.findChildren(TextView), key=lambda view: view.accessibleName(), reverse=True)
    assert [(run.original, run.style) for run in views[0].parts if run.style != "plain"] == [
        ("28", "removed"), ("12", "added"), ("November", "removed"), ("December", "added"),
    ]  # fmt: skip
    assert {run.style for run in views[1].parts} == {"removed"}
    press(part, "Restore this version")
    settle(qtbot, lambda: inspector.inspected is not None and inspector.inspected.memory.version == 3)
    assert inspector.inspected is not None
    assert inspector.inspected.memory.text == "The release is on 28 November."


def test_history_is_silent_for_a_memory_that_never_changed(
    qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector
) -> None:
    look(qtbot, inspector, context, rig.store("The weir is closed.").memory_id)
    assert inspector.find_section("history").isHidden()
    assert inspector.find_section("relations").isHidden()


def test_forgetting_can_be_undone_and_brought_back(
    qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector
) -> None:
    memory_id = rig.store("The weir is closed.").memory_id
    look(qtbot, inspector, context, memory_id)
    undo: list[object] = []
    context.desk.message_asked.connect(lambda _sentence, title, run: undo.append(run) if title == "Undo" else None)
    context.commands.run("memory.forget")
    settle(qtbot, lambda: inspector.caps.whole == "FACT · FORGOTTEN")
    assert rig.texts() == []
    settle(qtbot, lambda: footer(inspector) == ["Restore"])
    assert callable(undo[0])
    undo[0]()
    settle(qtbot, lambda: inspector.caps.whole == "FACT · ACTIVE")
    context.commands.run("memory.archive")
    settle(qtbot, lambda: inspector.caps.whole == "FACT · ARCHIVED")
    press(inspector.find_section("history"), "Restore")
    settle(qtbot, lambda: inspector.caps.whole == "FACT · ACTIVE")


def test_letters_act_while_the_inspector_has_the_keyboard_and_not_in_the_editor(
    qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector
) -> None:
    look(qtbot, inspector, context, rig.store("The weir is closed.").memory_id)
    inspector.activateWindow()
    part = text_section(inspector)
    part.view.setFocus()
    QTest.keyClick(part.view, Qt.Key.Key_P)
    settle(qtbot, lambda: inspector.caps.whole == "FACT · ACTIVE · PINNED")
    settle(qtbot, lambda: footer(inspector)[1:2] == ["Unpin"])  # it is made anew
    QTest.keyClick(part.view, Qt.Key.Key_E)
    settle(qtbot, lambda: part.is_editing)
    QTest.keyClick(part.editor.field, Qt.Key.Key_P)
    assert part.editor.written == "The weir is closed.p"
    assert inspector.inspected is not None
    assert inspector.inspected.memory.pinned


def test_a_memory_is_hidden_from_assistants_and_shown_again(
    qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector
) -> None:
    look(qtbot, inspector, context, rig.store("The weir is closed.").memory_id)
    context.commands.run("memory.protect")
    settle(qtbot, lambda: inspector.caps.whole == "FACT · ACTIVE · SENSITIVE")
    shown = {action.text() for action in inspector.actions_box.menu.actions() if action.isVisible()}
    assert "Show to assistants" in shown
    assert "Hide from assistants" not in shown
    context.commands.run("memory.unprotect")
    settle(qtbot, lambda: inspector.caps.whole == "FACT · ACTIVE")


def test_a_verb_waits_for_the_memory_that_was_just_selected(
    qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector
) -> None:
    first, second = (rig.store(text).memory_id for text in ("One.", "Two."))
    look(qtbot, inspector, context, first)
    context.selection.select(second, "test")
    context.commands.run("memory.edit")
    settle(qtbot, lambda: text_section(inspector).is_editing)
    assert text_section(inspector).editor.written == "Two."


def test_commands_are_registered_once_with_their_keys(context: Context, inspector: Inspector) -> None:
    assert inspector is not None
    keys = {made.id: made.shortcut for made in context.commands.list_commands() if made.id.startswith("memory.")}
    assert keys["memory.edit"] == "F2"
    assert keys["memory.forget"] == "Del"
    assert {"memory.pin", "memory.move", "memory.archive", "memory.restore", "memory.palace", "memory.graph"} <= set(
        keys
    )
    reports = {"memory.helpful", "memory.harmful", "memory.worked", "memory.failed"}  # of few memories: palette alone
    assert all(
        made.menu == ("" if made.id in reports else "edit")
        for made in context.commands.list_commands()
        if made.id in keys
    )
    own = [action.shortcut() for action in inspector.actions()]
    assert QKeySequence("Del") not in own  # twice would be ambiguous, and do nothing


def test_it_leads_to_palace_and_graph(qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector) -> None:
    memory_id = rig.store("The weir is closed.").memory_id
    look(qtbot, inspector, context, memory_id)
    went: list[tuple[str, str]] = []
    context.desk.go.connect(lambda page, wish: went.append((page, wish)))
    context.commands.run("memory.palace")
    context.commands.run("memory.graph")
    assert went == [("palace", f"show:{memory_id}"), ("graph", f"show:{memory_id}")]


def test_moving_to_a_space_that_is_made(qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector) -> None:
    memory_id = rig.store("The weir is closed.").memory_id
    look(qtbot, inspector, context, memory_id)
    context.commands.run("memory.move")
    dialog = inspector.findChild(MoveDialog)
    assert isinstance(dialog, MoveDialog)
    dialog.field.setText("river")
    settle(qtbot, lambda: dialog.go_button.isEnabled() and dialog.go_button.accessibleName() == "Move to river")
    heard = hear(context)
    QTest.keyClick(dialog.field, Qt.Key.Key_Return)
    settle(qtbot, lambda: inspector.inspected is not None and inspector.inspected.memory.space == "river")
    assert heard.sentences == ["Moved to river."]


def test_a_move_that_would_be_refused_is_said_before(
    qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector
) -> None:
    one, two = (rig.store(text).memory_id for text in ("One.", "Two."))
    rig.store("Elsewhere.", space="river")
    edge(rig, one, two, "supports")
    look(qtbot, inspector, context, one)
    context.commands.run("memory.move")
    dialog = inspector.findChild(MoveDialog)
    assert isinstance(dialog, MoveDialog)
    settle(qtbot, lambda: "relations" in dialog.note.text())
    assert not dialog.go_button.isEnabled()
    dialog.reject()


def test_moving_to_another_room_of_the_wing(qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector) -> None:
    ids = [rig.store(f"The shelf holds jar number {n}").memory_id for n in range(4)]
    rig.settle()
    palace = rig.engine.palace
    palace.place_waiting().result(60)
    palace.make_room("home", "Pantry", ids[:2]).result(60)
    look(qtbot, inspector, context, ids[3])
    context.commands.run("memory.move")
    dialog = inspector.findChild(MoveDialog)
    assert isinstance(dialog, MoveDialog)
    press(dialog.kinds, "To a room")
    dialog.field.setText("pan")
    settle(qtbot, lambda: dialog.go_button.accessibleName() == "Move to Pantry")
    dialog.go_button.click()
    settle(qtbot, lambda: bool(palace.find_locus(ids[3]).result(30).room == "Pantry"))


def test_nothing_is_cut_off_at_a_large_text_size(qtbot: QtBot, rig: Rig, context: Context) -> None:
    context.theme.apply_theme("dark", 150)
    made = Inspector(context, INSPECTOR_SECTIONS)
    qtbot.addWidget(made)
    made.resize(context.theme.px(300), 700)
    made.show()
    tags = json.loads('["a rather long tag that somebody wrote", "short"]')
    look(qtbot, made, context, rig.store("The weir is closed. " * 8, tags=tuple(tags)).memory_id)
    QTest.qWait(50)
    assert made.width() == context.theme.px(300)
    column = made.area.widget()
    assert column is not None
    assert column.minimumSizeHint().width() <= made.area.viewport().width()
    made.close()


def test_a_text_has_its_height_when_it_is_shown_after_a_change_of_theme(qtbot: QtBot, context: Context) -> None:
    holder = QWidget()
    qtbot.addWidget(holder)
    view = TextView(context.theme, "text")
    make_column(holder, view).addStretch(1)
    holder.resize(300, 400)
    view.show_runs(
        plain_runs_of_text("The harbour master moved the mooring, and nobody had told the crew of it."), "quote"
    )
    holder.show()
    settle(qtbot, lambda: view.height() > view.fontMetrics().height())
    before = view.height()
    holder.hide()
    context.theme.apply_theme("dark", 100)
    holder.show()
    QTest.qWait(50)
    assert view.height() == before
