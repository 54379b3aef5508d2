"""The Clients page: cards, and the deeds with their dialogs; what is shown of one is in test_gui_clients_views.py."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import replace

import pytest
from clients_rig import DAY_MS, HOSTILE, ClientsRoom, clients_over, did, rows_of, two
from PySide6.QtCore import QDate, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot
from window_rig import settle

from core.types.clients import ClientState, Did, Undoable
from ui.context import Context
from ui.pages.clients.actions import ALL, DATE, WEEK, YESTERDAY, AskDialog, RemoveClientDialog, UndoSinceDialog
from ui.pages.clients.page import client_commands


@pytest.fixture
def room(context: Context, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Iterator[ClientsRoom]:
    with clients_over(context, qtbot, monkeypatch) as made:
        yield made


# ---- cards


def test_a_palace_without_clients_teaches_what_they_are_and_what_cannot_be_protected(room: ClientsRoom) -> None:
    room.enter()
    told = room.words()
    assert told.splitlines()[0] == "Clients" or "\nClients\n" in told
    assert "No assistants yet" in told
    assert "one-time code" in told
    assert "programs that run under your user account" in told
    assert "provider" in told


def test_a_card_says_how_it_stands_and_what_it_was_granted(room: ClientsRoom, qtmodeltester: ModelTester) -> None:
    page = two(room).enter()
    qtmodeltester.check(page.panes.cards.list.lines)  # type: ignore[no-untyped-call]  # pytest-qt has no types
    first, second = rows_of(page.panes.cards.list)
    assert (first.title, first.aside, first.standing) == ("Scribe", "3 to review", ClientState.AWAKE)
    assert first.note == "Active · connected 1 hour ago"
    assert first.more.endswith("· work")
    assert first.last == "12 memories · 41 answers in 30 days"
    assert second.last == "12 memories · 41 answers in 30 days"
    assert second.note == "Paused · never connected"
    head = page.panes.header
    assert head.name.whole == "Scribe"
    assert head.meta.text().startswith("· last connected 1 hour ago · paired ")
    assert [figure.number.text() for figure in head.figures.values()] == ["12", "3", "41", "1"]
    assert head.chips.sentence.whole == "20 searches a minute, 200 in 24 hours · trust at most 85 %"
    chip = next(iter(head.chips._sentences))
    chip.setFocus(Qt.FocusReason.TabFocusReason)
    settle(room.qtbot, lambda: head.chips.sentence.whole == head.chips._sentences[chip])
    assert chip.accessibleDescription() == head.chips._sentences[chip]


def test_two_ways_to_come_in_say_how_they_differ(room: ClientsRoom) -> None:
    cards = two(room).enter().panes.cards
    said = [one.text() for one in cards.findChildren(QLabel)]
    for made, word in ((cards.pair, "one-time code"), (cards.token, "script")):
        assert word in made.accessibleDescription()
        assert made.toolTip() in said


def test_with_large_text_grants_and_limits_stay_and_icons_grow(room: ClientsRoom) -> None:
    page = two(room).enter()
    small = page.panes.cards.pair.iconSize().height()
    room.context.theme.apply_theme("light", 150)
    page.resize(1180, 680)
    room.rest()
    chips = page.panes.header.chips
    assert chips.isVisible()
    assert chips.brief.isVisible()
    assert chips.brief.whole.endswith("· work")
    assert chips.sentence.isVisible()
    assert not chips._chips.isVisible()
    assert page.panes.cards.pair.iconSize().height() > small
    page.resize(1180, 1000)
    room.rest()
    assert chips._chips.isVisible()
    assert not chips.brief.isVisible()


def test_a_hostile_name_is_plain_text_on_one_line_with_its_marks_seen(room: ClientsRoom) -> None:
    room.clients.add(HOSTILE)
    page = room.enter()
    told = "Scribe‹U+202E› <b>admin</b>"
    assert rows_of(page.panes.cards.list)[0].title == told
    assert page.panes.header.name.whole == told
    assert all(one.textFormat() is Qt.TextFormat.PlainText for one in page.findChildren(QLabel) if one.text())
    room.page.panes.header.buttons["pause"].click()
    room.rest()
    assert room.said[-1][0].startswith(told)


def test_the_keyboard_alone_goes_through_clients_views_and_lines(room: ClientsRoom) -> None:
    room.clients.lines = [did(room.now, Did.ASKED, "recall")]
    page = two(room).enter()
    page.activateWindow()
    page.panes.cards.list.setFocus()
    QTest.keyClick(page.panes.cards.list, Qt.Key.Key_Down)
    room.rest()
    assert page.panes.header.name.whole == "Clipper"
    assert "resume" in [name for name, made in page.panes.header.buttons.items() if made.isVisible()]
    reached: set[QWidget] = {page.panes.cards.list}
    for _ in range(40):
        QTest.keyClick(page.focusWidget() or page, Qt.Key.Key_Tab)
        if (found := page.focusWidget()) is not None:
            reached.add(found)
    assert {page.panes.cards.pair, page.panes.activity.list} <= reached
    chosen = page.panes.views._buttons["activity"]
    assert chosen in reached  # of buttons of which one is chosen, Tab reaches that one; arrows lead to the others
    chosen.setFocus()
    QTest.keyClick(chosen, Qt.Key.Key_Right)
    room.rest()
    assert page.panes.view == "receipts"


def test_where_it_is_narrow_the_clients_and_one_of_them_take_turns(room: ClientsRoom) -> None:
    page = two(room).enter()
    page.resize(600, 700)
    assert page.panes.cards.isHidden()
    page.panes.back.click()
    assert not page.panes.cards.isHidden()
    QTest.keyClick(page.panes.cards.list, Qt.Key.Key_Return)
    assert page.panes.cards.isHidden()


# ---- deeds


def test_pausing_and_resuming_say_so_with_an_undo(room: ClientsRoom) -> None:
    page = two(room).enter()
    room.press(page.panes.header.buttons["pause"])
    assert room.clients.asked[-1] == ("pause", "Scribe")
    assert room.said[-1][:2] == ("Scribe is paused. Its connections have ended.", "Undo")
    assert not page.panes.cards.stop.isVisible()
    room.press(page.panes.header.buttons["resume"])
    assert room.clients.items["Scribe"].standing is ClientState.AWAKE


def test_what_is_sensitive_is_given_for_some_minutes_after_a_question(room: ClientsRoom) -> None:
    page = two(room).enter()
    header = page.panes.header
    assert not header.buttons["conceal"].isVisible()
    assert not header.buttons["disclose"].isVisible(), "it lacks the grant"
    card = room.clients.items["Scribe"]
    room.clients.items["Scribe"] = card = replace(card, grants=(*card.grants, "sensitive"))
    header.show_card(card, room.clients.now)
    room.press(header.buttons["disclose"])
    (dialog,) = page.findChildren(AskDialog)
    assert "15 minutes" in dialog.act.text()
    assert not room.clients.asked
    room.press(dialog.act)
    assert room.clients.asked[-1] == ("disclose", "Scribe", 15)
    assert room.said[-1][0] == "Scribe gets what is sensitive for 15 minutes."
    room.rest()
    header.show_card(room.clients.items["Scribe"], room.clients.now)
    assert header.why.text().endswith("for 15 more minutes.")
    assert (header.buttons["disclose"].isVisible(), header.buttons["conceal"].isVisible()) == (False, True)
    room.press(header.buttons["conceal"])
    assert room.clients.asked[-1] == ("disclose", "Scribe", 0)


def test_a_sleeper_is_woken(room: ClientsRoom) -> None:
    room.clients.add("Scribe", standing=ClientState.ASLEEP)
    page = room.enter()
    assert "90 days" in page.panes.header.why.text()
    room.press(page.panes.header.buttons["wake"])
    assert room.clients.asked[-1] == ("resume", "Scribe")


def test_of_a_revoked_client_it_says_what_it_had_and_cuts_nothing(room: ClientsRoom) -> None:
    long = "an-assistant-with-a-long-name, pid 4711"
    room.clients.add("Scribe", standing=ClientState.REVOKED, spaces=("work",), asked_by=long)
    page = room.enter()
    page.resize(720, 700)
    room.rest()
    head = page.panes.header
    assert head.chips.had.text() == "It had: read, propose · work."
    told = room.words(head)
    assert "searches a minute" not in told
    assert not any(made.isVisible() for made in head.chips._sentences)
    lines = (head.meta, head.why, head.chips.had)
    settle(room.qtbot, lambda: all(0 < one.heightForWidth(one.width()) <= one.height() for one in lines))
    assert head.meta.width() > 200
    assert long in head.meta.text()
    assert head.why.text() == "Its token is invalid. It must be paired again to connect."
    room.clients.add("Scribe")
    page.reload()
    room.rest()
    assert not head.why.isVisible()
    assert not head.chips.had.isVisible()
    assert head.chips.sentence.isVisible()


def test_revoking_names_what_happens_and_offers_to_take_all_back(room: ClientsRoom) -> None:
    page = two(room).enter()
    room.clients.found = replace(room.clients.found, archived=2)
    page.panes.header.buttons["revoke"].click()
    asking = room.dialog(AskDialog)
    assert "12 memories of it are active." in room.words(asking)
    assert asking.cancel.isDefault()
    asking.act.click()
    settle(room.qtbot, lambda: bool(page.findChildren(RemoveClientDialog)))
    assert room.clients.items["Scribe"].standing is ClientState.REVOKED
    offer = room.dialog(RemoveClientDialog)
    told = room.words(offer)
    assert "4 steps on 3 memories would be undone: 3 × stored, 1 × disputed." in told
    assert "2 memories would go to the archive." in told
    offer.act.click()
    settle(room.qtbot, lambda: ("remove_all", "Scribe") in room.clients.asked and bool(room.said))
    room.rest()
    assert room.said[-1][:2] == ("4 steps of Scribe are undone. 2 memories went to the archive.", "Undo")


def test_what_it_wrote_can_be_left_after_revoking(room: ClientsRoom) -> None:
    page = two(room).enter()
    page.panes.header.buttons["revoke"].click()
    room.dialog(AskDialog).act.click()
    settle(room.qtbot, lambda: bool(page.findChildren(RemoveClientDialog)))
    room.dialog(RemoveClientDialog).cancel.click()
    room.rest()
    assert [one for one in room.clients.asked if one[0] == "remove_all"] == []


def test_undo_since_counts_for_each_time_before_it_can_be_agreed_to(room: ClientsRoom) -> None:
    page = two(room).enter()
    page.panes.header.buttons["undo"].click()
    asking = room.dialog(UndoSinceDialog)
    settle(room.qtbot, lambda: asking.undoable is not None)
    today = asking.since_ms
    assert 0 <= room.now - today < DAY_MS + 3_600_000
    room.clients.found = Undoable(1, 1, {"store": 1}, 2, left=1)
    asking.choices._buttons[WEEK].click()
    settle(room.qtbot, lambda: asking.undoable is not None and asking.undoable.steps == 1)
    assert abs(today - asking.since_ms - 7 * DAY_MS) <= 3_600_000
    assert asking.act.text() == "Undo 1 step"
    assert asking.stays.text() == (
        "1 step would stay: what it changed was changed again since. "
        "2 memories of it would stay: they are too old to be undone."
    )
    asking.choices._buttons[DATE].click()
    asking.day.setDate(QDate(2020, 3, 1))
    assert asking.since_ms < today - 7 * DAY_MS
    asking.choices._buttons[ALL].click()
    settle(room.qtbot, lambda: asking.undoable is not None)
    assert asking.since_ms == 0
    asking.act.click()
    settle(room.qtbot, lambda: ("undo_since", "Scribe", 0) in room.clients.asked)
    room.rest()
    assert room.said[-1][:2] == (
        "1 step of Scribe is undone. 1 step stayed: what it changed was changed again since.", "Undo"
    )  # fmt: skip


def test_a_walk_through_the_choices_counts_at_the_beginning_and_at_the_end(room: ClientsRoom) -> None:
    page = two(room).enter()
    page.panes.header.buttons["undo"].click()
    asking = room.dialog(UndoSinceDialog)
    settle(room.qtbot, lambda: asking.undoable is not None)
    asking.pause.setInterval(60_000)  # nobody waits between two presses
    for choice in (YESTERDAY, WEEK, DATE, ALL, WEEK, ALL):
        asking.choices._buttons[choice].click()
        assert not asking.act.isEnabled()
    for day in range(1, 20):
        asking.day.setDate(QDate(2020, 3, day))
    assert asking.pause.isActive()
    asking.pause.setInterval(0)
    asking.pause.start()
    settle(room.qtbot, lambda: asking.undoable is not None)
    counted = [one for one in room.clients.asked if one[0] == "undoable"]
    assert len(counted) == 2
    assert counted[-1] == ("undoable", "Scribe", 0)
    asking.reject()


def test_what_is_no_longer_asked_does_not_begin(room: ClientsRoom, monkeypatch: pytest.MonkeyPatch) -> None:
    page = two(room).enter()
    waiting: list[Future[Undoable]] = []

    def undoable(_name: str, _since_ms: int) -> Future[Undoable]:
        waiting.append(Future())
        return waiting[-1]

    monkeypatch.setattr(room.clients, "preview_undo", undoable)
    page.panes.header.buttons["undo"].click()
    asking = room.dialog(UndoSinceDialog)
    settle(room.qtbot, lambda: len(waiting) == 1)
    asking.pause.setInterval(0)
    asking.choices._buttons[WEEK].click()
    assert waiting[0].cancelled()
    settle(room.qtbot, lambda: len(waiting) == 2)
    asking.reject()
    assert waiting[1].cancelled()
    room.rest()
    assert room.said == []


def test_where_only_the_newest_steps_were_tried_it_says_at_least(room: ClientsRoom) -> None:
    room.clients.found = Undoable(300, 240, {"store": 300}, 0, untried=1200)
    page = two(room).enter()
    page.panes.header.buttons["undo"].click()
    asking = room.dialog(UndoSinceDialog)
    settle(room.qtbot, lambda: asking.undoable is not None)
    assert asking.preview.text() == (
        "At least 300 steps on 240 memories would be undone: 300 × stored. "
        "1,200 older steps are undone too, where nothing was changed since."
    )
    assert asking.act.text() == "Undo up to 1,500 steps"
    asking.reject()


def test_where_there_is_nothing_to_undo_nothing_can_be_agreed_to(room: ClientsRoom) -> None:
    room.clients.found = Undoable(0, 0, {}, 0)
    page = two(room).enter()
    page.panes.header.buttons["undo"].click()
    asking = room.dialog(UndoSinceDialog)
    settle(room.qtbot, lambda: asking.undoable is not None)
    assert not asking.act.isEnabled()
    assert "It changed nothing since then." in room.words(asking)

    def is_red() -> bool:
        seen = asking.act.grab().toImage()
        inks = (seen.pixelColor(x, y) for x in range(seen.width()) for y in range(seen.height()))
        return any(ink.red() - ink.green() > 60 for ink in inks)

    assert not is_red()  # what cannot be pressed does not shout
    asking.act.setEnabled(True)
    assert is_red()
    asking.reject()


def test_where_nothing_can_be_taken_back_any_more_that_is_said_before_and_after(room: ClientsRoom) -> None:
    room.clients.found = Undoable(0, 0, {}, 0, left=1)
    page = two(room).enter()
    page.panes.header.buttons["undo"].click()
    asking = room.dialog(UndoSinceDialog)
    settle(room.qtbot, lambda: asking.undoable is not None)
    assert "Nothing of it can be undone any more." in room.words(asking)
    assert "1 step would stay" in asking.stays.text()
    assert not asking.act.isEnabled()
    asking.reject()
    page.client_actions._undo_since("Scribe", 0)  # it may have been so only when it was pressed
    room.rest()
    assert room.said[-1][:2] == (
        "Nothing was undone. 1 step stayed: what it changed was changed again since.", ""
    )  # fmt: skip


@pytest.mark.parametrize("found", [Undoable(0, 0, {}, 0), Undoable(0, 0, {}, 0, left=2, left_removing=2)])
def test_after_revoking_nothing_is_offered_where_nothing_could_be_done(room: ClientsRoom, found: Undoable) -> None:
    room.clients.found = found
    page = two(room).enter()
    page.panes.header.buttons["revoke"].click()
    room.dialog(AskDialog).act.click()
    settle(room.qtbot, lambda: ("undoable", "Scribe", 0) in room.clients.asked)
    room.rest()
    assert room.clients.items["Scribe"].standing is ClientState.REVOKED
    assert [one for one in page.findChildren(RemoveClientDialog) if one.isVisible()] == []


def test_all_that_are_paused_are_resumed_after_a_question_that_names_them(room: ClientsRoom) -> None:
    page = two(room).enter()
    assert not page.panes.cards.resume.isVisible()  # of two, one is awake: it is resumed by hand
    page.client_actions._stop_clients(1)
    room.rest()
    page.panes.cards.resume.click()
    asking = room.dialog(AskDialog)
    assert "These are Scribe, Clipper." in room.words(asking)
    assert asking.cancel.isDefault()
    asking.act.click()
    settle(room.qtbot, lambda: ("resume_all",) in room.clients.asked)
    room.rest()
    assert room.said[-1][:2] == ("2 clients may connect again.", "Undo")
    assert not page.panes.cards.resume.isVisible()
    page.deactivate()
    room.enter("resume")
    assert room.said[-1][0] == "No client is paused."


def test_the_kill_switch_stops_all_after_one_question(room: ClientsRoom) -> None:
    room.clients.add("Third")
    page = two(room).enter()
    page.panes.cards.stop.click()
    asking = room.dialog(AskDialog)
    assert "2 clients are paused" in room.words(asking)
    assert asking.cancel.isDefault()
    asking.act.click()
    settle(room.qtbot, lambda: ("stop_all",) in room.clients.asked)
    room.rest()
    assert room.said[-1][:2] == ("2 clients are paused.", "Undo")
    assert not page.panes.cards.stop.isVisible()


def test_the_palette_stops_all_from_anywhere_and_says_where_nobody_is_awake(room: ClientsRoom) -> None:
    gone: list[tuple[str, str]] = []
    room.context.desk.go.connect(lambda page, wish: gone.append((page, wish)))
    titles = {command.title: command for command in client_commands(room.context)}
    titles["Stop all clients …"].run()
    titles["Pair an assistant …"].run()
    titles["Resume all clients …"].run()
    assert gone == [("clients", "stop"), ("clients", "pair"), ("clients", "resume")]
    room.clients.add("Clipper", standing=ClientState.PAUSED)
    room.enter("stop")
    assert room.said[-1][0] == "No client is active."


def test_a_refusal_of_the_engine_is_said(room: ClientsRoom) -> None:
    room.clients.refuses = "Not now."
    page = two(room).enter()
    page.panes.header.buttons["pause"].click()
    room.rest()
    assert room.said[-1][0] == "Not now."
    room.clients.refuses = ""
    room.press(page.panes.header.buttons["pause"])
    assert room.clients.items["Scribe"].standing is ClientState.PAUSED
