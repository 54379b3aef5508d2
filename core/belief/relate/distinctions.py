"""Rules beside the relation model: what sets two similar texts apart, and whether one brings an outdated value back.

One slot filled differently ("my bank is A", "the user's bank is B"), another amount of the same unit ("up to 9 kg",
"presumably 7 kg"), another member of a series ("Pot 3", "web-27", "for the 7th time"), a value that is over ("residence
Graz", after the move from Graz to Linz). Pure. Must not do: say which of the two is right, or that they cannot both be
true; it only says that a person should look.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

from core.belief.extract.extraction import is_known_empty
from core.belief.extract.frames import load_exclusivity
from core.belief.extract.normal_form import read_as_seen, value_key
from core.belief.extract.sentence import claim_word_lists as vocabulary_words
from core.belief.relate.features import FeatureWord, load_vocabulary, prepare_text
from core.text.terms import stop_words
from core.types.belief import ClaimDraft, ComparedText
from core.types.values import When

_PLURAL = 4
"""From this length a word's final s is left out when words are compared."""
_LONG = 3
"""A number of so many signs tells a value by itself ("1234"); a shorter one only with the word beside it ("60 km")."""
_CODE_TOKEN = re.compile(r"[\w.\-]*\w")
_NUMBER = re.compile(r"\d+(?:st|nd|rd|th)?")
_DIGITS = re.compile(r"\d+")
_PRONOUNS = frozenset({"i", "we", "you", "he", "she", "they", "it"})
_LATEST_SUBJECT = 8
"""The place in a text up to which a code is part of its subject: "The word number 3 of the list is …"."""
_MOST_FILLED = 4
"""Words that one place of a frame may be filled with."""
_CHANGED = frozenset({"now", "currently", "instead", "nowadays"})
_LIGHT = _CHANGED | {"today", "actually", "only", "just"}
_AMOUNT_TOKEN = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+")
_AMOUNT = re.compile(r"\d+(?:[.,]\d+)*")
_GROUPED = re.compile(r"[.,](?=\d{3}(?:[.,]|$))")
_WORD = re.compile(r"[\w@.+-]+")
_PERSON = re.compile(r"\b(?:the\s+)?user(?:'s|’s)?(?!\w)|\b(?:i|i'm|my|me|mine)(?!\w)", re.IGNORECASE)
_LEFT_OUT = frozenset({"a", "an", "the"})
_PASSING = frozenset({"now", "currently", "new", "current", "actually", "still", "today", "called", "named"})
_BE = frozenset({"is", "was", "become", "became"})
_SELF = "\x01"
_FOLDED = re.compile(rf"{_SELF}|{_WORD.pattern}")
_MOST_NAMED = 5
_MOST_WORDS, _MOST_APART = 24, 4


def has_outdated_value(over: ComparedText, current: ComparedText, incoming: ComparedText) -> bool:
    """Whether a newcomer names the value of a version that is over, and of the same matter.

    A value is a number, a date, a name, the value of a claim, or the word that another took the place of beside the
    same word ("chicken kibble", then "salmon kibble").

    Args:
        current: what stands in its place.

    Returns:
        Whether it does. A newcomer that shares nothing else with the matter does not, unless the two versions share
        nothing themselves: then the value alone tells.
    """
    old, now, new = (_read_comparable_words(version.text) for version in (over, current, incoming))
    dropped = old.known - now.known
    topic = (old.known & now.known) - old.marks()
    if topic and not topic & new.known:
        return False
    # A name that begins a sentence looks like any word there: what is written like a name in either text is one.
    named = old.marks() | new.marks() | _exclusive_value_words(over)
    for form in sorted(dropped & new.known):
        if form in named and _has_same_value(form, old, new, is_alone=not topic):
            return True
    return any(pair in set(new.pairs()) for pair in _iter_replaced_pairs(old, now, dropped))


def are_in_series(existing: str, incoming: str) -> bool:
    """Whether two texts say the same kind of thing of two numbered things or occasions.

    Returns:
        False where the subject is the same, and where the only number that differs is a quantity.
    """
    seen = [read_as_seen(text).casefold() for text in (existing, incoming)]
    if not all(map(_DIGITS.search, seen)):
        return False  # what is numbered has a number
    old, new = map(_CODE_TOKEN.findall, seen)
    place = next((place for place, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), None)
    if place is None:
        return False
    return _is_numbered(old, new) or _is_of_other_subjects(old, new, place)


