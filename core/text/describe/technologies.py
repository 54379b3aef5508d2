"""Names of technologies in a text: whole words, with case and neighbours where a name is also a word (E35.5, X7).

"I trust the digit" names neither Rust nor Git. Must not do: guess from a part of a word, or know a vault.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import pairwise

from core.text.stopwords import common_words, fold_word

_WORD_AFTER = re.compile(r"[ -]([a-z][a-z-]*)")
_NAME_BEFORE = re.compile(r"([A-Z][\w'’-]*) $")
_NAME_AFTER = re.compile(r" ([A-Z][a-z][\w'’-]*)")
_LISTED = re.compile(r"(?:,| and| or|/) ?[A-Z]")
_OPENS = re.compile(r"(?:^|[.!?:\n…][\"'”’)]*\s+|\n[\s>*+#-]*)[\"'“‘(\[*_]*$")
_CONTEXT_WORD = re.compile(r"[A-Za-z][A-Za-z-]*")
_BEFORE, _AFTER = r"(?<![\w.@#/\\$-])(?<!['’])", r"(?![\w@\\$]|[+#]|\.\w|['’](?!s\b)\w|-\d|/\w+\.\w)"


@dataclass(frozen=True, slots=True)
class TechnologyMention:
    """One technology at one place.

    Attributes:
        name: as the vocabulary writes it.
        start: first code point; `end` is exclusive.
    """

    name: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _TechnologyWords:
    plain: re.Pattern[str]
    exact: re.Pattern[str]
    names: dict[str, str]
    common: frozenset[str]
    verbs: frozenset[str]
    followers: frozenset[str]
    context: frozenset[str]


def find_technologies(text: str, *, has_code: bool = False) -> tuple[TechnologyMention, ...]:
    """Find technologies.

    Args:
        text: any text; what is a path or an address should be blank already.
        has_code: whether the text holds code or a path of code: a context for names that need one.

    Returns:
        Every place, in order; none overlap.
    """
    words = _load_words()
    found = [
        TechnologyMention(words.names[match.group().lower()], *match.span()) for match in words.plain.finditer(text)
    ]
    taken = {place for one in found for place in range(one.start, one.end)}
    unsure = [match for match in words.exact.finditer(text) if match.start() not in taken]
    if unsure:
        lines = _sentences(text)
        for match in unsure:
            sentence = next(span for span in lines if span[0] <= match.start() < span[1])
            beside = {one.group() for one in unsure if sentence[0] <= one.start() < sentence[1]} - words.verbs
            helped = has_code or len(beside | {match.group()}) > 1
            helped |= any(sentence[0] <= one.start < sentence[1] for one in found)
            if _is_meant(text, match, sentence, words, helped=helped):
                found.append(TechnologyMention(words.names[match.group().lower()], *match.span()))
    return tuple(sorted(found, key=lambda one: one.start))


def technology_spellings(name: str) -> tuple[str, ...]:
    """All spellings of a technology.

    Args:
        name: as the vocabulary writes it.

    Returns:
        The spellings, in lower case; the name alone where it is no technology.
    """
    return tuple(spelling for spelling, known in _load_words().names.items() if known == name) or (name,)


def _is_meant(
    text: str, match: re.Match[str], sentence: tuple[int, int], words: _TechnologyWords, *, helped: bool
) -> bool:
    name = match.group()
    follower = _WORD_AFTER.match(text, match.end())
    if follower and follower.group(1) in words.followers:
        return True
    opens = bool(_OPENS.search(text[max(0, match.start() - 12) : match.start()])) or not text[: match.start()].strip()
    is_verb = opens and name in words.verbs and not _LISTED.match(text, match.end())
    if is_verb or _in_longer_name(text, match, words, opens=opens):
        return False
    if name not in words.common and not opens:
        return True
    return helped or any(
        word.lower() in words.context for word in _CONTEXT_WORD.findall(text[sentence[0] : sentence[1]])
    )


def _in_longer_name(text: str, match: re.Match[str], words: _TechnologyWords, *, opens: bool) -> bool:
    """Whether a capitalised word that is no technology stands right beside it: "Taylor Swift", "Rust Avenue"."""
    after = _NAME_AFTER.match(text, match.end())
    if after and after.group(1).lower() not in words.names:
        return True
    before = None if opens else _NAME_BEFORE.search(text[max(0, match.start() - 32) : match.start()])
    if before is None or before.group(1).lower() in words.names:
        return False
    # The first word of a sentence has its capital from there: "Learning Swift".
    word = fold_word(before.group(1))
    return word not in common_words() and not word.endswith("ing")


def _sentences(text: str) -> list[tuple[int, int]]:
    """Where sentences lie; line ends and marks before a blank part them."""
    cuts = [match.end() for match in re.finditer(r"[.!?…]+(?=\s)|\n", text)]
    edges = [0, *cuts, len(text) + 1]
    return list(pairwise(edges))


@cache
def _load_words() -> _TechnologyWords:
    data = json.loads((files("resources") / "enrich" / "technologies.json").read_text("utf-8"))
    names: dict[str, str] = {}
    plain: list[str] = []
    for name, others in data["plain"].items():
        for spelling in (name, *filter(None, others.split("; "))):
            names[spelling.lower()] = data["same"].get(name, name)
            plain.append(spelling)
    exact = [*data["cased"], *data["context"]]
    names |= {name.lower(): name for name in exact}
    return _TechnologyWords(
        plain=_pattern(plain, re.IGNORECASE),
        exact=_pattern(exact, re.NOFLAG),
        names=names,
        common=frozenset(data["context"]),
        verbs=frozenset(data["verbs"].split()),
        followers=frozenset(data["followers"].split()),
        context=frozenset(data["context_words"].split()),
    )


def _pattern(words: list[str], flags: re.RegexFlag) -> re.Pattern[str]:
    longest = sorted(words, key=lambda word: (-len(word), word))
    return re.compile(_BEFORE + "(?:" + "|".join(map(re.escape, longest)) + ")" + _AFTER, flags)
