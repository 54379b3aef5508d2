"""In which state a piece of work is, and where a thing is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from core.belief.extract.frames import FrameMatch
from core.belief.extract.phrases import Run, capital_run, noun_run, skip
from core.belief.extract.subject import Subject, read_left_context, read_name_at, read_owner
from core.belief.extract.tokens import TokenizedSentence
from core.belief.extract.vocabulary import by_first, load_vocabulary_file, phrase_at, word_lists

_OPEN_ENDED = frozenset(("waiting for", "waiting on", "awaiting", "stuck in"))


@cache
def _phrases() -> Mapping[str, tuple[tuple[str, ...], ...]]:
    return by_first(load_vocabulary_file("states.json")["status"])


@cache
def _sure() -> frozenset[str]:
    return frozenset(load_vocabulary_file("states.json")["sure"])


@cache
def _list(name: str) -> frozenset[str]:
    return frozenset(load_vocabulary_file("states.json")[name])


def states(sentence: TokenizedSentence) -> Iterator[FrameMatch]:
    """In which state a piece of work is (`Project Saltmarsh is on hold`).

    Yields:
        `status_is`.
    """
    lows, table = sentence.lows, _phrases()
    busy = -1
    for i in range(sentence.begin, len(lows)):
        if i <= busy or lows[i] not in table or sentence.tokens[i].quoted:
            continue
        length = phrase_at(table, lows, i)
        if not length:
            continue
        run = _whole(sentence, i, length)
        busy = run[1] - 1
        subject = _state_of(sentence, i, " ".join(lows[i : i + length]))
        if subject is not None and _closes(sentence, run[1]):
            left = read_left_context(sentence, i)
            yield FrameMatch(subject, "status_is", run, left.negative, "state", i)


def _closes(sentence: TokenizedSentence, after: int) -> bool:
    low = sentence.lows[after] if after < len(sentence.lows) else "."
    if low == "by":
        return sentence.lows[after - 1] in ("blocked", "stalled", "halted")
    closers = word_lists().sets["cut"] | word_lists().sets["closes"]
    return (not low[:1].isalnum() and low not in ("&", "'s")) or low in closers


def _whole(sentence: TokenizedSentence, i: int, length: int) -> Run:
    """A state with its object: `waiting for customer`."""
    if " ".join(sentence.lows[i : i + length]) in _OPEN_ENDED:
        run = noun_run(sentence, i + length, stop=word_lists().sets["whole"], most=6)
        return (i, run[1]) if run else (i, i + length)
    return (i, i + length)


def _state_of(sentence: TokenizedSentence, i: int, phrase: str) -> Subject | None:
    lows = sentence.lows
    if i <= sentence.begin:
        return None
    before = i - 1
    while (
        before > sentence.begin and lows[before] in word_lists().sets["adverb"] | word_lists().sets["state_of.fillers"]
    ):
        before -= 1
    if lows[before] in ("status", "state"):
        return None
    if lows[before] in (":", "="):
        return _label(sentence, before, phrase)
    if (
        lows[before] not in word_lists().sets["be_states"] | word_lists().sets["state_of.verbs"]
        and lows[before + 1 : i].count("still") == 0
    ):
        return None
    left = read_left_context(sentence, i)
    if left.modal or left.hedged or lows[before] in ("be", "set", "to", "was"):
        return None
    noun = _status_noun(sentence, before)
    if noun is not None:
        return noun
    subject = left.subject
    if subject is None or subject.kind not in ("thing", "name"):
        return None
    if phrase in _sure() or _project(subject):
        return subject
    return None


def _status_noun(sentence: TokenizedSentence, be: int) -> Subject | None:
    """`the status of the roof is`, `its status is`, `the roof's status is`."""
    lows = sentence.lows
    for c in range(be - 1, max(sentence.begin, be - 8) - 1, -1):
        if lows[c] in ("status", "state"):
            if lows[c + 1] in ("of", "for"):
                return read_name_at(sentence, be - 1, c + 2)
            owner, _ = read_owner(sentence, c)
            return owner if owner is not None and owner.kind != "user" else read_name_at(sentence, c - 1)
    return None


def _label(sentence: TokenizedSentence, colon: int, phrase: str) -> Subject | None:
    begin = sentence.begin
    told = sentence.lows[begin : begin + 2] in (["status", "of"], ["state", "of"])
    named = read_name_at(
        sentence, colon - 2 if sentence.lows[colon - 1] == "status" else colon - 1, begin + 2 if told else 0
    )
    if named is None or named.kind not in ("thing", "name"):
        return None
    return named if phrase in _sure() or _project(named) or sentence.lows[colon - 1] == "status" else None


def _project(subject: Subject) -> bool:
    low = subject.text.lower()
    parts = low.replace("'s", " ").split()
    coded = any(sign.isdigit() for sign in low) and any(sign.isalpha() for sign in low)
    return (
        coded
        or any(part in word_lists().sets["project"] for part in (*parts[:1], *parts[-1:]))
        or any(part.rstrip("s") in word_lists().sets["project"] for part in parts[-1:])
    )


def places(sentence: TokenizedSentence) -> Iterator[FrameMatch]:
    """Where a thing is (`The key hangs in the shed`).

    Yields:
        `located_at`.
    """
    lows = sentence.lows
    for i in range(sentence.begin + 1, len(lows)):
        if lows[i] not in _list("places") or sentence.tokens[i].hidden or sentence.tokens[i].quoted:
            continue
        verb = i - 1
        while verb > sentence.begin and lows[verb] in word_lists().sets["adverb"]:
            verb -= 1
        if lows[verb] not in _list("located") and lows[verb] not in word_lists().sets["places"]:
            continue
        run = _spot(sentence, i)
        if run is None:
            continue
        left = read_left_context(sentence, verb)
        subject = left.subject if lows[verb] != ":" else read_name_at(sentence, verb - 1)
        if lows[verb] in ("keep", "keeps"):
            continue
        if subject is None or left.modal == "would" or left.hedged or not _a_thing(sentence, subject, verb, run):
            continue
        negative = left.negative or lows[verb] in ("isn't", "aren't", "not")
        yield FrameMatch(subject, "located_at", run, negative, "state", verb)


def _a_thing(sentence: TokenizedSentence, subject: Subject, verb: int, run: Run) -> bool:
    """Whether a subject is a thing that is somewhere, and the place a place."""
    low = subject.text.lower().split()
    if subject.kind != "thing":
        named = subject.kind == "name" and low[-1] in word_lists().sets["surehead"] | word_lists().sets["workplace"]
        return named and sentence.lows[verb] not in ("lives", "live")
    if low[-1] in word_lists().sets["club"] | word_lists().sets["pet"] | word_lists().sets["pets"] | word_lists().sets[
        "job"
    ] - {
        "printer",
        "lead",
        "cooper",
        "head",
    }:
        return False
    head = low[-1]
    for n, part in enumerate(low[1:], 1):
        if part in word_lists().sets["a_thing.prepositions"]:
            head = low[n - 1]
            break
    sure_verb = sentence.lows[verb] in _list("located") - word_lists().sets["a_thing.unsure_verbs"]
    a_place = (
        any(word.rstrip("s") in _list("rooms") or word in _list("rooms") for word in sentence.lows[run[0] : run[1]])
        or sentence.tokens[run[0]].cap
    )
    a_place = a_place or sentence.lows[run[0]] in _list("places")
    return a_place and (
        sure_verb
        or head
        in word_lists().sets["surehead"]
        | word_lists().sets["workplace"]
        | word_lists().sets["ownable"]
        | word_lists().sets["toolhead"]
        or head.rstrip("s") in word_lists().sets["surehead"]
        or (sentence.lows[verb] in ("lives", "live", "found") and not sentence.tokens[run[0]].cap)
    )


def _spot(sentence: TokenizedSentence, i: int) -> Run | None:
    """The place behind `in`, `on`, `at`; with its preposition where that says more (`under the stairs`)."""
    lows = sentence.lows
    start = skip(sentence, i + 1)
    if lows[i] == "next":
        start = skip(sentence, i + 2) if lows[i + 1 : i + 2] == ["to"] else len(lows)
    idiom = start < len(lows) and lows[start] in word_lists().sets["placeidiom"]
    if idiom and not any(low in _list("rooms") for low in lows[start + 1 : start + 4]):
        return None
    if start >= len(lows) or lows[start] in word_lists().sets["month"] | word_lists().sets["weekday"]:
        return None
    if sentence.tokens[start].text[:1].isdigit() and lows[i] in ("at", "on", "in") and ":" in lows[start]:
        return None
    capital = capital_run(sentence, start, word_lists().sets["place_links"])
    if (
        capital > start
        and sentence.lows[capital : capital + 1] != ["'s"]
        and lows[i] in ("in", "at", "on", "near")
        and (capital >= len(lows) or lows[capital] not in _list("rooms"))
    ):
        return (start, capital) if lows[i] != "near" else (i, capital)
    run = noun_run(sentence, start, stop=word_lists().sets["spot"], most=9)
    if run is None or lows[run[1] - 1] in word_lists().sets["placeidiom"] | word_lists().sets["month"]:
        return None
    return run if lows[i] in _list("plain") else (i, run[1])
