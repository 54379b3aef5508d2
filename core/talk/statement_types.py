"""The type of a rewritten sentence by its grammar, where that is surer than what the reader says of it.

What is meant for later is a plan, what somebody likes a preference, what is done again and again a habit, and what
happened once an event; the order is that of the guide in `packaging/training/README.md`. Must not do: say whether a
sentence is worth keeping.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from core.talk.clauses import is_finite
from core.talk.vocabulary import PhraseList, TalkWords, Token, length_of_phrase_at, talk_words, verb_forms
from core.types.talk import StatementType

_BE = frozenset(("is", "are", "am", "was", "were", "be", "been"))
_DO = frozenset(("do", "does", "did", "not"))
_HAVE = frozenset(("has", "have", "had"))
_FIELDS = frozenset(
    (
        StatementType.HEALTH,
        StatementType.RELATIONSHIP,
        StatementType.POSSESSION,
        StatementType.PLACE,
        StatementType.SKILL,
    )
)
_OF_WORK = frozenset(("of", "at", "for", "with"))
_LINKS = frozenset((",", "who", "in", "at", "for", "with", "to"))
_UNLIKELY = frozenset((StatementType.HABIT, StatementType.OPINION, StatementType.WORK, StatementType.PREFERENCE))
"""What nothing is that happened once and is over."""
_MOST_BEFORE_VERB = 20
_YEAR = 4  # digits
_NEAR = 9  # words behind a verb in which what it is about stands
_LEAST_REGULAR = 6  # letters of a regular past that no list has: "participated", not "Red"


@cache
def type_words() -> TalkWords:
    """The lists, read once."""
    data = json.loads((files("resources") / "talk" / "types.json").read_text("utf-8"))
    del data["about"]
    sets = {name: frozenset(value.split()) for name, value in data.items() if isinstance(value, str)}
    phrases = {name: PhraseList.from_lines(value) for name, value in data.items() if not isinstance(value, str)}
    return TalkWords(sets, phrases)


def type_statement(tokens: Sequence[Token], read: StatementType) -> StatementType:
    """The type of a rewritten sentence.

    Args:
        tokens: its words and marks.
        read: what the reader says.
    """
    lows = [token.low for token in tokens]
    verb = find_main_verb(tokens)
    if verb is None or read is StatementType.HEALTH:
        return read
    for kind, is_that in (
        (StatementType.PLAN, _is_ahead),
        (StatementType.SKILL, _is_skill),
        (StatementType.PREFERENCE, _is_liking),
        (StatementType.HABIT, _is_repeated),
        (StatementType.RELATIONSHIP, _is_relation),
        (StatementType.WORK, _is_work),
        (StatementType.OPINION, _is_opinion),
    ):
        if is_that(lows, verb):
            return kind
    if read is StatementType.WORK and _gives_name(tokens, verb):
        return StatementType.ATTRIBUTE
    read = _correct_field(lows, verb, read)
    if read in _FIELDS or not is_single_happening(lows, verb):
        return read
    is_dated = any(low.isdigit() and len(low) == _YEAR for low in lows)
    is_outing = lows[verb] in type_words().sets["outings"]
    is_event = is_outing or (is_dated and (read is not StatementType.PLAN or lows[verb] not in _HAVE))
    is_event = is_event or (read in _UNLIKELY and lows[verb] not in _HAVE)  # "has done yoga" may be a habit
    return StatementType.EVENT if is_event and not _is_of_work(lows, verb, read) else read


def _correct_field(lows: Sequence[str], verb: int, read: StatementType) -> StatementType:
    """The field of life of a sentence whose words do not bear out what the reader says of it."""
    sets = type_words().sets
    if read is StatementType.SKILL and "not" not in lows and sets["ability"].isdisjoint(lows):
        if sets["illness"] & {*lows}:
            return StatementType.HEALTH
        is_over = is_single_happening(lows, verb) or lows[verb] in ("was", "were", "had")
        return StatementType.EVENT if is_over else StatementType.HABIT
    if read in (StatementType.RELATIONSHIP, StatementType.WORK) and _is_gain(lows, verb):
        return StatementType.POSSESSION
    if read is StatementType.PLACE and lows[verb] in _HAVE and not is_single_happening(lows, verb):
        return StatementType.POSSESSION
    if read is StatementType.PREFERENCE and lows[verb] in ("is", "are"):
        act = next((low for low in lows[verb + 1 :] if low not in verb_forms().sets["adverbs"]), "")
        is_trying = act.endswith("ing") and act not in sets["preferring"] and act[:-3] in verb_forms().base
        return StatementType.HABIT if is_trying else read
    is_often = _has_type_phrase(lows, "frequency_phrases", verb)
    if is_often and read in (StatementType.EVENT, StatementType.OPINION, StatementType.ATTRIBUTE):
        return StatementType.HABIT
    return read


def _gives_name(tokens: Sequence[Token], verb: int) -> bool:
    """Whether a sentence says by which name somebody goes: "Kit is Katrin on paper"; not "is Head of Sales"."""
    behind = [token.low for token in tokens[verb + 1 :]]
    if tokens[verb].low not in _BE or not behind or _OF_WORK & {*behind}:
        return False
    name = tokens[verb + 1]
    return name.is_capital and not name.text.isupper() and type_words().sets["work_nouns"].isdisjoint(behind)


def _is_gain(lows: Sequence[str], verb: int) -> bool:
    """Whether a sentence says that somebody has got an animal or a thing: "has got a pup", "bought a boat"."""
    owned = (talk_words().sets["pets"] | talk_words().sets["things"]) - type_words().sets["work_nouns"]
    acts = [verb_forms().lemma(low) for low in lows[verb : verb + 3]]
    is_kin = any(
        low in type_words().sets["relations"] and not _is_owner(lows, at) for at, low in enumerate(lows[verb:], verb)
    )
    is_owned = any(low in owned or low.removesuffix("s") in owned for low in lows[verb + 1 : verb + 8])
    return is_owned and not is_kin and bool(type_words().sets["gaining"] & {*acts})


def _is_owner(lows: Sequence[str], at: int) -> bool:
    return at + 1 < len(lows) and lows[at + 1] in ("'s", "'")


def _is_of_work(lows: Sequence[str], verb: int, read: StatementType) -> bool:
    """Whether what happened once belongs to a job or to studies, by the words near its verb."""
    near = lows[verb : verb + _NEAR]
    is_voluntary = any(low.startswith("volunteer") for low in near)
    return read is StatementType.WORK and not is_voluntary and not type_words().sets["work_nouns"].isdisjoint(near)


def find_main_verb(tokens: Sequence[Token]) -> int | None:
    """Where the first verb with a subject's form stands that no relative clause holds; None where none does."""
    second = tokens[1].low if len(tokens) > 1 and tokens[0].is_capital else ""
    if second in verb_forms().third or (second.endswith("ed") and len(second) >= _LEAST_REGULAR):
        return 1  # "Ada works", "Ada participated"
    for at in range(1, min(len(tokens), _MOST_BEFORE_VERB)):
        if is_finite(tokens, at) and tokens[at - 1].low not in ("that", "who", "which", "when", "where"):
            return at
    return None


