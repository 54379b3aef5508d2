"""The left rail: one button a page, in the order they were registered.

Where it is low icons and words draw together; where it is too low for the words the icons stand alone, and where it is
too low for those too it scrolls: every page can be reached at every size. Must not do: know a page.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QResizeEvent
from PySide6.QtWidgets import QButtonGroup, QFrame, QLabel, QScrollArea, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from ui.context import PageSpec
from ui.theme.theme import Theme

WIDTH = 72
_ICON, _ICON_TIGHT = 20, 16
_MOST_SHOWN = 99


class Place(QToolButton):
    """The button of a page, with a count on its icon where something waits there.

    Attributes:
        badge: shows the count; hidden at 0.

    Signals:
        reached: the keyboard came to it.
    """

    reached = Signal()

    def __init__(self, theme: Theme, title: str, counts: str = "open") -> None:
        super().__init__()
        self.setObjectName("place")
        self.setText(title)
        self.setAccessibleName(title)
        self._theme, self._title, self._counts = theme, title, counts
        self.badge = QLabel(self)
        self.badge.setObjectName("badge")
        self.badge.setTextFormat(Qt.TextFormat.PlainText)
        self.badge.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.badge.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.badge.hide()

    def draw_in(self, *, is_tight: bool) -> None:
        """Leave less room around icon and word.

        Args:
            is_tight: whether there is little.
        """
        if bool(self.property("tight")) != is_tight:
            self.setProperty("tight", is_tight)
            self.style().unpolish(self)
            self.style().polish(self)

    def show_count(self, count: int) -> None:
        """Say how much waits.

        Args:
            count: 0 for nothing.
        """
        self.badge.setText(f"{count:,}" if count <= _MOST_SHOWN else f"{_MOST_SHOWN}+")
        self.badge.setVisible(count > 0)
        self.setAccessibleName(f"{self._title}, {count:,} {self._counts}" if count else self._title)
        self.place_badge()

    def place_badge(self) -> None:
        """Put it on the icon's upper right corner."""
        px = self._theme.px
        high = px(16)
        wide = max(high, self.badge.fontMetrics().horizontalAdvance(self.badge.text()) + px(9))
        left = min(self.width() // 2 + px(4), self.width() - wide - 1)
        self.badge.setGeometry(left, px(2), wide, high)

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802 - Qt's name
        """It shall be seen."""
        super().focusInEvent(event)
        self.reached.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """The badge keeps its corner."""
        super().resizeEvent(event)
        self.place_badge()


class Rail(QScrollArea):
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
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        for bar in (self.setVerticalScrollBarPolicy, self.setHorizontalScrollBarPolicy):
            bar(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        inside = QWidget()
        inside.setObjectName("railbed")
        self.setWidget(inside)
        self._layout = QVBoxLayout(inside)
        for number, page in enumerate(pages, 1):
            self._add(page, number)
        self._layout.addStretch(1)
        self._paint()
        theme.changed.connect(self._paint)

    def _add(self, page: PageSpec, number: int) -> None:
        made = Place(self._theme, page.title, page.counts)
        made.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextUnderIcon)
        made.setCheckable(True)
        made.setToolTip(f"{page.title} (Ctrl+{number})")
        made.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        made.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        made.clicked.connect(lambda: self.chosen.emit(page.id))
        made.reached.connect(lambda: self.ensureWidgetVisible(made, 0, 0))
        self._group.addButton(made)
        self._layout.addWidget(made)
        self._buttons[page.id] = made

    def show_page(self, page_id: str) -> None:
        """Mark the page that is shown."""
        self._buttons[page_id].setChecked(True)
        self._paint()
        self.ensureWidgetVisible(self._buttons[page_id], 0, 0)

    def show_count(self, page_id: str, count: int) -> None:
        """Say how much waits on a page.

        Args:
            page_id: which.
            count: 0 for nothing.
        """
        self._buttons[page_id].show_count(count)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Words, or icons alone."""
        super().resizeEvent(event)
        self._fit()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """Another text size needs another room."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.StyleChange:
            self._fit()

    def _fit(self) -> None:
        """Show the words where all of them have room."""
        words, icons = Qt.ToolButtonStyle.ToolButtonTextUnderIcon, Qt.ToolButtonStyle.ToolButtonIconOnly
        ways = ((words, 8, 2, False), (words, 3, 0, False), (words, 3, 0, True), (icons, 8, 2, False))
        for style, edge, gap, is_tight in ways:
            self._layout.setContentsMargins(6, edge, 6, edge)
            self._layout.setSpacing(gap)
            side = self._theme.px(_ICON_TIGHT if is_tight else _ICON)
            for made in self._buttons.values():
                made.setToolButtonStyle(style)
                made.setIconSize(QSize(side, side))
                made.draw_in(is_tight=is_tight)
            if self._layout.minimumSize().height() <= self.height():
                return

    def _paint(self) -> None:
        self.setFixedWidth(self._theme.px(WIDTH) if self._theme.scale <= 125 else self._theme.px(66))
        for page_id, made in self._buttons.items():
            made.setIcon(self._theme.icon(self._pages[page_id].icon, "accent" if made.isChecked() else "muted"))
            made.place_badge()
        self._fit()
