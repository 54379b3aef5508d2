"""Boxes to tick: the grants with their sentences, and the spaces there are; of a client, or of one that is made.

Must not do: ask the engine, or grant anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QWidget

from core.types.values import Grant
from ui.pages.clients.common.words import SPACE, grant_sentence, grant_word, visible
from ui.strings import clients_strings
from ui.theme.theme import Theme
from ui.widgets.basics import FlowLayout, clear, column, label

_GLOBAL, _OWN = "GLOBAL", "client:"
_TICK, _BESIDE_TICK = 14, 10  # as the style sheet draws a box


class GrantBoxes(QWidget):
    """A box for every grant, with its sentence under it.

    Signals:
        changed: one was ticked or cleared, by hand or not.
    """

    changed = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.boxes: dict[str, QCheckBox] = {}
        layout = column(self, gap=2)
        for grant in Grant:
            word = grant_word(grant.value)
            box = QCheckBox(word[:1].upper() + word[1:])
            box.setAccessibleDescription(grant_sentence(grant.value))
            box.toggled.connect(lambda _: self.changed.emit())
            self.boxes[grant.value] = box
            sentence = label(grant_sentence(grant.value), "small", wrap=True)
            sentence.setContentsMargins(theme.px(_TICK) + _BESIDE_TICK, 0, 0, 8)
            layout.addWidget(box)
            layout.addWidget(sentence)

    @property
    def grants(self) -> tuple[str, ...]:
        """What is ticked, in the order of the grants."""
        return tuple(name for name, box in self.boxes.items() if box.isChecked())

    def show_grants(self, grants: Sequence[str]) -> None:
        """Tick these."""
        for name, box in self.boxes.items():
            box.setChecked(name in grants)


class SpaceBoxes(QWidget):
    """A box for every space but GLOBAL and the client's own.

    Attributes:
        boxes: by the name of the space.

    Signals:
        changed: one was ticked or cleared, by hand or not.
    """

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.boxes: dict[str, QCheckBox] = {}
        self._flow = FlowLayout(self, gap=14)

    def show_spaces(self, there: Iterable[str], granted: Sequence[str], client: str = "") -> None:
        """Show other spaces.

        Args:
            there: the names of all there are.
            granted: those to tick; one of them that is not there any more is shown too.
            client: whose own space is left out; "" for those of all clients.
        """
        own = f"{_OWN}{client}"
        named = (one for one in there if one != _GLOBAL and not (one == own if client else one.startswith(_OWN)))
        clear(self._flow)
        self.boxes = {}
        for name in sorted({*named, *granted}):
            box = QCheckBox(visible(name).replace("&", "&&"))
            box.setChecked(name in granted)
            box.toggled.connect(lambda _: self.changed.emit())
            self.boxes[name] = box
            self._flow.addWidget(box)
        if not self.boxes:
            self._flow.addWidget(label(clients_strings()["terms"]["no_spaces"], "muted"))

    @property
    def grants(self) -> tuple[str, ...]:
        """What is ticked, as grants: `space:work`."""
        return tuple(f"{SPACE}{name}" for name, box in self.boxes.items() if box.isChecked())

    def tick(self, grants: Sequence[str]) -> None:
        """Tick the spaces of these grants, and no other."""
        for name, box in self.boxes.items():
            box.setChecked(f"{SPACE}{name}" in grants)
