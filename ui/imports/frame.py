"""The frame of the import dialog: names of the steps above, buttons below, and files that are dropped on it.

Must not do: know what the steps do.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDragLeaveEvent, QDropEvent
from PySide6.QtWidgets import QDialog, QStackedWidget, QWidget

from ui.theme.theme import Theme
from ui.widgets.basics import button, column, hairline, label, restyle, row

SIZE = QSize(860, 620)
SMALLEST = QSize(640, 480)
_AROUND = 24  # pixels of the window that stay in sight
STEPS = ("Choose", "Look inside", "Import")
Act = tuple[str, Callable[[], None]]
"""The title of a button and what it does."""


class Frame(QDialog):
    """The frame.

    Signals:
        held: files are held over it, or no longer.
        dropped: paths that were dropped.
        left: it closes.

    Attributes:
        takes_drops: whether something may be dropped now.
        back: the button on the left; `other` and `main` are on the right.
    """

    held = Signal(bool)
    dropped = Signal(list)
    left = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None) -> None:
        """Make it.

        Args:
            theme: the theme.
            parent: the window; the frame is not larger than it.
        """
        super().__init__(parent)
        self.setWindowTitle("Import")
        self.setAccessibleName("Import")
        self.setAcceptDrops(True)
        self.setMinimumSize(SMALLEST)
        wanted = QSize(theme.px(SIZE.width()), theme.px(SIZE.height()))
        room = wanted if parent is None else parent.window().size() - QSize(2 * _AROUND, 2 * _AROUND)
        self.resize(wanted.boundedTo(room).expandedTo(SMALLEST))
        self.takes_drops = True
        self._steps = [label(f"{nr}  {name}", "small") for nr, name in enumerate(STEPS, 1)]
        self._stack = QStackedWidget()
        self.back = button("Close")
        self.other = button("")
        self.main = button("", kind="primary")
        self._runs: dict[QWidget, Callable[[], None]] = {}
        for made in (self.back, self.other, self.main):
            made.clicked.connect(self._pressed)
        self._lay_out()

    def _lay_out(self) -> None:
        head = row(*self._steps, None, gap=24)
        head.setContentsMargins(24, 16, 24, 12)
        body = column(None, self._stack)
        body.setContentsMargins(24, 16, 24, 16)
        foot = row(self.back, None, self.other, self.main)
        foot.setContentsMargins(24, 12, 24, 16)
        layout = column(self, gap=0)
        layout.addLayout(head)
        layout.addWidget(hairline())
        layout.addLayout(body, 1)
        layout.addWidget(hairline())
        layout.addLayout(foot)

    @property
    def page(self) -> QWidget | None:
        """The page that is shown; None before the first."""
        return self._stack.currentWidget()

    def show_page(self, page: QWidget, step: int) -> None:
        """Show a page.

        Args:
            page: which; added where it is new.
            step: number of its step, from 0.
        """
        if self._stack.indexOf(page) < 0:
            self._stack.addWidget(page)
        self._stack.setCurrentWidget(page)
        for nr, made in enumerate(self._steps):
            restyle(made, "role", "accent" if nr == step else "small")
            made.setAccessibleName(f"Step {STEPS[nr]}{', now' if nr == step else ''}")

    def foot(self, back: Act | None, main: Act | None, other: Act | None = None, *, may_go: bool = True) -> None:
        """Offer other buttons.

        Args:
            back: on the left.
            main: the main one; Enter presses it.
            other: beside it.
            may_go: whether the main one can be pressed.
        """
        self._runs.clear()
        for made, wanted in ((self.back, back), (self.main, main), (self.other, other)):
            made.setVisible(wanted is not None)
            made.setEnabled(True)
            if wanted is not None:
                made.setText(wanted[0].replace("&", "&&"))
                made.setAccessibleName(wanted[0])
                self._runs[made] = wanted[1]
        self.main.setEnabled(may_go)
        self.main.setDefault(main is not None)

    def _pressed(self) -> None:
        pressed = self.sender()
        if isinstance(pressed, QWidget) and pressed in self._runs:
            self._runs[pressed]()

    # ---- Qt's events

    def done(self, result: int) -> None:
        """It closes by a button or by Esc."""
        self.left.emit()
        super().done(result)

    def closeEvent(self, event: QCloseEvent) -> None:  # noqa: N802 - Qt's name
        """It closes by its frame or by the window."""
        self.left.emit()
        super().closeEvent(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:  # noqa: N802 - Qt's name
        """Files and folders may be dropped while nothing is imported."""
        if self.takes_drops and any(url.isLocalFile() for url in event.mimeData().urls()):
            event.acceptProposedAction()
            self.held.emit(True)  # noqa: FBT003 - Qt's own

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:  # noqa: N802 - Qt's name
        """They are held somewhere else now."""
        self.held.emit(False)  # noqa: FBT003 - Qt's own
        super().dragLeaveEvent(event)

    def dropEvent(self, event: QDropEvent) -> None:  # noqa: N802 - Qt's name
        """Tell what was dropped."""
        self.held.emit(False)  # noqa: FBT003 - Qt's own
        paths = [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]
        if paths and self.takes_drops:
            event.acceptProposedAction()
            self.dropped.emit(paths)
