"""The sweep on a real vault: what fades, recovers, expires and is archived, and what is left alone (seed B, E4.4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from belief_rig import change, claim, item
from decay_rig import DAY_MS, fading, put, reasons, standing
from engine_rig import Rig
from ground_rig import Ran, ground_of, run

from core.lifecycle import sweep as sweep_module
from core.lifecycle.job_support.job_context import JobContext
from core.lifecycle.sweep import SweepJob, plan_prune, plan_sweep
from core.types.lifecycle import JobAction, PlannedAction
from core.types.requests import RecallQuery
from core.types.values import OWNER_ACTOR, Status
from core.types.views import Revision
from core.vault.database.rows import without_volatile_columns


def sweep(rig: Rig, **options: Any) -> Ran:
    return run(rig, SweepJob(), ground_of(rig, options))


def used(rig: Rig, name: str, recalled: float, **more: Any) -> str:
    """A memory that is strong enough to stay: it was recalled often, the last time so many days ago."""
    at = rig.clock.now_ms() - int(recalled * DAY_MS)
    return put(rig, name, **{"access_count": 200, "last_accessed_at": at, **more})


def days_pass(rig: Rig, days: float) -> None:
    rig.clock.advance(int(days * DAY_MS))  # type: ignore[attr-defined]  # the clock of this test has it


# ---- confidence


def test_facts_below_0_05_expire(rig: Rig) -> None:
    used(rig, "gone", 40, days=365)  # 0.9 exp(-0.008 * 365) = 0.0486
    used(rig, "fades", 40, days=200)
    ran = sweep(rig)
    assert [(deed.action, deed.memory_id, deed.reason) for deed in ran.deeds] == [
        (JobAction.FADE, "fades", "fading"),
        (JobAction.EXPIRE, "gone", "expired"),
    ]
    assert ran.deeds[1].value == pytest.approx(0.9 * 2.718281828 ** (-0.008 * 365))
    assert reasons(rig) == {"gone": "expired"}
    assert rig.get("gone").status is Status.ARCHIVED
    assert ran.counts == {"fading": 1, "expired": 1}


def test_facts_between_the_lines_are_marked_and_stand(rig: Rig) -> None:
    used(rig, "fades", 40, days=200)  # 0.18
    used(rig, "holds", 40, days=180)  # 0.21
    ran = sweep(rig)
    assert fading(rig) == {"fades"}
    assert standing(rig) == {"fades", "holds"}
    assert rig.rows("SELECT since, confidence FROM fading") == [(rig.clock.now_ms(), ran.deeds[0].value)]


def test_rules_fade_and_expire_too(rig: Rig) -> None:
    used(rig, "rule fades", 40, days=160, kind="rule")  # a rule's rate is 0.01: 0.182
    used(rig, "rule gone", 40, days=300, kind="rule")
    used(rig, "digest", 40, days=400, kind="digest")
    sweep(rig)
    assert fading(rig) == {"rule fades"}
    assert reasons(rig) == {"rule gone": "expired", "digest": "expired"}


def test_recovery_clears_fading(rig: Rig) -> None:
    used(rig, "m", 40, days=200)
    sweep(rig)
    change(rig, "m", last_confirmed_at=rig.clock.now_ms())
    ran = sweep(rig)
    assert [(deed.action, deed.reason) for deed in ran.deeds] == [(JobAction.RECOVER, "recovered")]
    assert ran.counts == {"recovered": 1}
    assert fading(rig) == set()


def test_confirming_a_memory_resets_the_decay_timer(rig: Rig) -> None:
    used(rig, "m", 40, days=200)
    sweep(rig)
    assert fading(rig) == {"m"}
    rig.engine.memories.confirm("m", OWNER_ACTOR).result(30)
    assert rig.get("m").last_confirmed_at == rig.clock.now_ms()
    sweep(rig)
    assert fading(rig) == set()


def test_permanent_facts_never_decay(rig: Rig) -> None:
    used(rig, "m", 40, days=4_000, permanence="permanent")
    used(rig, "stable", 40, days=500, permanence="stable")  # 0.33
    assert sweep(rig).deeds == []


def test_an_episode_does_not_lose_confidence(rig: Rig) -> None:
    used(rig, "m", 40, days=4_000, kind="episode")
    assert sweep(rig).deeds == []


def test_what_was_recalled_within_thirty_days_does_not_expire(rig: Rig) -> None:
    used(rig, "m", 29, days=400)
    assert [deed.action for deed in sweep(rig).deeds] == [JobAction.FADE]
    days_pass(rig, 2)
    assert [deed.action for deed in sweep(rig).deeds] == [JobAction.EXPIRE]


@pytest.mark.parametrize(
    "kept",
    [
        {"source": "user_explicit"},
        {"importance": 0.7},
        {"arousal": 0.5},
        {"valid_to": 1_900_000_000_000},
        {"occurred_at": 1_900_000_000_000},
        {"dates": ["2030-01-01"]},
    ],
)
def test_what_is_protected_fades_and_is_never_archived(rig: Rig, kept: dict[str, Any]) -> None:
    put(rig, "m", days=2_000, **kept)
    assert sweep(rig).counts == {"fading": 1}
    assert standing(rig) == {"m"}
    assert sweep(rig).deeds == []


def test_what_waits_in_the_review_is_left(rig: Rig) -> None:
    put(rig, "asked", days=2_000)
    put(rig, "beside", days=2_000)
    item(rig, "asked", "beside")
    assert sweep(rig).counts == {"fading": 2}


# ---- strength


def test_what_is_below_0_05_is_archived_as_faded(rig: Rig) -> None:
    for kind in ("episode", "fact", "rule", "procedure", "digest"):
        put(rig, f"old {kind}", days=125, kind=kind, permanence="permanent")  # 0.75 * 2 ** (-125 / 30) = 0.042
        put(rig, f"young {kind}", days=110, kind=kind, permanence="permanent")
    ran = sweep(rig)
    assert set(reasons(rig).values()) == {"faded"}
    assert {name.split()[0] for name in reasons(rig)} == {"old"}
    assert len(reasons(rig)) == ran.counts["faded"] == 5
    assert all(0.0 < deed.value < 0.05 for deed in ran.deeds)


def test_another_line_of_the_archive(rig: Rig) -> None:
    put(rig, "m", days=70, permanence="permanent")
    assert sweep(rig).deeds == []
    assert sweep(rig, archive_below=0.2).counts == {"faded": 1}


def test_imported_records_fade_in_rank_and_stay(rig: Rig) -> None:
    rig.bring([{"text": "a line of talk", "kind": "episode"}, {"text": "a note of a store", "kind": "fact"}])
    days_pass(rig, 1_000)
    sweep(rig)
    statuses: dict[str, str] = dict(rig.rows("SELECT kind, status FROM memories"))
    assert statuses == {"episode": "active", "fact": "archived"}


# ---- doubts and old versions


def test_old_doubts_are_archived(rig: Rig) -> None:
    used(rig, "old", 1, days=100, status="disputed", trust=0.1, confidence=0.9)
    used(rig, "young", 1, days=80, status="disputed", trust=0.1)
    used(rig, "trusted", 1, days=100, status="disputed", trust=0.2)
    ran = sweep(rig)
    assert reasons(rig) == {"old": "doubted"}
    assert (ran.counts, ran.deeds[0].value) == ({"doubted": 1}, 0.1)


def replaced(rig: Rig, name: str, days: float, **more: Any) -> str:
    """A version that was replaced so many days ago by one that stands."""
    now = rig.clock.now_ms()
    at = now - int(days * DAY_MS)
    new = used(rig, f"{name} anew", 1, valid_from=at, chain_id=name, version=2)
    put(
        rig, name, days=days + 50, status="superseded", status_reason="replaced", superseded_by_id=new,
        retired_at=at, valid_from=at - 50 * DAY_MS, valid_to=at, **more,
    )  # fmt: skip
    return name


def test_what_the_person_pinned_or_spared_is_not_marked_as_fading(rig: Rig) -> None:
    used(rig, "pinned", 40, days=200, pinned=1)
    used(rig, "spared", 40, days=200, spared=(rig.clock.now_ms(), rig.clock.now_ms() + DAY_MS))
    assert sweep(rig).deeds == []
    days_pass(rig, 2)
    assert [deed.memory_id for deed in sweep(rig).deeds] == ["spared"]  # its time is over


def held(rig: Rig, name: str, days: float, **asked: Any) -> str:
    """A memory that was held back so many days ago, with what was asked about it."""
    put(rig, name, days=days, status="quarantined", status_reason="unsure_low_trust")
    row = {
        "id": f"about_{name}", "kind": "classification", "existing_id": None, "incoming_id": name,
        "space_id": rig.value("SELECT space_id FROM memories WHERE id = ?", name), "reason": "unsure_low_trust",
        "state": "moot", "note": "expired", "fingerprint": name.encode().ljust(32), "opened_at": rig.clock.now_ms(),
        "closed_at": rig.clock.now_ms() - 91 * DAY_MS, **asked,
    }  # fmt: skip
    rig.write(lambda tx: tx.insert("conflicts", row))
    return name


def test_what_was_held_back_and_never_decided_is_archived_and_comes_back(rig: Rig) -> None:
    held(rig, "forgotten", 200)
    held(rig, "lately", 200, closed_at=rig.clock.now_ms() - 30 * DAY_MS)
    held(rig, "asked", 200, state="open", note=None, closed_at=None)
    held(rig, "proposed", 200, kind="proposal")
    ran = sweep(rig)
    assert ran.counts == {"unanswered": 1}
    assert reasons(rig) == {"forgotten": "unanswered"}
    assert prune_deeds_of(rig) == []  # a consolidation leaves it to the sweep
    assert sweep(rig).deeds == []
    rig.engine.library.revise_memories(["forgotten"], Revision(status=Status.ACTIVE)).result(30)
    assert rig.get("forgotten").status is Status.ACTIVE
    assert sweep(rig).deeds == []  # what the person brought back is spared


def prune_deeds_of(rig: Rig) -> list[PlannedAction]:
    ground = ground_of(rig)
    found: list[PlannedAction] = ground.read(lambda rows: plan_prune(rows, ground.options, ground.now_ms))
    return found


def test_old_versions_are_archived_where_the_person_wants_it(rig: Rig) -> None:
    replaced(rig, "old", 100)
    replaced(rig, "late", 80)
    replaced(rig, "said", 100, source="user_explicit")
    assert sweep(rig).deeds == []
    before = rig.rows("SELECT * FROM memories WHERE id = 'old'")
    ran = sweep(rig, prune_superseded=True)
    assert ran.counts == {"old_versions": 1}
    after = rig.rows("SELECT * FROM memories WHERE id = 'old'")
    changed = [(was, now) for was, now in zip(before[0], after[0], strict=True) if was != now]
    assert changed == [("superseded", "archived")]  # when and by what it was replaced is history
    assert sweep(rig, prune_superseded=True).deeds == []


def test_history_and_as_of_still_show_an_archived_version(rig: Rig) -> None:
    actor = rig.client("helper", "write", "read")
    first = rig.store("The kettle lives in the blue cupboard", actor).memory_id
    second = rig.store("The kettle lives in the red cupboard", actor).memory_id
    then = rig.clock.now_ms()
    days_pass(rig, 200)
    at = then + 100 * DAY_MS
    change(
        rig, first, status="superseded", status_reason="replaced", superseded_by_id=second, retired_at=at,
        chain_id=first, valid_to=at,
    )  # fmt: skip
    now = rig.clock.now_ms()
    change(rig, second, chain_id=first, version=2, valid_from=at, last_accessed_at=now, last_confirmed_at=now)

    def as_of(moment: int) -> list[str]:
        asked = rig.engine.memories.recall(RecallQuery("kettle cupboard", as_of_ms=moment), OWNER_ACTOR)
        return [found.memory.id for found in asked.result(30).result.items]

    def believed(axis: str) -> list[str]:
        page = rig.engine.timeline.list_valid_at(then + DAY_MS, axis).result(30)
        return sorted(row.id for row in page.rows)

    earlier = (as_of(then + DAY_MS), believed("true"), believed("believed"))
    assert earlier[0] == [first]
    assert sweep(rig, prune_superseded=True, prune_days=50).counts == {"old_versions": 1}
    assert (as_of(then + DAY_MS), believed("true"), believed("believed")) == earlier
    assert as_of(rig.clock.now_ms()) == [second]
    assert rig.found("kettle cupboard") == ["The kettle lives in the red cupboard"]
    history = rig.engine.memories.list_versions(second, OWNER_ACTOR).result(30)
    assert first in str(history)


def test_the_claims_of_an_archived_version_stay_replaced(rig: Rig) -> None:
    replaced(rig, "old", 100, text="lives in Graz")
    change(rig, "old", status="active")
    claim_id = claim(rig, "old", "lives_in", "Graz", "Graz", state="superseded")
    change(rig, "old", status="superseded")
    sweep(rig, prune_superseded=True)
    transitions = ground_of(rig)

    def follow(tx: Any) -> None:
        with rig.opened.storage.work.verb(tx, "x", "x", OWNER_ACTOR) as verb:
            transitions.make_transitions(tx, verb).assert_claims("old")

    rig.write(follow)
    assert rig.value("SELECT state FROM claims WHERE id = ?", claim_id) == "superseded"


# ---- the run as a whole


def test_a_split_text_leaves_as_a_whole_and_by_its_strongest_part(rig: Rig) -> None:
    put(rig, "head", days=400)
    put(rig, "tail", days=400, part_of="head", part_index=1, access_count=100, last_accessed_at=rig.clock.now_ms())
    assert [(deed.action, deed.memory_id) for deed in sweep(rig).deeds] == [(JobAction.FADE, "head")]
    assert fading(rig) == {"head", "tail"}
    days_pass(rig, 1_000)
    ran = sweep(rig)
    assert [(deed.action, deed.memory_id) for deed in ran.deeds] == [(JobAction.EXPIRE, "head")]
    assert reasons(rig) == {"head": "expired", "tail": "expired"}
    assert fading(rig) == set()


def test_what_was_marked_and_left_otherwise_is_no_longer_marked(rig: Rig) -> None:
    used(rig, "m", 40, days=200)
    sweep(rig)
    rig.forget("m")
    assert sweep(rig).counts == {"left_standing": 1}
    assert fading(rig) == set()


def test_a_second_sweep_does_nothing_and_planning_writes_nothing(rig: Rig) -> None:
    used(rig, "fades", 40, days=200)
    put(rig, "weak", days=300)
    before = rig.dump()
    plan = list(SweepJob().plan(ground_of(rig)))
    assert rig.dump() == before
    assert sweep(rig).deeds == plan
    assert sweep(rig).deeds == []


def test_undoing_a_sweep_restores_every_row(rig: Rig) -> None:
    for number in range(5):
        put(rig, f"weak {number}", days=300)
        used(rig, f"fades {number}", 40, days=200)
    claim(rig, "weak 0", "says", "text", "text")
    rig.write(lambda tx: tx.run("UPDATE memories SET read_at = 1"))
    rig.settle()

    def state() -> dict[str, Any]:
        found: dict[str, Any] = {}
        for table in ("memories", "claims", "evidence", "fading", "spared", "conflicts"):
            names = [row[0] for row in rig.rows("SELECT name FROM pragma_table_info(?)", table)]
            rows = rig.rows(f"SELECT * FROM {table} ORDER BY 1")  # noqa: S608 - names of this test
            found[table] = [without_volatile_columns(table, dict(zip(names, row, strict=True))) for row in rows]
        return found

    before = state()
    ran = sweep(rig)
    assert ran.counts == {"faded": 5, "fading": 5}
    assert state() != before
    assert rig.undo(ran.step_id).left == ()
    after = state()
    for name, rows in before.items():
        assert after[name] == rows, name
    assert {deed.memory_id for deed in sweep(rig).deeds} == {deed.memory_id for deed in ran.deeds}


def test_what_changed_since_the_plan_is_left(rig: Rig) -> None:
    put(rig, "touched", days=300)
    put(rig, "pinned", days=300)
    put(rig, "weak", days=300)
    ground = ground_of(rig)
    deeds = list(SweepJob().plan(ground))
    assert {deed.memory_id for deed in deeds} == {"touched", "pinned", "weak"}
    change(rig, "touched", last_accessed_at=rig.clock.now_ms())
    change(rig, "pinned", pinned=1)

    class Stale(SweepJob):
        def plan(self, ground: JobContext) -> Sequence[PlannedAction]:
            return deeds

    assert run(rig, Stale(), ground).counts == {"faded": 1, "skipped": 2}
    assert standing(rig) == {"touched", "pinned"}


def test_pruning_is_the_archiving_part_of_a_sweep(rig: Rig) -> None:
    put(rig, "weak", days=125, permanence="permanent")
    used(rig, "doubted", 1, days=100, status="disputed", trust=0.1)
    replaced(rig, "old", 100)
    used(rig, "fades", 40, days=200)
    options = ground_of(rig, {"prune_superseded": True}).options
    now = rig.clock.now_ms()
    deeds = rig.opened.storage.vault.read(lambda rows: plan_prune(rows, options, now))
    assert {(deed.action, deed.memory_id, deed.reason) for deed in deeds} == {
        (JobAction.ARCHIVE, "weak", "faded"),
        (JobAction.ARCHIVE, "doubted", "doubted"),
        (JobAction.ARCHIVE, "old", "old_version"),
    }


def test_pages_and_one_by_one_judge_alike(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [put(rig, f"m{number}", days=40 * number) for number in range(12)]
    put(rig, "part", days=500, part_of="m11", part_index=1)
    options, now = ground_of(rig).options, rig.clock.now_ms()
    whole = rig.opened.storage.vault.read(lambda rows: plan_sweep(rows, options, now))
    assert len(whole) > 5
    monkeypatch.setattr("core.lifecycle.sweep._PAGE", 5)
    assert rig.opened.storage.vault.read(lambda rows: plan_sweep(rows, options, now)) == whole

    def single(name: str) -> list[PlannedAction]:
        return rig.opened.storage.vault.read(lambda rows: plan_sweep(rows, options, now, [name]))

    singly = [single(name) for name in names]
    assert sorted((one for found in singly for one in found), key=repr) == sorted(whole, key=repr)
    assert replace(whole[0], value=0.0) == PlannedAction(whole[0].action, whole[0].memory_id, reason=whole[0].reason)


@pytest.mark.parametrize("query", [sweep_module._SOME, sweep_module._LEFT_SOME, sweep_module._OLD_SOME])
def test_a_batch_is_read_by_its_keys(rig: Rig, query: str) -> None:
    known = {"ids": '["m"]', "before": 1}
    found = rig.opened.storage.vault.read(lambda rows: rows.all(f"EXPLAIN QUERY PLAN {query}", known))
    steps = [str(row[3]) for row in found]
    assert any("sqlite_autoindex_memories_1 (id=?)" in step for step in steps)
    assert not [step for step in steps if "ix_memories_reach" in step or step.startswith("SCAN m")]
