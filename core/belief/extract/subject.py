"""Whose claim it is: the words to the left of what is claimed."""

from __future__ import annotations

from dataclasses import dataclass

from core.belief.extract.tokens import TokenizedSentence
from core.belief.extract.vocabulary import word_lists

USER = "user"
_FAR = 12
_LONGEST_NAME = 5


@dataclass(frozen=True, slots=True)
class Subject:
    """Who or what a claim is about.

    Attributes:
        text: `user`, or the words that name it.
        kind: `user`, `person`, `name` (a name that may be a person's or a thing's) or `thing`.
        first: the first token of its words; `after` is exclusive.
    """

    text: str
    kind: str
    first: int = 0
    after: int = 0


@dataclass(frozen=True, slots=True)
class LeftContext:
    """What stands before the words of a claim.

    Attributes:
        subject: whose claim it is; None where nothing fitting stands there.
        open: whether nothing at all stands there (a note without a subject).
        negative: whether it is denied.
        past: whether it is told as over (`used to`).
        modal: a word such as `would` that takes it out of the world.
        hedged: whether it is only supposed.
        edge: the token where the clause begins.
    """

    subject: Subject | None
    open: bool
    negative: bool
    past: bool
    modal: str
    hedged: bool
    edge: int


def read_left_context(sentence: TokenizedSentence, at: int) -> LeftContext:
    """Read what stands before a place: helping words, then the subject.

    Args:
        at: the place, a token's number.

    Returns:
        What was found, within a few words.
    """
    lows, lists = sentence.lows, word_lists()
    negative = past = hedged = False
    modal = ""
    i = at - 1
    while i >= sentence.begin and at - i <= _FAR:
        low = lows[i]
        if low in lists.sets["neg"]:
            negative = True
        if low in lists.sets["hedge"]:
            hedged = True
        if low == "to" and i > 0 and lows[i - 1] in ("used", "use"):
            past, i = True, i - 2
            continue
        if low in lists.sets["modal"] or low == "'d":
            modal = modal or low
        if not _passes(sentence, i) and not (i == at - 1 and low in ("a", "an", "such")):
            break
        past = past or low in ("formerly", "previously", "originally")
        i -= 1
    subject, is_open = _subject_at(sentence, i)
    return LeftContext(subject, is_open, negative, past, modal, hedged, max(i, sentence.begin))


def _passes(sentence: TokenizedSentence, i: int) -> bool:
    lists, low = word_lists(), sentence.lows[i]
    if low == "'s":  # "she's allergic" is passed, "Anna's budget" is not: the owner's reading takes that one
        return True
    return (
        low in lists.sets["aux"]
        or low in lists.sets["adverb"]
        or low in lists.sets["neg"]
        or low in lists.sets["hedge"]
    )


def _subject_at(sentence: TokenizedSentence, i: int) -> tuple[Subject | None, bool]:
    """The subject whose last word is token `i`."""
    lows, lists = sentence.lows, word_lists()
    if i < sentence.begin:
        return None, True
    low, token = lows[i], sentence.tokens[i]
    if token.quoted:
        return None, False
    if low in ("i", "we", "us") and (low != "us" or "both" in lows[max(0, i - 3) : i]):
        return Subject(USER, USER, i, i + 1), False
    if low in lists.sets["third"] or low == "it":
        return Subject(low, "third", i, i + 1), False
    if low in word_lists().sets["subject_at"]:
        return None, True
    if low == ",":
        named = _apposition(sentence, i)
        return (named, False) if named else (None, True)
    return read_name_at(sentence, i), False


def _apposition(sentence: TokenizedSentence, comma: int) -> Subject | None:
    """The subject of "Gran, Hedwig, was ..." and "Olin, the baker, has ..."."""
    j = comma - 1
    while j > sentence.begin and comma - j <= 7 and sentence.lows[j] != ",":
        j -= 1
    if j <= sentence.begin or sentence.lows[j] != "," or comma - j < 2:
        return None
    inner = sentence.tokens[j + 1]
    if inner.cap and sentence.lows[j + 1] not in word_lists().sets["notname"] and comma - j - 1 <= _LONGEST_NAME:
        head = read_name_at(sentence, j - 1)
        name = read_name_at(sentence, comma - 1)
        return name if head and head.kind in ("person", "name") and name and name.kind == "name" else None
    if sentence.lows[j + 1] in word_lists().sets["apposition"]:
        return read_name_at(sentence, j - 1)
    return None


