"""A tar archive that was packed with gzip (`.tar.gz`, `.tgz`), as a stream in which one can go back and forth.

How long it is unpacked its end tells only modulo four gigabytes, so it is unpacked once and counted, against the same
limits as a zip, and what was learned of it serves every later reading. Must not do: write to disk, keep unpacked bytes,
or unpack what is no tar archive.
"""

from __future__ import annotations

import struct
import zlib
from contextlib import closing
from typing import BinaryIO

from core.importers.input.files import (
    MAX_TOTAL,
    MAX_TOTAL_RATIO,
    TOTAL_RATIO_FROM,
    Member,
    Opener,
    refused_file_error,
)
from core.importers.input.member_access import MemberAccess
from core.importers.input.tar import looks_like_tar

HEAD = 4_096
"""Bytes by which one is told."""
_MAGIC = b"\x1f\x8b\x08"
_EXTRA, _NAME, _COMMENT, _CHECKED = 0x04, 0x08, 0x10, 0x02
_FIXED, _TRAILER, _BLOCK, _DEFLATED = 10, 8, 1 << 16, 8
_CUT = "is a damaged or cut-off gzip archive"
_BOMB = "unpacks to far more than it holds, as only a zip bomb does"


def looks_like_packed_tar(first: bytes) -> bool:
    """Whether a file begins as a packed tar archive.

    Args:
        first: its first bytes, `HEAD` of them where there are so many.
    """
    if not first.startswith(_MAGIC):
        return False
    try:
        return looks_like_tar(zlib.decompressobj(16 + zlib.MAX_WBITS).decompress(first, 512))
    except zlib.error:
        return False


def unpack_tar(opener: Opener, label: str) -> Opener:
    """What opens the archive unpacked, seekable.

    Args:
        opener: opens the packed file, seekable.
        label: its name for messages.

    Raises:
        UserError: IMPORT_REFUSED for a damaged one, one in several parts, and a bomb.
    """
    with closing(opener()) as file:
        packed = file.seek(0, 2)
        start = _find_start(file, label)
        size = _measure(file, start, packed, label)
    member = Member("", size, packed - start, _DEFLATED, 0, 0, None)
    return MemberAccess(opener, member, label, start).open_seekable


def _find_start(file: BinaryIO, label: str) -> int:
    """Where the packed content begins, behind the header and the names in it."""
    file.seek(0)
    head = file.read(HEAD)
    if len(head) < _FIXED or not head.startswith(_MAGIC):
        raise refused_file_error(label, _CUT)
    flags, at = head[3], _FIXED
    if flags & _EXTRA:
        at += 2 + int.from_bytes(head[at : at + 2], "little")
    for flag in (_NAME, _COMMENT):
        if flags & flag:
            at = head.find(b"\0", at) + 1
            if not at:
                raise refused_file_error(label, _CUT)
    at += 2 if flags & _CHECKED else 0
    if at > len(head):
        raise refused_file_error(label, _CUT)
    return at


def _measure(file: BinaryIO, start: int, packed: int, label: str) -> int:
    """How long it is unpacked: every byte counted, none kept."""
    most = min(MAX_TOTAL, max(TOTAL_RATIO_FROM, MAX_TOTAL_RATIO * packed))
    unpacker, size, checksum = zlib.decompressobj(-zlib.MAX_WBITS), 0, 0
    file.seek(start)
    waiting = b""
    while not unpacker.eof:
        waiting = waiting or file.read(_BLOCK)
        if not waiting:
            raise refused_file_error(label, _CUT)
        try:
            piece = unpacker.decompress(waiting, _BLOCK)
        except zlib.error:
            raise refused_file_error(label, _CUT) from None
        waiting = unpacker.unconsumed_tail
        size += len(piece)
        checksum = zlib.crc32(piece, checksum)
        if size > most:
            raise refused_file_error(label, _BOMB)
    rest = (unpacker.unused_data + file.read(_BLOCK))[: _TRAILER + len(_MAGIC)]
    if len(rest) < _TRAILER or struct.unpack("<2L", rest[:_TRAILER]) != (checksum, size & 0xFFFFFFFF):
        raise refused_file_error(label, _CUT)
    if rest[_TRAILER:] == _MAGIC:
        raise refused_file_error(label, "is several gzip archives in one file; unpack it first")
    return size
