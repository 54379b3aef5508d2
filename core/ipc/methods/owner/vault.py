"""The verbs on the vault as a whole: status, verify, older copies, lock, unlock, its secrets, backup, export."""

from __future__ import annotations

from typing import Any

from core.engine.facade import Engine
from core.errors import Code, UserError
from core.ipc.methods.memory_json import plain
from core.ipc.methods.owner.base import Params, Progress, behind, wait
from core.ipc.methods.owner.imports import absolute
from core.ipc.protocol.time_format import iso
from core.security.handshake import decode_value
from core.security.subkeys import KEY_BYTES, VAULT_ID_BYTES
from core.types.values import Actor
from core.types.views import FindRequest


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


async def passphrase(engine: Engine, params: Params, _actor: Actor, progress: Progress) -> dict[str, Any]:
    """Put another passphrase in the place of the old one."""
    progress.tell("Changing the passphrase", 0, None)
    await wait(engine.vault.change_passphrase(params["old"], params["new"]))
    return {"changed": True}


async def recovery_code(engine: Engine, params: Params, _actor: Actor, progress: Progress) -> dict[str, Any]:
    """Make a recovery code, which opens nothing yet; or put the one that was made last in force."""
    if "confirm" in params:
        return {"holds": await wait(engine.vault.confirm_recovery_code(params["confirm"]))}
    if "secret" not in params:
        raise UserError(Code.INVALID_INPUT, "Give the passphrase, or the code that is to be put in force.")
    progress.tell("Making a recovery code", 0, None)
    return {"recovery_code": await wait(engine.vault.new_recovery_code(params["secret"]))}


async def export(engine: Engine, params: Params, _actor: Actor, progress: Progress) -> dict[str, Any]:
    """Write memories to a file; without one give their ids, whose fields `exported` then hands out."""
    to, form, library = params.get("to"), params.get("format", "jsonl"), engine.library
    progress.tell("Exporting", 0, None)
    found = await wait(library.find(FindRequest(await _search(engine, params), descending=False)))
    ids = found.ids
    if to is not None:
        path = absolute(to, "to")
        return {"path": str(path), "format": form, "memories": await wait(library.export(ids, path, form))}
    order = await wait(library.handed_out(ids, form))
    return {"format": form, "memories": len(order), "items": [{"id": one} for one in order]}


async def _search(engine: Engine, params: Params) -> str:
    """The library's search for what is exported: what stands, where no status is named."""
    query, space, status = "", params.get("space"), params.get("status", [])
    if space is not None:
        if space not in (await wait(engine.vault.status())).values["spaces"]:
            raise UserError(Code.NOT_FOUND, "There is no such space.")
        query = engine.library.with_term(query, "space", space)
    for value in [status] if status == "all" else status:
        query = engine.library.with_term(query, "status", value)
    return query


async def exported(engine: Engine, params: Params, _actor: Actor, _progress: Progress) -> dict[str, Any]:
    """The fields of an export, part by part."""
    parts = await wait(engine.library.fields(params["ids"]))
    heads = set(params["ids"])
    items = [{"id": one, "continues": one not in heads, "fields": dict(fields)} for one, fields in parts]
    return {"items": behind(items, params.get("after"))}


async def backup(engine: Engine, params: Params, _actor: Actor, progress: Progress) -> dict[str, Any]:
    """Write a verified backup."""
    progress.tell("Backing up", 0, None)
    to = params.get("to")
    written = await wait(engine.vault.backup(None if to is None else absolute(to, "to")))
    shaped: dict[str, Any] = plain(written)
    return shaped
