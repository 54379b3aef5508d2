"""How long the GUI thread may compute in one turn of its loop, on a machine of any speed.

The budget is in milliseconds of a machine that does a fixed piece of Python in `REFERENCE_MS`; a slower or crowded one
is given as much more as it needs for that piece. Must not know any page.
"""

from __future__ import annotations

import time

from ui.watchdog import Watchdog

REFERENCE_MS = 12.0
"""What the piece of work takes on the machine the budgets were set on."""

MOST_MS = 300.0
"""What one turn may compute beside two other workers; the bar itself is 50 on a quiet machine, and
tests/bench/bench_window.py measures it. Half of this failed by ten milliseconds on a loaded machine."""

_ROUNDS = 5


def machine_factor() -> float:
    """How much slower than the reference this machine is now; 1.0 and more."""
    spent = []
    for _ in range(_ROUNDS):
        begun = time.thread_time()
        sum(len(str(number)) for number in range(100_000))
        spent.append(1000 * (time.thread_time() - begun))
    return max(1.0, sorted(spent)[_ROUNDS // 2] / REFERENCE_MS)


def assert_within_budget(dog: Watchdog) -> None:
    """Fail with the places of the three longest turns where one of them computed longer than it may."""
    most = MOST_MS * machine_factor()
    worst = sorted(dog.stalls, key=lambda stall: -stall.busy_ms)[:3]
    assert all(stall.busy_ms <= most for stall in worst), (most, [(round(s.busy_ms), s.place) for s in worst])
