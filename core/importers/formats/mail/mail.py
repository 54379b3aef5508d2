"""Mail: an mbox, a Maildir, single messages, or a folder or zip of these; one message is one record.

The words are those of the person who wrote it: plain text, or else HTML as text, without quotations and signature.
What a program sent to many is a document, no talk. Must not do: open an attachment, load a picture, follow a link, or
take an address for the person's own that only another wrote to.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.importers.conversation import content_id, drop_empty
from core.importers.formats.mail.charset import FAULTS
from core.importers.formats.mail.head import MailHead, read_mail_head
from core.importers.formats.mail.mailbox import RawMail, mail_kind, read_mails
from core.importers.formats.mail.message import MailBody, parse_mail, read_mail_body
from core.importers.formats.mail.reply import mail_words
from core.importers.input.source import Bundle, SourceFile
from core.importers.input.streams import read_head
from core.importers.records import Conversation, Item, Record, SkippedPart, UnreadablePart
from core.types.values import Role, Source

_FORMAT = "mail"
_SNIFFED_FILES = 40
_ENDINGS = (".mbox", ".mbx", ".eml", ".emlx", "")
_MAILDIR = ("cur", "new")
_OWNERS_FROM = 4 << 20  # bytes of a mailbox in which the person's addresses are looked for
_MOST_OWNERS = 200
_DELIVERED = re.compile(rb"^Delivered-To:[ \t]*<?([^\s<>]{1,200}@[^\s<>]{1,200}?)>?[ \t]*\r?$", re.MULTILINE)
_LEFT_OUT = {"spam": "spam", "trash": "mail_in_trash", "drafts": "unsent_mail"}
_LETTERS = {"T": "mail_in_trash", "D": "unsent_mail"}  # of a Maildir


class MailImporter:
    """Reads mailboxes and messages."""

    @property
    def format(self) -> str:
        """`mail`."""
        return _FORMAT

    def detects(self, bundle: Bundle) -> bool:
        """Whether a file begins as a mailbox or a message does; of many files at least half."""
        files = [file for file in _visible_mail_files(bundle) if file.size][:_SNIFFED_FILES]
        mails = [file for file in files if _kind_of_mail(file, bundle)]
        return bool(mails) and 2 * len(mails) >= len(files)

    def read(self, bundle: Bundle) -> Iterator[Item]:
        """Yield messages file by file in order; see `records.Importer`."""
        others = 0
        owners: set[str] = set()
        for file in _visible_mail_files(bundle):
            kind = _kind_of_mail(file, bundle)
            if kind is None:
                others += 1
                continue
            owners |= _find_owners(file) if len(owners) < _MOST_OWNERS else set()
            for raw in read_mails(file, kind):
                yield _read_mail(raw, owners)
        if others:
            yield SkippedPart("not_mail", bundle.label, others)


def _visible_mail_files(bundle: Bundle) -> list[SourceFile]:
    """Files whose own name is not hidden; a Maildir's folders begin with a dot."""
    if bundle.kind == "file":
        return list(bundle.files)
    files = [one for one in bundle.files if not one.path.name.startswith(".") and "__MACOSX" not in one.path.parts]
    return [one for one in files if "tmp" not in one.path.parts[-2:-1]]


def _kind_of_mail(file: SourceFile, bundle: Bundle) -> str | None:
    named = file.path.suffix.lower() in _ENDINGS or file.path.parent.name in _MAILDIR
    return mail_kind(file) if file.size and (named or bundle.kind == "file") else None


def _find_owners(file: SourceFile) -> set[str]:
    """The addresses to which the mailbox's messages were delivered."""
    found = _DELIVERED.findall(read_head(file, _OWNERS_FROM))
    return {one.decode("ascii", "replace").casefold() for one in found[:_MOST_OWNERS]}


def _read_mail(raw: RawMail, owners: set[str]) -> Item:
    try:
        message = parse_mail(raw.content)
        head = read_mail_head(message)
        if (reason := _find_reason(raw, head)) is not None:
            return SkippedPart(reason, raw.where)
        body = read_mail_body(message, is_forwarded=head.is_forwarded)
    except FAULTS:
        return UnreadablePart(raw.where, "this message cannot be taken apart", "bad_message")
    return _make_mail_record(raw, head, body, owners)


def _find_reason(raw: RawMail, head: MailHead) -> str | None:
    """Why a message is left out: it lies among spam or in the trash, or was never sent."""
    if (letter := next((one for one in _LETTERS if one in raw.flags), None)) is not None:
        return _LETTERS[letter]
    filed = {raw.folder, *head.labels}
    return next((reason for name, reason in _LEFT_OUT.items() if filed & mail_words(name)), None)


def _make_mail_record(raw: RawMail, head: MailHead, body: MailBody, owners: set[str]) -> Item:
    text = body.text
    if not head.is_reply and head.subject and not text.casefold().startswith(head.subject.casefold()):
        # The subject is the first thing said, and often the only one.
        text = f"{head.subject}\n\n{text}" if text.strip() else head.subject
    if not text.strip():
        return SkippedPart("quoted_only" if body.was_quoted else "no_text", raw.where)
    is_own = bool({raw.folder, *head.labels} & mail_words("sent")) or head.address in owners
    role = Role.USER if is_own else Role.SOURCE if head.is_bulk else Role.OTHER
    marks = body.flags | ({"message_cut"} if raw.is_cut else set()) | (set() if head.sent else {"time_unreadable"})
    return Record(
        identity=f"{_FORMAT}:{head.message_id or content_id(head.address, str(head.sent and head.sent.ms), text)}",
        text=text,
        where=raw.where,
        role=role,
        source=Source.USER_IMPLICIT if is_own else Source.DOCUMENT,
        author=head.name,
        conversation=None if role is Role.SOURCE else _make_thread(head),
        occurred=head.sent,
        ref=head.message_id,
        flags=tuple(sorted(marks)),
        extra=drop_empty(
            {
                "subject": head.subject,
                "title": head.subject if role is Role.SOURCE else None,
                "address": head.address,
                "to": list(head.recipients),
                "labels": list(head.labels),
                "attachments": body.attachments,
                "forwarded_from": head.is_forwarded,
            }
        ),
    )


def _make_thread(head: MailHead) -> Conversation:
    key = head.thread or content_id(head.subject)
    return Conversation(key=key, title=head.subject or None, started=None if head.is_reply else head.sent)
