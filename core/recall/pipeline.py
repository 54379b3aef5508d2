"""The recall pipeline: candidates, scope, fusion, signals, the bar, and the answer with its reasons.

One call is a pure function of a vault snapshot, the index, a query vector and the time; what is kept between calls is
remembered by the vault's sequence and changes no answer. Must not do: write, embed, or start a thread.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.index.manager import IndexManager
from core.recall.answer import Answer
from core.recall.candidates import Candidates, Question, examine
from core.recall.lexical import Frequencies, best_covered, bm25, read_words
from core.recall.request import RecallRequest
from core.recall.result import NO_VECTORS, RecallResult
from core.recall.scope import Labels, Predicate, labels_in, predicate
from core.recall.succession import with_successors
from core.recall.vector import StoredVectors, backend
from core.score.profile import LOCI, Profile
from core.vault.rows import Rows

_SCOPES_KEPT = 8
_OUTSIDERS = 10
_NOTHING = np.empty(0, np.int64)


@dataclass(frozen=True, slots=True)
class _Reach:
    """What is searched.

    Attributes:
        allowed: labels of all that is wanted, ascending; None where that is too many to name.
        size: how many memories that is; an upper bound where they are not named.
    """

    allowed: Labels | None
    size: int


@dataclass(frozen=True, slots=True)
class _Found:
    """Candidates, and what the lists said of them."""

    candidates: Candidates
    bm25: dict[int, float]
    short: bool


class Recall:
    """Answers questions; safe to use from several threads at once."""

    def __init__(self, index: IndexManager, vector_space: str, profile: Profile = LOCI, *, dims: int = 384) -> None:
        """Make it.

        Args:
            index: the vectors in memory.
            vector_space: which embedder's vectors are compared.
            profile: weights and thresholds.
            dims: length of a vector.
        """
        self._index = index
        self._space = vector_space
        self._dims = dims
        self._profile = profile
        self._frequencies = Frequencies()
        self._lock = threading.Lock()  # guards _reaches
        self._reaches: OrderedDict[tuple[int, str, bool], _Reach] = OrderedDict()

    def run(
        self, rows: Rows, request: RecallRequest, query_vector: NDArray[np.float32] | None, now_ms: int
    ) -> RecallResult:
        """Answer a question.

        Args:
            rows: a vault snapshot.
            request: the question.
            query_vector: the embedded query (`request.embed_text`); None where there is none.
            now_ms: the present, epoch ms.

        Returns:
            The answer; `took_ms` is left to the caller.

        Raises:
            UserError: INVALID_QUERY, INVALID_INPUT, or NOT_FOUND for an unknown space.
        """
        request.check()
        seq = int(rows.value("SELECT seq FROM vault_state", default=0))
        narrowed = predicate(rows, request, now_ms)
        vector = query_vector if request.wants_vector and self._comparable(query_vector) else None
        mode = request.mode if vector is not None or request.mode == "keyword" else NO_VECTORS
        reach = self._reach(rows, seq, narrowed, named=False)
        found, question = self._find(rows, request, narrowed, reach, vector, seq)
        if found.short and reach.allowed is None:
            # Most of what came back is not wanted here: name what is, and search exactly among it.
            reach = self._reach(rows, seq, narrowed, named=True)
            found, question = self._find(rows, request, narrowed, reach, vector, seq)
        answer = Answer(self._profile, request, mode, found.candidates, found.bm25, question, now_ms)
        items = answer.items(rows, reach.size)
        return RecallResult(
            items=items,
            abstained=not items,
            reason=answer.reason(reach.size, abstained=not items),
            near_misses=answer.near_misses(items),
            strategy=mode,
            index_backend="none" if vector is None else backend(self._index),
            index_revision=self._index.revision,
            vault_seq=seq,
            candidates=int(found.candidates.labels.size),
            profile=self._profile.name,
        )

    def _comparable(self, vector: NDArray[np.float32] | None) -> bool:
        """Whether there is a vector, and anything to compare it with."""
        if vector is None or vector.shape != (self._dims,) or self._index.status().total == 0:
            return False
        return bool(np.isfinite(vector).all() and vector.any())

    def _reach(self, rows: Rows, seq: int, narrowed: Predicate, *, named: bool) -> _Reach:
        """What is searched; named one by one where it is small or must be."""
        key = (seq, narrowed.key, named)
        with self._lock:
            known = self._reaches.get(key)
        if known is not None:
            return known
        most = self._profile.small_scope
        labels = labels_in(rows, narrowed, -1 if named else most + 1)
        if named or labels.size <= most:
            reach = _Reach(labels, int(labels.size))
        else:
            reach = _Reach(None, int(rows.value("SELECT max(n) FROM memories", default=0)))
        with self._lock:
            self._reaches[key] = reach
            while len(self._reaches) > _SCOPES_KEPT:
                self._reaches.popitem(last=False)
        return reach

    def _find(
        self,
        rows: Rows,
        request: RecallRequest,
        narrowed: Predicate,
        reach: _Reach,
        vector: NDArray[np.float32] | None,
        seq: int,
    ) -> tuple[_Found, Question]:
        profile = self._profile
        query = "" if request.mode == "semantic" and vector is not None else request.query
        words = read_words(rows, query, self._frequencies, seq, profile, reach.allowed, reach.size)
        question = Question(vector, words, StoredVectors(rows, self._index, self._space, self._dims), profile)
        near, more_near = self._nearest(question, reach, max(profile.vector_candidates, 2 * request.limit))
        scored, scores = bm25(rows, words, profile, max(profile.bm25_candidates, request.limit))
        covered_wanted = max(profile.coverage_candidates, request.limit)
        covered = best_covered(words, reach.allowed, covered_wanted)
        outside = best_covered(words, None, _OUTSIDERS) if reach.allowed is not None else _NOTHING
        candidates = self._examine(rows, narrowed, question, np.concatenate((near, scored, covered, outside)))
        # A list that came back full may hide more behind what is not wanted.
        full = more_near or (reach.allowed is None and covered.size == covered_wanted)
        enough = max(request.limit, profile.vector_candidates)
        short = full and int(candidates.ok.sum()) < enough
        return _Found(candidates, dict(zip(scored.tolist(), scores.tolist(), strict=True)), short), question

    def _nearest(self, question: Question, reach: _Reach, k: int) -> tuple[Labels, bool]:
        """Labels by vector, and whether there are more that were not looked at."""
        if question.vector is None:
            return _NOTHING, False
        hits = question.vectors.search(question.vector, k, reach.allowed)
        if hits is None:
            return _NOTHING, False
        labels = hits.labels
        if reach.allowed is None:
            return labels, labels.size == k
        outside = question.vectors.search(question.vector, _OUTSIDERS, None)
        return np.concatenate((labels, _NOTHING if outside is None else outside.labels)), False

    def _examine(self, rows: Rows, narrowed: Predicate, question: Question, labels: Labels) -> Candidates:
        """Candidates, and the neighbours of the best of them: an answer often follows its question."""
        found, around = examine(rows, narrowed, question, labels)
        best = np.argsort(-found.evidence, kind="stable")[: self._profile.expand_from]
        fresh = np.setdiff1d(around.around(best), found.labels)
        if fresh.size:
            found = found.with_others(examine(rows, narrowed, question, fresh)[0])
        return with_successors(rows, narrowed, question, found)
