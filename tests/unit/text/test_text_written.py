"""Times are written as exactly as they are known."""

from __future__ import annotations

import pytest

from core.text.times import format_time, parse_time
from core.types.values import When


@pytest.mark.parametrize(
    "text",
    [
        "2026", "2026-03", "2026-03-14", "0987-01-02", "2026-03-14T09Z", "2026-03-14T09:30Z", "2026-03-14T09:30:15Z",
        "2026-03-14T09:30:15.250Z", "2026-03-14T23:30+02:00", "2026-03-14T00:30:00.007-03:30", "2026-03-14+02:00",
        "2026-03-01-05:00",
    ],
)  # fmt: skip
def test_a_time_comes_back(text: str) -> None:
    when = parse_time(text)
    assert when is not None
    written = format_time(when)
    again = parse_time(written)
    assert again is not None
    assert (again.ms, again.precision, again.offset_min or 0) == (when.ms, when.precision, when.offset_min or 0)
    assert written in (text, text.replace("Z", "+00:00"))


def test_a_time_without_a_zone_gets_none_that_was_not_there() -> None:
    assert format_time(When(0)) == "1970-01-01T00:00:00.000Z"


def test_a_time_that_no_calendar_has_is_not_written() -> None:
    assert format_time(When(10**18)) is None
