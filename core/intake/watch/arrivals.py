"""What a file of a watched folder says now, beside what it said before: new memories, next versions, moves.

A note is a text that is edited: what it says now takes the place of what it said before, as its next version; what
is held back for the review takes it only once the person lets it in (`versions`). A note
whose words another file said that vanished is that file, moved. A log only grows. What the person changed, forgot,
sealed or erased in Loci stays as they left it, whatever the file does. Everything of one piece is one transaction
with the rows that say that it is done: a kill brings nothing twice and misses nothing. Must not do: read a file, or
let go of a memory because a file does not say it any more.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from core.intake.store.import_batch import ImportRecord, ImportRun, ImportTally, ImportWriter, identity_digest
from core.intake.transaction.admission import erased_digests
from core.intake.transaction.unit_of_work import UnitOfWork
from core.intake.watch.folders import LABEL, LEFT, VERB, FolderRow, count_arrival, open_step, write_entry
from core.intake.watch.versions import (
    REPLACED,
    find_current,
    hold_version,
    must_wait,
    read_parts,
    replace_version,
    withdraw_held,
)
from core.memory.write import Stored, content_hash, refresh_terms
from core.types.values import LIFECYCLE_ACTOR, Status
from core.vault.database.rows import to_json
from core.vault.database.tx import Tx

DONE = ("new", "changed", "held", "moved")
"""What can come of a file, as it is counted."""

_STANDING_FOR = "SELECT identity, memory_id FROM fingerprints WHERE identity IN (SELECT unhex(value) FROM json_each(?))"
_STORED = (
    "SELECT f.identity, f.memory_id, m.n FROM fingerprints f JOIN memories m ON m.id = f.memory_id "
    "WHERE f.identity IN (SELECT unhex(value) FROM json_each(?))"
)
_OVER = (
    "SELECT f.identity FROM fingerprints f JOIN memories m ON m.id = f.memory_id WHERE +m.status = 'superseded' "
    "AND f.identity IN (SELECT unhex(value) FROM json_each(?))"
)
_MOVED = (
    # By the few that vanished: otherwise every new note would go through all files of the folder.
    "SELECT f.n, r.identity, r.memory_id FROM watched_files f INDEXED BY ix_watched_files_gone "
    "JOIN watched_records r ON r.file_n = f.n "
    "JOIN memories m ON m.id = r.memory_id WHERE f.folder_id = ? AND f.gone_at IS NOT NULL "
    "AND m.content_hash = ? AND m.status = 'active' ORDER BY f.name"
)


@dataclass(frozen=True, slots=True)
class FilePiece:
    """What a file says, or a part of it.

    Attributes:
        name: path inside the folder.
        stamp: how the file was; None where more of it follows.
        records: what it says, in its order.
        first: the number of the first of them in the file.
        is_note: whether it is a text that is edited; then the piece is all of it.
        is_same: whether it says what it said before, or cannot be read; then there are no records.
        left_out: reasons to counts.
    """

    name: str
    stamp: str | None
    records: tuple[ImportRecord, ...]
    first: int = 0
    is_note: bool = False
    is_same: bool = False
    left_out: Mapping[str, int] = field(default_factory=dict)


@dataclass
class _Change:
    """One file's piece on its way into the vault.

    Attributes:
        known: what the file said before: identity to memory.
        replaced: identities of new texts to the memories whose place they take.
        kept: what it said before and is still known by, since the person erased or forgot it.
        waiting: identities of new texts that are held back to the memories that stand meanwhile.
        withdrawn: identities of new texts to held ones that the file does not say any more.
    """

    piece: FilePiece
    file_n: int
    keys: list[bytes]
    known: dict[bytes, str | None]
    fresh: list[ImportRecord] = field(default_factory=list)
    replaced: dict[bytes, str] = field(default_factory=dict)
    kept: list[bytes] = field(default_factory=list)
    waiting: dict[bytes, str] = field(default_factory=dict)
    withdrawn: dict[bytes, str] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)


class ArrivalWriter:
    """Writes what files of one folder say."""

    def __init__(
        self, tx: Tx, make_id: Callable[[], str], work: UnitOfWork, writer: ImportWriter, folder: FolderRow
    ) -> None:
        """Work in one transaction.

        Args:
            writer: of the vector space in force.
        """
        self._tx, self._make_id, self._work, self._writer, self._folder = tx, make_id, work, writer, folder

    def write_pieces(self, pieces: Sequence[FilePiece], stored: Stored) -> Counter[str]:
        """Write pieces of files; all of it is one step of undo, together with the rest of the round.

        Args:
            stored: told sequence, labels and vectors of new rows, for the index.

        Returns:
            How many files, and what was done: `new`, `changed`, `moved`, and reasons of what was left out.
        """
        changes = [self._compare(piece) for piece in pieces]
        if any(change.fresh for change in changes):
            self._write_fresh(changes, stored)
        self._note_records([change for change in changes if not change.piece.is_same])
        return self._finish_files(changes)

    # ---- what is new

    def _compare(self, piece: FilePiece) -> _Change:
        tx = self._tx
        file_n = self._ensure_file(piece.name)
        keys = [self._key_of(record) for record in piece.records]
        rows = (
            tx.all("SELECT identity, memory_id FROM watched_records WHERE file_n = ? ORDER BY position", (file_n,))
            if piece.is_note
            else tx.all(
                "SELECT identity, memory_id FROM watched_records WHERE file_n = ? "
                "AND identity IN (SELECT unhex(value) FROM json_each(?))",
                (file_n, to_json([key.hex() for key in keys])),
            )
        )
        change = _Change(piece, file_n, keys, {bytes(identity): memory_id for identity, memory_id in rows})
        pairs = [(r, k) for r, k in zip(piece.records, keys, strict=True) if k not in change.known]
        said = set(keys)
        former = [key for key in change.known if key not in said] if piece.is_note and not piece.is_same else []
        for record, key in pairs:
            if former:
                self._take_place(change, record, key, former.pop(0))
            elif not piece.is_note or not self._take_over_moved(change, record, key):
                change.fresh.append(record)
        change.counts.update({f"left.{reason}": count for reason, count in piece.left_out.items()})
        return change

    def _ensure_file(self, name: str) -> int:
        found = self._tx.value("SELECT n FROM watched_files WHERE folder_id = ? AND name = ?", (self._folder.id, name))
        if found is None:
            self._tx.run("INSERT INTO watched_files (folder_id, name) VALUES (?, ?)", (self._folder.id, name))
            return self._ensure_file(name)
        return int(found)

    def _key_of(self, record: ImportRecord) -> bytes:
        return identity_digest(record.memory.space or self._folder.space, record.memory.identity)

    def _take_place(self, change: _Change, record: ImportRecord, key: bytes, former: bytes) -> None:
        """A note says something else: what it said before, if it still stands as it came, gives way."""
        tx = self._tx
        old_id, held_id = find_current(tx, former, change.known[former])
        row = None if old_id is None else tx.row("memories", {"id": old_id})
        reason = _refusal(row, is_erased=former in erased_digests(tx, [former]))
        if reason is not None:
            # Erased, sealed or forgotten by the person: the next words of such a file are not brought in unasked. It
            # is still known by what it said then.
            change.keys.remove(key)
            change.kept.append(former)
            change.counts[f"left.{reason}"] += 1
            return
        tx.run("DELETE FROM watched_records WHERE file_n = ? AND identity = ?", (change.file_n, former))
        if row is not None and row["status"] in REPLACED:
            change.replaced[key] = str(old_id)  # as long as the new one may stand
        if held_id is not None:
            change.withdrawn[key] = held_id
        change.fresh.append(record)

    def _take_over_moved(self, change: _Change, record: ImportRecord, key: bytes) -> bool:
        """A file of the same words vanished: it was renamed or moved, and its memory goes on."""
        tx = self._tx
        digest = content_hash(record.texts[0])
        for file_n, identity, memory_id in tx.all(_MOVED, (self._folder.id, digest)):
            parts = read_parts(tx, str(memory_id))
            if tuple(text for _, text in parts) != record.texts:
                continue
            with self._work.verb(tx, VERB, LABEL, LIFECYCLE_ACTOR, step_id=self._step(), keep_open=True) as verb:
                for part, _ in parts:
                    self._rename(part, record)
                tx.delete("fingerprints", {"identity": key})
                tx.delete("fingerprints", {"identity": bytes(identity)})
                tx.insert("fingerprints", {"identity": key, "memory_id": memory_id})
                refresh_terms(tx, [part for part, _ in parts])
                verb.note_audit(str(memory_id), moved=1)
            tx.run("DELETE FROM watched_records WHERE file_n = ? AND identity = ?", (file_n, identity))
            tx.run(
                "DELETE FROM watched_files WHERE n = ? AND NOT EXISTS "
                "(SELECT 1 FROM watched_records WHERE file_n = watched_files.n)",
                (file_n,),
            )
            change.counts["moved"] += 1
            return True
        return False

    def _rename(self, memory_id: str, record: ImportRecord) -> None:
        row = self._tx.row("memories", {"id": memory_id}) or {}
        origin = {**json.loads(row["origin"]), "where": record.memory.where}
        extra = {**json.loads(row["extra"]), **record.memory.extra}
        self._tx.update("memories", {"id": memory_id}, {"origin": to_json(origin), "extra": to_json(extra)})

    def _step(self) -> str:
        return open_step(self._tx, self._work, self._folder.id)

    # ---- writing

    def _write_fresh(self, changes: Sequence[_Change], stored: Stored) -> None:
        """Store what is new in one batch, and let it take the place of what it replaces."""
        tx, folder, step_id = self._tx, self._folder, self._step()
        self._forget_over([self._key_of(one) for change in changes if change.piece.is_note for one in change.fresh])
        last = tx.value("SELECT max(n) FROM memories") or 0
        run = ImportRun(folder.import_id, folder.format, folder.label, folder.space_id, folder.space, step_id)
        everything = [record for change in changes for record in change.fresh]
        self._writer.store_batch(tx, run, everything, 0, ImportTally(), stored)
        wanted = to_json([self._key_of(record).hex() for record in everything])
        found = {bytes(key): (str(head), int(n) > last) for key, head, n in tx.all(_STORED, (wanted,))}
        for change in changes:
            self._replace_versions(change, {key: head for key, (head, _) in found.items()}, step_id)
            for record in change.fresh:
                key = self._key_of(record)
                new_id, is_new = found.get(key, ("", False))
                if not new_id:
                    change.counts["left.erased"] += 1
                elif is_new:
                    change.counts[_name_of_change(change, key)] += 1

    def _replace_versions(self, change: _Change, found: Mapping[bytes, str], step_id: str) -> None:
        """What is new in a file takes the place of what it replaces, or waits for the person to let it."""
        pairs = [(key, old, found[key]) for key, old in change.replaced.items() if found.get(key, old) != old]
        over = [(held, found[key]) for key, held in change.withdrawn.items() if found.get(key, held) != held]
        if not pairs and not over:
            return
        tx = self._tx
        with self._work.verb(tx, VERB, LABEL, LIFECYCLE_ACTOR, step_id=step_id, keep_open=True) as verb:
            for key, old, new in pairs:
                if must_wait(tx, old, new):
                    hold_version(tx, old, new)
                    change.waiting[key] = old
                else:
                    replace_version(tx, self._make_id, old, new)
            for held, by in over:
                withdraw_held(tx, self._make_id, held, by)
            named = pairs[0][2] if len(pairs) == 1 else self._folder.id
            verb.note_audit(named, replaced=len(pairs) - len(change.waiting), held=len(change.waiting))

    def _forget_over(self, keys: Sequence[bytes]) -> None:
        """Words that a note said once and says again come as a new version: the one they came with is over."""
        over = self._tx.all(_OVER, (to_json([key.hex() for key in keys]),))
        if over:
            with self._work.verb(self._tx, VERB, LABEL, LIFECYCLE_ACTOR, step_id=self._step(), keep_open=True) as verb:
                for (identity,) in over:
                    self._tx.delete("fingerprints", {"identity": bytes(identity)})
                verb.note_audit(self._folder.id, again=len(over))

    def _note_records(self, changes: Sequence[_Change]) -> None:
        """Take down what the files say, by the memories that stand for it."""
        wanted = to_json([key.hex() for change in changes for key in change.keys])
        found = dict(self._tx.all(_STANDING_FOR, (wanted,)))
        self._tx.run_many(
            "INSERT INTO watched_records (file_n, identity, position, memory_id) VALUES (?, ?, ?, ?) "
            "ON CONFLICT (file_n, identity) DO UPDATE SET position = excluded.position, gone_at = NULL, "
            "memory_id = coalesce(excluded.memory_id, memory_id)",
            [
                (change.file_n, key, change.piece.first + place, change.waiting.get(key) or found.get(key))
                for change in changes
                for place, key in enumerate(change.keys)
            ],
        )
        for change in changes:
            if change.piece.is_note and change.known:
                # Of a text that was longer once, what it does not say any more is asked about.
                said = to_json([key.hex() for key in (*change.keys, *change.kept)])
                self._tx.run(
                    "UPDATE watched_records SET gone_at = coalesce(gone_at, ?) WHERE file_n = ? "
                    "AND identity NOT IN (SELECT unhex(value) FROM json_each(?))",
                    (self._tx.now_ms, change.file_n, said),
                )

    def _finish_files(self, changes: Sequence[_Change]) -> Counter[str]:
        tx, total = self._tx, Counter[str]()
        ended = [change for change in changes if change.piece.stamp is not None]
        tx.run_many(
            "UPDATE watched_files SET stamp = ?, gone_at = NULL WHERE n = ?",
            [(change.piece.stamp, change.file_n) for change in ended],
        )
        tx.run_many(
            "UPDATE watched_records SET gone_at = NULL WHERE file_n = ?",
            [(change.file_n,) for change in ended if change.piece.is_same],
        )
        named: set[str] = set()
        for change in changes:
            if any(change.counts[name] for name in DONE):
                change.counts["files"] += change.piece.stamp is not None
                total += change.counts
                named.add(change.piece.name)
            elif change.counts:
                write_entry(tx, self._folder.id, LEFT, change.piece.name, +change.counts)
        if total:
            count_arrival(tx, self._folder.id, self._step(), named.pop() if len(named) == 1 else "", total)
        return total


def _refusal(row: Mapping[str, object] | None, *, is_erased: bool) -> str | None:
    if is_erased:
        return "erased"
    return "forgotten" if row is not None and row["status"] == Status.DELETED.value else None


def _name_of_change(change: _Change, key: bytes) -> str:
    if key in change.waiting:
        return "held"
    return "changed" if key in change.replaced else "new"
