"""Lines of a list for Qt: rows under headings, and more of them where somebody scrolls to the end.

Must not do: ask the engine, or know what a row is for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from ui.widgets.plaintext import tip

LINE = Qt.ItemDataRole.UserRole
"""Role of a line: a row or a `Heading`."""
_Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading between rows."""

    title: str


class LineRow(Protocol):
    """What stands in a line."""

    @property
    def id(self) -> str:
        """Unique within the list."""

    @property
    def told(self) -> str:
        """All of it, for those who hear it."""


R = TypeVar("R", bound=LineRow)


class LineModel(QAbstractListModel, Generic[R]):
    """Lines.

    Signals:
        more: somebody scrolled to the end, and more can be had.
    """

    more = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.lines: list[R | Heading] = []
        self.has_more = False

    def rowCount(self, parent: _Index = _NOWHERE) -> int:  # noqa: N802 - Qt's name
        """How many."""
        return 0 if parent.isValid() else len(self.lines)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """A line."""
        if not index.isValid() or index.row() >= len(self.lines):
            return None
        line = self.lines[index.row()]
        if role == LINE:
            return line
        if role in {Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole}:
            return line.title if isinstance(line, Heading) else line.told
        if role == Qt.ItemDataRole.ToolTipRole and not isinstance(line, Heading):
            return tip(line.told)
        return None

    def flags(self, index: _Index) -> Qt.ItemFlag:
        """Headings cannot be chosen."""
        if not index.isValid() or isinstance(self.lines[index.row()], Heading):
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

    def row_at(self, place: int) -> R | None:
        """The row of a line; None for a heading or beyond the end."""
        line = self.lines[place] if 0 <= place < len(self.lines) else None
        return None if isinstance(line, Heading) else line

    def place_of(self, row_id: str) -> int:
        """The line of a row; -1 where it is not listed."""
        found = (at for at, line in enumerate(self.lines) if not isinstance(line, Heading) and line.id == row_id)
        return next(found, -1)

    def show_lines(self, lines: Sequence[R | Heading], *, has_more: bool = False) -> bool:
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

    def append(self, lines: Sequence[R | Heading], *, has_more: bool) -> None:
        """Put more lines behind those that are there."""
        if lines:
            self.beginInsertRows(_NOWHERE, len(self.lines), len(self.lines) + len(lines) - 1)
            self.lines.extend(lines)
            self.endInsertRows()
        self.has_more = has_more
