"""A room from within: a memory is a card in its place, or a shape where there is no room for words; its alcoves.

Must not do: know the canvas, ask the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen

from core.types.views import Alcove, MemoryRow
from ui.pages.palace.items import KINDS, LocusStyle, RoomItem
from ui.pages.palace.picture.furniture import Furniture, tint_role
from ui.pages.palace.picture.layout import CanvasRoom, DetailLevel
from ui.pages.palace.picture.room_face import LandmarkCard, paint_empty_place, paint_landmark, paint_memory
from ui.pages.palace.picture.words import LineBreaks
from ui.theme.theme import Theme
from ui.theme.tokens import spacing
from ui.widgets.labels import KIND_WORDS, date_of, speaker_in_talk
from ui.widgets.plaintext import one_line
from ui.widgets.shapes import draw_kind

_LEAST_OPACITY = 0.35
_LONGEST_NAME = 80
_SPEAKER_FROM = 150  # px at 100 % of a card on which a name leaves room for words
_NUDGES = ((0, 0), (0, -1), (0, 1), (-0.6, 0), (0.6, 0), (-0.6, -1), (0.6, 1), (0, -2), (0, 2))
"""Where a label may be instead, in its own widths and heights."""


def _nudge_label(rect: QRectF, bounds: QRectF) -> Iterator[QRectF]:
    """Where a label may be that lies in its bounds as a whole, its own place first."""
    for across, down in _NUDGES if bounds.height() >= rect.height() else ():
        moved = rect.translated(across * (rect.width() + 6), down * (rect.height() + 6))
        moved.moveLeft(min(max(moved.left(), bounds.left()), bounds.right() - rect.width()))
        moved.moveTop(min(max(moved.top(), bounds.top()), bounds.bottom() - rect.height()))
        yield moved


def _count_inside(rect: QRectF, points: NDArray[np.float64]) -> int:
    """How many points, (n, 2), a rectangle covers."""
    x, y = points[:, 0], points[:, 1]
    across = (x > rect.left()) & (x < rect.right())
    return int((across & (y > rect.top()) & (y < rect.bottom())).sum())


class RoomInterior:
    """Paints what is in rooms one looks into."""

    def __init__(
        self, theme: Theme, furniture: Furniture, words: LineBreaks, head_of: Callable[[str], MemoryRow | None]
    ) -> None:
        """Make it.

        Args:
            head_of: gives the light row of a memory, None while it was not read.
        """
        self._theme, self._furniture, self._words, self._head_of = theme, furniture, words, head_of
        self._colours: list[QColor] = []

    def set_colours(self, colours: Sequence[QColor]) -> None:
        """Draw shapes in these colours, by index of shade."""
        self._colours = list(colours)

    def paint_ground(self, painter: QPainter, room: RoomItem, layout: CanvasRoom, look: LocusStyle) -> None:
        """Paint the room with its name and its alcoves, without what is in it."""
        self._furniture.paint_room(painter, layout.rect, room.plan.furnishing, is_near=True)
        theme, px, band = self._theme, self._theme.px, layout.band
        side = min(float(px(30)), band.height() - px(12))
        pad = max(layout.inside.left() - layout.rect.left(), float(px(10)))
        emblem = QRectF(band.left() + pad, band.center().y() - side / 2 + 1, side, side)
        self._furniture.paint_emblem(painter, emblem, room.plan.furnishing)
        font = self.name_font(layout)
        number = theme.font("number")
        count = f"{room.count_shown(look):,}"
        wide = QFontMetricsF(number).horizontalAdvance(count)
        line = QRectF(emblem.right() + px(10), band.top(), band.right() - emblem.right() - pad - px(10), band.height())
        painter.setFont(font)
        painter.setPen(theme.colour("ink"))
        vertical = Qt.AlignmentFlag.AlignVCenter
        for name in self._words.break_name(room.plan.name, font, line.width() - wide - px(12)):
            painter.drawText(line, vertical, name)
        painter.setFont(number)
        painter.setPen(theme.colour("muted"))
        painter.drawText(line, vertical | Qt.AlignmentFlag.AlignRight, count)
        for alcove in room.plan.alcoves:
            self._paint_alcove(painter, room, layout, alcove)

    def name_font(self, layout: CanvasRoom) -> QFont:
        """The font of a room's name over its places."""
        font = self._theme.font("strong")
        font.setPixelSize(int(min(max(layout.band.height() * 0.32, self._theme.px(14)), self._theme.px(18))))
        return font

    def is_name_whole(self, room: RoomItem, layout: CanvasRoom) -> bool:
        """Whether all of a room's name is shown over its places."""
        name = one_line(room.plan.name, _LONGEST_NAME)
        width = layout.band.width() - self._theme.px(110)
        return QFontMetricsF(self.name_font(layout)).horizontalAdvance(name) <= width

    def _alcove_name(self, layout: CanvasRoom, alcove: Alcove) -> tuple[QRectF, tuple[str, ...]]:
        """Where an alcove's name is on the canvas, and what of it fits."""
        area = layout.area_at(alcove.x, alcove.y, alcove.w, alcove.h)
        font = self._theme.font("label")
        high = QFontMetricsF(font).height()
        lines = self._words.break_name(alcove.name, font, area.width() - self._theme.px(16))
        wide = QFontMetricsF(font).horizontalAdvance(lines[0]) if lines else 0.0
        top = area.top() + max(min((layout.unit_y - high) / 2, float(self._theme.px(14))), -3.0)
        return QRectF(area.left() + self._theme.px(6), top, wide + 2, high), lines

    def alcove_names(self, room: RoomItem, layout: CanvasRoom) -> list[QRectF]:
        """Where the names of a room's alcoves are on the canvas."""
        return [self._alcove_name(layout, alcove)[0] for alcove in room.plan.alcoves]

    def _alcove_heads(self, room: RoomItem, layout: CanvasRoom) -> list[QRectF]:
        """The lines of a room's alcoves in which their names stand, from wall to wall."""
        found = []
        for alcove, name in zip(room.plan.alcoves, self.alcove_names(room, layout), strict=True):
            area = layout.area_at(alcove.x, alcove.y, alcove.w, alcove.h)
            found.append(QRectF(area.left(), name.top(), area.width(), name.height()))
        return found

    def _bounds_at(self, room: RoomItem, layout: CanvasRoom, x: float, y: float) -> QRectF:
        """The part of the room in which the words of a memory may stand: its alcove below the name.

        Args:
            x: where it stands inside the room, plan units; `y` likewise.
        """
        for alcove, head in zip(room.plan.alcoves, self._alcove_heads(room, layout), strict=True):
            if alcove.x <= x < alcove.x + alcove.w and alcove.y <= y < alcove.y + alcove.h:
                area = layout.area_at(alcove.x, alcove.y, alcove.w, alcove.h)
                area.setTop(head.bottom())
                return area.adjusted(spacing().xs, spacing().xs, -spacing().xs, 0)
        return layout.inside

    def _paint_alcove(self, painter: QPainter, room: RoomItem, layout: CanvasRoom, alcove: Alcove) -> None:
        area = layout.area_at(alcove.x, alcove.y, alcove.w, alcove.h)
        place, lines = self._alcove_name(layout, alcove)
        colour = self._theme.colour(tint_role(room.plan.furnishing))
        hair = QColor(colour)
        hair.setAlphaF(0.4)
        painter.setPen(QPen(hair, 1.0))
        y = round(place.center().y()) + 0.5
        if lines:
            painter.drawLine(QPointF(place.right() + 6, y), QPointF(area.right() - 4, y))
            painter.setFont(self._theme.font("label"))
            painter.setPen(colour)
            painter.drawText(place.adjusted(0, 0, 6, 0), Qt.AlignmentFlag.AlignVCenter, lines[0])
        else:
            painter.drawLine(QPointF(area.left() + 4, y), QPointF(area.right() - 4, y))

    # ---- cards

    def paint_cards(self, painter: QPainter, room: RoomItem, layout: CanvasRoom, rows: NDArray[np.int64]) -> None:
        """Paint some memories of a room as cards in their places."""
        for row in rows:
            at = int(row)
            rect = self.card_rect(room, layout, at)
            painter.setOpacity(max(float(room.opacity[at]), _LEAST_OPACITY))
            if room.pending[at]:
                paint_empty_place(painter, self._theme, rect)
            elif room.ground[at] and at not in room.landmarks:
                self._paint_small_talk(painter, room, at, rect)
            else:
                self._paint_card(painter, room, at, rect)
        painter.setOpacity(1.0)

    def card_rect(self, room: RoomItem, layout: CanvasRoom, row: int) -> QRectF:
        """The card of a memory on the canvas."""
        across, down = room.card_places()[row].tolist()
        slot = layout.slot_at(float(room.x[row]), float(room.y[row]))
        slot.setSize(QSizeF(slot.width() * across, slot.height() * down))
        gap_x, gap_y = min(4.0, slot.width() * 0.02), min(4.0, slot.height() * 0.06)
        inner = slot.adjusted(gap_x, gap_y, -gap_x, -gap_y)
        return QRectF(round(inner.left()), round(inner.top()), round(inner.width()), round(inner.height()))

    def _paint_small_talk(self, painter: QPainter, room: RoomItem, row: int, rect: QRectF) -> None:
        px, font = self._theme.px, self._theme.font("caption")
        line = QFontMetricsF(font).height()
        high = min(2, int(rect.height() / line)) * line
        box = QRectF(rect.left() + px(18), rect.center().y() - high / 2, rect.width() - px(22), high)
        painter.save()
        painter.setOpacity(painter.opacity() * 0.5)
        draw_kind(
            painter, KINDS[int(room.kind[row])], QPointF(rect.left() + px(9), box.top() + line / 2), px(6),
            self._colours[int(room.shade[row])],
        )  # fmt: skip
        painter.restore()
        text = self._text_of(room, row, has_speaker=rect.width() >= px(_SPEAKER_FROM))
        self._paint_lines(painter, text, font, box, "muted", is_struck=bool(room.replaced[row]))

    def _paint_card(self, painter: QPainter, room: RoomItem, row: int, rect: QRectF) -> None:
        theme, px, high = self._theme, self._theme.px, rect.height()
        if row in room.landmarks:
            paint_landmark(painter, theme, rect, room)
        else:
            paint_memory(painter, theme, rect)
        font = self._card_font(high)
        pad = float(px(12 if high >= px(120) else 8))
        line = QFontMetricsF(font).height()
        is_struck = bool(room.replaced[row])
        if high < px(56):
            most = max(1, int((high - 2) / line))  # whole lines: of half of one nobody reads anything
            box = QRectF(rect.left() + px(25), rect.center().y() - most * line / 2, rect.width() - px(31), most * line)
            self._paint_shape(painter, room, row, QPointF(rect.left() + px(14), box.top() + line / 2))
            text = self._text_of(room, row, has_speaker=rect.width() >= px(_SPEAKER_FROM))
            self._paint_lines(painter, text, font, box, "ink", is_struck=is_struck)
            return
        foot = QRectF(rect.left() + pad + 3, rect.bottom() - pad - px(12), rect.width() - 2 * pad - 3, px(13))
        if row in room.landmarks:
            font.setWeight(QFont.Weight.Medium)
        self._paint_foot(painter, room, row, foot)
        box = QRectF(foot.left(), rect.top() + pad * 0.8, foot.width(), foot.top() - rect.top() - pad * 1.1)
        text = self._text_of(room, row, has_speaker=False)
        self._paint_lines(painter, text, font, box, "ink", is_struck=is_struck)

    def _card_font(self, high: float) -> QFont:
        """Larger on a card that is nearer."""
        px = self._theme.px
        font = self._theme.font("body" if high >= px(92) else "small" if high >= px(58) else "caption")
        if high >= px(120):
            font.setPixelSize(px(15))
        return font

    def _paint_foot(self, painter: QPainter, room: RoomItem, row: int, foot: QRectF) -> None:
        """Who said it or its kind, the date, and whether it is pinned."""
        theme, px = self._theme, self._theme.px
        small = theme.font("caption")
        kind = KINDS[int(room.kind[row])]
        self._paint_shape(painter, room, row, QPointF(foot.left() + px(4), foot.center().y()))
        if room.loci is None:
            return
        words = date_of(int(room.loci.said_at[row]))
        memory = self._head_of(room.ids[row])
        speaker = "" if memory is None else speaker_in_talk(memory)
        if speaker or foot.width() >= px(170):
            words = f"{speaker or KIND_WORDS[kind]} · {words}"
        painter.setFont(small)
        painter.setPen(theme.colour("muted"))
        box = foot.adjusted(px(14), 0, 0, 0)
        if QFontMetricsF(small).horizontalAdvance(words) <= box.width():
            painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, words)
        if bool(room.loci.pinned[row]):
            side = px(12)
            pin = theme.emblem("pin", side, "muted", painter.device().devicePixelRatioF())
            painter.drawPixmap(QPointF(foot.right() - side, foot.center().y() - side / 2), pin)

    def _paint_shape(self, painter: QPainter, room: RoomItem, row: int, middle: QPointF) -> None:
        draw_kind(painter, KINDS[int(room.kind[row])], middle, self._theme.px(8), self._colours[int(room.shade[row])])

    def _text_of(self, room: RoomItem, row: int, *, has_speaker: bool = True) -> str:
        """What a card says.

        Args:
            has_speaker: whether it begins with who said it, where the card says that nowhere else.
        """
        memory = self._head_of(room.ids[row])
        if memory is not None:
            speaker = speaker_in_talk(memory) if has_speaker else ""
            words = memory.said or memory.head
            return f"{speaker}: {words}" if speaker else words
        at = room.landmarks.get(row)
        found = next((mark for mark in room.plan.landmarks if mark.position == at), None)
        return "" if found is None else found.words if has_speaker else found.head

    def _paint_lines(
        self, painter: QPainter, text: str, font: QFont, box: QRectF, role: str, *, is_struck: bool
    ) -> None:
        line = QFontMetricsF(font).height()
        most = max(1, int((box.height() + 2) / line))
        shown = QFont(font)
        shown.setStrikeOut(is_struck)
        painter.setFont(shown)
        painter.setPen(self._theme.colour(role))
        place = QRectF(box.left(), box.top(), box.width() + 4, line)
        for words in self._words.break_lines(text, font, box.width(), most):
            painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, words)
            place.translate(0, line)

    # ---- labels of landmarks that are shapes

    def labels_of(self, room: RoomItem, layout: CanvasRoom) -> tuple[LandmarkCard, ...]:
        """The words of a room's landmarks that have no card; what finds no room gives way."""
        if layout.detail != DetailLevel.SHAPES:
            return ()
        px, font = self._theme.px, self._theme.font("small")
        line, inside = QFontMetricsF(font).height(), layout.inside
        readable = layout.readable_rows(room)
        taken = self._alcove_heads(room, layout)
        taken += [self.card_rect(room, layout, int(row)) for row in readable]
        has_card = set(readable.tolist())
        shapes = layout.points_at(*(np.delete(one, readable) for one in (room.x, room.y)))
        found: list[LandmarkCard] = []
        for mark in room.plan.landmarks:
            row = room.row_of(mark.memory_id)
            if row in has_card:
                continue
            x, y = (float(room.x[row]), float(room.y[row])) if row >= 0 else (mark.x, mark.y)
            bounds = self._bounds_at(room, layout, x, y)
            wide = min(float(px(220)), inside.width() * 0.4, bounds.width())
            lines = self._words.break_lines(mark.words, font, wide - px(20), 2)
            rect = QRectF(0, 0, wide, line * len(lines) + px(8))
            rect.moveCenter(layout.point_at(x, y))
            tried = [one for one in _nudge_label(rect, bounds) if not any(one.intersects(other) for other in taken)]
            if tried:
                best = min(tried, key=lambda one: _count_inside(one, shapes))
                taken.append(best.adjusted(-3, -3, 3, 3))
                found.append(LandmarkCard(mark, best, lines))
        return tuple(found)

    def paint_label(self, painter: QPainter, room: RoomItem, label: LandmarkCard) -> None:
        """Paint the words of a landmark among shapes."""
        px, font = self._theme.px, self._theme.font("small")
        row = room.row_of(label.landmark.memory_id)
        paint_landmark(painter, self._theme, label.rect, room)
        is_known = row >= 0 and len(room.opacity) > row
        painter.setOpacity(max(float(room.opacity[row]), _LEAST_OPACITY) if is_known else 1.0)
        box = label.rect.adjusted(px(12), px(4), -px(4), 0)
        text = "" if is_known and room.pending[row] else label.landmark.words
        words = QRectF(box.left(), box.top(), label.rect.width() - px(20), box.height() - px(4))
        is_struck = is_known and bool(room.replaced[row])
        self._paint_lines(painter, text, font, words, "ink", is_struck=is_struck)
        painter.setOpacity(1.0)
