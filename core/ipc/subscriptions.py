"""What a connection is told of changes: only memories it may see, in order, and never more than it reads.

A queue holds what waits for a slow reader. When it is full, or when a change named no memories, the reader is told once
that it missed something and should ask again, if any of that was for its eyes; only ids are kept for it meanwhile. Must
not do: tell a sequence or a count of the vault, let it be felt that others are busy, or hold a text.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, Protocol

from core.errors import LociError
from core.events import Changed
from core.ipc.messages import notification
from core.ipc.ports import Engine
from core.ipc.verbs.base import wait
from core.types.values import Actor
from core.types.watching import Mark

KINDS = ("stored", "changed", "gone")
_STORED = frozenset({"store", "capture", "turn", "turn_end", "compaction", "distill"})
_GONE = frozenset({"forget", "delete", "erase"})
_QUEUED = 64
_DROPPED = (
    4000  # ids of changes that did not fit the queue; behind that many the reader is told that it missed something
)
_BREATH_S = 0.25
_IDS = 500  # of one notification; a line stays far below its cap

Actors = Callable[[], Actor | None]


class Outlet(Protocol):
    """The writing end of a connection."""

    @property
    def has_room(self) -> bool:
        """Whether the peer has read nearly all it was sent."""
        ...

    def post(self, message: Mapping[str, Any]) -> None:
        """Write a notification if there is room now."""
        ...


class Subscription:
    """One connection's. Lives on the engine's loop."""

    def __init__(self, engine: Engine, outlet: Outlet, actor: Actors, kinds: frozenset[str]) -> None:
        """Begin to listen.

        Args:
            engine: says what may be seen.
            outlet: where notifications go.
            actor: who listens, by its present grants; None once it is not welcome any more.
            kinds: of `KINDS`.
        """
        self._engine, self._outlet, self._actor, self.kinds = engine, outlet, actor, kinds
        self._waiting: deque[Changed] = deque()
        self._dropped: set[str] = set()
        self._unsure = False  # a change that named no memories did not fit the queue
        self._missed = False
        self._number = 0
        self._mark: Mark | None = None
        self._stir = asyncio.Event()
        self._pump = asyncio.get_running_loop().create_task(self._run())

    def offer(self, change: Changed) -> None:
        """Take a change; of what does not fit, it is remembered which memories it was about.

        Args:
            change: as the engine announced it.
        """
        self._waiting.append(change)
        if len(self._waiting) > _QUEUED:
            for one in self._waiting:
                self._unsure = self._unsure or not one.ids
                if kind_of(one.verb) in self.kinds:
                    self._dropped.update(one.ids)
            self._waiting.clear()
            if len(self._dropped) > _DROPPED:
                self._dropped.clear()
                self._missed = True
        self._stir.set()

    def end(self) -> None:
        """Tell nothing any more."""
        self._waiting.clear()
        self._dropped.clear()
        self._pump.cancel()

    async def begin(self) -> None:
        """Remember how far the changes have come, so that one without ids can be looked at later."""
        self._mark = await self._ask(self._come)

    async def _run(self) -> None:
        while True:
            await self._stir.wait()
            if not self._outlet.has_room:  # nothing is gathered for a peer that does not read
                await asyncio.sleep(_BREATH_S)
                continue
            if self._dropped or self._unsure:
                await self._look_back()
            elif self._missed:
                self._missed = False
                self._tell("missed", {})
            elif self._waiting:
                await self._look(self._waiting.popleft())
            else:
                self._stir.clear()

    async def _look_back(self) -> None:
        """Whether anything of what did not fit was for these eyes."""
        ids, self._dropped, unsure, self._unsure = sorted(self._dropped), set(), self._unsure, False
        for at in range(0, len(ids), _IDS):
            if await self._visible(tuple(ids[at : at + _IDS])):
                self._missed = True
                await self._stands_anew()
                return
        if unsure:
            await self._compare()

    async def _look(self, change: Changed) -> None:
        if not change.ids:
            await self._compare()
            return
        seen = await self._visible(change.ids[:_IDS])
        if seen:
            if kind_of(change.verb) in self.kinds:
                self._tell("changed", {"kind": kind_of(change.verb), "ids": list(seen)})
            await self._stands_anew()
        if len(change.ids) > _IDS:
            self._dropped.update(change.ids[_IDS:] if kind_of(change.verb) in self.kinds else ())

    async def _compare(self) -> None:
        """A change that named no memories: whether anything since the last look was for these eyes."""
        since = self._mark
        if since is None:  # it was not welcome, or the vault was locked
            await self.begin()
            self._missed = self._missed or self._mark is not None
            return
        found = await self._ask(lambda actor: wait(self._engine.watching.stirred(since, actor)))
        stirred, self._mark = (False, None) if found is None else found
        self._missed = self._missed or stirred

    async def _stands_anew(self) -> None:
        """What was just told is behind.

        Trigger: a later change, by anybody, names no memories. Why: since the older mark there is something for these
        eyes, which was told. Outcome: a new mark; not while such a change waits already, for it may lie before it.
        """
        mark = await self._ask(self._come)
        if all(one.ids for one in self._waiting):
            self._mark = mark

    async def _visible(self, ids: tuple[str, ...]) -> tuple[str, ...]:
        return await self._ask(lambda actor: wait(self._engine.watching.visible(ids, actor))) or ()

    async def _come(self, actor: Actor) -> Mark:
        return await wait(self._engine.watching.mark(actor))

    async def _ask(self, question: Callable[[Actor], Awaitable[Any]]) -> Any:
        """What the engine says; None while the vault is locked, or the client may not read."""
        actor = self._actor()
        if actor is not None:
            with suppress(LociError):
                return await question(actor)
        return None

    def _tell(self, method: str, params: Mapping[str, Any]) -> None:
        if not self._outlet.has_room:  # gone while the vault was asked: what is not written has no number either
            self._missed = True
            return
        self._number += 1  # its own count: a gap of the vault's would tell of what it may not see
        self._outlet.post(notification(method, {"seq": self._number, **params}))


def kind_of(verb: str) -> str:
    """What a change is to a listener.

    Args:
        verb: the verb that was announced.

    Returns:
        One of `KINDS`.
    """
    if verb in _STORED:
        return "stored"
    return "gone" if verb in _GONE else "changed"
