"""What holds of every method of clients alike, read from resources/protocol.json."""

from __future__ import annotations

import asyncio
import json
from importlib.resources import files
from typing import Any

import pytest
from ipc_values import found_item, make_client, make_memory
from jsonschema import Draft202012Validator

from core.ipc.methods.definition.entry import MethodCall
from core.ipc.methods.memory_json import Shape
from core.ipc.methods.table import METHODS
from core.ipc.protocol.contract import load_registry
from core.ipc.protocol.sessions import client_session
from core.types.clock import ManualClock
from core.types.values import Grant

DOCUMENT = json.loads(files("resources").joinpath("protocol.json").read_text("utf-8"))
CLIENTS: dict[str, dict[str, Any]] = {name: one for name, one in DOCUMENT["methods"].items() if one["who"] == "client"}


def takes(name: str) -> dict[str, Any]:
    """The parameters of a method."""
    found: dict[str, Any] = CLIENTS[name]["params"]["properties"]
    return found


@pytest.mark.parametrize("name", [name for name, one in CLIENTS.items() if one["effect"] == "write"])
def test_every_write_takes_the_callers_own_id_for_it(name: str) -> None:
    assert takes(name)["request_id"]["$ref"] == "#/$defs/request_id"


@pytest.mark.parametrize("name", [name for name, one in CLIENTS.items() if "memory_id" in one.get("aliases", {})])
def test_what_takes_the_id_of_a_memory_takes_its_kind_too(name: str) -> None:
    assert takes(name)["memory_type"]["$ref"] == "#/$defs/kind"


@pytest.mark.parametrize("name", [name for name in CLIENTS if "session" in takes(name)])
def test_a_session_has_the_seeds_name_too(name: str) -> None:
    assert CLIENTS[name]["aliases"]["session_id"] == "session"


def test_a_reason_is_as_long_everywhere() -> None:
    reasons = [takes(name)["reason"] for name in CLIENTS if "reason" in takes(name)]
    assert len(reasons) >= 5
    assert {one["$ref"] for one in reasons} == {"#/$defs/verdict_reason"}


class Told(Exception):  # noqa: N818 - no error: it ends a handler where it asks the engine
    """What the engine was asked."""


class Spy:
    """An engine that only tells what it is asked: a path, and what stands in brackets behind it."""

    def __init__(self, path: str = "") -> None:
        self._path = path
        self.clock = ManualClock(1_700_000_000_000)

    def __getattr__(self, name: str) -> Spy:
        return Spy(f"{self._path}.{name}")

    def __call__(self, *given: object, **named: object) -> Spy:
        if self._path == ".clients.authenticator":  # who may see what, not a question to the vault
            return self
        raise Told(repr((self._path, given, sorted(named.items()))))


VALUES = {
    "id": "00000000-0000-7000-8000-000000000001",
    "entity_id": "00000000-0000-7000-8000-000000000002",
    "source_id": "00000000-0000-7000-8000-000000000003",
    "target_id": "00000000-0000-7000-8000-000000000004",
    "text": "A text.",
    "subject": "Anna",
    "predicate": "lives_in",
    "query": "tea",
    "session": "s",
    "name": "Anna",
    "canonical_name": "Anna",
    "entity_type": "person",
}
HERE = {name for name in CLIENTS if any("default" in one for one in takes(name).values())} - {"subscribe"}


def asked(name: str, params: dict[str, Any]) -> str:
    """What the engine is asked for these parameters."""
    checked = load_registry().methods[name].check_params(params)
    session = client_session(make_client("plug", tuple(grant.value for grant in Grant)))
    engine: Any = Spy()

    async def call() -> None:
        await METHODS[name].answer_call(MethodCall(engine, session), checked)

    with pytest.raises(Told) as caught:
        asyncio.run(call())
    return str(caught.value)


def test_many_methods_say_what_holds_where_nothing_is_said() -> None:
    assert len(HERE) >= 10


@pytest.mark.parametrize("name", sorted(HERE))
def test_what_the_list_of_methods_says_holds_is_what_holds(name: str) -> None:
    body = CLIENTS[name]["params"]
    needed = {field: VALUES[field] for field in body.get("required", ())}
    plain = asked(name, needed)
    for field, one in takes(name).items():
        if "default" in one:
            assert asked(name, {**needed, field: one["default"]}) == plain, field


def test_what_is_said_is_told_from_what_is_not() -> None:
    """The test above can fail: another value asks the engine something else."""
    assert asked("memory_list", {}) != asked("memory_list", {"limit": 11})
    assert asked("memory_search", {"query": "tea"}) != asked("memory_search", {"query": "tea", "min_confidence": 0.0})


def test_a_filter_weighs_more_than_what_holds_where_nothing_is_said() -> None:
    given = asked("memory_recall", {"query": "tea", "filters": {"min_confidence": 0.9}})
    assert given == asked("memory_recall", {"query": "tea", "min_confidence": 0.9})


SHAPED = make_memory(
    1, client_id="id-plug", ref="a-1", tags=("boat",), extra={"true_when": "in summer", "true_unless": "at sea"}
)


@pytest.mark.parametrize("exact", [False, True])
def test_an_item_is_what_the_list_of_methods_says_of_it(exact: bool) -> None:
    """Its members are typed, and a client gets none that is not told of."""
    shape = Shape(exact=exact, name_of=lambda _: "plug")
    found = shape.recalled_json(found_item(SHAPED), explain=True)
    checker = Draft202012Validator({"$ref": "#/$defs/item", "$defs": DOCUMENT["$defs"]})
    assert [problem.message for problem in checker.iter_errors(found)] == []
    told = DOCUMENT["$defs"]["item"]["properties"].keys()
    if not exact:
        assert found.keys() <= told
    wrong = {**found, "trust": "very", "created_at": 7, "ranks": ["vector"], "occurred_precision": "week", "tags": None}
    refused = {problem.path[0] for problem in checker.iter_errors(wrong)}
    assert refused == {"trust", "created_at", "ranks", "occurred_precision", "tags"}
