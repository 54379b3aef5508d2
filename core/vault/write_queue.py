"""The bounded queue in front of the writer.

Two lanes: what a person or a client waits for goes before background work (import batches),
but every eighth turn belongs to the background. Nothing is dropped: a caller waits for room.

Must not do: start threads; the engine gives `run` one.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, TypeVar

from core.vault.database.faults import busy
from core.vault.database.tx import Tx
from core.vault.vault import Vault

T = TypeVar("T")

CAPACITY = 1000
_BACKGROUND_TURN = 8


@dataclass(frozen=True)
class _Item:
    action: Callable[[Tx], Any]
    future: Future[Any]

    def refuse(self) -> None:
        if self.future.set_running_or_notify_cancel():
            self.future.set_exception(busy())


class WriteQueue:
    """Brings verbs from any thread to the writer's."""

    def __init__(self, vault: Vault, capacity: int = CAPACITY) -> None:
        """Make an empty queue.

        Args:
            vault: where verbs are run.
            capacity: how many may wait; callers of more wait themselves.
        """
        self._vault = vault
        self._capacity = capacity
        self._changed = threading.Condition()  # guards everything below
        self._front: deque[_Item] = deque()
        self._back: deque[_Item] = deque()
        self._turn = 0
        self._is_closed = False
        self._is_stopped = False
        self._is_running = False

    @property
    def depth(self) -> int:
        """How many verbs wait."""
        with self._changed:
            return self._waiting()

    def submit(self, fn: Callable[[Tx], T], *, background: bool = False) -> Future[T]:
        """Hand a verb in; waits while the queue is full. Never call it on an event loop.

        Args:
            fn: the verb, run by `Vault.write`.
            background: whether nobody waits for it.

        Returns:
            A future with its result; done when it is saved. Cancelling it before its turn drops the verb.

        Raises:
            EnvironmentFaultError: BUSY; the queue is closed.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._is_closed or self._waiting() < self._capacity)
            return self._put(fn, background=background)

    def run(self) -> None:
        """Run verbs one after another until `close`; the body of the writer's thread."""
        while (item := self._next()) is not None:
            if not item.future.set_running_or_notify_cancel():
                continue
            try:
                result = self._vault.write(item.action)
            except BaseException as fault:  # noqa: BLE001 - it is handed to whoever waits for the future
                item.future.set_exception(fault)
            else:
                item.future.set_result(result)

    def close(self, drain_s: float = 2.0) -> bool:
        """Take nothing more, let what waits be run, then stop `run`.

        Args:
            drain_s: seconds for what waits; the rest is refused with BUSY.

        Returns:
            Whether everything was run.
        """
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
            is_drained = self._changed.wait_for(lambda: not self._waiting() and not self._is_running, drain_s)
            left = [*self._front, *self._back]
            self._front.clear()
            self._back.clear()
            self._is_stopped = True
            self._changed.notify_all()
        for item in left:
            item.refuse()
        return is_drained

    def _put(self, fn: Callable[[Tx], T], *, background: bool) -> Future[T]:
        if self._is_closed:
            raise busy()
        future: Future[T] = Future()
        (self._back if background else self._front).append(_Item(fn, future))
        self._changed.notify_all()
        return future

    def _next(self) -> _Item | None:
        with self._changed:
            self._is_running = False
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._is_stopped or self._waiting() > 0)
            if not self._waiting():
                return None
            self._turn += 1
            is_backs_turn = self._turn % _BACKGROUND_TURN == 0
            lane = self._back if self._back and (is_backs_turn or not self._front) else self._front
            item = lane.popleft()
            self._is_running = True
            self._changed.notify_all()
            return item

    def _waiting(self) -> int:
        return len(self._front) + len(self._back)
