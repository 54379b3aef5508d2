"""What the relation model reads: words folded alike, kinds of token, figures within bounds, long texts cut."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from example_counts import count_examples
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from core.belief.relate.features import (
    EXISTING,
    FIGURES,
    FIRST,
    INCOMING,
    LAST,
    MIDDLE,
    PAD,
    SIDE_CHARS,
    SIDE_TOKENS,
    encode_pair,
    pair_figures,
    prepare_text,
)
from core.embed.embedder import bundled_model

TOKENIZER: Any = Tokenizer.from_buffer(bundled_model().joinpath("tokenizer.json").read_bytes())
TOKENIZER.no_padding()
TOKENIZER.no_truncation()

texts = st.text(max_size=200)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ten milligrams on Fri", "10 mg on Friday"),
        ("It cost 1,150 euros", "it cost 1150 EUR"),
        ("The 2nd of Sept", "the 2 of september"),
        ("My mum's café", "User's mother's cafe"),
        ("I  moved\nhome", "i moved home"),
    ],
)
def test_two_ways_to_write_one_thing_have_the_same_forms(one: str, other: str) -> None:
    assert prepare_text(one).forms == prepare_text(other).forms


def test_a_name_is_a_capital_that_no_sentence_start_explains() -> None:
    words = prepare_text("Lunch with Ines. Then I met User and Bo").words
    assert [word.form for word in words if word.name] == ["ines", "bo"]


def test_numbers_in_words_are_numbers() -> None:
    assert [word.number for word in prepare_text("seven cats, 8 dogs, some mice").words] == [
        True, False, True, False, False, False,
    ]  # fmt: skip


def test_negations_are_counted_in_either_apostrophe() -> None:
    assert prepare_text("I don't, and I don\u2019t, and never will").negations == 3


def test_each_token_knows_its_side_and_its_kind() -> None:
    row = encode_pair(TOKENIZER, prepare_text("we met Ines at 9"), prepare_text("they met Olin at 9"))
    assert row.kinds.tolist() == [
        FIRST,
        EXISTING, EXISTING + 3, EXISTING + 2, EXISTING + 2, EXISTING + 3, EXISTING + 4,
        MIDDLE,
        INCOMING, INCOMING + 3, INCOMING + 2, INCOMING + 2, INCOMING + 3, INCOMING + 4,
        LAST,
    ]  # fmt: skip


def test_figures_of_a_changed_number_and_a_negation() -> None:
    row = pair_figures(prepare_text("The rent is 900"), prepare_text("The rent is not 950"))
    assert row[3] > 0  # the old number is gone
    assert row[4] > 0  # a new one came
    assert row[5] == 0
    assert row[9:12].tolist() == [0.0, 1.0, 1.0]


def test_same_words_are_said_so() -> None:
    assert pair_figures(prepare_text("My cat is Bo."), prepare_text("user's cat is bo"))[15] == 1
    assert pair_figures(prepare_text("My cat is Bo."), prepare_text("My dog is Bo."))[15] == 0


@settings(max_examples=count_examples(150), deadline=None)
@given(texts, texts)
def test_any_two_texts_can_be_read(one: str, other: str) -> None:
    row = encode_pair(TOKENIZER, prepare_text(one), prepare_text(other))
    assert len(row.ids) == len(row.kinds) <= 2 * SIDE_TOKENS + 3
    assert row.kinds.min() >= 0
    assert row.kinds.max() < PAD
    assert row.figures.shape == (FIGURES,)
    assert np.isfinite(row.figures).all()
    assert np.abs(row.figures).max() <= 3


@settings(max_examples=count_examples(100), deadline=None)
@given(texts)
def test_words_lie_in_the_text_in_order(text: str) -> None:
    side = prepare_text(text)
    ends = [0]
    for word in side.words:
        assert ends[-1] <= word.start < word.end <= len(side.text)
        ends.append(word.end)


def test_a_long_text_is_cut_before_any_work() -> None:
    side = prepare_text("word " * 1_000_000)
    assert len(side.text) <= SIDE_CHARS
    assert len(encode_pair(TOKENIZER, side, side).ids) == 2 * SIDE_TOKENS + 3


def test_of_a_long_text_the_part_that_concerns_the_other_side_is_read() -> None:
    long = prepare_text(
        "the wind blew over the hills and far away " * 20 + "Olin keeps bees " + "and the wind blew on " * 15
    )
    bees = TOKENIZER.token_to_id("bees")
    assert bees in encode_pair(TOKENIZER, long, prepare_text("Olin sold the bees")).ids[: SIDE_TOKENS + 1]
    assert bees not in encode_pair(TOKENIZER, long, prepare_text("Ines moved to Porto")).ids
