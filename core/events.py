"""A small typed event hub: plain callbacks, no Qt, no threads of its own.

Handlers run on the thread that publishes. They must be quick and must not
publish again; `ui.bridge` turns an event into a queued Qt signal.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

from core.types.clients import Moves
from core.types.values import Actor


@dataclass(frozen=True, slots=True)
class Changed:
    """Rows changed.

    Attributes:
        verb: the verb's name.
        ids: memory ids touched; empty for bulk verbs.
        origin: who asked.
        seq: the vault's sequence after the change.
    """

    verb: str
    ids: tuple[str, ...]
    origin: Actor
    seq: int


@dataclass(frozen=True, slots=True)
class Progress:
    """A long job moved on; throttled to one every 100 ms.

    Attributes:
        job: the job's id.
        label: what it does, in words; no memory text.
        done: units done.
        total: units in all; None while unknown.
    """

    job: str
    label: str
    done: int
    total: int | None


@dataclass(frozen=True, slots=True)
class StateChanged:
    """The engine's state changed: `locked`, `opening`, `open`, `closing`."""

    state: str


@dataclass(frozen=True, slots=True)
class Stalled:
    """What goes on by itself cannot go on, and the person should know; told once.

    Attributes:
        subject: where more is to be found: `devices`.
        sentence: what, and what to do; no memory text.
    """

    subject: str
    sentence: str


Event = Changed | Progress | StateChanged | Stalled


class Hub:
    """Delivers events to subscribers, and to those who watch memories what was done to them.

    Attributes:
        is_watched: whether anybody is told what is done to memories.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()  # guards _handlers, and _watchers with is_watched
        self._handlers: tuple[Callable[[Event], None], ...] = ()
        self._watchers: tuple[Callable[[Moves], None], ...] = ()
        self.is_watched = False

    def subscribe(self, handler: Callable[[Event], None]) -> Callable[[], None]:
        """Add a handler.

        Args:
            handler: called with each event on the publishing thread.

        Returns:
            A function that removes it again.
        """
        with self._lock:
            self._handlers = (*self._handlers, handler)

        def remove() -> None:
            with self._lock:
                self._handlers = tuple(h for h in self._handlers if h is not handler)

        return remove

    def publish(self, event: Event) -> None:
        """Hand an event to every handler, in the order they subscribed."""
        for handler in self._handlers:
            handler(event)

    def watch(self, handler: Callable[[Moves], None]) -> Callable[[], None]:
        """Add a handler of what was done to memories.

        Args:
            handler: called once for each saved transaction that touched any, on the publishing thread.

        Returns:
            A function that removes it again.
        """
        with self._lock:
            self._watchers = (*self._watchers, handler)
            self.is_watched = True

        def remove() -> None:
            with self._lock:
                self._watchers = tuple(h for h in self._watchers if h is not handler)
                self.is_watched = bool(self._watchers)

        return remove

    def tell(self, moves: Moves) -> None:
        """Hand what was done to everybody who watches, in the order they began to."""
        for handler in self._watchers:
            handler(moves)
