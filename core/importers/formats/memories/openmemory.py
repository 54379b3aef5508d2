"""An OpenMemory backup: `memories.json`, and the same once more in `memories.jsonl.gz`.

Must not do: bring deleted memories back, show paused or archived ones, store one twice, or grant anything: access
rules come in as suggestions only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from core.importers.formats.memories.fact import complete_fact
from core.importers.formats.memories.openmemory_tables import Backup, read_tables
from core.importers.input.files import refused_file_error
from core.importers.input.gzip_file import GZIP_DAMAGE, is_gzip, unpack_gzip, unpack_gzip_head
from core.importers.input.source import Bundle, SourceFile
from core.importers.input.streams import items_in_head, iter_json_array, keys_in_head, visible_files
from core.importers.json_lines import JsonLine, read_value_lines
from core.importers.records import Item, Record, SkippedPart, UnreadablePart
from core.importers.rows import filled_text, text_digest
from core.types.values import Status

_HEAD = 65536
_TABLES = frozenset({"memory_categories", "access_controls", "status_history", "export_meta"})
_ROW_KEYS = frozenset({"content", "state"})
_HIDDEN = ("paused", "archived")
_KEPT = ("metadata", "updated_at", "archived_at", "state")


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
            backup = read_tables(whole)
            for number, parsed in enumerate(iter_json_array(whole, ("memories",)), 1):
                place = (whole.name, f"{whole.name}:item {number}")
                yield from _read_once(parsed.value, parsed.flags, place, backup, seen)
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
    return next((f for f in bundle.files if is_gzip(f) and _keys_of_first_row(f)), None)


def _keys_of_first_row(file: SourceFile) -> bool:
    head = unpack_gzip_head(file, _HEAD)
    return head is not None and set(keys_in_head(head)) >= _ROW_KEYS


def _read_openmemory_lines(file: SourceFile, seen: dict[str, str], *, alone: bool) -> Iterator[Item]:
    backup = Backup()
    try:
        for part in read_value_lines(unpack_gzip(file)):
            if isinstance(part, JsonLine):
                yield from _read_once(part.value, part.flags, (file.name, part.where), backup, seen)
            else:
                yield part
    except GZIP_DAMAGE:
        if alone:
            raise refused_file_error(file.name, "is a damaged or cut-off gzip file") from None
        yield UnreadablePart(file.name, "a damaged or cut-off gzip file", "bad_file")


def _read_once(
    row: object, flags: frozenset[str], place: tuple[str, str], backup: Backup, seen: dict[str, str]
) -> Iterator[Item]:
    """One memory, unless it came before; that the other file repeats it is how backups are and no skip."""
    where = place[1]
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
        yield _make_record(row, text, where, flags, backup, state, key)


def _openmemory_state(row: Mapping[str, Any]) -> str:
    if row.get("deleted_at"):
        return "deleted"
    return "archived" if row.get("archived_at") else str(row.get("state") or "active").casefold()


def _make_record(
    row: Mapping[str, Any], text: str, where: str, flags: frozenset[str], backup: Backup, state: str, key: str
) -> Record:
    written = row.get("created_at")
    extra: dict[str, Any] = {name: row[name] for name in _KEPT if row.get(name) not in (None, "", {}, [])}
    app = backup.apps.get(str(row.get("app_id")), row.get("app"))
    extra |= {name: value for name, value in (("app", app), ("time_written", written)) if value is not None}
    if scopes := backup.scopes_of(key):
        extra["suggested_scopes"] = [{"client": s.client, "effect": s.effect, "memory": s.memory_id} for s in scopes]
    record = Record(
        identity=f"openmemory:{key}:{text_digest(text)}",
        text=text,
        where=where,
        status=Status.ARCHIVED if state in _HIDDEN else Status.ACTIVE,
        tags=backup.list_categories(row, key),
        ref=str(row["id"]) if row.get("id") else None,
        flags=tuple(flags),
        extra=extra,
    )
    return complete_fact(record, written)
