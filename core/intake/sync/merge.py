"""Taking the rows of another device: each register from whoever wrote it last, a row that came or went before that.

The result is the same in whatever order bundles are taken, and however often. What goes is made powerless first and
removed last; what would stand is put in its place when everything else is there (`core.intake.sync.contest`). A row
that the schema refuses beside what is here (a relation that closes a circle with one of this device, what hangs on a
memory that was erased) is gone for all devices. Everything happens within one verb, one transaction and an open purge
gate. Must not do: check a signature, commit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.errors import BugError, Code, LociError
from core.intake.erase.erasure import remove_elsewhere_removed
from core.intake.sync.contest import Contests
from core.intake.sync.place_names import BY_NAME, PlaceNames
from core.intake.sync.records import NamedPlace, RowRecord, damaged_record_error
from core.intake.sync.registers import TABLES, RowPresence, RowStamps, SyncedTable, next_stamp, parse_key
from core.intake.sync.stamps import merge_stamps, own_stamps, read_stamps, write_stamps
from core.intake.transaction.admission import erased_texts
from core.intake.transaction.sources import claims_backed_by, refresh_claims, refresh_trust
from core.intake.transaction.unit_of_work import UnitOfWork
from core.memory.write import refresh_terms, reserve_labels
from core.vault.database.tx import Tx

_REFUSALS = frozenset({Code.BUG, Code.CYCLE, Code.INVALID_INPUT})  # what a constraint of the schema says
_STANDING: Mapping[str, tuple[str, frozenset[str], str]] = {
    "memories": ("status", frozenset({"active", "disputed"}), "archived"),
    "claims": ("state", frozenset({"asserted", "disputed"}), "draft"),
    "conflicts": ("state", frozenset({"open"}), "moot"),
}
"""Of tables where one row can stand in another's way: the column, the values that do, and one that does not."""
_EXCLUDING: Mapping[str, frozenset[str]] = {
    "memories": frozenset({"content", "space", "standing"}),
    "claims": frozenset({"content", "terms", "standing"}),
    "conflicts": frozenset({"item", "standing"}),
}
"""Registers by which a row may come to stand in another's way."""
_HANGING = {
    "claims": (("evidence", "SELECT id FROM evidence WHERE claim_id = ?", "id"),),
    "conflicts": (("approvals", "SELECT conflict_id FROM approvals WHERE conflict_id = ?", "conflict_id"),),
}
_EXISTS = {
    name: f"SELECT 1 FROM {name} WHERE id = ?"  # noqa: S608 - fixed words
    for name in ("memories", "claims", "conflicts", "seal_keys")
}
_NEVER_EXCLUDED = frozenset({"episode"})
"""Kinds of memories of which several may stand with the same words."""
_SUCCEEDED = "SELECT id FROM claims WHERE superseded_by_id = ?"


@dataclass
class TakenRows:
    """What a bundle brought.

    Attributes:
        rows: that came, changed or went.
        memories: that are new.
        gone: memories that went.
        opened: questions for the person that came of it.
        refused: rows that cannot be beside what is here.
    """

    rows: int = 0
    memories: set[str] = field(default_factory=set)
    gone: int = 0
    opened: int = 0
    refused: int = 0


