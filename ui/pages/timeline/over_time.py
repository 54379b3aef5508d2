"""The tab over time: the strip with its key and how much was said when, and below it what it was, or what held then.

Must not do: know the other tab.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QSizePolicy, QWidget

from core.types.values import Kind
from core.types.views import GRAINS, Density, TimeFilter
from ui.bridge import make_query, problem_of
from ui.context import Context
from ui.pages.timeline.density_plot import DensityPlot
from ui.pages.timeline.labels import kinds_of, range_name
from ui.pages.timeline.period_details import PeriodDetails
from ui.pages.timeline.strip import Strip, do_columns_fit
from ui.strings import format_count, timeline_strings, window_strings
from ui.theme.theme import Theme
from ui.widgets.basics import (
    Elided,
    FlowLayout,
    Segments,
    clear_layout,
    make_button,
    make_column,
    make_label,
    make_row,
    make_tool_button,
)
from ui.widgets.labels import KIND_PLURALS, count_memories
from ui.widgets.shapes import KindMark
from ui.widgets.states import EmptyState, States


class KindLegend(QWidget):
    """Shapes with their words, on one line."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._row = make_row(gap=5, parent=self)

    def show_kinds(self, kinds: tuple[Kind, ...]) -> None:
        """Explain some kinds.

        Args:
            kinds: those that occur; none hides it.
        """
        clear_layout(self._row)
        for kind in kinds:
            if self._row.count():
                self._row.addSpacing(self._theme.px(8))
            self._row.addWidget(KindMark(self._theme, kind, 12))
            self._row.addWidget(make_label(KIND_PLURALS[kind], "small"))
        self._row.addStretch(1)
        self.setVisible(bool(kinds))


_AROUND = 1_800  # periods on each side where a life holds more of them than can be counted
_BUSIEST = 3
_HIGH = 600  # from here on the busiest months are named
_RECENT_MS = 92 * 86_400_000
"""A last memory so recent has the strip go on to today."""
_SPANS_MS = {"day": 86_400_000, "week": 7 * 86_400_000, "month": 2_629_800_000, "year": 31_557_600_000}


