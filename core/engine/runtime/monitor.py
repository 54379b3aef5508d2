"""What the engine measures of itself: memory, battery, recall latency, last activity; and giving memory back.

Whoever schedules work asks here; nothing of it outlives the open vault. What follows from memory pressure (E21.3):

| pressure | what happens |
|---|---|
| normal | everything in memory; heavy jobs run |
| elevated | heavy jobs pause (the scheduler); what is kept between calls is dropped |
| critical | besides that the graph of the index goes: exact scan answers; the sweep runs at once (the scheduler) |

The way back is the watch's own: below nine tenths of the line for five minutes (C16). Must not do: change an answer,
decide what work waits, or keep what somebody did or asked.
"""

from __future__ import annotations

import ctypes
import gc
import sys
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import psutil

from core import log
from core.engine.runtime.storage import Activity
from core.score.answer_quality import rank_percentile
from core.types.clock import Clock
from core.types.values import Pressure

RECALLS = 100
_log = log.get("engine")
_SLOWEST = 0.99


class LatencyWindow:
    """The last hundred recalls; may be used from several threads at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()  # guards _took
        self._took: deque[float] = deque(maxlen=RECALLS)

    def record_latency(self, took_ms: float) -> None:
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
        """Their 99th rank_percentile; None before the first."""
        with self._lock:
            return rank_percentile(list(self._took), _SLOWEST) if self._took else None


_MB = 1024 * 1024
# Firmware keeps some memory for itself, so that a machine sold with 8 GB reports a little less, never more.
_SMALL_MACHINE = 8 * 1024 * _MB
_BUDGET_SMALL_MB, _BUDGET_MB = 512.0, 1_024.0
_LINES = ((Pressure.ELEVATED, 0.7), (Pressure.CRITICAL, 0.9))
_RETURN = 0.9
_CALM_S = 300.0


def pressure_level(ratio: float, share: float = 1.0) -> Pressure:
    """The level of a ratio of use to budget (E21.2).

    Args:
        ratio: 0 or more.
        share: how much of each line counts; 1 for the lines themselves.

    Returns:
        Normal below 70 %, elevated below 90 %, critical from there on, each times `share`.
    """
    level = Pressure.NORMAL
    for above, line in _LINES:
        if ratio >= line * share:
            level = above
    return level


def resident_bytes() -> int:
    """What this process holds in memory, bytes."""
    return int(psutil.Process().memory_info().rss)


def machine_bytes() -> int:
    """What this machine has, bytes."""
    return int(psutil.virtual_memory().total)


def battery_plugged() -> bool | None:
    """Whether the machine is plugged in; None where it has no battery or does not tell."""
    read = getattr(psutil, "sensors_battery", None)
    if read is None:
        return None
    # The file system of the kernel and drivers of laptops answer with all kinds of faults; not knowing is no fault.
    with suppress(OSError, ValueError, psutil.Error, NotImplementedError):
        battery = read()
        return None if battery is None else battery.power_plugged
    return None


@dataclass(frozen=True, slots=True)
class ResourceProbes:
    """Where the readings come from; tests give their own.

    Attributes:
        resident: bytes this process holds.
        machine: bytes this machine has.
        plugged: whether it is plugged in; None where nobody knows.
    """

    resident: Callable[[], int] = resident_bytes
    machine: Callable[[], int] = machine_bytes
    plugged: Callable[[], bool | None] = battery_plugged


class MemoryWatch:
    """What the process took since the vault opened, and the level that follows from it.

    The level rises at once. It falls only after the use was below 90 % of the line for five minutes (C16), so that
    what was dropped is not built and dropped again in turns. May be asked from several threads at once.
    """

    def __init__(self, clock: Clock, resident: Callable[[], int], budget_mb: Callable[[], float]) -> None:
        """Take the baseline now.

        Args:
            resident: bytes this process holds.
            budget_mb: what it may take, above 0.
        """
        self._clock = clock
        self._resident = resident
        self._budget_mb = budget_mb
        self._baseline = resident()
        self._lock = threading.Lock()  # guards the two below
        self._level = Pressure.NORMAL
        self._calm_since: dict[Pressure, float] = {}

    def used_mb(self) -> float:
        """What was taken since the vault opened, MB; never below 0."""
        return max(self._resident() - self._baseline, 0) / _MB

    def read_pressure(self) -> Pressure:
        """The level as of now."""
        ratio = self.used_mb() / self._budget_mb()
        now = self._clock.monotonic()
        with self._lock:
            reached = pressure_level(ratio)
            for line, share in _LINES:
                if ratio >= share * _RETURN:
                    self._calm_since.pop(line, None)
                else:
                    self._calm_since.setdefault(line, now)
            if _rank_of_level(reached) > _rank_of_level(self._level):
                self._level = reached
            elif self._level is not Pressure.NORMAL and self._is_calm(self._level, now):
                calm_too = self._level is Pressure.ELEVATED or self._is_calm(Pressure.ELEVATED, now)
                self._level = Pressure.NORMAL if calm_too else Pressure.ELEVATED
            return self._level

    def _is_calm(self, line: Pressure, now: float) -> bool:
        since = self._calm_since.get(line)
        return since is not None and now - since >= _CALM_S


def _rank_of_level(level: Pressure) -> int:
    return tuple(Pressure).index(level)


class ResourceMonitor:
    """The readings a scheduler goes by."""

    def __init__(self, clock: Clock, budget_mb: int = 0, readers: ResourceProbes | None = None) -> None:
        """Take the baseline now: when the vault opened.

        Args:
            budget_mb: of the options; 0 for what fits the machine.
            readers: where readings come from; None for this machine.
        """
        self._readers = readers or ResourceProbes()
        self._chosen_mb = budget_mb
        self._watch = MemoryWatch(clock, self._readers.resident, self.budget_mb)

    def use_budget(self, budget_mb: int) -> None:
        """Go by another budget from here on.

        Args:
            budget_mb: of the options; 0 for what fits the machine.
        """
        self._chosen_mb = budget_mb

    def read_pressure(self) -> Pressure:
        """How much of the budget is taken."""
        return self._watch.read_pressure()

    def on_battery(self) -> bool:
        """Whether the machine runs on battery; False where it has none or does not tell."""
        return self._readers.plugged() is False

    def used_mb(self) -> float:
        """What the process took since the vault opened, MB."""
        return self._watch.used_mb()

    def budget_mb(self) -> float:
        """What it may take, MB (E21.1): the option, else 512 on machines of up to 8 GB, else 1,024."""
        if self._chosen_mb > 0:
            return float(self._chosen_mb)
        return _BUDGET_SMALL_MB if self._readers.machine() <= _SMALL_MACHINE else _BUDGET_MB


class Load:
    """How busy the person and the machine are, while a vault is open.

    Attributes:
        activity: when somebody last used the palace.
        latency: how long the last recalls took.
        resources: use of the memory budget, and whether the machine is on battery.
        pressure_level: the level of memory pressure that was last acted upon.
    """

    def __init__(self, clock: Clock, budget_mb: int) -> None:
        self.activity = Activity(clock)
        self.latency = LatencyWindow()
        self.resources = ResourceMonitor(clock, budget_mb)
        self.pressure_level = Pressure.NORMAL


def release_caches(load: Load, *caches: Callable[[Pressure], None]) -> Pressure:
    """Read the memory pressure and release caches where the level changed.

    Args:
        caches: each gives up what it keeps between calls, as far as the level asks for it.

    Returns:
        The level in force.
    """
    level = load.resources.read_pressure()
    if level is not load.pressure_level:
        _log.info("memory pressure is %s", level.value)
        load.pressure_level = level
        for release in caches:
            release(level)
        if level is not Pressure.NORMAL:
            if gc.isenabled():  # under a window its own thread collects: another that frees a widget ends the process
                gc.collect()
            trim_heap()
    return level


def trim_heap() -> None:
    """Freed blocks go back to the system; else the watch would go on seeing them. Only glibc keeps them to itself."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).malloc_trim(0)
