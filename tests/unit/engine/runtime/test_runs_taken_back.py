"""What a person takes back of a run stays back, and what age erased may be said again; through the engine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import consolidation_rig
import distill_rig
import pytest
from engine_rig import Rig, later, rig_at
from ground_rig import flow, ground_of
from talk_rig import TALK, bring_talk, plain_reader

from core.engine.runtime import expiry
from core.lifecycle.distill.distill import DistillJob
from core.types.lifecycle import JobRow, JobState, JobType
from core.types.values import OWNER_ACTOR, Kind

TEXTS = ("The plum jars stand on the cellar shelf.", "Ada repaired the kiln.", "The ferry leaves at nine.")


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with rig_at(tmp_path) as opened:
        opened.bring([{"text": text, "kind": "fact", "source": "inference"} for text in TEXTS])
        opened.settle()
        yield opened


def sweep(rig: Rig) -> int:
    row = rig.engine.jobs.run(JobType.SWEEP).result(30)
    assert row.state is JobState.DONE
    return int(row.report.get("expired", 0)) + int(row.report.get("faded", 0))


def test_what_was_taken_back_is_not_archived_again_while_the_step_is_kept(rig: Rig) -> None:
    later(rig, 700)
    assert sweep(rig) == 3
    rig.undo()
    later(rig, 1)
    assert sweep(rig) == 0
    memory_id = rig.value("SELECT id FROM memories LIMIT 1")
    assert "taken_back" in rig.engine.jobs.read_gauges(memory_id).result(30).protected_by


def test_a_preview_tells_of_what_would_be_erased(rig: Rig) -> None:
    later(rig, 700)
    sweep(rig)
    rig.engine.settings.set_option("erase_kinds", "fact").result(30)
    later(rig, 100)
    assert rig.engine.jobs.preview_runs().result(30).counts["erase"] == 3


def test_what_age_erased_may_be_said_again_and_no_file_brings_it_back(rig: Rig) -> None:
    later(rig, 700)
    sweep(rig)
    rig.engine.settings.set_option("erase_kinds", "fact").result(30)
    later(rig, 100)
    assert rig.engine.jobs.run(JobType.ERASE).result(30).report["erased"] == 3
    again = rig.bring(rig.folder / "rows.jsonl")
    assert (again.stored, dict(again.skipped)) == (0, {"erased": 3})
    client = rig.client("notes", "read", "write")
    assert rig.store(TEXTS[1], client).operation == "ADD"


def let_steps_expire(rig: Rig) -> None:
    """Years on, in small leaps, so that the clock is believed."""
    rig.opened.storage.threads.stop_tickers()
    later(rig, 100)
    for _ in range(3):
        later(rig, 1)
        rig.write(lambda tx: tx.run("UPDATE vault_state SET seq = seq"))
        rig.opened.tidied_at = None
        expiry.delete_expired(rig.opened)
    assert rig.value("SELECT count(*) FROM undo_steps WHERE undone_by IS NOT NULL") == 0


def gather(rig: Rig) -> JobRow:
    row = rig.engine.jobs.run(JobType.CONSOLIDATE).result(60)
    assert row.state is JobState.DONE
    return row


def test_what_was_taken_apart_is_not_united_again_when_the_step_has_expired(tmp_path: Path) -> None:
    with consolidation_rig.opened(tmp_path) as rig:
        for kind in ("stack", "merge", "digest", "supersede"):
            consolidation_rig.MAKERS[kind](rig, kind)
        row = gather(rig)
        assert (row.report["deduplicated"], row.report["compressed"]["clusters"]) == (3, 1)
        assert row.report["contradictions"]["resolved"] == 1
        assert rig.undo(row.step_id).left == ()
        let_steps_expire(rig)
        again = gather(rig).report
        assert again["deduplicated"] == again["compressed"]["clusters"] == 0
        assert sum(again["contradictions"].values()) == 0


def test_what_was_taken_back_and_brought_again_is_free_for_the_next_run(tmp_path: Path) -> None:
    with consolidation_rig.opened(tmp_path) as rig:
        consolidation_rig.gathering(rig, "a")
        row = gather(rig)
        back = rig.undo(row.step_id)
        rig.undo(back.undo_step_id)  # the person wanted it after all
        let_steps_expire(rig)
        assert rig.value("SELECT count(*) FROM consolidation_log WHERE decided_by = 'taken_back'") == 0


def test_what_was_read_and_taken_back_is_not_read_again_when_the_step_has_expired(rig: Rig) -> None:
    distill_rig.note(rig, "The user moved to Bergen.")
    ran = distill_rig.run(rig, distill_rig.answer(distill_rig.fact("The user moved to Bergen.")))
    assert ran.counts["new_facts"] == 1
    rig.undo(ran.step_id)
    here = ground_of(rig)
    assert here.read(lambda rows: DistillJob().count_backlog(rows, here)) == 0
    let_steps_expire(rig)
    assert here.read(lambda rows: DistillJob().count_backlog(rows, here)) == 0


def test_what_was_taken_back_is_not_archived_again_when_the_step_has_expired(rig: Rig) -> None:
    later(rig, 700)
    assert sweep(rig) == 3
    rig.undo()
    let_steps_expire(rig)
    assert sweep(rig) == 0
    ids = sorted(row[0] for row in rig.rows("SELECT id FROM memories"))
    assert sorted(row[0] for row in rig.rows("SELECT memory_id FROM taken_back")) == ids
    assert rig.engine.jobs.read_gauges(ids[0]).result(30).protected_by == ("taken_back",)
    assert rig.verify()["status"] == "ok"


def test_what_was_archived_anew_by_the_person_leaves_no_mark_when_the_steps_expire(rig: Rig) -> None:
    later(rig, 700)
    sweep(rig)
    back = rig.undo()
    rig.undo(back.undo_step_id)  # the person wanted it after all
    let_steps_expire(rig)
    assert rig.rows("SELECT * FROM taken_back") == []


def test_a_mark_holds_no_memory_up(rig: Rig) -> None:
    later(rig, 700)
    sweep(rig)
    rig.undo()
    let_steps_expire(rig)
    ids = [row[0] for row in rig.rows("SELECT id FROM memories ORDER BY n")]
    rig.engine.memories.erase(ids[:1], OWNER_ACTOR).result(30)
    assert rig.value("SELECT count(*) FROM taken_back") == 2
    rig.bring([{"text": "The mill by the river was sold.", "kind": "fact"}])
    new = rig.value("SELECT id FROM memories WHERE text LIKE 'The mill%'")
    rig.write(lambda tx: tx.insert("taken_back", {"memory_id": new, "at": 1}))
    assert rig.undo().left == ()
    assert rig.value("SELECT count(*) FROM memories WHERE id = ?", new) == 0


def test_statements_that_were_taken_back_are_not_made_again_when_the_step_has_expired(tmp_path: Path) -> None:
    with rig_at(tmp_path, talk=plain_reader()) as rig:
        made = rig.engine.statements.run(bring_talk(rig, TALK)).result(30)
        rig.undo(made.step_ids[0])
        let_steps_expire(rig)
        assert rig.value("SELECT count(*) FROM readings WHERE version = 'taken_back'") == len(TALK)
        assert flow(rig, DistillJob(), ground_of(rig)).counts == {}
        assert rig.texts(kind=Kind.FACT) == []
