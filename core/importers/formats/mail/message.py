"""A mail's head and words, as the standard's parser gives them, with the repairs that real mail needs.

Must not do: decode what is attached, trust a charset that a message names, or go on in a message nested like a bomb.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from email.errors import MessageError
from email.header import decode_header
from email.message import Message
from email.parser import BytesParser
from email.policy import compat32
from email.utils import getaddresses, parseaddr

from core.importers.formats.mail.reply import cut_reply, mail_words
from core.importers.html_text import read_html_words
from core.text.times import parse_time
from core.types.values import When

FAULTS = (MessageError, ValueError, LookupError, TypeError, AttributeError, AssertionError, RecursionError)
"""What the standard's parser raises at messages that are none."""

_PARSER = BytesParser(policy=compat32)
_MOST_PARTS, _DEEPEST = 200, 20
_MOST_ADDRESSES, _MOST_FIELD = 50, 16_384
_MESSAGE_ID = re.compile(r"<([^<>\s]{1,500})>")
_COMMENT = re.compile(r"\([^()]{0,200}\)")
_FORWARD = re.compile(r"\s*(?:fwd?|wg|tr|rv|enc|i|vb|doorst|vs|vl)\s*:", re.IGNORECASE)
_PREFIX = re.compile(r"\s*([^\W\d_]{1,8})(?:\s?\[\d+\])?\s?[:：]\s*")
_ESCAPED_FROM = re.compile(r"^>(>*From )", re.MULTILINE)
_BASE64 = re.compile(rb"(?:\r?\n[A-Za-z0-9+/]{40,100}){100,}+")
_TEXTUAL = re.compile(rb"content-type:\s*(?:text|multipart|message)/", re.IGNORECASE)
_PART_HEAD = 4_096  # bytes in which a part names its kind
_NOT_CHARSETS = frozenset({"idna", "punycode", "unicode_escape", "raw_unicode_escape", "undefined", "mbcs", "oem"})


@dataclass(frozen=True, slots=True)
class MailHead:
    """What the head of a message says.

    Attributes:
        message_id: the message's own id.
        thread: the id of the message that the thread began with, as far as it is told.
        subject: without the marks of replies and forwards.
        is_reply: whether it answers another.
        is_forwarded: whether it passes on another.
        is_bulk: whether a program sent it to many.
        name: of the sender; the address where there is none.
        address: of the sender, small letters.
        recipients: names or addresses.
        labels: what the mailbox filed it under, small letters.
        sent: when it was sent.
    """

    message_id: str | None
    thread: str | None
    subject: str
    is_reply: bool
    is_forwarded: bool
    is_bulk: bool
    name: str | None
    address: str
    recipients: tuple[str, ...]
    labels: tuple[str, ...]
    sent: When | None


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


def _fields_of(message: Message) -> dict[str, str]:
    """The fields of a head, names in small letters; of several the first, as far as it is no longer than any."""
    found: dict[str, str] = {}
    for name, value in message.raw_items():
        if name.lower() not in found:
            found[name.lower()] = _mend_field(str(value)[:_MOST_FIELD])
    return found


def _mend_field(value: str) -> str:
    """A field in one line, bytes beyond ASCII as UTF-8 or Windows-1252."""
    return _decode_bytes(value.encode("utf-8", "surrogateescape"), None)[0].replace("\r", "").replace("\n", "").strip()


def _decode_field(value: str) -> str:
    """A field as text: words in it may be written in a charset of their own."""
    if "=?" not in value:
        return value
    try:
        parts = decode_header(value)
    except FAULTS:
        return value
    texts = (part if isinstance(part, str) else _decode_bytes(part, charset)[0] for part, charset in parts)
    return "".join(texts).strip()


