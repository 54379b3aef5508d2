"""The tab of health: what is wrong and what to do about it, what of the work rests and why, every figure in its group.

Must not do: know another tab, or decide what rests; the scheduler says it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib.resources import files
from itertools import pairwise

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QGridLayout, QLabel, QSizePolicy, QWidget

from core.types.lifecycle import Health, JobRow, Jobs, JobState, Trends
from ui.bridge import make_query, problem_of
from ui.context import Context
from ui.pages.journal.jobs.job_lines import NEED_MODEL, Model, describe_scheduler, make_model_query
from ui.pages.journal.jobs.labels import describe_code
from ui.pages.journal.labels import format_near_moment
from ui.pages.journal.lifecycle.figures import GROUPS, Figure, advice_of, figures_of
from ui.pages.journal.rows import set_row_direction
from ui.plots.scale import format_number
from ui.plots.specification import Axis, PlotSpec, Series, make_count_spec
from ui.plots.view import PlotView
from ui.strings import format_count, journal_strings
from ui.theme.theme import Theme
from ui.theme.tokens import sizes
from ui.widgets.basics import (
    clear_layout,
    make_button,
    make_card,
    make_column,
    make_label,
    make_row,
    make_scroll_area,
    make_timer,
)
from ui.widgets.labels import date_of
from ui.widgets.states import Banner, States

_PAUSED, _POISON, _LATER, _AWAY = "paused", "poison", "later", "model_away"
_UNDER_WAY = frozenset({JobState.QUEUED, JobState.RUNNING})


@dataclass(frozen=True, slots=True)
class Pause:
    """One thing that rests.

    Attributes:
        key: why: a key of `rests` in the page's words.
        says: why, as a sentence.
        back: whether it comes back by itself.
        do: what the person can do; "" for nothing.
        act: where that is done, as a button says it; "" for nowhere.
        page: where the button leads, and `wish` what is asked for there.
    """

    key: str
    says: str
    back: str
    do: str
    act: str
    page: str
    wish: str


@cache
def _hold_sentence_keys() -> Mapping[str, str]:
    """The scheduler's sentences, each to its key."""
    told: Mapping[str, str] = json.loads(
        (files("resources") / "lifecycle" / "holds.json").read_text(encoding="utf-8")
    )  # fmt: skip
    return {sentence: key for key, sentence in told.items()}


def find_pauses(jobs: Jobs, model: Model, now_ms: int) -> tuple[Pause, ...]:
    """What rests, that which concerns everything first; each reason once for all, or once for each job.

    Args:
        jobs: the scheduler as it stands.
    """
    found: dict[tuple[str, str], Pause] = {}
    for rest in (*_scheduler_pauses(jobs), *_pauses_of_jobs(jobs, now_ms), *_pauses_of_model(jobs, model, now_ms)):
        found.setdefault((rest.key, rest.says), rest)
    return tuple(found.values())


def _scheduler_pauses(jobs: Jobs) -> Iterator[Pause]:
    if jobs.paused:
        yield _make_pause(_PAUSED)
    key = _hold_sentence_keys().get(jobs.holds, "")
    if key in journal_strings()["health"]["rests"]:
        yield _make_pause(key)
    elif jobs.holds:
        yield Pause("", jobs.holds, "", "", "", "", "")


def _pauses_of_jobs(jobs: Jobs, now_ms: int) -> Iterator[Pause]:
    for job in sorted(jobs.rows, key=lambda one: one.state is not JobState.POISON):  # what needs the person first
        if job.state is JobState.POISON:
            yield _make_pause(
                _POISON,
                job,
                tries=format_count(journal_strings()["runs"]["tries"], job.attempts),
                why=describe_code(job.code),
            )
        elif job.state is JobState.QUEUED:
            key = _hold_sentence_keys().get(job.waits_for, "")
            if key in journal_strings()["health"]["rests"]:
                when = (
                    format_near_moment(job.not_before, now_ms) if key == _LATER and job.not_before is not None else ""
                )
                yield _make_pause(key, job, when=when)


def _pauses_of_model(jobs: Jobs, model: Model, now_ms: int) -> Iterator[Pause]:
    """What is not even queued while the chosen model is away, although its time has come; nobody misses another."""
    if model.is_ready or not model.is_chosen or any(_is_under_way(row) for row in jobs.rows):
        return
    for beat in jobs.calendar:
        if beat.type in NEED_MODEL and beat.next_at is not None and beat.next_at <= now_ms:
            yield _build_pause(_AWAY, beat.title)


