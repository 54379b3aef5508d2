"""Changing memories: what each field does, what is refused and why, and that one undo takes all of it back."""

from __future__ import annotations

import json
from typing import Any

import pytest
from engine_rig import START_MS, Rig, differences, error_of, refused

from core.errors import Code
from core.intake.revise.revision import label_revision_step
from core.intake.revise.revision_plan import (
    ARCHIVED,
    AT_ODDS,
    EARLIER,
    FORGOTTEN,
    GONE,
    NEWER,
    OLD_VERSION,
    PART,
    TIED,
    TWIN,
    UNDECIDED,
    WAITING,
)  # fmt: skip
from core.types.values import OWNER_ACTOR, Kind, Precision, Source, Status, When
from core.types.views import FindRequest, Revision, RevisionReport
from core.vault.database.tx import Tx

DAY = 86_400_000
OLD, NEW = "The harbour master is called Ossian", "The harbour master is called Priyanka"


def revise(rig: Rig, *ids: str, **changes: Any) -> RevisionReport:
    report = rig.engine.library.revise_memories(ids, Revision(**changes)).result(30)
    rig.settle()
    return report


def listed(rig: Rig, query: str) -> list[str]:
    return list(rig.engine.library.find_memories(FindRequest(query, descending=False)).result(30).ids)


def place(rig: Rig, memory_id: str) -> None:
    def write(tx: Tx) -> None:
        space = tx.value("SELECT space_id FROM memories WHERE id = ?", (memory_id,))
        tx.insert("rooms", {"id": "r1", "space_id": space, "name": "Room", "made_by": "owner", "created_at": 0})
        tx.insert("places", {"memory_id": memory_id, "room_id": "r1", "x": 1.0, "y": 2.0, "placed_by": "owner"})

    rig.write(write)


def edge(rig: Rig, from_id: str, to_id: str) -> None:
    def write(tx: Tx) -> None:
        space = tx.value("SELECT space_id FROM memories WHERE id = ?", (from_id,))
        row = {"id": f"e-{from_id}", "from_id": from_id, "to_id": to_id, "type": "related_to", "space_id": space}
        tx.insert("edges", {**row, "made_by": "owner", "recorded_at": 0})

    rig.write(write)


def test_an_edited_text_is_a_new_version_and_the_old_one_stays_in_the_chain(rig: Rig) -> None:
    rig.bring([{"text": OLD, "kind": "fact", "tags": ["crew"], "importance": 0.8}])
    (old_id,) = listed(rig, "")
    revise(rig, old_id, pinned=True)
    rig.clock.advance(DAY)  # type: ignore[attr-defined]  # the widget or clock of this test has it
    report = revise(rig, old_id, text=NEW)
    (new_id,) = report.ids
    assert (report.label, report.changed, report.refused) == ("Edit a memory", 1, {})
    old, new = rig.get(old_id), rig.get(new_id)
    assert (old.status, old.status_reason, old.retired_at) == (Status.SUPERSEDED, "edited", START_MS + DAY)
    assert (old.text, old.superseded_by_id) == (OLD, new_id)
    assert (new.text, new.status, new.supersedes_id, new.version) == (NEW, Status.ACTIVE, old_id, 2)
    assert new.chain_id == old.chain_id
    assert (new.source, new.trust, new.recorded_at) == (Source.USER_EXPLICIT, 1.0, START_MS + DAY)
    assert (new.tags, new.importance, new.pinned) == (("crew",), 0.8, True)
    assert rig.found("harbour master Priyanka") == [NEW]
    assert rig.found("Ossian") in ([], [NEW])
    versions = rig.engine.memories.list_versions(new_id, OWNER_ACTOR).result(30)
    assert [memory.text for memory in versions] == [OLD, NEW]
    assert listed(rig, "is:edited") == [new_id]


def test_the_age_of_an_edit_counts_from_the_edit(rig: Rig) -> None:
    old_id = rig.store(OLD, occurred=When(START_MS - 900 * DAY)).memory_id
    assert rig.engine.memories.explain_trust(old_id).result(30).inputs.age_days
    (new_id,) = revise(rig, old_id, text=NEW).ids
    told = rig.engine.memories.explain_trust(new_id).result(30)
    assert (told.inputs.age_days, told.inputs.edited, told.inputs.confirmed) == (0, True, False)
    assert rig.get(new_id).trust == 1.0
    rig.clock.advance(400 * DAY)  # type: ignore[attr-defined]  # the widget or clock of this test has it
    later = rig.engine.memories.explain_trust(new_id).result(30)
    assert later.inputs.age_days == 400
    assert sum(step.change for step in later.steps) == pytest.approx(0.9)


