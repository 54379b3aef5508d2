"""Perplexity's answer to a request for one's data: one JSON file of threads, each with its questions and answers.

Must not do: cut the numbers of sources out of an answer, or take a question that has none for answered.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from core.importers.chat import ChatMessage, ChatReader
from core.importers.conversation import (
    MOST_SNIFFED,
    as_mapping,
    as_text,
    content_id,
    cut_blocks,
    drop_empty,
    json_files,
    not_a,
    unknown_form,
)
from core.importers.input.source import Bundle, SourceFile
from core.importers.input.streams import head_keys, iter_json_array
from core.importers.records import Conversation, Item, SkippedPart
from core.text.times import parse_time
from core.types.values import Role

_FORMAT, _AUTHOR = "perplexity", "Perplexity"
_MARKS = frozenset({"context_title", "entries"})
_IDS = ("context_uuid", "uuid", "id")
_DONE = "COMPLETED"


class PerplexityImporter:
    """Reads the file of threads, or a folder or zip with it."""

    @property
    def format(self) -> str:
        """`perplexity`."""
        return _FORMAT

    def detects(self, bundle: Bundle) -> bool:
        """Whether a JSON file's head shows `conversations` with `context_title` and `entries` in each."""
        return any(_is_threads(file) for file in json_files(bundle)[:MOST_SNIFFED])

    def read(self, bundle: Bundle) -> Iterator[Item]:
        """Yield the turns thread by thread; see `records.Importer`."""
        files = [file for file in json_files(bundle) if bundle.kind == "file" or _is_threads(file)]
        for file in files:
            for number, parsed in enumerate(iter_json_array(file, ("conversations",)), 1):
                yield from _read_thread(as_mapping(parsed.value), f"{file.name}:{number}", parsed.flags)
        if len(bundle.files) > len(files):
            yield SkippedPart("not_messages", bundle.label, len(bundle.files) - len(files))


def _is_threads(file: SourceFile) -> bool:
    return head_keys(file).get("conversations[]", frozenset()) >= _MARKS


def _first_id(value: Mapping[str, Any]) -> str | None:
    return next((found for name in _IDS if (found := as_text(value.get(name)))), None)


def _read_thread(thread: Mapping[str, Any], where: str, flags: frozenset[str]) -> Iterator[Item]:
    entries = thread.get("entries")
    if not isinstance(entries, list):
        yield unknown_form(where)
        return
    title = as_text(thread.get("context_title"))
    started = parse_time(thread.get("created_at"))
    key = _first_id(thread) or content_id(title or "", str(thread.get("created_at")))
    facts = drop_empty({"collection": as_text(thread.get("collection_uuid"))})
    reader = ChatReader(_FORMAT, Conversation(key=key, title=title, started=started, extra=facts))
    for number, entry in enumerate(entries, 1):
        if isinstance(entry, dict):
            yield from _read_entry(reader, entry, f"{where}:{number}", flags)
        else:
            yield not_a("message", f"{where}:{number}")
    if not entries:
        yield SkippedPart("empty_conversation", where)


def _read_entry(reader: ChatReader, entry: Mapping[str, Any], where: str, flags: frozenset[str]) -> Iterator[Item]:
    occurred, ref = parse_time(entry.get("created_at")), _first_id(entry)
    status = as_text(entry.get("query_status"))
    for name, role in (("query", Role.USER), ("answer", Role.ASSISTANT)):
        facts = {"mode": as_text(entry.get("mode")), "status": status if status != _DONE else None}
        yield reader.read_message(
            ChatMessage(
                text=cut_blocks(as_text(entry.get(name)) or "", ()),
                where=where,
                author=_AUTHOR if role is Role.ASSISTANT else None,
                role=role,
                occurred=occurred,
                ref=None if ref is None else f"{ref}:{name}",
                facts=facts if role is Role.ASSISTANT else {},
                flags=flags if occurred else {*flags, "time_unreadable"},
            )
        )
