"""The client's half of the protocol without any input or output: bytes in, messages out; calls and the handshake out.

Both clients stand on it, the one that waits and the one on a loop, so that lines, ids, answers and notifications are
read in one way. Must not do: any socket work, wait, know any method but the notification `progress`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hmac import compare_digest
from typing import Any, Self

from core.errors import Code, EnvironmentFaultError, LociError, UserError
from core.ipc.protocol.messages import (
    LINE_BYTES,
    PROTOCOL,
    BadMessage,
    check_message_text,
    encode_message,
    error_from_json,
    escape_text,
    make_request,
    parse_message,
)
from core.security.handshake import (
    MAC_BYTES,
    NONCE_BYTES,
    TOKEN_BYTES,
    client_mac,
    decode_value,
    encode_value,
    new_nonce,
    server_proof,
)

VAULT_BYTES = 16

Notify = Callable[[str, Mapping[str, Any]], None]
Progress = Callable[[str, int, int | None], None]

_OWN_LIMIT = ("recall", "search")  # the next page of these is asked for with the same limit


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a call.

    Attributes:
        ident: the call's id.
        result: what came back; None where it was refused.
        error: why it was refused; None where it was not.
    """

    ident: int
    result: dict[str, Any] | None
    error: LociError | None

    def value(self) -> dict[str, Any]:
        """The result; raises what the server answered."""
        if self.result is None:
            raise self.error or connection_lost_error()
        return self.result


@dataclass(frozen=True, slots=True)
class Report:
    """How far a long call is.

    Attributes:
        ident: the call's id; None where the server names none.
        label: what it does.
        done: units done.
        total: units in all, if known.
    """

    ident: int | None
    label: str
    done: int
    total: int | None


@dataclass(frozen=True, slots=True)
class Notice:
    """Any other notification.

    Attributes:
        name: its method.
        params: its content.
    """

    name: str
    params: Mapping[str, Any]


Message = Answer | Report | Notice


