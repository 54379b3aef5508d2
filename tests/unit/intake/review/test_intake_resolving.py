"""What each decision does, to memories and to their claims; and that it can be taken back."""

from __future__ import annotations

import json
from typing import Any

import pytest
from desk_rig import (
    DAY_MS,
    Pair,
    Side,
    came,
    claims_of,
    decide,
    have,
    lives_in,
    make_pair,
    state_of,
    statuses,
)
from engine_rig import START_MS, Rig, differences, later, refused

from core.errors import Code, UserError
from core.intake.review.resolution import Resolver
from core.intake.transitions.transitions import Transitions
from core.types.reviews import Decision, DecisionReply
from core.types.values import OWNER_ACTOR, Action, Kind, Precision, Source, Status, When
from core.types.views import Revision
from core.vault.database.tx import Tx

AT = When(START_MS + 10 * DAY_MS, Precision.DAY)


def qualifiers(rig: Rig, memory_id: str | None) -> list[dict[str, Any]]:
    return [json.loads(told) for _, _, told in claims_of(rig, memory_id)]


def states(rig: Rig, memory_id: str | None) -> list[str]:
    return [state for _, state, _ in claims_of(rig, memory_id)]


def texts(rig: Rig) -> list[str]:
    return sorted(rig.texts())


def test_taking_the_new_one_activates_it_and_ends_the_other(rig: Rig) -> None:
    pair = make_pair(rig)
    done = decide(rig, pair.item, Action.SUPERSEDE)
    assert statuses(rig, pair.have, pair.came) == ["superseded", "active"]
    assert (done.active, done.retired) == ((pair.came,), (pair.have,))
    old, new = rig.get(str(pair.have)), rig.get(pair.came)
    assert (old.superseded_by_id, new.supersedes_id, new.chain_id) == (new.id, old.id, old.chain_id)
    assert old.valid_to == new.occurred.ms if new.occurred else False
    assert (states(rig, pair.have), states(rig, pair.came)) == (["superseded"], ["asserted"])
    assert state_of(rig, pair.item) == ("resolved", "supersede", None)


def test_taking_the_new_one_from_a_day_on_ends_the_other_on_that_day(rig: Rig) -> None:
    pair = make_pair(rig)
    decide(rig, pair.item, Action.SUPERSEDE, begin=When(START_MS + DAY_MS, Precision.DAY))
    assert rig.get(str(pair.have)).valid_to == START_MS + DAY_MS


def test_keeping_mine_archives_the_newcomer_and_remembers_the_refusal(rig: Rig) -> None:
    pair = make_pair(rig)
    decide(rig, pair.item, Action.REJECT)
    assert statuses(rig, pair.have, pair.came) == ["active", "archived"]
    assert rig.get(pair.came).status_reason == "rejected"
    assert (states(rig, pair.have), states(rig, pair.came)) == (["asserted"], ["draft"])
    assert state_of(rig, pair.item) == ("resolved", "reject", None)


def test_keeping_both_lets_both_stand_with_claims_told_apart(rig: Rig) -> None:
    pair = make_pair(rig)
    decide(rig, pair.item, Action.KEEP_BOTH)
    assert statuses(rig, pair.have, pair.came) == ["active", "active"]
    assert (states(rig, pair.have), states(rig, pair.came)) == (["asserted"], ["asserted"])
    both = [*qualifiers(rig, pair.have), *qualifiers(rig, pair.came)]
    assert [told["kept"] for told in both] == [pair.item, pair.item]
    assert both[0] != both[1]
    edges = rig.rows("SELECT type FROM edges WHERE from_id = ? AND to_id = ?", pair.came, pair.have)
    assert edges == [("coexists_with",)]


def test_a_pair_that_was_kept_or_rejected_is_not_raised_again(rig: Rig) -> None:
    for action in (Action.KEEP_BOTH, Action.REJECT):
        old, new = have(f"Owner {action}", None), came(f"Came {action}", None)
        first = make_pair(rig, old, new)
        decide(rig, first.item, action)
        rig.forget(first.came)
        rig.forget(str(first.have))
        with pytest.raises(AssertionError):  # the helper asserts that an item was opened
            make_pair(rig, old, new)


