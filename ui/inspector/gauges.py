"""The section that shows how firmly a memory is remembered, how sure Loci still is of it, and how long it stays true.

In a plot, what will be is dashed, a line at which something happens is dotted and named: colour is never alone. Must
not do: work out a gauge or decide a level; numbers, curves and dates are the engine's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from core.types.lifecycle import Curve, Gauges
from core.types.memory import Lasting
from core.types.values import STANDING, Memory
from core.types.views import Revision, RevisionReport
from ui.bridge import make_query, make_write, problem_of
from ui.context import Context, Inspected, InspectorSection, InspectorSectionSpec
from ui.inspector.trust import TrustFigure
from ui.plots.specification import Axis, PlotSpec, ReferenceLine, Series
from ui.plots.view import PlotView
from ui.strings import belief_strings as belief_words
from ui.strings import inspector_strings, journal_strings
from ui.strings import inspector_strings as said_of
from ui.theme.tokens import sizes
from ui.undo import offer_undo
from ui.widgets.basics import MenuChip, make_column, make_label, make_row
from ui.widgets.labels import date_of, describe_reasons


def describe_level(level: str) -> str:
    """A level within a sentence: `for years`.

    Args:
        level: one of the five.
    """
    return str(inspector_strings()["lasting"]["levels"].get(level, level)).lower()


def describe_permanence(lasting: Lasting) -> str:
    """What a level rests on, as a sentence; "" where that cannot be said."""
    form = str(inspector_strings()["lasting"].get(lasting.why, ""))
    known = belief_words()["predicates"]
    names = (known[name]["other"] if name in known else name.replace("_", " ") for name in lasting.predicates)
    return form.format(names=", ".join(names), read=describe_level(lasting.read))


class PermanenceRow(QWidget):
    """A chip that says how long, a menu of other lengths, and the reason below."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        words = inspector_strings()["lasting"]
        self._context, self._memory_id = context, ""
        self.chip = MenuChip(context.theme, words["title"], words["levels"], "standard")
        self.chip.setToolTip(words["hint"])
        self.chip.chosen.connect(self._on_level_chosen)
        self.reason = make_label("", "small", wrap=True)
        layout = make_column(self, gap=4)
        layout.addLayout(make_row(self.chip, None))
        layout.addWidget(self.reason)
        self.hide()

    def show_memory(self, memory_id: str) -> None:
        """Show how long a memory lasts; nothing of the one before it in the meantime."""
        if memory_id != self._memory_id:
            self._memory_id = memory_id
            self.hide()
        memories = self._context.bridge.engine.memories
        asked = make_query(
            inspector_strings()["tasks"]["lasting"], lambda: memories.explain_permanence(memory_id)
        ).within(self, "lasting")
        self._context.tasks.run(asked.success(self._show_lasting).failure(lambda _: self.hide()))

    def _show_lasting(self, lasting: Lasting) -> None:
        self.chip.show_choice(lasting.level)
        self.chip.setVisible(lasting.can_choose)
        told = describe_permanence(lasting)
        self.reason.setText(told)
        self.reason.setVisible(bool(told))
        self.chip.setAccessibleDescription(told)
        self.show()

    def _on_level_chosen(self, level: str) -> None:
        context, memory_id = self._context, self._memory_id
        library = context.bridge.engine.library
        words = inspector_strings()["lasting"]

        def report_revision(report: RevisionReport) -> None:
            if report.step_id is None:
                context.desk.show_message(" ".join(report.refused) or words["done"].format(read=describe_level(level)))
                self.show_memory(memory_id)
            else:
                offer_undo(context, words["done"].format(read=describe_level(level)), report.step_id)

        task = make_write(
            words["label"], lambda: library.revise_memories((memory_id,), Revision(permanence=level))
        ).within(self)
        context.tasks.run(task.success(report_revision).failure(self._on_choice_failed))

    def _on_choice_failed(self, error: BaseException) -> None:
        problem = problem_of(error)
        if problem is not None:
            self._context.desk.show_message(problem.sentence)
        self.show_memory(self._memory_id)


_DAY_MS = 86_400_000.0
_NEAR_DAYS = 30
_PERMANENT = "permanent"


def clip_curve(curve: Curve, first: float, last: float) -> tuple[tuple[float, float], ...]:
    """The points of a curve between two days; where it is cut, the value is on the straight line between its points.

    Args:
        curve: days ascending, one value each.
        first: days from now.
        last: likewise, not before `first`.

    Returns:
        (day, value) pairs; empty where the curve has no point there.
    """
    points = list(zip(curve.days, curve.values, strict=True))
    inside = [(day, value) for day, value in points if first <= day <= last]
    if not points or first > points[-1][0] or last < points[0][0]:
        return ()
    if not inside or inside[0][0] > first > points[0][0]:
        inside.insert(0, (first, gauge_value_at(curve, first)))
    if inside[-1][0] < last < points[-1][0]:
        inside.append((last, gauge_value_at(curve, last)))
    return tuple(inside)


