"""Whether somebody else's text contradicts what the person said: states it otherwise, or takes it for granted.

The one judge for the gate, whatever the kinds of the two and whichever came first, and for the marks of an answer. Each
sentence is read as it stands and as the user would say it, with what it takes for granted spelt out ("send it to my
lawyer X" says "my lawyer is X"); rules look first, then the relation model. Whoever wants to put a lie beside the
person's words chooses forms that are not read as a claim (a guess, a "they", a record of a form, an inversion), so such
texts are read once more, loosely, and only beside what the person said. Must not do: say which of the two is right,
what becomes of either, or believe anything.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from importlib.resources import files
from itertools import product

from core import log
from core.belief.extract.extraction import UnreadClaims, extract_claims, is_known_empty, is_unread
from core.belief.extract.normal_form import read_as_seen
from core.belief.extract.sentence import claim_word_lists
from core.belief.relate.distinctions import (
    are_in_series,
    attribute_apart,
    content_words,
    has_contradiction,
    has_other_amounts,
    is_amount_restated,
    value_apart,
)
from core.belief.relate.features import load_vocabulary
from core.belief.relate.possession import (
    Possession,
    is_about_user,
    is_one_time_event,
    is_part_of_value,
    join_alternatives,
    read_possessed_things,
    read_possessions,
    to_first_person,
    value_kinds,
)
from core.belief.relate.relation_model import is_same_text
from core.errors import LociError
from core.text.sentences import split_sentences
from core.text.terms import index_terms
from core.types.belief import ClaimDraft, ComparedText, Label, Relation

_log = log.get("belief")
_MOST = 600
"""Characters that are read loosely; a longer text is no short lie, and its sentences are read as claims."""
_RECORD = re.compile(r"[{}\[\]()\"'`|=<>*#;:,]+|->")
_NAMED = re.compile(
    r"(?:.*[,:;.]\s+)?(?P<value>[\w'& .@-]{1,60}?) (?:is|was) (?:the user's|user's|my) (?P<name>.{1,60})",
    re.IGNORECASE | re.DOTALL,
)
_OWNED = re.compile(r"(?:the user's|user's|my) (?P<name>.{1,40}?) (?:is|was) (?P<value>.{1,120})", re.IGNORECASE)
_OF_THEM = re.compile(r"[\w' -]{1,60}\b(?:is|are)\b", re.IGNORECASE)
"""Whose thing is named without a word on whom it is: a record of the person's, where it says what the thing is."""
_SPELT = re.compile(r"(?<!\w)[^\W\d_](?:[ .\-_*][^\W\d_]){2,}(?!\w)")
_PIECES = 6
DOUBT = 0.4
"""From this likelihood of SUPERSEDE a text is at odds with the person's word: a person is asked in any case."""
_ENDS = -1.0
"""From these log odds that a text ends what the person said it may be at odds with it by meaning. What only meets the
person's words by chance looks like a change to the relation model, not like an end: of 47 such pairs in the sample
palace 33 are below, of all attacks of `tests/security` that were held back by meaning none."""
_SURE = 0.8
"""From this one a sentence is that speaks of the thing and gives it no other name."""
_STRUCTURE = 0.9
"""How likely what rules see is."""
_CHARACTERS, _SENTENCES, _WHOLE = 16_384, 32, 600
"""So much of a text is read, so many sentences of it; a short text is asked about as a whole, too."""
_READINGS = 4
_WORD = 48
_RUN = re.compile(rf"\S{{{_WORD + 1},}}")
"""A longer run of signs without a blank is cut there."""
Extract = Callable[..., tuple[ClaimDraft, ...]]
Classify = Callable[[Sequence[tuple[ComparedText, ComparedText]]], Sequence[Relation]]
_WHERE = re.compile(
    r"(?P<value>[A-Z0-9][\w'&.-]*(?: [A-Z0-9][\w'&.-]*){0,5}),? where (?:I|we|the user) (?P<rest>[a-z]+)\b"
)
_TURNING = re.compile(
    r"\b(?:now|until|instead|no longer|any ?more|any longer|used to|changed|switched|moved|replaced|new)\b",
    re.IGNORECASE,
)
_DENYING = re.compile(r"\b(?:not|no|never|none|without|stopped|no longer|any ?more|any longer)\b|n't\b", re.IGNORECASE)


