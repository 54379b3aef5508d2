"""What somebody waits for comes first: no question stands behind an import, or before the snapshot."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from engine_rig import rig_at

from core.engine import startup
from core.types.requests import RecallQuery, StoreRequest
from core.types.values import OWNER_ACTOR

PATIENCE_S = 60


@contextmanager
def full(pool: Any, workers: int) -> Iterator[None]:
    """Every thread of a pool is busy, and more is queued."""
    end, begun = threading.Event(), threading.Barrier(workers + 1)

    def work() -> None:
        begun.wait(PATIENCE_S)
        end.wait(PATIENCE_S)

    waiting = [pool.submit(work) for _ in range(workers)]
    begun.wait(PATIENCE_S)
    waiting += [pool.submit(end.wait, PATIENCE_S) for _ in range(workers)]
    try:
        yield
    finally:
        end.set()
        for one in waiting:
            one.result(PATIENCE_S)


def test_a_question_and_a_store_pass_what_an_import_has_queued(tmp_path: Path) -> None:
    with rig_at(tmp_path) as rig:
        rig.store("The ladder stands behind the shed.")
        with full(rig.opened.storage.threads.compute, 2):
            stored = rig.engine.memories.store(StoreRequest("The saw hangs beside it."), OWNER_ACTOR)
            assert stored.result(PATIENCE_S).operation == "ADD"
            found = rig.engine.memories.recall(RecallQuery("ladder shed"), OWNER_ACTOR).result(PATIENCE_S)
            assert [item.memory.text for item in found.result.items] == ["The ladder stands behind the shed."]
            background = rig.opened.search.embed_many(["a text of an import"])
            assert not background.done()
        assert background.result(PATIENCE_S).shape == (1, rig.opened.search.space.dims)


def test_the_snapshot_is_there_before_the_first_question(tmp_path: Path) -> None:
    with rig_at(tmp_path) as rig:
        for n in range(5):
            rig.store(f"Jar {n} holds plums.")
        rig.lock()
        for _ in range(5):
            rig.unlock()
            index = rig.opened.search.index.status()
            assert (index.done, index.snapshot) == (5, None)
            rig.lock()


def test_a_lost_snapshot_does_not_keep_the_vault_shut(tmp_path: Path) -> None:
    with rig_at(tmp_path) as rig:
        rig.store("The ladder stands behind the shed.")
        rig.lock()
        rig.engine.home.snapshot.unlink()
        rig.unlock()
        assert rig.found("ladder shed") == ["The ladder stands behind the shed."]


def test_an_empty_vault_opens(tmp_path: Path) -> None:
    with rig_at(tmp_path) as rig:
        assert rig.found("anything") == []
        startup.warm_index(rig.opened.storage, rig.opened.search)
        assert rig.opened.search.index.status().total == 0
