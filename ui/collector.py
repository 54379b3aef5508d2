"""Python's garbage is collected on the GUI thread, and nowhere else.

Trigger: the interpreter collects on whichever thread happens to allocate. Why: an engine thread that frees a widget
or a timer ends the program. Outcome: while a window lives, collection is switched off and done here, little by little.
"""

from __future__ import annotations

import gc

from PySide6.QtCore import QObject, QTimer

YOUNG_MS = 1_000
OLD_EVERY = 60  # young collections
_ENOUGH = 2_000  # allocations since the last young collection


class Collector(QObject):
    """Collects from a timer; `stop` gives the work back to the interpreter."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rounds = 0
        # What is loaded by now stays: looking through it again and again would stall the window.
        gc.collect()
        gc.freeze()
        gc.disable()
        self._timer = QTimer(self)
        self._timer.setInterval(YOUNG_MS)
        self._timer.timeout.connect(self._collect)
        self._timer.start()

    def _collect(self) -> None:
        self._rounds += 1
        if self._rounds % OLD_EVERY == 0:
            gc.collect(2)
        elif gc.get_count()[0] > _ENOUGH:
            gc.collect(1)

    def stop(self) -> None:
        """Let the interpreter collect again; the window is gone."""
        self._timer.stop()
        gc.enable()
        gc.unfreeze()
