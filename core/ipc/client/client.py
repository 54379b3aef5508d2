"""The client library: plain sockets, no threads, nothing of the engine; for the command line, `loci mcp` and plugins.

A client first compares the server's vault with the one it means, then checks the server's proof, and only then shows
its own; its token never leaves it. Must not do: import `core.engine`, retry what may have been carried out.
"""

from __future__ import annotations

import os
import socket
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, Self

from core.errors import Code, LociError, UserError
from core.ipc.client.connection import connect_to
from core.ipc.client.wire import (
    Answer,
    Greeting,
    Message,
    Notice,
    Notify,
    Pages,
    Pairing,
    Progress,
    Report,
    Welcome,
    Wire,
    call_timeout_error,
    connection_lost_error,
    pair_params,
    refused_hello_error,
)
from core.ipc.protocol.transport import Place, peer_of
from core.security.handshake import TOKEN_BYTES, decode_value, encode_value
from core.types.clock import Clock, SystemClock
from core.types.values import OWNER_CHANNEL

CONNECT_S = 2.0
CALL_S = 60.0
_CHUNK = 64 * 1024
_BUSY_PAUSE_S = 0.2
_MOST_WAITING = 1024  # notifications that wait for `listen`; the oldest go first, and `seq` shows the gap


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
        self._wire = Wire()
        self._owner = False
        self._waiting: dict[int, Answer | None] = {}
        self._notifications: deque[Notice] | None = None  # None until something was subscribed to

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
        return cls(connect_to(place, connect_s), call_s)

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
        try:
            hello = self.call("hello", greeting.hello_params())
        except LociError as error:
            raise refused_hello_error(error) from None
        welcome = Welcome.from_reply(self.call("auth", greeting.auth_params(hello)))
        self._owner = name == OWNER_CHANNEL
        return welcome

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
        return Pairing.from_reply(self.call("pair", pair_params(name, code, grants), timeout_s=timeout_s))

    def unlock(
        self,
        vault: bytes,
        root: bytes,
        owner_pid: int | None = None,
        timeout_s: float = 120.0,
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
            progress: told (label, done, total) when a long call reports.
            notify: told every other notification (name, params).
            timeout_s: seconds of silence until giving up; any message of the server starts them anew.

        Raises:
            LociError: what the server answered, in its family.
            UserError: INVALID_INPUT for a text that is not valid Unicode, TEXT_TOO_LARGE; nothing was sent.
            EnvironmentFaultError: NOT_HERE when the connection ends; SEARCH_TIMEOUT when nothing comes in time.
        """
        ident, line = self._wire.make_call(method, params or {})
        self._waiting[ident] = None
        try:
            self._send_line(line)
            return self._await_answer(ident, progress, notify, timeout_s or self._call_s)
        finally:
            self._waiting.pop(ident, None)

    def _await_answer(
        self, ident: int, progress: Progress | None, notify: Notify | None, timeout_s: float
    ) -> dict[str, Any]:
        stopped = False
        while (answer := self._waiting[ident]) is None:
            try:
                message = self._next_message(timeout_s)
            except KeyboardInterrupt:
                # Trigger: Ctrl+C while the server works. Why: it should stop at its next safe point and say so.
                # Outcome: the owner's call is awaited once more; a second Ctrl+C, or a client's first, ends at once.
                if stopped or not self._owner:
                    raise
                stopped = True
                self._cancel_call(ident)
                continue
            if message is None:
                raise call_timeout_error()
            self._dispatch_message(message, progress, notify)
        return answer.value()

    def _dispatch_message(self, message: Message, progress: Progress | None, notify: Notify | None) -> None:
        if isinstance(message, Answer):
            if message.ident in self._waiting:
                self._waiting[message.ident] = message
        elif isinstance(message, Report):
            if progress is not None:
                progress(message.label, message.done, message.total)
        elif notify is not None:
            notify(message.name, message.params)
        elif self._notifications is not None:
            self._notifications.append(message)

    def _cancel_call(self, ident: int) -> None:
        _, line = self._wire.make_call("owner.cancel", {"call": ident})
        self._send_line(line)

    # Listening

    def subscribe(self, kinds: Sequence[str] | None = None) -> tuple[str, ...]:
        """Be told of changes of memories this client may see; `listen` hands them out.

        Args:
            kinds: of `stored`, `changed`, `gone`; None for all, empty to end it.

        Returns:
            What is told from now on.

        Raises:
            LociError: as `call`.
        """
        if self._notifications is None:
            self._notifications = deque(maxlen=_MOST_WAITING)
        return tuple(self.call("subscribe", {} if kinds is None else {"kinds": list(kinds)})["kinds"])

    def listen(self, timeout_s: float) -> Notice | None:
        """Wait for a notification; one that came while another call waited, without `notify`, comes first.

        Args:
            timeout_s: seconds at most; 0 for what has come already.

        Returns:
            `changed` or `missed` with its content; None where none came in time.

        Raises:
            EnvironmentFaultError: NOT_HERE when the connection ends.
        """
        notifications = self._notifications = (
            deque(maxlen=_MOST_WAITING) if self._notifications is None else self._notifications
        )
        until = self._clock.monotonic() + timeout_s
        while not notifications:
            message = self._next_message(max(0.001, until - self._clock.monotonic()))
            if message is None:
                return None
            self._dispatch_message(message, None, None)
        return notifications.popleft()

    # Pages

    def collect(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        timeout_s: float | None = None,
        with_next: bool = False,
    ) -> dict[str, Any]:
        """Call a method that answers with `items`, and follow `next` until all are there.

        Args:
            params: its parameters; `limit` bounds all pages together.
            timeout_s: seconds for each page.
            with_next: keep the `next` of the last page, where `limit` left something behind.

        Returns:
            The first answer with the items of all pages and no `next`.

        Raises:
            LociError: as `call`.
        """
        pages = Pages(method, params)
        while pages.params is not None:
            pages.add(self.call(method, pages.params, timeout_s=timeout_s))
        return pages.join_pages(with_next=with_next)

    # Bytes

    def _send_line(self, line: bytes) -> None:
        try:
            self._sock.settimeout(self._call_s)
            self._sock.sendall(line)
        except OSError:
            raise self._error_before_close() from None

    def _error_before_close(self) -> LociError:
        """The server may have said why before it closed: what is there already is read first."""
        try:
            while self._next_message(0.2) is not None:
                pass
        except LociError as error:
            return error
        return connection_lost_error()

    def _next_message(self, timeout_s: float) -> Message | None:
        """The next message; None where none is whole in time."""
        until = self._clock.monotonic() + timeout_s
        while (message := self._wire.next_message()) is None:
            left = until - self._clock.monotonic()
            if left <= 0:
                return None
            self._sock.settimeout(left)
            try:
                self._wire.feed_bytes(self._sock.recv(_CHUNK))
            except TimeoutError:
                return None
            except OSError:
                self._wire.end_with(connection_lost_error())
        return message


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
