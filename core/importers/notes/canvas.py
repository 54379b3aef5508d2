"""An Obsidian board (JSON Canvas) as one text: what is written on its cards, groups and arrows.

Must not do: follow its links, or copy the notes it shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from core.importers.input.streams import BadJson, parse_json_text
from core.importers.notes.wikilinks import NoteIndex, link_rows, links_in, tags_in, unique_tags
from core.importers.records.records import Record, Skip, Trouble
from core.importers.records.rows import text_digest
from core.text.rendering.markdown import without_code
from core.types.values import Kind, Role, Source

_BETWEEN = "\n\n"


def canvas_record(path: str, text: str, index: NoteIndex, flags: Iterable[str]) -> Record | Skip | Trouble:
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
        return Trouble(path, f"not JSON: {error.reason}", "bad_canvas")
    board = parsed.value
    if not isinstance(board, Mapping):
        return Trouble(path, "not a board", "bad_canvas")
    nodes, edges = _objects(board.get("nodes")), _objects(board.get("edges"))
    words = [*_strings(nodes, "text", "label"), *_strings(edges, "label")]
    if not words:
        return Skip("no_text", path)
    joined = _BETWEEN.join(words)
    plain = _BETWEEN.join(without_code(word) for word in words)
    tags = unique_tags(tags_in(plain))
    marks = {*flags, "surrogates_replaced"} if parsed.surrogates else set(flags)
    return Record(
        identity=f"note:{path}:{text_digest(joined)}",
        text=joined,
        where=path,
        kind=Kind.EPISODE,
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
            "files": _strings(nodes, "file"),
            "urls": _strings(nodes, "url"),
            "edges": edges,
        },
    )


def _objects(value: Any) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def _strings(items: Iterable[Mapping[str, Any]], *keys: str) -> list[str]:
    return [str(value) for item in items for key in keys if isinstance(value := item.get(key), str) and value.strip()]
