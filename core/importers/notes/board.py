"""A board (JSON Canvas) as one text: its cards, groups and arrows.

Must not do: follow its links, or place a word where the board has it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from core.importers.input.streams import BadJson, parse_json_text
from core.importers.notes.links import NoteIndex, link_rows, links_in
from core.importers.notes.tags import tags_in, unique_tags
from core.importers.records import Record, SkippedPart, UnreadablePart
from core.importers.rows import text_digest
from core.text.markdown import blank_code
from core.types.values import Role, Source

_BETWEEN = "\n\n"


def canvas_record(
    path: str, text: str, index: NoteIndex, flags: Iterable[str]
) -> Record | SkippedPart | UnreadablePart:
    """Read one board.

    Args:
        path: its path inside the vault.
        text: the file.
        index: the files that links can mean.
        flags: marks of its reading.

    Returns:
        One record: the texts of its cards and the labels of groups and arrows, in file order, parted by an empty
        line; a Skip `no_text` for a board without words; a Trouble `bad_canvas` where the file is no board.
    """
    try:
        parsed = parse_json_text(text.removeprefix("\ufeff"))
    except BadJson as error:
        return UnreadablePart(path, f"not JSON: {error.reason}", "bad_canvas")
    board = parsed.value
    if not isinstance(board, Mapping):
        return UnreadablePart(path, "not a board", "bad_canvas")
    nodes, edges = _select_objects(board.get("nodes")), _select_objects(board.get("edges"))
    words = [*_collect_strings(nodes, "text", "label"), *_collect_strings(edges, "label")]
    if not words:
        return SkippedPart("no_text", path)
    joined = _BETWEEN.join(words)
    plain = _BETWEEN.join(blank_code(word) for word in words)
    tags = unique_tags(tags_in(plain))
    marks = {*flags, "surrogates_replaced"} if parsed.surrogates else set(flags)
    return Record(
        identity=f"note:{path}:{text_digest(joined)}",
        text=joined,
        where=path,
        role=Role.SOURCE,
        source=Source.DOCUMENT,
        author="source",
        tags=tags,
        flags=tuple(sorted(marks)),
        extra={
            "path": path,
            "title": path.rpartition("/")[2].rpartition(".")[0],
            "type": "canvas",
            "tags": list(tags),
            "links": link_rows(links_in(plain), index, path),
            "files": _collect_strings(nodes, "file"),
            "urls": _collect_strings(nodes, "url"),
            "edges": edges,
        },
    )


def _select_objects(value: Any) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def _collect_strings(items: Iterable[Mapping[str, Any]], *keys: str) -> list[str]:
    return [str(value) for item in items for key in keys if isinstance(value := item.get(key), str) and value.strip()]
