"""What the machine is and what this process takes of it; Linux's own figures, None where there are none."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any

_PROC = Path("/proc/self/status")


def describe_machine() -> dict[str, Any]:
    """The machine's size and how busy it is now.

    Returns:
        `{cores, memory_gib, python, system, load}`; `load` is the mean of the last minute.
    """
    return {
        "cores": os.cpu_count(),
        "memory_gib": _memory_gib(),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "load": read_system_load(),
    }


def read_system_load() -> float | None:
    """Processes that wait for a core, mean of the last minute; None where the system does not tell."""
    try:
        return round(os.getloadavg()[0], 2)
    except (AttributeError, OSError):
        return None


def resident_mb(*, peak: bool = False) -> float | None:
    """Memory of this process.

    Args:
        peak: the most it ever was instead of what it is.

    Returns:
        MB (10^6 bytes); None where the system does not tell.
    """
    wanted = "VmHWM:" if peak else "VmRSS:"
    try:
        lines = _PROC.read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    found = [line.split() for line in lines if line.startswith(wanted)]
    return round(int(found[0][1]) * 1024 / 1e6, 1) if found else None


def processor_s() -> float:
    """Seconds that this process has kept processors busy, all threads together; other processes do not change it."""
    used = os.times()
    return used.user + used.system


def _memory_gib() -> float | None:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1)
    except (AttributeError, OSError, ValueError):
        return None
