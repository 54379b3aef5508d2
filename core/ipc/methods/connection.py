"""The methods of a connection itself: handshake, pairing by a code, subscribing, health, and the server's own verbs.

All but `health` are answered where the connection is (`core.ipc.socket.dispatch`); here stands what they take and
answer, and what is told without being asked. Must not do: hold the state of a connection.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Annotated, Any, Literal

from pydantic import Field

from core.engine.facade import Engine
from core.errors import Code
from core.ipc.methods import memory_json
from core.ipc.methods.definition.entry import (
    Base64Text,
    ChannelParams,
    ClientName,
    Entry,
    GrantNames,
    MinuteLimit,
    NoParams,
    Params,
    await_future,
    owner_method,
)
from core.ipc.methods.definition.results import (
    Schema,
    constant,
    flag,
    list_of,
    number,
    one_of,
    record,
    ref,
    text,
    whole_number,
)
from core.ipc.protocol.sessions import Session
from core.types.clients import ClientRecord
from core.types.requests import ListRequest
from core.types.values import GLOBAL_SPACE, Grant


class HelloParams(Params):
    """The parameters of `hello`."""

    protocol: Literal[1]
    client: ClientName
    nonce: Base64Text = Field(description="nc: 32 random bytes.")


class AuthParams(Params):
    """The parameters of `auth`."""

    mac: Base64Text = Field(description='HMAC-SHA256(token, "c" + ns + nc + vault)')


class RedeemParams(Params):
    """The parameters of `pair`."""

    client: ClientName
    code: str = Field(min_length=1, max_length=64)
    grants: GrantNames | None = None


class SubscribeParams(ChannelParams):
    """The parameters of `subscribe`."""

    kinds: tuple[Literal["stored", "changed", "gone"], ...] = Field(("stored", "changed", "gone"), max_length=3)


class PairCodeParams(Params):
    """The parameters of `owner.pair_code`."""

    name: ClientName | None = None
    grants: GrantNames | None = None
    limit: MinuteLimit | None = None


class PairAnswerParams(Params):
    """The parameters of `owner.pair_answer`."""

    request: str = Field(min_length=1, max_length=64)
    allow: bool


class CancelParams(Params):
    """The parameters of `owner.cancel`."""

    call: Annotated[str, Field(max_length=64)] | int


async def health_json(engine: Engine, session: Session, version: str, connections: int) -> dict[str, Any]:
    """Whether the vault is open; to a client also what it may see, to the owner how it is.

    Args:
        version: Loci's version.
        connections: authenticated connections; told to the owner only.

    Returns:
        `{state, version, rows}`; a client's `rows` counts what it can see, so it learns nothing of others. A client
        reads `client`, `grants`, `spaces` and `own_space` beside.
    """
    page = await await_future(engine.memories.list(ListRequest(statuses=None, limit=1), session.actor))
    found: dict[str, Any] = {"state": engine.state, "version": version, "rows": page.total}
    record = session.record
    if not session.actor.is_owner and Grant.ALL_SPACES.value not in record.grants:
        return found | _client_state_json(record, record.spaces)
    values = memory_json.to_json_value((await await_future(engine.vault.read_status())).values)
    if not session.actor.is_owner:
        return found | _client_state_json(record, values.get("spaces", ()))
    found |= {key: values[key] for key in ("seq", "wal_bytes") if key in values}
    found["clients"] = connections
    return found


def _client_state_json(record: ClientRecord, spaces: Iterable[str]) -> dict[str, Any]:
    """What a client is told of itself: who it is, what it may, which of the person's spaces it may name."""
    own = f"client:{record.name}"
    named = [name for name in spaces if name not in (own, GLOBAL_SPACE)]
    return {"client": record.name, "grants": sorted(record.grants), "spaces": named, "own_space": own}


