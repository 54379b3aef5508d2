"""Paints the plan: wings as blocks, rooms from outside or from within, each as much of it as there is room for.

From afar a room is one picture that is kept; from near its memories are cards or shapes in their places. Must not do:
change anything, ask the engine.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen

from core.types.views import WingPlan
from ui.pages.palace.items import GREY, KINDS, LocusStyle, MemoryHeads, RoomItem, wing_rect
from ui.pages.palace.picture.atlas import LARGEST, SHADES, SMALLEST, Atlas, Floats, shade_colours, shape_scale
from ui.pages.palace.picture.furniture import soft_role, tint_role
from ui.pages.palace.picture.ground import PlanGround, shape_side
from ui.pages.palace.picture.layout import CanvasRoom, DetailLevel, least_face, wing_block, wing_pad
from ui.pages.palace.picture.room_face import LandmarkCard
from ui.pages.palace.scene import Lens, PalaceScene, PlacedLocus
from ui.strings import palace_strings
from ui.theme.theme import Theme
from ui.theme.tokens import spacing
from ui.widgets.labels import name_space
from ui.widgets.shapes import cached_kind_path

_GROUND_OPACITY = 0.45
_FRAME_S = 0.009
"""Seconds of a frame in which faces of rooms are drawn anew, from the first of them on."""


class PlanPainter(PlanGround):
    """Paints one canvas."""

    def __init__(self, theme: Theme, heads: MemoryHeads) -> None:
        super().__init__(theme, heads)
        self._atlas: Atlas | None = None
        self._atlas_key: tuple[object, ...] = ()
        self._colours: list[QColor] = []

    @property
    def is_behind(self) -> bool:
        """Whether some rooms were painted as stand-ins: another frame is needed."""
        return self._faces.is_behind

    @property
    def text_version(self) -> int:
        """Counts changes of the texts that are known."""
        return self._heads.version

    def clear_cache(self) -> None:
        """The theme is another one."""
        self._atlas_key = ()
        self._words.clear_lines()
        self._furniture.clear_tiles()
        self._faces.clear_faces()
        self._labels.clear()

    def drop_pictures(self) -> None:
        """The plan is not looked at: keep no pictures of rooms."""
        self._faces.clear_faces()

    # ---- paint

    def paint(
        self, painter: QPainter, scene: PalaceScene, lens: Lens, ratio: float, *, hidden: str, appear: float,
        fitted: str = "",
    ) -> None:  # fmt: skip
        """Paint what the lens shows, without marks.

        Args:
            painter: on the canvas.
            scene: what there is.
            lens: the look at it.
            ratio: device pixels a px.
            hidden: a memory that is drawn elsewhere, because it is dragged; "" for none.
            appear: how far what is new has appeared, 0 to 1.
            fitted: the room that is fitted into the canvas; of its neighbours no mere strip is shown.
        """
        self._prepare_colours(scene.look, ratio)
        self._faces.begin_frame(_FRAME_S)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if len(scene.wings) > 1:
            for wing in scene.wings:
                self._paint_wing(painter, wing, scene, lens)
        least = least_face(self._theme)
        for room in scene.rooms_in_sight(lens):
            if fitted and room.id != fitted and self._is_strip(lens.canvas_rect(room.rect), lens):
                continue
            if min(room.rect.width() * lens.scale_x, room.rect.height() * lens.scale) < least:
                self._paint_far_room(painter, room, lens)
                continue
            layout = self.layout_of(room, lens)
            if layout.has_places:
                self._paint_interior(painter, room, layout, scene.look, lens, hidden, appear)
            else:
                self._faces.paint(painter, room, layout, scene.look)
        self._faces.end_frame(scene.rooms)

    def _is_strip(self, rect: QRectF, lens: Lens) -> bool:
        """Whether so little of a room is on the canvas that none of its words can be read."""
        seen = rect.intersected(QRectF(0, 0, lens.w, lens.h))
        least = 2 * self._theme.px(spacing().xxl)
        return (seen.width() < min(least, rect.width())) or (seen.height() < min(least, rect.height()))

    def _prepare_colours(self, look: LocusStyle, ratio: float) -> None:
        key = (look.colour, self._theme.tokens.name, self._theme.scale, ratio)
        if key != self._atlas_key:
            self._atlas_key = key
            self._colours = shade_colours(self._theme, look.colour)
            self._atlas = Atlas(self._colours, ratio)
            self._faces.set_colours(self._colours)
            self._interior.set_colours(self._colours)

    def _paint_wing(self, painter: QPainter, wing: WingPlan, scene: PalaceScene, lens: Lens) -> None:
        theme = self._theme
        block = wing_block(wing, scene, lens, theme)
        if not wing.rooms or not QRectF(0, 0, lens.w, lens.h).intersects(block):
            return
        painter.setPen(QPen(theme.colour("line"), 1.0))
        painter.setBrush(theme.colour("raised"))
        painter.drawRoundedRect(block.adjusted(0.5, 0.5, -0.5, -0.5), 12, 12)
        band = lens.canvas_y(wing_rect(wing).top()) - block.top()
        pad = wing_pad(theme)
        line = QRectF(block.left() + pad, block.top() + 1, block.width() - 2 * pad, band - 1)
        fresh = sum(room.fresh for room in wing.rooms) if scene.look.until is None else 0
        shown = scene.count_shown(scene.rooms_of_wing(wing.id))
        fresh = 0 if fresh >= shown else fresh  # after an import everything is new, which says nothing
        count = f"{shown:,}"
        self._paint_wing_name(
            painter, line, name_space(wing.space), count, palace_strings()["fresh"].format(count=fresh) if fresh else ""
        )

    def _paint_wing_name(self, painter: QPainter, line: QRectF, name: str, count: str, fresh: str) -> None:
        """The name, then how much there is and what of it is new; the name is cut last."""
        theme, px = self._theme, self._theme.px
        font, small, label = theme.font("section"), theme.font("number"), theme.font("caption")
        vertical = Qt.AlignmentFlag.AlignVCenter
        right = line.right()
        named = min(QFontMetricsF(font).horizontalAdvance(name), line.width())
        for words, what, colour in ((count, small, "muted"), (fresh, label, "accent")):
            wide = QFontMetricsF(what).horizontalAdvance(words)
            if words and right - line.left() - wide - px(10) >= named:
                painter.setFont(what)
                painter.setPen(theme.colour(colour))
                painter.drawText(QRectF(right - wide - 1, line.top(), wide + 2, line.height()), vertical, words)
                right -= wide + px(10)
        painter.setFont(font)
        painter.setPen(theme.colour("ink"))
        for shown in self._words.break_name(name, font, right - line.left() + 2):
            painter.drawText(line, vertical, shown)

    def _paint_far_room(self, painter: QPainter, room: RoomItem, lens: Lens) -> None:
        rect = lens.canvas_rect(room.rect).toRect()
        furnishing = room.plan.furnishing
        painter.fillRect(rect, self._theme.colour(soft_role(furnishing)))
        if rect.width() > 6 and rect.height() > 6:
            painter.setPen(self._theme.colour("line" if furnishing is None else tint_role(furnishing)))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(rect.adjusted(0, 0, -1, -1))

    def _paint_interior(
        self, painter: QPainter, room: RoomItem, layout: CanvasRoom, look: LocusStyle, lens: Lens, hidden: str,
        appear: float,
    ) -> None:  # fmt: skip
        room.apply_style(look)
        self._interior.paint_ground(painter, room, layout, look)
        if room.loci is None:
            return
        rows = self._visible_rows(room, layout, lens)
        rows = rows[rows != room.row_of(hidden)] if hidden else rows
        is_card = np.isin(rows, layout.readable_rows(room))
        self._interior.paint_cards(painter, room, layout, rows[is_card])
        if layout.detail == DetailLevel.CARDS:
            return
        labels = self._labels_of(room, layout)
        labelled = {room.row_of(label.landmark.memory_id) for label in labels}
        rest = rows[~is_card]
        self._paint_shapes(painter, room, layout, rest[~np.isin(rest, list(labelled))], labels, appear)
        for label in labels:
            if label.landmark.memory_id != hidden:
                self._interior.paint_label(painter, room, label)

    def _paint_shapes(
        self, painter: QPainter, room: RoomItem, layout: CanvasRoom, rows: NDArray[np.int64],
        labels: tuple[LandmarkCard, ...], appear: float,
    ) -> None:  # fmt: skip
        places = layout.points_at(room.x[rows], room.y[rows])
        base = shape_side(layout)
        sizes = np.rint(base * shape_scale(room.strength[rows])).astype(np.int64).clip(SMALLEST, LARGEST)
        columns = (room.kind[rows] * SHADES + room.shade[rows]) * 2 + room.hollow[rows]
        opacity: Floats = np.where(room.ground[rows], room.opacity[rows] * _GROUND_OPACITY, room.opacity[rows])
        opacity = np.where(room.pending[rows], 0.0, opacity)
        for words in (*(label.rect for label in labels), *self._interior.alcove_names(room, layout)):
            wide = words.adjusted(-base / 2, -base / 2, base / 2, base / 2)
            across = (places[:, 0] > wide.left()) & (places[:, 0] < wide.right())
            under = across & (places[:, 1] > wide.top()) & (places[:, 1] < wide.bottom())
            opacity = np.where(under, 0.0, opacity)
        if appear < 1:
            opacity = np.where(room.fresh[rows], opacity * appear, opacity)
        if self._atlas is not None:
            self._atlas.draw_shapes(painter, places, columns, sizes, opacity)

    def paint_shape(
        self, painter: QPainter, spot: PlacedLocus, place: QPointF, size: float, opacity: float = 1.0
    ) -> None:
        """One memory by itself, such as the one that is dragged."""
        painter.save()
        painter.setOpacity(opacity)
        painter.translate(place)
        painter.scale(size, size)
        shade = int(spot.room.shade[spot.at]) if len(spot.room.shade) else GREY
        painter.fillPath(cached_kind_path(KINDS[int(spot.room.kind[spot.at])]), self._colours[shade])
        painter.restore()
