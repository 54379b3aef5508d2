"""Slack's export of a workspace: a folder of days for each channel, and lists of people and channels.

Slack writes people, channels and links into a text as marks; they become the names that a reader sees. Must not do:
take a join or a topic for somebody's words, or store the text that Slack puts in the place of a deleted message.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from core.importers.chat import ChatMessage, ChatReader
from core.importers.conversation import as_list, as_mapping, as_text, drop_empty, not_a
from core.importers.input.source import Bundle, SourceFile
from core.importers.input.streams import head_keys, is_hidden, iter_json_array
from core.importers.records import Conversation, Item, SkippedPart
from core.text.times import parse_time

_FORMAT = "slack"
_DAY = re.compile(r"(?:.*/)?(?P<folder>[^/]+)/\d{4}-\d{2}-\d{2}\.json$")
_PEOPLE = ("users.json", "org_users.json")
_CHANNELS = ("channels.json", "groups.json", "dms.json", "mpims.json")
_MARKS = frozenset({"type", "ts"})
_SNIFFED_FILES = 20
# Subtypes that are somebody's words; all others tell what happened in the channel.
_SAID = frozenset(
    {"", "me_message", "thread_broadcast", "file_share", "file_comment", "bot_message", "reply_broadcast"}
)
_MARK = re.compile(r"<([@#!]?)([^<>|\s][^<>|]{0,3000})(?:\|([^<>]{0,1000}))?>")
_ENTITIES = (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"))


@dataclass(slots=True)
class _Workspace:
    """Who and what the export names."""

    people: dict[str, str] = field(default_factory=dict)
    channels: dict[str, Mapping[str, Any]] = field(default_factory=dict)

    def name_of(self, person: str | None) -> str | None:
        return self.people.get(person, person) if person else None


class SlackImporter:
    """Reads the zip of a workspace, or the folder it was unpacked to."""

    @property
    def format(self) -> str:
        """`slack`."""
        return _FORMAT

    def detects(self, bundle: Bundle) -> bool:
        """Whether days of channels hold messages with `ts`, beside a list of people or channels; or one file does."""
        if bundle.kind == "file":
            return _MARKS | {"text"} <= head_keys(bundle.files[0]).get("[]", frozenset())
        names = {file.path.name for file in bundle.files}
        days = [file for file in _day_files(bundle) if file.size > 2][:_SNIFFED_FILES]
        return bool(names & {*_PEOPLE, *_CHANNELS}) and any(
            head_keys(file).get("[]", frozenset()) >= _MARKS for file in days
        )

    def read(self, bundle: Bundle) -> Iterator[Item]:
        """Yield the messages channel by channel and day by day; see `records.Importer`."""
        workspace = _read_workspace(bundle)
        readers: dict[str, ChatReader] = {}
        days = list(bundle.files) if bundle.kind == "file" else _day_files(bundle)
        for file in days:
            folder = found["folder"] if (found := _DAY.match(file.name)) else file.path.stem
            if folder not in readers:
                readers[folder] = ChatReader(_FORMAT, _make_channel(folder, workspace))
            for number, parsed in enumerate(iter_json_array(file, ("",)), 1):
                where = f"{file.name}:{number}"
                if isinstance(parsed.value, dict):
                    yield _read_message(readers[folder], parsed.value, where, workspace, parsed.flags)
                else:
                    yield not_a("message", where)
        known = {*_PEOPLE, *_CHANNELS}
        others = [one for one in bundle.files if one not in days and one.path.name not in known]
        if others:
            yield SkippedPart("not_messages", bundle.label, len(others))


def _day_files(bundle: Bundle) -> list[SourceFile]:
    return [file for file in bundle.files if _DAY.match(file.name) and not is_hidden(file.name)]


def _read_workspace(bundle: Bundle) -> _Workspace:
    found = _Workspace()
    if bundle.kind == "file":
        return found
    for file in bundle.files:
        if file.path.name not in (*_PEOPLE, *_CHANNELS):
            continue
        for parsed in iter_json_array(file, ("",)):
            entry = as_mapping(parsed.value)
            key = as_text(entry.get("id"))
            if key and file.path.name in _PEOPLE:
                found.people[key] = _name_person(entry) or key
            elif key:
                found.channels[key] = entry
                found.channels[as_text(entry.get("name")) or key] = entry
    return found


def _name_person(entry: Mapping[str, Any]) -> str | None:
    profile = as_mapping(entry.get("profile"))
    names = (profile.get("display_name"), profile.get("real_name"), entry.get("real_name"), entry.get("name"))
    return next((name for name in names if isinstance(name, str) and name.strip()), None)


def _make_channel(folder: str, workspace: _Workspace) -> Conversation:
    channel = workspace.channels.get(folder, {})
    members = [workspace.name_of(as_text(one)) for one in as_list(channel.get("members"))]
    title = as_text(channel.get("name")) or ", ".join(name for name in members if name) or folder
    purpose = as_text(as_mapping(channel.get("purpose")).get("value"))
    return Conversation(key=as_text(channel.get("id")) or folder, title=title, extra=drop_empty({"purpose": purpose}))


def _read_message(
    reader: ChatReader, message: Mapping[str, Any], where: str, workspace: _Workspace, flags: frozenset[str]
) -> Item:
    subtype = as_text(message.get("subtype")) or ""
    if subtype == "tombstone":
        return SkippedPart("deleted_message", where)
    if message.get("type") != "message" or subtype not in _SAID:
        return SkippedPart("chat_event", where)
    occurred = parse_time(message.get("ts"))
    thread = as_text(message.get("thread_ts"))
    profile = _name_person({"profile": message.get("user_profile")})
    person = as_text(message.get("user"))
    known = workspace.people.get(person or "") or profile
    edited = parse_time(as_mapping(message.get("edited")).get("ts"))
    files = [as_mapping(one) for one in as_list(message.get("files")) or [message.get("file")]]
    names = [as_text(one.get("name")) or as_text(one.get("title")) for one in files if one]
    return reader.read_message(
        ChatMessage(
            text=_read_text(message, workspace),
            where=where,
            author=known or as_text(message.get("username")) or person,
            occurred=occurred,
            ref=as_text(message.get("ts")),
            attachments=tuple(name or "file" for name in names),
            edited=edited is not None,
            reply_to=thread if thread != message.get("ts") else None,
            facts={"bot": bool(message.get("bot_id"))},
            flags=flags if occurred else {*flags, "time_unreadable"},
        )
    )


def _read_text(message: Mapping[str, Any], workspace: _Workspace) -> str:
    """The text; of what a program posts without one, what its attachments say."""
    texts = [as_text(message.get("text"))]
    if not (texts[0] or "").strip():
        texts = []
        for one in as_list(message.get("attachments")):
            told = as_mapping(one)
            texts += [as_text(told.get("pretext")), as_text(told.get("title")), as_text(told.get("text"))]
    return _resolve_marks("\n".join(text for text in texts if text), workspace)


def _resolve_marks(text: str, workspace: _Workspace) -> str:
    def resolve(found: re.Match[str]) -> str:
        kind, target, label = found.groups()
        if kind == "@":
            return "@" + (workspace.people.get(target) or label or target)
        if kind == "#":
            return "#" + (label or as_text(workspace.channels.get(target, {}).get("name")) or target)
        if kind == "!":
            return label or "@" + target.partition("^")[0]
        return target if not label or label == target else f"{label} ({target})"

    text = _MARK.sub(resolve, text)
    for written, meant in _ENTITIES:
        text = text.replace(written, meant)
    return text
