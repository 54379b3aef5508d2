"""From ranked candidates to the answer: the bar, the folding, the reasons, what came close, and the trace of it all.

Of a text of which a claim is over only the sentences that still hold are handed out; the stored text stays whole. The
trace is what receipts keep and the laboratory draws. Must not do: search, change a row, or put a text into the trace.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from core.memory.read import read_by_labels
from core.recall.candidates import Candidates, ComparedQuery
from core.recall.client_quota import allot_places, find_contributors
from core.recall.episode_statements import Representatives, SourceEpisode, put_small_talk_behind
from core.recall.ranking import ResultGroup, fold_groups, rank_candidates
from core.recall.request import RecallRequest
from core.recall.result import (
    ASKED_FOR,
    AT_ODDS,
    BELOW_BAR,
    EARLIER_VERSION,
    IN_REVIEW,
    OVER,
    PARTLY_OVER,
    READ_AS_ANSWER,
    SIDE_SIGNALS,
    SUPPRESSED,
    UNFIT,
    NearMiss,
    QueryFocus,
    RecallItem,
    Signals,
    explain_adjustments,
    explain_match,
    explain_miss,
    explain_outcome,
)
from core.recall.scope import is_archived_version
from core.recall.vectors import Flags, Floats
from core.score.ranking import CandidateColumns, answer_probability, evidence_bar
from core.text.query_plan import asks_for_several
from core.text.sentences import sentence_at
from core.text.terms import index_terms
from core.types.recall import QueryPlan, Trace, TracedCandidate
from core.types.values import Memory, Status
from core.vault.database.rows import Rows

_WORD = re.compile(r"[^\W_]+")
_FIT = 0.9  # our choice: what has so much left of its evidence, or more, is not worth a sentence
_SPEAKS_ITSELF = 0.5  # our choice: so much of the best evidence must be there without what versions before lent
_IN_QUESTION = (IN_REVIEW, Status.DISPUTED.value)
_ACTIVE_YET = (IN_REVIEW, OVER, AT_ODDS, SUPPRESSED)


@dataclass(frozen=True, slots=True)
class AnswerInput:
    """A question with its candidates; everything an answer is made from.

    Attributes:
        request: the question.
        plan: how it was understood.
        mode: the strategy that was used.
        question: what the candidates were compared with.
        found: the candidates.
        bm25: label to BM25 score.
        leads: place of a source to the place of what stands for it, both in `found`.
        now_ms: the present, epoch ms.
        told: what is shown for episodes.
    """

    request: RecallRequest
    plan: QueryPlan
    mode: str
    question: ComparedQuery
    found: Candidates
    bm25: dict[int, float]
    leads: Mapping[int, int] = field(default_factory=dict)
    now_ms: int = 0
    representatives: Representatives = field(default_factory=dict)


SURE_CHANCE = 0.9
"""Our choice: the least chance of an answer where something has a claim of the property that is asked for, or surely
answers as a model reads it."""


class RecallAnswer:
    """One question's candidates in order.

    Attributes:
        right: the candidates that may be returned.
        wrong: those that may not.
        ranked: the order of the first.
        chance: how likely there is an answer at all, 0 to 1.
        needed: what the chance must reach.
        signs: what the chance was computed from.
        rerank: how the order was really made: without anything to compare, the fused lists alone.
        firsts: places that give an item of the answer its score without being shown; filled by `items`.
        strongest: the greatest evidence there can be in this mode.
        counts: how many cleared the floor, and how many were left without duplicates; filled by `items`.
        dropped: place in `right` to what dropped it and, for a duplicate, the place of what stands for it; filled by
            `items`.
    """

    def __init__(self, asked: AnswerInput, size: int) -> None:
        """Rank the candidates.

        Args:
            size: memories in scope.
        """
        self._asked = asked
        self._profile = asked.question.profile
        self._words = asked.question.words
        self.right = asked.found.select_where(asked.found.ok)
        self.wrong = asked.found.select_where(~asked.found.ok)
        self.strongest = {
            "hybrid": self._profile.cosine_weight + 1.0,
            "semantic": self._profile.cosine_weight,
        }.get(asked.mode, 1.0)
        self.ranked = rank_candidates(
            self.right, asked.bm25, asked.question, asked.question.strongest, asked.plan.intent, asked.now_ms
        )
        self.dropped: dict[int, tuple[str, int | None]] = {}
        self.counts = (0, 0)
        self.signs: dict[str, float] = {}
        self._is_by_sure_alone = False
        looked_at = bool(np.isfinite(self.ranked.repeats).any())
        self.rerank = self._profile.rerank if looked_at or self._profile.rerank == "mmr" else "rrf"
        self.firsts: tuple[int, ...] = ()
        self.chance, self.needed = self._answer_chance(size)
        self._leads = self._map_sources_to_leads()

    @property
    def best(self) -> float:
        """The greatest evidence among what may be returned; 0 where there is nothing."""
        return float(self.right.plain.max(initial=0.0))

    @property
    def speaks(self) -> bool:
        """Whether anything comes close enough to answer."""
        return bool(self.right.facts) and self.chance >= self.needed

    @property
    def _is_sure(self) -> Flags:
        """Which of `right` answer for sure: they claim what is asked for, or a model reads them as the answer."""
        return self.right.claims | (np.nan_to_num(self.right.answers, nan=-1.0) >= 0)

    def _answer_chance(self, size: int) -> tuple[float, float]:
        """How likely anything answers, and what is needed; by one list alone a bar on its evidence decides."""
        if self._asked.plan.period:
            return float(self.best > 0), 0.5
        if self._asked.mode == "hybrid":
            self.signs = self._candidate_columns(size).make_signs()
            chance = answer_probability(self.signs) if self.right.facts else 0.0
            if self._is_sure.any():  # in whatever words
                self._is_by_sure_alone = chance < self._profile.least_chance
                chance = max(chance, SURE_CHANCE)
            return chance, self._profile.least_chance
        needed = evidence_bar(self._profile, self._asked.mode, size)
        return (min(1.0, self.best / (2 * needed)) if needed > 1e-9 else float(self.best > 0)), 0.5

    def _candidate_columns(self, size: int) -> CandidateColumns:
        words, right = self._words, self._asked.found.select_where(self._asked.found.ok | self._asked.found.lends)
        total = words.total or 1.0
        return CandidateColumns(
            evidence=right.plain,
            window=np.nan_to_num(right.window),
            vector=np.nan_to_num(right.vector),
            coverage=right.coverage,
            own=right.own @ words.weights / total if words.terms else np.zeros(right.plain.size),
            unknown=words.unknown / total,
            terms=len(words.terms),
            size=size,
        )

    def _map_sources_to_leads(self) -> dict[int, int]:
        """Sources and what stands for them, as places among what may be returned."""
        place = {int(at): number for number, at in enumerate(np.flatnonzero(self._asked.found.ok))}
        return {place[at]: place[by] for at, by in self._asked.leads.items() if at in place and by in place}

    def items(self, rows: Rows) -> tuple[RecallItem, ...]:
        """The answer.

        Args:
            rows: the same vault snapshot.

        Returns:
            The items, best first; empty when the best does not clear the bar.
        """
        if not self.speaks:
            self.dropped = dict.fromkeys(self.ranked.order, ("below_bar", None))
            return ()
        request = self._asked.request
        groups = self._make_groups(rows)
        representatives = self._asked.representatives
        labels = [
            representatives[label].label if label in representatives else label for label in self.right.labels.tolist()
        ]
        memories = read_by_labels(rows, [labels[group.at] for group in groups])
        wanted = {*request.statuses, *([Status.SUPERSEDED.value] if request.as_of_ms is not None else [])}
        pairs = [(group, memories[labels[group.at]]) for group in groups]
        # Looked at once more with the row in hand: nothing may rest on one query alone.
        by_time = request.as_of_ms is not None
        found = [(g, one) for g, one in pairs if one.status.value in wanted or (by_time and is_archived_version(one))]
        cut = {} if by_time else trim_ended_sentences(rows, [memory for _, memory in found])
        items = [self._make_item(group, cut.get(memory.id, memory), memory.id in cut) for group, memory in found]
        # What was put behind others scores no higher than they do.
        scores = accumulate((item.score for item in items), min)
        return tuple(replace(item, score=score) for item, score in zip(items, scores, strict=True))

    def _make_groups(self, rows: Rows) -> tuple[ResultGroup, ...]:
        """What is shown, and a note of everything that is not."""
        # What stands for an earlier version does not push out what answers itself.
        own = float((self.right.plain - self.right.lifted).max(initial=0.0))
        top = float(self.right.evidence.max(initial=0.0))
        least = self._profile.floor * (min(own, top) if own >= _SPEAKS_ITSELF * self.best else top)
        # Where only what is sure lets anything be said, it alone is, however near something else comes.
        is_over = self._is_sure if self._is_by_sure_alone else self.right.evidence >= least
        over = [at for at in self.ranked.order if is_over[at]]
        representatives = self._asked.representatives
        groups, representative_of = fold_groups(
            self.right, over, self._leads, {label: one.label for label, one in representatives.items()}
        )
        order = put_small_talk_behind(rows, [group.at for group in groups], self.right, representatives)
        groups = tuple(groups[place] for place in order)
        handed = self._select_by_quota(rows, groups, representative_of)
        kept = {group.at for group in handed}
        self.dropped = {at: ("below_floor", None) for at in self.ranked.order if not is_over[at]}
        self.dropped |= {at: ("duplicate", by) for at, by in representative_of.items()}
        self.dropped |= {group.at: ("beyond_limit", None) for group in groups if group.at not in kept}
        self.counts = (len(over), len(groups))
        self.firsts = tuple(
            group.first
            for group in handed
            if group.first != group.at or int(self.right.labels[group.at]) in representatives
        )
        return handed

    def _select_by_quota(
        self, rows: Rows, groups: Sequence[ResultGroup], representative_of: Mapping[int, int]
    ) -> tuple[ResultGroup, ...]:
        """The best, but of one client's to another its share first."""
        request, facts = self._asked.request, self.right.facts
        shown = [group.at for group in groups]
        attributed = [
            *shown,
            *(at for at, by in representative_of.items() if facts[at].duplicate_key == facts[by].duplicate_key),
        ]
        found = find_contributors(
            rows, [(facts[at].id, facts[at].client_id) for at in attributed], request.scope.client_id
        )
        # Of equal texts of several the one that nothing bounds speaks for all.
        free = {representative_of.get(at, at) for at, voice in zip(attributed, found, strict=True) if voice is None}
        contributors = [None if at in free else voice for at, voice in zip(shown, found[: len(shown)], strict=True)]
        return tuple(groups[place] for place in allot_places(contributors, request.limit))

    def query_focus(self) -> QueryFocus | None:
        """What the question looks for; None where it wants whatever there is of some days."""
        asked = self._asked
        if asked.plan.period:
            return None
        several = asks_for_several(asked.request.query, asked.plan.intent)
        weights = tuple(float(one) for one in self._words.weights)
        return QueryFocus(weights, asked.question.strongest, several, self._profile.focus)

    def near_misses(self, items: Sequence[RecallItem]) -> tuple[NearMiss, ...]:
        """What came close: at least as strong as the last item, or the best there is when there is no answer.

        Returns:
            The strongest first.
        """
        last = min((item.ranks["evidence"][1] for item in items), default=0.0)
        # What stands in question beside the answer is told of however it is worded: a doubt hides nothing.
        least = [1e-9 if fact.status in _IN_QUESTION else max(last, 1e-9) for fact in self.wrong.facts]
        misses = [
            self._withheld_near_miss(at) for at in np.flatnonzero(self.wrong.evidence >= np.array(least)).tolist()
        ]
        if not items:
            misses += [self._weak_near_miss(at) for at in self.ranked.order if self.right.evidence[at] > 0]
        misses.sort(key=lambda miss: (-miss.score, miss.id))
        return tuple(misses[: self._profile.near_misses])

    def explain_answer(self) -> str:
        """Why there is an answer, or none, in one sentence."""
        compared = len(self.right.facts)
        return explain_outcome(
            self._asked.mode, abstained=not self.speaks, compared=compared, best=self.chance, needed=self.needed
        )

    def why_not(self, at: int) -> tuple[str, str]:
        """Why one of `wrong` may not be returned: a word and a sentence."""
        by_time = self._asked.request.as_of_ms is not None
        return explain_miss(self.wrong.facts[at].status, self._asked.request.statuses, by_time=by_time)

    def explain_candidate(self, at: int, memory: Memory) -> tuple[str, ...]:
        """The reasons of one of `right`, in sentences.

        Args:
            memory: it, as it is returned.
        """
        places = self.ranked.places_in_lists(at)
        own, nearby = self.right.own[at], self.right.near[at]
        signals, factor = self.ranked.signals_of(at), float(self.ranked.factor[at])
        speakers, elsewhere = self._named_speakers(at, memory), self._words_elsewhere(at, memory)
        words = [word for word in self._words_at(own) if word not in {*speakers, *elsewhere}]
        elsewhere = [word for word in elsewhere if word not in speakers]
        words, next_to, speakers, elsewhere = (
            self._as_typed(found) for found in (words, self._words_at(nearby & ~own), speakers, elsewhere)
        )
        speaker, signals = ", ".join(speakers), self._weighted_signals(signals)
        sentences = explain_match(places, words, next_to, len(own), signals, factor, speaker, elsewhere)
        sentences = (*sentences, *explain_adjustments(places, float(np.nan_to_num(self.ranked.repeats[at]))))
        if self.right.claims[at]:
            sentences = (ASKED_FOR, *sentences)
        elif self._is_sure[at]:
            sentences = (READ_AS_ANSWER, *sentences)
        sentences = (*sentences, UNFIT) if self.right.fit[at] < _FIT else sentences
        is_of_earlier = self.right.lifted[at] > 0 and int(self.right.labels[at]) not in self._asked.representatives
        return (*sentences, EARLIER_VERSION) if is_of_earlier else sentences

    def _make_item(self, group: ResultGroup, memory: Memory, is_cut: bool) -> RecallItem:
        at = group.at
        reasons = self.explain_candidate(at, memory)
        why = (*reasons, PARTLY_OVER) if is_cut else reasons
        score = max(float(self.ranked.score[at]), float(self.ranked.score[group.first]))
        own = self.right.own[at] | self.right.own[group.first]
        nearby = self.right.near[at] | self.right.near[group.first]
        representative = self._asked.representatives.get(int(self.right.labels[at]))
        episodes = () if representative is None else representative.episodes
        refs = _refs_of(group, episodes)
        return RecallItem(
            replace(memory, ref=refs[0]) if episodes and refs else memory,
            score,
            self.ranked.signals_of(at),
            self.ranked.places_in_lists(at),
            why,
            refs,
            tuple(own.tolist()),
            tuple(nearby.tolist()),
            episodes=tuple(one.id for one in episodes),
        )

    def _named_speakers(self, at: int, memory: Memory) -> list[str]:
        """Who said it, in the question's words, where these are found in their name and not in the text."""
        named = set((memory.author or "").casefold().split()) - set(_WORD.findall(memory.text.casefold()))
        return [word for word in self._words_at(self.right.own[at]) if word.casefold() in named]

    def _words_elsewhere(self, at: int, memory: Memory) -> list[str]:
        """Words of the question that it has, but not in its text: in its date, its tags or by another name."""
        text = set(_WORD.findall(memory.text.casefold()))
        found = zip(self._words.terms, self.right.own[at].tolist(), strict=True)
        missing = [term for term, here in found if here and term.word not in text]
        if not missing:
            return []
        stems = set(index_terms(memory.text).split())  # read only where a word is in another form
        return [term.word for term in missing if term.term not in stems]

    def _words_at(self, which: NDArray[np.bool_]) -> list[str]:
        return [term.word for term, here in zip(self._words.terms, which.tolist(), strict=True) if here]

    def _as_typed(self, words: Sequence[str]) -> list[str]:
        typed = {word.casefold(): word for word in _WORD.findall(self._asked.request.query)}
        return [typed.get(word, word) for word in words]

    def _weighted_signals(self, signals: Signals) -> Signals:
        """The signals as far as they count: one without a weight neither raises nor lowers."""
        unused = dict.fromkeys((name for name in SIDE_SIGNALS if not getattr(self._profile.sides, name)), 0.5)
        return replace(signals, **unused)

    def _share_of_strongest(self, evidence: float) -> float:
        return min(1.0, evidence / max(self.strongest, 1e-9))

    def _withheld_near_miss(self, at: int) -> NearMiss:
        fact = self.wrong.facts[at]
        why, sentence = self.why_not(at)
        status = Status.ACTIVE.value if fact.status in _ACTIVE_YET else fact.status
        return NearMiss(fact.id, why, sentence, status, self._share_of_strongest(float(self.wrong.evidence[at])))

    def _weak_near_miss(self, at: int) -> NearMiss:
        fact = self.right.facts[at]
        sentence = "It does not come close enough to answer."
        return NearMiss(
            fact.id, BELOW_BAR, sentence, fact.status, self._share_of_strongest(float(self.right.evidence[at]))
        )


