"""The Recall page, the laboratory: ask, see why, say what should have come, tune with the effect visible.

The answer is beside the tuner, or the two in turns where there is little room. Must not do: know another page,
change how recall ranks before "Apply", or count what is tried as an access.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import QFrame, QSizePolicy, QWidget

from core.events import Changed
from core.types.clients import ClientRecord
from core.types.recall import LabAnswer
from core.types.replies import WaitingKind
from ui.attachments import HitPages
from ui.bridge import make_query, problem_of
from ui.context import Context, PageSpec, RefreshingPage
from ui.pages.recall.actions import AnswerActions, AnswerFeedback
from ui.pages.recall.answers import BAR, AnswerList, AnswerRow, answer_lines
from ui.pages.recall.funnel import Funnel, StageView, is_complete_stage
from ui.pages.recall.labels import join_parts
from ui.pages.recall.options import OptionsDialog
from ui.pages.recall.question import FOUND_LIMIT, LIMIT, LaboratoryQuery, RecallAsker, RecallHeader, StrayTyping
from ui.pages.recall.saved_questions import SavedQuestions
from ui.pages.recall.signals import SignalLegend
from ui.pages.recall.tuner import AppliedDialog, Tuner, TuningDesk
from ui.seal_summary import SealedStrip
from ui.strings import format_count, recall_strings
from ui.theme.theme import Theme
from ui.widgets.basics import (
    UNBOUND,
    KeyButton,
    Segments,
    Stack,
    make_button,
    make_column,
    make_hairline,
    make_label,
    make_row,
)
from ui.widgets.plaintext import one_line
from ui.widgets.states import FOOT, EmptyState, States

ASK, SAVED = "ask", "saved"
_TUNER, _TUNER_NARROW = 340, 292
_WIDE, _BESIDE = 1180, 1000


class AnswerPane(QWidget):
    """Funnel, what is said about the answer, the list, the legend and what can be said about the whole answer.

    Attributes:
        funnel: boxes of the stages. `list`: the rows.

    Signals:
        answer_asked: the person wants the answer again instead of a stage.
        empty_asked: this question should have no answer.
        why_asked: the person wants to know why a memory did not come.
    """

    answer_asked = Signal()
    empty_asked = Signal()
    why_asked = Signal()

    def __init__(self, theme: Theme, sealed: SealedStrip) -> None:
        """Make it, empty.

        Args:
            sealed: shows the sealed memories that the question is about.
        """
        super().__init__()
        self._theme, self.sealed = theme, sealed

    def build_layout(self) -> None:
        """Fill it once it is in its place."""
        theme, acts = self._theme, recall_strings()["acts"]
        layout, over, under = make_column(self, gap=12), make_column(gap=12), make_column(gap=12)
        self.funnel, self.list = Funnel(theme), AnswerList(theme)
        layout.addLayout(over)
        layout.addWidget(self.list, 1)
        layout.addLayout(under)
        # The scroll bar is in the page's margin, so that the cards end where the funnel does.
        for part in (over, under):
            part.setContentsMargins(0, 0, BAR, 0)
        self._stage, self.silence = QWidget(), NoAnswerPanel()
        for made in (self.funnel, self._stage, self.silence, self.sealed):
            over.addWidget(made)
        self.stage_note = make_label("", "muted", wrap=True)
        self.back = make_button(recall_strings()["show_all"], self.answer_asked.emit, kind="link")
        make_row(self.stage_note, self.back, parent=self._stage, gap=12).setStretch(0, 1)
        self.empty_button = KeyButton(
            theme, acts["empty"]["title"], acts["empty"]["key"], self.empty_asked.emit, is_tight=True
        )
        self.why_button = KeyButton(
            theme, acts["why_not"]["title"], acts["why_not"]["key"], self.why_asked.emit, is_tight=True
        )
        for button in (self.empty_button, self.why_button):
            button.setToolTip(recall_strings()["keys_hint"])
        legend = SignalLegend(theme)
        legend.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        foot = make_row(legend, self.empty_button, self.why_button, gap=8)
        foot.setStretch(0, 1)
        foot.setAlignment(legend, Qt.AlignmentFlag.AlignVCenter)
        line = make_hairline()
        line.setProperty(FOOT, True)  # noqa: FBT003 - Qt's name
        under.addWidget(line)
        under.addLayout(foot)
        self.show_stage("")

    def show_stage(self, note: str) -> None:
        """Say what the list holds where it is not the answer.

        Args:
            note: a sentence; "" for the answer.
        """
        self.stage_note.setText(note)
        self._stage.setVisible(bool(note))

    def show_answer(self, answer: LabAnswer) -> None:
        """Say what there is to say about an answer as a whole."""
        self.funnel.show_stages(answer.trace.stages)
        self.funnel.show_time(recall_strings()["summary"]["took"].format(count=f"{answer.took_ms:,.0f}"))
        self.silence.show_answer(answer)
        self.empty_button.setVisible(bool(answer.items) or answer.abstained)


class NoAnswerPanel(QFrame):
    """What is said where there is no answer."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("panel")
        self._reason = make_label("", wrap=True)
        make_column(
            self, make_label(recall_strings()["abstained"]["title"], "section"), self._reason, margins=16, gap=4
        )

    def show_answer(self, answer: LabAnswer) -> None:
        """Say why there is none; hidden where there is one."""
        self.setVisible(answer.abstained)
        self._reason.setText(answer.reason)
        self.setAccessibleName(f"{recall_strings()['abstained']['title']}. {answer.reason}")


