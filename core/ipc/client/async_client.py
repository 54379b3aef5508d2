"""The client library on an asyncio loop: many calls at once over one connection; for `loci mcp` and plugins.

Speaks as `core.ipc.client.client` does. Must not do: import `core.engine`, repeat what may have been carried out,
start threads.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Self

from core.errors import BugError, Code, LociError
from core.ipc.client.client import CALL_S, CONNECT_S
from core.ipc.client.connection import connect_to
from core.ipc.client.wire import (
    Answer,
    Greeting,
    Message,
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
from core.ipc.protocol.messages import parse_message
from core.ipc.protocol.transport import Place
from core.types.values import OWNER_CHANNEL

__all__ = ["AsyncClient", "Notify", "Progress", "open_session"]

_CONNECT_S = 0.5  # a local socket answers at once, or its queue is full
_CHUNK = 64 * 1024
_BUSY_PAUSE_S = 0.2


@dataclass(frozen=True, slots=True)
class _Call:
    """A call that is waited for."""

    answer: asyncio.Future[dict[str, Any]]
    progress: Progress | None
    patience: asyncio.Timeout
    timeout_s: float

    def restart_timeout(self) -> None:
        """It goes on: its time starts anew, unless that is over."""
        if not self.patience.expired():
            self.patience.reschedule(asyncio.get_running_loop().time() + self.timeout_s)


class AsyncClient:
    """One connection to a running engine; its calls may overlap."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, notify: Notify | None, call_s: float
    ) -> None:
        """Use open streams; `AsyncClient.connect` makes one.

        Args:
            reader: of the connection.
            writer: of the same connection.
            notify: told every notification (name, params) on the loop; must not block. What it raises goes to the
                loop's exception handler, and the connection goes on.
            call_s: seconds an answer may take.
        """
        self._reader, self._writer, self._notify, self._call_s = reader, writer, notify, call_s
        self._wire = Wire()
        self._owner = False
        self._waiting: dict[int, _Call] = {}
        self._ended: LociError | None = None
        self._listening = asyncio.create_task(self._read_messages())

    @classmethod
    async def connect(cls, place: Place, notify: Notify | None = None, call_s: float = CALL_S) -> Self:
        """Connect to a vault's socket.

        Args:
            place: where it lies.
            notify: told every notification.
            call_s: seconds an answer may take.

        Returns:
            A client that has not greeted yet; the caller closes it.

        Raises:
            EnvironmentFaultError: NOT_HERE when no engine runs; CONFIG_INVALID for an unfit directory.
            UserError: ACCESS_DENIED when another user answers.
        """
        reader, writer = await asyncio.open_unix_connection(sock=connect_to(place, _CONNECT_S))
        return cls(reader, writer, notify, call_s)

    async def __aenter__(self) -> Self:
        """Use as a context manager."""
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def is_open(self) -> bool:
        """Whether calls can be made: the connection stands, and somebody reads it."""
        return self._ended is None and not self._listening.done()

    async def close(self) -> None:
        """End the connection; calls under way end with NOT_HERE. Safe to call twice."""
        self._fail_waiting(connection_lost_error())
        self._listening.cancel()
        await asyncio.gather(self._listening, return_exceptions=True)
        self._writer.close()
        with suppress(OSError):
            await self._writer.wait_closed()

    # Getting in

    async def greet(self, name: str, token: bytes, vault: bytes | None = None) -> Welcome:
        """Prove each to the other; see `Client.greet`."""
        greeting = Greeting(name, token, vault)
        try:
            hello = await self.call("hello", greeting.hello_params())
        except LociError as error:
            raise refused_hello_error(error) from None
        welcome = Welcome.from_reply(await self.call("auth", greeting.auth_params(hello)))
        self._owner = name == OWNER_CHANNEL
        return welcome

    async def pair(
        self, name: str, code: str, grants: Sequence[str] | None = None, timeout_s: float = 150.0
    ) -> Pairing:
        """Redeem a code that the person shows; see `Client.pair`."""
        return Pairing.from_reply(await self.call("pair", pair_params(name, code, grants), timeout_s))

    # Calling

    async def call(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        timeout_s: float | None = None,
        *,
        progress: Progress | None = None,
    ) -> dict[str, Any]:
        """Call a method and wait for its answer. A task that is cancelled meanwhile lets the answer go.

        A call of the owner is stopped at its next safe point then; one of a client that reads ends with the connection.

        Args:
            timeout_s: seconds until giving up; a report of progress starts them anew.
            progress: told (label, done, total) when this call reports, as `notify` is.

        Raises:
            LociError: what the server answered, in its family.
            UserError: INVALID_INPUT for a text that is not valid Unicode, TEXT_TOO_LARGE; nothing was sent.
            EnvironmentFaultError: NOT_HERE when the connection ends; SEARCH_TIMEOUT when nothing comes in time.
        """
        ident, line = self._wire.make_call(method, params or {})
        parse_message(line[:-1])  # what the server would end the connection for is refused here: other calls share it
        if self._ended is not None:
            raise self._ended
        patience_s = timeout_s or self._call_s
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(patience_s) as patience:
                self._waiting[ident] = _Call(answer, progress, patience, patience_s)
                self._writer.write(line)
                await self._drain_writer()
                return await answer
        except TimeoutError:
            raise call_timeout_error() from None
        except asyncio.CancelledError:
            self._cancel_call(ident)
            raise
        finally:
            self._waiting.pop(ident, None)

    async def collect(
        self, method: str, params: Mapping[str, Any] | None = None, timeout_s: float | None = None
    ) -> dict[str, Any]:
        """Call a method that answers with `items`, and follow `next` until all are there; see `Client.collect`."""
        pages = Pages(method, params)
        while pages.params is not None:
            pages.add(await self.call(method, pages.params, timeout_s))
        return pages.join_pages()

    async def subscribe(self, kinds: Sequence[str] | None = None) -> tuple[str, ...]:
        """Have `notify` told of changes of memories this client may see; see `Client.subscribe`."""
        return tuple((await self.call("subscribe", {} if kinds is None else {"kinds": list(kinds)}))["kinds"])

    def _cancel_call(self, ident: int) -> None:
        if self._owner and self.is_open:
            _, line = self._wire.make_call("owner.cancel", {"call": ident})
            self._writer.write(line)  # nobody waits for its answer

    async def _drain_writer(self) -> None:
        # What the server said before it closed is told by the listening task: it fails the answer that is awaited next.
        with suppress(OSError):
            await self._writer.drain()

    # Reading

    async def _read_messages(self) -> None:
        """Sort what comes until the connection ends; the only reader. However it ends, no call waits any longer."""
        try:
            while True:
                while (message := self._wire.next_message()) is not None:
                    self._dispatch_message(message)
                self._wire.feed_bytes(await self._read_chunk())
        except LociError as error:
            self._fail_waiting(error)
        except asyncio.CancelledError:
            self._fail_waiting(connection_lost_error())
            raise
        finally:
            self._fail_waiting(BugError("the reader of a connection"))

    async def _read_chunk(self) -> bytes:
        try:
            return await self._reader.read(_CHUNK)
        except OSError:
            return b""

    def _dispatch_message(self, message: Message) -> None:
        if isinstance(message, Answer):
            self._settle_call(message)
        elif isinstance(message, Report):
            call = None if message.ident is None else self._waiting.get(message.ident)
            if call is not None:
                call.restart_timeout()
                if call.progress is not None:
                    self._run_callback(call.progress, message.label, message.done, message.total)
        elif self._notify is not None:
            self._run_callback(self._notify, message.name, message.params)

    @staticmethod
    def _run_callback(callback: Callable[..., None], *arguments: object) -> None:
        """Call what the program gave; a fault in it is its own and ends no other call."""
        try:
            callback(*arguments)
        except Exception as error:  # noqa: BLE001 - handed on to who keeps the loop's faults
            asyncio.get_running_loop().call_exception_handler(
                {"message": "A callback of a Loci client failed.", "exception": error}
            )

    def _settle_call(self, message: Answer) -> None:
        call = self._waiting.pop(message.ident, None)
        if call is None or call.answer.done():
            return  # nobody waits for it any more
        if message.result is None:
            call.answer.set_exception(message.error or connection_lost_error())
        else:
            call.answer.set_result(message.result)

    def _fail_waiting(self, error: LociError) -> None:
        self._ended = self._ended or error
        for call in self._waiting.values():
            if not call.answer.done():
                call.answer.set_exception(self._ended)
        self._waiting.clear()


async def open_session(
    place: Place,
    name: str,
    token: bytes,
    vault: bytes | None = None,
    patience_s: float = CONNECT_S,
    notify: Notify | None = None,
) -> tuple[AsyncClient, Welcome]:
    """Connect and greet; a server that is busy with others, or handing over, is asked again for a while.

    Args:
        place: where the socket lies.
        name: the client's name, or `@owner`.
        token: 32 bytes.
        vault: the vault's id, if known.
        patience_s: seconds to go on asking.
        notify: told every notification.

    Returns:
        The client and its welcome; the caller closes it.

    Raises:
        LociError: as `AsyncClient.connect` and `AsyncClient.greet`.
    """
    loop = asyncio.get_running_loop()
    until = loop.time() + patience_s
    while True:
        client = await AsyncClient.connect(place, notify)
        try:
            return client, await client.greet(name, token, vault)
        except BaseException as error:
            await client.close()
            busy = isinstance(error, LociError) and error.code in (Code.BUSY, Code.NOT_HERE)
            if not busy or loop.time() >= until:
                raise
        await asyncio.sleep(_BUSY_PAUSE_S)
