"""Sealing bytes and keyed digests.

Associated data is never stored: who opens must know it. A sealed thing that was changed,
cut or moved to another place does not open. Must not do: derive keys from people's
secrets, touch files, say what was inside.
"""

from __future__ import annotations

import hmac
import os
from hashlib import sha256

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCMSIV, ChaCha20Poly1305

from core.errors import Code, IntegrityError
from core.security.subkeys import Purpose, RootKey

NONCE_BYTES = 12
TAG_BYTES = 16
SALT_BYTES = 16
DIGEST_BYTES = 32

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
        raise _refused()
    try:
        return ChaCha20Poly1305(key).decrypt(view[:NONCE_BYTES], view[NONCE_BYTES:], aad)
    except InvalidTag:
        raise _refused() from None


def seal_with_fresh_key(root: RootKey, purpose: Purpose, plaintext: Octets, aad: bytes) -> bytes:
    """Encrypt under a key that is used this once: HKDF(root, label + 16 random bytes).

    Args:
        root: the open vault's root.
        purpose: whose label.
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
        raise _refused()
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

    Returns:
        The text.

    Raises:
        IntegrityError: ENCRYPTION_FAILED; anything at all does not fit.
    """
    if len(sealed) < NONCE_BYTES + TAG_BYTES:
        raise _refused()
    try:
        return AESGCMSIV(key).decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], aad).decode("utf-8")
    except InvalidTag:
        raise _refused() from None


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


def _refused() -> IntegrityError:
    return IntegrityError(Code.ENCRYPTION_FAILED, "Sealed data is damaged or does not belong here; it was not used.")
