"""What reading leaves behind: receipts, audit rows and access counts, written in one batch within a second.

A reader gets its receipt's id at once. A crash may lose the last second of these, never a write (design section 3).
What is read without a question (pages of a list, single memories) is collected: a client may read hundreds of pages a
minute, so what is read alike stands on one receipt a minute. Must not do: keep memory text, or make a reader wait.
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from core.errors import Code
from core.intake.transaction.admission import erased_texts, note_disclosures
from core.sensitivity.detector import mask_confidential
from core.types.recall import Context
from core.types.values import Actor
from core.vault.audit import AuditChain, AuditEntry
from core.vault.database.rows import to_json
from core.vault.database.tx import Tx
from core.vault.memory_sql import undecided_sql

LISTED = 50
"""Ids on one record; of the others it has the number."""
_MINUTE_MS = 60_000
_LINES = 20  # of one client in a minute; what else it asks for goes on one record for each verb
_KNOWN = 5_000  # ids told apart; further ones are counted each time
_WAITING = 10_000  # ids that wait to be written

_Key = tuple[str | None, str | None, str, str]


@dataclass(frozen=True, slots=True)
class DisclosureRecord:
    """What is to be written of one record.

    Attributes:
        id: its id; the same for all that follows within the minute.
        at: of its first read, epoch ms.
        actor: who read.
        verb: `get`, `list`, `history`, `conflicts` or `entities`.
        query: the words asked with; "" for none, or for many.
        body: ids and numbers.
        memories: how many it was handed so far.
        given: ids that were handed since it was last taken; one may stand there twice where each time counts.
        counts: whether what was given counts as used.
        again: it was taken before.
    """

    id: str
    at: int
    actor: Actor
    verb: str
    query: str
    body: dict[str, Any]
    memories: int
    given: tuple[str, ...]
    counts: bool
    again: bool


@dataclass(slots=True)
class _Named:
    """Ids by their number, the first of them by name."""

    known: dict[str, None] = field(default_factory=dict)
    more: int = 0

    def add(self, ids: Iterable[str]) -> None:
        for one in ids:
            if one not in self.known:
                if len(self.known) < _KNOWN:
                    self.known[one] = None
                else:
                    self.more += 1

    @property
    def count(self) -> int:
        return len(self.known) + self.more

    def first_ids(self) -> list[str]:
        return list(self.known)[:LISTED]


@dataclass(slots=True)
class _Record:
    id: str
    at: int
    actor: Actor
    verb: str
    query: str
    counts: bool
    last_at: int
    reads: int = 0
    memories: _Named = field(default_factory=_Named)
    entities: _Named = field(default_factory=_Named)
    blocked: _Named = field(default_factory=_Named)
    waiting: list[str] = field(default_factory=list)
    changed: bool = False
    taken: bool = False

    def make_body(self) -> dict[str, Any]:
        body: dict[str, Any] = {"items": [{"id": one} for one in self.memories.first_ids()]}
        body |= {
            name: ids.first_ids() for name, ids in (("entities", self.entities), ("blocked", self.blocked)) if ids.count
        }
        unlisted = {"items": self.memories.count - LISTED, "entities": self.entities.count - LISTED}
        body |= {f"more_{name}": count for name, count in unlisted.items() if count > 0}
        return body | ({"reads": self.reads, "last_at": self.last_at} if self.reads > 1 else {})


class DisclosureLog:
    """The records of the last minute."""

    def __init__(self) -> None:
        self._records: dict[_Key, _Record] = {}
        self._over: list[_Record] = []  # their minute ended before they were taken; another took their place

    def add(
        self,
        new_id: str,
        actor: Actor,
        verb: str,
        query: str,
        memories: Sequence[str],
        entities: Sequence[str],
        blocked: Sequence[str],
        now_ms: int,
        *,
        counts: bool,
    ) -> str:
        """Take down one read.

        Args:
            new_id: for a record that is begun.
            query: the words asked with; "" for none.
            memories: ids that it was handed.
            entities: likewise.
            blocked: ids of memories that it asked for and whose words were not shown.
            counts: whether what was given counts as used.

        Returns:
            The id of the record it stands on.
        """
        key, record = self._find_record(actor, verb, query, now_ms)
        if record is None:
            if (before := self._records.get(key)) is not None and before.changed:
                self._over.append(before)
            record = self._records[key] = _Record(new_id, now_ms, actor, verb, key[3], counts, now_ms)
        record.reads += 1
        record.last_at = now_ms
        record.changed = True
        record.memories.add(memories)
        record.entities.add(entities)
        record.blocked.add(blocked)
        waits = frozenset() if counts else frozenset(record.waiting)
        fresh = [one for one in memories if one not in waits]
        record.waiting += fresh[: _WAITING - len(record.waiting)]
        return record.id

    def take_changed(self) -> tuple[DisclosureRecord, ...]:
        """What changed since the last time, the oldest record first."""
        made = []
        for record in self._all_records():
            if record.changed:
                made.append(
                    DisclosureRecord(
                        record.id,
                        record.at,
                        record.actor,
                        record.verb,
                        record.query,
                        record.make_body(),
                        record.memories.count,
                        tuple(record.waiting),
                        record.counts,
                        record.taken,
                    )
                )
                record.waiting, record.changed, record.taken = [], False, True
        self._over = []
        return tuple(made)

    def waiting_for(self, client_id: str | None) -> list[str]:
        """Ids that a client was handed since they were last taken."""
        waiting_lists = [record.waiting for record in self._all_records() if record.actor.client_id == client_id]
        return [memory_id for waiting in waiting_lists for memory_id in waiting]

    def _all_records(self) -> tuple[_Record, ...]:
        return (*self._over, *self._records.values())

    def _find_record(self, actor: Actor, verb: str, query: str, now_ms: int) -> tuple[_Key, _Record | None]:
        """The record a read stands on, if it has begun, and its key."""
        key = (actor.client_id, actor.session, verb, query)
        record = self._records.get(key)
        if record is not None and _is_recent(record, now_ms):
            return key, record
        self._records = {name: one for name, one in self._records.items() if one.changed or _is_recent(one, now_ms)}
        recent_count = sum(_is_recent(one, now_ms) for name, one in self._records.items() if name[0] == actor.client_id)
        if recent_count >= _LINES:
            key = (actor.client_id, None, verb, "")
            record = self._records.get(key)
            return key, record if record is not None and _is_recent(record, now_ms) else None
        return key, None


def _is_recent(record: _Record, now_ms: int) -> bool:
    return 0 <= now_ms - record.at < _MINUTE_MS


_DAY_MS = 86_400_000
_REFUSALS_KEPT = 100  # between two flushes
_ENTRIES_KEPT, _IDS_KEPT = 10_000, 200_000  # while nothing can be written; so many ids are some 20 MB
# One that tells of more now goes behind all others: who looks for what is new there finds it
# (`core.intake.erase.trace_erasure.TraceIndex`).
_WRITE = (
    "INSERT OR REPLACE INTO receipts "
    "(rowid, id, at, actor, client_id, session, verb, query, items, metrics, body, expires_at) "
    # The client's pairing may have been undone since.
    "VALUES ((SELECT coalesce(max(rowid), 0) + 1 FROM receipts), "
    "?, ?, ?, (SELECT id FROM clients WHERE id = ?), ?, ?, ?, ?, ?, ?, ?)"
)
# Its words stay as they are: an erasure may have taken them out since.
_WRITE_AGAIN = (
    "INSERT OR REPLACE INTO receipts (rowid, id, at, actor, client_id, session, verb, query, items, body, expires_at) "
    "SELECT (SELECT max(rowid) + 1 FROM receipts), id, at, actor, client_id, session, verb, query, ?, ?, expires_at "
    "FROM receipts WHERE id = ?"
)
# A memory may have been purged since it was answered: the count of a row that is gone is dropped. What waits for the
# person, or was never let in, is looked at by its author: that recalls nothing, nor may it put it first in the review.
_ACCESS = (
    "INSERT INTO accesses (memory_id, session, count, last_at) "  # noqa: S608 - constants
    f"SELECT m.id, ?, ?, ? FROM memories m WHERE m.id = ? AND NOT {undecided_sql()} "
    "ON CONFLICT (memory_id, session) DO UPDATE SET count = count + excluded.count, last_at = excluded.last_at"
)
_ACCESSED = (
    "UPDATE memories SET access_count = access_count + ?, last_accessed_at = ? "  # noqa: S608 - constants
    f"WHERE id = ? AND NOT {undecided_sql('memories')}"
)


@dataclass(frozen=True, slots=True)
class _Entry:
    """One receipt to be.

    Attributes:
        items: how many memories it tells of, where that is not how many were given.
        again: it was written before, and tells of more now.
    """

    id: str
    at: int
    actor: Actor
    verb: str
    query: str
    body: Mapping[str, Any] | Callable[[], Mapping[str, Any]]
    given: tuple[str, ...]
    packed: Context | None = None
    counts: bool = True
    items: int | None = None
    again: bool = False


@dataclass(frozen=True, slots=True)
class PendingReads:
    """What a flush writes: reads, refusals, and when clients were last here."""

    entries: tuple[_Entry, ...]
    refusals: tuple[AuditEntry, ...]
    seen: Mapping[str, int]

    def __bool__(self) -> bool:
        return bool(self.entries or self.refusals or self.seen)


class ReadLog:
    """Collects what reads leave behind until `flush` writes it.

    Attributes:
        receipt_days: how long the record of a recall is kept from now on; may be changed at any time.
    """

    def __init__(self, make_id: Callable[[], str], chain: AuditChain, receipt_days: int) -> None:
        self._make_id = make_id
        self._chain = chain
        self.receipt_days = receipt_days
        self.flushing = threading.Lock()  # held while what waits is written
        self._lock = threading.Lock()  # guards all below
        self._entries: list[_Entry] = []
        self._refusals: list[AuditEntry] = []
        self._seen: dict[str, int] = {}
        self._handouts = DisclosureLog()

    def note_refusal(self, client_id: str | None, code: Code, method: str = "") -> None:
        """Take down that somebody was refused.

        Args:
            client_id: the client; None for a stranger.
            method: the method it called; "" for one that does not exist.
        """
        detail = {"code": code.value, "method": method} if method else {"code": code.value}
        who = "stranger" if client_id is None else f"client:{client_id}"
        with self._lock:
            if len(self._refusals) < _REFUSALS_KEPT:  # a flood is one fact, not a thousand rows
                self._refusals.append(AuditEntry(who, "refused", "", detail))

    def note_client_seen(self, client_id: str, now_ms: int) -> None:
        """Take down when a client was last here."""
        with self._lock:
            self._seen[client_id] = now_ms

    def note_read(
        self,
        actor: Actor,
        verb: str,
        query: str,
        given: tuple[str, ...],
        body: Mapping[str, Any] | Callable[[], Mapping[str, Any]],
        now_ms: int,
        *,
        packed: Context | None = None,
    ) -> str:
        """Take down one read.

        Args:
            verb: `recall`, `context` …
            query: the words asked, kept encrypted in the vault until the receipt expires, without confidential numbers.
            given: ids of what was answered.
            body: ids, ranks, counts, reasons; never memory text; its `metrics` get their own column. Where it is
                a function, that is called when the receipt is written: the reader does not wait for what it costs.
            packed: the text that was handed out whole, if one was; it is kept as long as the receipt.

        Returns:
            The receipt's id.
        """
        entry = _Entry(self._make_id(), now_ms, actor, verb, query, body, given, packed)
        with self._lock:
            self._entries.append(entry)
        return entry.id

    def note_disclosure(
        self,
        actor: Actor,
        verb: str,
        query: str,
        memory_ids: Sequence[str],
        entity_ids: Sequence[str],
        now_ms: int,
        *,
        blocked: Sequence[str] = (),
        counts: bool = False,
    ) -> str:
        """Take down what was read without a question; what is read alike within a minute stands on one receipt.

        Args:
            verb: `get`, `list`, `history` …
            query: the words asked with; "" for none.
            blocked: ids of memories that were asked for and whose words were not shown.
            counts: whether what was given counts as used, as what answers a question does; of a list it does not.

        Returns:
            The receipt's id.
        """
        new_id = self._make_id()
        with self._lock:
            contents = (memory_ids, entity_ids, blocked)
            return self._handouts.add(new_id, actor, verb, query, *contents, now_ms, counts=counts)

    def take_pending(self) -> PendingReads:
        """Remove and return what is waiting."""
        with self._lock:
            entries = (*self._entries, *map(_entry_of, self._handouts.take_changed()))
            waiting = PendingReads(entries, tuple(self._refusals), dict(self._seen))
            self._entries, self._refusals, self._seen = [], [], {}
        return waiting

    def put_back(self, waiting: PendingReads) -> None:
        """Keep what could not be written for the next flush, the newest of it.

        Args:
            waiting: from `take`.
        """
        # On paper from here on: the answers themselves, with their texts, are let go.
        kept = [replace(entry, body=_entry_body(entry)) for entry in waiting.entries[-_ENTRIES_KEPT:]]
        with self._lock:
            self._entries = _keep_newest(_merge_by_receipt([*kept, *self._entries]))
            self._refusals = [*waiting.refusals, *self._refusals][-_REFUSALS_KEPT:]
            self._seen = {**waiting.seen, **self._seen}

    def disclosed_to(self, client_id: str | None) -> frozenset[str]:
        """What was handed to a client and is not written down yet.

        Args:
            client_id: the client; None for the owner.

        Returns:
            Ids of memories.
        """
        with self._lock:
            given_lists = [entry.given for entry in self._entries if entry.actor.client_id == client_id]
            listed = self._handouts.waiting_for(client_id)
        return frozenset(memory_id for given in (*given_lists, listed) for memory_id in given)

    def write(self, tx: Tx, waiting: PendingReads) -> None:
        """Write what was taken in one transaction.

        Args:
            waiting: from `take`.
        """
        entries = _mark_first_entries(tx, _without_erased(tx, waiting.entries))
        tx.run_many(
            "UPDATE clients SET last_seen_at = ? WHERE id = ?",
            [(at, client_id) for client_id, at in waiting.seen.items()],
        )
        tx.run_many(_WRITE, [self._receipt_row(entry) for entry in entries if not entry.again])
        again = [(_count_items(entry), _to_json(_entry_body(entry)), entry.id) for entry in entries if entry.again]
        tx.run_many(_WRITE_AGAIN, again)
        self._write_contexts(tx, entries)
        counts: Counter[tuple[str, str]] = Counter()
        last: dict[str, int] = {}
        for entry in entries:
            for memory_id in entry.given if entry.counts else ():
                counts[(memory_id, entry.actor.session or entry.actor.client_id or entry.actor.kind)] += 1
                last[memory_id] = max(entry.at, last.get(memory_id, 0))
        self._write_accesses(tx, counts, last)
        given = [(e.actor.client_id, memory_id, e.at) for e in entries if e.actor.client_id for memory_id in e.given]
        note_disclosures(tx, given)
        self._chain.append_many(
            tx,
            [
                *waiting.refusals,
                *(
                    AuditEntry(_actor_key(one), one.verb, one.id, {"items": _count_items(one)})
                    for one in entries
                    if not one.again
                ),
            ],
        )

    def _receipt_row(self, entry: _Entry) -> tuple[object, ...]:
        actor, expires_at = entry.actor, entry.at + self.receipt_days * _DAY_MS
        who = (actor.kind, actor.client_id, actor.session)
        body = dict(_entry_body(entry))
        metrics = body.pop("metrics", None)
        columns = (_count_items(entry), None if metrics is None else _to_json(metrics), _to_json(body))
        query = mask_confidential(entry.query)  # whoever looks for a leaked number must not store it by that
        return (entry.id, entry.at, *who, entry.verb, query, *columns, expires_at)

    def _write_contexts(self, tx: Tx, entries: Sequence[_Entry]) -> None:
        tx.run_many(
            "INSERT INTO contexts (id, receipt_id, text, tokens, expires_at) VALUES (?, ?, ?, ?, ?)",
            [
                (
                    self._make_id(),
                    entry.id,
                    entry.packed.text,
                    entry.packed.tokens,
                    entry.at + self.receipt_days * _DAY_MS,
                )
                for entry in entries
                if entry.packed is not None and entry.packed.text
            ],
        )

    @staticmethod
    def _write_accesses(tx: Tx, counts: Counter[tuple[str, str]], last: Mapping[str, int]) -> None:
        tx.run_many(
            _ACCESS,
            [(session, count, last[memory_id], memory_id) for (memory_id, session), count in counts.items()],
        )
        totals: Counter[str] = Counter()
        for (memory_id, _), count in counts.items():
            totals[memory_id] += count
        tx.run_many(
            _ACCESSED,
            [(count, last[memory_id], memory_id) for memory_id, count in totals.items()],
        )


def _without_erased(tx: Tx, entries: Sequence[_Entry]) -> tuple[_Entry, ...]:
    """Reads that began before an erasure and are written after it leave nothing behind of what was erased.

    A question in the very words of an erased text is kept without its words, and what refers to them goes with it.
    """
    wanted = to_json(sorted({memory_id for entry in entries for memory_id in _memory_ids_of_read(entry)}))
    there = {
        row[0] for row in tx.all("SELECT id FROM memories WHERE id IN (SELECT value FROM json_each(?))", (wanted,))
    }
    erased = erased_texts(tx, {entry.query for entry in entries})
    kept = []
    for entry in entries:
        erased_ids = _memory_ids_of_read(entry) - there
        if erased_ids or entry.query in erased:
            from core.intake.erase.trace_erasure import (
                remove_traces_of_ids,  # an erasure between a read and its record is rare
            )

            kept_body = {name: value for name, value in _entry_body(entry).items() if name != "trace"}
            query = "" if entry.query in erased else entry.query
            entry = replace(
                entry,
                body=remove_traces_of_ids(kept_body, erased_ids),
                query=query,
                packed=None if erased_ids else entry.packed,
            )
        kept.append(entry)
    return tuple(kept)


def _mark_first_entries(tx: Tx, entries: Sequence[_Entry]) -> tuple[_Entry, ...]:
    """What goes on with a receipt that is not there, as it was never written, is written as the first."""
    wanted = to_json([entry.id for entry in entries if entry.again])
    there = {
        row[0] for row in tx.all("SELECT id FROM receipts WHERE id IN (SELECT value FROM json_each(?))", (wanted,))
    }
    made = []
    for entry in entries:
        made.append(replace(entry, again=entry.again and entry.id in there))
        there.add(entry.id)
    return tuple(made)


def _merge_by_receipt(entries: Sequence[_Entry]) -> list[_Entry]:
    """What stands on one receipt as one entry: the last tells of all before it, and of what it was not given itself."""
    made: dict[str, _Entry] = {}
    for entry in entries:
        first = made.pop(entry.id, None)
        if first is not None:
            entry = replace(entry, given=(*first.given, *entry.given)[-_IDS_KEPT:], again=first.again)
        made[entry.id] = entry
    return list(made.values())


def _keep_newest(entries: Sequence[_Entry]) -> list[_Entry]:
    """As many of the newest as may be kept; one at least."""
    kept, ids = 0, 0
    for entry in entries[::-1][:_ENTRIES_KEPT]:
        ids += len(entry.given)
        if kept and ids > _IDS_KEPT:
            break
        kept += 1
    return list(entries[len(entries) - kept :])


def _entry_of(one: DisclosureRecord) -> _Entry:
    return _Entry(
        one.id, one.at, one.actor, one.verb, one.query, one.body, one.given,
        counts=one.counts, items=one.memories, again=one.again,
    )  # fmt: skip


def _count_items(entry: _Entry) -> int:
    return len(entry.given) if entry.items is None else entry.items


def _memory_ids_of_read(entry: _Entry) -> frozenset[str]:
    """The memories it tells of: what was given, and of what was read alike also what was given before."""
    if entry.items is None:
        return frozenset(entry.given)
    body = _entry_body(entry)
    return frozenset((*entry.given, *(item["id"] for item in body["items"]), *body.get("blocked", ())))


def _entry_body(entry: _Entry) -> Mapping[str, Any]:
    return entry.body() if callable(entry.body) else entry.body


def _to_json(value: Mapping[str, Any]) -> str:
    return json.dumps(dict(value), ensure_ascii=False)


def _actor_key(entry: _Entry) -> str:
    return entry.actor.kind if entry.actor.client_id is None else f"client:{entry.actor.client_id}"
