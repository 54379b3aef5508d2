"""The proofs of the socket's handshake, as pure functions (design section 8).

Both sides show that they hold the token without sending it. HMAC-SHA256 is keyed with the token over
an ASCII label followed by raw bytes; values travel as base64url without padding.
Must not do: know sockets, clients or grants.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import os
import re

from core.errors import Code, UserError
from core.security.keys import Purpose, RootKey

TOKEN_BYTES = 32
NONCE_BYTES = 32
MAC_BYTES = 32

_ALPHABET = re.compile(r"[A-Za-z0-9_-]*={0,2}")


def new_nonce() -> bytes:
    """Make a nonce for one handshake.

    Returns:
        32 random bytes.
    """
    return os.urandom(NONCE_BYTES)


def new_token() -> bytes:
    """Make a client's token; also the stand-in for a client nobody knows.

    Returns:
        32 random bytes.
    """
    return os.urandom(TOKEN_BYTES)


def owner_token(root: RootKey) -> bytes:
    """The token of the client ``@owner``: who can open a key slot can make it.

    Args:
        root: the vault's root.

    Returns:
        32 bytes.
    """
    return root.derive(Purpose.OWNER)


def server_proof(token: bytes, client_nonce: bytes, server_nonce: bytes, vault_id: bytes) -> bytes:
    """What the server shows in its answer to ``hello``: HMAC(token, "s" + nc + ns + vault).

    Args:
        token: the client's token.
        client_nonce: nc, 32 bytes.
        server_nonce: ns, 32 bytes.
        vault_id: the 16 raw bytes of the vault id.

    Returns:
        32 bytes.
    """
    return hmac.digest(token, b"s" + client_nonce + server_nonce + vault_id, "sha256")


def client_mac(token: bytes, client_nonce: bytes, server_nonce: bytes, vault_id: bytes) -> bytes:
    """What the client shows in ``auth``: HMAC(token, "c" + ns + nc + vault).

    Args:
        token: the client's token.
        client_nonce: nc, 32 bytes.
        server_nonce: ns, 32 bytes.
        vault_id: the 16 raw bytes of the vault id.

    Returns:
        32 bytes.
    """
    return hmac.digest(token, b"c" + server_nonce + client_nonce + vault_id, "sha256")


def encode_value(raw: bytes) -> str:
    """Write a value for the wire.

    Args:
        raw: any bytes.

    Returns:
        base64url without padding.
    """
    return base64.urlsafe_b64encode(raw).decode("ascii").rstrip("=")


def decode_value(text: str, length: int) -> bytes:
    """Read a value from the wire.

    Args:
        text: base64url, with or without padding.
        length: how many bytes it must be.

    Returns:
        The raw bytes.

    Raises:
        UserError: MALFORMED_MESSAGE; other characters, another length, or bits left over.
    """
    bare = text.rstrip("=")
    raw = b""
    if len(text) <= 4 * (length // 3 + 1) and _ALPHABET.fullmatch(text) is not None:
        try:
            raw = base64.urlsafe_b64decode(bare + "=" * (-len(bare) % 4))
        except binascii.Error:
            raw = b""
    if len(raw) != length or encode_value(raw) != bare:
        raise UserError(Code.MALFORMED_MESSAGE, f"A value of the handshake is not {length} bytes in base64url.")
    return raw
