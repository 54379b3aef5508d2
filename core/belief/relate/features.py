"""What the relation model reads of a pair of texts: tokens, what kind of word each is, and a few figures.

Training and running share this file, so a model always sees in use what it saw when it learned. Values that are written
in several ways have one form: "fifty-eight" is 58, "18:30" is 6:30, "20 minutes" lasts as long as "1200 seconds",
"08/2028" is an August. Hours are those of a dial: "at 3", "3 pm" and "15:00" are one form, and the word "pm" stands for
itself. Must not do: decide anything, or keep a text.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.resources import files
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.text.terms import fold_case, fold_width, replace_surrogates, stop_words

_CLOCK = re.compile(r"\b(\d{1,2})(?:[:.](\d\d))?(?=[ ]?[ap]\.?m\b)|\b(\d{1,2}):(\d\d)\b(?!:)", re.IGNORECASE)
_PAST = re.compile(r"\b(half past|quarter past|quarter to) (\w+)|\b(\w+) o'clock\b", re.IGNORECASE)
_MONTH = re.compile(r"(?<![\d/])(0?[1-9]|1[0-2])/(?=(?:19|20)\d\d\b(?!/))")
_ISO = re.compile(r"\b(?:19|20)\d\d-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])\b")
_PLAIN = re.compile(r"(?<![\w.:/-])\d+(?:\.\d+)*(?![\w:/]|\.\d)")
_GLUED = re.compile(r"(?<![\w.:/-])(\d+)(?=(?:mins?|hrs?|h|secs?|s)\b)", re.IGNORECASE)
_DIGIT = re.compile(r"\d")
_PLAIN_WORD = re.compile(r"\w+")
_HALF_HOUR = re.compile(r"\bhalf an(?= hour\b)", re.IGNORECASE)
_FORTNIGHT = re.compile(r"\bfortnight\b", re.IGNORECASE)
_UNIT = re.compile(r"[ -]?(second|sec|s|minute|min|hour|hr|h|day|week)s?\b(?!')", re.IGNORECASE)
_SECONDS = {
    "second": 1, "sec": 1, "s": 1, "minute": 60, "min": 60, "hour": 3600, "hr": 3600, "h": 3600, "day": 86_400,
    "week": 604_800,
}  # fmt: skip
_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_MINUTES = {"half past": 30, "quarter past": 15, "quarter to": -15}
_HOURS = 24
_NO_NUMBER = frozenset({"once", "twice", "noon", "midnight", "dozen"})
_ORDINAL_WORDS = ("th", "first", "third")
SIDE_TOKENS = 64
"""Tokens read of each side; of a longer one those where most words of the other side are (`_choose_window_start`)."""
SIDE_CHARS = 3_000
"""Characters looked at of each side: a bound on the work a long text makes."""
KINDS = 16
FIRST, MIDDLE, LAST, PAD = 0, 1, 2, 15
EXISTING, INCOMING = 3, 9
"""Kinds of token: frame marks, then six for a word of either side (`_word_kind`), then padding."""
FIGURES = 16
_GROUPED = re.compile(r"(?<=\d)[,'](?=\d{3}(?!\d))")
_BLANKS = re.compile(r"\s+")
_WORD = re.compile(r"\d+(?=[ap]m\b)|\w+(?:'\w+)*", re.IGNORECASE)
_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)")
_ENDS_SENTENCE = re.compile(r"[.!?:;]\s*[\"'(]?$")
_STEM = 5


@dataclass(frozen=True, slots=True)
class Value:
    """A value found in a text: characters `start` to `end` (exclusive), and its one form."""

    start: int
    end: int
    form: str


class FeatureWord(NamedTuple):  # made in a third of a dataclass's time; one store makes hundreds
    """One word of a text.

    Attributes:
        start: where it begins in the prepared text; `end` is exclusive.
        form: folded, with values in one form (`core.belief.relate.features`) and short forms as long ones.
        number: whether it holds a digit after that.
        name: whether it is written like a name: a capital that no sentence start explains.
        continues: whether it belongs to the value that the word before begins, whose form it then has too.
    """

    start: int
    end: int
    form: str
    number: bool
    name: bool
    continues: bool = False


@dataclass(frozen=True)
class PreparedText:
    """A text made ready: `text` as the tokenizer gets it, and its words in order.

    What is asked of the words is found once, however many pairs the text is in.
    """

    text: str
    words: tuple[FeatureWord, ...]

    @cached_property
    def stems(self) -> frozenset[str]:
        """The stems of all words."""
        return frozenset(_stem_form(word.form) for word in self.words)

    @cached_property
    def content(self) -> frozenset[str]:
        """The stems of the words, function words left out."""
        stops = stop_words()
        return frozenset(_stem_form(word.form) for word in self.words if word.form not in stops)

    @cached_property
    def numbers(self) -> frozenset[str]:
        """The forms of numbers."""
        return frozenset(word.form for word in self.words if word.number)

    @cached_property
    def names(self) -> frozenset[str]:
        """The stems of names."""
        return frozenset(_stem_form(word.form) for word in self.words if word.name)

    @cached_property
    def negations(self) -> int:
        """How many words negate."""
        negating = load_vocabulary()["negations"]
        return sum(word.form in negating for word in self.words)

    @cached_property
    def forms(self) -> tuple[str, ...]:
        """The words in order, as they are compared; the owner is one word however named."""
        owners = load_vocabulary()["owners"]
        return tuple("i" if word.form in owners else word.form for word in self.words if not word.continues)

    def words_of_tokens(self, offsets: Sequence[tuple[int, int]]) -> Sequence[FeatureWord | None]:
        """The word each token is a piece of; None for the signs between words.

        Args:
            offsets: characters of each token; what was found for the same list is kept.
        """
        known: tuple[Any, Sequence[FeatureWord | None]] | None = self.__dict__.get("_of_tokens")
        if known is not None and known[0] is offsets:
            return known[1]
        found: list[FeatureWord | None] = []
        at, words, count = 0, self.words, len(self.words)
        for start, _ in offsets:
            while at < count and words[at].end <= start:
                at += 1
            found.append(words[at] if at < count and words[at].start <= start else None)
        self.__dict__["_of_tokens"] = offsets, found
        return found


@dataclass(frozen=True, slots=True)
class Features:
    """A pair as the model reads it.

    Attributes:
        ids: token ids, shape (length,).
        kinds: 0 to KINDS - 1, shape (length,).
        figures: shape (FIGURES,), each about -1 to 1.
    """

    ids: NDArray[np.int64]
    kinds: NDArray[np.int64]
    figures: NDArray[np.float32]


def find_rewritable_values(text: str, numbers: Mapping[str, str]) -> tuple[Value, ...]:
    """The values of a text that could be written in another way.

    Args:
        text: prepared text.
        numbers: number words to digits, one word each.

    Returns:
        In order, never overlapping. A plain number that no unit follows is no such value.
    """
    found: list[Value] = []
    # Most texts hold no digit, and each of these looks at every place for one.
    for find in _ALL_FORMS if _DIGIT.search(text) else _FORMS_IN_WORDS:
        for value in find(text, numbers):
            if all(value.end <= other.start or other.end <= value.start for other in found):
                found.append(value)
    return tuple(sorted(found, key=lambda value: value.start))


def parse_number_words(words: list[int]) -> int | None:
    """The number that a row of number words says, such as 4, 1000, 2, 100 for 4200; None if it is no number.

    Args:
        words: what each says by itself.
    """
    whole = part = 0
    for word in words:
        if word == 1000:
            whole, part = whole + max(1, part) * 1000, 0
        elif word == 100 and part < 10:
            part = max(1, part) * 100
        elif 0 < word < 100 and part % (10 if word < 10 else 100) == 0 and part % 100 != 10:
            part += word
        else:
            return None
    return whole + part


@lru_cache(maxsize=1)
def load_vocabulary() -> Mapping[str, Any]:
    """The word lists of `resources/model/relations/words.json`."""
    data = files("resources").joinpath("model").joinpath("relations").joinpath("words.json").read_bytes()
    lists: Mapping[str, Any] = json.loads(data)
    return {name: frozenset(words) if isinstance(words, list) else words for name, words in lists.items()}


def prepare_text(text: str) -> PreparedText:
    """Fold a text's width, blanks and grouped digits, and find its words.

    Args:
        text: any text; the first `SIDE_CHARS` characters are read.

    Returns:
        The prepared side.
    """
    plain = fold_width(replace_surrogates(text[:SIDE_CHARS]))[:SIDE_CHARS]
    plain = _BLANKS.sub(" ", _GROUPED.sub("", plain)).strip()
    words = tuple(_feature_word(plain, found) for found in _WORD.finditer(plain))
    return PreparedText(plain, _replace_value_forms(words, find_rewritable_values(plain, load_vocabulary()["numbers"])))


def encode_pair(tokenizer: Any, existing: PreparedText, incoming: PreparedText) -> Features:
    """Both sides as one row of tokens: first mark, existing, mark, incoming, mark.

    Args:
        tokenizer: the bundled model's, without padding; its own frame marks are not used.

    Returns:
        The model's input.
    """
    ids: list[int] = [tokenizer.token_to_id("[CLS]")]
    kinds: list[int] = [FIRST]
    frame = tokenizer.token_to_id("[SEP]")
    for side, other, base, mark in ((existing, incoming, EXISTING, MIDDLE), (incoming, existing, INCOMING, LAST)):
        encoded = tokenizer.encode(side.text, add_special_tokens=False)
        known = other.stems
        owners = side.words_of_tokens(encoded.offsets)
        start = _choose_window_start(owners, known)
        ids.extend(encoded.ids[start : start + SIDE_TOKENS])
        kinds.extend(base + _word_kind(word, known) for word in owners[start : start + SIDE_TOKENS])
        ids.append(frame)
        kinds.append(mark)
    return Features(np.array(ids, np.int64), np.array(kinds, np.int64), pair_figures(existing, incoming))


def pair_figures(existing: PreparedText, incoming: PreparedText) -> NDArray[np.float32]:
    """How much the sides share, as numbers.

    Returns:
        Shape (FIGURES,): shares of words in common; numbers and names that only one or both have; negations;
        lengths; whether the words are the same.
    """
    old, new = existing.content, incoming.content
    both = len(old & new)
    row = [
        both / max(1, len(new)),
        both / max(1, len(old)),
        both / max(1, len(old | new)),
        *_difference_counts(existing.numbers, incoming.numbers),
        *_difference_counts(existing.names, incoming.names),
        *_negation_features(existing, incoming),
        math.log((len(incoming.words) + 2) / (len(existing.words) + 2)) / 2,
        min(len(incoming.words), 64) / 32 - 1,
        min(len(existing.words), 64) / 32 - 1,
        float(existing.forms == incoming.forms),
    ]
    return np.array(row, np.float32)


def _find_date_values(text: str, _: Mapping[str, str]) -> Iterator[Value]:
    """Months and days, written with a name or as an ISO date."""
    for match in _MONTH.finditer(text):
        yield Value(match.start(1), match.end(1), _MONTHS[int(match[1]) - 1])
    for match in _ISO.finditer(text):
        yield Value(match.start(1), match.end(1), _MONTHS[int(match[1]) - 1])
        yield Value(match.start(2), match.end(2), str(int(match[2])))


def _find_clock_values(text: str, _: Mapping[str, str]) -> Iterator[Value]:
    """Times of day in digits."""
    for match in _CLOCK.finditer(text):
        hour, minute = int(match[1] or match[3]), int(match[2] or match[4] or 0)
        if hour < _HOURS and minute < 60:
            yield Value(match.start(), match.end(), _on_a_dial(hour * 60 + minute))


def _find_spoken_times(text: str, numbers: Mapping[str, str]) -> Iterator[Value]:
    """Times of day in words ("half past nine")."""
    for match in _PAST.finditer(text):
        hour_text = (match[2] or match[3]).lower()
        hour_number = numbers.get(hour_text, hour_text)
        if hour_number.isdecimal() and len(hour_number) < 3 and int(hour_number) <= _HOURS:
            yield Value(
                match.start(),
                match.end(),
                _on_a_dial(int(hour_number) * 60 + _MINUTES.get((match[1] or "").lower(), 0)),
            )


def _on_a_dial(minutes: int) -> str:
    """The time of day without its half: "3" on the hour, else "3:15"."""
    hour, minute = divmod(minutes % (12 * 60), 60)
    return f"{hour or 12}:{minute:02}" if minute else str(hour or 12)


def _lengths_in_words(text: str, numbers: Mapping[str, str]) -> Iterator[Value]:
    for match in _HALF_HOUR.finditer(text):
        yield Value(match.start(), match.end(), "1800s")
    for match in _FORTNIGHT.finditer(text):
        yield Value(match.start(), match.end(), f"{14 * 86_400}s")
    # Most texts have no such word, and looking for each everywhere takes long. Every row begins with a whole word.
    if text.isascii() and numbers.keys().isdisjoint(_PLAIN_WORD.findall(text.lower())):
        return
    for row in _number_word_pattern(tuple(numbers)).finditer(text):
        whole, point, rest = row.group().lower().partition(" point ")
        words = re.split(r" and |[ -]", whole)
        value = parse_number_words([int(numbers[word]) for word in words])
        if value is None:
            continue
        number = f"{value}.{''.join(numbers[word] for word in rest.split())}" if point else str(value)
        several = len(words) > 1 or bool(point)
        if not words[-1].endswith(_ORDINAL_WORDS):
            yield from _iter_value(text, row.start(), row.end(), number, always=several)
        elif several:
            yield Value(row.start(), row.end(), number)


@lru_cache(maxsize=4)
def _number_word_pattern(numbers: tuple[str, ...]) -> re.Pattern[str]:
    """What finds number words that stand in a row."""
    one = "|".join(sorted((each for each in numbers if each not in _NO_NUMBER), key=len, reverse=True))
    return re.compile(rf"\b(?:{one})(?:(?: and |[ -])(?:{one}))*(?: point (?:{one})(?: (?:{one}))*)?\b", re.IGNORECASE)


def _find_plain_numbers(text: str, _: Mapping[str, str]) -> Iterator[Value]:
    for match in _PLAIN.finditer(text):
        yield from _iter_value(text, match.start(), match.end(), match.group(), always="." in match.group())
    for match in _GLUED.finditer(text):
        yield from _iter_value(text, match.start(), match.end(), match.group(), always=False)


_FORMS_IN_WORDS = (_find_spoken_times, _lengths_in_words)
_ALL_FORMS = (_find_date_values, _find_clock_values, *_FORMS_IN_WORDS, _find_plain_numbers)
"""What finds values, the surest first: of two that overlap the first one counts."""


def _iter_value(text: str, start: int, end: int, number: str, *, always: bool) -> Iterator[Value]:
    """The number with the unit of time after it, if one follows; else by itself, where it needs a form of its own."""
    unit = _UNIT.match(text, end)
    if unit is not None and number.count(".") < 2 and len(number) < 8:
        yield Value(start, end, f"{float(number) * _SECONDS[unit[1].lower()]:.10g}s")
    elif always:
        yield Value(start, end, number)


def _replace_value_forms(words: tuple[FeatureWord, ...], found: tuple[Value, ...]) -> tuple[FeatureWord, ...]:
    """The words, each that is part of a value with the value's form."""
    if not found:
        return words
    done: list[FeatureWord] = []
    at = 0
    begun: Value | None = None
    for word in words:
        while at < len(found) and found[at].end <= word.start:
            at += 1
        if at < len(found) and found[at].start < word.end:
            value = found[at]
            done.append(_value_word(word, value, continues=value is begun))
            begun = value
        else:
            done.append(word)
    return tuple(done)


