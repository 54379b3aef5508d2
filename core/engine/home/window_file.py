"""`window.json` in the home: the window's options and its geometry, kept outside the vault for the unlock page.

Nothing secret is in it. A file that cannot be understood is put aside as `window.json.broken`; one that cannot even
be read is left alone. Must not do: overwrite what it could not read, hold the content of memories.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.config.option_rows import load_options
from core.config.window import WindowOptions
from core.errors import Code, EnvironmentFaultError, UserError
from core.security.atomic import write_atomic
from core.vault.files.home import Home

NAME = "window.json"
BROKEN = NAME + ".broken"

_VERSION = 1
_MOST_BYTES = 1 << 20
_UNREADABLE = (
    "The window's settings (window.json in the home) cannot be read; the defaults are used and nothing is saved until "
    "its permissions are put right."
)
_PUT_ASIDE = "The window's settings were damaged; the defaults are used and the old file is kept as window.json.broken."
_REFUSED = "Some of the window's settings were out of bounds; their defaults are used."


@dataclass(frozen=True, slots=True)
class WindowFile:
    """What the file holds.

    Attributes:
        options: all of them, with defaults where the file says nothing usable.
        state: name to text: geometry, column widths, splitters; binary things in base64.
        note: one sentence for the person where something was wrong; None where all is well.
    """

    options: WindowOptions = field(default_factory=WindowOptions)
    state: Mapping[str, str] = field(default_factory=dict)
    note: str | None = None


def load_window(home_path: Path) -> WindowFile:
    """Read the window's options and state. Quick: one small file.

    Args:
        home_path: the home, existing or not.

    Returns:
        What the file holds; defaults with a note where it is damaged or cannot be read, and without one where there
        is no file.
    """
    path = home_path / NAME
    try:
        raw = _read_file(path)
    except OSError:
        return WindowFile(note=_UNREADABLE)
    if raw is None:
        return WindowFile()
    body = _parse_window_file(raw)
    if body is None:
        return WindowFile(note=_PUT_ASIDE if _put_aside(path) else _UNREADABLE)
    options, refused = load_options(WindowOptions, body.get("options", {}))
    return WindowFile(options, _select_texts(body.get("state", {})), _REFUSED if refused else None)


def save_window(home_path: Path, options: WindowOptions, state: Mapping[str, str] | None = None) -> None:
    """Write the window's options and state, durably; it waits for the disk, so not on the GUI thread while it shows.

    Args:
        home_path: the home; made where it does not exist yet.
        state: as `WindowFile.state`; None keeps what the file holds.

    Raises:
        EnvironmentFaultError: ACCESS_DENIED where the file that is there cannot be read and so is not overwritten;
            READ_ONLY, DISK_FULL, WRITE_FAILED.
        UserError: INVALID_INPUT; the state is larger than 1 MiB, or the home is no directory.
    """
    Home(home_path).prepare_folders()
    present = load_window(home_path)
    if present.note == _UNREADABLE:
        raise EnvironmentFaultError(Code.ACCESS_DENIED, _UNREADABLE)
    kept = present.state if state is None else state
    body = {"v": _VERSION, "options": options.model_dump(), "state": dict(kept)}
    data = json.dumps(body, indent=1, sort_keys=True).encode("ascii")
    if len(data) > _MOST_BYTES:
        raise UserError(Code.INVALID_INPUT, "The window's state is too large to be kept; it was not saved.")
    write_atomic(home_path / NAME, data)


def _read_file(path: Path) -> bytes | None:
    """The file's bytes; None where there is no file.

    Raises:
        OSError: there is something that cannot be read as a file.
    """
    # Not blocking, or a FIFO under this name would hold the window for ever.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
    try:
        descriptor = os.open(path, flags)
    except (FileNotFoundError, NotADirectoryError):
        return None
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError
        return file.read(_MOST_BYTES + 1)


def _parse_window_file(raw: bytes) -> dict[str, Any] | None:
    """The body; None for anything but what `save_window` writes, from this version or a later one."""
    if len(raw) > _MOST_BYTES:
        return None
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    if not isinstance(body, dict) or not all(isinstance(body.get(part, {}), dict) for part in ("options", "state")):
        return None
    return body


def _select_texts(state: Mapping[str, Any]) -> dict[str, str]:
    return {name: value for name, value in state.items() if isinstance(value, str)}


def _put_aside(path: Path) -> bool:
    try:
        path.replace(path.with_name(BROKEN))
    except OSError:
        return False
    return True
