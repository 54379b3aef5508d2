"""The tabs of the journal, each made when it is first wanted: all of them at once would hold the window up.

Must not do: know the page around it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TypeVar

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QStackedWidget

from ui.context import Context
from ui.pages.journal.health.health import HealthTab
from ui.pages.journal.history.archive import ArchiveTab
from ui.pages.journal.history.audit import AuditTab
from ui.pages.journal.history.changes import ChangesTab
from ui.pages.journal.history.imports import ImportsTab
from ui.pages.journal.runs.next_run import NextTab
from ui.pages.journal.runs.relations import RelationsTab
from ui.pages.journal.runs.runner import Runner
from ui.pages.journal.runs.runs import RunsTab

Tab = ChangesTab | NextTab | RunsTab | RelationsTab | ArchiveTab | HealthTab | ImportsTab | AuditTab
T = TypeVar(
    "T", ChangesTab, NextTab, RunsTab, RelationsTab, ArchiveTab, HealthTab, ImportsTab, AuditTab
)  # fmt: skip


class Tabs(QStackedWidget):
    """The tabs; asking for one makes it.

    Attributes:
        made: those that were made, by name.

    Signals:
        born: the name of a tab that was just made.
    """

    born = Signal(str)

    def __init__(self, context: Context, runner: Runner) -> None:
        super().__init__()
        self._context, self._runner = context, runner
        self.made: dict[str, Tab] = {}

    def tab(self, name: str) -> Tab:
        """A tab; it is made where it was not yet.

        Args:
            name: a key of `tabs` in the page's words.
        """
        makers: Mapping[str, Callable[[], Tab]] = {
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

    def _add(self, name: str, tab: T) -> T:
        self.made[name] = tab
        self.addWidget(tab)
        self.born.emit(name)
        return tab

    @cached_property
    def changes(self) -> ChangesTab:
        """What happened."""
        return self._add("changes", ChangesTab(self._context))

    @cached_property
    def next(self) -> NextTab:
        """What the next run would do."""
        return self._add("next", NextTab(self._context, self._runner))

    @cached_property
    def runs(self) -> RunsTab:
        """What runs and ran."""
        return self._add("runs", RunsTab(self._context, self._runner))

    @cached_property
    def relations(self) -> RelationsTab:
        """Relations that runs propose."""
        return self._add("relations", RelationsTab(self._context))

    @cached_property
    def archive(self) -> ArchiveTab:
        """What is archived."""
        return self._add("archive", ArchiveTab(self._context))

    @cached_property
    def health(self) -> HealthTab:
        """How everything is."""
        return self._add("health", HealthTab(self._context))

    @cached_property
    def imports(self) -> ImportsTab:
        """What was brought in."""
        return self._add("imports", ImportsTab(self._context))

    @cached_property
    def audit(self) -> AuditTab:
        """Every verb."""
        return self._add("audit", AuditTab(self._context))
