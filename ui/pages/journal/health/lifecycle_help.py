"""The help of the journal: how the palace keeps itself in order, with a picture of what that comes to over years.

The words are `resources/help/order.json`. Must not do: ask the engine.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QFrame, QScrollArea, QWidget

from ui.pages.journal.health.life_plot import LifePlot, life, life_told
from ui.strings import order_strings
from ui.theme.theme import Theme
from ui.widgets.basics import column, label, row, scrolling, tool

_WIDE, _HIGH = 760, 640


class OrderHelp(QFrame):
    """A panel over the page; what is in it is made when it is first opened.

    Signals:
        closed: it is shown no more.
    """

    closed = Signal()

    def __init__(self, theme: Theme, host: QWidget) -> None:
        super().__init__(host)
        self.setObjectName("popover")
        self._theme = theme
        self._before: QWidget | None = None
        self.area: QScrollArea | None = None
        self.plot: LifePlot | None = None
        self.hide()

    def _fill(self) -> QScrollArea:
        """Make what is in it, once."""
        if self.area is not None:
            return self.area
        said = order_strings()
        self.setAccessibleName(said["title"])
        inner = QWidget()
        inner.setAccessibleName(said["title"])
        layout = column(inner, label(said["lead"], "muted", wrap=True), gap=8)
        layout.setContentsMargins(0, 0, 12, 8)
        self.plot = LifePlot(self._theme, life(), said["curves"], said["under"])
        told = life_told(life(), said)
        self.plot.setAccessibleName(said["picture"].format(span=life().span))
        self.plot.setAccessibleDescription(told)
        layout.addSpacing(4)
        layout.addWidget(label(said["picture"].format(span=life().span), "strong"))
        layout.addWidget(self.plot)
        layout.addWidget(label(told, "small", wrap=True))
        layout.addWidget(label(said["made"], "small", wrap=True))
        for section in said["sections"]:
            layout.addSpacing(8)
            layout.addWidget(label(section["title"], "strong"))
            layout.addWidget(label(section["text"], wrap=True))
        layout.addStretch(1)
        self.area = scrolling(inner)
        self.area.setAccessibleName(said["title"])
        self.area.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # nothing in it takes the keyboard, and it is long
        head = row(label(said["title"], "section", wrap=True), tool(self._theme, "x", "Close (Esc)", self.shut))
        head.setStretch(0, 1)
        outer = column(self, margins=16, gap=8)
        outer.addLayout(head)
        outer.addWidget(self.area, 1)
        return self.area

    def open_below(self, top: int) -> None:
        """Show it; the keyboard comes back to where it was when it is closed.

        Args:
            top: pixels from the upper edge of the page.
        """
        area = self._fill()
        if self.isHidden():
            self._before = QApplication.focusWidget()
        self.place(top)
        self.show()
        self.raise_()
        area.setFocus()

    def place(self, top: int) -> None:
        """Take the room there is below a line."""
        host = self.parentWidget()
        if host is not None:
            px = self._theme.px
            width = min(px(_WIDE), host.width() - 32)
            self.setGeometry((host.width() - width) // 2, top, width, min(px(_HIGH), host.height() - top - 16))

    def shut(self) -> None:
        """Show it no more."""
        if self.isHidden():
            return
        before, self._before = self._before, None
        self.hide()
        if before is not None and before.isVisible():
            before.setFocus()
        self.closed.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Esc closes."""
        if event.key() == Qt.Key.Key_Escape:
            self.shut()
        else:
            super().keyPressEvent(event)
