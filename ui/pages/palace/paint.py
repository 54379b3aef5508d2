"""Paints the plan: grounds, names, loci from an atlas of shapes, texts from near, marks.

10,000 loci take one `drawPixmapFragments` from a picture of all shapes in all colours; from afar a room is one picture.
Must not do: change anything, ask the engine.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

import numpy as np
import shiboken6
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPainterPath, QPen, QPixmap

from core.types.views import HEADER, MemoryRow
from ui.pages.palace.items import GREY, KINDS, Cards, LocusStyle, RoomItem, break_text
from ui.pages.palace.scene import Lens, PlacedLocus, Scene, wing_rect
from ui.theme.theme import Theme
from ui.widgets.labels import KIND_WORDS, count_memories, format_said_or_noted
from ui.widgets.plaintext import one_line
from ui.widgets.shapes import KIND_TOKENS, path_of

SMALLEST, LARGEST = 2, 22
"""Sides of shapes, px."""
SHADES = 6
_CELLS = len(KINDS) * SHADES * 2
_Floats = NDArray[np.float64]


def shades_of(theme: Theme, mode: str) -> list[QColor]:
    """The colours of a colour mode, weakest or oldest first, and the grey of what was not believed.

    Args:
        mode: trust, age or kind.
    """
    if mode == "kind":
        found = [theme.colour(KIND_TOKENS[kind]) for kind in KINDS]
    elif mode == "age":
        old, new = theme.colour("outline"), theme.colour("accent")
        found = [_mix_colours(old, new, step / 4) for step in range(5)]
    else:
        found = [theme.colour(f"trust_{step}") for step in range(5)]
    return [*found, theme.colour("faint")]


def _mix_colours(one: QColor, other: QColor, share: float) -> QColor:
    def mix_channel(a: float, b: float) -> float:
        return a + (b - a) * share

    return QColor.fromRgbF(
        mix_channel(one.redF(), other.redF()),
        mix_channel(one.greenF(), other.greenF()),
        mix_channel(one.blueF(), other.blueF()),
    )


class Atlas:
    """Shapes by kind, colour, size and outline, drawn once in one picture; a size's row when it is first asked for."""

    def __init__(self, colours: Sequence[QColor], ratio: float) -> None:
        self._colours, self._ratio = list(colours), ratio
        sides = [self._cell_side(size) for size in range(SMALLEST, LARGEST + 1)]
        self.sides = np.zeros(LARGEST + 1)
        self.tops = np.zeros(LARGEST + 1)
        self.sides[SMALLEST:] = sides
        self.tops[SMALLEST:] = np.concatenate(([0], np.cumsum(sides)[:-1]))
        self.pixmap = QPixmap(QSize(round(max(sides) * _CELLS), round(sum(sides))))
        self.pixmap.fill(Qt.GlobalColor.transparent)
        self._drawn: set[int] = set()

    def _cell_side(self, size: int) -> int:
        return math.ceil((size * 1.5 + 3) * self._ratio)

    def draw_missing(self, sizes: Sequence[int]) -> None:
        """Draw the rows of sizes that are needed and missing."""
        for size in sizes:
            if size not in self._drawn:
                self._draw_size(size)
                self._drawn.add(size)

    def _draw_size(self, size: int) -> None:
        painter = QPainter(self.pixmap)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        side, top, grown = self.sides[size], self.tops[size], size * self._ratio
        for column in range(_CELLS):
            kind, rest = divmod(column, SHADES * 2)
            shade, hollow = divmod(rest, 2)
            painter.resetTransform()
            painter.translate((column + 0.5) * side, top + side / 2)
            path, colour = path_of(KINDS[kind]), self._colours[shade]
            if hollow:
                width = max(1.2, size * 0.14) * self._ratio
                painter.scale((grown - width) / 1.0, (grown - width) / 1.0)
                pen = QPen(colour, width)
                pen.setCosmetic(True)
                painter.strokePath(path, pen)
            else:
                painter.scale(grown, grown)
                painter.fillPath(path, colour)
        painter.end()

    def draw_shapes(self, painter: QPainter, places: _Floats, columns: NDArray[np.int64], sizes: NDArray[np.int64],
             opacity: _Floats) -> None:  # fmt: skip
        """Draw many shapes at once.

        Args:
            painter: on the canvas.
            places: middles, px, (n, 2).
            columns: kind, colour and outline of each: `(kind * 6 + shade) * 2 + hollow`.
            sizes: of each, px.
            opacity: of each, 0 to 1.
        """
        count = len(columns)
        if not count:
            return
        self.draw_missing([int(size) for size in np.unique(sizes)])
        sides = self.sides[sizes]
        fragments = np.empty((count, 10), np.float64)
        fragments[:, 0:2] = np.rint(places)
        fragments[:, 2] = columns * sides
        fragments[:, 3] = self.tops[sizes]
        fragments[:, 4] = fragments[:, 5] = sides
        fragments[:, 6] = fragments[:, 7] = 1 / self._ratio
        fragments[:, 8] = 0
        fragments[:, 9] = opacity
        # Qt reads an array of its own struct of ten doubles; `fragments` lives until it has.
        first = cast(QPainter.PixmapFragment, shiboken6.wrapInstance(fragments.ctypes.data, QPainter.PixmapFragment))
        painter.drawPixmapFragments(first, count, self.pixmap)


