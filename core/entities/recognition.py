"""What in a text may be a name, by rules: cues, capitals in the middle of a sentence, technologies, files, handles.

A candidate is *sure* where a cue says what it is ("my sister Rosa", "@rosa", "at Harbour Ltd"); any other needs to be
named twice in its space (`core.entities.discovery`). The cue words are `resources/enrich/names.json`. Where the reading
is not sure it finds nothing: a name that is missed costs less than a common word that ties memories together. Must not
do: resolve a pronoun, or know a vault.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from core.entities.gazetteer import is_given_name, is_maker, is_town
from core.entities.name_cues import NameCue, find_works, is_address, last_noun_kind, long_names, read_cue
from core.text.metadata import Metadata, blank_code_and_paths, extract_metadata
from core.text.terms import common_words, fold_case, fold_width, fold_word, plain_words

_KEY_WORD = re.compile(r"[^\W_][\w'.-]*")
_WORDS_ONLY = re.compile(r"[\w\s'.,-]+")
MOST_NAME = 80
"""Characters of a name, at most."""
MOST = 64
"""Candidates of one text, at most."""
MOST_TEXT = 16_384
"""Code points of a text that are read."""
_WORD = re.compile(r"[^\W\d_]\w*(?:['’-]\w+)*")
_HANDLE = re.compile(r"(?<![\w.@/+])@([A-Za-z][\w-]{1,38})(?![\w@]|[./]\w)")
_TAG = re.compile(r"(?<![\w#&/])#([A-Za-z][\w-]{2,40})(?![\w-])")
_HEX = re.compile(r"(?:[0-9a-fA-F]{3}){1,2}")
_OWNS = re.compile(r"['’]s?$")
_OPENS = re.compile(r"(?:^|[.!?:…]['\"”’)]*\s+|\n\s*|[•*>|]\s+|(?:^|\n)\s*[-+]\s+|\d[.)]\s+)['\"“‘(\[*_]*$")
_HEADING_SHARE, _HEADING_WORDS = 0.7, 3
_COMPANY, _IN_LIST = re.compile(r",? (?:and|or) "), re.compile(r", ")
_BRACKETED = re.compile(r"\A---[ \t]*\n(?P<lines>.{0,2000}?)\n---[ \t]*\n", re.DOTALL)
_KEY_OF_PROPERTY = re.compile(r"^[ \t]*[\w -]{1,40}:", re.MULTILINE)
_REACH = 60
SURE_VOTES = 3
"""Our choice: a cue that names the kind outweighs two that lean to another."""
UNKNOWN = "other"
_LEAST_LEAD = 4
_MANY_LETTERS = re.compile(r"[A-Z]{2,}s")  # "PDFs"
_LEAST_ADVERB = 5  # "Thankfully"; not "Lily"


@dataclass(frozen=True, slots=True)
class NameWords:
    """The vocabulary; sets of words, and the patterns made of them.

    Attributes:
        related: matches before a person's name: "my older sister ".
        relates: matches behind one: ", my sister", " is my sister".
        called: matches before the name of something that is told: group `noun`.
        lives: matches before a place; `works` before an organisation; `meets` before a person.
        project: matches before a project's name.
    """

    titles: frozenset[str]
    bare_titles: frozenset[str]
    company: frozenset[str]
    institutions: frozenset[str]
    landmarks: frozenset[str]
    landmarks_or_surnames: frozenset[str]
    heads: frozenset[str]
    said: frozenset[str]
    links: frozenset[str]
    not_names: frozenset[str]
    handles_not: frozenset[str]
    tags_not: frozenset[str]
    german: frozenset[str]
    first_names: frozenset[str]
    places: frozenset[str]
    relations: frozenset[str]
    pets: frozenset[str]
    projects: frozenset[str]
    services: frozenset[str]
    related: re.Pattern[str]
    relates: re.Pattern[str]
    called: re.Pattern[str]
    lives: re.Pattern[str]
    works: re.Pattern[str]
    meets: re.Pattern[str]
    project: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class NameCandidate:
    """What may be a name, at one place.

    Attributes:
        name: as written, or as the vocabulary of technologies writes it.
        key: `name_key` of it.
        type: of `entities.type`; `other` where nothing tells.
        start: first code point; `end` is exclusive.
        is_sure: whether a cue says that it is a name.
        opens: whether it begins a sentence, where capitals tell nothing.
        written: of a technology, how the text spells it; else "".
        by_name: whether a list of names alone tells the type, and no word beside it.
        beside: keys of the names that it is told in one breath with: "Luna and Oliver".
        is_address: whether somebody is spoken to by it: "Thanks, Mel!".
    """

    name: str
    key: str
    type: str
    start: int
    end: int
    is_sure: bool = False
    opens: bool = False
    written: str = ""
    by_name: bool = False
    beside: tuple[str, ...] = ()
    is_address: bool = False

    @property
    def is_word(self) -> bool:
        """Whether it is told by its letters alone, not by a form of its own."""
        return self.type not in ("technology", "file", "concept") and not self.name.startswith("@")


@dataclass(frozen=True, slots=True)
class NameWord:
    """One word of a text.

    Attributes:
        text: without a possessive ending.
        start: first code point; `end` is exclusive.
        opens: whether it has a capital and begins a sentence.
        owns: whether it had a possessive ending.
    """

    text: str
    start: int
    end: int
    opens: bool
    owns: bool


@dataclass(frozen=True, slots=True)
class RecognizedText:
    """A text as it was read.

    Attributes:
        words: its words outside of code, addresses and paths.
        candidates: what may be a name, in order; none overlap.
    """

    words: tuple[NameWord, ...]
    candidates: tuple[NameCandidate, ...]


@lru_cache(maxsize=16_384)
def name_key(name: str) -> str:
    """The form under which a name is found, whatever its case, accents and spacing.

    Args:
        name: as written.

    Returns:
        Its words folded, a blank between them, as recall asks for them; of a name with other signs ("C++",
        "src/auth.ts") the folded text. "" for a text without a letter or digit.
    """
    plain = fold_width(name.replace("\u2019", "'")).strip()
    if not _WORDS_ONLY.fullmatch(plain):
        return fold_case(plain) if _KEY_WORD.search(plain) else ""
    words = (fold_case(word).strip(".'-") for word in _KEY_WORD.findall(plain))
    return " ".join(word for word in words if word)


@cache
def read_short_names() -> dict[str, Any]:
    """The table of short forms of names (`resources/enrich/short_names.json`), and the labels that are no names."""
    loaded: dict[str, Any] = json.loads((files("resources") / "enrich" / "short_names.json").read_text("utf-8"))
    return loaded


@cache
def _all_short_forms() -> frozenset[str]:
    return frozenset(form for forms in read_short_names()["forms"].values() for form in forms.split())


def is_form_of_name(key: str) -> bool:
    """Whether a word is a common short form of some name."""
    return key in _all_short_forms()


@cache
def name_vocabulary() -> NameWords:
    """The vocabulary, loaded once.

    Returns:
        Its words and patterns.
    """
    data: dict[str, str] = json.loads((files("resources") / "enrich" / "names.json").read_text("utf-8"))

    def word_set(name: str) -> frozenset[str]:
        return frozenset(data[name].split())

    def one_of(*names: str) -> str:
        words = sorted({word for name in names for word in data[name].split()}, key=lambda word: (-len(word), word))
        return "(?:" + "|".join(map(re.escape, words)) + ")"

    owner = r"(?:\b(?:my|our|his|her|their|your|i)|['’]s?|\bthe user['’]s)"
    relation = rf"(?:{one_of('adjectives')}[ -])*{one_of('relations')}"
    things = one_of("relations", "pets", "projects", "services")
    return NameWords(
        **{name: word_set(name) for name in (
            "titles", "bare_titles", "company", "institutions", "landmarks", "landmarks_or_surnames", "said", "links",
            "not_names", "handles_not", "tags_not", "german", "first_names", "relations", "pets", "projects",
            "services",
        )},
        heads=word_set("place_heads"),
        places=frozenset(name_key(place) for place in data["places"].split(";")),
        related=re.compile(rf"{owner} {relation},? $", re.IGNORECASE),
        relates=re.compile(rf"(?:,| is| was) (?:my|our|his|her|their) {relation}\b"),
        called=re.compile(rf"\b(?P<noun>{things}),? (?:is |was |who is |that is )?(?:called|named) $", re.IGNORECASE),
        lives=re.compile(rf"\b(?:(?:{data['live']}) (?:in|near)|(?:{data['go']}) (?:to|from)) $", re.IGNORECASE),
        works=re.compile(rf"\b(?:{data['work']}) (?:at|with) $", re.IGNORECASE),
        meets=re.compile(rf"(?<!\w)(?:{data['with']}) $", re.IGNORECASE),
        project=re.compile(r"\b(?:[Pp]roject|[Cc]ode ?name[d]?) $"),
    )  # fmt: skip


def recognize_names(text: str, metadata: Metadata | None = None, context: str = "") -> RecognizedText:
    """Look for names.

    Args:
        text: any text; its first `MOST_TEXT` code points are read.
        context: what was said just before it: of whom "her name is" tells.
        metadata: what `core.text.metadata` read off it; read here where it is None.

    Returns:
        Its words and candidates.
    """
    text = text[:MOST_TEXT]
    known = metadata or extract_metadata(text)
    plain = blank_code_and_paths(text)
    words = _tokenize_words(plain)
    found = [*_find_formed_names(known, text, plain)]
    taken = [(one.start, one.end) for one in found]
    found += (
        one
        for one in _find_candidates(plain, words, context)
        if not any(one.start < end and start < one.end for start, end in taken)
    )
    ordered = sorted(found, key=lambda one: one.start)[:MOST]
    return RecognizedText(tuple(words), tuple(_tell_by_company(plain, ordered)))


def _tell_by_company(plain: str, found: Sequence[NameCandidate]) -> Iterator[NameCandidate]:
    """Names told in one breath are of one kind: what is told of one holds for the other, of which nothing is told."""
    told = list(found)
    for at in range(1, len(told)):
        one, other = told[at - 1], told[at]
        between = plain[one.end : other.start]
        is_list = _IN_LIST.fullmatch(between) and not one.opens  # "Wow, Mel" is no list
        if not (one.is_word and other.is_word and (is_list or _COMPANY.fullmatch(between))):
            continue
        one = replace(one, beside=(*one.beside, other.key))
        other = replace(other, beside=(*other.beside, one.key))
        if _is_untold(one) and not _is_untold(other):
            one = replace(one, type=other.type, by_name=other.by_name)
        elif _is_untold(other) and not _is_untold(one):
            other = replace(other, type=one.type, by_name=one.by_name)
        told[at - 1], told[at] = one, other
    return iter(told)


def _is_untold(one: NameCandidate) -> bool:
    return one.type == UNKNOWN and not one.is_sure


def count_votes(places: Iterable[NameCandidate]) -> Counter[str]:
    """Count what the places of one name take it for.

    Args:
        places: of one name.

    Returns:
        Type to the weight of its votes; `other` has some only where a text says what kind of thing it is ("a boat
        called ..."). A list of names has one vote, however often the name is told.
    """
    votes: Counter[str] = Counter()
    by_list: set[str] = set()
    for place in places:
        if place.is_sure:
            votes[place.type] += SURE_VOTES
        elif place.by_name:
            by_list.add(place.type)
        elif place.type != UNKNOWN:
            votes[place.type] += 1
    votes.update(by_list)
    return votes


def heaviest_type(votes: Counter[str]) -> str:
    """The type with most votes; `other` without any.

    Who does something is taken for a person first, be it a cat: of equals another kind is the better told.
    """
    best = max(votes.values(), default=0)
    return min((kind == "person", kind) for kind, count in votes.items() if count == best)[1] if best else UNKNOWN


def is_outweighed(votes: Counter[str], kind: str) -> bool:
    """Whether another type has more votes than the one that is told now; equals change nothing."""
    return votes[heaviest_type(votes)] > votes[kind]


def _tokenize_words(plain: str) -> list[NameWord]:
    words: list[NameWord] = []
    titles = name_vocabulary().titles
    keys = _find_property_keys(plain)
    for match in _WORD.finditer(plain):
        raw = match.group()
        if plain[match.start() - 1 : match.start()] == "\\" or any(a <= match.start() < b for a, b in keys):
            continue  # a sign of a formula; the name of a property of a note
        text = _OWNS.sub("", raw)
        opens = raw[0].isupper() and _begins_sentence(plain, match.start())
        if opens and words and f"{words[-1].text}." in titles and plain[words[-1].end : match.start()] == ". ":
            opens = False
        words.append(NameWord(text, match.start(), match.start() + len(text), opens, text != raw))
    return words


def _find_property_keys(plain: str) -> list[tuple[int, int]]:
    """Where the names of the properties above a note stand."""
    head = _BRACKETED.match(plain)
    if head is None:
        return []
    return [found.span() for found in _KEY_OF_PROPERTY.finditer(plain, head.start("lines"), head.end("lines"))]


def _begins_sentence(plain: str, at: int) -> bool:
    """Whether a sentence begins there."""
    before = plain[max(0, at - 16) : at]
    if before[-1:] == " " and (before[-2:-1].isalnum() or before[-2:-1] == ","):
        return False  # most words; the pattern need not look
    return not before.strip() or bool(_OPENS.search(before))


def _find_formed_names(known: Metadata, text: str, plain: str) -> Iterator[NameCandidate]:
    """What has a form of its own: technologies, files, handles, tags."""
    for tool in known.technologies:
        written = text[tool.start : tool.end]
        if tool.end <= MOST_TEXT:
            yield NameCandidate(tool.name, name_key(tool.name), "technology", tool.start, tool.end, written=written)
    for path in known.paths:
        if len(path.name) <= MOST_NAME and path.end <= MOST_TEXT:
            yield NameCandidate(path.name, name_key(path.name), "file", path.start, path.end)
    words = name_vocabulary()
    for match in _HANDLE.finditer(plain):
        if match.group(1).lower() not in words.handles_not:
            name = match.group()
            yield NameCandidate(name, name_key(name), "person", match.start(), match.end(), is_sure=True)
    for match in _TAG.finditer(plain):
        tag = match.group(1)
        if tag.lower() not in words.tags_not and not _HEX.fullmatch(tag):
            yield NameCandidate(match.group(), name_key(match.group()), "concept", match.start(), match.end())


def _find_candidates(plain: str, words: Sequence[NameWord], context: str) -> Iterator[NameCandidate]:
    if not words:
        return
    trusts = _trusts_capitals(words)
    headings = _find_headings(plain)
    works = [one for one in _find_titles(plain) if trusts and not any(a <= one.start < b for a, b in headings)]
    yield from works
    for run in _capital_runs(plain, words):
        start, end = run[0].start, run[-1].end
        name = plain[start:end]
        if len(name) > MOST_NAME or not name_key(name) or any(one.start < end and start < one.end for one in works):
            continue
        kind = _type_from_cue(plain, run, context)
        cue = read_cue(plain, start, end, is_first_name=is_first_name(run[0].text))
        if kind is None and cue is not None and cue.is_sure and _may_be_name(run):
            kind = cue.type
        if kind is not None:
            address = kind == "person" and is_address(plain, start, end)
            yield NameCandidate(
                name, name_key(name), kind, start, end, is_sure=True, opens=run[0].opens, is_address=address
            )
        elif trusts and not any(a <= start < b for a, b in headings) and _may_be_name(run):
            leans, by_name = _lean_of(plain, run, cue)
            yield NameCandidate(name, name_key(name), leans, start, end, opens=run[0].opens, by_name=by_name)


def _lean_of(plain: str, run: Sequence[NameWord], cue: NameCue | None) -> tuple[str, bool]:
    """What a name that no cue is sure of most likely is, and whether a list of names alone tells so."""
    leans, is_listed = _likely_type(plain, run)
    is_told = leans == UNKNOWN or is_listed
    if cue is not None and (is_told or cue.type == "pet" or (cue.type == "place" and not is_first_name(run[0].text))):
        return cue.type, False
    return leans, is_listed


def _find_titles(plain: str) -> Iterator[NameCandidate]:
    """Titles of works; a single word is surely one only in quotes."""
    words = name_vocabulary()
    for start, end in find_works(plain):
        name = plain[start:end]
        first = name.split(" ", 1)[0]
        is_quoted = plain[start - 1 : start] in ('"', "\u201c")
        is_single = " " not in name
        is_other = first in words.first_names or name_key(name) in words.places or fold_word(name) in common_words()
        if len(name) <= MOST_NAME and name_key(name) and not (is_single and not is_quoted and is_other):
            sure = is_quoted or not is_single
            yield NameCandidate(name, name_key(name), "work", start, end, is_sure=sure)


def _trusts_capitals(words: Sequence[NameWord]) -> bool:
    """Whether capitals mean names here: not in a shouted text, nor in German, where every noun has one."""
    capitals = sum(
        word.text[:1].isupper() and not word.opens and word.text[:2].strip("'\u2019") != "I" for word in words
    )
    if len(words) > 5 and capitals > 0.5 * len(words):
        return False
    return len(name_vocabulary().german.intersection(word.text for word in words)) < 2


def _find_headings(plain: str) -> list[tuple[int, int]]:
    found, at = [], 0
    for line in plain.split("\n"):
        words = _WORD.findall(line)
        capitals = sum(word[:1].isupper() or word in name_vocabulary().links for word in words)
        ends = line.rstrip()[-1:] in tuple(".!?…")
        titled = len(words) >= _HEADING_WORDS and capitals >= _HEADING_SHARE * len(words) and not ends
        if line.lstrip().startswith("#") or titled:
            found.append((at, at + len(line)))
        at += len(line) + 1
    return found


def _capital_runs(plain: str, words: Sequence[NameWord]) -> Iterator[list[NameWord]]:
    """Runs of capitalised words that may make one name; links such as "van" and "of" stand inside only."""
    run: list[NameWord] = []
    for at, word in enumerate(words):
        if run and not _is_joined(plain, run, word):
            yield from _close_name_run(run)
            run = []
        is_begin = _is_capital(word) or _begins_long_name(plain, word) or _leads_name(plain, words[at : at + 2])
        if (is_begin and not (word.opens and _is_plain(plain, word))) or (run and _is_continuing_name(run, word)):
            run.append(word)
        elif run:
            yield from _close_name_run(run)
            run = []
    yield from _close_name_run(run)


def _leads_name(plain: str, pair: Sequence[NameWord]) -> bool:
    """Whether a common word has a capital for no other reason than the name that goes on behind it: "Door Dash"."""
    word = pair[0]
    if len(pair) < 2 or word.owns or not word.text.istitle():
        return False
    # "Ed" is a common word when it is folded, and so is the "West" of "West County".
    is_part = (is_first_name(word.text) and word.text.lower() not in plain_words()) or (
        word.text in name_vocabulary().heads and not word.opens
    )
    if not is_part and (word.opens or len(word.text) < _LEAST_LEAD):
        return False
    is_other = fold_word(word.text) in name_vocabulary().not_names | name_vocabulary().relations
    return (is_part or not is_other) and plain[word.end : pair[1].start] == " " and _is_capital(pair[1])


def _begins_long_name(plain: str, word: NameWord) -> bool:
    """Whether a known name begins there whose first word is none: "British Gas", "New York"."""
    return any(plain.startswith(name, word.start) for name in long_names().get(word.text, ()))


def _is_plain(plain: str, word: NameWord) -> bool:
    """Whether a word that begins a sentence is one that people write small: it is no part of the name behind it."""
    known = name_vocabulary()
    small = word.text.lower()
    if (
        _begins_long_name(plain, word)
        or word.text in known.first_names
        or word.text in known.heads
        or word.text in known.titles
    ):
        return False
    if small not in plain_words() and not (small.endswith("ly") and len(small) > _LEAST_ADVERB):
        return False
    behind = plain[word.end : word.end + _REACH].split(" ")
    named = [one.strip(".,!?:;'\"\u2019") for one in behind[1:4] if one[:1].isupper()]
    return not (named and (named[-1] in known.company | known.institutions | known.landmarks))


def _is_joined(plain: str, run: Sequence[NameWord], word: NameWord) -> bool:
    between = plain[run[-1].end : word.start]
    if between == ". ":
        return f"{run[-1].text}." in name_vocabulary().titles or len(run[-1].text) == 1
    if between == "'s " or between == "’s ":
        return _is_place_head(word)
    return between == " " and not run[-1].owns and not word.opens


def _is_place_head(word: NameWord) -> bool:
    """Whether it ends the name of a place or an institution, which another name may own: "Miller's Ford"."""
    known = name_vocabulary()
    return word.text in known.landmarks | known.landmarks_or_surnames | known.institutions


def _is_continuing_name(run: Sequence[NameWord], word: NameWord) -> bool:
    """Links stand inside a name, and behind one even a common word is a part of it: "van der Meer"."""
    links = name_vocabulary().links
    return word.text in links or _is_of(run, word) or (run[-1].text in links and word.text[:1].isupper())


def _is_of(run: Sequence[NameWord], word: NameWord) -> bool:
    return word.text == "of" and run[-1].text in name_vocabulary().institutions


def _is_capital(word: NameWord) -> bool:
    if not word.text[:1].isupper():
        return False
    if word.text in name_vocabulary().titles:
        return True
    folded = fold_word(word.text)
    if "-" in word.text and word.text[1:].islower():
        folded = fold_word(word.text.split("-", 1)[0])  # "Sunday-based"
    if folded in name_vocabulary().relations or _MANY_LETTERS.fullmatch(word.text):
        return False
    return folded not in common_words() and folded not in name_vocabulary().not_names and word.text.lower() != "i"


def _close_name_run(run: list[NameWord]) -> Iterator[list[NameWord]]:
    links = name_vocabulary().links | {"of"}
    while run and run[-1].text in links:
        run = run[:-1]
    if run and not (len(run) == 1 and run[0].text in name_vocabulary().titles):
        yield run


def _type_from_cue(plain: str, run: Sequence[NameWord], context: str) -> str | None:
    """The type that a cue gives; None where there is no cue."""
    words = name_vocabulary()
    last = run[-1].text
    if run[0].text in words.titles and len(run) > 1:
        return "person"
    if len(run) > 1:
        if last in words.company or last in words.institutions or run[0].text in ("University", "Bank"):
            return "organization"
        if last in words.landmarks or (last in words.landmarks_or_surnames and _may_own_place(run)):
            return "place"
    before, after = plain[max(0, run[0].start - _REACH) : run[0].start], plain[run[-1].end :][:_REACH]
    if words.related.search(before) or (not run[-1].owns and words.relates.match(after)):
        return "person"
    return _find_called_type(before, after, run, context)


def _may_own_place(run: Sequence[NameWord]) -> bool:
    """Whether the last word is a landmark, and no surname behind a first name: "Corn Hall", not "Amy Hall"."""
    return run[-2].owns or not is_first_name(run[0].text)


def _find_called_type(before: str, after: str, run: Sequence[NameWord], context: str) -> str | None:
    words = name_vocabulary()
    named = words.called.search(before)
    if named is not None:
        noun = named["noun"].lower()
        kinds = {
            "person": words.relations,
            "pet": words.pets,
            "project": words.projects,
            "service": words.services,
        }
        return next((kind for kind, nouns in kinds.items() if noun in nouns), "other")
    if re.search(r"\b(?:my|[Hh]is|[Hh]er|[Tt]heir) name(?: is|['’]s| was) $", before):
        cue = read_cue(f"{before}{run[0].text}", len(before), len(before) + len(run[0].text), is_first_name=False)
        is_pet = cue is not None and cue.type == "pet"
        return "pet" if is_pet or last_noun_kind(f"{context}\n{before}") == "pet" else "person"
    if _is_abbreviation(run):
        return None
    if words.project.search(before) or (
        re.search(r"\b(?:[Tt]he|[Oo]ur|[Mm]y) $", before) and after.startswith(" project")
    ):
        return "project"
    if re.search(r"\b(?:[Tt]he|[Oo]ur|[Mm]y) $", before) and re.match(r" (?:micro)?service\b", after):
        return "service"
    if words.works.search(before):
        return "organization"
    return "place" if words.lives.search(before) and _is_free(run) else None


def _is_free(run: Sequence[NameWord]) -> bool:
    """Whether the name is no technology that people move to as well."""
    return not extract_metadata(f"code in {run[0].text}").technologies


def _is_abbreviation(run: Sequence[NameWord]) -> bool:
    return len(run) == 1 and run[0].text.isupper()


def _may_be_name(run: Sequence[NameWord]) -> bool:
    word = run[0].text
    if len(run) == 1 and len(word) == 2 and word.istitle():
        return word in name_vocabulary().first_names or is_form_of_name(word.lower())
    return len(run) > 1 or (len(word) > 2 and not word.isupper() and "'" not in word)


def is_first_name(word: str) -> bool:
    """Whether a word is a common first name, whole or short."""
    return word in name_vocabulary().first_names or (word.istitle() and is_form_of_name(word.lower()))


def _likely_type(plain: str, run: Sequence[NameWord]) -> tuple[str, bool]:
    """What a name without a cue most likely is, and whether a list of names alone tells so."""
    words = name_vocabulary()
    before, after = plain[max(0, run[0].start - _REACH) : run[0].start], plain[run[-1].end :][:_REACH]
    key = name_key(plain[run[0].start : run[-1].end])
    follower = re.match(r" ([a-z]+)", after)
    is_person = is_first_name(run[0].text)
    if key in words.places and not (is_person and words.meets.search(before)):
        return "place", False
    if follower and follower.group(1) in words.said:
        return "person", False
    if before.endswith(("the ", "The ")):
        return ("person", True) if is_person else (UNKNOWN, False)  # "the Sava" is nobody
    if is_person or (len(run) == 1 and is_maker(run[0].text)) or is_given_name(run[0].text) or _is_like_person(run):
        return "person", True
    return ("place", True) if len(run) == 1 and is_town(run[0].text) else (UNKNOWN, False)


def _is_like_person(run: Sequence[NameWord]) -> bool:
    """Whether it is two words that nobody writes small: most such names are of people."""
    if len(run) != 2 or run[0].opens:
        return False
    return all(word.text.istitle() and word.text.lower() not in plain_words() for word in run)
