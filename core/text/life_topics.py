"""Topics of life that a text speaks of: "Garden", "Health", "Money"; by the words that tell them.

The words lie in `resources/palace/life_topics.json`: of some one alone tells a topic, of the others two do. They are
English: in another language one that is written alike tells the wrong topic, so whoever asks leaves such texts out.
Must not do: keep or log a text, or decide which of its topics a text is about.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from functools import cache
from importlib.resources import files

from core.text.terms import fold_case

ENOUGH = 2
"""The weight of words from which on a topic is told."""
_ALONE, _WITH_ANOTHER = 2, 1
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")


def read_topic_words(text: str) -> Mapping[str, frozenset[str]]:
    """Topics to the words of each that a text has, as they stand in the list: a word and its plural are one."""
    known = _topics_by_form()
    found: dict[str, set[str]] = {}
    for form in set(_WORD.findall(fold_case(text))):
        for topic, word in known.get(form, ()):
            found.setdefault(topic, set()).add(word)
    return {topic: frozenset(words) for topic, words in found.items()}


def weigh_topic_words(topic: str, words: Collection[str]) -> int:
    """How surely some of a topic's words tell it; `ENOUGH` is sure."""
    alone = _words_that_tell_alone()[topic]
    return sum(_ALONE if word in alone else _WITH_ANOTHER for word in words)


@cache
def topic_names() -> Mapping[str, str]:
    """Topics to the name of a room about each, in alphabetical order of the topics."""
    return {topic: told["name"] for topic, told in sorted(_load_topics().items())}


@cache
def _words_that_tell_alone() -> Mapping[str, frozenset[str]]:
    return {topic: frozenset(told["alone"].split()) for topic, told in _load_topics().items()}


@cache
def _topics_by_form() -> Mapping[str, tuple[tuple[str, str], ...]]:
    """Each form of each word to its topics and the word."""
    found: dict[str, list[tuple[str, str]]] = {}
    for topic, told in sorted(_load_topics().items()):
        words = [*told["alone"].split(), *told["words"].split()]
        for word in words:
            plurals = {f"{word}s", f"{word}es", *([f"{word[:-1]}ies"] if word.endswith("y") else [])}
            for form in sorted({word, *plurals.difference(words)}):
                found.setdefault(form, []).append((topic, word))
    return {form: tuple(told) for form, told in found.items()}


@cache
def _load_topics() -> Mapping[str, Mapping[str, str]]:
    told = json.loads((files("resources") / "palace" / "life_topics.json").read_text("utf-8"))
    return {topic: entry for topic, entry in told.items() if topic != "about"}
