"""What a recall answers, and the sentences that say why a memory was found and why another was not.

Sentences go to the person who asked and hold words of the query at most. Must not do: hold anything that changes, quote
a memory, or be logged.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any

from core.score.profile import Focus
from core.types.recall import Trace
from core.types.values import Memory, Status

NO_VECTORS = "keyword_only_no_vectors"
BELOW_BAR = "below_bar"
"""Why a near miss is none of the answer: it does not come close enough."""


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
        episodes: those that say it, where it is a statement; the one that speaks to the question best first.
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
    episodes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class QueryFocus:
    """What a question looks for, as far as a context is cut by it (`core.score.answer_focus`).

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


_SHOWN_WORDS = 6
SIDE_SIGNALS = ("confidence", "recency", "importance", "utility")
_TOLD_SHARE = 0.015
"""A smaller change of the relevance is not worth a sentence."""
_CLEAR_PULL = 0.25
"""Of a signal from -1 to 1, from where on it is named."""
IN_REVIEW, OVER, AT_ODDS, SUPPRESSED = "in_review", "over", "at_odds", "suppressed"
"""What stands in for the status of an active memory: the person is asked whether it is over, it has ended, what the
person said in another space excludes it, or somebody said that it does not belong to such a question."""

EARLIER_VERSION = "It took the place of a memory that answers the question, or may have."
ASKED_FOR = "It states what the question asks for."
READ_AS_ANSWER = "The built-in model reads it as the answer."
UNFIT = "It is about somebody else, or answers less well than another or a later memory; so it stands lower."
PARTLY_OVER = "It says more that is over by now; that is left out."

_STATUS = {
    IN_REVIEW: "A later memory may have taken its place; you are asked about it in the review.",
    AT_ODDS: "What you said yourself, in another space, speaks against it.",
    OVER: "It was true until a time that has passed.",
    SUPPRESSED: "It was said to be wrong for such a question.",
    Status.SUPERSEDED.value: "It was superseded by a newer memory.",
    Status.DISPUTED.value: "It is disputed.",
    Status.QUARANTINED.value: "It is quarantined and waits for review.",
    Status.CONSOLIDATED.value: "It was absorbed into a digest.",
    Status.ARCHIVED.value: "It is archived.",
    Status.ACTIVE.value: "It is active, and other statuses were asked for.",
}
_FOUND = {
    "hybrid": "Found by meaning and by words.",
    "semantic": "Found by meaning alone, as asked.",
    "keyword": "Found by words alone, as asked.",
    NO_VECTORS: "Found by words alone: there are no vectors to compare.",
}


def explain_match(
    ranks: Mapping[str, tuple[int, float]],
    own: Sequence[str],
    near: Sequence[str],
    words: int,
    signals: Signals,
    factor: float,
    speaker: str = "",
    elsewhere: Sequence[str] = (),
) -> tuple[str, ...]:
    """The reasons of one item.

    Args:
        ranks: its place and raw score in each list.
        own: words of the query that it has.
        near: words of the query that only its neighbours have.
        words: how many words of the query were searched.
        factor: what the side signals did to its relevance.
        speaker: who said it, where the question names them and its text does not; "" else.
        elsewhere: words of the query that it has not in its text: its date, its tags or another name has them.

    Returns:
        One to six sentences, the plainest first.
    """
    told, sentences = _load_reasons(), []
    meaning = ranks.get("window") or ranks.get("vector")
    if own:
        sentences.append(told["own"].format(found=len(own), asked=words, words=_format_words(own)))
    if elsewhere:
        sentences.append(told["elsewhere"].format(words=_format_words(elsewhere)))
    if speaker:
        sentences.append(told["speaker"].format(speaker=speaker))
    if near:
        sentences.append(told["near"].format(words=_format_words(near)))
    if meaning is not None:
        sentences.append(told["meaning"].format(place=meaning[0], similarity=meaning[1]))
    if abs(factor - 1.0) >= _TOLD_SHARE:
        form = told["raised" if factor > 1 else "lowered"]
        sentences.append(form.format(by=abs(factor - 1) * 100, signals=_name_signals(signals, raised=factor > 1)))
    return tuple(sentences) or (told["nearest"],)


def explain_adjustments(ranks: Mapping[str, tuple[int, float]], repeats: float) -> tuple[str, ...]:
    """The reasons that come from time, from links and from repetition.

    Args:
        ranks: the item's place and raw score in each list.
        repeats: how much it repeats what stands above it, 0 to 1.

    Returns:
        Up to three sentences.
    """
    sentences = []
    if "time" in ranks:
        sentences.append(f"Time: {ranks['time'][1]:.2f} near the days that are asked about.")
    if "graph" in ranks:
        sentences.append(f"Tied to a memory that answers, strength {ranks['graph'][1]:.2f}.")
    if repeats >= 0.005:
        sentences.append(f"It repeats what stands above it ({repeats * 100:.0f} %), and comes later for that.")
    return tuple(sentences)


def explain_miss(status: str, wanted_statuses: Sequence[str], *, by_time: bool) -> tuple[str, str]:
    """Why a memory that matches is not in the answer.

    Args:
        status: where it stands.
        wanted_statuses: statuses that were asked for.
        by_time: the request had a date.

    Returns:
        A word and a sentence.
    """
    if status not in wanted_statuses and not (by_time and status == Status.SUPERSEDED.value):
        return status, _STATUS.get(status, "Its status keeps it out.")
    if by_time:
        return "not_valid_then", "It was not true at that time, or a filter keeps it out."
    return "filtered", "A filter of the request keeps it out."


def explain_outcome(strategy: str, *, abstained: bool, compared: int, best: float, needed: float) -> str:
    """Why there is an answer, or none.

    Args:
        strategy: how was searched.
        abstained: nothing is returned.
        compared: how many memories were compared.
        best: how likely there is an answer.
        needed: what that must reach.

    Returns:
        One sentence.
    """
    if not abstained:
        return _FOUND[strategy]
    if compared == 0:
        return "Nothing in reach matches."
    return f"Nothing comes close enough: the chance of an answer is {best:.2f}, and {needed:.2f} is needed."


@cache
def _load_reasons() -> dict[str, str]:
    """The sentences of `resources/recall/reasons.json`."""
    loaded: dict[str, str] = json.loads((files("resources") / "recall" / "reasons.json").read_text("utf-8"))
    return loaded


def _name_signals(signals: Signals, *, raised: bool) -> str:
    """The side signals that pulled clearly that way; all together where none did by itself."""
    told = _load_reasons()
    values = {name: float(getattr(signals, name)) for name in SIDE_SIGNALS}
    pulls = {name: (2 * value - 1) * (1 if raised else -1) for name, value in values.items()}
    named = [told[name].format(value=values[name]) for name, pull in pulls.items() if pull >= _CLEAR_PULL]
    listed = [", ".join(named[:-1]), named[-1]] if len(named) > 1 else named or [told["sides"]]
    words = told["and"].join(listed)
    return words[:1].upper() + words[1:]


def _format_words(words: Sequence[str]) -> str:
    more = f" and {len(words) - _SHOWN_WORDS} more" if len(words) > _SHOWN_WORDS else ""
    return ", ".join(words[:_SHOWN_WORDS]) + more
