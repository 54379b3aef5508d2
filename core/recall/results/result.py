"""What a recall answers, with all its reasons.

Must not do: hold anything that changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from core.score.ranking.profile import Focus
from core.types.recall import Trace
from core.types.values import Memory

NO_VECTORS = "keyword_only_no_vectors"


@dataclass(frozen=True, slots=True)
class Signals:
    """The five signals of an item, each 0 to 1; see `core.score`."""

    relevance: float
    confidence: float
    recency: float
    importance: float
    utility: float


@dataclass(frozen=True, slots=True)
class RecallItem:
    """One found memory.

    Attributes:
        memory: the memory; of its text what still stands.
        score: relevance raised or lowered by the side signals, 0 to 1.
        signals: what the score was made from.
        ranks: list name to (rank from 1, raw score); lists it does not stand in are missing.
        why: sentences for the person.
        refs: references of all memories it stands for, its own first; empty where nobody gave one.
        contradicts: the memory of the same answer in which the person says otherwise; None where there is none.
        own: for each word of the question whether it has it; empty where it was not compared.
        near: for each whether it or a neighbour in its conversation has it.
    """

    memory: Memory
    score: float
    signals: Signals
    ranks: Mapping[str, tuple[int, float]]
    why: tuple[str, ...]
    refs: tuple[str, ...]
    own: tuple[bool, ...] = ()
    near: tuple[bool, ...] = ()
    contradicts: str | None = None


@dataclass(frozen=True, slots=True)
class QueryFocus:
    """What a question looks for, as far as a context is cut by it (`core.score.ranking.focus`).

    Attributes:
        weights: what each of its words tells, in the order of `RecallItem.own`.
        strongest: the greatest evidence there can be.
        several: whether it wants more than one thing.
        focus: the numbers in force.
    """

    weights: tuple[float, ...]
    strongest: float
    several: bool
    focus: Focus


@dataclass(frozen=True, slots=True)
class NearMiss:
    """A memory that came close but is not in the answer. It has no text: what was withheld stays withheld.

    Attributes:
        id: the memory's id.
        why: `below_bar`, `filtered`, `not_valid_then`, or the status that kept it out.
        sentence: the same for the person.
        status: where it stands.
        score: its relevance, 0 to 1.
    """

    id: str
    why: str
    sentence: str
    status: str
    score: float


@dataclass(frozen=True, slots=True)
class RecallResult:
    """The answer.

    Attributes:
        items: best first; empty when recall abstains.
        abstained: nothing cleared the bar.
        reason: one sentence: why there is no answer, or how it was found.
        near_misses: what came close.
        strategy: `hybrid`, `semantic`, `keyword` or `keyword_only_no_vectors`.
        index_backend: `flat`, `hnsw`, or `none` where no vector was compared.
        index_revision: the vault revision the index stood at.
        vault_seq: the vault's sequence that was read.
        candidates: how many memories were compared.
        profile: name of the weights.
        trace: what happened to every candidate.
        took_ms: milliseconds, filled in by the caller.
        sought: what the question looks for; None where everything is wanted, as of a period.
    """

    items: tuple[RecallItem, ...]
    abstained: bool
    reason: str
    near_misses: tuple[NearMiss, ...]
    strategy: str
    index_backend: str
    index_revision: int
    vault_seq: int
    candidates: int
    profile: str
    trace: Trace
    took_ms: float = 0.0
    sought: QueryFocus | None = None

    def in_order(self, items: tuple[RecallItem, ...]) -> RecallResult:
        """The same answer with its items in another order, or marked; the trace tells their new places."""
        if items is self.items:
            return self
        places = {item.memory.id: place for place, item in enumerate(items, 1)}
        candidates = tuple(replace(one, place=places.get(one.id, one.place)) for one in self.trace.candidates)
        return replace(self, items=items, trace=replace(self.trace, candidates=candidates))

    def receipt_body(self) -> dict[str, Any]:
        """What the receipt keeps: ids and numbers, no text.

        Returns:
            JSON-able.
        """
        return {
            "items": [
                {
                    "id": item.memory.id,
                    "score": round(item.score, 6),
                    "ranks": {name: list(place) for name, place in item.ranks.items()},
                }
                for item in self.items
            ],
            "abstained": self.abstained,
            "reason": self.reason,
            "near_misses": [asdict(miss) for miss in self.near_misses],
            "strategy": self.strategy,
            "index": {"backend": self.index_backend, "revision": self.index_revision},
            "seq": self.vault_seq,
            "candidates": self.candidates,
            "profile": self.profile,
            "took_ms": round(self.took_ms, 3),
        }
