"""Seed B's lifecycle, scenario by scenario, through the engine's own doors.

Formulas, the parser and the pipeline have tests of their own beside their modules; here each scenario is met as a
caller meets it. Each docstring names the requirement; where the settled design moved a word, it says so.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from decay_rig import DAY_MS, fading, put, reasons, standing
from engine_rig import Rig, later, rig_at
from fake_ollama import FakeOllama
from life_rig import harmful, helpful, level, lives, run

from core.engine.jobs.scheduler import SchedulerPacing
from core.engine.startup import built_in_readers
from core.errors import Code, UserError
from core.intake.claims import TextReaders
from core.types.belief import ModelServerState
from core.types.lifecycle import JobType
from core.types.recall import ContextQuery
from core.types.requests import StoreRequest
from core.types.values import OWNER_ACTOR, Kind, Status
from core.types.views import Revision

LEVELS = {"permanent": 0.0, "stable": 0.002, "standard": 0.008, "volatile": 0.03, "ephemeral": 0.1}
TABS = "Always indent with tabs."


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with rig_at(tmp_path) as rig:
        rig.engine.scheduler.beats = SchedulerPacing(every_s=0.0, quiet_s=0.0)
        yield rig


# ---- fact validity lifecycle states


def test_a_fact_starts_as_active_with_full_confidence(rig: Rig) -> None:
    """B Fact validity, `starts as active`: what the owner says is wholly trusted when it is stored."""
    kept = rig.get(rig.store("Ada keeps bees").memory_id)
    assert (kept.status, kept.confidence) == (Status.ACTIVE, 1.0)
    assert rig.engine.jobs.read_gauges(kept.id).result(30).confidence == 1.0


def test_a_fact_of_the_same_slot_supersedes_with_a_link_in_one_step(rig: Rig) -> None:
    """B Fact validity, `superseded`; B Storage, `single transaction`: status, pointer and edge."""
    older = lives(rig, "Graz")
    seq = rig.value("SELECT seq FROM vault_state")
    newer = lives(rig, "Linz")
    assert (rig.get(older).status, rig.get(newer).status) == (Status.SUPERSEDED, Status.ACTIVE)
    assert rig.value("SELECT superseded_by_id FROM memories WHERE id = ?", older) == newer
    assert rig.rows("SELECT to_id FROM edges WHERE from_id = ? AND type = 'supersedes'", newer) == [(older,)]
    assert rig.value("SELECT seq FROM vault_state") == seq + 1
    assert [one.id for one in rig.engine.memories.list_versions(newer, OWNER_ACTOR).result(30)] == [older, newer]
    assert "Bruno lives in Graz." not in rig.found("Where does Bruno live?")


def test_a_fact_is_retracted_by_forgetting_and_comes_back_by_undo(rig: Rig) -> None:
    """B Fact validity, `retracted via forget`: `deleted` in Loci's words; found by no search, restorable."""
    gone = rig.store("Ada keeps bees").memory_id
    rig.forget(gone)
    assert rig.get(gone).status == Status.DELETED
    assert rig.found("bees") == []
    rig.undo()
    assert rig.found("bees") == ["Ada keeps bees"]


def test_a_fact_expires_below_five_hundredths_and_is_only_set_aside(rig: Rig) -> None:
    """B Fact validity, `expired via decay sweep`; `archived` with the reason in Loci's words."""
    put(rig, "below", days=90, permanence="volatile", confidence=0.7)
    put(rig, "above", days=80, permanence="volatile", confidence=0.7)
    run(rig, JobType.SWEEP)
    assert reasons(rig) == {"below": "expired"}
    assert standing(rig) == {"above"}
    assert [(one.id, one.reason) for one in rig.engine.jobs.list_archived().result(30).rows] == [("below", "expired")]


def test_a_fading_fact_stays_active_and_is_still_found(rig: Rig) -> None:
    """B Fact validity, `fading via decay sweep`: a mark beside the status; the search goes on finding it."""
    dim = level(rig, rig.store("The shelf holds jar seven.").memory_id, "volatile")
    later(rig, 60)
    run(rig, JobType.SWEEP)
    assert fading(rig) == {dim}
    assert rig.get(dim).status == Status.ACTIVE
    assert rig.found("Which jar is on the shelf?") == ["The shelf holds jar seven."]
    assert rig.engine.jobs.read_gauges(dim).result(30).is_fading


