"""Which sentences state something about the speaker that is worth keeping: "my favourite colour is teal".

The claims that are read have a closed list of predicates; what a person tells of themself has none. So a sentence in
the first person counts as a statement unless it asks, supposes, tells a story or is talk of the moment: how one feels
now, what one is doing, what the conversation is about. Pure. Must not do: read a value, or say what a statement means.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise

from core.belief.extract.sentence import (
    TokenizedSentence,
    claim_word_lists,
    hide_unreal,
    load_vocabulary_file,
    read_sentence,
)
from core.belief.extract.validity import find_written_dates
from core.text.sentences import split_sentences
from core.text.terms import stop_words

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
_PHRASES = ("frames", "change_phrases")
_LONGEST, _IN_FRONT = 5, 12  # words of a phrase; words that a frame ends within
_MOST_NAMED = 8
"""Words that the name of a thing of the speaker's may have before its verb."""
_AGE_ENDS = frozenset(("", ".", ",", "!", ";", "now", "years", "next", "this", "in", "on", "and", "today", "tomorrow"))


@cache
def _statement_words() -> Mapping[str, frozenset[str]]:
    loaded = load_vocabulary_file("statements.json")
    return {name: frozenset(found.split()) for name, found in loaded.items() if name not in ("about", *_PHRASES)}


@cache
def _load_phrases(name: str) -> frozenset[tuple[str, ...]]:
    found: str = load_vocabulary_file("statements.json")[name]
    return frozenset(tuple(phrase.split()) for phrase in found.split("|"))


def find_statements(text: str) -> tuple[tuple[int, int], ...]:
    """The sentences of a text that state something lasting about who speaks.

    Args:
        text: any text; the first 16,384 code points and 200 sentences are read.

    Returns:
        Their spans in code points, in order, as `core.text.sentences.split_sentences` cuts them.
    """
    read, found, in_story = text[:MOST_TEXT], [], False
    for start, end in split_sentences(read)[:MOST_SENTENCES]:
        in_story = in_story and bool(read[start:end].strip()) and not read[:start].endswith("\n\n")
        sentence = read_sentence(read, start, end)
        if not sentence.tokens:
            continue
        in_story = in_story or hide_unreal(sentence)
        if not in_story and _is_statement(sentence):
            found.append((start, end))
    return tuple(found)


def _is_statement(sentence: TokenizedSentence) -> bool:
    """Whether any clause of it states something of the speaker."""
    lows, framed = sentence.lows, _behind_frame(sentence)
    if lows[-1] == "?" or claim_word_lists().sets["hedge"] & set(lows[framed:]):
        return False
    return _is_own_day(sentence) or any(
        _is_statement_clause(sentence, at, is_framed=at == framed > 0)
        for at in range(sentence.begin, len(lows) - 1)
        if lows[at] in _WE | _OUR
        and not (sentence.tokens[at].hidden or sentence.tokens[at].quoted)
        and (
            at in (sentence.begin, framed)
            or lows[at - 1] in _LED
            or lows[at - 1] in claim_word_lists().sets["leads.set_off"]
        )
    )


def _behind_frame(sentence: TokenizedSentence) -> int:
    """Where what is disclosed begins, behind words such as "you should know that"; 0 where there are none."""
    lows = sentence.lows
    for end in range(1, min(_IN_FRONT, len(lows))):
        if any(tuple(lows[end - size : end]) in _load_phrases("frames") for size in range(1, min(_LONGEST, end) + 1)):
            while end < len(lows) and lows[end] in ("that", ",", ":", "-"):
                end += 1
            if end < len(lows) and lows[end] in _WE | _OUR:
                return end
    return 0


def _is_statement_clause(sentence: TokenizedSentence, at: int, *, is_framed: bool) -> bool:
    if sentence.lows[at] in _WE:
        verb = _behind_adverbs(sentence, at + 1)
        return _is_lasting_about_speaker(sentence, verb) or (is_framed and _is_trait(sentence, verb))
    return _is_about_relative(sentence, at) or _is_lasting_about_possession(sentence, at)


