"""What kind of value a question asks for, and whether a text gives one: a time, a person, a place, an amount.

"Where is the kit bag?" is answered by a text that names a place, "what must I not eat?" by one about the speaker. The
words are `resources/query/form.json`. A text is told by its words alone, so a reading can be wrong: it moves a text
among others, and never in or out. Whole questions for one property of the speaker's are
`resources/query/asked.json`. Must not do: score a memory, or find what a question is about.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache
from importlib.resources import files
from math import log

from core.text.markdown import find_front_matter
from core.text.sentences import split_sentences
from core.text.terms import (
    common_words,
    fold_case,
    fold_width,
    index_terms,
    plain_words,
    query_terms,
    stem_english,
    stop_words,
)
from core.text.time_parts import time_vocabulary

MOST_CHARS = 400
"""Characters of a text that are read: what is longer says many things."""
_MOST_ASKED = 120
"""Characters of a question for one property; a longer one says more."""
_LONG = 240
"""Our choice: code points above which a text is long; of a shorter one its beginning tells enough."""
_GIVES_VALUE = 1.25
"""Our choice: a sentence that gives a value of the kind that is asked for goes before one with the same words."""
_LOOKED_AT = 12
"""Words of a text in which its subject is looked for."""
_WORD = re.compile(r"[^\W\d_][\w'-]*")
_NUMBERED = re.compile(r"\b([^\W\d_][\w-]*) (\d+[a-z]?)\b(?![.,:]\d)")
_OWNS = re.compile(r"'s?$")
_APOSTROPHES = str.maketrans("’‘ʼ", "'''")
_NAMED = re.compile(r"(?<!^)(?<![.!?:;] )\b[A-Z][\w'-]+|(?i:\b(?:mr|mrs|ms|miss|dr|prof)\b)\.? [A-Z][\w'-]+")


class AskedValue(StrEnum):
    """The kind of value that a question asks for."""

    TIME = "time"
    PERSON = "person"
    PLACE = "place"
    AMOUNT = "amount"


@dataclass(frozen=True, slots=True)
class QuestionForm:
    """The form of a question.

    Attributes:
        value: the kind of value it asks for; None where its beginning does not tell.
        is_of_speaker: whether its subject is the speaker ("where do I live?").
        is_of_own: that, or it asks for a thing of the speaker's ("who is my doctor?").
        is_of_present: whether it asks how something is, not how it was.
        words: its words in small letters, without a possessive ending.
        numbered: things it names by a number: "path 14".
    """

    value: AskedValue | None
    is_of_speaker: bool
    is_of_own: bool
    is_of_present: bool
    words: frozenset[str]
    numbered: frozenset[tuple[str, str]] = frozenset()

    @property
    def asks_for_guess(self) -> bool:
        """Whether it asks what may be, rather than what is so."""
        return is_guess(" ".join(self.words))

    @property
    def tells_anything(self) -> bool:
        """Whether its form speaks for some texts rather than for others."""
        return self.value is not None or self.is_of_speaker


@dataclass(frozen=True, slots=True)
class _Rules:
    asks: Mapping[AskedValue, re.Pattern[str]]
    gives: Mapping[AskedValue, re.Pattern[str]]
    speaker: re.Pattern[str]
    earlier: re.Pattern[str]
    guess: re.Pattern[str]
    owners: frozenset[str]
    pronouns: frozenset[str]
    own: frozenset[str]
    kin: frozenset[str]
    helpers: frozenset[str]
    kinds_of_own: frozenset[str]


def read_question_form(query: str) -> QuestionForm:
    """Read the form of a question.

    Args:
        query: any text; one that asks nothing has no form.
    """
    rules, plain = _load_question_rules(), _fold_text(query[:MOST_CHARS]).strip(" ?!.")
    plain = plain.replace("n't", "nt")
    value = next((kind for kind, pattern in rules.asks.items() if pattern.match(plain)), None)
    words = frozenset(_OWNS.sub("", word) for word in _WORD.findall(plain))
    is_of_speaker = bool(rules.speaker.search(plain))
    is_of_own = is_of_speaker or not words.isdisjoint(rules.own)
    is_of_present = not rules.earlier.search(plain)
    return QuestionForm(value, is_of_speaker, is_of_own, is_of_present, words, _find_numbered_things(plain))


def read_asked_predicates(query: str) -> frozenset[str]:
    """The properties of the speaker's that a question asks for, where that is all it asks for.

    Args:
        query: any text.

    Returns:
        Names of the vocabulary's predicates; none for most questions, and for one that says more ("... in summer").
    """
    if len(query) > _MOST_ASKED:
        return frozenset()
    plain = _fold_text(query).replace(",", "").strip(" ?!.")
    return frozenset(name for name, pattern in _load_asked_properties().items() if pattern.fullmatch(plain))


def is_guess(text: str) -> bool:
    """Whether a text has a word of what may be: such a guess comes behind what is so."""
    return _load_question_rules().guess.search(_fold_text(text)) is not None


def gives_value(text: str, value: AskedValue) -> bool:
    """Whether a text gives a value of a kind, as far as its words tell; always so for a long one."""
    if len(text) > MOST_CHARS:
        return True
    plain = text.translate(_APOSTROPHES)
    if value is AskedValue.PERSON:
        return _names_person(plain)
    return _load_question_rules().gives[value].search(_fold_text(plain)) is not None


def find_answering_sentence(query: str, text: str) -> tuple[int, int] | None:
    """The sentence of a long text that answers a question best.

    It has the most of the question's words, the rarer within the text the more, or as many and a value of the kind that
    is asked for; of equal ones it is the first.

    Args:
        query: the question as typed.
        text: of a memory; of any length, hostile or not.

    Returns:
        Where it begins and ends, code points, without blanks at its ends. None for a short text, for a single sentence,
        and where no sentence has a word of the question.
    """
    wanted = frozenset(one.term for one in query_terms(query) if not one.stop)
    if len(text) <= _LONG or wanted.isdisjoint(index_terms(text).split()):
        return None
    front = find_front_matter(text) if text.startswith("---") else None
    body = 0 if front is None else front.body_at  # what a note is filed under answers nothing
    spans = [(max(start, body), end) for start, end in split_sentences(text) if end > body]
    if len(spans) < 2:
        return None
    held = [wanted.intersection(index_terms(text[start:end]).split()) for start, end in spans]
    counts = Counter(term for one in held for term in one)
    if not counts:
        return None
    asked = read_question_form(query).value

    def weigh_sentence(at: int) -> float:
        weight = sum(log(1 + len(spans) / counts[term]) for term in sorted(held[at]))
        is_fit = bool(weight) and asked is not None and gives_value(text[slice(*spans[at])], asked)
        return weight * _GIVES_VALUE if is_fit else weight

    start, end = spans[max(range(len(spans)), key=lambda at: (weigh_sentence(at), -at))]
    sentence = text[start:end]
    return start + len(sentence) - len(sentence.lstrip()), start + len(sentence.rstrip())


def speaks_of_other(text: str, form: QuestionForm) -> bool:
    """Whether a text is about somebody whom a question of the speaker's does not speak of, and about them alone.

    Args:
        form: of a question.

    Returns:
        False for a question that is not about the speaker, wherever the subject of the text may be a thing, and where
        the speaker has a part in it ("mum gave me her bike").
    """
    is_owned = form.is_of_own and is_thing_of_other(text, form)
    if not is_owned and not has_other_subject(text, form):
        return False
    words = _WORD.findall(text.translate(_APOSTROPHES))[1:_LOOKED_AT]
    return not any(fold_case(word) in _load_question_rules().own for word in words)


def is_thing_of_other(text: str, form: QuestionForm) -> bool:
    """Whether a text is about what is asked for, but that of somebody whom the question does not name."""
    if len(text) > MOST_CHARS:
        return False
    rules, words = _load_question_rules(), _WORD.findall(text.translate(_APOSTROPHES))[:_LOOKED_AT]
    words = words[1:] if words and fold_case(words[0]) in rules.own else words
    owned = [word for word in map(fold_case, words[1:]) if word not in rules.kinds_of_own][:1]
    if not owned or not words[0].endswith(("'s", "s'")):
        return False
    owner = _OWNS.sub("", fold_case(words[0]))
    if owner in form.words:
        is_person_asked = form.value is AskedValue.PERSON
        return not is_person_asked and owned[0] in rules.kin and owned[0] not in form.words
    if not (owner in rules.kin or _is_no_plain_word(owner)):
        return False
    asked = {_stem_word(word) for word in form.words if word not in stop_words()}
    return _stem_word(owned[0]) in asked or (owned[0] in rules.kin and owned[0] not in form.words)


def has_other_number(text: str, form: QuestionForm) -> bool:
    """Whether a text names a thing of a sort that the question names by a number, and by another number only."""
    if not form.numbered or len(text) > MOST_CHARS:
        return False
    named = _find_numbered_things(_fold_text(text))
    sorts = {noun for noun, _ in form.numbered} & {noun for noun, _ in named}
    return bool(sorts) and named.isdisjoint(form.numbered)


def _find_numbered_things(plain: str) -> frozenset[tuple[str, str]]:
    found = (match.groups() for match in _NUMBERED.finditer(plain))
    return frozenset((noun, number) for noun, number in found if noun not in stop_words() and not _is_of_time(noun))


def has_other_subject(text: str, form: QuestionForm) -> bool:
    """Whether somebody whom a question of the speaker's does not speak of is the subject of a text."""
    if not form.is_of_speaker or len(text) > MOST_CHARS:
        return False
    words = _WORD.findall(text.translate(_APOSTROPHES))[:_LOOKED_AT]
    if not words:
        return False
    rules, first = _load_question_rules(), words[0]
    low = fold_case(first)
    if low in rules.pronouns:
        return True
    if low in rules.owners:
        noun = _OWNS.sub("", fold_case(words[1])) if len(words) > 1 else ""
        return noun in rules.kin and noun not in form.words
    name = _OWNS.sub("", low)
    if name in form.words:
        return False
    is_name = _is_capitalised_name(first) or (not _has_capitals(text) and _is_no_plain_word(first))
    return name in rules.kin or (is_name and _does_what_is_asked(words[1:], form))


