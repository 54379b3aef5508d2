"""Reads claims out of a text by rules: sentences, ways of saying, subjects, values, validity. No clock.

A claim model may be handed in: what it finds is joined to what the rules read, sentence by sentence. The predicates are
a closed list. What a text says about permissions, trust, instructions or systems is no claim: no predicate speaks of
it. Where the reading is not sure it says nothing: a missed claim costs less than a wrong one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import overload

from core.belief.extract.claim_model import (
    ClaimModel,
    ReadValue,
    find_head_of_apposition,
    is_doubtful,
    reconcile_claims,
)
from core.belief.extract.facts import is_phone_named, read_facts
from core.belief.extract.family import read_family_claims
from core.belief.extract.frames import (
    THING_PREDICATES,
    USER,
    FrameMatch,
    Subject,
    load_exclusivity,
    match_frames,
    read_name_at,
)
from core.belief.extract.normal_form import value_key
from core.belief.extract.sentence import (
    TokenizedSentence,
    capital_run,
    claim_word_lists,
    hide_unreal,
    is_tentative,
    read_sentence,
    strip_marks,
)
from core.belief.extract.validity import ValidityPhrase, WrittenDate, find_validity_phrases, find_written_dates, to_when
from core.errors import LociError
from core.text.sentences import split_sentences
from core.types.belief import ClaimDraft

MOST_CLAIMS = 64
MOST_TEXT = 16_384
MOST_SENTENCES = 200
MOST_MODEL_SENTENCES = 24
"""Of one text, read by the model too: a few milliseconds each."""
LONGEST_VALUE = 200
_LONGEST_SUBJECT = 80
_LONGEST_LABEL = 6  # tokens of a name and its colon
_SHORTEST = 6
_SURE = 0.9
_BEHIND_TIME = frozenset((",", ":", "-", "–", "—", "i", "we", "user", "my", "our", "the", "he", "she"))
_OWNER_BEFORE = re.compile(r"\b(?P<owner>(?!User\b)[A-Z][\w-]*)['’]s? $")
_FAMILY = frozenset(("partner_is", "has_child"))
_PEOPLE = ("kin", "person", "partner", "child", "children")
_ANYBODYS = re.compile(r"\bthe [\w-]+,? $", re.IGNORECASE)
_ENDED = frozenset(("end", "past"))


ClaimKey = tuple[str, str, str]


@dataclass(slots=True)
class _Story:
    """What is known from the sentences before."""

    person: str = ""
    thing: str = ""
    fiction: bool = False
    owner_keys: frozenset[str] = frozenset()
    claims: dict[ClaimKey, ClaimDraft] = field(default_factory=dict)
    model: ClaimModel | None = None
    asked: int = 0


def extract_claims(
    text: str,
    *,
    now_ms: int | None = None,
    said_ms: int | None = None,
    owner_names: Sequence[str] = (),
    model: ClaimModel | None = None,
) -> tuple[ClaimDraft, ...]:
    """Read the claims of a text.

    Args:
        text: any text; the first 16,384 code points and 200 sentences are read.
        now_ms: the present, epoch ms; used as `said_ms` where that is unknown.
        said_ms: when it was said, epoch ms; tells the year of "since March".
        owner_names: names of the person; claims about them are claims about `user`.
        model: reads the first sentences beside the rules; where it fails, the rules alone have read.

    Returns:
        Claims in the order of the text, at most 64, each once; `text[start:end]` is the clause that says it.
    """
    story = _Story(owner_keys=frozenset(value_key(name) for name in owner_names if name.strip()), model=model)
    read = text[:MOST_TEXT]
    stated_ms = said_ms if said_ms is not None else now_ms
    sentence_count = 0
    for start, end in split_sentences(read):
        if len(story.claims) >= MOST_CLAIMS or sentence_count >= MOST_SENTENCES:
            break
        if not read[start:end].strip():
            story.fiction = False
        if end - start < _SHORTEST:
            continue
        sentence_count += 1
        _extract_from_sentence(story, read, (start, end), stated_ms)
    return tuple(story.claims.values())[:MOST_CLAIMS]


def canonical_form(draft: ClaimDraft) -> ClaimKey:
    """What a claim is compared by.

    Returns:
        The keys of its subject and its value around its predicate.
    """
    return value_key(draft.subject), draft.predicate, value_key(draft.value)


def is_exclusive(predicate: str) -> bool | None:
    """Whether only one value of a predicate can hold at a time.

    Args:
        predicate: a name.

    Returns:
        The vocabulary's word; None for a predicate it does not know.
    """
    return load_exclusivity().get(predicate)


def _extract_from_sentence(story: _Story, text: str, place: tuple[int, int], stated_ms: int | None) -> None:
    sentence = read_sentence(text, *place)
    if not sentence.tokens:
        return
    dates = find_written_dates(text, sentence.start, sentence.end)
    bounds = find_validity_phrases(text, sentence.start, sentence.end, dates, stated_ms)
    _begin_behind(sentence, bounds, dates)
    if story.fiction:
        story.fiction = not text[: place[0]].endswith("\n\n")
    if story.fiction or hide_unreal(sentence):
        story.fiction = True
        return
    unreal = [(token.start, token.end) for token in sentence.tokens if token.hidden]
    noted = read_facts(sentence, dates)
    for span in bounds:
        for token in sentence.tokens:
            if span.start <= token.start < span.end:
                token.hidden = True
    kin = () if claim_word_lists().kin.isdisjoint(sentence.lows) else read_family_claims(sentence)
    found = sorted([*match_frames(sentence), *kin, *noted], key=lambda one: (one.at, one.run))
    _note_people(story, sentence)
    known = dict(story.claims)
    _keep_matches(story, sentence, found, bounds)
    if story.model is not None and story.asked < MOST_MODEL_SENTENCES:
        story.asked += 1
        _join_model(story, story.model, sentence, known, (bounds, unreal))


def _join_model(
    story: _Story,
    model: ClaimModel,
    sentence: TokenizedSentence,
    known: Mapping[ClaimKey, ClaimDraft],
    around: tuple[Sequence[ValidityPhrase], Sequence[tuple[int, int]]],
) -> None:
    """Join what the model finds in a sentence to what rules just read in it.

    Args:
        known: the claims before this sentence; of what was said before nothing is dropped.
        around: the sentence's phrases of time, and its words that claim nothing about the world.
    """
    bounds, unreal = around
    text = sentence.text[sentence.start : sentence.end]
    try:
        reading, limits = model.read(text), model.card.limits
    except LociError:
        story.model = None
        return
    fresh = [draft for key, draft in story.claims.items() if key not in known]
    reconciled = reconcile_claims(fresh, reading, text, limits)
    for draft in reconciled.dropped:
        del story.claims[canonical_form(draft)]
    for one in reconciled.added:
        first, last = (sentence.start + place for place in one.value)
        is_unreal = any(start < last and first < end for start, end in unreal)
        is_unsure = _is_only_possible(one, text) or _is_told_by_the_way(one, text) or is_doubtful(one, sentence)
        if not is_unreal and not is_unsure:
            _add_model_claim(story, sentence, one, bounds)


def _is_only_possible(one: ReadValue, text: str) -> bool:
    """Whether the words before a value of which there is one alone tell what may be: it would end what is."""
    return bool(is_exclusive(one.predicate)) and is_tentative(text[: one.value[0]].lower())


def _is_told_by_the_way(one: ReadValue, text: str) -> bool:
    """Whether a name only stands behind a role that is anybody's: "the wife Mara is known"."""
    return one.predicate in _FAMILY and _ANYBODYS.search(text[: one.value[0]]) is not None


