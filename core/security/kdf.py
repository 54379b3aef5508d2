"""From a passphrase to the key that wraps the root: Argon2id (RFC 9106).

Must not do: touch files or slots, accept parameters it has not checked.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import Self

from argon2.exceptions import HashingError
from argon2.low_level import Type, hash_secret_raw

from core.errors import Code, EnvironmentFaultError, UserError
from core.security.seal import encode_text
from core.security.subkeys import KEY_BYTES

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