def _does_what_is_asked(words: Iterable[str], form: QuestionForm) -> bool:
    """Whether a name is followed by the verb of the question in the third person, or by "his" and "her"."""
    verbs = {_stem_word(word) for word in form.words if word not in stop_words()}
    helpers, folded = _load_question_rules().helpers, [fold_case(word) for word in words]
    return any(
        word in ("his", "her") or ((word.endswith("s") or before in helpers) and _stem_word(word) in verbs)
        for before, word in zip(("", *folded), folded, strict=False)
    )


@lru_cache(maxsize=4096)
def _stem_word(word: str) -> str:
    return stem_english(word)


def _is_capitalised_name(word: str) -> bool:
    return word[:1].isupper() and _is_no_plain_word(word)


def _is_no_plain_word(word: str) -> bool:
    """Whether a word may be a name, however it is written."""
    folded = _OWNS.sub("", fold_case(word))
    return not _is_of_time(word) and folded not in common_words() and folded not in plain_words()


def _is_of_time(word: str) -> bool:
    folded, times = _OWNS.sub("", fold_case(word)), time_vocabulary()
    return folded in times.weekdays or folded in times.weekday_plurals or folded in times.months


def _has_capitals(text: str) -> bool:
    """Whether whoever wrote a text writes names with a capital, as far as it tells."""
    return any(char.isupper() for char in text)


