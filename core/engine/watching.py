"""The facade's group for listeners: which memories of a change an actor may know of, and whether any was among others.

What a look costs is what was changed since the last one, never the size of the vault. Must not do: tell a count, a
text, or anything of what lies outside the scope.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from concurrent.futures import Future

from core.engine.authority import Authority
from core.engine.opened import Opened
from core.recall.scope import conditions_of_sight
from core.types.values import Actor
from core.types.watching import Mark
from core.vault.rows import Rows

# A memory that was deleted a moment ago is told of: the listener could see it until then.
_VISIBLE = "SELECT m.id FROM json_each(:ids) w JOIN memories m ON m.id = w.value WHERE {known} ORDER BY w.key"
_NOW = "SELECT (SELECT coalesce(max(rowid), 0) FROM undo_rows), (SELECT coalesce(max(n), 0) FROM memories)"
# What came in; an import tells of its rows once, after the last.
_CAME = "SELECT 1 FROM memories m NOT INDEXED WHERE m.n > :label AND {known} LIMIT 1"
# What any verb changed since. Of a memory that is gone with an undo the image says where it was.
_CHANGED = (
    "SELECT 1 FROM (SELECT coalesce(o.space_id, json_extract(r.before, '$.space_id')) AS space_id, "
    "coalesce(o.scope_channel, json_extract(r.before, '$.scope_channel')) AS scope_channel, "
    "coalesce(o.security_tier, json_extract(r.before, '$.security_tier')) AS security_tier "
    "FROM undo_rows r LEFT JOIN memories o ON o.n = json_extract(r.row_key, '$.n') "
    "WHERE r.rowid > :change AND r.tbl = 'memories') m WHERE {known} LIMIT 1"
)


class Watching:
    """What a listener may be told. Each method returns at once with a Future."""

    def __init__(self, opened: Callable[[], Opened], authority: Authority) -> None:
        self._opened = opened
        self._authority = authority

    def visible(self, memory_ids: Sequence[str], actor: Actor) -> Future[tuple[str, ...]]:
        """Which of these the actor may know of.

        Args:
            memory_ids: of a change.
            actor: who listens; a client needs `read`.

        Returns:
            Some of them, in their order.

        Raises:
            UserError: VAULT_LOCKED, ACCESS_DENIED, UNAUTHENTICATED.
        """
        params: dict[str, object] = {"ids": json.dumps(list(memory_ids))}
        sql = _VISIBLE.format(known=conditions_of_sight(self._authority.scope(actor), params))
        return self._opened().look(lambda rows: tuple(str(row[0]) for row in rows.all(sql, params)))

    def mark(self, actor: Actor) -> Future[Mark]:
        """How far the vault's changes have come, to ask later what came after.

        Args:
            actor: who listens; a client needs `read`.

        Returns:
            The place; it is the vault's, so that it stays with the server.

        Raises:
            UserError: VAULT_LOCKED, ACCESS_DENIED, UNAUTHENTICATED.
        """
        self._authority.scope(actor)
        return self._opened().look(_now)

    def stirred(self, since: Mark, actor: Actor) -> Future[tuple[bool, Mark]]:
        """Whether memories within the actor's scope came, went or changed.

        Args:
            since: from `mark`, or from the last look.
            actor: who listens; a client needs `read`.

        Returns:
            That, and how far the changes have come now.

        Raises:
            UserError: VAULT_LOCKED, ACCESS_DENIED, UNAUTHENTICATED.
        """
        params: dict[str, object] = {"change": since.change, "label": since.label}
        known = conditions_of_sight(self._authority.scope(actor), params)
        came, changed = _CAME.format(known=known), _CHANGED.format(known=known)

        def read(rows: Rows) -> tuple[bool, Mark]:
            is_new = rows.one(came, params) is not None
            return is_new or rows.one(changed, params) is not None, _now(rows)

        return self._opened().look(read)


def _now(rows: Rows) -> Mark:
    change, label = rows.all(_NOW)[0]
    return Mark(int(change), int(label))
