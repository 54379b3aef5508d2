"""Imports one after the other, longer than the dialog that began them; how far they are and what came of them.

Stopping takes all of them back. Must not do: import or take back anything but what the person wants.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path

from PySide6.QtCore import QObject, QSize, Qt, QTimer, Signal
from PySide6.QtWidgets import QLabel, QProgressBar, QSizePolicy, QWidget

from core.types.replies import ImportReport, UndoReport
from core.types.requests import EVERYTHING, Choice
from core.types.values import OWNER_ACTOR
from ui.bridge import Problem, Running, Task, Watch, make_write, problem_of
from ui.context import Context
from ui.imports.findings import FindingsPanel
from ui.imports.sources import describe_stored, format_duration, format_report_span
from ui.imports.statements_offer import StatementsOffer
from ui.strings import format_count, import_strings
from ui.widgets.basics import (
    Elided,
    clear_layout,
    make_button,
    make_column,
    make_hairline,
    make_label,
    make_row,
    make_scroll_area,
)

_WINDOW_S = 8.0


class ProgressStep(QWidget):
    """How far the imports are."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._context = context
        self._names: list[str] = []
        self._seen: deque[tuple[float, int]] = deque()
        self._title = Elided("", "section", Qt.TextElideMode.ElideMiddle)
        self._title.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._title.setFixedWidth(context.theme.px(520))
        self._title.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)  # ignored, it would stand aside
        self._nr = make_label("", "small")
        self._nr.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        strings = import_strings()["progress"]
        self.bar.setAccessibleName(strings["bar"])
        self.bar.setFixedWidth(context.theme.px(420))
        self.count = make_label("", "muted")
        self.count.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._hint = make_label(strings["hint"], "small")
        self._hint.setAlignment(Qt.AlignmentFlag.AlignCenter)
        layout = make_column(self, gap=12)
        layout.addStretch(2)
        layout.addWidget(self._nr)
        layout.addLayout(make_row(None, self._title, None))
        layout.addLayout(make_row(None, self.bar, None))
        layout.addWidget(self.count)
        layout.addSpacing(16)
        layout.addWidget(self._hint)
        layout.addStretch(3)

    def show_queue(self, queue: ImportQueue) -> None:
        """Show how far a queue is."""
        self._names = [job.name for job in queue.jobs]
        queue.began.connect(self._on_job_began)
        queue.moved.connect(self.show_progress)

    def _on_job_began(self, at: int) -> None:
        self._seen.clear()
        strings = import_strings()["progress"]
        self._title.set_text(strings["title"].format(name=self._names[at]))
        many = len(self._names)
        self._nr.setText(strings["place"].format(number=at + 1, count=many) if many > 1 else "")
        self._nr.setVisible(many > 1)
        self.bar.setRange(0, 0)
        self.count.setText(strings["scanning"])

    def show_progress(self, done: int, total: int) -> None:
        """Show how far it is.

        Args:
            done: entries so far.
            total: of how many; -1 while it is read through.
        """
        strings = import_strings()["progress"]
        if total <= 0:
            self.bar.setRange(0, 0)
            self.count.setText(format_count(strings["scanned"], done))
            return
        self.bar.setRange(0, total)
        self.bar.setValue(done)
        parts = [strings["done"].format(done=done, total=total), *self._describe_rate(done, total)]
        self.count.setText(" · ".join(parts))

    def _describe_rate(self, done: int, total: int) -> list[str]:
        now = self._context.clock.monotonic()
        self._seen.append((now, done))
        while now - self._seen[0][0] > _WINDOW_S:
            self._seen.popleft()
        seconds, entries = now - self._seen[0][0], done - self._seen[0][1]
        if seconds < 1 or entries <= 0:
            return []
        strings, rate = import_strings()["progress"], entries / seconds
        left = [strings["left"].format(span=format_duration((total - done) / rate))] if done < total else []
        return [strings["rate"].format(count=rate), *left]

    def show_stopping(self) -> None:
        """It is being taken back."""
        self.bar.setRange(0, 0)
        self._title.set_text(import_strings()["progress"]["stopping"])
        self.count.setText("")


