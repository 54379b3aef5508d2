"""Memories as the fields of an export, and the file that is written of them.

A text that was split is exported whole, messages of a conversation together and in their order. First the audit, then
the file: nothing leaves the vault without a trace. Must not do: decide what is exported, or shorten it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from core.engine.export.formats import (
    OBSIDIAN,
    ExportedMemory,
    Fields,
    check_destination,
    check_format,
    export_fault,
    render_export,
)
from core.engine.export.notes import pack_notes, read_links
from core.engine.runtime.storage import Storage
from core.errors import Code, EnvironmentFaultError, UserError
from core.memory.read import MEMORY_COLUMNS, read_by_ids, row_to_memory
from core.security.atomic import write_atomic
from core.text.times import format_time
from core.types.values import OWNER_ACTOR, Memory, When
from core.vault.database.rows import Rows, to_json
from core.vault.database.tx import Tx

_AT_ONCE = 2000
_PARTS = MEMORY_COLUMNS + " WHERE m.part_of IN (SELECT value FROM json_each(?)) ORDER BY m.part_index"  # noqa: S608
_CLAIMS = (
    "SELECT e.memory_id, c.subject, c.predicate, c.value, c.exclusive, c.polarity, c.qualifiers, c.valid_from, "
    "c.valid_to FROM evidence e JOIN claims c ON c.id = e.claim_id "
    "WHERE e.memory_id IN (SELECT value FROM json_each(?)) AND c.state NOT IN ('retracted', 'superseded') "
    "ORDER BY c.id DESC"
)


def write_export(storage: Storage, ids: Sequence[str], to: Path, format_name: str) -> int:
    """Write memories to a file.

    Args:
        format_name: one of `core.types.requests.EXPORT_ENDINGS`.

    Raises:
        UserError: INVALID_INPUT for another format or a place in Loci's home.
        EnvironmentFaultError: the file cannot be written there.
    """
    check_format(format_name)
    check_destination(to, storage.home.path)
    count, data = storage.vault.read(lambda rows: pack_export(rows, ids, format_name))
    _audit_export(storage, count, format_name)
    write_export_file(to, data)
    return count


def pack_export(rows: Rows, ids: Sequence[str], format_name: str) -> tuple[int, bytes]:
    """What a file of an export holds, and how many memories that are.

    Args:
        ids: the memories; unknown ones are left out.
        format_name: one that `check_format` lets pass.
    """
    found = read_exported(rows, ids)
    if format_name == OBSIDIAN:
        return len(found), pack_notes(found, read_links(rows, [one.id for one in found]))
    return len(found), render_export(found, format_name).encode("utf-8")


def write_export_file(to: Path, data: bytes) -> None:
    """Write a file that only the person may read; one that is there is replaced.

    Raises:
        EnvironmentFaultError: DISK_FULL, READ_ONLY or WRITE_FAILED, in the words of somebody who exports.
    """
    try:
        write_atomic(to, data)
    except EnvironmentFaultError as error:
        raise export_fault(error) from None


def record_export(storage: Storage, ids: Sequence[str], format_name: str) -> tuple[str, ...]:
    """Record that memories are exported, and return their order.

    Args:
        format_name: as for `write_export`.

    Returns:
        Ids in the order of an export, of a split text that of its first part.

    Raises:
        UserError: INVALID_INPUT for another format, and for one that is no text.
    """
    check_format(format_name)
    if format_name == OBSIDIAN:
        raise UserError(Code.INVALID_INPUT, "Notes are exported to a file; give it a name that ends in .zip.")
    found = storage.vault.read(
        lambda rows: [parts[0].id for parts in _order_by_origin(_read_whole_texts(rows, ids)[0])]
    )
    _audit_export(storage, len(found), format_name)
    return tuple(found)


def fields_of_parts(rows: Rows, ids: Sequence[str]) -> tuple[tuple[str, Fields], ...]:
    """Memories as the fields of an export, part by part, so that no piece is longer than a part.

    Args:
        ids: of `record_export`.

    Returns:
        Id and fields of each part in the order of the ids; of a later part the text alone.
    """
    whole, claims = _read_whole_texts(rows, ids)
    place = {memory_id: at for at, memory_id in enumerate(ids)}
    fields: list[tuple[str, Fields]] = []
    for parts in sorted(whole, key=lambda one: place.get(one[0].id, len(place))):
        fields.append((parts[0].id, _export_fields(parts[:1], claims.get(parts[0].id))))
        fields += [(part.id, {"text": part.text}) for part in parts[1:]]
    return tuple(fields)


def _audit_export(storage: Storage, count: int, format_name: str) -> None:
    def note_export(tx: Tx) -> None:
        with storage.work.verb(tx, "export", "Export memories", OWNER_ACTOR) as verb:
            verb.note_audit(memories=count, format=format_name)

    storage.write(note_export).result()


def read_exported(rows: Rows, ids: Sequence[str]) -> list[ExportedMemory]:
    """Memories as an export has them, messages of a conversation together and in their order.

    Args:
        ids: the memories; unknown ones are left out.
    """
    whole, claims = _read_whole_texts(rows, ids)
    return [
        ExportedMemory(parts[0].id, _export_fields(parts, claims.get(parts[0].id))) for parts in _order_by_origin(whole)
    ]


def _read_whole_texts(rows: Rows, ids: Sequence[str]) -> tuple[list[list[Memory]], dict[str, Fields]]:
    """Texts with all their parts, and what they claim."""
    memories: dict[str, Memory] = {}
    claims: dict[str, Fields] = {}
    wanted = list(dict.fromkeys(ids))
    for at in range(0, len(wanted), _AT_ONCE):
        some = read_by_ids(rows, wanted[at : at + _AT_ONCE])
        wholes = sorted({memory.part_of for memory in some.values() if memory.part_of is not None})
        some |= {m.id: m for m in (row_to_memory(row) for row in rows.all(_PARTS, (to_json(wholes),)))}
        memories |= some
        claims |= {row[0]: _claim_fields(row) for row in rows.all(_CLAIMS, (to_json(list(some)),))}
    texts: dict[str, list[Memory]] = {}
    for memory in memories.values():
        texts.setdefault(memory.part_of or memory.id, []).append(memory)
    return [sorted(parts, key=lambda part: part.part_index or 0) for parts in texts.values()], claims


def _order_by_origin(whole: Sequence[list[Memory]]) -> list[list[Memory]]:
    """Whole texts in the order of storing, those of one conversation together and by position."""
    first: dict[str, int] = {}
    for parts in whole:
        talk = parts[0].conversation_id or parts[0].id
        first[talk] = min(parts[0].n, first.get(talk, parts[0].n))
    return sorted(whole, key=lambda p: (first[p[0].conversation_id or p[0].id], p[0].position or 0, p[0].n))


def _export_fields(parts: Sequence[Memory], claim: Fields | None) -> Fields:
    memory = parts[0]
    fields: Fields = {
        "text": "".join(part.text for part in parts),
        "time": None if memory.occurred is None else format_time(memory.occurred),
        "author": memory.author or memory.role.value,
        "session": memory.session or memory.conversation_id,
        "ref": memory.ref,
        "kind": memory.kind.value,
        "category": memory.category,
        "importance": memory.importance,
        "tags": list(memory.tags),
        "source": memory.source.value,
        "space": memory.space,
        "status": None if memory.status.value == "active" else memory.status.value,
        "valid_from": _format_moment(memory.valid_from),
        "valid_to": _format_moment(memory.valid_to),
        "claim": claim,
    }
    return {name: value for name, value in fields.items() if value is not None and value != []}


def _claim_fields(row: tuple[Any, ...]) -> Fields:
    _, subject, predicate, value, exclusive, polarity, qualifiers, begin, end = row
    claim: Fields = {"subject": subject, "predicate": predicate, "value": value, "exclusive": bool(exclusive)}
    claim |= {"polarity": polarity, "qualifiers": json.loads(qualifiers)}
    claim |= {name: _format_moment(at) for name, at in (("valid_from", begin), ("valid_to", end)) if at is not None}
    return claim


def _format_moment(ms: int | None) -> str | None:
    return None if ms is None else format_time(When(ms))
