"""Written times: spellings, magnitudes, precision, offsets, and what is no time."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from core.text.times import parse_time
from core.types.values import When
from core.types.words import Precision

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
