"""Bringing the rows of an archive into a vault: batches, each one transaction, all of one undo step.

Ids stay. A row whose key is here already is passed over, or takes the place of an older one where the archive is the
vault's own; what stands here under another id is not stored twice, and what refers to it refers to that. What refers
to a row that was not taken is not taken either. Must not do: read a file, decide how far an archive is trusted.
"""

from __future__ import annotations

import hashlib
import secrets
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from core.archive.records import TableRows
from core.errors import Code, LociError
from core.intake.archive.comparison import ArchiveTally, Meeting, compare_row, find_twin, read_rows_by_key
from core.intake.archive.foreign_rows import CEILING, ForeignOrigin, adapt_foreign_row, screen_foreign_memory
from core.intake.archive.snapshot import read_columns
from core.intake.archive.tables import ArchivedTable, ArchiveScope, check_table, is_archived_setting
from core.intake.claims import sync_claims
from core.intake.store.import_batch import LABEL, VERB, ImportRun, tally_json
from core.intake.transaction.admission import erased_texts
from core.intake.transaction.unit_of_work import UnitOfWork
from core.intake.transitions.injection_hold import raise_review
from core.intake.transitions.review_items import open_review
from core.memory.write import PROCEDURES, forget_vector, procedure_columns, refresh_terms, reserve_labels
from core.types.values import GLOBAL_SPACE, HOME_SPACE, OWNER_ACTOR
from core.vault.database.rows import to_json
from core.vault.database.tx import Tx
from core.vault.memory_sql import IMPORT_LABELS

AT_ONCE = 500
"""Rows of one statement, memories whose claims are brought in step at once."""

_EVERYWHERE = frozenset({GLOBAL_SPACE, HOME_SPACE})
_TOKEN_BYTES = 32
_REFUSALS = frozenset({Code.BUG, Code.CYCLE, Code.INVALID_INPUT})  # what a constraint of the schema says
_OWN_PARENTS = frozenset({"memories", "claims", "conversations", "files", "stored_files"})
"""What a row of another vault may hang on only where it is of that vault."""
_OURS_STAYS = frozenset({"tombstone_key"})
_TWINS_IN_EMPTY_VAULT = frozenset({"clients", "spaces", "stored_files"})

Fields = dict[str, Any]
Pointer = tuple[str, object, Mapping[str, object]]
"""Table, id, and the columns that refer to other rows of the table."""


@dataclass(frozen=True, slots=True)
class _Incoming:
    """A row that would be stored.

    Attributes:
        fields: as it would stand here.
        pointers: what of it is filled in at the end.
        given: as the archive has it, its references resolved; what a restored vault holds is that.
    """

    fields: Fields
    pointers: Mapping[str, object]
    given: Fields


