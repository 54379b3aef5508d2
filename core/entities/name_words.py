"""The cue words by which names are recognised (`resources/enrich/names.json`), and the key under which a name is found.

Must not do: read a text.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

from core.text.terms import fold_case, fold_width

_WORD = re.compile(r"[^\W_][\w'.-]*")
_WORDS_ONLY = re.compile(r"[\w\s'.,-]+")
MOST_NAME = 80
"""Characters of a name, at most."""


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
        return fold_case(plain) if _WORD.search(plain) else ""
    words = (fold_case(word).strip(".'-") for word in _WORD.findall(plain))
    return " ".join(word for word in words if word)


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


@cache
def name_words() -> NameWords:
    """The vocabulary, loaded once.

    Returns:
        Its words and patterns.
    """
    data: dict[str, str] = json.loads((files("resources") / "enrich" / "names.json").read_text("utf-8"))

    def some(name: str) -> frozenset[str]:
        return frozenset(data[name].split())

    def one_of(*names: str) -> str:
        words = sorted({word for name in names for word in data[name].split()}, key=lambda word: (-len(word), word))
        return "(?:" + "|".join(map(re.escape, words)) + ")"

    owner = r"(?:\b(?:my|our|his|her|their|your|i)|['’]s?|\bthe user['’]s)"
    kin = rf"(?:{one_of('adjectives')}[ -])*{one_of('relations')}"
    things = one_of("relations", "pets", "projects", "services")
    return NameWords(
        **{name: some(name) for name in (
            "titles", "bare_titles", "company", "institutions", "landmarks", "said", "links", "not_names",
            "handles_not", "tags_not", "german", "first_names", "relations", "pets", "projects", "services",
        )},
        heads=some("place_heads"),
        places=frozenset(name_key(place) for place in data["places"].split(";")),
        related=re.compile(rf"{owner} {kin},? $", re.IGNORECASE),
        relates=re.compile(rf"(?:,| is| was) (?:my|our|his|her|their) {kin}\b"),
        called=re.compile(rf"\b(?P<noun>{things}),? (?:is |was |who is |that is )?(?:called|named) $", re.IGNORECASE),
        lives=re.compile(rf"\b(?:(?:{data['live']}) (?:in|near)|(?:{data['go']}) (?:to|from)) $", re.IGNORECASE),
        works=re.compile(rf"\b(?:{data['work']}) (?:at|with) $", re.IGNORECASE),
        meets=re.compile(rf"(?<!\w)(?:{data['with']}) $", re.IGNORECASE),
        project=re.compile(r"\b(?:[Pp]roject|[Cc]ode ?name[d]?) $"),
    )  # fmt: skip
