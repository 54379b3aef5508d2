"""Says in sentences why a memory was found, and why another was not.

Sentences go to the person who asked and hold words of the query at most. Must not do: quote a memory, or be logged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from core.recall.results.result import NO_VECTORS, Signals
from core.types.values import Status

LISTS = ("vector", "bm25", "window", "coverage", "evidence", "time", "graph")
_SHOWN_WORDS = 6
IN_REVIEW, OVER, AT_ODDS, SUPPRESSED = "in_review", "over", "at_odds", "suppressed"
"""What stands in for the status of an active memory: the person is asked whether it is over, it has ended, what the
person said in another space excludes it, or somebody said that it does not belong to such a question."""

EARLIER_VERSION = "It took the place of a memory that answers the question, or may have."
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
) -> tuple[str, ...]:
    """The reasons of one item.

    Args:
        ranks: its place and raw score in each list.
        own: words of the query that it has.
        near: words of the query that only its neighbours have.
        words: how many words of the query were searched.
        signals: its signals.
        factor: what the side signals did to its relevance.

    Returns:
        One to four sentences.
    """
    told = []
    meaning = ranks.get("window") or ranks.get("vector")
    if meaning is not None:
        told.append(f"Meaning: cosine {meaning[1]:.2f} with its surroundings, place {meaning[0]}.")
    if own:
        told.append(f"Words: has {len(own)} of {words} ({_format_words(own)}).")
    if near:
        told.append(f"Next to it in the conversation: {_format_words(near)}.")
    if abs(factor - 1.0) >= 0.005:
        verb = "raised" if factor > 1 else "lowered"
        told.append(
            f"Confidence {signals.confidence:.2f}, recency {signals.recency:.2f}, importance {signals.importance:.2f} "
            f"and utility {signals.utility:.2f} {verb} it by {abs(factor - 1) * 100:.0f} %."
        )
    return tuple(told) or ("It stands among the nearest.",)


def explain_adjustments(ranks: Mapping[str, tuple[int, float]], repeats: float) -> tuple[str, ...]:
    """The reasons that come from time, from links and from repetition.

    Args:
        ranks: the item's place and raw score in each list.
        repeats: how much it repeats what stands above it, 0 to 1.

    Returns:
        Up to three sentences.
    """
    told = []
    if "time" in ranks:
        told.append(f"Time: {ranks['time'][1]:.2f} near the days that are asked about.")
    if "graph" in ranks:
        told.append(f"Tied to a memory that answers, strength {ranks['graph'][1]:.2f}.")
    if repeats >= 0.005:
        told.append(f"It repeats what stands above it ({repeats * 100:.0f} %), and comes later for that.")
    return tuple(told)


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


def _format_words(words: Sequence[str]) -> str:
    more = f" and {len(words) - _SHOWN_WORDS} more" if len(words) > _SHOWN_WORDS else ""
    return ", ".join(words[:_SHOWN_WORDS]) + more
