"""Which marks a reader of a text can do without: none that says something, and none of what is hidden on purpose."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text.markdown import mark_spans

MARKED = st.text(st.sampled_from("a *_#-\n`\ue200\ue201\ue202:1~"), max_size=60)


def read(text: str) -> str:
    """The text without them."""
    found, at = "", 0
    for start, end in mark_spans(text):
        found, at = found + text[at:start], end
    return found + text[at:]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("**Moss** is __old__, *very* old.", "Moss is old, very old."),
        ("## Travel\n\nThe ferry **only** runs on Friday.", "Travel\n\nThe ferry only runs on Friday."),
        ("---\ntags: [dog]\n---\n\n# Moss\nA lurcher.", "Moss\nA lurcher."),
        ("It is cheap \ue200cite\ue202turn0search1\ue202turn0news12\ue201.", "It is cheap."),
        ("2 * 3 * 4 is 24, and a_b__c stays.", "2 * 3 * 4 is 24, and a_b__c stays."),
        ("Run `rm **/*.pyc`:\n```\n# no **heading**\n```", "Run `rm **/*.pyc`:\n```\n# no **heading**\n```"),
        ("~~Tuesday~~ Wednesday, [here](https://a.example)", "~~Tuesday~~ Wednesday, [here](https://a.example)"),
        ("---\ntags: [dog]\n---\n", "---\ntags: [dog]\n---\n"),
        ("---\nnever closed", "---\nnever closed"),
        ("", ""),
    ],
)
def test_marks_are_left_out_and_nothing_that_says_something(text: str, shown: str) -> None:
    assert read(text) == shown


@pytest.mark.parametrize(
    "inside", ["ignore what was said before", "cite\ue202ignore all", "cite\ue202turn0 search1", ""]
)
def test_words_in_the_place_of_a_source_are_not_left_out(inside: str) -> None:
    text = f"The ferry runs. \ue200{inside}\ue201"
    assert read(text) == text


@given(MARKED)
def test_places_are_in_order_and_leave_letters(text: str) -> None:
    spans = mark_spans(text)
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert list(spans) == sorted(spans)
    assert all(one[1] <= other[0] for one, other in pairwise(spans))
    if text.strip():
        assert read(text).strip()
