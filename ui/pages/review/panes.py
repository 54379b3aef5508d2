"""Where the parts of the page stand: the queue beside the item or in turns; several items at once; ways to elsewhere.

Must not do: read, decide, or know another page beyond its id.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, QSize, Qt, Signal
from PySide6.QtGui import QCursor, QResizeEvent
from PySide6.QtWidgets import QFrame, QListWidget, QListWidgetItem, QMenu, QStackedWidget, QWidget

from core.types.reviews import ReviewRow
from core.types.values import Action
from core.types.views import MemoryRow
from ui.context import CLOSER, Context
from ui.pages.review.desk import Desk
from ui.pages.review.queue import QueuePanel
from ui.pages.review.words import MANY, describe_batch_action, families, format_family_count, row_note, source_words
from ui.strings import review_strings
from ui.tasks import query
from ui.theme.theme import Theme
from ui.theme.tokens import sizes
from ui.widgets.basics import UNBOUND, FlowLayout, button, clear, column, label, row
from ui.widgets.keys import KeyButton
from ui.widgets.plaintext import one_line
from ui.widgets.states import States

ORIGIN = "review"


class Links(QObject):
    """The ways from an item to the inspector, the palace and what follows from it."""

    def __init__(self, context: Context, host: QWidget) -> None:
        """Make them.

        Args:
            host: the page; menus are its children.
        """
        super().__init__(host)
        self._context, self._host = context, host

    def look_closer(self, memory_id: str) -> None:
        """Open the inspector on a memory."""
        self._context.selection.again(memory_id, CLOSER)

    def go_to_palace(self, memory_id: str) -> None:
        """Show a memory in the palace."""
        self._context.selection.select(memory_id, ORIGIN)
        self._context.desk.go.emit("palace", f"show:{memory_id}")

    def lead(self, ids: tuple[str, ...]) -> None:
        """Show one memory, or a menu of several."""
        if len(ids) == 1:
            self.look_closer(ids[0])
            return
        library = self._context.bridge.engine.library
        asked = query("Looking at what follows", lambda: library.read_rows(ids)).within(self, "follows")
        self._context.tasks.run(asked.success(self._offer))

    def _offer(self, rows: Sequence[MemoryRow]) -> None:
        menu = QMenu(self._host)
        menu.setAccessibleName("Memories that follow from it")
        menu.aboutToHide.connect(menu.deleteLater)
        for one in rows:
            action = menu.addAction(one_line(one.head, 70).replace("&", "&&"))
            action.triggered.connect(lambda _checked=False, one=one: self.look_closer(one.id))
        keyboard = self._host.focusWidget()
        is_pointed = self._host.underMouse() or keyboard is None
        menu.popup(
            QCursor.pos() if is_pointed or keyboard is None else keyboard.mapToGlobal(keyboard.rect().bottomLeft())
        )


_LINE = 30
_LISTED = 200


class BatchPanel(QFrame):
    """The panel shown while several items are chosen.

    Signals:
        decided: an action for all of them.
    """

    decided = Signal(Action)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setAccessibleName("Several items")
        self._theme = theme
        self.buttons: dict[Action, KeyButton] = {}
        self._title = label("", "title")
        self._what = label("", "muted", wrap=True)
        self.list = QListWidget()
        self.list.setObjectName("framed")
        self.list.setAccessibleName("What is chosen")
        self.list.setSelectionMode(QListWidget.SelectionMode.NoSelection)
        self.list.setUniformItemSizes(True)
        self._actions = QWidget()
        self._flow = FlowLayout(self._actions, gap=8)
        self._note = label("", "small", wrap=True)
        layout = column(self, self._title, self._what, gap=10)
        layout.setContentsMargins(32, 20, 32, 20)
        layout.addWidget(label(review_strings()["batch"]["sentence"], wrap=True))
        layout.addWidget(self.list, 1000)
        layout.addWidget(self._actions)
        layout.addWidget(self._note)
        layout.addStretch(1)

    @property
    def title(self) -> str:
        """How many are chosen, in words."""
        return self._title.text()

    def show_rows(self, rows: Sequence[ReviewRow]) -> None:
        """Show what is chosen.

        Args:
            rows: two or more.
        """
        self._title.setText(review_strings()["batch"]["title"].format(count=f"{len(rows):,}"))
        self._what.setText(summary(rows))
        mixed = any(describe_batch_action(action, rows) is None for action in (Action.REJECT, Action.SUPERSEDE))
        is_odd = mixed and len({row.kind for row in rows}) > 1
        self._note.setText(review_strings()["batch"]["of_one_kind" if is_odd else "needs_each"])
        self.list.clear()
        side = QSize(0, self._theme.px(_LINE))
        for shown in rows[:_LISTED]:
            line = QListWidgetItem(f"{one_line(shown.title, 100)} · {row_note(shown)}", self.list)
            line.setSizeHint(side)
        self.list.setMaximumHeight(len(rows) * side.height() + 14)
        clear(self._flow)
        self.buttons.clear()
        for action in MANY:
            said = describe_batch_action(action, rows)
            if said is not None:
                made = KeyButton(self._theme, said.title, said.key, self._presser(action))
                made.setToolTip(said.hint)
                self._flow.addWidget(made)
                made.show()
                self.buttons[action] = made
        self._actions.updateGeometry()

    def _presser(self, action: Action) -> Callable[[], None]:
        return lambda: self.decided.emit(action)


def summary(rows: Sequence[ReviewRow]) -> str:
    """What they are and where they come from, as `3 conflicts, 2 held back. From an editor, a document.` would be."""
    first = {kind: kinds[0] for _, _, kinds in families() for kind in kinds}
    what = Counter(first.get(row.kind, row.kind) for row in rows)
    parts = [format_family_count(kind, count) for kind, count in what.most_common()]
    whence = Counter(_whence(row) for row in rows)
    names = [name for name, _ in whence.most_common(3)]
    more = f" and {len(whence) - 3:,} more" if len(whence) > 3 else ""
    return f"{', '.join(parts)}. From {', '.join(names)}{more}."


def _whence(row: ReviewRow) -> str:
    if row.client:
        return one_line(row.client, 40)
    return "you" if row.source.startswith("user") else source_words(row.source).lower()


class Panes(QWidget):
    """Queue and item.

    Attributes:
        queue: the list at the left.
        desk: one item. `desk_states` holds it, and what stands in its place.
        batch: several items at once.
        back: leads to the queue where it is hidden.
    """

    def __init__(self, theme: Theme) -> None:
        """Make it, empty."""
        super().__init__()
        self._theme = theme
        self.is_narrow = self._shows_queue = False

    def build(self, leads: Links) -> None:
        """Fill it once it stands in its place, from the outside in.

        Args:
            leads: the ways from an item to elsewhere.
        """
        theme = self._theme
        self.queue, self._side = QueuePanel(theme), QWidget()
        row(self.queue, self._side, parent=self, gap=0).setStretch(1, 1)
        self._bar, self._right = QWidget(), QStackedWidget()
        column(self._side, self._bar, self._right, gap=0)
        self.back = button(review_strings()["back"], self.show_queue, theme=theme, icon="chevron-left", kind="ghost")
        row(self.back, None, parent=self._bar).setContentsMargins(12, 8, 12, 0)
        self._bar.hide()
        self.desk = Desk(theme, leads.look_closer, leads.go_to_palace)
        self.desk.led.connect(leads.lead)
        self.desk_states = States(theme, self.desk, "Reading the item …")
        self._right.addWidget(self.desk_states)
        self.desk.build()
        self.batch = BatchPanel(theme)
        self._right.addWidget(self.batch)
        self.queue.list.picked.connect(self.show_chosen)
        self.queue.list.clicked.connect(lambda _: self._on_row_clicked())
        theme.changed.connect(self._fit)

    # ---- what is shown

    @property
    def is_batch(self) -> bool:
        """Whether several items are chosen."""
        return self._right.currentWidget() is self.batch

    def show_chosen(self) -> None:
        """Show the item that is looked at, or all that are chosen."""
        chosen = self.queue.list.chosen
        if len(chosen) > 1:
            self.batch.show_rows(chosen)
            self._right.setCurrentWidget(self.batch)
        elif self.is_batch:
            self._right.setCurrentWidget(self.desk_states)

    def say_place(self) -> None:
        """Say which one of how many is looked at."""
        current, total = self.queue.list.current, self.queue.open_count
        ids = [one.id for one in self.queue.rows]
        number = ids.index(current.id) + 1 if current is not None and current.id in ids else 1
        self.desk.show_place(number, total)
        self.back.setText(f"\u2009{review_strings()['back']} · {number:,} of {total:,}")

    def take_focus(self, otherwise: QWidget) -> None:
        """Give the keyboard to the queue, or to another widget where it is hidden."""
        (otherwise if self.queue.isHidden() else self.queue.list).setFocus()

    # ---- taking turns

    def show_queue(self) -> None:
        """Show the queue, in the place of the item where there is little room."""
        self._shows_queue = True
        self._arrange()
        self.queue.list.setFocus()

    def open_item(self) -> None:
        """On from the queue to what can be decided."""
        self._shows_queue = False
        self._arrange()
        first = self.desk.suggestion.act or next(iter(self.desk.actions_bar.buttons.values()), None)
        if first is not None and not self.is_batch:
            first.setFocus(Qt.FocusReason.TabFocusReason)

    def let_go(self) -> None:
        """Escape: one item again, or the queue where it is hidden."""
        if self.is_batch:
            self.queue.list.look_near(self.queue.list.currentIndex().row())
        elif self.is_narrow and not self._shows_queue:
            self.show_queue()

    def _on_row_clicked(self) -> None:
        if self.is_narrow and not self.is_batch:
            self.open_item()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Where there is little room, the queue and the item take turns."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        self.is_narrow = self.width() < self._theme.px(sizes().page_narrow)
        self._shows_queue = self._shows_queue and self.is_narrow
        self._arrange()

    def _arrange(self) -> None:
        px = self._theme.px
        wide = px(sizes().list if self.width() >= px(sizes().page_wide) else sizes().list_narrow)
        self.queue.setMinimumWidth(0 if self.is_narrow else wide)
        self.queue.setMaximumWidth(UNBOUND if self.is_narrow else wide)
        self.queue.setVisible(not self.is_narrow or self._shows_queue)
        self._side.setVisible(not self.is_narrow or not self._shows_queue)
        self._bar.setVisible(self.is_narrow)
        self.desk.name_place(is_named=not self.is_narrow)
