"""What stands on the plan: a room with all its loci as columns, its texture from afar, its loci as cards from near.

One item a room, never an item a locus. Must not do: know the canvas, ask the engine.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QImage, QPainter, QPen, QPixmap, QTextLayout, QTextOption

from core.types.values import Kind, Status
from core.types.views import HEADER, MARGIN, Loci, MemoryRow, RoomPlan, WingPlan
from ui.theme.theme import Theme
from ui.widgets.labels import date_of
from ui.widgets.plaintext import one_line
from ui.widgets.shapes import draw_kind

KINDS = tuple(Kind)
STATUSES = tuple(Status)
STANDS_STILL = int(np.iinfo(np.int64).max)
GREY = 5
"""Index of the colour of what was not believed; 0 to 4 are the mode's own."""
_MIDDLE = 0.5
_DAY_MS = 86_400_000
_AGES_DAYS = (365, 180, 90, 30)
"""Bounds of the five ages; the newest has the highest index."""
_FAINT = 0.4
_UNBELIEVED = 0.38
_FILTERED = 0.12
_HEADS = 3_000
_LINES_KEPT = 600
_CARD = 0.94
"""Share of a place's side that a card takes."""

_IS_FAINT = np.array([s in {Status.SUPERSEDED, Status.ARCHIVED, Status.CONSOLIDATED} for s in STATUSES])
_IS_HOLLOW = np.array([s in {Status.DISPUTED, Status.QUARANTINED} for s in STATUSES])
_COUNTS = np.array([s not in {Status.SUPERSEDED, Status.DELETED} for s in STATUSES])
_DELETED = STATUSES.index(Status.DELETED)

# How much of a place's k x k pixels a locus covers, from afar.
_STAMPS: dict[int, NDArray[np.float32]] = {
    1: np.array([[0.62]], np.float32),
    2: np.array([[0.95, 0.4], [0.4, 0.16]], np.float32),
    4: np.array([[0.55, 0.95, 0.55, 0], [0.95, 1, 0.95, 0], [0.55, 0.95, 0.55, 0], [0, 0, 0, 0]], np.float32),
}


@dataclass(frozen=True, slots=True)
class LocusStyle:
    """How loci are drawn.

    Attributes:
        colour: `trust`, `age` or `kind`.
        kind: the one kind that shows fully; None for all.
        axis: `believed` (when Loci recorded and retired it) or `said` (when it was said or happened).
        until: epoch ms the slider stands at; None for now.
        now: epoch ms, for ages.
    """

    colour: str = "trust"
    kind: Kind | None = None
    axis: str = "believed"
    until: int | None = None
    now: int = 0


