"""The verbs on the vault as a whole: status, verify, older copies, lock, unlock, backup."""

from __future__ import annotations

from typing import Any

from core.errors import Code, UserError
from core.ipc.items import plain
from core.ipc.moments import iso
from core.ipc.ports import Engine
from core.ipc.verbs.base import Params, Progress, wait
from core.ipc.verbs.imports import absolute
from core.security.handshake import decode_value
from core.security.subkeys import KEY_BYTES, VAULT_ID_BYTES
from core.types.values import Actor


async def status(engine: Engine, _params: Params, _actor: Actor, _progress: Progress) -> dict[str, Any]:
    """How the vault and the engine are."""
    report = await wait(engine.vault.status())
    values: dict[str, Any] = plain(report.values)
    return values


async def verify(engine: Engine, _params: Params, _actor: Actor, progress: Progress) -> dict[str, Any]:
    """Check the vault."""
    progress.tell("Checking the vault", 0, None)
    found = await wait(engine.vault.verify())
    shaped: dict[str, Any] = plain(found)
    return shaped


def older_of(engine: Engine) -> dict[str, Any] | None:
    """What is known of an older copy that nobody has accepted, as JSON tells it.

    Args:
        engine: the engine.

    Returns:
        None where the vault is the newest, or accepted.
    """
    older = engine.older
    if older is None:
        return None
    return {
        "doubt": str(older.doubt),
        "vault_seq": older.vault_seq,
        "seen_seq": older.head_seq,
        "seen_at": iso(older.head_time_ms),
        "do": "loci verify --accept-older",
    }


async def older_copy(engine: Engine, _params: Params, _actor: Actor, _progress: Progress) -> dict[str, Any]:
    """Whether the vault is an older copy that nobody has accepted."""
    return {"older_copy": older_of(engine)}


async def accept_older(engine: Engine, _params: Params, _actor: Actor, _progress: Progress) -> dict[str, Any]:
    """Go on with an older copy of the vault, on its owner's word."""
    was_older = engine.older is not None
    return {"accepted": was_older, "retired_clients": await wait(engine.accept_older())}


async def lock(engine: Engine, _params: Params, _actor: Actor, _progress: Progress) -> dict[str, Any]:
    """Lock the vault."""
    await wait(engine.vault.lock())
    return {"state": engine.state}


async def unlock(engine: Engine, params: Params, _actor: Actor, progress: Progress) -> dict[str, Any]:
    """Unlock the vault with its root key, if the key is this vault's; an open vault stays open."""
    vault, root = decode_value(params["vault"], VAULT_ID_BYTES), decode_value(params["key"], KEY_BYTES)
    if vault != engine.vault_id:
        raise UserError(Code.WRONG_SECRET, "That key belongs to another vault.")
    if engine.state != "open":
        progress.tell("Opening the vault", 0, None)
        await wait(engine.vault.unlock(root))
    return {"state": engine.state}


async def backup(engine: Engine, params: Params, _actor: Actor, progress: Progress) -> dict[str, Any]:
    """Write a verified backup."""
    progress.tell("Backing up", 0, None)
    to = params.get("to")
    written = await wait(engine.vault.backup(None if to is None else absolute(to, "to")))
    shaped: dict[str, Any] = plain(written)
    return shaped
