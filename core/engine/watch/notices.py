"""Whether anything changed in a folder since it was asked last: the system tells, or it has to be looked at.

What the system says is a sign to look and nothing more: names and kinds of changes are not believed, and every folder
is looked at from time to time whatever it says. Only folders that were listed are watched, one by one: a watcher that
goes through a tree by itself follows links out of it. Must not do: read a file.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from core import log
from core.types.folders.watch import WatchMeans

if TYPE_CHECKING:
    from watchfiles._rust_notify import RustNotify

_log = log.get("engine")
_DRAIN_MS = 5
_MOUNTS = Path("/proc/self/mountinfo")
# Changes that another machine, or the other side of a virtual one, makes there are told to nobody here.
_REMOTE = ("nfs", "cifs", "smb", "9p", "vboxsf", "fuse.", "afs", "ceph", "davfs", "prl_fs", "vmhgfs", "virtiofs")
REMOTE, LIMIT = "remote", "limit"
"""Why a folder is looked at: it lies on another machine; the system has no watches left. Keys of the sentences."""


class FolderNotices:
    """What the system says of one folder.

    Attributes:
        means: how changes are noticed.
        reason: why it is looked at; "" where it is not.
    """

    def __init__(self) -> None:
        """Watch nothing yet."""
        self._watcher: RustNotify | None = None
        self._folders: tuple[Path, ...] = ()
        self.means, self.reason = WatchMeans.NONE, ""

    def watch_folders(self, folders: Sequence[Path]) -> bool:
        """Watch folders from here on, and no others.

        Args:
            folders: the folder that was named and those in it.

        Returns:
            Whether they are others than before: then what happened meanwhile is not known.
        """
        wanted = tuple(folders)
        if wanted == self._folders:
            return False
        self.close()
        self._folders = wanted
        if is_remote(wanted[0]):
            self.means, self.reason = WatchMeans.LOOKING, REMOTE
            return True
        try:
            self._watcher = make_watcher(wanted)
        except (OSError, RuntimeError) as error:
            _log.warning("a folder is looked at: the system does not tell of its changes (%s)", type(error).__name__)
            self.means, self.reason = WatchMeans.LOOKING, LIMIT
        else:
            self.means, self.reason = WatchMeans.EVENTS, ""
        return True

    def has_changed(self) -> bool:
        """Whether the system told of a change since the last time."""
        if self._watcher is None:
            return False
        try:
            return isinstance(self._watcher.watch(_DRAIN_MS, _DRAIN_MS, _DRAIN_MS, None), set)
        except (OSError, RuntimeError) as error:
            _log.warning("the system told no more of a folder's changes (%s)", type(error).__name__)
            self.close()
            self.means, self.reason = WatchMeans.LOOKING, LIMIT
            return True

    def close(self) -> None:
        """Watch nothing any more."""
        if self._watcher is not None:
            self._watcher.close()
        self._watcher, self._folders = None, ()
        self.means, self.reason = WatchMeans.NONE, ""


def make_watcher(folders: Sequence[Path]) -> RustNotify:
    """Let the system tell of changes directly in some folders.

    Raises:
        OSError: one of them is gone, or the system has no watches left.
        RuntimeError: it cannot tell for another reason.
    """
    from watchfiles._rust_notify import RustNotify

    return RustNotify([os.fspath(one) for one in folders], False, False, 300, False, True)  # noqa: FBT003


def is_remote(folder: Path) -> bool:
    """Whether a folder lies where changes may be made that the system does not hear of."""
    try:
        lines = _MOUNTS.read_text("utf-8", "replace").splitlines()
    except OSError:
        return False
    found = [(parts[4], parts[parts.index("-") + 1]) for line in lines if "-" in (parts := line.split())]
    inside = [(len(place), kind) for place, kind in found if _is_below(os.fspath(folder), place)]
    return bool(inside) and max(inside)[1].startswith(_REMOTE)


def _is_below(path: str, place: str) -> bool:
    plain = place.replace("\\040", " ").rstrip("/")
    return path == plain or path.startswith(plain + "/")
