"""A real engine behind a real socket server, and clients for it; what its groups are asked is written down.

The embedder is the cheap one of `engine_rig`, and the home is a copy of a prepared one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

from engine_rig import Rig, rig_at
from ipc_world import REGISTRY, answers_as_said

from core.engine.facade import Engine
from core.ipc.client.client import Client, open_session
from core.ipc.protocol.transport import Place
from core.ipc.socket.server import Hooks, Refusal, Server
from core.security.handshake import owner_token
from core.security.subkeys import RootKey

T = TypeVar("T")
Asked = tuple[str, tuple[Any, ...], dict[str, Any]]


class Served:
    """An open engine, its server, and clients for them."""

    def __init__(self, rig: Rig) -> None:
        self.rig, self.engine = rig, rig.engine
        self.place = Place(rig.folder / "run" / "loci.sock")
        self.refusals: list[Refusal] = []
        self._clients: list[Client] = []
        self.server = self.on_loop(self._start())

    async def _start(self) -> Server:
        server = Server(
            self.engine, self.place, REGISTRY, version="0.0.test", hooks=Hooks(refused=self.refusals.append)
        )
        await server.start(publish=True)
        return server

    def on_loop(self, work: Coroutine[Any, Any, T]) -> T:
        """Run something on the engine's loop."""
        return asyncio.run_coroutine_threadsafe(work, self.engine.loop).result(60)

    def paired(
        self, name: str = "plug", grants: Sequence[str] = ("read", "propose"), limit: int | str | None = None
    ) -> Client:
        """A greeted client; paired first if nobody has that name."""
        known = self.engine.clients.authenticator().token_for(name)
        token = self.engine.clients.pair(name, grants, limit).result(60).token if known is None else known.token
        return self._greeted(name, token)

    def owner(self) -> Client:
        """The owner's channel."""
        return self._greeted("@owner", owner_token(RootKey(self.rig.root, self.engine.vault_id)))

    def _greeted(self, name: str, token: bytes) -> Client:
        client, _ = open_session(self.place, name, token, self.engine.vault_id)
        self._clients.append(client)
        return client

    def call(self, client: Client, method: str, **params: Any) -> dict[str, Any]:
        """Call a method whose answer is as the protocol has it."""
        found: dict[str, Any] = client.call(method, params)
        answers_as_said(method, found)
        return found

    def client_id(self, name: str = "plug") -> str:
        """The id of a paired client."""
        record = self.engine.clients.authenticator().token_for(name)
        assert record is not None
        return record.id

    def asked(self, group: str) -> list[Asked]:
        """What a group of the engine is asked from here on: verb, arguments, named arguments."""
        return listen(self.engine, group)

    def close(self) -> None:
        """End the clients and the server; the engine is the rig's."""
        for client in self._clients:
            client.close()
        self.on_loop(self.server.stop())


def listen(engine: Engine, group: str) -> list[Asked]:
    """Write down what a group of an engine is asked; it answers as before."""
    asked: list[Asked] = []
    real = getattr(engine, group)

    class Heard:
        def __getattr__(self, verb: str) -> Callable[..., Any]:
            call = getattr(real, verb)

            @wraps(call)
            def heard(*given: Any, **named: Any) -> Any:
                asked.append((verb, given, named))
                return call(*given, **named)

            return heard

    setattr(engine, group, Heard())
    return asked


@contextmanager
def served_at(folder: Path) -> Iterator[Served]:
    """A real engine and its server, for one test."""
    with rig_at(folder) as rig:
        served = Served(rig)
        try:
            yield served
        finally:
            served.close()
