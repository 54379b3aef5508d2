"""The line of a topic as a list: its start, what was added, confirmed and corrected, old words beside the new.

Must not do: ask the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, QPointF, QRect, QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QPen
from PySide6.QtWidgets import QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from core.types.views import Evolution, TopicEvent, Transition
from ui.lists.row_text import wrapped
from ui.pages.timeline.moment_list import write
from ui.pages.timeline.words import gap_words, sentences, when_of, who_of
from ui.theme.theme import Theme
from ui.theme.tokens import FontRole
from ui.widgets.plaintext import one_line
from ui.widgets.words import date_of, said_or_noted

EVENT = Qt.ItemDataRole.UserRole
"""Role of a line's `TopicEvent`."""

MOST_LINES = 3
TOKENS: Mapping[Transition, str] = {
    Transition.START: "accent",
    Transition.ADDITION: "muted",
    Transition.REINFORCEMENT: "success",
    Transition.CORRECTION: "danger",
}
# Of a sign, in halves of its side.
_STROKES: Mapping[Transition, tuple[tuple[tuple[float, float], ...], ...]] = {
    Transition.ADDITION: (((-0.62, 0), (0.62, 0)), ((0, -0.62), (0, 0.62))),
    Transition.REINFORCEMENT: (((-0.62, 0), (-0.12, 0.45), (0.62, -0.45)),),
}
_DIAMOND = ((0, -1), (1, 0), (0, 1), (-1, 0))
_AXIS, _PAD, _GAP, _NEAR, _SIGN = 26, 52, 28, 4, 15
_SAID_MS, _LONG_MS = 12 * 3_600_000, 60 * 86_400_000
_Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()
_MIDDLE = Qt.AlignmentFlag.AlignVCenter


class EventModel(QAbstractListModel):
    """The events of a topic, oldest first."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.events: tuple[TopicEvent, ...] = ()

    def rowCount(self, parent: _Index = _NOWHERE) -> int:  # noqa: N802 - Qt's name
        """How many."""
        return 0 if parent.isValid() else len(self.events)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """An event, or its words."""
        if not index.isValid() or index.row() >= len(self.events):
            return None
        event = self.events[index.row()]
        if role == EVENT:
            return event
        return told(event) if role in {Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole} else None

    def show_line(self, line: Evolution | None) -> None:
        """Show another topic's line; None for none."""
        self.beginResetModel()
        self.events = () if line is None else line.events
        self.endResetModel()


def told(event: TopicEvent) -> str:
    """An event in one sentence, for those who do not see the line."""
    gap = "" if event.gap_ms is None else f", {gap_words(event.gap_ms)}"
    parts = [f"{title_of(event)}, {day_of(event)}{gap}: {one_line(event.row.head)}", *notes_of(event)]
    return ". ".join(parts)


def title_of(event: TopicEvent) -> str:
    """What it is: `It begins`, `Added`, `Confirmed`, `Corrected`."""
    return str(sentences()["transitions"][event.transition.value]["title"])


def day_of(event: TopicEvent) -> str:
    """When it was said, as exactly as it is known; else `noted` and when it was learned."""
    if event.at != when_of(event.row):
        return date_of(event.at)  # of the first of those that went into it
    return said_or_noted(event.row.occurred, event.at)


def notes_of(event: TopicEvent) -> tuple[str, ...]:
    """What stands in small letters below an event."""
    notes = []
    if event.about is not None:
        verb = "instead of" if event.transition is Transition.CORRECTION else "as was said"
        notes.append(f"{verb} ({date_of(when_of(event.about))}): {one_line(event.about.head, 160)}")
    if event.until is not None:
        notes.append(f"stood until {date_of(event.until)}")
    if event.wordings:
        notes.append(f"before: {'; '.join(one_line(old.head, 160) for old in event.wordings)}")
    return tuple(notes)


def _whole(event: TopicEvent) -> str:
    return one_line(event.row.head) + ("…" if event.row.is_cut else "")


def _gap_of(event: TopicEvent) -> str:
    """How much later than the one before; "" where it was the same day or so: messages of one talk stand together."""
    return "" if event.gap_ms is None or event.gap_ms < _SAID_MS else gap_words(event.gap_ms)


def _foot(event: TopicEvent) -> str:
    parts = [who_of(event.row), one_line(event.row.space, 40)]
    if event.versions > 1:
        parts.append(f"version {event.version} of {event.versions}")
    if event.until is not None:
        parts.append(f"stood until {date_of(event.until)}")
    return " · ".join(parts)


