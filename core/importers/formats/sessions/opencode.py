"""OpenCode's sessions: a folder `storage` with a file for each session, message and part of one.

Must not do: store thoughts, tool calls, or what the program put into a message of the person's.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from core.errors import UserError
from core.importers.chat import ChatMessage, ChatReader
from core.importers.conversation import as_mapping, as_text, cut_blocks, drop_empty
from core.importers.input.source import Bundle, SourceFile
from core.importers.input.streams import head_keys, read_json
from core.importers.records import Conversation, Item, SkippedPart, UnreadablePart
from core.text.times import parse_time
from core.types.values import Role

_FORMAT, _AUTHOR = "opencode", "OpenCode"
_PATH = re.compile(r"(?:.*/)?(?P<kind>session|message|part)/(?P<owner>[^/]{1,200})/(?P<id>[^/]{1,200})\.json$")
_MARKS = frozenset({"id", "sessionID", "role"})
_MOST = 64 << 20
_SNIFFED = 40


class OpenCodeImporter:
    """Reads the storage of the program."""

    @property
    def format(self) -> str:
        """`opencode`."""
        return _FORMAT

    def detects(self, bundle: Bundle) -> bool:
        """Whether a folder has messages of sessions that name session and role, and parts of them."""
        found = _sort_files(bundle)
        messages = [file for files in found["message"].values() for file in files][:_SNIFFED]
        return bool(found["part"]) and any(head_keys(file).get("", frozenset()) >= _MARKS for file in messages)

    def read(self, bundle: Bundle) -> Iterator[Item]:
        """Yield the turns session by session; see `records.Importer`."""
        found = _sort_files(bundle)
        sessions = {file.path.stem: file for files in found["session"].values() for file in files}
        for key, files in sorted(found["message"].items()):
            yield from _read_session(key, sessions.get(key), files, found["part"])
        others = len(bundle.files) - sum(len(files) for kind in found.values() for files in kind.values())
        if others:
            yield SkippedPart("not_messages", bundle.label, others)


def _sort_files(bundle: Bundle) -> dict[str, dict[str, list[SourceFile]]]:
    """Files by what they are, and by what they belong to; ids grow with time, so their names are in order."""
    found: dict[str, dict[str, list[SourceFile]]] = {"session": {}, "message": {}, "part": {}}
    for file in bundle.files:
        if (match := _PATH.match(file.name)) is not None:
            found[match["kind"]].setdefault(match["owner"], []).append(file)
    return found


def _read_session(
    key: str, about: SourceFile | None, files: list[SourceFile], parts: Mapping[str, list[SourceFile]]
) -> Iterator[Item]:
    told = _read_object(about) if about is not None else {}
    if isinstance(told, UnreadablePart):
        yield told
        told = {}
    facts = drop_empty({"cwd": as_text(told.get("directory")), "parent": as_text(told.get("parentID"))})
    started = parse_time(as_mapping(told.get("time")).get("created"))
    conversation = Conversation(key=key, title=as_text(told.get("title")), started=started, extra=facts)
    reader, skipped = ChatReader(_FORMAT, conversation), defaultdict[str, int](int)
    for file in files:
        message = _read_object(file)
        yield message if isinstance(message, UnreadablePart) else _read_message(reader, message, file, parts, skipped)
    for reason, count in sorted(skipped.items()):
        yield SkippedPart(reason, key, count)


def _read_object(file: SourceFile) -> Mapping[str, Any] | UnreadablePart:
    try:
        return as_mapping(read_json(file, _MOST).value)
    except UserError:
        return UnreadablePart(file.name, "this file is not JSON", "bad_message")


def _read_message(
    reader: ChatReader,
    message: Mapping[str, Any],
    file: SourceFile,
    parts: Mapping[str, list[SourceFile]],
    skipped: dict[str, int],
) -> Item:
    is_person = message.get("role") == "user"
    texts, attachments = [], []
    for one in parts.get(file.path.stem, ()):
        part = _read_object(one)
        if isinstance(part, UnreadablePart):
            return part
        kind = part.get("type")
        if kind == "text" and part.get("synthetic") is not True and part.get("ignored") is not True:
            texts.append(as_text(part.get("text")) or "")
        elif kind == "file":
            attachments.append(as_text(part.get("filename")) or "file")
        elif kind == "reasoning":
            skipped["thinking"] += 1
        else:
            skipped["tool_traffic"] += kind == "tool"
    occurred = parse_time(as_mapping(message.get("time")).get("created"))
    model = as_text(message.get("modelID")) or as_text(as_mapping(message.get("model")).get("modelID"))
    return reader.read_message(
        ChatMessage(
            text=cut_blocks("\n\n".join(text for text in texts if text.strip()), ()),
            where=file.name,
            author=None if is_person else _AUTHOR,
            role=Role.USER if is_person else Role.ASSISTANT,
            occurred=occurred,
            ref=as_text(message.get("id")) or file.path.stem,
            attachments=tuple(attachments),
            facts={"model": model},
            flags=() if occurred else ("time_unreadable",),
        )
    )
