"""What the person is warned of above the cards: the newcomer reads like an order. A shape and a word beside the colour.

Must not do: judge a text; the engine does.
"""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QFrame, QLabel

from ui.strings import review_strings
from ui.theme.theme import Theme
from ui.widgets.basics import column, label, row
from ui.widgets.plaintext import one_line

_ICON = 18
_CHARACTERS = 400


class WarningBanner(QFrame):
    """A triangle, a word, and what letting the memory in would mean; hidden where there is nothing to warn of."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("banner")
        self.setProperty("tone", "warning")
        self._theme, self._sign = theme, QLabel()
        self._title = label(review_strings()["warned"], "strong", wrap=True)
        self._words = label("", wrap=True)
        layout = row(self._sign, margins=12, gap=12, parent=self)
        layout.setAlignment(self._sign, Qt.AlignmentFlag.AlignTop)
        layout.addLayout(column(None, self._title, self._words, gap=2), 1)
        theme.changed.connect(self._restyle)
        self._restyle()
        self.hide()

    @property
    def sentence(self) -> str:
        """What is said; "" while it is hidden."""
        return "" if self.isHidden() else self._words.text()

    def _restyle(self) -> None:
        side = self._theme.px(_ICON)
        self._sign.setFixedSize(side, side)
        self._sign.setPixmap(self._theme.icon("triangle-alert", "warning").pixmap(QSize(side, side)))

    def say(self, sentence: str) -> None:
        """Say it.

        Args:
            sentence: from the engine; "" hides it.
        """
        self._words.setText(one_line(sentence, _CHARACTERS))
        self.setAccessibleName(f"{self._title.text()}. {self._words.text()}")
        self.setVisible(bool(sentence))
