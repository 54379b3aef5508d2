"""The graph that an MCP memory server keeps: entities with what was observed of them, and relations between them.

One entity may be told in several lines; each observation and each relation is one memory, once. Must not do: reword an
observation, invent times, or join entities whose names differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from core.importers.formats.memories.fact import complete_fact
from core.importers.input.streams import mended_count
from core.importers.records import Item, Record, SkippedPart, UnreadablePart
from core.importers.rows import filled_text, text_digest
from core.text.screening.egress import render_observation, render_relation
from core.text.times import parse_time
from core.types.values import When

_NAMES = ("name", "entityName", "entity_name", "id")
TYPES = ("entityType", "entity_type")
FROM = ("from", "from_id", "fromId", "source")
_TO = ("to", "to_id", "toId", "target")
_RELATION = ("relationType", "relation_type", "relation")
_OBSERVED = ("content", "text", "observation")
_MADE = ("timestamp", "createdAt", "created_at", "created", "date")


@dataclass(slots=True)
class McpEntity:
    """A named thing.

    Attributes:
        name: as written.
        type: its type as first written; None without one.
        observations: its observations in file order, each once.
    """

    name: str
    type: str | None
    observations: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class McpRelation:
    """Two entities' names and what binds them, as written."""

    source: str
    relation: str
    target: str


@dataclass(frozen=True, slots=True)
class GraphPart:
    """One entity or relation as written."""

    row: Mapping[str, Any]
    where: str
    is_relation: bool
    flags: frozenset[str] = frozenset()


def first_filled(row: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    """The first filled word under one of the names; None without any."""
    return next((str(value) for name in names if filled_text(value := row.get(name))), None)


def _make_relation(row: Mapping[str, Any]) -> McpRelation | None:
    source, target = first_filled(row, FROM), first_filled(row, _TO)
    if source is None or target is None:
        return None
    return McpRelation(source, first_filled(row, _RELATION) or "", target)


def _time_of_row(row: Mapping[str, Any]) -> When | None:
    """When an observation or a relation was made, where a fork of the server writes it."""
    return next((when for name in _MADE if (when := parse_time(row.get(name))) is not None), None)


class KnowledgeGraph:
    """Joins what several lines tell of one entity."""

    def __init__(self) -> None:
        self.entities: dict[str, McpEntity] = {}
        self.relations: dict[McpRelation, None] = {}
        self._told: set[str] = set()

    def add_relation(self, row: Mapping[str, Any]) -> None:
        """Take a relation; one without both ends is left out."""
        if relation := _make_relation(row):
            self.relations.setdefault(relation)

    def read_observations(self, part: GraphPart) -> Iterator[Item]:
        """Take an entity's line; give its new observations."""
        name = first_filled(part.row, _NAMES)
        if name is None:
            yield SkippedPart("no_name", part.where)
            return
        entity = self.entities.setdefault(name, McpEntity(name, first_filled(part.row, TYPES)))
        observations = part.row.get("observations")
        for number, given in enumerate(observations if isinstance(observations, list) else [observations], 1):
            if given is None:
                continue
            where = f"{part.where} observation {number}"
            text = first_filled(given, _OBSERVED) if isinstance(given, Mapping) else given
            if not isinstance(text, str) or not filled_text(text):
                yield SkippedPart("no_text", where)
                continue
            digest = text_digest(f"{name}\0{text}")
            if digest in self._told:
                yield SkippedPart("duplicate_observation", where)
                continue
            self._told.add(digest)
            entity.observations.append(str(text))
            yield self._make_record(entity, text, given, digest, part.flags, where)

    def read_relation(self, part: GraphPart) -> Item:
        """Take a relation's line; give what it says."""
        relation = _make_relation(part.row)
        if relation is None:
            return UnreadablePart(part.where, "a relation without both ends")
        names = (relation.source, relation.relation, relation.target)
        digest = text_digest("relation\0" + "\0".join(names))
        if digest in self._told:
            return SkippedPart("duplicate_relation", part.where)
        self._told.add(digest)
        marks = {*part.flags, "surrogates_replaced"} if any(map(mended_count, names)) else part.flags
        record = Record(
            identity=f"mcp-memory:{digest}",
            text=render_relation(*names),
            where=part.where,
            occurred=_time_of_row(part.row),
            flags=tuple(marks),
            extra={"relation": {"from": relation.source, "relation": relation.relation, "to": relation.target}},
        )
        return complete_fact(record)

    def _make_record(
        self, entity: McpEntity, text: str, given: Any, digest: str, flags: frozenset[str], where: str
    ) -> Record:
        extra: dict[str, Any] = {"entity": entity.name, "entity_type": entity.type}
        if len(entity.observations) == 1 and (rows := self._relations_of(entity.name)):
            extra["relations"] = rows
        if isinstance(given, Mapping):
            extra["fields"] = {key: value for key, value in given.items() if key not in _OBSERVED}
        marks = {*flags, "surrogates_replaced"} if mended_count(text) else flags
        record = Record(
            identity=f"mcp-memory:{digest}",
            text=render_observation(entity.name, str(text)),
            where=where,
            occurred=_time_of_row(given) if isinstance(given, Mapping) else None,
            flags=tuple(marks),
            extra=extra,
        )
        return complete_fact(record)

    def _relations_of(self, name: str) -> list[dict[str, str]]:
        return [
            {"from": r.source, "relation": r.relation, "to": r.target}
            for r in self.relations
            if name in (r.source, r.target)
        ]
