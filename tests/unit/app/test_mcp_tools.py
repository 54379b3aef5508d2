"""Tools of `loci mcp`: derived from the protocol, small in the lean profile, whole in the full one."""

from __future__ import annotations

import json
from typing import Any

from jsonschema import Draft202012Validator

from app.mcp.tools import PROFILES, inlined, offered
from app.mcp.words import protocol, words
from core.embed.tokens import counter_for
from core.ipc.protocol import load

SIX = ["memory_context", "memory_search", "memory_store", "memory_update", "memory_feedback", "memory_forget"]
BUDGET = 1500


def clients_methods() -> dict[str, Any]:
    return {name: body for name, body in protocol()["methods"].items() if body["who"] == "client"}


def definition(name: str, profile: str) -> str:
    tool = offered(profile)[name]
    given = {"name": name, "description": tool.about, "inputSchema": tool.schema}
    return json.dumps(given, separators=(",", ":"))


def test_full_offers_every_method_of_clients() -> None:
    assert list(offered("full")) == list(clients_methods())


def test_lean_offers_the_six_of_the_contract() -> None:
    assert list(offered("lean")) == [name for name in SIX if name in clients_methods()]
    assert list(words()["profiles"]["lean"]) == SIX


def test_lean_definitions_stay_within_their_budget() -> None:
    # More than the contract asks: descriptions and schemas together, by a counter that estimates JSON high.
    count = counter_for().count
    assert sum(count(definition(name, "lean")) for name in offered("lean")) < BUDGET


def test_every_tool_says_what_it_is_for() -> None:
    for profile in PROFILES:
        assert all(tool.about.endswith(".") and tool.title for tool in offered(profile).values())


def test_schemas_are_whole() -> None:
    for profile in PROFILES:
        for name in offered(profile):
            tool = offered(profile)[name]
            assert "$ref" not in json.dumps([tool.schema, tool.result]), name
            Draft202012Validator.check_schema(tool.schema)
            assert tool.schema["type"] == "object"
            assert tool.schema["additionalProperties"] is False


def test_full_schemas_take_and_refuse_what_the_engine_does() -> None:
    registry = load()
    for name, tool in offered("full").items():
        mine, theirs = Draft202012Validator(tool.schema), registry.methods[name].checker
        for given in ({}, {"nonsense": 1}, {"id": ""}, {"text": "x"}, {"query": "x", "limit": 0}, {"prompt": "x"}):
            assert mine.is_valid(given) == theirs.is_valid(given), (name, given)


def test_aliases_stand_in_no_schema() -> None:
    for name, body in clients_methods().items():
        aliases = set(body.get("aliases", {})) - set(body["params"].get("properties", {}))
        assert not aliases & set(offered("full")[name].schema.get("properties", {}))


def test_lean_shows_every_parameter_that_is_needed_and_none_that_does_not_exist() -> None:
    for name, more in words()["profiles"]["lean"].items():
        body = clients_methods().get(name)
        if body is None:
            continue
        schema = offered("lean")[name].schema
        assert set(body["params"].get("required", ())) <= set(schema["properties"]), name
        assert set(more["show"]) <= set(body["params"]["properties"]), name


def test_hints_follow_the_effect() -> None:
    for name, tool in offered("full").items():
        assert tool.reads == (clients_methods()[name]["effect"] == "read")
        assert not (tool.reads and tool.destroys)
    assert all(
        name in protocol()["methods"] or name.startswith(("memory_", "entity_")) for name in words()["destructive"]
    )


def test_a_writing_call_gets_a_request_id_of_its_own() -> None:
    tool = offered("lean")["memory_store"]
    first, second = tool.arguments({"text": "a"}), tool.arguments({"text": "a"})
    assert first["request_id"] != second["request_id"]
    assert tool.arguments({"text": "a", "request_id": "mine"})["request_id"] == "mine"
    assert tool.repeatable
    assert offered("lean")["memory_search"].arguments(None) == {}


def test_inlining_keeps_what_stands_beside_a_reference() -> None:
    found = inlined({"$ref": "#/$defs/time", "description": "When."})
    assert found["description"] == "When."
    assert found["type"] == ["string", "number"]
