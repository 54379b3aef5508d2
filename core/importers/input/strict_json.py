"""JSON and text of strangers: the ladder of encodings, JSON as the standard has it, the elements of a long array.

The ladder is UTF-8, UTF-16 by its mark, Windows-1252, replacement. Strict: no NaN, no endless depth, no half
characters. Why not a streaming JSON library: yajl turns a lone high surrogate and the character after it into another
character without a word, fails on a lone low one, overflows on long integers and takes the process down on deep
nesting. Here only brackets and strings are followed, and each element is then parsed strictly.

Must not do: open files, change a character that could be read, keep more than one element, recurse, or put any of the
parsed text into an error.
"""

from __future__ import annotations

import codecs
import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, NoReturn

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

    def _refill_buffer(self) -> bool:
        self._buffer = next(self._chunks, b"")
        self._at = 0
        return bool(self._buffer)

    def peek_byte(self) -> bytes:
        """The next byte that is not white space; empty at the end."""
        while True:
            found = _NOT_SPACE.search(self._buffer, self._at)
            if found:
                self._at = found.start()
                return found[0]
            if not self._refill_buffer():
                return b""

    def skip_byte(self) -> None:
        """Step over the byte that `peek_byte` showed."""
        self._at += 1

    def take_value(self, depth: int) -> bytearray:
        """Take the next value whole.

        Args:
            depth: how many brackets are open around it.

        Returns:
            Its bytes; whether they are JSON is for the parser to say.

        Raises:
            BadJson: the stream ends inside it, it is too deep or longer than 256 MiB.
        """
        first = self.peek_byte()
        if first == b'"':
            self.skip_byte()
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
            self._move_bytes(taken, end)
            if found or not self._refill_buffer():
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
                self._move_bytes(taken, end + 1)
                return
            # What stops the match before the buffer's end is a quote or one backslash as its last byte.
            escaped = escaped or end < len(self._buffer)
            self._move_bytes(taken, len(self._buffer))
            if not self._refill_buffer():
                raise BadJson("it breaks off inside a string")

    def _take_nested(self, depth: int) -> bytearray:
        taken = bytearray()
        level = 0
        while True:
            found = _TO_BRACKET.match(self._buffer, self._at)
            end = found.end() if found else self._at
            token = self._buffer[end : end + 1]
            self._move_bytes(taken, end + len(token))
            if not token:
                if not self._refill_buffer():
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

    def _move_bytes(self, taken: bytearray, end: int) -> None:
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
    first = reader.peek_byte()
    if not first:
        raise BadJson("it is empty")
    if first == b"[" and "" in prefixes:
        yield from _iterate_array(reader, 1)
    elif first == b"{":
        yield from _iterate_object(reader, prefixes)
    else:
        parse_bytes(reader.take_value(0))
    if reader.peek_byte():
        raise BadJson("something follows after its end")


def _iterate_array(reader: ValueReader, depth: int) -> Iterator[ParsedJson]:
    for _ in _walk_items(reader, b"]"):
        yield parse_bytes(reader.take_value(depth))


def _iterate_object(reader: ValueReader, prefixes: tuple[str, ...]) -> Iterator[ParsedJson]:
    for _ in _walk_items(reader, b"}"):
        key = _take_key(reader)
        if key and key in prefixes and reader.peek_byte() == b"[":
            yield from _iterate_array(reader, 2)
        else:
            parse_bytes(reader.take_value(1))


EACH = "[]"
"""The step of a path that goes into every element of an array."""

_BESIDE = 1 << 16  # bytes of a value beside the path that is kept

Scope = tuple[dict[str, Any], ...]


def path_elements(chunks: Iterator[bytes], path: tuple[str, ...]) -> Iterator[tuple[Scope, ParsedJson]]:
    """Stream the values at the end of a path; check everything else on the way.

    Args:
        chunks: UTF-8 bytes of one JSON document.
        path: keys of objects, several with `|` between them, and `EACH` for the elements of an array.

    Yields:
        The objects on the way, the outermost first, each with what came before in it and is short; and the value.

    Raises:
        BadJson: the document is not JSON; also when that shows only after values were given.
    """
    reader = ValueReader(chunks)
    if not reader.peek_byte():
        raise BadJson("it is empty")
    yield from _walk_path(reader, path, 0, ())
    if reader.peek_byte():
        raise BadJson("something follows after its end")


