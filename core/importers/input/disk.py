"""Opens what is on disk and nothing else: regular files, never through a link, and notices when they change.

Must not do: open a pipe or device in a way that waits, follow a link below the path a person gave, write.
"""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from core.errors import Code, LociError, UserError
from core.importers.input.refusal import printable_name, refuse_file
from core.importers.input.strict_json import replace_surrogates

MAX_FILES = 200_000
MAX_DEPTH = 64
NOT_REGULAR = "not_a_regular_file"
UNREADABLE = "unreadable"

_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)  # a pipe put in the file's place must not make the import wait
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
_MOUNT_POINT = getattr(stat, "IO_REPARSE_TAG_MOUNT_POINT", -1)
_APPENDED = ".jsonl"  # logs of running programs grow; what was there when the import began is read
_BLOCK = 1 << 16


@dataclass(frozen=True, slots=True)
class DiskFile:
    """A regular file as it was when the bundle was made.

    Attributes:
        path: where it is; never shown.
        name: for messages: its own name.
        size: bytes then.
        modified_ns: modification time then, epoch ns.
        identity: device and inode.
    """

    path: Path
    name: str
    size: int
    modified_ns: int
    identity: tuple[int, int]

    def open_raw(self) -> BinaryIO:
        """Open it unbuffered and seekable.

        Returns:
            The stream, after it was checked to be the same regular file.

        Raises:
            UserError: IMPORT_REFUSED when it cannot be read.
            LociError: IMPORT_CHANGED when it is no longer what it was.
        """
        try:
            descriptor = os.open(self.path, _FLAGS)
        except OSError:
            raise refuse_file(self.name, "cannot be opened for reading") from None
        stream = io.FileIO(descriptor, "rb", closefd=True)
        try:
            self.check(descriptor)
        except BaseException:
            stream.close()
            raise
        return stream

    def open_bounded(self) -> BinaryIO:
        """Open it for reading up to the size it had; reading notices a change.

        Returns:
            A buffered stream.

        Raises:
            UserError: IMPORT_REFUSED when it cannot be read.
            LociError: IMPORT_CHANGED, now or while reading.
        """
        return io.BufferedReader(_BoundedFile(self.open_raw(), self), _BLOCK)

    def check(self, descriptor: int) -> None:
        """Compare an open file with what it was.

        Args:
            descriptor: of the open file.

        Raises:
            LociError: IMPORT_CHANGED.
        """
        now = os.fstat(descriptor)
        same = stat.S_ISREG(now.st_mode) and (now.st_dev, now.st_ino) == self.identity
        grown = now.st_size > self.size and self.path.name.endswith(_APPENDED)
        if not same or not (grown or (now.st_size == self.size and now.st_mtime_ns == self.modified_ns)):
            raise is_changed(self.name)


def is_changed(name: str) -> LociError:
    """An IMPORT_CHANGED error.

    Args:
        name: the file's name.

    Returns:
        The error, to be raised.
    """
    return UserError(
        Code.IMPORT_CHANGED, f"“{printable_name(name)}” changed while it was read; start the import again."
    )


class _BoundedFile(io.RawIOBase):
    """A file cut at the size it had when the bundle was made."""

    def __init__(self, raw: BinaryIO, file: DiskFile) -> None:
        super().__init__()
        self._raw = raw
        self._file = file
        self._left = file.size

    def readable(self) -> bool:
        return True

    def readinto(self, target: Any) -> int:
        view = memoryview(target).cast("B")
        try:
            piece = self._raw.read(min(len(view), self._left)) if self._left else b""
        except OSError:
            raise refuse_file(self._file.name, "cannot be read to its end") from None
        self._left -= len(piece)
        if not piece:
            if self._left:
                raise is_changed(self._file.name)
            self._file.check(self._raw.fileno())
        view[: len(piece)] = piece
        return len(piece)

    def close(self) -> None:
        self._raw.close()
        super().close()


def disk_file(path: Path, status: os.stat_result) -> DiskFile:
    """Make a DiskFile from what lstat told.

    Args:
        path: of a regular file.
        status: its lstat.

    Returns:
        The file as it is now.
    """
    return DiskFile(path, path.name, status.st_size, status.st_mtime_ns, (status.st_dev, status.st_ino))


def walk_folder(root: Path, label: str) -> Iterator[tuple[str, DiskFile | str]]:
    """List a folder and what is below it, never following a link.

    Args:
        root: the folder.
        label: its name for messages.

    Yields:
        (path inside the folder with `/`, file) or, for what is left out, (path, reason).

    Raises:
        UserError: IMPORT_REFUSED for a folder that cannot be listed, or of more than 200,000 files or 64 levels.
    """
    count = 0
    waiting: list[tuple[Path, str, int]] = [(root, "", 0)]
    while waiting:
        folder, prefix, depth = waiting.pop()
        try:
            with os.scandir(folder) as entries:
                found = sorted(entries, key=lambda entry: entry.name)
        except OSError:
            if not prefix:
                raise refuse_file(label, "cannot be read") from None
            yield prefix.rstrip("/"), UNREADABLE
            continue
        for entry in found:
            count += 1
            if count > MAX_FILES or depth > MAX_DEPTH:
                raise refuse_file(label, f"holds more than {MAX_FILES:,} files or {MAX_DEPTH} levels of folders")
            name = prefix + clean_name(entry.name)
            kind = inspect_file(Path(entry.path))
            if kind is None:
                waiting.append((Path(entry.path), name + "/", depth + 1))
            else:
                yield name, kind


def clean_name(name: str) -> str:
    """A file name that can be stored and shown: bytes that are no text become U+FFFD.

    Args:
        name: as the operating system gives it.
    """
    return replace_surrogates(name)[0]


def inspect_file(path: Path) -> DiskFile | str | None:
    """What lies at a path, links not followed.

    Args:
        path: below a folder that was opened.

    Returns:
        A regular file, the reason why it is left out, or None for a folder.
    """
    try:
        status = os.lstat(path)
    except OSError:
        return UNREADABLE
    if getattr(status, "st_reparse_tag", 0) == _MOUNT_POINT:
        return NOT_REGULAR
    if stat.S_ISDIR(status.st_mode):
        return None
    if not stat.S_ISREG(status.st_mode):
        return NOT_REGULAR
    return disk_file(path, status)
