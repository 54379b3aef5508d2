"""The question of pairing and its end: what the person chooses, who is named, what is said, and that it fits."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from clients_rig import ClientsRoom, clients_over
from PySide6.QtCore import QRect
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot
from window_rig import settle

from core.types.clients import PairingOutcome
from ui.context import Context
from ui.pages.clients.page import GRANTS
from ui.pages.clients.pairing import PairDialog
from ui.shell.toasts import Toasts

ALL = ("read", "propose", "write", "curate", "speak_for_user", "all_spaces", "space:work")


@pytest.fixture
def room(context: Context, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Iterator[ClientsRoom]:
    with clients_over(context, qtbot, monkeypatch) as made:
        made.clients.add("Scribe")
        yield made
        if made.page.pairing is not None:
            made.page.pairing.close()
        for _, turn in made.port.turns:
            turn.asked.cancel()
            turn.ended.cancel()
        settle(qtbot, lambda: not context.tasks.running)


def opened(room: ClientsRoom, name: str | None = None) -> PairDialog:
    page = room.enter()
    page.pair_client(name)
    settle(room.qtbot, lambda: page.pairing is not None and page.pairing.code.copy.isEnabled())
    assert page.pairing is not None
    return page.pairing


def asked(room: ClientsRoom, meant: str | None = None, **more: object) -> PairDialog:
    dialog = opened(room, meant)
    room.port.ask(**{"client": "Scribe", **more})
    settle(room.qtbot, dialog.question.deny.isVisible)
    settle(room.qtbot, lambda: "home" in dialog.question.spaces.boxes)
    return dialog


def ended(room: ClientsRoom, dialog: PairDialog, outcome: PairingOutcome, name: str = "Scribe") -> str:
    room.port.end(outcome, name)
    settle(room.qtbot, dialog.end.close_button.isVisible)
    return dialog.end.sentence.text()


def test_the_person_chooses_spaces_and_leaves_out_what_is_unusual(room: ClientsRoom) -> None:
    dialog = asked(room, grants=("read", "propose", "curate", "write", "space:work"))
    view = dialog.question
    assert {name: box.isChecked() for name, box in view.spaces.boxes.items()} == {"home": False, "work": True}
    assert [(name, box.text()[:1], box.isChecked()) for name, box in view.rights.boxes.items()] == [
        ("curate", "!", True),
        ("write", "!", True),
    ]
    assert "more than a client usually gets" in room.words(dialog)
    assert "See the space" not in room.words(dialog)
    view.rights.boxes["curate"].click()
    view.spaces.boxes["home"].click()
    view.spaces.boxes["work"].click()
    assert not view.allow.isEnabled()  # whatever is ticked, it takes no press within its first second
    settle(room.qtbot, view.allow.isEnabled)
    view.allow.click()
    settle(room.qtbot, dialog.end.close_button.isVisible)
    assert room.port.granted == [("read", "propose", "write", "space:home")]
    assert dialog.end.sentence.text() == "Scribe is paired. Of your spaces it sees home."


def test_all_spaces_are_given_or_taken_as_one(room: ClientsRoom) -> None:
    view = asked(room, grants=ALL).question
    assert view.every.isVisible()
    assert not view.spaces.isEnabled()
    assert view.grants == ALL[:-1]
    view.every.click()
    assert view.spaces.isEnabled()
    assert view.grants == tuple(one for one in ALL if one != "all_spaces")


def test_all_spaces_are_not_offered_where_nobody_asked_for_them(room: ClientsRoom) -> None:
    view = asked(room, grants=("read", "propose")).question
    assert not view.every.isVisible()
    assert view.grants == ("read", "propose")
    assert not view.rights.boxes


def test_nothing_left_cannot_be_allowed(room: ClientsRoom) -> None:
    view = asked(room, grants=("curate",)).question
    settle(room.qtbot, view.allow.isEnabled)
    view.rights.boxes["curate"].click()
    assert not view.allow.isEnabled()
    view.rights.boxes["curate"].click()
    assert view.allow.isEnabled()


def test_who_sees_nothing_yet_is_told_with_the_way_to_its_grants(room: ClientsRoom) -> None:
    dialog = asked(room, grants=("read", "propose"))
    settle(room.qtbot, dialog.question.allow.isEnabled)
    dialog.question.allow.click()
    settle(room.qtbot, dialog.end.grants.isVisible)
    assert "It sees none of your spaces yet." in dialog.end.sentence.text()
    assert dialog.end.grants.text() == "Choose its spaces …"
    dialog.end.grants.click()
    room.rest()
    assert room.page.pairing is None
    assert (room.page.panes.view, room.page.panes.header.name.whole) == (GRANTS, "Scribe")


def test_a_code_for_one_name_says_for_whom_and_tells_two_names_apart(room: ClientsRoom) -> None:
    dialog = asked(room, "claude-code", client="zed", name="claude-code", former=True)
    assert dialog.code.title.text() == "Pair again: claude-code"
    assert "--install claude-code" in dialog.code.steps.text()
    assert dialog.question.title.text() == "zed asks to be paired as claude-code"
    assert "this one calls itself zed" in dialog.question.other.text()
    assert dialog.question.other.isVisible()
    assert room.words(dialog).count("take up its space") == 1  # said once


def test_a_name_that_no_recipe_knows_stands_in_the_steps(room: ClientsRoom) -> None:
    steps = opened(room, "Recipe clipper").code.steps.text()
    assert 'loci mcp --pair "Recipe clipper" --code' in steps
    assert "NAME" not in steps


def test_what_is_kept_of_a_name_is_said_where_it_lost_letters(room: ClientsRoom) -> None:
    view = asked(room, client="Zoë", name="Zo").question
    assert view.name_note.isVisible()
    assert "letters from A to Z" in view.name_note.text()
    assert not view.other.isVisible()


def test_a_taken_name_is_told_and_led_to(room: ClientsRoom) -> None:
    dialog = opened(room)
    assert "Scribe is paired already" in ended(room, dialog, PairingOutcome.TAKEN)
    gone: list[tuple[str, str]] = []
    room.context.desk.go.connect(lambda page, wish: gone.append((page, wish)))
    dialog.end.look.click()
    assert gone == [("clients", "client:Scribe")]


def test_nobody_used_it_only_where_nobody_did(room: ClientsRoom) -> None:
    dialog = opened(room)
    assert "Nobody used it" in ended(room, dialog, PairingOutcome.EXPIRED, "")
    dialog.end.new_code.click()
    settle(room.qtbot, dialog.code.copy.isEnabled)
    assert dialog.code.missed.isHidden()
    room.port.missed = 2
    settle(room.qtbot, dialog.code.missed.isVisible)
    assert dialog.code.missed.text().startswith("2 wrong codes were tried.")  # already while the code stands
    assert "2 wrong codes were tried" in ended(room, dialog, PairingOutcome.EXPIRED, "")
    dialog.end.new_code.click()
    settle(room.qtbot, lambda: len(room.port.turns) == 3)
    assert "You did not answer in time" in ended(room, dialog, PairingOutcome.UNANSWERED)


def test_large_text_and_all_grants_scroll_on_a_small_screen_and_the_buttons_stay(
    room: ClientsRoom, monkeypatch: pytest.MonkeyPatch
) -> None:
    room.context.theme.apply_theme("light", 150, reduced_motion=True)
    dialog = asked(room, "claude-code", grants=ALL, former=True, client="zed", name="claude-code")
    on = dialog.screen().availableGeometry()
    room_there = QRect(on.x(), on.y(), on.width(), 660)
    monkeypatch.setattr(type(dialog.screen()), "availableGeometry", lambda _: room_there)
    dialog.move(on.x(), on.y() + 400)
    dialog._fit_to_screen()
    QTest.qWait(50)
    assert room_there.contains(dialog.geometry())
    assert dialog.question.area.verticalScrollBar().maximum() > 0
    for made in (dialog.question.allow, dialog.question.deny):
        assert dialog.rect().contains(QRect(made.mapTo(dialog, made.rect().topLeft()), made.size()))


def test_what_needs_no_scrolling_does_not_scroll_and_the_end_is_as_low_as_its_words(room: ClientsRoom) -> None:
    dialog = asked(room, grants=("read", "propose"))
    settle(room.qtbot, lambda: dialog.question.area.verticalScrollBar().maximum() == 0)
    before = dialog.height()
    ended(room, dialog, PairingOutcome.DENIED)
    settle(room.qtbot, lambda: dialog.height() < before / 2)


def test_the_sentence_that_somebody_asks_goes_when_the_question_is_over(room: ClientsRoom) -> None:
    toasts = Toasts(room.context.theme, room.page)
    desk = room.context.desk
    desk.message_asked.connect(
        lambda sentence, action, run, stays: toasts.show_message(sentence, action, run, stays=stays)
    )
    desk.message_over.connect(toasts.remove_message)
    desk.show_message("The disk is nearly full.", stays=True)
    dialog = opened(room)
    room.page.hide()
    room.port.ask()
    settle(room.qtbot, lambda: toasts.sentence == "An assistant asks to be paired.")
    dialog.question.deny.click()
    settle(room.qtbot, lambda: toasts.sentence == "The disk is nearly full.")
