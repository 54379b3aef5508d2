"""Where the parts of the page stand: the answer beside the tuner, or the two in turns where there is little room.

Must not do: read, or decide.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QSizePolicy, QStackedWidget, QWidget

from core.types.recall import LabAnswer
from ui.pages.recall.answer.answers import BAR, AnswerList
from ui.pages.recall.answer.funnel import Funnel
from ui.pages.recall.head import Head
from ui.pages.recall.query import LaboratoryQuery
from ui.pages.recall.saved_questions import SavedQuestions
from ui.pages.recall.signals import Legend
from ui.pages.recall.tuner.tuner import Tuner
from ui.pages.recall.words import joined
from ui.strings import format_count, recall_strings
from ui.theme.theme import Theme
from ui.widgets.basics import Segments, button, column, hairline, label, row
from ui.widgets.keys import KeyButton
from ui.widgets.plaintext import one_line
from ui.widgets.states import FOOT, States

ASK, SAVED = "ask", "saved"
_TUNER, _TUNER_NARROW = 340, 292
_WIDE, _BESIDE = 1180, 840
_UNBOUND = 16_777_215


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

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme

    def build(self) -> None:
        """Fill it once it stands in its place."""
        theme, acts = self._theme, recall_strings()["acts"]
        layout, over, under = column(self, gap=12), column(gap=12), column(gap=12)
        self.funnel, self.list = Funnel(theme), AnswerList(theme)
        layout.addLayout(over)
        layout.addWidget(self.list, 1)
        layout.addLayout(under)
        # The scroll bar stands in the page's margin, so that the cards end where the funnel does.
        for part in (over, under):
            part.setContentsMargins(0, 0, BAR, 0)
        self._stage, self.silence = QWidget(), _Silence()
        for made in (self.funnel, self._stage, self.silence):
            over.addWidget(made)
        self.stage_note = label("", "muted", wrap=True)
        self.back = button(recall_strings()["show_all"], self.answer_asked.emit, kind="link")
        row(self.stage_note, self.back, parent=self._stage, gap=12).setStretch(0, 1)
        self.empty_button = KeyButton(
            theme, acts["empty"]["title"], acts["empty"]["key"], self.empty_asked.emit, is_tight=True
        )
        self.why_button = KeyButton(
            theme, acts["why_not"]["title"], acts["why_not"]["key"], self.why_asked.emit, is_tight=True
        )
        legend = Legend(theme)
        legend.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        foot = row(legend, self.empty_button, self.why_button, gap=8)
        foot.setStretch(0, 1)
        foot.setAlignment(legend, Qt.AlignmentFlag.AlignVCenter)
        line = hairline()
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
        """Say what there is to say about an answer as a whole.

        Args:
            answer: what came.
        """
        self.funnel.show_stages(answer.trace.stages)
        self.funnel.show_time(recall_strings()["summary"]["took"].format(count=f"{answer.took_ms:,.0f}"))
        self.silence.show_answer(answer)
        self.empty_button.setVisible(bool(answer.items) or answer.abstained)


class _Silence(QFrame):
    """What is said where there is no answer."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("panel")
        self._reason = label("", wrap=True)
        column(self, label(recall_strings()["abstained"]["title"], "section"), self._reason, margins=16, gap=4)

    def show_answer(self, answer: LabAnswer) -> None:
        """Say why there is none; hidden where there is one."""
        self.setVisible(answer.abstained)
        self._reason.setText(answer.reason)
        self.setAccessibleName(f"{recall_strings()['abstained']['title']}. {answer.reason}")


