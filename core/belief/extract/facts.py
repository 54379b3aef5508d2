"""Claims that hang on a number, an address, a date or a state: contacts, budgets, deadlines, birthdays, versions.

Also in which state a piece of work is, and where a thing is. Must not do: take anything where the reading is not sure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from core.belief.extract.frames import USER, FrameMatch, Subject, read_left_context, read_name_at, read_owner
from core.belief.extract.sentence import (
    Run,
    TokenizedSentence,
    capital_run,
    claim_word_lists,
    load_vocabulary_file,
    noun_run,
    phrase_at,
    phrases_by_first_word,
    skip_words,
)
from core.belief.extract.validity import WrittenDate

_OPEN_ENDED = frozenset(("waiting for", "waiting on", "awaiting", "stuck in"))
_MONEY = re.compile(
    r"""(?:[€£$¥]\s?\d[\d.,]{0,12}(?:\s?(?:k|m|million|thousand|grand)\b)?
    | \b\d[\d.,]{0,12}(?:\s?(?:k|m|million|thousand)\b)?\s?
        (?:euros?|pounds?|dollars?|eur|gbp|usd|quid|francs?|chf|kroner|kronor|crowns|zloty|zlotys|yen|bucks|sek|nok
        |dkk|pln|€|£|\$)(?![\w])
    | \b\d{1,3}(?:[.,]\d{3})+(?![\w.,]*\d) | \b\d{2,7}k?\b(?!\s?(?:people|words|guests|pages|hours|days|weeks|mg|km|%)))
    (?:\s(?:a|per|each|/)\s?(?:month|year|week|head|person|day|night|guest|quarter|hour|child|term)\b)?""",
    re.VERBOSE | re.IGNORECASE,
)
_NUMBER = "number"
_PHONE = re.compile(r"(?<![\w.,/:])\+?\(?\d[\d ()/.\-]{5,22}\d(?![\w]|[.,:]\d)")
_VERSION = re.compile(r"v?\d+(?:\.\d+){1,3}(?:[-.]?(?:alpha|beta|rc|lts)[.\d]*)?|v\d+", re.IGNORECASE)
_FAR = 14
_DATED_BY = 3
"""Words within which something else dates a birth: "born on the day the ship sank"."""


def read_work_states(sentence: TokenizedSentence) -> Iterator[FrameMatch]:
    """In which state a piece of work is (`Project Saltmarsh is on hold`).

    Yields:
        `status_is`.
    """
    lows, table = sentence.lows, _status_phrases()
    busy = -1
    for i in range(sentence.begin, len(lows)):
        if i <= busy or lows[i] not in table or sentence.tokens[i].quoted:
            continue
        length = phrase_at(table, lows, i)
        if not length:
            continue
        run = _extend_state(sentence, i, length)
        busy = run[1] - 1
        subject = _state_in_phrase(sentence, i, " ".join(lows[i : i + length]))
        if subject is not None and _is_phrase_end(sentence, run[1]):
            left = read_left_context(sentence, i)
            yield FrameMatch(subject, "status_is", run, left.negative, "state", i)


def read_thing_places(sentence: TokenizedSentence) -> Iterator[FrameMatch]:
    """Where a thing is (`The key hangs in the shed`).

    Yields:
        `located_at`.
    """
    lows = sentence.lows
    for i in range(sentence.begin + 1, len(lows)):
        if lows[i] not in _state_list("places") or sentence.tokens[i].hidden or sentence.tokens[i].quoted:
            continue
        verb = i - 1
        while verb > sentence.begin and lows[verb] in claim_word_lists().sets["adverb"]:
            verb -= 1
        if lows[verb] not in _state_list("located") and lows[verb] not in claim_word_lists().sets["places"]:
            continue
        run = _read_thing_place(sentence, i)
        if run is None:
            continue
        left = read_left_context(sentence, verb)
        subject = left.subject if lows[verb] != ":" else read_name_at(sentence, verb - 1)
        if lows[verb] in ("keep", "keeps"):
            continue
        if (
            subject is None
            or left.modal == "would"
            or left.hedged
            or not _is_thing_at_place(sentence, subject, verb, run)
        ):
            continue
        negative = left.negative or lows[verb] in ("isn't", "aren't", "not")
        yield FrameMatch(subject, "located_at", run, negative, "state", verb)


def read_facts(sentence: TokenizedSentence, dates: Sequence[WrittenDate]) -> tuple[FrameMatch, ...]:
    """The claims of a sentence that hang on numbers, addresses, dates and states.

    Args:
        sentence: the sentence, its phrases of time not hidden yet.
    """
    lows = frozenset(sentence.lows)
    found: list[FrameMatch] = []
    lists = _state_lists()
    if any("@" in low and len(low) > 3 for low in lows):
        found += _find_mail_addresses(sentence)
    if lows & lists["phone"]:
        found += _find_phone_numbers(sentence)
    if lows & (lists["budget"] | lists["spend"] | {"most", "cost", "limit", "capped"}):
        found += _find_budgets(sentence)
    if dates:
        found += _find_deadlines(sentence, dates)
        found += _find_birthdays(sentence, dates)
    if any(low[:1].isdigit() or low[:1] == "v" for low in lows):
        found += _find_versions(sentence)
    found += read_work_states(sentence)
    found += read_thing_places(sentence)
    seen = (one for one in found if not sentence.tokens[one.at].hidden and not sentence.tokens[one.run[0]].hidden)
    return tuple(seen)


@cache
def _status_phrases() -> Mapping[str, tuple[tuple[str, ...], ...]]:
    return phrases_by_first_word(load_vocabulary_file("states.json")["status"])


@cache
def _sure_states() -> frozenset[str]:
    return frozenset(load_vocabulary_file("states.json")["sure"])


@cache
def _state_list(name: str) -> frozenset[str]:
    return frozenset(load_vocabulary_file("states.json")[name])


def _is_phrase_end(sentence: TokenizedSentence, after: int) -> bool:
    low = sentence.lows[after] if after < len(sentence.lows) else "."
    if low == "by":
        return sentence.lows[after - 1] in ("blocked", "stalled", "halted")
    closers = claim_word_lists().sets["cut"] | claim_word_lists().sets["closes"]
    return (not low[:1].isalnum() and low not in ("&", "'s")) or low in closers


def _extend_state(sentence: TokenizedSentence, i: int, length: int) -> Run:
    """A state with its object: `waiting for customer`."""
    if " ".join(sentence.lows[i : i + length]) in _OPEN_ENDED:
        run = noun_run(sentence, i + length, stop=claim_word_lists().sets["whole"], most=6)
        return (i, run[1]) if run else (i, i + length)
    return (i, i + length)


def _state_in_phrase(sentence: TokenizedSentence, i: int, phrase: str) -> Subject | None:
    lows = sentence.lows
    if i <= sentence.begin:
        return None
    before = i - 1
    while (
        before > sentence.begin
        and lows[before] in claim_word_lists().sets["adverb"] | claim_word_lists().sets["state_of.fillers"]
    ):
        before -= 1
    if lows[before] in ("status", "state"):
        return None
    if lows[before] in (":", "="):
        return _read_label_before_colon(sentence, before, phrase)
    if (
        lows[before] not in claim_word_lists().sets["be_states"] | claim_word_lists().sets["state_of.verbs"]
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
    if phrase in _sure_states() or _is_project(subject):
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


def _read_label_before_colon(sentence: TokenizedSentence, colon: int, phrase: str) -> Subject | None:
    begin = sentence.begin
    names_status = sentence.lows[begin : begin + 2] in (["status", "of"], ["state", "of"])
    named = read_name_at(
        sentence, colon - 2 if sentence.lows[colon - 1] == "status" else colon - 1, begin + 2 if names_status else 0
    )
    if named is None or named.kind not in ("thing", "name"):
        return None
    return named if phrase in _sure_states() or _is_project(named) or sentence.lows[colon - 1] == "status" else None


def _is_project(subject: Subject) -> bool:
    low = subject.text.lower()
    parts = low.replace("'s", " ").split()
    coded = any(sign.isdigit() for sign in low) and any(sign.isalpha() for sign in low)
    return (
        coded
        or any(part in claim_word_lists().sets["project"] for part in (*parts[:1], *parts[-1:]))
        or any(part.rstrip("s") in claim_word_lists().sets["project"] for part in parts[-1:])
    )


def _is_thing_at_place(sentence: TokenizedSentence, subject: Subject, verb: int, run: Run) -> bool:
    """Whether a subject is a thing that is somewhere, and the place a place."""
    low = subject.text.lower().split()
    if low[-1] in _state_list("homes") and low[:-1] in ([], ["own"]) and _is_own(sentence, subject):
        return False
    if subject.kind != "thing":
        named = (
            subject.kind == "name"
            and low[-1] in claim_word_lists().sets["surehead"] | claim_word_lists().sets["workplace"]
        )
        return named and sentence.lows[verb] not in ("lives", "live")
    if low[-1] in claim_word_lists().sets["club"] | claim_word_lists().sets["pet"] | claim_word_lists().sets[
        "pets"
    ] | claim_word_lists().sets["job"] - {
        "printer",
        "lead",
        "cooper",
        "head",
    }:
        return False
    head = low[-1]
    for n, part in enumerate(low[1:], 1):
        if part in claim_word_lists().sets["a_thing.prepositions"]:
            head = low[n - 1]
            break
    sure_verb = sentence.lows[verb] in _state_list("located") - claim_word_lists().sets["a_thing.unsure_verbs"]
    a_place = (
        any(
            word.rstrip("s") in _state_list("rooms") or word in _state_list("rooms")
            for word in sentence.lows[run[0] : run[1]]
        )
        or sentence.tokens[run[0]].cap
    )
    a_place = a_place or sentence.lows[run[0]] in _state_list("places")
    return a_place and (
        sure_verb
        or head
        in claim_word_lists().sets["surehead"]
        | claim_word_lists().sets["workplace"]
        | claim_word_lists().sets["ownable"]
        | claim_word_lists().sets["toolhead"]
        or head.rstrip("s") in claim_word_lists().sets["surehead"]
        or (sentence.lows[verb] in ("lives", "live", "found") and not sentence.tokens[run[0]].cap)
    )


def _is_own(sentence: TokenizedSentence, subject: Subject) -> bool:
    return subject.first > 0 and sentence.lows[subject.first - 1] in ("my", "our", "own")


def _read_thing_place(sentence: TokenizedSentence, i: int) -> Run | None:
    """The place behind `in`, `on`, `at`; with its preposition where that says more (`under the stairs`)."""
    lows = sentence.lows
    start = skip_words(sentence, i + 1)
    if lows[i] == "next":
        start = skip_words(sentence, i + 2) if lows[i + 1 : i + 2] == ["to"] else len(lows)
    idiom = start < len(lows) and lows[start] in claim_word_lists().sets["placeidiom"]
    if idiom and not any(low in _state_list("rooms") for low in lows[start + 1 : start + 4]):
        return None
    if start >= len(lows) or lows[start] in claim_word_lists().sets["month"] | claim_word_lists().sets["weekday"]:
        return None
    if sentence.tokens[start].text[:1].isdigit() and lows[i] in ("at", "on", "in") and ":" in lows[start]:
        return None
    capital = capital_run(sentence, start, claim_word_lists().sets["place_links"])
    if (
        capital > start
        and sentence.lows[capital : capital + 1] != ["'s"]
        and lows[i] in ("in", "at", "on", "near")
        and (capital >= len(lows) or lows[capital] not in _state_list("rooms"))
    ):
        return (start, capital) if lows[i] != "near" else (i, capital)
    run = noun_run(sentence, start, stop=claim_word_lists().sets["spot"], most=9)
    if run is None or lows[run[1] - 1] in claim_word_lists().sets["placeidiom"] | claim_word_lists().sets["month"]:
        return None
    return run if lows[i] in _state_list("plain") else (i, run[1])


@cache
def _state_lists() -> dict[str, frozenset[str]]:
    return {
        name: frozenset(found) for name, found in load_vocabulary_file("states.json").items() if isinstance(found, list)
    }


def _find_capital_run(sentence: TokenizedSentence, start: int, end: int) -> Run | None:
    inside = [
        n
        for n, token in enumerate(sentence.tokens)
        if start <= token.start and token.end <= end and token.end > token.start
    ]
    return (inside[0], inside[-1] + 1) if inside else None


def _find_mail_addresses(sentence: TokenizedSentence) -> Iterator[FrameMatch]:
    for i, low in enumerate(sentence.lows):
        if "@" in low and len(low) > 3:
            contact = _find_contact(sentence, i, _state_lists()["mail"])
            if contact is not None:
                yield FrameMatch(contact[0], "email_is", (i, i + 1), contact[1], "state", i)


def _find_phone_numbers(sentence: TokenizedSentence) -> Iterator[FrameMatch]:
    for match in _PHONE.finditer(sentence.text, sentence.start, sentence.end):
        digits = sum(sign.isdigit() for sign in match.group())
        run = _find_capital_run(sentence, *match.span())
        if (
            not 7 <= digits <= 15
            or run is None
            or re.fullmatch(
                r"\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./]\d{4}|(?:\d{4})[-/ ]\d{4}|\d{1,3}(?:[.,]\d{3})+", match.group()
            )
        ):
            continue
        if (
            sentence.lows[run[0] - 1] in ("(", "+")
            and run[0] > 0
            and sentence.tokens[run[0] - 1].end == sentence.tokens[run[0]].start
        ):
            run = (run[0] - 1, run[1])
        contact = _find_contact(sentence, run[0], _state_lists()["phone"])
        if contact is not None:
            yield FrameMatch(contact[0], "phone_is", run, contact[1], "state", run[0])


def is_phone_named(sentence: TokenizedSentence, value: str) -> bool:
    """Whether a sentence says that a number is a telephone's: the model takes any long number for one, a card's too."""
    return value.startswith("+") or not (_state_lists()["phone"] - {_NUMBER}).isdisjoint(sentence.lows)


def _find_contact(sentence: TokenizedSentence, i: int, cues: frozenset[str]) -> tuple[Subject | None, bool] | None:
    """Who is reached at the address at `i`, and whether it is told as old; None where nothing says so."""
    lows = sentence.lows
    cue = next((j for j in range(i - 1, max(sentence.begin, i - _FAR) - 1, -1) if lows[j] in cues), None)
    if cue is None:
        return _find_contact_by_name(sentence, i)
    first = cue
    while first > sentence.begin and (
        lows[first - 1] in cues or lows[first - 1] in claim_word_lists().sets["reached.adjectives"]
    ):
        first -= 1
    preceding = lows[max(sentence.begin, first - 2) : i]
    before = lows[max(sentence.begin, first - 1) : cue + 1]
    old = lows[i - 1] in ("not", "isn't") or any(low in ("old", "former", "previous") for low in before)
    old = old or (
        any(low in ("dead", "longer", "disconnected") for low in lows[i + 1 : i + 8])
        and "new" not in preceding
        and "." not in lows[i : i + 6]
    )
    between = lows[cue + 1 : i]
    if (
        lows[cue] in claim_word_lists().sets["reached.verbs"]
        and between
        and lows[first - 1] not in claim_word_lists().sets["poss"] | {"'s"}
        and sentence.tokens[cue + 1].word
    ):
        recipient = between[1] if between[0] == "to" and len(between) > 1 else between[0]
        if recipient in ("me", "us"):
            return Subject(USER, USER), old
        named = _read_name_after(sentence, cue + (2 if between[0] == "to" else 1))
        if named and named.after <= i:
            return named, old
    if any(low in ("for", "of") for low in between[:1]):
        named = _read_name_after(sentence, cue + 2)
        return (named, old) if named else None
    if "reachable" in lows[first : cue + 1]:
        return read_left_context(sentence, first).subject, old
    owner, is_open = read_owner(sentence, first)
    if owner is None and not is_open:
        owner = _compound_owner(sentence, first)
        return (owner, old) if owner else None
    return owner, old


def _compound_owner(sentence: TokenizedSentence, first: int) -> Subject | None:
    """`Anna phone 0123`, `the clinic phone number`."""
    named = read_name_at(sentence, first - 1)
    return named if named and named.kind in ("name", "person") else None


def _read_name_after(sentence: TokenizedSentence, i: int) -> Subject | None:
    last = i
    while last + 1 < len(sentence.tokens) and sentence.lows[last + 1] not in claim_word_lists().sets["named_after"]:
        last += 1
        if last - i > 5:
            return None
    return read_name_at(sentence, last, i) if i < len(sentence.tokens) else None


def _find_contact_by_name(sentence: TokenizedSentence, i: int) -> tuple[Subject | None, bool] | None:
    """`Anna: anna@mill.example`."""
    if i >= 2 and sentence.lows[i - 1] == ":" and "@" in sentence.lows[i]:
        named = read_name_at(sentence, i - 2)
        return (named, False) if named and named.kind in ("name", "person") else None
    return None


def _find_budgets(sentence: TokenizedSentence) -> Iterator[FrameMatch]:
    lows, lists = sentence.lows, _state_lists()
    for match in _MONEY.finditer(sentence.text, sentence.start, sentence.end):
        run = _find_capital_run(sentence, *match.span())
        if run is None:
            continue
        while sentence.lows[run[1] - 1] in (",", "."):
            run = (run[0], run[1] - 1)
        sure = not re.fullmatch(r"\d+", match.group())
        for c in range(run[0] - 1, max(sentence.begin, run[0] - _FAR) - 1, -1):
            if lows[c] in (";", ".") or (lows[c] == "," and lows[run[0] - 1] != ":"):
                break
            subject = _budget_subject(sentence, c, run, sure=sure)
            if subject is not None:
                yield FrameMatch(subject, "budget_is", run, negative=False, mode="state", at=c)
                break
            if lows[c] in lists["budget"]:
                break


def _budget_subject(sentence: TokenizedSentence, c: int, run: Run, *, sure: bool) -> Subject | None:
    lows, lists = sentence.lows, _state_lists()
    spending = lows[c] == "limit" and lows[c - 1] in ("spending", "price", "cost", "budget")
    if lows[c] in lists["budget"] - {"budgeted"} or spending:
        return _noun_budget(sentence, c - 1 if spending else c, c + 1, run)
    if lows[c] in lists["spend"] and sure:
        if lows[c + 1] in ("at", "with"):
            return read_left_context(sentence, c).subject
        return _after_money(sentence, run)
    if lows[c] in ("cost", "capped") and sure and (lows[c] == "capped" or "than" in lows[c : run[0]]):
        left = read_left_context(sentence, c)
        return left.subject if left.negative or lows[c] == "capped" else None
    return None


def _noun_budget(sentence: TokenizedSentence, c: int, after: int, run: Run) -> Subject | None:
    """Whose budget it is, where the noun stands at `c`."""
    lows = sentence.lows
    between = lows[after : run[0]]
    if between and between[0] in ("for", "on", "of") and len(between) > 1:
        for j in range(after + 1, run[0]):
            if lows[j] in claim_word_lists().sets["noun_budget.verbs"] or j == run[0] - 1:
                if any(low in claim_word_lists().sets["noun_budget.changes"] for low in between):
                    return None
                last = j - 1 if lows[j] in claim_word_lists().sets["noun_budget.verbs"] else j
                named = read_name_at(sentence, last, after + 1)
                return None if named is None or named.kind == USER else named
    owner, is_open = read_owner(sentence, c)
    if owner is not None:
        later = _after_money(sentence, run)
        return later if later is not None and owner.kind == USER and later.kind in ("thing", "name") else owner
    if lows[c - 1] in ("a", "an", "the") and lows[c - 2] in claim_word_lists().sets["noun_budget.holding"]:
        holder = (
            read_left_context(sentence, c - 2).subject
            if lows[c - 2] in claim_word_lists().sets["noun_budget.holders"]
            else None
        )
        return holder if holder is not None and holder.kind != USER else _after_money(sentence, run) or holder
    if is_open:
        return _after_money(sentence, run) or Subject(USER, USER)
    named = read_name_at(sentence, c - 1)
    return named if named and named.kind in ("thing", "name") else None


def _after_money(sentence: TokenizedSentence, run: Run) -> Subject | None:
    """`... 250 a month on restaurants`: what the money is for."""
    i = run[1]
    if i >= len(sentence.lows) or sentence.lows[i] not in ("for", "on"):
        return None
    last = i
    while (
        last + 1 < len(sentence.tokens)
        and sentence.tokens[last + 1].word
        and sentence.lows[last + 1] not in claim_word_lists().sets["cut"] | claim_word_lists().sets["after_money"]
    ):
        last += 1
    return read_name_at(sentence, last, i + 1) if last > i else None


def _date_run(sentence: TokenizedSentence, dated: WrittenDate) -> Run | None:
    run = _find_capital_run(sentence, dated.start, dated.end)
    if run and sentence.lows[run[0]] == "the" and run[1] - run[0] > 1:
        run = (run[0] + 1, run[1])
    return run


def _find_deadlines(sentence: TokenizedSentence, dates: Sequence[WrittenDate]) -> Iterator[FrameMatch]:
    """Deadlines."""
    lows, lists = sentence.lows, _state_lists()
    for dated in dates:
        run = _date_run(sentence, dated)
        if run is None:
            continue
        for c in range(run[0] - 1, max(sentence.begin, run[0] - _FAR) - 1, -1):
            if lows[c] in (";", ".") or (lows[c] == "," and lows[c + 1] in ("and", "but", "so")):
                break
            if lows[c] in lists["due"]:
                subject = _due_subject(sentence, c, run)
            elif lows[c] in claim_word_lists().sets["terms"] and lows[run[0] - 1] == "by":
                subject = _task_subject(sentence, c, run)
            elif lows[c] in lists["ready"] and lows[c + 1 : run[0]][-1:] == ["by"]:
                subject = _ready_subject(sentence, c)
            else:
                continue
            if subject is not None and subject.kind != "third" and subject.text != "it":
                negative = "not" in lows[c : run[0]] or "longer" in lows[c : run[0]]
                yield FrameMatch(subject, "deadline_is", run, negative, "state", c)
                break


def _due_subject(sentence: TokenizedSentence, c: int, run: Run) -> Subject | None:
    lows = sentence.lows
    if lows[c] in ("due", "closes", "close", "expires"):
        if lows[c] != "due" and lows[c + 1] not in ("on", "at", "by"):
            return None
        left = read_left_context(sentence, c)
        if left.subject is None and left.open and c > sentence.begin and lows[c - 1] == ":":
            return read_name_at(sentence, c - 2)
        found = left.subject
        return found if found and found.kind in ("thing", "name", "third") and not left.hedged else None
    between = lows[c + 1 : run[0]]
    if between[:1] in (["for"], ["of"]) or between[:1] == ["to"]:
        for j in range(c + 2, run[0]):
            if lows[j] in claim_word_lists().sets["due_subject.verbs"]:
                return read_name_at(sentence, j - 1, c + 2) if between[0] != "to" else None
        last = run[0] - 2 if lows[run[0] - 1] in claim_word_lists().sets["due_subject.prepositions"] else run[0] - 1
        return read_name_at(sentence, last, c + 2)
    if c > 0 and lows[c - 1] in claim_word_lists().sets["due_subject.before"]:
        named = read_name_at(sentence, c - 1)
        return (
            named
            if named and named.kind == "thing" and lows[c - 1] not in claim_word_lists().sets["due_subject.adjectives"]
            else None
        )
    owner, is_open = read_owner(sentence, c)
    if owner is not None:
        return owner if owner.kind in ("thing", "name") else _read_subject_after(sentence, run)
    if is_open:
        return _read_subject_after(sentence, run)
    return read_name_at(sentence, c - 1)


def _read_subject_after(sentence: TokenizedSentence, run: Run) -> Subject | None:
    """`deadline 3 May for the grant`."""
    return _after_money(sentence, run)


def _ready_subject(sentence: TokenizedSentence, c: int) -> Subject | None:
    """`the thesis must be submitted by`: what has to be ready."""
    lows = sentence.lows
    i = c
    must = False
    while i > sentence.begin and (lows[i - 1] in claim_word_lists().sets["ready_subject.verbs"]):
        i -= 1
        must = must or lows[i] in claim_word_lists().sets["ready_subject.must"]
    named = read_name_at(sentence, i - 1) if must and i > sentence.begin else None
    return named if named and named.kind in ("thing", "name") else None


def _task_subject(sentence: TokenizedSentence, c: int, run: Run) -> Subject | None:
    """`I have to hand in the essay by Monday`: what has to be handed in."""
    before = sentence.lows[max(sentence.begin, c - 4) : c]
    first = c + 2 if sentence.lows[c + 1] in ("in", "out", "off", "over") else c + 1
    due = ("to" in before and any(low in claim_word_lists().sets["task_subject"] for low in before)) or "must" in before
    named = read_name_at(sentence, run[0] - 2, first) if due and run[0] - 2 >= first else None
    return named if named and named.kind in ("thing", "name") else None


def _find_birthdays(sentence: TokenizedSentence, dates: Sequence[WrittenDate]) -> Iterator[FrameMatch]:
    lows = sentence.lows
    for dated in dates:
        run = _date_run(sentence, dated)
        if dated.loose or run is None:
            continue
        for c in range(run[0] - 1, max(sentence.begin, run[0] - 7) - 1, -1):
            if lows[c] in ("born", "b."):
                left = read_left_context(sentence, c)
                if (left.subject is not None or left.open) and is_day_of_birth(sentence, (c + 1, run[0])):
                    yield FrameMatch(left.subject, "born_on", run, left.negative, "state", c)
                break
            if lows[c] in claim_word_lists().sets["births"]:
                first = c - 2 if lows[c] == "birth" and lows[c - 1] == "of" else c
                if lows[c + 1 : c + 2] in (["party"], ["cake"], ["present"], ["trip"]):
                    break
                owner, is_open = read_owner(sentence, first)
                if owner is not None or is_open:
                    yield FrameMatch(owner, "born_on", run, "not" in lows[c : run[0]], "state", c)
                break


def is_day_of_birth(sentence: TokenizedSentence, between: Run) -> bool:
    """Whether a date belongs to a word of birth: another verb between the two begins something else.

    Args:
        between: the tokens between the word and the date.
    """
    known = claim_word_lists().sets
    words = sentence.tokens[slice(*between)]
    if any(token.low in known["births.dated_by"] for token in words[:_DATED_BY]):
        return True
    return not any(
        token.low in known["births.other_events"]
        or (token.low.endswith("ed") and not token.cap and token.low not in known["births.celebrated"])
        for token in words
    )


def _find_versions(sentence: TokenizedSentence) -> Iterator[FrameMatch]:
    lows = sentence.lows
    for i, low in enumerate(lows):
        if i <= sentence.begin or not low.lstrip("v")[:1].isdigit():
            continue
        worded = lows[i - 1] in claim_word_lists().sets["versions"]
        if not (_VERSION.fullmatch(low) or (worded and low.isdigit())) or (
            low.count(".") == 2 and len(low.split(".")[-1]) == 4
        ):
            continue
        subject = _version_subject(sentence, i, worded=worded)
        if subject is not None and subject.kind in ("thing", "name", "third"):
            yield FrameMatch(subject, "version_is", (i, i + 1), "not" in lows[max(0, i - 3) : i], "state", i)


def _version_subject(sentence: TokenizedSentence, i: int, *, worded: bool) -> Subject | None:
    lows = sentence.lows
    i = i - 1 if worded else i
    before = lows[i - 1] if i else ""
    written = sentence.lows[i + 1 if worded else i]
    exact = worded or written.count(".") >= 2 or written.startswith("v")
    if before in ("at", "on", "to"):
        verb = lows[i - 2]
        if before == "to":
            moved = claim_word_lists().sets["version_subject.moved"]
            cue = next((j for j in range(i - 2, max(-1, i - 9), -1) if lows[j] in moved), None)
            return None if cue is None or not sentence.tokens[cue].word else _moved_thing(sentence, cue, i - 1)
        left = read_left_context(sentence, i - 1)
        sure = exact or verb in claim_word_lists().sets["be"] | claim_word_lists().sets["adverb"]
        return left.subject if sure and not left.hedged and not left.modal and (before == "at" or exact) else None
    if before in claim_word_lists().sets["be"] or before in claim_word_lists().sets["version_subject"]:
        named = _version_noun(sentence, i - 1)
        return (
            named
            if named
            else (read_left_context(sentence, i).subject if exact and before in claim_word_lists().sets["be"] else None)
        )
    if worded and lows[i + 2 : i + 3] in (["of"], ["on"]):
        return _read_name_after(sentence, i + 3)
    return _name_before_version(sentence, i) if exact or lows[max(0, i - 4) : i - 1] else None


def _moved_thing(sentence: TokenizedSentence, cue: int, to: int) -> Subject | None:
    """`upgraded the server to 4.1`, `the server was bumped to 4.1`."""
    if to - cue > 1:
        return read_name_at(sentence, to - 1, cue + 1)
    return read_left_context(sentence, cue).subject


def _version_noun(sentence: TokenizedSentence, be: int) -> Subject | None:
    """`the router's firmware version is`, `version of the app is`, `app version:`."""
    lows = sentence.lows
    j = be
    while j > sentence.begin and lows[j - 1] in claim_word_lists().sets["adverb"]:
        j -= 1
    for c in range(j - 1, max(sentence.begin, j - 8) - 1, -1):
        if lows[c] in ("version", "firmware", "release"):
            if lows[c + 1] in ("of", "for", "on"):
                return read_name_at(sentence, j - 1, c + 2)
            first = (
                c - 1 if lows[c - 1] in ("firmware", "current", "latest", "software") and c - 1 > sentence.begin else c
            )
            owner, _ = read_owner(sentence, first)
            return (
                owner
                if owner is not None and owner.kind != USER
                else read_name_at(sentence, first - 1 if lows[c] == "version" else c)
            )
    return None


def _name_before_version(sentence: TokenizedSentence, i: int) -> Subject | None:
    """`running Postgres 16.2`, `we're on Python 3.12`: the name before the number."""
    lows = sentence.lows
    if i < 2 or (not sentence.tokens[i - 1].cap and lows[i - 1] not in claim_word_lists().sets["tool"]):
        return None
    first = i - 1
    while first - 1 > sentence.begin and sentence.tokens[first - 1].cap and i - first < 3:
        first -= 1
    before = lows[first - 1] if first > sentence.begin else ""
    if before in claim_word_lists().sets["run_name"]:
        return Subject(sentence.text_between(first, i), "name", first, i)
    return None
