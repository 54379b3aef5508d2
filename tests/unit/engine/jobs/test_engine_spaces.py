"""Changing the embedding model: the old space is searched until the new one is whole, whatever happens on the way."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from engine_rig import START_MS, HandClock, Rig, WordEmbedder, error_of, facts, refused, rig_at
from fake_ollama import EMBEDDER, Answer, FakeOllama, _listed
from numpy.typing import NDArray

from core.engine.jobs.scheduler import SchedulerPacing
from core.engine.vault import embedding_model as spaces_module
from core.errors import Code, EnvironmentFaultError, UserError
from core.lifecycle.embedding import LAST_ROUNDS, MigrationJob
from core.memory import vector_spaces
from core.memory.write import VectorSpace, write_vectors
from core.types.lifecycle import JobState, JobType

WISH = "ollama:embed-small"
DAY_MS = 86_400_000


class Served(WordEmbedder):
    """The vectors a served model would give: of another length, and near where words are the same."""

    dims = 24

    def embed_one(self, text: str) -> NDArray[np.float32]:
        total = np.sum([_word(word) for word in text.lower().split()[:200] or [""]], axis=0)
        return np.asarray(total / np.linalg.norm(total), np.float32)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.array([self.embed_one(text) for text in texts], np.float32).reshape(-1, self.dims)


def _word(word: str) -> NDArray[np.float32]:
    seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big")
    return np.random.default_rng(seed).normal(size=Served.dims).astype(np.float32)


class Model:
    """Stands for the server behind `Spaces`: which version it has, what it gives, what it refuses."""

    def __init__(self) -> None:
        self.version = "aaaa"
        self.fails: Code | None = None
        self.bad: str | None = None
        self.dims = Served.dims
        self.asked = 0
        self.hook: Callable[[], None] = lambda: None

    def ask(self, _wish: str, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        self.need()
        self.asked += len(texts)
        self.hook()
        rows = Served().embed(texts)
        return [
            [0.0] * self.dims if self.bad is not None and self.bad in text else row[: self.dims].tolist()
            for text, row in zip(texts, rows, strict=True)
        ]

    def version_of(self, _wish: str) -> str:
        self.need()
        return self.version

    def need(self) -> None:
        if self.fails is not None:
            raise EnvironmentFaultError(self.fails, "away")


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Model:
    model = Model()
    monkeypatch.setattr(
        spaces_module.EmbeddingModels, "_embed_on_server", lambda _, wish, texts: model.ask(wish, texts)
    )
    monkeypatch.setattr(spaces_module.EmbeddingModels, "_read_model_version", lambda _, wish: model.version_of(wish))
    return model


@pytest.fixture
def rig(tmp_path: Path, model: Model) -> Iterator[Rig]:
    with rig_at(tmp_path) as rig:
        rig.engine.scheduler.beats = SchedulerPacing(pause_s=0.0, quiet_s=0.0)
        yield rig


def migrated(rig: Rig) -> str:
    """Run the job to its end."""
    return rig.engine.jobs.run(JobType.MIGRATE).result(60).state.value


def begin(rig: Rig, wish: str = WISH) -> None:
    rig.engine.embedding_models.begin_change(wish).result(30)


def count(rig: Rig, name: str) -> int:
    return int(rig.value("SELECT count(*) FROM embeddings WHERE vector_space = ?", name))


def states(rig: Rig) -> dict[str, str]:
    return dict(rig.rows("SELECT name, state FROM vector_spaces"))


def batches(rig: Rig) -> Iterator[Any]:
    """The job's batches one by one, as the scheduler does them."""
    work = MigrationJob(rig.engine.embedding_models)
    cursor: Any = {}
    while True:
        ground = rig.engine.scheduler.make_context(rig.opened)
        prepared = work.prepare(ground, cursor)
        if prepared is None:
            return
        batch = rig.write(lambda tx: work.write(tx, None, ground, prepared))  # noqa: B023
        cursor = batch.cursor or cursor
        yield batch
        if batch.is_last:
            return


