"""The tables of an archive, in their order, and those that are left out with the reason.

A table comes after those it refers to. What refers to a later row of its own table is filled in at the end
(`pointers`). Must not do: read or write a row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum

from core.archive.container import damaged_archive_error
from core.archive.records import TableRows
from core.config.options import Options
from core.config.retrieval import PREFIX


class ArchiveScope(IntEnum):
    """Which archives bring a table in."""

    NEVER = 0
    """It is in the archive to be read."""
    EMPTY_VAULT = 1
    """What decides for the person: only where the vault has no memories yet."""
    OWN_ARCHIVE = 2
    """Also from the vault's own archive."""
    ANY_ARCHIVE = 3
    """Also from another vault's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchivedTable:
    """One table of an archive.

    Attributes:
        key: columns that find one row; empty where the table has none.
        refs: column to the table it refers to.
        pointers: columns that refer to another row of the same table, maybe a later one.
        blank: columns that are not in an archive, with what stands in them after an import.
        times: columns that say when a row changed last; without any nobody knows.
        is_recorded: False for what is derived or counted and vanishes with its memory: undo need not know of it.
    """

    name: str
    key: tuple[str, ...]
    scope: ArchiveScope = ArchiveScope.OWN_ARCHIVE
    refs: Mapping[str, str] = field(default_factory=dict)
    pointers: tuple[str, ...] = ()
    blank: Mapping[str, object] = field(default_factory=dict)
    times: tuple[str, ...] = ()
    is_recorded: bool = True


_OF_MEMORY = {"memory_id": "memories"}
_BETWEEN = {"from_id": "memories", "to_id": "memories", "space_id": "spaces"}
_DECISION = ArchiveScope.EMPTY_VAULT
_ANY = ArchiveScope.ANY_ARCHIVE

_TABLES = (
    ArchivedTable(name="settings", key=("key",), scope=_DECISION),
    ArchivedTable(name="clients", key=("id",), blank={"token": b""}),
    ArchivedTable(name="spaces", key=("id",), scope=_ANY, refs={"client_id": "clients"}),
    ArchivedTable(name="imports", key=("id",), refs={"space_id": "spaces"}, blank={"location": "", "step_id": None}),
    ArchivedTable(
        name="conversations",
        key=("id",),
        scope=_ANY,
        refs={"space_id": "spaces", "client_id": "clients", "import_id": "imports"},
    ),
    ArchivedTable(name="rooms", key=("id",), refs={"space_id": "spaces"}, pointers=("parent_id",)),
    ArchivedTable(name="alcoves", key=("id",), refs={"room_id": "rooms"}),
    ArchivedTable(name="entities", key=("id",), refs={"space_id": "spaces"}, pointers=("merged_into_id",)),
    ArchivedTable(name="entity_aliases", key=("entity_id", "alias_key"), refs={"entity_id": "entities"}),
    ArchivedTable(
        name="memories",
        key=("id",),
        scope=_ANY,
        refs={
            "space_id": "spaces",
            "client_id": "clients",
            "conversation_id": "conversations",
            "import_id": "imports",
            "part_of": "memories",
        },
        pointers=("supersedes_id", "superseded_by_id", "consolidated_into"),
        times=("recorded_at", "last_confirmed_at", "retired_at"),
    ),
    # The content of files: what holds it comes right behind it, and its chunks last of all.
    ArchivedTable(name="stored_files", key=("id",), scope=_ANY, is_recorded=False),
    ArchivedTable(name="files", key=("id",), scope=_ANY, refs={**_OF_MEMORY, "stored_id": "stored_files"}),
    ArchivedTable(name="file_views", key=("id",), scope=_ANY, refs={**_OF_MEMORY, "file_id": "files"}),
    ArchivedTable(
        name="memory_sources",
        key=("memory_id", "lineage"),
        refs={**_OF_MEMORY, "client_id": "clients", "import_id": "imports"},
    ),
    ArchivedTable(name="episodes", key=("memory_id",), scope=_ANY, refs=_OF_MEMORY),
    ArchivedTable(name="rules", key=("memory_id",), refs=_OF_MEMORY, times=("last_applied_at",)),
    ArchivedTable(name="rule_applications", key=("id",), refs={**_OF_MEMORY, "client_id": "clients"}),
    ArchivedTable(name="procedures", key=("memory_id",), refs=_OF_MEMORY, times=("last_used_at",)),
    ArchivedTable(name="tiers", key=("memory_id", "tier"), refs=_OF_MEMORY, is_recorded=False),
    ArchivedTable(name="fingerprints", key=("identity",), refs=_OF_MEMORY),
    ArchivedTable(
        name="mentions",
        key=("memory_id", "entity_id", "start_at"),
        refs={**_OF_MEMORY, "entity_id": "entities"},
        is_recorded=False,
    ),
    ArchivedTable(
        name="claims",
        key=("id",),
        scope=_ANY,
        refs={"space_id": "spaces", "subject_entity_id": "entities", "object_entity_id": "entities"},
        pointers=("superseded_by_id",),
        times=("recorded_at", "asserted_at", "retired_at"),
    ),
    ArchivedTable(
        name="evidence", key=("id",), scope=_ANY, refs={"claim_id": "claims", **_OF_MEMORY, "space_id": "spaces"}
    ),
    ArchivedTable(name="edges", key=("id",), scope=_ANY, refs=_BETWEEN),
    ArchivedTable(
        name="derivations",
        key=("derived_id", "source_id"),
        scope=_ANY,
        refs={"derived_id": "memories", "source_id": "memories", "space_id": "spaces"},
    ),
    ArchivedTable(
        name="conflicts",
        key=("id",),
        refs={"existing_id": "memories", "incoming_id": "memories", "space_id": "spaces"},
        times=("opened_at", "closed_at"),
    ),
    ArchivedTable(name="approvals", key=("conflict_id",), refs={"conflict_id": "conflicts", "client_id": "clients"}),
    ArchivedTable(name="verdicts", key=("memory_id", "voice", "verdict"), refs={**_OF_MEMORY, "client_id": "clients"}),
    ArchivedTable(name="review_rules", key=("id",), scope=_DECISION, refs={"client_id": "clients"}),
    ArchivedTable(name="places", key=("memory_id",), refs={**_OF_MEMORY, "room_id": "rooms"}),
    ArchivedTable(name="landmarks", key=("room_id", "position"), refs={"room_id": "rooms", **_OF_MEMORY}),
    ArchivedTable(name="unset_landmarks", key=("memory_id",), refs=_OF_MEMORY),
    ArchivedTable(name="rehearsals", key=("memory_id",), refs=_OF_MEMORY, times=("last_at",)),
    ArchivedTable(name="inferred", key=("memory_id",), refs=_OF_MEMORY, is_recorded=False),
    ArchivedTable(name="readings", key=("memory_id",), refs=_OF_MEMORY),
    ArchivedTable(name="distilled", key=("memory_id",), refs=_OF_MEMORY),
    ArchivedTable(name="statements", key=("memory_id", "episode_id"), refs={**_OF_MEMORY, "episode_id": "memories"}),
    ArchivedTable(name="fading", key=("memory_id",), refs=_OF_MEMORY),
    ArchivedTable(name="spared", key=("memory_id",), refs=_OF_MEMORY),
    ArchivedTable(name="taken_back", key=("memory_id",), refs=_OF_MEMORY),
    ArchivedTable(name="replays", key=("memory_id",), refs=_OF_MEMORY),
    ArchivedTable(name="links", key=("from_id", "to_id"), refs=_BETWEEN),
    ArchivedTable(name="gaps", key=("id",), refs={**_OF_MEMORY, "other_id": "memories", "space_id": "spaces"}),
    ArchivedTable(name="gap_asks", key=(), refs={"gap_id": "gaps", "client_id": "clients"}),
    ArchivedTable(name="accesses", key=("memory_id", "session"), refs=_OF_MEMORY, is_recorded=False),
    ArchivedTable(
        name="handed",
        key=("client_id", "memory_id"),
        refs={**_OF_MEMORY, "client_id": "clients"},
        is_recorded=False,
    ),
    ArchivedTable(
        name="feedback",
        key=("id",),
        refs={**_OF_MEMORY, "client_id": "clients"},
        # Its context is a vector, and its receipt stays behind.
        blank={"receipt_id": None, "context": None, "vector_space": None},
        is_recorded=False,
    ),
    ArchivedTable(name="consolidation_log", key=("id",), blank={"step_id": None}),
    ArchivedTable(name="probes", key=("id",)),
    ArchivedTable(name="probe_runs", key=("id",), blank={"step_id": None}),
    ArchivedTable(name="seal_keys", key=("id",), scope=_ANY, times=("made_at",)),
    ArchivedTable(
        name="sealed_memories",
        key=("id",),
        scope=_ANY,
        refs={"key_id": "seal_keys", "space_id": "spaces"},
        times=("sealed_at",),
    ),
    ArchivedTable(
        name="sealed_files",
        key=("memory_id", "file_id"),
        refs={"memory_id": "sealed_memories"},
        is_recorded=False,
    ),
    ArchivedTable(name="stored_chunks", key=("file_id", "nr"), scope=_ANY, is_recorded=False),
    ArchivedTable(name="denied", key=("name_key",), scope=_DECISION),
    ArchivedTable(name="tombstones", key=("digest",)),
    ArchivedTable(name="audit", key=("nr",), scope=ArchiveScope.NEVER),
)
TABLES: Mapping[str, ArchivedTable] = {table.name: table for table in _TABLES}

OCTET_KEYS: Mapping[str, str] = {"fingerprints": "identity", "tombstones": "digest"}
"""Tables whose key is one column of octets."""
TEXT_KEYS: Mapping[str, str] = {
    table.name: table.key[0]
    for table in _TABLES
    if len(table.key) == 1 and table.name not in OCTET_KEYS and table.scope is not ArchiveScope.NEVER
}
"""Tables whose key is one column of text."""

LEFT_OUT: Mapping[str, str] = {
    "contexts": "expire within days, and belong to a receipt",
    "embeddings": "are made anew from the texts",
    "grants": "say who comes in here; another vault's clients are paired anew",
    "job_deeds": "of a job that runs",
    "jobs": "are run again where they are due",
    "receipts": "expire within days",
    "requests": "answer calls that are repeated within minutes",
    "schema_version": "is the schema's own",
    "sync_devices": "say who this very device is, and whom it knows",
    "sync_invitations": "are over within the hour",
    "sync_keys": "seal the bundles of this device's group",
    "sync_rows": "are stamps of this device's group",
    "sync_state": "is this very device's, and holds its keys",
    "tunings": "belong to undo steps",
    "undo_rows": "name rows as they were in that vault at that time",
    "undo_steps": "name rows as they were in that vault at that time",
    "vault_state": "is the vault's own",
    "vector_spaces": "are made anew with the vectors",
    "watched_files": "are files of this very machine",
    "watched_folders": "are folders of this very machine",
    "watched_log": "tells of folders of this very machine",
    "watched_records": "are of files of this very machine",
    "working": "of sessions that are over",
}
"""Tables that are in no archive, and why."""

_KEPT_SETTINGS = frozenset({"graph_views", "tombstone_key"})
"""Settings besides the options: views of the graph, and the key of tombstones, without which those mean nothing."""


def is_archived_setting(key: str) -> bool:
    """Whether a setting is the person's; the others are notes of jobs, of this vault alone."""
    return key in Options.model_fields or key.startswith(PREFIX) or key in _KEPT_SETTINGS


