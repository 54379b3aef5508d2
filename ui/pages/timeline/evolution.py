"""The tab of a topic: a field for it, and its line: its start, what was added, confirmed, corrected, old beside new.

Must not do: know the other tab.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial

from PySide6.QtCore import QPointF, QRect, Qt, Signal
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QPen
from PySide6.QtWidgets import QFrame, QLineEdit, QWidget

from core.types.views import Evolution, PalacePlan, TopicEvent, Transition
from ui.bridge import make_query, problem_of
from ui.context import Context
from ui.lists.list_view import AfterRemoval, ListView
from ui.lists.row_spec import InertRow, RowSpec, RowState, wrap_text
from ui.pages.timeline.labels import describe_gap, describe_speaker, memory_time_ms
from ui.strings import format_count, timeline_strings, window_strings
from ui.theme.theme import Theme
from ui.theme.tokens import FontRole
from ui.widgets.basics import Elided, FieldIcon, make_button, make_column, make_row
from ui.widgets.labels import count_memories, date_of, format_said_or_noted, name_space
from ui.widgets.plaintext import one_line, plain_line
from ui.widgets.states import EmptyState, States

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


def describe_evolution_event(event: TopicEvent) -> str:
    """An event in one sentence, for those who do not see the line."""
    gap = "" if event.gap_ms is None else f", {describe_gap(event.gap_ms)}"
    parts = [
        f"{event_title(event)}, {event_day(event)}{gap}: {plain_line(event.row.head)}",
        *evolution_event_notes(event),
    ]
    return ". ".join(parts)


def event_title(event: TopicEvent) -> str:
    """What it is: `It begins`, `Added`, `Confirmed`, `Corrected`."""
    return str(timeline_strings()["transitions"][event.transition.value]["title"])


def event_day(event: TopicEvent) -> str:
    """When it was said, as exactly as it is known; else `noted` and when it was learned."""
    if event.at != memory_time_ms(event.row):
        return date_of(event.at)  # of the first of those that went into it
    return format_said_or_noted(event.row.occurred, event.at)


def evolution_event_notes(event: TopicEvent) -> tuple[str, ...]:
    """What is in small letters below an event."""
    strings, notes = timeline_strings()["event"], list[str]()
    if event.about is not None:
        form = strings["instead" if event.transition is Transition.CORRECTION else "repeats"]
        date, text = date_of(memory_time_ms(event.about)), plain_line(event.about.head, 160)
        notes.append(form.format(date=date, text=text))
    if event.until is not None:
        notes.append(strings["until"].format(date=date_of(event.until)))
    if event.wordings:
        texts = "; ".join(plain_line(old.head, 160) for old in event.wordings)
        notes.append(strings["before"].format(text=texts))
    return tuple(notes)


def _full_text(event: TopicEvent) -> str:
    return plain_line(event.row.head) + ("…" if event.row.is_cut else "")


def _describe_gap(event: TopicEvent) -> str:
    """How much later than the one before; "" where it was the same day or so: messages of one talk are together."""
    return "" if event.gap_ms is None or event.gap_ms < _SAID_MS else describe_gap(event.gap_ms)


def _describe_foot(event: TopicEvent) -> str:
    strings, parts = timeline_strings()["event"], [describe_speaker(event.row), name_space(event.row.space, 40)]
    if event.versions > 1:
        parts.append(strings["version"].format(number=event.version, count=event.versions))
    if event.until is not None:
        parts.append(strings["until"].format(date=date_of(event.until)))
    return " · ".join(parts)


class EventRows(RowSpec[TopicEvent]):
    """How events look: a sign on the axis of time, what it is, the words, what they took the place of."""

    tells_repeats = True

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self._count = 0

    def row_key(self, row: TopicEvent) -> str:
        """The id of its memory."""
        return row.row.id

    def accessible_text(self, row: TopicEvent) -> str:
        """It in one sentence."""
        return describe_evolution_event(row)

    def tool_tip(self, _row: TopicEvent) -> str:
        """No tooltip."""
        return ""

    def prepare_lines(self, lines: Sequence[TopicEvent | InertRow]) -> None:
        """Learn how many there are: the axis ends at the last."""
        self._count = len(lines)

    # ---- measures

    def _line_height(self, role: FontRole) -> int:
        return round(QFontMetrics(self.theme.font(role)).height() * 1.15)

    def _text_width(self) -> int:
        return self.width() - self.theme.px(_PAD) - self.theme.px(16)

    def _wrapped_text(self, event: TopicEvent) -> tuple[QFont, list[str]]:
        font = self.theme.font("body")
        font.setWeight(QFont.Weight.Medium)
        font.setStrikeOut(event.until is not None)
        return font, wrap_text(_full_text(event), font, self._text_width(), MOST_LINES)

    def _aside_lines(self, event: TopicEvent) -> list[tuple[str, str, bool]]:
        """Lines below the text: a word before, words, and whether they no longer hold."""
        strings, lines = timeline_strings()["asides"], list[tuple[str, str, bool]]()
        if event.about is not None:
            is_corrected = event.transition is Transition.CORRECTION
            about = f"{plain_line(event.about.head)}  ({date_of(memory_time_ms(event.about))})"
            lines.append((strings["instead" if is_corrected else "confirms"], about, is_corrected))
        before = strings["wording" if len(event.wordings) == 1 else "wordings"]
        lines += [(before, plain_line(old.head), True) for old in event.wordings]
        return lines

    def row_height(self, row: TopicEvent, _place: int) -> int:
        """As high as its words at the width of the list."""
        _, lines = self._wrapped_text(row)
        high = self._line_height("small") + len(lines) * self._line_height("body") + self._line_height("small")
        high += len(self._aside_lines(row)) * self._line_height("small")
        return high + self.theme.px(20) + self._lead_height(row)

    def _lead_height(self, event: TopicEvent) -> int:
        """Room above an event, for the axis and the words of the gap."""
        if event.gap_ms is None:
            return 0
        return self.theme.px(_GAP if _describe_gap(event) else _NEAR)

    # ---- painting

    def _body_rect(self, rect: QRect, event: TopicEvent) -> QRect:
        """Where an event is without the room above it."""
        return rect.adjusted(0, self._lead_height(event), 0, 0)

    def paint_background(self, painter: QPainter, rect: QRect, row: TopicEvent, state: RowState) -> None:
        """A rounded field beside the axis."""
        theme, px = self.theme, self.theme.px
        if not (state.is_chosen or state.is_hovered):
            return
        has_ring = state.is_chosen and state.has_focus
        painter.setPen(QPen(theme.colour("focus"), 2) if has_ring else Qt.PenStyle.NoPen)
        painter.setBrush(theme.colour("selection" if state.is_chosen else "raised"))
        painter.drawRoundedRect(self._body_rect(rect, row).adjusted(px(_PAD) - px(10), 2, -px(6), -2), 8, 8)

    def draw_row(self, painter: QPainter, rect: QRect, row: TopicEvent, state: RowState) -> None:
        """The axis with its sign, what it is, the words, what they took the place of."""
        body = self._body_rect(rect, row)
        self._draw_axis(painter, rect, body, row, is_last=state.place == self._count - 1)
        self._draw_texts(painter, body, row, is_chosen=state.is_chosen)

    def _draw_axis(self, painter: QPainter, rect: QRect, body: QRect, event: TopicEvent, *, is_last: bool) -> None:
        """A line from event to event, dashed where much time passed, with its words; and the sign of this one."""
        theme, px = self.theme, self.theme.px
        x, y = rect.left() + px(_AXIS), body.top() + px(8) + self._line_height("small") / 2
        pen = QPen(theme.colour("line"), 2)
        if event.gap_ms is not None:
            pen.setStyle(Qt.PenStyle.DotLine if event.gap_ms >= _LONG_MS else Qt.PenStyle.SolidLine)
            pen.setColor(theme.colour("faint" if event.gap_ms >= _LONG_MS else "line"))
            painter.setPen(pen)
            painter.drawLine(QPointF(x, rect.top()), QPointF(x, y))
            words = QRect(rect.left() + px(_PAD), rect.top(), self._text_width(), px(_GAP))
            self.draw_text(painter, words, _describe_gap(event), "muted", theme.font("small"))
        if not is_last:
            painter.setPen(QPen(theme.colour("line"), 2))
            painter.drawLine(QPointF(x, y), QPointF(x, rect.bottom() + 1))
        draw_sign(painter, theme, event.transition, QPointF(x, y), px(_SIGN))

    def _draw_texts(self, painter: QPainter, body: QRect, event: TopicEvent, *, is_chosen: bool) -> None:
        theme, px = self.theme, self.theme.px
        left, top, wide = body.left() + px(_PAD), body.top() + px(8), self._text_width()
        small = theme.font("small")
        strong = theme.font("small")
        strong.setWeight(QFont.Weight.DemiBold)
        title, line = event_title(event), self._line_height("small")
        title_wide = QFontMetrics(strong).horizontalAdvance(title) + px(10)
        tone = "ink" if is_chosen else TOKENS[event.transition]  # green is weak on that ground
        self.draw_text(painter, QRect(left, top, wide, line), title, tone, strong)
        self.draw_text(
            painter, QRect(left + title_wide, top, wide - title_wide, line), event_day(event), "muted", small
        )
        top += line
        font, lines = self._wrapped_text(event)
        ink = "muted" if event.until is not None else "ink"
        for text in lines:
            self.draw_text(painter, QRect(left, top, wide, self._line_height("body")), text, ink, font)
            top += self._line_height("body")
        for before, text, is_over in self._aside_lines(event):
            self._draw_aside(painter, QRect(left, top, wide, line), before, text, is_over=is_over)
            top += line
        self.draw_text(painter, QRect(left, top, wide, line), _describe_foot(event), "muted", small)

    def _draw_aside(self, painter: QPainter, rect: QRect, before: str, text: str, *, is_over: bool) -> None:
        font = self.theme.font("small")
        self.draw_text(painter, rect, before, "muted", font)
        wide = QFontMetrics(font).horizontalAdvance(before) + self.theme.px(8)
        font.setStrikeOut(is_over)
        self.draw_text(painter, rect.adjusted(wide, 0, 0, 0), text, "muted", font)


def draw_sign(painter: QPainter, theme: Theme, transition: Transition, at: QPointF, side: float) -> None:
    """The sign of a transition: a ring where it begins, a plus, a tick, a diamond with a bar.

    Args:
        painter: with antialiasing set by the caller.
        theme: for the colours.
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


