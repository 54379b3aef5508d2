"""Tells a clause in the third person by its own words: "I've sold my boat" is "Mara has sold their boat".

Pronouns become names, verbs agree with them, shortened verbs are written out, phrases of time become dates. What
cannot be told so is refused with a reason. Must not do: add a word that the talk does not have, other than names, dates
and the small words of grammar.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from core.talk.clauses import (
    SUBJECTS,
    Clause,
    behind_is_date,
    has_finite_verb,
    is_finite,
    is_verb_s,
    opens_with_subject,
    speaks_of_past,
)
from core.talk.dates import find_date_edits
from core.talk.references import NounPhrase, References, Referent, possessive
from core.talk.statement_check import correct_tense, find_calls, is_dependent, lacks_article, names_bare_thing
from core.talk.vocabulary import Edit, Token, apply_edits, talk_words, third_person, tokenize_talk, verb_forms

YOU = "You"
LEAST_SURE = 0.55
"""A reference that is less sure is none."""
_FIRST = frozenset(("i", "me", "my", "mine", "myself", "we", "us", "our", "ours", "ourselves"))
_SECOND = frozenset(("you", "your", "yours", "yourself"))
_MANY = frozenset(("they", "them", "their"))
"""Of these, who was named further back than the turn before is too often another."""
_THIRD = frozenset(("he", "she", "they", "it", "him", "them", "his", "her", "hers", "their", "its"))
_PLURAL_BE = {"'m": "is", "'re": "is", "am": "is", "are": "is", "aren't": "is not", "weren't": "was not", "were": "was"}
_SINGULAR = {
    **_PLURAL_BE, "'ve": "has", "have": "has", "do": "does", "don't": "does not", "haven't": "has not",
    "ain't": "is not",
}  # fmt: skip
_YOURS = {
    "'m": "are", "'re": "are", "am": "are", "'ve": "have", "was": "were", "wasn't": "were not", "don't": "do not",
    "haven't": "have not", "aren't": "are not", "weren't": "were not", "ain't": "are not", "is": "are",
}  # fmt: skip
_PICTURES = re.compile("[\u2190-\u21ff\u2600-\u27bf\ufe0f\u200d\U0001f000-\U0001faff]+|\\[\\[|\\]\\]")
_SPOKEN = {"'ll": "will", "gonna": "going to", "wanna": "want to", "gotta": "have to"}
_NOT = {"can't": "cannot", "cannot": "cannot", "won't": "will not", "shan't": "shall not", "ain't": "is not"}
_INVERTED = frozenset(
    (
        "am",
        "are",
        "is",
        "was",
        "were",
        "do",
        "does",
        "did",
        "have",
        "has",
        "can",
        "could",
        "should",
        "would",
        "will",
        "shall",
    )
)
_STOPS = frozenset((",", ";", ":", "-", "–", "—", "--", "(", "=", "→", "/"))
_ARTICLES = frozenset(("a", "an", "the", "my", "our", "his", "her", "their", "your", "its"))
_JOINTS = frozenset(
    (
        ",",
        "and",
        "but",
        "because",
        "when",
        "that",
        "who",
        "which",
        "where",
        "if",
        "so",
        "to",
        "while",
        "as",
        "since",
        "after",
        "before",
        "until",
        "than",
        "whenever",
    )
)
_TRAILING = frozenset(("too", "so", "either", "anyway", "though", "not"))


_PERSONS = ("women", "men", "people", "groups", "pets", "kin_titles", "english")


class UnclearClauseError(Exception):
    """A clause that cannot be told by itself; its text is the reason that is counted."""


@dataclass(frozen=True, slots=True)
class Speech:
    """Who says something to whom, and when.

    Attributes:
        speaker: as a statement calls them; `You` is the owner.
        addressee: likewise; "" where nobody is known.
        addressee_sure: how sure that is.
        said_ms: epoch ms; null where it is not known.
    """

    speaker: str
    addressee: str = ""
    addressee_sure: float = 0.0
    said_ms: int | None = None


@dataclass(frozen=True, slots=True)
class ToldClause:
    """A clause in the third person.

    Attributes:
        text: a sentence with its capital and full stop.
        about: whom or what it tells.
        sure: how sure references and grammar are.
        start: first character of the clause in its sentence; `end` is exclusive.
    """

    text: str
    about: str
    sure: float
    start: int
    end: int


@dataclass(slots=True)
class _Draft:
    """A clause while it is told."""

    sentence: str
    tokens: Sequence[Token]
    clause: Clause
    speech: Speech
    phrases: Sequence[NounPhrase]
    edits: list[Edit] = field(default_factory=list)
    sure: float = 1.0
    about: str = ""
    told: list[Referent] = field(default_factory=list)
    has_speaker: bool = False
    calls: Sequence[int] = ()

    def low(self, at: int) -> str:
        """The word at a place; "" outside of the clause."""
        return self.tokens[at].low if self.clause.first <= at < self.clause.end else ""

    def put(self, at: int, text: str) -> None:
        """Put words in place of one; a shortened verb gets the blank that it lacks."""
        token = self.tokens[at]
        self.edits.append(Edit(token.start, token.end, f" {text}" if token.low.startswith("'") else text))


def tell_clause(
    sentence: str, tokens: Sequence[Token], clause: Clause, speech: Speech, references: References, *,
    topic: str = "", recurs: bool = False,
) -> ToldClause:  # fmt: skip
    """Tell a clause by itself.

    Args:
        tokens: of the sentence.
        topic: of whom a clause without a subject speaks; "" where nobody is known.
        recurs: whether it tells of a habit, so that "in April" is no certain April.

    Raises:
        UnclearClauseError: a word means nobody that is known, or the clause is none.
    """
    _check_shape(tokens, clause)
    draft = _Draft(sentence, tokens, clause, speech, references.known_phrases(tokens))
    draft.calls = tuple(find_calls(tokens, clause.first, clause.end, speech.addressee))
    prefix = _find_prefix(draft, topic)
    if prefix:
        draft.has_speaker = prefix == speech.speaker
    else:
        _check_order(draft)
    at = clause.first
    while at < clause.end:
        at = max(_tell_word(draft, at, references), at + 1)
    dates: Sequence[Edit] = ()
    is_ahead = not speaks_of_past(tokens, clause.first, clause.end)
    if speech.said_ms is not None:
        dates = find_date_edits(sentence, speech.said_ms, is_ahead=is_ahead, recurs=recurs)
        draft.edits += dates
    draft.edits += [Edit(tokens[at - 1].start, tokens[at + 1].end, "") for at in draft.calls]
    start, end = tokens[clause.first].start, tokens[clause.end - 1].end
    body = " ".join(_PICTURES.sub(" ", apply_edits(sentence, start, end, draft.edits)).split())
    draft.sure *= _clarity_of(draft, bool(prefix))
    told = _finish(f"{prefix} {body[:1].lower()}{body[1:]}" if prefix else body)
    told = correct_tense(told, () if is_ahead else dates)
    _check_told(told, draft)
    about = draft.about or prefix or _head_of(draft) or speech.speaker
    return ToldClause(told, about, draft.sure * (0.8 if prefix else 1.0), start, end)


def _clarity_of(draft: _Draft, is_prefixed: bool) -> float:
    """How well a stranger knows whose thing a clause speaks of: "the hall is for 120" leaves it open."""
    first = draft.clause.first
    token = draft.tokens[first]
    sets = talk_words().sets
    if is_prefixed or draft.about or token.low in SUBJECTS:
        return 1.0
    if token.low in (
        "nothing",
        "everything",
        "nobody",
        "everybody",
        "everyone",
        "all",
        "both",
        "some",
        "most",
        "another",
    ):
        return 0.6
    is_named = any(
        draft.tokens[at].is_capital and draft.low(at) not in sets["english"]
        for at in range(first + 1, draft.clause.end)
    )
    is_name = any(one.first == first and one.sort not in ("things", "groups") for one in draft.phrases)
    return 1.0 if is_named or is_name or draft.has_speaker or draft.told else 0.65


def _check_shape(tokens: Sequence[Token], clause: Clause) -> None:
    sets = talk_words().sets
    lows = [token.low for token in tokens[clause.first : clause.end]]
    words = [low for low in lows if low[:1].isalnum()]
    if len(words) < 2 or " ".join(words) in {" ".join(one) for one in talk_words().phrases["empty_clauses"]}:
        raise UnclearClauseError("fragment")
    if lows[0] in ("not", "only") and lows[1] not in ("i", "we", "my"):
        raise UnclearClauseError("fragment")
    if lows[0] in ("if", "unless", "imagine", "suppose", "whether"):
        raise UnclearClauseError("hypothesis")
    if (lows[0] in ("don't", "do") and lows[1] not in verb_forms().sets["felt"]) or (
        lows[0] == "never" and lows[1] in verb_forms().base
    ):
        raise UnclearClauseError("instruction")
    finite = [is_finite(tokens, at, clause.first) for at in range(clause.first, clause.end)]
    verbs = sum(here and not before for before, here in zip([False, *finite], finite, strict=False))
    if is_dependent(lows, verbs) or lacks_article(tokens, clause.first) or names_bare_thing(lows) or lows[0] == "gonna":
        raise UnclearClauseError("fragment")
    if lows[0] in ("let's", "lets", "please", "what", "who", "how", "why", "where", "which", "that", "than"):
        raise UnclearClauseError("fragment")
    rest = [low for low in words if low not in _TRAILING]
    aux = {"am", "is", "are", "was", "were", "do", "does", "did", "have", "has", "had", "to"}
    last = rest[-1] if rest else ""
    if last in aux or last in verb_forms().sets["modals"] or last.endswith("n't") or lows[-1] in ("'m", "'ll", "'re"):
        raise UnclearClauseError("fragment")
    if lows[0] in ("this", "that", "these", "those") or (lows[0] == "there" and lows[1] not in _there_verbs()):
        raise UnclearClauseError("reference")
    if lows[0] in sets["deictic"] and lows[0] not in ("one", "there", "another", "both"):
        raise UnclearClauseError("reference")


def _check_order(draft: _Draft) -> None:
    """Refuse a clause whose verb does not follow its subject: notes and asides are none."""
    first, end = draft.clause.first, draft.clause.end
    verb = next((at for at in range(first, end) if _is_main_verb(draft, at)), None)
    subject = next((at for at in range(first, end) if draft.low(at) in SUBJECTS), None)
    if verb is None or verb == first:
        raise UnclearClauseError("fragment")
    called = {place for at in draft.calls for place in (at - 1, at + 1)}
    stop = next((at for at in range(first, verb) if draft.low(at) in _STOPS and at not in called), None)
    leads = draft.low(first) in talk_words().sets["leads"] or draft.low(first) in verb_forms().sets["adverbs"]
    if stop is not None:
        behind = verb - 1 if draft.low(verb - 1) not in verb_forms().sets["adverbs"] else verb - 2
        opens = any(one.first == first and one.noun < stop for one in draft.phrases)
        is_aside = opens and draft.low(stop) == "," == draft.low(behind) and behind > stop and subject is None
        is_lead = leads and draft.low(stop) == "," and opens_with_subject(draft.tokens, stop + 1, end)
        if not is_aside and not is_lead:
            raise UnclearClauseError("fragment")
    elif (
        subject is not None
        and first < subject < verb
        and not leads
        and draft.low(subject - 1) not in ("and", "or", "that")
    ):
        raise UnclearClauseError("fragment")
    opening = draft.low(first)
    is_count = draft.low(verb) in verb_forms().third and draft.low(verb + 1) == ","  # "band pulls, three by eight"
    if _is_elided_passive(draft, verb) or (is_count and verb == first + 1):
        raise UnclearClauseError("fragment")
    is_state = opening.endswith("ed") and verb != first + 1 and subject is None and not _is_named(draft, first)
    is_numbered = opening[:1].isdigit() and verb == first + 1
    if is_state or is_numbered or (opening in verb_forms().third and draft.low(first + 1)[:1].isdigit()):
        raise UnclearClauseError("fragment")


def _is_elided_passive(draft: _Draft, verb: int) -> bool:
    """Whether a clause is a note's "chimney swept before the winter", which leaves out what makes it a sentence."""
    first, verbs, sets = draft.clause.first, verb_forms(), talk_words().sets
    low, behind = draft.low(verb), draft.low(verb + 1)
    is_done = low in verbs.participles and low in verbs.past and verbs.lemma(low) in verbs.sets["done_to"]
    if verb != first + 1 or not is_done or _is_named(draft, first):
        return False
    is_person = draft.low(first) in SUBJECTS or any(draft.low(first) in sets[sort] for sort in _PERSONS)
    has_object = behind[:1].isalnum() and not (behind in sets["leads"] or behind in verbs.sets["adverbs"])
    return not is_person and not has_object


