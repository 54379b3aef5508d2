"""What waits at the desk, read in whole sets: which items are still a question, how pressing each is, who is concerned.

An item is *applicable* when the memories it names still stand so that every decision on it could be carried out. The
same condition chooses what is shown, what the badge counts and what closes itself. Must not do: change a row, or read
more text than the rows that are shown need.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

from core.score.harm import age_days, harm, opposed
from core.types.reviews import QueueRequest
from core.vault.rows import Rows

# Whoever is held back waits for a person, whatever became of the other side; two that stand are a question only as long
# as both do (`i` the newcomer, `e` what stands).
_APPLICABLE = (
    "CASE WHEN c.kind IN ('proposal', 'quarantine', 'injection') THEN i.status = 'quarantined' "
    "WHEN c.kind = 'contradiction' "
    "THEN i.status IN ('quarantined', 'disputed') OR (i.status = 'active' AND e.status IN ('active', 'disputed')) "
    "WHEN c.kind = 'classification' THEN i.status = 'quarantined' "
    "OR (i.status IN ('active', 'disputed') AND e.status IN ('active', 'disputed', 'quarantined')) "
    "WHEN c.kind = 'approval' THEN i.status IN ('active', 'disputed', 'quarantined') "
    "AND (c.existing_id IS NULL OR e.status IN ('active', 'disputed')) "
    "ELSE i.status IN ('active', 'disputed') AND (c.existing_id IS NULL OR e.status IN ('active', 'disputed')) END"
)
_PAIR = "FROM conflicts c JOIN memories i ON i.id = c.incoming_id LEFT JOIN memories e ON e.id = c.existing_id "
_WAITING = (
    "SELECT c.id, c.kind, c.existing_id, c.incoming_id, c.space_id, c.opened_at, c.confidence, c.later_until, "
    "i.access_count + coalesce(e.access_count, 0), i.source, i.client_id "
    + _PAIR
    + "WHERE c.state = 'open' AND "
    + _APPLICABLE
)
_COUNT = "SELECT count(*) " + _PAIR + "WHERE c.state = 'open' AND " + _APPLICABLE
_STILL = "SELECT " + _APPLICABLE + " " + _PAIR + "WHERE c.id = ?"
_LAPSED = "SELECT c.id " + _PAIR + "WHERE c.state = 'open' AND NOT coalesce(" + _APPLICABLE + ", 0) ORDER BY c.id"
# The plus keeps the index by state out: few memories are asked for, and thousands of items may be open.
_LAPSED_AMONG = (
    "SELECT c.id "  # noqa: S608 - constants only
    + _PAIR
    + "WHERE c.id IN (SELECT o.id FROM json_each(:ids) w JOIN conflicts o ON o.incoming_id = w.value "
    "WHERE +o.state = 'open' UNION SELECT o.id FROM json_each(:ids) w JOIN conflicts o ON o.existing_id = w.value "
    "WHERE +o.state = 'open') AND NOT coalesce(" + _APPLICABLE + ", 0) ORDER BY c.id"
)
_RETURNED = (
    "SELECT c.id "  # noqa: S608 - constants only
    + _PAIR
    + "WHERE c.state = 'moot' AND c.note = ? AND "
    + _APPLICABLE
    + " AND NOT EXISTS (SELECT 1 FROM conflicts o WHERE o.state = 'open' AND o.fingerprint = c.fingerprint) "
    "ORDER BY c.id"
)
# The claims by which items are named. Not grouped: sorting 10,000 rows would cost more than all the rest.
_SUBJECTS = (
    "SELECT c.id, l.exclusive, l.subject, l.subject_key, l.predicate FROM conflicts c "
    "JOIN evidence v ON v.memory_id = c.incoming_id JOIN claims l ON l.id = v.claim_id WHERE c.state = 'open'"
)
_TEXTS = "SELECT c.id, i.text, e.text " + _PAIR + "WHERE c.state = 'open'"


class Waiting(NamedTuple):
    """One item that can be decided now; no text of a memory.

    Attributes:
        recalled: how often either memory was given to somebody.
        subject: as written; "" where no claim was read. `subject_key` is how subjects are compared.
        later: it was put off, and its time has not come.
        harm: from `core.score.harm`.
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


