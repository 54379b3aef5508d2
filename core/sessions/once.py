"""A call that names itself is carried out once: its reply is kept and given again.

Must not do: keep a text; the digest of a request goes with the memories its reply names.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from core.errors import Code, UserError
from core.memory.draft import to_json
from core.types.values import Actor
from core.vault.tx import Tx


def digest_of(verb: str, request: Mapping[str, Any]) -> bytes:
    """What tells one request from another.

    Args:
        verb: which call.
        request: its parameters, JSON-able.

    Returns:
        SHA-256, 32 bytes.
    """
    return hashlib.sha256(json.dumps([verb, dict(request)], sort_keys=True).encode()).digest()


def earlier(tx: Tx, actor: Actor, request_id: str | None, digest: bytes) -> dict[str, Any] | None:
    """The reply to the same call, if it was carried out.

    Args:
        tx: the transaction.
        actor: who calls.
        request_id: the name of the call; None for one without.
        digest: from `digest_of`.

    Returns:
        The reply; None where it is new.

    Raises:
        UserError: INVALID_INPUT; the name was used for another call.
    """
    if request_id is None:
        return None
    row = tx.one("SELECT digest, reply FROM requests WHERE actor = ? AND request_id = ?", (_who(actor), request_id))
    if row is None:
        return None
    if row[0] != digest:
        raise UserError(Code.INVALID_INPUT, "This request_id was used for another text before; choose a new one.")
    return dict(json.loads(row[1]))


def done(tx: Tx, actor: Actor, request_id: str | None, digest: bytes, reply: Mapping[str, Any]) -> None:
    """Keep the reply of a call.

    Args:
        tx: the transaction that carried it out.
        actor: who called.
        request_id: the name of the call; None for one without.
        digest: from `digest_of`.
        reply: JSON-able; ids and counts.
    """
    if request_id is None:
        return
    tx.run(
        "INSERT INTO requests (actor, request_id, digest, reply, at) VALUES (?, ?, ?, ?, ?)",
        (_who(actor), request_id, digest, to_json(dict(reply)), tx.now_ms),
    )


def _who(actor: Actor) -> str:
    return actor.client_id or actor.kind