def is_single_happening(lows: Sequence[str], verb: int) -> bool:
    """Whether the main verb tells what happened once: "went to Rome", "has passed the test", "was hit by a flood"."""
    verbs, states = verb_forms(), type_words().sets["states"]
    behind = [low for low in lows[verb + 1 :] if low not in verbs.sets["adverbs"] or low == "not"]
    first = behind[0] if behind else ""
    if lows[verb] in ("was", "were"):
        return first in verbs.participles and first not in verbs.sets["participle_adjectives"]
    if lows[verb] in ("has", "have", "had") and first in verbs.participles:
        return first != "got" and verbs.participles[first] not in states and {"never", "always"}.isdisjoint(lows)
    if lows[verb] == "had":
        return first in ("a", "an") and not {"when", "as"} & set(lows[verb:])
    is_one = verb == 1 and lows[0] not in ("you", "they", "we") and verbs.pasts.get(lows[verb]) == lows[verb]
    if is_one and verbs.sets["noun_too"].isdisjoint(lows[:1]):  # "Ada set up" is past, for she "sets"
        return lows[verb] not in states
    if lows[verb] == "got" or (lows[verb] in verbs.past and lows[verb] not in verbs.base):
        return verbs.past[lows[verb]] not in states
    return lows[verb].endswith("ed") and len(lows[verb]) >= _LEAST_REGULAR and lows[verb] not in verbs.base


