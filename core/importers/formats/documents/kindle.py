"""What a Kindle keeps of what was marked: `My Clippings.txt`, one long text of clippings.

A note and the passage it was made on are two clippings. A date is written in the language of the device; where its
words are unknown, the clipping has none. Must not do: store bookmarks, which have no words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from core.importers.document import Document
from core.importers.input.source import Bundle, SourceFile
from core.importers.input.streams import read_file_lines, read_head_text
from core.importers.records import Item, SkippedPart, UnreadablePart
from core.text.times import parse_time
from core.types.values import When

_FORMAT = "kindle"
_END = re.compile(r"={8,}$")
_BOOK = re.compile(r"(?P<title>.+?)(?:\s\((?P<author>[^()]*(?:\([^()]*\)[^()]*)*)\))?\s*$")
_YEAR_LAST = re.compile(
    r"(?P<a>\d{1,2}|[^\W\d]+)\.?\s+(?:de\s+)?(?P<b>\d{1,2}|[^\W\d]+)[.,]?\s+(?:de\s+)?(?P<year>\d{4})"
)
_YEAR_FIRST = re.compile(r"(?P<year>\d{4})\s?[年-]\s?(?P<month>\d{1,2})\s?[月-]\s?(?P<day>\d{1,2})")
_CLOCK = re.compile(r"(?P<hour>\d{1,2}):(?P<minute>\d{2}):(?P<second>\d{2})(?:\s?(?P<half>[AaPp])\.?\s?[Mm])?")
_NUMBERS = re.compile(r"\d+(?:\s?[-–]\s?\d+)?")
_MOST_LINES, _LONGEST_LINE = 20_000, 1_000


class KindleImporter:
    """Reads a device's clippings."""

    @property
    def format(self) -> str:
        """`kindle`."""
        return _FORMAT

    def detects(self, bundle: Bundle) -> bool:
        """Whether a text is clippings: a book, a line with a dash, an empty one, and lines of `=` between them."""
        return any(_is_clippings(file) for file in _text_files(bundle)[:50])

    def read(self, bundle: Bundle) -> Iterator[Item]:
        """Yield the clippings in file order; see `records.Importer`."""
        read = [file for file in _text_files(bundle) if bundle.kind == "file" or _is_clippings(file)]
        for file in read:
            yield from _read_clippings(file)
        if len(bundle.files) > len(read):
            yield SkippedPart("not_a_note", bundle.label, len(bundle.files) - len(read))


def _text_files(bundle: Bundle) -> list[SourceFile]:
    if bundle.kind == "file":
        return list(bundle.files)
    return [file for file in bundle.files if file.path.suffix.lower() == ".txt"]


def _is_clippings(file: SourceFile) -> bool:
    lines = [line.strip("\r\ufeff ") for line in read_head_text(file).split("\n")]
    ends = [at for at, line in enumerate(lines) if _END.match(line)]
    return bool(ends) and len(lines) > 3 and ends[0] >= 3 and lines[1].startswith("- ") and not lines[2]


@cache
def _words() -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads(files("resources").joinpath("imports", "kindle.json").read_text("utf-8"))
    return found


def _read_clippings(file: SourceFile) -> Iterator[Item]:
    lines = read_file_lines(file)
    kept: list[str] = []
    first = 1
    for number, line in lines:
        if not _END.match(line.strip()):
            if len(kept) < _MOST_LINES:
                kept.append(line)
            continue
        yield _read_clipping(kept, f"{file.name}:{first}", lines.flags)
        kept, first = [], number + 1
    if any(line.strip() for line in kept):
        yield _read_clipping(kept, f"{file.name}:{first}", lines.flags)


def _read_clipping(lines: Sequence[str], where: str, flags: set[str]) -> Item:
    if len(lines) < 2 or not lines[1].startswith("- "):
        return UnreadablePart(where, "this clipping has no line that says what it is", "bad_clipping")
    book = _BOOK.match(lines[0].lstrip("\ufeff").strip()[:_LONGEST_LINE])
    about, *more = lines[1][2:_LONGEST_LINE].split(" | ")
    words = about.casefold()
    kind = next((name for name, known in _words()["kinds"].items() if any(one in words for one in known)), "highlight")
    if kind == "bookmark":
        return SkippedPart("bookmark", where)
    written = more[-1] if more else about
    occurred = _read_date(written)
    places = [found[0] for part in (about, *more[:-1]) if (found := _NUMBERS.search(part)) is not None]
    return Document(
        form=_FORMAT,
        text="\n".join(lines[2:]).strip("\n"),
        where=where,
        title=book["title"] if book else None,
        occurred=occurred,
        author=None if kind == "note" or book is None else book["author"],
        facts={
            "clipping": kind,
            "author": book["author"] if book else None,
            "place": ", ".join(places),
            "time_written": written,
        },
        flags=flags if occurred else {*flags, "time_unreadable"},
    ).to_item()


def _read_date(written: str) -> When | None:
    clock = _CLOCK.search(written)
    date = _find_date(written)
    if clock is None or date is None:
        return None
    hour = int(clock["hour"])
    if clock["half"]:
        hour = hour % 12 + (12 if clock["half"] in "Pp" else 0)
    year, month, day = date
    return parse_time(f"{year:04d}-{month:02d}-{day:02d}T{hour:02d}:{clock['minute']}:{clock['second']}Z")


def _find_date(written: str) -> tuple[int, int, int] | None:
    months: Mapping[str, int] = _words()["months"]
    if found := _YEAR_FIRST.search(written):
        return int(found["year"]), int(found["month"]), int(found["day"])
    for found in _YEAR_LAST.finditer(written):
        one, two = found["a"].casefold(), found["b"].casefold()
        month, day = (one, two) if two.isdigit() else (two, one)
        if day.isdigit() and month in months:
            return int(found["year"]), months[month], int(day)
    return None
