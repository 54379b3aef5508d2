"""What scheduled work does while something it needs is away, what is told meanwhile, and the way back by itself (E32).

The rows of E32 that searching and storing meet stand in `test_degradation`; those that the lifecycle meets stand here.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from decay_rig import put, reasons, standing
from engine_rig import PASSPHRASE, START_MS, HandClock, Rig, WordEmbedder, error_of, facts, new_home, refused, rig_at
from fake_ollama import EMBEDDER, MODEL, Answer, Asked, FakeOllama, claims, relation
from flaky_embedder import FlakyEmbedder

from core.engine import opening
from core.engine.facade import Engine, Setup
from core.engine.opening import built_in_readers
from core.engine.refining import Pace
from core.engine.scheduler import Beats
from core.engine.sight import Sight, sight_of
from core.engine.strain import Readers as Machine
from core.engine.strain import Strain
from core.engine.wellbeing import sentence
from core.errors import Code
from core.index.manager import IndexManager
from core.intake.reading import Readers
from core.llm.ollama import Limits
from core.recall.result import NO_VECTORS
from core.score.tuned import profile_of
from core.security.kdf import KdfCost
from core.security.keyring_client import KeyringCause, KeyringEntry, KeyringFaultError
from core.types.belief import LABELS, Label, Relation
from core.types.clock import ManualClock
from core.types.lifecycle import Health, JobRow, JobState, JobType, Pressure
from core.types.proposals import Server
from core.types.words import Kind
from core.vault.faults import disk_full
from core.vault.vault import Vault

HOUR_MS = 3_600_000
NO_SERVER = "Waits for the local model."
MB = 1024 * 1024
QUICK = Limits(connect_s=2, silence_s=0.4, whole_s=1.2, list_s=1.2, wire_bytes=256 * 1024)
RESTLESS = Pace(look_s=0.0, first_s=0.01, idle_s=0.02, least_s=0.0, known_s=0.05, longest_s=0.2)
WORK_WITHOUT_A_MODEL = tuple(kind for kind in JobType if kind not in (JobType.DISTILL, JobType.MIGRATE, JobType.EMBED))


class LeapingClock(HandClock):
    """A test moves its monotonic time ahead too, for pauses that are longer than a test."""

    leap = 0.0

    def monotonic(self) -> float:
        return time.monotonic() + self.leap


class Unsure:
    """A relation model that is never sure."""

    def classify(self, pairs: Any) -> tuple[Relation, ...]:
        shares = dict(zip(LABELS, (0.1, 0.5, 0.1, 0.3), strict=True))
        best = max(LABELS, key=lambda label: shares[label])
        return tuple(Relation(best, shares[best], shares, "builtin", "model") for _ in pairs)


def quiet(rig: Rig) -> None:
    rig.engine.scheduler.beats = Beats(every_s=0.0, quiet_s=0.0)
    rig.engine.model.limits = QUICK


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


@contextmanager
def server_at(port: int, *answers: str | Answer | Callable[[Asked], Answer]) -> Iterator[FakeOllama]:
    """The server comes, and goes at the end."""
    with FakeOllama(port) as server:
        server.says(*(answers or ("{}",)))
        yield server


def use_model(rig: Rig, port: int) -> None:
    rig.engine.settings.set("model_host", f"127.0.0.1:{port}").result(30)
    rig.engine.settings.set("model_name", MODEL).result(30)


def how(rig: Rig) -> Health:
    return rig.engine.jobs.health().result(30)


def later(rig: Rig, hours: float) -> None:
    assert isinstance(rig.clock, HandClock)
    rig.clock.advance(int(hours * HOUR_MS))


def beat(rig: Rig) -> None:
    rig.engine.scheduler.beat(rig.opened, force=True)


def until(holds: Callable[[], bool], what: str) -> None:
    pause = threading.Event()
    for _ in range(600):
        if holds():
            return
        pause.wait(0.05)
    raise AssertionError(f"it never came to that: {what}")


def rows(rig: Rig, kind: JobType) -> list[JobRow]:
    return [row for row in rig.engine.jobs.state().result(30).rows if row.type is kind]


def ended(rig: Rig, kind: JobType) -> bool:
    found = rows(rig, kind)
    return bool(found) and all(row.state is JobState.DONE for row in found)


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


# ---- the model server


@pytest.mark.expected_logs("the embedder does not answer")
def test_e32_1a_a_served_embedder_goes_and_what_is_stored_meanwhile_gets_its_vector_when_it_is_back(
    rig: Rig, clock: LeapingClock, port: int
) -> None:
    """E32.1a: words alone are searched, the vector is owed and told, and the next beat behind the pause makes it."""
    use_model(rig, port)
    rig.bring(facts(3))
    with server_at(port):
        rig.engine.spaces.begin(f"ollama:{EMBEDDER.removesuffix(':latest')}").result(30)
        assert rig.engine.jobs.run(JobType.MIGRATE).result(60).state is JobState.DONE
        assert rig.recall("jar number 2").strategy == "hybrid"
    assert rig.recall("jar number 2").strategy == NO_VECTORS
    assert rig.store("The boat lies in the harbour").operation == "ADD"
    assert rig.found("boat harbour") == ["The boat lies in the harbour"]
    away = how(rig)
    assert (away.degradation["search_strategy"], away.counts["pending_embeddings"]) == ("bm25_only", 1)
    assert sentence("embedder_away", code=Code.EMBEDDER_UNAVAILABLE.value) in away.warnings
    assert sentence("embeddings_pending", n=1) in away.warnings
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
    with rig_at(tmp_path, readers=Readers(extract=built_in_readers().extract)) as rig:
        use_model(rig, port)
        assert rig.engine.model.look().result(30).server is Server.ABSENT
        kept = rig.store("I live in Graz and I am allergic to peanuts.").memory_id
        assert rig.get(kept).text == "I live in Graz and I am allergic to peanuts."
        assert {row[0] for row in rig.rows("SELECT value_key FROM claims")} >= {"graz", "peanuts"}
        assert {row[0] for row in rig.rows("SELECT extracted_by FROM claims")} == {"rules"}
        assert sentence("model_absent") in how(rig).warnings
        told = rig.engine.vault.status().result(30).values["model_server"]
        assert told["sentence"] == "No model server: rules and the built-in model answer"


def test_e32_1c_a_pair_nobody_is_sure_of_stands_side_by_side_until_the_model_is_back(tmp_path: Path, port: int) -> None:
    """E32.1c: both versions are stored, the desk holds the question, and the model that returns settles it."""
    with rig_at(tmp_path, readers=Readers(relate=Unsure(), gate=0.0)) as rig:
        quiet(rig)
        use_model(rig, port)
        client = rig.client("one", "write", "read")
        first = rig.store("The gate opens at nine.", client).memory_id
        second = rig.store("The gate opens at ten.", client).memory_id
        assert rig.engine.model.refine().result(30).asked == 0
        assert [rig.get(one).status for one in (first, second)] == ["active", "active"]
        assert rig.rows("SELECT state FROM conflicts") == [("open",)]
        with server_at(port, relation(Label.SUPERSEDE.value, 0.99)):
            assert rig.engine.model.refine().result(30).settled == 1
        assert [rig.get(one).status for one in (first, second)] == ["superseded", "active"]
        assert rig.rows("SELECT state FROM conflicts WHERE state = 'open'") == []


def test_e32_1d_episodes_wait_for_the_model_and_are_read_as_often_as_it_comes_back(tmp_path: Path, port: int) -> None:
    """E32.1d, by itself: no server, one that comes, goes and comes again; nobody asks for anything."""
    with rig_at(tmp_path, background=True, is_open=False) as rig:
        quiet(rig)
        rig.engine.model.pace = RESTLESS
        rig.unlock()
        use_model(rig, port)
        note(rig, "I like tea.")
        later(rig, 0.2)
        until(lambda: ended(rig, JobType.ENRICH), "the rest of the work goes on")
        assert (distilled(rig), rows(rig, JobType.DISTILL)) == (0, [])
        assert how(rig).degradation["model_server"] == "absent"
        assert sentence("model_absent") in how(rig).warnings
        with refused(Code.EMBEDDER_UNAVAILABLE):
            rig.engine.jobs.run(JobType.DISTILL)
        with server_at(port, reading):
            until(lambda: distilled(rig) == 1, "the server came")
            assert "The user likes tea." in rig.texts()
            assert how(rig).degradation["model_server"] == "ready"
            assert sentence("model_absent") not in how(rig).warnings
        until(lambda: how(rig).degradation["model_server"] != "ready", "that it went is noticed")
        note(rig, "I like rye.")
        later(rig, 0.2)
        with server_at(port, reading):
            until(lambda: distilled(rig) == 2, "the server came again")
        assert "The user likes rye." in rig.texts()


def test_e32_1d_a_queued_run_says_that_it_waits_for_the_model(rig: Rig, port: int) -> None:
    """E32.1d `paused: LLM unavailable`: a job that is queued when the server goes says so, and goes on behind it."""
    use_model(rig, port)
    note(rig, "I like tea.")
    with server_at(port):
        assert rig.engine.model.look().result(30).server is Server.READY
        assert rig.engine.scheduler.ground(rig.opened).ask is not None
    later(rig, 0.2)
    rig.engine.settings.set("lifecycle_on", value=False).result(30)
    rig.write(lambda tx: tx.insert("jobs", {"id": "j", "type": "distill", "state": "queued", "created_at": tx.now_ms}))
    rig.engine.settings.set("lifecycle_on", value=True).result(30)
    assert rig.engine.model.look().result(30).server is Server.ABSENT
    beat(rig)
    (row,) = rows(rig, JobType.DISTILL)
    assert (row.state, row.waits_for) == (JobState.QUEUED, NO_SERVER)
    with server_at(port, reading):
        assert rig.engine.model.look().result(30).server is Server.READY
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
        assert rig.engine.model.look().result(30).server is Server.READY
        running = rig.engine.jobs.run(JobType.DISTILL)
        until(lambda: settled(rig), "the run waits for its server")
    assert distilled(rig) == 1
    later(rig, 8)
    with server_at(port, reading):
        assert rig.engine.model.look().result(30).server is Server.READY
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
        assert rig.engine.model.look().result(30).server is Server.READY
        rig.engine.jobs.run(JobType.DISTILL)
        until(lambda: settled(rig), "the run ends or waits")
    assert rig.rows("SELECT id, text, status FROM memories") == before
    assert how(rig).degradation["search_strategy"] == "full"
    note(rig, "I like rye.")
    later(rig, 8)
    with server_at(port, reading):
        assert rig.engine.model.look().result(30).server is Server.READY
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
        assert rig.engine.model.look().result(30).server is Server.READY
        probes = [one.path for one in server.asked].count("/api/tags")
        rig.engine.jobs.run(JobType.DISTILL).result(60)
        assert len(server.questions) == 3
        assert [one.path for one in server.asked].count("/api/tags") == probes


# ---- the embedder


@pytest.mark.expected_logs("the embedder does not answer")
@pytest.mark.parametrize("kind", WORK_WITHOUT_A_MODEL)
def test_no_job_but_the_backlog_of_vectors_needs_the_embedder(tmp_path: Path, kind: JobType) -> None:
    """E32.1a, E32.5: with the embedder away each kind of work comes to its end and none waits for the person."""
    flaky = FlakyEmbedder()
    with rig_at(tmp_path, embedder=flaky) as rig:
        quiet(rig)
        rig.bring(facts(8))
        rig.settle()
        later(rig, 24 * 60)
        flaky.code = Code.EMBEDDER_UNAVAILABLE
        row = rig.engine.jobs.run(kind).result(60)
        assert (row.state, row.code) == (JobState.DONE, "")
        flaky.code = None


@pytest.mark.expected_logs("the embedder does not answer", "a job failed: E3001")
def test_the_backlog_of_vectors_waits_with_its_reason_and_is_done_when_the_embedder_is_back(tmp_path: Path) -> None:
    """E32.1a `queue for backfill`: the job says why, is never poisoned, and ends by itself."""
    flaky = FlakyEmbedder()
    with rig_at(tmp_path, embedder=flaky) as rig:
        quiet(rig)
        flaky.code = Code.EMBEDDER_UNAVAILABLE
        rig.store("The boat lies in the harbour")
        for _ in range(7):
            later(rig, 7)
            beat(rig)
            until(lambda: any(row.state is JobState.QUEUED for row in rows(rig, JobType.EMBED)), "it is tried")
        (row,) = rows(rig, JobType.EMBED)
        assert row.code in (Code.EMBEDDER_UNAVAILABLE.value, "")
        assert row.waits_for
        flaky.code = None

        def caught_up() -> bool:
            later(rig, 1)
            beat(rig)
            return how(rig).counts["pending_embeddings"] == 0

        until(caught_up, "the vector is made")
        assert rig.recall("boat").strategy == "hybrid"


# ---- the index


def test_work_that_needs_the_whole_index_waits_until_it_is_loaded(rig: Rig) -> None:
    """E32, E33.1 step 9: words are searched, consolidation says that it waits, and the upkeep loads the index again."""
    rig.bring(facts(12))
    later(rig, 25)
    rig.opened.threads.stop_tickers()
    empty = IndexManager(rig.opened.space.dims)
    rig.opened.look_through(_with_index(rig, empty))
    assert rig.recall("jar number 3").items[0].memory.text == "The shelf holds jar number 3"
    broken = how(rig)
    assert broken.degradation["search_strategy"] == "bm25_only"
    assert any(warning.startswith("The index is being loaded") for warning in broken.warnings)
    waiting = rig.engine.jobs.run(JobType.CONSOLIDATE)
    until(lambda: bool(rows(rig, JobType.CONSOLIDATE)), "it is queued")
    (row,) = rows(rig, JobType.CONSOLIDATE)
    assert (row.state, row.waits_for) == (JobState.QUEUED, "Waits until the index is loaded.")
    opening.maintain(rig.opened)  # what the upkeep does every second
    rig.engine.scheduler.attend(rig.opened)
    assert waiting.result(60).state is JobState.DONE
    assert how(rig).degradation["search_strategy"] == "full"
    assert rig.recall("jar number 3").strategy == "hybrid"


def _with_index(rig: Rig, index: IndexManager) -> Sight:
    now = rig.opened
    profile = profile_of(now.retrieval)
    return sight_of(now.embedder, now.space, index, profile, now.readers, now.make_id, now.work)


# ---- the disk


@pytest.mark.expected_logs("a job failed: E1003", "the failure of a job could not be noted: E1003")
def test_e32_1f_a_run_on_a_full_disk_loses_nothing_and_goes_on_when_there_is_room(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E32.1f: reading goes on, health says it first, and the run ends by itself as if nothing had been."""
    for n in range(60):
        put(rig, f"old{n:02d}", days=900)
    room = [3]  # the queueing, the plan and one batch
    saving = Vault._transact

    def transact(self: Vault, *args: Any, **more: Any) -> Any:
        room[0] -= 1
        if room[0] < 0:
            raise disk_full()
        return saving(self, *args, **more)

    rig.opened.threads.stop_tickers()
    monkeypatch.setattr(Vault, "_transact", transact)
    running = rig.engine.jobs.run(JobType.SWEEP)
    until(lambda: how(rig).warnings[:1] == (sentence("disk_full"),), "it is told")
    until(lambda: rig.engine.scheduler.running() is None, "the job rests")
    assert rig.get("old00").text == "text of old00"
    left = len(standing(rig))
    assert 0 < left <= 60
    room[0] = 1_000_000
    beat(rig)
    assert running.result(60).state is JobState.DONE
    assert standing(rig) == set()
    assert len(reasons(rig)) == 60
    assert sentence("disk_full") not in how(rig).warnings


