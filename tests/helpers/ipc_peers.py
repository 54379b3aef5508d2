"""What tests of the socket do as a peer: send any bytes, look at the code of a refusal, hold an answer to the protocol.

Must not do: know an engine.
"""

from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from core.errors import Code, LociError
from core.ipc.client.client import Client
from core.ipc.protocol import contract

REGISTRY = contract.load_registry()


class Raw:
    """A peer that sends bytes and reads lines."""

    def __init__(self, path: Path) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(60)
        self.sock.connect(os.fspath(path))
        self._file = self.sock.makefile("rb")

    def send(self, data: bytes) -> bool:
        """Whether the server still took it."""
        try:
            self.sock.sendall(data)
        except OSError:
            return False
        return True

    def line(self) -> dict[str, Any] | None:
        """The next message; None when the server closed."""
        try:
            line = self._file.readline()
        except ConnectionError:
            return None
        if not line:
            return None
        found: dict[str, Any] = json.loads(line)
        return found

    def ask(self, data: bytes) -> dict[str, Any] | None:
        """Send bytes and read the next message."""
        self.send(data)
        return self.line()

    def close(self) -> None:
        """End the connection."""
        self._file.close()
        self.sock.close()


def code_of(call: Callable[[], object]) -> Code | None:
    """The code a call fails with; None when it does not fail."""
    try:
        call()
    except LociError as error:
        return error.code
    return None


def refusal_of(client: Client, method: str, params: Mapping[str, Any] | None = None) -> Code | None:
    """The code a method is refused with; None when it is answered."""
    return code_of(lambda: client.call(method, params))


def answers_as_said(method: str, result: Mapping[str, Any]) -> None:
    """Fail a result that is not as the protocol has it."""
    for problem in REGISTRY.result_checker(method).iter_errors(result):
        raise AssertionError(f"{method}: {problem.message}")


def until(condition: Callable[[], object]) -> None:
    """Wait for something that happens on another thread; gives up after a minute."""
    pause = threading.Event()
    for _ in range(6000):
        if condition():
            return
        pause.wait(0.01)
    raise AssertionError("it never happened")
