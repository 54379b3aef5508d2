"""`vault.head`: the sequence last seen and the clients that stood then, signed, beside the vault.

A vault whose own sequence is lower is an older copy, or lost its last changes; which of its clients may
still come in is told by the head, since the copy knows nothing of what was revoked later. The file lies
beside the vault, so it tells accidents and sync tools, not somebody who puts both back; the keyring's
counter does. Must not do: stop a vault from opening.
"""

from __future__ import annotations

import json
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from core.security.atomic import write_atomic
from core.security.keys import keyed_digest, same_bytes

if TYPE_CHECKING:  # the sequence last seen is read before a vault is opened, without its database's library
    from core.vault.database.rows import Rows
    from core.vault.database.tx import Tx

_LABEL = b"loci-head-v1"
_CLIENT_LABEL = b"loci-head-client-v1"
_COUNTER_LABEL = b"loci-head-counter-v1"
_VERSION = 2
_FIRST_VERSION = 1  # told nothing of clients
_MAX_BYTES = 256 * 1024
_LARGEST = 2**63
_MARK_BYTES = 16

_ADMITTED_CLIENTS = (
    "SELECT c.id, hex(c.token), c.trust_ceiling, c.limit_minute, c.limit_session, c.paused_at IS NOT NULL, "
    "(SELECT json_group_array(one) FROM (SELECT g.name || '/' || coalesce(g.space_id, '') AS one FROM grants g "
    "WHERE g.client_id = c.id ORDER BY 1)) FROM clients c WHERE c.revoked_at IS NULL ORDER BY c.id"
)


@dataclass(frozen=True)
class Head:
    """What was last seen.

    Attributes:
        seq: the vault's sequence.
        time_ms: when that was, epoch ms UTC.
        clients: marks of the clients that stood, with their tokens and terms (`client_head_marks`).
    """

    seq: int
    time_ms: int
    clients: frozenset[str] = frozenset()


@dataclass(frozen=True)
class HeadReading:
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
    body = {
        "v": _VERSION,
        "seq": head.seq,
        "time": head.time_ms,
        "clients": sorted(head.clients),
        "mac": _make_mac(key, vault_id, head, _VERSION).hex(),
    }
    write_atomic(path, json.dumps(body, separators=(",", ":")).encode("ascii"))


def read_head(path: Path, key: bytes, vault_id: bytes) -> HeadReading:
    """Read the head; whatever is wrong with it is told, never raised.

    Args:
        path: `vault.head`.
        key: the head's sub-key.
        vault_id: 16 bytes.
    """
    if not os.path.lexists(path):
        return HeadReading("missing")
    raw = _read_file(path)
    head, mac, version = _parse_head(raw) if raw is not None else (None, b"", 0)
    if head is None or not same_bytes(mac, _make_mac(key, vault_id, head, version)):
        return HeadReading("damaged")
    return HeadReading("ok", head)


def client_head_marks(rows: Rows, key: bytes, vault_id: bytes) -> dict[str, str]:
    """What tells whether a client still has the token and the terms it had.

    Args:
        rows: the vault, or a transaction.
        key: the head's sub-key.
        vault_id: 16 bytes.

    Returns:
        Client id to mark, for every client that is not revoked.
    """
    found = {}
    for row in rows.all(_ADMITTED_CLIENTS):
        terms = json.dumps(row, separators=(",", ":")).encode("utf-8")
        found[str(row[0])] = keyed_digest(key, _CLIENT_LABEL, vault_id, terms)[:_MARK_BYTES].hex()
    return found


def retire_clients(tx: Tx, key: bytes, vault_id: bytes, admitted_marks: frozenset[str]) -> int:
    """Revoke the clients whose token or terms are not among those that stood; undo brings none of them back.

    Args:
        tx: the transaction in which an earlier state of the vault becomes the present one.
        key: the head's sub-key.
        vault_id: 16 bytes.
        admitted_marks: marks of the clients that stood last (`client_head_marks`).
    """
    retired = [client for client, mark in client_head_marks(tx, key, vault_id).items() if mark not in admitted_marks]
    for client in retired:
        tx.run("UPDATE clients SET revoked_at = ?, token = randomblob(32) WHERE id = ?", (tx.now_ms, client))
    return len(retired)


def seal_counter(key: bytes, vault_id: bytes, seq: int) -> str:
    """A sequence as it stands in the keyring, so that nobody without the vault's keys can set another.

    Args:
        key: the head's sub-key.
        vault_id: 16 bytes.
        seq: the vault's sequence.

    Returns:
        The sequence with its MAC, in ASCII.
    """
    digits = str(seq)
    return f"{digits}:{keyed_digest(key, _COUNTER_LABEL, vault_id, digits.encode('ascii')).hex()}"


def open_counter(key: bytes, vault_id: bytes, sealed: str) -> int | None:
    """The sequence that `seal_counter` sealed; None for anything else."""
    digits, _, _ = sealed.partition(":")
    if not (digits.isascii() and digits.isdigit()) or len(digits) > len(str(_LARGEST)):
        return None
    seq = int(digits)
    right = seal_counter(key, vault_id, seq).encode("ascii")
    return seq if seq < _LARGEST and same_bytes(sealed.encode("utf-8", "replace"), right) else None


def _make_mac(key: bytes, vault_id: bytes, head: Head, version: int) -> bytes:
    parts = [str(head.seq), str(head.time_ms)]
    if version != _FIRST_VERSION:
        parts += [str(version), *sorted(head.clients)]
    return keyed_digest(key, _LABEL, vault_id, *(part.encode("ascii") for part in parts))


def _read_file(path: Path) -> bytes | None:
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


def _parse_head(raw: bytes) -> tuple[Head | None, bytes, int]:
    nothing = None, b"", 0
    try:
        found = json.loads(raw.decode("ascii"))
        mac = bytes.fromhex(found["mac"])
        version, seq, time_ms = found["v"], found["seq"], found["time"]
        clients = found["clients"] if version == _VERSION else []
    except (ValueError, KeyError, TypeError, RecursionError):
        return nothing
    if version not in (_FIRST_VERSION, _VERSION) or type(seq) is not int or type(time_ms) is not int:
        return nothing
    if not 0 <= seq < _LARGEST or abs(time_ms) >= _LARGEST:
        return nothing
    if not isinstance(clients, list) or not all(isinstance(one, str) and one.isascii() for one in clients):
        return nothing
    return Head(seq, time_ms, frozenset(clients)), mac, version
