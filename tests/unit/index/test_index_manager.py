"""The manager: right answers while warming, upgrading and after faults."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from core.errors import CancelledError, Code, EnvironmentFaultError, LociError
from core.index.hnsw import HnswIndex
from core.index.manager import IndexManager, IndexState, MaintenanceDue
from core.index.snapshot import Identity, SnapshotRefusal, SnapshotRefused, read_snapshot, write_snapshot

DIMS = 32
OURS = Identity("ab" * 16, "model-1", DIMS)
Make = Callable[..., NDArray[np.float32]]
Exact = Callable[..., list[int]]
NONE = np.empty(0, np.int64)
NO_ROWS = np.empty((0, DIMS), np.float32)


def silent(_done: int, _total: int) -> None:
    pass


def never() -> bool:
    return False


def agrees(manager: IndexManager, vault: Any, exact: Exact, queries: NDArray[np.float32], k: int = 8) -> bool:
    """Whether the manager answers as an exact search of the vault does, plain and scoped."""
    labels, rows = vault.matrix()
    scope = labels[::3]
    for query in queries:
        if manager.search(query, k, None, vault.fetch).labels.tolist() != exact(labels, rows, query, k):
            return False
        if manager.search(query, k, scope, vault.fetch).labels.tolist() != exact(scope, rows[::3], query, k):
            return False
    return True


@pytest.fixture
def filled(vault: Any, clustered: Make) -> Any:
    vault.set(np.arange(1, 601), clustered(600))
    return vault


@pytest.fixture(params=[5000, 300])
def manager(request: pytest.FixtureRequest) -> IndexManager:
    """Once small enough for the exact backend, once over its border."""
    return IndexManager(DIMS, hnsw_from=request.param)


def test_knows_nothing_before_it_is_warm(manager: IndexManager, clustered: Make) -> None:
    assert manager.status().state is IndexState.EMPTY
    assert manager.status().needs_warm
    with pytest.raises(EnvironmentFaultError) as caught:
        manager.search(clustered(1)[0], 5)
    assert caught.value.code is Code.NO_INDEX


def test_an_empty_vault_is_ready_at_once(manager: IndexManager, vault: Any, clustered: Make) -> None:
    manager.warm(vault.loader(), silent, never)
    assert manager.status().state is IndexState.READY
    assert manager.search(clustered(1)[0], 5).labels.size == 0


def test_warm_loads_all(manager: IndexManager, filled: Any, exact: Exact, clustered: Make) -> None:
    seen: list[tuple[int, int]] = []
    manager.warm(filled.loader(), lambda done, total: seen.append((done, total)), never)
    status = manager.status()
    assert (status.state, status.done, status.total, status.revision) == (IndexState.READY, 600, 600, 1)
    assert not status.needs_warm
    assert seen[0] == (0, 600)
    assert seen[-1] == (600, 600)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert agrees(manager, filled, exact, clustered(10, seed=3))


def test_answers_are_complete_at_every_point_of_warming(
    manager: IndexManager, filled: Any, exact: Exact, clustered: Make
) -> None:
    checked: list[int] = []

    def look(done: int) -> None:
        assert manager.status().state is IndexState.WARMING
        assert manager.status().total == 600
        assert agrees(manager, filled, exact, clustered(3, seed=done + 1))
        checked.append(done)

    filled.between = look
    manager.warm(filled.loader(), silent, never)
    assert checked == list(range(0, 600, 50))


def test_without_fetch_the_answer_is_what_is_loaded(manager: IndexManager, filled: Any, clustered: Make) -> None:
    sizes: list[int] = []
    filled.between = lambda _done: sizes.append(manager.search(clustered(1)[0], 600).labels.size)
    manager.warm(filled.loader(), silent, never)
    assert sizes == list(range(0, 600, 50))


def test_writes_while_warming_win(manager: IndexManager, filled: Any, exact: Exact, clustered: Make) -> None:
    """The loader still sees the old vector, the deleted row and not the new one."""
    fresh = clustered(600, seed=11)

    def write(done: int) -> None:
        changed, gone, new = np.array([done + 5, 600 - done]), np.array([done + 60]), np.array([1000 + done])
        rows = fresh[: changed.size + 1]
        revision = filled.set(np.concatenate((changed, new)), rows)
        manager.apply(revision, np.concatenate((changed, new)), rows)
        manager.apply(filled.drop(gone), NONE, NO_ROWS, gone)
        assert agrees(manager, filled, exact, clustered(2, seed=done + 1))

    filled.between = write
    manager.warm(filled.loader(), silent, never)
    filled.between = lambda _done: None
    assert manager.status().done == len(filled.rows)
    assert manager.revision == filled.now
    assert agrees(manager, filled, exact, clustered(10, seed=3))


def test_writes_before_warming_win_too(manager: IndexManager, filled: Any, exact: Exact, clustered: Make) -> None:
    loader = filled.loader()
    rows = clustered(3, seed=12)
    manager.apply(filled.set(np.array([5, 2000, 2001]), rows), np.array([5, 2000, 2001]), rows)
    manager.apply(filled.drop(np.array([6, 2001])), NONE, NO_ROWS, np.array([6, 2001]))
    manager.warm(loader, silent, never)
    assert agrees(manager, filled, exact, np.concatenate((rows, clustered(8, seed=3))))


def test_cancel_leaves_a_right_index_and_the_next_warm_goes_on(
    manager: IndexManager, filled: Any, exact: Exact, clustered: Make
) -> None:
    answers = iter([False, False, False, True])
    with pytest.raises(CancelledError):
        manager.warm(filled.loader(), silent, lambda: next(answers))
    assert manager.status().state is IndexState.WARMING
    assert manager.status().done == 150
    assert manager.settled_index() is None
    assert agrees(manager, filled, exact, clustered(5, seed=3))
    filled.set(np.array([3]), clustered(1, seed=13))
    filled.asked.clear()
    manager.warm(filled.loader(), silent, never)
    assert sorted(filled.asked) == sorted({3, *range(151, 601)})
    assert agrees(manager, filled, exact, clustered(5, seed=4))


def test_a_second_warm_reads_only_what_changed(
    manager: IndexManager, filled: Any, exact: Exact, clustered: Make
) -> None:
    manager.warm(filled.loader(), silent, never)
    filled.set(np.array([10, 700]), clustered(2, seed=14))
    filled.drop(np.array([20]))
    filled.asked.clear()
    manager.warm(filled.loader(), silent, never)
    assert sorted(filled.asked) == [10, 700]
    assert agrees(manager, filled, exact, clustered(5, seed=3))


def test_a_change_that_failed_is_put_right(manager: IndexManager, filled: Any, exact: Exact, clustered: Make) -> None:
    manager.warm(filled.loader(), silent, never)
    revision = filled.set(np.array([30]), clustered(1, seed=15))
    with pytest.raises(LociError):
        manager.apply(revision, np.array([30]), np.full((1, DIMS), np.nan, np.float32))
    assert manager.status().needs_warm
    assert manager.settled_index() is None
    rows = clustered(1, seed=16)
    manager.apply(filled.set(np.array([31]), rows), np.array([31]), rows)
    assert manager.status().needs_warm
    manager.warm(filled.loader(), silent, never)
    assert not manager.status().needs_warm
    assert manager.settled_index() is not None
    assert agrees(manager, filled, exact, clustered(5, seed=3))


def test_a_failure_newer_than_the_loader_stands(manager: IndexManager, filled: Any, clustered: Make) -> None:
    loader = filled.loader()
    revision = filled.set(np.array([30]), clustered(1, seed=15))
    with pytest.raises(LociError):
        manager.apply(revision, np.array([30]), np.zeros((1, DIMS), np.float32))
    manager.warm(loader, silent, never)
    assert manager.status().needs_warm
    manager.warm(filled.loader(), silent, never)
    assert not manager.status().needs_warm


def test_set_and_removed_in_one_change_is_set(manager: IndexManager, vault: Any, clustered: Make) -> None:
    manager.warm(vault.loader(), silent, never)
    manager.apply(1, np.array([4]), clustered(1), np.array([4, 5]))
    assert manager.search(clustered(1)[0], 5).labels.tolist() == [4]


# ---- snapshots


def saved(manager: IndexManager, path: Path, sealer: Any) -> None:
    index = manager.settled_index()
    assert index is not None
    write_snapshot(path, index, OURS, "", sealer)


def test_a_snapshot_spares_the_reading(filled: Any, exact: Exact, clustered: Make, tmp_path: Path, sealer: Any) -> None:
    for border in (5000, 300):
        first = IndexManager(DIMS, hnsw_from=border)
        first.warm(filled.loader(), silent, never)
        first.maintain(silent, never)
        saved(first, tmp_path / "s", sealer)
        filled.set(np.array([7, 900]), clustered(2, seed=17 + border))
        filled.drop(np.array([8 + border // 100]))
        filled.asked.clear()
        second = IndexManager(DIMS, hnsw_from=border)
        load = partial(read_snapshot, tmp_path / "s", OURS, sealer, newest=filled.now)
        second.warm(filled.loader(), silent, never, load)
        assert sorted(filled.asked) == [7, 900]
        assert second.status().backend == ("flat" if border == 5000 else "hnsw")
        assert second.status().snapshot is None
        assert agrees(second, filled, exact, clustered(10, seed=3))


def test_answers_are_complete_while_a_snapshot_catches_up(
    manager: IndexManager, filled: Any, exact: Exact, clustered: Make, tmp_path: Path, sealer: Any
) -> None:
    old = IndexManager(DIMS, hnsw_from=300)
    old.warm(filled.loader(), silent, never)
    saved(old, tmp_path / "s", sealer)
    filled.set(np.arange(100, 400), clustered(300, seed=18))
    filled.drop(np.arange(400, 450))

    def load() -> Any:
        assert agrees(manager, filled, exact, clustered(2, seed=5))  # all pending, nothing loaded yet
        rows = clustered(2, seed=19)
        manager.apply(filled.set(np.array([50, 150]), rows), np.array([50, 150]), rows)
        return read_snapshot(tmp_path / "s", OURS, sealer, newest=filled.now)

    filled.between = lambda done: agrees(manager, filled, exact, clustered(2, seed=done + 1)) or pytest.fail("differs")
    manager.warm(filled.loader(), silent, never, load)
    assert manager.status().backend == "hnsw"
    assert agrees(manager, filled, exact, clustered(10, seed=3))
    assert manager.revision == filled.now


@pytest.mark.parametrize("reason", list(SnapshotRefusal))
def test_a_refused_snapshot_costs_nothing_but_time(
    manager: IndexManager, filled: Any, exact: Exact, clustered: Make, reason: SnapshotRefusal
) -> None:
    manager.warm(filled.loader(), silent, never, lambda: SnapshotRefused(reason))
    assert manager.status().snapshot is reason
    assert manager.status().done == 600
    assert agrees(manager, filled, exact, clustered(5, seed=3))


def test_a_snapshot_from_beyond_the_vault_is_not_used(
    manager: IndexManager, filled: Any, exact: Exact, clustered: Make
) -> None:
    stranger = HnswIndex(DIMS)
    stranger.add(np.arange(50), clustered(50, seed=20))
    stranger.revision = filled.now + 1
    manager.warm(filled.loader(), silent, never, lambda: stranger)
    assert manager.status().snapshot is SnapshotRefusal.OTHER_HISTORY
    assert agrees(manager, filled, exact, clustered(5, seed=3))


# ---- upkeep


def test_grows_into_the_graph(vault: Any, exact: Exact, clustered: Make) -> None:
    manager = IndexManager(DIMS, hnsw_from=500)
    manager.warm(vault.loader(), silent, never)
    rows = clustered(700)
    for low in range(0, 700, 100):
        assert manager.due() is (MaintenanceDue.REBUILD if low > 400 else MaintenanceDue.NOTHING)
        part = np.arange(low, low + 100)
        manager.apply(vault.set(part, rows[part]), part, rows[part])
    seen: list[tuple[int, int]] = []
    assert manager.maintain(lambda done, total: seen.append((done, total)), never) is MaintenanceDue.REBUILD
    assert seen[-1] == (700, 700)
    status = manager.status()
    assert (status.backend, status.done, status.staged, status.revision) == ("hnsw", 700, 0, vault.now)
    assert manager.due() is MaintenanceDue.NOTHING
    assert agrees(manager, vault, exact, clustered(10, seed=3))
    more = clustered(30, seed=21)
    manager.apply(vault.set(np.arange(2000, 2030), more), np.arange(2000, 2030), more)
    assert manager.due() is MaintenanceDue.LINK
    assert agrees(manager, vault, exact, more[:5])
    assert manager.maintain(silent, never) is MaintenanceDue.LINK
    assert manager.status().staged == 0
    assert agrees(manager, vault, exact, more[:5])


def test_writes_that_arrive_during_the_upgrade_are_in(vault: Any, exact: Exact, clustered: Make) -> None:
    manager = IndexManager(DIMS, hnsw_from=1000)
    vault.set(np.arange(1500), clustered(1500))
    vault.chunk = 2000
    manager.warm(vault.loader(), silent, never)
    manager.apply(vault.drop(np.arange(450, 1500)), NONE, NO_ROWS, np.arange(450, 1500))
    assert manager.due() is MaintenanceDue.REBUILD  # too many dead rows
    rows = clustered(60, seed=22)
    written: list[int] = []

    def write(_done: int, _total: int) -> None:
        step = len(written)
        at = np.array([step, 3000 + step])
        manager.apply(vault.set(at, rows[step : step + 2]), at, rows[step : step + 2])
        gone = np.array([100 + step])
        manager.apply(vault.drop(gone), NONE, NO_ROWS, gone)
        assert agrees(manager, vault, exact, clustered(1, seed=step + 1))
        written.append(step)

    manager._hnsw_from = 400  # stays a graph, so that it is linked and tells its progress
    manager.maintain(write, never)
    assert written
    assert manager.status().dead <= 2 * len(written)
    assert agrees(manager, vault, exact, np.concatenate((rows[:3], clustered(10, seed=3))))


def test_a_shrunken_graph_becomes_exact_again(vault: Any, exact: Exact, clustered: Make) -> None:
    manager = IndexManager(DIMS, hnsw_from=1200)
    vault.set(np.arange(1300), clustered(1300))
    manager.warm(vault.loader(), silent, never)
    assert manager.status().backend == "hnsw"
    manager.apply(vault.drop(np.arange(1100)), NONE, NO_ROWS, np.arange(1100))
    assert manager.maintain(silent, never) is MaintenanceDue.REBUILD
    assert (manager.status().backend, manager.status().dead) == ("flat", 0)
    assert agrees(manager, vault, exact, clustered(5, seed=3))


def test_upkeep_can_be_cancelled(vault: Any, exact: Exact, clustered: Make) -> None:
    manager = IndexManager(DIMS, hnsw_from=300)
    vault.set(np.arange(700), clustered(700))
    manager.warm(vault.loader(), silent, never)
    answers = iter([False] * 5 + [True] * 9)
    with pytest.raises(CancelledError):
        manager.maintain(silent, lambda: next(answers))
    assert 0 < manager.status().staged < 700
    assert agrees(manager, vault, exact, clustered(5, seed=3))
    manager.apply(vault.drop(np.arange(5)), NONE, NO_ROWS, np.arange(5))
    manager.maintain(silent, never)
    with pytest.raises(CancelledError):
        manager.purge(silent, lambda: True)
    assert manager.status().dead == 5
    assert agrees(manager, vault, exact, clustered(5, seed=3))


def test_purge_leaves_nothing_of_what_was_removed(vault: Any, exact: Exact, clustered: Make) -> None:
    manager = IndexManager(DIMS, hnsw_from=300)
    rows = clustered(400)
    vault.set(np.arange(400), rows)
    manager.warm(vault.loader(), silent, never)
    manager.maintain(silent, never)
    manager.apply(vault.drop(np.array([9])), NONE, NO_ROWS, np.array([9]))

    def holds(row: NDArray[np.float32]) -> bool:
        """Whether the graph's bytes contain the vector."""
        index = manager.settled_index()
        assert index is not None
        dump = index.dump()
        assert dump.graph is not None
        kept = dump.graph.read()
        dump.graph.close()
        unit = row / np.linalg.norm(row)
        for shift in range(4):
            floats = np.frombuffer(kept[shift : len(kept) - (len(kept) - shift) % 4], "<f4")
            with np.errstate(all="ignore"):  # links and labels read as floats are anything
                starts = np.flatnonzero(np.abs(floats[:-DIMS] - unit[0]) < 1e-3)
            if any(np.allclose(floats[at : at + DIMS], unit, atol=1e-3) for at in starts):
                return True
        return False

    assert holds(rows[9])
    assert holds(rows[10])
    manager.purge(silent, never)
    assert manager.status().dead == 0
    assert not holds(rows[9])
    assert holds(rows[10])
    assert manager.fetch(np.array([9]))[0].size == 0
    assert agrees(manager, vault, exact, clustered(5, seed=3))