def _is_main_verb(draft: _Draft, at: int) -> bool:
    """Whether a word is a verb with a subject's form that is not a relative clause's."""
    if not is_finite(draft.tokens, at, draft.clause.first):
        return False
    return draft.low(at - 1) not in ("that", "who", "which") or at - 1 == draft.clause.first


def _there_verbs() -> frozenset[str]:
    return frozenset(("'s", "is", "are", "was", "were", "will", "isn't", "aren't"))


def _find_prefix(draft: _Draft, topic: str) -> str:
    """The subject of a clause that leaves it out; "" where it has its own."""
    first = draft.clause.first
    low = draft.low(first)
    verbs = verb_forms()
    if low in verbs.sets["adverbs"]:
        first += 1
        low = draft.low(first)
    if low in SUBJECTS or low in _FIRST or low in _SECOND:
        return ""
    is_dropped = low in verbs.sets["dropped"] and draft.low(first + 1) not in (
        "and",
        "is",
        "was",
        "for",
        "has",
        "of",
        "",
    )
    if is_dropped or low == "don't":
        return _tell_dropped(draft, first, topic)
    is_past = _opens_in_past(draft, first)
    is_third = low in verbs.third and low not in verbs.base and topic not in ("", draft.speech.speaker)
    if is_past or is_third:
        who = topic or (draft.speech.speaker if is_past else "")
        if not who:
            raise UnclearClauseError("fragment")
        draft.about = who
        draft.sure *= 0.85 if topic else 0.7
        if who == YOU and low == "was":
            draft.put(first, "were")
        return who
    if low in verbs.base and low not in verbs.sets["noun_too"] and not _is_named(draft, first):
        raise UnclearClauseError("instruction")
    if (
        low.endswith("ing")
        and _goes_on(draft, first + 1)
        and not has_finite_verb(draft.tokens, first, draft.clause.end)
    ):
        return _tell_progress(draft, topic)
    if not has_finite_verb(draft.tokens, draft.clause.first, draft.clause.end):
        raise UnclearClauseError("fragment")
    return ""


