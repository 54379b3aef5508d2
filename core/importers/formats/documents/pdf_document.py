"""One PDF as its library reads it: what it says of itself, and the text of a page within a number of steps.

The library is plain Python over strangers' bytes; whatever it raises at broken ones is in `faults`. Must not do: log a
word of a document, open what is attached, or keep the pages that were read.
"""

from __future__ import annotations

import hashlib
import logging
import struct
import zlib
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

from core.importers.input.source import SourceFile
from core.importers.input.streams import replace_surrogates
from core.text.times import parse_time
from core.types.values import When

if TYPE_CHECKING:
    from pypdf import PageObject, PdfReader

MOST_STEPS = 400_000
"""Operators of one page that are followed; what a page draws beyond them is left out."""
MOST_DRAWING = 4 << 20
"""Bytes of what a page draws; one that draws more is told and left out."""
_MOST_UNPACKED = 32 << 20
_CHUNK = 1 << 20


class _TooManyStepsError(Exception):
    """A page draws more than any page of text does."""


@dataclass(frozen=True, slots=True)
class About:
    """What a document says of itself."""

    key: str
    title: str
    author: str | None
    occurred: When | None
    pages: int


def faults() -> tuple[type[Exception], ...]:
    """What the library raises at documents that are none; it reads strangers' bytes with plain Python."""
    from pypdf.errors import PyPdfError

    # NotImplementedError: the library has no way for some encodings and filters, and says so by raising it.
    wrong = (ValueError, TypeError, LookupError, AttributeError, AssertionError, ArithmeticError, NotImplementedError)
    return (PyPdfError, RecursionError, EOFError, MemoryError, OSError, struct.error, zlib.error, *wrong)


def open_reader(stream: BinaryIO) -> PdfReader:
    """Begin to read a document; what it raises is in `faults`."""
    from pypdf import PdfReader

    logging.getLogger("pypdf").setLevel(logging.CRITICAL + 1)  # it would tell words of a document
    return PdfReader(stream, strict=False)


def read_about(reader: PdfReader, file: SourceFile) -> About:
    """What a document says of itself; of a broken field nothing."""
    told: Any = reader.metadata
    title = _field(told, "title") or file.path.stem
    return About(_digest_of(file), title, _field(told, "author") or None, _read_time(told), len(reader.pages))


def _field(told: Any, name: str) -> str:
    try:
        value = getattr(told, name, None)
    except (ValueError, TypeError, AttributeError):
        return ""
    return replace_surrogates(value)[0].replace("\x00", "").strip() if isinstance(value, str) else ""


def _read_time(told: Any) -> When | None:
    """When it was changed last, else when it was made, as it says itself."""
    for name in ("modification_date", "creation_date"):
        try:
            moment = getattr(told, name, None)
        except (ValueError, TypeError, AttributeError):
            continue
        if moment is not None:
            return parse_time(moment.isoformat())
    return None


def _digest_of(file: SourceFile) -> str:
    """What tells the document from every other: its bytes."""
    digest = hashlib.blake2b(digest_size=16)
    with closing(file.open()) as stream:
        while chunk := stream.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def read_page(reader: PdfReader, at: int) -> tuple[str, frozenset[str]]:
    """The text of a page, and marks of its reading.

    Raises:
        ValueError: the page draws more than a page of text does; besides, whatever is in `faults`.
    """
    from pypdf import apply_configuration

    with apply_configuration(
        zlib_maximum_output_length=_MOST_UNPACKED,
        lzw_maximum_output_length=_MOST_UNPACKED,
        run_length_maximum_output_length=_MOST_UNPACKED,
        array_based_stream_maximum_output_length=_MOST_UNPACKED,
    ):
        page = reader.pages[at]
        drawing = page.get_contents()
        # It is taken apart whole before its first step is followed.
        if drawing is not None and len(drawing.get_data()) > MOST_DRAWING:
            raise ValueError("a page that draws more than any text does")
        return _follow_page(page)


def _follow_page(page: PageObject) -> tuple[str, frozenset[str]]:
    steps, kept = 0, list[str]()

    def count_step(*_operator: object) -> None:
        nonlocal steps
        steps += 1
        if steps > MOST_STEPS:
            raise _TooManyStepsError

    def keep_text(text: str, *_place: object) -> None:
        kept.append(text)

    flags: frozenset[str] = frozenset()
    try:
        text = page.extract_text(visitor_operand_before=count_step, visitor_text=keep_text)
    except _TooManyStepsError:
        text, flags = "".join(kept), frozenset({"page_cut"})
        if not text.strip():
            raise ValueError("a page that draws and says nothing") from None
    text, replaced = replace_surrogates(text.replace("\x00", ""))
    return text, flags | ({"surrogates_replaced"} if replaced else set())
