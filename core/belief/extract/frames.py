"""Finds ways of saying a claim among the words of a sentence, reads the claim they make, and whose claim it is.

The frames and predicates are `resources/claims/frames.json`. Every step looks at a bounded number of words: a frame has
at most two gaps of `_GAP` words, so the work grows with the length of the sentence and never faster. Must not do: read
a kind of value (`person_values` and `thing_values` do).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from core.belief.extract.person_values import PERSON_READERS, Reader
from core.belief.extract.sentence import Run, TokenizedSentence, claim_word_lists, is_relation, load_vocabulary_file
from core.belief.extract.thing_values import THING_READERS

USER = "user"
THING_PREDICATES = frozenset(("budget_is", "status_is", "version_is", "deadline_is", "located_at"))
"""What is claimed of things rather than of people."""
_FAR = 12
_LONGEST_NAME = 5
_GAP = 5
_MOST_ADVERBS = 3
_TAKES: dict[str, Reader] = {**PERSON_READERS, **THING_READERS}
_KINDS = {
    "org": "orgcap",
    "orglater": "orgcap",
    "ownname": "name",
    "toolrun": "toolcap",
    "tool": "toolcap",
    "toolin": "toolcap",
    "toollabel": "toolcap",
    "placesince": "place",
    "age": "agebare",
    "ageturn": "agebare",
    "condsure": "cond",
}


@dataclass(frozen=True)
class Frame:
    """One way of saying a claim: words to look for, whose claim it is, what to take.

    Attributes:
        predicate: what it claims.
        words: the words to look for, each a set of alternatives; the first decides where to look.
        optional: for each of `claim_word_lists`, whether it may be missing.
        take: the kind of value.
        who: who may be the subject: `person`, `thing`, `any` or `user`.
        mode: `state`, `start` or `end`, for what a stated time means.
        left: whether the value stands before the words.
        negative: whether the words deny the claim.
        bare: whether it may open a sentence without a subject although it reads like a command.
        turned: the predicate a negation makes of it, if not a denial (`likes` to `dislikes`).
        modal: whether "can", "will" and the like may stand before it.
        subjectless: whether it needs no subject at all and means the speaker.
    """

    predicate: str
    words: tuple[frozenset[str], ...]
    optional: tuple[bool, ...]
    take: str
    who: str = "person"
    mode: str = "state"
    left: bool = False
    negative: bool = False
    bare: bool = False
    turned: str = ""
    modal: bool = False
    subjectless: bool = False

    @cached_property
    def second(self) -> frozenset[str]:
        """What must stand close behind its first word; empty where its second may be missing or is any word."""
        must_follow = len(self.words) > 1 and not self.optional[1] and "~" not in self.words[1]
        return self.words[1] if must_follow else frozenset()


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


@dataclass(frozen=True, slots=True)
class FrameMatch:
    """One claim found in a sentence.

    Attributes:
        subject: whose claim it is; `third` where a pronoun names it, None where the note leaves it out.
        predicate: what it claims.
        run: the tokens of its value.
        negative: whether it is denied.
        mode: `state`, `start` or `end`.
        at: the token of the words that make it.
    """

    subject: Subject | None
    predicate: str
    run: Run
    negative: bool
    mode: str
    at: int


@cache
def load_frames() -> Mapping[str, tuple[Frame, ...]]:
    """Frames by the words that may begin them (`resources/claims/frames.json`)."""
    table: dict[str, list[Frame]] = {}
    for predicate, ways in load_vocabulary_file("frames.json")["frames"].items():
        for way in ways:
            for spelled in way["on"]:
                for frame in _make_frames(predicate, way, spelled):
                    for first in frame.words[0]:
                        table.setdefault(first, []).append(frame)
    return {first: tuple(sorted(found, key=lambda one: -len(one.words))) for first, found in table.items()}


@cache
def load_exclusivity() -> Mapping[str, bool]:
    """For each predicate of the vocabulary, whether only one value can hold at a time."""
    loaded: dict[str, bool] = load_vocabulary_file("frames.json")["predicates"]
    return loaded


def predicate_names() -> tuple[str, ...]:
    """The names of the vocabulary's predicates, in its order."""
    return tuple(load_exclusivity())


