"""`resources/protocol.json` and the checking of parameters."""

from __future__ import annotations

from typing import Any

import pytest
from ipc_peers import REGISTRY
from jsonschema import Draft202012Validator

import make_protocol
from core.errors import Code, LociError, UserError
from core.ipc.methods.table import METHODS
from core.ipc.protocol.messages import LINE_BYTES, PROTOCOL

CLIENT = {name for name, method in REGISTRY.methods.items() if method.who == "client"}
OWNER = {name for name, method in REGISTRY.methods.items() if method.who == "owner"}


def refused(method: str, params: dict[str, Any]) -> LociError:
    def send() -> None:
        if method in CLIENT:
            REGISTRY.refuse_forbidden(params)
        REGISTRY.find_method(method).check_params(params)

    with pytest.raises(LociError) as caught:
        send()
    return caught.value


@pytest.mark.slow
def test_every_schema_is_one() -> None:
    for name, method in REGISTRY.methods.items():
        Draft202012Validator.check_schema(method.params)
        Draft202012Validator.check_schema(method.result)
        assert method.params["additionalProperties"] is False, name
        assert method.about.endswith("."), name
        assert {Code(code) for code in method.errors}, name
        for alias, target in method.aliases.items():
            assert target in method.params["properties"], (name, alias)


def test_the_file_and_the_code_agree() -> None:
    assert (REGISTRY.protocol, REGISTRY.line_bytes) == (PROTOCOL, LINE_BYTES)
    assert REGISTRY.methods.keys() - CLIENT - OWNER == {"hello", "auth", "pair"}
    by_the_connection = {name for name, entry in METHODS.items() if entry.run is None}
    assert by_the_connection == {
        "hello", "auth", "pair", "subscribe", "health",
        "owner.pair_code", "owner.pair_answer", "owner.handover", "owner.cancel",
    }  # fmt: skip


def test_the_file_is_what_the_table_makes() -> None:
    assert make_protocol.PROTOCOL.read_text("utf-8") == make_protocol.text(), "run packaging/make_protocol.py"


@pytest.mark.parametrize("name", sorted(REGISTRY.forbidden | {"tenant_id", "butler", "agent_id", "provenance"}))
def test_forbidden_fields_are_refused_by_name(name: str) -> None:
    error = refused("memory_store", {"text": "x", name: "planted-value"})
    assert error.code is Code.FORBIDDEN_FIELD
    assert f"`{name}`" in error.sentence
    assert "planted-value" not in error.sentence


def test_forbidden_fields_are_found_deeper_but_not_in_free_words() -> None:
    assert refused("memory_search", {"query": "x", "filters": {"client_id": "1"}}).code is Code.FORBIDDEN_FIELD
    REGISTRY.refuse_forbidden({"claim": {"qualifiers": {"client": "x"}}})
    REGISTRY.refuse_forbidden({"metadata": {"client": "ACME", "origin": {"token": "x"}}})
    REGISTRY.refuse_forbidden({"context_hints": {"domain_scores": {"token": 5}}})
    REGISTRY.refuse_forbidden({"tags": ["client", "token"], "messages": [{"text": "client"}]})
    for params in ({"messages": [{"text": "x"}, {"trust": 1}]}, {"tools": [{"client_id": "x"}]}):
        with pytest.raises(UserError) as listed:
            REGISTRY.refuse_forbidden(params)
        assert listed.value.code is Code.FORBIDDEN_FIELD


