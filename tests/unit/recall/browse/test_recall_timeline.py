"""Counting by period in the local zone, paging in the order of time, and what held at a moment."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from engine_rig import refused
from recall_rig import Note, Rig

from core.errors import Code
from core.recall.browse import timeline
from core.recall.browse.timeline import period_edges, read_columns, read_spans
from core.types.values import Kind, Status
from core.types.views import BELIEVED, TRUE, TimeFilter, TimePage

BERLIN = ZoneInfo("Europe/Berlin")
BRISBANE = ZoneInfo("Australia/Brisbane")
HOUR_MS = 3_600_000
ALL = TimeFilter()
NOW = 1_790_000_000_000


def ms(text: str, zone: ZoneInfo | None = None) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=zone or UTC).timestamp() * 1000)


def add(rig: Rig, *notes: tuple[str, str | None], recorded: str = "2026-06-01") -> list[str]:
    made = [
        Note(text, occurred_ms=None if said is None else ms(said), recorded_ms=ms(recorded), embed=False)
        for text, said in notes
    ]
    return rig.add(made)


def texts(page: TimePage) -> list[str]:
    return [row.head for row in page.rows]


# ---- the edges of periods


def test_a_day_is_an_hour_shorter_or_longer_where_the_clocks_change() -> None:
    spring = period_edges("day", ms("2026-03-28T12:00", BERLIN), ms("2026-03-30T12:00", BERLIN), BERLIN)
    autumn = period_edges("day", ms("2026-10-24T12:00", BERLIN), ms("2026-10-26T12:00", BERLIN), BERLIN)
    assert [(b - a) // HOUR_MS for a, b in pairwise(spring)] == [24, 23, 24]
    assert [(b - a) // HOUR_MS for a, b in pairwise(autumn)] == [24, 25, 24]


def test_a_week_begins_on_monday_and_a_month_on_its_first() -> None:
    thursday, next_month = ms("2026-11-19T08:00", BERLIN), ms("2027-01-02T08:00", BERLIN)
    weeks = period_edges("week", thursday, thursday, BERLIN)
    assert weeks == (ms("2026-11-16", BERLIN), ms("2026-11-23", BERLIN))
    months = period_edges("month", thursday, next_month, BERLIN)
    assert months == tuple(ms(day, BERLIN) for day in ("2026-11-01", "2026-12-01", "2027-01-01", "2027-02-01"))
    assert period_edges("year", thursday, next_month, BERLIN)[0] == ms("2026-01-01", BERLIN)


def test_a_midnight_that_does_not_exist_is_the_moment_the_clocks_change() -> None:
    sao_paulo = ZoneInfo("America/Sao_Paulo")  # 2017-10-15 began at one o'clock
    days = period_edges("day", ms("2017-10-14T12:00", sao_paulo), ms("2017-10-15T12:00", sao_paulo), sao_paulo)
    assert [(b - a) // HOUR_MS for a, b in pairwise(days)] == [24, 23]


def test_more_periods_than_can_be_counted_are_cut_at_their_beginning() -> None:
    days = period_edges("day", ms("1066-10-14"), ms("2026-11-20"), BERLIN)
    assert len(days) == timeline.MAX_PERIODS + 1
    assert days[-1] == ms("2026-11-21", BERLIN)


def test_the_ends_of_the_calendar_do_not_break_it() -> None:
    for grain in ("day", "week", "month", "year"):
        assert len(period_edges(grain, -62_135_596_800_000, -62_135_596_800_000, BERLIN)) >= 2
        assert len(period_edges(grain, 253_402_300_799_999, 253_402_300_799_999, BERLIN)) >= 2


def test_what_makes_no_sense_is_refused() -> None:
    with refused(Code.INVALID_INPUT):
        period_edges("fortnight", 0, 1)
    with refused(Code.INVALID_INPUT):
        period_edges("day", 1, 0)


# ---- counting


def test_counts_equal_a_direct_count(rig: Rig) -> None:
    said = [ms("2026-03-28T00:00", BERLIN) + nr * 5 * HOUR_MS for nr in range(60)]
    kinds = (Kind.EPISODE, Kind.FACT, Kind.RULE)
    rig.add([Note(f"note {nr}", kind=kinds[nr % 3], occurred_ms=at, embed=False) for nr, at in enumerate(said)])
    rig.add([Note(f"undated {nr}", recorded_ms=ms("2026-04-02T10:00"), embed=False) for nr in range(4)])
    found = timeline.count_by_period(read_columns(rig.rows), "day", None, None, ALL, zone=BERLIN)
    for nr, (first, last) in enumerate(pairwise(found.starts)):
        direct = "SELECT count(*) FROM memories WHERE occurred_at >= ? AND occurred_at < ?"
        assert found.totals[nr] == rig.rows.value(direct, (first, last))
        assert found.totals[nr] == sum(counts[nr] for counts in found.by_kind.values())
    assert sum(found.totals) == found.total == 60
    assert found.undated == 4
    assert (found.earliest, found.latest) == (said[0], said[-1])
    assert set(found.by_kind) == set(kinds)


def test_what_has_no_date_was_said_in_no_period(rig: Rig) -> None:
    at = ms("2026-04-02T10:00")
    rig.add([Note("undated", kind=Kind.FACT, recorded_ms=at, embed=False), Note("said", occurred_ms=at, embed=False)])
    columns = read_columns(rig.rows)
    labels = columns.n[timeline.places_between(columns, at - HOUR_MS, at + HOUR_MS, ALL)]
    assert timeline.read_memory_ids(rig.rows, labels) == [rig.rows.value("SELECT id FROM memories WHERE n = 2")]
    found = timeline.count_by_period(columns, "day", None, None, TimeFilter(kinds=(Kind.FACT,)), zone=BERLIN)
    assert (found.starts, found.earliest, found.total, found.undated) == ((), None, 0, 1)


def test_yesterday_is_the_local_day(rig: Rig) -> None:
    add(rig, ("late", "2026-05-04T13:59"), ("early", "2026-05-04T14:01"))  # 23:59 and 00:01 in Brisbane
    found = timeline.count_by_period(read_columns(rig.rows), "day", None, None, ALL, zone=BRISBANE)
    assert found.totals == (1, 1)
    assert timeline.count_by_period(read_columns(rig.rows), "day", None, None, ALL, zone=ZoneInfo("UTC")).totals == (2,)


def test_the_busiest_periods_come_first_and_of_equals_the_later(rig: Rig) -> None:
    add(rig, ("a", "2026-01-05"), ("b", "2026-02-05"), ("c", "2026-02-06"), ("d", "2026-04-05"))
    found = timeline.count_by_period(read_columns(rig.rows), "month", None, None, ALL, top=9, zone=BERLIN)
    assert found.totals == (1, 2, 0, 1)
    assert found.busiest == (1, 3, 0)


def test_a_filter_narrows_kinds_spaces_and_what_is_over(rig: Rig) -> None:
    at = ms("2026-05-04")
    rig.add(
        [
            Note("home fact", kind=Kind.FACT, occurred_ms=at, embed=False),
            Note("work fact", kind=Kind.FACT, space="work", occurred_ms=at, embed=False),
            Note("old fact", kind=Kind.FACT, status=Status.SUPERSEDED, occurred_ms=at, embed=False),
            Note("gone", kind=Kind.FACT, status=Status.DELETED, occurred_ms=at, embed=False),
            Note("held back", kind=Kind.FACT, status=Status.QUARANTINED, occurred_ms=at, embed=False),
            Note("said", occurred_ms=at, embed=False),
        ]
    )
    columns = read_columns(rig.rows)

    def counted(wanted: TimeFilter) -> int:
        return timeline.count_by_period(columns, "day", None, None, wanted, zone=BERLIN).total

    assert counted(ALL) == 3
    assert counted(TimeFilter(with_over=True)) == 4
    assert counted(TimeFilter(kinds=(Kind.FACT,))) == 2
    assert counted(TimeFilter(kinds=(Kind.FACT,), spaces=("work",))) == 1
    with refused(Code.NOT_FOUND):
        counted(TimeFilter(spaces=("nowhere",)))


def test_an_empty_vault_has_no_periods(rig: Rig) -> None:
    found = timeline.count_by_period(read_columns(rig.rows), "month", None, None, ALL)
    assert (found.starts, found.totals, found.earliest, found.total) == ((), (), None, 0)
    asked = timeline.count_by_period(
        read_columns(rig.rows), "month", ms("2026-01-05"), ms("2026-03-05"), ALL, zone=BERLIN
    )
    assert asked.totals == (0, 0, 0)


def test_columns_are_in_the_order_of_time_also_where_labels_have_gaps(rig: Rig) -> None:
    at = ms("2026-05-04")
    add(rig, ("b", "2026-05-04"), ("c", "2026-05-02"))
    rig.add([Note("undated at the same time", recorded_ms=at, embed=False), Note("a", occurred_ms=at, embed=False)])
    dense = read_columns(rig.rows)
    assert (dense.n.tolist(), dense.has_date.tolist()) == ([2, 1, 3, 4], [True, True, False, True])
    rig._next = 90_000  # what lay between was erased
    add(rig, ("d", "2026-05-03"))
    sparse = read_columns(rig.rows)
    assert sparse.n.tolist() == [2, 90_000, 1, 3, 4]
    assert sparse.recorded.tolist() == [ms("2026-06-01")] * 3 + [at] + [Note("a").recorded_ms]


def test_the_columns_come_from_indexes_alone(rig: Rig) -> None:
    add(rig, ("a", "2026-01-05"))
    for sql in (timeline._OCCURRED, timeline._RECORDED, timeline._GROUPS):
        plan = [row[3] for row in rig.rows.all(f"EXPLAIN QUERY PLAN {sql}")]
        assert any("COVERING INDEX" in line for line in plan), plan


# ---- the memories of a period


def test_a_period_begins_exactly_and_ends_before_its_end(rig: Rig) -> None:
    add(rig, ("before", "2026-05-04T09:59"), ("first", "2026-05-04T10:00"), ("last", "2026-05-04T10:59:59"))
    add(rig, ("after", "2026-05-04T11:00"))
    columns = read_columns(rig.rows)
    places = timeline.places_between(columns, ms("2026-05-04T10:00"), ms("2026-05-04T11:00"), ALL)
    assert texts(timeline.read_period_page(rig.rows, columns, places, None, 10, NOW)) == ["first", "last"]


def test_pages_follow_each_other_also_among_equal_times(rig: Rig) -> None:
    rig.add([Note(f"{nr}", occurred_ms=ms("2026-05-04") + nr // 4, embed=False) for nr in range(11)])
    columns, found, after = read_columns(rig.rows), [], None
    places = timeline.places_between(columns, 0, NOW, ALL)
    for _ in range(9):
        page = timeline.read_period_page(rig.rows, columns, places, after, 3, NOW)
        assert page.total == 11
        found += texts(page)
        after = page.after
        if after is None:
            break
    assert found == [str(nr) for nr in range(11)]


def test_a_page_goes_on_where_the_last_one_ended_although_something_came_before_it(rig: Rig) -> None:
    add(rig, ("b", "2026-05-02"), ("c", "2026-05-03"), ("d", "2026-05-04"))
    columns = read_columns(rig.rows)
    first = timeline.read_period_page(rig.rows, columns, timeline.places_between(columns, 0, NOW, ALL), None, 2, NOW)
    add(rig, ("a", "2026-05-01"))
    columns = read_columns(rig.rows)
    rest = timeline.read_period_page(
        rig.rows, columns, timeline.places_between(columns, 0, NOW, ALL), first.after, 2, NOW
    )
    assert texts(rest) == ["d"]
    with refused(Code.INVALID_INPUT):
        timeline.read_period_page(rig.rows, columns, timeline.places_between(columns, 0, NOW, ALL), None, 0, NOW)


# ---- what held at a moment


@pytest.fixture
def moved(rig: Rig) -> Rig:
    """Somebody moved: learned in June where they lived since January, and in September that they moved in August."""
    ulm, graz, grass, moon = Note("lives in Ulm"), Note("lives in Graz"), Note("lives in Grass"), Note("on the moon")
    june, september = ms("2026-06-01"), ms("2026-09-03")
    over, archived = Status.SUPERSEDED, Status.ARCHIVED
    old, new, slip, no = rig.add(
        [
            replace(ulm, status=over, occurred_ms=ms("2026-01-10"), recorded_ms=june, valid_to=ms("2026-08-01")),
            replace(graz, occurred_ms=september, recorded_ms=september, valid_from=ms("2026-08-01")),
            replace(grass, status=over, occurred_ms=september, recorded_ms=ms("2026-09-02")),
            replace(moon, status=archived, occurred_ms=ms("2026-05-03"), recorded_ms=june),
        ]
    )
    rig.change("UPDATE memories SET retired_at = ?, superseded_by_id = ? WHERE id = ?", (ms("2026-09-03"), new, old))
    rig.change("UPDATE memories SET retired_at = ?, status_reason = 'edited' WHERE id = ?", (ms("2026-09-03"), slip))
    rig.change("UPDATE memories SET retired_at = ?, status_reason = 'rejected' WHERE id = ?", (ms("2026-07-01"), no))
    return rig


def held(rig: Rig, day: str, axis: str) -> list[str]:
    columns = read_columns(rig.rows)
    places = timeline.places_valid_at(columns, read_spans(rig.rows, columns), ms(day), axis, ALL)
    return texts(timeline.read_period_page(rig.rows, columns, places, None, 10, NOW))


def test_believed_goes_by_when_it_was_learned_and_given_up(moved: Rig) -> None:
    assert held(moved, "2026-05-01", BELIEVED) == []
    assert held(moved, "2026-06-15", BELIEVED) == ["lives in Ulm"]  # what was refused was never believed
    assert held(moved, "2026-09-02T12:00", BELIEVED) == ["lives in Ulm", "lives in Grass"]
    assert held(moved, "2026-10-01", BELIEVED) == ["lives in Graz"]


def test_true_goes_by_when_it_held_in_the_world(moved: Rig) -> None:
    assert held(moved, "2026-01-01", TRUE) == []
    assert held(moved, "2026-05-01", TRUE) == ["lives in Ulm"]
    assert held(moved, "2026-08-15", TRUE) == ["lives in Graz"]
    assert held(moved, "2026-10-01", TRUE) == ["lives in Graz"]  # a slip of the pen was never true
    with refused(Code.INVALID_INPUT):
        held(moved, "2026-10-01", "liked")
