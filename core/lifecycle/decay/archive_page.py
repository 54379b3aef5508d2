"""What is archived, page by page: why it left, when, and whether it can come back.

Must not do: bring anything back (the library's revision does), or erase.
"""

from __future__ import annotations

from typing import Any

from core.config.options import Options
from core.errors import Code, UserError
from core.intake.revise.revision_plan import plan
from core.lifecycle.decay.sweep import OLD_VERSION
from core.types.lifecycle import Buried, Graveyard
from core.types.values import Kind, Status
from core.types.views import Revision
from core.vault.database.rows import Rows

MAX_PAGE = 500
_DAY_MS = 86_400_000
_HEAD_CHARACTERS = 300
_UNSAID = "archived"
_ARCHIVED = "m.status = 'archived' AND coalesce(m.part_index, 0) = 0 AND m.space_id IN (SELECT id FROM spaces)"
_WHEN = "coalesce(m.retired_at, m.recorded_at)"
# Sorted by their numbers alone: texts are read of one page.
_PAGE = (
    "SELECT m.n, m.id, m.kind, s.name, m.status_reason, w.at, m.superseded_by_id IS NOT NULL, "  # noqa: S608
    f"substr(m.text, 1, {_HEAD_CHARACTERS}) FROM (SELECT m.n AS n, {_WHEN} AS at FROM memories m "
    f"WHERE {_ARCHIVED} AND (:at IS NULL OR ({_WHEN}, m.n) < (:at, :n)) ORDER BY 2 DESC, 1 DESC LIMIT :most) w "
    "JOIN memories m ON m.n = w.n JOIN spaces s ON s.id = m.space_id ORDER BY w.at DESC, w.n DESC"
)
_TOTAL = f"SELECT count(*) FROM memories m WHERE {_ARCHIVED}"  # noqa: S608 - constants


def graveyard(rows: Rows, after: str | None, limit: int, options: Options) -> Graveyard:
    """One page of what is archived.

    Args:
        rows: a vault snapshot.
        after: `next` of the page before; None for the first.
        limit: rows, 1 to 500.
        options: what is erased from the archive, and when.

    Returns:
        The page, what was archived last first; a split text is one row. An old version stands at the time at which it
        was replaced.

    Raises:
        UserError: INVALID_INPUT for the limit, or for a place that is none.
    """
    if not 1 <= limit <= MAX_PAGE:
        raise UserError(Code.INVALID_INPUT, f"A page holds 1 to {MAX_PAGE} memories.")
    at, n = (None, None) if after is None else _place(after)
    found = rows.all(_PAGE, {"at": at, "n": n, "most": limit + 1})
    shown = found[:limit]
    heads = [str(row[1]) for row in shown]
    back = {change.row.id for change in plan(rows, heads, Revision(status=Status.ACTIVE)).changes} if heads else set()
    goes = erased_kinds(options)
    buried = tuple(_buried(row, goes, options, str(row[1]) in back) for row in shown)
    last = f"{shown[-1][5]}.{shown[-1][0]}" if len(found) > limit else None
    return Graveyard(buried, int(rows.value(_TOTAL)), last)


def erased_kinds(options: Options) -> frozenset[Kind]:
    """Which kinds are erased from the archive when their time is over.

    Args:
        options: `erase_kinds`, with commas.

    Returns:
        The kinds; a word that is none is passed over.
    """
    known = {kind.value: kind for kind in Kind}
    named = (word.strip().lower() for word in options.erase_kinds.split(","))
    return frozenset(known[word] for word in named if word in known)


def _buried(row: tuple[Any, ...], goes: frozenset[Kind], options: Options, can_return: bool) -> Buried:
    _, memory_id, kind, space, reason, at, replaced, text = row
    return Buried(
        id=memory_id,
        text=text,
        kind=kind,
        space=space,
        reason=OLD_VERSION if replaced else reason or _UNSAID,
        archived_at=at,
        erased_at=at + options.erase_days * _DAY_MS if Kind(kind) in goes else None,
        can_return=can_return,
    )


def _place(after: str) -> tuple[int, int]:
    at, dot, n = after.partition(".")
    if not (dot and at.lstrip("-").isdigit() and n.isdigit() and len(after) <= 40):
        raise UserError(Code.INVALID_INPUT, "That is no place in the archive.")
    return int(at), int(n)
