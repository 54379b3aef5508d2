"""The client library on an asyncio loop: many calls at once over one connection; for `loci mcp` and plugins.

Speaks as `core.ipc.client` does. Must not do: import `core.engine`, repeat what may have been carried out,
start threads.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Self

from core.errors import Code, EnvironmentFaultError, LociError
from core.ipc.client import CALL_S, Welcome, call_line
from core.ipc.greeting import Greeting, not_loci
from core.ipc.messages import LINE_BYTES, error_from
from core.ipc.strictjson import parse
from core.ipc.transport import Place, connect

_CONNECT_S = 0.5  # a local socket answers at once, or its queue is full

Notify = Callable[[str, Mapping[str, Any]], None]


class AsyncClient:
    """One connection to a running engine; its calls may overlap."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, notify: Notify | None, call_s: float
    ) -> None:
        """Use open streams; `AsyncClient.connect` makes one.

        Args:
            reader: takes lines of `LINE_BYTES`.
            writer: of the same connection.
            notify: told every notification (name, params) on the loop; must not block.
            call_s: seconds an answer may take.
        """
        self._reader, self._writer, self._notify, self._call_s = reader, writer, notify, call_s
        self._last = 0
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._ended: LociError | None = None
        self._listening = asyncio.create_task(self._listen())

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
        reader, writer = await asyncio.open_unix_connection(sock=connect(place, _CONNECT_S), limit=LINE_BYTES + 1)
        return cls(reader, writer, notify, call_s)

    @property
    def is_open(self) -> bool:
        """Whether calls can be made."""
        return self._ended is None

    async def close(self) -> None:
        """End the connection; calls under way end with NOT_HERE. Safe to call twice."""
        self._listening.cancel()
        with suppress(asyncio.CancelledError):
            await self._listening
        self._end(_gone())
        self._writer.close()
        with suppress(OSError):
            await self._writer.wait_closed()

    async def greet(self, name: str, token: bytes, vault: bytes | None = None) -> Welcome:
        """Prove each to the other; see `Client.greet`."""
        greeting = Greeting(name, token, vault)
        try:
            hello = await self.call("hello", greeting.hello())
        except LociError as error:
            if error.code is Code.MALFORMED_MESSAGE:
                raise not_loci() from None
            raise
        found = await self.call("auth", greeting.auth(hello))
        return Welcome(
            tuple(found.get("grants", ())), tuple(found.get("spaces", ())), found.get("limits", {}), found["server"]
        )

    async def call(
        self, method: str, params: Mapping[str, Any] | None = None, timeout_s: float | None = None
    ) -> dict[str, Any]:
        """Call a method and wait for its answer. A task that is cancelled meanwhile lets the answer go.

        Args:
            method: its name.
            params: its parameters.
            timeout_s: seconds until giving up.

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
        parse(line[:-1])  # what the server would end the connection for is refused here: other calls share it
        if self._ended is not None:
            raise self._ended
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._waiting[ident] = answer
        try:
            async with asyncio.timeout(timeout_s or self._call_s):
                self._writer.write(line)
                await self._drained()
                return await answer
        except TimeoutError:
            raise EnvironmentFaultError(Code.SEARCH_TIMEOUT, "Loci did not answer in time.") from None
        finally:
            self._waiting.pop(ident, None)

    async def _drained(self) -> None:
        # What the server said before it closed is told by the listening task: it fails the answer that is awaited next.
        with suppress(OSError):
            await self._writer.drain()

    async def _listen(self) -> None:
        """Sort what comes until the connection ends; the only reader."""
        try:
            while line := await self._reader.readline():
                self._sort(parse(line.rstrip(b"\n"), is_reply=True))
            self._end(_gone())
        except LociError as error:
            self._end(error)
        except (OSError, ValueError):  # ValueError: a line beyond the limit
            self._end(_gone())

    def _sort(self, message: Mapping[str, Any]) -> None:
        ident, params = message.get("id"), message.get("params")
        if isinstance(ident, int):
            self._answer(ident, message)
        elif "error" in message:  # an error without an id: the server could not read us, or has no room
            raise error_from(message["error"])
        elif self._notify is not None and isinstance(params, dict):
            self._notify(str(message.get("method", "")), params)

    def _answer(self, ident: int, message: Mapping[str, Any]) -> None:
        waiting = self._waiting.pop(ident, None)
        if waiting is None or waiting.done():
            return  # nobody waits for it any more
        result = message.get("result")
        if isinstance(result, dict):
            waiting.set_result(result)
        else:
            waiting.set_exception(error_from(message.get("error")))

    def _end(self, error: LociError) -> None:
        self._ended = self._ended or error
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(self._ended)
        self._waiting.clear()


def _gone() -> EnvironmentFaultError:
    return EnvironmentFaultError(Code.NOT_HERE, "Loci closed the connection.")
