"""The icon in the tray, where the system has one: open, lock, quit."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QMenu, QSystemTrayIcon

from ui.strings import window_strings
from ui.theme.theme import Theme


class Tray(QObject):
    """Stands in the tray while Loci runs; without a tray it is nothing."""

    def __init__(
        self, theme: Theme, show: Callable[[], None], lock: Callable[[], None], leave: Callable[[], None]
    ) -> None:
        """Put it there.

        Args:
            theme: for the icon.
            show: raises the window.
            lock: locks the vault.
            leave: ends the program.
        """
        super().__init__()
        self._theme = theme
        self._menu = QMenu()
        strings = window_strings()["tray"]
        self._menu.addAction(strings["open"], show)
        self._lock = self._menu.addAction(strings["lock"], lock)
        self._menu.addSeparator()
        self._menu.addAction(strings["quit"], leave)
        self._icon = QSystemTrayIcon(self)
        self._icon.setContextMenu(self._menu)
        self._icon.activated.connect(lambda why: show() if why == QSystemTrayIcon.ActivationReason.Trigger else None)
        self._paint_icon()
        theme.changed.connect(self._paint_icon)
        if self.is_there:
            self._icon.show()

    @property
    def is_there(self) -> bool:
        """Whether this system has a tray."""
        return QSystemTrayIcon.isSystemTrayAvailable()

    def show_state(self, state: str) -> None:
        """Show whether the vault is open.

        Args:
            state: the engine's.
        """
        strings = window_strings()["tray"]
        self._icon.setToolTip(strings["title"] if state == "open" else strings["title_locked"])
        self._lock.setEnabled(state == "open")

    def _paint_icon(self) -> None:
        self._icon.setIcon(QIcon(self._theme.icon("landmark", "accent").pixmap(32, 32)))

    def remove_icon(self) -> None:
        """Take it away."""
        self._icon.hide()
        self._menu.deleteLater()