class Restoration:
    """One archive on its way in.

    Attributes:
        tally: what it brought so far.
        pointers: references between rows of one table, for `store_pointers` at the end.
    """

    def __init__(
        self,
        make_id: Callable[[], str],
        work: UnitOfWork,
        run: ImportRun,
        scope: ArchiveScope,
        vault: str,
    ) -> None:
        """Begin; the import's row and its step are there.

        Args:
            scope: which tables come in: EMPTY_VAULT for one that becomes what the archive holds, OWN_ARCHIVE for
                the vault's own, ANY_ARCHIVE for another vault's.
            vault: id of the vault it was made of, hexadecimal.
        """
        self._make_id, self._work, self._run, self._scope, self._vault = make_id, work, run, scope, vault
        self._origin: ForeignOrigin | None = None
        self._twins: dict[str, dict[object, object]] = defaultdict(dict)
        self._absent: dict[str, set[object]] = defaultdict(set)
        self._taken: dict[str, set[object]] = defaultdict(set)
        self._known: dict[str, set[object]] = defaultdict(set)
        self._labels: list[list[int]] = []
        self.pointers: list[Pointer] = []
        self.tally = ArchiveTally()

    @property
    def stored_memories(self) -> list[str]:
        """Ids of the memories that are new."""
        return [str(one) for one in self._taken["memories"]]

    def screen_ahead(self, batch: TableRows) -> None:
        """Scan what will be scanned, before its transaction: a scan must not hold up other writers."""
        if self._scope is ArchiveScope.ANY_ARCHIVE and batch.table == "memories":
            for row in batch.as_mappings():
                if isinstance(row.get("text"), str):
                    screen_foreign_memory(row)

    def store_batches(self, tx: Tx, batches: Sequence[TableRows], position: int) -> None:
        """Store some batches.

        Args:
            position: rows of the archive so far.

        Raises:
            UserError: IMPORT_REFUSED; the archive holds what no vault does.
        """
        with self._running(tx, position) as verb_tx:
            for batch in batches:
                table = check_table(batch, lambda name: read_columns(tx, name))
                if table.scope >= self._scope:
                    self._store_rows(verb_tx, table, batch)

    def store_pointers(self, tx: Tx, some: Sequence[Pointer], position: int) -> None:
        """Fill in what refers to rows of the same table.

        Args:
            some: of `pointers`.
        """
        with self._running(tx, position):
            for table, row_id, columns in some:
                changes = {name: self._resolve(table, value) for name, value in columns.items()}
                changes = {name: value for name, value in changes.items() if value is not None}
                _attempt(tx, lambda: tx.update(table, {"id": row_id}, changes))  # noqa: B023 - called at once

    def bring_claims_in_step(self, tx: Tx, memory_ids: Sequence[str], position: int) -> None:
        """Let the claims of another vault's memories stand where nothing here excludes them.

        Args:
            memory_ids: of `stored_memories`.
        """
        with self._running(tx, position):
            sync_claims(tx, self._make_id, memory_ids)

    @contextmanager
    def _running(self, tx: Tx, position: int) -> Iterator[Tx]:
        # The gate is open as for an undo: rows come in as they stood, and not by the ways of a verb.
        with self._work.verb(tx, VERB, LABEL, OWNER_ACTOR, step_id=self._run.step_id, keep_open=True) as verb:
            with tx.purge():
                yield tx
            verb.note_audit(self._run.id, phase="batch", position=position)
        if self._labels:
            _note_labels(tx, self._run.id, self._labels)
        tx.run(
            "UPDATE imports SET position = ?, summary = ? WHERE id = ?",
            (position, to_json(tally_json(self.tally)), self._run.id),
        )

    # ---- one batch

    def _store_rows(self, tx: Tx, table: ArchivedTable, batch: TableRows) -> None:
        fitting = []
        for row in batch.as_mappings():
            if table.name == "spaces" and row["id"] in _EVERYWHERE:
                continue
            if table.name == "stored_chunks" and self._is_left_content(row["file_id"]):
                continue
            fitted = self._fit_row(tx, table, row)
            if fitted is None:
                self._leave_row(table, row, Meeting.REFUSED)
            else:
                fitting.append(fitted)
        new = self._select_new(tx, table, fitting)
        if table.name == "memories" and self._scope is ArchiveScope.ANY_ARCHIVE:
            new = self._keep_among_themselves(table, new)
        self._insert_rows(tx, table, new)

    def _is_left_content(self, file_id: object) -> bool:
        """Whether the content of a file was not taken, or is here already in chunks of its own."""
        if self._scope is ArchiveScope.ANY_ARCHIVE:  # its chunks join no content but its own, and none is of nobody
            return file_id not in self._taken["stored_files"] and file_id not in self._known["stored_files"]
        return file_id in self._twins["stored_files"] or file_id in self._absent["stored_files"]

    def _keep_among_themselves(self, table: ArchivedTable, new: Sequence[_Incoming]) -> list[_Incoming]:
        """New memories of another vault that are parts and versions of its own memories alone."""
        own = self._taken[table.name] | {one.fields["id"] for one in new}
        kept: list[_Incoming] = []
        for one in new:
            if one.fields["part_of"] is not None and one.fields["part_of"] not in own:
                self._leave_row(table, one.fields, Meeting.REFUSED)
            elif one.fields["chain_id"] not in own:
                kept.append(replace(one, fields={**one.fields, "chain_id": one.fields["id"]}))
            else:
                kept.append(one)
        return kept

    def _fit_row(self, tx: Tx, table: ArchivedTable, row: Fields) -> _Incoming | None:
        """The row as it would stand here; None where it may not, or something it rests on is not here."""
        fields = {**row, **table.blank}
        if table.name == "settings" and not is_archived_setting(str(fields["key"])):
            return None
        for column, parent in table.refs.items():
            if fields[column] in self._absent[parent]:
                return None
            fields[column] = self._twins[parent].get(fields[column], fields[column])
        pointers = {name: fields[name] for name in table.pointers if fields[name] is not None}
        fields |= dict.fromkeys(table.pointers)
        fields |= _fill_in(table.name, fields, tx.now_ms)
        if self._scope is ArchiveScope.ANY_ARCHIVE:
            adapted = self._adapt_foreign(tx, table, fields)
            return None if adapted is None else _Incoming(adapted, pointers, fields)
        return _Incoming(fields, pointers, fields)

    def _adapt_foreign(self, tx: Tx, table: ArchivedTable, fields: Fields) -> Fields | None:
        """A row of another vault hangs on rows of that vault alone, and on claims that say the same."""
        if self._origin is None:
            client = _ensure_foreign_client(tx, self._make_id, self._vault)
            self._origin = ForeignOrigin(self._vault, client, self._run.id, self._run.space_id)
        for column, parent in table.refs.items():
            value = fields[column]
            if value is not None and parent != table.name and parent in _OWN_PARENTS:
                same = self._known[parent] if parent == "conversations" else frozenset()
                twins = frozenset() if parent == "memories" else self._twins[parent].values()
                if value not in self._taken[parent] and value not in same and value not in twins:
                    return None
        if table.name == "stored_files" and tx.one("SELECT 1 FROM sealed_files WHERE file_id = ?", (fields["id"],)):
            return None  # the memory that is sealed with that content could not come back
        return adapt_foreign_row(table.name, fields, self._origin, tx.now_ms)

    def _select_new(self, tx: Tx, table: ArchivedTable, rows: Sequence[_Incoming]) -> list[_Incoming]:
        """Those that are not here yet; the others are counted, and brought up to date where they are older."""
        present = _read_present(
            tx, table, [one.fields for one in rows], is_empty=self._scope is ArchiveScope.EMPTY_VAULT
        )
        erased = (
            erased_texts(tx, (one.fields["text"] for one in rows)) if table.name == "memories" else frozenset[str]()
        )
        new: list[_Incoming] = []
        for one in rows:
            current = present.get(_key_of(table, one.fields))
            if current is None and not table.key and one.fields["gap_id"] not in self._taken["gaps"]:
                self._leave_row(table, one.fields, Meeting.KNOWN)
            elif current is not None:
                self._meet_row(tx, table, one, current)
            elif erased and one.fields["text"] in erased:
                self._leave_row(table, one.fields, Meeting.ERASED)
            elif (twin := self._find_twin(tx, table, one.fields)) is not None:
                self._twins[table.name][one.fields["id"]] = twin
                self.tally.count_row(table.name, one.fields, Meeting.TWIN)
            else:
                new.append(one)
        return new

    def _find_twin(self, tx: Tx, table: ArchivedTable, fields: Fields) -> str | None:
        if self._scope is ArchiveScope.EMPTY_VAULT and table.name not in _TWINS_IN_EMPTY_VAULT:
            return None
        found = find_twin(tx, table.name, fields)
        return None if found in self._taken[table.name] else found

    def _meet_row(self, tx: Tx, table: ArchivedTable, one: _Incoming, current: Mapping[str, Any]) -> None:
        is_foreign = self._scope is ArchiveScope.ANY_ARCHIVE
        fields = {**one.fields, **{name: self._resolve(table.name, value) for name, value in one.pointers.items()}}
        if is_foreign and "import_id" in fields:
            fields["import_id"] = current["import_id"]  # of which of two imports of one archive it is makes no odds
        meeting = compare_row(table, fields, current, may_change=not is_foreign)
        if is_foreign and meeting is Meeting.DIFFERENT:
            meeting = compare_row(table, {**one.given, **one.pointers}, current, may_change=False)
        if (
            meeting is Meeting.DIFFERENT
            and table.scope is ArchiveScope.EMPTY_VAULT
            and fields[table.key[0]] not in _OURS_STAYS
        ):
            meeting = Meeting.NEWER
        if meeting is Meeting.NEWER and not self._update_row(tx, table, one, current):
            meeting = Meeting.DIFFERENT
        if meeting is Meeting.KNOWN and len(table.key) == 1:
            self._known[table.name].add(fields[table.key[0]])
        self.tally.count_row(table.name, fields, meeting)

    def _update_row(self, tx: Tx, table: ArchivedTable, one: _Incoming, current: Mapping[str, Any]) -> bool:
        passed_over = {"n", *table.key, *table.blank, *table.pointers}
        changes = {name: value for name, value in one.fields.items() if name not in passed_over}
        if not _attempt(tx, lambda: tx.update(table.name, {name: current[name] for name in table.key}, changes)):
            return False
        if one.pointers:
            self.pointers.append((table.name, current["id"], one.pointers))
        if table.name == "memories":
            if current["text"] != one.fields["text"]:
                forget_vector(tx, int(current["n"]))
            refresh_terms(tx, [str(current["id"])])
        return True

    def _resolve(self, table: str, value: object) -> object:
        """The row a pointer means here; None where it is not here."""
        if value in self._absent[table]:
            return None
        found = self._twins[table].get(value, value)
        return found if self._scope is not ArchiveScope.ANY_ARCHIVE or found in self._taken[table] else None

    def _insert_rows(self, tx: Tx, table: ArchivedTable, rows: Sequence[_Incoming]) -> None:
        if table.name == "memories" and rows:
            first = reserve_labels(tx, len(rows))
            rows = [replace(one, fields={**one.fields, "n": first + place}) for place, one in enumerate(rows)]
        recorder = tx.recorder
        tx.recorder = recorder if table.is_recorded else None
        try:
            kept = self._insert_together_or_singly(tx, table, rows)
        finally:
            tx.recorder = recorder
        for one in kept:
            self.tally.count_row(table.name, one.fields, Meeting.NEW)
            if len(table.key) == 1:
                self._taken[table.name].add(one.fields[table.key[0]])
            if one.pointers:
                self.pointers.append((table.name, one.fields["id"], one.pointers))
        if table.name == "memories":
            self._finish_memories(tx, [one.fields for one in kept])

    def _insert_together_or_singly(
        self, tx: Tx, table: ArchivedTable, rows: Sequence[_Incoming]
    ) -> Sequence[_Incoming]:
        for at in range(0, len(rows), AT_ONCE):
            some = [one.fields for one in rows[at : at + AT_ONCE]]
            if not _attempt(tx, lambda: tx.insert_many(table.name, some)):  # noqa: B023 - called at once
                break
        else:
            return rows
        kept = list(rows[:at])
        for one in rows[at:]:
            if _attempt(tx, lambda: tx.insert(table.name, one.fields)):  # noqa: B023 - called at once
                kept.append(one)
            else:
                self._leave_row(table, one.fields, Meeting.REFUSED)
        return kept

    def _leave_row(self, table: ArchivedTable, row: Mapping[str, Any], meeting: Meeting) -> None:
        if len(table.key) == 1:
            self._absent[table.name].add(row[table.key[0]])
        self.tally.count_row(table.name, row, meeting)

    def _finish_memories(self, tx: Tx, rows: Sequence[Fields]) -> None:
        """What goes with new memories: terms, tiers, and of another vault's sources, steps and questions."""
        refresh_terms(tx, [str(row["id"]) for row in rows])
        if self._origin is None:  # they keep the import of their origin
            self._labels += _merge_labels(int(row["n"]) for row in rows)
            return
        for row in rows:
            if row["kind"] != "episode":
                tx.insert("memory_sources", _source_of(row, self._origin, tx.now_ms))
            if row["kind"] == "procedure" and not row["part_index"]:
                tx.insert(PROCEDURES, {"memory_id": row["id"], **procedure_columns(row["text"])})
            if row["status"] == "quarantined" and not row["part_index"]:
                seen = screen_foreign_memory(row)
                if seen.waits:
                    raise_review(tx, self._make_id(), row["id"], seen)
                else:
                    open_review(tx, self._make_id(), row["id"], "proposal", "proposed_by_import")


