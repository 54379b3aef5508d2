"""What stands below the strip: the memories of a stretch of time, or what was believed or true at its end.

Must not do: know the strip.
"""

from __future__ import annotations

from concurrent.futures import Future

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QFrame, QSizePolicy, QWidget

from core.types.views import TimeCursor, TimeFilter, TimePage
from ui.context import Context
from ui.pages.timeline.moment_list import moment_list
from ui.pages.timeline.moments import MomentFeed
from ui.pages.timeline.words import SAID
from ui.strings import timeline_strings
from ui.tasks import problem_of
from ui.widgets.basics import Elided, FlowLayout, Segments, column, label, row
from ui.widgets.states import EmptyState, States
from ui.widgets.words import date_of, memories

_PAUSE_MS = 90  # a drag passes many periods


class Below(QFrame):
    """The card with the list.

    Attributes:
        axis: what it shows of a stretch of time: `said`, `believed` or `true`.

    Signals:
        looked_at: id of the memory that was chosen.
    """

    looked_at = Signal(str)

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.setObjectName("card")
        self._context = context
        self.axis = SAID
        self._filter, self._ends = TimeFilter(), (0, 0)
        axes = [(axis, told["title"]) for axis, told in timeline_strings()["axes"].items()]
        self.axes = Segments(axes, SAID, "What the list shows of the chosen time")
        self.axes.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self._name, self._count, self._sentence = label("", "section"), label("", "muted"), Elided("", "small")
        self.list = moment_list(context.theme)
        self.feed = MomentFeed(context, self.list)
        self.states = States(context.theme, self.list, "Reading the timeline …")
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(_PAUSE_MS)
        self._pause.timeout.connect(self.read)
        self._build()
        self.axes.chosen.connect(self.use_axis)
        self.feed.came.connect(self._came)
        self.feed.failed.connect(self._fail)
        self.list.looked_at_id.connect(self.looked_at)

    def _build(self) -> None:
        title, head, inside = QWidget(), QWidget(), QWidget()
        row(self._name, self._count, gap=8, parent=title)
        title.setMinimumHeight(self._context.theme.px(26))  # in the middle of the chips beside it
        flow = FlowLayout(head, gap=10)
        flow.addWidget(title)
        flow.addWidget(self.axes)
        column(inside, head, self._sentence, gap=4).setContentsMargins(13, 0, 13, 2)
        layout = column(self, inside, gap=6)
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

    def rest(self) -> None:
        """Another page is shown."""
        self._pause.stop()

    def show_time(self, name: str, ends: tuple[int, int], wanted: TimeFilter) -> None:
        """Show another stretch of time, in a moment.

        Args:
            name: what it is called.
            ends: epoch ms, the second one outside.
            wanted: which memories count.
        """
        self._ends, self._filter = ends, wanted
        self._name.setText(name)
        self._say()
        self._pause.start()

    def use_axis(self, axis: str) -> None:
        """Show something else of the same time.

        Args:
            axis: `said`, `believed` or `true`.
        """
        self.axis = axis
        self.axes.show_choice(axis)
        self._say()
        self.read()

    def read(self) -> None:
        """Read it now."""
        self._pause.stop()
        timeline, wanted, axis, ends = self._context.bridge.engine.timeline, self._filter, self.axis, self._ends
        moment = self._moment()

        def fetch(after: TimeCursor | None) -> Future[TimePage]:
            if axis == SAID:
                return timeline.period(*ends, wanted, after)
            return timeline.held(moment, axis, wanted, after)

        self.feed.read(fetch)

    def _say(self) -> None:
        sentence = timeline_strings()["axes"][self.axis]["sentence"]
        self._sentence.say(sentence.format(day=date_of(self._moment())))

    def _moment(self) -> int:
        """The end of the stretch of time, or now where that lies ahead."""
        first, end = self._ends
        return max(first, min(end - 1, self._context.clock.now_ms()))

    def _came(self) -> None:
        self._count.setText(memories(self.feed.total))
        if self.list.lines.rowCount():
            self.states.content()
            if self._context.selection.current:
                self.list.choose(self._context.selection.current)
        else:
            words = timeline_strings()["empty"]["period" if self.axis == SAID else "held"]
            self.states.empty(EmptyState(self._context.theme, "calendar", words["title"], words["sentence"]))

    def _fail(self, error: BaseException) -> None:
        problem = problem_of(error)
        if problem is not None:
            self.states.trouble(problem, self.read)
