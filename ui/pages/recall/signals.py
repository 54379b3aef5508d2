"""The signals of a score: one colour and one pattern each, the stacked bar, the legend.

Colour is never alone: every signal has a pattern too. Must not do: work out a score.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPainterPath, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from ui.strings import recall_strings
from ui.theme.theme import Theme
from ui.widgets.basics import FlowLayout, make_label, make_row

SIDES = "sides"
"""The side signals taken together, where their shares are not known."""
TOKENS: Mapping[str, str] = {
    "relevance": "kind_fact",
    "confidence": "kind_episode",
    "recency": "kind_rule",
    "importance": "kind_procedure",
    "utility": "kind_digest",
    SIDES: "outline",
}
_PLAIN, _SLANTED, _UPRIGHT, _DOTTED, _CROSSED = range(5)
_PATTERNS: Mapping[str, int] = {
    "relevance": _PLAIN,
    "confidence": _SLANTED,
    "recency": _UPRIGHT,
    "importance": _DOTTED,
    "utility": _CROSSED,
    SIDES: _PLAIN,
}
_STEP = 5.0
_LEAST = 3.0
_SMALL = 1e-4


@dataclass(frozen=True, slots=True)
class BarPiece:
    """One piece of a bar.

    Attributes:
        signal: which.
        start: share of the whole bar, 0 to 1.
        end: likewise.
        is_lost: it was taken off the score: drawn open, behind the score.
    """

    signal: str
    start: float
    end: float
    is_lost: bool = False


def bar_pieces(parts: Mapping[str, float]) -> list[BarPiece]:
    """A score as pieces beside each other.

    Args:
        parts: signal to what it made of the score; they add up to it, and a weak signal's is negative.

    Returns:
        What made the score from the left, and behind it what weak signals took off; pieces end at 1.
    """
    score = max(0.0, min(1.0, sum(parts.values())))
    made: list[BarPiece] = []
    at = 0.0
    for signal, amount in parts.items():
        end = min(score, at + max(0.0, amount))
        if end - at > _SMALL:
            made.append(BarPiece(signal, at, end))
        at = max(at, end)
    for signal, amount in parts.items():
        if amount < -_SMALL and at < 1.0:
            made.append(BarPiece(signal, at, min(1.0, at - amount), is_lost=True))
            at = min(1.0, at - amount)
    return made


def draw_bar(painter: QPainter, theme: Theme, rect: QRectF, parts: Mapping[str, float]) -> None:
    """Draw the stacked bar of a score.

    Args:
        painter: with antialiasing set by the caller.
        rect: where; its whole width represents a score of 1.
        parts: as in `bar_pieces`.
    """
    outline = QPainterPath()
    outline.addRoundedRect(rect, rect.height() / 2, rect.height() / 2)
    painter.save()
    painter.setClipPath(outline, Qt.ClipOperation.IntersectClip)
    painter.fillRect(rect, theme.colour("hover"))
    at = rect.left()
    for piece in bar_pieces(parts):
        # A signal that counts at all is seen: a hair of it is drawn wider, and pushes the others on.
        wide = max(_LEAST, (piece.end - piece.start) * rect.width())
        place = QRectF(at, rect.top(), min(wide, rect.right() - at), rect.height())
        at = place.right()
        if piece.is_lost:
            _draw_lost(painter, theme.colour(TOKENS.get(piece.signal, "outline")), place)
        else:
            fill_pattern(painter, theme, place, piece.signal)
    painter.restore()


def _draw_lost(painter: QPainter, colour: QColor, place: QRectF) -> None:
    pen = QPen(colour, 1, Qt.PenStyle.DotLine)
    painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRect(place.adjusted(0.5, 0.5, -0.5, -0.5))


def fill_pattern(painter: QPainter, theme: Theme, place: QRectF, signal: str) -> None:
    """Fill a place with a signal's colour and pattern.

    Args:
        painter: with antialiasing set by the caller.
        signal: a key of `TOKENS`; another one is drawn as `sides`.
    """
    known = signal if signal in TOKENS else SIDES
    painter.fillRect(place, theme.colour(TOKENS[known]))
    painter.save()
    painter.setClipRect(place, Qt.ClipOperation.IntersectClip)
    ink = theme.colour("surface")
    ink.setAlphaF(0.55)
    _draw_pattern(painter, place, _PATTERNS[known], ink)
    painter.restore()


def _draw_pattern(painter: QPainter, place: QRectF, pattern: int, ink: QColor) -> None:
    painter.setPen(QPen(ink, 1.2))
    painter.setBrush(QBrush(ink))
    low, high, tall = place.top(), place.bottom(), place.height()
    steps = int((place.width() + tall) / _STEP) + 2
    for nr in range(steps):
        x = place.left() - tall + nr * _STEP
        if pattern in {_SLANTED, _CROSSED}:
            painter.drawLine(QPointF(x, high), QPointF(x + tall, low))
        if pattern == _CROSSED:
            painter.drawLine(QPointF(x, low), QPointF(x + tall, high))
        if pattern == _UPRIGHT:
            painter.drawLine(QPointF(x + tall + _STEP / 2, low), QPointF(x + tall + _STEP / 2, high))
        if pattern == _DOTTED:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.drawEllipse(QPointF(x + tall + _STEP / 2, place.center().y()), 1.3, 1.3)


def signal_title(signal: str) -> str:
    """A signal in words; its own name where it is a new one."""
    known = recall_strings()["signals"].get(signal)
    return str(known["title"]) if known else signal


def describe_bar(parts: Mapping[str, float]) -> str:
    """A bar for those who do not see it: `relevance 0.62, confidence 0.02`."""
    return ", ".join(f"{signal_title(signal).lower()} {amount:.2f}" for signal, amount in parts.items())


class SignalSwatch(QWidget):
    """A small piece of a bar."""

    def __init__(self, theme: Theme, signal: str) -> None:
        super().__init__()
        self._theme, self._signal = theme, signal
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self._restyle_swatch)

    def _restyle_swatch(self) -> None:
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Wide enough to tell its pattern."""
        return QSize(self._theme.px(16), self._theme.px(9))

    def paintEvent(self, _event: object) -> None:  # noqa: N802 - Qt's name
        """Paint the widget."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        path = QPainterPath()
        path.addRoundedRect(QRectF(self.rect()), 2, 2)
        painter.setClipPath(path)
        fill_pattern(painter, self._theme, QRectF(self.rect()), self._signal)


class SignalLegend(QWidget):
    """What the colours and patterns mean."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setAccessibleName(recall_strings()["legend"])
        flow = FlowLayout(self, gap=12)
        for signal in TOKENS:
            if signal == SIDES:
                continue
            entry = QWidget()
            strings = recall_strings()["signals"][signal]
            make_row(SignalSwatch(theme, signal), make_label(strings["title"], "small"), parent=entry, gap=6)
            entry.setToolTip(strings["hint"])
            entry.setAccessibleName(f"{strings['title']}: {strings['hint']}")
            flow.addWidget(entry)
