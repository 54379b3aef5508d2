"""The desk on the socket and in process: shapes, grants, bands, pages, and what is handed to the engine."""

from __future__ import annotations

from typing import Any

import pytest
from answered import finished
from desk_rig import came, have, make_pair
from ipc_peers import code_of, refusal_of
from ipc_served import Served
from ipc_values import START_MS, make_memory

from core.errors import Code
from core.ipc.methods.memory_json import Shape, conflict_json
from core.ipc.socket.line_stream import fit_reply
from core.types.reviews import Decision, ListedConflict, Suggestion
from core.types.values import Action, Precision, Source, Status, When

HAVE = make_memory(1, text="User lives in Graz.", trust=0.97)
CAME = make_memory(
    2, text="User lives in Vienna.", trust=0.6, status=Status.QUARANTINED, extra={"true_when": "in winter"}
)

ACTIONS = [
    "supersede", "reject", "keep_both", "keep_both_dated", "merge", "scope_split", "dispute_both", "skip",
]  # fmt: skip
"""The answers to a contradiction, in their order."""


def listed(n: int = 1, **more: Any) -> ListedConflict:
    given: dict[str, Any] = {
        "id": f"00000000-0000-7000-8000-{n:012d}",
        "kind": "contradiction",
        "state": "open",
        "question": "Where do you live?",
        "existing": HAVE,
        "incoming": CAME,
        "reason": "It contradicts what you said yourself.",
        "suggestion": Suggestion(Action.REJECT, 0.9, "builtin", "Graz stands. The built-in model is 90 % sure."),
        "actions": (Action.SUPERSEDE, Action.REJECT, Action.SKIP),
        "opened_at": START_MS,
    }
    return ListedConflict(**{**given, **more})


def told(served: Served, method: str, **params: Any) -> dict[str, Any]:
    """What the owner is answered."""
    return served.call(served.owner(), method, **params)


def test_conflicts_have_the_shape_of_the_contract(served: Served) -> None:
    pair, asked = make_pair(served.rig), served.asked("conflicts")
    (found,) = told(served, "owner.conflicts")["conflicts"]
    assert {"id", "kind", "existing", "incoming", "reason", "suggestion"} <= set(found)
    assert (found["existing"]["text"], found["incoming"]["text"]) == (HAVE.text, CAME.text)
    assert (found["id"], found["suggestion"]) == (pair.item, "reject")
    assert found["result"] == "Keep Graz; Vienna is archived."
    assert found["actions"] == ACTIONS
    told(served, "owner.conflicts", all=True)
    assert [(given[0].is_owner, named) for _, given, named in asked] == [
        (True, {"everything": False}), (True, {"everything": True}),
    ]  # fmt: skip


def test_an_item_of_one_memory_has_no_existing_one() -> None:
    found = conflict_json(
        listed(existing=None, suggestion=None, closed="You decided it."), Shape(exact=True, name_of=str)
    )
    assert (found["existing"], found["suggestion"], found["closed"]) == (None, None, "You decided it.")
    assert "result" not in found


def test_whether_two_names_are_one_is_asked_with_the_names_and_answered_in_fitting_words() -> None:
    actions = (Action.SUPERSEDE, Action.REJECT, Action.SKIP)
    item = listed(
        kind="entity_merge",
        suggestion=None,
        actions=actions,
        names=("Kit", "Katrin"),
        answers=("same", "different", "skip"),
    )
    found = conflict_json(item, Shape(exact=True, name_of=str))
    assert (found["names"], found["answers"]) == (["Kit", "Katrin"], ["same", "different", "skip"])
    assert found["actions"] == ["supersede", "reject", "skip"]
    assert {"names", "answers"}.isdisjoint(conflict_json(item, Shape(exact=False, name_of=str)))


def test_a_condition_is_told_to_whoever_reads_the_memory() -> None:
    found = conflict_json(listed(), Shape(exact=False, name_of=str))
    assert found["incoming"]["true_when"] == "in winter"
    assert "true_unless" not in found["incoming"]


