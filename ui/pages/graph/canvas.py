"""The ground both graphs are drawn on: a look at the plane, pointer and keyboard, and which node is meant.

Must not do: ask the engine, know how nodes and edges are drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from PySide6.QtCore import QEasingCurve, QEvent, QPointF, QRectF, QSize, QSizeF, Qt, QVariantAnimation, Signal
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
    QPixmap,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QApplication, QSizePolicy, QWidget

from core.types.views import GraphNode
from ui.pages.graph.geometry import GraphViewport, Numbers, Points, nearest_node, node_in_direction
from ui.pages.graph.node_style import describe_kind, describe_node, draw_node, node_name
from ui.strings import format_count, graph_strings
from ui.theme.theme import Theme
from ui.widgets.labels import format_said_or_noted

STEP = 1.25
"""How much nearer or farther one step of the keyboard or a button is."""
_PLATE = 268
_TEXT = 140
_RADIUS = 12
_KEY = Qt.Key
_ARROWS = {_KEY.Key_Left: (-1, 0), _KEY.Key_Right: (1, 0), _KEY.Key_Up: (0, -1), _KEY.Key_Down: (0, 1)}
_ENTER = {_KEY.Key_Return, _KEY.Key_Enter}
_BY_KEYS = {Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason, Qt.FocusReason.ShortcutFocusReason}


class PlaneView(QWidget):
    """A plane seen through a viewport, which is moved by wheel, buttons and the widget's size.

    Attributes:
        look: how it is looked at.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.theme = theme
        self.look = GraphViewport()
        self._fits = True
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(240, 160)
        theme.changed.connect(self.restyle_canvas)

    def home_viewport(self) -> GraphViewport:
        """The look that shows everything."""
        raise NotImplementedError  # each kind says it

    def on_look_changed(self) -> None:
        """The look is another one."""
        self.update()

    def stop_motion(self) -> None:
        """Nobody looks: nothing moves any more."""

    def restyle_canvas(self) -> None:
        """The theme is another one."""
        self.update()

    def show_look(self, look: GraphViewport, *, fits: bool = False) -> None:
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
        self.show_look(self.look.zoomed_within(factor, at, home * 0.5, max(home * 60, 2000.0)))

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


def make_motion(canvas: QWidget, set_progress: Callable[[float], None], takes_ms: int) -> QVariantAnimation:
    """The motion of nodes to new places, from 0 to 1; it is not running yet.

    Args:
        set_progress: puts the nodes that far.
    """
    moving = QVariantAnimation(canvas)
    moving.setStartValue(0.0)
    moving.setEndValue(1.0)
    moving.setDuration(takes_ms)
    moving.setEasingCurve(QEasingCurve.Type.InOutCubic)
    moving.valueChanged.connect(set_progress)
    return moving