def _is_under_way(row: JobRow) -> bool:
    return row.type in NEED_MODEL and row.state in _UNDER_WAY


def _make_pause(key: str, row: JobRow | None = None, **more: str) -> Pause:
    return _build_pause(key, "" if row is None else row.title, **more)


def _build_pause(key: str, title: str, **more: str) -> Pause:
    said: Mapping[str, str] = journal_strings()["health"]["rests"][key]
    return Pause(
        key,
        said["says"].format(title=title, **more),
        said["back"].format(**more) if "when" in more else said["back"],
        said["do"],
        said["act"],
        said["page"],
        said["wish"],
    )


_DAY_MS = 86_400_000
_TWO, _NARROW = 620, 420
_PRESSURES = {"normal": "accent", "elevated": "warning", "critical": "danger"}


class Share(QWidget):
    """How much of something is taken, with the lines of 70 and 90 %."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.share, self.tone = 0.0, "accent"
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    def show_share(self, taken: float, of: float, pressure: str) -> None:
        """Show a share.

        Args:
            taken: how much is taken.
            of: how much there is; with 0 nothing is drawn.
            pressure: `normal`, `elevated` or `critical`.
        """
        self.share = min(1.0, taken / of) if of else 0.0
        self.tone = _PRESSURES.get(pressure, "accent")
        self.setAccessibleName(f"{self.share:.0%}")
        self.setVisible(bool(of))
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Low and wide."""
        return QSize(120, self._theme.px(10))

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw the bar and its lines."""
        painter, colour = QPainter(self), self._theme.colour
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        high = self._theme.px(6)
        ground = QRectF(0, (self.height() - high) / 2, self.width(), high)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour("line"))
        painter.drawRoundedRect(ground, 3, 3)
        painter.setBrush(colour(self.tone))
        painter.drawRoundedRect(QRectF(0, ground.top(), ground.width() * self.share, high), 3, 3)
        painter.setBrush(colour("outline"))
        for line in (0.7, 0.9):
            painter.drawRect(QRectF(self.width() * line, 0, 1, self.height()))
        painter.end()


_TRENDS_MS = 60_000
"""Between two readings of the trends, which walk through every memory: while an import runs, all else is read often."""


class HealthTab(QWidget):
    """The tab of health: advice, pauses and the figures by group.

    Signals:
        counted: how many warnings there are.
    """

    counted = Signal(int)

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.context = context
        self.health: Health | None = None
        said = journal_strings()["health"]
        self.banners: list[Banner] = []
        self._top = QWidget()
        self._warnings = make_column(self._top, gap=8)
        self._inner = QWidget()
        self._inner.setAccessibleName(journal_strings()["health"]["name"])
        self._grid = QGridLayout()
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(10)
        self.work, self.trends = _Work(context), _Trends(context)
        self._cards = {group: _Group(context.theme, said["groups"][group]) for group in GROUPS}
        self._columns = 0
        self._trends_due = make_timer(self, self._on_trends_due, _TRENDS_MS)
        layout = make_column(self._inner, self._top, self.work, gap=10)
        layout.addLayout(self._grid)
        layout.addWidget(self.trends)
        layout.addStretch(1)
        self.area = make_scroll_area(self._inner)
        self.area.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # it may be long: arrows scroll it
        self.states = States(context.theme, self.area, said["reading"])
        make_column(self, self.states)

    # ---- reading

    def activate(self) -> None:
        """It is shown."""
        self._read_trends()
        self.reload()
        self.area.setFocus()

    def reload(self) -> None:
        """Read how Loci is."""
        if self.health is None:
            self.states.show_loading()
        if not self._trends_due.isActive():
            self._trends_due.start()
        jobs = self.context.bridge.engine.jobs
        asked = make_query(journal_strings()["health"]["reading"], jobs.read_health).within(self, "health")
        self.context.tasks.run(asked.success(self._read_work).failure(self._show_failure))

    def _read_work(self, health: Health) -> None:
        jobs = self.context.bridge.engine.jobs
        asked = make_query(journal_strings()["health"]["reading"], lambda: jobs.read_state(1)).within(self, "health")
        self.context.tasks.run(asked.success(partial(self._read_model, health)).failure(self._show_failure))

    def _read_model(self, health: Health, jobs: Jobs) -> None:
        asked = make_model_query(
            self.context,
            self,
            journal_strings()["health"]["reading"],
            "health",
            partial(self._show_health, health, jobs),
        )
        self.context.tasks.run(asked.failure(self._show_failure))

    def _read_trends(self) -> None:
        self._trends_due.stop()
        asked = make_query(journal_strings()["health"]["reading"], self.context.bridge.engine.jobs.read_trends)
        self.context.tasks.run(
            asked.within(self, "trends").success(self.trends.show_trends).failure(lambda _: self.trends.hide())
        )

    def _on_trends_due(self) -> None:
        if self.isVisible():  # else they are read when it is shown
            self._read_trends()

    @property
    def is_settled(self) -> bool:
        """Whether it was read."""
        return self.health is not None

    def _show_failure(self, error: BaseException) -> None:
        problem = problem_of(error)
        if problem is not None and self.health is None:
            self.states.show_trouble(problem, self.reload)

    # ---- showing

    def _show_health(self, health: Health, jobs: Jobs, model: Model) -> None:
        self.work.show_jobs(jobs, model)
        if health != self.health:
            self.health = health
            self._show_warnings(health)
            now = self.context.clock.now_ms()
            for group, shown in self._cards.items():
                shown.show_figures(figures_of(health, group, now))
            taken, of = health.ram.get("total_mb", 0), health.ram.get("budget_mb", 0)
            self._cards["ram"].share.show_share(float(taken), float(of), str(health.ram.get("pressure", "")))
        self.counted.emit(len(health.warnings))
        self._arrange_cards()
        self.states.show_content()

    def _show_warnings(self, health: Health) -> None:
        clear_layout(self._warnings)
        said, desk = journal_strings()["health"], self.context.desk
        self.banners = [Banner(sentence, "warning") for sentence in health.warnings]
        for banner in self.banners:
            self._warnings.addWidget(banner)
        if not self.banners:
            self._warnings.addWidget(make_label(said["well"], "success"))
        found = advice_of(health)
        if not found:
            return
        frame, inner = make_card(margins=16, gap=6)
        inner.addWidget(make_label(said["advice"]["title"], "label"))
        for one in found:
            lead = make_button(one.act, partial(desk.go.emit, one.page, one.wish), kind="link")
            line = make_row(make_label(one.sentence, wrap=True), lead, gap=12)
            line.setStretch(0, 1)
            inner.addLayout(line)
        self._warnings.addWidget(frame)

    def _arrange_cards(self) -> None:
        """Put the cards beside each other where there is room."""
        columns = 2 if self.area.viewport().width() >= self.context.theme.px(_TWO) else 1
        if columns == self._columns:
            return
        self._columns = columns
        for shown in self._cards.values():
            self._grid.removeWidget(shown)
        for nr, shown in enumerate(self._cards.values()):
            self._grid.addWidget(shown, nr // columns, nr % columns)
        self.trends.arrange(columns)
        for nr in range(2):
            self._grid.setColumnStretch(nr, 1 if nr < columns else 0)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """The cards find new places."""
        super().resizeEvent(event)
        self._arrange_cards()


def make_growth_spec(trends: Trends) -> PlotSpec:
    """The vault's growth over time."""
    said = journal_strings()["health"]["growth"]
    growth = trends.growth
    told = format_count(said["told"], growth[-1][1], since=date_of(growth[0][0])) if growth else said["none"]
    times, counts = tuple(float(at) for at, _ in growth), tuple(float(count) for _, count in growth)
    series = Series(said["series"], times, counts, is_filled=True, name_of_one=said["one"])
    return make_count_spec(said["title"], series, said, told)