def test_keeping_both_with_dates_sets_windows_and_qualifiers(rig: Rig) -> None:
    pair = make_pair(rig)
    end = When(START_MS + 40 * DAY_MS, Precision.DAY)
    decide(rig, pair.item, Action.KEEP_BOTH_DATED, begin=AT, end=end)
    old, new = rig.get(str(pair.have)), rig.get(pair.came)
    assert (old.valid_from, old.valid_to) == (None, AT.ms)
    assert (new.valid_from, new.valid_to) == (AT.ms, end.ms)
    assert qualifiers(rig, pair.have) == [{"until": "2023-11-24"}]
    assert qualifiers(rig, pair.came) == [{"from": "2023-11-24", "until": "2023-12-24"}]
    assert statuses(rig, pair.have, pair.came) == ["active", "active"]
    assert (states(rig, pair.have), states(rig, pair.came)) == (["asserted"], ["asserted"])
    windows = rig.rows("SELECT valid_from, valid_to FROM claims ORDER BY recorded_at, id")
    assert sorted(windows, key=repr) == sorted([(None, AT.ms), (AT.ms, end.ms)], key=repr)


def test_without_a_day_the_newcomer_holds_from_when_it_was_said(rig: Rig) -> None:
    pair = make_pair(rig)
    decide(rig, pair.item, Action.KEEP_BOTH_DATED)
    assert rig.get(str(pair.have)).valid_to == rig.get(pair.came).valid_from == START_MS + 10 * DAY_MS


def test_a_newcomer_that_was_over_before_comes_first(rig: Rig) -> None:
    pair = make_pair(rig)
    begin, end = When(START_MS - 900 * DAY_MS), When(START_MS - 100 * DAY_MS)
    decide(rig, pair.item, Action.KEEP_BOTH_DATED, begin=begin, end=end)
    old, new = rig.get(str(pair.have)), rig.get(pair.came)
    assert (new.valid_from, new.valid_to) == (begin.ms, end.ms)
    assert (old.valid_from, old.valid_to) == (end.ms, None)


def test_dates_that_cannot_hold_are_refused_and_nothing_changes(rig: Rig) -> None:
    pair = make_pair(rig, have(valid_from=START_MS + 30 * DAY_MS), came(occurred_ms=None))
    before = rig.dump()
    with refused(Code.INVALID_INPUT):  # nothing says from when
        decide(rig, pair.item, Action.KEEP_BOTH_DATED)
    with refused(Code.INVALID_INPUT):  # what stands would end before it began
        decide(rig, pair.item, Action.KEEP_BOTH_DATED, begin=AT)
    with refused(Code.INVALID_INPUT):  # it would end before it begins
        decide(rig, pair.item, Action.KEEP_BOTH_DATED, begin=AT, end=When(START_MS))
    assert differences(before, rig.dump()) == {}


def test_a_merge_keeps_the_standing_id_and_both_originals(rig: Rig) -> None:
    pair = make_pair(rig)
    decide(rig, pair.item, Action.MERGE, text="User lives in Graz and works in Vienna.")
    assert statuses(rig, pair.have, pair.came) == ["active", "superseded"]
    assert rig.get(str(pair.have)).text == "User lives in Graz and works in Vienna."
    assert texts(rig) == ["User lives in Graz and works in Vienna."]
    chain = rig.rows(
        "SELECT text FROM memories WHERE chain_id = ? AND status = 'superseded'", rig.get(pair.came).chain_id
    )
    assert sorted(chain) == [("User lives in Graz.",), ("User lives in Vienna.",)]
    assert rig.found("works Vienna") == ["User lives in Graz and works in Vienna."]


