"""The nightly reconciliation: what is derived is mended, what is broken is counted, and all of it can be taken back."""

from __future__ import annotations

from typing import Any

import pytest
from belief_rig import claim as put_claim
from desk_rig import DAY_MS
from engine_rig import START_MS, Rig, differences, later, refused

from core.engine.memories.reconciliation import reconcile_daily
from core.errors import Code
from core.intake.store.classification import (
    ReconciliationBatch,
    add_classified_counts,
    broken_evidence,
    reconcile_batch,
)
from core.types.replies import Reconciled
from core.types.values import Kind, Source, When
from core.vault.database.tx import Tx


def keeps(value: str) -> dict[str, Any]:
    """A claim that stands beside others."""
    return {"subject": "Ada", "predicate": "keeps", "value": value, "exclusive": False}


def some(rig: Rig, count: int = 3) -> list[str]:
    """Facts with one claim each; their ids."""
    return [rig.store(f"Ada keeps {nr} hens", claim=keeps(f"{nr} hens")).memory_id for nr in range(count)]


def night(rig: Rig) -> Reconciled:
    """Reconcile everything."""
    return rig.engine.memories.reconcile_all().result(30)


def behind(rig: Rig, sql: str, *params: object) -> None:
    """Change a row past the recorder, as damage or an older version would."""
    rig.opened.storage.vault.with_writer(lambda connection: connection.execute(sql, params))


# ---- nothing to do


def test_an_empty_vault_has_nothing_to_look_at(rig: Rig) -> None:
    assert night(rig) == Reconciled()


def test_a_vault_that_is_right_is_left_as_it_is(rig: Rig) -> None:
    some(rig)
    before, steps = rig.dump(), rig.value("SELECT count(*) FROM undo_steps")
    assert night(rig) == Reconciled(claims=3, memories=3)
    assert differences(before, rig.dump()) == {}
    assert rig.value("SELECT count(*) FROM undo_steps") == steps


# ---- states


def test_a_claim_whose_memory_left_is_retracted_and_comes_back_with_an_undo(rig: Rig) -> None:
    first, *_ = some(rig)
    behind(rig, "UPDATE memories SET status = 'archived' WHERE id = ?", first)
    before = rig.dump()
    found = night(rig)
    assert found.states == 1
    assert rig.rows("SELECT state FROM claims ORDER BY rowid") == [("retracted",), ("asserted",), ("asserted",)]
    step = rig.rows("SELECT id, actor, label FROM undo_steps WHERE verb = 'reconcile'")[0]
    assert step[1:] == ("scheduler", "Reconcile claims with their evidence")
    rig.undo(step[0])
    assert {name: rows for name, rows in differences(before, rig.dump()).items() if name != "claims"} == {}
    assert rig.value("SELECT count(*) FROM claims WHERE state = 'asserted'") == 3


def test_a_claim_whose_memory_stands_is_asserted(rig: Rig) -> None:
    some(rig, 1)
    behind(rig, "UPDATE claims SET state = 'retracted'")
    assert night(rig).states == 1
    assert rig.value("SELECT state FROM claims") == "asserted"
    assert night(rig).states == 0


def test_what_another_claim_replaced_stays_replaced(rig: Rig) -> None:
    lives = {"subject": "Ada", "predicate": "lives_in", "exclusive": True}
    rig.store("Ada lives in Graz", claim={**lives, "value": "Graz"})
    rig.store("Ada lives in Linz", claim={**lives, "value": "Linz"})
    assert night(rig).states == 0
    assert rig.rows("SELECT state FROM claims ORDER BY rowid") == [("superseded",), ("asserted",)]


def test_what_was_never_compared_is_not_asserted_on_the_way(rig: Rig) -> None:
    memory_id = some(rig, 1)[0]
    put_claim(rig, memory_id, "likes", "hens", "hens", state="draft")
    behind(rig, "UPDATE memories SET read_at = NULL")
    assert night(rig).states == 0
    assert rig.value("SELECT state FROM claims WHERE predicate = 'likes'") == "draft"


# ---- numbers


def test_numbers_that_drifted_are_worked_out_anew(rig: Rig) -> None:
    first, second, _ = some(rig)
    behind(rig, "UPDATE memories SET trust = 0.1, confidence = 0.1, corroboration = 7 WHERE id = ?", first)
    behind(
        rig,
        "UPDATE claims SET confidence = 0.123 WHERE id IN (SELECT claim_id FROM evidence WHERE memory_id = ?)",
        second,
    )
    found = night(rig)
    assert (found.trusts, found.confidences, found.states) == (1, 1, 0)
    assert rig.rows("SELECT DISTINCT trust, confidence, corroboration FROM memories") == [(1.0, 1.0, 1)]
    assert rig.rows("SELECT DISTINCT confidence FROM claims") == [(1.0,)]


def test_age_takes_its_part_every_night(rig: Rig) -> None:
    rig.store("Ada keeps hens", source=Source.DOCUMENT, claim=keeps("hens"))
    later(rig, 73)
    found = night(rig)
    assert found.trusts == 1
    assert rig.value("SELECT trust FROM memories") == pytest.approx(0.58)
    assert rig.value("SELECT confidence FROM claims") == pytest.approx(0.58)