def _format_ms(took: float) -> str:
    """Milliseconds, whole from ten on."""
    return format_number(round(took, 1) if took < 10 else round(took))


def make_latency_spec(trends: Trends) -> PlotSpec:
    """How long recalls took over time: half of them, and nearly all of them."""
    said = journal_strings()["health"]["latency"]
    periods = trends.latency
    told = said["none"]
    if periods:
        last = periods[-1]
        told = said["told"].format(p50=_format_ms(last.p50_ms), p95=_format_ms(last.p95_ms))
    ats = tuple(float(one.at) for one in periods)
    # The day on which summer time begins has 23 hours.
    is_hourly = len(ats) < 2 or min(after - before for before, after in pairwise(ats)) < _DAY_MS / 2
    return PlotSpec(
        name=said["title"],
        sentence=told,
        x=Axis(kind="date", has_time=is_hourly),
        y=Axis(said["axis"], unit=said["unit"], least=0.0),
        series=(
            Series(said["p95"], ats, tuple(one.p95_ms for one in periods), ink="muted", stroke="dash", shape="square"),
            Series(said["p50"], ats, tuple(one.p50_ms for one in periods)),
        ),
        caption=told,
        empty=said["none"],
    )


class _Trends(QWidget):
    """How the palace grew and how long recall took, as two plots.

    Attributes:
        growth: the plot of memories; `latency` that of recall.
    """

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.growth, self.latency = (PlotView(context, sizes().plot, role="label") for _ in range(2))
        self._row = make_row(parent=self, gap=10)
        for plot in (self.growth, self.latency):
            frame, inner = make_card(margins=16, gap=0)
            inner.addWidget(plot)
            inner.addStretch(1)
            self._row.addWidget(frame, 1)
        self.hide()

    def show_trends(self, trends: Trends) -> None:
        """Draw others."""
        self.growth.show_plot(make_growth_spec(trends))
        self.latency.show_plot(make_latency_spec(trends))
        self.show()

    def arrange(self, columns: int) -> None:
        """Put the plots beside each other, or below.

        Args:
            columns: 1 or 2.
        """
        self._row.setDirection(QBoxLayout.Direction.LeftToRight if columns > 1 else QBoxLayout.Direction.TopToBottom)