def test_a_decision_is_handed_on_whole(served: Served) -> None:
    pair, asked = make_pair(served.rig), served.asked("conflicts")
    given = {"id": pair.item, "action": "keep_both_dated", "from": "2026-11-18", "to": "2027"}
    found = told(served, "owner.resolve", **given)
    assert (found["id"], found["action"], found["closed"]) == (pair.item, "keep_both_dated", [])
    assert pair.came in found["active"]
    assert found["step"] is not None
    ((_, (ident, decision, *_), _),) = asked
    assert ident == pair.item
    assert decision == Decision(
        Action.KEEP_BOTH_DATED,
        begin=When(1_794_960_000_000, Precision.DAY),
        end=When(1_798_761_600_000, Precision.YEAR),
    )


@pytest.mark.parametrize(
    "params",
    [
        {"id": "short", "action": "reject"},
        {"id": "0192f3c4", "action": "burn"},
        {"id": "0192f3c4", "action": "scope_split", "when": ""},
        {"id": "0192f3c4", "action": "scope_split", "when": "x" * 201},
        {"id": "0192f3c4", "action": "merge", "from": "yesterday-ish"},
        {"id": "0192f3c4"},
    ],
)
def test_a_decision_that_cannot_be_read_is_refused(served: Served, params: dict[str, Any]) -> None:
    asked = served.asked("conflicts")
    assert code_of(lambda: told(served, "owner.resolve", **params)) is Code.INVALID_INPUT
    assert asked == []


def test_verdicts_answer_with_how_the_memory_stands(served: Served) -> None:
    ident = served.rig.store(HAVE.text).memory_id
    asked = served.asked("memories")
    for verb, more in (("confirm", {}), ("reinforce", {}), ("dispute", {"reason": "moved away"})):
        found = told(served, f"owner.{verb}", id=ident, **more)
        assert found["id"] == ident
        assert isinstance(found["trust"], float)
    assert (found["status"], found["disputes"]) == ("disputed", 1)
    assert [verb for verb, _, _ in asked] == ["confirm", "reinforce", "dispute"]
    assert asked[-1][1][2] == "moved away"


def test_a_client_sees_bands_and_no_numbers(served: Served) -> None:
    make_pair(served.rig, new=came(status=Status.ACTIVE))
    client = served.paired("plug", ["read", "propose", "space:home"])
    client.call("memory_store", {"text": "User rides a bicycle."})
    asked = served.asked("conflicts")
    items = served.call(client, "memory_conflicts")["conflicts"]
    pair, alone = sorted(items, key=lambda item: item["existing"] is None)
    assert (pair["existing"]["trust"], pair["incoming"]["trust"]) == ("high", "low")
    assert "result" not in pair
    assert alone["existing"] is None
    ((_, (actor,), named),) = asked
    assert (actor.client_id, named) == (served.client_id(), {"everything": False})


def test_a_client_cannot_ask_for_closed_ones_or_make_a_rule(served: Served) -> None:
    client = served.paired("plug", ["read", "curate"])
    assert code_of(lambda: client.call("memory_conflicts", {"all": True})) is Code.INVALID_INPUT
    params = {"id": "0192f3c4", "action": "reject", "remember": True}
    assert code_of(lambda: client.call("memory_resolve_conflict", params)) is Code.INVALID_INPUT


@pytest.mark.parametrize(
    ("grants", "method", "allowed"),
    [
        (["read"], "memory_resolve_conflict", False),
        (["read", "write"], "memory_resolve_conflict", False),
        (["read", "curate"], "memory_resolve_conflict", True),
        (["propose"], "memory_conflicts", False),
        (["read"], "memory_conflicts", True),
        *[
            (["read", "propose"], f"memory_{verb}", False)
            for verb in ("confirm", "reinforce", "dispute", "corroborate")
        ],
        *[
            (["read", "write", "space:home"], f"memory_{verb}", True)
            for verb in ("reinforce", "dispute", "corroborate")
        ],
        (["read", "curate", "space:home"], "memory_confirm", True),
    ],
)
def test_grants_are_checked_before_the_engine_is_asked(
    served: Served, grants: list[str], method: str, allowed: bool
) -> None:
    client = served.paired("plug", [*grants, *({"space:home"} - {*grants})])
    pair = make_pair(served.rig, new=came(status=Status.ACTIVE))
    params: dict[str, Any] = {"memory_id": pair.have}
    if method == "memory_resolve_conflict":
        params = {"conflict_id": pair.item, "action": "reject"}
    elif method == "memory_conflicts":
        params = {}
    code = code_of(lambda: client.call(method, params))
    assert code is (None if allowed else Code.ACCESS_DENIED)


