"""Pairing in the window: the code, who asks, the answer, the end; a token made by hand; what the rail tells."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from clients_rig import CODE, HOSTILE, ClientsRoom, clients_over
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot
from window_rig import settle

from core.types.clients import PairingOutcome
from ui.context import Context
from ui.pages.clients.page import CLIENTS
from ui.pages.clients.pairing import PairDialog
from ui.pages.clients.tokens import TokenDialog, token_text
from ui.shell.vault_view import House
from ui.widgets.secret import SecretClipboard


@pytest.fixture
def room(context: Context, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Iterator[ClientsRoom]:
    with clients_over(context, qtbot, monkeypatch) as made:
        made.clients.add("Scribe")
        yield made


def opened(room: ClientsRoom) -> PairDialog:
    """A dialog that shows its code."""
    page = room.enter("pair")
    settle(room.qtbot, lambda: page.pairing is not None and page.pairing.code.copy.isEnabled())
    assert page.pairing is not None
    return page.pairing


def asked(room: ClientsRoom, **more: object) -> PairDialog:
    """A dialog in which somebody asks."""
    dialog = opened(room)
    room.port.ask(**more)
    settle(room.qtbot, dialog.question.deny.isVisible)
    return dialog


def shut(room: ClientsRoom) -> None:
    """Close the dialog and let what waited for it end."""
    dialog = room.page.pairing
    if dialog is not None:
        dialog.close()
    for _, turn in room.port.turns:
        turn.asked.cancel()
        turn.ended.cancel()
    settle(room.qtbot, lambda: not room.context.tasks.running)


def test_the_code_stands_in_groups_can_be_selected_and_copied_and_runs_out(room: ClientsRoom) -> None:
    dialog = opened(room)
    assert dialog.code.code.text() == "QW3R TYUI OPAS 2DFG"
    assert dialog.code.code.textInteractionFlags() & Qt.TextInteractionFlag.TextSelectableByKeyboard
    assert dialog.code.time_left.text().endswith("seconds left")
    dialog.code.copy.click()
    assert QGuiApplication.clipboard().text() == CODE
    assert "cannot protect you from" in room.words(dialog)
    room.port.end(PairingOutcome.EXPIRED, "")
    settle(room.qtbot, dialog.end.close_button.isVisible)
    assert "The code has expired." in room.words(dialog)
    dialog.end.new_code.click()
    settle(room.qtbot, lambda: len(room.port.turns) == 2 and dialog.code.copy.isEnabled())
    shut(room)
    assert room.port.cancelled == 1


def test_who_asks_is_shown_as_plain_text_with_what_it_would_be_allowed(room: ClientsRoom) -> None:
    dialog = asked(room)
    told = room.words(dialog)
    assert "Scribe‹U+202E› <b>admin</b>" in told
    assert HOSTILE not in told
    assert "python3.11, pid 4711" in told
    assert "as reported" in told
    assert CODE[-4:] in told
    assert CODE not in told.replace(" ", "")
    assert [name for name, box in dialog.question.spaces.boxes.items() if box.isChecked()] == ["work"]
    assert told.count("•") == 2
    assert not dialog.question.former.isVisible()
    assert all(one.textFormat() is Qt.TextFormat.PlainText for one in dialog.findChildren(QLabel) if one.text())
    shut(room)


def test_a_name_that_comes_back_is_told(room: ClientsRoom) -> None:
    dialog = asked(room, former=True)
    assert "You revoked a client of this name before." in room.words(dialog)
    shut(room)


def test_deny_is_the_default_and_allow_takes_no_press_for_a_second(room: ClientsRoom) -> None:
    dialog = asked(room)
    view = dialog.question
    assert view.deny.isDefault()
    assert not view.allow.autoDefault()
    assert not view.allow.isEnabled()
    QTest.mouseClick(view.allow, Qt.MouseButton.LeftButton)
    assert room.port.answers == []
    settle(room.qtbot, view.allow.isEnabled)
    QTest.mouseClick(view.allow, Qt.MouseButton.LeftButton)
    settle(room.qtbot, dialog.end.close_button.isVisible)
    assert room.port.answers == [("q1", True)]
    assert "Scribe is paired." in room.words(dialog)
    shut(room)
    assert room.port.cancelled == 0


def test_return_denies_and_the_no_is_told_to_be_remembered(room: ClientsRoom) -> None:
    dialog = asked(room)
    QTest.keyClick(dialog, Qt.Key.Key_Return)
    settle(room.qtbot, dialog.end.close_button.isVisible)
    assert room.port.answers == [("q1", False)]
    assert "Loci remembers that" in room.words(dialog)
    shut(room)


def test_a_remembered_no_is_told_and_pairing_can_be_opened_for_that_very_name(room: ClientsRoom) -> None:
    dialog = opened(room)
    room.port.end(PairingOutcome.DENIED_BEFORE)
    settle(room.qtbot, dialog.end.only.isVisible)
    assert "you declined that name before" in room.words(dialog)
    dialog.end.only.click()
    settle(room.qtbot, lambda: len(room.port.turns) == 2)
    assert room.port.turns[-1][0] == "Scribe"
    shut(room)


def test_closing_while_somebody_asks_answers_nothing_and_kills_the_code(room: ClientsRoom) -> None:
    dialog = asked(room)
    pairing = room.context.pairing
    settle(room.qtbot, lambda: pairing.question is not None)
    dialog.close()
    settle(room.qtbot, lambda: room.port.cancelled == 1)
    assert room.port.answers == []
    settle(room.qtbot, lambda: pairing.question is None)
    shut(room)


def test_the_rail_and_a_sentence_tell_of_a_request_while_the_page_is_not_shown(room: ClientsRoom) -> None:
    dialog = opened(room)
    room.page.hide()
    house = House(room.context, [CLIENTS], None)
    room.qtbot.addWidget(house)
    counted: list[int] = []
    house.counted.connect(lambda _id, _title, count, _counts: counted.append(count))
    room.port.ask()
    settle(room.qtbot, lambda: bool(room.said))
    assert room.said[-1][:2] == ("An assistant asks to be paired.", "Look")
    settle(room.qtbot, lambda: counted[-1:] == [1])
    dialog.question.deny.click()
    settle(room.qtbot, lambda: counted[-1] == 0)
    shut(room)


def test_a_second_pairing_takes_the_place_of_the_first(room: ClientsRoom) -> None:
    first = opened(room)
    room.page.pair_client()
    settle(room.qtbot, lambda: room.port.cancelled == 1)
    assert room.page.pairing is not None
    assert room.page.pairing is not first
    shut(room)


def test_without_a_socket_a_token_is_offered(room: ClientsRoom) -> None:
    room.context.pairing.port = None
    room.enter("pair")
    assert "socket" in room.said[-1][0]
    room.dialog(TokenDialog).reject()


def test_a_token_is_shown_once_and_leaves_the_clipboard(room: ClientsRoom) -> None:
    page = room.enter("token")
    dialog = room.dialog(TokenDialog)
    assert not dialog.act.isEnabled()
    dialog.name.setText("Recipe clipper")
    room.press(dialog.act)
    assert room.clients.asked[-1] == ("pair", "Recipe clipper", ("read", "propose"))
    token = token_text(bytes(range(32)))
    assert dialog.token.text() == token
    assert "=" not in token
    dialog.copy.click()
    clipboard = QGuiApplication.clipboard()
    assert clipboard.text() == token
    clip = room.context.desk.findChildren(SecretClipboard)[-1]
    dialog.finish.click()
    assert dialog.token.text() == ""
    assert clipboard.text() == token
    clip._timer.timeout.emit()
    assert clipboard.text() == ""
    room.rest()
    assert page.panes.header.name.whole == "Recipe clipper"


def test_a_token_is_made_with_spaces(room: ClientsRoom) -> None:
    room.enter("token")
    dialog = room.dialog(TokenDialog)
    assert sorted(dialog.spaces.boxes) == ["home", "work"]  # GLOBAL is seen by all, a client's own by that one
    dialog.name.setText("Recipe clipper")
    dialog.spaces.boxes["work"].click()
    all_of_them = dialog.grants.boxes["all_spaces"]
    all_of_them.click()
    assert not dialog.spaces.isEnabled()
    all_of_them.click()
    room.press(dialog.act)
    assert room.clients.asked[-1] == ("pair", "Recipe clipper", ("read", "propose", "space:work"))
    dialog.finish.click()


def test_what_somebody_else_copied_since_stays_on_the_clipboard(room: ClientsRoom) -> None:
    clip = SecretClipboard(room.context.desk, room.context.bridge.state)
    clip.copy_secret("secret")
    QGuiApplication.clipboard().setText("a recipe")
    clip.clear_clipboard()
    assert QGuiApplication.clipboard().text() == "a recipe"


def test_locking_takes_a_token_off_the_clipboard(room: ClientsRoom) -> None:
    SecretClipboard(room.context.desk, room.context.bridge.state).copy_secret("secret")
    room.context.bridge.state.emit("closing")
    assert QGuiApplication.clipboard().text() == ""


def test_a_name_the_engine_refuses_can_be_mended(room: ClientsRoom) -> None:
    room.enter("token")
    dialog = room.dialog(TokenDialog)
    dialog.name.setText("Scribe")
    room.clients.refuses = "A client of that name is paired already."
    dialog.act.click()
    settle(room.qtbot, dialog.problem.isVisible)
    assert dialog.problem.text() == room.clients.refuses
    assert dialog.name.isEnabled()
    dialog.reject()
