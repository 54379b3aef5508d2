"""How hard a passphrase is to guess: four bars, a word and a sentence.

Must not do: keep the passphrase.
"""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QSizePolicy, QWidget

from ui.bridge import passphrase_strength
from ui.theme.theme import Theme
from ui.widgets.basics import column, label, row

_BARS = 4
_WORDS = ("Very weak", "Weak", "Fair", "Strong", "Very strong")
_TOKENS = ("danger", "danger", "warning", "success", "success")
ADVICE = "Four or five unrelated words are easy to keep in mind and hard to guess."


class _Bars(QWidget):
    """Bars that fill from the left."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._filled, self._token = 0, "line"
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Low and wide."""
        return QSize(self._theme.px(160), self._theme.px(6))

    def fill(self, filled: int, token: str) -> None:
        """Fill some of them."""
        self._filled, self._token = filled, token
        self.update()

    def paintEvent(self, _event: object) -> None:  # noqa: N802 - Qt's name
        """Draw them."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        gap = self._theme.px(4)
        width = (self.width() - gap * (_BARS - 1)) / _BARS
        for nr in range(_BARS):
            painter.setBrush(self._theme.colour(self._token if nr < self._filled else "line"))
            painter.drawRoundedRect(QRectF(nr * (width + gap), 0, width, self.height()), 2, 2)


class StrengthMeter(QWidget):
    """The estimate for what is typed so far.

    Attributes:
        score: 0 to 4; -1 while nothing is typed.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.score = -1
        self._bars = _Bars(theme)
        self._word = label("", "strong")
        self._word.setMinimumWidth(theme.px(80))
        self._word.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._sentence = label(ADVICE, "small", wrap=True)
        self._sentence.setAlignment(Qt.AlignmentFlag.AlignTop)
        layout = column(self, gap=4)
        line = row(self._bars, self._word, gap=12)
        line.setStretch(0, 1)
        layout.addLayout(line)
        layout.addWidget(self._sentence)
        self._sentence.setMinimumHeight(2 * self._sentence.fontMetrics().lineSpacing() + 4)
        self.rate("")

    @property
    def words(self) -> str:
        """What is said."""
        return f"{self._word.text()}. {self._sentence.text()}".removeprefix(". ")

    def rate(self, typed: str) -> None:
        """Rate a passphrase.

        Args:
            typed: as typed so far.
        """
        if not typed:
            self.score = -1
            self._bars.fill(0, "line")
            self._word.setText("")
            self._sentence.setText(ADVICE)
        else:
            found = passphrase_strength(typed)
            self.score = found.score
            self._bars.fill(max(1, found.score), _TOKENS[found.score])
            self._word.setText(_WORDS[found.score])
            self._sentence.setText(found.sentence)
        self.setAccessibleName(f"Strength: {self.words}")
