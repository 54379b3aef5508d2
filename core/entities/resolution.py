"""Which entities a name may mean, and how well each fits (seed B); and pairs of names that may be one entity.

Four tiers, the neighbourhood, marks of the caller. Pairs spelt almost alike, or one within the other ("Rosa", "Rosa
Castellanos"), are questions for the person, never joined unasked (X48). Pure arithmetic over names. Must not do: read a
vault or a text, know who asks, or make an entity.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz, process

from core.entities.recognition import name_key, name_vocabulary
from core.text.terms import query_terms

LEAST_LIKENESS = 90.0
"""Likeness of two spellings from which they may be one, percent (issue: fuzzy >= 0.9)."""
WITHIN = 0.7
"""Our choice: how sure it is that a first name and a full name that begins so are one."""
_LEAST = 5  # shorter names are alike by chance: "Anna", "Hanna"
_CALLED_BY_PART = frozenset(("person", "pet", "other"))
_COMPARED = frozenset(("person", "organization", "place", "project", "service", "other"))
EXACT, ALIAS, PREFIX, FUZZY = "exact", "alias", "prefix", "fuzzy"
BASE: Mapping[str, float] = {EXACT: 100.0, ALIAS: 80.0, PREFIX: 50.0, FUZZY: 20.0}
"""Scores of the tiers, best first (seed B, entity resolution with tiered candidate discovery)."""
MOST_BOOST = 20.0
"""What the neighbourhood adds at most (seed B)."""
LEAST_SIMILARITY = 0.3
"""Likeness from which two spellings are candidates (seed B)."""
_LEAST_FUZZY = 3  # characters: "the name has more than 2"
_TRIGRAM_WORD = re.compile(r"[^\W_]+")


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


@dataclass(frozen=True, slots=True)
class NamedEntity:
    """An entity with its names.

    Attributes:
        id: the entity.
        name: its name; `type` its type.
        aliases: its other names.
    """

    id: str
    name: str
    type: str
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ResolutionHints:
    """What a caller knows of what it looks for.

    Attributes:
        topic: what is spoken of.
        mentioned_with: names that stand beside it.
        domain_scores: entity to marks of the caller's own, added to its score.
    """

    topic: str = ""
    mentioned_with: tuple[str, ...] = ()
    domain_scores: Mapping[str, float] | None = None

    @property
    def terms(self) -> frozenset[str]:
        """The words of topic and names, as the index has them."""
        return content_terms((self.topic, *self.mentioned_with))


@dataclass(frozen=True, slots=True)
class EntityCandidate:
    """An entity that a name may mean.

    Attributes:
        entity_id: the entity.
        canonical_name: its name; `entity_type` its type.
        score: of the tier, with what the hints add; 4 decimals.
        name_match: the tier.
        aliases: its other names.
    """

    entity_id: str
    canonical_name: str
    entity_type: str
    score: float
    name_match: str
    aliases: tuple[str, ...] = ()


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
        for pair in (*_spelt_alike(some, wanted), *_pairs_within_names(some, wanted)):
            found.setdefault(frozenset((pair.keep.id, pair.other.id)), pair)
    return tuple(sorted(found.values(), key=lambda pair: (-pair.likeness, pair.keep.name, pair.other.name)))


def content_terms(texts: Iterable[str]) -> frozenset[str]:
    """The words of texts that say something, as the index has them.

    Returns:
        Their terms without stop words.
    """
    return frozenset(term.term for text in texts for term in query_terms(text) if not term.stop)


def extract_trigrams(text: str) -> frozenset[str]:
    """The trigrams of a text as PostgreSQL's pg_trgm makes them, which seed B names.

    Returns:
        Of each word of letters and digits, lower case, two blanks before and one behind it, every run of three.
    """
    padded = (f"  {word} " for word in _TRIGRAM_WORD.findall(text.casefold()))
    return frozenset(word[at : at + 3] for word in padded for at in range(len(word) - 2))


def trigram_similarity(one: str, other: str) -> float:
    """How alike two spellings are: common trigrams by all trigrams of both (pg_trgm's `similarity`).

    Args:
        one: a name.
        other: another.

    Returns:
        0 to 1; 0 where one of them has no letter or digit.
    """
    a, b = extract_trigrams(one), extract_trigrams(other)
    return len(a & b) / len(a | b) if a and b else 0.0


def match_tier(name: str, entity: NamedEntity, *, fuzzy: bool) -> str | None:
    """By which tier a name finds an entity.

    Case, accents and spacing do not count (`name_key`), where seed B folds case alone.

    Args:
        fuzzy: whether spellings that are only alike count too.

    Returns:
        The best tier; None where nothing fits.
    """
    key = name_key(name)
    if not key:
        return None
    own = name_key(entity.name)
    others = [name_key(alias) for alias in entity.aliases]
    if own == key:
        return EXACT
    if key in others:
        return ALIAS
    if any(key in one for one in (own, *others)):
        return PREFIX
    if (
        fuzzy
        and len(name.strip()) >= _LEAST_FUZZY
        and any(trigram_similarity(key, one) >= LEAST_SIMILARITY for one in (own, *others))
    ):
        return FUZZY
    return None


def context_boost(hinted: frozenset[str], known: frozenset[str]) -> float:
    """What the neighbourhood adds: Jaccard overlap of the hints with what is known of the entity (seed B).

    Args:
        hinted: terms of the hints.
        known: terms of the facts about the entity.

    Returns:
        0 to `MOST_BOOST`.
    """
    if not hinted or not known:
        return 0.0
    return MOST_BOOST * len(hinted & known) / len(hinted | known)


def rank_entity_candidates(
    found: Sequence[tuple[NamedEntity, str]], hints: ResolutionHints, terms_by_entity: Mapping[str, frozenset[str]]
) -> tuple[EntityCandidate, ...]:
    """Put candidates in order.

    Args:
        found: entities with the tier that found each.
        hints: what the caller knows.
        terms_by_entity: entity to the terms of the facts about it.

    Returns:
        The best first; of equals by name.
    """
    marks, hinted = hints.domain_scores or {}, hints.terms
    scored = [
        EntityCandidate(
            entity.id,
            entity.name,
            entity.type,
            round(
                BASE[by]
                + context_boost(hinted, terms_by_entity.get(entity.id, frozenset()))
                + marks.get(entity.id, 0.0),
                4,
            ),
            by,
            entity.aliases,
        )
        for entity, by in found
    ]
    return tuple(sorted(scored, key=lambda one: (-one.score, one.canonical_name, one.entity_id)))


def _spelt_alike(names: Sequence[CountedName], wanted: set[str]) -> Iterable[NamePair]:
    keys = [name_key(name.name) for name in names]
    for at, name in enumerate(names):
        if name.id not in wanted or len(keys[at]) < _LEAST:
            continue
        hits = process.extract(keys[at], keys, scorer=fuzz.ratio, score_cutoff=LEAST_LIKENESS, limit=8)
        for key, score, place in hits:
            other = names[place]
            is_other = place != at and _bare_words(name) != _bare_words(other)
            if is_other and len(key) >= _LEAST and _digits_of(key) == _digits_of(keys[at]):
                keep, merged = sorted((name, other), key=lambda one: (-one.mentions, one.name, one.id))
                yield NamePair(keep, merged, score / 100)


def _pairs_within_names(names: Sequence[CountedName], wanted: set[str]) -> Iterable[NamePair]:
    longer: dict[str, list[CountedName]] = defaultdict(list)
    for name in names:
        words = _bare_words(name)
        for word in {words[0], words[-1]} if len(words) > 1 else ():
            longer[word].append(name)
        if len(words) > 2:
            longer[" ".join(words[:-1])].append(name)
    yield from _same_words(names, wanted)
    for name in names:
        if name.type not in _CALLED_BY_PART:
            continue  # a town and its book fair are two; somebody is called by a part of a name
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
    known = name_vocabulary()
    words = [word for word in name.name.split() if word not in known.bare_titles and word not in known.company]
    return [name_key(word) for word in words] or [name_key(name.name)]


def _digits_of(key: str) -> str:
    return "".join(sign for sign in key if sign.isdigit())
