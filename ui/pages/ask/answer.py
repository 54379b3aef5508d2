"""The words of an answer or a question: plain text in which citations stand out and can be pressed.

A citation is a number in brackets that names a source of this answer; any other stays text. Must not do: interpret
markup or links, or show what cannot be seen as if it were not there.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QMouseEvent, QTextCharFormat, QTextCursor

from ui.bridge import split_citations
from ui.theme.theme import Theme
from ui.theme.tokens import FontRole
from ui.widgets.plaintext import FittedText, split_marks, utf16_length

_MARKS_DRAWN = 200
_NINE = 9
_LINE_END = re.compile(r"(\r?\n)")


@dataclass(frozen=True, slots=True)
class AnswerRun:
    """Characters that are shown alike, at most one line.

    Attributes:
        displayed_text: what is in the view.
        original: what it represents.
        source: the number of the source it cites; None for plain text.
        name: what a mark represents, in words; "" where it is none.
    """

    displayed_text: str
    original: str
    source: int | None = None
    name: str = ""


def answer_runs(text: str, sources: Container[int]) -> list[AnswerRun]:
    """A text as runs.

    Args:
        sources: numbers that are citations.

    Returns:
        The runs; their originals together are the text. A text that grows keeps all but the last line of them.
    """
    made: list[AnswerRun] = []
    for segment in split_citations(text, sources):
        if segment.source is not None:
            made.append(AnswerRun(segment.text, segment.text, segment.source))
            continue
        for piece in split_marks(segment.text):
            if piece.is_mark:
                made.append(AnswerRun(piece.text, segment.text[piece.start], name=piece.name))
            else:
                made += _split_lines(piece.text)
    return made


def _split_lines(text: str) -> Iterator[AnswerRun]:
    """The view knows one line end; what is copied keeps both characters of the other."""
    for part in _LINE_END.split(text):
        if part:
            yield AnswerRun("\n" if part.endswith("\n") else part, part)


class AnswerText(FittedText):
    """An answer as tall as it is.

    Signals:
        cited: the number of a source whose citation was pressed.
    """

    line_percent = 126
    most_borders = _MARKS_DRAWN
    own_keys = (QKeySequence.StandardKey.Copy, QKeySequence.StandardKey.SelectAll)
    cited = Signal(int)

    def __init__(self, theme: Theme, name: str, role: FontRole = "body") -> None:
        """Make it.

        Args:
            name: what it shows, for those who do not see it.
            role: of its words.
        """
        super().__init__(theme, name)
        flags = Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        self.setTextInteractionFlags(flags)
        self.setTabChangesFocus(True)
        self.setMouseTracking(True)
        self._runs: list[AnswerRun] = []
        self._sources: Container[int] = ()
        self._role: FontRole = role

    @property
    def parts(self) -> list[AnswerRun]:
        """What it shows."""
        return self._runs

    @property
    def citations(self) -> tuple[int, ...]:
        """The numbers that can be pressed, in their order."""
        return tuple(run.source for run in self._runs if run.source is not None)

    def show_answer(self, text: str, sources: Container[int] = ()) -> None:
        """Show a text, or more of it: what is there already is not touched.

        Args:
            sources: numbers that are citations.
        """
        runs, self._sources = answer_runs(text, sources), sources
        same = 0
        while same < min(len(runs), len(self._runs)) and runs[same] == self._runs[same]:
            same += 1
        if same == len(runs) == len(self._runs):
            return
        keep = sum(utf16_length(run.displayed_text) for run in runs[:same])
        self._runs = runs
        self._replace_parts(((run.displayed_text, self._format_of(run), bool(run.name)) for run in runs[same:]), keep)
        self._fit_height()

    def _write_text(self) -> None:
        self._replace_parts((run.displayed_text, self._format_of(run), bool(run.name)) for run in self._runs)
        self._fit_height()

    def _format_of(self, run: AnswerRun) -> QTextCharFormat:
        made, theme = QTextCharFormat(), self._theme
        made.setFont(theme.font(self._role))
        made.setForeground(theme.colour("ink"))
        if run.name:
            self._format_mark(made, run.name)
        elif run.source is not None:
            made.setFont(theme.font("caption"))
            made.setForeground(theme.colour("accent"))
            made.setBackground(theme.colour("accent_soft"))
        return made

    # ---- citations

    def citation_at(self, point: QPoint) -> int | None:
        """The source whose citation is at a point of the view; None where there is none."""
        position, at = self.cursorForPosition(point).position(), 0
        for run in self._runs:
            end = at + utf16_length(run.displayed_text)
            if run.source is not None and at <= position <= end and self._is_inside(point, at, end):
                return run.source
            at = end
        return None

    def _is_inside(self, point: QPoint, start: int, end: int) -> bool:
        cursor = QTextCursor(self.document())
        cursor.setPosition(start)
        first = self.cursorRect(cursor)
        cursor.setPosition(end)
        last = self.cursorRect(cursor)
        if first.top() != last.top():
            return True  # it is broken over two lines
        return first.left() <= point.x() <= last.left() and first.top() <= point.y() <= first.bottom()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Over a citation the pointer is a hand."""
        super().mouseMoveEvent(event)
        is_over = self.citation_at(event.position().toPoint()) is not None
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if is_over else Qt.CursorShape.IBeamCursor)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """A citation that is pressed opens its source."""
        super().mouseReleaseEvent(event)
        number = self.citation_at(event.position().toPoint())
        is_press = event.button() == Qt.MouseButton.LeftButton and not self.textCursor().hasSelection()
        if number is not None and is_press:
            self.cited.emit(number)

    def event(self, event: QEvent) -> bool:
        """The digits of its sources are its own keys."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and self._source_of(event):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """A digit opens the source of that number."""
        number = self._source_of(event)
        if number:
            self.cited.emit(number)
            event.accept()
        elif any(event.matches(key) for key in self.own_keys):
            super().keyPressEvent(event)
        else:
            event.ignore()

    def _source_of(self, event: QKeyEvent) -> int:
        digit = event.key() - Qt.Key.Key_0
        is_plain = not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        return digit if is_plain and 1 <= digit <= _NINE and digit in self._sources else 0