def read_left_context(sentence: TokenizedSentence, at: int) -> LeftContext:
    """Read what stands before a place: helping words, then the subject.

    Args:
        at: the place, a token's number.

    Returns:
        What was found, within a few words.
    """
    lows, lists = sentence.lows, claim_word_lists()
    negative = past = hedged = False
    modal = ""
    i = at - 1
    while i >= sentence.begin and at - i <= _FAR:
        low = lows[i]
        if low in lists.sets["neg"]:
            negative = True
        hedged = hedged or low in lists.sets["hedge"] or (low in lists.sets["short_of"] and i == at - 1)
        if low == "to" and i > 0 and lows[i - 1] in ("used", "use"):
            past, i = True, i - 2
            continue
        if low in lists.sets["modal"] or low == "'d":
            modal = modal or low
        if not _may_be_skipped(sentence, i) and not (i == at - 1 and low in ("a", "an", "such")):
            break
        past = past or low in ("formerly", "previously", "originally")
        i -= 1
    subject, is_open = _subject_at(sentence, i)
    return LeftContext(subject, is_open, negative, past, modal, hedged, max(i, sentence.begin))


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
    lows, lists = sentence.lows, claim_word_lists()
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


def read_owner(sentence: TokenizedSentence, at: int) -> tuple[Subject | None, bool]:
    """Whose noun it is: `my`, `Anna's`, `the kitchen's`, or nobody's.

    Args:
        at: where the noun begins.

    Returns:
        The owner if one stands there, and whether the place before the noun is open (the noun opens the clause).
    """
    lows, lists = sentence.lows, claim_word_lists()
    i = at - 1
    while i >= sentence.begin and at - i <= 3 and lows[i] in claim_word_lists().sets["owner_before.adjectives"]:
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
        return None, before in claim_word_lists().sets["owner_before.article_openers"]
    return None, low in claim_word_lists().sets["owner_before.openers"]


def match_frames(sentence: TokenizedSentence) -> Iterator[FrameMatch]:
    """The claims that frames find, in the order of the text.

    Args:
        sentence: a sentence whose phrases of time are hidden.

    Yields:
        Claims; a claim may come twice, in two ways of finding it.
    """
    table = load_frames()
    for i, token in enumerate(sentence.tokens):
        if token.hidden or token.quoted or i < sentence.begin:
            continue
        near = sentence.lows[i + 1 : i + 2 + _MOST_ADVERBS]
        for frame in table.get(token.low, ()):
            if frame.second and frame.second.isdisjoint(near):
                continue
            after = _match_frame(frame, 0, sentence, i)
            if after is not None:
                yield from _read_matches(frame, sentence, i, after)


def _make_frames(predicate: str, way: Mapping[str, Any], spelled: str) -> list[Frame]:
    """A way whose first words may be missing is found by each word that may come first."""
    parts = spelled.split()
    found = [_make_frame(predicate, way, " ".join(parts).replace("?", "", 1) if parts[0].endswith("?") else spelled)]
    while parts[0].endswith("?"):
        parts = parts[1:]
        rest = " ".join(parts)
        found.append(_make_frame(predicate, way, rest.replace("?", "", 1) if parts[0].endswith("?") else rest))
    return found


def _make_frame(predicate: str, way: Mapping[str, Any], spelled: str) -> Frame:
    parts: list[frozenset[str]] = []
    optional: list[bool] = []
    for part in spelled.split():
        optional.append(part.endswith("?"))
        parts.append(frozenset(_expand_alternatives(part.removesuffix("?"))))
    known = {key: way[key] for key in Frame.__dataclass_fields__ if key in way and key not in ("words", "optional")}
    return Frame(predicate=predicate, words=tuple(parts), optional=tuple(optional), **known)


def _expand_alternatives(part: str) -> set[str]:
    if part.startswith("~"):
        return {"~"}
    out: set[str] = set()
    for word in part.split("|"):
        out |= claim_word_lists().sets[word[1:]] if word.startswith("@") else {word.replace("_", " ")}
    return out


