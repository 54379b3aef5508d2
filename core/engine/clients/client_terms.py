"""A client's row: terms, grants, pauses and pairing as they are written, and its card as the person sees it.

Must not do: open a verb, read a token, or decide who may ask; `core.engine.clients.clients` does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from core.config.options import Options
from core.errors import Code, PreconditionError, UserError
from core.intake.transaction.admission import check_space_name
from core.intake.transaction.sources import refresh_capped
from core.intake.undo import NEVER, UNPAIRED, is_unpaired
from core.memory.write import ensure_space
from core.types.clients import Before, Change, ClientCard, ClientState, Terms, is_asleep
from core.types.values import DEFAULT_GRANTS, Grant, IdMaker
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

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
        _client_card_from_row(
            row, now_ms, seen.get(row[0]), grants.get(row[0], []), {n: c.get(row[0], 0) for n, c in counts.items()}
        )
        for row in rows.all(_ROWS)
    )


def client_id_of(rows: Rows, name: str) -> str:
    """The id of a client, also of one that was revoked.

    Raises:
        UserError: NOT_FOUND.
    """
    found = rows.value("SELECT id FROM clients WHERE name = ?", (name,))
    if found is None:
        raise UserError(Code.NOT_FOUND, "There is no client of that name.")
    return str(found)


def _client_card_from_row(
    row: tuple[Any, ...], now_ms: int, seen: int | None, grants: list[tuple[str, str]], counts: Mapping[str, int]
) -> ClientCard:
    client_id, name, ceiling, minute, session, paired_at, last_seen, paused_at, revoked_at, woken_at, asked_by = row
    seen_at = max((at for at in (seen, last_seen) if at is not None), default=None)
    granted_words = {word for word, _ in grants}
    return ClientCard(
        id=client_id,
        name=name,
        standing=_client_state(
            paired_at, paused_at, revoked_at, asleep=is_asleep(now_ms, seen_at, woken_at, paired_at)
        ),
        grants=tuple(grant.value for grant in Grant if grant.value in granted_words),
        spaces=tuple(space for word, space in grants if word == "space"),
        trust_ceiling=ceiling,
        limit_minute=minute,
        limit_session=session,
        paired_at=paired_at,
        seen_at=seen_at,
        asked_by=asked_by,
        **counts,
    )


def _client_state(paired_at: int, paused_at: int | None, revoked_at: int | None, *, asleep: bool) -> ClientState:
    if revoked_at is not None:
        return ClientState.REVOKED
    if paired_at == NEVER:
        return ClientState.UNPAIRED
    if paused_at is not None:
        return ClientState.PAUSED
    return ClientState.ASLEEP if asleep else ClientState.AWAKE


SPEAKER_CEILING = 0.9
CEILING = 0.85
NO_LIMIT = "none"

Bounds = tuple[int | None, int | None]
"""Searches a minute and a session; None is no limit."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._-]{0,39}")
_SPACE_PREFIX = "space:"
_MOST = 1_000_000
_GRANTS_OF = (
    "SELECT g.name, s.name FROM grants g LEFT JOIN spaces s ON s.id = g.space_id WHERE g.client_id = ? "
    "ORDER BY g.space_id IS NOT NULL, g.name, s.name"
)


def check_client_name(name: str) -> str:
    """A client's name.

    Args:
        name: 1 to 40 letters from A to Z, digits, blanks, dots, dashes and underscores; the first a letter or digit.

    Raises:
        UserError: INVALID_INPUT.
    """
    if _NAME.fullmatch(name) is None:
        raise UserError(
            Code.INVALID_INPUT,
            "A client's name has 1 to 40 letters from A to Z, digits, blanks, dots, dashes or underscores.",
        )
    return name


def name_key(name: str) -> str:
    """A name as it is compared: neither case nor the number of blanks makes it another."""
    return " ".join(name.casefold().split())


def check_grants(grants: Sequence[str]) -> tuple[str, ...]:
    """Grants as the owner writes them.

    Args:
        grants: words of `Grant`, or `space:<name>`.

    Returns:
        The grants without repeats; read and propose when none is given.

    Raises:
        UserError: INVALID_INPUT.
    """
    words = {grant.value for grant in Grant}
    for grant in grants:
        if grant.startswith(_SPACE_PREFIX):
            check_space_name(grant.removeprefix(_SPACE_PREFIX))
        elif grant not in words:
            raise UserError(
                Code.INVALID_INPUT,
                "A grant is read, propose, write, curate, speak_for_user, sensitive, all_spaces or space:<name>.",
            )
    return tuple(dict.fromkeys(grants)) or DEFAULT_GRANTS


