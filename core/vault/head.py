"""`vault.head`: the sequence last seen, signed, beside the vault.

A vault whose own sequence is lower is an older copy, or lost its last changes. The file lies
beside the vault, so it tells accidents and sync tools, not a determined attacker. Must not
do: stop a vault from opening.
"""

from __future__ import annotations

import json
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from core.security.atomic import write_atomic
from core.security.seal import keyed_digest, same_bytes

_LABEL = b"loci-head-v1"
_VERSION = 1
_MAX_BYTES = 4096
_LARGEST = 2**63


@dataclass(frozen=True)
class Head:
    """What was last seen.

    Attributes:
        seq: the vault's sequence.
        time_ms: when that was, epoch ms UTC.
    """

    seq: int
    time_ms: int


@dataclass(frozen=True)
class FoundHead:
    """A head as it was found.

    Attributes:
        state: `ok`, `missing` or `damaged`.
        head: only where it is ok.
    """

    state: str
    head: Head | None = None


def write_head(path: Path, key: bytes, vault_id: bytes, head: Head) -> None:
    """Replace the head, whole or not at all.

    Args:
        path: `vault.head`.
        key: the head's sub-key.
        vault_id: 16 bytes; a head of another vault does not count.
        head: what to keep.

    Raises:
        EnvironmentFaultError: DISK_FULL, READ_ONLY or WRITE_FAILED.
    """
    body = {"v": _VERSION, "seq": head.seq, "time": head.time_ms, "mac": _mac(key, vault_id, head).hex()}
    write_atomic(path, json.dumps(body, separators=(",", ":")).encode("ascii"))


def read_head(path: Path, key: bytes, vault_id: bytes) -> FoundHead:
    """Read the head; whatever is wrong with it is told, never raised.

    Args:
        path: `vault.head`.
        key: the head's sub-key.
        vault_id: 16 bytes.

    Returns:
        What was found.
    """
    if not os.path.lexists(path):
        return FoundHead("missing")
    raw = _read(path)
    head, mac = _parse(raw) if raw is not None else (None, b"")
    if head is None or not same_bytes(mac, _mac(key, vault_id, head)):
        return FoundHead("damaged")
    return FoundHead("ok", head)


def _mac(key: bytes, vault_id: bytes, head: Head) -> bytes:
    return keyed_digest(key, _LABEL, vault_id, str(head.seq).encode("ascii"), str(head.time_ms).encode("ascii"))


def _read(path: Path) -> bytes | None:
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(path, flags)
    except OSError:
        return None
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_size > _MAX_BYTES:
            return None
        return os.read(descriptor, _MAX_BYTES)
    except OSError:
        return None
    finally:
        os.close(descriptor)


def _parse(raw: bytes) -> tuple[Head | None, bytes]:
    try:
        found = json.loads(raw.decode("ascii"))
        mac = bytes.fromhex(found["mac"])
        version, seq, time_ms = found["v"], found["seq"], found["time"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None, b""
    if version != _VERSION or type(seq) is not int or type(time_ms) is not int:
        return None, b""
    if not 0 <= seq < _LARGEST or abs(time_ms) >= _LARGEST:
        return None, b""
    return Head(seq, time_ms), mac
