"""The verbs on clients: pair, grant, pause, resume, revoke, clients, log."""

from __future__ import annotations

from typing import Any

from core.engine.facade import Engine
from core.errors import Code, UserError
from core.ipc.methods.owner.base import Params, Progress, wait
from core.ipc.methods.owner.grants import new_spaces
from core.ipc.protocol.time_format import iso
from core.security.handshake import encode_value
from core.types.clients import ActivityLine, Change, ClientCard, Standing
from core.types.replies import ClientRecord
from core.types.values import Actor


async def pair(engine: Engine, params: Params, actor: Actor, _progress: Progress) -> dict[str, Any]:
    """Make a client directly; its token is in the reply and nowhere else."""
    new = await new_spaces(engine, params.get("grants", ()))
    before = await wait(engine.clients.before(params["name"]))
    made = await wait(engine.clients.pair(params["name"], params.get("grants", ()), params.get("limit"), actor))
    token, grants = encode_value(made.token), present_grants(engine, made.name)
    told = {"client": made.name, "token": token, "grants": grants, "former": before.former, "new_spaces": new}
    return {**told, "step": made.step_id}


def present_grants(engine: Engine, name: str) -> list[str]:
    """What a client may do now, as grants are written."""
    record = engine.clients.authenticator().token_for(name)
    return [] if record is None else grants_of(record)


async def grant(engine: Engine, params: Params, actor: Actor, _progress: Progress) -> dict[str, Any]:
    """Widen or narrow what a paired client may, at once also for its live sessions; its limits stay."""
    name, more, less = params["name"], tuple(params.get("grants", ())), tuple(params.get("take", ()))
    if not more and not less:
        raise UserError(Code.INVALID_INPUT, "Say which grants it gets, or which are taken from it.")
    if frozenset(less) & frozenset(more):
        raise UserError(Code.INVALID_INPUT, "A grant is given or taken, not both.")
    new = await new_spaces(engine, more)
    step = await wait(engine.clients.regrant(name, Change(more, less), actor))
    return {"client": name, "grants": present_grants(engine, name), "step": step or None, "new_spaces": new}


async def revoke(engine: Engine, params: Params, actor: Actor, _progress: Progress) -> dict[str, Any]:
    """Revoke a client, and take back what it wrote where that is asked for; else say how much that would be."""
    name = params["name"]
    if not params.get("remove"):
        client_id = await wait(engine.clients.revoke(name, actor))
        could = await wait(engine.clients.undoable(name, 0))
        wrote = {"steps": could.steps, "memories": could.memories, "too_old": could.expired, "untried": could.untried}
        return {"client": name, "id": client_id, "revoked": True, "wrote": wrote}
    if not any(record.name == name and record.revoked for record in await wait(engine.clients.list())):
        await wait(engine.clients.revoke(name, actor))
    done = await wait(engine.clients.remove_all(name, actor))
    removed = {"steps": done.steps, "left": done.left, "archived": done.archived, "left_ids": list(done.left_ids)}
    return {"client": name, "revoked": True, "removed": removed, "step": done.step_id or None}


async def pause(engine: Engine, params: Params, actor: Actor, _progress: Progress) -> dict[str, Any]:
    """Pause one client, or all: the kill switch."""
    name = _one_or_all(params)
    step = await wait(engine.clients.stop_all(actor) if name is None else engine.clients.pause(name, actor))
    return {"client": name, "paused": True, "step": step or None}


async def resume(engine: Engine, params: Params, actor: Actor, _progress: Progress) -> dict[str, Any]:
    """Resume one client, which wakes a sleeper too, or all that are paused."""
    name = _one_or_all(params)
    step = await wait(engine.clients.resume_all(actor) if name is None else engine.clients.resume(name, actor))
    return {"client": name, "paused": False, "step": step or None}


def _one_or_all(params: Params) -> str | None:
    if bool(params.get("all")) == ("name" in params):
        raise UserError(Code.INVALID_INPUT, "Name one client, or say `all`.")
    return params.get("name")


async def clients(engine: Engine, _params: Params, _actor: Actor, _progress: Progress) -> dict[str, Any]:
    """All clients, with what each did, and the names the person said no to; never a token."""
    cards, denied = await wait(engine.clients.cards()), await wait(engine.clients.denied())
    return {
        "clients": [_shown(card) for card in cards],
        "denied": [{"name": one.name_key, "denied_at": iso(one.denied_at)} for one in denied],
    }


async def log(engine: Engine, params: Params, _actor: Actor, _progress: Progress) -> dict[str, Any]:
    """What one client did, or all, newest first: answers, changes, refusals; never what was asked."""
    limit = int(params.get("limit", 50))
    try:
        page = await wait(engine.clients.activity(params.get("name"), params.get("after"), limit))
    except UserError as error:
        if error.code is not Code.NOT_FOUND:
            raise
        raise UserError(Code.INVALID_INPUT, "There is no client of that name; `loci clients` lists them.") from None
    told = {"lines": [_line(line) for line in page.lines]}
    return told if page.next is None else {**told, "next": page.next}


def _line(line: ActivityLine) -> dict[str, Any]:
    return {
        "at": iso(line.at),
        "client": line.client,
        "did": line.did.value,
        "verb": line.verb,
        "operation": line.operation or None,
        "count": line.count,
        "withheld": line.withheld,
        "reasons": dict(line.reasons),
        "code": line.code or None,
        "memory_id": line.memory_id or None,
        "text": line.words,
        "space": line.space or None,
        "warned": line.is_warned,
        "receipt": line.receipt_id or None,
        "step": line.step_id or None,
        "undone": line.is_undone,
    }


async def allow_again(engine: Engine, params: Params, _actor: Actor, _progress: Progress) -> dict[str, Any]:
    """Forget a remembered no: whoever has that name may ask to be paired again."""
    step = await wait(engine.clients.allow_again(params["name"]))
    if not step:
        raise UserError(Code.NOT_FOUND, "You said no to nobody of that name.")
    return {"name": params["name"], "step": step}


def grants_of(record: ClientRecord) -> list[str]:
    """A client's grants as they are written: words, then `space:<name>`."""
    return [*sorted(record.grants), *(f"space:{name}" for name in record.spaces)]


def _shown(card: ClientCard) -> dict[str, Any]:
    return {
        "id": card.id,
        "name": card.name,
        "grants": [*sorted(card.grants), *(f"space:{name}" for name in card.spaces)],
        "spaces": list(card.spaces),
        "trust_ceiling": card.trust_ceiling,
        "limits": {"searches_per_minute": card.limit_minute, "searches_per_session": card.limit_session},
        "paired_at": None if card.standing is Standing.UNPAIRED else iso(card.paired_at),
        "last_seen_at": iso(card.seen_at),
        "asked_by": card.asked_by,
        "state": _STATES.get(card.standing, card.standing.value),
        "stands": card.stands,
        "waits": card.waits,
        "answers": card.answers,
        "refusals": card.refusals,
        "steps": card.steps,
    }


_STATES = {Standing.AWAKE: "paired"}
"""Words of the command line where they differ from the window's."""
