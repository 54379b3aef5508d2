"""From a request to the line that answers it: locked? who? which method? allowed? checked? within limits? then run.

Must not do: any socket work; decide what the engine decides.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any, Protocol

from core.engine.facade import Engine
from core.errors import CancelledError, Code, EnvironmentFaultError, IntegrityError, LociError, UserError
from core.ipc.methods.clients import present_grants
from core.ipc.methods.connection import health_json
from core.ipc.methods.definition.entry import TEXT_BYTES, CallProgress, MethodCall, await_future, channel_of
from core.ipc.methods.memory_json import Disclosure, disclosure_of
from core.ipc.methods.table import METHODS
from core.ipc.protocol.contract import Method, Registry
from core.ipc.protocol.messages import LINE_BYTES, PROTOCOL, Request, escape_text
from core.ipc.protocol.sessions import OWNER_SESSION, Handshake, Session, authentication_error
from core.ipc.socket.connection import KINDS, Call, Connection, Subscription
from core.ipc.socket.limits import Caps, SearchLimits
from core.ipc.socket.line_stream import fit_reply
from core.ipc.socket.pairing import CODE_S, PairingDesk, PairRequest, check_name, pairing_refused_error
from core.security.handshake import encode_value
from core.types.clients import Before, ClientRecord
from core.types.values import OWNER_CHANNEL, Actor, limit_of

HANDOVER_S = 5.0
_PAGE = 500  # items of one reply of a list, whoever asks; the rest follows behind `next`
CLIENT_ITEMS = 200

Params = Mapping[str, Any]
Handler = Callable[[Connection, Call, Params], Awaitable[dict[str, Any]]]


class ConnectionHost(Protocol):
    """What the dispatcher needs of the server."""

    @property
    def connected(self) -> int:
        """Authenticated connections."""
        ...

    def admit_session(self, session: Session) -> None:
        """Refuse a session that would pass the caps."""
        ...

    def end_unwelcome(self) -> None:
        """End sessions of clients that are no longer welcome."""
        ...

    async def hand_over(self, call: Call) -> None:
        """Take no new call and drain; the engine closes once the call is answered."""
        ...

    @property
    def handing_over(self) -> bool:
        """Whether no new call is taken."""
        ...


class Dispatcher:
    """Answers calls of all connections."""

    def __init__(self, engine: Engine, registry: Registry, caps: Caps, version: str, house: ConnectionHost) -> None:
        self._engine, self._registry, self._caps = engine, registry, caps
        self._version, self._house = version, house
        self._vault_id = engine.vault_id  # read once: it lies in a file
        self._limits = SearchLimits(engine.clock)
        self._unlocking = asyncio.Lock()  # one attempt at a time
        self.desk = PairingDesk(engine.clock, _StoredDeniedNames(engine))
        self._open: Mapping[str, Handler] = {
            "hello": self._answer_hello,
            "auth": self._answer_auth,
            "pair": self._answer_pair,
        }
        self._own: Mapping[str, Handler] = {
            "subscribe": self._answer_subscribe,
            "owner.pair_code": self._pair_code,
            "owner.pair_answer": self._pair_answer,
            "owner.handover": self._answer_handover,
            "owner.cancel": self._answer_cancel,
        }

    def token_for(self, name: str) -> ClientRecord | None:
        """The client of a name; the owner's channel is one too."""
        return self._engine.authority.token_for(name)

    async def answer_call(self, connection: Connection, call: Call) -> bytes:
        """Carry a call out.

        Returns:
            The line to send.

        Raises:
            LociError: why it was not carried out.
        """
        request = call.request
        if self._engine.state != "open":
            return fit_reply(request.ident, await self._answer_while_locked(connection, call))[0]
        session = self._current_session(connection)
        self._need_newest(connection, request, session)
        method = self._find_method(request.method, session)
        params = self._check_call(method, request.params, session)
        call.effect = method.effect
        result = await self._run_method(connection, call, method, params)
        line, kept = fit_reply(request.ident, result)
        if kept is not None and method.paged == "again":
            # The engine's own cursor behind the last item that fits.
            result = await self._run_method(connection, call, method, {**params, "limit": kept})
            line, kept = fit_reply(request.ident, result)
        if session is not None and not session.actor.is_owner:
            self._expect_next_page(session, method, params, result, kept)
            self._note_disclosure(session, disclosure_of(method.name, params, result, kept))
        return line

    def _expect_next_page(
        self, session: Session, method: Method, params: Params, result: Params, kept: int | None
    ) -> None:
        """The next page of a search that was counted is part of it."""
        if is_search(method, params):
            after = result.get("next") if kept is None else result["items"][kept - 1]["id"]
            if after is not None:
                self._limits.expect_page(session.record.id, _page_digest({**params, "after": after}))

    def _note_disclosure(self, session: Session, handed: Disclosure | None) -> None:
        """The person sees what a client was handed; no answer leaves without it."""
        if handed is not None:
            disclosed = (handed.verb, handed.query, handed.memories, handed.entities, handed.blocked)
            self._engine.history.note_disclosure(session.actor, *disclosed)

    def leave_sessions(self, connection: Connection) -> None:
        """A peer has gone: its sessions are put away, their turns end (E17.5.6)."""
        if connection.sessions:
            self._engine.sessions.end_sessions(connection.sessions)

    async def _answer_while_locked(self, connection: Connection, call: Call) -> dict[str, Any]:
        if call.request.method != "owner.unlock" or self._engine.state != "locked" or self._house.handing_over:
            raise locked_vault_error()
        call.effect = "write"
        params = self._registry.find_method("owner.unlock").check_params(call.request.params)
        call.progress = self._make_progress(connection, call)
        unlock = METHODS["owner.unlock"]
        async with self._unlocking:
            try:
                return await unlock.answer_call(
                    MethodCall(self._engine, OWNER_SESSION, unlock.exact, call.progress), params
                )
            except LociError:
                call.closes = True
                raise

    def _need_newest(self, connection: Connection, request: Request, session: Session | None) -> None:
        """Of an older copy that nobody has accepted only the owner is told anything, and may greet."""
        if self._engine.older is None or (session is not None and session.actor.is_owner):
            return
        greets = request.method == "hello" and request.params.get("client") == OWNER_CHANNEL
        proves = request.method == "auth" and connection.handshake is not None and connection.handshake.is_owner
        if session is not None or not (greets or proves):
            raise older_vault_error()

    def _current_session(self, connection: Connection) -> Session | None:
        session = connection.session
        if session is None:
            return None
        if not session.is_still_valid(self.token_for):
            self._house.end_unwelcome()
            raise authentication_error()
        connection.session = session.refresh_record(self.token_for)
        return connection.session

    def _find_method(self, name: str, session: Session | None) -> Method:
        if self._house.handing_over:
            raise UserError(Code.BUSY, "Loci is handing its vault over; try again in a few seconds.")
        if session is None:
            if name not in self._open:
                raise UserError(Code.UNAUTHENTICATED, "Say hello and auth first.")
            return self._registry.find_method(name)
        method = self._registry.find_method(name)
        if method.who == "anyone":
            raise UserError(Code.INVALID_INPUT, "This connection has a session already.")
        if method.who == "owner" and not session.actor.is_owner:
            raise UserError(Code.ACCESS_DENIED, "Only the person may call that.")
        return method

    def _check_call(self, method: Method, params: Params, session: Session | None) -> dict[str, Any]:
        if session is not None and not session.actor.is_owner:
            self._registry.refuse_forbidden(params)
        checked = method.check_params(params)
        if session is None or session.actor.is_owner:
            return checked
        if method.grants and not session.has_any_grant(*method.grants):
            takes = " or ".join(method.grants)
            raise UserError(Code.ACCESS_DENIED, f"This client has no grant for that; it takes {takes}.")
        record = session.record
        is_next_page = is_search(method, checked) and self._limits.is_next_page(record.id, _page_digest(checked))
        if is_search(method, checked) and not is_next_page:
            self._limits.spend_search(record.id, record.limit_minute, record.limit_session)
        elif method.search:
            pass  # the pages of an answer end with it; those of a list have no end, and count as reads
        elif method.effect == "write":
            self._limits.count_call(record.id, "write", self._engine.options.writes_minute)
        elif method.effect == "read" and method.grants:
            self._limits.count_call(record.id, "read", self._engine.options.reads_minute)
        return checked

    async def _run_method(self, connection: Connection, call: Call, method: Method, params: Params) -> dict[str, Any]:
        name = method.name
        handler = self._open.get(name) or self._own.get(name)
        if handler is not None:
            return await handler(connection, call, params)
        session = connection.session
        if session is None:
            raise authentication_error()
        if method.paged == "again":
            params = {**params, "limit": min(int(params.get("limit", METHODS[name].default_of("limit"))), _PAGE)}
        session, params = _session_with_channel(session, params)
        if name == "health":
            return await health_json(self._engine, session, self._version, self._house.connected)
        if name == "turn_begin":
            who = session.actor.client_id
            name_of_it = who, limit_of(session.actor.channel, params["session"])
            connection.take_up(name_of_it, lambda: self._engine.sessions.list_in_use(who))
        entry = METHODS[name]
        call.progress = self._make_progress(connection, call)
        result = await entry.answer_call(MethodCall(self._engine, session, entry.exact, call.progress), params)
        if method.who == "owner":
            self._house.end_unwelcome()  # a client may have been revoked, by the verb itself or by an undo
        return result

    def _make_progress(self, connection: Connection, call: Call) -> CallProgress:
        ident = call.request.ident
        return CallProgress(lambda label, done, total: connection.report_progress(ident, label, done, total))

    # The handshake

    async def _answer_hello(self, connection: Connection, call: Call, params: Params) -> dict[str, Any]:
        connection.hellos += 1
        if connection.hellos > self._caps.hellos:
            call.closes = True
            raise authentication_error()
        connection.handshake = Handshake(self._vault_id, self.token_for)
        return dict(connection.handshake.answer_hello(params["client"], params["nonce"]))

    async def _answer_auth(self, connection: Connection, call: Call, params: Params) -> dict[str, Any]:
        handshake, connection.handshake = connection.handshake, None
        try:
            if handshake is None:
                raise authentication_error()
            session = handshake.answer_auth(params["mac"])
            self._house.admit_session(session)
        except LociError:
            call.closes = True
            raise
        connection.session, connection.was_known = session, False
        return self._welcome_json(session)

    def _welcome_json(self, session: Session) -> dict[str, Any]:
        record = session.record
        may_call = [
            name
            for name, method in self._registry.methods.items()
            if method.who == "client" or (session.actor.is_owner and method.who == "owner")
        ]
        return {
            "grants": sorted(record.grants),
            "spaces": list(record.spaces),
            "limits": {
                "searches_per_minute": record.limit_minute,
                "searches_per_session": record.limit_session,
                "writes_per_minute": None if session.actor.is_owner else self._engine.options.writes_minute,
                "reads_per_minute": None if session.actor.is_owner else self._engine.options.reads_minute,
                "line_bytes": LINE_BYTES,
                "text_bytes": None if session.actor.is_owner else TEXT_BYTES,
                "items": None if session.actor.is_owner else CLIENT_ITEMS,
            },
            "server": {
                "name": "loci",
                "version": self._version,
                "protocol": PROTOCOL,
                "methods": may_call,
                "granted": [name for name in may_call if self._is_granted(name, session)],
            },
        }

    def _is_granted(self, name: str, session: Session) -> bool:
        grants = self._registry.methods[name].grants
        return not grants or session.has_any_grant(*grants)

    async def _answer_subscribe(self, connection: Connection, _call: Call, params: Params) -> dict[str, Any]:
        """Tell the peer of changes from here on; a later call takes the place of an earlier one."""
        connection.unsubscribe()
        kinds = tuple(kind for kind in KINDS if kind in params.get("kinds", KINDS))
        channel = channel_of(params.get("channel"), params.get("channel_user"))

        def current_actor() -> Actor | None:
            session = connection.session
            if session is None or not session.is_still_valid(self.token_for):
                return None
            return replace(session.refresh_record(self.token_for).actor, channel=channel)

        if kinds:
            connection.subscription = Subscription(self._engine, connection, current_actor, frozenset(kinds))
        return {"kinds": list(kinds)}

    # Pairing

    async def _answer_pair(self, connection: Connection, call: Call, params: Params) -> dict[str, Any]:
        asked_by = f"{connection.peer.program} {connection.peer.pid or ''}".strip()
        granted = await self.desk.redeem_code(params["client"], params["code"], params.get("grants"), asked_by)
        call.effect = "write"  # somebody said yes: from here on it is finished, also when the client goes
        try:
            made = await await_future(
                self._engine.clients.pair(granted.name, granted.grants, granted.limit, asked_by=escape_text(asked_by))
            )
        except LociError:
            granted.invitation.fail_with()
            raise
        grants = present_grants(self._engine, made.name)
        granted.invitation.complete_with(made.name, tuple(grants))
        return {"client": made.name, "token": encode_value(made.token), "grants": grants}

    async def _pair_code(self, connection: Connection, call: Call, params: Params) -> dict[str, Any]:
        if "name" in params:
            check_name(params["name"])
        ident = call.request.ident

        async def ask_approval(question: PairRequest) -> bool:
            ticket = secrets.token_hex(8)
            connection.answers[ticket] = asyncio.get_running_loop().create_future()
            try:
                notice = {
                    "id": ident,
                    "request": ticket,
                    "client": question.client,
                    "name": question.name,
                    "grants": list(question.grants),
                    "asked_by": question.asked_by,
                    "code_end": question.code_end,
                    "former": question.former,
                    "withheld": list(question.withheld),
                }
                await connection.send_notification("pair_request", notice)
                return await connection.answers[ticket]
            finally:
                del connection.answers[ticket]

        invitation = self.desk.open(ask_approval, params.get("name"), params.get("grants"), params.get("limit"))
        try:
            await connection.send_notification("pair_code", {"id": ident, "code": invitation.code, "expires_s": CODE_S})
            name, grants = await invitation.outcome
        finally:
            self.desk.close(invitation)
        return {"client": name, "grants": list(grants)}

    async def _pair_answer(self, connection: Connection, _call: Call, params: Params) -> dict[str, Any]:
        waiting = connection.answers.get(params["request"])
        if waiting is None or waiting.done():
            raise pairing_refused_error()
        waiting.set_result(params["allow"])
        return {"answered": True}

    # The server's own verbs

    async def _answer_handover(self, _connection: Connection, call: Call, _params: Params) -> dict[str, Any]:
        await self._house.hand_over(call)
        return {"closing": True, "within_s": HANDOVER_S}

    async def _answer_cancel(self, connection: Connection, call: Call, params: Params) -> dict[str, Any]:
        other = connection.calls.get(params["call"])
        if other is None or other is call:
            return {"cancelled": False}
        if other.progress is not None:
            other.progress.cancel()
        if other.effect != "write":
            other.stop(CancelledError())
        return {"cancelled": True}