class RowMerge:
    """Takes the rows of one bundle.

    Attributes:
        taken: what it brought so far.
        clock: the latest clock that a row named.
    """

    def __init__(self, tx: Tx, work: UnitOfWork, removed: Callable[[int, Sequence[int]], None]) -> None:
        """Begin; the verb runs, the gate of the purge is open, and rows are stamped by the caller until `settle`.

        Args:
            removed: told sequence and labels of memories that vanish, for the index.
        """
        self._tx, self._work, self._removed = tx, work, removed
        self._names = PlaceNames(tx, work.make_id)
        self._pointers: list[tuple[SyncedTable, dict[str, Any], dict[str, Any]]] = []
        self._standing: list[tuple[str, str, str]] = []
        self._gone: dict[str, None] = {}
        self._erased: dict[str, None] = {}
        self._has_tombstones = tx.one("SELECT 1 FROM tombstones LIMIT 1") is not None
        self._touched: set[str] = set()
        self._contests = Contests(tx)
        self.taken = TakenRows()
        self.clock = 0

    def take_place(self, place: NamedPlace) -> None:
        """Take what rows name: a space, client or conversation.

        Raises:
            BundleFaultError: DAMAGED.
        """
        self._names.ensure_place(place)

    # ---- one row

    def take_row(self, record: RowRecord) -> None:
        """Take one row.

        Raises:
            BundleFaultError: DAMAGED.
        """
        self.clock = max(self.clock, record.clock)
        table, key, theirs = record.table, record.key, record.stamps
        ours = read_stamps(self._tx, table, key)
        if ours is not None and ours.presence is RowPresence.ERASED:
            return
        if theirs.presence is RowPresence.ERASED:
            self._take_removal(record, self._erased)
        elif ours is None or theirs.born > ours.born:
            if theirs.presence is RowPresence.ABSENT:
                self._take_removal(record, self._gone)
            else:
                self._take_whole(record, ours)
        elif theirs.born == ours.born and ours.presence is theirs.presence is RowPresence.PRESENT:
            newer = {
                name: theirs.stamp_of(name) for name in table.registers if theirs.stamp_of(name) > ours.stamp_of(name)
            }
            if newer:
                self._take_registers(record, ours, newer)

    def _take_removal(self, record: RowRecord, memories: dict[str, None]) -> None:
        table, key = record.table, _parsed_key(record)
        if self._tx.row(table.name, key) is not None:
            self.taken.rows += 1
            if table.name == "memories":
                self._set_aside(record.key)
                memories[record.key] = None
            elif not self._remove(table, key):
                self._keep(record)
                return
        write_stamps(self._tx, table, record.key, record.stamps, is_pending=False)

    def _set_aside(self, memory_id: str) -> None:
        """It stands in nobody's way until it is removed, behind all that comes."""
        self._tx.update("memories", {"id": memory_id}, {"status": "deleted"})

    def _remove(self, table: SyncedTable, key: Mapping[str, Any]) -> bool:
        # What hangs on it is of this device alone, or its removal comes too; the others are told of the former.
        for name, sql, column in _HANGING.get(table.name, ()):
            with own_stamps(self._tx):
                for (one,) in self._tx.all(sql, tuple(key.values())):
                    self._tx.delete(name, {column: one})
        if table.name == "evidence":
            self._note_evidence(key)
        if table.name == "claims":
            for (one,) in self._tx.all(_SUCCEEDED, tuple(key.values())):
                self._tx.update("claims", {"id": one}, {"superseded_by_id": None})
        return self._attempt(lambda: self._tx.delete(table.name, key))

    def _note_evidence(self, key: Mapping[str, Any]) -> None:
        row = self._tx.row("evidence", key)
        if row is not None:
            self._touched.add(str(row["memory_id"]))

    def _keep(self, record: RowRecord) -> None:
        """What hangs on it here keeps it; the others get it back."""
        self.taken.refused += 1
        again = RowStamps(RowPresence.PRESENT, next_stamp([record.stamps.born], "kept"), {})
        write_stamps(self._tx, record.table, record.key, again, is_pending=True)

    def _take_whole(self, record: RowRecord, ours: RowStamps | None) -> None:
        table, key = record.table, _parsed_key(record)
        if table.name == "memories" and self._is_barred(str(record.columns["text"])):
            gone = RowStamps(RowPresence.ERASED, record.stamps.born, {})
            if self._tx.row(table.name, key) is not None:
                self._set_aside(record.key)
                self._erased[record.key] = None
            write_stamps(self._tx, table, record.key, gone, is_pending=True)
            return
        columns = self._columns_here(table, record, table.registers)
        is_known = ours is not None and ours.presence is RowPresence.PRESENT
        if not self._has_parents(table, columns, key) or not self._place(
            table, record, key, columns, is_known=is_known
        ):
            self._refuse(record, key)
            return
        write_stamps(self._tx, table, record.key, record.stamps, is_pending=False)
        self._note(table, record, key, columns)

    def _is_barred(self, text: str) -> bool:
        return self._has_tombstones and bool(erased_texts(self._tx, (text,)))

    def _place(
        self,
        table: SyncedTable,
        record: RowRecord,
        key: Mapping[str, Any],
        columns: Mapping[str, Any],
        *,
        is_known: bool,
    ) -> bool:
        """Write a row; False where a constraint refuses it."""
        written = self._without_standing(table, columns)
        if is_known:
            if self._attempt(lambda: self._tx.update(table.name, key, written)):
                return True
            if table.name in ("memories", "claims") or not self._attempt(lambda: self._tx.delete(table.name, key)):
                return False
        return self._attempt(lambda: self._insert(table, record, {**key, **written}))

    def _insert(self, table: SyncedTable, record: RowRecord, row: Mapping[str, Any]) -> None:
        more: dict[str, Any] = dict(record.sent)
        if table.name == "memories":
            # Its claims come with it: nobody here has to read them anew.
            more |= {"n": reserve_labels(self._tx, 1), "read_at": self._tx.now_ms}
        self._tx.insert(table.name, {**more, **row})
        if table.name == "memories":
            self.taken.memories.add(record.key)

    def _refuse(self, record: RowRecord, key: Mapping[str, Any]) -> None:
        """A row that cannot be here is nowhere: whoever has it is told to remove it."""
        self.taken.refused += 1
        if record.table.name == "memories" and self._tx.row("memories", key) is not None:
            self._set_aside(record.key)
            self._gone[record.key] = None
        elif self._tx.row(record.table.name, key) is not None:
            self._remove(record.table, key)
        stamp = next_stamp([record.stamps.born, *record.stamps.later.values()], "refused")
        gone = RowStamps(RowPresence.ABSENT, stamp, {})
        write_stamps(self._tx, record.table, record.key, gone, is_pending=True)

    def _take_registers(self, record: RowRecord, ours: RowStamps, newer: Mapping[str, str]) -> None:
        table, key = record.table, _parsed_key(record)
        current = self._tx.row(table.name, key)
        if current is None:
            raise BugError(f"a row of {table.name} that has stamps")
        columns = self._columns_here(table, record, newer)
        if not self._has_parents(table, columns, key):
            return  # what it hung on went here a moment ago, and it goes with that
        if newer.keys() & _EXCLUDING.get(table.name, frozenset()):
            column = _STANDING[table.name][0]
            columns = {column: current[column], **columns}
        written = self._without_standing(table, columns)
        if not self._attempt(lambda: self._tx.update(table.name, key, written)):
            raise damaged_record_error()
        merge_stamps(self._tx, table, record.key, ours, newer)
        self._note(table, record, key, columns)

    def _columns_here(self, table: SyncedTable, record: RowRecord, registers: Mapping[str, Any]) -> dict[str, Any]:
        names = (name for register in registers for name in table.registers[register])
        return {
            name: self._names.id_of(name, record.columns[name]) if name in BY_NAME else record.columns[name]
            for name in names
        }

    def _has_parents(self, table: SyncedTable, columns: Mapping[str, Any], key: Mapping[str, Any]) -> bool:
        found = {**columns, **key}
        for column, parent in table.parents.items():
            value = found.get(column)
            is_itself = parent == table.name and value == key.get("id")  # the first part of a split text
            if value is not None and not is_itself and not self._is_there(parent, value):
                return False
        return True

    def _is_there(self, table: str, row_id: object) -> bool:
        is_going = row_id in self._gone or row_id in self._erased
        return not is_going and self._tx.one(_EXISTS[table], (row_id,)) is not None

    def _without_standing(self, table: SyncedTable, columns: Mapping[str, Any]) -> dict[str, Any]:
        """The columns as they are written first: in nobody's way, and without what may not be there yet."""
        written = {name: (None if name in table.pointers else value) for name, value in columns.items()}
        if table.name in _STANDING and written.get("kind") not in _NEVER_EXCLUDED:
            column, standing, aside = _STANDING[table.name]
            if written.get(column) in standing:
                written[column] = aside
        return written

    def _note(self, table: SyncedTable, record: RowRecord, key: dict[str, Any], columns: Mapping[str, Any]) -> None:
        """What is left to be done for a row that was written."""
        self.taken.rows += 1
        pointers = {name: columns[name] for name in table.pointers if columns.get(name) is not None}
        if pointers:
            self._pointers.append((table, key, pointers))
        if table.name in _STANDING:
            column, standing, _ = _STANDING[table.name]
            if columns.get(column) in standing and columns.get("kind") not in _NEVER_EXCLUDED:
                self._standing.append((table.name, record.key, str(columns[column])))
        self._touched.update(
            str(value)
            for name, parent in {**table.parents, "id": table.name}.items()
            if parent == "memories" and (value := {**columns, **key}.get(name)) is not None
        )

    def _attempt(self, change: Callable[[], object]) -> bool:
        try:
            with self._tx.attempt():
                change()
        except LociError as error:
            if error.code not in _REFUSALS:
                raise
            return False
        return True

    # ---- when every row was taken

    def settle(self) -> None:
        """Bring everything into the state in which it stands."""
        for table, key, pointers in self._pointers:
            self._point(table, key, pointers)
        self._settle_standing()

    def finish(self) -> TakenRows:
        """Remove what went, and make anew what is derived; what changes by that is this device's own change."""
        taken = self.taken
        taken.gone += remove_elsewhere_removed(self._tx, self._work, list(self._gone), self._removed, is_erased=False)
        taken.gone += remove_elsewhere_removed(self._tx, self._work, list(self._erased), self._removed, is_erased=True)
        self._refresh()
        taken.opened = self._contests.opened
        return taken

    def _point(self, table: SyncedTable, key: Mapping[str, Any], pointers: Mapping[str, Any]) -> None:
        found = {name: value for name, value in pointers.items() if self._is_there(table.pointers[name], value)}
        if found:
            self._tx.update(table.name, key, found)

    def _settle_standing(self) -> None:
        order = list(TABLES)
        contests = self._contests
        settle = {
            "memories": contests.settle_memory,
            "claims": contests.settle_claim,
            "conflicts": contests.settle_item,
        }
        standing = sorted(dict.fromkeys(self._standing), key=lambda one: (order.index(one[0]), one[1]))
        for table, key, state in standing:
            settle[table](key, state)
        for table, key, _ in standing:
            if table == "memories":
                contests.compare_successors(key)

    def _refresh(self) -> None:
        remaining = sorted(one for one in self._touched if self._tx.one(_EXISTS["memories"], (one,)) is not None)
        refresh_terms(self._tx, remaining)
        for memory_id in remaining:
            if memory_id not in self.taken.memories:  # a new one has the trust that it has where it comes from
                refresh_trust(self._tx, memory_id)
        refresh_claims(self._tx, claims_backed_by(self._tx, remaining))


def _parsed_key(record: RowRecord) -> dict[str, Any]:
    found = parse_key(record.table, record.key)
    if found is None:
        raise damaged_record_error()
    return found
