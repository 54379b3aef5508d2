"""The Clients page: who may come in, what each did, was given and would see; what a client is where there is none yet.

The list is beside one client; where there is little room, one of the two is shown; a view is made when it is first
looked at, since all four at once would hold the window up. Must not do: know another page, or hold a token.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TypeVar

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QDialog, QPushButton, QWidget

from core.config.grant_wording import describe_limits_of_grants
from core.types.clients import ClientCard, ClientState, Terms
from core.types.replies import WaitingKind
from ui.bridge import make_query, problem_of
from ui.context import Command, Context, PageSpec, RefreshingPage
from ui.pages.clients.actions import ClientActions
from ui.pages.clients.activity import ActivityTab, ReceiptsTab
from ui.pages.clients.client_cards import CardsPanel
from ui.pages.clients.client_header import ClientHeader, ClientTab
from ui.pages.clients.client_rows import ClientRow
from ui.pages.clients.context_preview import ContextPreviewTab
from ui.pages.clients.pairing import PairDialog
from ui.pages.clients.pairing_request import DeniedNamesLink
from ui.pages.clients.terms import TermsTab
from ui.pages.clients.tokens import TokenDialog
from ui.strings import clients_strings
from ui.theme.theme import Theme
from ui.theme.tokens import sizes
from ui.widgets.basics import (
    UNBOUND,
    Segments,
    Stack,
    make_button,
    make_column,
    make_label,
    make_row,
    make_scroll_area,
)
from ui.widgets.states import EmptyState, States, add_page_title

ACTIVITY, RECEIPTS, CONTEXT_PREVIEW, GRANTS = "activity", "receipts", "sight", "grants"
_SIDE = 320
_LOW = 600
_T = TypeVar("_T", bound=ClientTab)


class ClientPanes(QWidget):
    """Clients and one client.

    Attributes:
        cards: the list at the left. `header`: the client that is looked at. `views`: chooses what is shown of it.
        tabs: the views that were looked at, by name; `tab` is the one that is shown.
        back: leads to the clients where they are hidden.

    Signals:
        applied: the `Terms` the person wants for the client.
    """

    applied = Signal(object)

    def __init__(self, context: Context) -> None:
        """Make it, empty."""
        super().__init__()
        self._context = context
        self._card: ClientCard | None = None
        self.tabs: dict[str, ClientTab] = {}
        self.is_narrow = self._shows_cards = False

    def build_layout(self) -> None:
        """Build the content once the widget is in the page, from the outside in."""
        context, strings = self._context, clients_strings()
        theme = context.theme
        self.cards, self._side = CardsPanel(theme), QWidget()
        make_row(self.cards, self._side, parent=self, gap=0).setStretch(1, 1)
        self.back = make_button(strings["back"], self.show_cards, theme=theme, icon="chevron-left", kind="ghost")
        self.header = ClientHeader(theme)
        self.views = Segments(tuple(strings["views"].items()), ACTIVITY, strings["views_name"], wraps=True)
        self.stack = Stack()
        self._box = make_column(self._side, gap=10)
        self._bar = QWidget()
        make_row(self.back, None, parent=self._bar)
        for part in (self._bar, self.header, self.views, self.stack):
            self._box.addWidget(part)
        self._box.setStretch(3, 1)
        self.stack.setCurrentWidget(self.activity)
        self.views.chosen.connect(self.show_view)
        self.header.grants_asked.connect(lambda: self.show_view(GRANTS))
        self.header.focus_lost.connect(self._focus_clients)
        self.cards.list.clicked.connect(lambda _: self.open_client())
        self.cards.list.opened.connect(lambda _: self.open_client())
        theme.changed.connect(self._fit_width)
        self._fit_width()

    # ---- the views

    @cached_property
    def activity(self) -> ActivityTab:
        """The tab of what it did."""
        tab = self._add_tab(ACTIVITY, ActivityTab(self._context))
        tab.receipt_asked.connect(self.show_receipt)
        return tab

    @cached_property
    def receipts(self) -> ReceiptsTab:
        """The tab of what it was given."""
        return self._add_tab(RECEIPTS, ReceiptsTab(self._context))

    @cached_property
    def context_preview(self) -> ContextPreviewTab:
        """The tab of what it would be given."""
        return self._add_tab(CONTEXT_PREVIEW, ContextPreviewTab(self._context))

    @cached_property
    def terms(self) -> TermsTab:
        """The tab of what it may."""
        tab = self._add_tab(GRANTS, TermsTab(self._context))
        tab.applied.connect(self.applied)
        tab.focus_lost.connect(self._focus_clients)
        return tab

    def _add_tab(self, view: str, tab: _T) -> _T:
        self.tabs[view] = tab
        self.stack.addWidget(tab)
        tab.show_client(self._card)
        return tab

    def _tab_of(self, view: str) -> ClientTab:
        if view == RECEIPTS:
            return self.receipts
        if view == CONTEXT_PREVIEW:
            return self.context_preview
        return self.terms if view == GRANTS else self.activity

    def show_client(self, card: ClientCard | None) -> None:
        """Show a client in every view.

        Args:
            card: its current state; None for none.
        """
        self._card = card
        for tab in self.tabs.values():
            tab.show_client(card)

    def accept_terms(self, name: str) -> None:
        """The terms that were wanted for a client hold now."""
        if GRANTS in self.tabs:
            self.terms.accept_terms(name)

    # ---- what is shown

    @property
    def view(self) -> str:
        """The view that is shown."""
        return next(name for name, tab in self.tabs.items() if tab is self.stack.currentWidget())

    @property
    def tab(self) -> ClientTab:
        """The widget of the view that is shown."""
        return self.tabs[self.view]

    def show_view(self, view: str) -> None:
        """Show another view of the client."""
        self.views.show_choice(view)
        wanted = self._tab_of(view)
        if wanted is not self.tab:
            self.tab.deactivate()
            self.stack.setCurrentWidget(wanted)
            self.tab.activate()

    def show_receipt(self, receipt_id: str) -> None:
        """Show one receipt."""
        self.receipts.select_receipt_next(receipt_id)
        self.show_view(RECEIPTS)
        self.receipts.list.setFocus()

    # ---- taking turns

    def show_cards(self) -> None:
        """Show the clients, in the place of the one where there is little room."""
        self._shows_cards = True
        self._arrange_panes()
        self.cards.list.setFocus()

    def open_client(self) -> None:
        """On from the clients to one of them."""
        if self._shows_cards:
            self._shows_cards = False
            self._arrange_panes()

    def focus_clients_or(self, otherwise: QWidget) -> None:
        """Give the keyboard to the clients, or to another widget where they are hidden."""
        (otherwise if self.cards.isHidden() else self.cards.list).setFocus()

    def _focus_clients(self) -> None:
        """The keyboard goes to the clients, or to the way to them."""
        self.focus_clients_or(self.back)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Everything finds its place anew."""
        super().resizeEvent(event)
        self._fit_width()

    def _fit_width(self) -> None:
        self.is_narrow = self.width() < self._context.theme.px(sizes().page_narrow)
        self._shows_cards = self._shows_cards and self.is_narrow
        self._arrange_panes()

    def _arrange_panes(self) -> None:
        px = self._context.theme.px
        wide = px(sizes().list if self.width() >= px(sizes().page_wide) else sizes().list_narrow)
        self.cards.setMinimumWidth(0 if self.is_narrow else wide)
        self.cards.setMaximumWidth(UNBOUND if self.is_narrow else wide)
        self._side.setMinimumWidth(px(_SIDE))  # less than all in it wants: it lies down where it is narrow
        self.cards.setVisible(not self.is_narrow or self._shows_cards)
        self._side.setVisible(not self.is_narrow or not self._shows_cards)
        self._bar.setVisible(self.is_narrow)
        self.header.show_low(is_low=self.height() < px(_LOW))
        pad = px(28 if self.width() >= px(sizes().page_wide) else 20)
        self._box.setContentsMargins(pad, 16, pad, 14)


