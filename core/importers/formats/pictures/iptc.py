"""What a picture says of itself by IPTC-IIM, as agencies and programs for photographs write it: title, caption, day.

The library finds the records in a JPEG or a TIFF. Must not do: decode a pixel, or lose what else a picture says where
these records are broken.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from PIL import Image

_TITLE, _HEADLINE, _CAPTION = (2, 5), (2, 105), (2, 120)
_DAY, _TIME = (2, 55), (2, 60)
_DAY_FORM = re.compile(r"(\d{4})(\d\d)(\d\d)")
_TIME_FORM = re.compile(r"(\d\d)(\d\d)(\d\d)(?:([+-])(\d\d)(\d\d))?")


@dataclass(frozen=True, slots=True)
class IptcWords:
    """The fields of the records that are read.

    Attributes:
        titles: title and headline; of any encoding, as programs write them.
        caption: likewise.
        taken: when it was taken, as ISO writes a time; "" where that is not told.
    """

    titles: tuple[bytes, ...] = ()
    caption: bytes = b""
    taken: str = ""


def read_iptc(image: Image.Image, faults: tuple[type[BaseException], ...]) -> IptcWords:
    """Read the records of a picture.

    Args:
        image: as it was opened.
        faults: what the library raises at broken ones.

    Returns:
        Their fields; empty ones for a picture without any, and for one whose records are broken.
    """
    from PIL import ImageFile, IptcImagePlugin

    if not isinstance(image, ImageFile.ImageFile):
        return IptcWords()
    try:
        fields: Mapping[tuple[int, int], Any] = IptcImagePlugin.getiptcinfo(image) or {}
    except faults:
        return IptcWords()
    titles = tuple(_first(fields.get(name)) for name in (_TITLE, _HEADLINE))
    return IptcWords(titles, _first(fields.get(_CAPTION)), _read_taken(fields))


def _first(value: object) -> bytes:
    """A field's value; of one that is given several times the first."""
    found = value[0] if isinstance(value, list) and value else value
    return found if isinstance(found, bytes) else b""


def _read_taken(fields: Mapping[tuple[int, int], Any]) -> str:
    day = _DAY_FORM.fullmatch(_first(fields.get(_DAY)).decode("latin-1").strip("\0 "))
    if day is None:
        return ""
    time = _TIME_FORM.fullmatch(_first(fields.get(_TIME)).decode("latin-1").strip("\0 "))
    if time is None:
        return "-".join(day.groups())
    hours, minutes, seconds, sign, *zone = time.groups()
    offset = f"{sign}{':'.join(zone)}" if sign else ""
    return f"{'-'.join(day.groups())}T{hours}:{minutes}:{seconds}{offset}"
