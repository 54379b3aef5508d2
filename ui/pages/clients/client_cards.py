"""The list of clients at the left: every client with its state, pairing, and the switch that stops them all.

Must not do: ask the engine, or do anything itself.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QWidget

from core.types.clients import ClientCard, ClientState
from ui.pages.clients.client_header import has_keyboard
from ui.pages.clients.client_rows import ClientRow, client_list
from ui.pages.clients.labels import client_state_name, describe_last_seen, format_grants, visible_name
from ui.strings import clients_strings, format_count
from ui.theme.theme import Theme
from ui.widgets.basics import make_button, make_column, make_label, make_row
from ui.widgets.labels import name_space
from ui.widgets.states import FOOT

_ORDER = (ClientState.AWAKE, ClientState.PAUSED, ClientState.ASLEEP, ClientState.UNPAIRED, ClientState.REVOKED)


def card_row(card: ClientCard, now_ms: int) -> ClientRow:
    """A client as a line of the list."""
    state = client_state_name(card.standing)
    return ClientRow(
        id=card.name,
        title=visible_name(card.name),
        note=f"{state[:1].upper()}{state[1:]} · {describe_last_seen(card, now_ms, briefly=True)}",
        more="" if card.standing is ClientState.REVOKED else _describe_grants(card),
        last=_count_done(card),
        standing=card.standing,
        aside=f"{card.waits:,} to review" if card.waits else "",
        is_struck=card.standing is ClientState.REVOKED,
        value=card,
    )


def _count_done(card: ClientCard) -> str:
    """What there is of it, and how often it was answered."""
    counts = (("did_stands", card.stands), ("did_answers", card.answers))
    return " · ".join(format_count(clients_strings()[form], count) for form, count in counts if count)


def _describe_grants(card: ClientCard) -> str:
    spaces = ", ".join(name_space(name) for name in card.spaces)
    return " · ".join(part for part in (format_grants(card.grants), spaces) if part)


def order_cards(cards: Sequence[ClientCard], order: Sequence[str] = ()) -> list[ClientCard]:
    """Sort clients: those with access first, the one seen last on top.

    Args:
        order: names that keep the order they have here; the others are sorted in between.
    """
    known = {card.name: card for card in cards}
    ordered = [known.pop(name) for name in order if name in known]
    for card in sorted(known.values(), key=_sort_key):
        behind = (at for at, one in enumerate(ordered) if _sort_key(one) > _sort_key(card))
        ordered.insert(next(behind, len(ordered)), card)
    return ordered


def _sort_key(card: ClientCard) -> tuple[int, int, str]:
    return _ORDER.index(card.standing), -(card.seen_at or 0), card.name


class CardsPanel(QFrame):
    """The list with what frames it.

    Attributes:
        list: the clients; a row's value is its `ClientCard`.

    Signals:
        pair_asked: the person wants to pair one.
        token_asked: the person wants a token.
        stop_asked: the person wants all stopped.
        resume_asked: the person wants all that are paused let in again.
    """

    pair_asked = Signal()
    token_asked = Signal()
    stop_asked = Signal()
    resume_asked = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        strings = clients_strings()
        self.setObjectName("queue")
        self.count = make_label("", "muted")
        self.pair = make_button(strings["pair"], self.pair_asked.emit, kind="primary", theme=theme, icon="link")
        self.token = make_button(strings["token"], self.token_asked.emit, kind="link", theme=theme, icon="key-round")
        self.stop = make_button(
            strings["deeds"]["stop"]["title"],
            self.stop_asked.emit,
            kind="danger",
            hint=strings["deeds"]["stop"]["hint"],
            theme=theme,
            icon="pause",
        )
        self.resume = make_button(
            strings["deeds"]["resume_all"]["title"],
            self.resume_asked.emit,
            hint=strings["deeds"]["resume_all"]["hint"],
            theme=theme,
            icon="play",
        )
        self.list = client_list(theme, strings["list"])
        self._order: list[str] = []
        layout = make_column(self, gap=10)
        layout.setContentsMargins(0, 16, 1, 0)
        header = make_column(None, gap=10)
        header.setContentsMargins(16, 0, 16, 2)
        header.addLayout(make_row(make_label(strings["title"], "title"), None, self.count))
        for button, hint in ((self.pair, strings["pair_hint"]), (self.token, strings["token_hint"])):
            button.setToolTip(hint)
            button.setAccessibleDescription(hint)
        header.addWidget(self.pair)
        header.addWidget(make_label(strings["pair_hint"], "small", wrap=True))
        header.addLayout(make_row(self.token, None))
        header.addWidget(make_label(strings["token_hint"], "small", wrap=True))
        layout.addLayout(header)
        layout.addWidget(self.list, 1)
        self._foot = make_column(None, self.resume, self.stop, gap=8)
        self._foot.setContentsMargins(16, 4, 16, 14)
        layout.addLayout(self._foot)
        for button in (self.resume, self.stop):
            button.setProperty(FOOT, True)  # noqa: FBT003 - Qt's name
            button.hide()

    def add_foot_link(self, link: QWidget) -> None:
        """Add a link at the foot.

        Args:
            link: it shows itself where there is a reason.
        """
        self._foot.insertWidget(0, link)

    def forget_order(self) -> None:
        """Sort the clients anew when they are next shown."""
        self._order = []

    def show_cards(self, cards: Sequence[ClientCard], now_ms: int, wanted: str) -> None:
        """Show the clients; who was shown before keeps its place, or a click would hit another one.

        Args:
            wanted: the name of the one to look at; "" for the one that is looked at.
        """
        awake, paused = (sum(card.standing is one for card in cards) for one in (ClientState.AWAKE, ClientState.PAUSED))
        self.count.setText(format_count(clients_strings()["count"], len(cards)))
        self._show_switch(stops=awake > 0, resumes=paused > 1 or (paused > 0 and not awake))
        shown = order_cards(cards, self._order)
        self._order = [card.name for card in shown]
        self.list.show_lines([card_row(card, now_ms) for card in shown], wanted=wanted)

    def _show_switch(self, *, stops: bool, resumes: bool) -> None:
        focused = next((button for button in (self.stop, self.resume) if has_keyboard(button)), None)
        self.stop.setVisible(stops)
        self.resume.setVisible(resumes)
        if focused is not None and focused.isHidden():
            other = self.resume if focused is self.stop else self.stop
            (self.list if other.isHidden() else other).setFocus()
