"""Erasing from the archive: nothing by default, only what nobody would miss, and no step that could bring it back."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import belief_rig
import pytest
from engine_rig import Rig, later
from erasing_rig import traces
from ground_rig import DAY_MS, ground_of, run

from core.engine.runtime.expiry import delete_expired
from core.intake.erase.trace_erasure import TABLES, TraceIndex
from core.lifecycle.archive import REASON, WITH_SOURCES, ArchiveErasureJob
from core.lifecycle.job_support.job_context import JobContext
from core.types.lifecycle import JobAction, JobType, PlannedAction
from core.types.recall import ContextQuery
from core.types.values import OWNER_ACTOR, Kind, Status
from core.types.views import Revision
from core.vault.database.tx import Tx

MARK = "Schlangengurkenturm"
CHOSEN = {"erase_kinds": "fact, digest", "erase_days": 90}


def archived(rig: Rig, text: str, kind: Kind = Kind.FACT) -> str:
    memory_id = rig.store(text, kind=kind).memory_id
    rig.engine.library.revise_memories([memory_id], Revision(status=Status.ARCHIVED)).result(30)
    return memory_id


def test_nothing_is_erased_unless_the_owner_chose_a_kind(rig: Rig) -> None:
    archived(rig, "Ada keeps bees")
    later(rig, 400)
    assert ArchiveErasureJob().plan(ground_of(rig)) == []


def test_chosen_kinds_go_when_their_days_are_over(rig: Rig) -> None:
    gone = archived(rig, "The Quagga stood behind the barn")
    note = archived(rig, "A note of the day", Kind.EPISODE)
    later(rig, 60)
    young = archived(rig, "Eva keeps goats")
    stands = rig.store("Ida keeps hens").memory_id
    later(rig, 31)
    ran = run(rig, ArchiveErasureJob(), ground_of(rig, CHOSEN))
    assert [(deed.action, deed.memory_id, deed.reason) for deed in ran.deeds] == [(JobAction.ERASE, gone, REASON)]
    assert dict(ran.counts) == {"erased": 1, "rows": 1, "skipped": 0}
    assert [row[0] for row in rig.rows("SELECT id FROM memories ORDER BY n")] == [note, young, stands]
    assert rig.value("SELECT count(*) FROM undo_rows WHERE before LIKE '%Quagga%' OR after LIKE '%Quagga%'") == 0
    assert rig.value("SELECT count(*) FROM tombstones") == 0  # age bars no words: they may be said again
    assert rig.value("SELECT count(*) FROM audit WHERE verb = 'erase' AND actor = 'scheduler'") == 1


def test_what_came_back_meanwhile_stays(rig: Rig) -> None:
    back, gone = archived(rig, "Ada keeps bees"), archived(rig, "Eva keeps goats")
    later(rig, 91)
    ground = ground_of(rig, CHOSEN)
    deeds = ArchiveErasureJob().plan(ground)
    rig.engine.library.revise_memories([back], Revision(status=Status.ACTIVE)).result(30)
    done = rig.write(lambda tx: ArchiveErasureJob().apply_plan(tx, None, ground, deeds))  # type: ignore[arg-type]  # it needs no verb
    assert (done.counts, done.ids) == ({"erased": 1, "rows": 1, "skipped": 1}, (gone,))
    assert rig.get(back).status is Status.ACTIVE


def test_what_somebody_would_miss_stays(rig: Rig) -> None:
    source = archived(rig, "The cellar has three steps")
    digest = rig.store("Cellar: three steps, damp", kind=Kind.DIGEST).memory_id
    belief_rig.derive(rig, digest, source)  # a standing digest was made of it
    summary = archived(rig, "Garden: roses and beans", Kind.DIGEST)
    beneath = rig.store("There are roses in the garden").memory_id
    belief_rig.derive(rig, summary, beneath)
    belief_rig.change(rig, beneath, status="consolidated", consolidated_into=summary)  # would stand again
    pinned = archived(rig, "Ida keeps hens")
    belief_rig.change(rig, pinned, pinned=1)
    spared = archived(rig, "Eva keeps goats")
    until = rig.clock.now_ms() + 200 * DAY_MS
    rig.write(lambda tx: tx.insert("spared", {"memory_id": spared, "at": 0, "until": until}))
    later(rig, 100)
    assert ArchiveErasureJob().plan(ground_of(rig, CHOSEN)) == []


# ---- a digest and what lies under it


def told(rig: Rig, *texts: str) -> list[str]:
    """What an assistant said: nothing of it is the person's own word."""
    rig.bring([{"text": text, "kind": "fact", "source": "inference"} for text in texts])
    return [str(rig.value("SELECT id FROM memories WHERE text = ?", text)) for text in texts]


