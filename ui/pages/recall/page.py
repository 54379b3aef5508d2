"""The Recall page: the laboratory. Ask, see why, say what should have come, tune with the effect in sight.

Must not do: know another page, change how recall ranks before "Apply", or count what is tried as an access.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QKeySequence, QShortcut

from core.events import Changed
from core.types.replies import ClientRecord
from ui.context import Context, Page, PageSpec
from ui.pages.recall.actions import AnswerActions
from ui.pages.recall.answer.lines import Row, answer_lines
from ui.pages.recall.answer.stages import StageView, is_whole
from ui.pages.recall.feedback import AnswerFeedback
from ui.pages.recall.panes import ASK, SAVED, Panes
from ui.pages.recall.query import Asker
from ui.pages.recall.saved_questions import SavedQuestions
from ui.pages.recall.tuner.applications import AppliedDialog
from ui.pages.recall.tuner.options import OptionsDialog
from ui.pages.recall.tuner.trial import TuningDesk
from ui.pages.recall.tuner.tuner import Tuner
from ui.strings import recall_strings
from ui.tasks import problem_of, query
from ui.widgets.basics import column
from ui.widgets.states import EmptyState

ORIGIN = "recall"
_REFRESH_MS = 400
_ASIDE = frozenset({"save_probe", "delete_probe", "probes", "regression"})
"""Verbs that change saved questions and no answer."""
_FEW = 16
"""A change that names more memories is an import's batch: the saved questions are not tried on each of them."""


