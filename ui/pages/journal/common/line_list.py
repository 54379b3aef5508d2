"""The list of lines, and the buttons of what can be done with those that are chosen: each shows its key.

Must not do: ask the engine, or do anything itself; it tells what is asked for.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial

from PySide6.QtCore import QEvent, QItemSelection, QItemSelectionModel, QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QFocusEvent, QKeyEvent, QKeySequence, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QBoxLayout, QFrame, QListView, QMenu, QSizePolicy, QWidget

from ui.lists.line_model import LineModel
from ui.pages.journal.common.job_words import words
from ui.pages.journal.common.lines import Entry, EntryPainter, Line
from ui.theme.theme import Theme
from ui.widgets.flow import FlowLayout
from ui.widgets.keys import KeyButton, overrides, plain_key

OPEN = "open"
"""The act of Enter and of a double click."""
_NAMED = {"Enter": Qt.Key.Key_Return, "Del": Qt.Key.Key_Delete}


def key_of(act: str) -> Qt.Key:
    """The key of an act."""
    shown = str(words()["acts"][act]["key"])
    return _NAMED.get(shown) or Qt.Key(ord(shown))


class ActBar(QWidget):
    """Buttons of acts; those that make no sense now are hidden, or, where they stand for another choice, off.

    Signals:
        asked: an act.
    """

    asked = Signal(str)

    def __init__(self, theme: Theme, acts: Sequence[str]) -> None:
        """Make it.

        Args:
            theme: the theme.
            acts: keys of `acts` in the page's words.
        """
        super().__init__()
        self.setAccessibleName("What can be done with it")
        self.buttons: dict[str, KeyButton] = {}
        flow = FlowLayout(self, gap=8)
        for act in acts:
            said = words()["acts"][act]
            kind = "danger" if act == "erase" else "plain"
            made = KeyButton(theme, said["title"], said["key"], partial(self.asked.emit, act), kind)
            made.setToolTip(said["hint"])
            self.buttons[act] = made
            flow.addWidget(made)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def offer(self, acts: Collection[str], *, hides: bool = False) -> None:
        """Offer some of them.

        Args:
            acts: which.
            hides: whether the others go, and are not only off.
        """
        for name, made in self.buttons.items():
            made.setEnabled(name in acts)
            made.setVisible(not hides or name in acts)


class LineList(QListView):
    """The list.

    Attributes:
        lines: what stands in it.
        offered: acts that make sense for what is chosen; the others' keys do nothing.

    Signals:
        looked_at: the `Entry` that is looked at; None for none.
        picked: what is chosen is another.
        asked: an act, by its key, a double click or the menu.
    """

    looked_at = Signal(object)
    picked = Signal()
    asked = Signal(str)

    def __init__(self, theme: Theme, name: str, acts: Sequence[str], *, takes_many: bool = False) -> None:
        """Make it.

        Args:
            theme: the theme.
            name: for those who do not see it.
            acts: what can be done, with their keys.
            takes_many: whether several lines can be chosen.
        """
        super().__init__()
        self._theme = theme
        self.lines: LineModel[Entry] = LineModel(self)
        self.painter = EntryPainter(theme, self)
        self._has_words = False
        self.painter.has_words = lambda: self._has_words
        self._acts = tuple(acts)
        self._keys: dict[int, str] = {key_of(act): act for act in acts}
        if OPEN in acts:
            self._keys[Qt.Key.Key_Enter] = OPEN
        self.offered: frozenset[str] = frozenset()
        self._last: str | None = None
        self.setModel(self.lines)
        self.setItemDelegate(self.painter)
        self.setAccessibleName(name)
        self.setMouseTracking(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        mode = QAbstractItemView.SelectionMode
        self.setSelectionMode(mode.ExtendedSelection if takes_many else mode.SingleSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.entered.connect(self._hover)
        self.doubleClicked.connect(lambda _: self.ask(OPEN))
        theme.changed.connect(self._restyle)

    # ---- what is shown

    @property
    def current(self) -> Entry | None:
        """The line that is looked at."""
        return self.lines.row_at(self.currentIndex().row())

    @property
    def chosen(self) -> tuple[Entry, ...]:
        """The lines that are chosen, from above."""
        places = sorted(index.row() for index in self.selectedIndexes())
        return tuple(entry for place in places if (entry := self.lines.row_at(place)) is not None)

    def show_lines(self, lines: Sequence[Line], *, has_more: bool = False) -> None:
        """List other lines; what was chosen stays chosen, else its neighbour is.

        Args:
            lines: what to show.
            has_more: whether more can be had.
        """
        kept, place, value = (
            [one.id for one in self.chosen],
            self.currentIndex().row(),
            self.verticalScrollBar().value(),
        )
        current = self.current
        self._has_words = any(isinstance(line, Entry) and line.word for line in lines)
        self.painter.hovered = -1
        if not self.lines.show_lines(lines, has_more=has_more):
            return
        self.doItemsLayout()
        found = self.lines.place_of(current.id) if current is not None else -1
        self._choose(found if found >= 0 else self._near(place), kept)
        self.verticalScrollBar().setValue(value)

    def _near(self, place: int) -> int:
        """The entry at or before a place, else the first one."""
        places = [at for at, line in enumerate(self.lines.lines) if isinstance(line, Entry)]
        return max((at for at in places if at <= place), default=places[0] if places else -1)

    def _choose(self, place: int, kept: Sequence[str]) -> None:
        selection = QItemSelection()
        for at in {place, *(self.lines.place_of(one) for one in kept)} - {-1}:
            selection.select(self.lines.index(at, 0), self.lines.index(at, 0))
        flags = QItemSelectionModel.SelectionFlag
        self.selectionModel().setCurrentIndex(self.lines.index(place, 0), flags.NoUpdate)
        self.selectionModel().select(selection, flags.ClearAndSelect)
        self.picked.emit()

    def choose(self, *entry_ids: str) -> None:
        """Choose lines; the first is looked at.

        Args:
            *entry_ids: which.
        """
        self._choose(self.lines.place_of(entry_ids[0]) if entry_ids else -1, entry_ids)

    # ---- what is asked for

    def ask(self, act: str) -> None:
        """Ask for something to be done with what is chosen, if it makes sense."""
        if act in self.offered:
            self.asked.emit(act)

    def menu(self) -> QMenu:
        """What can be done with what is chosen; the caller shows it."""
        made = QMenu(self)
        made.setAccessibleName("What can be done with it")
        made.aboutToHide.connect(made.deleteLater)
        for act in (act for act in self._acts if act in self.offered):
            said = words()["acts"][act]
            keys = QKeySequence(said["key"]).toString(QKeySequence.SequenceFormat.NativeText)
            made.addAction(f"{said['title']}\t{keys}").triggered.connect(lambda _checked=False, act=act: self.ask(act))
        return made

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:  # noqa: N802 - Qt's name
        """The menu of what is chosen."""
        if self.chosen and self.offered:
            by_key = event.reason() is QContextMenuEvent.Reason.Keyboard
            corner = self.viewport().mapToGlobal(self.visualRect(self.currentIndex()).bottomLeft())
            self.menu().popup(corner if by_key else event.globalPos())

    # ---- Qt's events

    def currentChanged(  # noqa: N802 - Qt's name
        self, current: QModelIndex | QPersistentModelIndex, previous: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Another line is looked at."""
        super().currentChanged(current, previous)
        entry = self.lines.row_at(current.row())
        if entry is not None and entry.id != self._last:
            self._last = entry.id
            self.looked_at.emit(entry)

    def selectionChanged(self, selected: QItemSelection, deselected: QItemSelection) -> None:  # noqa: N802
        """Other lines are chosen."""
        super().selectionChanged(selected, deselected)
        self.picked.emit()

    def _wants(self, event: QKeyEvent) -> bool:
        key = plain_key(event)
        return key in self._keys or (key == Qt.Key.Key_Escape and bool(self.selectedIndexes()))

    def event(self, event: QEvent) -> bool:
        """Its keys are its own, although the window forgets a memory by Del."""
        return overrides(event, self._wants) or super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Letters act on what is chosen; Esc lets go of it."""
        if not self._wants(event):
            super().keyPressEvent(event)
        elif event.key() == Qt.Key.Key_Escape:
            self.clearSelection()
        else:
            self.ask(self._keys[event.key()])

    def keyboardSearch(self, _typed: str) -> None:  # noqa: N802 - Qt's name
        """Letters act; they do not search."""

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802 - Qt's name
        """The first line takes the keyboard where none has it yet."""
        if self.current is None and self._near(0) >= 0:
            self._choose(self._near(0), ())  # first: Qt would take it without choosing it
        super().focusInEvent(event)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:  # noqa: N802 - Qt's name
        """The ring goes."""
        super().focusOutEvent(event)
        self.viewport().update()

    def _hover(self, index: QModelIndex) -> None:
        self.painter.hovered = index.row()
        self.viewport().update()

    def leaveEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """No line is under the pointer."""
        super().leaveEvent(event)
        self._hover(QModelIndex())

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Words wrap anew."""
        super().resizeEvent(event)
        self.scheduleDelayedItemsLayout()

    def _restyle(self) -> None:
        self.doItemsLayout()
        self.viewport().update()


def lie_down(line: QBoxLayout, *, is_wide: bool) -> None:
    """Let what stands in a row lie below each other where it is narrow, from the left.

    Args:
        line: a row of widgets; the first takes what is left.
        is_wide: whether there is room for all of them beside each other.
    """
    way = QBoxLayout.Direction.LeftToRight if is_wide else QBoxLayout.Direction.TopToBottom
    if line.direction() == way:
        return
    line.setDirection(way)
    for place in range(1, line.count()):
        found = line.itemAt(place)
        widget = None if found is None else found.widget()
        if widget is not None:
            line.setAlignment(widget, Qt.AlignmentFlag(0) if is_wide else Qt.AlignmentFlag.AlignLeft)
