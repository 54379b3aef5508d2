"""Where the parts of the page stand: the clients beside one of them, or the two in turns where there is little room.

A view is made when it is first looked at: all four at once would hold the window up.
Must not do: read, or do anything.
"""

from __future__ import annotations

from functools import cached_property
from typing import TypeVar

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QStackedWidget, QWidget

from core.types.clients import ClientCard
from ui.context import Context
from ui.pages.clients.cards import CardsPanel
from ui.pages.clients.views.activity import ActivityTab
from ui.pages.clients.views.context_preview import ContextPreviewTab
from ui.pages.clients.views.head import Head
from ui.pages.clients.views.receipts import ReceiptsTab
from ui.pages.clients.views.tab import Tab
from ui.pages.clients.views.terms import TermsTab
from ui.strings import clients_strings
from ui.widgets.basics import Segments, button, column, row

ACTIVITY, RECEIPTS, SIGHT, GRANTS = "activity", "receipts", "sight", "grants"
_LIST, _LIST_NARROW, _SIDE = 300, 272, 320
_WIDE, _NARROW, _LOW = 980, 700, 600
_UNBOUND = 16_777_215
_T = TypeVar("_T", bound=Tab)


class Panes(QWidget):
    """Clients and one client.

    Attributes:
        cards: the list at the left. `head`: the client that is looked at. `views`: chooses what is shown of it.
        tabs: the views that were looked at, by name; `tab` is the one that is shown.
        back: leads to the clients where they are hidden.

    Signals:
        applied: the `Terms` the person wants for the client.
    """

    applied = Signal(object)

    def __init__(self, context: Context) -> None:
        """Make it, empty.

        Args:
            context: what pages are given.
        """
        super().__init__()
        self._context = context
        self._card: ClientCard | None = None
        self.tabs: dict[str, Tab] = {}
        self.is_narrow = self._shows_cards = False

    def build(self) -> None:
        """Fill it once it stands in its place, from the outside in."""
        context, said = self._context, clients_strings()
        theme = context.theme
        self.cards, self._side = CardsPanel(theme), QWidget()
        row(self.cards, self._side, parent=self, gap=0).setStretch(1, 1)
        self.back = button(said["back"], self.show_cards, theme=theme, icon="chevron-left", kind="ghost")
        self.head = Head(theme)
        self.views = Segments(tuple(said["views"].items()), ACTIVITY, said["views_name"], wraps=True)
        self.stack = QStackedWidget()
        self._box = column(self._side, gap=10)
        self._bar = QWidget()
        row(self.back, None, parent=self._bar)
        for part in (self._bar, self.head, self.views, self.stack):
            self._box.addWidget(part)
        self._box.setStretch(3, 1)
        self.stack.setCurrentWidget(self.activity)
        self.views.chosen.connect(self.show_view)
        self.head.grants_asked.connect(lambda: self.show_view(GRANTS))
        self.head.left.connect(self._to_clients)
        self.cards.list.clicked.connect(lambda _: self.open_client())
        self.cards.list.opened.connect(lambda _: self.open_client())
        theme.changed.connect(self._fit)
        self._fit()

    # ---- the views

    @cached_property
    def activity(self) -> ActivityTab:
        """What it did."""
        made = self._hang(ACTIVITY, ActivityTab(self._context))
        made.receipt_asked.connect(self.show_receipt)
        return made

    @cached_property
    def receipts(self) -> ReceiptsTab:
        """What it was given."""
        return self._hang(RECEIPTS, ReceiptsTab(self._context))

    @cached_property
    def sight(self) -> ContextPreviewTab:
        """What it would be given."""
        return self._hang(SIGHT, ContextPreviewTab(self._context))

    @cached_property
    def terms(self) -> TermsTab:
        """What it may."""
        made = self._hang(GRANTS, TermsTab(self._context))
        made.applied.connect(self.applied)
        made.left.connect(self._to_clients)
        return made

    def _hang(self, view: str, tab: _T) -> _T:
        self.tabs[view] = tab
        self.stack.addWidget(tab)
        tab.show_client(self._card)
        return tab

    def _tab_of(self, view: str) -> Tab:
        if view == RECEIPTS:
            return self.receipts
        if view == SIGHT:
            return self.sight
        return self.terms if view == GRANTS else self.activity

    def show_client(self, card: ClientCard | None) -> None:
        """Show a client in every view.

        Args:
            card: as it stands now; None for none.
        """
        self._card = card
        for tab in self.tabs.values():
            tab.show_client(card)

    def accept(self, name: str) -> None:
        """The terms that were wanted for a client hold now."""
        if GRANTS in self.tabs:
            self.terms.accept(name)

    # ---- what is shown

    @property
    def view(self) -> str:
        """The view that is shown."""
        return next(name for name, tab in self.tabs.items() if tab is self.stack.currentWidget())

    @property
    def tab(self) -> Tab:
        """The same, itself."""
        return self.tabs[self.view]

    def show_view(self, view: str) -> None:
        """Show another view of the client."""
        self.views.show_choice(view)
        wanted = self._tab_of(view)
        if wanted is not self.tab:
            self.tab.leave()
            self.stack.setCurrentWidget(wanted)
            self.tab.enter()

    def show_receipt(self, receipt_id: str) -> None:
        """Show one receipt."""
        self.receipts.wish(receipt_id)
        self.show_view(RECEIPTS)
        self.receipts.list.setFocus()

    # ---- taking turns

    def show_cards(self) -> None:
        """Show the clients, in the place of the one where there is little room."""
        self._shows_cards = True
        self._arrange()
        self.cards.list.setFocus()

    def open_client(self) -> None:
        """On from the clients to one of them."""
        if self._shows_cards:
            self._shows_cards = False
            self._arrange()

    def take_focus(self, otherwise: QWidget) -> None:
        """Give the keyboard to the clients, or to another widget where they are hidden."""
        (otherwise if self.cards.isHidden() else self.cards.list).setFocus()

    def _to_clients(self) -> None:
        """The keyboard goes to the clients, or to the way to them."""
        self.take_focus(self.back)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Everything finds its place anew."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        self.is_narrow = self.width() < self._context.theme.px(_NARROW)
        self._shows_cards = self._shows_cards and self.is_narrow
        self._arrange()

    def _arrange(self) -> None:
        px = self._context.theme.px
        wide = px(_LIST if self.width() >= px(_WIDE) else _LIST_NARROW)
        self.cards.setMinimumWidth(0 if self.is_narrow else wide)
        self.cards.setMaximumWidth(_UNBOUND if self.is_narrow else wide)
        self._side.setMinimumWidth(px(_SIDE))  # less than all in it wants: it lies down where it is narrow
        self.cards.setVisible(not self.is_narrow or self._shows_cards)
        self._side.setVisible(not self.is_narrow or not self._shows_cards)
        self._bar.setVisible(self.is_narrow)
        self.head.show_low(is_low=self.height() < px(_LOW))
        pad = px(28 if self.width() >= px(_WIDE) else 20)
        self._box.setContentsMargins(pad, 16, pad, 14)
