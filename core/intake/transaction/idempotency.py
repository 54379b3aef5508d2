"""Requests that come twice: a verb with the caller's `request_id` is done once, and answered alike the second time.

Must not do: keep what was asked; a digest of it is enough to know it again. With the first erasure all of
them come under a key: an erased text may be in one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.errors import Code, UserError
from core.intake.transaction.tombstones import blind_digest
from core.memory.draft import to_json
from core.types.values import Actor
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx


@dataclass(frozen=True, slots=True)
class IdempotentCall:
    """One call with the caller's own request id.

    Attributes:
        actor: who asks; an id is the caller's own.
        request_id: None where the caller gave none: then nothing is kept.
        asked: the verb and all it was asked with, JSON-able; the channel it was asked on counts too.
        taken: said where the id was used for something else.
    """

    actor: Actor
    request_id: str | None
    asked: Mapping[str, Any]
    taken: str = "This request_id was used for something else before; choose a new one."

    def known(self, rows: Rows) -> Mapping[str, Any] | None:
        """The answer that the same call got before.

        Args:
            rows: the transaction, or a vault snapshot.

        Returns:
            What `keep` was given; None where the request is new.

        Raises:
            UserError: INVALID_INPUT where the id was used for something else.
        """
        if self.request_id is None:
            return None
        row = rows.one("SELECT digest, reply FROM requests WHERE actor = ? AND request_id = ?", self._name)
        if row is None:
            return None
        if bytes(row[0]) not in (self._digest, blind_digest(rows, self._digest)):
            raise UserError(Code.INVALID_INPUT, self.taken)
        found: dict[str, Any] = json.loads(row[1])
        return found

    def keep(self, tx: Tx, reply: Mapping[str, Any]) -> None:
        """Keep the answer for a repetition of the call.

        Args:
            tx: the transaction that did it.
            reply: ids and words, JSON-able; never memory text.
        """
        if self.request_id is not None:
            tx.run(
                "INSERT INTO requests (actor, request_id, digest, reply, at) VALUES (?, ?, ?, ?, ?)",
                (*self._name, blind_digest(tx, self._digest), to_json(dict(reply)), tx.now_ms),
            )

    @property
    def _name(self) -> tuple[str, str | None]:
        return self.actor.client_id or self.actor.kind, self.request_id

    @property
    def _digest(self) -> bytes:
        whole = {**self.asked, "channel": self.actor.channel} if self.actor.channel else dict(self.asked)
        return hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).digest()
