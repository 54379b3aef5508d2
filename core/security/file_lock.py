"""Exclusive locks of files between processes, on every system; the system frees one when its holder dies.

Must not do: wait for longer than a moment, or end the holder.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

if sys.platform == "win32":
    import msvcrt

    _LOCKED_AT = 0x7FFF_0000
    """Windows locks keep others from reading, so the locked byte lies far behind what the file holds."""

    def take_lock(descriptor: int) -> bool:
        """Take the lock of an open file; False where another has it."""
        os.lseek(descriptor, _LOCKED_AT, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def free_lock(descriptor: int) -> None:
        """Give it back."""
        os.lseek(descriptor, _LOCKED_AT, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def take_lock(descriptor: int) -> bool:
        """Take the lock of an open file; False where another has it."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def free_lock(descriptor: int) -> None:
        """Give it back."""
        fcntl.flock(descriptor, fcntl.LOCK_UN)


_PATIENCE_S = 2.0
_POLL_S = 0.005


def open_unfollowed(path: Path) -> int:
    """Open a file to read and write, made where there is none; a link is refused.

    Raises:
        OSError: it cannot be opened.
    """
    flags = os.O_RDWR | os.O_CREAT
    flags |= getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    return os.open(path, flags, 0o600)


def is_in_place(descriptor: int, path: Path) -> bool:
    """Whether an open file still has its name: it may have been removed or replaced before its lock was taken."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    except OSError:
        return False


@contextmanager
def locked_file(path: Path) -> Iterator[int]:
    """A file that no other process changes meanwhile, if each takes this lock.

    Args:
        path: made where it is not there.

    Yields:
        Its descriptor, to read and write.

    Raises:
        OSError: it cannot be opened, or another holds it for longer than a moment.
    """
    end = time.monotonic() + _PATIENCE_S
    while True:
        descriptor = open_unfollowed(path)
        try:
            if take_lock(descriptor):
                try:
                    if is_in_place(descriptor, path):
                        yield descriptor
                        return
                finally:
                    free_lock(descriptor)
        finally:
            os.close(descriptor)
        if time.monotonic() > end:
            raise TimeoutError("the file is locked")
        time.sleep(_POLL_S)  # a lock of the system can be waited for without end, or not at all
