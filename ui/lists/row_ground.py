"""What a line of a list stands on: one look for all lists, whether it is chosen, pointed at or has the keyboard.

Must not do: know what the line says.
"""

from __future__ import annotations

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QPainter, QPen

from ui.theme.theme import Theme

_ROUND, _BAR = 8, 3


def draw_ground(
    painter: QPainter, theme: Theme, rect: QRect, *, is_chosen: bool, is_hovered: bool, has_focus: bool
) -> None:
    """Draw it: a rounded field, a bar beside the colour where it is chosen, a ring where it has the keyboard.

    Args:
        painter: with smooth edges.
        theme: the theme.
        rect: of the line.
        is_chosen: it is the one that is looked at.
        is_hovered: the pointer is on it.
        has_focus: it has the keyboard.
    """
    frame = QRectF(rect).adjusted(0.5, 1.5, -0.5, -1.5)
    if is_chosen or is_hovered:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.colour("selection" if is_chosen else "hover"))
        painter.drawRoundedRect(frame, _ROUND, _ROUND)
    if is_chosen:
        painter.setBrush(theme.colour("accent"))
        painter.drawRoundedRect(QRectF(frame.left(), frame.top() + 8, _BAR, frame.height() - 16), 1.5, 1.5)
    if has_focus:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(theme.colour("focus"), 2))
        painter.drawRoundedRect(frame.adjusted(1, 1, -1, -1), _ROUND - 1, _ROUND - 1)


def draw_flat_ground(
    painter: QPainter,
    theme: Theme,
    rect: QRect,
    *,
    is_chosen: bool,
    is_hovered: bool,
    has_focus: bool,
    has_bar: bool = False,
) -> None:
    """Draw it where lines fill the list from edge to edge: a field, a hairline under it, a ring.

    Args:
        painter: what draws.
        theme: the theme.
        rect: of the line.
        is_chosen: it is the one that is looked at.
        is_hovered: the pointer is on it.
        has_focus: it has the keyboard.
        has_bar: whether a bar stands beside the colour where it is chosen.
    """
    if is_chosen or is_hovered:
        painter.fillRect(rect, theme.colour("selection" if is_chosen else "raised"))
    painter.fillRect(QRect(rect.left(), rect.bottom(), rect.width(), 1), theme.colour("line"))
    if is_chosen and has_bar:
        painter.fillRect(QRect(rect.left(), rect.top(), _BAR, rect.height() - 1), theme.colour("accent"))
    if has_focus:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(theme.colour("focus"), 2))
        painter.drawRect(rect.adjusted(1, 1, -1, -2))
