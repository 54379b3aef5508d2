"""The client library: plain sockets, no threads, nothing of the engine; for the command line, `loci mcp` and plugins.

A client first compares the server's vault with the one it means, then checks the server's proof, and only then shows
its own; its token never leaves it. Must not do: import `core.engine`, retry what may have been carried out.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from core.errors import Code, EnvironmentFaultError, LociError, UserError
from core.ipc.greeting import Greeting, not_loci
from core.ipc.messages import LINE_BYTES, encode, error_from, request
from core.ipc.shown import shown
from core.ipc.strictjson import BadMessage, check_text, parse
from core.ipc.transport import Place, connect, peer_of
from core.security.handshake import TOKEN_BYTES, decode_value, encode_value
from core.types.clock import Clock, SystemClock

CONNECT_S = 2.0
CALL_S = 60.0
_CHUNK = 64 * 1024
_BUSY_PAUSE_S = 0.2

Notify = Callable[[str, Mapping[str, Any]], None]
Progress = Callable[[str, int, int | None], None]


@dataclass(frozen=True, slots=True)
class Welcome:
    """What the server says once both sides have shown their proof."""

    grants: tuple[str, ...]
    spaces: tuple[str, ...]
    limits: Mapping[str, Any]
    server: Mapping[str, Any]


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


class Client:
    """One connection to a running engine. Not for several threads at once."""

    def __init__(self, sock: socket.socket, call_s: float = CALL_S) -> None:
        """Use a connected socket; `Client.connect` makes one.

        Args:
            sock: connected, its peer checked.
            call_s: seconds an answer may take where a call names no time of its own.
        """
        self._sock, self._call_s = sock, call_s
        self._clock: Clock = SystemClock()
        self._buffer = bytearray()
        self._last = 0
        self._waiting: dict[int, Mapping[str, Any]] = {}

    @classmethod
    def connect(cls, place: Place, connect_s: float = CONNECT_S, call_s: float = CALL_S) -> Self:
        """Connect to a vault's socket.

        Args:
            place: from `socket_place`.
            connect_s: seconds for connecting.
            call_s: seconds an answer may take.

        Returns:
            A client that has not greeted yet.

        Raises:
            EnvironmentFaultError: NOT_HERE when no engine runs; CONFIG_INVALID for an unfit directory.
            UserError: ACCESS_DENIED when another user answers.
        """
        return cls(connect(place, connect_s), call_s)

    def __enter__(self) -> Self:
        """Use as a context manager."""
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; safe to call twice."""
        self._sock.close()

    # Getting in

    def greet(self, name: str, token: bytes, vault: bytes | None = None) -> Welcome:
        """Prove each to the other.

        Args:
            name: the client's name, or `@owner`.
            token: 32 bytes.
            vault: the vault's id; compared before anything else. None where the client does not know it yet.

        Returns:
            What this client may do.

        Raises:
            UserError: UNAUTHENTICATED when the server or this client is not who it says.
            EnvironmentFaultError: VAULT_BUSY when another vault answers; VAULT_LOCKED.
        """
        greeting = Greeting(name, token, vault)
        found = self.call("auth", greeting.auth(self._hello(greeting.hello())))
        return Welcome(
            tuple(found.get("grants", ())), tuple(found.get("spaces", ())), found.get("limits", {}), found["server"]
        )

    def _hello(self, params: Mapping[str, Any]) -> dict[str, Any]:
        try:
            return self.call("hello", params)
        except LociError as error:
            if error.code is not Code.MALFORMED_MESSAGE:
                raise
            raise not_loci() from None

    def pair(self, name: str, code: str, grants: Sequence[str] | None = None, timeout_s: float = 150.0) -> Pairing:
        """Redeem a code that the person shows.

        Args:
            name: the name this client would like.
            code: as shown.
            grants: what it asks for; None for read and propose.
            timeout_s: seconds the person may take.

        Returns:
            The token, and the name to greet with.

        Raises:
            UserError: PAIRING_REFUSED.
        """
        params: dict[str, Any] = {"client": name, "code": code}
        if grants is not None:
            params["grants"] = list(grants)
        found = self.call("pair", params, timeout_s=timeout_s)
        return Pairing(str(found["client"]), decode_value(str(found["token"]), TOKEN_BYTES), tuple(found["grants"]))

    def unlock(
        self, vault: bytes, root: bytes, owner_pid: int | None = None, timeout_s: float = 120.0
    ) -> dict[str, Any]:
        """Unlock a locked engine. A locked server cannot prove itself, so the caller says whom it expects.

        Args:
            vault: the vault's id.
            root: the root key; sent only to a process of this user.
            owner_pid: the process that holds the vault's lock; the key is sent to no other where the kernel tells.
            timeout_s: seconds opening may take.

        Returns:
            `{state}`.

        Raises:
            UserError: ACCESS_DENIED when another process answers; WRONG_SECRET.
        """
        peer = peer_of(self._sock)
        stranger = owner_pid is not None and peer.pid is not None and peer.pid != owner_pid
        if stranger or peer.uid != os.geteuid():
            raise UserError(Code.ACCESS_DENIED, "Another program stands on the socket; the key was not sent to it.")
        return self.call("owner.unlock", {"vault": encode_value(vault), "key": encode_value(root)}, timeout_s=timeout_s)

    # Calling

    def call(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        progress: Progress | None = None,
        notify: Notify | None = None,
        timeout_s: float | None = None,
    ) -> dict[str, Any]:
        """Call a method and wait for its answer. `notify` may itself call other methods meanwhile.

        Args:
            method: its name.
            params: its parameters.
            progress: told (label, done, total) when a long call reports.
            notify: told every other notification (name, params).
            timeout_s: seconds of silence until giving up; any message of the server starts them anew.

        Returns:
            The result.

        Raises:
            LociError: what the server answered, in its family.
            UserError: INVALID_INPUT for a text that is not valid Unicode, TEXT_TOO_LARGE; nothing was sent.
            EnvironmentFaultError: NOT_HERE when the connection ends; SEARCH_TIMEOUT when nothing comes in time.
        """
        self._last += 1
        ident = self._last
        line = call_line(ident, method, params or {})
        self._send(line)
        return self._await(ident, progress, notify, timeout_s or self._call_s)

    def _await(self, ident: int, progress: Progress | None, notify: Notify | None, timeout_s: float) -> dict[str, Any]:
        while ident not in self._waiting:
            try:
                message = parse(self._line(timeout_s), is_reply=True)
            except KeyboardInterrupt:
                # Trigger: Ctrl+C while the server works. Why: it should stop at its next safe point and say so.
                # Outcome: the call's own answer is awaited once more; a second Ctrl+C ends at once.
                self._cancel(ident)
                message = parse(self._line(timeout_s), is_reply=True)
            self._sort(message, progress, notify)
        answer = self._waiting.pop(ident)
        if "result" in answer and isinstance(answer["result"], dict):
            return answer["result"]
        raise error_from(answer.get("error"))

    def _sort(self, message: Mapping[str, Any], progress: Progress | None, notify: Notify | None) -> None:
        ident, params = message.get("id"), message.get("params")
        if isinstance(ident, int):
            self._waiting[ident] = message
        elif "error" in message:  # an error without an id: the server could not read us, or has no room
            raise error_from(message["error"])
        elif message.get("method") == "progress" and isinstance(params, dict):
            if progress is not None:
                progress(str(params.get("label", "")), int(params.get("done", 0)), params.get("total"))
        elif notify is not None and isinstance(params, dict):
            notify(str(message.get("method", "")), params)

    def _cancel(self, ident: int) -> None:
        self._last += 1
        self._send(encode(request(self._last, "owner.cancel", {"call": ident})))

    def collect(
        self, method: str, params: Mapping[str, Any] | None = None, *, timeout_s: float | None = None
    ) -> dict[str, Any]:
        """Call a method that answers with `items`, and follow `next` until all are there.

        Args:
            method: its name.
            params: its parameters; `limit` bounds all pages together.
            timeout_s: seconds for each page.

        Returns:
            The first answer with the items of all pages and no `next`.

        Raises:
            LociError: as `call`.
        """
        asked = dict(params or {})
        limit = asked.get("limit")
        first = self.call(method, asked, timeout_s=timeout_s)
        items, page = list(first.get("items", ())), first
        while "next" in page and (limit is None or len(items) < limit):
            more = {**asked, "after": page["next"]}
            if limit is not None and not method.endswith(("recall", "search")):
                more["limit"] = limit - len(items)
            page = self.call(method, more, timeout_s=timeout_s)
            items += page.get("items", ())
        return {**{key: value for key, value in first.items() if key != "next"}, "items": items}

    # Lines

    def _send(self, line: bytes) -> None:
        try:
            self._sock.settimeout(self._call_s)
            self._sock.sendall(line)
        except OSError:
            # The server may have said why before it closed: a line that is there already is read first.
            raise self._last_words() from None

    def _last_words(self) -> LociError:
        try:
            return error_from(parse(self._line(0.2), is_reply=True).get("error"))
        except LociError as error:
            return error

    def _line(self, timeout_s: float) -> bytes:
        deadline = self._clock.monotonic() + timeout_s
        while (end := self._buffer.find(b"\n")) < 0:
            if len(self._buffer) > LINE_BYTES:
                raise UserError(Code.MALFORMED_MESSAGE, "The server sent a line that is too long.")
            left = deadline - self._clock.monotonic()
            if left <= 0:
                raise _too_slow()
            self._buffer += self._receive(left)
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        return line

    def _receive(self, seconds: float) -> bytes:
        self._sock.settimeout(seconds)
        try:
            chunk = self._sock.recv(_CHUNK)
        except TimeoutError:
            raise _too_slow() from None
        except OSError:
            chunk = b""
        if not chunk:
            raise EnvironmentFaultError(Code.NOT_HERE, "Loci closed the connection.")
        return chunk


