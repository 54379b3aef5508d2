"""What every importer yields: records, skips and troubles. No I/O, no vault."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from core.importers.input.source import Bundle
from core.memory.write import ImportedMemory
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
class Part:
    """One of several sources that came in one import.

    Attributes:
        name: what lies where: the path of a file or, with a slash at the end, a folder; `notes/*.md` for files of one
            format among others.
        format: the importer that reads it; "" where nobody can.
    """

    name: str
    format: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Record(ImportedMemory):
    """One memory to be.

    Attributes:
        text: exactly as written, after the format's own removal of injected blocks. `import_items` holds it to
            `core.importers.dry_run`: no inline pictures, at most 1 MiB.
        status: ACTIVE; QUARANTINED for proposals; ARCHIVED for hidden items of another store.
        occurred: when it was said or happened, or its beginning was; None where the source does not tell.
        sections: where in the text another date begins, in order, none at 0; it is stored in linked parts there.
        part: which of several sources it is from; None where the import is one.
    """

    kind: Kind = Kind.EPISODE
    role: Role = Role.OTHER
    source: Source = Source.DOCUMENT
    status: Status = Status.ACTIVE
    conversation: Conversation | None = None
    sections: tuple[Section, ...] = ()
    part: Part | None = None


@dataclass(frozen=True, slots=True)
class SkippedPart:
    """Something left out on purpose.

    Attributes:
        reason: the word under which it is counted (`abandoned_branch`, `tool_traffic` …).
        where: file and line or item; never text.
        count: how many.
        part: as in `Record`.
    """

    reason: str
    where: str = ""
    count: int = 1
    part: Part | None = None


@dataclass(frozen=True, slots=True)
class UnreadablePart:
    """A part that could not be read; the rest goes on.

    Attributes:
        where: file and line or record number.
        message: what was wrong, in words; never text of the file.
        reason: the word under which it is counted.
        part: as in `Record`.
    """

    where: str
    message: str
    reason: str = "bad_line"
    part: Part | None = None


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
