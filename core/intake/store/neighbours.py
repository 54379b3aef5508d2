"""The nearest memories of a candidate, inside the writer's transaction.

The index holds what is committed; what it lacks while it warms, or where there is none yet, is read from the vault.
Must not do: judge how two texts relate.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.belief.claims.authorship import PERSONS
from core.embed.codec import from_blobs
from core.errors import Code, LociError
from core.index.base import Hits
from core.index.manager import IndexManager
from core.intake.claims.candidate import StoreCandidate
from core.memory.write import VectorSpace
from core.types.values import GLOBAL_SPACE
from core.vault.database.rows import Rows
from core.vault.memory_sql import UNSEALED

_FIRST = 48
_WIDE = 192
_AT_FIRST = 2
"""The nearest are read first, so many times as are asked for."""
_CHUNK = 2048
_COUNTED = 20_000
_WANTED = (
    "m.space_id IN (?, ?) AND m.kind = ? AND (m.scope_session IN ('', ?) OR ?) AND coalesce(m.part_index, 0) = 0 "
    "AND m.id <> ? AND (m.status IN ('active', 'disputed', 'quarantined') "
    "OR (m.status = 'superseded' AND m.status_reason IN ('replaced', 'older', 'edited', 'merged'))) "
    # What is sealed, and what another client proposed, is beside no client's text: it must not be silenced by them.
    f"AND (? IS NULL OR ({UNSEALED} AND NOT (m.status = 'quarantined' AND m.client_id IS NOT NULL "
    "AND m.client_id IS NOT ? AND coalesce(m.status_reason, '') IN ('proposed', 'suspicious'))))"
)
_BESIDE = (
    "m.space_id IN (?, ?) AND m.status IN ('active', 'disputed') AND (m.scope_session IN ('', ?) OR ?) "
    "AND coalesce(m.part_index, 0) = 0 AND m.id <> ? AND "
)
PERSONS_WORD = f"{_BESIDE} {PERSONS} AND (? IS NULL OR {UNSEALED})"
CLIENTS_WORD = f"{_BESIDE} m.client_id IS NOT NULL AND NOT {PERSONS} AND ? IS NULL"
# CROSS JOIN: the hits first; else the planner goes through every memory of the space and the hits for each.
_HITS = "SELECT m.n, m.id FROM json_each(?) w CROSS JOIN memories m ON m.n = w.value WHERE "
_OF_HITS = _HITS + _WANTED
_OF_PERSONS_HITS = _HITS + PERSONS_WORD
_OF_CLIENTS_HITS = _HITS + CLIENTS_WORD
_ALL = f"SELECT group_concat(n) FROM (SELECT m.n AS n FROM memories m WHERE {_WANTED})"  # noqa: S608 - constant
_STORED = (
    "SELECT n, vector FROM embeddings WHERE owner = 'memory' AND vector_space = ? AND dims = ? "
    "AND n IN (SELECT value FROM json_each(?))"
)
_LABELS = "SELECT n FROM embeddings WHERE owner = 'memory' AND vector_space = ? ORDER BY n"


@dataclass(frozen=True, slots=True)
class NeighbourSearch:
    """Finds the stored memories nearest to a candidate.

    Attributes:
        index: the index over the vault.
        space: the vector space that is searched.
    """

    index: IndexManager
    space: VectorSpace

    def of(self, rows: Rows, candidate: StoreCandidate, gate: float, most: int) -> dict[str, float]:
        """Memories near a candidate: of its space or GLOBAL, of its kind, standing, waiting or over.

        Args:
            candidate: the candidate, with its vector.
            gate: the least cosine.
            most: how many at most.

        Returns:
            Memory id to cosine, nearest first.
        """
        if candidate.vector is None or most <= 0:
            return {}
        scope = self._scope(candidate)
        hits = self._search(rows, candidate.vector, _FIRST, None)
        found = self._nearest(rows, _OF_HITS, scope, hits, gate, most)
        if len(found) < most and len(hits.labels) >= _FIRST and float(np.min(hits.cosines)) >= gate:
            # The nearest are all of another kind or space: only then every label in scope is worth listing.
            allowed = _as_labels(rows.value(_ALL, scope))
            found = self._wanted(rows, _OF_HITS, scope, self._search(rows, candidate.vector, most, allowed), gate)
        return dict(sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))[:most])

    def of_other_voices(self, rows: Rows, candidate: StoreCandidate, gate: float, most: int) -> dict[str, float]:
        """Memories of any kind near a candidate: the person's where it is somebody else's, else those of clients.

        Args:
            rows: the transaction.
            candidate: the candidate, with its vector.
            gate: the least cosine.
            most: how many at most.

        Returns:
            Memory id to cosine, nearest first; of what is not among the nearest few hundred, none.
        """
        if candidate.vector is None or most <= 0:
            return {}
        hits = self._search(rows, candidate.vector, _WIDE, None)
        sql = _OF_CLIENTS_HITS if candidate.standing.persons else _OF_PERSONS_HITS
        found = self._nearest(rows, sql, other_voices_scope(candidate), hits, gate, most)
        return dict(sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))[:most])

    def others(self, rows: Rows, candidate: StoreCandidate) -> int:
        """How many memories stand that could be near by chance; counted up to a bound.

        Returns:
            Memories of its kind and space.
        """
        return int(
            rows.value(
                "SELECT count(*) FROM (SELECT 1 FROM memories WHERE space_id = ? AND status = 'active' AND kind = ? "
                "LIMIT ?)",
                (candidate.space_id, candidate.kind.value, _COUNTED),
            )
        )

    def _nearest(
        self, rows: Rows, sql: str, scope: tuple[object, ...], hits: Hits, gate: float, most: int
    ) -> dict[str, float]:
        """As `_wanted`; where the nearest few are enough already, the rows of the others are not read."""
        labels, cosines = hits
        few = most * _AT_FIRST
        # Of two that are as near the ids decide: all of them must have been seen.
        while few < labels.size and cosines[few - 1] == cosines[few]:
            few += 1
        found = self._wanted(rows, sql, scope, Hits(labels[:few], cosines[:few]), gate)
        if len(found) < most and few < labels.size:
            found |= self._wanted(rows, sql, scope, Hits(labels[few:], cosines[few:]), gate)
        return found

    @staticmethod
    def _wanted(rows: Rows, sql: str, scope: tuple[object, ...], hits: Hits, gate: float) -> dict[str, float]:
        near = {int(n): float(score) for n, score in zip(hits.labels, hits.cosines, strict=True) if score >= gate}
        if not near:
            return {}
        found = rows.all(sql, (json.dumps(list(near)), *scope))
        return {str(i): near[n] for n, i in found}

    @staticmethod
    def _scope(candidate: StoreCandidate) -> tuple[object, ...]:
        # What was told for a session is looked at for its own sake; the person's word meets all of it.
        scope, everywhere = candidate.standing.scope_session, candidate.standing.owner_said
        who = candidate.stranger
        return (
            candidate.space_id,
            GLOBAL_SPACE,
            candidate.kind.value,
            scope,
            everywhere,
            candidate.memory_id,
            who,
            who,
        )

    def _search(self, rows: Rows, vector: NDArray[np.float32], k: int, allowed: NDArray[np.int64] | None) -> Hits:
        def chunks(labels: NDArray[np.int64]) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float32]]]:
            for low in range(0, labels.size, _CHUNK):
                found = rows.all(
                    _STORED, (self.space.name, self.space.dims, json.dumps(labels[low : low + _CHUNK].tolist()))
                )
                if found:
                    stored = from_blobs([row[1] for row in found], self.space.dims)
                    yield np.array([row[0] for row in found], np.int64), stored

        try:
            return self.index.search(vector, k, allowed, chunks)
        except LociError as error:
            if error.code is not Code.NO_INDEX:
                raise
        labels = np.array([row[0] for row in rows.all(_LABELS, (self.space.name,))], np.int64)
        wanted = labels if allowed is None else np.intersect1d(labels, allowed)
        return _exact(chunks(wanted), vector, k)


def other_voices_scope(candidate: StoreCandidate) -> tuple[object, ...]:
    """The values of `PERSONS_WORD` and of `CLIENTS_WORD`: where the words of other voices are looked for."""
    standing = candidate.standing
    scope = (candidate.space_id, GLOBAL_SPACE, standing.scope_session, standing.owner_said, candidate.memory_id)
    return (*scope, candidate.stranger)


def _exact(
    chunks: Iterator[tuple[NDArray[np.int64], NDArray[np.float32]]], vector: NDArray[np.float32], k: int
) -> Hits:
    labels, scores = np.empty(0, np.int64), np.empty(0, np.float32)
    for found, rows in chunks:
        labels = np.concatenate((labels, found))
        scores = np.concatenate((scores, rows @ vector))
    best = np.argsort(-scores, kind="stable")[:k]
    return Hits(labels[best], scores[best])


def _as_labels(joined: str | None) -> NDArray[np.int64]:
    return np.fromstring(joined, dtype=np.int64, sep=",") if joined else np.empty(0, np.int64)
