"""The patterns and words of `resources/sensitivity`, read and compiled once, when they are first needed.

A file holds `words`, lists divided by `|`, `patterns`, regular expressions in which `<name>` stands for one of the
lists, and tables of `numbers`. A blank inside a listed word stands for any one blank of the text. A pattern whose name
ends in `_cased` is matched against the text as written, any other against the text in lower case.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from core.sensitivity.passage import fold

_LIST = re.compile(r"<(\w+)>")
# A bar outside brackets divides two words; one inside belongs to a word that is written as a pattern.
_BAR = re.compile(r"\||\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)")


class Vocabulary:
    """One file of words and patterns."""

    def __init__(
        self, words: Mapping[str, str], patterns: Mapping[str, str], numbers: Mapping[str, Mapping[str, int]]
    ) -> None:
        self._numbers = numbers
        self._lists = {
            name: tuple(filter(None, _BAR.sub(_mark_division, told).split("\0"))) for name, told in words.items()
        }
        self._sources = patterns
        self._patterns: dict[str, re.Pattern[str]] = {}
        self._words: dict[str, frozenset[str]] = {}
        self._folded: dict[str, frozenset[str]] = {}

    def words(self, name: str) -> frozenset[str]:
        """A list as a set of plain words."""
        if name not in self._words:
            self._words[name] = frozenset(self._lists[name])
        return self._words[name]

    def folded(self, name: str) -> frozenset[str]:
        """A list as a set of plain words without accents, as a passage has its words."""
        if name not in self._folded:
            self._folded[name] = frozenset(map(fold, self._lists[name]))
        return self._folded[name]

    def entries(self, name: str) -> tuple[str, ...]:
        """A list in the order written."""
        return self._lists[name]

    def number(self, table: str, key: str) -> int | None:
        """An entry of a table of numbers."""
        return self._numbers[table].get(key)

    def pattern(self, name: str) -> re.Pattern[str]:
        """A compiled pattern."""
        if name not in self._patterns:
            self._patterns[name] = re.compile(_LIST.sub(self._join_alternatives, self._sources[name]))
        return self._patterns[name]

    def names(self, prefix: str) -> tuple[str, ...]:
        """The patterns whose name begins so, in the order written."""
        return tuple(name for name in self._sources if name.startswith(prefix))

    def _join_alternatives(self, match: re.Match[str]) -> str:
        # Of two words that begin alike the longer one is tried first.
        longest = sorted(self._lists[match[1]], key=len, reverse=True)
        return "(?:" + "|".join(word.replace(" ", r"\s") for word in longest) + ")"


@cache
def load_vocabulary(name: str) -> Vocabulary:
    """The vocabulary of `resources/sensitivity/<name>.json`."""
    told = json.loads((files("resources") / "sensitivity" / f"{name}.json").read_text("utf-8"))
    patterns = {key: _join_pattern_source(one) for key, one in told.get("patterns", {}).items()}
    return Vocabulary(told.get("words", {}), patterns, told.get("numbers", {}))


@cache
def load_folded_names(folder: str) -> frozenset[str]:
    """The folded names of `resources/sensitivity/<folder>/names.txt`, one a line."""
    told = (files("resources") / "sensitivity" / folder / "names.txt").read_text("utf-8")
    return frozenset(told.splitlines())


@cache
def load_common_words() -> frozenset[str]:
    """Common English words, of any kind, from `resources/lexicon`."""
    told = (files("resources") / "lexicon" / "nouns_en.txt").read_text("utf-8")
    return frozenset(word for line in told.splitlines() if line[:1] not in "#[" for word in line.split())


def _mark_division(match: re.Match[str]) -> str:
    return "\0" if match[0] == "|" else match[0]


def _join_pattern_source(told: str | list[str]) -> str:
    return told if isinstance(told, str) else "".join(told)
