"""Grok's export of an account: `prod-grok-backend.json`, conversations with the answers to each.

An answer that was asked for again stands beside the first; all of them come in, as the export does not say which was
read last. Must not do: store thoughts, or what the account's other files say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from core.importers.chat import ChatMessage, ChatReader
from core.importers.conversation import (
    MOST_SNIFFED,
    as_list,
    as_mapping,
    as_text,
    content_id,
    cut_blocks,
    json_files,
    not_a,
    unknown_form,
)
from core.importers.input.source import Bundle, SourceFile
from core.importers.input.streams import head_keys, iter_json_array
from core.importers.records import Conversation, Item, SkippedPart
from core.text.times import parse_time
from core.types.values import Role, When

_FORMAT, _AUTHOR = "grok", "Grok"
_MARKS = frozenset({"conversation", "responses"})


class GrokImporter:
    """Reads the export's zip, its folder, or its file of conversations."""

    @property
    def format(self) -> str:
        """`grok`."""
        return _FORMAT

    def detects(self, bundle: Bundle) -> bool:
        """Whether a JSON file's head shows `conversations` with `conversation` and `responses` in each."""
        return any(_is_backend(file) for file in json_files(bundle)[:MOST_SNIFFED])

    def read(self, bundle: Bundle) -> Iterator[Item]:
        """Yield the turns conversation by conversation; see `records.Importer`."""
        files = [file for file in json_files(bundle) if bundle.kind == "file" or _is_backend(file)]
        for file in files:
            for number, parsed in enumerate(iter_json_array(file, ("conversations",)), 1):
                yield from _read_conversation(as_mapping(parsed.value), f"{file.name}:{number}", parsed.flags)
        if len(bundle.files) > len(files):
            yield SkippedPart("not_messages", bundle.label, len(bundle.files) - len(files))


def _is_backend(file: SourceFile) -> bool:
    return head_keys(file).get("conversations[]", frozenset()) >= _MARKS


def _read_conversation(value: Mapping[str, Any], where: str, flags: frozenset[str]) -> Iterator[Item]:
    about, responses = as_mapping(value.get("conversation")), value.get("responses")
    if not about or not isinstance(responses, list):
        yield unknown_form(where)
        return
    title = as_text(about.get("title"))
    key = as_text(about.get("id")) or content_id(title or "", str(about.get("create_time")))
    reader = ChatReader(_FORMAT, Conversation(key=key, title=title, started=_read_time(about.get("create_time"))))
    for number, entry in enumerate(responses, 1):
        response = as_mapping(as_mapping(entry).get("response"))
        if response:
            yield _read_response(reader, response, f"{where}:{number}", flags)
        else:
            yield not_a("message", f"{where}:{number}")
    if not responses:
        yield SkippedPart("empty_conversation", where)


def _read_response(reader: ChatReader, response: Mapping[str, Any], where: str, flags: frozenset[str]) -> Item:
    is_human = str(response.get("sender")).casefold() in ("human", "user")
    occurred = _read_time(response.get("create_time"))
    attached = [str(one) for one in as_list(response.get("file_attachments")) if isinstance(one, str)]
    return reader.read_message(
        ChatMessage(
            text=cut_blocks(as_text(response.get("message")) or "", ()),
            where=where,
            author=None if is_human else _AUTHOR,
            role=Role.USER if is_human else Role.ASSISTANT,
            occurred=occurred,
            ref=as_text(response.get("_id")),
            attachments=tuple(attached),
            reply_to=as_text(response.get("parent_response_id")),
            facts={"model": as_text(response.get("model"))},
            flags=flags if occurred else {*flags, "time_unreadable"},
        )
    )


def _read_time(value: object) -> When | None:
    """A time as ISO text, or as the database writes it: `{"$date": {"$numberLong": "1700000000000"}}`."""
    inner = as_mapping(value).get("$date", value)
    return parse_time(as_mapping(inner).get("$numberLong", inner))
