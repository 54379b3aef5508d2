"""What reading leaves behind: receipts, counts and audit rows, a moment later, without a word of any memory."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from engine_rig import MARKER, START_MS, Rig, facts, refused, rig_at, talk

from core.engine.home.keys import sub_keys
from core.errors import Code, EnvironmentFaultError
from core.types.requests import RecallQuery
from core.types.values import OWNER_ACTOR, is_id
from core.vault.audit import AuditChain
from core.vault.database.faults import disk_full_error
from core.vault.database.tx import Tx


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with rig_at(tmp_path) as rig:
        # The ticker writes every second; here the test says when.
        rig.opened.storage.threads.stop_tickers()
        yield rig


def ask(rig: Rig, query: str, **more: object) -> str:
    return rig.engine.memories.recall(RecallQuery(query, **more), OWNER_ACTOR).result(10).receipt_id  # type: ignore[arg-type]


def chain_is_whole(rig: Rig) -> bool:
    chain = AuditChain(sub_keys(rig.opened.storage.root).audit)
    return rig.opened.storage.vault.read(lambda rows: chain.verify_chain(rows).is_whole)


def test_a_receipt_has_its_id_at_once_and_its_row_with_the_flush(rig: Rig) -> None:
    memory = rig.store("Ada keeps bees").memory_id
    receipt = ask(rig, "who keeps bees?")
    assert is_id(receipt)
    assert rig.rows("SELECT * FROM receipts") == []

    rig.engine.flush_journal()

    ((one, at, actor, verb, query, body, expires),) = rig.rows(
        "SELECT id, at, actor, verb, query, body, expires_at FROM receipts"
    )
    assert (one, at, actor, verb, query) == (receipt, START_MS, "owner", "recall", "who keeps bees?")
    assert expires == START_MS + 30 * 86_400_000
    assert memory in body
    assert "bees" not in body
    assert rig.rows("SELECT memory_id, session, count, last_at FROM accesses") == [(memory, "owner", 1, START_MS)]
    assert (rig.get(memory).access_count, rig.get(memory).last_accessed_at) == (1, START_MS)
    assert rig.rows("SELECT actor, verb, object, detail FROM audit ORDER BY nr DESC LIMIT 1") == [
        ("owner", "recall", receipt, '{"items":1}')
    ]
    assert chain_is_whole(rig)


def test_many_reads_are_one_transaction(rig: Rig) -> None:
    memory = rig.store("Ada keeps bees").memory_id
    claude = rig.client("Claude", "read", "all_spaces", session="s1")
    seq = rig.opened.storage.vault.seq
    receipts = [ask(rig, "bees") for _ in range(5)]
    for _ in range(3):
        rig.recall("bees", claude)
    rig.engine.flush_journal()
    assert rig.opened.storage.vault.seq == seq + 1
    assert len(set(receipts)) == 5
    assert rig.value("SELECT count(*) FROM receipts") == 8
    assert rig.rows("SELECT session, count FROM accesses ORDER BY session") == [("owner", 5), ("s1", 3)]
    assert rig.get(memory).access_count == 8
    assert chain_is_whole(rig)
    rig.engine.flush_journal()
    assert rig.opened.storage.vault.seq == seq + 1


def test_a_recall_without_an_answer_has_a_receipt_too(rig: Rig) -> None:
    ask(rig, "anything there?")
    rig.engine.flush_journal()
    assert rig.value("SELECT count(*) FROM receipts") == 1
    assert rig.rows("SELECT * FROM accesses") == []


@pytest.mark.slow
def test_it_is_written_within_a_moment_by_itself(tmp_path: Path) -> None:
    with rig_at(tmp_path) as rig:
        rig.store("Ada keeps bees")
        ask(rig, "bees")
        for _ in range(1200):
            if rig.value("SELECT count(*) FROM receipts"):
                break
            rig.opened.storage.closing.wait(0.05)
        assert rig.value("SELECT count(*) FROM receipts") == 1


def test_a_lock_writes_what_waits(rig: Rig) -> None:
    rig.store("Ada keeps bees")
    ask(rig, "bees")
    rig.lock()
    rig.unlock()
    assert rig.value("SELECT count(*) FROM receipts") == 1
    assert chain_is_whole(rig)


def test_an_answer_that_was_taken_back_meanwhile_does_not_stop_the_flush(rig: Rig) -> None:
    rig.store("Ada keeps bees")
    rig.store("Eva keeps bees too")
    ask(rig, "keeps bees")
    rig.undo()
    rig.engine.flush_journal()
    assert rig.value("SELECT count(*) FROM receipts") == 1
    assert rig.rows("SELECT m.text FROM accesses a JOIN memories m ON m.id = a.memory_id") == [("Ada keeps bees",)]


def test_a_client_whose_pairing_was_undone_meanwhile_does_not_stop_the_flush(rig: Rig) -> None:
    claude = rig.client("Claude", "read")
    rig.store("Ada keeps bees")
    rig.recall("bees", claude)
    rig.recall("bees")
    rig.undo()
    rig.undo()
    assert rig.rows("SELECT * FROM clients") == []
    rig.engine.flush_journal()
    assert rig.rows("SELECT actor, client_id FROM receipts ORDER BY rowid") == [("client", None), ("owner", None)]


def test_what_the_disk_refuses_is_written_later(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    rig.store("Ada keeps bees")
    first = ask(rig, "bees")
    rig.engine.note_refusal(None, Code.UNAUTHENTICATED)

    def full(*_: object) -> None:
        raise disk_full_error()

    with monkeypatch.context() as patch:
        patch.setattr(Tx, "run_many", full)
        with pytest.raises(EnvironmentFaultError):
            rig.engine.flush_journal()
    second = ask(rig, "bees")
    rig.engine.flush_journal()
    assert [row[0] for row in rig.rows("SELECT id FROM receipts ORDER BY id")] == sorted([first, second])
    assert rig.value("SELECT count(*) FROM audit WHERE verb = 'refused'") == 1


def test_refusals_are_put_down_and_a_flood_is_bounded(rig: Rig) -> None:
    for _ in range(500):
        rig.engine.note_refusal(None, Code.UNAUTHENTICATED)
    rig.engine.note_refusal("some-client", Code.ACCESS_DENIED)
    rig.engine.flush_journal()
    found = rig.rows("SELECT actor, detail, count(*) FROM audit WHERE verb = 'refused' GROUP BY 1, 2")
    assert found == [("stranger", '{"code":"E4007"}', 100)]
    rig.lock()
    rig.engine.note_refusal(None, Code.UNAUTHENTICATED)  # nothing to put it in


def test_when_a_client_was_last_here(rig: Rig) -> None:
    claude = rig.client("Claude", "read")
    assert claude.client_id is not None
    rig.engine.clients.note_seen(claude.client_id)
    rig.engine.flush_journal()
    assert rig.rows("SELECT last_seen_at FROM clients") == [(START_MS,)]
    assert rig.undo().left == ()  # being seen is no change
    rig.lock()
    rig.engine.clients.note_seen(claude.client_id)


def test_the_audit_is_whole_after_everything_and_shows_a_changed_row(rig: Rig) -> None:
    report = rig.bring([*talk(5), *facts(2)])
    memory = rig.store("Ada keeps bees").memory_id
    ask(rig, "bees")
    rig.forget(memory)
    rig.undo()
    rig.unimport(report.import_id)
    rig.client("Claude", "read")
    rig.engine.clients.revoke("Claude").result(10)
    rig.engine.flush_journal()
    verbs = [row[0] for row in rig.rows("SELECT verb FROM audit ORDER BY nr")]
    assert verbs == [
        *("import", "import", "import", "settle", "store", "forget", "undo", "unimport", "pair", "revoke", "recall"),
    ]
    assert chain_is_whole(rig)
    with refused(Code.INVALID_INPUT):
        rig.write(lambda tx: tx.run("UPDATE audit SET verb = 'nothing' WHERE nr = 2"))
    assert chain_is_whole(rig)


def test_no_memory_text_in_audit_labels_and_logs(rig: Rig, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    claim = {"subject": MARKER, "predicate": "lives_in", "value": MARKER}
    memory = rig.store(
        MARKER, space=MARKER, category=MARKER, tags=(MARKER,), ref=MARKER, author=MARKER, claim=claim, session=MARKER
    ).memory_id
    rig.store(MARKER, rig.client("Claude"))
    rows = [{**row, "text": f"{MARKER} {n}", "session": MARKER, "space": MARKER} for n, row in enumerate(talk(4))]
    report = rig.bring([*rows, {"text": f"{MARKER} fact", "kind": "fact", "claim": claim}], name=f"{MARKER}.jsonl")
    ask(rig, MARKER, spaces=(MARKER,), explain=True)
    rig.forget(memory)
    rig.undo()
    rig.unimport(report.import_id)
    for bad in (f"{MARKER}\0", f"{MARKER}\ud800"):
        with refused(Code.INVALID_INPUT):
            rig.store(bad)
    rig.engine.flush_journal()

    audit = rig.rows("SELECT actor, verb, object, detail FROM audit")
    steps = rig.rows("SELECT verb, label, actor FROM undo_steps")
    assert len(audit) > 8
    assert MARKER not in repr(audit) + repr(steps)
    bodies = "".join(row[0] for row in rig.rows("SELECT body FROM receipts"))
    assert MARKER not in bodies
    assert json.loads(bodies)
    rig.lock()
    logs = "".join(path.read_text() for path in rig.home.logs.iterdir())
    assert not re.search(MARKER, logs + caplog.text, re.IGNORECASE)
