"""What of the desk closes by itself, and the holding of a source."""

from __future__ import annotations

import json
from typing import Any

import pytest
from desk_rig import (
    DAY_MS,
    came,
    decide,
    have,
    item,
    make_pair,
    others,
    queue,
    state_of,
    statuses,
    upkeep,
)
from engine_rig import START_MS, Rig, differences, error_of

from core.engine.conflicts import ReviewChores
from core.errors import Code
from core.intake.transaction.sources import refresh_trust
from core.types.replies import WaitingKind
from core.types.reviews import Decision, HoldRequest
from core.types.values import OWNER_ACTOR, Action, Source, Status
from core.types.views import Revision

# ---- what closes by itself


def unsure(rig: Rig, name: str) -> Any:
    """Two that both stand, and a doubt about them."""
    return make_pair(
        rig,
        have(f"{name} one.", None, source=Source.INFERENCE),
        came(f"{name} two.", None, status=Status.ACTIVE),
        kind="classification",
        suggestion=Action.SUPERSEDE,
    )


def test_a_row_whose_target_changed_is_not_shown_and_closes_with_a_note(rig: Rig) -> None:
    pair = unsure(rig, "Ada")
    rig.write(lambda tx: tx.update("memories", {"id": pair.have}, {"status": "consolidated"}))
    assert queue(rig).rows == ()
    assert rig.engine.conflicts.count_waiting().result(10)[WaitingKind.REVIEWS] == 0
    assert item(rig, pair.item).state == "moot"
    assert error_of(rig.engine.conflicts.resolve(pair.item, Decision(Action.REJECT))).code is Code.INVALID_INPUT
    assert upkeep(rig) == 1
    assert state_of(rig, pair.item) == ("moot", None, "lapsed")
    (row,) = rig.engine.conflicts.list_closed().result(10)
    assert row.note == "One of the two changed or is no longer active."
    assert queue(rig).closed == 1


def test_what_closed_itself_is_a_question_again_when_its_memories_are(rig: Rig) -> None:
    pair = unsure(rig, "Ada")
    rig.write(lambda tx: tx.update("memories", {"id": pair.have}, {"status": "consolidated"}))
    upkeep(rig)
    rig.write(lambda tx: tx.update("memories", {"id": pair.have}, {"status": "active"}))
    assert upkeep(rig) == 1
    assert state_of(rig, pair.item) == ("open", None, None)


def test_closing_itself_is_no_step_and_stands_in_no_undos_way(rig: Rig) -> None:
    pair = unsure(rig, "Ada")
    step = rig.value("SELECT id FROM undo_steps ORDER BY rowid DESC LIMIT 1")
    other = rig.store("Something else.").memory_id
    rig.write(lambda tx: tx.update("memories", {"id": pair.have}, {"status": "consolidated"}))
    upkeep(rig)
    rig.write(lambda tx: tx.update("memories", {"id": pair.have}, {"status": "active"}))
    assert state_of(rig, pair.item)[0] == "moot"
    report = rig.undo(step)
    assert report.left == ()
    assert rig.rows("SELECT id FROM memories") == [(other,)]
    assert rig.value("SELECT count(*) FROM conflicts") == 0


def test_old_questions_that_harm_nobody_expire_but_never_those_with_the_persons_word(rig: Rig) -> None:
    old = START_MS - 200 * DAY_MS
    mine = make_pair(rig, opened_ms=old)
    quiet = make_pair(rig, *others("One"), opened_ms=old)
    used_old, used_new = others("Two")
    used = make_pair(rig, have(used_old.text, None, source=Source.INFERENCE, recalled=500), used_new, opened_ms=old)
    vouched = make_pair(rig, *others("Four"), opened_ms=old)
    rig.engine.memories.confirm(str(vouched.have), OWNER_ACTOR).result(10)
    young = make_pair(rig, *others("Three"), opened_ms=START_MS - 80 * DAY_MS)
    assert upkeep(rig) == 0
    assert upkeep(rig, expiry=True) == 1
    asked = (mine, quiet, used, young, vouched)
    assert [state_of(rig, pair.item)[0] for pair in asked] == ["open", "moot", "open", "open", "open"]
    assert statuses(rig, quiet.came) == ["quarantined"]  # nothing was decided about it
    assert item(rig, quiet.item).closed.startswith("It waited ninety days")


@pytest.mark.parametrize("kind", ["classification", "quarantine"])
def test_a_question_about_the_persons_own_text_never_expires(rig: Rig, kind: str) -> None:
    said = came("Wien is where I live.", None, source=Source.USER_IMPLICIT)
    mine = make_pair(rig, have("One.", None, source=Source.INFERENCE), said, kind=kind, opened_ms=0)
    assert upkeep(rig, expiry=True) == 0
    assert state_of(rig, mine.item)[0] == "open"