def _names_person(plain: str) -> bool:
    """Whether a text names somebody: with a capital where words have none, or by what they are to somebody."""
    words = _WORD.findall(plain)
    if any(_OWNS.sub("", fold_case(word)) in _load_question_rules().kin for word in words):
        return True
    named = (found.group().rpartition(" ")[2] for found in _NAMED.finditer(plain))
    return any(map(_is_capitalised_name, named)) or any(_is_capitalised_name(word) for word in words[:1])


def _fold_text(text: str) -> str:
    return fold_case(fold_width(text.translate(_APOSTROPHES)))


@cache
def _load_question_rules() -> _Rules:
    """The rules of `resources/query/form.json`, read and compiled once."""
    data = json.loads((files("resources") / "query" / "form.json").read_text("utf-8"))
    times = time_vocabulary()
    words = {
        "weekday": times.weekdays,
        "month": times.months,
        "number": times.numbers,
        "unit": times.units,
        "kin": data["kin"].split(),
        "verb": data["verbs"].split(),
    }
    choices = {name: f"(?:{'|'.join(sorted(some, key=lambda one: (-len(one), one)))})" for name, some in words.items()}

    def compiled(patterns: Iterable[str]) -> re.Pattern[str]:
        joined = "|".join(f"(?:{pattern})" for pattern in patterns)
        for name, choice in choices.items():
            joined = joined.replace(f"{{{name}}}", choice)
        return re.compile(joined)

    return _Rules(
        asks={AskedValue(kind): compiled(some) for kind, some in data["asks"].items()},
        gives={AskedValue(kind): compiled(some) for kind, some in data["gives"].items()},
        speaker=compiled(data["speaker"]),
        earlier=compiled(data["earlier"]),
        guess=compiled(data["guess"]),
        owners=frozenset(data["owner"]),
        pronouns=frozenset(data["pronouns"]),
        own=frozenset(data["own"]),
        kin=frozenset(data["kin"].split()),
        helpers=frozenset(data["helpers"].split()),
        kinds_of_own=frozenset(data["kinds_of_own"].split()),
    )


@cache
def _load_asked_properties() -> Mapping[str, re.Pattern[str]]:
    """The questions of `resources/query/asked.json`, read and compiled once."""
    data = json.loads((files("resources") / "query" / "asked.json").read_text("utf-8"))
    before, after = ("|".join(data[side]) for side in ("before", "after"))
    found: dict[str, re.Pattern[str]] = {}
    for name, questions in data["predicates"].items():
        whole = "|".join(questions).replace("{i}", data["i"]).replace("{my}", data["my"])
        # No two of what may stand before, or behind, begin alike, and only a few stand there: nothing is tried twice.
        found[name] = re.compile(f"(?:{before}){{0,5}}(?:{whole})(?:{after}){{0,3}}")
    return found
