"""WhatsApp's export of a chat: a text file, alone or in a zip with what was sent.

A line with a date begins a message, the lines without one go on with it. What the program itself says has no speaker,
or is told by its words and by the mark of direction before it. The file says nobody's number and no zone. Must not do:
take a name for a speaker that only ever stands before notices, or drop a text because it is in an unknown language.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from core.importers.chat import ChatMessage, ChatReader
from core.importers.conversation import content_id
from core.importers.date_order import DateOrder, make_moment
from core.importers.formats.chats.whatsapp_lines import (
    NOTICE,
    Opening,
    find_attached,
    is_media,
    is_notice_text,
    plain_words,
    read_opening,
    take_attachments,
    vocabulary,
    words_of,
)
from core.importers.input.source import Bundle, SourceFile
from core.importers.input.streams import is_hidden, read_file_lines, read_head_text
from core.importers.records import Conversation, Item, Record, SkippedPart
from core.types.values import Role

_COPY = re.compile(r" \(\d{1,3}\)$")
_LONGEST = 8 << 20  # characters of one message; what goes on beyond them is a message of its own
_LONGEST_NOTICE = 100
_SNIFFED_LINES, _SNIFFED_FILES, _MOST_NAMES = 40, 20, 5_000


@dataclass(slots=True)
class _Survey:
    """What is known of a chat before its messages are read."""

    dates: DateOrder = field(default_factory=DateOrder)
    speakers: dict[str, None] = field(default_factory=dict)
    notice_names: dict[str, None] = field(default_factory=dict)
    owner: str | None = None

    def see_opening(self, opening: Opening) -> None:
        self.dates.see_date(opening.numbers, twelve_hours=opening.twelve_hours)
        if opening.sender is None:
            return
        if len(opening.text) < _LONGEST_NOTICE and plain_words(opening.text) in words_of("deleted_by_owner"):
            self.owner = opening.sender
        names = self.notice_names if opening.is_notice else self.speakers
        if len(names) < _MOST_NAMES:
            names[opening.sender] = None

    def find_owner(self, title: str) -> str | None:
        """Who the person is: who deleted “you deleted this”, or the one of two whom the chat is not named after."""
        others = [name for name in self.speakers if name != title]
        named = len(self.speakers) == 2 and len(others) == 1
        return self.owner or (others[0] if named else None)


class WhatsAppImporter:
    """Reads chats exported from a phone."""

    @property
    def format(self) -> str:
        """`whatsapp`."""
        return "whatsapp"

    def detects(self, bundle: Bundle) -> bool:
        """Whether the text files are chats: the first lines of each begin with WhatsApp's date and a speaker."""
        texts = _text_files(bundle)[:_SNIFFED_FILES]
        chats = [file for file in texts if _is_chat(file)]
        return bool(chats) and (len(chats) == len(texts) or any(file.path.name == "_chat.txt" for file in chats))

    def read(self, bundle: Bundle) -> Iterator[Item]:
        """Yield the messages of every chat in order; what was sent beside them is counted."""
        texts = _text_files(bundle)
        media = len(bundle.files) - len(texts)
        for file in texts:
            if bundle.kind == "file" or _is_chat(file):
                yield from _read_chat(file, bundle)
            else:
                media += 1
        if media:
            yield SkippedPart("media_files", bundle.label, media)


def _text_files(bundle: Bundle) -> list[SourceFile]:
    if bundle.kind == "file":
        return list(bundle.files)
    return [one for one in bundle.files if one.path.suffix.lower() in (".txt", ".md") and not is_hidden(one.name)]


def _is_chat(file: SourceFile) -> bool:
    lines = read_head_text(file).split("\n")[:_SNIFFED_LINES]
    openings = [opening for line in lines if (opening := read_opening(line.rstrip("\r"))) is not None]
    begins = next((line for line in lines if line.strip()), "")
    return any(one.sender for one in openings) and read_opening(begins.rstrip("\r")) is not None