class DoneStep(QWidget):
    """What came of the imports.

    Signals:
        remove: the person wants them taken back.

    Attributes:
        findings: the people, places, changes and questions that were found in them.
        statements: offers to make statements of them.
    """

    remove = Signal()

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._context = context
        self._picture = QLabel()
        self._picture.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.title = make_label("", "title", wrap=True)
        self.title.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.sentence = make_label("", "muted", wrap=True)
        self.sentence.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._rows = QWidget()
        self._list = make_column(self._rows, gap=8)
        self.findings = FindingsPanel(context)
        inner = QWidget()
        column = make_column(inner, self._rows, self.findings, gap=16)
        column.addStretch(1)
        column.setContentsMargins(48, 0, 48, 0)
        self.taken = make_button(
            import_strings()["outcome"]["remove"], self.remove.emit, kind="ghost", theme=context.theme, icon="undo-2"
        )
        layout = make_column(self, gap=8)
        layout.addSpacing(16)
        layout.addWidget(self._picture)
        layout.addSpacing(4)
        layout.addWidget(self.title)
        layout.addWidget(self.sentence)
        layout.addSpacing(8)
        layout.addWidget(make_scroll_area(inner), 1)
        self.statements = StatementsOffer(context)
        self.statements.made.connect(self.findings.reload)
        layout.addWidget(self.statements)
        layout.addLayout(make_row(self.taken, None))  # aside: what one does next is below
        layout.addSpacing(4)
        self._icon = ("circle-check", "success")
        context.theme.changed.connect(self._paint_icon)

    def _paint_icon(self) -> None:
        size = self._context.theme.px(40)
        self._picture.setPixmap(self._context.theme.icon(*self._icon).pixmap(QSize(size, size)))

    def _show_outcome(self, icon: str, role: str, title: str, sentence: str) -> None:
        self._icon = (icon, role)
        self._paint_icon()
        self.title.setText(title)
        self.sentence.setText(sentence)
        self.sentence.setVisible(bool(sentence))
        self.setAccessibleName(f"{title} {sentence}")

    def show_outcome(self, outcome: ImportOutcome) -> None:
        """Say what came of it."""
        reports = [report for _, report in outcome.reports]
        strings = import_strings()["outcome"]
        if reports:
            waiting = sum(report.proposals for report in reports)
            more = format_count(strings["proposals"], waiting) if waiting else ""
            self._show_outcome("circle-check", "success", describe_stored(reports), more)
        else:
            self._show_outcome("triangle-alert", "warning", strings["nothing"], "")
        clear_layout(self._list)
        for name, report in outcome.reports:
            skipped = sum(report.skipped.values())
            notes = [format_report_span(report), strings["left_out"].format(count=skipped) if skipped else ""]
            self._add_line(name, f"{report.stored:,}", " · ".join(part for part in notes if part))
        for name, problem in outcome.problems:
            self._add_line(name, "", problem.sentence, "danger")
        self.findings.show_imports(outcome.ids)
        self.statements.offer_for(outcome.ids)
        self.taken.setVisible(bool(outcome.ids))
        self.taken.setEnabled(True)
        self.taken.setText(strings["remove"] if len(outcome.ids) == 1 else strings["remove_all"])

    def _add_line(self, name: str, count: str, note: str, role: str = "small") -> None:
        widget = QWidget()
        words = QWidget()
        notes = [make_label(note, role, wrap=True)] if note else []  # an empty line would push the count down
        make_column(words, Elided(name, "strong", Qt.TextElideMode.ElideMiddle), *notes, gap=0)
        line = make_row(words, make_label(count, "strong"), gap=16, parent=widget)
        line.setStretch(0, 1)
        if self._list.count():
            self._list.addWidget(make_hairline())
        self._list.addWidget(widget)

    def show_removed(self, left: int) -> None:
        """Say that it was taken back.

        Args:
            left: rows that were changed since and stayed.
        """
        strings = import_strings()["outcome"]
        more = format_count(strings["stayed"], left) if left else strings["as_before"]
        self._show_outcome("undo-2", "muted", strings["removed"], more)
        clear_layout(self._list)
        self.findings.show_imports(())
        self.statements.hide()
        self.taken.hide()

    def show_trouble(self, problem: Problem) -> None:
        """Say that it could not be taken back."""
        self._show_outcome("triangle-alert", "warning", import_strings()["outcome"]["not_removed"], problem.sentence)


@dataclass(frozen=True, slots=True)
class ImportJob:
    """One import that waits, runs or has ended.

    Attributes:
        path: a file or folder; name: of it, as it is shown.
        form: the format the person named; None to detect it.
        choice: what is chosen of it.
        passphrase: of an encrypted archive.
    """

    path: Path
    name: str
    form: str | None = None
    choice: Choice = EVERYTHING
    passphrase: str | None = field(default=None, repr=False)


