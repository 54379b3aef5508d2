"""Which name candidates become entities: those with a cue beside them, and those that occur twice in their space.

The second occurrence is looked up in the full-text index, so nothing has to be remembered between two texts; the memory
of the first one then gets its mention. Must not do: write.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from core.entities.mentions import Mention, find_mentions
from core.entities.name_words import name_key
from core.entities.recognition import NameCandidate, RecognizedText, recognize_names
from core.entities.registry import KnownName, NameLexicon, make_lexicon, read_known_names
from core.text.metadata import technology_spellings
from core.text.terms import common_words, fold_word, query_terms
from core.vault.database.rows import Rows

LOOKED_AT = 12
"""Other memories that are read to see whether a name is named twice."""
MOST_EARLIER = 200
"""Memories that named a new entity before and get their mention with it, at most."""

_FREQUENCIES = "SELECT term, doc FROM memory_terms WHERE term IN (SELECT value FROM json_each(?))"
_NAMING = (
    "SELECT m.id, m.text FROM memory_fts f JOIN memories m ON m.n = f.rowid WHERE memory_fts MATCH :match "
    "AND m.space_id = :space AND m.status IN ('active', 'disputed') AND m.security_tier = 'cleartext' "
    "AND m.id <> :but ORDER BY f.rowid DESC LIMIT :most"
)
_GROUPS = {"technology": "technology", "file": "file", "concept": "concept"}


@dataclass(frozen=True, slots=True)
class NameText:
    """One memory to look for names in; `space_id` is its space, `read` its text as it was read."""

    id: str
    space_id: str
    read: RecognizedText


@dataclass(frozen=True, slots=True)
class NewEntity:
    """An entity to be made.

    Attributes:
        mark: stands for its id in the mentions until it has one.
        space_id: its space.
        name: as written first; `key` is its key, `type` its type.
    """

    mark: str
    space_id: str
    name: str
    key: str
    type: str


@dataclass
class FoundNames:
    """What was found in a batch.

    Attributes:
        newcomers: entities to be made, in order.
        retyped: entity to the type that a cue gives it.
        mentions: memory to its mentions: all of it for those of the batch.
        earlier: mentions of newcomers in other memories.
        spelt: technologies with other spellings of theirs that the texts have.
    """

    newcomers: list[NewEntity] = field(default_factory=list)
    retyped: dict[str, str] = field(default_factory=dict)
    mentions: dict[str, tuple[Mention, ...]] = field(default_factory=dict)
    earlier: list[tuple[str, Mention]] = field(default_factory=list)
    spelt: list[tuple[str, str]] = field(default_factory=list)


def find_names(rows: Rows, texts: Sequence[NameText], extra: Mapping[str, Sequence[str]] | None = None) -> FoundNames:
    """Find the entities of a batch of memories, new ones and those that are known.

    Args:
        texts: the memories.
        extra: memory to names of people that a model read in it; each stands in its text.

    Returns:
        What is to be written.
    """
    found = FoundNames()
    for space_id in dict.fromkeys(one.space_id for one in texts):
        own = [one for one in texts if one.space_id == space_id]
        _Space(rows, space_id, read_known_names(rows, space_id), found).read(own, extra or {})
    return found


@dataclass
class _Space:
    rows: Rows
    space_id: str
    known: NameLexicon
    found: FoundNames
    reads: dict[str, RecognizedText] = field(default_factory=dict)

    def read(self, texts: Sequence[NameText], extra: Mapping[str, Sequence[str]]) -> None:
        self.reads |= {one.id: one.read for one in texts}
        new: dict[tuple[str, str], NewEntity] = {}
        rare = self._rare(texts)
        for text in texts:
            for one in _told_once(text.read.candidates):
                kind = self._becomes(text, one, extra.get(text.id, ()), new, rare)
                if kind is not None:
                    mark = f"new:{len(self.found.newcomers)}"
                    made = NewEntity(mark, self.space_id, one.name, one.key, kind)
                    new[one.key, _group(kind)] = made
                    self.found.newcomers.append(made)
        added = make_lexicon((one.key, KnownName(one.mark, one.type, one.name)) for one in new.values())
        whole = _united(self.known, added)
        for text in texts:
            self.found.mentions[text.id] = find_mentions(text.read, whole)
            self.found.spelt += _spelt(text.read, whole)
        self._mention_earlier(new.values(), added, {one.id for one in texts})

    def _becomes(
        self,
        text: NameText,
        one: NameCandidate,
        told: Sequence[str],
        new: Mapping[tuple[str, str], NewEntity],
        rare: frozenset[str],
    ) -> str | None:
        """The type under which a candidate is made an entity; None where it is none, or is one already."""
        same = [name for name in self.known.by_key.get(one.key, ()) if _group(name.type) == _group(one.type)]
        if same or (one.key, _group(one.type)) in new:
            if one.is_sure and same and all(name.type == "other" for name in same):
                self.found.retyped.setdefault(same[0].id, one.type)
            return None
        if one.name in told and one.type in ("person", "other"):
            return "person"
        if one.is_sure:
            return self._kind(one, self._others(text.id, one, LOOKED_AT)) if one.type == "other" else one.type
        if one.key in rare or (one.opens and one.is_word and fold_word(one.name) in common_words()):
            return None
        others = self._others(text.id, one, LOOKED_AT)
        return self._kind(one, others) if _is_named_twice(one, others) else None

    def _rare(self, texts: Sequence[NameText]) -> frozenset[str]:
        """Keys of candidates of which some word stands in one memory alone: nothing names them a second time."""
        wanted = {
            one.key: [term.term for term in query_terms(one.name)]
            for text in texts
            for one in text.read.candidates
            if len(_spellings(one.name, one.type)) == 1
        }
        terms = sorted({term for some in wanted.values() for term in some})
        counts = {str(term): int(count) for term, count in self.rows.all(_FREQUENCIES, (json.dumps(terms),))}
        return frozenset(key for key, some in wanted.items() if not some or any(counts.get(t, 0) < 2 for t in some))

    def _others(self, memory_id: str, one: NameCandidate, most: int) -> list[RecognizedText]:
        """Other memories of the space that have the words of a name, as they were read."""
        found = self._naming(_spellings(one.name, one.type), memory_id, most)
        return [self._read(other, text) for other, text in found]

    def _naming(self, names: Iterable[str], but: str, most: int) -> list[tuple[str, str]]:
        """Memories that have all words of one of the names, the newest first."""
        told = [list(dict.fromkeys(term.term for term in query_terms(name))) for name in names]
        ways = ("(" + " AND ".join(map(_quoted, terms)) + ")" for terms in told if terms)
        match = " OR ".join(ways)
        if not match:
            return []
        params = {"match": match, "space": self.space_id, "but": but, "most": most}
        return [(str(memory_id), str(text)) for memory_id, text in self.rows.all(_NAMING, params)]

    def _read(self, memory_id: str, text: str) -> RecognizedText:
        if memory_id not in self.reads:
            self.reads[memory_id] = recognize_names(text)
        return self.reads[memory_id]

    @staticmethod
    def _kind(one: NameCandidate, others: Sequence[RecognizedText]) -> str:
        """What most of those who name it take it for."""
        votes = Counter(same.type for read in others for same in _same(read, one) if same.type != "other")
        votes[one.type] += one.type != "other"
        best = max(votes.values(), default=0)
        return min(kind for kind, count in votes.items() if count == best) if best else "other"

    def _mention_earlier(self, new: Iterable[NewEntity], added: NameLexicon, batch: set[str]) -> None:
        for newcomer in new:
            for memory_id, text in self._naming(_spellings(newcomer.name, newcomer.type), "", MOST_EARLIER):
                if memory_id not in batch:
                    places = find_mentions(self._read(memory_id, text), added)
                    self.found.earlier += [(memory_id, one) for one in places if one.entity_id == newcomer.mark]


def _told_once(candidates: Iterable[NameCandidate]) -> list[NameCandidate]:
    """Of the places of one name the one that tells most: a cue, a type, the middle of a sentence."""
    best: dict[tuple[str, str], NameCandidate] = {}
    for one in candidates:
        key = (one.key, _group(one.type))
        held = best.get(key)
        if held is None or _worth(one) > _worth(held):
            best[key] = one
    return list(best.values())


def _worth(one: NameCandidate) -> tuple[bool, bool, bool]:
    return one.is_sure, not one.opens, one.type != "other"


def _spellings(name: str, kind: str) -> tuple[str, ...]:
    return technology_spellings(name) if kind == "technology" else (name,)


def _quoted(term: str) -> str:
    # Terms hold no quote, but nothing that reaches the full-text syntax may rest on that.
    return '"' + term.replace('"', '""') + '"'


def _group(kind: str) -> str:
    """What is told by a form of its own is never what is told by its letters."""
    return _GROUPS.get(kind, "name")


def _same(read: RecognizedText, one: NameCandidate) -> list[NameCandidate]:
    return [other for other in read.candidates if other.key == one.key and _group(other.type) == _group(one.type)]


def _is_named_twice(one: NameCandidate, others: Sequence[RecognizedText]) -> bool:
    """Whether another memory names it: at least two places in the middle of sentences, of two memories.

    One such place is enough for a name of several words, or whose type is known. A word that is written small as often
    is no name.
    """
    naming = [same for read in others if (same := _same(read, one))]
    if not naming:
        return False
    if not one.is_word:
        return True
    inside = int(not one.opens) + sum(any(not place.opens for place in some) for some in naming)
    typed = one.type != "other" or any(place.type != "other" for some in naming for place in some)
    small = sum(_is_small(read, one) for read in others)
    return small < inside and inside >= (1 if " " in one.key or typed else 2)


def _is_small(read: RecognizedText, one: NameCandidate) -> bool:
    return " " not in one.key and any(word.text.islower() and fold_word(word.text) == one.key for word in read.words)


def _spelt(read: RecognizedText, known: NameLexicon) -> list[tuple[str, str]]:
    others = {one.written: one.key for one in read.candidates if one.written and name_key(one.written) != one.key}
    tools = {key: name.id for key in others.values() for name in known.by_key.get(key, ()) if name.type == "technology"}
    return [(tools[key], written) for written, key in others.items() if key in tools]


def _united(a: NameLexicon, b: NameLexicon) -> NameLexicon:
    pairs = [(key, name) for one in (a, b) for key, names in one.by_key.items() for name in names]
    return make_lexicon(pairs)


def place_mentions(mentions: Iterable[Mention], ids: Mapping[str, str]) -> tuple[Mention, ...]:
    """Mentions with the ids that newcomers got.

    Args:
        mentions: as found.
        ids: mark to id.

    Returns:
        The same mentions.
    """
    return tuple(Mention(ids.get(one.entity_id, one.entity_id), one.start, one.end, one.confidence) for one in mentions)
