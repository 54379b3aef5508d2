"""A real socket server on a real engine loop before a stand-in engine, and peers for it.

Must not be used where the engine itself is tested.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any, Self, TypeVar

from ipc_engine import OWNER_TOKEN, VAULT_ID, FakeEngine
from ipc_values import make_client

from core.engine.runtime.threads import EngineLoop
from core.errors import Code, LociError
from core.ipc.client.client import Client, open_session
from core.ipc.protocol import schema
from core.ipc.protocol.transport import Place
from core.ipc.socket.limits import Caps
from core.ipc.socket.server import Hooks, Refusal, Server

REGISTRY = schema.load()

T = TypeVar("T")


class World:
    """An engine, its loop, its server, and clients for them."""

    def __init__(self, folder: Path, *, caps: Caps | None = None, state: str = "open", hand_over: bool = True) -> None:
        self.engine = FakeEngine(state)
        self.place = Place(folder / "run" / "loci.sock")
        self.refusals: list[Refusal] = []
        self.displaced: list[int] = []
        self.handed_over = threading.Event()
        hooks = Hooks(
            hand_over=self.handed_over.set if hand_over else None,
            refused=self.refusals.append,
            displaced=self.displaced.append,
        )
        self._loop = EngineLoop()
        self._loop.start()
        self._clients: list[Client | Raw] = []
        self.server = self.on_loop(self._make(caps, hooks))

    async def _make(self, caps: Caps | None, hooks: Hooks) -> Server:
        self.place.path.parent.parent.mkdir(parents=True, exist_ok=True)
        server = Server(self.engine.real, self.place, REGISTRY, version="0.0.test", caps=caps, hooks=hooks)
        await server.start(publish=True)
        return server

    def on_loop(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop.loop).result(60)

    def client(self) -> Client:
        """Connected, not greeted."""
        client = Client.connect(self.place, call_s=60)
        self._clients.append(client)
        return client

    def paired(self, name: str = "plug", grants: Sequence[str] = ("read", "propose"), **changes: Any) -> Client:
        """A greeted client; paired first if nobody has that name."""
        record = self.engine.clients.records.get(name) or self.engine.clients.add(make_client(name, grants, **changes))
        client, _ = open_session(self.place, name, record.token, VAULT_ID)
        self._clients.append(client)
        return client

    def owner(self) -> Client:
        """The owner's channel."""
        client, _ = open_session(self.place, "@owner", OWNER_TOKEN, VAULT_ID)
        self._clients.append(client)
        return client

    def raw(self) -> Raw:
        """A socket to send anything through."""
        raw = Raw(self.place.path)
        self._clients.append(raw)
        return raw

    def close(self) -> None:
        for client in self._clients:
            client.close()
        for gate in (self.engine.memories.gate, self.engine.imports.gate):
            if gate is not None:
                gate.set()
        self.on_loop(self.server.stop())
        self._loop.stop()
        self.engine.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


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
        self.send(data)
        return self.line()

    def close(self) -> None:
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
