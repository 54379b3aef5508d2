"""Where import bytes come from: one file, a folder or a zip, opened safely.

Must not do: follow links, open anything but regular files, write anywhere,
touch the network, or hold a whole file in memory.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import BinaryIO, overload

from core.errors import UserError
from core.importers.input.archive import (
    NO_ARCHIVES,
    SourceFile,
    as_archive,
    is_archive,
    list_archive,
    with_archives,
)
from core.importers.input.file_list import ListedFiles
from core.importers.input.files import (
    DiskFile,
    clean_name,
    disk_file,
    inspect_file,
    refused_file_error,
    walk_folder,
)
from core.importers.input.strict_json import BadJson, decode_ladder, parse_json_text

__all__ = ["Bundle", "SourceFile", "open_bundle"]

_MANIFEST_CAP = 1 << 20
_EXPORT_MEMBER = re.compile(
    r"(?:.*/)?(?:conversations(?:-\d+)?\.json|projects\.json|users\.json|memories\.json|projects/[^/]+\.json)"
)
_EXPORT_ZIP = re.compile(r"(?:conversations|projects|memories|users|data)-.*\.zip", re.IGNORECASE)
_VAULT_MARK = ".obsidian/"


@dataclass(frozen=True, slots=True)
class Bundle:
    """Everything one import may read.

    Attributes:
        label: the last component of the path given, for messages.
        kind: `file`, `folder` or `zip`.
        files: every regular file in name order (nested zips of an export folder appear as `inner.zip/member`).
        skipped: (reason, name) of what was left out: not_a_regular_file, symbolic link …
        fingerprint: changes when any file's name, size or time changes; resuming a job compares it.
    """

    label: str
    kind: str
    files: Sequence[SourceFile]
    skipped: tuple[tuple[str, str], ...]
    fingerprint: str

    def find_file(self, name: str) -> SourceFile | None:
        """The file of that exact name inside the bundle."""
        return next((f for f in self.files if f.name == name), None)

    def list_jsonl_files(self) -> list[SourceFile]:
        """The JSON Lines files of a folder or an archive; a single file whatever it is called."""
        if self.kind == "file":
            return list(self.files)
        return [one for one in self.files if one.path.suffix.lower() == ".jsonl" and "__MACOSX" not in one.path.parts]


class _Opened:
    """Keeps every stream of a bundle, so that leaving it closes what an importer left open."""

    def __init__(self) -> None:
        self._streams: list[BinaryIO] = []

    def keep_streams_of(self, opener: Callable[[], BinaryIO]) -> Callable[[], BinaryIO]:
        def open_and_keep() -> BinaryIO:
            self._streams = [stream for stream in self._streams if not stream.closed]
            stream = opener()
            self._streams.append(stream)
            return stream

        return open_and_keep

    def close(self) -> None:
        for stream in self._streams:
            stream.close()


@contextmanager
def open_bundle(path: Path) -> Iterator[Bundle]:
    """Open what a person wants to import: a file, a folder, a zip archive, or the manifest of an export in parts.

    Archives at the top of an export's folder that are its parts are opened too; others can be listed. The path given
    may lead over links; nothing below it may.

    Args:
        path: what the person named.

    Yields:
        The bundle; its streams are closed on leaving.

    Raises:
        UserError: IMPORT_REFUSED in one sentence with the last component of the path: it does not exist, cannot be
            read, is empty, no regular file, or a damaged or dangerous archive.
    """
    label = clean_name(path.name or path.absolute().name or "this folder")
    opened = _Opened()
    try:
        yield _make_bundle(path, label, opened)
    finally:
        opened.close()


@contextmanager
def open_files(label: str, files: Iterable[tuple[str, DiskFile]]) -> Iterator[Bundle]:
    """Open some files of a folder that was listed before.

    Args:
        label: the folder's name, for messages.
        files: the name of each inside the folder, and the file as it was when it was listed.

    Yields:
        The bundle, with nothing left out; its streams are closed on leaving.
    """
    opened = _Opened()
    kept = (_plain_source_file(found, name) for name, found in files)
    try:
        yield Bundle(
            label, "folder", tuple(replace(file, open=opened.keep_streams_of(file.open)) for file in kept), (), ""
        )
    finally:
        opened.close()


class _FilesOfListings(Sequence[SourceFile]):
    """The files of listings, each made when it is asked for: of most no more than the name is looked at."""

    def __init__(self, listings: Sequence[ListedFiles], opened: _Opened) -> None:
        self._listings, self._opened = listings, opened

    def __iter__(self) -> Iterator[SourceFile]:
        for listing in self._listings:
            for name in listing:
                size, modified_ms = listing.describe_file(name)
                opener = partial(_open_listed, listing, name, self._opened)
                yield SourceFile(name, size, modified_ms, opener)

    def __len__(self) -> int:
        return sum(len(listing) for listing in self._listings)

    @overload
    def __getitem__(self, place: int) -> SourceFile: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[SourceFile]: ...
    def __getitem__(self, place: int | slice) -> SourceFile | Sequence[SourceFile]:
        if isinstance(place, slice):
            return tuple(self)[place]
        wanted = range(len(self))[place]
        return next(islice(self, wanted, None))


def _open_listed(listing: ListedFiles, name: str, opened: _Opened) -> BinaryIO:
    return opened.keep_streams_of(listing[name].open_bounded)()


@contextmanager
def open_listings(label: str, listings: Sequence[ListedFiles]) -> Iterator[Bundle]:
    """Open all files of a folder that was listed before, without an object for each.

    Args:
        label: the folder's name, for messages.

    Yields:
        The bundle, with nothing left out; its streams are closed on leaving.
    """
    opened = _Opened()
    try:
        yield Bundle(label, "folder", _FilesOfListings(listings, opened), (), "")
    finally:
        opened.close()


def _make_bundle(path: Path, label: str, opened: _Opened) -> Bundle:
    try:
        real = path.resolve(strict=True)
        status = os.lstat(real)
    except (FileNotFoundError, NotADirectoryError):
        raise refused_file_error(label, "does not exist") from None
    except (OSError, RuntimeError, ValueError):
        raise refused_file_error(label, "cannot be read") from None
    if stat.S_ISDIR(status.st_mode):
        return _folder_bundle(real, label, None, opened)
    if not stat.S_ISREG(status.st_mode):
        raise refused_file_error(label, "is not a regular file")
    if status.st_size == 0:
        raise refused_file_error(label, "is empty")
    file = disk_file(real, status)
    if is_archive(file.open_raw):
        files = with_archives(list_archive(file.open_raw, file.name), opened.keep_streams_of, file.size)
        return _assemble_bundle(label, "zip", files, [], opened)
    if parts := _manifest_parts(file):
        return _folder_bundle(real.parent, label, parts | {real.name}, opened)
    return _assemble_bundle(label, "file", [_plain_source_file(file, clean_name(real.name))], [], opened)


def _folder_bundle(root: Path, label: str, only: set[str] | None, opened: _Opened) -> Bundle:
    files: list[SourceFile] = []
    archives: list[tuple[str, DiskFile]] = []
    skipped: list[tuple[str, str]] = []
    for name, found in walk_folder(root, label) if only is None else _find_named_files(root, only):
        if isinstance(found, str):
            skipped.append((found, name))
        elif PurePosixPath(name).suffix.lower() not in NO_ARCHIVES and is_archive(found.open_raw):
            archives.append((name, found))
        else:
            files.append(_plain_source_file(found, name))
    named = only or _named_by_manifest(files, root)
    vault = any(file.name.startswith(_VAULT_MARK) for file in files)
    for name, found in archives:
        # Only at the top of an export lie its parts; an archive further down is none.
        inner = None if vault or "/" in name else _export_part(found, name, named)
        whole = as_archive(_plain_source_file(found, name), found.open_raw, opened.keep_streams_of)
        files += [whole] if inner is None else inner
    return _assemble_bundle(label, "folder", files, skipped, opened)


def _find_named_files(root: Path, names: set[str]) -> Iterator[tuple[str, DiskFile | str]]:
    """The named files of a folder; one that is not there is left to the importer, which knows the manifest."""
    for name in sorted(names):
        found = inspect_file(root / name)
        if found is not None and (isinstance(found, DiskFile) or os.path.lexists(root / name)):
            yield name, found


def _export_part(file: DiskFile, name: str, named: set[str]) -> list[SourceFile] | None:
    """The members of an archive that is part of an export; None for an archive that merely lies in the folder."""
    expected = name in named or _EXPORT_ZIP.fullmatch(name) is not None
    try:
        inner = list_archive(file.open_raw, file.name, name + "/")
    except UserError:
        if expected:
            raise
        return None
    is_part = expected or any(_EXPORT_MEMBER.fullmatch(member.name[len(name) + 1 :]) for member in inner)
    return inner if is_part else None


def _plain_source_file(file: DiskFile, name: str) -> SourceFile:
    return SourceFile(name, file.size, file.modified_ns // 1_000_000, file.open_bounded, open_seekable=file.open_raw)


def _assemble_bundle(
    label: str, kind: str, files: list[SourceFile], skipped: list[tuple[str, str]], opened: _Opened
) -> Bundle:
    if not files:
        raise refused_file_error(label, "holds no files")
    ordered = sorted(files, key=lambda file: file.name)
    kept = tuple(replace(file, open=opened.keep_streams_of(file.open)) for file in ordered)
    digest = hashlib.sha256()
    for file in kept:
        digest.update(f"{file.name}\0{file.size}\0{file.modified_ms}\n".encode("utf-8", "surrogatepass"))
    return Bundle(label, kind, kept, tuple(sorted(skipped)), digest.hexdigest())


def _first_bytes(file: DiskFile, size: int) -> bytes:
    with closing(file.open_raw()) as stream:
        return stream.read(size)


def _manifest_parts(file: DiskFile) -> set[str]:
    """The files an export's manifest names, where the file is one and at least one of them lies beside it."""
    if file.size > _MANIFEST_CAP:
        return set()
    try:
        text, _ = decode_ladder(_first_bytes(file, _MANIFEST_CAP).removeprefix(b"\xef\xbb\xbf"))
        value = parse_json_text(text).value
    except BadJson:
        return set()
    listed = value.get("files") if isinstance(value, dict) else None
    if not isinstance(listed, list):
        return set()
    names = {item["name"] for item in listed if isinstance(item, dict) and isinstance(item.get("name"), str)}
    names = {name for name in names if name and "/" not in name and "\\" not in name and name not in (".", "..")}
    return names if any((file.path.parent / name).is_file() for name in names) else set()


def _named_by_manifest(files: list[SourceFile], root: Path) -> set[str]:
    named: set[str] = set()
    for file in files:
        if "/" not in file.name and file.name.startswith("manifest") and file.size <= _MANIFEST_CAP:
            path = root / file.name
            try:
                named |= _manifest_parts(disk_file(path, os.lstat(path)))
            except OSError:
                continue
    return named
