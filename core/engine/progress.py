"""Progress of long work: throttled to one report every 100 ms, with a question whether to stop."""

from __future__ import annotations

from collections.abc import Callable

from core.engine.futures import locked
from core.errors import CancelledError
from core.types.clock import Clock

_EVERY_S = 0.1

Counted = Callable[[int, int | None], None]
"""Told units done, and units in all (None while unknown)."""

Asked = Callable[[], bool]
"""Whether the work should stop."""


class Progress:
    """Handed to long work; checked at points where stopping is safe."""

    def __init__(
        self,
        clock: Clock,
        report: Counted | None = None,
        cancelled: Asked | None = None,
        closing: Asked | None = None,
    ) -> None:
        """Tie the ends together.

        Args:
            clock: the one clock.
            report: told how far the work is.
            cancelled: whether the person wants it stopped.
            closing: whether the vault is being locked.
        """
        self._clock = clock
        self._report = report
        self._cancelled = cancelled
        self._closing = closing
        self._last = float("-inf")

    def at(self, done: int, total: int | None) -> None:
        """Tell how far the work is.

        Args:
            done: units done.
            total: units in all; None while unknown.

        Raises:
            UserError: VAULT_LOCKED; the vault is being locked.
            CancelledError: stopping was asked for.
        """
        if self._closing is not None and self._closing():
            raise locked()
        if self._cancelled is not None and self._cancelled():
            raise CancelledError
        now = self._clock.monotonic()
        if self._report is not None and (now - self._last >= _EVERY_S or done == total):
            self._last = now
            self._report(done, total)
