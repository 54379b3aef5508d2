"""Lines of the page: what stands in one, and how one is drawn. Clients, deeds, receipts, memories.

Must not do: ask the engine, or know what a line is for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRect, QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from core.types.clients import Standing
from core.types.words import Kind
from ui.pages.clients.marks import TOKENS, draw_standing
from ui.theme.theme import Theme
from ui.widgets.linemodel import LINE, Heading
from ui.widgets.rowground import draw_ground
from ui.widgets.shapes import KIND_TOKENS, draw_kind

_PAD, _ICON, _GAP, _UPRIGHT = 14, 16, 10, 7
_BESIDE = 4
"""Pixels of room at both sides of what a line stands on."""
_HEADING, _FIRST = 38, 28
_MIDDLE = Qt.AlignmentFlag.AlignVCenter
_LEFT, _RIGHT = Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignRight
_Index = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True, slots=True)
class Row:
    """A line.

    Attributes:
        id: unique within the list.
        head: its text, made visible, on one line.
        note: under it in small letters; `more` under that, `last` under both.
        icon: name of an icon; "" where `standing` or `kind` has its shape in its place.
        ink: token of the icon's colour; a danger is said by the words too.
        standing: a client's.
        kind: a memory's.
        aside: at its right end.
        is_struck: whether it was taken back.
        value: what it stands for.
    """

    id: str
    head: str
    note: str = ""
    more: str = ""
    last: str = ""
    icon: str = ""
    ink: str = "muted"
    standing: Standing | None = None
    kind: Kind | None = None
    aside: str = ""
    is_struck: bool = False
    value: Any = None

    @property
    def under(self) -> tuple[str, ...]:
        """What stands in small letters, a line each."""
        return tuple(part for part in (self.note, self.more, self.last) if part)

    @property
    def told(self) -> str:
        """All of it, for those who hear it."""
        parts = (self.head, self.note, self.more, self.last, self.aside)
        return ". ".join(part.rstrip(".") for part in parts if part)


Line = Row | Heading


class LinePainter(QStyledItemDelegate):
    """Draws lines.

    Attributes:
        hovered: the line under the pointer; -1 for none.
    """

    def __init__(self, theme: Theme, view: QListView) -> None:
        super().__init__(view)
        self._theme, self._view = theme, view
        self.hovered = -1

    def _fonts(self) -> tuple[QFont, QFont]:
        head = self._theme.font("body")
        head.setWeight(QFont.Weight.Medium)
        return head, self._theme.font("small")

    def sizeHint(self, _option: QStyleOptionViewItem, index: _Index) -> QSize:  # noqa: N802 - Qt's name
        """As high as a line's words need."""
        line, px = index.data(LINE), self._theme.px
        if isinstance(line, Heading):
            return QSize(100, px(_HEADING if index.row() else _FIRST))
        head, small = self._fonts()
        high = _height(head) + len(line.under) * _height(small)
        return QSize(100, high + px(_UPRIGHT * 2))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        """Draw a line."""
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        rect, line = QRect(option.rect), index.data(LINE)
        if isinstance(line, Heading):
            self._heading(painter, rect, line.title)
        else:
            self._ground(painter, option, index.row())
            self._row(painter, rect, line)
        painter.restore()

    def _heading(self, painter: QPainter, rect: QRect, title: str) -> None:
        theme = self._theme
        painter.fillRect(QRect(rect.left(), rect.bottom(), rect.width(), 1), theme.colour("line"))
        inner = rect.adjusted(theme.px(_PAD), 0, -theme.px(_PAD), -theme.px(6))
        self._write(painter, inner, title, "muted", theme.font("label"), _LEFT | Qt.AlignmentFlag.AlignBottom)

    def _ground(self, painter: QPainter, option: QStyleOptionViewItem, place: int) -> None:
        rect, pad = QRect(option.rect), self._theme.px(_BESIDE)
        painter.fillRect(rect.adjusted(2 * pad, rect.height() - 1, -2 * pad, 0), self._theme.colour("line"))
        draw_ground(
            painter,
            self._theme,
            rect.adjusted(pad, 0, -pad, 0),
            is_chosen=bool(option.state & QStyle.StateFlag.State_Selected),
            is_hovered=place == self.hovered,
            has_focus=place == self._view.currentIndex().row() and self._view.hasFocus(),
        )

    def _row(self, painter: QPainter, rect: QRect, row: Row) -> None:
        px = self._theme.px
        head, small = self._fonts()
        top, right = rect.top() + px(_UPRIGHT), rect.right() - px(_PAD)
        self._mark(painter, QRect(rect.left() + px(_PAD), top, px(_ICON), _height(head)), row)
        left = rect.left() + px(_PAD + _ICON + _GAP)
        head.setStrikeOut(row.is_struck)
        aside = self._theme.font("number")
        wide = QFontMetrics(aside).horizontalAdvance(row.aside) + 2 if row.aside else 0
        self._write(painter, QRect(right - wide, top, wide, _height(head)), row.aside, "muted", aside, _RIGHT | _MIDDLE)
        room = right - left - (wide + px(_GAP) if wide else 0)
        self._write(painter, QRect(left, top, room, _height(head)), row.head,
                    "muted" if row.is_struck else "ink", head, _LEFT | _MIDDLE)  # fmt: skip
        top += _height(head)
        for note in row.under:
            self._write(painter, QRect(left, top, right - left, _height(small)), note, "muted", small, _LEFT | _MIDDLE)
            top += _height(small)

    def _mark(self, painter: QPainter, rect: QRect, row: Row) -> None:
        """The icon, or the shape of a standing or a kind."""
        theme, px = self._theme, self._theme.px
        centre = QPointF(rect.center().x() + 0.5, rect.center().y() + 0.5)
        if row.icon:
            side = px(_ICON)
            place = QRect(rect.left(), round(centre.y() - side / 2), side, side)
            theme.icon(row.icon, row.ink).paint(painter, place)
        elif row.standing is not None:
            draw_standing(painter, row.standing, centre, px(12), theme.colour(TOKENS[row.standing]))
        elif row.kind is not None:
            draw_kind(painter, row.kind, centre, px(11), theme.colour(KIND_TOKENS[row.kind]))

    def _write(self, painter: QPainter, rect: QRect, text: str, ink: str, font: QFont, where: Qt.AlignmentFlag) -> None:
        painter.setFont(font)
        painter.setPen(self._theme.colour(ink))
        shown = QFontMetrics(font).elidedText(text, Qt.TextElideMode.ElideRight, rect.width())
        painter.drawText(rect, where, shown)


def _height(font: QFont) -> int:
    return QFontMetrics(font).height() + 2
