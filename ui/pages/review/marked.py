"""A memory's text with the words that are at odds marked by colour and underline; nothing in it is interpreted.

What cannot be seen stands as a bordered mark, as in the inspector. What is copied is the original. Must not do: change
a text, or keep the keyboard from the page.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QMimeData, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
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
from PySide6.QtWidgets import QSizePolicy, QTextEdit

from ui.theme.theme import Theme
from ui.theme.tokens import FontRole
from ui.widgets.plaintext import pieces

MOST = 20_000
"""Characters shown of one memory; what lies behind is in the inspector."""
_LINE_PERCENT = 124
_BORDERED = 200

Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Stretch:
    """Characters that are drawn alike.

    Attributes:
        shown: what stands in the view; original: what it stands for.
        is_odd: it is at odds with the other text.
        name: what a mark stands for; "" where it is none.
    """

    shown: str
    original: str
    is_odd: bool = False
    name: str = ""

    @property
    def units(self) -> int:
        """Its length in the document, in UTF-16 units."""
        return len(self.shown.encode("utf-16-le", "surrogatepass")) // 2


def stretches(text: str, marks: Sequence[Place]) -> Iterator[Stretch]:
    """Cut a text at its marks and at what cannot be seen.

    Args:
        text: any text.
        marks: places at odds, code points, end exclusive; places outside the text are passed over.

    Yields:
        The stretches; their originals together are the text.
    """
    at = 0
    for start, end in _clean(marks, len(text)):
        yield from _cut(text[at:start], is_odd=False)
        yield from _cut(text[start:end], is_odd=True)
        at = end
    yield from _cut(text[at:], is_odd=False)


def _clean(marks: Sequence[Place], length: int) -> Iterator[Place]:
    """Places in order, inside the text, none over another."""
    at = 0
    for start, end in sorted(marks):
        low, high = max(start, at), min(end, length)
        if low < high:
            yield low, high
            at = high


def _cut(text: str, *, is_odd: bool) -> Iterator[Stretch]:
    for piece in pieces(text):
        if piece.is_mark:
            yield Stretch(piece.text, text[piece.start], is_odd, piece.name)
        else:
            for number, part in enumerate(piece.text.split("\r\n")):
                if number:
                    yield Stretch("\n", "\r\n", is_odd)
                if part:
                    yield Stretch(part, part, is_odd)


class MarkedText(QTextEdit):
    """The text, as tall as it is or as its fold allows.

    Signals:
        fitted: its height was worked out anew.
    """

    fitted = Signal()

    def __init__(self, theme: Theme, name: str, tone: str) -> None:
        """Make it.

        Args:
            theme: the theme.
            name: what it shows, for those who do not see it.
            tone: `accent` or `warning`: the colour of what is at odds.
        """
        super().__init__()
        self.setObjectName("reading")
        self.setAccessibleName(name)
        self.setReadOnly(True)
        self.setAcceptRichText(False)
        self.setUndoRedoEnabled(False)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.NoContextMenu)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        for policy in (self.setVerticalScrollBarPolicy, self.setHorizontalScrollBarPolicy):
            policy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.document().setDocumentMargin(0)
        self.viewport().setAutoFillBackground(False)
        self._theme, self._tone = theme, tone
        self._stretches: tuple[Stretch, ...] = ()
        self._role: FontRole = "body"
        self._most = 0
        self._borders: list[Place] = []
        self.document().documentLayout().documentSizeChanged.connect(self._fit)
        theme.changed.connect(self._write)

    @property
    def parts(self) -> tuple[Stretch, ...]:
        """What it shows."""
        return self._stretches

    def show_text(self, text: str, marks: Sequence[Place], role: FontRole, most_lines: int = 0) -> None:
        """Show a text.

        Args:
            text: plain, hostile or not; the beginning of it where it is very long.
            marks: places at odds, code points, end exclusive.
            role: the font.
            most_lines: fold after so many lines; 0 for never.
        """
        self._stretches = tuple(stretches(text[:MOST], marks))
        self._role, self._most = role, most_lines
        self._write()

    def fold(self, most_lines: int) -> None:
        """Fold after so many lines; 0 for never."""
        self._most = most_lines
        self._fit()

    @property
    def is_folded(self) -> bool:
        """Whether some of the text is out of sight."""
        return self._most > 0 and self._height(self._most) < self._height(0)

    def is_longer_than(self, lines: int) -> bool:
        """Whether the whole text has more lines than that."""
        return self._height(lines) < self._height(0)

    def _write(self) -> None:
        self._borders, at = [], 0
        self.clear()
        cursor = self.textCursor()
        block = QTextBlockFormat()
        block.setLineHeight(_LINE_PERCENT, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
        cursor.setBlockFormat(block)
        cursor.beginEditBlock()
        for part in self._stretches:
            cursor.insertText(part.shown, self._format(part))
            if part.name and len(self._borders) < _BORDERED:
                self._borders.append((at, part.units))
            at += part.units
        cursor.endEditBlock()
        self.moveCursor(QTextCursor.MoveOperation.Start)
        self._fit()

    def _format(self, part: Stretch) -> QTextCharFormat:
        made, theme = QTextCharFormat(), self._theme
        made.setFont(theme.font(self._role))
        made.setForeground(theme.colour("ink"))
        if part.is_odd:
            made.setBackground(theme.colour(f"{self._tone}_soft"))
            made.setUnderlineStyle(QTextCharFormat.UnderlineStyle.SingleUnderline)
            made.setUnderlineColor(theme.colour(self._tone))
        if part.name:
            made.setFont(theme.font("caption"))
            made.setForeground(theme.colour("warning"))
            made.setBackground(theme.colour("warning_soft"))
            made.setToolTip(part.name)
        return made

    def _height(self, most_lines: int) -> int:
        """Pixels of the first lines; of all for 0."""
        layout = self.document().documentLayout()
        block, left = self.document().begin(), most_lines
        while most_lines and block.isValid():
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
        """What is selected, as it came; a mark that is touched is taken whole."""
        cursor = self.textCursor()
        start, end, at, found = cursor.selectionStart(), cursor.selectionEnd(), 0, []
        for part in self._stretches:
            low, high = max(start, at) - at, min(end, at + part.units) - at
            if low < high:
                same = part.shown == part.original
                units = part.shown.encode("utf-16-le", "surrogatepass")[low * 2 : high * 2]
                found.append(units.decode("utf-16-le", "replace") if same else part.original)
            at += part.units
        return "".join(found)

    def createMimeDataFromSelection(self) -> QMimeData:  # noqa: N802 - Qt's name
        """What is copied or dragged is the original."""
        data = QMimeData()
        data.setText(self.selected())
        return data

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw a border round what stands for a hidden character."""
        super().paintEvent(event)
        if not self._borders:
            return
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(self._theme.colour("warning"))
        for start, length in self._borders:
            first, last = self._place(start), self._place(start + length)
            if first.top() == last.top():
                wide = last.left() - first.left() + 1
                painter.drawRoundedRect(QRectF(first.left() - 0.5, first.top() + 0.5, wide, first.height() - 1), 3, 3)
        painter.end()

    def _place(self, position: int) -> QRectF:
        cursor = QTextCursor(self.document())
        cursor.setPosition(position)
        return QRectF(self.cursorRect(cursor))

    def event(self, event: QEvent) -> bool:
        """Keys are the page's: nothing can be written here."""
        is_key = event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent)
        if is_key and not event.matches(QKeySequence.StandardKey.Copy):  # type: ignore[attr-defined]
            event.ignore()
            return False
        return super().event(event)

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802 - Qt's name
        """What lies around it scrolls, not the text."""
        event.ignore()
