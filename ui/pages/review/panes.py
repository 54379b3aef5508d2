"""Where the parts of the page stand: the queue beside the item, or the two in turns where there is little room.

Must not do: read, or decide.
"""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QStackedWidget, QWidget

from ui.pages.review.batch import BatchPanel
from ui.pages.review.item.desk import Desk
from ui.pages.review.links import Links
from ui.pages.review.queue.queue import QueuePanel
from ui.strings import review_strings
from ui.theme.theme import Theme
from ui.widgets.basics import button, column, row
from ui.widgets.states import States

_LIST = 300
_LIST_NARROW = 272
_WIDE = 980
_NARROW = 700
_UNBOUND = 16_777_215


class Panes(QWidget):
    """Queue and item.

    Attributes:
        queue: the list at the left.
        desk: one item. `desk_states` holds it, and what stands in its place.
        batch: several items at once.
        back: leads to the queue where it is hidden.
    """

    def __init__(self, theme: Theme) -> None:
        """Make it, empty.

        Args:
            theme: the theme.
        """
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
        self.queue.list.clicked.connect(lambda _: self._clicked())
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

    def _clicked(self) -> None:
        if self.is_narrow and not self.is_batch:
            self.open_item()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Where there is little room, the queue and the item take turns."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        self.is_narrow = self.width() < self._theme.px(_NARROW)
        self._shows_queue = self._shows_queue and self.is_narrow
        self._arrange()

    def _arrange(self) -> None:
        px = self._theme.px
        wide = px(_LIST if self.width() >= px(_WIDE) else _LIST_NARROW)
        self.queue.setMinimumWidth(0 if self.is_narrow else wide)
        self.queue.setMaximumWidth(_UNBOUND if self.is_narrow else wide)
        self.queue.setVisible(not self.is_narrow or self._shows_queue)
        self._side.setVisible(not self.is_narrow or not self._shows_queue)
        self._bar.setVisible(self.is_narrow)
        self.desk.name_place(is_named=not self.is_narrow)