class RoomItem:
    """A room as it is drawn.

    Attributes:
        rect: its ground in the palace, plan units.
        ids: memories, in the order of the columns; empty until `fill`.
        wx: where they stand in the palace, plan units; `wy` likewise.
        fresh: which of them have only just come.
        shade: colour index of each, `opacity` 0 to 1, `hollow` whether outlined, `shown` whether drawn at all;
            valid after `dress`.
        kinds: indices of the kinds that occur.
    """

    def __init__(self, wing: WingPlan, room: RoomPlan) -> None:
        self.wing, self.plan = wing, room
        self.rect = QRectF(wing.x + room.x, wing.y + room.y, room.w, room.h)
        self.loci: Loci | None = None
        self.ids: tuple[str, ...] = ()
        self.wx = self.wy = np.empty(0)
        self.fresh = np.empty(0, np.bool_)
        self.shade = self.kind = self.hollow = np.empty(0, np.int64)
        self.opacity = self.strength = np.empty(0)
        self.shown = np.empty(0, np.bool_)
        self.kinds: frozenset[int] = frozenset()
        self._rows: dict[str, int] = {}
        self._look: LocusStyle | None = None
        self._count = room.count
        self._textures: dict[tuple[int, tuple[int, ...]], QPixmap] = {}

    @property
    def id(self) -> str:
        """Of the room."""
        return self.plan.id

    @property
    def step(self) -> float:
        """Distance of two places, plan units."""
        return float(2.0**-self.plan.density)

    def update_plan(self, wing: WingPlan, room: RoomPlan) -> bool:
        """Take what a later plan says of it.

        Returns:
            Whether its loci may have changed.
        """
        was, self.wing, self.plan = self.plan, wing, room
        self.rect = QRectF(wing.x + room.x, wing.y + room.y, room.w, room.h)
        self._update_positions()
        self._clear_cached_style()
        return (was.count, was.density) != (room.count, room.density) or self.loci is None

    def set_loci(self, loci: Loci) -> bool:
        """Take its loci.

        Args:
            loci: as they were read.

        Returns:
            Whether some of them have only just come.
        """
        known = self._rows if self.loci is not None else None
        self.loci, self.ids = loci, loci.ids
        self._rows = {memory_id: at for at, memory_id in enumerate(loci.ids)}
        self.fresh = np.zeros(len(loci.ids), np.bool_)
        if known is not None:
            self.fresh[:] = [memory_id not in known for memory_id in loci.ids]
        self.kind = loci.kind.astype(np.int64)
        self.kinds = frozenset(int(kind) for kind in np.unique(loci.kind))
        self.strength = np.clip(loci.strength.astype(np.float64), 0.0, 1.0)
        self._update_positions()
        self._clear_cached_style()
        return bool(self.fresh.any())

    def _update_positions(self) -> None:
        if self.loci is not None:
            self.wx = self.loci.x.astype(np.float64) + self.rect.left()
            self.wy = self.loci.y.astype(np.float64) + self.rect.top()

    def _clear_cached_style(self) -> None:
        self._look = None
        self._textures.clear()

    def clear_fresh(self) -> None:
        """Nothing in it is new any more."""
        self.fresh[:] = False

    # ---- how it looks

    def apply_style(self, look: LocusStyle) -> None:
        """Work out how its loci look."""
        if look == self._look or self.loci is None:
            return
        self._look = look
        self._textures.clear()
        loci = self.loci
        status = loci.status.astype(np.int64)
        believed = _believed_mask(loci, look)
        self.shown = status != _DELETED
        self.hollow = _IS_HOLLOW[status].astype(np.int64)
        self.shade = np.where(believed, _shades_of(loci, look), GREY)
        self.opacity = np.where(believed, 1.0, _UNBELIEVED)
        if look.until is None:
            self.opacity[_IS_FAINT[status] & believed] = _FAINT
        counted = believed & self.shown
        if look.until is None:
            counted &= _COUNTS[status]
        if look.kind is not None:
            other = self.kind != KINDS.index(look.kind)
            self.opacity[other] = _FILTERED
            counted &= ~other
        self._count = int(np.count_nonzero(counted))

    def count_shown(self, look: LocusStyle) -> int:
        """How many of its memories show: the plan's count for now, else what was believed then."""
        if look.until is None and look.kind is None:
            return self.plan.count
        self.apply_style(look)
        return self._count if self.loci is not None else self.plan.count

    def render_distant(self, side: int, colours: Sequence[QColor], look: LocusStyle) -> tuple[QPixmap, QRectF]:
        """The room's loci from afar.

        Args:
            side: pixels of a place's side: 1, 2 or 4.
            colours: by index of shade.
            look: how loci are drawn.

        Returns:
            A picture, and the ground in the palace that it covers.
        """
        self.apply_style(look)
        step, room = self.step, self.plan
        ground = QRectF(self.rect)
        edge = MARGIN + _MIDDLE - step / 2
        ground.adjust(edge, HEADER + _MIDDLE - step / 2, -edge, -edge)
        key = (side, tuple(colour.rgb() for colour in colours))
        if key not in self._textures:
            wide = max(1, round((room.w - 2 * MARGIN - 1) / step) + 1)
            high = max(1, round((room.h - HEADER - MARGIN - 1) / step) + 1)
            self._textures[key] = self._render_texture(side, colours, wide, high)
        return self._textures[key], ground

    def _render_texture(self, side: int, colours: Sequence[QColor], wide: int, high: int) -> QPixmap:
        pixels = np.zeros((high * side, wide * side, 4), np.uint8)
        if self.loci is not None:
            shown = np.flatnonzero(self.shown)
            across = np.rint((self.loci.x[shown] - MARGIN - _MIDDLE) / self.step).astype(np.int64).clip(0, wide - 1)
            down = np.rint((self.loci.y[shown] - HEADER - _MIDDLE) / self.step).astype(np.int64).clip(0, high - 1)
            palette = np.array([(c.blue(), c.green(), c.red(), 255) for c in colours], np.float32)
            inks = palette[self.shade[shown]] * self.opacity[shown, None].astype(np.float32)
            stamp = _STAMPS[side]
            for dy in range(side):
                for dx in range(side):
                    if stamp[dy, dx]:
                        pixels[down * side + dy, across * side + dx] = (inks * stamp[dy, dx]).astype(np.uint8)
        image = QImage(
            pixels.tobytes(), wide * side, high * side, wide * side * 4, QImage.Format.Format_ARGB32_Premultiplied
        )
        return QPixmap.fromImage(image)

    # ---- who stands where

    def row_of(self, memory_id: str) -> int:
        """The row of a memory, or -1."""
        return self._rows.get(memory_id, -1)

    def nearest_row(self, x: float, y: float, reach: float) -> int:
        """The row of the locus nearest to a point of the palace, or -1.

        Args:
            x: the point.
            y: likewise.
            reach: how far off it may be, plan units.
        """
        if not len(self.ids):
            return -1
        self.apply_style(self._look or LocusStyle())
        apart = np.hypot(self.wx - x, self.wy - y)
        apart[~self.shown] = np.inf
        at = int(np.argmin(apart))
        return at if apart[at] <= reach else -1

    def place_locus(self, at: int, x: float, y: float) -> None:
        """Draw a locus elsewhere before the engine has said so.

        Args:
            x: the place in the palace.
            y: likewise.
        """
        self.wx[at], self.wy[at] = x, y

    def move_corner_to(self, corner: QPointF) -> None:
        """Draw the room elsewhere before the engine has said so.

        Args:
            corner: its upper left corner in the palace.
        """
        self.rect.moveTopLeft(corner)
        self._update_positions()

    def find_free_place(self, x: float, y: float, moving: str = "") -> tuple[float, float] | None:
        """The free place nearest to a point.

        Args:
            x: the point, inside the room.
            y: likewise.
            moving: a memory that is about to leave its place; "" for none.

        Returns:
            Inside the room, on its grid; None in a full room.
        """
        step, room = self.step, self.plan
        wide = max(1, round((room.w - 2 * MARGIN - 1) / step) + 1)
        high = max(1, round((room.h - HEADER - MARGIN - 1) / step) + 1)
        free = np.ones((high, wide), np.bool_)
        if self.loci is not None:
            stays = np.ones(len(self.ids), np.bool_)
            if self.row_of(moving) >= 0:
                stays[self.row_of(moving)] = False
            down = np.rint((self.loci.y[stays] - HEADER - _MIDDLE) / step).astype(np.int64)
            across = np.rint((self.loci.x[stays] - MARGIN - _MIDDLE) / step).astype(np.int64)
            free[down.clip(0, high - 1), across.clip(0, wide - 1)] = False
        ys, xs = np.nonzero(free)
        if not ys.size:
            return None
        px, py = MARGIN + _MIDDLE + xs * step, HEADER + _MIDDLE + ys * step
        best = int(np.argmin((px - x) ** 2 + (py - y) ** 2))
        return float(px[best]), float(py[best])


