"""The trust of a memory, drawn term by term: what each adds or takes off, from where to where, and the table of it.

A gain is a filled bar that points to the right, a loss an open one that points to the left and is hatched: colour is
never alone. Must not do: work out a term.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QHeaderView, QLabel, QSizePolicy, QTableWidget, QTableWidgetItem, QWidget

from ui.inspector.belief.belief_words import TermTold, level, score
from ui.strings import belief_strings
from ui.theme.theme import Theme
from ui.widgets.basics import clear, column, hairline, label, row

BASE, GAIN, LOSS, SUM = "base", "gain", "loss", "sum"
_HIGH, _TIP = 8.0, 4.0
_LEAST = 5.0
_COLUMNS = ("Term", "Change", "Sum")


def shape_of(term: TermTold) -> str:
    """By what shape a term is drawn: `base`, `gain` or `loss`."""
    if term.name == "source":
        return BASE
    return GAIN if term.after >= term.before else LOSS


def bar_path(shape: str, left: float, right: float, height: float) -> QPainterPath:
    """The outline of a bar.

    Args:
        shape: `base`, `gain`, `loss` or `sum`.
        left: where it begins, pixels.
        right: where it ends, pixels.
        height: pixels.

    Returns:
        A bar with round ends; a gain ends in a tip on the right, a loss in one on the left.
    """
    right = max(right, left + _LEAST)
    tip = min(_TIP, right - left)
    path = QPainterPath()
    if shape == GAIN:
        corners = ((left, 0.0), (right - tip, 0.0), (right, height / 2), (right - tip, height), (left, height))
    elif shape == LOSS:
        corners = ((right, 0.0), (left + tip, 0.0), (left, height / 2), (left + tip, height), (right, height))
    else:
        path.addRoundedRect(QRectF(left, 0, right - left, height), 2, 2)
        return path
    path.moveTo(*corners[0])
    for corner in corners[1:]:
        path.lineTo(*corner)
    path.closeSubpath()
    return path


class Bar(QWidget):
    """One bar on the axis from 0 to 1 (a little beyond, where the sum was larger for a while)."""

    def __init__(self, theme: Theme, shape: str, before: float, after: float, most: float = 1.0) -> None:
        """Make it.

        Args:
            theme: the theme.
            shape: `base`, `gain`, `loss` or `sum`.
            before: the sum before the term.
            after: the one behind it.
            most: the end of the axis, 1 or more.
        """
        super().__init__()
        self.shape_name = shape
        self._theme, self._before, self._after, self._most = theme, before, after, max(1.0, most)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """As high as a bar."""
        return QSize(80, self._theme.px(_HIGH) + 2)

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw the axis and the bar."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        theme, high, wide = self._theme, self.height() - 2.0, self.width() - 2.0
        left, right = (1 + wide * at / self._most for at in sorted((self._before, self._after)))
        painter.translate(0, 1)
        painter.setPen(QPen(theme.colour("line"), 1))
        painter.drawLine(QPointF(1, high / 2), QPointF(1 + wide, high / 2))
        if self._most > 1:  # where trust ends
            painter.setPen(QPen(theme.colour("outline"), 1))
            painter.drawLine(QPointF(1 + wide / self._most, 0), QPointF(1 + wide / self._most, high))
        path = bar_path(self.shape_name, left, right, high)
        if self.shape_name == LOSS:
            painter.fillPath(path, theme.colour("surface"))
            painter.fillPath(path, QBrush(theme.colour("warning"), Qt.BrushStyle.BDiagPattern))
            painter.setPen(QPen(theme.colour("warning"), 1))
            painter.drawPath(path)
        else:
            tones = {BASE: "outline", GAIN: "accent"}
            trust = QColor(theme.tokens.trust_colour(self._after))
            painter.fillPath(path, trust if self.shape_name == SUM else theme.colour(tones[self.shape_name]))
        painter.end()


class Figure(QLabel):
    """A number in figures of equal width, at the right end of its line."""

    def __init__(self, theme: Theme, text: str, role: str = "body") -> None:
        super().__init__(text)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setProperty("role", role)
        self.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop)
        self._theme = theme
        theme.changed.connect(self._restyle)
        self._restyle()

    def _restyle(self) -> None:
        self.setFont(self._theme.font("number"))
        self.setMinimumWidth(self._theme.px(44))


class Waterfall(QWidget):
    """The terms below each other, and what they come to."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._inner = column(self, gap=8)

    def show_terms(self, terms: Sequence[TermTold], trust: float) -> None:
        """Draw them.

        Args:
            terms: in the order in which they are added.
            trust: what they come to, 0 to 1.
        """
        clear(self._inner)
        most = max([1.0, *(term.after for term in terms), *(term.before for term in terms)])
        for term in terms:
            bar = None if term.is_idle else Bar(self._theme, shape_of(term), term.before, term.after, most)
            self._inner.addWidget(self._line(term.sentence, term.figure, term.why, bar, "small"))
        self._inner.addWidget(hairline())
        bar = Bar(self._theme, SUM, 0.0, trust, most)
        self._inner.addWidget(self._line(level(trust), score(trust), belief_strings()["why"]["trust"], bar, "strong"))
        names = "; ".join(f"{term.sentence}: {term.figure}" for term in terms)
        self.setAccessibleName(f"Trust {score(trust)}. {names}")

    def _line(self, sentence: str, figure: str, why: str, bar: Bar | None, role: str) -> QWidget:
        made = QWidget()
        made.setAccessibleName(f"{sentence}: {figure}")
        made.setToolTip(why)
        quiet = role if bar is not None and role == "strong" else "small" if bar is None else "body"
        said = label(sentence, quiet, wrap=True)
        top = row(said, Figure(self._theme, figure, quiet), gap=12)
        top.setStretch(0, 1)
        layout = column(made, gap=3)
        layout.addLayout(top)
        if bar is not None:
            layout.addWidget(bar)
        return made


class TermTable(QTableWidget):
    """The same as a table, for those who hear it or want the exact sums."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(0, len(_COLUMNS))
        self._theme = theme
        self.setAccessibleName("The terms of the trust as a table")
        self.setHorizontalHeaderLabels(list(_COLUMNS))
        self.verticalHeader().hide()
        self.setEditTriggers(QTableWidget.EditTrigger.NoEditTriggers)
        self.setSelectionBehavior(QTableWidget.SelectionBehavior.SelectRows)
        self.setTabKeyNavigation(False)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        theme.changed.connect(self._measure)

    def show_terms(self, terms: Sequence[TermTold], trust: float) -> None:
        """Fill it.

        Args:
            terms: in the order in which they are added.
            trust: what they come to, 0 to 1.
        """
        names = belief_strings()["terms"]
        lines = [(term.title, term.figure, score(term.after), term.sentence) for term in terms]
        lines.append((names["trust"], "", score(trust), level(trust)))
        self.setRowCount(len(lines))
        for nr, (*cells, sentence) in enumerate(lines):
            for at, text in enumerate(cells):
                cell = QTableWidgetItem(text)
                cell.setFont(self._theme.font("number" if at else "body"))
                cell.setToolTip(sentence)
                cell.setData(Qt.ItemDataRole.AccessibleTextRole, f"{text}, {sentence}" if at == 0 else text)
                if at:
                    cell.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
                self.setItem(nr, at, cell)
        self._measure()

    def _measure(self) -> None:
        high = self._theme.px(26)
        for nr in range(self.rowCount()):
            self.setRowHeight(nr, high)
        self.setFixedHeight(high * self.rowCount() + self.horizontalHeader().sizeHint().height() + 4)
