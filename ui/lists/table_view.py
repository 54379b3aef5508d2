"""A table: whole lines with hover, focus and keys of their own; columns go where there is no room for them.

Must not do: know what stands in it; its specification says.
"""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QEvent, QModelIndex, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView

from ui.lists.cell_painter import CellPainter
from ui.lists.hover import HoverWatch
from ui.lists.table_model import TableModel
from ui.lists.table_spec import TableSpec, shown_columns
from ui.theme.theme import Theme
from ui.widgets.keys import overrides, plain_key

_KEYS = {Qt.Key.Key_Return: "open", Qt.Key.Key_Enter: "open", Qt.Key.Key_Delete: "remove"}


class TableView(QTableView):
    """A table of whole lines.

    Attributes:
        lines: what stands in it.

    Signals:
        looked_at: the line that is looked at now; -1 for none.
        asked: `open` or `remove`, by key or double click.
    """

    looked_at = Signal(int)
    asked = Signal(str)

    def __init__(self, theme: Theme, spec: TableSpec[Any], name: str) -> None:
        """Make it.

        Args:
            theme: the theme.
            spec: what its rows are.
            name: for those who do not see it.
        """
        super().__init__()
        self._theme, self._columns = theme, spec.columns
        self.lines: TableModel[Any] = TableModel(spec, self)
        self.painter = CellPainter(theme, self)
        self.setModel(self.lines)
        self.setItemDelegate(self.painter)
        self.setAccessibleName(name)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setCornerButtonEnabled(False)
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.horizontalHeader().setHighlightSections(False)
        self.horizontalHeader().setSectionsClickable(False)
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.horizontalHeader().setMinimumSectionSize(theme.px(24))
        self.selectionModel().currentRowChanged.connect(self._looked)
        self.doubleClicked.connect(self._open)
        HoverWatch(self, self.painter)
        theme.changed.connect(self._restyle)
        self._restyle()

    def _looked(self, current: QModelIndex, _before: QModelIndex) -> None:
        self.looked_at.emit(current.row())

    def _open(self, _index: QModelIndex) -> None:
        self.asked.emit("open")

    def _restyle(self) -> None:
        self.verticalHeader().setDefaultSectionSize(self._theme.px(self._theme.tokens.sizes.row))
        self.fit()
        self.viewport().update()

    def fit(self) -> None:
        """Give every column its width, and the one that stretches what is left."""
        width = self.viewport().width()
        shown = shown_columns(self._columns, width, self._theme)
        widths = {at: self._theme.px(self._columns[at].width) for at in shown}
        rest = width - sum(widths.values())
        header = self.horizontalHeader()
        takers = {at for at in shown if self._columns[at].stretches} or {max(shown)}
        for at in range(len(self._columns)):
            header.setSectionHidden(at, at not in shown)
            if at in shown:
                header.resizeSection(at, widths[at] + (max(0, rest) // len(takers) if at in takers else 0))
        self.painter.ends = (min(shown), max(shown))

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Enter opens a line, Del removes it."""
        if self._wants(event):
            self.asked.emit(_KEYS[Qt.Key(event.key())])
        else:
            super().keyPressEvent(event)

    def _wants(self, event: QKeyEvent) -> bool:
        return plain_key(event) in _KEYS

    def event(self, event: QEvent) -> bool:
        """Its keys are its own, although the window forgets a memory by Del."""
        return overrides(event, self._wants) or super().event(event)

    def keyboardSearch(self, _typed: str) -> None:  # noqa: N802 - Qt's name
        """Letters do not search."""

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802 - Qt's name
        """The first line takes the keyboard where none has it yet."""
        if not self.currentIndex().isValid() and self.lines.rowCount():
            self.selectRow(0)  # first: Qt would take it without choosing it
        super().focusInEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """The columns follow."""
        super().resizeEvent(event)
        self.fit()