def gauge_value_at(curve: Curve, day: float) -> float:
    """The value of a curve on a day, on the straight line between its points; beyond its ends, that of the end.

    Args:
        curve: at least one point.
        day: days from now.
    """
    before = None
    for point in zip(curve.days, curve.values, strict=True):
        if point[0] >= day:
            if before is None or point[0] == before[0]:
                return point[1]
            share = (day - before[0]) / (point[0] - before[0])
            return before[1] + share * (point[1] - before[1])
        before = point
    return curve.values[-1]


@cache
def _gauge_strings() -> Mapping[str, Any]:
    found: Mapping[str, Any] = journal_strings()["gauges"]
    return found


def is_near(at_ms: int | None, now_ms: int) -> bool:
    """Whether something is so near that it is worth saying: what may happen in months is undone by the next recall."""
    return at_ms is not None and at_ms - now_ms <= _NEAR_DAYS * _DAY_MS


def _describe_fading(gauges: Gauges, now_ms: int) -> str:
    """That it is marked as fading, or soon; "" where neither is so."""
    said = _gauge_strings()
    if gauges.is_fading or (gauges.permanence != _PERMANENT and gauges.confidence < gauges.fading_below):
        return str(said["fading"])
    if gauges.fades_at is not None and is_near(gauges.fades_at, now_ms):
        return str(said["fades"]).format(when=date_of(gauges.fades_at))
    return ""


def gauge_sentences(gauges: Gauges, now_ms: int) -> tuple[str, ...]:
    """What becomes of the memory, one sentence a line: of its confidence, and of what archives it or protects it.

    Args:
        now_ms: the present, epoch ms; what is far ahead is not announced.
    """
    said, told = _gauge_strings(), list[str]()
    told.append(said["permanences"].get(gauges.permanence, said["permanences"]["standard"]))
    told += filter(None, [_describe_fading(gauges, now_ms)])
    if gauges.protected_by:
        told.append(said["protected"].format(why=f"{describe_reasons(gauges.protected_by)}."))
    elif gauges.archived_at is not None and gauges.archived_at <= now_ms:
        told.append(said["archived_now"])
    elif gauges.archived_at is not None and is_near(gauges.archived_at, now_ms):
        told.append(said["archived"].format(when=date_of(gauges.archived_at)))
    if gauges.spared_until is not None:
        told.append(said["spared"].format(when=date_of(gauges.spared_until)))
    return tuple(told)


def describe_confirmation(memory: Memory) -> str:
    """When somebody confirmed it last, as a sentence; "" where nobody did since it was stored.

    Args:
        memory: storing it counts as its first confirmation.
    """
    if memory.last_confirmed_at is None or memory.last_confirmed_at <= memory.recorded_at:
        return ""
    return str(said_of()["gauges"]["confirmed"]).format(when=date_of(memory.last_confirmed_at))


def _make_series(name: str, points: Iterable[tuple[float, float]], now_ms: int, **look: Any) -> Series:
    """A part of a curve by its dates."""
    found = {now_ms + day * _DAY_MS: value for day, value in points}
    return Series(name, tuple(found), tuple(found.values()), **look)


def make_gauge_spec(name: str, curve: Curve, value: float, lines: Sequence[ReferenceLine], now_ms: int) -> PlotSpec:
    """A gauge over time: what was is filled, what will be is dashed, and a dot stands at the present.

    Args:
        name: `strength` or `confidence`.
        value: now, 0 to 1.
        lines: at which something happens.
        now_ms: the day the curve counts from, epoch ms.
    """
    said = _gauge_strings()
    last = curve.values[-1] if curve.values else value
    path = str(said[f"{name}_path"]).format(value=f"{value:.2f}", last=f"{last:.2f}")
    past = clip_curve(curve, min(curve.days[0], 0.0), 0.0) if curve.days else ()
    ahead = clip_curve(curve, 0.0, max(curve.days[-1], 0.0)) if curve.days else ()
    present = ReferenceLine(float(now_ms), said["now"], across="x", ink="muted", dot=value)
    return PlotSpec(
        name=said[name],
        sentence=f"{path} {'; '.join(line.name for line in lines)}.",
        x=Axis(kind="date"),
        y=Axis(kind="share", least=0.0, most=1.0),
        series=(
            _make_series(said["so_far"], past, now_ms, is_filled=True),
            _make_series(said["forecast"], ahead, now_ms, stroke="dash"),
        ),
        lines=(*lines, present) if curve.days else (),
        caption=said["ahead"][name].format(last=f"{last:.2f}"),
        empty=path,
    )


