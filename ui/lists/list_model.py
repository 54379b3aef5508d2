"""Lines of a list for Qt: rows under headings, and more of them where somebody scrolls to the end.

Must not do: ask the engine, or know what a row is for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from ui.lists.row_spec import Inert, RowSpec

LINE = Qt.ItemDataRole.UserRole
"""Role of a line: a row, or something `Inert` such as a `Heading`."""
_Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()
R = TypeVar("R")


class ListModel(QAbstractListModel, Generic[R]):
    """Lines.

    Signals:
        more: somebody scrolled to the end, and more can be had.
    """

    more = Signal()

    def __init__(self, spec: RowSpec[R], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._spec = spec
        self.lines: list[R | Inert] = []
        self.has_more = False

    # ---- what Qt asks

    def rowCount(self, parent: _Index = _NOWHERE) -> int:  # noqa: N802 - Qt's name
        """How many."""
        return 0 if parent.isValid() else len(self.lines)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """A line, or its words."""
        line = self.line_at(index.row()) if index.isValid() else None
        if line is None:
            return None
        if role == LINE:
            return line
        if role in {Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole}:
            return line.describe() if isinstance(line, Inert) else self._spec.describe(line)
        if role == Qt.ItemDataRole.ToolTipRole:
            return line.hint() if isinstance(line, Inert) else self._spec.hint(line)
        return None

    def flags(self, index: _Index) -> Qt.ItemFlag:
        """Only rows can be chosen."""
        if not index.isValid() or self.row_at(index.row()) is None:
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemNeverHasChildren

    def canFetchMore(self, parent: _Index) -> bool:  # noqa: N802 - Qt's name
        """Whether more can be had."""
        return not parent.isValid() and self.has_more

    def fetchMore(self, parent: _Index) -> None:  # noqa: N802 - Qt's name
        """Ask for more, once."""
        if self.canFetchMore(parent):
            self.has_more = False
            self.more.emit()

    # ---- what a page asks

    def line_at(self, place: int) -> R | Inert | None:
        """A line; None outside."""
        return self.lines[place] if 0 <= place < len(self.lines) else None

    def row_at(self, place: int) -> R | None:
        """The row of a line; None for a heading or beyond the end."""
        line = self.line_at(place)
        return None if isinstance(line, Inert) else line

    def rows(self) -> list[R]:
        """All rows, in the order they stand."""
        return [line for line in self.lines if not isinstance(line, Inert)]

    def place_of(self, row_id: str) -> int:
        """The line of a row; -1 where it is not listed."""
        if not row_id:
            return -1
        key: Callable[[R], str] = self._spec.key
        found = (at for at, line in enumerate(self.lines) if not isinstance(line, Inert) and key(line) == row_id)
        return next(found, -1)

    def group_of(self, place: int) -> range:
        """The rows under the heading that stands over a line, or is it."""
        first = place
        while first >= 0 and not isinstance(self.line_at(first), Inert):
            first -= 1
        last = first + 1
        while self.row_at(last) is not None:
            last += 1
        return range(first + 1, last)

    def show_lines(self, lines: Sequence[R | Inert], *, has_more: bool = False) -> bool:
        """List other lines; nothing happens where they are the same.

        Args:
            lines: what to show.
            has_more: whether more can be had.

        Returns:
            Whether they were others.
        """
        self.has_more = has_more
        if list(lines) == self.lines:
            return False
        self.beginResetModel()
        self.lines = list(lines)
        self.endResetModel()
        return True

    def append(self, lines: Sequence[R | Inert], *, has_more: bool) -> None:
        """Put more lines behind those that are there."""
        self.insert(len(self.lines), lines)
        self.has_more = has_more

    def insert(self, place: int, lines: Sequence[R | Inert]) -> None:
        """Put lines before a place."""
        if lines:
            self.beginInsertRows(_NOWHERE, place, place + len(lines) - 1)
            self.lines[place:place] = lines
            self.endInsertRows()

    def remove(self, place: int) -> None:
        """Take a line away."""
        self.beginRemoveRows(_NOWHERE, place, place)
        del self.lines[place]
        self.endRemoveRows()
