"""The facade's group for listeners: which memories of a change an actor may know of, and how all it may see stands.

Must not do: tell a count, a text, or anything of what lies outside the scope.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from concurrent.futures import Future

from core.engine.authority import Authority
from core.engine.opened import Opened
from core.types.values import Actor
from core.vault.rows import Rows

# A memory that was deleted a moment ago is told of: the listener could see it until then.
_VISIBLE = (
    "SELECT m.id FROM json_each(:ids) w JOIN memories m ON m.id = w.value "
    "WHERE (:seen IS NULL OR m.space_id IN (SELECT value FROM json_each(:seen))) "
    "AND (:client IS NULL OR m.scope_session = '' OR m.client_id = :client) "
    "AND (:client IS NULL OR m.security_tier <> 'confidential') ORDER BY w.key"
)
_MARK = (
    "SELECT status, kind, count(*) FROM memories "
    "WHERE :seen IS NULL OR space_id IN (SELECT value FROM json_each(:seen)) GROUP BY status, kind ORDER BY 1, 2"
)
_LAST = "SELECT max(n) FROM memories WHERE :seen IS NULL OR space_id IN (SELECT value FROM json_each(:seen))"


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
        params = {"ids": json.dumps(list(memory_ids)), "client": actor.client_id, "seen": self._seen(actor)}
        return self._opened().look(lambda rows: tuple(str(row[0]) for row in rows.all(_VISIBLE, params)))

    def mark(self, actor: Actor) -> Future[str]:
        """A word that is another whenever memories came or went, or changed their status, within the actor's scope.

        Args:
            actor: who listens; a client needs `read`.

        Returns:
            A digest; it tells nothing but whether it is the same.

        Raises:
            UserError: VAULT_LOCKED, ACCESS_DENIED, UNAUTHENTICATED.
        """
        params = {"seen": self._seen(actor)}

        def read(rows: Rows) -> str:
            counted = [*rows.all(_MARK, params), *rows.all(_LAST, params)]
            return hashlib.blake2b(json.dumps(counted).encode("ascii"), digest_size=16).hexdigest()

        return self._opened().look(read)

    def _seen(self, actor: Actor) -> str | None:
        scope = self._authority.scope(actor)
        return None if scope.unrestricted else json.dumps(sorted(scope.space_ids))