def _value_word(word: FeatureWord, value: Value, *, continues: bool) -> FeatureWord:
    number = any(c.isdigit() for c in value.form)
    return FeatureWord(word.start, word.end, value.form, number=number, name=False, continues=continues)


def _feature_word(text: str, found: re.Match[str]) -> FeatureWord:
    raw = found.group()
    form, number, owner = _read_form(raw)
    start = found.start()
    name = raw[0].isupper() and not owner and start > 0
    name = name and _ENDS_SENTENCE.search(text, max(0, start - 4), start) is None
    return FeatureWord(start, found.end(), form, number, name)


@lru_cache(maxsize=4096)
def _read_form(raw: str) -> tuple[str, bool, bool]:
    """The form of a word, whether it holds a digit, and whether it is one of the owner's words."""
    lists = load_vocabulary()
    bare = fold_case(raw)
    if bare.endswith("'s"):
        bare = bare[:-2]
    ordinal = _ORDINAL.fullmatch(bare)
    same: str = ordinal.group(1) if ordinal else lists["numbers"].get(bare) or lists["same"].get(bare) or bare
    return same, any(c.isdigit() for c in same), same in lists["owners"]


@lru_cache(maxsize=4096)
def _stem_form(form: str) -> str:
    return form[:_STEM] if len(form) > _STEM and form.isalpha() else form.removesuffix("s")


