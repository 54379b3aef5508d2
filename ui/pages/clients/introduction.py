"""What stands in place of the clients where there are none: what a client is, how one comes in, what cannot be guarded.

Must not do: ask the engine, or pair anybody.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QPushButton, QWidget

from core.config.grant_wording import describe_limits_of_grants
from ui.pages.clients.cards import CardsPanel
from ui.strings import clients_strings
from ui.theme.theme import Theme
from ui.widgets.basics import column, label, row
from ui.widgets.states import EmptyState, States

_WIDE = 560


class Introduction(QObject):
    """Shows it and takes it away; the quiet link at the foot of the list goes with it and comes back."""

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
            theme: the theme.
            states: shows it in place of the clients.
            cards: where the link stands otherwise.
            link: it shows itself where there is a reason.
            *actions: titles and what they do; the first is the main one.
        """
        super().__init__(states)
        self._theme, self._states, self._cards, self._link, self._actions = theme, states, cards, link, actions
        self._is_shown = False
        cards.hold(link)
        theme.changed.connect(self._anew)

    def begin(self) -> None:
        """Show it; where it stands already it stays, since the keyboard may be in it."""
        if self._is_shown:
            return
        self._is_shown = True
        made, said = QWidget(), clients_strings()["empty"]
        teaching = EmptyState(self._theme, "bot", said["title"], said["sentence"], *self._actions)
        caution = label(describe_limits_of_grants(), "small", wrap=True)
        caution.setFixedWidth(self._theme.px(_WIDE))
        box = column(made, teaching, margins=16)
        box.setStretch(0, 1)
        box.addLayout(row(None, self._link, None))
        box.addLayout(row(None, caution, None))
        self._states.empty(made)

    def end(self) -> None:
        """There are clients: before it goes, the link is taken out of it."""
        if self._is_shown:
            self._is_shown = False
            self._cards.hold(self._link)

    def _anew(self) -> None:
        """It is as wide as the text is large."""
        if self._is_shown:
            self.end()
            self.begin()