@pytest.mark.slow
def test_all_memories_get_a_vector_of_the_new_model_which_is_searched_then(rig: Rig, model: Model) -> None:
    rig.bring(facts(120))
    before = rig.engine.embedding_models.read_state().result(30)
    assert (before.model, before.space, before.wished, before.is_changing, before.note) == ("", "words", "", False, "")
    begin(rig)
    under_way = rig.engine.embedding_models.read_state().result(30)
    assert (under_way.is_changing, under_way.done, under_way.total) == (True, 0, 120)
    assert "built-in model" in under_way.note
    assert migrated(rig) == "done"
    after = rig.engine.embedding_models.read_state().result(30)
    assert (after.model, after.space, after.dims, after.is_changing) == (WISH, WISH, Served.dims, False)
    assert [(one.name, one.vectors) for one in after.kept] == [("words", 120)]
    assert states(rig) == {"words": "old", WISH: "active"}
    asked = model.asked
    found = rig.recall("jar number 77")
    assert model.asked == asked + 1
    assert found.items[0].memory.text == "The shelf holds jar number 77"
    assert found.strategy == "hybrid"
    assert rig.verify()["status"] == "ok"


def test_a_wish_is_looked_at_with_the_next_second_and_not_with_the_next_minute(rig: Rig, model: Model) -> None:
    rig.store("The heron stands in the reeds.")
    scheduler, opened = rig.engine.scheduler, rig.opened
    scheduler.beats = SchedulerPacing(every_s=60.0, quiet_s=0.0)
    scheduler.start_for(opened)
    rig.engine.embedding_models.begin_change(WISH).result(30)
    scheduler.queue_due(opened)
    assert rig.value("SELECT count(*) FROM jobs WHERE type = 'migrate'") == 1


def test_the_new_model_is_used_for_what_comes_and_after_the_next_start(rig: Rig, model: Model) -> None:
    rig.bring(facts(5))
    begin(rig)
    migrated(rig)
    rig.store("The boat lies in the harbour")
    assert count(rig, WISH) == 6
    assert count(rig, "words") == 5
    rig.lock()
    rig.unlock()
    assert rig.opened.search.space == VectorSpace(WISH, "aaaa", Served.dims)
    assert rig.opened.search.space.served
    assert rig.found("boat harbour")[0] == "The boat lies in the harbour"
    assert rig.recall("boat harbour").strategy == "hybrid"
    assert model.asked


@pytest.mark.slow
def test_e34_4_searches_go_on_all_the_while_without_an_error_or_a_missing_result(rig: Rig, model: Model) -> None:
    rig.bring(facts(300))
    begin(rig)
    faults: list[str] = []
    done = threading.Event()
    rounds = [0]

    def search() -> None:
        while not done.is_set():
            number = rounds[0] % 300
            found = rig.recall(f"jar number {number}")
            texts = [item.memory.text for item in found.items]
            if f"The shelf holds jar number {number}" not in texts or found.strategy != "hybrid":
                faults.append(f"{number}: {found.strategy} {found.reason}")
            rounds[0] += 1

    stored: list[str] = []
    model.hook = lambda: (
        stored.append(rig.store(f"Late boat {len(stored)} lies here").memory_id) if (len(stored) < 3) else None
    )
    seeker = threading.Thread(target=search)
    seeker.start()
    try:
        assert migrated(rig) == "done"
        for _ in range(20):
            rig.recall("jar number 5")
    finally:
        done.set()
        seeker.join(60)
    assert faults == []
    assert rounds[0] > 5
    assert len(stored) == 3
    rig.settle()
    assert count(rig, WISH) == 303
    assert rig.opened.search.index.status().total == 303
    assert rig.found("Late boat 2 lies")[0] == "Late boat 2 lies here"
    assert rig.verify()["status"] == "ok"


@pytest.mark.slow
def test_a_stop_in_the_middle_goes_on_where_it_was_after_the_next_start(rig: Rig, model: Model, tmp_path: Path) -> None:
    rig.bring(facts(130))
    begin(rig)
    steps = batches(rig)
    for _ in range(2):
        next(steps)
    assert count(rig, WISH) == 100
    assert rig.opened.search.space.name == "words"
    rig.engine.close()
    model.asked = 0
    with rig_at(tmp_path, is_open=False) as again:
        again.unlock()
        again.engine.scheduler.beats = SchedulerPacing(pause_s=0.0, quiet_s=0.0)
        assert again.opened.search.space.name == "words"
        assert again.found("jar number 7")[0] == "The shelf holds jar number 7"
        state = again.engine.embedding_models.read_state().result(30)
        assert (state.done, state.total) == (100, 130)
        assert migrated(again) == "done"
        assert model.asked < 40, "only what lacked a vector was embedded"
        assert count(again, WISH) == 130
        assert again.verify()["status"] == "ok"


