"""A calendar as iCalendar has it (`.ics`): an event, a task or a journal entry is one record.

Its text says what, when, where and with whom, a line each, then the description. What comes again is told once, with
its rule. Must not do: work out repetitions, take a reminder for an event, or invent a zone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from core.importers.document import Document
from core.importers.formats.calendars.content_lines import Component, ContentLine, read_components
from core.importers.input.source import Bundle, SourceFile
from core.importers.input.streams import read_file_lines, read_head_text, visible_files
from core.importers.records import Item, SkippedPart
from core.text.times import format_time, parse_time
from core.types.values import Precision, When

_FORMAT = "calendar"
_KINDS = frozenset({"VEVENT", "VTODO", "VJOURNAL"})
_BEGINS = re.compile(r"\s*BEGIN:VCALENDAR\s*$", re.IGNORECASE | re.MULTILINE)
_DATE = re.compile(r"(\d{4})(\d{2})(\d{2})(?:T(\d{2})(\d{2})(\d{2})?(Z)?)?$")
_MOST_PEOPLE = 50


class CalendarImporter:
    """Reads calendars."""

    @property
    def format(self) -> str:
        """`calendar`."""
        return _FORMAT

    def detects(self, bundle: Bundle) -> bool:
        """Whether a file begins as a calendar does."""
        return any(_is_calendar(file) for file in _calendar_files(bundle)[:50])

    def read(self, bundle: Bundle) -> Iterator[Item]:
        """Yield events, tasks and entries in file order; see `records.Importer`."""
        files = [file for file in _calendar_files(bundle) if bundle.kind == "file" or _is_calendar(file)]
        for file in files:
            lines = read_file_lines(file)
            for component in read_components(lines, _KINDS):
                yield _make_item(component, f"{file.name}:{component.number}", lines.flags)
        if len(bundle.files) > len(files):
            yield SkippedPart("not_dates", bundle.label, len(bundle.files) - len(files))


def _calendar_files(bundle: Bundle) -> list[SourceFile]:
    files = visible_files(bundle)
    return files if bundle.kind == "file" else [one for one in files if one.path.suffix.lower() in (".ics", ".ical")]


def _is_calendar(file: SourceFile) -> bool:
    return _BEGINS.match(read_head_text(file, 1_024)) is not None


def _make_item(component: Component, where: str, flags: set[str]) -> Item:
    if component.text_of("STATUS").upper() == "CANCELLED":
        return SkippedPart("cancelled", where)
    started, unzoned = _read_moment(component.first("DTSTART") or component.first("DUE"))
    ended = _last_moment(_read_moment(component.first("DTEND") or component.first("DUE"))[0], component)
    again = component.first("RECURRENCE-ID")
    key = component.text_of("UID")
    people = [name for line in component.all_of("ATTENDEE")[:_MOST_PEOPLE] if (name := _name_person(line))]
    title = component.text_of("SUMMARY")
    marks = flags | ({"time_unreadable"} if started is None else set()) | ({"zone_unknown"} if unzoned else set())
    lines = [
        title,
        _format_span(started, ended),
        *_prefixed("Where: ", component.text_of("LOCATION")),
        *_prefixed("With: ", ", ".join(people)),
        *_prefixed("Repeats: ", component.text_of("RRULE")),
    ]
    described = component.text_of("DESCRIPTION")
    if not title and not described:
        return SkippedPart("no_text", where)
    return Document(
        form=_FORMAT,
        text="\n".join(line for line in lines if line) + (f"\n\n{described}" if described else ""),
        where=where,
        key=f"{key}/{again.value}" if key and again is not None else key or None,
        title=title or None,
        occurred=started,
        author=_name_person(component.first("ORGANIZER")),
        tags=[tag.strip() for line in component.all_of("CATEGORIES") for tag in line.text.split(",")],
        facts={
            "kind": component.kind.lower(),
            "until": format_time(ended) if ended else None,
            "state": component.text_of("STATUS").casefold(),
            "url": component.text_of("URL"),
        },
        flags=marks,
    ).to_item()


def _prefixed(prefix: str, text: str) -> list[str]:
    return [prefix + text] if text else []


def _name_person(line: ContentLine | None) -> str | None:
    if line is None:
        return None
    return line.parameters.get("CN") or line.value.partition(":")[2] or line.value or None


def _read_moment(line: ContentLine | None) -> tuple[When | None, bool]:
    """A date or a time of day in UTC, in the zone it names, or in none; and whether its zone is unknown here."""
    found = _DATE.match(line.value.strip()) if line is not None else None
    if line is None or found is None:
        return None, False
    year, month, day, hour, minute, second, zulu = found.groups()
    if hour is None:
        return parse_time(f"{year}-{month}-{day}"), False
    when = parse_time(f"{year}-{month}-{day}T{hour}:{minute}:{second or '00'}Z")
    zone = line.parameters.get("TZID")
    if when is None or zulu or zone is None:
        return when, False
    try:
        there = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=when.ms)
        offset = there.replace(tzinfo=ZoneInfo(zone.rpartition("/freeassociation.sourceforge.net/")[2])).utcoffset()
    except (ZoneInfoNotFoundError, ValueError, OSError, OverflowError):
        return when, True
    minutes = round(offset.total_seconds() / 60) if offset is not None else 0
    return replace(when, ms=when.ms - minutes * 60_000, offset_min=minutes), False


def _last_moment(ended: When | None, component: Component) -> When | None:
    """When it is over; of an event of whole days iCalendar names the day behind it."""
    is_day = ended is not None and ended.precision is Precision.DAY and component.kind == "VEVENT"
    return replace(ended, ms=ended.ms - 86_400_000) if ended is not None and is_day else ended


def _format_span(started: When | None, ended: When | None) -> str:
    """From when until when, in words that are searched."""
    if started is None:
        return ""
    first = _format_moment(started)
    last = _format_moment(ended) if ended is not None else ""
    return f"{first} to {last}" if last and last != first else first


def _format_moment(when: When) -> str:
    at = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=when.ms, minutes=when.offset_min or 0)
    return f"{at:%Y-%m-%d}" if when.precision is Precision.DAY else f"{at:%Y-%m-%d %H:%M}"