@dataclass(frozen=True)
class ContradictionSentence:
    """One sentence of a text, as the check for contradictions of the person reads it.

    Attributes:
        compared: as it stands, with its claims.
        about_user: whether the text speaks of the user by that name.
        extract: reads the claims of a reading.
    """

    compared: ComparedText
    about_user: bool
    extract: Extract

    @cached_property
    def possessions(self) -> tuple[Possession, ...]:
        """What the sentence says of things of the user's."""
        return read_possessions(self.compared.text, about_user=self.about_user)

    @cached_property
    def things(self) -> tuple[tuple[str, ...], ...]:
        """The things of the user's that the sentence speaks of."""
        return read_possessed_things(self.compared.text, about_user=self.about_user)

    @cached_property
    def content_words(self) -> frozenset[str]:
        """The stems of the sentence's words that carry content."""
        return content_words(self.compared.text)

    @cached_property
    def readings(self) -> tuple[ComparedText, ...]:
        """What the sentence takes for granted, spelt out."""
        named = [one.sentence for one in self.possessions if not one.link]
        texts = dict.fromkeys([*named, *_where_user_does(self.compared.text), *_where_user_lives(self.possessions)])
        return tuple(
            self._make_compared_text(text) for text in texts if text not in (self.compared.text, self.voiced.text)
        )[:_READINGS]

    @cached_property
    def voiced(self) -> ComparedText:
        """What the sentence says, as the user would say it."""
        first_person = to_first_person(self.compared.text, about_user=self.about_user)
        return self.compared if first_person == self.compared.text else self._make_compared_text(first_person)

    @cached_property
    def claims(self) -> Sequence[ClaimDraft]:
        """What the sentence claims in any of its readings."""
        return UnreadClaims(self._read_claims)

    @cached_property
    def loose(self) -> _LooseText:
        """As it is read loosely, beside what the person said."""
        return _LooseText(self.compared)

    def _read_claims(self) -> tuple[ClaimDraft, ...]:
        records = (record for one in self.possessions if not one.link for record in as_record(one.name, one.value))
        compared_texts = (self.compared, self.voiced, *self.readings, *map(self._make_compared_text, records))
        return tuple(claim for one in compared_texts for claim in one.claims)

    def _make_compared_text(self, text: str) -> ComparedText:
        return _unread_text(text, self.compared.at_ms, self.extract)


@dataclass(frozen=True)
class ContradictionText:
    """A text, sentence by sentence, as the check for contradictions of the person reads it.

    Attributes:
        text: as it is read.
        sentences: those that state something or give an order; questions are left out.
    """

    text: str
    sentences: tuple[ContradictionSentence, ...]

    @property
    def content_words(self) -> frozenset[str]:
        """The stems of all its sentences' words that carry content."""
        return frozenset[str]().union(*(sentence.content_words for sentence in self.sentences))


@dataclass(frozen=True, slots=True)
class ContradictionOdds:
    """How likely a text is at odds with the person's own word.

    Attributes:
        share: 0 to 1; from `DOUBT` on it is.
        by_rule: whether a rule sees it, not meaning alone.
        is_whole: whether everything of it was looked at; where not, that nothing contradicts it proves nothing.
    """

    share: float = 0.0
    by_rule: bool = False
    is_whole: bool = True

    @property
    def is_doubt(self) -> bool:
        """Whether the odds are such that the person should look."""
        return self.share >= DOUBT


