"""A table whose rows can be ticked: exports that were found, conversations of an export.

Must not do: know what the rows stand for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView

from ui.theme.theme import Theme
from ui.widgets.plaintext import tip

Index = QModelIndex | QPersistentModelIndex
_NUMBER = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
_WORDS = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)


@dataclass(frozen=True, slots=True)
class Line:
    """A row.

    Attributes:
        key: names it.
        cells: one text a column; plain text.
        order: one value a column, to sort by.
        tip: what more there is to say; "" for nothing.
    """

    key: str
    cells: tuple[str, ...]
    order: tuple[Any, ...]
    tip: str = ""


class TickModel(QAbstractTableModel):
    """Rows with a tick in the first column.

    Signals:
        ticks: what is ticked is different now.

    Attributes:
        ticked: keys of the ticked rows, whether they are shown or filtered out.
    """

    ticks = Signal()

    def __init__(self, titles: Sequence[str], numbers: Iterable[int]) -> None:
        """Make it.

        Args:
            titles: of the columns.
            numbers: columns that hold numbers.
        """
        super().__init__()
        self._titles, self._numbers = tuple(titles), frozenset(numbers)
        self._all: list[Line] = []
        self._shown: list[Line] = []
        self._typed, self._column, self._descends = "", -1, False
        self.ticked: set[str] = set()

    @property
    def lines(self) -> Sequence[Line]:
        """All rows, in the order they were given."""
        return self._all

    def show_lines(self, lines: Sequence[Line], ticked: Iterable[str]) -> None:
        """Show other rows.

        Args:
            lines: all of them.
            ticked: keys of those that are ticked.
        """
        self._all, self.ticked = list(lines), set(ticked)
        self._refill()
        self.ticks.emit()

    def filter(self, typed: str) -> None:
        """Show only rows in which all the typed words occur."""
        self._typed = typed.casefold()
        self._refill()

    def _refill(self) -> None:
        words = self._typed.split()
        self.beginResetModel()
        self._shown = [line for line in self._all if not words or _holds(line, words)]
        if self._column >= 0:
            at = self._column
            self._shown.sort(key=lambda line: line.order[at], reverse=self._descends)
        self.endResetModel()

    def tick_shown(self, *, is_on: bool) -> None:
        """Tick, or untick, every row that is shown."""
        keys = {line.key for line in self._shown}
        self.ticked = self.ticked | keys if is_on else self.ticked - keys
        self._ticks_changed(0, len(self._shown) - 1)

    def toggle(self, rows: Sequence[int]) -> None:
        """Tick rows, or untick them where all of them are ticked.

        Args:
            rows: their numbers, as shown.
        """
        keys = {self._shown[row].key for row in rows}
        self.ticked = self.ticked - keys if keys <= self.ticked else self.ticked | keys
        if rows:
            self._ticks_changed(min(rows), max(rows))

    def _ticks_changed(self, first: int, last: int) -> None:
        if last >= first:
            self.dataChanged.emit(self.index(first, 0), self.index(last, 0), [Qt.ItemDataRole.CheckStateRole])
        self.ticks.emit()

    # ---- Qt's model

    def rowCount(self, parent: Index | None = None) -> int:  # noqa: N802 - Qt's name
        """Rows that are shown."""
        return 0 if parent is not None and parent.isValid() else len(self._shown)

    def columnCount(self, parent: Index | None = None) -> int:  # noqa: N802 - Qt's name
        """Columns."""
        return 0 if parent is not None and parent.isValid() else len(self._titles)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """What stands in a cell."""
        if not index.isValid() or index.row() >= len(self._shown):
            return None
        line, at = self._shown[index.row()], index.column()
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return line.cells[at]
            case Qt.ItemDataRole.CheckStateRole if at == 0:
                return Qt.CheckState.Checked if line.key in self.ticked else Qt.CheckState.Unchecked
            case Qt.ItemDataRole.TextAlignmentRole:
                return _NUMBER if at in self._numbers else _WORDS
            case Qt.ItemDataRole.ToolTipRole if at == 0:
                return tip(line.tip) or None
            case Qt.ItemDataRole.AccessibleTextRole:
                return f"{self._titles[at]}: {line.cells[at]}"
        return None

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:  # noqa: N802 - Qt's
        """Tick or untick."""
        if not index.isValid() or role != Qt.ItemDataRole.CheckStateRole or index.column() != 0:
            return False
        key = self._shown[index.row()].key
        if Qt.CheckState(value) is Qt.CheckState.Checked:
            self.ticked.add(key)
        else:
            self.ticked.discard(key)
        self._ticks_changed(index.row(), index.row())
        return True

    def flags(self, index: Index) -> Qt.ItemFlag:
        """The first column can be ticked."""
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        common = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemNeverHasChildren
        return common | Qt.ItemFlag.ItemIsUserCheckable if index.column() == 0 else common

    def headerData(  # noqa: N802 - Qt's name
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """Titles of the columns."""
        if orientation is not Qt.Orientation.Horizontal or not 0 <= section < len(self._titles):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self._titles[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _NUMBER if section in self._numbers else _WORDS
        return None

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by a column; -1 for the order they were given in."""
        self._column, self._descends = column, order is Qt.SortOrder.DescendingOrder
        self._refill()


def _holds(line: Line, words: Sequence[str]) -> bool:
    text = " ".join(line.cells).casefold()
    return all(word in text for word in words)


class TickTable(QTableView):
    """The table; Space ticks what is selected."""

    def __init__(self, theme: Theme, model: TickModel, name: str) -> None:
        """Make it.

        Args:
            theme: the theme.
            model: its rows.
            name: what it lists, for those who do not see it.
        """
        super().__init__()
        self._theme, self._rows = theme, model
        self.setModel(model)
        self.setAccessibleName(name)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.verticalHeader().hide()
        head = self.horizontalHeader()
        head.setHighlightSections(False)
        head.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        head.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        head.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        head.setResizeContentsPrecision(100)
        head.setMinimumSectionSize(56)
        self.setSortingEnabled(True)
        self._restyle()
        theme.changed.connect(self._restyle)

    def _restyle(self) -> None:
        self.verticalHeader().setDefaultSectionSize(self._theme.px(32))

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Space ticks; Enter is the dialog's."""
        if event.key() == Qt.Key.Key_Space:
            self._rows.toggle([index.row() for index in self.selectionModel().selectedRows()])
        elif event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            event.ignore()
        else:
            super().keyPressEvent(event)