@pytest.mark.slow
def test_taking_the_wish_back_drops_what_was_made_and_leaves_the_old_space_as_it_was(rig: Rig) -> None:
    rig.bring(facts(130))
    before = rig.rows("SELECT n, hex(vector) FROM embeddings ORDER BY n")
    begin(rig)
    steps = batches(rig)
    next(steps)
    state = rig.engine.embedding_models.cancel_change().result(30)
    assert not state.is_changing
    assert migrated(rig) == "done"
    assert rig.rows("SELECT n, hex(vector) FROM embeddings ORDER BY n") == before
    assert states(rig) == {}
    assert rig.opened.search.space.name == "words"
    assert rig.found("jar number 7")[0] == "The shelf holds jar number 7"


@pytest.mark.slow
def test_wishing_for_another_model_half_way_drops_the_first(rig: Rig) -> None:
    rig.bring(facts(130))
    begin(rig)
    next(batches(rig))
    begin(rig, "ollama:other")
    assert migrated(rig) == "done"
    assert count(rig, WISH) == 0
    assert states(rig) == {"words": "old", "ollama:other": "active"}


@pytest.mark.slow
def test_the_way_back_takes_the_vectors_that_were_kept(rig: Rig, model: Model) -> None:
    kept = rig.store("The kiln stands in the shed").memory_id
    rig.bring(facts(60))
    begin(rig)
    migrated(rig)
    rig.forget(kept)
    rig.store("The boat lies in the harbour")
    begin(rig, "")
    asked = model.asked
    assert migrated(rig) == "done"
    assert model.asked == asked
    assert states(rig) == {"words": "active", WISH: "old"}
    assert rig.found("boat harbour")[0] == "The boat lies in the harbour"
    assert rig.recall("boat harbour").strategy == "hybrid"
    assert rig.verify()["status"] == "ok"


def test_a_text_that_changes_meanwhile_is_found_by_what_it_says_now(rig: Rig) -> None:
    def merged(tx: Any) -> None:
        n = int(tx.value("SELECT n FROM memories WHERE text LIKE '%number 3'"))
        tx.update("memories", {"n": n}, {"text": "The shelf holds a telescope"})
        tx.run("DELETE FROM embeddings WHERE n = ?", (n,))
        write_vectors(tx, [n], WordEmbedder().embed(["The shelf holds a telescope"]), rig.opened.search.space)

    rig.bring(facts(5))
    begin(rig)
    work = MigrationJob(rig.engine.embedding_models)
    ground = rig.engine.scheduler.make_context(rig.opened)
    prepared = work.prepare(ground, {})
    assert prepared is not None
    rig.write(merged)
    rig.write(lambda tx: work.write(tx, None, ground, prepared))
    assert count(rig, WISH) == 4, "the vector of the old words was not kept"
    assert migrated(rig) == "done"
    stored = rig.value(
        "SELECT e.vector FROM embeddings e JOIN memories m ON m.n = e.n "
        "WHERE e.vector_space = ? AND m.text LIKE '%scope'",
        WISH,
    )
    assert np.frombuffer(stored, np.float16).astype(np.float32) @ Served().embed_one(
        "The shelf holds a telescope"
    ) == pytest.approx(1, abs=0.01)


@pytest.mark.slow
@pytest.mark.expected_logs("the embedder does not answer")
def test_a_text_without_a_direction_holds_up_nobody(rig: Rig, model: Model) -> None:
    rig.bring(facts(60))
    begin(rig)
    model.bad = "number 13"
    job = rig.engine.jobs.run(JobType.MIGRATE).result(60)
    assert (job.state, job.report["refused"]) == (JobState.DONE, 1)
    assert count(rig, WISH) == 59
    assert rig.opened.search.space.name == WISH
    assert rig.found("jar number 13")[0] == "The shelf holds jar number 13"