@pytest.mark.parametrize("status", [one for one in Status if one is not Status.ACTIVE])
def test_only_what_is_active_is_returned_by_search(rig: Rig, status: Status) -> None:
    """B Fact validity: no other state is returned by default, in no mode of search."""
    put(rig, "kept")
    put(rig, "other", status=status.value)
    for mode in ("hybrid", "semantic", "keyword"):
        assert "text of other" not in rig.found("text of other", mode=mode)


# ---- permanence and decay


@pytest.mark.parametrize(("permanence", "rate"), LEVELS.items())
def test_each_permanence_level_falls_at_its_rate(rig: Rig, permanence: str, rate: float) -> None:
    """B Permanence mapping: the gauge after ten days is confidence times exp(-rate times 10)."""
    kept = level(rig, rig.store("The shelf holds jar seven.").memory_id, permanence)
    later(rig, 10)
    gauges = rig.engine.jobs.read_gauges(kept).result(30)
    assert gauges.permanence == permanence
    assert gauges.confidence == pytest.approx(rig.get(kept).confidence * math.exp(-rate * 10), rel=1e-6)


def test_a_permanence_that_is_none_is_refused_with_those_there_are(rig: Rig) -> None:
    """B Permanence mapping, `invalid permanence rejected`: the error lists the levels."""
    kept = rig.store("The shelf holds jar seven.").memory_id
    with pytest.raises(UserError) as caught:
        rig.engine.library.revise_memories([kept], Revision(permanence="for ever"))
    assert caught.value.code is Code.INVALID_INPUT
    assert all(name in str(caught.value) for name in LEVELS)


def test_a_permanent_fact_never_fades_nor_expires(rig: Rig) -> None:
    """B Confidence decay, `permanent facts never decay`: a century later it is as sure as on its first day."""
    kept = level(rig, rig.store("The shelf holds jar seven.").memory_id, "permanent")
    later(rig, 36_500)
    run(rig, JobType.SWEEP)
    assert rig.get(kept).status == Status.ACTIVE
    assert fading(rig) == set()
    assert rig.engine.jobs.read_gauges(kept).result(30).confidence == pytest.approx(rig.get(kept).confidence)


def test_confirming_resets_the_decay_timer_and_clears_fading(rig: Rig) -> None:
    """B Storage, `confirm memory resets decay timer`; B Sweep, `recover above 0.2 … cleared`."""
    put(rig, "dim", days=60, permanence="volatile", confidence=0.7)
    run(rig, JobType.SWEEP)
    assert fading(rig) == {"dim"}
    rig.engine.memories.confirm("dim", OWNER_ACTOR).result(30)
    assert rig.value("SELECT last_confirmed_at FROM memories WHERE id = 'dim'") == rig.clock.now_ms()
    run(rig, JobType.SWEEP)
    assert fading(rig) == set()


def test_a_rule_below_the_line_is_forgotten_by_the_sweep(rig: Rig) -> None:
    """B Sweep, rules: below 0.05 set aside, below 0.2 marked; as facts are."""
    put(rig, "lost", days=90, kind="rule", permanence="volatile", confidence=0.7)
    put(rig, "dim", days=60, kind="rule", permanence="volatile", confidence=0.7)
    run(rig, JobType.SWEEP)
    assert (reasons(rig), fading(rig)) == ({"lost": "expired"}, {"dim"})


# ---- forgetting


@pytest.mark.parametrize("kind", [one for one in Kind if one is not Kind.DIGEST])
def test_every_kind_can_be_forgotten_at_once(rig: Rig, kind: Kind) -> None:
    """B Storage, `forget episode`, `forget rule`: out of search and of context at once, by one undoable step."""
    gone = rig.store("text of a kiln", kind=kind).memory_id
    rig.forget(gone)
    assert rig.found("kiln") == []
    context = rig.engine.memories.build_context(ContextQuery("kiln"), OWNER_ACTOR).result(30)
    assert "kiln" not in context.context.text.replace("# Memory Context", "")
    rig.undo()
    assert rig.get(gone).status == Status.ACTIVE


# ---- the pipeline, asked by a person


