"""The order of candidates: fused ranks and evidence, bounded side signals, succession, and marked contradictions.

Succession: "Which city do I live in" is near to "I live in Graz" and far from "home is Linz from today"; the chain
knows that the second replaced the first, so the second takes over the evidence of the first, whose text is never
returned. Contradictions: a message is stored verbatim, and each client has a space of its own, so the gate has not
compared all of them with the person's word; the items of an answer are compared once more, and what a client says
against that word ranks below it. What the person typed to a client with `speak_for_user`, and later than the
contradicted word, ranks first with the same mark: the person is asked about it. Must not do: leave anything out, decide
which of two is right, or let a digest that hardly speaks of the question hide the message that does.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from core.belief.claims import find_owner_statements, find_persons_words
from core.recall.candidates import Candidates, ComparedQuery, read_candidates
from core.recall.predicate import ScopePredicate
from core.recall.result import IN_REVIEW, RecallItem, Signals
from core.recall.scope import LATER_SPEAKS, Labels
from core.recall.vectors import Floats
from core.score.profile import Profile
from core.score.ranking import (
    SideSignals,
    diversify,
    fuse_ranks,
    rank_scores,
    recency_score,
    redundancy,
    side_multiplier,
    utility_score,
)
from core.types.belief import ComparedText
from core.types.values import Intent, Kind, Memory, Status
from core.vault.database.rows import Rows

if TYPE_CHECKING:
    from core.intake.claims import TextReaders

# Scores nearer than this are equal: a sum of floats must not decide a tie.
_DIGITS = 9
_LEAST = 1e-9
_LOOKED_AT = 30
"""So many of the best are looked at for repetition; what stands behind them is seldom read."""


@dataclass(frozen=True, slots=True)
class RankedCandidates:
    """Candidates in their final order; lists hold infinity where a candidate does not stand in one.

    Attributes:
        order: places in the candidates, best first.
        score: final score by place in the candidates, 0 to 1; never greater than that of what stands above.
        relevance: by place, before the side signals.
        sides: the side signals.
        factor: what the side signals did, by place.
        repeats: greatest likeness to what stands above it, by place; NaN where that was not looked at.
        ranks: rank by list and place.
        raw: raw score by list and place.
        weights: every number that made the order, by name.
    """

    order: tuple[int, ...]
    score: Floats
    relevance: Floats
    sides: SideSignals
    factor: Floats
    repeats: Floats
    ranks: dict[str, Floats]
    raw: dict[str, Floats]
    weights: dict[str, float]

    def places_in_lists(self, at: int) -> dict[str, tuple[int, float]]:
        """The lists a candidate stands in: rank and raw score."""
        return {
            name: (int(places[at]), float(self.raw[name][at]))
            for name, places in self.ranks.items()
            if np.isfinite(places[at])
        }

    def signals_of(self, at: int) -> Signals:
        """The signals of one candidate."""
        return Signals(
            relevance=float(self.relevance[at]),
            confidence=float(self.sides.confidence[at]),
            recency=float(self.sides.recency[at]),
            importance=float(self.sides.importance[at]),
            utility=float(self.sides.utility[at]),
        )


def rank_candidates(
    found: Candidates,
    bm25_scores: dict[int, float],
    question: ComparedQuery,
    strongest: float,
    intent: Intent,
    now_ms: int,
) -> RankedCandidates:
    """Order candidates.

    Args:
        bm25_scores: label to BM25 score.
        question: what they were compared with, and the weights.
        strongest: the greatest evidence there can be in this mode.
        intent: what kind of answer is asked for.

    Returns:
        The order with all that made it. Ties: newer first, then by id.
    """
    profile = question.profile
    raw = {
        "vector": found.vector,
        "bm25": np.array([bm25_scores.get(label, np.nan) for label in found.labels.tolist()], np.float64),
        "window": found.window,
        "coverage": np.where(found.coverage > 0, found.coverage, np.nan),
        "evidence": found.evidence,
        "time": found.time,
        "graph": found.graph,
    }
    places = {name: rank_scores(np.round(scores, _DIGITS)) for name, scores in raw.items()}
    listed = {name: value for name, value in asdict(profile.lists).items() if np.isfinite(places[name]).any()}
    strength = {"mmr": 1.0, "rrf": 0.0}.get(profile.rerank, profile.strength)
    share = np.clip(found.evidence / max(strongest, _LEAST), 0.0, 1.0)
    relevance = strength * share + (1.0 - strength) * found.fit * fuse_ranks(places, listed, profile.rrf_k)
    sides = _make_side_signals(found, profile, now_ms)
    factor = side_multiplier(sides, profile.sides, profile.side_bound)
    score = np.asarray(np.round(np.clip(relevance * factor, 0.0, 1.0), _DIGITS), np.float64)
    trade = 1.0 if profile.rerank == "rrf" else float(asdict(profile.trades)[intent.value])
    order, score, repeats = _diversify_order(found, question, _order_by_score(found, score), score, trade)
    weights = {f"list.{name}": value for name, value in listed.items()}
    weights |= {f"side.{name}": value for name, value in asdict(profile.sides).items()}
    weights |= {"rrf_k": profile.rrf_k, "strength": strength, "strongest": max(strongest, _LEAST), "trade": trade}
    weights |= {"side_bound": profile.side_bound}
    return RankedCandidates(order, score, relevance, sides, factor, repeats, places, raw, weights)


def _make_side_signals(found: Candidates, profile: Profile, now_ms: int) -> SideSignals:
    at_ms, confidence, importance, reinforcements, disputes, accesses = found.sides.T
    return SideSignals(
        confidence=confidence,
        recency=recency_score(now_ms, at_ms, profile.recency_half_life_days),
        importance=importance,
        utility=utility_score(reinforcements, disputes, accesses),
    )


def _order_by_score(found: Candidates, score: Floats) -> tuple[int, ...]:
    keys = [(-value, -fact.recorded_at, fact.id) for value, fact in zip(score.tolist(), found.facts, strict=True)]
    return tuple(sorted(range(len(keys)), key=keys.__getitem__))


def _diversify_order(
    found: Candidates, question: ComparedQuery, order: tuple[int, ...], score: Floats, trade: float
) -> tuple[tuple[int, ...], Floats, Floats]:
    """Let repetition of what stands above come later; only among the first, whose vectors are looked up."""
    repeats = np.full(score.size, np.nan)
    top = np.array(order[:_LOOKED_AT], np.int64)
    if trade >= 1.0 or top.size < 2 or question.vector is None:
        return order, score, repeats
    _, values, most = diversify(
        score[top], redundancy(_cosine_matrix(found.labels[top], question), question.profile.alike_from), trade
    )
    changed = score.copy()
    changed[top] = np.round(values, _DIGITS)
    repeats[top] = most
    # What was put last among the first may now stand behind one that was not looked at: the scores decide.
    return _order_by_score(found, changed), changed, repeats


def _cosine_matrix(labels: Labels, question: ComparedQuery) -> Floats:
    """Cosine of each pair; 0 where one has no vector."""
    having, vectors = question.vectors.fetch_vectors(np.sort(labels))
    table = np.zeros((labels.size, vectors.shape[1] if vectors.size else 1))
    if having.size:
        at = np.minimum(np.searchsorted(having, labels), having.size - 1)
        there = having[at] == labels
        table[there] = vectors[at[there]]
    # Row by row: a product of matrices wakes the library's threads, which wait for each other on a busy machine.
    return np.asarray([table @ row for row in table], np.float64)


@dataclass(frozen=True, slots=True)
class ResultGroup:
    """One item of the answer with all it stands for.

    Attributes:
        at: place of the one that is shown.
        first: place of the best of them, which gives the score.
        refs: references of all, the best one's first.
    """

    at: int
    first: int
    refs: tuple[str, ...]


def fold_groups(
    found: Candidates, order: Iterable[int], leads: Mapping[int, int], representatives: Mapping[int, int] | None = None
) -> tuple[tuple[ResultGroup, ...], dict[int, int]]:
    """Fold the parts of one split text, exact duplicates, and the sources of a digest or fact into one item each.

    Args:
        order: places, best first.
        leads: place of a source to the place of what was made of it and stands for it.
        representatives: label of an episode to that of the statement shown for it: episodes of one are one item.

    Returns:
        The items, best first; and for each candidate that is not shown itself the place of the one that stands for it.
    """
    kept: list[tuple[int, int, list[str]]] = []
    representative_of: dict[int, int] = {}
    seen: dict[object, int] = {}
    for at in order:
        shown = leads.get(at, at)
        keys = _folding_keys(found, at, shown, representatives or {})
        group = next((seen[key] for key in keys if key in seen), None)
        if group is None:
            group = len(kept)
            kept.append((shown, at, []))
        if kept[group][0] != at:
            representative_of[at] = kept[group][0]
        for key in keys:
            seen.setdefault(key, group)
        refs, own = kept[group][2], found.facts[at].ref
        if own is not None and own not in refs:
            refs.append(own)
    return tuple(ResultGroup(at, first, tuple(refs)) for at, first, refs in kept), representative_of


def _folding_keys(found: Candidates, at: int, shown: int, representatives: Mapping[int, int]) -> tuple[object, ...]:
    """Keys of which any two of one item share one."""
    places = (at,) if shown == at else (at, shown)
    keys = [key for one in places for key in (found.facts[one].duplicate_key, found.facts[one].whole)]
    label = int(found.labels[at])
    return (*keys, ("told", representatives[label])) if label in representatives else tuple(keys)


DIGEST_SHARE = 0.6
"""Our choice: what was made of others stands for them where it speaks to the question at least so well as they do."""

_PAIRS = (
    "SELECT b.n, a.n FROM memories b JOIN derivations d ON d.source_id = b.id JOIN memories a ON a.id = d.derived_id "
    "AND a.kind IN ('digest', 'fact') WHERE b.n IN (SELECT value FROM json_each(:here)) AND b.kind <> a.kind"
)


def find_representatives(rows: Rows, found: Candidates) -> dict[int, int]:
    """Map each source candidate to the digest or fact that answers for it.

    Args:
        found: candidates that may be returned.

    Returns:
        Place of a source to the place of what was made of it; where several were, of the one that answers best.
    """
    place = {label: at for at, label in enumerate(found.labels.tolist())}
    chosen: dict[int, int] = {}
    for source, made in rows.all(_PAIRS, {"here": json.dumps(found.labels.tolist())}):
        at, by = place[int(source)], place.get(int(made))
        if by is None or not (found.ok[at] and found.ok[by]) or found.evidence[by] < DIGEST_SHARE * found.evidence[at]:
            continue
        if at not in chosen or found.evidence[by] > found.evidence[chosen[at]]:
            chosen[at] = by
    # What stands for others may itself be a source: the last in the row speaks for all. The graph has no circles.
    return {at: _final_choice(chosen, by) for at, by in chosen.items()}


def credit_representatives(found: Candidates, led: dict[int, int]) -> Candidates:
    """Give each digest or fact the best evidence of the sources it answers for.

    Args:
        led: from `find_representatives`.
    """
    evidence = found.evidence.copy()
    for at, by in led.items():
        evidence[by] = max(evidence[by], float(found.evidence[at]))
    return replace(found, evidence=evidence)


def _final_choice(chosen: dict[int, int], at: int) -> int:
    while at in chosen:
        at = chosen[at]
    return at


SHARE = 0.9
"""Our choice: what answers through an earlier version comes a little behind what answers itself."""

SPEAKS = 0.55
"""Our choice: how near the later of two must be to the question, as a share of the earlier one's nearness."""

