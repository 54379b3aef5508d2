"""From ranked candidates to the answer: the bar, the folding, the reasons, and what came close.

Must not do: search.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.memory.read import memories_by_n
from core.recall.candidates import Candidates, Question
from core.recall.explain import AT_ODDS, EARLIER_VERSION, IN_REVIEW, OVER, PARTLY_OVER, reason, why_found, why_missed
from core.recall.ranking import folded, rank
from core.recall.request import RecallRequest
from core.recall.result import NearMiss, RecallItem
from core.recall.standing_text import as_it_stands
from core.score.abstain import bar
from core.score.profile import Profile
from core.types.values import Memory
from core.types.words import Status
from core.vault.rows import Rows


class Answer:
    """One question's candidates in order."""

    def __init__(
        self,
        profile: Profile,
        request: RecallRequest,
        mode: str,
        found: Candidates,
        bm25_scores: dict[int, float],
        question: Question,
        now_ms: int,
    ) -> None:
        """Rank the candidates.

        Args:
            profile: the weights.
            request: the question.
            mode: the strategy that was used.
            found: the candidates.
            bm25_scores: label to BM25 score.
            question: what they were compared with.
            now_ms: the present, epoch ms.
        """
        self._profile = profile
        self._request = request
        self._mode = mode
        self._words = question.words
        self._right = found.where(found.ok)
        self._wrong = found.where(~found.ok)
        self._strongest = {"hybrid": profile.cosine_weight + 1.0, "semantic": profile.cosine_weight}.get(mode, 1.0)
        self._ranked = rank(self._right, bm25_scores, profile, self._strongest, now_ms)

    @property
    def best(self) -> float:
        """The greatest evidence among what may be returned; 0 where there is nothing."""
        return float(self._right.evidence.max(initial=0.0))

    def bar(self, size: int) -> float:
        """The evidence that an answer must have.

        Args:
            size: memories in scope.

        Returns:
            The threshold.
        """
        kind = self._mode if self._mode in ("hybrid", "semantic") else "keyword"
        return bar(self._profile, kind, size)

    def items(self, rows: Rows, size: int) -> tuple[RecallItem, ...]:
        """The answer.

        Args:
            rows: the same vault snapshot.
            size: memories in scope.

        Returns:
            The items, best first; empty when the best does not clear the bar.
        """
        if not self._right.facts or self.best < self.bar(size):
            return ()
        # What stands for an earlier version does not push out what answers itself.
        own = float((self._right.evidence - self._right.lifted).max(initial=0.0))
        least = self._profile.floor * (own if own >= self.bar(size) else self.best)
        order = [at for at in self._ranked.order if self._right.evidence[at] >= least]
        kept = folded(self._right, order)[: self._request.limit]
        labels = self._right.labels.tolist()
        memories = memories_by_n(rows, [labels[at] for at, _ in kept])
        wanted = {*self._request.statuses, *([Status.SUPERSEDED.value] if self._request.as_of_ms is not None else [])}
        pairs = [(at, refs, memories[labels[at]]) for at, refs in kept]
        # Looked at once more with the row in hand: nothing may rest on one query alone.
        found = [(at, refs, memory) for at, refs, memory in pairs if memory.status.value in wanted]
        by_time = self._request.as_of_ms is not None
        cut = {} if by_time else as_it_stands(rows, [memory for _, _, memory in found])
        return tuple(self._item(at, refs, cut.get(memory.id, memory), memory.id in cut) for at, refs, memory in found)

    def near_misses(self, items: Sequence[RecallItem]) -> tuple[NearMiss, ...]:
        """What came close: at least as strong as the last item, or the best there is when there is no answer.

        Args:
            items: the answer.

        Returns:
            The strongest first.
        """
        last = min((self._strength(item) for item in items), default=0.0)
        misses = [self._withheld(at) for at in np.flatnonzero(self._wrong.evidence >= max(last, 1e-9)).tolist()]
        if not items:
            misses += [self._below(at) for at in self._ranked.order if self._right.evidence[at] > 0]
        misses.sort(key=lambda miss: (-miss.score, miss.id))
        return tuple(misses[: self._profile.near_misses])

    def reason(self, size: int, *, abstained: bool) -> str:
        """Why there is an answer, or none.

        Args:
            size: memories in scope.
            abstained: nothing is returned.

        Returns:
            One sentence.
        """
        compared = len(self._right.facts)
        return reason(self._mode, abstained=abstained, compared=compared, best=self.best, needed=self.bar(size))

    def _item(self, at: int, refs: tuple[str, ...], memory: Memory, is_cut: bool) -> RecallItem:
        ranked = self._ranked
        places = ranked.places(at)
        own, near = self._right.own[at], self._right.near[at]
        signals, factor = ranked.signals(at), float(ranked.factor[at])
        why = why_found(places, self._named(own), self._named(near & ~own), len(own), signals, factor)
        if self._right.lifted[at] > 0:
            why = (*why, EARLIER_VERSION)
        if is_cut:
            why = (*why, PARTLY_OVER)
        return RecallItem(memory, float(ranked.score[at]), signals, places, why, refs)

    def _named(self, which: NDArray[np.bool_]) -> list[str]:
        return [term.word for term, here in zip(self._words.terms, which.tolist(), strict=True) if here]

    def _strength(self, item: RecallItem) -> float:
        return item.ranks["evidence"][1]

    def _share(self, evidence: float) -> float:
        return min(1.0, evidence / self._strongest)

    def _withheld(self, at: int) -> NearMiss:
        fact = self._wrong.facts[at]
        by_time = self._request.as_of_ms is not None
        why, sentence = why_missed(fact.status, self._request.statuses, by_time=by_time)
        status = Status.ACTIVE.value if fact.status in (IN_REVIEW, OVER, AT_ODDS) else fact.status
        return NearMiss(fact.id, why, sentence, status, self._share(float(self._wrong.evidence[at])))

    def _below(self, at: int) -> NearMiss:
        fact = self._right.facts[at]
        sentence = "It does not come close enough to answer."
        return NearMiss(fact.id, "below_bar", sentence, fact.status, self._share(float(self._right.evidence[at])))
