"""The Clients page: cards, deeds with their dialogs, live activity, receipts, what it would see, grants."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from clients_rig import DAY_MS, HOSTILE, ClientsRoom, clients_over, did, receipt_row
from engine_rig import Rig
from PySide6.QtCore import QDate, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot
from window_rig import remember, settle

from core.engine.facade import ticking
from core.types.clients import Did, Sight, Standing, Terms, Undoable
from core.types.words import Grant
from ui.context import CLOSER, Context
from ui.pages.clients.dialogs import ALL, DATE, WEEK, AskDialog, RemoveDialog, UndoSinceDialog
from ui.pages.clients.lines import Heading, Row
from ui.pages.clients.page import client_commands
from ui.pages.clients.rows import RowList
from ui.pages.clients.sight import shown_text
from ui.pages.clients.words import change_told, reason_told
from ui.watchdog import Watchdog

MOST_MS = 100.0
"""As in test_gui_stall.py: what the GUI thread itself computes in one turn of its loop, on a shared machine."""


@pytest.fixture
def room(context: Context, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Iterator[ClientsRoom]:
    with clients_over(context, qtbot, monkeypatch) as made:
        yield made


def two(room: ClientsRoom) -> ClientsRoom:
    """One that is awake and one that is paused."""
    room.clients.add("Scribe", spaces=("work",))
    room.clients.add("Clipper", standing=Standing.PAUSED, waits=0, seen_at=None)
    return room


def rows_of(shown: RowList) -> list[Row]:
    return [line for line in shown.lines.lines if isinstance(line, Row)]


# ---- cards


def test_a_palace_without_clients_teaches_what_they_are_and_what_cannot_be_protected(room: ClientsRoom) -> None:
    room.enter()
    told = room.words()
    assert "No assistants yet" in told
    assert "one-time code" in told
    assert "program that runs as you" in told
    assert "provider" in told


def test_a_card_says_how_it_stands_and_what_it_was_granted(room: ClientsRoom, qtmodeltester: ModelTester) -> None:
    page = two(room).enter()
    qtmodeltester.check(page.stand.cards.list.lines)  # type: ignore[no-untyped-call]  # pytest-qt has no types
    first, second = rows_of(page.stand.cards.list)
    assert (first.head, first.aside, first.standing) == ("Scribe", "3 to review", Standing.AWAKE)
    assert first.note == "Awake · last seen 1 hour ago"
    assert first.more.endswith("· work")
    assert second.note == "Paused · never came"
    head = page.stand.head
    assert head.name.whole == "Scribe"
    assert [figure.number.text() for figure in head.figures.values()] == ["12", "3", "41", "1"]
    assert head.chips.sentence.whole == "20 searches a minute, 200 a session · believed up to 0.85"
    chip = next(iter(head.chips._sentences))
    chip.setFocus(Qt.FocusReason.TabFocusReason)
    settle(room.qtbot, lambda: head.chips.sentence.whole == head.chips._sentences[chip])
    assert chip.accessibleDescription() == head.chips._sentences[chip]


def test_a_hostile_name_is_plain_text_on_one_line_with_its_marks_seen(room: ClientsRoom) -> None:
    room.clients.add(HOSTILE)
    page = room.enter()
    told = "Scribe‹U+202E› <b>admin</b>"
    assert rows_of(page.stand.cards.list)[0].head == told
    assert page.stand.head.name.whole == told
    assert all(one.textFormat() is Qt.TextFormat.PlainText for one in page.findChildren(QLabel) if one.text())
    room.page.stand.head.deeds["pause"].click()
    room.rest()
    assert room.said[-1][0].startswith(told)


def test_the_keyboard_alone_goes_through_clients_views_and_lines(room: ClientsRoom) -> None:
    room.clients.lines = [did(room.now, Did.CAME, "hello")]
    page = two(room).enter()
    page.activateWindow()
    page.stand.cards.list.setFocus()
    QTest.keyClick(page.stand.cards.list, Qt.Key.Key_Down)
    room.rest()
    assert page.stand.head.name.whole == "Clipper"
    assert "resume" in [name for name, made in page.stand.head.deeds.items() if made.isVisible()]
    reached: set[QWidget] = {page.stand.cards.list}
    for _ in range(40):
        QTest.keyClick(page.focusWidget() or page, Qt.Key.Key_Tab)
        if (found := page.focusWidget()) is not None:
            reached.add(found)
    assert {page.stand.cards.pair, page.stand.activity.list} <= reached
    chosen = page.stand.views._buttons["activity"]
    assert chosen in reached  # of buttons of which one is chosen, Tab reaches that one; arrows lead to the others
    chosen.setFocus()
    QTest.keyClick(chosen, Qt.Key.Key_Right)
    room.rest()
    assert page.stand.view == "receipts"


def test_where_it_is_narrow_the_clients_and_one_of_them_take_turns(room: ClientsRoom) -> None:
    page = two(room).enter()
    page.resize(600, 700)
    assert page.stand.cards.isHidden()
    page.stand.back.click()
    assert not page.stand.cards.isHidden()
    QTest.keyClick(page.stand.cards.list, Qt.Key.Key_Return)
    assert page.stand.cards.isHidden()


# ---- deeds


def test_pausing_and_resuming_say_so_with_an_undo(room: ClientsRoom) -> None:
    page = two(room).enter()
    room.press(page.stand.head.deeds["pause"])
    assert room.clients.asked[-1] == ("pause", "Scribe")
    assert room.said[-1][:2] == ("Scribe is paused. Its connections have ended.", "Undo")
    assert not page.stand.cards.stop.isVisible()
    room.press(page.stand.head.deeds["resume"])
    assert room.clients.items["Scribe"].standing is Standing.AWAKE


def test_a_sleeper_is_woken(room: ClientsRoom) -> None:
    room.clients.add("Scribe", standing=Standing.ASLEEP)
    page = room.enter()
    assert "90 days" in page.stand.head.meta.whole
    room.press(page.stand.head.deeds["wake"])
    assert room.clients.asked[-1] == ("resume", "Scribe")


def test_revoking_names_what_happens_and_offers_to_take_all_back(room: ClientsRoom) -> None:
    page = two(room).enter()
    page.stand.head.deeds["revoke"].click()
    asking = room.dialog(AskDialog)
    assert "12 memories it brought stand." in room.words(asking)
    assert asking.cancel.isDefault()
    asking.act.click()
    settle(room.qtbot, lambda: bool(page.findChildren(RemoveDialog)))
    assert room.clients.items["Scribe"].standing is Standing.REVOKED
    offer = room.dialog(RemoveDialog)
    settle(room.qtbot, offer.act.isEnabled)
    assert "4 steps on 3 memories would be taken back: 3 × stored, 1 × disputed." in room.words(offer)
    offer.act.click()
    settle(room.qtbot, lambda: ("remove_all", "Scribe") in room.clients.asked and bool(room.said))
    room.rest()
    assert room.said[-1][:2] == ("4 steps of Scribe are taken back. 2 memories went to the archive.", "Undo")


def test_what_it_wrote_can_be_left_after_revoking(room: ClientsRoom) -> None:
    page = two(room).enter()
    page.stand.head.deeds["revoke"].click()
    room.dialog(AskDialog).act.click()
    settle(room.qtbot, lambda: bool(page.findChildren(RemoveDialog)))
    room.dialog(RemoveDialog).cancel.click()
    room.rest()
    assert [one for one in room.clients.asked if one[0] == "remove_all"] == []


def test_undo_since_counts_for_each_time_before_it_can_be_agreed_to(room: ClientsRoom) -> None:
    page = two(room).enter()
    page.stand.head.deeds["undo"].click()
    asking = room.dialog(UndoSinceDialog)
    settle(room.qtbot, lambda: asking.found is not None)
    today = asking.since_ms
    assert 0 <= room.now - today < DAY_MS + 3_600_000
    room.clients.found = Undoable(1, 1, {"store": 1}, 2)
    asking.choices._buttons[WEEK].click()
    settle(room.qtbot, lambda: asking.found is not None and asking.found.steps == 1)
    assert abs(today - asking.since_ms - 7 * DAY_MS) <= 3_600_000
    assert asking.act.text() == "Undo 1 step"
    assert asking.expired.text() == "2 steps are too old to be taken back."
    asking.choices._buttons[DATE].click()
    asking.day.setDate(QDate(2020, 3, 1))
    assert asking.since_ms < today - 7 * DAY_MS
    asking.choices._buttons[ALL].click()
    settle(room.qtbot, lambda: asking.found is not None)
    assert asking.since_ms == 0
    asking.act.click()
    settle(room.qtbot, lambda: ("undo_since", "Scribe", 0) in room.clients.asked)
    room.rest()
    assert room.said[-1][:2] == ("1 step of Scribe is taken back. 1 record changed since and stayed.", "Undo")


def test_where_there_is_nothing_to_undo_nothing_can_be_agreed_to(room: ClientsRoom) -> None:
    room.clients.found = Undoable(0, 0, {}, 0)
    page = two(room).enter()
    page.stand.head.deeds["undo"].click()
    asking = room.dialog(UndoSinceDialog)
    settle(room.qtbot, lambda: asking.found is not None)
    assert not asking.act.isEnabled()
    assert "It changed nothing since then." in room.words(asking)
    asking.reject()


def test_the_kill_switch_stops_all_after_one_question(room: ClientsRoom) -> None:
    room.clients.add("Third")
    page = two(room).enter()
    page.stand.cards.stop.click()
    asking = room.dialog(AskDialog)
    assert "2 clients are paused" in room.words(asking)
    assert asking.cancel.isDefault()
    asking.act.click()
    settle(room.qtbot, lambda: ("stop_all",) in room.clients.asked)
    room.rest()
    assert room.said[-1][:2] == ("2 clients are paused.", "Undo")
    assert not page.stand.cards.stop.isVisible()


def test_the_palette_stops_all_from_anywhere_and_says_where_nobody_is_awake(room: ClientsRoom) -> None:
    gone: list[tuple[str, str]] = []
    room.context.desk.go.connect(lambda page, wish: gone.append((page, wish)))
    titles = {command.title: command for command in client_commands(room.context)}
    titles["Stop all clients …"].run()
    titles["Pair an assistant …"].run()
    assert gone == [("clients", "stop"), ("clients", "pair")]
    room.clients.add("Clipper", standing=Standing.PAUSED)
    room.enter("stop")
    assert room.said[-1][0] == "No client is awake."


def test_a_refusal_of_the_engine_is_said(room: ClientsRoom) -> None:
    room.clients.refuses = "Not now."
    page = two(room).enter()
    page.stand.head.deeds["pause"].click()
    room.rest()
    assert room.said[-1][0] == "Not now."
    room.clients.refuses = ""
    room.press(page.stand.head.deeds["pause"])
    assert room.clients.items["Scribe"].standing is Standing.PAUSED


# ---- activity


def test_activity_is_newest_first_and_marks_refusals_and_what_was_taken_back(room: ClientsRoom) -> None:
    room.clients.lines = [
        did(room.now, Did.REFUSED, "memory_delete", code="E4001"),
        did(room.now - 1, Did.ASKED, "recall", receipt_id="r1", count=2, withheld=1),
        did(room.now - DAY_MS, Did.WROTE, "store", step_id="s1", count=1, is_undone=True),
        did(room.now - DAY_MS - 1, Did.CAME, "hello"),
    ]
    page = two(room).enter()
    lines = page.stand.activity.list.lines.lines
    assert [line.title for line in lines if isinstance(line, Heading)] == ["Today", "Yesterday"]
    refused, asked, wrote, came = rows_of(page.stand.activity.list)
    assert (refused.head, refused.ink) == ("Refused: it may not do that", "danger")
    assert "E4001" in refused.note
    assert (asked.head, asked.note) == ("Searched", "2 memories given · 1 withheld")
    assert wrote.is_struck
    assert wrote.note.endswith("taken back")
    assert came.head == "Came in"


def test_activity_is_live(room: ClientsRoom) -> None:
    page = two(room).enter()
    assert "Nothing yet" in room.words()
    room.clients.lines = [did(room.now, Did.ASKED, "recall", receipt_id="r1", count=2)]
    page.stand.activity._poll.timeout.emit()
    settle(room.qtbot, lambda: len(rows_of(page.stand.activity.list)) == 1)
    page.leave()
    assert not page.stand.activity._poll.isActive()


def test_activity_of_thousands_is_read_a_page_at_a_time(room: ClientsRoom) -> None:
    room.clients.lines = [did(room.now - n, Did.CAME, "hello") for n in range(250)]
    page = two(room).enter()
    shown = page.stand.activity.list
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
    page.stand.activity.list.look_at("r1")
    QTest.keyClick(page.stand.activity.list, Qt.Key.Key_Return)
    room.rest()
    assert page.stand.view == "receipts"
    assert page.stand.receipts.receipt is not None
    assert page.stand.receipts.receipt.row.id == "r1"


# ---- receipts


def test_a_receipt_says_what_was_given_and_why_the_rest_was_not(room: ClientsRoom, rig: Rig) -> None:
    given = remember(rig.engine, "The boat is called Heron.").memory_id
    held = remember(rig.engine, "The shed is <b>green</b>.").memory_id
    room.laboratory.add(receipt_row("r1", room.now, "boats\n‮and sheds"), [given, "gone"], {held: "below_floor"})
    page = two(room).enter()
    page.stand.show_view("receipts")
    room.rest()
    first = rows_of(page.stand.receipts.list)[0]
    assert first.head == "boats ‹U+202E›and sheds"
    detail = page.stand.receipts.detail
    assert [line.title for line in detail.lines.lines if isinstance(line, Heading)] == ["Given · 2", "Withheld · 1"]
    boat, gone, shed = rows_of(detail)
    assert (boat.head, gone.head, shed.head) == (
        "The boat is called Heron.", "A memory that is gone", "The shed is <b>green</b>."
    )  # fmt: skip
    assert shed.note == "Much weaker than the best"
    picked: list[tuple[str, str]] = []
    room.context.selection.changed.connect(lambda memory_id, origin: picked.append((memory_id, origin)))
    detail.look_at(held)
    QTest.keyClick(detail, Qt.Key.Key_Return)
    assert picked == [(held, CLOSER)]
    detail.look_at("gone")
    QTest.keyClick(detail, Qt.Key.Key_Return)
    assert len(picked) == 1


@pytest.mark.parametrize("reason", ["budget", "duplicate", "other_space", "sealed", "superseded", "a_new_reason"])
def test_every_reason_has_words(reason: str) -> None:
    told = reason_told(reason)
    assert told
    assert "_" not in told


# ---- what it would see


def test_the_simulator_shows_the_text_its_cost_and_what_would_be_withheld(room: ClientsRoom, rig: Rig) -> None:
    held = remember(rig.engine, "The shed is green.").memory_id
    room.clients.seen = Sight("One.\n<b>two</b>‮", 250, 0, ("a",), {held: "other_space"})
    page = two(room).enter()
    page.stand.show_view("sight")
    tab = page.stand.sight
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
    page.stand.cards.list.look_at("Clipper")
    room.rest()
    assert tab.sight is None
    assert "It is paused" in room.words()


def test_an_empty_prompt_asks_nothing(room: ClientsRoom) -> None:
    page = two(room).enter()
    page.stand.show_view("sight")
    page.stand.sight.prompt.setText("   ")
    page.stand.sight.act.click()
    assert [one for one in room.clients.asked if one[0] == "sight"] == []


def test_line_ends_stay_and_the_unseen_is_seen() -> None:
    assert shown_text("a\nb​c") == "a\nb‹U+200B›c"


# ---- grants


def test_grants_say_what_changes_before_they_are_applied(room: ClientsRoom) -> None:
    page = two(room).enter()
    page.stand.show_view("grants")
    room.rest()
    tab = page.stand.terms
    assert sorted(tab.spaces) == ["home", "work"]
    assert tab.spaces["work"].isChecked()
    assert not tab.act.isEnabled()
    tab.grants.boxes[Grant.WRITE.value].click()
    tab.spaces["work"].click()
    tab.minute.setValue(0)
    told = tab.outcome.text()
    assert "may now also" in told
    assert "no longer: work" in told
    assert "200 searches a session" in told
    room.press(tab.act)
    verb, name, terms = room.clients.asked[-1]
    assert (verb, name) == ("regrant", "Scribe")
    assert terms == Terms(("read", "propose", "write"), None, 200, 0.85)
    assert room.said[-1][:2] == ("What Scribe may do is changed, at once.", "Undo")
    assert tab.outcome.text() == "Nothing is changed."


def test_speaking_for_the_person_takes_the_usual_ceiling_with_it(room: ClientsRoom) -> None:
    page = two(room).enter()
    page.stand.show_view("grants")
    room.rest()
    tab = page.stand.terms
    tab.grants.boxes[Grant.SPEAK_FOR_USER.value].click()
    assert tab.usual.isChecked()
    assert tab.wanted.trust_ceiling is None
    tab.reset.click()
    assert not tab.act.isEnabled()
    assert tab.wanted.trust_ceiling == 0.85


def test_nothing_at_all_cannot_be_granted(room: ClientsRoom) -> None:
    page = two(room).enter()
    page.stand.show_view("grants")
    room.rest()
    tab = page.stand.terms
    for name in ("read", "propose"):
        tab.grants.boxes[name].click()
    assert not tab.act.isEnabled()
    assert "at least one" in tab.outcome.text()


def test_what_is_being_ticked_survives_a_change_elsewhere(room: ClientsRoom) -> None:
    page = two(room).enter()
    page.stand.show_view("grants")
    room.rest()
    page.stand.terms.grants.boxes[Grant.WRITE.value].click()
    room.clients.add("Scribe", answers=99, spaces=("work",))
    page.read()
    room.rest()
    assert page.stand.terms.grants.boxes[Grant.WRITE.value].isChecked()
    assert page.stand.head.figures["answers"].number.text() == "99"


def test_the_same_terms_in_another_order_are_no_change() -> None:
    old = Terms(("read", "space:work"), 20, 200, 0.85)
    assert change_told(old, Terms(("read", "space:work"), 20, 200, 0.85)) == "Nothing is changed."
    assert change_told(old, Terms(("read", "space:work"), 20, 200, None)).startswith("It is believed as usual")


# ---- many


@pytest.mark.expected_logs("the window stood still for")  # a busy machine; what counts is asserted below
def test_hundreds_of_clients_and_long_lists_do_not_keep_the_gui_thread(room: ClientsRoom) -> None:
    for n in range(400):
        room.clients.add(f"Client {n}", spaces=("work", "home"), seen_at=room.now - n)
    room.clients.lines = [did(room.now - n * 60_000, Did.ASKED, "recall", receipt_id=f"r{n}") for n in range(2_000)]
    page = room.enter()
    dog = Watchdog(ticking)
    try:
        room.qtbot.wait(30)
        dog.forget()
        for view in ("receipts", "sight", "grants", "activity"):
            page.stand.show_view(view)
            room.rest()
        for key in (Qt.Key.Key_Down, Qt.Key.Key_PageDown, Qt.Key.Key_End, Qt.Key.Key_Home):
            QTest.keyClick(page.stand.cards.list, key)
            room.rest()
        shown = page.stand.activity.list
        for _ in range(3):
            shown.verticalScrollBar().setValue(shown.verticalScrollBar().maximum())
            room.rest()
        page.read()
        room.rest()
        worst = sorted(dog.stalls, key=lambda stall: -stall.busy_ms)[:3]
        assert dog.busiest_ms <= MOST_MS, [(round(s.busy_ms), s.place) for s in worst]
    finally:
        dog.stop()
