"""The left rail: one button a page, in the order they were registered."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QButtonGroup, QFrame, QLabel, QSizePolicy, QToolButton, QVBoxLayout

from ui.context import PageSpec
from ui.theme.theme import Theme

WIDTH = 72
_MOST_SHOWN = 99


class Place(QToolButton):
    """The button of a page, with a count on its icon where something waits there.

    Attributes:
        badge: shows the count; hidden at 0.
    """

    def __init__(self, theme: Theme, title: str) -> None:
        super().__init__()
        self.setObjectName("place")
        self.setText(title)
        self.setAccessibleName(title)
        self._theme, self._title = theme, title
        self.badge = QLabel(self)
        self.badge.setObjectName("badge")
        self.badge.setTextFormat(Qt.TextFormat.PlainText)
        self.badge.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.badge.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.badge.hide()

    def show_count(self, count: int) -> None:
        """Say how much waits.

        Args:
            count: 0 for nothing.
        """
        self.badge.setText(f"{count:,}" if count <= _MOST_SHOWN else f"{_MOST_SHOWN}+")
        self.badge.setVisible(count > 0)
        self.setAccessibleName(f"{self._title}, {count:,} open" if count else self._title)
        self.place_badge()

    def place_badge(self) -> None:
        """Put it on the icon's upper right corner."""
        px = self._theme.px
        high = px(16)
        wide = max(high, self.badge.fontMetrics().horizontalAdvance(self.badge.text()) + px(9))
        left = min(self.width() // 2 + px(4), self.width() - wide - 1)
        self.badge.setGeometry(left, px(2), wide, high)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """The badge keeps its corner."""
        super().resizeEvent(event)
        self.place_badge()


class Rail(QFrame):
    """Buttons of the pages.

    Signals:
        chosen: the id of the page that was chosen.
    """

    chosen = Signal(str)

    def __init__(self, theme: Theme, pages: Sequence[PageSpec]) -> None:
        super().__init__()
        self.setObjectName("rail")
        self.setAccessibleName("Pages")
        self._theme = theme
        self._pages = {page.id: page for page in pages}
        self._buttons: dict[str, Place] = {}
        self._group = QButtonGroup(self)
        self._group.setExclusive(True)
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(6, 8, 6, 8)
        self._layout.setSpacing(2)
        for number, page in enumerate(pages, 1):
            self._add(page, number)
        self._layout.addStretch(1)
        self._paint()
        theme.changed.connect(self._paint)

    def _add(self, page: PageSpec, number: int) -> None:
        made = Place(self._theme, page.title)
        made.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextUnderIcon)
        made.setCheckable(True)
        made.setToolTip(f"{page.title} (Ctrl+{number})")
        made.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        made.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        made.clicked.connect(lambda: self.chosen.emit(page.id))
        self._group.addButton(made)
        self._layout.addWidget(made)
        self._buttons[page.id] = made

    def show_page(self, page_id: str) -> None:
        """Mark the page that is shown."""
        self._buttons[page_id].setChecked(True)
        self._paint()

    def show_count(self, page_id: str, count: int) -> None:
        """Say how much waits on a page.

        Args:
            page_id: which.
            count: 0 for nothing.
        """
        self._buttons[page_id].show_count(count)

    def _paint(self) -> None:
        self.setFixedWidth(self._theme.px(WIDTH) if self._theme.scale <= 125 else self._theme.px(66))
        side = self._theme.px(20)
        for page_id, made in self._buttons.items():
            made.setIconSize(QSize(side, side))
            made.setIcon(self._theme.icon(self._pages[page_id].icon, "accent" if made.isChecked() else "muted"))
            made.place_badge()
