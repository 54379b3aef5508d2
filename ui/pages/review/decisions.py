"""Carrying decisions out: one at a time, told with an Undo beside it, and nothing fires twice.

Must not do: choose; it does what was pressed.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, QTimer, Signal

from core.types.reviews import Decided, Decision
from core.types.values import OWNER_ACTOR, Action
from ui.context import Context
from ui.strings import review_strings
from ui.tasks import problem_of, write
from ui.undo import offer_undo
from ui.widgets.words import count_of

BREATH_MS = 300
"""After a decision, so long nothing is taken: the second press of a double click would decide the next item."""


class DecisionRunner(QObject):
    """Sends decisions to the engine.

    Signals:
        done: (ids, `Decided`): it is decided.
        refused: (ids): nothing was decided.
    """

    done = Signal(tuple, object)
    refused = Signal(tuple)

    def __init__(self, context: Context, parent: QObject) -> None:
        super().__init__(parent)
        self._context = context
        self._under_way = 0
        self.breath = QTimer(self)
        self.breath.setSingleShot(True)
        self.breath.setInterval(BREATH_MS)

    @property
    def is_free(self) -> bool:
        """Whether a decision can be taken now."""
        return not self._under_way and not self.breath.isActive() and self._context.bridge.is_open

    @property
    def is_deciding(self) -> bool:
        """Whether the engine has not answered yet."""
        return self._under_way > 0

    def rest(self) -> None:
        """Nobody looks any more."""
        self.breath.stop()

    def decide(self, ids: Sequence[str], decision: Decision) -> None:
        """Decide one item, or several alike as one step.

        Args:
            ids: the items.
            decision: what was pressed.
        """
        wanted = tuple(ids)
        conflicts = self._context.bridge.engine.conflicts
        self._under_way += 1
        self.breath.start()
        if len(wanted) == 1:
            task = write("Deciding", lambda: conflicts.resolve(wanted[0], decision, OWNER_ACTOR))
        else:
            task = write("Deciding", lambda: conflicts.resolve_many(wanted, decision, OWNER_ACTOR))
        running = self._context.tasks.run(
            task.within(self)
            .success(lambda decided: self._told(wanted, decision, decided))
            .failure(lambda error: self._failed(wanted, error))
        )
        running.ended.connect(self._ended)

    def _ended(self) -> None:
        self._under_way -= 1

    def _told(self, ids: tuple[str, ...], decision: Decision, decided: Decided) -> None:
        say = sentence_of(decision, decided, len(ids))
        if decided.step_id is not None:
            offer_undo(self._context, say, decided.step_id)
        else:
            self._context.desk.say(say)
        self.done.emit(ids, decided)

    def _failed(self, ids: tuple[str, ...], error: BaseException) -> None:
        problem = problem_of(error)
        if problem is not None:
            self._context.desk.say(problem.sentence)
        self.refused.emit(ids)


def sentence_of(decision: Decision, decided: Decided, asked: int) -> str:
    """What was done, in words without any memory's text.

    Args:
        decision: what was pressed.
        decided: what came of it.
        asked: for how many items.
    """
    if decision.action is Action.SKIP:
        said = "Put off. It comes again at the end." if asked == 1 else f"{count_of(asked, 'item')} put off."
    else:
        said = f"{decided.label}: done." if decided.label else "Nothing had to be changed."
    more = [said]
    if decided.asked:
        told = review_strings()["asked_on"]
        more.append(told["one" if len(decided.asked) == 1 else "many"].format(count=len(decided.asked)))
    if decided.closed:
        more.append(f"{count_of(len(decided.closed), 'other item')} closed with it.")
    if decided.refused:
        reasons = " ".join(dict.fromkeys(decided.refused.values()))
        more.append(f"{count_of(len(decided.refused), 'item')} stayed: {reasons}")
    if decided.withheld:
        told = review_strings()["withheld"]
        more.append(told["one" if len(decided.withheld) == 1 else "many"].format(count=len(decided.withheld)))
    if decision.remember and decided.step_id is not None:
        more.append(review_strings()["repeated"])
    return " ".join(more)
