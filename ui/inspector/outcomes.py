"""The sections that say how a rule serves and how a procedure goes, and take down how it was this time.

Must not do: count, or show text that is not made visible.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtWidgets import QVBoxLayout, QWidget

from core.types.lifecycle import ProcedureState, RuleState
from core.types.memory import Application
from core.types.values import OWNER_ACTOR, Kind, Memory
from ui.bridge import make_query
from ui.context import Context, Inspected, InspectorSection, InspectorSectionSpec
from ui.inspector.actions import is_procedure, is_rule
from ui.inspector.shared_widgets import make_flush_row
from ui.inspector.trust import TrustFigure, format_score
from ui.strings import format_count, inspector_strings, practice_strings
from ui.widgets.basics import FlowLayout, KeyButton, make_button, make_column, make_label, make_row
from ui.widgets.labels import date_of
from ui.widgets.plaintext import one_line

REVIEW = "review"
_LOGGED = 5
_NAME, _REASON, _ORIGINAL, _CUE = 40, 200, 600, 40
_SECOND_MS, _MINUTE_S, _HOUR_S = 1000, 60, 3600


def describe_service(state: RuleState) -> str:
    """How often a rule helped and harmed: `Helped 3 times, did harm once`."""
    strings = practice_strings()["rule"]
    if not state.applied:
        return str(strings["never"])
    return f"{format_count(strings['helpful'], state.helpful)}, {format_count(strings['harmful'], state.harmful)}"


def describe_application(one: Application) -> str:
    """One time that a rule was applied: `Did harm, said you, 3 Nov 2026: it broke the build`.

    Args:
        one: from the engine; its reason is hostile.
    """
    strings = practice_strings()["rule"]
    who = (
        strings["by"]["owner"]
        if one.client is None
        else strings["by"]["client"].format(who=one_line(one.client, _NAME))
    )
    form = strings["log_reason" if one.reason else "log_line"]
    what = strings["helped" if one.is_helpful else "harmed"]
    return str(form).format(what=what, who=who, when=date_of(one.at), reason=one_line(one.reason, _REASON))


def describe_runs(state: ProcedureState) -> str:
    """How often a procedure worked: `Worked 3 times, failed once, 75 % of the time`."""
    strings = practice_strings()["procedure"]
    rate = state.success_rate
    if rate is None:
        return str(strings["never"])
    share = strings["rate"].format(value=round(100 * rate))
    worked, failed = format_count(strings["worked"], state.successes), format_count(strings["failed"], state.failures)
    return f"{worked}, {failed} · {share}"


def format_duration(average_ms: int) -> str:
    """A length of time in words: `40 seconds`, `12 minutes`, `3 hours`.

    Args:
        average_ms: 1 or more.
    """
    strings, seconds = practice_strings()["durations"], max(1, round(average_ms / _SECOND_MS))
    if seconds < 2 * _MINUTE_S:
        return format_count(strings["seconds"], seconds)
    if seconds < 2 * _HOUR_S:
        return format_count(strings["minutes"], round(seconds / _MINUTE_S))
    return format_count(strings["hours"], round(seconds / _HOUR_S))


class _Marks(QWidget):
    """Two buttons with their keys."""

    def __init__(self, context: Context, outcomes: Sequence[tuple[str, str]]) -> None:
        """Make them.

        Args:
            outcomes: words of `practising` with their keys.
        """
        super().__init__()
        layout = FlowLayout(self, gap=4)
        for outcome, letter in outcomes:
            act = practice_strings()["acts"][outcome]
            button = KeyButton(context.theme, act["title"], letter, self._make_runner(context, outcome), is_tight=True)
            button.setToolTip(act["hint"])
            layout.addWidget(button)

    @staticmethod
    def _make_runner(context: Context, outcome: str) -> Callable[[], None]:
        return lambda: context.commands.run(f"memory.{outcome}")


def _make_log_section(title: QWidget, text: QWidget) -> QVBoxLayout:
    """A heading with its text, away from what is above it."""
    made = make_column(None, title, text, gap=2)
    made.setContentsMargins(0, 6, 0, 0)
    return made


def _counted_memory_id(memory: Memory) -> str:
    """What is counted: of a split text its head."""
    return memory.part_of or memory.id


class RuleSection(InspectorSection):
    """Counts, maturity, the last applications, what it said before it was turned around, two buttons."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        strings, theme = practice_strings()["rule"], context.theme
        self._memory_id, self._proposal = "", ""
        self.maturity, self.effectiveness = make_label("", "strong"), TrustFigure(theme, "", "strong")
        self.effectiveness.setToolTip(strings["effectiveness_hint"])
        self.counts, self.statistics = make_label("", wrap=True), make_label("", "small", wrap=True)
        self.warning = make_label("", "warning", wrap=True)
        self.question = make_button(strings["proposal_link"], self._open_review_item, kind="link")
        self.original_title = make_label(strings["original"], "strong")
        self.original = make_label("", wrap=True)
        self.log_title, self.log = make_label(strings["log"], "strong"), make_label("", "small", wrap=True)
        self.marks = _Marks(context, (("helpful", "H"), ("harmful", "X")))
        self._head_row = QWidget()
        make_row(self.maturity, None, self.effectiveness, parent=self._head_row)
        self._body = QWidget()
        inside = make_column(self._body, self._head_row, self.counts, self.statistics, self.warning, gap=4)
        inside.addLayout(make_flush_row(self.question, None))
        for title, text in ((self.original_title, self.original), (self.log_title, self.log)):
            inside.addLayout(_make_log_section(title, text))
        make_column(self, make_label(strings["title"], "label"), self._body, self.marks, gap=8)

    def show_memory(self, inspected: Inspected) -> bool:
        """Show the inspected memory.

        Returns:
            True.
        """
        if _counted_memory_id(inspected.memory) != self._memory_id:
            self._memory_id = _counted_memory_id(inspected.memory)
            self._body.hide()
            self.log.setText("")
        self.marks.setVisible(is_rule(inspected.memory))
        self._request_state()
        return True

    def reload(self) -> None:
        """Something changed: read it as it is now."""
        self._request_state()

    def _request_state(self) -> None:
        strings = inspector_strings()["tasks"]
        practice, memory_id = self.context.bridge.engine.outcomes, self._memory_id

        def read_log(state: RuleState | None) -> None:
            if state is None:
                self._body.hide()
                return
            self._show_state(state)
            more = make_query(
                strings["applications"], lambda: practice.list_applications(memory_id, OWNER_ACTOR, _LOGGED)
            )
            self.context.tasks.run(more.within(self, "log").success(self._show_log).failure(lambda _: None))

        task = make_query(strings["rule"], lambda: practice.read_rule(memory_id, OWNER_ACTOR)).within(self, "rule")
        self.context.tasks.run(task.success(read_log).failure(lambda _: self._body.hide()))

    def _show_state(self, state: RuleState) -> None:
        strings = practice_strings()["rule"]
        maturity = strings["maturity"][state.maturity]
        self.maturity.setText(maturity)
        worth = strings["effectiveness"].format(value=format_score(state.effectiveness))
        self.effectiveness.setText(worth if state.applied else "")
        self.counts.setText(describe_service(state))
        self.statistics.setText(strings["maturity_told"][state.maturity])
        warning = strings["proposal"] if state.proposal else strings["needs_inversion"] if state.needs_inversion else ""
        self.warning.setText(warning)
        self.warning.setVisible(bool(warning))
        self._proposal = state.proposal or ""
        self.question.setVisible(bool(self._proposal))
        self.original.setText(one_line(state.original_text or "", _ORIGINAL))
        for widget in (self.original_title, self.original):
            widget.setVisible(bool(state.original_text))
        self._show_log_if(bool(state.applied) and bool(self.log.text()))
        self.setAccessibleName(f"{maturity}. {describe_service(state)}")
        self._body.show()

    def _show_log(self, found: Sequence[Application]) -> None:
        self.log.setText("\n".join(describe_application(one) for one in found))
        self._show_log_if(bool(found))

    def _show_log_if(self, is_shown: bool) -> None:
        self.log_title.setVisible(is_shown)
        self.log.setVisible(is_shown)

    def _open_review_item(self) -> None:
        self.context.desk.go.emit(REVIEW, self._proposal)


