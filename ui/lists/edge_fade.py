"""The edge of a list that goes on: what stands there fades, so that no line looks cut in the middle of a letter.

Must not do: scroll, or know what is listed.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QLinearGradient, QPainter
from PySide6.QtWidgets import QAbstractItemView, QAbstractScrollArea, QWidget

from ui.theme.theme import Theme

HIGH = 28
"""Pixels that fade, at 100 %."""
_WHOLE = 0.15  # of them the outermost are covered


def fade_edges(view: QAbstractScrollArea, ground: QColor, high: int) -> None:
    """Draw over the edges beyond which the content goes on; called at the end of a paint event.

    Of a list no more fades than the line that is cut there: one that is seen whole stays as it is.

    Args:
        high: pixels that fade at most.
    """
    above, below = cut_lines(view) if isinstance(view, QAbstractItemView) else (high, high)
    _draw(view.viewport(), view, ground, (min(high, above), min(high, below)))


def cut_lines(view: QAbstractItemView) -> tuple[int, int]:
    """How much is seen of the line that is cut at the upper edge, and at the lower one.

    Returns:
        Pixels; 0 where the line at the edge is seen whole.
    """
    port = view.viewport()
    middle, last = port.width() // 2, port.height() - 1
    first = view.visualRect(view.indexAt(QPoint(middle, 0)))
    final = view.visualRect(view.indexAt(QPoint(middle, last)))
    above = first.bottom() + 1 if first.isValid() and first.top() < 0 else 0
    below = last + 1 - final.top() if final.isValid() and final.bottom() > last else 0
    return above, below


def _draw(on: QWidget, view: QAbstractScrollArea, ground: QColor, high: tuple[int, int]) -> None:
    bar, (above, below) = view.verticalScrollBar(), high
    edges = (
        (above if bar.value() > bar.minimum() else 0, 0, above),
        (below if bar.value() < bar.maximum() else 0, on.height(), on.height() - below),
    )
    painter = QPainter(on)
    for fades, edge, inside in edges:
        if fades:
            clear = QColor(ground)
            clear.setAlpha(0)
            shade = QLinearGradient(QPointF(0, edge), QPointF(0, inside))
            shade.setColorAt(_WHOLE, ground)
            shade.setColorAt(1, clear)
            top = min(edge, inside)
            painter.fillRect(QRectF(0, top, on.width(), fades), QBrush(shade))
    painter.end()


class Fade(QWidget):
    """The same over a view that holds widgets: it lies above them, and no pointer meets it."""

    def __init__(self, theme: Theme, view: QAbstractScrollArea, ground: str) -> None:
        """Lay it over a view.

        Args:
            ground: the theme's name of the colour it stands on.
        """
        super().__init__(view)
        self._theme, self._view, self._ground = theme, view, ground
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        bar = view.verticalScrollBar()
        bar.valueChanged.connect(lambda _: self.update())
        bar.rangeChanged.connect(lambda *_: self.update())
        theme.changed.connect(self.update)
        view.viewport().installEventFilter(self)
        self._follow()

    def _follow(self) -> None:
        self.setGeometry(self._view.viewport().geometry())
        self.raise_()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """Lie where the view lies."""
        if event.type() in {QEvent.Type.Resize, QEvent.Type.Move, QEvent.Type.Show}:
            self._follow()
        return super().eventFilter(watched, event)

    def paintEvent(self, _event: object) -> None:  # noqa: N802 - Qt's name
        """Draw the edges beyond which it goes on."""
        high = self._theme.px(HIGH)
        _draw(self, self._view, self._theme.colour(self._ground), (high, high))