def test_the_pipeline_stores_facts_derived_from_their_episodes_and_marks_these(rig: Rig) -> None:
    """B Pipeline and executor: `derived_from` to each source that says it, sources marked, once and for good."""
    episode = rig.store("I like tea. It rained.", kind=Kind.EPISODE).memory_id
    fact = {"subject": "user", "predicate": "likes", "content": "The user likes tea."}
    lists = {"new_facts": [fact], "updated_facts": [], "new_rules": [], "confirmations": []}
    with FakeOllama() as server:
        server.says("Here you are:\n```json\n" + json.dumps(lists) + "\n```")
        rig.engine.settings.set_option("model_host", server.host).result(30)
        assert rig.engine.refinement.find_server().result(30).server is ModelServerState.READY
        row = run(rig, JobType.DISTILL)
        assert (row.report["new_facts"], row.report["episodes"]) == (1, 1)
        assert "<episode_content" in server.questions[0].words
        asked = len(server.questions)
        again = run(rig, JobType.DISTILL)
        assert (dict(again.report), len(server.questions)) == ({}, asked)
    made = rig.value("SELECT id FROM memories WHERE kind = 'fact'")
    assert rig.rows("SELECT source_id FROM derivations WHERE derived_id = ?", made) == [(episode,)]
    assert rig.rows("SELECT memory_id, state FROM distilled") == [(episode, "done")]
    rig.undo(row.step_id)
    assert rig.texts(kind=Kind.FACT) == []


# ---- episode cleanup


def note(rig: Rig, name: str, days: float, client: str, *, done: bool) -> str:
    put(rig, name, days=days, kind="episode", client_id=client)
    if done:
        at = rig.clock.now_ms() - int((days - 1) * DAY_MS)
        rig.write(lambda tx: tx.insert("distilled", {"memory_id": name, "state": "done", "at": at}))
    return name


def test_expired_episodes_go_and_unconsolidated_ones_stay_whatever_their_age(rig: Rig) -> None:
    """B Episode cleanup: TTL counts once consolidated (design 6); what is not read yet is protected."""
    client = str(rig.client("helper", "write").client_id)
    note(rig, "over", 30, client, done=True)
    note(rig, "unread", 300, client, done=False)
    report = run(rig, JobType.EPISODES).report
    assert (report["expired"], report["remaining"]) == (1, 1)
    assert reasons(rig) == {"over": "consolidated_note"}


def test_capacity_takes_the_oldest_consolidated_and_never_an_unconsolidated_one(rig: Rig) -> None:
    """B Episode cleanup, `capacity enforcement`: a hundred and three, of which two may go; the oldest two."""
    client = str(rig.client("helper", "write").client_id)
    rig.engine.settings.set_option("episode_capacity", 100).result(30)
    for n in range(100):
        note(rig, f"unread{n:03d}", 6, client, done=False)
    for n, days in enumerate((3.0, 5.0, 4.0)):
        note(rig, f"read{n}", days, client, done=True)
    report = run(rig, JobType.EPISODES).report
    assert (report["capacity"], report["remaining"]) == (3, 100)
    assert set(reasons(rig)) == {"read0", "read1", "read2"}


# ---- scheduled workers


def test_the_daily_sweep_and_the_cleanup_run_by_themselves(rig: Rig) -> None:
    """B Scheduled workers, both: nothing is asked for but the beat; a day after the vault was made."""
    client = str(rig.client("helper", "write").client_id)
    put(rig, "dim", days=60, permanence="volatile", confidence=0.7)
    note(rig, "over", 30, client, done=True)
    rig.engine.scheduler.queue_due(rig.opened, force=True)
    assert [row.type for row in rig.engine.jobs.read_state().result(30).rows if row.type is JobType.SWEEP] == []
    later(rig, 1.01)
    rig.engine.scheduler.queue_due(rig.opened, force=True)
    for kind in (JobType.SWEEP, JobType.EPISODES):
        run(rig, kind)  # joins the one that the beat queued, or looks behind it
    assert fading(rig) == {"dim"}
    assert reasons(rig) == {"over": "consolidated_note"}
    beaten = [row for row in rig.engine.jobs.read_state().result(30).rows if row.type is JobType.SWEEP and row.report]
    assert beaten[0].report["fading"] == 1


