"""Who "we" is in a clause, as far as the clause says it, and where it is more than a statement may say.

Must not do: know what was said before.
"""

from __future__ import annotations

from core.talk.agreement import ClauseDraft, UnclearClauseError
from core.talk.vocabulary import talk_words, verb_forms

_HAVING = frozenset(("'ve", "'d", "have", "had", "are", "'re", "were", "do", "did", "to", "not"))

_PLANNING = frozenset(("consider", "think", "plan", "hope", "talk"))
_LINKS = frozenset(("about", "of", "on", "going"))


def takes_up_group(draft: ClauseDraft, at: int) -> bool:
    """Whether "we" takes up people of the speaker's that were just named: "helped my family when we were poor"."""
    return any(
        one.sort == "groups" and draft.clause.first < one.first < at and draft.low(one.first) in ("my", "our")
        for one in draft.phrases
    )


def names_companion(draft: ClauseDraft, at: int) -> bool:
    """Whether a clause with "we" says itself with whom: "we went camping with the kids"."""
    return any(
        draft.low(one.first - 1) in ("with", "and") and one.first > at and one.sort != "things" for one in draft.phrases
    )


def is_of_each(draft: ClauseDraft, at: int) -> bool:
    """Whether what "we" have or are is so of each: who has a cat with others has a cat."""
    verbs = verb_forms()
    lows = [token.low for token in draft.tokens[at + 1 : min(at + 6, draft.clause.end)]]
    acts = [low for low in lows if low not in verbs.sets["adverbs"] and low not in _HAVING | _LINKS]
    is_meant = len(acts) > 1 and verbs.lemma(acts[0].removesuffix("ing")) in _PLANNING  # "considering adopting"
    verb = acts[is_meant] if acts else ""
    return not lows or verbs.lemma(verb.removesuffix("ing")) in talk_words().sets["of_each"]


def check_others(draft: ClauseDraft, at: int) -> None:
    """Refuse what "we" need, have or think where nobody says who that is: it may be a town's or a country's."""
    verbs, place = verb_forms(), at + 1
    while draft.low(place) in verbs.sets["adverbs"]:
        place += 1
    low = draft.low(place)
    is_state = low in talk_words().sets["needs"] or (
        low in ("have", "'ve") and draft.low(place + 1) not in verbs.participles
    )
    if is_state or low in ("'ll", "will", "can", "can't", "cannot", "could", "couldn't"):
        raise UnclearClauseError("reference")


def check_we(draft: ClauseDraft, at: int) -> None:
    """Refuse a "we" that is more than each of those it means."""
    sets = talk_words().sets
    lows = [token.low for token in draft.tokens[at : draft.clause.end]]
    is_anyone = "own" in lows and lows[lows.index("own") - 1] == "our"  # "we learn from our own pain"
    if is_anyone or any(low in sets["collective"] for low in lows[1:]):
        raise UnclearClauseError("reference")
    verb = next((place for place, low in enumerate(lows) if low in ("'re", "are", "were")), None)
    if verb is not None and verb + 1 < len(lows):
        behind = lows[verb + 1]
        if behind in sets["numbers"] or behind[:1].isdigit() or behind in ("the", "good", "best", "old", "from"):
            raise UnclearClauseError("reference")
