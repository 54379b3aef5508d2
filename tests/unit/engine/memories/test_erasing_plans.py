"""The plan of a job that waits or gave up keeps no digest of an erased text, and the job goes on without that deed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from engine_rig import Rig, rig_at
from gathering_rig import told
from ground_rig import ground_of, near_of
from real_models import real_embedder, real_readers

from core.lifecycle.consolidate.consolidate import ConsolidationJob
from core.lifecycle.job_support import job_store
from core.lifecycle.job_support.job_context import Planner
from core.lifecycle.questions import GapsJob
from core.types.lifecycle import JobAction, JobType, PlannedAction
from core.types.values import LIFECYCLE_ACTOR, OWNER_ACTOR
from core.vault.database.tx import Tx

SAME = ("The user prefers 2-space indentation.", "User likes two-space indentation.")
OTHER = (
    "The billing API returns amounts in cents.",
    "The billing API requires an idempotency key for every charge.",
    "The billing API rate limit is 100 requests a minute.",
    "Webhooks of the billing API are signed with HMAC.",
)


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with rig_at(tmp_path, embedder=real_embedder(), readers=real_readers()) as made:
        yield made


def begun(rig: Rig, kind: JobType, deeds: Sequence[PlannedAction]) -> str:
    """A job with this plan."""

    def write(tx: Tx) -> str:
        job_id = job_store.enqueue_job(tx, rig.opened.storage.make_id, kind, "scheduler")
        job = job_store.read_job(tx, job_id)
        assert job is not None
        job_store.begin_job(tx, job, deeds, len(deeds), {})
        return job_id

    return str(rig.write(write))


def kept(rig: Rig, job_id: str) -> list[PlannedAction]:
    return list(rig.opened.storage.vault.read(lambda rows: job_store.read_plan(rows, job_id, 0, 1_000)))


def digests(rig: Rig, memory_id: str) -> tuple[str, ...]:
    """What a plan may hold of a text."""
    return (str(rig.value("SELECT lower(hex(substr(content_hash, 1, 8))) FROM memories WHERE id = ?", memory_id)),)


def carried(rig: Rig, job: Planner, deeds: Sequence[PlannedAction], ground: Any) -> Counter[str]:
    def write(tx: Tx) -> Counter[str]:
        with rig.opened.storage.work.verb(tx, "run", "A run", LIFECYCLE_ACTOR) as verb:
            return Counter(job.apply_plan(tx, verb, ground, deeds).counts)

    done: Counter[str] = rig.write(write)
    return done


@pytest.mark.slow
@pytest.mark.parametrize("state", ["running", "queued", "poison"])
def test_a_plan_loses_the_marks_of_what_is_erased(rig: Rig, state: str) -> None:
    same = [told(rig, text) for text in SAME]
    other = [told(rig, text) for text in OTHER]
    ground, job = ground_of(rig, near=near_of(rig)), ConsolidationJob()
    deeds = list(job.plan(ground))
    named = [deed for deed in deeds if same[1] in (deed.memory_id, *deed.others)]
    assert named
    assert any(other[0] in (deed.memory_id, *deed.others) for deed in deeds)
    marks, stays = digests(rig, same[1]), digests(rig, other[0])
    job_id = begun(rig, JobType.CONSOLIDATE, deeds)
    rig.write(lambda tx: tx.run("UPDATE jobs SET state = ? WHERE id = ?", (state, job_id)))

    def held(marks: Sequence[str]) -> bool:
        return any(mark in row[0] for row in rig.rows("SELECT deed FROM job_deeds") for mark in marks)

    assert held(marks)
    assert held(stays)
    rig.engine.memories.erase([same[1]], OWNER_ACTOR).result(30)
    assert not held(marks)
    assert held(stays)
    left = kept(rig, job_id)
    assert [deed.memory_id for deed in left] == [deed.memory_id for deed in deeds]
    before = rig.value("SELECT count(*) FROM memories WHERE status = 'active' AND id = ?", same[0])
    counts = carried(rig, job, left, ground)
    assert counts["skipped"] == len(named)
    assert counts.total() > counts["skipped"], "the other deed is done"
    assert rig.value("SELECT count(*) FROM memories WHERE status = 'active' AND id = ?", same[0]) == before


def test_a_plan_loses_the_questions_about_what_is_erased(rig: Rig) -> None:
    gone, stays = rig.store("Ada keeps bees").memory_id, rig.store("Eva keeps goats").memory_id
    names = ["ab" * 32, "cd" * 32]
    detail = [{"open": [name], "close": [name]} for name in names]
    job_id = begun(
        rig,
        JobType.GAPS,
        [PlannedAction(JobAction.ASK, one, detail=what) for one, what in zip((gone, stays), detail, strict=True)],
    )
    rig.engine.memories.erase([gone], OWNER_ACTOR).result(30)
    left = kept(rig, job_id)
    assert [dict(deed.detail) for deed in left] == [{"open": [], "close": []}, detail[1]]
    assert carried(rig, GapsJob(), left[:1], ground_of(rig))["asked"] == 0
