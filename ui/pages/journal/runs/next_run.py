"""The tab of the next run: what it would do and why; what is kept, pinned or confirmed there is left alone.

Must not do: know another tab, or change a memory but by a verb that can be undone.
"""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QStackedWidget, QWidget

from core.types.lifecycle import Deed, Jobs, JobType, Preview
from core.types.values import OWNER_ACTOR
from core.types.views import Revision, RevisionReport
from ui.context import CLOSER, Context
from ui.pages.journal.common.job_words import capital, moment, told_deeds
from ui.pages.journal.common.line_list import ActBar, entry_list
from ui.pages.journal.common.lines import Entry
from ui.pages.journal.runs.change_chips import DeedChips
from ui.pages.journal.runs.change_lines import deed_entries, kept_ids, kept_told, offered
from ui.pages.journal.runs.comparison import Comparison, compared
from ui.pages.journal.runs.run_dialog import RunDialog
from ui.pages.journal.runs.runner import Runner
from ui.strings import format_count, journal_strings
from ui.tasks import query, write
from ui.undo import offer_undo
from ui.widgets.basics import Segments, card_of, column, label, row
from ui.widgets.states import FOOT, EmptyState, States

ORIGIN = "journal"
MOST = 200
_ACTS = ("spare", "pin", "confirm", "open")
DEEDS, FIGURES = "deeds", "figures"
_LOW = 380
_ENDED = 50


