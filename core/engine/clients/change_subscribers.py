"""The facade's group for listeners: what a change was to an actor, by what it could see before and can see since.

Must not do: tell a count, a text, or anything of what lies outside the scope; look at a memory.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from concurrent.futures import Future

from core.engine.access.authority import Authority
from core.engine.runtime.open_vault import OpenVault
from core.recall.query.scope import PLACE, visibility_conditions
from core.types.clients import Moves, Place
from core.types.values import Actor, Status
from core.vault.database.rows import Rows

_STATUS = PLACE.index("status")
# What speaks, or waits until it may. Everything else was laid away: it can be looked at, and comes by itself no more.
_STANDS = frozenset({Status.ACTIVE.value, Status.DISPUTED.value, Status.QUARANTINED.value})
_COLUMNS = ", ".join(f"json_extract(w.value, '$[{at}]') AS {name}" for at, name in enumerate(PLACE))
# The places alone are asked about, by the condition that stands in every query: no row is read for it.
_SEEN = f"SELECT m.at FROM (SELECT w.key AS at, {_COLUMNS} FROM json_each(:places) w) m WHERE {{known}}"  # noqa: S608


class ChangeSubscriptions:
    """The changes a listener may see. Each method returns at once with a Future."""

    def __init__(self, opened: Callable[[], OpenVault], authority: Authority) -> None:
        self._opened = opened
        self._authority = authority

    def visible_changes(self, moves: Moves, actor: Actor) -> Future[Mapping[str, tuple[str, ...]]]:
        """The changes of a transaction that an actor may see.

        Args:
            moves: what was done.
            actor: who listens; a client needs `read`.

        Returns:
            `stored`, `changed` and `gone`, each with the memories it is true of, in the order they were touched; a kind
            that nothing is to be told of is left out.

        Raises:
            UserError: VAULT_LOCKED, ACCESS_DENIED, UNAUTHENTICATED.
        """
        scope = self._authority.scope(actor)
        places = list({place: None for move in moves for place in (move.before, move.after) if _is_there(place)})
        params: dict[str, object] = {"places": json.dumps(places)}
        sql = _SEEN.format(known=visibility_conditions(scope, params))

        def read(rows: Rows) -> Mapping[str, tuple[str, ...]]:
            seen = {places[at] for (at,) in rows.all(sql, params)}
            found: dict[str, tuple[str, ...]] = {}
            for move in moves:
                kind = _kind(move.before if move.before in seen else None, move.after if move.after in seen else None)
                if kind is not None:
                    found[kind] = (*found.get(kind, ()), *move.ids)
            return found

        return self._opened().read_quietly(read)


def _kind(before: Place | None, after: Place | None) -> str | None:
    """What it is to somebody who sees it there, and there."""
    stood, stands = _stands(before), _stands(after)
    if stood != stands:
        return "stored" if stands else "gone"
    if after is not None:
        return "changed"
    return None if before is None else "gone"


def _stands(place: Place | None) -> bool:
    return place is not None and place[_STATUS] in _STANDS


def _is_there(place: Place | None) -> bool:
    """A memory that was forgotten can come back with an undo; until then nobody has it."""
    return place is not None and place[_STATUS] != Status.DELETED.value
