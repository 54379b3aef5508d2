"""The words that talk is read by (resources/talk), and a sentence as words with its contractions taken apart.

Must not do: know what was said before.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from importlib.resources import files
from typing import NamedTuple

from core.text.terms import fold_word, stem_english

_WORD = re.compile(r"[^\W_]+(?:['.&/-][^\W_]+)*|[£$€]?\d+(?:[.,:]\d+)*|\S")
_PARTS = re.compile(r"(?i)^(.+?)('(?:m|s|re|ve|ll|d))$")
# Typed without their apostrophe; where the first part ends.
_BARE = {
    "im": 1, "ive": 1, "hes": 2, "shes": 3, "theyre": 4, "youre": 3, "weve": 2, "youve": 3, "theyve": 4, "thats": 4,
    "theres": 5,
}  # fmt: skip
_BARE_NOT = {
    "dont": "don't", "cant": "can't", "didnt": "didn't", "doesnt": "doesn't", "isnt": "isn't", "wasnt": "wasn't",
    "wont": "won't", "arent": "aren't", "havent": "haven't", "hasnt": "hasn't", "wouldnt": "wouldn't",
    "couldnt": "couldn't", "shouldnt": "shouldn't", "werent": "weren't",
}  # fmt: skip
_VOWELS = "aeiou"


class Token(NamedTuple):  # made in a third of a dataclass's time; a talk has ten thousands
    """A word, a mark, or the shortened verb behind a word ("'m").

    Attributes:
        text: as written.
        low: lower case with plain apostrophes; of a shortened verb `'m`, `'s`, `'re`, `'ve`, `'ll` or `'d`.
        start: first character in the sentence; `end` is exclusive.
    """

    text: str
    low: str
    start: int
    end: int

    @property
    def is_word(self) -> bool:
        """Whether it is no mark and no shortened verb."""
        return self.low[:1].isalnum()

    @property
    def is_capital(self) -> bool:
        """Whether it begins with a capital."""
        return self.text[:1].isupper()


@dataclass(frozen=True, slots=True)
class Edit:
    """What stands in place of a part of a sentence.

    Attributes:
        start: first character; `end` is exclusive.
        text: in its place; may be empty.
    """

    start: int
    end: int
    text: str


class PhraseList(tuple[tuple[str, ...], ...]):
    """Phrases of one or several words, longest first."""

    @classmethod
    def from_lines(cls, lines: Iterable[str]) -> PhraseList:
        """The phrases of a list as a file has them, words between blanks."""
        return cls(sorted((tuple(line.split()) for line in lines), key=len, reverse=True))

    @cached_property
    def by_first_word(self) -> Mapping[str, Sequence[tuple[str, ...]]]:
        """The phrases that begin with a word, longest first: a list has dozens, and few words begin any."""
        return self._group_by_word(0)

    @cached_property
    def by_last_word(self) -> Mapping[str, Sequence[tuple[str, ...]]]:
        """The phrases that end with a word, longest first."""
        return self._group_by_word(-1)

    def _group_by_word(self, place: int) -> dict[str, list[tuple[str, ...]]]:
        found: dict[str, list[tuple[str, ...]]] = {}
        for phrase in self:
            found.setdefault(phrase[place], []).append(phrase)
        return found


@dataclass(frozen=True, slots=True)
class TalkWords:
    """The lists of one file of `resources/talk`.

    Attributes:
        sets: single words by the name of their list.
        phrases: several words each, by the name of their list.
    """

    sets: Mapping[str, frozenset[str]]
    phrases: Mapping[str, PhraseList]


@dataclass(frozen=True, slots=True)
class VerbForms:
    """The verbs of `resources/talk/verbs.json` by their forms.

    Attributes:
        base: base forms.
        third: form for he, she and it, to its base.
        past: past form to its base.
        participles: past participle to its base.
        pasts: base to its past form.
        sets: what stands beside a verb.
    """

    base: frozenset[str]
    third: Mapping[str, str]
    past: Mapping[str, str]
    participles: Mapping[str, str]
    pasts: Mapping[str, str]
    sets: Mapping[str, frozenset[str]]

    def lemma(self, low: str) -> str:
        """The base form of a verb's form, else the word."""
        for table in (self.third, self.past, self.participles):
            if low in table:
                return table[low]
        return low


@cache
def talk_words() -> TalkWords:
    """The lists, read once."""
    data = json.loads((files("resources") / "talk" / "words.json").read_text("utf-8"))
    sets, phrases = {}, {}
    for name, value in data.items():
        if isinstance(value, str):
            sets[name] = frozenset(value.split())
        else:
            phrases[name] = PhraseList.from_lines(value)
    return TalkWords(sets, phrases)


@cache
def known_names() -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """First names, words that look like names and are none, and places, lower case."""
    data = json.loads((files("resources") / "enrich" / "names.json").read_text("utf-8"))
    places = frozenset(part for one in data["places"].lower().split(";") for part in one.split())
    return frozenset(data["first_names"].lower().split()), frozenset(data["not_names"].split()), places