class ProcedureSection(InspectorSection):
    """How often it worked, how long it takes, what calls it up, two buttons."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._memory_id = ""
        self.counts, self.statistics = make_label("", "strong", wrap=True), make_label("", "small", wrap=True)
        self.marks = _Marks(context, (("worked", "W"), ("failed", "N")))
        self._body = QWidget()
        make_column(self._body, self.counts, self.statistics, gap=4)
        make_column(self, make_label(practice_strings()["procedure"]["title"], "label"), self._body, self.marks, gap=8)

    def show_memory(self, inspected: Inspected) -> bool:
        """Show the inspected memory.

        Returns:
            True.
        """
        if _counted_memory_id(inspected.memory) != self._memory_id:
            self._memory_id = _counted_memory_id(inspected.memory)
            self._body.hide()
        self.marks.setVisible(is_procedure(inspected.memory))
        self._request_state()
        return True

    def reload(self) -> None:
        """Something changed: read it as it is now."""
        self._request_state()

    def _request_state(self) -> None:
        practice, memory_id = self.context.bridge.engine.outcomes, self._memory_id
        task = make_query(
            inspector_strings()["tasks"]["procedure"], lambda: practice.read_procedure(memory_id, OWNER_ACTOR)
        )
        self.context.tasks.run(
            task.within(self, "procedure").success(self._show_state).failure(lambda _: self._body.hide())
        )

    def _show_state(self, state: ProcedureState | None) -> None:
        if state is None:
            self._body.hide()
            return
        strings = practice_strings()["procedure"]
        self.counts.setText(describe_runs(state))
        lines = [strings["average"].format(value=format_duration(state.average_ms))] if state.average_ms else []
        if state.last_used_at is not None:
            lines.append(strings["used"].format(when=date_of(state.last_used_at)))
        lines = [" · ".join(lines)] if lines else []
        for name, found in (("cues", state.cues), ("tools", state.tools)):
            if found:
                lines.append(f"{strings[name]}: {', '.join(one_line(one, _CUE) for one in found)}")
        self.statistics.setText("\n".join(lines))
        self.statistics.setVisible(bool(lines))
        self.setAccessibleName(describe_runs(state))
        self._body.show()


RULE = InspectorSectionSpec("rule", 17, RuleSection, frozenset({Kind.RULE}))
PROCEDURE = InspectorSectionSpec("procedure", 18, ProcedureSection, frozenset({Kind.PROCEDURE}))
