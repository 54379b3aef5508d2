"""What a picture says of itself: its caption and when it was taken, without a pixel decoded.

A caption is EXIF's description and Windows' own fields, a text chunk of PNG, a comment, or title and description of
XMP or IPTC.
What a camera or a program writes there by itself is no caption (`resources/imports/pictures.json`). The library decodes
strangers' bytes in compiled code, so it is given the common formats alone; whatever it raises at broken ones is in
`FAULTS`. Must not do: read where a picture was taken, or follow what its metadata refers to.
"""

from __future__ import annotations

import io
import json
import struct
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, BinaryIO

from core.errors import UserError
from core.importers.formats.pictures.iptc import read_iptc
from core.importers.input.archive import SourceFile
from core.importers.input.xml_stream import iter_xml
from core.text.times import parse_time
from core.types.values import When

if TYPE_CHECKING:
    from PIL import Image

MEDIA_TYPES = {
    "PNG": "image/png",
    "JPEG": "image/jpeg",
    "MPO": "image/jpeg",
    "GIF": "image/gif",
    "WEBP": "image/webp",
    "BMP": "image/bmp",
    "TIFF": "image/tiff",
}
"""By the library's name of a format."""
_WRONG = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, AssertionError, NotImplementedError)
FAULTS = (OSError, SyntaxError, EOFError, MemoryError, RecursionError, struct.error, zlib.error, *_WRONG)
"""What the library raises at a broken picture."""
_MAGIC = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a", b"BM", b"II*\x00", b"MM\x00*")
_LONGEST = 4_000  # characters of a caption
_LARGEST_XMP = 1 << 20
_TAKEN, _ZONE, _CHANGED, _DESCRIPTION, _DETAILS, _ORIENTATION = 0x9003, 0x9011, 0x0132, 0x010E, 0x8769, 0x0112
_WINDOWS_TITLE, _WINDOWS_COMMENT = 0x9C9B, 0x9C9C  # UTF-16, whatever the rest is in
_XMP = ("xmp", "XML:com.adobe.xmp")


@dataclass(frozen=True, slots=True)
class PictureWords:
    """What a picture says of itself.

    Attributes:
        caption: title and description, a line each; "" for nothing.
        taken: when it was taken.
        orientation: how it is turned, as EXIF numbers it.
    """

    caption: str = ""
    taken: When | None = None
    orientation: object = None


def is_picture(head: bytes) -> bool:
    """Whether a file begins as a picture does that is read here."""
    return head.startswith(_MAGIC) or (head[:4] == b"RIFF" and head[8:12] == b"WEBP")


@contextmanager
def open_picture(stream: BinaryIO) -> Iterator[Image.Image]:
    """Open a picture without decoding it; what it raises is in `FAULTS`."""
    from PIL import Image

    # What it finds odd in a field it tells as a warning and goes on; where those are raised, a picture would be lost.
    warnings.filterwarnings("ignore", module=r"PIL\.")
    Image.MAX_IMAGE_PIXELS = None  # whoever decodes one counts its pixels before
    with Image.open(stream, formats=[name for name in MEDIA_TYPES if name != "MPO"]) as image:
        yield image


def read_words(image: Image.Image) -> PictureWords:
    """What a picture says of itself; of a broken field nothing."""
    from PIL import Image

    try:
        # Not its own: that of a PNG decodes the whole picture, of whatever size, to look for a field behind it.
        exif = Image.Image.getexif(image)
        details = exif.get_ifd(_DETAILS)
        taken = _read_time(details.get(_TAKEN) or exif.get(_CHANGED), details.get(_ZONE))
        said = image.info
        title, description = _read_xmp(next((said[name] for name in _XMP if said.get(name)), b""))
        iptc = read_iptc(image, FAULTS)
        titles = [title, _plain(said.get("Title")), _plain(exif.get(_WINDOWS_TITLE), "utf-16-le")]
        titles += [_plain(one) for one in iptc.titles]
        comments = [_plain(said.get(name)) for name in ("Description", "Comment", "comment")]
        told = (_plain(exif.get(_DESCRIPTION)), description, _plain(iptc.caption), *comments)
        taken = taken or parse_time(iptc.taken or None)
        words = [*titles, *told, _plain(exif.get(_WINDOWS_COMMENT), "utf-16-le")]
        kept = dict.fromkeys(one for one in words if one and not _is_automatic(one))
        return PictureWords("\n".join(kept)[:_LONGEST], taken, exif.get(_ORIENTATION))
    except FAULTS:
        return PictureWords()


def _plain(value: object, encoding: str | None = None) -> str:
    if isinstance(value, str):
        try:
            raw = value.encode("latin-1")  # as which the library reads what is of any encoding
        except UnicodeEncodeError:
            return value.encode("utf-8", "replace").decode("utf-8").replace("\0", "").strip()
    elif isinstance(value, bytes):
        raw = value
    else:
        return ""
    text = raw.decode(encoding, "replace") if encoding else _decode(raw)
    return text.replace("\0", "").strip()


def _decode(value: bytes) -> str:
    """EXIF knows ASCII alone; programs write UTF-8 or what their system writes."""
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return value.decode("cp1252", "replace")


@cache
def _automatic() -> tuple[frozenset[str], tuple[str, ...]]:
    found = json.loads(files("resources").joinpath("imports", "pictures.json").read_text("utf-8"))
    return frozenset(found["whole"]), tuple(found["beginnings"])


def _is_automatic(caption: str) -> bool:
    whole, beginnings = _automatic()
    words = caption.casefold()
    return words in whole or words.startswith(beginnings)


def _read_xmp(packet: Any) -> tuple[str, str]:
    """Title and description of XMP, each in the first language that is given."""
    data = packet.encode("utf-8", "replace") if isinstance(packet, str) else packet
    if not isinstance(data, bytes) or not 0 < len(data) <= _LARGEST_XMP:
        return "", ""
    data = data.strip(b"\0 \r\n\t")
    found: dict[str, list[str]] = {"title": [], "description": []}
    told: set[str] = set()
    try:
        for event in iter_xml(SourceFile("xmp", len(data), None, lambda: io.BytesIO(data))):
            name = event.path[-3] if len(event.path) > 2 and event.path[-1] == "li" else ""
            if name not in found or name in told:
                continue
            if event.kind == "text":
                found[name].append(event.text)
            elif event.kind == "close":
                told.add(name)
    except UserError:
        return "", ""
    title, description = ("".join(found[name]).replace("\0", "").strip() for name in ("title", "description"))
    return title, description


def _read_time(value: object, zone: object) -> When | None:
    """`2019:08:03 14:12:01`, and `+02:00` where the camera knows."""
    text = _plain(value)
    day, _, clock = text.partition(" ")
    if not day.strip("0: ") or not clock:
        return None
    return parse_time(f"{day.replace(':', '-')}T{clock.strip()}{_plain(zone)}")
