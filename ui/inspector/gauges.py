"""The part that shows how firmly a memory is remembered, how sure Loci still is of it, and how long it stays true.

In a plot, what will be is dashed, a line at which something happens is dotted and named: colour is never alone. Must
not do: work out a gauge or decide a level; numbers, curves and dates are the engine's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from core.types.lifecycle import Curve, Gauges
from core.types.memory import Lasting
from core.types.values import Memory, Status
from core.types.views import Revision, RevisionReport
from ui.bridge import make_query, make_write, problem_of
from ui.context import Context, Inspected, Part, PartSpec
from ui.inspector.trust import TrustFigure
from ui.strings import belief_strings as belief_words
from ui.strings import inspector_strings, journal_strings
from ui.strings import inspector_strings as said_of
from ui.theme.theme import Theme
from ui.undo import offer_undo
from ui.widgets.basics import MenuChip, make_column, make_label, make_row
from ui.widgets.labels import date_of, describe_reasons, format_days, to_local


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
        asked = make_query("Reading how long it lasts", lambda: memories.explain_permanence(memory_id)).within(
            self, "lasting"
        )
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


_HIGH, _FOOT, _TOP, _GAP, _DOT = 76, 18, 6, 6, 4.0


@dataclass(frozen=True, slots=True)
class Mark:
    """A line at which something happens: its value, 0 to 1, and its name."""

    value: float
    name: str


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
        inside.insert(0, (first, value_at(curve, first)))
    if inside[-1][0] < last < points[-1][0]:
        inside.append((last, value_at(curve, last)))
    return tuple(inside)


def value_at(curve: Curve, day: float) -> float:
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


class Plot(QWidget):
    """One gauge drawn over time."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._curve = Curve((), ())
        self._value = 0.0
        self._marks: tuple[Mark, ...] = ()
        self._feet = ("", "", "")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.updateGeometry)

    def show_curve(self, curve: Curve, value: float, marks: Sequence[Mark], feet: tuple[str, str, str]) -> None:
        """Draw another one.

        Args:
            curve: over time.
            value: now.
            marks: lines at which something happens.
            feet: words under the beginning, the present and the end.
        """
        self._curve, self._value, self._marks, self._feet = curve, value, tuple(marks), feet
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Low and wide."""
        return QSize(160, self._theme.px(_HIGH + _FOOT))

    # ---- measures

    def plot_rect(self) -> QRectF:
        """Where the curve is drawn."""
        px = self._theme.px
        wide = self.width() - 2 - self._label_width()
        return QRectF(1, px(_TOP), max(40.0, wide), self.height() - px(_TOP + _FOOT))

    def _label_width(self) -> float:
        """Room at the right for the names of the lines."""
        measure = QFontMetricsF(self._theme.font("caption"))
        widest = max((measure.horizontalAdvance(mark.name) for mark in self._marks), default=0.0)
        return widest + self._theme.px(_GAP) if widest else self._theme.px(_DOT)

    def point_at(self, day: float, value: float) -> QPointF:
        """Where a day and a value lie."""
        field, days = self.plot_rect(), self._curve.days or (0.0, 1.0)
        first, last = min(days[0], 0.0), max(days[-1], 1.0)
        share = (day - first) / (last - first)
        return QPointF(
            field.left() + field.width() * share, field.bottom() - field.height() * min(1.0, max(0.0, value))
        )

    # ---- drawing

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw the ground, the lines, the curve, the present."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        field, colour = self.plot_rect(), self._theme.colour
        painter.setPen(QPen(colour("line"), 1))
        painter.drawLine(field.bottomLeft(), field.bottomRight())
        painter.drawLine(field.topLeft(), field.topRight())
        if self._curve.days:
            self._draw_curve(painter)
            self._draw_marks(painter)
            self._draw_now_line(painter)
        painter.end()

    def _curve_path(self, first: float, last: float) -> QPainterPath:
        path = QPainterPath()
        for nr, point in enumerate(clip_curve(self._curve, first, last)):
            (path.lineTo if nr else path.moveTo)(self.point_at(*point))
        return path

    def _draw_curve(self, painter: QPainter) -> None:
        colour, last = self._theme.colour, self._curve.days[-1]
        past, ahead = self._curve_path(min(self._curve.days[0], 0.0), 0.0), self._curve_path(0.0, max(last, 0.0))
        ground = QPainterPath(past)
        if not ground.isEmpty():
            ground.lineTo(self.point_at(0.0, 0.0))
            ground.lineTo(self.point_at(self._curve.days[0], 0.0))
            ground.closeSubpath()
            painter.fillPath(ground, colour("accent_soft"))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(colour("accent"), 1.8))
        painter.drawPath(past)
        dashed = QPen(colour("accent"), 1.8)
        dashed.setDashPattern([3.0, 2.5])
        painter.setPen(dashed)
        painter.drawPath(ahead)

    def _draw_marks(self, painter: QPainter) -> None:
        """The lines; their names stand at their right ends, moved apart where they would lie on each other."""
        colour, field, font = self._theme.colour, self.plot_rect(), self._theme.font("caption")
        high, floor = QFontMetricsF(font).height(), field.bottom() + self._theme.px(_TOP)
        pen = QPen(colour("warning"), 1)
        pen.setDashPattern([1.0, 3.0])
        painter.setFont(font)
        for mark in sorted(self._marks, key=lambda one: one.value):
            y = self.point_at(0.0, mark.value).y()
            painter.setPen(pen)
            painter.drawLine(QPointF(field.left(), y), QPointF(field.right(), y))
            top = min(y - high / 2, floor - high)
            painter.setPen(colour("warning"))
            at = QRectF(field.right() + self._theme.px(_GAP), top, self.width(), high)
            painter.drawText(at, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, mark.name)
            floor = top

    def _draw_now_line(self, painter: QPainter) -> None:
        theme, field = self._theme, self.plot_rect()
        now = self.point_at(0.0, self._value)
        painter.setPen(QPen(theme.colour("outline"), 1))
        painter.drawLine(QPointF(now.x(), field.top()), QPointF(now.x(), field.bottom()))
        painter.setPen(QPen(theme.colour("surface"), 2))
        painter.setBrush(theme.colour("accent"))
        painter.drawEllipse(now, _DOT, _DOT)
        self._draw_feet(painter, now.x())

    def _draw_feet(self, painter: QPainter, now: float) -> None:
        """Words under the beginning, the present and the end; the ends give way to the present."""
        theme, field, font = self._theme, self.plot_rect(), self._theme.font("caption")
        measure = QFontMetricsF(font)
        painter.setFont(font)
        painter.setPen(theme.colour("muted"))
        first, middle, last = self._feet
        wide, gap = measure.horizontalAdvance(middle), theme.px(8)
        left = min(max(field.left(), now - wide / 2), field.right() - wide)
        top, high = field.bottom() + theme.px(2), self.height() - field.bottom() - theme.px(2)
        middle_of = Qt.AlignmentFlag.AlignVCenter
        painter.drawText(QRectF(left, top, wide + 1, high), Qt.AlignmentFlag.AlignLeft | middle_of, middle)
        if field.left() + measure.horizontalAdvance(first) + gap <= left:
            painter.drawText(QRectF(field.left(), top, left, high), Qt.AlignmentFlag.AlignLeft | middle_of, first)
        if field.right() - measure.horizontalAdvance(last) - gap >= left + wide:
            at = QRectF(left, top, field.right() - left, high)
            painter.drawText(at, Qt.AlignmentFlag.AlignRight | middle_of, last)


_STANDS = frozenset({Status.ACTIVE, Status.DISPUTED})
"""What can fade; the others are out of the way already."""
_PERMANENT = "permanent"


@cache
def _gauge_strings() -> Mapping[str, Any]:
    found: Mapping[str, Any] = journal_strings()["gauges"]
    return found


def format_month(ms: int) -> str:
    """`May 2027`, in the local zone."""
    return f"{to_local(ms):%B %Y}"


def gauge_sentences(gauges: Gauges) -> tuple[str, ...]:
    """What becomes of the memory, one sentence a line: when it fades, when it is archived, or what protects it."""
    said, told = _gauge_strings(), list[str]()
    if gauges.is_fading:
        told.append(said["fading"].format(line=f"{gauges.fading_below:.2f}"))
    elif gauges.confidence < gauges.fading_below and gauges.permanence != _PERMANENT:
        told.append(said_of()["gauges"]["low"].format(line=f"{gauges.fading_below:.2f}"))
    elif gauges.fades_at is not None:
        told.append(said["fades"].format(when=format_month(gauges.fades_at)))
    else:
        told.append(said["fades_never"])
    if gauges.protected_by:
        told.append(said["protected"].format(why=f"{describe_reasons(gauges.protected_by)}."))
    elif gauges.archived_at is not None:
        told.append(said["archived"].format(when=format_month(gauges.archived_at)))
    if gauges.spared_until is not None:
        told.append(said["spared"].format(when=date_of(gauges.spared_until)))
    told.append(said["permanences"].get(gauges.permanence, ""))
    return tuple(sentence for sentence in told if sentence)


def describe_confirmation(memory: Memory) -> str:
    """When somebody confirmed it last, as a sentence; "" where nobody did since it was stored.

    Args:
        memory: storing it counts as its first confirmation.
    """
    if memory.last_confirmed_at is None or memory.last_confirmed_at <= memory.recorded_at:
        return ""
    return str(said_of()["gauges"]["confirmed"]).format(when=date_of(memory.last_confirmed_at))


class Gauge(QWidget):
    """One gauge: its name, its number, its curve."""

    def __init__(self, theme: Theme, name: str) -> None:
        """Make it.

        Args:
            name: `strength` or `confidence`.
        """
        super().__init__()
        self._name, said = name, _gauge_strings()
        self.figure = TrustFigure(theme, "", "strong")
        self.plot = Plot(theme)
        self.setToolTip(said[f"{name}_hint"])
        head = make_row(make_label(said[name], "strong"), None, self.figure)
        layout = make_column(self, gap=2)
        layout.addLayout(head)
        layout.addWidget(self.plot)

    def show_curve(self, curve: Curve, value: float, marks: tuple[Mark, ...]) -> None:
        """Draw the curve of the gauge.

        Args:
            curve: over time.
            value: now, 0 to 1.
            marks: lines at which something happens.
        """
        said = _gauge_strings()
        self.figure.setText(f"{value:.2f}")
        begins = -curve.days[0] if curve.days else 0.0
        first = said["past"].format(days=format_days(begins)) if begins >= 1 else ""
        self.plot.show_curve(curve, value, marks, (first, said["now"], said["ahead"]))
        last = curve.values[-1] if curve.values else value
        path = said[f"{self._name}_path"].format(value=f"{value:.2f}", last=f"{last:.2f}")
        lines = "; ".join(mark.name for mark in marks)
        self.plot.setAccessibleName(f"{path} {lines}.")
        self.setAccessibleName(f"{said[self._name]} {value:.2f}")


class GaugesPart(Part):
    """Strength, confidence, and what becomes of it."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        said, theme = _gauge_strings(), context.theme
        self.strength, self.confidence = Gauge(theme, "strength"), Gauge(theme, "confidence")
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
        if memory.status not in _STANDS:
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
        asked = make_query("Reading how a memory lasts", lambda: jobs.read_gauges(memory_id)).within(self, "gauges")
        self.context.tasks.run(asked.success(self._show_gauges).failure(self._show_failure))
        self.lasting.show_memory(memory_id)

    def _show_gauges(self, gauges: Gauges) -> None:
        said = _gauge_strings()
        archive = Mark(gauges.archive_below, f"{said['archive_line']} {gauges.archive_below:.2f}")
        fading = Mark(gauges.fading_below, f"{said['fading_line']} {gauges.fading_below:.2f}")
        expired = Mark(gauges.expired_below, f"{said['expired_line']} {gauges.expired_below:.2f}")
        self.strength.show_curve(gauges.strength_curve, gauges.strength, (archive,))
        self.confidence.show_curve(gauges.confidence_curve, gauges.confidence, (fading, expired))
        self.strength.show()
        self.confidence.show()
        sentences = (self._confirmed, *gauge_sentences(gauges))
        self.sentences.setText("\n".join(sentence for sentence in sentences if sentence))

    def _show_failure(self, _error: BaseException) -> None:
        self.strength.hide()
        self.confidence.hide()
        self.sentences.setText(_gauge_strings()["failed"])


GAUGES = PartSpec("gauges", 16, GaugesPart)
