"""What ties entities to memories and to each other: mentions, speakers, whom a statement is about, claims, talk.

An entity's label is 0 for the owner of the vault and negative for all others; memories have labels from 1 on. Labels
hold within one snapshot. Of several ties between the same memory and entity the most telling one counts: about, then
says, then mentions. Must not do: write, or decide what is drawn.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

from core.entities.across_spaces import read_groups
from core.entities.recognition import name_key
from core.entities.speakers import OWNER_NAME
from core.recall.browse.links import OWNER_LABEL, Link, Links
from core.types.entities import EntityLine
from core.types.values import GLOBAL_SPACE
from core.types.views import ABOUT, MENTIONS, OWNER_NODE, RELATION, SAYS
from core.vault.database.rows import Rows
from core.vault.memory_sql import ENTITY_TYPE, count_namings

_OWNER_KEYS = frozenset(name_key(word) for word in (OWNER_NAME, "user", "I", "me"))
_TELLING = (ABOUT, SAYS, MENTIONS)

_ENTITIES = (
    f"SELECT e.rowid, e.id, e.name, {ENTITY_TYPE}, e.space_id, s.name, e.merged_into_id, e.extra ->> '$.owner' "  # noqa: S608 - constants only
    "FROM entities e JOIN spaces s ON s.id = e.space_id"
)
_ALIASES = "SELECT entity_id, alias_key FROM entity_aliases ORDER BY recorded_at, alias_key"
_MENTIONS = (
    "SELECT m.n, n.entity_id, n.start_at < 0, n.confidence FROM mentions n JOIN memories m ON m.id = n.memory_id"
)
_ABOUT_ENTITIES = (
    "SELECT m.n, n.entity_id, 1, 1.0 FROM statements s JOIN memories m ON m.id = s.memory_id "
    "JOIN mentions n ON n.memory_id = s.episode_id AND n.start_at < 0"
)
_ABOUT = "SELECT m.n, s.about, m.space_id FROM statements s JOIN memories m ON m.id = s.memory_id"
_HERE = "m.n IN (SELECT value FROM json_each(:here))"
_OF_ENTITIES = "n.entity_id IN (SELECT value FROM json_each(:ids))"
_TIES_AROUND = (
    f"{_MENTIONS} WHERE {_HERE} UNION ALL {_MENTIONS} WHERE {_OF_ENTITIES} "
    f"UNION ALL {_ABOUT_ENTITIES} WHERE {_HERE} UNION ALL {_ABOUT_ENTITIES} WHERE {_OF_ENTITIES}"
)
_TIES = f"{_MENTIONS} UNION ALL {_ABOUT_ENTITIES}"
_ABOUT_AROUND = (
    f"{_ABOUT} WHERE {_HERE} UNION ALL {_ABOUT} "  # noqa: S608 - constants
    "WHERE s.about COLLATE NOCASE IN (SELECT value FROM json_each(:names))"
)
_ABOUTS = "SELECT DISTINCT s.about, m.space_id FROM statements s JOIN memories m ON m.id = s.memory_id"
_CLAIMS = (
    "SELECT subject, predicate, value, space_id, confidence FROM claims "
    "WHERE state IN ('asserted', 'disputed') AND polarity = 'positive' ORDER BY recorded_at, id"
)

# From indexes alone, as in `count_namings`.
_SPEAKERS = (
    "WITH lines AS MATERIALIZED "
    "(SELECT n, conversation_id FROM memories INDEXED BY ix_memories_conversation WHERE conversation_id IS NOT NULL) "
    "SELECT l.conversation_id, s.entity_id FROM mentions s CROSS JOIN memories m ON m.id = s.memory_id "
    "JOIN lines l ON l.n = m.n WHERE s.start_at < 0 "
    "AND s.memory_id NOT IN (SELECT id FROM memories WHERE status = 'deleted') "
    "GROUP BY 1, 2 HAVING count(*) >= 2 ORDER BY 1, 2"
)
TALKS_WITH = "talks_with"
"""The predicate between two who speak in one conversation."""
_MOST_SPEAKERS = 6
"""Of more who speak in one conversation nobody is said to talk with any other: each pair would be a line."""


class EntityIndex:
    """The entities of one snapshot, by label, by id and by name."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._groups = read_groups(rows)
        self._label_of: dict[str, int] = {}
        self._lines: dict[int, EntityLine] = {OWNER_LABEL: EntityLine(OWNER_NODE, OWNER_NAME, "person", "", 0)}
        self._by_name: dict[tuple[str, str], int] = {}
        self._counts: dict[str, int] | None = None
        self._abouts: dict[tuple[str, str], int] | None = None
        self._relations: Links | None = None
        self._read_entities()

    def _read_entities(self) -> None:
        merged: dict[str, str] = {}
        spaces: dict[str, str] = {}
        for row_id, entity_id, name, kind, space_id, space, into, owner in self._rows.all(_ENTITIES):
            spaces[entity_id] = space_id
            if into is not None:
                merged[entity_id] = into
                continue
            label = OWNER_LABEL if owner else -int(row_id)
            self._label_of[entity_id] = label
            self._lines[label] = EntityLine(entity_id, OWNER_NAME if owner else name, kind, space, 0)
        self._join_spaces()
        for entity_id in merged:
            root = entity_id
            for _ in range(len(merged)):
                root = merged.get(root, root)
            if root in self._label_of:
                self._label_of[entity_id] = self._label_of[root]
        for entity_id, key in self._rows.all(_ALIASES):
            if entity_id in self._label_of:
                self._by_name.setdefault((spaces[entity_id], key), self._label_of[entity_id])

    def _join_spaces(self) -> None:
        """One node for what several spaces have, by the one named most often."""
        for member, group in self._groups.by_member.items():
            head = self._label_of[group.ids[0]]
            label = self._label_of[member]
            if label != head:
                del self._lines[label]
                self._label_of[member] = head
            self._lines[head] = replace(self._lines[head], type=group.type)

    def find_label(self, entity_id: str) -> int | None:
        """The label of an entity, merges followed; None where there is none."""
        return OWNER_LABEL if entity_id == OWNER_NODE else self._label_of.get(entity_id)

    def resolve_name(self, space_id: str, name: str) -> int | None:
        """Whom a name means in a space; None for nobody known."""
        key = name_key(name)
        if key in _OWNER_KEYS:
            return OWNER_LABEL
        return self._by_name.get((space_id, key), self._by_name.get((GLOBAL_SPACE, key)))

    def lines(self, labels: Iterable[int]) -> dict[int, EntityLine]:
        """Entities as lines, with how many memories name each.

        Args:
            labels: of entities.
        """
        counts = self._read_counts()
        found = {}
        for label in labels:
            line = self._lines[label]
            mentions = sum(counts.get(one, 0) for one in self._groups.members_of(line.id))
            found[label] = replace(line, mentions=mentions)
        return found

    def _read_counts(self) -> dict[str, int]:
        if self._counts is None:
            self._counts = count_namings(self._rows)
        return self._counts

    def links_around(self, labels: Collection[int], types: Collection[str]) -> Links:
        """Everything that ties an entity to something and touches one of some labels.

        Args:
            labels: of memories and entities.
            types: which types are wanted.

        Returns:
            The links; one for each memory and entity, and those between entities.
        """
        entities = {label for label in labels if label <= OWNER_LABEL}
        params = {
            "here": json.dumps(sorted(label for label in labels if label > OWNER_LABEL)),
            "ids": json.dumps(
                sorted(one for label in entities for one in self._groups.members_of(self._lines[label].id))
            ),
            "names": json.dumps(sorted(about for (about, _), to in self._read_abouts().items() if to in entities)),
        }
        found = self._read_ties(_TIES_AROUND, _ABOUT_AROUND, params, types)
        touching = {link: weight for link, weight in found.items() if link.a in labels or link.b in labels}
        if RELATION in types:
            relations = self._read_relations().items()
            touching |= {link: weight for link, weight in relations if link.a in entities or link.b in entities}
        return touching

    def all_links(self, types: Collection[str]) -> Links:
        """Everything that ties an entity to something.

        Args:
            types: which types are wanted.
        """
        found = self._read_ties(_TIES, _ABOUT, {}, types)
        return found | self._read_relations() if RELATION in types else found

    def _read_ties(self, ties: str, about: str, params: dict[str, Any], types: Collection[str]) -> Links:
        pairs: dict[tuple[int, int], tuple[int, float]] = {}

        def note_tie(n: int, label: int | None, kind: str, weight: float) -> None:
            if label is None or kind not in types:
                return
            offer, stored = (_TELLING.index(kind), weight), pairs.get((n, label))
            if stored is None or (offer[0], -offer[1]) < (stored[0], -stored[1]):
                pairs[n, label] = offer

        for n, text, space_id in self._rows.all(about, params):
            note_tie(int(n), self._read_abouts().get((text, space_id)), ABOUT, 1.0)
        for n, entity_id, is_author, weight in self._rows.all(ties, params):
            note_tie(int(n), self._label_of.get(entity_id), SAYS if is_author else MENTIONS, float(weight))
        return {_link_of(n, label, _TELLING[rank]): weight for (n, label), (rank, weight) in pairs.items()}

    def _read_abouts(self) -> dict[tuple[str, str], int]:
        """Name and space of whom statements are about, to whom they mean."""
        if self._abouts is None:
            found = ((about, space, self.resolve_name(space, about)) for about, space in self._rows.all(_ABOUTS))
            self._abouts = {(about, space): label for about, space, label in found if label is not None}
        return self._abouts

    def _read_relations(self) -> Links:
        """Claims whose subject and value are both entities, and who talks with whom where no claim ties the two."""
        if self._relations is None:
            self._relations = {}
            for row in self._rows.all(_CLAIMS):
                self._note_relation(row)
            tied = {frozenset((link.a, link.b)) for link in self._relations}
            self._relations |= {
                Link(a, b, RELATION, TALKS_WITH): 1.0
                for a, b in self._read_talking_pairs()
                if frozenset((a, b)) not in tied
            }
        return self._relations

    def _read_talking_pairs(self) -> set[tuple[int, int]]:
        speakers: dict[str, set[int]] = {}
        for talk, entity_id in self._rows.all(_SPEAKERS):
            if entity_id in self._label_of:
                speakers.setdefault(talk, set()).add(self._label_of[entity_id])
        few = (sorted(labels, reverse=True) for labels in speakers.values() if len(labels) <= _MOST_SPEAKERS)
        return {pair for labels in few for pair in combinations(labels, 2)}

    def _note_relation(self, row: Sequence[Any]) -> None:
        subject, predicate, value, space_id, confidence = row
        a, b = self.resolve_name(space_id, subject), self.resolve_name(space_id, value)
        if a is not None and b is not None and a != b and self._relations is not None:
            link = Link(a, b, RELATION, str(predicate))
            self._relations[link] = max(float(confidence), self._relations.get(link, 0.0))


def _link_of(n: int, label: int, kind: str) -> Link:
    """From the speaker to what is said; else from the memory to whom it is about or names."""
    return Link(label, n, kind) if kind == SAYS else Link(n, label, kind)


def find_graph_start(index: EntityIndex, rows: Rows) -> str | None:
    """Where a graph begins when nothing is chosen: the owner, else the person named most often, else what is.

    Returns:
        The id of its node; None where no entity is known.
    """
    if index.links_around({OWNER_LABEL}, _TELLING):
        return index.lines([OWNER_LABEL])[OWNER_LABEL].id
    found = rows.all(f"SELECT e.id FROM entities e WHERE e.merged_into_id IS NULL {_MOST_NAMED}")  # noqa: S608
    label = index.find_label(str(found[0][0])) if found else None
    return None if label is None else index.lines([label])[label].id


_MOST_NAMED = (
    "ORDER BY e.type = 'person' DESC, (SELECT count(*) FROM mentions n JOIN memories m ON m.id = n.memory_id "
    "WHERE n.entity_id = e.id AND m.status IN ('active', 'disputed')) DESC, e.id LIMIT 1"
)