def _add_model_claim(
    story: _Story, sentence: TokenizedSentence, one: ReadValue, bounds: Sequence[ValidityPhrase]
) -> None:
    """Add a claim of the model's; of whom, where a pronoun says it, the sentences before tell."""
    text = sentence.text[sentence.start : sentence.end]
    subject = _name_model_subject(story, sentence, one)
    if value_key(subject) in story.owner_keys:
        subject = USER
    owner = None if one.subject is None else _OWNER_BEFORE.search(text[: one.subject[0]])
    if owner is not None and one.predicate in THING_PREDICATES:
        subject = f"{owner['owner']}'s {subject}"
    subject = _without_property(subject, one.predicate)
    value = strip_marks(text[slice(*one.value)])
    if not subject or value_key(value) in ("", value_key(subject)) or max(len(value), len(subject)) > _LONGEST_SUBJECT:
        return
    if value_key(value) == one.predicate.partition("_")[0]:  # "status" is no status
        return
    if one.predicate == "phone_is" and not is_phone_named(sentence, value):
        return
    since = next((span.since for span in bounds if span.since), "")
    until = next((span.until for span in bounds if span.until), "")
    draft = ClaimDraft(
        subject=subject,
        predicate=one.predicate,
        value=value,
        exclusive=bool(is_exclusive(one.predicate)),
        polarity="negative" if one.is_denied and not until else "positive",
        valid_from=to_when(since),
        valid_to=to_when(until),
        start=sentence.tokens[0].start,
        end=sentence.tokens[-1].end,
        confidence=round(min(_SURE, one.confidence), 2),
    )
    story.claims.setdefault(canonical_form(draft), draft)


