"""Files that change whole or not at all.

A new version is written beside the old one, synced, and renamed over it, so a kill or a
power cut leaves one of the two. Must not do: touch `vault.db`, `vault.db-wal` or
`vault.db-shm`; those belong to SQLite alone.
"""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from core.errors import Code, EnvironmentFaultError, LociError

_PARTIAL = ".partial"
_MOST_OF_NAME = 200
"""Bytes of a file's own name in that of its partial file: a name as long as the system allows must not grow."""
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_REFUSED = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})


def file_write_error(error: OSError) -> LociError:
    """Say what kept a file from being written.

    Args:
        error: what the system said; its path is not repeated.

    Returns:
        The error to raise, ``from None``.
    """
    if error.errno in _FULL:
        return EnvironmentFaultError(
            Code.DISK_FULL, "The disk is full and the last change was not saved; make room and try again."
        )
    if error.errno in _REFUSED:
        return EnvironmentFaultError(
            Code.READ_ONLY, "Loci may not write to its home; check the permissions and try again."
        )
    return EnvironmentFaultError(Code.WRITE_FAILED, "A file in the home could not be written; nothing was changed.")


def write_atomic(path: Path, data: bytes | bytearray | memoryview, mode: int = 0o600) -> None:
    """Replace a file by new content, durably.

    Args:
        path: the file; its directory must exist.
        data: the whole new content.
        mode: its permission bits, exact whatever the umask.

    Raises:
        EnvironmentFaultError: DISK_FULL, READ_ONLY or WRITE_FAILED. The old content stands, unless
            the very last step, the sync of the directory, was what failed.
    """
    with open_atomic(path, mode) as file:
        file.write(data)


@contextmanager
def open_atomic(path: Path, mode: int = 0o600) -> Iterator[BinaryIO]:
    """`write_atomic` for content that comes piece by piece.

    Args:
        path: the file; its directory must exist.
        mode: its permission bits, exact whatever the umask.

    Yields:
        The new file. What is raised inside leaves the old content.

    Raises:
        EnvironmentFaultError: as `write_atomic`.
    """
    failed: OSError | None = None
    try:
        with replacement_of(path, mode) as file:
            yield file
        sync_directory(path.parent)
    except OSError as error:
        failed = error
    if failed is not None:
        raise file_write_error(failed) from None


@contextmanager
def replacement_of(path: Path, mode: int) -> Iterator[BinaryIO]:
    """A file that takes the place of another once all is in it and on disk; an error leaves the old one as it was.

    Yields:
        The new file, open for writing.

    Raises:
        OSError: the system refused.
    """
    descriptor, name = tempfile.mkstemp(prefix=_partial_prefix(path), suffix=_PARTIAL, dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            if os.name == "posix":
                os.fchmod(file.fileno(), mode)
            yield file
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise


def _partial_prefix(path: Path) -> str:
    return f".{os.fsencode(path.name)[:_MOST_OF_NAME].decode('utf-8', 'ignore')}."


def sync_directory(directory: Path) -> None:
    """Make a rename in a directory survive a power cut; nothing to do on Windows.

    Args:
        directory: the directory that was changed.

    Raises:
        OSError: the system refused.
    """
    if os.name != "posix":
        return
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def clear_partial_files(path: Path) -> int:
    """Remove what a killed `write_atomic` of one file left beside it. Call it where nobody else writes that file.

    Args:
        path: the file itself, existing or not; files whose names only begin like it are left alone.

    Returns:
        How many files were removed.

    Raises:
        EnvironmentFaultError: READ_ONLY or WRITE_FAILED.
    """
    removed = 0
    failed: OSError | None = None
    try:
        for leftover in path.parent.glob(f"{_partial_prefix(path)}*{_PARTIAL}"):
            leftover.unlink()
            removed += 1
    except OSError as error:
        failed = error
    if failed is not None:
        raise file_write_error(failed) from None
    return removed
