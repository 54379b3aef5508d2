"""A last look at a rewritten sentence: tense beside a date, words that a date replaces, names that only call somebody.

Must not do: resolve whom a word means, or bring in a word of meaning.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from core.talk.clauses import is_finite
from core.talk.statement_types import type_words
from core.talk.vocabulary import Edit, Token, length_of_phrase_at, stem_word, talk_words, verb_forms
from core.types.talk import StatementType

_PERFECT = re.compile(
    r"\b(?P<aux>has|have) (?:(?:just|also|already|finally|recently) )?(?P<verb>[a-z]+)\b(?P<to> to\b)?"
)
_FRESH = re.compile(r"\b(?:just|recently) (?=(?P<verb>[a-z]+)\b)")
_DAY = re.compile(r"\b(?:on|in) (?:the (?:week|weekend) of )?(?:\d|[A-Z])[\w ]*\d{4}\b")
_CAUSE = re.compile(r"(?i)(?:(?<!\w)['\u2018\u2019]cause|\b(?:cuz|coz))\b")
_ALSO = re.compile(r"^(\w+(?: (?:has|have|is|are|was|were|will|can))?) also (?!known\b|called\b)")
_TOO = re.compile(r",? (?:too|as well)(?=\.$|,| (?:when|because|since|and|but)\b)")
# Words that compare with what was said before it and say nothing without it: "is still looking", "even had a picnic".
_COMPARING = re.compile(r"(?<=\w )(?P<word>still|even|just|also) (?P<behind>[a-z]+)\b")
_RELATIVE = frozenset(("that", "who", "and", "or", ",", "not", "does", "do"))
_NEEDED = frozenset(("though", "if", "when", "as", "like", "because", "before", "after", "in", "on", "at", "a", "an"))
_NEEDED |= {"the", "for", "more", "less", "to", "so", "not", "one", "two", "three", "with", "and", "or", "but"}
_OPENING = re.compile(r"^(?:Just|Even|Also|Still) (?=(?:on|in|at) \d|(?:on|in) the week)")
_LIKENED = frozenset(("would", "do", "does", "did", "not", "also", "really", "they", "you", "something", "look"))
_LIKING = frozenset(("likes", "like", "loves", "love", "enjoys", "enjoy", "prefers", "prefer", "hates", "hate", "not"))
_UP_TO_NOW = re.compile(r" so far(?=\.$)")
_TAUGHT = frozenset(("lessons", "classes", "courses", "sessions"))
_TEACHING = frozenset(("take", "tak", "give", "giv", "have", "hav", "teach", "attend", "start"))
_NARROWING = frozenset(("of", "for", "to", "that", "where", "which", "who", "called", "named", "about", "behind"))
_ASKING = frozenset(("ask", "asks", "asked"))
_ASKED_FOR = frozenset(("which", "what", "where", "when", "who", "whom", "whose", "whether", "how", "why"))
_MOST_BEFORE_ASKING = 8
_OWNERS = frozenset(("you", "your"))
_BINDERS = frozenset(
    ("when", "whenever", "while", "because", "although", "though", "until", "even", "since", "after", "before")
)


def correct_tense(rewritten: str, dates: Sequence[Edit]) -> str:
    """A rewritten sentence with its tense and its small words as they are written.

    Args:
        dates: what was put in place of phrases of time that are over; none where nothing is over.
    """
    rewritten = _TOO.sub("", _ALSO.sub(r"\1 ", _CAUSE.sub("because", rewritten)))
    rewritten = _UP_TO_NOW.sub("", _COMPARING.sub(_leave_comparing, _OPENING.sub("", rewritten)))
    rewritten = rewritten[:1].upper() + rewritten[1:]
    days = [place for one in dates if _DAY.search(one.text) and (place := rewritten.find(one.text.strip())) > 0]
    if not days:
        return rewritten
    last = max(days)
    head = _PERFECT.sub(_write_past, rewritten[:last], count=1)
    return _FRESH.sub(_leave_fresh, head) + rewritten[last:]


def _write_past(match: re.Match[str]) -> str:
    """The simple past of a perfect: "has been to" is "went to"."""
    verbs = verb_forms()
    verb = match["verb"]
    to = match["to"] or ""
    base = verbs.participles.get(verb)
    if base is None or verb == "got":  # what somebody has got is theirs now
        return match[0]
    if base == "be":
        return "went to" if to else "was" if match["aux"] == "has" else "were"
    return verbs.pasts[base] + to


def _leave_comparing(match: re.Match[str]) -> str:
    verbs, behind = verb_forms(), match["behind"]
    is_verb = behind in verbs.past or behind in verbs.participles or behind.endswith("ing")
    if behind in _NEEDED or behind.endswith("er") or (match["word"] == "just" and not is_verb):
        return match[0]
    return behind


def _leave_fresh(match: re.Match[str]) -> str:
    verbs = verb_forms()
    return "" if match["verb"] in verbs.past or match["verb"] in verbs.participles else match[0]


def find_calls(tokens: Sequence[Token], first: int, end: int, name: str) -> Iterator[int]:
    """Where the one spoken to is only called, between two commas: "Your help, Gina, means a lot"."""
    called = {name.casefold(), *name.casefold().split()[:1]} - {""}
    for at in range(first + 2, end - 2):
        is_between = tokens[at - 1].low == "," == tokens[at + 1].low
        is_row = tokens[at - 2].is_capital or tokens[at + 2].is_capital or tokens[at + 2].low in ("and", "or")
        if is_between and tokens[at].low in called and not is_row:
            yield at


def is_dependent(lows: Sequence[str], verbs: int) -> bool:
    """Whether a clause only says when or why another is: "Even when times are hard".

    Args:
        verbs: how many verbs with a subject's form it has.
    """
    if lows[0] not in _BINDERS or (lows[0] == "even" and lows[1] not in (*_BINDERS, "if", "after", "before")):
        return False
    return verbs < 2


def lacks_article(tokens: Sequence[Token], first: int) -> bool:
    """Whether a clause opens with a bare thing or person in note style: "Store's going good", "boss is rude"."""
    low = tokens[first].low
    if low in talk_words().sets["people"] and low not in talk_words().sets["kin_titles"]:
        return not tokens[first + 1].is_capital and is_finite(tokens, first + 1, first)
    is_thing = low in talk_words().sets["things"] or low in verb_forms().sets["noun_too"]
    return is_thing and tokens[first + 1].low == "'s"


def names_bare_thing(lows: Sequence[str]) -> bool:
    """Whether a clause is a thing or person with what is said of it, but no verb of its own: "a dog called Rex"."""
    forms = verb_forms()
    if lows[0] in ("a", "an", "someone", "somebody") and {"that", "who"} & {*lows[1:4]}:
        return not any(
            (low in forms.third or low in forms.past)
            and lows[at - 1] not in _RELATIVE
            and lows[at - 2] not in _RELATIVE
            for at, low in enumerate(lows[3:], 3)
        )
    rest = [low for low in lows if low in forms.third or low in forms.past or low in forms.sets["modals"]]
    return lows[0] in ("a", "an") and bool(rest) and set(rest) <= {"called", "named"}


def stands_alone(lows: Sequence[str]) -> bool:
    """Whether a rewritten sentence needs nothing from around it: "Gina got the idea" asks which one.

    Args:
        lows: its words and marks, lower case, without the full stop.
    """
    sets = talk_words().sets
    if not lows or lows[-1] in sets["hanging"] or lows[-1] in ("it", "them", "they"):
        return False
    if "it" in lows[:4]:
        return False
    return not any(_is_vague(lows, at) for at, low in enumerate(lows) if low in sets["generic_things"])


def _is_vague(lows: Sequence[str], at: int) -> bool:
    """Whether "the" or "that" points at a thing of any kind, or lessons are taken in nothing: no word says which."""
    behind = lows[at + 1] if at + 1 < len(lows) else ""
    if at == 0 or behind in _NARROWING:
        return False
    is_taught = (
        lows[at] in _TAUGHT and behind != "in" and verb_forms().lemma(lows[at - 1].removesuffix("ing")) in _TEACHING
    )
    return lows[at - 1] in ("the", "that") or is_taught


def tells_appearance(lows: Sequence[str]) -> bool:
    """Whether a sentence says how somebody or something seems just now: "Hester looks tired"."""
    forms = verb_forms()
    for at, low in enumerate(lows[1:6], 1):
        if low in forms.sets["appearance"]:
            return (lows[at + 1] if at + 1 < len(lows) else "") not in forms.sets["particles"]
        if low in forms.third or low in forms.past:
            return False
    return False


def is_simile(tokens: Sequence[Token]) -> bool:
    """Whether a sentence only compares: "John is like a family", "Ida sleeps like a log"; taste and looks are meant so.

    Args:
        tokens: its words and marks.
    """
    lows = [token.low for token in tokens]
    for at, low in enumerate(lows[1:-1], 1):
        if low != "like":
            continue
        before, behind = lows[at - 1], lows[at + 1]
        if before in ("is", "are", "was", "were"):
            return True
        if not any(_is_act(tokens, place) for place in range(1, at)):
            continue  # "the kids like a story" tells what they like
        are_several = before.endswith("s") and behind.endswith("s") and at + 2 >= len(lows)
        is_noun = verb_forms().third.get(before, "") in {"", *verb_forms().sets["noun_too"]}
        if are_several and is_noun and not _LIKING & {*lows[:at]}:
            return True  # "writes letters like telegrams"
        if behind in ("a", "an") and at + 4 >= len(lows) and before not in _LIKENED:
            return verb_forms().lemma(before) in verb_forms().base or before in verb_forms().third
    return False


def is_aside(tokens: Sequence[Token], kind: StatementType) -> bool:
    """Whether a sentence states nothing that holds of somebody: a look, a mood, a question, a remark on words.

    Args:
        tokens: its words and marks.
        kind: its type.
    """
    lows = [token.low for token in tokens]
    says_nothing = tells_appearance(lows) or is_pep_talk(lows, kind) or is_simile(tokens)
    says_nothing = says_nothing or tells_moment(lows) or takes_leave(lows) or says_only_praise(tokens)
    return says_nothing or reports_question(lows) or compares_languages(lows)


def tells_moment(lows: Sequence[str]) -> bool:
    """Whether a sentence only says where somebody is or rests just now: "the dog is lying on the tiles"."""
    sets = talk_words().sets
    for at, low in enumerate(lows[1:6], 1):
        if low in ("is", "are"):
            rest = [word for word in lows[at + 1 :] if word not in verb_forms().sets["adverbs"]]
            is_placed = rest[:2] in (["in", "the"], ["on", "the"]) and rest[-1] in sets["rooms"]
            is_chore = rest[:2] == ["doing", "the"]
            return bool(rest) and (rest[0] in sets["resting"] or is_placed or is_chore)
    return False


def takes_leave(lows: Sequence[str]) -> bool:
    """Whether a sentence only says where somebody goes now: "Mara is off to bake a cake"; on a day it is a plan."""
    is_dated = any(low.isdigit() for low in lows)
    return not is_dated and any(tuple(lows[at : at + 2]) == ("off", "to") for at in range(2, min(5, len(lows))))


def says_only_praise(tokens: Sequence[Token]) -> bool:
    """Whether a sentence says of somebody or something only that it is great: "Mara's family is awesome"."""
    sets, lows = talk_words().sets, [token.low for token in tokens]
    verb = next((at for at in range(1, len(lows)) if is_finite(tokens, at)), 0)
    if lows[verb] not in ("is", "are", "was", "were"):
        return False
    rest = [low for low in lows[verb + 1 :] if low not in verb_forms().sets["adverbs"]]
    behind = rest[1] if len(rest) > 1 else ""
    return bool(rest) and rest[0] in sets["praise"] and (not behind or not behind[:1].isalnum())


def reports_question(lows: Sequence[str]) -> bool:
    """Whether a sentence only tells what is asked: "the bank asks at which address you live"; that is no answer.

    What somebody asked once is news, unless the answer stands behind a colon, of which nobody knows whose it is.
    """
    at = next((at for at, low in enumerate(lows[:_MOST_BEFORE_ASKING]) if low in _ASKING), 0)
    if not at or _ASKED_FOR.isdisjoint(lows[at + 1 : at + 4]):
        return False
    return lows[at] != "asked" or ":" in lows[at:]


def compares_languages(lows: Sequence[str]) -> bool:
    """Whether a sentence is of a language and not of somebody: "forty is four tens, as in French"."""
    languages = talk_words().sets["languages"]
    places = (at for at in range(2, len(lows)) if lows[at] in languages and tuple(lows[at - 2 : at]) == ("as", "in"))
    return any(lows[0] not in _OWNERS and (at + 1 == len(lows) or not lows[at + 1].isalpha()) for at in places)


def _is_act(tokens: Sequence[Token], at: int) -> bool:
    """Whether a word is a verb of its sentence and no group of people; "sleep" is one behind "kids" and "they"."""
    sets, before = talk_words().sets, tokens[at - 1].low
    low = tokens[at].low
    if low in sets["groups"] or low.removesuffix("s") in sets["people"] | sets["pets"] | sets["things"]:
        return False
    are_several = before in sets["groups"] or before in ("they", "we", "you")
    return is_finite(tokens, at) or (are_several and low in verb_forms().base and low != "like")


def is_pep_talk(lows: Sequence[str], kind: StatementType) -> bool:
    """Whether a sentence only says that somebody is glad or determined, or what they could do.

    Args:
        lows: its words and marks, lower case.
        kind: its type.
    """
    words, adverbs = talk_words(), verb_forms().sets["adverbs"]
    plain = [low for low in lows if low not in adverbs]
    if any(length_of_phrase_at(plain, at, words.phrases["pep_talk"]) for at in range(len(plain))):
        return True
    if any(plain[at : at + 2] == ["to", "be"] and plain[at + 3 : at + 4] == ["for"] for at in range(len(plain) - 4)):
        return True  # "wants to be brave for her family"
    place = next((at for at, low in enumerate(plain[1:8], 1) if low in ("is", "are", "can", "could")), None)
    if place is None or place + 1 >= len(plain):
        return False
    if plain[place] in ("can", "could"):
        is_able = plain[place + 1] in type_words().sets["ability"] or not {"their", "her", "his"} & {*plain[place:]}
        is_dated = any(low.isdigit() for low in plain)  # "can come on 3 May 2025" is an appointment
        is_hoped = (kind is StatementType.PLAN and not is_dated) or (kind is StatementType.SKILL and not is_able)
        return is_hoped or kind in (StatementType.PREFERENCE, StatementType.OPINION, StatementType.ATTRIBUTE)
    is_mood = plain[place + 1] in words.sets["moods"]
    return is_mood or (plain[place + 1] in ("key", "important", "crucial") and plain[0].endswith("ing"))


def has_substance(content: Iterable[str]) -> bool:
    """Whether a sentence says more than that somebody is well or busy.

    Args:
        content: stems of its words that are not small ones.
    """
    stems = set(content)
    sets = talk_words().sets
    left = stems - _light_stems()
    if not stems & {stem_word(word) for word in sets["enjoyments"]}:
        return bool(left)
    dates = {stem_word(word) for word in sets["months"]}  # on which day somebody had a great time says nothing of it
    return any(not one.isdigit() and one not in dates for one in left)


@cache
def _light_stems() -> frozenset[str]:
    return frozenset(stem_word(word) for word in talk_words().sets["light"])