def is_rival(existing: ComparedText, incoming: ComparedText) -> bool:
    """Whether a text denies, or tells otherwise, what stands as the only value of its kind.

    Args:
        existing: what the person said, with its claims.
        incoming: what somebody else tells.

    Returns:
        True where a person should look. False where `existing` claims nothing that excludes others.
    """
    return _is_rival(existing, _LooseText(incoming))


def as_record(name: str, value: str) -> Iterator[str]:
    """A name and its value as the reader of claims knows them; of a list the last part, too ("street, town").

    Args:
        name: of a thing of the user's.
        value: what it is said to be.
    """
    yield from (f"{name}: {value}", f"The user {name} {value}.", f"The user's {name} is {value}.")
    if "," in value:
        yield f"{name}: {value.rpartition(',')[2].strip()}"


def read_contradiction_text(compared: ComparedText, extract: Extract, most: int = _SENTENCES) -> ContradictionText:
    """Read a text sentence by sentence for the check for contradictions of the person.

    Args:
        compared: the text, with the claims that are known of it as a whole.
        most: sentences that are read, at most.
    """
    # A run without a blank is no word of a sentence, and patterns of words would try each of its beginnings and ends.
    text = _RUN.sub(lambda run: run.group()[:_WORD], read_as_seen(compared.text[:_CHARACTERS]))
    about = is_about_user(text)
    parts = [text[begin:end].strip()[:_WHOLE] for begin, end in split_sentences(text)[:most]]
    parts = [part for part in parts if part and not part.endswith("?")]
    if len(parts) > 1 and len(text) <= _WHOLE:
        parts.append(text)

    def read(part: str) -> ComparedText:
        if len(parts) == 1 and compared.claims:
            return replace(compared, text=part)
        return _unread_text(part, compared.at_ms, extract)

    return ContradictionText(text, tuple(ContradictionSentence(read(part), about, extract) for part in parts))


def contradiction_odds(
    pairs: Sequence[tuple[ContradictionText, ContradictionText]],
    classify: Classify | None,
    most: int,
    relevances: Sequence[float] | None = None,
) -> list[ContradictionOdds]:
    """How likely each text is at odds with what the person said.

    Args:
        pairs: (what the person said, what somebody else says).
        classify: the relation model; None where there is none: then rules alone tell.
        most: pairs of sentences that it is asked about, at most: those first that speak of one matter.
        relevances: what the caller discounts each share by, 0 to 1. The model is not asked about a pair that even a
            share of 1 makes no doubt of; its share is then 0.

    Returns:
        One for each pair, in order.

    Raises:
        LociError: as `classify`.
    """
    found = [ContradictionOdds()] * len(pairs)
    asked: list[_ModelPair] = []
    for place, (own, other) in enumerate(pairs):
        each = _list_opposable(own, other)
        if any(
            _is_at_odds_by_rule(existing_sentence, incoming_sentence) for existing_sentence, incoming_sentence in each
        ):
            found[place] = ContradictionOdds(_STRUCTURE, by_rule=True)
        else:
            asked += [
                one
                for existing_sentence, incoming_sentence in each
                for one in _worth_asking(place, existing_sentence, incoming_sentence)
            ]
    asked.sort(key=lambda one: (one.rank, one.place))
    for one in asked[most:] if classify is not None else asked:
        found[one.place] = ContradictionOdds(is_whole=False)
    asked = [] if classify is None else asked[:most]
    if relevances is not None:
        asked = [one for one in asked if relevances[one.place] >= DOUBT]
    if classify is None or not asked:
        return found
    for one, relation in zip(asked, classify([(one.existing, one.incoming) for one in asked]), strict=True):
        share, before = relation.probabilities.get(Label.SUPERSEDE, 0.0), found[one.place]
        if relation.ends is not None and relation.ends < _ENDS:
            continue
        if share >= one.least and share > before.share:
            found[one.place] = ContradictionOdds(share, is_whole=before.is_whole)
    return found


