"""The queue as a list for Qt: rows under headings, kept as small as the engine's answer.

Must not do: ask the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from PySide6.QtCore import QRect
from PySide6.QtGui import QFont, QFontMetrics, QPainter

from core.types.reviews import ReviewRow
from ui.lists.row_spec import LOW, RIGHT, Heading, Inert, RowSpec, RowState
from ui.pages.review.words import row_note, source_words
from ui.widgets.plaintext import one_line

_ROW, _HEADING, _PAD = 56, 34, 12
GROUPS: Mapping[str, str] = {"none": "None", "source": "Source", "client": "Client", "subject": "Subject"}

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
        return [Heading("Today", count=today), *rows[:today], Heading("After that", count=later), *rows[today:]]
    name = _NAMES[group]
    grouped: dict[str, list[ReviewRow]] = {}
    for row in rows:  # the order of the groups is that of their first, most harmful row
        grouped.setdefault(name(row), []).append(row)
    made: list[Line] = []
    for title, members in grouped.items():
        made += [Heading(title, count=len(members), chooses=True), *members]
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


class QueueRows(RowSpec[ReviewRow]):
    """How the rows of the queue look: a title, and under it what it is and whence."""

    heading = (_HEADING, _HEADING)

    def key(self, row: ReviewRow) -> str:
        """Its item."""
        return row.id

    def describe(self, row: ReviewRow) -> str:
        """Its title and its note."""
        return f"{one_line(row.title, 160)}. {row_note(row)}"

    def height(self, _row: ReviewRow, _place: int) -> int:
        """All are of one height."""
        return self.theme.px(_ROW)

    def draw_inert(self, painter: QPainter, rect: QRect, line: Inert, state: RowState) -> None:
        """A heading with the figure of its rows; under the pointer, what pressing it does."""
        if not isinstance(line, Heading):
            return
        px, number, is_pressed = self.theme.px, self.theme.font("small"), line.chooses and state.is_hovered
        inner = rect.adjusted(px(_PAD), 0, -px(_PAD), -px(6))
        figure = "Choose all" if is_pressed else f"{line.count or 0:,}"
        self.write(painter, inner, figure, "accent" if is_pressed else "muted", number, RIGHT | LOW)
        width = QFontMetrics(number).horizontalAdvance(figure)
        self.write(painter, inner.adjusted(0, 0, -width - 8, 0), line.title, "muted", self.theme.font("label"), LOW)

    def draw_row(self, painter: QPainter, rect: QRect, row: ReviewRow, _state: RowState) -> None:
        """Its two lines."""
        px = self.theme.px
        inner = rect.adjusted(px(_PAD), px(8), -px(_PAD), -px(8))
        upper, lower = QRect(inner), QRect(inner)
        upper.setHeight(inner.height() // 2)
        lower.setTop(upper.bottom() + 1)
        head, small = self.fonts()
        head.setWeight(QFont.Weight.DemiBold)
        self.write(painter, upper, one_line(row.title, 120), "muted" if row.later else "ink", head)
        self.write(painter, lower, row_note(row), "muted", small)