def event_list(theme: Theme) -> ListView:
    """The line of a topic."""
    return ListView(EventRows(theme), timeline_strings()["topic"]["list"], keep=AfterRemoval.TOP)


_OFFERED = 4
_MOST = 2_000
_COUNTED = (Transition.ADDITION, Transition.REINFORCEMENT, Transition.CORRECTION)


class EvolutionTab(QWidget):
    """The tab of a topic.

    Attributes:
        line: what is shown; None before a topic was named.

    Signals:
        looked_at: id of the memory that was chosen.
    """

    looked_at = Signal(str)

    def __init__(self, context: Context) -> None:
        super().__init__()
        strings = timeline_strings()["topic"]
        self.context = context
        self.line: Evolution | None = None
        self.is_settled = True
        self._offered: tuple[str, ...] = ()
        self.field = QLineEdit()
        self.field.setObjectName("search")
        self.field.setMaxLength(_MOST)
        self.field.setPlaceholderText(strings["hint"])
        self.field.setAccessibleName(strings["field"])
        self.field.setAccessibleDescription(strings["description"])
        FieldIcon(context.theme, self.field, "search")
        self.field.returnPressed.connect(self._show_typed)
        self.show_button = make_button(window_strings()["buttons"]["show"], self._show_typed, kind="primary")
        self._summary = Elided("", "small")
        self.list = event_list(context.theme)
        card = QFrame()
        card.setObjectName("card")
        inner = make_column(card, self.list)
        inner.setContentsMargins(1, 10, 1, 10)
        content = QWidget()
        make_column(content, self._summary, gap=8).addWidget(card, 1)
        self.states = States(context.theme, content, strings["searching"])
        header = make_row(self.field, self.show_button, gap=8)
        header.setStretch(0, 1)
        layout = make_column(self, gap=12)
        layout.addLayout(header)
        layout.addWidget(self.states, 1)
        self.list.looked_at_id.connect(self.looked_at)
        self._show_introduction()

    @property
    def summary(self) -> str:
        """What it says about the line."""
        return self._summary.whole

    # ---- asking

    def activate(self) -> None:
        """It is shown: take the keyboard, offer topics."""
        self.field.setFocus()
        if self.line is None and not self._offered:
            palace = self.context.bridge.engine.palace
            task = (
                make_query(timeline_strings()["tasks"]["rooms"], palace.read_plan)
                .within(self, "rooms")
                .failure(lambda _: None)
            )
            self.context.tasks.run(task.success(self._on_rooms_read))

    def show_topic(self, topic: str) -> None:
        """Show the line of a topic.

        Args:
            topic: some words.
        """
        self.field.setText(topic)
        self._show_typed()

    def reload(self) -> None:
        """Show the same topic again; something changed."""
        if self.line is not None:
            self._request_line(self.line.topic)

    def _show_typed(self) -> None:
        topic = self.field.text().strip()
        if topic:
            if self.line is None:
                self.states.show_loading()
            self._request_line(topic)
        else:
            self.line = None
            self._show_introduction()

    def _request_line(self, topic: str) -> None:
        timeline = self.context.bridge.engine.timeline
        self.is_settled = False
        self.context.tasks.run(
            make_query(timeline_strings()["tasks"]["topic"], lambda: timeline.trace_evolution(topic))
            .within(self, "line")
            .success(self._on_line_read)
            .failure(self._show_failure)
        )

    # ---- showing

    def _on_line_read(self, line: Evolution) -> None:
        self.is_settled, self.line = True, line
        self.list.show_lines(line.events)
        if line.events:
            self._summary.set_text(_summarize_evolution(line))
            self.states.show_content()
            self.select_memory(self.context.selection.current)
        else:
            strings = timeline_strings()["empty"]["nothing"]
            self.states.show_empty(EmptyState(self.context.theme, "history", strings["title"], strings["sentence"]))

    def _show_failure(self, error: BaseException) -> None:
        self.is_settled = True
        problem = problem_of(error)
        if problem is not None:
            self.states.show_trouble(problem, self._show_typed)

    def select_memory(self, memory_id: str) -> None:
        """Choose a memory, where it is on the line."""
        if memory_id:
            self.list.select_rows(memory_id)

    def _on_rooms_read(self, plan: PalacePlan) -> None:
        rooms = sorted(
            (room for wing in plan.wings for room in wing.rooms if room.count),
            key=lambda room: (-room.count, room.name),
        )
        self._offered = tuple(dict.fromkeys(room.name for room in rooms))[:_OFFERED]
        if self.line is None:
            self._show_introduction()

    def _show_introduction(self) -> None:
        strings = timeline_strings()["empty"]["topic"]
        offers = [(one_line(name, 40), partial(self.show_topic, name)) for name in self._offered]
        self.states.show_empty(
            EmptyState(self.context.theme, "history", strings["title"], strings["sentence"], *offers)
        )


def _summarize_evolution(line: Evolution) -> str:
    strings, counts = timeline_strings()["topic"], Counter(event.transition for event in line.events)
    parts = [count_memories(len(line.events))]
    parts += [format_count(strings["counts"][one.value], counts[one]) for one in _COUNTED if counts[one]]
    if line.left_out:
        parts.append(strings["left_out"].format(count=line.left_out))
    return " · ".join(parts)