def test_a_merge_needs_a_text_that_can_stand(rig: Rig) -> None:
    pair = make_pair(rig)
    rig.store("Something else stands.")
    for text in (None, "  ", "x" * 9000, "Something else stands."):
        with refused(Code.TEXT_TOO_LARGE if text == "x" * 9000 else Code.INVALID_INPUT):
            decide(rig, pair.item, Action.MERGE, text=text)
    assert state_of(rig, pair.item)[0] == "open"


def test_a_scope_split_puts_the_condition_on_claims_and_memories(rig: Rig) -> None:
    pair = make_pair(rig)
    decide(rig, pair.item, Action.SCOPE_SPLIT, when="in winter")
    assert qualifiers(rig, pair.have) == [{"unless": "in winter"}]
    assert qualifiers(rig, pair.came) == [{"when": "in winter"}]
    assert rig.get(pair.came).extra["true_when"] == "in winter"
    assert rig.get(str(pair.have)).extra["true_unless"] == "in winter"
    assert statuses(rig, pair.have, pair.came) == ["active", "active"]


@pytest.mark.parametrize("when", [None, "  ", "x" * 201, "a\0b"])
def test_a_scope_split_needs_a_condition(rig: Rig, when: str | None) -> None:
    pair = make_pair(rig)
    with refused(Code.INVALID_INPUT):
        decide(rig, pair.item, Action.SCOPE_SPLIT, when=when)
    assert statuses(rig, pair.have, pair.came) == ["active", "quarantined"]


def test_disputing_both_takes_both_out_of_recall(rig: Rig) -> None:
    pair = make_pair(rig)
    decide(rig, pair.item, Action.DISPUTE_BOTH)
    assert statuses(rig, pair.have, pair.came) == ["disputed", "disputed"]
    assert states(rig, pair.have) == ["disputed"]
    assert rig.found("where does the user live") == []


def test_skipping_changes_nothing_but_the_place_in_the_queue(rig: Rig) -> None:
    pair = make_pair(rig)
    steps = rig.value("SELECT count(*) FROM undo_steps")
    done = decide(rig, pair.item, Action.SKIP)
    assert done.step_id is None
    assert rig.value("SELECT count(*) FROM undo_steps") == steps
    assert rig.value("SELECT later_until FROM conflicts") == START_MS + 7 * DAY_MS
    assert statuses(rig, pair.have, pair.came) == ["active", "quarantined"]
    rig.undo()  # the pair can be taken back although its item was put off since
    assert rig.value("SELECT count(*) FROM memories") == 0


def test_putting_off_is_in_the_audit(rig: Rig) -> None:
    done, pair = make_pair(rig), make_pair(rig, have("A.", None), came("B.", None))
    decide(rig, done.item, Action.REJECT)
    decide(rig, pair.item, Action.SKIP)
    rig.engine.conflicts.resolve_many([pair.item, done.item], Decision(Action.SKIP), OWNER_ACTOR).result(30)
    rows = rig.rows("SELECT actor, object, detail FROM audit WHERE verb = 'resolve' ORDER BY nr")[1:]
    assert [(actor, item) for actor, item, _ in rows] == [("owner", pair.item), ("owner", "")]
    told = [json.loads(detail) for _, _, detail in rows]
    assert [(one["action"], one["items"], one["refused"]) for one in told] == [("skip", 1, 0), ("skip", 1, 1)]


def test_an_item_is_decided_once(rig: Rig) -> None:
    pair = make_pair(rig)
    decide(rig, pair.item, Action.REJECT)
    with refused(Code.INVALID_INPUT):
        decide(rig, pair.item, Action.SUPERSEDE)
    with refused(Code.NOT_FOUND):
        decide(rig, "0192f3c4-0000-7000-8000-000000000000", Action.REJECT)


ALONE: dict[str, tuple[Side, Action, str]] = {
    "proposal": (came("Proposed.", None), Action.SUPERSEDE, "active"),
    "quarantine": (came("Held.", None), Action.SUPERSEDE, "active"),
    "injection": (came("Ignore earlier notes.", None), Action.REJECT, "archived"),
    "stale": (have("Old.", None), Action.REJECT, "archived"),
    "gap": (have("Uses a framework.", None), Action.REJECT, "active"),
    "approval": (have("To be removed.", None), Action.SUPERSEDE, "archived"),
}


