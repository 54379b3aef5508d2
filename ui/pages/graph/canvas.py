"""The ground both graphs are drawn on: a look at the plane, pointer and keyboard, and which node is meant.

Must not do: ask the engine, know how nodes and edges are drawn.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, QSizeF, Qt, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleEvent,
    QColor,
    QFocusEvent,
    QFont,
    QFontMetricsF,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPen,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QApplication, QSizePolicy, QWidget

from core.types.views import MemoryRow
from ui.pages.graph.geometry import Numbers, Points, Viewport, nearest_in_direction, nearest_node
from ui.theme.theme import Theme
from ui.widgets.labels import KIND_WORDS, STATUS_WORDS, format_said_or_noted
from ui.widgets.plaintext import one_line
from ui.widgets.shapes import KIND_TOKENS, draw_kind

STEP = 1.25
"""How much nearer or farther one step of the keyboard or a button is."""
_PLATE = 268
_TEXT = 140
_RADIUS = 12
_KEY = Qt.Key
_ARROWS = {_KEY.Key_Left: (-1, 0), _KEY.Key_Right: (1, 0), _KEY.Key_Up: (0, -1), _KEY.Key_Down: (0, 1)}
_ENTER = {_KEY.Key_Return, _KEY.Key_Enter}
_BY_KEYS = {Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason, Qt.FocusReason.ShortcutFocusReason}


class Canvas(QWidget):
    """A plane with nodes under pointer and keyboard.

    Attributes:
        ids: the memory of each node.
        xy: where each node is drawn, in the plane.
        look: how the canvas looks at it.
        selected: the node that is looked at, `hovered` the one under the pointer; -1 for none.
        blocked: where controls float on it; no label goes there.

    Signals:
        picked: the memory that was chosen.
        opened: the memory whose surroundings are wanted.
    """

    picked = Signal(str)
    opened = Signal(str)

    def __init__(self, theme: Theme, name: str) -> None:
        super().__init__()
        self.theme = theme
        self.ids: tuple[str, ...] = ()
        self.xy: Points = np.zeros((0, 2))
        self.look = Viewport()
        self.selected = self.hovered = -1
        self.blocked: tuple[QRectF, ...] = ()
        self._fits, self._by_keys = True, False
        self._grip: QPointF | None = None
        self._dragged = False
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(240, 160)
        self.setAccessibleName(name)
        theme.changed.connect(self.restyle_canvas)

    # ---- what those who draw say

    def home_viewport(self) -> Viewport:
        """The look that shows everything."""
        raise NotImplementedError  # each kind says it

    def neighbours_of(self, node: int) -> Numbers:
        """The nodes at the other ends of a node's edges."""
        raise NotImplementedError  # each kind says it

    def row_of(self, node: int) -> MemoryRow | None:
        """What is known of a node; None while it was not read."""
        raise NotImplementedError  # each kind says it

    def hit_radius(self) -> float:
        """How far from a node's middle it can be hit, px."""
        raise NotImplementedError  # each kind says it

    def on_look_changed(self) -> None:
        """The look is another one."""
        self.update()

    def restyle_canvas(self) -> None:
        """The theme is another one."""
        self.update()

    @property
    def is_ringed(self) -> bool:
        """Whether it has the keyboard, and the keyboard is used."""
        return self.hasFocus() and self._by_keys

    def hover_at(self, at: QPointF | None) -> None:
        """The pointer is over a point, or has left."""
        node = -1 if at is None else nearest_node(self.look.to_px(self.xy), at, self.hit_radius())
        if node != self.hovered:
            self.hovered = node
            self.setCursor(Qt.CursorShape.PointingHandCursor if node >= 0 else Qt.CursorShape.ArrowCursor)
            self.update()

    # ---- the look

    def show_look(self, look: Viewport, *, fits: bool = False) -> None:
        """Look at the plane through this viewport.

        Args:
            fits: whether it follows the canvas's size from now on, as what shows everything does.
        """
        self._fits = fits
        if look != self.look:
            self.look = look
            self.on_look_changed()

    def fit_view(self) -> None:
        """Show everything."""
        self.show_look(self.home_viewport(), fits=True)

    def zoom_by(self, factor: float, at: QPointF | None = None) -> None:
        """Nearer or farther, towards a point of the canvas or its middle."""
        home = self.home_viewport().scale
        self.show_look(self.look.zoomed_at(factor, at, home * 0.5, max(home * 60, 2000.0)))

    # ---- which node is meant

    def select_memory(self, memory_id: str) -> bool:
        """Mark the node of a memory, without telling anybody.

        Returns:
            Whether it is drawn.
        """
        self.selected = self.ids.index(memory_id) if memory_id in self.ids else -1
        self.describe_selected()
        self.update()
        return self.selected >= 0

    def pick_node(self, node: int) -> None:
        """Choose a node."""
        self.selected = node
        self.describe_selected()
        self.update()
        self.picked.emit(self.ids[node])

    def describe_selected(self) -> None:
        """Say what is chosen to those who do not see it."""
        row = self.row_of(self.selected) if self.selected >= 0 else None
        words = "" if row is None else f"{KIND_WORDS[row.kind]}: {one_line(row.head, _TEXT)} · {date_words(row)}"
        if words != self.accessibleDescription():
            self.setAccessibleDescription(words)
            QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.DescriptionChanged))

    def move_selection(self, dx: int, dy: int) -> None:
        """Choose the neighbour in a direction; where no edge leads there, the nearest node."""
        if not len(self.xy):
            return
        if self.selected < 0:
            self.pick_node(nearest_node(self.look.to_px(self.xy), QPointF(self.look.w / 2, self.look.h / 2), np.inf))
            return
        node = nearest_in_direction(self.xy, self.selected, dx, dy, self.neighbours_of(self.selected))
        node = nearest_in_direction(self.xy, self.selected, dx, dy) if node < 0 else node
        if node >= 0:
            self.pick_node(node)
            self.show_look(self.look.pan_to_reveal(self.xy[node]), fits=self._fits)

    # ---- Qt's events

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Keep what was fitted fitted."""
        self.look = replace(self.look, w=float(max(event.size().width(), 1)), h=float(max(event.size().height(), 1)))
        if self._fits:
            self.look = self.home_viewport()
        self.on_look_changed()

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802 - Qt's name
        """Zoom at the pointer."""
        turned = event.pixelDelta().y() * 2 or event.angleDelta().y()
        if turned:
            self.zoom_by(1.0018**turned, event.position())
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Take hold of the plane."""
        self._by_keys = False
        if event.button() == Qt.MouseButton.LeftButton:
            self._grip, self._dragged = event.position(), False
            self.update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Push the plane, or hover."""
        at = event.position()
        if self._grip is None:
            self.hover_at(at)
            return
        way = at - self._grip
        if self._dragged or way.manhattanLength() >= QApplication.startDragDistance():
            if not self._dragged:
                self.hover_at(None)
                self.setCursor(Qt.CursorShape.ClosedHandCursor)
            self._dragged, self._grip = True, at
            self.show_look(self.look.panned_by(way.x(), way.y()))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Choose what was clicked."""
        if event.button() == Qt.MouseButton.LeftButton and self._grip is not None:
            was_dragged, self._grip = self._dragged, None
            self.setCursor(Qt.CursorShape.ArrowCursor)
            if not was_dragged:
                self.click_at(event.position())
            self.hover_at(event.position())

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Open what was clicked."""
        node = nearest_node(self.look.to_px(self.xy), event.position(), self.hit_radius())
        if event.button() == Qt.MouseButton.LeftButton and node >= 0:
            self.opened.emit(self.ids[node])

    def click_at(self, at: QPointF) -> None:
        """A press and release without a drag."""
        node = nearest_node(self.look.to_px(self.xy), at, self.hit_radius())
        if node >= 0:
            self.pick_node(node)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Arrows walk, Enter opens, + and - zoom, Home shows everything."""
        key = _KEY(event.key())
        self._by_keys = True
        if event.modifiers() & ~(Qt.KeyboardModifier.KeypadModifier | Qt.KeyboardModifier.ShiftModifier):
            super().keyPressEvent(event)
        elif key in _ARROWS:
            self.move_selection(*_ARROWS[key])
        elif key in _ENTER and self.selected >= 0:
            self.opened.emit(self.ids[self.selected])
        elif key in {_KEY.Key_Plus, _KEY.Key_Equal}:
            self.zoom_by(STEP)
        elif key == _KEY.Key_Minus:
            self.zoom_by(1 / STEP)
        elif key in {_KEY.Key_Home, _KEY.Key_0}:
            self.fit_view()
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        """The pointer left; the keyboard came by keys, or by the pointer."""
        if event.type() == QEvent.Type.Leave:
            self.hover_at(None)
        elif isinstance(event, QFocusEvent):
            self._by_keys = event.reason() in _BY_KEYS
            self.update()
        return super().event(event)