@pytest.mark.slow
def test_everything_at_once(vault: Any, exact: Exact, clustered: Make) -> None:
    """Searches, writes, a warm and upkeep in threads: every search finds what was never touched."""
    rows = clustered(900)
    vault.set(np.arange(900), rows)
    vault.chunk = 30
    manager = IndexManager(DIMS, hnsw_from=600)
    started = threading.Event()
    loader = vault.loader()
    vault.between = lambda _done: started.set()

    def write() -> None:
        assert started.wait(10)
        fresh = clustered(300, seed=23)
        for i in range(60):
            at = np.arange(5000 + i * 5, 5005 + i * 5)
            manager.apply(100 + 2 * i, at, fresh[i * 5 : i * 5 + 5])
            manager.apply(101 + 2 * i, NONE, NO_ROWS, at[:2])

    def read(seed: int) -> int:
        assert started.wait(10)
        picks = np.random.default_rng(seed).integers(0, 900, 50)
        return sum(int(manager.search(rows[i], 1, None, vault.fetch).labels[0]) == i for i in picks)

    with ThreadPoolExecutor(5) as pool:
        warm = pool.submit(manager.warm, loader, silent, never)
        others = [pool.submit(read, seed) for seed in range(2)]
        writer = pool.submit(write)
        warm.result(30)
        upkeep = pool.submit(manager.maintain, silent, never)
        assert [each.result(30) for each in others] == [50, 50]
        writer.result(30)
        upkeep.result(30)
    manager.maintain(silent, never)
    assert manager.status().done == 900 + 60 * 3
    assert manager.revision == 219
