"""Tools of `loci mcp`: derived from the protocol, few words in every profile, each thing said once."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from app.mcp.messages import load_protocol, load_words
from app.mcp.server import _declare_tool
from app.mcp.tools import (
    FULL,
    LEAN,
    MOST_BUDGET,
    PROFILES,
    STANDARD,
    callable_tools,
    common_words,
    inline_references,
    list_tools,
)
from core.embed.embedder import counter_for
from core.ipc.protocol.contract import load_registry

SIX = ["memory_context", "memory_search", "memory_store", "memory_update", "memory_feedback", "memory_forget"]
MORE = ["memory_list", "memory_get", "memory_history", "turn_begin", "turn_end"]
TWINS = {"memory_recall", "memory_delete", "memory_store_episode", "memory_mark_helpful", "memory_mark_harmful"}


def clients_methods() -> dict[str, Any]:
    return {name: body for name, body in load_protocol()["methods"].items() if body["who"] == "client"}


def listed(profile: str) -> str:
    """The answer to `tools/list` as it crosses the wire."""
    tools = [_declare_tool(tool).model_dump(mode="json", by_alias=True, exclude_none=True) for tool in all_of(profile)]
    return json.dumps({"tools": tools}, separators=(",", ":"))


def all_of(profile: str) -> list[Any]:
    return list(list_tools(profile).values())


def test_full_offers_every_method_of_clients_but_twins_and_what_no_model_can_use() -> None:
    assert list(list_tools(FULL)) == [name for name in clients_methods() if name not in {*TWINS, "subscribe"}]
    assert load_words()["twins"].keys() == TWINS
    assert set(load_words()["twins"].values()) <= set(list_tools(FULL))


def test_a_twin_is_answered_though_it_is_not_listed() -> None:
    assert callable_tools(FULL).keys() == clients_methods().keys() - {"subscribe"}
    assert callable_tools(LEAN).keys() == set(SIX)


def test_lean_offers_the_six_of_the_contract() -> None:
    assert list(list_tools(LEAN)) == SIX


def test_standard_offers_lists_single_memories_history_and_turns_too() -> None:
    assert list(list_tools(STANDARD)) == [*SIX, *MORE]
    assert {"since", "until"} <= list_tools(STANDARD)["memory_list"].schema["properties"].keys()


@pytest.mark.parametrize(("profile", "most"), [(LEAN, 1_500), (STANDARD, 5_000), (FULL, 12_000)])
def test_definitions_stay_within_their_budget(profile: str, most: int) -> None:
    """All of `tools/list`, by a counter that estimates JSON high, and what is said of parameters beside it."""
    count = counter_for().count
    assert count(listed(profile)) + count(common_words(profile)) < most


@pytest.mark.parametrize("profile", PROFILES)
def test_no_definition_promises_a_shape_of_results(profile: str) -> None:
    assert "outputSchema" not in listed(profile)


def test_what_many_parameters_share_is_said_once() -> None:
    said = common_words(FULL)
    for name in ("session", "request_id", "channel", "memory_type", "after"):
        assert f"`{name}`" in said
        assert all("description" not in tool.schema["properties"].get(name, {}) for tool in all_of(FULL)), name
    assert common_words(LEAN) == ""
    assert "request_id" not in common_words(STANDARD)


def test_a_budget_is_kept_within_what_a_result_may_have() -> None:
    tool = list_tools(LEAN)["memory_context"]
    assert tool.arguments({"prompt": "x", "token_budget": 90_000})["token_budget"] == MOST_BUDGET
    assert tool.arguments({"prompt": "x", "token_budget": 400})["token_budget"] == 400
    assert tool.arguments({"prompt": "x", "token_budget": "much"})["token_budget"] == "much"


def test_every_tool_says_what_it_is_for() -> None:
    for profile in PROFILES:
        assert all(tool.about.endswith(".") for tool in list_tools(profile).values())


@pytest.mark.slow
def test_schemas_are_whole() -> None:
    for profile in PROFILES:
        for name in list_tools(profile):
            tool = list_tools(profile)[name]
            assert "$ref" not in json.dumps(tool.schema), name
            Draft202012Validator.check_schema(tool.schema)
            assert tool.schema["type"] == "object"
            assert tool.schema["additionalProperties"] is False


def test_full_schemas_take_what_the_engine_takes_and_refuse_other_names() -> None:
    """Lengths are told by the engine when they are passed; names, types and what is needed stand in the schema."""
    registry = load_registry()
    for name, tool in list_tools(FULL).items():
        mine, theirs = Draft202012Validator(tool.schema), registry.methods[name].checker
        for given in ({}, {"nonsense": 1}, {"text": "x"}, {"query": "x", "limit": 0}, {"prompt": "x"}, {"id": 7}):
            assert mine.is_valid(given) == theirs.is_valid(given), (name, given)
        left_out = set(load_words()["left_out"]["parameters"])
        assert registry.methods[name].params["properties"].keys() - tool.schema["properties"].keys() <= left_out


def test_aliases_stand_in_no_schema() -> None:
    for name, tool in callable_tools(FULL).items():
        body = clients_methods()[name]
        aliases = set(body.get("aliases", {})) - set(body["params"].get("properties", {}))
        assert not aliases & set(tool.schema["properties"])


@pytest.mark.parametrize("profile", [LEAN, STANDARD])
def test_a_profile_shows_every_parameter_that_is_needed_and_none_that_does_not_exist(profile: str) -> None:
    for name, shown in load_words()["profiles"][profile].items():
        body, schema = clients_methods()[name], list_tools(profile)[name].schema
        assert set(body["params"].get("required", ())) <= set(schema["properties"]), name
        assert set(shown) == set(schema["properties"]), name


def test_every_word_of_the_resources_is_about_something_that_exists() -> None:
    methods = clients_methods()
    parameters = {name for body in methods.values() for name in body["params"].get("properties", {})}
    assert load_words()["tools"].keys() <= methods.keys()
    assert load_words()["common"].keys() <= parameters
    for key in load_words()["parameters"]:
        tool, _, name = key.rpartition(".")
        assert name in (methods[tool]["params"]["properties"] if tool else parameters), key


def test_hints_follow_the_effect() -> None:
    for name, tool in list_tools(FULL).items():
        assert tool.reads == (clients_methods()[name]["effect"] == "read")
        assert not (tool.reads and tool.destroys)
    assert all(
        name in load_protocol()["methods"] or name.startswith(("memory_", "entity_"))
        for name in load_words()["destructive"]
    )


def test_a_writing_call_gets_a_request_id_of_its_own() -> None:
    tool = list_tools(LEAN)["memory_store"]
    first, second = tool.arguments({"text": "a"}), tool.arguments({"text": "a"})
    assert first["request_id"] != second["request_id"]
    assert tool.arguments({"text": "a", "request_id": "mine"})["request_id"] == "mine"
    assert tool.repeatable
    assert list_tools(LEAN)["memory_search"].arguments(None) == {}


def test_inlining_keeps_what_stands_beside_a_reference() -> None:
    found = inline_references({"$ref": "#/$defs/time", "description": "When."})
    assert found["description"] == "When."
    assert found["type"] == ["string", "number"]