# ---- memory, battery, clock


class Machines:
    """A machine whose memory and plug a test has in hand."""

    def __init__(self, rig: Rig) -> None:
        self.megabytes, self.is_plugged, self.clock = 0, True, ManualClock(0)
        readings = Machine(lambda: self.megabytes * MB, lambda: 16_384 * MB, lambda: self.is_plugged)
        rig.opened.strain = Strain(self.clock, 100, readings)

    def calm(self, rig: Rig) -> None:
        self.megabytes = 0
        rig.opened.strain.pressure()
        self.clock.advance(300_000)


@pytest.mark.parametrize(("megabytes", "key"), [(75, "memory_elevated"), (95, "memory_critical")])
def test_e32_1i_heavy_work_rests_while_memory_is_short_and_goes_on_by_itself(
    rig: Rig, megabytes: int, key: str
) -> None:
    """E32.1i, E21.3: consolidation waits and says why; the sweep, which makes room, does not (C4)."""
    machine = Machines(rig)
    rig.bring(facts(4))
    later(rig, 25)
    machine.megabytes = megabytes
    beat(rig)
    until(lambda: ended(rig, JobType.SWEEP), "the sweep ran")
    (row,) = rows(rig, JobType.CONSOLIDATE)
    assert (row.state, row.waits_for) == (JobState.QUEUED, "Waits: memory is short.")
    assert rig.engine.jobs.state().result(30).holds == "Waits: memory is short."
    assert sentence(key, mb=megabytes, budget=100) in how(rig).warnings
    assert rig.found("jar number 3")[0] == "The shelf holds jar number 3"
    machine.calm(rig)
    beat(rig)
    until(lambda: ended(rig, JobType.CONSOLIDATE), "consolidation ran")
    assert rig.engine.jobs.state().result(30).holds == ""