def gathered(rig: Rig, *sources: str) -> str:
    """An archived digest of those sources."""
    digest = archived(rig, "Cellar: three steps, damp, no window", Kind.DIGEST)
    for source in sources:
        belief_rig.derive(rig, digest, source)
        belief_rig.change(rig, source, status="consolidated", consolidated_into=digest)
    return digest


CELLAR = ("The cellar has three steps", "The cellar is damp", "The cellar has no window")


def test_a_digest_goes_with_what_lies_under_it(rig: Rig) -> None:
    digest = gathered(rig, *told(rig, *CELLAR))
    stands = rig.store("Ida keeps hens").memory_id
    later(rig, 91)
    ground = ground_of(rig, CHOSEN)
    deeds = ArchiveErasureJob().plan(ground)
    assert [(deed.memory_id, deed.reason, deed.detail["rows"]) for deed in deeds] == [(digest, WITH_SOURCES, 4)]
    ran = run(rig, ArchiveErasureJob(), ground)
    assert dict(ran.counts) == {"erased": 1, "rows": 4, "skipped": 0}
    assert [row[0] for row in rig.rows("SELECT id FROM memories")] == [stands]
    assert traces(rig, "damp") == []


@pytest.mark.parametrize("why", ["word", "kind", "pinned", "made"])
def test_a_digest_stays_with_its_sources_where_one_of_them_may_not_go(rig: Rig, why: str) -> None:
    sources = told(rig, *CELLAR)
    digest = gathered(rig, *sources)
    if why == "word":
        belief_rig.change(rig, sources[1], source="user_explicit")
    elif why == "kind":
        belief_rig.change(rig, sources[1], kind="rule")
    elif why == "pinned":
        belief_rig.change(rig, sources[1], pinned=1)
    else:
        belief_rig.derive(rig, rig.store("The cellar is wet and dark").memory_id, sources[1])
    later(rig, 91)
    assert ArchiveErasureJob().plan(ground_of(rig, CHOSEN)) == []
    assert rig.get(digest).status is Status.ARCHIVED


def test_what_may_not_go_any_more_when_its_turn_comes_stays(rig: Rig) -> None:
    sources = told(rig, *CELLAR)
    gathered(rig, *sources)
    later(rig, 91)
    ground = ground_of(rig, CHOSEN)
    deeds = ArchiveErasureJob().plan(ground)
    belief_rig.change(rig, sources[2], pinned=1)
    done = rig.write(lambda tx: ArchiveErasureJob().apply_plan(tx, None, ground, deeds))  # type: ignore[arg-type]  # it needs no verb
    assert (done.counts, done.ids) == ({"erased": 0, "rows": 0, "skipped": 1}, ())
    assert {rig.get(source).status for source in sources} == {Status.CONSOLIDATED}


# ---- the journals are read once a run

JOURNALS = re.compile(r"FROM (undo_rows|receipts|contexts|requests) (\w)")


def a_life(rig: Rig, count: int) -> list[str]:
    """Memories that were asked for and handed out, then archived; and as much that stays."""
    ids = []
    for number in range(count):
        ids.append(rig.store(f"The {MARK} number {number} stood behind the barn").memory_id)
        rig.recall(f"The {MARK} number {number} stood behind the barn")
        rig.store(f"Ada keeps {number} bees")
        rig.recall(f"how many bees has Ada, {number}?")
    rig.engine.memories.build_context(ContextQuery("barn"), OWNER_ACTOR).result(30)
    rig.engine.library.revise_memories(ids, Revision(status=Status.ARCHIVED)).result(30)
    rig.engine.flush_journal()
    delete_expired(rig.opened)  # for this hour: on a slow machine the chore would come after the days have passed
    later(rig, 91)
    return ids


def journal_rows(rig: Rig) -> int:
    return sum(int(rig.value(f"SELECT count(*) FROM {table}")) for table in TABLES)  # noqa: S608 - constants


class Remembering(ArchiveErasureJob):
    """Tells which index each batch was handed."""

    def __init__(self) -> None:
        super().__init__()
        self.used: list[TraceIndex] = []

    def prepare(self, ground: JobContext, deeds: Sequence[PlannedAction]) -> TraceIndex:
        self.used.append(super().prepare(ground, deeds))
        return self.used[-1]