def test_an_edit_is_taken_back_whole(rig: Rig) -> None:
    talk = [{"text": f"{OLD}, number {n}", "session": "s", "author": "assistant"} for n in range(3)]
    rig.bring(talk)
    first, middle, last = listed(rig, "")
    place(rig, middle)
    edge(rig, middle, last)
    edge(rig, first, middle)
    rig.settle()
    before = rig.dump()
    report = revise(rig, middle, text=NEW)
    (new_id,) = report.ids
    moved = rig.get(new_id)
    assert (moved.position, moved.conversation_id, moved.kind) == (1, rig.get(first).conversation_id, Kind.EPISODE)
    assert rig.rows("SELECT memory_id, x, y FROM places") == [(new_id, 1.0, 2.0)]
    ends = rig.rows("SELECT from_id, to_id FROM edges WHERE ? IN (from_id, to_id)", new_id)
    assert sorted(ends) == sorted([(new_id, last), (first, new_id)])
    taken = rig.undo(report.step_id)
    assert taken.left == ()
    assert not differences(before, rig.dump())
    assert rig.found("harbour master Ossian number 1")[0] == f"{OLD}, number 1"
    assert rig.texts() == [row["text"] for row in talk]
    rig.undo(taken.undo_step_id)
    assert NEW in rig.texts()
    assert rig.found("harbour master Priyanka")[0] == NEW
    assert rig.rows("SELECT memory_id FROM places") == [(new_id,)]
    assert rig.verify()["status"] == "ok"


def test_a_draft_claim_stays_with_the_words_it_was_read_from(rig: Rig) -> None:
    claim = {"subject": "harbour", "predicate": "run_by", "value": "Ossian"}
    old_id = rig.store(OLD, claim=claim).memory_id
    (new_id,) = revise(rig, old_id, text=NEW).ids
    assert rig.engine.memories.show(new_id, OWNER_ACTOR).result(30).claims == ()
    assert len(rig.engine.memories.show(old_id, OWNER_ACTOR).result(30).claims) == 1


def test_a_rule_keeps_its_own_record_and_a_client_no_ceiling(rig: Rig) -> None:
    helper = rig.client("helper", "read", "write")
    old_id = rig.store("Always knot twice", helper, kind=Kind.RULE).memory_id
    rig.write(lambda tx: tx.insert("rules", {"memory_id": old_id, "maturity": "proven", "helpful": 4}))
    (new_id,) = revise(rig, old_id, text="Always knot three times", importance=0.9).ids
    assert rig.rows("SELECT maturity, helpful FROM rules WHERE memory_id = ?", new_id) == [("proven", 4)]
    assert (rig.get(new_id).trust, rig.get(new_id).client_id, rig.get(new_id).importance) == (1.0, None, 0.9)
    assert rig.get(old_id).importance == 0.5


def test_a_text_is_not_edited_into_nothing_or_into_another_memory(rig: Rig) -> None:
    first, second = rig.store(OLD).memory_id, rig.store(NEW).memory_id
    report = revise(rig, first, text=NEW)
    assert (report.step_id, report.refused) == (None, {TWIN: 1})
    assert revise(rig, first, text=OLD).changed == 0
    for wrong in ("  ", "a\0b"):
        with refused(Code.INVALID_INPUT):
            rig.engine.library.revise_memories([first], Revision(text=wrong))
    with refused(Code.TEXT_TOO_LARGE):
        rig.engine.library.revise_memories([first], Revision(text="long enough. " * 1000))
    with refused(Code.INVALID_INPUT):
        rig.engine.library.revise_memories([first, second], Revision(text="both"))
    assert error_of(rig.engine.library.revise_memories(["nobody"], Revision(text="x"))).code is Code.NOT_FOUND
    assert rig.texts() == [OLD, NEW]


def test_a_part_of_a_long_text_is_not_edited_and_moves_with_the_others(rig: Rig) -> None:
    rig.store("This sentence is one of very many. " * 600)
    parts = listed(rig, "is:split")
    assert len(parts) > 2
    assert revise(rig, parts[1], text="short").refused == {PART: len(parts)}
    report = revise(rig, parts[1], space="work")
    assert sorted(report.ids) == sorted(parts)
    assert listed(rig, "space:work") == parts


