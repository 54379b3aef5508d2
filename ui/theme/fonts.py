"""Inter for every platform alike: the vendored faces, registered with Qt, and a `QFont` for every role of text.

Must not be used before a QGuiApplication exists. Whole static faces only: two subsets of one weight replace each
other in Qt, and of a variable font Qt takes the weight from nobody's wish but the axis'.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files

from PySide6.QtCore import QByteArray
from PySide6.QtGui import QFont, QFontDatabase, QGuiApplication

from ui.theme.tokens import load_tokens

TEXT_FAMILY = "Inter"
DISPLAY_FAMILY = "Inter Display"
MIN_SCALE = 100
MAX_SCALE = 200
"""Text scale in per cent."""

_REGISTERED = "lociFontsRegistered"


@dataclass(frozen=True, slots=True)
class Families:
    """The names of the registered families.

    Attributes:
        text: for nearly everything.
        display: for titles and quoted memories.
    """

    text: str
    display: str


def load_fonts() -> Families:
    """Register the vendored faces with the application; a second call finds them there.

    Returns:
        The names of the families.

    Raises:
        RuntimeError: there is no application yet, or Qt refused a face.
    """
    app = QGuiApplication.instance()
    if app is None:
        raise RuntimeError("fonts need a QGuiApplication")
    # The mark lives and dies with the application, as the registered fonts do.
    if not app.property(_REGISTERED):
        found: set[str] = set()
        faces = sorted(file.name for file in (files("resources") / "fonts").iterdir() if file.name.endswith(".ttf"))
        for face in faces:
            data = QByteArray((files("resources") / "fonts" / face).read_bytes())
            number = QFontDatabase.addApplicationFontFromData(data)
            if number < 0:
                raise RuntimeError(f"Qt refused the font {face}")
            found.update(QFontDatabase.applicationFontFamilies(number))
        if not found >= {TEXT_FAMILY, DISPLAY_FAMILY}:
            raise RuntimeError("the vendored fonts do not hold both families")
        app.setProperty(_REGISTERED, TEXT_FAMILY)
    return Families(TEXT_FAMILY, DISPLAY_FAMILY)


def font(role: str, scale: int = MIN_SCALE) -> QFont:
    """The font of a role of text, from the type scale of the tokens.

    Args:
        role: a `FontRole`. `number` has tabular figures; `mono` is the system's fixed font, for ids and paths.
        scale: text scale, 100 to 200 %.

    Returns:
        A new font, the caller's own.

    Raises:
        KeyError: no such role.
        ValueError: the scale is out of range.
    """
    if not MIN_SCALE <= scale <= MAX_SCALE:
        raise ValueError(f"the text scale must be {MIN_SCALE} to {MAX_SCALE} %")
    style = load_tokens()["light"].type[role]
    if style.family == "fixed":
        made = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    else:
        made = QFont(DISPLAY_FAMILY if style.family == "display" else TEXT_FAMILY)
    made.setPixelSize(scaled(style.size, scale))
    made.setWeight(QFont.Weight(style.weight))
    if style.tracking:
        # Not percentages: Qt takes those of each letter's own width.
        made.setLetterSpacing(QFont.SpacingType.AbsoluteSpacing, style.tracking * made.pixelSize())
    if style.capitals:
        made.setCapitalization(QFont.Capitalization.AllUppercase)
    return tabular(made) if style.tabular else made


def tabular(plain: QFont) -> QFont:
    """A font with figures of equal width, for columns of numbers.

    Args:
        plain: any font of this module.

    Returns:
        A new font; the given one is left alone.
    """
    made = QFont(plain)
    made.setFeature(QFont.Tag("tnum"), 1)
    return made


def scaled(size: int, scale: int) -> int:
    """A length in px at a text scale.

    Args:
        size: px at 100 %.
        scale: in per cent.

    Returns:
        Whole px, half rounded up.
    """
    return (size * scale + 50) // 100
