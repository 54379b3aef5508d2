"""Discord: channels as DiscordChatExporter writes them in JSON, and the messages of Discord's own package of data.

A file of the exporter is one channel, or a part of one. The package holds what the person wrote and nobody else. Must
not do: store a call, a join or a pin as somebody's words, or take a preview of a link for what was said.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from core.importers.chat import ChatMessage, ChatReader
from core.importers.conversation import MOST_SNIFFED, as_list, as_mapping, as_text, drop_empty, json_files, not_a
from core.importers.input.source import Bundle, SourceFile
from core.importers.input.streams import head_keys, iter_json_array, iter_json_path, read_json
from core.importers.input.strict_json import EACH
from core.importers.records import Conversation, Item, SkippedPart
from core.text.times import parse_time
from core.types.values import Role

_FORMAT = "discord"
_CHANNEL = frozenset({"guild", "channel", "messages"})
_OWN_MESSAGES = frozenset({"ID", "Timestamp", "Contents"})
# Kinds of messages that are somebody's words; the others tell what happened.
_SAID = frozenset(
    {"Default", "Reply", "ChatInputCommand", "ContextMenuCommand", "ThreadStarterMessage", "0", "19", "20"}
)


class DiscordImporter:
    """Reads a channel's file, or a folder or zip of them."""

    @property
    def format(self) -> str:
        """`discord`."""
        return _FORMAT

    def detects(self, bundle: Bundle) -> bool:
        """Whether a JSON file's head shows `guild` and `channel`, or a list of `ID`, `Timestamp` and `Contents`."""
        return any(_kind_of_file(file) for file in json_files(bundle)[:MOST_SNIFFED])

    def read(self, bundle: Bundle) -> Iterator[Item]:
        """Yield the messages channel by channel; see `records.Importer`."""
        readers: dict[str, ChatReader] = {}
        others = 0
        for file in json_files(bundle):
            kind = _kind_of_file(file)
            if kind == "channel":
                yield from _read_channel(file, readers)
            elif kind == "own":
                yield from _read_own_messages(file, bundle)
            else:
                others += 1
        media = len(bundle.files) - len(json_files(bundle))
        if others:
            yield SkippedPart("not_messages", bundle.label, others)
        if media:
            yield SkippedPart("media_files", bundle.label, media)


def _kind_of_file(file: SourceFile) -> str | None:
    keys = head_keys(file)
    if _CHANNEL - {"messages"} <= keys.get("", frozenset()) and "id" in keys.get("channel", frozenset()):
        return "channel"
    return "own" if keys.get("[]", frozenset()) >= _OWN_MESSAGES else None


def _read_channel(file: SourceFile, readers: dict[str, ChatReader]) -> Iterator[Item]:
    for number, (scope, parsed) in enumerate(iter_json_path(file, ("messages", EACH)), 1):
        channel, guild = (as_mapping(scope[-1].get(name)) for name in ("channel", "guild"))
        key = as_text(channel.get("id")) or file.name
        if key not in readers:
            readers[key] = ChatReader(_FORMAT, _make_conversation(key, channel, guild))
        where = f"{file.name}:message {number}"
        if isinstance(parsed.value, dict):
            yield _read_message(readers[key], parsed.value, where, parsed.flags)
        else:
            yield not_a("message", where)


def _make_conversation(key: str, channel: Mapping[str, Any], guild: Mapping[str, Any]) -> Conversation:
    facts = {
        "server": as_text(guild.get("name")),
        "category": as_text(channel.get("category")),
        "topic": as_text(channel.get("topic")),
        "chat_type": as_text(channel.get("type")),
    }
    return Conversation(key=key, title=as_text(channel.get("name")), extra=drop_empty(facts))


def _read_message(reader: ChatReader, message: Mapping[str, Any], where: str, flags: frozenset[str]) -> Item:
    if str(message.get("type", "Default")) not in _SAID:
        return SkippedPart("chat_event", where)
    author = as_mapping(message.get("author"))
    forwarded = as_mapping(message.get("forwardedMessage"))
    occurred = parse_time(message.get("timestamp"))
    sent = [as_mapping(one) for one in (*as_list(message.get("attachments")), *as_list(forwarded.get("attachments")))]
    names = [as_text(one.get("fileName")) or "file" for one in sent]
    names += [as_text(as_mapping(one).get("name")) or "sticker" for one in as_list(message.get("stickers"))]
    text = as_text(message.get("content")) or as_text(forwarded.get("content")) or ""
    is_bot = author.get("isBot") is True
    return reader.read_message(
        ChatMessage(
            text=text or (_read_embeds(message) if is_bot else ""),
            where=where,
            author=as_text(author.get("nickname")) or as_text(author.get("name")),
            occurred=occurred,
            ref=as_text(message.get("id")),
            attachments=tuple(names),
            edited=as_text(message.get("timestampEdited")),
            forwarded_from=bool(forwarded),
            reply_to=as_text(as_mapping(message.get("reference")).get("messageId")) if not forwarded else None,
            facts={"account": as_text(author.get("name")), "bot": is_bot},
            flags=flags if occurred else {*flags, "time_unreadable"},
        )
    )


def _read_embeds(message: Mapping[str, Any]) -> str:
    """What a program posts instead of a text."""
    embeds = [as_mapping(one) for one in as_list(message.get("embeds"))]
    texts = [as_text(one.get(name)) for one in embeds for name in ("title", "description")]
    return "\n".join(text for text in texts if text)


def _read_own_messages(file: SourceFile, bundle: Bundle) -> Iterator[Item]:
    beside = bundle.find_file(str(file.path.with_name("channel.json")))
    channel = as_mapping(read_json(beside).value) if beside is not None else {}
    key = as_text(channel.get("id")) or file.path.parent.name or file.path.stem
    reader = ChatReader(_FORMAT, _make_conversation(key, channel, as_mapping(channel.get("guild"))))
    for number, parsed in enumerate(iter_json_array(file, ("",)), 1):
        message = as_mapping(parsed.value)
        occurred = parse_time(message.get("Timestamp"))
        attached = (as_text(message.get("Attachments")) or "").split()
        yield reader.read_message(
            ChatMessage(
                text=as_text(message.get("Contents")) or "",
                where=f"{file.name}:message {number}",
                role=Role.USER,
                occurred=occurred,
                ref=str(message["ID"]) if isinstance(message.get("ID"), int | str) else None,
                attachments=tuple(address.rpartition("/")[2].partition("?")[0] for address in attached),
                flags=parsed.flags if occurred else {*parsed.flags, "time_unreadable"},
            )
        )
