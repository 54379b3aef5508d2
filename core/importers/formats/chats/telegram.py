r"""Telegram Desktop's export as JSON: one chat, or a whole account with all of them.

A text is a string, or a list of strings and marked pieces. Control characters are written as `\x0B`, which is no JSON;
they are mended while reading. Must not do: read HTML exports (they say less), or store calls, joins and pins as words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import Any, BinaryIO

from core.importers.chat import ChatMessage, ChatReader
from core.importers.conversation import as_list, as_mapping, as_text, drop_empty, json_files, not_a
from core.importers.input.source import Bundle, SourceFile
from core.importers.input.streams import head_keys, iter_json_path, open_pieces
from core.importers.input.strict_json import EACH, Scope
from core.importers.records import Conversation, Item, SkippedPart
from core.text.times import parse_time
from core.types.values import Role

_FORMAT = "telegram"
_STEMS = ("result", "export", "telegram")
_CHAT_MARKS = frozenset({"type", "messages"})
_MESSAGE_MARKS = (frozenset({"date", "text", "from_id"}), frozenset({"date", "actor", "action"}))
_PERSON_MARKS = frozenset({"user_id", "first_name"})
_ONE_CHAT = ("messages", EACH)
_ACCOUNT = ("chats|left_chats", "list", EACH, "messages", EACH)
_SENT = ("photo", "file", "place_name", "game_title")  # what holds the name of something sent
_ALSO_SENT = ("media_type", "contact_information", "location_information", "mime_type")
_SAVED = "saved_messages"


class TelegramImporter:
    """Reads `result.json`."""

    @property
    def format(self) -> str:
        """`telegram`."""
        return _FORMAT

    def detects(self, bundle: Bundle) -> bool:
        """Whether a JSON file's head shows a chat with a type, or an account, with messages that have `from_id`."""
        return any(_is_export(file) for file in json_files(bundle, _STEMS))

    def read(self, bundle: Bundle) -> Iterator[Item]:
        """Yield the messages chat by chat, in the order of the file; see `records.Importer`."""
        files = [file for file in json_files(bundle, _STEMS) if bundle.kind == "file" or _is_export(file)]
        for file in files:
            yield from _read_export(replace(file, open=partial(_open_mended, file)))
        if len(bundle.files) > len(files):
            yield SkippedPart("media_files", bundle.label, len(bundle.files) - len(files))


def _is_export(file: SourceFile) -> bool:
    keys = head_keys(file)
    top = keys.get("", frozenset())
    if keys.get("personal_information", frozenset()) >= _PERSON_MARKS:
        return True
    if top & {"chats", "left_chats"}:
        return any(keys.get(f"{name}.list[]", frozenset()) >= _CHAT_MARKS for name in ("chats", "left_chats"))
    messages = keys.get("messages[]", frozenset())
    return top >= _CHAT_MARKS and any(marks <= messages for marks in _MESSAGE_MARKS)


def _read_export(file: SourceFile) -> Iterator[Item]:
    is_chat = "messages" in head_keys(file).get("", frozenset())
    reader: ChatReader | None = None
    chat: Mapping[str, Any] | None = None
    for number, (scope, parsed) in enumerate(iter_json_path(file, _ONE_CHAT if is_chat else _ACCOUNT), 1):
        if scope[-1] is not chat or reader is None:
            chat = scope[-1]
            reader = ChatReader(_FORMAT, _make_conversation(chat))
        where = f"{file.name}:message {number}"
        if isinstance(parsed.value, dict):
            yield _read_message(reader, parsed.value, where, parsed.flags, _find_owner(scope))
        else:
            yield not_a("message", where)


def _make_conversation(chat: Mapping[str, Any]) -> Conversation:
    title = as_text(chat.get("name")) or ("Saved Messages" if chat.get("type") == _SAVED else None)
    return Conversation(
        key=str(chat["id"]) if isinstance(chat.get("id"), int | str) else title or "",
        title=title,
        extra=drop_empty({"chat_type": as_text(chat.get("type"))}),
    )