def _name_model_subject(story: _Story, sentence: TokenizedSentence, one: ReadValue) -> str:
    """Whom a value of the model's is about; "" where the sentence names nobody."""
    head = find_head_of_apposition(one, sentence)
    if head is not None:
        return head.text
    span = one.subject
    named = _name_speaker(sentence, one) if span is None else sentence.text[sentence.start : sentence.end][slice(*span)]
    if named.casefold() in claim_word_lists().sets["third"]:
        return story.person
    if _is_bare_relative(named):
        return _name_relative(sentence, named)
    return "" if _is_led_by_pronoun(sentence, named) else named


def _name_speaker(sentence: TokenizedSentence, one: ReadValue) -> str:
    """The speaker, unless a name leads the sentence and nothing in it speaks in the first person."""
    at = next((n for n, token in enumerate(sentence.tokens) if token.end > sentence.start + one.value[0]), 0)
    if claim_word_lists().sets["first_person"].intersection(sentence.lows):
        return USER
    named = _find_leading_subject(sentence, at)
    is_other = named is not None and named.kind == "name" and named.first == sentence.begin
    return named.text if named is not None and is_other else USER


def _begin_behind(sentence: TokenizedSentence, bounds: Sequence[ValidityPhrase], dates: Sequence[WrittenDate]) -> None:
    """Let a sentence begin behind a time that leads in ("In 2019 ...", "2025-02-18: ...")."""
    starts = [(span.start, span.end) for span in bounds] + [(one.start, one.end) for one in dates]
    first = sentence.tokens[sentence.begin].start
    for start, end in starts:
        if start <= first < end:
            after = next((n for n, token in enumerate(sentence.tokens) if token.start >= end), None)
            led = sentence.tokens[sentence.begin].start == start and sentence.text[start:end].split(" ")[
                0
            ].lower() not in ("in", "on", "since", "until", "from", "between", "as", "till")
            if after is None or (led and sentence.lows[after] not in _BEHIND_TIME):
                return
            while after < len(sentence.tokens) - 1 and sentence.lows[after] in (",", ":", "-", "–", "—"):
                after += 1
            sentence.begin = after
            return


def _keep_matches(
    story: _Story, sentence: TokenizedSentence, found: Sequence[FrameMatch], bounds: Sequence[ValidityPhrase]
) -> None:
    lead: Subject | None = None
    usable: list[tuple[FrameMatch, Subject]] = []
    for one in found:
        subject = _resolve_subject(story, sentence, one, lead)
        if subject is None or any(sentence.tokens[n].quoted for n in range(*one.run)):
            continue
        lead = subject
        if subject.kind in ("person", "name") and one.predicate not in THING_PREDICATES:
            story.person = subject.text
        if subject.kind in ("thing", "name"):
            story.thing = subject.text
        if one.predicate in ("partner_is", "has_child") and not one.negative:
            story.person = sentence.text_between(*one.run)
        usable.append((one, subject))
    for one, subject in usable:
        since, until, at = _validity_of_match(sentence, one, usable, bounds)
        _add_rule_claim(story, sentence, one, subject, (since, until, at))


