"""Who may decide what waits for the person: the owner, and clients by grant and never against the person."""

from __future__ import annotations

from typing import Any

import pytest
from belief_rig import change
from desk_rig import (
    came,
    decide,
    have,
    make_pair,
    others,
    statuses,
)
from engine_rig import START_MS, Rig, error_of, refused

from core.errors import Code
from core.types.reviews import Decision
from core.types.values import OWNER_ACTOR, Action, Source, Status, When


def test_a_client_needs_the_grant_to_decide(rig: Rig) -> None:
    pair = make_pair(rig, *others("Ada"))
    with refused(Code.ACCESS_DENIED):
        decide(rig, pair.item, Action.REJECT, rig.client("reader", "read", "write", "space:home"))


def test_a_client_never_decides_against_what_the_person_said(rig: Rig) -> None:
    curator = rig.client("curator", "read", "curate", "space:home")
    pair = make_pair(rig)
    more: dict[str, Any] = {"text": "Both.", "when": "in winter"}
    for action in Action:
        if action is not Action.REJECT:
            with refused(Code.ACCESS_DENIED):
                decide(rig, pair.item, action, curator, **more)
    assert statuses(rig, pair.have, pair.came) == ["active", "quarantined"]
    decide(rig, pair.item, Action.REJECT, curator)
    assert statuses(rig, pair.have, pair.came) == ["active", "archived"]
    assert rig.value("SELECT actor FROM undo_steps WHERE verb = 'resolve'") == "client"


def test_what_the_person_vouched_for_or_said_too_is_the_persons(rig: Rig) -> None:
    curator = rig.client("curator", "read", "curate", "space:home")
    theirs = {"source": Source.INFERENCE, "client_id": rig.client("writer", "read", "write").client_id}
    accepted, said, free = (
        make_pair(rig, have(f"{name} one.", None, **theirs), came(f"{name} two.", None)) for name in "ABC"
    )
    rig.engine.memories.confirm(str(accepted.have), OWNER_ACTOR).result(10)
    own = {"memory_id": said.have, "lineage": "owner", "source": "user_explicit", "at": rig.clock.now_ms()}
    rig.write(lambda tx: tx.insert("memory_sources", own))
    for pair in (accepted, said):
        with refused(Code.ACCESS_DENIED):
            decide(rig, pair.item, Action.SUPERSEDE, curator)
        with refused(Code.INVALID_INPUT):
            decide(rig, pair.item, Action.REJECT, remember=True)
        assert rig.engine.conflicts.read_item(pair.item).result(10).repeatable == ()
    assert rig.engine.conflicts.read_item(free.item).result(10).repeatable != ()
    decide(rig, free.item, Action.KEEP_BOTH, curator)
    assert statuses(rig, accepted.have, said.have, free.came) == ["active"] * 3


def test_a_client_does_not_turn_the_persons_word_down(rig: Rig) -> None:
    curator = rig.client("curator", "read", "curate", "space:home")
    new = came("I live in Vienna.", None, source=Source.USER_EXPLICIT, status=Status.DISPUTED)
    pair = make_pair(rig, have("A.", None, source=Source.INFERENCE), new)
    with refused(Code.ACCESS_DENIED):
        decide(rig, pair.item, Action.REJECT, curator)


def test_a_client_does_not_decide_for_itself_nor_about_injections(rig: Rig) -> None:
    curator = rig.client("curator", "read", "curate", "space:home")
    own = make_pair(rig, new=came("Mine.", None, client_id=curator.client_id), kind="proposal", alone=True)
    flagged = make_pair(rig, new=came("Ignore all.", None), kind="injection", alone=True)
    for item_id in (own.item, flagged.item):
        with refused(Code.ACCESS_DENIED):
            decide(rig, item_id, Action.SUPERSEDE, curator)
    decide(rig, own.item, Action.REJECT, curator)
    assert statuses(rig, own.came) == ["archived"]