def _believed_mask(loci: Loci, look: LocusStyle) -> NDArray[np.bool_]:
    stands: NDArray[np.bool_] = loci.retired_at == STANDS_STILL
    if look.until is None:
        return stands
    if look.axis == "said":
        return np.asarray(stands & (loci.said_at <= look.until), np.bool_)
    return np.asarray((loci.recorded_at <= look.until) & (look.until < loci.retired_at), np.bool_)


def _shades_of(loci: Loci, look: LocusStyle) -> NDArray[np.int64]:
    if look.colour == "kind":
        return loci.kind.astype(np.int64)
    if look.colour == "age":
        days = (look.now - loci.said_at) / _DAY_MS
        return np.asarray(sum((days < bound).astype(np.int64) for bound in _AGES_DAYS), np.int64)
    return np.asarray(np.clip(np.floor(loci.trust * 5 + 1e-6), 0, 4), np.int64)


class Heads:
    """Light rows of memories whose text is in sight; the least recently used are dropped."""

    def __init__(self) -> None:
        self._rows: OrderedDict[str, MemoryRow] = OrderedDict()

    def get_row(self, memory_id: str) -> MemoryRow | None:
        """A row, if it was read."""
        row = self._rows.get(memory_id)
        if row is not None:
            self._rows.move_to_end(memory_id)
        return row

    def store_rows(self, rows: Iterable[MemoryRow]) -> None:
        """Keep rows that were read."""
        for row in rows:
            self._rows[row.id] = row
            self._rows.move_to_end(row.id)
        while len(self._rows) > _HEADS:
            self._rows.popitem(last=False)

    def forget_rows(self, ids: Iterable[str]) -> None:
        """Forget rows that changed; no ids for all."""
        wanted = tuple(ids)
        if not wanted:
            self._rows.clear()
        for memory_id in wanted:
            self._rows.pop(memory_id, None)

    def missing_ids(self, ids: Iterable[str], most: int) -> tuple[str, ...]:
        """Those that were not read yet.

        Args:
            ids: memories in sight.
            most: how many at once.
        """
        found = [memory_id for memory_id in ids if memory_id not in self._rows]
        return tuple(found[:most])


