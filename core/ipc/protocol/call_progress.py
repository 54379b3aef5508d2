"""How a long call reports how far it is, and learns that it should stop. Must not do: know what the call does."""

from __future__ import annotations

import threading
from collections.abc import Callable


class CallProgress:
    """Reports of one call. May be used on any thread."""

    def __init__(self, report: Callable[[str, int, int | None], None] | None = None) -> None:
        """Make it.

        Args:
            report: told what is done, in words without memory text, units done, and units in all (None while unknown).
        """
        self._report = report
        self._stopped = threading.Event()

    def tell(self, label: str, done: int, total: int | None) -> None:
        """Report how far the work is."""
        if self._report is not None:
            self._report(label, done, total)

    def cancel(self) -> None:
        """Ask the work to stop at its next safe point."""
        self._stopped.set()

    def cancelled(self) -> bool:
        """Whether the person wants it stopped."""
        return self._stopped.is_set()
