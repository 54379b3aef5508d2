"""The one ladder of encodings: UTF-8, UTF-16 by its mark, Windows-1252, replacement. No files are opened here.

Must not do: change a character that could be read.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from typing import BinaryIO

from core.importers.input.strict_json import replace_surrogates

CHUNK = 1 << 18
UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def utf8_chunks(stream: BinaryIO, flags: set[str] | None = None) -> Iterator[bytes]:
    """The stream's bytes as UTF-8, without a byte order mark.

    Args:
        stream: UTF-8, or UTF-16 with a byte order mark; anything else passes through unchanged.
        flags: gets `encoding_replaced` when UTF-16 ends in half a unit, which becomes U+FFFD.

    Yields:
        Non-empty chunks.
    """
    first = stream.read(CHUNK)
    if first.startswith(UTF16_MARKS):
        yield from _from_utf16(first, stream, flags)
        return
    if first.startswith(codecs.BOM_UTF8):
        first = first[len(codecs.BOM_UTF8) :]
    while first:
        yield first
        first = stream.read(CHUNK)


def _from_utf16(chunk: bytes, stream: BinaryIO, flags: set[str] | None) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder("utf-16")(errors="surrogatepass")
    while chunk:
        if text := decoder.decode(chunk):
            yield text.encode("utf-8", "surrogatepass")
        chunk = stream.read(CHUNK)
    try:
        last = decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        last = "�"
        if flags is not None:
            flags.add("encoding_replaced")
    if last:
        yield last.encode("utf-8", "surrogatepass")


def decode_ladder(raw: bytes, *, proven_utf8: bool = False, mend: bool = True) -> tuple[str, frozenset[str]]:
    """Decode bytes that should be UTF-8.

    Args:
        raw: the bytes, cut at character bounds.
        proven_utf8: the same file held other bytes that only UTF-8 explains, so Windows-1252 is out of the question.
        mend: whether surrogate halves written as bytes become U+FFFD; JSON mends and counts them itself.

    Returns:
        The text and flags: none for UTF-8, `surrogates_replaced`, `encoding_guessed` for Windows-1252,
        `encoding_replaced` where unreadable bytes became U+FFFD.
    """
    try:
        return raw.decode("utf-8"), frozenset()
    except UnicodeDecodeError:
        pass
    try:
        text = raw.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return _decode_foreign(raw, proven_utf8)
    if not mend:
        return text, frozenset()
    text, count = replace_surrogates(text)
    return text, frozenset({"surrogates_replaced"}) if count else frozenset()


def _decode_foreign(raw: bytes, proven_utf8: bool) -> tuple[str, frozenset[str]]:
    replaced = raw.decode("utf-8", "replace")
    # One damaged byte among good UTF-8 must not turn every other letter into Windows-1252 nonsense.
    if not proven_utf8 and replaced.replace("�", "").isascii():
        try:
            return raw.decode("cp1252"), frozenset({"encoding_guessed"})
        except UnicodeDecodeError:
            pass
    return replaced, frozenset({"encoding_replaced"})
