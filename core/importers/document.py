"""A document of a person's, one record: a note, a page, an event, a card of an address book.

Known by its own id where it has one, and by its words: an edited document is another one, which comes in beside the
first. Must not do: know any format, or take a file's date for the time of what a document tells.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from core.importers.conversation import drop_empty
from core.importers.input.streams import mended_count
from core.importers.records import Record, SkippedPart
from core.importers.rows import text_digest
from core.types.values import Role, Source, When

_NOBODY = "source"


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A document as its file tells it.

    Attributes:
        form: the importer's name.
        text: its words.
        where: file and number, for messages.
        key: its own id in the source; None where it has none.
        title: what it is called.
        occurred: when it was written, or when what it tells happens.
        author: who wrote it, where that is told.
        tags: what it is filed under.
        attachments: names of what came with it.
        facts: what else is worth keeping, by name.
        flags: marks of its reading.
    """

    form: str
    text: str
    where: str
    key: str | None = None
    title: str | None = None
    occurred: When | None = None
    author: str | None = None
    tags: Iterable[str] = ()
    attachments: Iterable[str] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    flags: Iterable[str] = ()

    def to_item(self) -> Record | SkippedPart:
        """The record; the skip `media_only` for what has attachments and no words, `no_text` for nothing at all."""
        attachments = list(self.attachments)
        if not self.text.strip() and not (self.title or "").strip():
            return SkippedPart("media_only" if attachments else "no_text", self.where)
        text = self.text if self.text.strip() else str(self.title)
        key = self.key or f"{self.title or ''}\x1f{self.occurred.ms if self.occurred else ''}"
        digest = text_digest(f"{key}\x1f{text}") if self.key is None else text_digest(text)
        replaced = mended_count(self.text)
        return Record(
            identity=f"{self.form}:{self.key or ''}:{digest}",
            text=str(text),
            where=self.where,
            role=Role.SOURCE,
            source=Source.DOCUMENT,
            author=self.author or _NOBODY,
            occurred=self.occurred,
            tags=tuple(dict.fromkeys(tag for tag in self.tags if tag.strip())),
            ref=self.key,
            flags=tuple(sorted({*self.flags, "surrogates_replaced"} if replaced else set(self.flags))),
            extra=drop_empty({"title": self.title, "attachments": attachments, **self.facts}),
        )