def has_other_amounts(existing: str, incoming: str, numbers: Mapping[str, str]) -> bool:
    """Whether two texts name amounts of one unit, and never the same.

    Args:
        numbers: number words to digits, one word each.

    Returns:
        False where they share no unit, or agree on an amount of each unit they share.
    """
    old, new = _amounts_by_unit(existing, numbers), _amounts_by_unit(incoming, numbers)
    return any(old[unit].isdisjoint(new[unit]) for unit in old.keys() & new.keys())


def is_amount_restated(existing: str, incoming: str, numbers: Mapping[str, str]) -> bool:
    """Whether a text says that the amount of what stands is another now, and names nothing else: "I take 25 mg now".

    Args:
        existing: what stands: "I take 50 mg of sertraline".
        numbers: as in `has_other_amounts`.

    Returns:
        True where all its words but the amount and light ones stand in what stands, too. False without a word that
        tells of a change: "I ran 8 km" is another run.
    """
    is_changed = not _CHANGED.isdisjoint(_AMOUNT_TOKEN.findall(read_as_seen(incoming).casefold()))
    if not is_changed or not has_other_amounts(existing, incoming, numbers):
        return False
    old, new = (
        {word for word in _AMOUNT_TOKEN.findall(read_as_seen(text).casefold()) if not _AMOUNT.fullmatch(word)}
        - stop_words()
        - _LIGHT
        for text in (existing, incoming)
    )
    return bool(new) and new <= old and not {numbers.get(word, "") for word in new} - {""}


def is_one_slot_apart(existing: ComparedText, incoming: ComparedText) -> bool:
    """Whether two short texts differ in one place only, in what fills it, and that place holds one value as a rule.

    Returns:
        False for texts of many words, and where both are read as claims of a predicate that holds many values.
    """
    return (
        has_contradiction(existing.claims, incoming.claims) or _find_single_difference(existing, incoming) is not None
    )


def value_apart(existing: ComparedText, incoming: ComparedText) -> tuple[str, str] | None:
    """The two values, as written, where two short texts are one sentence with another value in it.

    Returns:
        As `is_one_slot_apart`, but None where a function word is among what differs ("my wife's name is A" and "my
        wife's sister is called B" speak of two things), or where things of two names are told the same of.
    """
    apart = _find_single_difference(existing, incoming)
    if apart is None or not stop_words().isdisjoint(word for part in apart for word in part):
        return None
    words = _folded_words(existing.text)
    at = _count_shared_words(words, _folded_words(incoming.text))
    # Behind the thing's name stands its value, or before "is my ..."; else two things are told apart.
    if _SELF not in words[at:] and (stop_words() | {_SELF}).issuperset(words[:at]):
        return None
    old, new = (_as_written(text_side.text, part) for text_side, part in zip((existing, incoming), apart, strict=True))
    # Behind two names other words differ, too: two things are told two things of.
    return None if _has_words_behind_name(old) and _has_words_behind_name(new) else (old, new)


def attribute_apart(existing: ComparedText, incoming: ComparedText) -> tuple[str, str] | None:
    """The two values, as written, that two sentences give one thing of the person's, however they go on behind them.

    "My bank is A." beside "the user's bank is B, in case anybody asks": one thing of a person has one value as a rule.
    """
    old, new = _read_attribute(existing.text), _read_attribute(incoming.text)
    if old is None or new is None or old[0] != new[0]:
        return None
    least = min(len(old[1]), len(new[1]))
    if old[1][:least] == new[1][:least]:
        return None
    return _as_written(existing.text, old[1]), _as_written(incoming.text, new[1])


def content_words(text: str) -> frozenset[str]:
    """The words of a text that are neither function words nor the person."""
    return frozenset(_folded_words(text)) - stop_words() - _PASSING - {_SELF}


def has_contradiction(existing: Sequence[ClaimDraft], incoming: Sequence[ClaimDraft]) -> bool:
    """Whether a claim of each side cannot both hold (design section 4, structural conflict).

    Same subject and predicate, windows of validity that overlap, and either another value of an exclusive predicate
    or the same value with the other polarity.

    Args:
        existing: claims of what stands.
        incoming: claims of what is new.
    """
    if is_known_empty(existing) or is_known_empty(incoming):
        return False
    return any(_are_contradictory(old, new) for old in existing for new in incoming)


def are_of_other_times(existing: Sequence[ClaimDraft], incoming: Sequence[ClaimDraft]) -> bool:
    """Whether both claim one thing of one subject, and never for the same time: then neither is against the other."""
    same = [
        (old, new)
        for old in existing
        for new in incoming
        if old.predicate == new.predicate and value_key(old.subject) == value_key(new.subject)
    ]
    return bool(same) and not any(_do_periods_overlap(old, new) for old, new in same)


