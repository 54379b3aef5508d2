"""The hint that another name may be the same: one sentence, and the way to merging.

Must not do: merge, or ask the engine.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame

from core.types.entities import EntityCard, EntityLine
from ui.pages.entities.words import alike_words
from ui.strings import entities_strings
from ui.theme.theme import Theme
from ui.widgets.basics import Elided, button, row

_BESIDE = 480


class AlikeHint(QFrame):
    """The hint.

    Signals:
        merge_asked: id of the one to look at merging with first.
    """

    merge_asked = Signal(str)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme, self._first = theme, ""
        self.setObjectName("panel")
        self.told = Elided("", "body")
        self.act = button(entities_strings()["alike"]["act"], self._ask, theme=theme, icon="git-merge")
        self._box = row(self.told, self.act, parent=self, gap=8)
        self._box.setContentsMargins(12, 8, 12, 8)
        self._box.setStretch(0, 1)
        self.hide()

    def show_alike(self, card: EntityCard, found: Sequence[EntityLine]) -> None:
        """Show those that may be the same.

        Args:
            card: the entity that is looked at.
            found: the others; none hides the hint.
        """
        self.setVisible(bool(found))
        if found:
            self._first = found[0].id
            self.told.say(alike_words(card, found))
            self.act.setAccessibleDescription(self.told.whole)

    def _ask(self) -> None:
        self.merge_asked.emit(self._first)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Where it is narrow the button stands under the sentence."""
        super().resizeEvent(event)
        is_wide = self.width() >= self._theme.px(_BESIDE)
        self._box.setDirection(QBoxLayout.Direction.LeftToRight if is_wide else QBoxLayout.Direction.TopToBottom)
