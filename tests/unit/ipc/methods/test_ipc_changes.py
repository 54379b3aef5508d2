"""Clients that change memories over the socket: grants, shapes, limits of words, versions within sight."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest
from ipc_peers import REGISTRY, code_of
from ipc_served import Served
from ipc_values import START_MS, make_memory

from core.errors import Code
from core.ipc.client.client import Client
from core.ipc.methods.memory_json import Shape, conflict_json
from core.ipc.socket.line_stream import fit_reply
from core.types.memory import Relationship, RequestedChange
from core.types.reviews import ClientRequest, ListedConflict
from core.types.values import Action, Actor, Kind, Memory, Status

ID = make_memory(1).id
ASKING = ("memory_update", "memory_delete", "memory_forget", "memory_feedback")
WRITING = ("memory_mark_helpful", "memory_mark_harmful", "memory_relate")
METHODS = ("memory_feedback", *WRITING, "memory_update", "memory_history", "memory_delete", "memory_forget")
"""All that changes, and the history; what takes a memory away comes last."""


@dataclass
class Barn:
    """A served engine with three memories of the person that everybody sees."""

    served: Served
    fact: str
    other: str
    rule: str

    def params(self, method: str) -> dict[str, Any]:
        """What a method is called with."""
        told: dict[str, dict[str, Any]] = {
            "memory_update": {"id": self.fact, "text": "The barn is green."},
            "memory_delete": {"id": self.fact},
            "memory_forget": {"rule_id": self.rule, "memory_type": "rule"},
            "memory_feedback": {"memory_id": self.fact, "helpful": True},
            "memory_mark_helpful": {"rule_id": self.rule},
            "memory_mark_harmful": {"rule_id": self.rule, "reason": "It cracked."},
            "memory_relate": {"source_id": self.fact, "target_id": self.other, "relationship": "caused_by"},
            "memory_history": {"id": self.fact},
        }
        return told[method]

    def ask(self, client: Client, method: str, **more: Any) -> dict[str, Any]:
        """Call a method whose answer is as the protocol has it."""
        return self.served.call(client, method, **{**self.params(method), **more})

    def paired(self, name: str, *grants: str) -> Client:
        """A greeted client."""
        return self.served.paired(name, grants)


@pytest.fixture
def barn(served: Served) -> Barn:
    store = served.rig.store
    fact, other = (store(text, space="GLOBAL").memory_id for text in ("The barn is red.", "The fence is white."))
    return Barn(served, fact, other, store("Paint wood before winter.", kind=Kind.RULE, space="GLOBAL").memory_id)


def test_every_change_answers_in_the_shape_of_the_contract(barn: Barn) -> None:
    told = (("plug", (), ("PROPOSED", "PROPOSED")), ("judge", ("curate",), ("DELETE", "FORGET")))
    for name, more, operations in told:
        client = barn.paired(name, "read", "write", *more)
        texts = (f"The {name} gate squeaks.", f"The {name} shed leaks.", f"The {name} well is dry.")
        fact, other, gone = (str(client.call("memory_store", {"text": text})["memory_id"]) for text in texts)
        rule = str(client.call("memory_store_rule", {"text": f"Grease the {name} hinges."})["memory_id"])
        own = Barn(barn.served, fact, other, rule)
        found = {method: own.ask(client, method) for method in METHODS if method != "memory_delete"}
        found["memory_delete"] = own.ask(client, "memory_delete", id=gone)
        assert found.keys() == set(METHODS)
        assert (found["memory_delete"]["operation"], found["memory_forget"]["operation"]) == operations
        waits = {method: barn.ask(client, method)["operation"] for method in ("memory_update", "memory_delete")}
        assert set(waits.values()) == {"PROPOSED"}


def test_what_a_client_may_not_change_by_itself_waits_for_the_person(barn: Barn) -> None:
    client = barn.paired("plug", "read", "write")
    asked = barn.served.asked("client_changes")
    update = barn.ask(client, "memory_update", reason="Painted.", memory_type="fact", request_id="r1")
    waiting, item, step = (update.pop(name) for name in ("memory_id", "conflict", "step"))
    assert update == {"operation": "PROPOSED", "deduplicated": False, "superseded": [], "merged": False}
    assert (barn.served.rig.get(waiting).text, barn.served.rig.get(waiting).status) == (
        "The barn is green.", Status.QUARANTINED,
    )  # fmt: skip
    owner = barn.served.owner()
    assert [one["id"] for one in owner.call("owner.conflicts")["conflicts"]] == [item]
    assert owner.call("owner.steps", {"limit": 1})["items"][0]["id"] == step
    (_, (ident, text, actor, *rest), _), *_ = asked
    assert (ident, text, actor.name, rest) == (barn.fact, "The barn is green.", "plug", ["Painted.", Kind.FACT, "r1"])


def test_who_may_curate_changes_its_own_at_once(barn: Barn) -> None:
    client = barn.paired("plug", "read", "write", "curate")
    mine, gone, past = (
        client.call("memory_store", {"text": text})["memory_id"]
        for text in ("The gate squeaks.", "The shed leaks.", "The well is dry.")
    )
    assert barn.ask(client, "memory_update", id=mine, text="The gate squeaks at night.")["superseded"] == [mine]
    assert barn.ask(client, "memory_delete", id=gone)["operation"] == "DELETE"
    assert barn.served.call(client, "memory_forget", id=past)["operation"] == "FORGET"


def test_what_is_asked_is_handed_on_whole(barn: Barn) -> None:
    client = barn.paired("plug", "read", "write")
    rule = client.call("memory_store_rule", {"text": "Grease the hinges."})["memory_id"]
    asked = barn.served.asked("client_changes")
    barn.ask(client, "memory_forget", request_id="r1")
    barn.ask(client, "memory_feedback", request_id="r2")
    barn.ask(client, "memory_mark_harmful", rule_id=rule, request_id="r3")
    barn.ask(client, "memory_relate", source_id=rule, request_id="r4")
    told = [(verb, tuple(one for one in given if not isinstance(one, Actor)), named) for verb, given, named in asked]
    assert told == [
        ("remove_memory", (barn.rule, RequestedChange.FORGET, None, Kind.RULE, "r1"), {}),
        ("give_feedback", (barn.fact,), {"helpful": True, "reason": None, "kind": None, "request_id": "r2"}),
        ("mark_rule", (rule,), {"helpful": False, "reason": "It cracked.", "kind": None, "request_id": "r3"}),
        ("relate_memories", (rule, barn.other, Relationship.CAUSED_BY, "r4"), {}),
    ]


def test_grants_are_looked_at_first(barn: Barn) -> None:
    reader, asker = barn.paired("reader", "read"), barn.paired("asker", "read", "propose")
    asked = barn.served.asked("client_changes")
    for method in (*ASKING, *WRITING):
        assert code_of(partial(barn.ask, reader, method)) is Code.ACCESS_DENIED
    for method in WRITING:
        assert code_of(partial(barn.ask, asker, method)) is Code.ACCESS_DENIED
    assert asked == []
    for method in ASKING:
        barn.ask(asker, method)
    assert barn.ask(reader, "memory_history")["current"]["id"] == barn.fact


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
def test_what_does_not_fit_is_refused_by_name(barn: Barn, method: str, more: dict[str, Any]) -> None:
    client, asked = barn.paired("plug", "read", "write"), barn.served.asked("client_changes")
    assert code_of(lambda: barn.ask(client, method, **more)) is Code.INVALID_INPUT
    assert asked == []


def test_nobody_says_who_it_is(barn: Barn) -> None:
    client = barn.paired("plug", "read", "write")
    for name in ("client_id", "agent_id", "trust", "provenance"):
        assert code_of(partial(barn.ask, client, "memory_update", **{name: "x"})) is Code.FORBIDDEN_FIELD


# ---- history


def versions(barn: Barn, monkeypatch: pytest.MonkeyPatch, *rows: Memory) -> None:
    def history(*_: Any) -> Future[tuple[Memory, ...]]:
        future: Future[tuple[Memory, ...]] = Future()
        future.set_result(rows)
        return future

    monkeypatch.setattr(barn.served.engine.memories, "list_versions", history)


def test_history_has_times_and_bands_and_the_one_that_stands(barn: Barn, monkeypatch: pytest.MonkeyPatch) -> None:
    old = make_memory(
        1, status=Status.SUPERSEDED, superseded_by_id=make_memory(2).id, retired_at=START_MS, valid_to=START_MS
    )
    hidden = make_memory(3, status=Status.SUPERSEDED, superseded_by_id="out-of-sight")
    versions(barn, monkeypatch, old, hidden, make_memory(2, version=2))
    found = barn.ask(barn.paired("plug", "read"), "memory_history")
    assert [one["version"] for one in found["versions"]] == [1, 1, 2]
    assert [one["superseded_by"] for one in found["versions"]] == [make_memory(2).id, None, None]
    assert found["versions"][0]["retired_at"] == found["versions"][0]["valid_to"] == "2023-11-14T22:13:20Z"
    assert found["current"] == found["versions"][2]
    assert found["versions"][0]["trust"] == "high"
    assert "chain_id" not in found["versions"][0]
    other = barn.paired("plug", "read")
    assert code_of(lambda: barn.ask(other, "memory_history", memory_type="rule")) is Code.NOT_FOUND


def test_a_chain_without_a_standing_version_has_no_current_one(barn: Barn, monkeypatch: pytest.MonkeyPatch) -> None:
    versions(barn, monkeypatch, make_memory(1, status=Status.ARCHIVED))
    assert barn.ask(barn.paired("plug", "read"), "memory_history")["current"] is None


def test_a_long_history_is_cut_at_whole_versions(barn: Barn, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [make_memory(n, text="x" * 8000, version=n, status=Status.SUPERSEDED) for n in range(1, 60)]
    versions(barn, monkeypatch, *rows)
    client = barn.paired("plug", "read")
    found = barn.ask(client, "memory_history")
    seen = [one["id"] for one in found["versions"]]
    while "next" in found:
        found = barn.ask(client, "memory_history", after=found["next"])
        seen += [one["id"] for one in found["versions"]]
    assert seen == [row.id for row in rows]


# ---- who asked, for the owner


def test_the_owner_is_told_who_asked_and_why_and_a_client_is_not() -> None:
    asked = ClientRequest("delete", "plug", "It is \x1b[31mwrong.", START_MS)
    waits = ListedConflict(
        id=ID,
        kind="approval",
        state="open",
        question="Should this be deleted?",
        existing=None,
        incoming=make_memory(1),
        reason="A client asks to remove this, which it may not do by itself.",
        suggestion=None,
        actions=(Action.SUPERSEDE, Action.REJECT),
        opened_at=START_MS,
        asked=asked,
    )
    told = conflict_json(waits, Shape(exact=True, name_of=str))
    assert told["asked"] == {
        "wish": "delete", "client": "plug", "reason": "It is \x1b[31mwrong.", "at": "2023-11-14T22:13:20Z",
    }  # fmt: skip
    line, _ = fit_reply(1, {"conflicts": [told]})
    assert b"\x1b" not in line
    for problem in REGISTRY.result_checker("owner.conflicts").iter_errors({"conflicts": [told]}):
        raise AssertionError(problem.message)
