"""What a button or a key does: decide at once, ask first, or say why not; each decision is told with an Undo beside it.

Nothing fires twice, nor on a busy desk. Must not do: choose, or read the queue; it does what was pressed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QWidget

from core.types.reviews import Decision, DecisionReply, ReviewItem
from core.types.values import OWNER_ACTOR, Action
from ui.context import Context
from ui.pages.review.desk import acts_at_once
from ui.pages.review.dialogs import CAME, dialog_for
from ui.pages.review.panes import Panes
from ui.pages.review.words import ASKS
from ui.strings import review_strings
from ui.tasks import problem_of, write
from ui.undo import offer_undo
from ui.widgets.words import count_of

_KEYS: Mapping[str, Action] = {
    "Left": Action.REJECT,
    "Right": Action.SUPERSEDE,
    "B": Action.KEEP_BOTH,
    "D": Action.KEEP_BOTH_DATED,
    "M": Action.MERGE,
    "W": Action.SCOPE_SPLIT,
    "N": Action.DISPUTE_BOTH,
    "S": Action.SKIP,
}


class DecisionKeys(QObject):
    """Turns presses of buttons and keys into decisions.

    Attributes:
        item_id: the item that is looked at, whether it is read already or not; "" for none.
        is_open: whether the page is shown with something on it.

    Signals:
        taken: the ids of what is being decided now.
    """

    taken = Signal(tuple)

    def __init__(self, context: Context, stand: Panes, decider: DecisionRunner, host: QWidget) -> None:
        super().__init__(host)
        self._context, self._stand, self._decider, self._host = context, stand, decider, host
        self.item_id = ""
        self.is_open: Callable[[], bool] = lambda: False
        stand.desk.decided.connect(self.press)
        stand.desk.dates_asked.connect(lambda: self._ask(Action.KEEP_BOTH_DATED))
        stand.batch.decided.connect(self.press)

    def bind(self) -> None:
        """Keys of the page: Qt keeps them from text fields, menus and dialogs, and from what has not the keyboard."""
        moves = self._stand.queue.list
        for key, action in _KEYS.items():
            _bind(self._host, key, partial(self.press, action))
        _bind(self._host, "E", self._edit)
        _bind(self._host, "G", lambda: moves.choose_group(moves.currentIndex().row()))
        _bind(self._host, "Escape", self._stand.let_go)
        _bind(self._host, "Up", lambda: moves.step(-1), repeats=True)
        _bind(self._host, "Down", lambda: moves.step(1), repeats=True)
        for key in ("Return", "Enter"):
            _bind(moves, key, self._stand.open_item, Qt.ShortcutContext.WidgetShortcut)

    @property
    def is_ready(self) -> bool:
        """Whether a key decides now: the item that is looked at is shown, and nothing is under way."""
        if not self.is_open() or not self._decider.is_free:
            return False
        item = self._stand.desk.item
        return self._stand.is_batch or (item is not None and item.id == self.item_id and item.state == "open")

    def press(self, action: Action) -> None:
        """A button or a key."""
        if not self.is_ready:
            return
        item = self._stand.desk.item
        if self._stand.is_batch:
            self._decide_many(action)
        elif item is None or action not in item.actions:
            self._context.desk.say(review_strings()["not_offered"])
        elif not self._stand.desk.actions_bar.allows(action):
            self._context.desk.say(review_strings()["not_repeated"])
        elif action in ASKS and not _is_suggested(item, action):
            self._ask(action)
        else:
            begin = item.suggestion.at if item.suggestion is not None and action in ASKS else None
            self._take((item.id,), Decision(action, begin=begin, remember=self._repeats(action)))

    def _repeats(self, action: Action) -> bool:
        bar = self._stand.desk.actions_bar
        return bar.remember.isChecked() and action is not Action.SKIP and bar.allows(action)

    def _edit(self) -> None:
        """E: write what arrived anew, then let it stand."""
        item = self._stand.desk.item
        if not self.is_ready or self._stand.is_batch or item is None:
            return
        if Action.MERGE not in item.actions:
            self._context.desk.say(review_strings()["not_offered"])
        elif not self._stand.desk.actions_bar.allows(Action.MERGE):
            self._context.desk.say(review_strings()["not_repeated"])
        else:
            self._ask(Action.MERGE, CAME)

    def _ask(self, action: Action, begin: str = "") -> None:
        item = self._stand.desk.item
        if item is not None and self.is_ready:
            dialog = dialog_for(self._context, item, action, self._host, begin)
            dialog.agreed.connect(lambda decision: self._take((item.id,), decision))
            dialog.open()

    def _decide_many(self, action: Action) -> None:
        if action in self._stand.batch.buttons:
            self._take([one.id for one in self._stand.queue.list.chosen], Decision(action))
        else:
            self._context.desk.say(review_strings()["batch"]["needs_each"])

    def _take(self, ids: Sequence[str], decision: Decision) -> None:
        """The next row is looked at before the engine has answered."""
        if self._decider.is_free:
            self.taken.emit(tuple(ids))
            self._decider.decide(ids, decision)


def _is_suggested(item: ReviewItem, action: Action) -> bool:
    found = item.suggestion
    return found is not None and found.action is action and acts_at_once(found)


def _bind(
    host: QWidget,
    key: str,
    run: Callable[[], None],
    where: Qt.ShortcutContext = Qt.ShortcutContext.WidgetWithChildrenShortcut,
    *,
    repeats: bool = False,
) -> None:
    made = QShortcut(QKeySequence(key), host)
    made.setContext(where)
    made.setAutoRepeat(repeats)
    made.activated.connect(run)


BREATH_MS = 300
"""After a decision, so long nothing is taken: the second press of a double click would decide the next item."""


class DecisionRunner(QObject):
    """Sends decisions to the engine.

    Signals:
        done: (ids, `DecisionReply`): it is decided.
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
        """Decide one item, or several alike as one step."""
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
            .success(lambda decided: self._on_decided(wanted, decision, decided))
            .failure(lambda error: self._on_decision_failed(wanted, error))
        )
        running.ended.connect(self._on_task_ended)

    def _on_task_ended(self) -> None:
        self._under_way -= 1

    def _on_decided(self, ids: tuple[str, ...], decision: Decision, decided: DecisionReply) -> None:
        say = sentence_of(decision, decided, len(ids))
        if decided.step_id is not None:
            offer_undo(self._context, say, decided.step_id)
        else:
            self._context.desk.say(say)
        self.done.emit(ids, decided)

    def _on_decision_failed(self, ids: tuple[str, ...], error: BaseException) -> None:
        problem = problem_of(error)
        if problem is not None:
            self._context.desk.say(problem.sentence)
        self.refused.emit(ids)


def sentence_of(decision: Decision, decided: DecisionReply, asked: int) -> str:
    """What was done, in words without any memory's text.

    Args:
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
