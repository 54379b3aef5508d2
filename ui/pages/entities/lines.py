"""Virtual lists of lines: an icon, a headline, a smaller line under it, a figure at the right. Plain text only.

Must not do: ask the engine, or interpret a text.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRect, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QTextLayout
from PySide6.QtWidgets import QFrame

from ui.lists.list_view import Keep, ListView
from ui.lists.row_spec import MIDDLE, RIGHT, RowSpec, RowState
from ui.theme.theme import Theme
from ui.widgets.plaintext import utf16

_HEIGHT, _PAD, _ICON = 46, 12, 16
_CUT = "… "
_ROUND = _BESIDE = 4  # room around the lines, alike on all sides: their grounds are round as the card is


@dataclass(frozen=True, slots=True)
class EntityRow:
    """One line.

    Attributes:
        id: what it stands for; "" where nothing is behind it.
        icon: name of an icon; `role` the token of its colour.
        head: its first line; `detail` the one under it.
        right: what stands at its end.
        name: from where to where in `head` a name stands: it alone is emphasised; None where all of it is a name.
    """

    id: str
    icon: str
    role: str
    head: str
    detail: str
    right: str
    name: tuple[int, int] | None = None


class EntityRows(RowSpec[EntityRow]):
    """How the lines look."""

    fade = "surface"
    tells_repeats = True

    def key(self, row: EntityRow) -> str:
        """Its id."""
        return row.id

    def describe(self, row: EntityRow) -> str:
        """All of it."""
        return ", ".join(part for part in (row.head, row.detail, row.right) if part)

    def hint(self, _row: EntityRow) -> str:
        """Nothing."""
        return ""

    def height(self, _row: EntityRow, _place: int) -> int:
        """All are of one height."""
        return self.theme.px(_HEIGHT)

    def draw_ground(self, painter: QPainter, rect: QRect, row: EntityRow, state: RowState) -> None:
        """A rounded field between hairlines."""
        pad = self.theme.px(_BESIDE)
        painter.fillRect(rect.adjusted(2 * pad, rect.height() - 1, -2 * pad, 0), self.theme.colour("line"))
        super().draw_ground(painter, rect.adjusted(pad, 0, -pad, 0), row, state)

    def draw_row(self, painter: QPainter, rect: QRect, row: EntityRow, _state: RowState) -> None:
        """Its icon, its two lines, and the figure at the right."""
        theme = self.theme
        pad, side = theme.px(_PAD), theme.px(_ICON)
        theme.icon(row.icon, row.role).paint(painter, rect.left() + pad, rect.center().y() - side // 2, side, side)
        inner = rect.adjusted(2 * pad + side, theme.px(4), -pad, -theme.px(5))
        small = theme.font("small")
        taken = QFontMetrics(small).horizontalAdvance(row.right)
        half = inner.height() // 2
        upper = QRect(inner.left(), inner.top(), inner.width(), half)
        lower = QRect(inner.left(), inner.top() + half, inner.width(), inner.height() - half)
        self.write(painter, upper, row.right, "muted", small, RIGHT | MIDDLE)
        upper.setRight(upper.right() - taken - (theme.px(10) if row.right else 0))
        self._write_head(painter, upper, row)
        self.write(painter, lower, row.detail, "muted", small)

    def _write_head(self, painter: QPainter, rect: QRect, row: EntityRow) -> None:
        plain, strong = self.theme.font("body"), self.theme.font("body")
        if row.name is None:
            strong.setWeight(QFont.Weight.Medium)
            self.write(painter, rect, row.head, "ink", strong)
            return
        strong.setWeight(QFont.Weight.DemiBold)
        metrics, called = QFontMetrics(plain), row.head[slice(*row.name)]
        room = rect.width() - max(0, QFontMetrics(strong).horizontalAdvance(called) - metrics.horizontalAdvance(called))
        head, (start, end) = in_sight(row.head, row.name, room, metrics.horizontalAdvance)
        shown = metrics.elidedText(head, Qt.TextElideMode.ElideRight, room)
        layout, name = QTextLayout(shown, plain), QTextLayout.FormatRange()
        name.start, name.length = utf16(shown[:start]), utf16(shown[start:end])
        name.format.setFontWeight(QFont.Weight.DemiBold)
        layout.setFormats([name])
        layout.beginLayout()
        told = layout.createLine()
        layout.endLayout()
        painter.setPen(self.theme.colour("ink"))
        layout.draw(painter, QPointF(rect.left(), rect.top() + (rect.height() - told.height()) / 2))


def in_sight(head: str, name: tuple[int, int], room: int, wide: Callable[[str], int]) -> tuple[str, tuple[int, int]]:
    """A line from so far before its name on that the name has room.

    Args:
        head: the line.
        name: from where to where the name stands in it.
        room: how wide a line may be.
        wide: how wide a text is.

    Returns:
        The line, begun later where it has to be, and where the name stands then.
    """
    start, end = name
    at = 0
    while at < start and wide(_CUT + head[at:end] + _CUT if at else head[:end] + _CUT) > room:
        blank = head.find(" ", at, start)
        at = start if blank < 0 else blank + 1
    if not at:
        return head, name
    shift = len(_CUT) - at
    return _CUT + head[at:], (start + shift, end + shift)


def entity_list(theme: Theme, name: str) -> ListView:
    """A list of lines on a card.

    Args:
        theme: the theme.
        name: for those who do not see it.
    """
    made = ListView(EntityRows(theme), name, keep=Keep.NONE)
    made.setUniformItemSizes(True)
    made.setFrameShape(QFrame.Shape.NoFrame)
    made.setObjectName("card")
    made.setViewportMargins(1, _ROUND, 1, _ROUND)
    made.clicked.connect(lambda _: made.looked_at_id.emit(made.current.id))
    return made


def fit_height(shown: ListView, most: int) -> None:
    """Be as high as the lines are, and no higher than some of them.

    Args:
        shown: a list.
        most: lines that are seen at once, at most.
    """
    lines = min(most, max(1, shown.lines.rowCount()))
    frame = shown.viewportMargins()
    shown.setFixedHeight(lines * shown.sizeHintForRow(0) + frame.top() + frame.bottom())
