"""Archives in memory, for the tests of their format: cheap keys, a few rows."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import BinaryIO

from core.archive.container import (
    ArchiveHeader,
    ArchiveKeys,
    ChunkWriter,
    derive_archive_keys,
    make_header,
    read_chunks,
)
from core.archive.records import ArchiveOrigin, RecordReader, RecordWriter, Row
from core.security.passphrase import KdfCost

PASSPHRASE = "twelve o'clock in the kitchen"
ORIGIN = ArchiveOrigin(bytes(range(16)), 7, 1_700_000_000_000, "loci test")
Tables = Mapping[str, tuple[Sequence[str], Sequence[Row]]]


@lru_cache(maxsize=1)
def cheap_keys() -> tuple[ArchiveHeader, ArchiveKeys]:
    """One header with the least cost, and its keys."""
    header = make_header(KdfCost.lowest())
    return header, derive_archive_keys(header, PASSPHRASE)


def seal_of(digest: bytes) -> bytes:
    """The stand-in for a vault's seal."""
    return digest[::-1]


def write_archive_of(tables: Tables, file: BinaryIO | None = None) -> bytes:
    """An archive with these tables; also written into a file, if one is given."""
    header, keys = cheap_keys()
    target = io.BytesIO() if file is None else file
    writer = RecordWriter(ChunkWriter(target, header, keys), ORIGIN)
    for table, (columns, rows) in tables.items():
        writer.write_table(table, columns, (rows[at : at + 3] for at in range(0, len(rows), 3)))
    writer.finish(seal_of)
    return target.getvalue() if isinstance(target, io.BytesIO) else b""


def body_start() -> int:
    """Where the first chunk begins."""
    return len(cheap_keys()[0].octets) + 4 + 32


def read_archive_of(data: bytes) -> dict[str, list[Row]]:
    """The rows of an archive by table; the header is taken for read."""
    header, keys = cheap_keys()
    file = io.BytesIO(data)
    file.seek(body_start())
    reader = RecordReader(read_chunks(file, header, keys))
    found: dict[str, list[Row]] = {}
    for batch in reader.read_batches(2):
        found.setdefault(batch.table, []).extend(batch.rows)
    assert reader.end.seal == seal_of(reader.end.digest)
    return found


def write_content(content: bytes) -> bytes:
    """An archive of arbitrary compressed content, as nobody but an attacker with the passphrase would make it."""
    header, keys = cheap_keys()
    file = io.BytesIO()
    writer = ChunkWriter(file, header, keys)
    writer.write(content)
    writer.finish()
    return file.getvalue()
