"""Where the pronoun of who speaks stands for their name in a clause: they are named before it, and no rival is.

Must not do: say which pronoun that is, or change a clause.
"""

from __future__ import annotations

from core.talk.agreement import YOU, ClauseDraft, UnclearClauseError
from core.talk.clauses import is_finite
from core.talk.references import possessive
from core.talk.style.gender import pronouns_of
from core.talk.vocabulary import talk_words, verb_forms

_DOERS = frozenset(("i", "me"))


def may_point(draft: ClauseDraft, at: int) -> bool:
    """Whether a pronoun of the speaker's own is understood at a place: they are named before it, and no rival is."""
    return draft.has_speaker and draft.speech.speaker != YOU and not _has_others(draft, at)


def _has_others(draft: ClauseDraft, at: int) -> bool:
    """Whether somebody stands before a place whom the speaker's pronoun could mean as well."""
    gender = draft.speech.gender
    before = [one for one in draft.phrases if draft.clause.first <= one.first < at]
    if not gender:
        is_joint = draft.low(at) == "me" and not {"others", "everyone", "somebody", "someone"}.isdisjoint(
            draft.low(place) for place in range(draft.clause.first, at)
        )
        return is_joint or bool(draft.referents) or any(one.sort not in ("things", "names") for one in before)
    same = {"f": "women", "m": "men"}[gender]
    pronouns = {"f": ("she", "her", "hers"), "m": ("he", "him", "his")}[gender]
    is_told = any(draft.low(place) in pronouns for place in range(draft.clause.first, draft.clause.end))
    is_named = any(one.sort == "names" and one.name != draft.speech.speaker for one in before)  # may be of either
    is_meant = any(one.gender in ("", gender) for one in draft.referents)
    return is_told or is_named or is_meant or any(one.sort == same for one in before)


def is_they(draft: ClauseDraft, at: int) -> bool:
    """Whether "they" at a place can be nobody but the speaker: no other name and nothing in the plural is before it."""
    first = draft.clause.first
    names = [one for one in draft.phrases if first <= one.first < at and one.name != draft.speech.speaker]
    is_named = any(one.sort == "names" for one in names)
    return not (is_named or draft.referents or any(is_several(draft, place) for place in range(first + 1, at)))


def is_several(draft: ClauseDraft, at: int) -> bool:
    """Whether a word is things or people in the plural, as far as its form tells."""
    low, verbs = draft.low(at), verb_forms()
    ends = len(low) > 3 and low.endswith("s") and not low.endswith(("ss", "us", "is", "'s"))
    is_verb = (
        low in verbs.third and low not in talk_words().sets["groups"] and verbs.third[low] not in verbs.sets["noun_too"]
    )
    return ends and not is_verb and low not in talk_words().sets["english"]


def tells_age(draft: ClauseDraft, at: int) -> bool:
    """Whether a clause tells of the speaker's own time of life, so that nobody else is meant: "when I was a kid"."""
    low, verb = draft.low(at - 1), draft.low(at + 1)
    return low in ("when", "while", "since") and verb in ("was", "'m", "am", "started", "got", "had")


def name_own(draft: ClauseDraft, at: int, name: str) -> str:
    """What is called after the speaker, by their pronoun where they stand before it: "learns with their students"."""
    own = possessive(draft.speech.speaker) + " " if draft.speech.speaker else ""
    is_own = bool(own) and name.startswith(own) and draft.has_speaker and draft.speech.speaker != YOU
    is_free = at > draft.clause.first and not any(
        draft.clause.first <= one.first < at and one.sort not in ("things", "names") for one in draft.phrases
    )
    return f"{pronouns_of(draft.speech.gender).owner} {name[len(own) :]}" if is_own and is_free else name


def opens_with_act(draft: ClauseDraft, at: int) -> bool:
    """Whether "my" stands in an act that opens a clause, whose doer is named behind it: "losing my job gave me a push".

    Raises:
        UnclearClauseError: nobody is named behind it: "growing my shop is the main thing" tells of no person.
    """
    first, end = draft.clause.first, draft.clause.end
    is_act = draft.low(first).endswith("ing") and first < at
    if not is_act or any(draft.low(place) in _DOERS for place in range(first, at)):
        return False
    if any(draft.low(place) in _DOERS for place in range(at + 1, end)):
        return True
    if any(is_finite(draft.tokens, place, first) for place in range(at + 1, end)):
        raise UnclearClauseError("fragment")
    return False