_INTRODUCTION_WIDE = 560


class ClientsIntroduction(QObject):
    """Shows and removes the introduction of an empty page; the list's foot link moves with it."""

    def __init__(
        self,
        theme: Theme,
        states: States,
        cards: CardsPanel,
        link: QPushButton,
        *actions: tuple[str, Callable[[], None]],
    ) -> None:
        """Make it; nothing is shown yet.

        Args:
            states: shows it in place of the clients.
            cards: where the link is otherwise.
            link: it shows itself where there is a reason.
            *actions: titles and what they do; the first is the main one.
        """
        super().__init__(states)
        self._theme, self._states, self._cards, self._link, self._actions = theme, states, cards, link, actions
        self._is_shown = False
        cards.add_foot_link(link)
        theme.changed.connect(self._rebuild_introduction)

    def show_introduction(self) -> None:
        """Show it; one that is shown already stays, since the keyboard may be in it."""
        if self._is_shown:
            return
        self._is_shown = True
        content, strings = QWidget(), clients_strings()["empty"]
        state = EmptyState(self._theme, "bot", strings["title"], strings["sentence"], *self._actions)
        caution = make_label(describe_limits_of_grants(), "small", wrap=True)
        caution.setFixedWidth(self._theme.px(_INTRODUCTION_WIDE))
        caution.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        box = make_column(content, state, margins=16)
        box.setStretch(0, 1)
        box.addLayout(make_row(None, self._link, None))
        box.addLayout(make_row(None, caution, None))
        self._states.show_empty(add_page_title(clients_strings()["title"], make_scroll_area(content)))

    def remove_introduction(self) -> None:
        """There are clients: before it goes, the link is taken out of it."""
        if self._is_shown:
            self._is_shown = False
            self._cards.add_foot_link(self._link)

    def _rebuild_introduction(self) -> None:
        """It is as wide as the text is large."""
        if self._is_shown:
            self.remove_introduction()
            self.show_introduction()


