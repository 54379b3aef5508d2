"""The documentation of the search, in place: every filter with an example that can be taken over with a click.

The words stand in `resources/help/search.json`, where a test checks each example. Must not do: search.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPersistentModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QFrame,
    QListWidget,
    QListWidgetItem,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from ui.theme.theme import Theme
from ui.widgets.basics import column, label, row, tool

_EXAMPLE = 232  # pixels of the column of examples, at 100 %
_PAD = 12
_WRAP = Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop


@dataclass(frozen=True, slots=True)
class HelpEntry:
    """One thing that can be written.

    Attributes:
        key: of the filter, or what it is.
        example: as it is typed.
        sentence: what it finds.
    """

    key: str
    example: str
    sentence: str


@cache
def documentation() -> tuple[str, Sequence[HelpEntry]]:
    """The sentences about the search as a whole, and all entries."""
    data = json.loads((files("resources") / "help" / "search.json").read_text(encoding="utf-8"))
    return str(data["about"]), tuple(HelpEntry(**entry) for entry in data["entries"])


class _Entries(QStyledItemDelegate):
    """Example on the left, sentence on the right."""

    def __init__(self, theme: Theme, view: QListWidget) -> None:
        super().__init__(view)
        self._theme, self._view = theme, view

    def _rects(self, rect: QRect) -> tuple[QRect, QRect]:
        px = self._theme.px
        inner = rect.adjusted(px(_PAD), px(7), -px(_PAD), -px(7))
        share = min(px(_EXAMPLE), inner.width() * 2 // 5)
        return QRect(inner.x(), inner.y(), share - px(8), inner.height()), inner.adjusted(share, 0, 0, 0)

    def sizeHint(self, _option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:  # noqa: N802
        entry: HelpEntry = index.data(Qt.ItemDataRole.UserRole)
        width = self._view.viewport().width()
        left, right = self._rects(QRect(0, 0, width, 1000))
        example = QFontMetrics(self._theme.font("strong")).boundingRect(left, _WRAP, entry.example).height()
        sentence = QFontMetrics(self._theme.font("body")).boundingRect(right, _WRAP, entry.sentence).height()
        return QSize(width, max(example, sentence) + self._theme.px(14))

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        entry: HelpEntry = index.data(Qt.ItemDataRole.UserRole)
        theme, rect = self._theme, QRect(option.rect)
        state = option.state
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        if state & QStyle.StateFlag.State_Selected and self._view.hasFocus():
            painter.setBrush(theme.colour("accent_soft"))
            painter.drawRoundedRect(rect.adjusted(2, 1, -2, -1), 8, 8)
        elif state & QStyle.StateFlag.State_MouseOver:
            painter.setBrush(theme.colour("hover"))
            painter.drawRoundedRect(rect.adjusted(2, 1, -2, -1), 8, 8)
        left, right = self._rects(rect)
        painter.setFont(theme.font("strong"))
        painter.setPen(theme.colour("accent"))
        painter.drawText(left, _WRAP, entry.example)
        painter.setFont(theme.font("body"))
        painter.setPen(theme.colour("ink"))
        painter.drawText(right, _WRAP, entry.sentence)
        painter.restore()


class SearchHelp(QFrame):
    """A panel over the page with all that can be searched for.

    Signals:
        taken: an example was chosen.
        closed: it is shown no more.
    """

    taken = Signal(str)
    closed = Signal()

    def __init__(self, theme: Theme, host: QWidget) -> None:
        super().__init__(host)
        self.setObjectName("popover")
        self.setAccessibleName("What can be searched for")
        self._theme = theme
        about, entries = documentation()
        self._list = QListWidget()
        self._list.setAccessibleName("Examples")
        self._list.setItemDelegate(_Entries(theme, self._list))
        self._list.setVerticalScrollMode(QListWidget.ScrollMode.ScrollPerPixel)
        self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._list.setResizeMode(QListWidget.ResizeMode.Adjust)
        self._list.setMouseTracking(True)
        self._list.installEventFilter(self)
        for entry in entries:
            item = QListWidgetItem(f"{entry.example}: {entry.sentence}")
            item.setData(Qt.ItemDataRole.UserRole, entry)
            self._list.addItem(item)
        self._list.setCurrentRow(0)
        self._list.itemClicked.connect(self._take)
        head = row(label("What can be searched for", "section"), None, tool(theme, "x", "Close (Esc)", self.shut))
        layout = column(self, margins=12, gap=4)
        layout.addLayout(head)
        layout.addWidget(label(about, "small", wrap=True))
        layout.addWidget(self._list, 1)
        self.hide()

    def open_below(self, top: int) -> None:
        """Show it.

        Args:
            top: pixels from the upper edge of the page.
        """
        self.place(top)
        self.show()
        self.raise_()
        self._list.setFocus()

    def place(self, top: int) -> None:
        """Take the room there is below a line."""
        host = self.parentWidget()
        if host is not None:
            px = self._theme.px
            width = min(px(720), host.width() - 32)
            self.setGeometry((host.width() - width) // 2, top, width, min(px(560), host.height() - top - 16))
            self._list.doItemsLayout()

    def shut(self) -> None:
        """Show it no more."""
        if not self.isHidden():
            self.hide()
            self.closed.emit()

    def _take(self, item: QListWidgetItem | None) -> None:
        if item is not None:
            entry: HelpEntry = item.data(Qt.ItemDataRole.UserRole)
            self.shut()
            self.taken.emit(entry.example)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """Enter takes an example."""
        is_key = watched is self._list and event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent)
        if is_key and event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:  # type: ignore[attr-defined]
            self._take(self._list.currentItem())
            return True
        return False

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Esc closes."""
        if event.key() == Qt.Key.Key_Escape:
            self.shut()
        else:
            super().keyPressEvent(event)
