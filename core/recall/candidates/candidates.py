"""Candidates with everything that ranks them, as columns.

Must not do: decide an order.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.memory.read import said_at_sql
from core.recall.candidates.lexical import QueryWords
from core.recall.candidates.vector import SnapshotVectors, Vectors
from core.recall.candidates.windows import (
    Flags,
    Floats,
    NeighbourTable,
    query_coverage,
    read_neighbours,
    window_cosines,
)
from core.recall.query.predicate import AT_ODDS, IS_OVER, ScopePredicate
from core.recall.query.scope import IN_REVIEW, Labels
from core.recall.results.explain import SUPPRESSED
from core.score.lifecycle.decay import decay_rates, effective_confidence
from core.score.ranking.fusion import blend_weights, evidence_score, substance_factor
from core.score.ranking.profile import Profile
from core.vault.database.rows import Rows

_FACTS = (
    f"CASE WHEN m.status = 'active' AND {IN_REVIEW} THEN 'in_review' "
    f"WHEN m.status = 'active' AND {IS_OVER} THEN 'over' "
    f"WHEN m.status = 'active' AND {AT_ODDS} THEN 'at_odds' ELSE m.status END, "
    "m.id, m.space_id, m.kind, m.content_hash, coalesce(m.part_of, m.id), m.ref, m.recorded_at, "
    f"{said_at_sql('m')}, m.confidence, m.importance, m.reinforcements, m.disputes, m.access_count, "
    # Of a long text the end is not read: what is long does not only ask.
    "CASE WHEN m.kind <> 'episode' THEN -1 ELSE octet_length(m.text) END, "
    "octet_length(m.text) <= 1000 AND rtrim(m.text) GLOB '*[?\uff1f]', "
    "m.permanence, m.last_confirmed_at, m.client_id"
)
_DAY_MS = 86_400_000


@dataclass(frozen=True, slots=True)
class CandidateFacts:
    """What is read of a candidate before it is known to be in the answer.

    Attributes:
        status: where it stands.
        id: id.
        twin: the same for exact duplicates: space, kind and hash of the text.
        whole: the same for the parts of one split text.
        ref: the caller's reference.
        recorded_at: epoch ms.
        client_id: the client that brought it; None for the person's own and what was imported.
    """

    status: str
    id: str
    twin: tuple[str, str, bytes]
    whole: str
    ref: str | None
    recorded_at: int
    client_id: str | None = None


@dataclass(frozen=True, slots=True)
class Candidates:
    """Candidates in ascending order of their labels; all arrays are as long as there are candidates.

    Attributes:
        labels: labels.
        ok: visible, and wanted by the request.
        facts: what else was read.
        sides: columns: when it was said or recorded (epoch ms), confidence, importance, reinforcements, disputes,
            accesses.
        vector: own cosine; NaN without a vector.
        window: window cosine; NaN without a vector.
        coverage: 0 to 1.
        own: which words of the query each has.
        near: which it or a neighbour has.
        plain: how strongly each answers, words and meaning counted alike whatever the plan says; for the bar.
        evidence: how strongly each answers as the plan weighs it, time and graph included.
        lifted: how much of that comes from a version that it took the place of.
        lends: it may not be returned itself, and lent its evidence to what took its place.
        time: nearness to the time that is asked about; NaN where none is, or it is far.
        graph: activation that reached it over links; NaN where none did.
    """

    labels: Labels
    ok: Flags
    facts: tuple[CandidateFacts, ...]
    sides: Floats
    vector: Floats
    window: Floats
    coverage: Floats
    own: Flags
    near: Flags
    plain: Floats
    evidence: Floats
    lifted: Floats
    lends: Flags
    time: Floats
    graph: Floats

    def where(self, mask: Flags) -> Candidates:
        """Some of them.

        Args:
            mask: which.

        Returns:
            Those, in the same order.
        """
        at = np.flatnonzero(mask)
        return self._pick(at)

    def without(self, ids: frozenset[str]) -> Candidates:
        """The same, some of them not to be returned because somebody said so for such a question.

        Args:
            ids: which.

        Returns:
            All candidates; those keep their place as what was withheld.
        """
        if not ids:
            return self
        # The same text under another id, or another part of it, would only take its place.
        same = {key for fact in self.facts if fact.id in ids for key in (fact.twin, fact.whole)}
        out = np.array([fact.twin in same or fact.whole in same for fact in self.facts], np.bool_)
        facts = tuple(
            replace(fact, status=SUPPRESSED) if is_out and ok else fact
            for fact, is_out, ok in zip(self.facts, out.tolist(), self.ok.tolist(), strict=True)
        )
        return replace(self, ok=self.ok & ~out, facts=facts)

    def _pick(self, at: NDArray[np.int64]) -> Candidates:
        return Candidates(
            labels=self.labels[at],
            ok=self.ok[at],
            facts=tuple(self.facts[i] for i in at.tolist()),
            sides=self.sides[at],
            vector=self.vector[at],
            window=self.window[at],
            coverage=self.coverage[at],
            own=self.own[at],
            near=self.near[at],
            plain=self.plain[at],
            evidence=self.evidence[at],
            lifted=self.lifted[at],
            lends=self.lends[at],
            time=self.time[at],
            graph=self.graph[at],
        )

    def with_others(self, other: Candidates) -> Candidates:
        """These and others, none of which is here.

        Args:
            other: the others.

        Returns:
            All, in the order of their labels.
        """
        both = Candidates(
            labels=np.concatenate((self.labels, other.labels)),
            ok=np.concatenate((self.ok, other.ok)),
            facts=self.facts + other.facts,
            sides=np.concatenate((self.sides, other.sides)),
            vector=np.concatenate((self.vector, other.vector)),
            window=np.concatenate((self.window, other.window)),
            coverage=np.concatenate((self.coverage, other.coverage)),
            own=np.concatenate((self.own, other.own)),
            near=np.concatenate((self.near, other.near)),
            plain=np.concatenate((self.plain, other.plain)),
            evidence=np.concatenate((self.evidence, other.evidence)),
            lifted=np.concatenate((self.lifted, other.lifted)),
            lends=np.concatenate((self.lends, other.lends)),
            time=np.concatenate((self.time, other.time)),
            graph=np.concatenate((self.graph, other.graph)),
        )
        return both._pick(np.argsort(both.labels, kind="stable"))


@dataclass(frozen=True, slots=True)
class ComparedQuery:
    """A query as it is compared.

    Attributes:
        vector: the query's vector; None where nothing is compared by meaning.
        words: the query's words.
        vectors: the stored vectors.
        profile: the weights.
        text_weight: how much words count against meaning, 0 to 1; one half is how the weights were measured.
    """

    vector: Vectors | None
    words: QueryWords
    vectors: SnapshotVectors
    profile: Profile
    text_weight: float = 0.5

    @property
    def strongest(self) -> float:
        """The greatest evidence that words and meaning can make together."""
        if self.vector is None:
            return 1.0
        if not self.words.terms:
            return self.profile.cosine_weight
        meaning, words = blend_weights(self.text_weight)
        return meaning * self.profile.cosine_weight + words


def read_candidates(
    rows: Rows, narrowed: ScopePredicate, question: ComparedQuery, labels: Labels
) -> tuple[Candidates, NeighbourTable]:
    """Read candidates and compare them with the question.

    Args:
        narrowed: the request's conditions; what is out of scope is dropped here.
        question: what they are compared with.
        labels: labels of any memories.

    Returns:
        Those that the asker may know of (`ok` tells which of them may be returned), and what stands around them.
    """
    found = _read(rows, narrowed, np.unique(labels))
    known = np.array([row[0] for row in found], np.int64)
    around = read_neighbours(rows, narrowed, known)
    own_cosine, near_cosine = np.full(known.size, np.nan), np.full(known.size, np.nan)
    if question.vector is not None and known.size:
        own_cosine, near_cosine = window_cosines(around, question.vectors, question.vector, question.profile)
    covered, own, near = query_coverage(around, question.words, question.profile)
    weight = 0.0 if question.vector is None else question.profile.cosine_weight
    meaning, words = (
        (1.0, 1.0) if question.vector is None or not question.words.terms else blend_weights(question.text_weight)
    )
    told = np.nan_to_num(near_cosine)
    asks, size = np.array([(row[17], row[16]) for row in found], np.float64).reshape(-1, 2).T
    said = substance_factor(asks > 0, size, question.profile.asking, question.profile.saying)
    candidates = Candidates(
        labels=known,
        ok=np.array([bool(row[1]) for row in found], np.bool_) & _sure(found, narrowed.sure),
        facts=tuple(_fact(row) for row in found),
        sides=np.array([row[10:16] for row in found], np.float64).reshape(-1, 6),
        vector=own_cosine,
        window=near_cosine,
        coverage=covered,
        own=own,
        near=near,
        plain=evidence_score(told, covered, weight),
        evidence=np.maximum(0.0, evidence_score(told, words * covered, meaning * weight) + said),
        lifted=np.zeros(known.size),
        lends=np.zeros(known.size, np.bool_),
        time=np.full(known.size, np.nan),
        graph=np.full(known.size, np.nan),
    )
    return candidates, around


def _fact(row: tuple[Any, ...]) -> CandidateFacts:
    return CandidateFacts(row[2], row[3], (row[4], row[5], row[6]), row[7], row[8], row[9], row[20])


def _sure(found: Sequence[tuple[Any, ...]], sure: tuple[float, int] | None) -> Flags:
    """Which are sure enough by now (seed B, effective confidence)."""
    if sure is None or not found:
        return np.ones(len(found), np.bool_)
    least, now_ms = sure
    confidence, confirmed = np.array([(row[11], row[19]) for row in found], np.float64).T
    rates = decay_rates([row[5] for row in found], [row[18] for row in found])
    held = effective_confidence(confidence, rates, (now_ms - confirmed) / _DAY_MS)
    return np.asarray(held >= least, np.bool_)


def _read(rows: Rows, narrowed: ScopePredicate, labels: Labels) -> Sequence[tuple[Any, ...]]:
    sql = (
        f"SELECT m.n, {narrowed.wanted} AND {narrowed.speaks}, {_FACTS} FROM memories m "  # noqa: S608 - conditions of core.recall.query.predicate
        f"WHERE m.n IN (SELECT value FROM json_each(:labels)) AND {narrowed.scope} ORDER BY m.n"
    )
    return rows.all(sql, {**narrowed.params, "labels": json.dumps(labels.tolist())})