_FIRST_PARTS = (
    "SELECT o.n, h.n, 0 FROM memories o CROSS JOIN memories h "  # noqa: S608 - conditions of core.recall.predicate
    "ON h.chain_id = o.chain_id AND +h.status = 'active' "
    "AND coalesce(h.part_index, 0) = 0 WHERE o.n IN (SELECT value FROM json_each(:over)) AND +o.status = 'superseded' "
    "AND h.version = (SELECT max(s.version) FROM memories s WHERE s.chain_id = o.chain_id AND +s.status = 'active') "
    # Of two of which the person is asked, the later one speaks, where it speaks of what is asked.
    f"UNION SELECT o.n, h.n, 1 FROM ({LATER_SPEAKS}) p JOIN memories o ON o.id = p.earlier "
    "JOIN memories h ON h.id = p.later WHERE o.n IN (SELECT value FROM json_each(:review)) ORDER BY 1, 2"
)


def credit_successors(rows: Rows, narrowed: ScopePredicate, question: ComparedQuery, found: Candidates) -> Candidates:
    """Give each successor the evidence of the version it replaced.

    Args:
        rows: the vault snapshot of the candidates.
        narrowed: the request's conditions.

    Returns:
        The candidates, with successors that were not among them. Who may not see a version has nothing of it here.
    """
    over = _strongest_superseded(found, question.profile.expand_from)
    # Asked for the present alone: as of a time, or among what is no longer active, both are shown.
    asked = [at for at, fact in enumerate(found.facts) if fact.status == IN_REVIEW and found.ok[at]]
    asked = [] if narrowed.params["now"] is None else asked
    if not over and not asked:
        return found
    params = {
        name: json.dumps(found.labels[np.array(places, np.int64)].tolist())
        for name, places in (("over", over), ("review", asked))
    }
    pairs = [(int(old), int(new), bool(is_open)) for old, new, is_open in rows.all(_FIRST_PARTS, params)]
    fresh = np.setdiff1d(np.array([new for _, new, _ in pairs], np.int64), found.labels)
    if fresh.size:
        found = found.with_others(read_candidates(rows, narrowed, question, fresh)[0])
    return _lift_successors(found, pairs)


