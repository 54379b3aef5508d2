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
    join_texts,
    json_files,
)
from core.importers.input.source import Bundle, SourceFile
from core.importers.input.streams import ParsedJson, head_keys, iter_json_array, mended_count, read_json
from core.importers.records import Conversation, Item, Record, SkippedPart, UnreadablePart
from core.text.times import parse_time
from core.types.values import Kind, Role, Source, Status, When

_PROJECT_ARRAYS = ("", "projects")


def read_projects(file: SourceFile) -> Iterator[Item]:
    """The documents and instructions of the projects in a file.

    Args:
        file: `projects.json` with a list, or one project's own file.

    Yields:
        Sources; skips for documents without words.
    """
    for number, parsed in enumerate(_read_values(file), 1):
        where = f"{file.name}:{number}"
        if isinstance(parsed.value, dict):
            yield from _read_project(parsed.value, where)
        else:
            yield UnreadablePart(where, "this entry is not a project", "not_an_object")


def _read_values(file: SourceFile) -> Iterator[ParsedJson]:
    return iter_json_array(file, _PROJECT_ARRAYS) if "[]" in head_keys(file) else iter([read_json(file)])


def _read_project(project: Mapping[str, Any], where: str) -> Iterator[Item]:
    name = as_text(project.get("name"))
    key = as_text(project.get("uuid")) or content_id(name or "")
    about = {"project": name, "project_id": key, "project_description": as_text(project.get("description"))}
    for number, entry in enumerate(as_list(project.get("docs")), 1):
        document = as_mapping(entry)
        text, replaced = join_texts([document["content"]] if isinstance(document.get("content"), str) else [])
        if not text.strip():
            yield SkippedPart("empty_document", f"{where}:{number}")
            continue
        document_id = as_text(document.get("uuid")) or content_id(as_text(document.get("filename")) or "", text)
        yield _make_source_record(
            f"claude:project:{key}:{document_id}",
            text,
            f"{where}:{number}",
            document.get("created_at"),
            replaced,
            about | {"part": "project_doc", "title": as_text(document.get("filename")), "message": document_id},
        )
    prompt = project.get("prompt_template")
    text, replaced = join_texts([prompt] if isinstance(prompt, str) else [])
    if text.strip():
        identity = f"claude:project:{key}:prompt:{content_id(text)}"
        yield _make_source_record(
            identity, text, where, project.get("updated_at"), replaced, about | {"part": "project_prompt"}
        )


def _make_source_record(
    identity: str, text: str, where: str, time: object, replaced: int, extra: Mapping[str, Any]
) -> Record:
    return Record(
        identity=identity,
        text=text,
        where=where,
        role=Role.SOURCE,
        source=Source.DOCUMENT,
        author="source",
        occurred=parse_time(time),
        flags=("surrogates_replaced",) if replaced else (),
        extra=drop_empty(extra),
    )


def read_memories(file: SourceFile) -> Iterator[Item]:
    """What Claude wrote about the person, as proposals.

    Args:
        file: `memories.json`, an object or a list of them.

    Yields:
        One proposal for the memory over conversations and one for each project's memory.
    """
    for number, parsed in enumerate(_read_values(file), 1):
        where = f"{file.name}:{number}"
        memories = as_mapping(parsed.value)
        account = as_text(memories.get("account_uuid")) or ""
        yield from _read_proposal(memories.get("conversations_memory"), f"{account}:conversations", where, None)
        for project_id, text in as_mapping(memories.get("project_memories")).items():
            yield from _read_proposal(text, f"{account}:{project_id}", where, project_id)


def _read_proposal(value: object, key: str, where: str, project_id: str | None) -> Iterator[Item]:
    text, replaced = join_texts([value] if isinstance(value, str) else [])
    if not text.strip():
        return
    yield Record(
        # The text is part of the identity: a later export with a changed memory is a new proposal.
        identity=f"claude:memory:{key}:{content_id(text)}",
        text=text,
        where=where,
        kind=Kind.FACT,
        role=Role.ASSISTANT,
        source=Source.INFERENCE,
        status=Status.QUARANTINED,
        author="Claude",
        flags=("surrogates_replaced",) if replaced else (),
        extra=drop_empty(
            {
                "origin": "memories.json project_memories" if project_id else "memories.json conversations_memory",
                "project_id": project_id,
            }
        ),
    )


_STEMS = ("conversation", "project", "memories", "users", "manifest", "data", "projects/")
_ARRAYS = ("", "conversations")
_PROJECT_MARKS = (frozenset({"prompt_template", "name"}), frozenset({"docs", "is_starter_project"}))
_MEMORY_MARKS = frozenset({"conversations_memory", "project_memories"})
_MANIFEST_MARKS = frozenset({"export_id", "files"})
_ROLES = {"human": Role.USER, "user": Role.USER, "assistant": Role.ASSISTANT}
_TEXT_PARTS = ("text", "voice_note")
_AUTHOR = "Claude"


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
        yield UnreadablePart(where, "this entry is not a conversation", "not_an_object")
        return
    messages = value.get("chat_messages", False)
    if messages is not None and not isinstance(messages, list):
        yield UnreadablePart(where, "this conversation's messages are not in a form Loci knows", "bad_conversation")
        return
    conversation = _make_conversation(value, messages or [])
    items = list(_read_messages(messages or [], conversation, where, parsed.flags))
    yield from items
    if not any(isinstance(item, Record) for item in items):
        yield SkippedPart("empty_conversation", where)