def _refs_of(group: ResultGroup, episodes: Sequence[SourceEpisode]) -> tuple[str, ...]:
    """The references of all that an item stands for, that of the episode that speaks to the question best first."""
    own = [one.ref for one in episodes if one.ref is not None]
    # Where an episode gives the item its place, it is the first already.
    best = own[:1] if group.first == group.at else []
    return tuple(dict.fromkeys((*best, *group.refs, *own)))


KEPT = 40
"""Candidates a trace holds: all of the answer, and of the others the strongest, until there are so many."""

_DIGITS = 9
_SIDES = ("confidence", "recency", "importance", "utility")


def build_trace(
    answer: RecallAnswer, items: tuple[RecallItem, ...], plan: QueryPlan, brought: Mapping[str, int]
) -> Trace:
    """The trace of an answer.

    Args:
        answer: after `items` was called.
        items: what it returned.
        plan: how the question was understood.
        brought: how many each list brought: `vector`, `words`, `graph`, `time`.
    """
    place = {item.memory.id: number for number, item in enumerate(items, 1)}
    over, left = answer.counts if items else (0, 0)
    stages = {**brought, "in_scope": len(answer.right.facts), "fused": over}
    stages |= {"after_duplicates": left, "answered": len(items)}
    shown = [at for at in answer.ranked.order if answer.right.facts[at].id in place]
    shown += [at for at in answer.firsts if items]
    known = set(shown)
    strength, withheld = answer.right.evidence.tolist(), answer.wrong.evidence.tolist()
    others = [(-strength[at], False, at) for at in answer.ranked.order if at not in known]
    others += [(-value, True, at) for at, value in enumerate(withheld)]
    others.sort()
    others = others[: max(0, KEPT - len(shown))]
    traced = _Right.read_at(answer, place, [*shown, *(at for _, is_withheld, at in others if not is_withheld)])
    kept = [traced.trace_candidate(at) for at in shown]
    kept += [
        _trace_wrong_candidate(answer, at) if is_withheld else traced.trace_candidate(at)
        for _, is_withheld, at in others
    ]
    weights = {name: float(value) for name, value in answer.ranked.weights.items()}
    return Trace(
        plan, stages, tuple(kept), weights, answer.best, answer.needed, answer.chance, answer.signs, answer.rerank
    )