DEFINITIONS: Mapping[str, Schema] = MappingProxyType(
    {
        "limits": record(
            {
                "searches_per_minute": whole_number("Null for no limit.", least=0, null=True),
                "searches_per_session": whole_number("In any 24 hours; null for no limit.", least=0, null=True),
                "writes_per_minute": whole_number("Calls that write; null for no limit.", least=0, null=True),
                "reads_per_minute": whole_number(
                    "Calls that read and are no search; null for no limit.", least=0, null=True
                ),
                "line_bytes": whole_number("Of a message with its line end, both ways.", least=1),
                "text_bytes": whole_number(
                    "UTF-8 of a memory's text; null for no limit of its own.", least=1, null=True
                ),
                "items": whole_number(
                    "The most a list may be asked for; null for no limit of its own.", least=1, null=True
                ),
            },
            "What this client may use up, as it stands now.",
        ),
        "server": record(
            {
                "name": constant(value="loci"),
                "version": text("Of the program."),
                "protocol": whole_number("Of this page.", least=1),
                "methods": list_of(text(), "Those that exist for this kind of caller."),
                "granted": list_of(text(), "Those of them whose grant this client has."),
            },
            "What answers.",
        ),
    }
)
"""What several answers are made of."""

PREAMBLE: Mapping[str, Any] = MappingProxyType(
    {
        "about": (
            "JSON-RPC 2.0 over a local socket, UTF-8, one message a line. Server, client "
            "library and reference are made from this file."
        ),
        "protocol": 1,
        "line_bytes": 262144,
        "text_bytes": 8192,
        "forbidden": (
            "agent_id",
            "butler",
            "client",
            "client_id",
            "confidence",
            "corroboration",
            "created_at",
            "is_user_explicit",
            "lineage",
            "origin",
            "provenance",
            "recorded_at",
            "retired_at",
            "scope_channel",
            "space_id",
            "squad_id",
            "status_reason",
            "tenant_id",
            "token",
            "trust",
            "trust_ceiling",
            "updated_at",
            "user_id",
        ),
        "forbidden_about": (
            "Who asks, how far it is trusted and when it was recorded come from the "
            "connection; a client method that is sent one of these is refused by name."
        ),
        "common_errors": (
            {
                "code": "E1016",
                "of": {
                    "who": "anyone",
                },
            },
            {
                "code": "E1016",
                "of": {
                    "who": "client",
                },
            },
            {
                "code": "E1016",
                "of": {
                    "who": "owner",
                    "effect": "write",
                },
            },
            {
                "code": "E4006",
                "of": {
                    "who": "client",
                },
            },
            {
                "code": "E2003",
                "of": {
                    "who": "client",
                    "effect": "write",
                },
            },
            {
                "code": "E2003",
                "of": {
                    "who": "client",
                    "effect": "read",
                    "granted": True,
                },
            },
        ),
        "notifications": {
            "progress": {
                "about": "A long call moved on.",
                "params": {
                    "id": "the call",
                    "label": "what it does",
                    "done": "units done",
                    "total": "units in all or null",
                },
            },
            "changed": {
                "about": (
                    "Memories this client may see are different; sent after `subscribe`, once a "
                    "change is saved and only for what it did: a wish that waits for the person, a "
                    "text that was known already and a memory that was read are told to nobody. One "
                    "change may be told as several kinds. `stored`: they came, came back (an undo) or "
                    "came into sight, as a proposal does that was accepted. `gone`: they speak no "
                    "more, being forgotten, erased, rejected, archived, replaced by another or out of "
                    "sight. `changed`: anything else that is shown of them, such as what became of a "
                    "proposal to the client that made it, which sees it all the time while it waits."
                ),
                "params": {
                    "seq": "counts the notifications of this subscription, from 1",
                    "kind": "stored, changed or gone",
                    "ids": "the memories",
                },
            },
            "missed": {
                "about": (
                    "Something this client may see is different and was not told, because one change "
                    "was of more than 500 memories or the client read too slowly: ask again. Sent "
                    "after `subscribe`."
                ),
                "params": {
                    "seq": "counts the notifications of this subscription, from 1",
                },
            },
            "pair_code": {
                "about": "The code to show.",
                "params": {
                    "id": "the call",
                    "code": "16 characters",
                    "expires_s": "seconds it lives",
                },
            },
            "pair_request": {
                "about": "A client redeemed the code.",
                "params": {
                    "id": "the call",
                    "request": "to be answered with owner.pair_answer",
                    "client": "what it calls itself, escaped",
                    "name": "what it will be called here",
                    "grants": "what it would get",
                    "asked_by": "process as reported",
                    "code_end": "the last four characters of the code",
                    "former": (
                        "true where a client of that name was revoked, whose space and memories it would take up"
                    ),
                    "withheld": "what it asked for and would not get",
                },
            },
        },
    }
)
"""What the protocol says beside its methods: limits, fields that nobody may send, errors, notifications."""

