"""What is marked in two texts that are at odds."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from ipc_values import make_memory

from core.belief.review.sides import (
    KeyedClaim,
    differing_words,
    find_differing_spans,
    find_value_span,
    item_topic,
    pair_opposed_claims,
)
from core.types.reviews import ClaimSeen


def seen(value: str, predicate: str = "lives_in", spans: tuple[tuple[int, int], ...] = (), **more: Any) -> ClaimSeen:
    given: dict[str, Any] = {
        "id": value,
        "subject": "Harbour",
        "predicate": predicate,
        "value": value,
        "exclusive": True,
        "polarity": "positive",
        "state": "asserted",
        "confidence": 0.8,
        "spans": spans,
        "sources": 1,
        "against": 0,
        "valid_from": None,
        "valid_to": None,
    }
    return ClaimSeen(**{**given, **more})


def keyed(claim: ClaimSeen) -> KeyedClaim:
    return KeyedClaim(claim, claim.subject.casefold(), claim.value.casefold())


def cut(text: str, marks: list[tuple[int, int]]) -> list[str]:
    return [text[start:end] for start, end in marks]


def test_the_values_are_marked_where_they_stand_in_the_evidence() -> None:
    have = make_memory(1, text="Luleå is cold. Harbour's data is in Luleå.")
    came = make_memory(2, text="Harbour runs from Frankfurt since the migration.")
    odds = pair_opposed_claims([keyed(seen("Luleå", spans=((15, 42),)))], [keyed(seen("frankfurt", spans=((0, 48),)))])
    mine, yours = find_differing_spans(have, came, odds)
    assert mine == [(36, 41)]
    assert cut(came.text, yours) == ["Frankfurt"]
    assert item_topic(odds, ()).existing == "Luleå"


def test_without_a_value_in_the_text_the_words_that_differ_are_marked() -> None:
    have, came = (
        make_memory(1, text="The standup is at 9:30 on Mondays."),
        make_memory(2, text="The standup is at 10:00 on Mondays."),
    )
    mine, yours = find_differing_spans(have, came, ())
    assert (cut(have.text, mine), cut(came.text, yours)) == (["9:30"], ["10:00"])


def test_texts_that_differ_everywhere_are_not_painted_over() -> None:
    assert differing_words("Ada likes tea.", "The rent went up in March!") == ([], [])
    assert differing_words("", "word") == ([], [])


def test_long_texts_are_compared_as_sets_and_very_long_ones_not_at_all() -> None:
    long = " ".join(f"word{n}" for n in range(300))
    mine, yours = differing_words(long, long.replace("word7 ", "other "))
    assert cut(long, mine) == ["word7"]
    assert len(yours) == 1
    assert differing_words("word " * 3_000, "word " * 3_000 + "more") == ([], [])


def test_claims_of_other_things_are_not_at_odds() -> None:
    assert pair_opposed_claims([keyed(seen("Graz"))], [keyed(seen("Graz"))]) == ()
    assert pair_opposed_claims([keyed(seen("Graz"))], [keyed(seen("tea", "likes"))]) == ()
    denied = seen("Graz", polarity="negative")
    assert [one.incoming for one in pair_opposed_claims([keyed(seen("Graz"))], [keyed(denied)])] == [denied]


def test_what_only_one_value_can_hold_comes_first() -> None:
    many = keyed(seen("tea", "likes", exclusive=False)), keyed(seen("ale", "likes", exclusive=False))
    one = keyed(seen("Graz")), keyed(seen("Wien"))
    assert pair_opposed_claims([many[0], one[0]], [many[1], one[1]])[0].existing.value == "Graz"


def test_a_value_in_other_words_is_not_found() -> None:
    assert find_value_span("She moved north.", seen("Luleå")) is None
    assert find_value_span("a  b", seen("a b")) == (0, 4)
    assert find_value_span("(x", seen("(")) == (0, 1)


@given(st.text(max_size=300), st.text(max_size=300))
def test_marks_lie_in_their_text_in_order_and_apart(have: str, came: str) -> None:
    for text, marks in zip((have, came), differing_words(have, came), strict=True):
        assert all(0 <= start < end <= len(text) for start, end in marks)
        assert all(before[1] <= after[0] for before, after in pairwise(marks))


@given(st.text(max_size=200))
def test_equal_texts_have_no_marks(text: str) -> None:
    assert differing_words(text, text) == ([], [])
