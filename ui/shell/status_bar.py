"""The line below the pages: states on the left, what is under way on the right.

Must not do: ask the engine for anything; it shows what it is given.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QFrame, QLabel, QProgressBar, QPushButton, QSizePolicy, QWidget

from core.events import Progress
from core.types.values import Status
from ui.bridge import Running
from ui.strings import format_count, window_strings
from ui.theme.theme import Theme
from ui.widgets.basics import Elided, make_button, make_row, make_timer, make_tool_button
from ui.widgets.labels import STATUS_WORDS

_QUIET_MS = 10_000
_GROUPS = {
    "active": (Status.ACTIVE, Status.DISPUTED),
    "held": (Status.QUARANTINED,),
    "inactive": (Status.SUPERSEDED, Status.CONSOLIDATED, Status.ARCHIVED),
}
"""What is told of the memories, and of which status it is; forgotten ones are in the sentence only."""


class StatusDot(QWidget):
    """A small mark of a state; its words are beside it."""

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


def _describe_total(memories: Mapping[str, Any]) -> tuple[str, str]:
    """How many memories the vault keeps, and of which status they are.

    Args:
        memories: `total`, and `by_status` where that was counted.

    Returns:
        A few words, and a sentence.
    """
    strings = window_strings()["status"]
    by_status = {status: int(memories.get("by_status", {}).get(status, 0)) for status in Status}
    total = format_count(strings["total"], int(memories.get("total", 0)))
    groups = {name: sum(by_status[status] for status in statuses) for name, statuses in _GROUPS.items()}
    told = ", ".join(strings[name].format(count=count) for name, count in groups.items() if count)
    told = told if groups["held"] or groups["inactive"] else total
    parts = ", ".join(f"{count:,} {STATUS_WORDS[status].lower()}" for status, count in by_status.items() if count)
    return told, strings["total_hint"].format(parts=parts) if parts else str(strings["total_plain"])


class StatusBar(QFrame):
    """States on the left, work on the right.

    Signals:
        chosen: the id of a page where something waits.
    """

    chosen = Signal(str)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("status")
        strings = window_strings()["status"]
        self.setAccessibleName(strings["title"])
        self._theme = theme
        self._dot = StatusDot(theme, "faint")
        self._index, self._search, self._model, self._work = (_make_status_text() for _ in range(4))
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        self._bar.setFixedWidth(140)
        self._stop = make_tool_button(theme, "x", strings["stop"], self._cancel_last, size=12)
        self._works: list[Running] = []
        self._quiet = make_timer(self, self._show_newest, _QUIET_MS)
        self._counts: dict[str, QPushButton] = {}
        self._gaps: dict[str, QLabel] = {}
        self._layout = make_row(
            self._dot, self._index, _make_spacer(12), self._search, _make_spacer(12), self._model, None,
            self._work, self._bar,
            self._stop, parent=self, gap=6,
        )  # fmt: skip
        self._layout.setContentsMargins(16, 0, 16, 0)
        self._show_newest()
        self._set_height()
        theme.changed.connect(self._set_height)

    def _set_height(self) -> None:
        self.setFixedHeight(self._theme.px(28))

    def show_status(self, values: Mapping[str, Any]) -> None:
        """Show what the engine reports.

        Args:
            values: `StatusReport.values`.
        """
        index = values.get("index", {})
        state, done, total = index.get("state", ""), int(index.get("loaded", 0)), int(index.get("total", 0))
        strings = window_strings()["status"]
        self._dot.show()
        self._dot.show_role("success" if state == "ready" else "warning")
        index_words = (
            strings["index"].get(state, strings["index"]["other"]).format(done=f"{done:,}", total=f"{total:,}")
        )
        memories = values.get("memories")
        count, hint = _describe_total(memories if isinstance(memories, Mapping) else {"total": done})
        self._index.set_text(f"{index_words} · {count}")
        self._index.set_hint(hint)
        self._search.set_text(strings["search"]["whole" if state == "ready" else "partly"])
        server = values.get("model_server", {})
        self._model.set_text(str(server.get("sentence", "")) or strings["no_server"])

    def show_count(self, page_id: str, title: str, count: int, counts: str = "open") -> None:
        """Say how much waits on a page; pressing it goes there.

        Args:
            count: 0 for nothing.
            counts: what is counted, in a word.
        """
        if page_id not in self._counts:
            self._add_count(page_id, title)
        strings = window_strings()["status"]
        self._counts[page_id].setText(strings["count"].format(title=title, count=count).replace("&", "&&"))
        self._counts[page_id].setAccessibleName(strings["waiting"].format(title=title, count=count, counts=counts))
        self._counts[page_id].setVisible(count > 0)
        self._gaps[page_id].setVisible(count > 0)

    def _add_count(self, page_id: str, title: str) -> None:
        """Make the button of a page, in the order of the ids: pages count in whatever order they are read."""
        button, gap = make_button(title, lambda: self.chosen.emit(page_id), kind="crumb"), _make_spacer(12)
        before = sum(known < page_id for known in self._counts)
        place = self._layout.indexOf(self._model) + 1 + 2 * before
        self._layout.insertWidget(place, gap)
        self._layout.insertWidget(place + 1, button)
        self._counts[page_id], self._gaps[page_id] = button, gap

    def clear_status(self) -> None:
        """Nothing is known of what is not open, not even whether there is a vault."""
        for made in (*self._counts.values(), *self._gaps.values()):
            made.hide()
        self._dot.show_role("faint")
        self._index.set_hint("")
        for one in (self._index, self._search, self._model):
            one.set_text("")
        self._dot.hide()
        self._show_newest()  # what the engine did by itself has stopped

    def show_locked(self) -> None:
        """There is a vault, and it is locked."""
        self._dot.show()
        self._index.set_text(window_strings()["status"]["locked"])

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
            self._work.set_text(
                window_strings()["status"]["stopping"] if newest.watch.cancelled() else _name_work(newest.label)
            )
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

    def _cancel_last(self) -> None:
        if self._works:
            self._works[-1].cancel()
            self._work.set_text(window_strings()["status"]["stopping"])

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
        self._work.set_text(_name_work(progress.label))
        self._bar.setAccessibleName(progress.label)
        self._bar.setRange(0, progress.total or 0)
        self._bar.setValue(progress.done)


def _name_work(label: str) -> str:
    """What is under way; a page's own sentence for it may have its dots already."""
    return f"{label.rstrip(' …')} …"


def _make_status_text() -> Elided:
    """As wide as its text where there is room, cut where there is not: a status never widens the window."""
    made = Elided()
    made.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
    return made


def _make_spacer(width: int) -> QLabel:
    label = QLabel()
    label.setFixedWidth(width)
    return label
