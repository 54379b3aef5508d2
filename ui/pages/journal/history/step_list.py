"""The list of changes: draws steps and days, offers what can be done with the step one looks at.

Must not do: ask the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPersistentModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QFont, QFontMetrics, QKeyEvent, QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QListView,
    QSizePolicy,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from core.types.replies import StepRow
from ui.context import Context
from ui.pages.journal.common.step_words import act_of, clock_of, icon_of
from ui.pages.journal.history.steps import STEP, StepModel
from ui.widgets.basics import button, row
from ui.widgets.flow import FlowLayout
from ui.widgets.keys import overrides, plain_key

HEIGHT = 48
_PAD = 14
_ICON = 16
_NARROW = 500
_HEADING, _FIRST = 42, 30
_KEYS: Mapping[Qt.Key, str] = {
    Qt.Key.Key_Return: "show",
    Qt.Key.Key_Enter: "show",
    Qt.Key.Key_Delete: "act",
    Qt.Key.Key_U: "act",
    Qt.Key.Key_B: "back",
}


class StepPainter(QStyledItemDelegate):
    """Draws a line of the list.

    Attributes:
        hovered: the line under the pointer; -1 for none.
        acting: the line the buttons stand on, which take room at its right; -1 for none.
        reserved: pixels they take.
        has_keyboard, is_narrow, details: ask the list.
    """

    def __init__(self, context: Context, parent: QObject) -> None:
        super().__init__(parent)
        self._theme = context.theme
        self.hovered = self.acting = -1
        self.reserved = 0
        self.has_keyboard: Callable[[], bool] = lambda: False
        self.is_narrow: Callable[[], bool] = lambda: False
        self.details: Callable[[StepRow], str] = lambda step: step.label

    def sizeHint(self, _option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:  # noqa: N802
        """Steps are of one height; a heading is lower, the first one most."""
        if index.data(STEP) is not None:
            return QSize(100, self._theme.px(HEIGHT))
        return QSize(100, self._theme.px(_HEADING if index.row() else _FIRST))

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Draw a line."""
        painter.save()
        rect = QRect(option.rect)
        step = index.data(STEP)
        if step is None:
            self._heading(painter, rect, str(index.data()), is_first=index.row() == 0)
        else:
            self._ground(painter, option, index)
            self._step(painter, rect, step, is_acting=index.row() == self.acting)
        painter.restore()

    def _ground(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        colour, rect = self._theme.colour, QRect(option.rect)
        is_chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        if is_chosen:
            painter.fillRect(rect, colour("selection"))
        elif index.row() == self.hovered:
            painter.fillRect(rect, colour("raised"))
        painter.fillRect(QRect(rect.left(), rect.bottom(), rect.width(), 1), colour("line"))
        if is_chosen and self.has_keyboard():
            ring = painter.pen()
            ring.setColor(colour("focus"))
            ring.setWidth(2)
            painter.setPen(ring)
            painter.drawRect(rect.adjusted(1, 1, -1, -2))

    def _heading(self, painter: QPainter, rect: QRect, day: str, *, is_first: bool) -> None:
        theme = self._theme
        if not is_first:
            painter.fillRect(rect.adjusted(0, 0, 0, -1), theme.colour("surface"))
        painter.fillRect(QRect(rect.left(), rect.bottom(), rect.width(), 1), theme.colour("line"))
        inner = rect.adjusted(theme.px(_PAD), 0, -theme.px(_PAD), -theme.px(7))
        self._write(painter, inner, day, "muted", theme.font("label"), Qt.AlignmentFlag.AlignBottom)

    def _step(self, painter: QPainter, rect: QRect, step: StepRow, *, is_acting: bool) -> None:
        theme = self._theme
        side, pad = theme.px(_ICON), theme.px(_PAD)
        place = QRect(rect.left() + pad, rect.center().y() - side // 2, side, side)
        theme.icon(icon_of(step), "faint" if step.undone else "muted").paint(painter, place)
        inner = rect.adjusted(pad + side + theme.px(12), theme.px(5), -pad, -theme.px(6))
        room = QRect(inner)
        details = self.details(step)
        if is_acting and self.reserved:
            room.setRight(rect.right() - self.reserved)
        elif self.is_narrow():
            details = f"{clock_of(step.at)} · {details}"
        else:
            at, number = clock_of(step.at), theme.font("number")
            width = QFontMetrics(number).horizontalAdvance(at)
            self._write(painter, inner, at, "muted", number, Qt.AlignmentFlag.AlignVCenter, at_right=True)
            room.setRight(inner.right() - width - theme.px(12))
        half = room.height() // 2
        head = theme.font("body")
        head.setWeight(QFont.Weight.Medium)
        head.setStrikeOut(step.undone)
        upper, lower = QRect(room), QRect(room)
        upper.setHeight(half)
        lower.setTop(upper.bottom() + 1)
        middle = Qt.AlignmentFlag.AlignVCenter
        self._write(painter, upper, step.label, "muted" if step.undone else "ink", head, middle)
        self._write(painter, lower, details, "muted", theme.font("small"), middle)

    def _write(
        self,
        painter: QPainter,
        rect: QRect,
        text: str,
        ink: str,
        font: QFont,
        upright: Qt.AlignmentFlag,
        *,
        at_right: bool = False,
    ) -> None:
        painter.setFont(font)
        painter.setPen(self._theme.colour(ink))
        side = Qt.AlignmentFlag.AlignRight if at_right else Qt.AlignmentFlag.AlignLeft
        shown = QFontMetrics(font).elidedText(text, Qt.TextElideMode.ElideRight, rect.width())
        painter.drawText(rect, side | upright, shown)


class StepButtons(QFrame):
    """What can be done with one step; stands at the right of its line.

    Signals:
        asked: `show`, `act` or `back`.
    """

    asked = Signal(str)

    def __init__(self, parent: QWidget, *, wraps: bool = False) -> None:
        """Make them.

        Args:
            parent: what they stand on.
            wraps: whether they may stand in several lines.
        """
        super().__init__(parent)
        self.setCursor(Qt.CursorShape.ArrowCursor)
        self.show_button = button("Show", lambda: self.asked.emit("show"), kind="chip", hint="What it touched (Enter)")
        self.act_button = button("Undo", lambda: self.asked.emit("act"), kind="chip", hint="Take it back (Del)")
        self.back_button = button("Undo back to here …", lambda: self.asked.emit("back"), kind="chip")
        self.back_button.setToolTip("Take back this and all that came after it (B)")
        for one in (self.show_button, self.act_button, self.back_button):
            one.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        flow = FlowLayout(self, gap=6) if wraps else row(gap=6, parent=self)
        for one in (self.show_button, self.act_button, self.back_button):
            flow.addWidget(one)
        self.hide()

    def offer(self, step: StepRow, *, is_newest: bool) -> bool:
        """Offer what makes sense for a step.

        Args:
            step: which.
            is_newest: whether nothing that stands came after it.

        Returns:
            Whether there is anything.
        """
        act = act_of(step)
        self.show_button.setVisible(bool(step.memory_ids))
        self.act_button.setVisible(bool(act))
        self.act_button.setText(act)
        self.act_button.setAccessibleName(f"{act}: {step.label}")
        self.act_button.setToolTip(f"{'Take it back' if act == 'Undo' else 'Bring it back'} (Del)")
        self.back_button.setVisible(step.can_undo and not is_newest)
        self.show_button.setAccessibleName(f"Show what it touched: {step.label}")
        self.back_button.setAccessibleName(f"Undo back to here: {step.label}")
        return bool(step.memory_ids or act or (step.can_undo and not is_newest))


class StepList(QListView):
    """The list.

    Signals:
        asked: (`show`, `act` or `back`, the step).
        looked_at: the step that is looked at now; None for none.
        reshaped: it has another width; see `is_narrow`.
    """

    asked = Signal(str, object)
    looked_at = Signal(object)
    reshaped = Signal()

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._theme = context.theme
        self.steps = StepModel(context, self)
        self.painter = StepPainter(context, self)
        self.painter.has_keyboard, self.painter.details = self.hasFocus, self.steps.details
        self.painter.is_narrow = lambda: self.is_narrow
        self._kept: tuple[str, int] = ("", 0)
        self.buttons = StepButtons(self.viewport())
        self.setModel(self.steps)
        self.setItemDelegate(self.painter)
        self.setAccessibleName("Changes")
        self.setMouseTracking(True)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.buttons.asked.connect(self._press)
        self.entered.connect(self._hover)
        self.doubleClicked.connect(lambda _: self.ask("show"))
        self.verticalScrollBar().valueChanged.connect(self._place)
        self.steps.modelAboutToBeReset.connect(self._before)
        self.steps.modelReset.connect(self._after)
        self.steps.rowsInserted.connect(self._place)
        context.theme.changed.connect(self._restyle)

    @property
    def current(self) -> StepRow | None:
        """The step that is chosen."""
        return self.steps.step_at(self.currentIndex().row())

    # ---- staying where one is

    def _before(self) -> None:
        step = self.current
        self._kept = (step.id if step is not None else "", self.verticalScrollBar().value())

    def _after(self) -> None:
        step_id, value = self._kept
        self.painter.hovered = -1
        place = self.steps.place_of(step_id) if step_id else -1
        if place >= 0:
            self.setCurrentIndex(self.steps.index(place, 0))
        self.doItemsLayout()
        self.verticalScrollBar().setValue(value)
        self._place()

    def currentChanged(  # noqa: N802 - Qt's name
        self, current: QModelIndex | QPersistentModelIndex, previous: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Another step is looked at."""
        super().currentChanged(current, previous)
        self._place()
        self.looked_at.emit(self.steps.step_at(current.row()))

    # ---- the buttons

    def _place(self) -> None:
        """Put the buttons on the line under the pointer, else on the chosen one."""
        if self.buttons.isAncestorOf(self.focusWidget() or self) or self.painter.hovered < 0:
            place = self.currentIndex().row()
        else:
            place = self.painter.hovered
        step = self.steps.step_at(place)
        self.painter.acting, self.painter.reserved = -1, 0
        if step is None or self.is_narrow:
            self.buttons.hide()
        else:
            self._put(place, step)
        self.viewport().update()

    def _put(self, place: int, step: StepRow) -> None:
        if not self.offer(self.buttons, step):
            self.buttons.hide()
            return
        rect, size = self.visualRect(self.steps.index(place, 0)), self.buttons.sizeHint()
        left = rect.right() - size.width() - self._theme.px(_PAD)
        self.buttons.setGeometry(left, rect.center().y() - size.height() // 2, size.width(), size.height())
        self.painter.acting, self.painter.reserved = place, rect.right() - left + self._theme.px(12)
        self.buttons.show()

    def offer(self, buttons: StepButtons, step: StepRow) -> bool:
        """Let buttons offer what makes sense for a step.

        Args:
            buttons: which.
            step: of this list.

        Returns:
            Whether there is anything.
        """
        newest = self.steps.newest_standing()
        return buttons.offer(step, is_newest=newest is not None and newest.id == step.id)

    @property
    def is_narrow(self) -> bool:
        """Whether there is no room for buttons beside the words of a line."""
        return self.viewport().width() < self._theme.px(_NARROW)

    def _press(self, what: str) -> None:
        place = self.painter.acting
        step = self.steps.step_at(place)
        if step is not None:
            self.setCurrentIndex(self.steps.index(place, 0))
            self.setFocus()
            self.asked.emit(what, step)

    def ask(self, what: str) -> None:
        """Ask for something to be done with the chosen step.

        Args:
            what: `show`, `act` or `back`.
        """
        step = self.current
        if step is not None and (what != "act" or act_of(step)) and (what != "back" or step.can_undo):
            self.asked.emit(what, step)

    def _hover(self, index: QModelIndex) -> None:
        if index.row() != self.painter.hovered:
            self.painter.hovered = index.row()
            self._place()

    # ---- Qt's events

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Letters act on the chosen step; Esc lets go of it."""
        if not self._wants(event):
            super().keyPressEvent(event)
        elif event.key() == Qt.Key.Key_Escape:
            self.clearSelection()
            self.setCurrentIndex(QModelIndex())
        else:
            self.ask(_KEYS[Qt.Key(event.key())])

    def _wants(self, event: QKeyEvent) -> bool:
        key = plain_key(event)
        return key in _KEYS or (key == Qt.Key.Key_Escape and self.currentIndex().isValid())

    def event(self, event: QEvent) -> bool:
        """Its keys are its own, although the window forgets a memory by Del and this list undoes a step."""
        return overrides(event, self._wants) or super().event(event)

    def keyboardSearch(self, _typed: str) -> None:  # noqa: N802 - Qt's name
        """Letters act; they do not search."""

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802 - Qt's name
        """The newest step takes the keyboard where none has it yet."""
        if not self.currentIndex().isValid() and self.steps.rowCount() > 1:
            self.setCurrentIndex(self.steps.index(1, 0))  # first: Qt would take it without choosing it
        super().focusInEvent(event)

    def leaveEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """No line is under the pointer."""
        super().leaveEvent(event)
        self.painter.hovered = -1
        self._place()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """The buttons keep their place."""
        super().resizeEvent(event)
        self._place()
        self.reshaped.emit()

    def _restyle(self) -> None:
        self.doItemsLayout()
        self._place()
