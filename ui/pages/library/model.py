"""The table's model and its columns: all ids at once, rows by pages of 200, asked for where somebody looks.

What is shown stays until newer rows come. Must not do: draw, wait, or touch more rows than are visible.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from core.types.values import SecurityTier
from core.types.views import MemoryRow
from ui.bridge import make_query
from ui.context import Context
from ui.strings import attach_strings, format_count, label_strings, library_strings
from ui.widgets.labels import (
    KIND_WORDS,
    SOURCE_WORDS,
    STATUS_WORDS,
    date_of,
    format_said_or_noted,
    name_space,
    name_speaker,
)
from ui.widgets.plaintext import one_line, plain_line

TEXT = "text"
LEAST_TEXT = 340
"""Pixels the text keeps before other columns step back."""


@dataclass(frozen=True, slots=True)
class LibraryColumn:
    """One column of the library's table.

    Attributes:
        id: unique; also its name in the person's state file and in `library.json`.
        width: pixels at 100 %; the text takes what is left.
        sort: a word of `core.types.views.SORTS`; "" where the list cannot be sorted by it.
        falls: whether the first click puts the largest or newest first.
        is_number: set to the right.
        rank: where there is little room, high ranks step back first; 0 is never shown unasked.
    """

    id: str
    width: int
    sort: str = ""
    falls: bool = False
    is_number: bool = False
    rank: int = 0

    @property
    def title(self) -> str:
        """The title of the column in the table's header."""
        return str(library_strings()["columns"][self.id]["title"])

    @property
    def words(self) -> str:
        """The name of the column in menus and tooltips."""
        return str(library_strings()["columns"][self.id]["hint"])


COLUMNS: Sequence[LibraryColumn] = (
    LibraryColumn("kind", 40, "kind", rank=1),
    LibraryColumn(TEXT, LEAST_TEXT, "text", rank=1),
    LibraryColumn("author", 120, rank=3),
    LibraryColumn("said", 136, "occurred", falls=True, rank=2),
    LibraryColumn("space", 88, "space", rank=5),
    LibraryColumn("room", 148, rank=6),
    LibraryColumn("source", 152),
    LibraryColumn("trust", 104, "trust", falls=True, is_number=True, rank=4),
    LibraryColumn("importance", 96, "importance", falls=True, is_number=True),
    LibraryColumn("strength", 88, "strength", falls=True, is_number=True),
    LibraryColumn("status", 112, "status"),
    LibraryColumn("tags", 160, rank=7),
    LibraryColumn("client", 120),
    LibraryColumn("learned", 108, "recorded", falls=True),
    LibraryColumn("recalled", 108, "accessed", falls=True),
)
PLACE: Mapping[str, int] = {column.id: place for place, column in enumerate(COLUMNS)}
BY_SORT: Mapping[str, LibraryColumn] = {column.sort: column for column in COLUMNS if column.sort}


def describe_sort(sort: str, *, falls: bool) -> str:
    """An order in words: `newest first`.

    Args:
        sort: one of `BY_SORT`.
        falls: whether the largest comes first.
    """
    return str(library_strings()["sorts"][sort]["falling" if falls else "rising"])


def _describe_date(row: MemoryRow) -> str:
    # The time of day has no room here.
    return format_said_or_noted(row.occurred, row.recorded_at).split(",")[0]


def _describe_recall(row: MemoryRow) -> str:
    return str(library_strings()["never"]) if row.last_accessed_at is None else date_of(row.last_accessed_at)


def format_score(value: float) -> str:
    """The score of a row in the library's table, with two decimals."""
    return f"{value:.2f}"


_TEXTS: Mapping[str, Callable[[MemoryRow], str]] = {
    "kind": lambda row: KIND_WORDS[row.kind],
    TEXT: lambda row: plain_line(row.head),
    "author": lambda row: name_speaker(row.author, row.role, is_edited=row.is_edited),
    "said": _describe_date,
    "space": lambda row: name_space(row.space, 80),
    "room": lambda row: one_line(row.room or "", 80),
    "source": lambda row: SOURCE_WORDS[row.source],
    "trust": lambda row: format_score(row.trust),
    "importance": lambda row: format_score(row.importance),
    "strength": lambda row: format_score(row.strength),
    "status": lambda row: STATUS_WORDS[row.status],
    "tags": lambda row: ", ".join(one_line(tag, 40) for tag in row.tags),
    "client": lambda row: one_line(row.client or "", 80),
    "learned": lambda row: date_of(row.recorded_at),
    "recalled": _describe_recall,
}


def cell_text(column: LibraryColumn, row: MemoryRow) -> str:
    """What is in a cell, in plain words."""
    return _TEXTS[column.id](row)


def columns_that_fit(width: int, px: Callable[[float], int]) -> frozenset[str]:
    """The columns shown where the person has chosen none: as many as leave the text its room.

    Args:
        width: pixels the table has.
        px: scales a length with the text.

    Returns:
        Their ids; the kind and the text always.
    """
    shown: set[str] = set()
    used = 0
    for column in sorted((one for one in COLUMNS if one.rank), key=lambda one: one.rank):
        used += px(column.width)
        if column.rank > 1 and used > width:
            break
        shown.add(column.id)
    return frozenset(shown)


def format_columns(columns: frozenset[str]) -> str:
    """A choice of columns for the state file."""
    return ",".join(column.id for column in COLUMNS if column.id in columns)


