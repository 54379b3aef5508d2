"""Phrases of time in questions: a table for each convention."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from core.text.time_range import MAX_CHARS, find_time_range

WED = datetime(2025, 6, 18, 10, 20, tzinfo=UTC)  # in the week of Monday the 16th
LEAP = datetime(2024, 2, 29, 23, 10, tzinfo=UTC)  # a Thursday
NEW_YEAR = datetime(2026, 1, 1, 0, 40, tzinfo=UTC)  # a Thursday
SUNDAY = datetime(2025, 11, 30, 21, 30, tzinfo=UTC)
MONDAY = datetime(2025, 3, 31, 12, 0, tzinfo=UTC)


def days(query: str, now: datetime = WED) -> str | None:
    found = find_time_range(query, int(now.timestamp() * 1000), UTC)
    if found is None:
        return None
    assert found.words == query[found.start : found.end]
    return found.first_day if found.first_day == found.last_day else f"{found.first_day}..{found.last_day}"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        # units of the calendar
        ("what was said last week", "2025-06-09..2025-06-15"),
        ("this week", "2025-06-16..2025-06-22"),
        ("plans for this month", "2025-06-01..2025-06-30"),
        ("this quarter's goals", "2025-04-01..2025-06-30"),
        ("last quarter", "2025-01-01..2025-03-31"),
        ("last year", "2024-01-01..2024-12-31"),
        ("the week before last", "2025-06-02..2025-06-08"),
        ("the quarter before last", "2024-10-01..2024-12-31"),
        ("next month", "2025-07-01..2025-07-31"),
        ("the month after next", "2025-08-01..2025-08-31"),
        ("what did the last decade bring", "2015-06-18..2025-06-18"),
        # counted from today
        ("N 17 days ago", "2025-06-01"),
        ("a couple of weeks ago", "2025-06-02..2025-06-08"),
        ("twenty-two days ago", "2025-05-27"),
        ("a hundred days ago", "2025-03-10"),
        ("a fortnight ago", "2025-06-02..2025-06-08"),
        ("four months ago", "2025-02-01..2025-02-28"),
        ("ten years ago", "2015-01-01..2015-12-31"),
        ("half a year ago", "2024-12-01..2024-12-31"),
        ("two hours ago", "2025-06-18"),
        ("what is due in 12 days", "2025-06-30"),
        ("what is planned in three weeks' time", "2025-07-07..2025-07-13"),
        ("a year ago today", "2024-06-18"),
        # rolling
        ("recently", "2025-06-12..2025-06-18"),
        ("anything lately?", "2025-06-12..2025-06-18"),
        ("over the past week", "2025-06-12..2025-06-18"),
        ("in the last week", "2025-06-12..2025-06-18"),
        ("during the last 10 days", "2025-06-09..2025-06-18"),
        ("the past fortnight", "2025-06-05..2025-06-18"),
        ("past two months", "2025-04-18..2025-06-18"),
        ("over the past three years", "2022-06-18..2025-06-18"),
        ("within the last couple of days", "2025-06-17..2025-06-18"),
        # weekdays
        ("what did Ada want on Friday", "2025-06-13"),
        ("on Wednesday", "2025-06-11"),
        ("last Wednesday", "2025-06-11"),
        ("next Wednesday", "2025-06-25"),
        ("this Friday", "2025-06-20"),
        ("Friday of last week", "2025-06-13"),
        ("Monday last week", "2025-06-09"),
        ("next week on Tuesday", "2025-06-24"),
        ("last week's Thursday", "2025-06-12"),
        ("the Tuesday before last", "2025-06-10"),
        ("three Fridays ago", "2025-05-30"),
        ("Friday's call with the bank", "2025-06-13"),
        ("on Sat evening", "2025-06-14"),
        ("Tuesday two weeks ago", "2025-06-03"),
        # weekends
        ("at the weekend", "2025-06-14..2025-06-15"),
        ("last weekend", "2025-06-14..2025-06-15"),
        ("this weekend", "2025-06-21..2025-06-22"),
        ("the weekend before last", "2025-06-07..2025-06-08"),
        # months, quarters, weeks
        ("bills in June", "2025-06-01..2025-06-30"),
        ("bills in july", "2024-07-01..2024-07-31"),
        ("last June", "2024-06-01..2024-06-30"),
        ("next March", "2026-03-01..2026-03-31"),
        ("in Feb 2024", "2024-02-01..2024-02-29"),
        ("May of last year", "2024-05-01..2024-05-31"),
        ("last year in May", "2024-05-01..2024-05-31"),
        ("Q2", "2025-04-01..2025-06-30"),
        ("Q3", "2024-07-01..2024-09-30"),
        ("the fourth quarter of 2022", "2022-10-01..2022-12-31"),
        ("Q1 last year", "2024-01-01..2024-03-31"),
        ("in week 7", "2025-02-10..2025-02-16"),
        ("week 52 of 2020", "2020-12-21..2020-12-27"),
        ("2024-W05", "2024-01-29..2024-02-04"),
        ("H2 2023", "2023-07-01..2023-12-31"),
        # days
        ("on 18 June", "2025-06-18"),
        ("on 19 June", "2024-06-19"),
        ("June 3rd, 2021", "2021-06-03"),
        ("the twenty-first of May", "2025-05-21"),
        ("on the 20th", "2025-05-20"),
        ("the 31st, who came", "2025-05-31"),
        ("on the 5th of last month", "2025-05-05"),
        ("Wednesday 11 June", "2025-06-11"),
        ("Friday, the 13th", "2025-06-13"),
        ("5/3/2024", "2024-03-05"),
        ("on 5/13/2024", "2024-05-13"),
        ("3.11.2023 minutes", "2023-11-03"),
        ("2024/03/05", "2024-03-05"),
        ("3 Sept. 2024", "2024-09-03"),
        ("summer 2023 photos", "2023-01-01..2023-12-31"),
        ("2023-07", "2023-07-01..2023-07-31"),
        ("yesterday evening", "2025-06-17"),
        ("the night before last", "2025-06-16"),
        ("two days before 5 June", "2025-06-03"),
        ("the day after 5 June", "2025-06-06"),
        ("the week of 5 May", "2025-05-05..2025-05-11"),
        # parts
        ("early June", "2025-06-01..2025-06-10"),
        ("mid-May", "2025-05-11..2025-05-20"),
        ("late May", "2025-05-21..2025-05-31"),
        ("at the end of last month", "2025-05-21..2025-05-31"),
        ("the first part of April", "2025-04-01..2025-04-10"),
        ("at the beginning of May", "2025-05-01..2025-05-10"),
        ("the first week of August", "2024-08-01..2024-08-07"),
        ("the last week of May", "2025-05-25..2025-05-31"),
        ("the last Friday in May", "2025-05-30"),
        ("the first three days of May", "2025-05-01..2025-05-03"),
        ("the first half of 2025", "2025-01-01..2025-06-30"),
        ("the second half of May", "2025-05-16..2025-05-31"),
        # open and long ones
        ("since 1 June", "2025-06-01..2025-06-18"),
        ("since last Tuesday", "2025-06-17..2025-06-18"),
        ("ever since 2023", "2023-01-01..2025-06-18"),
        ("from May onwards", "2025-05-01..2025-06-18"),
        ("in the 1990s", "1990-01-01..1999-12-31"),
        ("music of the 80s", "1980-01-01..1989-12-31"),
        ("tax of 2022", "2022-01-01..2022-12-31"),
        # ranges
        ("between 3 and 9 May", "2025-05-03..2025-05-09"),
        ("between the 3rd and the 9th of May", "2025-05-03..2025-05-09"),
        ("from 28 December to 3 January", "2024-12-28..2025-01-03"),
        ("3-9 May", "2025-05-03..2025-05-09"),
        ("May 3 to 9", "2025-05-03..2025-05-09"),
        ("between March and May", "2025-03-01..2025-05-31"),
        ("from November to February", "2024-11-01..2025-02-28"),
        ("from March to May 2023", "2023-03-01..2023-05-31"),
        ("2019-2021", "2019-01-01..2021-12-31"),
        ("from 2024-03-01 to 2024-03-10", "2024-03-01..2024-03-10"),
        ("from Monday to Wednesday last week", "2025-06-09..2025-06-11"),
        ("between the 10th and yesterday", "2025-06-10..2025-06-17"),
        # the first that resolves
        ("what did we say last week about the trip in May", "2025-06-09..2025-06-15"),
        ("the gym is open 24/7, did I go yesterday", "2025-06-17"),
    ],
)
def test_phrases_on_a_wednesday(query: str, expected: str) -> None:
    assert days(query) == expected


@pytest.mark.parametrize(
    ("now", "query", "expected"),
    [
        (LEAP, "a year ago today", "2023-02-28"),
        (LEAP, "past year", "2023-02-28..2024-02-29"),
        (LEAP, "on the 30th", "2024-01-30"),
        (LEAP, "on 29 February", "2024-02-29"),
        (LEAP, "tomorrow", "2024-03-01"),
        (NEW_YEAR, "on 29 February", "2024-02-29"),
        (NEW_YEAR, "last month", "2025-12-01..2025-12-31"),
        (NEW_YEAR, "this week", "2025-12-29..2026-01-04"),
        (NEW_YEAR, "last December", "2025-12-01..2025-12-31"),
        (NEW_YEAR, "in January", "2026-01-01..2026-01-31"),
        (NEW_YEAR, "last January", "2025-01-01..2025-01-31"),
        (NEW_YEAR, "yesterday", "2025-12-31"),
        (SUNDAY, "at the weekend", "2025-11-29..2025-11-30"),
        (SUNDAY, "last weekend", "2025-11-22..2025-11-23"),
        (SUNDAY, "on Sunday", "2025-11-23"),
        (SUNDAY, "next Monday", "2025-12-01"),
        (SUNDAY, "next week", "2025-12-01..2025-12-07"),
        (MONDAY, "past month", "2025-02-28..2025-03-31"),
        (MONDAY, "on Monday", "2025-03-24"),
        (MONDAY, "the weekend before last", "2025-03-22..2025-03-23"),
        (MONDAY, "in April", "2024-04-01..2024-04-30"),
        (MONDAY, "between 30 March and 2 April", "2025-03-30..2025-04-02"),
    ],
)
def test_phrases_at_edges_of_the_calendar(now: datetime, query: str, expected: str) -> None:
    assert days(query, now) == expected


@pytest.mark.parametrize(
    "query",
    [
        "what broke since the update",
        "between the move and 3 January",
        "everything up to 3 March",
        "what did I decide after the meeting",
        "two days before the deadline",
        "the day after we moved",
        "how long are three weeks on the boat",
        "soak it for two days",
        "does the glue last three weeks",
        "how did I paint it in two days",
        "every Tuesday we sing",
        "each month I pay rent",
        "once a week",
        "three times a day",
        "on Fridays",
        "on Friday evenings we play chess",
        "the other day",
        "a while ago",
        "a few days ago",
        "years ago",
        "some day soon",
        "may I come in",
        "we may not pay",
        "march on without me",
        "April's phone",
        "did June call about the key",
        "a letter from May",
        "what does August want",
        "Brian May guitar",
        "Sunday roast",
        "the Sunday paper",
        "Black Friday deals",
        'who sang "Yesterday"',
        "USA Today subscription",
        "Python 3.12 and v2.4.1",
        "release 2024.2",
        "1/2 cup",
        "3/4 of the cake",
        "open 24/7",
        "room 2019",
        "the novel 1984",
        "a 2015 Volvo",
        "2000 steps",
        "the 2nd floor",
        "the third door",
        "the first half of the film",
        "the last week of term",
        "next time",
        "last time",
        "a second opinion",
        "quarter past nine",
        "by Friday",
        "30 February 2024",
        "open Monday to Friday",
        "",
        "???",
    ],
)
def test_what_only_looks_like_a_time(query: str) -> None:
    assert days(query) is None


def test_a_day_lasts_from_midnight_to_midnight_of_its_zone() -> None:
    zone = ZoneInfo("Europe/Berlin")
    now = datetime(2025, 3, 31, 0, 30, tzinfo=zone)
    found = find_time_range("yesterday", int(now.timestamp() * 1000), zone)
    assert found is not None
    assert found.first_day == "2025-03-30"
    assert found.to_ms - found.from_ms == 23 * 3_600_000  # the clocks went forward
    assert found.from_ms == int(datetime(2025, 3, 30, tzinfo=zone).timestamp() * 1000)


def test_a_day_without_a_midnight_begins_when_the_clocks_have_changed() -> None:
    zone = ZoneInfo("America/Sao_Paulo")
    found = find_time_range("on 2018-11-04", int(WED.timestamp() * 1000), zone)
    assert found is not None
    assert datetime.fromtimestamp(found.from_ms / 1000, zone).isoformat() == "2018-11-04T01:00:00-02:00"


def test_the_present_is_that_of_the_zone() -> None:
    now_ms = int(datetime(2025, 6, 18, 23, 30, tzinfo=UTC).timestamp() * 1000)
    found = find_time_range("today", now_ms, ZoneInfo("Asia/Tokyo"))
    assert found is not None
    assert found.first_day == "2025-06-19"


def test_only_the_head_of_a_long_question_is_read() -> None:
    assert days("x " * (MAX_CHARS // 2) + "yesterday") is None
