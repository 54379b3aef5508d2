"""A file that was packed with gzip, as a stream of what it unpacks to.

Must not do: unpack more than two hundredfold, keep unpacked bytes, or go by a file's name.
"""

from __future__ import annotations

import gzip
import io
import zlib
from contextlib import closing
from typing import TYPE_CHECKING

from core.importers.input.files import MAX_MEMBER_RATIO, MEMBER_RATIO_FROM, refused_file_error
from core.importers.input.source import SourceFile

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

GZIP_DAMAGE = (OSError, EOFError, zlib.error)
"""What reading a damaged or cut-off file raises."""

_MAX_PACKED = 64 << 20
_GZIP = b"\x1f\x8b"


def is_gzip(file: SourceFile) -> bool:
    """Whether a file begins as one that was packed with gzip."""
    with closing(file.open()) as stream:
        return stream.read(len(_GZIP)) == _GZIP


def unpack_gzip(file: SourceFile) -> SourceFile:
    """The same file unpacked, under the same name; reading it may raise one of `GZIP_DAMAGE`.

    Raises:
        UserError: IMPORT_REFUSED while reading, once it unpacks to far more than it holds.
    """
    return SourceFile(file.name, file.size, file.modified_ms, lambda: io.BufferedReader(_GzipStream(file)))


def unpack_gzip_head(file: SourceFile, size: int) -> SourceFile | None:
    """The beginning of the file unpacked; None where already that is damaged."""
    try:
        with closing(io.BufferedReader(_GzipStream(file))) as stream:
            # What can be unpacked before a damage is enough to know the file by.
            start = stream.read1(size)
    except GZIP_DAMAGE:
        return None
    return SourceFile(file.name, len(start), None, lambda: io.BytesIO(start))


class _GzipStream(io.RawIOBase):
    """A gzip file as it is read, refused once it unpacks to two hundred times its size."""

    def __init__(self, file: SourceFile) -> None:
        super().__init__()
        self._name = file.name
        self._packed = file.open()
        self._inner = gzip.GzipFile(fileobj=self._packed, mode="rb")
        self._left = max(MEMBER_RATIO_FROM, MAX_MEMBER_RATIO * min(file.size, _MAX_PACKED))

    def readable(self) -> bool:
        return True

    def readinto(self, target: WriteableBuffer) -> int:
        view = memoryview(target).cast("B")
        piece = self._inner.read1(len(view))
        self._left -= len(piece)
        if self._left < 0:
            raise refused_file_error(self._name, "unpacks to far more than it holds, as only a bomb does")
        view[: len(piece)] = piece
        return len(piece)

    def close(self) -> None:
        self._inner.close()
        self._packed.close()
        super().close()