class Cards:
    """Loci from near: what each says, on a card in its place."""

    def __init__(self, theme: Theme, head_of: Callable[[str], MemoryRow | None]) -> None:
        """Make it.

        Args:
            head_of: gives the light row of a memory, None while it was not read.
        """
        self._theme, self._head_of = theme, head_of
        self._colours: list[QColor] = []
        self._lines: OrderedDict[tuple[str, int, int, str], tuple[str, ...]] = OrderedDict()

    def set_colours(self, colours: Sequence[QColor]) -> None:
        """Draw shapes in these colours, by index of shade."""
        self._colours = list(colours)

    def clear_lines(self) -> None:
        """The theme is another one."""
        self._lines.clear()

    def paint(self, painter: QPainter, item: RoomItem, rows: NDArray[np.int64], across: NDArray[np.float64],
              down: NDArray[np.float64], side: float, selected: str) -> None:  # fmt: skip
        """Paint some loci of a room.

        Args:
            painter: on the canvas.
            across: their middles on the canvas, px.
            down: likewise.
            side: of a place, px.
            selected: the memory that is looked at.
        """
        for row, x, y in zip(rows, across, down, strict=True):
            half = side * _CARD / 2
            rect = QRectF(round(x - half), round(y - half), round(half * 2), round(half * 2))
            painter.setOpacity(max(float(item.opacity[row]), 0.3))
            self._paint_one(painter, item, int(row), rect, is_selected=item.ids[row] == selected)
        painter.setOpacity(1.0)

    def _paint_one(self, painter: QPainter, item: RoomItem, row: int, rect: QRectF, *, is_selected: bool) -> None:
        theme = self._theme
        border = theme.colour("accent" if is_selected else "line")
        painter.setPen(QPen(border, 2.0 if is_selected else 1.0))
        painter.setBrush(theme.colour("accent_soft" if is_selected else "raised"))
        painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), 8, 8)
        pad, small = theme.px(9), theme.font("caption")
        shape = theme.px(10)
        colour = self._colours[int(item.shade[row])]
        middle = QPointF(rect.left() + pad + shape / 2, rect.top() + pad + theme.px(6))
        draw_kind(painter, KINDS[int(item.kind[row])], middle, shape, colour)
        if item.loci is None:
            return
        head = QRectF(rect.left() + pad, rect.top() + pad, rect.width() - 2 * pad, theme.px(13))
        painter.setFont(small)
        painter.setPen(theme.colour("muted"))
        room_for = head.width() - shape - theme.px(6)
        date = date_of(int(item.loci.said_at[row]))
        if QFontMetricsF(small).horizontalAdvance(date) <= room_for:
            painter.drawText(head, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, date)
        if bool(item.loci.pinned[row]):
            place = QPointF(head.left() + shape + theme.px(8), middle.y())
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.colour("ink"))
            painter.drawEllipse(place, 2.6, 2.6)
        self._paint_text(
            painter, item.ids[row], head.adjusted(0, theme.px(19), 0, rect.height() - 2 * pad - head.height())
        )

    def _paint_text(self, painter: QPainter, memory_id: str, box: QRectF) -> None:
        found = self._head_of(memory_id)
        if found is None:
            return
        font = self._theme.font("small")
        metrics = QFontMetricsF(font)
        high = metrics.height() * 1.08
        most = max(1, int(box.height() / high))
        painter.setFont(font)
        painter.setPen(self._theme.colour("ink"))
        for nr, line in enumerate(self._break_text(memory_id, found.head, font, box.width(), most)):
            at = QRectF(box.left(), box.top() + nr * high, box.width() + 2, high)
            painter.drawText(at, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, line)

    def _break_text(self, memory_id: str, text: str, font: QFont, width: float, most: int) -> tuple[str, ...]:
        key = (memory_id, int(width), most, text)
        if key not in self._lines:
            while len(self._lines) >= _LINES_KEPT:
                self._lines.popitem(last=False)
            self._lines[key] = break_text(one_line(text), font, width, most)
        return self._lines[key]


def break_text(text: str, font: QFont, width: float, most: int) -> tuple[str, ...]:
    """A text in lines of a width; the last one is cut where there is more.

    Args:
        text: one line of plain text.
        font: of all lines.
        width: px.
        most: lines at most.
    """
    layout = QTextLayout(text, font)
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    layout.setTextOption(option)
    found: list[str] = []
    units = text.encode("utf-16-le", "replace")  # Qt counts in units of UTF-16
    layout.beginLayout()
    while len(found) < most:
        line = layout.createLine()
        if not line.isValid():
            break
        line.setLineWidth(width)
        start, end = 2 * line.textStart(), 2 * (line.textStart() + line.textLength())
        is_cut = len(found) == most - 1 and end < len(units)
        shown = (units[start:] if is_cut else units[start:end]).decode("utf-16-le", "replace")
        if is_cut:
            shown = QFontMetricsF(font).elidedText(shown, Qt.TextElideMode.ElideRight, width)
        found.append(shown.strip())
    layout.endLayout()
    return tuple(found)