def weigh_contradictions(
    pairs: Sequence[tuple[ContradictionText, ContradictionText]],
    classify: Classify | None,
    most: int,
    relevances: Sequence[float] | None = None,
) -> list[ContradictionOdds]:
    """As `contradiction_odds`; where the relation model does not answer, what rules see decides."""
    try:
        return contradiction_odds(pairs, classify, most, relevances)
    except LociError as error:
        _log.warning("the relation model did not answer: %s", error.code.value)
        return contradiction_odds(pairs, None, most)


def is_same_or_in_series(own: str, other: str) -> bool:
    """Whether two texts are one, or speak of two numbered things of a series: then neither is against the other."""
    return is_same_text(own, other) or are_in_series(own, other)


@dataclass(frozen=True, slots=True)
class _RivalPatterns:
    """`resources/claims/rivals.json`, as patterns."""

    guesses: re.Pattern[str]
    persons: re.Pattern[str]
    possessives: re.Pattern[str]
    plural: re.Pattern[str]
    inverted: re.Pattern[str]
    sayings: re.Pattern[str]
    plainly: Mapping[str, str]
    denials: str
    between: str
    denied: str
    denying: re.Pattern[str]


@dataclass(frozen=True)
class _LooseText:
    """What somebody else tells, read loosely; found once, whatever it is compared with."""

    compared: ComparedText

    @cached_property
    def text(self) -> str:
        """As it is seen; empty where it is no short lie."""
        text = read_as_seen(self.compared.text)
        return text if len(text) <= _MOST else ""

    @cached_property
    def claims(self) -> tuple[Sequence[ClaimDraft], ...]:
        """What each loose reading claims."""
        at = self.compared.at_ms
        found = (extract_claims(loose, now_ms=at, said_ms=at) for loose in _iter_loose_readings(self.text))
        return tuple(claims for claims in found if claims)

    @cached_property
    def may_rival(self) -> bool:
        """Whether it denies or claims anything at all."""
        return _rival_patterns().denying.search(self.text) is not None or bool(self.claims)


def _is_rival(existing: ComparedText, loose: _LooseText) -> bool:
    if not loose.text or is_known_empty(existing.claims):
        return False
    if is_unread(existing.claims) and not loose.may_rival:
        return False
    claims = [claim for claim in existing.claims if claim.exclusive and claim.polarity == "positive"]
    if not claims:
        return False
    return _denies_value(claims, loose.text) or any(has_contradiction(claims, found) for found in loose.claims)


def _unread_text(text: str, at_ms: int | None, extract: Extract) -> ComparedText:
    return ComparedText(text, at_ms, UnreadClaims(partial(extract, text, now_ms=at_ms, said_ms=at_ms)))


def _denies_value(claims: Sequence[ClaimDraft], text: str) -> bool:
    """Whether a value of the person's stands right behind a word that denies it, or before one."""
    words = _rival_patterns()
    return any(
        re.search(
            rf"\b(?:{words.denials})\s+(?:(?:{words.between})\s+){{0,2}}{value}(?!\w)"
            rf"|(?<!\w){value}\s+(?:is|was|are)\s+(?:{words.denied})(?!\w)",
            text,
            re.IGNORECASE,
        )
        for value in (re.escape(read_as_seen(claim.value)) for claim in claims)
    )


