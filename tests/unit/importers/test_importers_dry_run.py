"""Rehearsal: what is counted where, repeats, caps, cancelling, progress."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from importer_checks import memory_bundle

from core.errors import CancelledError
from core.importers import dry_run
from core.importers.dry_run import dry_run_import, import_items
from core.importers.input.source import Bundle
from core.importers.plan import ImportPlan
from core.importers.records import Conversation, Item, Record, Section, SkippedPart, UnreadablePart
from core.types.values import Role, Status, When


class Fixed:
    """An importer that gives what it was told to."""

    format = "fixed"

    def __init__(self, *items: Item) -> None:
        self._items = items
        self.given = 0

    def detects(self, bundle: Bundle) -> bool:
        return bool(bundle.files)

    def read(self, bundle: Bundle) -> Iterator[Item]:
        assert bundle.files
        for item in self._items:
            self.given += 1
            yield item


BUNDLE = memory_bundle({"a": "x"})
TALK = Conversation("c", extra={"cwd": "/w"})


def record(identity: str, role: Role = Role.USER, ms: int | None = None, talk: Conversation | None = TALK) -> Record:
    when = None if ms is None else When(ms)
    return Record(identity=identity, text="t", where="a:1", role=role, conversation=talk, occurred=when)


def test_counts_by_kind() -> None:
    told = dry_run_import(
        BUNDLE,
        Fixed(
            record("1", ms=2000),
            record("2", Role.ASSISTANT, ms=1000),
            record("3", Role.SOURCE, ms=0),
            record("4", ms=1, talk=None),
            replace(record("5", Role.ASSISTANT, talk=Conversation("only proposals")), status=Status.QUARANTINED),
            replace(record("6", talk=replace(TALK, key="d")), status=Status.ARCHIVED, extra={"cwd": "/v"}),
            SkippedPart("meta", count=3),
            SkippedPart("meta"),
            UnreadablePart("a:2", "bad", "bad_line"),
        ),
    )
    assert told.conversations == 2
    assert told.messages == {"user": 2, "assistant": 1, "other": 2}
    assert (told.records, told.proposals) == (6, 1)
    assert told.skipped == {"meta": 4}
    assert told.troubles == ({"where": "a:2", "message": "bad"},)
    assert told.trouble_reasons == {"bad_line": 1}
    assert (told.earliest, told.latest) == ("1970-01-01T00:00:01.000Z", "1970-01-01T00:00:02.000Z")
    assert told.working_folders == ("/w", "/v")


def test_without_messages_times_are_those_of_the_records() -> None:
    told = dry_run_import(BUNDLE, Fixed(record("1", ms=5, talk=None), record("2", ms=-62_135_596_800_000, talk=None)))
    assert (told.earliest, told.latest) == ("0001-01-01T00:00:00.000Z", "1970-01-01T00:00:00.005Z")
    assert dry_run_import(BUNDLE, Fixed(record("1"))).earliest is None


def test_a_note_is_told_by_its_own_date_whatever_its_sections_say() -> None:
    note = replace(record("1", ms=5, talk=None), sections=(Section(3, When(9)), Section(6, None)))
    told = dry_run_import(BUNDLE, Fixed(note))
    assert (told.earliest, told.latest) == ("1970-01-01T00:00:00.005Z", "1970-01-01T00:00:00.005Z")


def test_a_plan_spans_the_sections_of_a_note() -> None:
    plan = ImportPlan()
    plan.see_item(replace(record("1", ms=5, talk=None), sections=(Section(3, When(9)),)))
    (row,), _ = plan.make_result()
    assert (row.earliest, row.latest) == (5, 9)


def test_a_plan_tells_who_speaks_and_how_it_begins() -> None:
    plan = ImportPlan()
    for number, name in enumerate(("Ines", "Tom", "Ines")):
        text = f"Line {number}" if number else "Hey Tom! " * 99
        plan.see_item(replace(record(str(number)), author=name, text=text))
    (row,), _ = plan.make_result()
    assert row.speakers == ("Ines", "Tom")
    assert row.opening.startswith("Hey Tom!")
    assert len(row.opening) <= 160


def test_one_identity_counts_once() -> None:
    items = list(import_items(BUNDLE, Fixed(record("1"), record("1", Role.ASSISTANT), record("2"))))
    assert [type(item) for item in items] == [Record, SkippedPart, Record]
    assert items[1] == SkippedPart("repeated", "a:1")


def test_what_the_bundle_left_out_is_told_first() -> None:
    bundle = replace(BUNDLE, skipped=(("not_a_regular_file", "pipe"),))
    assert next(import_items(bundle, Fixed())) == SkippedPart("not_a_regular_file", "pipe")


def test_troubles_are_capped_and_all_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dry_run, "TROUBLES_KEPT", 3)
    told = dry_run_import(BUNDLE, Fixed(*(UnreadablePart(f"a:{n}", "bad") for n in range(10))))
    assert ([row["where"] for row in told.troubles], told.trouble_count) == (["a:0", "a:1", "a:2"], 10)


def test_cancelling_stops_within_200_items() -> None:
    importer = Fixed(*(SkippedPart("x") for _ in range(1000)))
    with pytest.raises(CancelledError):
        dry_run_import(BUNDLE, importer, cancelled=lambda: importer.given >= 250)
    assert importer.given <= 401
    with pytest.raises(CancelledError):
        dry_run_import(BUNDLE, Fixed(), cancelled=lambda: True)


def test_progress_is_told_every_200_items_and_at_the_end() -> None:
    told: list[int] = []
    dry_run_import(BUNDLE, Fixed(*(SkippedPart("x") for _ in range(450))), progress=told.append)
    assert told == [200, 400, 450]
