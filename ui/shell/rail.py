"""The left rail: one button a page, in the order they were registered."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QFrame, QSizePolicy, QToolButton, QVBoxLayout

from ui.context import PageSpec
from ui.theme.theme import Theme

WIDTH = 72


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
        self._buttons: dict[str, QToolButton] = {}
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
        made = QToolButton()
        made.setObjectName("place")
        made.setText(page.title)
        made.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextUnderIcon)
        made.setCheckable(True)
        made.setAccessibleName(page.title)
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

    def _paint(self) -> None:
        self.setFixedWidth(self._theme.px(WIDTH) if self._theme.scale <= 125 else self._theme.px(66))
        side = self._theme.px(20)
        for page_id, made in self._buttons.items():
            made.setIconSize(QSize(side, side))
            made.setIcon(self._theme.icon(self._pages[page_id].icon, "accent" if made.isChecked() else "muted"))
