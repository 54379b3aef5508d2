"""The tab of runs and jobs: what runs, waits and ran, what it did; stopped, undone or tried again; the calendar.

Must not do: know another tab.
"""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QSizePolicy, QWidget

from core.events import Progress
from core.types.lifecycle import JobRow, Jobs, JobType, ScheduledJob
from core.types.replies import UndoReport
from core.types.values import OWNER_ACTOR
from ui.bridge import make_query, make_write
from ui.context import Context
from ui.lists.list_view import ListView
from ui.pages.journal.jobs.job_lines import (
    Model,
    calendar_lines,
    describe_next_run,
    describe_scheduler,
    is_waiting_for_choice,
    job_lines,
    job_sentences,
    make_model_query,
    offered_job_actions,
)
from ui.pages.journal.jobs.runner import JobStarter, RunDialog, is_job
from ui.pages.journal.rows import EntryActionBar, JournalEntry, entry_list, set_row_direction
from ui.strings import journal_strings
from ui.undo import report_undo
from ui.widgets.basics import (
    Elided,
    Segments,
    Stack,
    clear_layout,
    make_column,
    make_label,
    make_row,
    make_timer,
    wrap_in_card,
)
from ui.widgets.labels import capitalize_first
from ui.widgets.states import FOOT, EmptyState, States

RUNS, CALENDAR = "runs", "calendar"
_MOST, _MORE = 50, 100
_FOLLOW_MS = 1_000
_LOW, _NARROW = 380, 360


class JobPanel(QFrame):
    """What one run did, or one kind of work does, and what can be done about it.

    Attributes:
        sentences: what it says.
        acts: its buttons.
    """

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.setObjectName("card")
        self.setAccessibleName(journal_strings()["runs"]["chosen"])
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        self.setProperty(FOOT, True)  # noqa: FBT003 - Qt's name
        self.sentences: tuple[str, ...] = ()
        self._title = Elided("", "section")
        self._lines = QWidget()
        self._column = make_column(self._lines, gap=2)
        self.acts = EntryActionBar(context.theme, ("stop", "retry", "undo", "run"))
        make_column(self, self._title, self._lines, self.acts, margins=16, gap=8)
        self.hide()

    def show_sentences(
        self, title: str, sentences: tuple[str, ...], acts: frozenset[str], *, is_low: bool = False
    ) -> None:
        """Show one.

        Args:
            sentences: what there is to say.
            acts: what can be done.
            is_low: whether the list above needs the room: then without its title, and the first sentence alone.
        """
        self.sentences = sentences
        self._title.set_text(title)
        self._title.setVisible(not is_low)
        clear_layout(self._column)
        for sentence in sentences[: 1 if is_low else None]:
            self._column.addWidget(make_label(sentence, "muted", wrap=True))
        self.acts.enable_actions(acts, hides=True)
        self.acts.setVisible(bool(acts))
        self.show()


