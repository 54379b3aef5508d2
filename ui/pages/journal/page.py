"""The journal page: changes, the lifecycle, imports and the audit, one at a time.

Must not do: know another page.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QStackedWidget

from core.events import Changed
from ui.context import Context, Page, PageSpec
from ui.pages.journal.archive import ArchiveTab
from ui.pages.journal.audit import AuditTab
from ui.pages.journal.changes import ChangesTab
from ui.pages.journal.health import HealthTab
from ui.pages.journal.imports import ImportsTab
from ui.pages.journal.jobwords import words
from ui.pages.journal.nextrun import NextTab
from ui.pages.journal.runner import Runner
from ui.pages.journal.runs import RunsTab
from ui.widgets.basics import button, column, label, row
from ui.widgets.chips import Segments

_STATE = "journal.tab"
_ASK = "ask:"
_FIRST = "changes"
_REFRESH_MS = 400  # between two readings while an import runs
_AHEAD_MS = 2_000  # looking ahead plans a whole run: only once nothing has changed for so long
Tab = ChangesTab | NextTab | RunsTab | ArchiveTab | HealthTab | ImportsTab | AuditTab


class JournalPage(Page):
    """The page."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._is_shown = False
        self._stale: set[str] = set()
        self._titles: dict[str, str] = dict(words()["tabs"])
        kept = context.prefs.text(_STATE, _FIRST)
        self.tab = kept if kept in self._titles else _FIRST
        choices = tuple(self._titles.items())
        self.segments = Segments(choices, self.tab, "What the journal shows", wraps=True)
        self.segments.chosen.connect(self.show_tab)
        self.runner = Runner(context, self)
        self.changes, self.next = ChangesTab(context), NextTab(context, self.runner)
        self.runs, self.archive = RunsTab(context, self.runner), ArchiveTab(context)
        self.health, self.imports, self.audit = HealthTab(context), ImportsTab(context), AuditTab(context)
        made: tuple[Tab, ...] = (
            self.changes, self.next, self.runs, self.archive, self.health, self.imports, self.audit
        )  # fmt: skip
        self._tabs: dict[str, Tab] = dict(zip(self._titles, made, strict=True))
        self._make_buttons()
        self._stack = QStackedWidget()
        for name, tab in self._tabs.items():
            self._stack.addWidget(tab)
            tab.counted.connect(self._counter(name))
        self.audit.checking.connect(self._checking)
        self._refresh = QTimer(self)
        self._refresh.setSingleShot(True)
        self._refresh.setInterval(_REFRESH_MS)
        self._refresh.timeout.connect(self._read)
        layout = column(self, gap=10)
        layout.setContentsMargins(24, 16, 24, 16)
        head = row(label("Journal", "title"), None, *self._buttons.values(), gap=10)
        head.addStrut(context.theme.px(context.theme.tokens.sizes.control))  # as high where no button stands in it
        layout.addLayout(head)
        layout.addWidget(self.segments)
        layout.addWidget(self._stack, 1)
        self._show()

    def _make_buttons(self) -> None:
        self.import_button = button(
            "Import …",
            partial(self.context.desk.import_paths.emit, []),
            theme=self.context.theme,
            icon="import",
            hint="Bring your history (Ctrl+O)",
        )
        said = words()
        self.run_button = button(
            said["next"]["run"],
            self.next.ask_run,
            theme=self.context.theme,
            icon="play",
            hint=said["next"]["run_hint"],
        )
        self.pause_button = button(said["runs"]["pause"], self.runs.pause)
        self.check_button = button(
            "Check the chain",
            self.audit.check,
            theme=self.context.theme,
            icon="shield-check",
            hint="See whether the audit and the vault are whole",
        )
        self._buttons = {
            "imports": self.import_button,
            "next": self.run_button,
            "runs": self.pause_button,
            "audit": self.check_button,
        }
        self.next.changed.connect(self._show_run)
        self.runs.changed.connect(self._show_pause)
        self._show_run()
        self._show_pause()

    def _show_run(self) -> None:
        said = words()["next"]
        self.run_button.setEnabled(self.next.can_run)
        self.run_button.setText(said["running"] if self.runner.is_running else said["run"])

    def _show_pause(self) -> None:
        said, is_paused = words()["runs"], self.runs.is_paused
        self.pause_button.setText(said["go_on" if is_paused else "pause"])
        self.pause_button.setAccessibleName(self.pause_button.text())
        self.pause_button.setToolTip(said["go_on_hint" if is_paused else "pause_hint"])

    def _counter(self, name: str) -> Callable[[int], None]:
        title = self._titles[name]
        return lambda count: self.segments.name_choice(name, f"{title} {count:,}" if count else title)

    def _checking(self) -> None:
        is_checking = self.audit.is_checking
        self.check_button.setEnabled(not is_checking)
        self.check_button.setText("Checking …" if is_checking else "Check the chain")

    # ---- the page's life

    def enter(self, wish: str = "") -> None:
        """Show it.

        Args:
            wish: a tab: `changes`, `next`, `runs`, `archive`, `health`, `imports` or `audit`, with or without `ask:`
                before it; "" for the one that was shown last.
        """
        self._is_shown = True
        wish = wish.removeprefix(_ASK)
        if wish in self._tabs and wish != self.tab:
            self.segments.show_choice(wish)
            self.show_tab(wish)
        else:
            self._enter_tab()

    def leave(self) -> None:
        """Another page is shown: nothing runs here any more."""
        self._is_shown = False
        if self._refresh.isActive():
            self._refresh.stop()
            self._stale.update(self._tabs)

    def is_settled(self) -> bool:
        """Whether the tab that is shown was read."""
        return self._tabs[self.tab].is_settled and not self._refresh.isActive()

    def changed(self, change: Changed) -> None:
        """Everything that happens stands in the journal: read again, at most a few times a second."""
        super().changed(change)
        self._stale.update(self._tabs)
        if not self._is_shown:
            return
        if self.tab == "next":
            self._refresh.start(_AHEAD_MS)
        elif not self._refresh.isActive():
            self._refresh.start(_REFRESH_MS)

    # ---- tabs

    def show_tab(self, name: str) -> None:
        """Show one of the tabs.

        Args:
            name: of it, as in `enter`.
        """
        self.tab = name
        self.context.prefs.keep(_STATE, name)
        self._show()
        if self._is_shown:
            self._enter_tab()

    def _show(self) -> None:
        self._stack.setCurrentWidget(self._tabs[self.tab])
        for name, made in self._buttons.items():
            made.setVisible(self.tab == name)

    def _enter_tab(self) -> None:
        self._stale.discard(self.tab)
        self._tabs[self.tab].enter()
        self.is_stale = bool(self._stale)

    def _read(self) -> None:
        self._stale.discard(self.tab)
        self._tabs[self.tab].read()
        self.is_stale = bool(self._stale)


JOURNAL = PageSpec(
    "journal",
    "Journal",
    "notebook",
    JournalPage,
    "history undo changes imports audit log fading archive restore jobs runs consolidate health lifecycle",
)
