"""Undoing a run restores the vault row for row, and undoing that undo brings its rows back; through the engine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import consolidation_rig
import distill_rig
import pytest
from engine_rig import Rig, differences
from gathering_rig import told

from core.types.lifecycle import JobRow, JobState, JobType
from core.types.values import Actor, Kind
from core.vault.database.tx import Tx

DAY_MS = 86_400_000
WORDS = "the old boat lies at the quay of the northern harbour near the red crane"


def faded(rig: Rig) -> None:
    """What fades, expires, recovers, is too weak, and is over."""
    rig.engine.settings.set_option("prune_superseded", value=True).result(30)
    mended = told(rig, "The blue jug is on the sill", 0)
    fades = told(rig, "The red jug is under the stairs", 160, used_days=20)
    rig.write(lambda tx: tx.run("UPDATE memories SET access_count = 20 WHERE id = ?", (fades,)))
    told(rig, "Nobody knows where the third jug went", 900)
    lost = told(rig, "Umbrellas were lost in the tram", 3000)
    over = told(rig, "The jug was yellow once", 400)
    ended = {"status": "superseded", "superseded_by_id": mended, "retired_at": rig.clock.now_ms() - 400 * DAY_MS}

    def write(tx: Tx) -> None:
        tx.insert("fading", {"memory_id": mended, "since": 0, "confidence": 0.2})
        tx.update("memories", {"id": lost}, {"permanence": "permanent"})
        tx.update("memories", {"id": over}, ended)

    rig.write(write)


def replayed(rig: Rig) -> None:
    """What is used and weak, and two that are near."""
    told(rig, f"Ada says {WORDS}", 2)
    told(rig, f"Eva thinks {WORDS}", 2)
    used = told(rig, "Ida keeps bees behind a hedge", 89, importance=0.0)
    at = rig.clock.now_ms() - 89 * DAY_MS
    rig.write(lambda tx: tx.run("UPDATE memories SET access_count = 3, last_accessed_at = ? WHERE id = ?", (at, used)))


def noted(rig: Rig) -> None:
    """An assistant's notes whose time is over."""
    client = rig.client("helper", "write").client_id
    notes = [told(rig, f"Note {nr} of the day", 40, kind=Kind.EPISODE, client_id=client) for nr in range(3)]
    at = rig.clock.now_ms() - 30 * DAY_MS

    def write(tx: Tx) -> None:
        for one in notes:
            tx.insert("distilled", {"memory_id": one, "state": "done", "at": at})

    rig.write(write)


CASES: dict[JobType, tuple[Callable[[Rig], Any], tuple[str, ...]]] = {
    JobType.CONSOLIDATE: (
        lambda rig: consolidation_rig.of_all_kinds(rig, 1, most=3, least=2),
        ("deduplicated", "contradictions", "corroborated", "compressed", "pruned"),
    ),
    JobType.SWEEP: (faded, ("fading", "recovered", "expired", "faded", "old_versions")),
    JobType.REPLAY: (replayed, ("strengthened", "proposed")),
    JobType.EPISODES: (noted, ("expired",)),
}
"""How a vault is made in which a run finds something, and what it must have done."""


@pytest.mark.slow
@pytest.mark.parametrize("kind", CASES)
def test_undoing_a_run_restores_every_row_and_undoing_that_brings_them_back(tmp_path: Path, kind: JobType) -> None:
    make, did = CASES[kind]
    with consolidation_rig.opened(tmp_path) as rig:
        make(rig)
        rig.settle()
        before = rig.dump()
        row: JobRow = rig.engine.jobs.run(kind).result(60)
        assert row.state is JobState.DONE, row.code
        for name in did:
            counted = row.report[name]
            assert any(counted.values()) if isinstance(counted, dict) else counted, (name, row.report)
        rig.settle()
        left = rig.dump()
        assert differences(before, left)

        report = rig.undo(row.step_id)
        assert report.left == ()
        assert not differences(before, rig.dump())
        assert rig.verify()["status"] == "ok"

        again = rig.undo(report.undo_step_id)
        assert again.left == ()
        assert not differences(left, rig.dump())
        assert rig.undo(again.undo_step_id).left == ()
        assert not differences(before, rig.dump())


def test_undoing_what_a_model_read_restores_every_row(tmp_path: Path) -> None:
    with consolidation_rig.opened(tmp_path) as rig:
        client = rig.client("aster", "read", "write", session="s1")
        known = rig.store("The user keeps wine in Graz.", client).memory_id
        new = f"{consolidation_rig.LATER} the user keeps wine in Linz."
        rig.store("The user likes rum.", client)
        distill_rig.note(rig, new, client)
        distill_rig.note(rig, "The user likes rum.", Actor("client", client.client_id, "aster", "s2"))
        distill_rig.note(rig, "I like tea.")
        rig.settle()
        before = rig.dump()
        facts = [distill_rig.fact("The user likes tea."), distill_rig.fact("The user likes rum.")]
        answer = distill_rig.answer(*facts, updated=[distill_rig.fact(new, target_id=known)])
        ran = distill_rig.run(rig, answer)
        assert ran.counts["new_facts"] == ran.counts["updated"] == ran.counts["confirmed"] == 1, ran.counts
        assert rig.undo(ran.step_id).left == ()
        assert not differences(before, rig.dump())


def test_undoing_an_update_that_a_model_read_restores_every_row(tmp_path: Path) -> None:
    with consolidation_rig.opened(tmp_path) as rig:
        client = rig.client("aster", "read", "write", session="s1")
        known = rig.store("The user keeps wine in Graz.", client).memory_id
        new = f"{consolidation_rig.LATER} the user keeps wine in Linz."
        distill_rig.note(rig, new, client)
        rig.settle()
        before = rig.dump()
        ran = distill_rig.run(rig, distill_rig.answer(updated=[distill_rig.fact(new, target_id=known)]))
        assert ran.counts["updated"] == 1, ran.counts
        assert rig.undo(ran.step_id).left == ()
        assert not differences(before, rig.dump())
