"""Memories in the order of time as a list that grows as somebody scrolls: rows under the headings of their days.

Must not do: decide which memories; it is told where to read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from core.types.values import Status
from core.types.views import MemoryRow, TimeCursor, TimePage
from ui.context import Context
from ui.pages.timeline.words import clock_at, day_name, when_of, who_of
from ui.tasks import query
from ui.widgets.plaintext import one_line, tip
from ui.widgets.words import KIND_WORDS, STATUS_WORDS, said_or_noted

MEMORY = Qt.ItemDataRole.UserRole
"""Role of a line's `MemoryRow`; None for a heading."""

Fetch = Callable[[TimeCursor | None], Future[TimePage]]
Line = MemoryRow | str
"""A memory, or the heading of a day."""
_Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()


class MomentModel(QAbstractListModel):
    """Memories, oldest first, a heading before each day.

    Attributes:
        total: how many there are on all pages.
        is_settled: whether what was asked for has come.

    Signals:
        came: a page came.
        failed: the error; what was shown stays.
    """

    came = Signal()
    failed = Signal(object)

    def __init__(self, context: Context, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self.total = 0
        self.is_settled = True
        self._fetch: Fetch | None = None
        self._lines: list[Line] = []
        self._next: TimeCursor | None = None

    # ---- what Qt asks

    def rowCount(self, parent: _Index = _NOWHERE) -> int:  # noqa: N802 - Qt's name
        """Memories and headings."""
        return 0 if parent.isValid() else len(self._lines)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """A line."""
        if not index.isValid() or index.row() >= len(self._lines):
            return None
        line = self._lines[index.row()]
        if role == MEMORY:
            return line if isinstance(line, MemoryRow) else None
        if role in {Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole}:
            return line if isinstance(line, str) else f"{KIND_WORDS[line.kind]}: {one_line(line.head)}. {details(line)}"
        if role == Qt.ItemDataRole.ToolTipRole and isinstance(line, MemoryRow):
            return tip(one_line(line.head))
        return None

    def flags(self, index: _Index) -> Qt.ItemFlag:
        """Headings cannot be chosen."""
        if not index.isValid() or self.memory_at(index.row()) is None:
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemNeverHasChildren

    def canFetchMore(self, parent: _Index) -> bool:  # noqa: N802 - Qt's name
        """Whether later ones are left."""
        return not parent.isValid() and self._next is not None and self.is_settled

    def fetchMore(self, parent: _Index) -> None:  # noqa: N802 - Qt's name
        """Read later ones."""
        if self.canFetchMore(parent):
            self._ask(self._next, self._append)

    # ---- what the page asks

    def memory_at(self, place: int) -> MemoryRow | None:
        """The memory of a line; None for a heading."""
        line = self._lines[place] if 0 <= place < len(self._lines) else ""
        return line if isinstance(line, MemoryRow) else None

    def place_of(self, memory_id: str) -> int:
        """The line of a memory; -1 where it is not listed."""
        for place, line in enumerate(self._lines):
            if isinstance(line, MemoryRow) and line.id == memory_id:
                return place
        return -1

    def read(self, fetch: Fetch) -> None:
        """List other memories; what is shown stays until they come.

        Args:
            fetch: reads a page behind a cursor.
        """
        self._fetch = fetch
        self._ask(None, self._replace)

    def _ask(self, after: TimeCursor | None, then: Callable[[TimePage], None]) -> None:
        fetch = self._fetch
        if fetch is None:
            return
        self.is_settled = False
        self._context.tasks.run(
            query("Reading the timeline", lambda: fetch(after))
            .within(self, "page")
            .success(then)
            .failure(self._give_up)
        )

    def _replace(self, page: TimePage) -> None:
        lines = _with_days("", page.rows)
        self.is_settled, self._next, self.total = True, page.after, page.total
        if lines != self._lines:
            self.beginResetModel()
            self._lines = lines
            self.endResetModel()
        self.came.emit()

    def _append(self, page: TimePage) -> None:
        self.is_settled, self._next, self.total = True, page.after, page.total
        last = self._lines[-1] if self._lines else ""
        lines = _with_days(last if isinstance(last, str) else day_name(when_of(last)), page.rows)
        if lines:
            first = len(self._lines)
            self.beginInsertRows(_NOWHERE, first, first + len(lines) - 1)
            self._lines.extend(lines)
            self.endInsertRows()
        self.came.emit()

    def _give_up(self, error: BaseException) -> None:
        self.is_settled = True
        self.failed.emit(error)


def details(row: MemoryRow) -> str:
    """The second line of a memory: when, whose words, where it stands."""
    parts = [*clock_at(row), who_of(row), one_line(row.space, 40)]
    if row.conversation:
        parts.append(one_line(row.conversation, 60))
    if row.occurred is None:
        parts.append(said_or_noted(row.occurred, row.recorded_at))
    if row.status is not Status.ACTIVE:
        parts.append(STATUS_WORDS[row.status].lower())
    return " · ".join(parts)


def _with_days(day: str, rows: Sequence[MemoryRow]) -> list[Line]:
    lines: list[Line] = []
    for row in rows:
        its = day_name(when_of(row))
        if its != day:
            lines.append(its)
            day = its
        lines.append(row)
    return lines