def test_a_clients_verdict_is_told_in_bands(served: Served) -> None:
    ident = served.rig.store(HAVE.text).memory_id
    client, asked = served.paired("plug", ["read", "write", "space:home"]), served.asked("memories")
    found = served.call(client, "memory_dispute", id=ident, reason="it moved")
    assert {found["trust"], found["confidence"]} <= {"high", "medium", "low", "minimal"}
    served.call(client, "memory_corroborate", id=ident, source="document", session="monday")
    (_, first, _), (_, second, _) = asked
    assert (first[0], first[2]) == (ident, "it moved")
    assert (second[0], second[1].session, second[2], second[3]) == (ident, "monday", Source.DOCUMENT, "monday")


def test_who_may_not_decide_is_given_no_answers(served: Served) -> None:
    make_pair(served.rig, new=came(status=Status.ACTIVE))
    (seen,) = served.paired("plug", ["read", "write", "space:home"]).call("memory_conflicts")["conflicts"]
    (curated,) = served.paired("judge", ["read", "curate", "space:home"]).call("memory_conflicts")["conflicts"]
    assert seen["actions"] == []
    assert curated["actions"] == ["reject"]  # against the person's word nothing else


def test_who_may_decide_between_two_clients_is_given_every_answer_but_to_wait(served: Served) -> None:
    served.pair("other", ["read", "write", "space:home"])
    brought: dict[str, Any] = {"source": Source.INFERENCE, "client_id": served.client_id("other")}
    make_pair(served.rig, have(**brought), came(status=Status.ACTIVE, **brought), reason="equals_disagree")
    (seen,) = served.paired("plug", ["read", "write", "space:home"]).call("memory_conflicts")["conflicts"]
    (curated,) = served.paired("judge", ["read", "curate", "space:home"]).call("memory_conflicts")["conflicts"]
    (owned,) = told(served, "owner.conflicts")["conflicts"]
    assert (seen["actions"], curated["actions"], owned["actions"]) == ([], ACTIONS[:-1], ACTIONS)


def test_a_long_list_is_cut_at_whole_items_and_goes_on(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    long = make_memory(3, text="x" * 100_000)
    items = tuple(listed(n, existing=long) for n in range(1, 8))
    monkeypatch.setattr(served.engine.conflicts, "list_items", lambda *_, **__: finished(items))
    client = served.paired("plug", ["read", "space:home"])
    seen: list[str] = []
    after: dict[str, Any] = {}
    while True:
        reply = client.call("memory_conflicts", after)
        seen += [item["id"] for item in reply["conflicts"]]
        if "next" not in reply:
            break
        after = {"after": reply["next"]}
    assert seen == [listed(n).id for n in range(1, 8)]


def test_one_item_that_is_too_long_is_shortened() -> None:
    shaped = conflict_json(listed(existing=make_memory(3, text="x" * 400_000)), Shape(exact=True, name_of=str))
    line, kept = fit_reply("1", {"conflicts": [shaped]})
    assert len(line) <= 262_144
    assert kept is None


def test_the_owner_uses_the_same_methods_on_its_channel(served: Served) -> None:
    pair = make_pair(served.rig, new=came(status=Status.ACTIVE))
    assert len(told(served, "owner.conflicts", all=True)["conflicts"]) == 1
    assert told(served, "owner.resolve", id=pair.item[-8:], action="skip")["action"] == "skip"
    client = served.paired("plug", ["read", "curate", "space:home"])
    for method, params in (("owner.conflicts", {}), ("owner.resolve", {"id": pair.item, "action": "skip"})):
        assert refusal_of(client, method, params) is Code.ACCESS_DENIED
