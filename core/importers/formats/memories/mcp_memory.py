"""The knowledge graph of the MCP memory server: entities with observations, and relations, one object a line.

Each observation is one memory that names its entity, each relation one that says it as a sentence. Must not do: reword
an observation, invent times (the file has none), or join entities whose names differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from core.importers.input.source import Bundle, SourceFile
from core.importers.input.streams import (
    BadJson,
    items_in_head,
    iter_json_array,
    keys_in_head,
    mended_count,
    parse_json_text,
    read_file_lines,
    read_head_text,
    visible_files,
)
from core.importers.records import Item, Record, SkippedPart, UnreadablePart
from core.importers.rows import filled_text, text_digest
from core.text.screening.egress import render_observation, render_relation
from core.text.times import parse_time
from core.types.values import Kind, Source, When

_NAMES = ("name", "entityName", "entity_name", "id")
_TYPES = ("entityType", "entity_type")
_FROM = ("from", "from_id", "fromId", "source")
_TO = ("to", "to_id", "toId", "target")
_RELATION = ("relationType", "relation_type", "relation")
_OBSERVED = ("content", "text", "observation")
_MADE = ("timestamp", "createdAt", "created_at", "created", "date")
_SNIFFED_LINES = 20
_SNIFFED_FILES = 20


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


class McpMemoryImporter:
    """Reads `memory.json` of the memory server, in lines or as one `{"entities", "relations"}` object."""

    @property
    def format(self) -> str:
        """`mcp-memory`."""
        return "mcp-memory"

    def detects(self, bundle: Bundle) -> bool:
        """Whether the first lines of every file are entities or relations."""
        files = visible_files(bundle)[:_SNIFFED_FILES]
        return bool(files) and all(_is_graph(file) for file in files)

    def read(self, bundle: Bundle) -> Iterator[Item]:
        """Yield each observation and each relation once; an entity's relations stand beside its first observation too.

        Raises:
            UserError: IMPORT_REFUSED for one object that is no JSON, or a line over 256 MiB.
        """
        graph = _Graph()
        for item in _bundle_parts(bundle):
            if isinstance(item, _GraphPart) and item.is_relation:
                graph.add_relation(item.row)
        for item in _bundle_parts(bundle):
            if not isinstance(item, _GraphPart):
                yield item
            elif not item.is_relation:
                yield from graph.read_observations(item)
            else:
                yield graph.read_relation(item)


@dataclass(frozen=True, slots=True)
class _GraphPart:
    """One entity or relation as written."""

    row: Mapping[str, Any]
    where: str
    is_relation: bool
    flags: frozenset[str] = frozenset()


def _is_graph(file: SourceFile) -> bool:
    return _is_jsonl_graph(file) or _is_object(file)


def _bundle_parts(bundle: Bundle) -> Iterator[_GraphPart | SkippedPart | UnreadablePart]:
    for file in bundle.files:
        if bundle.kind == "file" or _is_graph(file):
            yield from _read_graph_lines(file)
        else:
            yield SkippedPart("not_mcp_memory", file.name)


def _is_jsonl_graph(file: SourceFile) -> bool:
    text = read_head_text(file)
    if not text.lstrip().startswith("{"):
        return False
    rows = [_parse_graph_row(line) for line in text.split("\n")[:_SNIFFED_LINES]]
    if any(row is not None and _is_graph_relation(row) for row in rows):
        return True
    # The first line may be longer than the head: then its value of `type` cannot be seen, its fields can.
    return {"type", "observations"} <= set(keys_in_head(file))


def _parse_graph_row(line: str) -> Mapping[str, Any] | None:
    try:
        value = parse_json_text(line).value
    except BadJson:
        return None
    return value if isinstance(value, Mapping) else None


def _is_graph_relation(row: Mapping[str, Any]) -> bool:
    if row.get("type") == "entity":
        return "observations" in row or _first_filled(row, _TYPES) is not None
    return row.get("type") == "relation" and _first_filled(row, _FROM) is not None


def _is_object(file: SourceFile) -> bool:
    if not {"entities", "relations"}.intersection(keys_in_head(file)):
        return False
    return any("observations" in item for item in items_in_head(file, ("entities",)))


def _read_graph_lines(file: SourceFile) -> Iterator[_GraphPart | SkippedPart | UnreadablePart]:
    if not _is_jsonl_graph(file) and _is_object(file):
        for key in ("entities", "relations"):
            for number, parsed in enumerate(iter_json_array(file, (key,)), 1):
                where = f"{file.name}:{key} {number}"
                if isinstance(parsed.value, Mapping):
                    yield _GraphPart(parsed.value, where, key == "relations", parsed.flags)
                else:
                    yield UnreadablePart(where, "not an object")
        return
    lines = read_file_lines(file)
    for number, line in lines:
        where = f"{file.name}:{number}"
        if not line.strip():
            yield SkippedPart("blank_line", where)
            continue
        try:
            value = parse_json_text(line).value
        except BadJson as error:
            yield UnreadablePart(where, f"not JSON: {error.reason}")
            continue
        if not isinstance(value, Mapping):
            yield UnreadablePart(where, "not an object")
        elif value.get("type") not in ("entity", "relation"):
            yield UnreadablePart(where, "neither an entity nor a relation")
        else:
            yield _GraphPart(value, where, value["type"] == "relation", lines.line_flags)


def _first_filled(row: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    """The first filled word under one of the names."""
    return next((str(value) for name in names if filled_text(value := row.get(name))), None)


def _make_relation(row: Mapping[str, Any]) -> McpRelation | None:
    source, target = _first_filled(row, _FROM), _first_filled(row, _TO)
    if source is None or target is None:
        return None
    return McpRelation(source, _first_filled(row, _RELATION) or "", target)


def _time_of_row(row: Mapping[str, Any]) -> When | None:
    """When an observation or a relation was made, where a fork of the server writes it."""
    return next((when for name in _MADE if (when := parse_time(row.get(name))) is not None), None)


class _Graph:
    """Joins what several lines tell of one entity."""

    def __init__(self) -> None:
        self.entities: dict[str, McpEntity] = {}
        self.relations: dict[McpRelation, None] = {}
        self._told: set[str] = set()

    def add_relation(self, row: Mapping[str, Any]) -> None:
        """Take a relation; one without both ends is left out."""
        if relation := _make_relation(row):
            self.relations.setdefault(relation)

    def read_observations(self, part: _GraphPart) -> Iterator[Item]:
        """Take an entity's line; give its new observations."""
        name = _first_filled(part.row, _NAMES)
        if name is None:
            yield SkippedPart("no_name", part.where)
            return
        entity = self.entities.setdefault(name, McpEntity(name, _first_filled(part.row, _TYPES)))
        observations = part.row.get("observations")
        for number, given in enumerate(observations if isinstance(observations, list) else [observations], 1):
            if given is None:
                continue
            where = f"{part.where} observation {number}"
            text = _first_filled(given, _OBSERVED) if isinstance(given, Mapping) else given
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

    def read_relation(self, part: _GraphPart) -> Item:
        """Take a relation's line; give what it says."""
        relation = _make_relation(part.row)
        if relation is None:
            return UnreadablePart(part.where, "a relation without both ends")
        names = (relation.source, relation.relation, relation.target)
        digest = text_digest("relation\0" + "\0".join(names))
        if digest in self._told:
            return SkippedPart("duplicate_relation", part.where)
        self._told.add(digest)
        marks = {*part.flags, *({"surrogates_replaced"} if any(mended_count(name) for name in names) else ())}
        return Record(
            identity=f"mcp-memory:{digest}",
            text=render_relation(*names),
            where=part.where,
            kind=Kind.FACT,
            source=Source.INFERENCE,
            occurred=_time_of_row(part.row),
            flags=tuple(sorted(marks)),
            extra={"relation": {"from": relation.source, "relation": relation.relation, "to": relation.target}},
        )

    def _make_record(
        self, entity: McpEntity, text: str, given: Any, digest: str, flags: frozenset[str], where: str
    ) -> Record:
        extra: dict[str, Any] = {"entity": entity.name, "entity_type": entity.type}
        if len(entity.observations) == 1 and (rows := self._relations_of(entity.name)):
            extra["relations"] = rows
        if isinstance(given, Mapping):
            extra["fields"] = {key: value for key, value in given.items() if key not in _OBSERVED}
        marks = {*flags, "surrogates_replaced"} if mended_count(text) else set(flags)
        return Record(
            identity=f"mcp-memory:{digest}",
            text=render_observation(entity.name, str(text)),
            where=where,
            kind=Kind.FACT,
            source=Source.INFERENCE,
            occurred=_time_of_row(given) if isinstance(given, Mapping) else None,
            flags=tuple(sorted(marks)),
            extra=extra,
        )

    def _relations_of(self, name: str) -> list[dict[str, str]]:
        return [
            {"from": r.source, "relation": r.relation, "to": r.target}
            for r in self.relations
            if name in (r.source, r.target)
        ]
