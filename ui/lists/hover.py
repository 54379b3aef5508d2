"""Which line is under the pointer, and that a list is drawn anew when the pointer, the keyboard or its width changes.

Must not do: know what is listed.
"""

from __future__ import annotations

from typing import Protocol

from PySide6.QtCore import QEvent, QModelIndex, QObject
from PySide6.QtWidgets import QAbstractItemView, QListView


class Hovered(Protocol):
    """What draws the line under the pointer differently."""

    hovered: int


class HoverWatch(QObject):
    """Tells a painter which line is under the pointer."""

    def __init__(self, view: QAbstractItemView, painter: Hovered) -> None:
        super().__init__(view)
        self._view, self._painter = view, painter
        view.setMouseTracking(True)
        view.entered.connect(self._enter)
        view.installEventFilter(self)
        view.viewport().installEventFilter(self)

    def _enter(self, index: QModelIndex) -> None:
        if index.row() != self._painter.hovered:
            self._painter.hovered = index.row()
            self._view.viewport().update()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """Follow what happens to the view."""
        kind = event.type()
        if kind == QEvent.Type.Leave and watched is self._view.viewport():
            self._enter(QModelIndex())
        elif kind in {QEvent.Type.FocusIn, QEvent.Type.FocusOut} and watched is self._view:
            self._view.viewport().update()  # the ring comes or goes
        elif kind == QEvent.Type.Resize and watched is self._view.viewport() and isinstance(self._view, QListView):
            self._view.scheduleDelayedItemsLayout()  # words wrap anew
        return super().eventFilter(watched, event)
