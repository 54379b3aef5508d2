"""The line at the upper edge: the name, the one search field, the vault's lock, the menu."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QFrame, QLineEdit, QMenu, QPushButton, QSizePolicy, QToolButton

from ui.theme.theme import Theme
from ui.widgets.basics import button, keycap, label, row, tool


class TopBar(QFrame):
    """Name, search, lock, menu."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("topbar")
        self._theme = theme
        self._name = label("Loci", "section")
        self.search = QLineEdit()
        self.search.setObjectName("search")
        self.search.setPlaceholderText("Search everything you and your assistants remember")
        self.search.setAccessibleName("Search")
        self.search.setClearButtonEnabled(True)
        self.search.setMaximumWidth(624)
        self.search.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._glass = self.search.addAction(QIcon(), QLineEdit.ActionPosition.LeadingPosition)
        self._keys = keycap("Ctrl K")
        self._keys.setToolTip("Ctrl+K shows all commands")
        inside = row(None, self._keys, parent=self.search)
        inside.setContentsMargins(0, 0, 8, 0)
        self.search.textChanged.connect(lambda text: self._keys.setVisible(not text))
        self.lock: QPushButton = button("Lock", kind="chip", hint="Lock the palace (Ctrl+L)", theme=theme, icon="lock")
        self.menu: QToolButton = tool(theme, "ellipsis", "Menu")
        self.menu.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._layout = row(self._name, self.search, None, self.lock, self.menu, parent=self, gap=8)
        self._layout.setStretch(1, 8)
        self._layout.setStretch(2, 3)
        self._paint()
        theme.changed.connect(self._paint)

    def show_menu(self, menu: QMenu) -> None:
        """Give the menu button its menu."""
        self.menu.setMenu(menu)

    def open_vault(self, *, is_open: bool) -> None:
        """Show what makes sense while the vault is open, or while it is not."""
        for one in (self.search, self.lock):
            one.setVisible(is_open)

    def _paint(self) -> None:
        self.setFixedHeight(self._theme.px(52))
        self._layout.setContentsMargins(self._theme.px(18), 0, self._theme.px(16), 0)
        self._name.setFixedWidth(self._theme.px(62))
        side = self._theme.px(16)
        self._glass.setIcon(QIcon(self._theme.icon("search", "muted").pixmap(QSize(side, side))))
        self._name.setAlignment(Qt.AlignmentFlag.AlignVCenter)
