"""The estimate behind the strength meter."""

from __future__ import annotations

import pytest
from example_counts import count_examples
from hypothesis import given, settings
from hypothesis import strategies as st

from core.security.strength import passphrase_strength

WORDS = ["lantern", "osprey", "quilt", "mandolin", "thicket", "bramble", "cobalt", "ferret"]


@pytest.mark.parametrize(
    "text",
    ["", "a", "password", "P@ssw0rd", "qwertyuiop", "poiuytrewq", "aaaaaaaaaaaaaaaa", "abcdefghijkl", "987654321",
     "Summer2024!", "dragon123", "monkeymonkeymonkey", "letmein1"],
)  # fmt: skip
def test_what_everybody_tries_first_is_worth_nothing(text: str) -> None:
    assert passphrase_strength(text).score == 0


@pytest.mark.parametrize(("count", "least"), [(2, 1), (3, 2), (4, 3), (6, 4)])
def test_words_add_up(count: int, least: int) -> None:
    found = passphrase_strength(" ".join(WORDS[:count]))
    assert found.score >= least
    assert found.bits == pytest.approx(count * 13, abs=count * 3)


def test_random_characters_count_in_full() -> None:
    assert passphrase_strength("xkqjvzpwtr").bits == pytest.approx(47, abs=1)
    assert passphrase_strength("kV9#tq2Lm!xB").score >= 3


@pytest.mark.parametrize(
    ("text", "hint"),
    [("password", "common"), ("zebzebzebzeb", "Repeated"), ("bcdefghi", "Sequences"), ("1987", "Years")],
)
def test_advice_names_what_is_weak(text: str, hint: str) -> None:
    assert hint in passphrase_strength(text).sentence


def test_good_ones_get_no_advice() -> None:
    assert passphrase_strength(" ".join(WORDS)).sentence == "It is very hard to guess."


@settings(max_examples=count_examples(60))
@given(st.text(max_size=60))
def test_any_text_gets_an_estimate_that_does_not_repeat_it(text: str) -> None:
    found = passphrase_strength(text)
    assert 0 <= found.score <= 4
    assert found.bits >= 0
    assert found.sentence.endswith(".")
    assert found == passphrase_strength(text)


@settings(max_examples=count_examples(60))
@given(st.text(min_size=2, max_size=20))
def test_saying_it_twice_adds_next_to_nothing(text: str) -> None:
    assert passphrase_strength(text + text).bits <= passphrase_strength(text).bits + 2.1
