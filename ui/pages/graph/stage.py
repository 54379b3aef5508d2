"""The canvases of the graph page, one of them shown, with what floats on them.

Must not do: ask the engine, or decide what is shown.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPoint, QRectF, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QPushButton, QStackedWidget, QWidget

from ui.pages.graph.canvas import STEP, GraphCanvas
from ui.pages.graph.ego import EgoCanvas
from ui.pages.graph.overview import OverviewCanvas
from ui.pages.graph.whole import WholeCanvas
from ui.strings import graph_strings
from ui.theme.theme import Theme
from ui.widgets.basics import Segments, make_button, make_label, make_row, make_tool_button

_EDGE = 12
_DEPTHS = (("1", "1"), ("2", "2"), ("3", "3"))


class GraphStage(QWidget):
    """All canvases, one of them shown.

    Signals:
        back: to what was shown before.
        depth_chosen: edges from the centre, 1 to 3.
        picked: a node was chosen, or none is any more.
    """

    back = Signal()
    depth_chosen = Signal(int)
    picked = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme, strings = theme, graph_strings()["tools"]
        self.ego, self.whole, self.overview = EgoCanvas(theme), WholeCanvas(theme), OverviewCanvas(theme)
        self.canvases: tuple[GraphCanvas, ...] = (self.ego, self.whole, self.overview)
        self._stack = QStackedWidget(self)
        for canvas in self.canvases:
            self._stack.addWidget(canvas)
        self.go_back = make_button(strings["back"], self.back.emit, kind="chip", hint=strings["back_hint"], theme=theme,
                              icon="chevron-left")  # fmt: skip
        self.go_back.hide()
        self.depths = Segments(_DEPTHS, "2", strings["depth"])
        self.depths.chosen.connect(lambda value: self.depth_chosen.emit(int(value)))
        for made in self.depths.findChildren(QPushButton):
            made.setAccessibleName(f"{strings['depth']} {made.text()}")
        self._depth = QWidget()
        make_row(make_label(strings["depth"], "small"), self.depths, gap=8, parent=self._depth)
        self._top = _make_floating_frame(self, self.go_back, self._depth)
        self._zoom = _make_floating_frame(
            self,
            make_tool_button(theme, "zoom-in", strings["nearer"], lambda: self.canvas.zoom_by(STEP)),
            make_tool_button(theme, "zoom-out", strings["farther"], lambda: self.canvas.zoom_by(1 / STEP)),
            make_tool_button(theme, "maximize", strings["fit"], lambda: self.canvas.fit_view()),
        )
        self._actions = self._make_actions()
        self._notice: QFrame | None = None
        theme.changed.connect(self._place_frames)

    def _make_actions(self) -> QFrame:
        strings = graph_strings()["actions"]
        self.center = make_button(strings["center"], lambda: self._emit_for_selected_node("centered"), kind="chip",
                                  hint=strings["center_hint"])  # fmt: skip
        self.open = make_button(
            strings["open"], lambda: self._emit_for_selected_node("opened"), kind="chip", hint=strings["open_hint"]
        )
        self.path = make_button(strings["path"], lambda: self._emit_for_selected_node("path_wanted", ""), kind="chip",
                                hint=strings["path_hint"])  # fmt: skip
        frame = _make_floating_frame(self, self.center, self.open, self.path)
        frame.setAccessibleName(strings["label"])
        frame.hide()
        return frame

    def _emit_for_selected_node(self, signal: str, *more: str) -> None:
        canvas = self.canvas
        if canvas.selected >= 0:
            getattr(canvas, signal).emit(canvas.ids[canvas.selected], *more)

    @property
    def canvas(self) -> GraphCanvas:
        """The canvas that is shown."""
        shown = self._stack.currentWidget()
        return next(canvas for canvas in self.canvases if canvas is shown)

    def show_canvas(self, canvas: GraphCanvas, *, has_depth: bool) -> None:
        """Show one of them; the others rest.

        Args:
            has_depth: whether it shows what lies so many edges from a centre.
        """
        for other in self.canvases:
            if other is not canvas:
                other.stop_motion()
        self._stack.setCurrentWidget(canvas)
        self._depth.setVisible(has_depth)
        self.show_actions()

    def show_actions(self) -> None:
        """Offer what can be done with the chosen node, where one is."""
        is_node = self.canvas is not self.overview and self.canvas.selected >= 0
        self._actions.setVisible(is_node and self._notice is None)
        self._place_frames()

    def show_back_button(self, *, is_there: bool) -> None:
        """Offer the way back, where there is one."""
        if is_there == self.go_back.isHidden():
            had = self.go_back.hasFocus()
            self.go_back.setVisible(is_there)
            if had:
                self.canvas.setFocus()
            self._place_frames()

    def show_notice(self, sentence: str, *actions: tuple[str, Callable[[], None]]) -> None:
        """Say something at the lower edge; "" says nothing.

        Args:
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
            words = make_label(sentence, wrap=True)
            words.setMinimumWidth(self._theme.px(150))
            inner = make_row(words, *(make_button(name, run) for name, run in actions), gap=8, parent=frame)
            inner.setContentsMargins(16, 8, 8, 8)
            inner.setStretch(0, 1)
            self._notice = frame
            frame.show()
        self.show_actions()

    def choose_path_end(self, start: str) -> None:
        """Let the person choose to which node a path leads."""
        strings = graph_strings()["actions"]
        self.canvas.path_from = start
        self.show_notice(strings["choose"], (strings["cancel"], self.stop_choosing))
        self.canvas.setFocus()

    def stop_choosing(self) -> None:
        """No path is wanted any more."""
        if any(canvas.path_from for canvas in self.canvases):
            for canvas in self.canvases:
                canvas.path_from = ""
            self.show_notice("")
            self.canvas.setFocus()

    @property
    def said(self) -> str:
        """The notice, "" where there is none."""
        return "" if self._notice is None else self._notice.accessibleName()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """What floats keeps its corner."""
        super().resizeEvent(event)
        self._stack.resize(event.size())
        self._place_frames()

    def _place_frames(self) -> None:
        for frame in (self._top, self._zoom, self._actions):
            frame.adjustSize()
        self._top.setVisible(not self.go_back.isHidden() or not self._depth.isHidden())
        self._top.move(_EDGE, _EDGE)
        self._zoom.move(self.width() - self._zoom.width() - _EDGE, _EDGE)
        self._actions.move((self.width() - self._actions.width()) // 2, self.height() - self._actions.height() - _EDGE)
        frames = (self._top, self._zoom, self._actions)
        shown = tuple(QRectF(frame.geometry()) for frame in frames if not frame.isHidden())
        for canvas in self.canvases:
            canvas.blocked = shown
        if self._notice is not None:
            wide = min(self._theme.px(560), self.width() - 2 * _EDGE)
            layout = self._notice.layout()
            high = self._notice.sizeHint().height() if layout is None else layout.totalHeightForWidth(wide)
            self._notice.resize(wide, high)
            self._notice.move(QPoint((self.width() - wide) // 2, self.height() - high - _EDGE))


def _make_floating_frame(parent: QWidget, *widgets: QWidget) -> QFrame:
    frame = QFrame(parent)
    frame.setObjectName("floating")
    frame.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
    inner = make_row(*widgets, gap=8, parent=frame)
    inner.setContentsMargins(4, 0, 4, 0)
    return frame