@dataclass(frozen=True, slots=True)
class _Right:
    """The columns of some of what could be returned as plain numbers, by place: one by one an array is slow to read."""

    answer: RecallAnswer
    place: Mapping[str, int]
    rank: Mapping[int, int]
    lists: Mapping[int, dict[str, tuple[int, float]]]
    sides: Mapping[int, dict[str, float]]
    numbers: Mapping[int, tuple[float, ...]]

    @classmethod
    def read_at(cls, answer: RecallAnswer, place: Mapping[str, int], places: list[int]) -> _Right:
        """Read the columns at some places."""
        at, ranked = np.array(places, np.int64), answer.ranked
        lists: dict[int, dict[str, tuple[int, float]]] = {one: {} for one in places}
        for name, ranks in ranked.ranks.items():
            raw = np.round(ranked.raw[name][at], _DIGITS)
            for one, number, value in zip(places, ranks[at].tolist(), raw.tolist(), strict=True):
                if number != np.inf:
                    lists[one][name] = (int(number), value)
        columns: list[Floats] = [answer.right.evidence, ranked.relevance, ranked.factor, ranked.score, ranked.repeats]
        numbers = zip(*(column[at].tolist() for column in columns), strict=True)
        sides = zip(*(getattr(ranked.sides, name)[at].tolist() for name in _SIDES), strict=True)
        return cls(
            answer,
            place,
            {one: number for number, one in enumerate(ranked.order, 1)},
            lists,
            {one: dict(zip(_SIDES, values, strict=True)) for one, values in zip(places, sides, strict=True)},
            dict(zip(places, numbers, strict=True)),
        )

    def trace_candidate(self, at: int) -> TracedCandidate:
        """One of them."""
        fact = self.answer.right.facts[at]
        dropped, by = self.answer.dropped.get(at, (None, None))
        evidence, relevance, factor, score, repeats = self.numbers[at]
        return TracedCandidate(
            id=fact.id,
            place=self.place.get(fact.id),
            rank=self.rank[at],
            lists=self.lists[at],
            evidence=round(evidence, _DIGITS),
            relevance=relevance,
            signals=self.sides[at],
            factor=factor,
            score=score,
            diversity=None if repeats != repeats else repeats,
            dropped=None if fact.id in self.place else (dropped or "filtered"),
            because="" if by is None else self.answer.right.facts[by].id,
            recorded_at=fact.recorded_at,
        )


