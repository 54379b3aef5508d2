"""The screen locked and the computer put to sleep are heard over D-Bus, from a bus of the test's own."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QObject
from PySide6.QtDBus import QDBusConnection, QDBusMessage
from pytestqt.qtbot import QtBot

from ui.shell.system_lock import SystemLockWatch

ON = True
_NO_DAEMON = shutil.which("dbus-daemon") is None
_LOGIND, _SAVER = "org.freedesktop.login1", "org.freedesktop.ScreenSaver"


class Bus:
    """A private bus with one that plays logind and the screen saver on it, and a watch."""

    def __init__(self, address: str, name: str, parent: QObject) -> None:
        self.sender = QDBusConnection.connectToBus(address, f"sender-{name}")
        self.listener = QDBusConnection.connectToBus(address, f"listener-{name}")
        assert self.sender.isConnected()
        assert self.sender.registerService(_LOGIND)
        assert self.sender.registerService(_SAVER)
        self.watch = SystemLockWatch(parent, self.listener, self.listener)
        self.heard: list[bool] = []
        self.watch.locked.connect(lambda: self.heard.append(True))

    def send(self, path: str, interface: str, name: str, *values: object) -> None:
        message = QDBusMessage.createSignal(path, interface, name)
        message.setArguments(list(values))
        assert self.sender.send(message)
        self.settle(self.sender)

    @staticmethod
    def settle(end: QDBusConnection) -> None:
        """Waits for the daemon's answer: it has then acted on everything this end sent before."""
        assert end.interface().isServiceRegistered(_LOGIND).value()


@pytest.fixture
def bus(qapp: QCoreApplication, tmp_path: Path) -> Iterator[Bus]:
    if _NO_DAEMON:
        pytest.skip("there is no dbus-daemon on this machine")
    daemon = subprocess.Popen(
        ["dbus-daemon", "--session", "--nofork", "--print-address=1", f"--address=unix:path={tmp_path}/bus"],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert daemon.stdout is not None
    address, parent = daemon.stdout.readline().strip(), QObject(qapp)
    made = Bus(address, f"{os.getpid()}-{tmp_path.name}", parent)
    made.watch.set_listening(is_on=True)
    yield made
    made.watch.set_listening(is_on=False)
    parent.deleteLater()
    for end in (made.sender, made.listener):
        QDBusConnection.disconnectFromBus(end.name())
    daemon.kill()
    daemon.wait()
    daemon.stdout.close()


@pytest.mark.starts_process
def test_sleep_and_locks_are_heard_and_their_ends_are_not(bus: Bus, qtbot: QtBot) -> None:
    told = (
        ("/org/freedesktop/login1", f"{_LOGIND}.Manager", "PrepareForSleep", True),
        ("/org/freedesktop/login1/session/_32", f"{_LOGIND}.Session", "Lock"),
        ("/org/freedesktop/ScreenSaver", _SAVER, "ActiveChanged", True),
    )
    for number, one in enumerate(told, 1):
        path, interface, name, *values = one
        bus.send(str(path), str(interface), str(name), *[not value for value in values])
        bus.send(str(path), str(interface), str(name), *values)
        expected = number if values else number + 1  # a lock has no end that says the opposite
        qtbot.waitUntil(lambda: len(bus.heard) >= expected, timeout=5000)  # noqa: B023
        if not values:
            bus.heard.pop()
    assert len(bus.heard) == len(told)


@pytest.mark.starts_process
def test_turned_off_it_hears_nothing(bus: Bus, qtbot: QtBot) -> None:
    assert bus.watch.sources == 5
    bus.watch.set_listening(is_on=False)
    assert bus.watch.sources == 0
    bus.settle(bus.listener)
    bus.send("/org/freedesktop/login1", f"{_LOGIND}.Manager", "PrepareForSleep", ON)
    bus.watch.set_listening(is_on=True)
    bus.send("/org/freedesktop/ScreenSaver", _SAVER, "ActiveChanged", ON)
    qtbot.waitUntil(lambda: bool(bus.heard), timeout=5000)
    assert len(bus.heard) == 1


def test_without_a_bus_nothing_is_heard_and_nothing_fails(qapp: QCoreApplication) -> None:
    parent = QObject(qapp)
    gone = QDBusConnection.connectToBus("unix:path=/nonexistent/bus", f"gone-{os.getpid()}")
    watch = SystemLockWatch(parent, gone, gone)
    watch.set_listening(is_on=True)
    assert watch.sources == 0
    watch.set_listening(is_on=False)
    parent.deleteLater()
