"""How the list is sorted and which columns it shows; and what stands in its place when there is nothing to list.

Must not do: find anything; the header keeps order and columns.
"""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtWidgets import QLabel, QMenu, QVBoxLayout, QWidget

from core.types.views import Facets
from ui.context import Context
from ui.pages.library.columns import COLUMNS, SORT_WORDS, TEXT
from ui.pages.library.filters import Query
from ui.pages.library.table import LibraryTable
from ui.theme.theme import Theme
from ui.widgets.basics import MenuChip, button, row, tool
from ui.widgets.plaintext import one_line
from ui.widgets.states import EmptyState

_NATURAL = ("recorded", "occurred", "trust", "importance", "strength", "accessed", "text", "kind", "status", "space")
_RISING = frozenset({"text", "kind", "status", "space"})


class ListControls(QWidget):
    """A chip for the order, a button for the columns."""

    def __init__(self, theme: Theme, table: LibraryTable) -> None:
        super().__init__()
        self._columns, self._header = table.columns, table.horizontalHeader()
        self.order = MenuChip(theme, "Sort", {}, "")
        for menu in self.order.findChildren(QMenu):  # the chip is turned round to have its arrow at the right
            menu.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        self._menu = QMenu(self)
        self._menu.setAccessibleName("Columns")
        self._menu.aboutToShow.connect(self.fill)
        self.button = tool(theme, "columns-3", "Columns")
        self.button.setMenu(self._menu)
        self.button.setPopupMode(self.button.ToolButtonPopupMode.InstantPopup)
        row(self.order, self.button, parent=self)
        self._is_narrow = True
        # Later: the menu's own line may be telling that it was chosen, and offering others deletes it.
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.timeout.connect(self._show_order)
        self._columns.sorted.connect(self._later.start)
        self._header.customContextMenuRequested.connect(self._at_header)
        self.order.chosen.connect(self._order)
        self._show_order()

    @property
    def menu(self) -> QMenu:
        """The menu of columns."""
        return self._menu

    def _order(self, value: str) -> None:
        self._columns.order(value[:-1], falls=value.endswith("-"))

    def _show_order(self) -> None:
        orders = [(sort, sort not in _RISING) for sort in _NATURAL]
        current = (self._columns.sort, self._columns.falls)
        if current not in orders:
            orders.insert(0, current)
        choices = {_written(sort, falls): SORT_WORDS[sort, falls] for sort, falls in orders}
        self.order.offer(choices, _written(*current))
        self._name()

    def make_narrow(self, *, is_narrow: bool) -> None:
        """Say less where there is little room; what is not said stands in the menu and the tooltip."""
        if is_narrow != self._is_narrow:
            self._is_narrow = is_narrow
            self.order.show_choice(self.order.current)
            self._name()

    def _name(self) -> None:
        self.order.setToolTip("" if not self._is_narrow else self.order.accessibleName())
        if self._is_narrow:
            self.order.setText("Sort")

    def _at_header(self, at: QPoint) -> None:
        self._menu.popup(self._header.mapToGlobal(at))

    def fill(self) -> None:
        """Offer the columns as they stand now."""
        self._menu.clear()
        for one in COLUMNS:
            if one.id == TEXT:
                continue
            action = self._menu.addAction(one.title or one.words)
            action.setCheckable(True)
            action.setChecked(one.id in self._columns.shown)
            action.triggered.connect(lambda checked=False, name=one.id: self._show_column(name, is_shown=checked))
        self._menu.addSeparator()
        fitting = self._menu.addAction("As many as there is room for")
        fitting.setCheckable(True)
        fitting.setChecked(not self._columns.is_own)
        fitting.triggered.connect(lambda: self._columns.choose(None))

    def _show_column(self, name: str, *, is_shown: bool) -> None:
        shown = self._columns.shown
        self._columns.choose(shown | {name} if is_shown else shown - {name})


def _written(sort: str, falls: bool) -> str:
    return f"{sort}{'-' if falls else '+'}"


def nothing_there(context: Context, query: Query, facets: Facets, width: int) -> EmptyState:
    """What stands in the place of an empty list, with a way out.

    Args:
        context: of the window.
        query: what was searched for.
        facets: what there is in all.
        width: pixels the page has.
    """
    theme, desk = context.theme, context.desk
    if not facets.statuses:
        state = EmptyState(
            theme,
            "library",
            "Nothing is remembered yet",
            "Bring in what you told your assistants, or your notes: drop a file anywhere in this window, "
            "or press Ctrl+O.",
            ("Import …", lambda: desk.import_paths.emit([])),
        )
        return _within(state, theme, width)
    chips = query.chips()
    actions = []
    if chips:
        last = chips[-1]
        actions.append((f"Remove “{one_line(last.words, 24)}”", lambda: query.put(last.without)))
    if not query.has_status:
        actions.append(("Search everything", lambda: query.add("status", "all")))
    title = "No memory matches" if chips else "Nothing stands at present"
    sentence = (
        "Everything you write must hold. Take a filter away, or search everything: "
        "also what is archived, superseded or forgotten."
        if chips
        else "All there is was archived, superseded or forgotten."
    )
    state = EmptyState(theme, "search", title, sentence)
    layout = state.layout()
    if isinstance(layout, QVBoxLayout):
        # Below each other: side by side they would keep the page from getting narrow.
        for name, run in actions:
            layout.insertWidget(layout.count() - 1, button(name, run), 0, Qt.AlignmentFlag.AlignHCenter)
    return _within(state, theme, width)


def _within(state: EmptyState, theme: Theme, width: int) -> EmptyState:
    """With large text its sentence would keep the page from getting narrow."""
    for words in state.findChildren(QLabel):
        if words.wordWrap():
            words.setFixedWidth(max(200, min(theme.px(400), width - 96)))
    return state
