"""A model server that goes and comes while jobs and texts wait for it: E32.1a to E32.1d, E32.2; with a stand-in server.

Nothing here is asked for twice: what waited goes on by itself when the server is there again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from away_rig import LeapingClock, beat, ended, how, later, quiet, rows, server_at, until, use_model
from engine_rig import START_MS, Rig, facts, refused, rig_at
from fake_ollama import EMBEDDER, Answer, Asked, FakeOllama, claims, relation

from core.engine.health import describe_problem
from core.engine.jobs.model_refinement import RefinementPacing
from core.engine.startup import built_in_readers
from core.errors import Code
from core.intake.claims import TextReaders
from core.recall.result import NO_VECTORS
from core.types.belief import LABELS, Label, ModelServerState, Relation
from core.types.lifecycle import JobState, JobType
from core.types.values import Kind

NO_SERVER = "Waits for the local model."
RESTLESS = RefinementPacing(look_s=0.0, first_s=0.01, idle_s=0.02, least_s=0.0, known_s=0.05, longest_s=0.2)


class Unsure:
    """A relation model that is never sure."""

    def classify(self, pairs: Any) -> tuple[Relation, ...]:
        shares = dict(zip(LABELS, (0.1, 0.5, 0.1, 0.3), strict=True))
        best = max(LABELS, key=lambda label: shares[label])
        return tuple(Relation(best, shares[best], shares, "builtin", "model") for _ in pairs)


@pytest.fixture
def clock() -> LeapingClock:
    return LeapingClock(START_MS)


@pytest.fixture
def rig(tmp_path: Path, clock: LeapingClock) -> Iterator[Rig]:
    with rig_at(tmp_path, clock=clock) as rig:
        quiet(rig)
        yield rig


@pytest.fixture
def port() -> int:
    """Of a model server that ran here once, and does not now."""
    with FakeOllama() as server:
        return server.port


def note(rig: Rig, text: str) -> str:
    return rig.store(text, kind=Kind.EPISODE).memory_id


def distilled(rig: Rig) -> int:
    return int(rig.value("SELECT count(*) FROM distilled WHERE state = 'done'"))


def reading(asked: Asked) -> Answer:
    """A model that makes one fact of what it knows how to read, and finds no claim in anything."""
    if "<episode_content" not in asked.words:
        return Answer(claims())
    told = [{"subject": "user", "predicate": "likes", "content": f"The user likes {what}."} for what in ("tea", "rye")]
    kept = [one for one in told if one["content"].split()[-1].rstrip(".") in asked.words]
    return Answer(json.dumps({"new_facts": kept, "updated_facts": [], "new_rules": [], "confirmations": []}))


@pytest.mark.slow
@pytest.mark.expected_logs("the embedder does not answer")
def test_e32_1a_a_served_embedder_goes_and_what_is_stored_meanwhile_gets_its_vector_when_it_is_back(
    rig: Rig, clock: LeapingClock, port: int
) -> None:
    """E32.1a: words alone are searched, the vector is owed and told, and the next beat behind the pause makes it."""
    use_model(rig, port)
    rig.bring(facts(3))
    with server_at(port):
        rig.engine.embedding_models.begin_change(f"ollama:{EMBEDDER.removesuffix(':latest')}").result(30)
        assert rig.engine.jobs.run(JobType.MIGRATE).result(60).state is JobState.DONE
        assert rig.recall("jar number 2").strategy == "hybrid"
    assert rig.recall("jar number 2").strategy == NO_VECTORS
    assert rig.store("The boat lies in the harbour").operation == "ADD"
    assert rig.found("boat harbour") == ["The boat lies in the harbour"]
    away = how(rig)
    assert (away.degradation["search_strategy"], away.counts["pending_embeddings"]) == ("bm25_only", 1)
    assert describe_problem("embedder_away", code=Code.EMBEDDER_UNAVAILABLE.value) in away.warnings
    assert describe_problem("embeddings_pending", n=1) in away.warnings
    with server_at(port):
        clock.leap += 60.0

        def caught_up() -> bool:
            later(rig, 0.1)
            beat(rig)
            return how(rig).counts["pending_embeddings"] == 0

        until(caught_up, "the vector is made")
        assert rig.recall("boat harbour").strategy == "hybrid"
        assert how(rig).degradation["search_strategy"] == "full"


def test_e32_1b_without_a_model_server_claims_are_read_by_rules(tmp_path: Path, port: int) -> None:
    """E32.1b: storing needs no server; the text is kept whole and its claims are those of the patterns."""
    with rig_at(tmp_path, readers=TextReaders(extract=built_in_readers().extract)) as rig:
        use_model(rig, port)
        assert rig.engine.refinement.find_server().result(30).server is ModelServerState.ABSENT
        kept = rig.store("I live in Graz and I am allergic to peanuts.").memory_id
        assert rig.get(kept).text == "I live in Graz and I am allergic to peanuts."
        assert {row[0] for row in rig.rows("SELECT value_key FROM claims")} >= {"graz", "peanuts"}
        assert {row[0] for row in rig.rows("SELECT extracted_by FROM claims")} == {"rules"}
        assert describe_problem("model_absent") in how(rig).warnings
        told = rig.engine.vault.read_status().result(30).values["model_server"]
        assert told["sentence"] == "No local model (Ollama) is running"


def test_e32_1c_a_pair_nobody_is_sure_of_stands_side_by_side_until_the_model_is_back(tmp_path: Path, port: int) -> None:
    """E32.1c: both versions are stored with a note that they may belong together; the model that returns settles it."""
    with rig_at(tmp_path, readers=TextReaders(relate=Unsure(), gate=0.0)) as rig:
        quiet(rig)
        use_model(rig, port)
        client = rig.client("one", "write", "read")
        first = rig.store("The gate opens at nine.", client).memory_id
        second = rig.store("The gate opens at ten.", client).memory_id
        assert rig.engine.refinement.refine_now().result(30).asked == 0
        assert [rig.get(one).status for one in (first, second)] == ["active", "active"]
        assert rig.rows("SELECT state, note FROM conflicts") == [("moot", "may_belong")]
        with server_at(port, relation(Label.SUPERSEDE.value, 0.99)):
            assert rig.engine.refinement.refine_now().result(30).settled == 1
        assert [rig.get(one).status for one in (first, second)] == ["superseded", "active"]
        assert rig.rows("SELECT state FROM conflicts WHERE state = 'open'") == []


@pytest.mark.slow
def test_e32_1d_episodes_wait_for_the_model_and_are_read_as_often_as_it_comes_back(tmp_path: Path, port: int) -> None:
    """E32.1d, by itself: no server, one that comes, goes and comes again; nobody asks for anything."""
    with rig_at(tmp_path, background=True, is_open=False) as rig:
        quiet(rig)
        rig.engine.refinement.pace = RESTLESS
        rig.unlock()
        use_model(rig, port)
        note(rig, "I like tea.")
        later(rig, 0.2)
        until(lambda: ended(rig, JobType.ENRICH), "the rest of the work goes on")
        assert (distilled(rig), rows(rig, JobType.DISTILL)) == (0, [])
        assert how(rig).degradation["model_server"] == "absent"
        assert describe_problem("model_absent") in how(rig).warnings
        with refused(Code.EMBEDDER_UNAVAILABLE):
            rig.engine.jobs.run(JobType.DISTILL)
        with server_at(port, reading):
            until(lambda: distilled(rig) == 1, "the server came")
            assert "The user likes tea." in rig.texts()
            assert how(rig).degradation["model_server"] == "ready"
            assert describe_problem("model_absent") not in how(rig).warnings
        until(lambda: how(rig).degradation["model_server"] != "ready", "that it went is noticed")
        note(rig, "I like rye.")
        later(rig, 0.2)

        def read_again() -> bool:
            later(rig, 0.1)  # a run that met the server as it went rests before it is tried again
            return distilled(rig) == 2

        with server_at(port, reading):
            until(read_again, "the server came again")
        assert "The user likes rye." in rig.texts()


def test_e32_1d_a_queued_run_says_that_it_waits_for_the_model(rig: Rig, port: int) -> None:
    """E32.1d `paused: LLM unavailable`: a job that is queued when the server goes says so, and goes on behind it."""
    use_model(rig, port)
    note(rig, "I like tea.")
    with server_at(port):
        assert rig.engine.refinement.find_server().result(30).server is ModelServerState.READY
        assert rig.engine.scheduler.make_context(rig.opened).ask is not None
    later(rig, 0.2)
    rig.engine.settings.set_option("lifecycle_on", value=False).result(30)
    rig.write(lambda tx: tx.insert("jobs", {"id": "j", "type": "distill", "state": "queued", "created_at": tx.now_ms}))
    rig.engine.settings.set_option("lifecycle_on", value=True).result(30)
    assert rig.engine.refinement.find_server().result(30).server is ModelServerState.ABSENT
    beat(rig)
    (row,) = rows(rig, JobType.DISTILL)
    assert (row.state, row.waits_for) == (JobState.QUEUED, NO_SERVER)
    with server_at(port, reading):
        assert rig.engine.refinement.find_server().result(30).server is ModelServerState.READY
        beat(rig)
        until(lambda: ended(rig, JobType.DISTILL), "the job ran")
    assert "The user likes tea." in rig.texts()


def test_e32_1d_a_server_that_goes_in_the_middle_costs_nothing_that_was_read(rig: Rig, port: int) -> None:
    """E32.1d: what the first group gave stays as a step, the rest is read by the next run and nothing twice."""
    use_model(rig, port)
    client = rig.client("aster", "read", "write", session="s")
    note(rig, "I like tea.")
    rig.store("The user said: I like rye.", client, kind=Kind.EPISODE)
    with server_at(port, reading, Answer(cut=True)):
        assert rig.engine.refinement.find_server().result(30).server is ModelServerState.READY
        running = rig.engine.jobs.run(JobType.DISTILL)
        until(lambda: settled(rig), "the run waits for its server")
    assert distilled(rig) == 1
    later(rig, 8)
    with server_at(port, reading):
        assert rig.engine.refinement.find_server().result(30).server is ModelServerState.READY
        beat(rig)
        assert running.result(60).state is JobState.DONE
        rig.engine.jobs.run(JobType.DISTILL).result(60)
    assert distilled(rig) == 2
    assert rig.texts(kind=Kind.FACT).count("The user likes tea.") == 1


RUBBISH = {
    "words": "I would rather not say.",
    "nothing": "",
    "cut": Answer('{"new_facts": [', cut=True),
    "an error": Answer(status=500, error="out of memory"),
    "no json": Answer(raw=b"\xff\xfe<html>"),
    "no end": Answer(endless=True),
}
HOLLOW = {
    "another shape": '{"new_facts": "all of them"}',
    "an echo": '{"new_facts": [{"subject": "s", "predicate": "p", "content": "string"}]}',
    "an invention": '{"new_facts": [{"subject": "user", "predicate": "owns", "content": "The user owns a yacht."}]}',
}


def settled(rig: Rig) -> bool:
    """The run has ended, or waits for a model that is well."""
    return any(row.state is JobState.DONE or row.waits_for == NO_SERVER for row in rows(rig, JobType.DISTILL))


@pytest.mark.parametrize("told", [*RUBBISH.values(), *HOLLOW.values()], ids=[*RUBBISH, *HOLLOW])
def test_a_model_that_answers_rubbish_changes_nothing_and_is_believed_again_when_it_is_well(
    rig: Rig, port: int, told: str | Answer
) -> None:
    """E32.1d with seed B's parser: nothing is stored, no job is poisoned; what was no answer at all is asked again."""
    use_model(rig, port)
    note(rig, "I like tea.")
    before = rig.rows("SELECT id, text, status FROM memories")
    with server_at(port, told):
        assert rig.engine.refinement.find_server().result(30).server is ModelServerState.READY
        rig.engine.jobs.run(JobType.DISTILL)
        until(lambda: settled(rig), "the run ends or waits")
    assert rig.rows("SELECT id, text, status FROM memories") == before
    assert how(rig).degradation["search_strategy"] == "full"
    note(rig, "I like rye.")
    later(rig, 8)
    with server_at(port, reading):
        assert rig.engine.refinement.find_server().result(30).server is ModelServerState.READY
        rig.engine.jobs.run(JobType.DISTILL).result(60)
    assert "The user likes rye." in rig.texts()
    assert ("The user likes tea." in rig.texts()) is (told in RUBBISH.values())


def test_e32_2_a_server_that_answered_is_not_probed_again_for_each_question(rig: Rig, port: int) -> None:
    """E32.2: what is known of the server holds for its thirty seconds, and no longer."""
    use_model(rig, port)
    clients = [rig.client(name, "read", "write", session="s") for name in ("aster", "begonia", "crocus")]
    for client in clients:
        rig.store(f"The user told {client.name} about the weather.", client, kind=Kind.EPISODE)
    with server_at(port, reading) as server:
        assert rig.engine.refinement.find_server().result(30).server is ModelServerState.READY
        probes = [one.path for one in server.asked].count("/api/tags")
        rig.engine.jobs.run(JobType.DISTILL).result(60)
        assert len(server.questions) == 3
        assert [one.path for one in server.asked].count("/api/tags") == probes
