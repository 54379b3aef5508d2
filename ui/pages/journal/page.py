"""The journal page: changes, the lifecycle, imports and the audit, one tab at a time, each with its count.

A tab is made when it is first wanted: all at once would hold the window up. Must not do: know another page, look ahead
for a count (that plans a whole run), or count as unseen what the person or an assistant did.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from functools import cached_property, partial
from typing import Any, TypeVar

from PySide6.QtCore import QElapsedTimer, QObject, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent

from core.events import Changed, Progress
from core.types.replies import WaitingKind
from ui.bridge import make_query
from ui.context import RUNS_SEEN, Context, PageSpec, WindowPage
from ui.pages.journal.audit import AuditTab
from ui.pages.journal.jobs.next_run import NextTab
from ui.pages.journal.jobs.runner import JobStarter, is_job
from ui.pages.journal.jobs.runs import RunsTab
from ui.pages.journal.lifecycle.archive import ArchiveTab
from ui.pages.journal.lifecycle.health import HealthTab
from ui.pages.journal.lifecycle.help import LifecycleHelp
from ui.pages.journal.lifecycle.relations import MOST, RelationsTab
from ui.pages.journal.undo.changes import ChangesTab
from ui.pages.journal.undo.imports import ImportsTab
from ui.strings import journal_strings, window_strings
from ui.widgets.basics import (
    MenuChip,
    Segments,
    Stack,
    make_button,
    make_column,
    make_label,
    make_row,
    make_timer,
    make_tool_button,
)

LISTED = frozenset({"changes", "runs"})
"""The tabs in which such a run is."""


def note_runs_seen(context: Context) -> None:
    """The person looks at what happened."""
    context.prefs.store_value(RUNS_SEEN, str(context.clock.now_ms()))
    context.desk.looked.emit()


_SOON_MS, _REST = 1_000, 5  # at least between two readings while work goes on; and so many times as long as one took
_Read = tuple[Callable[[], Future[Any]], Callable[[Any], int]]


class TabCounts(QObject):
    """Reads the counts beside the names of the tabs.

    Attributes:
        shown: the tab that is shown.

    Signals:
        counted: the name of a tab, and its number.
    """

    counted = Signal(str, int)

    def __init__(self, context: Context, parent: QObject, shown: str) -> None:
        super().__init__(parent)
        self._context, self.shown = context, shown
        self._is_behind, self._under_way = False, 0
        self._timer = make_timer(self, self._on_timeout)
        self._clock, self._pause_ms = QElapsedTimer(), _SOON_MS

    def schedule_read(self) -> None:
        """Read them a little later, and once more where something happened until then: a run ends after it told so."""
        self._is_behind = self._timer.isActive() or self._under_way > 0
        if not self._is_behind:
            self._timer.start(self._pause_ms)

    def stop_timer(self) -> None:
        """Read nothing more."""
        self._is_behind = False
        self._timer.stop()

    def _on_timeout(self) -> None:
        self.read_counts()

    def read_counts(self) -> None:
        """Read them now; where they are being read, when that is over."""
        if self._under_way:
            self._is_behind = True
            return
        self._clock.start()
        for name, (begin, number) in self._count_queries().items():
            if name != self.shown:
                self._under_way += 1
                task = make_query(journal_strings()["counting"], begin).within(self)
                reading = self._context.tasks.run(
                    task.success(partial(self._on_count_read, name, number)).failure(lambda _: None)
                )
                reading.ended.connect(self._end_reading)

    def _on_count_read(self, name: str, number: Callable[[Any], int], answer: object) -> None:
        self.counted.emit(name, number(answer))

    def _end_reading(self) -> None:
        self._under_way -= 1
        if self._under_way:
            return
        # In a large vault they take seconds: a job that goes on for an hour is not to be slowed down by its own count.
        self._pause_ms = max(_SOON_MS, _REST * self._clock.elapsed())
        if self._is_behind:
            self._is_behind = False
            self._timer.start(self._pause_ms)

    def _count_queries(self) -> Mapping[str, _Read]:
        engine = self._context.bridge.engine
        jobs, journal = engine.jobs, engine.history
        return {
            "changes": (lambda: journal.list_steps(None, 1), _total_count),
            "runs": (lambda: jobs.read_state(1), _total_count),
            "relations": (lambda: jobs.list_proposed_links(MOST), len),
            "archive": (lambda: jobs.list_archived(None, 1), _total_count),
            "health": (jobs.read_health, lambda health: len(health.warnings)),
            "imports": (journal.list_imports, len),
            "audit": (lambda: journal.list_audit(None, 1), _total_count),
        }


def _total_count(answer: Any) -> int:
    return int(answer.total)


JournalTab = ChangesTab | NextTab | RunsTab | RelationsTab | ArchiveTab | HealthTab | ImportsTab | AuditTab
T = TypeVar(
    "T", ChangesTab, NextTab, RunsTab, RelationsTab, ArchiveTab, HealthTab, ImportsTab, AuditTab
)  # fmt: skip


class JournalTabs(Stack):
    """The tabs; asking for one makes it.

    Attributes:
        made: those that were made, by name.

    Signals:
        tab_added: the name of a tab that was just made.
    """

    tab_added = Signal(str)

    def __init__(self, context: Context, runner: JobStarter) -> None:
        super().__init__()
        self._context, self._runner = context, runner
        self.made: dict[str, JournalTab] = {}

    def get_tab(self, name: str) -> JournalTab:
        """A tab; it is made where it was not yet.

        Args:
            name: a key of `tabs` in the page's words.
        """
        makers: Mapping[str, Callable[[], JournalTab]] = {
            "changes": lambda: self.changes,
            "next": lambda: self.next,
            "runs": lambda: self.runs,
            "relations": lambda: self.relations,
            "archive": lambda: self.archive,
            "health": lambda: self.health,
            "imports": lambda: self.imports,
            "audit": lambda: self.audit,
        }
        return makers[name]()

    def _add_tab(self, name: str, tab: T) -> T:
        self.made[name] = tab
        self.addWidget(tab)
        self.tab_added.emit(name)
        return tab

    @cached_property
    def changes(self) -> ChangesTab:
        """The tab of changes."""
        return self._add_tab("changes", ChangesTab(self._context))

    @cached_property
    def next(self) -> NextTab:
        """What the next run would do."""
        return self._add_tab("next", NextTab(self._context, self._runner))

    @cached_property
    def runs(self) -> RunsTab:
        """What runs and ran."""
        return self._add_tab("runs", RunsTab(self._context, self._runner))

    @cached_property
    def relations(self) -> RelationsTab:
        """Relations that runs propose."""
        return self._add_tab("relations", RelationsTab(self._context))

    @cached_property
    def archive(self) -> ArchiveTab:
        """What is archived."""
        return self._add_tab("archive", ArchiveTab(self._context))

    @cached_property
    def health(self) -> HealthTab:
        """How everything is."""
        return self._add_tab("health", HealthTab(self._context))

    @cached_property
    def imports(self) -> ImportsTab:
        """What was brought in."""
        return self._add_tab("imports", ImportsTab(self._context))

    @cached_property
    def audit(self) -> AuditTab:
        """The tab of the audit."""
        return self._add_tab("audit", AuditTab(self._context))


_STATE = "journal.tab"
_ASK = "ask:"
_LOW = 480
_FIRST, _HELP = "changes", "help"
_REFRESH_MS = 400  # between two readings while an import runs
_AHEAD_MS = 2_000  # looking ahead plans a whole run: only once nothing has changed for so long


class JournalPage(WindowPage):
    """The Journal page."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._is_shown = False
        self._stale: set[str] = set()
        self._titles: dict[str, str] = dict(journal_strings()["tabs"])
        self._shown = dict(self._titles)
        stored = context.prefs.read_text(_STATE, _FIRST)
        self.tab = stored if stored in self._titles else _FIRST
        choices = tuple(self._titles.items())
        self.segments = Segments(choices, self.tab, journal_strings()["views"], wraps=True)
        self.segments.chosen.connect(self.show_tab)
        self.menu = MenuChip(context.theme, journal_strings()["show"], self._titles, self.tab)
        self.menu.chosen.connect(self._on_tab_chosen)
        self.menu.hide()
        self.runner = JobStarter(context, self)
        self.tabs = JournalTabs(context, self.runner)
        self.tabs.tab_added.connect(self._connect_tab)
        self.counts = TabCounts(context, self, self.tab)
        self.counts.counted.connect(self._on_tab_counted)
        self.runner.changed.connect(self._schedule_counts)
        context.bridge.progressed.connect(self._on_progress)
        self._make_buttons()
        self.help = LifecycleHelp(context, self)
        self._refresh = make_timer(self, self._reload_current_tab, _REFRESH_MS)
        layout = make_column(self, gap=10)
        layout.setContentsMargins(24, 16, 24, 16)
        self.help_button = make_tool_button(
            context.theme, "circle-help", journal_strings()["order"]["hint"], self.open_help
        )
        self._header = make_row(
            make_label(journal_strings()["title"], "title"), None, *self._buttons.values(), self.help_button, gap=10
        )
        self._header.addStrut(context.theme.px(context.theme.tokens.sizes.control))  # as high where no button is in it
        layout.addLayout(self._header)
        layout.addWidget(self.segments)
        layout.addLayout(make_row(self.menu, None))
        layout.addWidget(self.tabs, 1)
        self._show_current_tab()

    def _connect_tab(self, name: str) -> None:
        """A tab was made: listen to it."""
        tab = self.tabs.made[name]
        tab.counted.connect(self._make_counter(name))
        match tab:
            case NextTab():
                tab.changed.connect(self._show_run)
            case RunsTab():
                tab.changed.connect(self._show_pause)
            case AuditTab():
                tab.checking.connect(self._on_checking_changed)

    def _make_buttons(self) -> None:
        self.import_button = make_button(
            window_strings()["buttons"]["import"],
            partial(self.context.desk.import_paths.emit, []),
            theme=self.context.theme,
            icon="import",
            hint=journal_strings()["import_hint"],
        )
        strings = journal_strings()
        self.run_button = make_button(
            strings["next"]["run"],
            lambda: self.tabs.next.confirm_run(),
            theme=self.context.theme,
            icon="play",
            hint=strings["next"]["run_hint"],
        )
        self.pause_button = make_button(strings["runs"]["pause"], lambda: self.tabs.runs.toggle_pause())
        self.check_button = make_button(
            journal_strings()["audit"]["check"],
            lambda: self.tabs.audit.check_chain(),
            theme=self.context.theme,
            icon="shield-check",
            hint=journal_strings()["audit"]["check_hint"],
        )
        self._buttons = {
            "imports": self.import_button,
            "next": self.run_button,
            "runs": self.pause_button,
            "audit": self.check_button,
        }
        self.run_button.setEnabled(False)

    def _show_run(self) -> None:
        strings = journal_strings()["next"]
        self.run_button.setEnabled(self.tabs.next.can_run)
        self.run_button.setText(strings["running"] if self.runner.is_running else strings["run"])

    def _show_pause(self) -> None:
        strings, is_paused = journal_strings()["runs"], self.tabs.runs.is_paused
        self.pause_button.setText(strings["go_on" if is_paused else "pause"])
        self.pause_button.setAccessibleName(self.pause_button.text())
        self.pause_button.setToolTip(strings["go_on_hint" if is_paused else "pause_hint"])

    def _make_counter(self, name: str) -> Callable[[int], None]:
        title = self._titles[name]

        def show_count(count: int) -> None:
            label = f"{title} {count:,}" if count else title
            if label == self._shown[name]:
                return
            self._shown[name] = label
            self.segments.name_choice(name, self._shown[name])
            self.menu.set_choices(self._shown, self.tab)

        return show_count

    def _on_tab_chosen(self, name: str) -> None:
        self.segments.show_choice(name)
        self.show_tab(name)

    def _on_checking_changed(self) -> None:
        strings = journal_strings()["audit"]
        is_checking = self.tabs.audit.is_checking
        self.check_button.setEnabled(not is_checking)
        self.check_button.setText(strings["checking"] if is_checking else strings["check"])

    # ---- the page's life

    def activate(self, target: str = "") -> None:
        """Show the page and read what it needs.

        Args:
            target: a tab: `changes`, `next`, `runs`, `relations`, `archive`, `health`, `imports` or `audit`, or `help`,
                with or without `ask:` before it, of some with a view behind it (`next:figures`, `runs:calendar`); ""
                for the tab that was shown last.
        """
        self._is_shown = True
        target, _, view = target.removeprefix(_ASK).partition(":")
        if target == _HELP:
            self.open_help()
        if target in self._titles and target != self.tab:
            self.segments.show_choice(target)
            self.show_tab(target)
        else:
            self._activate_tab()
        tab = self.tabs.get_tab(self.tab)
        if view and isinstance(tab, NextTab | RunsTab):
            tab.show_view(view)
        self.counts.read_counts()

    def deactivate(self) -> None:
        """Another page is shown: nothing runs here any more."""
        self._is_shown = False
        self.help.close_help()
        self.counts.stop_timer()
        if self._refresh.isActive():
            self._refresh.stop()
            self._stale.update(self._titles)

    def is_settled(self) -> bool:
        """Whether the tab that is shown was read."""
        return self.tabs.get_tab(self.tab).is_settled and not self._refresh.isActive()

    def handle_change(self, change: Changed) -> None:
        """Everything that happens is in the journal: read again, at most a few times a second."""
        super().handle_change(change)
        self._stale.update(self._titles)
        self._schedule_counts()
        if not self._is_shown:
            return
        self._note_runs_seen()
        if self.tab == "next":
            self._refresh.start(_AHEAD_MS)
        elif not self._refresh.isActive():
            self._refresh.start(_REFRESH_MS)

    # ---- tabs

    def show_tab(self, name: str) -> None:
        """Show one of the tabs.

        Args:
            name: of it, as in `activate`.
        """
        self.tab = self.counts.shown = name
        self.menu.show_choice(name)
        self.context.prefs.store_value(_STATE, name)
        self._show_current_tab()
        if self._is_shown:
            self._activate_tab()

    def _show_current_tab(self) -> None:
        self.tabs.setCurrentWidget(self.tabs.get_tab(self.tab))
        for name, button in self._buttons.items():
            button.setVisible(self.tab == name)
        self.help_button.setVisible(self.tab != "audit")  # it is about maintenance; the audit says itself what it is

    def _note_runs_seen(self) -> None:
        if self.tab in LISTED:
            note_runs_seen(self.context)

    def _activate_tab(self) -> None:
        self._note_runs_seen()
        self._stale.discard(self.tab)
        self.tabs.get_tab(self.tab).activate()
        self.is_stale = bool(self._stale)

    def _reload_current_tab(self) -> None:
        self._stale.discard(self.tab)
        self.tabs.get_tab(self.tab).reload()
        self.is_stale = bool(self._stale)

    def _on_tab_counted(self, name: str, count: int) -> None:
        """Say the number of a tab that is not shown; the one that is shown tells its own."""
        if name != self.tab:
            self._make_counter(name)(count)

    def _schedule_counts(self) -> None:
        """What is counted may be another: what can be read cheaply is read, what cannot has no number until then."""
        if self.tab != "next":
            self._make_counter("next")(0)
        if self._is_shown:
            self.counts.schedule_read()

    def _on_progress(self, progress: Progress) -> None:
        if is_job(progress):
            self._schedule_counts()

    # ---- the help

    def open_help(self) -> None:
        """Tell how the palace keeps itself in order."""
        self.help.open_below(self._header.geometry().bottom() + 10)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Where it is low, the tabs are in one menu; the help keeps its place."""
        super().resizeEvent(event)
        is_low = self.height() < self.context.theme.px(_LOW)
        self.segments.setVisible(not is_low)
        self.menu.setVisible(is_low)
        if self.help.isVisible():
            self.help.place_below(self._header.geometry().bottom() + 10)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """A question mark asks for the help, wherever in the page the keyboard is."""
        if event.text() == "?" and not self.help_button.isHidden():
            self.open_help()
        else:
            super().keyPressEvent(event)


JOURNAL = PageSpec("journal", journal_strings, "notebook", JournalPage, badge=WaitingKind.RUNS, has_choice=True)