def _tell_dropped(draft: _Draft, at: int, topic: str) -> str:
    """Reads "must ring the council" and "don't like it" as of the speaker."""
    who = topic or draft.speech.speaker
    if not who:
        raise UnclearClauseError("speaker")
    draft.about = who
    draft.sure *= 0.85
    _agree(draft, at, who)
    return who


def _goes_on(draft: _Draft, at: int) -> bool:
    """Whether what follows a verb in -ing is what is done, where or when."""
    low = draft.low(at)
    return (
        low in talk_words().sets["leads"]
        or low in _FIRST
        or low in ("a", "an", "the", "to", "up", "out", "off", "back", "about", "like")
    )


def _tell_progress(draft: _Draft, topic: str) -> str:
    who = topic or draft.speech.speaker
    base = draft.low(draft.clause.first)[:-3]
    verbs = verb_forms().base
    if not who or not ({base, base + "e", base[:-1]} & verbs):
        raise UnclearClauseError("fragment")
    draft.about = who
    draft.sure *= 0.9
    return f"{who} {'are' if who == YOU else 'is'}"


def _opens_in_past(draft: _Draft, at: int) -> bool:
    """Whether a clause opens with a verb of the past that is no state: "went to Porto", but not "married"."""
    low, verbs = draft.low(at), verb_forms()
    is_past = low in verbs.past and low not in verbs.base and low not in verbs.sets["participle_adjectives"]
    return is_past and not (low == "sat" and behind_is_date(draft.tokens, at))


