"""What runs would do beside what the last ones did: the same names in the same order, to be compared.

Must not do: count anything; the engine's preview and report do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QWidget

from core.types.lifecycle import JobRow, Jobs, JobState, JobType, Preview
from ui.pages.journal.common.job_words import moment
from ui.strings import journal_strings
from ui.theme.theme import Theme
from ui.widgets.basics import clear, column, label, scrolling

_ABOVE = "."
_WIDE = 720  # a count that stands far from its name is not read with it
Report = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Figures:
    """One column.

    Attributes:
        title: of the column.
        counts: by the keys of the names of its kind of work; None where there is no report.
    """

    title: str
    counts: Mapping[str, int] | None


@dataclass(frozen=True, slots=True)
class RunComparison:
    """One kind of work.

    Attributes:
        title: of it.
        names: key to name, in order.
        columns: what it would do, what was foretold of the last run where that is known, what that did.
    """

    title: str
    names: Mapping[str, str]
    columns: tuple[Figures, ...]


def figures_in(report: Report, names: Iterable[str]) -> Mapping[str, int]:
    """The counts of a report; what a report does not name did not happen.

    Args:
        report: counts by name, or names within names.
        names: the keys that are wanted.
    """
    found = dict(_flat(report))
    return {key: found.get(key, 0) for key in names}


def _flat(report: Report, above: str = "") -> Iterator[tuple[str, int]]:
    for name, value in report.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{above}{name}{_ABOVE}")
        elif isinstance(value, int) and not isinstance(value, bool):
            yield f"{above}{name}", value


def compared(preview: Preview, jobs: Jobs, foretold: Mapping[str, Report], now_ms: int) -> tuple[RunComparison, ...]:
    """Every kind of work whose report can be foretold.

    Args:
        preview: of the next runs.
        jobs: the scheduler.
        foretold: job id to what was shown before it was started here.
        now_ms: the present.
    """
    titles = {beat.type: beat.title for beat in jobs.calendar}
    return tuple(
        RunComparison(
            titles.get(JobType(kind), kind.capitalize()),
            names,
            _columns(preview.reports.get(JobType(kind)), _last(jobs, JobType(kind)), foretold, names, now_ms),
        )
        for kind, names in journal_strings()["figures"]["names"].items()
    )


def _last(jobs: Jobs, kind: JobType) -> JobRow | None:
    return next((row for row in jobs.rows if row.type is kind and row.state is JobState.DONE), None)


def _columns(
    ahead: Report | None, last: JobRow | None, foretold: Mapping[str, Report], names: Mapping[str, str], now_ms: int
) -> tuple[Figures, ...]:
    said = journal_strings()["figures"]
    made = [Figures(said["next"], None if ahead is None else figures_in(ahead, names))]
    if last is None:
        return (*made, Figures(said["none"], None))
    if last.id in foretold:
        made.append(Figures(said["foretold"], figures_in(foretold[last.id], names)))
    when = moment(last.finished_at or last.created_at, now_ms)
    return (*made, Figures(said["last"].format(when=when), figures_in(last.report, names)))


class Comparison(QFrame):
    """The tables; a count that is not what was foretold stands out, and says so.

    Attributes:
        shown: what is in them.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("card")
        said = journal_strings()["figures"]
        self.setAccessibleName(said["table"])
        self._theme = theme
        self.shown: tuple[RunComparison, ...] = ()
        self._inner = QWidget()
        self._grid = QGridLayout()
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setColumnStretch(0, 1)
        self.note = label(said["note"], "small", wrap=True)
        layout = column(self._inner, self.note, gap=12)
        layout.setContentsMargins(16, 14, 16, 16)
        layout.addLayout(self._grid)
        layout.addStretch(1)
        self.area = scrolling(self._inner)
        self.area.setAccessibleName(said["table"])
        self.area.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # nothing in it takes the keyboard, and it may be long
        column(self, self.area).setContentsMargins(1, 1, 1, 1)
        theme.changed.connect(self._restyle)

    def show_compared(self, shown: tuple[RunComparison, ...]) -> None:
        """Show other figures.

        Args:
            shown: each kind of work.
        """
        if shown == self.shown:
            return
        self.shown = shown
        clear(self._grid)
        line = 0
        for part in shown:
            line = self._add(part, line)
        self._restyle()

    def _add(self, part: RunComparison, line: int) -> int:
        """One kind of work from a line on; the line behind it."""
        heading = label(part.title, "strong", wrap=True)
        heading.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignBottom)
        self._grid.addWidget(heading, line, 0)
        # The last run stands under the last run, whether what was foretold of one of them is known or not.
        widest = max(len(one.columns) for one in self.shown)
        places = [*range(1, len(part.columns)), widest]
        for place, shown in zip(places, part.columns, strict=True):
            title = label(shown.title, "small", wrap=True)
            title.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignBottom)
            self._grid.addWidget(title, line, place)
        for key, name in part.names.items():
            line += 1
            self._grid.addWidget(label(name, "muted", wrap=True), line, 0)
            for place, made in zip(places, self._counts(part, key, name), strict=True):
                self._grid.addWidget(made, line, place)
        self._grid.setRowMinimumHeight(line + 1, self._theme.px(14))
        return line + 2

    def _counts(self, part: RunComparison, key: str, name: str) -> Iterator[QLabel]:
        said, last = journal_strings()["figures"], len(part.columns) - 1
        counts = [None if shown.counts is None else shown.counts[key] for shown in part.columns]
        differs = last > 1 and counts[last] != counts[last - 1]
        for place, count in enumerate(counts):
            told = said["unknown"] if count is None else f"{count:,}"
            stands_out = differs and place == last
            made = label(f"{said['differs']} {told}" if stands_out else told, "warning" if stands_out else "body")
            made.setObjectName("figure")
            made.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop)
            made.setAccessibleName(f"{name}, {' '.join(part.columns[place].title.split())}: {told}")
            made.setToolTip(said["differs_hint"] if stands_out else "")
            yield made

    def _restyle(self) -> None:
        px = self._theme.px
        self._grid.setHorizontalSpacing(px(10))
        self._grid.setVerticalSpacing(px(5))
        self._inner.setMaximumWidth(px(_WIDE))
        for made in self._inner.findChildren(QLabel, "figure"):
            made.setFont(self._theme.font("number"))
        for place in range(1, max((len(one.columns) for one in self.shown), default=0) + 1):
            self._grid.setColumnMinimumWidth(place, px(52))
