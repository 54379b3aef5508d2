"""Vendored icons in the colours of the theme: outlines from `resources/icons`, drawn for plain and doubled screens.

Must not be used before a QGuiApplication exists, and must not choose the theme: it asks for the tokens that stand.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import files

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from ui.theme.tokens import Tokens

SIZES = (16, 20, 24)
"""Sizes an icon is drawn in, in px; Qt takes the nearest."""
RATIOS = (1, 2)
"""Device pixels per px it is drawn for."""
MAX_PIXMAPS = 1024
"""Pixmaps kept; beyond, all are dropped and drawn anew as they are asked for."""


class Icons:
    """Draws icons once per colour and keeps them.

    Args:
        tokens: gives the tokens of the theme that stands now. After a change of theme, ask for the icons again.
    """

    def __init__(self, tokens: Callable[[], Tokens]) -> None:
        self._tokens = tokens
        self._outlines: dict[str, bytes] = {}
        self._icons: dict[tuple[str, str, str], QIcon] = {}
        self._pixmaps: dict[tuple[str, int, str, float], QPixmap] = {}

    def icon(self, name: str, role: str = "muted") -> QIcon:
        """An icon in a colour of the theme; `faint` while its control is disabled.

        Args:
            name: of a file in `resources/icons`, without its ending.
            role: as in `Tokens.colour`.

        Returns:
            The icon; the same one for the same name and colours.

        Raises:
            KeyError: no such icon, or no such colour.
        """
        tokens = self._tokens()
        colour = tokens.colour(role)
        key = (name, colour, tokens.faint)
        if key not in self._icons:
            made = QIcon()
            for mode, tint in ((QIcon.Mode.Normal, colour), (QIcon.Mode.Disabled, tokens.faint)):
                for size in SIZES:
                    for ratio in RATIOS:
                        made.addPixmap(self.pixmap(name, size, tint, ratio), mode)
            self._icons[key] = made
        return self._icons[key]

    def pixmap(self, name: str, size: int, colour: str, dpr: float = 1.0) -> QPixmap:
        """An icon as a picture, for painters.

        Args:
            name: of a file in `resources/icons`, without its ending.
            size: width and height in px, before the device's ratio.
            colour: `#RRGGBB`, from the tokens.
            dpr: device pixels per px.

        Returns:
            A picture with a clear background; do not paint on it, it is kept for the next caller.

        Raises:
            KeyError: no such icon.
            ValueError: the colour is none, or the size or ratio is not positive.
        """
        key = (name, size, colour, dpr)
        if key not in self._pixmaps:
            if len(self._pixmaps) >= MAX_PIXMAPS:
                self._pixmaps.clear()
            self._pixmaps[key] = self._draw(name, size, colour, dpr)
        return self._pixmaps[key]

    def _draw(self, name: str, size: int, colour: str, dpr: float) -> QPixmap:
        """One picture, not kept."""
        if size <= 0 or dpr <= 0 or not QColor.isValidColorName(colour):
            raise ValueError("an icon needs a positive size and a colour")
        # QtSvg draws currentColor in black.
        tinted = self._outline(name).replace(b"currentColor", colour.encode("ascii"))
        side = round(size * dpr)
        made = QPixmap(QSize(side, side))
        made.fill(Qt.GlobalColor.transparent)
        painter = QPainter(made)
        try:
            QSvgRenderer(QByteArray(tinted)).render(painter, QRectF(0, 0, side, side))
        finally:
            painter.end()
        made.setDevicePixelRatio(dpr)
        return made

    def _outline(self, name: str) -> bytes:
        """The icon's file, read once."""
        if name not in self._outlines:
            file = files("resources") / "icons" / f"{name}.svg"
            if "/" in name or "\\" in name or not file.is_file():
                raise KeyError(name)
            self._outlines[name] = file.read_bytes()
        return self._outlines[name]
