"""The journal page: changes, imports and the audit, one at a time.

Must not do: know another page.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QStackedWidget

from core.events import Changed
from ui.context import Context, Page, PageSpec
from ui.pages.journal.audit import AuditTab
from ui.pages.journal.changes import ChangesTab
from ui.pages.journal.imports import ImportsTab
from ui.widgets.basics import button, column, label, row
from ui.widgets.chips import Segments

_TABS = (("changes", "Changes"), ("imports", "Imports"), ("audit", "Audit"))
_STATE = "journal.tab"
_REFRESH_MS = 400  # between two readings while an import runs


class JournalPage(Page):
    """The page."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._is_shown = False
        self._stale: set[str] = set()
        kept = context.prefs.text(_STATE, "changes")
        self.tab = kept if kept in dict(_TABS) else "changes"
        self.segments = Segments(_TABS, self.tab, "What the journal shows")
        self.segments.chosen.connect(self.show_tab)
        self.changes, self.imports, self.audit = ChangesTab(context), ImportsTab(context), AuditTab(context)
        self._tabs: dict[str, ChangesTab | ImportsTab | AuditTab] = {
            "changes": self.changes,
            "imports": self.imports,
            "audit": self.audit,
        }
        self.import_button = button(
            "Import …",
            partial(context.desk.import_paths.emit, []),
            theme=context.theme,
            icon="import",
            hint="Bring your history (Ctrl+O)",
        )
        self.check_button = button(
            "Check the chain",
            self.audit.check,
            theme=context.theme,
            icon="shield-check",
            hint="See whether the audit and the vault are whole",
        )
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
        head = row(label("Journal", "title"), None, self.import_button, self.check_button, gap=10)
        head.addStrut(context.theme.px(context.theme.tokens.sizes.control))  # as high where no button stands in it
        layout.addLayout(head)
        layout.addWidget(self.segments)
        layout.addWidget(self._stack, 1)
        self._show()

    def _counter(self, name: str) -> Callable[[int], None]:
        title = dict(_TABS)[name]
        return lambda count: self.segments.name_choice(name, f"{title} {count:,}" if count else title)

    def _checking(self) -> None:
        is_checking = self.audit.is_checking
        self.check_button.setEnabled(not is_checking)
        self.check_button.setText("Checking …" if is_checking else "Check the chain")

    # ---- the page's life

    def enter(self, wish: str = "") -> None:
        """Show it.

        Args:
            wish: `changes`, `imports` or `audit`; "" for the one that was shown last.
        """
        self._is_shown = True
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
        if self._is_shown and not self._refresh.isActive():
            self._refresh.start()

    # ---- tabs

    def show_tab(self, name: str) -> None:
        """Show one of the tabs.

        Args:
            name: `changes`, `imports` or `audit`.
        """
        self.tab = name
        self.context.prefs.keep(_STATE, name)
        self._show()
        if self._is_shown:
            self._enter_tab()

    def _show(self) -> None:
        self._stack.setCurrentWidget(self._tabs[self.tab])
        self.import_button.setVisible(self.tab == "imports")
        self.check_button.setVisible(self.tab == "audit")

    def _enter_tab(self) -> None:
        self._stale.discard(self.tab)
        self._tabs[self.tab].enter()
        self.is_stale = bool(self._stale)

    def _read(self) -> None:
        self._stale.discard(self.tab)
        self._tabs[self.tab].read()
        self.is_stale = bool(self._stale)


JOURNAL = PageSpec("journal", "Journal", "notebook", JournalPage, "history undo changes imports audit log")
