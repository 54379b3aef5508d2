"""What the library lists: the matches of a search, plain lists with an exact total, and the counts on its filters.

One statement finds; the order, and strength, which depends on the present, are worked out here. Counts are of what
stands (active and disputed), as a search without a status shows it; only the statuses count all. Must not do: rank by
meaning (`core.recall.pipeline` does), leave the scope out, or put what somebody typed into a statement.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import Code, UserError
from core.memory.landmark_words import words_from_opening
from core.memory.protection import higher_tier, read_tier_rules
from core.memory.read import (
    IS_EDITED,
    MEMORY_COLUMNS,
    SMALL_TALK,
    STRENGTH_COLUMNS,
    STRENGTH_JOINS,
    STRENGTH_WIDTH,
    read_occurred,
    read_strengths,
    row_to_memory,
    time_of_memory_sql,
)
from core.recall.scope import OWNER_SCOPE, Scope, find_visible, visibility_conditions
from core.sensitivity.detector import find_sensitive, tier_of
from core.text.screening.egress import is_blocked
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
from core.types.replies import Page
from core.types.requests import ListRequest
from core.types.sensitivity import SensitiveMemory, SensitivePage, SensitiveType, UnprotectedPage
from core.types.values import LIST_SORTS, Kind, Role, SecurityTier, Source, Status
from core.types.views import SORTS, Facets, FindRequest, MemoryRow
from core.vault.database.rows import Rows
from core.vault.memory_sql import BROUGHT, tier_by_sql

OPENING_CHARACTERS = 300
_OPENING_BYTES = 4 * OPENING_CHARACTERS

_COUNTS = "SELECT count(*), count(*) FILTER (WHERE m.part_of IS NULL OR m.part_index = 0) FROM memories m"
_IS_ACTIVE = "m.status IN ('active', 'disputed')"
# Each takes one JSON list. Case does not matter for A to Z.
_ONE_OF = {
    "kind": "m.kind IN (SELECT value FROM json_each(?))",
    "status": "m.status IN (SELECT value FROM json_each(?))",
    "source": "m.source IN (SELECT value FROM json_each(?))",
    "tier": "m.security_tier IN (SELECT value FROM json_each(?))",
    "space": "m.space_id IN (SELECT s.id FROM json_each(?) w JOIN spaces s ON s.name = w.value COLLATE NOCASE)",
    "client": "m.client_id IN (SELECT c.id FROM json_each(?) w JOIN clients c ON c.name = w.value COLLATE NOCASE)",
    "tag": "m.tags <> '[]' AND EXISTS (SELECT 1 FROM json_each(?) w JOIN json_each(m.tags) t "
    "ON t.value = w.value COLLATE NOCASE)",
    "category": "m.category COLLATE NOCASE IN (SELECT value FROM json_each(?))",
    "author": "m.author COLLATE NOCASE IN (SELECT value FROM json_each(?))",
    "room": "m.id IN (SELECT p.memory_id FROM json_each(?) w JOIN rooms r ON r.id = w.value "
    "OR r.name = w.value COLLATE NOCASE JOIN places p ON p.room_id = r.id)",
    # What it brought, and the statements that were made of that.
    "import": f"m.id IN (WITH brought AS (SELECT t.id FROM {BROUGHT} b CROSS JOIN memories t ON t.n = b.n "  # noqa: S608
    "WHERE b.import_id IN (SELECT i.id FROM json_each(?) w JOIN imports i ON i.id = w.value "
    "OR i.label = w.value COLLATE NOCASE)) SELECT id FROM brought "
    "UNION ALL SELECT s.memory_id FROM brought JOIN statements s ON s.episode_id = brought.id)",
    "change": "m.n IN (WITH touched AS (SELECT r.tbl, r.row_key FROM json_each(?) w JOIN undo_rows r "
    "ON r.step_id = w.value WHERE r.tbl IN ('memories', 'places')) "
    "SELECT json_extract(row_key, '$.n') FROM touched WHERE tbl = 'memories' UNION SELECT p.n FROM touched "
    "JOIN memories p ON p.id = json_extract(row_key, '$.memory_id') WHERE tbl = 'places')",
    "conversation": "m.conversation_id IN (SELECT c.id FROM json_each(?) w JOIN conversations c ON c.id = w.value "
    "OR instr(lower(c.title), lower(w.value)) > 0)",
}
_FLAGS = {
    "pinned": "m.pinned = 1",
    "edited": "EXISTS (SELECT 1 FROM memories o WHERE o.id = m.supersedes_id AND o.status_reason = 'edited')",
    "split": "m.part_of IS NOT NULL",
    "placed": "EXISTS (SELECT 1 FROM places p WHERE p.memory_id = m.id)",
    "smalltalk": SMALL_TALK,
    "time": "m.occurred_at IS NOT NULL",
    "conversation": "m.conversation_id IS NOT NULL",
    "claims": "EXISTS (SELECT 1 FROM evidence e WHERE e.memory_id = m.id)",
}
_COLUMNS = {"trust": "m.trust", "importance": "m.importance", "confidence": "m.confidence"}
_TIMES = {"recorded": "m.recorded_at"}
_TIME_OF_MEMORY = time_of_memory_sql("m")
_HAS_WORDS = "m.n IN (SELECT rowid FROM memory_fts WHERE memory_fts MATCH ?)"
_HAS_PHRASE = "instr(CAST(m.text AS BLOB), CAST(? AS BLOB)) > 0"

_NUMBER_KEYS = {
    "recorded": "m.n",  # labels rise with the time of recording
    "occurred": _TIME_OF_MEMORY,  # as the column shows it
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
    "m.last_accessed_at, t.title, r.name, m.flags, m.security_tier, "
    f"{IS_EDITED}, {SMALL_TALK}, {STRENGTH_COLUMNS} "
    "FROM json_each(:ids) w JOIN memories m ON m.id = w.value "
    "JOIN spaces s ON s.id = m.space_id LEFT JOIN clients c ON c.id = m.client_id "
    "LEFT JOIN conversations t ON t.id = m.conversation_id "
    "LEFT JOIN places p ON p.memory_id = m.id LEFT JOIN rooms r ON r.id = p.room_id"
    f"{STRENGTH_JOINS}"
)


def find_library_rows(rows: Rows, request: FindRequest, now_ms: int, scope: Scope = OWNER_SCOPE) -> tuple[str, ...]:
    """All memories that match a search, in order.

    Args:
        request: the search and how it is sorted.
        now_ms: the present, epoch ms; for strength.
        scope: what the asker may see.

    Raises:
        UserError: INVALID_QUERY for a search that cannot be read, INVALID_INPUT for an order that is none.
    """
    if request.sort not in SORTS:
        raise UserError(Code.INVALID_INPUT, f"A list is sorted by one of {', '.join(SORTS)}.")
    search = parse_search(request.query)
    if search.problems:
        raise UserError(Code.INVALID_QUERY, search.problems[0].sentence)
    params: list[object] = []
    where = _make_conditions(search, scope, params)
    fading = [term for term in search.terms if term.key == "strength"]
    needs_strength = bool(fading) or request.sort == "strength"
    # Sorted below: for 100,000 rows that takes a third of the time of the database's own sorter, and lets threads run.
    key = _KEYS[request.sort]
    read, joined = (f"m.id, {key}, {STRENGTH_COLUMNS}", STRENGTH_JOINS) if needs_strength else (f"m.id, {key}", "")
    found = rows.all(f"SELECT {read} FROM memories m{joined} WHERE {where} ORDER BY m.n", params)  # noqa: S608
    ids, keys = [row[0] for row in found], [row[1] for row in found]
    if needs_strength and found:
        values = read_strengths([row[2:] for row in found], now_ms)
        keys = values.tolist() if request.sort == "strength" else keys
        kept = np.ones(values.size, np.bool_)
        for term in fading:
            kept &= _is_in_ranges(values, term) != term.negated
        places = np.flatnonzero(kept).tolist()
        ids, keys = [ids[place] for place in places], [keys[place] for place in places]
    if request.sort in _WORD_KEYS:
        names = dict(rows.all("SELECT id, name FROM spaces")) if request.sort == "space" else {}
        return _order_ids(ids, _by_words([names.get(key, key) for key in keys]), descending=request.descending)
    return _by_numbers(ids, keys, descending=request.descending)


def _by_words(keys: Sequence[str]) -> list[int]:
    folded = [key.casefold() for key in keys]
    return sorted(range(len(folded)), key=folded.__getitem__)


def _by_numbers(ids: Sequence[str], keys: Sequence[float | None], *, descending: bool) -> tuple[str, ...]:
    """Sorted by a number; what has none comes last in both directions."""
    values = np.array(keys, np.float64)  # None becomes NaN
    known, unknown = np.flatnonzero(~np.isnan(values)), np.flatnonzero(np.isnan(values))
    order = known[np.argsort(values[known], kind="stable")]
    first = _order_ids(ids, order.tolist(), descending=descending)
    return first + _order_ids(ids, unknown.tolist(), descending=descending)


def _order_ids(ids: Sequence[str], places: Sequence[int], *, descending: bool) -> tuple[str, ...]:
    """Ids by their places; equals came oldest first, so that the whole may be turned round."""
    return tuple(ids[place] for place in (reversed(places) if descending else places))


def read_memory_rows(rows: Rows, ids: Sequence[str], now_ms: int, scope: Scope = OWNER_SCOPE) -> tuple[MemoryRow, ...]:
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
    params: dict[str, object] = {"ids": wanted, "bytes": _OPENING_BYTES}
    if not scope.unrestricted:
        params["spaces"] = json.dumps(sorted(scope.space_ids))
    found = rows.all(f"{_ROWS}{within} ORDER BY w.key", params)
    if not found:
        return ()
    values = read_strengths([row[-STRENGTH_WIDTH:] for row in found], now_ms)
    return tuple(_memory_row_from(row, float(value)) for row, value in zip(found, values, strict=True))


def _memory_row_from(row: tuple[Any, ...], strength: float) -> MemoryRow:
    (memory_id, n, kind, status, opening, size, space, source, role, author, client, category, importance, tags) = row[
        :14
    ]
    (occurred_at, precision, offset, recorded_at, trust, confidence, pinned, accesses, accessed) = row[14:23]
    title, room, flags, tier, is_edited, is_small_talk = row[23:-STRENGTH_WIDTH]
    shown = opening.decode("utf-8", "ignore")[:OPENING_CHARACTERS]
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
        occurred=read_occurred(occurred_at, precision, offset),
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
        is_edited=bool(is_edited),
        protection=SecurityTier(tier),
        is_small_talk=bool(is_small_talk),
        said=words_from_opening(shown),
    )


def _make_conditions(search: ParsedSearch, scope: Scope, params: list[object]) -> str:
    """All conditions of a search but those on strength, their values appended in order."""
    where: list[str] = []
    if not scope.unrestricted:
        where.append("m.space_id IN (SELECT value FROM json_each(?))")
        params.append(json.dumps(sorted(scope.space_ids)))
    if not search.has_status:
        where.append(_IS_ACTIVE)
    words = [term.values[0] for term in search.terms if term.key == WORD and not term.negated]
    if words:
        where.append(_HAS_WORDS)
        params.append(_match_expression(words))
    for term in search.terms:
        if term.key == "strength" or (term.key == WORD and not term.negated):
            continue
        condition = _make_condition(term, params)
        where.append(f"NOT coalesce(({condition}), 0)" if term.negated else f"({condition})")
    return " AND ".join(where) if where else "1"


def _make_condition(term: SearchTerm, params: list[object]) -> str:
    if term.key == WORD:
        params.append(_match_expression(term.values))
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
    return _between_times(term, _TIMES["recorded"] if term.key == "recorded" else _TIME_OF_MEMORY, params)


def _match_expression(words: Sequence[str]) -> str:
    """The terms of all words, each quoted: nothing anybody typed reaches the full-text syntax as syntax.

    Function words are wanted only where there is no other: "a trip to Rome" means the trip and Rome.
    """
    found = [term for word in words for term in query_terms(word)]
    wanted = [term for term in found if not term.stop] or found
    return " AND ".join('"' + term.replace('"', '""') + '"' for term in dict.fromkeys(one.term for one in wanted))


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


def _is_in_ranges(values: NDArray[np.float64], term: SearchTerm) -> NDArray[np.bool_]:
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


_LIST_KEYS = {
    "said": time_of_memory_sql("{0}"),
    "importance": "{0}.importance",
    "trust": "{0}.trust",
}
_FEW, _SHORT = 500, 65_536
"""Up to so many found texts, and characters of them, are all looked at: a tenth of a second. Of more those that were
marked when they came, as texts of before there were marks are not."""


def read_library_page(rows: Rows, request: ListRequest, scope: Scope) -> Page:
    """One page of a list.

    Args:
        request: what is wanted; `text` is compared byte by byte, case kept.
        scope: what the asker may see.

    Returns:
        Memories in the order that was asked for.

    Raises:
        UserError: NOT_FOUND for an unknown space or import, INVALID_INPUT for a cursor, status, client or order that
            is none.
    """
    if request.sort not in LIST_SORTS:
        raise UserError(Code.INVALID_INPUT, f"A list is sorted by one of {', '.join(LIST_SORTS)}.")
    params: dict[str, object] = {}
    where = _list_conditions(rows, request, scope, params)
    if (request.text or request.category) is not None and scope.client_id is not None:
        # Found is what is given out only: a text that is blocked could be read with a phrase letter by letter.
        params["blocked"] = json.dumps(_read_blocked_ids(rows, where, params))
        where += " AND m.id NOT IN (SELECT value FROM json_each(:blocked))"
    total, heads = rows.one(f"{_COUNTS} WHERE {where}", params) or (0, 0)  # constants only
    page_where, page_params = where, dict(params)
    if request.after is not None:
        if find_visible(rows, request.after, scope) is None:
            raise UserError(Code.INVALID_INPUT, "`after` is out of date; ask again from the start.")
        page_where += f" AND {_after_condition(request.sort)}"
        page_params["after"] = request.after
    limit = -1 if request.limit is None else request.limit + 1
    found = rows.all(
        f"{MEMORY_COLUMNS} WHERE {page_where} ORDER BY {_list_order(request.sort)} LIMIT :limit",
        {**page_params, "limit": limit},
    )
    more = request.limit is not None and len(found) > request.limit
    items = tuple(row_to_memory(row) for row in (found[: request.limit] if more else found))
    return Page(items, int(total), items[-1].id if more else None, int(heads))


def _list_order(sort: str) -> str:
    """Labels rise with the time of recording: alone they are that order, and elsewhere they tell equals apart."""
    if sort in _LIST_KEYS:
        return f"{_LIST_KEYS[sort].format('m')} DESC, m.n DESC"
    return "m.n" if sort == "oldest" else "m.n DESC"


def _after_condition(sort: str) -> str:
    """What comes behind the memory `:after` in an order."""
    if sort in _LIST_KEYS:
        own_key, anchor_key = _LIST_KEYS[sort].format("m"), _LIST_KEYS[sort].format("a")
        return f"({own_key}, m.n) < (SELECT {anchor_key}, a.n FROM memories a WHERE a.id = :after)"  # noqa: S608 - constants
    after = "(SELECT n FROM memories WHERE id = :after)"
    return f"m.n > {after}" if sort == "oldest" else f"m.n < {after}"


def _read_blocked_ids(rows: Rows, where: str, params: dict[str, object]) -> list[str]:
    """Ids of memories under these conditions whose text no client is shown."""
    size = f"SELECT length(m.text) AS size FROM memories m WHERE {where} LIMIT :most"  # noqa: S608 - constants only
    row = rows.one(f"SELECT count(*), coalesce(sum(size), 0) FROM ({size})", {**params, "most": _FEW + 1})  # noqa: S608
    few = row is not None and int(row[0]) <= _FEW and int(row[1]) <= _SHORT
    marked = {**params, "mark": "" if few else f'"{FLAG}"'}  # every text has the empty mark
    found = rows.all(f"{MEMORY_COLUMNS} WHERE {where} AND instr(m.flags, :mark) > 0", marked)
    return [memory.id for memory in map(row_to_memory, found) if is_blocked(memory)]


def _list_conditions(rows: Rows, request: ListRequest, scope: Scope, params: dict[str, object]) -> str:
    where = [visibility_conditions(scope, params)]
    if request.space is not None:
        where.append("m.space_id = :space")
        params["space"] = _require_space_id(rows, request.space, scope)
    if request.statuses is not None:
        known = {status.value for status in Status}
        if not request.statuses or not known.issuperset(request.statuses):
            raise UserError(Code.INVALID_INPUT, f"That is no status; known are: {', '.join(sorted(known))}.")
        where.append("m.status IN (SELECT value FROM json_each(:statuses))")
        params["statuses"] = json.dumps(list(request.statuses))
    if request.kind is not None:
        where.append("m.kind = :kind")
        params["kind"] = request.kind.value
    if request.category is not None:
        where.append("m.category = :category")
        params["category"] = request.category
    if request.import_id is not None:
        if rows.one("SELECT 1 FROM imports WHERE id = ?", (request.import_id,)) is None:
            raise UserError(Code.NOT_FOUND, "There is no such import.")
        where.append(f"m.n IN (SELECT n FROM {BROUGHT} WHERE import_id = :import_id)")  # noqa: S608 - constants only
        params["import_id"] = request.import_id
    where += _request_conditions(rows, request, params)
    if request.text is not None:
        where.append("instr(CAST(m.text AS BLOB), CAST(:text AS BLOB)) > 0")
        params["text"] = request.text
    return " AND ".join(where)


def _request_conditions(rows: Rows, request: ListRequest, params: dict[str, object]) -> list[str]:
    where = []
    if request.since_ms is not None:
        where.append(f"{time_of_memory_sql('m')} >= :since")
        params["since"] = request.since_ms
    if request.until_ms is not None:
        where.append(f"{time_of_memory_sql('m')} < :until")
        params["until"] = request.until_ms
    if request.tags:
        where.append(
            "EXISTS (SELECT 1 FROM json_each(m.tags) t JOIN json_each(:tags) w ON t.value = w.value COLLATE NOCASE)"
        )
        params["tags"] = json.dumps(list(request.tags))
    if request.client is not None:
        client = rows.value("SELECT id FROM clients WHERE name = ? COLLATE NOCASE", (request.client,))
        if client is None:
            raise UserError(Code.INVALID_INPUT, "There is no client of that name; `loci clients` lists them.")
        where.append("m.client_id = :client")
        params["client"] = client
    return where


def _require_space_id(rows: Rows, name: str, scope: Scope) -> str:
    found = rows.value("SELECT id FROM spaces WHERE name = ?", (name,))
    if found is None or not (scope.unrestricted or found in scope.space_ids):
        raise UserError(Code.NOT_FOUND, "There is no such space.")
    return str(found)


MOST_TAGS = 200
_GROUPS = "SELECT space_id, status, kind, count(*) FROM memories GROUP BY space_id, status, kind"
_VISIBLE_GROUPS = (
    "SELECT source, client_id, category, tags, count(*) FROM memories WHERE status IN ('active', 'disputed') "
    "GROUP BY source, client_id, category, tags"
)
_LATER_PARTS = (
    "SELECT count(*) FROM memories WHERE part_of IS NOT NULL AND part_index > 0 AND +status IN ('active', 'disputed')"
)
_ENDS = (
    "SELECT (SELECT min(occurred_at) FROM memories), (SELECT min(recorded_at) FROM memories), "
    "(SELECT max(occurred_at) FROM memories), (SELECT max(recorded_at) FROM memories)"
)


def count_facets(rows: Rows) -> Facets:
    """Count the whole vault; for the owner, who may see all of it.

    Returns:
        The counts, the most frequent value of each first.
    """
    spaces = {str(row[0]): str(row[1]) for row in rows.all("SELECT id, name FROM spaces")}
    clients = {str(row[0]): str(row[1]) for row in rows.all("SELECT id, name FROM clients")}
    by_kind, by_status, by_space = Counter[str](), Counter[str](), Counter[str]()
    for space_id, status, kind, count in rows.all(_GROUPS):
        by_status[status] += count
        if status in ("active", "disputed"):
            by_kind[kind] += count
            by_space[spaces[space_id]] += count
    by_source, by_client, by_category, by_tag = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    for source, client_id, category, tags, count in rows.all(_VISIBLE_GROUPS):
        by_source[source] += count
        by_category[category] += count
        if client_id is not None:
            by_client[clients[client_id]] += count
        for tag in json.loads(tags):
            by_tag[tag] += count
    said_first, recorded_first, said_last, recorded_last = rows.all(_ENDS)[0]
    firsts = [at for at in (said_first, recorded_first) if at is not None]
    lasts = [at for at in (said_last, recorded_last) if at is not None]
    return Facets(
        kinds=_by_count(by_kind),
        statuses=_by_count(by_status),
        spaces=_by_count(by_space),
        sources=_by_count(by_source),
        clients=_by_count(by_client),
        categories=_by_count(by_category),
        tags=dict(list(_by_count(by_tag).items())[:MOST_TAGS]),
        earliest=min(firsts, default=None),
        latest=max(lasts, default=None),
        later_parts=int(rows.value(_LATER_PARTS)),
    )


def _by_count(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


# ---- sensitive content, looked for when the person asks; nothing of it is kept

SCANNED = 400
"""Memories that are read for one page at most: some tenths of a second, in which the connection is held."""
MOST_SENSITIVE = 16
"""Memories of one page at most: with their texts they fit into one message."""
_TO_SCAN = (
    "SELECT m.n, m.id, m.kind, m.status, s.name, m.text FROM memories m JOIN spaces s ON s.id = m.space_id "
    "WHERE m.n > :after AND (:space IS NULL OR s.name = :space COLLATE NOCASE) ORDER BY m.n LIMIT :most"
)


def find_sensitive_memories(
    rows: Rows, types: Collection[SensitiveType], space: str | None, after: int
) -> SensitivePage:
    """Look through the next memories, forgotten and replaced ones too: their words stand in the vault as well.

    Args:
        types: which types count; all of them where there is none.
        space: only memories of this space; None for every space.
        after: where the page begins: 0, or `next` of the page before.
    """
    items: list[SensitiveMemory] = []
    found = rows.all(_TO_SCAN, {"after": after, "space": space, "most": SCANNED})
    for looked_at, row in enumerate(found, 1):
        memory = _find_sensitive_in_row(row, types)
        if memory is not None:
            items.append(memory)
        if len(items) == MOST_SENSITIVE:
            return SensitivePage(tuple(items), looked_at, int(row[0]))
    return SensitivePage(tuple(items), len(found), int(found[-1][0]) if len(found) == SCANNED else None)


def _find_sensitive_in_row(row: tuple[Any, ...], types: Collection[SensitiveType]) -> SensitiveMemory | None:
    _, memory_id, kind, status, space, text = row
    spans = [span for span in find_sensitive(text) if not types or span.type in types]
    if not spans:
        return None
    return SensitiveMemory(memory_id, Kind(kind), Status(status), space, text, tier_of(spans), tuple(spans))


_UNPROTECTED = (
    "SELECT m.n, coalesce(m.part_of, m.id), m.text, m.space_id, m.source FROM memories m "  # noqa: S608 - constants
    "JOIN spaces s ON s.id = m.space_id WHERE m.n > :after AND m.security_tier = 'cleartext' "
    f"AND {tier_by_sql()} IS NULL AND (:space IS NULL OR s.name = :space) ORDER BY m.n LIMIT :most"
)


def find_unprotected(rows: Rows, space: str | None, after: int) -> UnprotectedPage:
    """Look through the next memories in the clear of whose tier nobody has said anything.

    Args:
        space: only memories of this space; None for every space.
        after: where the page begins: 0, or `next` of the page before.
    """
    rules, tiers = read_tier_rules(rows), dict[str, SecurityTier]()
    found = rows.all(_UNPROTECTED, {"after": after, "space": space, "most": SCANNED})
    for _, whole, text, space_id, source in found:
        tier = rules.tier_of(rules.find_types(text, space_id, source).types, space_id, source)
        if tier is not SecurityTier.CLEARTEXT:
            tiers[whole] = higher_tier(tier, tiers.get(whole, tier))
    return UnprotectedPage(tiers, len(found), int(found[-1][0]) if len(found) == SCANNED else None)