@pytest.mark.parametrize(
    ("method", "params", "sentence"),
    [
        ("memory_store", {"text": "x", "importance": 1.5}, "`importance` must be at most 1."),
        ("memory_store", {"text": "x", "importance": -0.1}, "`importance` must be at least 0."),
        ("memory_store", {"text": "x", "kind": "dream"}, "`kind` must be one of episode, fact, rule, procedure."),
        ("memory_store", {"text": "x", "tags": ["a", 7]}, "`tags[1]` must be a text."),
        ("memory_store", {"text": "x", "content": "y"}, "`text` is given twice, under two spellings."),
        ("memory_get", {"memory_id": "a", "id": "b"}, "`id` is given twice, under two spellings."),
        ("memory_list", {"limit": 201}, "`limit` must be at most 200."),
        ("memory_list", {"limit": 0}, "`limit` must be at least 1."),
        ("memory_search", {"query": "x", "mode": "psychic"}, "`mode` must be one of hybrid, semantic, keyword."),
        ("hello", {"protocol": 2, "client": "x", "nonce": "AA"}, "`protocol` must be 1."),
        ("pair", {"client": "x", "code": "x", "grants": ["everything"]}, "`grants[0]` has a form that is not allowed."),
    ],
)
def test_one_sentence_with_field_and_rule(method: str, params: dict[str, Any], sentence: str) -> None:
    error = refused(method, params)
    assert error.code is Code.INVALID_INPUT
    assert error.sentence == sentence


LIST = "text, kind, category, status, space, since, until, limit, after, channel, channel_user"


@pytest.mark.parametrize(
    ("method", "params", "sentence"),
    [
        ("memory_get", {"zeal<\n": 1, "id": "x"}, "`zeal\\u003c` is not a parameter of memory_get, which takes id (re"),
        ("memory_get", {}, "`id` is missing; memory_get takes id (required), memory_type, "),
        ("memory_list", {"zeal": 1}, f"`zeal` is not a parameter of memory_list, which takes {LIST}."),
        ("memory_list", {"text": 7}, f"`text` must be a text; memory_list takes {LIST}."),
        (
            "memory_store",
            {"text": "x", "importance": True},
            "`importance` must be a number; memory_store takes text (r",
        ),
        (
            "memory_store",
            {"text": "x", "claim": {"subject": "I"}},
            "`claim.predicate` is missing; `claim` takes subject (required), predicate (required), value (required), ",
        ),
        (
            "memory_store",
            {"text": "x", "claim": {"sub": 1}},
            "`claim.sub` is not a parameter of `claim`, which takes subject (required), predicate (required), value ",
        ),
        ("owner.pair", {"name": "x", "limit": "lots"}, "`limit` has a form that is not allowed; owner.pair takes name"),
        ("health", {"zeal": 1}, "`zeal` is not a parameter of health, which takes no parameters."),
    ],
)
def test_a_wrong_parameter_is_told_with_the_right_ones(method: str, params: dict[str, Any], sentence: str) -> None:
    error = refused(method, params)
    assert error.code is Code.INVALID_INPUT
    assert error.sentence.startswith(sentence)
    assert error.sentence.endswith(".")
    assert ". " not in error.sentence


def test_no_list_of_parameters_is_longer_than_a_client_reads() -> None:
    """The client library reads 500 characters of a sentence."""
    for name in REGISTRY.methods:
        assert len(refused(name, {"zeal" * 10: 1}).sentence) <= 500, name


def test_values_never_come_back() -> None:
    error = refused("memory_store", {"text": "x", "claim": {"qualifiers": {"planted-key\n": 5}}})
    assert "\n" not in error.sentence
    assert "planted-value" not in refused("memory_store", {"text": "x", "kind": "planted-value"}).sentence


def test_aliases_are_spelled_as_the_contract() -> None:
    assert REGISTRY.find_method("memory_store").check_params({"content": "x"}) == {"text": "x"}
    assert REGISTRY.find_method("memory_search").check_params({"topic": "x"}) == {"query": "x"}
    assert REGISTRY.find_method("memory_get").check_params({"rule_id": "x"}) == {"id": "x"}
    assert REGISTRY.find_method("owner.show").check_params({"memory_id": "x"}) == {"id": "x"}


def test_unknown_methods() -> None:
    with pytest.raises(LociError) as caught:
        REGISTRY.find_method("memory_context<script>\n" + "x" * 500)
    assert caught.value.code is Code.UNKNOWN_METHOD
    assert len(caught.value.sentence) < 80
    assert "<" not in caught.value.sentence
