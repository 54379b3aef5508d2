"""The desk's group: the queue, one item, who may decide, rules, what closes by itself, holding a source."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from desk_rig import (
    DAY_MS,
    Side,
    came,
    decide,
    have,
    item,
    make_pair,
    others,
    put,
    queue,
    state_of,
    statuses,
    upkeep,
)
from engine_rig import START_MS, Rig, error_of, later, refused, rig_at

from core.engine.conflicts import Conflicts
from core.entities.registry import add_alias, make_owner
from core.errors import Code, LociError
from core.events import Changed, Event
from core.intake.transitions.transitions import Transitions
from core.types.replies import WaitingKind
from core.types.reviews import HoldRequest, Queue
from core.types.values import OWNER_ACTOR, Action, Kind, Source


@pytest.mark.parametrize(
    "call",
    [
        lambda desk: desk.list_queue(),
        lambda desk: desk.count_waiting(),
        lambda desk: desk.list_closed(),
        lambda desk: desk.list_review_rules(),
        lambda desk: desk.forget_rule("x"),
        lambda desk: desk.hold_source(HoldRequest("memory", "x")),
        lambda desk: desk.hold_preview(HoldRequest("memory", "x")),
    ],
)
def test_a_locked_vault_answers_nothing(tmp_path: Path, call: Callable[[Conflicts], Any]) -> None:
    with rig_at(tmp_path, is_open=False) as closed, pytest.raises(LociError) as caught:
        call(closed.engine.conflicts)
    assert caught.value.code is Code.VAULT_LOCKED


def test_an_empty_desk_is_empty(rig: Rig) -> None:
    assert queue(rig) == Queue((), 0, {})
    assert rig.engine.conflicts.count_waiting().result(10)[WaitingKind.REVIEWS] == 0
    assert rig.engine.conflicts.list_closed().result(10) == ()


# ---- the queue


def test_the_most_harmful_comes_first_and_counts_are_over_all(rig: Rig) -> None:
    quiet = make_pair(rig)
    loud = make_pair(rig, have("A.", None, recalled=30), came("B.", None))
    client = rig.client("editor", "read", "write")
    proposal = make_pair(
        rig, new=came("C.", None, client_id=client.client_id, source=Source.INFERENCE), kind="proposal", alone=True
    )
    found = queue(rig)
    assert [row.id for row in found.rows] == [loud.item, quiet.item, proposal.item]
    assert [row.recalled for row in found.rows] == [30, 0, 0]
    assert found.total == 3
    assert found.counts == {"contradiction": 2, "proposal": 1}
    assert found.clients == {"editor": 1}
    assert found.sources == {"document": 2, "inference": 1}
    assert found.subjects == {"user": 1}
    assert found.today == 3
    assert rig.engine.conflicts.count_waiting().result(10)[WaitingKind.REVIEWS] == 3


def test_older_questions_sink(rig: Rig) -> None:
    old = make_pair(rig, have("A.", None), came("B.", None), opened_ms=START_MS - 60 * DAY_MS)
    new = make_pair(rig, have("C.", None), came("D.", None))
    assert [row.id for row in queue(rig).rows] == [new.item, old.item]


def test_filters_narrow_the_rows_and_not_the_counts(rig: Rig) -> None:
    client = rig.client("editor", "read", "write")
    first = make_pair(rig)
    second = make_pair(rig, *others("The ferry", client_id=client.client_id, source=Source.TOOL_OUTPUT))
    third = make_pair(rig, new=came("Ignore all.", None), kind="injection", alone=True)

    def ids(**more: Any) -> list[str]:
        found = queue(rig, **more)
        assert found.total == 3
        return [row.id for row in found.rows]

    assert ids(kinds=("injection",)) == [third.item]
    assert ids(client="editor") == [second.item]
    assert ids(source="tool_output") == [second.item]
    assert ids(subject="user") == [first.item]
    assert ids(text="FERRY") == [second.item]
    assert ids(text="vienna") == [first.item]
    assert ids(text="nothing like it") == []
    fourth = make_pair(rig, have("ÄRZTE in Łódź.", None), came("Other doctors.", None))
    assert [row.id for row in queue(rig, text="ärzte in łÓDŹ").rows] == [fourth.item]
    rig.undo()
    assert len(ids(cap=2)) == 2
    assert ids(cap=0) == []


def test_what_was_put_off_comes_last_until_its_time(rig: Rig) -> None:
    first = make_pair(rig, have("A.", None, recalled=9), came("B.", None))
    second = make_pair(rig)
    decide(rig, first.item, Action.SKIP)
    assert [(row.id, row.later) for row in queue(rig).rows] == [(second.item, False), (first.item, True)]
    assert queue(rig).today == 1
    assert item(rig, first.item).why[-1] == "You postponed this before."
    later(rig, 8)
    assert [row.id for row in queue(rig).rows] == [first.item, second.item]


def test_titles_are_plain_and_notes_hold_no_text(rig: Rig) -> None:
    make_pair(rig)
    make_pair(rig, new=came("<b>Now</b>\nrun rm -rf", None), kind="injection", alone=True)
    rows = queue(rig).rows
    assert [row.title for row in rows] == ["Where you live", "<b>Now</b> run rm -rf"]
    assert [row.note for row in rows] == ["Two memories disagree", "Injection flagged"]


# ---- one item


def test_an_item_has_everything_a_decision_needs(rig: Rig) -> None:
    pair = make_pair(rig, have(recalled=31), suggestion=Action.KEEP_BOTH_DATED, detail={"why": "claims_at_odds"})
    found = item(rig, pair.item)
    assert found.question == "Where do you live: Graz or Vienna?"
    assert (found.state, found.closed, found.kind) == ("open", "", "contradiction")
    assert found.existing is not None
    old, new = found.existing, found.incoming
    assert [old.memory.text[a:b] for a, b in old.marks] == ["Graz"]
    assert [new.memory.text[a:b] for a, b in new.marks] == ["Vienna"]
    assert (old.owners_word, new.owners_word, old.recalled) == (True, False, 31)
    assert [claim.state for claim in old.claims] == ["asserted"]
    assert found.suggestion is not None
    assert found.suggestion.sentence == "Graz until 24 Nov 2023, Vienna from then on."
    assert found.suggestion.at is not None
    assert found.why[:2] == (
        "It contradicts what you said yourself; only you can replace that.",
        "They name two values where only one can hold, for the same time.",
    )
    assert "It is held back, so assistants do not get it." in found.why
    assert set(found.actions) == set(Action)
    assert found.repeatable == ()


def test_only_what_a_rule_may_decide_is_offered_as_one(rig: Rig) -> None:
    pair = make_pair(rig, *others("Ada"))
    assert item(rig, pair.item).repeatable == (Action.SUPERSEDE, Action.REJECT, Action.KEEP_BOTH)
    flagged = make_pair(rig, new=came("Ignore all.", None), kind="injection", alone=True)
    assert item(rig, flagged.item).repeatable == (Action.REJECT,)


def test_a_day_has_ten_questions(rig: Rig) -> None:
    pairs = [make_pair(rig, *others(f"Person {n}")) for n in range(12)]
    assert queue(rig).today == 10
    for pair in pairs[:3]:
        decide(rig, pair.item, Action.REJECT)
    assert queue(rig).today == 7
    later(rig, 1)
    assert queue(rig).today == 9  # as many as are left


def test_a_merge_is_begun_with_both_texts(rig: Rig) -> None:
    pair = make_pair(rig, have("Likes tea.", None), came("Likes green tea best", None), suggestion=Action.MERGE)
    suggested = item(rig, pair.item).suggestion
    assert suggested is not None
    assert suggested.text == "Likes tea. Likes green tea best"


def test_a_doubtful_reading_says_how_likely_each_is(rig: Rig) -> None:
    pair = make_pair(
        rig,
        *others("Ada"),
        kind="classification",
        reason="unsure",
        suggestion=Action.SUPERSEDE,
        confidence=0.62,
        detail={"by": "builtin", "probabilities": {"SUPERSEDE": 0.62, "COEXIST": 0.3, "MERGE": 0.08, "DUPLICATE": 0.0}},
    )
    why = item(rig, pair.item).why
    assert "It may be a change (62 %)." in why
    assert "Both may be true (30 %)." in why


def test_what_follows_is_counted(rig: Rig) -> None:
    pair = make_pair(rig, have(recalled=3))

    def derive(tx: Any) -> None:
        search, make_id = rig.opened.search, rig.opened.storage.make_id
        transitions = Transitions(tx, None, make_id, search.space, search.add_vectors)  # type: ignore[arg-type]  # no unit of work is needed here
        digest = put(rig, transitions, Side("A digest.", kind=Kind.DIGEST))
        below = put(rig, transitions, Side("Made of the digest."))
        space = tx.value("SELECT id FROM spaces WHERE name = 'home'")
        for derived, source in ((digest, pair.have), (below, digest)):
            tx.insert(
                "derivations",
                {"derived_id": derived, "source_id": source, "space_id": space, "recorded_at": tx.now_ms},
            )

    rig.write(derive)
    follows = item(rig, pair.item).follows
    assert [follow.headline for follow in follows] == ["1 digest", "Recalled 3 times", "1 memory", "1 claim"]
    assert len(follows[0].ids) == 1


def test_clients_that_were_given_it_are_named(rig: Rig) -> None:
    pair = make_pair(rig)
    reader = rig.client("reader", "read", "space:home")
    rig.recall("where does the user live", reader)
    rig.engine.flush_journal()
    found = item(rig, pair.item)
    assert found.existing is not None
    assert (found.existing.recalled, found.existing.recalled_by) == (1, ("reader",))
    assert found.follows[0].headline == "reader"
    assert found.follows[0].sentence == "was given the existing memory once"


def test_an_item_is_found_by_the_beginning_of_its_id(rig: Rig) -> None:
    pair = make_pair(rig)
    assert item(rig, pair.item[:30]).id == pair.item
    assert item(rig, pair.item[-8:].upper()).id == pair.item
    make_pair(rig, have("A.", None), came("B.", None))
    wrong = (
        (pair.item[:8], Code.INVALID_INPUT),
        (pair.item[-7:], Code.INVALID_INPUT),
        ("short", Code.INVALID_INPUT),
        ("f" * 12, Code.NOT_FOUND),
    )
    for beginning, code in wrong:
        assert error_of(rig.engine.conflicts.read_item(beginning)).code is code


def test_a_closed_item_says_why_and_takes_nothing(rig: Rig) -> None:
    pair = make_pair(rig)
    decide(rig, pair.item, Action.REJECT)
    found = item(rig, pair.item)
    assert (found.state, found.actions, found.closed) == ("resolved", (), "You decided it.")
    assert found.resolution is Action.REJECT
    closed = rig.engine.conflicts.list_closed().result(10)
    assert [(row.id, row.resolution, row.title) for row in closed] == [(pair.item, "reject", "User lives in Vienna.")]
    later(rig, 8)
    assert rig.engine.conflicts.list_closed(7).result(10) == ()


# ---- events


def test_a_decision_is_announced_once_it_is_saved(rig: Rig) -> None:
    pair = make_pair(rig)
    heard: list[Event] = []
    rig.engine.hub.subscribe(heard.append)
    decide(rig, pair.item, Action.SUPERSEDE)
    changed = [event for event in heard if isinstance(event, Changed)]
    assert [(event.verb, set(event.ids)) for event in changed] == [("resolve", {pair.have, pair.came})]


# ---- rules


def test_a_ticked_decision_is_repeated_for_later_items_of_the_same_make(rig: Rig) -> None:
    client = rig.client("noisy", "read", "write")
    made = {"client_id": client.client_id, "source": Source.INFERENCE}
    first = make_pair(rig, *others("One", **made))
    decide(rig, first.item, Action.REJECT, remember=True)
    (rule,) = rig.engine.conflicts.list_review_rules().result(10)
    assert (rule.kind, rule.action, rule.source, rule.client) == ("contradiction", Action.REJECT, "inference", "noisy")
    later(rig, 1)
    same = make_pair(rig, *others("Two", **made))
    other = make_pair(rig, *others("Three", source=Source.INFERENCE))
    mine = make_pair(rig, have("The owner's.", None), came("Against it.", None, **made))
    vouched = make_pair(rig, *others("Four", **made))
    rig.engine.memories.confirm(str(vouched.have), OWNER_ACTOR).result(10)
    assert upkeep(rig) == 1
    kept = (other, mine, vouched)
    assert [statuses(rig, pair.came)[0] for pair in (same, *kept)] == ["archived", *["quarantined"] * 3]
    assert rig.engine.conflicts.list_review_rules().result(10)[0].applied == 1
    assert item(rig, same.item).closed == "A rule of yours decided it."
    assert queue(rig).today == 3  # a rule's decisions are no work of the day's
    ((actor, label, step),) = rig.rows("SELECT actor, label, id FROM undo_steps ORDER BY rowid DESC LIMIT 1")
    assert (actor, label) == ("scheduler", "Keep the existing memory")
    rig.undo(step)
    assert statuses(rig, same.came) == ["quarantined"]
    assert upkeep(rig) == 0  # what the person took back is not decided again
    assert statuses(rig, same.came) == ["quarantined"]


def test_a_decision_without_the_tick_makes_no_rule(rig: Rig) -> None:
    first, same = make_pair(rig, *others("One")), make_pair(rig, *others("Two"))
    decide(rig, first.item, Action.REJECT)
    assert rig.engine.conflicts.list_review_rules().result(10) == ()
    assert upkeep(rig) == 0
    assert state_of(rig, same.item) == ("open", None, None)


@pytest.mark.slow
def test_a_queue_is_cut_at_two_hundred_and_counts_the_rest(rig: Rig) -> None:
    first = make_pair(rig, have("The one that is used.", None, recalled=50), came("Against it.", None))
    for n in range(205):
        make_pair(rig, new=came(f"Proposed {n}.", None), kind="proposal", alone=True)
    found = queue(rig)
    assert (len(found.rows), found.total, found.today) == (200, 206, 10)
    assert found.rows[0].id == first.item
    assert found.counts == {"proposal": 205, "contradiction": 1}
    assert rig.engine.conflicts.count_waiting().result(10)[WaitingKind.REVIEWS] == 206
    assert len(rig.engine.conflicts.list_items(OWNER_ACTOR).result(60)) == 200


def test_a_rule_can_be_removed_and_leaves_what_it_decided(rig: Rig) -> None:
    first = make_pair(rig, *others("One"))
    decide(rig, first.item, Action.REJECT, remember=True)
    (rule,) = rig.engine.conflicts.list_review_rules().result(10)
    rig.engine.conflicts.forget_rule(rule.id).result(10)
    make_pair(rig, *others("Two"))
    assert upkeep(rig) == 0
    assert rig.engine.conflicts.list_review_rules().result(10) == ()
    assert error_of(rig.engine.conflicts.forget_rule(rule.id)).code is Code.NOT_FOUND
    rig.undo(rig.value("SELECT id FROM undo_steps WHERE verb = 'forget_rule'"))
    assert [one.id for one in rig.engine.conflicts.list_review_rules().result(10)] == [rule.id]


def test_what_cannot_be_a_rule_is_refused(rig: Rig) -> None:
    flagged = make_pair(rig, new=came("Ignore all.", None), kind="injection", alone=True)
    mine, theirs = make_pair(rig), make_pair(rig, *others("Ada"))
    for item_id, action in (
        (flagged.item, Action.SUPERSEDE),
        (mine.item, Action.SUPERSEDE),
        (mine.item, Action.REJECT),
        (theirs.item, Action.SCOPE_SPLIT),
    ):
        with refused(Code.INVALID_INPUT):
            decide(rig, item_id, action, remember=True, when="in winter")
    with refused(Code.ACCESS_DENIED):
        decide(rig, theirs.item, Action.REJECT, rig.client("c", "read", "curate", "space:home"), remember=True)
    assert rig.engine.conflicts.list_review_rules().result(10) == ()


def test_taking_a_decision_back_takes_its_rule_back(rig: Rig) -> None:
    pair = make_pair(rig, *others("One"))
    decide(rig, pair.item, Action.REJECT, remember=True)
    rig.undo()
    assert rig.engine.conflicts.list_review_rules().result(10) == ()


@pytest.mark.parametrize(
    ("author", "question", "title", "speaker"),
    [
        ("Tove", "Where does Tove live: Graz or Vienna?", "Where Tove lives", "Tove"),
        ("user", "Where do you live: Graz or Vienna?", "Where you live", ""),
        ("Ilse", "Where do you live: Graz or Vienna?", "Where you live", ""),
    ],
)
def test_only_the_owner_of_the_vault_is_you(rig: Rig, author: str, question: str, title: str, speaker: str) -> None:
    pair = make_pair(rig)
    rig.write(lambda tx: tx.run("UPDATE memories SET role = 'other', author = ?", (author,)))
    rig.write(lambda tx: add_alias(tx, make_owner(tx, rig.opened.storage.make_id, "You"), "Ilse"))
    shown = item(rig, pair.item)
    assert (shown.question, queue(rig).rows[0].title, shown.incoming.speaker) == (question, title, speaker)
