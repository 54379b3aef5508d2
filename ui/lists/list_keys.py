"""The keys of a list: which of them act on what is chosen, and whose the others are.

Must not do: act.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QKeySequence

OPEN = "open"
"""The act of Enter."""
ENTER: Mapping[int, str] = {Qt.Key.Key_Return: OPEN, Qt.Key.Key_Enter: OPEN}
_MOVES = frozenset(
    {Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown, Qt.Key.Key_Home, Qt.Key.Key_End}
)


@dataclass(frozen=True, slots=True)
class ListKeys:
    """What keys do in a list.

    Attributes:
        acts: key to act, without a modifier.
        shifted: likewise with Shift.
        lets_go: whether Esc lets go of what is chosen.
        moves_only: whether only moving and choosing are the list's; the page has the other keys.
        searches: whether letters go to the next row that begins with them.
    """

    acts: Mapping[int, str] = field(default_factory=lambda: ENTER)
    shifted: Mapping[int, str] = field(default_factory=dict)
    lets_go: bool = False
    moves_only: bool = False
    searches: bool = True

    def act_of(self, event: QKeyEvent) -> str:
        """The act of a key; "" for none."""
        held = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if held == Qt.KeyboardModifier.NoModifier:
            return self.acts.get(event.key(), "")
        return self.shifted.get(event.key(), "") if held == Qt.KeyboardModifier.ShiftModifier else ""

    def moves(self, event: QKeyEvent) -> bool:
        """Whether a key moves, or chooses everything."""
        return event.key() in _MOVES or event.matches(QKeySequence.StandardKey.SelectAll)
