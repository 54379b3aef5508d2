"""The list: its model, its painter and its view, with hover, focus, keys of their own and words for those who hear it.

Where it goes on beyond its edge it fades there, so that no line looks cut in the middle of a letter.

Must not do: ask the engine, or know what a row is for; its specification says how a row looks.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Generic, Protocol, TypeVar

from PySide6.QtCore import (
    QAbstractListModel,
    QEvent,
    QItemSelection,
    QItemSelectionModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    QPointF,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QBrush,
    QColor,
    QContextMenuEvent,
    QFocusEvent,
    QKeyEvent,
    QKeySequence,
    QLinearGradient,
    QMouseEvent,
    QPainter,
    QPaintEvent,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QAbstractScrollArea,
    QListView,
    QMenu,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from ui.lists.row_spec import Heading, InertRow, RowSpec, RowState
from ui.theme.theme import Theme
from ui.widgets.basics import accept_own_key
from ui.widgets.tooltips import wrap_tooltip

FADE_HEIGHT = 28
"""Pixels that fade, at 100 %."""
_COVERED = 0.15  # of them the outermost are covered


def fade_edges(view: QAbstractScrollArea, background: QColor, high: int) -> None:
    """Draw over the edges beyond which the content goes on; called at the end of a paint event.

    Of a list no more fades than the line that is cut there: one that is seen whole stays as it is.

    Args:
        high: pixels that fade at most.
    """
    above, below = cut_lines(view) if isinstance(view, QAbstractItemView) else (high, high)
    _draw_fade(view.viewport(), view, background, (min(high, above), min(high, below)))


def cut_lines(view: QAbstractItemView) -> tuple[int, int]:
    """How much is seen of the line that is cut at the upper edge, and at the lower one.

    Returns:
        Pixels; 0 where the line at the edge is seen whole.
    """
    port = view.viewport()
    middle, last = port.width() // 2, port.height() - 1
    first = view.visualRect(view.indexAt(QPoint(middle, 0)))
    final = view.visualRect(view.indexAt(QPoint(middle, last)))
    above = first.bottom() + 1 if first.isValid() and first.top() < 0 else 0
    below = last + 1 - final.top() if final.isValid() and final.bottom() > last else 0
    return above, below


def _draw_fade(on: QWidget, view: QAbstractScrollArea, background: QColor, high: tuple[int, int]) -> None:
    bar, (above, below) = view.verticalScrollBar(), high
    edges = (
        (above if bar.value() > bar.minimum() else 0, 0, above),
        (below if bar.value() < bar.maximum() else 0, on.height(), on.height() - below),
    )
    painter = QPainter(on)
    for fades, edge, inside in edges:
        if fades:
            clear = QColor(background)
            clear.setAlpha(0)
            shade = QLinearGradient(QPointF(0, edge), QPointF(0, inside))
            shade.setColorAt(_COVERED, background)
            shade.setColorAt(1, clear)
            top = min(edge, inside)
            painter.fillRect(QRectF(0, top, on.width(), fades), QBrush(shade))
    painter.end()


class EdgeFade(QWidget):
    """The same over a view that holds widgets: it lies above them, and no pointer meets it."""

    def __init__(self, theme: Theme, view: QAbstractScrollArea, background: str) -> None:
        """Lay it over a view.

        Args:
            background: the theme's name of the colour it is on.
        """
        super().__init__(view)
        self._theme, self._view, self._background = theme, view, background
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        bar = view.verticalScrollBar()
        bar.valueChanged.connect(lambda _: self.update())
        bar.rangeChanged.connect(lambda *_: self.update())
        theme.changed.connect(self.update)
        view.viewport().installEventFilter(self)
        self._cover_viewport()

    def _cover_viewport(self) -> None:
        self.setGeometry(self._view.viewport().geometry())
        self.raise_()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """Lie where the view lies."""
        if event.type() in {QEvent.Type.Resize, QEvent.Type.Move, QEvent.Type.Show}:
            self._cover_viewport()
        return super().eventFilter(watched, event)

    def paintEvent(self, _event: object) -> None:  # noqa: N802 - Qt's name
        """Draw the edges beyond which it goes on."""
        high = self._theme.px(FADE_HEIGHT)
        _draw_fade(self, self._view, self._theme.colour(self._background), (high, high))


class Hovered(Protocol):
    """What draws the line under the pointer differently."""

    hovered: int


class HoverWatch(QObject):
    """Tells a painter which line is under the pointer."""

    def __init__(self, view: QAbstractItemView, painter: Hovered) -> None:
        super().__init__(view)
        self._view, self._painter = view, painter
        view.setMouseTracking(True)
        view.entered.connect(self._on_row_entered)
        view.installEventFilter(self)
        view.viewport().installEventFilter(self)

    def _on_row_entered(self, index: QModelIndex) -> None:
        if index.row() != self._painter.hovered:
            self._painter.hovered = index.row()
            self._view.viewport().update()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """Follow what happens to the view."""
        kind = event.type()
        if kind == QEvent.Type.Leave and watched is self._view.viewport():
            self._on_row_entered(QModelIndex())
        elif kind in {QEvent.Type.FocusIn, QEvent.Type.FocusOut} and watched is self._view:
            self._view.viewport().update()  # the ring comes or goes
        elif kind == QEvent.Type.Resize and watched is self._view.viewport() and isinstance(self._view, QListView):
            self._view.scheduleDelayedItemsLayout()  # words wrap anew
        return super().eventFilter(watched, event)


OPEN = "open"
"""The act of Enter."""
ENTER: Mapping[int, str] = {Qt.Key.Key_Return: OPEN, Qt.Key.Key_Enter: OPEN}
_MOVES = frozenset(
    {Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown, Qt.Key.Key_Home, Qt.Key.Key_End}
)


@dataclass(frozen=True, slots=True)
class ListKeys:
    """What keys do in a list.

    Attributes:
        acts: key to act, without a modifier.
        shifted: likewise with Shift.
        lets_go: whether Esc lets go of what is chosen.
        moves_only: whether only moving and choosing are the list's; the page has the other keys.
        searches: whether letters go to the next row that begins with them.
    """

    acts: Mapping[int, str] = field(default_factory=lambda: ENTER)
    shifted: Mapping[int, str] = field(default_factory=dict)
    lets_go: bool = False
    moves_only: bool = False
    searches: bool = True

    def action_of(self, event: QKeyEvent) -> str:
        """The act of a key; "" for none."""
        modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if modifiers == Qt.KeyboardModifier.NoModifier:
            return self.acts.get(event.key(), "")
        return self.shifted.get(event.key(), "") if modifiers == Qt.KeyboardModifier.ShiftModifier else ""

    def is_move_key(self, event: QKeyEvent) -> bool:
        """Whether a key moves, or chooses everything."""
        return event.key() in _MOVES or event.matches(QKeySequence.StandardKey.SelectAll)


LINE = Qt.ItemDataRole.UserRole
"""Role of a line: a row, or something `InertRow` such as a `Heading`."""
_Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()
R = TypeVar("R")


class ListModel(QAbstractListModel, Generic[R]):
    """The lines of a list, as Qt's model.

    Signals:
        more: somebody scrolled to the end, and more can be had.
    """

    more = Signal()

    def __init__(self, spec: RowSpec[R], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._spec = spec
        self.lines: list[R | InertRow] = []
        self.has_more = False

    # ---- what Qt asks

    def rowCount(self, parent: _Index = _NOWHERE) -> int:  # noqa: N802 - Qt's name
        """How many rows there are."""
        return 0 if parent.isValid() else len(self.lines)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """A line, or its words."""
        line = self.line_at(index.row()) if index.isValid() else None
        if line is None:
            return None
        if role == LINE:
            return line
        if role in {Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole}:
            return line.accessible_text() if isinstance(line, InertRow) else self._spec.accessible_text(line)
        if role == Qt.ItemDataRole.ToolTipRole:
            return wrap_tooltip(line.tool_tip() if isinstance(line, InertRow) else self._spec.tool_tip(line))
        return None

    def flags(self, index: _Index) -> Qt.ItemFlag:
        """Only rows can be chosen."""
        if not index.isValid() or self.row_at(index.row()) is None:
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemNeverHasChildren

    def canFetchMore(self, parent: _Index) -> bool:  # noqa: N802 - Qt's name
        """Whether more can be had."""
        return not parent.isValid() and self.has_more

    def fetchMore(self, parent: _Index) -> None:  # noqa: N802 - Qt's name
        """Ask for more, once."""
        if self.canFetchMore(parent):
            self.has_more = False
            self.more.emit()

    # ---- what a page asks

    def line_at(self, place: int) -> R | InertRow | None:
        """A line; None outside."""
        return self.lines[place] if 0 <= place < len(self.lines) else None

    def row_at(self, place: int) -> R | None:
        """The row of a line; None for a heading or beyond the end."""
        line = self.line_at(place)
        return None if isinstance(line, InertRow) else line

    def list_rows(self) -> list[R]:
        """All rows, in the order they are."""
        return [line for line in self.lines if not isinstance(line, InertRow)]

    def place_of(self, row_id: str) -> int:
        """The line of a row; -1 where it is not listed."""
        if not row_id:
            return -1
        key: Callable[[R], str] = self._spec.row_key
        found = (at for at, line in enumerate(self.lines) if not isinstance(line, InertRow) and key(line) == row_id)
        return next(found, -1)

    def group_of(self, place: int) -> range:
        """The rows under the heading that is shown over a line, or is it."""
        first = place
        while first >= 0 and not isinstance(self.line_at(first), InertRow):
            first -= 1
        last = first + 1
        while self.row_at(last) is not None:
            last += 1
        return range(first + 1, last)

    def show_lines(self, lines: Sequence[R | InertRow], *, has_more: bool = False) -> bool:
        """List other lines; nothing happens where they are the same.

        Args:
            has_more: whether more can be had.

        Returns:
            Whether they were others.
        """
        self.has_more = has_more
        if list(lines) == self.lines:
            return False
        self.beginResetModel()
        self.lines = list(lines)
        self.endResetModel()
        return True

    def append_lines(self, lines: Sequence[R | InertRow], *, has_more: bool) -> None:
        """Put more lines behind those that are there."""
        self.insert_lines(len(self.lines), lines)
        self.has_more = has_more

    def insert_lines(self, place: int, lines: Sequence[R | InertRow]) -> None:
        """Put lines before a place."""
        if lines:
            self.beginInsertRows(_NOWHERE, place, place + len(lines) - 1)
            self.lines[place:place] = lines
            self.endInsertRows()

    def remove_line(self, place: int) -> None:
        """Take a line away."""
        self.beginRemoveRows(_NOWHERE, place, place)
        del self.lines[place]
        self.endRemoveRows()


class RowPainter(QStyledItemDelegate):
    """Draws the lines of a list by their specification.

    Attributes:
        hovered: the line under the pointer; -1 for none.
    """

    def __init__(self, spec: RowSpec[Any], view: QListView) -> None:
        super().__init__(view)
        self._spec, self._view = spec, view
        self.hovered = -1

    def sizeHint(self, _option: QStyleOptionViewItem, index: _Index) -> QSize:  # noqa: N802 - Qt's name
        """As high as a line's words need."""
        line, place = index.data(LINE), index.row()
        measured = self._spec.inert_height if isinstance(line, InertRow) else self._spec.row_height
        return QSize(100, measured(line, place))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        """Draw a line."""
        rect, line, place = QRect(option.rect), index.data(LINE), index.row()
        state = RowState(
            place,
            is_chosen=bool(option.state & QStyle.StateFlag.State_Selected),
            is_hovered=place == self.hovered,
            has_focus=place == self._view.currentIndex().row() and self._view.hasFocus(),
        )
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if isinstance(line, InertRow):
            self._spec.draw_inert(painter, rect, line, state)
        else:
            self._spec.paint_background(painter, rect, line, state)
            self._spec.draw_row(painter, rect, line, state)
        painter.restore()


