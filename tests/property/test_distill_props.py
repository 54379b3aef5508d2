"""Any answer of a model is read without an exception; what is borne out adds no word to its text."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from core.belief.relate.coverage import compared_words, is_entailed, is_exhausted_by
from core.llm.distillate import (
    EPISODES_BYTES,
    NO_JSON,
    PERMANENCE,
    Distillate,
    ShownMemory,
    count_fitting,
    distill_prompt,
    parse_distillate,
    parse_uuid,
)

KEYS = st.sampled_from(
    ["new_facts", "updated_facts", "new_rules", "confirmations", "subject", "predicate", "content", "target_id",
     "importance", "permanence", "tags"]
)  # fmt: skip
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.uuids().map(str)
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS | st.text(max_size=5), inner, max_size=6)
)
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=6)
SAID = 'I the user you my Anna tea coffee likes like do not never 7 12 in to Bergen moved . , and if maybe ? : "'
WORDS = st.sampled_from(SAID.split())
PIECES = st.sampled_from(["{", "}", '"', "\\", "```json\n", "```", "\n", '{"new_facts":', "[", "]", "NaN", "a", ":"])


def is_sound(read: Distillate) -> bool:
    facts = (*read.new_facts, *read.updated_facts)
    return (
        all(fact.subject and fact.predicate and fact.content and 0.1 <= fact.importance <= 1 for fact in facts)
        and all(fact.permanence in PERMANENCE for fact in facts)
        and all(parse_uuid(fact.target_id) == fact.target_id for fact in read.updated_facts)
        and all(parse_uuid(one) == one for one in read.confirmations)
        and all(rule.content for rule in read.new_rules)
        and len(set(read.confirmations)) == len(read.confirmations)
    )


@given(st.text() | st.lists(PIECES, max_size=60).map("".join))
def test_any_text_is_read(raw: str) -> None:
    read = parse_distillate(raw)
    assert is_sound(read)
    assert read.has_json or read.parse_errors == (NO_JSON,)


@given(OBJECTS, st.text(alphabet="ab \n.", max_size=20), st.booleans())
def test_any_object_is_read_whatever_stands_around_it(value: dict[str, Any], around: str, fenced: bool) -> None:
    held = json.dumps(value)
    read = parse_distillate(f"{around}```json\n{held}\n```{around}" if fenced else f"{around}{held}{around}")
    assert is_sound(read)


@given(st.lists(st.text(max_size=3_000), max_size=6))
def test_what_fits_fits_and_every_fence_is_closed_by_its_own(texts: list[str]) -> None:
    shown = [ShownMemory(str(place), text) for place, text in enumerate(texts)]
    count = count_fitting(shown)
    prompt = distill_prompt(shown[:count], [], [])
    told = prompt.user[prompt.user.index("</known>\n") + 9 :] if count else ""
    assert len(told.encode("utf-8")) <= EPISODES_BYTES + count
    assert told.count("<episode_content ") == told.count("</episode_content>") == count


@given(st.lists(WORDS, max_size=8), st.lists(WORDS, max_size=20))
def test_what_is_borne_out_has_no_word_that_its_text_has_not(statement: list[str], text: list[str]) -> None:
    told, said = " ".join(statement), " ".join(text)
    if is_entailed(told, said):
        joined = compared_words(said)
        assert compared_words(told) <= joined


@given(st.text(max_size=80), st.text(max_size=200), st.booleans())
def test_any_texts_are_compared(statement: str, text: str, guidance: bool) -> None:
    assert isinstance(is_entailed(statement, text, guidance=guidance), bool)


@given(st.lists(WORDS, max_size=20), st.lists(st.lists(WORDS, max_size=6), max_size=4))
def test_what_says_all_has_the_words_of_all_statements_and_no_other(text: list[str], told: list[list[str]]) -> None:
    statements = [" ".join(one) for one in told]
    if is_exhausted_by(" ".join(text), statements):
        words = frozenset[str]().union(*(compared_words(one) for one in statements))
        assert words <= compared_words(" ".join(text)) <= words | compared_words("and but also")


@given(
    st.lists(st.lists(st.sampled_from(["Anna", "tea", "coffee", "likes", "12"]), min_size=1, max_size=5), max_size=4)
)
def test_statements_as_they_stand_say_all(told: list[list[str]]) -> None:
    statements = [" ".join(one) + "." for one in told]
    unique = list(dict.fromkeys(statements))
    assert is_exhausted_by(" ".join(unique), statements) is bool(statements)
