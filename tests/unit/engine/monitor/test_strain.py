"""Strain: levels of the memory budget with their way back, and the battery."""

from __future__ import annotations

import psutil
import pytest

from core.engine.runtime.monitor import ResourceMonitor, ResourceProbes, battery_plugged, pressure_level
from core.types.clock import ManualClock
from core.types.values import Pressure

MB = 1024 * 1024
GB = 1024 * MB


class Machine:
    """Readings a test sets."""

    def __init__(self, *, total: int = 16 * GB, plugged: bool | None = None) -> None:
        self.held, self.total, self.is_plugged = 300 * MB, total, plugged

    def readers(self) -> ResourceProbes:
        return ResourceProbes(lambda: self.held, lambda: self.total, lambda: self.is_plugged)

    def take(self, megabytes: float) -> None:
        self.held = 300 * MB + int(megabytes * MB)


@pytest.mark.parametrize(
    ("ratio", "level"),
    [(0, "normal"), (0.699, "normal"), (0.7, "elevated"), (0.899, "elevated"), (0.9, "critical"), (3, "critical")],
)
def test_e21_2_the_lines_are_at_70_and_90_percent(ratio: float, level: str) -> None:
    assert pressure_level(ratio) is Pressure(level)


@pytest.mark.parametrize(("total", "budget"), [(4 * GB, 512), (8 * GB, 512), (8 * GB + 1, 1_024), (64 * GB, 1_024)])
def test_e21_1_the_budget_fits_the_machine_unless_it_is_chosen(total: int, budget: int) -> None:
    machine = Machine(total=total)
    strain = ResourceMonitor(ManualClock(0), 0, machine.readers())
    assert strain.budget_mb() == budget
    strain.use_budget(2_000)
    assert strain.budget_mb() == 2_000


def test_what_the_process_held_when_the_vault_opened_does_not_count() -> None:
    machine = Machine()
    strain = ResourceMonitor(ManualClock(0), 100, machine.readers())
    assert strain.used_mb() == 0
    machine.take(60)
    assert strain.used_mb() == 60
    machine.take(-50)
    assert strain.used_mb() == 0


def test_pressure_rises_at_once_and_falls_after_five_calm_minutes() -> None:
    machine, clock = Machine(), ManualClock(0)
    strain = ResourceMonitor(clock, 100, machine.readers())
    machine.take(95)
    assert strain.read_pressure() is Pressure.CRITICAL
    machine.take(10)
    assert strain.read_pressure() is Pressure.CRITICAL
    clock.advance(299_000)
    assert strain.read_pressure() is Pressure.CRITICAL
    clock.advance(1_000)
    assert strain.read_pressure() is Pressure.NORMAL


def test_below_the_line_but_not_below_nine_tenths_of_it_is_no_way_back() -> None:
    machine, clock = Machine(), ManualClock(0)
    strain = ResourceMonitor(clock, 100, machine.readers())
    machine.take(72)
    assert strain.read_pressure() is Pressure.ELEVATED
    machine.take(65)
    for _ in range(20):
        clock.advance(60_000)
        assert strain.read_pressure() is Pressure.ELEVATED
    machine.take(62)
    strain.read_pressure()
    clock.advance(300_000)
    assert strain.read_pressure() is Pressure.NORMAL


def test_a_new_rise_begins_the_five_minutes_anew() -> None:
    machine, clock = Machine(), ManualClock(0)
    strain = ResourceMonitor(clock, 100, machine.readers())
    for held in (95, 10, 95, 10):
        machine.take(held)
        strain.read_pressure()
        clock.advance(200_000)
    assert strain.read_pressure() is Pressure.CRITICAL
    clock.advance(100_000)
    assert strain.read_pressure() is Pressure.NORMAL


def test_each_line_has_its_own_five_minutes() -> None:
    machine, clock = Machine(), ManualClock(0)
    strain = ResourceMonitor(clock, 100, machine.readers())
    machine.take(95)
    strain.read_pressure()
    machine.take(75)
    strain.read_pressure()
    clock.advance(299_000)
    machine.take(5)
    strain.read_pressure()
    clock.advance(1_000)
    assert strain.read_pressure() is Pressure.ELEVATED, (
        "below the upper line for five minutes, below the lower for a second"
    )
    clock.advance(299_000)
    assert strain.read_pressure() is Pressure.NORMAL


def test_a_larger_budget_eases_the_pressure() -> None:
    machine, clock = Machine(), ManualClock(0)
    strain = ResourceMonitor(clock, 100, machine.readers())
    machine.take(95)
    strain.read_pressure()
    strain.use_budget(1_000)
    strain.read_pressure()
    clock.advance(300_000)
    assert strain.read_pressure() is Pressure.NORMAL


@pytest.mark.parametrize(("plugged", "on_battery"), [(True, False), (False, True), (None, False)])
def test_only_a_known_battery_counts(plugged: bool | None, on_battery: bool) -> None:
    assert ResourceMonitor(ManualClock(0), 0, Machine(plugged=plugged).readers()).on_battery() is on_battery


def test_a_machine_that_does_not_tell_has_no_battery(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails() -> None:
        raise FileNotFoundError("/sys/class/power_supply/AC0/online")

    monkeypatch.setattr(psutil, "sensors_battery", fails, raising=False)
    assert battery_plugged() is None
    monkeypatch.setattr(psutil, "sensors_battery", lambda: None, raising=False)
    assert battery_plugged() is None
    monkeypatch.delattr(psutil, "sensors_battery")
    assert battery_plugged() is None


def test_this_machine_answers() -> None:
    strain = ResourceMonitor(ManualClock(0))
    held = bytearray(64 * MB)
    assert strain.used_mb() > 32
    assert strain.budget_mb() in (512, 1_024)
    assert strain.read_pressure() in Pressure
    assert isinstance(strain.on_battery(), bool)
    assert len(held) == 64 * MB
