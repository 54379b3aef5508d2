"""Answers what is no message: the SDK drops such a line in silence, and its sender would wait for ever.

Must not do: repeat any of the line, whose error holds it.
"""

from __future__ import annotations

import contextvars
from contextlib import suppress
from types import TracebackType
from typing import Self

import anyio
import mcp_types as types
from mcp.shared._context_streams import ContextReceiveStream, ContextSendStream
from mcp.shared.message import SessionMessage

from app.mcp.words import sentence


class StrictStream:
    """The messages of a stream; for a line that is none, its sender gets a JSON-RPC error."""

    def __init__(
        self,
        inner: ContextReceiveStream[SessionMessage | Exception],
        answers: ContextSendStream[SessionMessage],
    ) -> None:
        """Make it.

        Args:
            inner: what `stdio_server` read.
            answers: where it writes.
        """
        self._inner, self._answers = inner, answers

    @property
    def last_context(self) -> contextvars.Context | None:
        """The context in which the last message was read; the SDK looks for it by this name."""
        return self._inner.last_context

    async def receive(self) -> SessionMessage | Exception:
        """The next message.

        Raises:
            anyio.EndOfStream: input has ended.
        """
        while True:
            item = await self._inner.receive()
            if isinstance(item, SessionMessage):
                return item
            error = types.ErrorData(code=types.PARSE_ERROR, message=sentence("not_json"))
            with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                await self._answers.send(SessionMessage(types.JSONRPCError(jsonrpc="2.0", id=None, error=error)))

    async def aclose(self) -> None:
        """Close the stream."""
        await self._inner.aclose()

    def __aiter__(self) -> Self:
        """The stream itself."""
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        """Use as a context manager."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()
