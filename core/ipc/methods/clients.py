"""The owner's methods on clients: pair, grant, pause, resume, revoke, clients, log, allow_again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from pydantic import Field

from core.engine.facade import Engine
from core.errors import Code, UserError
from core.ipc.methods.definition.entry import (
    Answer,
    ClientName,
    Cursor,
    Entry,
    GrantNames,
    MethodCall,
    MinuteLimit,
    NameParams,
    NoParams,
    Params,
    await_future,
    owner_method,
    unpublished_field,
)
from core.ipc.methods.definition.results import (
    Schema,
    any_object,
    constant,
    flag,
    list_of,
    record,
    ref,
    text,
    whole_number,
)
from core.ipc.protocol.contract import format_wire_time
from core.security.handshake import encode_value
from core.types.clients import ActivityLine, Change, ClientCard, ClientRecord, ClientState

_SPACE = "space:"
_STATES = {ClientState.AWAKE: "paired"}
"""Words of the command line where they differ from the window's."""


class PairParams(Params):
    """The parameters of `owner.pair`."""

    name: ClientName
    grants: GrantNames = unpublished_field(())
    limit: MinuteLimit | None = None


class GrantParams(Params):
    """The parameters of `owner.grant`."""

    name: ClientName
    grants: GrantNames = unpublished_field((), description="What it gets besides what it has.")
    take: GrantNames = unpublished_field((), description="What is taken from it; what it does not have is passed over.")


class RevokeParams(Params):
    """The parameters of `owner.revoke`."""

    name: ClientName
    remove: bool = unpublished_field(default=False)


class DiscloseParams(Params):
    """The parameters of `owner.disclose`."""

    name: ClientName
    minutes: int = Field(15, ge=0, le=240, description="From now; 0 ends it.")


class PauseParams(Params):
    """The parameters of `owner.pause` and `owner.resume`."""

    name: ClientName | None = None
    all: bool = unpublished_field(default=False)


class LogParams(Params):
    """The parameters of `owner.log`."""

    name: ClientName | None = None
    after: Cursor | None = None
    limit: int = unpublished_field(50, ge=1, le=200)


async def pair_client(call: MethodCall, params: PairParams) -> Answer:
    """Make a client directly; its token is in the reply and nowhere else."""
    engine = call.engine
    new = await _spaces_made_by_grant(engine, params.grants)
    before = await await_future(engine.clients.describe_unpaired(params.name))
    made = await await_future(engine.clients.pair(params.name, params.grants, params.limit, call.actor()))
    token, grants = encode_value(made.token), present_grants(engine, made.name)
    reply = {"client": made.name, "token": token, "grants": grants, "former": before.former, "new_spaces": new}
    return {**reply, "step": made.step_id}


def present_grants(engine: Engine, name: str) -> list[str]:
    """The grants that a paired client has now, spelt as the person writes them; none where no such client is paired."""
    record = engine.authority.token_for(name)
    return [] if record is None else _grants_of(record)


async def _spaces_made_by_grant(engine: Engine, grants: Iterable[str]) -> list[str]:
    """The spaces that a grant makes (design section 8); a new one may be a slip of the pen, so it is told.

    Args:
        engine: the engine, before anything is granted.
        grants: as the person named them.

    Returns:
        Their names, in the order of the grants.
    """
    named = [grant.removeprefix(_SPACE) for grant in grants if grant.startswith(_SPACE)]
    if not named:
        return []
    there = (await await_future(engine.vault.read_status())).values["spaces"]
    return [name for name in dict.fromkeys(named) if name not in there]


async def change_grants(call: MethodCall, params: GrantParams) -> Answer:
    """Widen or narrow what a paired client may, at once also for its live sessions; its limits stay."""
    engine, name, more, less = call.engine, params.name, params.grants, params.take
    if not more and not less:
        raise UserError(Code.INVALID_INPUT, "Say which grants it gets, or which are taken from it.")
    if frozenset(less) & frozenset(more):
        raise UserError(Code.INVALID_INPUT, "A grant is given or taken, not both.")
    new = await _spaces_made_by_grant(engine, more)
    step = await await_future(engine.clients.change_terms(name, Change(more, less), call.actor()))
    return {"client": name, "grants": present_grants(engine, name), "step": step or None, "new_spaces": new}


