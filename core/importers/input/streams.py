"""Reading a bundle's files as lines, text or JSON elements, and what the first 64 KiB of a file tell about it.

All files go through one ladder of encodings. Keys are found even where the head is cut in the middle of its first
record. Must not do: know any format, hold a file whole without a cap, change a character that could be read, raise for
what a head holds, or go by a file's extension.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing, contextmanager
from io import BufferedReader, BytesIO, RawIOBase
from typing import TYPE_CHECKING, Any, BinaryIO

from core.importers.input.files import refused_file_error
from core.importers.input.source import Bundle, SourceFile
from core.importers.input.strict_json import (
    MAX_DEPTH,
    UTF16_MARKS,
    BadJson,
    MendedText,
    ParsedJson,
    Scope,
    ValueReader,
    array_elements,
    decode_ladder,
    mended_count,
    parse_bytes,
    parse_json_text,
    path_elements,
    replace_surrogates,
    utf8_chunks,
)

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_TOKEN = re.compile(r'"((?:[^"\\]++|\\.)*+)"|[\[\]{}:,]', re.DOTALL)
_MAX_DEPTH = 64


def key_paths(text: str) -> Mapping[str, frozenset[str]]:
    """The keys of every object in a JSON text that may be cut anywhere.

    Args:
        text: the beginning of a JSON document; of a JSONL file only the first line tells anything.

    Returns:
        Path to keys. The object at the top has the path "", one in an array at the top "[]", one under a key
        "key" (`conversations[].mapping`). Empty where the text does not begin as an object or array.
    """
    found: dict[str, set[str]] = {}
    stack: list[tuple[str, str]] = []  # bracket, path
    if not text.lstrip("\ufeff \t\r\n").startswith(("{", "[")):
        return {}
    key, awaiting_key = "", False
    for token in _TOKEN.finditer(text):
        mark = token[0]
        if mark in ("{", "["):
            if len(stack) >= _MAX_DEPTH:
                break
            stack.append((mark, _key_path(stack, key)))
            awaiting_key = mark == "{"
        elif mark in ("}", "]"):
            if not stack:
                break
            stack.pop()
            awaiting_key = False
            if not stack:
                break
        elif mark == ",":
            awaiting_key = bool(stack) and stack[-1][0] == "{"
        elif mark != ":" and awaiting_key:
            key, awaiting_key = token[1], False
            found.setdefault(stack[-1][1], set()).add(key)
    return {path: frozenset(keys) for path, keys in found.items()}


def _key_path(stack: list[tuple[str, str]], key: str) -> str:
    if not stack:
        return ""
    bracket, path = stack[-1]
    if bracket == "[":
        return path + "[]"
    return f"{path}.{key}" if path else key


def head_keys(file: SourceFile) -> Mapping[str, frozenset[str]]:
    """`key_paths` of a file's first 64 KiB.

    Args:
        file: any file of a bundle.
    """
    return key_paths(read_head_text(file))


HEAD = 65536
_MOST_ITEMS = 50
_MOST_KEYS = 200

_KEYED = re.compile(r'\s*(?:\[\s*)*\{\s*"(?:[^"\\]|\\.)*"\s*(?::|$)')
_BRACKETS = re.compile(r"\s*(?:[\[{]\s*){8}")

_CONTROLS = re.compile(r"[\x00-\x06\x0e-\x1a\x1c-\x1f]")
_MOST_CONTROLS = 0.1
_MAGIC = (
    b"PK\x03\x04",
    b"%PDF-",
    b"\x7fELF",
    b"\x1f\x8b",
    b"SQLite format 3\x00",
    b"\x89PNG",
    b"GIF8",
    b"RIFF",
    b"bplist",
    b"{\\rtf",
)


def visible_files(bundle: Bundle) -> list[SourceFile]:
    """A bundle's files without hidden ones and those in hidden folders; a single file is always visible."""
    if bundle.kind == "file":
        return list(bundle.files)
    return [file for file in bundle.files if not is_hidden(file.name)]


def is_hidden(name: str) -> bool:
    """Whether a path leads through something hidden, or through what macOS adds to archives."""
    return any(part.startswith(".") or part == "__MACOSX" for part in name.split("/"))


def items_in_head(file: SourceFile, prefixes: tuple[str, ...]) -> list[Mapping[str, Any]]:
    """The objects that stand whole in the head, in the arrays at the prefixes.

    Args:
        prefixes: as for `iter_json_array`.

    Returns:
        At most fifty objects; none where the head is no JSON.
    """
    found: list[Mapping[str, Any]] = []
    try:
        for parsed in array_elements(_head_chunks(file), prefixes):
            if isinstance(parsed.value, Mapping):
                found.append(parsed.value)
            if len(found) >= _MOST_ITEMS:
                break
    except BadJson:
        return found
    return found


