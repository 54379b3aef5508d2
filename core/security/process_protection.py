"""Protection of this process: file modes, no core dumps, no reading of its memory by other programs.

Call `harden_process` first thing in every program of Loci, and again after an exec, which resets the last of the
three. Must not do: run at import, end the process.
"""

from __future__ import annotations

import ctypes
import os
import sys
from dataclasses import dataclass

_PR_GET_DUMPABLE = 3
_PR_SET_DUMPABLE = 4


@dataclass(frozen=True)
class HardeningReport:
    """What took hold, for the status page.

    Attributes:
        private_files: new files are for this user only (umask 077).
        no_core_dumps: no core file is written (RLIMIT_CORE 0).
        memory_hidden: other programs of the same user cannot read this one's memory; None
            where the system has no such switch, or when it was left open on request.
    """

    private_files: bool
    no_core_dumps: bool
    memory_hidden: bool | None


def harden_process(*, leave_readable: bool = False) -> HardeningReport:
    """Set umask 077, no core dumps, and memory hidden from other programs (Linux).

    Args:
        leave_readable: do not hide the memory; for debuggers and for desktop portals that
            fail on a hidden process.

    Returns:
        What took hold. Nothing here raises: a program that runs less hardened says so.
    """
    os.umask(0o077)
    private = os.umask(0o077) == 0o077
    hidden = None if leave_readable else _hide_memory()
    return HardeningReport(private, _stop_core_dumps(), hidden)


def _stop_core_dumps() -> bool:
    if sys.platform == "win32":
        return False
    import resource

    try:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (OSError, ValueError):
        return False
    return resource.getrlimit(resource.RLIMIT_CORE) == (0, 0)


def _hide_memory() -> bool | None:
    if not sys.platform.startswith("linux"):
        return None
    prctl = ctypes.CDLL(None).prctl
    prctl.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4
    prctl.restype = ctypes.c_int
    prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    return bool(prctl(_PR_GET_DUMPABLE, 0, 0, 0, 0) == 0)
