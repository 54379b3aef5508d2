"""The stage: one of the two canvases, and what floats on it: back and depth, zoom, a notice.

Must not do: ask the engine.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPoint, QRectF, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QPushButton, QStackedWidget, QWidget

from ui.pages.graph.canvas import STEP, Canvas
from ui.pages.graph.ego import EgoCanvas
from ui.pages.graph.whole import WholeCanvas
from ui.theme.theme import Theme
from ui.widgets.basics import Segments, button, label, row, tool

_EDGE = 12
_DEPTHS = (("1", "1"), ("2", "2"), ("3", "3"))


class Stage(QWidget):
    """Both canvases, one of them shown.

    Signals:
        back: to what was shown before.
        depth_chosen: edges from the centre, 1 to 3.
    """

    back = Signal()
    depth_chosen = Signal(int)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.ego, self.whole = EgoCanvas(theme), WholeCanvas(theme)
        self._stack = QStackedWidget(self)
        self._stack.addWidget(self.ego)
        self._stack.addWidget(self.whole)
        self.go_back = button("Back", self.back.emit, kind="chip", hint="Back (Alt+Left)", theme=theme,
                              icon="chevron-left")  # fmt: skip
        self.go_back.hide()
        self.depths = Segments(_DEPTHS, "2", "Depth")
        self.depths.chosen.connect(lambda value: self.depth_chosen.emit(int(value)))
        for made in self.depths.findChildren(QPushButton):
            made.setAccessibleName(f"Depth {made.text()}")
        self._depth = QWidget()
        row(label("Depth", "small"), self.depths, gap=8, parent=self._depth)
        self._top = _floating(self, self.go_back, self._depth)
        self._zoom = _floating(
            self,
            tool(theme, "zoom-in", "Nearer (+)", lambda: self.canvas.zoom(STEP)),
            tool(theme, "zoom-out", "Farther (−)", lambda: self.canvas.zoom(1 / STEP)),
            tool(theme, "maximize", "Show everything (Home)", lambda: self.canvas.fit()),
        )
        self._notice: QFrame | None = None
        theme.changed.connect(self._place)

    @property
    def canvas(self) -> Canvas:
        """The canvas that is shown."""
        return self.whole if self._stack.currentWidget() is self.whole else self.ego

    def show_canvas(self, *, whole: bool) -> None:
        """Show one of them; the other rests."""
        (self.ego if whole else self.whole).rest()
        self._stack.setCurrentWidget(self.whole if whole else self.ego)
        self._depth.setVisible(not whole)
        self._place()

    def show_back(self, *, is_there: bool) -> None:
        """Offer the way back, where there is one."""
        if is_there == self.go_back.isHidden():
            had = self.go_back.hasFocus()
            self.go_back.setVisible(is_there)
            if had:
                self.canvas.setFocus()
            self._place()

    def notice(self, sentence: str, *actions: tuple[str, Callable[[], None]]) -> None:
        """Say something at the lower edge; "" says nothing.

        Args:
            sentence: one sentence.
            *actions: titles and what they do.
        """
        if self._notice is not None:
            self._notice.hide()
            self._notice.deleteLater()
            self._notice = None
        if sentence:
            frame = QFrame(self)
            frame.setObjectName("banner")
            frame.setAccessibleName(sentence)
            words = label(sentence, wrap=True)
            words.setMinimumWidth(self._theme.px(150))
            inner = row(words, *(button(name, run) for name, run in actions), gap=8, parent=frame)
            inner.setContentsMargins(16, 8, 8, 8)
            inner.setStretch(0, 1)
            self._notice = frame
            frame.show()
            self._place()

    @property
    def said(self) -> str:
        """The notice, "" where there is none."""
        return "" if self._notice is None else self._notice.accessibleName()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """What floats keeps its corner."""
        super().resizeEvent(event)
        self._stack.resize(event.size())
        self._place()

    def _place(self) -> None:
        for frame in (self._top, self._zoom):
            frame.adjustSize()
        self._top.setVisible(not self.go_back.isHidden() or not self._depth.isHidden())
        self._top.move(_EDGE, _EDGE)
        self._zoom.move(self.width() - self._zoom.width() - _EDGE, _EDGE)
        shown = [QRectF(frame.geometry()) for frame in (self._top, self._zoom) if not frame.isHidden()]
        self.ego.blocked = self.whole.blocked = tuple(shown)
        if self._notice is not None:
            wide = min(self._theme.px(560), self.width() - 2 * _EDGE)
            layout = self._notice.layout()
            high = self._notice.sizeHint().height() if layout is None else layout.totalHeightForWidth(wide)
            self._notice.resize(wide, high)
            self._notice.move(QPoint((self.width() - wide) // 2, self.height() - high - _EDGE))


def _floating(parent: QWidget, *widgets: QWidget) -> QFrame:
    frame = QFrame(parent)
    frame.setObjectName("floating")
    frame.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
    inner = row(*widgets, gap=8, parent=frame)
    inner.setContentsMargins(4, 0, 4, 0)
    return frame