class EventPainter(QStyledItemDelegate):
    """Draws an event.

    Attributes:
        hovered: the line under the pointer; -1 for none.
        has_keyboard, width: ask the list.
    """

    def __init__(self, theme: Theme, parent: QObject) -> None:
        super().__init__(parent)
        self._theme = theme
        self.hovered = -1
        self.has_keyboard: Callable[[], bool] = lambda: False
        self.width: Callable[[], int] = lambda: 600

    # ---- measures

    def _line(self, role: FontRole) -> int:
        return round(QFontMetrics(self._theme.font(role)).height() * 1.15)

    def _inside(self) -> int:
        return self.width() - self._theme.px(_PAD) - self._theme.px(16)

    def _text(self, event: TopicEvent) -> tuple[QFont, list[str]]:
        font = self._theme.font("body")
        font.setWeight(QFont.Weight.Medium)
        font.setStrikeOut(event.until is not None)
        return font, wrapped(_whole(event), font, self._inside(), MOST_LINES)

    def _asides(self, event: TopicEvent) -> list[tuple[str, str, bool]]:
        """Lines below the text: a word before, words, and whether they no longer hold."""
        lines = []
        if event.about is not None and event.transition is Transition.CORRECTION:
            lines.append(("instead of", f"{one_line(event.about.head)}  ({date_of(when_of(event.about))})", True))
        elif event.about is not None:
            lines.append(("confirms", f"{one_line(event.about.head)}  ({date_of(when_of(event.about))})", False))
        before = "worded before" if len(event.wordings) == 1 else "made of"
        lines += [(before, one_line(old.head), True) for old in event.wordings]
        return lines

    def sizeHint(self, _option: QStyleOptionViewItem, index: _Index) -> QSize:  # noqa: N802 - Qt's name
        """As high as its words at the width of the list."""
        event, px = index.data(EVENT), self._theme.px
        _, lines = self._text(event)
        high = self._line("small") + len(lines) * self._line("body") + self._line("small")
        high += len(self._asides(event)) * self._line("small")
        return QSize(100, high + px(20) + self._lead(event))

    def _lead(self, event: TopicEvent) -> int:
        """Room above an event, for the axis and the words of the gap."""
        if event.gap_ms is None:
            return 0
        return self._theme.px(_GAP if _gap_of(event) else _NEAR)

    # ---- painting

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        """Draw an event: the axis with its sign, what it is, the words, what they took the place of."""
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        event, rect = index.data(EVENT), QRect(option.rect)
        body = QRect(rect)
        body.setTop(rect.top() + self._lead(event))
        is_chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        self._ground(painter, body, is_chosen=is_chosen, is_hovered=index.row() == self.hovered)
        is_last = index.row() == index.model().rowCount() - 1
        self._axis(painter, rect, body, event, is_last=is_last)
        self._words(painter, body, event, is_chosen=is_chosen)
        painter.restore()

    def _ground(self, painter: QPainter, rect: QRect, *, is_chosen: bool, is_hovered: bool) -> None:
        theme, px = self._theme, self._theme.px
        if not (is_chosen or is_hovered):
            return
        painter.setPen(QPen(theme.colour("focus"), 2) if is_chosen and self.has_keyboard() else Qt.PenStyle.NoPen)
        painter.setBrush(theme.colour("selection" if is_chosen else "raised"))
        painter.drawRoundedRect(rect.adjusted(px(_PAD) - px(10), 2, -px(6), -2), 8, 8)

    def _axis(self, painter: QPainter, rect: QRect, body: QRect, event: TopicEvent, *, is_last: bool) -> None:
        """A line from event to event, dashed where much time passed, with its words; and the sign of this one."""
        theme, px = self._theme, self._theme.px
        x, y = rect.left() + px(_AXIS), body.top() + px(8) + self._line("small") / 2
        pen = QPen(theme.colour("line"), 2)
        if event.gap_ms is not None:
            pen.setStyle(Qt.PenStyle.DotLine if event.gap_ms >= _LONG_MS else Qt.PenStyle.SolidLine)
            pen.setColor(theme.colour("faint" if event.gap_ms >= _LONG_MS else "line"))
            painter.setPen(pen)
            painter.drawLine(QPointF(x, rect.top()), QPointF(x, y))
            words = QRect(rect.left() + px(_PAD), rect.top(), self._inside(), px(_GAP))
            write(painter, theme.font("small"), words, _gap_of(event), theme.colour("muted").name(), _MIDDLE)
        if not is_last:
            painter.setPen(QPen(theme.colour("line"), 2))
            painter.drawLine(QPointF(x, y), QPointF(x, rect.bottom() + 1))
        draw_sign(painter, theme, event.transition, QPointF(x, y), px(_SIGN))

    def _words(self, painter: QPainter, body: QRect, event: TopicEvent, *, is_chosen: bool) -> None:
        theme, px = self._theme, self._theme.px
        left, top, wide = body.left() + px(_PAD), body.top() + px(8), self._inside()
        small, muted = theme.font("small"), theme.colour("muted").name()
        strong = theme.font("small")
        strong.setWeight(QFont.Weight.DemiBold)
        title, line = title_of(event), self._line("small")
        title_wide = QFontMetrics(strong).horizontalAdvance(title) + px(10)
        tone = theme.colour("ink" if is_chosen else TOKENS[event.transition])  # green is weak on that ground
        write(painter, strong, QRect(left, top, wide, line), title, tone.name(), _MIDDLE)
        write(painter, small, QRect(left + title_wide, top, wide - title_wide, line), day_of(event), muted, _MIDDLE)
        top += line
        font, lines = self._text(event)
        ink = muted if event.until is not None else theme.colour("ink").name()
        for text in lines:
            write(painter, font, QRect(left, top, wide, self._line("body")), text, ink, _MIDDLE)
            top += self._line("body")
        for before, text, is_over in self._asides(event):
            self._aside(painter, QRect(left, top, wide, line), before, text, is_over=is_over)
            top += line
        write(painter, small, QRect(left, top, wide, line), _foot(event), muted, _MIDDLE)

    def _aside(self, painter: QPainter, rect: QRect, before: str, text: str, *, is_over: bool) -> None:
        font, muted = self._theme.font("small"), self._theme.colour("muted").name()
        write(painter, font, rect, before, muted, _MIDDLE)
        wide = QFontMetrics(font).horizontalAdvance(before) + self._theme.px(8)
        font.setStrikeOut(is_over)
        write(painter, font, rect.adjusted(wide, 0, 0, 0), text, muted, _MIDDLE)