def _iter_loose_readings(text: str) -> Iterator[str]:
    """The text without guessing, with the user for whom it speaks of, in plain words, turned round, and as a record."""
    words = _rival_patterns()
    joined = _SPELT.sub(lambda letters: "".join(filter(str.isalnum, letters.group())), text)
    plain = " ".join(words.guesses.sub(" ", joined).split())
    plain = words.persons.sub("the user", plain)
    if is_about_user(text):
        plain = words.possessives.sub("the user's", plain)
    elif _OF_THEM.match(plain):
        plain = words.plural.sub("the user's", plain)
    plain = words.sayings.sub(lambda match: words.plainly[match.group().casefold()], plain)
    if plain != text:
        yield plain
    turned = words.inverted.fullmatch(plain.strip(" .!"))
    if turned is not None:
        value, rest = turned["value"], turned["rest"]
        yield from (f"{rest} {value}.", f"{rest} in {value}.", f"{rest} at {value}.")
    named = _NAMED.fullmatch(plain.strip(" .!")) or _OWNED.fullmatch(plain.strip(" .!"))
    if named is not None:
        yield from as_record(named["name"], named["value"])
    yield from _iter_record_sentences(words.sayings.sub(lambda match: words.plainly[match.group().casefold()], text))


def _iter_record_sentences(text: str) -> Iterator[str]:
    """What a record says, read as a sentence: the last two of its pieces are a name and a value."""
    pieces = [piece for one in _RECORD.split(text) if (piece := one.replace("_", " ").strip(" .\n\t-"))]
    if not 2 <= len(pieces) <= _PIECES:
        return
    yield from as_record(pieces[-2].split(".")[-1].strip(), pieces[-1])


@cache
def _rival_patterns() -> _RivalPatterns:
    vocabulary = json.loads((files("resources") / "claims" / "rivals.json").read_text(encoding="utf-8"))

    any_of = partial(join_alternatives, vocabulary)

    def whole(*names: str) -> re.Pattern[str]:
        return re.compile(rf"(?<![\w'])(?:{any_of(*names)})(?![\w'])", re.IGNORECASE)

    return _RivalPatterns(
        guesses=whole("guesses"),
        persons=whole("persons"),
        sayings=whole("sayings"),
        plainly=vocabulary["sayings"],
        possessives=whole("possessives", "of_one"),
        plural=whole("possessives"),
        inverted=re.compile(
            rf"(?:.*[,:;.]\s+)?(?:not \S+ but )?(?P<value>[\w'& .-]{{1,60}}?) (?:is|was) (?:{any_of('inverted')}) "
            r"(?P<rest>.{1,200})",
            re.IGNORECASE | re.DOTALL,
        ),
        denials=any_of("denials"),
        between=any_of("between"),
        denied=any_of("denied"),
        denying=re.compile(
            rf"\b(?:{any_of('denials')})\s|\s(?:is|was|are)\s+(?:{any_of('denied')})(?!\w)", re.IGNORECASE
        ),
    )


@dataclass(frozen=True, slots=True)
class _ModelPair:
    """Two sentences that the model is asked about.

    Attributes:
        place: of the pair of texts that they are from.
        rank: the less, the sooner it is asked.
        least: the likelihood of SUPERSEDE from which it counts.
    """

    place: int
    rank: int
    existing: ComparedText
    incoming: ComparedText
    least: float


def _list_opposable(
    own: ContradictionText, other: ContradictionText
) -> list[tuple[ContradictionSentence, ContradictionSentence]]:
    """The pairs of sentences that may be at odds: none that say one thing, or speak of two things of a series."""
    whole = own.text, other.text
    if is_same_or_in_series(*whole):
        return []
    pairs = product(own.sentences, other.sentences)
    return [
        (one, two)
        for one, two in pairs
        if (texts := (one.compared.text, two.compared.text)) == whole or not is_same_or_in_series(*texts)
    ]


def _is_at_odds_by_rule(existing: ContradictionSentence, incoming: ContradictionSentence) -> bool:
    """Whether rules see that two sentences give one thing two values."""
    if has_contradiction(existing.compared.claims, incoming.claims) or _is_rival(existing.compared, incoming.loose):
        return True
    if any(_gives_otherwise(one, other) for one, other in product(existing.possessions, incoming.possessions)):
        return True
    if _is_head_apart(existing, incoming):
        return True
    voices = [incoming.compared] if incoming.voiced is incoming.compared else [incoming.compared, incoming.voiced]
    return any(_states_other_value(existing.compared, told) for told in voices)