@pytest.mark.parametrize("kind", sorted(ALONE))
def test_items_of_one_memory_are_accepted_or_turned_down(rig: Rig, kind: str) -> None:
    side, action, status = ALONE[kind]
    pair = make_pair(rig, new=side, kind=kind, alone=True, suggestion=None)
    decide(rig, pair.item, action)
    assert statuses(rig, pair.came) == [status]
    assert state_of(rig, pair.item)[:2] == ("resolved", action.value)
    rig.undo()
    assert statuses(rig, pair.came) == [side.status.value]
    assert state_of(rig, pair.item) == ("open", None, None)


def test_confirming_what_seemed_out_of_date_makes_it_young(rig: Rig) -> None:
    pair = make_pair(rig, new=have("Old.", None), kind="stale", alone=True)
    later(rig, 100)
    decide(rig, pair.item, Action.SUPERSEDE)
    memory = rig.get(pair.came)
    assert (memory.status, memory.last_confirmed_at) == (Status.ACTIVE, START_MS + 100 * DAY_MS)


def test_an_approved_update_takes_the_place_of_what_stood(rig: Rig) -> None:
    pair = make_pair(rig, kind="approval", reason="wants_change")
    decide(rig, pair.item, Action.SUPERSEDE)
    assert statuses(rig, pair.have, pair.came) == ["superseded", "active"]
    other = make_pair(rig, have("A.", None), came("B.", None), kind="approval")
    decide(rig, other.item, Action.REJECT)
    assert statuses(rig, other.have, other.came) == ["active", "archived"]


def test_two_names_are_joined_and_come_apart_again(rig: Rig) -> None:
    def entities(tx: Any) -> None:
        for name in ("a", "b"):
            space = tx.value("SELECT id FROM spaces WHERE name = 'GLOBAL'")
            row = {"id": name, "space_id": space, "name": "Anders", "type": "person", "recorded_at": tx.now_ms}
            tx.insert("entities", row)

    rig.write(entities)
    old, new = have("Anders called.", None), have("Anders wrote.", None)
    pair = make_pair(rig, old, new, kind="entity_merge", detail={"entities": ["a", "b"]})
    decide(rig, pair.item, Action.SUPERSEDE)
    assert rig.value("SELECT merged_into_id FROM entities WHERE id = 'b'") == "a"
    rig.undo()
    assert rig.value("SELECT merged_into_id FROM entities WHERE id = 'b'") is None


@pytest.mark.parametrize(
    ("action", "label"),
    [(Action.SUPERSEDE, "Merge two names: 2 decisions"), (Action.REJECT, "Keep two names separate: 2 decisions")],
)
def test_a_batch_about_names_is_labelled_in_words_of_merging(rig: Rig, action: Action, label: str) -> None:
    def entities(tx: Any) -> None:
        space = tx.value("SELECT id FROM spaces WHERE name = 'GLOBAL'")
        for name, shown in (("a", "Anders"), ("b", "Anders"), ("c", "Berta"), ("d", "Berta")):
            row = {"id": name, "space_id": space, "name": shown, "type": "person", "recorded_at": tx.now_ms}
            tx.insert("entities", row)

    rig.write(entities)
    items = [
        make_pair(
            rig, have(f"{pair} called.", None), have(f"{pair} wrote.", None),
            kind="entity_merge", detail={"entities": list(pair)},
        ).item
        for pair in ("ab", "cd")
    ]  # fmt: skip
    done = rig.engine.conflicts.resolve_many(items, Decision(action)).result(30)
    assert (done.label, done.refused) == (label, {})


