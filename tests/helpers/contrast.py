"""The contrast of two colours by WCAG 2.2, and the pairs of colours that the window puts on each other."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any


@dataclass(frozen=True, slots=True)
class Pair:
    """Two colours that stand on each other, and what they owe the eye.

    Attributes:
        front: role of the text or mark. `back`: role of what lies behind it.
        minimum: contrast they must reach, 4.5 for text and 3.0 for marks (WCAG 2.2, 1.4.3 and 1.4.11).
    """

    front: str
    back: str
    minimum: float


def load_pairs() -> Mapping[str, tuple[Pair, ...]]:
    """The pairs of colours the window uses, and the contrast each must reach in both themes.

    Returns:
        `text`: pairs of text; `marks`: pairs of marks that are not text.
    """
    table = json.loads((files("resources") / "themes" / "tokens.json").read_text("utf-8"))["contrast"]

    def pairs(rows: Mapping[str, Any]) -> tuple[Pair, ...]:
        fronts = {front: backs for front, backs in rows.items() if front != "minimum"}
        return tuple(Pair(front, back, rows["minimum"]) for front, backs in fronts.items() for back in backs)

    return {"text": pairs(table["text"]), "marks": pairs(table["marks"])}


def luminance(colour: str) -> float:
    """Relative luminance (WCAG 2.2; the threshold is that of IEC 61966-2-1).

    Args:
        colour: `#RRGGBB`.

    Returns:
        0 for black to 1 for white.

    Raises:
        ValueError: not a colour, or a translucent one, which has no luminance of its own.
    """
    if not re.fullmatch(r"#[0-9A-Fa-f]{6}", colour):
        raise ValueError("contrast needs solid colours, #RRGGBB")
    channels = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(a: str, b: str) -> float:
    """Contrast ratio of two colours (WCAG 2.2).

    Args:
        a: `#RRGGBB`.
        b: `#RRGGBB`; the order does not matter.

    Returns:
        1 (the same) to 21 (black on white).

    Raises:
        ValueError: not a solid colour.
    """
    darker, lighter = sorted((luminance(a), luminance(b)))
    return (lighter + 0.05) / (darker + 0.05)
