"""Rows of a table for Qt, and more of them where somebody scrolls to the end.

Must not do: ask the engine, or know what a row is for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from ui.lists.table_spec import TableSpec, alignment_of

INK = Qt.ItemDataRole.UserRole + 1
"""Role of the token of a cell's colour."""
FONT = Qt.ItemDataRole.UserRole + 2
"""Role of a cell's font role."""
_Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()
R = TypeVar("R")


class TableModel(QAbstractTableModel, Generic[R]):
    """Rows.

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
        """How many."""
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: _Index = _NOWHERE) -> int:  # noqa: N802 - Qt's name
        """How many columns, shown or not."""
        return 0 if parent.isValid() else len(self._columns)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """A cell."""
        row = self.row_at(index.row()) if index.isValid() else None
        if row is None:
            return None
        title = self._columns[index.column()].title
        match role:
            case Qt.ItemDataRole.DisplayRole | Qt.ItemDataRole.AccessibleTextRole:
                return self._spec.text(title, row)
            case Qt.ItemDataRole.TextAlignmentRole:
                return alignment_of(self._columns[index.column()])
            case _ if role == INK:
                return self._spec.ink(title, row)
            case _ if role == FONT:
                return self._spec.font(title)
        return None

    def headerData(  # noqa: N802 - Qt's name
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """A column's title."""
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < len(self._columns):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self._columns[section].title
        if role == Qt.ItemDataRole.TextAlignmentRole:
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

    def insert(self, place: int, rows: Sequence[R]) -> None:
        """Put rows before a place."""
        if rows:
            self.beginInsertRows(_NOWHERE, place, place + len(rows) - 1)
            self.rows[place:place] = rows
            self.endInsertRows()
