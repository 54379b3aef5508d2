"""Which rows are synchronised, and the registers they are made of.

A row is found by its table and key on every device. Its columns form *registers*: columns that only make sense
together, with the stamp of whoever wrote them last. A row that comes or goes gets a new *birth* stamp, which counts
before all others. The triggers of `009_devices.sql` write the stamps; a test holds them against this list. References
to spaces, clients and conversations go by name, since every vault has ids of its own for those. Must not do: read or
write a row.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

ROW = "row"
"""The register of a table that has one alone."""
PLACE_COLUMNS = frozenset({"client_id", "conversation_id", "space_id"})
"""Columns that go by name, since every vault has ids of its own for those."""
STAMP = re.compile(r"[0-9a-f]{32}", re.ASCII)
"""16 digits of the hybrid logical clock (48 bits of epoch ms, 16 bits of a counter), then the device."""
LAST_CLOCK = 1 << 62
"""Beyond the year 4000: no clock that counts says so."""


class RowPresence(IntEnum):
    """Whether a row is there."""

    ABSENT = 0
    PRESENT = 1
    ERASED = 2
    """For good: no stamp brings it back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncedTable:
    """One table.

    Attributes:
        key: columns that find one row.
        registers: name to columns.
        sent: columns that a new row is given and that are nobody's decision afterwards.
        parents: column to the table a row cannot be without.
        pointers: columns that refer to a row that may be gone, with its table.
        since: SQL for when a row changed last, as far as it tells; in epoch ms.
        only: SQL condition on a row `new.`; empty for all rows.
    """

    name: str
    key: tuple[str, ...]
    registers: Mapping[str, tuple[str, ...]]
    sent: tuple[str, ...] = ()
    parents: Mapping[str, str] = field(default_factory=dict)
    pointers: Mapping[str, str] = field(default_factory=dict)
    since: str = "0"
    only: str = ""

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns of all registers."""
        return tuple(name for columns in self.registers.values() for name in columns)


_OF_MEMORY = {"memory_id": "memories"}
_STANDING_CONFLICTS = "new.kind NOT IN ('entity_merge', 'gap')"

_TABLES = (
    SyncedTable(
        name="memories",
        key=("id",),
        registers={
            "content": (
                "kind", "text", "content_hash", "client_id", "source", "role", "author", "session", "scope_session",
                "scope_channel", "conversation_id", "position", "ref", "origin", "lineage", "part_of", "part_index",
                "occurred_at", "occurred_prec", "occurred_offset", "recorded_at",
            ),
            "space": ("space_id",),
            "labels": ("category", "tags"),
            "importance": ("importance",),
            "marks": ("flags", "extra", "security_tier"),
            "pin": ("pinned",),
            "validity": ("valid_from", "valid_from_prec", "valid_to", "valid_to_prec"),
            "standing": ("status", "status_reason", "retired_at"),
            "version": ("supersedes_id", "superseded_by_id", "consolidated_into", "chain_id", "version"),
            "votes": ("reinforcements", "disputes", "last_confirmed_at", "permanence"),
        },
        sent=("trust", "confidence", "corroboration", "strength"),
        parents={"part_of": "memories"},
        pointers={"supersedes_id": "memories", "superseded_by_id": "memories", "consolidated_into": "memories"},
        since="max(recorded_at, coalesce(retired_at, 0), last_confirmed_at)",
    ),
    SyncedTable(
        name="memory_sources",
        key=("memory_id", "lineage"),
        registers={ROW: ("source", "client_id", "session", "at")},
        parents=_OF_MEMORY,
        since="at",
    ),
    SyncedTable(
        name="episodes",
        key=("memory_id",),
        registers={ROW: ("outcome", "participants", "valence", "arousal", "consolidated_at", "expires_at")},
        parents=_OF_MEMORY,
        since="coalesce(consolidated_at, 0)",
    ),
    SyncedTable(
        name="rules",
        key=("memory_id",),
        registers={
            ROW: (
                "maturity", "helpful", "harmful", "is_antipattern", "original_text", "effectiveness", "last_applied_at",
                "needs_inversion",
            )
        },
        parents=_OF_MEMORY,
        since="coalesce(last_applied_at, 0)",
    ),
    SyncedTable(
        name="procedures",
        key=("memory_id",),
        registers={
            ROW: ("steps", "tools", "trigger_cues", "successes", "failures", "avg_ms", "last_used_at"),
        },
        parents=_OF_MEMORY,
        since="coalesce(last_used_at, 0)",
    ),
    SyncedTable(name="fingerprints", key=("identity",), registers={ROW: ("memory_id",)}, parents=_OF_MEMORY),
    SyncedTable(
        name="claims",
        key=("id",),
        registers={
            "content": (
                "space_id", "subject", "subject_key", "predicate", "value", "value_key", "exclusive", "polarity",
                "scope_session", "extracted_by", "recorded_at",
            ),
            "terms": ("claim_key", "qualifiers", "valid_from", "valid_from_prec", "valid_to", "valid_to_prec"),
            "standing": ("state", "superseded_by_id", "asserted_at", "retired_at"),
        },
        sent=("confidence",),
        pointers={"superseded_by_id": "claims"},
        since="max(recorded_at, coalesce(asserted_at, 0), coalesce(retired_at, 0))",
    ),
    SyncedTable(
        name="evidence",
        key=("id",),
        registers={
            ROW: (
                "claim_id", "memory_id", "space_id", "quote", "start_at", "end_at", "span_hash", "stance", "confidence",
                "method", "lineage", "observed_at", "recorded_at",
            )
        },
        parents={"claim_id": "claims", **_OF_MEMORY},
        since="recorded_at",
    ),
    SyncedTable(
        name="edges",
        key=("id",),
        registers={ROW: ("from_id", "to_id", "type", "space_id", "weight", "made_by", "recorded_at")},
        parents={"from_id": "memories", "to_id": "memories"},
        since="recorded_at",
    ),
    SyncedTable(
        name="derivations",
        key=("derived_id", "source_id"),
        registers={ROW: ("space_id", "recorded_at")},
        parents={"derived_id": "memories", "source_id": "memories"},
        since="recorded_at",
    ),
    SyncedTable(
        name="statements",
        key=("memory_id", "episode_id"),
        registers={ROW: ("start_at", "end_at", "about", "type", "lasting", "confidence", "operation", "made_by")},
        parents={**_OF_MEMORY, "episode_id": "memories"},
    ),
    SyncedTable(
        name="readings",
        key=("memory_id",),
        registers={ROW: ("version", "content_hash", "small_talk", "at")},
        parents=_OF_MEMORY,
        since="at",
    ),
    SyncedTable(
        name="conflicts",
        key=("id",),
        registers={
            "item": ("kind", "existing_id", "incoming_id", "space_id", "reason", "fingerprint", "opened_at"),
            "standing": ("state", "resolution", "note", "closed_at"),
        },
        sent=("suggestion", "confidence", "detail"),
        parents={"existing_id": "memories", "incoming_id": "memories"},
        since="max(opened_at, coalesce(closed_at, 0))",
        only=_STANDING_CONFLICTS,
    ),
    SyncedTable(
        name="approvals",
        key=("conflict_id",),
        registers={ROW: ("verb", "client_id", "reason", "asked_at")},
        parents={"conflict_id": "conflicts"},
        since="asked_at",
    ),
    SyncedTable(
        name="verdicts",
        key=("memory_id", "voice", "verdict"),
        registers={ROW: ("client_id", "times", "reason", "at")},
        parents=_OF_MEMORY,
        since="at",
    ),
    SyncedTable(name="seal_keys", key=("id",), registers={ROW: ("slots", "made_at")}, since="made_at"),
    SyncedTable(
        name="sealed_memories",
        key=("id",),
        registers={ROW: ("key_id", "space_id", "kind", "label", "body", "sealed_at")},
        parents={"key_id": "seal_keys"},
        sent=("summary",),
        since="sealed_at",
    ),
)  # fmt: skip
TABLES: Mapping[str, SyncedTable] = {table.name: table for table in _TABLES}
"""In an order in which a row comes after those it refers to."""

_OCTET_KEYS = frozenset({"fingerprints"})


def key_text(table: SyncedTable, row: Mapping[str, Any]) -> str:
    """A row's key as one text, as the triggers write it."""
    if table.name in _OCTET_KEYS:
        return str(row[table.key[0]].hex())
    if len(table.key) == 1:
        return str(row[table.key[0]])
    return json.dumps([row[name] for name in table.key], ensure_ascii=False, separators=(",", ":"))