def _choose_window_start(owners: Sequence[FeatureWord | None], known: frozenset[str]) -> int:
    """Where to begin reading a text that is too long: where the most words of the other side are, else its start."""
    last = len(owners) - SIDE_TOKENS
    if last <= 0:
        return 0
    stops = stop_words()
    hits = [word is not None and word.form not in stops and _stem_form(word.form) in known for word in owners]
    sums: list[int] = [0, *accumulate(hits)]
    starts: list[int] = [*range(0, last, SIDE_TOKENS // 4), last]
    return max(starts, key=lambda start: (sums[start + SIDE_TOKENS] - sums[start], -start))


def _word_kind(word: FeatureWord | None, known: frozenset[str]) -> int:
    """0 plain or a sign, 1 number, 2 name; 3 more where the other side has the word too."""
    if word is None:
        return 0
    return (1 if word.number else 2 if word.name else 0) + (3 if _stem_form(word.form) in known else 0)


def _difference_counts(old: frozenset[str], new: frozenset[str]) -> tuple[float, float, float]:
    """How many only the old, only the new, and both have: up to three, as 0 to 1."""
    return min(3, len(old - new)) / 3, min(3, len(new - old)) / 3, min(3, len(old & new)) / 3


def _negation_features(existing: PreparedText, incoming: PreparedText) -> tuple[float, float, float]:
    old, new = existing.negations > 0, incoming.negations > 0
    return float(old), float(new), float(old != new)
