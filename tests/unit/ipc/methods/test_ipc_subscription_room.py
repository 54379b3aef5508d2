"""A notification that finds no room: what was not written has no number, and the reader is told that it missed it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any, cast

from ipc_clients import FakeWatching, moves_of

from core.engine.facade import Engine
from core.ipc.socket.connection import Subscription
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

    def post(self, message: Mapping[str, Any]) -> None:
        if self.room:
            self.written.append(message)
        if len(self.written) == 2:
            self.full.set()


class Watching(FakeWatching):
    """While it looks, the room goes, once."""

    def __init__(self, outlet: Outlet) -> None:
        self._outlet = outlet
        self.takes_room = True

    def visible_changes(self, moves: Moves, actor: Actor) -> Future[Mapping[str, tuple[str, ...]]]:
        self._outlet.room, self.takes_room = not self.takes_room, False
        return super().visible_changes(moves, actor)


class FakeEngine:
    """The one part that is asked."""

    def __init__(self, watching: Watching) -> None:
        self.watching = watching


def test_a_gap_is_told() -> None:
    async def told() -> list[Mapping[str, Any]]:
        outlet = Outlet()
        watching = Watching(outlet)
        listening = Subscription(cast(Engine, FakeEngine(watching)), outlet, lambda: OWNER_ACTOR, frozenset({"stored"}))
        listening.offer(moves_of("stored", "one"))
        await outlet.refused.wait()
        outlet.room = True
        listening.offer(moves_of("stored", "two"))
        await outlet.full.wait()  # the reader's breath, then both
        listening.end()
        return outlet.written

    first, second = asyncio.run(asyncio.wait_for(told(), 60))
    assert (first["method"], first["params"]) == ("missed", {"seq": 1})
    assert second["params"] == {"seq": 2, "kind": "stored", "ids": ["two"]}