def _fill_in(table: str, fields: Fields, now_ms: int) -> Fields:
    """What stands in a row here whatever the archive says."""
    if table == "clients":  # it is paired anew, by name, before it is let in
        revoked_at = now_ms if fields["revoked_at"] is None else fields["revoked_at"]
        return {"token": secrets.token_bytes(_TOKEN_BYTES), "revoked_at": revoked_at}
    if table == "stored_files":
        return {"stored_at": now_ms}
    if table == "imports" and fields["state"] == "running":
        return {"state": "done"}
    if table == "memories" and isinstance(fields["text"], str):
        return {"content_hash": hashlib.sha256(fields["text"].encode("utf-8", "surrogatepass")).digest()}
    return {}


def _ensure_foreign_client(tx: Tx, make_id: Callable[[], str], vault: str) -> str:
    """The client that stands for another vault: revoked from the first, and with the ceiling of all it says."""
    name = f"archive {vault[:8]}"
    known = tx.value("SELECT id FROM clients WHERE name = ?", (name,))
    if known is not None:
        return str(known)
    client_id = make_id()
    row = {"id": client_id, "name": name, "token": secrets.token_bytes(_TOKEN_BYTES), "trust_ceiling": CEILING}
    tx.insert("clients", {**row, "paired_at": tx.now_ms, "revoked_at": tx.now_ms})
    return client_id


