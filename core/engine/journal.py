"""What reading leaves behind: receipts, audit rows and access counts, written in one batch within a second.

A reader gets its receipt's id at once. A crash may lose the last second of
these, never a write (design section 3).
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from core.errors import Code
from core.intake.erasing_traces import without
from core.intake.handed import note_handed
from core.intake.tombstones import erased_texts
from core.memory.draft import to_json
from core.types.contexts import Context
from core.types.values import Actor
from core.vault.audit import AuditChain, AuditEntry
from core.vault.tx import Tx

_DAY_MS = 86_400_000
_REFUSALS_KEPT = 100  # between two flushes
_ENTRIES_KEPT = 10_000  # while nothing can be written


@dataclass(frozen=True, slots=True)
class _Entry:
    id: str
    at: int
    actor: Actor
    verb: str
    query: str
    body: Mapping[str, Any] | Callable[[], Mapping[str, Any]]
    given: tuple[str, ...]
    packed: Context | None = None
    counts: bool = True


@dataclass(frozen=True, slots=True)
class Waiting:
    """What a flush writes: reads, refusals, and when clients were last here."""

    entries: tuple[_Entry, ...]
    refusals: tuple[AuditEntry, ...]
    seen: Mapping[str, int]

    def __bool__(self) -> bool:
        return bool(self.entries or self.refusals or self.seen)


class ReadJournal:
    """Collects what reads leave behind until `flush` writes it.

    Attributes:
        receipt_days: how long the record of a recall is kept from now on; may be changed at any time.
    """

    def __init__(self, make_id: Callable[[], str], chain: AuditChain, receipt_days: int) -> None:
        self._make_id = make_id
        self._chain = chain
        self.receipt_days = receipt_days
        self._lock = threading.Lock()  # guards _entries, _refusals and _seen
        self._entries: list[_Entry] = []
        self._refusals: list[AuditEntry] = []
        self._seen: dict[str, int] = {}

    def refused(self, client_id: str | None, code: Code, method: str = "") -> None:
        """Take down that somebody was refused.

        Args:
            client_id: the client; None for a stranger.
            code: why.
            method: the method it called; "" for one that does not exist.
        """
        detail = {"code": code.value, "method": method} if method else {"code": code.value}
        who = "stranger" if client_id is None else f"client:{client_id}"
        with self._lock:
            if len(self._refusals) < _REFUSALS_KEPT:  # a flood is one fact, not a thousand rows
                self._refusals.append(AuditEntry(who, "refused", "", detail))

    def seen(self, client_id: str, now_ms: int) -> None:
        """Take down when a client was last here.

        Args:
            client_id: the client.
            now_ms: epoch ms.
        """
        with self._lock:
            self._seen[client_id] = now_ms

    def note(
        self,
        actor: Actor,
        verb: str,
        query: str,
        given: tuple[str, ...],
        body: Mapping[str, Any] | Callable[[], Mapping[str, Any]],
        now_ms: int,
        *,
        packed: Context | None = None,
        counts: bool = True,
    ) -> str:
        """Take down one read.

        Args:
            actor: who asked.
            verb: `recall`, `context` …
            query: the words asked, kept encrypted in the vault until the receipt expires.
            given: ids of what was answered.
            body: ids, ranks, counts, reasons; never memory text; its `metrics` get their own column. Where it is
                a function, that is called when the receipt is written: the reader does not wait for what it costs.
            now_ms: epoch ms.
            packed: the text that was handed out whole, if one was; it is kept as long as the receipt.
            counts: whether what was given counts as used, as what answers a question does; of a list it does not.

        Returns:
            The receipt's id.
        """
        entry = _Entry(self._make_id(), now_ms, actor, verb, query, body, given, packed, counts)
        with self._lock:
            self._entries.append(entry)
        return entry.id

    def take(self) -> Waiting:
        """Remove and return what is waiting."""
        with self._lock:
            waiting = Waiting(tuple(self._entries), tuple(self._refusals), dict(self._seen))
            self._entries, self._refusals, self._seen = [], [], {}
        return waiting

    def put_back(self, waiting: Waiting) -> None:
        """Keep what could not be written for the next flush, the newest of it.

        Args:
            waiting: from `take`.
        """
        # On paper from here on: the answers themselves, with their texts, are let go.
        kept = [replace(entry, body=_told(entry)) for entry in waiting.entries[-_ENTRIES_KEPT:]]
        with self._lock:
            self._entries = [*kept, *self._entries][-_ENTRIES_KEPT:]
            self._refusals = [*waiting.refusals, *self._refusals][-_REFUSALS_KEPT:]
            self._seen = {**waiting.seen, **self._seen}

    def given_to(self, client_id: str | None) -> frozenset[str]:
        """What was handed to a client and is not written down yet.

        Args:
            client_id: the client; None for the owner.

        Returns:
            Ids of memories.
        """
        with self._lock:
            mine = [entry.given for entry in self._entries if entry.actor.client_id == client_id]
        return frozenset(memory_id for given in mine for memory_id in given)

    def write(self, tx: Tx, waiting: Waiting) -> None:
        """Write what was taken in one transaction.

        Args:
            tx: the transaction.
            waiting: from `take`.
        """
        entries = _without_erased(tx, waiting.entries)
        tx.run_many(
            "UPDATE clients SET last_seen_at = ? WHERE id = ?",
            [(at, client_id) for client_id, at in waiting.seen.items()],
        )
        tx.run_many(
            "INSERT INTO receipts "
            "(id, at, actor, client_id, session, verb, query, items, metrics, body, expires_at) "
            # The client's pairing may have been undone since.
            "VALUES (?, ?, ?, (SELECT id FROM clients WHERE id = ?), ?, ?, ?, ?, ?, ?, ?)",
            [self._receipt(entry) for entry in entries],
        )
        self._write_contexts(tx, entries)
        counts: Counter[tuple[str, str]] = Counter()
        last: dict[str, int] = {}
        for entry in entries:
            for memory_id in entry.given if entry.counts else ():
                counts[(memory_id, entry.actor.session or entry.actor.client_id or entry.actor.kind)] += 1
                last[memory_id] = max(entry.at, last.get(memory_id, 0))
        self._write_accesses(tx, counts, last)
        given = [(e.actor.client_id, memory_id, e.at) for e in entries if e.actor.client_id for memory_id in e.given]
        note_handed(tx, given)
        self._chain.append_many(
            tx,
            [
                *waiting.refusals,
                *(AuditEntry(_actor(entry), entry.verb, entry.id, {"items": len(entry.given)}) for entry in entries),
            ],
        )

    def _receipt(self, entry: _Entry) -> tuple[object, ...]:
        actor, expires_at = entry.actor, entry.at + self.receipt_days * _DAY_MS
        who = (actor.kind, actor.client_id, actor.session)
        body = dict(_told(entry))
        metrics = body.pop("metrics", None)
        told = (len(entry.given), None if metrics is None else _json(metrics), _json(body))
        return (entry.id, entry.at, *who, entry.verb, entry.query, *told, expires_at)

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
        # A memory may have been purged since it was answered: the count of a row that is gone is dropped.
        tx.run_many(
            "INSERT INTO accesses (memory_id, session, count, last_at) SELECT id, ?, ?, ? FROM memories WHERE id = ? "
            "ON CONFLICT (memory_id, session) DO UPDATE SET count = count + excluded.count, last_at = excluded.last_at",
            [(session, count, last[memory_id], memory_id) for (memory_id, session), count in counts.items()],
        )
        totals: Counter[str] = Counter()
        for (memory_id, _), count in counts.items():
            totals[memory_id] += count
        tx.run_many(
            "UPDATE memories SET access_count = access_count + ?, last_accessed_at = ? WHERE id = ?",
            [(count, last[memory_id], memory_id) for memory_id, count in totals.items()],
        )


def _without_erased(tx: Tx, entries: Sequence[_Entry]) -> tuple[_Entry, ...]:
    """Reads that began before an erasure and are written after it leave nothing behind of what was erased.

    A question in the very words of an erased text is kept without its words, and what refers to them goes with it.
    """
    wanted = to_json(sorted({memory_id for entry in entries for memory_id in entry.given}))
    there = {
        row[0] for row in tx.all("SELECT id FROM memories WHERE id IN (SELECT value FROM json_each(?))", (wanted,))
    }
    erased = erased_texts(tx, {entry.query for entry in entries})
    kept = []
    for entry in entries:
        gone = frozenset(entry.given) - there
        if gone or entry.query in erased:
            told = {name: value for name, value in _told(entry).items() if name != "trace"}
            query = "" if entry.query in erased else entry.query
            entry = replace(entry, body=without(told, gone), query=query, packed=None if gone else entry.packed)
        kept.append(entry)
    return tuple(kept)


def _told(entry: _Entry) -> Mapping[str, Any]:
    return entry.body() if callable(entry.body) else entry.body


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(dict(value), ensure_ascii=False)


def _actor(entry: _Entry) -> str:
    return entry.actor.kind if entry.actor.client_id is None else f"client:{entry.actor.client_id}"
