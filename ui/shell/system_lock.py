"""Hears over D-Bus that the screen is locked or the computer goes to sleep, and says so.

Told by logind (`PrepareForSleep`, which a closed lid leads to, and `Lock` of a session) and by the desktop's screen
saver. Where there is no D-Bus nothing is heard and nothing is wrong.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from PySide6.QtCore import SLOT, QObject, Signal, Slot

if TYPE_CHECKING:
    from PySide6.QtDBus import QDBusConnection

# The stubs ask for bytes, the library takes text alone.
_SWITCH, _LOCK = cast("bytes", SLOT("hear_switch(bool)")), cast("bytes", SLOT("hear_lock()"))
_LOGIND = "org.freedesktop.login1"
# The path of a session is not asked for: the lock of another one of this machine locks too early at worst.
_SYSTEM_SIGNALS = (
    (_LOGIND, "/org/freedesktop/login1", f"{_LOGIND}.Manager", "PrepareForSleep", _SWITCH),
    (_LOGIND, "", f"{_LOGIND}.Session", "Lock", _LOCK),
)
_SESSION_SIGNALS = tuple(
    ("", "", name, "ActiveChanged", _SWITCH)
    for name in ("org.freedesktop.ScreenSaver", "org.gnome.ScreenSaver", "org.cinnamon.ScreenSaver")
)


class SystemLockWatch(QObject):
    """Listens to the system and the session bus while it is told to.

    Signals:
        locked: the screen was locked, or the computer goes to sleep.
    """

    locked = Signal()

    def __init__(
        self, parent: QObject, system: QDBusConnection | None = None, session: QDBusConnection | None = None
    ) -> None:
        """Listen to nothing yet.

        Args:
            system: the system's bus, unless another is given.
            session: the session's.
        """
        super().__init__(parent)
        self._given = (system, session)
        self._heard: list[tuple[QDBusConnection, tuple[str, str, str, str, bytes]]] = []

    @property
    def sources(self) -> int:
        """How many signals are listened to."""
        return len(self._heard)

    def set_listening(self, *, is_on: bool) -> None:
        """Listen, or no more."""
        if is_on == bool(self._heard):
            return
        if is_on:
            for bus, signals in zip(self._open_buses(), (_SYSTEM_SIGNALS, _SESSION_SIGNALS), strict=True):
                for one in signals:
                    if bus.isConnected() and bus.connect(*one[:4], self, one[4]):
                        self._heard.append((bus, one))
            return
        for bus, one in self._heard:
            bus.disconnect(*one[:4], self, one[4])
        self._heard.clear()

    def _open_buses(self) -> tuple[QDBusConnection, QDBusConnection]:
        from PySide6.QtDBus import QDBusConnection  # a library of its own, for whoever listens alone

        system, session = self._given
        return system or QDBusConnection.systemBus(), session or QDBusConnection.sessionBus()

    @Slot(bool)
    def hear_switch(self, is_on: bool) -> None:
        """The computer goes to sleep (or wakes up), the screen saver begins (or ends)."""
        if is_on:
            self.locked.emit()

    @Slot()
    def hear_lock(self) -> None:
        """The session is to be locked."""
        self.locked.emit()
