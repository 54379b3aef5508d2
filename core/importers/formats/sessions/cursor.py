"""Cursor's chats: `state.vscdb`, a database of keys and JSON, in which a conversation lists its messages by their ids.

The file is copied into memory and read there; Cursor may run. Must not do: store tool calls, thoughts and code that was
written into files, or read the older chats of single projects, whose shape is another.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from typing import Any

from core.importers.chat import ChatMessage, ChatReader
from core.importers.conversation import as_list, as_mapping, as_text, cut_blocks, drop_empty
from core.importers.input.database import MAGIC, has_table, open_database
from core.importers.input.source import Bundle, SourceFile
from core.importers.input.streams import BadJson, parse_json_text, read_head
from core.importers.input.strict_json import decode_ladder
from core.importers.records import Conversation, Item, SkippedPart, UnreadablePart
from core.text.times import parse_time
from core.types.values import Role, When

_FORMAT, _AUTHOR = "cursor", "Cursor"
_TABLE = "cursorDiskKV"
_TALKS = "SELECT key FROM cursorDiskKV WHERE key >= 'composerData:' AND key < 'composerData;' ORDER BY key"
_VALUE = "SELECT value FROM cursorDiskKV WHERE key = ?"
_PREFIX = "composerData:"
_ROLES = {"1": Role.USER, "2": Role.ASSISTANT}
_ENDINGS = (".vscdb", ".db", ".sqlite", ".backup")


class CursorImporter:
    """Reads the database, alone or in a folder."""

    @property
    def format(self) -> str:
        """`cursor`."""
        return _FORMAT

    def detects(self, bundle: Bundle) -> bool:
        """Whether a file is a database that names Cursor's table on its first pages."""
        return any(_is_state(file) for file in _likely_files(bundle))

    def read(self, bundle: Bundle) -> Iterator[Item]:
        """Yield the turns conversation by conversation; see `records.Importer`."""
        files = [file for file in _likely_files(bundle) if bundle.kind == "file" or _is_state(file)]
        for file in files:
            with open_database(file) as database:
                if has_table(database, _TABLE):
                    for (key,) in database.execute(_TALKS).fetchall():
                        yield from _read_talk(database, str(key), file)
        if len(bundle.files) > len(files):
            yield SkippedPart("not_messages", bundle.label, len(bundle.files) - len(files))


def _likely_files(bundle: Bundle) -> list[SourceFile]:
    if bundle.kind == "file":
        return list(bundle.files)
    return [file for file in bundle.files if file.path.suffix.lower() in _ENDINGS]


def _is_state(file: SourceFile) -> bool:
    head = read_head(file)
    return head.startswith(MAGIC) and _TABLE.encode() in head


def _read_value(database: sqlite3.Connection, key: str) -> tuple[Mapping[str, Any], frozenset[str]] | None:
    """The object under a key, text or bytes; None where there is none or it is no JSON."""
    row = database.execute(_VALUE, (key,)).fetchone()
    raw = row[0] if row is not None else None
    if isinstance(raw, bytes):
        text, flags = decode_ladder(raw, mend=False)
    elif isinstance(raw, str):
        text, flags = raw, frozenset()
    else:
        return None
    try:
        value = parse_json_text(text).value
    except BadJson:
        return None
    return (value, flags) if isinstance(value, dict) else None


def _read_talk(database: sqlite3.Connection, key: str, file: SourceFile) -> Iterator[Item]:
    found = _read_value(database, key)
    talk = key.removeprefix(_PREFIX)
    where = f"{file.name}:{talk}"
    if found is None:
        yield UnreadablePart(where, "this conversation is not in a form Loci knows", "bad_conversation")
        return
    about, _ = found
    started = parse_time(about.get("createdAt"))
    folder = as_mapping(as_mapping(about.get("workspaceIdentifier")).get("uri")).get("fsPath")
    facts = drop_empty({"cwd": as_text(folder)})
    reader = ChatReader(_FORMAT, Conversation(key=talk, title=as_text(about.get("name")), started=started, extra=facts))
    entries = [
        as_mapping(one) for one in as_list(about.get("fullConversationHeadersOnly") or about.get("conversation"))
    ]
    for number, entry in enumerate(entries, 1):
        bubble = as_text(entry.get("bubbleId")) or ""
        own = _read_value(database, f"bubbleId:{talk}:{bubble}")
        message = {**entry, **(own[0] if own is not None else {})}
        flags = own[1] if own is not None else frozenset[str]()
        yield _read_message(reader, message, f"{where}:{number}", flags, started)
    if not entries:
        yield SkippedPart("empty_conversation", where)


def _read_message(
    reader: ChatReader, message: Mapping[str, Any], where: str, flags: frozenset[str], started: When | None
) -> Item:
    role = _ROLES.get(str(message.get("type")))
    if role is None:
        return SkippedPart("other_line_types", where)
    text = cut_blocks(as_text(message.get("text")) or "", ())
    if not text.strip() and message.get("toolFormerData"):
        return SkippedPart("tool_traffic", where)
    occurred = parse_time(message.get("createdAt")) or started
    return reader.read_message(
        ChatMessage(
            text=text,
            where=where,
            author=_AUTHOR if role is Role.ASSISTANT else None,
            role=role,
            occurred=occurred,
            ref=as_text(message.get("bubbleId")),
            facts={"model": as_text(as_mapping(message.get("modelInfo")).get("modelName"))},
            flags=flags if occurred else {*flags, "time_unreadable"},
        )
    )