def draw_sign(painter: QPainter, theme: Theme, transition: Transition, at: QPointF, side: float) -> None:
    """The sign of a transition: a ring where it begins, a plus, a tick, a diamond with a bar.

    Args:
        painter: with antialiasing set by the caller.
        theme: for the colours.
        transition: which.
        at: its middle.
        side: pixels.
    """
    colour, half = theme.colour(TOKENS[transition]), side / 2
    painter.save()
    painter.translate(at)
    painter.setPen(QPen(theme.colour("surface"), 3))
    painter.setBrush(theme.colour("surface"))
    painter.drawEllipse(QPointF(0, 0), half + 1, half + 1)
    painter.setPen(QPen(colour, 2, c=Qt.PenCapStyle.RoundCap, j=Qt.PenJoinStyle.RoundJoin))
    if transition is Transition.START:
        painter.drawEllipse(QPointF(0, 0), half - 1, half - 1)
        painter.setBrush(colour)
        painter.drawEllipse(QPointF(0, 0), half * 0.3, half * 0.3)
    elif transition is Transition.CORRECTION:
        painter.setBrush(colour)
        painter.drawPolygon([QPointF(half * x, half * y) for x, y in _DIAMOND])
        painter.setPen(QPen(theme.colour("surface"), 2))
        painter.drawLine(QPointF(-half * 0.35, 0), QPointF(half * 0.35, 0))
    for stroke in _STROKES.get(transition, ()):
        painter.drawPolyline([QPointF(half * x, half * y) for x, y in stroke])
    painter.restore()


class EventList(QListView):
    """The list."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.model_of_events = EventModel(self)
        self.painter = EventPainter(theme, self)
        self.painter.has_keyboard, self.painter.width = self.hasFocus, lambda: self.viewport().width()
        self.setModel(self.model_of_events)
        self.setItemDelegate(self.painter)
        self.setAccessibleName("The line of the topic")
        self.setMouseTracking(True)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.entered.connect(self._hover)
        self.model_of_events.modelReset.connect(self._renew)
        theme.changed.connect(self.doItemsLayout)

    def _hover(self, index: QModelIndex) -> None:
        if index.row() != self.painter.hovered:
            self.painter.hovered = index.row()
            self.viewport().update()

    def _renew(self) -> None:
        self.painter.hovered = -1
        self.scrollToTop()
