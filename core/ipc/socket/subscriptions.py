"""What a connection is told of changes: only memories it may see, in order, and never more than it reads.

A queue holds what waits for a slow reader. When it is full, or one change was of more memories than a line should name,
the reader is told once that it missed something and should ask again, if any of that was for its eyes; only where those
memories lie is kept for it meanwhile. Must not do: tell a sequence or a count of the vault, let it be felt that others
are busy, or hold a text.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Protocol

from core.engine.facade import Engine
from core.errors import LociError
from core.ipc.methods.kit.entry import wait
from core.ipc.protocol.messages import notification
from core.types.clients import Moved, Moves, Place
from core.types.values import Actor

KINDS = ("stored", "changed", "gone")
_QUEUED = 64
_DROPPED = 4000  # places of changes that did not fit; behind that many the reader is told that it missed something
_BREATH_S = 0.25
_IDS = 500  # of one change; a line stays far below its cap

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
        self._waiting: deque[Moves] = deque()
        self._dropped: set[tuple[Place | None, Place | None]] = set()
        self._missed = False
        self._number = 0
        self._stir = asyncio.Event()
        self._pump = asyncio.get_running_loop().create_task(self._run())

    def offer(self, moves: Moves) -> None:
        """Take a change; of what does not fit, it is remembered where those memories were and are.

        Args:
            moves: as the engine told it.
        """
        self._waiting.append(moves)
        if len(self._waiting) > _QUEUED:
            self._dropped.update((move.before, move.after) for one in self._waiting for move in one)
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

    async def _run(self) -> None:
        while True:
            await self._stir.wait()
            if not self._outlet.has_room:  # nothing is gathered for a peer that does not read
                await asyncio.sleep(_BREATH_S)
                continue
            if self._dropped:
                dropped, self._dropped = self._dropped, set()
                told = await self._for_it(tuple(Moved(*way, ()) for way in dropped))
                self._missed = self._missed or bool(told)
            elif self._missed:
                self._missed = False
                self._tell("missed", {})
            elif self._waiting:
                await self._look(self._waiting.popleft())
            else:
                self._stir.clear()

    async def _look(self, moves: Moves) -> None:
        told = await self._for_it(moves)
        if sum(map(len, told.values())) > _IDS:
            self._missed = True
            return
        for kind, ids in told.items():
            self._tell("changed", {"kind": kind, "ids": list(ids)})

    async def _for_it(self, moves: Moves) -> Mapping[str, tuple[str, ...]]:
        """What of a change is told; nothing while the vault is locked, or the client may not read."""
        actor = self._actor()
        if actor is not None:
            with suppress(LociError):
                told = await wait(self._engine.watching.visible_changes(moves, actor))
                return {kind: told[kind] for kind in KINDS if kind in told and kind in self.kinds}
        return {}

    def _tell(self, method: str, params: Mapping[str, Any]) -> None:
        if not self._outlet.has_room:  # gone while the vault was asked: what is not written has no number either
            self._missed = True
            return
        self._number += 1  # its own count: a gap of the vault's would tell of what it may not see
        self._outlet.post(notification(method, {"seq": self._number, **params}))
