"""The period of which the journal lists the changes, and in one sentence what became of memories in it.

Must not do: list a change.
"""

from __future__ import annotations

from datetime import datetime, time, timedelta

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QSizePolicy, QWidget

from core.types.replies import ChangeCounts
from ui.bridge import make_query
from ui.context import Context
from ui.strings import format_count, journal_strings
from ui.widgets.basics import Segments, make_label
from ui.widgets.labels import to_local

ALL = "all"
PERIODS = ("today", "week", "month", ALL)
_STATE = "journal.period"
_BESIDE = 700


def period_start(period: str, now_ms: int) -> int:
    """When a period began in the local zone, epoch ms; 0 for all there is.

    Args:
        period: one of `PERIODS`; a week begins on Monday.
        now_ms: the present, epoch ms.
    """
    if period == ALL:
        return 0
    today = to_local(now_ms).date()
    back = {"today": 0, "week": today.weekday(), "month": today.day - 1}[period]
    return int(datetime.combine(today - timedelta(back), time.min).timestamp() * 1000)


def describe_period_counts(period: str, counts: ChangeCounts) -> str:
    """What became of memories: `This month, 24 memories were learned, 3 replaced and 2 forgotten`."""
    strings = journal_strings()["changes"]["periods"]
    found = {"replaced": counts.replaced, "merged": counts.merged, "forgotten": counts.forgotten}
    rest = [str(strings["rest"][name]).format(count=count) for name, count in found.items() if count]
    if not rest and not counts.learned:
        return str(strings[period]["none"]) + "."
    told = [format_count(strings["learned"], counts.learned), *rest]
    if len(told) > 1:
        told = [strings["and"].format(first=", ".join(told[:-1]), last=told[-1])]
    return str(strings[period]["some"]).format(counts=told[0])


class PeriodBar(QWidget):
    """Chooses a period and says what became of memories in it.

    Attributes:
        current: the chosen period.
        sentence: what is said.

    Signals:
        chosen: another period was chosen.
    """

    chosen = Signal()

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._context = context
        strings = journal_strings()["changes"]["periods"]
        stored = context.prefs.read_text(_STATE, ALL)
        self.current = stored if stored in PERIODS else ALL
        self.segments = Segments([(one, strings[one]["title"]) for one in PERIODS], self.current, strings["name"])
        self.segments.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.segments.chosen.connect(self.show_period)
        self._words = make_label("", "muted", wrap=True)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self._box = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._box.setContentsMargins(0, 0, 0, 0)
        self._box.setSpacing(12)
        self._box.addWidget(self._words, 1)
        self._box.addWidget(self.segments, 0, Qt.AlignmentFlag.AlignTop)
        context.theme.changed.connect(self._fit_width)

    @property
    def since(self) -> int:
        """When the period began, epoch ms; 0 for all there is."""
        return period_start(self.current, self._context.clock.now_ms())

    @property
    def sentence(self) -> str:
        """What is said about the period."""
        return self._words.text()

    @property
    def nothing(self) -> str:
        """What is said where nothing changed in it."""
        return str(journal_strings()["changes"]["periods"][self.current]["none"])

    def show_all(self) -> None:
        """Choose all there is."""
        self.segments.show_choice(ALL)
        self.show_period(ALL)

    def show_period(self, period: str) -> None:
        """Choose a period.

        Args:
            period: one of `PERIODS`.
        """
        self.current = period
        self._context.prefs.store_value(_STATE, period)
        self.chosen.emit()

    def read_counts(self) -> None:
        """Count anew what became of memories."""
        history, since, period = self._context.bridge.engine.history, self.since, self.current
        task = make_query(journal_strings()["changes"]["periods"]["counting"], lambda: history.count_changes(since))
        task = task.within(self, "counts").failure(lambda _: None)  # the list beside it says what is wrong
        self._context.tasks.run(task.success(lambda counts: self._show_counts(period, counts)))

    def _show_counts(self, period: str, counts: ChangeCounts) -> None:
        self._words.setText(describe_period_counts(period, counts))

    # ---- Qt's events

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """The sentence is above the choice where there is no room beside it."""
        super().resizeEvent(event)
        self._fit_width()

    def _fit_width(self) -> None:
        is_wide = self.width() >= self._context.theme.px(_BESIDE)
        ways = QBoxLayout.Direction
        self._box.setDirection(ways.LeftToRight if is_wide else ways.TopToBottom)
        self._box.setSpacing(12 if is_wide else 6)
        self._box.setStretch(0, 1 if is_wide else 0)