_DOT_PX = 3.4
"""Places smaller than this are texture."""
_MOST_SHAPES = 25_000
_FILL = 0.74
_BAND = 17  # px at 100 % from which a name stands in its room's header
_FAINTEST = 0.7  # size of what is hardly remembered, as a share of what is firmly
NEAR_PX = 92
"""Side of a place from which a locus shows its text, px at 100 %."""
_LONGEST_NAME = 80  # characters
_NAMES_KEPT = 3_000


@dataclass
class Marks:
    """What is marked on the plan at present.

    Attributes:
        selected: the memory that is looked at.
        cursor_room: the room the keyboard stands on; "" while it stands on a locus. `cursor_wing` likewise.
        has_focus: whether the canvas has the keyboard.
        hover: the locus under the pointer.
        target_room: the room something is dragged into.
        others: what the selected memory is tied to: memory and type of the edge.
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
    appear: float = 1.0
    hidden: str = ""


class PlanPainter:
    """Paints one canvas."""

    def __init__(self, theme: Theme, head_of: Callable[[str], MemoryRow | None]) -> None:
        self._theme, self._head_of = theme, head_of
        self._atlas: Atlas | None = None
        self._atlas_key: tuple[object, ...] = ()
        self._colours: list[QColor] = []
        self._cut: dict[tuple[str, int, int], tuple[str, float]] = {}
        self.cards = Cards(theme, head_of)

    def clear_cache(self) -> None:
        """The theme is another one."""
        self._atlas_key = ()
        self._cut.clear()
        self.cards.clear_lines()

    def is_text_shown(self, lens: Lens, room: RoomItem) -> bool:
        """Whether loci of a room show their text."""
        return lens.scale * room.step >= self._theme.px(NEAR_PX)

    def paint(self, painter: QPainter, scene: Scene, lens: Lens, marks: Marks, ratio: float) -> None:
        """Paint what the lens shows.

        Args:
            painter: on the canvas, clipped to what is to be painted anew.
            lens: the look at it.
            ratio: device pixels a px.
        """
        self._prepare_atlas(scene.look, ratio)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_wings(painter, scene, lens, marks)
        rooms = list(scene.rooms_in_sight(lens))
        for room in rooms:
            self._paint_room(painter, room, lens, marks)
        self._paint_loci(painter, rooms, scene.look, lens, marks)
        for room in rooms:
            self._paint_name(painter, room, scene, lens)
        self._paint_ties(painter, scene, lens, marks)
        self._paint_rings(painter, scene, lens, marks)

    def _prepare_atlas(self, look: LocusStyle, ratio: float) -> None:
        key = (look.colour, self._theme.tokens.name, ratio)
        if key != self._atlas_key:
            self._atlas_key = key
            self._colours = shades_of(self._theme, look.colour)
            self._atlas = Atlas(self._colours, ratio)
            self.cards.set_colours(self._colours)

    # ---- grounds and names

    def _paint_wings(self, painter: QPainter, scene: Scene, lens: Lens, marks: Marks) -> None:
        if len(scene.wings) < 2:
            return
        font = self._theme.font("section")
        for wing in scene.wings:
            ground = lens.canvas_rect(wing_rect(wing))
            if not wing.rooms or not QRectF(0, -60, lens.w, lens.h + 60).intersects(ground):
                continue
            line = QRectF(ground.left(), ground.top() - self._theme.px(30), ground.width(), self._theme.px(24))
            count = f"{scene.count_shown(scene.rooms_of_wing(wing.id)):,}"
            self._paint_line(painter, line, wing.space, count, font)
            if marks.has_focus and wing.id == marks.cursor_wing:
                painter.setPen(QPen(self._theme.colour("accent"), 2.0))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawRoundedRect(ground.adjusted(-4, -4, 4, 4), 14, 14)

    def _paint_room(self, painter: QPainter, room: RoomItem, lens: Lens, marks: Marks) -> None:
        rect = lens.canvas_rect(room.rect)
        radius = min(12.0, max(3.0, lens.scale * 0.5))
        marked = marks.has_focus and room.id == marks.cursor_room
        is_target = room.id == marks.target_room
        holds = bool(marks.selected) and room.row_of(marks.selected) >= 0
        colour = self._theme.colour("accent" if marked or is_target or holds else "line")
        painter.setPen(QPen(colour, 2.0 if marked or is_target else 1.0))
        painter.setBrush(self._theme.colour("accent_soft" if is_target else "surface"))
        painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), radius, radius)

    def name_rect(self, room: RoomItem, lens: Lens) -> QRectF:
        """Where a room's name stands on the canvas: the band it is dragged by."""
        rect = lens.canvas_rect(room.rect)
        band = HEADER * lens.scale
        if band >= self._theme.px(_BAND):
            return QRectF(rect.left(), rect.top(), rect.width(), band)
        return QRectF(rect.left(), rect.top(), rect.width(), min(rect.height(), float(self._theme.px(20))))

    def _paint_name(self, painter: QPainter, room: RoomItem, scene: Scene, lens: Lens) -> None:
        theme, band = self._theme, HEADER * lens.scale
        rect = lens.canvas_rect(room.rect)
        if rect.width() < theme.px(44) or rect.height() < theme.px(20):
            return
        count = f"{room.count_shown(scene.look):,}"
        if band >= theme.px(_BAND):
            line, font = self._header_rect_and_font(room, lens)
            self._paint_line(painter, line, room.plan.name, count, font)
            return
        self._paint_plates(painter, self._name_plates(room.plan.name, count, rect))

    def _header_rect_and_font(self, room: RoomItem, lens: Lens) -> tuple[QRectF, QFont]:
        theme, band = self._theme, HEADER * lens.scale
        font = theme.font("strong")
        least = theme.px(12 if band < theme.px(30) else 13)
        font.setPixelSize(int(min(max(band * 0.29, least), theme.px(22))))
        pad = max(lens.scale * 1.15, 8.0) if lens.scale > 15 else 9.0  # as far in as the loci below it
        return self.name_rect(room, lens).adjusted(pad, 0, -pad, 0), font

    def is_name_shown(self, room: RoomItem, lens: Lens) -> bool:
        """Whether a room's name stands on the plan whole; from far away it is cut, or has no room at all."""
        whole = one_line(room.plan.name, _LONGEST_NAME)
        if HEADER * lens.scale < self._theme.px(_BAND):
            return any(
                words == whole for *_, words in self._name_plates(room.plan.name, "", lens.canvas_rect(room.rect))
            )
        line, font = self._header_rect_and_font(room, lens)
        return self._cut_name(room.plan.name, font, line.width())[0] == whole

    def _name_plates(self, name: str, count: str, rect: QRectF) -> list[tuple[QRectF, QFont, str, str]]:
        """Ground, font, colour and words of name and count over a room too far for a header of its own."""
        theme = self._theme
        font, small = theme.font("strong"), theme.font("number")
        font.setPixelSize(theme.px(12))
        small.setPixelSize(theme.px(11))
        if rect.width() < theme.px(44) or rect.height() < theme.px(20):
            return []
        shown, width = self._cut_name(name, font, rect.width() - 14)
        if not shown:
            return []
        plates = [(QRectF(rect.left() + 3, rect.top() + 3, width + 8, theme.px(17)), font, "ink", shown)]
        wide = self._cut_name(count, small, 1000)[1] + 8
        if rect.width() - width - wide > theme.px(24):
            plates.append((QRectF(rect.right() - 3 - wide, rect.top() + 3, wide, theme.px(17)), small, "muted", count))
        return plates

    def _paint_plates(self, painter: QPainter, plates: list[tuple[QRectF, QFont, str, str]]) -> None:
        ground = self._theme.colour("surface")
        ground.setAlphaF(0.92)
        for plate, font, colour, words in plates:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(ground)
            painter.drawRoundedRect(plate, 4, 4)
            painter.setPen(self._theme.colour(colour))
            painter.setFont(font)
            painter.drawText(plate.adjusted(4, 0, 4, 0), Qt.AlignmentFlag.AlignVCenter, words)

    def _paint_line(self, painter: QPainter, line: QRectF, name: str, count: str, font: QFont) -> None:
        """A name on the left and a count on the right; the count gives way first, then the name is cut."""
        theme = self._theme
        small = theme.font("number")
        small.setPixelSize(max(theme.px(12), min(font.pixelSize() - 1, theme.px(15))))
        wide = QFontMetricsF(small).horizontalAdvance(count)
        gap = theme.px(10)
        shown, _ = self._cut_name(name, font, line.width() - wide - gap)
        if not shown or (shown != name and line.width() < theme.px(110)):
            shown, _ = self._cut_name(name, font, line.width())
            count = ""
        painter.setFont(font)
        painter.setPen(theme.colour("ink"))
        vertical = Qt.AlignmentFlag.AlignVCenter
        painter.drawText(line.adjusted(0, 0, 4, 0), vertical | Qt.AlignmentFlag.AlignLeft, shown)
        if count:
            painter.setFont(small)
            painter.setPen(theme.colour("muted"))
            painter.drawText(line, vertical | Qt.AlignmentFlag.AlignRight, count)

    def _cut_name(self, name: str, font: QFont, width: float) -> tuple[str, float]:
        """A name cut to a width, and how wide it is then; "" where not even three letters fit."""
        key = (name, font.pixelSize() * 1000 + int(font.weight()), int(max(width, 0)))
        if key not in self._cut:
            if len(self._cut) > _NAMES_KEPT:
                self._cut.clear()
            metrics = QFontMetricsF(font)
            shown = _shorten_name(one_line(name, _LONGEST_NAME), metrics, width)
            if shown.endswith("…") and len(shown) < 4:
                shown = ""
            self._cut[key] = (shown, metrics.horizontalAdvance(shown))
        return self._cut[key]

    # ---- loci

    def _paint_loci(
        self, painter: QPainter, rooms: Sequence[RoomItem], look: LocusStyle, lens: Lens, marks: Marks
    ) -> None:
        seen = lens.visible_area
        dots = sum(len(room.ids) for room in rooms if lens.scale * room.step >= _DOT_PX)
        batches: list[tuple[_Floats, NDArray[np.int64], NDArray[np.int64], _Floats]] = []
        pins: list[_Floats] = []
        for room in rooms:
            if room.loci is None:
                continue
            cell = lens.scale * room.step
            if cell < _DOT_PX or (dots > _MOST_SHAPES and cell < 8):
                self._paint_texture(painter, room, look, lens, cell)
                continue
            room.apply_style(look)
            rows = visible_rows(room, seen, room.step)
            if marks.hidden:
                rows = rows[rows != room.row_of(marks.hidden)]
            if self.is_text_shown(lens, room):
                across = (room.wx[rows] - lens.x) * lens.scale + lens.w / 2
                down = (room.wy[rows] - lens.y) * lens.scale + lens.h / 2
                self.cards.paint(painter, room, rows, across, down, cell, marks.selected)
                continue
            batch = self._shape_columns(room, rows, lens, cell, marks.appear)
            batches.append(batch)
            if cell > 9:
                pinned = room.loci.pinned[rows]
                pins.append(np.column_stack((batch[0][pinned], batch[2][pinned])))
        if batches and self._atlas is not None:
            joined = [np.concatenate(parts) for parts in zip(*batches, strict=True)]
            self._atlas.draw_shapes(painter, joined[0], joined[1], joined[2], joined[3])
        for places in pins:
            self._paint_pins(painter, places)

    def _paint_texture(self, painter: QPainter, room: RoomItem, look: LocusStyle, lens: Lens, cell: float) -> None:
        side = 4 if cell >= 2.6 else 2 if cell >= 1.3 else 1
        picture, ground = room.render_distant(side, self._colours, look)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.drawPixmap(lens.canvas_rect(ground), picture, QRectF(picture.rect()))

    def _shape_columns(
        self, room: RoomItem, rows: NDArray[np.int64], lens: Lens, cell: float, appear: float
    ) -> tuple[_Floats, NDArray[np.int64], NDArray[np.int64], _Floats]:
        places = np.empty((len(rows), 2))
        places[:, 0] = (room.wx[rows] - lens.x) * lens.scale + lens.w / 2
        places[:, 1] = (room.wy[rows] - lens.y) * lens.scale + lens.h / 2
        base = min(max(cell * _FILL, float(SMALLEST)), LARGEST)
        sizes = np.rint(base * _shape_scale(room.strength[rows])).astype(np.int64).clip(SMALLEST, LARGEST)
        columns = (room.kind[rows] * SHADES + room.shade[rows]) * 2 + room.hollow[rows]
        opacity = room.opacity[rows]
        if HEADER * lens.scale < self._theme.px(_BAND):
            rect = lens.canvas_rect(room.rect)
            for plate, *_ in self._name_plates(room.plan.name, f"{room.plan.count:,}", rect):
                # Shapes half under a name look broken; from this far they are texture, and may give way.
                wide = plate.adjusted(-base / 2, -base / 2, base / 2, base / 2)
                under = (places[:, 0] > wide.left()) & (places[:, 0] < wide.right()) & (places[:, 1] < wide.bottom())
                opacity = np.where(under, 0.0, opacity)
        if appear < 1:
            opacity = np.where(room.fresh[rows], opacity * appear, opacity)
        return places, columns, sizes, opacity

    def _paint_pins(self, painter: QPainter, places: _Floats) -> None:
        painter.setPen(QPen(self._theme.colour("surface"), 1.2))
        painter.setBrush(self._theme.colour("ink"))
        for x, y, size in places:
            painter.drawEllipse(QPointF(x + size * 0.55, y - size * 0.55), 2.6, 2.6)

    # ---- marks

    def spot_px(self, spot: PlacedLocus, lens: Lens) -> tuple[QPointF, float]:
        """Where a locus lies on the canvas, and how large it is, px."""
        cell = lens.scale * spot.room.step
        if self.is_text_shown(lens, spot.room):
            return QPointF(lens.canvas_x(spot.x), lens.canvas_y(spot.y)), cell
        base = min(max(cell * _FILL, float(SMALLEST)), LARGEST)
        return QPointF(lens.canvas_x(spot.x), lens.canvas_y(spot.y)), base * float(
            _shape_scale(spot.room.strength[spot.at : spot.at + 1])[0]
        )

    def _paint_ties(self, painter: QPainter, scene: Scene, lens: Lens, marks: Marks) -> None:
        start = scene.spot_of(marks.selected) if marks.others else None
        if start is None:
            return
        for other, kind in marks.others.items():
            end = scene.spot_of(other)
            if end is None:
                continue
            colour = self._theme.colour("danger" if kind == "contradicts" else "muted")
            one, two = self.spot_px(start, lens), self.spot_px(end, lens)
            painter.setPen(QPen(colour, 1.6, Qt.PenStyle.DashLine))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawPath(_arc_between(one[0], two[0]))
            if not self.is_text_shown(lens, end.room):
                painter.setPen(QPen(colour, 1.8))
                radius = max(two[1] * 0.85, 6.0)
                painter.drawEllipse(two[0], radius, radius)

    def _paint_rings(self, painter: QPainter, scene: Scene, lens: Lens, marks: Marks) -> None:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        hover = marks.hover
        if hover is not None and not self.is_text_shown(lens, hover.room) and hover.at < len(hover.room.ids):
            place, size = self.spot_px(hover, lens)
            painter.setPen(QPen(self._theme.colour("outline"), 1.4))
            painter.drawEllipse(place, max(size * 0.78, 5.0), max(size * 0.78, 5.0))
        spot = scene.spot_of(marks.selected) if marks.selected != marks.hidden else None
        if spot is not None and not self.is_text_shown(lens, spot.room):
            place, size = self.spot_px(spot, lens)
            painter.setPen(QPen(self._theme.colour("accent"), 2.0))
            radius = max(size * 0.62 + 5.0, 8.0)
            painter.drawEllipse(place, radius, radius)

    def paint_plate(self, painter: QPainter, spot: PlacedLocus, look: LocusStyle, lens: Lens) -> None:
        """What a locus under the pointer says, beside it; painted, for Qt's tooltip would read its text as markup."""
        head = None if spot.at >= len(spot.room.ids) else self._head_of(spot.id)
        if head is None or self.is_text_shown(lens, spot.room):
            return
        theme, pad = self._theme, self._theme.px(10)
        body, small = theme.font("small"), theme.font("caption")
        lines = break_text(one_line(head.head, 200), body, theme.px(300), 2)
        about = f"{KIND_WORDS[head.kind]} · {format_said_or_noted(head.occurred, head.recorded_at)}"
        if not self.is_name_shown(spot.room, lens):
            about += f" · in {one_line(spot.room.plan.name, 32)}, {count_memories(spot.room.count_shown(look))}"
        high = QFontMetricsF(body).height()
        wide = max(
            [QFontMetricsF(body).horizontalAdvance(line) for line in lines]
            + [QFontMetricsF(small).horizontalAdvance(about)]
        )
        box = QRectF(0, 0, wide + 2 * pad + 2, high * len(lines) + theme.px(17) + 1.4 * pad)
        place, size = self.spot_px(spot, lens)
        box.moveTopLeft(place + QPointF(size / 2 + 8, size / 2 + 8))
        if box.right() > lens.w - 4:
            box.moveRight(place.x() - size / 2 - 8)
        if box.bottom() > lens.h - 4:
            box.moveBottom(place.y() - size / 2 - 8)
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

    def paint_shape(
        self, painter: QPainter, spot: PlacedLocus, place: QPointF, size: float, opacity: float = 1.0
    ) -> None:
        """One locus by itself, such as the one that is dragged."""
        painter.save()
        painter.setOpacity(opacity)
        painter.translate(place)
        painter.scale(size, size)
        shade = int(spot.room.shade[spot.at]) if len(spot.room.shade) else GREY
        painter.fillPath(path_of(KINDS[int(spot.room.kind[spot.at])]), self._colours[shade])
        painter.restore()


