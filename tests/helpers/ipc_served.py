"""A real engine behind a real socket server, and clients for it; what its groups are asked is written down, or held.

The embedder is the cheap one of `engine_rig`, and the home is a copy of a prepared one.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

from answered import finished
from engine_rig import START_MS, HandClock, Rig, rig_at
from ipc_peers import REGISTRY, Raw, answers_as_said
from ipc_values import METRICS, recall_result

from core.engine.facade import Engine, RecallItem
from core.engine.recall.recalls import RecallReply
from core.ipc.client.client import Client, open_session
from core.ipc.protocol.transport import Place
from core.ipc.socket.limits import Caps
from core.ipc.socket.server import Hooks, Refusal, Server
from core.security.handshake import owner_token
from core.security.keys import RootKey
from core.types.clients import ClientRecord, Moved, Moves
from core.types.clients import Place as Spot
from core.types.requests import RecallQuery
from core.types.values import Actor

T = TypeVar("T")
P = TypeVar("P", Client, Raw)
Asked = tuple[str, tuple[Any, ...], dict[str, Any]]
CHORES = {"run_chores"}
"""What the engine's own upkeep calls every second, whatever is asked."""


class MovedClock(HandClock):
    """Time runs on by itself, and by what the test adds; deadlines and limits see both."""

    def monotonic(self) -> float:
        """Seconds that never run backwards."""
        return super().monotonic() + (self.at_ms - START_MS) / 1000


