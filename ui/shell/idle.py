"""Notices that nobody is there and says so once."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QTimer, Signal
from PySide6.QtGui import QInputEvent

_TOUCHES = {
    QEvent.Type.KeyPress,
    QEvent.Type.MouseButtonPress,
    QEvent.Type.MouseMove,
    QEvent.Type.Wheel,
    QEvent.Type.TouchBegin,
    QEvent.Type.TabletPress,
}
_LOOK_MS = 5_000
_TOLD_S = 1.0


class IdleWatch(QObject):
    """Watches keys and mouse of the whole application.

    Signals:
        idle: nobody touched anything for the minutes that were set.
        touched: somebody did; told at most once a second.
    """

    idle = Signal()
    touched = Signal()

    def __init__(
        self, application: QCoreApplication, monotonic: Callable[[], float], now_ms: Callable[[], int]
    ) -> None:
        """Begin to watch.

        Args:
            application: whose events.
            monotonic: seconds that never go back; they may be still while the computer sleeps.
            now_ms: the present, epoch ms; it goes on meanwhile.
        """
        super().__init__(application)
        self._monotonic, self._now_ms = monotonic, now_ms
        self._last, self._last_ms = monotonic(), now_ms()
        self._limit = 0.0
        self._reported_at: float | None = None
        self._timer = QTimer(self)
        self._timer.setInterval(_LOOK_MS)
        self._timer.timeout.connect(self.check_idle)
        application.installEventFilter(self)

    def set_limit(self, minutes: int) -> None:
        """Set how long nobody must be there.

        Args:
            minutes: 0 for never.
        """
        self._limit = minutes * 60.0
        self._note_activity()
        if minutes:
            self._timer.start()
        else:
            self._timer.stop()

    def check_idle(self) -> None:
        """Say so if it is time."""
        # Trigger: the computer slept. Why: the monotonic clock is still then on some systems, and the palace was
        # open on waking. Outcome: the longer of the two counts; a wall clock put forward locks too early at worst.
        away = max(self._monotonic() - self._last, (self._now_ms() - self._last_ms) / 1000)
        if self._limit and away >= self._limit:
            self._note_activity()
            self.idle.emit()

    def _note_activity(self) -> None:
        self._last, self._last_ms = self._monotonic(), self._now_ms()

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """Note a touch; the first one after a long sleep comes too late."""
        # Of tens of thousands of events few are of the person's; their class is known at once, their type is not.
        if isinstance(event, QInputEvent) and event.type() in _TOUCHES:
            self.check_idle()
            self._note_activity()
            if self._reported_at is None or self._last - self._reported_at >= _TOLD_S:
                self._reported_at = self._last
                self.touched.emit()
        return False

    def stop_watch(self) -> None:
        """Watch no more."""
        self._timer.stop()
        application = QCoreApplication.instance()
        if application is not None:
            application.removeEventFilter(self)