def is_passing_happening(tokens: Sequence[Token]) -> bool:
    """Whether a rewritten sentence is of what happened once, on no day and for no time that it names."""
    verb = find_main_verb(tokens)
    lows = [token.low for token in tokens]
    if verb is None or any(low.isdigit() and len(low) == _YEAR for low in lows):
        return False
    is_long = bool(type_words().sets["duration"] & {*lows[verb:]}) or _has_type_phrase(lows, "frequency_phrases", verb)
    return not is_long and is_single_happening(lows, verb)


def is_turning_point(tokens: Sequence[Token]) -> bool:
    """Whether the main verb of a rewritten sentence tells of a change, such as a start, a purchase or a death."""
    verb = find_main_verb(tokens)
    acts = {verb_forms().lemma(token.low) for token in tokens[verb : verb + 3]} if verb is not None else set()
    return bool(acts & type_words().sets["changing"])


def is_pursuit(tokens: Sequence[Token]) -> bool:
    """Whether a rewritten sentence tells what somebody is after or busy with: "is looking into", "wants to start"."""
    verb = find_main_verb(tokens)
    if verb is None:
        return False
    lows = [token.low for token in tokens[verb : verb + 4] if token.low not in verb_forms().sets["adverbs"]]
    is_going_on = lows[0] in (*_BE, *_HAVE) and any(low.endswith("ing") for low in lows[1:3])
    return is_going_on or verb_forms().lemma(lows[0]) in type_words().sets["pursuing"]


def _has_type_phrase(lows: Sequence[str], name: str, begin: int = 0) -> bool:
    phrases = type_words().phrases[name]
    return any(length_of_phrase_at(lows, at, phrases) for at in range(begin, len(lows)))


def _is_ahead(lows: Sequence[str], verb: int) -> bool:
    is_vow = {"always", "never"} & set(lows[verb + 1 : verb + 2])  # "will always remember" plans nothing
    if (lows[verb] in ("will", "shall") and not is_vow) or _has_type_phrase(
        lows[: verb + 8], "plan_phrases", max(0, verb - 2)
    ):
        return True
    is_going = lows[verb] in ("is", "are") and lows[verb + 1 : verb + 3] == ["going", "to"]
    return is_going and (lows[verb + 3] if verb + 3 < len(lows) else "") not in type_words().sets["motion_goals"]


def _is_skill(lows: Sequence[str], verb: int) -> bool:
    instruments, forms = type_words().sets["instruments"], verb_forms()
    plays = [at for at, low in enumerate(lows) if forms.lemma(low.removesuffix("ing")) == "play"]
    is_played = any(instruments & {*lows[at : at + 6]} for at in plays)
    return is_played or _has_type_phrase(lows[: verb + 5], "skill_phrases", max(0, verb - 2))


def _is_liking(lows: Sequence[str], verb: int) -> bool:
    act = verb
    while act + 1 < len(lows) and lows[act] in (*_DO, *verb_forms().sets["adverbs"]):
        act += 1
    if verb_forms().lemma(lows[act]) in type_words().sets["preference"]:
        return True
    return _has_type_phrase(lows[: verb + 4], "preference_phrases")


def _is_repeated(lows: Sequence[str], verb: int) -> bool:
    del verb
    return _has_type_phrase(lows, "habit_phrases")


def _is_relation(lows: Sequence[str], verb: int) -> bool:
    relations = type_words().sets["relations"]
    if _has_type_phrase(lows[: verb + 4], "relation_phrases", max(0, verb - 1)):
        return True
    behind = lows[verb + 1 : verb + 6]
    stop = next((at for at, low in enumerate(behind) if low in _LINKS), len(behind))
    is_kin = bool(relations & {*behind[:stop]}) and not _counts_time(behind[:stop])
    return is_kin and lows[verb] in (*_BE, *_HAVE)


def _counts_time(lows: Sequence[str]) -> bool:
    return bool({"old", "years", "called", "named", "'s", "'", "than"} & set(lows))


def _is_work(lows: Sequence[str], verb: int) -> bool:
    del verb
    return _has_type_phrase(lows, "work_phrases")


def _is_opinion(lows: Sequence[str], verb: int) -> bool:
    return _has_type_phrase(lows[: verb + 3], "opinion_phrases", verb)