@cache
def verb_forms() -> VerbForms:
    """The forms, worked out once."""
    data = json.loads((files("resources") / "talk" / "verbs.json").read_text("utf-8"))
    irregular = [row.split() for row in data["irregular"]]
    base = {row[0] for row in irregular} | set(data["regular"].split())
    past: dict[str, str] = {}
    participles: dict[str, str] = {}
    pasts: dict[str, str] = {}
    for one in sorted(base):
        pasts[one] = regular_past(one)
    for one, second, third in irregular:
        past.update(dict.fromkeys(second.split("/"), one))
        participles.update(dict.fromkeys(third.split("/"), one))
        pasts[one] = second.split("/")[0]
    uneven = {row[0] for row in irregular}
    for one in base - uneven:
        for form in (pasts[one], *((one + one[-1] + "ed",) if one[-1] not in _VOWELS else ())):
            past.setdefault(form, one)
            participles.setdefault(form, one)
    sets = {name: frozenset(data[name].split()) for name in data if name not in ("about", "irregular")}
    third_forms = {third_person(one): one for one in base}
    return VerbForms(frozenset(base), third_forms, past, participles, pasts, sets)


def third_person(base: str) -> str:
    """The form for he, she and it."""
    if base in ("have", "be"):
        return {"have": "has", "be": "is"}[base]
    if base.endswith(("s", "x", "z", "ch", "sh", "o")):
        return base + "es"
    if base.endswith("y") and base[-2:-1] not in _VOWELS:
        return base[:-1] + "ies"
    return base + "s"


def regular_past(base: str) -> str:
    """The past form of a regular verb."""
    if base.endswith("e"):
        return base + "d"
    if base.endswith("y") and base[-2:-1] not in _VOWELS:
        return base[:-1] + "ied"
    one_beat = re.fullmatch(r"[^aeiou]*[aeiou][bdgklmnprt]", base) is not None
    return base + (base[-1] + "ed" if one_beat else "ed")


def tokenize_talk(sentence: str) -> tuple[Token, ...]:
    """A sentence as words and marks; "I'm", "she's" and "im" are two."""
    out: list[Token] = []
    for match in _WORD.finditer(_plain_marks(sentence)):
        low, (start, end) = match.group().lower(), match.span()
        if "'" in low or low in _BARE or low in _BARE_NOT or len(low) != end - start:
            out += _split_token(sentence, low, start, end)
        else:
            out.append(Token(sentence[start:end], low, start, end))
    return tuple(out)


def list_words(text: str) -> list[str]:
    """The words of a text in lower case, without marks and shortened verbs: those of `tokenize_talk`, told sooner."""
    out: list[str] = []
    for word in _WORD.findall(_plain_marks(text)):
        low = word.lower()
        if "'" in low or low in _BARE or low in _BARE_NOT or len(low) != len(word):
            out += [token.low for token in _split_token(word, low, 0, len(word)) if token.is_word]
        elif low[0].isalnum():
            out.append(low)
    return out


def _plain_marks(text: str) -> str:
    """A text of the same length with plain apostrophes."""
    return text.replace("’", "'").replace("‘", "'").replace("ʼ", "'")


def apply_edits(sentence: str, start: int, end: int, edits: Iterable[Edit]) -> str:
    """A part of a sentence with its edits; of two that overlap the one that begins first counts."""
    out: list[str] = []
    at = start
    for edit in sorted(edits, key=lambda one: (one.start, -one.end)):
        if edit.start >= at and edit.end <= end:
            out += [sentence[at : edit.start], edit.text]
            at = edit.end
    return "".join((*out, sentence[at:end]))


def _split_token(sentence: str, low: str, start: int, end: int) -> list[Token]:
    if len(low) != end - start:  # a letter that is two in lower case
        return [Token(sentence[start:end], low, start, end)]
    parts = _PARTS.match(low)
    cut = len(parts.group(1)) if parts else _BARE.get(low)
    if cut is None:
        return [Token(sentence[start:end], _BARE_NOT.get(low, low), start, end)]
    middle = start + cut
    shortened = low[cut:] if low[cut] == "'" else "'" + low[cut:]
    return [
        Token(sentence[start:middle], low[:cut], start, middle),
        Token(sentence[middle:end], shortened, middle, end),
    ]


def length_of_phrase_at(lows: Sequence[str], at: int, phrases: PhraseList) -> int:
    """How many words the longest phrase has that begins at a place; 0 where none does."""
    if not 0 <= at < len(lows):
        return 0
    known = phrases.by_first_word.get(lows[at], ())
    return next((len(one) for one in known if tuple(lows[at : at + len(one)]) == one), 0)


@lru_cache(maxsize=20_000)
def stem_word(low: str) -> str:
    """The stem of a word's base form, by which words that were said are told from invented ones."""
    return stem_english(base_form(low))


@lru_cache(maxsize=20_000)
def base_form(low: str) -> str:
    """What the stem of a word is made of; both begin with the same letter."""
    return fold_word(verb_forms().lemma(low.removesuffix("'s").removesuffix("'").strip(".'")))
