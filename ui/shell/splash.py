"""What stands on the screen while the program is still read: the sign of Loci, its name, and that it is opening.

Must not do: import a page, a list or the engine, which are what is waited for.
"""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QGuiApplication, QPainter, QPen, QPixmap
from PySide6.QtWidgets import QSplashScreen

from ui.strings import window_strings
from ui.theme.theme import Theme
from ui.theme.tokens import sizes, spacing


class SplashWindow(QSplashScreen):
    """A card in the middle of the screen; it goes when the window is there, or when it is clicked."""

    def __init__(self, theme: Theme) -> None:
        screen = QGuiApplication.primaryScreen()
        super().__init__(_draw_card(theme, screen.devicePixelRatio() if screen is not None else 1.0))
        self.setAccessibleName(window_strings()["opening"])
        self.setWindowTitle(window_strings()["title"])


def _draw_card(theme: Theme, ratio: float) -> QPixmap:
    px, words = theme.px, window_strings()
    wide, high = px(sizes().inspector), px(sizes().plot_large)
    picture = QPixmap(round(wide * ratio), round(high * ratio))
    picture.setDevicePixelRatio(ratio)
    picture.fill(theme.colour("surface"))
    painter = QPainter(picture)
    painter.setPen(QPen(theme.colour("line"), 1.0))
    painter.drawRect(QRectF(0.5, 0.5, wide - 1, high - 1))
    side, gap = px(sizes().row_two), px(spacing().m)
    top = (high - side - gap - 2 * px(spacing().l)) / 2
    painter.drawPixmap(
        QRectF((wide - side) / 2, top, side, side).toRect(), theme.emblem("landmark", side, "accent", ratio)
    )
    line = QRectF(0, top + side + gap, wide, px(spacing().l))
    for text, font, colour in ((words["title"], "title", "ink"), (words["opening"], "small", "muted")):
        painter.setFont(theme.font("title" if font == "title" else "small"))
        painter.setPen(theme.colour(colour))
        painter.drawText(line, Qt.AlignmentFlag.AlignCenter, text)
        line.translate(0, line.height() + px(spacing().s))
    painter.end()
    return picture