def read_name_at(sentence: TokenizedSentence, last: int, least: int = 0) -> Subject | None:
    """The name or noun phrase that ends with token `last`.

    Args:
        last: its last token.
        least: the first token it may begin with.

    Returns:
        The subject, without article; a relative keeps its `my`. None where no such phrase ends there.
    """
    if last < 0 or not sentence.tokens[last].word:
        return None
    lows, lists = sentence.lows, word_lists()
    if (
        lows[last] in lists.sets["stop"] | lists.sets["det"]
        or lows[last] in lists.sets["finite"]
        or sentence.tokens[last].quoted
    ):
        return None
    if lows[last] in lists.sets["adverb"] and not sentence.tokens[last].cap:
        return None
    if lows[last] == "user":
        return Subject(USER, USER, last, last + 1)
    first = _phrase_start(sentence, last, max(least, sentence.begin))
    if first is None:
        return None
    name = _name_start(sentence, first, last)
    if name is not None:
        return name
    return _noun_phrase(sentence, first, last)


def _phrase_start(sentence: TokenizedSentence, last: int, least: int) -> int | None:
    lows, lists = sentence.lows, word_lists()
    i = last
    while i >= least and last - i < 9:
        low, token = lows[i], sentence.tokens[i]
        link = low in word_lists().sets["phrase_start.marks"] or low in word_lists().sets["phrase_start.prepositions"]
        if not link and (not token.word or (i < last and low in lists.sets["conj"])):
            break
        if token.hidden or low in lists.sets["finite"] or low in word_lists().sets["phrase_start.speakers"]:
            break
        if low in lists.sets["stop"] and low not in ("this", "that", "these"):
            break
        i -= 1
    else:
        if i >= least:
            return None
    i += 1
    while i <= last and lows[i] in word_lists().sets["phrase_start"]:
        i += 1
    return i if i <= last else None


def _name_start(sentence: TokenizedSentence, first: int, last: int) -> Subject | None:
    """A run of capitalised words at the end of the phrase, if it names somebody or something."""
    lists = word_lists()
    i = last
    while i >= first and last - i < _LONGEST_NAME:
        token, low = sentence.tokens[i], sentence.lows[i]
        linked = low in word_lists().sets["name_links_subject"] and i > first and sentence.tokens[i - 1].cap
        if not (token.cap or linked or (token.text[:1].isdigit() and i == last)) or low in lists.sets["det"]:
            break
        i -= 1
    i += 1
    if i > last or not sentence.tokens[i].cap or sentence.lows[last] in lists.sets["notname"]:
        return None
    if sentence.lows[last] in lists.sets["kinname"] and i == last:
        return Subject(_with_poss(sentence, first, last), "person", i, last + 1)
    before = sentence.lows[first:i]
    if any(word in word_lists().sets["name_start"] or word == "'s" for word in before) or (
        before and not _introduces(before)
    ):
        return None
    return _whole_name(sentence, first, i, last)


def _whole_name(sentence: TokenizedSentence, first: int, i: int, last: int) -> Subject | None:
    """The name from token `i`, unless it is a common noun with the capital of a sentence."""
    lists, low = word_lists(), sentence.lows[i]
    if i == last and i == first and low in lists.sets["notname"]:
        return None
    if low in lists.sets["idtype"] and i < last and _coded(sentence.lows[last]):
        i += 1
    if low in word_lists().sets["titles"] and i == last:
        return None
    common = i == first and i == sentence.begin and i < last and not sentence.tokens[last].cap
    if common or (i == last and i == first and _common_noun(sentence, i)):
        return None
    return Subject(sentence.slice(i, last + 1), "name", i, last + 1)


