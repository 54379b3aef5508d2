"""The content of an archive: one zlib stream of JSON lines.

The first line says which vault it was and when; then, table by table, one line with the names of the columns and one
array for each row; the last line counts the rows and holds the SHA-256 of all lines before it, with the seal of the
vault, by which that vault knows its own archive again. Octets are ``{"b": base64}``. Must not do: hold more than a
batch of rows, take a line or an expansion beyond all measure, know what a table means.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from core.archive.container import ChunkWriter, damaged_archive_error

MOST_LINE = 16 * 1024 * 1024
"""Bytes of one line. The longest text of a vault's row has 8 KiB, its longest note of a view some hundred."""
_BATCH_BYTES = 8 * 1024 * 1024  # of lines that are held at once: those of files are long
MOST_EXPANSION = 200
"""How much longer lines may be than their compressed form; ten times what a vault of one sentence has."""

_FREE_BYTES = 16 * 1024 * 1024  # so much may be expanded from next to nothing: a small archive of a dull vault
_STEP = 256 * 1024
_OCTETS = "b"
_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}", re.ASCII)
_INTEGERS = range(-(2**63), 2**63)
_LEVEL = 6

Row = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class ArchiveOrigin:
    """What the first line says.

    Attributes:
        vault_id: 16 bytes, of the vault that was written.
        schema: version of its schema.
        made_at_ms: epoch ms.
        program: name and version of what wrote it.
    """

    vault_id: bytes
    schema: int
    made_at_ms: int
    program: str


@dataclass(frozen=True, slots=True)
class ArchiveEnd:
    """What the last line says, checked against what came before it.

    Attributes:
        rows: table to number of rows.
        digest: SHA-256 of all lines before.
        seal: of the vault over the digest.
    """

    rows: Mapping[str, int]
    digest: bytes
    seal: bytes


