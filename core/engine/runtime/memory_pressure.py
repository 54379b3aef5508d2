"""What the engine lets go of when memory is short (E21.3), and what it takes up again afterwards.

| pressure | what happens |
|---|---|
| normal | everything in memory; heavy jobs run |
| elevated | heavy jobs pause (the scheduler); what is kept between calls is dropped |
| critical | besides that the graph of the index goes: exact scan answers; the sweep runs at once (the scheduler) |

The way back is the watch's own: below nine tenths of the line for five minutes (C16). Must not do: change an answer.
"""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress

from core import log
from core.engine.runtime.open_vault import OpenVault
from core.types.lifecycle import Pressure

_log = log.get("engine")


def release_caches(opened: OpenVault, caches: Sequence[Callable[[], None]] = ()) -> Pressure:
    """Read the memory pressure and release caches where the level changed.

    Args:
        caches: drop what else is kept between calls.

    Returns:
        The level in force.
    """
    level = opened.load.resources.pressure()
    if level is not opened.load.pressure_level:
        apply_pressure_level(opened, level, caches)
    return level


def apply_pressure_level(opened: OpenVault, level: Pressure, caches: Sequence[Callable[[], None]] = ()) -> None:
    """Apply a level of memory pressure.

    Args:
        level: the one in force from here on.
        caches: drop what else is kept between calls.
    """
    _log.info("memory pressure is %s; %d vectors are in memory", level.value, opened.search.index.status().done)
    opened.load.pressure_level = level
    opened.search.index.spare_memory(on=level is Pressure.CRITICAL)
    if level is Pressure.NORMAL:
        return
    opened.search.probe_vectors = {}
    opened.search.recall.forget()
    for drop in caches:
        drop()
    gc.collect()
    trim_heap()


def trim_heap() -> None:
    """Freed blocks go back to the system; else the watch would go on seeing them. Only glibc keeps them to itself."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).malloc_trim(0)
