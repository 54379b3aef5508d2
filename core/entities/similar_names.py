"""Pairs of names that may be one entity: spelt almost alike, or one within the other ("Rosa", "Rosa Castellanos").

They are questions for the person, never joined unasked (X48). Must not do: read a text or a vault.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz, process

from core.entities.name_words import name_key, name_words

ALIKE = 90.0
"""Likeness of two spellings from which they may be one, percent (issue: fuzzy >= 0.9)."""
WITHIN = 0.7
"""Our choice: how sure it is that a first name and a full name that begins so are one."""

_LEAST = 5  # shorter names are alike by chance: "Anna", "Hanna"
_COMPARED = frozenset(("person", "organization", "place", "project", "service", "other"))


@dataclass(frozen=True, slots=True)
class CountedName:
    """An entity by its name; `mentions` tells how many memories name it."""

    id: str
    name: str
    type: str
    mentions: int = 0


@dataclass(frozen=True, slots=True)
class NamePair:
    """Two that may be one.

    Attributes:
        keep: whose name would stay: the longer one, among spellings the one named more often.
        other: the other one.
        likeness: 0 to 1.
    """

    keep: CountedName
    other: CountedName
    likeness: float


def find_similar_pairs(newest: Sequence[CountedName], names: Sequence[CountedName]) -> tuple[NamePair, ...]:
    """Find pairs of one type, at least one of them new.

    Args:
        newest: those that are looked at.
        names: all of the space, the newest among them.

    Returns:
        Each pair once, the likeliest first. A short name that stands within several longer ones is in no pair: which
        it means cannot be told.
    """
    found: dict[frozenset[str], NamePair] = {}
    by_type: dict[str, list[CountedName]] = defaultdict(list)
    for name in names:
        if name.type in _COMPARED:
            by_type[name.type].append(name)
    wanted = {name.id for name in newest}
    for some in by_type.values():
        for pair in (*_spelt_alike(some, wanted), *_within(some, wanted)):
            found.setdefault(frozenset((pair.keep.id, pair.other.id)), pair)
    return tuple(sorted(found.values(), key=lambda pair: (-pair.likeness, pair.keep.name, pair.other.name)))


def _spelt_alike(names: Sequence[CountedName], wanted: set[str]) -> Iterable[NamePair]:
    keys = [name_key(name.name) for name in names]
    for at, name in enumerate(names):
        if name.id not in wanted or len(keys[at]) < _LEAST:
            continue
        hits = process.extract(keys[at], keys, scorer=fuzz.ratio, score_cutoff=ALIKE, limit=8)
        for key, score, place in hits:
            other = names[place]
            is_other = place != at and _bare_words(name) != _bare_words(other)
            if is_other and len(key) >= _LEAST and _digits(key) == _digits(keys[at]):
                keep, gone = sorted((name, other), key=lambda one: (-one.mentions, one.name, one.id))
                yield NamePair(keep, gone, score / 100)


def _within(names: Sequence[CountedName], wanted: set[str]) -> Iterable[NamePair]:
    longer: dict[str, list[CountedName]] = defaultdict(list)
    for name in names:
        words = _bare_words(name)
        for word in {words[0], words[-1]} if len(words) > 1 else ():
            longer[word].append(name)
        if len(words) > 2:
            longer[" ".join(words[:-1])].append(name)
    yield from _same_words(names, wanted)
    for name in names:
        whole = longer.get(" ".join(_bare_words(name)), [])
        whole = [one for one in whole if one.id != name.id]
        if len(whole) == 1 and wanted & {name.id, whole[0].id}:
            yield NamePair(whole[0], name, WITHIN)


def _same_words(names: Sequence[CountedName], wanted: set[str]) -> Iterable[NamePair]:
    """Two names that differ in a title or a form of company alone; not "Mr" and "Mrs"."""
    groups: dict[str, list[CountedName]] = defaultdict(list)
    for name in names:
        groups[" ".join(_bare_words(name))].append(name)
    for some in groups.values():
        plain = [name for name in some if len(name.name.split()) == len(_bare_words(name))]
        if len(some) == 2 and plain and wanted & {name.id for name in some}:
            keep, other = sorted(some, key=lambda one: (-len(one.name), one.name, one.id))
            yield NamePair(keep, other, WITHIN)


def _bare_words(name: CountedName) -> list[str]:
    """The words of a name without title and form of company."""
    known = name_words()
    words = [word for word in name.name.split() if word not in known.bare_titles and word not in known.company]
    return [name_key(word) for word in words] or [name_key(name.name)]


def _digits(key: str) -> str:
    return "".join(sign for sign in key if sign.isdigit())
