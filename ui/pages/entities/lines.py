"""Virtual lists of lines: an icon, a headline, a smaller line under it, a figure at the right. Plain text only.

Must not do: ask the engine, or interpret a text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPointF,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QFont, QFontMetrics, QKeyEvent, QPainter, QPaintEvent, QTextLayout
from PySide6.QtWidgets import QAbstractItemView, QFrame, QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from ui.lists.edge_fade import HIGH, fade_edges
from ui.lists.row_ground import draw_ground
from ui.theme.theme import Theme
from ui.widgets.plaintext import utf16

_Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()
SHOWN = Qt.ItemDataRole.UserRole + 1
_HEIGHT, _PAD, _ICON = 46, 12, 16
_CUT = "… "
_ROUND = _BESIDE = 4  # room around the lines, alike on all sides: their grounds are round as the card is


@dataclass(frozen=True, slots=True)
class Shown:
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


class LineModel(QAbstractListModel):
    """The lines."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.lines: tuple[Shown, ...] = ()

    def put(self, lines: Sequence[Shown]) -> None:
        """Show other lines."""
        self.beginResetModel()
        self.lines = tuple(lines)
        self.endResetModel()

    def rowCount(self, parent: _Index = _ROOT) -> int:  # noqa: N802 - Qt's name
        """How many lines there are."""
        return 0 if parent.isValid() else len(self.lines)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """A line, or its words for those who do not see it."""
        if not 0 <= index.row() < len(self.lines):
            return None
        line = self.lines[index.row()]
        if role == SHOWN:
            return line
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return ", ".join(part for part in (line.head, line.detail, line.right) if part)
        return None