def _note_people(story: _Story, sentence: TokenizedSentence) -> None:
    """Remember whom "she" in the next sentence may mean: not "her sister", who is hers of whom was told before."""
    if sentence.lows[sentence.begin] in claim_word_lists().sets["poss_third"]:
        return
    for i in range(sentence.begin, len(sentence.tokens) - 1):
        if sentence.lows[i + 1] in claim_word_lists().sets["finite"] and not sentence.tokens[i].hidden:
            named = read_name_at(sentence, i)
            if named and named.kind in ("person", "name"):
                story.person = named.text
            if named and named.kind in ("thing", "name"):
                story.thing = named.text
            return


def _resolve_subject(
    story: _Story, sentence: TokenizedSentence, one: FrameMatch, lead: Subject | None
) -> Subject | None:
    subject = one.subject
    if subject is None:
        subject = lead if lead is not None else _find_leading_subject(sentence, one.at)
    elif subject.kind == "third":
        if subject.first and sentence.lows[subject.first - 1] in (
            "where",
            "when",
            "that",
            "who",
            "which",
            "as",
            "than",
        ):
            return None
        named = story.thing if subject.text in ("it", "its") else story.person
        subject = Subject(named, "person") if named else None
    if subject is not None and subject.kind == USER:
        subject = _find_label_subject(sentence, one) or subject
    if subject is not None and _is_bare_relative(subject.text):
        named = _name_relative(sentence, subject.text)
        subject = replace(subject, text=named) if named else None
    if subject is not None and value_key(subject.text) in story.owner_keys:
        subject = Subject(USER, USER)
    return subject


def _find_label_subject(sentence: TokenizedSentence, one: FrameMatch) -> Subject | None:
    """The name before the colon of "Ada: Lives in Voss", where nothing behind it speaks in the first person.

    Stores of other programs write observations so. Without this the speaker would be taken for the subject, and facts
    about somebody else would stand against the person's own.
    """
    lows = sentence.lows
    colon = next((n for n in range(sentence.begin, min(one.at, sentence.begin + _LONGEST_LABEL)) if lows[n] == ":"), 0)
    if not colon or claim_word_lists().sets["first_person"].intersection(lows[colon + 1 : one.run[1]]):
        return None
    labels = set(lows[sentence.begin : colon])
    if labels & claim_word_lists().sets["label.topic"]:
        return None
    if labels <= claim_word_lists().sets["label.speaker"]:
        return Subject(USER, USER)
    named = read_name_at(sentence, colon - 1)
    is_whole = named is not None and named.first == sentence.begin
    return named if named is not None and named.kind in ("name", "person") and is_whole else None


def _find_leading_subject(sentence: TokenizedSentence, at: int) -> Subject | None:
    """The subject a sentence began with, for a clause that leaves it out."""
    if at <= sentence.begin or sentence.lows[at - 1] == ":":
        return Subject(USER, USER)
    behind = sentence.lows[sentence.begin : at]
    for n, low in enumerate(behind):
        if low in ("i", "we", "user"):
            return Subject(USER, USER)
        if low in claim_word_lists().sets["finite"] and n:
            return read_name_at(sentence, sentence.begin + n - 1)
    helping = claim_word_lists().sets["adverb"] | claim_word_lists().sets["neg"] | claim_word_lists().sets["aux"]
    plain = all(low in helping for low in behind)
    return Subject(USER, USER) if plain or any(low in ("my", "me", "our") for low in behind) else None


def _validity_of_match(
    sentence: TokenizedSentence,
    one: FrameMatch,
    usable: Sequence[tuple[FrameMatch, Subject]],
    bounds: Sequence[ValidityPhrase],
) -> tuple[str, str, str]:
    """The times that belong to a claim: those behind it and before the next, and those that lead the first one in."""
    since = until = at = ""
    places = sorted({sentence.tokens[other.at].start for other, _ in usable})
    here = sentence.tokens[one.at].start
    for n, span in enumerate(bounds):
        owner = max((place for place in places if place < span.start), default=places[0])
        if owner != here and not _is_sharing_time(sentence, owner, here):
            continue
        if span.again:
            before = next(
                (old.until or old.at or old.since for old in reversed(bounds[:n]) if old.until or old.at or old.since),
                "",
            )
            since = since or before
        since, until, at = since or span.since, until or span.until, at or span.at
    return since, until, at


