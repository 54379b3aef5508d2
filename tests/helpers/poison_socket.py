"""A real socket server on a real engine, for attacks through the wire."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from engine_rig import Rig

from core.engine.runtime.threads import EngineLoop
from core.ipc.client.client import Client, open_session
from core.ipc.protocol import contract
from core.ipc.protocol.transport import Place
from core.ipc.socket.server import Hooks, Server


class Wire:
    """The socket of a rig's engine, and its clients."""

    def __init__(self, rig: Rig, place: Place) -> None:
        self._rig, self.place = rig, place

    def client(self, name: str, *grants: str) -> Client:
        """Pair a client and greet."""
        paired = self._rig.engine.clients.pair(name, grants, "none").result(30)
        return self.greet(name, paired.token)

    def greet(self, name: str, token: bytes) -> Client:
        """Another connection of a client; waits a little where there is no room yet."""
        client, _ = open_session(self.place, name, token, self._rig.engine.vault_id, patience_s=60)
        return client

    def settled(self, holds: Callable[[], bool], within_s: float = 60.0) -> bool:
        """Whether something holds soon."""
        until = time.monotonic() + within_s
        while not holds():
            if time.monotonic() > until:
                return False
            time.sleep(0.01)
        return True


@contextmanager
def wire_to(rig: Rig, folder: Path) -> Iterator[Wire]:
    """Serve an engine until the block ends.

    Args:
        folder: for the socket.
    """
    loop = EngineLoop()
    loop.start()
    place = Place(folder / "run" / "loci.sock")

    async def begin() -> Server:
        place.path.parent.mkdir(parents=True, exist_ok=True)
        server = Server(rig.engine, place, contract.load_registry(), version="0.0.test", hooks=Hooks())
        await server.start(publish=True)
        return server

    server = asyncio.run_coroutine_threadsafe(begin(), loop.loop).result(10)
    try:
        yield Wire(rig, place)
    finally:
        asyncio.run_coroutine_threadsafe(server.stop(), loop.loop).result(10)
        loop.stop()