@dataclass(frozen=True, slots=True)
class _ValueWords:
    """The words of a text that tell something: folded, without function words."""

    words: tuple[FeatureWord, ...]
    forms: tuple[str, ...]

    @property
    def known(self) -> frozenset[str]:
        return frozenset(self.forms)

    def marks(self) -> frozenset[str]:
        """Forms that point at one value: numbers, dates and names."""
        dates = load_vocabulary()["dates"]
        return frozenset(
            form
            for word, form in zip(self.words, self.forms, strict=True)
            if word.number or word.name or word.form in dates
        )

    def neighbour_pairs(self, form: str) -> frozenset[tuple[str, str]]:
        """The pairs of neighbours that a form is one of."""
        return frozenset(pair for pair in self.pairs() if form in pair)

    def pairs(self) -> Iterator[tuple[str, str]]:
        return zip(self.forms, self.forms[1:], strict=False)


def _has_same_value(form: str, old: _ValueWords, new: _ValueWords, *, is_alone: bool) -> bool:
    """Whether a form that both have is the same value in both."""
    if not any(char.isdigit() for char in form):
        return True
    return (len(form) >= _LONG and not is_alone) or bool(old.neighbour_pairs(form) & new.neighbour_pairs(form))


def _iter_replaced_pairs(old: _ValueWords, now: _ValueWords, dropped: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Pairs of the old text in which one word was exchanged and the other stayed."""
    pairs = set(now.pairs())
    for first, second in old.pairs():
        exchanged_first = first in dropped and any(b == second and a not in old.known for a, b in pairs)
        exchanged_second = second in dropped and any(a == first and b not in old.known for a, b in pairs)
        if exchanged_first or exchanged_second:
            yield first, second


def _exclusive_value_words(compared: ComparedText) -> frozenset[str]:
    """The words of the values that can hold one at a time."""
    found: Sequence[str] = [claim.value for claim in compared.claims if claim.exclusive]
    return frozenset(form for value in found for form in _read_comparable_words(value).forms)


def _read_comparable_words(text: str) -> _ValueWords:
    """The words of a text without stop words, with the forms by which values are compared."""
    stops = stop_words()
    words = tuple(word for word in prepare_text(read_as_seen(text)).words if word.form not in stops)
    return _ValueWords(words, tuple(_value_form(word.form) for word in words))


def _value_form(form: str) -> str:
    return form.removesuffix("s") if len(form) >= _PLURAL and form.isalpha() else form


def _is_numbered(old: Sequence[str], new: Sequence[str]) -> bool:
    """Whether nothing but numbers differs, and one of them names a thing or counts an occasion."""
    apart = [place for place, (a, b) in enumerate(zip(old, new, strict=False)) if a != b]
    if len(old) != len(new):
        return False
    if not all(_NUMBER.fullmatch(old[place]) and _NUMBER.fullmatch(new[place]) for place in apart):
        return False
    return any(not new[place].isdigit() or _is_subject(new, place) for place in apart)


def _is_of_other_subjects(old: Sequence[str], new: Sequence[str], place: int) -> bool:
    """Whether the first words that differ are codes within the subject, and the rest fills one frame."""
    if _code_form(old[place]) != _code_form(new[place]) or not _is_subject(new, place):
        return False
    rest = old[place + 1 :], new[place + 1 :]
    for kind, a, b, c, d in SequenceMatcher(None, *rest, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        # A word too many ("now", "instead") may be what tells that the one took the place of the other.
        if kind != "replace" or max(b - a, d - c) > _MOST_FILLED or stop_words() & {*rest[0][a:b], *rest[1][c:d]}:
            return False
    return bool({*rest[0]} & {*rest[1]})


def _code_form(token: str) -> str:
    """A code with every number in it as one sign: `web-27` and `web-3` are of one form; without a number its own."""
    return _DIGITS.sub("0", token) if _DIGITS.search(token) else token


def _is_subject(words: Sequence[str], place: int) -> bool:
    """Whether the code at a place is a name within the first noun phrase: no verb, no pronoun and no unit about it."""
    known = vocabulary_words().sets
    before, after = words[:place], words[place + 1 : place + 2]
    if place > _LATEST_SUBJECT or (not before and not words[place][0].isalpha()):
        return False
    if any(word in known["aux"] or word in known["finite"] or word.endswith("ed") for word in before):
        return False
    if any(word in _PRONOUNS or _DIGITS.search(word) for word in before):
        return False
    if before and before[-1] in stop_words() and words[place].isdigit():
        return False  # "the 3 cats", "at 5": an amount or a time
    return bool(after) and after[0] not in known["measures"] and after[0] not in known["unit"]


def _amounts_by_unit(text: str, numbers: Mapping[str, str]) -> dict[str, set[str]]:
    """The amounts a text gives, by the word behind each."""
    found: dict[str, set[str]] = defaultdict(set)
    tokens = [numbers.get(token, token) for token in _AMOUNT_TOKEN.findall(read_as_seen(text).casefold())]
    for amount, unit in pairwise(tokens):
        if _AMOUNT.fullmatch(amount) and not _AMOUNT.fullmatch(unit) and unit not in stop_words():
            found[unit if len(unit) < 4 else unit.removesuffix("s")].add(_one_form(amount))
    return found


def _one_form(amount: str) -> str:
    """`1,000` is 1000, `4,50` is 4.5, `07` is 7 and `9.0` is 9; what is no number of one of these forms stays."""
    plain = _GROUPED.sub("", amount).replace(",", ".")
    return f"{float(plain):.6f}" if plain.count(".") < 2 else plain


def _find_single_difference(existing: ComparedText, incoming: ComparedText) -> tuple[list[str], list[str]] | None:
    """What differs where two texts differ in one place only; None where they do not."""
    old, new = _folded_words(existing.text), _folded_words(incoming.text)
    if not old or not new or max(len(old), len(new)) > _MOST_WORDS:
        return None
    shared_start = _count_shared_words(old, new)
    shared_end = _count_shared_words(old[shared_start:][::-1], new[shared_start:][::-1])
    apart = old[shared_start : len(old) - shared_end], new[shared_start : len(new) - shared_end]
    kept = {*old[:shared_start], *old[len(old) - shared_end :]} - {_SELF}
    if not all(0 < len(part) <= _MOST_APART for part in apart) or not kept - stop_words():
        return None
    return None if _may_hold_many_values(existing, incoming) else apart


def _read_attribute(text: str) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """The thing of the person's that a sentence gives the value of, and the first words of that value."""
    words = [word for word in _folded_words(text) if word not in _PASSING]
    if _SELF not in words:
        return None
    behind = words[words.index(_SELF) + 1 :]
    at = next((n for n, word in enumerate(behind) if word in _BE), 0)
    if not 0 < at <= _MOST_NAMED or not behind[at + 1 :]:
        return None
    return tuple(behind[:at]), tuple(behind[at + 1 : at + 1 + _MOST_APART])


def _may_hold_many_values(existing: ComparedText, incoming: ComparedText) -> bool:
    """Whether both texts state a predicate of which several values hold at a time."""
    if is_known_empty(existing.claims) or is_known_empty(incoming.claims):
        return False  # nobody need read the other
    known = load_exclusivity()
    both = {one.predicate for one in existing.claims} & {one.predicate for one in incoming.claims}
    return any(not known.get(predicate, False) for predicate in both)


def _folded_words(text: str) -> list[str]:
    folded = _PERSON.sub(_SELF, read_as_seen(text)).casefold()
    return [
        word if len(word) < _PLURAL else word.removesuffix("s")
        for each in _FOLDED.findall(folded)
        if (word := each.strip(".-")) and word not in _LEFT_OUT
    ]


def _as_written(text: str, words: Sequence[str]) -> str:
    """The words of a text that are meant by their folded forms."""
    wanted = set(words)
    return " ".join(word for word in _WORD.findall(read_as_seen(text)) if not wanted.isdisjoint(_folded_words(word)))


def _has_words_behind_name(value: str) -> bool:
    """Whether small words stand behind a name."""
    words = value.split()
    names = [place for place, word in enumerate(words) if word[0].isupper()]
    return bool(names) and names[-1] < len(words) - 1


def _count_shared_words(old: list[str], new: list[str]) -> int:
    """How many words at the beginning are the same."""
    count = 0
    for a, b in zip(old, new, strict=False):
        if a != b:
            break
        count += 1
    return count


def _are_contradictory(old: ClaimDraft, new: ClaimDraft) -> bool:
    """Whether two claims of one subject and predicate cannot both be true at one time."""
    if old.predicate != new.predicate or value_key(old.subject) != value_key(new.subject):
        return False
    if not _do_periods_overlap(old, new):
        return False
    if value_key(old.value) == value_key(new.value):
        return old.polarity != new.polarity
    return old.exclusive and new.exclusive and old.polarity == new.polarity == "positive"


def _do_periods_overlap(old: ClaimDraft, new: ClaimDraft) -> bool:
    """Whether the validity periods of two claims have a moment in common."""
    return _ends_after(old.valid_to, new.valid_from) and _ends_after(new.valid_to, old.valid_from)


def _ends_after(end: When | None, start: When | None) -> bool:
    """Whether a window that ends at `end` goes on after `start`; None is without bound."""
    return end is None or start is None or end.ms > start.ms