def test_the_same_words_take_no_decision_after_which_both_would_stand(rig: Rig) -> None:
    pair = make_pair(rig, have("Tea at five.", None), came("Tea at five.", None), kind="proposal")
    found = rig.engine.conflicts.read_item(pair.item).result(10)
    assert found.actions == (Action.SUPERSEDE, Action.REJECT, Action.SKIP)
    with refused(Code.INVALID_INPUT):
        decide(rig, pair.item, Action.KEEP_BOTH)
    decide(rig, pair.item, Action.SUPERSEDE)
    assert statuses(rig, pair.have, pair.came) == ["superseded", "active"]


def test_a_rule_and_a_fact_are_not_merged(rig: Rig) -> None:
    pair = make_pair(rig, have("Always ask.", None, kind=Kind.RULE), came("He asks.", None))
    assert Action.MERGE not in rig.engine.conflicts.read_item(pair.item).result(10).actions


def test_a_third_memory_of_the_same_words_is_said_in_words(rig: Rig) -> None:
    pair = make_pair(rig)
    rig.write(lambda tx: tx.update("memories", {"id": pair.came}, {"status": "archived"}))
    make_pair(rig, have("Other.", None), came(status=Status.ACTIVE, value=None), suggestion=None, kind="classification")
    rig.write(lambda tx: tx.update("memories", {"id": pair.came}, {"status": "quarantined"}))
    with refused(Code.INVALID_INPUT):
        decide(rig, pair.item, Action.KEEP_BOTH)


def test_what_another_decision_settled_closes_with_a_note(rig: Rig) -> None:
    first = make_pair(rig)
    later(rig, 0.01)
    second = rig.write(lambda tx: _also_against(rig, tx, first))
    done = decide(rig, first.item, Action.REJECT)
    assert done.closed == (second,)
    assert state_of(rig, second)[0] == "moot"
    rig.undo()
    assert state_of(rig, second) == ("open", None, None)


def _also_against(rig: Rig, tx: Any, first: Pair) -> str:
    item = str(rig.opened.storage.make_id())
    row = tx.row("conflicts", {"id": first.item})
    tx.insert("conflicts", {**row, "id": item, "kind": "classification", "fingerprint": b"x" * 32})
    return item


def test_a_newcomer_that_is_held_back_stays_a_question_when_the_other_leaves(rig: Rig) -> None:
    pair = make_pair(rig)
    rig.forget(str(pair.have))
    found = rig.engine.conflicts.read_item(pair.item).result(10)
    assert (found.state, found.existing) == ("open", None)
    assert found.actions == (Action.SUPERSEDE, Action.REJECT, Action.SKIP)
    decide(rig, pair.item, Action.SUPERSEDE)
    assert statuses(rig, pair.came) == ["active"]


def test_an_edit_of_what_stands_is_followed(rig: Rig) -> None:
    pair = make_pair(rig)
    edited = (
        rig.engine.library.revise_memories([str(pair.have)], Revision(text="User lives in Linz.")).result(30).ids[0]
    )
    found = rig.engine.conflicts.read_item(pair.item).result(10)
    assert found.existing is not None
    assert found.existing.memory.id == edited
    decide(rig, pair.item, Action.SUPERSEDE)
    assert statuses(rig, edited, pair.came) == ["superseded", "active"]


@pytest.mark.parametrize("action", [action for action in Action if action is not Action.SKIP])
def test_every_decision_is_one_named_step_and_taken_back_whole(rig: Rig, action: Action) -> None:
    pair = make_pair(rig)
    before = rig.dump()
    done = decide(rig, pair.item, action, text="Both at once.", when="in winter", begin=AT)
    assert done.step_id is not None
    label = rig.value("SELECT label FROM undo_steps WHERE id = ?", done.step_id)
    assert label == done.label
    assert "Graz" not in label
    assert "Vienna" not in label
    rig.undo()
    rig.settle()
    assert differences(before, rig.dump()) == {}
    assert state_of(rig, pair.item) == ("open", None, None)


