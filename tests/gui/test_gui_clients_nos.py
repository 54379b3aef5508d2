"""The names the person said no to: a quiet way to them, and each no can be taken back."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from clients_rig import DAY_MS, ClientsRoom, clients_over, two
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot
from window_rig import settle

from core.types.clients import Denied
from ui.context import Context
from ui.pages.clients.page import client_commands
from ui.pages.clients.pairing_request import DeniedNamesDialog


@pytest.fixture
def room(context: Context, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Iterator[ClientsRoom]:
    with clients_over(context, qtbot, monkeypatch) as made:
        yield made


def lifts(asking: DeniedNamesDialog) -> list[QPushButton]:
    return [one for one in asking.findChildren(QPushButton) if one.accessibleName().endswith("to ask again")]


def test_where_the_person_said_no_to_nobody_nothing_is_shown(room: ClientsRoom) -> None:
    page = two(room).enter()
    room.rest()
    assert page.denied.link.isHidden()


def test_a_no_is_seen_and_taken_back_with_an_undo(room: ClientsRoom) -> None:
    room.clients.nos = [Denied("clip\u202eper", room.now - DAY_MS), Denied("odd one", room.now - 3 * DAY_MS)]
    page = two(room).enter()
    settle(room.qtbot, lambda: not page.denied.link.isHidden())
    assert page.denied.link.text() == "2 declined names …"
    page.denied.link.click()
    asking = room.dialog(DeniedNamesDialog)
    settle(room.qtbot, lambda: len(lifts(asking)) == 2)
    assert [one.accessibleName() for one in lifts(asking)] == [
        "Allow clip‹U+202E›per to ask again", "Allow odd one to ask again",
    ]  # fmt: skip
    lifts(asking)[1].click()
    settle(room.qtbot, lambda: len(lifts(asking)) == 1)
    assert ("allow_again", "odd one") in room.clients.asked
    assert room.said[-1][:2] == ("odd one may ask again.", "Undo")
    lifts(asking)[0].click()
    settle(room.qtbot, lambda: not lifts(asking))
    assert asking.note == "No name was declined."
    settle(room.qtbot, page.denied.link.isHidden)
    asking.close_button.click()


def test_what_the_engine_refuses_is_said_in_the_list(room: ClientsRoom) -> None:
    room.clients.nos = [Denied("odd one", room.now)]
    page = two(room).enter("nos")
    asking = room.dialog(DeniedNamesDialog)
    settle(room.qtbot, lambda: len(lifts(asking)) == 1)
    room.clients.refuses = "Not now."
    lifts(asking)[0].click()
    settle(room.qtbot, lambda: asking.note == "Not now.")
    assert page.denied.link.text() == "1 declined name …"
    asking.reject()


def test_the_palette_leads_there_also_where_nobody_is_paired(room: ClientsRoom) -> None:
    gone: list[tuple[str, str]] = []
    room.context.desk.go.connect(lambda page, wish: gone.append((page, wish)))
    {command.title: command for command in client_commands(room.context)}["Declined names"].run()
    assert gone == [("clients", "nos")]


def test_with_no_client_paired_the_names_are_a_press_away_and_the_way_stays(room: ClientsRoom) -> None:
    room.clients.nos = [Denied("odd one", room.now - DAY_MS)]
    page = room.enter()
    link = page.denied.link
    settle(room.qtbot, link.isVisible)
    assert page.states.currentWidget() is not page.panes
    room.context.theme.apply_theme("light", 150)
    page.reload()
    room.rest()
    settle(room.qtbot, link.isVisible)
    room.context.theme.apply_theme("light", 100)
    link.click()
    room.dialog(DeniedNamesDialog).close_button.click()
    two(room)
    page.reload()
    room.rest()
    settle(room.qtbot, link.isVisible)
    assert page.panes.cards.isAncestorOf(link)
    room.clients.items.clear()
    page.reload()
    room.rest()
    settle(room.qtbot, link.isVisible)
    room.clients.nos = []
    page.reload()
    room.rest()
    settle(room.qtbot, link.isHidden)


def test_reading_again_leaves_the_keyboard_where_it_is_with_no_client_paired(room: ClientsRoom) -> None:
    room.clients.nos = [Denied("odd one", room.now - DAY_MS)]
    page = room.enter()
    settle(room.qtbot, page.denied.link.isVisible)
    page.activateWindow()
    page.denied.link.setFocus()
    page.reload()
    room.rest()
    assert page.focusWidget() is page.denied.link
