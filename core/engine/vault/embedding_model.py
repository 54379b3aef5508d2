"""The facade's group for the embedding model: which one is searched with, changing it, and what the change needs.

The job in `core.lifecycle.embedding` does the work, batch by batch; here models are opened and indexes
exchanged. Must not do: call a server that is not this machine, write a vector, or ask on the thread of the loop.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import CancelledError as Dropped
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from core.config.help_strings import read_help_strings
from core.embed.embedder import Embedder
from core.embed.server_embedder import REST_S, ServedEmbedder
from core.engine.runtime.open_vault import OpenVault
from core.engine.runtime.search import VaultVectorLoader, make_active_space
from core.engine.runtime.settings import Settings
from core.engine.runtime.storage import chain_work
from core.errors import Code, EnvironmentFaultError, LociError, UserError
from core.index.flat import NO_LABELS
from core.index.manager import IndexManager, MaintenanceDue
from core.lifecycle.embedding import TargetSpace
from core.lifecycle.job_support.job_context import JobContext
from core.llm.ollama import ModelServer, ServerLimits, load_library
from core.llm.server_address import parse_address
from core.memory import vector_spaces
from core.memory.write import SERVED, VectorSpace, count_without_vectors
from core.score.profile import profile_from_options
from core.types.clock import Clock
from core.types.lifecycle import ChangeCost, Embedding, KeptSpace, Offered, Offers
from core.types.values import LIFECYCLE_ACTOR
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

T = TypeVar("T")

VERB = "embedder"
_OPTION = "embedder"
_CLEARTEXT = "cleartext"
_PROBE = "How long is a vector?"
_SAMPLE, _MOST_CHARACTERS, _LEAST_S = 16, 2_000, 0.001
_LIMITS = ServerLimits(silence_s=30.0, whole_s=30.0)
_BEYOND_S = 5.0
_LONGEST_REST_S = 1_800.0
_STOP_S = 3.0
_DAY_MS = 86_400_000
_AWAY_NOW = frozenset({Code.EMBEDDER_UNAVAILABLE, Code.MODEL_SERVER_FAILED})


@dataclass(frozen=True, slots=True)
class _Model:
    """A model that answered: its space and what embeds for it."""

    open_vault: OpenVault
    space: VectorSpace
    embedder: Embedder


@dataclass(frozen=True, slots=True)
class _Built:
    """An index off to the side."""

    open_vault: OpenVault
    model: _Model
    index: IndexManager


class EmbeddingModels:
    """Everything about the embedding model of an open vault; implements `core.lifecycle.embedding.MigrationHost` too.

    Attributes:
        wished: called when another model was wished for, so that its job need not wait for the next heartbeat.
    """

    def __init__(
        self,
        open_vault: Callable[[], OpenVault],
        loop: Callable[[], asyncio.AbstractEventLoop],
        built_in: Embedder,
        settings: Settings,
    ) -> None:
        """Tie the ends together.

        Args:
            open_vault: gives the open vault, or raises VAULT_LOCKED.
            loop: the engine's loop, on which servers are asked.
            built_in: the embedder that needs no server.
            settings: where the requested model is kept.
        """
        self._open_vault = open_vault
        self._loop = loop
        self._built_in = built_in
        self._settings = settings
        self.wished: Callable[[], None] = lambda: None
        self._lock = threading.Lock()  # guards everything below
        self._server: tuple[str, ModelServer] | None = None
        self._model: _Model | None = None
        self._built: _Built | None = None
        self._rests_until = 0.0
        self._failures = 0

    # ---- for the person

    def read_state(self) -> Future[Embedding]:
        """The embedder as it stands, and how far a change has come.

        Raises:
            UserError: VAULT_LOCKED.
        """
        open_vault = self._open_vault()
        return open_vault.storage.read_quietly(lambda rows: _read_embedding_state(open_vault, rows))

    def begin_change(self, model: str) -> Future[Embedding]:
        """Ask for another model; the job makes the new vectors in the background, and search goes on meanwhile.

        Args:
            model: "" for the built-in one, else `ollama:<model>`.

        Returns:
            How it stands then. The future raises EMBEDDER_UNAVAILABLE or MODEL_SERVER_FAILED where the model does not
            answer, EMBEDDING_FAILED or DIMENSION_MISMATCH where it gives no usable vectors.

        Raises:
            UserError: VAULT_LOCKED; CONFIG_INVALID for another name.
        """
        open_vault = self._open_vault()
        _check_model_option(model)
        probed = open_vault.storage.run_on(open_vault.storage.threads.checks, self._open_model, open_vault, model)
        return chain_work(
            chain_work(probed, lambda _: self._settings.set_option(_OPTION, model)),
            lambda _: self._begin_embedding_change(),
        )

    def _begin_embedding_change(self) -> Future[Embedding]:
        self.wished()
        return self.read_state()

    def list_models(self) -> Future[Offers]:
        """What the local server has that can be searched with; a server that is away is no failure.

        Raises:
            UserError: VAULT_LOCKED.
        """
        open_vault = self._open_vault()

        def list_served() -> Offers:
            try:
                installed = self._call_server(lambda server: server.list_models())
            except LociError as error:
                return Offers((), error.code.value)
            fit = sorted(
                (one for one in installed if one.is_here and not one.speaks), key=lambda one: one.name.casefold()
            )
            return Offers(tuple(Offered(f"{SERVED}{one.name}", one.bytes) for one in fit))

        return open_vault.storage.run_on(open_vault.storage.threads.checks, list_served)

    def estimate_change(self, model: str) -> Future[ChangeCost]:
        """What a change to a model takes; a few sentences of its own are embedded, and nothing is changed.

        Args:
            model: as `begin` takes it.

        Returns:
            It; the future raises as that of `begin`.

        Raises:
            UserError: VAULT_LOCKED; CONFIG_INVALID for another name.
        """
        open_vault = self._open_vault()
        _check_model_option(model)

        def measure_change() -> ChangeCost:
            found = self._open_model(open_vault, model, keep=False)
            lacking, size = open_vault.storage.vault.read(
                lambda rows: (count_without_vectors(rows, found.space), _usual_size(rows))
            )
            sample = (f"{_PROBE} " * (1 + size // len(_PROBE)))[:size]
            began = open_vault.storage.clock.monotonic()
            found.embedder.embed([f"{number} {sample}" for number in range(_SAMPLE)])
            each = max(_LEAST_S, open_vault.storage.clock.monotonic() - began) / _SAMPLE
            return ChangeCost(
                model,
                found.space.dims,
                lacking,
                lacking * each,
                str(read_help_strings("embedders")["note"]) if model else "",
            )

        return open_vault.storage.run_on(open_vault.storage.threads.checks, measure_change)

    def cancel_change(self) -> Future[Embedding]:
        """Stay with the model that is searched with; the job drops what was made for the other one.

        Raises:
            UserError: VAULT_LOCKED.
        """
        active_model = vector_spaces.embedder_option(self._open_vault().search.space)
        return chain_work(self._settings.set_option(_OPTION, active_model), lambda _: self.read_state())

    def forget_vectors(self, name: str) -> Future[Embedding]:
        """Give up the vectors of a model that is not used any more; the job drops them.

        Args:
            name: of its space.

        Raises:
            UserError: VAULT_LOCKED; the future raises NOT_FOUND.
        """
        open_vault = self._open_vault()

        def write(tx: Tx) -> None:
            if not vector_spaces.note_unwanted(tx, name):
                raise UserError(Code.NOT_FOUND, "There are no old vectors of that model.")

        return chain_work(open_vault.storage.write(write), lambda _: self.read_state())

    # ---- for opening and closing

    def embedder_for(self, space: VectorSpace) -> Embedder:
        """What makes vectors of a space that is searched; nothing is asked yet.

        Args:
            space: of the vault that opens.
        """
        return self._make_served_embedder(space) if space.served else self._built_in

    def close_server(self) -> None:
        """The vault closes: let go of the server and of whatever was built for it."""
        with self._lock:
            server, self._server, self._model, self._built = self._server, None, None, None
            self._rests_until, self._failures = 0.0, 0
        if server is not None:
            with suppress(EnvironmentFaultError):
                self._run_on_loop(server[1].close(), _STOP_S)

    # ---- for the job

    def is_requested(self, active: VectorSpace, wanted_model: str) -> bool:
        """Whether the searched space is the requested one, in the version its model has; see `MigrationHost`."""
        has_changed = active.served and self._open_vault().search.active_space.fault.code is Code.MODEL_CHANGED
        return vector_spaces.embedder_option(active) == wanted_model and not has_changed

    def is_reachable(self, wanted_model: str) -> bool:
        """Whether the requested model can be tried now; see `MigrationHost`."""
        with self._lock:
            return not wanted_model or self._open_vault().storage.clock.monotonic() >= self._rests_until

    def open_target(self, context: JobContext, wanted_model: str) -> TargetSpace | None:
        """The space of the requested model; None where its server does not answer now; see `MigrationHost`."""
        del context
        open_vault = self._open_vault()
        with self._lock:
            known = self._model
        try:
            if (
                known is None
                or known.open_vault is not open_vault
                or vector_spaces.embedder_option(known.space) != wanted_model
            ):
                known = self._open_model(open_vault, wanted_model)
            model = known
            return TargetSpace(model.space, lambda texts: self._embed_texts(open_vault, model, texts))
        except LociError as error:
            if error.code not in _AWAY_NOW:
                raise
            self._pause_server(open_vault.storage.clock)
            return None

    def build_index(self, target: TargetSpace) -> _Built:
        """An index over the space as it is now; one that was built a moment ago is brought up to date."""
        open_vault = self._open_vault()
        with self._lock:
            built, model = self._built, self._model
        if model is None or model.space != target.space:
            raise EnvironmentFaultError(Code.EMBEDDER_UNAVAILABLE, "The model to change to is not open any more.")
        if built is None or built.open_vault is not open_vault or built.model is not model:
            index = IndexManager(target.space.dims, hnsw_from=open_vault.options.hnsw_from)
            built = _Built(open_vault, model, index)
        index, stopped = built.index, open_vault.storage.closing.is_set
        open_vault.storage.vault.read(
            lambda rows: index.warm(VaultVectorLoader(rows, target.space), _ignore_progress, stopped), deadline_s=None
        )
        while index.due() is not MaintenanceDue.NOTHING:
            index.maintain(_ignore_progress, stopped)
        with self._lock:
            self._built = built
        return built

    def swap_index(self, tx: Tx, built: _Built) -> None:
        """Bring the index up to this transaction, and search it as soon as that is saved; see `MigrationHost`.

        Searches that began before end on the old index (E34.4). On the writer's thread nobody else can write.
        """
        open_vault, model = built.open_vault, built.model
        built.index.warm(VaultVectorLoader(tx, model.space), _ignore_progress, lambda: False)
        vector_spaces.note_active(tx, model.space, open_vault.search.space)
        seq = tx.seq

        def use_built_space() -> None:
            built.index.apply(seq, NO_LABELS, np.empty((0, model.space.dims), np.float32))
            profile = profile_from_options(open_vault.search.retrieval)
            active_space = make_active_space(
                model.embedder,
                model.space,
                built.index,
                profile,
                lambda: open_vault.search.readers,
                open_vault.storage.make_id,
                open_vault.storage.work,
                open_vault.search.active_space.weigh,
            )
            open_vault.search.use_vector_space(active_space)
            with self._lock:
                self._built = None

        with open_vault.storage.verb(tx, LIFECYCLE_ACTOR, VERB) as verb:
            tx.after_commit(use_built_space)
            verb.set_outcome(())

    # ---- models

    def _open_model(self, open_vault: OpenVault, wanted_model: str, *, keep: bool = True) -> _Model:
        """Ask the model for one vector, and name its space by what came back; the job goes by the one that is kept."""
        if not wanted_model:
            own = self._built_in
            space = open_vault.storage.vault.read(
                lambda rows: vector_spaces.find_or_name_space(rows, own.name, own.version, own.dims)
            )
            model = _Model(open_vault, space, own)
        else:
            version = self._read_model_version(wanted_model)
            dims = len(self._embed_on_server(wanted_model, [_PROBE])[0])
            space = open_vault.storage.vault.read(
                lambda rows: vector_spaces.find_or_name_space(rows, wanted_model, version, dims)
            )
            model = _Model(open_vault, space, self._make_served_embedder(space))
            model.embedder.embed_one(_PROBE)  # a model without directions is refused here, not in the middle
        if keep:
            with self._lock:
                self._model, self._failures, self._rests_until = model, 0, 0.0
        return model

    def _make_served_embedder(self, space: VectorSpace) -> ServedEmbedder:
        wanted_model = vector_spaces.embedder_option(space)
        return ServedEmbedder(
            wanted_model,
            space.model,
            space.dims,
            lambda texts: self._embed_on_server(wanted_model, texts),
            lambda: self._read_model_version(wanted_model),
            lambda: self._open_vault().storage.clock.monotonic(),
        )

    def _embed_texts(self, open_vault: OpenVault, model: _Model, texts: Sequence[str]) -> NDArray[np.float32]:
        try:
            return open_vault.storage.run_on(open_vault.storage.threads.compute, model.embedder.embed, texts).result()
        except LociError as error:
            if error.code in _AWAY_NOW:
                self._pause_server(open_vault.storage.clock)
            if error.code is Code.MODEL_CHANGED:
                with self._lock:
                    self._model = None  # another version from here on: the next batch names a new space
            raise

    def _pause_server(self, clock: Clock) -> None:
        """The server is left alone for a while, longer each time."""
        with self._lock:
            pause = min(_LONGEST_REST_S, REST_S * 2.0 ** min(self._failures, 16))
            self._rests_until, self._failures = clock.monotonic() + pause, self._failures + 1

    # ---- the server

    def _embed_on_server(self, wanted_model: str, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        name = wanted_model.removeprefix(SERVED)
        return self._call_server(lambda server: server.embed(name, texts, (_CLEARTEXT,) * len(texts)))

    def _read_model_version(self, wanted_model: str) -> str:
        name = wanted_model.removeprefix(SERVED)
        installed = self._call_server(lambda server: server.list_models())
        found = next((one for one in installed if name in (one.name, one.name.removesuffix(":latest"))), None)
        if found is None or not found.is_here:
            raise EnvironmentFaultError(
                Code.EMBEDDER_UNAVAILABLE, "The model server does not have that model on this machine."
            )
        return found.digest[:16] or "unknown"

    def _call_server(self, ask: Callable[[ModelServer], Coroutine[Any, Any, T]]) -> T:
        load_library()  # on this thread: it takes a moment, and the loop must not
        return self._run_on_loop(
            self._ask_server_at(self._open_vault().options.model_host, ask), _LIMITS.whole_s + _BEYOND_S
        )

    async def _ask_server_at(self, host: str, ask: Callable[[ModelServer], Coroutine[Any, Any, T]]) -> T:
        return await ask(await self._server_at(host))

    async def _server_at(self, host: str) -> ModelServer:
        """The server at an address; its name is looked up beside the loop, where nobody waits for it but the call."""
        with self._lock:
            if self._server is not None and self._server[0] == host:
                return self._server[1]
        # Every text goes through an embedder: it stays on this machine, whatever is allowed for single questions.
        storage = self._open_vault().storage
        # Not on the threads that embed: they wait for this very call.
        found = storage.run_on(storage.threads.layouts, partial(parse_address, host, beyond=False))
        server = ModelServer(await asyncio.wrap_future(found), _LIMITS)
        with self._lock:
            old, self._server = self._server, (host, server)
        if old is not None:
            with suppress(EnvironmentFaultError):
                await old[1].close()
        return server

    def _run_on_loop(self, work: Coroutine[Any, Any, T], within_s: float) -> T:
        try:
            running = asyncio.run_coroutine_threadsafe(work, self._loop())
        except RuntimeError:
            work.close()
            raise _model_unavailable_error() from None
        with suppress(RuntimeError):
            if asyncio.get_running_loop() is self._loop():
                raise _model_unavailable_error()  # its own thread cannot wait for it; closing goes on by itself
        try:
            return running.result(within_s)
        except (TimeoutError, Dropped):
            running.cancel()
            raise _model_unavailable_error() from None


def _check_model_option(model: str) -> None:
    if model and not model.startswith(SERVED):
        raise UserError(Code.CONFIG_INVALID, "A search model is named ollama:<model>, or nothing for the built-in.")


def _usual_size(rows: Rows) -> int:
    """Characters of a usual memory, by the newest ones."""
    found = rows.value("SELECT avg(length(text)) FROM (SELECT text FROM memories ORDER BY n DESC LIMIT 500)")
    return int(min(_MOST_CHARACTERS, max(len(_PROBE), found or 0)))


def _model_unavailable_error() -> EnvironmentFaultError:
    return EnvironmentFaultError(Code.EMBEDDER_UNAVAILABLE, "No model server answers.")


def _ignore_progress(_done: int, _total: int) -> None:
    """The job tells its own progress."""


def _read_embedding_state(open_vault: OpenVault, rows: Rows) -> Embedding:
    wanted_model, space = open_vault.options.embedder, open_vault.search.space
    building = vector_spaces.find_space_in_state(rows, "building")
    done = total = 0
    if wanted_model != vector_spaces.embedder_option(space):
        done = 0 if building is None else vector_spaces.count_vectors(rows, building)
        total = done + count_without_vectors(rows, building or VectorSpace(wanted_model or "", "", 1))
    code = open_vault.search.active_space.fault.code
    return Embedding(
        model=vector_spaces.embedder_option(space),
        space=space.name,
        dims=space.dims,
        wished=wanted_model,
        done=done,
        total=total,
        code="" if code is None else code.value,
        kept=tuple(
            KeptSpace(
                one.space.name,
                vector_spaces.count_vectors(rows, one.space),
                (one.finished_at or 0) + vector_spaces.KEPT_DAYS * _DAY_MS,
            )
            for one in vector_spaces.read_all_spaces(rows)
            if one.state == "old"
        ),
        note=str(read_help_strings("embedders")["note"]) if wanted_model else "",
    )