class Wire:
    """One connection's bytes and ids."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._searched = 0
        self._last = 0
        self._ready: deque[Message] = deque()
        self._ended: LociError | None = None

    def make_call(self, method: str, params: Mapping[str, Any]) -> tuple[int, bytes]:
        """Make a call.

        Returns:
            Its id, and the line to send.

        Raises:
            UserError: INVALID_INPUT for a text that is not valid Unicode, TEXT_TOO_LARGE; nothing is to be sent.
        """
        self._last += 1
        return self._last, call_line(self._last, method, params)

    def feed_bytes(self, chunk: bytes) -> None:
        """Take in what was read, cut anywhere.

        Args:
            chunk: bytes; none at all for the end of the connection.
        """
        if not chunk:
            self.end_with(connection_lost_error())
        self._buffer += chunk
        try:
            while self._ended is None and (line := self._next_line()) is not None:
                message = _message_from_json(parse_message(line, is_reply=True))
                if message is not None:
                    self._ready.append(message)
        except LociError as error:
            self.end_with(error)

    def _next_line(self) -> bytes | None:
        end = self._buffer.find(b"\n", self._searched)
        if max(end, len(self._buffer) if end < 0 else 0) >= LINE_BYTES:
            raise UserError(Code.MALFORMED_MESSAGE, "The server sent a line that is too long.")
        if end < 0:
            self._searched = len(self._buffer)
            return None
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        self._searched = 0
        return line

    def end_with(self, error: LociError) -> None:
        """Nothing can be read any more; what was whole before can still be taken. The first reason stands."""
        self._ended = self._ended or error
        self._buffer.clear()

    def next_message(self) -> Message | None:
        """Take the oldest message.

        Returns:
            The message; None where none is whole yet.

        Raises:
            LociError: all that could be read was taken: NOT_HERE at the end of the connection, MALFORMED_MESSAGE after
                a line that is no message, or what the server said without an id before it closed.
        """
        if self._ready:
            return self._ready.popleft()
        if self._ended is not None:
            raise self._ended
        return None


def _message_from_json(found: Mapping[str, Any]) -> Message | None:
    ident, params = found.get("id"), found.get("params")
    if isinstance(ident, int) and not isinstance(ident, bool):
        result = found.get("result")
        if isinstance(result, dict):
            return Answer(ident, result, None)
        return Answer(ident, None, error_from_json(found.get("error")))
    if "error" in found:  # an error without an id: the server could not read us, or has no room
        raise error_from_json(found["error"])
    name = found.get("method")
    if not isinstance(name, str) or not isinstance(params, dict):
        return None
    return _report_from_json(params) if name == "progress" else Notice(name, params)


def _report_from_json(params: Mapping[str, Any]) -> Report:
    ident, done, total = params.get("id"), params.get("done"), params.get("total")
    return Report(
        ident if isinstance(ident, int) else None,
        str(params.get("label", "")),
        done if isinstance(done, int) else 0,
        total if isinstance(total, int) else None,
    )


class Pages:
    """Follows `next` until all items are there, or as many as were asked for."""

    def __init__(self, method: str, params: Mapping[str, Any] | None) -> None:
        """Begin.

        Args:
            method: one that answers with `items`.
            params: its parameters; `limit` bounds all pages together.
        """
        self._method, self._asked = method, dict(params or {})
        self._limit = self._asked.get("limit")
        self._first: Mapping[str, Any] | None = None
        self._last: Mapping[str, Any] = {}
        self._items: list[Any] = []
        self.params: Mapping[str, Any] | None = self._asked

    def add(self, page: Mapping[str, Any]) -> None:
        """Take a page; `params` is what the next one is asked with, None where this was the last.

        Args:
            page: the answer to `params`.
        """
        self._first = page if self._first is None else self._first
        self._last = page
        self._items += page.get("items", ())
        self.params = None
        if "next" in page and (self._limit is None or len(self._items) < self._limit):
            more = {**self._asked, "after": page["next"]}
            if self._limit is not None and not self._method.endswith(_OWN_LIMIT):
                more["limit"] = self._limit - len(self._items)
            self.params = more

    def join_pages(self, *, with_next: bool = False) -> dict[str, Any]:
        """The first answer with the items of all pages and no `next`.

        Args:
            with_next: say `next` all the same where `limit` left something behind.
        """
        first = {} if self._first is None else self._first
        more = {"next": self._last["next"]} if with_next and "next" in self._last else {}
        return {**{key: value for key, value in first.items() if key != "next"}, "items": self._items, **more}


def call_line(ident: int, method: str, params: Mapping[str, Any]) -> bytes:
    """Write a call as one line.

    Args:
        ident: the caller's id of it.

    Returns:
        UTF-8 with the line end.

    Raises:
        UserError: INVALID_INPUT for a text that is not valid Unicode, TEXT_TOO_LARGE.
    """
    for name, value in params.items():
        try:
            check_message_text(value)
        except BadMessage as bad:
            # Trigger: half a character, also a file name that is not UTF-8. Why: as `?` it would mean something
            # else. Outcome: named and refused here, in the words the engine uses.
            raise UserError(Code.INVALID_INPUT, f"`{escape_text(name)}` cannot be sent. {bad.sentence}") from None
    try:
        line = encode_message(make_request(ident, method, params), strict=True)
    except (ValueError, TypeError, RecursionError):
        raise UserError(Code.INVALID_INPUT, "The parameters cannot be sent as JSON.") from None
    if len(line) > LINE_BYTES:
        raise UserError(Code.TEXT_TOO_LARGE, f"A message may have at most {LINE_BYTES} bytes.")
    return line


def pair_params(name: str, code: str, grants: Sequence[str] | None) -> dict[str, Any]:
    """What `pair` is called with; None for the usual grants."""
    return {"client": name, "code": code, **({} if grants is None else {"grants": list(grants)})}


def connection_lost_error() -> EnvironmentFaultError:
    """The connection ended."""
    return EnvironmentFaultError(Code.NOT_HERE, "Loci closed the connection.")


def call_timeout_error() -> EnvironmentFaultError:
    """Nothing came in time."""
    return EnvironmentFaultError(Code.SEARCH_TIMEOUT, "Loci did not answer in time.")


@dataclass(frozen=True, slots=True)
class Welcome:
    """What the server says once both sides have shown their proof."""

    grants: tuple[str, ...]
    spaces: tuple[str, ...]
    limits: Mapping[str, Any]
    server: Mapping[str, Any]

    @classmethod
    def from_reply(cls, reply: Mapping[str, Any]) -> Self:
        """Read the answer to `auth`."""
        limits, server = reply.get("limits", {}), reply.get("server", {})
        return cls(tuple(reply.get("grants", ())), tuple(reply.get("spaces", ())), limits, server)


@dataclass(frozen=True, slots=True)
class Pairing:
    """A pairing that the person allowed.

    Attributes:
        client: the name to greet with from now on.
        token: 32 bytes; keep it where only this user can read it.
    """

    client: str
    token: bytes = field(repr=False)
    grants: tuple[str, ...]

    @classmethod
    def from_reply(cls, reply: Mapping[str, Any]) -> Self:
        """Read the answer to `pair`."""
        token = decode_value(str(reply["token"]), TOKEN_BYTES)
        return cls(str(reply["client"]), token, tuple(reply["grants"]))


@dataclass(frozen=True, slots=True)
class Greeting:
    """One handshake of one client.

    Attributes:
        name: the client's name, or `@owner`.
        token: 32 bytes; never sent.
        vault: the vault that is meant, 16 bytes; None where the client does not know it yet.
        nonce: made for this handshake.
    """

    name: str
    token: bytes = field(repr=False)
    vault: bytes | None = None
    nonce: bytes = field(default_factory=new_nonce, repr=False)

    def hello_params(self) -> dict[str, Any]:
        """What `hello` is sent with."""
        return {"protocol": PROTOCOL, "client": self.name, "nonce": encode_value(self.nonce)}

    def auth_params(self, reply: Mapping[str, Any]) -> dict[str, Any]:
        """What `auth` is sent with, once the server has proved itself.

        Args:
            reply: the answer to `hello`.

        Returns:
            The parameters of `auth`.

        Raises:
            EnvironmentFaultError: VAULT_BUSY when another vault answers.
            UserError: UNAUTHENTICATED when the server does not hold the token.
        """
        vault_of_server = decode_value(str(reply.get("vault", "")), VAULT_BYTES)
        if self.vault is not None and not compare_digest(vault_of_server, self.vault):
            raise EnvironmentFaultError(Code.VAULT_BUSY, "Another vault answers on the socket of this one.")
        ns = decode_value(str(reply.get("nonce", "")), NONCE_BYTES)
        proof = decode_value(str(reply.get("proof", "")), MAC_BYTES)
        if not compare_digest(proof, server_proof(self.token, self.nonce, ns, vault_of_server)):
            raise UserError(
                Code.UNAUTHENTICATED, "The server does not know this client, or it is not Loci; nothing was sent to it."
            )
        return {"mac": encode_value(client_mac(self.token, self.nonce, ns, vault_of_server))}


def foreign_server_error() -> UserError:
    """What answers on the socket speaks something else."""
    return UserError(Code.UNAUTHENTICATED, "The program on the socket does not speak Loci's protocol.")


def refused_hello_error(error: LociError) -> LociError:
    """What a refusal of `hello` means: whoever cannot read it is no server of ours."""
    return foreign_server_error() if error.code is Code.MALFORMED_MESSAGE else error
