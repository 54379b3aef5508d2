"""The table's header: which columns are shown, how wide they are, by which the list is sorted; kept from day to day.

Must not do: touch a row.
"""

from __future__ import annotations

from PySide6.QtCore import QItemSelectionModel, QObject, Qt, Signal
from PySide6.QtWidgets import QHeaderView, QTableView

from ui.context import Context
from ui.pages.library.columns import BY_SORT, COLUMNS, LEAST_TEXT, PLACE, TEXT, fitting, read, sort_of, written
from ui.pages.library.model import MemoryTable

_STATE, _SHOWN, _SORT = "library.columns", "library.shown", "library.sort"


class Columns(QObject):
    """Drives a table's header.

    Attributes:
        sort: a word of `SORTS`.
        falls: whether the largest, newest or last in the alphabet comes first.

    Signals:
        sorted: another order was asked for.
        moved: the columns stand in another order, or others are shown.
    """

    sorted = Signal()
    moved = Signal()

    def __init__(self, context: Context, view: QTableView, model: MemoryTable) -> None:
        super().__init__(view)
        self._model = model
        self._context, self._theme, self._view = context, context.theme, view
        self.sort, self.falls = sort_of(context.prefs.text(_SORT))
        self._chosen = read(context.prefs.text(_SHOWN))
        self._scale = context.theme.scale
        self._is_fitting = False
        self._header = header = view.horizontalHeader()
        # A header asks of each column whether all its lines are chosen, line by line: 255 ms a drawing at 20,000. It is
        # given a selection of its own, in which there is never anything.
        header.setSelectionModel(QItemSelectionModel(model, header))
        header.setHighlightSections(False)
        header.setSectionsClickable(True)
        header.setSectionsMovable(True)
        header.setMinimumSectionSize(self._theme.px(36))
        header.setStretchLastSection(False)
        header.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        for place, column in enumerate(COLUMNS):
            header.resizeSection(place, self._theme.px(column.width))
        state = context.prefs.state(_STATE)
        if not state.isEmpty():
            header.restoreState(state)
        header.setSortIndicatorShown(False)  # the style would draw its arrow over the title; the model writes one
        header.setSectionResizeMode(PLACE["kind"], QHeaderView.ResizeMode.Fixed)
        header.setSectionResizeMode(PLACE[TEXT], QHeaderView.ResizeMode.Fixed)
        self._show_sort()
        header.sectionResized.connect(self._resized)
        header.sectionMoved.connect(self._moved)
        header.sectionClicked.connect(self._clicked)

    @property
    def shown(self) -> frozenset[str]:
        """Ids of the columns that are shown."""
        return frozenset(column.id for place, column in enumerate(COLUMNS) if not self._header.isSectionHidden(place))

    @property
    def is_own(self) -> bool:
        """Whether the person chose the columns."""
        return self._chosen is not None

    @property
    def ends(self) -> tuple[int, int]:
        """The first and the last column as they stand."""
        places = [self._header.logicalIndex(at) for at in range(self._header.count())]
        seen = [place for place in places if not self._header.isSectionHidden(place)]
        return seen[0], seen[-1]

    def choose(self, columns: frozenset[str] | None) -> None:
        """Show these columns.

        Args:
            columns: their ids; None for those there is room for.
        """
        self._chosen = None if columns is None else columns | {TEXT}
        self._context.prefs.keep(_SHOWN, "" if self._chosen is None else written(self._chosen))
        self.fit()

    def fit(self) -> None:
        """Give the text what the others leave; hide what there is no room for, unless the person chose it."""
        if self._is_fitting:
            return
        self._is_fitting = True
        width = self._view.viewport().width()
        shown = self._chosen or fitting(width, self._theme.px)
        for place, column in enumerate(COLUMNS):
            self._header.setSectionHidden(place, column.id not in shown)
        others = sum(self._header.sectionSize(PLACE[name]) for name in shown if name != TEXT)
        least = self._theme.px(LEAST_TEXT if self.is_own else LEAST_TEXT // 2)
        self._header.resizeSection(PLACE[TEXT], max(least, width - others))
        self._is_fitting = False
        self.moved.emit()

    def rescale(self) -> None:
        """The text has another size, and the columns with it."""
        self._is_fitting = True
        for place in range(len(COLUMNS)):
            size = self._header.sectionSize(place)
            if size and self._theme.scale != self._scale:
                self._header.resizeSection(place, round(size * self._theme.scale / self._scale))
        self._scale = self._theme.scale
        self._is_fitting = False
        self.fit()

    def _resized(self, _place: int, _old: int, _new: int) -> None:
        if not self._is_fitting:
            self.fit()
            self._keep()

    def _moved(self, _place: int, _old: int, _new: int) -> None:
        self._keep()
        self.moved.emit()

    def _keep(self) -> None:
        self._context.prefs.keep(_STATE, self._header.saveState())

    def _clicked(self, place: int) -> None:
        column = COLUMNS[place]
        if column.sort:
            self.order(column.sort, falls=not self.falls if column.sort == self.sort else column.falls)

    def order(self, sort: str, *, falls: bool) -> None:
        """Ask for another order.

        Args:
            sort: a word of `SORTS`.
            falls: largest, newest or last in the alphabet first.
        """
        self.sort, self.falls = sort, falls
        self._context.prefs.keep(_SORT, f"{sort}{'-' if falls else '+'}")
        self._show_sort()
        self.sorted.emit()

    def _show_sort(self) -> None:
        column = BY_SORT.get(self.sort)
        self._model.show_sort(-1 if column is None else PLACE[column.id], falls=self.falls)
