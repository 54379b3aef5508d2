"""The tab of a topic: a field for the topic, and its line below.

Must not do: know the other tab.
"""

from __future__ import annotations

from collections import Counter
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFrame, QLineEdit, QWidget

from core.types.views import Evolution, PalacePlan, Transition
from ui.context import Context
from ui.pages.timeline.evolution_list import event_list
from ui.strings import timeline_strings
from ui.tasks import problem_of, query
from ui.widgets.basics import Elided, button, column, row
from ui.widgets.plaintext import one_line
from ui.widgets.states import EmptyState, States
from ui.widgets.words import count_of, memories

_OFFERED = 4
_MOST = 2_000
_COUNTED = {
    Transition.ADDITION: ("addition", "additions"),
    Transition.REINFORCEMENT: ("confirmation", "confirmations"),
    Transition.CORRECTION: ("correction", "corrections"),
}


class EvolutionTab(QWidget):
    """The tab.

    Attributes:
        line: what is shown; None before a topic was named.

    Signals:
        looked_at: id of the memory that was chosen.
    """

    looked_at = Signal(str)

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.context = context
        self.line: Evolution | None = None
        self.is_settled = True
        self._offered: tuple[str, ...] = ()
        self.field = QLineEdit()
        self.field.setObjectName("search")
        self.field.setMaxLength(_MOST)
        self.field.setPlaceholderText("A topic: a name, a thing, a habit …")
        self.field.setAccessibleName("Topic")
        self.field.setAccessibleDescription("Enter shows how what is remembered of it came about")
        self._lens = QAction(self)
        self.field.addAction(self._lens, QLineEdit.ActionPosition.LeadingPosition)
        self.field.returnPressed.connect(self._ask_typed)
        self.show_button = button("Show", self._ask_typed, kind="primary")
        self._summary = Elided("", "small")
        self.list = event_list(context.theme)
        card = QFrame()
        card.setObjectName("card")
        inner = column(card, self.list)
        inner.setContentsMargins(1, 10, 1, 10)
        content = QWidget()
        column(content, self._summary, gap=8).addWidget(card, 1)
        self.states = States(context.theme, content, "Looking for what was said of it …")
        head = row(self.field, self.show_button, gap=8)
        head.setStretch(0, 1)
        layout = column(self, gap=12)
        layout.addLayout(head)
        layout.addWidget(self.states, 1)
        self.list.looked_at_id.connect(self.looked_at)
        context.theme.changed.connect(self._restyle)
        self._restyle()
        self._teach()

    def _restyle(self) -> None:
        self._lens.setIcon(self.context.theme.icon("search", "muted"))

    @property
    def summary(self) -> str:
        """What it says about the line."""
        return self._summary.whole

    # ---- asking

    def enter(self) -> None:
        """It is shown: take the keyboard, offer topics."""
        self.field.setFocus()
        if self.line is None and not self._offered:
            palace = self.context.bridge.engine.palace
            task = query("Looking at the rooms", palace.plan).within(self, "rooms").failure(lambda _: None)
            self.context.tasks.run(task.success(self._offer))

    def ask(self, topic: str) -> None:
        """Show the line of a topic.

        Args:
            topic: some words.
        """
        self.field.setText(topic)
        self._ask_typed()

    def read(self) -> None:
        """Show the same topic again; something changed."""
        if self.line is not None:
            self._ask(self.line.topic)

    def _ask_typed(self) -> None:
        topic = self.field.text().strip()
        if topic:
            if self.line is None:
                self.states.loading()
            self._ask(topic)
        else:
            self.line = None
            self._teach()

    def _ask(self, topic: str) -> None:
        timeline = self.context.bridge.engine.timeline
        self.is_settled = False
        self.context.tasks.run(
            query("Looking for what was said of it", lambda: timeline.evolution(topic))
            .within(self, "line")
            .success(self._take)
            .failure(self._fail)
        )

    # ---- showing

    def _take(self, line: Evolution) -> None:
        self.is_settled, self.line = True, line
        self.list.show_lines(line.events)
        if line.events:
            self._summary.say(_summed(line))
            self.states.content()
            self.choose(self.context.selection.current)
        else:
            words = timeline_strings()["empty"]["nothing"]
            self.states.empty(EmptyState(self.context.theme, "history", words["title"], words["sentence"]))

    def _fail(self, error: BaseException) -> None:
        self.is_settled = True
        problem = problem_of(error)
        if problem is not None:
            self.states.trouble(problem, self._ask_typed)

    def choose(self, memory_id: str) -> None:
        """Choose a memory, where it is on the line."""
        if memory_id:
            self.list.choose(memory_id)

    def _offer(self, plan: PalacePlan) -> None:
        rooms = sorted(
            (room for wing in plan.wings for room in wing.rooms if room.count),
            key=lambda room: (-room.count, room.name),
        )
        self._offered = tuple(dict.fromkeys(room.name for room in rooms))[:_OFFERED]
        if self.line is None:
            self._teach()

    def _teach(self) -> None:
        words = timeline_strings()["empty"]["topic"]
        offers = [(one_line(name, 40), partial(self.ask, name)) for name in self._offered]
        self.states.empty(EmptyState(self.context.theme, "history", words["title"], words["sentence"], *offers))


def _summed(line: Evolution) -> str:
    counts = Counter(event.transition for event in line.events)
    parts = [memories(len(line.events))]
    parts += [count_of(counts[one], *words) for one, words in _COUNTED.items() if counts[one]]
    if line.left_out:
        parts.append(f"{line.left_out:,} more that are less near")
    return " · ".join(parts)
