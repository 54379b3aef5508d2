"""The two jobs that make vectors: one for memories that lack one, and one that changes the embedding model.

A text that gets no vector is passed over and tried again by the next run; when that one is due, `core.engine.jobs`
says. A change of the model (E18.4, E31.15, E34.2) fills a second vector space, then exchanges them. The request is the
option `embedder`: every batch compares it with the vault, and a withdrawn request makes the same job drop what
it filled, so stopping, going on after a crash and turning round need nothing kept anywhere else. All the while the old
space is searched. Must not do: embed what has a vector, keep a vector whose memory is gone, or touch a vector of the
space that is searched.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from core.errors import Code, LociError
from core.intake.transaction.unit_of_work import Verb
from core.lifecycle.job_support.job_context import NO_CURSOR, BatchResult, JobContext
from core.memory import vector_spaces
from core.memory.read import read_by_ids
from core.memory.write import VectorSpace, count_without_vectors, read_without_vectors, write_vectors
from core.text.terms import embedding_text
from core.types.lifecycle import JobType
from core.types.values import Memory
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

BATCH = 50
DROPPED_AT_ONCE = 500
LAST_ROUNDS = 20
"""Somebody may write without a pause: after so many rounds that were not full, what is left over gets its vector behind
the exchange."""
_REFUSED = "refused"
_ROUNDS = "rounds"
_MOST_REFUSED = 1_000


@dataclass(frozen=True, slots=True)
class TargetSpace:
    """The vector space that is being filled.

    Attributes:
        embed: unit rows for texts; raises LociError.
    """

    space: VectorSpace
    embed: Callable[[Sequence[str]], NDArray[np.float32]]


class MigrationHost(Protocol):
    """What the job that moves all vectors to another embedding model needs of the engine."""

    def is_requested(self, active: VectorSpace, wanted_model: str) -> bool:
        """Whether the space that is searched is the one that is requested, in the version its model has."""
        ...

    def is_reachable(self, wanted_model: str) -> bool:
        """Whether the model that is requested can be tried now: its server did not fail a moment ago."""
        ...

    def open_target(self, context: JobContext, wanted_model: str) -> TargetSpace | None:
        """The space of the requested model; None where its server does not answer now.

        Raises:
            LociError: E3002, E3003: it gives no usable vectors.
        """
        ...

    def build_index(self, target: TargetSpace) -> Any:
        """An index over the space as it is now, off to the side."""
        ...

    def swap_index(self, tx: Tx, built: Any) -> None:
        """Bring the index up to this transaction, and search it as soon as that is saved."""
        ...


@dataclass(frozen=True, slots=True)
class MigrationBatch:
    """What one batch writes: vectors of `space`, an exchange (`built`), or the end of a space (neither).

    Attributes:
        refused: labels whose text the model gives no vector for.
    """

    space: VectorSpace
    memories: tuple[Memory, ...] = ()
    vectors: NDArray[np.float32] | None = None
    built: Any = None
    refused: tuple[int, ...] = ()
    rounds: int = 0


class MigrationJob:
    """Implements `core.lifecycle.job_support.job_context.StreamJob`."""

    type = JobType.MIGRATE
    is_derived = True

    def __init__(self, moving: MigrationHost) -> None:
        """Tie it to the engine.

        Args:
            moving: opens models and exchanges indexes.
        """
        self._moving = moving

    def count_backlog(self, rows: Rows, context: JobContext, cursor: Mapping[str, Any] = NO_CURSOR) -> int:
        """How many vectors are to be made or dropped; 0 where nothing is wished, or nothing can be done now."""
        del cursor
        wanted_model = context.options.embedder
        if self._moving.is_requested(_searched_space(rows, context), wanted_model):
            unwanted = _find_unwanted_space(rows, context.now_ms)
            return 0 if unwanted is None else max(1, vector_spaces.count_vectors(rows, unwanted))
        if not self._moving.is_reachable(wanted_model):
            return 0
        building = vector_spaces.find_space_in_state(rows, "building") or VectorSpace("", "", 1)
        return max(1, count_without_vectors(rows, building))

    def prepare(self, context: JobContext, cursor: Mapping[str, Any]) -> MigrationBatch | None:
        """Embed the next fifty; behind the last of them build the index; or find what is to be dropped."""
        wanted_model = context.options.embedder
        active, building = context.read(
            lambda rows: (_searched_space(rows, context), vector_spaces.find_space_in_state(rows, "building"))
        )
        if self._moving.is_requested(active, wanted_model):
            unwanted = context.read(lambda rows: _find_unwanted_space(rows, context.now_ms))
            return None if unwanted is None else MigrationBatch(unwanted)
        target = self._moving.open_target(context, wanted_model)
        if target is None:
            return None
        if building is not None and building != target.space:
            return MigrationBatch(building)  # somebody wished for this one before
        refused = tuple(int(label) for label in cursor.get(_REFUSED, ()))
        rounds = int(cursor.get(_ROUNDS, 0))
        waiting = self._read_waiting_memories(context, target.space, refused)
        if not waiting or rounds >= LAST_ROUNDS:
            return MigrationBatch(target.space, built=self._moving.build_index(target), refused=refused, rounds=rounds)
        return self._embed_batch(target, waiting, refused, rounds + (len(waiting) < BATCH))

    @staticmethod
    def _read_waiting_memories(context: JobContext, space: VectorSpace, refused: tuple[int, ...]) -> tuple[Memory, ...]:
        passed = set(refused)
        rows = context.read(lambda rows: read_without_vectors(rows, space, BATCH + len(passed)))
        ids = [memory_id for label, memory_id in rows if label not in passed][:BATCH]
        found = context.read(lambda rows: read_by_ids(rows, ids))
        return tuple(found[memory_id] for memory_id in ids if memory_id in found)

    @staticmethod
    def _embed_batch(
        target: TargetSpace, waiting: tuple[Memory, ...], refused: tuple[int, ...], rounds: int
    ) -> MigrationBatch:
        texts = [embedding_text(one.text, author=one.author) for one in waiting]
        try:
            return MigrationBatch(target.space, waiting, target.embed(texts), refused=refused, rounds=rounds)
        except LociError as error:
            if error.code is not Code.EMBEDDING_FAILED or len(refused) >= _MOST_REFUSED:
                raise
        kept, vectors, bad = _embed_one_by_one(target, waiting, texts)
        return MigrationBatch(target.space, kept, vectors, refused=(*refused, *bad), rounds=rounds)

    def write(self, tx: Tx, _verb: Verb | None, _context: JobContext, prepared: MigrationBatch) -> BatchResult:
        """Write what was prepared, where it still fits."""
        if prepared.vectors is not None:
            return self._write_vectors(tx, prepared)
        if prepared.built is not None:
            return self._swap_or_wait(tx, prepared, prepared.built)
        dropped = vector_spaces.drop_some(tx, prepared.space, DROPPED_AT_ONCE)
        return BatchResult(dropped, {"dropped": dropped})

    @staticmethod
    def _write_vectors(tx: Tx, prepared: MigrationBatch) -> BatchResult:
        building = vector_spaces.find_space_in_state(tx, "building")
        if building is None:
            vector_spaces.note_building(tx, prepared.space)
        # Between reading and writing a text may have been changed or taken back: its vector would say what it was.
        there = read_by_ids(tx, [one.id for one in prepared.memories])
        same = [n for n, one in enumerate(prepared.memories) if _is_unchanged(there.get(one.id), one)]
        vectors = np.asarray(prepared.vectors)[same]
        write_vectors(tx, [prepared.memories[n].n for n in same], vectors, prepared.space)
        cursor = {_REFUSED: list(prepared.refused), _ROUNDS: prepared.rounds}
        return BatchResult(len(prepared.memories), {"embedded": len(same)}, cursor=cursor)

    def _swap_or_wait(self, tx: Tx, prepared: MigrationBatch, built: Any) -> BatchResult:
        left = count_without_vectors(tx, prepared.space) - _count_still_waiting(tx, prepared)
        if left > 0 and prepared.rounds < LAST_ROUNDS:
            return BatchResult(0, cursor={_REFUSED: list(prepared.refused), _ROUNDS: prepared.rounds + 1})
        self._moving.swap_index(tx, built)
        return BatchResult(1, {"changed": 1, "refused": len(prepared.refused)}, is_last=True)


def _searched_space(rows: Rows, context: JobContext) -> VectorSpace:
    return vector_spaces.find_space_in_state(rows, "active") or context.space


def _find_unwanted_space(rows: Rows, now_ms: int) -> VectorSpace | None:
    """What is to be dropped while nothing is wished: what was filled in vain, and what has been over for long."""
    return vector_spaces.find_space_in_state(rows, "building") or vector_spaces.find_overdue(rows, now_ms)


def _count_still_waiting(rows: Rows, prepared: MigrationBatch) -> int:
    """How many of those whose text has no vector are still there and lack one."""
    passed = set(prepared.refused)
    if not passed:
        return 0
    waiting = read_without_vectors(rows, prepared.space, len(passed) + BATCH)
    return sum(label in passed for label, _ in waiting)


def _is_unchanged(now: Memory | None, then: Memory) -> bool:
    return now is not None and (now.text, now.author) == (then.text, then.author)


def _embed_one_by_one(
    target: TargetSpace, memories: Sequence[Memory], texts: Sequence[str]
) -> tuple[tuple[Memory, ...], NDArray[np.float32], list[int]]:
    """One of them has no direction for this model: find which, so that it holds up nobody."""
    kept: list[Memory] = []
    rows: list[NDArray[np.float32]] = []
    bad: list[int] = []
    for memory, text in zip(memories, texts, strict=True):
        try:
            rows.append(target.embed([text]))
            kept.append(memory)
        except LociError as error:
            if error.code is not Code.EMBEDDING_FAILED:
                raise
            bad.append(memory.n)
    whole = np.concatenate(rows) if rows else np.empty((0, target.space.dims), np.float32)
    return tuple(kept), whole, bad


_BATCH = 50
_AFTER = "after"
_PLAIN = "How long is a vector?"


@dataclass(frozen=True, slots=True)
class EmbeddedBatch:
    """Memories with their vectors, (len(memories), dims).

    Attributes:
        last: the label of the last memory that was looked at.
    """

    memories: tuple[Memory, ...]
    vectors: NDArray[np.float32]
    last: int


class EmbeddingJob:
    """Implements `core.lifecycle.job_support.job_context.StreamJob`."""

    type = JobType.EMBED
    is_derived = True

    def count_backlog(self, rows: Rows, context: JobContext, cursor: Mapping[str, Any] = NO_CURSOR) -> int:
        """How many memories lack a vector in the space that is searched."""
        del cursor
        return count_without_vectors(rows, context.space)

    def prepare(self, context: JobContext, cursor: Mapping[str, Any]) -> EmbeddedBatch | None:
        """Embed the next fifty memories (E22.6)."""
        after = int(cursor.get(_AFTER, 0))
        waiting = context.read(lambda rows: read_without_vectors(rows, context.space, _BATCH, after))
        if not waiting:
            return None
        found = context.read(lambda rows: read_by_ids(rows, [memory_id for _, memory_id in waiting]))
        memories = tuple(found[memory_id] for _, memory_id in waiting if memory_id in found)
        if not memories:
            return EmbeddedBatch((), np.empty((0, context.space.dims), np.float32), waiting[-1][0])
        kept, vectors = embed_texts(context, memories)
        if not kept:
            context.embed([_PLAIN])  # is it these texts, or does the model refuse everything? then the job rests
        return EmbeddedBatch(kept, vectors, waiting[-1][0])

    def write(self, tx: Tx, verb: Verb | None, context: JobContext, prepared: EmbeddedBatch) -> BatchResult:
        """Write them; some may have been taken back since they were read."""
        del verb
        there = read_by_ids(tx, [memory.id for memory in prepared.memories])
        # A text that was changed since has its own vector by now, or gets it with the next batch.
        places = [n for n, one in enumerate(prepared.memories) if one.id in there and there[one.id].text == one.text]
        labels, kept = [prepared.memories[place].n for place in places], prepared.vectors[places]
        write_vectors(tx, labels, kept, context.space)
        seq = tx.seq
        tx.after_commit(lambda: context.stored(seq, labels, kept))
        return BatchResult(len(prepared.memories), {"embedded": len(labels)}, cursor={_AFTER: prepared.last})


def embed_texts(context: JobContext, memories: Sequence[Memory]) -> tuple[tuple[Memory, ...], NDArray[np.float32]]:
    """Embed texts; one without a direction for this model must not hold up the others.

    Returns:
        Those that have a vector, and their vectors, (n, dims).

    Raises:
        LociError: the embedder is away.
    """
    texts = [embedding_text(one.text, author=one.author) for one in memories]
    try:
        return tuple(memories), context.embed(texts)
    except LociError as error:
        if error.code is not Code.EMBEDDING_FAILED:
            raise
    kept: list[Memory] = []
    rows: list[NDArray[np.float32]] = []
    for memory, text in zip(memories, texts, strict=True):
        try:
            rows.append(context.embed([text]))
            kept.append(memory)
        except LociError as error:
            if error.code is not Code.EMBEDDING_FAILED:
                raise
    return tuple(kept), np.concatenate(rows) if rows else np.empty((0, context.space.dims), np.float32)
