"""A part of an open file as a file of its own, in which one can go back and forth.

Must not do: read outside its part.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


class FileWindow(io.RawIOBase):
    """So many bytes from one place on; closing it closes the file.

    Args:
        file: open and seekable.
        start: where it begins.
        size: how many bytes there are to be read.
    """

    def __init__(self, file: BinaryIO, start: int, size: int) -> None:
        super().__init__()
        self._file, self._start, self._size, self._at = file, start, size, 0

    def readable(self) -> bool:
        """It is."""
        return True

    def seekable(self) -> bool:
        """It is."""
        return True

    def tell(self) -> int:
        """Where the next byte is read."""
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go elsewhere; beyond the end there is nothing to read."""
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        self._at = max(0, base + offset)
        return self._at

    def readinto(self, target: WriteableBuffer) -> int:
        """Read what fits, or less."""
        view = memoryview(target).cast("B")
        piece = self._read_at(max(0, min(len(view), self._size - self._at)))
        self._at += len(piece)
        view[: len(piece)] = piece
        return len(piece)

    def _read_at(self, wanted: int) -> bytes:
        self._file.seek(self._start + self._at)
        return self._file.read(wanted)

    def close(self) -> None:
        """Close the file, too."""
        self._file.close()
        super().close()