def _is_sharing_time(sentence: TokenizedSentence, owner: int, here: int) -> bool:
    """Whether two claims share their time: words side by side, with nothing but words of the same phrase between."""
    if here > owner:
        return False
    between = sentence.text[here:owner]
    return not any(mark in between for mark in (",", ";", " and ", ".", ":"))


def _add_rule_claim(
    story: _Story, sentence: TokenizedSentence, one: FrameMatch, subject: Subject, times: tuple[str, str, str]
) -> None:
    value = strip_marks(sentence.text_between(*one.run))
    text_of = _owned_name(sentence, subject) + _without_property(" ".join(subject.text.split()), one.predicate)
    if (
        not value
        or len(value) > LONGEST_VALUE
        or len(text_of) > _LONGEST_SUBJECT
        or not text_of
        or value_key(value) in ("", value_key(text_of))
    ):
        return
    since, until, at = times
    mode, negative = one.mode, one.negative
    if at:
        since, until = (
            (since or at, until) if mode == "start" else (since, until or at) if mode in _ENDED else (since, until)
        )
    if mode == "past" and not until:
        return
    if mode == "end" and not until:
        negative = True
    if negative and until and one.mode != "state":
        negative = False
    first, last = _evidence_span(sentence, one)
    draft = ClaimDraft(
        subject=text_of,
        predicate=one.predicate,
        value=value,
        exclusive=bool(is_exclusive(one.predicate)),
        polarity="negative" if negative else "positive",
        valid_from=to_when(since),
        valid_to=to_when(until),
        start=first,
        end=last,
        confidence=_SURE,
    )
    key = canonical_form(draft)
    old = story.claims.get(key)
    if old is None:
        story.claims[key] = draft
    elif old.polarity == draft.polarity and (old.valid_from, old.valid_to) == (None, None):
        story.claims[key] = replace(old, valid_from=draft.valid_from, valid_to=draft.valid_to)


def _owned_name(sentence: TokenizedSentence, subject: Subject) -> str:
    """Whose a thing is, where somebody is named: Ilse's rent and Tove's rent are two."""
    first = subject.first
    is_owned = subject.kind == "thing" and first >= 2 and sentence.lows[first - 1] in ("'s", "'", "’")
    owner = sentence.tokens[first - 2] if is_owned else None
    return f"{owner.text}'s " if owner is not None and owner.cap and owner.low != "user" else ""


def _without_property(subject: str, predicate: str) -> str:
    """A subject without the noun of its predicate: the budget of the kitchen is of "kitchen budget"."""
    noun = predicate.partition("_")[0]
    owner = subject[: -len(noun) - 1]
    return owner if predicate in THING_PREDICATES and owner and subject.lower().endswith(f" {noun}") else subject


def _evidence_span(sentence: TokenizedSentence, one: FrameMatch) -> tuple[int, int]:
    """The clause that says it: from the mark before it to the mark behind its value."""
    first = min(one.at, one.run[0])
    last = max(one.at, one.run[1] - 1)
    if one.subject is not None and one.subject.after and one.subject.first < first and one.subject.after <= last:
        first = one.subject.first
    while first > 0 and sentence.lows[first - 1] not in (";", ".", "!", "(", ":", "—", "–", ","):
        first -= 1
    while last + 1 < len(sentence.tokens) and sentence.lows[last + 1] not in (";", ".", "!", ")", "—", "–", ",", "?"):
        last += 1
    return sentence.tokens[first].start, sentence.tokens[last].end


