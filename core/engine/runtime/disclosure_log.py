"""What clients were handed beside answers to questions: one record a minute for what is read alike, not one a page.

A client may read hundreds of pages a minute, each with hundreds of ids; a record of each would fill the disk. The
person needs to see what was read, when and how much: the first page is taken down at once, what follows within the
minute is counted on the same record. Must not do: write, or keep a text; guard itself (its journal does).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.types.values import Actor

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

    def listed(self) -> list[str]:
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

    def body(self) -> dict[str, Any]:
        told: dict[str, Any] = {"items": [{"id": one} for one in self.memories.listed()]}
        told |= {
            name: ids.listed() for name, ids in (("entities", self.entities), ("blocked", self.blocked)) if ids.count
        }
        unlisted = {"items": self.memories.count - LISTED, "entities": self.entities.count - LISTED}
        told |= {f"more_{name}": count for name, count in unlisted.items() if count > 0}
        return told | ({"reads": self.reads, "last_at": self.last_at} if self.reads > 1 else {})


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
            verb: what.
            query: the words asked with; "" for none.
            memories: ids that it was handed.
            entities: likewise.
            blocked: ids of memories that it asked for and whose words were not shown.
            counts: whether what was given counts as used.

        Returns:
            The id of the record it stands on.
        """
        key, record = self._found(actor, verb, query, now_ms)
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

    def take(self) -> tuple[DisclosureRecord, ...]:
        """What changed since the last time, the oldest record first."""
        made = []
        for record in self._all():
            if record.changed:
                made.append(
                    DisclosureRecord(
                        record.id,
                        record.at,
                        record.actor,
                        record.verb,
                        record.query,
                        record.body(),
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
        mine = [record.waiting for record in self._all() if record.actor.client_id == client_id]
        return [memory_id for waiting in mine for memory_id in waiting]

    def _all(self) -> tuple[_Record, ...]:
        return (*self._over, *self._records.values())

    def _found(self, actor: Actor, verb: str, query: str, now_ms: int) -> tuple[_Key, _Record | None]:
        """The record a read stands on, if it has begun, and its key."""
        key = (actor.client_id, actor.session, verb, query)
        record = self._records.get(key)
        if record is not None and _goes_on(record, now_ms):
            return key, record
        self._records = {name: one for name, one in self._records.items() if one.changed or _goes_on(one, now_ms)}
        mine = sum(_goes_on(one, now_ms) for name, one in self._records.items() if name[0] == actor.client_id)
        if mine >= _LINES:
            key = (actor.client_id, None, verb, "")
            record = self._records.get(key)
            return key, record if record is not None and _goes_on(record, now_ms) else None
        return key, None


def _goes_on(record: _Record, now_ms: int) -> bool:
    return 0 <= now_ms - record.at < _MINUTE_MS
