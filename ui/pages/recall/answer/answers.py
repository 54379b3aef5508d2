"""The ranked list: the answer, the near misses, or what was dropped at a stage; one row opens into its reasons.

Must not do: ask the engine; it tells what the person wants done with a memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QEvent, QItemSelectionModel, QModelIndex, QPersistentModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QKeyEvent,
    QKeySequence,
)
from PySide6.QtWidgets import QMenu

from ui.pages.recall.answer.cards import CardList
from ui.pages.recall.answer.details import DetailsView
from ui.pages.recall.answer.lines import Line, Row
from ui.pages.recall.words import words
from ui.theme.theme import Theme
from ui.widgets.keys import overrides

DETAILS = "details"
_MOVES = {Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown, Qt.Key.Key_Home, Qt.Key.Key_End}
_ACTS: Mapping[tuple[int, bool], str] = {
    (Qt.Key.Key_Return, False): DETAILS,
    (Qt.Key.Key_Enter, False): DETAILS,
    (Qt.Key.Key_Space, False): DETAILS,
    (Qt.Key.Key_I, False): "closer",
    (Qt.Key.Key_S, False): "should",
    (Qt.Key.Key_X, False): "not_this",
    (Qt.Key.Key_X, True): "never",
    (Qt.Key.Key_W, False): "why",
    (Qt.Key.Key_P, False): "palace",
}
_MENU = (DETAILS, "closer", "", "should", "not_this", "never", "", "why", "palace", "copy")


class AnswerList(CardList):
    """The rows.

    Signals:
        looked_at: the `Row` that is looked at; None for none.
        wanted: (act, `Row`) of what the person wants done; acts are keys of `acts` in the page's words.
    """

    looked_at = Signal(object)
    wanted = Signal(str, object)

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self._painter.height_of = self._details_height
        self._opened = -1
        self._details: DetailsView | None = None
        self._last = ""
        self.setAccessibleName(words()["answer"])
        self.doubleClicked.connect(lambda index: self.toggle(index.row()))

    # ---- what is shown

    @property
    def current(self) -> Row | None:
        """The row that is looked at."""
        return self.lines.row_at(self.currentIndex().row())

    @property
    def opened(self) -> Row | None:
        """The row whose details are shown."""
        return self.lines.row_at(self._opened)

    def show_lines(self, lines: Sequence[Line]) -> None:
        """Show other lines; who is looked at stays, and stays open.

        Args:
            lines: what to show.
        """
        current, opened = self.current, self.opened
        value = self.verticalScrollBar().value()
        self._forget_details()
        self._painter.hovered = -1
        self.lines.show_lines(lines)
        self.doItemsLayout()
        if opened is not None:
            self._open(self.lines.place_of(opened.id))
        place = -1 if current is None else self.lines.place_of(current.id)
        if place >= 0:
            self._set_current(place)
            self.verticalScrollBar().setValue(value)
        self._tell()

    def look_at(self, memory_id: str) -> bool:
        """Look at a memory, if it is shown.

        Args:
            memory_id: which.
        """
        place = self.lines.place_of(memory_id)
        if place >= 0:
            self._set_current(place)
            self.scrollTo(self.lines.index(place, 0))
        return place >= 0

    def _set_current(self, place: int) -> None:
        index = self.lines.index(place, 0)
        self.selectionModel().setCurrentIndex(index, QItemSelectionModel.SelectionFlag.ClearAndSelect)

    def _tell(self) -> None:
        row = self.current
        found = "" if row is None else row.id
        if found != self._last:
            self._last = found
            self.looked_at.emit(row)

    def currentChanged(  # noqa: N802 - Qt's name
        self, current: QModelIndex | QPersistentModelIndex, previous: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Another row is looked at."""
        super().currentChanged(current, previous)
        if current.isValid():
            self._tell()

    # ---- details

    def toggle(self, place: int) -> None:
        """Open the details of a row, or close them.

        Args:
            place: its line.
        """
        was, row = self._opened, self.lines.row_at(place)
        if row is None:
            return
        self._close()
        if was != place:
            self._open(self.lines.place_of(row.id))
            self.scrollTo(self.lines.index(self._opened + 1, 0))
            self.scrollTo(self.lines.index(self._opened, 0))

    def close_details(self) -> bool:
        """Close what is open; tells whether anything was."""
        was_open = self._opened >= 0
        self._close()
        return was_open

    def _open(self, place: int) -> None:
        row = self.lines.row_at(place)
        if row is None:
            return
        self._opened = place
        self._details = DetailsView(self._theme, row)
        self.lines.open_at(place)
        self.setIndexWidget(self.lines.index(place + 1, 0), self._details)
        self.doItemsLayout()

    def _close(self) -> None:
        if self._opened >= 0:
            place = self._opened
            self._forget_details()
            self.lines.close_at(place)
            self.doItemsLayout()

    def _forget_details(self) -> None:
        self._opened, self._details = -1, None  # the view deletes the widget with its line

    def _details_height(self, width: int) -> int:
        return 0 if self._details is None else self._details.height_at(width)

    # ---- what can be done

    def act(self, name: str) -> None:
        """Do something with the row that is looked at.

        Args:
            name: a key of `acts` in the page's words.
        """
        row = self.current
        if row is None:
            return
        if name == DETAILS:
            self.toggle(self.currentIndex().row())
        else:
            self.wanted.emit(name, row)

    def menu(self) -> QMenu:
        """What can be done with the row that is looked at; the caller shows it."""
        made = QMenu(self)
        made.setAccessibleName("What can be done with this memory")
        made.aboutToHide.connect(made.deleteLater)
        row = self.current
        for name in _MENU:
            if not name:
                made.addSeparator()
            elif row is not None and (name != "why" or not row.is_answer):
                said = words()["acts"][name]
                keys = QKeySequence(said["key"]).toString(QKeySequence.SequenceFormat.NativeText)
                action = made.addAction(f"{said['title']}\t{keys}" if keys else said["title"])
                action.triggered.connect(lambda _checked=False, name=name: self.act(name))
        return made

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:  # noqa: N802 - Qt's name
        """The menu of a row, by the pointer or by its key."""
        if event.reason() is QContextMenuEvent.Reason.Mouse:
            place = self.indexAt(event.pos()).row()
            if self.lines.row_at(place) is None:
                return
            self._set_current(place)
            self.menu().popup(event.globalPos())
        elif self.current is not None:
            corner = self.visualRect(self.currentIndex()).bottomLeft() + QPoint(self._theme.px(80), 0)
            self.menu().popup(self.viewport().mapToGlobal(corner))

    # ---- Qt's events

    def _act_of(self, event: QKeyEvent) -> str:
        held = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if held not in {Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier}:
            return ""
        return _ACTS.get((event.key(), held == Qt.KeyboardModifier.ShiftModifier), "")

    def event(self, event: QEvent) -> bool:
        """Its letters are its own."""
        return overrides(event, lambda key: bool(self._act_of(key))) or super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Moving is the list's; letters act on the row."""
        name = self._act_of(event)
        if name:
            self.act(name)
        elif event.key() in _MOVES:
            super().keyPressEvent(event)
        else:
            event.ignore()

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802 - Qt's name
        """The first row takes the keyboard where none has it yet."""
        super().focusInEvent(event)
        if self.current is None:
            rows = self.lines.rows()
            if rows:
                self._set_current(self.lines.place_of(rows[0].id))
        self.viewport().update()
