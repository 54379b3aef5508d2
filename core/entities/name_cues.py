"""What stands beside a name says what it names: a person, a pet, a place, an organisation, a work.

The words are `resources/enrich/name_cues.json`. A cue is sure where it names the kind ("our rabbit is called Truffle");
one that only leans ("in Voss") counts where a conversation writes the name with a capital inside a sentence. Must not
do: find names, know a vault, or hold a word of a sample.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from core.entities.gazetteer import is_given_name
from core.text.terms import plain_words

_REACH = 70
_NEXT_SENTENCE = 60
_REACH_BEFORE = 160  # "I got a puppy two weeks ago! Her name's Coco"
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_SENTENCE_END = re.compile(r"[.!?…\n]")
_TITLE_WORD = r"[A-Z]\w*(?:['’-]\w+)*(?:(?<=s)['’](?= [A-Z]))?"
_SMALL = "(?:,? (?:of|the|and|in|to|a|an|for|on|with|at|from|me|my|or|is))"
_TITLE = rf"(?:The |A |An )?{_TITLE_WORD}(?:{_SMALL}{{0,2}} {_TITLE_WORD})*"
_QUOTED = re.compile(r"[\"“](?P<title>[^\"“”\n]{2,60}?)[,.!?]?[\"”]")
_IN_SINGLE_QUOTES = re.compile(r"(?<![\w'’])['‘](?P<title>[A-Z][^'‘’\n]{2,60}?)[,.!?]?['’](?!\w)")
_OWNED = re.compile(r"\b[A-Z]\w+(?:['’]s|s['’]) [\"“'‘]$")
"""Somebody's, and in quotes: a work of theirs."""
_ABOUT = re.compile(r",? (?:is|was) (?:all )?about\b")
_IN_LINK = re.compile(r"\[\[(?:[^\]|\n]*/)?(?P<folder>[\w -]+)/$")
_SLANTED = re.compile(r"(?<![*\w])\*(?P<title>[^*\n]{2,60}?)\*(?!\*)(?=,? (?:by )?[A-Z])")
_LEAST_WORK_WORDS, _PAIR = 2, 3  # "Greta and Anselm"
_BEHIND_TITLE = re.compile(
    r"(?:,? (?:and|but|or|so|when|while) (?:I|We|He|She|They)\b.*"
    r"|,? (?:for|on|at|in|by|from|last|until) (?:the )?(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|January|February"
    r"|March|April|May|June|July|August|September|October|November|December|Christmas|Easter)\b.*)$",
    re.DOTALL,
)
"""What a title is followed by with a capital, and is no part of it."""
_PLACED = re.compile(r"\b(?:on|in|to|into|at|near|across|around) $", re.IGNORECASE)
_WORK_BEHIND = re.compile(
    r" by [A-Z][\w.]+ (?:[a-z]{2,3} )?[A-Z]\w+"
    r"|,? (?:page|chapter|episode|season|series|act|verse|volume) (?:\d|one|two|three)"
)
"""Who made it, or a part of it by its number."""
_DOES = re.compile(
    r" (?!with|on|at|in|again|and|or|but|for|by|to|from|last|the|a|this|that|yesterday|tonight|today|twice|once"
    r"|while|when|because|as|so|if|is|was|before|after|about|all|together|until|every|instead)[a-z]+"
)
_TOLD_KINDS = (
    ("place", "place_nouns"),
    ("organization", "organization_nouns"),
    ("person", "people"),
    ("work", "works"),
)
_PROPERTIES = re.compile(r"\A---[ \t]*\n(?P<lines>.{0,2000}?)\n---[ \t]*\n", re.DOTALL)
_TAGS = re.compile(r"^tags:(.*(?:\n[ \t]*-.*)*)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class NameCue:
    """What a cue says.

    Attributes:
        type: of `entities.type`.
        is_sure: whether it names the kind.
    """

    type: str
    is_sure: bool = False


@dataclass(frozen=True, slots=True)
class _Cues:
    """The patterns, each for the text just before or behind a name."""

    pet_before: re.Pattern[str]
    pet_behind: re.Pattern[str]
    pet_done: re.Pattern[str]
    pet_does: re.Pattern[str]
    pet_words: re.Pattern[str]
    pet_signs: re.Pattern[str]
    beside_pet: re.Pattern[str]
    called: re.Pattern[str]
    person_before: re.Pattern[str]
    person_leans: re.Pattern[str]
    person_behind: re.Pattern[str]
    greeting: re.Pattern[str]
    organization_before: re.Pattern[str]
    place_before: re.Pattern[str]
    place_leans: re.Pattern[str]
    work: re.Pattern[str]
    work_leans: re.Pattern[str]
    work_finishes: re.Pattern[str]
    work_told_through: re.Pattern[str]
    work_near: re.Pattern[str]
    work_kinds: re.Pattern[str]
    work_nouns: re.Pattern[str]
    organizations: frozenset[str]
    places: frozenset[str]
    person_leads: re.Pattern[str]
    person_follows: re.Pattern[str]
    thing: re.Pattern[str]
    make: re.Pattern[str]
    place_nouns: re.Pattern[str]
    place_behind: re.Pattern[str]
    organization_called: re.Pattern[str]
    group_quoted: re.Pattern[str]
    stay: re.Pattern[str]
    makers_like: re.Pattern[str]
    pet_things: re.Pattern[str]
    some_pet: re.Pattern[str]
    pet_nouns: re.Pattern[str]
    people_nouns: re.Pattern[str]
    contract: re.Pattern[str]
    project: re.Pattern[str]
    told_kinds: tuple[tuple[str, re.Pattern[str]], ...]
    tag_kinds: Mapping[str, str]
    people_property: re.Pattern[str]


@cache
def _load_cues() -> _Cues:
    data: dict[str, str] = json.loads((files("resources") / "enrich" / "name_cues.json").read_text("utf-8"))

    def words(name: str) -> str:
        return "(?:" + "|".join(re.escape(word).replace(r"\ ", " ") for word in data[name].split("|")) + ")"

    pets, kinds, things = words("pets"), words("people"), words("works")
    article = r"(?:my|our|his|her|their|your|the|a|an|another|this)"
    return _Cues(
        pet_before=re.compile(
            rf"\b(?:{pets}s?,? (?:is |was |are |who is )?(?:(?:called|named) )?|{pets}s? [A-Z]\w+ and )$", re.IGNORECASE
        ),
        pet_behind=re.compile(rf"(?:,| is| was) {article} (?:[\w-]+ ){{0,3}}{pets}\b", re.IGNORECASE),
        pet_done=re.compile(rf"\b{words('done_to_pets')} $", re.IGNORECASE),
        pet_does=re.compile(rf"(?:['’]s)? {words('pets_do')}\b", re.IGNORECASE),
        # Small letters only: a name may be spelt as an animal is ("Nan Shepherd").
        pet_words=re.compile(rf"\b(?:{pets}s?|{words('pet_words')})\b"),
        beside_pet=re.compile(rf",? (?:and|or|with) {article} (?:[\w-]+ ){{0,2}}{pets}s?\b", re.IGNORECASE),
        pet_signs=re.compile(rf"\b{words('pet_signs')}\b"),
        called=re.compile(
            r"\b(?:(?:his|her|its|their) names?(?: is|['’]s| was| are)|(?:named|called)) $", re.IGNORECASE
        ),
        person_before=re.compile(
            rf"\b(?:{kinds},? (?:is |was |who is )?(?:called |named )?|{kinds}s, (?:(?-i:[A-Z])\w+ and )?)$",
            re.IGNORECASE,
        ),
        person_leans=re.compile(rf"\b{words('before_people')} $", re.IGNORECASE),
        person_behind=re.compile(
            rf"(?:['’]s {words('kin')}\b|,? (?:and|who|she|he) {words('says')}\b|(?: has| have| had)? {words('says')}\b"
            ")"
        ),
        greeting=re.compile(rf"(?:^|[.!?,…\n] *|\bsaid ){words('greetings')},? $", re.IGNORECASE),
        organization_before=re.compile(rf"\b{words('before_organizations')} $", re.IGNORECASE),
        place_before=re.compile(rf"\b{words('before_places')} (?:the )?$", re.IGNORECASE),
        place_leans=re.compile(r"\b(?:in|near|from|around|across|outside) (?:the )?$", re.IGNORECASE),
        work=re.compile(
            rf"\b(?:pages? \d+ of|{words('work_verbs')}|{things}(?:['’]s| is| was| it's)?(?: (?:called|named))?:?) "
            "(?:(?:half|part|all) of )?$",
            re.IGNORECASE,
        ),
        work_leans=re.compile(rf"\b{words('work_leans')} $", re.IGNORECASE),
        work_finishes=re.compile(rf"\b{words('work_finishes')} $", re.IGNORECASE),
        work_kinds=re.compile(rf"\b(?:{things})s?\b"),
        work_nouns=re.compile(rf"\b(?:{things}|of)(?:['’]s| is| was)?(?: (?:called|named))?:? $", re.IGNORECASE),
        work_told_through=re.compile(rf"\b{words('work_told_through')} $", re.IGNORECASE),
        work_near=re.compile(rf"\b(?:{things}s?|{words('work_verbs')})\b", re.IGNORECASE),
        organizations=frozenset(data["organizations"].casefold().split(";")),
        places=frozenset(data["places"].casefold().split(";")),
        **_make_telling_cues(data, words, article),
        group_quoted=re.compile(rf"\b{words('organization_nouns')}(?:,|:| is| called| named)*,? [\"“'‘]$"),
        stay=re.compile(r"\b(?:days?|weeks?|weekends?|nights?|months?|holidays?|summer|winter) (?:on|in|at) $"),
        makers_like=re.compile(rf"\b{words('makers')}s?,?(?: (?:like|such as|including)|:) (?:[A-Z]\w+(?:,| and) )*$"),
        pet_things=re.compile(
            rf"\b(?:his|her|its|their|['’]s) (?:[\w-]+ )?{words('things_of_pets')}\b|\b{words('signs_of_pets')}\b"
        ),
        some_pet=re.compile(rf"\b{article} (?:[\w-]+ ){{0,2}}{pets}s?\b", re.IGNORECASE),
        pet_nouns=re.compile(rf"\b(?:{pets}s?|{words('pet_words')})\b", re.IGNORECASE),
        people_nouns=re.compile(rf"\b{kinds}s?\b", re.IGNORECASE),
    )


def _make_telling_cues(data: Mapping[str, str], words: Callable[[str], str], article: str) -> dict[str, Any]:
    """The patterns of what a text says a name is: by its noun, in apposition, or in the properties of a note."""
    return {
        "person_leads": re.compile(rf"\b{words('sent_by_people')} from $", re.IGNORECASE),
        "person_follows": re.compile(r", (?:with |for |to |from )?(?:whom|whose)\b"),
        "thing": re.compile(
            rf"\b(?:{words('things')}\b[^.!?\n]{{0,40}}\b(?:called|named) (?:the )?"
            rf"|{words('things')}, (?:the )?|{article} {words('things')} )$",
            re.IGNORECASE,
        ),
        "make": re.compile(rf" {words('makes')}(?![\w'’-])"),
        "place_nouns": re.compile(rf"\b{words('place_nouns')} (?:behind|below|above|near|at|beyond) (?:the )?$"),
        "place_behind": re.compile(rf" {words('behind_places')}\b"),
        "organization_called": re.compile(
            rf"\b{words('organization_nouns')},? (?:is |was )?(?:called|named) (?:the )?(?:[A-Z]\w+ )?$"
        ),
        "contract": re.compile(rf"\b{words('contracts')}\b[^.!?\n]{{0,40}} with (?:the )?$"),
        "project": re.compile(rf"\b{words('before_projects')} (?:\[\[)?$", re.IGNORECASE),
        "told_kinds": tuple(
            (
                kind,
                re.compile(
                    rf"(?:, | \(| (?:is|was) (?:(?:still|also|really|easily|probably|by far) )?)"
                    rf"(?:a|an|the|my|our|his|her) (?:[\w-]+ ){{0,2}}{words(name)}(?!['’\w])"
                ),
            )
            for kind, name in _TOLD_KINDS
        ),
        "tag_kinds": dict(pair.split("=") for pair in data["tag_kinds"].split("|")),
        "people_property": re.compile(rf"^{words('people_properties')}:.*$", re.MULTILINE),
    }


@cache
def long_names() -> dict[str, tuple[str, ...]]:
    """Known places and organisations of several words, as written, by their first word."""
    data: dict[str, str] = json.loads((files("resources") / "enrich" / "name_cues.json").read_text("utf-8"))
    found: dict[str, list[str]] = {}
    known = json.loads((files("resources") / "enrich" / "names.json").read_text("utf-8"))["places"]
    for name in (*data["places"].split(";"), *data["organizations"].split(";"), *str(known).split(";")):
        if " " in name:
            found.setdefault(name.split(" ", 1)[0], []).append(name)
    return {first: tuple(names) for first, names in found.items()}


def read_cue(plain: str, start: int, end: int, *, is_first_name: bool) -> NameCue | None:
    """What the words beside a name say of it.

    Args:
        plain: the text.
        start: of the name; `end` is exclusive, without a possessive ending.
        is_first_name: whether the name begins with a common first name.

    Returns:
        The surest cue; None where nothing tells.
    """
    cues = _load_cues()
    before, behind = plain[max(0, start - _REACH) : start], plain[end : end + _REACH]
    name = plain[start:end].casefold()
    is_pet_called = cues.called.search(before) and cues.pet_words.search(plain[max(0, start - _REACH_BEFORE) : start])
    if is_pet_called or cues.pet_before.search(before) or cues.pet_behind.match(behind):
        return NameCue("pet", is_sure=True)
    told = _read_told_kind(plain, start, end, before, behind)
    if told is not None:
        return told
    if cues.pet_done.search(before) or cues.pet_does.match(behind):
        return NameCue("pet")
    if cues.pet_things.search(_sentence_around(plain, start, end)) and not cues.some_pet.search(before):
        return NameCue("pet")
    if name in cues.organizations:
        return NameCue("organization", is_sure=True)
    if name in cues.places and not is_first_name:
        return NameCue("place", is_sure=True)
    if cues.person_leads.search(before) or cues.person_follows.match(behind):
        return NameCue("person")
    if not is_first_name and _leans_to_place(before, behind):
        return NameCue("place")
    return _read_person_cue(before, behind) or _weak_cue(plain, start, end, before, is_first_name=is_first_name)


def _read_told_kind(plain: str, start: int, end: int, before: str, behind: str) -> NameCue | None:
    """What the text itself says the name is: beside it, or in the properties of its note."""
    cues = _load_cues()
    if cues.person_before.search(before) or cues.makers_like.search(before):
        return NameCue("person", is_sure=True)
    if cues.group_quoted.search(before):
        return NameCue("organization", is_sure=True)
    linked = _IN_LINK.search(before)
    if linked is not None and linked["folder"].lower() in cues.tag_kinds:
        return NameCue(cues.tag_kinds[linked["folder"].lower()], is_sure=True)
    if cues.thing.search(before) or cues.make.match(behind):
        return NameCue("other", is_sure=True)
    if cues.organization_called.search(before):
        return NameCue("organization", is_sure=True)
    if cues.place_nouns.search(before):
        return NameCue("place", is_sure=True)
    kind = next((kind for kind, pattern in cues.told_kinds if pattern.match(behind)), None)
    kind = kind or _read_property_kind(plain, start, end)
    return None if kind is None else NameCue(kind, is_sure=True)


def _read_property_kind(plain: str, start: int, end: int) -> str | None:
    """What the properties above a note say of a name: in a list of people, or in the heading that they describe."""
    properties = _PROPERTIES.match(plain)
    if properties is None:
        return None
    cues = _load_cues()
    if start < properties.end():
        lines = cues.people_property.finditer(plain, 0, properties.end())
        return "person" if any(one.start() <= start < one.end() for one in lines) else None
    if plain[start - 2 : start] != "# " or plain[end : end + 1] not in ("", "\n"):
        return None
    tags = _TAGS.search(properties["lines"])
    kinds = [cues.tag_kinds[tag] for tag in _WORD.findall(tags.group(1)) if tag in cues.tag_kinds] if tags else []
    return kinds[0] if len(set(kinds)) == 1 else None


def _leans_to_place(before: str, behind: str) -> bool:
    cues = _load_cues()
    is_behind_place = cues.place_before.search(before) or cues.place_leans.search(before) or cues.stay.search(before)
    return bool(is_behind_place or cues.place_behind.match(behind))


def is_address(plain: str, start: int, end: int) -> bool:
    """Whether somebody is spoken to by the name there: "Thanks, Mel!"."""
    before, behind = plain[max(0, start - _REACH) : start], plain[end : end + 1]
    return behind in ("", *"!,.?…\n") and _load_cues().greeting.search(before) is not None


def last_noun_kind(text: str) -> str:
    """Whether an animal or a person is spoken of last: `pet`, `person`, or "" for neither."""
    cues = _load_cues()
    last = {
        kind: max((found.start() for found in pattern.finditer(text)), default=-1)
        for kind, pattern in (("pet", cues.pet_nouns), ("person", cues.people_nouns))
    }
    return "" if max(last.values()) < 0 else max(last, key=lambda kind: last[kind])


def find_works(plain: str) -> Iterator[tuple[int, int]]:
    """Titles of books, films, songs and games: what somebody read, saw or played, and what stands in quotes beside it.

    Yields:
        From where to where a title stands.
    """
    cues = _load_cues()
    taken: list[tuple[int, int]] = []
    for found in (*_QUOTED.finditer(plain), *_IN_SINGLE_QUOTES.finditer(plain)):
        begin, behind = max(0, found.start() - _REACH), plain[found.end() :]
        surroundings = plain[begin : found.start()] + behind[:30]
        is_work = (
            cues.work_near.search(surroundings)
            or re.match(r" by [A-Z]", behind)
            or _OWNED.search(plain[begin : found.start("title")])
            or _ABOUT.match(behind)
        )
        is_group = cues.group_quoted.search(plain[begin : found.start("title")])
        if _is_headline(found["title"]) and is_work and not is_group:
            taken.append(found.span("title"))
    taken += (found.span("title") for found in _SLANTED.finditer(plain) if _is_headline(found["title"]))
    yield from taken
    for found in re.finditer(_TITLE, plain):
        start, end = found.start(), found.start() + len(_BEHIND_TITLE.sub("", found.group()))
        if any(start < last and first < end for first, last in taken) or _OWNED.search(plain[start : end + 2]):
            continue  # a title in quotes, or whose it is
        before = plain[max(0, start - _REACH) : start].rstrip("\"“‘'")
        title, behind = plain[start:end], plain[end:]
        is_many = " " in title
        if not is_many and _DOES.match(behind) and not cues.work_nouns.search(before):
            continue  # "we watched Joris play": somebody who does something
        if (
            cues.work.search(before)
            or _WORK_BEHIND.match(behind)
            or (cues.work_leans.search(before) and _leans_to_title(plain, start, end))
            or (is_many and cues.work_finishes.search(before))
            or (not is_many and cues.work_told_through.search(before) and title.casefold() not in plain_words())
        ):
            yield start, end


def _is_headline(text: str) -> bool:
    """Whether all words but small ones have a capital, and no sentence ends within."""
    words = _WORD.findall(text)
    small = sum(not word[0].isupper() for word in words)
    return text[:1].isupper() and small * 2 <= len(words) and not re.search(r"[.!?] \w", text)


def _leans_to_title(plain: str, start: int, end: int) -> bool:
    """Whether what somebody saw, liked or chose looks like a title, or is of several words beside a book or a film."""
    title = plain[start:end]
    if _is_title(title):
        return True
    around = plain[max(0, start - _REACH) : end + _REACH]
    return " " in title and _load_cues().work_kinds.search(around) is not None


def _is_title(text: str) -> bool:
    words = text.split()
    if len(words) == _PAIR and is_given_name(words[0]) and is_given_name(words[2]):
        return False  # two people, not "War and Peace"
    return words[0] in ("The", "A", "An") or (
        len(words) > _LEAST_WORK_WORDS and any(word.islower() for word in words[1:])
    )


def _read_person_cue(before: str, behind: str) -> NameCue | None:
    cues = _load_cues()
    if cues.greeting.search(before) and (not behind.strip() or behind.lstrip()[:1] in "!,.?…\n"):
        return NameCue("person", is_sure=True)
    return NameCue("person") if cues.person_leans.search(before) or cues.person_behind.match(behind) else None


def _weak_cue(plain: str, start: int, end: int, before: str, *, is_first_name: bool) -> NameCue | None:
    cues = _load_cues()
    if not is_first_name and cues.project.search(before):
        return NameCue("project")
    if cues.organization_before.search(before) or (not is_first_name and cues.contract.search(before)):
        return NameCue("organization")
    if before.endswith(("the ", "The ")):
        return None  # nobody's pet is called so
    if cues.beside_pet.match(plain, end) or _PLACED.search(before):
        return None  # "with Ossian and the dog", "on Lofoten": whoever or whatever it is, the pet is another
    if is_first_name and cues.some_pet.search(_sentence_around(plain, start, end)):
        return None  # "Tom took the dog to the vet"
    signs = cues.pet_signs if is_first_name else cues.pet_words
    return NameCue("pet") if signs.search(_sentence_around(plain, start, end)) else None


def _sentence_around(plain: str, start: int, end: int) -> str:
    """The sentence of a name, and the beginning of the next."""
    first = max((found.end() for found in _SENTENCE_END.finditer(plain, max(0, start - _REACH), start)), default=0)
    last = _SENTENCE_END.search(plain, end)
    return plain[max(first, start - _REACH) : (last.end() if last else end) + _NEXT_SENTENCE]
