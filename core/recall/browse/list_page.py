"""Plain lists of memories in an order of their own, with an exact total.

Must not do: rank, or show what the asker may not see.
"""

from __future__ import annotations

import json

from core.errors import Code, UserError
from core.memory.read import MEMORY_COLUMNS, row_to_memory, said_at_sql
from core.recall.query.scope import Scope, find_visible, visibility_conditions
from core.text.screening.egress import is_blocked
from core.text.screening.injection import FLAG
from core.types.replies import Page
from core.types.requests import ListRequest
from core.types.values import LIST_SORTS, Status
from core.vault.database.rows import Rows

_KEYS = {
    "said": said_at_sql("{0}"),
    "importance": "{0}.importance",
    "trust": "{0}.trust",
}
_FEW, _SHORT = 500, 65_536
"""Up to so many found texts, and characters of them, are all looked at: a tenth of a second. Of more those that were
marked when they came, as texts of before there were marks are not."""


def read_list_page(rows: Rows, request: ListRequest, scope: Scope) -> Page:
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
    where = _conditions(rows, request, scope, params)
    if (request.text or request.category) is not None and scope.client_id is not None:
        # Found is what is given out only: a text that is blocked could be read with a phrase letter by letter.
        params["blocked"] = json.dumps(_blocked(rows, where, params))
        where += " AND m.id NOT IN (SELECT value FROM json_each(:blocked))"
    total = int(rows.value(f"SELECT count(*) FROM memories m WHERE {where}", params))  # noqa: S608 - constants only
    page_where, page_params = where, dict(params)
    if request.after is not None:
        if find_visible(rows, request.after, scope) is None:
            raise UserError(Code.INVALID_INPUT, "`after` is out of date; ask again from the start.")
        page_where += f" AND {_behind(request.sort)}"
        page_params["after"] = request.after
    limit = -1 if request.limit is None else request.limit + 1
    found = rows.all(
        f"{MEMORY_COLUMNS} WHERE {page_where} ORDER BY {_order(request.sort)} LIMIT :limit",
        {**page_params, "limit": limit},
    )
    more = request.limit is not None and len(found) > request.limit
    items = tuple(row_to_memory(row) for row in (found[: request.limit] if more else found))
    return Page(items, total, items[-1].id if more else None)


def _order(sort: str) -> str:
    """Labels rise with the time of recording: alone they are that order, and elsewhere they tell equals apart."""
    if sort in _KEYS:
        return f"{_KEYS[sort].format('m')} DESC, m.n DESC"
    return "m.n" if sort == "oldest" else "m.n DESC"


def _behind(sort: str) -> str:
    """What comes behind the memory `:after` in an order."""
    if sort in _KEYS:
        mine, others = _KEYS[sort].format("m"), _KEYS[sort].format("a")
        return f"({mine}, m.n) < (SELECT {others}, a.n FROM memories a WHERE a.id = :after)"  # noqa: S608 - constants
    after = "(SELECT n FROM memories WHERE id = :after)"
    return f"m.n > {after}" if sort == "oldest" else f"m.n < {after}"


def _blocked(rows: Rows, where: str, params: dict[str, object]) -> list[str]:
    """Ids of memories under these conditions whose text no client is shown."""
    size = f"SELECT length(m.text) AS size FROM memories m WHERE {where} LIMIT :most"  # noqa: S608 - constants only
    row = rows.one(f"SELECT count(*), coalesce(sum(size), 0) FROM ({size})", {**params, "most": _FEW + 1})  # noqa: S608
    few = row is not None and int(row[0]) <= _FEW and int(row[1]) <= _SHORT
    marked = {**params, "mark": "" if few else f'"{FLAG}"'}  # every text has the empty mark
    found = rows.all(f"{MEMORY_COLUMNS} WHERE {where} AND instr(m.flags, :mark) > 0", marked)
    return [memory.id for memory in map(row_to_memory, found) if is_blocked(memory)]


def _conditions(rows: Rows, request: ListRequest, scope: Scope, params: dict[str, object]) -> str:
    where = [visibility_conditions(scope, params)]
    if request.space is not None:
        where.append("m.space_id = :space")
        params["space"] = _space(rows, request.space, scope)
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
        where.append("m.import_id = :import_id")
        params["import_id"] = request.import_id
    where += _narrowed(rows, request, params)
    if request.text is not None:
        where.append("instr(CAST(m.text AS BLOB), CAST(:text AS BLOB)) > 0")
        params["text"] = request.text
    return " AND ".join(where)


def _narrowed(rows: Rows, request: ListRequest, params: dict[str, object]) -> list[str]:
    where = []
    if request.since_ms is not None:
        where.append(f"{said_at_sql('m')} >= :since")
        params["since"] = request.since_ms
    if request.until_ms is not None:
        where.append(f"{said_at_sql('m')} < :until")
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


def _space(rows: Rows, name: str, scope: Scope) -> str:
    found = rows.value("SELECT id FROM spaces WHERE name = ?", (name,))
    if found is None or not (scope.unrestricted or found in scope.space_ids):
        raise UserError(Code.NOT_FOUND, "There is no such space.")
    return str(found)
