"""The undo history, "undo back to here", the audit and the imports as the journal page shows them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from engine_rig import HandClock, Rig, differences, error_of, facts, rig_at, talk
from example_counts import count_examples
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import Code
from core.types.replies import StepRow
from core.types.values import OWNER_ACTOR

DAY_MS = 86_400_000


def steps(rig: Rig, **more: Any) -> list[StepRow]:
    return list(rig.engine.history.list_steps(**more).result(30).rows)


def labels(rig: Rig) -> list[str]:
    return [step.label for step in steps(rig)]


def next_redo(rig: Rig) -> StepRow | None:
    return rig.engine.history.next_redo().result(30)


def next_undo(rig: Rig) -> StepRow | None:
    return rig.engine.history.next_undo().result(30)


def back_to(rig: Rig, step: str) -> Any:
    done = rig.engine.history.undo_back_to(step, preview=False).result(30)
    rig.settle()
    return done


def changing(clock_of: Rig) -> None:
    clock = clock_of.clock
    assert isinstance(clock, HandClock)
    clock.advance(1000)


@pytest.mark.slow
def test_steps_tell_what_was_done_and_lead_to_memories(rig: Rig) -> None:
    kept = rig.store("The kettle is blue").memory_id
    client = rig.client("plug", "write", "read")
    theirs = rig.store("The kettle is loud", client).memory_id
    gone = rig.forget(kept)
    rig.undo(gone)
    undo, forgot, store, pair, first = steps(rig)
    assert [undo.is_undo, forgot.is_undo] == [True, False]
    assert (forgot.id, forgot.undone, forgot.can_undo) == (gone, True, False)
    assert (undo.undone, undo.can_undo, undo.label) == (False, True, "Undo: Forget a memory")
    assert (store.actor, store.client, store.memory_ids) == ("client", "plug", (theirs,))
    assert (first.actor, first.client, first.memory_ids) == ("owner", None, (kept,))
    assert forgot.memory_ids == undo.memory_ids == (kept,)
    assert pair.memory_ids == ()
    assert first.rows > 0
    assert first.expires_at - first.at == 90 * DAY_MS
    assert [step.id for step in steps(rig, include_undone=False)] == [undo.id, store.id, pair.id, first.id]


def test_pages_meet_without_gap_or_repeat(rig: Rig) -> None:
    for n in range(7):
        rig.store(f"fact {n}")
        if n % 2:
            changing(rig)
    whole = [step.id for step in steps(rig)]
    found, after = [], None
    while True:
        page = rig.engine.history.list_steps(after, limit=3).result(30)
        assert page.total == 7
        found += [step.id for step in page.rows]
        after = page.next
        if after is None:
            break
    assert found == whole
    assert len(whole) == 7
    assert error_of(rig.engine.history.list_steps("nothing")).code is Code.INVALID_INPUT


def test_undo_and_redo_walk_like_in_an_editor(rig: Rig) -> None:
    assert next_undo(rig) is None
    assert next_redo(rig) is None
    for text in ("one", "two", "three"):
        rig.store(text)
    rig.undo()
    rig.undo()
    assert rig.texts() == ["one"]
    for expected in (["one", "two"], ["one", "two", "three"]):
        redo = next_redo(rig)
        assert redo is not None
        assert redo.is_undo
        rig.undo(redo.id)
        assert rig.texts() == expected
    assert next_redo(rig) is None
    found = next_undo(rig)
    assert found is not None
    assert rig.undo().step_id == found.id
    assert rig.texts() == ["one", "two"]
    assert next_redo(rig) is not None
    rig.store("four")
    assert next_redo(rig) is None


def test_what_a_client_stores_does_not_end_the_redo(rig: Rig) -> None:
    client = rig.client("plug", "write")
    rig.store("one")
    rig.undo()
    rig.store("theirs", client)
    redo = next_redo(rig)
    assert redo is not None
    rig.undo(redo.id)
    assert sorted(rig.texts()) == ["one", "theirs"]


def test_what_a_client_does_is_not_in_the_way_of_the_persons_undo(rig: Rig) -> None:
    client = rig.client("plug", "write", "read")
    kept = rig.store("mine").memory_id
    rig.store("theirs", client)
    mine = next_undo(rig)
    assert mine is not None
    assert (mine.actor, mine.memory_ids) == ("owner", (kept,))
    rig.undo(mine.id)
    assert rig.texts() == ["theirs"]
    redo = next_redo(rig)
    assert redo is not None
    rig.undo(redo.id)
    assert sorted(rig.texts()) == ["mine", "theirs"]
    found = next_undo(rig)
    assert found is not None
    assert found.id == mine.id
    assert rig.undo().client == "plug"  # without a name it is still the newest of all
    assert [row[0] for row in rig.rows("SELECT id FROM memories")] == [kept]


def test_with_nothing_of_the_persons_the_window_undoes_nothing_and_the_bare_undo_still_does(rig: Rig) -> None:
    client = rig.client("plug", "write", "read")
    pairing = next_undo(rig)
    assert pairing is not None
    assert pairing.actor == "owner"
    rig.write(lambda tx: tx.run("UPDATE undo_steps SET actor = 'scheduler'"))
    rig.store("theirs", client)
    assert next_undo(rig) is None
    assert rig.undo().client == "plug"
    assert rig.texts() == []


def test_what_the_person_took_back_of_a_client_comes_back_with_a_redo(rig: Rig) -> None:
    client = rig.client("plug", "write", "read")
    rig.store("theirs", client)
    rig.undo()
    redo = next_redo(rig)
    assert redo is not None
    rig.undo(redo.id)
    assert rig.texts() == ["theirs"]


def test_the_undo_of_an_unimport_can_be_redone(rig: Rig) -> None:
    report = rig.bring(facts(2))
    rig.unimport(report.import_id)
    rig.undo()
    redo = next_redo(rig)
    assert redo is not None
    rig.undo(redo.id)
    assert rig.texts() == []


def test_expired_steps_are_shown_and_not_offered(rig: Rig) -> None:
    rig.store("one")
    assert isinstance(rig.clock, HandClock)
    rig.clock.advance(91 * DAY_MS)
    (step,) = steps(rig)
    assert not step.can_undo
    assert next_undo(rig) is None


def test_back_to_a_step_restores_what_was_before_it(rig: Rig) -> None:
    kept = rig.store("one").memory_id
    before = rig.dump()
    target = rig.forget(kept)
    rig.store("two")
    rig.bring([*talk(4), *facts(2)])
    preview = rig.engine.history.undo_back_to(target, preview=True).result(30)
    assert preview.labels == ("Import memories", "Remember a fact", "Forget a memory")
    assert preview.memories == 8
    assert preview.reports == ()
    assert len(steps(rig)) == 4, "a preview changes nothing"

    done = back_to(rig, target)
    assert (done.labels, done.memories) == (preview.labels, preview.memories)
    assert [report.label for report in done.reports] == list(preview.labels)
    assert all(report.left == () for report in done.reports)
    assert not differences(before, rig.dump())
    assert rig.verify()["status"] == "ok"
    assert rig.found("message about the garden") == []
    assert error_of(rig.engine.history.undo_back_to(target, preview=False)).code is Code.INVALID_INPUT


def test_an_undo_of_something_older_is_taken_back_too(rig: Rig) -> None:
    rig.store("old")
    old = steps(rig)[0].id
    rig.store("here")
    target = steps(rig)[0].id
    rig.undo(old)
    assert rig.texts() == ["here"]
    back_to(rig, target)
    assert rig.texts() == ["old"]


def test_undo_and_redo_of_something_older_cancel_out(rig: Rig) -> None:
    rig.store("old")
    old = steps(rig)[0].id
    rig.store("here")
    target = steps(rig)[0].id
    undone = rig.undo(old)
    rig.undo(undone.undo_step_id)
    assert back_to(rig, target).labels == ("Remember a fact",)
    assert rig.texts() == ["old"]


def test_rows_changed_since_are_left_and_listed(rig: Rig) -> None:
    memory = rig.store("one").memory_id
    target = steps(rig)[0].id
    rig.write(lambda tx: tx.update("memories", {"id": memory}, {"pinned": 1}))
    done = back_to(rig, target)
    assert rig.texts() == ["one"]
    assert [row["table"] for row in done.reports[0].left] == ["memories"]


def test_an_error_takes_back_nothing(rig: Rig) -> None:
    rig.store("one")
    rig.engine.settings.set_option("undo_days", 1).result(30)
    target = steps(rig)[0].id
    rig.store("two")
    assert isinstance(rig.clock, HandClock)
    rig.clock.advance(2 * DAY_MS)  # the later step has expired, the chosen one has not
    rig.store("three")
    assert error_of(rig.engine.history.undo_back_to(target, preview=False)).code is Code.NOT_FOUND
    assert rig.texts() == ["one", "two", "three"]
    assert rig.opened.options.undo_days == 1


def test_what_still_runs_or_is_not_there_is_refused(rig: Rig) -> None:
    rig.store("one")
    target = steps(rig)[0].id
    rig.store("two")
    rig.write(lambda tx: tx.run("UPDATE undo_steps SET is_open = 1 WHERE id <> ?", (target,)))
    for preview in (True, False):
        assert error_of(rig.engine.history.undo_back_to(target, preview)).code is Code.BUSY
        assert error_of(rig.engine.history.undo_back_to("nothing", preview)).code is Code.NOT_FOUND


def test_a_pairing_that_is_taken_back_is_let_in_no_more(rig: Rig) -> None:
    rig.client("plug", "read")
    back_to(rig, steps(rig)[0].id)
    assert rig.engine.authority.token_for("plug") is None


Step = Callable[[Rig, int], object]


def _forget(rig: Rig, which: int) -> None:
    found = rig.rows("SELECT id FROM memories WHERE status = 'active' ORDER BY n")
    if found:
        rig.forget(found[which % len(found)][0])


def _undo_any(rig: Rig, which: int) -> None:
    standing = [step for step in steps(rig) if step.can_undo]
    if standing:
        rig.undo(standing[which % len(standing)].id)


VERBS: list[Step] = [lambda rig, which: rig.store(f"text {which}"), _forget, _undo_any]


@settings(max_examples=count_examples(12), deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 5)), min_size=2, max_size=7), st.integers(0, 6))
def test_back_to_any_step_of_any_history(
    tmp_path_factory: pytest.TempPathFactory, doings: list[tuple[int, int]], chosen: int
) -> None:
    with rig_at(tmp_path_factory.mktemp("history")) as rig:
        rig.store("the first")
        states = []
        for verb, which in doings:
            known = len(steps(rig))
            before = sorted(rig.rows("SELECT id, status FROM memories"))
            VERBS[verb](rig, which)
            if len(steps(rig)) > known:
                states.append((steps(rig)[0].id, before))
        if not states:
            return
        target, before = states[chosen % len(states)]
        future = rig.engine.history.undo_back_to(target, preview=False)
        if future.exception(30) is not None:
            assert error_of(future).code is Code.INVALID_INPUT
        elif any(report.left for report in future.result().reports):
            return
        assert sorted(rig.rows("SELECT id, status FROM memories")) == before


def test_audit_pages(rig: Rig) -> None:
    client = rig.client("plug", "write")
    for n in range(4):
        rig.store(f"secret {n}", client)
    first = rig.engine.history.list_audit(limit=3).result(30)
    rest = rig.engine.history.list_audit(first.next).result(30)
    numbers = [row.nr for row in (*first.rows, *rest.rows)]
    assert numbers == sorted(numbers, reverse=True)
    assert len(numbers) == first.total
    assert rest.next is None
    assert first.rows[0].actor == "client:plug"
    assert first.rows[0].verb == "store"
    assert first.rows[0].detail["rows"] > 0
    assert "secret" not in repr(first)


def test_imports_with_live_counts(rig: Rig) -> None:
    long = "".join(f"Sentence {n} of the long letter. " for n in range(900))
    one = rig.bring([*facts(3), {"text": long}], name="one.jsonl")
    changing(rig)
    two = rig.bring(facts(2, what="The drawer holds key"), name="two.jsonl", space="Attic")
    rig.forget(rig.rows("SELECT id FROM memories WHERE import_id = ? ORDER BY n", one.import_id)[0][0])
    newest, oldest = rig.engine.history.list_imports().result(30)
    assert (newest.id, newest.label, newest.space, newest.memories) == (two.import_id, "two.jsonl", "Attic", 2)
    assert (oldest.id, oldest.state, oldest.memories, oldest.summary["stored"]) == (one.import_id, "done", 3, 4)
    rig.unimport(two.import_id)
    newest, _ = rig.engine.history.list_imports().result(30)
    assert (newest.state, newest.memories) == ("undone", 0)
    assert newest.step_id in {step.id for step in steps(rig)}


def test_a_locked_vault_tells_nothing(rig: Rig) -> None:
    rig.lock()
    for call in (rig.engine.history.list_steps, rig.engine.history.list_imports, rig.engine.settings.read_rows):
        with pytest.raises(Exception, match="E1001"):
            call()
    with pytest.raises(Exception, match="E1001"):
        rig.engine.memories.undo_step(None, OWNER_ACTOR)
