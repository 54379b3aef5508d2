"""The list below the strip: draws memories and days; what is chosen in it, the inspector shows.

Must not do: ask the engine.
"""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRect
from PySide6.QtGui import QPainter

from core.types.values import Status
from core.types.views import MemoryRow
from ui.lists.list_view import Keep, ListView
from ui.lists.row_spec import PAD, RowSpec, RowState, draw_flat_ground
from ui.pages.timeline.moments import details
from ui.theme.theme import Theme
from ui.widgets.plaintext import one_line, tip
from ui.widgets.shapes import KIND_TOKENS, draw_kind
from ui.widgets.words import KIND_WORDS

_HEIGHT, _SHAPE = 46, 11
_STANDS = frozenset({Status.ACTIVE, Status.DISPUTED})


class MomentRows(RowSpec[MemoryRow]):
    """How memories look in the order of time: a shape, a text, when and whose it is."""

    heading = (36, 28)
    tells_repeats = True

    def key(self, row: MemoryRow) -> str:
        """Its id."""
        return row.id

    def describe(self, row: MemoryRow) -> str:
        """Its kind, its text, when and whose it is."""
        return f"{KIND_WORDS[row.kind]}: {one_line(row.head)}. {details(row)}"

    def hint(self, row: MemoryRow) -> str:
        """Its text."""
        return tip(one_line(row.head))

    def height(self, _row: MemoryRow, _place: int) -> int:
        """All are of one height."""
        return self.theme.px(_HEIGHT)

    def draw_ground(self, painter: QPainter, rect: QRect, _row: MemoryRow, state: RowState) -> None:
        """A field from edge to edge."""
        draw_flat_ground(
            painter,
            self.theme,
            rect,
            is_chosen=state.is_chosen,
            is_hovered=state.is_hovered,
            has_focus=state.has_focus,
        )

    def draw_row(self, painter: QPainter, rect: QRect, row: MemoryRow, _state: RowState) -> None:
        """Its shape and its two lines."""
        theme, pad, side = self.theme, self.theme.px(PAD), self.theme.px(_SHAPE)
        stands = row.status in _STANDS
        middle = QPointF(rect.left() + pad + side / 2, rect.center().y() + 0.5)
        draw_kind(painter, row.kind, middle, side, theme.colour(KIND_TOKENS[row.kind] if stands else "faint"))
        inner = rect.adjusted(pad + side + theme.px(12), theme.px(4), -pad, -theme.px(6))
        upper, lower = QRect(inner), QRect(inner)
        upper.setHeight(inner.height() // 2)
        lower.setTop(upper.bottom() + 1)
        head, small = self.fonts()
        head.setStrikeOut(not stands)
        self.write(painter, upper, one_line(row.head), "ink" if stands else "muted", head)
        self.write(painter, lower, details(row), "muted", small)


def moment_list(theme: Theme) -> ListView:
    """The list below the strip."""
    return ListView(MomentRows(theme), "Memories of the period", keep=Keep.TOP)
