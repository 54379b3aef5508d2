"""The documentation of the search, in place: every filter with an example that can be taken over with a click.

The words stand in `resources/help/search.json`, where a test checks each example. Must not do: search.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent, QPainter
from PySide6.QtWidgets import QFrame, QWidget

from ui.lists.list_view import ListView
from ui.lists.row_spec import RowSpec, RowState
from ui.strings import search_strings
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
    data = search_strings()
    return str(data["about"]), tuple(HelpEntry(**entry) for entry in data["entries"])


class HelpRows(RowSpec[HelpEntry]):
    """How they look: the example on the left, the sentence on the right."""

    def key(self, row: HelpEntry) -> str:
        """Its example."""
        return row.example

    def describe(self, row: HelpEntry) -> str:
        """Both."""
        return f"{row.example}: {row.sentence}"

    def hint(self, _row: HelpEntry) -> str:
        """Nothing."""
        return ""

    def _rects(self, rect: QRect) -> tuple[QRect, QRect]:
        px = self.theme.px
        inner = rect.adjusted(px(_PAD), px(7), -px(_PAD), -px(7))
        share = min(px(_EXAMPLE), inner.width() * 2 // 5)
        return QRect(inner.x(), inner.y(), share - px(8), inner.height()), inner.adjusted(share, 0, 0, 0)

    def height(self, row: HelpEntry, _place: int) -> int:
        """As high as its words need."""
        left, right = self._rects(QRect(0, 0, self.width(), 1000))
        example = QFontMetrics(self.theme.font("strong")).boundingRect(left, _WRAP, row.example).height()
        sentence = QFontMetrics(self.theme.font("body")).boundingRect(right, _WRAP, row.sentence).height()
        return max(example, sentence) + self.theme.px(14)

    def draw_ground(self, painter: QPainter, rect: QRect, _row: HelpEntry, state: RowState) -> None:
        """A rounded field where it has the keyboard or the pointer."""
        is_chosen = state.is_chosen and state.has_focus
        if is_chosen or state.is_hovered:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self.theme.colour("accent_soft" if is_chosen else "hover"))
            painter.drawRoundedRect(rect.adjusted(2, 1, -2, -1), 8, 8)

    def draw_row(self, painter: QPainter, rect: QRect, row: HelpEntry, _state: RowState) -> None:
        """Both, wrapped."""
        left, right = self._rects(rect)
        for at, text, font, ink in ((left, row.example, "strong", "accent"), (right, row.sentence, "body", "ink")):
            painter.setFont(self.theme.font(font))  # type: ignore[arg-type]
            painter.setPen(self.theme.colour(ink))
            painter.drawText(at, _WRAP, text)


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
        self._list = ListView(HelpRows(theme), "Examples")
        self._list.show_lines(entries)
        self._list.clicked.connect(lambda _: self._take(self._list.current))
        self._list.opened.connect(self._take)
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

    def _take(self, entry: HelpEntry) -> None:
        self.shut()
        self.taken.emit(entry.example)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Esc closes."""
        if event.key() == Qt.Key.Key_Escape:
            self.shut()
        else:
            super().keyPressEvent(event)
