"""Taking back what a client did: one step, nothing of anybody else's, and the way there and back."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import pytest
from engine_rig import HandClock, Rig, differences, refused

from core.engine.clients import client_undo
from core.errors import Code
from core.types.clients import TakenBack
from core.types.reviews import Decision
from core.types.values import OWNER_ACTOR, Action

DAY_MS = 86_400_000


def forward(rig: Rig, ms: int) -> None:
    assert isinstance(rig.clock, HandClock)
    rig.clock.advance(ms)


def test_all_it_did_goes_in_one_step_that_can_be_undone(rig: Rig) -> None:
    claude, other = rig.client("Claude", "read", "write", "curate"), rig.client("Other", "read", "write")
    kept = rig.store("What another knows", other).memory_id
    before = rig.dump()
    rig.store("The first jar", claude)
    memory = rig.store("The second jar", claude).memory_id
    rig.forget(memory, claude)
    after = rig.dump()
    would = rig.engine.clients.preview_undo("Claude", 0).result(10)
    assert (would.steps, would.memories, dict(would.by_verb), would.expired) == (3, 2, {"store": 2, "forget": 1}, 0)
    done = rig.engine.clients.undo_since("Claude", 0).result(10)
    assert (done.steps, done.left) == (3, 0)
    assert rig.dump() == before
    assert rig.engine.clients.read_card("Claude").result(10).steps == 0
    assert rig.engine.clients.undo_since("Claude", 0).result(10) == TakenBack("", 0, 0)
    redo = rig.undo(done.step_id)
    assert redo.left == ()
    assert not differences(after, rig.dump()).keys() - {"embeddings"}  # what is forgotten gets no vector anew
    assert rig.engine.clients.read_card("Claude").result(10).steps == 3
    assert rig.undo(redo.undo_step_id).left == ()
    assert rig.dump() == before
    assert rig.get(kept).text == "What another knows"
    assert rig.verify()["status"] == "ok"


def test_only_what_came_since_goes(rig: Rig) -> None:
    claude = rig.client("Claude", "read", "write")
    rig.store("Yesterday", claude)
    forward(rig, DAY_MS)
    since = rig.clock.now_ms()
    rig.store("Today", claude)
    assert rig.engine.clients.preview_undo("Claude", since).result(10).steps == 1
    assert rig.engine.clients.undo_since("Claude", since).result(10).steps == 1
    assert rig.texts() == ["Yesterday"]


def test_what_was_changed_since_stays_and_is_counted(rig: Rig) -> None:
    claude = rig.client("Claude", "read", "write")
    mended = rig.store("The boiler is blue", claude).memory_id
    rig.store("The kettle is red", claude)
    rig.forget(mended)  # by the person
    done = rig.engine.clients.undo_since("Claude", 0).result(10)
    assert (done.steps, done.left) == (1, 1)
    assert rig.texts(None) == ["The boiler is blue"]


def test_back_to_a_step_before_what_was_taken_back_leaves_nothing_of_it(rig: Rig) -> None:
    claude = rig.client("Claude", "read", "write")
    before = rig.dump()
    first = rig.store("My own").memory_id
    rig.store("Its first", claude)
    step = rig.rows("SELECT id FROM undo_steps WHERE verb IN ('store', 'remember') ORDER BY at, rowid")[0][0]
    assert first
    rig.engine.clients.undo_since("Claude", 0).result(10)
    rig.engine.history.undo_back_to(step, preview=False).result(10)
    rig.settle()
    assert rig.dump() == before


def test_removing_all_archives_what_is_too_old_and_can_be_undone(rig: Rig) -> None:
    claude = rig.client("Claude", "read", "write")
    rig.store("Long ago", claude)
    mine = rig.store("I said so too", claude).memory_id
    rig.engine.memories.confirm(mine, OWNER_ACTOR).result(10)
    forward(rig, 100 * DAY_MS)
    rig.engine.clients.resume("Claude").result(10)
    rig.store("Lately", claude)
    would = rig.engine.clients.preview_undo("Claude", 0).result(10)
    assert (would.steps, would.expired) == (1, 1)
    rig.engine.clients.revoke("Claude").result(10)
    standing = "SELECT id, text, status, status_reason, retired_at FROM memories ORDER BY n"
    before = rig.rows(standing)
    done = rig.engine.clients.remove_all("Claude").result(10)
    assert (done.steps, done.left, done.archived) == (1, 0, 1)
    assert rig.texts() == ["I said so too"]
    assert rig.texts(("archived",)) == ["Long ago"]
    assert rig.found("ago lately") == []
    assert rig.undo(done.step_id).left == ()
    assert rig.rows(standing) == before
    assert rig.engine.clients.remove_all("Claude").result(10).step_id
    assert rig.engine.clients.remove_all("Claude").result(10).step_id == ""


def between(monkeypatch: pytest.MonkeyPatch, begin: Callable[[Any], Future[Any]]) -> list[Future[Any]]:
    """Two a turn; what others begin while the first turn is written."""
    go_on = client_undo.undo_next_batch
    begun: list[Future[Any]] = []

    def spied(*given: Any) -> Any:
        after = go_on(*given)
        if not begun:
            begun.append(begin(after))
        return after

    monkeypatch.setattr(client_undo, "STEPS_A_TURN", 2)
    monkeypatch.setattr(client_undo, "MEMORIES_A_TURN", 2)
    monkeypatch.setattr(client_undo, "undo_next_batch", spied)
    return begun


def told_much(rig: Rig) -> str:
    """Five memories that are too old to be taken back, and five that are not."""
    claude = rig.client("Claude", "read", "write")
    for number in range(5):
        rig.store(f"Jar number {number} of old", claude)
    forward(rig, 100 * DAY_MS)
    rig.engine.clients.resume("Claude").result(10)
    for number in range(5):
        rig.store(f"Kettle number {number} of late", claude)
    return "SELECT id, text, status, status_reason, retired_at FROM memories ORDER BY n"


def test_who_writes_meanwhile_waits_for_one_turn_of_it(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    standing = told_much(rig)
    before = rig.rows(standing)
    begun = between(
        monkeypatch, lambda _: rig.opened.storage.write(lambda tx: tx.value("SELECT count(*) FROM memories"))
    )
    done = rig.engine.clients.remove_all("Claude").result(30)
    assert begun[0].result(30) == 8
    assert (done.steps, done.left, done.archived, done.left_ids) == (5, 0, 5, ())
    assert (rig.texts(), len(rig.texts(("archived",)))) == ([], 5)
    assert rig.value("SELECT count(*) FROM undo_steps WHERE verb = 'remove_all'") == 1
    assert rig.undo(done.step_id).left == ()
    assert rig.rows(standing) == before
    assert rig.verify()["status"] == "ok"


def test_it_ends_where_the_person_takes_it_back_meanwhile(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    standing = told_much(rig)
    before = rig.rows(standing)
    begun = between(monkeypatch, lambda after: rig.engine.memories.undo_step(after.step_id, OWNER_ACTOR))
    done = rig.engine.clients.remove_all("Claude").result(30)
    assert (begun[0].result(30).step_id, done.steps, done.archived) == (done.step_id, 2, 0)
    assert rig.rows(standing) == before


def test_a_rehearsal_ends_when_its_time_is_over(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    claude = rig.client("Claude", "read", "write")
    for number in range(5):
        rig.store(f"Jar number {number}", claude)
    monkeypatch.setattr(client_undo, "_TRIED_AT_ONCE", 2)
    seconds = iter(range(100))
    with monkeypatch.context() as slow:
        slow.setattr(type(rig.clock), "monotonic", lambda _: next(seconds) * 0.15)
        would = rig.engine.clients.preview_undo("Claude", 0).result(10)
    assert 0 < would.steps < 5
    assert (would.steps + would.untried, would.steps % 2) == (5, 0)
    whole = rig.engine.clients.preview_undo("Claude", 0).result(10)
    assert (whole.steps, whole.untried) == (5, 0)


def test_nobody_by_that_name(rig: Rig) -> None:
    clients = rig.engine.clients
    for asked in (clients.preview_undo("X", 0), clients.undo_since("X", 0), clients.remove_all("X")):
        with refused(Code.NOT_FOUND):
            asked.result(10)


def test_removing_all_takes_to_the_archive_what_the_person_had_accepted(rig: Rig) -> None:
    claude = rig.client("Claude", "read", "propose", "space:home")
    accepted = rig.store("The jar is blue.", claude, space="home").memory_id
    own_by_now = rig.store("The kettle is red.", claude, space="home").memory_id
    rows = [row.id for row in rig.engine.conflicts.list_queue().result(10).rows]
    rig.engine.conflicts.resolve_many(rows, Decision(Action.SUPERSEDE), OWNER_ACTOR).result(30)
    rig.engine.memories.confirm(own_by_now, OWNER_ACTOR).result(10)  # said once more, of its own accord
    assert rig.texts() == ["The jar is blue.", "The kettle is red."]
    done = rig.engine.clients.remove_all("Claude").result(10)
    assert (done.archived, done.left) == (1, 1)
    assert rig.get(accepted).status.value == "archived"
    assert rig.texts() == ["The kettle is red."]
    assert rig.undo(done.step_id).left == ()
    assert rig.texts() == ["The jar is blue.", "The kettle is red."]
