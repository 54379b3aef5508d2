"""What the environment says: where the home is, where secrets and sockets are, what time it is."""

from __future__ import annotations

import os
import re
import shutil
import signal
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType

import platformdirs

from core.errors import Code, UserError
from core.types.clock import Clock, OffsetClock, SystemClock

_OFFSET = re.compile(r"([+-])(\d{1,6})([smhdwy])")
_SCRATCH = "loci-scratch-"
_UNIT_S = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800, "y": 31_557_600}


@dataclass(frozen=True, slots=True)
class Environment:
    """The process's surroundings, read once.

    Attributes:
        home: where the vault lives.
        default_home: the platform's own place for it.
        secret_file: file with the passphrase, if one was named.
        runtime_dir: `$XDG_RUNTIME_DIR`, if any.
        socket: `LOCI_SOCKET`, if set.
        now: `LOCI_NOW`, if set.
        has_display: whether a window could be shown.
        person_home: the person's own folder, in which exports are looked for; None where it is not told.
    """

    home: Path
    default_home: Path
    secret_file: Path | None
    runtime_dir: Path | None
    socket: Path | None
    now: str | None
    has_display: bool
    person_home: Path | None = None

    @contextmanager
    def scratch_folder(self) -> Iterator[Path]:
        """A folder for as long as a block runs, which only this person can read; in memory where the system has such.

        Memory text lies in it, so a process that is told to end takes it away first, and what a process that was
        killed left is taken away by the next one.

        Yields:
            Its path.
        """
        found = self.runtime_dir
        usable = found is not None and found.is_dir() and os.access(found, os.W_OK)
        base = Path(found if found is not None and usable else tempfile.gettempdir())
        _remove_stale(base)
        with _end_orderly(), tempfile.TemporaryDirectory(prefix=f"{_SCRATCH}{os.getpid()}-", dir=base) as folder:
            yield Path(folder)


def _remove_stale(base: Path) -> None:
    """Remove scratch folders of this person's processes that are gone."""
    for folder in base.glob(f"{_SCRATCH}*-*"):
        pid = folder.name.removeprefix(_SCRATCH).partition("-")[0]
        with suppress(OSError):
            is_ours = folder.lstat().st_uid == os.getuid() if hasattr(os, "getuid") else True
            if pid.isdecimal() and is_ours and not folder.is_symlink() and not _is_running(int(pid)):
                shutil.rmtree(folder)


def _is_running(pid: int) -> bool:
    import psutil  # only where a folder was left

    return bool(psutil.pid_exists(pid))


@contextmanager
def _end_orderly() -> Iterator[None]:
    """End as Ctrl+C does where the process is told to end: without it, nothing would be cleaned up."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def raise_interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {number: signal.signal(number, raise_interrupt) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def read_environment(variables: Mapping[str, str], home: Path | None, secret_file: Path | None) -> Environment:
    """Read the environment; options of the command line win.

    Args:
        variables: normally `os.environ`.
        home: from `--home`.
        secret_file: from `--passphrase-file`.
    """
    default = Path(platformdirs.user_data_dir("loci", appauthor=False, roaming=False))
    named = home or _read_path(variables, "LOCI_HOME")
    chosen = default if named is None else named
    return Environment(
        home=Path(os.path.abspath(chosen.expanduser())),  # noqa: PTH100 - keeps symbolic links as written
        default_home=default,
        secret_file=secret_file or _read_path(variables, "LOCI_PASSPHRASE_FILE"),
        runtime_dir=_read_path(variables, "XDG_RUNTIME_DIR"),
        socket=_read_path(variables, "LOCI_SOCKET"),
        now=variables.get("LOCI_NOW") or None,
        has_display=_has_display(variables),
        person_home=_read_path(variables, "USERPROFILE" if sys.platform == "win32" else "HOME"),
    )


def _read_path(variables: Mapping[str, str], name: str) -> Path | None:
    value = variables.get(name)
    return Path(value) if value else None


def _has_display(variables: Mapping[str, str]) -> bool:
    if variables.get("QT_QPA_PLATFORM", "").split(":")[0] in ("offscreen", "minimal"):
        return False
    if sys.platform in ("darwin", "win32"):
        return True
    return bool(variables.get("DISPLAY") or variables.get("WAYLAND_DISPLAY"))


def make_moved_clock(now: str) -> Clock:
    """The clock `LOCI_NOW` asks for.

    Args:
        now: ISO 8601, or an offset such as `+90d` (units s m h d w y).

    Returns:
        A clock that runs on from there.

    Raises:
        UserError: CONFIG_INVALID.
    """
    offset = _OFFSET.fullmatch(now.strip())
    if offset is not None:
        sign = 1 if offset[1] == "+" else -1
        return OffsetClock(sign * int(offset[2]) * _UNIT_S[offset[3]] * 1000)
    try:
        moment = datetime.fromisoformat(now.strip())
    except ValueError:
        raise UserError(
            Code.CONFIG_INVALID, "LOCI_NOW is a time such as 2026-05-01T12:00:00Z or an offset such as +90d."
        ) from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return OffsetClock(int(moment.timestamp() * 1000) - SystemClock().now_ms())