class Held:
    """One verb of a group of the engine that is not carried out before the test lets it."""

    def __init__(self, group: Any, verb: str) -> None:
        self.waiting: list[Future[Any]] = []
        self._calls: list[Callable[[], Future[Any]]] = []
        self._call = getattr(group, verb)
        setattr(group, verb, self._hold)

    def _hold(self, *given: Any, **named: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self._calls.append(lambda: self._call(*given, **named))
        self.waiting.append(future)
        return future

    def release(self) -> None:
        """Carry out what was asked so far and is still wanted."""
        for future, call in zip(self.waiting, self._calls, strict=True):
            if not future.done() and future.set_running_or_notify_cancel():
                future.set_result(call().result(60))

    def give_up(self) -> None:
        """Carry out nothing; whoever still waits is told that it was cancelled."""
        for future in self.waiting:
            future.cancel()


class Served:
    """An engine, its server, and clients for them."""

    def __init__(self, rig: Rig, *, caps: Caps | None = None, hand_over: bool = True) -> None:
        self.rig, self.engine = rig, rig.engine
        self.place = Place(rig.folder / "run" / "loci.sock")
        self.vault_id = rig.engine.vault_id
        self.refusals: list[Refusal] = []
        self.displaced: list[int] = []
        self.handed_over = threading.Event()
        self._clients: list[Client | Raw] = []
        self._held: list[Held] = []
        hooks = Hooks(
            hand_over=self.handed_over.set if hand_over else None,
            refused=self.refusals.append,
            displaced=self.displaced.append,
        )
        self.server = self.on_loop(self._start(caps, hooks))

    async def _start(self, caps: Caps | None, hooks: Hooks) -> Server:
        self.place.path.parent.parent.mkdir(parents=True, exist_ok=True)
        server = Server(self.engine, self.place, REGISTRY, version="0.0.test", caps=caps, hooks=hooks)
        await server.start(publish=True)
        return server

    def on_loop(self, work: Coroutine[Any, Any, T]) -> T:
        """Run something on the engine's loop."""
        return asyncio.run_coroutine_threadsafe(work, self.engine.loop).result(60)

    # ---- peers

    def raw(self) -> Raw:
        """A socket to send anything through."""
        return self.kept(Raw(self.place.path))

    def client(self) -> Client:
        """Connected, not greeted."""
        return self.kept(Client.connect(self.place, call_s=60))

    def pair(
        self, name: str = "plug", grants: Sequence[str] = ("read", "propose"), limit: int | str | None = None
    ) -> ClientRecord:
        """Pair a client; it is not connected."""
        self.engine.clients.pair(name, grants, limit).result(60)
        return self.record(name)

    def paired(
        self, name: str = "plug", grants: Sequence[str] = ("read", "propose"), limit: int | str | None = None
    ) -> Client:
        """A greeted client; paired first if nobody has that name."""
        known = self.engine.authority.token_for(name)
        return self._greeted(name, (known or self.pair(name, grants, limit)).token)

    def owner(self) -> Client:
        """The owner's channel."""
        return self._greeted("@owner", self.owner_token)

    @property
    def owner_token(self) -> bytes:
        """What the owner's channel proves itself with."""
        return owner_token(RootKey(self.rig.root, self.vault_id))

    def _greeted(self, name: str, token: bytes) -> Client:
        return self.kept(open_session(self.place, name, token, self.vault_id)[0])

    def kept(self, peer: P) -> P:
        """The same peer; it is closed at the end of the test."""
        self._clients.append(peer)
        return peer

    def call(self, client: Client, method: str, **params: Any) -> dict[str, Any]:
        """Call a method whose answer is as the protocol has it."""
        found: dict[str, Any] = client.call(method, params)
        answers_as_said(method, found)
        return found

    # ---- the engine

    def record(self, name: str = "plug") -> ClientRecord:
        """A paired client as the engine knows it now."""
        record = self.engine.authority.token_for(name)
        assert record is not None
        return record

    def client_id(self, name: str = "plug") -> str:
        """The id of a paired client."""
        return self.record(name).id

    def remember(self, text: str, space: str = "GLOBAL", **more: Any) -> str:
        """The id of a memory the person stores."""
        return self.rig.store(text, space=space, **more).memory_id

    def bring(self, texts: Sequence[str], space: str = "home") -> None:
        """Import facts."""
        self.rig.bring([{"text": text, "kind": "fact", "ref": f"b{n}"} for n, text in enumerate(texts)], space)

    def choose(self, **options: Any) -> None:
        """Put other options in force; also values that the settings would not take."""
        self.rig.opened.use_options(self.engine.options.model_copy(update=options))

    def advance(self, ms: int) -> None:
        """Let time pass."""
        assert isinstance(self.rig.clock, MovedClock)
        self.rig.clock.advance(ms)

    def moves(self, kind: str, *ids: str) -> Moves:
        """What was `stored`, `changed` or `gone` in the own space of the client that an id begins with."""
        owners = [self.record(memory_id.split("-")[0]) for memory_id in ids]
        places: list[Spot] = [(one.own_space_id, "active", "", "cleartext", one.id, None) for one in owners]
        return tuple(
            Moved(None if kind == "stored" else place, None if kind == "gone" else place, (memory_id,))
            for memory_id, place in zip(ids, places, strict=True)
        )

    def tell(self, kind: str, *ids: str) -> None:
        """Let whoever listens know of one transaction."""
        self.engine.hub.tell(self.moves(kind, *ids))

    def calls_of(self, verb: str, group: str = "memories") -> list[tuple[Any, ...]]:
        """The arguments of each call of one verb from here on; it answers as before."""
        owner, calls = getattr(self.engine, group), list[tuple[Any, ...]]()
        real = getattr(owner, verb)

        def noted(*given: Any, **named: Any) -> Any:
            calls.append(given)
            return real(*given, **named)

        setattr(owner, verb, noted)
        return calls

    def answer_with(self, *items: RecallItem) -> list[RecallQuery]:
        """Let every search find these; the questions from here on."""
        asked: list[RecallQuery] = []

        def recall(query: RecallQuery, _actor: Actor) -> Future[RecallReply]:
            asked.append(query)
            return finished(RecallReply(recall_result(items[: query.limit]), "receipt-1", METRICS))

        verb = "recall"
        setattr(self.engine.memories, verb, recall)
        return asked

    def asked(self, group: str) -> list[Asked]:
        """What a group of the engine is asked from here on: verb, arguments, named arguments."""
        return listen(self.engine, group)

    def held(self, verb: str, group: str = "memories") -> Held:
        """A verb of the engine that waits from here on."""
        self._held.append(Held(getattr(self.engine, group), verb))
        return self._held[-1]

    def close(self) -> None:
        """End the clients and the server; the engine is the rig's."""
        for client in self._clients:
            client.close()
        for held in self._held:
            held.give_up()
        self.on_loop(self.server.stop())


def client_names(engine: Engine) -> list[str]:
    """Of every client ever paired."""
    return [record.name for record in engine.clients.list().result(60)]


def listen(engine: Engine, group: str) -> list[Asked]:
    """Write down what a group of an engine is asked, but for its chores; it answers as before."""
    asked: list[Asked] = []
    real = getattr(engine, group)

    class Heard:
        def __getattr__(self, verb: str) -> Callable[..., Any]:
            call: Callable[..., Any] = getattr(real, verb)
            if verb in CHORES:
                return call

            @wraps(call)
            def heard(*given: Any, **named: Any) -> Any:
                asked.append((verb, given, named))
                return call(*given, **named)

            return heard

    setattr(engine, group, Heard())
    return asked


@contextmanager
def served_at(
    folder: Path, *, caps: Caps | None = None, hand_over: bool = True, is_open: bool = True
) -> Iterator[Served]:
    """A real engine and its server, for one test."""
    with rig_at(folder, clock=MovedClock(START_MS), is_open=is_open) as rig:
        served = Served(rig, caps=caps, hand_over=hand_over)
        try:
            yield served
        finally:
            served.close()
