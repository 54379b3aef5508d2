"""What is marked on the plan: where the keyboard is, what is looked at, what it is tied to, what was found.

Must not do: change anything, ask the engine.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPainterPath, QPen

from core.types.views import MemoryRow
from ui.pages.palace.items import LocusStyle, RoomItem
from ui.pages.palace.picture.layout import wing_block
from ui.pages.palace.picture.plan import PlanPainter
from ui.pages.palace.picture.words import break_text
from ui.pages.palace.scene import Lens, PalaceScene, PlacedLocus
from ui.strings import palace_strings
from ui.theme.theme import Theme
from ui.widgets.labels import KIND_WORDS, count_memories, format_said_or_noted, speaker_in_talk
from ui.widgets.plaintext import one_line, plain_line

_DIM = 0.6
_QUIET_RING = 1.5
"""Pixels of the ring of the room that the inspector tells about, while the keyboard is elsewhere."""


@dataclass
class PlanMarks:
    """What is marked on the plan at present.

    Attributes:
        selected: the memory that is looked at.
        cursor_room: the room the keyboard is on; "" while it is on a locus. `cursor_wing` likewise.
        has_focus: whether the canvas has the keyboard.
        hover: the locus under the pointer.
        target_room: the room something is dragged into.
        others: what the selected memory is tied to: memory and type of the edge.
        found: the answers of a search; None while nothing is searched for.
        appear: how far what is new has appeared, 0 to 1.
        hidden: a memory that is drawn elsewhere, because it is dragged.
    """

    selected: str = ""
    cursor_room: str = ""
    cursor_wing: str = ""
    has_focus: bool = False
    hover: PlacedLocus | None = None
    target_room: str = ""
    others: Mapping[str, str] = field(default_factory=dict)
    found: frozenset[str] | None = None
    appear: float = 1.0
    hidden: str = ""


class MarkPainter:
    """Paints marks above a plan."""

    def __init__(self, theme: Theme, plan: PlanPainter, head_of: Callable[[str], MemoryRow | None]) -> None:
        self._theme, self._plan, self._head_of = theme, plan, head_of

    def paint(self, painter: QPainter, scene: PalaceScene, lens: Lens, marks: PlanMarks) -> None:
        """Paint all marks."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if marks.found is not None:
            self._paint_found(painter, scene, lens, marks.found)
        self._paint_cursor(painter, scene, lens, marks)
        self._paint_ties(painter, scene, lens, marks)
        self._paint_rings(painter, scene, lens, marks)

    # ---- a search

    def _paint_found(self, painter: QPainter, scene: PalaceScene, lens: Lens, found: frozenset[str]) -> None:
        """Rooms without an answer step back; the others say how many, and their answers are ringed."""
        canvas = QRectF(0, 0, lens.w, lens.h)
        for room in scene.rooms_in_sight(lens):
            rect = lens.canvas_rect(room.rect).intersected(canvas)
            rows = room.rows_of(found)
            if not rows:
                veil = self._theme.colour("background")
                veil.setAlphaF(_DIM)
                painter.fillRect(rect.adjusted(-1, -1, 1, 1), veil)
                continue
            for row in rows:
                spot = self._plan.spot_rect(PlacedLocus(room, row), lens, scene.look)
                if not spot.isEmpty() and canvas.intersects(spot):
                    self._paint_ring(painter, spot, "accent", 1.6)
            corner = QPointF(lens.canvas_rect(room.rect).right(), lens.canvas_rect(room.rect).top())
            self._paint_badge(painter, corner, len(rows))
        if len(scene.wings) > 1:
            for wing in scene.wings:
                count = sum(len(room.rows_of(found)) for room in scene.rooms_of_wing(wing.id))
                block = wing_block(wing, scene, lens, self._theme)
                if count and canvas.intersects(block):
                    self._paint_badge(painter, block.topRight(), count)

    def _paint_badge(self, painter: QPainter, corner: QPointF, count: int) -> None:
        """How many answers there are, on the corner of a room or wing."""
        theme, px, words = self._theme, self._theme.px, f"{count:,}"
        font = theme.font("caption")
        font.setWeight(font.Weight.DemiBold)
        high = float(px(18))
        wide = max(high, QFontMetricsF(font).horizontalAdvance(words) + px(10))
        pill = QRectF(corner.x() - wide + px(6), max(corner.y() - px(6), 1.0), wide, high)
        painter.setPen(QPen(theme.colour("background"), 1.5))
        painter.setBrush(theme.colour("accent"))
        painter.drawRoundedRect(pill, high / 2, high / 2)
        painter.setPen(theme.colour("on_accent"))
        painter.setFont(font)
        painter.drawText(pill, Qt.AlignmentFlag.AlignCenter, words)

    # ---- the current position

    def _paint_cursor(self, painter: QPainter, scene: PalaceScene, lens: Lens, marks: PlanMarks) -> None:
        theme = self._theme
        painter.setBrush(Qt.BrushStyle.NoBrush)
        wing = scene.find_wing(marks.cursor_wing)
        if wing is not None:
            painter.setPen(QPen(theme.colour("focus"), 2.0 if marks.has_focus else _QUIET_RING))
            painter.drawRoundedRect(wing_block(wing, scene, lens, theme).adjusted(1, 1, -1, -1), 12, 12)
        holder = scene.spot_of(marks.selected)
        for room_id, is_strong in ((marks.cursor_room, marks.has_focus), (marks.target_room, True)):
            room = scene.rooms.get(room_id)
            if room is not None:
                self._paint_room_ring(painter, room, lens, 2.5 if is_strong else _QUIET_RING)
        if holder is not None and self._plan.spot_rect(holder, lens, scene.look).isEmpty():
            self._paint_room_ring(painter, holder.room, lens, 2.0)

    def _paint_room_ring(self, painter: QPainter, room: RoomItem, lens: Lens, width: float) -> None:
        painter.setPen(QPen(self._theme.colour("focus"), width))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(lens.canvas_rect(room.rect).adjusted(-2.5, -2.5, 2.5, 2.5), 10, 10)

    def _paint_ties(self, painter: QPainter, scene: PalaceScene, lens: Lens, marks: PlanMarks) -> None:
        start = scene.spot_of(marks.selected) if marks.others else None
        if start is None:
            return
        for other, kind in marks.others.items():
            end = scene.spot_of(other)
            if end is None:
                continue
            colour = "danger" if kind == "contradicts" else "muted"
            one = self._plan.spot_middle(start, lens, scene.look)
            two = self._plan.spot_middle(end, lens, scene.look)
            painter.setPen(QPen(self._theme.colour(colour), 1.6, Qt.PenStyle.DashLine))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawPath(_arc_between(one, two))
            rect = self._plan.spot_rect(end, lens, scene.look)
            if not rect.isEmpty():
                self._paint_ring(painter, rect, colour, 1.6)

    def _paint_rings(self, painter: QPainter, scene: PalaceScene, lens: Lens, marks: PlanMarks) -> None:
        hover = marks.hover
        if hover is not None and hover.at < len(hover.room.ids):
            self._paint_ring(painter, self._plan.spot_rect(hover, lens, scene.look), "outline", 1.2)
        spot = scene.spot_of(marks.selected) if marks.selected != marks.hidden else None
        if spot is not None:
            self._paint_ring(painter, self._plan.spot_rect(spot, lens, scene.look), "accent", 2.2)

    def _paint_ring(self, painter: QPainter, rect: QRectF, colour: str, width: float) -> None:
        """A ring round a card, a circle round a shape."""
        if rect.isEmpty():
            return
        painter.setPen(QPen(self._theme.colour(colour), width))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if rect.width() < self._theme.px(30):
            radius = max(rect.width() * 0.5 + 3.5, 7.0)
            painter.drawEllipse(rect.center(), radius, radius)
        else:
            painter.drawRoundedRect(rect.adjusted(-0.5, -0.5, 0.5, 0.5), 6, 6)

    # ---- what lies under the pointer

    def paint_plate(self, painter: QPainter, spot: PlacedLocus, look: LocusStyle, lens: Lens) -> None:
        """What a locus under the pointer says, beside it; painted, for Qt's tooltip would read its text as markup."""
        memory = None if spot.at >= len(spot.room.ids) else self._head_of(spot.id)
        if memory is None or self._plan.is_text_shown(lens, spot):
            return
        theme, pad = self._theme, self._theme.px(10)
        body, small = theme.font("small"), theme.font("caption")
        lines = break_text(plain_line(memory.head, 300), body, theme.px(300), 4)
        when = format_said_or_noted(memory.occurred, memory.recorded_at)
        about = f"{speaker_in_talk(memory) or KIND_WORDS[memory.kind]} · {when}"
        if not self._plan.is_name_shown(spot.room, lens, look):
            room, count = one_line(spot.room.plan.name, 32), count_memories(spot.room.count_shown(look))
            about += f" · {palace_strings()['in_room'].format(room=room, count=count)}"
        high = QFontMetricsF(body).height()
        wide = max(
            [QFontMetricsF(body).horizontalAdvance(line) for line in lines]
            + [QFontMetricsF(small).horizontalAdvance(about)]
        )
        box = QRectF(0, 0, wide + 2 * pad + 2, high * len(lines) + theme.px(17) + 1.4 * pad)
        rect = self._plan.spot_rect(spot, lens, look)
        box.moveTopLeft(rect.bottomLeft() + QPointF(8, 6))
        if box.right() > lens.w - 4:
            box.moveRight(lens.w - 4)
        if box.bottom() > lens.h - 4:
            box.moveBottom(rect.top() - 6)
        box.moveLeft(max(box.left(), 4.0))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.colour("tooltip"))
        painter.drawRoundedRect(box, 8, 8)
        painter.setPen(theme.colour("on_tooltip"))
        painter.setFont(body)
        for nr, line in enumerate(lines):
            painter.drawText(QPointF(box.left() + pad, box.top() + 0.7 * pad + high * (nr + 0.8)), line)
        painter.setFont(small)
        painter.setOpacity(0.75)
        painter.drawText(QPointF(box.left() + pad, box.bottom() - 0.8 * pad), about)
        painter.setOpacity(1.0)


def _arc_between(start: QPointF, end: QPointF) -> QPainterPath:
    """From one point to another, bent upward."""
    path = QPainterPath(start)
    middle = (start + end) / 2
    apart = math.hypot(end.x() - start.x(), end.y() - start.y())
    path.quadTo(QPointF(middle.x(), middle.y() - max(18.0, apart * 0.22)), end)
    return path
