"""What stays as it is while clients come and go: the order of the list, and where the keyboard is."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from clients_rig import DAY_MS, ClientsRoom, clients_over, rows_of, two
from pytestqt.qtbot import QtBot

from core.types.clients import Standing
from ui.context import Context


@pytest.fixture
def room(context: Context, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Iterator[ClientsRoom]:
    with clients_over(context, qtbot, monkeypatch) as made:
        yield made


def names(room: ClientsRoom) -> list[str]:
    return [row.head for row in rows_of(room.page.stand.cards.list)]


def test_the_list_keeps_its_order_while_it_is_looked_at(room: ClientsRoom) -> None:
    for name, days in (("Aster", 1), ("Birch", 2), ("Clover", 3)):
        room.clients.add(name, seen_at=room.now - days * DAY_MS)
    page = room.enter()
    assert names(room) == ["Aster", "Birch", "Clover"]
    room.clients.add("Clover", seen_at=room.now)
    room.clients.add("Aster", standing=Standing.PAUSED)
    page.read()
    room.rest()
    assert names(room) == ["Aster", "Birch", "Clover"]
    room.clients.add("Dill", seen_at=room.now - DAY_MS)
    room.clients.items.pop("Aster")
    page.read()
    room.rest()
    assert names(room) == ["Dill", "Birch", "Clover"]
    page.leave()
    page.enter()
    room.rest()
    assert names(room) == ["Clover", "Dill", "Birch"]