def test_many_change_in_one_step_with_one_name(rig: Rig) -> None:
    ids = [rig.store(f"Fact number {n}").memory_id for n in range(5)]
    rig.settle()
    before = rig.dump()
    report = revise(rig, *ids, space="Boat shed")
    assert (report.label, report.changed, report.ids) == ("Move 5 memories to Boat shed", 5, tuple(ids))
    assert listed(rig, 'space:"boat shed"') == ids
    assert rig.value("SELECT count(*) FROM undo_steps WHERE label = ?", report.label) == 1
    again = revise(rig, *ids, space="Boat shed")
    assert (again.step_id, again.changed) == (None, 0)
    rig.undo(report.step_id)
    assert not differences(before, rig.dump())


def test_a_move_leaves_the_room_of_the_old_wing(rig: Rig) -> None:
    memory_id = rig.store(OLD).memory_id
    place(rig, memory_id)
    revise(rig, memory_id, space="work")
    assert rig.rows("SELECT 1 FROM places") == []
    rig.undo()
    assert rig.rows("SELECT memory_id, room_id FROM places") == [(memory_id, "r1")]


def test_relations_claims_and_twins_hold_a_memory_in_its_space(rig: Rig) -> None:
    a, b = rig.store("One end").memory_id, rig.store("Other end").memory_id
    edge(rig, a, b)
    claimed = rig.store(OLD, claim={"subject": "h", "predicate": "p", "value": "v"}).memory_id
    twin = rig.store(NEW).memory_id
    rig.store(NEW, space="work")
    free = rig.store("Free to go").memory_id
    wanted = (a, b, claimed, twin, free, "nobody")
    plan = rig.engine.library.preview_revision(wanted, Revision(space="work")).result(30)
    report = revise(rig, *wanted, space="work")
    assert report.refused == plan.refused == {TIED: 3, TWIN: 1, GONE: 1}
    assert report.ids == (free,)
    assert revise(rig, a, space="GLOBAL").changed == 1  # everything may go there


def test_two_memories_of_the_same_words_do_not_both_move(rig: Rig) -> None:
    ids = [rig.store(OLD, space=space).memory_id for space in ("north", "south")]
    report = revise(rig, *ids, space="harbour")
    assert (report.ids, report.refused) == ((ids[0],), {TWIN: 1})


def test_archiving_forgetting_and_bringing_back(rig: Rig) -> None:
    memory_id = rig.store(OLD).memory_id
    assert revise(rig, memory_id, status=Status.ARCHIVED).label == "Archive a memory"
    assert (rig.get(memory_id).status, rig.get(memory_id).retired_at) == (Status.ARCHIVED, START_MS)
    assert revise(rig, memory_id, text=NEW).refused == {ARCHIVED: 1}
    assert revise(rig, memory_id, status=Status.DELETED).label == "Forget a memory"
    assert rig.found("harbour master") == []
    assert revise(rig, memory_id, pinned=True).refused == {FORGOTTEN: 1}
    assert revise(rig, memory_id, status=Status.ACTIVE).label == "Bring back a memory"
    back = rig.get(memory_id)
    assert (back.status, back.status_reason, back.retired_at) == (Status.ACTIVE, None, None)
    assert rig.found("harbour master") == [OLD]


def test_an_older_version_does_not_come_back_beside_the_newer(rig: Rig) -> None:
    old_id = rig.store(OLD).memory_id
    revise(rig, old_id, text=NEW)
    assert revise(rig, old_id, status=Status.ACTIVE).refused == {NEWER: 1}
    assert revise(rig, old_id, add_tags=("x",)).refused == {OLD_VERSION: 1}
    revise(rig, old_id, status=Status.DELETED)
    assert revise(rig, old_id, status=Status.ACTIVE).refused == {NEWER: 1}


def test_what_stands_again_meanwhile_keeps_the_forgotten_one_away(rig: Rig) -> None:
    memory_id = rig.store(OLD).memory_id
    rig.forget(memory_id)
    rig.store(OLD)
    assert revise(rig, memory_id, status=Status.ACTIVE).refused == {TWIN: 1}


