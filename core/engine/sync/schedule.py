"""When a round with the folder begins by itself: at the chosen interval, and soon after a change.

What hinders it is told once, and again only after a round went well in between. Must not do: carry out a round, know a
vault.
"""

from __future__ import annotations

import threading

from core.errors import LociError

FIRST_MS = 10_000
"""After opening: whoever opens a vault waits for other things first."""
QUIET_MS = 20_000
"""Without a further change; an import is told when it is through, or at the interval."""
_MINUTE_MS = 60_000


class RoundSchedule:
    """The rounds of one open vault."""

    def __init__(self) -> None:
        """Nothing is due yet."""
        self._lock = threading.Lock()  # guards all below: changes, looks and rounds are on three threads
        self._next_ms: int | None = None
        self._changed_ms: int | None = None
        self._is_running = False
        self._trouble: LociError | None = None

    @property
    def trouble(self) -> str:
        """What hindered the last round, in a sentence; empty where nothing did."""
        with self._lock:
            return "" if self._trouble is None else self._trouble.sentence

    def note_change(self, now_ms: int) -> None:
        """Something changed that the others have to be told."""
        with self._lock:
            self._changed_ms = now_ms

    def begin_if_due(self, now_ms: int, minutes: int) -> bool:
        """Say whether a round begins now; whoever is told so calls `end`.

        Args:
            minutes: between two rounds; 0 for never.
        """
        with self._lock:
            if minutes <= 0 or self._is_running:
                return False
            pause = minutes * _MINUTE_MS
            if self._next_ms is None:
                self._next_ms = now_ms + FIRST_MS
            self._next_ms = min(self._next_ms, now_ms + pause)  # the interval was shortened, or the clock set back
            changed = self._changed_ms
            is_quiet = changed is not None and not 0 <= now_ms - changed < QUIET_MS
            if now_ms < self._next_ms and not is_quiet:
                return False
            self._next_ms, self._changed_ms, self._is_running = now_ms + pause, None, True
            return True

    def end(self, trouble: LociError | None = None) -> bool:
        """A round is over.

        Args:
            trouble: what hindered it; None where nothing did.

        Returns:
            Whether that is news for the person.
        """
        with self._lock:
            self._is_running = False
            known, self._trouble = self._trouble, trouble
            return trouble is not None and (known is None or known.code is not trouble.code)
