"""The job that gives a vector to every memory that lacks one: it came while the embedder was away, or came back.

A text that gets no direction is passed: the run goes on behind it, the next one tries it again. When that one is due,
`core.engine.jobs.agenda` says: a day later where nothing was embedded and nothing came. Must not do: embed what has a
vector, or keep a vector whose memory is gone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import Code, LociError
from core.intake.transaction.unit_of_work import Verb
from core.lifecycle.kit.job_context import BatchResult, JobContext
from core.memory.read import read_by_ids
from core.memory.write import count_without_vectors, read_without_vectors, write_vectors
from core.text.terms import embedding_text
from core.types.lifecycle import JobType
from core.types.values import Memory
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

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
    """Implements `core.lifecycle.kit.job_context.StreamJob`."""

    type = JobType.EMBED
    is_derived = True

    def backlog(self, rows: Rows, ground: JobContext) -> int:
        """How many memories lack a vector in the space that is searched."""
        return count_without_vectors(rows, ground.space)

    def prepare(self, ground: JobContext, cursor: Mapping[str, Any]) -> EmbeddedBatch | None:
        """Embed the next fifty (E22.6)."""
        after = int(cursor.get(_AFTER, 0))
        waiting = ground.read(lambda rows: read_without_vectors(rows, ground.space, _BATCH, after))
        if not waiting:
            return None
        found = ground.read(lambda rows: read_by_ids(rows, [memory_id for _, memory_id in waiting]))
        memories = tuple(found[memory_id] for _, memory_id in waiting if memory_id in found)
        if not memories:
            return EmbeddedBatch((), np.empty((0, ground.space.dims), np.float32), waiting[-1][0])
        kept, vectors = embed_texts(ground, memories)
        if not kept:
            ground.embed([_PLAIN])  # is it these texts, or does the model refuse everything? then the job rests
        return EmbeddedBatch(kept, vectors, waiting[-1][0])

    def write(self, tx: Tx, verb: Verb | None, ground: JobContext, prepared: EmbeddedBatch) -> BatchResult:
        """Write them; some may have been taken back since they were read."""
        del verb
        there = read_by_ids(tx, [memory.id for memory in prepared.memories])
        # A text that was changed since has its own vector by now, or gets it with the next batch.
        places = [n for n, one in enumerate(prepared.memories) if one.id in there and there[one.id].text == one.text]
        labels, kept = [prepared.memories[place].n for place in places], prepared.vectors[places]
        write_vectors(tx, labels, kept, ground.space)
        seq = tx.seq
        tx.after_commit(lambda: ground.stored(seq, labels, kept))
        return BatchResult(len(prepared.memories), {"embedded": len(labels)}, cursor={_AFTER: prepared.last})


def embed_texts(ground: JobContext, memories: Sequence[Memory]) -> tuple[tuple[Memory, ...], NDArray[np.float32]]:
    """Embed texts; one without a direction for this model must not hold up the others.

    Args:
        ground: what the job stands on.
        memories: whose texts.

    Returns:
        Those that have a vector, and their vectors, (n, dims).

    Raises:
        LociError: the embedder is away.
    """
    texts = [embedding_text(one.text, author=one.author) for one in memories]
    try:
        return tuple(memories), ground.embed(texts)
    except LociError as error:
        if error.code is not Code.EMBEDDING_FAILED:
            raise
    kept: list[Memory] = []
    rows: list[NDArray[np.float32]] = []
    for memory, text in zip(memories, texts, strict=True):
        try:
            rows.append(ground.embed([text]))
            kept.append(memory)
        except LociError as error:
            if error.code is not Code.EMBEDDING_FAILED:
                raise
    return tuple(kept), np.concatenate(rows) if rows else np.empty((0, ground.space.dims), np.float32)
