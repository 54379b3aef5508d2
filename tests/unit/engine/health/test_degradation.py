"""What is away costs what it alone could do, is told, and comes back by itself (E32, C17)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from engine_rig import Rig, facts, refused, rig_at, talk
from flaky_embedder import FlakyEmbedder

from core.engine.health import describe_problem, health_report
from core.errors import Code
from core.recall.result import NO_VECTORS
from core.types.lifecycle import Health
from core.types.recall import ContextQuery
from core.types.requests import RecallQuery
from core.types.values import OWNER_ACTOR
from core.types.views import Revision
from core.vault.database.faults import disk_full_error
from core.vault.vault import Vault

pytestmark = pytest.mark.expected_logs("the embedder does not answer")
AWAY = (Code.EMBEDDER_UNAVAILABLE, Code.EMBEDDING_FAILED, Code.MODEL_CHANGED)


@pytest.fixture
def flaky() -> FlakyEmbedder:
    return FlakyEmbedder()


@pytest.fixture
def rig(tmp_path: Path, flaky: FlakyEmbedder) -> Iterator[Rig]:
    with rig_at(tmp_path, embedder=flaky) as rig:
        yield rig


def how(rig: Rig) -> Health:
    return rig.opened.storage.vault.read(lambda rows: health_report(rig.opened, rows))


def pending(rig: Rig) -> int:
    return how(rig).counts["pending_embeddings"]


@pytest.mark.parametrize("code", AWAY)
def test_e32_1a_without_an_embedder_words_are_searched_and_it_is_said(
    rig: Rig, flaky: FlakyEmbedder, code: Code
) -> None:
    rig.store("The kiln stands in the shed")
    flaky.code = code
    found = rig.recall("kiln shed")
    assert [item.memory.text for item in found.items] == ["The kiln stands in the shed"]
    assert found.strategy == NO_VECTORS
    assert "search model does not answer" in found.reason
    nothing = rig.recall("xylophone")
    assert nothing.abstained
    assert "search model does not answer" in nothing.reason
    assert how(rig).degradation["search_strategy"] == "bm25_only"
    flaky.code = None
    assert rig.recall("kiln shed").strategy == "hybrid"
    assert how(rig).degradation["search_strategy"] == "full"


def test_what_is_stored_meanwhile_waits_for_its_vector_and_gets_it_without_a_restart(
    rig: Rig, flaky: FlakyEmbedder
) -> None:
    rig.store("The boat lies in the harbour")
    assert pending(rig) == 0
    flaky.code = Code.EMBEDDER_UNAVAILABLE
    for n in range(3):
        assert rig.store(f"The shelf holds jar number {n}").operation == "ADD"
    rig.bring([*facts(4, what="The cellar holds cask"), *talk(5)])
    assert pending(rig) == 12
    assert rig.found("jar number 2")[0] == "The shelf holds jar number 2"
    assert any("12 new memories can be found by their words only" in one for one in how(rig).warnings)
    flaky.code = None
    rig.settle()
    assert pending(rig) == 0
    assert rig.opened.search.index.status().total == 13
    assert rig.recall("jar number 2").strategy == "hybrid"
    assert rig.verify()["status"] == "ok"


def test_the_backlog_rests_while_the_embedder_is_away_and_loses_nothing(rig: Rig, flaky: FlakyEmbedder) -> None:
    flaky.code = Code.EMBEDDING_FAILED
    rig.store("The kiln stands in the shed")
    with refused(Code.EMBEDDING_FAILED):
        rig.settle()
    assert pending(rig) == 1
    flaky.code = None
    rig.settle()
    assert pending(rig) == 0


def test_editing_asking_and_judging_go_on_without_an_embedder(rig: Rig, flaky: FlakyEmbedder) -> None:
    kept = rig.store("The kiln stands in the shed").memory_id
    flaky.code = Code.EMBEDDER_UNAVAILABLE
    report = rig.engine.library.revise_memories([kept], Revision(text="The kiln stands in the barn")).result(30)
    assert report.changed == 1
    assert rig.found("kiln barn") == ["The kiln stands in the barn"]
    context = rig.engine.memories.build_context(ContextQuery("Where is the kiln?"), OWNER_ACTOR).result(30)
    assert "The kiln stands in the barn" in context.context.text
    judged = rig.engine.memories.give_feedback(report.ids[0], "irrelevant", "where is the boat", OWNER_ACTOR).result(30)
    assert rig.value("SELECT context IS NULL AND vector_space IS NULL FROM feedback WHERE id = ?", judged.id)
    assert rig.engine.recall_trials.try_question(RecallQuery("kiln"), {}).result(30).strategy == NO_VECTORS
    assert rig.engine.timeline.trace_evolution("kiln").result(30).events
    flaky.code = None
    rig.settle()
    assert pending(rig) == 0
    assert rig.recall("kiln barn").strategy == "hybrid"


def test_e34_2_vectors_of_another_length_are_refused_and_words_answer(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig.store("The kiln stands in the shed")
    monkeypatch.setattr(FlakyEmbedder, "embed", lambda _, texts: np.ones((len(texts), 12), np.float32))
    found = rig.recall("kiln shed")
    assert (found.strategy, rig.opened.search.active_space.fault.code) == (NO_VECTORS, Code.DIMENSION_MISMATCH)
    rig.store("The boat lies in the harbour")
    assert pending(rig) == 1
    monkeypatch.undo()
    rig.settle()
    assert pending(rig) == 0
    assert rig.recall("boat harbour").strategy == "hybrid"


def test_a_full_disk_can_be_read_says_so_and_is_left_by_itself(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    rig.store("The kiln stands in the shed")
    with monkeypatch.context() as full:

        def refuse(*_: object) -> None:
            raise disk_full_error()

        full.setattr(Vault, "_run_transaction", refuse)
        with refused(Code.DISK_FULL):
            rig.store("The boat lies in the harbour")
        assert rig.found("kiln") == ["The kiln stands in the shed"]
        assert how(rig).warnings[0] == describe_problem("disk_full")
    rig.store("The boat lies in the harbour")
    assert describe_problem("disk_full") not in how(rig).warnings
    assert rig.found("boat harbour") == ["The boat lies in the harbour"]


def test_a_vault_that_is_locked_is_no_full_disk(rig: Rig) -> None:
    opened = rig.opened
    rig.lock()
    with refused(Code.VAULT_LOCKED):
        opened.storage.write(lambda tx: tx.seq).result(10)
    assert opened.storage.write_fault is None
