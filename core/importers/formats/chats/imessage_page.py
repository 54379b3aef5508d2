"""The pages of HTML that the exporter of iMessage writes, as messages.

Must not do: keep the copy of a reply that a page shows under what it answers, or what only styles the page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field

from core.importers.chat import ChatMessage
from core.importers.html_text import HtmlToken, html_tokens
from core.importers.input.source import SourceFile
from core.importers.input.streams import read_head_text
from core.importers.input.strict_json import decode_ladder
from core.importers.records import SkippedPart
from core.text.times import parse_time
from core.types.values import Role, When

_MESSAGE = re.compile(
    r"<div class=\"message\"[^>]{0,200}>\s*<div class=\"(?:sent|received)[^\"]{0,40}\">\s*<p>"
    r"\s*<span class=\"timestamp\">"
)
_BEGINS = '<div class="message"'
_CUT = re.compile(rb"(?=<div class=\"(?:message|announcement)\")")
_LONGEST = 8 << 20
_CHUNK = 1 << 18
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
"""The words in which it writes a date, whatever the language of the Mac."""

_MOMENT = re.compile(rf"({'|'.join(MONTHS)}) (\d{{1,2}}), (\d{{4}}) (\d{{1,2}}):(\d{{2}}):(\d{{2}}) ([AP]M)$")
_GUID = re.compile(r"message-guid=([\w:/-]{1,200})")
_FIELDS = ("timestamp", "sender", "edited", "bubble")
_LEFT_OUT = ("tapbacks", "replies", "reply_context", "reply_anchor", "expressive", "deleted", "shareplay")
_VOID = frozenset(
    {"br", "hr", "img", "input", "link", "meta", "source", "col", "area", "base", "embed", "wbr", "track"}
)


def is_page(file: SourceFile) -> bool:
    """Whether a file holds messages as the exporter marks them."""
    return _MESSAGE.search(read_head_text(file)) is not None


@dataclass(slots=True)
class _Page:
    """One message of the page while its markup is read."""

    stack: list[tuple[str, str]] = field(default_factory=list)
    words: dict[str, list[str]] = field(default_factory=lambda: {name: [] for name in _FIELDS})
    attachments: list[str] = field(default_factory=list)
    side: str = ""
    guid: str | None = None
    is_reply: bool = False

    def take(self, token: HtmlToken) -> None:
        """Take the next piece of markup."""
        if not token.tag:
            self._take_words(token.words)
        elif token.is_end:
            self._close(token.tag)
        else:
            told = token.attributes()
            self._see(token.tag, told)
            if token.tag not in _VOID:
                self.stack.append((token.tag, told.get("class", "")))

    def _close(self, tag: str) -> None:
        while self.stack:
            if self.stack.pop()[0] == tag:
                return

    def _is_left_out(self) -> bool:
        return any(name in _LEFT_OUT for _, names in self.stack for name in names.split())

    def _see(self, tag: str, told: dict[str, str]) -> None:
        names = told.get("class", "").split()
        if self._is_left_out():
            return
        if not self.side and tag == "div" and names[:1] in (["sent"], ["received"]):
            self.side = names[0]
        if self.guid is None and (found := _GUID.search(told.get("href", ""))):
            self.guid = found[1]
        self.is_reply = self.is_reply or "reply_context" in names
        source = told.get("src") or (told.get("href", "") if "attachment" in told.get("href", "") else "")
        if source:
            self.attachments.append(re.split(r"[/\\]", source)[-1])
        if tag in ("br", "tr"):
            self._take_words("\n")

    def _take_words(self, words: str) -> None:
        if self._is_left_out():
            return
        for name in _FIELDS:
            if any(name in names.split() for _, names in self.stack):
                self.words[name].append(words)
                return

    def said(self, name: str) -> str:
        """The words of one field."""
        return "".join(self.words[name]).strip()


def read_page_messages(file: SourceFile) -> Iterator[ChatMessage | SkippedPart]:
    """The messages of a page in order; a page of any size, message by message."""
    pieces = (piece for piece in _split_page(file) if piece.startswith(b"<div class="))
    for number, piece in enumerate(pieces, 1):
        text, flags = decode_ladder(piece)
        if not text.startswith(_BEGINS):
            yield SkippedPart("chat_event", f"{file.name}:{number}")
        else:
            page = _Page()
            for token in html_tokens(text):
                page.take(token)
            yield _make_message(page, f"{file.name}:{number}", flags)


def _split_page(file: SourceFile) -> Iterator[bytes]:
    """What stands before each message and announcement, then each of these.

    A reply is there twice, once within what it answers; both have one id, so that it comes in once.
    """
    rest = b""
    with closing(file.open()) as stream:
        while chunk := stream.read(_CHUNK):
            *whole, rest = _CUT.split(rest + chunk)
            yield from whole
            if len(rest) > _LONGEST:
                yield rest[:_LONGEST]
                rest = b""
    yield rest


def _make_message(page: _Page, where: str, flags: frozenset[str]) -> ChatMessage:
    occurred = moment_of(page.said("timestamp").partition("(")[0])
    is_owner = page.side == "sent"
    versions = [line.strip() for line in page.said("edited").split("\n") if line.strip()]
    return ChatMessage(
        # Of a message that was edited the last version stands last.
        text=versions[-1] if versions else "\n".join(line.strip() for line in page.said("bubble").split("\n")),
        where=where,
        author=None if is_owner else page.said("sender") or None,
        role=Role.USER if is_owner else Role.OTHER,
        occurred=occurred,
        ref=page.guid,
        attachments=tuple(page.attachments),
        edited=True if versions else None,
        facts={"is_reply": page.is_reply},
        flags=flags if occurred else {*flags, "time_unreadable"},
    )


def moment_of(written: str) -> When | None:
    """When a message was sent, as the exporter writes it: `May 17, 2022  5:29:42 PM`; it names no zone."""
    found = _MOMENT.match(" ".join(written.split()))
    if found is None:
        return None
    hour = int(found[4]) % 12 + (12 if found[7] == "PM" else 0)
    month = MONTHS.index(found[1]) + 1
    return parse_time(f"{found[3]}-{month:02d}-{int(found[2]):02d}T{hour:02d}:{found[5]}:{found[6]}")
