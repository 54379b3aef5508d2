"""The last steps of an import: how far it is, and what came of it.

Must not do: import or take back anything itself; it tells what the person wants.
"""

from __future__ import annotations

from collections import deque

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QLabel, QProgressBar, QWidget

from ui.context import Context
from ui.imports.queue import ImportQueue, Outcome
from ui.imports.sources import brought, since, span_of_report
from ui.tasks import Problem
from ui.widgets.basics import Elided, button, clear, column, hairline, label, row, scrolling
from ui.widgets.words import count_of

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
        self._nr = label("", "small")
        self._nr.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName("Progress of the import")
        self.bar.setFixedWidth(context.theme.px(420))
        self.count = label("", "muted")
        self.count.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._hint = label("You can close this window; the import goes on, and the status bar shows it.", "small")
        self._hint.setAlignment(Qt.AlignmentFlag.AlignCenter)
        layout = column(self, gap=12)
        layout.addStretch(2)
        layout.addWidget(self._nr)
        layout.addLayout(row(None, self._title, None))
        layout.addLayout(row(None, self.bar, None))
        layout.addWidget(self.count)
        layout.addSpacing(16)
        layout.addWidget(self._hint)
        layout.addStretch(3)

    def follow(self, queue: ImportQueue) -> None:
        """Show how far a queue is."""
        self._names = [job.name for job in queue.jobs]
        queue.began.connect(self._began)
        queue.moved.connect(self.show_progress)

    def _began(self, at: int) -> None:
        self._seen.clear()
        self._title.say(f"Importing “{self._names[at]}”")
        many = len(self._names)
        self._nr.setText(f"{at + 1} of {many}" if many > 1 else "")
        self._nr.setVisible(many > 1)
        self.bar.setRange(0, 0)
        self.count.setText("Reading it through first …")

    def show_progress(self, done: int, total: int) -> None:
        """Show how far it is.

        Args:
            done: entries so far.
            total: of how many; -1 while it is read through.
        """
        if total <= 0:
            self.bar.setRange(0, 0)
            self.count.setText(f"Reading it through first: {count_of(done, 'entry', 'entries')} …")
            return
        self.bar.setRange(0, total)
        self.bar.setValue(done)
        self.count.setText(f"{done:,} of {total:,}{self._rate(done, total)}")

    def _rate(self, done: int, total: int) -> str:
        now = self._context.clock.monotonic()
        self._seen.append((now, done))
        while now - self._seen[0][0] > _WINDOW_S:
            self._seen.popleft()
        seconds, entries = now - self._seen[0][0], done - self._seen[0][1]
        if seconds < 1 or entries <= 0:
            return ""
        rate = entries / seconds
        left = f" · about {since((total - done) / rate)} left" if done < total else ""
        return f" · {rate:,.0f} a second{left}"

    def show_stopping(self) -> None:
        """It is being taken back."""
        self.bar.setRange(0, 0)
        self._title.say("Stopping, and taking back what came in so far …")
        self.count.setText("")


class Done(QWidget):
    """What came of the imports.

    Signals:
        remove: the person wants them taken back.
    """

    remove = Signal()

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._context = context
        self._picture = QLabel()
        self._picture.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.title = label("", "title", wrap=True)
        self.title.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.sentence = label("", "muted", wrap=True)
        self.sentence.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._rows = QWidget()
        self._list = column(self._rows, gap=8)
        self._list.setContentsMargins(48, 0, 48, 0)
        self.taken = button("Remove this import", self.remove.emit, kind="danger", theme=context.theme, icon="undo-2")
        layout = column(self, gap=8)
        layout.addSpacing(16)
        layout.addWidget(self._picture)
        layout.addSpacing(4)
        layout.addWidget(self.title)
        layout.addWidget(self.sentence)
        layout.addSpacing(8)
        layout.addWidget(scrolling(self._rows), 1)
        layout.addLayout(row(None, self.taken, None))
        layout.addSpacing(4)
        self._icon = ("circle-check", "success")
        context.theme.changed.connect(self._paint)

    def _paint(self) -> None:
        size = self._context.theme.px(40)
        self._picture.setPixmap(self._context.theme.icon(*self._icon).pixmap(QSize(size, size)))

    def _say(self, icon: str, role: str, title: str, sentence: str) -> None:
        self._icon = (icon, role)
        self._paint()
        self.title.setText(title)
        self.sentence.setText(sentence)
        self.sentence.setVisible(bool(sentence))
        self.setAccessibleName(f"{title} {sentence}")

    def show_outcome(self, outcome: Outcome) -> None:
        """Say what came of it."""
        reports = [report for _, report in outcome.reports]
        if reports:
            waiting = sum(report.proposals for report in reports)
            more = f"{count_of(waiting, 'proposal')} of assistants wait for your word." if waiting else ""
            self._say("circle-check", "success", brought(reports), more)
        else:
            self._say("triangle-alert", "warning", "Nothing was imported.", "")
        clear(self._list)
        for name, report in outcome.reports:
            skipped = sum(report.skipped.values())
            told = [span_of_report(report), f"{skipped:,} left out" if skipped else ""]
            self._add(name, f"{report.stored:,}", " · ".join(part for part in told if part))
        for name, problem in outcome.problems:
            self._add(name, "", problem.sentence, "danger")
        self._list.addStretch(1)
        self.taken.setVisible(bool(outcome.ids))
        self.taken.setEnabled(True)
        self.taken.setText("Remove this import" if len(outcome.ids) == 1 else "Remove these imports")

    def _add(self, name: str, count: str, told: str, role: str = "small") -> None:
        made = QWidget()
        words = QWidget()
        column(words, Elided(name, "strong", Qt.TextElideMode.ElideMiddle), label(told, role, wrap=True), gap=0)
        line = row(words, label(count, "strong"), gap=16, parent=made)
        line.setStretch(0, 1)
        if self._list.count():
            self._list.addWidget(hairline())
        self._list.addWidget(made)

    def show_removed(self, left: int) -> None:
        """Say that it was taken back.

        Args:
            left: rows that were changed since and stayed.
        """
        more = f"{count_of(left, 'row')} changed since and stayed." if left else "Your palace is as it was before."
        self._say("undo-2", "muted", "The import was removed.", more)
        clear(self._list)
        self.taken.hide()

    def show_trouble(self, problem: Problem) -> None:
        """Say that it could not be taken back."""
        self._say("triangle-alert", "warning", "The import is still there.", problem.sentence)
