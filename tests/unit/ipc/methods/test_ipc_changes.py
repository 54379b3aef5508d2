"""Clients that change memories over the socket: grants, shapes, limits of words, versions within sight."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from ipc_engine import START_MS, make_memory
from ipc_world import REGISTRY, World, code_of

from core.errors import Code
from core.ipc.client.client import Client
from core.ipc.methods.memory_json import Shape, conflict
from core.ipc.socket.framing import fit
from core.types.memory import Relationship
from core.types.reviews import Asked, ListedConflict
from core.types.values import Action, Kind, Memory, Status

ID = "00000000-0000-7000-8000-000000000001"
ASKING = ("memory_update", "memory_delete", "memory_forget", "memory_feedback")
WRITING = ("memory_mark_helpful", "memory_mark_harmful", "memory_relate")
PARAMS: dict[str, dict[str, Any]] = {
    "memory_update": {"id": ID, "text": "Else."},
    "memory_delete": {"id": ID},
    "memory_forget": {"rule_id": ID, "memory_type": "rule"},
    "memory_feedback": {"memory_id": ID, "helpful": True},
    "memory_mark_helpful": {"rule_id": ID},
    "memory_mark_harmful": {"rule_id": ID, "reason": "It cracked."},
    "memory_relate": {"source_id": ID, "target_id": "b", "relationship": "caused_by"},
    "memory_history": {"id": ID},
}


@pytest.fixture
def world(empty_home: Path) -> Iterator[World]:
    with World(empty_home) as made:
        made.engine.memories.rows.append(make_memory(1, space="GLOBAL"))
        yield made


def ask(client: Client, method: str, **more: Any) -> dict[str, Any]:
    found = client.call(method, {**PARAMS[method], **more})
    for problem in REGISTRY.result_checker(method).iter_errors(found):
        raise AssertionError(f"{method}: {problem.message}")
    return found


def test_every_change_answers_in_the_shape_of_the_contract(world: World) -> None:
    client = world.paired("plug", ["read", "write"])
    for method in PARAMS:
        ask(client, method)
    update = ask(client, "memory_update", reason="Painted.", memory_type="fact", request_id="r1")
    assert update == {
        "operation": "PROPOSED",
        "memory_id": "m-2",
        "deduplicated": False,
        "superseded": [],
        "conflict": "c-1",
        "merged": False,
        "step": "step-1",
    }
    assert world.engine.changes.asked[-1] == ("update", ID, "Else.", "plug", "Painted.", Kind.FACT, "r1")
    world.engine.changes.at_once = True
    assert ask(client, "memory_update")["superseded"] == [ID]
    assert [ask(client, name)["operation"] for name in ("memory_delete", "memory_forget")] == ["DELETE", "FORGET"]


def test_what_is_asked_is_handed_on_whole(world: World) -> None:
    client = world.paired("plug", ["read", "write"])
    for method in ("memory_forget", "memory_feedback", "memory_mark_harmful", "memory_relate"):
        ask(client, method, request_id="r1")
    assert world.engine.changes.asked == [
        ("forget", ID, "plug", None, Kind.RULE, "r1"),
        ("feedback", ID, "plug", True, None, None, "r1"),
        ("mark", ID, "plug", False, "It cracked.", None, "r1"),
        ("relate", ID, "b", Relationship.CAUSED_BY, "plug", "r1"),
    ]


def test_grants_are_looked_at_first(world: World) -> None:
    reader, asker = world.paired("reader", ["read"]), world.paired("asker", ["read", "propose"])
    for method in (*ASKING, *WRITING):
        assert code_of(partial(ask, reader, method)) is Code.ACCESS_DENIED
    for method in WRITING:
        assert code_of(partial(ask, asker, method)) is Code.ACCESS_DENIED
    assert world.engine.changes.asked == []
    for method in ASKING:
        ask(asker, method)
    assert ask(reader, "memory_history")["current"]["id"] == ID


@pytest.mark.parametrize(
    ("method", "more"),
    [
        ("memory_update", {"text": ""}),
        ("memory_update", {"reason": "x" * 513}),
        ("memory_update", {"memory_type": "idea"}),
        ("memory_update", {"why": "no such name"}),
        ("memory_feedback", {"helpful": "yes"}),
        ("memory_mark_harmful", {"reason": "x" * 513}),
        ("memory_relate", {"relationship": "likes"}),
        ("memory_relate", {"target_id": 7}),
    ],
)
def test_what_does_not_fit_is_refused_by_name(world: World, method: str, more: dict[str, Any]) -> None:
    client = world.paired("plug", ["read", "write"])
    assert code_of(lambda: ask(client, method, **more)) is Code.INVALID_INPUT
    assert world.engine.changes.asked == []


def test_nobody_says_who_it_is(world: World) -> None:
    client = world.paired("plug", ["read", "write"])
    for name in ("client_id", "agent_id", "trust", "provenance"):
        assert code_of(partial(ask, client, "memory_update", **{name: "x"})) is Code.FORBIDDEN_FIELD


# ---- history


def versions(world: World, monkeypatch: pytest.MonkeyPatch, *rows: Memory) -> None:
    def history(*_: Any) -> Future[tuple[Memory, ...]]:
        future: Future[tuple[Memory, ...]] = Future()
        future.set_result(rows)
        return future

    monkeypatch.setattr(world.engine.memories, "history", history)


def test_history_has_times_and_bands_and_the_one_that_stands(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    old = make_memory(
        1, status=Status.SUPERSEDED, superseded_by_id=make_memory(2).id, retired_at=START_MS, valid_to=START_MS
    )
    hidden = make_memory(3, status=Status.SUPERSEDED, superseded_by_id="out-of-sight")
    versions(world, monkeypatch, old, hidden, make_memory(2, version=2))
    found = ask(world.paired("plug", ["read"]), "memory_history")
    assert [one["version"] for one in found["versions"]] == [1, 1, 2]
    assert [one["superseded_by"] for one in found["versions"]] == [make_memory(2).id, None, None]
    assert found["versions"][0]["retired_at"] == found["versions"][0]["valid_to"] == "2023-11-14T22:13:20Z"
    assert found["current"] == found["versions"][2]
    assert found["versions"][0]["trust"] == "high"
    assert "chain_id" not in found["versions"][0]
    other = world.paired("plug", ["read"])
    assert code_of(lambda: ask(other, "memory_history", memory_type="rule")) is Code.NOT_FOUND


def test_a_chain_without_a_standing_version_has_no_current_one(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    versions(world, monkeypatch, make_memory(1, status=Status.ARCHIVED))
    assert ask(world.paired("plug", ["read"]), "memory_history")["current"] is None


def test_a_long_history_is_cut_at_whole_versions(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [make_memory(n, text="x" * 8000, version=n, status=Status.SUPERSEDED) for n in range(1, 60)]
    versions(world, monkeypatch, *rows)
    client = world.paired("plug", ["read"])
    found = ask(client, "memory_history")
    seen = [one["id"] for one in found["versions"]]
    while "next" in found:
        found = ask(client, "memory_history", after=found["next"])
        seen += [one["id"] for one in found["versions"]]
    assert seen == [row.id for row in rows]


# ---- who asked, for the owner


def test_the_owner_is_told_who_asked_and_why_and_a_client_is_not() -> None:
    asked = Asked("delete", "plug", "It is \x1b[31mwrong.", START_MS)
    waits = ListedConflict(
        id=ID,
        kind="approval",
        state="open",
        question="Shall this be deleted?",
        existing=None,
        incoming=make_memory(1),
        reason="A client asks to remove this, which it may not do by itself.",
        suggestion=None,
        actions=(Action.SUPERSEDE, Action.REJECT),
        opened_at=START_MS,
        asked=asked,
    )
    told = conflict(waits, Shape(exact=True, name_of=str))
    assert told["asked"] == {
        "wish": "delete", "client": "plug", "reason": "It is \x1b[31mwrong.", "at": "2023-11-14T22:13:20Z",
    }  # fmt: skip
    line, _ = fit(1, {"conflicts": [told]})
    assert b"\x1b" not in line
    for problem in REGISTRY.result_checker("owner.conflicts").iter_errors({"conflicts": [told]}):
        raise AssertionError(problem.message)