def waiting(rows: Rows, now_ms: int, space_ids: Iterable[str] | None = None) -> list[Waiting]:
    """Every open item that is applicable, most harmful first, what was put off at the end.

    Args:
        rows: a vault snapshot.
        now_ms: the present, epoch ms.
        space_ids: only items of these spaces; None for all.

    Returns:
        The items.
    """
    allowed = None if space_ids is None else frozenset(space_ids)
    named, nobody = _named(rows), ("", "", "")
    spaces = dict(rows.all("SELECT id, name FROM spaces"))
    clients = dict(rows.all("SELECT id, name FROM clients"))
    found: list[tuple[bool, float, int, str, Waiting]] = []
    for item_id, kind, have, came, space, opened_at, sure, later, recalled, source, client in rows.all(_WAITING):
        if allowed is not None and space not in allowed:
            continue
        weight = harm(recalled, opposed(kind, sure), age_days(now_ms, opened_at))
        put_off = later is not None and later > now_ms
        about = named.get(item_id, nobody)
        # By place: by name it would take twice as long for 10,000.
        row = (item_id, kind, have, came, space, spaces[space], opened_at, recalled, source, client)
        item = Waiting(*row, clients.get(client), *about, put_off, weight)
        found.append((put_off, -weight, -opened_at, item_id, item))
    found.sort()
    return [item for *_, item in found]


def _named(rows: Rows) -> dict[str, tuple[str, str, str]]:
    """Subject, its key and predicate of each item: of a claim that only one value can hold, if there is one."""
    found: dict[str, tuple[str, str, str]] = {}
    for item_id, exclusive, subject, subject_key, predicate in rows.all(_SUBJECTS):
        if exclusive or item_id not in found:
            found[item_id] = (subject, subject_key, predicate)
    return found


def chosen(rows: Rows, items: Sequence[Waiting], request: QueueRequest) -> list[Waiting]:
    """The items that a request asks for, in their order.

    Args:
        rows: the snapshot the items were read from.
        items: from `waiting`.
        request: its filters; the cap is not applied.

    Returns:
        Those that pass all of them.
    """
    kept: Iterable[Waiting] = items
    if request.text is not None and request.text.strip():
        words = request.text.strip().casefold()
        # Here and not in SQL: its `lower` knows no letters but those of ASCII, and takes twice as long.
        hits = {
            item_id
            for item_id, came, have in rows.all(_TEXTS)
            if words in came.casefold() or (have is not None and words in have.casefold())
        }
        kept = [item for item in kept if item.id in hits or words in item.subject_key]
    return [item for item in kept if _passes(item, request)]


def _passes(item: Waiting, request: QueueRequest) -> bool:
    return (
        (request.kinds is None or item.kind in request.kinds)
        and (request.client is None or item.client == request.client)
        and (request.source is None or item.source == request.source)
        and (request.subject is None or request.subject in (item.subject_key, item.subject))
    )


def open_count(rows: Rows) -> int:
    """How many items wait for the person; what was put off counts.

    Args:
        rows: a vault snapshot.

    Returns:
        0 or more.
    """
    return int(rows.value(_COUNT))


def is_applicable(rows: Rows, item_id: str) -> bool:
    """Whether an item can be decided as it stands now, whatever its state says.

    Args:
        rows: a vault snapshot or a transaction.
        item_id: the item.

    Returns:
        False also where there is no such item.
    """
    return bool(rows.value(_STILL, (item_id,)))


def lapsed(rows: Rows) -> list[str]:
    """Open items that are no longer a question, to be closed with a note.

    Args:
        rows: a vault snapshot or a transaction.

    Returns:
        Their ids; few or none.
    """
    return [str(row[0]) for row in rows.all(_LAPSED)]


def lapsed_among(rows: Rows, memory_ids: Iterable[str]) -> list[str]:
    """Open items about certain memories that are no longer a question.

    A newcomer that is held back goes on waiting when the other side leaves; it is then a question of its own.

    Args:
        rows: a vault snapshot or a transaction.
        memory_ids: memories that changed.

    Returns:
        Ids of the items.
    """
    return [str(row[0]) for row in rows.all(_LAPSED_AMONG, {"ids": json.dumps(list(memory_ids))})]