def test_e22_7_when_memory_is_critical_the_sweep_is_due_at_once(rig: Rig) -> None:
    """E22.5, E22.7: under critical pressure the sweep runs an hour after the last one, not a day."""
    machine = Machines(rig)
    later(rig, 25)
    rig.engine.jobs.run(JobType.SWEEP).result(30)
    later(rig, 2)
    scheduler = rig.engine.scheduler
    assert JobType.SWEEP not in scheduler.agenda.due(rig.opened, scheduler.ground(rig.opened))
    machine.megabytes = 95
    assert rig.opened.strain.pressure() is Pressure.CRITICAL
    assert JobType.SWEEP in scheduler.agenda.due(rig.opened, scheduler.ground(rig.opened))


def test_on_battery_heavy_work_waits_and_goes_on_when_the_plug_is_in(rig: Rig) -> None:
    """Issue 6 point 1, battery awareness: told in words, and back at the next beat."""
    machine = Machines(rig)
    machine.is_plugged = False
    later(rig, 25)
    beat(rig)
    until(lambda: ended(rig, JobType.SWEEP), "light work goes on")
    (row,) = rows(rig, JobType.CONSOLIDATE)
    assert (row.state, row.waits_for) == (JobState.QUEUED, "Waits: this machine is on battery.")
    machine.is_plugged = True
    beat(rig)
    until(lambda: ended(rig, JobType.CONSOLIDATE), "heavy work goes on")