def test_a_batch_is_one_step_and_lists_what_it_refused(rig: Rig) -> None:
    pairs = [
        make_pair(rig, have(f"H{n}.", f"h{n}", space=f"s{n}"), came(f"C{n}.", f"c{n}", space=f"s{n}")) for n in range(4)
    ]
    decide(rig, pairs[0].item, Action.REJECT)
    before = rig.dump()
    ids = [*(pair.item for pair in pairs), "0192f3c4-0000-7000-8000-000000000000"]
    done = rig.engine.conflicts.resolve_many(ids, Decision(Action.SUPERSEDE)).result(30)
    assert set(done.refused) == {pairs[0].item, ids[-1]}
    assert [statuses(rig, pair.came) for pair in pairs] == [["archived"], ["active"], ["active"], ["active"]]
    assert done.label == "Take the new one: 4 decisions"
    rig.undo()
    rig.settle()
    assert differences(before, rig.dump()) == {}


def test_of_what_a_batch_refused_nothing_is_told(rig: Rig) -> None:
    pairs = [make_pair(rig, new=came(f"Proposed {n}.", None), kind="proposal", alone=True) for n in range(3)]
    before = rig.value("SELECT count(*) FROM consolidation_log")

    def admit(transitions: Transitions, memory_id: str) -> None:
        transitions.activate(memory_id)
        transitions.log_consolidation("ADD", memory_id, None)
        transitions.tx.after_commit(lambda: told.append(memory_id))
        if memory_id == pairs[1].came:
            raise UserError(Code.INVALID_INPUT, "Not this one.")

    def write(tx: Tx) -> DecisionReply:
        resolver = Resolver(rig.opened.storage.make_id, rig.opened.storage.work, rig.opened.search.space, admit)
        ids = [pair.item for pair in pairs]
        return resolver.resolve_many(
            tx, ids, Decision(Action.SUPERSEDE), OWNER_ACTOR, None, rig.opened.search.add_vectors
        )

    told: list[str] = []
    done: DecisionReply = rig.write(write)
    assert dict(done.refused) == {pairs[1].item: "Not this one."}
    assert (done.active, done.retired) == ((pairs[0].came, pairs[2].came), ())
    assert told == [pairs[0].came, pairs[2].came]
    assert rig.value("SELECT count(*) FROM consolidation_log") == before + 2
    assert state_of(rig, pairs[1].item) == ("open", None, None)


def test_both_that_stand_are_named(rig: Rig) -> None:
    pair = make_pair(rig)
    done = decide(rig, pair.item, Action.KEEP_BOTH)
    assert (set(done.active), done.retired) == ({pair.have, pair.came}, ())
    rig.undo()
    done = decide(rig, pair.item, Action.REJECT)
    assert (done.active, done.retired) == ((pair.have,), (pair.came,))


def test_who_decided_is_kept_with_the_item(rig: Rig) -> None:
    pair = make_pair(rig)
    decide(rig, pair.item, Action.REJECT, rig.client("curator", "read", "curate", "space:home"))
    assert state_of(rig, pair.item) == ("resolved", "reject", "decided_client")
    assert rig.engine.conflicts.read_item(pair.item).result(10).closed == "A client decided it."


def test_a_batch_takes_no_merge_and_no_endless_list(rig: Rig) -> None:
    pair = make_pair(rig)
    with refused(Code.INVALID_INPUT):
        rig.engine.conflicts.resolve_many([pair.item], Decision(Action.MERGE, text="x")).result(30)
    with refused(Code.NOT_FOUND):
        rig.engine.conflicts.resolve_many([], Decision(Action.REJECT)).result(30)


def test_a_claim_that_was_told_apart_makes_room_for_the_next(rig: Rig) -> None:
    pair = make_pair(rig)
    decide(rig, pair.item, Action.KEEP_BOTH)
    third = make_pair(rig, have("User has a flat in Linz.", "Linz"), came("User lives in Rome.", "Rome"))
    assert states(rig, third.have) == ["asserted"]
    assert lives_in("Rome").value == rig.engine.conflicts.read_item(third.item).result(10).incoming.claims[0].value
    assert rig.get(third.came).source is Source.DOCUMENT