def _merge_labels(labels: Iterable[int]) -> list[list[int]]:
    """Labels as runs of them: first and last."""
    runs: list[list[int]] = []
    for label in labels:
        if runs and label == runs[-1][1] + 1:
            runs[-1][1] = label
        else:
            runs.append([label, label])
    return runs


def _note_labels(tx: Tx, import_id: str, runs: Sequence[Sequence[int]]) -> None:
    tx.run(
        "INSERT INTO settings (key, value, changed_at) VALUES (?, ?, ?) "
        "ON CONFLICT (key) DO UPDATE SET value = excluded.value, changed_at = excluded.changed_at",
        (IMPORT_LABELS + import_id, to_json(runs), tx.now_ms),
    )


def _source_of(row: Fields, origin: ForeignOrigin, now_ms: int) -> Fields:
    return {
        "memory_id": row["id"],
        "lineage": origin.lineage,
        "source": row["source"],
        "client_id": origin.client_id,
        "session": row["session"],
        "import_id": origin.import_id,
        "at": now_ms,
    }


def _key_of(table: ArchivedTable, fields: Mapping[str, Any]) -> tuple[object, ...]:
    return tuple(fields[name] for name in table.key)


def _read_present(
    tx: Tx, table: ArchivedTable, rows: Sequence[Fields], *, is_empty: bool
) -> dict[tuple[object, ...], Mapping[str, Any]]:
    """The rows of the same keys that are here; where the vault is empty, of the tables that never are."""
    if len(table.key) == 1:
        found = read_rows_by_key(tx, table.name, [row[table.key[0]] for row in rows])
        return {(key,): row for key, row in found.items()}
    if is_empty or not table.key:
        return {}
    single = ((key, tx.row(table.name, dict(zip(table.key, key, strict=True)))) for key in _keys_of(table, rows))
    return {key: row for key, row in single if row is not None}


def _keys_of(table: ArchivedTable, rows: Sequence[Fields]) -> Iterator[tuple[object, ...]]:
    return (_key_of(table, row) for row in rows)


def _attempt(tx: Tx, change: Callable[[], object]) -> bool:
    """Change something that a constraint may refuse; False where one did, and then nothing of it is left."""
    try:
        with tx.attempt():
            change()
    except LociError as error:
        if error.code not in _REFUSALS:
            raise
        return False
    return True
