"""A table: columns, model, painter and view; whole lines with hover, focus and keys of their own.

Must not do: ask the engine, or know what is in it; its specification says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from PySide6.QtCore import (
    QAbstractTableModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QFocusEvent, QFont, QFontMetrics, QKeyEvent, QPainter, QPen, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
)

from ui.lists.list_view import HoverWatch
from ui.theme.theme import Theme
from ui.theme.tokens import FontRole, spacing
from ui.widgets.basics import accept_own_key, plain_key
from ui.widgets.tooltips import wrap_tooltip

_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column of a table.

    Attributes:
        title: in its header, or its key in the `titles` of the table.
        width: pixels at 100 %; of the one that takes the rest, its least width.
        order: columns of a high order are the first to go where there is no room; 0 never goes.
        stretches: whether it takes what the others leave, or its share of it.
        is_number: whether it is at the right.
    """

    title: str
    width: int
    order: int = 0
    stretches: bool = False
    is_number: bool = False


def alignment_of(column: TableColumn) -> Qt.AlignmentFlag:
    """Where a column's words are."""
    return _RIGHT if column.is_number else _LEFT


def shown_columns(columns: Sequence[TableColumn], width: int, theme: Theme) -> frozenset[int]:
    """The columns there is room for.

    Args:
        width: pixels there are.
        theme: for their widths.
    """
    shown = set(range(len(columns)))
    for place in sorted(shown, key=lambda at: -columns[at].order):
        needed = sum(theme.px(columns[at].width) for at in shown)
        if needed <= width or not columns[place].order:
            break
        shown.discard(place)
    return frozenset(shown)


class TableSpec(Generic[R]):
    """What the rows of a table are. A page says what is in their cells; the rest is alike in all tables.

    Attributes:
        columns: all of them, shown or not.
        titles: what is in the header, by the title of a column; one that is not in it is shown as it is.
        has_plain_header: whether Qt puts the titles where it likes, not above what they name.
    """

    columns: Sequence[TableColumn] = ()
    titles: Mapping[str, str] = MappingProxyType({})
    has_plain_header = False

    def cell_text(self, title: str, row: R) -> str:
        """What is in a cell.

        Args:
            title: of the column.
        """
        raise NotImplementedError  # each kind says it

    def cell_colour(self, _title: str, _row: R) -> str:
        """The token of a cell's colour."""
        return "ink"

    def column_font(self, _title: str) -> FontRole:
        """The font of a column."""
        return "body"

    def accessible_text(self, title: str, row: R) -> str:
        """A cell in words, for those who hear it."""
        return self.cell_text(title, row)

    def tool_tip(self, _title: str, _row: R) -> str:
        """What is said where the pointer rests on a cell; "" for nothing."""
        return ""

    def qt_font(self, _title: str) -> QFont | None:
        """The font of a column where Qt paints the cells itself; None for the table's own."""
        return None


INK = Qt.ItemDataRole.UserRole + 1
"""Role of the token of a cell's colour."""
FONT = Qt.ItemDataRole.UserRole + 2
"""Role of a cell's font role."""
_Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()


