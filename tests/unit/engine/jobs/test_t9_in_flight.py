"""T9: what is forgotten or erased while a job is in flight comes back by no job, in no mode of search, in no snapshot.

Each kind of work has looked at the memory already (its plan names it, or its texts are with the model) when it goes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from engine_rig import HandClock, Rig, rig_at
from erasing_rig import MARK, TEXT, traces
from fake_ollama import Answer, Asked, FakeOllama, claims
from gathering_rig import told
from real_models import real_embedder, real_readers

from core.engine.jobs.scheduler import SchedulerPacing
from core.types.belief import ModelServerState
from core.types.lifecycle import JobState, JobType
from core.types.values import OWNER_ACTOR, Kind

DAY_MS = 86_400_000
STEPS = (
    f"The billing API returns amounts in cents in {MARK}.",
    f"The billing API requires an idempotency key for every charge in {MARK}.",
    f"The billing API rate limit is 100 requests a minute in {MARK}.",
    f"Webhooks of the billing API are signed with HMAC in {MARK}.",
)
QUESTION = "Which API has a rate limit, returns cents, signs webhooks; and who likes it, and where is its key?"
MODES = ("hybrid", "semantic", "keyword")


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with rig_at(tmp_path, embedder=real_embedder(), readers=real_readers()) as made:
        made.engine.scheduler.beats = SchedulerPacing(every_s=0.0, quiet_s=0.0)
        yield made


def forget(rig: Rig, ids: list[str]) -> None:
    for one in ids:
        rig.forget(one)


def erase(rig: Rig, ids: list[str]) -> None:
    rig.engine.memories.erase(ids, OWNER_ACTOR, whole_chain=True).result(30)


def meanwhile(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, kind: JobType, look: str, goes: Callable[[], None]
) -> list[str]:
    """Let the memories go behind the first look of a job; what it had seen by then, as text."""
    job = rig.engine.scheduler.agenda.jobs[kind]
    looking = getattr(type(job), look)
    seen: list[str] = []

    def looked(self: Any, *args: Any, **more: Any) -> Any:
        found = looking(self, *args, **more)
        if not seen and found:
            seen.append(repr(found))
            goes()
        return found

    monkeypatch.setattr(type(job), look, looked)
    return seen


def run(rig: Rig, kind: JobType) -> None:
    row = rig.engine.jobs.run(kind).result(60)
    assert (row.state, row.code) == (JobState.DONE, "")


def labels_of_snapshot(rig: Rig) -> set[int]:
    """What an index that is loaded from the next snapshot knows."""
    rig.lock()
    rig.unlock()
    index = rig.opened.search.index.settled_index()
    return set() if index is None else {int(label) for label in index.labels()}


def gone(rig: Rig, labels: set[int], *, for_good: bool) -> None:
    """Nothing of it is found or stands; of what was erased nothing is in a table or in the index of the next start."""
    for _ in range(2):
        assert [text for mode in MODES for text in rig.found(QUESTION, mode=mode) if MARK in text] == []
        assert rig.value("SELECT count(*) FROM memories WHERE status = 'active' AND text LIKE ?", f"%{MARK}%") == 0
        known = labels_of_snapshot(rig)
        assert not (for_good and labels & known)
    if for_good:
        assert traces(rig) == []
    assert rig.verify()["status"] == "ok"


@pytest.mark.slow
@pytest.mark.parametrize("go", [forget, erase])
@pytest.mark.parametrize(
    ("kind", "look"),
    [
        (JobType.CONSOLIDATE, "plan"), (JobType.SWEEP, "plan"), (JobType.ENRICH, "prepare"), (JobType.EMBED, "prepare"),
        (JobType.REPLAY, "plan"),
    ],
)  # fmt: skip
def test_t9_what_goes_while_a_job_holds_it_is_brought_back_by_none(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, kind: JobType, look: str, go: Callable[[Rig, list[str]], None]
) -> None:
    """T9 delete while embedding and consolidation jobs are in flight: found by no mode, in no snapshot made later."""
    days = 3000 if kind is JobType.SWEEP else 60
    ids = [told(rig, text, days) for text in STEPS]
    told(rig, "Ada keeps bees behind the school.", 5)
    if kind is JobType.REPLAY:
        used = rig.clock.now_ms() - 59 * DAY_MS
        rig.write(
            lambda tx: tx.run("UPDATE memories SET access_count = 3, last_accessed_at = ?, importance = 0", (used,))
        )
    if kind is JobType.EMBED:
        rig.write(lambda tx: tx.run("DELETE FROM embeddings"))
    labels = {int(row[0]) for row in rig.rows("SELECT n FROM memories WHERE text LIKE ?", f"%{MARK}%")}
    seen = meanwhile(rig, monkeypatch, kind, look, partial(go, rig, ids))
    run(rig, kind)
    assert any(one in seen[0] for one in ids), "the job had looked at it"
    gone(rig, labels, for_good=go is erase)


@pytest.mark.parametrize("go", [forget, erase])
def test_t9_what_a_model_was_reading_when_it_went_makes_no_fact(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, go: Callable[[Rig, list[str]], None]
) -> None:
    """T9, openclaw's case: the note is with the model server, it is forgotten, and the answer comes after that."""
    kept = rig.store(f"I like the {MARK}.", kind=Kind.EPISODE).memory_id
    labels = {int(row[0]) for row in rig.rows("SELECT n FROM memories WHERE id = ?", kept)}

    def answer(asked: Asked) -> Answer:
        if "<episode_content" not in asked.words:
            return Answer(claims())
        fact = {"subject": "user", "predicate": "likes", "content": f"The user likes the {MARK}."}
        return Answer(json.dumps({"new_facts": [fact], "updated_facts": [], "new_rules": [], "confirmations": []}))

    with FakeOllama() as server:
        server.says(answer)
        rig.engine.settings.set_option("model_host", server.host).result(30)
        assert rig.engine.refinement.find_server().result(30).server is ModelServerState.READY
        seen = meanwhile(rig, monkeypatch, JobType.DISTILL, "prepare", partial(go, rig, [kept]))
        run(rig, JobType.DISTILL)
        assert MARK in seen[0]
    assert rig.value("SELECT count(*) FROM memories WHERE kind = 'fact'") == 0
    gone(rig, labels, for_good=go is erase)


