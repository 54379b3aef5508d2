"""The files of a tar archive, which some programs give other endings (`.jex`).

Must not do: unpack, follow a link of the archive, or go by a number in it beyond the archive's own end.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from core.importers.input.files import MAX_MEMBERS, Opener, check_member_name, refused_file_error
from core.importers.input.window import FileWindow

_BLOCK = 512
_MARK = slice(257, 262)
_REGULAR = (b"0", b"\0", b"7")
_LONG_NAME, _FIELDS, _FIELDS_FOR_ALL = b"L", b"x", b"g"
_LONGEST_NAME = 1 << 16
_CUT = "is a damaged or cut-off tar archive"


@dataclass(frozen=True, slots=True)
class TarMember:
    """One regular file of it.

    Attributes:
        name: its path, checked.
        size: bytes.
        offset: where its content begins.
        modified_ms: epoch ms.
    """

    name: str
    size: int
    offset: int
    modified_ms: int


def looks_like_tar(first: bytes) -> bool:
    """Whether a file's first 512 bytes are those of such an archive."""
    return first[_MARK] == b"ustar"


def list_tar_members(opener: Opener, label: str) -> tuple[TarMember, ...]:
    """Walk the archive from file to file.

    Args:
        opener: opens it, seekable.
        label: its name for messages.

    Raises:
        UserError: IMPORT_REFUSED for a damaged one, and for names that lead outside.
    """
    with opener() as file:
        end = file.seek(0, io.SEEK_END)
        members = tuple(_walk(file, end, label))
    if len({member.name for member in members}) != len(members):
        raise refused_file_error(label, "holds two files of the same name")
    return members


def _walk(file: BinaryIO, end: int, label: str) -> Iterator[TarMember]:
    at, count, long_name = 0, 0, ""
    while at + _BLOCK <= end:
        file.seek(at)
        head = file.read(_BLOCK)
        if not head.strip(b"\0"):
            return
        count += 1
        size = _number(head[124:136], label)
        if count > MAX_MEMBERS:
            raise refused_file_error(label, f"holds more than {MAX_MEMBERS:,} files, more than any export")
        if not looks_like_tar(head) or at + _BLOCK + size > end:
            raise refused_file_error(label, _CUT)
        kind, content = head[156:157], at + _BLOCK
        if kind in (_LONG_NAME, _FIELDS):
            long_name = _read_name(file.read(min(size, _LONGEST_NAME)), kind) or long_name
        elif kind in _REGULAR:
            name = long_name or _joined_name(head)
            yield TarMember(check_member_name(name, label), size, content, 1000 * _number(head[136:148], label))
        if kind not in (_LONG_NAME, _FIELDS, _FIELDS_FOR_ALL):
            long_name = ""
        at = content + -(-size // _BLOCK) * _BLOCK


def _number(raw: bytes, label: str) -> int:
    """A number in digits of eight; of the other form, bytes, only what a file here can have."""
    if raw[:1] == b"\x80":
        return int.from_bytes(raw[1:], "big")
    digits = raw.strip(b" \0")
    try:
        return int(digits, 8) if digits else 0
    except ValueError:
        raise refused_file_error(label, _CUT) from None


def _joined_name(head: bytes) -> str:
    name, prefix = head[:100].partition(b"\0")[0], head[345:500].partition(b"\0")[0]
    joined = prefix + b"/" + name if prefix and head[263:265] == b"00" else name
    return joined.decode("utf-8", "replace").removeprefix("./")


def _read_name(raw: bytes, kind: bytes) -> str:
    """The name that a header of its own gives to the next file."""
    if kind == _LONG_NAME:
        return raw.partition(b"\0")[0].decode("utf-8", "replace").removeprefix("./")
    found = next((line for line in raw.split(b"\n") if b" path=" in line[:24]), b"")
    return found.partition(b"=")[2].decode("utf-8", "replace").removeprefix("./")


def open_tar_member(opener: Opener, member: TarMember) -> BinaryIO:
    """Open one file of it, buffered and seekable."""
    return io.BufferedReader(FileWindow(opener(), member.offset, member.size), 1 << 16)
