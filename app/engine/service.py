"""The headless service: an engine, its socket, and an orderly end."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from importlib.metadata import version
from queue import SimpleQueue
from typing import Any, TypeVar

from app.cli.messages import older_words
from app.context import AppContext
from app.engine.compose import build_engine
from app.engine.connection import open_root
from app.engine.local_session import report_opening
from app.engine.session import Tell
from core.engine.facade import Engine, HomeKeys, RootKey
from core.errors import Code, EnvironmentFaultError, LociError, UserError
from core.events import Event, StateChanged
from core.ipc.methods.administration import older_of
from core.ipc.protocol.contract import load_registry
from core.ipc.socket.server import Hooks, Server, failed_turn, no_socket_error
from core.types.clients import PairingTurn

T = TypeVar("T")

_START_S = 5.0
_END_S = 4.5
_AFTER_HANDOVER_S = 2.2  # calls had the rest of the 5 s of a hand-over
_TURNED = {
    "locked": "The vault was locked; `loci unlock` opens it again, and until then assistants are told so.",
    "open": "The vault was unlocked.",
}
_CLOSING_S = 1.0  # at least, for the vault: what is cut off then is finished at the next start


class Service:
    """An engine with its ear; used by `loci serve`, and later by the window."""

    def __init__(self, app_context: AppContext, engine: Engine, tell: Tell, *, gives_away: bool = True) -> None:
        """Make it; nothing listens yet.

        Args:
            engine: answers.
            tell: says what the person should know.
            gives_away: whether a window may ask it to hand over the vault; one that has a window keeps it.
        """
        self._app_context, self._engine = app_context, engine
        self._gives_away = gives_away
        self._tell = tell
        self.ended = threading.Event()
        self._clock = engine.clock
        self._end_s = _END_S
        self._server: Server | None = None  # made when it starts: it greets with the vault's id, and needs a vault
        self._has_begun = False

    def _make_server(self) -> Server:
        if self._server is None:
            engine = self._engine
            self._server = Server(
                engine,
                self._app_context.place,
                load_registry(),
                version=version("loci-palace"),
                hooks=Hooks(
                    hand_over=self._on_handed_over if self._gives_away else None,
                    admitted=engine.clients.note_seen,
                    refused=lambda refusal: engine.note_refusal(refusal.client_id, refusal.code, refusal.method),
                ),
            )
        return self._server

    def open_pairing(
        self, name: str | None, grants: tuple[str, ...] | None, limit: int | str | None = None
    ) -> PairingTurn:
        """Open pairing for the window; see `core.ipc.socket.pairing`. Where no socket stands, the code fails."""
        port = None if self._server is None else self._server.pairing
        return failed_turn(no_socket_error()) if port is None else port.open_pairing(name, grants, limit)

    def answer_question(self, request_id: str, allow: bool, grants: tuple[str, ...] | None = None) -> Future[bool]:
        """Say yes or no to a question; False where nobody waits for it any more."""
        port = None if self._server is None else self._server.pairing
        return _done_future(value=False) if port is None else port.answer_question(request_id, allow, grants)

    def cancel_pairing(self) -> Future[None]:
        """The code is dead; a question that stands counts as not answered."""
        port = None if self._server is None else self._server.pairing
        return _done_future(None) if port is None else port.cancel_pairing()

    @property
    def pairing(self) -> Service:
        """The port through which the window pairs assistants: `open_pairing`, `answer_question`, `cancel_pairing`."""
        return self

    def bind_socket(self, *, publish: bool) -> None:
        """Bind the socket.

        Args:
            publish: whether it appears in its place at once; else `publish` does that.
        """
        self._run_on_loop(self._make_server().start(publish=publish))

    def start_once(self) -> None:
        """Bind the socket and let it appear, once; where that cannot be, say so and do without.

        The window works without a socket; assistants then cannot reach it.
        """
        if self._has_begun:
            return
        try:
            self._run_on_loop(self._make_server().start(publish=True))
        except LociError as error:
            self._tell(f"{error.code.value}: {error.sentence}")
        else:
            self._has_begun = True

    def publish_socket(self) -> None:
        """Let the socket appear in its place: from here on calls are answered.

        Raises:
            LociError: something else stands in that place.
        """
        self._run_on_loop(self._publish_socket())

    async def _publish_socket(self) -> None:
        self._make_server().publish_socket()

    def _on_handed_over(self) -> None:
        self._end_s = _AFTER_HANDOVER_S
        self.ended.set()

    def stop_service(self) -> None:
        """Answer what is under way, close the socket, lock the vault; all of it within 5 s."""
        until = self._clock.monotonic() + self._end_s
        try:
            # After a hand-over calls have had their time already.
            drain_s = 1.0 if self._end_s == _END_S else 0.0
            if self._server is not None:
                self._run_on_loop(self._server.stop(drain_s), self._end_s - _CLOSING_S)
        except LociError as error:
            self._tell(f"{error.code.value}: the socket did not end in time; it is closed now.")
        finally:
            self._engine.close(max(_CLOSING_S, until - self._clock.monotonic()))

    def _run_on_loop(self, work: Coroutine[Any, Any, None], within_s: float = _START_S) -> None:
        running = asyncio.run_coroutine_threadsafe(work, self._engine.loop)
        try:
            running.result(within_s)
        except TimeoutError:
            running.cancel()
            raise EnvironmentFaultError(Code.BUSY, "The engine does not answer; try again in a moment.") from None


def run_service(app_context: AppContext, tell: Tell, *, must_open: bool = False) -> None:
    """Run until a signal or a hand-over.

    Args:
        tell: says how it goes, on standard error.
        must_open: end where the vault would stay locked, instead of waiting for its owner.

    Raises:
        LociError: WRONG_SECRET, VAULT_BUSY, VAULT_DAMAGED …
    """
    keys = HomeKeys(app_context.home)
    keys.finish_replacement()
    if not keys.exists:
        raise UserError(Code.NO_VAULT, "There is no vault here yet; make one with `loci init`.")
    root = _read_root(app_context, keys)
    if root is None and must_open:
        raise UserError(Code.VAULT_LOCKED, "Nothing opens the vault without asking its owner.")
    engine = build_engine(app_context, tell)
    try:
        _serve_until_end(app_context, engine, root, tell)
    finally:
        engine.close()
        if root is not None:
            root.wipe()  # where the engine never came to take it over


def _serve_until_end(app_context: AppContext, engine: Engine, root: RootKey | None, tell: Tell) -> None:
    engine.claim_home()
    service = Service(app_context, engine, tell)
    # Before anybody is told that it listens: who reads that line may stop it at once.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: service.ended.set())
    service.bind_socket(publish=root is None)
    try:
        if root is not None:
            report_opening(engine.unlock(root), tell)
            older = older_of(engine)
            if older is not None:
                tell(older_words(older))
            service.publish_socket()
        listens = f"Loci is listening at {app_context.place.path}"
        tell(f"{listens}; the vault is locked." if root is None else f"{listens}.")
        _wait_for_end(service, engine, tell)
    finally:
        service.stop_service()


def _read_root(app_context: AppContext, keys: HomeKeys) -> RootKey | None:
    """The root, or None where nobody named a secret: then the vault stays locked until the owner unlocks it."""
    if app_context.environment.secret_file is None and not keys.in_keyring:
        return None
    return open_root(app_context)


def _wait_for_end(service: Service, engine: Engine, tell: Tell) -> None:
    """Wait for the end, and say whenever the vault was locked or unlocked meanwhile, however soon it turned again."""
    told, turns = engine.state, SimpleQueue[str]()

    def note_turn(event: Event) -> None:
        if isinstance(event, StateChanged):
            turns.put(event.state)

    unsubscribe = engine.hub.subscribe(note_turn)
    try:
        # Waiting in slices lets the signal handler of the main thread run.
        while not service.ended.wait(0.5):
            while not turns.empty():
                state = turns.get()
                if state != told and state in _TURNED:
                    tell(_TURNED[state])
                    told = state
    finally:
        unsubscribe()


def _done_future(value: T) -> Future[T]:
    done: Future[T] = Future()
    done.set_result(value)
    return done
