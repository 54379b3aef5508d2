"""Lines in and lines out: the size cap before anything is parsed, time-outs, and back-pressure.

Must not do: look into a message, keep more of a stranger's bytes than one line and one read.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from core.errors import Code, LociError, UserError
from core.ipc.protocol.messages import LINE_BYTES, Ident, encode, reply

_CHUNK = 64 * 1024
_POST_ROOM = 64 * 1024  # a progress report is dropped rather than queued behind this many bytes
_CUT_ROOM = 1024  # for `next` and the names of what was cut
_LISTS = ("items", "conflicts", "versions")  # an answer has one of these, whose items go on behind `next`
_KEPT = frozenset({"id", "cut"})  # members of a memory that are never shortened
_SMALL = 64  # bytes; an object whose longest member is no longer than this is left out whole
_STEPS = 64  # halvings of one memory; whatever is still too long then is left out whole


class StreamEndedError(Exception):
    """The peer has gone, or was too slow; nothing more can be read or written."""


class LineTooLongError(Exception):
    """A line passed the cap; what was sent of it has been thrown away."""


class LineReader:
    """Takes lines out of a stream.

    Attributes:
        cap: bytes a line may have, its end not counted.
    """

    def __init__(
        self, stream: asyncio.StreamReader, *, line_s: float, cap: int = LINE_BYTES, discard: int = 16 << 20
    ) -> None:
        """Read from a stream.

        Args:
            stream: the connection.
            line_s: seconds from the first byte of a line to its end; a slower peer is cut off.
            cap: bytes a line may have.
            discard: bytes of an over-long line that are thrown away before the peer is cut off.
        """
        self._stream, self._line_s, self.cap, self._discard = stream, line_s, cap, discard
        self._buffer = bytearray()
        self._searched = 0

    async def next(self, idle_s: float | None) -> bytes:
        """Wait for the next line.

        Args:
            idle_s: seconds until its first byte at most; None to wait without end.

        Returns:
            The line without its end.

        Raises:
            StreamEndedError: end of stream, or a time-out.
            LineTooLongError: the line passed the cap.
        """
        if not self._buffer:
            await self._fill(idle_s)
        line = self._take()
        if line is not None:
            return line
        try:
            async with asyncio.timeout(self._line_s):
                while line is None:
                    await self._fill(None)
                    line = self._take()
        except TimeoutError:
            raise StreamEndedError from None
        return line

    def _take(self) -> bytes | None:
        end = self._buffer.find(b"\n", self._searched)
        if end < 0 and len(self._buffer) <= self.cap:
            self._searched = len(self._buffer)
            return None
        self._searched = 0
        if end < 0 or end > self.cap:
            raise LineTooLongError
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        return line

    async def _fill(self, within_s: float | None) -> None:
        try:
            async with asyncio.timeout(within_s):
                chunk = await self._stream.read(_CHUNK)
        except (TimeoutError, ConnectionError):
            raise StreamEndedError from None
        if not chunk:
            raise StreamEndedError
        self._buffer += chunk

    async def throw_away(self) -> None:
        """Swallow the rest of an over-long line, so that the peer can finish writing and read the refusal.

        Returns quietly when the line ends, the peer goes, `discard` bytes have passed or the line's time is up.
        """
        seen = len(self._buffer)
        ended = b"\n" in self._buffer
        self._buffer.clear()
        try:
            async with asyncio.timeout(self._line_s):
                while not ended and seen < self._discard:
                    chunk = await self._stream.read(_CHUNK)
                    seen, ended = seen + len(chunk), not chunk or b"\n" in chunk
        except (TimeoutError, ConnectionError):
            return


class LineWriter:
    """Puts lines into a stream, one at a time, and cuts off a peer that does not read."""

    def __init__(self, stream: asyncio.StreamWriter, *, drain_s: float) -> None:
        """Write to a stream.

        Args:
            stream: the connection.
            drain_s: seconds a peer may take to read what is waiting for it.
        """
        self._stream, self._drain_s = stream, drain_s
        self._lock = asyncio.Lock()  # one line at a time waits for the peer
        stream.transport.set_write_buffer_limits(high=LINE_BYTES)

    async def send(self, line: bytes) -> None:
        """Write a line and wait until the peer has made room.

        Args:
            line: with its end.

        Raises:
            StreamEndedError: the peer has gone or does not read; the connection is aborted.
        """
        try:
            async with asyncio.timeout(self._drain_s), self._lock:
                if self._stream.is_closing():
                    raise StreamEndedError
                self._stream.write(line)
                await self._stream.drain()
        except (TimeoutError, ConnectionError):
            self._stream.transport.abort()
            raise StreamEndedError from None

    @property
    def has_room(self) -> bool:
        """Whether the peer has read nearly all it was sent."""
        return self._stream.transport.get_write_buffer_size() < _POST_ROOM

    def post(self, message: Mapping[str, Any]) -> None:
        """Write a notification if there is room now; otherwise forget it. Only on the loop."""
        if not self._stream.is_closing() and self.has_room:
            self._stream.write(encode(message))


def fit(ident: Ident, result: Mapping[str, Any], cap: int = LINE_BYTES) -> tuple[bytes, int | None]:
    """Write an answer so that it keeps the line cap, cutting at whole items.

    Args:
        ident: the call's id.
        result: what to answer; `items`, `conflicts` or `versions`, where there, is a list of objects with an `id`.
        cap: bytes a line may have, with its end.

    Returns:
        The line, and how many items it carries if some were left out (the last one's id is its `next`); None if all.

    Raises:
        UserError: TEXT_TOO_LARGE when even the smallest cut does not fit.
    """
    line = encode(reply(ident, result))
    if len(line) <= cap:
        return line, None
    for name in _LISTS:
        if result.get(name):
            return _fit_items(ident, result, name, cap)
    return _fit_lists(ident, result, cap), None


def _fit_items(ident: Ident, result: Mapping[str, Any], name: str, cap: int) -> tuple[bytes, int | None]:
    items: Sequence[Mapping[str, Any]] = result[name]
    rest = {key: value for key, value in result.items() if key != name}
    if len(encode(reply(ident, rest))) > cap // 2:  # long near misses must not starve the items
        rest = _cut_lists(rest, lambda smaller: len(encode(smaller)) <= cap // 2)
    room = cap - len(encode(reply(ident, {**rest, name: []}))) - _CUT_ROOM
    kept: list[Mapping[str, Any]] = []
    for item in items:
        room -= len(encode(item))  # its comma stands for the line end that encode adds
        if room < 0:
            break
        kept.append(item)
    if not kept:
        kept = [_shorten(items[0], cap - len(encode(reply(ident, {**rest, name: []}))) - _CUT_ROOM)]
    cut = {**rest, name: kept}
    if len(kept) < len(items):
        cut["next"] = kept[-1]["id"]
        return encode(reply(ident, cut)), len(kept)
    return encode(reply(ident, cut)), None


def _shorten(item: Mapping[str, Any], room: int) -> Mapping[str, Any]:
    """Make one memory fit: `extra` goes first where it is long, then the longest members shrink; `cut` names them.

    A text that was shortened is marked with `text_cut` too.
    """
    shorter = dict(item)
    steps = 0
    while len(encode(shorter)) > room:
        sizes = {key: _size(value) for key, value in shorter.items() if key not in _KEPT and _shrinks(value)}
        if not sizes:
            raise _too_large()
        name = "extra" if sizes.get("extra", 0) > _CUT_ROOM else max(sizes, key=lambda key: sizes[key])
        steps += 1
        shorter[name] = type(item[name])() if name == "extra" or steps > _STEPS else _less(shorter[name])
        shorter["cut"] = sorted({*shorter.get("cut", ()), name})
        if name == "text":
            shorter["text_cut"] = True
    return shorter


def _less(value: Any) -> Any:
    """A text, list or object that is shorter than it was; `value` is not empty."""
    if not isinstance(value, dict):
        return value[: len(value) // 2]
    longest = max(value, key=lambda key: _size(value[key]))
    if _size(value[longest]) <= _SMALL or not _shrinks(value[longest]):
        return {}
    return {**value, longest: _less(value[longest])}


def _size(value: object) -> int:
    return len(encode({"": value}))


def _shrinks(value: object) -> bool:
    return isinstance(value, str | list | dict) and bool(value)


def _fit_lists(ident: Ident, result: Mapping[str, Any], cap: int) -> bytes:
    if "id" in result and "text" in result:  # one memory
        return encode(reply(ident, _shorten(result, cap - _CUT_ROOM)))
    return encode(reply(ident, _cut_lists(result, lambda smaller: len(encode(reply(ident, smaller))) <= cap)))


def _cut_lists(result: Mapping[str, Any], fits: Callable[[Mapping[str, Any]], bool]) -> dict[str, Any]:
    shorter = dict(result)
    while not fits(shorter):
        lists = {
            key: _size(value) for key, value in shorter.items() if key != "cut" and isinstance(value, list) and value
        }
        if not lists:
            raise _too_large()
        longest = max(lists, key=lambda key: lists[key])
        shorter[longest] = shorter[longest][: len(shorter[longest]) // 2]
        shorter["cut"] = sorted({*shorter.get("cut", ()), longest})
    return shorter


def _too_large() -> LociError:
    return UserError(Code.TEXT_TOO_LARGE, "The answer does not fit into one message.")