class RunsTab(QWidget):
    """The tab of runs, jobs and the calendar.

    Signals:
        counted: how many runs ended.
        changed: whether it is paused is known anew.
    """

    counted = Signal(int)
    changed = Signal()

    def __init__(self, context: Context, runner: JobStarter) -> None:
        super().__init__()
        self.context, self.runner = context, runner
        strings = journal_strings()["runs"]
        self.jobs: Jobs | None = None
        self.model = Model()
        self.view = RUNS
        self._limit, self._wants_focus = _MOST, False
        self.status = make_label("", "muted", wrap=True)
        self.views = Segments(((RUNS, strings["runs"]), (CALENDAR, strings["calendar"])), RUNS, strings["views"])
        self.list = entry_list(context.theme, strings["list"], ("stop", "retry", "undo"))
        self.calendar = entry_list(context.theme, strings["calendar_list"], ("run",))
        self.lists = Stack()
        self.panel = JobPanel(context)
        self._build_layout()
        self._follow = make_timer(self, self.reload, _FOLLOW_MS)
        context.bridge.progressed.connect(self._on_progress)
        self.views.chosen.connect(self.show_view)
        runner.changed.connect(self._on_run_ended)

    def _build_layout(self) -> None:
        theme, strings = self.context.theme, journal_strings()["runs"]
        self._ran_states = States(theme, wrap_in_card(self.list), strings["reading"])
        for shown in (self._ran_states, wrap_in_card(self.calendar)):
            self.lists.addWidget(shown)
        inside = QWidget()
        self._header = make_row(self.status, self.views, gap=12)
        self._header.setStretch(0, 1)
        layout = make_column(inside, gap=10)
        layout.addLayout(self._header)
        layout.addWidget(self.lists, 1)
        layout.addWidget(self.panel)
        self.states = States(theme, inside, strings["reading"])
        make_column(self, self.states)
        for lines in (self.list, self.calendar):
            lines.picked.connect(self._show_chosen)
            lines.asked.connect(self.run_action)
        self.list.lines.more.connect(self._load_more)
        self.panel.acts.asked.connect(self.run_action)

    # ---- reading

    def activate(self) -> None:
        """It is shown."""
        self._wants_focus = True
        self.reload()

    def reload(self) -> None:
        """Read the state of the scheduler."""
        if self.jobs is None:
            self.states.show_loading()
        jobs, limit = self.context.bridge.engine.jobs, self._limit
        task = make_query(journal_strings()["runs"]["reading"], lambda: jobs.read_state(limit)).within(self, "state")
        self.context.tasks.run(task.success(self._read_model).failure(self._show_failure))

    def _read_model(self, jobs: Jobs) -> None:
        asked = make_model_query(
            self.context, self, journal_strings()["runs"]["reading"], "state", partial(self._show_jobs, jobs)
        )
        self.context.tasks.run(asked.failure(self._show_failure))

    def _load_more(self) -> None:
        self._limit += _MORE
        self.reload()

    def _on_progress(self, progress: Progress) -> None:
        """What runs moves on: look again, at most once a second."""
        if is_job(progress) and self.isVisible() and not self._follow.isActive():
            self._follow.start()

    @property
    def is_settled(self) -> bool:
        """Whether it was read."""
        return self.jobs is not None

    def _show_failure(self, error: BaseException) -> None:
        self.states.show_failure(error, self.reload, None if self.jobs is None else self.context.desk.show_message)

    # ---- showing

    def _show_jobs(self, jobs: Jobs, model: Model) -> None:
        self.jobs, self.model = jobs, model
        strings, now = journal_strings()["runs"], self.context.clock.now_ms()
        self.status.setText(describe_scheduler(jobs, now, model))
        lines = job_lines(jobs.rows, now)
        self.list.show_lines(lines, has_more=len(jobs.rows) >= self._limit and len(jobs.rows) < jobs.total)
        self.calendar.show_lines(calendar_lines(jobs, now, model))
        if lines:
            self._ran_states.show_content()
        else:
            nothing = EmptyState(self.context.theme, "activity", strings["nothing_title"], strings["nothing"])
            self._ran_states.show_empty(nothing)
        self.states.show_content()
        self.counted.emit(jobs.total)
        self._show_chosen()
        self.changed.emit()
        if self._wants_focus:
            self.shown_list.setFocus()
        self._wants_focus = False

    @property
    def shown_list(self) -> ListView:
        """The list that is seen."""
        return self.list if self.view == RUNS else self.calendar

    def show_view(self, view: str) -> None:
        """Show the runs or the calendar.

        Args:
            view: `runs` or `calendar`.
        """
        self.view = view
        self.views.show_choice(view)
        self.lists.setCurrentIndex(0 if view == RUNS else 1)
        self.shown_list.setFocus()
        self._show_chosen()

    def _show_chosen(self) -> None:
        """Show what is chosen under the list."""
        found: JournalEntry | None = next(iter(self.shown_list.chosen), None)
        value = None if found is None else found.value
        now = self.context.clock.now_ms()
        acts = offered_job_actions(value) if isinstance(value, JobRow) else frozenset[str]()
        if isinstance(value, ScheduledJob) and not self.runner.is_running:
            acts = frozenset({"run"})
        self.shown_list.offered = acts
        is_low = self.height() < self.context.theme.px(_LOW)
        # What runs is in the list too; that nothing does by itself has to be said in any case.
        self.status.setVisible(not is_low or self.is_paused or found is None)
        if isinstance(value, JobRow):
            self.panel.show_sentences(value.title, job_sentences(value, now), acts, is_low=is_low)
        elif isinstance(value, ScheduledJob):
            heavy = (journal_strings()["runs"]["heavy"],) if value.is_heavy else ()
            self.panel.show_sentences(value.title, (self._describe_scheduled(value, now), *heavy), acts, is_low=is_low)
        else:
            self.panel.hide()

    def _describe_scheduled(self, beat: ScheduledJob, now_ms: int) -> str:
        rows = () if self.jobs is None else self.jobs.rows
        waits = is_waiting_for_choice(beat, self.model, rows)
        return f"{beat.about} {capitalize_first(describe_next_run(beat, now_ms, waits=waits))}."

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Where it is low, the list has the room; where it is narrow, the words have the width."""
        super().resizeEvent(event)
        set_row_direction(self._header, is_wide=self.width() >= self.context.theme.px(_NARROW))
        if self.jobs is not None:
            self._show_chosen()

    # ---- what is done

    def run_action(self, name: str) -> None:
        """Do something with what is chosen.

        Args:
            name: `stop`, `retry`, `undo` or `run`.
        """
        strings = journal_strings()["tasks"]
        found = next(iter(self.shown_list.chosen), None)
        if found is None:
            return
        jobs, value = self.context.bridge.engine.jobs, found.value
        if isinstance(value, ScheduledJob):
            self.confirm_run(value)
        elif name == "undo" and value.step_id is not None:
            self.undo_run(value.step_id, "undo")
        elif name in {"stop", "retry"}:
            verb = jobs.cancel_job if name == "stop" else jobs.retry_job
            task = make_write(strings["stop"] if name == "stop" else strings["retry"], partial(verb, value.id)).within(
                self
            )
            self.context.tasks.run(task.success(lambda _: self.reload()))

    def undo_run(self, step_id: str, act: str) -> None:
        """Undo or redo a run.

        Args:
            step_id: its step; for a redo, the step of the undo.
            act: `undo` or `redo`.
        """
        strings = journal_strings()["tasks"]
        memories = self.context.bridge.engine.memories
        task = make_write(strings[act], lambda: memories.undo_step(step_id, OWNER_ACTOR))
        self.context.tasks.run(task.within(self).success(partial(self._on_run_undone, act)))

    def _on_run_undone(self, act: str, report: UndoReport) -> None:
        report_undo(self.context, report, act, self.undo_run)
        self.reload()

    def confirm_run(self, beat: ScheduledJob) -> None:
        """Say what a kind of work does, and start it if the person wants it."""
        if self.runner.is_running:
            return
        strings, is_erasing = journal_strings()["runs"], beat.type is JobType.ERASE
        foot = strings["erase"] if is_erasing else journal_strings()["next"]["run_foot"]
        lead = f"{beat.title}. {journal_strings()['next']['run_lead_none']}"
        dialog = RunDialog(self.context, lead, (beat.about,), foot, self)
        dialog.agreed.connect(lambda: self.runner.run_jobs((beat.type,), (beat.title,)))
        if is_erasing:
            dialog.show_warning(strings["erase_title"], strings["erase_act"])
        dialog.open()

    def _on_run_ended(self) -> None:
        if self.jobs is not None and self.isVisible():
            self.reload()

    # ---- pausing

    @property
    def is_paused(self) -> bool:
        """Whether nothing runs by itself."""
        return self.jobs is not None and self.jobs.paused

    def toggle_pause(self) -> None:
        """Pause, or go on."""
        strings = journal_strings()["tasks"]
        jobs, on = self.context.bridge.engine.jobs, not self.is_paused
        task = make_write(strings["pause"] if on else strings["resume"], lambda: jobs.set_paused(on)).within(self)
        self.context.tasks.run(task.success(lambda _: self.reload()))
