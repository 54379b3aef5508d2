"""Continue's sessions: one JSON file each under `~/.continue/sessions`, and `sessions.json`, which dates them.

A turn has no time of its own; it bears the day on which its session was begun, which is all that is told. Must not do:
store tool calls, thoughts, or the files that were given as context.
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
    drop_empty,
    json_files,
    not_a,
)
from core.importers.input.source import Bundle, SourceFile
from core.importers.input.streams import head_keys, iter_json_array, read_json
from core.importers.records import Conversation, Item, SkippedPart, UnreadablePart
from core.text.times import parse_time
from core.types.values import Role, When

_FORMAT, _AUTHOR = "continue", "Continue"
_SESSION = frozenset({"sessionId", "history"})
_INDEX = "sessions.json"
_MOST = 256 << 20
_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT}
_LEFT_OUT = {"thinking": "thinking", "tool": "tool_traffic", "system": "hidden_or_system"}


class ContinueImporter:
    """Reads session files, or a folder of them."""

    @property
    def format(self) -> str:
        """`continue`."""
        return _FORMAT

    def detects(self, bundle: Bundle) -> bool:
        """Whether a JSON file's head shows a session with its history and the folder it ran in."""
        return any(_is_session(file) for file in json_files(bundle)[:MOST_SNIFFED])

    def read(self, bundle: Bundle) -> Iterator[Item]:
        """Yield the turns session by session; see `records.Importer`."""
        begun = _read_index(bundle)
        files = [file for file in json_files(bundle) if bundle.kind == "file" or _is_session(file)]
        for file in files:
            yield from _read_session(file, begun)
        others = [file for file in bundle.files if file not in files and file.path.name != _INDEX]
        if others:
            yield SkippedPart("not_messages", bundle.label, len(others))


def _is_session(file: SourceFile) -> bool:
    found = head_keys(file)
    top = found.get("", frozenset())
    return top >= _SESSION and ("workspaceDirectory" in top or "message" in found.get("history[]", frozenset()))


def _read_index(bundle: Bundle) -> dict[str, When | None]:
    """When each session was begun, where the list of them lies beside."""
    found: dict[str, When | None] = {}
    for file in bundle.files:
        if file.path.name == _INDEX and "sessionId" in head_keys(file).get("[]", frozenset()):
            for parsed in iter_json_array(file, ("",)):
                about = as_mapping(parsed.value)
                written = about.get("dateCreated")
                is_digits = isinstance(written, str) and written.isdigit()
                found[str(about.get("sessionId"))] = parse_time(int(str(written)) if is_digits else written)
    return found


def _read_session(file: SourceFile, begun: Mapping[str, When | None]) -> Iterator[Item]:
    parsed = read_json(file, _MOST)
    session = as_mapping(parsed.value)
    history = session.get("history")
    if not isinstance(history, list):
        yield UnreadablePart(file.name, "this session's messages are not in a form Loci knows", "bad_conversation")
        return
    key = as_text(session.get("sessionId")) or content_id(file.name)
    started = begun.get(key) or parse_time(session.get("dateCreated"))
    facts = drop_empty({"cwd": as_text(session.get("workspaceDirectory"))})
    conversation = Conversation(key=key, title=as_text(session.get("title")), started=started, extra=facts)
    reader = ChatReader(_FORMAT, conversation)
    for number, entry in enumerate(history, 1):
        where = f"{file.name}:message {number}"
        if isinstance(entry, dict):
            yield _read_turn(reader, entry, where, parsed.flags, started)
        else:
            yield not_a("message", where)
    if not history:
        yield SkippedPart("empty_conversation", file.name)


def _read_turn(
    reader: ChatReader, entry: Mapping[str, Any], where: str, flags: frozenset[str], started: When | None
) -> Item:
    message = as_mapping(entry.get("message"))
    role = _ROLES.get(str(message.get("role")))
    if role is None:
        return SkippedPart(_LEFT_OUT.get(str(message.get("role")), "other_line_types"), where)
    text, pictures = _read_content(message.get("content"))
    text = cut_blocks(text, ())
    if not text.strip() and message.get("toolCalls"):
        return SkippedPart("tool_traffic", where)
    context = [as_text(as_mapping(one).get("name")) for one in as_list(entry.get("contextItems"))]
    return reader.read_message(
        ChatMessage(
            text=text,
            where=where,
            author=_AUTHOR if role is Role.ASSISTANT else None,
            role=role,
            occurred=started,
            ref=as_text(message.get("id")),
            attachments=(*pictures, *(name for name in context if name)),
            flags=flags if started else {*flags, "time_unreadable"},
        )
    )


def _read_content(content: object) -> tuple[str, list[str]]:
    """A text, or a list of parts of which some are texts and some are pictures."""
    if isinstance(content, str):
        return content, []
    parts = [as_mapping(part) for part in as_list(content)]
    texts = [text for part in parts if part.get("type") == "text" and (text := as_text(part.get("text")))]
    return "\n\n".join(texts), ["picture" for part in parts if part.get("type") == "imageUrl"]