class GraphCanvas(PlaneView):
    """A plane with nodes under pointer and keyboard.

    Attributes:
        ids: the memory or entity of each node.
        xy: where each node is drawn, in the plane.
        selected: the node that is looked at, `hovered` the one under the pointer; -1 for none.
        blocked: where controls float on it; no label goes there.
        path_from: the node from which a path is being chosen; "" for none.

    Signals:
        picked: the node that was chosen.
        opened: the node that shall be opened.
        centered: the node whose neighborhood is wanted.
        path_wanted: (from, to) the two nodes whose paths are wanted; "" for the end that is still to be chosen.
        closed: Escape was pressed.
    """

    picked = Signal(str)
    opened = Signal(str)
    centered = Signal(str)
    path_wanted = Signal(str, str)
    closed = Signal()

    def __init__(self, theme: Theme, name: str) -> None:
        super().__init__(theme)
        self.ids: tuple[str, ...] = ()
        self.xy: Points = np.zeros((0, 2))
        self.selected = self.hovered = -1
        self.blocked: tuple[QRectF, ...] = ()
        self.path_from = ""
        self._by_keys = False
        self._grip: QPointF | None = None
        self._dragged = False
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setAccessibleName(name)

    # ---- what those who draw say

    def neighbours_of(self, node: int) -> Numbers:
        """The nodes at the other ends of a node's edges."""
        raise NotImplementedError  # each kind says it

    def node_of(self, node: int) -> GraphNode | None:
        """What is known of a node; None while it was not read."""
        raise NotImplementedError  # each kind says it

    def is_memory(self, node: int) -> bool:
        """Whether a node is a memory, not an entity."""
        found = self.node_of(node)
        return found is not None and found.row is not None

    def hit_radius(self) -> float:
        """How far from a node's middle it can be hit, px."""
        raise NotImplementedError  # each kind says it

    @property
    def is_ringed(self) -> bool:
        """Whether it has the keyboard, and the keyboard is used."""
        return self.hasFocus() and self._by_keys

    def hover_at(self, at: QPointF | None) -> None:
        """The pointer is over a point, or has left."""
        node = -1 if at is None else self.node_at(at)
        if node != self.hovered:
            self.hovered = node
            self.setCursor(Qt.CursorShape.PointingHandCursor if node >= 0 else Qt.CursorShape.ArrowCursor)
            self.update()

    # ---- which node is meant

    def select_node(self, node_id: str) -> bool:
        """Mark a node, without telling anybody.

        Returns:
            Whether it is drawn.
        """
        self.selected = self.ids.index(node_id) if node_id in self.ids else -1
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
        node = self.node_of(self.selected) if self.selected >= 0 else None
        words = "" if node is None else f"{describe_node(node, _TEXT)} · {node_date(node)}"
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
        node = node_in_direction(self.xy, self.selected, dx, dy, self.neighbours_of(self.selected))
        node = node_in_direction(self.xy, self.selected, dx, dy) if node < 0 else node
        if node >= 0:
            self.pick_node(node)
            self.show_look(self.look.pan_to_reveal(self.xy[node]), fits=self._fits)

    # ---- Qt's events

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
                self.click_at(event.position(), adds=bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier))
            self.hover_at(event.position())

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Open what was clicked."""
        node = self.node_at(event.position())
        if event.button() == Qt.MouseButton.LeftButton and node >= 0:
            self.opened.emit(self.ids[node])

    def click_at(self, at: QPointF, *, adds: bool = False) -> None:
        """A press and release without a drag.

        Args:
            adds: whether it is a second node, to which a path is wanted.
        """
        node = self.node_at(at)
        if node < 0:
            return
        start = self.path_from or (self.ids[self.selected] if adds and self.selected >= 0 else "")
        if start and start != self.ids[node]:
            self.path_wanted.emit(start, self.ids[node])
        else:
            self.pick_node(node)

    def node_at(self, at: QPointF) -> int:
        """The node at a point of the canvas; -1 for none."""
        return nearest_node(self.look.to_px(self.xy), at, self.hit_radius())

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Arrows walk, Enter opens, Space centers, P asks for a path, + and - zoom, Home shows everything."""
        key = _KEY(event.key())
        self._by_keys = True
        if event.modifiers() & ~(Qt.KeyboardModifier.KeypadModifier | Qt.KeyboardModifier.ShiftModifier):
            super().keyPressEvent(event)
        elif key in _ARROWS:
            self.move_selection(*_ARROWS[key])
        elif not (self._act_on_selected(key) or self._change_look(key)):
            super().keyPressEvent(event)

    def _act_on_selected(self, key: Qt.Key) -> bool:
        if self.selected < 0 or key not in {*_ENTER, _KEY.Key_Space, _KEY.Key_P}:
            return False
        chosen = self.ids[self.selected]
        if key in _ENTER and self.path_from not in {"", chosen}:
            self.path_wanted.emit(self.path_from, chosen)
        elif key in _ENTER:
            self.opened.emit(chosen)
        elif key == _KEY.Key_Space:
            self.centered.emit(chosen)
        else:
            self.path_wanted.emit(chosen, "")
        return True

    def _change_look(self, key: Qt.Key) -> bool:
        if key in {_KEY.Key_Plus, _KEY.Key_Equal}:
            self.zoom_by(STEP)
        elif key == _KEY.Key_Minus:
            self.zoom_by(1 / STEP)
        elif key in {_KEY.Key_Home, _KEY.Key_0}:
            self.fit_view()
        elif key == _KEY.Key_Escape:
            self.closed.emit()
        else:
            return False
        return True

    def event(self, event: QEvent) -> bool:
        """The pointer left; the keyboard came by keys, or by the pointer."""
        if event.type() == QEvent.Type.Leave:
            self.hover_at(None)
        elif isinstance(event, QFocusEvent):
            self._by_keys = event.reason() in _BY_KEYS
            self.update()
        return super().event(event)


def node_date(node: GraphNode) -> str:
    """When a memory was said, as exactly as known, else `noted` and when Loci learned it; where an entity is."""
    if node.row is not None:
        return format_said_or_noted(node.row.occurred, node.row.recorded_at)
    count = 0 if node.entity is None else node.entity.mentions
    return format_count(graph_strings()["counts"]["named_in"], count)


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
    painter: QPainter,
    rect: QRectF,
    text: str,
    font: QFont,
    ink: QColor,
    background: QColor | None = None,
    side: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignHCenter,
) -> None:
    """A word or two lines on a patch of their ground, so that no line runs through them."""
    painter.setFont(font)
    if background is not None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(background)
        painter.drawRoundedRect(rect, 4, 4)
    painter.setPen(ink)
    painter.drawText(rect, Qt.AlignmentFlag.AlignVCenter | side, text)


