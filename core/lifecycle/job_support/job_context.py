"""What a job stands on: reading, writing, embedding and asking, handed in, so that no job knows the engine.

A job comes in two shapes. A `Planner` reads the vault once, makes a list of actions, and the list is carried out in
batches: the same list is the preview, and it is kept with the job, so that a crash at any batch changes nothing; one
that needs the model for a batch is `PreparingPlanner`. A `StreamJob` takes the next few memories again and again
until none is left. Must not do: run anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from core.config.options import Options
from core.embed.embedder import AWAY
from core.errors import LociError
from core.intake.store.store import StoreService
from core.intake.transaction.unit_of_work import UnitOfWork, Verb
from core.intake.transitions.transitions import Transitions
from core.llm.prompts import Prompt
from core.memory.write import Stored, VectorSpace
from core.types.clock import Clock
from core.types.lifecycle import JobType, PlannedAction
from core.types.talk import ConversationStatements, Turn
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

NO_CURSOR: Mapping[str, Any] = MappingProxyType({})


class NearestNeighbours(Protocol):
    """The nearest neighbours of vectors."""

    def __call__(self, vectors: NDArray[np.float32], k: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Find neighbours.

        Args:
            vectors: unit rows, (n, dims).
            k: how many of each, the vector itself among them where it is stored.

        Returns:
            Labels (n, k), -1 where there are fewer, and cosines (n, k).
        """
        ...


@dataclass(frozen=True, slots=True)
class TalkReader:
    """Makes statements of what was said, without a model server.

    Attributes:
        version: changes whenever the same talk could give other statements.
        distill: reads episodes that belong together, in the order in which they were said, each as one turn of its
            author that is not split yet; raises LociError. Gives statements of any of them.
        rest: lets go of what was loaded.
    """

    version: str
    distill: Callable[[Sequence[Turn]], ConversationStatements]
    rest: Callable[[], None] = lambda: None


@dataclass(frozen=True)
class JobContext:
    """What jobs are given.

    Attributes:
        options: in force when the batch begins.
        read: one snapshot of the vault.
        embed: unit rows for texts, behind what people wait for.
        embed_later: begins to make them, on the threads of `embed`; None where they are made when they are wanted.
        begin: begins other work on those threads, which waits for nothing; None where all is done in turn.
        neighbours: neighbours from the index; None while it is not whole.
        ask: puts a question to the local model and gives its answer; None where no model is ready. Raises LociError.
        talk: makes statements of what was said; None where there is no reader.
        is_stopped: whether to end now: the vault closes, or the person stopped the job.
        stored: told sequence, labels and vectors after a commit; `removed` sequence and labels of vanished rows.
        tidy: called behind each stage of a long plan and behind a job: what only jobs need is let go, and memory
            that was freed goes back to the system.
        now_ms: the clock's time.
    """

    clock: Clock
    options: Options
    make_id: Callable[[], str]
    work: UnitOfWork
    store_service: StoreService
    space: VectorSpace
    read: Callable[[Callable[[Rows], Any]], Any]
    embed: Callable[[Sequence[str]], NDArray[np.float32]]
    neighbours: NearestNeighbours | None
    ask: Callable[[Prompt], str] | None
    is_stopped: Callable[[], bool]
    stored: Stored
    removed: Callable[[int, Sequence[int]], None]
    tidy: Callable[[], None]
    talk: TalkReader | None = None
    embed_later: Callable[[Sequence[str]], Future[NDArray[np.float32]]] | None = None
    begin: Callable[[Callable[[], Any]], Future[Any]] | None = None

    @property
    def now_ms(self) -> int:
        """Epoch ms."""
        return self.clock.now_ms()

    def make_transitions(self, tx: Tx, verb: Verb) -> Transitions:
        """The steps of which a job's actions are made."""
        return self.store_service.make_transitions(tx, verb, self.stored, "rules")


def embed_or_none(
    context: JobContext, texts: Sequence[str], begun: Future[NDArray[np.float32]] | None = None
) -> NDArray[np.float32] | None:
    """Vectors of texts; None where the embedder is away: then they wait to be embedded like any other.

    Args:
        texts: one or more.
        begun: what `embed_later` gave for them; None where they are embedded now.

    Returns:
        Unit rows, (texts, dims).
    """
    try:
        return context.embed(texts) if begun is None else begun.result()
    except LociError as error:
        if error.code not in AWAY:
            raise
        return None


@dataclass(frozen=True, slots=True)
class BatchResult:
    """What one batch did.

    Attributes:
        done: how many were looked at.
        counts: what became of them; added up over the run.
        ids: memories that changed, for those who listen.
        is_last: whether nothing is left.
        cursor: where a stream goes on; kept with the job in the same transaction.
    """

    done: int
    counts: Mapping[str, int] = field(default_factory=dict)
    ids: tuple[str, ...] = ()
    is_last: bool = False
    cursor: Mapping[str, Any] = field(default_factory=dict)


@runtime_checkable
class Planner(Protocol):
    """A job that plans, then carries out."""

    @property
    def type(self) -> JobType:
        """Which job."""
        ...

    def plan(self, context: JobContext) -> Sequence[PlannedAction]:
        """List the actions; each memory in at most one of them. Reads only.

        Returns:
            The actions, in the order in which they are carried out; the same vault gives the same list.
        """
        ...

    def apply_plan(self, tx: Tx, verb: Verb, context: JobContext, actions: Sequence[PlannedAction]) -> BatchResult:
        """Carry a few actions out; each is checked against the vault as it is now, and left where it no longer fits.

        Args:
            verb: of the run: all batches are one undo step.
            actions: the next ones of the list.

        Returns:
            What happened; `skipped` counts those left.
        """
        ...


@runtime_checkable
class PreparingPlanner(Planner, Protocol):
    """A planner of which some actions need the model: it is asked before the transaction, or everybody waits for it."""

    def prepare(self, context: JobContext, actions: Sequence[PlannedAction]) -> Any:
        """Make ready what a few actions need; nothing is written.

        Args:
            actions: those that are carried out next.

        Returns:
            What `apply_plan` is handed. What no longer fits by then is left out of it there.
        """
        ...

    def apply_plan(
        self, tx: Tx, verb: Verb, context: JobContext, actions: Sequence[PlannedAction], prepared: Any = None
    ) -> BatchResult:
        """As a planner does; `prepared` from `prepare`, None where nothing was made ready."""
        ...


@runtime_checkable
class StreamJob(Protocol):
    """A job that takes the next few until none is left."""

    @property
    def type(self) -> JobType:
        """Which job."""
        ...

    def count_backlog(self, rows: Rows, context: JobContext, cursor: Mapping[str, Any] = NO_CURSOR) -> int:
        """How many wait.

        Args:
            cursor: what the run begins with; it may be about a part of them.
        """
        ...

    def prepare(self, context: JobContext, cursor: Mapping[str, Any]) -> Any:
        """Read the next few, embed them or ask a model about them; nothing is written.

        Args:
            cursor: where the last batch ended; empty at first.

        Returns:
            What `write` needs; None when nothing is left.
        """
        ...

    def write(self, tx: Tx, verb: Verb | None, context: JobContext, prepared: Any) -> BatchResult:
        """Write what was prepared, as far as it still fits.

        Args:
            verb: of the run; None where what is written is derived and no undo step (`is_derived`).
            prepared: from `prepare`.
        """
        ...

    @property
    def is_derived(self) -> bool:
        """Whether it writes only what can be made anew from the texts: such a run is audited and is no undo step."""
        ...
