"""The question: its field, what was asked before, chips that say how it was understood; and asking the laboratory.

What was asked applies to both answers: under the weights in force, and under the trial weights. Must not do: show an
answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractButton, QApplication, QLineEdit, QMenu, QPushButton, QSizePolicy, QWidget

from core.types.recall import LabAnswer, PlanChange, QueryPlan
from core.types.requests import RecallQuery
from core.types.values import Intent
from ui.bridge import make_query
from ui.context import Context
from ui.pages.recall.labels import describe_name_aliases, describe_question_time, join_question_names
from ui.strings import recall_strings
from ui.theme.theme import Theme
from ui.theme.tokens import sizes
from ui.widgets.basics import (
    Elided,
    FlowLayout,
    MenuChip,
    make_button,
    make_column,
    make_label,
    make_row,
    make_timer,
    make_tool_button,
)
from ui.widgets.plaintext import escape_tooltip, one_line

LIMIT = 10
"""Memories an answer has at most."""
FOUND_LIMIT = 30
"""Where the question is why one memory was found: a model is given more of them than a list of answers shows."""
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
        limit: memories the answer has at most.
    """

    question: str = ""
    change: PlanChange = field(default_factory=PlanChange)
    seen_as: str = ""
    limit: int = LIMIT


class RecallAsker(QObject):
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
        self._pause = make_timer(self, self._ask_trial, PAUSE_MS)

    @property
    def is_settled(self) -> bool:
        """Whether nothing is on its way."""
        return not self._is_asking and not self._pause.isActive()

    def finish_pending(self) -> None:
        """Nobody looks any more."""
        if self._pause.isActive():
            self._pause.stop()
            self._ask_trial()

    # ---- what is asked

    def ask_question(self, question: str, limit: int = LIMIT) -> None:
        """Ask a question, understood by the rules; the view stays.

        Args:
            question: the words; blanks alone ask nothing.
            limit: memories the answer has at most.
        """
        asked = question.strip()
        if asked:
            self.history = [asked, *(one for one in self.history if one != asked)][:_REMEMBERED]
            self.submit_query(LaboratoryQuery(asked, seen_as=self.asked.seen_as, limit=limit))

    def set_plan_change(self, change: PlanChange) -> None:
        """Ask the same, understood otherwise."""
        self.submit_query(replace(self.asked, change=change))

    def ask_as_client(self, name: str) -> None:
        """Ask the same in another's view."""
        self.submit_query(replace(self.asked, seen_as=name))

    def submit_query(self, asked: LaboratoryQuery) -> None:
        """Ask a question."""
        self.asked = asked
        self.ask_again()

    def ask_again(self) -> None:
        """Ask the same once more: the vault or the weights in force are others now."""
        if not self.asked.question:
            return
        self._pause.stop()
        self._mark_asking()
        self._run_query(None, self._on_base_answered)

    def try_weights(self, weights: Weights) -> None:
        """Ask the same under other weights, in a moment.

        Args:
            weights: option to value; empty for those in force.
        """
        self.weights = dict(weights)
        if self.asked.question:
            self._pause.start()

    # ---- answers

    def _mark_asking(self) -> None:
        self._is_asking = True
        self.began.emit()

    def _ask_trial(self) -> None:
        if self.base is None:
            self.ask_again()
        elif not self.weights:
            self.answer = self.base
            self.answered.emit()
        else:
            self._mark_asking()
            self._run_query(self.weights, self._on_trial_answered)

    def _run_query(self, weights: Weights | None, then: Callable[[LabAnswer], None]) -> None:
        asked = self.asked
        change = None if asked.change == PlanChange() else asked.change
        wanted = RecallQuery(asked.question, limit=asked.limit, explain=True, plan=change)
        laboratory = self._context.bridge.engine.recall_trials
        begun = make_query(
            recall_strings()["tasks"]["ask"], lambda: laboratory.try_question(wanted, weights, asked.seen_as or None)
        )
        self._context.tasks.run(begun.within(self, "ask").success(then).failure(self._on_ask_failed))

    def _on_base_answered(self, answer: LabAnswer) -> None:
        self.base = answer
        if self.weights:
            self._run_query(self.weights, self._on_trial_answered)
        else:
            self._on_trial_answered(answer)

    def _on_trial_answered(self, answer: LabAnswer) -> None:
        self.answer = answer
        self._is_asking = False
        self.answered.emit()

    def _on_ask_failed(self, error: BaseException) -> None:
        self._is_asking = False
        self.failed.emit(error)


_OWN = ""
_SHOWN = 80


_TYPING = (
    Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier | Qt.KeyboardModifier.GroupSwitchModifier
)
_ALT_GR = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier


class StrayTyping(QObject):
    """Brings what is typed on a page where no field has the keyboard into the page's field."""

    def __init__(self, page: QWidget, field: QLineEdit) -> None:
        super().__init__(page)
        self._page, self._field, self._has_window = page, field, False
        page.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """Keys that a button of the page leaves, and those that the window has because nothing has the keyboard."""
        kind = event.type()
        if kind == QEvent.Type.Show and watched is self._page and not self._has_window:
            # Never taken off again: Qt does that when the page goes, and a hidden field takes nothing.
            self._has_window = True
            if self._page.window() is not self._page:
                self._page.window().installEventFilter(self)
        elif kind == QEvent.Type.KeyPress and isinstance(event, QKeyEvent) and self._is_stray(event):
            self._field.setFocus()
            self._field.selectAll()
            self._field.insert(event.text())
            return True
        return super().eventFilter(watched, event)

    def _is_stray(self, event: QKeyEvent) -> bool:
        modifiers = event.modifiers() & ~_TYPING
        # AltGr comes as Ctrl+Alt on Windows; a shortcut of both brings no character that prints.
        is_typed = modifiers in (Qt.KeyboardModifier.NoModifier, _ALT_GR)
        if not is_typed or not event.text().strip() or not event.text().isprintable():
            return False
        focused = QApplication.focusWidget()
        is_nowhere = focused is None or focused is self._page
        is_on_button = isinstance(focused, QAbstractButton) and self._page.isAncestorOf(focused)
        return self._field.isVisible() and (is_nowhere or is_on_button)


class RecallQuestionBar(QWidget):
    """Field, button, history.

    Signals:
        asked: the question.
    """

    asked = Signal(str)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        strings = recall_strings()["field"]
        self.field = QLineEdit()
        self.field.setAccessibleName(strings["name"])
        self.field.setPlaceholderText(strings["hint"])
        self.field.setMaxLength(2_000)
        self.field.returnPressed.connect(self.submit_typed)
        self.act = make_button(strings["ask"], self.submit_typed, kind="primary")
        self.act.setDefault(False)
        self.act.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.history = make_tool_button(theme, "history", strings["history"], self._show_history_menu)
        self.history.setEnabled(False)
        self._before: Sequence[str] = ()
        layout = make_row(self.field, self.history, self.act, parent=self, gap=8)
        layout.setStretch(0, 1)
        theme.changed.connect(self._set_field_height)
        self._set_field_height()

    def _set_field_height(self) -> None:
        high = self._theme.px(sizes().field)
        for part in (self.field, self.act):
            part.setFixedHeight(high)

    def submit_typed(self) -> None:
        """Ask what is typed."""
        if self.field.text().strip():
            self.asked.emit(self.field.text())

    def show_question(self, question: str, before: Sequence[str]) -> None:
        """Show what is asked.

        Args:
            question: the words.
            before: questions of this session, newest first.
        """
        if self.field.text().strip() != question:
            self.field.setText(question)
        self._before = before
        self.history.setEnabled(bool(before))

    def make_history_menu(self) -> QMenu:
        """What was asked before; the caller shows it."""
        menu = QMenu(self)
        menu.setAccessibleName(recall_strings()["field"]["history"])
        menu.aboutToHide.connect(menu.deleteLater)
        for question in self._before:
            action = menu.addAction(one_line(question, _SHOWN).replace("&", "&&"))
            action.triggered.connect(lambda _checked=False, question=question: self.asked.emit(question))
        return menu

    def _show_history_menu(self) -> None:
        self.make_history_menu().popup(self.history.mapToGlobal(self.history.rect().bottomLeft()))