def test_how_often_the_workers_run_is_an_option(rig: Rig) -> None:
    """B Scheduled workers, `configurable cron`: every twelve hours where the person says so, from the next beat on."""
    scheduler = rig.engine.scheduler

    def due() -> tuple[JobType, ...]:
        return scheduler.agenda.list_due_jobs(rig.opened, scheduler.make_context(rig.opened))

    later(rig, 0.6)
    assert JobType.SWEEP not in due()
    rig.engine.settings.set_option("sweep_hours", 12).result(30)
    assert {JobType.SWEEP, JobType.EPISODES} <= set(due())


# ---- memory events for all mutations


@dataclass(frozen=True)
class Verb:
    """One mutation as a caller does it."""

    act: Callable[[Rig, str], object]
    kind: Kind = Kind.FACT


def _supersede(rig: Rig, _: str) -> None:
    lives(rig, "Graz")
    lives(rig, "Linz")


def _sweep(rig: Rig, _: str) -> None:
    put(rig, "lost", days=90, permanence="volatile", confidence=0.7)
    put(rig, "dim", days=60, permanence="volatile", confidence=0.7)
    run(rig, JobType.SWEEP)


VERBS = {
    "store": Verb(lambda rig, _: rig.store("Eva keeps goats")),
    "forget": Verb(lambda rig, one: rig.forget(one)),
    "confirm": Verb(lambda rig, one: rig.engine.memories.confirm(one, OWNER_ACTOR).result(30)),
    "reinforce": Verb(lambda rig, one: rig.engine.memories.reinforce(one, OWNER_ACTOR).result(30)),
    "dispute": Verb(lambda rig, one: rig.engine.memories.dispute(one, OWNER_ACTOR, "no").result(30)),
    "revise": Verb(lambda rig, one: rig.engine.library.revise_memories([one], Revision(importance=0.9)).result(30)),
    "permanence": Verb(lambda rig, one: level(rig, one, "stable")),
    "mark helpful": Verb(lambda rig, one: helpful(rig, one, 1), Kind.RULE),
    "mark harmful": Verb(lambda rig, one: harmful(rig, one, "It broke the build."), Kind.RULE),
    "spare": Verb(lambda rig, one: rig.engine.jobs.keep_from_archive([one]).result(30)),
    "supersede": Verb(_supersede),
    "sweep": Verb(_sweep),
    "undo": Verb(lambda rig, _: rig.undo()),
    "erase": Verb(lambda rig, one: rig.engine.memories.erase([one], OWNER_ACTOR).result(30)),
}


@pytest.mark.parametrize("verb", VERBS.values(), ids=VERBS)
def test_every_mutation_leaves_an_event_without_a_word_of_the_memory(rig: Rig, verb: Verb) -> None:
    """B Memory events: stored, forgotten, marked, superseded, faded, expired … each is in the append-only audit."""
    one = rig.store("Quittenmarmelade on the shelf", kind=verb.kind).memory_id
    before = rig.value("SELECT count(*) FROM audit")
    verb.act(rig, one)
    rig.engine.flush_journal()
    told = rig.rows("SELECT verb, object, detail FROM audit ORDER BY rowid")[before:]
    assert told
    assert "quitten" not in str(told).lower()


def test_the_event_of_a_sweep_tells_how_many_faded_and_expired(rig: Rig) -> None:
    """B Memory events, `lifecycle transition event`: one row a batch of the run, whose counts are the report's."""
    _sweep(rig, "")
    details = [json.loads(row[0]) for row in rig.rows("SELECT detail FROM audit WHERE verb = 'sweep'")]
    assert (sum(one["fading"] for one in details), sum(one["expired"] for one in details)) == (1, 1)


# ---- stats


def stats(rig: Rig) -> dict[str, Any]:
    found: dict[str, Any] = rig.engine.vault.read_status().result(30).values["lifecycle"]
    return found