class Gauge(QWidget):
    """One gauge: its name, its number, its curve."""

    def __init__(self, context: Context, name: str) -> None:
        """Make it.

        Args:
            name: `strength` or `confidence`.
        """
        super().__init__()
        self._context, self._name, said = context, name, _gauge_strings()
        self.figure = TrustFigure(context.theme, "", "strong")
        self.plot = PlotView(context, sizes().plot_small, is_bare=True)
        self.setToolTip(said[f"{name}_hint"])
        head = make_row(make_label(said[name], "strong"), None, self.plot.toggle, self.figure)
        head.setAlignment(self.figure, Qt.AlignmentFlag.AlignVCenter)
        layout = make_column(self, gap=2)
        layout.addLayout(head)
        layout.addWidget(self.plot)

    def show_curve(self, memory_id: str, curve: Curve, value: float, lines: tuple[ReferenceLine, ...]) -> None:
        """Draw the curve of the gauge.

        Args:
            memory_id: whose it is.
            curve: over time.
            value: now, 0 to 1.
            lines: at which something happens.
        """
        said = _gauge_strings()
        self.figure.setText(f"{value:.2f}")
        spec = make_gauge_spec(self._name, curve, value, lines, self._context.clock.now_ms())
        self.plot.show_plot(replace(spec, subject=memory_id))
        self.setAccessibleName(f"{said[self._name]} {value:.2f}")


class GaugesSection(InspectorSection):
    """Strength, confidence, and what becomes of it."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        said = _gauge_strings()
        self.strength, self.confidence = Gauge(context, "strength"), Gauge(context, "confidence")
        self.sentences = make_label("", "small", wrap=True)
        self.lasting = PermanenceRow(context)
        self._memory_id = self._confirmed = ""
        parts = (self.strength, self.confidence, self.sentences, self.lasting)
        make_column(self, make_label(said["title"], "label"), *parts, gap=10)

    def show_memory(self, inspected: Inspected) -> bool:
        """Show the inspected memory.

        Returns:
            Whether it stands: what is out of the way does not fade any more.
        """
        memory = inspected.memory
        if memory.status not in STANDING:
            return False
        self._confirmed = describe_confirmation(memory)
        if memory.id != self._memory_id:
            self._memory_id = memory.id
            self.strength.hide()
            self.confidence.hide()
            self.sentences.setText("")
        self._request_gauges()
        return True

    def reload(self) -> None:
        """Something changed: read it as it stands now."""
        self._request_gauges()

    def _request_gauges(self) -> None:
        jobs, memory_id = self.context.bridge.engine.jobs, self._memory_id
        asked = make_query(inspector_strings()["tasks"]["gauges"], lambda: jobs.read_gauges(memory_id)).within(
            self, "gauges"
        )
        self.context.tasks.run(asked.success(self._show_gauges).failure(self._show_failure))
        self.lasting.show_memory(memory_id)

    def _show_gauges(self, gauges: Gauges) -> None:
        said = _gauge_strings()
        archive = ReferenceLine(gauges.archive_below, f"{said['archive_line']} {gauges.archive_below:.2f}")
        fading = ReferenceLine(gauges.fading_below, f"{said['fading_line']} {gauges.fading_below:.2f}")
        expired = ReferenceLine(gauges.expired_below, f"{said['expired_line']} {gauges.expired_below:.2f}")
        # Nothing happens at the lines to what is protected, nor for months to what is new.
        ends = is_near(gauges.archived_at, self.context.clock.now_ms())
        self.strength.show_curve(self._memory_id, gauges.strength_curve, gauges.strength, (archive,) if ends else ())
        lines = (fading, expired) if ends else (fading,)
        self.confidence.show_curve(self._memory_id, gauges.confidence_curve, gauges.confidence, lines)
        self.strength.show()
        self.confidence.show()
        sentences = (self._confirmed, *gauge_sentences(gauges, self.context.clock.now_ms()))
        self.sentences.setText("\n".join(sentence for sentence in sentences if sentence))

    def _show_failure(self, _error: BaseException) -> None:
        self.strength.hide()
        self.confidence.hide()
        self.sentences.setText(_gauge_strings()["failed"])


GAUGES = InspectorSectionSpec("gauges", 16, GaugesSection)