def _is_named(draft: _Draft, at: int) -> bool:
    return any(one.first <= at < one.end and one.sort != "things" for one in draft.phrases)


def _tell_word(draft: _Draft, at: int, references: References) -> int:
    """Tell the word at a place; the place behind what was read."""
    low = draft.low(at)
    if low in _FIRST:
        return _tell_first(draft, at)
    if low in _SECOND:
        return _tell_second(draft, at)
    if low in _THIRD:
        return _tell_third(draft, at, references)
    if low in talk_words().sets["kin_titles"] and _is_bare_title(draft, at):
        return _tell_title(draft, at, references)
    if low.endswith("n't"):
        draft.put(at, _NOT.get(low) or low[:-3] + " not")
    elif low == "'s" and is_verb_s(draft.tokens, at):
        draft.put(at, _is_or_has(draft, at))
    elif low in _SPOKEN:
        draft.put(at, _SPOKEN[low])
    return at + 1


def _is_bare_title(draft: _Draft, at: int) -> bool:
    phrase = next((one for one in draft.phrases if one.noun == at), None)
    before = draft.low(at - 1)
    is_free = not before[:1].isalpha() or before in talk_words().sets["english"] or before in verb_forms().third
    return is_free and phrase is not None and phrase.first == at and not phrase.name


