"""What is below the strip: the memories of a stretch of time, by days, or what was believed or true at its end.

More are read as somebody scrolls. Must not do: know the strip, or decide which memories.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future

from PySide6.QtCore import QObject, QPointF, QRect, Signal
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QFrame, QSizePolicy, QWidget

from core.types.values import STANDING, Status
from core.types.views import MemoryRow, TimeCursor, TimeFilter, TimePage
from ui.bridge import make_query, problem_of
from ui.context import Context
from ui.lists.list_view import AfterRemoval, ListView
from ui.lists.row_spec import Heading, RowSpec, RowState, draw_flat_ground, insert_headings
from ui.pages.timeline.labels import SAID, day_name, describe_clock, describe_speaker, memory_time_ms
from ui.strings import format_count, timeline_strings
from ui.theme.theme import Theme
from ui.theme.tokens import sizes
from ui.widgets.basics import Elided, FlowLayout, Segments, make_column, make_label, make_row, make_timer
from ui.widgets.labels import KIND_WORDS, STATUS_WORDS, count_memories, date_of, format_said_or_noted, name_space
from ui.widgets.plaintext import escape_tooltip, one_line, plain_line
from ui.widgets.shapes import KIND_TOKENS, draw_kind
from ui.widgets.states import EmptyState, States

Fetch = Callable[[TimeCursor | None], Future[TimePage]]
Line = MemoryRow | Heading
"""A memory, or the heading of a day."""


class MomentFeed(QObject):
    """Fills a list with memories, oldest first, a heading before each day.

    Attributes:
        total: how many there are on all pages.
        is_settled: whether what was asked for has come.

    Signals:
        rows_read: a page came.
        failed: the error; what was shown stays.
    """

    rows_read = Signal()
    failed = Signal(object)

    def __init__(self, context: Context, shown: ListView) -> None:
        super().__init__(shown)
        self._context, self._shown = context, shown
        self.total = 0
        self.is_settled = True
        self._fetch: Fetch | None = None
        self._next: TimeCursor | None = None
        shown.lines.more.connect(lambda: self._request_page(self._next, self._append_rows))

    def reload(self, fetch: Fetch) -> None:
        """List other memories; what is shown stays until they come.

        Args:
            fetch: reads a page behind a cursor.
        """
        self._fetch = fetch
        self._request_page(None, self._replace_rows)

    def _request_page(self, after: TimeCursor | None, then: Callable[[TimePage], None]) -> None:
        fetch = self._fetch
        if fetch is None:
            return
        self.is_settled = self._shown.lines.has_more = False
        self._context.tasks.run(
            make_query(timeline_strings()["tasks"]["period"], lambda: fetch(after))
            .within(self, "page")
            .success(then)
            .failure(self._on_read_failed)
        )

    def _note_page(self, page: TimePage) -> bool:
        self.is_settled, self._next, self.total = True, page.after, page.total
        return page.after is not None

    def _replace_rows(self, page: TimePage) -> None:
        has_more = self._note_page(page)
        self._shown.show_lines(_insert_day_headings("", page.rows), has_more=has_more)
        self.rows_read.emit()

    def _append_rows(self, page: TimePage) -> None:
        has_more = self._note_page(page)
        lines = self._shown.lines.lines
        day = day_name(memory_time_ms(lines[-1])) if lines and isinstance(lines[-1], MemoryRow) else ""
        self._shown.lines.append_lines(_insert_day_headings(day, page.rows), has_more=has_more)
        self.rows_read.emit()

    def _on_read_failed(self, error: BaseException) -> None:
        self.is_settled = True
        self._shown.lines.has_more = self._next is not None
        self.failed.emit(error)


def describe_details(row: MemoryRow) -> str:
    """The second line of a memory: when, whose words, where it is."""
    parts = [*describe_clock(row), describe_speaker(row), name_space(row.space, 40)]
    if row.conversation:
        parts.append(one_line(row.conversation, 60))
    if row.occurred is None:
        parts.append(format_said_or_noted(row.occurred, row.recorded_at))
    if row.status is not Status.ACTIVE:
        parts.append(STATUS_WORDS[row.status].lower())
    return " · ".join(parts)


def _insert_day_headings(day: str, rows: Sequence[MemoryRow]) -> list[Line]:
    return insert_headings(rows, lambda row: day_name(memory_time_ms(row)), day)


_SHAPE = 11


class MomentRows(RowSpec[MemoryRow]):
    """How memories look in the order of time: a shape, a text, when and whose it is."""

    heading = (36, 28)
    tells_repeats = True

    def row_key(self, row: MemoryRow) -> str:
        """The row's id."""
        return row.id

    def accessible_text(self, row: MemoryRow) -> str:
        """Its kind, its text, when and whose it is."""
        return f"{KIND_WORDS[row.kind]}: {plain_line(row.head)}. {describe_details(row)}"

    def tool_tip(self, row: MemoryRow) -> str:
        """The memory's text."""
        return escape_tooltip(plain_line(row.head))

    def row_height(self, _row: MemoryRow, _place: int) -> int:
        """All are of one height."""
        return self.theme.px(sizes().row_two)

    def paint_background(self, painter: QPainter, rect: QRect, _row: MemoryRow, state: RowState) -> None:
        """A field from edge to edge."""
        draw_flat_ground(
            painter,
            self.theme,
            rect,
            is_chosen=state.is_chosen,
            is_hovered=state.is_hovered,
            has_focus=state.has_focus,
        )

    def draw_row(self, painter: QPainter, rect: QRect, row: MemoryRow, _state: RowState) -> None:
        """Its shape and its two lines."""
        theme, pad, side = self.theme, self.theme.px(sizes().list_pad), self.theme.px(_SHAPE)
        stands = row.status in STANDING
        middle = QPointF(rect.left() + pad + side / 2, rect.center().y() + 0.5)
        draw_kind(painter, row.kind, middle, side, theme.colour(KIND_TOKENS[row.kind] if stands else "faint"))
        inner = rect.adjusted(pad + side + theme.px(12), theme.px(4), -pad, -theme.px(6))
        upper, lower = QRect(inner), QRect(inner)
        upper.setHeight(inner.height() // 2)
        lower.setTop(upper.bottom() + 1)
        title_font, small_font = self.row_fonts()
        title_font.setStrikeOut(not stands)
        self.draw_text(painter, upper, plain_line(row.head), "ink" if stands else "muted", title_font)
        self.draw_text(painter, lower, describe_details(row), "muted", small_font)


def moment_list(theme: Theme) -> ListView:
    """The list below the strip."""
    return ListView(MomentRows(theme), timeline_strings()["period"]["list"], keep=AfterRemoval.TOP)


_PAUSE_MS = 90  # a drag passes many periods


class PeriodDetails(QFrame):
    """The card with the list.

    Attributes:
        axis: what it shows of a stretch of time: `said`, `believed` or `true`.

    Signals:
        looked_at: id of the memory that was chosen.
    """

    looked_at = Signal(str)

    def __init__(self, context: Context) -> None:
        super().__init__()
        strings = timeline_strings()["period"]
        self.setObjectName("card")
        self._context = context
        self.axis = SAID
        self._filter, self._ends, self._undated = TimeFilter(), (0, 0), 0
        axes = [(axis, wording["title"]) for axis, wording in timeline_strings()["axes"].items()]
        self.axes = Segments(axes, SAID, strings["axes"])
        for axis, wording in timeline_strings()["axes"].items():
            self.axes.explain_choice(axis, wording["hint"])
        self.axes.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self._name, self._count, self._sentence = (
            make_label("", "section"),
            make_label("", "muted"),
            Elided("", "small"),
        )
        self.list = moment_list(context.theme)
        self.feed = MomentFeed(context, self.list)
        self.states = States(context.theme, self.list, strings["reading"])
        self._pause = make_timer(self, self.reload, _PAUSE_MS)
        self._build_layout()
        self.axes.chosen.connect(self.use_axis)
        self.feed.rows_read.connect(self._on_rows_read)
        self.feed.failed.connect(self._show_failure)
        self.list.looked_at_id.connect(self.looked_at)

    def _build_layout(self) -> None:
        title, header, inside = QWidget(), QWidget(), QWidget()
        make_row(self._name, self._count, gap=8, parent=title)
        title.setMinimumHeight(self._context.theme.px(26))  # in the middle of the chips beside it
        flow = FlowLayout(header, gap=10)
        flow.addWidget(title)
        flow.addWidget(self.axes)
        make_column(inside, header, self._sentence, gap=4).setContentsMargins(13, 0, 13, 2)
        layout = make_column(self, inside, gap=6)
        layout.setContentsMargins(1, 10, 1, 6)
        layout.addWidget(self.states, 1)

    @property
    def is_settled(self) -> bool:
        """Whether what was asked for is shown."""
        return not self._pause.isActive() and self.feed.is_settled

    @property
    def title(self) -> str:
        """The name of the time it shows."""
        return self._name.text()

    @property
    def sentence(self) -> str:
        """What it says the list is."""
        return self._sentence.whole

    def stop_timer(self) -> None:
        """Another page is shown."""
        self._pause.stop()

    def show_time(self, name: str, ends: tuple[int, int], wanted: TimeFilter, undated: int) -> None:
        """Show another stretch of time, in a moment.

        Args:
            name: what it is called.
            ends: epoch ms, the second one outside.
            wanted: which memories count.
            undated: how many of those have no date of their own, so that no stretch of time lists them.
        """
        self._ends, self._filter, self._undated = ends, wanted, undated
        self._name.setText(name)
        self._show_sentence()
        self._pause.start()

    def use_axis(self, axis: str) -> None:
        """Show something else of the same time.

        Args:
            axis: `said`, `believed` or `true`.
        """
        self.axis = axis
        self.axes.show_choice(axis)
        self._show_sentence()
        self.reload()

    def reload(self) -> None:
        """Read it now."""
        self._pause.stop()
        timeline, wanted, axis, ends = self._context.bridge.engine.timeline, self._filter, self.axis, self._ends
        moment = self._moment_shown()

        def fetch_page(after: TimeCursor | None) -> Future[TimePage]:
            if axis == SAID:
                return timeline.list_period(*ends, wanted, after)
            return timeline.list_valid_at(moment, axis, wanted, after)

        self.feed.reload(fetch_page)

    def _show_sentence(self) -> None:
        sentence = str(timeline_strings()["axes"][self.axis]["sentence"]).format(day=date_of(self._moment_shown()))
        if self.axis == SAID and self._undated:
            sentence = f"{sentence} {format_count(timeline_strings()['undated'], self._undated)}"
        self._sentence.set_text(sentence)

    def _moment_shown(self) -> int:
        """The end of the stretch of time, or now where that lies ahead."""
        first, end = self._ends
        return max(first, min(end - 1, self._context.clock.now_ms()))

    def _on_rows_read(self) -> None:
        self._count.setText(count_memories(self.feed.total))
        if self.list.lines.rowCount():
            self.states.show_content()
            if self._context.selection.current:
                self.list.select_rows(self._context.selection.current)
        else:
            strings = timeline_strings()["empty"]["period" if self.axis == SAID else "held"]
            self.states.show_empty(EmptyState(self._context.theme, "calendar", strings["title"], strings["sentence"]))

    def _show_failure(self, error: BaseException) -> None:
        problem = problem_of(error)
        if problem is not None:
            self.states.show_trouble(problem, self.reload)
