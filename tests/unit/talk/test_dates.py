"""Phrases of time of a sentence become dates; what recurs or names no day stays."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from example_counts import count_examples
from hypothesis import given, settings
from hypothesis import strategies as st

from core.talk.dates import find_date_edits
from core.talk.vocabulary import apply_edits

MONDAY = int(datetime(2025, 3, 3, 12, tzinfo=UTC).timestamp() * 1000)


def _told(sentence: str, *, is_ahead: bool = True, recurs: bool = False, said_ms: int = MONDAY) -> str:
    edits = find_date_edits(sentence, said_ms, is_ahead=is_ahead, recurs=recurs)
    return apply_edits(sentence, 0, len(sentence), edits)


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        ("He turns forty in April", "He turns forty in April 2025"),
        ("I fly on the 27th", "I fly on 27 March 2025"),
        ("The cast comes off on Thursday", "The cast comes off on 6 March 2025"),
        ("I give it up at the end of the month", "I give it up at the end of March 2025"),
        ("I start next week", "I start in the week of 10 March 2025"),
        ("We leave tomorrow", "We leave on 4 March 2025"),
        ("Defence is by September", "Defence is by September 2025"),
        ("I can't do the 22nd", "I can't do 22 March 2025"),
        ("From the fifth to the ninth of June", "From the fifth to the ninth of June 2025"),
    ],
)
def test_what_is_to_come_gets_its_date(sentence: str, told: str) -> None:
    assert _told(sentence) == told


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        ("I sold it yesterday", "I sold it on 2 March 2025"),
        ("I moved in April", "I moved in April 2024"),
        ("It broke last year", "It broke in 2024"),
        ("800 since September", "800 since September 2024"),
        ("handed in on the first.", "handed in on 1 March 2025."),
        ("We hiked a few weeks ago", "We hiked a few weeks before 3 March 2025"),
        ("I saw it the other day", "I saw it shortly before 3 March 2025"),
        ("A while back I swam", "A while before 3 March 2025 I swam"),
        ("I started about five years ago", "I started in about 2020"),
        ("A shop I helped at yesterday", "A shop I helped at on 2 March 2025"),
    ],
)
def test_what_is_over_gets_its_date(sentence: str, told: str) -> None:
    assert _told(sentence, is_ahead=False) == told


@pytest.mark.parametrize(
    "sentence",
    [
        "I swim every Monday",
        "I met April at the fair",
        "My birthday is in April",
        "We moved in 2019",
        "It was on 3 May 2021",
        "I may come",
        "tuesday or wednesday",
        "In the first week forty people came",
    ],
)
def test_what_recurs_or_is_dated_stays(sentence: str) -> None:
    assert _told(sentence) == sentence


def test_a_habit_names_no_certain_april() -> None:
    assert _told("I prune them in April", recurs=True) == "I prune them in April"


@settings(max_examples=count_examples(200), deadline=None)
@given(st.text(max_size=120), st.integers(min_value=-(10**15), max_value=10**15))
def test_edits_lie_inside_any_text(sentence: str, said_ms: int) -> None:
    for edit in find_date_edits(sentence, said_ms, is_ahead=True):
        assert 0 <= edit.start < edit.end <= len(sentence)
        assert edit.text
