"""Notices that nobody is there and says so once."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QTimer, Signal

_TOUCHES = {
    QEvent.Type.KeyPress,
    QEvent.Type.MouseButtonPress,
    QEvent.Type.MouseMove,
    QEvent.Type.Wheel,
    QEvent.Type.TouchBegin,
    QEvent.Type.TabletPress,
}
_LOOK_MS = 5_000


class IdleWatch(QObject):
    """Watches keys and mouse of the whole application.

    Signals:
        idle: nobody touched anything for the minutes that were set.
    """

    idle = Signal()

    def __init__(self, application: QCoreApplication, monotonic: Callable[[], float]) -> None:
        """Begin to watch.

        Args:
            application: whose events.
            monotonic: seconds that never go back.
        """
        super().__init__(application)
        self._monotonic = monotonic
        self._last = monotonic()
        self._limit = 0.0
        self._timer = QTimer(self)
        self._timer.setInterval(_LOOK_MS)
        self._timer.timeout.connect(self.look)
        application.installEventFilter(self)

    def watch(self, minutes: int) -> None:
        """Set how long nobody must be there.

        Args:
            minutes: 0 for never.
        """
        self._limit = minutes * 60.0
        self._last = self._monotonic()
        if minutes:
            self._timer.start()
        else:
            self._timer.stop()

    def look(self) -> None:
        """Say so if it is time."""
        if self._limit and self._monotonic() - self._last >= self._limit:
            self._last = self._monotonic()
            self.idle.emit()

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """Note a touch."""
        if event.type() in _TOUCHES:
            self._last = self._monotonic()
        return False

    def stop(self) -> None:
        """Watch no more."""
        self._timer.stop()
        application = QCoreApplication.instance()
        if application is not None:
            application.removeEventFilter(self)
