"""Everything about one place of the answer: each signal with its value, each list with its rank, the sentences.

Must not do: work out a number; what is shown is what ranked.
"""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QBoxLayout, QFrame, QGridLayout, QLabel, QWidget

from ui.pages.recall.answer.lines import Row
from ui.pages.recall.signals import SIDES, Swatch, signal_title
from ui.pages.recall.words import list_title, ordinal, reason
from ui.strings import recall_strings
from ui.theme.theme import Theme
from ui.widgets.basics import column, label

_LEFT, _NARROW = 80, 640


class DetailsView(QFrame):
    """Signals, lists, sentences."""

    def __init__(self, theme: Theme, shown: Row) -> None:
        """Make it.

        Args:
            theme: the theme.
            shown: which row.
        """
        super().__init__()
        self._theme = theme
        said = recall_strings()["details"]
        self.setAccessibleName("; ".join(self.told(shown)))
        layout = column(self, gap=12)
        layout.setContentsMargins(theme.px(_LEFT), 2, theme.px(16), 16)
        self._tables = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._tables.setSpacing(40)
        lists, signals = _lists(shown), self._signals(shown)
        if signals:
            self._tables.addWidget(_table(said["signals"], signals), 0, Qt.AlignmentFlag.AlignTop)
        if lists:
            self._tables.addWidget(_table(said["lists"], lists, said["raw"]), 0, Qt.AlignmentFlag.AlignTop)
        else:
            layout.addWidget(label(said["none"], "muted", wrap=True))
        self._tables.addStretch(1)
        layout.addLayout(self._tables)
        sentences = _sentences(shown)
        if sentences:
            told = [label(sentence, "muted", wrap=True) for sentence in sentences]
            layout.addLayout(column(None, label(said["why"], "label"), *told, gap=4))

    def height_at(self, width: int) -> int:
        """Stand below each other where there is little room, and say how high that is.

        Args:
            width: pixels there are.

        Returns:
            Pixels of height.
        """
        ways, layout = QBoxLayout.Direction, self.layout()
        is_narrow = width < self._theme.px(_NARROW)
        self._tables.setDirection(ways.TopToBottom if is_narrow else ways.LeftToRight)
        self._tables.setSpacing(12 if is_narrow else 40)
        for part in self.findChildren(QWidget):
            part.ensurePolished()  # or their fonts, and with them their heights, are not known yet
        if layout is None:
            return 0
        layout.invalidate()
        return max(layout.totalHeightForWidth(width), layout.totalSizeHint().height())

    def _signals(self, shown: Row) -> list[tuple[QWidget | None, str, str, str]]:
        said, found = recall_strings()["details"], shown.candidate
        made: list[tuple[QWidget | None, str, str, str]] = []
        for signal, value in _values(shown).items():
            made.append((Swatch(self._theme, signal), signal_title(signal), f"{value:.3f}", _part(shown.parts, signal)))
        if found is not None:
            made.append((None, said["factor"], f"× {found.factor:.3f}", ""))
            made.append((None, said["score"], f"{found.score:.3f}", ""))
            made.append((None, said["evidence"], f"{found.evidence:.3f}", ""))
            if found.diversity is not None:
                made.append((None, said["likeness"], f"{found.diversity:.3f}", ""))
        return made

    @staticmethod
    def told(shown: Row) -> list[str]:
        """All of it, for those who do not see it.

        Args:
            shown: which row.
        """
        signals = [f"{signal_title(signal)} {value:.3f}" for signal, value in _values(shown).items()]
        lists = [f"{title} {rank}, {recall_strings()['details']['raw']} {raw}" for _, title, rank, raw in _lists(shown)]
        return [*signals, *lists, *_sentences(shown)]


def _values(shown: Row) -> Mapping[str, float]:
    if shown.item is not None:
        return shown.item.signals
    found = shown.candidate
    return {} if found is None else {"relevance": found.relevance, **found.signals}


def _part(parts: Mapping[str, float], signal: str) -> str:
    """What a signal made of the score; "" where that is not known by itself."""
    if SIDES in parts and signal != "relevance":
        return ""
    return f"{parts[signal]:+.3f}" if signal in parts else ""


def _lists(shown: Row) -> list[tuple[QWidget | None, str, str, str]]:
    found = shown.item.lists if shown.item is not None else shown.candidate.lists if shown.candidate is not None else {}
    ranked = sorted(found.items(), key=lambda pair: pair[1][0])
    return [(None, list_title(name), ordinal(rank), f"{raw:.3f}") for name, (rank, raw) in ranked]


def _sentences(shown: Row) -> list[str]:
    dropped = shown.candidate.dropped if shown.candidate is not None else None
    item = shown.item
    dropped = item.dropped if item is not None and item.dropped is not None else dropped
    first = [] if dropped is None else [reason(dropped)["long"]]
    return [*first, *(item.why if item is not None else ())]


def _table(title: str, rows: list[tuple[QWidget | None, str, str, str]], last: str = "") -> QWidget:
    """A small table: a mark, what it is, its value, one more number."""
    made = QWidget()
    grid = QGridLayout(made)
    grid.setContentsMargins(0, 0, 0, 0)
    grid.setHorizontalSpacing(12)
    grid.setVerticalSpacing(3)
    grid.addWidget(label(title, "label"), 0, 0, 1, 3)
    if last:
        grid.addWidget(label(last, "small"), 0, 3, Qt.AlignmentFlag.AlignRight)
    for at, (mark, words_shown, value, more) in enumerate(rows, 1):
        if mark is not None:
            grid.addWidget(mark, at, 0, _MIDDLE)
        grid.addWidget(label(words_shown), at, 0 if mark is None else 1, 1, 2 if mark is None else 1)
        grid.addWidget(_number(value), at, 2)
        grid.addWidget(_number(more, "muted"), at, 3)
    return made


def _number(text: str, role: str = "body") -> QLabel:
    made = label(text, role)
    made.setAlignment(Qt.AlignmentFlag.AlignRight | _MIDDLE)
    return made


_MIDDLE = Qt.AlignmentFlag.AlignVCenter
