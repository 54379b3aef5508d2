"""Several pairs on one model session: the caller's thread and the session's own thread each take the next one.

Two threads that share one pair wait for each other at every layer; a pair for each takes half the time, and less of the
processor. Every pair is still run by itself, so its answer is the same. Must not do: start a thread, or know what a
pair means.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from queue import SimpleQueue
from typing import Any

Feed = Mapping[str, Any]
"""Arrays by the name of the model's input."""


class Turns:
    """The inputs of one call, run once."""

    def __init__(self, session: Any, feeds: Sequence[Callable[[], Feed]]) -> None:
        """Take the inputs.

        Args:
            session: the runtime's session, with a thread of its own besides the caller's.
            feeds: make the inputs, each called once, in either thread.
        """
        self._session = session
        self._feeds = feeds
        self._todo = deque(range(len(feeds)))
        self._found: list[Any] = [None] * len(feeds)
        self._held: list[Any] = [None] * len(feeds)  # inputs that the session's thread reads
        self._fault: Exception | None = None
        self._ended: SimpleQueue[None] = SimpleQueue()

    def run(self) -> list[Any]:
        """Run all of them, in their order where one thread would do it.

        Returns:
            The model's first output of each; None for one that the session's thread could not run.

        Raises:
            Exception: what the session or an input raised, after the other thread has ended.
        """
        self._send()
        try:
            while (nr := self._next()) is not None:
                self._found[nr] = self._session.run(None, dict(self._feeds[nr]()))[0]
        finally:
            self._todo.clear()
            self._ended.get()
        if self._fault is not None:
            raise self._fault
        return self._found

    def _next(self) -> int | None:
        try:
            return self._todo.popleft()
        except IndexError:
            return None

    def _send(self) -> None:
        """Give the session's thread the next one, or end its part."""
        nr = self._next()
        try:
            if nr is not None:
                self._held[nr] = dict(self._feeds[nr]())
                self._session.run_async(None, self._held[nr], self._came, nr)
                return
        except Exception as error:  # noqa: BLE001 - raised again in the caller's thread
            self._todo.clear()
            self._fault = error
        self._ended.put(None)

    def _came(self, found: Sequence[Any], nr: int, error: str) -> None:
        """Called by the session's thread; what it raised would be lost."""
        try:
            self._found[nr] = None if error else found[0]
        except Exception as fault:  # noqa: BLE001 - raised again in the caller's thread, which waits for this one
            self._fault = fault
            self._todo.clear()
        self._send()
