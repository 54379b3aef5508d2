"""A memory's text to be read, with places of it marked.

Hidden characters are shown as a bordered mark; a copy is the original. Must not do: interpret or change a text, or
keep the keyboard from the page.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCharFormat

from ui.theme.theme import Theme
from ui.theme.tokens import FontRole
from ui.widgets.plaintext import FittedText, split_marks

MOST = 20_000
"""Characters shown of one memory; what lies behind is in the inspector."""

Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Stretch:
    """Characters that are drawn alike.

    Attributes:
        displayed_text: what is in the view; original: what it represents.
        is_odd: it is at odds with the other text.
        name: what a mark represents; "" where it is none.
    """

    displayed_text: str
    original: str
    is_odd: bool = False
    name: str = ""


def split_stretches(text: str, marks: Sequence[Place]) -> Iterator[Stretch]:
    """Cut a text at its marks and at what cannot be seen.

    Args:
        marks: places at odds, code points, end exclusive; places outside the text are passed over.

    Yields:
        The stretches; their originals together are the text.
    """
    at = 0
    for start, end in _normalize_marks(marks, len(text)):
        yield from _cut_marks(text[at:start], is_odd=False)
        yield from _cut_marks(text[start:end], is_odd=True)
        at = end
    yield from _cut_marks(text[at:], is_odd=False)


def _normalize_marks(marks: Sequence[Place], length: int) -> Iterator[Place]:
    """Places in order, inside the text, none over another."""
    at = 0
    for start, end in sorted(marks):
        low, high = max(start, at), min(end, length)
        if low < high:
            yield low, high
            at = high


def _cut_marks(text: str, *, is_odd: bool) -> Iterator[Stretch]:
    for piece in split_marks(text):
        if piece.is_mark:
            yield Stretch(piece.text, text[piece.start], is_odd, piece.name)
        else:
            for number, part in enumerate(piece.text.split("\r\n")):
                if number:
                    yield Stretch("\n", "\r\n", is_odd)
                if part:
                    yield Stretch(part, part, is_odd)


class MarkedText(FittedText):
    """A memory's text with the words at odds marked."""

    line_percent = 124
    most_borders = 200

    def __init__(self, theme: Theme, name: str, tone: str) -> None:
        """Make it.

        Args:
            name: what it shows, for those who do not see it.
            tone: `accent` or `warning`: the colour of what is at odds.
        """
        super().__init__(theme, name)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.NoContextMenu)
        self._tone = tone
        self._stretches: tuple[Stretch, ...] = ()
        self._role: FontRole = "body"

    @property
    def parts(self) -> tuple[Stretch, ...]:
        """What it shows."""
        return self._stretches

    def show_text(self, text: str, marks: Sequence[Place], role: FontRole, most_lines: int = 0) -> None:
        """Show a text.

        Args:
            text: plain, hostile or not; the beginning of it where it is very long.
            marks: places at odds, code points, end exclusive.
            most_lines: fold after so many lines; 0 for never.
        """
        self._stretches = tuple(split_stretches(text[:MOST], marks))
        self._role, self._most = role, most_lines
        self._write_text()

    def _write_text(self) -> None:
        self._replace_parts((part.displayed_text, self._format_of(part), bool(part.name)) for part in self._stretches)
        self._fit_height()

    def _format_of(self, part: Stretch) -> QTextCharFormat:
        made, theme = QTextCharFormat(), self._theme
        made.setFont(theme.font(self._role))
        made.setForeground(theme.colour("ink"))
        if part.is_odd:
            made.setBackground(theme.colour(f"{self._tone}_soft"))
            made.setUnderlineStyle(QTextCharFormat.UnderlineStyle.SingleUnderline)
            made.setUnderlineColor(theme.colour(self._tone))
        if part.name:
            self._format_mark(made, part.name)
        return made