def _decode_bytes(raw: bytes, charset: str | None) -> tuple[str, str | None]:
    """Bytes as text, and the mark of how: by the charset they name, else UTF-8, else Windows-1252."""
    named = (charset or "utf-8").strip().strip("'\"").lower().replace("-", "_")
    for candidate, mark in ((named, None), ("utf_8", "encoding_guessed"), ("cp1252", "encoding_guessed")):
        if candidate in _NOT_CHARSETS or (candidate == "us_ascii" and not raw.isascii()):
            continue
        try:
            return raw.decode(candidate), mark
        except (UnicodeError, LookupError, ValueError):
            continue
    return raw.decode("utf-8", "replace"), "encoding_replaced"


def read_mail_head(message: Message) -> MailHead:
    """What the head of a message says; a field that is broken says nothing."""
    fields = _fields_of(message)
    subject, is_reply = _strip_prefixes(_decode_field(fields.get("subject", "")))
    name, address = parseaddr(_decode_field(fields.get("from", "") or fields.get("sender", "")))
    own, replied = (_MESSAGE_ID.findall(fields.get(one, "")) for one in ("message-id", "in-reply-to"))
    references = _MESSAGE_ID.findall(fields.get("references", ""))
    everybody = [_decode_field(fields[one]) for one in ("to", "cc") if one in fields]
    labels = [label.strip(" \"'").casefold() for label in _decode_field(fields.get("x-gmail-labels", "")).split(",")]
    return MailHead(
        message_id=own[0] if own else None,
        thread=fields.get("x-gm-thrid", "").strip() or next(iter([*references, *replied, *own]), None),
        subject=subject,
        is_reply=is_reply or bool(references or replied),
        is_forwarded=_FORWARD.match(_decode_field(fields.get("subject", ""))) is not None,
        is_bulk=_is_bulk(fields),
        name=name.strip() or address or None,
        address=address.casefold(),
        recipients=tuple(one or two for one, two in getaddresses(everybody)[:_MOST_ADDRESSES] if one or two),
        labels=tuple(label for label in labels if label),
        sent=_find_time(fields),
    )


def _strip_prefixes(subject: str) -> tuple[str, bool]:
    """The subject itself, and whether a mark of a reply stood before it."""
    is_reply = False
    while (found := _PREFIX.match(subject)) is not None:
        is_mark = found[1].casefold() in mail_words("replies")
        if not is_mark and _FORWARD.match(subject) is None:
            break
        is_reply = is_reply or is_mark
        subject = subject[found.end() :]
    return subject.strip(), is_reply


def _is_bulk(fields: dict[str, str]) -> bool:
    if "list-post" in fields:
        return False
    automatic = fields.get("auto-submitted", "no").strip().lower()
    return (
        "list-unsubscribe" in fields
        or fields.get("precedence", "").strip().lower() in ("bulk", "junk")
        or not automatic.startswith("no")
    )


def _find_time(fields: dict[str, str]) -> When | None:
    """When it was sent; where the sender's program did not say so readably, when it arrived."""
    written = parse_time(_COMMENT.sub("", fields.get("date", "")).strip())
    return written or parse_time(_COMMENT.sub("", fields.get("received", "").rpartition(";")[2]).strip())


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
        text, mark = _decode_bytes(raw if isinstance(raw, bytes) else b"", part.get_content_charset())
        body.flags |= {mark} if mark else set()
        yield read_html_words(text, quotes=is_forwarded) if kind == "text/html" else text
    elif len(body.attachments) < _MOST_PARTS:
        body.attachments.append(_decode_field(_mend_field(name or kind)))


def _read_best(parts: list[Message], body: MailBody, *, is_forwarded: bool, depth: int) -> Iterator[str]:
    """Of several forms of one text the plain one, unless it is empty."""
    forms = sorted(parts, key=lambda one: one.get_content_type() != "text/plain")
    for one in forms:
        found = list(_find_texts(one, body, is_forwarded=is_forwarded, depth=depth + 1))
        if any(text.strip() for text in found):
            yield from found
            return
