"""Encrypted chunks: STREAM over ChaCha20-Poly1305, as an archive and a bundle of changes hold their content.

The chunk's number and a mark of the last one are the nonce, and what stands before the chunks is associated data, so
that a chunk that was changed, moved, repeated or cut off does not open. A key serves for one file alone. Must not do:
hold more than two chunks, give out a byte that was not authenticated.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import Protocol

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from core.security.keys import TAG_BYTES

CHUNK = 64 * 1024
"""Bytes of content in every chunk but the last, which has 1 to that many."""

_NONCE = struct.Struct(">3xQB")


class ChunkSource(Protocol):
    """What sealed chunks are read from, in order: a file, or rows."""

    def read(self, size: int, /) -> bytes:
        """So many bytes, fewer only at the end."""
        ...


class ChunkTarget(Protocol):
    """What sealed chunks are written to, one a call."""

    def write(self, data: bytes, /) -> object:
        """Take one chunk."""
        ...


def open_chunks(
    file: ChunkSource, key: bytes, associated: bytes, make_fault: Callable[[], Exception]
) -> Iterator[bytes]:
    """Decrypt the content piece by piece.

    Args:
        file: at the first chunk; the last one ends with the file.
        associated: what stands before the chunks.
        make_fault: makes the error of a file that was cut, changed or put in another order.

    Yields:
        The content of each chunk; that the file is whole is known after the last one.
    """
    cipher = ChaCha20Poly1305(key)
    sealed, number = file.read(CHUNK + TAG_BYTES), 0
    while True:
        following = file.read(CHUNK + TAG_BYTES) if len(sealed) == CHUNK + TAG_BYTES else b""
        try:
            content = cipher.decrypt(_NONCE.pack(number, not following), sealed, associated)
        except (InvalidTag, ValueError):  # the second for what is shorter than a tag
            raise make_fault() from None
        if not content:
            raise make_fault()
        yield content
        if not following:
            return
        sealed, number = following, number + 1


class ChunkSealer:
    """Encrypts content into chunks as it comes."""

    def __init__(self, file: ChunkTarget, key: bytes, associated: bytes) -> None:
        """Begin with the first chunk.

        Args:
            file: where the first chunk shall stand, once something is written.
            associated: what stands before the chunks.
        """
        self._file, self._associated = file, associated
        self._cipher = ChaCha20Poly1305(key)
        self._held = bytearray()
        self._number = 0

    def write(self, data: bytes) -> None:
        """Take more content.

        Raises:
            OSError: the disk refused.
        """
        self._held += data
        # The last chunk is marked as such, so one that may be it is held back.
        while len(self._held) > CHUNK:
            self._write_chunk(bytes(self._held[:CHUNK]), is_last=False)
            del self._held[:CHUNK]

    def finish(self) -> None:
        """Write the last chunk; nothing may be written any more.

        Raises:
            OSError: the disk refused.
        """
        self._write_chunk(bytes(self._held), is_last=True)

    def _write_chunk(self, content: bytes, *, is_last: bool) -> None:
        self._file.write(self._cipher.encrypt(_NONCE.pack(self._number, is_last), content, self._associated))
        self._number += 1
