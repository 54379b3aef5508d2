"""What every importer yields: records, skips and troubles. No I/O, no vault."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from core.importers.input.source import Bundle
from core.types.values import Kind, Role, Source, Status, When


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation as its file tells it.

    Attributes:
        key: the conversation's id in its source, unique within the format.
        title: as written; None and "" both occur.
        started: its own time, else its earliest message's.
        extra: facts without a column (cwd, branches, archived …).
    """

    key: str
    title: str | None = None
    started: When | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Section:
    """A piece of a record's text that was said at another time than the piece before.

    Attributes:
        start: where it begins, in characters.
        occurred: when it was said; None where unknown.
    """

    start: int
    occurred: When | None


@dataclass(frozen=True, slots=True)
class Record:
    """One memory to be.

    Attributes:
        identity: stable across exports; the same identity is never stored twice (`chatgpt:<conversation>:<message>`).
            Where the source has no ids it is made of path or content hash and an ordinal among equals.
        text: exactly as written, after the format's own removal of injected blocks; never normalised. `import_items`
            holds it to `core.importers.records.limits`: no inline pictures, at most 1 MiB.
        where: for errors and provenance: file name inside the bundle and line or record number; never text.
        status: ACTIVE; QUARANTINED for proposals; ARCHIVED for hidden items of another store.
        position: place within the conversation, from 0; None outside conversations.
        occurred: when it was said or happened, or its beginning was; None where the source does not tell.
        sections: where in the text another date begins, in order, none at 0; it is stored in linked parts there.
        claim: a claim the row itself gives, in the shape of the command line's `--claim`.
        flags: content-free marks: surrogates_replaced, front_matter_broken, encoding_guessed, time_unreadable …
        extra: facts without a column (title, links, aliases, relation triples, original time text …); JSON-able.
    """

    identity: str
    text: str
    where: str
    kind: Kind = Kind.EPISODE
    role: Role = Role.OTHER
    source: Source = Source.DOCUMENT
    status: Status = Status.ACTIVE
    author: str | None = None
    conversation: Conversation | None = None
    position: int | None = None
    occurred: When | None = None
    sections: tuple[Section, ...] = ()
    category: str = "general"
    importance: float | None = None
    tags: tuple[str, ...] = ()
    space: str | None = None
    session: str | None = None
    ref: str | None = None
    claim: Mapping[str, Any] | None = None
    valid_from: When | None = None
    valid_to: When | None = None
    flags: tuple[str, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SkippedPart:
    """Something left out on purpose.

    Attributes:
        reason: the word under which it is counted (`abandoned_branch`, `tool_traffic` …).
        where: file and line or item; never text.
        count: how many.
    """

    reason: str
    where: str = ""
    count: int = 1


@dataclass(frozen=True, slots=True)
class UnreadablePart:
    """A part that could not be read; the rest goes on.

    Attributes:
        where: file and line or record number.
        message: what was wrong, in words; never text of the file.
        reason: the word under which it is counted.
    """

    where: str
    message: str
    reason: str = "bad_line"


Item = Record | SkippedPart | UnreadablePart


class Importer(Protocol):
    """One format."""

    @property
    def format(self) -> str:
        """The format's name in the command line's contract (`chatgpt`, `jsonl` …)."""
        ...

    def detects(self, bundle: Bundle) -> bool:
        """Whether the bundle is of this format, told by fields in its first 64 KiB, never by suffix alone."""
        ...

    def read(self, bundle: Bundle) -> Iterator[Item]:
        """Yield everything in file order, streaming.

        Raises:
            UserError: IMPORT_REFUSED when the file as a whole cannot be trusted (not JSON, NaN, too deep …).
        """
        ...