class RecallPanes(QWidget):
    """Head, answer or saved questions, tuner.

    Attributes:
        header: title, question, chips. `pane`: the answer; `states` holds it, and what is in its place.
        views: chooses between the question and the saved ones.
    """

    def __init__(self, theme: Theme) -> None:
        """Make it, empty."""
        super().__init__()
        self._theme = theme
        self.is_narrow = self._shows_tuner = self._has_answer = False

    def build_layout(self, tuner: Tuner, saved: SavedQuestions, sealed: SealedStrip) -> None:
        """Fill it once it is in its place, from the outside in: what is moved later is styled twice.

        Args:
            tuner: the column at the right, not built yet.
            saved: the saved questions, likewise.
            sealed: the sealed memories a question is about.
        """
        theme, strings = self._theme, recall_strings()
        self.tuner, self.saved = tuner, saved
        self._main, self._side = QWidget(), QWidget()
        make_row(self._main, self._side, parent=self, gap=0).setStretch(0, 1)
        main, above = make_column(self._main, gap=12), make_column()
        above.setContentsMargins(0, 0, BAR, 0)
        main.addLayout(above)
        self._body = Stack()
        main.addWidget(self._body, 1)
        self.views = Segments(
            [(ASK, strings["views"]["ask"]), (SAVED, strings["views"]["saved"])], ASK, recall_strings()["views_name"]
        )
        self.views.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.turn = make_button(
            strings["tuner"]["show"], self.show_tuner, theme=theme, icon="sliders-horizontal", kind="chip"
        )
        self.header = RecallHeader(theme, self.views, self.turn)
        above.addWidget(self.header)
        self.pane = AnswerPane(theme, sealed)
        self.states = States(theme, self.pane, recall_strings()["asking"])
        self._body.addWidget(self.states)
        self.pane.build_layout()
        self._body.addWidget(saved)
        saved.build_layout()
        self._bar = QWidget()
        side = make_column(self._side, self._bar, gap=0)
        back = make_button(strings["tuner"]["hide"], self.show_main, theme=theme, icon="chevron-left", kind="ghost")
        make_row(back, None, parent=self._bar).setContentsMargins(12, 8, 12, 0)
        side.addWidget(tuner, 1)
        tuner.build_layout()
        self._fit_width()  # narrow until it has its room, or the window would be widened for it
        theme.changed.connect(self._fit_width)

    # ---- what is shown

    @property
    def view(self) -> str:
        """`ask` or `saved`."""
        return SAVED if self._body.currentWidget() is self.saved else ASK

    def show_view(self, view: str) -> None:
        """Show the question, or the saved ones."""
        self.views.show_choice(view)
        self._body.setCurrentWidget(self.saved if view == SAVED else self.states)
        self.header.show_answer(is_shown=view == ASK and self._has_answer)
        self._shows_tuner = False
        self._arrange_panes()

    def show_summary(self, asked: LaboratoryQuery, answer: LabAnswer, *, is_trial: bool) -> None:
        """Say how large the answer is, what it cost, and what is special about it.

        Args:
            is_trial: whether other weights were tried.
        """
        forms = recall_strings()["summary"]
        view = forms["seen_as"].format(name=one_line(asked.seen_as, 40)) if asked.seen_as else ""
        parts = (
            format_count(forms, len(answer.items)),
            forms["tokens"].format(count=f"{answer.tokens:,}"),
            view,
            forms["trial"] if is_trial else "",
        )
        self.header.summary.set_text(join_parts(parts))
        self._has_answer = True
        self.header.show_answer(is_shown=self.view == ASK)

    # ---- taking turns

    def show_tuner(self) -> None:
        """Show the tuner in the place of the answer, where there is little room."""
        self._shows_tuner = True
        self._arrange_panes()
        if self.tuner.knobs:
            self.tuner.knobs[0].setFocus()

    def show_main(self) -> None:
        """Show the answer again."""
        self._shows_tuner = False
        self._arrange_panes()
        self.turn.setFocus()

    def close_tuner(self) -> bool:
        """Leave the tuner where it hides the answer; tells whether there was anything to leave."""
        if self.is_narrow and self._shows_tuner:
            self.show_main()
            return True
        return False

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Everything finds its place anew."""
        super().resizeEvent(event)
        self._fit_width()

    def _fit_width(self) -> None:
        self.is_narrow = self.width() < self._theme.px(_BESIDE)
        self._shows_tuner = self._shows_tuner and self.is_narrow
        self._arrange_panes()

    def _arrange_panes(self) -> None:
        px = self._theme.px
        wide = px(_TUNER if self.width() >= px(_WIDE) else _TUNER_NARROW)
        self._side.setMinimumWidth(0 if self.is_narrow else wide)
        self._side.setMaximumWidth(UNBOUND if self.is_narrow else wide)
        self._side.setVisible(not self.is_narrow or self._shows_tuner)
        self._main.setVisible(not self.is_narrow or not self._shows_tuner)
        self._bar.setVisible(self.is_narrow)
        self.turn.setVisible(self.is_narrow)
        pad = px(28 if self.width() >= px(_WIDE) else 20)
        layout = self._main.layout()
        if layout is not None:
            layout.setContentsMargins(pad, 18, pad - BAR, 12)


ORIGIN = "recall"
_ASIDE = frozenset({"save_probe", "delete_probe", "probes", "regression"})
"""Verbs that change saved questions and no answer."""
_FEW = 16
"""A change that names more memories is an import's batch: the saved questions are not tried on each of them."""