def _find_title(file: SourceFile, bundle: Bundle, survey: _Survey) -> str:
    stem = _COPY.sub("", file.path.stem)
    if stem == "_chat":
        outer = file.path.parent.name if bundle.kind != "file" else ""
        label = bundle.label.rpartition(".")[0] or bundle.label
        notice = next((name for name in survey.notice_names if name not in survey.speakers), "")
        stem = _COPY.sub("", outer.removesuffix(".zip") or (label if bundle.kind != "file" else "")) or notice or stem
    known = next((one for one in vocabulary()["titles"] if stem.startswith(one)), "")
    return stem.removeprefix(known).strip()


def _read_chat(file: SourceFile, bundle: Bundle) -> Iterator[Item]:
    survey = _Survey()
    for _, line in read_file_lines(file):
        if (opening := read_opening(line)) is not None:
            survey.see_opening(opening)
    title = _find_title(file, bundle, survey)
    order, is_guess = survey.dates.settle()
    reader = ChatReader("whatsapp", Conversation(key=content_id("whatsapp", title), title=title))
    owner = survey.find_owner(title)
    for opening, text, message in _read_whole_messages(file):
        if opening is None:
            yield SkippedPart("half_message", message.where)
        elif _is_event(opening, survey):
            yield SkippedPart("chat_event", message.where)
        else:
            occurred = make_moment(opening.numbers, order, opening.clock)
            marks = {*message.flags, *(["date_order_guessed"] if is_guess else [])}
            marks |= set() if occurred else {"time_unreadable"}
            role = Role.USER if opening.sender == owner else Role.OTHER
            yield _read_body(
                reader, text, replace(message, author=opening.sender, role=role, occurred=occurred, flags=marks)
            )


def _read_whole_messages(file: SourceFile) -> Iterator[tuple[Opening | None, str, ChatMessage]]:
    """Each message with its later lines; lines before the first one, as in a file that was cut, have no opening."""
    lines = read_file_lines(file)
    opening: Opening | None = None
    kept: list[str] = []
    size, message = 0, None
    for number, line in lines:
        found = read_opening(line)
        if message is not None and (found is not None or size > _LONGEST):
            yield opening, "\n".join(kept), message
            message = None
        opening = found or opening
        if message is None:
            kept, size = [], 0
            message = ChatMessage(text="", where=f"{file.name}:{number}")
        text = line if found is None else found.text
        kept.append(text)
        size += len(text) + 1
        if lines.line_flags:
            message = replace(message, flags={*message.flags, *lines.line_flags})
    if message is not None and (opening is not None or "".join(kept).strip()):
        yield opening, "\n".join(kept), message


def _is_event(opening: Opening, survey: _Survey) -> bool:
    """Whether the program speaks: nobody does, or a name that never says anything of its own."""
    if opening.sender is None:
        return True
    if not opening.text.startswith(NOTICE):
        return False
    if is_notice_text(opening.text):
        return True
    is_sent = is_media(plain_words(opening.text)) or find_attached(opening.text) is not None
    return opening.sender not in survey.speakers and not is_sent


def _read_body(reader: ChatReader, text: str, message: ChatMessage) -> Record | SkippedPart:
    """The message without what the program put into its text."""
    text = text.rstrip("\n")
    plain = plain_words(text)
    is_edited = plain.endswith(">") and plain[plain.rfind("<") :] in words_of("edited")
    if is_edited:
        text = text[: text.rindex("<")].rstrip(NOTICE + " \n")
        plain = plain_words(text)
    if plain in words_of("deleted"):
        return SkippedPart("deleted_message", message.where)
    if text.startswith(NOTICE) and any(plain.startswith(word) for word in words_of("calls")) and "\n" not in plain:
        return SkippedPart("call", message.where)
    text, attachments = take_attachments(text)
    # The mark is the program's where it begins the text: a place, a poll.
    text = text.removeprefix(NOTICE)
    return reader.read_message(replace(message, text=text, edited=is_edited, attachments=attachments))