def test_the_status_counts_episodes_that_wait_and_for_how_long(rig: Rig) -> None:
    """B Memory stats, `episode stats`: total, unconsolidated, age; what was read is no backlog."""
    first = rig.store("We met Anna.", kind=Kind.EPISODE).memory_id
    later(rig, 0.5)
    rig.store("We met Ben.", kind=Kind.EPISODE)
    assert stats(rig)["episodes"] == {"total": 2, "unconsolidated": 2, "backlog_age_hours": 12.0}
    rig.write(lambda tx: tx.insert("distilled", {"memory_id": first, "state": "done", "at": tx.now_ms}))
    assert stats(rig)["episodes"] == {"total": 2, "unconsolidated": 1, "backlog_age_hours": 0.0}


def test_the_status_counts_facts_and_rules_by_the_state_of_their_life(rig: Rig) -> None:
    """B Memory stats, `fact stats`, `rule stats`: each state is counted once, as the sweep and the marks leave it."""
    put(rig, "kept")
    put(rig, "dim", days=60, permanence="volatile", confidence=0.7)
    put(rig, "lost", days=90, permanence="volatile", confidence=0.7)
    lives(rig, "Graz")
    lives(rig, "Linz")
    run(rig, JobType.SWEEP)
    assert stats(rig)["facts"] == {"active": 2, "fading": 1, "superseded": 1, "expired": 1}
    helpful(rig, rig.store(TABS, kind=Kind.RULE).memory_id, 5)
    harmful(rig, rig.store("Always deploy on Fridays.", kind=Kind.RULE).memory_id, "A", "B", "C")
    rig.forget(rig.store("Never rest.", kind=Kind.RULE).memory_id)
    assert stats(rig)["rules"] == {
        "candidate": 0, "established": 1, "proven": 0, "anti_pattern": 1, "forgotten": 1,
    }  # fmt: skip


# ---- embeddings know their model


def test_each_vector_tells_its_model_and_version(rig: Rig) -> None:
    """B Embedding version tracking: every vector belongs to a space, and the space names model and length."""
    rig.store("Ada keeps bees")
    spaces = {row[0] for row in rig.rows("SELECT DISTINCT vector_space FROM embeddings")}
    assert spaces == {rig.opened.search.space.name}
    assert rig.opened.search.space.model == rig.opened.search.embedder.version
    assert rig.opened.search.space.dims == rig.opened.search.embedder.dims


# ---- fail-open


def test_a_storage_that_fails_is_one_error_and_the_next_call_is_served(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B Fail-open, both scenarios: the caller hears a code at once, nothing hangs, retrieval goes on."""
    rig.store("Ada keeps bees")
    store_service = type(rig.opened.search.active_space.store_service)

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("a fault of ours")

    with monkeypatch.context() as patch:
        patch.setattr(store_service, "store_request", broken)
        failed = rig.engine.memories.store(StoreRequest("Eva keeps goats"), OWNER_ACTOR)
        assert failed.exception(30) is not None
        assert rig.found("bees") == ["Ada keeps bees"]
    assert rig.store("Eva keeps goats").operation == "ADD"


def test_claims_are_read_and_compared_without_anybody_waiting_for_a_model(tmp_path: Path) -> None:
    """B Pipeline with design 4: storing needs no session of a model; the gate settles by rules at once."""
    with rig_at(tmp_path, readers=TextReaders(extract=built_in_readers().extract)) as rig:
        older = rig.store("I live in Graz.").memory_id
        newer = rig.store("I live in Linz.").memory_id
        assert (rig.get(older).status, rig.get(newer).status) == (Status.SUPERSEDED, Status.ACTIVE)


# ---- one after the other in one vault


def test_a_life_from_storing_to_the_archive_and_back(rig: Rig) -> None:
    """B all states in their order: active, fading, expired, and brought back by the person, who has spared it with
    that; seen from outside."""
    client = rig.client("aster", "read", "write")
    kept = level(rig, rig.store("The shelf holds jar seven.", client).memory_id, "volatile")
    seen: list[tuple[str, bool]] = []

    def look(days: float) -> None:
        later(rig, days)
        run(rig, JobType.SWEEP)
        seen.append((rig.get(kept).status.value, kept in fading(rig)))

    look(1)
    look(50)
    look(55)
    rig.engine.library.revise_memories([kept], Revision(status=Status.ACTIVE)).result(30)
    look(0)
    assert seen == [("active", False), ("active", True), ("archived", False), ("active", False)]
    assert rig.engine.jobs.list_archived().result(30).total == 0