@pytest.mark.slow
def test_a_server_that_goes_away_lets_the_job_rest_and_the_old_space_is_searched(rig: Rig, model: Model) -> None:
    rig.bring(facts(60))
    begin(rig)
    next(batches(rig))
    model.fails = Code.EMBEDDER_UNAVAILABLE
    rig.engine.embedding_models.close_server()
    assert migrated(rig) == "done"
    assert rig.opened.search.space.name == "words"
    assert rig.recall("jar number 7").strategy == "hybrid"
    ground = rig.engine.scheduler.make_context(rig.opened)
    work = MigrationJob(rig.engine.embedding_models)
    assert rig.opened.storage.vault.read(lambda rows: work.count_backlog(rows, ground)) == 0, (
        "it is left alone for a while"
    )
    model.fails = None
    rig.engine.embedding_models.close_server()
    assert migrated(rig) == "done"
    assert rig.opened.search.space.name == WISH


def test_a_model_that_does_not_answer_is_told_at_once_and_nothing_is_wished(rig: Rig, model: Model) -> None:
    model.fails = Code.EMBEDDER_UNAVAILABLE
    assert error_of(rig.engine.embedding_models.begin_change(WISH)).code is Code.EMBEDDER_UNAVAILABLE
    assert not rig.engine.embedding_models.read_state().result(30).is_changing
    with refused(Code.CONFIG_INVALID):
        rig.engine.embedding_models.begin_change("bert").result(30)


@pytest.mark.expected_logs("the embedder does not answer")
def test_e34_2_a_served_vector_of_another_length_is_e3003(rig: Rig, model: Model) -> None:
    rig.bring(facts(3))
    begin(rig)
    migrated(rig)
    model.dims = 16
    found = rig.recall("jar number 2")
    assert rig.opened.search.active_space.fault.code is Code.DIMENSION_MISMATCH
    assert found.items[0].memory.text == "The shelf holds jar number 2"
    with refused(Code.DIMENSION_MISMATCH):
        rig.opened.search.embed(["jar"]).result(30)


@pytest.mark.expected_logs("the embedder does not answer")
def test_a_model_that_was_pulled_anew_is_told_and_embedded_anew(rig: Rig, model: Model) -> None:
    rig.bring(facts(3))
    begin(rig)
    migrated(rig)
    rig.lock()
    model.version = "bbbb"
    rig.unlock()
    assert rig.recall("jar number 2").strategy != "hybrid"
    assert rig.opened.search.active_space.fault.code is Code.MODEL_CHANGED
    assert migrated(rig) == "done"
    assert rig.opened.search.space == VectorSpace(f"{WISH}#bbbb", "bbbb", Served.dims)
    assert rig.recall("jar number 2").strategy == "hybrid"


def test_vectors_that_are_over_go_after_thirty_days_or_when_the_person_says_so(rig: Rig) -> None:
    rig.bring(facts(3))
    begin(rig)
    migrated(rig)
    ground = rig.engine.scheduler.make_context(rig.opened)
    work = MigrationJob(rig.engine.embedding_models)
    assert isinstance(rig.clock, HandClock)
    rig.clock.advance(vector_spaces.KEPT_DAYS * DAY_MS - 1)
    assert rig.opened.storage.vault.read(lambda rows: work.count_backlog(rows, ground)) == 0
    rig.engine.embedding_models.forget_vectors("words").result(30)
    assert rig.opened.storage.vault.read(lambda rows: work.count_backlog(rows, ground)) == 3
    assert migrated(rig) == "done"
    assert count(rig, "words") == 0
    assert count(rig, WISH) == 3
    assert states(rig) == {WISH: "active"}
    assert error_of(rig.engine.embedding_models.forget_vectors(WISH)).code is Code.NOT_FOUND
    assert rig.engine.embedding_models.read_state().result(30).kept == ()


def test_another_version_of_the_built_in_model_is_embedded_anew(tmp_path: Path) -> None:
    class Newer(WordEmbedder):
        version = "words-2"

    with rig_at(tmp_path) as rig:
        rig.bring(facts(3))
    with rig_at(tmp_path, embedder=Newer()) as rig:
        rig.write(lambda tx: tx.seq)
        assert rig.opened.search.space == VectorSpace("words#words-2", "words-2", 384)
        assert rig.found("jar number 2")[0] == "The shelf holds jar number 2"
        rig.settle()
        assert rig.recall("jar number 2").strategy == "hybrid"
        assert states(rig) == {"words": "old", "words#words-2": "active"}
    with rig_at(tmp_path, embedder=Newer()) as rig:
        assert rig.opened.search.space.name == "words#words-2"
        assert rig.recall("jar number 2").strategy == "hybrid"


