"""Which sentences state something about the speaker that is worth keeping: "my favourite colour is teal".

The claims that are read have a closed list of predicates; what a person tells of themself has none. So a sentence in
the first person counts as a statement unless it asks, supposes, tells a story or is talk of the moment: how one feels
now, what one is doing, what the conversation is about. Pure. Must not do: read a value, or say what a statement means.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise

from core.belief.extract.mood import hide_unreal
from core.belief.extract.tokens import Sentence, read_sentence
from core.belief.extract.validity import dates
from core.belief.extract.vocabulary import load, words
from core.text.split import sentences
from core.text.stopwords import stop_words

MOST_TEXT = 16_384
MOST_SENTENCES = 200
_WE, _OUR = frozenset(("i", "we")), frozenset(("my", "our"))
_LED = frozenset(("and", "but", "so", "because", "as", "since", ",", ";", ":", "-", "–", "—", ".", "(", "that"))
_BE = frozenset(("am", "'m", "are", "'re", "is", "'s", "remain", "remains", "isn't", "aren't"))
_WAS = frozenset(("was", "were", "wasn't", "weren't"))
_HAVE, _PERFECT = frozenset(("have", "has", "own")), frozenset(("have", "has", "'ve", "haven't", "hasn't"))
_UNSURE = frozenset(("would", "could", "should", "might", "may", "must", "'d", "shall", "wouldn't", "couldn't"))
_WILL, _CAN = frozenset(("will", "'ll", "won't")), frozenset(("can", "can't", "cannot"))
_DO = frozenset(("do", "don't", "does", "doesn't"))
_MOST_NAMED = 8
"""Words that the name of a thing of the speaker's may have before its verb."""


@cache
def _words() -> Mapping[str, frozenset[str]]:
    loaded = load("statements.json")
    return {name: frozenset(found.split()) for name, found in loaded.items() if name != "about"}


def statements(text: str) -> tuple[tuple[int, int], ...]:
    """The sentences of a text that state something lasting about who speaks.

    Args:
        text: any text; the first 16,384 code points and 200 sentences are read.

    Returns:
        Their spans in code points, in order, as `core.text.split.sentences` cuts them.
    """
    read, found, in_story = text[:MOST_TEXT], [], False
    for start, end in sentences(read)[:MOST_SENTENCES]:
        in_story = in_story and bool(read[start:end].strip()) and not read[:start].endswith("\n\n")
        sentence = read_sentence(read, start, end)
        if not sentence.tokens:
            continue
        in_story = in_story or hide_unreal(sentence)
        if not in_story and _states(sentence):
            found.append((start, end))
    return tuple(found)


def _states(sentence: Sentence) -> bool:
    """Whether any clause of it states something of the speaker."""
    if sentence.lows[-1] == "?" or words().sets["hedge"] & set(sentence.lows):
        return False
    lows = sentence.lows
    return any(
        _clause(sentence, at)
        for at in range(sentence.begin, len(lows) - 1)
        if lows[at] in _WE | _OUR
        and not (sentence.tokens[at].hidden or sentence.tokens[at].quoted)
        and (at == sentence.begin or lows[at - 1] in _LED or lows[at - 1] in words().sets["leads.set_off"])
    )


def _clause(sentence: Sentence, at: int) -> bool:
    if sentence.lows[at] in _WE:
        return _of_self(sentence, _behind_adverbs(sentence, at + 1))
    return _of_thing(sentence, at)


def _behind_adverbs(sentence: Sentence, at: int) -> int:
    """The next word that is no adverb."""
    adverbs = words().sets["adverb"] | {"never", "always", ","}
    while at < len(sentence.lows) - 1 and sentence.lows[at] in adverbs:
        at += 1
    return at


def _of_self(sentence: Sentence, at: int) -> bool:
    """Whether "I", with its verb at a place, says something lasting of itself."""
    lows = sentence.lows
    if at >= len(lows) or lows[at] in _UNSURE or _speaks_to(lows[at:]):
        return False
    verb = lows[at]
    if verb in _BE:
        return _is_lasting(sentence, at + 1)
    if verb in _WILL:
        return _is_dated(sentence)
    if verb in _CAN:
        return _next(sentence, at) in _words()["abilities" if verb == "can" else "inabilities"]
    if verb in _PERFECT and (verb not in _HAVE or _words()["perfect"] & set(lows[at + 1 : at + 4])):
        return _lasts_until_now(sentence, at + 1)
    if verb in _HAVE:
        return _words()["havings"].isdisjoint(_head(sentence, at + 1)) and _says_more(sentence, at)
    if verb in _DO or verb in ("didn't", "did"):
        return verb in _DO and _acts(sentence, _behind_adverbs(sentence, at + 1))
    return _acts(sentence, at)


def _speaks_to(lows: Sequence[str]) -> bool:
    """Whether whoever is spoken to comes in, but for "you know"."""
    return any(low in _words()["talked_to"] and after != "know" for low, after in pairwise([*lows, ""]))


def _lasts_until_now(sentence: Sentence, at: int) -> bool:
    """Whether what one "has" done, from a place on, is more than what one has just done or is busy with."""
    lows = sentence.lows[at:]
    if "just" in lows[:3]:
        return False
    is_course = (
        "been" in lows[:3] and lows[lows.index("been") + 1 :][:1] and lows[lows.index("been") + 1].endswith("ing")
    )
    return bool((_words()["durations"] if is_course else _words()["perfect"]) & set(lows))


