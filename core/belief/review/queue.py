"""The review queue: every open item in the order of harm, and whole rows of those that are shown.

Harm = how often recalled x how opposed x how new (design section 4). Must not do: change a row, or make for each of ten
thousand items more than its place and the counts need.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from operator import attrgetter, itemgetter
from types import MappingProxyType
from typing import NamedTuple

from core.belief.review.items import APPLICABLE, PAIR
from core.score.trust import age_days
from core.types.reviews import QueueRequest
from core.vault.database.rows import Rows

OPPOSED: Mapping[str, float] = MappingProxyType(
    {
        "contradiction": 1.0,
        "injection": 0.9,
        "approval": 0.7,
        "quarantine": 0.6,
        "classification": 0.5,
        "entity_merge": 0.4,
        "proposal": 0.4,
        "stale": 0.3,
        "gap": 0.2,
    }
)
"""How far two memories of a kind of item are against each other at most, 0 to 1. The design gives the order of the
kinds only by their names: these figures are our choice."""
FADES_DAYS = 30.0
"""Days after which an open item counts half as new; our choice."""
LOW = 0.3
"""Below it an old item may close by itself: what nobody was given in ninety days lies there; our choice."""
_UNWEIGHED = 0.5
# Rows are told apart by their number, not by their id: a number is made faster, and found faster.
# Of a request who asks counts, whoever brought the memory.
_BY = (
    "CASE WHEN c.kind = 'approval' THEN coalesce((SELECT a.client_id FROM approvals a WHERE a.conflict_id = c.id), "
    "i.client_id) ELSE i.client_id END"
)
_OPEN = (
    "SELECT c.opened_at, c.confidence, c.later_until, c.id, c.rowid, c.kind, "
    f"i.access_count + coalesce(e.access_count, 0), i.source, {_BY}, c.existing_id, c.incoming_id, c.space_id "
    + PAIR
    + "WHERE c.state = 'open' AND "
    + APPLICABLE
)
_OPEN_WITHIN = _OPEN + " AND c.space_id IN (SELECT value FROM json_each(?))"  # noqa: S608 - constants only
# The claims by which items are named. Not grouped: sorting 10,000 rows would cost more than all the rest.
_SUBJECTS = (
    "SELECT c.rowid, l.exclusive, l.subject, l.subject_key, l.predicate FROM conflicts c "
    "JOIN evidence v ON v.memory_id = c.incoming_id JOIN claims l ON l.id = v.claim_id WHERE c.state = 'open'"
)
_TEXTS = "SELECT c.rowid, i.text, e.text " + PAIR + "WHERE c.state = 'open'"


class QueueEntry(NamedTuple):
    """What an open item's place and the counts are made of; sorts in the order of the queue.

    Attributes:
        later: it was put off, and its time has not come.
        weight: the harm (`core.belief.review.queue`) below zero.
        newer: the moment it was opened below zero, epoch ms.
        nr: tells the item from others within one snapshot.
        recalled: how often either memory was given to somebody.
    """

    later: bool
    weight: float
    newer: int
    id: str
    nr: int
    kind: str
    recalled: int
    source: str
    client_id: str | None
    existing_id: str | None
    incoming_id: str
    space_id: str


class WaitingItem(NamedTuple):
    """One item that can be decided now; no text of a memory.

    Attributes:
        recalled: how often either memory was given to somebody.
        subject: as written; "" where no claim was read. `subject_key` is how subjects are compared.
        later: it was put off, and its time has not come.
        harm: from `core.belief.review.queue`.
    """

    id: str
    kind: str
    existing_id: str | None
    incoming_id: str
    space_id: str
    space: str
    opened_at: int
    recalled: int
    source: str
    client_id: str | None
    client: str | None
    subject: str
    subject_key: str
    predicate: str
    later: bool
    harm: float


class NamingClaim(NamedTuple):
    """The claim by which an item is named; `nr` is the item's, `subject_key` is how subjects are compared."""

    nr: int
    exclusive: int
    subject: str
    subject_key: str
    predicate: str


_NOBODY = NamingClaim(0, 0, "", "", "")


@dataclass(frozen=True, slots=True)
class WaitingPile:
    """Everything that waits.

    Attributes:
        items: every item, in the order of the queue.
        names: by an item's number what names it: a claim that only one value can hold, if there is one; items without
            a claim are not in it.
        clients: names by id.
    """

    items: Sequence[QueueEntry]
    names: Mapping[int, tuple[int, int, str, str, str]]
    clients: Mapping[str | None, str]

    def naming_claim_of(self, item: QueueEntry) -> NamingClaim:
        """What names an item."""
        return NamingClaim(*self.names.get(item.nr, _NOBODY))

    def list_subjects(self) -> Iterator[str]:
        """The key of each item's subject, where it has one."""
        return map(itemgetter(3), filter(None, map(self.names.get, map(attrgetter("nr"), self.items))))


