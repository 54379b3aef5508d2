"""The candidates of a question with all that ranks them, as columns, and the three lists beside meaning and words.

The time list holds what was said or happened in the days that a question speaks of; the graph list what is tied to the
nearest memories over edges, shared names and derivations (E5.1); the list of claims what states the one property of the
speaker's that a question asks for. Must not do: decide an order, read a phrase
(`core.text` does), or look past the scope: every hop is judged by the request's conditions (C20).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.memory.read import time_of_memory_sql
from core.recall.lexical import QueryWords
from core.recall.predicate import AT_ODDS, IS_OVER, ScopePredicate
from core.recall.result import SUPPRESSED
from core.recall.scope import IN_REVIEW, Labels
from core.recall.vectors import (
    ConversationNeighbours,
    Flags,
    Floats,
    SnapshotVectors,
    Vectors,
    query_coverage,
    read_neighbours,
    window_cosines,
)
from core.score.decay import decay_rates, effective_confidence
from core.score.profile import Profile
from core.score.ranking import (
    TOLD_LATER_DAYS,
    Links,
    blend_weights,
    evidence_score,
    may_spread,
    spread_activation,
    substance_factor,
    time_proximity,
)
from core.text.question_form import read_asked_predicates
from core.types.recall import QueryPlan, TimeRange
from core.vault.database.rows import Rows, parse_labels

_FACTS = (
    f"CASE WHEN m.status = 'active' AND {IN_REVIEW} THEN 'in_review' "
    f"WHEN m.status = 'active' AND {IS_OVER} THEN 'over' "
    f"WHEN m.status = 'active' AND {AT_ODDS} THEN 'at_odds' ELSE m.status END, "
    "m.id, m.space_id, m.kind, m.content_hash, coalesce(m.part_of, m.id), m.ref, m.recorded_at, "
    f"{time_of_memory_sql('m')}, m.confidence, m.importance, m.reinforcements, m.disputes, m.access_count, "
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
        duplicate_key: the same for exact duplicates: space, kind and hash of the text.
        whole: the same for the parts of one split text.
        ref: the caller's reference.
        recorded_at: epoch ms.
        client_id: the client that brought it; None for the person's own and what was imported.
    """

    status: str
    id: str
    duplicate_key: tuple[str, str, bytes]
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
        fit: what its fit to the form of the question leaves of its scores; 1 where that was not looked at.
        claims: it has a claim of the property that is asked for, and was raised for it (`core.recall.answer_fit`).
        answers: log odds that it answers, over those from which it surely does; NaN where that was not weighed.
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
    fit: Floats
    claims: Flags
    answers: Floats

    def select_where(self, mask: Flags) -> Candidates:
        """Some of them.

        Returns:
            Those, in the same order.
        """
        at = np.flatnonzero(mask)
        return self._select_at(at)

    def without_suppressed(self, ids: frozenset[str]) -> Candidates:
        """The same, some of them not to be returned because somebody said so for such a question.

        Returns:
            All candidates; those keep their place as what was withheld.
        """
        if not ids:
            return self
        # The same text under another id, or another part of it, would only take its place.
        same = {key for fact in self.facts if fact.id in ids for key in (fact.duplicate_key, fact.whole)}
        out = np.array([fact.duplicate_key in same or fact.whole in same for fact in self.facts], np.bool_)
        facts = tuple(
            replace(fact, status=SUPPRESSED) if is_out and ok else fact
            for fact, is_out, ok in zip(self.facts, out.tolist(), self.ok.tolist(), strict=True)
        )
        return replace(self, ok=self.ok & ~out, facts=facts)

    def _select_at(self, at: NDArray[np.int64]) -> Candidates:
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
            fit=self.fit[at],
            claims=self.claims[at],
            answers=self.answers[at],
        )

    def with_others(self, other: Candidates) -> Candidates:
        """These and others, none of which is here.

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
            fit=np.concatenate((self.fit, other.fit)),
            claims=np.concatenate((self.claims, other.claims)),
            answers=np.concatenate((self.answers, other.answers)),
        )
        return both._select_at(np.argsort(both.labels, kind="stable"))


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
) -> tuple[Candidates, ConversationNeighbours]:
    """Read candidates and compare them with the question.

    Args:
        narrowed: the request's conditions; what is out of scope is dropped here.
        labels: labels of any memories.

    Returns:
        Those that the asker may know of (`ok` tells which of them may be returned), and what stands around them.
    """
    found = _read_candidate_rows(rows, narrowed, np.unique(labels))
    known = np.array([row[0] for row in found], np.int64)
    around = read_neighbours(rows, narrowed, known)
    own_cosine, nearby_cosine = np.full(known.size, np.nan), np.full(known.size, np.nan)
    if question.vector is not None and known.size:
        own_cosine, nearby_cosine = window_cosines(around, question.vectors, question.vector, question.profile)
    covered, own, near = query_coverage(around, question.words, question.profile)
    weight = 0.0 if question.vector is None else question.profile.cosine_weight
    meaning, words = (
        (1.0, 1.0) if question.vector is None or not question.words.terms else blend_weights(question.text_weight)
    )
    nearby = np.nan_to_num(nearby_cosine)
    asks, size = np.array([(row[17], row[16]) for row in found], np.float64).reshape(-1, 2).T
    substance = substance_factor(asks > 0, size, question.profile.asking, question.profile.saying)
    candidates = Candidates(
        labels=known,
        ok=np.array([bool(row[1]) for row in found], np.bool_) & _are_confident(found, narrowed.sure),
        facts=tuple(_facts_from_row(row) for row in found),
        sides=np.array([row[10:16] for row in found], np.float64).reshape(-1, 6),
        vector=own_cosine,
        window=nearby_cosine,
        coverage=covered,
        own=own,
        near=near,
        plain=evidence_score(nearby, covered, weight),
        evidence=np.maximum(0.0, evidence_score(nearby, words * covered, meaning * weight) + substance),
        lifted=np.zeros(known.size),
        lends=np.zeros(known.size, np.bool_),
        time=np.full(known.size, np.nan),
        graph=np.full(known.size, np.nan),
        fit=np.ones(known.size),
        claims=np.zeros(known.size, np.bool_),
        answers=np.full(known.size, np.nan),
    )
    return candidates, around


def _facts_from_row(row: tuple[Any, ...]) -> CandidateFacts:
    return CandidateFacts(row[2], row[3], (row[4], row[5], row[6]), row[7], row[8], row[9], row[20])


def _are_confident(found: Sequence[tuple[Any, ...]], sure: tuple[float, int] | None) -> Flags:
    """Which are sure enough by now (seed B, effective confidence)."""
    if sure is None or not found:
        return np.ones(len(found), np.bool_)
    least, now_ms = sure
    confidence, confirmed = np.array([(row[11], row[19]) for row in found], np.float64).T
    rates = decay_rates([row[5] for row in found], [row[18] for row in found])
    effective = effective_confidence(confidence, rates, (now_ms - confirmed) / _DAY_MS)
    return np.asarray(effective >= least, np.bool_)


def _read_candidate_rows(rows: Rows, narrowed: ScopePredicate, labels: Labels) -> Sequence[tuple[Any, ...]]:
    sql = (
        f"SELECT m.n, {narrowed.wanted} AND {narrowed.speaks}, {_FACTS} FROM memories m "  # noqa: S608 - conditions of core.recall.predicate
        f"WHERE m.n IN (SELECT value FROM json_each(:labels)) AND {narrowed.scope} ORDER BY m.n"
    )
    return rows.all(sql, {**narrowed.params, "labels": json.dumps(labels.tolist())})


_MOST_CLAIMED = 12
_SPEAKER = "user"
_CLAIMED = (
    "SELECT DISTINCT m.n, m.client_id IS NULL FROM spaces s CROSS JOIN claims c ON c.space_id = s.id "
    "AND c.subject_key = :speaker AND c.predicate IN (SELECT value FROM json_each(:asked)) "
    "JOIN evidence e ON e.claim_id = c.id AND e.stance = 'supporting' "
    "JOIN memories m ON m.id = e.memory_id AND m.kind = 'fact' "
    "WHERE c.polarity = 'positive' AND coalesce(c.valid_to > :now, 1) AND coalesce(c.valid_from <= :now, 1) "
    # What a client says by itself of the person is no answer before it is settled.
    "AND (c.state IN ('asserted', 'disputed') OR (c.state = 'draft' "
    "AND (m.client_id IS NULL OR m.source IN ('user_explicit', 'user_implicit')))) AND "
)
_PERSONS_FIRST = " ORDER BY 2 DESC, 1 DESC LIMIT :most"


def find_claimed(rows: Rows, query: str, plan: QueryPlan, narrowed: ScopePredicate) -> Labels:
    """Labels of facts with a claim of the property that a question asks for, as far as the asker may know of them.

    Args:
        query: the question as typed.
        plan: how it was understood; of another time than the present nothing is looked up.
        narrowed: the request's conditions: what is out of scope takes no place among the twelve.

    Returns:
        The person's own first, then the newest, at most twelve; none for most questions.
    """
    now = narrowed.params["now"]
    asked = frozenset() if now is None or plan.period or plan.time is not None else read_asked_predicates(query)
    if not asked:
        return np.empty(0, np.int64)
    sql = f"{_CLAIMED}{narrowed.wanted}{_PERSONS_FIRST}"
    params = {"speaker": _SPEAKER, "asked": json.dumps(sorted(asked)), "most": _MOST_CLAIMED}
    return np.array([int(label) for label, _ in rows.all(sql, {**narrowed.params, **params})], np.int64)


_IN_DAYS = (
    "SELECT group_concat(n) FROM (SELECT n FROM (SELECT n, occurred_at AS at FROM memories "
    "WHERE occurred_at >= :first AND occurred_at < :last "
    "UNION ALL SELECT n, recorded_at AS at FROM memories "
    "WHERE occurred_at IS NULL AND recorded_at >= :first AND recorded_at < :last) ORDER BY at DESC, n LIMIT :most)"
)
_MOST = 20_000
_LEAST = 0.05
_LATER_MS = int(TOLD_LATER_DAYS * 86_400_000)


def nearest_in_period(rows: Rows, allowed: Labels | None, question: ComparedQuery, days: TimeRange, k: int) -> Labels:
    """The memories of those days that are nearest in meaning.

    Args:
        allowed: labels in scope, ascending; None where they are not named, and the caller looks at each candidate.
        days: the range; some days after it belong to it, as people tell of a day later.
        k: how many.

    Returns:
        Labels; all of the range where it has no more than `k`, or nothing is compared by meaning.
    """
    params = {"first": days.from_ms, "last": days.to_ms + _LATER_MS, "most": _MOST}
    # Only what the index on time holds is read: conditions on the rows would read every memory of a year.
    here = np.sort(parse_labels(rows.value(_IN_DAYS, params)))
    if allowed is not None:
        here = np.intersect1d(here, allowed, assume_unique=True)
    if here.size <= k or question.vector is None:
        return here[:k]
    hits = question.vectors.search(question.vector, k, here)
    return here[:k] if hits is None else hits.labels


def apply_time_bonus(found: Candidates, days: TimeRange, bonus: float) -> Candidates:
    """Raise what lies in the days that are asked about: evidence x (1 + bonus x nearness).

    Args:
        bonus: 0 or more.
    """
    proximity = time_proximity(found.sides[:, 0], days.from_ms, days.to_ms)
    return replace(
        found,
        time=np.where(proximity >= _LEAST, proximity, np.nan),
        evidence=found.evidence * (1.0 + bonus * proximity),
    )


def restrict_to_period(found: Candidates, days: TimeRange, strongest: float) -> Candidates:
    """Restrict the answer to a period, for questions that ask what happened in it.

    Args:
        strongest: the greatest evidence there can be; what lies in the days has nine tenths of it and more.
    """
    at = found.sides[:, 0]
    inside = (at >= days.from_ms) & (at < days.to_ms)
    own = np.clip(found.evidence / max(strongest, 1e-9), 0.0, 1.0)
    evidence = np.where(inside, strongest * (0.9 + 0.1 * own), 0.0)
    return replace(
        found,
        evidence=evidence,
        plain=evidence,
        time=np.where(inside, time_proximity(at, days.from_ms, days.to_ms), np.nan),
    )


SEEDS = 50
"""E5.1.1."""

SHARED_NAME = 0.5
"""Our choice: two memories that name the same thing, beside an edge of weight 1."""

_MOST_NAMED = 40  # a name that stands everywhere ties nothing
_TYPES = "('caused_by', 'instance_of', 'inferred_from', 'supports', 'related_to', 'example_of')"
_HERE = "a.n IN (SELECT value FROM json_each(:here))"
_LINKS = (
    f"SELECT a.n, m.n, e.weight FROM memories a JOIN edges e ON e.from_id = a.id AND e.type IN {_TYPES} "  # noqa: S608
    f"JOIN memories m ON m.id = e.to_id WHERE {_HERE} AND {{visible}} "
    f"UNION ALL SELECT a.n, m.n, e.weight FROM memories a JOIN edges e ON e.to_id = a.id AND e.type IN {_TYPES} "
    f"JOIN memories m ON m.id = e.from_id WHERE {_HERE} AND {{visible}} "
    "UNION ALL SELECT a.n, m.n, 1.0 FROM memories a JOIN derivations d ON d.derived_id = a.id "
    f"JOIN memories m ON m.id = d.source_id WHERE {_HERE} AND {{visible}} "
    "UNION ALL SELECT a.n, m.n, 1.0 FROM memories a JOIN derivations d ON d.source_id = a.id "
    f"JOIN memories m ON m.id = d.derived_id WHERE {_HERE} AND {{visible}}"
)
_NAMED = (
    f"SELECT x.entity_id, a.n FROM memories a JOIN mentions x ON x.memory_id = a.id WHERE {_HERE} "  # noqa: S608
    "AND x.start_at >= 0 ORDER BY x.entity_id"
)
_NAMING = (
    "SELECT m.n FROM mentions z JOIN memories m ON m.id = z.memory_id "
    "WHERE z.entity_id = :name AND z.start_at >= 0 AND {visible} LIMIT :most"
)
HAS_LINKS = "(EXISTS (SELECT 1 FROM edges) OR EXISTS (SELECT 1 FROM derivations) OR EXISTS (SELECT 1 FROM mentions))"
"""Whether there is anything to spread over."""


def activate_neighbours(rows: Rows, narrowed: ScopePredicate, found: Candidates, hops: int) -> dict[int, float]:
    """Spread activation from the nearest candidates.

    Args:
        narrowed: the request's conditions; nothing that is not visible is reached, or leads on.
        found: the candidates; their cosine is what they start with, or their share of the words where there is none.
        hops: 2, and 3 where causes are asked for (design section 5).

    Returns:
        Label to the activation that reached it over links; seeds that were not raised are not in it.
    """
    start = np.where(np.isnan(found.vector), found.coverage, found.vector)
    start = np.where(found.ok, np.clip(start, 0.0, 1.0), 0.0)
    best = np.argsort(-start, kind="stable")[:SEEDS]
    seeds = {int(found.labels[at]): float(start[at]) for at in best}
    links, naming = _LINKS.format(visible=narrowed.visible), _NAMING.format(visible=narrowed.visible)

    def links_of(front: Mapping[int, float]) -> Links:
        here = {**narrowed.params, "here": json.dumps(sorted(front))}
        yield from ((int(a), int(b), float(weight)) for a, b, weight in rows.all(links, here))
        # A name ties weakly: most of what was reached over one leads no further over another, and is not looked up.
        strong = sorted(one for one, value in front.items() if may_spread(value, SHARED_NAME))
        named = rows.all(_NAMED, {"here": json.dumps(strong)}) if strong else ()
        for name, own in groupby(named, lambda row: str(row[0])):
            # Once a name, and not once for each pair that it ties: in a vault of years that was most of a recall.
            asked = {**narrowed.params, "name": name, "most": _MOST_NAMED}
            all_of = [int(row[0]) for row in rows.all(naming, asked)]
            if len(all_of) < _MOST_NAMED:
                yield from ((int(one), other, SHARED_NAME) for _, one in own for other in all_of if other != one)

    level = spread_activation(seeds, links_of, hops)
    return {label: value for label, value in level.items() if value > seeds.get(label, 0.0)}


def graph_activated_labels(found: Candidates, level: dict[int, float]) -> Labels:
    """Labels that the activation reached and that are no candidates yet.

    Args:
        level: from `activate_neighbours`.

    Returns:
        Labels, ascending.
    """
    return np.setdiff1d(np.array(sorted(level), np.int64), found.labels)


def apply_activation(found: Candidates, level: dict[int, float], worth: float) -> Candidates:
    """Raise the evidence of each reached candidate to the worth of its activation.

    Args:
        found: the candidates, those that were reached among them.
        level: from `activate_neighbours`.
        worth: what an activation of 1 is worth as evidence.
    """
    reached = np.array([level.get(label, np.nan) for label in found.labels.tolist()], np.float64)
    raised = np.maximum(found.evidence, worth * np.nan_to_num(reached))
    return replace(found, graph=reached, evidence=np.where(found.ok, raised, found.evidence))
