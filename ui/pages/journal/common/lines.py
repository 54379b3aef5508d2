"""Lines of the lifecycle: what stands in a line, and how it is drawn.

Must not do: ask the engine, or know what a line is for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import (
    QModelIndex,
    QPersistentModelIndex,
    QPointF,
    QRect,
    QRectF,
    QSize,
    Qt,
)
from PySide6.QtGui import QFontMetrics, QPainter, QPen
from PySide6.QtWidgets import QListView, QStyle, QStyleOptionViewItem

from core.types.values import Kind
from ui.lists.line_model import LINE, Heading
from ui.lists.line_painter import PAD, LinePainter
from ui.lists.row_text import line_height, wrapped
from ui.theme.theme import Theme
from ui.widgets.shapes import KIND_TOKENS, draw_kind

NARROW = 560
"""Pixels of a list, at 100 %, under which what a line is stands before its note and not in a column."""
_ICON, _WORD, _SHAPE, _GAP = 16, 84, 18, 12
_UPRIGHT, _HEADING, _FIRST, _BAR = 7, 40, 30, 4
_MIDDLE = Qt.AlignmentFlag.AlignVCenter
_LEFT, _RIGHT = Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignRight
_Index = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True, slots=True)
class Entry:
    """A line.

    Attributes:
        id: unique within the list.
        head: its text, made visible, on one line or wrapped.
        note: under it, in small letters; `beside` under that.
        icon: name of an icon; "" for the shape of `kind` in its place.
        ink: token of the icon's colour.
        word: what it is, in a word beside its icon; "" for none.
        kind: of the memory it is about; its shape stands before the head where there is a word too.
        aside: at its right end, in figures; `aside_note` under that.
        lines: how many the head may take; a list of one-line heads is laid out without measuring each.
        is_struck: whether it is taken back.
        progress: 0 to 1 for a bar under the note; -1 for one whose end nobody knows; None for none.
        value: what it stands for.
        second: another text of the same weight under the head, such as the other one of a pair; "" for none.
    """

    id: str
    head: str
    note: str = ""
    beside: str = ""
    icon: str = ""
    ink: str = "muted"
    word: str = ""
    kind: Kind | None = None
    aside: str = ""
    aside_note: str = ""
    lines: int = 1
    is_struck: bool = False
    progress: float | None = None
    value: Any = None
    second: str = ""

    @property
    def told(self) -> str:
        """All of it, for those who hear it."""
        parts = (self.word, self.head, self.second, self.note, self.beside, self.aside, self.aside_note)
        return ". ".join(part.rstrip(".") for part in parts if part)


Line = Entry | Heading


class EntryPainter(LinePainter):
    """Draws lines.

    Attributes:
        has_words: asks whether any line of the list has a word beside its icon.
    """

    below_heading = 7

    def __init__(self, theme: Theme, view: QListView) -> None:
        super().__init__(theme, view)
        self.has_words: Callable[[], bool] = lambda: False

    # ---- sizes

    @property
    def is_narrow(self) -> bool:
        """Whether there is no room for a column of words."""
        return self._view.viewport().width() < self._theme.px(NARROW)

    def _left(self) -> int:
        """Where texts begin."""
        px = self._theme.px
        left = px(PAD + _ICON + _GAP)
        return left + px(_WORD) if self.has_words() and not self.is_narrow else left

    def _room(self, entry: Entry, width: int) -> int:
        """Pixels a text has."""
        px = self._theme.px
        shape = px(_SHAPE) if entry.kind is not None and entry.icon else 0
        aside = 0 if self.is_narrow else self._aside_width(entry)
        return max(60, width - self._left() - shape - aside - px(PAD))

    def _aside_width(self, entry: Entry) -> int:
        """Pixels that what stands at the right end takes, with the gap before it; 0 for nothing."""
        if not entry.aside:
            return 0
        number, small = QFontMetrics(self._theme.font("number")), QFontMetrics(self._theme.font("small"))
        wide = max(number.horizontalAdvance(entry.aside), small.horizontalAdvance(entry.aside_note))
        return wide + 2 + self._theme.px(_GAP)

    def _notes(self, entry: Entry) -> list[str]:
        """The small lines under the head; where it is narrow, what stood in columns is among them."""
        note = entry.note
        if self.is_narrow:
            is_figure = entry.aside[:1].isdigit()
            aside = (f"{entry.aside_note} {entry.aside}".strip(),) if is_figure else (entry.aside, entry.aside_note)
            note = " · ".join(part.rstrip(".") for part in (entry.word, *aside, note) if part)
        return [line for line in (note, entry.beside) if line]

    def sizeHint(self, _option: QStyleOptionViewItem, index: _Index) -> QSize:  # noqa: N802 - Qt's name
        """As high as a line's words need."""
        line, px, width = index.data(LINE), self._theme.px, self._view.viewport().width()
        if isinstance(line, Heading):
            return QSize(100, px(_HEADING if index.row() else _FIRST))
        head, small = self._fonts()
        lines = 1 if line.lines == 1 else len(wrapped(line.head, head, self._room(line, width), line.lines))
        bar = 0 if line.progress is None else px(_BAR + 4)
        lines += bool(line.second)
        high = lines * line_height(head) + len(self._notes(line)) * line_height(small) + bar
        return QSize(100, high + px(_UPRIGHT * 2))

    # ---- painting

    def _ground(self, painter: QPainter, option: QStyleOptionViewItem, place: int) -> None:
        colour, rect = self._theme.colour, QRect(option.rect)
        is_chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        if is_chosen or place == self.hovered:
            painter.fillRect(rect, colour("selection" if is_chosen else "raised"))
        painter.fillRect(QRect(rect.left(), rect.bottom(), rect.width(), 1), colour("line"))
        if is_chosen:  # a bar beside the colour
            painter.fillRect(QRect(rect.left(), rect.top(), 3, rect.height() - 1), colour("accent"))
        if place == self._view.currentIndex().row() and self._view.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(colour("focus"), 2))
            painter.drawRect(rect.adjusted(1, 1, -1, -2))

    def _row(self, painter: QPainter, rect: QRect, row: Entry) -> None:
        theme, px = self._theme, self._theme.px
        head, small = self._fonts()
        head.setStrikeOut(row.is_struck)
        top = rect.top() + px(_UPRIGHT)
        self._mark(painter, rect, top, row)
        left, room = rect.left() + self._left(), self._room(row, rect.width())
        if row.kind is not None and row.icon:
            centre = QPointF(left + px(5), top + line_height(head) / 2)
            draw_kind(painter, row.kind, centre, px(9), theme.colour(KIND_TOKENS[row.kind]))
            left += px(_SHAPE)
        at = QRect(left, top, room, line_height(head))
        second = [row.second] if row.second else []
        for words in (*wrapped(row.head, head, room, row.lines), *second):
            self._write(painter, at, words, "muted" if row.is_struck else "ink", head, _LEFT | _MIDDLE)
            at.translate(0, line_height(head))
        at.setHeight(line_height(small))
        for note in self._notes(row):
            self._write(painter, at, note, "muted", small, _LEFT | _MIDDLE)
            at.translate(0, line_height(small))
        if row.progress is not None:
            self._bar(painter, QRectF(left, at.top() + px(3), room, px(_BAR)), row.progress)
        if row.aside and not self.is_narrow:
            self._aside(painter, rect, top, row)

    def _mark(self, painter: QPainter, rect: QRect, top: int, entry: Entry) -> None:
        """The icon with its word; without an icon, the shape of the kind."""
        theme, px = self._theme, self._theme.px
        head, small = self._fonts()
        place = QRect(rect.left() + px(PAD), top + (line_height(head) - px(_ICON)) // 2, px(_ICON), px(_ICON))
        if entry.icon:
            theme.icon(entry.icon, entry.ink).paint(painter, place)
        elif entry.kind is not None:
            centre = QPointF(place.center().x() + 0.5, place.center().y() + 0.5)
            draw_kind(painter, entry.kind, centre, px(11), theme.colour(KIND_TOKENS[entry.kind]))
        if entry.word and not self.is_narrow:
            at = QRect(place.right() + px(8), top, px(_WORD - 6), line_height(head))
            self._write(painter, at, entry.word, "muted", small, _LEFT | _MIDDLE)

    def _aside(self, painter: QPainter, rect: QRect, top: int, entry: Entry) -> None:
        px = self._theme.px
        head, small = self._fonts()
        wide = self._aside_width(entry)
        at = QRect(rect.right() - px(PAD) - wide, top, wide, line_height(head))
        self._write(painter, at, entry.aside, "muted", self._theme.font("number"), _RIGHT | _MIDDLE)
        at = QRect(at.left(), at.bottom() + 1, at.width(), line_height(small))
        self._write(painter, at, entry.aside_note, "muted", small, _RIGHT | _MIDDLE)

    def _bar(self, painter: QPainter, rect: QRectF, progress: float) -> None:
        """How far something is; where nobody knows, dots."""
        colour = self._theme.colour
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour("line"))
        painter.drawRoundedRect(rect, 2, 2)
        painter.setBrush(colour("accent"))
        if progress >= 0:
            done = QRectF(rect.left(), rect.top(), rect.width() * min(1.0, progress), rect.height())
            painter.drawRoundedRect(done, 2, 2)
        else:
            side = rect.height()
            for nr in range(3):
                painter.drawEllipse(QRectF(rect.left() + nr * 3 * side, rect.top(), side, side))
