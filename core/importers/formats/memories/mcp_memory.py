"""The knowledge graph of the MCP memory server: entities with observations, and relations, one object a line.

Each observation is one memory that names its entity, each relation one that says it as a sentence. Must not do: reword
an observation, invent times (the file has none), or join entities whose names differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from core.importers.formats.memories.knowledge_graph import FROM, TYPES, GraphPart, KnowledgeGraph, first_filled
from core.importers.input.source import Bundle, SourceFile
from core.importers.input.streams import items_in_head, iter_json_array, keys_in_head, read_head_text, visible_files
from core.importers.json_lines import JsonLine, list_head_objects, read_object_lines
from core.importers.records import Item, SkippedPart, UnreadablePart

_SNIFFED_LINES = 20
_SNIFFED_FILES = 20


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
        graph = KnowledgeGraph()
        for item in _bundle_parts(bundle):
            if isinstance(item, GraphPart) and item.is_relation:
                graph.add_relation(item.row)
        for item in _bundle_parts(bundle):
            if not isinstance(item, GraphPart):
                yield item
            elif not item.is_relation:
                yield from graph.read_observations(item)
            else:
                yield graph.read_relation(item)


def _is_graph(file: SourceFile) -> bool:
    return _is_jsonl_graph(file) or _is_object(file)


def _bundle_parts(bundle: Bundle) -> Iterator[GraphPart | SkippedPart | UnreadablePart]:
    for file in bundle.files:
        if bundle.kind == "file" or _is_graph(file):
            yield from _read_graph_lines(file)
        else:
            yield SkippedPart("not_mcp_memory", file.name)


def _is_jsonl_graph(file: SourceFile) -> bool:
    if not read_head_text(file).lstrip().startswith("{"):
        return False
    if any(_is_graph_row(row) for row, _ in list_head_objects(file, _SNIFFED_LINES)):
        return True
    # The first line may be longer than the head: then its value of `type` cannot be seen, its fields can.
    return {"type", "observations"} <= set(keys_in_head(file))


def _is_graph_row(row: Mapping[str, Any]) -> bool:
    if row.get("type") == "entity":
        return "observations" in row or first_filled(row, TYPES) is not None
    return row.get("type") == "relation" and first_filled(row, FROM) is not None


def _is_object(file: SourceFile) -> bool:
    if not {"entities", "relations"}.intersection(keys_in_head(file)):
        return False
    return any("observations" in item for item in items_in_head(file, ("entities",)))


def _read_graph_lines(file: SourceFile) -> Iterator[GraphPart | SkippedPart | UnreadablePart]:
    if not _is_jsonl_graph(file) and _is_object(file):
        for key in ("entities", "relations"):
            for number, parsed in enumerate(iter_json_array(file, (key,)), 1):
                where = f"{file.name}:{key} {number}"
                if isinstance(parsed.value, Mapping):
                    yield GraphPart(parsed.value, where, key == "relations", parsed.flags)
                else:
                    yield UnreadablePart(where, "not an object")
        return
    for part in read_object_lines(file):
        if not isinstance(part, JsonLine):
            yield part
        elif part.value.get("type") not in ("entity", "relation"):
            yield UnreadablePart(part.where, "neither an entity nor a relation")
        else:
            yield GraphPart(part.value, part.where, part.value["type"] == "relation", part.flags)
