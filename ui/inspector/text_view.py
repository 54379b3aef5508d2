"""A read-only view of hostile text: what cannot be seen is shown as a small bordered mark, differences are marked.

The text goes in by a cursor, run by run; nothing in it is ever interpreted. What is copied is the original. Must not
do: change a text, or take words from a memory into a tooltip.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import (
    QHelpEvent,
    QKeySequence,
    QTextCharFormat,
    QTextCursor,
)
from PySide6.QtWidgets import QTextEdit, QToolTip

from ui.bridge import mark_spans
from ui.theme.theme import Theme
from ui.theme.tokens import FontRole
from ui.widgets.plaintext import FittedText, split_marks, utf16_length
from ui.widgets.tooltips import wrap_tooltip

PLAIN, ADDED, REMOVED = "plain", "added", "removed"
Place = tuple[int, int]
_MARKS_DRAWN = 300


@dataclass(frozen=True, slots=True)
class TextRun:
    """Characters that are shown alike.

    Attributes:
        displayed_text: what is in the view.
        original: what it represents.
        style: `plain`, `added` or `removed`.
        name: what a mark represents, in words; "" where it is none.
    """

    displayed_text: str
    original: str
    style: str = PLAIN
    name: str = ""

    @property
    def is_mark(self) -> bool:
        """Whether it represents characters that cannot be seen."""
        return bool(self.name)


def marked_runs_of_text(text: str, style: str = PLAIN) -> list[TextRun]:
    """A text as runs; the same mark several times in a row is one run with its number.

    Args:
        style: `plain`, `added` or `removed`.

    Returns:
        The runs; their originals together are the text.
    """
    made: list[TextRun] = []
    for piece in split_marks(text):
        if not piece.is_mark:
            made.extend(_split_lines(piece.text, style))
            continue
        original = text[piece.start]
        last = made[-1] if made else None
        if last is not None and last.is_mark and last.original[0] == original:
            whole = last.original + original
            made[-1] = replace(last, original=whole, displayed_text=f"{piece.text}×{len(whole)}")
        else:
            made.append(TextRun(piece.text, original, style, piece.name))
    return made


def plain_runs_of_text(text: str) -> list[TextRun]:
    """As `marked_runs_of_text`, without the marks of Markdown and of programs; a copy has them."""
    made: list[TextRun] = []
    at = 0
    for start, end in mark_spans(text):
        made += [*marked_runs_of_text(text[at:start]), TextRun("", text[start:end])]
        at = end
    return made + marked_runs_of_text(text[at:])


def _split_lines(text: str, style: str) -> Iterable[TextRun]:
    """Line ends of two characters become runs of their own: the view knows one."""
    for number, part in enumerate(text.split("\r\n")):
        if number:
            yield TextRun("\n", "\r\n", style)
        if part:
            yield TextRun(part, part, style)


def shown_span(runs: Sequence[TextRun], start: int, end: int) -> tuple[int, int]:
    """Where a place of the original is in what is shown.

    Args:
        runs: the runs of the view.
        start: where it begins, in characters of the original.
        end: behind its last character.

    Returns:
        Its begin and end in UTF-16 units of what is shown; a mark that is touched is taken whole.
    """
    units = at = 0
    found: list[int] = []
    for run in runs:
        low, high = max(start, at) - at, min(end, at + len(run.original)) - at
        if low < high:
            same = run.displayed_text == run.original
            found += [units + utf16_length(run.displayed_text[:low] if same else "")]
            found += [units + utf16_length(run.displayed_text[:high] if same else run.displayed_text)]
        at += len(run.original)
        units += utf16_length(run.displayed_text)
    return (found[0], found[-1]) if found else (0, 0)


class TextView(FittedText):
    """Text whose differences are marked, and in which places can be pointed at."""

    line_percent = 122
    most_borders = _MARKS_DRAWN
    own_keys = (QKeySequence.StandardKey.Copy, QKeySequence.StandardKey.SelectAll)

    def __init__(self, theme: Theme, name: str) -> None:
        """Make it.

        Args:
            name: what it shows, for those who do not see it.
        """
        super().__init__(theme, name)
        flags = Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        self.setTextInteractionFlags(flags)
        self.setTabChangesFocus(True)
        self._runs: tuple[TextRun, ...] = ()
        self._role: FontRole = "body"
        self._pointed: tuple[tuple[Place, ...], tuple[Place, ...]] = ((), ())

    @property
    def parts(self) -> tuple[TextRun, ...]:
        """What it shows."""
        return self._runs

    def show_runs(self, runs: Iterable[TextRun], role: FontRole = "body", most_lines: int = 0) -> None:
        """Show a text.

        Args:
            most_lines: fold after so many lines; 0 for never.
        """
        self._runs, self._role, self._most = tuple(runs), role, most_lines
        self._pointed = ((), ())
        self._write_text()

    def mark_places(self, places: Iterable[Place], against: Iterable[Place] = ()) -> None:
        """Let places stand out until others do.

        Args:
            places: characters of the original, end exclusive; underlined, on the accent's ground.
            against: places that speak against something; underlined with a wave, on the warning's ground.
        """
        self._pointed = (tuple(places), tuple(against))
        self._draw_pointed()

    @property
    def pointed(self) -> tuple[str, ...]:
        """The words that stand out, as they are shown."""
        return tuple(selection.cursor.selectedText() for selection in self.extraSelections())

    def bottom_of(self, place: Place) -> int:
        """How far down a place ends, pixels from the view's top; beyond its height where a fold hides it.

        Args:
            place: characters of the original, end exclusive.
        """
        return math.ceil(self._cursor_rect(shown_span(self._runs, *place)[1]).bottom())

    def _draw_pointed(self) -> None:
        theme = self._theme
        looks = (
            ("accent_soft", "accent", QTextCharFormat.UnderlineStyle.SingleUnderline),
            ("warning_soft", "warning", QTextCharFormat.UnderlineStyle.WaveUnderline),
        )
        made: list[QTextEdit.ExtraSelection] = []
        for places, (background, line, style) in zip(self._pointed, looks, strict=True):
            for start, end in places[:_MARKS_DRAWN]:
                selection = QTextEdit.ExtraSelection()
                cursor = QTextCursor(self.document())
                first, last = shown_span(self._runs, start, end)
                cursor.setPosition(first)
                cursor.setPosition(last, QTextCursor.MoveMode.KeepAnchor)
                selection.cursor = cursor
                selection.format.setBackground(theme.colour(background))
                selection.format.setUnderlineStyle(style)
                selection.format.setUnderlineColor(theme.colour(line))
                made.append(selection)
        self.setExtraSelections(made)

    def is_unfolded_beyond(self, lines: int) -> bool:
        """Whether all of a text is shown that has more lines than a fold would leave."""
        return self._most == 0 and self.is_longer_than(lines)

    def _write_text(self) -> None:
        self._replace_parts((run.displayed_text, self._format_of(run), run.is_mark) for run in self._runs)
        self._draw_pointed()
        self._fit_height()

    def _format_of(self, run: TextRun) -> QTextCharFormat:
        made, theme = QTextCharFormat(), self._theme
        made.setFont(theme.font(self._role))
        made.setForeground(theme.colour("ink"))
        if run.is_mark:
            self._format_mark(made, run.name)
        elif run.style == ADDED:
            made.setBackground(theme.colour("accent_soft"))
        if run.style == ADDED:
            made.setFontUnderline(True)
            made.setUnderlineColor(theme.colour("accent"))
        if run.style == REMOVED:
            made.setForeground(theme.colour("muted"))
            made.setFontStrikeOut(True)
        return made

    def mark_at(self, point: QPoint) -> str:
        """What the mark at a place represents; "" where there is none."""
        return str(self.cursorForPosition(point).charFormat().toolTip())

    def viewportEvent(self, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """A mark's tooltip is its name."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            QToolTip.showText(event.globalPos(), wrap_tooltip(self.mark_at(event.pos())), self)
            return True
        return super().viewportEvent(event)