def _tell_title(draft: _Draft, at: int, references: References) -> int:
    token = draft.tokens[at]
    if references.is_known_person(token.low) or not draft.speech.speaker:
        return at + 1
    told = f"{possessive(draft.speech.speaker)} {token.low}"
    draft.put(at, told)
    draft.about = draft.about or told
    return at + 1


def _tell_first(draft: _Draft, at: int) -> int:
    low, who = draft.low(at), draft.speech.speaker
    if not who:
        raise UnclearClauseError("speaker")
    if low in ("i", "we"):
        return _tell_subject(draft, at, who)
    if low == "us":  # more than the speaker, and nobody said who
        raise UnclearClauseError("reference")
    if low in ("ours", "ourselves", "our"):
        draft.sure *= 0.85
    if low == "me":
        if draft.low(at + 1) in ("and", "too", "either", "neither"):
            raise UnclearClauseError("fragment")
        draft.put(at, who if who != YOU else "you")
    elif low in ("myself", "ourselves"):
        draft.put(at, "yourself" if who == YOU else "themself")
    elif low in ("mine", "ours"):
        raise UnclearClauseError("reference")
    else:
        _tell_own(draft, at, who)
    return at + 1


def _tell_own(draft: _Draft, at: int, who: str) -> None:
    """Tell "my": the name's, or "their" where the name stands before it."""
    told = possessive(who)
    if who != YOU and draft.has_speaker and not _has_others(draft, at):
        told = "their"
    draft.put(at, told)
    if at == draft.clause.first and not draft.about:
        phrase = next((one for one in draft.phrases if one.first == at), None)
        named = phrase is not None and phrase.sort not in ("things", "groups")
        noun = " ".join(token.text for token in draft.tokens[at + 1 : phrase.noun + 1]) if phrase else ""
        draft.about = who if not named or phrase is None else phrase.name or f"{possessive(who)} {noun}"
    draft.has_speaker = True


def _has_others(draft: _Draft, at: int) -> bool:
    """Whether somebody stands before a place whom "their" could mean as well."""
    return bool(draft.told) or any(
        draft.clause.first <= one.first < at and one.sort not in ("things", "names") for one in draft.phrases
    )


