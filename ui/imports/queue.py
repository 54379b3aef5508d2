"""Imports one after the other, longer than the dialog that began them; stopping takes all of them back.

Must not do: show anything; the status bar and the dialog do.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from core.types.replies import ImportReport, UndoReport
from core.types.values import OWNER_ACTOR
from ui.context import Context
from ui.imports.sources import brought
from ui.tasks import Problem, Running, Task, Watch, problem_of, write


@dataclass(frozen=True, slots=True)
class Job:
    """One import.

    Attributes:
        path: a file or folder; name: of it, as it is shown.
        form: the format the person named; None to detect it.
        only: keys of the chosen conversations; None for all.
    """

    path: Path
    name: str
    form: str | None = None
    only: frozenset[str] | None = None


@dataclass(slots=True)
class Outcome:
    """What became of the imports.

    Attributes:
        reports: name and report of each that is done.
        problems: name and problem of each that failed.
        is_stopped: whether the person stopped it; then nothing of it is left.
    """

    reports: list[tuple[str, ImportReport]] = field(default_factory=list)
    problems: list[tuple[str, Problem]] = field(default_factory=list)
    is_stopped: bool = False

    @property
    def ids(self) -> list[str]:
        """Ids of the imports that are done, in order."""
        return [report.import_id for _, report in self.reports if report.import_id]


class ImportQueue(QObject):
    """The imports of one press of the button. It lives until they are over, whatever becomes of the dialog.

    Signals:
        began: number of the import that runs now, from 0.
        moved: (done, total or -1) of the import that runs.
        ended: all of them are over; see `outcome`.

    Attributes:
        is_watched: whether a dialog shows it; else the end is told by a sentence.
    """

    began = Signal(int)
    moved = Signal(int, int)
    ended = Signal()

    def __init__(self, context: Context, jobs: Sequence[Job], space: str | None) -> None:
        """Make it; `start` begins.

        Args:
            context: the window's parts.
            jobs: what to import, in order.
            space: into which space; None for the usual one.
        """
        super().__init__(context.desk)
        self._context, self.jobs, self._space = context, list(jobs), space
        self.outcome = Outcome()
        self.is_watched = True
        self.is_over = False
        self._at = self._over = -1
        self._running: Running | None = None
        self._is_told = False

    def start(self) -> None:
        """Begin with the first."""
        self._next()

    def stop(self) -> None:
        """Stop, and take back what this queue has brought already."""
        self.outcome.is_stopped = True
        if self._running is not None:
            self._running.cancel()

    def _next(self) -> None:
        self._at += 1
        if self.outcome.is_stopped:
            self._take_back()
            return
        if self._at >= len(self.jobs):
            self._end()
            return
        job, imports = self.jobs[self._at], self._context.bridge.engine.imports
        self._is_told = False

        def begin(watch: Watch) -> Future[ImportReport]:
            return imports.run(
                job.path, job.form, self._space, OWNER_ACTOR, watch.progress, watch.cancelled, only=job.only
            )

        task = Task("Importing", begin, writes=True, can_cancel=True).within(self)
        self.began.emit(self._at)
        self._running = self._context.tasks.run(task.success(self._done).failure(self._failed))
        self._running.moved.connect(self.moved)
        self._running.ended.connect(self._ended)

    def _done(self, report: ImportReport) -> None:
        self._is_told = True
        self.outcome.reports.append((self.jobs[self._at].name, report))
        self._next()

    def _failed(self, error: BaseException) -> None:
        self._is_told = True
        problem = problem_of(error)
        if problem is None:  # the vault is being locked: the next start goes on with it
            self._end()
            return
        self.outcome.problems.append((self.jobs[self._at].name, problem))
        self._next()

    def _ended(self) -> None:
        self._running = None
        self._over = self._at
        # A stop is silent: by the next turn of the loop, what was to be told is told.
        QTimer.singleShot(0, self._look)

    def _look(self) -> None:
        if self._at == self._over and not self._is_told and not self.is_over:
            self.outcome.is_stopped = True
            self._take_back()

    def _take_back(self) -> None:
        if not self.outcome.ids or not self._context.bridge.is_open:
            self._end()
            return
        taking = TakeBack(self._context, self.outcome.ids, self)
        taking.done.connect(self._taken)
        taking.failed.connect(self._not_taken)
        taking.start()

    def _taken(self, _left: int) -> None:
        self.outcome.reports.clear()
        self._end()

    def _not_taken(self, problem: Problem) -> None:
        self.outcome.problems.append((self.outcome.reports[-1][0], problem))
        self._end()

    def _end(self) -> None:
        self.is_over = True
        self.ended.emit()
        if not self.is_watched and self._context.bridge.is_open:
            self._tell()
        self.deleteLater()

    def _tell(self) -> None:
        desk, outcome = self._context.desk, self.outcome
        if outcome.is_stopped:
            desk.say("The import was stopped; nothing of it was kept.")
        elif outcome.problems:
            desk.say(outcome.problems[0][1].sentence)
        elif outcome.reports:
            ids = ",".join(outcome.ids)
            desk.say(
                brought([report for _, report in outcome.reports]), "Show", lambda: desk.search.emit(f"import:{ids}")
            )


class TakeBack(QObject):
    """Takes imports back, the last one first.

    Signals:
        done: how many rows changed since and stayed.
        failed: a `Problem`; those before the failed one are still there.
    """

    done = Signal(int)
    failed = Signal(object)

    def __init__(self, context: Context, ids: Sequence[str], parent: QObject) -> None:
        """Make it; `start` begins.

        Args:
            context: the window's parts.
            ids: of the imports, in the order they came.
            parent: what it belongs to; with it the answers are dropped.
        """
        super().__init__(parent)
        self._context = context
        self.ids = list(ids)
        self._left = 0

    def start(self) -> None:
        """Take back the last one that is there."""
        if not self.ids:
            self.done.emit(self._left)
            self.deleteLater()
            return
        imports, last = self._context.bridge.engine.imports, self.ids[-1]
        task = write("Removing the import", lambda: imports.undo(last)).within(self)
        self._context.tasks.run(task.success(self._taken).failure(self._failed))

    def _taken(self, report: UndoReport) -> None:
        self.ids.pop()
        self._left += len(report.left)
        self.start()

    def _failed(self, error: BaseException) -> None:
        problem = problem_of(error)
        if problem is not None:
            self.failed.emit(problem)
        self.deleteLater()
