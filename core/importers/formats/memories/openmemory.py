"""An OpenMemory backup: `memories.json`, and the same once more in `memories.jsonl.gz`.

Must not do: bring deleted memories back, show paused or archived ones, store one twice, or grant anything: access
rules come in as suggestions only.
"""

from __future__ import annotations

import gzip
import io
import zlib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from core.importers.input.files import MAX_MEMBER_RATIO, MEMBER_RATIO_FROM, refused_file_error
from core.importers.input.source import Bundle, SourceFile
from core.importers.input.streams import (
    BadJson,
    ParsedJson,
    items_in_head,
    iter_json_array,
    keys_in_head,
    mended_count,
    parse_json_text,
    read_file_lines,
    visible_files,
)
from core.importers.records import Item, Record, SkippedPart, UnreadablePart
from core.importers.rows import filled_text, text_digest
from core.text.times import parse_time
from core.types.values import Kind, Source, Status

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_MAX_PACKED = 64 << 20
_HEAD = 65536
_TABLES = frozenset({"memory_categories", "access_controls", "status_history", "export_meta"})
_ROW_KEYS = frozenset({"content", "state"})
_GZIP = b"\x1f\x8b"
_HIDDEN = ("paused", "archived")
_KEPT = ("metadata", "updated_at", "archived_at", "state")


@dataclass(frozen=True, slots=True)
class AccessScope:
    """One access rule of the backup, offered as a starting point for a client's grants.

    Attributes:
        client: the app's name; its id where the backup does not name it.
        effect: `allow` or `deny`.
        object_type: what it is about, usually `memory`.
        memory_id: one memory; None for all.
    """

    client: str
    effect: str
    object_type: str
    memory_id: str | None


@dataclass(slots=True)
class _Backup:
    """The small tables around the memories."""

    apps: dict[str, str] = field(default_factory=dict)
    categories: dict[str, str] = field(default_factory=dict)
    of_memory: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    scopes: list[AccessScope] = field(default_factory=list)


class OpenMemoryImporter:
    """Reads the backup zip, the folder it was unpacked to, or its `memories.json` alone."""

    @property
    def format(self) -> str:
        """`openmemory`."""
        return "openmemory"

    def detects(self, bundle: Bundle) -> bool:
        """Whether a file holds the backup's tables or its rows, and not merely lies among many others."""
        found = {file.name for file in (_json_file(bundle), _lines_file(bundle)) if file is not None}
        return bool(found) and len(visible_files(bundle)) <= 2 * len(found)

    def read(self, bundle: Bundle) -> Iterator[Item]:
        """Yield active memories, and paused and archived ones as archived, each once; deleted ones are skipped.

        Raises:
            UserError: IMPORT_REFUSED for JSON that cannot be read, or a packed file that unpacks to far too much.
        """
        seen: dict[str, str] = {}
        whole, lines = _json_file(bundle), _lines_file(bundle)
        if whole is None and lines is None:
            raise refused_file_error(bundle.label, "holds no OpenMemory backup")
        if whole is not None:
            backup = _read_tables(whole)
            for number, parsed in enumerate(iter_json_array(whole, ("memories",)), 1):
                yield from _read_once(parsed, (whole.name, f"item {number}"), backup, seen)
        if lines is not None:
            yield from _read_openmemory_lines(lines, seen, alone=whole is None)


def _json_file(bundle: Bundle) -> SourceFile | None:
    for file in bundle.files:
        keys = keys_in_head(file)
        if "memories" in keys and _TABLES.intersection(keys):
            return file
        # A long table may push the rest out of the head.
        if {"apps", "categories"} <= set(keys) or any(
            set(item) >= _ROW_KEYS and "app_id" in item for item in items_in_head(file, ("memories",))
        ):
            return file
    return None


def _lines_file(bundle: Bundle) -> SourceFile | None:
    return next((f for f in bundle.files if _starts_packed(f) and _keys_of_first_row(f)), None)


def _starts_packed(file: SourceFile) -> bool:
    with closing(file.open()) as stream:
        return stream.read(2) == _GZIP


def _keys_of_first_row(file: SourceFile) -> bool:
    try:
        with closing(_open_gzip(file)) as stream:
            # What can be unpacked before a damage is enough to know the file by.
            start = stream.read1(_HEAD)
    except (OSError, EOFError, zlib.error):
        return False
    return set(keys_in_head(SourceFile(file.name, len(start), None, lambda: io.BytesIO(start)))) >= _ROW_KEYS


