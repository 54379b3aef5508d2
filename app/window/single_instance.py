"""One window a home: where it listens, how a second start calls it, and the file that it may hand over.

What is said is one line: `raise`, or a JSON object with the path of a file to open. Must not do: open a file.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtNetwork import QLocalServer, QLocalSocket

_RAISE = b"raise\n"
_WAIT_MS = 1_000
_MOST_BYTES = 64 << 10
"""Of a line; no path of a system is longer."""


def window_socket_place(socket: Path) -> str:
    """Where the window of a home listens: beside the engine's socket.

    Args:
        socket: the engine's.
    """
    return str(socket.with_suffix(".window"))


def raise_running(name: str, file: Path | None = None) -> bool:
    """Ask the window that runs to come to the front.

    Args:
        name: from `window_socket_place`.
        file: what it should open, an absolute path; None for nothing.

    Returns:
        Whether there is one.
    """
    socket = QLocalSocket()
    socket.connectToServer(name)
    if not socket.waitForConnected(_WAIT_MS):
        return False
    socket.write(_RAISE if file is None else write_request(file))
    socket.waitForBytesWritten(_WAIT_MS)
    socket.disconnectFromServer()
    return True


def write_request(file: Path) -> bytes:
    """The line that asks for a file.

    Args:
        file: an absolute path, of any characters.
    """
    return json.dumps({"open": str(file)}).encode("ascii") + b"\n"


def read_request(line: bytes) -> Path | None:
    """The file that a line asks for.

    Args:
        line: what was heard, maybe cut or of another version.

    Returns:
        An absolute path; None where it asks for none, or is not understood: then the window only comes to the front.
    """
    try:
        said = json.loads(line.decode("ascii"))
    except (ValueError, RecursionError):
        return None
    path = said.get("open") if isinstance(said, dict) else None
    if not isinstance(path, str) or "\0" in path or not Path(path).is_absolute():
        return None
    return Path(path)


class StartListener(QObject):
    """Listens for another start."""

    def __init__(self, name: str, called: Callable[[Path | None], None]) -> None:
        """Listen; a place that a crash left behind is taken over.

        Args:
            name: from `window_socket_place`.
            called: brings the window to the front, and opens the file if one is named.
        """
        super().__init__()
        self._called = called
        Path(name).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        QLocalServer.removeServer(name)
        self._server.newConnection.connect(self._on_connection)
        self.is_listening = self._server.listen(name)

    def _on_connection(self) -> None:
        while self._server.hasPendingConnections():
            caller = self._server.nextPendingConnection()
            caller.readyRead.connect(self._on_heard)
            caller.disconnected.connect(caller.deleteLater)
            self._hear(caller)  # what came before anybody listened

    def _on_heard(self) -> None:
        caller = self.sender()
        if isinstance(caller, QLocalSocket):
            self._hear(caller)

    def _hear(self, caller: QLocalSocket) -> None:
        if caller.canReadLine():
            line = bytes(caller.readLine(_MOST_BYTES).data())
            caller.readyRead.disconnect(self._on_heard)  # one line a caller
            self._called(read_request(line))
        elif caller.bytesAvailable() > _MOST_BYTES:
            caller.abort()

    def close(self) -> None:
        """Listen no more."""
        self._server.close()