def test_a_proposal_does_not_slip_past_the_review(rig: Rig) -> None:
    helper = rig.client("helper", "read", "propose")
    memory_id = rig.store(OLD, helper).memory_id
    assert revise(rig, memory_id, status=Status.ACTIVE).refused == {WAITING: 1}
    assert revise(rig, memory_id, text=NEW).refused == {WAITING: 1}
    revise(rig, memory_id, status=Status.DELETED)
    assert rig.rows("SELECT state FROM conflicts") == [("moot",)]
    assert revise(rig, memory_id, status=Status.ACTIVE).refused == {UNDECIDED: 1}
    rig.undo()
    assert rig.rows("SELECT state FROM conflicts") == [("open",)]
    assert rig.get(memory_id).status is Status.QUARANTINED


def lives_in(town: str) -> dict[str, Any]:
    return {"subject": "user", "predicate": "lives_in", "value": town, "exclusive": True}


def test_what_is_brought_back_passes_the_gate(rig: Rig) -> None:
    graz = rig.store("Graz it is", claim=lives_in("Graz"), occurred=When(START_MS - DAY)).memory_id
    aside = rig.store("The harbour is blue").memory_id
    revise(rig, graz, aside, status=Status.ARCHIVED)
    wien = rig.store("Wien it is", claim=lives_in("Wien")).memory_id
    before = rig.dump()
    report = revise(rig, graz, aside, status=Status.ACTIVE)
    assert (report.changed, report.refused) == (1, {EARLIER: 1})
    assert [rig.get(one).status.value for one in (graz, aside, wien)] == ["superseded", "active", "active"]
    assert rig.rows("SELECT value FROM claims WHERE state = 'asserted'") == [("Wien",)]
    rig.undo()
    rig.settle()
    assert differences(before, rig.dump()) == {}


def test_what_comes_back_together_is_judged_together(rig: Rig) -> None:
    ids = []
    for town in ("Graz", "Wien"):
        ids.append(rig.store(f"{town} it is", claim=lives_in(town)).memory_id)
        revise(rig, ids[-1], status=Status.ARCHIVED)
        rig.clock.advance(DAY)  # type: ignore[attr-defined]  # the widget or clock of this test has it
    report = revise(rig, *ids, status=Status.ACTIVE)
    assert (report.changed, report.refused) == (1, {EARLIER: 1})
    assert [rig.get(one).status.value for one in ids] == ["superseded", "active"]


def test_a_client_s_text_that_comes_back_against_the_persons_word_is_a_question(rig: Rig) -> None:
    helper = rig.client("helper", "read", "write", "space:home")
    wien = rig.store("Wien it is", helper, space="home", claim=lives_in("Wien")).memory_id
    revise(rig, wien, status=Status.ARCHIVED)
    graz = rig.store("Graz it is", claim=lives_in("Graz")).memory_id
    report = revise(rig, wien, status=Status.ACTIVE)
    assert (report.changed, report.refused) == (0, {AT_ODDS: 1})
    assert [rig.get(one).status.value for one in (wien, graz)] == ["quarantined", "active"]
    assert rig.rows("SELECT incoming_id, existing_id FROM conflicts WHERE state = 'open'") == [(wien, graz)]


def test_what_is_held_back_and_no_question_any_more_can_be_brought_back(rig: Rig) -> None:
    helper = rig.client("helper", "read", "propose", "space:home")
    ids = [rig.store(text, helper, space="home").memory_id for text in (OLD, "The quay is red")]
    item = rig.value("SELECT id FROM conflicts WHERE incoming_id = ?", ids[0])
    rig.write(lambda tx: tx.update("conflicts", {"id": item}, {"state": "moot", "note": "expired"}))
    report = revise(rig, *ids, status=Status.ACTIVE)
    assert (report.changed, report.refused) == (1, {WAITING: 1})
    assert [rig.get(one).status.value for one in ids] == ["active", "quarantined"]


def test_tags_and_times_are_found_at_once_and_trust_follows(rig: Rig) -> None:
    memory_id = rig.store(OLD, tags=("crew", "old")).memory_id
    rig.clock.advance(1000 * DAY)  # type: ignore[attr-defined]  # the widget or clock of this test has it
    report = revise(rig, memory_id, add_tags=("quay", "crew"), remove_tags=("old",))
    assert (report.label, rig.get(memory_id).tags) == ("Tag a memory", ("crew", "quay"))
    assert listed(rig, "quay") == [memory_id]
    revise(rig, memory_id, occurred=When(START_MS - 2000 * DAY, Precision.MONTH, 60))
    memory = rig.get(memory_id)
    assert memory.occurred == When(START_MS - 2000 * DAY, Precision.MONTH, 60)
    assert memory.trust == pytest.approx(0.9)
    assert listed(rig, "May 2018") == [memory_id]
    rig.undo()
    assert listed(rig, "May 2018") == []