PAIR, TOKEN, STOP, RESUME, NOS = "pair", "token", "stop", "resume", "nos"
_LIVE_MS = 5_000  # that a client came or was refused changes no memory: no event tells of it
_LEADS = {"stands": "library", "waits": "review", "answers": RECEIPTS, "refusals": ACTIVITY}


class ClientsPage(RefreshingPage):
    """The Clients page."""

    refresh_ms = 300

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._is_read = self._wants_focus = False
        self._target, self._client_to_select = "", ""
        self.cards: tuple[ClientCard, ...] = ()
        self.pairing: PairDialog | None = None
        self.client_actions, self.denied = ClientActions(context, self), DeniedNamesLink(context, self)
        self.panes = ClientPanes(context)
        self.states = States(context.theme, self.panes, clients_strings()["reading"])
        make_column(self, self.states)
        self.panes.build_layout()
        strings, cards = clients_strings(), self.panes.cards
        actions = ((strings["pair"], lambda: self.pair_client()), (strings["token"], lambda: self.make_token()))
        self.introduction = ClientsIntroduction(context.theme, self.states, cards, self.denied.link, *actions)
        self._live = QTimer(self)
        self._live.setInterval(_LIVE_MS)
        self._live.timeout.connect(self.reload)
        self._connect_signals()

    def _connect_signals(self) -> None:
        panes = self.panes
        panes.cards.list.looked_at.connect(self._on_client_chosen)
        panes.cards.pair_asked.connect(lambda: self.pair_client())
        panes.cards.token_asked.connect(lambda: self.make_token())
        panes.cards.stop_asked.connect(self.stop_all)
        panes.cards.resume_asked.connect(self.resume_all)
        panes.header.action_asked.connect(self._on_action_asked)
        panes.header.figure_clicked.connect(self._on_figure_clicked)
        panes.applied.connect(self._change_terms)
        self.client_actions.done.connect(self.reload_stale)
        self.client_actions.granted.connect(panes.accept_terms)

    # ---- the page's life

    def activate(self, target: str = "") -> None:
        """Show the page and read what it needs.

        Args:
            target: `pair`, `token`, `stop`, `resume` or `nos` to begin that; the name of a client after `client:`; ""
                for none.
        """
        super().activate(target)
        self._wants_focus = True
        self._target = target.removeprefix("ask:")
        self.panes.cards.forget_order()
        self.panes.tab.activate()
        self._live.start()
        self.reload()

    def deactivate(self) -> None:
        """Another page is shown: nothing runs here any more."""
        super().deactivate()
        self._live.stop()
        self.panes.tab.deactivate()

    def is_settled(self) -> bool:
        """Whether it shows all it is about to show."""
        shows = self.states.currentWidget() is not self.panes or self.panes.tab.is_settled
        return self._is_read and shows and not self._refresh.isActive()

    # ---- reading

    def reload(self) -> None:
        """Read all clients."""
        self.is_stale = False
        if not self._is_read:
            self.states.show_loading()
        clients = self.context.bridge.engine.clients
        task = make_query(clients_strings()["reading"], clients.list_cards).within(self, "cards")
        self.context.tasks.run(task.success(self._show_clients).failure(self._show_failure))
        self.denied.reload()

    def reload_stale(self) -> None:
        """Something changed: all clients, and what is shown of the one that is looked at."""
        self.reload()
        self.panes.tab.handle_change()

    def _show_clients(self, cards: Sequence[ClientCard]) -> None:
        self._is_read = True
        self.cards = tuple(cards)
        if not cards:
            self.introduction.show_introduction()
        else:
            self.introduction.remove_introduction()
            self.states.show_content()
            wanted, self._client_to_select = self._client_to_select or self._client_in_target(), ""
            self.panes.cards.show_cards(cards, self.context.clock.now_ms(), wanted)
            self._show_card(self._current_card())
        self._show_target()
        if self._wants_focus:
            self._wants_focus = False
            self.panes.focus_clients_or(self)

    def _client_in_target(self) -> str:
        """The client the target names."""
        return self._target.removeprefix("client:") if self._target.startswith("client:") else ""

    def _current_card(self) -> ClientCard | None:
        current = self.panes.cards.list.current
        return None if current is None else next((one for one in self.cards if one.name == current.id), None)

    def _show_failure(self, error: BaseException) -> None:
        if problem_of(error) is not None:
            self.states.show_failure(error, self.reload, self.context.desk.show_message if self._is_read else None)
            self._is_read = True

    def _show_target(self) -> None:
        """Begin what the page was opened for."""
        target, self._target = self._target, ""
        if target == PAIR:
            self.pair_client()
        elif target == TOKEN:
            self.make_token()
        elif target == STOP:
            self.stop_all()
        elif target == RESUME:
            self.resume_all()
        elif target == NOS:
            self.denied.open_list()

    # ---- one client

    def _on_client_chosen(self, shown: ClientRow | None) -> None:
        self._show_card(None if shown is None else self._current_card())

    def _show_card(self, card: ClientCard | None) -> None:
        if card is not None:
            self.panes.header.show_card(card, self.context.clock.now_ms())
        self.panes.show_client(card)

    def _on_figure_clicked(self, figure: str) -> None:
        """A figure was pressed: on to what it counts."""
        card, place = self._current_card(), _LEADS[figure]
        if card is None:
            return
        if place == "library":
            self.context.desk.search.emit(f'client:"{card.name}"')
        elif place == "review":
            self.context.desk.go.emit("review", "")
        else:
            self.panes.show_view(place)

    def _on_action_asked(self, action: str) -> None:
        card = self._current_card()
        if card is None:
            return
        if action == "again":
            self.pair_client(card.name)
        else:
            self.client_actions.run_action(action, card)

    def _change_terms(self, terms: Terms) -> None:
        card = self._current_card()
        if card is not None:
            self.client_actions.change_terms(card.name, terms)

    def stop_all(self) -> None:
        """The kill switch, after asking."""
        awake = sum(card.standing is ClientState.AWAKE for card in self.cards)
        if awake:
            self.client_actions.stop_all(awake)
        else:
            self.context.desk.show_message(clients_strings()["nobody_awake"])

    def resume_all(self) -> None:
        """Let in again all that are paused, after asking."""
        paused = [card.name for card in self.cards if card.standing is ClientState.PAUSED]
        if paused:
            self.client_actions.resume_all(paused)
        else:
            self.context.desk.show_message(clients_strings()["nobody_paused"])

    # ---- pairing

    def pair_client(self, name: str | None = None) -> None:
        """Open pairing with a code; by a token where there is no socket to redeem a code on.

        Args:
            name: the name the client must get; None to take its own.
        """
        if self.context.pairing.port is None:
            self.context.desk.show_message(clients_strings()["pairing"]["no_port"])
            self.make_token(name or "")
            return
        if self.pairing is not None:
            self.pairing.close()
        dialog = PairDialog(self.context, self, name)
        self.pairing = dialog
        dialog.paired.connect(self._on_client_paired)
        dialog.token_asked.connect(lambda: self.make_token())
        dialog.grants_asked.connect(self._on_client_paired)
        dialog.grants_asked.connect(lambda _: self.panes.show_view(GRANTS))
        dialog.finished.connect(lambda _: self._on_dialog_closed(dialog))
        dialog.show()
        # Opened from the command palette, some desktops leave the keyboard with the main window.
        dialog.activateWindow()

    def _on_dialog_closed(self, dialog: QDialog) -> None:
        if self.pairing is dialog:
            self.pairing = None

    def make_token(self, name: str = "") -> None:
        """Make a client by hand, and show its token once.

        Args:
            name: to begin with.
        """
        dialog = TokenDialog(self.context, self, name)
        dialog.made.connect(self._on_client_paired)
        dialog.open()

    def _on_client_paired(self, name: str) -> None:
        self._client_to_select = name
        self.reload()


def client_commands(context: Context) -> tuple[Command, ...]:
    """What the command palette offers of clients, wherever the person is."""
    strings, go = clients_strings()["commands"], context.desk.go.emit
    return (
        Command("clients.pair", strings["pair"], lambda: go("clients", PAIR), icon="link",
                words="client assistant plugin connect code mcp token"),
        Command("clients.stop", strings["stop"], lambda: go("clients", STOP), icon="pause",
                words="kill switch pause clients assistants panic"),
        Command("clients.resume", strings["resume"], lambda: go("clients", RESUME), icon="play",
                words="clients assistants paused let in again"),
        Command("clients.nos", clients_strings()["nos"]["title"], lambda: go("clients", NOS), icon="circle-x",
                words="clients denied refused no ask again pair allow"),
    )  # fmt: skip


CLIENTS = PageSpec("clients", clients_strings, "bot", ClientsPage, on_request=True, badge=WaitingKind.PAIRINGS)
