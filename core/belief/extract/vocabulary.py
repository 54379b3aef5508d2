"""The words of belief: predicates, frames and word lists, read once from `resources/claims`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

_OPENERS = ("i", "we", "my", "our", "user", "user's", "i'm", "the", "it", "she", "he")


@dataclass(frozen=True, slots=True)
class Frame:
    """One way of saying a claim: words to look for, whose claim it is, what to take.

    Attributes:
        predicate: what it claims.
        words: the words to look for, each a set of alternatives; the first decides where to look.
        optional: for each of `word_lists`, whether it may be missing.
        take: the kind of value.
        who: who may be the subject: `person`, `thing`, `any` or `user`.
        mode: `state`, `start` or `end`, for what a stated time means.
        left: whether the value stands before the words.
        negative: whether the words deny the claim.
        bare: whether it may open a sentence without a subject although it reads like a command.
        turned: the predicate a negation makes of it, if not a denial (`likes` to `dislikes`).
        modal: whether "can", "will" and the like may stand before it.
        subjectless: whether it needs no subject at all and means the speaker.
    """

    predicate: str
    words: tuple[frozenset[str], ...]
    optional: tuple[bool, ...]
    take: str
    who: str = "person"
    mode: str = "state"
    left: bool = False
    negative: bool = False
    bare: bool = False
    turned: str = ""
    modal: bool = False
    subjectless: bool = False


@dataclass(frozen=True, slots=True)
class WordLists:
    """Word lists and phrases.

    Attributes:
        sets: word lists by name.
        lists: ordered lists by name.
        leads: phrases that lead in, by their first word, longest first.
        cuts: phrases that end a value, by their first word.
        opener: words a speaker begins with.
        moods: phrases that take a sentence out of the world, by kind and first word.
    """

    sets: Mapping[str, frozenset[str]]
    lists: Mapping[str, tuple[str, ...]]
    leads: Mapping[str, tuple[tuple[str, ...], ...]]
    cuts: Mapping[str, tuple[tuple[str, ...], ...]]
    opener: frozenset[str]
    moods: Mapping[str, Mapping[str, tuple[tuple[str, ...], ...]]]

    def has(self, name: str, low: str) -> bool:
        """Whether a word is in a list."""
        return low in self.sets[name]

    def lead_in(self, lows: Sequence[str], at: int) -> int:
        """How many words of a lead-in phrase stand at a place; 0 for none."""
        return phrase_at(self.leads, lows, at)

    def cut(self, lows: Sequence[str], at: int) -> bool:
        """Whether a value ends before this place."""
        return lows[at] in self.sets["cut"] or phrase_at(self.cuts, lows, at) > 0


def phrase_at(table: Mapping[str, tuple[tuple[str, ...], ...]], lows: Sequence[str], at: int) -> int:
    """The length of the longest phrase of a table that stands at a place.

    Args:
        table: phrases by their first word, longest first.
        lows: folded words.
        at: a place in them.

    Returns:
        How many words it has; 0 for none.
    """
    for phrase in table.get(lows[at], ()):
        if tuple(lows[at : at + len(phrase)]) == phrase:
            return len(phrase)
    return 0


def by_first(phrases: Sequence[str]) -> dict[str, tuple[tuple[str, ...], ...]]:
    """Phrases by their first word, longest first, in the words of the tokenizer."""
    table: dict[str, list[tuple[str, ...]]] = {}
    for phrase in phrases:
        parts = tuple(_apart(phrase))
        table.setdefault(parts[0], []).append(parts)
    return {first: tuple(sorted(found, key=len, reverse=True)) for first, found in table.items()}


def _apart(phrase: str) -> list[str]:
    out: list[str] = []
    for word in phrase.split():
        for tail in ("'s", "'d", "'m", "'ve", "'re", "'ll"):
            if word.endswith(tail) and word != tail:
                out += [word[: -len(tail)], tail]
                break
        else:
            out.append(word)
    return out


def load_vocabulary_file(name: str) -> dict[str, Any]:
    """One file of the vocabulary.

    Args:
        name: its name in `resources/claims`.

    Returns:
        What it holds.

    Raises:
        TypeError: it does not hold one object.
    """
    loaded = json.loads((files("resources") / "claims" / name).read_text("utf-8"))
    if not isinstance(loaded, dict):
        raise TypeError(f"{name} holds one object")
    return loaded


@cache
def word_lists() -> WordLists:
    """The word lists (`resources/claims/words.json`)."""
    loaded = load_vocabulary_file("words.json")
    moods = {kind: loaded["mood"][kind] for kind in ("hypothetical", "fiction")}
    sets = {name: frozenset(text.split()) for name, text in loaded["sets"].items()}
    plain = {name: frozenset(loaded["mood"][name].split()) for name in ("commands", "commandfree", "questions")}
    return WordLists(
        sets={**sets, **plain},
        lists={name: tuple(found) for name, found in loaded["lists"].items()},
        leads=by_first(loaded["lists"]["prefaces"]),
        cuts=by_first(loaded["lists"]["cutphrases"]),
        opener=frozenset(_OPENERS),
        moods={kind: by_first(found) for kind, found in moods.items()},
    )


@cache
def frames() -> Mapping[str, tuple[Frame, ...]]:
    """Frames by the words that may begin them (`resources/claims/frames.json`)."""
    table: dict[str, list[Frame]] = {}
    for predicate, ways in load_vocabulary_file("frames.json")["frames"].items():
        for way in ways:
            for spelled in way["on"]:
                for frame in _spellings(predicate, way, spelled):
                    for first in frame.words[0]:
                        table.setdefault(first, []).append(frame)
    return {first: tuple(sorted(found, key=lambda one: -len(one.words))) for first, found in table.items()}


def _spellings(predicate: str, way: Mapping[str, Any], spelled: str) -> list[Frame]:
    """A way whose first words may be missing is found by each word that may come first."""
    parts = spelled.split()
    found = [_frame(predicate, way, " ".join(parts).replace("?", "", 1) if parts[0].endswith("?") else spelled)]
    while parts[0].endswith("?"):
        parts = parts[1:]
        rest = " ".join(parts)
        found.append(_frame(predicate, way, rest.replace("?", "", 1) if parts[0].endswith("?") else rest))
    return found


def _frame(predicate: str, way: Mapping[str, Any], spelled: str) -> Frame:
    parts: list[frozenset[str]] = []
    optional: list[bool] = []
    for part in spelled.split():
        optional.append(part.endswith("?"))
        parts.append(frozenset(_alternatives(part.removesuffix("?"))))
    known = {key: way[key] for key in Frame.__dataclass_fields__ if key in way and key not in ("words", "optional")}
    return Frame(predicate=predicate, words=tuple(parts), optional=tuple(optional), **known)


def _alternatives(part: str) -> set[str]:
    if part.startswith("~"):
        return {"~"}
    out: set[str] = set()
    for word in part.split("|"):
        out |= word_lists().sets[word[1:]] if word.startswith("@") else {word.replace("_", " ")}
    return out


@cache
def exclusivity() -> Mapping[str, bool]:
    """For each predicate of the vocabulary, whether only one value can hold at a time."""
    loaded: dict[str, bool] = load_vocabulary_file("frames.json")["predicates"]
    return loaded
