"""The line at the lower edge: how the index is, how answers are found, what is under way, whether all is saved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QFrame, QLabel, QProgressBar, QPushButton, QWidget

from core.events import Progress
from ui.tasks import Running
from ui.theme.theme import Theme
from ui.widgets.basics import button, label, row, tool
from ui.widgets.words import memories

_QUIET_MS = 10_000


class Dot(QWidget):
    """A small mark of a state; its words stand beside it."""

    def __init__(self, theme: Theme, role: str) -> None:
        super().__init__()
        self._theme, self._role = theme, role
        self.setFixedSize(8, 8)
        theme.changed.connect(self.update)

    def show_role(self, role: str) -> None:
        """Take another token's colour."""
        self._role = role
        self.update()

    def paintEvent(self, _event: object) -> None:  # noqa: N802 - Qt's name
        """Paint the widget."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.colour(self._role))
        painter.drawEllipse(1, 1, 6, 6)


class StatusBar(QFrame):
    """States on the left, work on the right.

    Signals:
        chosen: the id of a page where something waits.
    """

    chosen = Signal(str)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("status")
        self.setAccessibleName("Status")
        self._theme = theme
        self._dot = Dot(theme, "faint")
        self._index, self._search, self._model = label(), label(), label()
        self._work = label()
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        self._bar.setFixedWidth(140)
        self._stop = tool(theme, "x", "Stop", self._cancel, size=12)
        self._works: list[Running] = []
        self._quiet = QTimer(self)
        self._quiet.setSingleShot(True)
        self._quiet.setInterval(_QUIET_MS)
        self._quiet.timeout.connect(self._show_newest)
        self._counts: dict[str, QPushButton] = {}
        self._gaps: dict[str, QLabel] = {}
        self._layout = row(
            self._dot, self._index, _space(12), self._search, _space(12), self._model, None, self._work, self._bar,
            self._stop, parent=self, gap=6,
        )  # fmt: skip
        self._layout.setContentsMargins(16, 0, 16, 0)
        self._show_newest()
        self._paint()
        theme.changed.connect(self._paint)

    def _paint(self) -> None:
        self.setFixedHeight(self._theme.px(28))

    def show_status(self, values: Mapping[str, Any]) -> None:
        """Show what the engine reports.

        Args:
            values: `StatusReport.values`.
        """
        index = values.get("index", {})
        state, done, total = index.get("state", ""), int(index.get("loaded", 0)), int(index.get("total", 0))
        words = {"ready": "Index warm", "warming": f"Index warming, {done:,} of {total:,}", "empty": "Index empty"}
        self._dot.show_role("success" if state == "ready" else "warning")
        count = int(values.get("memories", {}).get("total", done) if isinstance(values.get("memories"), dict) else done)
        self._index.setText(f"{words.get(state, 'Index')} · {memories(count)}")
        self._search.setText("Full search" if state == "ready" else "Search reads what is not indexed yet")
        server = values.get("model_server", {})
        self._model.setText(str(server.get("sentence", "")) or "No model server: rules and the built-in model answer")

    def show_count(self, page_id: str, title: str, count: int, counts: str = "open") -> None:
        """Say how much waits on a page; pressing it goes there.

        Args:
            count: 0 for nothing.
            counts: what is counted, in a word.
        """
        if page_id not in self._counts:
            self._add_count(page_id, title)
        self._counts[page_id].setText(f"{title} {count:,}".replace("&", "&&"))
        self._counts[page_id].setAccessibleName(f"{title}: {count:,} {counts}")
        self._counts[page_id].setVisible(count > 0)
        self._gaps[page_id].setVisible(count > 0)

    def _add_count(self, page_id: str, title: str) -> None:
        """Make the button of a page, in the order of the ids: pages count in whatever order they are read."""
        made, gap = button(title, lambda: self.chosen.emit(page_id), kind="crumb"), _space(12)
        before = sum(known < page_id for known in self._counts)
        place = self._layout.indexOf(self._model) + 1 + 2 * before
        self._layout.insertWidget(place, gap)
        self._layout.insertWidget(place + 1, made)
        self._counts[page_id], self._gaps[page_id] = made, gap

    def clear_status(self) -> None:
        """Nothing is known: the vault is locked."""
        for made in (*self._counts.values(), *self._gaps.values()):
            made.hide()
        self._dot.show_role("faint")
        self._index.setText("Locked")
        for one in (self._search, self._model):
            one.setText("")
        self._show_newest()  # what the engine did by itself has stopped

    def show_work(self, running: Running) -> None:
        """Show a work that takes longer; of several the newest."""
        self._works.append(running)
        running.moved.connect(lambda done, total: self._on_work_moved(running, done, total))
        running.ended.connect(lambda: self._on_work_ended(running))
        self._show_newest()

    def _show_newest(self) -> None:
        self._quiet.stop()
        newest = self._works[-1] if self._works else None
        for one in (self._work, self._bar):
            one.setVisible(newest is not None)
        self._stop.setVisible(newest is not None and newest.can_cancel)
        if newest is not None:
            self._work.setText("Stopping …" if newest.watch.cancelled() else f"{newest.label} …")
            self._bar.setRange(0, 0)
            self._bar.setAccessibleName(newest.label)

    def _on_work_moved(self, running: Running, done: int, total: int) -> None:
        if total > 0 and self._works and self._works[-1] is running:
            self._bar.setRange(0, total)
            self._bar.setValue(done)

    def _on_work_ended(self, running: Running) -> None:
        if running in self._works:
            self._works.remove(running)
        self._show_newest()

    def _cancel(self) -> None:
        if self._works:
            self._works[-1].cancel()
            self._work.setText("Stopping …")

    def show_progress(self, progress: Progress) -> None:
        """Show what the engine does by itself: an import that is finished after a crash, the index.

        Args:
            progress: how far it is.
        """
        if self._works:
            return
        if progress.total is not None and progress.done >= progress.total:
            self._show_newest()
            return
        # An import whose file is gone is taken back and tells no end: a long silence is one.
        self._quiet.start()
        self._work.show()
        self._bar.show()
        self._work.setText(f"{progress.label} …")
        self._bar.setAccessibleName(progress.label)
        self._bar.setRange(0, progress.total or 0)
        self._bar.setValue(progress.done)


def _space(width: int) -> QLabel:
    made = QLabel()
    made.setFixedWidth(width)
    return made
