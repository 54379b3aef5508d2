"""Reads an import to its end without writing anything and counts what it would bring.

The same steps serve the import itself: `import_items` is what it stores, `DryRunTally` what it reports. Must not do:
keep texts, write, reorder.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from core.errors import CancelledError
from core.importers.input.source import Bundle
from core.importers.records.conversation_parts import bundle_skips
from core.importers.records.limits import apply_limits
from core.importers.records.records import Importer, Item, Record, SkippedPart, UnreadablePart
from core.types.replies import ConversationPlan
from core.types.values import Role, Status

TROUBLES_KEPT = 1_000
PLANNED = 5_000
"""Conversations that a plan lists one by one; the others are counted."""

OUTSIDE = ""
"""The key of records outside conversations in a plan and in a choice."""

_CHECK_EVERY = 200
_MESSAGE_ROLES = {Role.USER: "user", Role.ASSISTANT: "assistant"}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class DryRunReport:
    """What an import would bring.

    Attributes:
        format: the importer's name.
        conversations: how many get at least one record other than a proposal.
        messages: `user`, `assistant`, `other`: records that are no proposals; those outside conversations are other.
        records: all of them, proposals included.
        proposals: records that would wait for approval.
        skipped: reason to count.
        troubles: the first 1,000 as `where` and `message`.
        trouble_count: all of them.
        trouble_reasons: reason to count.
        earliest: ISO 8601, UTC, milliseconds, of the earliest message; of the earliest record, or section of one,
            where there are no messages; None where no time is known.
        latest: likewise.
        working_folders: folders that sessions ran in, in order.
    """

    format: str
    conversations: int
    messages: Mapping[str, int]
    records: int
    proposals: int
    skipped: Mapping[str, int]
    troubles: tuple[Mapping[str, str], ...]
    trouble_count: int
    trouble_reasons: Mapping[str, int]
    earliest: str | None
    latest: str | None
    working_folders: tuple[str, ...]


@dataclass
class _Planned:
    """What is known of one conversation so far."""

    title: str
    branches: int
    times: _Span
    messages: int = 0
    new: int = 0


class ImportPlan:
    """Collects what an import would bring, conversation by conversation."""

    def __init__(self) -> None:
        self._rows: dict[str, _Planned] = {}
        self._more: set[str] = set()

    def see(self, record: Record) -> None:
        """Take one record of the file.

        Args:
            record: as the importer read it.
        """
        key = item_key(record)
        row = self._rows.get(key)
        if row is None:
            if len(self._rows) >= PLANNED and key != OUTSIDE:
                self._more.add(key)
                return
            row = self._rows[key] = _planned(record)
        row.messages += 1
        row.times.add_all(_times(record))

    def would_store(self, record: Record) -> None:
        """Take down that a record, which was seen, is not in the vault yet.

        Args:
            record: the same.
        """
        row = self._rows.get(item_key(record))
        if row is not None:
            row.new += 1

    def result(self) -> tuple[tuple[ConversationPlan, ...], int]:
        """The rows in the order of the file, and how many conversations there are beyond them."""
        rows = tuple(
            ConversationPlan(key, row.title, row.messages, row.new, row.branches, row.times.first, row.times.last)
            for key, row in self._rows.items()
        )
        return rows, len(self._more)


def item_key(record: Record) -> str:
    """The conversation a record belongs to, as a choice names it; `OUTSIDE` where it belongs to none."""
    return OUTSIDE if record.conversation is None else record.conversation.key


def _planned(record: Record) -> _Planned:
    conversation = record.conversation
    if conversation is None:
        return _Planned("", 0, _Span())
    leaves = conversation.extra.get("branches")
    return _Planned(conversation.title or "", max(0, leaves - 1) if isinstance(leaves, int) else 0, _Span())


class DryRunTally:
    """Counts items one by one."""

    def __init__(self, format_name: str) -> None:
        self._format = format_name
        self._conversations: set[str] = set()
        self._messages: Counter[str] = Counter(user=0, assistant=0, other=0)
        self._records = 0
        self._proposals = 0
        self._skipped: Counter[str] = Counter()
        self._troubles: list[Mapping[str, str]] = []
        self._trouble_reasons: Counter[str] = Counter()
        self._message_times = _Span()
        self._record_times = _Span()
        self._folders: dict[str, None] = {}

    def add(self, item: Item) -> None:
        """Count one item.

        Args:
            item: what `import_items` gave.
        """
        if isinstance(item, SkippedPart):
            self._skipped[item.reason] += item.count
        elif isinstance(item, UnreadablePart):
            self._trouble_reasons[item.reason] += 1
            if len(self._troubles) < TROUBLES_KEPT:
                self._troubles.append({"where": item.where, "message": item.message})
        else:
            self._add_record(item)

    def _add_record(self, record: Record) -> None:
        self._records += 1
        conversation = record.conversation
        folder = conversation.extra.get("cwd") if conversation else None
        for candidate in (folder, record.extra.get("cwd")):
            if isinstance(candidate, str):
                self._folders[candidate] = None
        # The record's own time alone: a log whose sections are dated is told by the note's date, as its fixture has it.
        times = [] if record.occurred is None else [record.occurred.ms]
        self._record_times.add_all(times)
        if record.status is Status.QUARANTINED:
            self._proposals += 1
            return
        kind = _MESSAGE_ROLES.get(record.role, "other") if conversation else "other"
        self._messages[kind] += 1
        if conversation is not None:
            self._conversations.add(conversation.key)
            if kind != "other":
                self._message_times.add_all(times)

    def result(self) -> DryRunReport:
        """Everything counted so far."""
        spoken = self._messages["user"] + self._messages["assistant"]
        times = self._message_times if spoken else self._record_times
        return DryRunReport(
            format=self._format,
            conversations=len(self._conversations),
            messages=dict(self._messages),
            records=self._records,
            proposals=self._proposals,
            skipped=dict(self._skipped),
            troubles=tuple(self._troubles),
            trouble_count=self._trouble_reasons.total(),
            trouble_reasons=dict(self._trouble_reasons),
            earliest=_iso(times.first),
            latest=_iso(times.last),
            working_folders=tuple(self._folders),
        )


class _Span:
    """The first and the last of some moments, epoch ms."""

    def __init__(self) -> None:
        self.first: int | None = None
        self.last: int | None = None

    def add_all(self, times: Iterable[int]) -> None:
        for ms in times:
            self.first = ms if self.first is None else min(self.first, ms)
            self.last = ms if self.last is None else max(self.last, ms)


def _times(record: Record) -> list[int]:
    """When a record and the sections of it were said, epoch ms, where that is known."""
    moments = (record.occurred, *(section.occurred for section in record.sections))
    return [moment.ms for moment in moments if moment is not None]


def _iso(ms: int | None) -> str | None:
    if ms is None:
        return None
    moment = _EPOCH + timedelta(milliseconds=ms)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def import_items(bundle: Bundle, importer: Importer) -> Iterator[Item]:
    """Everything an import has to say: what the bundle left out, then what the importer reads.

    Args:
        bundle: an open bundle.
        importer: of its format.

    Yields:
        Items in file order, each record held to `core.importers.records.limits`; a record whose identity came before
        becomes the skip `repeated`.

    Raises:
        UserError: IMPORT_REFUSED, IMPORT_CHANGED from reading.
    """
    yield from bundle_skips(bundle)
    seen: set[bytes] = set()
    for item in _limited_items(importer.read(bundle)):
        if isinstance(item, Record):
            key = hashlib.blake2b(item.identity.encode("utf-8", "surrogatepass"), digest_size=16).digest()
            if key in seen:
                yield SkippedPart("repeated", item.where)
                continue
            seen.add(key)
        yield item


def _limited_items(items: Iterator[Item]) -> Iterator[Item]:
    for item in items:
        if isinstance(item, Record):
            yield from apply_limits(item)
        else:
            yield item


def dry_run_import(
    bundle: Bundle,
    importer: Importer,
    *,
    cancelled: Callable[[], bool] | None = None,
    progress: Callable[[int], None] | None = None,
) -> DryRunReport:
    """Read an import to its end, writing nothing.

    Args:
        bundle: an open bundle.
        importer: of its format.
        cancelled: asked before the first item and every 200 items; True stops.
        progress: told the number of items read, every 200 items and at the end.

    Returns:
        What the import would bring.

    Raises:
        CancelledError: `cancelled` said so.
        UserError: IMPORT_REFUSED or IMPORT_CHANGED: nothing may be imported.
    """
    tally = DryRunTally(importer.format)
    done = 0
    _check(cancelled)
    for done, item in enumerate(import_items(bundle, importer), 1):
        tally.add(item)
        if done % _CHECK_EVERY == 0:
            _check(cancelled)
            if progress is not None:
                progress(done)
    if progress is not None:
        progress(done)
    return tally.result()


def _check(cancelled: Callable[[], bool] | None) -> None:
    if cancelled is not None and cancelled():
        raise CancelledError
