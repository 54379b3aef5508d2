"""Taking a verb back: every row of every table is as it was, and what changed since is left and listed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from engine_rig import MARKER, START_MS, HandClock, Rig, Table, differences, facts, refused, rig_at, talk

from core.errors import Code
from core.types.values import OWNER_ACTOR, Actor, Kind, Status

CLAIM = {"subject": "Ada", "predicate": "lives_in", "value": "Graz", "exclusive": True}
LONG = "".join(f"Sentence {n} of the letter. " for n in range(1000))

Act = Callable[[Rig], object]


def set_up(rig: Rig) -> None:
    """Something of everything stands before a verb."""
    rig.store("The kettle is blue", claim={**CLAIM, "value": "Linz"})
    rig.store(LONG + "Earlier.", kind=Kind.EPISODE)
    rig.client("Claude", "read", "write", "curate", "space:home", "space:Work")
    rig.client("Shy")
    rig.client("Gone", "read")
    rig.engine.clients.revoke("Gone").result(10)
    rig.bring([*talk(5, "old"), *facts(3)], name="old.jsonl")


def actor(rig: Rig, name: str) -> Actor:
    record = rig.engine.authority.token_for(name)
    assert record is not None
    return Actor("client", record.id, name, "s1")


def forget_first(rig: Rig, text: str) -> None:
    ((memory_id,),) = rig.rows("SELECT id FROM memories WHERE text = ? LIMIT 1", text)
    rig.forget(memory_id)


VERBS: dict[str, Act] = {
    "a fact": lambda rig: rig.store("Ada keeps bees", tags=("x",)),
    "a fact with a claim in a new space": lambda rig: rig.store("Ada moved", space="New", claim=CLAIM),
    "a long text": lambda rig: rig.store(LONG),
    "an episode": lambda rig: rig.store("Good morning", kind=Kind.EPISODE, session="s"),
    "a confirmation": lambda rig: rig.store("The kettle is blue", actor(rig, "Claude"), space="home"),
    "a confirmation with a claim": lambda rig: rig.store("The kettle is blue", claim=CLAIM),
    "a client's fact": lambda rig: rig.store("The user likes tea", actor(rig, "Claude")),
    "a proposal": lambda rig: rig.store("The user likes tea", actor(rig, "Shy")),
    "forgetting": lambda rig: forget_first(rig, "The kettle is blue"),
    "forgetting a split text": lambda rig: rig.forget(rig.value("SELECT id FROM memories WHERE part_index = 2")),
    "pairing": lambda rig: rig.client("New one", "read", "propose", "space:Work", "space:Brand new"),
    "pairing anew": lambda rig: rig.client("Gone", "write", "space:Work"),
    "revoking": lambda rig: rig.engine.clients.revoke("Claude").result(10),
    "an import": lambda rig: rig.bring([*talk(30, "a"), *talk(10, "b"), *facts(5, 100)]),
    "an import into its own spaces": lambda rig: rig.bring([{**row, "space": "Attic"} for row in talk(6)]),
    "an import of what stands": lambda rig: rig.bring([{**row, "ref": f"x{n}"} for n, row in enumerate(facts(4))]),
    "an import with claims and a long text": lambda rig: rig.bring(
        [{"text": "Ada moved", "kind": "fact", "claim": CLAIM}, {"text": LONG, "kind": "fact"}]
    ),
}


_TOKENS = {"pairing": "New one", "pairing anew": "Gone", "revoking": "Claude"}
"""Verbs whose undo or redo would bring a token back into force, and whose: that alone is not as it was."""


def image(rig: Rig, name: str) -> dict[str, Table]:
    """Every row; of the clients, where a token does not come back, all but the token and what keeps it out."""
    found = rig.dump()
    if name not in _TOKENS:
        return found
    columns = [str(row[1]) for row in rig.rows("PRAGMA table_info(clients)")]
    kept = [place for place, one in enumerate(columns) if one not in ("token", "paired_at", "paused_at")]
    return {**found, "clients": [tuple(row[place] for place in kept) for row in found["clients"]]}


@pytest.mark.slow
@pytest.mark.parametrize("name", VERBS)
def test_undo_is_exact_and_so_is_its_undo(rig: Rig, name: str) -> None:
    set_up(rig)
    before = image(rig, name)
    VERBS[name](rig)
    after = image(rig, name)
    assert differences(before, after)

    step = rig.undo()
    assert (differences(before, image(rig, name)), step.left) == ({}, ())
    assert step.restored > 0
    again = rig.undo(step.undo_step_id)
    assert (differences(after, image(rig, name)), again.left) == ({}, ())
    third = rig.undo(again.undo_step_id)
    assert (differences(before, image(rig, name)), third.left) == ({}, ())
    assert {*step.unpaired, *again.unpaired, *third.unpaired} == ({_TOKENS[name]} if name in _TOKENS else set())
    assert [one.label.split(":")[0] for one in (step, again, third)] == [step.label, "Undo", "Redo"]
    assert rig.verify()["status"] == "ok"


def test_an_undone_memory_is_found_no_more_and_a_redone_one_is(rig: Rig) -> None:
    rig.store("Ada keeps bees in the orchard")
    step = rig.undo()
    assert rig.found("bees orchard") == []
    assert rig.opened.search.index.status().done == 0
    rig.undo(step.undo_step_id)
    assert rig.found("bees orchard", mode="semantic") == ["Ada keeps bees in the orchard"]
    assert rig.found("bees orchard", mode="keyword") == ["Ada keeps bees in the orchard"]


def test_steps_are_taken_back_newest_first_and_undoings_are_passed_over(rig: Rig) -> None:
    for text in ("one", "two", "three"):
        rig.store(text)
    rig.undo()
    assert rig.texts() == ["one", "two"]
    rig.undo()
    assert rig.texts() == ["one"]
    rig.store("four")
    rig.undo()
    rig.undo()
    assert rig.texts() == []
    with refused(Code.NOT_FOUND):
        rig.undo()


def test_an_undone_step_that_was_redone_can_be_undone_again_without_naming_it(rig: Rig) -> None:
    rig.store("one")
    step = rig.undo()
    redo = rig.undo(step.undo_step_id)
    assert rig.texts() == ["one"]
    with refused(Code.INVALID_INPUT):
        rig.undo(step.undo_step_id)
    assert rig.undo().step_id == step.step_id
    assert rig.texts() == []
    with refused(Code.INVALID_INPUT):
        rig.undo(step.step_id)
    assert redo.label == "Undo: Remember a fact"


def test_a_chain_of_undoings_knows_what_holds(rig: Rig) -> None:
    rig.store("one")
    step = rig.undo()
    original = step.step_id
    for number in range(6):
        step = rig.undo(step.undo_step_id)
        stands = number % 2 == 0
        assert (rig.texts() == ["one"]) is stands
        assert (rig.value("SELECT undone_by FROM undo_steps WHERE id = ?", original) is None) is stands
    with refused(Code.NOT_FOUND):
        rig.undo("no-such-step")


def test_nothing_to_undo_is_said_in_words(rig: Rig) -> None:
    future = rig.engine.memories.undo_step(None, OWNER_ACTOR)
    assert "nothing to undo" in str(future.exception(10))
    before = rig.rows("SELECT * FROM audit")
    with refused(Code.NOT_FOUND):
        rig.undo()
    assert rig.rows("SELECT * FROM audit") == before


def test_only_the_owner_may_undo(rig: Rig) -> None:
    rig.store("one")
    curator = rig.client("Curator", "read", "write", "curate", "all_spaces")
    with refused(Code.ACCESS_DENIED):
        rig.engine.memories.undo_step(None, curator).result(10)
    assert rig.texts() == ["one"]


def test_an_open_step_is_refused_and_never_the_default(rig: Rig) -> None:
    rig.store("one")
    rig.store("two")
    newest = rig.value("SELECT id FROM undo_steps ORDER BY rowid DESC LIMIT 1")
    rig.write(lambda tx: tx.run("UPDATE undo_steps SET is_open = 1 WHERE id = ?", (newest,)))
    with refused(Code.BUSY):
        rig.undo(newest)
    rig.undo()
    assert rig.texts() == ["two"]


def test_a_step_expires_after_the_days_that_are_set(rig: Rig) -> None:
    rig.store("one")
    rig.write(
        lambda tx: tx.run("INSERT INTO settings (key, value, changed_at) VALUES ('undo_days', '7', ?)", (tx.now_ms,))
    )
    rig.lock()
    rig.unlock()
    rig.store("two")
    days = [row[0] for row in rig.rows("SELECT (expires_at - at) / 86400000 FROM undo_steps ORDER BY rowid")]
    assert days == [90, 7]


def test_a_row_that_changed_since_is_left_and_listed_with_what_hangs_on_it(rig: Rig) -> None:
    kept = rig.store(MARKER, claim=CLAIM).memory_id
    store_step = rig.value("SELECT id FROM undo_steps")
    rig.forget(kept)
    before = rig.dump()

    report = rig.undo(store_step)

    (left,) = [row for row in report.left if row["table"] == "memories"]
    assert left["then"] is None
    assert left["now"]["status"] == "deleted"
    assert {row["table"] for row in report.left} == {"memories", "claims"}
    assert differences(before, rig.dump()) == {}
    rig.undo()  # the forgetting
    assert rig.get(kept).status is Status.ACTIVE
    assert [source["lineage"] for source in rig.engine.memories.show(kept, OWNER_ACTOR).result(10).sources] == ["owner"]
    assert rig.verify()["status"] == "ok"


def test_only_the_changed_part_of_a_step_is_left(rig: Rig) -> None:
    report = rig.bring(facts(5))
    forget_first(rig, "The shelf holds jar number 2")
    undone = rig.unimport(report.import_id)
    assert [row["now"]["text"] for row in undone.left if row["table"] == "memories"] == ["The shelf holds jar number 2"]
    assert rig.texts(None) == ["The shelf holds jar number 2"]
    # What the person forgot does not come back with the next import of the same file.
    assert rig.bring(facts(5)).stored == 4
    assert rig.texts() == [f"The shelf holds jar number {n}" for n in (0, 1, 3, 4)]


def test_forgetting_cannot_be_undone_where_the_same_fact_stands_again(rig: Rig) -> None:
    first = rig.store("Ada keeps bees").memory_id
    step = rig.forget(first)
    rig.store("Ada keeps bees")
    report = rig.undo(step)
    assert (report.restored, [row["key"] for row in report.left]) == (0, [{"n": 1}])
    assert rig.texts() == ["Ada keeps bees"]


def test_reading_in_between_is_no_change(rig: Rig) -> None:
    rig.store("Ada keeps bees")
    assert rig.found("bees")
    rig.engine.flush_journal()
    assert rig.value("SELECT access_count FROM memories") == 1
    report = rig.undo()
    assert (report.left, rig.texts(None)) == ((), [])
    rig.engine.flush_journal()


def test_trust_is_worked_out_anew(tmp_path: Path) -> None:
    clock = HandClock(START_MS)
    with rig_at(tmp_path, clock=clock) as rig:
        writer = rig.client("Claude", "read", "write", "space:home")
        fact = rig.store("The boiler leaks", writer, space="home").memory_id
        rig.store("The boiler leaks")
        clock.advance(73 * 86_400_000)  # a fifth of a year; a step can be undone for 90 days
        rig.undo()
        memory = rig.get(fact)
        assert memory.corroboration == 1
        assert memory.trust == pytest.approx(0.48)


def test_the_newest_step_is_the_newest_though_the_clock_was_set_back(tmp_path: Path) -> None:
    clock = HandClock(START_MS)
    with rig_at(tmp_path, clock=clock) as rig:
        rig.store("first")
        rig.lock()
        clock.advance(-90 * 86_400_000)
        rig.unlock()
        rig.store("second")
        assert rig.value("SELECT count(DISTINCT at) FROM undo_steps") == 1
        rig.undo()
        assert rig.texts() == ["first"]


def test_a_pairing_that_left_receipts_is_cut_off_and_can_be_renewed(rig: Rig) -> None:
    rig.store("Ada keeps bees", space="GLOBAL")
    claude = rig.client("Claude", "read", "write")
    assert rig.found("bees", claude)
    rig.engine.flush_journal()

    report = rig.undo()

    assert {row["table"] for row in report.left} == {"clients"}
    with refused(Code.UNAUTHENTICATED):
        rig.recall("bees", claude)
    record = rig.engine.authority.token_for("Claude")
    assert record is not None
    assert (record.revoked, record.grants) == (True, frozenset())

    redone = rig.undo(report.undo_step_id)
    assert (redone.left, redone.unpaired) == ((), ("Claude",))
    with refused(Code.UNAUTHENTICATED):
        rig.recall("bees", claude)
    again = rig.client("Claude", "read", "write")
    assert again.client_id == claude.client_id
    assert rig.get(rig.store("And again", again).memory_id).space == "client:Claude"


def test_a_space_in_use_stays(rig: Rig) -> None:
    rig.store("one", space="Work")
    step = rig.value("SELECT id FROM undo_steps")
    rig.store("two", space="Work")
    report = rig.undo(step)
    assert (report.left, rig.texts(space="Work")) == ((), ["two"])


def test_a_fact_goes_with_the_last_thing_that_hung_on_it(rig: Rig) -> None:
    rig.store("Ada moved to Graz")
    first = rig.value("SELECT id FROM undo_steps")
    rig.store("Ada moved to Graz", claim=CLAIM)
    assert [row["table"] for row in rig.undo(first).left] == ["memories"]
    rig.undo()
    assert rig.texts(None) == []
    assert rig.rows("SELECT id FROM claims") == []
