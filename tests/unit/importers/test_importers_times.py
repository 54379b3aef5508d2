"""Written times: spellings, magnitudes, precision, offsets, and what is no time."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from core.text.times import find_labelled_date, format_time, is_within, parse_time
from core.types.values import Precision, When

DAY = int(datetime(2025, 1, 2, tzinfo=UTC).timestamp() * 1000)
HOUR, MINUTE = 3_600_000, 60_000


@pytest.mark.parametrize(
    ("value", "want"),
    [
        ("2025-01-02T03:04:05Z", When(DAY + 3 * HOUR + 4 * MINUTE + 5000, Precision.SECOND, 0)),
        ("2025-01-02t03:04:05z", When(DAY + 3 * HOUR + 4 * MINUTE + 5000, Precision.SECOND, 0)),
        ("2025-01-02 03:04:05", When(DAY + 3 * HOUR + 4 * MINUTE + 5000, Precision.SECOND)),
        ("  2025-01-02 03:04  ", When(DAY + 3 * HOUR + 4 * MINUTE, Precision.MINUTE)),
        ("2025-01-02T03", When(DAY + 3 * HOUR, Precision.HOUR)),
        ("2025-01-02T03:04:05.6789Z", When(DAY + 3 * HOUR + 4 * MINUTE + 5678, Precision.MS, 0)),
        ("2025-01-02T03:04:05,5", When(DAY + 3 * HOUR + 4 * MINUTE + 5500, Precision.MS)),
        ("2025-01-02T03:04:05+01:30", When(DAY + HOUR + 34 * MINUTE + 5000, Precision.SECOND, 90)),
        ("2025-01-02T03:04:05-0800", When(DAY + 11 * HOUR + 4 * MINUTE + 5000, Precision.SECOND, -480)),
        ("2025-01-02 03:04 +02", When(DAY + HOUR + 4 * MINUTE, Precision.MINUTE, 120)),
        ("2025-01-02 03:04:05 UTC", When(DAY + 3 * HOUR + 4 * MINUTE + 5000, Precision.SECOND, 0)),
        ("2025-01-02 03:04:05 GMT+02:00", When(DAY + HOUR + 4 * MINUTE + 5000, Precision.SECOND, 120)),
        ("20250102T030405Z", When(DAY + 3 * HOUR + 4 * MINUTE + 5000, Precision.SECOND, 0)),
        ("2025-01-02T24:00:00Z", When(DAY + 24 * HOUR, Precision.SECOND, 0)),
        ("2025-01-02T03:59:60Z", When(DAY + 4 * HOUR, Precision.SECOND, 0)),
        ("2025-01-02", When(DAY, Precision.DAY)),
        ("2025/1/2", When(DAY, Precision.DAY)),
        ("20250102", When(DAY, Precision.DAY)),
        ("2025-002", When(DAY, Precision.DAY)),
        ("2025-W01-4", When(DAY, Precision.DAY)),
        ("2025-01", When(DAY - 24 * HOUR, Precision.MONTH)),
        ("2025", When(DAY - 24 * HOUR, Precision.YEAR)),
        ("Thu, 02 Jan 2025 03:04:05 +0100", When(DAY + 2 * HOUR + 4 * MINUTE + 5000, Precision.SECOND, 60)),
        (DAY // 1000, When(DAY, Precision.SECOND)),
        (str(DAY // 1000), When(DAY, Precision.SECOND)),
        (DAY / 1000 + 0.25, When(DAY + 250, Precision.MS)),
        (Decimal(DAY) / 1000, When(DAY, Precision.SECOND)),
        (f"{DAY // 1000}.75", When(DAY + 750, Precision.MS)),
        (DAY, When(DAY, Precision.MS)),
        (DAY * 1000 + 999, When(DAY, Precision.MS)),
        (DAY * 1_000_000, When(DAY, Precision.MS)),
        (float(DAY * 1000), When(DAY, Precision.MS)),
        (0, When(0, Precision.SECOND)),
        (-5, When(-5000, Precision.SECOND)),
        ("1969-12-31T23:59:59.9996Z", When(-1, Precision.MS, 0)),
        (1741454497.404046, When(1741454497404, Precision.MS)),
    ],
)
def test_spellings(value: object, want: When) -> None:
    assert parse_time(value) == want


@pytest.mark.parametrize(
    "value",
    [
        None, True, False, "", "  ", "soon", "1:30", "no", "2025-13-01", "2025-02-30",
        "2025-01-02T25:00", "2025-01-02T24:01",
        "2025-01-02T03:61", "2025-00-00", "2025-366", "2025-000", "2025-W54", "0000-01-01", "2025 10:00",
        "2025-01-02Tx",
        "2025-01-02T03:04:05+99:00", "9999-12-31T23:59:59-12:00", "0001-01-01T00:00:00+12:00", float("nan"),
        float("inf"), 1e300, 10**30, -(10**30), "1e99", "9" * 40, "x" * 1000, [], {}, b"2025", "--", "2025-1-",
        "2025-01-02T03:04:05 Europe/Oslo",
    ],
)  # fmt: skip
def test_what_is_no_time(value: object) -> None:
    assert parse_time(value) is None


def test_naive_times_can_be_refused_while_dates_and_numbers_need_no_zone() -> None:
    assert parse_time("2025-01-02 03:04", assume_utc=False) is None
    assert parse_time("Thu, 02 Jan 2025 03:04:05", assume_utc=False) is None
    assert parse_time("2025-01-02 03:04Z", assume_utc=False) is not None
    assert parse_time("2025-01-02", assume_utc=False) == When(DAY, Precision.DAY)
    assert parse_time(DAY // 1000, assume_utc=False) == When(DAY, Precision.SECOND)


def test_a_number_of_thousands_of_digits_is_no_time() -> None:
    assert parse_time(10**5000) is None
    assert parse_time(-(10**5000)) is None


@pytest.mark.parametrize(
    ("week", "want"),
    [
        ("2026-W07", "2026-02"),  # wholly in February
        ("2026-W05", "2026"),  # ends on 1 February
        ("2026-W01", "2026"),  # begins in 2025; ISO 8601 counts it to 2026
        ("2026-W07-6", "2026-02-14"),
    ],
)
def test_a_week_is_known_as_exactly_as_a_precision_can_say(week: str, want: str) -> None:
    when = parse_time(week)
    assert when is not None
    assert format_time(when) == want


# --- dates in names and headings


@pytest.mark.parametrize(
    ("label", "want"),
    [
        ("2026-02-14", "2026-02-14"),
        ("2026_02_14", "2026-02-14"),
        ("20260214", "2026-02-14"),
        ("2026.02.14", "2026-02-14"),
        ("2026-2-4", "2026-02-04"),
        ("2026-02-14 Meeting notes", "2026-02-14"),
        ("2026-02-14-title-of-a-post", "2026-02-14"),
        ("2026-02-14T09:30", "2026-02-14"),
        ("Meeting notes 2026-02-14", "2026-02-14"),
        ("meeting-2026-02-14", "2026-02-14"),
        ("Standup (2026-02-14)", "2026-02-14"),
        ("[[2026-02-14]]", "2026-02-14"),
        ("2026-02-14, Saturday", "2026-02-14"),
        ("Saturday, 14 February 2026", "2026-02-14"),
        ("Sat 14 Feb 2026", "2026-02-14"),
        ("14. February 2026", "2026-02-14"),
        ("February 14th, 2026", "2026-02-14"),
        ("14.02.2026", "2026-02-14"),
        ("02/14/2026", "2026-02-14"),
        ("02.02.2026", "2026-02-02"),
        ("202602141530 Title", "2026-02-14"),
        ("2026-02", "2026-02"),
        ("2026-02 Budget", "2026-02"),
        ("February 2026", "2026-02"),
        ("2026-W07", "2026-02"),
        ("2026-W05", "2026"),
        ("2026-Q1", "2026"),
        ("[1.2.0] - 2024-01-15", "2024-01-15"),
    ],
)
def test_labels_that_bear_a_date(label: str, want: str) -> None:
    when = find_labelled_date(label)
    assert when is not None
    assert (format_time(when), when.offset_min) == (want, None)


@pytest.mark.parametrize(
    "label",
    [
        "", "Inbox", "Chapter 3", "1984", "2026", "2026-99-99", "2026-13", "2026-02-30", "20261345", "123420260214",
        "03.02.2026", "04/05/2026",  # day and month cannot be told apart
        "v2026.02.14", "release 2026.02.14", "2026.02.14.1", "Version 2026.02", "CVE-2026-0212", "CVE-2026-02-12",
        "Order 20251105", "Ticket 20240115", "Phone 20251231", "+47 20260214", "Call 0049 20260214", "555-2026-02-14",
        "12-2026-02-14", "2011-12 Season", "2026-02-14 to 2026-02-16 Rome", "Deadline 2026-05-01",
        "2026-05-01 taxes due", "Born 1983-11-02", "may be 2026", "Tariff from 2026-01-01 for quay four", "x" * 400,
    ],
)  # fmt: skip
def test_labels_that_bear_none(label: str) -> None:
    assert find_labelled_date(label) is None


def test_a_time_lies_within_the_day_the_month_or_the_year_that_holds_it() -> None:
    at = When(DAY + 30 * MINUTE, Precision.MINUTE, 120)
    assert is_within(at, When(DAY, Precision.DAY))
    assert is_within(When(DAY, Precision.DAY), When(DAY, Precision.YEAR))
    assert not is_within(When(DAY, Precision.YEAR), When(DAY, Precision.DAY))
    assert not is_within(When(DAY - HOUR, Precision.MINUTE, 0), When(DAY, Precision.DAY))
    assert not is_within(at, at)