METHODS: tuple[Entry, ...] = (
    Entry(
        "hello",
        "Open the handshake. The reply proves that the server holds the client's token; "
        "an unknown client gets the same shape.",
        HelloParams,
        record(
            {
                "nonce": text("ns"),
                "vault": text("The 16 raw bytes of the vault id."),
                "proof": text('HMAC-SHA256(token, "s" + nc + ns + vault)'),
            }
        ),
        None,
        who="anyone",
        effect="session",
        errors=(Code.VAULT_LOCKED, Code.INVALID_INPUT, Code.MALFORMED_MESSAGE),
    ),
    Entry(
        "auth",
        "Close the handshake: prove that the client holds the token.",
        AuthParams,
        record(
            {"grants": list_of(text()), "spaces": list_of(text()), "limits": ref("limits"), "server": ref("server")}
        ),
        None,
        who="anyone",
        effect="session",
        errors=(Code.VAULT_LOCKED, Code.UNAUTHENTICATED, Code.MALFORMED_MESSAGE, Code.BUSY),
    ),
    Entry(
        "pair",
        "Redeem the one-time code that the person's window or command line shows. The "
        "person is asked; the reply carries the token once.",
        RedeemParams,
        record({"client": text(), "token": text("32 bytes."), "grants": list_of(text())}),
        None,
        who="anyone",
        effect="session",
        errors=(Code.VAULT_LOCKED, Code.INVALID_INPUT, Code.PAIRING_REFUSED),
    ),
    Entry(
        "subscribe",
        "Be told of changes of memories this client may see, from now on and on this "
        "connection: notifications `changed` with ids, and `missed` where something was "
        "left out. No kinds at all ends it.",
        SubscribeParams,
        record({"kinds": list_of(one_of("stored", "changed", "gone"))}),
        None,
        effect="session",
        grants=("read",),
        errors=(
            Code.VAULT_LOCKED,
            Code.ACCESS_DENIED,
            Code.INVALID_INPUT,
            Code.UNAUTHENTICATED,
            Code.MALFORMED_MESSAGE,
        ),
        aliases={"channel_user_id": "channel_user"},
    ),
    Entry(
        "health",
        "Whether the vault is open, how much of it this client can see, and what it may do in which spaces.",
        NoParams,
        record(
            {
                "state": constant(value="open"),
                "version": text("Of Loci."),
                "rows": ref("count", "Memories the caller can see, in every status."),
                "client?": text("The caller's name. This and the next three are told to clients."),
                "grants?": list_of(text(), "What it may do."),
                "spaces?": list_of(
                    text(),
                    "The person's spaces that it sees and may name, besides GLOBAL and its own; with "
                    "`all_spaces` all there are.",
                ),
                "own_space?": text("Where what it stores goes that names no space."),
                "seq?": ref("count", "Changes so far. This and the next two are told to the owner."),
                "wal_bytes?": ref("count"),
                "clients?": ref("count", "Connections of clients."),
            }
        ),
        None,
        errors=(Code.VAULT_LOCKED, Code.UNAUTHENTICATED, Code.MALFORMED_MESSAGE),
    ),
    owner_method(
        "pair_code",
        "Show a one-time code and wait until a client redeems it. Notifies `pair_code` "
        "with the code, then `pair_request` to be answered with owner.pair_answer.",
        PairCodeParams,
        record({"client": text(), "grants": list_of(text())}),
        None,
        effect="write",
        errors=(Code.PAIRING_REFUSED,),
        long=True,
    ),
    owner_method(
        "pair_answer", "Answer a `pair_request`.", PairAnswerParams, record({"answered": flag()}), None, effect="write"
    ),
    owner_method(
        "handover",
        "Give the vault to another process: take no new call, drain, close within 5 s.",
        NoParams,
        record({"closing": flag(), "within_s": number()}),
        None,
        effect="write",
        errors=(Code.NOT_HERE,),
    ),
    owner_method(
        "cancel",
        "Stop a long call of this connection.",
        CancelParams,
        record({"cancelled": flag()}),
        None,
        effect="write",
    ),
)
