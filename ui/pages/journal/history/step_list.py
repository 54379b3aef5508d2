"""The list of changes: draws steps and days, offers what can be done with the step one looks at.

Must not do: ask the engine.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QRect, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter, QResizeEvent
from PySide6.QtWidgets import QFrame, QSizePolicy, QWidget

from core.types.replies import StepRow
from ui.context import Context
from ui.lists.list_view import Keep, ListKeys, ListView
from ui.lists.row_spec import MIDDLE, PAD, RIGHT, Inert, RowSpec, RowState, draw_flat_ground
from ui.pages.journal.common.step_words import act_of, clock_of, icon_of
from ui.pages.journal.history.steps import StepFeed
from ui.theme.theme import Theme
from ui.widgets.basics import FlowLayout, button, row

HEIGHT = 48
_ICON = 16
_NARROW = 500
_KEYS = ListKeys(
    {
        Qt.Key.Key_Return: "show",
        Qt.Key.Key_Enter: "show",
        Qt.Key.Key_Delete: "act",
        Qt.Key.Key_U: "act",
        Qt.Key.Key_B: "back",
    },
    lets_go=True,
    searches=False,
)


class StepRows(RowSpec[StepRow]):
    """How steps look: an icon, what was done, who did it; when, at the right end.

    Attributes:
        acting: the line the buttons stand on, which take room at its right; -1 for none.
        reserved: pixels they take.
        details: the second line of a step.
    """

    heading = (42, 30)
    below_heading = 7
    tells_repeats = True

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self.acting, self.reserved = -1, 0
        self.details: Callable[[StepRow], str] = lambda step: step.label

    @property
    def is_narrow(self) -> bool:
        """Whether there is no room for buttons beside the words of a line."""
        return self.width() < self.theme.px(_NARROW)

    def key(self, row: StepRow) -> str:
        """Its id."""
        return row.id

    def describe(self, row: StepRow) -> str:
        """What was done, when, and by whom."""
        return f"{row.label}, {clock_of(row.at)}. {self.details(row)}"

    def height(self, _row: StepRow, _place: int) -> int:
        """All are of one height."""
        return self.theme.px(HEIGHT)

    def draw_ground(self, painter: QPainter, rect: QRect, _row: StepRow, state: RowState) -> None:
        """A field from edge to edge."""
        draw_flat_ground(
            painter,
            self.theme,
            rect,
            is_chosen=state.is_chosen,
            is_hovered=state.is_hovered,
            has_focus=state.is_chosen and state.has_focus,
        )

    def draw_inert(self, painter: QPainter, rect: QRect, line: Inert, state: RowState) -> None:
        """The heading of a day on a ground of its own."""
        if state.place:
            painter.fillRect(rect.adjusted(0, 0, 0, -1), self.theme.colour("surface"))
        super().draw_inert(painter, rect, line, state)

    def draw_row(self, painter: QPainter, rect: QRect, row: StepRow, state: RowState) -> None:
        """Its icon, its two lines and its time."""
        theme = self.theme
        side, pad = theme.px(_ICON), theme.px(PAD)
        place = QRect(rect.left() + pad, rect.center().y() - side // 2, side, side)
        theme.icon(icon_of(row), "faint" if row.undone else "muted").paint(painter, place)
        inner = rect.adjusted(pad + side + theme.px(12), theme.px(5), -pad, -theme.px(6))
        room = QRect(inner)
        details = self.details(row)
        if state.place == self.acting and self.reserved:
            room.setRight(rect.right() - self.reserved)
        elif self.is_narrow:
            details = f"{clock_of(row.at)} · {details}"
        else:
            at, number = clock_of(row.at), theme.font("number")
            width = QFontMetrics(number).horizontalAdvance(at)
            self.write(painter, inner, at, "muted", number, RIGHT | MIDDLE)
            room.setRight(inner.right() - width - theme.px(12))
        head, small = self.fonts()
        head.setStrikeOut(row.undone)
        upper, lower = QRect(room), QRect(room)
        upper.setHeight(room.height() // 2)
        lower.setTop(upper.bottom() + 1)
        self.write(painter, upper, row.label, "muted" if row.undone else "ink", head)
        self.write(painter, lower, details, "muted", small)


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


class StepList(ListView):
    """The list, with buttons on the line under the pointer.

    Attributes:
        steps: what fills it.

    Signals:
        step_asked: (`show`, `act` or `back`, the step).
        reshaped: it has another width; see `is_narrow`.
    """

    step_asked = Signal(str, object)
    reshaped = Signal()

    def __init__(self, context: Context) -> None:
        self._rows = StepRows(context.theme)
        super().__init__(self._rows, "Changes", _KEYS, keep=Keep.NONE)
        self.steps = StepFeed(context, self)
        self._rows.details = self.steps.details
        self.buttons = StepButtons(self.viewport())
        self.buttons.asked.connect(self._press)
        self.entered.connect(lambda _: self._place())
        self.verticalScrollBar().valueChanged.connect(self._place)
        self.lines.modelReset.connect(self._place)
        self.lines.rowsInserted.connect(self._place)
        context.theme.changed.connect(self._place)

    # ---- the buttons

    def _place(self) -> None:
        """Put the buttons on the line under the pointer, else on the chosen one."""
        is_hovered = self.painter.hovered >= 0 and not self.buttons.isAncestorOf(self.focusWidget() or self)
        place = self.painter.hovered if is_hovered else self.currentIndex().row()
        step = self.lines.row_at(place)
        self._rows.acting, self._rows.reserved = -1, 0
        if step is None or self.is_narrow:
            self.buttons.hide()
        else:
            self._put(place, step)
        self.viewport().update()

    def _put(self, place: int, step: StepRow) -> None:
        if not self.offer(self.buttons, step):
            self.buttons.hide()
            return
        rect, size = self.visualRect(self.lines.index(place, 0)), self.buttons.sizeHint()
        left = rect.right() - size.width() - self._theme.px(PAD)
        self.buttons.setGeometry(left, rect.center().y() - size.height() // 2, size.width(), size.height())
        self._rows.acting, self._rows.reserved = place, rect.right() - left + self._theme.px(12)
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
        return self._rows.is_narrow

    def _press(self, what: str) -> None:
        step = self.lines.row_at(self._rows.acting)
        if step is not None:
            self.setCurrentIndex(self.lines.index(self._rows.acting, 0))
            self.setFocus()
            self.step_asked.emit(what, step)

    def act(self, name: str) -> None:
        """Ask for something to be done with the chosen step.

        Args:
            name: `show`, `act` or `back`.
        """
        step = self.current
        if step is not None and (name != "act" or act_of(step)) and (name != "back" or step.can_undo):
            self.step_asked.emit(name, step)

    # ---- Qt's events

    def currentChanged(  # noqa: N802 - Qt's name
        self, current: QModelIndex | QPersistentModelIndex, previous: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Another step is looked at."""
        super().currentChanged(current, previous)
        if (
            current.isValid() or previous.isValid()
        ):  # Qt tells of neither when the model is set, before there are buttons
            self._place()
            if not current.isValid():
                self._tell(is_moved=True)

    def clearSelection(self) -> None:  # noqa: N802 - Qt's name
        """Let go of the step that is looked at too."""
        super().clearSelection()
        self.setCurrentIndex(QModelIndex())

    def leaveEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """The buttons go back to the chosen line."""
        super().leaveEvent(event)
        self._place()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """The buttons keep their place."""
        super().resizeEvent(event)
        self._place()
        self.reshaped.emit()
