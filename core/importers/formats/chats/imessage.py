"""iMessage as the common exporter for the Mac writes it: one text file, or one page of HTML, for each chat.

A message of the text begins with a line of its time and a line of its speaker; a reply is written a second time,
indented, under what it answers. Times are local ones of the Mac that wrote the file, and name no zone.

Must not do: take the indented copy of a reply for another message, or what the program says for somebody's words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from core.importers.chat import ChatMessage, ChatReader
from core.importers.conversation import content_id
from core.importers.formats.chats.imessage_page import MONTHS, is_page, moment_of, read_page_messages
from core.importers.input.source import Bundle, SourceFile
from core.importers.input.streams import read_file_lines, read_head_text, visible_files
from core.importers.records import Conversation, Item, SkippedPart
from core.types.values import Role

_FORMAT = "imessage"
_OWNER = "Me"
_MOMENT = rf"(?:{'|'.join(MONTHS)}) \d{{2}}, \d{{4}} [ \d]\d:\d{{2}}:\d{{2}} [AP]M"
_TIME = re.compile(rf"{_MOMENT}(?: \((?:Read by|Delivered).{{0,200}}\))?$")
_NOTICE = re.compile(rf"{_MOMENT} (?=[^\s(])")
_INDENT = "    "
_REACTIONS = ("Tapbacks:", "Reactions:")
_PROGRAM = frozenset(
    {
        "This message responded to an earlier message.",
        "This message was deleted from the conversation!",
        "Attachment missing!",
        "Started sharing location!",
        "Stopped sharing location!",
        "SharePlay Message",
        "Ended",
    }
)
_EFFECT = re.compile(r"Sent with [A-Z][\w ]{1,30}$")
_FILE = re.compile(r"(?:~?/|[A-Za-z]:\\|attachments/).{1,1000}\.[A-Za-z0-9]{1,8}$|Sticker from .{1,200}: .{1,1000}$")
_EDITED = re.compile(r"Edited .{1,60} later: (.*)$")
_SNIFFED = 40


class IMessageImporter:
    """Reads chats of an export."""

    @property
    def format(self) -> str:
        """`imessage`."""
        return _FORMAT

    def detects(self, bundle: Bundle) -> bool:
        """Whether a text begins with the time and the speaker of a message; of many texts at least half."""
        files = _likely_files(bundle)[:_SNIFFED]
        chats = sum(_is_chat(file) for file in files)
        return bool(chats) and 2 * chats >= len(files)

    def read(self, bundle: Bundle) -> Iterator[Item]:
        """Yield the messages chat by chat; see `records.Importer`."""
        files = [file for file in _likely_files(bundle) if bundle.kind == "file" or _is_chat(file)]
        for file in files:
            title = file.path.stem
            reader = ChatReader(_FORMAT, Conversation(key=content_id(title), title=title))
            messages = read_page_messages(file) if is_page(file) else _read_text_messages(file)
            for item in messages:
                yield reader.read_message(item) if isinstance(item, ChatMessage) else item
        if len(bundle.files) > len(files):
            yield SkippedPart("media_files", bundle.label, len(bundle.files) - len(files))


def _likely_files(bundle: Bundle) -> list[SourceFile]:
    files = visible_files(bundle)
    if bundle.kind == "file":
        return files
    return [one for one in files if one.path.suffix.lower() in (".txt", ".html")]


def _is_chat(file: SourceFile) -> bool:
    if is_page(file):
        return True
    lines = [line.rstrip("\r") for line in read_head_text(file, 8_192).lstrip("\ufeff\n").split("\n")]
    at = next((nr for nr, line in enumerate(lines[:20]) if _TIME.match(line)), None)
    if at is None or any(line.strip() and not _NOTICE.match(line) for line in lines[:at]):
        return False
    return len(lines) > at + 1 and 0 < len(lines[at + 1].strip()) <= 200


@dataclass(slots=True)
class _Open:
    """A message while its lines are read."""

    time: str
    number: int
    sender: str | None = None
    lines: list[str] = field(default_factory=list)
    attachments: list[str] = field(default_factory=list)
    is_reply: bool = False
    edits: int = 0
    in_reactions: bool = False

    @property
    def is_begun(self) -> bool:
        """Whether its speaker is known and nothing of what was said yet."""
        return self.sender is not None and not self.lines and not self.attachments

    def take_line(self, line: str) -> None:
        """Take the next line of it."""
        if self.sender is None:
            self.sender = line.strip()
        elif line.startswith(_INDENT) and (self.in_reactions or self.lines or self.attachments):
            return  # a reaction, or a reply that has its own place in the file
        elif line in _REACTIONS:
            self.in_reactions = True
        elif line in _PROGRAM or _EFFECT.match(line):
            self.is_reply = self.is_reply or line.startswith("This message responded")
        elif _FILE.match(line):
            self.attachments.append(re.split(r"[/\\]", line)[-1])
        elif not self.lines and (first := _NOTICE.match(line)):
            # Of a message that was edited the first version stands behind its time.
            self.lines.append(line[first.end() :])
        elif edited := _EDITED.match(line):
            self.edits += 1
            self.lines = [edited[1]]
        else:
            self.lines.append(line)


def _read_text_messages(file: SourceFile) -> Iterator[ChatMessage | SkippedPart]:
    lines = read_file_lines(file)
    opened: _Open | None = None
    for number, line in lines:
        if _TIME.match(line):
            if opened is not None:
                yield _close(opened, file, lines.flags)
            opened = _Open(line, number)
        elif _NOTICE.match(line) and not (opened is not None and opened.is_begun):
            if opened is not None:
                yield _close(opened, file, lines.flags)
            opened = None
            yield SkippedPart("chat_event", f"{file.name}:{number}")
        elif opened is not None:
            opened.take_line(line)
    if opened is not None:
        yield _close(opened, file, lines.flags)


def _close(opened: _Open, file: SourceFile, flags: set[str]) -> ChatMessage:
    is_owner = opened.sender == _OWNER
    occurred = moment_of(opened.time.partition(" (")[0])
    return ChatMessage(
        text="\n".join(opened.lines).strip("\n"),
        where=f"{file.name}:{opened.number}",
        author=None if is_owner else opened.sender or None,
        role=Role.USER if is_owner else Role.OTHER,
        occurred=occurred,
        attachments=tuple(opened.attachments),
        edited=True if opened.edits else None,
        facts={"is_reply": opened.is_reply},
        flags=flags if occurred else {*flags, "time_unreadable"},
    )