def test_a_person_who_asks_gets_heavy_work_on_battery_too(rig: Rig) -> None:
    """The other way round: what a person starts waits for no plug."""
    Machines(rig).is_plugged = False
    assert rig.engine.jobs.run(JobType.CONSOLIDATE).result(30).state is JobState.DONE


def test_a_clock_that_was_set_back_is_told_fades_nothing_and_is_left_by_itself(rig: Rig) -> None:
    """E33, C-list on clocks: a year back nothing is older than before; set right, the warning goes."""
    put(rig, "note", days=1)
    rig.store("Ada keeps bees")
    later(rig, -24 * 365)
    assert sentence("clock_back") in how(rig).warnings
    assert rig.engine.jobs.run(JobType.SWEEP).result(30).report == {}
    assert "note" in standing(rig)
    later(rig, 24 * 365)
    assert sentence("clock_back") not in how(rig).warnings
    assert rig.engine.jobs.run(JobType.SWEEP).result(30).report == {}


# ---- the keyring


class Ring:
    """The system's keyring, which may be locked."""

    def __init__(self) -> None:
        self.cause: KeyringCause | None = None
        self.kept: dict[bytes, bytes] = {}

    def _need(self) -> None:
        if self.cause is not None:
            raise KeyringFaultError(self.cause, "nothing was changed")

    def probe(self) -> str:
        self._need()
        return "Ring"

    def store(self, vault_id: bytes, kek: bytes) -> KeyringEntry:
        self._need()
        return KeyringEntry("Ring", self.kept.setdefault(vault_id, kek))

    def fetch(self, vault_id: bytes, backend: str) -> KeyringEntry:
        self._need()
        assert backend == "Ring"
        return KeyringEntry("Ring", self.kept[vault_id])

    def remove(self, vault_id: bytes, backend: str) -> None:
        self._need()
        assert backend == "Ring"
        del self.kept[vault_id]