class LinePainter(QStyledItemDelegate):
    """Draws a line."""

    def __init__(self, theme: Theme, view: QListView) -> None:
        super().__init__(view)
        self._theme, self._view = theme, view

    def sizeHint(self, _option: QStyleOptionViewItem, _index: _Index) -> QSize:  # noqa: N802 - Qt's name
        """All lines are of one height."""
        return QSize(100, self._theme.px(_HEIGHT))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        """Draw a line."""
        line, theme, rect = index.data(SHOWN), self._theme, QRect(option.rect)
        if not isinstance(line, Shown):
            return
        painter.save()
        self._ground(painter, option, rect)
        pad, side = theme.px(_PAD), theme.px(_ICON)
        theme.icon(line.icon, line.role).paint(painter, rect.left() + pad, rect.center().y() - side // 2, side, side)
        inner = rect.adjusted(2 * pad + side, theme.px(4), -pad, -theme.px(5))
        small = theme.font("small")
        taken = QFontMetrics(small).horizontalAdvance(line.right)
        half = inner.height() // 2
        upper = QRect(inner.left(), inner.top(), inner.width(), half)
        lower = QRect(inner.left(), inner.top() + half, inner.width(), inner.height() - half)
        muted = theme.colour("muted")
        _write(painter, small, upper, line.right, muted, Qt.AlignmentFlag.AlignRight)
        upper.setRight(upper.right() - taken - (theme.px(10) if line.right else 0))
        self._write_head(painter, upper, line)
        _write(painter, small, lower, line.detail, muted, Qt.AlignmentFlag.AlignLeft)
        painter.restore()

    def _ground(self, painter: QPainter, option: QStyleOptionViewItem, rect: QRect) -> None:
        theme, pad = self._theme, self._theme.px(_BESIDE)
        is_chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillRect(rect.adjusted(2 * pad, rect.height() - 1, -2 * pad, 0), theme.colour("line"))
        draw_ground(
            painter,
            theme,
            rect.adjusted(pad, 0, -pad, 0),
            is_chosen=is_chosen,
            is_hovered=bool(option.state & QStyle.StateFlag.State_MouseOver),
            has_focus=is_chosen and self._view.hasFocus(),
        )

    def _write_head(self, painter: QPainter, rect: QRect, line: Shown) -> None:
        plain, ink = self._theme.font("body"), self._theme.colour("ink")
        strong = self._theme.font("body")
        if line.name is None:
            strong.setWeight(QFont.Weight.Medium)
            _write(painter, strong, rect, line.head, ink, Qt.AlignmentFlag.AlignLeft)
            return
        strong.setWeight(QFont.Weight.DemiBold)
        metrics, called = QFontMetrics(plain), line.head[slice(*line.name)]
        room = rect.width() - max(0, QFontMetrics(strong).horizontalAdvance(called) - metrics.horizontalAdvance(called))
        head, (start, end) = in_sight(line.head, line.name, room, metrics.horizontalAdvance)
        shown = metrics.elidedText(head, Qt.TextElideMode.ElideRight, room)
        layout, name = QTextLayout(shown, plain), QTextLayout.FormatRange()
        name.start, name.length = utf16(shown[:start]), utf16(shown[start:end])
        name.format.setFontWeight(QFont.Weight.DemiBold)
        layout.setFormats([name])
        layout.beginLayout()
        told = layout.createLine()
        layout.endLayout()
        painter.setPen(ink)
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


def _write(painter: QPainter, font: QFont, rect: QRect, text: str, colour: QColor, side: Qt.AlignmentFlag) -> None:
    painter.setFont(font)
    painter.setPen(colour)
    shown = QFontMetrics(font).elidedText(text, Qt.TextElideMode.ElideRight, rect.width())
    painter.drawText(rect, side | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine, shown)


class LineList(QListView):
    """The list.

    Signals:
        looked_at: id of the line that is chosen.
        opened: id of the line that was asked for by Enter or a double click.
    """

    looked_at = Signal(str)
    opened = Signal(str)

    def __init__(self, theme: Theme, name: str) -> None:
        super().__init__()
        self._theme = theme
        self.shown = LineModel(self)
        self.setModel(self.shown)
        self.setItemDelegate(LinePainter(theme, self))
        self.setAccessibleName(name)
        self.setMouseTracking(True)
        self.setUniformItemSizes(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setObjectName("card")
        self.setViewportMargins(1, _ROUND, 1, _ROUND)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.clicked.connect(lambda index: self._told(index))
        self.doubleClicked.connect(lambda _: self._open())
        theme.changed.connect(self.doItemsLayout)

    @property
    def current(self) -> str:
        """Id of the chosen line; "" for none."""
        row = self.currentIndex().row()
        return self.shown.lines[row].id if 0 <= row < len(self.shown.lines) else ""

    def fit(self, most: int) -> None:
        """Be as high as the lines are, and no higher than some of them.

        Args:
            most: lines that are seen at once, at most.
        """
        lines = min(most, max(1, self.shown.rowCount()))
        frame = self.viewportMargins()
        self.setFixedHeight(lines * self.sizeHintForRow(0) + frame.top() + frame.bottom())

    def put(self, lines: Sequence[Shown], chosen: str = "") -> None:
        """Show other lines; one of them stays, or becomes, the chosen one.

        Args:
            lines: the lines.
            chosen: id of the one to choose; "" for none.
        """
        self.shown.put(lines)
        place = next((nr for nr, line in enumerate(lines) if line.id == chosen and chosen), -1)
        if place >= 0:
            self.setCurrentIndex(self.shown.index(place, 0))

    def currentChanged(self, current: _Index, previous: _Index) -> None:  # noqa: N802 - Qt's name
        """Another line is looked at."""
        super().currentChanged(current, previous)
        self._told(current)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Enter opens what is chosen."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._open()
            return
        super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Lines, faded where the list goes on."""
        super().paintEvent(event)
        fade_edges(self, self._theme.colour("surface"), self._theme.px(HIGH))

    def _told(self, index: _Index) -> None:
        line = index.data(SHOWN) if index.isValid() else None
        if isinstance(line, Shown) and line.id:
            self.looked_at.emit(line.id)

    def _open(self) -> None:
        if self.current:
            self.opened.emit(self.current)
