"""What expires goes, and only that; vanished words are scrubbed though a lock came first; locking has an end."""

from __future__ import annotations

import json
from typing import Any

import pytest
from engine_rig import Rig, facts, later, refused

from core.engine import startup
from core.engine.facade import RootKey
from core.engine.runtime import expiry
from core.engine.vault.verification import _check_index
from core.errors import Code, LociError
from core.index.manager import IndexManager
from core.types.requests import StoreRequest
from core.types.values import OWNER_ACTOR
from core.vault.verification import CheckOutcome


def test_what_expired_goes_in_batches_and_nothing_else(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expiry, "_BATCH", 3)
    rig.opened.storage.threads.stop_tickers()
    rig.store("Ada keeps bees", request_id="r1")
    rig.bring(facts(10))
    undone = rig.undo(rig.forget(rig.store("Eva keeps goats").memory_id))
    rig.recall("bees")
    rig.engine.flush_journal()
    later(rig, 60)
    redo = rig.undo(undone.undo_step_id)
    later(rig, 31)
    with refused(Code.NOT_FOUND):
        rig.undo(rig.value("SELECT id FROM undo_steps ORDER BY at, rowid LIMIT 1"))
    for _ in range(40):
        expiry.delete_expired(rig.opened)
    # The redo can still be undone, and with it stays what it stands on.
    kept = {row[0] for row in rig.rows("SELECT id FROM undo_steps")}
    assert {redo.undo_step_id, undone.undo_step_id} < kept
    assert rig.rows("SELECT verb FROM undo_steps WHERE verb IN ('store', 'remember', 'import')") == []
    assert rig.value("SELECT count(*) FROM undo_rows WHERE step_id NOT IN (SELECT id FROM undo_steps)") == 0
    assert rig.rows("SELECT 1 FROM receipts UNION ALL SELECT 1 FROM requests") == []
    assert rig.opened.tidied_at is not None
    assert rig.value("SELECT count(*) FROM memories") == 12
    assert rig.undo(redo.undo_step_id).restored == 1
    assert rig.verify()["status"] == "ok"


def test_a_scrub_is_remembered_until_it_is_done(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    rig.opened.storage.threads.stop_tickers()
    rig.store("Ada keeps bees")
    rig.undo()
    assert json.loads(rig.value("SELECT value FROM settings WHERE key = 'scrub_due'")) > 0
    with monkeypatch.context() as patch:
        patch.setattr(startup, "_last_scrub", lambda *_: None)  # as after a kill, or with no time left
        rig.lock()
        patch.setattr(startup, "maintain_index", lambda _: None)
        rig.unlock()
    assert rig.opened.search.scrub_due.is_set()
    rig.lock()
    rig.unlock()
    assert not rig.opened.search.scrub_due.is_set()
    assert rig.value("SELECT count(*) FROM settings WHERE key = 'scrub_due'") == 0


@pytest.mark.slow
def test_a_verb_of_many_short_statements_ends_with_its_time(rig: Rig) -> None:
    def endless(tx: Any) -> None:
        while True:
            tx.run("UPDATE settings SET changed_at = 0 WHERE key = 'none'")

    stuck = rig.opened.storage.write(endless)
    rig.engine.lock(0.5)
    error = stuck.exception(10)
    assert isinstance(error, LociError)
    assert error.code is Code.VAULT_LOCKED
    rig.unlock()
    assert rig.store("Ada keeps bees").memory_id


def test_reading_alone_leaves_the_snapshot_as_it_is(rig: Rig) -> None:
    rig.bring(facts(20))
    rig.lock()
    written = rig.home.snapshot.stat().st_mtime_ns
    rig.unlock()
    rig.settle()
    rig.recall("jar")
    rig.lock()
    assert rig.home.snapshot.stat().st_mtime_ns == written
    rig.unlock()
    rig.settle()
    rig.store("Ada keeps bees")
    rig.lock()
    assert rig.home.snapshot.stat().st_mtime_ns > written


def test_a_write_during_the_comparison_is_no_damage(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    rig.bring(facts(20))
    fetching = IndexManager.fetch
    stored: list[object] = []

    def fetch(self: IndexManager, labels: Any) -> Any:
        stored.append(rig.engine.memories.store(StoreRequest(f"note {len(stored)}"), OWNER_ACTOR).result(30))
        return fetching(self, labels)

    with monkeypatch.context() as patch:
        patch.setattr(IndexManager, "fetch", fetch)
        assert _check_index(rig.opened.storage, rig.opened.search).outcome is CheckOutcome.NOT_CHECKED
    assert _check_index(rig.opened.storage, rig.opened.search).outcome is CheckOutcome.OK


def test_a_missing_head_is_told(rig: Rig) -> None:
    rig.lock()
    rig.home.head.unlink()
    rig.unlock()
    assert "missing" in rig.engine.vault.read_status().result(10).values["warnings"][0]


def test_a_root_the_engine_does_not_need_is_wiped(rig: Rig) -> None:
    root = RootKey(rig.root, rig.engine.vault_id)
    rig.engine.unlock(root)
    with pytest.raises(LociError):
        root.expose_copy()
    assert rig.store("still open").memory_id
