"""The views of a client: live activity, receipts, what it would see, grants; and many of all of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from clients_rig import DAY_MS, ClientsRoom, clients_over, did, receipt_row, rows_of, two
from engine_rig import Rig
from gui_budget import assert_within_budget
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot
from window_rig import remember, settle

from core.engine.facade import start_ticker
from core.types.clients import ClientState, ContextPreview, Did, Terms
from core.types.values import Grant
from ui.context import CLOSER, Context
from ui.lists.row_spec import Heading
from ui.pages.clients.context_preview import ContextPreviewTab, visible_text
from ui.pages.clients.labels import describe_terms_change, describe_withheld_reason
from ui.watchdog import Watchdog


@pytest.fixture
def room(context: Context, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Iterator[ClientsRoom]:
    with clients_over(context, qtbot, monkeypatch) as made:
        yield made


# ---- activity


def test_activity_is_newest_first_and_marks_refusals_and_what_was_taken_back(room: ClientsRoom) -> None:
    room.clients.lines = [
        did(room.now, Did.REFUSED, "memory_delete", code="E4001"),
        did(room.now - 1, Did.ASKED, "recall", receipt_id="r1", count=2, withheld=1),
        did(room.now - DAY_MS, Did.WROTE, "store", step_id="s1", count=1, is_undone=True),
    ]
    page = two(room).enter()
    lines = page.panes.activity.list.lines.lines
    assert [line.title for line in lines if isinstance(line, Heading)] == ["Today", "Yesterday"]
    refused, asked, wrote = rows_of(page.panes.activity.list)
    assert (refused.title, refused.ink) == ("Refused: it may not do that", "danger")
    assert refused.note == "wanted to delete a memory · E4001"
    assert (asked.title, asked.note) == ("Searched", "2 memories given · 1 left out")
    assert wrote.is_struck
    assert wrote.note.endswith("undone")


def test_activity_is_live(room: ClientsRoom) -> None:
    page = two(room).enter()
    assert "Nothing yet" in room.words()
    room.clients.lines = [did(room.now, Did.ASKED, "recall", receipt_id="r1", count=2)]
    page.panes.activity._poll.timeout.emit()
    settle(room.qtbot, lambda: len(rows_of(page.panes.activity.list)) == 1)
    page.deactivate()
    assert not page.panes.activity._poll.isActive()


def test_activity_of_thousands_is_read_a_page_at_a_time(room: ClientsRoom) -> None:
    room.clients.lines = [did(room.now - n, Did.ASKED, "recall") for n in range(250)]
    page = two(room).enter()
    shown = page.panes.activity.list
    assert len(rows_of(shown)) == 100
    shown.lines.fetchMore(shown.rootIndex())
    settle(room.qtbot, lambda: len(rows_of(shown)) == 200)
    shown.lines.fetchMore(shown.rootIndex())
    settle(room.qtbot, lambda: len(rows_of(shown)) == 250)
    assert not shown.lines.has_more
    assert len({row.id for row in rows_of(shown)}) >= 249


def test_enter_on_an_answer_shows_its_receipt(room: ClientsRoom) -> None:
    room.laboratory.add(receipt_row("r0", room.now, "other"), (), {})
    room.laboratory.add(receipt_row("r1", room.now, "boats"), (), {})
    room.laboratory.rows.reverse()
    room.clients.lines = [did(room.now, Did.ASKED, "recall", receipt_id="r1", count=2)]
    page = two(room).enter()
    page.panes.activity.list.select_rows("r1")
    QTest.keyClick(page.panes.activity.list, Qt.Key.Key_Return)
    room.rest()
    assert page.panes.view == "receipts"
    assert page.panes.receipts.receipt is not None
    assert page.panes.receipts.receipt.row.id == "r1"


# ---- receipts


def many_receipts(room: ClientsRoom, count: int) -> None:
    for n in range(count):
        room.laboratory.add(receipt_row(f"r{n}", room.now - (count - n) * 1_000, f"question {n}"), (), {})


def test_what_is_read_in_the_receipts_stays_under_the_eyes(room: ClientsRoom) -> None:
    many_receipts(room, 120)
    page = two(room).enter()
    page.panes.show_view("receipts")
    room.rest()
    tab = page.panes.receipts
    tab.list.lines.fetchMore(tab.list.rootIndex())
    settle(room.qtbot, lambda: len(rows_of(tab.list)) == 100)
    tab.list.select_rows("r30")
    room.rest()
    tab.list.scrollTo(tab.list.currentIndex())
    place = tab.list.verticalScrollBar().value()
    assert place > 0
    room.laboratory.add(receipt_row("new", room.now, "a new one"), (), {})
    tab._poll.timeout.emit()
    settle(room.qtbot, lambda: rows_of(tab.list)[0].id == "new")
    room.rest()
    assert len(rows_of(tab.list)) >= 100
    assert tab.receipt is not None
    assert (tab.list.current.id, tab.receipt.row.id) == ("r30", "r30")
    assert tab.list.verticalScrollBar().value() >= place
    page._live.timeout.emit()
    room.rest()
    assert tab.receipt.row.id == "r30"


def test_far_down_the_receipts_are_left_alone(room: ClientsRoom) -> None:
    many_receipts(room, 700)
    page = two(room).enter()
    page.panes.show_view("receipts")
    room.rest()
    tab = page.panes.receipts
    while tab.list.lines.has_more:
        tab.list.lines.fetchMore(tab.list.rootIndex())
        room.rest()
    assert len(rows_of(tab.list)) == 700
    tab.list.select_rows("r10")
    room.rest()
    pages = len(room.laboratory.asked)
    tab._poll.timeout.emit()
    room.rest()
    assert len(room.laboratory.asked) == pages
    assert tab.list.current is not None
    assert tab.list.current.id == "r10"


def test_a_receipt_says_what_was_given_and_why_the_rest_was_not(room: ClientsRoom, rig: Rig) -> None:
    given = remember(rig.engine, "The boat is called Heron.").memory_id
    held = remember(rig.engine, "The shed is <b>green</b>.").memory_id
    room.laboratory.add(receipt_row("r1", room.now, "boats\n‮and sheds"), [given, "gone"], {held: "below_floor"})
    page = two(room).enter()
    page.panes.show_view("receipts")
    room.rest()
    first = rows_of(page.panes.receipts.list)[0]
    assert first.title == "boats ‹U+202E›and sheds"
    detail = page.panes.receipts.detail
    assert [line.title for line in detail.lines.lines if isinstance(line, Heading)] == ["Given · 2", "Left out · 1"]
    boat, gone, shed = rows_of(detail)
    assert (boat.title, gone.title, shed.title) == (
        "The boat is called Heron.", "A deleted memory", "The shed is <b>green</b>."
    )  # fmt: skip
    assert shed.note == "Much weaker than the best"
    picked: list[tuple[str, str]] = []
    room.context.selection.changed.connect(lambda memory_id, origin: picked.append((memory_id, origin)))
    detail.select_rows(held)
    QTest.keyClick(detail, Qt.Key.Key_Return)
    assert picked == [(held, CLOSER)]
    detail.select_rows("gone")
    QTest.keyClick(detail, Qt.Key.Key_Return)
    assert len(picked) == 1


def test_what_is_sealed_is_counted_and_answers_without_words_are_named(room: ClientsRoom) -> None:
    room.laboratory.add(replace(receipt_row("r1", room.now - 2, ""), verb="list"), (), {})
    room.laboratory.add(replace(receipt_row("r2", room.now - 1, "boats"), verb="history"), (), {})
    room.laboratory.add(receipt_row("r3", room.now, "boats"), (), {})
    room.laboratory.bodies["r3"] = replace(room.laboratory.bodies["r3"], sealed=2)
    page = two(room).enter()
    page.panes.show_view("receipts")
    room.rest()
    tab = page.panes.receipts
    told = [(row.title, row.note) for row in rows_of(tab.list)]
    assert told == [
        ("boats", "2 memories given"),
        ("boats", "Saw a memory’s history · 2 memories given"),
        ("Listed memories", "2 memories given"),
    ]
    assert tab.note.text() == "Nothing was given. 2 memories were withheld because they are sealed."


def test_how_much_was_read_within_a_minute_is_told(room: ClientsRoom) -> None:
    room.laboratory.add(replace(receipt_row("r1", room.now, ""), verb="list", items=59), (), {})
    room.laboratory.bodies["r1"] = replace(room.laboratory.bodies["r1"], reads=300, unlisted=9)
    page = two(room).enter()
    page.panes.show_view("receipts")
    room.rest()
    told = page.panes.receipts.note.text()
    assert "9 more memories were given that are not named here. It was read 300 times within a minute." in told


@pytest.mark.parametrize(
    "reason", ["budget", "duplicate", "other_space", "sealed", "share", "superseded", "a_new_reason"]
)
def test_every_reason_has_words(reason: str) -> None:
    told = describe_withheld_reason(reason)
    assert told
    assert "_" not in told


# ---- what it would see


def test_the_simulator_shows_the_text_its_cost_and_what_would_be_withheld(room: ClientsRoom, rig: Rig) -> None:
    held = remember(rig.engine, "The shed is green.").memory_id
    room.clients.seen = ContextPreview("One.\n<b>two</b>‮", 250, 0, ("a",), {held: "other_space"})
    page = two(room).enter()
    page.panes.show_view("sight")
    tab = page.panes.context_preview
    assert "What would it see?" in room.words()
    tab.prompt.setText("Where is the shed?")
    tab.budget.setValue(500)
    QTest.keyClick(tab.prompt, Qt.Key.Key_Return)
    room.rest()
    assert room.clients.asked[-1] == ("sight", "Scribe", "Where is the shed?", 500, None)
    assert tab.text.toPlainText() == "One.\n<b>two</b>‹U+202E›"
    assert tab.figures.text() == "250 of 500 tokens · 1 memory"
    assert tab.meter.accessibleName() == "250 of 500 tokens"
    assert [row.note for row in rows_of(tab.list)] == ["In a space it may not see"]
    page.panes.cards.list.select_rows("Clipper")
    room.rest()
    assert tab.preview is None
    assert "It is paused" in room.words()


def looks(room: ClientsRoom) -> list[tuple[object, ...]]:
    return [one for one in room.clients.asked if one[0] == "sight"]


def looked(room: ClientsRoom) -> ContextPreviewTab:
    room.clients.seen = ContextPreview("\n".join(f"line {n}" for n in range(400)), 250, 0, ("a",), {})
    page = two(room).enter()
    page.panes.show_view("sight")
    tab = page.panes.context_preview
    tab.prompt.setText("Where is the shed?")
    QTest.keyClick(tab.prompt, Qt.Key.Key_Return)
    room.rest()
    return tab


def test_what_it_would_see_stays_as_it_is_read_until_somebody_looks_anew(room: ClientsRoom) -> None:
    tab = looked(room)
    cursor = tab.text.textCursor()
    cursor.movePosition(QTextCursor.MoveOperation.NextBlock, QTextCursor.MoveMode.KeepAnchor, 3)
    tab.text.setTextCursor(cursor)
    tab.text.verticalScrollBar().setValue(200)
    tab.prompt.setText("half typ")
    for _ in range(3):
        room.page._live.timeout.emit()
        room.page._refresh.timeout.emit()
        room.rest()
    assert len(looks(room)) == 1
    assert tab.text.verticalScrollBar().value() == 200
    assert tab.text.textCursor().hasSelection()


def test_other_grants_show_the_prompt_that_was_asked_with_other_eyes(room: ClientsRoom) -> None:
    tab = looked(room)
    tab.text.verticalScrollBar().setValue(200)
    tab.prompt.setText("half typ")
    room.clients.add("Scribe", spaces=("work", "home"))
    room.page.reload()
    room.rest()
    assert looks(room)[1:] == [("sight", "Scribe", "Where is the shed?", 1_000, None)]
    assert tab.text.verticalScrollBar().value() == 200  # the text is the same


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"standing": ClientState.REVOKED}, "It is revoked and gets nothing."),
        ({"grants": ("write",)}, "It may not read, so it gets nothing."),
    ],
)
def test_one_that_gets_nothing_is_not_asked_for(room: ClientsRoom, more: dict[str, object], told: str) -> None:
    tab = looked(room)
    room.clients.add("Scribe", **more)
    for _ in range(3):
        room.page.reload()
        room.rest()
    assert tab.out.text().startswith(told)
    assert not tab.act.isEnabled()
    assert tab.preview is None
    QTest.keyClick(tab.prompt, Qt.Key.Key_Return)
    room.rest()
    assert len(looks(room)) == 1
    assert room.said == []


def test_an_empty_prompt_asks_nothing(room: ClientsRoom) -> None:
    page = two(room).enter()
    page.panes.show_view("sight")
    page.panes.context_preview.prompt.setText("   ")
    page.panes.context_preview.act.click()
    assert [one for one in room.clients.asked if one[0] == "sight"] == []


def test_line_ends_stay_and_the_unseen_is_seen() -> None:
    assert visible_text("a\nb​c") == "a\nb‹U+200B›c"


# ---- grants


def test_grants_say_what_changes_before_they_are_applied(room: ClientsRoom) -> None:
    page = two(room).enter()
    page.panes.show_view("grants")
    room.rest()
    tab = page.panes.terms
    assert sorted(tab.spaces.boxes) == ["home", "work"]
    assert tab.spaces.boxes["work"].isChecked()
    assert not tab.act.isEnabled()
    tab.grants.boxes[Grant.WRITE.value].click()
    tab.spaces.boxes["work"].click()
    tab.minute.setValue(0)
    told = tab.outcome.text()
    assert "may now also" in told
    assert "no longer: work" in told
    assert "200 searches in 24 hours" in told
    room.press(tab.act)
    verb, name, terms = room.clients.asked[-1]
    assert (verb, name) == ("regrant", "Scribe")
    assert terms == Terms(("read", "propose", "write"), None, 200, 0.85)
    assert room.said[-1][:2] == ("The grants of Scribe are changed.", "Undo")
    assert tab.outcome.text() == "No changes."


def test_speaking_for_the_person_takes_the_usual_ceiling_with_it(room: ClientsRoom) -> None:
    page = two(room).enter()
    page.panes.show_view("grants")
    room.rest()
    tab = page.panes.terms
    tab.grants.boxes[Grant.SPEAK_FOR_USER.value].click()
    assert tab.usual.isChecked()
    assert tab.wanted.trust_ceiling is None
    tab.reset.click()
    assert not tab.act.isEnabled()
    assert tab.wanted.trust_ceiling == 0.85


def test_nothing_at_all_cannot_be_granted(room: ClientsRoom) -> None:
    page = two(room).enter()
    page.panes.show_view("grants")
    room.rest()
    tab = page.panes.terms
    for name in ("read", "propose"):
        tab.grants.boxes[name].click()
    assert not tab.act.isEnabled()
    assert "at least one" in tab.outcome.text()


def test_what_is_being_ticked_survives_a_change_elsewhere(room: ClientsRoom) -> None:
    page = two(room).enter()
    page.panes.show_view("grants")
    room.rest()
    page.panes.terms.grants.boxes[Grant.WRITE.value].click()
    room.clients.add("Scribe", answers=99, spaces=("work",))
    page.reload()
    room.rest()
    assert page.panes.terms.grants.boxes[Grant.WRITE.value].isChecked()
    assert page.panes.header.figures["answers"].number.text() == "99"


def test_what_was_ticked_stays_where_it_is_refused(room: ClientsRoom) -> None:
    page = two(room).enter()
    page.panes.show_view("grants")
    room.rest()
    room.clients.refuses = "Not now."
    tab = page.panes.terms
    tab.grants.boxes[Grant.WRITE.value].click()
    tab.act.click()
    room.rest()
    assert room.said[-1][0] == "Not now."
    assert tab.grants.boxes[Grant.WRITE.value].isChecked()
    assert tab.act.isEnabled()


def test_a_ceiling_finer_than_its_field_is_no_change(room: ClientsRoom) -> None:
    room.clients.add("Scribe", trust_ceiling=0.875)
    page = room.enter()
    page.panes.show_view("grants")
    room.rest()
    tab = page.panes.terms
    assert not tab.act.isEnabled()
    assert tab.outcome.text() == "No changes."
    tab.grants.boxes[Grant.WRITE.value].click()
    assert tab.wanted.trust_ceiling == 0.875
    tab.ceiling.stepBy(1)
    assert tab.wanted.trust_ceiling == pytest.approx(round(tab.ceiling.value() / 100, 2))
    assert tab.wanted.trust_ceiling != 0.875


def test_the_library_is_counted_when_grants_are_opened_not_as_they_stand_open(room: ClientsRoom) -> None:
    page = two(room).enter()
    page.panes.show_view("grants")
    room.rest()
    read = room.facets_read
    for _ in range(3):
        page._live.timeout.emit()
        room.rest()
    assert room.facets_read == read == 1
    room.clients.add("Scribe", spaces=("work",), grants=("read", "write"))
    page._live.timeout.emit()
    room.rest()
    assert page.panes.terms.grants.boxes[Grant.WRITE.value].isChecked()


def test_the_same_terms_in_another_order_are_no_change() -> None:
    old = Terms(("read", "space:work"), 20, 200, 0.85)
    assert describe_terms_change(old, Terms(("read", "space:work"), 20, 200, 0.85)) == "No changes."
    assert describe_terms_change(old, Terms(("read", "space:work"), 20, 200, None)).startswith(
        "Its memories are trusted as usual"
    )


# ---- many


@pytest.mark.expected_logs("the window stood still for")  # a busy machine; what counts is asserted below
def test_hundreds_of_clients_and_long_lists_do_not_keep_the_gui_thread(room: ClientsRoom) -> None:
    for n in range(400):
        room.clients.add(f"Client {n}", spaces=("work", "home"), seen_at=room.now - n)
    room.clients.lines = [did(room.now - n * 60_000, Did.ASKED, "recall", receipt_id=f"r{n}") for n in range(2_000)]
    page = room.enter()
    dog = Watchdog(start_ticker)
    try:
        room.qtbot.wait(30)
        dog.clear_stalls()
        for view in ("receipts", "sight", "grants", "activity"):
            page.panes.show_view(view)
            room.rest()
        for key in (Qt.Key.Key_Down, Qt.Key.Key_PageDown, Qt.Key.Key_End, Qt.Key.Key_Home):
            QTest.keyClick(page.panes.cards.list, key)
            room.rest()
        shown = page.panes.activity.list
        for _ in range(3):
            shown.verticalScrollBar().setValue(shown.verticalScrollBar().maximum())
            room.rest()
        page.reload()
        room.rest()
        assert_within_budget(dog)
    finally:
        dog.stop_watching()
