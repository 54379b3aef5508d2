"""No run asks the embedder while it holds the writer: whoever stores meanwhile would wait for the model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import consolidation_rig
import numpy as np
import pytest
from engine_rig import Rig, WordEmbedder
from ground_rig import Ran, ground_of, near_of, run
from numpy.typing import NDArray

from core.intake.revise.outcome_reports import OutcomeReports
from core.lifecycle.consolidate.consolidate import ConsolidationJob
from core.types.lifecycle import JobState, JobType
from core.types.values import Kind

WAITS_S = 5.0


class Storing(WordEmbedder):
    """Each time it is asked, somebody else writes, and it goes on when that is done."""

    def __init__(self) -> None:
        self.write: Callable[[], object] | None = None
        self.stuck = self.asked = 0

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed several texts."""
        if self.write is not None:
            self.asked += len(texts)
            try:
                self.write()
            except TimeoutError:
                self.stuck += 1
        return super().embed(texts)


def write_of(rig: Rig) -> Callable[[], object]:
    return lambda: rig.opened.storage.write(lambda tx: tx.now_ms).result(WAITS_S)


def test_a_consolidation_embeds_its_new_texts_off_the_writer(tmp_path: Path) -> None:
    embedder = Storing()
    with consolidation_rig.opened(tmp_path, embedder=embedder) as rig:
        consolidation_rig.gathering(rig, "a")
        consolidation_rig.completing(rig, "b")
        rig.settle()
        embedder.write = write_of(rig)
        row = rig.engine.jobs.run(JobType.CONSOLIDATE).result(60)
        assert row.state is JobState.DONE
        assert row.report["compressed"]["clusters"] == row.report["deduplicated"] == 1
        assert embedder.asked >= 2
        assert not embedder.stuck
        lacking = "SELECT count(*) FROM memories m LEFT JOIN embeddings e ON e.n = m.n WHERE m.status = 'active' "
        assert rig.value(f"{lacking} AND e.n IS NULL") == 0


def test_a_batch_that_was_not_made_ready_leaves_its_digest_to_be_embedded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with consolidation_rig.opened(tmp_path) as rig:
        consolidation_rig.gathering(rig, "a")
        consolidation_rig.completing(rig, "b")
        job, here = ConsolidationJob(), ground_of(rig, near=near_of(rig))
        monkeypatch.setattr(ConsolidationJob, "prepare", lambda *_: {})  # as if every text had changed since
        ran: Ran = run(rig, job, here)
        assert ran.counts == {"clusters": 1, "source_memories": 4, "skipped": 1}
        label = rig.value("SELECT n FROM memories WHERE kind = 'digest'")
        assert rig.value("SELECT count(*) FROM embeddings WHERE n = ?", label) == 0
        rig.settle()
        assert rig.value("SELECT count(*) FROM embeddings WHERE n = ?", label) == 1


def test_a_rule_is_turned_around_with_a_vector_that_was_made_off_the_writer(tmp_path: Path) -> None:
    embedder = Storing()
    with consolidation_rig.opened(tmp_path, embedder=embedder) as rig:
        client = rig.client("Anna", "read", "write")
        rule = rig.store("Never write tests", client, kind=Kind.RULE).memory_id
        marks = OutcomeReports(
            rig.opened.storage.make_id, rig.opened.storage.work, rig.opened.search.space, rig.opened.search.add_vectors
        )
        for actor in (client, rig.client("Ben", "read", "write"), client):
            rig.write(partial(marks.mark_harmful, memory_id=rule, actor=actor, reason="it failed"))
        embedder.write = write_of(rig)
        row = rig.engine.jobs.run(JobType.GAPS).result(60)
        assert row.report["inverted"] == 1
        assert embedder.asked
        assert not embedder.stuck
