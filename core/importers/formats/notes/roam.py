"""Roam Research's export as JSON: pages of blocks within blocks. A page is one record, an outline.

A page that is called after a day is of that day. Must not do: recurse into blocks, or resolve references to other
pages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from core.importers.conversation import MOST_SNIFFED, as_list, as_mapping, as_text, json_files, not_a
from core.importers.document import Document
from core.importers.input.source import Bundle, SourceFile
from core.importers.input.streams import head_keys, items_in_head, iter_json_array
from core.importers.records import Item, SkippedPart
from core.text.times import find_labelled_date, format_time, parse_time

_FORMAT = "roam"
_BLOCK = frozenset({"string", "uid"})
_MOST_BLOCKS = 200_000


class RoamImporter:
    """Reads a graph."""

    @property
    def format(self) -> str:
        """`roam`."""
        return _FORMAT

    def detects(self, bundle: Bundle) -> bool:
        """Whether a JSON file lists pages with a title, of blocks with `string` and `uid`."""
        return any(_is_graph(file) for file in json_files(bundle)[:MOST_SNIFFED])

    def read(self, bundle: Bundle) -> Iterator[Item]:
        """Yield the pages in file order; see `records.Importer`."""
        files = [file for file in json_files(bundle) if bundle.kind == "file" or _is_graph(file)]
        for file in files:
            for number, parsed in enumerate(iter_json_array(file, ("",)), 1):
                where = f"{file.name}:{number}"
                if isinstance(parsed.value, dict):
                    yield _read_page(parsed.value, where, parsed.flags)
                else:
                    yield not_a("page", where)
        if len(bundle.files) > len(files):
            yield SkippedPart("media_files", bundle.label, len(bundle.files) - len(files))


def _is_graph(file: SourceFile) -> bool:
    if head_keys(file).get("[].children[]", frozenset()) >= _BLOCK:
        return True
    return any({"title", "uid"} <= set(item) and "edit-time" in item for item in items_in_head(file, ("",)))


def _read_page(page: Mapping[str, Any], where: str, flags: frozenset[str]) -> Item:
    title = as_text(page.get("title"))
    edited, created = parse_time(page.get("edit-time")), parse_time(page.get("create-time"))
    lines, times = _read_blocks(page)
    first = min([when for when in (created, *map(parse_time, times)) if when], key=lambda one: one.ms, default=edited)
    return Document(
        form=_FORMAT,
        text="\n".join(lines),
        where=where,
        key=as_text(page.get("uid")) or title,
        title=title,
        occurred=find_labelled_date(title or "") or first,
        facts={"edited": format_time(edited) if edited else None},
        flags=flags,
    ).to_item()


def _read_blocks(page: Mapping[str, Any]) -> tuple[list[str], list[object]]:
    """The page as an outline, a line a block, and when its blocks were made."""
    lines: list[str] = []
    times: list[object] = []
    waiting = [(as_mapping(one), 0) for one in reversed(as_list(page.get("children")))]
    while waiting and len(lines) < _MOST_BLOCKS:
        block, depth = waiting.pop()
        words = (as_text(block.get("string")) or "").replace("\n", "\n" + "  " * (depth + 1))
        if words.strip():
            lines.append(f"{'  ' * depth}- {words}")
        times.append(block.get("create-time"))
        waiting += [(as_mapping(one), depth + 1) for one in reversed(as_list(block.get("children")))]
    return lines, times