def keys_in_head(file: SourceFile) -> list[str]:
    """The keys of the object that opens the file, as far as the head shows them; the last one's value may be cut."""
    reader = ValueReader(_head_chunks(file))
    keys: list[str] = []
    try:
        if reader.peek_byte() != b"{":
            return keys
        while len(keys) < _MOST_KEYS and reader.peek_byte() in (b"{", b","):
            reader.skip_byte()
            key = parse_bytes(reader.take_value(1)).value
            if not isinstance(key, str) or reader.peek_byte() != b":":
                break
            keys.append(key)
            reader.skip_byte()
            parse_bytes(reader.take_value(1))
    except BadJson:
        return keys
    return keys


def _head_chunks(file: SourceFile) -> Any:
    return utf8_chunks(BytesIO(read_head(file, HEAD)))


def looks_like_json(text: str) -> bool:
    """Whether a text is JSON rather than prose that begins with a bracket (`[07:10] Fog`, `[[Note]]`).

    Args:
        text: the head of a file, decoded.
    """
    stripped = text.lstrip("\ufeff \t\r\n")
    if not stripped.startswith(("{", "[")):
        return False
    if _KEYED.match(stripped) or _BRACKETS.match(stripped):
        return True
    try:
        parse_json_text(stripped)
    except BadJson:
        return False
    return True


def is_binary(raw: bytes) -> bool:
    """Whether bytes are something other than text.

    Text is UTF-16 with a mark, or UTF-8 with few control characters (a NUL here and there is kept), or Windows-1252
    without NUL.

    Args:
        raw: the head of a file, possibly cut inside a character.
    """
    if raw.startswith(UTF16_MARKS):
        return False
    if raw.startswith(_MAGIC):
        return True
    controls = len(_CONTROLS.findall(raw.decode("latin-1")))
    if controls > len(raw) * _MOST_CONTROLS and controls > 1:
        return True
    # A character takes four bytes at most, so a cut one leaves at most three.
    return b"\x00" in raw and not any(_is_utf8(raw[: len(raw) - cut]) for cut in range(min(4, len(raw))))


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


__all__ = [
    "LINE_CAP",
    "MAX_DEPTH",
    "BadJson",
    "FileLines",
    "MendedText",
    "ParsedJson",
    "iter_json_array",
    "iter_json_path",
    "mended_count",
    "open_pieces",
    "parse_json_text",
    "read_file_lines",
    "read_head",
    "read_head_text",
    "read_json",
    "read_whole_text",
    "replace_surrogates",
]

LINE_CAP = 256 << 20


class FileLines:
    """A file's lines, one after another: (number from 1, text without its line end).

    Only a line feed ends a line; one carriage return before it is removed with it.

    Attributes:
        flags: how the bytes were read so far: `encoding_guessed` (Windows-1252), `encoding_replaced` (unreadable
            bytes became U+FFFD). Empty for UTF-8, and for UTF-16 with a byte order mark.
        line_flags: the same for the line given last.
        complete_last: whether the last line given ended with a line feed; False only while and after an
            unfinished last line is given.
    """

    def __init__(self, file: SourceFile) -> None:
        self.flags: set[str] = set()
        self.line_flags: frozenset[str] = frozenset()
        self.complete_last = True
        self._file = file
        self._proven_utf8 = False
        self._generator = self._read_lines()

    def __iter__(self) -> Iterator[tuple[int, str]]:
        return self

    def __next__(self) -> tuple[int, str]:
        return next(self._generator)

    def close(self) -> None:
        """Close the file before its last line was read."""
        self._generator.close()

    def _read_lines(self) -> Generator[tuple[int, str], None, None]:
        with closing(self._file.open()) as stream:
            for number, raw in enumerate(self._raw_lines(stream), 1):
                text = self._decode_line(raw)
                yield number, text[:-1] if text.endswith("\r") else text

    def _raw_lines(self, stream: BinaryIO) -> Iterator[bytes]:
        rest: list[bytes] = []
        line_size = 0
        for chunk in utf8_chunks(stream, self.flags):
            *whole, tail = chunk.split(b"\n")
            for line in whole:
                yield b"".join((*rest, line)) if rest else line
                rest, line_size = [], 0
            if tail:
                rest.append(tail)
                line_size += len(tail)
            if line_size > LINE_CAP:
                raise refused_file_error(self._file.name, f"has a line longer than {LINE_CAP >> 20} MiB")
        if rest:
            self.complete_last = False
            yield b"".join(rest)

    def _decode_line(self, raw: bytes) -> str:
        text, flags = decode_ladder(raw, proven_utf8=self._proven_utf8)
        if not flags and not self._proven_utf8:
            self._proven_utf8 = not raw.isascii()
        self.line_flags = flags
        self.flags |= flags
        return text


def read_file_lines(file: SourceFile) -> FileLines:
    """Read a file line by line.

    Encodings: UTF-8 with or without a mark, UTF-16 with one, else Windows-1252 for lines that are no UTF-8, unless
    the file has proven to be UTF-8 before, else U+FFFD for what cannot be read.

    Args:
        file: any file of a bundle.

    Raises:
        UserError: IMPORT_REFUSED while reading, for a line over 256 MiB.
    """
    return FileLines(file)


