"""The headless service: an engine, its socket, and an orderly end."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Coroutine
from importlib.metadata import version
from typing import Any

from app.compose import Parts
from app.session import Tell, open_root, tell_opening
from core.engine.facade import Engine, HomeKeys, RootKey
from core.errors import Code, UserError
from core.ipc.protocol import load
from core.ipc.server import Hooks, Server

_STOP_S = 5.0


class Service:
    """An engine with its ear; used by `loci serve`, and later by the window."""

    def __init__(self, parts: Parts, engine: Engine) -> None:
        self._engine = engine
        self.ended = threading.Event()
        self._server = Server(
            engine,
            parts.place,
            load(),
            version=version("loci-palace"),
            hooks=Hooks(
                hand_over=self.ended.set,
                admitted=engine.clients.seen,
                refused=lambda refusal: engine.note_refusal(refusal.client_id, refusal.code),
            ),
        )

    def start(self, *, publish: bool) -> None:
        """Bind the socket.

        Args:
            publish: whether it appears in its place at once; else `publish` does that.
        """
        self._run(self._server.start(publish=publish))

    def publish(self) -> None:
        """Let the socket appear in its place: from here on calls are answered.

        Raises:
            LociError: something else stands in that place.
        """
        self._run(self._publish())

    async def _publish(self) -> None:
        self._server.publish()

    def stop(self) -> None:
        """Answer what is under way, close the socket, lock the vault."""
        self._run(self._server.stop())
        self._engine.close()

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._engine.loop).result(_STOP_S)


def serve(parts: Parts, tell: Tell) -> None:
    """Run until a signal or a hand-over.

    Args:
        parts: the process's parts.
        tell: says how it goes, on standard error.

    Raises:
        LociError: WRONG_SECRET, VAULT_BUSY, VAULT_DAMAGED …
    """
    keys = HomeKeys(parts.home)
    keys.finish_restore()
    if not keys.exist:
        raise UserError(Code.NO_VAULT, "There is no vault here yet; make one with `loci init`.")
    root = _root(parts, keys)
    engine = parts.engine(tell)
    try:
        _serve(parts, engine, root, tell)
    finally:
        engine.close()


def _serve(parts: Parts, engine: Engine, root: RootKey | None, tell: Tell) -> None:
    engine.claim()
    service = Service(parts, engine)
    # Before anybody is told that it listens: who reads that line may stop it at once.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: service.ended.set())
    service.start(publish=root is None)
    try:
        if root is not None:
            if tell_opening(engine.unlock(root), tell):
                engine.accept_older()
            engine.imports.finish_interrupted()
            service.publish()
        tell("Loci is listening; the vault is locked." if root is None else "Loci is listening.")
        _until_told(service)
    finally:
        service.stop()


def _root(parts: Parts, keys: HomeKeys) -> RootKey | None:
    """The root, or None where nobody named a secret: then the vault stays locked until the owner unlocks it."""
    if parts.environment.secret_file is None and not keys.in_keyring:
        return None
    return open_root(parts)


def _until_told(service: Service) -> None:
    # Waiting in slices lets the signal handler of the main thread run.
    while not service.ended.wait(0.5):
        pass
