"""Values written in several ways have one form, others keep theirs, and odd texts break nothing."""

from __future__ import annotations

from itertools import pairwise

import pytest
from example_counts import count_examples
from hypothesis import given, settings
from hypothesis import strategies as st

from core.belief.relate.features import (
    find_rewritable_values,
    load_vocabulary,
    pair_figures,
    parse_number_words,
    prepare_text,
)

ONES = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen"]
ONES += ["fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"]
TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]


def in_words(number: int) -> str:
    if number < 20:
        return ONES[number - 1]
    if number < 100:
        tens = TENS[number // 10 - 2]
        return f"{tens}-{ONES[number % 10 - 1]}" if number % 10 else tens
    size, name = (1000, "thousand") if number >= 1000 else (100, "hundred")
    head, rest = divmod(number, size)
    tail = "" if not rest else f" and {in_words(rest)}" if rest < 100 else f" {in_words(rest)}"
    return f"{in_words(head)} {name}{tail}"


@settings(max_examples=count_examples(200), deadline=None)
@given(st.integers(1, 99_999))
def test_a_number_in_words_is_the_number(number: int) -> None:
    assert prepare_text(f"it costs {in_words(number)} dollars").forms == ("it", "costs", str(number), "dollar")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("at half past two", "at 02:30"),
        ("at 6:30", "at 18:30"),
        ("at quarter to six", "at 5:45"),
        ("tue 9am", "Tuesday 9 am"),
        ("at three", "at 15:00"),
        ("until August 2028", "until 08/2028"),
        ("pays three point one", "pays 3.1"),
    ],
)
def test_two_ways_to_write_one_value(one: str, other: str) -> None:
    assert prepare_text(one).forms == prepare_text(other).forms


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("20 minutes", "1200 seconds"),
        ("two weeks", "14 days"),
        ("a fortnight", "two weeks"),
        ("half an hour", "30min"),
        ("90 min", "1.5 hours"),
    ],
)
def test_one_length_of_time_in_two_units(one: str, other: str) -> None:
    first, second = (
        {word.form for word in prepare_text(text).words if word.number}
        for text in (f"takes {one} or so", f"takes {other}")
    )
    assert first == second


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("version 4.2", "version 4.3"),
        ("5 days", "5 weeks"),
        ("at 9am", "at 9pm"),
        ("at half past two", "at half past three"),
        ("fifty-eight", "fifty-nine"),
        ("08/2028", "09/2028"),
    ],
)
def test_other_values_stay_apart(one: str, other: str) -> None:
    assert prepare_text(one).forms != prepare_text(other).forms


@pytest.mark.parametrize("text", ["call 24/7", "25:99", "one two three", "no value", "12/05/2026", "room 101", ""])
def test_what_is_no_such_value(text: str) -> None:
    assert find_rewritable_values(text, load_vocabulary()["numbers"]) == ()


@pytest.mark.parametrize(
    ("words", "number"),
    [([4, 1000, 2, 100], 4200), ([100, 20], 120), ([1000], 1000), ([1, 1], None), ([10, 5], None), ([20, 30], None)],
)
def test_a_row_of_number_words(words: list[int], number: int | None) -> None:
    assert parse_number_words(words) == number


def test_the_same_value_in_other_words_is_no_changed_number() -> None:
    row = pair_figures(prepare_text("My pulse is 58."), prepare_text("My pulse is fifty-eight."))
    assert list(row[3:6]) == [0, 0, pytest.approx(1 / 3)]
    assert row[-1] == 1


@settings(max_examples=count_examples(200), deadline=None)
@given(st.text(alphabet=st.sampled_from("0123456789:./- apm'oclkhundrethisw"), max_size=80))
def test_values_are_in_order_apart_and_inside_the_text(text: str) -> None:
    found = find_rewritable_values(text, load_vocabulary()["numbers"])
    assert all(0 <= value.start < value.end <= len(text) and value.form for value in found)
    assert all(one.end <= other.start for one, other in pairwise(found))


@given(st.sampled_from(("", "at ", "two ")), st.text(st.characters(exclude_categories=["Nd"]), max_size=40))
def test_a_text_without_digits_has_the_values_that_it_has_beside_one(lead: str, text: str) -> None:
    numbers = load_vocabulary()["numbers"]
    alone = find_rewritable_values(f"{lead}{text}", numbers)
    beside = find_rewritable_values(f"{lead}{text} . x9x", numbers)
    assert [(one.start, one.end, one.form) for one in beside] == [(one.start, one.end, one.form) for one in alone]
