"""The sentences of the desk: every kind, action, reason and predicate has one, and nobody's words break them."""

from __future__ import annotations

import ast
import json
import string
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.belief.relate.relation_model import REASONS
from core.belief.review.items import ALONE, PAIRED, ItemShape, available_actions
from core.belief.review.wording import (
    ItemTopic,
    describe_classifier,
    describe_closing,
    describe_item_line,
    describe_item_note,
    describe_result,
    format_question,
    format_reason,
    format_title,
    review_strings,
)
from core.types.belief import Label
from core.types.values import Action

ROOT = Path(__file__).resolve().parents[4]
KINDS = sorted(PAIRED)
MINE = ItemTopic("user", "lives_in", "Graz", "Vienna")
OTHERS = ItemTopic("Harbour", "located_at", "Luleå", "Frankfurt")


def templates(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for member in value.values():
            yield from templates(member)
    elif isinstance(value, list):
        for member in value:
            yield from templates(member)


def test_every_template_names_only_what_it_is_given() -> None:
    known = {"subject", "predicate", "have", "came", "date", "percent", "count", "what", "client", "label", "doubt"}
    known |= {"reason", "stated", "one", "other", "name", "space"}
    held = {key: value for key, value in review_strings().items() if key != "about"}
    for template in templates(held):
        named = {name for _, name, _, _ in string.Formatter().parse(template) if name is not None}
        assert named <= known, template


def test_every_kind_and_action_of_the_types_has_words() -> None:
    held = review_strings()
    assert set(held["kinds"]) == set(KINDS) == set(ALONE)
    assert set(held["suggestions"]) == {action.value for action in Action}
    assert set(held["labels"]) == {label.value for label in Label}
    for kind in KINDS:
        for action in PAIRED[kind]:
            assert describe_result(action, kind, MINE, paired=True).endswith(".")
        for action in ALONE[kind]:
            assert describe_result(action, kind, ItemTopic(), paired=False).endswith(".")


def test_every_predicate_of_the_vocabulary_has_a_question() -> None:
    vocabulary = json.loads(files("resources").joinpath("claims", "frames.json").read_text("utf-8"))["predicates"]
    assert set(vocabulary) <= set(review_strings()["predicates"])


def reasons_opened() -> list[str]:
    """Keys with which items are opened, as the code writes them."""
    found: set[str] = set()
    for path in (*ROOT.joinpath("core", "intake").rglob("*.py"), ROOT / "core" / "belief" / "trust_gate.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call):
                found |= set(_reason_of(node))
    return sorted(found)


def _reason_of(call: ast.Call) -> Iterator[str]:
    name = getattr(call.func, "id", getattr(call.func, "attr", ""))
    at = {"Verdict": 1, "open_review": 4}.get(name)
    given = [one.value for one in call.keywords if one.arg == "reason" and name in ("ItemSubject", "Verdict")]
    for one in [*given, *(call.args[at : at + 1] if at is not None else [])]:
        if isinstance(one, ast.Constant) and isinstance(one.value, str):
            yield one.value


@pytest.mark.slow
def test_every_reason_that_opens_an_item_has_a_sentence() -> None:
    opened = reasons_opened()
    assert {"against_owner", "client_doubts", "proposed_by_client", "proposed_by_import"} <= set(opened)
    asking = set(opened) - {"owner_said"}  # supersedes without asking
    assert asking <= set(review_strings()["reasons"])


def test_two_of_one_value_are_not_told_apart_by_it() -> None:
    denied = ItemTopic("user", "allergic_to", "nuts", "Nuts")
    assert (
        describe_result(Action.REJECT, "contradiction", denied, paired=True)
        == review_strings()["suggestions"]["reject"]["pair"]
    )
    assert describe_result(Action.REJECT, "contradiction", MINE, paired=True) == "Keep Graz; Vienna is archived."


@pytest.mark.parametrize("key", REASONS)
def test_every_reason_of_the_relation_model_has_a_sentence(key: str) -> None:
    assert format_reason(key, "contradiction") == review_strings()["reasons"][key]
    assert "{" not in format_reason(key, "contradiction")


def test_the_person_is_spoken_to_and_others_are_named() -> None:
    assert format_question("contradiction", MINE) == "Where do you live: Graz or Vienna?"
    assert format_question("contradiction", OTHERS) == "Where is Harbour: Luleå or Frankfurt?"
    assert format_title("contradiction", OTHERS, "") == "Where Harbour is"
    assert format_question("contradiction", ItemTopic()) == "Which of these is true?"


def test_an_unknown_predicate_is_asked_for_by_its_own_words() -> None:
    assert (
        format_question("contradiction", ItemTopic("Ada", "favourite_colour")) == "What holds of Ada: favourite colour?"
    )


def test_without_claims_a_row_is_called_by_the_text() -> None:
    assert format_title("proposal", ItemTopic(), "Likes   tea.\nVery much.") == "Likes tea. Very much."
    assert format_title("injection", ItemTopic(), " \n ") == "Looks like an instruction"


def test_the_note_counts_and_holds_no_memory_text() -> None:
    assert describe_item_note("contradiction", 31, "editor", later=True) == (
        "Two memories disagree · from editor · recalled 31 times · postponed"
    )
    assert describe_item_note("stale", 1, None, later=False) == "Not checked for a long time · recalled once"
    assert describe_item_note("stale", 0, None, later=False) == "Not checked for a long time"


def test_a_result_names_the_values_and_the_day() -> None:
    said = describe_result(Action.KEEP_BOTH_DATED, "contradiction", OTHERS, paired=True, date="2026-11-18")
    assert said == "Luleå until 2026-11-18, Frankfurt from then on."
    assert describe_result(Action.SUPERSEDE, "stale", MINE, paired=False) == "It is still true: confirm it."
    assert describe_classifier("builtin", 0.706) == "Confidence of the built-in model: 71 %."
    assert describe_classifier("rules", 1.0) == describe_classifier("model", None) == ""


def test_a_closed_item_says_why() -> None:
    assert describe_closing("expired", None).startswith("It waited ninety days")
    assert describe_closing(None, "reject") == "You decided it."
    assert describe_closing("some new key", None) == describe_closing(None, None) == "It is no longer pending."


@given(st.text(max_size=400), st.text(max_size=80), st.text(max_size=80))
def test_nobodys_words_break_a_sentence(subject: str, have: str, came: str) -> None:
    topic = ItemTopic(subject, "lives_in", have, came)
    for kind in KINDS:
        assert "\n" not in format_title(kind, topic, subject)
        assert format_question(kind, topic)
        assert describe_result(Action.SUPERSEDE, kind, topic, paired=True)


@given(st.text(max_size=2_000), st.integers(2, 100))
def test_a_line_is_one_line_and_never_longer_than_asked(text: str, most: int) -> None:
    found = describe_item_line(text, most)
    assert len(found) <= most
    assert found == " ".join(found.split())
    if len(" ".join(text.split())) <= most and len(text) <= most * 4:
        assert found == " ".join(text.split())


@given(st.sampled_from(KINDS), st.booleans(), st.booleans(), st.booleans(), st.booleans())
def test_every_item_can_be_put_off_and_decided(kind: str, paired: bool, split: bool, same: bool, alike: bool) -> None:
    found = available_actions(kind, ItemShape(paired, split, same and paired, alike))
    assert Action.SKIP in found
    assert len(found) > 1
    assert list(found) == [action for action in Action if action in found]
    if split or not alike or (same and paired):
        assert Action.MERGE not in found
    if not paired:
        assert set(found) <= {Action.SUPERSEDE, Action.REJECT, Action.SKIP}
