"""A person's condition, treatment, result or medication; not an animal's, and not as a topic."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise

from core.sensitivity.passage import Passage, Word, fold, load_vocabulary
from core.types.sensitivity import SensitiveSpan, SensitiveType

_FILE = "health"
_REACH, _AROUND, _TERM_WORDS = 80, 200, 5
_KINDS = ("soft", "conditions", "treatments", "medications", "tests")
_WHOLE = ("body_injury", "organ_out", "pregnant", "sobriety")
_HAVING = {"has", "had", "takes", "hat", "nimmt", "a", "prend", "tiene", "toma", "ha"}
_WORD = re.compile(r"\w+(?:'\w+)?")
_SHORT_WORD = 6
_SHORTEST_PLURAL = 3
_Place = tuple[int, int]
_Terms = dict[str, list[tuple[tuple[str, ...], str]]]


def find_health(passage: Passage) -> Iterator[SensitiveSpan]:
    """What a sentence says of the health of a person."""
    reader = _HealthReader(passage)
    for place in reader.places():
        yield SensitiveSpan(*place, SensitiveType.HEALTH)


def _health_pattern(name: str) -> re.Pattern[str]:
    return load_vocabulary(_FILE).pattern(name)


def _health_words(name: str) -> frozenset[str]:
    return load_vocabulary(_FILE).folded(name)


@cache
def _load_health_terms() -> _Terms:
    """Every term by its first word, the longest first, with its kind."""
    found: dict[str, dict[tuple[str, ...], str]] = {}
    for kind in _KINDS:
        for entry in load_vocabulary(_FILE).entries(kind):
            words = tuple(fold(match[0]) for match in _WORD.finditer(entry))
            if kind == "medications" and len(words) == 1 and words[0].endswith("ine"):
                for ending in ("in", "ina"):
                    found.setdefault(words[0][:-3] + ending, {})[(words[0][:-3] + ending,)] = kind
            # The kinds that need less of their surroundings come later and win.
            if words:
                found.setdefault(words[0], {})[words] = kind
    return {first: sorted(terms.items(), key=lambda term: -len(term[0])) for first, terms in found.items()}


@cache
def _disease_endings() -> tuple[str, ...]:
    return tuple(load_vocabulary(_FILE).entries("endings"))


class _HealthReader:
    """Reads one passage; what it knows of a sentence is computed once."""

    def __init__(self, passage: Passage) -> None:
        self.passage = passage
        self._sentences: dict[_Place, tuple[bool, bool, bool]] = {}

    def places(self) -> Iterator[_Place]:
        """The places of all that is told, some of them twice."""
        yield from self._vocabulary_places()
        yield from self._pattern_places()

    # ---- whose it is

    def _look_at_sentence(self, start: int, end: int) -> tuple[bool, bool, bool]:
        """Whether the sentence around a place names a person, an animal, a topic."""
        whole = self.passage.sentence(start)
        begin, stop = max(whole[0], start - _AROUND), min(whole[1], end + _AROUND)
        key = (begin // 50, stop // 50)
        if key not in self._sentences:
            lower = self.passage.lower[begin:stop]
            words = {fold(match[0]) for match in _WORD.finditer(lower)}
            words |= {part for word in words if "'" in word for part in (word.partition("'")[0],)}
            person = not words.isdisjoint(_health_words("person")) or self._names_somebody(begin, stop, words)
            asked = lower.rstrip().endswith("?") and words.isdisjoint(
                {"my", "i", "her", "his", "i've", "i'm", "did", "mum's"}
            )
            topic = asked or not words.isdisjoint(_health_words("topic"))
            topic = topic or any(phrase in lower for phrase in load_vocabulary(_FILE).entries("topic_phrases"))
            self._sentences[key] = (person, not words.isdisjoint(_health_words("animals")), topic)
        return self._sentences[key]

    def _names_somebody(self, begin: int, stop: int, words: set[str]) -> bool:
        named = _health_pattern("full_name_cased" if words.isdisjoint(_HAVING) else "first_name_cased")
        return named.search(self.passage.plain, begin, stop) is not None

    def _is_personal(self, start: int, end: int, *, strong: bool) -> bool:
        person, animal, topic = self._look_at_sentence(start, end)
        if animal:
            return False
        if topic:
            before = self.passage.before(start, 40)
            return (_health_pattern("own").search(before) or _health_pattern("elliptical").search(before)) is not None
        return person or strong or _health_pattern("elliptical").search(self.passage.before(start, 40)) is not None

    # ---- terms of the vocabulary

    def _vocabulary_places(self) -> Iterator[_Place]:
        words, known, at = self.passage.words, _load_health_terms(), 0
        while at < len(words):
            size, kind = self._term_at(at, known)
            if size and (place := self._told_term(at, size, kind)):
                yield place
            at += max(1, size)

    def _term_at(self, at: int, known: _Terms) -> tuple[int, str]:
        """How many words the term has that begins at a word, and its kind; none has no words."""
        word = self.passage.words[at].folded
        forms = (word, word.removesuffix("s"), word + "s") if len(word) > _SHORTEST_PLURAL else (word,)
        for form in forms:
            if found := self._known_term(at, known.get(form, ())):
                return found
        if "'" in word:  # `asthma's`, `l'asthme`
            for part in (word.removesuffix("'s"), word.partition("'")[2]):
                if found := self._known_term(at, known.get(part, ())):
                    return found
        if len(word) > _SHORT_WORD and word.endswith(_disease_endings()) and word not in _health_words("endings_not"):
            return 1, "conditions"
        return 0, ""

    def _known_term(self, at: int, terms: Sequence[tuple[tuple[str, ...], str]]) -> tuple[int, str] | None:
        for term, kind in terms:
            words = self.passage.words[at : at + len(term)]
            told = [word.folded for word in words[1:]]
            alike = term[1:] == tuple(told) or (told and term[1:] == (*told[:-1], told[-1].removesuffix("s")))
            if alike and self._is_joined(words):
                return len(term), kind
        return None

    def _is_joined(self, words: tuple[Word, ...]) -> bool:
        plain = self.passage.plain
        return all(plain[one.end : two.start] in {" ", "-", "/", "&"} for one, two in pairwise(words))

    def _told_term(self, at: int, size: int, kind: str) -> _Place | None:
        words = self.passage.words
        start, end = words[at].start, words[at + size - 1].end
        before = self.passage.before(start, _REACH)
        if self._is_metaphor(start, end):
            return None
        if kind == "tests":
            if place := self._told_test(start, end):
                return place
            if not self._is_treatment(at, size):
                return None
        if kind == "soft" and not self._has_lead(at):
            return None
        graded = before.strip() != "" and _health_pattern("opening_before").match(before) is not None
        strong = (kind != "soft" or graded) and self._is_telegraphic(start, end, before)
        if not self._is_personal(start, end, strong=strong) or self._is_name(kind, at, at + size):
            return None
        return self._widen_health_term(at, size, kind)

    def _is_metaphor(self, start: int, end: int) -> bool:
        lower = self.passage.lower
        if _health_pattern("compound_behind").match(lower, end):
            return True
        return _health_pattern("metaphor").search(lower, max(0, start - 25), min(len(lower), end + 25)) is not None

    def _is_name(self, kind: str, at: int, following: int) -> bool:
        """Whether a treatment is who gives it, or a term is of a title: `our physio Annelie`, `Fever Pitch`."""
        words = self.passage.words
        if following >= len(words) or not self.passage.plain[words[following].start].isupper():
            return False
        opens = words[at].start == self.passage.sentence(words[at].start)[0] and following == at + 1
        return (kind == "treatments" or opens) and self.passage.plain[words[following - 1].end] == " "

    def _is_treatment(self, at: int, size: int) -> bool:
        return " ".join(word.folded for word in self.passage.words[at : at + size]) in _health_words("treatments")

    def _has_lead(self, at: int) -> bool:
        """Whether a word that has other meanings stands as a complaint of somebody."""
        words = self.passage.words
        return at > 0 and (words[at - 1].folded in _health_words("soft_lead") or words[at - 1].folded.endswith("'s"))

    def _is_telegraphic(self, start: int, end: int, before: str) -> bool:
        """Whether a note says no more than the term with how it goes: `Migraine again, day three`."""
        begin, stop = self.passage.sentence(start)
        around = self.passage.lower[max(begin, start - _AROUND) : min(stop, end + _AROUND)]
        words = {fold(match[0]) for match in _WORD.finditer(around)}
        clinical = not words.isdisjoint(_health_words("clinical"))
        label = before.rstrip().endswith((":", ",", "->")) or not before.strip()
        if _health_pattern("opening_before").match(before) and _health_pattern("opening_behind").match(
            self.passage.lower, end
        ):
            return True
        return (clinical and len(around) < _AROUND) or (
            label and len(around) < 70 and end >= len(around.rstrip()) + begin - 2
        )

    def _widen_health_term(self, at: int, size: int, kind: str) -> _Place:
        """A term with what tells it closer: its grade before it, its dose behind it."""
        words = self.passage.words
        start, end = words[at].start, words[at + size - 1].end
        before = self.passage.before(start, 24)
        for modifier in load_vocabulary(_FILE).entries("modifiers"):
            if (
                modifier != "a"
                and before.endswith((" " + modifier + " ", modifier + " "))
                and not before[: -len(modifier) - 1][-1:].isalnum()
            ):
                start -= len(modifier) + 1
                break
        if kind == "medications" and (dose := _health_pattern("dose_behind").match(self.passage.lower, end)):
            end = dose.end()
        return start, end

    def _told_test(self, start: int, end: int) -> _Place | None:
        """A test with its result, if one stands there."""
        lower = self.passage.lower
        value = _health_pattern("value_behind").match(lower, end, min(len(lower), end + _REACH))
        if verdict := _health_pattern("verdict_before").search(self.passage.before(start, 20)):
            return (start - len(verdict[0]), end) if self._is_personal(start, end, strong=True) else None
        if value is None or not self._is_personal(start, end, strong=True):
            return None
        if reading := _health_pattern("reading").match(lower, value.end(), min(len(lower), value.end() + 40)):
            return start, reading.end()
        finding = _health_pattern("finding").match(lower, value.end(), min(len(lower), value.end() + 60))
        return (
            (start, finding.end())
            if finding and _health_pattern("finding_verb").search(value[0].rstrip() + " ")
            else None
        )

    # ---- ways of telling

    def _pattern_places(self) -> Iterator[_Place]:
        passage = self.passage
        told = passage.has_word(_health_words("telling_words"))
        for match in _health_pattern("diagnosed").finditer(passage.lower) if told else ():
            term = _health_pattern("term").match(
                passage.lower, match.end(), min(len(passage.lower), match.end() + _REACH)
            )
            if term and self._is_told(match, term):
                yield term.span()
        for name in _WHOLE:
            for match in _health_pattern(name).finditer(passage.lower):
                if self._is_personal(*match.span(), strong=name in {"body_injury", "organ_out"}):
                    yield match.span()
        yield from self._dose_places()
        for match in _health_pattern("allergic").finditer(passage.lower):
            if place := self._find_allergen(match):
                yield place

    def _is_told(self, match: re.Match[str], term: re.Match[str]) -> bool:
        if not self._is_personal(match.start(), term.end(), strong=True) or _health_pattern("metaphor").search(term[0]):
            return False
        if not _health_pattern("needs_term").match(match[0].strip()):
            return True
        at = bisect_left(self.passage.words, term.start(), key=lambda word: word.start)
        known = _load_health_terms()
        while at < len(self.passage.words) and self.passage.words[at].start < term.end():
            if self._term_at(at, known)[0]:
                return True
            at += 1
        return False

    def _dose_places(self) -> Iterator[_Place]:
        for match in _health_pattern("dose").finditer(self.passage.lower):
            word = match[1] or match[2]
            if not _health_pattern("not_medicine").match(word) and self._is_personal(
                *match.span(), strong=self._is_medicine(word)
            ):
                yield match.span()
        for match in _health_pattern("weighs").finditer(self.passage.lower):
            person, animal, topic = self._look_at_sentence(*match.span())
            if (
                person
                and not animal
                and not topic
                and _health_pattern("weigher").search(self.passage.before(match.start(), 20))
            ):
                yield match.span(1)

    def _is_medicine(self, word: str) -> bool:
        folded = fold(word)
        return folded in _load_health_terms() or folded.endswith(_disease_endings())

    def _find_allergen(self, match: re.Match[str]) -> _Place | None:
        """An allergy to what people are allergic to; animals may cause one."""
        behind = self.passage.lower[match.end() : match.end() + 30]
        allergens = _health_words("allergens")
        words = [(one.end(), fold(one[0])) for one in _WORD.finditer(behind)][:2]
        ends = [words[1][0]] if len(words) > 1 and f"{words[0][1]} {words[1][1]}" in allergens else []
        ends += [words[0][0]] if words and words[0][1] in allergens else []
        if not ends or _health_pattern("animal_subject").search(self.passage.before(match.start(), 50)):
            return None
        return match.start(), match.end() + ends[0]