def _make_conversation(value: Mapping[str, Any], messages: list[Any]) -> Conversation:
    title = value.get("name")
    ids = [as_text(as_mapping(message).get("uuid")) or "" for message in messages]
    return Conversation(
        key=as_text(value.get("uuid")) or content_id(as_text(title) or "", *ids),
        title=as_text(title),
        started=parse_time(value.get("created_at")) or _earliest_time(messages),
        extra=drop_empty({"surrogates_replaced": mended_count(title)}),
    )


def _earliest_time(messages: list[Any]) -> When | None:
    times = [when for message in messages if (when := parse_time(as_mapping(message).get("created_at")))]
    return min(times, key=lambda when: when.ms, default=None)


def _read_messages(
    messages: list[Any], conversation: Conversation, where: str, flags: frozenset[str]
) -> Iterator[Item]:
    position = 0
    for number, message in enumerate(messages, 1):
        place = f"{where}:{number}"
        if not isinstance(message, dict):
            yield UnreadablePart(place, "this entry is not a message", "not_an_object")
            continue
        message_id = as_text(message.get("uuid")) or f"{number}-{content_id(str(message.get('text')))}"
        record = _make_record(message, message_id, conversation, place, position, flags)
        if record is None:
            yield SkippedPart("no_text", place)
        else:
            position += 1
            yield record
        yield from _read_attachments(message, message_id, conversation, place)


def _make_record(
    message: Mapping[str, Any],
    message_id: str,
    conversation: Conversation,
    where: str,
    position: int,
    flags: frozenset[str],
) -> Record | None:
    text, replaced = _message_text(message)
    if not text.strip():
        return None
    role = _ROLES.get(str(message.get("sender")), Role.OTHER)
    blocks = [as_mapping(block) for block in as_list(message.get("content"))]
    names = [as_text(as_mapping(entry).get("file_name")) for entry in as_list(message.get("files"))]
    left_out = [str(block["type"]) for block in blocks if block.get("type") and block["type"] not in _TEXT_PARTS]
    return Record(
        identity=f"claude:{conversation.key}:{message_id}",
        text=text,
        where=where,
        role=role,
        source=Source.USER_IMPLICIT if role is Role.USER else Source.INFERENCE,
        author=_AUTHOR if role is Role.ASSISTANT else None,
        conversation=conversation,
        position=position,
        occurred=parse_time(message.get("created_at")),
        ref=message_id,
        flags=tuple(sorted(flags | ({"surrogates_replaced"} if replaced else frozenset()))),
        extra=drop_empty(
            {
                "message": message_id,
                "files": [name for name in names if name],
                "left_out": {kind: left_out.count(kind) for kind in sorted(set(left_out))},
                "replaced": replaced,
            }
        ),
    )


def _message_text(message: Mapping[str, Any]) -> tuple[str, int]:
    """The text blocks of `content`; `text`, which repeats them for old clients, only where there are no blocks."""
    whole = message.get("text")
    whole = whole if isinstance(whole, str) else ""
    content = message.get("content")
    if isinstance(content, str) and content:
        return join_texts([content])
    blocks = [block for block in as_list(content) if block is not None]
    if not blocks:
        return join_texts([whole])
    parts = [
        block["text"]
        for block in blocks
        if isinstance(block, dict) and block.get("type") in _TEXT_PARTS and isinstance(block.get("text"), str)
    ]
    return join_texts(parts, _find_separator([part for part in parts if part], whole))


def _find_separator(parts: list[str], whole: str) -> str:
    """What the export itself puts between two blocks where `text` shows it; else a blank line."""
    if len(parts) > 1:
        end = whole.find(parts[0]) + len(parts[0])
        start = whole.find(parts[1], end)
        if end >= len(parts[0]) and start >= end and not whole[end:start].strip():
            return whole[end:start]
    return "\n\n"


def _read_attachments(
    message: Mapping[str, Any], message_id: str, conversation: Conversation, where: str
) -> Iterator[Item]:
    for number, entry in enumerate(as_list(message.get("attachments"))):
        attachment = as_mapping(entry)
        content = attachment.get("extracted_content")
        if not isinstance(content, str) or not content.strip():
            yield SkippedPart("empty_attachment", where)
            continue
        text, replaced = join_texts([content])
        yield Record(
            identity=f"claude:{conversation.key}:{message_id}:attachment:{number}",
            text=text,
            where=where,
            role=Role.SOURCE,
            source=Source.DOCUMENT,
            author="source",
            conversation=conversation,
            occurred=parse_time(attachment.get("created_at")) or parse_time(message.get("created_at")),
            ref=as_text(attachment.get("id")) or message_id,
            flags=("surrogates_replaced",) if replaced else (),
            extra=drop_empty(
                {"part": "attachment", "title": as_text(attachment.get("file_name")), "message": message_id}
            ),
        )