@dataclass(slots=True)
class ImportOutcome:
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

    def __init__(self, context: Context, jobs: Sequence[ImportJob], space: str | None) -> None:
        """Make it; `start` begins.

        Args:
            jobs: what to import, in order.
            space: into which space; None for the usual one.
        """
        super().__init__(context.desk)
        self._context, self.jobs, self._space = context, list(jobs), space
        self.outcome = ImportOutcome()
        self.is_watched = True
        self.is_over = False
        self._at = self._over = -1
        self._running: Running | None = None
        self._is_told = False

    def start_first(self) -> None:
        """Begin with the first."""
        self._run_next()

    def stop_and_undo(self) -> None:
        """Stop, and take back what this queue has brought already."""
        self.outcome.is_stopped = True
        if self._running is not None:
            self._running.cancel()

    def _run_next(self) -> None:
        self._at += 1
        if self.outcome.is_stopped:
            self._undo_imports()
            return
        if self._at >= len(self.jobs):
            self._finish_queue()
            return
        job, imports = self.jobs[self._at], self._context.bridge.engine.imports
        self._is_told = False

        def start_import(watch: Watch) -> Future[ImportReport]:
            return imports.run(
                job.path,
                job.form,
                self._space,
                OWNER_ACTOR,
                watch.progress,
                watch.cancelled,
                choice=job.choice,
                passphrase=job.passphrase,
            )

        task = Task(import_strings()["progress"]["task"], start_import, writes=True, can_cancel=True).within(self)
        self.began.emit(self._at)
        self._running = self._context.tasks.run(task.success(self._on_import_done).failure(self._on_task_failed))
        self._running.moved.connect(self.moved)
        self._running.ended.connect(self._on_task_ended)

    def _on_import_done(self, report: ImportReport) -> None:
        self._is_told = True
        self.outcome.reports.append((self.jobs[self._at].name, report))
        self._run_next()

    def _on_task_failed(self, error: BaseException) -> None:
        self._is_told = True
        problem = problem_of(error)
        if problem is None:  # the vault is being locked: the next start goes on with it
            self._finish_queue()
            return
        self.outcome.problems.append((self.jobs[self._at].name, problem))
        self._run_next()

    def _on_task_ended(self) -> None:
        self._running = None
        self._over = self._at
        # A stop is silent: by the next turn of the loop, what was to be told is told.
        QTimer.singleShot(0, self._check_lock)

    def _check_lock(self) -> None:
        if self._at == self._over and not self._is_told and not self.is_over:
            self.outcome.is_stopped = True
            self._undo_imports()

    def _undo_imports(self) -> None:
        if not self.outcome.ids or not self._context.bridge.is_open:
            self._finish_queue()
            return
        taking = ImportRemoval(self._context, self.outcome.ids, self)
        taking.done.connect(self._on_taken_back)
        taking.failed.connect(self._on_taking_back_failed)
        taking.undo_next()

    def _on_taken_back(self, _left: int) -> None:
        self.outcome.reports.clear()
        self._finish_queue()

    def _on_taking_back_failed(self, problem: Problem) -> None:
        self.outcome.problems.append((self.outcome.reports[-1][0], problem))
        self._finish_queue()

    def _finish_queue(self) -> None:
        self.is_over = True
        self.ended.emit()
        if not self.is_watched and self._context.bridge.is_open:
            self._report_outcome()
        self.deleteLater()

    def _report_outcome(self) -> None:
        desk, outcome = self._context.desk, self.outcome
        strings = import_strings()["outcome"]
        if outcome.is_stopped:
            desk.show_message(strings["stopped"])
        elif outcome.problems:
            desk.show_message(outcome.problems[0][1].sentence)
        elif outcome.reports:
            ids = ",".join(outcome.ids)
            desk.show_message(
                describe_stored([report for _, report in outcome.reports]),
                strings["show"],
                lambda: desk.search.emit(f"import:{ids}"),
            )


class ImportRemoval(QObject):
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
            ids: of the imports, in the order they came.
            parent: what it belongs to; with it the answers are dropped.
        """
        super().__init__(parent)
        self._context = context
        self.ids = list(ids)
        self._left = 0

    def undo_next(self) -> None:
        """Take back the last one that is there."""
        if not self.ids:
            self.done.emit(self._left)
            self.deleteLater()
            return
        imports, last = self._context.bridge.engine.imports, self.ids[-1]
        task = make_write(import_strings()["outcome"]["removing"], lambda: imports.undo_import(last)).within(self)
        self._context.tasks.run(task.success(self._on_taken_back).failure(self._on_task_failed))

    def _on_taken_back(self, report: UndoReport) -> None:
        self.ids.pop()
        self._left += len(report.left)
        self.undo_next()

    def _on_task_failed(self, error: BaseException) -> None:
        problem = problem_of(error)
        if problem is not None:
            self.failed.emit(problem)
        self.deleteLater()