_Move = QAbstractItemView.CursorAction
_UPWARDS = frozenset({_Move.MoveUp, _Move.MovePageUp, _Move.MoveEnd})
_FLAGS = QItemSelectionModel.SelectionFlag
_NEVER = object()


class AfterRemoval(Enum):
    """What is looked at when the row that was is not listed any more."""

    FIRST = "the first row"
    BEFORE = "the row at its place, else the one before"
    AFTER = "the row at its place, else the one after, else the one before"
    NONE = "none"
    TOP = "none, whatever was: other lines are seen from the top"


class ListView(QListView):
    """A list of rows under headings, drawn by a row specification.

    Attributes:
        lines: what is in it.
        offered: acts that make sense for what is chosen, the others' keys do nothing; None where all of them do.
        menu: makes the menu of what is chosen; it gives None where there is none.

    Signals:
        looked_at: the row that is looked at; None for none.
        looked_at_id: likewise, what it is known by; never for none.
        opened: the row that was asked for by Enter or a double click.
        asked: an act, by its key, a double click or the menu.
        picked: what is chosen is another.
    """

    looked_at = Signal(object)
    looked_at_id = Signal(str)
    opened = Signal(object)
    asked = Signal(str)
    picked = Signal()

    def __init__(
        self,
        spec: RowSpec[Any],
        name: str,
        keys: ListKeys | None = None,
        *,
        keep: AfterRemoval = AfterRemoval.FIRST,
        takes_many: bool = False,
    ) -> None:
        """Make it.

        Args:
            name: for those who do not see it.
            keep: what is looked at when the row that was is gone.
            takes_many: whether several rows can be chosen.
        """
        super().__init__()
        self.spec, self._keys, self._keep = spec, keys or ListKeys(), keep
        self._theme = spec.theme
        spec.width = lambda: self.viewport().width()
        self.lines: ListModel[Any] = ListModel(spec, self)
        self.painter = RowPainter(spec, self)
        self.offered: Collection[str] | None = None
        self.menu: Callable[[], QMenu | None] = lambda: None
        self._last: object = _NEVER
        self.setModel(self.lines)
        self.setItemDelegate(self.painter)
        self.setAccessibleName(name)
        mode = QAbstractItemView.SelectionMode
        self.setSelectionMode(mode.ExtendedSelection if takes_many else mode.SingleSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        HoverWatch(self, self.painter)
        self.doubleClicked.connect(lambda _: self.request_action(self._keys.acts.get(Qt.Key.Key_Return, "")))
        self._theme.changed.connect(self.scheduleDelayedItemsLayout)

    # ---- what is looked at and chosen

    @property
    def current(self) -> Any:
        """The row that is looked at; None for none."""
        return self.lines.row_at(self.currentIndex().row())

    @property
    def chosen(self) -> tuple[Any, ...]:
        """The rows that are chosen, from above."""
        places = sorted(index.row() for index in self.selectedIndexes())
        return tuple(row for place in places if (row := self.lines.row_at(place)) is not None)

    def show_lines(self, lines: Sequence[Any], *, wanted: str = "", has_more: bool = False) -> None:
        """List other lines, and stay where one is.

        Args:
            wanted: the row to look at; "" for the one that is looked at.
            has_more: whether more can be had.
        """
        key, current, place = self.spec.row_key, self.current, self.currentIndex().row()
        chosen_keys, value = [key(row) for row in self.chosen], self.verticalScrollBar().value()
        self.painter.hovered = -1
        self.spec.prepare_lines(lines)
        is_other = self.lines.show_lines(lines, has_more=has_more)
        if self._keep is AfterRemoval.TOP:
            if is_other:
                self.scrollToTop()
            return
        if is_other:
            self.doItemsLayout()
            self.verticalScrollBar().setValue(value)
        elif not wanted and current is not None:
            return
        looked = self.lines.place_of(wanted)
        if looked < 0 and current is not None:
            looked = self.lines.place_of(key(current))
        self._select_line(looked if looked >= 0 else self._place_near(place), [] if wanted else chosen_keys)
        self.verticalScrollBar().setValue(value if not wanted else self.verticalScrollBar().value())

    def _place_near(self, place: int) -> int:
        """The row to look at where the one at a place is gone; -1 for none."""
        rows = [at for at, line in enumerate(self.lines.lines) if not isinstance(line, InertRow)]
        if not rows or self._keep is AfterRemoval.NONE:
            return -1
        if self._keep is AfterRemoval.FIRST:
            return rows[0]
        before, after = [at for at in rows if at <= place], [at for at in rows if at >= place]
        if self._keep is AfterRemoval.BEFORE:
            return before[-1] if before else rows[0]
        return after[0] if after else before[-1]

    def _select_line(self, place: int, chosen_keys: Sequence[str]) -> None:
        """Look at a line, and choose it and the rows that are still listed."""
        if self.selectionMode() == QAbstractItemView.SelectionMode.SingleSelection:
            self.selectionModel().setCurrentIndex(self.lines.index(place, 0), _FLAGS.ClearAndSelect)
        else:
            selection = QItemSelection()
            for at in {place, *(self.lines.place_of(one) for one in chosen_keys)} - {-1}:
                selection.select(self.lines.index(at, 0), self.lines.index(at, 0))
            self.selectionModel().setCurrentIndex(self.lines.index(place, 0), _FLAGS.NoUpdate)
            self.selectionModel().select(selection, _FLAGS.ClearAndSelect)
        self._emit_current(is_moved=False)
        self.picked.emit()  # Qt says nothing where what was chosen is gone with its lines

    def select_rows(self, *row_ids: str) -> bool:
        """Choose rows and look at the first; without any, let go of all.

        Returns:
            Whether the first is listed.
        """
        place = self.lines.place_of(row_ids[0]) if row_ids else -1
        if place >= 0 or not row_ids:
            self._select_line(place, row_ids)
        return place >= 0

    def select_near(self, place: int) -> None:
        """Look at the row at a place, or at the one that replaces it."""
        self._select_line(self._place_near(place), ())
        self.scrollTo(self.currentIndex())

    def move_current(self, by: int) -> None:
        """Look at the next row or the one before; headings are passed over."""
        place = self.currentIndex().row() + by
        while isinstance(self.lines.line_at(place), InertRow):
            place += by
        if self.lines.row_at(place) is not None:
            self._select_line(place, ())
            self.scrollTo(self.currentIndex())

    def choose_group(self, place: int) -> None:
        """Choose all rows under the heading that is shown over a line, or is it."""
        group = self.lines.group_of(place)
        if group:
            first, last = self.lines.index(group.start, 0), self.lines.index(group.stop - 1, 0)
            self.selectionModel().setCurrentIndex(first, _FLAGS.NoUpdate)
            self.selectionModel().select(QItemSelection(first, last), _FLAGS.ClearAndSelect)

    def _emit_current(self, *, is_moved: bool) -> None:
        """Tell which row is looked at; one that is known only where somebody moved to it and its list wants that."""
        row, last = self.current, self._last
        if row is None or last is None or last is _NEVER:
            is_known = row is last
        else:
            is_known = self.spec.is_same(row, last) or (row == last and not is_moved)
        self._last = row
        if not is_known:
            self.looked_at.emit(row)
            if row is not None:
                self.looked_at_id.emit(self.spec.row_key(row))

    def request_action(self, name: str) -> None:
        """Ask for something to be done with what is chosen, if it makes sense."""
        if name and (self.offered is None or name in self.offered):
            self.asked.emit(name)
            if name == OPEN and self.current is not None:
                self.opened.emit(self.current)

    # ---- Qt's events

    def currentChanged(self, current: _Index, previous: _Index) -> None:  # noqa: N802 - Qt's name
        """Another row is looked at."""
        super().currentChanged(current, previous)
        if current.isValid():
            self._emit_current(is_moved=True)

    def selectionChanged(self, selected: QItemSelection, deselected: QItemSelection) -> None:  # noqa: N802
        """Other rows are chosen."""
        super().selectionChanged(selected, deselected)
        self.picked.emit()

    def _is_release_key(self, event: QKeyEvent) -> bool:
        return self._keys.lets_go and event.key() == Qt.Key.Key_Escape and bool(self.selectedIndexes())

    def event(self, event: QEvent) -> bool:
        """Its keys are its own, although the window has shortcuts with them."""
        return accept_own_key(
            event, lambda key: bool(self._keys.action_of(key)) or self._is_release_key(key)
        ) or super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Keys that act on what is chosen; Esc lets go of it; the rest moves, searches or is the page's."""
        act = self._keys.action_of(event)
        if act:
            self.request_action(act)
        elif self._is_release_key(event):
            self.clearSelection()
        elif self._keys.moves_only and not self._keys.is_move_key(event):
            event.ignore()
        else:
            super().keyPressEvent(event)

    def keyboardSearch(self, typed: str) -> None:  # noqa: N802 - Qt's name
        """Letters go to the next row that begins with them, but where they act."""
        if self._keys.searches:
            super().keyboardSearch(typed)

    def moveCursor(self, action: _Move, modifiers: Qt.KeyboardModifier) -> QModelIndex:  # noqa: N802 - Qt's name
        """What cannot be chosen is passed over; a heading would keep the key where it is."""
        index = super().moveCursor(action, modifiers)
        by = -1 if action in _UPWARDS else 1
        while index.isValid() and self.lines.row_at(index.row()) is None:
            index = index.siblingAtRow(index.row() + by)
        return index if index.isValid() else self.currentIndex()

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """A heading chooses what is under it; what cannot be chosen changes nothing."""
        place = self.indexAt(event.position().toPoint()).row()
        line = self.lines.line_at(place)
        if isinstance(line, InertRow):
            if isinstance(line, Heading) and line.chooses:
                self.choose_group(place)
            event.accept()
        else:
            super().mousePressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:  # noqa: N802 - Qt's name
        """The menu of what is chosen, by the pointer or by its key."""
        menu = self.menu() if self.chosen else None
        if menu is not None:
            by_key = event.reason() is QContextMenuEvent.Reason.Keyboard
            corner = self.viewport().mapToGlobal(self.visualRect(self.currentIndex()).bottomLeft())
            menu.popup(corner if by_key else event.globalPos())

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802 - Qt's name
        """The first row takes the keyboard where none has it yet."""
        is_clicked = event.reason() == Qt.FocusReason.MouseFocusReason
        if self.current is None and self.lines.list_rows() and not is_clicked:
            self._select_line(next(at for at in range(len(self.lines.lines)) if self.lines.row_at(at) is not None), ())
        super().focusInEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Lines, faded where the list goes on."""
        super().paintEvent(event)
        if self.spec.fade:
            fade_edges(self, self._theme.colour(self.spec.fade), self._theme.px(FADE_HEIGHT))
