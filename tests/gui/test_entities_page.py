"""The Entities page: the list, what is looked at, changing names, merging two and taking them apart."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from typing import Any

import pytest
from engine_rig import Rig
from ground_rig import flow, ground_of
from library_rig import put_away
from PySide6.QtCore import QEvent, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QPushButton
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot
from statement_rows import told
from window_rig import settle

from core.entities import registry
from core.lifecycle.enrich import EnrichJob
from core.types.entities import EntityDraft
from core.types.values import Kind
from ui.context import Context
from ui.lists.row_spec import Heading
from ui.pages.entities.dialogs import ChangeDialog, EntityMergeDialog
from ui.pages.entities.labels import cut_before_name
from ui.pages.entities.page import EntitiesPage
from ui.registry import PAGES
from ui.strings import entities_strings
from ui.widgets.states import EmptyState

DAY = 86_400_000


@pytest.fixture
def page(context: Context, qtbot: QtBot) -> Iterator[EntitiesPage]:
    made = EntitiesPage(context)
    context.bridge.changed.connect(made.handle_change)
    made.resize(960, 700)
    made.show()
    qtbot.waitExposed(made)
    made.activateWindow()
    yield made
    put_away(qtbot, made)


def make(rig: Rig, name: str, kind: str = "person", **more: Any) -> str:
    return rig.engine.entities.create(EntityDraft(name, kind, **more)).result(10).id


def named(rig: Rig, text: str, entity_id: str, name: str) -> str:
    memory = rig.store(text).memory_id
    at = text.index(name)
    row = {"memory_id": memory, "entity_id": entity_id, "start_at": at, "end_at": at + len(name)}
    rig.write(lambda tx: tx.insert("mentions", row))
    return memory


def spoke(rig: Rig, text: str, entity_id: str) -> str:
    memory = rig.store(text).memory_id
    rig.write(
        lambda tx: tx.insert("mentions", {"memory_id": memory, "entity_id": entity_id, "start_at": -1, "end_at": 0})
    )
    return memory


def three(rig: Rig) -> tuple[str, str, str]:
    rosa, castellanos, atlas = make(rig, "Rosa"), make(rig, "Rosa Castellanos"), make(rig, "Atlas", "project")
    for text in ("Rosa sings in Porto.", "Rosa called."):
        named(rig, text, rosa, "Rosa")
    named(rig, "Rosa Castellanos moved to Vigo.", castellanos, "Rosa Castellanos")
    return rosa, castellanos, atlas


def enter(page: EntitiesPage, qtbot: QtBot, wish: str = "") -> None:
    page.activate(wish)
    settle(qtbot, page.is_settled)


def names(page: EntitiesPage) -> list[str]:
    return [line.title for line in page.list.lines.list_rows()]


def test_it_stands_in_the_rail_behind_the_timeline() -> None:
    order = [spec.id for spec in PAGES]
    assert order.index("entities") == order.index("timeline") + 1


def test_every_type_has_its_words() -> None:
    assert set(entities_strings()["types"]) == registry.TYPES
    looks = {(look["icon"], look["role"]) for look in entities_strings()["types"].values()}
    assert len(looks) == len({look["icon"] for look in entities_strings()["types"].values()}) == len(registry.TYPES)


def test_an_empty_page_teaches(page: EntitiesPage, qtbot: QtBot) -> None:
    enter(page, qtbot)
    assert isinstance(page.states.currentWidget(), EmptyState)


def test_the_list_shows_the_most_named_first_and_looks_at_it(page: EntitiesPage, qtbot: QtBot, rig: Rig) -> None:
    rosa, _, _ = three(rig)
    ModelTester(page.list.lines)  # type: ignore[no-untyped-call]  # pytest-qt has no types there
    enter(page, qtbot)
    assert names(page) == ["Rosa", "Rosa Castellanos", "Atlas"]
    assert page.list.lines.list_rows()[0].right == "2 memories"
    assert page.entity_id == rosa
    assert page.detail.view is not None
    assert {line.title for line in page.detail.memories.list.lines.list_rows()} == {
        "Rosa sings in Porto.",
        "Rosa called.",
    }


def test_a_name_that_stands_in_two_spaces_tells_where(page: EntitiesPage, qtbot: QtBot, rig: Rig) -> None:
    make(rig, "Rosa")
    make(rig, "Rosa", "place", space="GLOBAL")
    enter(page, qtbot)
    assert sorted(line.detail for line in page.list.lines.list_rows()) == ["Person · home", "Place"]


def test_one_person_of_two_spaces_is_one_line_and_can_be_kept_apart(page: EntitiesPage, qtbot: QtBot, rig: Rig) -> None:
    here, there = make(rig, "Rosa"), make(rig, "Rosa", space="travel")
    named(rig, "Rosa sings.", here, "Rosa")
    messages: list[tuple[str, str, Any]] = []
    page.context.desk.message_asked.connect(lambda sentence, act, run, _: messages.append((sentence, act, run)))
    enter(page, qtbot, there)
    assert [line.detail for line in page.list.lines.list_rows()] == ["Person · home, travel"]
    assert page.entity_id == page.list.current.id == here
    assert "home, travel" in page.detail.about.whole
    assert not page.detail.parts.isHidden()
    acts = [act for act in page.detail.parts.findChildren(QPushButton) if "travel" in act.accessibleName()]
    acts[0].click()
    settle(qtbot, lambda: len(names(page)) == 2 and page.is_settled())
    settle(qtbot, page.detail.parts.isHidden)
    settle(qtbot, lambda: bool(messages))
    ((sentence, act, undo),) = messages
    assert (sentence, act) == ("Rosa in travel is one of its own now.", "Undo")
    undo()
    settle(qtbot, lambda: len(names(page)) == 1)


def test_the_type_is_changed_by_the_same_dialog_with_an_undo(page: EntitiesPage, qtbot: QtBot, rig: Rig) -> None:
    make(rig, "Rosa")
    there = make(rig, "Rosa", space="travel")
    messages: list[tuple[str, str, Any]] = []
    page.context.desk.message_asked.connect(lambda sentence, act, run, _: messages.append((sentence, act, run)))
    enter(page, qtbot)
    assert page.detail.change.text().strip() == "Change names and type"
    page.detail.change.click()
    dialog = page.findChild(ChangeDialog)
    assert dialog is not None
    assert any("in all spaces that have it: home, travel" in one.text() for one in dialog.findChildren(QLabel))
    dialog.type.setCurrentIndex(dialog.type.findData("pet"))
    dialog.act.click()
    settle(qtbot, lambda: [line.detail for line in page.list.lines.list_rows()] == ["Pet · home, travel"])
    assert rig.engine.entities.get(there).result(10).type == "pet"
    settle(qtbot, lambda: bool(messages))
    ((sentence, act, undo),) = messages
    assert (sentence, act) == ("Rosa is of the type Pet now.", "Undo")
    undo()
    settle(qtbot, lambda: [line.detail for line in page.list.lines.list_rows()] == ["Person · home, travel"])


def test_where_statements_were_made_of_all_it_says_that_none_is_about_it(
    page: EntitiesPage, qtbot: QtBot, rig: Rig
) -> None:
    rosa = make(rig, "Rosa")
    first, second = (
        rig.store(f"Thanks, Rosa, {end}!", kind=Kind.EPISODE).memory_id for end in ("see you", "good night")
    )

    def mark_read(tx: Any, memory_id: str) -> None:
        row = {"memory_id": memory_id, "version": "1", "content_hash": bytes(32), "small_talk": 1, "at": 1}
        tx.insert("readings", row)

    def name_both(tx: Any) -> None:
        for memory_id in (first, second):
            tx.insert("mentions", {"memory_id": memory_id, "entity_id": rosa, "start_at": 8, "end_at": 12})

    rig.write(name_both)
    rig.write(lambda tx: mark_read(tx, first))
    known = page.detail.known
    enter(page, qtbot, rosa)
    assert known.none.text() == entities_strings()["known"]["none"]  # one of the two was not read yet
    assert known.make.isVisible()
    rig.write(lambda tx: mark_read(tx, second))
    enter(page, qtbot, rosa)
    settle(qtbot, lambda: known.none.text() == "None of the statements made is about Rosa.")
    assert not known.make.isVisible()


def test_a_mention_deep_in_a_text_is_shown_from_a_word_on(page: EntitiesPage, qtbot: QtBot, rig: Rig) -> None:
    rosa = make(rig, "Rosa")
    named(rig, f"{'remember ' * 20}that Rosa sings.", rosa, "Rosa")
    enter(page, qtbot)
    (line,) = page.detail.memories.list.lines.list_rows()
    assert line.title.startswith("… remember ")
    assert line.title.endswith("that Rosa sings.")
    assert line.name is not None
    assert line.title[slice(*line.name)] == "Rosa"


def test_a_line_begins_so_late_that_its_name_is_in_sight() -> None:
    head, name = "… one two three Rosa sings of the sea", (16, 20)
    assert cut_before_name(head, name, 40, len) == (head, name)
    assert cut_before_name(head, name, 16, len) == ("… three Rosa sings of the sea", (8, 12))
    assert cut_before_name(head, name, 3, len) == ("… Rosa sings of the sea", (2, 6))
    assert cut_before_name("Rosa sings", (0, 4), 3, len) == ("Rosa sings", (0, 4))
    assert cut_before_name("", (0, 0), 3, len) == ("", (0, 0))


def test_a_name_with_what_cannot_be_seen_is_where_it_is_shown(page: EntitiesPage, qtbot: QtBot, rig: Rig) -> None:
    name = "Ro\u200bsa"
    rosa = make(rig, "Rosa", aliases=("Rosalind",))
    named(rig, f"Then \u202e\U0001f388  {name} sings.", rosa, name)
    enter(page, qtbot)
    (line,) = page.detail.memories.list.lines.list_rows()
    assert line.name is not None
    assert line.title[slice(*line.name)].startswith("Ro‹")
    assert line.title.endswith("sa sings.")
    assert not page.grab().isNull()


def test_of_one_of_whom_nothing_is_known_it_says_what_to_do(page: EntitiesPage, qtbot: QtBot, rig: Rig) -> None:
    rosa, _, _ = three(rig)
    enter(page, qtbot, rosa)
    known = page.detail.known
    strings = entities_strings()["known"]
    assert (known.none.text(), known.make.text()) == (strings["none"], strings["make"])
    assert known.none.isVisible()
    assert not known.list.isVisible()
    memories = page.detail.memories
    assert known.y() < memories.y()
    # A short list begins right under its label, however much room there is.
    assert memories.title.geometry().bottom() < memories.list.y() < memories.title.height() * 3
    with qtbot.waitSignal(page.detail.make_asked, timeout=60_000):
        known.make.click()


def test_what_is_known_stands_under_topics_with_its_words_a_click_away(
    page: EntitiesPage, qtbot: QtBot, rig: Rig
) -> None:
    rosa = make(rig, "Rosa")
    told(
        rig, "Rosa", "Rosa plays the cello.", "skill", "I play the cello", author="Rosa", role="other", occurred_at=DAY
    )
    hostile = "<img src=x> Rosa sings <b>loud</b>."
    statement, episode = told(rig, "Rosa", hostile, "habit", "I sing <b>loud</b>\u202e", occurred_at=DAY)
    rig.write(lambda tx: tx.run("UPDATE memories SET status = 'superseded' WHERE id = ?", (statement,)))
    enter(page, qtbot, rosa)
    known, asked = page.detail.known, list[str]()
    page.detail.memory_asked.connect(asked.append)
    lines = list(known.list.lines.lines)
    assert [line.accessible_text() for line in lines if isinstance(line, Heading)] == ["Habits, 1", "Skills, 1"]
    habit, skill = known.list.lines.list_rows()
    assert (habit.title, habit.right, skill.right) == (hostile, "outdated", "")
    assert skill.detail.endswith("1970, 00:00 · Rosa")
    assert not known.open.isVisible()
    known.list.setCurrentIndex(known.list.lines.index(known.list.lines.place_of(statement), 0))
    settle(qtbot, known.open.isVisible)
    assert known.quote.textFormat() == Qt.TextFormat.PlainText
    assert known.quote.text().startswith("“I sing <b>loud</b>‹")
    known.open.click()
    assert asked == [statement, episode]
    page.show_entity(make(rig, "Bo"))
    settle(qtbot, page.is_settled)
    assert not known.open.isVisible(), "nobody else's words"


def test_while_names_are_read_the_page_says_how_far(page: EntitiesPage, qtbot: QtBot, rig: Rig) -> None:
    rig.bring([{"author": "Ilka", "text": f"the kettle is on, {n}", "session": "s"} for n in range(3)])
    enter(page, qtbot)
    empty = page.states.findChild(EmptyState)
    assert empty is not None
    assert "Reading names, 0 of 3" in [one.text() for one in empty.findChildren(QLabel)]
    flow(rig, EnrichJob(), ground_of(rig))
    settle(qtbot, lambda: names(page) == ["Ilka"])
    settle(qtbot, lambda: page.count.text() == "1 name")


def test_one_of_a_near_name_is_a_click_from_merging(page: EntitiesPage, qtbot: QtBot, rig: Rig) -> None:
    here, there = make(rig, "Raff"), make(rig, "Raff", "other", space="travel")
    make(rig, "Raff", "pet", space="shed")  # so nobody knows which of the two the one of travel is
    named(rig, "Raff mends lamps.", here, "Raff")
    make(rig, "Walter")
    enter(page, qtbot, here)
    hint = page.detail.alike
    assert hint.subtitle.whole == hint.act.accessibleDescription() == "May be the same: Raff in travel (0)."
    hint.act.click()
    dialog = page.findChild(EntityMergeDialog)
    assert dialog is not None
    settle(qtbot, dialog.act.isEnabled)
    assert dialog.list.current.id == there
    assert "shared by all spaces" in dialog.sentence.text()
    assert "GLOBAL" not in dialog.sentence.text()
    dialog.act.click()
    settle(qtbot, lambda: page.entity_id not in (here, there) and page.is_settled())
    view = page.detail.view
    assert view is not None
    assert {one.id for one in view.joined} == {here, there}
    assert page.detail.alike.isHidden()


def test_a_click_on_a_mention_selects_the_memory(page: EntitiesPage, qtbot: QtBot, rig: Rig) -> None:
    three(rig)
    enter(page, qtbot)
    assert page.context.selection.current == ""
    places = page.detail.memories.list
    middle = places.visualRect(places.lines.index(0, 0)).center()
    QTest.mouseClick(places.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, middle)
    assert page.context.selection.current == places.lines.list_rows()[0].id != ""


def test_search_and_type_narrow_the_list(page: EntitiesPage, qtbot: QtBot, rig: Rig) -> None:
    three(rig)
    enter(page, qtbot)
    page.search.setText("castell")
    settle(qtbot, lambda: names(page) == ["Rosa Castellanos"])
    page.search.setText("")
    page.types.chosen.emit("project")
    page.types.show_choice("project")
    page.reload()
    settle(qtbot, lambda: names(page) == ["Atlas"])
    page.search.setText("rosa")
    settle(qtbot, lambda: isinstance(page._list_states.currentWidget(), EmptyState))


def test_names_are_changed_and_taken_back(page: EntitiesPage, qtbot: QtBot, rig: Rig) -> None:
    rosa, _, _ = three(rig)
    enter(page, qtbot)
    page.detail.change.click()
    dialog = page.findChild(ChangeDialog)
    assert dialog is not None
    dialog.name.setText("")
    assert not dialog.act.isEnabled()
    dialog.name.setText("Rosalind")
    dialog.others.setPlainText("Rosa\n\n Ros ")
    dialog.act.click()
    settle(qtbot, lambda: "Rosalind" in names(page) and page.is_settled())
    assert set(rig.engine.entities.get(rosa).result(10).aliases) == {"Rosa", "Ros"}
    rig.undo()
    settle(qtbot, lambda: "Rosa" in names(page))


def test_two_are_merged_after_a_look_ahead_and_taken_apart(page: EntitiesPage, qtbot: QtBot, rig: Rig) -> None:
    rosa, castellanos, _ = three(rig)
    enter(page, qtbot)
    page.detail.merge.click()
    dialog = page.findChild(EntityMergeDialog)
    assert dialog is not None
    settle(qtbot, lambda: len(dialog.list.lines.list_rows()) == 2)
    assert [line.title for line in dialog.list.lines.list_rows()] == ["Rosa Castellanos", "Atlas"]
    assert not dialog.act.isEnabled()
    dialog.list.setCurrentIndex(dialog.list.lines.index(0, 0))
    settle(qtbot, dialog.act.isEnabled)
    assert "2 memories" in dialog.sentence.text()
    dialog.act.click()
    settle(qtbot, lambda: page.entity_id == castellanos and page.is_settled())
    settle(qtbot, lambda: names(page) == ["Rosa Castellanos", "Atlas"])
    view = page.detail.view
    assert view is not None
    assert view.mentions == 3
    assert view.joined[0].id == rosa
    page.detail.apart_asked.emit(view.joined[0].step_id)
    settle(qtbot, lambda: len(names(page)) == 3)
    assert rig.engine.entities.get(rosa).result(10).merged_into is None


def test_what_looks_like_markup_stays_text(page: EntitiesPage, qtbot: QtBot, rig: Rig) -> None:
    one = make(rig, "<b>Bo</b> & Co", aliases=("<i>x</i>",))
    enter(page, qtbot, one)
    assert page.detail.title.whole == "<b>Bo</b> & Co"
    assert page.detail.others.textFormat() is Qt.TextFormat.PlainText


def test_what_somebody_said_is_a_choice_beside_where_the_name_is(page: EntitiesPage, qtbot: QtBot, rig: Rig) -> None:
    rosa = make(rig, "Rosa")
    named(rig, "Rosa sings in Porto.", rosa, "Rosa")
    for text in ("I bake on Sundays.", "The oven is new."):
        spoke(rig, text, rosa)
    enter(page, qtbot, rosa)
    shown = page.detail.memories
    assert shown.choice.isVisible()
    assert not shown.title.isVisible()
    assert [row.title for row in shown.list.lines.list_rows()] == ["Rosa sings in Porto."]
    assert shown.list.accessibleName() == "Mentioned in 1"
    shown.choice.show_choice("utterances")
    shown.choice.chosen.emit("utterances")
    assert [row.title for row in shown.list.lines.list_rows()] == ["The oven is new.", "I bake on Sundays."]
    assert shown.list.accessibleName() == "Said 2"


def test_somebody_who_only_speaks_shows_what_was_said(page: EntitiesPage, qtbot: QtBot, rig: Rig) -> None:
    rosa = make(rig, "Rosa")
    spoke(rig, "I bake on Sundays.", rosa)
    enter(page, qtbot, rosa)
    assert [row.title for row in page.detail.memories.list.lines.list_rows()] == ["I bake on Sundays."]
    assert not page.detail.memories.none.isVisible()


def test_nothing_of_the_vault_outlives_the_page(context: Context, qtbot: QtBot, rig: Rig) -> None:
    """The theme lives as long as the program; a page that is gone must not hang on it with what it showed."""
    rosa = make(rig, "Rosa")
    spoke(rig, "I bake on Sundays.", rosa)
    made = EntitiesPage(context)
    made.resize(960, 700)
    made.show()
    enter(made, qtbot, rosa)
    left = weakref.ref(made.detail)
    put_away(qtbot, made)
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    del made
    settle(qtbot, lambda: gc.collect() >= 0 and left() is None)  # once what was asked for it is answered
    context.theme.changed.emit()