def _trace_wrong_candidate(answer: RecallAnswer, at: int) -> TracedCandidate:
    fact = answer.wrong.facts[at]
    columns = {"vector": answer.wrong.vector, "window": answer.wrong.window, "coverage": answer.wrong.coverage}
    return TracedCandidate(
        id=fact.id,
        place=None,
        rank=None,
        lists={name: (0, round(float(c[at]), _DIGITS)) for name, c in columns.items() if np.isfinite(c[at])},
        evidence=round(float(answer.wrong.evidence[at]), _DIGITS),
        relevance=0.0,
        signals={},
        factor=1.0,
        score=0.0,
        diversity=None,
        dropped=answer.why_not(at)[0],
        because="",
        recorded_at=fact.recorded_at,
    )


Spans = Sequence[tuple[int, int]]

# Claims of which nothing stands: replaced, and not said anew by anybody.
_SPANS = (
    "SELECT e.memory_id, e.start_at, e.end_at, c.state = 'superseded' AND NOT EXISTS (SELECT 1 FROM claims s "
    "WHERE s.space_id = c.space_id AND s.claim_key = c.claim_key AND s.state IN ('asserted', 'disputed')) "
    "FROM json_each(?) w JOIN evidence e ON e.memory_id = w.value AND e.stance = 'supporting' "
    "JOIN claims c ON c.id = e.claim_id WHERE c.state <> 'retracted' ORDER BY 1, 2, 3"
)