class RecallPage(Page):
    """The page."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        theme = context.theme
        self._is_shown = False
        self._named = ""
        self.asker = Asker(context, self)
        self.tuning = TuningDesk(context, self)
        self.saving = AnswerFeedback(context, self)
        self.acts = AnswerActions(context, self.asker, self.saving, self)
        self.stages = StageView(context, self)
        self.saved = SavedQuestions(context, self.saving)
        self.tuner = Tuner(theme, self.tuning)
        self.stand = Panes(theme)
        column(self, self.stand)
        self.stand.build(self.tuner, self.saved)
        self.pane, self.list, self.head = self.stand.pane, self.stand.pane.list, self.stand.head
        self._refresh = QTimer(self)
        self._refresh.setSingleShot(True)
        self._refresh.setInterval(_REFRESH_MS)
        self._refresh.timeout.connect(self._read_again)
        self._reads_tuning = self._asks_again = False
        self._connect()
        self._connect_tuner()
        self._bind()
        self._show_nothing()

    def _connect(self) -> None:
        self.head.question.asked.connect(self.ask)
        self.head.chips.changed.connect(self.asker.change)
        self.head.chips.seen_as.connect(self.asker.see_as)
        self.asker.answered.connect(self._answered)
        self.asker.failed.connect(self._fail)
        self.asker.began.connect(self._began)
        self.pane.funnel.chosen.connect(self._look_into)
        self.pane.answer_asked.connect(self._show_answer)
        self.pane.empty_asked.connect(self.acts.say_empty)
        self.pane.why_asked.connect(lambda: self.acts.ask_why())
        self.stages.shown.connect(self._show_stage)
        self.stages.failed.connect(self._fail)
        self.list.looked_at.connect(self._look)
        self.list.wanted.connect(self.acts.act)
        self.stand.views.chosen.connect(self._choose_view)

    def _connect_tuner(self) -> None:
        self.tuning.tried.connect(lambda: self.asker.try_weights(self.tuning.trial))
        self.tuning.applied.connect(self._applied)
        self.tuning.failed.connect(self._fail)
        self.tuner.look.connect(self.ask)
        self.tuner.all_asked.connect(lambda: _show_options(self))
        self.tuner.history_asked.connect(lambda: AppliedDialog(self.context, self.tuning.rows, self).open())
        self.saved.ask.connect(self.ask)
        self.saved.ran.connect(self.tuning.compare)
        self.saving.saved.connect(self._saved_changed)
        self.saving.noted.connect(self.asker.again)

    def _bind(self) -> None:
        keys = recall_strings()["acts"]
        _bind(self, keys["empty"]["key"], self._on_question(self.acts.say_empty))
        _bind(self, keys["why_not"]["key"], self._on_question(self.acts.ask_why))
        _bind(self, "Escape", self._let_go)

    def _on_question(self, act: Callable[[], None]) -> Callable[[], None]:
        return lambda: act() if self.stand.view == ASK else None

    # ---- the page's life

    def enter(self, wish: str = "") -> None:
        """Show it.

        Args:
            wish: `ask:` with a question, `why:` with the id of a memory, `saved`; "" for none.
        """
        self._is_shown = True
        _offer_clients(self)
        if self.is_stale or self.tuning.tuning is None:
            self.is_stale = False
            self.tuning.read()
            self.saved.count()
            self.asker.again()
        if wish.startswith("ask:"):
            self.ask(wish.removeprefix("ask:"))
        elif wish.startswith("why:"):
            self._why(wish.removeprefix("why:"))
        elif wish == SAVED:
            self._choose_view(SAVED)
        self._take_focus()

    def _take_focus(self) -> None:
        if self.stand.view == ASK and not self.asker.asked.question:
            self.head.question.field.setFocus()
        elif self.stand.view == ASK:
            self.list.setFocus()

    def leave(self) -> None:
        """Another page is shown: nothing runs here any more."""
        self._is_shown = False
        self.is_stale = self.is_stale or self._refresh.isActive()
        self._refresh.stop()
        self.asker.rest()
        self.tuning.rest()

    def is_settled(self) -> bool:
        """Whether it shows all it is about to show."""
        parts = (self.asker, self.tuning, self.saved)
        return all(part.is_settled for part in parts) and not self.stages.is_busy and not self._refresh.isActive()

    def changed(self, change: Changed) -> None:
        """What was stored or forgotten may change the answer; what was applied or undone, the weights."""
        super().changed(change)
        self._reads_tuning = self._reads_tuning or len(change.ids) <= _FEW
        self._asks_again = self._asks_again or change.verb not in _ASIDE
        if self._is_shown and not self._refresh.isActive():
            self._refresh.start()

    def _read_again(self) -> None:
        self.is_stale = False
        if self._asks_again:
            self._asks_again = False
            self.asker.again()
        self.saved.count()
        if self._reads_tuning:
            self._reads_tuning = False
            self.tuning.read()
        if self.stand.view == SAVED:
            self.saved.read()

    # ---- asking

    def ask(self, question: str) -> None:
        """Ask a question.

        Args:
            question: the words.
        """
        self.stand.show_view(ASK)
        self.pane.funnel.show_chosen("")
        self.asker.ask(question)
        self.head.question.show_question(self.asker.asked.question, self.asker.history)

    def _began(self) -> None:
        if self.asker.answer is None:
            self.stand.states.loading()

    def _answered(self) -> None:
        answer = self.asker.answer
        if answer is None:
            return
        asked = self.asker.asked
        self.head.question.show_question(asked.question, self.asker.history)
        self.head.chips.show_answer(asked, answer)
        self.tuner.show_intent(answer.trace.plan.intent.value)
        self.pane.show_answer(answer)
        self.stand.show_summary(asked, answer, is_trial=bool(self.asker.weights))
        self.stand.states.content()
        stage = self.pane.funnel.current
        if stage and not is_whole(stage, answer):
            self.stages.look(stage, answer)
        else:
            self._show_answer()
        named, self._named = self._named, ""
        if named:
            self.acts.ask_why(named)

    def _show_answer(self) -> None:
        """The answer with its near misses, not what a stage dropped."""
        answer = self.asker.answer
        self.pane.funnel.show_chosen("")
        self.pane.show_stage("")
        if answer is not None:
            base = self.asker.base if self.asker.weights else None
            self.list.show_answer(answer_lines(answer, base))

    def _look_into(self, stage: str) -> None:
        answer = self.asker.answer
        if answer is not None and stage and not is_whole(stage, answer):
            self.stages.look(stage, answer)
        else:
            self._show_answer()

    def _show_stage(self, lines: list[Row], note: str) -> None:
        if self.pane.funnel.current:
            self.pane.show_stage(note)
            self.list.show_answer(lines)

    def _show_nothing(self) -> None:
        said = recall_strings()["empty"]
        self.stand.states.empty(EmptyState(self.context.theme, "scan-search", said["title"], said["sentence"]))

    def _fail(self, error: BaseException) -> None:
        problem = problem_of(error)
        if problem is None:
            return
        if self.asker.answer is None and self.asker.asked.question:
            self.stand.states.trouble(problem, self.asker.again)
        else:
            self.context.desk.say(problem.sentence)

    # ---- one memory

    def _look(self, row: Row | None) -> None:
        if row is not None:
            self.context.selection.select(row.id, ORIGIN)

    def _why(self, memory_id: str) -> None:
        """From elsewhere: this memory, for the question that was asked last."""
        self.stand.show_view(ASK)
        if not self.asker.asked.question:
            self.context.desk.say(recall_strings()["said"]["ask_first"])
        elif self.asker.is_settled and self.asker.answer is not None:
            self.acts.ask_why(memory_id)
        else:
            self._named = memory_id

    def _let_go(self) -> None:
        if self.stand.let_go() or self.list.close_details():
            return
        if self.pane.funnel.current:
            self._show_answer()

    # ---- saved questions and the tuner

    def _choose_view(self, view: str) -> None:
        self.stand.show_view(view)
        if view == SAVED:
            self.saved.read()
            self.saved.count()

    def _saved_changed(self) -> None:
        self.tuning.compare()
        if self.stand.view == SAVED:
            self.saved.read()

    def _applied(self) -> None:
        self.tuning.read()
        self.asker.again()


def _bind(host: RecallPage, key: str, run: Callable[[], None]) -> None:
    made = QShortcut(QKeySequence(key), host)
    made.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
    made.setAutoRepeat(False)
    made.activated.connect(lambda: run())


def _offer_clients(page: RecallPage) -> None:
    """Read whose views can be taken."""

    def offer(clients: Sequence[ClientRecord]) -> None:
        page.head.chips.offer_clients([one.name for one in clients])

    clients = page.context.bridge.engine.clients
    asked = query("Reading the clients", clients.list).within(page, "clients")
    page.context.tasks.run(asked.success(offer).failure(lambda _: None))


def _show_options(page: RecallPage) -> None:
    """Show every option, once they were read."""
    if page.tuning.tuning is not None:
        OptionsDialog(page.context, page.tuning, page).open()


def _failing(context: Context) -> Future[int]:
    return context.bridge.engine.laboratory.regressions()


RECALL = PageSpec(
    "recall",
    "Recall",
    "scan-search",
    RecallPage,
    "laboratory tuner why ranking signals weights near misses saved questions probes ask",
    on_request=True,
    badge=_failing,
)