class UnreadClaims(Sequence[ClaimDraft]):
    """The claims of a text, in its order, read when they are first asked for. Not for several threads.

    A newcomer without a claim contradicts none: then nobody reads the sentences of what it is compared with, which took
    as long as everything else that rules ask of them.
    """

    def __init__(self, read: Callable[[], Sequence[ClaimDraft]]) -> None:
        """Read nothing yet.

        Args:
            read: reads the text.
        """
        self._read = read
        self._claims: Sequence[ClaimDraft] | None = None

    @property
    def is_read(self) -> bool:
        """Whether the text was read."""
        return self._claims is not None

    @overload
    def __getitem__(self, at: int) -> ClaimDraft: ...

    @overload
    def __getitem__(self, at: slice) -> Sequence[ClaimDraft]: ...

    def __getitem__(self, at: int | slice) -> ClaimDraft | Sequence[ClaimDraft]:
        """One claim, or some."""
        return self._load()[at]

    def __len__(self) -> int:
        """How many there are."""
        return len(self._load())

    def __repr__(self) -> str:
        """As what was read."""
        return repr(tuple(self._load()))

    def _load(self) -> Sequence[ClaimDraft]:
        if self._claims is None:
            self._claims = self._read()
        return self._claims


def is_unread(claims: Sequence[ClaimDraft]) -> bool:
    """Whether a text must be read to tell how many they are."""
    return isinstance(claims, UnreadClaims) and not claims.is_read


def is_known_empty(claims: Sequence[ClaimDraft]) -> bool:
    """Whether there are none, as far as that is known without reading a text."""
    return not is_unread(claims) and not claims


def _is_bare_relative(text: str) -> bool:
    """Whether a subject's words name a relative by a pronoun alone.

    Args:
        text: as a claim has it: `their family`, but not `my family` and not `Melanie's family`.
    """
    known = claim_word_lists().sets
    return _pronoun_of(text) in known["poss_third"] | known["poss_relative"]


def _name_relative(sentence: TokenizedSentence, text: str) -> str:
    """A bare relative with the name of whose relative it is: `Melanie's family`.

    Args:
        sentence: the sentence that the subject stands in.
        text: the subject, for which `_is_bare_relative` holds.

    Returns:
        The subject; what `my` would be left out of for a relative of the person's; "" where several or none are named.
    """
    pronoun, noun = _pronoun_of(text), text.partition(" ")[2]
    at = next((n for n in range(sentence.begin, len(sentence.lows)) if sentence.lows[n] == pronoun), 0)
    # What follows "whose mother is a nurse," is told of who has the mother, and was read as hers.
    is_sure = bool(noun) and pronoun not in claim_word_lists().sets["poss_relative"]
    owner = _read_only_person(sentence, at) if is_sure and at > sentence.begin else None
    if owner is None:
        return ""
    return noun if owner.kind == USER else f"{owner.text}'s {noun}"


def _is_led_by_pronoun(sentence: TokenizedSentence, text: str) -> bool:
    """Whether a subject is a relative that the sentence begins with and the pronoun before it was left out of.

    Args:
        sentence: the sentence that the subject was read in.
        text: the subject; `user` where it was read to be who speaks, although nobody does in the sentence.
    """
    begin = sentence.begin
    if sentence.lows[begin] not in claim_word_lists().sets["poss_third"]:
        return False
    is_nobodys = text == USER and claim_word_lists().sets["first_person"].isdisjoint(sentence.lows)
    return is_nobodys or sentence.lows[begin + 1 : begin + 1 + len(text.split())] == text.casefold().split()


def _pronoun_of(text: str) -> str:
    return text.partition(" ")[0].casefold()


def _read_only_person(sentence: TokenizedSentence, before: int) -> Subject | None:
    """Who begins a sentence, where nobody else is named before a place."""
    lows, known, first = sentence.lows, claim_word_lists().sets, sentence.begin
    if lows[first] in ("the", "user", "i", "we"):
        after = first + 2 if lows[first] == "the" else first + 1
        owner = Subject(USER, USER, first, after) if lows[after - 1] in ("user", "i", "we") else None
    else:
        after = capital_run(sentence, first, known["name_links"])
        owner = read_name_at(sentence, after - 1) if after > first else None
    if owner is None or owner.kind not in ("name", USER) or owner.first != first or lows[after] in ("'s", "'"):
        return None
    between = range(after, before)
    is_other = any(sentence.tokens[n].cap or any(lows[n] in known[name] for name in _PEOPLE) for n in between)
    return None if is_other else owner