def _may_be_skipped(sentence: TokenizedSentence, i: int) -> bool:
    lists, low = claim_word_lists(), sentence.lows[i]
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
    lows, lists = sentence.lows, claim_word_lists()
    if i < sentence.begin:
        return None, True
    low, token = lows[i], sentence.tokens[i]
    if token.quoted:
        return None, False
    if low in ("i", "we", "us") and (low != "us" or "both" in lows[max(0, i - 3) : i]):
        return Subject(USER, USER, i, i + 1), False
    if low in lists.sets["third"] or low == "it":
        return Subject(low, "third", i, i + 1), False
    if low in claim_word_lists().sets["subject_at"]:
        return None, True
    if low == ",":
        named = _read_apposition(sentence, i)
        return (named, False) if named else (None, True)
    return read_name_at(sentence, i), False


def _read_apposition(sentence: TokenizedSentence, comma: int) -> Subject | None:
    """The subject of "Gran, Hedwig, was ...", "Olin, the baker, has ..." and "Amina, Wilf's mother, is ..."."""
    j = comma - 1
    while j > sentence.begin and comma - j <= 7 and sentence.lows[j] != ",":
        j -= 1
    if j <= sentence.begin or sentence.lows[j] != "," or comma - j < 2:
        return None
    inner = sentence.tokens[j + 1]
    if is_relation(sentence, (j + 1, comma)):
        head = read_name_at(sentence, j - 1)
        return head if head and head.kind in ("person", "name") else None
    if inner.cap and sentence.lows[j + 1] not in claim_word_lists().sets["notname"] and comma - j - 1 <= _LONGEST_NAME:
        head = read_name_at(sentence, j - 1)
        name = read_name_at(sentence, comma - 1)
        return name if head and head.kind in ("person", "name") and name and name.kind == "name" else None
    if sentence.lows[j + 1] in claim_word_lists().sets["apposition"]:
        return read_name_at(sentence, j - 1)
    return None


def _phrase_start(sentence: TokenizedSentence, last: int, least: int) -> int | None:
    lows, lists = sentence.lows, claim_word_lists()
    i = last
    while i >= least and last - i < 9:
        low, token = lows[i], sentence.tokens[i]
        link = (
            low in claim_word_lists().sets["phrase_start.marks"]
            or low in claim_word_lists().sets["phrase_start.prepositions"]
        )
        if not link and (not token.word or (i < last and low in lists.sets["conj"])):
            break
        if token.hidden or low in lists.sets["finite"] or low in claim_word_lists().sets["phrase_start.speakers"]:
            break
        if low in lists.sets["stop"] and low not in ("this", "that", "these"):
            break
        i -= 1
    else:
        if i >= least:
            return None
    i += 1
    while i <= last and lows[i] in claim_word_lists().sets["phrase_start"]:
        i += 1
    return i if i <= last else None


def _name_start(sentence: TokenizedSentence, first: int, last: int) -> Subject | None:
    """A run of capitalised words at the end of the phrase, if it names somebody or something."""
    lists = claim_word_lists()
    i = last
    while i >= first and last - i < _LONGEST_NAME:
        token, low = sentence.tokens[i], sentence.lows[i]
        linked = low in claim_word_lists().sets["name_links_subject"] and i > first and sentence.tokens[i - 1].cap
        if not (token.cap or linked or (token.text[:1].isdigit() and i == last)) or low in lists.sets["det"]:
            break
        i -= 1
    i += 1
    if i > last or not sentence.tokens[i].cap or sentence.lows[last] in lists.sets["notname"]:
        return None
    if sentence.lows[last] in lists.sets["kinname"] and i == last:
        return Subject(_with_poss(sentence, first, last), "person", i, last + 1)
    before = sentence.lows[first:i]
    if any(word in claim_word_lists().sets["name_start"] or word == "'s" for word in before) or (
        before and not _is_introduction(before)
    ):
        return None
    return _whole_name(sentence, first, i, last)


def _whole_name(sentence: TokenizedSentence, first: int, i: int, last: int) -> Subject | None:
    """The name from token `i`, unless it is a common noun with the capital of a sentence."""
    lists, low = claim_word_lists(), sentence.lows[i]
    if i == last and i == first and low in lists.sets["notname"]:
        return None
    if low in lists.sets["idtype"] and i < last and _is_code_word(sentence.lows[last]):
        i += 1
    if i < last and i == sentence.begin and (low in lists.sets["endearments"] or _is_kin_before_name(sentence, i)):
        i += 1
    if low in claim_word_lists().sets["titles"] and i == last:
        return None
    common = i == first and i == sentence.begin and i < last and not sentence.tokens[last].cap
    if common or (i == last and i == first and _common_noun(sentence, i)):
        return None
    return Subject(sentence.text_between(i, last + 1), "name", i, last + 1)