def read_whole_text(file: SourceFile, cap: int = 64 << 20) -> tuple[str, frozenset[str]]:
    """Read a file as one text, every line end and NUL kept, a byte order mark dropped.

    Args:
        file: any file of a bundle.
        cap: the most bytes it may have.

    Returns:
        The text and flags: `encoding_guessed`, `encoding_replaced`, `surrogates_replaced`.

    Raises:
        UserError: IMPORT_REFUSED for a file over the cap.
    """
    flags: set[str] = set()
    content = bytearray()
    with closing(file.open()) as stream:
        for chunk in utf8_chunks(stream, flags):
            content += chunk
            if len(content) > cap:
                raise refused_file_error(file.name, f"is longer than {cap >> 20} MiB, too long for one text")
    text, found = decode_ladder(bytes(content))
    return text, found | flags


def read_json(file: SourceFile, cap: int = 256 << 20) -> ParsedJson:
    """Read a file as one JSON value.

    Args:
        file: any file of a bundle.
        cap: the most bytes it may have.

    Raises:
        UserError: IMPORT_REFUSED for anything that is not JSON, or for a file over the cap.
    """
    content = bytearray()
    with closing(file.open()) as stream:
        for chunk in utf8_chunks(stream):
            content += chunk
            if len(content) > cap:
                raise refused_file_error(file.name, f"is longer than {cap >> 20} MiB, too long for one JSON value")
    with _refused_if_not_json(file):
        return parse_bytes(content)


@contextmanager
def _refused_if_not_json(file: SourceFile) -> Iterator[None]:
    try:
        yield
    except BadJson as error:
        raise refused_file_error(file.name, f"is not valid JSON ({error.reason})") from None


def iter_json_array(file: SourceFile, prefixes: tuple[str, ...]) -> Iterator[ParsedJson]:
    """Stream the elements of the arrays found at any of the prefixes, in file order, holding one at a time.

    An object at the top may have several of the keys; all their arrays are given (an empty first alias must not hide
    a filled later one; items told twice fall to their identity). Without any such array nothing is given.

    Args:
        file: any file of a bundle.
        prefixes: "" for an array at the top, else a key of the object at the top (`results`).

    Yields:
        One parsed element after another.

    Raises:
        UserError: IMPORT_REFUSED on anything that is not JSON, NaN, or nesting over 512 levels, even when that shows
            only after elements were given.
    """
    with closing(file.open()) as stream, _refused_if_not_json(file):
        yield from array_elements(utf8_chunks(stream), prefixes)


def iter_json_path(file: SourceFile, path: tuple[str, ...]) -> Iterator[tuple[Scope, ParsedJson]]:
    """Stream the values at the end of a path into the objects and arrays of a file, holding one at a time.

    Args:
        file: any file of a bundle.
        path: as for `path_elements`.

    Yields:
        What stands beside the path in each object on the way, the outermost first, and the value.

    Raises:
        UserError: IMPORT_REFUSED on anything that is not JSON, NaN, or nesting over 512 levels, even when that shows
            only after values were given.
    """
    with closing(file.open()) as stream, _refused_if_not_json(file):
        yield from path_elements(utf8_chunks(stream), path)


def read_head(file: SourceFile, size: int = 65536) -> bytes:
    """The first bytes of a file, for detection.

    Args:
        file: any file of a bundle.
        size: how many at most.

    Returns:
        The bytes as they stand.
    """
    with closing(file.open()) as stream:
        return stream.read(size)


def read_head_text(file: SourceFile, size: int = 65536) -> str:
    """The first bytes of a file as text, for detection; unreadable bytes become U+FFFD.

    Args:
        file: any file of a bundle.
        size: how many bytes at most.

    Returns:
        The text without a byte order mark, possibly cut inside a line.
    """
    raw = read_head(file, size)
    if raw.startswith(UTF16_MARKS):
        return raw.decode("utf-16", "replace")
    return raw.decode("utf-8-sig", "replace")


_PIECES = 1 << 16
_SEEK_BUFFER = 1 << 20


class _PieceStream(RawIOBase):
    """The pieces of an iterator as bytes of one file."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        super().__init__()
        self._pieces = pieces
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, target: WriteableBuffer) -> int:
        view = memoryview(target).cast("B")
        while not self._rest:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._rest = memoryview(piece)  # cut below without being copied
        size = min(len(view), len(self._rest))
        view[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size

    def close(self) -> None:
        if isinstance(self._pieces, Generator):
            self._pieces.close()
        super().close()


def open_seekable(file: SourceFile) -> BinaryIO:
    """A stream in which one can go back and forth; a file that has none of its own is read whole."""
    if file.open_seekable is None:
        with closing(file.open()) as stream:
            return BytesIO(stream.read())
    stream = file.open_seekable()
    return BufferedReader(stream, _SEEK_BUFFER) if isinstance(stream, RawIOBase) else stream


def open_pieces(pieces: Iterator[bytes]) -> BufferedReader:
    """A stream of pieces; closing it closes the generator that makes them.

    Args:
        pieces: bytes in order; empty ones are left out.
    """
    return BufferedReader(_PieceStream(pieces), _PIECES)