def parse_columns(text: str) -> frozenset[str] | None:
    """A choice of columns from the state file.

    Args:
        text: what `format_columns` gave, or anything else.

    Returns:
        The choice with the text in it; None where the person made none.
    """
    known = frozenset(name for name in text.split(",") if name in PLACE)
    return known | {TEXT} if known else None


def parse_sort(text: str) -> tuple[str, bool]:
    """An order from the state file.

    Args:
        text: such as `trust-` or `text+`.

    Returns:
        Sort and whether the largest comes first; the newest first where it is none.
    """
    order = (text[:-1], text.endswith("-"))
    return order if order[0] in BY_SORT and text[-1:] in {"+", "-"} else ("occurred", True)


PAGE_ROWS = 200
_AHEAD = 40  # rows beyond what is visible
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
        self._files: dict[str, int] = {}
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
            text = "…" if row is None else cell_text(column, row)
            marks = self._marks_of(index) if role == Qt.ItemDataRole.AccessibleTextRole else []
            return ": ".join([*marks, text])
        if role == Qt.ItemDataRole.ToolTipRole:
            return " · ".join(self._marks_of(index)) or None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if column.is_number else _LEFT
        return None

    def _marks_of(self, index: QModelIndex | QPersistentModelIndex) -> list[str]:
        """What the marks of a cell mean: a text that reads like an instruction, or that is protected."""
        row = self.row_at(index.row()) if COLUMNS[index.column()].id == TEXT else None
        if row is None:
            return []
        warned = [str(label_strings()["warned"])] if row.warned else []
        if files := self.count_files(row.id):
            warned.append(format_count(attach_strings()["has_files"], files))
        if row.protection is SecurityTier.CLEARTEXT:
            return warned
        return [*warned, str(label_strings()["tiers"][row.protection.value])]

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
            form = library_strings()["columns_menu"]["sort"]
            return form.format(column=column.words) if column.sort else column.words
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

    def count_files(self, memory_id: str) -> int:
        """How many files a memory has; 0 also while that is not known yet."""
        return self._files.get(memory_id, 0)

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
            self._request_missing()
        return differs

    @property
    def is_settled(self) -> bool:
        """Whether all rows that were looked for have come."""
        return not self._flying and all(page in self._fresh | self._failed for page in self._wanted)

    def load_lines(self, first: int, last: int) -> None:
        """Somebody looks at some lines: fetch what is missing there, and a little around it.

        Args:
            first: the first visible line.
            last: the last one.
        """
        last = min(last, len(self.ids) - 1)
        if last < first:
            return
        self._wanted = range(max(0, first - _AHEAD) // PAGE_ROWS, (last + _AHEAD) // PAGE_ROWS + 1)
        self._request_missing()

    def _request_missing(self) -> None:
        for page in self._wanted:
            if len(self._flying) >= _AT_ONCE:
                return
            ids = self.ids[page * PAGE_ROWS : (page + 1) * PAGE_ROWS]
            if ids and page not in self._fresh | self._flying | self._failed:
                self._fetch_page(page, ids)

    def _fetch_page(self, page: int, ids: Sequence[str]) -> None:
        self._flying.add(page)
        self.fetched += 1
        library = self._context.bridge.engine.library
        asked = self._round
        self._context.tasks.run(
            make_query(library_strings()["tasks"]["page"], lambda: library.read_rows(ids))
            .within(self, f"page {page}")
            .success(lambda rows: self._on_page_read(page, asked, ids, rows))
            .failure(lambda _: self._on_page_failed(page, asked))
        )

    def _on_page_read(self, page: int, asked: int, ids: Sequence[str], rows: Sequence[MemoryRow]) -> None:
        for row in rows:
            self._rows[row.id] = row
        if asked != self._round:  # the list was made anew meanwhile; its own pages are on their way
            return
        self._flying.discard(page)
        self._fresh.add(page)
        self._drop_distant_rows()
        first = page * PAGE_ROWS
        self.dataChanged.emit(self.index(first, 0), self.index(first + len(ids) - 1, len(COLUMNS) - 1))
        self._request_missing()
        files = self._context.bridge.engine.files
        task = make_query(library_strings()["tasks"]["page"], lambda: files.count_files(ids))
        self._context.tasks.run(
            task.within(self, f"files {page}")
            .success(partial(self._on_files_counted, page, ids))
            .failure(lambda _: None)
        )

    def _on_files_counted(self, page: int, ids: Sequence[str], counts: Mapping[str, int]) -> None:
        known = {memory_id: self._files.pop(memory_id) for memory_id in ids if memory_id in self._files}
        self._files |= counts
        if known != dict(counts):
            first = page * PAGE_ROWS
            last = min(first + PAGE_ROWS, len(self.ids)) - 1
            if last >= first:
                self.dataChanged.emit(self.index(first, PLACE[TEXT]), self.index(last, PLACE[TEXT]))

    def _on_page_failed(self, page: int, asked: int) -> None:
        # Not asked for again before the list is: the search tells what is wrong.
        if asked == self._round:
            self._flying.discard(page)
            self._failed.add(page)

    def _drop_distant_rows(self) -> None:
        if len(self._rows) <= _MOST_ROWS:
            return
        first = max(0, self._wanted.start - _KEPT_PAGES)
        last = self._wanted.stop + _KEPT_PAGES
        kept_ids = self.ids[first * PAGE_ROWS : last * PAGE_ROWS]
        self._rows = {memory_id: self._rows[memory_id] for memory_id in kept_ids if memory_id in self._rows}
        self._fresh = {page for page in self._fresh if first <= page < last}