def test_the_upkeep_looks_only_where_something_changed(rig: Rig) -> None:
    tending = ReviewChores()
    pair = unsure(rig, "Ada")
    tending.run(rig.opened.storage, rig.opened.search)
    seq = tending.seq
    assert seq == rig.value("SELECT seq FROM vault_state")
    rig.write(lambda tx: tx.update("memories", {"id": pair.have}, {"status": "consolidated"}))
    tending.run(rig.opened.storage, rig.opened.search)
    assert state_of(rig, pair.item)[0] == "open"  # not twice within five seconds
    tending.looked_at = None
    tending.run(rig.opened.storage, rig.opened.search)
    assert state_of(rig, pair.item)[0] == "moot"


# ---- holding a source


def test_holding_a_source_holds_what_was_derived_from_it(rig: Rig) -> None:
    client = rig.client("bad", "read", "write")
    ids = [rig.store(f"Fact {n}.", client).memory_id for n in range(3)]
    digest = rig.store("A digest of them.").memory_id
    apart = rig.store("Nothing to do with it.").memory_id

    def derive(tx: Any) -> None:
        tx.update("memories", {"id": digest}, {"space_id": "GLOBAL"})
        space = tx.value("SELECT space_id FROM memories WHERE id = ?", (ids[0],))
        row = {"derived_id": digest, "source_id": ids[0], "space_id": space, "recorded_at": tx.now_ms}
        tx.insert("derivations", row)
        refresh_trust(tx, digest)

    rig.write(derive)
    before = rig.dump()
    request = HoldRequest("client", "bad")
    told = rig.engine.conflicts.hold_preview(request).result(10)
    assert (told.memories, told.derived, dict(told.kinds)) == (4, 1, {"fact": 4})
    assert differences(before, rig.dump()) == {}
    held = rig.engine.conflicts.hold_source(request).result(10)
    assert set(held.ids) == {*ids, digest}
    assert statuses(rig, *ids, digest, apart) == ["quarantined"] * 4 + ["active"]
    assert len(held.items) == 4
    assert held.label == "Hold back 4 memories from one source"
    assert rig.found("fact digest") == []
    rig.undo()
    rig.settle()
    assert differences(before, rig.dump()) == {}


@pytest.mark.parametrize(("by", "code"), [("memory", Code.NOT_FOUND), ("planet", Code.INVALID_INPUT)])
def test_a_source_that_brought_nothing_is_said_in_words(rig: Rig, by: str, code: Code) -> None:
    assert error_of(rig.engine.conflicts.hold_preview(HoldRequest(by, "x"))).code is code
    assert error_of(rig.engine.conflicts.hold_source(HoldRequest(by, "x"))).code is code


def test_a_source_is_held_once(rig: Rig) -> None:
    one = rig.store("Alone.").memory_id
    rig.engine.conflicts.hold_source(HoldRequest("memory", one)).result(10)
    assert error_of(rig.engine.conflicts.hold_source(HoldRequest("memory", one))).code is Code.INVALID_INPUT
    assert rig.engine.conflicts.hold_preview(HoldRequest("memory", one)).result(10).memories == 0
    (row,) = queue(rig).rows
    decide(rig, row.id, Action.SUPERSEDE)
    assert statuses(rig, one) == ["active"]


def test_what_was_rejected_once_is_asked_about_again_when_it_is_held_again(rig: Rig) -> None:
    one = rig.store("Alone.").memory_id
    (first,) = rig.engine.conflicts.hold_source(HoldRequest("memory", one)).result(10).items
    decide(rig, first, Action.REJECT)
    rig.engine.library.revise_memories([one], Revision(status=Status.ACTIVE)).result(10)
    (again,) = rig.engine.conflicts.hold_source(HoldRequest("memory", one)).result(10).items
    assert again != first
    assert [row.id for row in queue(rig).rows] == [again]


@pytest.mark.slow
def test_more_than_fifty_of_a_source_come_back_in_the_library(rig: Rig) -> None:
    client = rig.client("bad", "read", "write")
    ids = [rig.store(f"Fact {n}.", client).memory_id for n in range(51)]
    assert rig.engine.conflicts.hold_source(HoldRequest("client", "bad")).result(10).items == ()
    report = rig.engine.library.revise_memories(ids, Revision(status=Status.ACTIVE)).result(10)
    assert (report.changed, report.refused) == (51, {})
    assert set(statuses(rig, *ids)) == {"active"}


def test_no_words_of_a_memory_are_in_the_audit(rig: Rig) -> None:
    pair = make_pair(rig, have("Quittenmarmelade Graz.", None), came("Quittenmarmelade Wien.", None))
    decide(rig, pair.item, Action.SCOPE_SPLIT, when="Quittenmarmelade")
    audit, labels = rig.rows("SELECT verb, object, detail FROM audit"), rig.rows("SELECT label FROM undo_steps")
    assert "Quitten" not in json.dumps([*audit, *labels])