def limits_of_new_client(limit: int | str | None, options: Options) -> Bounds:
    """The limits of a new client.

    Args:
        limit: searches a minute; `none` lifts the session's limit too; None for the defaults.

    Returns:
        Searches a minute and a session.

    Raises:
        UserError: INVALID_INPUT.
    """
    if limit is None:
        return options.searches_minute, options.searches_session
    if limit == NO_LIMIT:
        return None, None
    if not isinstance(limit, int) or limit < 1:
        raise UserError(Code.INVALID_INPUT, "A limit is a number of searches a minute, or none.")
    return limit, options.searches_session


def check_terms(terms: Terms) -> tuple[str, ...]:
    """Terms as the owner writes them.

    Args:
        terms: grants, limits, ceiling.

    Returns:
        The grants without repeats.

    Raises:
        UserError: INVALID_INPUT.
    """
    for limit in (terms.limit_minute, terms.limit_session):
        if limit is not None and not 1 <= limit <= _MOST:
            raise UserError(Code.INVALID_INPUT, "A limit is a number of searches from 1 on, or none.")
    if terms.trust_ceiling is not None and not 0.0 <= terms.trust_ceiling <= 1.0:
        raise UserError(Code.INVALID_INPUT, "A trust ceiling lies between 0 and 1.")
    if not terms.grants:
        raise UserError(Code.INVALID_INPUT, "A client without any grant can do nothing; pause or revoke it instead.")
    return check_grants(terms.grants)


def trust_ceiling_of(grants: Sequence[str]) -> float:
    """The usual trust ceiling of grants (design section 4)."""
    return SPEAKER_CEILING if Grant.SPEAK_FOR_USER.value in grants else CEILING


def paired_row(tx: Tx, name: str) -> dict[str, Any]:
    """The row of a client that is paired.

    Returns:
        Column to value.

    Raises:
        UserError: NOT_FOUND where there is none, or it is revoked.
    """
    row = tx.row("clients", {"name": name})
    if row is None or row["revoked_at"] is not None:
        raise UserError(Code.NOT_FOUND, "There is no paired client of that name.")
    return row


def write_pairing(
    tx: Tx, make_id: IdMaker, name: str, token: bytes, grants: Sequence[str], bounds: Bounds, asked_by: str
) -> str:
    """Write a new client, or one that was revoked or is to be paired anew; a remembered no to its name is forgotten.

    Args:
        token: 32 bytes.
        asked_by: the process that redeemed its code, as reported; "" for none.

    Returns:
        The client's id.

    Raises:
        UserError: INVALID_INPUT for a name in use.
    """
    tx.delete("denied", {"name_key": name_key(name)})
    row = client_row_of_name(tx, name)
    values: dict[str, object] = {
        "token": token,
        "trust_ceiling": trust_ceiling_of(grants),
        "limit_minute": bounds[0],
        "limit_session": bounds[1],
        "paired_at": tx.now_ms,
        "revoked_at": None,
        "paused_at": None,
        "woken_at": None,
        "asked_by": asked_by or None,
    }
    if row is None:
        client_id = make_id()
        tx.insert("clients", {"id": client_id, "name": name, **values})
    elif row["revoked_at"] is None and not is_unpaired(row):
        refusal = f"{row['name']} is paired already; `loci grant` changes what it may, `loci revoke` ends it."
        raise PreconditionError(refusal)
    else:
        client_id = str(row["id"])
        tx.update("clients", {"id": client_id}, values)
        _raise_ceiling(tx, client_id, float(row["trust_ceiling"]), trust_ceiling_of(grants))
    _own_space(tx, make_id, name if row is None else str(row["name"]), client_id)
    set_grants(tx, make_id, client_id, grants)
    return client_id


def client_row_of_name(tx: Tx, name: str) -> dict[str, Any] | None:
    """The row of the client of a name: `Ada` and `ada` are one to whoever reads them in a question.

    Returns:
        Column to value, of a paired one before one that was revoked, and of these the one spelt so; None for none.
    """
    known = tx.all("SELECT name FROM clients ORDER BY revoked_at IS NOT NULL, name <> ?, name", (name,))
    found = next((str(one) for (one,) in known if name_key(str(one)) == name_key(name)), None)
    return None if found is None else tx.row("clients", {"name": found})


