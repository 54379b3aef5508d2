"""When somebody last used the palace: a search, a write, a hand on the window. Background work asks here.

Must not do: keep what was done, or by whom.
"""

from __future__ import annotations

from core.types.clock import Clock

BUSY_S = 0.25
"""Somebody who searched within this time is likely to do so again: background work waits."""


class Activity:
    """Two moments on the clock's monotonic seconds; written without a lock: the later of two writers wins."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._called_at = self._hand_at = clock.monotonic()

    def called(self) -> None:
        """A verb of a person or a client began or ended."""
        self._called_at = self._clock.monotonic()

    def touched(self) -> None:
        """A hand was on the window."""
        self._hand_at = self._clock.monotonic()

    @property
    def is_busy(self) -> bool:
        """Whether a verb ran within the last quarter of a second."""
        return self._clock.monotonic() - self._called_at < BUSY_S

    @property
    def idle_s(self) -> float:
        """Seconds since anybody did anything."""
        return max(0.0, self._clock.monotonic() - max(self._called_at, self._hand_at))
