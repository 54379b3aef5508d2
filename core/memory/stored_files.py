"""The content of attached files, each once: encrypted in chunks under a key of its own, in the vault itself.

What holds a content is a row of `files`, a sealed memory, or the undo image of such a row; what nothing holds any more
is removed. Why in the vault and not beside it: one transaction stores a file with its memory, and backups, restoring,
new keys, and erasing in backups reach it as they reach a text. Must not do: look into a content, or keep one in an undo
image.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, field

from core.archive.chunks import CHUNK, ChunkSealer, open_chunks
from core.errors import Code, IntegrityError, UserError
from core.security.keys import KEY_BYTES, TAG_BYTES
from core.vault.database.rows import Rows, to_json
from core.vault.database.tx import Tx

_LABEL = b"loci-file-v1:"
_INSERT = "INSERT INTO stored_chunks (file_id, nr, body) VALUES (?, ?, ?)"
_AT_ONCE = 64
_HELD_IN_STEPS = "SELECT json_extract(before, '$.stored_id') FROM undo_rows WHERE tbl = 'files' AND before IS NOT NULL"
_UNHELD = (
    "SELECT id FROM stored_files s WHERE NOT EXISTS (SELECT 1 FROM files f WHERE f.stored_id = s.id) "  # noqa: S608 - constants
    f"AND id NOT IN ({_HELD_IN_STEPS}) "
    # Of an archive that is coming in the contents come before what holds them.
    "AND NOT EXISTS (SELECT 1 FROM imports i WHERE i.state = 'running' AND i.format = 'archive' "
    "AND i.started_at <= s.stored_at)"
)
_WITHOUT_KEY = (
    "SELECT DISTINCT file_id FROM stored_chunks WHERE file_id NOT IN (SELECT id FROM stored_files) "
    "AND file_id NOT IN (SELECT file_id FROM sealed_files)"
)
_OF = "IN (SELECT value FROM json_each(?))"


@dataclass(frozen=True, slots=True)
class StoredContent:
    """The content of a file as its row tells it.

    Attributes:
        digest: SHA-256 of the bytes.
        key: opens its chunks.
    """

    id: str
    digest: bytes
    size: int
    key: bytes


@dataclass(frozen=True, slots=True)
class SealedContent(StoredContent):
    """The content of a file that is not stored yet, with its chunks as they will be.

    Attributes:
        data: the whole file.
        chunks: encrypted, in order.
    """

    data: bytes = field(repr=False)
    chunks: tuple[bytes, ...] = field(repr=False)


def seal_content(new_id: str, data: bytes, key: bytes | None = None) -> SealedContent:
    """Encrypt the bytes of a file before the transaction that stores them, which would hold up others by it.

    Args:
        new_id: the id it gets where it is new.
        data: the whole file, not empty.
        key: one that encrypted the same bytes before; None for a new one.
    """
    key, chunks = key or os.urandom(KEY_BYTES), _ChunkList()
    sealer = ChunkSealer(chunks, key, _bind(new_id))
    for at in range(0, len(data), CHUNK * _AT_ONCE):
        sealer.write(data[at : at + CHUNK * _AT_ONCE])
    sealer.finish()
    return SealedContent(new_id, hashlib.sha256(data).digest(), len(data), key, data, tuple(chunks.sealed))


def find_content(rows: Rows, digest: bytes) -> str | None:
    """The id of a content that is stored in the clear of the vault's own key.

    Args:
        digest: from `digest_of`.
    """
    found = rows.value("SELECT id FROM stored_files WHERE digest = ?", (digest,))
    return None if found is None else str(found)


def store_content(tx: Tx, content: SealedContent, thumbnail: bytes | None) -> str:
    """Store the bytes of a file; those that are stored already are not stored again.

    Args:
        content: from `seal_content`.
        thumbnail: a small picture of it, PNG.

    Returns:
        The content's id.
    """
    known = find_content(tx, content.digest)
    if known is None:
        tx.run(
            "INSERT INTO stored_files (id, digest, size, key, thumbnail, stored_at) VALUES (?, ?, ?, ?, ?, ?)",
            (content.id, content.digest, content.size, content.key, thumbnail, tx.now_ms),
        )
        _write_chunks(tx, content)
        return content.id
    stored = require_content(tx, known)
    if not is_whole(tx, stored):
        # Trigger: what is stored was damaged, or an archive of somebody else told a digest that is not its content's.
        # Why: the person's file would be that. Outcome: it is stored anew, under another key; under the same one where
        # a sealed memory has that: it is of this vault then, and encrypted the same bytes.
        is_sealed = tx.one("SELECT 1 FROM sealed_files WHERE file_id = ?", (known,)) is not None
        # Chunks are bound to the id under which they lie.
        again = seal_content(known, content.data, stored.key if is_sealed else None)
        tx.run("DELETE FROM stored_chunks WHERE file_id = ?", (known,))
        tx.run(
            "UPDATE stored_files SET size = ?, key = ?, thumbnail = ? WHERE id = ?",
            (again.size, again.key, thumbnail, known),
        )
        _write_chunks(tx, again)
    return known


def _write_chunks(tx: Tx, content: SealedContent) -> None:
    for at in range(0, len(content.chunks), _AT_ONCE):
        several = content.chunks[at : at + _AT_ONCE]
        tx.run_many(_INSERT, [(content.id, number, sealed) for number, sealed in enumerate(several, at)])


def is_whole(rows: Rows, content: StoredContent) -> bool:
    """Whether what is stored of a file opens and is what it says."""
    try:
        for _ in read_content(rows, content):
            pass
    except IntegrityError:
        return False
    return True


def read_content(rows: Rows, content: StoredContent) -> Iterator[bytes]:
    """The bytes of a file, piece by piece; that they are whole is known after the last one.

    Raises:
        IntegrityError: ENCRYPTION_FAILED; what is stored was cut or changed.
    """
    digest, size = hashlib.sha256(), 0
    for piece in open_chunks(_ChunkReader(rows, content.id), content.key, _bind(content.id), damaged_content_error):
        digest.update(piece)
        size += len(piece)
        yield piece
    if size != content.size or digest.digest() != content.digest:
        raise damaged_content_error()


def require_content(rows: Rows, stored_id: str) -> StoredContent:
    """The row of a content.

    Raises:
        UserError: NOT_FOUND.
    """
    found = rows.one("SELECT id, digest, size, key FROM stored_files WHERE id = ?", (stored_id,))
    if found is None:
        raise UserError(Code.NOT_FOUND, "There is no such file.")
    return StoredContent(str(found[0]), bytes(found[1]), int(found[2]), bytes(found[3]))


def list_contents(rows: Rows) -> list[StoredContent]:
    """Every content whose key is in the vault."""
    found = rows.all("SELECT id, digest, size, key FROM stored_files ORDER BY rowid")
    return [StoredContent(str(one), bytes(digest), int(size), bytes(key)) for one, digest, size, key in found]


def is_whole_or_gone(rows: Rows, content: StoredContent) -> bool:
    """As `is_whole`; one that went since it was listed is no damage."""
    return rows.one("SELECT 1 FROM stored_files WHERE id = ?", (content.id,)) is None or is_whole(rows, content)


def list_keyless(rows: Rows) -> list[str]:
    """Contents whose key is in no row and no sealed memory; a whole vault has none."""
    return [str(row[0]) for row in rows.all(_WITHOUT_KEY)]


def list_incomplete(rows: Rows) -> list[str]:
    """Contents that something holds and that lack chunks: kept by a row, or by a sealed memory."""
    held = "SELECT id AS one FROM stored_files UNION SELECT file_id FROM sealed_files"
    lacking = f"SELECT one FROM ({held}) WHERE NOT EXISTS (SELECT 1 FROM stored_chunks c WHERE c.file_id = one)"  # noqa: S608 - constants
    return [str(row[0]) for row in rows.all(lacking)]


def remove_unheld(tx: Tx) -> tuple[str, ...]:
    """Remove what nothing holds any more; by this a file leaves with the last memory and the last undo step of it.

    Returns:
        The contents that went, or of which the key went.
    """
    unheld = [str(row[0]) for row in tx.all(_UNHELD)]
    if unheld:
        tx.run(f"DELETE FROM stored_files WHERE id {_OF}", (to_json(unheld),))  # noqa: S608 - constant
    gone = [str(row[0]) for row in tx.all(_WITHOUT_KEY)]
    if gone:
        tx.run(f"DELETE FROM stored_chunks WHERE file_id {_OF}", (to_json(gone),))  # noqa: S608 - constant
    return tuple(dict.fromkeys([*unheld, *gone]))


def damaged_content_error() -> IntegrityError:
    """What is stored of a file does not open, or is not what was stored."""
    return IntegrityError(
        Code.ENCRYPTION_FAILED,
        "What is stored of this file is damaged; `loci verify` says more, and a backup may have it.",
    )


def _bind(stored_id: str) -> bytes:
    return _LABEL + stored_id.encode("ascii")


class _ChunkList:
    """Takes sealed chunks as a file would."""

    def __init__(self) -> None:
        self.sealed: list[bytes] = []

    def write(self, sealed: bytes, /) -> int:
        """One chunk."""
        self.sealed.append(sealed)
        return len(sealed)


class _ChunkReader:
    """Gives sealed chunks as a file would, one row a read."""

    def __init__(self, rows: Rows, stored_id: str) -> None:
        self._rows, self._id = rows, stored_id
        self._number = 0

    def read(self, size: int, /) -> bytes:
        """The next chunk; empty at the end. One that is larger than any that was written does not open."""
        found = self._rows.value(
            "SELECT body FROM stored_chunks WHERE file_id = ? AND nr = ?", (self._id, self._number)
        )
        self._number += 1
        body = b"" if found is None else bytes(found)
        return body if len(body) <= CHUNK + TAG_BYTES and len(body) <= size else b"\0"
