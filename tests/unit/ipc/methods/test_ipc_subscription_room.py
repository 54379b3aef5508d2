"""A notification that finds no room: what was not written has no number, and the reader is told that it missed it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any, cast

import pytest
from ipc_served import Served

from core.ipc.socket.connection import Connection, Subscription
from core.types.clients import Moves
from core.types.values import OWNER_ACTOR, Actor


class Outlet:
    """A connection whose room ends while the engine is asked."""

    def __init__(self) -> None:
        self.room = True
        self.written: list[Mapping[str, Any]] = []
        self.refused, self.full = asyncio.Event(), asyncio.Event()

    @property
    def has_room(self) -> bool:
        if not self.room:
            self.refused.set()
        return self.room

    def post_notification(self, message: Mapping[str, Any]) -> None:
        if self.room:
            self.written.append(message)
        if len(self.written) == 2:
            self.full.set()


def test_a_gap_is_told(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    served.pair("one")
    outlet = Outlet()
    look = served.engine.subscriptions.visible_changes

    def look_once_without_room(moves: Moves, actor: Actor) -> Future[Mapping[str, tuple[str, ...]]]:
        """While it looks, the room goes, once."""
        outlet.room = outlet.refused.is_set()
        return look(moves, actor)

    monkeypatch.setattr(served.engine.subscriptions, "visible_changes", look_once_without_room)

    async def told() -> list[Mapping[str, Any]]:
        listening = Subscription(served.engine, cast(Connection, outlet), lambda: OWNER_ACTOR, frozenset({"stored"}))
        listening.offer_moves(served.moves("stored", "one"))
        await outlet.refused.wait()
        outlet.room = True
        listening.offer_moves(served.moves("stored", "one-2"))
        await outlet.full.wait()  # the reader's breath, then both
        listening.end_subscription()
        return outlet.written

    first, second = asyncio.run(asyncio.wait_for(told(), 60))
    assert (first["method"], first["params"]) == ("missed", {"seq": 1})
    assert second["params"] == {"seq": 2, "kind": "stored", "ids": ["one-2"]}
