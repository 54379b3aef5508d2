"""How a pairing ended: paired with what it sees now, or not, and what can be done about it.

Must not do: open pairing, or lead anywhere itself; it tells what the person wants.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from core.types.clients import PairingEnd, PairingOutcome
from core.types.values import Grant
from ui.pages.clients.common.words import SPACE, names_told, visible
from ui.strings import clients_strings, format_count
from ui.widgets.basics import button, column, label, row

_FORMER, _TAKEN, _GOOD = PairingOutcome.DENIED_BEFORE, PairingOutcome.TAKEN, PairingOutcome.PAIRED


class EndView(QWidget):
    """The end.

    Signals:
        again: a new code is wanted.
        closed: the person is done here.
        grants_asked: the client's grants are to be looked at.
        looked_at: the client of that name is to be looked at.
    """

    again = Signal()
    closed = Signal()
    grants_asked = Signal(str)
    looked_at = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._name = ""
        self.title, self.told = label("", "title", wrap=True), label("", wrap=True)
        self.only, self.fresh = (
            button("", self.again.emit),
            button(clients_strings()["pairing"]["fresh"], self.again.emit),
        )
        self.grants = button("", lambda: self.grants_asked.emit(self._name))
        self.look = button("", lambda: self.looked_at.emit(self._name))
        self.close_button = button(clients_strings()["close"], self.closed.emit, kind="primary")
        box = column(self, self.title, self.told, gap=12)
        box.addStretch(1)
        box.addLayout(row(None, self.only, self.look, self.fresh, self.grants, self.close_button))

    def show_end(self, ended: PairingEnd) -> None:
        """Show it.

        Args:
            ended: how.
        """
        said, outcome = clients_strings()["pairing"], ended.outcome
        name, is_good = visible(ended.name), outcome is _GOOD
        self._name = ended.name
        told = said["ends"][outcome.value].format(name=name)
        if outcome is PairingOutcome.EXPIRED and ended.missed:
            told = format_count(said["ends_missed"], ended.missed)
        self._say(said["titles"]["paired" if is_good else "not"], f"{told} {sees_told(ended.grants)}".strip())
        self.only.setText(said["only"].format(name=name).replace("&", "&&"))
        self.look.setText(said["look_at"].format(name=name).replace("&", "&&"))
        self.grants.setText(said["grants_none" if _spaces(ended.grants) == "none" else "grants"])
        shown = {self.only: outcome is _FORMER, self.look: outcome is _TAKEN, self.grants: is_good}
        for made, is_shown in {**shown, self.fresh: not is_good and outcome is not _FORMER}.items():
            made.setVisible(is_shown)
            made.setAccessibleName(made.text().replace("&&", "&"))

    def show_trouble(self, sentence: str) -> None:
        """Show why there is no code.

        Args:
            sentence: why.
        """
        self._say(clients_strings()["pairing"]["titles"]["not"], sentence)
        for made in (self.only, self.look, self.grants):
            made.hide()
        self.fresh.show()

    def _say(self, title: str, told: str) -> None:
        for part, text in ((self.title, title), (self.told, told)):
            part.setText(text)
            part.setAccessibleName(text)


def _spaces(grants: Sequence[str]) -> str:
    if Grant.READ.value not in grants:
        return "blind"
    if Grant.ALL_SPACES.value in grants:
        return "all"
    return "some" if any(one.startswith(SPACE) for one in grants) else "none"


def sees_told(grants: Sequence[str]) -> str:
    """What a client sees now of the person's spaces, in a sentence.

    Args:
        grants: what it got; nothing where it got none.
    """
    if not grants:
        return ""
    spaces = names_told([one.removeprefix(SPACE) for one in grants if one.startswith(SPACE)])
    return str(clients_strings()["pairing"]["sees_now"][_spaces(grants)]).format(spaces=spaces)
