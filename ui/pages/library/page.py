"""The library page: everything as one table, found by words and filters, chosen from, changed with one undo.

Must not do: know another page; what is looked at goes by the selection, what is said by the desk.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QHideEvent, QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import QFrame, QSizePolicy, QWidget

from core.events import Changed
from core.types.values import STANDING, Status
from core.types.views import Facets, FindRequest, FindResult, MemoryRow
from ui.bridge import make_query, problem_of
from ui.context import Command, Context, PageSpec, RefreshingPage
from ui.pages.library.bulk import ACTS, BulkChanges, SelectionBar
from ui.pages.library.filters import LibraryFilterBar, LibraryListControls, LibraryQuery, TermChips, make_empty_state
from ui.pages.library.search_line import QueryHelp, QueryLine
from ui.pages.library.table import LibraryTable
from ui.seal_summary import SealedStrip
from ui.strings import attach_strings, library_strings
from ui.widgets.basics import Elided, make_column, make_label, make_row, make_tool_button
from ui.widgets.states import States

ORIGIN = "library"
EXPORT_ALL = "export:everything"
"""The target that asks for an encrypted archive of everything."""
_SHOW = "show:"
_NARROW = 560  # pixels at 100 %
_LOOKED_AT = 500  # chosen rows that are looked at to see what can be done with them


class _SoughtMemory:
    """A memory that was chosen elsewhere and is to be marked in the list.

    Attributes:
        id: "" where none is sought, or it is known whether the list has it.
    """

    def __init__(self, page: LibraryPage) -> None:
        self.id, self._page = "", page

    def clear_filter_hiding(self, ids: Collection[str]) -> None:
        """Clear the filter where it hides the memory; not where no filter would list it, either.

        Args:
            ids: what the filter lists.
        """
        sought, self.id = self.id, ""
        if sought and sought not in ids and self._page.query.text:
            self._read_sought(sought, self._page.query.text)

    def _read_sought(self, sought: str, text: str) -> None:
        context, query = self._page.context, self._page.query

        def clear_filter(found: Sequence[MemoryRow]) -> None:
            is_listed = any(one.status in STANDING for one in found)
            if is_listed and (sought, text) == (context.selection.current, query.text):
                query.set_text("")
                context.desk.show_message(library_strings()["search"]["cleared"])

        library = context.bridge.engine.library
        task = make_query(library_strings()["tasks"]["search"], lambda: library.read_rows((sought,)))
        context.tasks.run(
            task.within(self._page, "sought")
            .success(clear_filter)
            .failure(
                lambda error: self._page.states.show_failure(
                    error, lambda: self._read_sought(sought, text), context.desk.show_message
                )
            )
        )


class LibraryPage(RefreshingPage):
    """The Library page."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.query = LibraryQuery(context, self)
        self.facets: Facets | None = None
        self._sought = _SoughtMemory(self)
        self._is_found = self._is_answered = self._is_echo = self._are_pinned = self._wants_keyboard = (
            self._is_undone
        ) = self._is_found_after_undo = self._is_choice_dropped = False
        self._make_parts()
        self._build_layout()
        self._connect_signals()

    def _make_parts(self) -> None:
        context = self.context
        theme = context.theme
        self._count = Elided("", "muted")
        self.table = LibraryTable(context)
        self.line = QueryLine(context, self.query)
        self.search_field = self.line.field
        self.filters = LibraryFilterBar(context, self.query)
        self.terms = TermChips(theme, self.query)
        self.sealed = SealedStrip(context, ORIGIN)
        self.bar = SelectionBar(theme)
        self.changes = BulkChanges(context, self)
        self.helper = QueryHelp(theme, self, self.line)
        self.controls = LibraryListControls(theme, self.table)
        self._card = QFrame()
        self._card.setObjectName("card")
        inner = make_column(self._card, self.table)
        inner.setContentsMargins(1, 6, 1, 8)
        self.states = States(theme, self._card, library_strings()["reading"])

    def _build_layout(self) -> None:
        layout = make_column(self, gap=10)
        layout.setContentsMargins(24, 16, 24, 16)
        header = QWidget()
        header.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        attach = make_tool_button(
            self.context.theme, "file", attach_strings()["attach"], lambda: self.context.desk.attach_paths.emit([])
        )
        line = make_row(
            make_label(library_strings()["title"], "title"), self._count, attach, self.controls, gap=10, parent=header
        )
        line.setStretch(1, 1)
        layout.addWidget(header)
        for part in (self.line, self.filters, self.terms, self.sealed):
            layout.addWidget(part)
        layout.addWidget(self.states, 1)
        layout.addWidget(self.bar)

    def _connect_signals(self) -> None:
        self.query.changed.connect(self._on_query_changed)
        self.states.changed.connect(self.note_empty)
        self.line.help_asked.connect(self.helper.toggle)
        self.line.left.connect(self.table.setFocus)
        self.table.chosen.connect(self._on_rows_chosen)
        self.table.clicked.connect(lambda _: self._on_rows_chosen())
        self.table.asked.connect(self.run_action)
        self.table.let_go.connect(self._announce_reorder)
        self.table.memories.dataChanged.connect(self._on_rows_loaded)
        self.table.columns.sorted.connect(self._on_query_changed)
        self.bar.asked.connect(self.run_action)
        self.bar.cleared.connect(self.table.clearSelection)
        self.context.selection.changed.connect(self._on_selection_changed)
        # Active while the page has the keyboard only: F1 may mean something else elsewhere.
        keys = QShortcut(QKeySequence(Qt.Key.Key_F1), self, context=Qt.ShortcutContext.WidgetWithChildrenShortcut)
        keys.activated.connect(self.helper.toggle)

    # ---- the page's life

    def activate(self, target: str = "") -> None:
        """Show it; a target is a search, `EXPORT_ALL`, or `show:<memory>`, which lists that memory and marks it."""
        super().activate(target)
        if target == EXPORT_ALL:
            self.changes.ask_archive_file()
        elif target.startswith(_SHOW):
            self._mark_memory(target.removeprefix(_SHOW))
        elif target.strip():
            self.query.set_text(target)
        if self.is_stale or not self.table.memories.ids:
            self.reload_stale()
        self._wants_keyboard = not self.table.memories.ids
        self.table.setFocus()
        self.table.load_visible()

    def _mark_memory(self, memory_id: str) -> None:
        """Mark the row of a memory that was chosen elsewhere, once it is listed."""
        self._is_echo = True
        if not self.table.select_memory(memory_id):
            self.table.selectionModel().clear()
            self._is_choice_dropped = True  # it is marked once it is read
            # A list that is read anew may have it: whether the filter hides it is known then.
            self._sought.id = memory_id
            if self._is_answered and not self.is_stale:
                self._sought.clear_filter_hiding(self.table.memories.ids)
        self._is_echo = False

    def deactivate(self) -> None:
        """Another page is shown: nothing runs here any more."""
        super().deactivate()
        self.line.stop_timer()
        self.table.stop_timer()
        self.helper.close()

    def is_settled(self) -> bool:
        """Whether it shows all it is about to show."""
        is_read = self._is_answered and self.facets is not None and self.sealed.is_settled
        return is_read and not self._refresh.isActive() and self.table.is_settled

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802 - Qt's name
        """No timer runs while nobody looks."""
        super().hideEvent(event)
        self.line.stop_timer()
        self.table.stop_timer()

    def handle_change(self, change: Changed) -> None:
        """Something is different: read again in the background, at most a few times a second."""
        super().handle_change(change)
        # The inspector knows which version is current again; the line that comes next is not what the person looked at.
        self._is_undone = self._is_undone or change.verb == "undo"

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """The documentation keeps its place."""
        super().resizeEvent(event)
        is_narrow = self.width() < self.context.theme.px(_NARROW)
        self.controls.make_narrow(is_narrow=is_narrow)
        self.filters.make_narrow(is_narrow=is_narrow)
        self.helper.keep_place()

    # ---- reading

    def reload_stale(self) -> None:
        """The list, the counts and what is pinned."""
        self.is_stale = False
        library = self.context.bridge.engine.library
        self.context.tasks.run(
            make_query(library_strings()["tasks"]["count"], library.count_facets)
            .within(self, "facets")
            .success(self._on_facets_read)
            .failure(lambda _: None)  # the search tells what is wrong
        )
        self._find_memories(stays=True)

    def _on_query_changed(self) -> None:
        self._sought.id = ""
        if self._is_shown:
            self._find_memories(stays=False)
        else:
            self.is_stale = True

    def _find_memories(self, *, stays: bool) -> None:
        if not self.query.is_understood:
            return  # the line says what is wrong; what was found before stays visible
        if not self.table.memories.ids and not stays:
            self.states.show_content()
        if not self.table.memories.ids and self.facets is None:
            self.states.show_loading()
        self._is_answered = False
        # What was asked before an undo came says nothing of what it took away.
        self._is_found_after_undo, self._is_undone = self._is_found_after_undo or self._is_undone, False
        columns = self.table.columns
        request = FindRequest(self.query.text, columns.sort, columns.falls)
        library = self.context.bridge.engine.library
        self.context.tasks.run(
            make_query(library_strings()["tasks"]["search"], lambda: library.find_memories(request))
            .within(self, "find")
            .success(lambda found: self._on_found(found, stays=stays))
            .failure(lambda error: self._show_failure(error, stays=stays))
        )

    def _on_found(self, found: FindResult, *, stays: bool) -> None:
        self._is_found = self._is_answered = True
        self.sealed.ask(self.query.words, lists_all=not self.query.text)
        self._is_echo = True
        self.table.show_ids(found.ids, stays=stays)
        self._select_looked_at()
        if not stays and not self._sought.id and self.context.selection.current not in found.ids:
            self.context.selection.select("", ORIGIN)  # another search: what it does not find is not looked at any more
        self._is_echo = self._is_found_after_undo
        self._sought.clear_filter_hiding(found.ids)
        self._show_state()
        self._on_rows_chosen()
        self._is_echo = self._is_found_after_undo = False

    def _select_looked_at(self) -> None:
        """What is looked at wins over the line the keyboard fell to because its memory is gone, and over none."""
        looked, chosen = self.context.selection.current, self.table.chosen_ids()
        is_other = len(chosen) == 1 and chosen[0] != looked
        is_none = not chosen and self._is_choice_dropped
        if looked and (is_other or is_none) and self.table.select_memory(looked):
            self._is_found_after_undo = self._is_choice_dropped = False

    def _on_facets_read(self, facets: Facets) -> None:
        self.facets = self.changes.facets = facets
        self.filters.show_facets(facets)
        self._show_state()

    def _show_failure(self, error: BaseException, *, stays: bool) -> None:
        problem = problem_of(error)
        self._is_found, self._is_answered = False, True
        if problem is not None:
            self._count.set_text("")
            self.states.show_trouble(problem, lambda: self._find_memories(stays=stays))

    def _show_state(self) -> None:
        """The table, or what is in its place; how many there are."""
        if not self._is_found:
            return
        found, facets = len(self.table.memories.ids), self.facets
        total = 0
        if facets is not None:
            total = sum((facets.statuses if self.query.has_status else facets.kinds).values())
        which, strings = "total" if self.query.has_status else "active", library_strings()["count"]
        parts = 0 if facets is None or self.query.has_status else facets.later_parts
        form = strings[f"{which}_some" if found < total else "active_parts" if parts else which]
        shown, memories = max(found, total), max(found, total) - parts
        self._count.set_text(form.format(found=f"{found:,}", count=f"{shown:,}", memories=f"{memories:,}"))
        self._count.set_hint(strings[f"{which}_hint"])
        if found:
            self.states.show_content()
            if self._wants_keyboard:  # it was not there yet when the page was entered
                self._wants_keyboard = False
                if not self.context.desk.is_searching:  # else the rest of what is typed would not get there
                    self.table.setFocus()
        elif facets is not None:
            self.states.show_empty(make_empty_state(self.context, self.query, facets))
            if not facets.statuses:
                self._count.set_text("")

    # ---- choosing and acting

    def _on_rows_chosen(self) -> None:
        count = self.table.chosen_count
        rows = [self.table.memories.row_of(memory_id) for memory_id in self.table.chosen_ids()[:_LOOKED_AT]]
        known = [one for one in rows if one is not None]
        is_sure = len(known) == count
        pinned = is_sure and all(one.pinned for one in known)
        offered = {act.id for act in ACTS}
        if is_sure and not any(one.status in {Status.ARCHIVED, Status.DELETED} for one in known):
            offered.discard("restore")
        self.bar.show_choice(count, frozenset(offered), are_pinned=pinned)
        self._are_pinned = pinned
        if count == 1 and not self._is_echo:
            self.context.selection.select(self.table.chosen_ids()[0], ORIGIN)

    def _on_rows_loaded(self) -> None:
        if self.table.chosen_count:
            self._on_rows_chosen()  # whether they are pinned or archived is known only now

    def _on_selection_changed(self, memory_id: str, origin: str) -> None:
        if origin == ORIGIN or not memory_id or self.table.chosen_count > 1:
            return
        self._is_echo = True
        if not self.table.select_memory(memory_id):
            self._is_choice_dropped = True  # it may come with the next reading, as a new version does
            self.table.selectionModel().clear()  # or a row would be marked that is not the one in the inspector
        self._is_echo = False

    def _announce_reorder(self) -> None:
        self.context.desk.show_message(library_strings()["selection"]["dropped"])

    def run_action(self, act: str) -> None:
        """Do something with what is chosen.

        Args:
            act: id of an act, `edit` or `search`.
        """
        if act == "search":
            self.focus_search()
        elif act == "edit":
            self._edit_chosen()
        else:
            self.changes.run_action(act, self.table.chosen_ids(), are_pinned=self._are_pinned)

    def _edit_chosen(self) -> None:
        if not self.table.chosen_count and self.table.currentIndex().isValid():
            self.table.selectRow(self.table.currentIndex().row())
        commands = self.context.commands
        if self.table.chosen_count == 1 and any(command.id == "memory.edit" for command in commands.list_commands()):
            self._on_rows_chosen()  # the command edits what the inspector shows, which may have come from elsewhere
            commands.run("memory.edit")


def library_commands(context: Context) -> tuple[Command, ...]:
    """What the menus and the command palette offer of the library, wherever the person is."""
    strings, go = library_strings()["export"]["archive"], context.desk.go.emit
    return (
        Command(
            "file.export", strings["command"], lambda: go("library", EXPORT_ALL), "file", icon="download",
            words=strings["words"],
        ),
    )  # fmt: skip


LIBRARY = PageSpec("library", library_strings, "library", LibraryPage, has_search=True)
