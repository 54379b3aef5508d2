"""What cannot be asked is refused before anything is read."""

from __future__ import annotations

import pytest

from core.errors import Code, UserError
from core.recall.request import RecallRequest
from core.recall.scope import OWNER_SCOPE
from core.types.requests import RecallQuery


@pytest.mark.parametrize("query", ["", " ", "\t\n ", "\u3000", "\0", " \0 \0"])
def test_an_empty_query_is_refused(query: str) -> None:
    with pytest.raises(UserError) as caught:
        RecallRequest(query=query, scope=OWNER_SCOPE).check_bounds()
    assert caught.value.code is Code.INVALID_QUERY


@pytest.mark.parametrize(
    "more",
    [
        {"limit": 0},
        {"mode": "magic"},
        {"min_confidence": 1.5},
        {"min_confidence": float("nan")},
        {"kinds": ("fact", "dream")},
        {"kinds": ()},
        {"statuses": ()},
        {"statuses": ("alive",)},
    ],
)
def test_what_is_out_of_range_is_refused(more: dict[str, object]) -> None:
    with pytest.raises(UserError) as caught:
        RecallRequest(query="x", scope=OWNER_SCOPE, **more).check_bounds()  # type: ignore[arg-type]  # by name
    assert caught.value.code is Code.INVALID_INPUT


def test_a_request_takes_all_of_the_callers_question() -> None:
    query = RecallQuery(
        query="q",
        limit=3,
        spaces=("a",),
        kinds=("fact",),
        categories=("food",),
        statuses=("archived",),
        as_of_ms=5,
        mode="keyword",
        min_confidence=0.5,
        session="s",
        explain=True,
    )
    made = RecallRequest.from_query(query, OWNER_SCOPE)
    assert {name: getattr(made, name) for name in RecallQuery.__slots__} == {
        name: getattr(query, name) for name in RecallQuery.__slots__
    }
    assert not made.wants_vector
    assert RecallRequest(query="q", scope=OWNER_SCOPE).wants_vector
