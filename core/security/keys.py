"""The root key, the sub-keys made from it (HKDF-SHA256, RFC 5869), sealing of bytes and keyed digests.

The root is 32 random bytes made once per vault. It leaves `RootKey` only wrapped; every other room gets a sub-key for
one purpose. Associated data is never stored: who opens must know it. A sealed thing that was changed, cut or moved to
another place does not open. Must not do: derive keys from people's secrets, touch files, keep sub-keys, say what was
inside.
"""

from __future__ import annotations

import ctypes
import hmac
import os
from enum import StrEnum
from hashlib import sha256
from types import TracebackType
from typing import NoReturn, Self

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCMSIV, ChaCha20Poly1305
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from core.errors import BugError, Code, IntegrityError, UserError

NONCE_BYTES = 12
TAG_BYTES = 16
SALT_BYTES = 16

Octets = bytes | bytearray | memoryview
"""Anything that can be sealed without a copy."""


def seal(key: bytes, plaintext: Octets, aad: bytes) -> bytes:
    """Encrypt with ChaCha20-Poly1305 under a random nonce.

    Random 12-byte nonces bear 2^32 messages a key; use `seal_with_fresh_key` for large or many.

    Args:
        key: 32 bytes.
        plaintext: what to hide.
        aad: what opening must match.

    Returns:
        12 bytes of nonce, the ciphertext, 16 bytes of tag.
    """
    nonce = os.urandom(NONCE_BYTES)
    return nonce + ChaCha20Poly1305(key).encrypt(nonce, plaintext, aad)


def open_sealed(key: bytes, sealed: Octets, aad: bytes) -> bytes:
    """Undo `seal`.

    Args:
        key: the same key.
        sealed: what `seal` gave.
        aad: the same associated data.

    Returns:
        The plaintext.

    Raises:
        IntegrityError: ENCRYPTION_FAILED; anything at all does not fit.
    """
    view = memoryview(sealed)
    if len(view) < NONCE_BYTES + TAG_BYTES:
        raise _sealed_data_error()
    try:
        return ChaCha20Poly1305(key).decrypt(view[:NONCE_BYTES], view[NONCE_BYTES:], aad)
    except InvalidTag:
        raise _sealed_data_error() from None


def seal_with_fresh_key(root: RootKey, purpose: Purpose, plaintext: Octets, aad: bytes) -> bytes:
    """Encrypt under a key that is used this once: HKDF(root, label + 16 random bytes).

    Args:
        root: the open vault's root.
        plaintext: what to hide.
        aad: what opening must match.

    Returns:
        16 bytes of salt, then as `seal`.
    """
    salt = os.urandom(SALT_BYTES)
    nonce = os.urandom(NONCE_BYTES)
    body = ChaCha20Poly1305(root.derive(purpose, salt)).encrypt(nonce, plaintext, aad)
    return b"".join((salt, nonce, body))


def open_with_fresh_key(root: RootKey, purpose: Purpose, sealed: Octets, aad: bytes) -> bytes:
    """Undo `seal_with_fresh_key`.

    Args:
        root: the same vault's root.
        purpose: the same purpose.
        sealed: what `seal_with_fresh_key` gave.
        aad: the same associated data.

    Returns:
        The plaintext.

    Raises:
        IntegrityError: ENCRYPTION_FAILED; anything at all does not fit.
    """
    view = memoryview(sealed)
    if len(view) < SALT_BYTES + NONCE_BYTES + TAG_BYTES:
        raise _sealed_data_error()
    return open_sealed(root.derive(purpose, bytes(view[:SALT_BYTES])), view[SALT_BYTES:], aad)


def field_seal(key: bytes, text: str, aad: bytes) -> bytes:
    """Encrypt one text field with AES-256-GCM-SIV (design section 11, 11).

    A repeated nonce costs only the knowledge that two equal texts are equal.

    Args:
        key: 32 bytes, `Purpose.FIELD`.
        text: what to hide; no lone surrogates.
        aad: where the field lives (table, column, row id), so it cannot be moved.

    Returns:
        12 bytes of nonce, the ciphertext, 16 bytes of tag.

    Raises:
        IntegrityError: ENCRYPTION_FAILED; the text is not encodable.
    """
    raw = encode_text(text)
    if raw is None:
        raise IntegrityError(Code.ENCRYPTION_FAILED, "A text with broken characters cannot be encrypted.")
    nonce = os.urandom(NONCE_BYTES)
    return nonce + AESGCMSIV(key).encrypt(nonce, raw, aad)


def field_open(key: bytes, sealed: bytes, aad: bytes) -> str:
    """Undo `field_seal`.

    Args:
        key: the same key.
        sealed: what `field_seal` gave.
        aad: the same associated data.

    Raises:
        IntegrityError: ENCRYPTION_FAILED; anything at all does not fit.
    """
    if len(sealed) < NONCE_BYTES + TAG_BYTES:
        raise _sealed_data_error()
    try:
        return AESGCMSIV(key).decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], aad).decode("utf-8")
    except InvalidTag:
        raise _sealed_data_error() from None


def keyed_digest(key: bytes, *parts: bytes) -> bytes:
    """HMAC-SHA256 over parts, each with its length before it, so their borders count.

    Args:
        key: the secret key.
        parts: what to digest, in order.

    Returns:
        32 bytes.
    """
    digest = hmac.new(key, digestmod=sha256)
    for part in parts:
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return digest.digest()


def same_bytes(left: bytes, right: bytes) -> bool:
    """Compare in a time that does not tell where the two differ.

    Args:
        left: one value.
        right: the other.

    Returns:
        Whether they are equal.
    """
    return hmac.compare_digest(left, right)


def encode_text(text: str) -> bytes | None:
    """UTF-8 without an exception that would carry the text along.

    Returns:
        Its bytes, or None when it holds lone surrogates.
    """
    raw = text.encode("utf-8", errors="replace")
    return raw if raw.decode("utf-8") == text else None


def _sealed_data_error() -> IntegrityError:
    return IntegrityError(Code.ENCRYPTION_FAILED, "Sealed data is damaged or does not belong here; it was not used.")


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
            extra: bytes added to the label; the snapshot adds 16 random ones for a
                key that is used once.

        Returns:
            32 bytes.

        Raises:
            UserError: VAULT_LOCKED after `wipe`.
        """
        return hkdf_sha256(self._require_root(), self._vault_id, purpose.value.encode("ascii") + extra)

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
        return ChaCha20Poly1305(kek).encrypt(nonce, self._require_root(), aad)

    def expose_copy(self) -> bytes:
        """The root itself, for handing it to another process of the same user; a copy that cannot be wiped.

        Raises:
            UserError: VAULT_LOCKED after `wipe`.
        """
        return bytes(self._require_root())

    def wipe(self) -> None:
        """Overwrite the root; deriving is refused from here on. Safe to call twice."""
        self._wiped = True
        ctypes.memset((ctypes.c_char * KEY_BYTES).from_buffer(self._root), 0, KEY_BYTES)

    def _require_root(self) -> bytearray:
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
