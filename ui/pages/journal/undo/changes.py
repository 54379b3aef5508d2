"""The tab of changes: undo steps under the headings of their days, more as somebody scrolls; what is done with them.

Must not do: know another tab.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPersistentModelIndex, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter, QResizeEvent
from PySide6.QtWidgets import QDialog, QFrame, QListWidget, QListWidgetItem, QMenu, QSizePolicy, QWidget

from core.types.replies import ImportRow, StepRow, Steps, UndoBack
from core.types.values import OWNER_ACTOR
from core.types.views import MemoryRow
from ui.bridge import make_query, make_write, problem_of
from ui.context import Context
from ui.lists.list_view import AfterRemoval, ListKeys, ListView
from ui.lists.row_spec import MIDDLE, RIGHT, Heading, InertRow, RowSpec, RowState, draw_flat_ground, insert_headings
from ui.pages.journal.undo.labels import (
    describe_step,
    describe_step_details,
    describe_step_memories,
    is_edit_of_one,
    step_action,
    step_icon,
)
from ui.pages.journal.undo.period import PeriodBar
from ui.strings import format_count, journal_strings, window_strings
from ui.theme.theme import Theme
from ui.theme.tokens import sizes
from ui.undo import describe_left, describe_unpaired, report_undo
from ui.widgets.basics import (
    FlowLayout,
    make_button,
    make_column,
    make_keycap,
    make_label,
    make_row,
    set_style_property,
)
from ui.widgets.labels import count_memories, format_clock, format_day_heading
from ui.widgets.plaintext import one_line
from ui.widgets.states import EmptyState, States

PAGE_STEPS = 100
MOST_AGAIN = 500
"""Steps that are read again at once after a change; what lies behind is fetched again where somebody looks."""
Line = StepRow | Heading
"""A step, or the heading of a day."""


class StepFeed(QObject):
    """Fills a list with steps, newest first, a heading before each day.

    Attributes:
        total: how many there are in the vault.
        since: epoch ms; steps before it are not listed.
        is_read: whether it was read once.
        imports: what the imports brought in, by their steps.
        openings: the first words of the memories that steps are about, by id; None for one that was erased.
        counts: how many memories large steps touched, by their ids.

    Signals:
        rows_read: what there is was read.
        failed: the error; what was shown stays.
    """

    rows_read = Signal()
    failed = Signal(object)

    def __init__(self, context: Context, shown: ListView) -> None:
        super().__init__(shown)
        self._context, self._shown = context, shown
        self.total = self.since = 0
        self.is_read = False
        self.imports: Mapping[str, ImportRow] = {}
        self.openings: dict[str, str | None] = {}
        self.counts: dict[str, int] = {}
        self._next: str | None = None
        shown.lines.more.connect(self._read_older)

    def describe_details(self, step: StepRow) -> str:
        """The second line of a step."""
        found, memories = self.imports.get(step.id), self.count_of(step)
        about = describe_step_memories(step, memories, self.openings) if found is None else one_line(found.label, 80)
        return describe_step_details(step, memories, self._context.clock.now_ms(), about)

    def count_of(self, step: StepRow) -> int | None:
        """How many memories a step touched; None while that is counted."""
        return step.memories if step.memories is not None else self.counts.get(step.id)

    def newest_undoable(self) -> StepRow | None:
        """The newest step that is not undone, an undo or not."""
        return next((step for step in self._shown.lines.list_rows() if step.can_undo), None)

    def reload(self) -> None:
        """Read again from the newest on, as far as it was read before."""
        limit = max(PAGE_STEPS, min(MOST_AGAIN, len(self._shown.lines.list_rows())))
        self._shown.lines.has_more = False
        journal, since = self._context.bridge.engine.history, self.since
        self._context.tasks.run(
            make_query(
                journal_strings()["tasks"]["steps"],
                lambda: journal.list_steps(None, limit, since=since, with_final=True),
            )
            .within(self, "steps")
            .success(self._replace_steps)
            .failure(self._on_read_failed)
        )

    def _read_older(self) -> None:
        after, since, journal = self._next, self.since, self._context.bridge.engine.history
        self._context.tasks.run(
            make_query(
                journal_strings()["tasks"]["steps"],
                lambda: journal.list_steps(after, PAGE_STEPS, since=since, with_final=True),
            )
            .within(self, "steps")
            .success(self._append_steps)
            .failure(self._on_read_failed)
        )

    def _name_steps(self, steps: Sequence[StepRow]) -> None:
        self._name_imports(steps)
        self._read_openings(steps)
        self._count_large(steps)

    def _name_imports(self, steps: Sequence[StepRow]) -> None:
        if any(step.verb == "import" and step.id not in self.imports for step in steps):
            journal = self._context.bridge.engine.history
            task = (
                make_query(journal_strings()["tasks"]["imports"], journal.list_imports)
                .within(self, "names")
                .failure(lambda _: None)
            )
            self._context.tasks.run(task.success(self._add_import_names))

    def _add_import_names(self, found: Sequence[ImportRow]) -> None:
        self.imports = {one.step_id: one for one in found if one.step_id is not None}
        self._redraw_lines()

    def _read_openings(self, steps: Sequence[StepRow]) -> None:
        ids = tuple({step.memory_ids[0]: None for step in steps if step.memory_ids})
        if not ids:
            return
        library = self._context.bridge.engine.library
        task = make_query(journal_strings()["tasks"]["touched"], lambda: library.read_rows(ids)).within(self)
        self._context.tasks.run(task.failure(lambda _: None).success(lambda found: self._add_openings(ids, found)))

    def _add_openings(self, ids: Sequence[str], found: Sequence[MemoryRow]) -> None:
        self.openings.update(dict.fromkeys(ids))
        self.openings.update({row.id: row.head for row in found})
        self._redraw_lines()

    def has_memories(self, step: StepRow) -> bool:
        """Whether a step touched memories that are still in the vault, as far as is known."""
        return bool(step.memory_ids or self.count_of(step))

    def _count_large(self, steps: Sequence[StepRow]) -> None:
        wanted = tuple(step.id for step in steps if self.count_of(step) is None)
        if wanted:
            journal = self._context.bridge.engine.history
            task = make_query(journal_strings()["tasks"]["count"], lambda: journal.count_step_memories(wanted))
            self._context.tasks.run(task.within(self).failure(lambda _: None).success(self._add_counts))

    def _add_counts(self, found: Mapping[str, int]) -> None:
        self.counts.update(found)
        self._redraw_lines()

    def _redraw_lines(self) -> None:
        lines = self._shown.lines
        if lines.lines:
            lines.dataChanged.emit(lines.index(0, 0), lines.index(len(lines.lines) - 1, 0))

    def _replace_steps(self, steps: Steps) -> None:
        self._next, self.total, self.is_read = steps.next, steps.total, True
        self._shown.show_lines(self._insert_day_headings("", steps.rows), has_more=steps.next is not None)
        self._name_steps(steps.rows)
        self.rows_read.emit()

    def _append_steps(self, steps: Steps) -> None:
        self._next, self.total = steps.next, steps.total
        self._shown.lines.append_lines(
            self._insert_day_headings(self._last_listed_day(), steps.rows), has_more=steps.next is not None
        )
        self._name_steps(steps.rows)
        self.rows_read.emit()

    def _on_read_failed(self, error: BaseException) -> None:
        self._shown.lines.has_more = self._next is not None
        self.failed.emit(error)

    def _last_listed_day(self) -> str:
        last = self._shown.lines.lines[-1] if self._shown.lines.lines else None
        return format_day_heading(last.at, self._context.clock.now_ms()) if isinstance(last, StepRow) else ""

    def _insert_day_headings(self, day: str, steps: Sequence[StepRow]) -> list[Line]:
        now = self._context.clock.now_ms()
        return insert_headings(steps, lambda step: format_day_heading(step.at, now), day)


HEIGHT = 48
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
        acting: the line the buttons are on, which take room at its right; -1 for none.
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

    def row_key(self, row: StepRow) -> str:
        """The row's id."""
        return row.id

    def accessible_text(self, row: StepRow) -> str:
        """What was done, when, and by whom."""
        return f"{describe_step(row.label)}, {format_clock(row.at)}. {self.details(row)}"

    def row_height(self, _row: StepRow, _place: int) -> int:
        """All are of one height."""
        return self.theme.px(HEIGHT)

    def paint_background(self, painter: QPainter, rect: QRect, _row: StepRow, state: RowState) -> None:
        """A field from edge to edge."""
        draw_flat_ground(
            painter,
            self.theme,
            rect,
            is_chosen=state.is_chosen,
            is_hovered=state.is_hovered,
            has_focus=state.is_chosen and state.has_focus,
        )

    def draw_inert(self, painter: QPainter, rect: QRect, line: InertRow, state: RowState) -> None:
        """The heading of a day on a ground of its own."""
        if state.place:
            painter.fillRect(rect.adjusted(0, 0, 0, -1), self.theme.colour("surface"))
        super().draw_inert(painter, rect, line, state)

    def draw_row(self, painter: QPainter, rect: QRect, row: StepRow, state: RowState) -> None:
        """Its icon, its two lines and its time."""
        theme = self.theme
        side, pad = theme.px(sizes().icon), theme.px(sizes().list_pad)
        place = QRect(rect.left() + pad, rect.center().y() - side // 2, side, side)
        theme.icon(step_icon(row), "faint" if row.undone else "muted").paint(painter, place)
        inner = rect.adjusted(pad + side + theme.px(12), theme.px(5), -pad, -theme.px(6))
        room = QRect(inner)
        details = self.details(row)
        if state.place == self.acting and self.reserved:
            room.setRight(rect.right() - self.reserved)
        elif self.is_narrow:
            details = f"{format_clock(row.at)} · {details}"
        else:
            at, number = format_clock(row.at), theme.font("number")
            width = QFontMetrics(number).horizontalAdvance(at)
            self.draw_text(painter, inner, at, "muted", number, RIGHT | MIDDLE)
            room.setRight(inner.right() - width - theme.px(12))
        title_font, small_font = self.row_fonts()
        title_font.setStrikeOut(row.undone)
        upper, lower = QRect(room), QRect(room)
        upper.setHeight(room.height() // 2)
        lower.setTop(upper.bottom() + 1)
        self.draw_text(painter, upper, describe_step(row.label), "muted" if row.undone else "ink", title_font)
        self.draw_text(painter, lower, details, "muted", small_font)


class StepButtons(QFrame):
    """What can be done with one step, at the right of its line.

    Signals:
        asked: `show`, `act` or `back`.
    """

    asked = Signal(str)

    def __init__(self, parent: QWidget, *, wraps: bool = False) -> None:
        """Make them.

        Args:
            wraps: whether they may be in several lines.
        """
        super().__init__(parent)
        strings = journal_strings()["step"]
        self.setCursor(Qt.CursorShape.ArrowCursor)
        self.show_button = make_button(
            window_strings()["buttons"]["show"], lambda: self.asked.emit("show"), kind="chip", hint=strings["show_hint"]
        )
        self.act_button = make_button(
            strings["undo"], lambda: self.asked.emit("act"), kind="chip", hint=strings["undo_hint"]
        )
        self.back_button = make_button(strings["back"], lambda: self.asked.emit("back"), kind="chip")
        self.back_button.setToolTip(strings["back_hint"])
        for one in (self.show_button, self.act_button, self.back_button):
            one.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        flow = FlowLayout(self, gap=6) if wraps else make_row(gap=6, parent=self)
        for one in (self.show_button, self.act_button, self.back_button):
            flow.addWidget(one)
        self.hide()

    def update_buttons(self, step: StepRow, *, has_memories: bool, is_newest: bool) -> bool:
        """Offer what makes sense for a step.

        Args:
            has_memories: whether it touched any that can be shown.
            is_newest: whether no step after it is still in force.

        Returns:
            Whether there is anything.
        """
        strings = journal_strings()["step"]
        act = step_action(step)
        self.show_button.setVisible(has_memories)
        self.act_button.setVisible(bool(act))
        name = act or "undo"
        self.act_button.setText(strings[name])
        self.act_button.setAccessibleName(strings["name"].format(act=strings[name], label=step.label))
        self.act_button.setToolTip(strings[f"{name}_hint"])
        self.back_button.setVisible(step.can_undo and not is_newest)
        self.show_button.setAccessibleName(strings["show_name"].format(label=step.label))
        self.back_button.setAccessibleName(strings["back_name"].format(label=step.label))
        return bool(has_memories or act or (step.can_undo and not is_newest))


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
        super().__init__(self._rows, journal_strings()["step"]["list"], _KEYS, keep=AfterRemoval.NONE)
        self.steps = StepFeed(context, self)
        self._rows.details = self.steps.describe_details
        self.buttons = StepButtons(self.viewport())
        self.buttons.asked.connect(self._on_button_pressed)
        self.entered.connect(lambda _: self._show_row_buttons())
        self.verticalScrollBar().valueChanged.connect(self._show_row_buttons)
        self.lines.modelReset.connect(self._show_row_buttons)
        self.lines.rowsInserted.connect(self._show_row_buttons)
        context.theme.changed.connect(self._show_row_buttons)

    # ---- the buttons

    def _show_row_buttons(self) -> None:
        """Put the buttons on the line under the pointer, else on the chosen one."""
        is_hovered = self.painter.hovered >= 0 and not self.buttons.isAncestorOf(self.focusWidget() or self)
        place = self.painter.hovered if is_hovered else self.currentIndex().row()
        step = self.lines.row_at(place)
        self._rows.acting, self._rows.reserved = -1, 0
        if step is None or self.is_narrow:
            self.buttons.hide()
        else:
            self._place_buttons(place, step)
        self.viewport().update()

    def _place_buttons(self, place: int, step: StepRow) -> None:
        if not self.update_buttons(self.buttons, step):
            self.buttons.hide()
            return
        rect, size = self.visualRect(self.lines.index(place, 0)), self.buttons.sizeHint()
        left = rect.right() - size.width() - self._theme.px(sizes().list_pad)
        self.buttons.setGeometry(left, rect.center().y() - size.height() // 2, size.width(), size.height())
        self._rows.acting, self._rows.reserved = place, rect.right() - left + self._theme.px(12)
        self.buttons.show()

    def update_buttons(self, buttons: StepButtons, step: StepRow) -> bool:
        """Let buttons offer what makes sense for a step.

        Returns:
            Whether there is anything.
        """
        newest = self.steps.newest_undoable()
        is_newest = newest is not None and newest.id == step.id
        return buttons.update_buttons(step, has_memories=self.steps.has_memories(step), is_newest=is_newest)

    @property
    def is_narrow(self) -> bool:
        """Whether there is no room for buttons beside the words of a line."""
        return self._rows.is_narrow

    def _on_button_pressed(self, what: str) -> None:
        step = self.lines.row_at(self._rows.acting)
        if step is not None:
            self.setCurrentIndex(self.lines.index(self._rows.acting, 0))
            self.setFocus()
            self.step_asked.emit(what, step)

    def request_action(self, name: str) -> None:
        """Ask for something to be done with the chosen step.

        Args:
            name: `show`, `act` or `back`.
        """
        step = self.current
        if step is not None and (name != "act" or step_action(step)) and (name != "back" or step.can_undo):
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
            self._show_row_buttons()
            if not current.isValid():
                self._emit_current(is_moved=True)

    def clearSelection(self) -> None:  # noqa: N802 - Qt's name
        """Let go of the step that is looked at too."""
        super().clearSelection()
        self.setCurrentIndex(QModelIndex())

    def leaveEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """The buttons go back to the chosen line."""
        super().leaveEvent(event)
        self._show_row_buttons()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """The buttons keep their place."""
        super().resizeEvent(event)
        self._show_row_buttons()
        self.reshaped.emit()


ORIGIN = "journal"
_HINTS = (("Enter", "enter"), ("Del", "del"), ("B", "b"))
_WIDTH = 480
_LISTED = 7


class TakeBackDialog(QDialog):
    """Shows what undoing back to a step would take back; one button does it.

    Signals:
        agreed: the person pressed it.
    """

    agreed = Signal()

    def __init__(self, context: Context, step: StepRow, parent: QWidget) -> None:
        super().__init__(parent)
        strings = journal_strings()["back"]
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(strings["title"])
        self.setAccessibleName(strings["title"])
        self.setMinimumWidth(context.theme.px(_WIDTH))
        self._context = context
        self._summary = make_label(strings["reading"], "muted", wrap=True)
        self._list = QListWidget()
        self._list.setObjectName("framed")
        self._list.setAccessibleName(strings["list"])
        self._list.setSelectionMode(QListWidget.SelectionMode.NoSelection)
        self._line = context.theme.px(26)
        self._list.hide()
        self.cancel = make_button(window_strings()["buttons"]["cancel"], self.reject)
        self.act = make_button(journal_strings()["step"]["undo"], self._on_agree_clicked, kind="primary")
        self.act.setDefault(True)
        self.act.setEnabled(False)
        layout = make_column(self, make_label(strings["title"], "title"), self._summary, margins=24, gap=12)
        layout.addWidget(self._list)
        layout.addLayout(make_row(None, self.cancel, self.act))
        journal = context.bridge.engine.history
        context.tasks.run(
            make_query(journal_strings()["tasks"]["later"], lambda: journal.undo_back_to(step.id, preview=True))
            .within(self)
            .success(self._show_preview)
            .failure(self._show_failure)
        )

    @property
    def summary(self) -> str:
        """What it says."""
        return self._summary.text()

    def _show_preview(self, back: UndoBack) -> None:
        count = len(back.labels)
        if not count:
            self._summary.setText(journal_strings()["back"]["nothing"])
            return
        strings = journal_strings()["back"]
        touched = [strings["touched"].format(memories=count_memories(back.memories))] if back.memories else []
        self._summary.setText(" ".join([format_count(strings["told"], count), *touched, strings["redo"]]))
        set_style_property(self._summary, "role", "body")
        for one in back.labels:
            item = QListWidgetItem(one_line(describe_step(one), 120), self._list)
            item.setSizeHint(QSize(0, self._line))
        self._list.setFixedHeight(self._line * min(count, _LISTED) + 10)
        self._list.show()
        self.act.setText(format_count(strings["act"], count))
        self.act.setAccessibleName(self.act.text())
        self.act.setEnabled(True)
        self.act.setFocus()
        self.adjustSize()

    def _show_failure(self, error: BaseException) -> None:
        problem = problem_of(error)
        self._summary.setText("" if problem is None else problem.sentence)
        set_style_property(self._summary, "role", "danger")

    def _on_agree_clicked(self) -> None:
        self.agreed.emit()
        self.accept()


class ChangesTab(QWidget):
    """The changes of a period, newest first, and above them in a sentence what became of memories in it.

    Attributes:
        period: chooses the period; its `sentence` is what is said.

    Signals:
        counted: how many there are.
    """

    counted = Signal(int)

    def __init__(self, context: Context) -> None:
        super().__init__()
        strings = journal_strings()["back"]
        self.context = context
        self.list = StepList(context)
        self._card = QFrame()
        self._card.setObjectName("card")
        inner = make_column(self._card, self.list)
        inner.setContentsMargins(1, 6, 1, 8)
        self.states = States(context.theme, self._card, strings["reading_steps"])
        self._hints = QWidget()
        self._hints.setAccessibleName(strings["keys_name"])
        flow = FlowLayout(self._hints, gap=16)
        for keys, name in _HINTS:
            hint = QWidget()
            make_row(make_keycap(keys), make_label(strings["hints"][name], "small"), gap=6, parent=hint)
            flow.addWidget(hint)
        self.docked = StepButtons(self, wraps=True)
        self.docked.asked.connect(self.list.request_action)
        self._wants_focus = False
        self.period = PeriodBar(context)
        self.period.chosen.connect(self.reload)
        make_column(self, self.period, self.states, self.docked, self._hints, gap=10)
        self.list.step_asked.connect(self._on_step_asked)
        self.list.looked_at.connect(self._on_step_chosen)
        self.list.reshaped.connect(self._show_docked_buttons)
        self.list.steps.rows_read.connect(self._on_steps_read)
        self.list.steps.failed.connect(self._show_failure)
        self._hints.hide()

    # ---- reading

    def activate(self) -> None:
        """It is shown."""
        self._wants_focus = True
        self.reload()

    def reload(self) -> None:
        """Read what there is."""
        if not self.list.steps.is_read:
            self.states.show_loading()
        self.list.steps.since = self.period.since
        self.period.read_counts()
        self.list.steps.reload()

    @property
    def is_settled(self) -> bool:
        """Whether it was read."""
        return self.list.steps.is_read

    def _on_steps_read(self) -> None:
        steps = self.list.steps
        self.counted.emit(steps.total)
        self._show_docked_buttons()
        if self.list.lines.rowCount():
            self.states.show_content()
            if self._wants_focus:
                self.list.setFocus()
            self._wants_focus = False
            return
        strings, theme = journal_strings()["changes"]["empty"], self.context.theme
        if steps.total:
            act = (strings["all"], self.period.show_all)
            self.states.show_empty(EmptyState(theme, "history", self.period.nothing, strings["period"], act))
        else:
            self.states.show_empty(EmptyState(theme, "history", strings["title"], strings["sentence"]))

    def _show_failure(self, error: BaseException) -> None:
        problem = problem_of(error)
        if problem is None:
            return
        if self.list.steps.is_read:
            self.context.desk.show_message(
                problem.sentence, window_strings()["buttons"]["retry"], self.list.steps.reload
            )
        else:
            self.states.show_trouble(problem, self.reload)

    # ---- what is done with a step

    def _show_docked_buttons(self) -> None:
        """Where lines are narrow, the buttons are below the list, in the place of the keys."""
        step, is_narrow = self.list.current, self.list.is_narrow
        self._hints.setVisible(bool(self.list.lines.rowCount()) and not is_narrow)
        self.docked.setVisible(is_narrow and step is not None and self.list.update_buttons(self.docked, step))

    def _on_step_chosen(self, step: StepRow | None) -> None:
        self._show_docked_buttons()
        if step is not None and step.memory_ids and self.list.steps.count_of(step) == 1:
            self.context.selection.select(step.memory_ids[0], ORIGIN)

    def _on_step_asked(self, what: str, step: StepRow) -> None:
        if what == "show":
            self._show_touched(step)
        elif what == "back":
            self.ask_undo_back(step)
        elif step_action(step):
            self.undo_step(step.undone_by or step.id, step_action(step))

    def undo_step(self, step_id: str, act: str) -> None:
        """Undo or redo one step.

        Args:
            step_id: the step that is taken back; for a redo of an undone one, the step that had undone it.
            act: `undo` or `redo`.
        """
        strings = journal_strings()["tasks"]
        engine = self.context.bridge.engine
        self.context.tasks.run(
            make_write(strings[act], lambda: engine.memories.undo_step(step_id, OWNER_ACTOR))
            .within(self)
            .success(lambda report: report_undo(self.context, report, act, self.undo_step))
        )

    def ask_undo_back(self, step: StepRow) -> None:
        """Ask whether to undo back to a step."""
        dialog = TakeBackDialog(self.context, step, self)
        dialog.agreed.connect(lambda: self.undo_back_to(step.id))
        dialog.open()

    def undo_back_to(self, step_id: str, *, is_redo: bool = False) -> None:
        """Take back a step and all that came after it, in one transaction.

        Args:
            step_id: the oldest one.
            is_redo: whether these steps are undos themselves.
        """
        journal = self.context.bridge.engine.history
        self.context.tasks.run(
            make_write(journal_strings()["tasks"]["undo"], lambda: journal.undo_back_to(step_id, preview=False))
            .within(self)
            .success(lambda back: self._on_steps_undone(back, is_redo=is_redo))
        )

    def _on_steps_undone(self, back: UndoBack, *, is_redo: bool) -> None:
        strings = journal_strings()
        done, other = ("redone", "undo") if is_redo else ("undone", "redo")
        left = describe_left(sum(len(report.left) for report in back.reports))
        # The first of the new steps is the oldest: going back to it takes all of them back.
        first = back.reports[0].undo_step_id
        self.context.desk.show_message(
            f"{format_count(strings['back'][done], len(back.reports))}{describe_unpaired(back.unpaired)}{left}",
            strings["step"][other],
            lambda: self.undo_back_to(first, is_redo=not is_redo),
        )
        self.context.selection.reselect(self.context.selection.current, "undo")

    # ---- what a step touched

    def _show_touched(self, step: StepRow) -> None:
        engine = self.context.bridge.engine
        if step.verb == "import":
            self._open_import(step)
        elif not self.list.steps.has_memories(step):
            self.context.desk.show_message(journal_strings()["step"]["no_memory"])
        elif self.list.steps.count_of(step) != len(step.memory_ids):
            self.context.desk.search.emit(f"change:{step.id} status:all")  # more than a menu can hold
        elif len(step.memory_ids) == 1:
            self.context.selection.reselect(step.memory_ids[0], ORIGIN)
        else:
            task_rows = make_query(
                journal_strings()["tasks"]["touched"], lambda: engine.library.read_rows(step.memory_ids)
            )
            show_menu = partial(self._show_memory_menu, step)
            self.context.tasks.run(task_rows.within(self, "lead").success(show_menu))

    def _open_import(self, step: StepRow) -> None:
        made = self.list.steps.imports.get(step.id)
        if step.undone or made is None:
            self.context.desk.show_message(journal_strings()["step"]["no_import"])
        else:
            self.context.desk.search.emit(f"import:{made.id}")

    def _show_memory_menu(self, step: StepRow, rows: Sequence[MemoryRow]) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.setAccessibleName(journal_strings()["step"]["touched"])
        for one in rows:
            title = one_line(one.head, 70)
            if is_edit_of_one(step):
                which = journal_strings()["step"]["after" if one.id == step.memory_ids[0] else "before"]
                title = str(which).format(text=title)
            action = menu.addAction(title.replace("&", "&&"))
            action.triggered.connect(lambda _checked=False, one=one: self.context.selection.select(one.id, ORIGIN))
        line = self.list.visualRect(self.list.currentIndex())
        menu.popup(self.list.viewport().mapToGlobal(QPoint(line.left() + 40, line.bottom())))
