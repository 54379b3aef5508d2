"""The audit of the write-ahead log, before the first connection of a process opens it.

SQLite reads the log up to the first frame whose checksum fails and forgets the rest
without a word: one flipped bit silently drops every later commit. This walks the frames,
checks the same checksums, and counts the commits that SQLite is about to forget.

It also knows a second danger. After a checkpoint the whole log is in the database already,
but stays until the next write; if a kill and a flipped bit meet there, SQLite would lay old
pages over newer ones. The log's index (`-shm`) tells how far the checkpoint came; where it
covers everything readable, the log is put aside instead.

Must not do: run while a connection of this process is open, change a log in place.
"""

from __future__ import annotations

import shutil
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

_HEADER = 32
_FRAME = 24
_MAGICS = {0x377F0682: "<u4", 0x377F0683: ">u4"}
_FORMAT = 3_007_000
_CHUNK_FRAMES = 128
_INDEX_BYTES = 136
_KEPT_BYTES = 64 * 1024 * 1024

_Words = NDArray[np.uint32]


@dataclass(frozen=True)
class WalScan:
    """What the log holds.

    Attributes:
        size: bytes; 0 for none.
        readable: the last commit frame SQLite will reach, counted from 1; 0 for none.
        lost: commits in frames that will not be read and did not reach the database either.
        is_damaged: whether frames of this log's generation fail their checksum, or its header does.
        is_header_damaged: it is the header.
        is_settled: damaged, but the database already holds everything that is readable: put it aside.
    """

    size: int
    readable: int
    lost: int
    is_damaged: bool = False
    is_header_damaged: bool = False
    is_settled: bool = False


NO_LOG = WalScan(size=0, readable=0, lost=0)


@dataclass(frozen=True)
class _Header:
    page: int
    salt: bytes
    order: str
    state: tuple[int, int]


def scan_log(wal: Path, shm: Path, page_size: int) -> WalScan:
    """Walk a log.

    Args:
        wal: `vault.db-wal`.
        shm: `vault.db-shm`.
        page_size: what the vault's pages have, in bytes; stands in where the header is unreadable.

    Returns:
        What will be read and what will not.

    Raises:
        OSError: the log exists and cannot be read.
    """
    try:
        file = wal.open("rb")
    except FileNotFoundError:
        return NO_LOG
    with file:
        size = file.seek(0, 2)
        if size < _HEADER + _FRAME + page_size:
            return WalScan(size=size, readable=0, lost=0)
        file.seek(0)
        return _walk_frames(file, size, shm, page_size)


def set_log_aside(wal: Path, shm: Path, keep_as: Path, result: WalScan) -> None:
    """Deal with a damaged log before SQLite sees it: keep its bytes, and remove it where it is settled.

    Args:
        wal: `vault.db-wal`.
        shm: `vault.db-shm`.
        keep_as: where its bytes go; they are as encrypted as the vault. An older one is replaced.
        result: of `scan_log`.

    Raises:
        OSError: the disk refused; then nothing was removed.
    """
    if not result.is_damaged:
        return
    if result.is_settled:
        wal.replace(keep_as)
        shm.unlink(missing_ok=True)
    elif result.size <= _KEPT_BYTES:
        shutil.copyfile(wal, keep_as)
        keep_as.chmod(0o600)


def _walk_frames(file: BinaryIO, size: int, shm: Path, page_size: int) -> WalScan:
    header = _parse_header(file.read(_HEADER), page_size)
    page = page_size if header is None else header.page
    if header is None:
        file.seek(_HEADER + 8)
        salt = file.read(8)
    else:
        salt = header.salt
    file.seek(_HEADER)
    valid, readable, commits = _count_frames(file, header, salt, page)
    covered, is_whole = _read_checkpoint(shm, salt)
    is_damaged = header is None or any(nr > valid for nr in commits)
    is_settled = is_damaged and is_whole and covered >= valid and covered > 0
    reached = max(readable, covered) if is_settled or header is None else readable
    return WalScan(
        size=size,
        readable=readable,
        lost=sum(1 for nr in commits if nr > reached),
        is_damaged=is_damaged,
        is_header_damaged=header is None,
        is_settled=is_settled,
    )


