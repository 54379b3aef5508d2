"""What the library lists: all ids that match a search, in order, and the light rows of those that are in sight.

One statement finds; the order, and strength, which depends on the present, are worked out here. Must not do: rank by
meaning (`core.recall.answer.pipeline` does), leave the scope out, or put what somebody typed into a statement.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import Code, UserError
from core.memory.read import read_occurred, said_at_sql
from core.memory.strengths import COLUMNS, JOINS, WIDTH, read_strengths
from core.recall.query.scope import OWNER_SCOPE, Scope
from core.text.screening.injection import ALLOWED, FLAG
from core.text.search_syntax import (
    NAMED,
    NUMBERS,
    PHRASE,
    WORD,
    WORDS_OF,
    ParsedSearch,
    SearchTerm,
    date_range,
    number_range,
    parse_search,
)
from core.text.terms import query_terms
from core.types.values import Kind, Role, Source, Status
from core.types.views import SORTS, FindRequest, MemoryRow
from core.vault.database.rows import Rows

HEAD_CHARACTERS = 300
_HEAD_BYTES = 4 * HEAD_CHARACTERS

_STANDING = "m.status IN ('active', 'disputed')"
# Each takes one JSON list. Case does not matter for A to Z.
_ONE_OF = {
    "kind": "m.kind IN (SELECT value FROM json_each(?))",
    "status": "m.status IN (SELECT value FROM json_each(?))",
    "source": "m.source IN (SELECT value FROM json_each(?))",
    "space": "m.space_id IN (SELECT s.id FROM json_each(?) w JOIN spaces s ON s.name = w.value COLLATE NOCASE)",
    "client": "m.client_id IN (SELECT c.id FROM json_each(?) w JOIN clients c ON c.name = w.value COLLATE NOCASE)",
    "tag": "m.tags <> '[]' AND EXISTS (SELECT 1 FROM json_each(?) w JOIN json_each(m.tags) t "
    "ON t.value = w.value COLLATE NOCASE)",
    "category": "m.category COLLATE NOCASE IN (SELECT value FROM json_each(?))",
    "author": "m.author COLLATE NOCASE IN (SELECT value FROM json_each(?))",
    "room": "m.id IN (SELECT p.memory_id FROM json_each(?) w JOIN rooms r ON r.id = w.value "
    "OR r.name = w.value COLLATE NOCASE JOIN places p ON p.room_id = r.id)",
    "import": "m.import_id IN (SELECT i.id FROM json_each(?) w JOIN imports i ON i.id = w.value "
    "OR i.label = w.value COLLATE NOCASE)",
    "conversation": "m.conversation_id IN (SELECT c.id FROM json_each(?) w JOIN conversations c ON c.id = w.value "
    "OR instr(lower(c.title), lower(w.value)) > 0)",
}
_FLAGS = {
    "pinned": "m.pinned = 1",
    "edited": "EXISTS (SELECT 1 FROM memories o WHERE o.id = m.supersedes_id AND o.status_reason = 'edited')",
    "split": "m.part_of IS NOT NULL",
    "placed": "EXISTS (SELECT 1 FROM places p WHERE p.memory_id = m.id)",
    "time": "m.occurred_at IS NOT NULL",
    "conversation": "m.conversation_id IS NOT NULL",
    "claims": "EXISTS (SELECT 1 FROM evidence e WHERE e.memory_id = m.id)",
}
_COLUMNS = {"trust": "m.trust", "importance": "m.importance", "confidence": "m.confidence"}
_TIMES = {"recorded": "m.recorded_at"}
_SAID = said_at_sql("m")
_HAS_WORDS = "m.n IN (SELECT rowid FROM memory_fts WHERE memory_fts MATCH ?)"
_HAS_PHRASE = "instr(CAST(m.text AS BLOB), CAST(? AS BLOB)) > 0"

_NUMBER_KEYS = {
    "recorded": "m.n",  # labels rise with the time of recording
    "occurred": "m.occurred_at",
    "trust": "m.trust",
    "importance": "m.importance",
    "accessed": "m.last_accessed_at",
    "strength": "m.n",
}
_WORD_KEYS = {
    "kind": "m.kind",
    "status": "m.status",
    "space": "m.space_id",
    "text": "substr(m.text, 1, 100)",
}
_KEYS = _NUMBER_KEYS | _WORD_KEYS
_ROWS = (
    "SELECT m.id, m.n, m.kind, m.status, substr(CAST(m.text AS BLOB), 1, :bytes), octet_length(m.text), s.name, "  # noqa: S608
    "m.source, m.role, m.author, c.name, m.category, m.importance, m.tags, m.occurred_at, m.occurred_prec, "
    "m.occurred_offset, m.recorded_at, m.trust, m.confidence, m.pinned, m.access_count, "
    f"m.last_accessed_at, t.title, r.name, m.flags, {COLUMNS} FROM json_each(:ids) w JOIN memories m ON m.id = w.value "
    "JOIN spaces s ON s.id = m.space_id LEFT JOIN clients c ON c.id = m.client_id "
    "LEFT JOIN conversations t ON t.id = m.conversation_id "
    "LEFT JOIN places p ON p.memory_id = m.id LEFT JOIN rooms r ON r.id = p.room_id"
    f"{JOINS}"
)


def find_rows(rows: Rows, request: FindRequest, now_ms: int, scope: Scope = OWNER_SCOPE) -> tuple[str, ...]:
    """All memories that match a search, in order.

    Args:
        request: the search and how it is sorted.
        now_ms: the present, epoch ms; for strength.
        scope: what the asker may see.

    Returns:
        Memory ids.

    Raises:
        UserError: INVALID_QUERY for a search that cannot be read, INVALID_INPUT for an order that is none.
    """
    if request.sort not in SORTS:
        raise UserError(Code.INVALID_INPUT, f"A list is sorted by one of {', '.join(SORTS)}.")
    search = parse_search(request.query)
    if search.problems:
        raise UserError(Code.INVALID_QUERY, search.problems[0].sentence)
    params: list[object] = []
    where = _conditions(search, scope, params)
    fading = [term for term in search.terms if term.key == "strength"]
    weighed = bool(fading) or request.sort == "strength"
    # Sorted below: for 100,000 rows that takes a third of the time of the database's own sorter, and lets threads run.
    key = _KEYS[request.sort]
    read, joined = (f"m.id, {key}, {COLUMNS}", JOINS) if weighed else (f"m.id, {key}", "")
    found = rows.all(f"SELECT {read} FROM memories m{joined} WHERE {where} ORDER BY m.n", params)  # noqa: S608
    ids, keys = [row[0] for row in found], [row[1] for row in found]
    if weighed and found:
        values = read_strengths([row[2:] for row in found], now_ms)
        keys = values.tolist() if request.sort == "strength" else keys
        kept = np.ones(values.size, np.bool_)
        for term in fading:
            kept &= _within(values, term) != term.negated
        places = np.flatnonzero(kept).tolist()
        ids, keys = [ids[place] for place in places], [keys[place] for place in places]
    if request.sort in _WORD_KEYS:
        names = dict(rows.all("SELECT id, name FROM spaces")) if request.sort == "space" else {}
        return _ordered(ids, _by_words([names.get(key, key) for key in keys]), descending=request.descending)
    return _by_numbers(ids, keys, descending=request.descending)


def _by_words(keys: Sequence[str]) -> list[int]:
    folded = [key.casefold() for key in keys]
    return sorted(range(len(folded)), key=folded.__getitem__)


def _by_numbers(ids: Sequence[str], keys: Sequence[float | None], *, descending: bool) -> tuple[str, ...]:
    """Sorted by a number; what has none comes last in both directions."""
    values = np.array(keys, np.float64)  # None becomes NaN
    known, unknown = np.flatnonzero(~np.isnan(values)), np.flatnonzero(np.isnan(values))
    order = known[np.argsort(values[known], kind="stable")]
    first = _ordered(ids, order.tolist(), descending=descending)
    return first + _ordered(ids, unknown.tolist(), descending=descending)


def _ordered(ids: Sequence[str], places: Sequence[int], *, descending: bool) -> tuple[str, ...]:
    """Ids by their places; equals came oldest first, so that the whole may be turned round."""
    return tuple(ids[place] for place in (reversed(places) if descending else places))


def read_rows(rows: Rows, ids: Sequence[str], now_ms: int, scope: Scope = OWNER_SCOPE) -> tuple[MemoryRow, ...]:
    """The light rows of memories.

    Args:
        ids: memory ids; unknown ones, and what the asker may not see, are left out.
        now_ms: the present, epoch ms; for strength.
        scope: what the asker may see.

    Returns:
        Rows in the order of the ids, each once.
    """
    wanted = json.dumps(list(dict.fromkeys(ids)))
    within = "" if scope.unrestricted else " WHERE m.space_id IN (SELECT value FROM json_each(:spaces))"
    params: dict[str, object] = {"ids": wanted, "bytes": _HEAD_BYTES}
    if not scope.unrestricted:
        params["spaces"] = json.dumps(sorted(scope.space_ids))
    found = rows.all(f"{_ROWS}{within} ORDER BY w.key", params)
    if not found:
        return ()
    values = read_strengths([row[-WIDTH:] for row in found], now_ms)
    return tuple(_row(row, float(value)) for row, value in zip(found, values, strict=True))


def _row(row: tuple[Any, ...], strength: float) -> MemoryRow:
    (memory_id, n, kind, status, head, size, space, source, role, author, client, category, importance, tags) = row[:14]
    (said, precision, offset, recorded_at, trust, confidence, pinned, accesses, accessed, title, room, flags) = row[
        14:-WIDTH
    ]
    shown = head.decode("utf-8", "ignore")[:HEAD_CHARACTERS]
    return MemoryRow(
        id=memory_id,
        n=n,
        kind=Kind(kind),
        status=Status(status),
        head=shown,
        is_cut=len(shown.encode("utf-8")) < size,
        space=space,
        source=Source(source),
        role=Role(role),
        author=author,
        client=client,
        category=category,
        importance=importance,
        tags=tuple(json.loads(tags)),
        occurred=read_occurred(said, precision, offset),
        recorded_at=recorded_at,
        trust=trust,
        confidence=confidence,
        strength=strength,
        pinned=bool(pinned),
        access_count=accesses,
        last_accessed_at=accessed,
        conversation=title,
        room=room,
        warned=f'"{FLAG}"' in flags and f'"{ALLOWED}"' not in flags,
    )


def _conditions(search: ParsedSearch, scope: Scope, params: list[object]) -> str:
    """All conditions of a search but those on strength, their values appended in order."""
    where: list[str] = []
    if not scope.unrestricted:
        where.append("m.space_id IN (SELECT value FROM json_each(?))")
        params.append(json.dumps(sorted(scope.space_ids)))
    if not search.has_status:
        where.append(_STANDING)
    words = [term.values[0] for term in search.terms if term.key == WORD and not term.negated]
    if words:
        where.append(_HAS_WORDS)
        params.append(_match(words))
    for term in search.terms:
        if term.key == "strength" or (term.key == WORD and not term.negated):
            continue
        condition = _condition(term, params)
        where.append(f"NOT coalesce(({condition}), 0)" if term.negated else f"({condition})")
    return " AND ".join(where) if where else "1"


def _condition(term: SearchTerm, params: list[object]) -> str:
    if term.key == WORD:
        params.append(_match(term.values))
        return _HAS_WORDS
    if term.key == PHRASE:
        params.append(term.values[0])
        return _HAS_PHRASE
    if term.key == "status" and "all" in term.values:
        return "1"
    if term.key in ("is", "has"):
        return " OR ".join([_FLAGS[value] for value in term.values])
    if term.key in WORDS_OF or term.key in NAMED:
        params.append(json.dumps(term.values))
        return _ONE_OF[term.key]
    if term.key in NUMBERS:
        return _between_numbers(term, _COLUMNS[term.key], params)
    return _between_times(term, _TIMES["recorded"] if term.key == "recorded" else _SAID, params)


def _match(words: Sequence[str]) -> str:
    """All terms of all words, each quoted: nothing anybody typed reaches the full-text syntax as syntax."""
    terms = dict.fromkeys(found.term for word in words for found in query_terms(word))
    return " AND ".join('"' + term.replace('"', '""') + '"' for term in terms)


def _between_numbers(term: SearchTerm, column: str, params: list[object]) -> str:
    either: list[str] = []
    for value in term.values:
        span = number_range(value)
        both = ["1"]
        if span is not None and span.low is not None:
            both.append(f"{column} >= ?" if span.with_low else f"{column} > ?")
            params.append(span.low)
        if span is not None and span.high is not None:
            both.append(f"{column} <= ?" if span.with_high else f"{column} < ?")
            params.append(span.high)
        either.append(" AND ".join(both))
    return " OR ".join(either)


def _between_times(term: SearchTerm, column: str, params: list[object]) -> str:
    either: list[str] = []
    for value in term.values:
        span = date_range(term.key, value)
        both = ["1"]
        if span is not None and span.from_ms is not None:
            both.append(f"{column} >= ?")
            params.append(span.from_ms)
        if span is not None and span.until_ms is not None:
            both.append(f"{column} < ?")
            params.append(span.until_ms)
        either.append(" AND ".join(both))
    return " OR ".join(either)


def _within(values: NDArray[np.float64], term: SearchTerm) -> NDArray[np.bool_]:
    inside = np.zeros(values.size, np.bool_)
    for value in term.values:
        span = number_range(value)
        here = np.ones(values.size, np.bool_)
        if span is not None and span.low is not None:
            here &= values >= span.low if span.with_low else values > span.low
        if span is not None and span.high is not None:
            here &= values <= span.high if span.with_high else values < span.high
        inside |= here
    return inside
