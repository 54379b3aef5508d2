"""Activity of a client: what it wrote and where, why something was withheld, what can be done with a line."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from clients_rig import ClientsRoom, clients_over, did, rows_of, two
from pytestqt.qtbot import QtBot

from core.types.clients import Did
from ui.context import Context


@pytest.fixture
def room(context: Context, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Iterator[ClientsRoom]:
    with clients_over(context, qtbot, monkeypatch) as made:
        yield made


def test_activity_names_the_memory_and_why_others_were_withheld(room: ClientsRoom) -> None:
    words = "My boat \u202eHeron\nlies in Kappeln."
    reasons = (("budget", 20), ("trust", 5), ("superseded", 3), ("sealed", 1))
    room.clients.lines = [
        did(room.now, Did.WROTE, "store", step_id="s1", count=1, memory_id="m1", words=words, space="home"),
        did(room.now, Did.WROTE, "capture", step_id="s2", count=3, memory_id="m2", words="Hello.", space="work"),
        did(room.now, Did.ASKED, "context", receipt_id="r1", count=31, withheld=29, reasons=reasons),
        did(room.now, Did.ASKED, "recall", receipt_id="r2", count=1, withheld=2, reasons=(("budget", 2),)),
    ]
    page = two(room).enter()
    stored, captured, context, recalled = rows_of(page.panes.activity.list)
    assert (stored.title, stored.note) == ("Stored: My boat ‹U+202E›Heron lies in Kappeln.", "home")
    assert (captured.title, captured.note) == ("Kept a conversation: Hello.", "work · and 2 more memories")
    given, left = context.note.split(" · ")
    assert given == "31 memories given"
    assert left == "29 left out: 20 less relevant (no room), 5 trusted too little, 3 replaced, 1 for other reasons"
    assert recalled.note == "1 memory given · 2 left out: less relevant (no room)"


def test_what_cannot_be_done_with_a_line_says_why(room: ClientsRoom) -> None:
    room.clients.lines = [
        did(room.now, Did.ASKED, "recall", receipt_id="r1", count=2),
        did(room.now, Did.WROTE, "store", step_id="s1", count=1),
        did(room.now, Did.WROTE, "store", step_id="s2", count=1, is_undone=True),
    ]
    tab = two(room).enter().panes.activity

    def told() -> list[tuple[bool, str]]:
        for made in (tab.receipt, tab.undo):
            assert made.toolTip() == made.accessibleDescription()
        return [(made.isEnabled(), made.toolTip()[:16]) for made in (tab.receipt, tab.undo)]

    assert told() == [(True, "See what was ask"), (False, "Nothing was writ")]
    tab.list.select_rows("s1")
    assert told() == [(False, "Receipts are kep"), (True, "Undo what this s")]
    tab.list.select_rows("s2")
    assert told() == [(False, "Receipts are kep"), (False, "It is already un")]


def test_a_step_that_was_taken_back_meanwhile_is_not_offered_again(room: ClientsRoom) -> None:
    room.clients.lines = [did(room.now, Did.WROTE, "store", step_id="s1", count=1)]
    tab = two(room).enter().panes.activity
    assert tab.undo.isEnabled()
    room.clients.lines = [did(room.now, Did.WROTE, "store", step_id="s1", count=1, is_undone=True)]
    tab.reload_near_top()
    room.rest()
    assert not tab.undo.isEnabled()
    assert tab.undo.toolTip() == "It is already undone."


def test_a_list_that_goes_on_fades_at_its_edge(room: ClientsRoom) -> None:
    room.clients.lines = [did(room.now - n, Did.WROTE, "store", step_id=f"s{n}") for n in range(60)]
    shown = two(room).enter().panes.activity.list
    surface = room.context.theme.colour("surface")

    def is_faded(y: int) -> bool:
        seen = shown.viewport().grab().toImage()
        return all(seen.pixelColor(x, y) == surface for x in range(0, seen.width() - 4, 3))

    def set_low(value: int) -> None:
        shown.verticalScrollBar().setValue(value)
        room.rest()

    low = shown.viewport().height() - 1
    row = shown.visualRect(shown.lines.index(shown.lines.place_of(rows_of(shown)[20].id), 0))
    set_low(row.center().y() - low)  # the middle of a line at the lower edge
    assert is_faded(low)
    set_low(shown.verticalScrollBar().maximum())
    assert not is_faded(shown.visualRect(shown.lines.index(shown.lines.rowCount() - 1, 0)).center().y())


def test_what_only_waits_or_was_held_back_is_not_said_to_be_stored(room: ClientsRoom) -> None:
    about = {"count": 1, "memory_id": "m1", "words": "The boat is red.", "space": "home"}
    room.clients.lines = [
        did(room.now, Did.WROTE, "store", step_id="s1", operation="ADD", **about),
        did(room.now, Did.WROTE, "store", step_id="s2", operation="PROPOSED", **about),
        did(room.now, Did.WROTE, "store", step_id="s3", operation="QUARANTINE", is_warned=True, **about),
        did(room.now, Did.WROTE, "ask_update", step_id="s4", operation="PROPOSED", **about),
        did(room.now, Did.WROTE, "entity_propose", step_id="s5", count=0),
    ]
    lines = rows_of(two(room).enter().panes.activity.list)
    assert [line.title for line in lines] == [
        "Stored: The boat is red.",
        "Proposed: The boat is red.",
        "Held back: The boat is red.",
        "Asked to change: The boat is red.",
        "Asked to merge two names",
    ]
    stored, proposed, held, asked, named = ((line.icon, line.ink) for line in lines)
    assert stored == ("pencil", "accent")
    assert proposed == asked == named == ("circle-help", "accent")
    assert held == ("triangle-alert", "warning")
    assert [line.note for line in lines] == ["home", "home", "home · reads like instructions", "home", ""]
