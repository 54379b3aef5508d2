"""The tab of the next run: what it would do and why, beside what the last ones did; what is kept there is left alone.

Must not do: know another tab, count anything, or change a memory but by a verb that can be undone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QButtonGroup, QFrame, QGridLayout, QLabel, QWidget

from core.types.lifecycle import JobAction, JobRow, Jobs, JobState, JobType, Preview, PreviewItem
from core.types.values import OWNER_ACTOR, Kind
from core.types.views import Revision, RevisionReport
from ui.bridge import make_query, make_write
from ui.context import CLOSER, Context
from ui.pages.journal.jobs.labels import describe_vault_changes, job_action_wording
from ui.pages.journal.jobs.runner import JobStarter, RunDialog
from ui.pages.journal.labels import format_near_moment
from ui.pages.journal.rows import EntryActionBar, JournalEntry, entry_list
from ui.strings import format_count, journal_strings
from ui.theme.theme import Theme
from ui.undo import offer_undo
from ui.widgets.basics import (
    FlowLayout,
    MenuChip,
    Segments,
    Stack,
    clear_layout,
    make_button,
    make_column,
    make_label,
    make_row,
    make_scroll_area,
    wrap_in_card,
)
from ui.widgets.labels import capitalize_first
from ui.widgets.plaintext import one_line
from ui.widgets.states import FOOT, EmptyState, States

ALL = ""
UNITED = frozenset({JobAction.STACK, JobAction.MERGE, JobAction.CORROBORATE, JobAction.DIGEST})
"""Actions on several memories at once: keeping is about all of them."""
SPARED = UNITED | {JobAction.FADE, JobAction.EXPIRE, JobAction.ARCHIVE}
"""What the person can put off: it ends in the archive, sooner or later, or lays memories together."""
STANDING = frozenset(JobAction) - {JobAction.ERASE}
"""Actions on current memories: these can be pinned, and said to be true."""
_TEXT, _OTHER = 300, 120
_LINES = 2
_INKS = {JobAction.ERASE: "danger", JobAction.EXPIRE: "warning", JobAction.ASK: "warning"}


def change_entries(items: Sequence[PreviewItem], action: str = ALL) -> list[JournalEntry]:
    """Lines of a plan.

    Args:
        items: the actions, strongest first.
        action: a value of `JobAction` to list only these; `ALL` for all.
    """
    return [_change_entry(item) for item in items if action in (ALL, item.planned.action.value)]


def _change_entry(item: PreviewItem) -> JournalEntry:
    planned = item.planned
    wording = job_action_wording(planned.action.value)
    measure = journal_strings()["measures"].get(planned.reason, wording["measure"])
    return JournalEntry(
        id=f"{planned.action.value}:{planned.memory_id}",
        title=one_line(item.text, _TEXT),
        note=item.words,
        beside=describe_other_memories(item),
        icon=wording["icon"],
        ink=_INKS.get(planned.action, "muted"),
        word=wording["word"],
        kind=Kind(item.kind),
        aside=f"{planned.value:.2f}" if measure and planned.value else "",
        aside_note=measure if planned.value else "",
        lines=_LINES,
        value=item,
    )


def describe_other_memories(item: PreviewItem) -> str:
    """The other memories of an action: `With “…” and 3 more`; "" where there are none."""
    if not item.other_texts:
        return ""
    strings, more = journal_strings()["next"], max(len(item.planned.others), len(item.other_texts)) - 1
    text = one_line(item.other_texts[0], _OTHER)
    return str(strings["beside_more" if more else "beside"]).format(text=text, count=f"{more:,}")


def offered_actions(chosen: Sequence[JournalEntry]) -> frozenset[str]:
    """Acts that make sense for actions that are chosen.

    Args:
        chosen: lines of `change_entries`.
    """
    planned = {entry.value.planned.action for entry in chosen}
    if not planned:
        return frozenset()
    acts = {"open"}
    if planned <= SPARED:
        acts.add("spare")
    if planned <= STANDING:
        acts.add("pin")
        if len(chosen) == 1:
            acts.add("confirm")
    return frozenset(acts)


def protected_memory_ids(chosen: Sequence[JournalEntry]) -> tuple[str, ...]:
    """The memories that keeping is about: of what lays memories together all of them.

    Args:
        chosen: lines of `change_entries`.
    """
    ids: dict[str, None] = {}
    for entry in chosen:
        planned = entry.value.planned
        ids[planned.memory_id] = None
        if planned.action in UNITED:
            ids.update(dict.fromkeys(planned.others))
    return tuple(ids)


def describe_keeping(chosen: Sequence[JournalEntry]) -> str:
    """What was done by keeping, as a sentence.

    Args:
        chosen: lines of `change_entries`.
    """
    form = "left" if any(entry.value.planned.action in UNITED for entry in chosen) else "spared"
    return format_count(journal_strings()["next"][form], len(protected_memory_ids(chosen)))


class ChangeChips(QWidget):
    """How many of each action; pressing one lists these alone.

    Signals:
        chosen: a value of `JobAction`, `ALL` for all.
    """

    chosen = Signal(str)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.current = ALL
        self.setAccessibleName(journal_strings()["next"]["list"])
        self._group = QButtonGroup(self)
        self._flow = FlowLayout(self, gap=6)
        self._shown: Mapping[str, int] | None = None
        self.is_tight = False

    def set_tight(self, *, is_tight: bool) -> None:
        """Stand as one menu, or as chips again.

        Args:
            is_tight: whether there is little room.
        """
        if is_tight != self.is_tight:
            self.is_tight = is_tight
            shown, self._shown = self._shown, None
            self.show_counts(shown or {})

    def show_counts(self, counts: Mapping[str, int]) -> None:
        """Offer the actions there are.

        Args:
            counts: action to how many.
        """
        if counts == self._shown:
            return
        self._shown = dict(counts)
        clear_layout(self._flow)
        if not counts.get(self.current):
            self.current = ALL
        total = sum(counts.values())
        kinds, sentences = list(describe_vault_changes(counts, "chip")), dict(describe_vault_changes(counts, "would"))
        shown = (
            [(ALL, journal_strings()["next"]["all"].format(count=f"{total:,}")), *kinds] if len(kinds) > 1 else kinds
        )
        if self.is_tight and len(kinds) > 1:
            menu = MenuChip(self._theme, journal_strings()["next"]["show"], dict(shown), self.current)
            menu.chosen.connect(self._on_chip_clicked)
            self._flow.addWidget(menu)
        else:
            for action, text in shown:
                self._add_chip(action, text, sentences.get(action, ""), is_choice=len(kinds) > 1)
        self.updateGeometry()

    def _add_chip(self, action: str, text: str, sentence: str, *, is_choice: bool) -> None:
        icon = job_action_wording(action)["icon"] if action else ""
        chip = make_button(text, kind="chip", theme=self._theme, icon=icon, hint=sentence)
        chip.setAccessibleName(sentence or text)
        chip.setCheckable(is_choice)
        chip.setChecked(action == self.current)
        chip.clicked.connect(partial(self._on_chip_clicked, action))
        self._group.addButton(chip)
        self._flow.addWidget(chip)

    def _on_chip_clicked(self, action: str, _checked: bool = False) -> None:
        self.current = action if self._shown is not None and len(self._shown) > 1 else ALL
        self.chosen.emit(self.current)


_ABOVE = "."
_WIDE = 720  # a count that is far from its name is not read with it
Report = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RunFigures:
    """One column of the comparison of runs.

    Attributes:
        title: of the column.
        counts: by the keys of the names of its kind of work; None where there is no report.
    """

    title: str
    counts: Mapping[str, int] | None


@dataclass(frozen=True, slots=True)
class RunComparison:
    """One kind of work.

    Attributes:
        title: of it.
        names: key to name, in order.
        columns: what it would do, what was foretold of the last run where that is known, what that did.
    """

    title: str
    names: Mapping[str, str]
    columns: tuple[RunFigures, ...]


def pick_figures(report: Report, names: Iterable[str]) -> Mapping[str, int]:
    """The counts of a report; what a report does not name did not happen.

    Args:
        report: counts by name, or names within names.
        names: the keys that are wanted.
    """
    found = dict(_flatten_report(report))
    return {key: found.get(key, 0) for key in names}


def _flatten_report(report: Report, above: str = "") -> Iterator[tuple[str, int]]:
    for name, value in report.items():
        if isinstance(value, Mapping):
            yield from _flatten_report(value, f"{above}{name}{_ABOVE}")
        elif isinstance(value, int) and not isinstance(value, bool):
            yield f"{above}{name}", value


def compare_runs(
    preview: Preview, jobs: Jobs, foretold: Mapping[str, Report], now_ms: int
) -> tuple[RunComparison, ...]:
    """Every kind of work whose report can be foretold.

    Args:
        preview: of the next runs.
        foretold: job id to what was shown before it was started here.
    """
    titles = {beat.type: beat.title for beat in jobs.calendar}
    return tuple(
        RunComparison(
            titles.get(JobType(kind), kind.capitalize()),
            names,
            _figure_columns(
                preview.reports.get(JobType(kind)), _last_done_job(jobs, JobType(kind)), foretold, names, now_ms
            ),
        )
        for kind, names in journal_strings()["figures"]["names"].items()
    )


def _last_done_job(jobs: Jobs, kind: JobType) -> JobRow | None:
    return next((row for row in jobs.rows if row.type is kind and row.state is JobState.DONE), None)


def _figure_columns(
    ahead: Report | None, last: JobRow | None, foretold: Mapping[str, Report], names: Mapping[str, str], now_ms: int
) -> tuple[RunFigures, ...]:
    strings = journal_strings()["figures"]
    made = [RunFigures(strings["next"], None if ahead is None else pick_figures(ahead, names))]
    if last is None:
        return (*made, RunFigures(strings["none"], None))
    if last.id in foretold:
        made.append(RunFigures(strings["foretold"], pick_figures(foretold[last.id], names)))
    when = format_near_moment(last.finished_at or last.created_at, now_ms)
    return (*made, RunFigures(strings["last"].format(when=when), pick_figures(last.report, names)))


class RunComparisonView(QFrame):
    """The tables; a count that is not what was foretold stands out, and says so.

    Attributes:
        shown: what is in them.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("card")
        strings = journal_strings()["figures"]
        self.setAccessibleName(strings["table"])
        self._theme = theme
        self.shown: tuple[RunComparison, ...] = ()
        self._inner = QWidget()
        self._grid = QGridLayout()
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setColumnStretch(0, 1)
        self.note = make_label(strings["note"], "small", wrap=True)
        layout = make_column(self._inner, self.note, gap=12)
        layout.setContentsMargins(16, 14, 16, 16)
        layout.addLayout(self._grid)
        layout.addStretch(1)
        self.area = make_scroll_area(self._inner)
        self.area.setAccessibleName(strings["table"])
        self.area.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # nothing in it takes the keyboard, and it may be long
        make_column(self, self.area).setContentsMargins(1, 1, 1, 1)
        theme.changed.connect(self._restyle_grid)

    def show_compared(self, shown: tuple[RunComparison, ...]) -> None:
        """Show other figures.

        Args:
            shown: each kind of work.
        """
        if shown == self.shown:
            return
        self.shown = shown
        clear_layout(self._grid)
        line = 0
        for part in shown:
            line = self._add_comparison(part, line)
        self._restyle_grid()

    def _add_comparison(self, part: RunComparison, line: int) -> int:
        """One kind of work from a line on; the line behind it."""
        heading = make_label(part.title, "strong", wrap=True)
        heading.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignBottom)
        self._grid.addWidget(heading, line, 0)
        # The last run is under the last run, whether what was foretold of one of them is known or not.
        widest = max(len(one.columns) for one in self.shown)
        places = [*range(1, len(part.columns)), widest]
        for place, shown in zip(places, part.columns, strict=True):
            title = make_label(shown.title, "small", wrap=True)
            title.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignBottom)
            self._grid.addWidget(title, line, place)
        for key, name in part.names.items():
            line += 1
            self._grid.addWidget(make_label(name, "muted", wrap=True), line, 0)
            for place, made in zip(places, self._count_labels(part, key, name), strict=True):
                self._grid.addWidget(made, line, place)
        self._grid.setRowMinimumHeight(line + 1, self._theme.px(14))
        return line + 2

    def _count_labels(self, part: RunComparison, key: str, name: str) -> Iterator[QLabel]:
        strings, last = journal_strings()["figures"], len(part.columns) - 1
        counts = [None if shown.counts is None else shown.counts[key] for shown in part.columns]
        differs = last > 1 and counts[last] != counts[last - 1]
        for place, count in enumerate(counts):
            text = strings["unknown"] if count is None else f"{count:,}"
            stands_out = differs and place == last
            label = make_label(
                f"{strings['differs']} {text}" if stands_out else text, "warning" if stands_out else "body"
            )
            label.setObjectName("figure")
            label.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop)
            label.setAccessibleName(f"{name}, {' '.join(part.columns[place].title.split())}: {text}")
            label.setToolTip(strings["differs_hint"] if stands_out else "")
            yield label

    def _restyle_grid(self) -> None:
        px = self._theme.px
        self._grid.setHorizontalSpacing(px(10))
        self._grid.setVerticalSpacing(px(5))
        self._inner.setMaximumWidth(px(_WIDE))
        for made in self._inner.findChildren(QLabel, "figure"):
            made.setFont(self._theme.font("number"))
        for place in range(1, max((len(one.columns) for one in self.shown), default=0) + 1):
            self._grid.setColumnMinimumWidth(place, px(52))


