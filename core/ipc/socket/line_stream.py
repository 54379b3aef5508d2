"""Lines in and lines out: the size cap before anything is parsed, time-outs, and back-pressure.

Must not do: look into a message, keep more of a stranger's bytes than one line and one read.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from core.errors import Code, LociError, UserError
from core.ipc.protocol.messages import LINE_BYTES, Ident, encode_message, make_reply

_CHUNK = 64 * 1024
_POST_ROOM = 64 * 1024  # a progress report is dropped rather than queued behind this many bytes
_CUT_ROOM = 1024  # for `next` and the names of what was cut
_LISTS = ("items", "conflicts", "versions")  # an answer has one of these, whose items go on behind `next`
_KEPT = frozenset({"id", "cut"})  # members of a memory that are never shortened
_SMALL = 58  # bytes; an object whose longest member is no longer than this is left out whole
_EXTRA = 1018  # bytes; metadata longer than this goes before anything else is shortened
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
            line_s: seconds from the first byte of a line to its end; a slower peer is cut off.
            cap: bytes a line may have.
            discard: bytes of an over-long line that are thrown away before the peer is cut off.
        """
        self._stream, self._line_s, self.cap, self._discard = stream, line_s, cap, discard
        self._buffer = bytearray()
        self._searched = 0

    async def next_line(self, idle_s: float | None) -> bytes:
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
            await self._fill_buffer(idle_s)
        line = self._take_line()
        if line is not None:
            return line
        try:
            async with asyncio.timeout(self._line_s):
                while line is None:
                    await self._fill_buffer(None)
                    line = self._take_line()
        except TimeoutError:
            raise StreamEndedError from None
        return line

    def _take_line(self) -> bytes | None:
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

    async def _fill_buffer(self, within_s: float | None) -> None:
        try:
            async with asyncio.timeout(within_s):
                chunk = await self._stream.read(_CHUNK)
        except (TimeoutError, ConnectionError):
            raise StreamEndedError from None
        if not chunk:
            raise StreamEndedError
        self._buffer += chunk

    async def discard_line(self) -> None:
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
            drain_s: seconds a peer may take to read what is waiting for it.
        """
        self._stream, self._drain_s = stream, drain_s
        self._lock = asyncio.Lock()  # one line at a time waits for the peer
        stream.transport.set_write_buffer_limits(high=LINE_BYTES)

    async def send_line(self, line: bytes) -> None:
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

    def post_message(self, message: Mapping[str, Any]) -> None:
        """Write a notification if there is room now; otherwise forget it. Only on the loop."""
        if not self._stream.is_closing() and self.has_room:
            self._stream.write(encode_message(message))


def fit_reply(ident: Ident, result: Mapping[str, Any], cap: int = LINE_BYTES) -> tuple[bytes, int | None]:
    """Write a reply as one line of the socket, cut at whole items where it would pass the cap of a line.

    Args:
        ident: the call's id.
        result: what to answer; `items`, `conflicts` or `versions`, where there, is a list of objects with an `id`.
        cap: bytes a line may have, with its end.

    Returns:
        The line, and how many items it carries if some were left out (the last one's id is its `next`); None if all.

    Raises:
        UserError: TEXT_TOO_LARGE when even the smallest cut does not fit.
    """
    line = encode_message(make_reply(ident, result))
    if len(line) <= cap:
        return line, None
    for name in _LISTS:
        if result.get(name):
            return _fit_items(ident, result, name, cap)
    return _fit_lists(ident, result, cap), None


def _fit_items(ident: Ident, result: Mapping[str, Any], name: str, cap: int) -> tuple[bytes, int | None]:
    items: Sequence[Mapping[str, Any]] = result[name]
    rest = {key: value for key, value in result.items() if key != name}
    if len(encode_message(make_reply(ident, rest))) > cap // 2:  # long near misses must not starve the items
        rest = _cut_lists(rest, cap // 2 - 1)  # with the line end
    room = cap - len(encode_message(make_reply(ident, {**rest, name: []}))) - _CUT_ROOM
    kept: list[Mapping[str, Any]] = []
    for item in items:
        room -= len(encode_message(item))  # its comma stands for the line end that encode adds
        if room < 0:
            break
        kept.append(item)
    if not kept:
        kept = [_shorten_item(items[0], cap - len(encode_message(make_reply(ident, {**rest, name: []}))) - _CUT_ROOM)]
    cut = {**rest, name: kept}
    if len(kept) < len(items):
        cut["next"] = kept[-1]["id"]
        return encode_message(make_reply(ident, cut)), len(kept)
    return encode_message(make_reply(ident, cut)), None


def _shorten_item(item: Mapping[str, Any], room: int) -> Mapping[str, Any]:
    """Make one memory fit: `extra` goes first where it is long, then the longest members shrink; `cut` names them.

    A text that was shortened is marked with `text_cut` too.
    """
    shorter = _Measured(item)
    steps = 0
    while shorter.length + 1 > room:  # with the line end
        sizes = {
            key: shorter.sizes[key] for key, value in shorter.value.items() if key not in _KEPT and _may_shrink(value)
        }
        if not sizes:
            raise _too_large_error()
        name = "extra" if sizes.get("extra", 0) > _EXTRA else max(sizes, key=lambda key: sizes[key])
        steps += 1
        if name == "extra" or steps > _STEPS:
            shorter.set_member(name, type(item[name])())
        else:
            shorter.halve_member(name)
        shorter.set_member("cut", sorted({*shorter.value.get("cut", ()), name}))
        if name == "text":
            shorter.set_member("text_cut", True)  # noqa: FBT003 - a member's value
    return shorter.value


class _Measured:
    """An object that is being shortened, with the length of each member.

    Each member is encoded once, and again only what of it has changed: a row may bring thousands of members.

    Attributes:
        value: the object as it stands.
        sizes: the encoded length of each member's value.
    """

    def __init__(self, value: Mapping[str, Any]) -> None:
        self.value = dict(value)
        self.sizes = {key: _encoded_length(member) for key, member in value.items()}
        self._names = sum(_name_length(key) for key in value)
        self._values = sum(self.sizes.values())
        self._inner: dict[str, _Measured] = {}

    @property
    def length(self) -> int:
        """Bytes of the whole object as it stands."""
        return self._names + self._values + max(len(self.value) + 1, 2)  # braces, and commas between the members

    def set_member(self, key: str, member: Any, size: int | None = None) -> None:
        """Set a member.

        Args:
            size: its encoded length, where that is known.
        """
        if key not in self.value:
            self._names += _name_length(key)
        found = _encoded_length(member) if size is None else size
        self._values += found - self.sizes.get(key, 0)
        self.value[key], self.sizes[key] = member, found

    def halve_member(self, key: str) -> None:
        """Make a text, list or object among the members shorter; it is not empty."""
        member = self.value[key]
        if not isinstance(member, dict):
            self.set_member(key, member[: len(member) // 2])
            return
        if key not in self._inner:
            self._inner[key] = _Measured(member)
        inner = self._inner[key]
        if inner.halve_longest():
            self.set_member(key, inner.value, inner.length)
        else:
            self.set_member(key, {})

    def halve_longest(self) -> bool:
        """Make the longest member shorter; False where all are so short that the object may as well go whole."""
        longest = max(self.sizes, key=lambda key: self.sizes[key])
        if self.sizes[longest] <= _SMALL or not _may_shrink(self.value[longest]):
            return False
        self.halve_member(longest)
        return True


def _encoded_length(value: object) -> int:
    """Bytes of a value as it is written, without the line end."""
    return len(encode_message(value)) - 1  # type: ignore[arg-type]  # any value is written alike


def _name_length(key: str) -> int:
    return _encoded_length({key: 0}) - len("{0}")


def _may_shrink(value: object) -> bool:
    return isinstance(value, str | list | dict) and bool(value)


def _fit_lists(ident: Ident, result: Mapping[str, Any], cap: int) -> bytes:
    if "id" in result and "text" in result:  # one memory
        return encode_message(make_reply(ident, _shorten_item(result, cap - _CUT_ROOM)))
    room = cap - (len(encode_message(make_reply(ident, {}))) - len("{}"))
    return encode_message(make_reply(ident, _cut_lists(result, room)))


def _cut_lists(result: Mapping[str, Any], room: int) -> dict[str, Any]:
    """Halve the longest list until the object, without a line end, is no longer than that; `cut` names what was."""
    shorter = _Measured(result)
    while shorter.length > room:
        lists = {
            key: shorter.sizes[key]
            for key, value in shorter.value.items()
            if key != "cut" and isinstance(value, list) and value
        }
        if not lists:
            raise _too_large_error()
        longest = max(lists, key=lambda key: lists[key])
        shorter.halve_member(longest)
        shorter.set_member("cut", sorted({*shorter.value.get("cut", ()), longest}))
    return shorter.value


def _too_large_error() -> LociError:
    return UserError(Code.TEXT_TOO_LARGE, "The answer does not fit into one message.")
