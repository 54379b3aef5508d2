"""Reading a bundle's files as lines, text or JSON elements, with one ladder of encodings for all.

Must not do: know any format, hold a file whole without a cap, change a character that could be read.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing
from typing import BinaryIO

from core.importers.input.array_stream import array_elements, parse_bytes
from core.importers.input.encodings import UTF16_MARKS, decode_ladder, utf8_chunks
from core.importers.input.refusal import refuse_file
from core.importers.input.source import SourceFile
from core.importers.input.strict_json import (
    MAX_DEPTH,
    BadJson,
    MendedText,
    ParsedJson,
    mended_count,
    parse_json_text,
    replace_surrogates,
)

__all__ = [
    "LINE_CAP",
    "MAX_DEPTH",
    "BadJson",
    "FileLines",
    "MendedText",
    "ParsedJson",
    "iter_json_array",
    "mended_count",
    "parse_json_text",
    "read_head",
    "read_head_text",
    "read_json",
    "read_lines",
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
        self._generator = self._read()

    def __iter__(self) -> Iterator[tuple[int, str]]:
        return self

    def __next__(self) -> tuple[int, str]:
        return next(self._generator)

    def close(self) -> None:
        """Close the file before its last line was read."""
        self._generator.close()

    def _read(self) -> Generator[tuple[int, str], None, None]:
        with closing(self._file.open()) as stream:
            for number, raw in enumerate(self._raw_lines(stream), 1):
                text = self._decode(raw)
                yield number, text[:-1] if text.endswith("\r") else text

    def _raw_lines(self, stream: BinaryIO) -> Iterator[bytes]:
        rest: list[bytes] = []
        held = 0
        for chunk in utf8_chunks(stream, self.flags):
            *whole, tail = chunk.split(b"\n")
            for line in whole:
                yield b"".join((*rest, line)) if rest else line
                rest, held = [], 0
            if tail:
                rest.append(tail)
                held += len(tail)
            if held > LINE_CAP:
                raise refuse_file(self._file.name, f"has a line longer than {LINE_CAP >> 20} MiB")
        if rest:
            self.complete_last = False
            yield b"".join(rest)

    def _decode(self, raw: bytes) -> str:
        text, flags = decode_ladder(raw, proven_utf8=self._proven_utf8)
        if not flags and not self._proven_utf8:
            self._proven_utf8 = not raw.isascii()
        self.line_flags = flags
        self.flags |= flags
        return text


def read_lines(file: SourceFile) -> FileLines:
    """Read a file line by line.

    Encodings: UTF-8 with or without a mark, UTF-16 with one, else Windows-1252 for lines that are no UTF-8, unless
    the file has proven to be UTF-8 before, else U+FFFD for what cannot be read.

    Args:
        file: any file of a bundle.

    Returns:
        The lines.

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
    held = bytearray()
    with closing(file.open()) as stream:
        for chunk in utf8_chunks(stream, flags):
            held += chunk
            if len(held) > cap:
                raise refuse_file(file.name, f"is longer than {cap >> 20} MiB, too long for one text")
    text, found = decode_ladder(bytes(held))
    return text, found | flags


def read_json(file: SourceFile, cap: int = 256 << 20) -> ParsedJson:
    """Read a file as one JSON value.

    Args:
        file: any file of a bundle.
        cap: the most bytes it may have.

    Returns:
        The parsed value.

    Raises:
        UserError: IMPORT_REFUSED for anything that is not JSON, or for a file over the cap.
    """
    held = bytearray()
    with closing(file.open()) as stream:
        for chunk in utf8_chunks(stream):
            held += chunk
            if len(held) > cap:
                raise refuse_file(file.name, f"is longer than {cap >> 20} MiB, too long for one JSON value")
    try:
        return parse_bytes(held)
    except BadJson as error:
        raise refuse_file(file.name, f"is not valid JSON ({error.reason})") from None


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
    with closing(file.open()) as stream:
        try:
            yield from array_elements(utf8_chunks(stream), prefixes)
        except BadJson as error:
            raise refuse_file(file.name, f"is not valid JSON ({error.reason})") from None


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