def describe_unpaired(rows: Rows, name: str) -> Before:
    """What is known of a name before its bearer is paired.

    Returns:
        Whether the person said no to it, and whether a client has or had it.
    """
    key = name_key(name)
    denied = rows.value("SELECT 1 FROM denied WHERE name_key = ?", (key,)) is not None
    clients = rows.all(f"SELECT name, revoked_at IS NOT NULL OR {UNPAIRED} FROM clients")  # noqa: S608 - a constant
    revocations = {bool(revoked) for one, revoked in clients if name_key(str(one)) == key}
    return Before(denied, taken=False in revocations, former=revocations == {True})


def merge_terms(tx: Tx, row: dict[str, Any], change: Change) -> Terms:
    """The terms of a client with some grants more and some less, as it stands in this very transaction.

    Args:
        row: the client's, from `paired_row`.
        change: what it gets and what is taken from it.
    """
    before = [
        str(grant) if space is None else f"{_SPACE_PREFIX}{space}" for grant, space in tx.all(_GRANTS_OF, (row["id"],))
    ]
    after = tuple(dict.fromkeys(one for one in (*before, *change.more) if one not in change.less))
    speaker = Grant.SPEAK_FOR_USER.value
    ceiling = float(row["trust_ceiling"]) if (speaker in before) == (speaker in after) else None
    return Terms(after, row["limit_minute"], row["limit_session"], ceiling)


def write_terms(tx: Tx, make_id: IdMaker, row: dict[str, Any], grants: Sequence[str], terms: Terms) -> None:
    """Write other terms.

    Args:
        row: the client's, from `paired_row`.
        terms: checked limits and ceiling.
    """
    ceiling = trust_ceiling_of(grants) if terms.trust_ceiling is None else terms.trust_ceiling
    changes = {"limit_minute": terms.limit_minute, "limit_session": terms.limit_session, "trust_ceiling": ceiling}
    tx.update("clients", {"id": row["id"]}, changes)
    _raise_ceiling(tx, str(row["id"]), float(row["trust_ceiling"]), ceiling)
    set_grants(tx, make_id, str(row["id"]), grants)


def set_grants(tx: Tx, make_id: IdMaker, client_id: str, grants: Sequence[str]) -> None:
    """Give a client exactly these grants; those it has already keep their date.

    Args:
        make_id: makes ids of spaces that do not exist yet.
    """
    wanted: dict[tuple[str, str | None], None] = {}
    for grant in grants:
        if grant.startswith(_SPACE_PREFIX):
            wanted["space", ensure_space(tx, grant.removeprefix(_SPACE_PREFIX), make_id())] = None
        else:
            wanted[grant, None] = None
    current_grants = {
        (name, space) for name, space in tx.all("SELECT name, space_id FROM grants WHERE client_id = ?", (client_id,))
    }
    for name, space_id in sorted(current_grants - wanted.keys(), key=str):
        tx.delete("grants", {"client_id": client_id, "name": name, "space_id": space_id})
    for name, space_id in wanted:
        if (name, space_id) not in current_grants:
            new = {"client_id": client_id, "name": name, "space_id": space_id, "granted_at": tx.now_ms}
            tx.insert("grants", new)


def pause_client(tx: Tx, row: dict[str, Any]) -> None:
    """It is not let in from here on, until it is resumed."""
    if row["paused_at"] is None:
        tx.update("clients", {"id": row["id"]}, {"paused_at": tx.now_ms})


def resume_client(tx: Tx, row: dict[str, Any], now_ms: int) -> None:
    """It is let in again, whether it was paused or asleep.

    Args:
        row: the client's, from `paired_row`.
        now_ms: the present by the machine's clock.

    Raises:
        UserError: INVALID_INPUT for one that is to be paired anew.
    """
    if is_unpaired(row):
        sentence = "It is unpaired: undoing its revocation brought no token back. Pair it again to let it in."
        raise PreconditionError(sentence)
    changes: dict[str, object] = {} if row["paused_at"] is None else {"paused_at": None}
    if is_asleep(now_ms, row["last_seen_at"], row["woken_at"], row["paired_at"]):
        changes["woken_at"] = tx.now_ms
    if changes:
        tx.update("clients", {"id": row["id"]}, changes)


def _own_space(tx: Tx, make_id: IdMaker, name: str, client_id: str) -> None:
    space_id = ensure_space(tx, f"client:{name}", make_id(), client_id)
    # The owner may have written there, or imported, before the client was paired.
    tx.update("spaces", {"id": space_id}, {"client_id": client_id})


def _raise_ceiling(tx: Tx, client_id: str, old: float, new: float) -> None:
    if old != new:
        refresh_capped(tx, client_id, old, new)
