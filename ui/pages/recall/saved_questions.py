"""The saved questions: what each asks for, how it ended last, run now, ask it, delete it; and how recall did lately.

Must not do: judge an answer.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QLabel, QWidget

from core.types.recall import Probe, ProbeOutcome, RecallHealth, Tally
from ui.bridge import make_query, make_write, problem_of
from ui.context import Context
from ui.pages.recall.actions import AnswerFeedback
from ui.pages.recall.answers import BAR
from ui.pages.recall.labels import format_ordinal, join_parts
from ui.strings import format_count, recall_strings
from ui.widgets.basics import (
    clear_layout,
    make_button,
    make_column,
    make_hairline,
    make_label,
    make_row,
    make_scroll_area,
    make_tool_button,
    set_style_property,
)
from ui.widgets.labels import time_of
from ui.widgets.plaintext import one_line
from ui.widgets.states import EmptyState, States

_QUESTION = 200
_TONES = {True: "success", False: "danger", None: "muted"}


class SavedQuestions(QWidget):
    """The list of saved questions with how each ended last.

    Signals:
        ask: a question to ask.
        ran: the questions were run.
    """

    ask = Signal(str)
    ran = Signal()

    def __init__(self, context: Context, saving: AnswerFeedback) -> None:
        super().__init__()
        self._context, self._saving = context, saving
        self._outcomes: dict[str, ProbeOutcome] = {}
        self._probes: Sequence[Probe] = ()
        self._is_read, self._is_busy = False, False
        self.lines: list[ProbeLine] = []

    def build_layout(self) -> None:
        """Fill it once it is in its place."""
        context, strings = self._context, recall_strings()["saved"]
        content = QWidget()
        self.states = States(context.theme, content, recall_strings()["saved"]["reading"])
        make_column(self, self.states)
        self._summary = make_label("", "muted")
        self.run_button = make_button(strings["run"], self.run_probes, theme=context.theme, icon="play")
        self._regressed = make_label("", "danger")
        self._health = make_label("", "muted", wrap=True)
        inner = QWidget()
        self._column = make_column(inner, gap=0)
        area = make_scroll_area(inner)
        bar = area.verticalScrollBar()
        bar.rangeChanged.connect(lambda _, high: self._column.setContentsMargins(0, 0, 0 if high > 0 else BAR, 0))
        self._column.setContentsMargins(0, 0, BAR, 0)
        over = make_column(None, make_label(strings["sentence"], "muted", wrap=True), gap=12)
        over.addLayout(make_row(self._summary, self._regressed, None, self.run_button, gap=12))
        over.setContentsMargins(0, 0, BAR, 0)
        layout = make_column(content, gap=12)
        layout.addLayout(over)
        layout.addWidget(area, 1)
        layout.addWidget(self._health)

    @property
    def is_settled(self) -> bool:
        """Whether it shows all it is about to show."""
        return not self._is_busy

    @property
    def summary(self) -> str:
        """How many hold."""
        return self._summary.text()

    def reload(self) -> None:
        """Read the saved questions anew."""
        strings = recall_strings()["tasks"]
        self._is_busy = True
        if not self._is_read:
            self.states.show_loading()
        laboratory = self._context.bridge.engine.recall_trials
        task = make_query(strings["saved"], laboratory.list_probes).within(self, "probes")
        self._context.tasks.run(task.success(self._show_probes).failure(self._show_failure))
        health = make_query(strings["health"], laboratory.read_health).within(self, "health")
        self._context.tasks.run(health.success(self._show_health).failure(lambda _: None))

    def count_regressions(self) -> None:
        """Count those that held and fail now."""
        laboratory = self._context.bridge.engine.recall_trials
        task = make_query(recall_strings()["tasks"]["regressions"], laboratory.count_regressions).within(
            self, "regressions"
        )
        self._context.tasks.run(task.success(self.show_regressions).failure(lambda _: None))

    def run_probes(self) -> None:
        """Run all of them now."""
        self._is_busy = True
        self.run_button.setEnabled(False)
        laboratory = self._context.bridge.engine.recall_trials
        task = make_write(recall_strings()["tasks"]["run"], laboratory.run_probes).within(self, "run")
        self._context.tasks.run(task.success(self._on_probes_run).failure(self._show_failure))

    def _on_probes_run(self, tally: Tally) -> None:
        self._outcomes = {one.probe_id: one for one in tally.outcomes}
        self.ran.emit()
        self.reload()
        self.count_regressions()

    def _show_failure(self, error: BaseException) -> None:
        self._is_busy = False
        self.run_button.setEnabled(True)
        problem = problem_of(error)
        if problem is not None:
            self.states.show_trouble(problem, self.reload)

    # ---- showing

    def _show_probes(self, probes: Sequence[Probe]) -> None:
        self._is_read, self._is_busy, self._probes = True, False, probes
        self.run_button.setEnabled(True)
        clear_layout(self._column)
        self.lines = []
        if not probes:
            strings = recall_strings()["saved"]["empty"]
            self.states.show_empty(
                EmptyState(self._context.theme, "scan-search", strings["title"], strings["sentence"])
            )
            return
        card = QFrame()
        card.setObjectName("card")
        inside = make_column(card, gap=0)
        for probe in probes:
            if self.lines:
                inside.addWidget(make_hairline())
            line = ProbeLine(self._context, probe, self._outcomes.get(probe.id))
            line.asked.connect(self.ask)
            line.deleted.connect(self._saving.delete_probe)
            inside.addWidget(line)
            self.lines.append(line)
        self._column.addWidget(card)
        self._column.addStretch(1)
        passed = sum(probe.passed is True for probe in probes)
        self._summary.setText(recall_strings()["saved"]["tally"].format(held=passed, total=len(probes)))
        self.states.show_content()

    def show_regressions(self, count: int) -> None:
        """Say how many failed that held before."""
        self._regressed.setText(format_count(recall_strings()["saved"]["regressions"], count) if count else "")
        self._regressed.setVisible(count > 0)

    def _show_health(self, health: RecallHealth) -> None:
        if not health.answers or health.average_relevancy is None:
            self._health.hide()
            return
        sentence = recall_strings()["health"]["note"].format(
            relevancy=f"{health.average_relevancy:.2f}",
            ndcg=f"{health.ndcg or 0:.2f}",
            silent=f"{100 * (health.abstained or 0):.0f}",
            p50=f"{health.p50_ms or 0:.0f}",
            p95=f"{health.p95_ms or 0:.0f}",
            count=f"{health.recalls:,}",
        )
        self._health.setText(f"{health.sentence} {sentence}".strip())
        set_style_property(self._health, "role", "warning" if health.is_low or health.model_in_doubt else "muted")
        self._health.show()


class ProbeLine(QWidget):
    """One saved question.

    Signals:
        asked: its words.
        deleted: its id.
    """

    asked = Signal(str)
    deleted = Signal(str)

    def __init__(self, context: Context, probe: Probe, outcome: ProbeOutcome | None) -> None:
        """Make it.

        Args:
            outcome: of the last run of this session; None where there was none.
        """
        super().__init__()
        strings = recall_strings()["saved"]
        state = strings["new"] if probe.passed is None else strings["passed" if probe.passed else "failed"]
        place = "" if outcome is None or probe.kind == "negative" else _describe_place(outcome)
        ran = "" if probe.ran_at is None else time_of(probe.ran_at)
        self.note = join_parts((strings[probe.kind].format(within=probe.within), place, ran))
        question = one_line(probe.query, _QUESTION)
        self.setAccessibleName(f"{question}. {state}. {self.note}")
        self.state: QLabel = make_label(state, _TONES[probe.passed])
        self.state.setMinimumWidth(context.theme.px(64))
        mark = {True: "check", False: "x", None: "minus"}[probe.passed]
        icon = QLabel()
        side = context.theme.px(16)
        icon.setPixmap(context.theme.icon(mark, _TONES[probe.passed]).pixmap(side, side))
        self.ask_button = make_button(strings["ask"], lambda: self.asked.emit(probe.query), kind="link")
        self.ask_button.setAccessibleName(f"{strings['ask']}: {question}")
        self.delete_button = make_tool_button(
            context.theme, "trash-2", f"{strings['delete']}: {question}", lambda: self.deleted.emit(probe.id), size=16
        )
        texts = make_column(
            None, make_label(question, "strong", wrap=True), make_label(self.note, "small", wrap=True), gap=2
        )
        layout = make_row(icon, parent=self, gap=12)
        layout.setContentsMargins(16, 10, 12, 10)
        layout.addLayout(texts, 1)
        for part in (self.state, self.ask_button, self.delete_button):
            layout.addWidget(part, 0, Qt.AlignmentFlag.AlignVCenter)


def _describe_place(outcome: ProbeOutcome) -> str:
    strings = recall_strings()["saved"]
    return str(
        strings["absent"] if outcome.place is None else strings["place"].format(place=format_ordinal(outcome.place))
    )