def _find_owner(scope: Scope) -> str | None:
    """The person's own `from_id`: an account names it, and nobody else writes among one's saved messages."""
    person = as_mapping(scope[0].get("personal_information")).get("user_id")
    if isinstance(person, int):
        return f"user{person}"
    chat = scope[-1]
    return f"user{chat['id']}" if chat.get("type") == _SAVED and isinstance(chat.get("id"), int) else None


def _read_message(
    reader: ChatReader, message: Mapping[str, Any], where: str, flags: frozenset[str], owner: str | None
) -> Item:
    if message.get("type") != "message":
        return SkippedPart("chat_event", where)
    sender = message.get("from_id")
    is_owner = owner is not None and str(sender) in (owner, owner.removeprefix("user"))
    occurred = parse_time(message.get("date_unixtime")) or parse_time(message.get("date"))
    poll = as_mapping(message.get("poll"))
    attachments = [as_text(message.get(name)) for name in _SENT]
    if not any(attachments):
        attachments = [name for name in _ALSO_SENT if message.get(name)]
    reply = message.get("reply_to_message_id")
    return reader.read_message(
        ChatMessage(
            text=_read_text(message.get("text")) or _read_poll(poll),
            where=where,
            # A deleted account has an id and no name.
            author=as_text(message.get("from")),
            role=Role.USER if is_owner else Role.OTHER,
            occurred=occurred,
            ref=str(message["id"]) if isinstance(message.get("id"), int | str) else None,
            attachments=tuple(name for name in attachments if name),
            edited=as_text(message.get("edited")),
            forwarded_from=as_text(message.get("forwarded_from")) or ("forwarded_from" in message),
            reply_to=str(reply) if isinstance(reply, int | str) and reply else None,
            facts={"sender_id": as_text(sender), "via_bot": as_text(message.get("via_bot"))},
            flags=flags if occurred else {*flags, "time_unreadable"},
        )
    )


def _read_text(value: object) -> str:
    if isinstance(value, str):
        return value
    parts = [as_mapping(part).get("text") if isinstance(part, dict) else part for part in as_list(value)]
    return "".join(part for part in parts if isinstance(part, str))


def _read_poll(poll: Mapping[str, Any]) -> str:
    """A poll as its question and, a line each, its answers."""
    answers = [as_text(as_mapping(answer).get("text")) for answer in as_list(poll.get("answers"))]
    lines = [as_text(poll.get("question")), *(f"- {answer}" for answer in answers if answer)]
    return "\n".join(line for line in lines if line)


_ESCAPE = re.compile(rb"\\(?:x([0-9A-Fa-f]{2})|.)", re.DOTALL)
_CHUNK = 1 << 18
_LONGEST_ESCAPE = 4


def _open_mended(file: SourceFile) -> BinaryIO:
    r"""The file with `\x0B` written as JSON has it."""
    return open_pieces(_mended_chunks(file))


def _mended_chunks(file: SourceFile) -> Iterator[bytes]:
    rest = b""
    with closing(file.open()) as stream:
        while chunk := stream.read(_CHUNK):
            piece = rest + chunk
            # An escape that the chunk cuts waits for the next one.
            cut = _find_cut(piece)
            yield _ESCAPE.sub(_mend_escape, piece[:cut])
            rest = piece[cut:]
    if rest:
        yield _ESCAPE.sub(_mend_escape, rest)


def _find_cut(piece: bytes) -> int:
    """Where a piece may be cut without cutting an escape: of a run of backslashes an odd last one begins one."""
    at = piece.rfind(b"\\", max(0, len(piece) - _LONGEST_ESCAPE))
    run = at + 1 - len(piece[: at + 1].rstrip(b"\\"))
    return at if run % 2 else len(piece)


def _mend_escape(found: re.Match[bytes]) -> bytes:
    return b"\\u00" + found[1] if found[1] else found[0]
