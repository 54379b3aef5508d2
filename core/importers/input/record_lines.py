"""Lines with their ends, for records that may take several of them and are read again when they go wrong.

Must not do: know what a record is, or keep more than the lines of one.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Generator, Iterator
from contextlib import closing

from core.importers.input.files import refused_file_error
from core.importers.input.source import SourceFile
from core.importers.input.streams import LINE_CAP
from core.importers.input.strict_json import decode_ladder, utf8_chunks

_MOST_BUFFERED = 64 << 20
_LINE_BYTES = re.compile(rb"[^\n]*\n|[^\n]+")
_LONE_RETURN = re.compile(r"(?<=\r)(?!\n)")


def split_returns(line: str) -> list[str]:
    """Old Macs end a line with a carriage return alone."""
    return [piece for piece in _LONE_RETURN.split(line) if piece]


class RecordLines:
    """A file's lines with their ends; the lines of the current record can be read again from its second one."""

    def __init__(self, file: SourceFile) -> None:
        self._again: deque[str] = deque()
        self._held: list[str] = []
        self._buffered_size = 0
        self._file_flags: set[str] = set()
        self._fresh = self._read_lines(file)
        self.flags: set[str] = set()

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self._again.popleft() if self._again else next(self._fresh)
        self._buffered_size += len(line)
        if self._buffered_size <= _MOST_BUFFERED:
            self._held.append(line)
        return line

    def begin_record(self) -> None:
        """A new record begins with the next line."""
        self._held, self._buffered_size = [], 0
        self.flags = set(self._file_flags)

    def rewind_record(self) -> None:
        """Give the current record's lines again, without its first. Records over 64 MiB are not given again."""
        if self._buffered_size <= _MOST_BUFFERED:
            self._again.extendleft(reversed(self._held[1:]))

    def odd_quotes(self) -> bool:
        """Whether the current record's lines hold a quote without its partner."""
        return sum(line.count('"') for line in self._held) % 2 == 1

    def close(self) -> None:
        """Close the file before its end."""
        self._fresh.close()

    def _read_lines(self, file: SourceFile) -> Generator[str, None, None]:
        proven = False
        with closing(file.open()) as stream:
            for raw in _byte_lines(file, utf8_chunks(stream, self._file_flags)):
                text, flags = decode_ladder(raw, proven_utf8=proven)
                proven = proven or not (flags or raw.isascii())
                self.flags |= flags
                yield from split_returns(text)


def _byte_lines(file: SourceFile, chunks: Iterator[bytes]) -> Iterator[bytes]:
    rest: list[bytes] = []
    line_size = 0
    for chunk in chunks:
        for line in _LINE_BYTES.findall(chunk):
            rest.append(line)
            line_size += len(line)
            if line.endswith(b"\n"):
                yield b"".join(rest)
                rest, line_size = [], 0
        if line_size > LINE_CAP:
            raise refused_file_error(file.name, f"has a line longer than {LINE_CAP >> 20} MiB")
    if rest:
        yield b"".join(rest)