def test_an_episode_keeps_the_trust_it_came_with(rig: Rig) -> None:
    rig.store("Good morning", kind=Kind.EPISODE, occurred=When(START_MS - 365 * DAY_MS))
    before = rig.value("SELECT trust FROM memories")
    later(rig, 365)
    assert night(rig).memories == 0
    assert rig.value("SELECT trust FROM memories") == before


def test_numbers_are_no_step_of_anybodys(rig: Rig) -> None:
    some(rig, 1)
    behind(rig, "UPDATE memories SET trust = 0.1")
    night(rig)
    assert rig.rows("SELECT id FROM undo_steps WHERE verb = 'reconcile'") == []


# ---- quotes

BREAKS = {
    "another quote": "UPDATE evidence SET quote = 'Ada keeps no hens' WHERE rowid = 1",
    "another text": "UPDATE memories SET text = 'Bob keeps 0 hens' WHERE n = 1",
    "another place": "UPDATE evidence SET start_at = 1, end_at = 18 WHERE rowid = 1",
    "another hash": "UPDATE evidence SET span_hash = zeroblob(32) WHERE rowid = 1",
}


@pytest.mark.expected_logs("WARNING loci.engine: 1 pieces of evidence do not match their texts")
@pytest.mark.parametrize("damage", list(BREAKS))
def test_a_quote_that_is_not_in_its_text_is_counted_and_left(rig: Rig, damage: str) -> None:
    some(rig)
    behind(rig, BREAKS[damage])
    before = rig.dump()
    assert night(rig).broken == 1
    assert differences(before, rig.dump()) == {}
    assert night(rig).broken == 1, "it is not mended"


def test_broken_quotes_are_named(rig: Rig) -> None:
    some(rig)
    behind(rig, BREAKS["another hash"])
    ids = [str(row[0]) for row in rig.rows("SELECT id FROM claims")]
    wanted = rig.value("SELECT id FROM evidence WHERE rowid = 1")
    assert rig.opened.storage.vault.read(lambda rows: broken_evidence(rows, ids)) == [wanted]
    assert rig.opened.storage.vault.read(lambda rows: broken_evidence(rows, ids[1:])) in ([], [wanted])
    assert rig.opened.storage.vault.read(lambda rows: broken_evidence(rows, [])) == []


@pytest.mark.expected_logs("WARNING loci.engine: 1 pieces of evidence do not match their texts")
def test_the_audit_has_counts_and_no_words(rig: Rig) -> None:
    some(rig)
    behind(rig, BREAKS["another quote"])
    night(rig)
    detail = rig.rows("SELECT detail FROM audit WHERE verb = 'reconcile'")
    assert detail
    assert not any("hens" in str(row) for row in detail)


# ---- batches


@pytest.mark.parametrize("limit", [1, 2, 3, 7])
def test_batches_see_everything_once(rig: Rig, limit: int) -> None:
    some(rig, 5)
    behind(rig, "UPDATE claims SET state = 'retracted'")
    after: tuple[str, int] = ("", 0)
    whole, turns = Reconciled(), 0
    while True:
        cursor = after
        turn: ReconciliationBatch = rig.write(lambda tx: reconcile_batch(tx, rig.opened.storage.work, cursor, limit))  # noqa: B023
        whole, after, turns = add_classified_counts(whole, turn.found), turn.after, turns + 1
        if turn.is_last:
            break
        assert turns < 20
    assert (whole.claims, whole.memories, whole.states) == (5, 5, 5)
    assert turns >= 5 // limit


def test_counts_add_up() -> None:
    one, two = Reconciled(1, 2, 3, 4, 5, 6), Reconciled(10, 20, 30, 40, 50, 60)
    assert add_classified_counts(one, two) == add_classified_counts(two, one) == Reconciled(11, 22, 33, 44, 55, 66)


# ---- when


def _done_at(rig: Rig) -> Any:
    return rig.value("SELECT changed_at FROM settings WHERE key = 'reconciled'")


def _drift(rig: Rig) -> None:
    behind(rig, "UPDATE memories SET trust = 0.1")


def _mended(rig: Rig) -> bool:
    """The upkeep's turn: whether the number that drifted is mended."""
    reconcile_daily(rig.opened.storage)
    rig.settle()
    return float(rig.value("SELECT trust FROM memories")) > 0.9


def test_it_runs_once_a_day_and_not_on_the_first(rig: Rig) -> None:
    some(rig, 1)
    rig.write(lambda tx: tx.run("DELETE FROM settings WHERE key = 'reconciled'"))
    _drift(rig)
    assert not _mended(rig)
    assert _done_at(rig) == START_MS
    later(rig, 0.9)
    assert not _mended(rig)
    later(rig, 0.2)
    assert _mended(rig)
    assert _done_at(rig) > START_MS + DAY_MS
    _drift(rig)
    assert not _mended(rig)


def test_a_clock_that_was_set_back_does_not_stop_it(rig: Rig) -> None:
    some(rig, 1)

    def from_tomorrow(tx: Tx) -> None:
        tx.run("DELETE FROM settings WHERE key = 'reconciled'")
        tx.run(
            "INSERT INTO settings (key, value, changed_at) VALUES ('reconciled', 'true', ?)", (START_MS + 9 * DAY_MS,)
        )

    rig.write(from_tomorrow)
    _drift(rig)
    assert _mended(rig)


def test_a_locked_vault_is_not_reconciled(rig: Rig) -> None:
    rig.lock()
    with refused(Code.VAULT_LOCKED):
        rig.engine.memories.reconcile_all().result(30)