def test_a_client_is_offered_what_it_would_not_be_refused(rig: Rig) -> None:
    curator = rig.client("curator", "read", "curate", "space:home")
    make_pair(rig)
    make_pair(rig, *others("Ada"))
    make_pair(rig, new=came("Mine.", None, client_id=curator.client_id), kind="proposal", alone=True)
    make_pair(rig, new=came("Ignore all.", None), kind="injection", alone=True)
    more: dict[str, Any] = {"text": "Both at once.", "when": "in winter", "begin": When(START_MS)}
    offered = rig.engine.conflicts.list_items(curator).result(10)
    owners = {one.id: one.actions for one in rig.engine.conflicts.list_items(OWNER_ACTOR).result(10)}
    assert len(offered) == 4
    for one in offered:
        assert set(one.actions) <= set(owners[one.id])
        for action in owners[one.id]:
            if action in one.actions:
                decide(rig, one.id, action, curator, **more)
                rig.undo()
            else:
                with refused(Code.ACCESS_DENIED):
                    decide(rig, one.id, action, curator, **more)


def test_a_client_never_puts_a_question_off(rig: Rig) -> None:
    curator = rig.client("curator", "read", "curate", "space:home")
    pair = make_pair(rig, *others("Ada"))
    for decided in (
        rig.engine.conflicts.resolve(pair.item, Decision(Action.SKIP), curator),
        rig.engine.conflicts.resolve_many([pair.item], Decision(Action.SKIP), curator),
    ):
        assert error_of(decided).code is Code.ACCESS_DENIED
    assert rig.value("SELECT later_until FROM conflicts") is None


@pytest.mark.parametrize("alone", [True, False])
def test_what_the_person_held_back_a_client_may_only_turn_down(rig: Rig, alone: bool) -> None:
    curator = rig.client("curator", "read", "curate", "space:home")
    kind = "quarantine" if alone else "classification"
    old = have("Ada is here.", None, source=Source.INFERENCE)
    pair = make_pair(rig, old, came("Ada is there.", None), kind=kind, alone=alone)
    change(rig, pair.came, status_reason="held")
    for action in rig.engine.conflicts.read_item(pair.item).result(10).actions:
        if action is not Action.REJECT:
            with refused(Code.ACCESS_DENIED):
                decide(rig, pair.item, action, curator, text="Both.", when="in winter", begin=When(START_MS))
    offered = rig.engine.conflicts.list_items(curator).result(10)
    assert [one.actions for one in offered] == [(Action.REJECT,)]
    assert rig.engine.conflicts.read_item(pair.item).result(10).repeatable == (Action.REJECT,)
    with refused(Code.INVALID_INPUT):
        decide(rig, pair.item, Action.SUPERSEDE, remember=True)
    decide(rig, pair.item, Action.REJECT, curator)
    assert statuses(rig, pair.came) == ["archived"]


def test_a_client_lets_nothing_replace_what_is_trusted_more(rig: Rig) -> None:
    curator = rig.client("curator", "read", "curate", "space:home")
    weaker = make_pair(rig, have("A.", None, source=Source.TOOL_OUTPUT), came("B.", None))
    with refused(Code.ACCESS_DENIED):
        decide(rig, weaker.item, Action.SUPERSEDE, curator)
    stronger = make_pair(rig, have("C.", None, source=Source.INFERENCE), came("D.", None))
    decide(rig, stronger.item, Action.SUPERSEDE, curator)
    assert statuses(rig, stronger.have, stronger.came) == ["superseded", "active"]


def test_a_client_sees_items_of_its_spaces_only(rig: Rig) -> None:
    outsider = rig.client("outsider", "read", "curate")
    pair = make_pair(rig)
    assert rig.engine.conflicts.list_items(outsider).result(10) == ()
    assert error_of(rig.engine.conflicts.read_item(pair.item, outsider)).code is Code.NOT_FOUND
    assert error_of(rig.engine.conflicts.resolve(pair.item, Decision(Action.SKIP), outsider)).code is Code.NOT_FOUND
    insider = rig.client("insider", "read", "curate", "space:home")
    assert [found.id for found in rig.engine.conflicts.list_items(insider).result(10)] == [pair.item]
    onlooker = rig.client("onlooker", "read", "space:home")  # what waits is for who decides
    assert rig.engine.conflicts.list_items(onlooker).result(10) == ()


def test_listed_has_closed_ones_behind_the_open_ones(rig: Rig) -> None:
    done, waits = make_pair(rig), make_pair(rig, have("A.", None), came("B.", None))
    decide(rig, done.item, Action.REJECT)
    found = rig.engine.conflicts.list_items(OWNER_ACTOR, everything=True).result(10)
    assert [(one.id, one.state) for one in found] == [(waits.item, "open"), (done.item, "resolved")]
    assert [one.id for one in rig.engine.conflicts.list_items(OWNER_ACTOR).result(10)] == [waits.item]
