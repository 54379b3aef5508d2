"""A room from outside: emblem, name and count, the words of its landmarks in rows, a mark for each other memory.

What is drawn of a room is kept as a picture until something of it changes. Must not do: know the canvas.
"""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, replace

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen, QPixmap

from core.types.views import Landmark, MemoryRow
from ui.pages.palace.items import GREY, KINDS, LocusStyle, RoomItem
from ui.pages.palace.picture.furniture import Furniture, tint_role
from ui.pages.palace.picture.layout import CanvasRoom, DetailLevel
from ui.pages.palace.picture.words import LineBreaks
from ui.theme.theme import Theme
from ui.widgets.labels import speaker_in_talk
from ui.widgets.plaintext import one_line
from ui.widgets.shapes import draw_kind

_SPEAKER_FROM = 130  # px at 100 % of a line in which a name leaves room for words
_MOST_LINES = 4
_LINES_FIRST = 2
"""Lines that the first landmarks get before further ones are shown."""
_FIRST = 3
_LEAST_OPACITY = 0.3
_LEAST_TEXT = 11
"""Height of the smallest letters, px at the usual size of text."""
_LEAST_LETTERS = 8
"""So much is left of a name that is cut at least; else the emblem tells more."""
_LONGEST_NAME = 80
_LONGEST_HEAD = 200
_DOOR_SHARE = 0.68
"""Share of a room's width that the lowest lines of marks may take; then comes the door."""
_LINES_BESIDE_DOOR = 3
_MOST_BYTES = 64 << 20
"""Bytes of the pictures that are kept; those of the last frame are kept even beyond that."""


@dataclass(frozen=True, slots=True)
class LandmarkCard:
    """The words of a landmark, or of another memory that is listed after them.

    Attributes:
        rect: px; on a face from the room's upper left corner, among shapes on the canvas.
    """

    landmark: Landmark
    rect: QRectF
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CardFrame:
    """What a card takes beside its words, px.

    Attributes:
        inset: left of its words.
        right: right of them.
        over: above and below them together.
        gap: between two cards.
        first: how many are shown before any of them gets a second line.
    """

    inset: float
    right: float
    over: float
    gap: float
    first: int = _FIRST


@dataclass(frozen=True, slots=True)
class Composition:
    """What is where in a room seen from outside; px from its upper left corner.

    Attributes:
        emblem: empty where there is no room for it.
        name: lines of its name, the first at `name_at`.
        count: empty where there is no room for it.
        is_whole: whether all of the name is there.
        is_excerpt: whether the words of the landmarks are without cards.
        marks: rows of the memories that have a mark below the cards, as many as fit; `mark_at` their middles.
    """

    emblem: QRectF
    name: tuple[str, ...]
    name_at: QRectF
    name_font: QFont
    count: QRectF
    is_whole: bool
    cards: tuple[LandmarkCard, ...] = ()
    card_font: QFont | None = None
    marks: tuple[int, ...] = ()
    mark_at: tuple[QPointF, ...] = ()
    is_excerpt: bool = False


def share_lines(
    needs: Sequence[int], line: float, frame: float, gap: float, high: float, first: int = _FIRST
) -> list[int]:
    """How many lines each card gets: two for the first few, then further cards, then more lines.

    Args:
        needs: lines that the whole text of each takes, most important first.
        line: px of a line.
        frame: px of a card beside its lines.
        gap: px between two cards.
        high: px for all of them.
        first: how many are shown before any of them gets a second line.

    Returns:
        Lines of those that are shown, at least one each; nothing where not even one line fits.
    """
    found: list[int] = []
    left = high + gap

    def add_cards(most: int) -> None:
        nonlocal left
        while len(found) < most and left >= line + frame + gap:
            found.append(1)
            left -= line + frame + gap

    def add_lines(most: int) -> None:
        nonlocal left
        for at, need in enumerate(needs[: len(found)]):
            while found[at] < min(need, most) and left >= line:
                found[at] += 1
                left -= line

    add_cards(min(first, len(needs)))
    add_lines(_LINES_FIRST)
    add_cards(len(needs))
    add_lines(_MOST_LINES)
    return found


