"""The line at the lower edge: how the index is, how answers are found, what is under way, whether all is saved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QFrame, QLabel, QProgressBar, QWidget

from ui.tasks import Running
from ui.theme.theme import Theme
from ui.widgets.basics import label, row, tool
from ui.widgets.words import memories


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
        """Draw it."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.colour(self._role))
        painter.drawEllipse(1, 1, 6, 6)


class StatusBar(QFrame):
    """States on the left, work on the right."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("status")
        self.setAccessibleName("Status")
        self._theme = theme
        self._dot = Dot(theme, "faint")
        self._index, self._search, self._model = label(), label(), label()
        self._work, self._saved = label(), label()
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        self._bar.setFixedWidth(140)
        self._stop = tool(theme, "x", "Stop", self._cancel, size=12)
        self._running: Running | None = None
        self._layout = row(
            self._dot, self._index, _space(12), self._search, _space(12), self._model, None, self._work, self._bar,
            self._stop, self._saved, parent=self, gap=6,
        )  # fmt: skip
        self._layout.setContentsMargins(16, 0, 16, 0)
        self._hide_work()
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
        self._model.setText("No model server: rules and the built-in model answer")

    def clear_status(self) -> None:
        """Nothing is known: the vault is locked."""
        self._dot.show_role("faint")
        self._index.setText("Locked")
        for one in (self._search, self._model, self._saved):
            one.setText("")

    def show_saved(self, sentence: str) -> None:
        """Say how saving stands."""
        self._saved.setText(sentence)

    def show_work(self, running: Running) -> None:
        """Show a work that takes longer."""
        self._running = running
        self._work.setText(f"{running.label} …")
        self._bar.setRange(0, 0)
        self._bar.setAccessibleName(running.label)
        self._stop.setVisible(running.can_cancel)
        self._work.show()
        self._bar.show()
        self._saved.hide()
        running.moved.connect(self._moved)
        running.ended.connect(self._hide_work)

    def _moved(self, done: int, total: int) -> None:
        if total > 0:
            self._bar.setRange(0, total)
            self._bar.setValue(done)

    def _hide_work(self) -> None:
        self._running = None
        for one in (self._work, self._bar, self._stop):
            one.hide()
        self._saved.show()

    def _cancel(self) -> None:
        if self._running is not None:
            self._running.cancel()
            self._work.setText("Stopping …")


def _space(width: int) -> QLabel:
    made = QLabel()
    made.setFixedWidth(width)
    return made