def _is_kin_before_name(sentence: TokenizedSentence, i: int) -> bool:
    """Whether "Grandson Theo" begins the sentence, who is "my grandson Theo" elsewhere; "Aunt May" is called that."""
    lists, low = claim_word_lists(), sentence.lows[i]
    is_kin = any(low in lists.sets[name] for name in ("kin", "child", "person")) and low not in lists.sets["kinname"]
    return is_kin and low != USER and sentence.tokens[i + 1].cap and not _is_code_word(sentence.lows[i + 1])


def _is_code_word(low: str) -> bool:
    """Whether a word is a code that names by itself (`web-88`)."""
    return any(sign.isdigit() for sign in low) and any(sign.isalpha() for sign in low)


def _common_noun(sentence: TokenizedSentence, i: int) -> bool:
    """Whether a word at the start of a sentence is a common noun that only got its capital there."""
    lists, low = claim_word_lists(), sentence.lows[i]
    return any(low in lists.sets[name] for name in claim_word_lists().sets["common_noun"])


def _is_introduction(before: list[str]) -> bool:
    """`my brother`, `our colleague`, `my old friend`: a description that a name follows."""
    lists = claim_word_lists()
    if before[-1] in lists.sets["det"] or before[-1] in ("and", "both"):
        return len(before) == 1
    known = before[-1] in lists.sets["kin"] or before[-1] in lists.sets["person"] or before[-1] in lists.sets["job"]
    family = before[-1] in lists.sets["partner"] or before[-1] in lists.sets["child"] or before[-1] in lists.sets["pet"]
    return known or family or before[-1] in lists.sets["idtype"]


def _noun_phrase(sentence: TokenizedSentence, first: int, last: int) -> Subject | None:
    lows, lists = sentence.lows, claim_word_lists()
    head = lows[last]
    for place in range(first, last + 1):
        if lows[place] in claim_word_lists().sets["noun_phrase.prepositions"] and place > first:
            head = lows[place - 1]
            break
    owned = lows[first] in lists.sets["poss"]
    people = any(head in lists.sets[name] for name in claim_word_lists().sets["noun_phrase.people"])
    if head in ("user",):
        return Subject(USER, USER, first, last + 1)
    if people and (
        owned or head in lists.sets["kinname"] or lows[first] in ("the", "a", "an") or "'s" in lows[first:last]
    ):
        return Subject(_with_poss(sentence, first, last), "person", first, last + 1)
    if people or lows[first] in ("his", "her", "their") or head in lists.sets["pet"]:
        return (
            Subject(sentence.text_between(first, last + 1), "person", first, last + 1)
            if head in lists.sets["pet"]
            else None
        )
    while first < last and lows[first] in lists.sets["det"]:
        first += 1
    first = _begin_behind_user(lows, first, last)
    if first < last and lows[first] in lists.sets["idtype"] and _is_code_word(lows[last]):
        first += 1
    if lows[first] in lists.sets["det"] or lows[first] in lists.sets["stop"]:
        return None
    return Subject(sentence.text_between(first, last + 1), "thing", first, last + 1)


def _with_poss(sentence: TokenizedSentence, first: int, last: int) -> str:
    lows = sentence.lows
    while first < last and lows[first] in ("the", "a", "an", "both"):
        first += 1
    return sentence.text_between(_begin_behind_user(lows, first, last), last + 1)


def _begin_behind_user(lows: Sequence[str], first: int, last: int) -> int:
    """Where a noun begins that is the user's: "the user's daughter" is whom the user calls "my daughter"."""
    return first + 2 if lows[first] == "user" and first + 1 < last and lows[first + 1] == "'s" else first


def _match_frame(frame: Frame, k: int, sentence: TokenizedSentence, j: int) -> int | None:
    """Where the words of a frame end that begin at token `j` with its word `k`; None if they do not stand there."""
    lows = sentence.lows
    if k == len(frame.words):
        return j
    alternatives = frame.words[k]
    if "~" in alternatives:
        return _fit_gap(frame, k, sentence, j)
    if j < len(lows) and lows[j] in alternatives:
        found = _match_frame(frame, k + 1, sentence, j + 1)
        if found is not None:
            return found
    if frame.optional[k]:
        return _match_frame(frame, k + 1, sentence, j)
    step = _skip_adverbs(sentence, j) if k else j
    return (
        _match_frame(frame, k, sentence, step) if step > j and step < len(lows) and lows[step] in alternatives else None
    )


