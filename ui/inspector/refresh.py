"""Reading something of the shown memory once more when the vault changes: what the inspector itself does not watch.

The inspector tells its parts anew where the memory, its history or its belief is different; a rule's counts, or how
long a memory lasts, are none of these. Must not do: know what is read.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer

from core.events import Changed
from ui.context import Part

_SOON_MS = 150
_FEW = 16


class Refresh(QObject):
    """Asks a part to read again, a moment after a change that may concern it; not while the part is hidden."""

    def __init__(self, part: Part, read: Callable[[], None]) -> None:
        """Make it; it goes with its part.

        Args:
            part: reads something by itself.
            read: reads it.
        """
        super().__init__(part)
        self._part, self._read = part, read
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(_SOON_MS)
        self._soon.timeout.connect(self._go)
        part.context.bridge.changed.connect(self._changed)

    def _changed(self, change: Changed) -> None:
        if len(change.ids) <= _FEW and not self._part.isHidden():
            self._soon.start()

    def _go(self) -> None:
        if self._part.context.bridge.is_open and not self._part.isHidden():
            self._read()
