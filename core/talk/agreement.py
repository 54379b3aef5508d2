"""A clause while it is put in the third person, and how its verbs agree with the name in the place of "I" or "you".

Must not do: resolve whom a word means.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from core.talk.clauses import SUBJECTS, Clause
from core.talk.references import NounPhrase, Referent
from core.talk.vocabulary import Edit, Token, talk_words, third_person, verb_forms

YOU = "You"
"""How a statement calls the owner of the vault."""
_PLURAL_BE = {"'m": "is", "'re": "is", "am": "is", "are": "is", "aren't": "is not", "weren't": "was not", "were": "was"}
SINGULAR = {
    **_PLURAL_BE, "'ve": "has", "have": "has", "do": "does", "don't": "does not", "haven't": "has not",
    "ain't": "is not",
}  # fmt: skip
_YOURS = {
    "'m": "are", "'re": "are", "am": "are", "'ve": "have", "was": "were", "wasn't": "were not", "don't": "do not",
    "haven't": "have not", "aren't": "are not", "weren't": "were not", "ain't": "are not", "is": "are",
}  # fmt: skip
SPOKEN = {"'ll": "will", "gonna": "going to", "wanna": "want to", "gotta": "have to"}
NOT_FORMS = {"can't": "cannot", "cannot": "cannot", "won't": "will not", "shan't": "shall not", "ain't": "is not"}


class UnclearClauseError(Exception):
    """A clause that cannot be rewritten by itself; its text is the reason that is counted."""


@dataclass(frozen=True, slots=True)
class Speech:
    """Who says something to whom, and when.

    Attributes:
        speaker: as a statement calls them; `You` is the owner.
        addressee: likewise; "" where nobody is known.
        addressee_sure: how sure that is.
        said_ms: epoch ms; null where it is not known.
        gender: of the speaker, `f` or `m` where the conversation tells it; "" elsewhere.
        addressee_gender: likewise of the addressee.
        companions: who "we" is besides the speaker, in words that stand behind their name; "" where nobody said.
    """

    speaker: str
    addressee: str = ""
    addressee_sure: float = 0.0
    said_ms: int | None = None
    companions: str = ""
    gender: str = ""
    addressee_gender: str = ""


@dataclass(slots=True)
class ClauseDraft:
    """A clause while it is rewritten."""

    sentence: str
    tokens: Sequence[Token]
    clause: Clause
    speech: Speech
    phrases: Sequence[NounPhrase]
    edits: list[Edit] = field(default_factory=list)
    sure: float = 1.0
    about: str = ""
    referents: list[Referent] = field(default_factory=list)
    has_speaker: bool = False
    calls: Sequence[int] = ()

    def low(self, at: int) -> str:
        """The word at a place; "" outside of the clause."""
        return self.tokens[at].low if self.clause.first <= at < self.clause.end else ""

    def put(self, at: int, text: str) -> None:
        """Put words in place of one; a shortened verb gets the blank that it lacks."""
        token = self.tokens[at]
        self.edits.append(Edit(token.start, token.end, f" {text}" if token.low.startswith("'") else text))


def agree_verb(draft: ClauseDraft, at: int, who: str, *, is_plural: bool = False) -> int:
    """Make the verb behind a subject agree with the name in its place.

    Args:
        at: place behind the subject.
        is_plural: whether the name is one of two, whose verb stays.

    Returns:
        The place behind the verb.
    """
    verbs = verb_forms()
    while draft.low(at) in verbs.sets["adverbs"] or draft.low(at).endswith("ly"):
        at += 1
    low = draft.low(at)
    if not low or not (low[:1].isalpha() or low.startswith("'")):
        raise UnclearClauseError("fragment")
    table = _YOURS if who == YOU or is_plural else SINGULAR
    if low == "'d":
        draft.put(at, write_would_or_had(draft, at))
    elif low in ("wanna", "gotta"):
        verb = ("want to", "have to") if who == YOU or is_plural else ("wants to", "has to")
        draft.put(at, verb[low == "gotta"])
    elif low in SPOKEN:
        draft.put(at, SPOKEN[low])
    elif low in table:
        draft.put(at, table[low])
        _agree_joined(draft, at, who, is_plural=is_plural)
    elif low.endswith("n't"):
        draft.put(at, NOT_FORMS.get(low) or low[:-3] + " not")
    elif low in verbs.sets["modals"] or (low in verbs.past and low not in verbs.base) or low == "was":
        pass
    elif who != YOU and not is_plural:
        _agree_present(draft, at)
        _agree_joined(draft, at, who, is_plural=is_plural)
    return at + 1


def _agree_present(draft: ClauseDraft, at: int) -> None:
    verbs = verb_forms()
    low = draft.low(at)
    lows = {token.low for token in draft.tokens[draft.clause.first : draft.clause.end]}
    if verbs.pasts.get(low) == low:  # "put" and "read" are past too
        is_past = bool(lows & verbs.sets["past_signs"])
        is_often = bool(lows & talk_words().sets["often"]) or low in verbs.sets["present_same_past"]
        if is_past or not is_often:
            draft.sure *= 0.85
            return
    if low not in verbs.base:
        if low in talk_words().sets["english"] or low.endswith(("ing", "s")) or "'" in low or len(low) < 3:
            raise UnclearClauseError("grammar")
        if low.endswith("ed"):
            return
        if draft.low(at + 1) in verbs.past and draft.low(at + 1) not in verbs.base:
            raise UnclearClauseError("grammar")
        draft.sure *= 0.8
    draft.put(at, third_person(low))


def _agree_joined(draft: ClauseDraft, verb: int, who: str, *, is_plural: bool) -> None:
    """Make further verbs of the same subject agree: "I live in Kiel and work for a brewery"."""
    if who == YOU or is_plural:
        return
    verbs = verb_forms()
    for at in range(verb + 1, draft.clause.end):
        low, before = draft.low(at), draft.low(at - 1)
        if low in ("to", "that", "who", "because", "when", "if", *SUBJECTS) or _governs_base_form(low):
            return
        if before in verbs.sets["adverbs"]:
            before = draft.low(at - 2)
        is_listed = draft.low(at + 1) == "," and draft.low(at + 2) == "and" and draft.low(at + 3) in verbs.base
        if before == "," and low in verbs.base and (is_listed or low not in verbs.sets["noun_too"]):
            before = "and"
        if before not in ("and", "but", "then") or (low not in verbs.base and low not in ("have", "do", "am", "don't")):
            continue
        behind = draft.low(at + 1)
        is_noun = not is_listed and (
            low in verbs.sets["noun_too"] and behind not in talk_words().sets["english"] and behind not in ("my", "our")
        )
        if not is_noun:
            draft.put(at, SINGULAR.get(low) or third_person(low))


def _governs_base_form(low: str) -> bool:
    """Whether the verbs behind a word keep their base form: "is gonna stay and make"."""
    return low in SPOKEN or low in ("wanna", "gotta", "let", "help") or low in verb_forms().sets["modals"]


def write_would_or_had(draft: ClauseDraft, at: int) -> str:
    """What a "'d" stands for by the verb behind it."""
    verbs = verb_forms()
    behind = draft.low(at + 1)
    if behind in verbs.sets["adverbs"]:
        behind = draft.low(at + 2)
    is_had = behind in ("better", "been") or (behind in verbs.participles and behind not in verbs.base)
    return "had" if is_had else "would"


def write_is_or_has(draft: ClauseDraft, at: int) -> str:
    """What an "'s" stands for by the verb behind it."""
    verbs = verb_forms()
    behind = draft.low(at + 1)
    if behind in verbs.sets["adverbs"] or behind == "not":
        behind = draft.low(at + 2)
    is_participle = behind in verbs.participles and behind not in verbs.sets["participle_adjectives"]
    return "has" if behind in ("been", "got", "had") or is_participle else "is"
