"""The ranked list: the answer, the near misses, or what was dropped at a stage; one row opens into its reasons.

Must not do: ask the engine; it tells what the person wants done with a memory.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QKeySequence, QMouseEvent
from PySide6.QtWidgets import QFrame, QMenu

from ui.lists.list_view import Keep, ListKeys, ListView
from ui.pages.recall.answer.answer_rows import AnswerRows
from ui.pages.recall.answer.details import DetailsView
from ui.pages.recall.answer.lines import Details, Line, Row
from ui.strings import recall_strings
from ui.theme.theme import Theme

DETAILS = "details"
BAR = 12
"""Pixels a scroll bar takes; it stands in the page's margin."""
_KEYS = ListKeys(
    {
        Qt.Key.Key_Return: DETAILS,
        Qt.Key.Key_Enter: DETAILS,
        Qt.Key.Key_Space: DETAILS,
        Qt.Key.Key_I: "closer",
        Qt.Key.Key_S: "should",
        Qt.Key.Key_X: "not_this",
        Qt.Key.Key_W: "why",
        Qt.Key.Key_P: "palace",
    },
    {Qt.Key.Key_X: "never"},
    moves_only=True,
    searches=False,
)
_MENU = (DETAILS, "closer", "", "should", "not_this", "never", "", "why", "palace", "copy")


class AnswerList(ListView):
    """The rows, on cards; one of them opens into its details.

    Signals:
        wanted: (act, `Row`) of what the person wants done; acts are keys of `acts` in the page's words.
    """

    wanted = Signal(str, object)

    def __init__(self, theme: Theme) -> None:
        self._rows = AnswerRows(theme)
        super().__init__(self._rows, recall_strings()["answer"], _KEYS, keep=Keep.NONE)
        self._rows.height_of = self._details_height
        self._opened = -1
        self._details: DetailsView | None = None
        self.setObjectName("cards")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.menu = self.make_menu
        self.verticalScrollBar().rangeChanged.connect(lambda *_: self._keep_edge())
        self._keep_edge()

    def _keep_edge(self) -> None:
        """Cards end at the same place with a scroll bar beside them and without."""
        bar = self.verticalScrollBar()
        self.setViewportMargins(0, 0, 0 if bar.maximum() > 0 else BAR, 0)

    # ---- what is shown

    @property
    def open_row(self) -> Row | None:
        """The row whose details are shown."""
        return self.lines.row_at(self._opened)

    def show_answer(self, lines: Sequence[Line]) -> None:
        """Show other lines; who is looked at stays, and stays open.

        Args:
            lines: what to show.
        """
        current, opened, value = self.current, self.open_row, self.verticalScrollBar().value()
        self._forget_details()
        self.lines.show_lines([])  # rows that say the same may know more now
        self.painter.hovered = -1
        self.lines.show_lines(lines)
        self.doItemsLayout()
        if opened is not None:
            self._open(self.lines.place_of(opened.id))
        if current is not None and self.choose(current.id):
            self.verticalScrollBar().setValue(value)
        else:
            self.choose()

    def look_at(self, memory_id: str) -> bool:
        """Look at a memory, if it is shown.

        Args:
            memory_id: which.
        """
        is_shown = self.choose(memory_id)
        if is_shown:
            self.scrollTo(self.currentIndex())
        return is_shown

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
        self._opened, self._rows.opened = place, row.id
        self._details = DetailsView(self._theme, row)
        self.lines.insert(place + 1, [Details(row, row.is_last)])
        self.setIndexWidget(self.lines.index(place + 1, 0), self._details)
        self.doItemsLayout()

    def _close(self) -> None:
        if self._opened >= 0:
            place = self._opened
            self._forget_details()
            self.lines.remove(place + 1)
            self.doItemsLayout()

    def _forget_details(self) -> None:
        self._opened, self._rows.opened, self._details = -1, "", None  # the view deletes the widget with its line

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

    def make_menu(self) -> QMenu:
        """What can be done with the row that is looked at; the caller shows it."""
        made = QMenu(self)
        made.setAccessibleName("What can be done with this memory")
        made.aboutToHide.connect(made.deleteLater)
        row = self.current
        for name in _MENU:
            if not name:
                made.addSeparator()
            elif row is not None and (name != "why" or not row.is_answer):
                said = recall_strings()["acts"][name]
                keys = QKeySequence(said["key"]).toString(QKeySequence.SequenceFormat.NativeText)
                action = made.addAction(f"{said['title']}\t{keys}" if keys else said["title"])
                action.triggered.connect(lambda _checked=False, name=name: self.act(name))
        return made

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:  # noqa: N802 - Qt's name
        """The menu of the row under the pointer, else of the one that is looked at."""
        if event.reason() is not QContextMenuEvent.Reason.Mouse:
            super().contextMenuEvent(event)
            return
        row = self.lines.row_at(self.indexAt(event.pos()).row())
        if row is not None and self.choose(row.id):
            super().contextMenuEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """A press beside the rows changes nothing."""
        if self.indexAt(event.position().toPoint()).isValid():
            super().mousePressEvent(event)
        else:
            event.accept()
