"""The encrypted snapshot of an index: a start need not build the graph anew.

Layout: `LOCIIDX1`, header length (u32), header (JSON: whose, as of when, how many), then frames: length (u32) and
sealed bytes. Frames hold the row labels (int64), the vectors (float16), the graph, each cut at 4 MiB, and one empty
end frame. Every frame is sealed with the SHA-256 of all that stands before it in the clear, its number and whether
it is the last: nothing can be changed, cut, reordered or taken from another snapshot. All numbers little-endian.

The header is readable without the key; it tells counts, which the file's size tells too. Must not do: hand a byte
to the graph library before every frame has opened, or write plain vectors anywhere but into memory.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import struct
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO, Protocol

import numpy as np
from numpy.typing import NDArray

from core.errors import LociError
from core.index import flat, hnsw
from core.index.base import Dump, VectorIndex
from core.index.hnsw import graph_format, memory_files_work, new_buffer
from core.security.atomic import file_write_error, replacement_of, sync_directory

MAGIC = b"LOCIIDX1"
_FRAME = 4 << 20
_SEALING = 256  # the most a sealer may add to a frame
_HEADER_MAX = 4096
_ROWS_MAX = 1 << 31
_NO_GRAPH = "none"


class Sealer(Protocol):
    """Authenticated encryption under the index sub-key, which this room never sees."""

    def seal(self, data: bytes, aad: bytes) -> bytes:
        """Encrypt; never twice under the same nonce.

        Args:
            data: at most 4 MiB.
            aad: what opening must match.

        Returns:
            The sealed bytes, at most 256 longer.
        """
        ...

    def open(self, sealed: bytes, aad: bytes) -> bytes:
        """Undo `seal`.

        Args:
            sealed: what `seal` gave.
            aad: the same.

        Returns:
            The bytes.

        Raises:
            LociError: anything at all does not fit.
        """
        ...


class SnapshotRefusal(StrEnum):
    """Why a snapshot is not used; the index is then built from the vault."""

    ABSENT = "absent"
    UNREADABLE = "unreadable"
    DAMAGED = "damaged"
    OTHER_VAULT = "other_vault"
    OTHER_MODEL = "other_model"
    OTHER_FORMAT = "other_format"
    OTHER_HISTORY = "other_history"


@dataclass(frozen=True, slots=True)
class SnapshotRefused:
    """The snapshot was not used. Not an error: nothing is lost.

    Attributes:
        reason: why.
    """

    reason: SnapshotRefusal


@dataclass(frozen=True, slots=True)
class Identity:
    """What a snapshot belongs to.

    Attributes:
        vault_id: the vault's id, hex.
        model: the embedder's version.
        dims: length of a vector.
    """

    vault_id: str
    model: str
    dims: int


@dataclass(frozen=True, slots=True)
class _Header:
    vault_id: str
    model: str
    dims: int
    revision: int
    anchor: str
    backend: str
    rows: int
    live: int
    linked: int
    graph_format: str
    graph_bytes: int
    salt: str


class _BadSnapshotError(Exception):
    """Carries the reason from the depth of the reader to its door."""

    def __init__(self, reason: SnapshotRefusal) -> None:
        super().__init__(reason.value)
        self.reason = reason


# ---- writing


def write_snapshot(path: Path, index: VectorIndex, identity: Identity, anchor: str, sealer: Sealer) -> int:
    """Replace the snapshot file, or leave the old one as it is.

    Args:
        path: the file; its directory exists.
        index: what to keep; must stand at a revision of the vault as a whole.
        identity: what it belongs to.
        anchor: anything that names the vault's history at the index's revision (the audit chain's hash there), so
            that a vault that was restored and went another way is told apart; may be empty.
        sealer: encrypts.

    Returns:
        The file's size in bytes.

    Raises:
        EnvironmentFaultError: E1003, E1005 or E1013 if it could not be written, E5001 if memory did not suffice.
    """
    dump = index.dump()
    failed: OSError | None = None
    try:
        return _replace_snapshot(path, _file_parts(dump, identity, anchor, sealer))
    except OSError as error:
        failed = error
    finally:
        if dump.graph is not None:
            dump.graph.close()
    raise file_write_error(failed) from None


def _file_parts(dump: Dump, identity: Identity, anchor: str, sealer: Sealer) -> Iterator[bytes]:
    header = _Header(
        **asdict(identity),
        revision=dump.revision,
        anchor=anchor,
        backend=dump.backend,
        rows=dump.row_labels.size,
        live=int((dump.row_labels >= 0).sum()),
        linked=dump.linked,
        graph_format=_NO_GRAPH if dump.graph is None else graph_format(memory_file=memory_files_work()),
        graph_bytes=dump.graph_size,
        salt=os.urandom(16).hex(),
    )
    raw = json.dumps(asdict(header), sort_keys=True).encode()
    start = MAGIC + struct.pack("<I", len(raw)) + raw
    yield start
    binding = hashlib.sha256(start).digest()
    number = 0
    for piece in _snapshot_pieces(dump):
        yield _frame_bytes(sealer.seal(piece, _frame_aad(binding, number, end=False)))
        number += 1
    yield _frame_bytes(sealer.seal(b"", _frame_aad(binding, number, end=True)))


def _snapshot_pieces(dump: Dump) -> Iterator[bytes]:
    labels = dump.row_labels.astype("<i8", copy=False)
    for low in range(0, labels.size, _FRAME // 8):
        yield labels[low : low + _FRAME // 8].tobytes()
    rows = max(1, _FRAME // (dump.dims * 2))
    for low in range(0, labels.size, rows):
        yield dump.vectors[low : low + rows].astype("<f2", copy=False).tobytes()
    if dump.graph is not None:
        while piece := dump.graph.read(_FRAME):
            yield piece


def _frame_aad(binding: bytes, number: int, *, end: bool) -> bytes:
    return binding + struct.pack("<Q?", number, end)


def _frame_bytes(sealed: bytes) -> bytes:
    return struct.pack("<I", len(sealed)) + sealed


def _replace_snapshot(path: Path, parts: Iterator[bytes]) -> int:
    with replacement_of(path, 0o600) as file:
        size = sum(file.write(part) for part in parts)
    sync_directory(path.parent)
    return size


# ---- reading


def read_snapshot(
    path: Path,
    identity: Identity,
    sealer: Sealer,
    *,
    newest: int,
    anchor_at: Callable[[int], str | None] | None = None,
) -> VectorIndex | SnapshotRefused:
    """Read a snapshot back, if it is whole and belongs here.

    An older revision is fine: what changed since is brought in by warming.

    Args:
        identity: what it must belong to.
        sealer: decrypts.
        newest: the vault's revision; a snapshot beyond it belongs to a lost future.
        anchor_at: the vault's own anchor at a revision, None where it has none; compared where given.

    Returns:
        The index, or why there is none.
    """
    try:
        with _open_regular(path) as file:
            try:
                return _read_index(file, identity, sealer, newest, anchor_at)
            except OSError:
                return SnapshotRefused(SnapshotRefusal.UNREADABLE)
    except FileNotFoundError:
        return SnapshotRefused(SnapshotRefusal.ABSENT)
    except OSError:
        return SnapshotRefused(SnapshotRefusal.UNREADABLE)
    except _BadSnapshotError as error:
        return SnapshotRefused(error.reason)


def _open_regular(path: Path) -> BinaryIO:
    # A FIFO would block for ever and a link could lead anywhere.
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise _BadSnapshotError(SnapshotRefusal.UNREADABLE)
    return os.fdopen(descriptor, "rb")


def _read_index(
    file: BinaryIO, identity: Identity, sealer: Sealer, newest: int, anchor_at: Callable[[int], str | None] | None
) -> VectorIndex:
    size = os.fstat(file.fileno()).st_size
    header, binding = _read_header(file)
    _check_header(header, identity, newest, anchor_at)
    if _payload_bytes(header) > size:
        raise _BadSnapshotError(SnapshotRefusal.DAMAGED)
    row_labels = np.empty(header.rows, "<i8")
    vectors = np.empty((header.rows, header.dims), "<f2")
    memory_file = memory_files_work()
    buffer = new_buffer(memory_file=memory_file) if header.graph_format != _NO_GRAPH else None
    try:
        pieces = _opened_frames(file, size, binding, sealer)
        _fill_index_parts(pieces, row_labels, vectors, buffer, header.graph_bytes)
        if int((row_labels >= 0).sum()) != header.live:
            raise _BadSnapshotError(SnapshotRefusal.DAMAGED)
        labels, rows = row_labels.astype(np.int64, copy=False), vectors.astype(np.float16, copy=False)
        dump = Dump(
            header.backend, header.dims, header.revision, labels, rows, header.linked, buffer, header.graph_bytes
        )
        return flat.restore_flat(dump) if buffer is None else hnsw.restore_hnsw(dump, memory_file=memory_file)
    except (LociError, RuntimeError) as error:
        # RuntimeError: hnswlib refused bytes this vault did seal, so another build of it wrote them.
        raise _BadSnapshotError(SnapshotRefusal.DAMAGED) from error
    finally:
        if buffer is not None:
            buffer.close()


def _read_header(file: BinaryIO) -> tuple[_Header, bytes]:
    start = file.read(len(MAGIC) + 4)
    if len(start) < len(MAGIC) + 4 or start[: len(MAGIC)] != MAGIC:
        raise _BadSnapshotError(SnapshotRefusal.DAMAGED)
    (length,) = struct.unpack("<I", start[len(MAGIC) :])
    raw = file.read(length) if length <= _HEADER_MAX else b""
    try:
        fields = json.loads(raw)
        header = _Header(**fields)
    except (ValueError, TypeError, RecursionError) as error:
        raise _BadSnapshotError(SnapshotRefusal.DAMAGED) from error
    numbers = (header.dims, header.revision, header.rows, header.live, header.linked, header.graph_bytes)
    texts = (header.vault_id, header.model, header.anchor, header.backend, header.graph_format, header.salt)
    if not all(type(n) is int and n >= 0 for n in numbers) or not all(type(t) is str for t in texts):
        raise _BadSnapshotError(SnapshotRefusal.DAMAGED)
    return header, hashlib.sha256(start + raw).digest()


def _check_header(
    header: _Header, identity: Identity, newest: int, anchor_at: Callable[[int], str | None] | None
) -> None:
    """Nothing here is trusted yet: it only ever leads to a refusal."""
    if header.vault_id != identity.vault_id:
        raise _BadSnapshotError(SnapshotRefusal.OTHER_VAULT)
    if (header.model, header.dims) != (identity.model, identity.dims):
        raise _BadSnapshotError(SnapshotRefusal.OTHER_MODEL)
    expected = {flat.BACKEND: _NO_GRAPH, hnsw.BACKEND: graph_format(memory_file=memory_files_work())}
    if expected.get(header.backend) != header.graph_format:
        raise _BadSnapshotError(SnapshotRefusal.OTHER_FORMAT)
    if header.revision > newest or (anchor_at is not None and anchor_at(header.revision) != header.anchor):
        raise _BadSnapshotError(SnapshotRefusal.OTHER_HISTORY)
    if header.rows > _ROWS_MAX or header.linked > header.rows:
        raise _BadSnapshotError(SnapshotRefusal.DAMAGED)


def _payload_bytes(header: _Header) -> int:
    return header.rows * (8 + 2 * header.dims) + header.graph_bytes


def _opened_frames(file: BinaryIO, size: int, binding: bytes, sealer: Sealer) -> Iterator[bytes]:
    """The pieces in order; returns only after the end frame, which must be the file's last."""
    number = 0
    while True:
        head = file.read(4)
        length = struct.unpack("<I", head)[0] if len(head) == 4 else 0
        sealed = file.read(length) if 0 < length <= _FRAME + _SEALING else b""
        if not sealed or len(sealed) != length:
            raise _BadSnapshotError(SnapshotRefusal.DAMAGED)
        # Where the file ends is part of what is authenticated: a cut at a frame's border does not open.
        end = file.tell() == size
        piece = sealer.open(sealed, _frame_aad(binding, number, end=end))
        if end:
            return
        yield piece
        number += 1


def _fill_index_parts(
    pieces: Iterator[bytes],
    row_labels: NDArray[np.int64],
    vectors: NDArray[np.float16],
    graph: BinaryIO | None,
    graph_bytes: int,
) -> None:
    """Lay the pieces into their places; anything missing or left over is damage."""
    _fill_array(pieces, row_labels.view(np.uint8))
    _fill_array(pieces, vectors.reshape(-1).view(np.uint8))
    rest = 0
    for piece in pieces:
        rest += len(piece)
        if graph is None or graph.write(piece) != len(piece):
            raise _BadSnapshotError(SnapshotRefusal.DAMAGED)
    if rest != graph_bytes:
        raise _BadSnapshotError(SnapshotRefusal.DAMAGED)


def _fill_array(pieces: Iterator[bytes], target: NDArray[np.uint8]) -> None:
    at = 0
    while at < target.size:
        piece = np.frombuffer(next(pieces, b""), np.uint8)
        if piece.size == 0 or at + piece.size > target.size:
            raise _BadSnapshotError(SnapshotRefusal.DAMAGED)
        target[at : at + piece.size] = piece
        at += piece.size