def _states_other_value(existing: ComparedText, incoming: ComparedText) -> bool:
    numbers = load_vocabulary()["numbers"]
    apart = value_apart(existing, incoming) or attribute_apart(existing, incoming)
    if apart is not None:
        return not is_part_of_value(*apart) and _are_of_a_kind(*apart)
    return (
        is_amount_restated(existing.text, incoming.text, numbers)
        or is_amount_restated(incoming.text, existing.text, numbers)
        or (has_other_amounts(existing.text, incoming.text, numbers) and _is_one_matter(existing, incoming))
    )


def _gives_otherwise(own: Possession, other: Possession) -> bool:
    """Whether a thing of the user's is given another value of the same kind: a name for a name, a place for a place."""
    if not _is_one_thing(own.stems, other.stems) or own.link != other.link or is_part_of_value(own.value, other.value):
        return False
    if not own.link:
        return _are_of_a_kind(own.value, other.value)
    # A place is named or not; a day and a number are none.
    kinds = [
        value_kinds(one.value) - {"name"} if "name" not in value_kinds(one.value) else set() for one in (own, other)
    ]
    return kinds[0] == kinds[1]


def _is_head_apart(existing: ContradictionSentence, incoming: ContradictionSentence) -> bool:
    """Whether a thing of the user's goes with another name of one kind: Elm Street School, then Ravenhill School."""
    if is_one_time_event(incoming.compared.text):
        return False
    for own in existing.possessions:
        head = own.value.split()[-1]
        if (
            not head[0].isupper()
            or " " not in own.value
            or not any(_speaks_of(own.stems, one) for one in incoming.things)
        ):
            continue
        values = re.findall(rf"((?:[A-Z0-9][\w'&.-]* ){{1,5}}){re.escape(head)}\b", incoming.compared.text)
        if any(not is_part_of_value(own.value, f"{value}{head}") for value in values):
            return True
    return False


def _is_one_thing(own: Sequence[str], other: Sequence[str]) -> bool:
    """Whether two names are of one thing: "number" may stand for "phone number"."""
    return tuple(own) == tuple(other) or (len(other) == 1 and own[-1:] == tuple(other))


def _are_of_a_kind(own: str, other: str) -> bool:
    """Whether two values are alternatives: both hold a name, a number or a date, or neither and both begin alike."""
    kinds = value_kinds(own), value_kinds(other)
    if any(kinds):
        return bool(kinds[0] & kinds[1])
    return own.split()[:1] == other.split()[:1]


def _is_one_matter(existing: ComparedText, incoming: ComparedText) -> bool:
    """Whether both claim the same of the same: then two amounts are of one thing."""
    if is_known_empty(existing.claims) or is_known_empty(incoming.claims):
        return False  # nobody need read the other
    keys = [
        {(one.subject.casefold(), one.predicate, one.value.casefold()) for one in compared.claims}
        for compared in (existing, incoming)
    ]
    return bool(keys[0] & keys[1])


def _worth_asking(place: int, existing: ContradictionSentence, incoming: ContradictionSentence) -> Iterator[_ModelPair]:
    """What the model is asked of two sentences, in each reading of the second."""
    least = _least_likelihood(existing, incoming)
    if least > 1.0:
        return
    together = len(existing.content_words & incoming.content_words)
    known = {
        one.sentence
        for own, one in product(existing.possessions, incoming.possessions)
        if _is_one_thing(own.stems, one.stems) and is_part_of_value(own.value, one.value)
    }
    voiced = () if incoming.voiced is incoming.compared else (incoming.voiced,)
    for step, told in enumerate(
        (incoming.compared, *voiced, *incoming.readings, *_iter_suggested_readings(existing, incoming))
    ):
        if told.text in known:
            continue  # a part of the person's value, or more of it
        yield _ModelPair(place, step - 2 * together, existing.compared, told, least)


