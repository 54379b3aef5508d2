"""Counts, the own audit, runs and the cleanup as one asker sees them: a real engine, clients beside each other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import consolidation_rig
from engine_rig import MARKER, HandClock, Rig, error_of, refused

from core.errors import Code
from core.types.requests import FactRequest, RecallQuery, StoreRequest
from core.types.values import OWNER_ACTOR, Actor, Kind
from core.vault.database.tx import Tx

DAY_MS = 86_400_000
ZEROS: dict[str, dict[str, Any]] = {
    "episodes": {"total": 0, "unconsolidated": 0, "backlog_age_hours": None},
    "facts": {"active": 0, "fading": 0, "superseded": 0, "expired": 0},
    "rules": {"candidate": 0, "established": 0, "proven": 0, "anti_pattern": 0, "forgotten": 0},
}


def stats(rig: Rig, actor: Actor, space: str | None = None) -> dict[str, Any]:
    return {
        name: dict(counts) for name, counts in rig.engine.maintenance.count_by_state(space, actor).result(30).items()
    }


def notes(rig: Rig, actor: Actor, count: int, *, done: bool = True) -> list[str]:
    """Episodes of a client, consolidated now."""
    ids = [rig.store(f"Note {n} of {actor.name}", actor, kind=Kind.EPISODE).memory_id for n in range(count)]

    def mark(tx: Tx) -> None:
        tx.insert_many("episodes", [{"memory_id": one, "consolidated_at": tx.now_ms} for one in ids])

    if done:
        rig.write(mark)
    return ids


def test_a_client_counts_what_it_may_see_and_no_more(rig: Rig) -> None:
    one, other = rig.client("one", "read", "write"), rig.client("other", "read", "write")
    rig.store("Of the person alone.")
    rig.store("For everybody.", space="GLOBAL")
    rig.store("Of the one.", one)
    rig.store("A rule of the one.", one, kind=Kind.RULE)
    rig.store("Said to the one.", one, kind=Kind.EPISODE)
    assert stats(rig, other) == {**ZEROS, "facts": {**ZEROS["facts"], "active": 1}}
    mine = stats(rig, one)
    assert (mine["facts"]["active"], mine["rules"]["candidate"], mine["episodes"]["total"]) == (2, 1, 1)
    assert mine["episodes"]["unconsolidated"] == 1
    assert stats(rig, OWNER_ACTOR)["facts"]["active"] == 3


def test_a_space_is_counted_with_what_is_everybodys(rig: Rig) -> None:
    rig.store("In the garden.", space="garden")
    rig.store("For everybody.", space="GLOBAL")
    rig.store("At home.")
    reader = rig.client("reader", "read", "space:garden")
    assert stats(rig, reader, "garden")["facts"]["active"] == 2
    assert stats(rig, OWNER_ACTOR, "home")["facts"]["active"] == 2
    hidden, unknown = (error_of(rig.engine.maintenance.count_by_state(name, reader)) for name in ("home", "nowhere"))
    assert (hidden.code, hidden.sentence) == (unknown.code, unknown.sentence)
    assert hidden.code is Code.NOT_FOUND


def test_the_log_is_of_its_own_deeds_newest_first_without_words(rig: Rig) -> None:
    one, other = rig.client("one", "read", "write"), rig.client("other", "read", "write")
    first = rig.store(f"{MARKER} of the one.", one).memory_id
    rig.store("Of the other.", other)
    rig.engine.memories.recall(RecallQuery(MARKER), one).result(30)
    rig.engine.note_refusal(one.client_id, Code.ACCESS_DENIED)
    rig.engine.flush_journal()
    found = rig.engine.maintenance.list_own_actions(10, one).result(30)
    assert sorted(deed.verb for deed in found) == ["recall", "refused", "store"]
    assert [deed.at for deed in found] == sorted((deed.at for deed in found), reverse=True)
    (stored,) = [deed for deed in found if deed.verb == "store"]
    assert (stored.id, stored.kind, stored.space, stored.success) == (first, "fact", "client:one", True)
    assert stored.detail["operation"] == "ADD"
    (denied,) = [deed for deed in found if deed.verb == "refused"]
    assert (denied.success, denied.detail) == (False, {"code": "E4001"})
    assert MARKER not in repr(found)
    assert len(rig.engine.maintenance.list_own_actions(1, one).result(30)) == 1
    assert {deed.verb for deed in rig.engine.maintenance.list_own_actions(100, OWNER_ACTOR).result(30)} > {
        "store",
        "recall",
    }


def test_a_memory_that_was_deleted_is_not_named_to_a_client_any_more(rig: Rig) -> None:
    one = rig.client("one", "read", "write")
    gone = rig.store("Soon gone.", one).memory_id
    rig.forget(gone)
    (deed,) = rig.engine.maintenance.list_own_actions(10, one).result(30)
    assert (deed.id, deed.kind, deed.space) == ("", "", "")


def test_runs_need_curate(rig: Rig) -> None:
    plain = rig.client("plain", "read", "write")
    with refused(Code.ACCESS_DENIED):
        rig.engine.maintenance.consolidate(plain)
    with refused(Code.ACCESS_DENIED):
        rig.engine.maintenance.archive_own_notes(None, plain)


def test_a_client_tidies_its_own_notes_away_and_nobody_elses(rig: Rig) -> None:
    one, other = rig.client("one", "read", "write", "curate"), rig.client("other", "read", "write")
    kept, mine = notes(rig, one, 2, done=False), notes(rig, one, 3)
    theirs = notes(rig, other, 3)
    done = rig.engine.maintenance.archive_own_notes(3, one).result(30)
    assert (done.expired, done.capacity, done.remaining) == (0, 2, 3)
    assert {rig.get(one_id).status.value for one_id in (*kept, mine[2], *theirs)} == {"active"}
    assert {rig.get(one_id).status.value for one_id in mine[:2]} == {"archived"}
    (step,) = rig.rows("SELECT id FROM undo_steps WHERE verb = 'episode_cleanup' AND actor = 'client'")
    rig.undo(step[0])
    assert {rig.get(one_id).status.value for one_id in mine} == {"active"}


def test_what_is_not_consolidated_is_never_too_many(rig: Rig) -> None:
    one = rig.client("one", "read", "write", "curate")
    notes(rig, one, 3, done=False)
    done = rig.engine.maintenance.archive_own_notes(0, one).result(30)
    assert (done.expired, done.capacity, done.remaining) == (0, 0, 3)
    assert rig.rows("SELECT id FROM undo_steps WHERE verb = 'episode_cleanup'") == []


def test_notes_whose_time_is_over_go_first(rig: Rig) -> None:
    one = rig.client("one", "read", "write", "curate")
    old = notes(rig, one, 2)
    assert isinstance(rig.clock, HandClock)
    rig.clock.advance(8 * DAY_MS)
    new = notes(rig, one, 1)
    done = rig.engine.maintenance.archive_own_notes(None, one).result(30)
    assert (done.expired, done.capacity, done.remaining) == (2, 0, 1)
    assert rig.get(new[0]).status.value == "active"
    assert {rig.get(one_id).status_reason for one_id in old} == {"consolidated_note"}


def test_a_negative_number_is_refused(rig: Rig) -> None:
    with refused(Code.INVALID_INPUT):
        rig.engine.maintenance.archive_own_notes(-1, OWNER_ACTOR)


def test_a_client_learns_nothing_of_a_consolidation_outside_its_scope(tmp_path: Path) -> None:
    with consolidation_rig.opened(tmp_path) as rig:
        blind, seeing = rig.client("blind", "read", "curate"), rig.client("seeing", "read", "curate", "all_spaces")
        consolidation_rig.completing(rig, "a")
        before = rig.texts()
        everything = rig.engine.maintenance.consolidate(OWNER_ACTOR, dry_run=True).result(60)
        assert sum(everything.planned.values()) > 0, "the rig has nothing to consolidate"
        assert rig.engine.maintenance.consolidate(blind, dry_run=True).result(60).planned == {}
        assert rig.engine.maintenance.consolidate(seeing, dry_run=True).result(60).planned == everything.planned
        assert rig.texts() == before, "a dry run changes nothing"
        ran = rig.engine.maintenance.consolidate(blind).result(60)
        assert (ran.dry_run, ran.planned, ran.changed) == (False, {}, {})
        assert rig.texts() != before


def test_a_run_tells_what_it_changed_to_who_may_see_it(tmp_path: Path) -> None:
    with consolidation_rig.opened(tmp_path) as rig:
        seeing = rig.client("seeing", "read", "curate", "all_spaces")
        consolidation_rig.completing(rig, "a")
        ran = rig.engine.maintenance.consolidate(seeing).result(60)
        assert sum(ran.changed.values()) >= 1
        assert ran.planned == {}


def fact(text: str, **more: Any) -> FactRequest:
    stored = {name: more.pop(name) for name in ("permanence", "request_id", "space") if name in more}
    return FactRequest("Anna", more.pop("predicate", "lives_in"), StoreRequest(text, **stored), **more)


def test_a_fact_in_parts_comes_with_its_claim(rig: Rig) -> None:
    one = rig.client("one", "read", "write")
    first = rig.engine.memories.store_fact(fact("Graz", permanence="stable"), one).result(30)
    found = rig.get(first.memory_id)
    assert found.text == "Anna lives in: Graz"
    row = rig.rows("SELECT subject, predicate, value, state FROM claims")
    assert row == [("Anna", "lives_in", "Graz", "asserted")]
    assert rig.value("SELECT permanence FROM memories WHERE id = ?", first.memory_id) == "stable"
    later = rig.engine.memories.store_fact(fact("Anna lives in Linz now.", value="Linz"), one).result(30)
    assert (later.operation, later.superseded) == ("SUPERSEDE", (first.memory_id,))
    assert rig.get(later.memory_id).text == "Anna lives in Linz now."


def test_the_same_fact_again_is_known(rig: Rig) -> None:
    one = rig.client("one", "read", "write")
    first = rig.engine.memories.store_fact(fact("Graz"), one).result(30)
    again = rig.engine.memories.store_fact(fact("Graz"), one).result(30)
    assert (again.operation, again.deduplicated, again.memory_id) == ("NOOP", True, first.memory_id)


def test_a_fact_is_stored_once_for_one_request_id(rig: Rig) -> None:
    one = rig.client("one", "read", "write")
    first = rig.engine.memories.store_fact(fact("Graz", request_id="r"), one).result(30)
    assert rig.engine.memories.store_fact(fact("Graz", request_id="r"), one).result(30) == first
    assert error_of(rig.engine.memories.store_fact(fact("Linz", request_id="r"), one)).code is Code.INVALID_INPUT


def test_a_request_id_of_before_the_level_could_be_given_still_counts(rig: Rig) -> None:
    one = rig.client("one", "read", "write")
    first = rig.store("Kept once.", one, request_id="r").memory_id
    (row,) = rig.rows("SELECT request_id, reply FROM requests")
    assert json.loads(row[1])["memory_id"] == first
    assert (
        error_of(rig.engine.memories.store(StoreRequest("Kept once.", request_id="r", permanence="stable"), one)).code
        is Code.INVALID_INPUT
    )


def test_an_unknown_level_is_refused_with_the_known_ones(rig: Rig) -> None:
    with refused(Code.INVALID_INPUT):
        rig.store("Anything.", permanence="eternal")