def _strongest_superseded(found: Candidates, most: int) -> list[int]:
    """Places of what is over and speaks to the question most."""
    over = [at for at, fact in enumerate(found.facts) if fact.status == Status.SUPERSEDED.value and not found.ok[at]]
    over = sorted(over, key=lambda at: (-float(found.evidence[at]), at))[:most]
    return [at for at in over if found.evidence[at] > 0]


def _lift_successors(found: Candidates, pairs: list[tuple[int, int, bool]]) -> Candidates:
    place = {label: at for at, label in enumerate(found.labels.tolist())}
    evidence, plain = found.evidence.copy(), found.plain.copy()
    ok, lends = found.ok.copy(), found.lends.copy()
    for old, new, is_open in pairs:
        at, before = place.get(new), place[old]
        if at is None or not found.ok[at]:
            continue
        if is_open:
            if not _is_answering_too(found, at, before):
                continue
            ok[before] = False
        lends[before] = True
        evidence[at] = max(evidence[at], SHARE * float(found.evidence[before]))
        plain[at] = max(plain[at], SHARE * float(found.plain[before]))
    return replace(found, ok=ok, evidence=evidence, plain=plain, lends=lends, lifted=found.lifted + plain - found.plain)


def _is_answering_too(found: Candidates, later: int, earlier: int) -> bool:
    """Whether the later of two that are asked about speaks of what is asked: else a guess would empty the answer."""
    later_score, earlier_score = float(found.vector[later]), float(found.vector[earlier])
    if np.isnan(later_score) or np.isnan(earlier_score):
        later_score, earlier_score = float(found.evidence[later]), float(found.evidence[earlier])
    return later_score >= SPEAKS * earlier_score


