"""Opens files of strangers on disk and in zip archives, and refuses what is dangerous, in one sentence.

On disk: regular files only, never through a link, and noticed when they change. Why not the standard zipfile: it builds
an object for each of a million members before anyone can count them, and trusts the directory's sizes. Here the
directory is walked with a cap, every danger is refused before a byte is unpacked, sizes are enforced while reading, and
nothing is unpacked to disk.

Must not do: open a pipe or device in a way that waits, follow a link below the path a person gave, write, allocate by a
number that an archive tells, or put text of a file, or more of its path than the last component, into a message.
"""

from __future__ import annotations

import io
import os
import re
import stat
import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO

from core.errors import Code, LociError, UserError
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
            raise refused_file_error(self.name, "cannot be opened for reading") from None
        stream = io.FileIO(descriptor, "rb", closefd=True)
        try:
            self.check_unchanged(descriptor)
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

    def check_unchanged(self, descriptor: int) -> None:
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
            raise file_changed_error(self.name)


def file_changed_error(name: str) -> LociError:
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
            raise refused_file_error(self._file.name, "cannot be read to its end") from None
        self._left -= len(piece)
        if not piece:
            if self._left:
                raise file_changed_error(self._file.name)
            self._file.check_unchanged(self._raw.fileno())
        view[: len(piece)] = piece
        return len(piece)

    def close(self) -> None:
        self._raw.close()
        super().close()


def disk_file(path: Path, status: os.stat_result) -> DiskFile:
    """Make a DiskFile from what lstat told.

    Args:
        path: of a regular file.

    Returns:
        The file as it is now.
    """
    return DiskFile(path, path.name, status.st_size, status.st_mtime_ns, (status.st_dev, status.st_ino))