def date_words(row: MemoryRow) -> str:
    """When it was said, as exactly as it is known; else `noted` and when Loci learned it."""
    return format_said_or_noted(row.occurred, row.recorded_at)


def paint_ground(painter: QPainter, widget: QWidget, theme: Theme) -> None:
    """The surface a graph lies on; the painter is clipped to it."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(theme.colour("line"), 1))
    painter.setBrush(theme.colour("surface"))
    painter.drawRoundedRect(QRectF(widget.rect()).adjusted(0.5, 0.5, -0.5, -0.5), _RADIUS, _RADIUS)
    painter.setClipRect(QRectF(widget.rect()).adjusted(1, 1, -1, -1))


def paint_edge(painter: QPainter, widget: QWidget, theme: Theme, *, is_focused: bool) -> None:
    """The border of that surface, over what was drawn: its corners stay round; a ring where the keyboard is."""
    whole = QPainterPath()
    whole.addRect(QRectF(widget.rect()))
    inner = QPainterPath()
    inner.addRoundedRect(QRectF(widget.rect()), _RADIUS, _RADIUS)
    painter.setClipping(False)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.fillPath(whole.subtracted(inner), theme.colour("background"))
    off = 1.0 if is_focused else 0.5
    painter.setPen(QPen(theme.colour("focus" if is_focused else "line"), 2 * off))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRoundedRect(QRectF(widget.rect()).adjusted(off, off, -off, -off), _RADIUS, _RADIUS)


def paint_ring(painter: QPainter, at: QPointF, radius: float, colour: QColor, width: float = 2.0) -> None:
    """A ring round a node."""
    painter.setPen(QPen(colour, width))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawEllipse(at, radius, radius)


def paint_tag(
    painter: QPainter, rect: QRectF, text: str, font: QFont, ink: QColor, ground: QColor | None = None
) -> None:
    """A word on a patch of its ground, so that no line runs through it."""
    painter.setFont(font)
    if ground is not None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(ground)
        painter.drawRoundedRect(rect, 4, 4)
    painter.setPen(ink)
    painter.drawText(rect, Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextSingleLine, text)


def paint_plate(painter: QPainter, theme: Theme, row: MemoryRow, at: QPointF, off: float, look: Viewport) -> None:
    """What the node under the pointer says, on a card beside it.

    Args:
        painter: on the canvas.
        at: the node's middle, px.
        off: px between the middle and the card.
        look: for the canvas's size.
    """
    text, small = theme.font("body"), theme.font("small")
    pad, wide = theme.px(12), min(float(theme.px(_PLATE)), look.w - 24)
    wrap = Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignLeft
    words = one_line(row.head, _TEXT)
    inner = QFontMetricsF(text).boundingRect(QRectF(0, 0, wide - 2 * pad, 1000), wrap, words)
    line = QFontMetricsF(small).height()
    size = QSizeF(wide, inner.height() + line + 2 * pad + theme.px(4))
    left = at.x() + off if at.x() + off + wide < look.w - 8 else at.x() - off - wide
    left = min(max(left, 8.0), max(8.0, look.w - wide - 8))
    top = min(max(at.y() - size.height() / 2, 8.0), max(8.0, look.h - size.height() - 8))
    card = QRectF(QPointF(round(left) + 0.5, round(top) + 0.5), size)
    painter.setPen(QPen(theme.colour("outline"), 1))
    painter.setBrush(theme.colour("raised"))
    painter.drawRoundedRect(card, 8, 8)
    box = card.adjusted(pad, pad, -pad, -pad)
    side = theme.px(10)
    draw_kind(painter, row.kind, QPointF(box.left() + side / 2, box.top() + line / 2), side,
              theme.colour(KIND_TOKENS[row.kind]))  # fmt: skip
    kind = (
        KIND_WORDS[row.kind]
        if row.status.value == "active"
        else f"{KIND_WORDS[row.kind]}, {STATUS_WORDS[row.status].lower()}"
    )
    head = QRectF(box.left() + side + theme.px(6), box.top(), box.width() - side - theme.px(6), line)
    painter.setFont(small)
    painter.setPen(theme.colour("muted"))
    painter.drawText(head, Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine, f"{kind} · {date_words(row)}")
    painter.setFont(text)
    painter.setPen(theme.colour("ink"))
    painter.drawText(QRectF(box.left(), box.top() + line + theme.px(4), box.width(), inner.height() + 2), wrap, words)