def _tell_subject(draft: _Draft, at: int, who: str) -> int:
    low = draft.low(at)
    if draft.low(at - 1) in _INVERTED and not draft.low(at - 1).startswith("'"):
        raise UnclearClauseError("question")
    if low == "i" and draft.low(at + 1) in ("and", "or", ","):
        raise UnclearClauseError("fragment")
    if low == "we":
        _check_we(draft, at)
        draft.sure *= 0.85
    told = who if who != YOU or at == draft.clause.first else "you"
    if draft.has_speaker and who != YOU and not _has_others(draft, at):
        draft.put(at, "they")
        return _agree(draft, at + 1, who, is_plural=True)
    draft.put(at, told)
    draft.has_speaker = True
    if at == draft.clause.first or not draft.about:
        draft.about = who
    is_joined = draft.low(at - 1) == "and" and at - draft.clause.first in (2, 3, 4)
    return _agree(draft, at + 1, who, is_plural=is_joined and low == "i")


def _check_we(draft: _Draft, at: int) -> None:
    """Refuse a "we" that is more than each of those it means."""
    sets = talk_words().sets
    lows = [token.low for token in draft.tokens[at : draft.clause.end]]
    if any(low in sets["collective"] for low in lows[1:]):
        raise UnclearClauseError("reference")
    verb = next((place for place, low in enumerate(lows) if low in ("'re", "are", "were")), None)
    if verb is not None and verb + 1 < len(lows):
        behind = lows[verb + 1]
        if behind in sets["numbers"] or behind[:1].isdigit() or behind in ("the", "good", "best", "old", "from"):
            raise UnclearClauseError("reference")


def _tell_second(draft: _Draft, at: int) -> int:
    low, who = draft.low(at), draft.speech.addressee
    if not who or draft.speech.addressee_sure < LEAST_SURE:
        raise UnclearClauseError("reference")
    draft.sure *= 0.8
    if low in ("your", "yours"):
        draft.put(at, possessive(who) if low == "your" or who != YOU else "yours")
        if at == draft.clause.first and not draft.about:
            draft.about = who
        return at + 1
    if low == "yourself":
        draft.put(at, "yourself" if who == YOU else "themself")
        return at + 1
    verb = draft.low(at + 1)
    if verb in talk_words().sets["generic_you"] or verb.endswith("n't") or verb in ("'d", "'ll", "will"):
        raise UnclearClauseError("reference")
    if verb == "like" and at > draft.clause.first:  # "my friends know you like no one else" may be either
        raise UnclearClauseError("reference")
    draft.put(at, who if who != YOU or at == draft.clause.first else "you")
    if at == draft.clause.first:
        draft.about = who
    return _agree(draft, at + 1, who) if _is_verb(verb) else at + 1


def _is_verb(low: str) -> bool:
    verbs = verb_forms()
    return low in _SINGULAR or low in verbs.base or low in verbs.past or low in verbs.sets["modals"]


def _agree(draft: _Draft, at: int, who: str, *, is_plural: bool = False) -> int:
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
    table = _YOURS if who == YOU or is_plural else _SINGULAR
    if low == "'d":
        draft.put(at, _would_or_had(draft, at))
    elif low in ("wanna", "gotta"):
        verb = ("want to", "have to") if who == YOU or is_plural else ("wants to", "has to")
        draft.put(at, verb[low == "gotta"])
    elif low in _SPOKEN:
        draft.put(at, _SPOKEN[low])
    elif low in table:
        draft.put(at, table[low])
        _agree_joined(draft, at, who, is_plural=is_plural)
    elif low.endswith("n't"):
        draft.put(at, _NOT.get(low) or low[:-3] + " not")
    elif low in verbs.sets["modals"] or (low in verbs.past and low not in verbs.base) or low == "was":
        pass
    elif who != YOU and not is_plural:
        _agree_present(draft, at)
        _agree_joined(draft, at, who, is_plural=is_plural)
    return at + 1


