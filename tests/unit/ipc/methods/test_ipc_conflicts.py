"""The desk on the socket and in process: shapes, grants, bands, pages, and what is handed to the engine."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ipc_engine import FakeEngine
from ipc_values import START_MS, make_memory
from ipc_world import REGISTRY, World, code_of

from core.errors import Code, LociError
from core.ipc.methods.memory_json import Shape, conflict
from core.ipc.methods.table import run_verb
from core.ipc.protocol.call_progress import CallProgress
from core.ipc.socket.framing import fit
from core.types.reviews import Decision, ListedConflict, Suggestion
from core.types.values import OWNER_ACTOR, Action, Precision, Status, When

HAVE = make_memory(1, text="User lives in Graz.", trust=0.97)
CAME = make_memory(
    2, text="User lives in Vienna.", trust=0.6, status=Status.QUARANTINED, extra={"true_when": "in winter"}
)


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


@pytest.fixture
def engine() -> FakeEngine:
    engine = FakeEngine()
    engine.memories.rows.append(HAVE)
    engine.conflicts.items.append(listed())
    return engine


@pytest.fixture
def world(empty_home: Path) -> Iterator[World]:
    with World(empty_home) as made:
        made.engine.memories.rows.append(HAVE)
        made.engine.conflicts.items += [listed(), listed(2, existing=None, suggestion=None, kind="proposal")]
        yield made


def run(engine: FakeEngine, verb: str, **params: Any) -> dict[str, Any]:
    found = asyncio.run(run_verb(engine.real, REGISTRY, verb, params, CallProgress()))
    for problem in REGISTRY.result_checker(f"owner.{verb}").iter_errors(found):
        raise AssertionError(f"{verb}: {problem.message}")
    return found


def test_conflicts_have_the_shape_of_the_contract(engine: FakeEngine) -> None:
    (found,) = run(engine, "conflicts")["conflicts"]
    assert {"id", "kind", "existing", "incoming", "reason", "suggestion"} <= set(found)
    assert (found["existing"]["text"], found["incoming"]["text"]) == (HAVE.text, CAME.text)
    assert found["suggestion"] == "reject"
    assert found["result"].startswith("Graz stands.")
    assert found["actions"] == ["supersede", "reject", "skip"]
    assert engine.conflicts.asked == [(OWNER_ACTOR, False)]
    run(engine, "conflicts", all=True)
    assert engine.conflicts.asked[-1] == (OWNER_ACTOR, True)


def test_an_item_of_one_memory_has_no_existing_one() -> None:
    found = conflict(listed(existing=None, suggestion=None, closed="You decided it."), Shape(exact=True, name_of=str))
    assert (found["existing"], found["suggestion"], found["closed"]) == (None, None, "You decided it.")
    assert "result" not in found


def test_a_condition_is_told_to_whoever_reads_the_memory() -> None:
    found = conflict(listed(), Shape(exact=False, name_of=str))
    assert found["incoming"]["true_when"] == "in winter"
    assert "true_unless" not in found["incoming"]


def test_a_decision_is_handed_on_whole(engine: FakeEngine) -> None:
    given = {"id": "0192f3c4", "action": "keep_both_dated", "from": "2026-11-18", "to": "2027", "remember": True}
    found = run(engine, "resolve", **given)
    assert found == {
        "id": "0192f3c4",
        "action": "keep_both_dated",
        "step": "step-1",
        "label": "Take the new one",
        "active": ["m-2"],
        "retired": ["m-1"],
        "closed": ["c-2"],
    }
    (decided,) = engine.conflicts.decisions
    assert decided[0] == "0192f3c4"
    assert decided[1] == Decision(
        Action.KEEP_BOTH_DATED,
        begin=When(1_794_960_000_000, Precision.DAY),
        end=When(1_798_761_600_000, Precision.YEAR),
        remember=True,
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
def test_a_decision_that_cannot_be_read_is_refused(engine: FakeEngine, params: dict[str, Any]) -> None:
    with pytest.raises(LociError) as caught:
        run(engine, "resolve", **params)
    assert caught.value.code is Code.INVALID_INPUT
    assert engine.conflicts.decisions == []


def test_verdicts_answer_with_how_the_memory_stands(engine: FakeEngine) -> None:
    for verb in ("confirm", "reinforce", "dispute"):
        more = {"reason": "moved away"} if verb == "dispute" else {}
        found = run(engine, verb, id=HAVE.id, **more)
        assert found == {
            "id": HAVE.id,
            "status": "active",
            "trust": 0.97,
            "confidence": 0.5,
            "reinforcements": 1,
            "disputes": 0,
            "corroboration": 2,
            "step": "step-1",
            "conflict": None,
        }
    assert engine.memories.verdicts == [
        ("confirm", HAVE.id, None), ("reinforce", HAVE.id, None), ("dispute", HAVE.id, "moved away"),
    ]  # fmt: skip


def test_a_client_sees_bands_and_no_numbers(world: World) -> None:
    client = world.paired("plug", ["read", "space:home"])
    reply = client.call("memory_conflicts")
    for problem in REGISTRY.result_checker("memory_conflicts").iter_errors(reply):
        raise AssertionError(problem.message)
    first, second = reply["conflicts"]
    assert (first["existing"]["trust"], first["incoming"]["trust"]) == ("high", "low")
    assert "result" not in first
    assert second["existing"] is None
    (asked,) = world.engine.conflicts.asked
    assert (asked[0].client_id, asked[1]) == ("id-plug", False)


def test_a_client_cannot_ask_for_closed_ones_or_make_a_rule(world: World) -> None:
    client = world.paired("plug", ["read", "curate"])
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
    world: World, grants: list[str], method: str, allowed: bool
) -> None:
    client = world.paired("plug", grants)
    params: dict[str, Any] = {"memory_id": HAVE.id}
    if method == "memory_resolve_conflict":
        params = {"conflict_id": "0192f3c4", "action": "reject"}
    elif method == "memory_conflicts":
        params = {}
    code = code_of(lambda: client.call(method, params))
    assert code is (None if allowed else Code.ACCESS_DENIED)


def test_a_clients_verdict_is_told_in_bands(world: World) -> None:
    client = world.paired("plug", ["read", "write", "space:home"])
    found = client.call("memory_dispute", {"id": HAVE.id, "reason": "it moved"})
    assert (found["trust"], found["confidence"]) == ("high", "low")
    client.call("memory_corroborate", {"id": HAVE.id, "source": "document", "session": "monday"})
    assert world.engine.memories.verdicts == [("dispute", HAVE.id, "it moved"), ("corroborate", HAVE.id, "monday")]


def test_who_may_not_decide_is_given_no_answers(world: World) -> None:
    world.engine.conflicts.items[:] = [listed(1)]
    (seen,) = world.paired("plug", ["read", "write", "space:home"]).call("memory_conflicts")["conflicts"]
    (curated,) = world.paired("judge", ["read", "curate", "space:home"]).call("memory_conflicts")["conflicts"]
    assert seen["actions"] == []
    assert curated["actions"] == [action.value for action in listed(1).actions]
    assert curated["actions"]


def test_a_long_list_is_cut_at_whole_items_and_goes_on(world: World) -> None:
    long = make_memory(3, text="x" * 100_000)
    world.engine.conflicts.items[:] = [listed(n, existing=long) for n in range(1, 8)]
    client = world.paired("plug", ["read", "space:home"])
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
    shaped = conflict(listed(existing=make_memory(3, text="x" * 400_000)), Shape(exact=True, name_of=str))
    line, kept = fit("1", {"conflicts": [shaped]})
    assert len(line) <= 262_144
    assert kept is None


def test_the_owner_uses_the_same_methods_on_its_channel(world: World) -> None:
    owner = world.owner()
    assert len(owner.call("owner.conflicts", {"all": True})["conflicts"]) == 2
    assert owner.call("owner.resolve", {"id": "0192f3c4", "action": "skip"})["action"] == "skip"
    assert code_of(lambda: world.paired("plug").call("owner.conflicts")) is Code.ACCESS_DENIED