def visible_rows(room: RoomItem, seen: QRectF, slack: float) -> NDArray[np.int64]:
    """Rows of the loci of a dressed room that are in sight.

    Args:
        seen: what is on the canvas, plan units.
        slack: how far beyond its edges a locus still shows.
    """
    if seen.contains(room.rect):
        return np.flatnonzero(room.shown)
    inside = room.shown & (room.wx > seen.left() - slack) & (room.wx < seen.right() + slack)
    inside &= (room.wy > seen.top() - slack) & (room.wy < seen.bottom() + slack)
    return np.flatnonzero(inside)


def _shape_scale(strength: _Floats) -> _Floats:
    """How large shapes are for their strength, as a share of the largest."""
    return _FAINTEST + (1 - _FAINTEST) * strength


def _shorten_name(name: str, metrics: QFontMetricsF, width: float) -> str:
    """A name that fits: whole, or its first term, or that cut."""
    if metrics.horizontalAdvance(name) <= width:
        return name
    return metrics.elidedText(name.partition(",")[0], Qt.TextElideMode.ElideRight, width)


def _arc_between(start: QPointF, end: QPointF) -> QPainterPath:
    """From one point to another, bent upward."""
    path = QPainterPath(start)
    middle = (start + end) / 2
    apart = math.hypot(end.x() - start.x(), end.y() - start.y())
    path.quadTo(QPointF(middle.x(), middle.y() - max(18.0, apart * 0.22)), end)
    return path