@dataclass(slots=True)
class _Face:
    """What is kept of a room: where things are in it, and its picture or, until that is drawn, an earlier one.

    Attributes:
        concealed: landmarks whose words are not shown.
        earlier: a picture of another size or of what the room was; it shows no word that is concealed now.
    """

    size: QSize
    content: tuple[object, ...]
    concealed: frozenset[str]
    composed: Composition
    picture: QPixmap | None = None
    earlier: QPixmap | None = None

    @property
    def byte_count(self) -> int:
        """Bytes of its pictures."""
        found = (one for one in (self.picture, self.earlier) if one is not None)
        return sum(one.width() * one.height() * one.depth() // 8 for one in found)

    def has_picture(self, size: QSize, content: tuple[object, ...], ratio: float) -> bool:
        """Whether its picture is one of this size, of this content and for this ratio of pixels."""
        is_same = self.size == size and self.content == content
        return is_same and self.picture is not None and self.picture.devicePixelRatioF() == ratio

    def stand_in_for(self, room: RoomItem) -> QPixmap | None:
        """A picture that may be shown of a room until its own is drawn."""
        return (self.picture or self.earlier) if room.concealed <= self.concealed else None


class RoomFaces:
    """Composes, paints and keeps the faces of rooms.

    Attributes:
        is_behind: whether a room was painted as a stand-in, because the time of the frame was over.
    """

    def __init__(
        self, theme: Theme, furniture: Furniture, words: LineBreaks, head_of: Callable[[str], MemoryRow | None]
    ) -> None:
        """Make it.

        Args:
            head_of: gives the light row of a memory, None while it was not read.
        """
        self._theme, self._furniture, self._words, self._head_of = theme, furniture, words, head_of
        self._colours: list[QColor] = []
        self._kept: OrderedDict[str, _Face] = OrderedDict()
        self._shown: set[str] = set()
        self._seconds, self._deadline = math.inf, math.inf
        self._is_drawing = self.is_behind = False

    def begin_frame(self, seconds: float) -> None:
        """Begin a frame in which no face is drawn anew so many seconds after the first one that is.

        One is drawn however late it is, so that the plan is whole after some frames; the rest waits for later ones.
        """
        self._seconds, self._is_drawing, self.is_behind = seconds, False, False
        self._shown.clear()

    def end_frame(self, rooms: Container[str]) -> None:
        """Drop the faces of rooms that are gone, and those not seen for longest where all take too much memory.

        Args:
            rooms: ids of those there are.
        """
        for room_id in [one for one in self._kept if one not in rooms]:
            del self._kept[room_id]
        total = sum(face.byte_count for face in self._kept.values())
        for room_id in [one for one in self._kept if one not in self._shown]:
            if total <= _MOST_BYTES:
                break
            total -= self._kept.pop(room_id).byte_count

    def set_colours(self, colours: Sequence[QColor]) -> None:
        """Draw marks in these colours, by index of shade."""
        self._colours = list(colours)
        self._kept.clear()

    def clear_faces(self) -> None:
        """Drop all of them: the theme is another one, or the plan is not looked at."""
        self._kept.clear()

    def compose(self, room: RoomItem, layout: CanvasRoom, look: LocusStyle) -> Composition:
        """Where everything is in a room seen from outside."""
        return self._face_of(room, layout, look).composed

    def _face_content(self, room: RoomItem, layout: CanvasRoom, look: LocusStyle) -> tuple[object, ...]:
        """What the picture of a room depends on beside its size."""
        read = sum(self._head_of(room.ids[row]) is not None for row in layout.listed_rows(room).tolist())
        return room.version, id(room.plan), look, read

    def _list_memories(self, room: RoomItem, layout: CanvasRoom) -> list[Landmark]:
        """Landmarks, then the other memories that were read."""
        found = list(room.plan.landmarks)
        for row in layout.listed_rows(room).tolist():
            memory = self._head_of(room.ids[row])
            if memory is not None:
                words, speaker = one_line(memory.said or memory.head, _LONGEST_HEAD), speaker_in_talk(memory)
                x, y = float(room.x[row]), float(room.y[row])
                found.append(Landmark(memory.id, words, memory.kind, len(found), x, y, memory.recorded_at, "", speaker))
        return found

    def _face_of(self, room: RoomItem, layout: CanvasRoom, look: LocusStyle) -> _Face:
        room.apply_style(look)
        size = QSize(round(layout.rect.width()), round(layout.rect.height()))
        content, cached = self._face_content(room, layout, look), self._kept.get(room.id)
        if cached is None or cached.size != size or cached.content != content:
            rect = QRectF(0, 0, size.width(), size.height())
            composed = self._compose_landmarks(room, layout, rect) if layout.detail == DetailLevel.LANDMARKS else None
            earlier = None if cached is None else cached.stand_in_for(room)
            composed = composed or self._compose_name(room, rect)
            cached = _Face(size, content, room.concealed, composed, None, earlier)
            self._kept[room.id] = cached
        return cached

    def paint(self, painter: QPainter, room: RoomItem, layout: CanvasRoom, look: LocusStyle) -> None:
        """Paint a room, from what is kept where nothing of it changed."""
        ratio = painter.device().devicePixelRatioF()
        place = QPointF(round(layout.rect.left()), round(layout.rect.top()))
        size = QSize(round(layout.rect.width()), round(layout.rect.height()))
        room.apply_style(look)
        face = self._kept.get(room.id)
        self._shown.add(room.id)
        if face is None or not face.has_picture(size, self._face_content(room, layout, look), ratio):
            if self._is_late():
                self._paint_stand_in(painter, room, QRectF(place, size.toSizeF()))
                return
            face = self._face_of(room, layout, look)
            face.picture, face.earlier = self._render_room(room, layout, face.composed, look, ratio), None
        self._kept.move_to_end(room.id)
        if face.picture is not None:
            painter.drawPixmap(place, face.picture)

    def _is_late(self) -> bool:
        """Whether a face that is to be drawn anew must wait for another frame; the first of a frame never does."""
        now = time.perf_counter()
        if not self._is_drawing:
            self._is_drawing, self._deadline = True, now + self._seconds
            return False
        return now > self._deadline

    def _paint_stand_in(self, painter: QPainter, room: RoomItem, rect: QRectF) -> None:
        """An earlier picture, or the bare room, until there is time for its own."""
        self.is_behind = True
        cached = self._kept.get(room.id)
        picture = None if cached is None else cached.stand_in_for(room)
        if picture is None:
            self._furniture.paint_room(painter, rect, room.plan.furnishing, is_near=False)
            return
        self._kept.move_to_end(room.id)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.drawPixmap(rect, picture, QRectF(picture.rect()))

    # ---- where things are

    def _compose_name(self, room: RoomItem, rect: QRectF) -> Composition:
        """Emblem beside or above the name; the name alone where it would be cut, the emblem where little were left."""
        px, side = self._theme.px, float(self._theme.px(20))
        pad = float(px(8)) if rect.width() >= px(80) else float(px(5))
        upper = max(px(5), min(pad, (rect.height() - side) / 2))
        tried = []
        if rect.width() >= px(96) and rect.height() >= side + 2 * px(5):
            tried.append(self._compose_plate(room, rect, pad, QRectF(pad, upper, side, side), is_beside=True))
        if rect.height() >= side + px(15) + 2 * pad:
            tried.append(self._compose_plate(room, rect, pad, QRectF(pad, pad, side, side), is_beside=False))
        tried.append(self._compose_plate(room, rect, pad, QRectF(), is_beside=False))
        tried.append(self._compose_plate(room, rect, float(px(3)), QRectF(), is_beside=False, size=_LEAST_TEXT))
        found = next((one for one in tried if one.is_whole), None)
        if found is not None:
            return found
        longest = max(tried, key=lambda one: len("".join(one.name)))
        return longest if len("".join(longest.name)) >= _LEAST_LETTERS else self._compose_emblem(rect, longest)

    def _compose_emblem(self, rect: QRectF, cut: Composition) -> Composition:
        """The emblem in the middle of a room that is too small for its name."""
        px = self._theme.px
        side = min(float(px(24)), rect.width() - px(4), rect.height() - px(4))
        emblem = QRectF(0, 0, side, side)
        emblem.moveCenter(rect.center())
        return Composition(emblem, (), QRectF(), cut.name_font, QRectF(), is_whole=False)

    def _compose_plate(
        self, room: RoomItem, rect: QRectF, pad: float, emblem: QRectF, *, is_beside: bool, size: int = 12
    ) -> Composition:
        px, font = self._theme.px, self._theme.font("strong")
        font.setPixelSize(px(size))
        line = QFontMetricsF(font).height()
        left, top = pad, min(pad, (rect.height() - line) / 2)
        if not emblem.isEmpty() and is_beside:
            left, top = emblem.right() + px(7), emblem.center().y() - line / 2
        elif not emblem.isEmpty():
            top = emblem.bottom() + px(4)
        wide = rect.width() - left - pad
        name = one_line(room.plan.name, _LONGEST_NAME)
        most = max(1, min(3, int((rect.height() - top - px(4)) / line)))
        lines = self._words.break_name(name, font, wide, most)
        foot = top + line * max(len(lines), 1)
        count = QRectF(left, foot, wide, px(15)) if lines and foot + px(18) <= rect.height() else QRectF()
        return Composition(emblem, lines, QRectF(left, top, wide, line), font, count, " ".join(lines) == name)

    def _compose_landmarks(self, room: RoomItem, layout: CanvasRoom, rect: QRectF) -> Composition | None:
        """None where not one landmark has room: then the name has all of it."""
        px = self._theme.px
        if rect.width() < px(176) or rect.height() < px(104):
            return self._compose_excerpt(room, rect)
        pad = float(px(14) if rect.width() >= px(200) else px(11))
        name, top = self._compose_head(room, rect, pad)
        marks_high = px(12) if rect.height() >= px(110) else 0
        area = QRectF(pad, top, rect.width() - 2 * pad, rect.height() - top - pad - marks_high)
        font = self._theme.font("small" if rect.width() >= px(210) else "caption")
        memories = self._list_memories(room, layout)
        columns = 2 if area.width() >= px(420) and len(memories) > 2 else 1
        cards = self._compose_cards(
            memories, area, font, CardFrame(float(px(22)), float(px(8)), float(px(8)), 5.0), columns
        )
        marks, mark_at = self._compose_marks(room, cards, rect, pad) if marks_high else ((), ())
        return Composition(
            name.emblem, name.name, name.name_at, name.name_font, name.count, name.is_whole, cards, font, marks, mark_at
        )

    def _compose_head(self, room: RoomItem, rect: QRectF, pad: float) -> tuple[Composition, float]:
        px, theme = self._theme.px, self._theme
        is_large = rect.width() >= px(250) and rect.height() >= px(150)
        font = theme.font("strong")
        font.setPixelSize(px(15 if is_large else 13))
        line = QFontMetricsF(font).height()
        side = float(px(28 if is_large else 22))
        emblem = QRectF(pad, pad * 0.9, side, side)
        left = emblem.right() + px(9 if is_large else 7)
        number = QFontMetricsF(theme.font("number")).horizontalAdvance(f"{room.plan.count:,}")
        wide = rect.width() - left - pad - number - px(8)
        name = one_line(room.plan.name, _LONGEST_NAME)
        most = 2 if rect.height() >= px(130) else 1
        lines, count_wide = self._words.break_name(name, font, wide, most), number + 2
        if " ".join(lines) != name:  # the count gives way before the name is cut
            alone = self._words.break_name(name, font, wide + number + px(8), most)
            lines, count_wide = (alone, 0.0) if " ".join(alone) == name else (lines, count_wide)
        wide = wide if count_wide else wide + number + px(8)
        high = max(side, line * len(lines))
        first = emblem.center().y() - line / 2 if len(lines) < 2 else emblem.top() - px(2)
        place = QRectF(left, first, wide, line)
        count = QRectF(rect.width() - pad - number - 2, first, count_wide, line) if count_wide else QRectF()
        composed = Composition(emblem, lines, place, font, count, " ".join(lines) == name)
        return composed, emblem.top() + high + px(9 if is_large else 7)

    def _compose_excerpt(self, room: RoomItem, rect: QRectF) -> Composition:
        """Name and count, and below them as many words of the landmarks as fit, without cards."""
        px, name = self._theme.px, self._compose_name(room, rect)
        foot = name.name_at.top() + name.name_at.height() * len(name.name)
        foot = max(foot, name.emblem.bottom(), name.count.bottom()) + px(4)
        left = min(name.name_at.left(), float(px(9)))
        area = QRectF(left, foot, rect.width() - 2 * left, rect.height() - foot - px(8))
        font = self._theme.font("caption")
        frame = CardFrame(float(px(8)), 0.0, 0.0, float(px(4)), 1)
        cards = self._compose_cards(room.plan.landmarks, area, font, frame, 1)
        return replace(name, cards=cards, card_font=font, is_excerpt=True)

    def _compose_cards(
        self, memories: Sequence[Landmark], area: QRectF, font: QFont, frame: CardFrame, columns: int
    ) -> tuple[LandmarkCard, ...]:
        found: list[LandmarkCard] = []
        gap, inset, over = frame.gap, frame.inset, frame.over
        line = QFontMetricsF(font).height()
        wide = (area.width() - (columns - 1) * gap) / columns
        for column in range(columns):
            marks = memories[column::columns]
            width = wide - inset - frame.right
            says = [mark.words if width >= self._theme.px(_SPEAKER_FROM) else mark.head for mark in marks]
            needs = [len(self._words.break_lines(text, font, width, _MOST_LINES)) for text in says]
            top = area.top()
            for mark, text, lines in zip(
                marks, says, share_lines(needs, line, over, gap, area.height(), frame.first), strict=False
            ):
                rect = QRectF(area.left() + column * (wide + gap), top, wide, lines * line + over)
                found.append(LandmarkCard(mark, rect, self._words.break_lines(text, font, width, lines)))
                top = rect.bottom() + gap
        return tuple(found)

    def _compose_marks(
        self, room: RoomItem, cards: tuple[LandmarkCard, ...], rect: QRectF, pad: float
    ) -> tuple[tuple[int, ...], tuple[QPointF, ...]]:
        if room.loci is None:
            return (), ()
        step = float(self._theme.px(10))
        shown_rows = {room.row_of(card.landmark.memory_id) for card in cards}
        rows = [int(row) for row in np.lexsort((room.x, room.y)) if room.shown[row] and row not in shown_rows]
        y = rect.height() - pad * 0.6 - self._theme.px(5)
        free = y - max((card.rect.bottom() for card in cards), default=y) - step
        whole = max(1, int((rect.width() - 2 * pad) / step))
        beside_door = max(0, int((rect.width() * _DOOR_SHARE - pad) / step))
        widths, left = [beside_door], len(rows) - beside_door  # from the lowest line up
        while left > 0 and len(widths) * step <= free:
            widths.append(beside_door if len(widths) < _LINES_BESIDE_DOOR else whole)
            left -= widths[-1]
        lines = [(y - step * at, wide) for at, wide in enumerate(widths)]
        places = [QPointF(pad + step * (nr + 0.5) - 2, at) for at, wide in reversed(lines) for nr in range(wide)]
        return tuple(rows[: len(places)]), tuple(places[: len(rows)])

    # ---- paint

    def _render_room(
        self, room: RoomItem, layout: CanvasRoom, composed: Composition, look: LocusStyle, ratio: float
    ) -> QPixmap:
        size = QSize(round(layout.rect.width()), round(layout.rect.height()))
        picture = QPixmap(size * ratio)
        picture.setDevicePixelRatio(ratio)
        picture.fill(Qt.GlobalColor.transparent)
        painter = QPainter(picture)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        is_near = layout.detail >= DetailLevel.LANDMARKS and not composed.is_excerpt
        self._furniture.paint_room(
            painter, QRectF(0, 0, size.width(), size.height()), room.plan.furnishing, is_near=is_near
        )
        self._paint_head(painter, room, composed, look)
        for card in composed.cards:
            if composed.is_excerpt:
                self._paint_excerpt(painter, room, card)
            else:
                self._paint_card(painter, room, card, composed.card_font or painter.font())
        for row, place in zip(composed.marks, composed.mark_at, strict=True):
            painter.setOpacity(float(room.opacity[row]) * (0.45 if room.ground[row] else 1.0))
            self._paint_shape(painter, room, row, place, self._theme.px(6))
        painter.end()
        return picture

    def _paint_head(self, painter: QPainter, room: RoomItem, composed: Composition, look: LocusStyle) -> None:
        theme = self._theme
        if not composed.emblem.isEmpty():
            self._furniture.paint_emblem(painter, composed.emblem, room.plan.furnishing)
        painter.setFont(composed.name_font)
        painter.setPen(theme.colour("ink"))
        place = QRectF(composed.name_at)
        for line in composed.name:
            painter.drawText(place.adjusted(0, 0, 6, 0), Qt.AlignmentFlag.AlignVCenter, line)
            place.translate(0, place.height())
        if not composed.count.isEmpty():
            left = composed.card_font is None or composed.is_excerpt
            painter.setFont(theme.font("caption" if left else "number"))
            painter.setPen(theme.colour("muted"))
            side = Qt.AlignmentFlag.AlignLeft if left else Qt.AlignmentFlag.AlignRight
            painter.drawText(composed.count, Qt.AlignmentFlag.AlignVCenter | side, f"{room.count_shown(look):,}")

    def _paint_card(self, painter: QPainter, room: RoomItem, card: LandmarkCard, font: QFont) -> None:
        row = room.row_of(card.landmark.memory_id)
        is_known = row >= 0 and len(room.opacity) > row
        opacity = max(float(room.opacity[row]), _LEAST_OPACITY) if is_known else 1.0
        if is_known and room.pending[row]:
            paint_empty_place(painter, self._theme, card.rect)
            return
        if is_known and row not in room.landmarks:
            paint_memory(painter, self._theme, card.rect)
        else:
            paint_landmark(painter, self._theme, card.rect, room)
        painter.setOpacity(opacity)
        px = self._theme.px
        line = QFontMetricsF(font).height()
        middle = QPointF(card.rect.left() + px(13), card.rect.top() + px(4) + line / 2)
        if is_known:
            self._paint_shape(painter, room, row, middle, px(7))
        else:
            draw_kind(painter, card.landmark.kind, middle, px(7), self._theme.colour("muted"))
        shown = QFont(font)
        shown.setStrikeOut(is_known and bool(room.replaced[row]))
        painter.setFont(shown)
        painter.setPen(self._theme.colour("ink"))
        place = QRectF(card.rect.left() + px(22), card.rect.top() + px(4), card.rect.width(), line)
        for text in card.lines:
            painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, text)
            place.translate(0, line)
        painter.setOpacity(1.0)

    def _paint_excerpt(self, painter: QPainter, room: RoomItem, card: LandmarkCard) -> None:
        """The words of a landmark beside a line of the room's tint."""
        row, theme, font = room.row_of(card.landmark.memory_id), self._theme, self._theme.font("caption")
        is_known = row >= 0 and len(room.opacity) > row
        if is_known and room.pending[row]:
            return
        painter.setOpacity(max(float(room.opacity[row]), _LEAST_OPACITY) if is_known else 1.0)
        tint = theme.colour(tint_role(room.plan.furnishing))
        painter.fillRect(QRectF(card.rect.left(), card.rect.top() + 2, 2, card.rect.height() - 4), tint)
        font.setStrikeOut(is_known and bool(room.replaced[row]))
        painter.setFont(font)
        painter.setPen(theme.colour("muted"))
        line = QFontMetricsF(font).height()
        place = QRectF(card.rect.left() + theme.px(8), card.rect.top(), card.rect.width(), line)
        for text in card.lines:
            painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, text)
            place.translate(0, line)
        painter.setOpacity(1.0)

    def _paint_shape(self, painter: QPainter, room: RoomItem, row: int, place: QPointF, size: float) -> None:
        shade = int(room.shade[row]) if len(room.shade) > row else GREY
        draw_kind(painter, KINDS[int(room.kind[row])], place, size, self._colours[shade])


def paint_empty_place(painter: QPainter, theme: Theme, rect: QRectF) -> None:
    """Paint the place of a memory that comes later than the time that is looked at."""
    colour = theme.colour("outline")
    colour.setAlphaF(0.6)
    painter.setPen(QPen(colour, 1.0, Qt.PenStyle.DotLine))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), 5, 5)


def paint_memory(painter: QPainter, theme: Theme, rect: QRectF) -> None:
    """Paint the card of a memory without its words."""
    painter.setPen(QPen(theme.colour("line"), 1.0))
    painter.setBrush(theme.colour("surface"))
    painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), 5, 5)


def paint_landmark(painter: QPainter, theme: Theme, rect: QRectF, room: RoomItem) -> None:
    """Paint the card of a landmark without its words: a surface with a line of the room's tint at its left."""
    paint_memory(painter, theme, rect)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.colour(tint_role(room.plan.furnishing)))
    painter.drawRoundedRect(QRectF(rect.left() + 1, rect.top() + 3, 3, rect.height() - 6), 1.5, 1.5)