def _is_trait(sentence: TokenizedSentence, at: int) -> bool:
    """Whether a verb alone, which somebody was prepared for, tells what the speaker is like: "I stutter"."""
    if at >= len(sentence.lows) or _has_content_after(sentence, at):
        return False
    verb = sentence.lows[at]
    idle = _statement_words()["talk"] | _BE | _WAS | _HAVE | _PERFECT | _UNSURE | _WILL | _CAN | _DO | {"did", "didn't"}
    return verb.isalpha() and verb not in idle and not _is_past(verb)


def _is_own_day(sentence: TokenizedSentence) -> bool:
    """Whether a day is said to be one of the speaker's: "it's my birthday on Friday"."""
    lows = sentence.lows
    for at in range(1, len(lows) - 1):
        if lows[at] not in _OUR or lows[at - 1] not in _BE | _WAS | {"be"} or sentence.tokens[at].quoted:
            continue
        named = lows[at + 1 : at + 5]
        is_day = any(one in _statement_words()["own_days"] and two == "day" for one, two in pairwise(named))
        if is_day or _statement_words()["occasions"] & set(named):
            return _is_dated(sentence) or "yesterday" in lows
    return False


def _is_about_relative(sentence: TokenizedSentence, at: int) -> bool:
    """Whether "my ..." is a relative of whom an age or an event of a life is told."""
    lows, sets = sentence.lows, claim_word_lists().sets
    relative_words = sets["kin"] | sets["partner"] | sets["child"] | sets["children"] | _statement_words()["kin_more"]
    place = next((one for one in range(at + 1, min(at + 4, len(lows) - 1)) if lows[one] in relative_words), 0)
    if not place:
        return False
    verb = place + 1
    while verb < len(lows) - 1 and lows[verb] in _statement_words()["passing"]:
        verb += 1
    before = set(lows[place + 1 : verb])
    if lows[verb] in _statement_words()["ageing"]:
        return _is_number(_next_word(sentence, verb))
    if _is_number(lows[verb]):
        return bool(before & (_BE | _WILL | {"be", "to"}) and _next_word(sentence, verb) in _AGE_ENDS)
    if lows[verb] in _statement_words()["schooling"]:
        return bool(before & {"starts", "start", "started", "starting", "begins", "begin", "began"})
    return lows[verb] in _statement_words()["life_events"] or (
        lows[verb] in _statement_words()["births"] and "having" in before
    )


def _is_number(low: str) -> bool:
    sets = claim_word_lists().sets
    return low[:1].isdigit() or low in sets["tens"] or low in sets["small"] or low.split("-")[0] in sets["tens"]


def _behind_adverbs(sentence: TokenizedSentence, at: int) -> int:
    """The next word that is no adverb."""
    adverbs = claim_word_lists().sets["adverb"] | {"never", "always", ","}
    while at < len(sentence.lows) - 1 and sentence.lows[at] in adverbs:
        at += 1
    return at


def _is_lasting_about_speaker(sentence: TokenizedSentence, at: int) -> bool:
    """Whether "I", with its verb at a place, says something lasting of itself."""
    lows = sentence.lows
    if at >= len(lows) or lows[at] in _UNSURE or _is_addressing_somebody(lows[at:]):
        return False
    verb = lows[at]
    if verb in _BE:
        return _is_amount(sentence, at + 1) or _is_lasting(sentence, at + 1)
    if _is_change_of_habit(sentence, _behind_adverbs(sentence, at + 1) if verb in _PERFECT else at):
        return True
    if verb in _WILL:
        return _is_dated(sentence)
    if verb in _CAN:
        return _next_word(sentence, at) in _statement_words()["abilities" if verb == "can" else "inabilities"]
    if verb in _PERFECT and (verb not in _HAVE or _statement_words()["perfect"] & set(lows[at + 1 : at + 4])):
        return _is_lasting_until_now(sentence, at + 1)
    if verb in _HAVE:
        return _statement_words()["havings"].isdisjoint(_head_words(sentence, at + 1)) and _has_content_after(
            sentence, at
        )
    if verb in _DO or verb in ("didn't", "did"):
        denied = at + 1 if _next_word(sentence, at) == "not" else at
        return verb in _DO and _is_habit_or_event(sentence, _behind_adverbs(sentence, denied + 1))
    return _is_habit_or_event(sentence, at)


