"""Lines of the page: what stands in one, and how one is drawn. Clients, deeds, receipts, memories.

Must not do: ask the engine, or know what a line is for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter
from PySide6.QtWidgets import QStyle, QStyleOptionViewItem

from core.types.clients import Standing
from core.types.values import Kind
from ui.lists.line_model import LINE, Heading
from ui.lists.line_painter import PAD, LinePainter
from ui.lists.row_ground import draw_ground
from ui.lists.row_text import line_height
from ui.pages.clients.common.marks import TOKENS, draw_standing
from ui.widgets.shapes import KIND_TOKENS, draw_kind

_ICON, _GAP, _UPRIGHT = 16, 10, 7
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


class RowPainter(LinePainter):
    """Draws lines."""

    below_heading = 6

    def sizeHint(self, _option: QStyleOptionViewItem, index: _Index) -> QSize:  # noqa: N802 - Qt's name
        """As high as a line's words need."""
        line, px = index.data(LINE), self._theme.px
        if isinstance(line, Heading):
            return QSize(100, px(_HEADING if index.row() else _FIRST))
        head, small = self._fonts()
        high = line_height(head) + len(line.under) * line_height(small)
        return QSize(100, high + px(_UPRIGHT * 2))

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
        top, right = rect.top() + px(_UPRIGHT), rect.right() - px(PAD)
        self._mark(painter, QRect(rect.left() + px(PAD), top, px(_ICON), line_height(head)), row)
        left = rect.left() + px(PAD + _ICON + _GAP)
        head.setStrikeOut(row.is_struck)
        aside = self._theme.font("number")
        wide = QFontMetrics(aside).horizontalAdvance(row.aside) + 2 if row.aside else 0
        self._write(
            painter, QRect(right - wide, top, wide, line_height(head)), row.aside, "muted", aside, _RIGHT | _MIDDLE
        )
        room = right - left - (wide + px(_GAP) if wide else 0)
        self._write(painter, QRect(left, top, room, line_height(head)), row.head,
                    "muted" if row.is_struck else "ink", head, _LEFT | _MIDDLE)  # fmt: skip
        top += line_height(head)
        for note in row.under:
            self._write(
                painter, QRect(left, top, right - left, line_height(small)), note, "muted", small, _LEFT | _MIDDLE
            )
            top += line_height(small)

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