def _coded(low: str) -> bool:
    """Whether a word is a code that names by itself (`web-88`)."""
    return any(sign.isdigit() for sign in low) and any(sign.isalpha() for sign in low)


def _common_noun(sentence: TokenizedSentence, i: int) -> bool:
    """Whether a word at the start of a sentence is a common noun that only got its capital there."""
    lists, low = word_lists(), sentence.lows[i]
    return any(low in lists.sets[name] for name in word_lists().sets["common_noun"])


def _introduces(before: list[str]) -> bool:
    """`my brother`, `our colleague`, `my old friend`: a description that a name follows."""
    lists = word_lists()
    if before[-1] in lists.sets["det"] or before[-1] in ("and", "both"):
        return len(before) == 1
    known = before[-1] in lists.sets["kin"] or before[-1] in lists.sets["person"] or before[-1] in lists.sets["job"]
    family = before[-1] in lists.sets["partner"] or before[-1] in lists.sets["child"] or before[-1] in lists.sets["pet"]
    return known or family or before[-1] in lists.sets["idtype"]


def _noun_phrase(sentence: TokenizedSentence, first: int, last: int) -> Subject | None:
    lows, lists = sentence.lows, word_lists()
    head = lows[last]
    for place in range(first, last + 1):
        if lows[place] in word_lists().sets["noun_phrase.prepositions"] and place > first:
            head = lows[place - 1]
            break
    owned = lows[first] in lists.sets["poss"]
    people = any(head in lists.sets[name] for name in word_lists().sets["noun_phrase.people"])
    if head in ("user",):
        return Subject(USER, USER, first, last + 1)
    if people and (
        owned or head in lists.sets["kinname"] or lows[first] in ("the", "a", "an") or "'s" in lows[first:last]
    ):
        return Subject(_with_poss(sentence, first, last), "person", first, last + 1)
    if people or lows[first] in ("his", "her", "their") or head in lists.sets["pet"]:
        return (
            Subject(sentence.slice(first, last + 1), "person", first, last + 1) if head in lists.sets["pet"] else None
        )
    while first < last and lows[first] in lists.sets["det"]:
        first += 1
    if lows[first] == "user" and first + 1 < last and lows[first + 1] == "'s":
        first += 2
    if first < last and lows[first] in lists.sets["idtype"] and _coded(lows[last]):
        first += 1
    if lows[first] in lists.sets["det"] or lows[first] in lists.sets["stop"]:
        return None
    return Subject(sentence.slice(first, last + 1), "thing", first, last + 1)


def _with_poss(sentence: TokenizedSentence, first: int, last: int) -> str:
    lows = sentence.lows
    while first < last and lows[first] in ("the", "a", "an", "both"):
        first += 1
    return sentence.slice(first, last + 1)


def read_owner(sentence: TokenizedSentence, at: int) -> tuple[Subject | None, bool]:
    """Whose noun it is: `my`, `Anna's`, `the kitchen's`, or nobody's.

    Args:
        at: where the noun begins.

    Returns:
        The owner if one stands there, and whether the place before the noun is open (the noun opens the clause).
    """
    lows, lists = sentence.lows, word_lists()
    i = at - 1
    while i >= sentence.begin and at - i <= 3 and lows[i] in word_lists().sets["owner_before.adjectives"]:
        i -= 1
    if i < sentence.begin:
        return None, True
    low = lows[i]
    if low in ("my", "our"):
        return Subject(USER, USER, i, i + 1), False
    if low in lists.sets["poss"]:
        return Subject(low, "third", i, i + 1), False
    if low == "'s" or (low == "'" and i > 0 and lows[i - 1].endswith("s")):
        return (read_name_at(sentence, i - 1) if i > 0 else None), False
    if low == "the":
        before = lows[i - 1] if i > sentence.begin else ";"
        return None, before in word_lists().sets["owner_before.article_openers"]
    return None, low in word_lists().sets["owner_before.openers"]
