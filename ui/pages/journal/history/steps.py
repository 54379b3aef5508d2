"""The undo steps as a list that grows as somebody scrolls: rows under the headings of their days.

Must not do: change anything; it tells what is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from core.types.replies import ImportRow, StepRow, Steps
from ui.context import Context
from ui.pages.journal.common.step_words import clock_of, day_of, details_of
from ui.tasks import query
from ui.widgets.plaintext import tip

STEP = Qt.ItemDataRole.UserRole
"""Role of a row's `StepRow`; None for a heading."""

PAGE_STEPS = 100
MOST_AGAIN = 500
"""Steps that are read again at once after a change; what lies behind is fetched again where somebody looks."""

_Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()
Line = StepRow | str
"""A step, or the heading of a day."""


class StepModel(QAbstractListModel):
    """Steps, newest first, a heading before each day.

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

    def __init__(self, context: Context, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self.total = 0
        self.is_read = False
        self.imports: Mapping[str, ImportRow] = {}
        self._lines: list[Line] = []
        self._next: str | None = None
        self._is_fetching = False

    # ---- what Qt asks

    def rowCount(self, parent: _Index = _NOWHERE) -> int:  # noqa: N802 - Qt's name
        """Steps and headings."""
        return 0 if parent.isValid() else len(self._lines)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """A line."""
        if not index.isValid() or index.row() >= len(self._lines):
            return None
        line = self._lines[index.row()]
        if role == STEP:
            return line if isinstance(line, StepRow) else None
        if role in {Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole}:
            return line if isinstance(line, str) else self._words(line)
        if role == Qt.ItemDataRole.ToolTipRole and isinstance(line, StepRow):
            return tip(self._words(line))
        return None

    def _words(self, step: StepRow) -> str:
        return f"{step.label}, {clock_of(step.at)}. {self.details(step)}"

    def details(self, step: StepRow) -> str:
        """The second line of a step."""
        found = self.imports.get(step.id)
        return details_of(step, self._context.clock.now_ms(), "" if found is None else found.label)

    def flags(self, index: _Index) -> Qt.ItemFlag:
        """Headings cannot be chosen."""
        if not index.isValid() or self.step_at(index.row()) is None:
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemNeverHasChildren

    def canFetchMore(self, parent: _Index) -> bool:  # noqa: N802 - Qt's name
        """Whether older ones are left."""
        return not parent.isValid() and self._next is not None and not self._is_fetching

    def fetchMore(self, parent: _Index) -> None:  # noqa: N802 - Qt's name
        """Read older ones."""
        if self.canFetchMore(parent):
            self._is_fetching = True
            after, journal = self._next, self._context.bridge.engine.journal
            self._context.tasks.run(
                query("Reading the journal", lambda: journal.steps(after, PAGE_STEPS))
                .within(self, "steps")
                .success(self._append)
                .failure(self._give_up)
            )

    # ---- what the page asks

    def step_at(self, place: int) -> StepRow | None:
        """The step of a line; None for a heading."""
        line = self._lines[place] if 0 <= place < len(self._lines) else ""
        return line if isinstance(line, StepRow) else None

    def place_of(self, step_id: str) -> int:
        """The line of a step; -1 where it is not listed."""
        for place, line in enumerate(self._lines):
            if isinstance(line, StepRow) and line.id == step_id:
                return place
        return -1

    def newest_standing(self) -> StepRow | None:
        """The newest step that stands, an undo or not."""
        return next((line for line in self._lines if isinstance(line, StepRow) and line.can_undo), None)

    def read(self) -> None:
        """Read again from the newest on, as far as it was read before."""
        known = sum(isinstance(line, StepRow) for line in self._lines)
        limit = max(PAGE_STEPS, min(MOST_AGAIN, known))
        self._is_fetching = True
        journal = self._context.bridge.engine.journal
        self._context.tasks.run(
            query("Reading the journal", lambda: journal.steps(None, limit))
            .within(self, "steps")
            .success(self._replace)
            .failure(self._give_up)
        )

    def _name_imports(self, steps: Sequence[StepRow]) -> None:
        if any(step.verb == "import" and step.id not in self.imports for step in steps):
            journal = self._context.bridge.engine.journal
            task = query("Reading the imports", journal.imports).within(self, "names").failure(lambda _: None)
            self._context.tasks.run(task.success(self._take_names))

    def _take_names(self, found: Sequence[ImportRow]) -> None:
        self.imports = {one.step_id: one for one in found if one.step_id is not None}
        if self._lines:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self._lines) - 1, 0))

    def _replace(self, steps: Steps) -> None:
        lines = self._with_days("", steps.rows)
        self._is_fetching = False
        self._next, self.total, self.is_read = steps.next, steps.total, True
        if lines != self._lines:
            self.beginResetModel()
            self._lines = lines
            self.endResetModel()
        self._name_imports(steps.rows)
        self.came.emit()

    def _append(self, steps: Steps) -> None:
        self._is_fetching = False
        self._next, self.total = steps.next, steps.total
        lines = self._with_days(self._last_day(), steps.rows)
        if lines:
            first = len(self._lines)
            self.beginInsertRows(_NOWHERE, first, first + len(lines) - 1)
            self._lines.extend(lines)
            self.endInsertRows()
        self._name_imports(steps.rows)
        self.came.emit()

    def _give_up(self, error: BaseException) -> None:
        self._is_fetching = False
        self.failed.emit(error)

    def _last_day(self) -> str:
        last = self._lines[-1] if self._lines else ""
        return last if isinstance(last, str) else day_of(last.at, self._context.clock.now_ms())

    def _with_days(self, day: str, steps: Sequence[StepRow]) -> list[Line]:
        now, lines = self._context.clock.now_ms(), list[Line]()
        for step in steps:
            its = day_of(step.at, now)
            if its != day:
                lines.append(its)
                day = its
            lines.append(step)
        return lines