def call_line(ident: int, method: str, params: Mapping[str, Any]) -> bytes:
    """Write a call as one line.

    Args:
        ident: the caller's id of it.
        method: its name.
        params: its parameters.

    Returns:
        UTF-8 with the line end.

    Raises:
        UserError: INVALID_INPUT for a text that is not valid Unicode, TEXT_TOO_LARGE.
    """
    for name, value in params.items():
        try:
            check_text(value)
        except BadMessage as bad:
            # Trigger: half a character, also a file name that is not UTF-8. Why: as `?` it would mean something
            # else. Outcome: named and refused here, in the words the engine uses.
            raise UserError(Code.INVALID_INPUT, f"`{shown(name)}` cannot be sent. {bad.sentence}") from None
    try:
        line = encode(request(ident, method, params), strict=True)
    except (ValueError, TypeError, RecursionError):
        raise UserError(Code.INVALID_INPUT, "The parameters cannot be sent as JSON.") from None
    if len(line) > LINE_BYTES:
        raise UserError(Code.TEXT_TOO_LARGE, f"A message may have at most {LINE_BYTES} bytes.")
    return line


def token_from_text(text: str) -> bytes:
    """Read a token as `loci pair` prints it.

    Args:
        text: its first line counts.

    Returns:
        32 bytes.

    Raises:
        UserError: INVALID_INPUT; the text is not repeated.
    """
    lines = text.split("\n", 1)
    try:
        return decode_value(lines[0].strip(), TOKEN_BYTES)
    except LociError:
        raise UserError(
            Code.INVALID_INPUT, "That is not a token of `loci pair`: 43 letters, digits, - and _."
        ) from None


def token_to_text(token: bytes) -> str:
    """A token as `token_from_text` reads it."""
    return encode_value(token)


def _too_slow() -> EnvironmentFaultError:
    return EnvironmentFaultError(Code.SEARCH_TIMEOUT, "Loci did not answer in time.")


def open_session(
    place: Place, name: str, token: bytes, vault: bytes | None = None, patience_s: float = CONNECT_S
) -> tuple[Client, Welcome]:
    """Connect and greet; a server that is busy with others, or handing over, is asked again for a while.

    Args:
        place: where the socket lies.
        name: the client's name, or `@owner`.
        token: 32 bytes.
        vault: the vault's id, if known.
        patience_s: seconds to go on asking.

    Returns:
        The client and its welcome; the caller closes it.

    Raises:
        LociError: as `Client.connect` and `Client.greet`.
    """
    clock = SystemClock()
    until = clock.monotonic() + patience_s
    while True:
        client = Client.connect(place)
        try:
            return client, client.greet(name, token, vault)
        except LociError as error:
            client.close()
            if error.code not in (Code.BUSY, Code.NOT_HERE) or clock.monotonic() >= until:
                raise
        threading.Event().wait(_BUSY_PAUSE_S)