class _Work(QFrame):
    """How the scheduled work stands; what of it rests, whether it comes back, and what can be done.

    Attributes:
        stand: how it stands, in a sentence.
        rests: what rests.
    """

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.setObjectName("card")
        title = journal_strings()["health"]["groups"]["work"]
        self.setAccessibleName(title)
        self._context = context
        self.rests: tuple[Pause, ...] = ()
        self._rows: list[QBoxLayout] = []
        self.stand = make_label("", wrap=True)
        self._lines = QWidget()
        self._column = make_column(self._lines, gap=10)
        make_column(self, make_label(title, "label"), self.stand, self._lines, margins=16, gap=8)

    def show_jobs(self, jobs: Jobs, model: Model) -> None:
        """Show the scheduler."""
        now = self._context.clock.now_ms()
        self.rests = find_pauses(jobs, model, now)
        self.stand.setText(describe_scheduler(replace(jobs, holds=""), now, model))
        self.stand.setVisible(not jobs.paused)  # else the first of what rests says so
        clear_layout(self._column)
        self._rows.clear()
        for rest in self.rests:
            told = QWidget()
            told.setAccessibleName(" ".join(part for part in (rest.says, rest.back, rest.do) if part))
            more = " ".join(part for part in (rest.back, rest.do) if part)
            lines = [make_label(rest.says, wrap=True), *([make_label(more, "muted", wrap=True)] if more else [])]
            said = QWidget()
            make_column(said, *lines, gap=2)
            links: list[QWidget] = []
            if rest.act:
                go = partial(self._context.desk.go.emit, rest.page, rest.wish)
                links.append(make_button(rest.act, go, kind="link"))
            self._rows.append(make_row(said, *links, gap=12, parent=told))
            self._rows[-1].setStretch(0, 1)
            self._column.addWidget(told)
        self._lines.setVisible(bool(self.rests))
        self._arrange_rows()

    def _arrange_rows(self) -> None:
        for line in self._rows:
            set_row_direction(line, is_wide=self.width() >= self._context.theme.px(_NARROW))

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Where it is narrow, the words have the width."""
        super().resizeEvent(event)
        self._arrange_rows()


class _Group(QFrame):
    """A group of figures."""

    def __init__(self, theme: Theme, title: str) -> None:
        super().__init__()
        self.setObjectName("card")
        self.setAccessibleName(title)
        self._theme = theme
        self.share = Share(theme)
        self.share.hide()
        self._lines = QWidget()
        self._column = make_column(self._lines, gap=4)
        make_column(self, make_label(title, "label"), self.share, self._lines, margins=16, gap=8).addStretch(1)
        theme.changed.connect(self._restyle_numbers)

    def show_figures(self, figures: tuple[Figure, ...]) -> None:
        """Show the figures of the group."""
        clear_layout(self._column)
        for figure in figures:
            value = make_label(figure.value, wrap=True)
            value.setObjectName(f"figure.{figure.key}")
            value.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop)
            line = QWidget()
            line.setAccessibleName(f"{figure.name}: {figure.value}")
            name = make_label(figure.name, "muted")
            name.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
            make_row(name, value, gap=16, parent=line).setStretch(1, 1)
            self._column.addWidget(line)
        self._restyle_numbers()

    def _restyle_numbers(self) -> None:
        for value in self._lines.findChildren(QLabel):
            if value.objectName():
                value.setFont(self._theme.font("number"))
