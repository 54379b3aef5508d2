"""What somebody waits for comes first: no question stands behind an import, or before the snapshot."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from engine_rig import START_MS, HandClock, rig_at

from core.belief.extract.claim_model import ClaimModel, ClaimReading
from core.engine import startup
from core.engine.facade import built_in_readers
from core.errors import Code, LociError
from core.intake.claims import TextReaders
from core.types.requests import RecallQuery, StoreRequest
from core.types.values import OWNER_ACTOR, Kind

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


@pytest.mark.parametrize(("kind", "is_read"), [(Kind.FACT, True), (Kind.RULE, True), (Kind.EPISODE, False)])
def test_what_has_claims_is_read_ahead_off_the_writer(tmp_path: Path, kind: Kind, is_read: bool) -> None:
    read: list[tuple[str, str]] = []
    readers = TextReaders(read_ahead=lambda text: read.append((threading.current_thread().name, text)))
    with rig_at(tmp_path, clock=HandClock(START_MS), readers=readers) as rig:
        rig.store("I keep the spare keys in the blue drawer.", kind=kind)
        rig.settle()
    assert [text for _, text in read] == ["I keep the spare keys in the blue drawer."] * is_read
    assert all(name.startswith("loci-prompt") for name, _ in read)


def test_a_long_text_is_left_to_the_writer(tmp_path: Path) -> None:
    read: list[str] = []
    with rig_at(tmp_path, clock=HandClock(START_MS), readers=TextReaders(read_ahead=read.append)) as rig:
        rig.store("I keep the spare keys in the blue drawer. " * 20)
        rig.settle()
    assert read == []


@pytest.mark.expected_logs("reading ahead stopped: E3002")
def test_a_reader_that_fails_ahead_does_not_fail_the_store(tmp_path: Path) -> None:
    def fail(_: str) -> None:
        raise LociError(Code.EMBEDDING_FAILED, "no answer")

    with rig_at(tmp_path, clock=HandClock(START_MS), readers=TextReaders(read_ahead=fail)) as rig:
        rig.store("I keep the spare keys in the blue drawer.")
        rig.settle()
        assert rig.texts() == ["I keep the spare keys in the blue drawer."]


def test_the_claim_model_reads_a_stored_sentence_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    real = ClaimModel._read_anew

    def count(self: ClaimModel, sentence: str) -> ClaimReading:
        asked.append(sentence)
        return real(self, sentence)

    monkeypatch.setattr(ClaimModel, "_read_anew", count)
    with rig_at(tmp_path, clock=HandClock(START_MS), readers=built_in_readers()) as rig:
        rig.store("I moved to Trieste. I own a caravan.")
        rig.settle()
    assert sorted(asked) == ["I moved to Trieste.", "I own a caravan."]
