"""Lines of the page: what stands in one, and how one is drawn. Clients, deeds, receipts, memories.

Must not do: ask the engine, or know what a line is for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QPointF, QRect
from PySide6.QtGui import QFontMetrics, QPainter
from PySide6.QtWidgets import QFrame

from core.types.clients import Standing
from core.types.values import Kind
from ui.lists.list_view import ListView
from ui.lists.row_spec import MIDDLE, PAD, RIGHT, Inert, RowSpec, RowState, line_height
from ui.pages.clients.common.marks import TOKENS, draw_standing
from ui.theme.theme import Theme
from ui.widgets.shapes import KIND_TOKENS, draw_kind

_ICON, _GAP, _UPRIGHT = 16, 10, 7
_BESIDE = 4
"""Pixels of room at both sides of what a line stands on."""


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


Line = Row | Inert


class ClientRows(RowSpec[Row]):
    """How the rows of the page look: a mark, a head, small lines under it, a word at the right end."""

    fade = "surface"

    def key(self, row: Row) -> str:
        """Its id."""
        return row.id

    def describe(self, row: Row) -> str:
        """All of it."""
        return row.told

    def height(self, row: Row, _place: int) -> int:
        """As high as its words need."""
        head, small = self.fonts()
        return line_height(head) + len(row.under) * line_height(small) + self.theme.px(_UPRIGHT * 2)

    def draw_ground(self, painter: QPainter, rect: QRect, row: Row, state: RowState) -> None:
        """A rounded field between hairlines."""
        pad = self.theme.px(_BESIDE)
        painter.fillRect(rect.adjusted(2 * pad, rect.height() - 1, -2 * pad, 0), self.theme.colour("line"))
        super().draw_ground(painter, rect.adjusted(pad, 0, -pad, 0), row, state)

    def draw_row(self, painter: QPainter, rect: QRect, row: Row, _state: RowState) -> None:
        """Its mark and its words."""
        px = self.theme.px
        head, small = self.fonts()
        top, right = rect.top() + px(_UPRIGHT), rect.right() - px(PAD)
        self._draw_mark(painter, QRect(rect.left() + px(PAD), top, px(_ICON), line_height(head)), row)
        left = rect.left() + px(PAD + _ICON + _GAP)
        head.setStrikeOut(row.is_struck)
        aside = self.theme.font("number")
        wide = QFontMetrics(aside).horizontalAdvance(row.aside) + 2 if row.aside else 0
        at = QRect(right - wide, top, wide, line_height(head))
        self.write(painter, at, row.aside, "muted", aside, RIGHT | MIDDLE)
        at = QRect(left, top, right - left - (wide + px(_GAP) if wide else 0), line_height(head))
        self.write(painter, at, row.head, "muted" if row.is_struck else "ink", head)
        top += line_height(head)
        for note in row.under:
            self.write(painter, QRect(left, top, right - left, line_height(small)), note, "muted", small)
            top += line_height(small)

    def _draw_mark(self, painter: QPainter, rect: QRect, row: Row) -> None:
        """The icon, or the shape of a standing or a kind."""
        theme, px = self.theme, self.theme.px
        centre = QPointF(rect.center().x() + 0.5, rect.center().y() + 0.5)
        if row.icon:
            side = px(_ICON)
            place = QRect(rect.left(), round(centre.y() - side / 2), side, side)
            theme.icon(row.icon, row.ink).paint(painter, place)
        elif row.standing is not None:
            draw_standing(painter, row.standing, centre, px(12), theme.colour(TOKENS[row.standing]))
        elif row.kind is not None:
            draw_kind(painter, row.kind, centre, px(11), theme.colour(KIND_TOKENS[row.kind]))


def client_list(theme: Theme, name: str) -> ListView:
    """A list of the page's rows.

    Args:
        theme: the theme.
        name: for those who do not see it.
    """
    made = ListView(ClientRows(theme), name)
    made.setFrameShape(QFrame.Shape.NoFrame)
    return made


def is_below(shown: ListView, most: int) -> bool:
    """Whether somebody reads further down than can be read again in one page.

    Args:
        shown: a list.
        most: lines of the largest page.
    """
    is_deep = shown.verticalScrollBar().value() > 0 or shown.currentIndex().row() >= most
    return shown.lines.rowCount() > most and is_deep
