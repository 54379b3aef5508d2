"""Cuts a JSON stream into the elements of an array without holding the whole, then parses each strictly.

Why not a streaming JSON library: yajl turns a lone high surrogate and the character after it into
another character without a word, fails on a lone low one, overflows on long integers and takes the
process down on deep nesting. Here only brackets and strings are followed; `strict_json` judges the rest.

Must not do: open files, keep more than one element, recurse.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.importers.input.encodings import decode_ladder
from core.importers.input.strict_json import MAX_DEPTH, BadJson, ParsedJson, parse_json_text

ELEMENT_CAP = 256 << 20

_NOT_SPACE = re.compile(rb"[^ \t\r\n]")
_TO_BRACKET = re.compile(rb'(?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+")*+', re.DOTALL)
_STRING_REST = re.compile(rb"(?:[^\"\\]++|\\.)*+", re.DOTALL)
_SCALAR_END = re.compile(rb"[,\]} \t\r\n\[{:]")


def parse_bytes(raw: bytes | bytearray) -> ParsedJson:
    """Parse the bytes of one JSON value.

    Args:
        raw: the bytes.

    Returns:
        The value with the flags of its decoding.

    Raises:
        BadJson: it is not JSON.
    """
    text, flags = decode_ladder(bytes(raw), mend=False)
    parsed = parse_json_text(text)
    return ParsedJson(parsed.value, parsed.surrogates, flags) if flags else parsed


class ValueReader:
    """Takes one raw JSON value after another from a stream of chunks."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._buffer = b""
        self._at = 0

    def _refill(self) -> bool:
        self._buffer = next(self._chunks, b"")
        self._at = 0
        return bool(self._buffer)

    def peek(self) -> bytes:
        """The next byte that is not white space; empty at the end."""
        while True:
            found = _NOT_SPACE.search(self._buffer, self._at)
            if found:
                self._at = found.start()
                return found[0]
            if not self._refill():
                return b""

    def skip(self) -> None:
        """Step over the byte that `peek` showed."""
        self._at += 1

    def take(self, depth: int) -> bytearray:
        """Take the next value whole.

        Args:
            depth: how many brackets are open around it.

        Returns:
            Its bytes; whether they are JSON is for the parser to say.

        Raises:
            BadJson: the stream ends inside it, it is too deep or longer than 256 MiB.
        """
        first = self.peek()
        if first == b'"':
            self.skip()
            taken = bytearray(b'"')
            self._take_string(taken)
            return taken
        if first in (b"{", b"["):
            return self._take_nested(depth)
        return self._take_scalar()

    def _take_scalar(self) -> bytearray:
        taken = bytearray()
        while True:
            found = _SCALAR_END.search(self._buffer, self._at)
            end = found.start() if found else len(self._buffer)
            self._move(taken, end)
            if found or not self._refill():
                break
        if not taken:
            raise BadJson("a value is missing")
        return taken

    def _take_string(self, taken: bytearray) -> None:
        """Move the rest of a string, its first quote already taken, and its last quote."""
        escaped = False
        while True:
            start = self._at
            if escaped and start < len(self._buffer):
                start += 1
                escaped = False
            found = _STRING_REST.match(self._buffer, start)
            end = found.end() if found else start
            if end < len(self._buffer) and self._buffer[end : end + 1] == b'"':
                self._move(taken, end + 1)
                return
            # What stops the match before the buffer's end is a quote or one backslash as its last byte.
            escaped = escaped or end < len(self._buffer)
            self._move(taken, len(self._buffer))
            if not self._refill():
                raise BadJson("it breaks off inside a string")

    def _take_nested(self, depth: int) -> bytearray:
        taken = bytearray()
        level = 0
        while True:
            found = _TO_BRACKET.match(self._buffer, self._at)
            end = found.end() if found else self._at
            token = self._buffer[end : end + 1]
            self._move(taken, end + len(token))
            if not token:
                if not self._refill():
                    raise BadJson("it breaks off before its end")
            elif token == b'"':
                self._take_string(taken)
            elif token in (b"{", b"["):
                level += 1
                if depth + level > MAX_DEPTH:
                    raise BadJson(f"it is nested deeper than {MAX_DEPTH} levels")
            else:
                level -= 1
                if level == 0:
                    return taken

    def _move(self, taken: bytearray, end: int) -> None:
        taken += self._buffer[self._at : end]
        self._at = end
        if len(taken) > ELEMENT_CAP:
            raise BadJson(f"one value in it is longer than {ELEMENT_CAP >> 20} MiB")


def array_elements(chunks: Iterator[bytes], prefixes: tuple[str, ...]) -> Iterator[ParsedJson]:
    """Stream the elements of the arrays found at any of the prefixes; check everything else on the way.

    Args:
        chunks: UTF-8 bytes of one JSON document.
        prefixes: "" for an array at the top, else a key of the object at the top.

    Yields:
        One parsed element after another.

    Raises:
        BadJson: the document is not JSON; also when that shows only after elements were given.
    """
    reader = ValueReader(chunks)
    first = reader.peek()
    if not first:
        raise BadJson("it is empty")
    if first == b"[" and "" in prefixes:
        yield from _array(reader, 1)
    elif first == b"{":
        yield from _object(reader, prefixes)
    else:
        parse_bytes(reader.take(0))
    if reader.peek():
        raise BadJson("something follows after its end")


def _array(reader: ValueReader, depth: int) -> Iterator[ParsedJson]:
    reader.skip()
    if reader.peek() == b"]":
        reader.skip()
        return
    while True:
        yield parse_bytes(reader.take(depth))
        mark = reader.peek()
        reader.skip()
        if mark == b"]":
            return
        if mark != b",":
            raise BadJson("it breaks off or is malformed between two elements")


def _object(reader: ValueReader, prefixes: tuple[str, ...]) -> Iterator[ParsedJson]:
    reader.skip()
    if reader.peek() == b"}":
        reader.skip()
        return
    while True:
        key = parse_bytes(reader.take(1)).value
        if not isinstance(key, str) or reader.peek() != b":":
            raise BadJson("it breaks off or is malformed after a key")
        reader.skip()
        if key and key in prefixes and reader.peek() == b"[":
            yield from _array(reader, 2)
        else:
            parse_bytes(reader.take(1))
        mark = reader.peek()
        reader.skip()
        if mark == b"}":
            return
        if mark != b",":
            raise BadJson("it breaks off or is malformed after a value")
