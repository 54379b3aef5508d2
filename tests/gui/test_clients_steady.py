"""What stays as it is while clients come and go: the order of the list, and where the keyboard is."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import replace

import pytest
from answered import finished
from clients_rig import DAY_MS, ClientsRoom, clients_over, did, rows_of, two
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton, QWidget
from pytestqt.qtbot import QtBot
from window_rig import settle

from core.types.clients import ClientState, Did
from core.types.replies import UndoReport
from ui.context import Context
from ui.pages.clients.actions import AskDialog, RemoveClientDialog


@pytest.fixture
def room(context: Context, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Iterator[ClientsRoom]:
    with clients_over(context, qtbot, monkeypatch) as made:
        yield made


def names(room: ClientsRoom) -> list[str]:
    return [row.title for row in rows_of(room.page.panes.cards.list)]


def test_the_list_keeps_its_order_while_it_is_looked_at(room: ClientsRoom) -> None:
    for name, days in (("Aster", 1), ("Birch", 2), ("Clover", 3)):
        room.clients.add(name, seen_at=room.now - days * DAY_MS)
    page = room.enter()
    assert names(room) == ["Aster", "Birch", "Clover"]
    room.clients.add("Clover", seen_at=room.now)
    room.clients.add("Aster", standing=ClientState.PAUSED)
    page.reload()
    room.rest()
    assert names(room) == ["Aster", "Birch", "Clover"]
    room.clients.add("Dill", seen_at=room.now - DAY_MS)
    room.clients.items.pop("Aster")
    page.reload()
    room.rest()
    assert names(room) == ["Dill", "Birch", "Clover"]
    page.deactivate()
    page.activate()
    room.rest()
    assert names(room) == ["Clover", "Dill", "Birch"]


def by_space(room: ClientsRoom, made: QPushButton) -> QWidget | None:
    """Press a button from the keyboard; where the keyboard is when all of it is done."""
    room.page.activateWindow()
    made.setFocus()
    QTest.keyClick(made, Qt.Key.Key_Space)
    room.rest()
    return room.page.focusWidget()


def test_the_keyboard_goes_to_what_took_the_place_of_a_deed(room: ClientsRoom) -> None:
    deeds = two(room).enter().panes.header.buttons
    assert by_space(room, deeds["pause"]) is deeds["resume"]
    assert by_space(room, deeds["resume"]) is deeds["pause"]
    assert [one for one in room.clients.asked if one[0] != "undoable"] == [("pause", "Scribe"), ("resume", "Scribe")]
    room.clients.add("Scribe", standing=ClientState.ASLEEP)
    room.page.reload()
    room.rest()
    assert by_space(room, deeds["wake"]) is deeds["pause"]


@pytest.mark.parametrize("is_narrow", [False, True])
def test_after_revoking_the_keyboard_is_with_the_clients_not_at_another_deed(
    room: ClientsRoom, *, is_narrow: bool
) -> None:
    panes = two(room).enter().panes
    if is_narrow:
        room.page.resize(600, 700)
        room.rest()
    by_space(room, panes.header.buttons["revoke"])
    room.dialog(AskDialog).act.click()
    settle(room.qtbot, lambda: bool(room.page.findChildren(RemoveClientDialog)))
    room.rest()
    room.dialog(RemoveClientDialog).cancel.click()
    room.rest()
    assert not panes.header.buttons["revoke"].isVisible()
    assert room.page.focusWidget() is (panes.back if is_narrow else panes.cards.list)


def test_after_applying_or_resetting_terms_the_keyboard_is_with_the_clients(room: ClientsRoom) -> None:
    panes = two(room).enter().panes
    panes.show_view("grants")
    room.rest()
    for made in (panes.terms.act, panes.terms.reset):
        panes.terms.grants.boxes["write"].click()
        assert by_space(room, made) is panes.cards.list
        assert not made.isEnabled()


def test_after_taking_a_step_back_the_keyboard_is_in_the_list_of_steps(
    room: ClientsRoom, monkeypatch: pytest.MonkeyPatch
) -> None:
    def take(_step: str, _actor: object) -> Future[UndoReport]:
        room.clients.lines = [replace(room.clients.lines[0], is_undone=True)]
        return finished(UndoReport("s1", "Remember a fact", "s2", 1, (), "Scribe", ()))

    monkeypatch.setattr(room.context.bridge.engine.memories, "undo_step", take)
    room.clients.lines = [did(room.now, Did.WROTE, "store", step_id="s1", count=1)]
    tab = two(room).enter().panes.activity
    by_space(room, tab.undo)
    tab.reload_near_top()
    room.rest()
    assert not tab.undo.isEnabled()
    assert room.page.focusWidget() is tab.list


def test_the_switch_of_all_clients_keeps_the_keyboard(room: ClientsRoom) -> None:
    cards = two(room).enter().panes.cards
    by_space(room, cards.stop)
    room.dialog(AskDialog).act.click()
    room.rest()
    assert room.page.focusWidget() is cards.resume
    by_space(room, cards.resume)
    room.dialog(AskDialog).act.click()
    room.rest()
    assert room.page.focusWidget() is cards.stop
