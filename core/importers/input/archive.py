"""Archives as lists of files, and archives within archives, opened with limits on depth, files and bytes.

Must not do: unpack anything before it is asked for, or let many small archives be a bomb together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import PurePosixPath
from typing import BinaryIO

from core.errors import LociError
from core.importers.input.files import (
    MAX_MEMBERS,
    MAX_TOTAL,
    MAX_TOTAL_RATIO,
    TOTAL_RATIO_FROM,
    Opener,
    list_members,
    looks_like_zip,
    open_member,
    refused_file_error,
)
from core.importers.input.gzip_stream import HEAD, looks_like_packed_tar, unpack_tar
from core.importers.input.member_access import MemberAccess
from core.importers.input.tar import list_tar_members, looks_like_tar, open_tar_member

DEEPEST = 4
"""Archives around a file that are opened; what lies deeper is no export."""

NO_ARCHIVES = frozenset(
    {".json", ".jsonl", ".md", ".markdown", ".txt", ".html", ".htm", ".csv", ".xml", ".css", ".js", ".eml", ".ics"}
    | {".vcf", ".jpg", ".jpeg", ".png", ".gif", ".webp", ".heic", ".svg", ".mp4", ".mov", ".mp3", ".m4a", ".opus"}
    | {".pdf", ".wav", ".ogg", ".avif", ".mbox", ".log", ".db", ".sqlite", ".yml", ".yaml", ".py", ".ts"}
)
"""Endings of what is never an archive and is not opened to look: an export has a hundred thousand pictures."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One readable file of a bundle.

    Attributes:
        name: path inside the bundle, POSIX separators (`projects/x.jsonl`); the file's own name for a single file.
        size: bytes, uncompressed.
        modified_ms: modification time, epoch ms; None in archives without one.
        open: opens a fresh binary stream; bounded to `size`, never seeks outside, refuses a bomb while reading.
        members: lists what is in it, where it is an archive that merely lies in a folder or in another archive.
        open_seekable: likewise, for a stream in which one can go back and forth; None where there is none.
    """

    name: str
    size: int
    modified_ms: int | None
    open: Callable[[], BinaryIO]
    members: Callable[[], tuple[SourceFile, ...]] | None = None
    open_seekable: Callable[[], BinaryIO] | None = None

    @property
    def path(self) -> PurePosixPath:
        """The name as a path."""
        return PurePosixPath(self.name)


Keep = Callable[[Opener], Opener]
"""Wraps an opener so that what it opens is closed with the bundle."""


@dataclass(slots=True)
class _Allowance:
    """What one archive of the person's may still hold, with all that lies in archives in it."""

    size: int
    files: int = MAX_MEMBERS
    bytes: int = field(init=False)

    def __post_init__(self) -> None:
        self.bytes = min(MAX_TOTAL, max(TOTAL_RATIO_FROM, MAX_TOTAL_RATIO * self.size))

    def spend(self, files: Sequence[SourceFile], label: str) -> None:
        """Count what one archive holds.

        Raises:
            UserError: IMPORT_REFUSED where that is more than is left.
        """
        self.files -= len(files)
        self.bytes -= sum(file.size for file in files)
        if self.files < 0 or self.bytes < 0:
            raise refused_file_error(label, "unpacks to far more than it holds, as only a zip bomb does")


def is_archive(opener: Opener) -> bool:
    """Whether a file begins as an archive does that can be listed; one that cannot be read does not."""
    with suppress(LociError), opener() as stream:
        first = stream.read(HEAD)
        return looks_like_zip(first) or looks_like_tar(first) or looks_like_packed_tar(first)
    return False


def list_archive(opener: Opener, label: str, prefix: str = "") -> list[SourceFile]:
    """The files of an archive in the order of its directory.

    Args:
        opener: opens it, seekable.
        label: its name for messages.
        prefix: what stands before the names.

    Raises:
        UserError: IMPORT_REFUSED for a damaged or dangerous one.
    """
    with opener() as stream:
        first = stream.read(HEAD)
    if looks_like_packed_tar(first):
        opener = unpack_tar(opener, label)
    if looks_like_tar(first) or looks_like_packed_tar(first):
        tar = ((one, partial(open_tar_member, opener, one)) for one in list_tar_members(opener, label))
        return [
            SourceFile(prefix + one.name, one.size, one.modified_ms, opens, open_seekable=opens) for one, opens in tar
        ]
    return [
        SourceFile(
            prefix + member.name,
            member.size,
            member.modified_ms,
            partial(open_member, opener, member, label),
            open_seekable=MemberAccess(opener, member, label).open_seekable,
        )
        for member in list_members(opener, label)
    ]


def with_archives(files: Sequence[SourceFile], keep: Keep, size: int) -> list[SourceFile]:
    """The files of an archive, those of them that are archives so that they can be listed.

    Args:
        files: from `list_archive`.
        keep: wraps openers.
        size: of the archive, in bytes.
    """
    return _nest(files, keep, _Allowance(size), 1)


def as_archive(file: SourceFile, opener: Opener, keep: Keep) -> SourceFile:
    """A file on disk that is an archive, so that it can be listed.

    Args:
        file: as it is.
        opener: opens it, seekable.
        keep: wraps openers.
    """
    return _as_nested(file, opener, keep, _Allowance(file.size), 0)


def _nest(files: Sequence[SourceFile], keep: Keep, left: _Allowance, depth: int) -> list[SourceFile]:
    return [
        _as_nested(one, one.open_seekable, keep, left, depth)
        if one.open_seekable is not None and _may_be_archive(one) and is_archive(one.open)
        else one
        for one in files
    ]


def _may_be_archive(file: SourceFile) -> bool:
    return file.size >= 22 and file.path.suffix.lower() not in NO_ARCHIVES  # the least that an archive has


def _as_nested(file: SourceFile, opener: Opener, keep: Keep, left: _Allowance, depth: int) -> SourceFile:
    known: list[SourceFile] = []

    def list_inside() -> tuple[SourceFile, ...]:
        if not known:
            if depth >= DEEPEST:
                raise refused_file_error(file.name, f"lies in more than {DEEPEST} archives, one in the other")
            listed = list_archive(opener, file.path.name)
            left.spend(listed, file.path.name)
            kept = [replace(one, open=keep(one.open)) for one in listed]
            known.extend(_nest(kept, keep, left, depth + 1))
        return tuple(known)

    return replace(file, members=list_inside)