def parse_key(table: SyncedTable, text: str) -> dict[str, Any] | None:
    """Undo `key_text`.

    Returns:
        Column to value; None for what is no key of this table.
    """
    try:
        if table.name in _OCTET_KEYS:
            return {table.key[0]: bytes.fromhex(text)}
        parts = [text] if len(table.key) == 1 else json.loads(text)
    except ValueError:
        return None
    if not isinstance(parts, list) or len(parts) != len(table.key) or not all(isinstance(one, str) for one in parts):
        return None
    return dict(zip(table.key, parts, strict=True))


def key_sql(table: SyncedTable, alias: str) -> str:
    """`key_text` in SQL.

    Args:
        alias: `new`, `old`, or the table's.
    """
    if table.name in _OCTET_KEYS:
        return f"lower(hex({alias}.{table.key[0]}))"
    if len(table.key) == 1:
        return f"{alias}.{table.key[0]}"
    return "json_array(" + ", ".join(f"{alias}.{name}" for name in table.key) + ")"


@dataclass(frozen=True, slots=True)
class RowStamps:
    """The stamps of one row.

    Attributes:
        born: when it came or went.
        later: register to stamp, of those that were written since.
    """

    presence: RowPresence
    born: str
    later: Mapping[str, str]

    def stamp_of(self, register: str) -> str:
        """When a register was written last."""
        return self.later.get(register, self.born)


def next_stamp(stamps: Sequence[str], decision: str) -> str:
    """The stamp of what follows from several writes by itself: right behind the last of them, alike on every device.

    Two devices that know different rows may decide differently behind the same write; so the decision is in the stamp,
    where another stamp has its device, and one of the two counts everywhere.

    Args:
        stamps: at least one.
        decision: what is written, in words and ids.
    """
    after = clock_of(max(stamps)) + 1
    return f"{after:016x}{hashlib.sha256(decision.encode()).hexdigest()[:16]}"


def clock_of(stamp: str) -> int:
    """The clock's part of a stamp."""
    return int(stamp[:16], 16)