def test_kind_category_and_importance(rig: Rig) -> None:
    memory_id = rig.store(OLD).memory_id
    report = revise(rig, memory_id, kind=Kind.RULE, category="crew", importance=0.25)
    assert report.label == "Change a memory"
    memory = rig.get(memory_id)
    assert (memory.kind, memory.category, memory.importance) == (Kind.RULE, "crew", 0.25)
    assert listed(rig, "kind:rule category:crew importance:<0.3") == [memory_id]


@pytest.mark.parametrize(
    "changes",
    [
        {"status": Status.SUPERSEDED}, {"kind": Kind.DIGEST}, {"importance": 1.5}, {"space": " work"},
        {"category": " "}, {"add_tags": ("a\0",)}, {"text": "x", "status": Status.ACTIVE},
    ],
)  # fmt: skip
def test_a_change_without_sense_is_refused_before_anything_is_written(rig: Rig, changes: dict[str, Any]) -> None:
    memory_id = rig.store(OLD).memory_id
    before = rig.dump()
    with refused(Code.INVALID_INPUT):
        rig.engine.library.revise_memories([memory_id], Revision(**changes))
    assert error_of(rig.engine.library.preview_revision([memory_id], Revision(**changes))).code is Code.INVALID_INPUT
    assert not differences(before, rig.dump())


@pytest.mark.slow
def test_a_preview_tells_what_would_change_and_changes_nothing(rig: Rig) -> None:
    ids = [rig.store(f"Fact number {n}", tags=("even",) * (n % 2 == 0)).memory_id for n in range(30)]
    before = rig.dump()
    plan = rig.engine.library.preview_revision(ids, Revision(add_tags=("even",))).result(30)
    assert (plan.changes, plan.unchanged, plan.refused, len(plan.examples)) == (15, 15, {}, 15)
    assert plan.examples[0] == (ids[1], "Fact number 1", "", "even")
    both = rig.engine.library.preview_revision(
        ids, Revision(pinned=True, space="work", occurred=When(0, Precision.YEAR))
    )
    assert len(both.result(30).examples) == 20
    assert both.result(30).examples[0][2:] == (
        "space: home; pinned: not pinned; time: 2023-11-14T22:13:20.000Z",
        "space: work; pinned: pinned; time: 1970",
    )
    text = rig.engine.library.preview_revision(ids[:1], Revision(text=NEW)).result(30)
    assert text.examples == ((ids[0], "Fact number 0", "Fact number 0", NEW),)
    assert not differences(before, rig.dump())


@pytest.mark.parametrize(
    ("changes", "count", "label"),
    [
        ({"text": "x"}, 1, "Edit a memory"),
        ({"pinned": True}, 3, "Pin 3 memories"),
        ({"pinned": False}, 1, "Unpin a memory"),
        ({"remove_tags": ("a",)}, 2, "Untag 2 memories"),
        ({"occurred": When(0)}, 2, "Set the time of 2 memories"),
        ({"importance": 0.5}, 1200, "Set the importance of 1,200 memories"),
    ],
)
def test_labels(changes: dict[str, Any], count: int, label: str) -> None:
    assert label_revision_step(Revision(**changes), count) == label


def test_neither_audit_nor_label_holds_a_text(rig: Rig) -> None:
    ids = [rig.store(f"Secret {n}").memory_id for n in range(2)]
    revise(rig, *ids, add_tags=("quay",), category="crew")
    revise(rig, ids[0], text="Another secret")
    said = json.dumps(rig.rows("SELECT object, detail FROM audit")) + json.dumps(
        rig.rows("SELECT label FROM undo_steps")
    )
    assert "ecret" not in said
    assert "quay" not in said
    detail = json.loads(rig.value("SELECT detail FROM audit WHERE verb = 'revise' ORDER BY nr LIMIT 1"))
    assert (detail["memories"], detail["fields"]) == (2, ["category", "tags"])