@dataclass(frozen=True, slots=True)
class TableRows:
    """Some rows of one table, in the order of the archive."""

    table: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]

    def as_mappings(self) -> list[dict[str, object]]:
        """Column to value of each row."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


class RecordWriter:
    """Writes the lines of an archive."""

    def __init__(self, sink: ChunkWriter, origin: ArchiveOrigin) -> None:
        """Write the first line.

        Args:
            sink: gets compressed content.

        Raises:
            OSError: the disk refused.
        """
        self._sink = sink
        self._packer = zlib.compressobj(_LEVEL)
        self._digest = hashlib.sha256()
        self.rows: Counter[str] = Counter()
        about = {
            "made_at": origin.made_at_ms,
            "program": origin.program,
            "schema": origin.schema,
            "vault": origin.vault_id.hex(),
        }
        self._write_line({"archive": about})

    def write_table(self, table: str, columns: Sequence[str], pages: Iterable[Sequence[Row]]) -> None:
        """Write a table.

        Args:
            pages: its rows, some at a time.

        Raises:
            OSError: the disk refused.
        """
        self._write_line({"table": table, "columns": list(columns)})
        self.rows[table] += 0
        for page in pages:
            self.rows[table] += len(page)
            self._write("".join(_ENCODER.encode(row) + "\n" for row in page).encode("utf-8"))

    def finish(self, make_seal: Callable[[bytes], bytes]) -> ArchiveEnd:
        """Write the last line.

        Args:
            make_seal: makes the vault's seal of the digest.

        Raises:
            OSError: the disk refused.
        """
        digest = self._digest.digest()
        end = ArchiveEnd(dict(self.rows), digest, make_seal(digest))
        self._write_line({"end": {"rows": dict(self.rows), "seal": end.seal.hex(), "sha256": digest.hex()}})
        self._sink.write(self._packer.flush())
        self._sink.finish()
        return end

    def _write_line(self, value: Mapping[str, object]) -> None:
        self._write((_ENCODER.encode(value) + "\n").encode("utf-8"))

    def _write(self, data: bytes) -> None:
        self._digest.update(data)
        packed = self._packer.compress(data)
        if packed:
            self._sink.write(packed)


class RecordReader:
    """Reads the lines of an archive, once.

    Attributes:
        origin: what the first line says.
    """

    def __init__(self, chunks: Iterable[bytes]) -> None:
        """Read the first line.

        Args:
            chunks: content that was authenticated.

        Raises:
            UserError: IMPORT_REFUSED.
        """
        self._digest = hashlib.sha256()
        self._lines = split_lines(chunks)
        self._end: ArchiveEnd | None = None
        first = next(self._lines, b"")
        self._digest.update(first)
        self.origin = _parse_origin(first)

    @property
    def end(self) -> ArchiveEnd:
        """What the last line says; known once all batches were read, and so only of a whole archive.

        Raises:
            UserError: IMPORT_REFUSED.
        """
        if self._end is None:
            raise damaged_archive_error()
        return self._end

    def read_batches(self, size: int) -> Iterator[TableRows]:
        """The rows, table by table; when they are over, count and digest were found to fit.

        Args:
            size: rows of a batch at most.

        Yields:
            Batches of one table each.

        Raises:
            UserError: IMPORT_REFUSED.
        """
        counts: dict[str, int] = {}
        table, columns = "", tuple[str, ...]()
        rows: list[Row] = []
        held = 0
        for line in self._lines:
            if line.startswith(b"["):
                if len(rows) == size or held > _BATCH_BYTES:
                    yield TableRows(table, columns, tuple(rows))
                    rows.clear()
                    held = 0
                rows.append(_parse_row(line, len(columns)))
                held += len(line)
                counts[table] = counts.get(table, 0) + 1
            else:
                if rows:
                    yield TableRows(table, columns, tuple(rows))
                    rows.clear()
                held = 0
                if line.startswith(b'{"end":'):
                    self._check_end(_parse_end(line), counts)
                    return
                table, columns = _parse_table(line)
                if counts.setdefault(table, 0):
                    raise damaged_archive_error("it names a table twice")
            self._digest.update(line)

    def _check_end(self, end: ArchiveEnd, counts: Mapping[str, int]) -> None:
        if dict(end.rows) != counts or end.digest != self._digest.digest() or next(self._lines, None) is not None:
            raise damaged_archive_error()
        self._end = end


def _encode_octets(value: object) -> dict[str, str]:
    if not isinstance(value, bytes):
        raise TypeError
    return {_OCTETS: base64.b64encode(value).decode("ascii")}


_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=_encode_octets)


def _refuse_constant(_name: str) -> NoReturn:
    raise ValueError


def _parse_json(line: bytes) -> Any:
    try:
        return json.loads(line.decode("utf-8"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise damaged_archive_error("a line of it cannot be read") from None


def _parse_origin(line: bytes) -> ArchiveOrigin:
    try:
        about = _parse_json(line)["archive"]
        found = ArchiveOrigin(bytes.fromhex(about["vault"]), about["schema"], about["made_at"], about["program"])
    except (ValueError, KeyError, TypeError):
        fault = damaged_archive_error("a line of it cannot be read")
    else:
        if type(found.schema) is int and type(found.made_at_ms) is int and isinstance(found.program, str):
            return found
        fault = damaged_archive_error("a line of it cannot be read")
    raise fault


def _parse_table(line: bytes) -> tuple[str, tuple[str, ...]]:
    found = _parse_json(line)
    try:
        table, columns = found["table"], tuple(found["columns"])
        if columns and all(_NAME.fullmatch(name) for name in (table, *columns)):
            return table, columns
    except (KeyError, TypeError):
        pass
    raise damaged_archive_error("a line of it cannot be read")


def _parse_row(line: bytes, width: int) -> Row:
    found = _parse_json(line)
    if not isinstance(found, list) or not width or len(found) != width:
        raise damaged_archive_error("a line of it cannot be read")
    return tuple(value if type(value) is str or value is None else _parse_value(value) for value in found)


def _parse_value(value: object) -> object:
    if type(value) is int and value in _INTEGERS:
        return value
    if type(value) is float:
        return value
    if isinstance(value, dict) and value.keys() == {_OCTETS} and isinstance(value[_OCTETS], str):
        try:
            return base64.b64decode(value[_OCTETS], validate=True)
        except (binascii.Error, ValueError):
            pass
    raise damaged_archive_error("a line of it cannot be read")


def _parse_end(line: bytes) -> ArchiveEnd:
    found = _parse_json(line)["end"]
    try:
        rows = {str(name): int(count) for name, count in found["rows"].items()}
        return ArchiveEnd(rows, bytes.fromhex(found["sha256"]), bytes.fromhex(found["seal"]))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise damaged_archive_error("a line of it cannot be read") from None


def split_lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Lines with their ends. What is left behind the last end is no line, and an archive has nothing there."""
    held = bytearray()
    for piece in _expand(chunks):
        held += piece
        begin = 0
        while end := held.find(b"\n", begin) + 1:
            yield bytes(held[begin:end])
            begin = end
        del held[:begin]
        if len(held) > MOST_LINE:
            raise damaged_archive_error("a line of it is too long")
    if held:
        raise damaged_archive_error()


def _expand(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Decompress, some hundred KiB at a time, however much a chunk expands to."""
    unpacker = zlib.decompressobj()
    packed_bytes = expanded = 0
    for chunk in chunks:
        packed_bytes += len(chunk)
        left = chunk
        while left:
            if unpacker.eof:
                raise damaged_archive_error()
            try:
                piece = unpacker.decompress(left, _STEP)
            except zlib.error:
                raise damaged_archive_error() from None
            expanded += len(piece)
            if expanded > _FREE_BYTES + MOST_EXPANSION * packed_bytes:
                raise damaged_archive_error("it expands beyond all measure")
            yield piece
            left = unpacker.unconsumed_tail or unpacker.unused_data
    while piece := unpacker.decompress(b"", _STEP):  # what a full step held back of the last input
        yield piece
    if not unpacker.eof:
        raise damaged_archive_error()