class _StoredDeniedNames:
    """Remembered nos, kept in the vault."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def look_up(self, name: str) -> Before:
        return await await_future(self._engine.clients.describe_unpaired(name))

    async def add(self, name: str) -> None:
        await await_future(self._engine.clients.deny(name))


def _session_with_channel(session: Session, params: Params) -> tuple[Session, Params]:
    """The session with the channel that a call names, and the call without it: a channel is part of who asks."""
    if "channel" not in params and "channel_user" not in params:
        return session, params
    channel = channel_of(params.get("channel"), params.get("channel_user"))
    rest = {name: value for name, value in params.items() if name not in ("channel", "channel_user")}
    return replace(session, actor=replace(session.actor, channel=channel)), rest


def is_search(method: Method, params: Params) -> bool:
    """Whether a call counts against the search limits: a list of what holds a text is a search too."""
    return method.search or (method.paged is not None and "text" in params)


def _page_digest(params: Params) -> int:
    """What tells one page of one search from all others; a number, so that no query is kept."""
    return hash(json.dumps(params, sort_keys=True))


def older_vault_error() -> LociError:
    """The one answer to clients of a vault that is an older copy, until its owner accepts it."""
    return IntegrityError(
        Code.OLDER_VAULT,
        "This vault is older than the one last seen here, or it cannot be told whether it is; nobody is let in until "
        "its owner accepts it with `loci verify --accept-older` or in the window.",
    )


def locked_vault_error() -> LociError:
    """The one answer of a locked vault."""
    return EnvironmentFaultError(Code.VAULT_LOCKED, "The vault is locked; `loci unlock` or the window opens it.")
