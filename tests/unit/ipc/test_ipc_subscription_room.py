"""A notification that finds no room: what was not written has no number, and the reader is told that it missed it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from typing import Any, cast

from core.events import Changed
from core.ipc.ports import Engine
from core.ipc.subscriptions import Subscription
from core.types.values import OWNER_ACTOR, Actor
from core.types.watching import Mark


class Outlet:
    """A connection whose room ends while the engine is asked."""

    def __init__(self) -> None:
        self.has_room = True
        self.written: list[Mapping[str, Any]] = []
        self.full = asyncio.Event()

    def post(self, message: Mapping[str, Any]) -> None:
        if self.has_room:
            self.written.append(message)
        if len(self.written) == 2:
            self.full.set()


class Watching:
    """Sees everything; while it looks, the room goes."""

    def __init__(self, outlet: Outlet) -> None:
        self._outlet = outlet
        self.takes_room = True

    def visible(self, memory_ids: Sequence[str], _: Actor) -> Future[tuple[str, ...]]:
        self._outlet.has_room = not self.takes_room
        return _done(tuple(memory_ids))

    def mark(self, _: Actor) -> Future[Mark]:
        return _done(Mark())


def _done(value: Any) -> Future[Any]:
    done: Future[Any] = Future()
    done.set_result(value)
    return done


class FakeEngine:
    """The one part that is asked."""

    def __init__(self, watching: Watching) -> None:
        self.watching = watching


def test_a_gap_is_told() -> None:
    async def told() -> list[Mapping[str, Any]]:
        outlet = Outlet()
        watching = Watching(outlet)
        listening = Subscription(cast(Engine, FakeEngine(watching)), outlet, lambda: OWNER_ACTOR, frozenset({"stored"}))
        await listening.begin()
        listening.offer(Changed("store", ("one",), OWNER_ACTOR, 1))
        for _ in range(1000):
            await asyncio.sleep(0)  # until the room is gone and the answer is there
        watching.takes_room, outlet.has_room = False, True
        listening.offer(Changed("store", ("two",), OWNER_ACTOR, 2))
        await outlet.full.wait()  # the reader's breath, then both
        listening.end()
        return outlet.written

    first, second = asyncio.run(asyncio.wait_for(told(), 30))
    assert (first["method"], first["params"]) == ("missed", {"seq": 1})
    assert second["params"] == {"seq": 2, "kind": "stored", "ids": ["two"]}