async def revoke_client(call: MethodCall, params: RevokeParams) -> Answer:
    """Revoke a client, and take back what it wrote where that is asked for; else say how much that would be."""
    known, name = call.engine.clients, params.name
    if not params.remove:
        client_id = await await_future(known.revoke(name, call.actor()))
        could = await await_future(known.preview_undo(name, 0))
        wrote = {"steps": could.steps, "memories": could.memories, "too_old": could.expired, "untried": could.untried}
        return {"client": name, "id": client_id, "revoked": True, "wrote": wrote}
    if not any(record.name == name and record.revoked for record in await await_future(known.list())):
        await await_future(known.revoke(name, call.actor()))
    done = await await_future(known.remove_all(name, call.actor()))
    removed = {"steps": done.steps, "left": done.left, "archived": done.archived, "left_ids": list(done.left_ids)}
    return {"client": name, "revoked": True, "removed": removed, "step": done.step_id or None}


async def pause_clients(call: MethodCall, params: PauseParams) -> Answer:
    """Pause one client, or all: the kill switch."""
    known, name = call.engine.clients, _one_or_all(params)
    step = await await_future(known.stop_all(call.actor()) if name is None else known.pause(name, call.actor()))
    return {"client": name, "paused": True, "step": step or None}


async def resume_clients(call: MethodCall, params: PauseParams) -> Answer:
    """Resume one client, which wakes a sleeper too, or all that are paused."""
    known, name = call.engine.clients, _one_or_all(params)
    step = await await_future(known.resume_all(call.actor()) if name is None else known.resume(name, call.actor()))
    return {"client": name, "paused": False, "step": step or None}


def _one_or_all(params: PauseParams) -> str | None:
    if params.all == (params.name is not None):
        raise UserError(Code.INVALID_INPUT, "Name one client, or say `all`.")
    return params.name


async def list_clients(call: MethodCall, _params: NoParams) -> Answer:
    """All clients, with what each did, and the names the person said no to; never a token."""
    cards, denied = (
        await await_future(call.engine.clients.list_cards()),
        await await_future(call.engine.clients.list_denied()),
    )
    return {
        "clients": [_client_json(card) for card in cards],
        "denied": [{"name": one.name_key, "denied_at": format_wire_time(one.denied_at)} for one in denied],
    }


async def list_activity(call: MethodCall, params: LogParams) -> Answer:
    """What one client did, or all, newest first: answers, changes, refusals; never what was asked."""
    try:
        page = await await_future(call.engine.clients.list_activity(params.name, params.after, params.limit))
    except UserError as error:
        if error.code is not Code.NOT_FOUND:
            raise
        raise UserError(Code.INVALID_INPUT, "There is no client of that name; `loci clients` lists them.") from None
    reply: Answer = {"lines": [_line_json(line) for line in page.lines]}
    return reply if page.next is None else {**reply, "next": page.next}


