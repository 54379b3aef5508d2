"""One picture: its size, a small picture of it, and what it says of itself: when it was taken, and its description.

The library decodes strangers' bytes in compiled code, so it is given the common formats alone, and no picture whose
pixels are too many; whatever it raises at a broken one is in `_FAULTS`. Where it was taken is not read. Must not do:
look at a second frame, write what a picture says of itself into the small one, or draw an SVG.
"""

from __future__ import annotations

import io
import struct
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from core.text.times import parse_time
from core.types.values import When

if TYPE_CHECKING:
    from PIL import Image

MOST_PIXELS = 64_000_000
"""Of a picture that is drawn; a larger one is kept without a small picture of it."""
_SIDE = 256
_LONGEST = 4_000  # characters of a description
_TAKEN, _ZONE, _CHANGED, _DESCRIPTION, _DETAILS = 0x9003, 0x9011, 0x0132, 0x010E, 0x8769
_FORMATS = {
    "PNG": "image/png",
    "JPEG": "image/jpeg",
    "MPO": "image/jpeg",
    "GIF": "image/gif",
    "WEBP": "image/webp",
    "BMP": "image/bmp",
    "TIFF": "image/tiff",
}
_MAGIC = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a", b"BM", b"II*\x00", b"MM\x00*")
# Warning: what the library finds odd it says by one, and those may be raised.
_WRONG = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, AssertionError, NotImplementedError)
_FAULTS = (OSError, SyntaxError, EOFError, MemoryError, RecursionError, Warning, struct.error, zlib.error, *_WRONG)


@dataclass(frozen=True, slots=True)
class Picture:
    """What a picture is and says.

    Attributes:
        width: in pixels, as it is to be looked at; `height` likewise.
        thumbnail: PNG of at most 256 pixels a side; None where it is too large, or cannot be drawn.
        is_damaged: whether it could not be drawn.
        taken: when it was taken, as it says itself.
        description: what it says of itself; "" for nothing.
    """

    media_type: str
    width: int
    height: int
    thumbnail: bytes | None
    is_damaged: bool
    taken: When | None
    description: str


def is_picture(head: bytes) -> bool:
    """Whether a file begins as a picture does that is read here."""
    return head.startswith(_MAGIC) or (head[:4] == b"RIFF" and head[8:12] == b"WEBP")


def read_picture(data: bytes) -> Picture | None:
    """Read a picture.

    Args:
        data: the whole file.

    Returns:
        What it is and says; None where its beginning is all that is of a picture.
    """
    from PIL import Image

    Image.MAX_IMAGE_PIXELS = None  # its pixels are counted here, before the first is decoded
    try:
        with Image.open(io.BytesIO(data), formats=[name for name in _FORMATS if name != "MPO"]) as image:
            width, height = image.size
            if width < 1 or height < 1:
                return None
            told = _read_told(image)
            media_type = _FORMATS[image.format or ""]
            is_drawn = width * height <= MOST_PIXELS
            small = _draw_small(image) if is_drawn else None
    except _FAULTS:
        return None
    if _is_turned(told[2]):
        width, height = height, width
    return Picture(media_type, width, height, small, is_drawn and small is None, told[0], told[1])


def _read_told(image: Image.Image) -> tuple[When | None, str, object]:
    """When it was taken, its description and how it is turned; of a broken field nothing."""
    try:
        exif = image.getexif()
        details = exif.get_ifd(_DETAILS)
        taken = _read_time(details.get(_TAKEN) or exif.get(_CHANGED), details.get(_ZONE))
        named = [exif.get(_DESCRIPTION), *(image.info.get(name) for name in ("Title", "Description", "comment"))]
        words = dict.fromkeys(one for value in named if (one := _plain_words(value)))
        return taken, "\n".join(words)[:_LONGEST], exif.get(0x0112)
    except _FAULTS:
        return None, "", None


def _plain_words(value: Any) -> str:
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if not isinstance(value, str):
        return ""
    return value.encode("utf-8", "replace").decode("utf-8").replace("\0", "").strip()


def _read_time(value: object, zone: object) -> When | None:
    """`2019:08:03 14:12:01`, and `+02:00` where the camera knows."""
    text = _plain_words(value)
    day, _, clock = text.partition(" ")
    if not day.strip("0: ") or not clock:
        return None
    return parse_time(f"{day.replace(':', '-')}T{clock.strip()}{_plain_words(zone)}")


def _is_turned(orientation: object) -> bool:
    return orientation in (5, 6, 7, 8)


def _draw_small(image: Image.Image) -> bytes | None:
    from PIL import Image as Drawing
    from PIL import ImageOps

    try:
        image.draft("RGB", (2 * _SIDE, 2 * _SIDE))  # of a JPEG a fraction is decoded
        has_alpha = "A" in image.getbands() or "transparency" in image.info
        image.thumbnail((_SIDE, _SIDE))  # first of all: each copy of the whole would take its memory once more
        small = ImageOps.exif_transpose(image)
        plain = small.convert("RGBA" if has_alpha else "RGB")
        clean = Drawing.frombytes(
            plain.mode, plain.size, plain.tobytes()
        )  # with nothing that the picture said of itself
        target = io.BytesIO()
        clean.save(target, "PNG")
        return target.getvalue()
    except _FAULTS:
        return None
