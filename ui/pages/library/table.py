"""The table itself: scrolling, choosing, sorting by its header, columns; keeps its place when the list changes.

Must not do: ask the engine; the model does, and only for what is in sight.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from PySide6.QtCore import (
    QEvent,
    QItemSelection,
    QItemSelectionModel,
    QItemSelectionRange,
    QModelIndex,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import QFocusEvent, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView

from ui.context import Context
from ui.pages.library.columns import COLUMNS, PLACE, TEXT
from ui.pages.library.delegate import Cells
from ui.pages.library.header import Columns
from ui.pages.library.model import MemoryTable
from ui.widgets.keys import overrides, plain_key

_GLANCE_MS = 30
_MOST_RANGES = 1_000  # a selection in more pieces than this makes drawing slow
_MOVE = QItemSelectionModel.SelectionFlag
_KEYS: Mapping[Qt.Key, str] = {
    Qt.Key.Key_Delete: "forget",
    Qt.Key.Key_F2: "edit",
    Qt.Key.Key_Return: "edit",
    Qt.Key.Key_Enter: "edit",
    Qt.Key.Key_T: "tag",
    Qt.Key.Key_M: "move",
    Qt.Key.Key_I: "importance",
    Qt.Key.Key_P: "pin",
    Qt.Key.Key_A: "archive",
    Qt.Key.Key_R: "restore",
    Qt.Key.Key_E: "edit",
    Qt.Key.Key_X: "export",
    Qt.Key.Key_Slash: "search",
}


@dataclass(frozen=True, slots=True)
class _Place:
    """Where somebody was in the list."""

    chosen: tuple[str, ...]
    current: str
    line: int
    top: str
    offset: int


class LibraryTable(QTableView):
    """The table.

    Signals:
        chosen: another selection.
        asked: what a key asks for: `forget`, `edit`, `tag` and so on.
        let_go: the selection was dropped, because it lies in too many pieces now.
    """

    chosen = Signal()
    asked = Signal(str)
    let_go = Signal()

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._context, self._theme = context, context.theme
        self.memories = MemoryTable(context, self)
        self.cells = Cells(context.theme, self.memories, self)
        self.setModel(self.memories)
        self.setItemDelegate(self.cells)
        self.setAccessibleName("Memories")
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setCornerButtonEnabled(False)
        self.setTabKeyNavigation(False)
        self.setMouseTracking(True)
        self.setMinimumHeight(context.theme.px(120))
        self._glance = QTimer(self)
        self._glance.setSingleShot(True)
        self._glance.setInterval(_GLANCE_MS)
        self._glance.timeout.connect(self.look)
        rows = self.verticalHeader()
        rows.hide()
        rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        rows.setDefaultSectionSize(self._theme.px(self._theme.tokens.sizes.row))
        self.columns = Columns(context, self, self.memories)
        self._connect()

    def _connect(self) -> None:
        self.columns.moved.connect(self._columns_moved)
        self.verticalScrollBar().valueChanged.connect(self._soon)
        self.selectionModel().selectionChanged.connect(self.chosen)
        self.selectionModel().currentRowChanged.connect(self._mark)
        self.doubleClicked.connect(lambda _: self.asked.emit("edit"))
        self.entered.connect(self._hover)
        self._theme.changed.connect(self._restyle)

    # ---- what is chosen

    def chosen_ids(self) -> tuple[str, ...]:
        """The memories that are chosen, in the order of the list."""
        ids = self.memories.ids
        found: list[str] = []
        for first, last in self._ranges():
            found.extend(ids[first : last + 1])
        return tuple(found)

    @property
    def chosen_count(self) -> int:
        """How many memories are chosen."""
        return sum(last - first + 1 for first, last in self._ranges())

    def _ranges(self) -> list[tuple[int, int]]:
        selection = self.selectionModel().selection()
        pieces = (selection.at(place) for place in range(selection.count()))
        ranges = sorted((one.top(), one.bottom()) for one in pieces)
        apart: list[tuple[int, int]] = []
        for first, last in ranges:
            if apart and first <= apart[-1][1]:
                apart[-1] = (apart[-1][0], max(last, apart[-1][1]))
            else:
                apart.append((first, last))
        return apart

    def choose(self, memory_id: str) -> bool:
        """Choose one memory and bring it into sight.

        Args:
            memory_id: which.

        Returns:
            Whether it is listed.
        """
        place = self.memories.place_of(memory_id)
        if place < 0:
            return False
        self.setCurrentIndex(self.memories.index(place, PLACE[TEXT]))
        return True

    # ---- another list

    def show_ids(self, ids: tuple[str, ...], *, stays: bool) -> None:
        """List other memories.

        Args:
            ids: all of them, in order.
            stays: whether to stay where somebody looks; else from the top. What is chosen stays chosen.
        """
        place = self._place()
        if self.memories.show_ids(ids):
            self._go_back(place)
            line = self.memories.place_of(place.top) if place.top and stays else -1
            if line >= 0:
                self.verticalScrollBar().setValue(line * self.rowHeight(0) - place.offset)
            elif not stays:
                self.scrollToTop()
        elif not stays:
            self.scrollToTop()
        self._soon()

    def _place(self) -> _Place:
        ids = self.memories.ids
        current = self.currentIndex().row()
        top = self.rowAt(0) if self.verticalScrollBar().value() else -1
        return _Place(
            chosen=self.chosen_ids(),
            current=ids[current] if 0 <= current < len(ids) else "",
            line=current,
            top=ids[top] if 0 <= top < len(ids) else "",
            offset=self.rowViewportPosition(top) if top >= 0 else 0,
        )

    def _go_back(self, place: _Place) -> None:
        ids = self.memories.ids
        lines = _lines_of(ids, place.chosen)
        current = self.memories.place_of(place.current) if place.current else -1
        if not lines and len(place.chosen) == 1 and ids:
            # The one that was chosen is gone: the next one takes its place, so that one can go on by keyboard.
            current = min(max(place.line, 0), len(ids) - 1)
            lines = [current]
        ranges = list(_joined(lines))
        if len(ranges) > _MOST_RANGES:
            ranges = []
            self.let_go.emit()
        model, last = self.memories, len(COLUMNS) - 1
        selection = QItemSelection()
        for first, end in ranges:
            selection.append(QItemSelectionRange(model.index(first, 0), model.index(end, last)))
        if current >= 0:
            index = model.index(current, PLACE[TEXT])
            self.selectionModel().setCurrentIndex(index, _MOVE.NoUpdate)
        if ranges:
            self.selectionModel().select(selection, _MOVE.ClearAndSelect)
        elif place.chosen:
            self.chosen.emit()

    # ---- what is in sight

    def _soon(self) -> None:
        if not self._glance.isActive():
            self._glance.start()

    def look(self) -> None:
        """Fetch what is in sight and not there yet."""
        if not self.isVisible() or not self.memories.ids:
            return
        first = max(0, self.rowAt(0))
        last = self.rowAt(self.viewport().height() - 1)
        self.memories.look(first, last if last >= 0 else len(self.memories.ids) - 1)

    @property
    def is_settled(self) -> bool:
        """Whether all rows in sight have come."""
        return not self._glance.isActive() and self.memories.is_settled

    def rest(self) -> None:
        """Nobody looks any more."""
        self._glance.stop()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """More lines may be in sight, and more columns."""
        super().resizeEvent(event)
        self.columns.fit()
        self._soon()

    def _restyle(self) -> None:
        theme = self._theme
        self.cells.restyle()
        self.verticalHeader().setDefaultSectionSize(theme.px(theme.tokens.sizes.row))
        self.columns.rescale()
        self.viewport().update()

    def _columns_moved(self) -> None:
        self.cells.ends = self.columns.ends
        self.viewport().update()

    # ---- keyboard and pointer

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Letters act on what is chosen; Esc lets go of it."""
        if not self._wants(event):
            super().keyPressEvent(event)
        elif event.key() == Qt.Key.Key_Escape:
            self.clearSelection()
        else:
            self.asked.emit(_KEYS[Qt.Key(event.key())])

    def _wants(self, event: QKeyEvent) -> bool:
        key = plain_key(event)
        return key in _KEYS or (key == Qt.Key.Key_Escape and self.chosen_count > 0)

    def event(self, event: QEvent) -> bool:
        """Its keys are its own, although the window forgets one memory by Del and the table all that are chosen."""
        return overrides(event, self._wants) or super().event(event)

    def keyboardSearch(self, _typed: str) -> None:  # noqa: N802 - Qt's name
        """Not here: it would ask for every row's text. The query line searches."""

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802 - Qt's name
        """The first line takes the keyboard where none has it yet."""
        super().focusInEvent(event)
        if not self.currentIndex().isValid() and self.memories.ids:
            self.selectionModel().setCurrentIndex(self.memories.index(0, PLACE[TEXT]), _MOVE.NoUpdate)
        self._mark(self.currentIndex())

    def focusOutEvent(self, event: QFocusEvent) -> None:  # noqa: N802 - Qt's name
        """No line has the keyboard."""
        super().focusOutEvent(event)
        self._mark(QModelIndex())

    def leaveEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """No line is under the pointer."""
        super().leaveEvent(event)
        self._hover(QModelIndex())

    def _hover(self, index: QModelIndex) -> None:
        self.cells.hovered = _repainted(self, self.cells.hovered, index.row())

    def _mark(self, index: QModelIndex, _before: QModelIndex | None = None) -> None:
        line = index.row() if self.hasFocus() else -1
        self.cells.marked = _repainted(self, self.cells.marked, line)


def _repainted(table: QTableView, old: int, new: int) -> int:
    """Paint two lines anew, -1 for none; the second is the one that counts from now on."""
    for line in {old, new} - {-1}:
        top = table.rowViewportPosition(line)
        table.viewport().update(0, top, table.viewport().width(), table.rowHeight(line))
    return new


def _lines_of(ids: tuple[str, ...], chosen: tuple[str, ...]) -> list[int]:
    """The lines of some memories; those that are not listed are left out."""
    if len(chosen) == 1:
        return [ids.index(chosen[0])] if chosen[0] in ids else []
    wanted = frozenset(chosen)
    return [line for line, memory_id in enumerate(ids) if memory_id in wanted] if wanted else []


def _joined(lines: Iterable[int]) -> Iterable[tuple[int, int]]:
    """Lines as stretches without a gap."""
    first = last = -2
    for line in lines:
        if line == last + 1:
            last = line
            continue
        if first >= 0:
            yield first, last
        first = last = line
    if first >= 0:
        yield first, last