def _is_amount(sentence: TokenizedSentence, at: int) -> bool:
    """Whether one "is" down to, up to or back to so much of something, behind "am" from a place on."""
    lows, at = sentence.lows, _behind_adverbs(sentence, at)
    while at < len(lows) - 1 and lows[at] in ("now", "currently"):
        at += 1
    if lows[at] not in ("down", "up", "back", "at", "on"):
        return False
    is_way = lows[at] in ("down", "up", "back")
    if is_way and _next_word(sentence, at) not in ("to", "at"):
        return False
    rest = lows[at + 2 if is_way else at + 1 :]
    if not rest or not (_is_number(rest[0]) or rest[0] == "half"):
        return False
    return _has_rate(rest) or (
        is_way
        and len(rest) > 1
        and rest[1].isalpha()
        and "here" not in rest
        and rest[1] not in _statement_words()["chatter"] | _statement_words()["havings"]
    )


def _is_change_of_habit(sentence: TokenizedSentence, at: int) -> bool:
    """Whether a verb tells that one does something more, less or no longer: "cut down to five a day"."""
    lows = sentence.lows
    if at >= len(lows):
        return False
    if lows[at] in _statement_words()["changes"] and _has_rate(lows[at + 1 :]):
        return True
    size = next((size for size in range(3, 0, -1) if tuple(lows[at : at + size]) in _load_phrases("change_phrases")), 0)
    thing = _next_word(sentence, at + size - 1)
    if not size or not thing.isalpha() or thing in stop_words() or thing in claim_word_lists().sets["det"]:
        return False
    return lows[at] != "stopped" or (thing.endswith("ing") and thing not in _statement_words()["idle_stops"])


def _has_rate(lows: Sequence[str]) -> bool:
    """Whether so much in a time is named: "five a day"."""
    return any(
        one in ("a", "an", "per", "each", "every") and two in _statement_words()["periods"]
        for one, two in pairwise(lows)
    )


def _is_addressing_somebody(lows: Sequence[str]) -> bool:
    """Whether whoever is spoken to comes in, but for "you know"."""
    return any(low in _statement_words()["talked_to"] and after != "know" for low, after in pairwise([*lows, ""]))


def _is_lasting_until_now(sentence: TokenizedSentence, at: int) -> bool:
    """Whether what one "has" done, from a place on, is more than what one has just done or is busy with."""
    lows = sentence.lows[at:]
    if "just" in lows[:3]:
        return False
    is_course = (
        "been" in lows[:3] and lows[lows.index("been") + 1 :][:1] and lows[lows.index("been") + 1].endswith("ing")
    )
    return bool((_statement_words()["durations"] if is_course else _statement_words()["perfect"]) & set(lows))


def _is_habit_or_event(sentence: TokenizedSentence, at: int) -> bool:
    """Whether a verb tells a habit or taste, or an event of a life."""
    if at >= len(sentence.lows) or not _has_content_after(sentence, at):
        return False
    verb, lows = sentence.lows[at], sentence.lows
    if verb == "used" and _next_word(sentence, at) == "to":
        return True
    lasting = _statement_words()["lasting_verbs"] & set(lows[at : at + 4])
    is_habit = bool(_statement_words()["habits"] & set(lows))
    if verb in _WAS or (_is_past(verb) and not (verb == "read" and is_habit)):
        return bool(lasting) or (_is_dated(sentence) and verb not in _statement_words()["past"])
    return verb.isalpha() and (is_habit or (verb not in _statement_words()["talk"] and not _is_pointing(sentence, at)))


def _is_pointing(sentence: TokenizedSentence, at: int) -> bool:
    """Whether a verb's object is something that is being talked about: "I like that idea"."""
    return _next_word(sentence, at) in _statement_words()["pointing"]


def _is_past(verb: str) -> bool:
    known = claim_word_lists().sets["plain_past"] | _statement_words()["lasting_verbs"] | _statement_words()["past"]
    return verb in known or (verb.endswith("ed") and verb not in ("need", "feed", "breed", "speed"))


