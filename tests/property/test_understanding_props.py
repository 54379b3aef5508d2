"""Any text can be understood, and days are those of the calendar."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from example_counts import count_examples
from hypothesis import given, settings
from hypothesis import strategies as st

from core.text.query_plan import MOST, text_weight, understand_question
from core.text.time_parts import time_vocabulary
from core.text.time_range import find_time_range
from core.types.recall import PlanChange
from core.types.values import Intent

ZONES = st.sampled_from([ZoneInfo(name) for name in ("UTC", "Europe/Berlin", "America/Sao_Paulo", "Asia/Kathmandu")])
NOWS = st.datetimes(datetime(1971, 1, 1), datetime(2099, 12, 31), timezones=st.just(UTC))  # noqa: DTZ001 - hypothesis adds the zone
_words = time_vocabulary()
PIECES = sorted(
    {*_words.months, *_words.weekdays, *_words.units, *_words.slices, *_words.numbers, *_words.ordinals, *_words.days}
    | {
        "the",
        "of",
        "in",
        "a",
        "last",
        "next",
        "past",
        "before",
        "after",
        "ago",
        "since",
        "between",
        "and",
        "from",
        "to",
    }
    | {
        "3",
        "31",
        "2024",
        "1990s",
        "14th",
        "99999",
        "9999",
        "2024-02-30",
        "5/13/2024",
        "-",
        ",",
        "this",
        "early",
        "week",
    }
)
PHRASES = st.lists(st.sampled_from(PIECES), max_size=9).map(" ".join)


def ms(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)


@pytest.mark.slow
@given(query=st.text(max_size=300) | PHRASES, now=NOWS, zone=ZONES, weight=st.floats(0, 1))
@settings(max_examples=count_examples(400))
def test_any_text_is_understood(query: str, now: datetime, zone: ZoneInfo, weight: float) -> None:
    plan = understand_question(query, ms(now), zone, known=lambda name: ("other", name), base_text_weight=weight)
    assert plan == understand_question(
        query, ms(now), zone, known=lambda name: ("other", name), base_text_weight=weight
    )
    assert 0.1 <= plan.text_weight <= 0.9
    assert all(0 <= score <= 1 for score in plan.intent_scores.values())
    assert plan.intent_scores[plan.intent.value] == max(plan.intent_scores.values())
    assert len(plan.entities) <= MOST
    assert set(plan.aliases) <= set(plan.entities)
    if plan.time is not None:
        assert plan.time.words == query[plan.time.start : plan.time.end] != ""
        assert plan.time.from_ms < plan.time.to_ms
        assert date.fromisoformat(plan.time.first_day) <= date.fromisoformat(plan.time.last_day)


@given(piece=st.sampled_from(["yesterday ", "between ", "the first ", "a", "'", '"', "1/", "A.", "how ", "or ", "_-"]))
def test_a_very_long_question_is_understood(piece: str) -> None:
    understand_question(piece * 5000, 1_750_000_000_000, UTC)


@given(count=st.integers(0, 400), now=NOWS, zone=ZONES)
def test_days_ago_are_those_of_the_calendar(count: int, now: datetime, zone: ZoneInfo) -> None:
    found = find_time_range(f"what was said {count} days ago?", ms(now), zone)
    day = now.astimezone(zone).date() - timedelta(days=count)
    assert found is not None
    assert found.first_day == found.last_day == day.isoformat()
    assert datetime.fromtimestamp(found.from_ms / 1000, zone).date() == day


@given(
    now=NOWS, weekday=st.sampled_from(["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"])
)
def test_a_weekday_is_the_most_recent_before_today(now: datetime, weekday: str) -> None:
    last, coming = find_time_range(f"on {weekday}", ms(now), UTC), find_time_range(f"next {weekday}", ms(now), UTC)
    assert last is not None
    assert coming is not None
    day = date.fromisoformat(last.first_day)
    assert f"{day:%A}" == weekday
    assert 1 <= (now.date() - day).days <= 7
    assert 1 <= (date.fromisoformat(coming.first_day) - now.date()).days <= 7


@given(day=st.dates(date(1950, 1, 1), date(2090, 12, 31)), now=NOWS)
def test_a_written_date_is_itself(day: date, now: datetime) -> None:
    for text in (f"on {day.isoformat()}", f"on {day.day} {day:%B} {day.year}", f"{day:%B} {day.day}, {day.year}"):
        found = find_time_range(text, ms(now), UTC)
        assert found is not None
        assert found.first_day == found.last_day == day.isoformat()


@given(first=st.dates(date(2000, 1, 1), date(2030, 12, 31)), length=st.integers(0, 400), now=NOWS)
def test_a_range_holds_both_ends(first: date, length: int, now: datetime) -> None:
    last = first + timedelta(days=length)
    found = find_time_range(f"between {first.isoformat()} and {last.isoformat()}", ms(now), UTC)
    assert found is not None
    assert (found.first_day, found.last_day) == (first.isoformat(), last.isoformat())


@given(query=st.text(max_size=80), low=st.floats(0, 1), high=st.floats(0, 1))
def test_the_text_weight_rises_with_its_base(query: str, low: float, high: float) -> None:
    low, high = sorted((low, high))
    assert text_weight(query, low, {})[0] <= text_weight(query, high, {})[0]


@given(query=st.text(max_size=80), intent=st.sampled_from(Intent), weight=st.floats(0, 1))
def test_what_is_given_is_taken(query: str, intent: Intent, weight: float) -> None:
    plan = understand_question(
        query, 1_750_000_000_000, UTC, change=PlanChange(intent, no_time=True, text_weight=weight)
    )
    assert (plan.intent, plan.time, plan.text_weight) == (intent, None, weight)
    assert plan.given == ("intent", "time", "text_weight")