@pytest.mark.slow
def test_somebody_who_writes_without_a_pause_does_not_hold_up_the_exchange(rig: Rig) -> None:
    rig.bring(facts(3))
    begin(rig)
    for number, step in enumerate(batches(rig)):
        if not step.is_last:
            rig.store(f"Yet another boat {number}")
    assert rig.opened.search.space.name == WISH
    assert rig.value("SELECT count(*) FROM memories") > LAST_ROUNDS
    rig.settle()
    assert rig.verify()["status"] == "ok"


@pytest.mark.expected_logs("the embedder does not answer")
def test_through_the_real_client_with_a_stand_in_server(tmp_path: Path) -> None:
    with FakeOllama() as server, rig_at(tmp_path) as rig:
        rig.engine.scheduler.beats = SchedulerPacing(pause_s=0.0, quiet_s=0.0)
        rig.engine.settings.set_option("model_host", server.host).result(30)
        rig.bring(facts(3))
        begin(rig)
        assert migrated(rig) == "done"
        digest = str(_listed(EMBEDDER, 1, "")["digest"])
        assert rig.opened.search.space == VectorSpace(WISH, digest[:16], 8)
        assert rig.recall("jar number 2").strategy == "hybrid"
        assert {one.path for one in server.asked} == {"/api/tags", "/api/embed"}
        server.on("/api/embed", Answer(status=500, error="secret words of a server"))
        error = error_of(rig.opened.search.embed(["jar"]))
        assert error.code is Code.MODEL_SERVER_FAILED
        assert "secret" not in str(error)


def test_only_this_machine_is_asked(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    rig.engine.settings.set_option("model_host", "192.0.2.7:11434").result(30)
    rig.engine.settings.set_option("model_beyond", value=True).result(30)
    assert error_of(rig.engine.embedding_models.begin_change(WISH)).code is Code.ACCESS_DENIED


def test_the_servers_name_is_looked_up_where_nobody_waits_for_an_embedder(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    threads = []

    def look_up(_host: str, *, beyond: bool) -> None:
        threads.append(threading.current_thread().name)
        raise UserError(Code.ACCESS_DENIED, f"No name: {beyond}.")

    monkeypatch.setattr(spaces_module, "parse_address", look_up)
    assert error_of(rig.engine.embedding_models.begin_change(WISH)).code is Code.ACCESS_DENIED
    assert threads
    assert all(name.startswith("loci-layout") for name in threads)


class Slow(HandClock):
    """A clock on which every question to the model takes 0.8 seconds more."""

    more_s = 0.0

    def monotonic(self) -> float:
        return super().monotonic() + self.more_s


def test_what_a_change_costs_is_measured_and_changes_nothing(tmp_path: Path, model: Model) -> None:
    clock = Slow(START_MS)

    def take_long() -> None:
        clock.more_s += 0.8

    with rig_at(tmp_path, clock=clock) as rig:
        rig.bring(facts(40))
        model.hook = take_long
        cost = rig.engine.embedding_models.estimate_change(WISH).result(30)
        assert (cost.wish, cost.memories, cost.dims) == (WISH, 40, Served.dims)
        assert 40 * 0.8 / 16 <= cost.seconds < 40 * 30 / 16
        assert "built-in model" in cost.note
        assert rig.engine.embedding_models._model is None
        assert not rig.engine.embedding_models.read_state().result(30).is_changing
        assert rig.engine.embedding_models.estimate_change("").result(30).memories == 0
        model.fails = Code.EMBEDDER_UNAVAILABLE
        assert error_of(rig.engine.embedding_models.estimate_change(WISH)).code is Code.EMBEDDER_UNAVAILABLE
        with refused(Code.CONFIG_INVALID):
            rig.engine.embedding_models.estimate_change("big-model")


def test_the_servers_embedding_models_are_offered_and_no_others(tmp_path: Path) -> None:
    with FakeOllama() as server, rig_at(tmp_path) as rig:
        rig.engine.settings.set_option("model_host", server.host).result(30)
        server.models.append(("far-embed:cloud", 300_000_000, "bert"))
        offers = rig.engine.embedding_models.list_models().result(30)
        assert [(one.wish, one.bytes) for one in offers.models] == [(f"ollama:{EMBEDDER}", 300_000_000)]
        assert offers.code == ""
    with rig_at(tmp_path) as rig:
        offers = rig.engine.embedding_models.list_models().result(30)
        assert offers.models == ()
        assert offers.code == Code.EMBEDDER_UNAVAILABLE.value
