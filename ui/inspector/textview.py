"""A read-only view of hostile text: what cannot be seen stands as a small bordered mark, differences are marked.

The text goes in by a cursor, run by run; nothing in it is ever interpreted. What is copied is the original. Must not
do: change a text, or take words from a memory into a tooltip.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from PySide6.QtCore import QEvent, QMimeData, QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QHelpEvent,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextOption,
    QWheelEvent,
)
from PySide6.QtWidgets import QSizePolicy, QTextEdit, QToolTip

from ui.theme.theme import Theme
from ui.theme.tokens import FontRole
from ui.widgets.plaintext import pieces

PLAIN, ADDED, REMOVED = "plain", "added", "removed"
Place = tuple[int, int]
_MARKS_DRAWN = 300
_LINE_PERCENT = 122
_STANDARD = (QKeySequence.StandardKey.Copy, QKeySequence.StandardKey.SelectAll)


@dataclass(frozen=True, slots=True)
class Run:
    """Characters that are shown alike.

    Attributes:
        shown: what stands in the view.
        original: what it stands for.
        style: `plain`, `added` or `removed`.
        name: what a mark stands for, in words; "" where it is none.
    """

    shown: str
    original: str
    style: str = PLAIN
    name: str = ""

    @property
    def is_mark(self) -> bool:
        """Whether it stands for characters that cannot be seen."""
        return bool(self.name)


def runs_of(text: str, style: str = PLAIN) -> list[Run]:
    """A text as runs; the same mark several times in a row is one run with its number.

    Args:
        text: any text.
        style: `plain`, `added` or `removed`.

    Returns:
        The runs; their originals together are the text.
    """
    made: list[Run] = []
    for piece in pieces(text):
        if not piece.is_mark:
            made.extend(_lines(piece.text, style))
            continue
        original = text[piece.start]
        last = made[-1] if made else None
        if last is not None and last.is_mark and last.original[0] == original:
            whole = last.original + original
            made[-1] = replace(last, original=whole, shown=f"{piece.text}×{len(whole)}")
        else:
            made.append(Run(piece.text, original, style, piece.name))
    return made


def _lines(text: str, style: str) -> Iterable[Run]:
    """Line ends of two characters become runs of their own: the view knows one."""
    for number, part in enumerate(text.split("\r\n")):
        if number:
            yield Run("\n", "\r\n", style)
        if part:
            yield Run(part, part, style)


def original_of(runs: Sequence[Run], start: int, end: int) -> str:
    """What a selection stands for.

    Args:
        runs: the runs of the view.
        start: where it begins, in UTF-16 units of what is shown.
        end: behind its last unit.

    Returns:
        The original characters; a mark that is touched is taken whole.
    """
    parts, at = [], 0
    for run in runs:
        units = run.shown.encode("utf-16-le", "surrogatepass")
        length = len(units) // 2
        low, high = max(start, at) - at, min(end, at + length) - at
        if low < high:
            same = run.shown == run.original
            taken = units[low * 2 : high * 2].decode("utf-16-le", "replace") if same else run.original
            parts.append(taken)
        at += length
    return "".join(parts)


def shown_span(runs: Sequence[Run], start: int, end: int) -> tuple[int, int]:
    """Where a place of the original stands in what is shown.

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
            same = run.shown == run.original
            found += [units + _units(run.shown[:low] if same else "")]
            found += [units + _units(run.shown[:high] if same else run.shown)]
        at += len(run.original)
        units += _units(run.shown)
    return (found[0], found[-1]) if found else (0, 0)


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