def _fit_gap(frame: Frame, k: int, sentence: TokenizedSentence, j: int) -> int | None:
    least = 0 if frame.optional[k] else 1
    for width in range(least, _GAP + 1):
        if j + width > len(sentence.tokens) or any(not token.word for token in sentence.tokens[j : j + width]):
            return None
        found = _match_frame(frame, k + 1, sentence, j + width)
        if found is not None:
            return found
    return None


def _skip_adverbs(sentence: TokenizedSentence, j: int) -> int:
    """Step over at most three adverbs and denials."""
    known = claim_word_lists().sets
    stop = min(len(sentence.lows), j + _MOST_ADVERBS)
    while j < stop and (sentence.lows[j] in known["adverb"] or sentence.lows[j] in known["neg"]):
        j += 1
    return j


def _read_matches(frame: Frame, sentence: TokenizedSentence, at: int, after: int) -> Iterator[FrameMatch]:
    reader = _TAKES.get(frame.take)
    if reader is None:
        return
    if frame.left:
        yield from _from_left(frame, sentence, at, reader)
        return
    holder, after = (
        _read_object(sentence, at, after)
        if frame.who == "object"
        else (_read_holder(frame, sentence, at, after), after)
    )
    if holder is None:
        return
    subject, negative, mode = holder
    begin = after if reader(sentence, after) else _skip_adverbs(sentence, after)
    if begin > after and not claim_word_lists().sets["short_of"].isdisjoint(sentence.lows[after:begin]):
        return
    if begin > after:
        negative = negative or any(low in claim_word_lists().sets["neg"] for low in sentence.lows[after:begin])
    if begin < len(sentence.lows) and sentence.lows[begin] in ("neither", "no") and frame.take in ("lang", "list"):
        negative, begin = True, begin + 1
    if frame.take in ("tooltwo", "toolswap"):
        yield from _match_replacement(frame, sentence, at, begin, subject)
        return
    taken = reader(sentence, begin) if begin < len(sentence.lows) else []
    yield from _make_matches(frame, sentence, at, taken, subject, negative=negative, mode=mode)


def _match_replacement(
    frame: Frame, sentence: TokenizedSentence, at: int, begin: int, subject: Subject | None
) -> Iterator[FrameMatch]:
    """`switched from Jira to Linear`: one tool ends, another begins."""
    reader = _TAKES["toolcap"]
    old = reader(sentence, begin)
    if len(old) != 1 or old[0][1] >= len(sentence.lows) or sentence.lows[old[0][1]] not in ("to", "with", "by", "for"):
        return
    new = reader(sentence, old[0][1] + 1)
    known = claim_word_lists().sets["tool"]
    if sentence.lows[at] in ("moved", "went", "changed") and sentence.lows[old[0][0]] not in known:
        return
    if new:
        yield FrameMatch(subject, frame.predicate, old[0], negative=False, mode="end", at=at)
        yield FrameMatch(subject, frame.predicate, new[0], negative=False, mode="start", at=at)


def _make_matches(
    frame: Frame,
    sentence: TokenizedSentence,
    at: int,
    taken: Sequence[Run],
    subject: Subject | None,
    *,
    negative: bool,
    mode: str,
) -> Iterator[FrameMatch]:
    predicate = frame.predicate
    if negative and frame.turned:
        if frame.turned == "-":
            return
        predicate, negative = frame.turned, False
    for run in taken:
        if (
            not frame.left
            and sentence.lows[run[1] : run[1] + 1]
            and sentence.lows[run[1]] in claim_word_lists().sets["standing"]
        ):
            continue
        yield FrameMatch(subject, predicate, run, negative, mode, at)
        if (
            predicate == "job_title_is"
            and not negative
            and sentence.lows[run[1] : run[1] + 1] in (["at"], ["for"], ["with"])
        ):
            for place in _TAKES["orgcap"](sentence, run[1] + 1)[:1]:
                yield FrameMatch(subject, "works_at", place, negative=False, mode=mode, at=at)
    if taken and not negative and frame.take in claim_word_lists().sets["same_kind"]:
        for run in _read_denied_values(frame, sentence, taken[-1][1]):
            yield FrameMatch(subject, predicate, run, negative=True, mode="state", at=at)