def _agree_present(draft: _Draft, at: int) -> None:
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


def _agree_joined(draft: _Draft, verb: int, who: str, *, is_plural: bool) -> None:
    """Make further verbs of the same subject agree: "I live in Kiel and work for a brewery"."""
    if who == YOU or is_plural:
        return
    verbs = verb_forms()
    for at in range(verb + 1, draft.clause.end):
        low, before = draft.low(at), draft.low(at - 1)
        if low in ("to", "that", "who", "because", "when", "if", *SUBJECTS) or _governs(low):
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
            draft.put(at, _SINGULAR.get(low) or third_person(low))


def _governs(low: str) -> bool:
    """Whether the verbs behind a word keep their base form: "is gonna stay and make"."""
    return low in _SPOKEN or low in ("wanna", "gotta", "let", "help") or low in verb_forms().sets["modals"]


def _would_or_had(draft: _Draft, at: int) -> str:
    verbs = verb_forms()
    behind = draft.low(at + 1)
    if behind in verbs.sets["adverbs"]:
        behind = draft.low(at + 2)
    is_had = behind in ("better", "been") or (behind in verbs.participles and behind not in verbs.base)
    return "had" if is_had else "would"


def _is_or_has(draft: _Draft, at: int) -> str:
    verbs = verb_forms()
    behind = draft.low(at + 1)
    if behind in verbs.sets["adverbs"] or behind == "not":
        behind = draft.low(at + 2)
    is_participle = behind in verbs.participles and behind not in verbs.sets["participle_adjectives"]
    return "has" if behind in ("been", "got", "had") or is_participle else "is"


def _tell_third(draft: _Draft, at: int, references: References) -> int:
    low = draft.low(at)
    if not _stands_before(draft, at, low):
        referent, sure = references.resolve(low, not_meant=(draft.speech.speaker, draft.speech.addressee))
        is_far = low in _MANY and references.turn - (referent.turn if referent else 0) > 1
        is_event = low in ("it", "itself") and referent is not None and not referent.is_animal  # as often as a thing
        if referent is None or sure < LEAST_SURE or is_far or is_event:
            raise UnclearClauseError("reference")
        draft.sure *= sure
        references.mark_resolved(referent, low)
        draft.told.append(referent)
        is_owner = low in ("his", "their", "its") or (low == "her" and _owns_next(draft, at))
        draft.put(at, possessive(referent.name) if is_owner or low in ("hers",) else _cased(draft, at, referent.name))
        if at == draft.clause.first and not draft.about:
            draft.about = referent.name
    behind = draft.low(at + 1)
    if behind == "'s":
        draft.put(at + 1, _is_or_has(draft, at + 1))
    elif behind == "'d":
        draft.put(at + 1, _would_or_had(draft, at + 1))
    elif behind in ("'re", "'ve", "'ll"):
        draft.put(at + 1, {"'re": "are", "'ve": "have", "'ll": "will"}[behind])
    else:
        return at + 1
    return at + 2


def _cased(draft: _Draft, at: int, name: str) -> str:
    return name[:1].upper() + name[1:] if at == draft.clause.first else name


def _owns_next(draft: _Draft, at: int) -> bool:
    behind = draft.low(at + 1)
    return behind[:1].isalnum() and (
        behind not in talk_words().sets["english"] or behind in ("own", "first", "new", "two")
    )


def _stands_before(draft: _Draft, at: int, low: str) -> bool:
    """Whether the clause itself says whom a pronoun means; it stays then."""
    gender = {"he": "m", "him": "m", "his": "m", "she": "f", "her": "f", "hers": "f"}.get(low)
    before = [one for one in draft.phrases if draft.clause.first <= one.first and one.end <= at]
    if gender:
        same = {"m": "men", "f": "women"}[gender]
        named = [one for one in before if one.sort in (same, "people", "pets", "names")]
        told = [one for one in draft.told if one.gender in ("", gender)]
        if len(named) + len(told) > 1:
            draft.sure *= 0.85
        if len(named) + len(told) == 1 and _acts_on(draft, at, low):
            return False
        return bool(named or told)
    if low in ("it", "its"):
        return any(one.gender == "t" or one.is_animal for one in draft.told) or any(
            draft.low(place) in _ARTICLES and (low == "its" or _is_parted(draft, place, at))
            for place in range(draft.clause.first, at - 1)
        )
    if any(one.sort == "groups" for one in before) or any(one.gender == "g" for one in draft.told):
        return True
    return any(_is_several(draft, place) for place in range(draft.clause.first + 1, at - 1))