@pytest.mark.parametrize("cause", list(KeyringCause))
def test_e32_1e_a_keyring_that_is_away_opens_nothing_makes_no_key_and_comes_back(
    tmp_path: Path, cause: KeyringCause
) -> None:
    """E32.1e: refused in words, the passphrase opens all the same, and the ring opens again once it is there."""
    home, _ = new_home(tmp_path / "home")
    for left in home.path.iterdir():
        if left.is_file():
            left.unlink()
    ring = Ring()
    engine = Engine(
        Setup(home, HandClock(START_MS), WordEmbedder(), background=False, keyring=ring, kdf_cost=KdfCost.lowest())
    )
    try:
        engine.vault.create(PASSPHRASE, use_keyring=True).result(30)
        before = {path.name: path.read_bytes() for path in home.path.glob("vault.keys*")}
        ring.cause = cause
        error = error_of(engine.vault.open())
        assert error.code is Code.KEYRING_UNAVAILABLE
        assert str(error).endswith(".")
        assert engine.state == "locked"
        assert {path.name: path.read_bytes() for path in home.path.glob("vault.keys*")} == before
        engine.vault.open(PASSPHRASE).result(30)
        assert engine.state == "open"
        engine.vault.lock().result(30)
        ring.cause = None
        engine.vault.open().result(30)
        assert engine.state == "open"
    finally:
        engine.close()