CONTRADICTS = "It contradicts what you said yourself, which is in this answer too."
_CHARACTERS, _SENTENCES = 2_000, 12
"""Of a text so much is compared; a lie that is to be believed is short."""
_BY_MEANING = 8
"""Pairs of sentences that the model is asked about at most: about two milliseconds each."""
_COMPARED = 40
"""Pairs of an answer that are compared; those first that have a word in common."""


def mark_contradictions(
    rows: Rows, items: tuple[RecallItem, ...], readers: Callable[[], TextReaders]
) -> tuple[RecallItem, ...]:
    """Mark what clients say against the person's own word, and rank it below that word.

    Args:
        rows: the snapshot the answer was made from.
        items: the answer, best first.
        readers: gives what reads claims and relations; asked for where texts have to be compared.

    Returns:
        The same items, best first. A contested item scores below what it contradicts, except what the person typed
        later to a client that may speak for them.
    """
    brought = [item for item in items if item.memory.client_id is not None]
    if not brought or len(items) == 1:
        return items
    ids = [item.memory.id for item in items]
    persons, owner_statements = find_persons_words(rows, ids), find_owner_statements(rows, ids)
    strangers = [item for item in brought if item.memory.id not in owner_statements]
    pairs = [
        (own, item) for item, own in product(strangers, items) if _is_comparable(own, item, persons, owner_statements)
    ]
    against = _find_contradicted(pairs, readers()) if pairs else {}
    if not against:
        return items
    relayed = persons - owner_statements
    marked = [_mark_contradiction(item, against.get(item.memory.id), relayed) for item in items]
    return tuple(item for item, _ in sorted(marked, key=lambda one: (-one[0].score, not one[1])))