def _read_denied_values(frame: Frame, sentence: TokenizedSentence, after: int) -> list[Run]:
    """B in "A, not B" and "A, for the record, not B"."""
    lows = sentence.lows
    for j in range(after, min(after + 8, len(lows) - 1)):
        if lows[j] in claim_word_lists().sets["denied.ends"]:
            break
        if lows[j] == "not" and j > 0 and lows[j - 1] in claim_word_lists().sets["denied.before"]:
            reader = _TAKES[_KINDS.get(frame.take, frame.take)]
            found = reader(sentence, j + 1)
            if lows[j + 1] in claim_word_lists().sets["denied.fillers"]:
                found = found or reader(sentence, j + 2)
            return found
    return []


def _read_holder(
    frame: Frame, sentence: TokenizedSentence, at: int, after: int
) -> tuple[Subject | None, bool, str] | None:
    """Whose claim a frame makes, whether it is denied, and its mode; None if it makes none here."""
    lows = sentence.lows
    negative = frame.negative or any(
        low in claim_word_lists().sets["neg"] for low in lows[at:after] if frame.predicate != "dislikes"
    )
    if frame.who == "owner":
        owner = _read_owner_at(sentence, at, things=frame.predicate == "goal_is")
        if owner and owner.kind == "thing" and owner.text.split()[-1].lower() in claim_word_lists().sets["times"]:
            owner = Subject(USER, USER)
        if owner and frame.predicate == "name_is" and _family_word(sentence, at):
            return None
        is_past = any(low in ("was", "were", "wasn't") for low in lows[at:after])
        return None if owner is None else (owner, negative, "past" if is_past else frame.mode)
    if frame.who == "never":
        return None
    if frame.subjectless:
        is_users = (
            lows[at] in claim_word_lists().sets["holder"]
            or lows[after - 1] in ("me",)
            or _is_clause_start(sentence, at)
        )
        return (Subject(USER, USER), negative, frame.mode) if is_users else None
    if lows[at] == "like" and at > sentence.begin and lows[at - 1] in claim_word_lists().sets["preposed"]:
        return None
    left = read_left_context(sentence, at)
    if frame.predicate == "name_is" and left.subject and _family_word(sentence, left.subject.after):
        return None
    mode = _mode_of(frame, sentence, at, left)
    if mode is None or not _is_fit(frame, sentence, at, left):
        return None
    return left.subject, negative or left.negative, mode


def _read_object(
    sentence: TokenizedSentence, at: int, after: int
) -> tuple[tuple[Subject | None, bool, str] | None, int]:
    """Whom something is done to (`diagnosed Otto with`, `put me on`), and where that ends."""
    last = after
    while last < len(sentence.lows) and last - after < 4 and sentence.lows[last] not in ("with", "on"):
        last += 1
    if last >= len(sentence.lows) or sentence.lows[last] not in ("with", "on") or last == after:
        return None, after
    low = sentence.lows[after]
    subject = Subject(USER, USER) if low in ("me", "us") else read_name_at(sentence, last - 1, after)
    if low in ("him", "her") and last == after + 1:
        subject = Subject(low, "third")
    left = read_left_context(sentence, at)
    if subject is None or left.hedged or left.negative or left.modal:
        return None, after
    return (subject, False, "start"), last + 1


def _family_word(sentence: TokenizedSentence, at: int) -> bool:
    """Whether it is the name of a partner, a child or an animal, which says more than `name_is`."""
    known = claim_word_lists().sets
    before = sentence.lows[max(0, at - 2) : at]
    return any(low in known[name] for low in before for name in claim_word_lists().sets["family_word"])


def _read_owner_at(sentence: TokenizedSentence, at: int, *, things: bool) -> Subject | None:
    if sentence.lows[at] in ("my", "our"):
        return Subject(USER, USER, at, at + 1)
    if sentence.lows[at] in claim_word_lists().sets["poss"]:
        return Subject(sentence.lows[at], "third", at, at + 1)
    owner, is_open = read_owner(sentence, at)
    if owner is not None:
        return owner if things or owner.kind != "thing" else None
    return Subject(USER, USER) if is_open else None