def walk_folder(root: Path, label: str) -> Iterator[tuple[str, DiskFile | str]]:
    """List a folder and what is below it, never following a link.

    Args:
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
                raise refused_file_error(label, "cannot be read") from None
            yield prefix.rstrip("/"), UNREADABLE
            continue
        for entry in found:
            count += 1
            if count > MAX_FILES or depth > MAX_DEPTH:
                raise refused_file_error(label, f"holds more than {MAX_FILES:,} files or {MAX_DEPTH} levels of folders")
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


MAX_MEMBERS = 100_000
MAX_TOTAL = 64 << 30
MAX_MEMBER_RATIO = 200
MEMBER_RATIO_FROM = 1_000_000
MAX_TOTAL_RATIO = 100
TOTAL_RATIO_FROM = 16 << 20
MAX_DIRECTORY = 24 << 20
MAX_NAME = 1024

_END = struct.Struct("<4s4H2LH")
_END64_LOCATOR_SIZE = 20
_END64 = struct.Struct("<4sQ2H2L4Q")
_CENTRAL = struct.Struct("<4s6H3L5H2L")
_LOCAL = struct.Struct("<4s5H3L2H")
_MAX_COMMENT = 0xFFFF
_FULL32, _FULL16 = 0xFFFFFFFF, 0xFFFF
_STORED, _DEFLATED = 0, 8
_ENCRYPTED = 0x1 | 0x40 | 0x2000
_UTF8_NAME = 0x800
_ZIP64_EXTRA, _TIME_EXTRA = 0x0001, 0x5455
_DRIVE = re.compile(r"[A-Za-z]:")
_BLOCK = 1 << 16

_CUT = "is a damaged or cut-off zip archive"

Opener = Callable[[], BinaryIO]


@dataclass(frozen=True, slots=True)
class Member:
    """One regular file inside an archive.

    Attributes:
        name: its path, checked.
        size: bytes, uncompressed, as the directory says; enforced while reading.
        packed: bytes, compressed.
        method: 0 stored, 8 deflated.
        crc: CRC-32 of the content.
        offset: where its local header begins.
        modified_ms: epoch ms where the archive tells it with a zone; zip's own clock has none.
    """

    name: str
    size: int
    packed: int
    method: int
    crc: int
    offset: int
    modified_ms: int | None


def looks_like_zip(first: bytes) -> bool:
    """Whether a file begins as a zip archive does.

    Args:
        first: at least its first four bytes.
    """
    return first[:4] in (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")


def list_members(opener: Opener, label: str) -> tuple[Member, ...]:
    """Walk and judge an archive's directory.

    Args:
        opener: opens the archive, unbuffered and seekable.
        label: its name for messages.

    Returns:
        Its regular files in the directory's order; folders are left out.

    Raises:
        UserError: IMPORT_REFUSED for a damaged archive and for anything no honest export has: names that lead
            outside, links, encryption, bombs, members that share bytes.
    """
    with opener() as file:
        directory, base, limit = _read_directory(file, label)
    members: list[Member] = []
    for count, (fields, name_bytes, extra) in enumerate(_walk_directory(directory, label), 1):
        if count > MAX_MEMBERS:
            raise refused_file_error(label, f"holds more than {MAX_MEMBERS:,} files, more than any export")
        member = _make_member(fields, name_bytes, extra, base, label)
        if member is not None:
            members.append(member)
    _check_sizes(members, limit, label)
    return tuple(members)


def _read_directory(file: BinaryIO, label: str) -> tuple[bytes, int, int]:
    """Find the central directory: its bytes, what to add to its offsets, and where it begins."""
    end = file.seek(0, io.SEEK_END)
    start = max(0, end - _END.size - _MAX_COMMENT)
    file.seek(start)
    tail = file.read(end - start)
    at = tail.rfind(b"PK\x05\x06")
    if at < 0 or len(tail) - at < _END.size:
        raise refused_file_error(label, _CUT)
    _, disk, first_disk, _, _, size, offset, _ = _END.unpack_from(tail, at)
    place = start + at
    if disk not in (0, _FULL16) or first_disk not in (0, _FULL16):
        raise refused_file_error(label, "is one part of a split zip archive")
    locator_at = place - _END64_LOCATOR_SIZE
    file.seek(max(0, locator_at))
    if locator_at >= 0 and file.read(4) == b"PK\x06\x07":
        place, size, offset = _read_end64(file, locator_at, label)
    if size > MAX_DIRECTORY:
        raise refused_file_error(label, f"has a directory of more than {MAX_DIRECTORY >> 20} MiB, more than any export")
    begin = place - size
    if begin < 0 or begin < offset:
        raise refused_file_error(label, _CUT)
    file.seek(begin)
    directory = file.read(size)
    if len(directory) != size:
        raise refused_file_error(label, _CUT)
    return directory, begin - offset, begin


def _read_end64(file: BinaryIO, locator_at: int, label: str) -> tuple[int, int, int]:
    place = locator_at - _END64.size
    if place < 0:
        raise refused_file_error(label, _CUT)
    file.seek(place)
    raw = file.read(_END64.size)
    if not raw.startswith(b"PK\x06\x06"):
        raise refused_file_error(label, _CUT)
    *_, size, offset = _END64.unpack(raw)
    return place, size, offset


def _walk_directory(directory: bytes, label: str) -> Iterator[tuple[tuple[int, ...], bytes, bytes]]:
    at = 0
    while at < len(directory):
        if len(directory) - at < _CENTRAL.size or directory[at : at + 4] != b"PK\x01\x02":
            raise refused_file_error(label, _CUT)
        _, *fields = _CENTRAL.unpack_from(directory, at)
        name_length, extra_length, comment_length = fields[9:12]
        at += _CENTRAL.size
        name = directory[at : at + name_length]
        extra = directory[at + name_length : at + name_length + extra_length]
        at += name_length + extra_length + comment_length
        if at > len(directory):
            raise refused_file_error(label, _CUT)
        yield tuple(fields), name, extra


def _make_member(fields: tuple[int, ...], name_bytes: bytes, extra: bytes, base: int, label: str) -> Member | None:
    _, _, flags, method, _, _, crc, packed, size, _, _, _, _, _, attributes, offset = fields
    if flags & _ENCRYPTED:
        raise refused_file_error(label, "is encrypted with a password")
    name = _decode_name(name_bytes, flags, label)
    mode = stat.S_IFMT(attributes >> 16)
    if mode == stat.S_IFLNK:
        raise refused_file_error(label, "holds a symbolic link, which no export has")
    if mode not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise refused_file_error(label, "holds something that is no regular file")
    extras = dict(_iterate_extra_fields(extra))
    try:
        size, packed, offset = _read_zip64(extras.get(_ZIP64_EXTRA, b""), size, packed, offset)
    except struct.error:
        raise refused_file_error(label, _CUT) from None
    if name.endswith("/") or mode == stat.S_IFDIR:
        return None
    if method not in (_STORED, _DEFLATED):
        raise refused_file_error(label, "is packed in a way Loci cannot read; pack it again as a plain zip")
    if method == _STORED and size != packed:
        raise refused_file_error(label, _CUT)
    return Member(name, size, packed, method, crc, offset + base, _modified_ms(extras.get(_TIME_EXTRA, b"")))


def _decode_name(raw: bytes, flags: int, label: str) -> str:
    return check_member_name(raw.decode("utf-8" if flags & _UTF8_NAME else "cp437", "replace"), label)


def check_member_name(name: str, label: str) -> str:
    """The name of a file in an archive, as it is.

    Args:
        label: the archive's name for messages.

    Raises:
        UserError: IMPORT_REFUSED for one that leads outside or that no file has.
    """
    if not name or len(name) > MAX_NAME or "\0" in name:
        raise refused_file_error(label, "holds a file with an impossible name")
    # Judged as every system would read it: a backslash or a drive is harmless here and an escape on Windows.
    if "\\" in name or name.startswith("/") or _DRIVE.match(name) or ".." in name.split("/"):
        raise refused_file_error(label, "holds a file whose name leads outside the archive")
    return name


def _iterate_extra_fields(extra: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + 4 <= len(extra):
        tag, length = struct.unpack_from("<2H", extra, at)
        yield tag, extra[at + 4 : at + 4 + length]
        at += 4 + length


def _read_zip64(extra: bytes, size: int, packed: int, offset: int) -> tuple[int, int, int]:
    at = 0
    values = [size, packed, offset]
    for index, value in enumerate(values):
        if value == _FULL32:
            (values[index],) = struct.unpack_from("<Q", extra, at)
            at += 8
    return values[0], values[1], values[2]


def _modified_ms(extra: bytes) -> int | None:
    if len(extra) >= 5 and extra[0] & 1:
        seconds: int = struct.unpack_from("<l", extra, 1)[0]
        return seconds * 1000
    return None


def _check_sizes(members: list[Member], limit: int, label: str) -> None:
    total = sum(member.size for member in members)
    packed = sum(member.packed for member in members)
    if total > MAX_TOTAL:
        raise refused_file_error(label, f"would unpack to more than {MAX_TOTAL >> 30} GiB")
    too_dense = any(
        member.size > MEMBER_RATIO_FROM and member.size > MAX_MEMBER_RATIO * max(1, member.packed) for member in members
    )
    if too_dense or (total > TOTAL_RATIO_FROM and total > MAX_TOTAL_RATIO * max(1, packed)):
        raise refused_file_error(label, "unpacks to far more than it holds, as only a zip bomb does")
    if len({member.name for member in members}) != len(members):
        raise refused_file_error(label, "holds two files of the same name")
    spans = sorted((member.offset, member.offset + _LOCAL.size + member.packed) for member in members)
    if spans and (spans[0][0] < 0 or spans[-1][1] > limit):
        raise refused_file_error(label, _CUT)
    if any(before[1] > after[0] for before, after in pairwise(spans)):
        raise refused_file_error(label, "holds files that share the same bytes, as only a zip bomb does")


def open_member(opener: Opener, member: Member, label: str) -> BinaryIO:
    """Open one file inside an archive.

    Args:
        opener: opens the archive, unbuffered and seekable.
        member: from `list_members` of the same archive.
        label: the archive's name for messages.

    Returns:
        A stream that ends where the directory says and refuses content that is longer, shorter or damaged.

    Raises:
        UserError: IMPORT_REFUSED when the member's own header is damaged; later while reading for its content.
    """
    file = opener()
    try:
        file.seek(find_content(file, member, label))
        return io.BufferedReader(_MemberStream(file, member, label), _BLOCK)
    except BaseException:
        file.close()
        raise


def find_content(file: BinaryIO, member: Member, label: str) -> int:
    """Where in an open archive the packed bytes of a member begin.

    Raises:
        UserError: IMPORT_REFUSED when the member's own header is damaged.
    """
    file.seek(member.offset)
    raw = file.read(_LOCAL.size)
    if len(raw) < _LOCAL.size or not raw.startswith(b"PK\x03\x04"):
        raise refused_file_error(label, _CUT)
    *_, name_length, extra_length = _LOCAL.unpack(raw)
    return member.offset + _LOCAL.size + int(name_length) + int(extra_length)


class _MemberStream(io.RawIOBase):
    """Unpacks one member as it is read, counting every byte."""

    def __init__(self, file: BinaryIO, member: Member, label: str) -> None:
        super().__init__()
        self._file = file
        self._member = member
        self._label = label
        self._left = member.packed
        self._given = 0
        self._crc = 0
        self._unpacker = zlib.decompressobj(-zlib.MAX_WBITS) if member.method == _DEFLATED else None
        self._waiting = b""

    def readable(self) -> bool:
        return True

    def readinto(self, target: Any) -> int:
        view = memoryview(target).cast("B")
        wanted = len(view)
        # One byte more than promised is asked for, so that a member longer than it says is noticed.
        wanted = min(wanted, self._member.size - self._given + 1)
        piece = self._read_stored(wanted) if self._unpacker is None else self._read_inflated(wanted)
        self._given += len(piece)
        if self._given > self._member.size:
            raise self._damaged_error("is longer inside than its directory says")
        self._crc = zlib.crc32(piece, self._crc)
        if not piece and (self._given != self._member.size or self._crc != self._member.crc):
            raise self._damaged_error("is damaged: a file inside does not match its checksum")
        view[: len(piece)] = piece
        return len(piece)

    def _read_stored(self, wanted: int) -> bytes:
        piece = self._file.read(min(wanted, self._left))
        self._left -= len(piece)
        return piece

    def _read_inflated(self, wanted: int) -> bytes:
        unpacker = self._unpacker
        if unpacker is None:
            return b""
        while not unpacker.eof:
            if not self._waiting:
                self._waiting = self._read_stored(_BLOCK)
            nothing_left = not self._waiting
            try:
                piece = unpacker.decompress(self._waiting, wanted)
            except zlib.error:
                raise self._damaged_error("is damaged: a file inside cannot be unpacked") from None
            self._waiting = unpacker.unconsumed_tail
            if piece:
                return piece
            if nothing_left:
                raise self._damaged_error(_CUT)
        return b""

    def _damaged_error(self, trouble: str) -> UserError:
        return refused_file_error(self._label, trouble)

    def close(self) -> None:
        self._file.close()
        super().close()


_NAME_LIMIT = 120


def printable_name(name: str) -> str:
    """The last component of a path as it may stand in a message.

    Args:
        name: a path inside or outside a bundle.

    Returns:
        At most 120 characters, every character that does not print replaced by `?`.
    """
    last = name.replace("\\", "/").rstrip("/").rpartition("/")[2] or name
    clean = "".join(character if character.isprintable() else "?" for character in last)
    return clean if len(clean) <= _NAME_LIMIT else clean[: _NAME_LIMIT - 1] + "…"


def refused_file_error(name: str, trouble: str) -> UserError:
    """An IMPORT_REFUSED error in one sentence.

    Args:
        name: the file's name; only its last component is shown.
        trouble: what is wrong, as the end of a sentence without its full stop ("is not valid JSON").

    Returns:
        The error, to be raised.
    """
    return UserError(Code.IMPORT_REFUSED, f"“{printable_name(name)}” {trouble}; nothing was imported.")