def _walk_path(
    reader: ValueReader, path: tuple[str, ...], depth: int, scope: Scope
) -> Iterator[tuple[Scope, ParsedJson]]:
    first = reader.peek_byte()
    if not path:
        yield scope, parse_bytes(reader.take_value(depth))
    elif first == b"[" and path[0] == EACH:
        for _ in _walk_items(reader, b"]"):
            yield from _walk_path(reader, path[1:], depth + 1, scope)
    elif first == b"{" and path[0] != EACH:
        keys, beside = path[0].split("|"), dict[str, Any]()
        for _ in _walk_items(reader, b"}"):
            key = _take_key(reader)
            if key in keys:
                yield from _walk_path(reader, path[1:], depth + 1, (*scope, beside))
                continue
            raw = reader.take_value(depth + 1)
            value = parse_bytes(raw).value
            if len(raw) <= _BESIDE:
                beside[key] = value
    else:
        parse_bytes(reader.take_value(depth))


def _walk_items(reader: ValueReader, end: bytes) -> Iterator[None]:
    """Stand before each item of the object or array that opens here, in turn."""
    reader.skip_byte()
    if reader.peek_byte() == end:
        reader.skip_byte()
        return
    while True:
        yield
        mark = reader.peek_byte()
        reader.skip_byte()
        if mark == end:
            return
        if mark != b",":
            raise BadJson("it breaks off or is malformed between two elements")


def _take_key(reader: ValueReader) -> str:
    key = parse_bytes(reader.take_value(1)).value
    if not isinstance(key, str) or reader.peek_byte() != b":":
        raise BadJson("it breaks off or is malformed after a key")
    reader.skip_byte()
    return key


CHUNK = 1 << 18
UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def utf8_chunks(stream: BinaryIO, flags: set[str] | None = None) -> Iterator[bytes]:
    """The stream's bytes as UTF-8, without a byte order mark.

    Args:
        stream: UTF-8, or UTF-16 with a byte order mark; anything else passes through unchanged.
        flags: gets `encoding_replaced` when UTF-16 ends in half a unit, which becomes U+FFFD.

    Yields:
        Non-empty chunks.
    """
    first = stream.read(CHUNK)
    if first.startswith(UTF16_MARKS):
        yield from _from_utf16(first, stream, flags)
        return
    if first.startswith(codecs.BOM_UTF8):
        first = first[len(codecs.BOM_UTF8) :]
    while first:
        yield first
        first = stream.read(CHUNK)


def _from_utf16(chunk: bytes, stream: BinaryIO, flags: set[str] | None) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder("utf-16")(errors="surrogatepass")
    while chunk:
        if text := decoder.decode(chunk):
            yield text.encode("utf-8", "surrogatepass")
        chunk = stream.read(CHUNK)
    try:
        last = decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        last = "�"
        if flags is not None:
            flags.add("encoding_replaced")
    if last:
        yield last.encode("utf-8", "surrogatepass")


def decode_ladder(raw: bytes, *, proven_utf8: bool = False, mend: bool = True) -> tuple[str, frozenset[str]]:
    """Decode bytes that should be UTF-8.

    Args:
        raw: the bytes, cut at character bounds.
        proven_utf8: the same file held other bytes that only UTF-8 explains, so Windows-1252 is out of the question.
        mend: whether surrogate halves written as bytes become U+FFFD; JSON mends and counts them itself.

    Returns:
        The text and flags: none for UTF-8, `surrogates_replaced`, `encoding_guessed` for Windows-1252,
        `encoding_replaced` where unreadable bytes became U+FFFD.
    """
    try:
        return raw.decode("utf-8"), frozenset()
    except UnicodeDecodeError:
        pass
    try:
        text = raw.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return _decode_foreign(raw, proven_utf8)
    if not mend:
        return text, frozenset()
    text, count = replace_surrogates(text)
    return text, frozenset({"surrogates_replaced"}) if count else frozenset()


def _decode_foreign(raw: bytes, proven_utf8: bool) -> tuple[str, frozenset[str]]:
    replaced = raw.decode("utf-8", "replace")
    # One damaged byte among good UTF-8 must not turn every other letter into Windows-1252 nonsense.
    if not proven_utf8 and replaced.replace("�", "").isascii():
        try:
            return raw.decode("cp1252"), frozenset({"encoding_guessed"})
        except UnicodeDecodeError:
            pass
    return replaced, frozenset({"encoding_replaced"})


MAX_DEPTH = 512

_BRACKETS = re.compile(r'(?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+")*+(.?)', re.DOTALL)
_SURROGATE_PAIR = re.compile("([\ud800-\udbff])([\udc00-\udfff])")
_SURROGATE = re.compile("[\ud800-\udfff]")
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