def _is_clause_start(sentence: TokenizedSentence, at: int) -> bool:
    before = sentence.lows[at - 1] if at > sentence.begin else ";"
    return before in claim_word_lists().sets["opens"]


def _mode_of(frame: Frame, sentence: TokenizedSentence, at: int, left: LeftContext) -> str | None:
    """Whether it holds, began or ended; None for what is told as past without saying so."""
    if left.past:
        return "end"
    low = sentence.lows[at]
    if low in claim_word_lists().sets["plain_past"] and frame.mode == "state":
        before = sentence.lows[left.edge : at]
        helped = any(word in claim_word_lists().sets["mode"] for word in before)
        going = low.endswith("ing") and left.open
        return "state" if (helped or going) and low not in ("was", "were") else "past"
    return frame.mode


def _is_fit(frame: Frame, sentence: TokenizedSentence, at: int, left: LeftContext) -> bool:
    if left.hedged or (left.modal and not frame.modal and not (left.modal == "'d" and frame.take == "rather")):
        return False
    subject = left.subject
    if subject is not None and frame.predicate == "lives_in" and _is_plural_noun(sentence, at, subject):
        return False
    if subject is None:
        if not left.open:
            return False
        first = at <= sentence.begin
        if (
            frame.predicate in ("likes", "dislikes")
            and not first
            and sentence.lows[at - 1] in claim_word_lists().sets["fits.joined"]
        ):
            return sentence.lows[at] in claim_word_lists().sets["fits.feelings"] or (
                sentence.lows[at] in claim_word_lists().sets["fits.spoken_feelings"]
                and bool({"i", "we"} & set(sentence.lows[:at]))
            )
        return (
            frame.bare
            or not first
            or sentence.lows[at]
            not in claim_word_lists().sets["commands"]
            | claim_word_lists().sets["skillverb"]
            | claim_word_lists().sets["fits.plain_verbs"]
            or sentence.lows[at] in ("has",)
        )
    kinds = {
        "person": ("user", "person", "name", "third"),
        "any": claim_word_lists().sets["fits.kinds"],
        "user": ("user",),
        "thing": ("thing", "name", "third"),
    }
    return subject.kind in kinds[frame.who] and subject.text not in ("it",)


def _is_plural_noun(sentence: TokenizedSentence, at: int, subject: Subject) -> bool:
    """Whether one name stands before "live" or "are": backups that live on a disk, and nobody."""
    is_joined = subject.first > 0 and sentence.lows[subject.first - 1] in claim_word_lists().sets["and"]
    is_one = subject.kind == "name" and not is_joined and not set(subject.text.lower().split()) & {"and", "&"}
    return is_one and subject.text.endswith("s") and sentence.lows[at] in ("live", "reside", "dwell")


def _from_left(frame: Frame, sentence: TokenizedSentence, at: int, reader: Reader) -> Iterator[FrameMatch]:
    """The claim of a frame whose value stands before its words."""
    lows = sentence.lows
    first = at
    while (
        first > sentence.begin
        and at - first < 9
        and (sentence.tokens[first - 1].word or lows[first - 1] in ("&", "'s", "'"))
    ):
        if sentence.tokens[first - 1].hidden:
            break
        first -= 1
    if lows[first] in claim_word_lists().sets["from_left.joins"]:
        first += 1
    if frame.who == "left" and lows[first] not in ("my", "her", "his", "our"):
        return
    subject = Subject(USER, USER) if lows[first] not in ("her", "his") else Subject(lows[first], "third")
    end = at
    while end > first and lows[end - 1] in claim_word_lists().sets["adverb"]:
        end -= 1
    sentence.tokens[end].hidden = True  # what stands before the words ends there
    taken = reader(sentence, first)
    sentence.tokens[end].hidden = False
    behind = taken[-1][1] if taken else end
    relative = behind < end and lows[behind] in claim_word_lists().sets["from_left.relatives"]
    if taken and (behind == end or relative):
        negative = frame.negative or any(
            low in claim_word_lists().sets["neg"] for low in lows[end : at + 3] if frame.predicate != "dislikes"
        )
        yield from _make_matches(frame, sentence, at, taken, subject, negative=negative, mode=frame.mode)
