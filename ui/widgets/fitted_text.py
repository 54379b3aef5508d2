"""Hostile text for reading, as tall as it is: hidden characters stand as bordered marks, the original is copied.

The text goes in by a cursor, part by part; nothing in it is ever interpreted. Must not do: change a text, or keep the
keyboard or the wheel from what lies around it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import ClassVar, Protocol

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
from ui.widgets.plaintext import utf16


class Part(Protocol):
    """Characters that are shown alike."""

    @property
    def shown(self) -> str:
        """What stands in the view."""

    @property
    def original(self) -> str:
        """What it stands for."""


def original_of(parts: Sequence[Part], start: int, end: int) -> str:
    """What a selection stands for.

    Args:
        parts: those of the view.
        start: where it begins, in UTF-16 units of what is shown.
        end: behind its last unit.

    Returns:
        The original characters; a mark that is touched is taken whole.
    """
    found, at = [], 0
    for part in parts:
        shown = part.shown.encode("utf-16-le", "surrogatepass")
        length = len(shown) // 2
        low, high = max(start, at) - at, min(end, at + length) - at
        if low < high:
            same = part.shown == part.original
            found.append(shown[low * 2 : high * 2].decode("utf-16-le", "replace") if same else part.original)
        at += length
    return "".join(found)


class FittedText(QTextEdit):
    """Text as tall as it needs to be, or as its fold allows.

    Attributes:
        line_percent: the height of a line.
        most_borders: marks that get a border; the others have their colours only.
        own_keys: what it does itself while it has the keyboard.

    Signals:
        fitted: its height was worked out anew.
    """

    line_percent: ClassVar[int]
    most_borders: ClassVar[int]
    own_keys: ClassVar[tuple[QKeySequence.StandardKey, ...]] = (QKeySequence.StandardKey.Copy,)
    fitted = Signal()

    def __init__(self, theme: Theme, name: str) -> None:
        """Make it.

        Args:
            name: what it shows, for those who do not see it.
        """
        super().__init__()
        self.setObjectName("reading")
        self.setAccessibleName(name)
        self.setReadOnly(True)
        self.setAcceptRichText(False)
        self.setUndoRedoEnabled(False)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        for policy in (self.setVerticalScrollBarPolicy, self.setHorizontalScrollBarPolicy):
            policy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.document().setDocumentMargin(0)
        self.viewport().setAutoFillBackground(False)
        self._theme = theme
        self._most = 0
        self._borders: list[tuple[int, int]] = []
        self.document().documentLayout().documentSizeChanged.connect(self._fit)
        theme.changed.connect(self._write)

    def fold(self, most_lines: int) -> None:
        """Fold after so many lines; 0 for never."""
        self._most = most_lines
        self._fit()

    @property
    def is_folded(self) -> bool:
        """Whether some of the text is out of sight."""
        return self._most > 0 and self.is_longer_than(self._most)

    def is_longer_than(self, lines: int) -> bool:
        """Whether the whole text has more lines than that."""
        return self._height(lines) < self._height(0)

    def selected_text(self) -> str:
        """What is selected, as it came; a mark that is touched is taken whole."""
        cursor = self.textCursor()
        return original_of(self.parts, cursor.selectionStart(), cursor.selectionEnd())

    # ---- what a kind of it says

    @property
    def parts(self) -> Sequence[Part]:
        """What it shows."""
        raise NotImplementedError  # each kind says it; Qt's metaclass goes with no abstract class

    def _write(self) -> None:
        """Show it all anew."""
        raise NotImplementedError  # each kind says it; Qt's metaclass goes with no abstract class

    def _replace_parts(self, parts: Iterable[tuple[str, QTextCharFormat, bool]]) -> None:
        """Replace what stands here.

        Args:
            parts: what is shown, how, and whether it is a mark.
        """
        self._borders, at = [], 0
        self.clear()
        cursor = self.textCursor()
        block = QTextBlockFormat()
        block.setLineHeight(self.line_percent, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
        cursor.setBlockFormat(block)
        cursor.beginEditBlock()
        for shown, look, is_mark in parts:
            cursor.insertText(shown, look)
            length = utf16(shown)
            if is_mark and len(self._borders) < self.most_borders:
                self._borders.append((at, length))
            at += length
        cursor.endEditBlock()
        self.moveCursor(QTextCursor.MoveOperation.Start)

    def _mark(self, made: QTextCharFormat, name: str) -> None:
        """Let a format be that of a mark."""
        made.setFont(self._theme.font("caption"))
        made.setForeground(self._theme.colour("warning"))
        made.setBackground(self._theme.colour("warning_soft"))
        made.setToolTip(name)

    # ---- its height

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

    # ---- Qt's events

    def createMimeDataFromSelection(self) -> QMimeData:  # noqa: N802 - Qt's name
        """What is copied or dragged is the original."""
        data = QMimeData()
        data.setText(self.selected_text())
        return data

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw a border round each mark that is in sight."""
        super().paintEvent(event)
        if not self._borders:
            return
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(self._theme.colour("warning"))
        for start, length in self._borders:
            first, last = self._place(start), self._place(start + length)
            if first.top() == last.top() and first.intersects(QRectF(self.viewport().rect())):
                wide = last.left() - first.left() + 1
                painter.drawRoundedRect(QRectF(first.left() - 0.5, first.top() + 0.5, wide, first.height() - 1), 3, 3)
        painter.end()

    def _place(self, position: int) -> QRectF:
        cursor = QTextCursor(self.document())
        cursor.setPosition(position)
        return QRectF(self.cursorRect(cursor))

    def event(self, event: QEvent) -> bool:
        """Other keys belong to what lies around it: nothing can be written here."""
        is_key = event.type() == QEvent.Type.ShortcutOverride
        if is_key and isinstance(event, QKeyEvent) and not any(event.matches(key) for key in self.own_keys):
            event.ignore()
            return False
        return super().event(event)

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802 - Qt's name
        """What lies around it scrolls, not the text."""
        event.ignore()
