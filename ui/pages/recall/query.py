"""Asks the laboratory: one question, how it shall be understood, who looks, which weights are tried.

What was asked stands for both answers: under the weights in force, and under the trial weights. Must not do: show.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from PySide6.QtCore import QObject, QTimer, Signal

from core.types.recall import LabAnswer, PlanChange
from core.types.requests import RecallQuery
from ui.context import Context
from ui.tasks import query

LIMIT = 10
"""Memories an answer has at most."""
PAUSE_MS = 250
_REMEMBERED = 30

Weights = Mapping[str, float | str | bool]


@dataclass(frozen=True, slots=True)
class LaboratoryQuery:
    """A question with all that was chosen about it.

    Attributes:
        question: the words; "" for none.
        change: what the person decided about its reading.
        seen_as: a client's name; "" for the person's own view.
    """

    question: str = ""
    change: PlanChange = field(default_factory=PlanChange)
    seen_as: str = ""


class Asker(QObject):
    """Holds what is asked and brings the answers.

    Attributes:
        asked: what is asked now.
        weights: trial weights; empty for those in force.
        base: the answer under the weights in force; None before it came.
        answer: the answer that is shown; `base` where nothing is tried.
        history: questions of this session, newest first.

    Signals:
        began: an answer is on its way.
        answered: `base` and `answer` are those of `asked` and `weights`.
        failed: the error.
    """

    began = Signal()
    answered = Signal()
    failed = Signal(object)

    def __init__(self, context: Context, parent: QObject) -> None:
        super().__init__(parent)
        self._context = context
        self.asked = LaboratoryQuery()
        self.weights: Weights = {}
        self.base: LabAnswer | None = None
        self.answer: LabAnswer | None = None
        self.history: list[str] = []
        self._is_asking = False
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(PAUSE_MS)
        self._pause.timeout.connect(self._ask_trial)

    @property
    def is_settled(self) -> bool:
        """Whether nothing is on its way."""
        return not self._is_asking and not self._pause.isActive()

    def rest(self) -> None:
        """Nobody looks any more."""
        if self._pause.isActive():
            self._pause.stop()
            self._ask_trial()

    # ---- what is asked

    def ask(self, question: str) -> None:
        """Ask a question, understood by the rules; the view stays.

        Args:
            question: the words; blanks alone ask nothing.
        """
        asked = question.strip()
        if asked:
            self.history = [asked, *(one for one in self.history if one != asked)][:_REMEMBERED]
            self.put(LaboratoryQuery(asked, seen_as=self.asked.seen_as))

    def change(self, change: PlanChange) -> None:
        """Ask the same, understood otherwise."""
        self.put(replace(self.asked, change=change))

    def see_as(self, name: str) -> None:
        """Ask the same in another's view."""
        self.put(replace(self.asked, seen_as=name))

    def put(self, asked: LaboratoryQuery) -> None:
        """Ask this."""
        self.asked = asked
        self.again()

    def again(self) -> None:
        """Ask the same once more: the vault or the weights in force are others now."""
        if not self.asked.question:
            return
        self._pause.stop()
        self._begin()
        self._run(None, self._take_base)

    def try_weights(self, weights: Weights) -> None:
        """Ask the same under other weights, in a moment.

        Args:
            weights: option to value; empty for those in force.
        """
        self.weights = dict(weights)
        if self.asked.question:
            self._pause.start()

    # ---- answers

    def _begin(self) -> None:
        self._is_asking = True
        self.began.emit()

    def _ask_trial(self) -> None:
        if self.base is None:
            self.again()
        elif not self.weights:
            self.answer = self.base
            self.answered.emit()
        else:
            self._begin()
            self._run(self.weights, self._take_trial)

    def _run(self, weights: Weights | None, then: Callable[[LabAnswer], None]) -> None:
        asked = self.asked
        change = None if asked.change == PlanChange() else asked.change
        wanted = RecallQuery(asked.question, limit=LIMIT, explain=True, plan=change)
        laboratory = self._context.bridge.engine.laboratory
        begun = query("Asking", lambda: laboratory.ask(wanted, weights, asked.seen_as or None))
        self._context.tasks.run(begun.within(self, "ask").success(then).failure(self._fail))

    def _take_base(self, answer: LabAnswer) -> None:
        self.base = answer
        if self.weights:
            self._run(self.weights, self._take_trial)
        else:
            self._take_trial(answer)

    def _take_trial(self, answer: LabAnswer) -> None:
        self.answer = answer
        self._is_asking = False
        self.answered.emit()

    def _fail(self, error: BaseException) -> None:
        self._is_asking = False
        self.failed.emit(error)
