"""Memory that is short: what is dropped, that no answer changes, and the way back."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest
from engine_rig import Rig, facts, rig_at

from core.engine.runtime.monitor import Load, ResourceMonitor, ResourceProbes, release_caches
from core.index.manager import MaintenanceDue
from core.types.clock import ManualClock
from core.types.values import Pressure

MB = 1024 * 1024
QUESTIONS = ("jar number 7", "jar number 131", "shelf", "no such thing at all")


class Held:
    """A machine whose memory a test fills."""

    def __init__(self) -> None:
        self.megabytes = 0
        self.clock = ManualClock(0)

    def strain(self) -> ResourceMonitor:
        return ResourceMonitor(
            self.clock, 100, ResourceProbes(lambda: self.megabytes * MB, lambda: 16_384 * MB, lambda: None)
        )

    def calm(self) -> None:
        self.megabytes = 0


@pytest.fixture
def held() -> Held:
    return Held()


@pytest.fixture
def rig(tmp_path: Path, held: Held) -> Iterator[Rig]:
    with rig_at(tmp_path) as rig:
        rig.engine.settings.set_option("hnsw_from", 100).result(30)
        rig.lock()
        rig.unlock()
        rig.opened.load.resources = held.strain()
        rig.bring(facts(150))
        while rig.opened.search.index.due() is not MaintenanceDue.NOTHING:
            rig.opened.search.index.maintain(lambda *_: None, lambda: False)
        yield rig


def answers(rig: Rig) -> list[list[str]]:
    """Texts alone: each recall moves the scores a little, since what was answered counts as used."""
    return [rig.found(one) for one in QUESTIONS]


@pytest.mark.parametrize("collects_itself", [True, False])
def test_a_process_with_a_window_is_left_to_collect_its_own_garbage(
    held: Held, monkeypatch: pytest.MonkeyPatch, *, collects_itself: bool
) -> None:
    load = Load(held.clock, 100)
    load.resources, held.megabytes = held.strain(), 75
    collected: list[str] = []
    monkeypatch.setattr(gc, "collect", lambda: collected.append("x"))
    monkeypatch.setattr(gc, "isenabled", lambda: not collects_itself)  # a window switches it off
    assert release_caches(load) is Pressure.ELEVATED
    assert collected == ([] if collects_itself else ["x"])


@pytest.mark.slow
def test_e21_3_under_pressure_caches_go_and_answers_stay(rig: Rig, held: Held) -> None:
    before = answers(rig)
    dropped: list[str] = []
    assert release_caches(rig.opened.load, lambda _: dropped.append("x")) is Pressure.NORMAL
    assert not dropped
    held.megabytes = 75
    assert release_caches(rig.opened.load, lambda _: dropped.append("x")) is Pressure.ELEVATED
    assert dropped == ["x"]
    rig.opened.search.release_memory(Pressure.ELEVATED)
    assert rig.opened.search.probe_vectors == {}
    assert rig.opened.search.index.status().staged == 0, "the graph stays"
    release_caches(rig.opened.load, lambda _: dropped.append("x"))
    assert dropped == ["x"], "a level is acted upon once"
    assert answers(rig) == before


@pytest.mark.slow
def test_e21_3_when_it_is_critical_the_graph_goes_and_comes_back(rig: Rig, held: Held) -> None:
    before, full = answers(rig), rig.opened.search.index.status().memory_bytes
    held.megabytes = 95
    assert release_caches(rig.opened.load, rig.opened.search.release_memory) is Pressure.CRITICAL
    status = rig.opened.search.index.status()
    assert (status.staged, status.done, status.backend) == (150, 150, "hnsw")
    assert status.memory_bytes < full / 2
    assert rig.opened.search.index.due() is MaintenanceDue.NOTHING
    assert answers(rig) == before
    rig.store("The boat lies in the harbour")
    assert rig.found("boat harbour")[0] == "The boat lies in the harbour"
    held.calm()
    release_caches(rig.opened.load, rig.opened.search.release_memory)
    held.clock.advance(299_000)
    assert release_caches(rig.opened.load, rig.opened.search.release_memory) is Pressure.CRITICAL
    held.clock.advance(1_000)
    assert release_caches(rig.opened.load, rig.opened.search.release_memory) is Pressure.NORMAL
    assert rig.opened.search.index.due() is MaintenanceDue.LINK
    rig.opened.search.index.maintain(lambda *_: None, lambda: False)
    assert rig.opened.search.index.status().staged == 0
    assert answers(rig) == before
    assert rig.verify()["status"] == "ok"


@pytest.mark.slow
def test_an_index_without_its_graph_survives_a_restart(rig: Rig, held: Held) -> None:
    before = answers(rig)
    held.megabytes = 95
    release_caches(rig.opened.load, rig.opened.search.release_memory)
    rig.lock()
    rig.unlock()
    assert answers(rig) == before
    assert rig.verify()["status"] == "ok"


def test_an_exact_index_has_nothing_to_give(tmp_path: Path, held: Held) -> None:
    with rig_at(tmp_path) as rig:
        rig.opened.load.resources = held.strain()
        rig.bring(facts(5))
        assert not rig.opened.search.index.spare_memory(on=True)
        assert rig.found("jar number 3")[0] == "The shelf holds jar number 3"