_USED: Mapping[str, tuple[str, ...]] = {
    "clients": ("name", "revoked_at"),
    "spaces": ("name",),
    "imports": ("state",),
    "conversations": ("identity", "title", "extra"),
    "entities": ("name", "type"),
    "memories": (
        "kind", "status", "status_reason", "text", "content_hash", "category", "tags", "role", "author", "session",
        "scope_session", "scope_channel", "ref", "origin", "lineage", "part_index", "flags", "extra", "occurred_at",
        "trust", "confidence", "chain_id", "source",
    ),
    "claims": ("claim_key", "subject", "predicate", "value", "state", "qualifiers"),
    "evidence": ("quote", "lineage"),
    "edges": ("made_by",),
}  # fmt: skip
"""Columns that are looked at here; every version of the schema has them."""


def check_table(batch: TableRows, columns_of: Callable[[str], Iterable[str]]) -> ArchivedTable:
    """The table of some rows of an archive.

    Args:
        columns_of: gives the columns that a table has in this vault.

    Raises:
        UserError: IMPORT_REFUSED; no vault has such a table, or the rows lack what every vault has.
    """
    table = TABLES.get(batch.table)
    if table is None:
        raise damaged_archive_error("it holds a table that no vault has")
    given, known = set(batch.columns), frozenset(columns_of(table.name))
    needed = {*table.key, *table.refs, *table.pointers, *table.times, *_USED.get(table.name, ())}
    if len(given) < len(batch.columns) or not needed <= given <= known - table.blank.keys():
        raise damaged_archive_error("a table of it has other columns than a vault's")
    return table
