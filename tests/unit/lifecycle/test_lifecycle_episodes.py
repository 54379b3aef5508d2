"""The cleanup of assistants' notes (seed B, episode cleanup with TTL and capacity limits)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from belief_rig import change, claim
from decay_rig import DAY_MS, put, reasons, standing
from engine_rig import Rig
from ground_rig import Ran, ground_of, run

from core.lifecycle.episode_cleanup import EpisodeCleanupJob
from core.lifecycle.job_support.job_context import JobContext
from core.lifecycle.sweep import find_protections
from core.types.lifecycle import JobAction, JobType, PlannedAction
from core.types.values import Actor, Status
from core.types.views import Revision


@pytest.fixture
def helper(rig: Rig) -> Actor:
    return rig.client("helper", "write")


def note(rig: Rig, actor: Actor, name: str, days: float, done: float | None = None, **more: Any) -> str:
    """A note of an assistant; consolidated so many days ago, or not at all."""
    put(rig, name, days=days, kind="episode", client_id=actor.client_id, **more)
    if done is not None:
        at = rig.clock.now_ms() - int(done * DAY_MS)
        rig.write(lambda tx: tx.insert("distilled", {"memory_id": name, "state": "done", "at": at}))
    return name


def clean(rig: Rig, **options: Any) -> Ran:
    # The least that the option allows is a hundred: a test may go below.
    return run(rig, EpisodeCleanupJob(), ground_of(rig, options))


def test_expired_episodes_are_archived_and_never_deleted(rig: Rig, helper: Actor) -> None:
    note(rig, helper, "over", 30, done=8)
    note(rig, helper, "young", 30, done=6)
    note(rig, helper, "waits", 30)
    ran = clean(rig)
    assert [(deed.action, deed.memory_id, deed.reason) for deed in ran.deeds] == [
        (JobAction.EXPIRE, "over", "consolidated_note")
    ]
    assert reasons(rig) == {"over": "consolidated_note"}
    assert standing(rig) == {"young", "waits"}
    assert clean(rig).deeds == []


def test_every_way_of_being_consolidated_counts(rig: Rig, helper: Actor) -> None:
    at = rig.clock.now_ms() - 9 * DAY_MS
    put(rig, "digest", kind="digest", importance=0.9)
    note(rig, helper, "absorbed", 30, status="consolidated", consolidated_into="digest", retired_at=at)
    note(rig, helper, "read", 30)
    note(rig, helper, "failed", 30)
    rig.write(lambda tx: tx.insert("episodes", {"memory_id": "read", "consolidated_at": at}))
    rig.write(lambda tx: tx.insert("distilled", {"memory_id": "failed", "state": "failed", "at": at}))
    assert clean(rig).counts == {"expired": 1, "remaining": 1}
    assert set(reasons(rig)) == {"read"}  # what the digest stands for comes back through the digest
    assert rig.value("SELECT status FROM memories WHERE id = 'absorbed'") == "consolidated"


def test_capacity_enforcement_targets_consolidated_episodes(rig: Rig, helper: Actor) -> None:
    for number in range(6):
        note(rig, helper, f"waits {number}", 60 - number)
    for number in range(4):
        note(rig, helper, f"done {number}", 20 - number, done=1)
    ran = clean(rig, episode_capacity=8)
    assert [(deed.action, deed.memory_id) for deed in ran.deeds] == [
        (JobAction.ARCHIVE, "done 0"),
        (JobAction.ARCHIVE, "done 1"),
    ]
    assert reasons(rig) == {"done 0": "over_capacity", "done 1": "over_capacity"}
    assert ran.counts == {"capacity": 2, "remaining": 8}
    assert clean(rig, episode_capacity=3).counts == {"capacity": 2, "remaining": 6}
    assert standing(rig) == {f"waits {number}" for number in range(6)}  # though they are still too many


def test_cleanup_returns_statistics(rig: Rig, helper: Actor) -> None:
    for number in range(3):
        note(rig, helper, f"over {number}", 30, done=8)
        note(rig, helper, f"done {number}", 20, done=1)
        note(rig, helper, f"waits {number}", 10)
    ran = run(rig, EpisodeCleanupJob(), ground_of(rig, {"episode_capacity": 4}), batch=2)
    assert ran.counts == {"expired": 3, "capacity": 2, "remaining": 4}


def test_each_assistant_has_its_own_capacity(rig: Rig, helper: Actor) -> None:
    other = rig.client("other", "write")
    for number in range(3):
        note(rig, helper, f"a{number}", 5 - number, done=1)
    note(rig, other, "b", 9, done=1)
    assert clean(rig, episode_capacity=2).counts == {"capacity": 1, "remaining": 3}
    assert set(reasons(rig)) == {"a0"}


def test_imports_and_the_persons_own_notes_are_never_touched(rig: Rig, helper: Actor) -> None:
    rig.bring([{"text": "a line of talk", "kind": "episode"}])
    put(rig, "own", days=30, kind="episode")
    at = rig.clock.now_ms() - 20 * DAY_MS
    done = [{"memory_id": row[0], "state": "done", "at": at} for row in rig.rows("SELECT id FROM memories")]
    rig.write(lambda tx: tx.insert_many("distilled", done))
    note(rig, helper, "fact", 30, done=20)
    change(rig, "fact", kind="fact")
    assert clean(rig, episode_capacity=0).deeds == []


@pytest.mark.parametrize("kept", [{"pinned": 1}, {"importance": 0.7}, {"source": "user_explicit"}, {"arousal": 0.6}])
def test_what_is_protected_stays(rig: Rig, helper: Actor, kept: dict[str, Any]) -> None:
    note(rig, helper, "m", 30, done=20, **kept)
    assert clean(rig, episode_capacity=0).deeds == []


def test_what_changed_since_the_plan_is_left(rig: Rig, helper: Actor) -> None:
    note(rig, helper, "over", 30, done=8)
    note(rig, helper, "pinned", 30, done=8)
    ground = ground_of(rig)
    deeds = list(EpisodeCleanupJob().plan(ground))
    change(rig, "pinned", pinned=1)

    class Stale(EpisodeCleanupJob):
        def plan(self, ground: JobContext) -> Sequence[PlannedAction]:
            return deeds

    assert run(rig, Stale(), ground).counts == {"expired": 1, "skipped": 1, "remaining": 1}


def test_what_a_digest_stands_for_keeps_its_claims(rig: Rig, helper: Actor) -> None:
    at = rig.clock.now_ms() - 9 * DAY_MS
    put(rig, "digest", kind="digest", importance=0.9)
    note(rig, helper, "absorbed", 30, text="lives in Graz", status="active")
    claim_id = claim(rig, "absorbed", "lives_in", "Graz", "Graz")
    change(rig, "absorbed", status="consolidated", consolidated_into="digest", retired_at=at)
    assert clean(rig).deeds == []
    assert rig.value("SELECT state FROM claims WHERE id = ?", claim_id) == "asserted"


def test_what_the_person_took_back_is_not_archived_by_the_next_run(rig: Rig, helper: Actor) -> None:
    note(rig, helper, "undone", 30, done=8)
    row = rig.engine.jobs.run(JobType.EPISODES).result(30)
    assert reasons(rig) == {"undone": "consolidated_note"}
    rig.undo(row.step_id)
    assert standing(rig) == {"undone"}
    assert clean(rig, episode_capacity=0).deeds == []
    now = rig.clock.now_ms()
    kept = rig.opened.storage.vault.read(lambda rows: find_protections(rows, ["undone"], now))
    assert kept == {"undone": ("taken_back",)}


def test_what_the_person_brought_back_from_the_archive_is_not_archived_by_the_next_run(rig: Rig, helper: Actor) -> None:
    note(rig, helper, "back", 30, done=8)
    clean(rig)
    rig.engine.library.revise_memories(["back"], Revision(status=Status.ACTIVE)).result(30)
    assert clean(rig, episode_capacity=0).deeds == []
