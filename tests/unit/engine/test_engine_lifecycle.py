"""Locking and unlocking: nothing that was acknowledged is lost, every future ends, every lock completes."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from concurrent.futures import Future, wait
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from engine_rig import START_MS, HandClock, Rig, WordEmbedder, error_of, facts, new_home, refused, rig_at, talk

from core.config.options import Options
from core.engine import startup
from core.engine.authority import Authority
from core.engine.facade import Engine, HomeKeys, RootKey, Setup
from core.engine.runtime.threads import Threads
from core.engine.vault import administration as checks
from core.errors import Code, EnvironmentFaultError, LociError
from core.events import Changed, Event, StateChanged
from core.index.manager import IndexManager
from core.types.requests import ListRequest, RecallQuery, StoreRequest
from core.types.values import OWNER_ACTOR, When
from core.vault.database.faults import busy_error, vault_damaged_error

CALLS: dict[str, Callable[[Engine], object]] = {
    "store": lambda e: e.memories.store(StoreRequest("x"), OWNER_ACTOR),
    "get": lambda e: e.memories.get("x", OWNER_ACTOR),
    "list": lambda e: e.memories.list(ListRequest(), OWNER_ACTOR),
    "show": lambda e: e.memories.show("x", OWNER_ACTOR),
    "history": lambda e: e.memories.list_versions("x", OWNER_ACTOR),
    "recall": lambda e: e.memories.recall(RecallQuery("x"), OWNER_ACTOR),
    "forget": lambda e: e.memories.forget("x", OWNER_ACTOR),
    "undo": lambda e: e.memories.undo_step(None, OWNER_ACTOR),
    "import": lambda e: e.imports.run(Path("x"), None, None, OWNER_ACTOR),
    "rehearse": lambda e: e.imports.rehearse(Path("x"), None, OWNER_ACTOR),
    "unimport": lambda e: e.imports.undo_import("x"),
    "finish": lambda e: e.imports.finish_interrupted(),
    "interrupted": lambda e: e.imports.count_interrupted(),
    "pair": lambda e: e.clients.pair("x", ()),
    "revoke": lambda e: e.clients.revoke("x"),
    "clients": lambda e: e.clients.list(),
    "status": lambda e: e.vault.read_status(),
    "verify": lambda e: e.vault.verify(),
    "backup": lambda e: e.vault.backup(),
    "flush": lambda e: e.flush_journal(),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_locked_vault_answers_nothing(tmp_path: Path, name: str) -> None:
    with rig_at(tmp_path, is_open=False) as rig, refused(Code.VAULT_LOCKED):
        CALLS[name](rig.engine)


def test_what_was_stored_is_there_after_every_lock(rig: Rig) -> None:
    seen: list[Event] = []
    rig.engine.hub.subscribe(seen.append)
    for number in range(4):
        rig.store(f"Entry {number} about bees")
        rig.lock()
        assert rig.engine.state == "locked"
        rig.unlock()
        assert rig.engine.state == "open"
        assert len(rig.found("bees")) == number + 1
    states = [event.state for event in seen if isinstance(event, StateChanged)]
    assert states == ["closing", "locked", "opening", "open"] * 4
    assert [event.verb for event in seen if isinstance(event, Changed)] == ["store"] * 4
    assert rig.verify()["status"] == "ok"


def test_locking_and_unlocking_twice_is_once(rig: Rig) -> None:
    opened = rig.opened
    rig.unlock()
    assert rig.opened is opened
    rig.lock()
    rig.lock()
    assert rig.engine.authority.token_for("@owner") is None
    rig.engine.close()
    rig.engine.close()


def test_the_root_is_wiped_and_the_clients_are_forgotten(rig: Rig) -> None:
    rig.client("Claude", "read")
    root, authority = rig.opened.storage.root, rig.engine.authority
    assert authority.token_for("Claude") is not None
    assert authority.token_for("@owner") is not None
    rig.engine.vault.lock().result(30)
    assert authority.token_for("Claude") is authority.token_for("@owner") is None
    assert repr(root) == "RootKey(wiped)"
    rig.engine.vault.unlock(rig.root).result(30)
    assert authority.token_for("Claude") is not None


def test_one_home_has_one_owner(rig: Rig) -> None:
    second = Engine(Setup(rig.home, rig.clock, WordEmbedder(), background=False))
    try:
        with refused(Code.VAULT_BUSY):
            second.unlock(RootKey(rig.root, rig.engine.vault_id))
        assert second.state == "locked"
        rig.lock()  # a locked engine keeps its home
        with refused(Code.VAULT_BUSY):
            second.claim_home()
        rig.engine.close()
        second.unlock(RootKey(rig.root, rig.engine.vault_id))
        assert second.memories.store(StoreRequest("Mine now"), OWNER_ACTOR).result(10).operation == "ADD"
    finally:
        second.close()


def test_a_wrong_key_leaves_the_engine_locked_and_the_right_one_opens(tmp_path: Path) -> None:
    with rig_at(tmp_path, is_open=False) as rig:
        before = {path.name: path.read_bytes() for path in rig.home.path.iterdir() if path.is_file()}
        for _ in range(3):
            with refused(Code.KEY_FILE_DAMAGED):
                rig.engine.unlock(RootKey(b"x" * 32, rig.engine.vault_id))
            assert rig.engine.state == "locked"
        assert error_of(rig.engine.vault.unlock(b"y" * 32)).code is Code.WRONG_SECRET
        after = {path.name: path.read_bytes() for path in rig.home.path.iterdir() if path.is_file()}
        assert {name: after[name] for name in before if name != "vault.lock"} == {
            name: content for name, content in before.items() if name != "vault.lock"
        }
        rig.unlock()
        assert rig.store("Hello").operation == "ADD"


@pytest.mark.parametrize("place", ["settings", "clients", "warming"])
def test_a_failure_in_the_midst_of_opening_leaves_nothing_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    def fail(*_: object) -> None:
        raise vault_damaged_error()

    with rig_at(tmp_path, is_open=False) as rig:
        with monkeypatch.context() as patch:
            target = {"settings": (startup, "stored_options"), "clients": (Authority, "reload_clients")}
            patch.setattr(*target.get(place, (startup, "begin_warming")), fail)
            with refused(Code.VAULT_DAMAGED):
                rig.unlock()
        assert rig.engine.state == "locked"
        rig.unlock()
        assert rig.store("Hello").operation == "ADD"


def outcome(future: Future[Any]) -> object:
    """What a future ended with; anything but a result or a locked vault is a failure."""
    error = future.exception(60)
    if error is None:
        return future.result()
    assert isinstance(error, LociError), repr(error)
    assert error.code is Code.VAULT_LOCKED, error
    return None


@pytest.mark.slow
@pytest.mark.parametrize("stored_first", [0, 3, 40])
def test_a_lock_in_full_work_ends_every_future_and_loses_nothing(tmp_path: Path, stored_first: int) -> None:
    with rig_at(tmp_path) as rig:
        rig.opened.options = Options(import_batch=3)
        engine = rig.engine
        importing = engine.imports.run(rig.write_rows(talk(400)), None, None, OWNER_ACTOR)
        stores = [
            engine.memories.store(StoreRequest(f"Said meanwhile {n}", request_id=str(n)), OWNER_ACTOR)
            for n in range(120)
        ]
        recalls = [engine.memories.recall(RecallQuery(f"garden {n}"), OWNER_ACTOR) for n in range(40)]
        reads: list[Future[Any]] = [engine.memories.list(ListRequest(limit=3), OWNER_ACTOR) for _ in range(20)]
        reads += [engine.vault.read_status(), engine.vault.verify()]
        if stored_first:
            wait(stores[:stored_first], 30)
        engine.vault.lock().result(60)

        assert engine.state == "locked"
        replies = [outcome(future) for future in stores]
        for future in (*recalls, *reads, importing):
            outcome(future)

        rig.unlock()
        held = {row[0] for row in rig.rows("SELECT id FROM memories")}
        acknowledged = [reply.memory_id for reply in replies if reply is not None]  # type: ignore[attr-defined]
        assert len(acknowledged) >= stored_first
        assert set(acknowledged) <= held
        engine.imports.finish_interrupted().result(60)
        # A second try with the same request id stores what is missing, and nothing twice.
        for n in range(120):
            rig.store(f"Said meanwhile {n}", request_id=str(n))
        said = [text for text in rig.texts() if text.startswith("Said meanwhile")]
        assert len(said) == len(set(said)) == 120
        assert rig.engine.imports.count_interrupted() == 0
        assert rig.value("SELECT count(*) FROM memories WHERE import_id IS NOT NULL") in {0, 400}
        assert rig.verify()["status"] == "ok"


def test_a_lock_does_not_wait_for_a_check(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(storage: Any, _search: Any) -> dict[str, Any]:
        while True:
            storage.vault.read(lambda rows: rows.value("SELECT 1"))

    monkeypatch.setattr(checks, "check_vault", endless)
    checking = rig.engine.vault.verify()
    rig.engine.vault.lock().result(60)
    assert error_of(checking).code is Code.VAULT_LOCKED


def test_a_lock_does_not_wait_for_a_runaway_reader(rig: Rig) -> None:
    runaway = rig.opened.storage.read(
        lambda rows: rows.value(
            "WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT count(*) FROM c"
        )
    )
    rig.engine.vault.lock().result(60)
    assert error_of(runaway).code is Code.VAULT_LOCKED


def test_a_lock_in_the_middle_of_a_rehearsal_ends_it(rig: Rig) -> None:
    path = rig.write_rows(talk(3000))
    closing = rig.opened.storage.closing
    begun: list[int] = []

    def lock_now() -> bool:
        if not begun:
            begun.append(1)
            rig.engine.vault.lock()
            closing.wait(30)
        return False

    future = rig.engine.imports.rehearse(path, None, OWNER_ACTOR, None, None, lock_now)
    assert error_of(future).code is Code.VAULT_LOCKED
    rig.engine.vault.lock().result(60)


def test_a_change_the_index_cannot_take_is_saved_all_the_same(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    request.applymarker(pytest.mark.expected_logs("the index did not take a change: E5004"))

    def fail(*_: object) -> None:
        raise busy_error()

    with monkeypatch.context() as patch:
        patch.setattr(IndexManager, "apply", fail)
        memory = rig.store("Ada keeps bees").memory_id
    assert rig.get(memory).text == "Ada keeps bees"


@pytest.mark.slow
def test_what_lacks_a_vector_gets_one_at_the_next_start(tmp_path: Path) -> None:
    with rig_at(tmp_path) as rig:
        rig.bring(facts(450))
        whole = rig.dump()
        rig.write(lambda tx: tx.run("DELETE FROM embeddings WHERE n % 2 = 0"))
    with rig_at(tmp_path, background=True) as rig:
        rig.settle()
        assert rig.dump()["embeddings"] == whole["embeddings"]
        assert rig.opened.search.index.status().done == 450


def test_a_vector_is_not_written_for_what_is_gone_by_then(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    rig.store("Ada keeps bees")
    rig.store("Eva keeps goats")
    rig.write(lambda tx: tx.run("DELETE FROM embeddings"))
    undone: list[str] = []

    class Slow(WordEmbedder):
        def embed(self, texts: Any) -> Any:
            if not undone:
                undone.append("x")
                rig.engine.memories.undo_step(None, OWNER_ACTOR).result(10)
            return super().embed(texts)

    rig.opened.search.active_space = replace(rig.opened.search.active_space, embedder=Slow())
    rig.settle()
    assert rig.rows("SELECT n FROM embeddings") == [(1,)]
    assert rig.verify()["status"] == "ok"


@pytest.mark.parametrize("back_ms", [1, 86_400_000, 20 * 365 * 86_400_000, START_MS])
def test_a_clock_that_jumps_back_changes_no_order(tmp_path: Path, back_ms: int) -> None:
    clock = HandClock(START_MS)
    with rig_at(tmp_path, clock=clock) as rig:
        ids = [rig.store("first about bees").memory_id]
        clock.advance(-back_ms)
        ids.append(rig.store("second about bees").memory_id)
        rig.lock()
        rig.unlock()
        ids.append(rig.store("third about bees").memory_id)
        times = [row[0] for row in rig.rows("SELECT recorded_at FROM memories ORDER BY n")]
        assert times == sorted(times)
        assert rig.texts() == ["first about bees", "second about bees", "third about bees"]
        assert len(rig.found("bees")) == 3
        rig.engine.flush_journal()
        assert all(memory.trust == 1.0 for memory in map(rig.get, ids))
        assert all(0 <= item.score <= 1 for item in rig.recall("bees").items)
        clock.advance(back_ms + 10 * 365 * 86_400_000)
        assert len(rig.found("bees")) == 3
        assert rig.verify()["status"] == "ok"


@pytest.mark.expected_logs("3 stored options were out of bounds; their defaults are used")
def test_options_out_of_bounds_fall_back(rig: Rig) -> None:
    stored = {
        "import_batch": "100000",
        "undo_days": '"soon"',
        "receipt_days": "-1",
        "hnsw_from": "200",
        "unknown": "{}",
    }

    def write(tx: Any) -> None:
        for key, value in stored.items():
            tx.run("INSERT INTO settings (key, value, changed_at) VALUES (?, ?, 0)", (key, value))

    rig.write(write)
    rig.lock()
    rig.unlock()
    default = Options()
    assert rig.opened.options == default.model_copy(update={"hnsw_from": 200})


@pytest.mark.expected_logs("a background chore stopped: E1015", "closing: the step (snapshot|journal) failed")
@pytest.mark.parametrize("how", ["replaced", "removed", "renamed"])
def test_a_vault_file_that_is_not_the_one_that_was_opened(tmp_path: Path, how: str) -> None:
    with rig_at(tmp_path) as rig:
        acknowledged = rig.store("Ada keeps bees").memory_id
        aside = tmp_path / "aside.db"
        if how == "replaced":
            rig.home.vault.rename(aside)
            shutil.copyfile(aside, rig.home.vault)
        elif how == "removed":
            aside.hardlink_to(rig.home.vault)
            rig.home.vault.unlink()
        else:
            rig.home.vault.rename(aside)
        with refused(Code.VAULT_REPLACED):
            rig.store("This is never saved")
        with refused(Code.VAULT_REPLACED):
            startup.watch_vault_file(rig.opened)
        with refused(Code.VAULT_REPLACED):
            rig.bring(talk(3))
        assert rig.found("bees") == ["Ada keeps bees"]
        rig.lock()
        assert rig.engine.state == "locked"

        rig.home.vault.unlink(missing_ok=True)
        aside.rename(rig.home.vault)
        rig.unlock()
        assert rig.texts(None) == ["Ada keeps bees"]
        assert rig.get(acknowledged).text == "Ada keeps bees"
        assert rig.verify()["status"] == "ok"


def test_a_home_that_is_read_only_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, root = new_home(tmp_path / "home")
    monkeypatch.setattr("os.access", lambda *_, **__: False)  # root may write anywhere; the answer is what counts
    engine = Engine(Setup(home, HandClock(START_MS), WordEmbedder(), background=False))
    try:
        with refused(Code.READ_ONLY):
            engine.unlock(RootKey(root, HomeKeys(home).vault_id))
        assert engine.state == "locked"
    finally:
        engine.close()


@pytest.mark.slow
def test_a_writer_that_does_not_end_does_not_keep_the_lock_from_completing(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    request.applymarker(pytest.mark.expected_logs("closing: the step"))
    monkeypatch.setattr(startup, "_DRAIN_S", 0.2)
    rig.store("Ada keeps bees")

    def endless(tx: Any) -> None:
        while True:
            tx.value(
                "WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT 400000) SELECT count(*) FROM c"
            )

    stuck = rig.opened.storage.write(endless)
    waiting = rig.engine.memories.store(StoreRequest("Behind it"), OWNER_ACTOR)
    rig.engine.vault.lock().result(60)
    assert rig.engine.state == "locked"
    assert error_of(waiting).code is Code.VAULT_LOCKED
    assert error_of(stuck).code is Code.VAULT_LOCKED


def test_a_pool_that_ended_says_that_the_vault_is_locked(rig: Rig) -> None:
    opened = rig.opened
    rig.lock()
    for call in (
        lambda: opened.storage.read(lambda rows: rows.value("SELECT 1")),
        lambda: opened.search.embed(["x"]),
        lambda: opened.storage.write(lambda tx: tx.seq),
    ):
        with refused(Code.VAULT_LOCKED):
            call()


def test_pools_end_with_work_still_waiting() -> None:
    threads = Threads()
    threads.shutdown()
    threads.shutdown()
    assert threads.join_writer(0.1)


def test_an_old_time_is_kept_as_it_is(rig: Rig) -> None:
    early = When(-62_135_596_800_000)
    memory = rig.get(rig.store("In the year one", occurred=early).memory_id)
    assert memory.occurred == early


def test_a_full_disk_while_locking_is_told_and_the_lock_completes(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    request.applymarker(pytest.mark.expected_logs(r"closing: the step snapshot failed \(EnvironmentFaultError\)"))

    def full(*_: object) -> None:
        raise EnvironmentFaultError(Code.DISK_FULL, "The disk is full.")

    rig.store("Ada keeps bees")
    monkeypatch.setattr(startup, "write_snapshot", full)
    rig.lock()
    rig.unlock()
    assert rig.found("bees") == ["Ada keeps bees"]