def trim_ended_sentences(rows: Rows, memories: Iterable[Memory]) -> dict[str, Memory]:
    """Memories without the sentences of which all claims are over.

    Args:
        memories: any; only of active ones something is left out.

    Returns:
        Id to memory, for those alone of which a sentence is left out. Never an empty text.
    """
    active = {one.id: one for one in memories if one.status is Status.ACTIVE}
    spans: dict[str, tuple[list[tuple[int, int]], list[tuple[int, int]]]] = {}
    for memory_id, start, end, over in rows.all(_SPANS, (json.dumps(list(active)),)):
        spans.setdefault(memory_id, ([], []))[bool(over)].append((start, end))
    found: dict[str, Memory] = {}
    for memory_id, (current, over) in spans.items():
        memory = active[memory_id]
        text = drop_sentences(memory.text, over, current)
        if text != memory.text:
            found[memory_id] = replace(memory, text=text)
    return found


def drop_sentences(text: str, over: Spans, current: Spans) -> str:
    """A text without its sentences that are over.

    Args:
        over: where it says what is over, code points, ends exclusive.
        current: where it says what stands; a sentence that has any of it stays.

    Returns:
        What is left; the whole text where nothing else would be.
    """
    dropped = {sentence_at(text, start, end) for start, end in over}
    dropped = {one for one in dropped if all(end <= one[0] or one[1] <= start for start, end in current)}
    if not dropped:
        return text
    kept, at = [], 0
    for start, end in sorted(dropped):
        kept.append(text[at:start])
        at = max(at, end)
    left = "".join([*kept, text[at:]]).strip()
    return left or text