class RecallPage(RefreshingPage):
    """The Recall page."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        theme = context.theme
        self._named = self._found = ""
        self.asker = RecallAsker(context, self)
        self.tuning = TuningDesk(context, self)
        self.saving = AnswerFeedback(context, self)
        self.acts = AnswerActions(context, self.asker, self.saving, self)
        self.stages = StageView(context, self)
        self.saved = SavedQuestions(context, self.saving)
        self.tuner = Tuner(context, self.tuning)
        self.pages = HitPages(context, self)
        self.panes = RecallPanes(theme)
        make_column(self, self.panes)
        self.panes.build_layout(self.tuner, self.saved, SealedStrip(context, ORIGIN))
        self.pane, self.list, self.header = self.panes.pane, self.panes.pane.list, self.panes.header
        self.search_field = self.header.question.field
        self._reads_tuning = self._asks_again = False
        self._connect_signals()
        self._connect_tuner()
        self._bind_keys()
        self._show_nothing()

    def _connect_signals(self) -> None:
        self.header.question.asked.connect(self.ask_question)
        self.header.chips.changed.connect(self.asker.set_plan_change)
        self.header.chips.seen_as.connect(self.asker.ask_as_client)
        self.asker.answered.connect(self._on_answered)
        self.pages.found.connect(lambda: None if self.pane.funnel.current else self._show_answer())
        self.asker.failed.connect(self._show_failure)
        self.asker.began.connect(self._on_asking_began)
        self.pane.funnel.chosen.connect(self._request_stage)
        self.pane.answer_asked.connect(self._show_answer)
        self.pane.empty_asked.connect(self.acts.save_expected_empty)
        self.pane.why_asked.connect(lambda: self.acts.ask_why_missing())
        self.stages.shown.connect(self._show_stage)
        self.stages.failed.connect(self._show_failure)
        self.list.looked_at.connect(self._on_row_chosen)
        self.list.wanted.connect(self.acts.run_action)
        self.panes.views.chosen.connect(self._choose_view)

    def _connect_tuner(self) -> None:
        self.tuning.tried.connect(lambda: self.asker.try_weights(self.tuning.trial))
        self.tuning.applied.connect(self._on_weights_applied)
        self.tuning.failed.connect(self._show_failure)
        self.tuner.look.connect(self.ask_question)
        self.tuner.all_asked.connect(lambda: _show_options(self))
        self.tuner.history_asked.connect(lambda: AppliedDialog(self.context, self.tuning.rows, self).open())
        self.saved.ask.connect(self.ask_question)
        self.saved.ran.connect(self.tuning.compare_trial)
        self.saving.saved.connect(self._on_saved_changed)
        self.saving.noted.connect(self.asker.ask_again)

    def _bind_keys(self) -> None:
        keys = recall_strings()["acts"]
        # Letters act in the list of answers only: elsewhere somebody may have begun to type a question.
        _bind_shortcut(self.list, keys["empty"]["key"], self.acts.save_expected_empty)
        _bind_shortcut(self.list, keys["why_not"]["key"], self.acts.ask_why_missing)
        _bind_shortcut(self, "Escape", self._on_escape)
        StrayTyping(self, self.header.question.field)

    # ---- the page's life

    def activate(self, target: str = "") -> None:
        """Show the page and read what it needs.

        Args:
            target: `ask:` with a question, `why:` with the id of a memory, `found:` with an id and the question that
                found it, `saved`; "" for none.
        """
        super().activate(target)
        _offer_clients(self)
        if self.is_stale or self.tuning.tuning is None:
            self.is_stale = False
            self.tuning.read_tuning()
            self.saved.count_regressions()
            self.asker.ask_again()
        self.tuner.sensitivity.resume_sweep()
        if target.startswith("ask:"):
            self.ask_question(target.removeprefix("ask:"))
        elif target.startswith("found:"):
            self._found, _, question = target.removeprefix("found:").partition(" ")
            self.ask_question(question, FOUND_LIMIT)
        elif target.startswith("why:"):
            self._explain_missing(target.removeprefix("why:"))
        elif target == SAVED:
            self._choose_view(SAVED)
        elif self.context.desk.question not in {"", self.asker.asked.question}:
            self.ask_question(self.context.desk.question)
        self._focus_content(is_answer_wanted=bool(target))

    def _focus_content(self, *, is_answer_wanted: bool) -> None:
        if self.panes.view == ASK and is_answer_wanted and self.asker.asked.question:
            self.list.setFocus()
        elif self.panes.view == ASK:
            self.header.question.field.setFocus()
            self.header.question.field.selectAll()

    def deactivate(self) -> None:
        """Another page is shown: nothing runs here any more."""
        super().deactivate()
        self.asker.finish_pending()
        self.tuning.stop_pending()
        self.tuner.sensitivity.stop_sweep()

    def is_settled(self) -> bool:
        """Whether it shows all it is about to show."""
        parts = (self.asker, self.tuning, self.saved, self.pane.sealed)
        return all(part.is_settled for part in parts) and not self.stages.is_busy and not self._refresh.isActive()

    def handle_change(self, change: Changed) -> None:
        """What was stored or forgotten may change the answer; what was applied or undone, the weights."""
        super().handle_change(change)
        self._reads_tuning = self._reads_tuning or len(change.ids) <= _FEW
        self._asks_again = self._asks_again or change.verb not in _ASIDE

    def reload_stale(self) -> None:
        """The answer where it may differ, and the weights where they may."""
        self.is_stale = False
        if self._asks_again:
            self._asks_again = False
            self.asker.ask_again()
        self.saved.count_regressions()
        if self._reads_tuning:
            self._reads_tuning = False
            self.tuning.read_tuning()
        if self.panes.view == SAVED:
            self.saved.reload()

    # ---- asking

    def ask_question(self, question: str, limit: int = LIMIT) -> None:
        """Ask a question.

        Args:
            question: the words.
            limit: memories the answer has at most.
        """
        self.panes.show_view(ASK)
        self.pane.funnel.show_chosen("")
        self.asker.ask_question(question, limit)
        self.context.desk.question = self.asker.asked.question
        self.header.question.show_question(self.asker.asked.question, self.asker.history)

    def _on_asking_began(self) -> None:
        if self.asker.answer is None:
            self.panes.states.show_loading()

    def _on_answered(self) -> None:
        answer = self.asker.answer
        if answer is None:
            return
        asked = self.asker.asked
        self.header.question.show_question(asked.question, self.asker.history)
        self.header.chips.show_answer(asked, answer)
        self.tuner.show_intent(answer.trace.plan.intent.value)
        self.pane.show_answer(answer)
        self.pane.sealed.ask("" if asked.seen_as else asked.question)  # no client is ever shown them
        self.pages.request_pages([item.memory.id for item in (*answer.items, *answer.near)])
        self.panes.show_summary(asked, answer, is_trial=bool(self.asker.weights))
        self.panes.states.show_content()
        stage = self.pane.funnel.current
        if stage and not is_complete_stage(stage, answer):
            self.stages.request_stage(stage, answer)
        else:
            self._show_answer()
        named, self._named = self._named, ""
        found, self._found = self._found, ""
        if found and not self.list.open_memory(found):
            named = found  # it came by another way than the ranking; what is known of it is said
        if named:
            self.acts.ask_why_missing(named)

    def _show_answer(self) -> None:
        """The answer with its near misses, not what a stage dropped."""
        answer = self.asker.answer
        self.pane.funnel.show_chosen("")
        self.pane.show_stage("")
        if answer is not None:
            base = self.asker.base if self.asker.weights else None
            self.list.show_answer(answer_lines(answer, base, self.pages.words))

    def _request_stage(self, stage: str) -> None:
        answer = self.asker.answer
        if answer is not None and stage and not is_complete_stage(stage, answer):
            self.stages.request_stage(stage, answer)
        else:
            self._show_answer()

    def _show_stage(self, lines: list[AnswerRow], note: str) -> None:
        if self.pane.funnel.current:
            self.pane.show_stage(note)
            self.list.show_answer(lines)

    def _show_nothing(self) -> None:
        strings = recall_strings()["empty"]
        self.panes.states.show_empty(
            EmptyState(self.context.theme, "scan-search", strings["title"], strings["sentence"])
        )

    def _show_failure(self, error: BaseException) -> None:
        problem = problem_of(error)
        if problem is None:
            return
        if self.asker.answer is None and self.asker.asked.question:
            self.panes.states.show_trouble(problem, self.asker.ask_again)
        else:
            self.context.desk.show_message(problem.sentence)

    # ---- one memory

    def _on_row_chosen(self, row: AnswerRow | None) -> None:
        if row is not None:
            self.context.selection.select(row.id, ORIGIN)

    def _explain_missing(self, memory_id: str) -> None:
        """From elsewhere: this memory, for the question that was asked last."""
        self.panes.show_view(ASK)
        if not self.asker.asked.question:
            self.context.desk.show_message(recall_strings()["said"]["ask_first"])
        elif self.asker.is_settled and self.asker.answer is not None:
            self.acts.ask_why_missing(memory_id)
        else:
            self._named = memory_id

    def _on_escape(self) -> None:
        if self.panes.close_tuner() or self.list.close_details():
            return
        if self.pane.funnel.current:
            self._show_answer()

    # ---- saved questions and the tuner

    def _choose_view(self, view: str) -> None:
        self.panes.show_view(view)
        if view == SAVED:
            self.saved.reload()
            self.saved.count_regressions()

    def _on_saved_changed(self) -> None:
        self.tuning.compare_trial()
        if self.panes.view == SAVED:
            self.saved.reload()

    def _on_weights_applied(self) -> None:
        self.tuning.read_tuning()
        self.asker.ask_again()


def _bind_shortcut(host: QWidget, key: str, run: Callable[[], None]) -> None:
    shortcut = QShortcut(QKeySequence(key), host)
    shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
    shortcut.setAutoRepeat(False)
    shortcut.activated.connect(lambda: run())


def _offer_clients(page: RecallPage) -> None:
    """Read whose views can be taken."""

    def show_clients(clients: Sequence[ClientRecord]) -> None:
        page.header.chips.offer_clients([one.name for one in clients])

    clients = page.context.bridge.engine.clients
    task = make_query(recall_strings()["tasks"]["clients"], clients.list).within(page, "clients")
    page.context.tasks.run(task.success(show_clients).failure(lambda _: None))


def _show_options(page: RecallPage) -> None:
    """Show every option, once they were read."""
    if page.tuning.tuning is not None:
        OptionsDialog(page.context, page.tuning, page).open()


RECALL = PageSpec(
    "recall", recall_strings, "scan-search", RecallPage, on_request=True, badge=WaitingKind.REGRESSIONS, has_search=True
)
