"""A mail's words: the message taken apart by the standard's parser, its text without quotations and signature.

Must not do: decode what is attached, or go on in a message nested like a bomb.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from email.message import Message
from email.parser import BytesParser
from email.policy import compat32

from core.importers.formats.mail.charset import decode_bytes, decode_field, mend_field
from core.importers.formats.mail.reply import cut_reply
from core.importers.html_text import read_html_words

_PARSER = BytesParser(policy=compat32)
_MOST_PARTS, _DEEPEST = 200, 20
_ESCAPED_FROM = re.compile(r"^>(>*From )", re.MULTILINE)
_BASE64 = re.compile(rb"(?:\r?\n[A-Za-z0-9+/]{40,100}){100,}+")
_TEXTUAL = re.compile(rb"content-type:\s*(?:text|multipart|message)/", re.IGNORECASE)
_PART_HEAD = 4_096  # bytes in which a part names its kind


@dataclass(slots=True)
class MailBody:
    """What a message says: its words, the names of what came with it, and marks of its reading."""

    text: str = ""
    was_quoted: bool = False
    attachments: list[str] = field(default_factory=list)
    flags: set[str] = field(default_factory=set)


def parse_mail(content: bytes) -> Message:
    """Take a message apart.

    Args:
        content: its bytes.

    Raises:
        ValueError: it is nested like no message that a person sent.
    """
    if content.count(b"boundary=") > _MOST_PARTS:
        raise ValueError
    return _PARSER.parsebytes(_without_attached(content))


def _without_attached(content: bytes) -> bytes:
    """A message without the long runs of base64 that are no text, which the parser would go through line by line."""

    def cut_run(found: re.Match[bytes]) -> bytes:
        before = content[max(0, found.start() - _PART_HEAD) : found.start()]
        head = before[before.rfind(b"\n--") :] if b"\n--" in before else b""
        is_attached = b"content-type:" in head.lower() and _TEXTUAL.search(head) is None
        return b"" if is_attached else found[0]

    return _BASE64.sub(cut_run, content)


def read_mail_body(message: Message, *, is_forwarded: bool) -> MailBody:
    """The words of a message: plain text where there is some, else HTML as text, cut as `cut_reply` does.

    Args:
        is_forwarded: whether it passes on another, whose words then stay.
    """
    body = MailBody()
    texts = list(_find_texts(message, body, is_forwarded=is_forwarded, depth=0))
    whole = "\n\n".join(text for text in texts if text.strip())
    body.text = cut_reply(_ESCAPED_FROM.sub(r"\1", whole), is_forwarded=is_forwarded)
    body.was_quoted = bool(whole.strip()) and not body.text.strip()
    return body


def _find_texts(part: Message, body: MailBody, *, is_forwarded: bool, depth: int) -> Iterator[str]:
    kind = part.get_content_type()
    payload = part.get_payload()
    if isinstance(payload, list) and part.get_content_maintype() == "multipart" and depth < _DEEPEST:
        inner = [one for one in payload if isinstance(one, Message)]
        if kind == "multipart/alternative":
            yield from _read_best(inner, body, is_forwarded=is_forwarded, depth=depth)
            return
        for one in inner:
            yield from _find_texts(one, body, is_forwarded=is_forwarded, depth=depth + 1)
        return
    name = part.get_filename()
    if kind in ("text/plain", "text/html") and part.get_content_disposition() != "attachment" and not name:
        raw = part.get_payload(decode=True)
        text, mark = decode_bytes(raw if isinstance(raw, bytes) else b"", part.get_content_charset())
        body.flags |= {mark} if mark else set()
        yield read_html_words(text, quotes=is_forwarded) if kind == "text/html" else text
    elif len(body.attachments) < _MOST_PARTS:
        body.attachments.append(decode_field(mend_field(name or kind)))


def _read_best(parts: list[Message], body: MailBody, *, is_forwarded: bool, depth: int) -> Iterator[str]:
    """Of several forms of one text the plain one, unless it is empty."""
    forms = sorted(parts, key=lambda one: one.get_content_type() != "text/plain")
    for one in forms:
        found = list(_find_texts(one, body, is_forwarded=is_forwarded, depth=depth + 1))
        if any(text.strip() for text in found):
            yield from found
            return
