"""`reserve.bin`: room set aside, so that a full disk still lets the vault be closed.

Checkpoints and deletions need a little room themselves (B18 of the reliability study).
Must not do: fill up the last room of a disk.
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress

from core.vault.files.home import Home, new_file

_SPARE_TIMES = 3
"""The reserve is made only where the disk has this many times its size left."""


class Reserve:
    """The reserve of one home."""

    def __init__(self, home: Home) -> None:
        """Name it; touches nothing.

        Args:
            home: whose.
        """
        self._path = home.reserve
        self._bytes = home.reserve_bytes

    def ensure(self) -> bool:
        """Make the reserve where it is missing and there is room.

        Returns:
            Whether it stands. Not having it is no fault: the disk may be small.
        """
        try:
            if self._path.lstat().st_size == self._bytes:
                return True
        except FileNotFoundError:
            pass
        except OSError:
            return False
        return self._make()

    def release(self) -> bool:
        """Give the room back.

        Returns:
            Whether there was anything to give.
        """
        try:
            self._path.unlink()
        except OSError:
            return False
        return True

    def _make(self) -> bool:
        partial = self._path.with_name(self._path.name + ".partial")
        try:
            if shutil.disk_usage(self._path.parent).free < _SPARE_TIMES * self._bytes:
                return False
            partial.unlink(missing_ok=True)
            # Random bytes: a compressing file system would keep zeros in no room at all.
            new_file(partial, os.urandom(self._bytes))
            partial.replace(self._path)
        except OSError:
            with suppress(OSError):
                partial.unlink(missing_ok=True)
            return False
        return True