_KEPT_LABELS = 600
_HALO = 2


class LabelCache:
    """Labels as pictures: words with a rim of the ground's colour round each letter, so that lines pass behind them.

    A rim costs milliseconds to draw and nothing to show again.
    """

    def __init__(self, theme: Theme) -> None:
        self._theme = theme
        self._made: dict[tuple[object, ...], QPixmap] = {}

    def paint(self, painter: QPainter, rect: QRectF, text: str, font: QFont, ink: str, side: Qt.AlignmentFlag) -> None:
        """Paint a label.

        Args:
            rect: where its words are, of their own size.
            ink: name of a token.
            side: left, right or in the middle of it.
        """
        ratio, colour = painter.device().devicePixelRatio(), self._theme.colour(ink)
        key = (text, font.key(), colour.rgba(), self._theme.colour("surface").rgba(), side, rect.width(), ratio)
        if key not in self._made:
            if len(self._made) >= _KEPT_LABELS:
                self._made.clear()
            self._made[key] = self._draw_label(rect, text, font, colour, side, ratio)
        painter.drawPixmap(QPointF(round(rect.left()) - _HALO, round(rect.top()) - _HALO), self._made[key])

    def _draw_label(
        self, rect: QRectF, text: str, font: QFont, ink: QColor, side: Qt.AlignmentFlag, ratio: float
    ) -> QPixmap:
        size = (rect.size() + QSizeF(2 * _HALO, 2 * _HALO)).toSize() + QSize(1, 1)
        pixmap = QPixmap(size * ratio)
        pixmap.setDevicePixelRatio(ratio)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter, metrics, path = QPainter(pixmap), QFontMetricsF(font), QPainterPath()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        share = {Qt.AlignmentFlag.AlignLeft: 0.0, Qt.AlignmentFlag.AlignRight: 1.0}.get(side, 0.5)
        places = []
        for nr, line in enumerate(text.split("\n")):
            left = round((rect.width() - metrics.horizontalAdvance(line)) * share) + _HALO
            places.append((QPointF(left, round(nr * metrics.lineSpacing() + metrics.ascent()) + _HALO), line))
            path.addText(places[-1][0], font, line)
        rim = QPen(self._theme.colour("surface"), 2 * _HALO)
        rim.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        painter.strokePath(path, rim)
        painter.setFont(font)
        painter.setPen(ink)
        for at, line in places:
            painter.drawText(at, line)
        painter.end()
        return pixmap


def wrap_label(text: str, metrics: QFontMetricsF, wide: float, lines: int) -> str:
    """The beginning of a text on few lines, cut with an ellipsis.

    Args:
        metrics: of the font.
        wide: px of a line at most.
        lines: at most.
    """
    found: list[str] = []
    rest = text.split()
    while rest and len(found) < lines - 1:
        line = rest.pop(0)
        while rest and metrics.horizontalAdvance(f"{line} {rest[0]}") <= wide:
            line = f"{line} {rest.pop(0)}"
        found.append(metrics.elidedText(line, Qt.TextElideMode.ElideRight, wide))
    if rest:
        found.append(metrics.elidedText(" ".join(rest), Qt.TextElideMode.ElideRight, wide))
    return "\n".join(found)


def paint_plate(painter: QPainter, theme: Theme, node: GraphNode, at: QPointF, off: float, look: GraphViewport) -> None:
    """What the node under the pointer says, on a card beside it.

    Args:
        painter: on the canvas.
        at: the node's middle, px.
        off: px between the middle and the card.
        look: for the canvas's size.
    """
    text, small = theme.font("body" if node.row is not None else "strong"), theme.font("small")
    pad, wide = theme.px(12), min(float(theme.px(_PLATE)), look.w - 24)
    wrap = Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignLeft
    words = node_name(node, _TEXT)
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
    side = theme.px(10 if node.row is not None else 14)
    draw_node(painter, theme, node.kind, QPointF(box.left() + side / 2, box.top() + line / 2), side)
    title_rect = QRectF(box.left() + side + theme.px(6), box.top(), box.width() - side - theme.px(6), line)
    painter.setFont(small)
    painter.setPen(theme.colour("muted"))
    flags = Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine
    painter.drawText(title_rect, flags, f"{describe_kind(node)} · {node_date(node)}")
    painter.setFont(text)
    painter.setPen(theme.colour("ink"))
    painter.drawText(QRectF(box.left(), box.top() + line + theme.px(4), box.width(), inner.height() + 2), wrap, words)
