"""Starts work now that would run later, after a dialog that says what it does; tells its progress and stops it.

Must not do: know what a run does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QDialog, QLayout, QWidget

from core.events import Progress
from core.types.lifecycle import JobRow, Jobs, JobState, JobType
from ui.bridge import Running, make_job, make_query, make_write, problem_of
from ui.context import Context
from ui.pages.journal.jobs.labels import describe_code, job_report_line
from ui.strings import journal_strings, undo_strings, window_strings
from ui.theme.tokens import sizes
from ui.undo import undo_step
from ui.widgets.basics import make_button, make_column, make_label, make_row, set_style_property
from ui.widgets.labels import capitalize_first


class RunDialog(QDialog):
    """Says what a run does before it is started; one button starts it.

    Signals:
        agreed: the person pressed it.
    """

    agreed = Signal()

    def __init__(self, context: Context, lead: str, sentences: Sequence[str], foot: str, parent: QWidget) -> None:
        """Make it.

        Args:
            lead: what happens, and instead of when.
            sentences: what it does, one a line.
            foot: whether it can be taken back.
        """
        super().__init__(parent)
        strings = journal_strings()["next"]
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(strings["run_title"])
        self.setAccessibleName(strings["run_title"])
        self.setFixedWidth(context.theme.px(sizes().dialog))
        self.sentences = (lead, *sentences, foot)
        self.cancel = make_button(window_strings()["buttons"]["cancel"], self.reject)
        self.act = make_button(strings["run_title"], self._on_agree_clicked, kind="primary")
        self._title = make_label(strings["run_title"], "title")
        layout = make_column(self, self._title, make_label(lead, "muted", wrap=True), margins=24, gap=12)
        lines = make_column(gap=6)
        for sentence in sentences:
            lines.addWidget(make_label(sentence, wrap=True))
        layout.addLayout(lines)
        layout.addWidget(make_label(foot, "muted", wrap=True))
        layout.addLayout(make_row(None, self.cancel, self.act))
        self.act.setFocus()

    def show_warning(self, title: str, act: str) -> None:
        """What it does cannot be taken back: say so, and let the person go out of their way to do it.

        Args:
            act: what the button says.
        """
        self.setWindowTitle(title)
        self.setAccessibleName(title)
        self._title.setText(title)
        self.act.setText(act)
        self.act.setAccessibleName(act)
        self.act.setDefault(False)
        set_style_property(self.act, "kind", "danger")
        self.cancel.setDefault(True)
        self.cancel.setFocus()

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        """Be as high as the words need at this width; a layout alone leaves room for words that wrap more."""
        layout = self.layout()
        if layout is not None:
            layout.setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)
            self.setFixedHeight(layout.totalHeightForWidth(self.width()))
        super().showEvent(event)

    def _on_agree_clicked(self) -> None:
        self.agreed.emit()
        self.accept()


_JOB = "job"


def is_job(progress: Progress) -> bool:
    """Whether work of the scheduler tells it: its name is `job:` with the kind of work."""
    return progress.job.partition(":")[0] == _JOB


def describe_outcome(row: JobRow) -> str:
    """What became of a run, as a sentence.

    Args:
        row: the job as it ended.
    """
    text = job_report_line(row)
    text = text if any(letter.isdigit() for letter in text) else text[:1].lower() + text[1:]
    sentence = journal_strings()["runs"]["ended"][row.state.value].format(title=row.title, told=text)
    return f"{sentence} {capitalize_first(describe_code(row.code))}." if row.code else str(sentence)


class JobStarter(QObject):
    """Runs one job after the other.

    Attributes:
        is_running: whether something that was started here is under way.
        foretold: of runs, by job: the report that was shown before.

    Signals:
        changed: it began, or it is over.
    """

    changed = Signal()

    def __init__(self, context: Context, parent: QObject) -> None:
        super().__init__(parent)
        self._context = context
        self.is_running = False
        self._running: Running | None = None
        self._stops = False
        self._ended: list[JobRow] = []
        self.foretold: dict[str, Mapping[str, Any]] = {}
        self._shown: Mapping[JobType, Mapping[str, Any]] = {}
        context.bridge.progressed.connect(self._on_progress)

    def run_jobs(
        self,
        types: Sequence[JobType],
        titles: Sequence[str],
        shown: Mapping[JobType, Mapping[str, Any]] = MappingProxyType({}),
    ) -> None:
        """Run jobs, one after the other; nothing happens while some run.

        Args:
            types: which, in this order.
            titles: their names.
            shown: the reports that were foretold.
        """
        if self.is_running or not types:
            return
        self.is_running, self._ended, self._shown = True, [], shown
        self.changed.emit()
        self._run_next(list(zip(types, titles, strict=True)))

    def _run_next(self, left: list[tuple[JobType, str]]) -> None:
        (wanted, title), rest = left[0], left[1:]
        jobs = self._context.bridge.engine.jobs
        task = make_job(title, lambda _: jobs.run(wanted)).within(self)
        self._stops = False
        self._running = self._context.tasks.run(
            task.success(partial(self._on_run_done, rest)).failure(self._on_run_failed)
        )
        self._running.moved.connect(partial(self._on_job_moved, wanted))

    def _on_progress(self, progress: Progress) -> None:
        running = self._running
        if running is not None and not running.is_over and is_job(progress):
            running.watch.progress(progress.done, progress.total)

    # ---- stopping

    def _on_job_moved(self, wanted: JobType, *_moved: int) -> None:
        """The status bar's Stop only sets a mark: a job of the scheduler is stopped by its id."""
        running = self._running
        if running is None or not running.watch.cancelled() or self._stops:
            return
        self._stops = True
        jobs = self._context.bridge.engine.jobs
        task = make_query(journal_strings()["tasks"]["running"], lambda: jobs.read_state(1)).within(self, "stop")
        self._context.tasks.run(task.success(partial(self._cancel_jobs, wanted)).failure(lambda _: None))

    def _cancel_jobs(self, wanted: JobType, state: Jobs) -> None:
        jobs = self._context.bridge.engine.jobs
        for known in state.rows:
            if known.type is wanted and known.state in {JobState.RUNNING, JobState.QUEUED}:
                self._context.tasks.run(
                    make_write(journal_strings()["tasks"]["stop"], partial(jobs.cancel_job, known.id)).within(self)
                )

    # ---- the end

    def _on_run_done(self, rest: list[tuple[JobType, str]], row: JobRow) -> None:
        self._running = None
        self._ended.append(row)
        if row.type in self._shown:
            self.foretold[row.id] = self._shown[row.type]
        if rest and row.state is JobState.DONE:
            self._run_next(rest)
        else:
            self._report_outcome()

    def _on_run_failed(self, error: BaseException) -> None:
        self._running = None
        self._report_outcome()
        problem = problem_of(error)
        if problem is not None:
            self._context.tasks.problem.emit(problem)

    def _report_outcome(self) -> None:
        self.is_running = False
        self.changed.emit()
        if not self._ended:
            return
        sentence = " ".join(describe_outcome(row) for row in self._ended)
        steps = [row.step_id for row in self._ended if row.step_id is not None and row.can_undo]
        if len(steps) == 1:
            self._context.desk.show_message(
                sentence, undo_strings()["undo"], partial(undo_step, self._context, steps[0])
            )
        elif steps:
            self._context.desk.show_message(
                sentence, window_strings()["buttons"]["show"], partial(self._context.desk.go.emit, "journal", "runs")
            )
        else:
            self._context.desk.show_message(sentence)
