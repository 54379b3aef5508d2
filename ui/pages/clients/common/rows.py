"""A list of lines that can be looked at and opened, by mouse and by keys.

Must not do: ask the engine, or know what a line is for.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QItemSelectionModel, QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QListView

from ui.lists.edge_fade import HIGH, fade_edges
from ui.lists.line_model import LineModel
from ui.pages.clients.common.lines import Line, Row, RowPainter
from ui.theme.theme import Theme
from ui.widgets.keys import overrides, plain_key

_ENTER = frozenset({Qt.Key.Key_Return, Qt.Key.Key_Enter})
_NEVER = object()


class RowList(QListView):
    """The list.

    Signals:
        looked_at: the `Row` that is looked at, also where the same one says something else now; None for none.
        opened: the `Row` that was opened, by Enter or a double click.
    """

    looked_at = Signal(object)
    opened = Signal(object)

    def __init__(self, theme: Theme, name: str) -> None:
        """Make it.

        Args:
            theme: the theme.
            name: for those who do not see it.
        """
        super().__init__()
        self._theme = theme
        self.lines: LineModel[Row] = LineModel(self)
        self.painter = RowPainter(theme, self)
        self._last: object = _NEVER
        self.setModel(self.lines)
        self.setItemDelegate(self.painter)
        self.setAccessibleName(name)
        self.setMouseTracking(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.entered.connect(self._hover)
        self.doubleClicked.connect(lambda _: self._open())
        theme.changed.connect(self.scheduleDelayedItemsLayout)

    @property
    def current(self) -> Row | None:
        """The row that is looked at."""
        return self.lines.row_at(self.currentIndex().row())

    def is_below(self, most: int) -> bool:
        """Whether somebody reads further down than can be read again in one page.

        Args:
            most: lines of the largest page.
        """
        is_deep = self.verticalScrollBar().value() > 0 or self.currentIndex().row() >= most
        return self.lines.rowCount() > most and is_deep

    def show_lines(self, lines: Sequence[Line], *, wanted: str = "", has_more: bool = False) -> None:
        """List other lines, and stay where one is.

        Args:
            lines: what to show.
            wanted: the row to look at; "" for the one that is looked at.
            has_more: whether more can be had.
        """
        kept = wanted or (self.current.id if self.current is not None else "")
        value = self.verticalScrollBar().value()
        self.painter.hovered = -1
        if self.lines.show_lines(lines, has_more=has_more):
            self.doItemsLayout()
            self.verticalScrollBar().setValue(value)
        self.look_at(kept)

    def look_at(self, row_id: str) -> None:
        """Look at a row; at the first one where it is not listed."""
        place = self.lines.place_of(row_id)
        if place < 0:
            place = next((at for at in range(self.lines.rowCount()) if self.lines.row_at(at) is not None), -1)
        flag = QItemSelectionModel.SelectionFlag.ClearAndSelect
        self.selectionModel().setCurrentIndex(self.lines.index(place, 0), flag)
        self._tell()

    def rest(self) -> None:
        """Look at nothing."""
        self.setCurrentIndex(QModelIndex())
        self._tell()

    def currentChanged(  # noqa: N802 - Qt's name
        self, current: QModelIndex | QPersistentModelIndex, previous: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Another line is looked at."""
        super().currentChanged(current, previous)
        if current.isValid():
            self._tell()

    def _tell(self) -> None:
        found = self.current
        if found != self._last:
            self._last = found
            self.looked_at.emit(found)

    def _open(self) -> None:
        if self.current is not None:
            self.opened.emit(self.current)

    # ---- Qt's events

    def _wants(self, event: QKeyEvent) -> bool:
        return plain_key(event) in _ENTER

    def event(self, event: QEvent) -> bool:
        """Enter is its own."""
        return overrides(event, self._wants) or super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Enter opens."""
        if self._wants(event):
            self._open()
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802 - Qt's name
        """The first line takes the keyboard where none has it yet."""
        if self.current is None and self.lines.rowCount():
            self.look_at("")
        super().focusInEvent(event)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:  # noqa: N802 - Qt's name
        """The ring goes."""
        super().focusOutEvent(event)
        self.viewport().update()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Lines, faded where the list goes on."""
        super().paintEvent(event)
        fade_edges(self, self._theme.colour("surface"), self._theme.px(HIGH))

    def _hover(self, index: QModelIndex) -> None:
        self.painter.hovered = index.row()
        self.viewport().update()

    def leaveEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """No line is under the pointer."""
        super().leaveEvent(event)
        self._hover(QModelIndex())

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Lines are cut anew."""
        super().resizeEvent(event)
        self.scheduleDelayedItemsLayout()