def _is_parted(draft: _Draft, noun: int, at: int) -> bool:
    """Whether an "it" stands in another part of the clause than a noun: no mat lies "under it", itself."""
    return any(draft.low(place) in _JOINTS or draft.low(place) in _STOPS for place in range(noun + 1, at))


def _acts_on(draft: _Draft, at: int, low: str) -> bool:
    """Whether a pronoun is what the clause's one subject does something to: "Keith taught him" is of somebody else."""
    if low != "him" and (low != "her" or _owns_next(draft, at)):
        return False
    joints = _JOINTS | {"-", "with", "for"}
    return not joints & {draft.low(place) for place in range(draft.clause.first, at)}


def _is_several(draft: _Draft, at: int) -> bool:
    """Whether a word is things or people in the plural, as far as its form tells."""
    low, verbs = draft.low(at), verb_forms()
    ends = len(low) > 3 and low.endswith("s") and not low.endswith(("ss", "us", "is", "'s"))
    is_verb = (
        low in verbs.third and low not in talk_words().sets["groups"] and verbs.third[low] not in verbs.sets["noun_too"]
    )
    return ends and not is_verb and low not in talk_words().sets["english"]


def _finish(text: str) -> str:
    told = text.strip(" ,;:-–—")
    while told and told[-1] in ".!?…":
        told = told[:-1].rstrip()
    return told[:1].upper() + told[1:] + "."


def _check_told(told: str, draft: _Draft) -> None:
    """Refuse a sentence in which a word still means somebody or something outside of it."""
    lows = [token.low for token in tokenize_talk(told)]
    is_you = YOU in (draft.speech.speaker, draft.speech.addressee)
    left = {"i", "me", "my", "we", "us", "our", "mine"} | (set() if is_you else {"you", "your", "yours"})
    if left & set(lows):
        raise UnclearClauseError("reference")
    for at, low in enumerate(lows):
        behind = lows[at + 1] if at + 1 < len(lows) else ""
        if low in ("this", "these", "those", "here", "ones", "such") or (
            low == "there" and behind not in _there_verbs()
        ):
            raise UnclearClauseError("reference")
        if low == "that" and (behind in ("'s", "is", "was", ".", "one", ",") or not behind):
            raise UnclearClauseError("reference")
        if low == "one" and (behind in verb_forms().third or behind in verb_forms().sets["modals"] or behind == "was"):
            raise UnclearClauseError("reference")
        if low == "one" and (
            behind in (".", ",", "'s", "is", "in", "with", "for")
            or (at and lows[at - 1] in ("that", "new", "old", "other", "big", "the"))
        ):
            raise UnclearClauseError("reference")
    if told.endswith("?."):
        raise UnclearClauseError("question")


def _head_of(draft: _Draft) -> str:
    """The subject of a clause as its words before the verb, without its article."""
    first = draft.clause.first
    phrase = next((one for one in draft.phrases if one.first == first), None)
    if phrase is not None and phrase.name:
        return phrase.name
    for at in range(first, min(draft.clause.end, first + 5)):
        is_act = at == first + 1 and draft.tokens[first].is_capital and draft.low(at) in verb_forms().third
        if at > first and (is_act or is_finite(draft.tokens, at, first)):
            begin = first + (draft.low(first) in ("the", "a", "an"))
            return draft.sentence[draft.tokens[begin].start : draft.tokens[at - 1].end] if begin < at else ""
    return ""
