"""Reading on many threads, writing through one queue, closing with everything busy."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import pytest
import vault_kit as kit
from sqlcipher3 import dbapi2

from core.errors import CancelledError, Code, EnvironmentFaultError, LociError
from core.types.clock import ManualClock, SystemClock
from core.vault import vault as vault_module
from core.vault.database.connections import open_reader
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx
from core.vault.files.home import Home
from core.vault.vault import Vault, WriteQueue

_ENDLESS = "WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"


def _stored(tx: Tx, n: int) -> int:
    kit.store(tx, n)
    return tx.seq


@contextmanager
def _running(queue: WriteQueue) -> Iterator[None]:
    thread = threading.Thread(target=queue.run)
    thread.start()
    try:
        yield
    finally:
        queue.close()
        thread.join()


def test_a_reader_sees_one_snapshot_and_never_waits_for_the_writer(vault: Vault) -> None:
    kit.store_many(vault, 1)
    inside, go_on = threading.Event(), threading.Event()

    def slow(tx: Tx) -> None:
        kit.store(tx, 2)
        inside.set()
        assert go_on.wait(30)

    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(vault.write, slow)
        assert inside.wait(30)
        assert vault.read(lambda rows: rows.value("SELECT count(*) FROM memories")) == 1

        def twice(rows: Rows) -> tuple[int, int]:
            first = rows.value("SELECT count(*) FROM memories")
            go_on.set()
            writing.result(30)
            return first, rows.value("SELECT count(*) FROM memories")

        assert vault.read(twice) == (1, 1)
    assert vault.read(lambda rows: rows.value("SELECT count(*) FROM memories")) == 2


def test_readers_cannot_write(vault: Vault) -> None:
    with pytest.raises(LociError) as caught:
        vault.read(lambda rows: rows.all("INSERT INTO settings VALUES ('a', '1', 1)"))
    assert caught.value.code is Code.READ_ONLY


def test_a_read_ends_at_its_deadline_and_the_connection_is_good_again(home: Home) -> None:
    with kit.opened(home, SystemClock(), readers=1) as vault:
        with pytest.raises(LociError) as caught:
            vault.read(lambda rows: rows.value(_ENDLESS), deadline_s=0.05)
        assert caught.value.code is Code.SEARCH_TIMEOUT
        assert vault.read(lambda rows: rows.value("SELECT 1")) == 1


def test_waiting_for_a_connection_ends_too(home: Home) -> None:
    with kit.opened(home, readers=1) as vault:

        def nested(rows: Rows) -> None:
            with pytest.raises(LociError) as caught:
                vault.read(lambda _: None, deadline_s=0.05)
            assert caught.value.code is Code.BUSY

        vault.read(nested)


def _read_within(vault: Vault, depth: int) -> list[int]:
    """How many connections nobody uses, read by read, each inside the one before."""
    if not depth:
        return []
    return vault.read(lambda _: [vault.readers_idle, *_read_within(vault, depth - 1)], deadline_s=0.05)


def test_a_connection_is_opened_when_all_that_are_open_are_lent(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Path] = []

    def count_opened(path: Path, key: bytes) -> dbapi2.Connection:
        opened.append(path)
        return open_reader(path, key)

    monkeypatch.setattr(vault_module, "open_reader", count_opened)
    with kit.opened(home, SystemClock(), readers=3) as vault:
        assert _read_within(vault, 1) == _read_within(vault, 1) == [2]
        assert opened == []
        assert _read_within(vault, 3) == [2, 1, 0]
        assert opened == [home.vault, home.vault]
        assert _read_within(vault, 3) == [2, 1, 0]
        with pytest.raises(LociError) as caught:
            _read_within(vault, 4)
        assert caught.value.code is Code.BUSY
        assert len(opened) == 2


def test_where_no_other_can_be_opened_one_that_is_open_will_do(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path, key: bytes) -> NoReturn:
        raise EnvironmentFaultError(Code.WRITE_FAILED, "no more file handles")

    with kit.opened(home, SystemClock(), readers=2) as vault, ThreadPoolExecutor(1) as pool:
        monkeypatch.setattr(vault_module, "open_reader", refuse)
        inside, go_on = threading.Event(), threading.Event()

        def hold(rows: Rows) -> None:
            inside.set()
            assert go_on.wait(30)

        holding = pool.submit(vault.read, hold)
        assert inside.wait(30)
        with pytest.raises(LociError) as caught:
            vault.read(lambda _: None, deadline_s=0.05)
        assert caught.value.code is Code.BUSY
        go_on.set()
        assert vault.read(lambda rows: rows.value("SELECT 1")) == 1
        holding.result(30)
        monkeypatch.undo()
        assert _read_within(vault, 2) == [1, 0]


def test_no_connection_is_opened_to_a_file_put_in_the_vaults_place(home: Home, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(home.path, other)
    with kit.opened(home, SystemClock(), readers=2) as vault:
        kit.store_many(vault, 1)
        (other / home.vault.name).replace(home.vault)
        with pytest.raises(LociError) as caught:
            _read_within(vault, 2)
        assert caught.value.code is Code.BUSY
        assert vault.read(lambda rows: rows.all("SELECT n FROM memories")) == [(1,)]


def test_closing_waits_for_a_connection_that_is_being_opened(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    opening, go_on = threading.Event(), threading.Event()

    def open_slowly(path: Path, key: bytes) -> dbapi2.Connection:
        opening.set()
        assert go_on.wait(30)
        return open_reader(path, key)

    monkeypatch.setattr(vault_module, "open_reader", open_slowly)
    vault = kit.open_at(home, SystemClock(), readers=2)
    with ThreadPoolExecutor(2) as pool:
        reading = pool.submit(_read_within, vault, 2)
        assert opening.wait(30)
        closing = pool.submit(vault.close)
        while not vault._pool._closing.is_set():
            assert not closing.done()
        go_on.set()
        assert closing.result(30) == ()
        with pytest.raises(LociError) as caught:
            reading.result(30)
    assert caught.value.code is Code.VAULT_LOCKED
    assert not home.wal.exists()


def test_interrupt_stops_reads_and_the_writer(home: Home) -> None:
    with kit.opened(home) as vault, ThreadPoolExecutor(2) as pool:
        started = threading.Barrier(3)

        def endless(rows: Rows) -> None:
            started.wait(30)
            rows.value(_ENDLESS)

        tasks: list[Future[None]] = [pool.submit(vault.read, endless), pool.submit(vault.write, endless)]
        started.wait(30)
        while not all(task.done() for task in tasks):
            vault.interrupt_all()
        for task in tasks:
            with pytest.raises(CancelledError):
                task.result()
        assert vault.seq == 0


def test_closing_stops_a_runaway_read_and_refuses_the_next(home: Home) -> None:
    vault = kit.open_at(home)
    started = threading.Event()

    def endless(rows: Rows) -> None:
        started.set()
        rows.value(_ENDLESS)

    with ThreadPoolExecutor(1) as pool:
        task = pool.submit(lambda: vault.read(endless, deadline_s=None))
        assert started.wait(30)
        assert vault.close() == ()
        with pytest.raises(LociError) as caught:
            task.result(30)
    assert caught.value.code is Code.VAULT_LOCKED
    for refused in (
        lambda: vault.read(lambda rows: rows.value("SELECT 1")),
        lambda: vault.write(lambda tx: tx.value("SELECT 1")),
        lambda: vault.checkpoint_log(),
        lambda: vault.copy_into(home.backups / "x.db"),
    ):
        with pytest.raises(LociError) as caught:
            refused()
        assert caught.value.code is Code.VAULT_LOCKED
    assert vault.close() == ()
    assert not home.wal.exists()
    assert not home.shm.exists()


@pytest.mark.slow
def test_closing_does_not_wait_for_python_code_that_holds_a_connection(home: Home) -> None:
    vault = kit.open_at(home, readers=2)
    inside, go_on = threading.Event(), threading.Event()

    def stuck(rows: Rows) -> int:
        inside.set()
        assert go_on.wait(30)
        return 1

    with ThreadPoolExecutor(1) as pool:
        task = pool.submit(vault.read, stuck)
        assert inside.wait(30)
        assert vault.close() == ("readers",)
        go_on.set()
        assert task.result(30) == 1
    assert vault.close() == ()


def test_the_queue_runs_everything_in_order(vault: Vault) -> None:
    queue = WriteQueue(vault)
    with _running(queue):
        futures = [queue.submit_verb(lambda tx, n=n: _stored(tx, n)) for n in range(1, 51)]  # type: ignore[misc]  # a default
        assert [future.result(30) for future in futures] == list(range(1, 51))
        assert queue.depth == 0
        failing = queue.submit_verb(lambda tx: tx.insert("settings", {"key": "a"}))
        with pytest.raises(LociError):
            failing.result(30)
        assert queue.submit_verb(lambda tx: tx.value("SELECT count(*) FROM memories")).result(30) == 50


def test_what_people_wait_for_goes_first_and_nobody_starves(vault: Vault) -> None:
    queue = WriteQueue(vault)
    order: list[str] = []
    for nr in range(5):
        queue.submit_verb(lambda tx, nr=nr: order.append(f"b{nr}"), background=True)  # type: ignore[misc]  # a default
    for nr in range(20):
        queue.submit_verb(lambda tx, nr=nr: order.append(f"f{nr}"))  # type: ignore[misc]  # a default
    assert queue.depth == 25
    last = queue.submit_verb(lambda tx: order.append("last"), background=True)
    with _running(queue):
        last.result(30)
    assert order[7] == "b0"
    assert order[15] == "b1"
    assert order[:7] == [f"f{nr}" for nr in range(7)]
    assert [name for name in order if name.startswith("b")] == [f"b{nr}" for nr in range(5)]
    assert [name for name in order if name.startswith("f")] == [f"f{nr}" for nr in range(20)]


def test_a_full_queue_makes_callers_wait_and_drops_nothing(vault: Vault) -> None:
    queue = WriteQueue(vault, capacity=2)
    hold, holding = threading.Event(), threading.Event()
    done: list[int] = []

    def first(tx: Tx) -> None:
        holding.set()
        assert hold.wait(30)

    with _running(queue), ThreadPoolExecutor(1) as pool:
        queue.submit_verb(first)
        assert holding.wait(30)
        for nr in range(2):
            queue.submit_verb(lambda tx, nr=nr: done.append(nr))  # type: ignore[misc]  # a default
        late = pool.submit(lambda: queue.submit_verb(lambda tx: done.append(2)).result(30))
        assert queue.depth == 2
        assert not late.done()
        hold.set()
        late.result(30)
    assert done == [0, 1, 2]


def test_closing_drains_then_refuses(vault: Vault) -> None:
    queue = WriteQueue(vault)
    futures = [queue.submit_verb(lambda tx, n=n: kit.store(tx, n)) for n in range(1, 11)]  # type: ignore[misc]  # a default
    with _running(queue):
        assert queue.close(drain_s=30)
    assert all(future.done() and future.exception() is None for future in futures)
    with pytest.raises(LociError) as caught:
        queue.submit_verb(lambda tx: None)
    assert caught.value.code is Code.BUSY


def test_what_was_not_run_in_time_is_refused_not_lost_in_silence(vault: Vault) -> None:
    queue = WriteQueue(vault)
    waiting = queue.submit_verb(lambda tx: kit.store(tx, 1))
    assert not queue.close(drain_s=0.01)
    with pytest.raises(LociError) as caught:
        waiting.result(0)
    assert caught.value.code is Code.BUSY
    queue.run()  # ends at once
    assert vault.seq == 0


def test_a_cancelled_verb_is_not_run(vault: Vault) -> None:
    queue = WriteQueue(vault)
    gone = queue.submit_verb(lambda tx: kit.store(tx, 1))
    assert gone.cancel()
    kept = queue.submit_verb(lambda tx: kit.store(tx, 2))
    with _running(queue):
        kept.result(30)
    assert vault.read(lambda rows: rows.all("SELECT n FROM memories")) == [(2,)]


def test_a_deadline_needs_the_clock_only_while_it_reads(home: Home) -> None:
    clock = ManualClock(kit.START_MS)
    with kit.opened(home, clock, readers=1) as vault:
        assert vault.read(lambda rows: rows.value("SELECT 1"), deadline_s=1) == 1
        clock.advance(3_600_000)
        assert vault.read(lambda rows: rows.value("SELECT 2"), deadline_s=1) == 2
