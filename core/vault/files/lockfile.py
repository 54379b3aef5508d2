"""One process owns a vault: an exclusive lock on `vault.lock`.

The file is deleted with its whole home alone: whoever took the lock of a file that is gone takes it again, or two
processes would lock two files of one name. The system frees the lock when the holder dies, however it dies. Must not
do: wait, end the holder.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from core.errors import Code, EnvironmentFaultError
from core.security.atomic import file_write_error
from core.security.file_lock import free_lock, is_in_place, open_unfollowed, take_lock

_MAX_PID_BYTES = 20
_TRIES = 3
"""Where a file system gives a file another number each time it is asked, the lock that was taken counts."""


class VaultLock:
    """Holds a home for this process. Use it as a context manager or call `release`."""

    def __init__(self, path: Path) -> None:
        """Name the lock; takes nothing.

        Args:
            path: `vault.lock`; its directory must exist.
        """
        self._path = path
        self._descriptor: int | None = None

    @property
    def is_held(self) -> bool:
        """Whether this object holds the lock."""
        return self._descriptor is not None

    def acquire(self) -> None:
        """Take the lock or say who has it. Never waits.

        Raises:
            EnvironmentFaultError: VAULT_BUSY; READ_ONLY or WRITE_FAILED where the file cannot be opened.
        """
        descriptor = self._take_or_refuse()
        for _ in range(_TRIES):
            if is_in_place(descriptor, self._path):
                break
            os.close(descriptor)  # the home was wiped behind our back: lock the file that has the name now
            descriptor = self._take_or_refuse()
        self._descriptor = descriptor
        # The number is a courtesy for the sentence above: on a full disk the lock holds without it.
        with suppress(OSError):
            os.lseek(descriptor, 0, os.SEEK_SET)
            os.ftruncate(descriptor, 0)
            os.write(descriptor, str(os.getpid()).encode("ascii"))

    def release(self) -> None:
        """Give the lock back; the file stays. Safe to call twice."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is None:
            return
        try:
            free_lock(descriptor)
        finally:
            os.close(descriptor)

    def is_taken(self) -> bool:
        """Whether any process has the lock just now, told or not.

        Raises:
            EnvironmentFaultError: READ_ONLY or WRITE_FAILED where the file cannot be opened.
        """
        if self._descriptor is not None:
            return True
        descriptor = self._open_file()
        try:
            if not take_lock(descriptor):
                return True
            free_lock(descriptor)
            return False
        finally:
            os.close(descriptor)

    def find_holder(self) -> int | None:
        """Who has the lock just now.

        Returns:
            A process number; None where nobody holds it or it is not told.

        Raises:
            EnvironmentFaultError: READ_ONLY or WRITE_FAILED where the file cannot be opened.
        """
        if self._descriptor is not None:
            return os.getpid()
        descriptor = self._open_file()
        try:
            if take_lock(descriptor):
                free_lock(descriptor)
                return None
            return _read_holder(descriptor)
        finally:
            os.close(descriptor)

    def _take_or_refuse(self) -> int:
        descriptor = self._open_file()
        if not take_lock(descriptor):
            holder = _read_holder(descriptor)
            os.close(descriptor)
            who = f" (process {holder})" if holder else ""
            raise EnvironmentFaultError(
                Code.VAULT_BUSY, f"Another Loci{who} has this vault open; use that one or close it first."
            )
        return descriptor

    def _open_file(self) -> int:
        try:
            return open_unfollowed(self._path)
        except OSError as error:
            fault = file_write_error(error)
        raise fault

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def _read_holder(descriptor: int) -> int | None:
    try:
        os.lseek(descriptor, 0, os.SEEK_SET)
        text = os.read(descriptor, _MAX_PID_BYTES).decode("ascii", errors="replace")
    except OSError:
        return None
    return int(text) if text.isdecimal() else None