def returned(rows: Rows, note: str) -> list[str]:
    """Items that closed themselves with a note and are a question again, because what closed them was taken back.

    Args:
        rows: a vault snapshot or a transaction.
        note: the note they closed with.

    Returns:
        Their ids; few or none.
    """
    return [str(row[0]) for row in rows.all(_RETURNED, (note,))]


def standing_side(rows: Rows, existing_id: str | None, incoming_id: str) -> str | None:
    """The memory an item is held against, as it stands now: itself, or what stands in its place after an edit.

    Args:
        rows: a vault snapshot or a transaction.
        existing_id: as the item has it.
        incoming_id: its newcomer.

    Returns:
        The memory's id; None where nothing of it stands.
    """
    row = (
        None if existing_id is None else rows.one("SELECT status, chain_id FROM memories WHERE id = ?", (existing_id,))
    )
    if row is None or row[0] in ("active", "disputed", "quarantined"):
        return None if row is None else existing_id
    found = rows.value(
        "SELECT id FROM memories WHERE chain_id = ? AND id <> ? AND status IN ('active', 'disputed') "
        "ORDER BY version DESC, n DESC LIMIT 1",
        (row[1], incoming_id),
    )
    return None if found is None else str(found)


@dataclass(frozen=True, slots=True)
class Item:
    """A row of `conflicts` as the desk reads it.

    Attributes:
        reason: a key of `resources/help/review.json`.
        detail: probabilities, claims at odds; ids, numbers and keys, and who doubts with what words.
        suggestion: a word of `Action`; None where nothing is suggested.
    """

    id: str
    kind: str
    existing_id: str | None
    incoming_id: str
    space_id: str
    reason: str
    suggestion: str | None
    confidence: float | None
    state: str
    resolution: str | None
    note: str | None
    fingerprint: bytes
    opened_at: int
    closed_at: int | None
    later_until: int | None
    detail: Mapping[str, object]


_COLUMNS = tuple(field.name for field in fields(Item))
_ITEM = (
    "SELECT id, kind, existing_id, incoming_id, space_id, reason, suggestion, confidence, state, resolution, note, "
    "fingerprint, opened_at, closed_at, later_until, detail FROM conflicts WHERE "
)
_ONE = _ITEM + "id = ?"
_ALIKE = _ITEM + "(id >= :first AND id < :last) OR substr(id, -:length) = :part LIMIT 50"
_CLOSED = _ITEM + "closed_at IS NOT NULL AND closed_at >= ? ORDER BY closed_at DESC, id DESC LIMIT ?"


def read_item(rows: Rows, item_id: str) -> Item | None:
    """One item, open or closed.

    Args:
        rows: a vault snapshot or a transaction.
        item_id: its id.

    Returns:
        The item; None where there is none.
    """
    row = rows.one(_ONE, (item_id,))
    return None if row is None else _item(row)


def items_alike(rows: Rows, part: str) -> tuple[Item, ...]:
    """Items whose ids begin or end so, to find one by what a person types: ids of one day begin alike.

    Args:
        rows: a vault snapshot.
        part: the beginning or the end of an id.

    Returns:
        None, one, or more where it is not unique; fifty at most.
    """
    wanted = {"first": part, "last": part + "\x7f", "length": len(part), "part": part}
    return tuple(_item(row) for row in rows.all(_ALIKE, wanted))


def closed_since(rows: Rows, since_ms: int, most: int) -> tuple[Item, ...]:
    """Items that closed from a moment on, the latest first.

    Args:
        rows: a vault snapshot.
        since_ms: epoch ms.
        most: items at most.

    Returns:
        The items.
    """
    return tuple(_item(row) for row in rows.all(_CLOSED, (since_ms, most)))


def _item(row: Sequence[Any]) -> Item:
    told = json.loads(str(row[15]))
    named = dict(zip(_COLUMNS, row, strict=True))
    return Item(**{**named, "detail": told if isinstance(told, dict) else {}})
