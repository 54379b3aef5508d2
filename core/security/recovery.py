"""The printable recovery code.

20 random bytes and a 16-bit checksum are 176 bits: 36 characters of base32 (RFC 4648, four
zero bits at the end), printed in nine groups of four. The checksum is CRC-16/CCITT and
not a hash, because it catches every single wrong character and every swap of two
neighbours for certain. The code's 160 bits need no slow derivation.

Must not do: touch files or slots.
"""

from __future__ import annotations

import base64
import binascii
import os
import re
import unicodedata
from itertools import product

from core.errors import Code, UserError

SECRET_BYTES = 20
CODE_CHARACTERS = 36
GROUP_CHARACTERS = 4

_CRC_START = 0xFFFF
_LONGEST_TYPED = 256
_MOST_ONES = 4
_DASHES_AND_SPACES = re.compile(r"[\s_\u00ad\u200b\u2060\ufeff\u2010-\u2015\u2212-]+")
_SHAPE = re.compile(r"[A-Z2-71]{36}")
# 0 and 8 are not in the alphabet and look like one letter of it each. 1 may be I or L; the checksum tells which.
_LOOKALIKES = str.maketrans({"0": "O", "8": "B"})
_ONE = "1"


def new_recovery_secret() -> bytes:
    """Make the secret behind a recovery code.

    Returns:
        20 random bytes.
    """
    return os.urandom(SECRET_BYTES)


def format_recovery_code(secret: bytes) -> str:
    """Write a secret as the code that is shown once.

    Args:
        secret: the 20 bytes.

    Returns:
        36 base32 characters in groups of four, joined by hyphens (44 in all).
    """
    checked = secret + binascii.crc_hqx(secret, _CRC_START).to_bytes(2, "big")
    letters = base64.b32encode(checked).decode("ascii").rstrip("=")
    groups = (letters[at : at + GROUP_CHARACTERS] for at in range(0, CODE_CHARACTERS, GROUP_CHARACTERS))
    return "-".join(groups)


def parse_recovery_code(typed: str) -> bytes:
    """Read a code as a person types it.

    Lower case, any spaces and dashes, 0 for O, 8 for B and 1 for I or L are understood.

    Args:
        typed: what was typed.

    Returns:
        The 20 bytes.

    Raises:
        UserError: WRONG_SECRET; the code is too short, too long or mistyped, told before any vault is touched.
    """
    letters = _letters(typed)
    if len(letters) != CODE_CHARACTERS:
        raise UserError(
            Code.WRONG_SECRET, f"A recovery code has {CODE_CHARACTERS} letters and digits; this one has another length."
        )
    secret = _checked_secret(letters)
    if secret is None:
        raise UserError(
            Code.WRONG_SECRET, "The recovery code is mistyped: its checksum does not fit; compare it letter by letter."
        )
    return secret


def is_recovery_code(typed: str) -> bool:
    """Whether a text is a well-formed recovery code, checksum and all.

    Args:
        typed: what was typed.

    Returns:
        True when `parse_recovery_code` would accept it.
    """
    return _checked_secret(_letters(typed)) is not None


def _letters(typed: str) -> str:
    if len(typed) > _LONGEST_TYPED:
        return ""
    plain = unicodedata.normalize("NFKC", typed)
    return _DASHES_AND_SPACES.sub("", plain).upper().translate(_LOOKALIKES)


def _checked_secret(letters: str) -> bytes | None:
    if _SHAPE.fullmatch(letters) is None or letters.count(_ONE) > _MOST_ONES:
        return None
    found: set[bytes] = set()
    parts = letters.split(_ONE)
    for choice in product("IL", repeat=len(parts) - 1):
        candidate = "".join(part + filler for part, filler in zip(parts, (*choice, ""), strict=True))
        raw = base64.b32decode(candidate + "====")
        secret, crc = raw[:SECRET_BYTES], int.from_bytes(raw[SECRET_BYTES:], "big")
        # Four bits at the end carry nothing; they must be zero or a wrong last character would pass.
        if binascii.crc_hqx(secret, _CRC_START) == crc and base64.b32encode(raw).startswith(candidate.encode()):
            found.add(secret)
    return found.pop() if len(found) == 1 else None
