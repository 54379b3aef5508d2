"""A dry run and the run that follows it at once report the same names and numbers; through the engine."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import consolidation_rig
import pytest
from engine_rig import START_MS, HandClock, Rig, facts, later, rig_at, talk
from gathering_rig import told

from core.types.lifecycle import JobRow, JobState, JobType
from core.vault.database.tx import Tx

DAY_MS = 86_400_000
NOT_OF_THE_PLAN = ("duration_ms", "dry_run")


def ran(rig: Rig, kind: JobType) -> JobRow:
    row = rig.engine.jobs.run(kind).result(60)
    assert row.state is JobState.DONE, row.code
    return row


def foretold(rig: Rig, kind: JobType) -> dict[str, Any]:
    return dict(rig.engine.jobs.preview_runs(1, (kind,)).result(60).reports[kind])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_a_dry_run_of_a_consolidation_reports_what_the_run_does(tmp_path: Path, seed: int) -> None:
    with consolidation_rig.opened(tmp_path) as rig:
        consolidation_rig.of_all_kinds(rig, seed, most=2, least=0 if seed else 1)
        wanted = foretold(rig, JobType.CONSOLIDATE)
        found = dict(ran(rig, JobType.CONSOLIDATE).report)
        assert (wanted["dry_run"], found["dry_run"]) == (True, False)
        assert wanted.keys() == found.keys()
        assert {**found, **{name: wanted[name] for name in NOT_OF_THE_PLAN}} == wanted
        assert not found["skipped"]
        if not seed:
            numbers = [found["deduplicated"], *found["contradictions"].values(), found["corroborated"],
                    *found["compressed"].values(), found["pruned"]["decayed"]]  # fmt: skip
            assert all(numbers), found


def test_a_dry_run_counts_no_union_that_would_repeat_what_stands(tmp_path: Path) -> None:
    with consolidation_rig.opened(tmp_path) as rig:
        consolidation_rig.completing(rig, "a")
        wanted = foretold(rig, JobType.CONSOLIDATE)
        assert wanted["deduplicated"] == 1
        one, other = (row[0] for row in rig.rows("SELECT text FROM memories ORDER BY n"))
        for united in (f"{one}. {other}", f"{other}. {one}"):  # whichever is kept: what a merge would make stands
            told(rig, united, 1)
        wanted = foretold(rig, JobType.CONSOLIDATE)
        found = ran(rig, JobType.CONSOLIDATE).report
        assert (wanted["deduplicated"], wanted["skipped"]) == (found["deduplicated"], found["skipped"]) == (0, 0)


def test_a_consolidation_unites_no_halves_of_an_order(tmp_path: Path) -> None:
    words = " ".join(("Beside", *(f"post{one}{other}" for one in "abcdefghij" for other in "abcdefghij")))
    halves = (f"{words} bill whenever you pay", f"{words} bill to max@relay.example: also mail")
    with consolidation_rig.opened(tmp_path) as rig:
        for days, text in zip((6, 5), halves, strict=True):
            told(rig, text, days)
        wanted = foretold(rig, JobType.CONSOLIDATE)
        found = ran(rig, JobType.CONSOLIDATE).report
        assert (wanted["deduplicated"], found["deduplicated"]) == (0, 0)
        assert [row[0] for row in rig.rows("SELECT text FROM memories ORDER BY n")] == list(halves)


@pytest.mark.slow
@pytest.mark.parametrize("days", [0, 40, 120, 400, 800])
def test_a_dry_run_of_a_sweep_reports_what_the_run_does(tmp_path: Path, days: int) -> None:
    with rig_at(tmp_path, clock=HandClock(START_MS)) as rig:
        rig.engine.settings.set_option("prune_superseded", value=True).result(30)
        rig.bring([*facts(9), *talk(4)])
        rig.settle()
        kept = [rig.store(f"The {word} jug is on the sill.").memory_id for word in ("blue", "red", "green")]
        for nr, memory_id in enumerate(kept):
            rig.write(partial(Tx.update, table="memories", key={"id": memory_id}, changes={"importance": nr / 10}))
        later(rig, days)
        for _ in range(3):
            wanted = foretold(rig, JobType.SWEEP)
            assert wanted == ran(rig, JobType.SWEEP).report
            later(rig, 60)


def test_what_was_marked_and_is_over_is_counted_once(tmp_path: Path) -> None:
    with consolidation_rig.opened(tmp_path) as rig:
        rig.engine.settings.set_option("prune_superseded", value=True).result(30)
        younger, over = told(rig, "The blue jug is on the sill", 1), told(rig, "The jug was yellow once", 400)
        ended = {"status": "superseded", "superseded_by_id": younger, "retired_at": START_MS - 400 * DAY_MS}
        rig.write(lambda tx: tx.update("memories", {"id": over}, ended))
        rig.write(lambda tx: tx.insert("fading", {"memory_id": over, "since": 0, "confidence": 0.2}))
        wanted = foretold(rig, JobType.SWEEP)
        assert wanted == ran(rig, JobType.SWEEP).report == {"old_versions": 1}
        assert rig.value("SELECT count(*) FROM fading") == 0