def _line_json(line: ActivityLine) -> dict[str, Any]:
    return {
        "at": format_wire_time(line.at),
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


async def disclose(call: MethodCall, params: DiscloseParams) -> Answer:
    """Let a client have what is sensitive for a time, or no longer."""
    seconds = await await_future(call.engine.clients.disclose(params.name, params.minutes))
    return {"client": params.name, "seconds": seconds}


async def allow_again(call: MethodCall, params: NameParams) -> Answer:
    """Forget a remembered no: whoever has that name may ask to be paired again."""
    step = await await_future(call.engine.clients.allow_again(params.name))
    if not step:
        raise UserError(Code.NOT_FOUND, "You said no to nobody of that name.")
    return {"name": params.name, "step": step}


def _grants_of(record: ClientRecord) -> list[str]:
    """A client's grants as they are written: words, then `space:<name>`."""
    return [*sorted(record.grants), *(f"{_SPACE}{name}" for name in record.spaces)]


def _client_json(card: ClientCard) -> dict[str, Any]:
    return {
        "id": card.id,
        "name": card.name,
        "grants": [*sorted(card.grants), *(f"{_SPACE}{name}" for name in card.spaces)],
        "spaces": list(card.spaces),
        "trust_ceiling": card.trust_ceiling,
        "limits": {"searches_per_minute": card.limit_minute, "searches_per_session": card.limit_session},
        "paired_at": None if card.standing is ClientState.UNPAIRED else format_wire_time(card.paired_at),
        "last_seen_at": format_wire_time(card.seen_at),
        "asked_by": card.asked_by,
        "state": _STATES.get(card.standing, card.standing.value),
        "stands": card.stands,
        "waits": card.waits,
        "answers": card.answers,
        "refusals": card.refusals,
        "steps": card.steps,
        "sensitive_s": card.sensitive_s,
    }


DEFINITIONS: Mapping[str, Schema] = MappingProxyType(
    {
        "held": record(
            {
                "client": text("Its name; null where all were meant.", null=True),
                "paused": flag(),
                "step": text("What `undo` takes; null where nothing changed.", null=True),
            },
            "How a client stands after it was paused or resumed.",
        ),
    }
)
"""What several answers are made of."""

METHODS: tuple[Entry, ...] = (
    owner_method(
        "pair",
        "Pair a client directly; the reply carries its token once.",
        PairParams,
        record(
            {
                "client": text(),
                "token": text(),
                "grants": list_of(text()),
                "former": flag("A client of that name was revoked; this one takes up its space and what it wrote."),
                "new_spaces": list_of(
                    text(), "Spaces that were granted and did not exist; they do now, and nothing lies in them yet."
                ),
                "step": text("The step that can be undone."),
            }
        ),
        pair_client,
        effect="write",
        errors=(Code.PAIRING_REFUSED,),
    ),
    owner_method(
        "grant",
        "Widen or narrow what a paired client may, at once also for its live connections; "
        "one step, which can be undone.",
        GrantParams,
        record(
            {
                "client": text(),
                "grants": list_of(text(), "All it may from now on."),
                "step": text("The undo step; null where nothing changed.", null=True),
                "new_spaces": list_of(
                    text(), "Spaces that were granted and did not exist; they do now, and nothing lies in them yet."
                ),
            }
        ),
        change_grants,
        effect="write",
        errors=(Code.NOT_FOUND,),
    ),
    owner_method(
        "revoke",
        "Revoke a client; its live connections end at once. With `remove` all it wrote is "
        "taken back, also of one that is revoked already.",
        RevokeParams,
        record(
            {
                "client": text(),
                "revoked": constant(value=True),
                "id?": text("Without `remove`: the client's own."),
                "wrote?": record(
                    {
                        "steps": ref("count", "Steps of it that can be taken back."),
                        "memories": ref("count", "Memories they are about."),
                        "too_old": ref("count", "Memories that stay, because the steps that brought them are too old."),
                        "untried": ref(
                            "count", "Older steps that were not tried; where there are any, the counts are the least."
                        ),
                    },
                    "Without `remove`: what it wrote and `remove` would take back.",
                ),
                "removed?": record(
                    {
                        "steps": ref("count", "Steps taken back."),
                        "left": ref("count", "Steps that stay, because what they changed was changed since."),
                        "archived": ref("count", "Memories of it that went to the archive instead."),
                        "left_ids": list_of(text(), "Memories that stay."),
                    },
                    "With `remove`: what was taken back.",
                ),
                "step?": text("With `remove`: what `undo` takes; null where nothing changed.", null=True),
            }
        ),
        revoke_client,
        effect="write",
        errors=(Code.NOT_FOUND,),
    ),
    owner_method(
        "pause",
        "Let a client in no more until it is resumed, or all of them; live connections end at once.",
        PauseParams,
        ref("held"),
        pause_clients,
        effect="write",
        errors=(Code.NOT_FOUND,),
    ),
    owner_method(
        "resume",
        "Let a client in again that is paused or asleep, or all that are paused.",
        PauseParams,
        ref("held"),
        resume_clients,
        effect="write",
        errors=(Code.NOT_FOUND,),
    ),
    owner_method(
        "disclose",
        "Let a client have what is sensitive or confidential too, within its spaces, for some minutes; it ends with "
        "them, with a pause, and when the vault is locked.",
        DiscloseParams,
        record({"client": text(), "seconds": whole_number("That are left.", least=0)}),
        disclose,
        effect="write",
        errors=(Code.NOT_FOUND,),
    ),
    owner_method(
        "clients",
        "All clients, with grants and limits.",
        NoParams,
        record(
            {
                "clients": list_of(any_object()),
                "denied": list_of(record({"name": text(), "denied_at": text()}), "Names the person said no to."),
                "cut?": list_of(text()),
            }
        ),
        list_clients,
    ),
    owner_method(
        "log",
        "What one client did, or all of them, newest first; never what was asked.",
        LogParams,
        record({"lines": list_of(any_object()), "next?": text(), "cut?": list_of(text())}),
        list_activity,
    ),
    owner_method(
        "allow_again",
        "Forget a no: whoever has that name may ask to be paired again.",
        NameParams,
        record({"name": text(), "step": text()}),
        allow_again,
        effect="write",
        errors=(Code.NOT_FOUND,),
    ),
)
