"""Claude.ai's data export: the older single zip and the 2026 folder of several zips with a manifest.

Documents of a project become sources, Claude's own memory becomes proposals. Must not do: follow the manifest's links,
guess which project a conversation belongs to (the export does not say), store thinking or tool traffic as anyone's
words, or what Claude wrote about a person as that person's word.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from core.importers.conversation import (
    as_list,
    as_mapping,
    as_text,
    content_id,
    drop_empty,
    earliest_time,
    json_files,
    not_a,
    unknown_form,
)
from core.importers.formats.assistants.claude_message import make_turn, read_attachments
from core.importers.formats.assistants.claude_projects import read_memories, read_projects
from core.importers.input.source import Bundle, SourceFile
from core.importers.input.streams import ParsedJson, head_keys, iter_json_array, mended_count, read_json
from core.importers.records import Conversation, Item, Record, SkippedPart, UnreadablePart
from core.text.times import parse_time

_STEMS = ("conversation", "project", "memories", "users", "manifest", "data", "projects/")
_ARRAYS = ("", "conversations")
_PROJECT_MARKS = (frozenset({"prompt_template", "name"}), frozenset({"docs", "is_starter_project"}))
_MEMORY_MARKS = frozenset({"conversations_memory", "project_memories"})
_MANIFEST_MARKS = frozenset({"export_id", "files"})


class ClaudeImporter:
    """Reads Claude.ai conversations, attachments, project documents and memories."""

    @property
    def format(self) -> str:
        """`claude`."""
        return "claude"

    def detects(self, bundle: Bundle) -> bool:
        """Whether a file's head shows `chat_messages`, a project or Claude's memory."""
        return any(_kind_of_file(file) in _READERS for file in json_files(bundle, _STEMS))

    def read(self, bundle: Bundle) -> Iterator[Item]:
        """Yield conversations, documents and proposals file by file; see `records.Importer`."""
        for file in json_files(bundle, _STEMS):
            kind = _kind_of_file(file)
            if kind == "manifest":
                yield from _missing_parts(file, bundle)
            elif kind is None and (bundle.kind == "file" or _is_empty_part(file)):
                yield from _read_conversations(file)
            elif kind in _READERS:
                yield from _READERS[kind](file)


def _kind_of_file(file: SourceFile) -> str | None:
    """What a file of the export holds, told by the keys in its head."""
    paths = head_keys(file)
    if any("chat_messages" in paths.get(path, frozenset()) for path in ("[]", "conversations[]")):
        return "conversations"
    if "chat_messages" in paths.get("", frozenset()):
        return "conversation"
    for keys in (paths.get("", frozenset()), paths.get("[]", frozenset())):
        if any(marks <= keys for marks in _PROJECT_MARKS):
            return "projects"
        if keys & _MEMORY_MARKS:
            return "memories"
    return "manifest" if paths.get("", frozenset()) >= _MANIFEST_MARKS else None


def _is_empty_part(file: SourceFile) -> bool:
    return file.path.name.lower().startswith("conversations") and not head_keys(file)


def _missing_parts(file: SourceFile, bundle: Bundle) -> Iterator[Item]:
    """The parts that a manifest names and that do not lie beside it, wherever in the bundle that is."""
    folder = file.name[: file.name.rfind("/") + 1]
    for entry in as_list(as_mapping(read_json(file).value).get("files")):
        name = as_text(as_mapping(entry).get("name"))
        part = f"{folder}{name}"
        if name and not any(other.name == part or other.name.startswith(part + "/") for other in bundle.files):
            yield UnreadablePart(part, "the manifest names this part, but it is not there", "missing_part")


def _read_conversations(file: SourceFile) -> Iterator[Item]:
    for number, parsed in enumerate(iter_json_array(file, _ARRAYS), 1):
        yield from _read_conversation(parsed, f"{file.name}:{number}")


def _read_single_conversation(file: SourceFile) -> Iterator[Item]:
    yield from _read_conversation(read_json(file), file.name)


_READERS: Mapping[str | None, Callable[[SourceFile], Iterator[Item]]] = {
    "conversations": _read_conversations,
    "conversation": _read_single_conversation,
    "projects": read_projects,
    "memories": read_memories,
}


def _read_conversation(parsed: ParsedJson, where: str) -> Iterator[Item]:
    value = parsed.value
    if not isinstance(value, dict):
        yield not_a("conversation", where)
        return
    messages = value.get("chat_messages", False)
    if messages is not None and not isinstance(messages, list):
        yield unknown_form(where)
        return
    conversation = _make_conversation(value, messages or [])
    items = list(_read_messages(messages or [], conversation, where, parsed.flags))
    yield from items
    if not any(isinstance(item, Record) for item in items):
        yield SkippedPart("empty_conversation", where)


def _make_conversation(value: Mapping[str, Any], messages: list[Any]) -> Conversation:
    title = value.get("name")
    times = (parse_time(as_mapping(message).get("created_at")) for message in messages)
    ids = [as_text(as_mapping(message).get("uuid")) or "" for message in messages]
    return Conversation(
        key=as_text(value.get("uuid")) or content_id(as_text(title) or "", *ids),
        title=as_text(title),
        started=parse_time(value.get("created_at")) or earliest_time(times),
        extra=drop_empty({"surrogates_replaced": mended_count(title)}),
    )


def _read_messages(
    messages: list[Any], conversation: Conversation, where: str, flags: frozenset[str]
) -> Iterator[Item]:
    position = 0
    for number, message in enumerate(messages, 1):
        place = f"{where}:{number}"
        if not isinstance(message, dict):
            yield not_a("message", place)
            continue
        message_id = as_text(message.get("uuid")) or f"{number}-{content_id(str(message.get('text')))}"
        record = make_turn(message, message_id, conversation, place, position, flags)
        if record is None:
            yield SkippedPart("no_text", place)
        else:
            position += 1
            yield record
        yield from read_attachments(message, message_id, conversation, place)