class NextTab(QWidget):
    """The plan.

    Signals:
        counted: how many deeds there would be.
        changed: what can be started is another.
    """

    counted = Signal(int)
    changed = Signal()

    def __init__(self, context: Context, runner: Runner) -> None:
        super().__init__()
        self.context, self.runner = context, runner
        said = journal_strings()["next"]
        self.preview: Preview | None = None
        self._jobs: Jobs | None = None
        self._wants_focus = False
        self.list = entry_list(context.theme, said["list"], _ACTS, takes_many=True)
        self.chips = DeedChips(context.theme)
        self.lead = label("", "muted", wrap=True)
        self.acts = ActBar(context.theme, _ACTS)
        self.acts.setProperty(FOOT, True)  # noqa: FBT003 - Qt's name
        inside = QWidget()
        column(inside, self.chips, card_of(self.list), self.acts, gap=10).setStretch(1, 1)
        self.states = States(context.theme, inside, said["reading"])
        figures = journal_strings()["figures"]
        self.view = DEEDS
        choices = ((DEEDS, figures[DEEDS]), (FIGURES, figures[FIGURES]))
        self.views = Segments(choices, DEEDS, figures["views"])
        self.comparison = Comparison(context.theme)
        self._views = QStackedWidget()
        for shown in (self.states, self.comparison):
            self._views.addWidget(shown)
        head = row(self.lead, self.views, gap=12)
        head.setStretch(0, 1)
        layout = column(self, gap=10)
        layout.addLayout(head)
        layout.addWidget(self._views, 1)
        self.views.chosen.connect(self.show_view)
        self.chips.chosen.connect(lambda _: self._list())
        self.list.looked_at.connect(self._look)
        self.list.picked.connect(self._offer)
        self.list.asked.connect(self.act)
        self.acts.asked.connect(self.act)
        runner.changed.connect(self._ran)

    # ---- reading

    def enter(self) -> None:
        """It is shown."""
        self._wants_focus = True
        self.read()

    def read(self) -> None:
        """Look ahead again."""
        if self.preview is None:
            self.states.loading()
        jobs = self.context.bridge.engine.jobs
        asked = query(journal_strings()["next"]["reading"], lambda: jobs.preview(MOST)).within(self, "preview")
        self.context.tasks.run(asked.success(self._read_when).failure(self._fail))

    def _read_when(self, preview: Preview) -> None:
        jobs = self.context.bridge.engine.jobs
        asked = query(journal_strings()["next"]["reading"], lambda: jobs.state(_ENDED)).within(self, "preview")
        self.context.tasks.run(asked.success(partial(self._show, preview)).failure(self._fail))

    @property
    def is_settled(self) -> bool:
        """Whether it was read."""
        return self.preview is not None

    def _fail(self, error: BaseException) -> None:
        self.states.failed(error, self.read, None if self.preview is None else self.context.desk.say)

    # ---- showing

    def _show(self, preview: Preview, jobs: Jobs) -> None:
        self.preview, self._jobs = preview, jobs
        said = journal_strings()["next"]
        total = sum(preview.counts.values())
        self.counted.emit(total)
        self.changed.emit()
        self.comparison.show_compared(compared(preview, jobs, self.runner.foretold, self.context.clock.now_ms()))
        self._say_lead()
        if not total:
            sentence = f"{said['nothing']} {self._when('nothing_when', 'nothing_none')}"
            self.states.empty(EmptyState(self.context.theme, "moon", said["nothing_title"], sentence))
            self.list.show_lines([])
            return
        self.chips.show_counts(preview.counts)
        self._list()
        self.states.content()
        if self._wants_focus:
            self.list.setFocus()
        self._wants_focus = False

    def show_view(self, view: str) -> None:
        """Show the deeds, or what they come to.

        Args:
            view: `deeds` or `figures`.
        """
        self.view = view
        self.views.show_choice(view)
        self._views.setCurrentIndex(0 if view == DEEDS else 1)
        (self.list if view == DEEDS else self.comparison.area).setFocus()

    @property
    def is_low(self) -> bool:
        """Whether the list needs the room that words and chips would take."""
        return self.height() < self.context.theme.px(_LOW)

    def _say_lead(self) -> None:
        if self.preview is None:
            return
        if not self.preview.counts:
            self.lead.clear()  # the sentence in the middle of the page says it
            return
        said, listed, total = journal_strings()["next"], len(self.preview.items), sum(self.preview.counts.values())
        cut = said["more"].format(count=f"{listed:,}") if listed < total else ""
        lead = "" if self.is_low else said["lead"]
        self.lead.setText(" ".join(part for part in (self._when("when", "when_none"), lead, cut) if part))

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Where it is low, the list has the room."""
        super().resizeEvent(event)
        self.chips.tighten(is_tight=self.is_low)
        self._say_lead()

    def _list(self) -> None:
        if self.preview is not None:
            self.list.show_lines(deed_entries(self.preview.items, self.chips.current))
            self._offer()

    def _types(self) -> tuple[JobType, ...]:
        """The jobs whose deeds these are; what erases waits for its own time."""
        items = () if self.preview is None else self.preview.items
        return tuple(dict.fromkeys(item.job for item in items if item.planned.deed is not Deed.ERASE))

    def _next_at(self) -> int | None:
        beats = () if self._jobs is None else self._jobs.calendar
        wanted = set(self._types()) or {JobType.SWEEP, JobType.CONSOLIDATE}
        return min((beat.next_at for beat in beats if beat.type in wanted and beat.next_at is not None), default=None)

    def _when(self, form: str, none: str) -> str:
        """When it would happen, as a sentence."""
        said, at, now = journal_strings()["next"], self._next_at(), self.context.clock.now_ms()
        if self._jobs is not None and self._jobs.paused:
            return str(said["paused"])
        if at is None:
            return str(said[none])
        told = str(said[form].format(when=journal_strings()["next"]["soon"] if at <= now else moment(at, now)))
        return capital(told)

    def _look(self, entry: Entry | None) -> None:
        if entry is not None:
            self.context.selection.select(entry.value.planned.memory_id, ORIGIN)

    def _offer(self) -> None:
        self.list.offered = offered(self.list.chosen)
        self.acts.offer(self.list.offered)

    # ---- what is done with deeds

    def _ids(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(entry.value.planned.memory_id for entry in self.list.chosen))

    def act(self, name: str) -> None:
        """Do something with what is chosen.

        Args:
            name: `spare`, `pin`, `confirm` or `open`.
        """
        ids, said = self._ids(), journal_strings()["next"]
        if not ids:
            return
        match name:
            case "spare":
                jobs, chosen = self.context.bridge.engine.jobs, self.list.chosen
                spared = kept_ids(chosen)
                task = write("Keeping memories", lambda: jobs.spare(spared)).within(self)
                self.context.tasks.run(task.success(partial(self._kept, kept_told(chosen))))
            case "pin":
                library = self.context.bridge.engine.library
                pin = write("Pinning", lambda: library.revise(ids, Revision(pinned=True))).within(self)
                self.context.tasks.run(pin.success(self._pinned))
            case "confirm":
                memories = self.context.bridge.engine.memories
                confirm = write("Judging a memory", lambda: memories.confirm(ids[0], OWNER_ACTOR)).within(self)
                self.context.tasks.run(confirm.success(lambda reply: self._kept(said["confirmed"], reply.step_id)))
            case _:
                self.context.selection.again(ids[0], CLOSER)

    def _kept(self, sentence: str, step_id: str) -> None:
        offer_undo(self.context, sentence, step_id)
        self.read()

    def _pinned(self, report: RevisionReport) -> None:
        said = journal_strings()["next"]
        if report.step_id is None:
            self.context.desk.say(said["unchanged"])
        else:
            offer_undo(self.context, format_count(said["pinned"], report.changed), report.step_id)
        self.read()

    # ---- running it now

    @property
    def can_run(self) -> bool:
        """Whether there is anything to run, and nothing of it runs."""
        return bool(self._types()) and not self.runner.is_running

    def ask_run(self) -> None:
        """Say what a run would do now, and do it if the person wants it."""
        if not self.can_run or self.preview is None:
            return
        said, at, now = journal_strings()["next"], self._next_at(), self.context.clock.now_ms()
        counts = {deed: count for deed, count in self.preview.counts.items() if deed != Deed.ERASE}
        told = [sentence for _, sentence in told_deeds(counts, "run")]
        is_later = at is not None and at > now
        lead = said["run_lead"].format(when=moment(at or now, now)) if is_later else said["run_lead_none"]
        waits = said["run_erase"] if self.preview.counts.get(Deed.ERASE) else ""
        dialog = RunDialog(self.context, lead, told, f"{said['run_foot']} {waits}".strip(), self)
        dialog.agreed.connect(self.run)
        dialog.open()

    def run(self) -> None:
        """Run what would run, now."""
        titles = {} if self._jobs is None else {beat.type: beat.title for beat in self._jobs.calendar}
        types, reports = self._types(), {} if self.preview is None else self.preview.reports
        self.runner.run(types, [titles.get(one, one.value.capitalize()) for one in types], reports)

    def _ran(self) -> None:
        self.changed.emit()
        if not self.runner.is_running and self.preview is not None and self.isVisible():
            self.read()