def _read_tables(file: SourceFile) -> _Backup:
    backup = _Backup()
    for row in _read_rows(file, "apps"):
        backup.apps[str(row.get("id"))] = str(row.get("name") or row.get("id"))
    for row in _read_rows(file, "categories"):
        backup.categories[str(row.get("id"))] = str(row.get("name") or row.get("id"))
    for row in _read_rows(file, "memory_categories"):
        backup.of_memory[str(row.get("memory_id"))].append(str(row.get("category_id")))
    for row in _read_rows(file, "access_controls"):
        subject, memory = str(row.get("subject_id")), row.get("object_id")
        backup.scopes.append(
            AccessScope(
                client=backup.apps.get(subject, subject),
                effect=str(row.get("effect")),
                object_type=str(row.get("object_type")),
                memory_id=None if memory is None else str(memory),
            )
        )
    return backup


def _read_rows(file: SourceFile, table: str) -> Iterator[Mapping[str, Any]]:
    return (parsed.value for parsed in iter_json_array(file, (table,)) if isinstance(parsed.value, Mapping))


def _read_openmemory_lines(file: SourceFile, seen: dict[str, str], *, alone: bool) -> Iterator[Item]:
    inner = SourceFile(file.name, file.size, file.modified_ms, lambda: _open_gzip(file))
    backup = _Backup()
    try:
        for number, line in read_file_lines(inner):
            if not line.strip():
                yield SkippedPart("blank_line", f"{file.name}:{number}")
                continue
            try:
                parsed = parse_json_text(line)
            except BadJson as error:
                yield UnreadablePart(f"{file.name}:{number}", f"not JSON: {error.reason}")
                continue
            yield from _read_once(parsed, (file.name, str(number)), backup, seen)
    except (OSError, EOFError, zlib.error):
        if alone:
            raise refused_file_error(file.name, "is a damaged or cut-off gzip file") from None
        yield UnreadablePart(file.name, "a damaged or cut-off gzip file", "bad_file")


def _read_once(parsed: ParsedJson, place: tuple[str, str], backup: _Backup, seen: dict[str, str]) -> Iterator[Item]:
    """One memory, unless it came before; that the other file repeats it is how backups are and no skip."""
    row, where = parsed.value, ":".join(place)
    if not isinstance(row, Mapping):
        yield SkippedPart("not_an_object", where)
        return
    text = row.get("content")
    key = str(row["id"]) if row.get("id") else text_digest(str(text))
    if key in seen:
        if seen[key] == place[0]:
            yield SkippedPart("duplicate", where)
        return
    seen[key] = place[0]
    state = _openmemory_state(row)
    if state == "deleted":
        yield SkippedPart("deleted", where)
    elif not isinstance(text, str) or not filled_text(text):
        yield SkippedPart("no_text", where)
    else:
        yield _make_record(parsed, text, where, backup, state, key)


def _openmemory_state(row: Mapping[str, Any]) -> str:
    if row.get("deleted_at"):
        return "deleted"
    return "archived" if row.get("archived_at") else str(row.get("state") or "active").casefold()


def _make_record(parsed: ParsedJson, text: str, where: str, backup: _Backup, state: str, key: str) -> Record:
    row = parsed.value
    written = row.get("created_at")
    occurred = parse_time(written)
    flags = set(parsed.flags)
    if mended_count(text):
        flags.add("surrogates_replaced")
    if occurred is None and written not in (None, ""):
        flags.add("time_unreadable")
    extra: dict[str, Any] = {name: row[name] for name in _KEPT if row.get(name) not in (None, "", {}, [])}
    app = backup.apps.get(str(row.get("app_id")), row.get("app"))
    extra |= {name: value for name, value in (("app", app), ("time_written", written)) if value is not None}
    if scopes := [s for s in backup.scopes if s.memory_id in (None, key)]:
        extra["suggested_scopes"] = [{"client": s.client, "effect": s.effect, "memory": s.memory_id} for s in scopes]
    return Record(
        identity=f"openmemory:{key}:{text_digest(text)}",
        text=str(text),
        where=where,
        kind=Kind.FACT,
        source=Source.INFERENCE,
        status=Status.ARCHIVED if state in _HIDDEN else Status.ACTIVE,
        occurred=occurred,
        tags=_category_names(row, backup, key),
        ref=str(row["id"]) if row.get("id") else None,
        flags=tuple(sorted(flags)),
        extra=extra,
    )


def _category_names(row: Mapping[str, Any], backup: _Backup, key: str) -> tuple[str, ...]:
    ids = row.get("category_ids")
    known = [*map(str, ids if isinstance(ids, list) else ()), *backup.of_memory.get(key, ())]
    names = [backup.categories.get(one, one) for one in known]
    written = row.get("categories")
    names += [str(name) for name in written if isinstance(name, str)] if isinstance(written, list) else []
    return tuple(dict.fromkeys(name for name in names if name))


def _open_gzip(file: SourceFile) -> io.BufferedReader:
    return io.BufferedReader(_GzipStream(file))


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
