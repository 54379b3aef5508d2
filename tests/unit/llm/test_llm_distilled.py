"""Seed B, "Consolidation output parsing": every scenario, and what else an answer may be."""

from __future__ import annotations

import json
from typing import Any

import pytest

from core.llm.distillate import MOST_ITEMS, NO_JSON, NewFact, NewRule, parse_distillate, parse_uuid
from core.llm.prompts import PROMPT_ANSWER_BYTES, answer_schema

ID = "0192f0c1-7a3e-7b5e-8c55-0242ac120002"
OTHER = "0192f0c1-7a3e-7b5e-8c55-0242ac120003"
FACT = {"subject": "user", "predicate": "lives in", "content": "The user lives in Bergen."}


def answer(**lists: Any) -> str:
    return json.dumps(lists)


def test_parse_fenced_json_code_block() -> None:
    for fence in ("```json\n{}\n```", "```\n{}\n```", "Here it is:\n```JSON {}```\nAnything else?"):
        read = parse_distillate(fence.replace("{}", answer(new_facts=[FACT])))
        assert [fact.content for fact in read.new_facts] == ["The user lives in Bergen."]
        assert read.parse_errors == ()


def test_parse_bare_json_object() -> None:
    held = answer(new_facts=[{**FACT, "content": 'He said "}" and {"'}])
    read = parse_distillate(f"Sure, {held} is what I found }} {{.")
    assert [fact.content for fact in read.new_facts] == ['He said "}" and {"']


def test_the_fenced_block_counts_more_than_braces_before_it() -> None:
    read = parse_distillate('Set {x} aside.\n```json\n{"confirmations": ["' + ID + '"]}\n```')
    assert read.confirmations == (ID,)


def test_new_fact_validation() -> None:
    given = [
        {**FACT, "permanence": "stable", "importance": 7, "tags": ["home", "home", 3, "x" * 41]},
        {**FACT, "content": "Two.", "permanence": "for ever", "importance": 99, "tags": "home"},
        {**FACT, "content": "Three.", "importance": -5},
        {**FACT, "content": "Four.", "importance": "high"},
        {**FACT, "content": "  "},
        {"subject": "user", "predicate": "likes"},
        {**FACT, "subject": 3},
        {**FACT, "content": "x" * 501},
        "a text",
    ]
    read = parse_distillate(answer(new_facts=given))
    assert read.new_facts == (
        NewFact("user", "lives in", FACT["content"], "stable", 0.7, ("home",)),
        NewFact("user", "lives in", "Two.", "standard", 1.0),
        NewFact("user", "lives in", "Three.", "standard", 0.1),
        NewFact("user", "lives in", "Four.", "standard", 0.5),
    )
    needs = "needs subject, predicate and content"
    assert read.parse_errors == (
        f"new_facts[4] {needs}",
        f"new_facts[5] {needs}",
        f"new_facts[6] {needs}",
        "new_facts[7] is too long",
        "new_facts[8] is not an object",
    )


def test_updated_fact_validation() -> None:
    read = parse_distillate(answer(updated_facts=[{**FACT, "target_id": ID}, {**FACT, "target_id": "7"}, FACT, {}, 7]))
    assert [(fact.target_id, fact.content) for fact in read.updated_facts] == [(ID, FACT["content"])]
    assert len(read.parse_errors) == 4
    assert read.parse_errors[0] == "updated_facts[1] needs a target_id that is a UUID"


def test_confirmation_validation() -> None:
    read = parse_distillate(answer(confirmations=[ID, "no", 7, None, OTHER.upper(), ID]))
    assert read.confirmations == (ID, OTHER)
    assert read.parse_errors == tuple(f"confirmations[{place}] is not a UUID" for place in (1, 2, 3))


def test_new_rule_validation() -> None:
    read = parse_distillate(
        answer(new_rules=[{"content": "Answer in Norwegian.", "tags": ["style"]}, {"content": ""}, 1])
    )
    assert read.new_rules == (NewRule("Answer in Norwegian.", ("style",)),)
    assert read.parse_errors == ("new_rules[1] needs content", "new_rules[2] is not an object")


@pytest.mark.parametrize(
    "raw",
    [
        "",
        "I could not find anything.",
        "[1, 2]",
        "{",
        '{"new_facts": [',
        '{"new_facts": [NaN]}',
        '{"confirmations": [], "confirmations": []}',
        '{"a":' * 2_000 + "1" + "}" * 2_000,
        "{" * 30_000,
        "```json\n" * 3_000,
        "```" + " " * 30_000,
        '{"new_facts": []}' + " " * PROMPT_ANSWER_BYTES,
        '{"new_facts": ["\\ud800"]}',
    ],
    ids=[
        "empty", "words", "list", "brace", "cut", "nan", "repeated", "deep", "braces", "fences", "blanks", "long",
        "surrogate",
    ],
)  # fmt: skip
def test_no_json_found(raw: str) -> None:
    read = parse_distillate(raw)
    assert (read.parse_errors, read.has_json) == ((NO_JSON,), False)
    assert (read.new_facts, read.updated_facts, read.new_rules, read.confirmations) == ((), (), (), ())


def test_lists_are_bounded_and_other_shapes_are_told() -> None:
    many = [{**FACT, "content": f"Fact {n}."} for n in range(MOST_ITEMS + 5)]
    read = parse_distillate(answer(new_facts=many, updated_facts={}, confirmations=None, more=[1]))
    assert len(read.new_facts) == MOST_ITEMS
    assert read.parse_errors == (
        f"new_facts has more than {MOST_ITEMS} entries; the others were left out",
        "updated_facts is not a list",
        "confirmations is not a list",
    )


def test_no_word_of_an_answer_is_in_an_error() -> None:
    secret = "Marzipanturm"
    read = parse_distillate(
        answer(new_facts=[{"subject": secret}, secret], confirmations=[secret], new_rules=[{secret: 1}])
    )
    assert len(read.parse_errors) == 4
    assert secret not in " ".join(read.parse_errors)


def test_a_uuid_is_read_in_its_plain_form_only() -> None:
    assert parse_uuid(ID.upper()) == ID
    for other in (ID.replace("-", ""), "{" + ID + "}", "urn:uuid:" + ID, ID + " ", 7, None, ""):
        assert parse_uuid(other) is None


def test_the_schema_asks_for_what_is_read() -> None:
    asked = answer_schema("distill")["properties"]
    assert set(asked) == {"new_facts", "updated_facts", "new_rules", "confirmations"}
    assert asked["updated_facts"]["items"]["required"] == ["target_id", "subject", "predicate", "content"]
