"""Clients as the person sees them: standing, terms, and counts of what each did; read in a few bounded queries.

Must not do: read a token, or count what another client can learn; only the owner's group calls it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.engine.access.client_terms import is_asleep
from core.errors import Code, UserError
from core.intake.undo.client_pairing import NEVER
from core.types.clients import ClientCard, Standing
from core.types.values import Grant
from core.vault.database.rows import Rows

_LATELY_MS = 30 * 86_400_000
_ROWS = (
    "SELECT id, name, trust_ceiling, limit_minute, limit_session, paired_at, last_seen_at, paused_at, revoked_at, "
    "woken_at, coalesce(asked_by, '') FROM clients ORDER BY revoked_at IS NOT NULL, name COLLATE NOCASE, name"
)
_GRANTS = (
    "SELECT g.client_id, g.name, coalesce(s.name, '') FROM grants g LEFT JOIN spaces s ON s.id = g.space_id "
    "ORDER BY s.name"
)
_STAND = (
    "SELECT c.id, (SELECT count(*) FROM memories m WHERE m.client_id = c.id AND m.status IN ('active', 'disputed') "
    "AND coalesce(m.part_index, 0) = 0) FROM clients c"
)
# An approval is about a memory that may be anybody's: it waits for the one that asked.
_WAIT = """
    SELECT client_id, count(*) FROM (
        SELECT i.client_id AS client_id FROM conflicts k JOIN memories i ON i.id = k.incoming_id
        WHERE k.state = 'open' AND k.kind <> 'approval' AND i.client_id IS NOT NULL
        UNION ALL
        SELECT a.client_id FROM conflicts k JOIN approvals a ON a.conflict_id = k.id WHERE k.state = 'open'
    ) GROUP BY client_id
"""
_ANSWERS = "SELECT c.id, (SELECT count(*) FROM receipts r WHERE r.client_id = c.id AND r.at >= :since) FROM clients c"
_REFUSALS = (
    "SELECT c.id, (SELECT count(*) FROM audit a WHERE a.actor = 'client:' || c.id AND a.verb = 'refused' "
    "AND a.at >= :since) FROM clients c"
)
_STEPS = (
    "SELECT c.id, (SELECT count(*) FROM undo_steps s WHERE s.client_id = c.id AND s.undone_by IS NULL "
    "AND s.is_open = 0 AND s.expires_at >= :now) FROM clients c"
)


def cards_of(rows: Rows, now_ms: int, seen: Mapping[str, int]) -> tuple[ClientCard, ...]:
    """All clients ever paired: those that are, by name, then those that were.

    Args:
        seen: client id to when it was last here, where that is not written down yet.

    Returns:
        The cards.
    """
    grants: dict[str, list[tuple[str, str]]] = {}
    for client_id, word, space in rows.all(_GRANTS):
        grants.setdefault(client_id, []).append((word, space))
    since = {"since": now_ms - _LATELY_MS}
    counts = {
        "stands": dict(rows.all(_STAND)),
        "waits": dict(rows.all(_WAIT)),
        "answers": dict(rows.all(_ANSWERS, since)),
        "refusals": dict(rows.all(_REFUSALS, since)),
        "steps": dict(rows.all(_STEPS, {"now": now_ms})),
    }
    return tuple(
        _card(row, now_ms, seen.get(row[0]), grants.get(row[0], []), {n: c.get(row[0], 0) for n, c in counts.items()})
        for row in rows.all(_ROWS)
    )


def client_id_of(rows: Rows, name: str) -> str:
    """The id of a client, also of one that was revoked.

    Returns:
        The id.

    Raises:
        UserError: NOT_FOUND.
    """
    found = rows.value("SELECT id FROM clients WHERE name = ?", (name,))
    if found is None:
        raise UserError(Code.NOT_FOUND, "There is no client of that name.")
    return str(found)


def _card(
    row: tuple[Any, ...], now_ms: int, seen: int | None, grants: list[tuple[str, str]], counts: Mapping[str, int]
) -> ClientCard:
    client_id, name, ceiling, minute, session, paired_at, last_seen, paused_at, revoked_at, woken_at, asked_by = row
    seen_at = max((at for at in (seen, last_seen) if at is not None), default=None)
    held = {word for word, _ in grants}
    return ClientCard(
        id=client_id,
        name=name,
        standing=_standing(paired_at, paused_at, revoked_at, asleep=is_asleep(now_ms, seen_at, woken_at, paired_at)),
        grants=tuple(grant.value for grant in Grant if grant.value in held),
        spaces=tuple(space for word, space in grants if word == "space"),
        trust_ceiling=ceiling,
        limit_minute=minute,
        limit_session=session,
        paired_at=paired_at,
        seen_at=seen_at,
        asked_by=asked_by,
        **counts,
    )


def _standing(paired_at: int, paused_at: int | None, revoked_at: int | None, *, asleep: bool) -> Standing:
    if revoked_at is not None:
        return Standing.REVOKED
    if paired_at == NEVER:
        return Standing.UNPAIRED
    if paused_at is not None:
        return Standing.PAUSED
    return Standing.ASLEEP if asleep else Standing.AWAKE
