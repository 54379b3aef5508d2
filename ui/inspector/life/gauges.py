"""The part that shows how firmly a memory is remembered and how sure Loci still is of it: two gauges, never mixed.

Must not do: work out a gauge; numbers, curves and dates are the engine's.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from PySide6.QtWidgets import QWidget

from core.types.lifecycle import Curve, Gauges
from core.types.values import Memory, Status
from ui.context import Context, Inspected, Part, PartSpec
from ui.inspector.belief.waterfall import Figure
from ui.inspector.life.gauge_plot import Mark, Plot
from ui.inspector.life.permanence import LastingRow
from ui.inspector.refresh import Refresh
from ui.strings import inspector_strings as said_of
from ui.strings import journal_strings
from ui.tasks import query
from ui.theme.theme import Theme
from ui.widgets.basics import column, label, row
from ui.widgets.words import count_of, date_of, local, reasons_told

_STANDS = frozenset({Status.ACTIVE, Status.DISPUTED})
"""What can fade; the others are out of the way already."""
_PERMANENT = "permanent"
_YEAR_DAYS, _MONTH_DAYS = 730, 60


@cache
def _words() -> Mapping[str, Any]:
    found: Mapping[str, Any] = journal_strings()["gauges"]
    return found


def month_of(ms: int) -> str:
    """`May 2027`, in the local zone."""
    return f"{local(ms):%B %Y}"


def days_told(days: float) -> str:
    """A length of time in words: `12 days`, `5 months`, `3 years`.

    Args:
        days: 0 or more.
    """
    whole = round(days)
    if whole >= _YEAR_DAYS:
        return count_of(round(whole / 365), "year")
    return count_of(round(whole / 30.4), "month") if whole >= _MONTH_DAYS else count_of(whole, "day")


def gauge_sentences(gauges: Gauges) -> tuple[str, ...]:
    """What becomes of the memory, one sentence a line: when it fades, when it is archived, or what protects it.

    Args:
        gauges: from the engine.
    """
    said, told = _words(), list[str]()
    if gauges.is_fading:
        told.append(said["fading"].format(line=f"{gauges.fading_below:.2f}"))
    elif gauges.confidence < gauges.fading_below and gauges.permanence != _PERMANENT:
        told.append(said_of()["gauges"]["low"].format(line=f"{gauges.fading_below:.2f}"))
    elif gauges.fades_at is not None:
        told.append(said["fades"].format(when=month_of(gauges.fades_at)))
    else:
        told.append(said["fades_never"])
    if gauges.protected_by:
        told.append(said["protected"].format(why=f"{reasons_told(gauges.protected_by)}."))
    elif gauges.archived_at is not None:
        told.append(said["archived"].format(when=month_of(gauges.archived_at)))
    if gauges.spared_until is not None:
        told.append(said["spared"].format(when=date_of(gauges.spared_until)))
    told.append(said["permanences"].get(gauges.permanence, ""))
    return tuple(sentence for sentence in told if sentence)


def confirmed_told(memory: Memory) -> str:
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
            theme: the theme.
            name: `strength` or `confidence`.
        """
        super().__init__()
        self._name, said = name, _words()
        self.figure = Figure(theme, "", "strong")
        self.plot = Plot(theme)
        self.setToolTip(said[f"{name}_hint"])
        head = row(label(said[name], "strong"), None, self.figure)
        layout = column(self, gap=2)
        layout.addLayout(head)
        layout.addWidget(self.plot)

    def show_curve(self, curve: Curve, value: float, marks: tuple[Mark, ...]) -> None:
        """Show it.

        Args:
            curve: over time.
            value: now, 0 to 1.
            marks: lines at which something happens.
        """
        said = _words()
        self.figure.setText(f"{value:.2f}")
        begins = -curve.days[0] if curve.days else 0.0
        first = said["past"].format(days=days_told(begins)) if begins >= 1 else ""
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
        said, theme = _words(), context.theme
        self.strength, self.confidence = Gauge(theme, "strength"), Gauge(theme, "confidence")
        self.sentences = label("", "small", wrap=True)
        self.lasting = LastingRow(context)
        self._memory_id = self._confirmed = ""
        parts = (self.strength, self.confidence, self.sentences, self.lasting)
        column(self, label(said["title"], "label"), *parts, gap=10)
        self._again = Refresh(self, self._read)

    def show_memory(self, inspected: Inspected) -> bool:
        """Show it.

        Args:
            inspected: what.

        Returns:
            Whether it stands: what is out of the way does not fade any more.
        """
        memory = inspected.memory
        if memory.status not in _STANDS:
            return False
        self._confirmed = confirmed_told(memory)
        if memory.id != self._memory_id:
            self._memory_id = memory.id
            self.strength.hide()
            self.confidence.hide()
            self.sentences.setText("")
        self._read()
        return True

    def _read(self) -> None:
        jobs, memory_id = self.context.bridge.engine.jobs, self._memory_id
        asked = query("Reading how a memory lasts", lambda: jobs.gauges(memory_id)).within(self, "gauges")
        self.context.tasks.run(asked.success(self._show).failure(self._fail))
        self.lasting.show_memory(memory_id)

    def _show(self, gauges: Gauges) -> None:
        said = _words()
        archive = Mark(gauges.archive_below, f"{said['archive_line']} {gauges.archive_below:.2f}")
        fading = Mark(gauges.fading_below, f"{said['fading_line']} {gauges.fading_below:.2f}")
        expired = Mark(gauges.expired_below, f"{said['expired_line']} {gauges.expired_below:.2f}")
        self.strength.show_curve(gauges.strength_curve, gauges.strength, (archive,))
        self.confidence.show_curve(gauges.confidence_curve, gauges.confidence, (fading, expired))
        self.strength.show()
        self.confidence.show()
        sentences = (self._confirmed, *gauge_sentences(gauges))
        self.sentences.setText("\n".join(sentence for sentence in sentences if sentence))

    def _fail(self, _error: BaseException) -> None:
        self.strength.hide()
        self.confidence.hide()
        self.sentences.setText(_words()["failed"])


GAUGES = PartSpec("gauges", 16, GaugesPart)
