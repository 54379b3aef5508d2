"""The recall pipeline: read the question, gather candidates, score and rank them, explain the answer.

One call is a pure function of a vault snapshot, the index, a query vector and the time; caches are keyed by the vault's
sequence and change no answer. Must not do: write, embed, or start a thread.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from datetime import tzinfo

import numpy as np
from numpy.typing import NDArray

from core.index.manager import IndexManager
from core.recall.answer import AnswerInput, RecallAnswer, build_trace
from core.recall.answer_fit import WeighAnswers, apply_answer_fit, put_claims_first, weigh_asked_names
from core.recall.candidates import (
    HAS_LINKS,
    Candidates,
    ComparedQuery,
    activate_neighbours,
    apply_activation,
    apply_time_bonus,
    find_claimed,
    graph_activated_labels,
    nearest_in_period,
    read_candidates,
    restrict_to_period,
)
from core.recall.client_quota import is_crowded, saturated_clients
from core.recall.episode_statements import Representatives, fold_statements
from core.recall.lexical import TermStatistics, find_best_covered, read_query_words, score_bm25
from core.recall.predicate import ScopePredicate, build_predicate, find_suppressed, wanted_labels
from core.recall.ranking import credit_representatives, credit_successors, find_representatives
from core.recall.request import HAS_NAMES, RecallRequest, read_question, searched_words
from core.recall.result import NO_VECTORS, RecallResult
from core.recall.scope import Labels
from core.recall.vectors import SnapshotVectors, index_backend
from core.score.context_budget import PARTS
from core.score.profile import LOCI, Profile
from core.types.clock import LocalZone
from core.types.recall import QueryPlan
from core.types.values import Intent
from core.vault.database.rows import Rows

_SCOPES_KEPT = 16
_OUTSIDERS = 10
_NOTHING = np.empty(0, np.int64)
_OTHER_CLIENTS = (
    "SELECT id FROM clients WHERE id <> :asking AND id NOT IN (SELECT value FROM json_each(:saturated)) ORDER BY id"
)
_WITHOUT_QUOTA, _OF_OTHERS = (
    "(m.client_id IS NULL OR m.client_id = :asking)",
    "m.client_id IN (SELECT value FROM json_each(:others))",
)
_NEXT_END = "SELECT min(valid_to) FROM memories WHERE status = 'active' AND valid_to > ?"
_STATE = f"SELECT seq, reach, {HAS_LINKS}, EXISTS (SELECT 1 FROM feedback), {HAS_NAMES} FROM vault_state"  # noqa: S608 - constants


@dataclass(frozen=True, slots=True)
class _SearchSet:
    """The set of memories that is searched.

    Attributes:
        allowed: labels of everything the request wants, ascending; None where there are too many to list.
        size: how many memories that is; an upper bound where they are not listed.
        since: the time the set was listed for, epoch ms; None where it does not depend on the time.
        until: when the next memory in it ends; None where none will.
    """

    allowed: Labels | None
    size: int
    since: int | None
    until: int | None

    def is_valid_at(self, now: int | None) -> bool:
        """Whether the set is still valid: nothing has ended since, and the clock was not set back."""
        return now is None or (self.since is not None and self.since <= now < (self.until or now + 1))


@dataclass(frozen=True, slots=True)
class _Gathered:
    """Candidates, with what the lists contributed."""

    question: ComparedQuery
    candidates: Candidates
    bm25: dict[int, float]
    leads: dict[int, int]
    folded: Representatives
    brought: dict[str, int]
    short: bool


@dataclass(frozen=True, slots=True)
class _ListHits:
    """Hits of the lists in a part of the search set: labels by vector, labels by words, and their BM25 scores."""

    nearest: Labels = field(default_factory=lambda: _NOTHING)
    scored: Labels = field(default_factory=lambda: _NOTHING)
    scores: dict[int, float] = field(default_factory=dict)

    def union_with(self, more: _ListHits) -> _ListHits:
        """Hits of both."""
        nearest, scored = np.union1d(self.nearest, more.nearest), np.union1d(self.scored, more.scored)
        return _ListHits(nearest, scored, {**self.scores, **more.scores})


@dataclass(frozen=True, slots=True)
class _State:
    """The vault's sequences, and which optional steps have any data to work on."""

    seq: int
    reach: int
    is_linked: bool
    is_judged: bool
    has_names: bool


@dataclass(frozen=True, slots=True)
class _Search:
    """The inputs of one search."""

    rows: Rows
    request: RecallRequest
    plan: QueryPlan
    narrowed: ScopePredicate
    vector: NDArray[np.float32] | None
    state: _State
    profile: Profile
    now_ms: int


