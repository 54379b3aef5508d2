"""Tables of whole rows that Qt paints itself: a still one, and one whose rows can be ticked, filtered and sorted.

Must not do: know what the rows represent.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView

from ui.lists.table_view import TableColumn, TableModel, TableSpec
from ui.theme.theme import Theme
from ui.widgets.plaintext import escape_tooltip

_Index = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True, slots=True)
class TickRow:
    """A row that can be ticked.

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


class _TickSpec(TableSpec[TickRow]):
    def __init__(self, titles: Sequence[str], numbers: Iterable[int]) -> None:
        aligned = frozenset(numbers)
        self.columns = [TableColumn(title, 0, is_number=at in aligned) for at, title in enumerate(titles)]
        self._places = {title: at for at, title in enumerate(titles)}

    def cell_text(self, title: str, row: TickRow) -> str:
        """The row's own words."""
        return row.cells[self._places[title]]

    def accessible_text(self, title: str, row: TickRow) -> str:
        """Its words after the column's."""
        return f"{title}: {self.cell_text(title, row)}"

    def tool_tip(self, title: str, row: TickRow) -> str:
        """What more there is to say, on the first column."""
        return escape_tooltip(row.tip) if self._places[title] == 0 else ""


class TickModel(TableModel[TickRow]):
    """Rows with a tick in the first column; its `rows` are those that are shown, in the order they are sorted.

    Attributes:
        ticked: keys of the ticked rows, whether they are shown or filtered out.

    Signals:
        ticks: what is ticked is different now.
    """

    ticks = Signal()

    def __init__(self, titles: Sequence[str], numbers: Iterable[int]) -> None:
        """Make it.

        Args:
            titles: of the columns.
            numbers: columns that hold numbers.
        """
        super().__init__(_TickSpec(titles, numbers))
        self._all: list[TickRow] = []
        self._typed, self._column, self._descends = "", -1, False
        self.ticked: set[str] = set()

    @property
    def lines(self) -> Sequence[TickRow]:
        """All rows, in the order they were given."""
        return self._all

    def show_lines(self, lines: Sequence[TickRow], ticked: Iterable[str]) -> None:
        """Show other rows.

        Args:
            ticked: keys of those that are ticked.
        """
        self._all, self.ticked = list(lines), set(ticked)
        self._refill_rows()
        self.ticks.emit()

    def filter_rows(self, typed: str) -> None:
        """Show only rows in which all the typed words occur."""
        self._typed = typed.casefold()
        self._refill_rows()

    def _refill_rows(self) -> None:
        words = self._typed.split()
        self.beginResetModel()
        self.rows = [row for row in self._all if not words or _contains_words(row, words)]
        if self._column >= 0:
            at = self._column
            self.rows.sort(key=lambda row: row.order[at], reverse=self._descends)
        self.endResetModel()

    def tick_shown(self, *, is_on: bool) -> None:
        """Tick, or untick, every row that is shown."""
        keys = {row.key for row in self.rows}
        self.ticked = self.ticked | keys if is_on else self.ticked - keys
        self._emit_ticks_changed(0, len(self.rows) - 1)

    def toggle_ticks(self, places: Sequence[int]) -> None:
        """Tick rows, or untick them where all of them are ticked.

        Args:
            places: their numbers, as shown.
        """
        keys = {self.rows[place].key for place in places}
        self.ticked = self.ticked - keys if keys <= self.ticked else self.ticked | keys
        if places:
            self._emit_ticks_changed(min(places), max(places))

    def _emit_ticks_changed(self, first: int, last: int) -> None:
        if last >= first:
            self.dataChanged.emit(self.index(first, 0), self.index(last, 0), [Qt.ItemDataRole.CheckStateRole])
        self.ticks.emit()

    # ---- what Qt asks beyond a table

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """What is in a cell, and the tick of the first."""
        row = self.row_at(index.row()) if index.isValid() else None
        if row is not None and role == Qt.ItemDataRole.CheckStateRole and index.column() == 0:
            return Qt.CheckState.Checked if row.key in self.ticked else Qt.CheckState.Unchecked
        return super().data(index, role)

    def setData(self, index: _Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:  # noqa: N802 - Qt's
        """Tick or untick."""
        if not index.isValid() or role != Qt.ItemDataRole.CheckStateRole or index.column() != 0:
            return False
        key = self.rows[index.row()].key
        if Qt.CheckState(value) is Qt.CheckState.Checked:
            self.ticked.add(key)
        else:
            self.ticked.discard(key)
        self._emit_ticks_changed(index.row(), index.row())
        return True

    def flags(self, index: _Index) -> Qt.ItemFlag:
        """The first column can be ticked."""
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        common = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemNeverHasChildren
        return common | Qt.ItemFlag.ItemIsUserCheckable if index.column() == 0 else common

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by a column; -1 for the order they were given in."""
        self._column, self._descends = column, order is Qt.SortOrder.DescendingOrder
        self._refill_rows()


def _contains_words(row: TickRow, words: Sequence[str]) -> bool:
    text = " ".join(row.cells).casefold()
    return all(word in text for word in words)


class StillTable(QTableView):
    """A table of whole rows: columns are as wide as what is in them, the first takes the rest."""

    def __init__(self, theme: Theme, model: QAbstractItemModel, name: str) -> None:
        """Make it.

        Args:
            name: what it lists, for those who do not see it.
        """
        super().__init__()
        self.theme = theme
        self.setModel(model)
        self.setAccessibleName(name)
        self.setTabKeyNavigation(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.verticalHeader().hide()
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        theme.changed.connect(self.set_row_heights)

    def set_row_heights(self) -> None:
        """Give the rows their height at the theme's text size."""


class TickTable(StillTable):
    """The table of rows that can be ticked; Space ticks what is selected."""

    def __init__(self, theme: Theme, model: TickModel, name: str) -> None:
        super().__init__(theme, model, name)
        self._ticks = model
        self.setShowGrid(False)
        self.setWordWrap(False)
        header = self.horizontalHeader()
        header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        header.setResizeContentsPrecision(100)
        header.setMinimumSectionSize(56)
        self.setSortingEnabled(True)
        self.set_row_heights()

    def set_row_heights(self) -> None:
        """All rows are of one height."""
        self.verticalHeader().setDefaultSectionSize(self.theme.px(32))

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Space ticks; Enter is the dialog's."""
        if event.key() == Qt.Key.Key_Space:
            self._ticks.toggle_ticks([index.row() for index in self.selectionModel().selectedRows()])
        elif event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            event.ignore()
        else:
            super().keyPressEvent(event)