@pytest.mark.slow
def test_t9_a_queued_job_finds_no_tombstoned_text_and_an_import_brings_none(rig: Rig) -> None:
    """T9 `tombstone fences import, consolidation and queued jobs`: queued before, run after; then the file again."""
    row = {"text": TEXT, "kind": "fact", "source": "inference", "ref": "x"}
    rig.bring([row, {"text": "Ada keeps bees behind the school.", "kind": "fact", "ref": "y"}])
    ids = [str(found[0]) for found in rig.rows("SELECT id FROM memories WHERE text = ?", TEXT)]
    labels = {int(found[0]) for found in rig.rows("SELECT n FROM memories WHERE text = ?", TEXT)}
    rig.engine.settings.set_option("lifecycle_on", value=False).result(30)
    kinds = (JobType.EMBED, JobType.ENRICH, JobType.CONSOLIDATE, JobType.SWEEP, JobType.GAPS, JobType.REPLAY)
    for kind in kinds:
        queued = {"id": kind.value, "type": kind.value, "state": "queued", "created_at": 0}
        rig.write(partial(lambda tx, job: tx.insert("jobs", job), job=queued))
    erase(rig, ids)
    assert isinstance(rig.clock, HandClock)
    rig.clock.advance(40 * DAY_MS)
    rig.engine.settings.set_option("lifecycle_on", value=True).result(30)
    for kind in kinds:
        run(rig, kind)
    again = rig.bring(rig.folder / "rows.jsonl")
    assert (again.stored, dict(again.skipped).get("erased")) == (0, 1)
    gone(rig, labels, for_good=True)
