"""The Journal's relations: pairs that runs propose, drawn, declined and taken back; tabs that are made when wanted."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import pytest
from engine_rig import Rig, facts
from jobs_rig import DAY_MS, JournalRoom, journal_over, journal_over_engine
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QBoxLayout
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot
from window_rig import settle

from core.errors import Code, EnvironmentFaultError, UserError
from core.types.memory import ProposedLink
from core.vault.database.tx import Tx
from ui.context import CLOSER, Context
from ui.pages.journal.lifecycle.relations import PAGE_ROWS, PairText
from ui.pages.journal.page import JournalPage


@pytest.fixture
def room(context: Context, qtbot: QtBot) -> Iterator[JournalRoom]:
    with journal_over(context, qtbot) as made:
        yield made


def link(nr: int, at: int, one: str = "", other: str = "") -> ProposedLink:
    """A proposal."""
    texts = one or f"Jar {nr} holds quinces.", other or f"Quinces ripen in week {nr}."
    return ProposedLink(f"a{nr}", f"b{nr}", *texts, "home", 0.9 - nr / 10_000, at)


def links(room: JournalRoom, count: int) -> None:
    room.jobs.proposed = [link(nr, room.jobs.now - DAY_MS) for nr in range(count)]


def tab_text(room: JournalRoom) -> str:
    return room.page.segments._buttons["relations"].text()


# ---- tabs


def test_a_tab_is_made_when_it_is_first_shown(room: JournalRoom) -> None:
    assert set(room.page.tabs.made) == {"changes"}
    room.enter("health")
    assert set(room.page.tabs.made) == {"changes", "health"}
    assert room.page.tabs.currentWidget() is room.page.tabs.health
    room.page.run_button.click()  # off: nobody has looked ahead yet
    assert "next" not in room.page.tabs.made


def test_every_tab_can_be_wished_for_with_a_view_of_it(room: JournalRoom) -> None:
    for name in room.page._titles:
        room.enter(f"ask:{name}")
        assert room.page.tab == name
        assert room.page.tabs.currentWidget() is room.page.tabs.made[name]
    room.enter("runs:calendar")
    assert room.page.tabs.runs.views.current == "calendar"
    room.enter("next:figures")
    assert room.page.tabs.next.views.current == "figures"


# ---- what is proposed


def test_a_pair_stands_with_both_texts_and_why(room: JournalRoom, qtmodeltester: ModelTester) -> None:
    links(room, 2)
    tab = room.enter("relations").tabs.relations
    first = tab.list.lines.row_at(0)
    assert first is not None
    assert (first.title, first.second) == ("Jar 0 holds quinces.", "Quinces ripen in week 0.")
    assert (first.aside, first.aside_note, first.note) == ("0.90", "similarity", "home · proposed yesterday")
    assert "Quinces ripen in week 0." in first.description
    tab.list.select_rows("a1:b1")
    assert [said.text for said in tab.panel.texts] == ["Jar 1 holds quinces.", "Quinces ripen in week 1."]
    assert tab.panel.why.text() == "The two are similar and not related yet. Similarity 0.90 of 1."
    assert tab_text(room) == "Relations 2"
    qtmodeltester.check(tab.list.lines)  # type: ignore[no-untyped-call]  # pytest-qt has no types


def test_hostile_texts_are_shown_as_they_are(room: JournalRoom) -> None:
    room.jobs.proposed = [link(0, room.jobs.now, "<b>bold</b>\nand\u202e back", "<img src=x>\x00" + "long " * 900)]
    tab = room.enter("relations").tabs.relations
    entry = tab.list.lines.row_at(0)
    assert entry is not None
    assert entry.title == "<b>bold</b> and‹U+202E› back"
    assert entry.second.startswith("<img src=x>‹U+0000›long")
    assert tab.panel.texts[1].text.endswith("…")
    tab.panel.grab()


def test_the_tab_tells_how_many_wait_before_it_is_opened(room: JournalRoom) -> None:
    links(room, 3)
    room.enter("changes")
    assert tab_text(room) == "Relations 3"
    assert "relations" not in room.page.tabs.made


def test_nothing_proposed_says_where_proposals_come_from(room: JournalRoom) -> None:
    tab = room.enter("relations").tabs.relations
    shown = tab.states.currentWidget()
    assert shown is not None
    assert shown.accessibleName().startswith("No relation is proposed. While nobody is working,")
    assert tab_text(room) == "Relations"


# ---- deciding


def test_keys_decide_one_after_the_other(room: JournalRoom) -> None:
    links(room, 4)
    tab = room.enter("relations").tabs.relations
    QTest.keyClick(tab.list, Qt.Key.Key_A)
    QTest.keyClick(tab.list, Qt.Key.Key_D)  # at once: the line of the first is gone already
    room.rest()
    assert room.jobs.asked == [("accept", ("a0", "b0")), ("decline", ("a1", "b1"))]
    assert [one[:2] for one in room.said] == [
        ("They are related now.", "Undo"),
        ("They stay apart and are not proposed again.", "Undo"),
    ]
    assert room.heads(tab.list) == ["Jar 2 holds quinces.", "Jar 3 holds quinces."]
    assert tab_text(room) == "Relations 2"
    tab.acts.buttons["accept"].click()
    room.rest()
    assert room.jobs.asked[-1] == ("accept", ("a2", "b2"))


def test_what_comes_back_by_an_undo_is_listed_again(room: JournalRoom) -> None:
    links(room, 2)
    tab = room.enter("relations").tabs.relations
    kept = list(room.jobs.proposed)
    tab.run_action("decline")
    room.rest()
    assert room.heads(tab.list) == ["Jar 1 holds quinces."]
    room.jobs.proposed = kept
    tab.reload()
    room.rest()
    assert room.heads(tab.list) == ["Jar 0 holds quinces.", "Jar 1 holds quinces."]


def test_what_cannot_be_decided_stands_there_again(room: JournalRoom) -> None:
    links(room, 2)
    room.jobs.refuses = UserError(Code.NOT_FOUND, "There is no such proposal, or it is decided already.")
    tab = room.enter("relations").tabs.relations
    tab.run_action("accept")
    room.rest()
    assert room.said[-1][0] == "There is no such proposal, or it is decided already."
    assert len(room.heads(tab.list)) == 2


def test_either_memory_can_be_looked_at(room: JournalRoom, context: Context) -> None:
    links(room, 1)
    tab = room.enter("relations").tabs.relations
    seen: list[tuple[str, str]] = []
    context.selection.changed.connect(lambda memory_id, origin: seen.append((memory_id, origin)))
    QTest.keyClick(tab.list, Qt.Key.Key_Return)
    QTest.keyClick(tab.list, Qt.Key.Key_O)
    assert seen == [("a0", CLOSER), ("b0", CLOSER)]


def test_many_are_listed_as_somebody_scrolls(room: JournalRoom) -> None:
    links(room, 500)
    tab = room.enter("relations").tabs.relations
    assert tab.list.lines.rowCount() == PAGE_ROWS
    assert tab_text(room) == "Relations 500"
    tab.list.lines.fetchMore(tab.list.rootIndex())
    assert tab.list.lines.rowCount() == 2 * PAGE_ROWS
    tab.list.select_rows("a150:b150")
    tab.run_action("decline")
    room.rest()
    assert tab.list.lines.rowCount() == 2 * PAGE_ROWS
    assert [entry.id for entry in tab.list.chosen] == ["a151:b151"] or [
        entry.id for entry in tab.list.chosen
    ] == ["a149:b149"]  # fmt: skip


def test_trouble_offers_to_read_again(room: JournalRoom) -> None:
    room.jobs.fails = EnvironmentFaultError(Code.DISK_FULL, "The disk is full.")
    room.page.activate("relations")
    tab = room.page.tabs.relations
    settle(room.qtbot, lambda: "The disk is full." in room.words(tab))
    room.jobs.fails = None
    links(room, 1)
    tab.reload()
    room.rest()
    room.jobs.fails = EnvironmentFaultError(Code.DISK_FULL, "The disk is full.")
    tab.reload()
    settle(room.qtbot, lambda: bool(room.said))
    assert room.said[-1][:2] == ("The disk is full.", "Try again")
    assert room.heads(tab.list) == ["Jar 0 holds quinces."]
    room.jobs.fails = None


def test_where_there_is_little_room_the_list_has_it(room: JournalRoom) -> None:
    links(room, 3)
    tab = room.enter("relations").tabs.relations
    assert tab.panel.isVisible()
    assert tab.panel._both.direction() is QBoxLayout.Direction.LeftToRight
    room.page.resize(560, 640)
    settle(room.qtbot, lambda: tab.panel._both.direction() is QBoxLayout.Direction.TopToBottom)
    room.page.resize(900, 420)
    settle(room.qtbot, lambda: not tab.panel.isVisible())
    assert not tab.lead.isVisible()


def test_a_text_grows_with_the_letters(room: JournalRoom, context: Context) -> None:
    said = PairText(context.theme)
    room.qtbot.addWidget(said)
    before = said.sizeHint().height()
    context.theme.apply_theme("light", 150)
    assert said.sizeHint().height() > before
    context.theme.apply_theme("light", 100)


# ---- over the engine


@pytest.fixture
def page(rig: Rig, context: Context, qtbot: QtBot) -> Iterator[JournalPage]:
    with journal_over_engine(context, qtbot) as made:
        yield made


def propose(rig: Rig, count: int) -> list[str]:
    """Memories of which each is proposed to belong to the one before it."""
    rig.bring(facts(count))
    rig.settle()
    ids = sorted(row[0] for row in rig.rows("SELECT id FROM memories"))
    space = rig.value("SELECT space_id FROM memories LIMIT 1")

    def write(tx: Tx) -> None:
        for nr, (one, other) in enumerate(pairwise(ids)):
            tx.insert("links", {"from_id": one, "to_id": other, "space_id": space, "cosine": 0.9 - nr / 100,
                                "state": "open", "at": tx.now_ms})  # fmt: skip

    rig.opened.storage.write(write).result(30)
    return ids


def test_the_engine_draws_it_and_takes_it_back(page: JournalPage, rig: Rig, context: Context, qtbot: QtBot) -> None:
    said: list[tuple[str, object]] = []
    context.desk.message_asked.connect(lambda sentence, _act, run, _stays: said.append((sentence, run)))
    ids = propose(rig, 3)
    page.activate("relations")
    tab = page.tabs.relations
    settle(qtbot, lambda: tab.list.lines.rowCount() == 2)
    QTest.keyClick(tab.list, Qt.Key.Key_A)
    settle(qtbot, lambda: bool(said) and not context.tasks.running)
    edges = "SELECT from_id, to_id, type, made_by FROM edges"
    assert [tuple(row) for row in rig.rows(edges)] == [(ids[0], ids[1], "related_to", "owner")]
    assert tab.list.lines.rowCount() == 1
    undo = said[-1][1]
    assert callable(undo)
    undo()
    settle(qtbot, lambda: not rig.rows(edges))
    settle(qtbot, lambda: tab.list.lines.rowCount() == 2)
    QTest.keyClick(tab.list, Qt.Key.Key_D)
    settle(qtbot, lambda: len(said) > 2 and not context.tasks.running)
    assert not rig.rows(edges)
    assert rig.value("SELECT count(*) FROM links WHERE state = 'rejected'") == 1