class TextView(QTextEdit):
    """Text as tall as it needs to be, or as its fold allows.

    Signals:
        fitted: its height was worked out anew.
    """

    fitted = Signal()

    def __init__(self, theme: Theme, name: str) -> None:
        """Make it.

        Args:
            theme: the theme.
            name: what it shows, for those who do not see it.
        """
        super().__init__()
        self.setObjectName("reading")
        self.setAccessibleName(name)
        self.setReadOnly(True)
        self.setAcceptRichText(False)
        self.setUndoRedoEnabled(False)
        flags = Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        self.setTextInteractionFlags(flags)
        self.setTabChangesFocus(True)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        for policy in (self.setVerticalScrollBarPolicy, self.setHorizontalScrollBarPolicy):
            policy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.document().setDocumentMargin(0)
        self.viewport().setAutoFillBackground(False)
        self._theme = theme
        self._runs: tuple[Run, ...] = ()
        self._role: FontRole = "body"
        self._most = 0
        self._marks: list[tuple[int, int]] = []
        self._pointed: tuple[tuple[Place, ...], tuple[Place, ...]] = ((), ())
        self.document().documentLayout().documentSizeChanged.connect(self._fit)
        theme.changed.connect(self._write)

    @property
    def runs(self) -> tuple[Run, ...]:
        """What it shows."""
        return self._runs

    def show_runs(self, runs: Iterable[Run], role: FontRole = "body", most_lines: int = 0) -> None:
        """Show a text.

        Args:
            runs: its runs.
            role: the font.
            most_lines: fold after so many lines; 0 for never.
        """
        self._runs, self._role, self._most = tuple(runs), role, most_lines
        self._pointed = ((), ())
        self._write()

    def point_at(self, places: Iterable[Place], against: Iterable[Place] = ()) -> None:
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
        return math.ceil(self._place(shown_span(self._runs, *place)[1]).bottom())

    def _draw_pointed(self) -> None:
        theme = self._theme
        looks = (
            ("accent_soft", "accent", QTextCharFormat.UnderlineStyle.SingleUnderline),
            ("warning_soft", "warning", QTextCharFormat.UnderlineStyle.WaveUnderline),
        )
        made: list[QTextEdit.ExtraSelection] = []
        for places, (ground, line, style) in zip(self._pointed, looks, strict=True):
            for start, end in places[:_MARKS_DRAWN]:
                selection = QTextEdit.ExtraSelection()
                cursor = QTextCursor(self.document())
                first, last = shown_span(self._runs, start, end)
                cursor.setPosition(first)
                cursor.setPosition(last, QTextCursor.MoveMode.KeepAnchor)
                selection.cursor = cursor
                selection.format.setBackground(theme.colour(ground))
                selection.format.setUnderlineStyle(style)
                selection.format.setUnderlineColor(theme.colour(line))
                made.append(selection)
        self.setExtraSelections(made)

    def fold(self, most_lines: int) -> None:
        """Fold after so many lines; 0 for never."""
        self._most = most_lines
        self._fit()

    @property
    def is_folded(self) -> bool:
        """Whether some of the text is out of sight."""
        return self._most > 0 and self._height(self._most) < self._height(0)

    def is_unfolded_beyond(self, lines: int) -> bool:
        """Whether all of a text is shown that has more lines than a fold would leave."""
        return self._most == 0 and self._height(lines) < self._height(0)

    def _write(self) -> None:
        self._marks, at = [], 0
        self.clear()
        cursor = self.textCursor()
        block = QTextBlockFormat()
        block.setLineHeight(_LINE_PERCENT, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
        cursor.setBlockFormat(block)
        cursor.beginEditBlock()
        for run in self._runs:
            cursor.insertText(run.shown, self._format(run))
            length = _units(run.shown)
            if run.is_mark and len(self._marks) < _MARKS_DRAWN:
                self._marks.append((at, length))
            at += length
        cursor.endEditBlock()
        self.moveCursor(QTextCursor.MoveOperation.Start)
        self._draw_pointed()
        self._fit()

    def _format(self, run: Run) -> QTextCharFormat:
        made, theme = QTextCharFormat(), self._theme
        made.setFont(theme.font(self._role))
        made.setForeground(theme.colour("ink"))
        if run.is_mark:
            made.setFont(theme.font("caption"))
            made.setForeground(theme.colour("warning"))
            made.setBackground(theme.colour("warning_soft"))
            made.setToolTip(run.name)
        elif run.style == ADDED:
            made.setBackground(theme.colour("accent_soft"))
        if run.style == ADDED:
            made.setFontUnderline(True)
            made.setUnderlineColor(theme.colour("accent"))
        if run.style == REMOVED:
            made.setForeground(theme.colour("muted"))
            made.setFontStrikeOut(True)
        return made

    def _height(self, most_lines: int) -> int:
        """Pixels of the first lines; of all for 0."""
        layout = self.document().documentLayout()
        if most_lines == 0:
            return math.ceil(layout.documentSize().height())
        block, left = self.document().begin(), most_lines
        while block.isValid():
            lines = block.layout()
            if lines.lineCount() >= left:
                top = layout.blockBoundingRect(block).top()
                return math.ceil(top + lines.lineAt(left - 1).rect().bottom())
            left -= lines.lineCount()
            block = block.next()
        return math.ceil(layout.documentSize().height())

    def _fit(self) -> None:
        height = min(self._height(0), self._height(self._most)) + 2
        if height != self.height() or height != self.minimumHeight():
            self.setFixedHeight(height)
        self.fitted.emit()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """As tall as what is shown."""
        return QSize(200, self.minimumHeight())

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """It may be narrow."""
        return QSize(40, self.minimumHeight())

    def selected(self) -> str:
        """What is selected, as it came."""
        cursor = self.textCursor()
        return original_of(self._runs, cursor.selectionStart(), cursor.selectionEnd())

    def createMimeDataFromSelection(self) -> QMimeData:  # noqa: N802 - Qt's name
        """What is copied or dragged is the original."""
        data = QMimeData()
        data.setText(self.selected())
        return data

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw a border round each mark."""
        super().paintEvent(event)
        if not self._marks:
            return
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(self._theme.colour("warning"))
        for start, length in self._marks:
            first, last = self._place(start), self._place(start + length)
            if first.top() == last.top() and first.intersects(QRectF(self.viewport().rect())):
                painter.drawRoundedRect(
                    QRectF(first.left() - 0.5, first.top() + 0.5, last.left() - first.left() + 1, first.height() - 1),
                    3,
                    3,
                )
        painter.end()

    def _place(self, position: int) -> QRectF:
        cursor = QTextCursor(self.document())
        cursor.setPosition(position)
        return QRectF(self.cursorRect(cursor))

    def mark_at(self, point: QPoint) -> str:
        """What the mark at a place stands for; "" where there is none.

        Args:
            point: in the view.
        """
        return str(self.cursorForPosition(point).charFormat().toolTip())

    def viewportEvent(self, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """A mark's tooltip is its name."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            QToolTip.showText(event.globalPos(), self.mark_at(event.pos()), self)
            return True
        return super().viewportEvent(event)

    def event(self, event: QEvent) -> bool:
        """Letters and Del are the inspector's: nothing can be written here."""
        is_key = event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent)
        if is_key and not any(event.matches(key) for key in _STANDARD):  # type: ignore[attr-defined]
            event.ignore()
            return False
        return super().event(event)

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802 - Qt's name
        """The column around it scrolls, not the text."""
        event.ignore()
