"""Passphrases: reading one from a file, and deriving the key that wraps the root: Argon2id (RFC 9106).

Of a file the first line counts, without the line end; a FIFO or ``/dev/fd/N`` will do. Must not do: ask a person, name
the file in an error, touch slots, accept parameters it has not checked.
"""

from __future__ import annotations

import os
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from argon2.exceptions import HashingError
from argon2.low_level import Type, hash_secret_raw

from core.errors import Code, EnvironmentFaultError, UserError
from core.security.keys import KEY_BYTES, encode_text

MAX_SECRET_BYTES = 4096
"""Longest line accepted, in bytes of UTF-8."""

_BYTE_ORDER_MARK = "\ufeff"


def read_secret_file(path: Path) -> str:
    """Read the secret on the first line of a file.

    Args:
        path: a regular file, a FIFO or a descriptor under ``/dev/fd``. Nothing past the
            first line is waited for.

    Returns:
        The secret, spaces kept.

    Raises:
        UserError: VAULT_LOCKED where it cannot be read; WRONG_SECRET where it is empty, too long, or not UTF-8 text.
    """
    line = _read_secret_line(path)
    if line is None:
        raise UserError(Code.VAULT_LOCKED, "The passphrase file cannot be read; name one that is there.")
    if len(line) > MAX_SECRET_BYTES:
        raise UserError(Code.WRONG_SECRET, f"The first line of the passphrase file is over {MAX_SECRET_BYTES} bytes.")
    secret = _as_text(line)
    if secret is None or "\0" in secret:
        raise UserError(Code.WRONG_SECRET, "The passphrase file is not UTF-8 text.")
    if not secret:
        raise UserError(Code.WRONG_SECRET, "The first line of the passphrase file is empty.")
    return secret


def _read_secret_line(path: Path) -> bytes | None:
    """The bytes before the line end; more than the limit when the line is too long."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    except (OSError, ValueError):
        return None
    held = b""
    try:
        # One byte over the limit for a carriage return, one to see that there is more.
        while b"\n" not in held and len(held) < MAX_SECRET_BYTES + 2:
            more = os.read(descriptor, MAX_SECRET_BYTES + 2 - len(held))
            if not more:
                break
            held += more
    except OSError:
        return None
    finally:
        os.close(descriptor)
    line, end, _ = held.partition(b"\n")
    return line.removesuffix(b"\r") if end else line


def _as_text(line: bytes) -> str | None:
    try:
        # Some editors put a byte order mark in front; nobody can type it again at a prompt.
        return line.decode("utf-8").removeprefix(_BYTE_ORDER_MARK)
    except UnicodeDecodeError:
        return None


SALT_BYTES = 16
MAX_PASSPHRASE_BYTES = 4096

_MEMORY_KIB = range(19 * 1024, 1024 * 1024 + 1)
_PASSES = range(1, 21)
_LANES = range(1, 9)


@dataclass(frozen=True)
class KdfCost:
    """What one guess of the passphrase costs.

    Attributes:
        memory_kib: Argon2's m in KiB; 19 MiB to 1 GiB are accepted.
        passes: Argon2's t; 1 to 20.
        lanes: Argon2's p; 1 to 8.
    """

    memory_kib: int
    passes: int
    lanes: int

    @classmethod
    def standard(cls) -> Self:
        """What every vault gets: 256 MiB, t 3, p 4 (about 0.6 s; study/reliability B33)."""
        return cls(memory_kib=256 * 1024, passes=3, lanes=4)

    @classmethod
    def lowest(cls) -> Self:
        """The least that loading accepts; for tests only."""
        return cls(memory_kib=_MEMORY_KIB.start, passes=_PASSES.start, lanes=_LANES.start)

    @property
    def accepted(self) -> bool:
        """Whether Loci derives with this: neither too weak nor a trap for time or memory."""
        return self.memory_kib in _MEMORY_KIB and self.passes in _PASSES and self.lanes in _LANES


def normalised_passphrase(passphrase: str) -> bytes | None:
    """Bring a passphrase to bytes, alike on every keyboard and system.

    Args:
        passphrase: as typed; spaces count.

    Returns:
        NFKC in UTF-8, or None when it is empty, over 4 KiB or holds lone surrogates.
    """
    if not passphrase or len(passphrase) > MAX_PASSPHRASE_BYTES:
        return None
    raw = encode_text(unicodedata.normalize("NFKC", passphrase))
    return raw if raw and len(raw) <= MAX_PASSPHRASE_BYTES else None


def passphrase_key(secret: bytes, salt: bytes, cost: KdfCost) -> bytes:
    """Derive the wrapping key of a passphrase slot. Slow on purpose; releases the GIL.

    Args:
        secret: from `normalised_passphrase`.
        salt: 16 random bytes.
        cost: the work per guess.

    Returns:
        32 bytes.

    Raises:
        UserError: INVALID_INPUT; the cost or salt is outside what is accepted, nothing was derived.
        EnvironmentFaultError: MEMORY_PRESSURE; the machine has not enough free memory.
    """
    if not cost.accepted or len(salt) != SALT_BYTES:
        raise UserError(Code.INVALID_INPUT, "The passphrase settings are outside what Loci accepts.")
    try:
        return hash_secret_raw(
            secret,
            salt,
            time_cost=cost.passes,
            memory_cost=cost.memory_kib,
            parallelism=cost.lanes,
            hash_len=KEY_BYTES,
            type=Type.ID,
        )
    except HashingError:
        raise EnvironmentFaultError(
            Code.MEMORY_PRESSURE,
            f"Checking the passphrase needs {cost.memory_kib // 1024} MB of free memory; close programs and try again.",
        ) from None
