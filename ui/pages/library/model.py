"""The table's model: all ids at once, rows by pages of 200, asked for where somebody looks.

What is shown stays until newer rows come. Must not do: wait, or touch more rows than are in sight.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from core.types.views import MemoryRow
from ui.context import Context
from ui.pages.library.columns import COLUMNS, TEXT, cell_text
from ui.tasks import query
from ui.widgets.words import WARNED_WORDS

PAGE_ROWS = 200
_AHEAD = 40  # rows beyond what is in sight
_AT_ONCE = 2  # a dragged scroll bar must not queue a hundred pages
_MOST_ROWS = 20_000
_KEPT_PAGES = 20

_Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


class MemoryTable(QAbstractTableModel):
    """Memories as lines of a table.

    Attributes:
        ids: all of them, in order.
        fetched: how many pages were asked for so far.
    """

    def __init__(self, context: Context, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self.ids: tuple[str, ...] = ()
        self.fetched = 0
        self._round = 0
        self._sorted, self._falls = -1, True
        self._rows: dict[str, MemoryRow] = {}
        self._fresh: set[int] = set()
        self._flying: set[int] = set()
        self._failed: set[int] = set()
        self._wanted = range(0)

    # ---- what Qt asks

    def rowCount(self, parent: _Index = _NOWHERE) -> int:  # noqa: N802 - Qt's name
        """How many memories."""
        return 0 if parent.isValid() else len(self.ids)

    def columnCount(self, parent: _Index = _NOWHERE) -> int:  # noqa: N802 - Qt's name
        """How many columns, shown or not."""
        return 0 if parent.isValid() else len(COLUMNS)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """A cell's words; `…` while its row is on its way."""
        if not index.isValid() or index.row() >= len(self.ids):
            return None
        column = COLUMNS[index.column()]
        if role in {Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole}:
            row = self.row_at(index.row())
            told = "…" if row is None else cell_text(column, row)
            is_marked = role == Qt.ItemDataRole.AccessibleTextRole and self._is_warned(index)
            return f"{WARNED_WORDS}: {told}" if is_marked else told
        if role == Qt.ItemDataRole.ToolTipRole:
            return WARNED_WORDS if self._is_warned(index) else None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if column.is_number else _LEFT
        return None

    def _is_warned(self, index: QModelIndex | QPersistentModelIndex) -> bool:
        """Whether a cell has the mark of a text that reads like an instruction."""
        row = self.row_at(index.row()) if COLUMNS[index.column()].id == TEXT else None
        return row is not None and row.warned

    def headerData(  # noqa: N802 - Qt's name
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """A column's title."""
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < len(COLUMNS):
            return None
        column = COLUMNS[section]
        if role == Qt.ItemDataRole.DisplayRole:
            arrow = "" if section != self._sorted else (" ↓" if self._falls else " ↑")
            return f"{column.title}{arrow}".strip()
        if role in {Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole}:
            return f"{column.words}; click to sort" if column.sort else column.words
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if column.is_number else _LEFT
        return None

    # ---- what the page asks

    def show_sort(self, section: int, *, falls: bool) -> None:
        """Mark the column by which the list is sorted.

        Args:
            section: its place; -1 for none.
            falls: whether the largest comes first.
        """
        self._sorted, self._falls = section, falls
        self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, len(COLUMNS) - 1)

    def row_at(self, place: int) -> MemoryRow | None:
        """The memory of a line; None while it is on its way."""
        return self._rows.get(self.ids[place])

    def row_of(self, memory_id: str) -> MemoryRow | None:
        """A memory that was shown; None where it was not."""
        return self._rows.get(memory_id)

    def place_of(self, memory_id: str) -> int:
        """The line of a memory; -1 where it is not listed."""
        try:
            return self.ids.index(memory_id)
        except ValueError:
            return -1

    def show_ids(self, ids: tuple[str, ...]) -> bool:
        """List other memories; rows known already are shown until newer ones come.

        Args:
            ids: all of them, in order.

        Returns:
            Whether the list is another one now; its rows are asked for anew either way.
        """
        differs = ids != self.ids
        self._round += 1
        if differs:
            self.beginResetModel()
            self.ids = ids
        self._fresh.clear()
        self._flying.clear()
        self._failed.clear()
        if differs:
            self._wanted = range(0)
            self.endResetModel()
        else:
            self._ask()
        return differs

    @property
    def is_settled(self) -> bool:
        """Whether all rows that were looked for have come."""
        return not self._flying and all(page in self._fresh | self._failed for page in self._wanted)

    def look(self, first: int, last: int) -> None:
        """Somebody looks at some lines: fetch what is missing there, and a little around it.

        Args:
            first: the first line in sight.
            last: the last one.
        """
        last = min(last, len(self.ids) - 1)
        if last < first:
            return
        self._wanted = range(max(0, first - _AHEAD) // PAGE_ROWS, (last + _AHEAD) // PAGE_ROWS + 1)
        self._ask()

    def _ask(self) -> None:
        for page in self._wanted:
            if len(self._flying) >= _AT_ONCE:
                return
            ids = self.ids[page * PAGE_ROWS : (page + 1) * PAGE_ROWS]
            if ids and page not in self._fresh | self._flying | self._failed:
                self._fetch(page, ids)

    def _fetch(self, page: int, ids: Sequence[str]) -> None:
        self._flying.add(page)
        self.fetched += 1
        library = self._context.bridge.engine.library
        asked = self._round
        self._context.tasks.run(
            query("Reading the library", lambda: library.rows(ids))
            .within(self, f"page {page}")
            .success(lambda rows: self._take(page, asked, ids, rows))
            .failure(lambda _: self._give_up(page, asked))
        )

    def _take(self, page: int, asked: int, ids: Sequence[str], rows: Sequence[MemoryRow]) -> None:
        for row in rows:
            self._rows[row.id] = row
        if asked != self._round:  # the list was made anew meanwhile; its own pages are on their way
            return
        self._flying.discard(page)
        self._fresh.add(page)
        self._drop_far()
        first = page * PAGE_ROWS
        self.dataChanged.emit(self.index(first, 0), self.index(first + len(ids) - 1, len(COLUMNS) - 1))
        self._ask()

    def _give_up(self, page: int, asked: int) -> None:
        # Not asked for again before the list is: the search tells what is wrong.
        if asked == self._round:
            self._flying.discard(page)
            self._failed.add(page)

    def _drop_far(self) -> None:
        if len(self._rows) <= _MOST_ROWS:
            return
        first = max(0, self._wanted.start - _KEPT_PAGES)
        last = self._wanted.stop + _KEPT_PAGES
        near = self.ids[first * PAGE_ROWS : last * PAGE_ROWS]
        self._rows = {memory_id: self._rows[memory_id] for memory_id in near if memory_id in self._rows}
        self._fresh = {page for page in self._fresh if first <= page < last}
