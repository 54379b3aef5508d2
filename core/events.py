"""A small typed event hub: plain callbacks, no Qt, no threads of its own.

Handlers run on the thread that publishes. They must be quick and must not
publish again; `ui.bridge` turns an event into a queued Qt signal.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

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


Event = Changed | Progress | StateChanged


class Hub:
    """Delivers events to subscribers."""

    def __init__(self) -> None:
        self._lock = threading.Lock()  # guards _handlers
        self._handlers: tuple[Callable[[Event], None], ...] = ()

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