class RecallChips(QWidget):
    """How the question was understood; a chip that is changed asks again.

    Signals:
        changed: a `PlanChange`.
        seen_as: a client's name; "" for the person's own view.
    """

    changed = Signal(object)
    seen_as = Signal(str)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        strings = recall_strings()["chips"]
        self.setAccessibleName(strings["group"])
        self._change, self._plan = PlanChange(), QueryPlan()
        flow = FlowLayout(self, gap=6)
        self.intent = MenuChip(theme, strings["intent"], {}, "")
        self.intent.setToolTip(strings["intent_hint"])
        self.intent.setProperty("tone", "accent")
        self.intent.chosen.connect(self._choose_intent)
        self.names = _note_chip()
        self.time = make_button("", self._toggle_time, kind="chip")
        self.weight = MenuChip(theme, "", {}, "")
        self.weight.setToolTip(strings["weight_hint"])
        self.weight.chosen.connect(self._choose_weight)
        self.view = MenuChip(theme, strings["seen_as"], {"": strings["you"]}, "")
        self.view.setToolTip(strings["seen_hint"])
        self.view.chosen.connect(self.seen_as)
        for part in (self.intent, self.names, self.time, self.weight, self.view):
            flow.addWidget(part)

    def offer_clients(self, names: Sequence[str]) -> None:
        """Name those whose view can be taken.

        Args:
            names: of paired clients.
        """
        current = self.view.current if self.view.current in names else ""
        self.view.set_choices({"": recall_strings()["chips"]["you"], **{name: name for name in names}}, current)

    def show_answer(self, asked: LaboratoryQuery, answer: LabAnswer) -> None:
        """Say how a question was understood."""
        self._change, self._plan = asked.change, answer.trace.plan
        self._show_intent()
        self.names.setVisible(bool(self._plan.entities))
        self.names.setText(join_question_names(self._plan).replace("&", "&&"))
        self.names.setAccessibleName(join_question_names(self._plan))
        self.names.setToolTip(escape_tooltip(describe_name_aliases(self._plan)))
        self._show_time()
        self._show_weight()
        self.view.show_choice(asked.seen_as)

    # ---- intent

    def _show_intent(self) -> None:
        plan, strings = self._plan, recall_strings()
        titles: Mapping[str, str] = strings["intents"]
        scores = {intent.value: plan.intent_scores.get(intent.value, 0.0) for intent in Intent}
        ranked = sorted(scores, key=lambda name: -scores[name])
        known = any(scores.values())
        choices = {name: titles[name].lower() for name in ranked}
        shares = ", ".join(f"{titles[name].lower()} {scores[name]:.2f}" for name in ranked) if known else ""
        hint = strings["chips"]["intent_hint"]
        self.intent.setToolTip(strings["chips"]["intent_scores"].format(hint=hint, scores=shares) if shares else hint)
        own = {_OWN: strings["chips"]["intent_own"]} if self._change.intent is not None else {}
        self.intent.set_choices({**choices, **own}, plan.intent.value)

    def _choose_intent(self, value: str) -> None:
        self._emit_change(replace(self._change, intent=Intent(value) if value else None))

    # ---- time

    def _show_time(self) -> None:
        strings, time = recall_strings()["chips"], self._plan.time
        is_off = self._change.no_time
        self.time.setVisible(is_off or time is not None)
        if is_off:
            shown, hint, icon = strings["time_off"], strings["time_back"], "rotate-ccw"
        elif time is not None:
            days = describe_question_time(time)
            shown, icon = strings["time"].format(days=days), "x"
            hint = strings["time_hint"].format(words=one_line(time.words, 60), days=days)
        else:
            return
        self.time.setText(shown)
        self.time.setAccessibleName(shown)
        self.time.setAccessibleDescription(hint)
        self.time.setToolTip(escape_tooltip(hint))
        self.time.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
        self.time.setIcon(self._theme.icon(icon))

    def _toggle_time(self) -> None:
        self._emit_change(replace(self._change, no_time=not self._change.no_time, time=None))

    # ---- words against meaning

    def _show_weight(self) -> None:
        strings, weight = recall_strings()["chips"], self._plan.text_weight
        own = {_OWN: strings["weight_own"]} if self._change.text_weight is not None else {}
        given = "" if self._change.text_weight is None else str(self._change.text_weight)
        self.weight.set_choices({**strings["weights"], **own}, given)
        shown = strings["weight"].format(words=f"{weight:.2f}", meaning=f"{1 - weight:.2f}")
        self.weight.setText(shown)
        self.weight.setAccessibleName(shown)

    def _choose_weight(self, value: str) -> None:
        self._emit_change(replace(self._change, text_weight=float(value) if value else None))

    def _emit_change(self, change: PlanChange) -> None:
        self.changed.emit(change)


class RecallHeader(QWidget):
    """Title, question, chips.

    Attributes:
        question: the field. `chips`: how it was understood. `summary`: says how large the answer is.
    """

    def __init__(self, theme: Theme, switch: QWidget, tuner: QPushButton) -> None:
        """Make it.

        Args:
            switch: chooses between the question and the saved ones.
            tuner: leads to the tuner.
        """
        super().__init__()
        self.question = RecallQuestionBar(theme)
        self.chips = RecallChips(theme)
        self.title = make_label(recall_strings()["title"], "title")
        layout = make_column(self, gap=12)
        self.summary = Elided("", "muted")
        top = make_row(self.title, self.summary, None, switch, tuner, gap=12)
        top.setStretch(1, 1)
        top.setStretch(2, 0)
        layout.addLayout(top)
        layout.addWidget(self.question)
        layout.addWidget(self.chips)
        self.show_answer(is_shown=False)

    def show_answer(self, *, is_shown: bool) -> None:
        """Say how the question was understood and answered, or not: there is no answer, or it is not looked at."""
        self.chips.setVisible(is_shown)
        self.summary.setVisible(is_shown)


def _note_chip() -> QPushButton:
    """A chip that only tells."""
    button = make_button("", kind="chip")
    button.setEnabled(False)
    button.setCursor(Qt.CursorShape.ArrowCursor)
    return button
