"""What mem0 remembers about a person: a list of memories, bare or under one of several keys.

Must not do: take `score` (it belongs to one query), or let an empty first name of the text hide a filled later one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from core.importers.formats.memories.fact import complete_fact
from core.importers.input.source import Bundle, SourceFile
from core.importers.input.streams import (
    ParsedJson,
    items_in_head,
    iter_json_array,
    read_json,
    visible_files,
)
from core.importers.records import Item, Record, SkippedPart
from core.importers.rows import Ordinals, filled_text, spread_tags, text_digest
from core.text.times import parse_time

WRAPPERS = ("results", "memories", "items", "data")
_TEXTS = ("memory", "text", "data", "content")
_OWNERS = ("user_id", "agent_id", "run_id")
_MARKS = ("hash", "metadata", "categories", "created_at", "id")
_FOREIGN = ("state", "app_id", "category_ids", "mapping", "chat_messages", "sender", "role", "conversation_id")
_KEPT = ("id", *_OWNERS, "actor_id", "metadata", "hash", "updated_at")
_IGNORED = frozenset({*_TEXTS, *_KEPT, "created_at", "categories", "score", "expiration_date"})
_DEEPEST = 2
_SNIFFED_FILES = 20


class Mem0Importer:
    """Reads mem0's `get_all` and search results and its platform's exports."""

    @property
    def format(self) -> str:
        """`mem0`."""
        return "mem0"

    def detects(self, bundle: Bundle) -> bool:
        """Whether every file lists objects with a text and `user_id`, or `memory` and `hash` or `id`."""
        files = visible_files(bundle)[:_SNIFFED_FILES]
        return bool(files) and all(_is_mem0(file) for file in files)

    def read(self, bundle: Bundle) -> Iterator[Item]:
        """Yield every memory in file order.

        Raises:
            UserError: IMPORT_REFUSED for a file that is not JSON.
        """
        files = visible_files(bundle)
        ordinals = Ordinals()
        for file in files:
            if len(files) > 1 and not _is_mem0(file):
                yield SkippedPart("not_mem0", file.name)
                continue
            for number, parsed in enumerate(_read_mem0_items(file), 1):
                yield _make_record(parsed, f"{file.name}:item {number}", ordinals)


def _is_mem0(file: SourceFile) -> bool:
    items = items_in_head(file, ("", *WRAPPERS)) or items_in_head(file, ("",))
    return any(_is_mem0_memory(item) for item in items)


def _is_mem0_memory(item: Mapping[str, Any]) -> bool:
    if any(key in item for key in _FOREIGN):
        return False
    if "memory" in item:
        return any(key in item for key in (*_OWNERS, *_MARKS))
    has_text = any(key in item for key in _TEXTS)
    return has_text and any(key in item for key in _OWNERS) and any(key in item for key in _MARKS)


def _read_mem0_items(file: SourceFile) -> Iterator[ParsedJson]:
    """The list at the top or under a wrapper; where no wrapper holds a list, one level further in."""
    found = False
    for parsed in iter_json_array(file, ("", *WRAPPERS)):
        found = True
        yield parsed
    if not found:
        parsed = read_json(file)
        yield from (ParsedJson(item, 0, parsed.flags) for item in _find_mem0_items(parsed.value, _DEEPEST))


def _find_mem0_items(value: Any, depth: int) -> list[Any]:
    if isinstance(value, list):
        return value
    if not isinstance(value, Mapping) or depth == 0:
        return []
    return next((items for key in WRAPPERS if (items := _find_mem0_items(value.get(key), depth - 1))), [])


def _first_mem0_text(item: Mapping[str, Any]) -> str | None:
    """The first filled text; `data` may be an object that holds it."""
    for key in _TEXTS:
        value = item.get(key)
        for candidate in (value, *(value.get(name) for name in _TEXTS)) if isinstance(value, Mapping) else (value,):
            if isinstance(candidate, str) and filled_text(candidate):
                return candidate
    return None


def _make_record(parsed: ParsedJson, where: str, ordinals: Ordinals) -> Item:
    item = parsed.value
    if not isinstance(item, Mapping):
        return SkippedPart("not_an_object", where)
    text = _first_mem0_text(item)
    if text is None:
        return SkippedPart("no_text", where)
    extra = {key: item[key] for key in _KEPT if item.get(key) not in (None, "", {}, [])}
    if item.get("created_at") is not None:
        extra["time_written"] = item["created_at"]
    if rest := {key: value for key, value in item.items() if key not in _IGNORED}:
        extra["fields"] = rest
    ref = item.get("id")
    record = Record(
        identity=_make_identity(item, text, ordinals),
        text=text,
        where=where,
        tags=spread_tags(item.get("categories")),
        ref=str(ref) if isinstance(ref, str | int) and not isinstance(ref, bool) and ref != "" else None,
        valid_to=parse_time(item.get("expiration_date")),
        flags=tuple(parsed.flags),
        extra=extra,
    )
    return complete_fact(record, item.get("created_at"))


def _make_identity(item: Mapping[str, Any], text: str, ordinals: Ordinals) -> str:
    if isinstance(item.get("id"), str | int) and item["id"] != "":
        return f"mem0:{item['id']}:{text_digest(text)}"
    digest = text_digest("\0".join((str(item.get("user_id")), str(item.get("created_at")), text)))
    return f"mem0:{digest}:{ordinals.next_ordinal(digest)}"
