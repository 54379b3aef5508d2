"""The queue as a list for Qt: rows under headings, kept as small as the engine's answer.

Must not do: ask the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from core.types.reviews import ReviewRow
from ui.pages.review.words import row_note, source_words
from ui.widgets.plaintext import one_line, tip

LINE = Qt.ItemDataRole.UserRole
"""Role of a line: a `ReviewRow` or a `Heading`."""
GROUPS: Mapping[str, str] = {"none": "None", "source": "Source", "client": "Client", "subject": "Subject"}

_Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()


@dataclass(frozen=True, slots=True)
class Heading:
    """A line over some rows.

    Attributes:
        title: what they have in common; made visible.
        count: how many rows stand under it.
        chooses: whether pressing it chooses them all.
    """

    title: str
    count: int
    chooses: bool = False


Line = ReviewRow | Heading


def lines_of(rows: Sequence[ReviewRow], group: str, today: int = 0) -> list[Line]:
    """Rows in the order they stand, with headings.

    Args:
        rows: from the engine, most harmful first.
        group: a key of `GROUPS`.
        today: how many of the first rows are today's digest.
    """
    if group == "none":
        if not 0 < today < len(rows):
            return list(rows)
        later = len(rows) - today
        return [Heading("Today", today), *rows[:today], Heading("After that", later), *rows[today:]]
    name = _NAMES[group]
    grouped: dict[str, list[ReviewRow]] = {}
    for row in rows:  # the order of the groups is that of their first, most harmful row
        grouped.setdefault(name(row), []).append(row)
    made: list[Line] = []
    for title, members in grouped.items():
        made += [Heading(title, len(members), chooses=True), *members]
    return made


def _client(row: ReviewRow) -> str:
    return one_line(row.client or "", 40) or "No client"


def _subject(row: ReviewRow) -> str:
    return one_line(row.subject, 40) or "No subject was read"


_NAMES: Mapping[str, Callable[[ReviewRow], str]] = {
    "source": lambda row: source_words(row.source),
    "client": _client,
    "subject": _subject,
}


class QueueModel(QAbstractListModel):
    """The lines."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._lines: list[Line] = []

    # ---- what Qt asks

    def rowCount(self, parent: _Index = _NOWHERE) -> int:  # noqa: N802 - Qt's name
        """Rows and headings."""
        return 0 if parent.isValid() else len(self._lines)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """A line."""
        if not index.isValid() or index.row() >= len(self._lines):
            return None
        line = self._lines[index.row()]
        if role == LINE:
            return line
        if role in {Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole}:
            return words_of(line)
        if role == Qt.ItemDataRole.ToolTipRole:
            return tip(words_of(line)) if isinstance(line, ReviewRow) else self._hint(line)
        return None

    def _hint(self, line: Heading) -> str:
        return "Choose all of them" if line.chooses else ""

    def flags(self, index: _Index) -> Qt.ItemFlag:
        """Headings cannot be chosen."""
        if not index.isValid() or self.row_at(index.row()) is None:
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemNeverHasChildren

    # ---- what the page asks

    def show_lines(self, lines: Iterable[Line]) -> None:
        """Show other lines."""
        self.beginResetModel()
        self._lines = list(lines)
        self.endResetModel()

    def line_at(self, place: int) -> Line | None:
        """A line; None outside."""
        return self._lines[place] if 0 <= place < len(self._lines) else None

    def row_at(self, place: int) -> ReviewRow | None:
        """The row of a line; None for a heading."""
        line = self.line_at(place)
        return line if isinstance(line, ReviewRow) else None

    def rows(self) -> list[ReviewRow]:
        """All rows, without headings, in the order they stand."""
        return [line for line in self._lines if isinstance(line, ReviewRow)]

    def place_of(self, item_id: str) -> int:
        """The line of an item; -1 where it is not shown."""
        for place, line in enumerate(self._lines):
            if isinstance(line, ReviewRow) and line.id == item_id:
                return place
        return -1

    def members(self, place: int) -> range:
        """The lines under the heading that stands over a line, or is it."""
        first = place
        while first >= 0 and not isinstance(self.line_at(first), Heading):
            first -= 1
        last = first + 1
        while self.row_at(last) is not None:
            last += 1
        return range(first + 1, last)


def words_of(line: Line) -> str:
    """A line for those who do not see it."""
    if isinstance(line, Heading):
        return f"{line.title}, {line.count:,}"
    return f"{one_line(line.title, 160)}. {row_note(line)}"