def _parse_header(raw: bytes, page_size: int) -> _Header | None:
    """The log's header; None where its own checksum fails."""
    magic, version, page = struct.unpack(">III", raw[:12])
    order = _MAGICS.get(magic)
    if order is None or version != _FORMAT or page != page_size:
        return None
    words = np.frombuffer(raw[:24], dtype=order).astype(np.uint32)
    state = _advance_checksum((0, 0), _fibonacci_numbers(3), _frame_sums(words[None, :], _fibonacci_numbers(3)), 0)
    if state != struct.unpack(">II", raw[24:32]):
        return None
    return _Header(page, raw[16:24], order, state)


def _count_frames(file: BinaryIO, header: _Header | None, salt: bytes, page: int) -> tuple[int, int, list[int]]:
    """How many frames hold, the last commit among them, and the commit frames of this generation."""
    step = _FRAME + page
    powers = _fibonacci_numbers((8 + page) // 8)
    state = (0, 0) if header is None else header.state
    is_whole = header is not None
    valid = readable = nr = 0
    commits: list[int] = []
    while block := file.read(step * _CHUNK_FRAMES):
        frames = np.frombuffer(block[: len(block) // step * step], dtype=np.uint8).reshape(-1, step)
        words = _read_frame_words(frames, "<u4" if header is None else header.order)
        sums = _frame_sums(words, powers)
        for row, frame in enumerate(frames):
            nr += 1
            frame_header = frame[:_FRAME].tobytes()
            if frame_header[8:16] != salt:
                is_whole = False
                continue
            is_commit = frame_header[4:8] != b"\0\0\0\0"
            if is_commit:
                commits.append(nr)
            state = _advance_checksum(state, powers, sums, row)
            is_whole = (
                is_whole and frame_header[:4] != b"\0\0\0\0" and state == struct.unpack(">II", frame_header[16:24])
            )
            if is_whole:
                valid = nr
                readable = nr if is_commit else readable
    return valid, readable, commits


def _read_frame_words(frames: NDArray[np.uint8], order: str) -> _Words:
    """The words that the checksum covers: 8 bytes of each frame's head, then its page."""
    covered = np.concatenate((frames[:, :8], frames[:, _FRAME:]), axis=1)
    return np.ascontiguousarray(covered).view(order).astype(np.uint32)


# SQLite's checksum is `s1 += x0 + s2; s2 += x1 + s1` over pairs of words: a linear map. Its n-th power
# holds Fibonacci numbers, so a frame's share is a few dot products instead of 2,000 steps in Python.


def _fibonacci_numbers(pairs: int) -> tuple[_Words, _Words, _Words]:
    """F(2k-1), F(2k), F(2k+1) modulo 2^32 for k = 0 .. pairs."""
    columns: list[list[int]] = [[], [], []]
    before, here = 1, 0
    for _ in range(pairs + 1):
        after = (before + here) & 0xFFFFFFFF
        for column, value in zip(columns, (before, here, after), strict=True):
            column.append(value)
        before, here = after, (after + here) & 0xFFFFFFFF
    first, second, third = (np.array(column, dtype=np.uint32) for column in columns)
    return first, second, third


def _frame_sums(words: _Words, powers: tuple[_Words, _Words, _Words]) -> NDArray[np.uint32]:
    """Each frame's share of the checksum, whatever came before it."""
    pairs = words.shape[1] // 2
    even = words[:, 0::2]
    both = even + words[:, 1::2]
    low, middle, high = (power[pairs - 1 :: -1] for power in powers)
    first = (even * low + both * middle).sum(axis=1, dtype=np.uint32)
    second = (even * middle + both * high).sum(axis=1, dtype=np.uint32)
    return np.stack((first, second), axis=1)


def _advance_checksum(
    state: tuple[int, int], powers: tuple[_Words, _Words, _Words], sums: NDArray[np.uint32], row: int
) -> tuple[int, int]:
    low, middle, high = (int(power[-1]) for power in powers)
    first = low * state[0] + middle * state[1] + int(sums[row, 0])
    second = middle * state[0] + high * state[1] + int(sums[row, 1])
    return first & 0xFFFFFFFF, second & 0xFFFFFFFF


def _read_checkpoint(shm: Path, salt: bytes) -> tuple[int, bool]:
    """Up to which frame the database has the log's pages, and whether no checkpoint was under way."""
    try:
        with shm.open("rb") as file:
            raw = file.read(_INDEX_BYTES)
    except OSError:
        return 0, False
    if len(raw) < _INDEX_BYTES or raw[:48] != raw[48:96] or raw[12] != 1 or raw[32:40] != salt:
        return 0, False
    (done,) = struct.unpack("=I", raw[96:100])
    (attempted,) = struct.unpack("=I", raw[128:132])
    return done, done == attempted
