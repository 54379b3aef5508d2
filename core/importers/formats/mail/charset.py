"""The words of a mail's fields and parts as text, whatever charset they name, and what a broken one raises.

Must not do: trust a charset that a message names.
"""

from __future__ import annotations

from email.errors import MessageError
from email.header import decode_header

FAULTS = (MessageError, ValueError, LookupError, TypeError, AttributeError, AssertionError, RecursionError)
"""What the standard's parser raises at messages that are none."""

_NOT_CHARSETS = frozenset({"idna", "punycode", "unicode_escape", "raw_unicode_escape", "undefined", "mbcs", "oem"})


def mend_field(value: str) -> str:
    """A field in one line, bytes beyond ASCII as UTF-8 or Windows-1252."""
    return decode_bytes(value.encode("utf-8", "surrogateescape"), None)[0].replace("\r", "").replace("\n", "").strip()


def decode_field(value: str) -> str:
    """A field as text: words in it may be written in a charset of their own."""
    if "=?" not in value:
        return value
    try:
        parts = decode_header(value)
    except FAULTS:
        return value
    texts = (part if isinstance(part, str) else decode_bytes(part, charset)[0] for part, charset in parts)
    return "".join(texts).strip()


def decode_bytes(raw: bytes, charset: str | None) -> tuple[str, str | None]:
    """Bytes as text, and the mark of how: by the charset they name, else UTF-8, else Windows-1252."""
    named = (charset or "utf-8").strip().strip("'\"").lower().replace("-", "_")
    for candidate, mark in ((named, None), ("utf_8", "encoding_guessed"), ("cp1252", "encoding_guessed")):
        if candidate in _NOT_CHARSETS or (candidate == "us_ascii" and not raw.isascii()):
            continue
        try:
            return raw.decode(candidate), mark
        except (UnicodeError, LookupError, ValueError):
            continue
    return raw.decode("utf-8", "replace"), "encoding_replaced"
