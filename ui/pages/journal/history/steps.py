"""The undo steps as a list that grows as somebody scrolls: rows under the headings of their days.

Must not do: change anything; it tells what is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QObject, Signal

from core.types.replies import ImportRow, StepRow, Steps
from ui.context import Context
from ui.lists.list_view import ListView
from ui.lists.row_spec import Heading
from ui.pages.journal.common.step_words import day_of, details_of
from ui.tasks import query

PAGE_STEPS = 100
MOST_AGAIN = 500
"""Steps that are read again at once after a change; what lies behind is fetched again where somebody looks."""
Line = StepRow | Heading
"""A step, or the heading of a day."""


class StepFeed(QObject):
    """Fills a list with steps, newest first, a heading before each day.

    Attributes:
        total: how many there are in the vault.
        is_read: whether it was read once.
        imports: what the imports brought in, by their steps.

    Signals:
        came: what there is was read.
        failed: the error; what was shown stays.
    """

    came = Signal()
    failed = Signal(object)

    def __init__(self, context: Context, shown: ListView) -> None:
        super().__init__(shown)
        self._context, self._shown = context, shown
        self.total = 0
        self.is_read = False
        self.imports: Mapping[str, ImportRow] = {}
        self._next: str | None = None
        shown.lines.more.connect(self._read_older)

    def details(self, step: StepRow) -> str:
        """The second line of a step."""
        found = self.imports.get(step.id)
        return details_of(step, self._context.clock.now_ms(), "" if found is None else found.label)

    def newest_standing(self) -> StepRow | None:
        """The newest step that stands, an undo or not."""
        return next((step for step in self._shown.lines.rows() if step.can_undo), None)

    def read(self) -> None:
        """Read again from the newest on, as far as it was read before."""
        limit = max(PAGE_STEPS, min(MOST_AGAIN, len(self._shown.lines.rows())))
        self._shown.lines.has_more = False
        journal = self._context.bridge.engine.journal
        self._context.tasks.run(
            query("Reading the journal", lambda: journal.steps(None, limit))
            .within(self, "steps")
            .success(self._replace)
            .failure(self._give_up)
        )

    def _read_older(self) -> None:
        after, journal = self._next, self._context.bridge.engine.journal
        self._context.tasks.run(
            query("Reading the journal", lambda: journal.steps(after, PAGE_STEPS))
            .within(self, "steps")
            .success(self._append)
            .failure(self._give_up)
        )

    def _name_imports(self, steps: Sequence[StepRow]) -> None:
        if any(step.verb == "import" and step.id not in self.imports for step in steps):
            journal = self._context.bridge.engine.journal
            task = query("Reading the imports", journal.imports).within(self, "names").failure(lambda _: None)
            self._context.tasks.run(task.success(self._take_names))

    def _take_names(self, found: Sequence[ImportRow]) -> None:
        self.imports = {one.step_id: one for one in found if one.step_id is not None}
        lines = self._shown.lines
        if lines.lines:
            lines.dataChanged.emit(lines.index(0, 0), lines.index(len(lines.lines) - 1, 0))

    def _replace(self, steps: Steps) -> None:
        self._next, self.total, self.is_read = steps.next, steps.total, True
        self._shown.show_lines(self._with_days("", steps.rows), has_more=steps.next is not None)
        self._name_imports(steps.rows)
        self.came.emit()

    def _append(self, steps: Steps) -> None:
        self._next, self.total = steps.next, steps.total
        self._shown.lines.append(self._with_days(self._last_day(), steps.rows), has_more=steps.next is not None)
        self._name_imports(steps.rows)
        self.came.emit()

    def _give_up(self, error: BaseException) -> None:
        self._shown.lines.has_more = self._next is not None
        self.failed.emit(error)

    def _last_day(self) -> str:
        last = self._shown.lines.lines[-1] if self._shown.lines.lines else None
        return day_of(last.at, self._context.clock.now_ms()) if isinstance(last, StepRow) else ""

    def _with_days(self, day: str, steps: Sequence[StepRow]) -> list[Line]:
        now, lines = self._context.clock.now_ms(), list[Line]()
        for step in steps:
            its = day_of(step.at, now)
            if its != day:
                lines.append(Heading(its))
                day = its
            lines.append(step)
        return lines
