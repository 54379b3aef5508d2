"""The Clients page: who may come in, what each did, was given and would see; pairing, pausing, taking back.

Must not do: know another page, or hold a token.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QDialog

from core.events import Changed
from core.types.clients import ClientCard, Standing, Terms
from ui.context import Command, Context, Page, PageSpec
from ui.pages.clients.actions import ClientActions
from ui.pages.clients.common.lines import Row
from ui.pages.clients.introduction import Introduction
from ui.pages.clients.pairing.denied_names import DeniedNames
from ui.pages.clients.pairing.pairing import PairDialog
from ui.pages.clients.pairing.tokens import TokenDialog
from ui.pages.clients.panes import ACTIVITY, GRANTS, RECEIPTS, Panes
from ui.strings import clients_strings
from ui.tasks import problem_of, query
from ui.widgets.basics import column
from ui.widgets.states import States

PAIR, TOKEN, STOP, RESUME, NOS = "pair", "token", "stop", "resume", "nos"
_REFRESH_MS = 300
_LIVE_MS = 5_000  # that a client came or was refused changes no memory: no event tells of it
_LEADS = {"stands": "library", "waits": "review", "answers": RECEIPTS, "refusals": ACTIVITY}


class ClientsPage(Page):
    """The page."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._is_shown = self._is_read = self._wants_focus = False
        self._wished, self._wanted = "", ""
        self.cards: tuple[ClientCard, ...] = ()
        self.pairing: PairDialog | None = None
        self.deeds, self.nos = ClientActions(context, self), DeniedNames(context, self)
        self.stand = Panes(context)
        self.states = States(context.theme, self.stand, clients_strings()["reading"])
        column(self, self.states)
        self.stand.build()
        said, cards = clients_strings(), self.stand.cards
        actions = ((said["pair"], lambda: self.pair()), (said["token"], lambda: self.make_token()))
        self.teaching = Introduction(context.theme, self.states, cards, self.nos.link, *actions)
        self._refresh = QTimer(self)
        self._refresh.setSingleShot(True)
        self._refresh.setInterval(_REFRESH_MS)
        self._refresh.timeout.connect(self._renew)
        self._live = QTimer(self)
        self._live.setInterval(_LIVE_MS)
        self._live.timeout.connect(self.read)
        self._connect()

    def _connect(self) -> None:
        stand = self.stand
        stand.cards.list.looked_at.connect(self._look)
        stand.cards.pair_asked.connect(lambda: self.pair())
        stand.cards.token_asked.connect(lambda: self.make_token())
        stand.cards.stop_asked.connect(self.stop_all)
        stand.cards.resume_asked.connect(self.resume_all)
        stand.head.deed.connect(self._do)
        stand.head.led.connect(self._lead)
        stand.applied.connect(self._regrant)
        self.deeds.done.connect(self._renew)
        self.deeds.granted.connect(stand.accept)

    # ---- the page's life

    def enter(self, wish: str = "") -> None:
        """Show it.

        Args:
            wish: `pair`, `token`, `stop`, `resume` or `nos` to begin that; the name of a client after `client:`; ""
                for none.
        """
        self._is_shown = self._wants_focus = True
        self._wished = wish.removeprefix("ask:")
        self.stand.cards.sort_anew()
        self.stand.tab.enter()
        self._live.start()
        self.read()

    def leave(self) -> None:
        """Another page is shown: nothing runs here any more."""
        self._is_shown = False
        self._refresh.stop()
        self._live.stop()
        self.stand.tab.leave()

    def is_settled(self) -> bool:
        """Whether it shows all it is about to show."""
        shows = self.states.currentWidget() is not self.stand or self.stand.tab.is_settled
        return self._is_read and shows and not self._refresh.isActive()

    def changed(self, change: Changed) -> None:
        """Whatever changed may be a client's doing: read again, a few times a second at most."""
        super().changed(change)
        if self._is_shown and not self._refresh.isActive():
            self._refresh.start()

    # ---- reading

    def read(self) -> None:
        """Read all clients as they stand."""
        self.is_stale = False
        if not self._is_read:
            self.states.loading()
        clients = self.context.bridge.engine.clients
        asked = query(clients_strings()["reading"], clients.cards).within(self, "cards")
        self.context.tasks.run(asked.success(self._show).failure(self._fail))
        self.nos.read()

    def _renew(self) -> None:
        """Something changed: all clients, and what is shown of the one that is looked at."""
        self.read()
        self.stand.tab.changed()

    def _show(self, cards: Sequence[ClientCard]) -> None:
        self._is_read = True
        self.cards = tuple(cards)
        if not cards:
            self.teaching.begin()
        else:
            self.teaching.end()
            self.states.content()
            wanted, self._wanted = self._wanted or self._named(), ""
            self.stand.cards.show_cards(cards, self.context.clock.now_ms(), wanted)
            self._show_card(self._card())
        self._fulfil()
        if self._wants_focus:
            self._wants_focus = False
            self.stand.take_focus(self)

    def _named(self) -> str:
        """The client a wish names."""
        return self._wished.removeprefix("client:") if self._wished.startswith("client:") else ""

    def _card(self) -> ClientCard | None:
        current = self.stand.cards.list.current
        return None if current is None else next((one for one in self.cards if one.name == current.id), None)

    def _fail(self, error: BaseException) -> None:
        problem = problem_of(error)
        if problem is None:
            return
        if self._is_read:
            self.context.desk.say(problem.sentence, "Try again", self.read)
        else:
            self._is_read = True
            self.states.trouble(problem, self.read)

    def _fulfil(self) -> None:
        """Begin what the page was entered for."""
        wish, self._wished = self._wished, ""
        if wish == PAIR:
            self.pair()
        elif wish == TOKEN:
            self.make_token()
        elif wish == STOP:
            self.stop_all()
        elif wish == RESUME:
            self.resume_all()
        elif wish == NOS:
            self.nos.open()

    # ---- one client

    def _look(self, shown: Row | None) -> None:
        self._show_card(None if shown is None else self._card())

    def _show_card(self, card: ClientCard | None) -> None:
        if card is not None:
            self.stand.head.show_card(card, self.context.clock.now_ms())
        self.stand.show_client(card)

    def _lead(self, figure: str) -> None:
        """A figure was pressed: on to what it counts."""
        card, place = self._card(), _LEADS[figure]
        if card is None:
            return
        if place == "library":
            self.context.desk.search.emit(f'client:"{card.name}"')
        elif place == "review":
            self.context.desk.go.emit("review", "")
        else:
            self.stand.show_view(place)

    def _do(self, deed: str) -> None:
        card = self._card()
        if card is None:
            return
        if deed == "again":
            self.pair(card.name)
        else:
            self.deeds.do(deed, card)

    def _regrant(self, terms: Terms) -> None:
        card = self._card()
        if card is not None:
            self.deeds.regrant(card.name, terms)

    def stop_all(self) -> None:
        """The kill switch, after asking."""
        awake = sum(card.standing is Standing.AWAKE for card in self.cards)
        if awake:
            self.deeds.stop_all(awake)
        else:
            self.context.desk.say(clients_strings()["nobody_awake"])

    def resume_all(self) -> None:
        """Let in again all that are paused, after asking."""
        paused = [card.name for card in self.cards if card.standing is Standing.PAUSED]
        if paused:
            self.deeds.resume_all(paused)
        else:
            self.context.desk.say(clients_strings()["nobody_paused"])

    # ---- pairing

    def pair(self, name: str | None = None) -> None:
        """Open pairing with a code; by a token where there is no socket to redeem a code on.

        Args:
            name: the name the client must get; None to take its own.
        """
        if self.context.pairing.port is None:
            self.context.desk.say(clients_strings()["pairing"]["no_port"])
            self.make_token(name or "")
            return
        if self.pairing is not None:
            self.pairing.close()
        made = PairDialog(self.context, self, name)
        self.pairing = made
        made.paired.connect(self._paired)
        made.token_asked.connect(lambda: self.make_token())
        made.grants_asked.connect(self._paired)
        made.grants_asked.connect(lambda _: self.stand.show_view(GRANTS))
        made.finished.connect(lambda _: self._closed(made))
        made.show()
        made.activateWindow()  # opened from the command palette, some desktops leave the keyboard with the main window

    def _closed(self, dialog: QDialog) -> None:
        if self.pairing is dialog:
            self.pairing = None

    def make_token(self, name: str = "") -> None:
        """Make a client by hand, and show its token once.

        Args:
            name: to begin with.
        """
        made = TokenDialog(self.context, self, name)
        made.made.connect(self._paired)
        made.open()

    def _paired(self, name: str) -> None:
        self._wanted = name
        self.read()


def _asking(context: Context) -> Future[int]:
    """How many wait to be paired; it is known, so nobody is asked."""
    made: Future[int] = Future()
    made.set_result(int(context.pairing.question is not None))
    return made


def client_commands(context: Context) -> tuple[Command, ...]:
    """What the command palette offers of clients, wherever the person is."""
    said, go = clients_strings()["commands"], context.desk.go.emit
    return (
        Command("clients.pair", said["pair"], lambda: go("clients", PAIR), icon="link",
                words="client assistant plugin connect code mcp token"),
        Command("clients.stop", said["stop"], lambda: go("clients", STOP), icon="pause",
                words="kill switch pause clients assistants panic"),
        Command("clients.resume", said["resume"], lambda: go("clients", RESUME), icon="play",
                words="clients assistants paused let in again"),
        Command("clients.nos", clients_strings()["nos"]["title"], lambda: go("clients", NOS), icon="circle-x",
                words="clients denied refused no ask again pair allow"),
    )  # fmt: skip


CLIENTS = PageSpec(
    "clients",
    "Clients",
    "bot",
    ClientsPage,
    "assistants plugins pair grants revoke pause receipts activity kill switch mcp",
    on_request=True,
    badge=_asking,
)
