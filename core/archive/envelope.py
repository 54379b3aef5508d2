"""Handing a key to a device whose public key is known: nobody else opens it, whatever else they have.

A device has one key, Ed25519, by which it signs. Its twin on the Montgomery curve (RFC 7748, section 4.1) takes what is
sealed to it: X25519 with a key that is used for one header only. docs/sync-format.md describes it for other programs.
Must not do: keep a key, decide who gets one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from core.security.keys import hkdf_sha256

ENVELOPE_BYTES = 48
_PRIME = 2**255 - 19
_LABEL = b"loci-sync-key-v1"
_NONCE = bytes(12)
"""A key of an envelope encrypts nothing else."""


def seal_key(key: bytes, about: bytes, devices: Mapping[str, bytes]) -> tuple[str, dict[str, str]]:
    """Seal a key to each of some devices.

    Args:
        key: 32 bytes.
        about: what opening must match.
        devices: public keys by id; one that is no point of use gets nothing.

    Returns:
        What all envelopes share, and the envelope of each device; hexadecimal.
    """
    private = X25519PrivateKey.generate()
    share = private.public_key().public_bytes_raw()
    made: dict[str, str] = {}
    for device, public in devices.items():
        twin = _twin_of_public(public)
        try:
            secret = private.exchange(X25519PublicKey.from_public_bytes(twin))
        except ValueError:
            continue  # a key of small order, which no device of this program makes
        cipher = ChaCha20Poly1305(hkdf_sha256(secret, share + twin, _LABEL))
        made[device] = cipher.encrypt(_NONCE, key, about + device.encode("ascii")).hex()
    return share.hex(), made


def open_envelope(
    share: str, envelope: str, about: bytes, device: str, private_key: bytes, public_key: bytes
) -> bytes | None:
    """Undo `seal_key` for one device.

    Args:
        private_key: the device's Ed25519 key, 32 bytes.

    Returns:
        The key; None where the envelope is not for this device, or was changed.
    """
    try:
        shared = bytes.fromhex(share)
        secret = _twin_of_private(private_key).exchange(X25519PublicKey.from_public_bytes(shared))
        cipher = ChaCha20Poly1305(hkdf_sha256(secret, shared + _twin_of_public(public_key), _LABEL))
        return cipher.decrypt(_NONCE, bytes.fromhex(envelope), about + device.encode("ascii"))
    except (ValueError, InvalidTag):
        return None


def _twin_of_public(public_key: bytes) -> bytes:
    """Map to u = (1 + y) / (1 - y), of the point whose y an Ed25519 key is."""
    y = int.from_bytes(public_key, "little") & ((1 << 255) - 1)
    u = (1 + y) * pow(1 - y, _PRIME - 2, _PRIME) % _PRIME
    return u.to_bytes(32, "little")


def _twin_of_private(private_key: bytes) -> X25519PrivateKey:
    """The scalar by which Ed25519 signs (RFC 8032, section 5.1.5); the library clears its bits."""
    return X25519PrivateKey.from_private_bytes(hashlib.sha512(private_key).digest()[:32])
