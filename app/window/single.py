"""One window a home: a second start raises the first one's window and ends.

A local socket in the runtime directory, readable by this user alone; the only word on it is `raise`. Nothing of the
vault crosses it, so it is answered while the vault is locked too. Must not do: anything else.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtNetwork import QLocalServer, QLocalSocket

_WORD = b"raise\n"
_WAIT_MS = 1_000


def place_of(socket: Path) -> str:
    """Where the window of a home listens: beside the engine's socket.

    Args:
        socket: the engine's.
    """
    return str(socket.with_suffix(".window"))


def raise_running(name: str) -> bool:
    """Ask the window that runs to come to the front.

    Args:
        name: from `place_of`.

    Returns:
        Whether there is one.
    """
    socket = QLocalSocket()
    socket.connectToServer(name)
    if not socket.waitForConnected(_WAIT_MS):
        return False
    socket.write(_WORD)
    socket.waitForBytesWritten(_WAIT_MS)
    socket.disconnectFromServer()
    return True


class Ear(QObject):
    """Listens for another start."""

    def __init__(self, name: str, called: Callable[[], None]) -> None:
        """Listen; a place that a crash left behind is taken over.

        Args:
            name: from `place_of`.
            called: brings the window to the front.
        """
        super().__init__()
        self._called = called
        Path(name).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        QLocalServer.removeServer(name)
        self._server.newConnection.connect(self._answer)
        self.is_listening = self._server.listen(name)

    def _answer(self) -> None:
        while self._server.hasPendingConnections():
            caller = self._server.nextPendingConnection()
            caller.disconnected.connect(caller.deleteLater)
        self._called()

    def close(self) -> None:
        """Listen no more."""
        self._server.close()
