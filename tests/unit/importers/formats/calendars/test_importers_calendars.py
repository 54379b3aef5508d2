"""Calendars and address books: folding, escapes, zones, old cards, and lines that are none."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from importer_checks import items_of, memory_bundle, reasons, records

from core.importers.formats.calendars.calendar import CalendarImporter
from core.importers.formats.calendars.contacts import ContactsImporter
from core.importers.formats.calendars.content_lines import read_components
from core.importers.records import Importer
from core.text.times import format_time

CALENDAR, CONTACTS = CalendarImporter(), ContactsImporter()


def event(*lines: str, kind: str = "VEVENT") -> list[Any]:
    body = "\r\n".join(["BEGIN:VCALENDAR", f"BEGIN:{kind}", *lines, f"END:{kind}", "END:VCALENDAR", ""])
    return items_of(CALENDAR, {"a.ics": body})


@pytest.mark.parametrize(
    ("line", "want", "flags"),
    [
        ("DTSTART:20240615T090000Z", "2024-06-15T09:00:00+00:00", ()),
        ("DTSTART;TZID=Europe/Oslo:20240615T090000", "2024-06-15T09:00:00+02:00", ()),
        ('DTSTART;TZID="America/New_York":20240115T090000', "2024-01-15T09:00:00-05:00", ()),
        ("DTSTART:20240615T090000", "2024-06-15T09:00:00+00:00", ()),
        ("DTSTART;VALUE=DATE:20240615", "2024-06-15", ()),
        ("DTSTART;TZID=Mars/Base:20240615T090000", "2024-06-15T09:00:00+00:00", ("zone_unknown",)),
        ("DTSTART;TZID=../../etc/passwd:20240615T090000", "2024-06-15T09:00:00+00:00", ("zone_unknown",)),
        ("DTSTART:20241399T090000Z", None, ("time_unreadable",)),
        ("DTSTART:soon", None, ("time_unreadable",)),
    ],
)
def test_an_event_is_in_its_zone(line: str, want: str | None, flags: tuple[str, ...]) -> None:
    (record,) = records(event("SUMMARY:x", line))
    assert (format_time(record.occurred) if record.occurred else None) == want
    assert record.flags == flags


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (["SUMMARY:a\\, b\\; c\\nd \\\\ e"], "a, b; c\nd \\ e"),
        (["SUMMARY:long", "  er", "\tend"], "long er" + "end"),
        (['SUMMARY;LANGUAGE=en;X="a:b;c":words: more'], "words: more"),
        (["summary:small"], "small"),
        (["SUMMARY:x", "DTSTART;VALUE=DATE:20240101", "DTEND;VALUE=DATE:20240103"], "x\n2024-01-01 to 2024-01-02"),
        (["DESCRIPTION:only that"], "only that"),
    ],
)
def test_lines_are_unfolded_and_resolved(lines: list[str], text: str) -> None:
    (record,) = records(event(*lines))
    assert record.text.strip() == text


def test_components_that_never_end_or_never_began_are_survived() -> None:
    lines = [
        "END:VEVENT",
        "BEGIN:VCALENDAR",
        "BEGIN:VEVENT",
        "SUMMARY:a",
        "BEGIN:VALARM",
        "SUMMARY:no",
        "END:VEVENT",
        "BEGIN:VEVENT",
        "SUMMARY:b",
        "no line",
        "END:VEVENT",
        "BEGIN:VEVENT",
        "SUMMARY:open",
    ]
    found = list(read_components(enumerate(lines, 1), frozenset({"VEVENT"})))
    assert [one.text_of("SUMMARY") for one in found] == ["a", "b"]


def test_one_event_of_a_series_is_another_record() -> None:
    body = ["UID:e", "SUMMARY:x", "RRULE:FREQ=DAILY"]
    series, single = records(event(*body))[0], records(event(*body, "RECURRENCE-ID:20240102"))[0]
    assert series.identity != single.identity
    assert reasons(event("STATUS:CANCELLED", "SUMMARY:x")) == {"cancelled": 1}
    assert reasons(event("UID:e", "STATUS:CONFIRMED")) == {"no_text": 1}


def card(*lines: str, version: str = "3.0") -> list[Any]:
    return items_of(CONTACTS, {"a.vcf": "\r\n".join(["BEGIN:VCARD", f"VERSION:{version}", *lines, "END:VCARD", ""])})


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (["FN:Åse"], "Åse"),
        (["N:Vik;Åse;Marie;Dr.;jr."], "Dr. Åse Marie Vik jr."),
        (["N:Vik\\;Berg;Åse"], "Åse Vik;Berg"),
        (
            ["FN:A", "TEL;TYPE=work,voice:1", "TEL;HOME:2", "TEL;VALUE=uri:tel:+3"],
            "A\nPhone (work): 1\nPhone (home): 2\nPhone: +3",
        ),
        (["ORG:Works;Pumps;"], "Works, Pumps\nOrganization: Works, Pumps"),
        (["N;ENCODING=QUOTED-PRINTABLE;CHARSET=UTF-8:Kl=C3=B8ve;S=", "=C3=B8ren"], "Søren Kløve"),
        (["N;ENCODING=QUOTED-PRINTABLE;CHARSET=ISO-8859-1:Kl=F8ve;S=F8ren"], "Søren Kløve"),
        (["FN:A", "item1.X-ABRELATEDNAMES:_$!<Mother>!$_"], "A\nRelated: Mother"),
        (["FN:A", "PHOTO;ENCODING=b:AAAA", " BBBB", "KEY:x"], "A"),
    ],
)
def test_a_card_says_what_is_known(lines: list[str], text: str) -> None:
    (record,) = records(card(*lines))
    assert record.text == text


@pytest.mark.parametrize("importer", [CALENDAR, CONTACTS])
@pytest.mark.parametrize("text", ["", "words", "BEGIN:VCAL", "BEGIN:VNOTE\nEND:VNOTE", "x\nBEGIN:VCARD"])
def test_other_files_are_left_to_others(importer: Importer, text: str) -> None:
    assert not importer.detects(memory_bundle({"a.ics": text}))
    assert not importer.detects(memory_bundle({"a.ics": text, "b.vcf": text}, "folder"))


LINES = st.lists(
    st.sampled_from(
        [
            "BEGIN:VEVENT",
            "END:VEVENT",
            "BEGIN:VCARD",
            "END:VCARD",
            "SUMMARY:x",
            "FN:y",
            " folded",
            "=",
            ":",
            ";",
            "N;QUOTED-PRINTABLE:a=",
            "DTSTART:20240101",
            'A;B="c:d',
            "\x00",
            "TEL;:1",
        ]
    ),
    max_size=25,
)


@settings(max_examples=150, deadline=None)
@given(LINES)
def test_any_lines_are_survived(lines: list[str]) -> None:
    for importer, head in ((CALENDAR, "BEGIN:VCALENDAR"), (CONTACTS, "BEGIN:VCARD")):
        found = items_of(importer, {"a": "\n".join([head, *lines])})
        assert len(found) <= lines.count("END:VEVENT") + lines.count("END:VCARD")


@settings(max_examples=60, deadline=None)
@given(
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=80).filter(str.strip),
    st.integers(1, 30),
)
def test_a_name_comes_back_however_it_is_folded(name: str, width: int) -> None:
    escaped = name.replace("\\", "\\\\").replace(",", "\\,").replace(";", "\\;")
    folded = "\r\n ".join(escaped[at : at + width] for at in range(0, len(escaped), width))
    (record,) = records(card(f"FN:{folded}"))
    assert record.text == name.strip()
