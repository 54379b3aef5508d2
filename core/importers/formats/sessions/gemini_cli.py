"""Gemini CLI's recorded sessions: one JSON file each under `~/.gemini/tmp/<project>/chats`.

Must not do: store thoughts, tool calls, or what the program tells of itself.
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
    cut_blocks,
    drop_empty,
    json_files,
    not_a,
)
from core.importers.input.source import Bundle, SourceFile
from core.importers.input.streams import head_keys, iter_json_path
from core.importers.input.strict_json import EACH
from core.importers.records import Conversation, Item, SkippedPart
from core.text.times import parse_time
from core.types.values import Role

_FORMAT = "gemini-cli"
_MARKS = frozenset({"sessionId", "projectHash", "startTime", "messages"})
_ROLES = {"user": Role.USER, "gemini": Role.ASSISTANT}


class GeminiCliImporter:
    """Reads session files, or a folder of them."""

    @property
    def format(self) -> str:
        """`gemini-cli`."""
        return _FORMAT

    def detects(self, bundle: Bundle) -> bool:
        """Whether a JSON file's head shows a session with the hash of its project."""
        return any(_is_session(file) for file in json_files(bundle)[:MOST_SNIFFED])

    def read(self, bundle: Bundle) -> Iterator[Item]:
        """Yield the turns session by session; see `records.Importer`."""
        files = [file for file in json_files(bundle) if bundle.kind == "file" or _is_session(file)]
        readers: dict[str, ChatReader] = {}
        for file in files:
            yield from _read_session(file, readers)
        if len(bundle.files) > len(files):
            yield SkippedPart("not_messages", bundle.label, len(bundle.files) - len(files))


def _is_session(file: SourceFile) -> bool:
    return head_keys(file).get("", frozenset()) >= _MARKS


def _read_session(file: SourceFile, readers: dict[str, ChatReader]) -> Iterator[Item]:
    for number, (scope, parsed) in enumerate(iter_json_path(file, ("messages", EACH)), 1):
        session = scope[-1]
        key = as_text(session.get("sessionId")) or file.path.stem
        if key not in readers:
            facts = drop_empty({"project": as_text(session.get("projectHash"))})
            started = parse_time(session.get("startTime"))
            readers[key] = ChatReader(_FORMAT, Conversation(key=key, started=started, extra=facts))
        where = f"{file.name}:message {number}"
        if isinstance(parsed.value, dict):
            yield _read_turn(readers[key], parsed.value, where, parsed.flags)
        else:
            yield not_a("message", where)


def _read_turn(reader: ChatReader, message: Mapping[str, Any], where: str, flags: frozenset[str]) -> Item:
    role = _ROLES.get(str(message.get("type")))
    if role is None:
        return SkippedPart("other_line_types", where)
    occurred = parse_time(message.get("timestamp"))
    written = _read_content(message.get("content"))
    text = cut_blocks(written, ())
    if not text.strip():
        return SkippedPart("tool_traffic" if message.get("toolCalls") else "no_text", where)
    return reader.read_message(
        ChatMessage(
            text=text,
            where=where,
            author="Gemini" if role is Role.ASSISTANT else None,
            role=role,
            occurred=occurred,
            ref=as_text(message.get("id")),
            facts={"model": as_text(message.get("model"))},
            flags=flags if occurred else {*flags, "time_unreadable"},
        )
    )


def _read_content(content: object) -> str:
    """A text, or a list of parts of which some are texts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else [content]
    texts = [part if isinstance(part, str) else as_mapping(part).get("text") for part in as_list(parts)]
    return "\n\n".join(text for text in texts if isinstance(text, str) and text)