def _least_likelihood(existing: ContradictionSentence, incoming: ContradictionSentence) -> float:
    """From which likelihood the model's word counts.

    What a thing of the user's is called is not at odds with a sentence that brings nothing that could be its name, and
    only where that is very sure with one that gives it none ("my bank raised the fee in Spain") or names other things.
    """
    least = DOUBT
    for own in existing.possessions:
        kinds = value_kinds(own.value)
        if own.link or not kinds:
            continue
        if not kinds & _new_value_kinds(incoming, own.value) and _DENYING.search(incoming.compared.text) is None:
            return 2.0
        if _TURNING.search(incoming.compared.text) is None and not _may_name(own, kinds, existing, incoming):
            least = _SURE
    return least


def _new_value_kinds(incoming: ContradictionSentence, known: str) -> frozenset[str]:
    """The kinds of what a sentence brings that could be a value, beside what is known."""
    text = incoming.compared.text[:1].lower() + incoming.compared.text[1:]
    left_out = {word.casefold() for word in re.findall(r"\w+", known)}
    bare = re.sub(r"\w+", lambda word: "" if word.group().casefold() in left_out else word.group(), text)
    values = (one.value for one in incoming.possessions if not is_part_of_value(one.value, known))
    return value_kinds(bare).union(*map(value_kinds, values))


def _may_name(
    own: Possession, kinds: frozenset[str], existing: ContradictionSentence, incoming: ContradictionSentence
) -> bool:
    """Whether a sentence gives a thing of the user's another name, or speaks of none of them."""
    named = [one for one in incoming.possessions if not one.link]
    values = [one.value for one in named if _is_one_thing(own.stems, one.stems)]
    if any(kinds & value_kinds(value) and not is_part_of_value(own.value, value) for value in values):
        return True
    if any(_speaks_of(own.stems, thing) for thing in incoming.things):
        return False
    others = [one for one in named if not _is_one_thing(own.stems, one.stems)]
    if others and not any(kinds & value_kinds(one.value) for one in others):
        return False
    return not incoming.things or bool(existing.content_words & incoming.content_words)


def _speaks_of(own: Sequence[str], thing: Sequence[str]) -> bool:
    return tuple(thing[: len(own)]) == tuple(own) or tuple(thing[:1]) == tuple(own[-1:])


def _iter_suggested_readings(
    existing: ContradictionSentence, incoming: ContradictionSentence
) -> Iterator[ComparedText]:
    """Readings that what the person said suggests.

    A value whose last word is the person's matter ("my account at Zanzi Bank" of a bank), and a day or a number that
    goes with a thing where the person named one ("my board meeting on Thursday").
    """
    kinds = value_kinds(existing.compared.text[:1].lower() + existing.compared.text[1:]) & {"date", "number"}
    for one in incoming.possessions:
        head = index_terms(one.value.split()[-1])
        if head in existing.content_words and " " in one.value and head not in one.stems:
            yield ComparedText(Possession(head, one.value).sentence, incoming.compared.at_ms)
        if one.link and kinds & value_kinds(one.value):
            linked = one if "date" in value_kinds(one.value) else replace(one, link="")
            yield ComparedText(linked.sentence, incoming.compared.at_ms)


def _where_user_does(sentence: str) -> Iterator[str]:
    """The user's own words for a place where they do something: "Zanzi Bank, where I bank"."""
    for match in _WHERE.finditer(sentence):
        yield from (f"I {match['rest']} {link} {match['value']}." for link in ("with", "at"))


def _where_user_lives(found: Sequence[Possession]) -> Iterator[str]:
    """The user's own words for where a home of theirs is: "my flat at 9 Oak Road"."""
    homes = claim_word_lists().sets["dwelling"] | {"home", "residence"}
    for one in found:
        if one.link in ("at", "in") and one.name.split()[-1] in homes and value_kinds(one.value) & {"name", "number"}:
            yield f"I live {one.link} {one.value}."