def _acts(sentence: Sentence, at: int) -> bool:
    """Whether a verb tells a habit or taste, or an event of a life."""
    if at >= len(sentence.lows) or not _says_more(sentence, at):
        return False
    verb, lows = sentence.lows[at], sentence.lows
    if verb == "used" and _next(sentence, at) == "to":
        return True
    lasting = _words()["lasting_verbs"] & set(lows[at : at + 4])
    is_habit = bool(_words()["habits"] & set(lows))
    if verb in _WAS or (_is_past(verb) and not (verb == "read" and is_habit)):
        return bool(lasting) or (_is_dated(sentence) and verb not in _words()["past"])
    return verb.isalpha() and (is_habit or (verb not in _words()["talk"] and not _points(sentence, at)))


def _points(sentence: Sentence, at: int) -> bool:
    """Whether a verb's object is something that is being talked about: "I like that idea"."""
    return _next(sentence, at) in _words()["pointing"]


def _is_past(verb: str) -> bool:
    known = words().sets["plain_past"] | _words()["lasting_verbs"] | _words()["past"]
    return verb in known or (verb.endswith("ed") and verb not in ("need", "feed", "breed", "speed"))


def _is_lasting(sentence: Sentence, at: int) -> bool:
    """Whether what one is said to be, at a place behind "am", is more than a state of the moment."""
    lows = sentence.lows
    is_denied = at < len(lows) and lows[at] == "not"
    while at < len(lows) - 1 and lows[at] in _words()["fillers"] | words().sets["adverb"]:
        at += 1
    if at >= len(lows) or not sentence.tokens[at].word:
        return False
    if lows[at] == "afraid":
        return _next(sentence, at) == "of"
    if lows[at].endswith("ing") and lows[at] not in ("king", "sibling"):
        return lows[at] in _words()["courses"] or _is_dated(sentence)
    if lows[at] in _words()["lasting_verbs"]:
        return True
    return lows[at] not in _words()["states"] and (not is_denied or lows[at] != "going")


def _of_thing(sentence: Sentence, at: int) -> bool:
    """Whether "my ..." is the subject of something lasting."""
    lows = sentence.lows
    for place in range(at + 2, min(at + 2 + _MOST_NAMED, len(lows) - 1)):
        low = lows[place]
        if low in (",", ";", ":", "to") or low in _UNSURE:
            return False
        if low == "'s" and not _ends_name(sentence, place):
            continue
        if low in _BE | _WAS | _HAVE | _DO or _is_verb(sentence, at, place):
            named = set(lows[at + 1 : place])
            is_talk = _words()["chatter"] & named and not (_words()["of_taste"] & named or _is_dated(sentence))
            return not is_talk and _tells(sentence, at, place)
    return False


def _ends_name(sentence: Sentence, place: int) -> bool:
    """Whether "'s" is "is": no possessive, behind which the thing that is owned follows ("my sister's name is")."""
    rest = sentence.lows[place + 1 : place + 1 + _MOST_NAMED]
    return not (_BE | _WAS | _HAVE) & set(rest)


def _is_verb(sentence: Sentence, at: int, place: int) -> bool:
    """Whether a word behind a thing's name is its verb: known, in the third person, or an event of a life."""
    low, sets = sentence.lows[place], words().sets
    if low in sets["aux"]:
        return False
    if low in sets["finite"] or (_is_past(low) and low.isalpha()):
        return True
    follows = sets["prepositions"] | sets["det"] | sets["poss"] | {"to"}
    return place > at + 1 and low.endswith("s") and _next(sentence, place) in follows


def _tells(sentence: Sentence, first: int, at: int) -> bool:
    """Whether behind the verb of a thing, which is named from a place on, something is told of it that lasts."""
    low, rest = sentence.lows[at], sentence.lows[at + 1 :]
    told = next((one for one in rest if one not in _words()["fillers"] | words().sets["adverb"] and one.isalnum()), "")
    if not told:
        return False
    if low in _BE:
        is_course = told.endswith("ing") and not _words()["of_taste"] & set(sentence.lows[first:at])
        return told not in _words()["feelings"] and (not is_course or _is_dated(sentence))
    if low in _WAS or _is_past(low):
        return bool(_words()["lasting_verbs"] & set(sentence.lows[at : at + 4])) or _is_dated(sentence)
    return True


def _head(sentence: Sentence, at: int) -> frozenset[str]:
    """The first words of what one has, up to the next mark or joining word."""
    found: list[str] = []
    for low in sentence.lows[at : at + 5]:
        if low in words().sets["conj"] or not low[:1].isalnum():
            break
        found.append(low)
    return frozenset(found)


def _next(sentence: Sentence, at: int) -> str:
    return sentence.lows[at + 1] if at + 1 < len(sentence.lows) else ""


def _says_more(sentence: Sentence, at: int) -> bool:
    """Whether a word of meaning stands behind a place."""
    return any(low[:1].isalnum() and low not in stop_words() for low in sentence.lows[at + 1 :])


def _is_dated(sentence: Sentence) -> bool:
    return bool(dates(sentence.text, sentence.start, sentence.end))