def _is_lasting(sentence: TokenizedSentence, at: int) -> bool:
    """Whether what one is said to be, at a place behind "am", is more than a state of the moment."""
    lows = sentence.lows
    is_denied = at < len(lows) and lows[at] == "not"
    while at < len(lows) - 1 and lows[at] in _statement_words()["fillers"] | claim_word_lists().sets["adverb"]:
        at += 1
    if at >= len(lows) or not sentence.tokens[at].word:
        return False
    if lows[at] == "afraid":
        return _next_word(sentence, at) == "of"
    if lows[at].endswith("ing") and lows[at] not in ("king", "sibling"):
        return lows[at] in _statement_words()["courses"] or _is_dated(sentence)
    if lows[at] in _statement_words()["lasting_verbs"]:
        return True
    return lows[at] not in _statement_words()["states"] and (not is_denied or lows[at] != "going")


def _is_lasting_about_possession(sentence: TokenizedSentence, at: int) -> bool:
    """Whether "my ..." is the subject of something lasting."""
    lows = sentence.lows
    for place in range(at + 2, min(at + 2 + _MOST_NAMED, len(lows) - 1)):
        low = lows[place]
        if low in (",", ";", ":", "to") or low in _UNSURE:
            return False
        if low == "'s" and not _ends_person_name(sentence, place):
            continue
        if low in _BE | _WAS | _HAVE | _DO or _is_verb(sentence, at, place):
            named = set(lows[at + 1 : place])
            is_talk = _statement_words()["chatter"] & named and not (
                _statement_words()["of_taste"] & named or _is_dated(sentence)
            )
            return not is_talk and _is_lasting_about_thing(sentence, at, place)
    return False


def _ends_person_name(sentence: TokenizedSentence, place: int) -> bool:
    """Whether "'s" is "is": no possessive, behind which the thing that is owned follows ("my sister's name is")."""
    rest = sentence.lows[place + 1 : place + 1 + _MOST_NAMED]
    return not (_BE | _WAS | _HAVE) & set(rest)


def _is_verb(sentence: TokenizedSentence, at: int, place: int) -> bool:
    """Whether a word behind a thing's name is its verb: known, in the third person, or an event of a life."""
    low, sets = sentence.lows[place], claim_word_lists().sets
    if low in sets["aux"]:
        return False
    if low in sets["finite"] or (_is_past(low) and low.isalpha()):
        return True
    follows = sets["prepositions"] | sets["det"] | sets["poss"] | {"to"}
    return place > at + 1 and low.endswith("s") and _next_word(sentence, place) in follows


def _is_lasting_about_thing(sentence: TokenizedSentence, first: int, at: int) -> bool:
    """Whether behind the verb of a thing, which is named from a place on, something is told of it that lasts."""
    low, rest = sentence.lows[at], sentence.lows[at + 1 :]
    verb = next(
        (
            one
            for one in rest
            if one not in _statement_words()["fillers"] | claim_word_lists().sets["adverb"] and one.isalnum()
        ),
        "",
    )
    if not verb:
        return False
    if low in _BE:
        is_course = verb.endswith("ing") and not _statement_words()["of_taste"] & set(sentence.lows[first:at])
        subject_words = (
            claim_word_lists().sets["kin"]
            | claim_word_lists().sets["child"]
            | claim_word_lists().sets["children"]
            | claim_word_lists().sets["partner"]
        )
        is_state = verb in _statement_words()["states"] and bool(subject_words & set(sentence.lows[first:at]))
        return verb not in _statement_words()["feelings"] and not is_state and (not is_course or _is_dated(sentence))
    if low in _WAS or _is_past(low):
        return bool(_statement_words()["lasting_verbs"] & set(sentence.lows[at : at + 4])) or _is_dated(sentence)
    return True


def _head_words(sentence: TokenizedSentence, at: int) -> frozenset[str]:
    """The first words of what one has, up to the next mark or joining word."""
    found: list[str] = []
    for low in sentence.lows[at : at + 5]:
        if low in claim_word_lists().sets["conj"] or not low[:1].isalnum():
            break
        found.append(low)
    return frozenset(found)


def _next_word(sentence: TokenizedSentence, at: int) -> str:
    return sentence.lows[at + 1] if at + 1 < len(sentence.lows) else ""


def _has_content_after(sentence: TokenizedSentence, at: int) -> bool:
    """Whether a word of meaning stands behind a place."""
    return any(low[:1].isalnum() and low not in stop_words() for low in sentence.lows[at + 1 :])


def _is_dated(sentence: TokenizedSentence) -> bool:
    return bool(find_written_dates(sentence.text, sentence.start, sentence.end))
