"""The job that gives a vector to every memory that lacks one: it came while the embedder was away, or came back.

Must not do: embed what has a vector, or keep a vector whose memory is gone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.intake.unit_of_work import Verb
from core.lifecycle.ground import Batch, Ground
from core.memory.read import by_ids
from core.memory.write import VectorSpace, without_vectors, write_vectors
from core.text.compose import embedding_text
from core.types.lifecycle import JobType
from core.types.values import Memory
from core.vault.rows import Rows
from core.vault.tx import Tx

_BATCH = 50
_WAITING = (
    "SELECT count(*) FROM memories m WHERE m.status <> 'deleted' AND NOT EXISTS (SELECT 1 FROM embeddings e "
    "WHERE e.owner = 'memory' AND e.vector_space = ? AND e.n = m.n)"
)


@dataclass(frozen=True, slots=True)
class Prepared:
    """Memories with their vectors, (len(memories), dims)."""

    memories: tuple[Memory, ...]
    vectors: NDArray[np.float32]


class Embedding:
    """Implements `core.lifecycle.ground.Stream`."""

    type = JobType.EMBED
    is_derived = True

    def backlog(self, rows: Rows, ground: Ground) -> int:
        """How many memories lack a vector in the space that is searched."""
        return count_without(rows, ground.space)

    def prepare(self, ground: Ground, _cursor: Mapping[str, Any]) -> Prepared | None:
        """Embed the next fifty (E22.6)."""
        waiting = ground.read(lambda rows: without_vectors(rows, ground.space, _BATCH))
        found = ground.read(lambda rows: by_ids(rows, [memory_id for _, memory_id in waiting]))
        memories = tuple(found[memory_id] for _, memory_id in waiting if memory_id in found)
        if not memories:
            return None
        return Prepared(memories, ground.embed([embedding_text(one.text, author=one.author) for one in memories]))

    def write(self, tx: Tx, _verb: Verb | None, ground: Ground, prepared: Prepared) -> Batch:
        """Write them; some may have been taken back since they were read."""
        there = by_ids(tx, [memory.id for memory in prepared.memories])
        places = [place for place, memory in enumerate(prepared.memories) if memory.id in there]
        labels, kept = [prepared.memories[place].n for place in places], prepared.vectors[places]
        write_vectors(tx, labels, kept, ground.space)
        seq = tx.seq
        tx.after_commit(lambda: ground.stored(seq, labels, kept))
        return Batch(len(prepared.memories), {"embedded": len(labels)})


def count_without(rows: Rows, space: VectorSpace) -> int:
    """How many memories have no vector.

    Args:
        rows: a vault snapshot.
        space: the vector space that is searched.

    Returns:
        0 or more.
    """
    return int(rows.value(_WAITING, (space.name,)))