def score_opposition(kind: str, confidence: float | None) -> float:
    """How far the two memories of an item are against each other.

    Args:
        kind: a kind of `conflicts.kind`; an unknown one counts least.
        confidence: how sure it is that they do not go together, 0 to 1; None where nothing was weighed.

    Returns:
        Above 0, at most 1.
    """
    most = OPPOSED.get(kind, min(OPPOSED.values()))
    sure = _UNWEIGHED if confidence is None else min(1.0, max(0.0, confidence))
    return most * (0.5 + 0.5 * sure)


def score_novelty(age_days: float) -> float:
    """How new an item is.

    Args:
        age_days: days since it was opened; a negative age counts as 0.

    Returns:
        1 at first, half of it after `FADES_DAYS`, never 0.
    """
    return 1.0 / (1.0 + max(0.0, age_days) / FADES_DAYS)


def harm_score(recalled: int, opposition: float, age_days: float) -> float:
    """Work out the place of an item: (1 + ln(1 + recalled)) opposed newness (design section 4; peers, rule c).

    The logarithm keeps one much-used memory from burying everything else; the 1 keeps what was never recalled in order.

    Args:
        recalled: how often either memory was given to somebody, 0 or more.
        opposition: from `score_opposition`, 0 to 1.
        age_days: days since the item was opened.

    Returns:
        0 or more; higher comes first.
    """
    return (1.0 + math.log1p(max(0, recalled))) * min(1.0, max(0.0, opposition)) * score_novelty(age_days)


def read_waiting(rows: Rows, now_ms: int, space_ids: Iterable[str] | None = None) -> list[QueueEntry]:
    """Every open item that is applicable, most harmful first, what was put off at the end.

    Args:
        space_ids: only items of these spaces; None for all.
    """
    open_items = rows.all(_OPEN) if space_ids is None else rows.all(_OPEN_WITHIN, (json.dumps(list(space_ids)),))
    found = [
        QueueEntry(
            later is not None and later > now_ms,
            -harm_score(row[3], score_opposition(row[2], sure), age_days(now_ms, opened_at)),
            -opened_at,
            *row,
        )
        for opened_at, sure, later, *row in open_items
    ]
    found.sort()
    return found


def read_pile(rows: Rows, now_ms: int, space_ids: Iterable[str] | None = None) -> WaitingPile:
    """All that waits, with what it is counted by.

    Args:
        space_ids: only items of these spaces; None for all.
    """
    named: dict[int, tuple[int, int, str, str, str]] = {}
    for row in rows.all(_SUBJECTS):
        if row[1] or row[0] not in named:
            named[row[0]] = row
    return WaitingPile(read_waiting(rows, now_ms, space_ids), named, dict(rows.all("SELECT id, name FROM clients")))


def select_review_items(rows: Rows, pile: WaitingPile, request: QueueRequest) -> list[WaitingItem]:
    """The items that a request asks for, in their order, up to its cap.

    Args:
        rows: the snapshot the pile was read from.
        pile: from `read_pile`.
        request: its filters and cap.

    Returns:
        Those that pass all of them.
    """
    kept: Iterator[QueueEntry] = (item for item in pile.items if _is_requested(pile, item, request))
    if request.text is not None and request.text.strip():
        kept = _select_items_with_words(rows, pile, kept, request.text.strip().casefold())
    spaces = dict(rows.all("SELECT id, name FROM spaces"))
    return [_make_waiting_item(pile, item, spaces) for item in islice(kept, max(0, request.cap))]


def _select_items_with_words(
    rows: Rows, pile: WaitingPile, kept: Iterable[QueueEntry], words: str
) -> Iterator[QueueEntry]:
    """Items of which a memory, or the subject, has certain words."""
    # Here and not in SQL: its `lower` knows no letters but those of ASCII, and takes twice as long.
    hits = {
        nr
        for nr, incoming, existing in rows.all(_TEXTS)
        if words in incoming.casefold() or (existing is not None and words in existing.casefold())
    }
    return (item for item in kept if item.nr in hits or words in pile.names.get(item.nr, _NOBODY)[3])


def _is_requested(pile: WaitingPile, item: QueueEntry, request: QueueRequest) -> bool:
    return (
        (request.kinds is None or item.kind in request.kinds)
        and (request.client is None or pile.clients.get(item.client_id) == request.client)
        and (request.source is None or item.source == request.source)
        and (request.subject is None or request.subject in pile.names.get(item.nr, _NOBODY)[2:4])
    )


def _make_waiting_item(pile: WaitingPile, item: QueueEntry, spaces: Mapping[str, str]) -> WaitingItem:
    named = pile.naming_claim_of(item)
    return WaitingItem(
        id=item.id,
        kind=item.kind,
        existing_id=item.existing_id,
        incoming_id=item.incoming_id,
        space_id=item.space_id,
        space=spaces[item.space_id],
        opened_at=-item.newer,
        recalled=item.recalled,
        source=item.source,
        client_id=item.client_id,
        client=pile.clients.get(item.client_id),
        subject=named.subject,
        subject_key=named.subject_key,
        predicate=named.predicate,
        later=item.later,
        harm=-item.weight,
    )