class OverTime(QWidget):
    """The tab over time.

    Attributes:
        grain: what a column of the strip represents.
    """

    def __init__(self, context: Context) -> None:
        super().__init__()
        strings = timeline_strings()["strip"]
        self.context = context
        self.grain = "month"
        self._filter = TimeFilter()
        self._is_first, self._is_counting = True, False
        self._life: Density | None = None
        self._wanted: tuple[int, int] | None = None  # the chosen stretch of time, epoch ms, end outside
        theme = context.theme
        self.strip, self.below = Strip(theme), PeriodDetails(context)
        grains = [(grain, timeline_strings()["grains"][grain]["title"]) for grain in GRAINS]
        self.grains = Segments(grains, self.grain, strings["grains"])
        self.grains.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        words = timeline_strings()["moves"]
        self.farther = make_tool_button(theme, "zoom-out", words["farther"]["hint"], partial(self.zoom_by, -1))
        self.nearer = make_tool_button(theme, "zoom-in", words["nearer"]["hint"], partial(self.zoom_by, 1))
        self.today = make_button(words["today"]["title"], partial(self.choose_named, "today"), kind="chip")
        self.everything = make_button(
            words["everything"]["title"], partial(self.choose_named, "everything"), kind="chip"
        )
        self.plot = DensityPlot(context, self.strip)
        self.plot.switched.connect(self._on_plot_switched)
        self._hint, self.legend = Elided("", "small"), KindLegend(theme)
        self._busiest = QWidget()
        self._busy_flow = FlowLayout(self._busiest, gap=6)
        self._content = QWidget()
        self.states = States(theme, self._content, strings["counting"])
        self._build_layout()
        _name_strip_keys(self)
        self.grains.chosen.connect(self.use_grain)
        self.strip.picked.connect(self._on_period_picked)
        self.strip.pointed.connect(self._show_hint)
        self.strip.zoomed.connect(self.zoom_by)
        self.strip.asked.connect(self.choose_named)

    def _build_layout(self) -> None:
        card, bar = QFrame(), QWidget()
        card.setObjectName("card")
        flow = FlowLayout(bar, gap=6)
        widgets: tuple[QWidget, ...] = (
            self.grains, self.farther, self.nearer, self.today, self.everything, self.plot.chip, self.plot.toggle
        )  # fmt: skip
        for widget in widgets:
            flow.addWidget(widget)
        upper = make_column(card, bar, self.strip, self.plot, self._hint, self.legend, self._busiest, gap=8)
        upper.setContentsMargins(14, 10, 14, 10)
        layout = make_column(self._content, card, gap=12)
        layout.addWidget(self.below, 1)
        make_column(self, self.states)

    @property
    def is_settled(self) -> bool:
        """Whether all that was asked for is shown."""
        return not self._is_counting and self.below.is_settled

    @property
    def hint(self) -> str:
        """What it says about the period under the pointer, else about what is chosen."""
        return self._hint.whole

    # ---- counting

    def use_filter(self, wanted: TimeFilter) -> None:
        """Count others.

        Args:
            wanted: which memories count.
        """
        self._filter = wanted
        self.reload()

    def reload(self) -> None:
        """Count again, and list again what is chosen."""
        if self._life is None:
            self.states.show_loading()
        self._request_counts("month", None, None, _BUSIEST, self._on_life_counted)

    def _request_counts(
        self, grain: str, first: int | None, last: int | None, top: int, then: Callable[[Density], None]
    ) -> None:
        timeline, wanted = self.context.bridge.engine.timeline, self._filter
        self._is_counting = True
        self.context.tasks.run(
            make_query(
                timeline_strings()["tasks"]["count"], lambda: timeline.count_by_period(grain, first, last, wanted, top)
            )
            .within(self, "count")
            .success(then)
            .failure(self._show_failure)
        )

    def _on_life_counted(self, life: Density) -> None:
        self._life = life
        if life.earliest is None or life.latest is None:
            self._is_counting = False
            self.states.show_empty(self._make_empty_state(life.undated))
            return
        if self._is_first:
            self._is_first = False
            self.grain = self._finest_grain(life.latest - life.earliest)
            self.grains.show_choice(self.grain)
            newest = max(place for place, count in enumerate(life.totals) if count)
            self._wanted = (life.starts[newest], life.starts[newest + 1])
        self._show_busiest(life)
        self._count_grain()

    def _finest_grain(self, span_ms: int) -> str:
        """As near as a whole life still fits."""
        room, scale = self.strip.room, self.context.theme.scale / 100
        for grain in GRAINS:
            columns = span_ms // _SPANS_MS["week" if grain == "day" else grain] + 2
            if do_columns_fit(columns, room, by_weeks=grain == "day", scale=scale):
                return grain
        return GRAINS[-1]

    def _count_grain(self) -> None:
        life, now = self._life, self.context.clock.now_ms()
        if life is None or life.earliest is None or life.latest is None:
            return
        # Round what is chosen where there are too many periods.
        last = now if life.latest < now < life.latest + _RECENT_MS else life.latest
        if self._wanted is not None:  # somebody asked for today, however long ago the last memory is
            last = max(last, min(now, self._wanted[1]))
        reach = _AROUND * _SPANS_MS[self.grain]
        middle = last if self._wanted is None else sum(self._wanted) // 2
        begin, end = max(life.earliest, middle - reach), min(last, middle + reach)
        self._request_counts(self.grain, begin, max(begin, end), 0, self._on_grain_counted)

    def _on_grain_counted(self, density: Density) -> None:
        self._is_counting = False
        self.strip.show_density(density, _places_in_range(density, self._wanted))
        self._show_legend()
        self.nearer.setEnabled(self.grain != GRAINS[0])
        self.farther.setEnabled(self.grain != GRAINS[-1])
        self.states.show_content()
        self._on_period_picked()

    def _on_plot_switched(self) -> None:
        self._hint.setHidden(self.plot.chip.isChecked())  # the plot says itself what is pointed at
        self._show_legend()
        _name_strip_keys(self)

    def _show_legend(self) -> None:
        has_kinds = self.grain != "day" and not self.plot.chip.isChecked()
        self.legend.show_kinds(kinds_of(self.strip.density) if has_kinds else ())

    def _make_empty_state(self, undated: int) -> EmptyState:
        if undated:
            strings = timeline_strings()["empty"]["undated"]
            return EmptyState(self.context.theme, "calendar", strings["title"], format_count(strings, undated))
        is_narrowed = bool(self._filter.kinds or self._filter.spaces)
        strings = timeline_strings()["empty"]["filter" if is_narrowed else "vault"]
        act = (window_strings()["buttons"]["import"], partial(self.context.desk.import_paths.emit, []))
        actions = () if is_narrowed else (act,)
        return EmptyState(self.context.theme, "calendar", strings["title"], strings["sentence"], *actions)

    def _show_failure(self, error: BaseException) -> None:
        self._is_counting = False
        problem = problem_of(error)
        if problem is not None:
            self.states.show_trouble(problem, self.reload)

    # ---- choosing

    def use_grain(self, grain: str) -> None:
        """Let a column represent something else; the chosen time stays as far as the new periods allow.

        Args:
            grain: one of `GRAINS`.
        """
        if grain != self.grain:
            self.grain = grain
            self.grains.show_choice(grain)
            self._count_grain()

    def zoom_by(self, by: int) -> None:
        """Come nearer or go farther.

        Args:
            by: 1 nearer, -1 farther.
        """
        place = GRAINS.index(self.grain) - by
        if 0 <= place < len(GRAINS):
            self.use_grain(GRAINS[place])

    def choose_time(self, first: int, end: int) -> None:
        """Choose a stretch of time, wherever it is.

        Args:
            first: epoch ms, inside.
            end: epoch ms, outside.
        """
        self._wanted = (first, end)
        self._count_grain()

    def choose_named(self, where: str) -> None:
        """Choose a period by its name.

        Args:
            where: `today`, or `everything` for none.
        """
        starts = self.strip.density.starts
        if where == "everything":
            self.strip.choose_everything()
        elif starts:
            now = self.context.clock.now_ms()
            if now >= starts[-1]:  # the strip ends before today
                self.choose_time(now, now + 1)
                return
            place = max((place for place in range(len(starts) - 1) if starts[place] <= now), default=0)
            self.strip.choose_periods(place, place)

    def _on_period_picked(self) -> None:
        strip, life = self.strip, self._life
        places, starts = strip.places, strip.density.starts
        if not places or life is None or life.earliest is None or life.latest is None:
            return
        first, end = starts[places[0]], starts[places[-1] + 1]
        self._wanted = None if strip.chosen is None else (first, end)
        self.plot.show_density()
        self._show_hint()
        if self._wanted is None:
            name, first, end = timeline_strings()["moves"]["everything"]["title"], life.earliest, life.latest + 1
        else:
            name = range_name(strip.density.grain, first, starts[places[-1]], end)
        self.below.show_time(name, (first, end), self._filter, life.undated)

    def _show_busiest(self, life: Density) -> None:
        clear_layout(self._busy_flow)
        if sum(count > 0 for count in life.totals) > _BUSIEST:
            word = make_label(timeline_strings()["strip"]["busiest"], "small")
            word.setMinimumHeight(self.context.theme.px(26))  # in the middle of the chips beside it
            self._busy_flow.addWidget(word)
            for place in life.busiest:
                self._busy_flow.addWidget(self._make_busy_chip(life, place))
        self._fit_busiest()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Where there is little room, the list has it."""
        super().resizeEvent(event)
        self._fit_busiest()

    def _fit_busiest(self) -> None:
        self._busiest.setVisible(self._busy_flow.count() > 0 and self.height() >= self.context.theme.px(_HIGH))

    def _make_busy_chip(self, life: Density, place: int) -> QWidget:
        first, end = life.starts[place], life.starts[place + 1]
        name = range_name("month", first, first, end)
        button = make_button(f"{name} · {life.totals[place]:,}", partial(self.choose_time, first, end), kind="chip")
        button.setAccessibleName(f"{name}, {count_memories(life.totals[place])}")
        return button

    def _show_hint(self) -> None:
        strip = self.strip
        self._hint.set_text(strip.describe_periods((strip.hovered,) if strip.hovered >= 0 else strip.places))


def _name_strip_keys(time: OverTime) -> None:
    """Name the keys of the strip at the buttons that do the same, while it is shown: the plot has keys of its own."""
    buttons = {"farther": time.farther, "nearer": time.nearer, "today": time.today, "everything": time.everything}
    for name, button in buttons.items():
        words = timeline_strings()["moves"][name]
        button.setToolTip(words["hint"] if time.plot.chip.isChecked() else f"{words['hint']} ({words['key']})")


def _places_in_range(density: Density, wanted: tuple[int, int] | None) -> tuple[int, int] | None:
    """The periods of a stretch of time; None where there are none."""
    if wanted is None:
        return None
    starts, (first, end) = density.starts, wanted
    inside = [place for place in range(len(starts) - 1) if starts[place] < end and starts[place + 1] > first]
    return (inside[0], inside[-1]) if inside else None