def _is_comparable(
    own: RecallItem, item: RecallItem, persons: frozenset[str], owner_statements: frozenset[str]
) -> bool:
    """Whether `own` is the person's word that a client's item has to be compared with.

    What the person typed to a client is compared with what they told Loci directly, and with what they stated later: a
    message is stored verbatim even where what it states is over.
    """
    if item.memory.id not in persons:
        return own.memory.id in persons
    if own.memory.id in owner_statements:
        return True
    is_stated = own.memory.id in persons and own.memory.kind is not Kind.EPISODE
    return is_stated and item.memory.kind is Kind.EPISODE and _time_of(own.memory) > _time_of(item.memory)


def _mark_contradiction(item: RecallItem, own: RecallItem | None, relayed: frozenset[str]) -> tuple[RecallItem, bool]:
    """An item with its mark and new score, and whether it precedes others of the same score."""
    if own is None:
        return item, False
    is_later_word = item.memory.id in relayed and _time_of(item.memory) >= _time_of(own.memory)
    score = max(item.score, own.score) if is_later_word else min(item.score, math.nextafter(own.score, 0.0))
    return replace(item, score=score, why=(*item.why, CONTRADICTS), contradicts=own.memory.id), is_later_word


def _time_of(memory: Memory) -> int:
    return memory.recorded_at if memory.occurred is None else memory.occurred.ms


def _find_contradicted(pairs: Sequence[tuple[RecallItem, RecallItem]], readers: TextReaders) -> dict[str, RecallItem]:
    """Map the id of each contradicting item to the best item that it contradicts."""
    # Loaded where a client's word stands beside the person's own: most answers of one command hold none.
    from core.belief.relate.owner_contradiction import read_contradiction_text, weigh_contradictions

    statements = {
        item.memory.id: read_contradiction_text(_text_to_compare(item.memory), readers.extract, _SENTENCES)
        for pair in pairs
        for item in pair
    }
    close = sorted(
        pairs,
        key=lambda pair: not statements[pair[0].memory.id].content_words & statements[pair[1].memory.id].content_words,
    )
    close = close[:_COMPARED]
    found: dict[str, RecallItem] = {}
    classify = None if readers.relate is None else readers.relate.classify
    compared = [(statements[own.memory.id], statements[item.memory.id]) for own, item in close]
    odds = weigh_contradictions(compared, classify, _BY_MEANING)
    doubted = {(own.memory.id, item.memory.id) for (own, item), each in zip(close, odds, strict=True) if each.is_doubt}
    for own, item in pairs:
        if (own.memory.id, item.memory.id) in doubted:
            found.setdefault(item.memory.id, own)
    return found


def _text_to_compare(memory: Memory) -> ComparedText:
    return ComparedText(memory.text[:_CHARACTERS], _time_of(memory))
