"""Microsoft Copilot's activity history as its privacy page exports it: one table, a row a message, the newest first.

A question and its answer bear the same second, so the order of the rows tells which came first, and not their times. A
conversation is known by its title alone. Must not do: sort by time, or take any other table with these columns.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from core.importers.chat import ChatMessage, ChatReader
from core.importers.conversation import MOST_SNIFFED, content_id, cut_blocks
from core.importers.input.files import refused_file_error
from core.importers.input.source import Bundle, SourceFile
from core.importers.input.streams import read_head_text, read_whole_text, visible_files
from core.importers.records import Conversation, Item, SkippedPart, UnreadablePart
from core.text.times import parse_time
from core.types.values import Role

_FORMAT, _AUTHOR = "copilot", "Copilot"
_HEADER = ["conversation", "time", "author", "message"]
_ROLES = {"human": Role.USER, "ai": Role.ASSISTANT}
_MOST = 16 << 20
_SNIFFED_ROWS = 40


@dataclass(frozen=True, slots=True)
class _Row:
    """One row below the header."""

    title: str
    time: str
    author: str
    message: str
    where: str


class CopilotImporter:
    """Reads the exported table, or a folder or zip of such tables."""

    @property
    def format(self) -> str:
        """`copilot`."""
        return _FORMAT

    def detects(self, bundle: Bundle) -> bool:
        """Whether a file has the four columns in their order, and rows whose author is a person or the assistant."""
        return any(_is_history(file) for file in visible_files(bundle)[:MOST_SNIFFED])

    def read(self, bundle: Bundle) -> Iterator[Item]:
        """Yield the messages file by file, the oldest first; see `records.Importer`.

        Raises:
            UserError: IMPORT_REFUSED for a table of more than 64 MiB.
        """
        files = [file for file in visible_files(bundle) if bundle.kind == "file" or _is_history(file)]
        for file in files:
            yield from _read_history(file)
        if len(bundle.files) > len(files):
            yield SkippedPart("not_messages", bundle.label, len(bundle.files) - len(files))


def _is_history(file: SourceFile) -> bool:
    rows = csv.reader(io.StringIO(read_head_text(file), newline=""))
    try:
        if [cell.strip().casefold() for cell in next(rows, [])] != _HEADER:
            return False
        first = islice(rows, _SNIFFED_ROWS)
        return any(len(row) == len(_HEADER) and row[2].casefold() in _ROLES for row in first)
    except csv.Error:
        return False


def _read_history(file: SourceFile) -> Iterator[Item]:
    if file.size > _MOST:
        raise refused_file_error(file.name, f"is longer than {_MOST >> 20} MiB, too long for a table of messages")
    text, flags = read_whole_text(file, _MOST)
    rows: list[_Row] = []
    for part in _list_rows(file, text):
        if isinstance(part, UnreadablePart):
            yield part
        else:
            rows.append(part)
    readers: dict[str, ChatReader] = {}
    for row in reversed(rows) if _is_newest_first(rows) else rows:
        yield _read_row(row, readers, flags)


def _list_rows(file: SourceFile, text: str) -> Iterator[_Row | UnreadablePart]:
    before = csv.field_size_limit(_MOST)  # of the whole process, so it is put back before anything is given
    cells: list[list[str]] = []
    trouble: UnreadablePart | None = None
    try:
        cells.extend(csv.reader(io.StringIO(text, newline=""), strict=True))
    except csv.Error:
        trouble = UnreadablePart(f"{file.name}:row {len(cells)}", "the table cannot be read from here on", "bad_line")
    finally:
        csv.field_size_limit(before)
    for number, row in enumerate(cells[1:], 1):
        where = f"{file.name}:row {number}"
        if len(row) == len(_HEADER):
            title, time, author, message = row
            yield _Row(title, time, author, message, where)
        elif row:
            yield UnreadablePart(where, f"it has {len(row)} cells where the header has {len(_HEADER)}")
    if trouble is not None:
        yield trouble


def _is_newest_first(rows: Sequence[_Row]) -> bool:
    """Whether the order is to be turned round; where all bear one time, an answer that stands first tells."""
    times = [when.ms for row in rows if (when := parse_time(row.time)) is not None]
    if times and times[0] != times[-1]:
        return times[0] > times[-1]
    return bool(rows) and _ROLES.get(rows[0].author.casefold()) is Role.ASSISTANT


def _read_row(row: _Row, readers: dict[str, ChatReader], flags: frozenset[str]) -> Item:
    role = _ROLES.get(row.author.casefold())
    if role is None:
        return UnreadablePart(row.where, "it does not say whether the person or Copilot spoke", "bad_message")
    occurred = parse_time(row.time)
    if row.title not in readers:
        conversation = Conversation(key=content_id(row.title), title=row.title or None, started=occurred)
        readers[row.title] = ChatReader(_FORMAT, conversation)
    return readers[row.title].read_message(
        ChatMessage(
            text=cut_blocks(row.message, ()),
            where=row.where,
            author=_AUTHOR if role is Role.ASSISTANT else None,
            role=role,
            occurred=occurred,
            flags=flags if occurred else {*flags, "time_unreadable"},
        )
    )
