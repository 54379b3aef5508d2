"""A message of a chat between people, and how it becomes a record: speaker, time, reply, forwarding, edit, attachments.

Whose words it is decides how far it is trusted: the person's own count as theirs, an assistant's as inference, anybody
else's as a document. Must not do: know any format, guess who the person is, or change a character of what was said.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from core.importers.conversation import drop_empty
from core.importers.input.streams import mended_count
from core.importers.records import Conversation, Record, SkippedPart
from core.importers.rows import Ordinals, text_digest
from core.types.values import Role, Source, When

_SOURCES = {Role.USER: Source.USER_IMPLICIT, Role.ASSISTANT: Source.INFERENCE}


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatMessage:
    """One message as its export tells it.

    Attributes:
        text: what was said, without what the program added.
        where: file and line or item, for messages.
        author: the name of who said it; None where nobody is named, as of a deleted account.
        role: whose words they are; `OTHER` unless the export says that the person or an assistant spoke.
        occurred: when it was said.
        ref: its own id in the export.
        attachments: names of files, or words for what was sent in place of a text.
        edited: the time of the last edit, or True where only the fact is known.
        forwarded_from: who said it first; True where only the fact is known.
        reply_to: the id of the message it answers.
        facts: what else is worth keeping, by name.
        flags: marks of its reading.
    """

    text: str
    where: str
    author: str | None = None
    role: Role = Role.OTHER
    occurred: When | None = None
    ref: str | None = None
    attachments: tuple[str, ...] = ()
    edited: str | bool | None = None
    forwarded_from: str | bool | None = None
    reply_to: str | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    flags: Iterable[str] = ()


class ChatReader:
    """Turns the messages of one chat, in order, into records."""

    def __init__(self, format_name: str, conversation: Conversation) -> None:
        self._format = format_name
        self._conversation = conversation
        self._ordinals = Ordinals()
        self._position = 0

    def read_message(self, message: ChatMessage) -> Record | SkippedPart:
        """Make the record of one message.

        Returns:
            The record; the skip `media_only` for an attachment without words, `no_text` for nothing at all.
        """
        if not message.text.strip():
            return SkippedPart("media_only" if message.attachments else "no_text", message.where)
        position, self._position = self._position, self._position + 1
        replaced = mended_count(message.text)
        flags = {*message.flags, "surrogates_replaced"} if replaced else set(message.flags)
        return Record(
            identity=self._make_identity(message),
            text=str(message.text),
            where=message.where,
            role=message.role,
            source=_SOURCES.get(message.role, Source.DOCUMENT),
            author=message.author,
            conversation=self._conversation,
            position=position,
            occurred=message.occurred,
            ref=message.ref,
            flags=tuple(sorted(flags)),
            extra=drop_empty(
                {
                    "attachments": list(message.attachments),
                    "edited": message.edited,
                    "forwarded_from": message.forwarded_from,
                    "reply_to": message.reply_to,
                    "replaced": replaced,
                    **message.facts,
                }
            ),
        )

    def _make_identity(self, message: ChatMessage) -> str:
        """By its own id; else by who said what when, and its number among equals."""
        key = f"{self._format}:{self._conversation.key}"
        if message.ref is not None:
            return f"{key}:{message.ref}"
        said = message.occurred.ms if message.occurred else ""
        digest = text_digest(f"{message.author or ''}\x1f{said}\x1f{message.text}")
        return f"{key}:{digest}:{self._ordinals.next_ordinal(digest)}"
