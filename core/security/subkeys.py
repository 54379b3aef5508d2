"""The root key and the sub-keys made from it (HKDF-SHA256, RFC 5869).

The root is 32 random bytes made once per vault. It leaves `RootKey` only wrapped; every
other room gets a sub-key for one purpose. Must not do: touch files, keep sub-keys.
"""

from __future__ import annotations

import ctypes
import os
from enum import StrEnum
from types import TracebackType
from typing import NoReturn, Self

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from core.errors import BugError, Code, UserError

KEY_BYTES = 32
"""Length of the root, of every sub-key and of every key that wraps the root."""

VAULT_ID_BYTES = 16
"""Length of the public vault id, the salt of every derivation."""


class Purpose(StrEnum):
    """What a sub-key is for; the value is the HKDF label (design section 3)."""

    VAULT = "loci-vault-v1"
    FIELD = "loci-field-v1"
    INDEX = "loci-index-v1"
    BACKUP = "loci-backup-v1"
    CLIENT = "loci-client-v1"
    AUDIT = "loci-audit-v1"
    HEAD = "loci-head-v1"
    OWNER = "loci-owner-v1"


def hkdf_sha256(secret: bytes | bytearray, salt: bytes, info: bytes, length: int = KEY_BYTES) -> bytes:
    """HKDF with SHA-256 (RFC 5869), extract and expand.

    Args:
        secret: the input key material.
        salt: public salt, may be empty.
        info: the label that separates uses.
        length: bytes wanted, 1 to 8160.

    Returns:
        The derived bytes.
    """
    return HKDF(algorithm=hashes.SHA256(), length=length, salt=salt, info=info).derive(secret)


class RootKey:
    """The root key of one open vault, held in memory that can be overwritten.

    Use it as a context manager or call `wipe`. It shows nothing of itself and
    cannot be pickled or copied.
    """

    __slots__ = ("_root", "_vault_id", "_wiped")

    def __init__(self, root: bytes | bytearray, vault_id: bytes) -> None:
        if len(root) != KEY_BYTES or len(vault_id) != VAULT_ID_BYTES:
            raise BugError("root key length")
        self._root = bytearray(root)
        self._vault_id = bytes(vault_id)
        self._wiped = False

    @classmethod
    def generate(cls, vault_id: bytes) -> Self:
        """Make a new random root.

        Args:
            vault_id: the 16 raw bytes of the new vault's id.

        Returns:
            A root key nobody has seen before.
        """
        return cls(os.urandom(KEY_BYTES), vault_id)

    @classmethod
    def unwrap(cls, kek: bytes, nonce: bytes, sealed: bytes, aad: bytes, vault_id: bytes) -> Self | None:
        """Open a wrapped root.

        Args:
            kek: the 32-byte key that wrapped it.
            nonce: its 12-byte nonce.
            sealed: the wrapped root with its tag, 48 bytes.
            aad: what was bound to it.
            vault_id: the 16 raw bytes of the vault's id.

        Returns:
            The root, or None when the key or anything bound does not fit.
        """
        try:
            root = ChaCha20Poly1305(kek).decrypt(nonce, sealed, aad)
        except InvalidTag:
            return None
        return cls(root, vault_id)

    @property
    def vault_id(self) -> bytes:
        """The 16 raw bytes of the vault's id; public."""
        return self._vault_id

    def derive(self, purpose: Purpose, extra: bytes = b"") -> bytes:
        """Make the sub-key for one purpose.

        Args:
            purpose: what it is for.
            extra: bytes added to the label; the snapshot adds 16 random ones for a
                key that is used once.

        Returns:
            32 bytes.

        Raises:
            UserError: VAULT_LOCKED after `wipe`.
        """
        return hkdf_sha256(self._alive(), self._vault_id, purpose.value.encode("ascii") + extra)

    def wrap(self, kek: bytes, nonce: bytes, aad: bytes) -> bytes:
        """Wrap the root with ChaCha20-Poly1305.

        Args:
            kek: a 32-byte key.
            nonce: 12 random bytes, never used before with this key.
            aad: what opening must match.

        Returns:
            48 bytes: the wrapped root and its tag.

        Raises:
            UserError: VAULT_LOCKED after `wipe`.
        """
        return ChaCha20Poly1305(kek).encrypt(nonce, self._alive(), aad)

    def exposed(self) -> bytes:
        """The root itself, for handing it to another process of the same user; a copy that cannot be wiped.

        Raises:
            UserError: VAULT_LOCKED after `wipe`.
        """
        return bytes(self._alive())

    def wipe(self) -> None:
        """Overwrite the root; deriving is refused from here on. Safe to call twice."""
        self._wiped = True
        ctypes.memset((ctypes.c_char * KEY_BYTES).from_buffer(self._root), 0, KEY_BYTES)

    def _alive(self) -> bytearray:
        if self._wiped:
            raise UserError(Code.VAULT_LOCKED, "The vault is locked; unlock it and try again.")
        return self._root

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.wipe()

    def __repr__(self) -> str:
        return "RootKey(wiped)" if self._wiped else "RootKey(open)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a root key is never pickled or copied")
