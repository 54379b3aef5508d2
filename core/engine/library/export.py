"""Writes chosen memories to one file: JSON lines that come back through the importer, JSON, Markdown or CSV.

The file changes whole or not at all and is the person's own (mode 0600). A text that was split is one memory again.
Must not do: change a text, write into Loci's own home, or name the file in the vault.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from core.engine.library.export_format import Fields, check_format, rendered
from core.engine.runtime.open_vault import OpenVault
from core.errors import Code, EnvironmentFaultError, UserError
from core.memory.draft import to_json
from core.memory.read import MEMORY_COLUMNS, read_by_ids, row_to_memory
from core.security.atomic import write_atomic
from core.text.times import format_time
from core.types.values import OWNER_ACTOR, Memory, When
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

_AT_ONCE = 2000
_PARTS = MEMORY_COLUMNS + " WHERE m.part_of IN (SELECT value FROM json_each(?)) ORDER BY m.part_index"  # noqa: S608
_CLAIMS = (
    "SELECT e.memory_id, c.subject, c.predicate, c.value, c.exclusive, c.polarity, c.qualifiers, c.valid_from, "
    "c.valid_to FROM evidence e JOIN claims c ON c.id = e.claim_id "
    "WHERE e.memory_id IN (SELECT value FROM json_each(?)) AND c.state NOT IN ('retracted', 'superseded') "
    "ORDER BY c.id DESC"
)


def write_export(opened: OpenVault, ids: Sequence[str], to: Path, format_name: str) -> int:
    """Write memories to a file.

    Args:
        to: the file.
        format_name: `jsonl`, `json`, `markdown` or `csv`.

    Returns:
        How many were written.

    Raises:
        UserError: INVALID_INPUT for another format or a place in Loci's home.
        EnvironmentFaultError: the file cannot be written there.
    """
    check_format(format_name)
    if to.resolve().is_relative_to(opened.home.path.resolve()):
        raise UserError(Code.INVALID_INPUT, "That folder is Loci's own; choose another place for the export.")
    found = opened.vault.read(lambda rows: export_fields(rows, ids))
    data = rendered(found, format_name).encode("utf-8")
    # First the audit, then the file: nothing leaves the vault without a trace.
    _put_down(opened, len(found), format_name)
    try:
        write_atomic(to, data)
    except EnvironmentFaultError as error:
        if error.code is Code.DISK_FULL:
            raise EnvironmentFaultError(Code.DISK_FULL, "The disk is full; make room and export again.") from None
        raise EnvironmentFaultError(error.code, "The file cannot be written there; choose another place.") from None
    return len(found)


def record_export(opened: OpenVault, ids: Sequence[str], format_name: str) -> tuple[str, ...]:
    """Record that memories are exported, and return their order.

    Args:
        format_name: as for `write_export`.

    Returns:
        Ids in the order of an export, of a split text that of its first part.

    Raises:
        UserError: INVALID_INPUT for another format.
    """
    check_format(format_name)
    found = opened.vault.read(lambda rows: [parts[0].id for parts in _in_order(_wholes(rows, ids)[0])])
    _put_down(opened, len(found), format_name)
    return tuple(found)


def fields_of_parts(rows: Rows, ids: Sequence[str]) -> tuple[tuple[str, Fields], ...]:
    """Memories as the fields of an export, part by part, so that no piece is longer than a part.

    Args:
        ids: of `record_export`.

    Returns:
        Id and fields of each part in the order of the ids; of a later part the text alone.
    """
    whole, claims = _wholes(rows, ids)
    place = {memory_id: at for at, memory_id in enumerate(ids)}
    told: list[tuple[str, Fields]] = []
    for parts in sorted(whole, key=lambda one: place.get(one[0].id, len(place))):
        told.append((parts[0].id, _fields(parts[:1], claims.get(parts[0].id))))
        told += [(part.id, {"text": part.text}) for part in parts[1:]]
    return tuple(told)


def _put_down(opened: OpenVault, count: int, format_name: str) -> None:
    def note(tx: Tx) -> None:
        with opened.work.verb(tx, "export", "Export memories", OWNER_ACTOR) as verb:
            verb.note(memories=count, format=format_name)

    opened.write(note).result()


def export_fields(rows: Rows, ids: Sequence[str]) -> list[Fields]:
    """Memories as the fields of an export, messages of a conversation together and in their order.

    Args:
        ids: the memories; unknown ones are left out.

    Returns:
        One mapping a memory; what is unknown is missing.
    """
    whole, claims = _wholes(rows, ids)
    return [_fields(parts, claims.get(parts[0].id)) for parts in _in_order(whole)]


def _wholes(rows: Rows, ids: Sequence[str]) -> tuple[list[list[Memory]], dict[str, Fields]]:
    """Texts with all their parts, and what they claim."""
    memories: dict[str, Memory] = {}
    claims: dict[str, Fields] = {}
    wanted = list(dict.fromkeys(ids))
    for at in range(0, len(wanted), _AT_ONCE):
        some = read_by_ids(rows, wanted[at : at + _AT_ONCE])
        wholes = sorted({memory.part_of for memory in some.values() if memory.part_of is not None})
        some |= {m.id: m for m in (row_to_memory(row) for row in rows.all(_PARTS, (to_json(wholes),)))}
        memories |= some
        claims |= {row[0]: _claim(row) for row in rows.all(_CLAIMS, (to_json(list(some)),))}
    texts: dict[str, list[Memory]] = {}
    for memory in memories.values():
        texts.setdefault(memory.part_of or memory.id, []).append(memory)
    return [sorted(parts, key=lambda part: part.part_index or 0) for parts in texts.values()], claims


def _in_order(whole: Sequence[list[Memory]]) -> list[list[Memory]]:
    first: dict[str, int] = {}
    for parts in whole:
        talk = parts[0].conversation_id or parts[0].id
        first[talk] = min(parts[0].n, first.get(talk, parts[0].n))
    return sorted(whole, key=lambda p: (first[p[0].conversation_id or p[0].id], p[0].position or 0, p[0].n))


def _fields(parts: Sequence[Memory], claim: Fields | None) -> Fields:
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
        "valid_from": _moment(memory.valid_from),
        "valid_to": _moment(memory.valid_to),
        "claim": claim,
    }
    return {name: value for name, value in fields.items() if value is not None and value != []}


def _claim(row: tuple[Any, ...]) -> Fields:
    _, subject, predicate, value, exclusive, polarity, qualifiers, begin, end = row
    claim: Fields = {"subject": subject, "predicate": predicate, "value": value, "exclusive": bool(exclusive)}
    claim |= {"polarity": polarity, "qualifiers": json.loads(qualifiers)}
    claim |= {name: _moment(at) for name, at in (("valid_from", begin), ("valid_to", end)) if at is not None}
    return claim


def _moment(ms: int | None) -> str | None:
    return None if ms is None else format_time(When(ms))
