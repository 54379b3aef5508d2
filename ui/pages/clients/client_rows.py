"""The rows of the page's lists and the shape of a client's state: their content, and how they are drawn.

Awake is a full disc, asleep a moon, paused two bars, one that is unpaired an open ring, revoked a cross in a ring: a
shape beside every colour. Must not do: ask the engine, or know what a line is for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPainterPath, QPen
from PySide6.QtWidgets import QFrame, QWidget

from core.types.clients import ClientState
from ui.lists.list_view import ListView
from ui.lists.row_spec import MIDDLE, RIGHT, InertRow, RowState, TextRow, TextRowSpec, line_height
from ui.pages.clients.labels import client_state_name
from ui.theme.theme import Theme
from ui.theme.tokens import sizes, spacing
from ui.widgets.shapes import KIND_TOKENS, draw_kind

TOKENS: Mapping[ClientState, str] = {
    ClientState.AWAKE: "success",
    ClientState.ASLEEP: "muted",
    ClientState.PAUSED: "warning",
    ClientState.UNPAIRED: "warning",
    ClientState.REVOKED: "danger",
}
_SIDE = 12


def draw_client_state(painter: QPainter, state: ClientState, centre: QPointF, side: float, colour: QColor) -> None:
    """Draw the state of a client.

    Args:
        painter: with antialiasing set by the caller.
        side: pixels.
    """
    painter.save()
    painter.translate(centre)
    painter.scale(side, side)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colour)
    match state:
        case ClientState.AWAKE:
            painter.drawEllipse(QPointF(0, 0), 0.4, 0.4)
        case ClientState.ASLEEP:
            moon, bite = QPainterPath(), QPainterPath()
            moon.addEllipse(QPointF(0, 0), 0.45, 0.45)
            bite.addEllipse(QPointF(0.24, -0.2), 0.38, 0.38)
            painter.drawPath(moon.subtracted(bite))
        case ClientState.PAUSED:
            for left in (-0.36, 0.1):
                painter.drawRoundedRect(QRectF(left, -0.42, 0.26, 0.84), 0.06, 0.06)
        case ClientState.UNPAIRED:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(colour, 0.14))
            painter.drawArc(QRectF(-0.42, -0.42, 0.84, 0.84), 30 * 16, 300 * 16)
        case ClientState.REVOKED:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(colour, 0.12))
            painter.drawEllipse(QPointF(0, 0), 0.44, 0.44)
            painter.drawLine(QPointF(-0.18, -0.18), QPointF(0.18, 0.18))
            painter.drawLine(QPointF(-0.18, 0.18), QPointF(0.18, -0.18))
    painter.restore()


class ClientStateMark(QWidget):
    """The state of a client as a small widget."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme, self._standing = theme, ClientState.AWAKE
        theme.changed.connect(self._restyle_mark)
        self._restyle_mark()

    def show_state(self, state: ClientState) -> None:
        """Show another state."""
        self._standing = state
        self.setAccessibleName(client_state_name(state))
        self.update()

    def _restyle_mark(self) -> None:
        side = self._theme.px(_SIDE)
        self.setFixedSize(side, side)
        self.update()

    def paintEvent(self, _event: object) -> None:  # noqa: N802 - Qt's name
        """Paint the widget."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        centre = QPointF(self.width() / 2, self.height() / 2)
        colour = self._theme.colour(TOKENS[self._standing])
        draw_client_state(painter, self._standing, centre, self.width() * 0.95, colour)


_UPRIGHT = 7
_BESIDE = 4
"""Pixels at both sides of a row's background."""


