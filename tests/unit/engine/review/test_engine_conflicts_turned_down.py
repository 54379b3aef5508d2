"""All that one client asked for is turned down in one step, and nothing of anybody else's."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import pytest
from engine_rig import Rig, refused

from core.engine import conflicts
from core.errors import Code
from core.types.memory import RequestedChange
from core.types.reviews import TurnedDown
from core.types.values import OWNER_ACTOR, Actor, Status

OPEN = "SELECT count(*) FROM conflicts WHERE state = 'open'"


def open_items(rig: Rig) -> int:
    return int(rig.value(OPEN))


def noisy(rig: Rig, count: int) -> Actor:
    noisy = rig.client("Noisy", "read", "propose", "space:home")
    for number in range(count):
        rig.store(f"Proposal number {number} about sailing boat {number}", noisy)
    return noisy


def test_all_that_one_client_asked_for_goes_in_one_step_that_can_be_undone(rig: Rig) -> None:
    mine = rig.store("My boat lies in Kappeln", space="home").memory_id
    other = rig.store("The other one asks this", rig.client("Other", "read", "propose"))
    asking = noisy(rig, 4)
    assert (
        rig.engine.client_changes.remove_memory(mine, asking, RequestedChange.FORGET).result(10).operation == "PROPOSED"
    )
    assert open_items(rig) == 6
    before = rig.dump()
    done = rig.engine.conflicts.turn_down("Noisy").result(30)
    assert (done.items, done.left) == (5, 0)
    labels = rig.rows("SELECT label FROM undo_steps WHERE id = ?", done.step_id)
    assert labels == [("Reject a client's request: 5 decisions",)]
    assert rig.rows("SELECT incoming_id FROM conflicts WHERE state = 'open'") == [(other.memory_id,)]
    assert rig.get(mine).status is Status.ACTIVE
    assert len(rig.texts(("archived",))) == 4
    assert rig.engine.conflicts.turn_down("Noisy").result(10) == TurnedDown(None, 0, 0)
    assert rig.undo(done.step_id).left == ()
    assert rig.dump() == before


def test_of_very_many_the_first_go_and_the_rest_is_counted(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conflicts, "AT_ONCE", 2)
    noisy(rig, 3)
    assert rig.engine.conflicts.turn_down("Noisy").result(10).left == 1
    assert rig.engine.conflicts.turn_down("Noisy").result(10).left == 0
    assert open_items(rig) == 0


def between(monkeypatch: pytest.MonkeyPatch, begin: Callable[[Any], Future[Any]]) -> list[Future[Any]]:
    """Two items a turn; what others begin while the first turn is written."""
    turned = conflicts._reject_next_batch
    begun: list[Future[Any]] = []

    def spied(*given: Any, **named: Any) -> Any:
        after = turned(*given, **named)
        if not begun:
            begun.append(begin(after))
        return after

    monkeypatch.setattr(conflicts, "A_TURN", 2)
    monkeypatch.setattr(conflicts, "_reject_next_batch", spied)
    return begun


def test_who_writes_meanwhile_waits_for_one_turn_of_it(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    noisy(rig, 5)
    before = rig.dump()
    begun = between(monkeypatch, lambda _: rig.opened.storage.write(lambda tx: tx.value(OPEN)))
    done = rig.engine.conflicts.turn_down("Noisy").result(30)
    assert (begun[0].result(30), done.items, done.left, open_items(rig)) == (3, 5, 0, 0)
    assert rig.engine.history.list_steps().result(10).rows[0].label.endswith("5 decisions")
    assert rig.undo(done.step_id).left == ()
    assert rig.dump() == before


def test_it_ends_where_the_person_takes_it_back_meanwhile(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    noisy(rig, 5)
    begun = between(monkeypatch, lambda after: rig.engine.memories.undo_step(after.step_id, OWNER_ACTOR))
    done = rig.engine.conflicts.turn_down("Noisy").result(30)
    assert (begun[0].result(30).step_id, done.items, done.left) == (done.step_id, 2, 5)
    assert open_items(rig) == 5


@pytest.mark.slow
def test_more_than_a_page_goes_at_once(rig: Rig) -> None:
    noisy(rig, 230)
    done = rig.engine.conflicts.turn_down("Noisy").result(60)
    assert (done.items, done.left, open_items(rig)) == (230, 0, 0)


def test_nobody_of_that_name(rig: Rig) -> None:
    with refused(Code.NOT_FOUND):
        rig.engine.conflicts.turn_down("Nobody").result(10)


def test_what_stays_when_a_client_is_removed_is_named(rig: Rig) -> None:
    claude = rig.client("Claude", "read", "write")
    stays = rig.store("The boiler is blue", claude).memory_id
    rig.store("The kettle is red", claude)
    rig.engine.memories.confirm(stays, OWNER_ACTOR).result(10)
    done = rig.engine.clients.remove_all("Claude").result(10)
    assert (done.left, done.left_ids) == (1, (stays,))