ORIGIN = "journal"
MOST = 200
_ACTS = ("spare", "pin", "confirm", "open")
DEEDS, FIGURES = "deeds", "figures"
_LOW = 380
_ENDED = 50


class NextTab(QWidget):
    """The tab of what the next run would do.

    Signals:
        counted: how many actions there would be.
        changed: what can be started is another.
    """

    counted = Signal(int)
    changed = Signal()

    def __init__(self, context: Context, runner: JobStarter) -> None:
        super().__init__()
        self.context, self.runner = context, runner
        strings = journal_strings()["next"]
        self.preview: Preview | None = None
        self._jobs: Jobs | None = None
        self._wants_focus = False
        self.list = entry_list(context.theme, strings["list"], _ACTS, takes_many=True)
        self.chips = ChangeChips(context.theme)
        self.lead = make_label("", "muted", wrap=True)
        self.acts = EntryActionBar(context.theme, _ACTS)
        self.acts.setProperty(FOOT, True)  # noqa: FBT003 - Qt's name
        inside = QWidget()
        make_column(inside, self.chips, wrap_in_card(self.list), self.acts, gap=10).setStretch(1, 1)
        self.states = States(context.theme, inside, strings["reading"])
        figures = journal_strings()["figures"]
        self.view = DEEDS
        choices = ((DEEDS, figures[DEEDS]), (FIGURES, figures[FIGURES]))
        self.views = Segments(choices, DEEDS, figures["views"])
        self.comparison = RunComparisonView(context.theme)
        self._views = Stack()
        for shown in (self.states, self.comparison):
            self._views.addWidget(shown)
        header = make_row(self.lead, self.views, gap=12)
        header.setStretch(0, 1)
        layout = make_column(self, gap=10)
        layout.addLayout(header)
        layout.addWidget(self._views, 1)
        self.views.chosen.connect(self.show_view)
        self.chips.chosen.connect(lambda _: self._list_changes())
        self.list.looked_at.connect(self._on_entry_chosen)
        self.list.picked.connect(self._update_actions)
        self.list.asked.connect(self.run_action)
        self.acts.asked.connect(self.run_action)
        runner.changed.connect(self._on_run_ended)

    # ---- reading

    def activate(self) -> None:
        """It is shown."""
        self._wants_focus = True
        self.reload()

    def reload(self) -> None:
        """Look ahead again."""
        if self.preview is None:
            self.states.show_loading()
        jobs = self.context.bridge.engine.jobs
        task = make_query(journal_strings()["next"]["reading"], lambda: jobs.preview_runs(MOST)).within(self, "preview")
        self.context.tasks.run(task.success(self._read_when).failure(self._show_failure))

    def _read_when(self, preview: Preview) -> None:
        jobs = self.context.bridge.engine.jobs
        task = make_query(journal_strings()["next"]["reading"], lambda: jobs.read_state(_ENDED)).within(self, "preview")
        self.context.tasks.run(task.success(partial(self._show_preview, preview)).failure(self._show_failure))

    @property
    def is_settled(self) -> bool:
        """Whether it was read."""
        return self.preview is not None

    def _show_failure(self, error: BaseException) -> None:
        self.states.show_failure(error, self.reload, None if self.preview is None else self.context.desk.show_message)

    # ---- showing

    def _show_preview(self, preview: Preview, jobs: Jobs) -> None:
        self.preview, self._jobs = preview, jobs
        strings = journal_strings()["next"]
        total = sum(preview.counts.values())
        self.counted.emit(total)
        self.changed.emit()
        self.comparison.show_compared(compare_runs(preview, jobs, self.runner.foretold, self.context.clock.now_ms()))
        self._show_lead()
        if not total:
            sentence = f"{strings['nothing']} {self._describe_time('nothing_when', 'nothing_none')}"
            self.states.show_empty(EmptyState(self.context.theme, "moon", strings["nothing_title"], sentence))
            self.list.show_lines([])
            return
        self.chips.show_counts(preview.counts)
        self._list_changes()
        self.states.show_content()
        if self._wants_focus:
            self.list.setFocus()
        self._wants_focus = False

    def show_view(self, view: str) -> None:
        """Show the actions, or what they come to.

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

    def _show_lead(self) -> None:
        if self.preview is None:
            return
        if not self.preview.counts:
            self.lead.clear()  # the sentence in the middle of the page says it
            return
        strings, listed, total = journal_strings()["next"], len(self.preview.items), sum(self.preview.counts.values())
        cut = strings["more"].format(count=f"{listed:,}") if listed < total else ""
        lead = "" if self.is_low else strings["lead"]
        self.lead.setText(" ".join(part for part in (self._describe_time("when", "when_none"), lead, cut) if part))

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Where it is low, the list has the room."""
        super().resizeEvent(event)
        self.chips.set_tight(is_tight=self.is_low)
        self._show_lead()

    def _list_changes(self) -> None:
        if self.preview is not None:
            self.list.show_lines(change_entries(self.preview.items, self.chips.current))
            self._update_actions()

    def _job_types(self) -> tuple[JobType, ...]:
        """The jobs whose actions these are; what erases waits for its own time."""
        items = () if self.preview is None else self.preview.items
        return tuple(dict.fromkeys(item.job for item in items if item.planned.action is not JobAction.ERASE))

    def _next_run_at(self) -> int | None:
        beats = () if self._jobs is None else self._jobs.calendar
        wanted = set(self._job_types()) or {JobType.SWEEP, JobType.CONSOLIDATE}
        return min((beat.next_at for beat in beats if beat.type in wanted and beat.next_at is not None), default=None)

    def _describe_time(self, form: str, none: str) -> str:
        """When it would happen, as a sentence."""
        strings, at, now = journal_strings()["next"], self._next_run_at(), self.context.clock.now_ms()
        if self._jobs is not None and self._jobs.paused:
            return str(strings["paused"])
        if at is None:
            return str(strings[none])
        text = str(
            strings[form].format(when=journal_strings()["next"]["soon"] if at <= now else format_near_moment(at, now))
        )
        return capitalize_first(text)

    def _on_entry_chosen(self, entry: JournalEntry | None) -> None:
        if entry is not None:
            self.context.selection.select(entry.value.planned.memory_id, ORIGIN)

    def _update_actions(self) -> None:
        self.list.offered = offered_actions(self.list.chosen)
        self.acts.enable_actions(self.list.offered)

    # ---- what is done with actions

    def _chosen_ids(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(entry.value.planned.memory_id for entry in self.list.chosen))

    def run_action(self, name: str) -> None:
        """Do something with what is chosen.

        Args:
            name: `spare`, `pin`, `confirm` or `open`.
        """
        ids, strings = self._chosen_ids(), journal_strings()["next"]
        if not ids:
            return
        match name:
            case "spare":
                jobs, chosen = self.context.bridge.engine.jobs, self.list.chosen
                spared = protected_memory_ids(chosen)
                task = make_write(journal_strings()["tasks"]["spare"], lambda: jobs.keep_from_archive(spared)).within(
                    self
                )
                self.context.tasks.run(task.success(partial(self._on_memories_kept, describe_keeping(chosen))))
            case "pin":
                library = self.context.bridge.engine.library
                pin = make_write(
                    journal_strings()["tasks"]["pin"], lambda: library.revise_memories(ids, Revision(pinned=True))
                ).within(self)
                self.context.tasks.run(pin.success(self._on_memories_pinned))
            case "confirm":
                memories = self.context.bridge.engine.memories
                confirm = make_write(
                    journal_strings()["tasks"]["confirm"], lambda: memories.confirm(ids[0], OWNER_ACTOR)
                ).within(self)
                self.context.tasks.run(
                    confirm.success(lambda reply: self._on_memories_kept(strings["confirmed"], reply.step_id))
                )
            case _:
                self.context.selection.reselect(ids[0], CLOSER)

    def _on_memories_kept(self, sentence: str, step_id: str) -> None:
        offer_undo(self.context, sentence, step_id)
        self.reload()

    def _on_memories_pinned(self, report: RevisionReport) -> None:
        strings = journal_strings()["next"]
        if report.step_id is None:
            self.context.desk.show_message(strings["unchanged"])
        else:
            offer_undo(self.context, format_count(strings["pinned"], report.changed), report.step_id)
        self.reload()

    # ---- running it now

    @property
    def can_run(self) -> bool:
        """Whether there is anything to run, and nothing of it runs."""
        return bool(self._job_types()) and not self.runner.is_running

    def confirm_run(self) -> None:
        """Say what a run would do now, and do it if the person wants it."""
        if not self.can_run or self.preview is None:
            return
        strings, at, now = journal_strings()["next"], self._next_run_at(), self.context.clock.now_ms()
        counts = {action: count for action, count in self.preview.counts.items() if action != JobAction.ERASE}
        sentences = [sentence for _, sentence in describe_vault_changes(counts, "run")]
        is_later = at is not None and at > now
        lead = (
            strings["run_lead"].format(when=format_near_moment(at or now, now))
            if is_later
            else strings["run_lead_none"]
        )
        waits = strings["run_erase"] if self.preview.counts.get(JobAction.ERASE) else ""
        dialog = RunDialog(self.context, lead, sentences, f"{strings['run_foot']} {waits}".strip(), self)
        dialog.agreed.connect(self.run_now)
        dialog.open()

    def run_now(self) -> None:
        """Run what would run, now."""
        titles = {} if self._jobs is None else {beat.type: beat.title for beat in self._jobs.calendar}
        types, reports = self._job_types(), {} if self.preview is None else self.preview.reports
        self.runner.run_jobs(types, [titles.get(one, one.value.capitalize()) for one in types], reports)

    def _on_run_ended(self) -> None:
        self.changed.emit()
        if not self.runner.is_running and self.preview is not None and self.isVisible():
            self.reload()