@dataclass(frozen=True, slots=True)
class ClientRow(TextRow):
    """A line of a list on the Clients page.

    Attributes:
        more: a small line under the note; `last` under both.
        standing: a client's; its shape is in the place of an icon.
    """

    more: str = ""
    last: str = ""
    standing: ClientState | None = None

    @property
    def small_lines(self) -> tuple[str, ...]:
        """The lines in small letters."""
        return tuple(part for part in (self.note, self.more, self.last) if part)

    @property
    def words(self) -> tuple[str, ...]:
        """Its title, the small lines, the word at its end."""
        return (self.title, self.note, self.more, self.last, self.aside)


Line = ClientRow | InertRow


class ClientRows(TextRowSpec[ClientRow]):
    """How the rows of the page look: a mark, a title, small lines below it, a word at the right end."""

    fade = "surface"

    def row_height(self, row: ClientRow, _place: int) -> int:
        """As high as its words need."""
        title_font, small_font = self.row_fonts()
        return line_height(title_font) + len(row.small_lines) * line_height(small_font) + self.theme.px(_UPRIGHT * 2)

    def paint_background(self, painter: QPainter, rect: QRect, row: ClientRow, state: RowState) -> None:
        """A rounded field between hairlines."""
        pad = self.theme.px(_BESIDE)
        painter.fillRect(rect.adjusted(2 * pad, rect.height() - 1, -2 * pad, 0), self.theme.colour("line"))
        super().paint_background(painter, rect.adjusted(pad, 0, -pad, 0), row, state)

    def draw_row(self, painter: QPainter, rect: QRect, row: ClientRow, _state: RowState) -> None:
        """Its mark and its words."""
        px = self.theme.px
        title_font, small_font = self.row_fonts()
        top, right = rect.top() + px(_UPRIGHT), rect.right() - px(sizes().list_pad)
        self._draw_mark(
            painter, QRect(rect.left() + px(sizes().list_pad), top, px(sizes().icon), line_height(title_font)), row
        )
        left = rect.left() + px(sizes().list_pad + sizes().icon + spacing().close)
        title_font.setStrikeOut(row.is_struck)
        aside = self.theme.font("number")
        wide = QFontMetrics(aside).horizontalAdvance(row.aside) + 2 if row.aside else 0
        at = QRect(right - wide, top, wide, line_height(title_font))
        self.draw_text(painter, at, row.aside, "muted", aside, RIGHT | MIDDLE)
        at = QRect(left, top, right - left - (wide + px(spacing().close) if wide else 0), line_height(title_font))
        self.draw_text(painter, at, row.title, "muted" if row.is_struck else "ink", title_font)
        top += line_height(title_font)
        for note in row.small_lines:
            self.draw_text(painter, QRect(left, top, right - left, line_height(small_font)), note, "muted", small_font)
            top += line_height(small_font)

    def _draw_mark(self, painter: QPainter, rect: QRect, row: ClientRow) -> None:
        """The icon, or the shape of a client's state or of a memory's kind."""
        theme, px = self.theme, self.theme.px
        centre = QPointF(rect.center().x() + 0.5, rect.center().y() + 0.5)
        if row.icon:
            side = px(sizes().icon)
            place = QRect(rect.left(), round(centre.y() - side / 2), side, side)
            theme.icon(row.icon, row.ink).paint(painter, place)
        elif row.standing is not None:
            draw_client_state(painter, row.standing, centre, px(12), theme.colour(TOKENS[row.standing]))
        elif row.kind is not None:
            draw_kind(painter, row.kind, centre, px(11), theme.colour(KIND_TOKENS[row.kind]))


def client_list(theme: Theme, name: str) -> ListView:
    """A list of the page's rows.

    Args:
        name: for those who do not see it.
    """
    view = ListView(ClientRows(theme), name)
    view.setFrameShape(QFrame.Shape.NoFrame)
    return view


def is_reading_below(shown: ListView, most: int) -> bool:
    """Whether somebody reads further down than can be read again in one page.

    Args:
        most: lines of the largest page.
    """
    is_deep = shown.verticalScrollBar().value() > 0 or shown.currentIndex().row() >= most
    return shown.lines.rowCount() > most and is_deep