@pytest.mark.slow
def test_a_run_of_many_batches_reads_the_journals_once(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = a_life(rig, 8)
    there, plans, plain = journal_rows(rig), list[str](), Tx.all

    def spied(tx: Tx, sql: str, params: Any = ()) -> list[tuple[Any, ...]]:
        named = JOURNALS.search(sql)
        if named is not None:
            plans.extend(f"{named[2]}: {row[3]}" for row in plain(tx, f"EXPLAIN QUERY PLAN {sql}", params))
        return plain(tx, sql, params)

    monkeypatch.setattr(Tx, "all", spied)
    job, ground = Remembering(), ground_of(rig, CHOSEN)
    assert run(rig, job, ground, batch=1).counts["erased"] == len(ids)
    assert traces(rig, MARK) == []
    assert any(detail.startswith("u: SEARCH u USING INTEGER PRIMARY KEY") for detail in plans)
    assert [detail for detail in plans if re.match(r"(\w): SCAN \1", detail)] == []
    assert (len(job.used), len(set(map(id, job.used)))) == (len(ids), 1)
    journals = job.used[0]
    assert (journals.looked <= there + len(ids), journals.unsure) == (True, 0)
    assert rig.value("SELECT count(*) FROM receipts WHERE query LIKE 'how many bees%'") == 8


def test_the_texts_are_held_no_longer_than_the_run(rig: Rig) -> None:
    a_life(rig, 4)
    job, ground = ArchiveErasureJob(), ground_of(rig, CHOSEN)
    deeds = job.plan(ground)
    some, rest = deeds[:2], deeds[2:]
    first = job.prepare(ground, some)
    rig.write(lambda tx: job.apply_plan(tx, None, ground, some, first))  # type: ignore[arg-type]  # it needs no verb
    assert list(job._journals.values()) == [first]
    second = job.prepare(ground, rest)
    assert second is first
    rig.write(lambda tx: job.apply_plan(tx, None, ground, rest, second))  # type: ignore[arg-type]  # it needs no verb
    assert list(job._journals.values()) == []


def test_what_a_stopped_run_held_goes_when_the_next_is_planned(rig: Rig) -> None:
    a_life(rig, 2)
    job, ground = ArchiveErasureJob(), ground_of(rig, CHOSEN)
    job.prepare(ground, job.plan(ground))
    assert len(job._journals) == 1
    job.plan(ground)
    assert len(job._journals) == 0


def test_what_is_written_between_looking_and_erasing_is_found(rig: Rig) -> None:
    ids = a_life(rig, 2)
    job, ground = ArchiveErasureJob(), ground_of(rig, CHOSEN)
    deeds = job.plan(ground)
    prepared = job.prepare(ground, deeds)
    rig.recall(f"was it the {MARK} number 0 stood behind the barn?")
    rig.recall(f"The {MARK} number 1 stood behind the barn")
    rig.engine.flush_journal()
    done = rig.write(lambda tx: job.apply_plan(tx, None, ground, deeds, prepared))  # type: ignore[arg-type]  # it needs no verb
    assert done.counts["erased"] == len(ids)
    assert traces(rig, MARK) == []


def test_an_index_that_cannot_be_sure_lets_everything_be_read(rig: Rig) -> None:
    (memory_id,) = a_life(rig, 1)
    text = f"The {MARK} number 0 stood behind the barn"
    journals = TraceIndex([memory_id], [text])
    rig.opened.storage.vault.read(journals.read_new_rows)

    def places(names: Sequence[str] = (memory_id,), texts: Sequence[str] = (text,)) -> Any:
        return rig.opened.storage.vault.read(lambda rows: journals.find_trace_rows(rows, names, (), texts))

    assert json.loads(places()["undo_rows"].rows)
    assert places(names=["a name of another kind"]) is None
    assert places(texts=[text, "Another text"]) is None
    # The newest row goes, and another one gets its number.
    rig.write(lambda tx: tx.run("DELETE FROM contexts"))
    rig.write(lambda tx: tx.run("DELETE FROM receipts WHERE rowid = (SELECT max(rowid) FROM receipts)"))
    rig.recall(text)
    rig.engine.flush_journal()
    assert places() is None
    rig.opened.storage.vault.read(journals.read_new_rows)
    assert len(json.loads(places()["receipts"].rows)) == rig.value(
        "SELECT count(*) FROM receipts WHERE query = ? OR instr(body, ?)", text, memory_id
    )


def test_the_scheduler_erases_in_batches_and_writes_no_step(rig: Rig) -> None:
    ids = a_life(rig, 3)
    rig.engine.settings.set_option("erase_kinds", "fact").result(30)
    row = rig.engine.jobs.run(JobType.ERASE).result(30)
    assert (row.state, row.report, row.step_id) == ("done", {"erased": 3, "rows": 3, "skipped": 0}, None)
    assert rig.value("SELECT count(*) FROM memories WHERE id IN (SELECT value FROM json_each(?))", json.dumps(ids)) == 0
    assert traces(rig, MARK) == []
