"""An engine for measuring: a vault in a folder of its own, questions with their parts, and waiting for the index."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.context import AppContext
from app.environment import Environment
from core.engine.facade import Engine, HomeKeys, RootKey, Setup, built_in_embedder, create_vault, read_secret_file
from core.events import Event, Progress
from core.types.clock import Clock, SystemClock
from core.types.replies import ImportReport, StoreReply
from core.types.requests import RecallQuery, StoreRequest
from core.types.values import OWNER_ACTOR

_POLL_S = 0.5
_LIMIT = 10


class TimedEmbedder:
    """The built-in embedder, and how long it took each time."""

    def __init__(self, clock: Clock) -> None:
        self._real = built_in_embedder()
        self._clock = clock
        self.took_ms: list[float] = []

    @property
    def name(self) -> str:
        """The model's name."""
        return self._real.name

    @property
    def dims(self) -> int:
        """Length of a vector."""
        return self._real.dims

    @property
    def version(self) -> str:
        """The model's version."""
        return self._real.version

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts and remember how long it took, in ms."""
        begun = self._clock.monotonic()
        vectors = self._real.embed(texts)
        self.took_ms.append((self._clock.monotonic() - begun) * 1000)
        return vectors

    def embed_one(self, text: str) -> NDArray[np.float32]:
        """Embed one text; not timed."""
        return self._real.embed_one(text)


class BenchVault:
    """An open vault that is asked and fed."""

    def __init__(self, engine: Engine, embedder: TimedEmbedder, clock: Clock, loaded: threading.Event) -> None:
        self._engine = engine
        self._embedder = embedder
        self._clock = clock
        self._loaded = loaded
        self._loaded_at = 0.0

    def note_loaded(self, event: Event) -> None:
        """Take down when the index held everything; a subscriber of the hub."""
        if isinstance(event, Progress) and event.job == "index" and event.done == event.total:
            self._loaded_at = self._clock.monotonic()
            self._loaded.set()

    def time_question(self, query: str) -> float:
        """Ask one question as the owner.

        Returns:
            How long it took with everything, in ms.
        """
        begun = self._clock.monotonic()
        self.recall_labels(query)
        return (self._clock.monotonic() - begun) * 1000

    def recall_labels(self, query: str) -> list[int]:
        """Labels of what the owner is answered, best first."""
        reply = self._engine.memories.recall(RecallQuery(query, limit=_LIMIT), OWNER_ACTOR).result()
        return [item.memory.n for item in reply.result.items]

    def ask_in_parts(self, query: str) -> tuple[float, float, bool]:
        """Ask one question as the owner.

        Returns:
            How long it took in all and for embedding, in ms; whether there was an answer.
        """
        self._embedder.took_ms.clear()
        begun = self._clock.monotonic()
        found = self.recall_labels(query)
        total = (self._clock.monotonic() - begun) * 1000
        return total, sum(self._embedder.took_ms), bool(found)

    def store_text(self, text: str) -> StoreReply:
        """Remember one text as the owner."""
        return self._engine.memories.store(StoreRequest(text), OWNER_ACTOR).result()

    def import_file(self, path: Path) -> ImportReport:
        """Bring a file in."""
        return self._engine.imports.run(path, None, None, OWNER_ACTOR).result()

    def embed_texts(self, texts: Sequence[str], portion: int) -> None:
        """Embed texts on both compute workers and drop the vectors.

        Args:
            portion: how many each worker takes at a time.
        """
        waiting = [self._engine.embed(texts[at : at + portion]) for at in range(0, len(texts), portion)]
        for part in waiting:
            part.result()

    def read_index_state(self) -> dict[str, Any]:
        """How the index is, as the status page says."""
        return dict(self._engine.vault.read_status().result().values["index"])

    def wait_until_loaded(self) -> float:
        """Wait until the index holds every vector.

        Returns:
            When that was, on the monotonic clock; at once where there are no vectors.
        """
        if self.read_index_state()["total"] == 0:
            return self._clock.monotonic()
        self._loaded.wait()
        return self._loaded_at

    def wait_until_linked(self) -> float:
        """Wait until no vector waits for the graph.

        Returns:
            When that was seen, on the monotonic clock.
        """
        pause = threading.Event()
        while (found := self.read_index_state())["state"] != "ready" or found["waiting_for_graph"]:
            pause.wait(_POLL_S)
        return self._clock.monotonic()


class Bench:
    """A home and its secret.

    Attributes:
        app_context: the process's parts.
        clock: the one clock.
    """

    def __init__(self, app_context: AppContext) -> None:
        self.app_context = app_context
        self.clock: Clock = SystemClock()

    @classmethod
    def from_paths(cls, home: str, secret: str) -> Bench:
        """A home that may be there already.

        Args:
            secret: file with its passphrase.
        """
        folder = Path(home)
        return cls(
            AppContext(
                Environment(
                    home=folder,
                    default_home=folder,
                    secret_file=Path(secret),
                    runtime_dir=None,
                    socket=None,
                    now=None,
                    has_display=False,
                )
            )
        )

    def _read_secret(self) -> str:
        if self.app_context.environment.secret_file is None:
            raise ValueError("a bench needs a secret")
        return read_secret_file(self.app_context.environment.secret_file)

    def create_vault(self) -> None:
        """Make the vault, with the passphrase cost of every vault."""
        create_vault(HomeKeys(self.app_context.home), self._read_secret(), self.clock)

    def open_root(self) -> RootKey:
        """Open the passphrase slot; slow on purpose."""
        return HomeKeys(self.app_context.home).open(self._read_secret())

    @contextmanager
    def open_engine(self, root: RootKey) -> Iterator[BenchVault]:
        """An engine on the vault, closed at the end, which writes the index's snapshot.

        Args:
            root: from `root`.

        Yields:
            The open vault.
        """
        embedder = TimedEmbedder(self.clock)
        engine = Engine(Setup(self.app_context.home, self.clock, embedder))
        palace = BenchVault(engine, embedder, self.clock, threading.Event())
        engine.hub.subscribe(palace.note_loaded)
        try:
            engine.unlock(root)
            yield palace
        finally:
            engine.close()
