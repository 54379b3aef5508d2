"""Automatic backups: when one is due, that an unchanged vault is not backed up again, and what a failure does."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from engine_rig import START_MS, HandClock, Rig, rig_at

from core.engine.vault import backup_schedule
from core.engine.vault.backup_schedule import FIRST_S, BackupSchedule, is_backup_due
from core.errors import Code, EnvironmentFaultError
from core.vault.backup import automatic_backups, made_at_ms, seq_of

DAY_MS = 86_400_000


class LeapClock(HandClock):
    """Both clocks can be moved by hand; deadlines of the engine run on."""

    ahead_s = 0.0

    def monotonic(self) -> float:
        return super().monotonic() + self.ahead_s


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with rig_at(tmp_path, clock=LeapClock(START_MS)) as found:
        yield found


def backups(rig: Rig) -> tuple[Path, ...]:
    return automatic_backups(rig.opened.storage.home)


def pass_time(rig: Rig, ms: int) -> None:
    clock = rig.clock
    assert isinstance(clock, LeapClock)
    clock.at_ms += ms
    clock.ahead_s += max(0, ms) / 1000


def look(rig: Rig, schedule: BackupSchedule) -> bool:
    """Look for what is due, long after the look before; whether a backup was made."""
    pass_time(rig, int(FIRST_S * 10_000))
    running = schedule.run_when_due(rig.opened)
    if running is None:
        return False
    running.result(30)
    return True


def test_the_first_backup_is_made_some_minutes_after_opening(rig: Rig) -> None:
    rig.store("The boat is moored in Kappeln.")
    schedule = BackupSchedule()
    assert schedule.run_when_due(rig.opened) is None, "whoever opens a vault waits for other things first"
    assert look(rig, schedule)
    (made,) = backups(rig)
    assert seq_of(made) == rig.value("SELECT seq FROM vault_state")
    assert made_at_ms(made) // 1000 == rig.clock.now_ms() // 1000


def test_an_empty_vault_is_not_backed_up(rig: Rig) -> None:
    assert not is_backup_due(rig.opened)


def test_the_next_one_is_due_after_a_week_and_a_change(rig: Rig) -> None:
    rig.store("The boat is moored in Kappeln.")
    schedule = BackupSchedule()
    schedule.run_when_due(rig.opened)
    assert look(rig, schedule)
    pass_time(rig, 8 * DAY_MS)
    assert not look(rig, schedule), "nothing changed"
    rig.store("The mast is of spruce.")
    assert look(rig, schedule)
    rig.store("The sails are red.")
    assert not look(rig, schedule), "the week is not over"
    assert len(backups(rig)) == 2


def test_who_wants_none_gets_none(rig: Rig) -> None:
    rig.store("The boat is moored in Kappeln.")
    rig.engine.settings.set_option("backup_days", 0).result(30)
    assert not is_backup_due(rig.opened)


def test_a_clock_set_back_does_not_end_the_backups(rig: Rig) -> None:
    rig.store("The boat is moored in Kappeln.")
    schedule = BackupSchedule()
    schedule.run_when_due(rig.opened)
    assert look(rig, schedule)
    rig.store("The mast is of spruce.")
    pass_time(rig, -30 * DAY_MS)
    assert is_backup_due(rig.opened)


@pytest.mark.expected_logs("an automatic backup was not made: E1003")
def test_a_failure_is_logged_and_tried_again_hours_later(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    rig.store("The boat is moored in Kappeln.")
    fault = EnvironmentFaultError(Code.DISK_FULL, "The disk is full.")

    def fail(*_: object) -> None:
        raise fault

    schedule = BackupSchedule()
    schedule.run_when_due(rig.opened)
    with monkeypatch.context() as patched, caplog.at_level(logging.WARNING):
        patched.setattr(backup_schedule, "write_backup", fail)
        pass_time(rig, int(FIRST_S * 1000))
        running = schedule.run_when_due(rig.opened)
        assert running is not None
        assert running.exception(30) is fault
    assert [record.getMessage() for record in caplog.records] == ["an automatic backup was not made: E1003"]
    assert not look(rig, schedule)
    pass_time(rig, 6 * 3_600_000)
    assert look(rig, schedule)
