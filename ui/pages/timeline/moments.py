"""Memories in the order of time as a list that grows as somebody scrolls: rows under the headings of their days.

Must not do: decide which memories; it is told where to read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future

from PySide6.QtCore import QObject, Signal

from core.types.values import Status
from core.types.views import MemoryRow, TimeCursor, TimePage
from ui.context import Context
from ui.lists.list_view import ListView
from ui.lists.row_spec import Heading
from ui.pages.timeline.words import clock_at, day_name, when_of, who_of
from ui.tasks import query
from ui.widgets.plaintext import one_line
from ui.widgets.words import STATUS_WORDS, said_or_noted

Fetch = Callable[[TimeCursor | None], Future[TimePage]]
Line = MemoryRow | Heading
"""A memory, or the heading of a day."""


class MomentFeed(QObject):
    """Fills a list with memories, oldest first, a heading before each day.

    Attributes:
        total: how many there are on all pages.
        is_settled: whether what was asked for has come.

    Signals:
        came: a page came.
        failed: the error; what was shown stays.
    """

    came = Signal()
    failed = Signal(object)

    def __init__(self, context: Context, shown: ListView) -> None:
        super().__init__(shown)
        self._context, self._shown = context, shown
        self.total = 0
        self.is_settled = True
        self._fetch: Fetch | None = None
        self._next: TimeCursor | None = None
        shown.lines.more.connect(lambda: self._ask(self._next, self._append))

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
        self.is_settled = self._shown.lines.has_more = False
        self._context.tasks.run(
            query("Reading the timeline", lambda: fetch(after))
            .within(self, "page")
            .success(then)
            .failure(self._give_up)
        )

    def _take(self, page: TimePage) -> bool:
        self.is_settled, self._next, self.total = True, page.after, page.total
        return page.after is not None

    def _replace(self, page: TimePage) -> None:
        has_more = self._take(page)
        self._shown.show_lines(_with_days("", page.rows), has_more=has_more)
        self.came.emit()

    def _append(self, page: TimePage) -> None:
        has_more = self._take(page)
        lines = self._shown.lines.lines
        day = day_name(when_of(lines[-1])) if lines and isinstance(lines[-1], MemoryRow) else ""
        self._shown.lines.append(_with_days(day, page.rows), has_more=has_more)
        self.came.emit()

    def _give_up(self, error: BaseException) -> None:
        self.is_settled = True
        self._shown.lines.has_more = self._next is not None
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
            lines.append(Heading(its))
            day = its
        lines.append(row)
    return lines