class Panes(QWidget):
    """Head, answer or saved questions, tuner.

    Attributes:
        head: title, question, chips. `pane`: the answer; `states` holds it, and what stands in its place.
        views: chooses between the question and the saved ones.
    """

    def __init__(self, theme: Theme) -> None:
        """Make it, empty.

        Args:
            theme: the theme.
        """
        super().__init__()
        self._theme = theme
        self.is_narrow = self._shows_tuner = self._has_answer = False

    def build(self, tuner: Tuner, saved: SavedQuestions) -> None:
        """Fill it once it stands in its place, from the outside in: what is moved later is styled twice.

        Args:
            tuner: the column at the right, not built yet.
            saved: the saved questions, likewise.
        """
        theme, said = self._theme, recall_strings()
        self.tuner, self.saved = tuner, saved
        self._main, self._side = QWidget(), QWidget()
        row(self._main, self._side, parent=self, gap=0).setStretch(0, 1)
        main, above = column(self._main, gap=12), column()
        above.setContentsMargins(0, 0, BAR, 0)
        main.addLayout(above)
        self._body = QStackedWidget()
        main.addWidget(self._body, 1)
        self.views = Segments([(ASK, said["views"]["ask"]), (SAVED, said["views"]["saved"])], ASK, "What is shown")
        self.views.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.turn = button(said["tuner"]["show"], self.show_tuner, theme=theme, icon="sliders-horizontal", kind="chip")
        self.head = Head(theme, self.views, self.turn)
        above.addWidget(self.head)
        self.pane = AnswerPane(theme)
        self.states = States(theme, self.pane, "Asking …")
        self._body.addWidget(self.states)
        self.pane.build()
        self._body.addWidget(saved)
        saved.build()
        self._bar = QWidget()
        side = column(self._side, self._bar, gap=0)
        back = button(said["tuner"]["hide"], self.show_main, theme=theme, icon="chevron-left", kind="ghost")
        row(back, None, parent=self._bar).setContentsMargins(12, 8, 12, 0)
        side.addWidget(tuner, 1)
        tuner.build()
        self._fit()  # narrow until it has its room, or the window would be widened for it
        theme.changed.connect(self._fit)

    # ---- what is shown

    @property
    def view(self) -> str:
        """`ask` or `saved`."""
        return SAVED if self._body.currentWidget() is self.saved else ASK

    def show_view(self, view: str) -> None:
        """Show the question, or the saved ones."""
        self.views.show_choice(view)
        self._body.setCurrentWidget(self.saved if view == SAVED else self.states)
        self.head.show_answer(is_shown=view == ASK and self._has_answer)
        self._shows_tuner = False
        self._arrange()

    def show_summary(self, asked: LaboratoryQuery, answer: LabAnswer, *, is_trial: bool) -> None:
        """Say how large the answer is, what it cost, and what is special about it.

        Args:
            asked: what was asked.
            answer: what came.
            is_trial: whether other weights were tried.
        """
        said = recall_strings()["summary"]
        view = said["seen_as"].format(name=one_line(asked.seen_as, 40)) if asked.seen_as else ""
        parts = (
            format_count(said, len(answer.items)),
            said["tokens"].format(count=f"{answer.tokens:,}"),
            view,
            said["trial"] if is_trial else "",
        )
        self.head.summary.say(joined(parts))
        self._has_answer = True
        self.head.show_answer(is_shown=self.view == ASK)

    # ---- taking turns

    def show_tuner(self) -> None:
        """Show the tuner in the place of the answer, where there is little room."""
        self._shows_tuner = True
        self._arrange()
        if self.tuner.knobs:
            self.tuner.knobs[0].setFocus()

    def show_main(self) -> None:
        """Show the answer again."""
        self._shows_tuner = False
        self._arrange()
        self.turn.setFocus()

    def let_go(self) -> bool:
        """Leave the tuner where it hides the answer; tells whether there was anything to leave."""
        if self.is_narrow and self._shows_tuner:
            self.show_main()
            return True
        return False

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Everything finds its place anew."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        self.is_narrow = self.width() < self._theme.px(_BESIDE)
        self._shows_tuner = self._shows_tuner and self.is_narrow
        self._arrange()

    def _arrange(self) -> None:
        px = self._theme.px
        wide = px(_TUNER if self.width() >= px(_WIDE) else _TUNER_NARROW)
        self._side.setMinimumWidth(0 if self.is_narrow else wide)
        self._side.setMaximumWidth(_UNBOUND if self.is_narrow else wide)
        self._side.setVisible(not self.is_narrow or self._shows_tuner)
        self._main.setVisible(not self.is_narrow or not self._shows_tuner)
        self._bar.setVisible(self.is_narrow)
        self.turn.setVisible(self.is_narrow)
        pad = px(28 if self.width() >= px(_WIDE) else 20)
        layout = self._main.layout()
        if layout is not None:
            layout.setContentsMargins(pad, 18, pad - BAR, 12)
