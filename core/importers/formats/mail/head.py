"""What the head of a mail says: who wrote to whom, when, about what, in which thread, and whether a program did.

Must not do: read a message's words, or raise at a field that is broken.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from email.message import Message
from email.utils import getaddresses, parseaddr

from core.importers.formats.mail.charset import decode_field, mend_field
from core.importers.formats.mail.reply import mail_words
from core.text.times import parse_time
from core.types.values import When

_MOST_ADDRESSES, _MOST_FIELD = 50, 16_384
_MESSAGE_ID = re.compile(r"<([^<>\s]{1,500})>")
_COMMENT = re.compile(r"\([^()]{0,200}\)")
_FORWARD = re.compile(r"\s*(?:fwd?|wg|tr|rv|enc|i|vb|doorst|vs|vl)\s*:", re.IGNORECASE)
_PREFIX = re.compile(r"\s*([^\W\d_]{1,8})(?:\s?\[\d+\])?\s?[:：]\s*")


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


def read_mail_head(message: Message) -> MailHead:
    """What the head of a message says; a field that is broken says nothing."""
    fields = _fields_of(message)
    subject, is_reply = _strip_prefixes(decode_field(fields.get("subject", "")))
    name, address = parseaddr(decode_field(fields.get("from", "") or fields.get("sender", "")))
    own, replied = (_MESSAGE_ID.findall(fields.get(one, "")) for one in ("message-id", "in-reply-to"))
    references = _MESSAGE_ID.findall(fields.get("references", ""))
    everybody = [decode_field(fields[one]) for one in ("to", "cc") if one in fields]
    labels = [label.strip(" \"'").casefold() for label in decode_field(fields.get("x-gmail-labels", "")).split(",")]
    return MailHead(
        message_id=own[0] if own else None,
        thread=fields.get("x-gm-thrid", "").strip() or next(iter([*references, *replied, *own]), None),
        subject=subject,
        is_reply=is_reply or bool(references or replied),
        is_forwarded=_FORWARD.match(decode_field(fields.get("subject", ""))) is not None,
        is_bulk=_is_bulk(fields),
        name=name.strip() or address or None,
        address=address.casefold(),
        recipients=tuple(one or two for one, two in getaddresses(everybody)[:_MOST_ADDRESSES] if one or two),
        labels=tuple(label for label in labels if label),
        sent=_find_time(fields),
    )


def _fields_of(message: Message) -> dict[str, str]:
    """The fields of a head, names in small letters; of several the first, as far as it is no longer than any."""
    found: dict[str, str] = {}
    for name, value in message.raw_items():
        if name.lower() not in found:
            found[name.lower()] = mend_field(str(value)[:_MOST_FIELD])
    return found


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
