"""One picture: its size, a small picture of it, and what it says of itself.

The library decodes strangers' bytes in compiled code, so it is given no picture whose pixels are too many. Must not do:
look at a second frame, write what a picture says of itself into the small one, or draw an SVG.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.importers.formats.pictures.picture_words import FAULTS, MEDIA_TYPES, open_picture, read_words
from core.types.values import When

if TYPE_CHECKING:
    from PIL import Image

MOST_PIXELS = 64_000_000
"""Of a picture that is drawn; a larger one is kept without a small picture of it."""
_SIDE = 256


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


def read_picture(data: bytes) -> Picture | None:
    """Read a picture.

    Args:
        data: the whole file.

    Returns:
        What it is and says; None where its beginning is all that is of a picture.
    """
    try:
        with open_picture(io.BytesIO(data)) as image:
            width, height = image.size
            if width < 1 or height < 1:
                return None
            words = read_words(image)
            media_type = MEDIA_TYPES[image.format or ""]
            is_drawn = width * height <= MOST_PIXELS
            small = _draw_small(image) if is_drawn else None
    except FAULTS:
        return None
    if _is_turned(words.orientation):
        width, height = height, width
    return Picture(media_type, width, height, small, is_drawn and small is None, words.taken, words.caption)


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
    except FAULTS:
        return None
