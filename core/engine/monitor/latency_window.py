"""How long the last recalls took: a ring of numbers in memory, gone when the vault locks.

Must not do: keep a question, or write anything.
"""

from __future__ import annotations

import threading
from collections import deque

from core.score.belief.quality import percentile

RECALLS = 100
_SLOWEST = 0.99


class Pulse:
    """The last hundred recalls; may be used from several threads at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()  # guards _took
        self._took: deque[float] = deque(maxlen=RECALLS)

    def beat(self, took_ms: float) -> None:
        """Note one recall.

        Args:
            took_ms: from the call to the answer, 0 or more.
        """
        with self._lock:
            self._took.append(took_ms)

    def mean_ms(self) -> float | None:
        """The mean of the last hundred; None before the first."""
        with self._lock:
            return sum(self._took) / len(self._took) if self._took else None

    def slowest_ms(self) -> float | None:
        """Their 99th percentile; None before the first."""
        with self._lock:
            return percentile(list(self._took), _SLOWEST) if self._took else None
