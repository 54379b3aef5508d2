"""The one clock. Every time in Loci comes from an object of this shape."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Protocol


class Clock(Protocol):
    """Where the current time comes from."""

    def now_ms(self) -> int:
        """Wall clock, epoch milliseconds UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds that never run backwards; for deadlines and durations."""
        ...


class SystemClock:
    """The machine's clock.

    A wall clock that jumps back must not give two rows of one writer times that
    run backwards within a process, so ids stay ordered: see `core.types.ids`.
    """

    def now_ms(self) -> int:
        """Wall clock, epoch milliseconds UTC."""
        return time.time_ns() // 1_000_000

    def monotonic(self) -> float:
        """Seconds that never run backwards."""
        return time.monotonic()


@dataclass(frozen=True)
class OffsetClock:
    """The machine's clock moved by a fixed distance (`LOCI_NOW`, test vaults only).

    Attributes:
        offset_ms: milliseconds added to the wall clock, negative for the past.
    """

    offset_ms: int

    def now_ms(self) -> int:
        """Moved wall clock, epoch milliseconds UTC."""
        return time.time_ns() // 1_000_000 + self.offset_ms

    def monotonic(self) -> float:
        """Seconds that never run backwards."""
        return time.monotonic()


@dataclass
class ManualClock:
    """A clock that only moves when told to; for simulations and tests.

    Attributes:
        at_ms: the present, epoch milliseconds UTC.
    """

    at_ms: int

    def now_ms(self) -> int:
        """The present as set."""
        return self.at_ms

    def monotonic(self) -> float:
        """The present as seconds."""
        return self.at_ms / 1000

    def advance(self, milliseconds: int) -> None:
        """Move the present forward.

        Args:
            milliseconds: how far; may be negative to play a clock that jumps back.
        """
        self.at_ms += milliseconds