class TableModel(QAbstractTableModel, Generic[R]):
    """The rows of a table, as Qt's model.

    Attributes:
        rows: those that were read so far.
        has_more: whether more can be had.

    Signals:
        more: somebody scrolled to the end, and more can be had.
    """

    more = Signal()

    def __init__(self, spec: TableSpec[R], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._spec, self._columns = spec, spec.columns
        self.rows: list[R] = []
        self.has_more = False

    # ---- what Qt asks

    def rowCount(self, parent: _Index = _NOWHERE) -> int:  # noqa: N802 - Qt's name
        """How many rows there are."""
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: _Index = _NOWHERE) -> int:  # noqa: N802 - Qt's name
        """How many columns, shown or not."""
        return 0 if parent.isValid() else len(self._columns)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """What Qt asks of a cell."""
        row = self.row_at(index.row()) if index.isValid() else None
        if row is None:
            return None
        title = self._columns[index.column()].title
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return self._spec.cell_text(title, row)
            case Qt.ItemDataRole.AccessibleTextRole:
                return self._spec.accessible_text(title, row)
            case Qt.ItemDataRole.ToolTipRole:
                return wrap_tooltip(self._spec.tool_tip(title, row)) or None
            case Qt.ItemDataRole.FontRole:
                return self._spec.qt_font(title)
            case Qt.ItemDataRole.TextAlignmentRole:
                return alignment_of(self._columns[index.column()])
            case _ if role == INK:
                return self._spec.cell_colour(title, row)
            case _ if role == FONT:
                return self._spec.column_font(title)
        return None

    def headerData(  # noqa: N802 - Qt's name
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """A column's title."""
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < len(self._columns):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            title = self._columns[section].title
            return self._spec.titles.get(title, title)
        if role == Qt.ItemDataRole.TextAlignmentRole and not self._spec.has_plain_header:
            return alignment_of(self._columns[section])
        return None

    def canFetchMore(self, parent: _Index) -> bool:  # noqa: N802 - Qt's name
        """Whether more can be had."""
        return not parent.isValid() and self.has_more

    def fetchMore(self, parent: _Index) -> None:  # noqa: N802 - Qt's name
        """Ask for more, once."""
        if self.canFetchMore(parent):
            self.has_more = False
            self.more.emit()

    # ---- what a page asks

    def row_at(self, place: int) -> R | None:
        """A row; None outside."""
        return self.rows[place] if 0 <= place < len(self.rows) else None

    def show_rows(self, rows: Sequence[R], *, has_more: bool = False) -> None:
        """List other rows; nothing happens where they are the same."""
        self.has_more = has_more
        if list(rows) != self.rows:
            self.beginResetModel()
            self.rows = list(rows)
            self.endResetModel()

    def insert_rows(self, place: int, rows: Sequence[R]) -> None:
        """Put rows before a place."""
        if rows:
            self.beginInsertRows(_NOWHERE, place, place + len(rows) - 1)
            self.rows[place:place] = rows
            self.endInsertRows()


class CellPainter(QStyledItemDelegate):
    """Draws cells: words in one line, cut where there is no room; hairlines; a ring round the line with the keyboard.

    Attributes:
        hovered: the line under the pointer; -1 for none.
        ends: the first and the last column that are shown.
    """

    def __init__(self, theme: Theme, view: QTableView) -> None:
        super().__init__(view)
        self._theme, self._view = theme, view
        self.hovered = -1
        self.ends = (0, 0)

    def sizeHint(self, _option: QStyleOptionViewItem, _index: QModelIndex | QPersistentModelIndex) -> QSize:  # noqa: N802
        """All lines are of one height."""
        return QSize(40, self._theme.px(self._theme.tokens.sizes.row))

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Draw a cell."""
        theme, rect = self._theme, QRect(option.rect)
        painter.save()
        is_chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        if is_chosen:
            painter.fillRect(rect, theme.colour("selection"))
        elif index.row() == self.hovered:
            painter.fillRect(rect, theme.colour("raised"))
        painter.fillRect(QRect(rect.left(), rect.bottom(), rect.width(), 1), theme.colour("line"))
        if is_chosen and self._view.hasFocus():
            self._draw_ring(painter, rect, index.column())
        role: FontRole = index.data(FONT) or "body"
        font = theme.font(role)
        painter.setFont(font)
        painter.setPen(theme.colour(index.data(INK) or "ink"))
        inner = rect.adjusted(spacing().s, 0, -spacing().s, 0)
        shown = QFontMetrics(font).elidedText(str(index.data()), Qt.TextElideMode.ElideRight, inner.width())
        align = index.data(Qt.ItemDataRole.TextAlignmentRole)
        painter.drawText(inner, align, shown)
        painter.restore()

    def _draw_ring(self, painter: QPainter, rect: QRect, column: int) -> None:
        painter.setPen(QPen(self._theme.colour("focus"), 2))
        painter.drawLine(rect.left(), rect.top() + 1, rect.right(), rect.top() + 1)
        painter.drawLine(rect.left(), rect.bottom() - 1, rect.right(), rect.bottom() - 1)
        if column == self.ends[0]:
            painter.drawLine(rect.left() + 1, rect.top(), rect.left() + 1, rect.bottom())
        if column == self.ends[1]:
            painter.drawLine(rect.right() - 1, rect.top(), rect.right() - 1, rect.bottom())


_KEYS = {Qt.Key.Key_Return: "open", Qt.Key.Key_Enter: "open", Qt.Key.Key_Delete: "remove"}


class TableView(QTableView):
    """A table of whole lines.

    Attributes:
        lines: what is in it.

    Signals:
        looked_at: the line that is looked at now; -1 for none.
        asked: `open` or `remove`, by key or double click.
    """

    looked_at = Signal(int)
    asked = Signal(str)

    def __init__(self, theme: Theme, spec: TableSpec[Any], name: str) -> None:
        """Make it.

        Args:
            spec: what its rows are.
            name: for those who do not see it.
        """
        super().__init__()
        self._theme, self._columns = theme, spec.columns
        self.lines: TableModel[Any] = TableModel(spec, self)
        self.painter = CellPainter(theme, self)
        self.setModel(self.lines)
        self.setItemDelegate(self.painter)
        self.setAccessibleName(name)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setCornerButtonEnabled(False)
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.horizontalHeader().setHighlightSections(False)
        self.horizontalHeader().setSectionsClickable(False)
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.horizontalHeader().setMinimumSectionSize(theme.px(24))
        self.selectionModel().currentRowChanged.connect(self._on_current_row_changed)
        self.doubleClicked.connect(self._on_row_activated)
        HoverWatch(self, self.painter)
        theme.changed.connect(self._restyle_rows)
        self._restyle_rows()

    def _on_current_row_changed(self, current: QModelIndex, _before: QModelIndex) -> None:
        self.looked_at.emit(current.row())

    def _on_row_activated(self, _index: QModelIndex) -> None:
        self.asked.emit("open")

    def _restyle_rows(self) -> None:
        self.verticalHeader().setDefaultSectionSize(self._theme.px(self._theme.tokens.sizes.row))
        self.fit_columns()
        self.viewport().update()

    def fit_columns(self) -> None:
        """Give every column its width, and the one that stretches what is left."""
        width = self.viewport().width()
        shown = shown_columns(self._columns, width, self._theme)
        widths = {at: self._theme.px(self._columns[at].width) for at in shown}
        rest = width - sum(widths.values())
        header = self.horizontalHeader()
        takers = {at for at in shown if self._columns[at].stretches} or {max(shown)}
        for at in range(len(self._columns)):
            header.setSectionHidden(at, at not in shown)
            if at in shown:
                header.resizeSection(at, widths[at] + (max(0, rest) // len(takers) if at in takers else 0))
        self.painter.ends = (min(shown), max(shown))

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Enter opens a line, Del removes it."""
        if self._is_own_key(event):
            self.asked.emit(_KEYS[Qt.Key(event.key())])
        else:
            super().keyPressEvent(event)

    def _is_own_key(self, event: QKeyEvent) -> bool:
        return plain_key(event) in _KEYS

    def event(self, event: QEvent) -> bool:
        """Its keys are its own, although the window forgets a memory by Del."""
        return accept_own_key(event, self._is_own_key) or super().event(event)

    def keyboardSearch(self, _typed: str) -> None:  # noqa: N802 - Qt's name
        """Letters do not search."""

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802 - Qt's name
        """The first line takes the keyboard where none has it yet."""
        if not self.currentIndex().isValid() and self.lines.rowCount():
            self.selectRow(0)  # first: Qt would take it without choosing it
        super().focusInEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """The columns follow."""
        super().resizeEvent(event)
        self.fit_columns()