class BadJson(Exception):  # noqa: N818 - the room's contract names it so
    """A text is not JSON.

    Attributes:
        reason: why, in words, never with any of the text.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class MendedText(str):
    """A string in which lone surrogates were replaced, so that a message can be flagged exactly.

    Attributes:
        replaced: how many.
    """

    __slots__ = ("replaced",)
    replaced: int

    @staticmethod
    def from_text(text: str, replaced: int) -> MendedText:
        """Mark a mended text.

        Args:
            text: the text after the repair.
            replaced: how many characters were replaced.

        Returns:
            The same text with its count.
        """
        marked = MendedText(text)
        marked.replaced = replaced
        return marked


@dataclass(frozen=True, slots=True)
class ParsedJson:
    """A parsed value.

    Attributes:
        value: what json.loads gives; strings that were mended are `MendedText`.
        surrogates: how many lone surrogates became U+FFFD.
        flags: how the bytes were read: `encoding_guessed`, `encoding_replaced`.
    """

    value: Any
    surrogates: int
    flags: frozenset[str] = frozenset()


def mended_count(text: object) -> int:
    """How many lone surrogates were replaced in a parsed string.

    Returns:
        The count; 0 for anything that was not mended.
    """
    return text.replaced if isinstance(text, MendedText) else 0


def _join_pair(match: re.Match[str]) -> str:
    high, low = ord(match[1]), ord(match[2])
    return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))


def replace_surrogates(text: str) -> tuple[str, int]:
    """Replace each lone surrogate by U+FFFD; two halves that meet in order are joined to their character.

    Returns:
        The text and how many surrogates were replaced.
    """
    if text.isascii() or not _SURROGATE.search(text):
        return text, 0
    return _SURROGATE.subn("�", _SURROGATE_PAIR.sub(_join_pair, text))


def parse_json_text(text: str) -> ParsedJson:
    """Parse one JSON text strictly.

    Duplicate keys: the last wins. Numbers too large for a float are refused like Infinity.

    Args:
        text: the whole text; white space around it is allowed.

    Returns:
        The value, every lone surrogate in it replaced by U+FFFD and counted.

    Raises:
        BadJson: it is not JSON, holds NaN or Infinity, or is nested deeper than 512 levels.
    """
    if text.count("[") + text.count("{") > MAX_DEPTH and _too_deep(text):
        raise BadJson(f"it is nested deeper than {MAX_DEPTH} levels")
    try:
        value = json.loads(text, parse_constant=_refuse_constant, parse_float=_finite_number)
    except RecursionError:
        raise BadJson("it is nested too deeply") from None
    except json.JSONDecodeError as error:
        # `from None`: the decoder's error carries the whole text and would show it in a traceback.
        raise BadJson(f"it breaks off or is malformed near character {error.pos}") from None
    except ValueError:
        raise BadJson("a number in it is too long") from None
    if _ESCAPED_SURROGATE.search(text) or _SURROGATE.search(text):
        value, count = _mend_surrogates(value)
        return ParsedJson(value, count)
    return ParsedJson(value, 0)


def _refuse_constant(_name: str) -> NoReturn:
    raise BadJson("it holds NaN or Infinity, which JSON does not have")


def _finite_number(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise BadJson("a number in it is out of range")
    return number


def _too_deep(text: str) -> bool:
    depth, at = 0, 0
    while match := _BRACKETS.match(text, at):
        mark = match[1]
        if mark and mark in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                return True
        elif mark and mark in "]}":
            depth -= 1
        else:
            return False  # the end, or a string that never ends: json.loads says what is wrong
        at = match.end()
    return False


def _mend_surrogates(root: Any) -> tuple[Any, int]:
    """Replace lone surrogates everywhere in a parsed tree, in place and without recursion."""
    holder = [root]
    total = 0
    stack: list[Any] = [holder]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            total += _mend_keys(node)
        for key, value in list(node.items()) if isinstance(node, dict) else enumerate(node):
            if isinstance(value, str):
                fixed, count = replace_surrogates(value)
                if count or len(fixed) != len(value):
                    node[key] = MendedText.from_text(fixed, count) if count else fixed
                    total += count
            elif isinstance(value, dict | list):
                stack.append(value)
    return holder[0], total


def _mend_keys(node: dict[str, Any]) -> int:
    if not any(_SURROGATE.search(key) for key in node):
        return 0
    total = 0
    items = list(node.items())
    node.clear()
    for key, value in items:
        fixed, count = replace_surrogates(key)
        node[fixed] = value
        total += count
    return total
