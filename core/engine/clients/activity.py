"""What clients did, newest first: answers from receipts, changes from undo steps, refusals from the audit.

That it connected is kept of the last time alone; a line that moves would be none of a journal, so its card says it.
Each client's journals are read by their own indexes, a page at a time, and laid into one another. Only the person sees
them: a change names the memory it was about. Must not do: show what was asked, or keep the words of a memory.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from core.errors import Code, UserError
from core.text.screening.injection import ALLOWED, FLAG
from core.types.clients import ActivityLine, ActivityPage, Did
from core.vault.database.rows import Rows

MOST = 200
_LAST = "\U0010ffff"
_FAR = 2**62
_WORDS = 200
_SEALED, _BLOCKED = "sealed", "injection"
# What a receipt holds of what was withheld.
_WITHHELD = (
    "json_object('near_misses', json_extract(r.body, '$.near_misses'), 'excluded', "
    "json_extract(r.body, '$.context.excluded'), 'sealed', json_extract(r.body, '$.sealed'), "
    "'blocked', json_extract(r.body, '$.blocked'))"
)
# The memory a step was about: one it wrote, else the one of a question it opened or closed.
_ABOUT = (
    f"SELECT m.id, substr(m.text, 1, {_WORDS}), s.name, m.flags FROM memories m JOIN spaces s ON s.id = m.space_id "  # noqa: S608
    "WHERE m.n = coalesce("
    "(SELECT min(json_extract(u.row_key, '$.n')) FROM undo_rows u WHERE u.step_id = :step AND u.tbl = 'memories' "
    "AND EXISTS (SELECT 1 FROM memories x WHERE x.n = json_extract(u.row_key, '$.n') "
    "AND coalesce(x.part_index, 0) = 0)), "
    "(SELECT x.n FROM undo_rows u JOIN conflicts k ON k.id = json_extract(u.row_key, '$.id') "
    "JOIN memories x ON x.id = k.incoming_id WHERE u.step_id = :step AND u.tbl = 'conflicts' LIMIT 1))"
)
# What the verb answered at the time: how the memory stands now says only what became of it since. The log names the
# memory of a step by its id, also when it is gone.
_OPERATION = (
    "SELECT json_extract(a.detail, '$.operation') FROM audit a WHERE a.object IN "
    "(SELECT l.memory_id FROM consolidation_log l WHERE l.step_id = :step) AND a.at = :at AND a.verb = :verb "
    "ORDER BY a.nr LIMIT 1"
)
# Of each: key, at, and what the line says. Behind the cursor come smaller (at, key).
_ASKED = (
    f"SELECT r.id, r.at, r.verb, r.items, {_WITHHELD} FROM receipts r WHERE r.client_id = :client "  # noqa: S608
    "AND (r.at, r.id) < (:at, :key) ORDER BY r.at DESC, r.id DESC LIMIT :most"
)
_WROTE = (
    "SELECT s.id, s.at, s.verb, (SELECT count(DISTINCT json_extract(u.row_key, '$.n')) FROM undo_rows u "
    "WHERE u.step_id = s.id AND u.tbl = 'memories'), s.undone_by IS NOT NULL FROM undo_steps s "
    "WHERE s.client_id = :client AND (s.at, s.id) < (:at, :key) ORDER BY s.at DESC, s.id DESC LIMIT :most"
)
_REFUSED = (
    "SELECT a.nr, a.at, coalesce(json_extract(a.detail, '$.method'), ''), "
    "coalesce(json_extract(a.detail, '$.code'), '') FROM audit a WHERE a.actor = :actor AND a.verb = 'refused' "
    "AND (a.at, a.nr) < (:at, :nr) ORDER BY a.at DESC, a.nr DESC LIMIT :most"
)
_Placed = tuple[tuple[int, int, str | int], ActivityLine]
"""A line behind what it is sorted by: its time, its kind, its key."""
_RANKS = {Did.ASKED: 0, Did.REFUSED: 1, Did.WROTE: 2}


@dataclass(frozen=True, slots=True)
class _Cursor:
    """Behind what a page goes on: a time, what kind of line stood there, and its key."""

    at: int
    rank: int
    key: str

    def bounds(self, did: Did) -> dict[str, object]:
        """What comes behind it of one kind: of the same time only kinds that are listed later."""
        rank = _RANKS[did]
        if rank == self.rank:
            return {"at": self.at, "key": self.key, "nr": int(self.key) if did is Did.REFUSED else 0}
        later = rank < self.rank
        return {"at": self.at, "key": _LAST if later else "", "nr": _FAR if later else -1}


_NEWEST = _Cursor(_FAR, len(_RANKS), "")


def activity_page(rows: Rows, client: str | None, after: str | None, limit: int) -> ActivityPage:
    """A page of what clients did.

    Args:
        client: the id of one; None for all.
        after: `next` of the page before; None for the newest.
        limit: lines at most, 1 to 200.

    Returns:
        The page.

    Raises:
        UserError: INVALID_INPUT for a limit out of range or an `after` that is none.
    """
    if not 1 <= limit <= MOST:
        raise UserError(Code.INVALID_INPUT, f"A page has 1 to {MOST} lines.")
    cursor = _NEWEST if after is None else _cursor(after)
    names: Mapping[str, str] = dict(
        rows.all("SELECT id, name FROM clients WHERE :one IS NULL OR id = :one", {"one": client})
    )
    found: list[_Placed] = []
    for client_id, name in names.items():
        found += _lines(rows, client_id, name, cursor, limit + 1)
    found.sort(key=lambda pair: pair[0], reverse=True)
    page = [(place, _about(rows, line)) for place, line in found[:limit]]
    more = len(found) > limit
    return ActivityPage(tuple(line for _, line in page), json.dumps(page[-1][0]) if more else None)


def _lines(rows: Rows, client_id: str, name: str, cursor: _Cursor, most: int) -> list[_Placed]:
    known = {"client": client_id, "actor": f"client:{client_id}", "most": most}
    within = {did: {**known, **cursor.bounds(did)} for did in Did}
    asked = [
        _line(Did.ASKED, row, name, receipt_id=row[0], verb=row[2], count=row[3], **_withheld(row[4]))
        for row in rows.all(_ASKED, within[Did.ASKED])
    ]
    wrote = [
        _line(Did.WROTE, row, name, step_id=row[0], verb=row[2], count=row[3], is_undone=bool(row[4]))
        for row in rows.all(_WROTE, within[Did.WROTE])
    ]
    refused = [
        _line(Did.REFUSED, row, name, verb=row[2], code=row[3]) for row in rows.all(_REFUSED, within[Did.REFUSED])
    ]
    return [*asked, *wrote, *refused]


def _withheld(told: str) -> dict[str, Any]:
    """How many memories were withheld, and how many for each reason."""
    held = {name: value or () for name, value in json.loads(told).items()}
    reasons = Counter(str(one.get("why", "")) for one in held["near_misses"])
    reasons.update(str(one.get("reason", "")) for one in held["excluded"])
    reasons.update({_SEALED: int(held["sealed"] or 0), _BLOCKED: len(held["blocked"])})
    ranked = sorted(((why, count) for why, count in reasons.items() if count), key=lambda one: (-one[1], one[0]))
    return {"withheld": reasons.total(), "reasons": tuple(ranked)}


def _about(rows: Rows, line: ActivityLine) -> ActivityLine:
    """A line with what was answered, and with the memory it is about, where it is about one that is there."""
    if not line.step_id:
        return line
    found = rows.one(_ABOUT, {"step": line.step_id})
    answered = rows.value(_OPERATION, {"step": line.step_id, "at": line.at, "verb": line.verb})
    line = replace(line, operation=answered or "")
    if found is None:
        return line
    memory_id, words, space, flags = found
    marks = frozenset(json.loads(flags))
    is_warned = FLAG in marks and ALLOWED not in marks
    return replace(line, memory_id=memory_id, words=words, space=space, is_warned=is_warned)


def _line(did: Did, row: tuple[Any, ...], name: str, **more: Any) -> _Placed:
    return (row[1], _RANKS[did], row[0]), ActivityLine(at=row[1], did=did, client=name, **more)


def _cursor(after: str) -> _Cursor:
    try:
        at, rank, key = json.loads(after)
        return _Cursor(int(at), int(rank), str(key) if int(rank) != _RANKS[Did.REFUSED] else str(int(key)))
    except (ValueError, TypeError):
        raise UserError(Code.INVALID_INPUT, "`after` is not from a page before; ask again from the start.") from None
