"""Day One's export as JSON: a journal a file, an entry a record, dated in the zone in which it was written.

Must not do: open pictures, or take the weather for what somebody wrote.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from core.importers.conversation import MOST_SNIFFED, as_list, as_mapping, as_text, json_files
from core.importers.document import Document
from core.importers.input.source import Bundle, SourceFile
from core.importers.input.streams import head_keys, iter_json_array
from core.importers.records import Item, SkippedPart, UnreadablePart
from core.text.times import parse_time
from core.types.values import When

_FORMAT = "day-one"
_MARKS = frozenset({"uuid", "creationDate"})
_PICTURE = re.compile(r"!\[([^\]\n]{0,300})\]\(dayone-moment:[^()\s]{0,300}\)\n?")
_ESCAPE = re.compile(r"\\([\\`*_{}\[\]()#+\-.!>~|])")
_PLACES = ("placeName", "localityName", "administrativeArea", "country")
_SENT = ("photos", "videos", "audios", "pdfAttachments")


class DayOneImporter:
    """Reads a journal, or the zip of all of them."""

    @property
    def format(self) -> str:
        """`day-one`."""
        return _FORMAT

    def detects(self, bundle: Bundle) -> bool:
        """Whether a JSON file's head shows `metadata` and `entries` with `creationDate`."""
        return any(_is_journal(file) for file in json_files(bundle)[:MOST_SNIFFED])

    def read(self, bundle: Bundle) -> Iterator[Item]:
        """Yield the entries journal by journal; see `records.Importer`."""
        files = [file for file in json_files(bundle) if bundle.kind == "file" or _is_journal(file)]
        for file in files:
            for number, parsed in enumerate(iter_json_array(file, ("entries",)), 1):
                where = f"{file.name}:{number}"
                if isinstance(parsed.value, dict):
                    yield _read_entry(parsed.value, where, file.path.stem, parsed.flags)
                else:
                    yield UnreadablePart(where, "this is no entry of a journal", "not_an_object")
        if len(bundle.files) > len(files):
            yield SkippedPart("media_files", bundle.label, len(bundle.files) - len(files))


def _is_journal(file: SourceFile) -> bool:
    keys = head_keys(file)
    return "metadata" in keys.get("", frozenset()) and keys.get("entries[]", frozenset()) >= _MARKS


def _read_entry(entry: Mapping[str, Any], where: str, journal: str, flags: frozenset[str]) -> Item:
    occurred = _in_zone(parse_time(entry.get("creationDate")), as_text(entry.get("timeZone")))
    place = as_mapping(entry.get("location"))
    names = [as_text(place.get(name)) for name in _PLACES]
    sent = [as_mapping(one) for name in _SENT for one in as_list(entry.get(name))]
    text = _PICTURE.sub(r"\1", as_text(entry.get("text")) or "")
    return Document(
        form=_FORMAT,
        # Day One writes a mark of Markdown that is meant as it stands with a backslash before it.
        text=_ESCAPE.sub(r"\1", text).strip("\n"),
        where=where,
        key=as_text(entry.get("uuid")),
        occurred=occurred,
        tags=[tag for tag in as_list(entry.get("tags")) if isinstance(tag, str)],
        attachments=[as_text(one.get("filename")) or as_text(one.get("type")) or "file" for one in sent],
        facts={
            "journal": journal,
            "edited": as_text(entry.get("modifiedDate")),
            "place": ", ".join(dict.fromkeys(name for name in names if name)),
            "starred": entry.get("starred") is True,
        },
        flags=flags if occurred else {*flags, "time_unreadable"},
    ).to_item()


def _in_zone(when: When | None, zone: str | None) -> When | None:
    """A moment with the offset that a zone had then; the moment itself is told in UTC."""
    if when is None or zone is None:
        return when
    try:
        offset = datetime.fromtimestamp(when.ms / 1000, UTC).astimezone(ZoneInfo(zone)).utcoffset()
    except (ZoneInfoNotFoundError, ValueError, OSError, OverflowError):
        return when
    return when if offset is None else replace(when, offset_min=round(offset.total_seconds() / 60))
