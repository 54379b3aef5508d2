"""When a round begins by itself, and what is news."""

from __future__ import annotations

from core.engine.sync.schedule import FIRST_MS, QUIET_MS, RoundSchedule
from core.errors import Code, EnvironmentFaultError

NOW = 1_700_000_000_000
MINUTE = 60_000


def begun(schedule: RoundSchedule, at: int, minutes: int = 5) -> bool:
    is_begun = schedule.begin_if_due(at, minutes)
    if is_begun:
        schedule.end()
    return is_begun


def test_the_first_comes_soon_and_the_next_at_the_interval() -> None:
    schedule = RoundSchedule()
    assert not begun(schedule, NOW)
    assert not begun(schedule, NOW + FIRST_MS - 1)
    assert begun(schedule, NOW + FIRST_MS)
    assert not begun(schedule, NOW + FIRST_MS + 5 * MINUTE - 1)
    assert begun(schedule, NOW + FIRST_MS + 5 * MINUTE)


def test_never_is_never_and_a_shorter_interval_counts_at_once() -> None:
    schedule = RoundSchedule()
    assert not begun(schedule, NOW, 0)
    assert not begun(schedule, NOW + 90 * MINUTE, 0)
    begun(schedule, NOW, 15)
    assert begun(schedule, NOW + FIRST_MS, 15)
    assert not begun(schedule, NOW + FIRST_MS + MINUTE - 1, 1)
    assert begun(schedule, NOW + FIRST_MS + 2 * MINUTE, 1)


def test_a_change_is_told_when_it_is_quiet_and_once() -> None:
    schedule = RoundSchedule()
    begun(schedule, NOW)
    assert begun(schedule, NOW + FIRST_MS)
    at = NOW + FIRST_MS + 1_000
    schedule.note_change(at)
    schedule.note_change(at + 5_000)
    assert not begun(schedule, at + QUIET_MS)
    assert begun(schedule, at + 5_000 + QUIET_MS)
    assert not begun(schedule, at + 6_000 + QUIET_MS)


def test_a_clock_that_was_set_back_stops_nothing() -> None:
    schedule = RoundSchedule()
    begun(schedule, NOW)
    assert begun(schedule, NOW + FIRST_MS)
    begun(schedule, NOW - 1_000 * MINUTE)
    assert begun(schedule, NOW - 1_000 * MINUTE + 5 * MINUTE)


def test_one_round_at_a_time_and_trouble_is_news_once() -> None:
    schedule = RoundSchedule()
    gone = EnvironmentFaultError(Code.SYNC_FOLDER_GONE, "The folder is not there.")
    full = EnvironmentFaultError(Code.DISK_FULL, "The folder is full.")
    begun(schedule, NOW)
    assert schedule.begin_if_due(NOW + FIRST_MS, 1)
    assert not schedule.begin_if_due(NOW + 90 * MINUTE, 1)
    assert schedule.end(gone)
    assert schedule.trouble == "The folder is not there."
    assert not schedule.end(gone)
    assert schedule.end(full)
    assert not schedule.end()
    assert schedule.trouble == ""
    assert schedule.end(gone)
