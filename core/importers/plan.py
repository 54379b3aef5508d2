"""What an import would bring, as a person looks it over before it is stored: by conversation, and by source.

Must not do: keep more of a text than how it begins.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from core.importers.records import Item, Part, Record, SkippedPart, UnreadablePart
from core.types.replies import ConversationPlan, SourcePlan
from core.types.requests import OUTSIDE
from core.types.values import Role

PLANNED = 5_000
"""Conversations, and sources, that a plan lists one by one; the others are counted."""

MOST_COUNTED = 200_000

_OPENING = 160  # characters by which a person knows a conversation without a title
_SPEAKERS = 4  # that are kept; the window names three
_SAMPLES, _SAMPLE = 3, 120  # how many beginnings of a source are kept, and how much of each
_TELLING = 24  # characters from which a beginning tells something; shorter ones only where there is no other


class Span:
    """The first and the last of some moments.

    Attributes:
        first: epoch ms; None where none is known.
        last: likewise.
    """

    def __init__(self) -> None:
        self.first: int | None = None
        self.last: int | None = None

    def add_all(self, times: Iterable[int]) -> None:
        """Take more of them."""
        for ms in times:
            self.first = ms if self.first is None else min(self.first, ms)
            self.last = ms if self.last is None else max(self.last, ms)


@dataclass
class _Planned:
    """What is known of one conversation so far."""

    title: str
    branches: int
    times: Span
    opening: str = ""
    source: str = ""
    speakers: dict[str, None] = field(default_factory=dict)
    messages: int = 0
    new: int = 0

    def see_record(self, record: Record) -> None:
        """Take one record of it."""
        self.messages += 1
        self.times.add_all(_known_times(record))
        self.opening = self.opening or record.text[:_OPENING].strip()
        self.source = self.source or (record.part.name if record.part is not None else "")
        if record.author and record.role is not Role.ASSISTANT and len(self.speakers) < _SPEAKERS:
            self.speakers[record.author] = None


@dataclass
class _PlannedSource:
    """What is known of one source so far."""

    records: int = 0
    new: int = 0
    times: Span = field(default_factory=Span)
    samples: list[str] = field(default_factory=list)
    left_out: int = 0
    problem: str = ""

    def see_record(self, record: Record) -> None:
        """Take one record of it."""
        self.records += 1
        self.times.add_all(_known_times(record))
        if len(self.samples) == _SAMPLES and all(len(one) >= _TELLING for one in self.samples):
            return
        words = record.text[: 4 * _SAMPLE].split()
        beginning = " ".join(words)[:_SAMPLE].rstrip()
        if beginning and len(self.samples) < _SAMPLES:
            self.samples.append(beginning)
        elif len(beginning) >= _TELLING:
            self._replace_short(beginning)

    def _replace_short(self, beginning: str) -> None:
        """Let a beginning that tells more take the place of one that tells little."""
        at = next((nr for nr, one in enumerate(self.samples) if len(one) < _TELLING), None)
        if at is not None and beginning not in self.samples:
            self.samples[at] = beginning

    def see_omission(self, item: SkippedPart | UnreadablePart) -> None:
        """Take what is left out of it, and why it cannot be read."""
        self.left_out += item.count if isinstance(item, SkippedPart) else 1
        if isinstance(item, UnreadablePart) and item.reason == "refused_file":
            self.problem = item.message


class ImportPlan:
    """Collects what an import would bring, conversation by conversation and source by source.

    Args:
        format_name: of the importer.
        label: what the person named; the name of the only source where there are not several.
    """

    def __init__(self, format_name: str = "", label: str = "") -> None:
        self._whole = Part(label, format_name)
        self._rows: dict[str, _Planned] = {}
        self._more: set[str] = set()
        self._sources: dict[Part, _PlannedSource] = {}
        self._sources_more: set[Part] = set()

    def see_item(self, item: Item) -> None:
        """Take one item of the file.

        Args:
            item: as the importer read it.
        """
        source = self._source_of(item.part or self._whole)
        if isinstance(item, Record):
            self._see_record(item)
            if source is not None:
                source.see_record(item)
        elif source is not None:
            source.see_omission(item)

    def _see_record(self, record: Record) -> None:
        key = item_key(record)
        row = self._rows.get(key)
        if row is None:
            if len(self._rows) >= PLANNED and key != OUTSIDE:
                self._more.add(key)
                return
            row = self._rows[key] = _planned_conversation(record)
        row.see_record(record)

    def _source_of(self, part: Part) -> _PlannedSource | None:
        source = self._sources.get(part)
        if source is None and len(self._sources) < PLANNED:
            source = self._sources[part] = _PlannedSource()
        elif source is None and len(self._sources_more) < MOST_COUNTED:
            self._sources_more.add(part)
        return source

    def would_store(self, record: Record) -> None:
        """Take down that a record, which was seen, is not in the vault yet."""
        row = self._rows.get(item_key(record))
        if row is not None:
            row.new += 1
        source = self._sources.get(record.part or self._whole)
        if source is not None:
            source.new += 1

    def make_result(self) -> tuple[tuple[ConversationPlan, ...], int]:
        """The rows in the order of the file, and how many conversations there are beyond them."""
        rows = tuple(
            ConversationPlan(
                key,
                row.title,
                row.messages,
                row.new,
                row.branches,
                row.times.first,
                row.times.last,
                speakers=tuple(row.speakers),
                opening=row.opening,
                source=row.source,
            )
            for key, row in self._rows.items()
        )
        return rows, len(self._more)

    def list_sources(self) -> tuple[tuple[SourcePlan, ...], int]:
        """The sources in the order of the file, and how many there are beyond them."""
        rows = tuple(
            SourcePlan(
                part.name,
                part.format,
                row.records,
                row.new,
                row.times.first,
                row.times.last,
                samples=tuple(row.samples),
                left_out=row.left_out,
                problem=row.problem,
            )
            for part, row in self._sources.items()
        )
        return rows, len(self._sources_more)


def item_key(record: Record) -> str:
    """The conversation a record belongs to, as a choice names it; `OUTSIDE` where it belongs to none."""
    return OUTSIDE if record.conversation is None else record.conversation.key


def _planned_conversation(record: Record) -> _Planned:
    conversation = record.conversation
    if conversation is None:
        return _Planned("", 0, Span())
    leaves = conversation.extra.get("branches")
    return _Planned(conversation.title or "", max(0, leaves - 1) if isinstance(leaves, int) else 0, Span())


def _known_times(record: Record) -> list[int]:
    """When a record and the sections of it were said, epoch ms, where that is known."""
    moments = (record.occurred, *(section.occurred for section in record.sections))
    return [moment.ms for moment in moments if moment is not None]