class Recall:
    """Answers questions; safe to use from several threads at once.

    Attributes:
        profile: the weights in force; may be replaced at any time, as a whole.
    """

    def __init__(
        self,
        index: IndexManager,
        vector_space: str,
        profile: Profile = LOCI,
        *,
        dims: int = 384,
        zone: tzinfo | None = None,
        weigh: WeighAnswers | None = None,
    ) -> None:
        """Make it.

        Args:
            index: the vectors in memory.
            vector_space: which embedder's vectors are compared.
            profile: weights and thresholds.
            dims: length of a vector.
            zone: whose days a question speaks of; None for the system's.
            weigh: how well texts answer a question; None where no model tells.
        """
        self._index = index
        self._space = vector_space
        self._dims = dims
        self.profile = profile
        self._zone = zone or LocalZone()
        self._weigh = weigh
        self._frequencies = TermStatistics()
        self._lock = threading.Lock()  # guards _reaches
        self._reaches: OrderedDict[tuple[int, str, bool, int], _SearchSet] = OrderedDict()

    def run(
        self,
        rows: Rows,
        request: RecallRequest,
        query_vector: NDArray[np.float32] | None,
        now_ms: int,
        *,
        profile: Profile | None = None,
        plan: QueryPlan | None = None,
    ) -> RecallResult:
        """Answer a question.

        Args:
            query_vector: the embedded query (`request.embed_text`); None where there is none.
            profile: other weights, for a trial.
            plan: how the question is understood, where it need not be read.

        Returns:
            The answer; `took_ms` is left to the caller.

        Raises:
            UserError: INVALID_QUERY, INVALID_INPUT, or NOT_FOUND for an unknown space.
        """
        request.check_bounds()
        state = _read_recall_state(rows)
        seq = state.seq
        narrowed = build_predicate(rows, request, now_ms)
        vector = query_vector if request.wants_vector and self._is_comparable(query_vector) else None
        mode = request.mode if vector is not None or request.mode == "keyword" else NO_VECTORS
        weights = profile or self.profile
        plan = plan or read_question(rows, request, weights, now_ms, self._zone, has_names=state.has_names)
        search = _Search(rows, request, plan, narrowed, vector, state, weights, now_ms)
        reach = self._find_search_set(search, named=False)
        found = self._gather_candidates(search, reach)
        if found.short and reach.allowed is None:
            # Most hits are outside the request: list the wanted memories and search exactly among them.
            reach = self._find_search_set(search, named=True)
            found = self._gather_candidates(search, reach)
        asked = AnswerInput(
            request, search.plan, mode, found.question, found.candidates, found.bm25, found.leads, now_ms, found.folded
        )
        answer = RecallAnswer(asked, reach.size)
        items = answer.items(rows)
        return RecallResult(
            items=items,
            abstained=not items,
            reason=answer.explain_answer(),
            near_misses=answer.near_misses(items),
            strategy=mode,
            index_backend="none" if vector is None else index_backend(self._index),
            index_revision=self._index.revision,
            vault_seq=seq,
            candidates=int(found.candidates.labels.size),
            profile=search.profile.name,
            trace=build_trace(answer, items, search.plan, found.brought),
            sought=answer.query_focus(),
        )

    def drop_caches(self) -> None:
        """Drop the caches; the next calls are a little slower and answer the same."""
        self._frequencies = TermStatistics()
        with self._lock:
            self._reaches.clear()

    def _is_comparable(self, vector: NDArray[np.float32] | None) -> bool:
        """Whether there is a vector, and anything to compare it with."""
        if vector is None or vector.shape != (self._dims,) or self._index.status().total == 0:
            return False
        return bool(np.isfinite(vector).all() and vector.any())

    def _find_search_set(self, search: _Search, *, named: bool) -> _SearchSet:
        """What is searched; named one by one where it is small or must be."""
        rows, narrowed, most = search.rows, search.narrowed, search.profile.small_scope
        key = (search.state.reach, narrowed.key, named, most)
        now = search.now_ms if narrowed.params.get("now") is not None else None
        with self._lock:
            known = self._reaches.get(key)
        if known is not None and known.is_valid_at(now):
            return known
        labels = wanted_labels(rows, narrowed, -1 if named else most + 1)
        until = None if now is None else rows.value(_NEXT_END, (now,))
        if named or labels.size <= most:
            reach = _SearchSet(labels, int(labels.size), now, until)
        else:
            reach = _SearchSet(None, int(rows.value("SELECT max(n) FROM memories", default=0)), now, until)
        with self._lock:
            self._reaches[key] = reach
            while len(self._reaches) > _SCOPES_KEPT:
                self._reaches.popitem(last=False)
        return reach

    def _gather_candidates(self, search: _Search, reach: _SearchSet) -> _Gathered:
        rows, request, profile = search.rows, search.request, search.profile
        query = (
            ""
            if request.mode == "semantic" and search.vector is not None
            else searched_words(request.query, search.plan)
        )
        reading = (rows, query, self._frequencies, search.state.seq, profile, reach.allowed, reach.size)
        words = read_query_words(*reading, search.plan.aliases, by_words=search.vector is None)
        stored = SnapshotVectors(rows, self._index, self._space, self._dims)
        question = ComparedQuery(search.vector, words, stored, profile, search.plan.text_weight)
        nearest, has_more_nearest = self._search_nearest(
            question, reach, max(profile.vector_candidates, 2 * request.limit)
        )
        own = None if request.scope.unrestricted else reach.allowed  # nobody else's memories take a place in the list
        scored, scores = score_bm25(rows, words, profile, max(profile.bm25_candidates, request.limit), own)
        covered_wanted = max(profile.coverage_candidates, request.limit)
        covered = find_best_covered(words, reach.allowed, covered_wanted)
        unheard = self._find_crowded_out(search, question, np.unique(np.concatenate((nearest, scored, covered))))
        outside = find_best_covered(words, None, _OUTSIDERS) if reach.allowed is not None else _NOTHING
        days = search.plan.time
        then = _NOTHING
        if days is not None:
            then = nearest_in_period(rows, reach.allowed, question, days, max(profile.vector_candidates, request.limit))
        claimed = (
            find_claimed(rows, request.query, search.plan, search.narrowed) if request.mode == "hybrid" else _NOTHING
        )
        lists = (nearest, scored, covered, outside, then, unheard.nearest, unheard.scored, claimed)
        candidates = self._read_candidates(search, question, np.concatenate(lists))
        candidates = replace(candidates, claims=np.isin(candidates.labels, claimed))
        candidates, led, representatives, reached = self._adjust_candidates(search, question, candidates)
        # A full list may hide wanted memories behind unwanted ones.
        full = has_more_nearest or (reach.allowed is None and covered.size == covered_wanted)
        enough = max(request.limit, profile.vector_candidates)
        short = full and int(candidates.ok.sum()) < enough
        brought = {"vector": int(nearest.size), "words": int(np.union1d(scored, covered).size)}
        brought |= {"graph": reached, "time": int(then.size)}
        bm25_scores = {**unheard.scores, **dict(zip(scored.tolist(), scores.tolist(), strict=True))}
        return _Gathered(question, candidates, bm25_scores, led, representatives, brought, short)

    def _find_crowded_out(self, search: _Search, question: ComparedQuery, brought: Labels) -> _ListHits:
        """Candidates that other clients crowded out of the lists, for the per-client quota to choose from.

        First the lists are searched again among memories without a quota; then, round by round, among clients that are
        not saturated yet. Each round may saturate the next prolific client, so the rounds go on until none is added; at
        most `PARTS` of them can matter, since that many shares fill every place.
        """
        rows, asker, limit = search.rows, search.request.scope.client_id, search.request.limit
        if asker is None or not brought.size:
            return _ListHits()
        size, counts = _count_wanted_by_client(rows, search.narrowed, brought, asker)
        if not is_crowded(counts, size):
            return _ListHits()
        found = self._search_within(search, question, _WITHOUT_QUOTA, {"asking": asker})
        saturated = saturated_clients(counts, limit)
        for _ in range(PARTS):
            params = {"asking": asker, "saturated": json.dumps(sorted(saturated))}
            others = [client for (client,) in rows.all(_OTHER_CLIENTS, params)]
            if not others:
                break
            found = found.union_with(self._search_within(search, question, _OF_OTHERS, {"others": json.dumps(others)}))
            brought = np.unique(np.concatenate((brought, found.nearest, found.scored)))
            before = saturated
            saturated |= saturated_clients(_count_wanted_by_client(rows, search.narrowed, brought, asker)[1], limit)
            if saturated == before:
                break
        return found

    def _search_within(
        self, search: _Search, question: ComparedQuery, condition: str, params: dict[str, object]
    ) -> _ListHits:
        """The hits of the lists among the part of the search set that an SQL condition selects."""
        within = f"({search.narrowed.wanted}) AND {condition}"
        narrowed = replace(search.narrowed, wanted=within, params={**search.narrowed.params, **params})
        part, wanted = (
            self._find_search_set(replace(search, narrowed=narrowed), named=True).allowed,
            search.request.limit,
        )
        if part is None or not part.size:
            return _ListHits()
        hits = None if question.vector is None else question.vectors.search(question.vector, wanted, part)
        scored, scores = score_bm25(search.rows, question.words, search.profile, wanted, part)
        found = dict(zip(scored.tolist(), scores.tolist(), strict=True))
        covered = find_best_covered(question.words, part, wanted)
        return _ListHits(_NOTHING if hits is None else hits.labels, np.union1d(scored, covered), found)

    def _adjust_candidates(
        self, search: _Search, question: ComparedQuery, found: Candidates
    ) -> tuple[Candidates, dict[int, int], Representatives, int]:
        """Apply versions, statements, links, time and digests; who answers for whom; how many the links reached."""
        rows, profile, plan = search.rows, search.profile, search.plan
        found = credit_successors(rows, search.narrowed, question, found)
        found, representatives, folded = fold_statements(rows, search.narrowed, question, found)
        level: dict[int, float] = {}
        if search.state.is_linked and profile.graph_worth > 0:
            level = activate_neighbours(rows, search.narrowed, found, 3 if plan.intent is Intent.CAUSAL else 2)
            more = np.setdiff1d(graph_activated_labels(found, level), folded)
            if more.size:
                found = found.with_others(read_candidates(rows, search.narrowed, question, more)[0])
            found = apply_activation(found, level, profile.graph_worth)
        if plan.time is not None and plan.period:
            found = restrict_to_period(found, plan.time, question.strongest)
        elif plan.time is not None:
            found = apply_time_bonus(found, plan.time, profile.time_bonus)
        if search.state.has_names and not plan.period:
            found = weigh_asked_names(rows, search.request, found)
        if search.vector is not None and search.state.is_judged:
            out = find_suppressed(
                rows,
                [fact.id for fact in found.facts],
                search.vector,
                search.now_ms,
                client_id=search.request.scope.client_id,
                vector_space=self._space,
            )
            found = found.without_suppressed(out)
        is_weighed = search.vector is not None and search.request.mode == "hybrid"
        found = apply_answer_fit(rows, search.request.query, plan, found, self._weigh if is_weighed else None)
        found = put_claims_first(found, question.strongest)
        led = find_representatives(rows, found) if search.state.is_linked else {}
        return credit_representatives(found, led), led, representatives, len(level)

    def _search_nearest(self, question: ComparedQuery, reach: _SearchSet, k: int) -> tuple[Labels, bool]:
        """Labels by vector, with some out of reach for the near misses; and whether the list was cut."""
        if question.vector is None:
            return _NOTHING, False
        if reach.allowed is None:
            hits = question.vectors.search(question.vector, k, None)
            return (_NOTHING, False) if hits is None else (hits.labels, hits.labels.size == k)
        hits = question.vectors.search(question.vector, k + _OUTSIDERS, None)
        if hits is None:
            return _NOTHING, False
        within = np.isin(hits.labels, reach.allowed, assume_unique=True)
        if int(within.sum()) >= min(k, reach.allowed.size):
            return hits.labels, False
        # Many of the nearest are out of reach: search exactly among those within.
        nearest = question.vectors.search(question.vector, k, reach.allowed)
        outside = hits.labels[~within][:_OUTSIDERS]
        return (outside if nearest is None else np.concatenate((nearest.labels, outside))), False

    def _read_candidates(self, search: _Search, question: ComparedQuery, labels: Labels) -> Candidates:
        """Read candidates, and the conversation neighbours of the best: an answer often follows its question."""
        found, around = read_candidates(search.rows, search.narrowed, question, labels)
        best = np.argsort(-found.evidence, kind="stable")[: search.profile.expand_from]
        more = np.setdiff1d(around.labels_around(best), found.labels)
        if more.size:
            found = found.with_others(read_candidates(search.rows, search.narrowed, question, more)[0])
        return found


def _count_wanted_by_client(
    rows: Rows, narrowed: ScopePredicate, brought: Labels, asker: str
) -> tuple[int, dict[str, int]]:
    """How many of these memories the request wants, and how many of those each other client contributed.

    Memories out of the asker's reach are not counted: a count must reveal nothing of them.
    """
    sql = (
        "SELECT m.client_id, count(*) FROM json_each(:labels) w CROSS JOIN memories m ON m.n = w.value "  # noqa: S608 - conditions of core.recall.predicate
        f"WHERE {narrowed.wanted} GROUP BY m.client_id"
    )
    counted = rows.all(sql, {**narrowed.params, "labels": json.dumps(brought.tolist())})
    bounded = {str(client): int(count) for client, count in counted if client not in (None, asker)}
    return sum(int(count) for _, count in counted), bounded


def _read_recall_state(rows: Rows) -> _State:
    row = rows.one(_STATE)
    seq, reach, is_linked, is_judged, has_names = row if row is not None else (0, 0, 0, 0, 0)
    return _State(int(seq), int(reach), bool(is_linked), bool(is_judged), bool(has_names))
