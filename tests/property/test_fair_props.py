"""The share of each voice, for any order of any voices: nobody above a third, nobody left out for nothing."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from core.recall.fair import places, voices

FOUND = st.lists(st.sampled_from([None, None, "a", "b", "c"]), max_size=60)


@given(FOUND, st.integers(1, 40))
def test_nobody_has_more_than_a_third_beside_others(found: list[str | None], limit: int) -> None:
    taken = places(found, limit)
    said = Counter(found[place] for place in taken)
    free, few = said.pop(None, 0), max(1, min(3, limit // 3))
    assert taken == sorted(set(taken))
    assert len(taken) <= limit
    if free:
        assert all(count <= max(few, len(taken) // 3) for count in said.values())
    elif len(said) > 1:
        assert max(said.values()) <= max(few, -(-len(taken) // len(set(found))))


@given(FOUND, st.integers(1, 40))
def test_what_nobody_bounds_is_never_left_out_while_there_is_room(found: list[str | None], limit: int) -> None:
    taken = places(found, limit)
    free = [place for place, voice in enumerate(found) if voice is None]
    if len(taken) < limit:
        assert set(free) <= set(taken)


@given(FOUND, st.integers(1, 40))
def test_of_each_voice_the_best_are_handed_out(found: list[str | None], limit: int) -> None:
    taken = places(found, limit)
    for voice in set(found):
        own = [place for place, one in enumerate(found) if one == voice]
        kept = [place for place in taken if found[place] == voice]
        assert kept == own[: len(kept)]


@given(st.lists(st.just("a"), min_size=1, max_size=60), st.integers(1, 40))
def test_one_alone_is_not_bounded(found: list[str | None], limit: int) -> None:
    assert places(found, limit) == list(range(min(limit, len(found))))


@given(FOUND, st.integers(1, 40))
def test_what_is_shared_out_stays_so(found: list[str | None], limit: int) -> None:
    once = [found[place] for place in places(found, limit)]
    assert places(once, limit) == list(range(len(once)))


def test_the_asker_and_the_person_are_bounded_by_nothing() -> None:
    assert voices([None, "a", "b", "a"], "a") == [None, None, "b", None]
    assert voices([None, "a", "b"], None) == [None, None, None]


def test_twelve_of_the_persons_and_fifty_of_one_client() -> None:
    found = ["liar", None] * 12 + ["liar"] * 38
    assert Counter(found[place] for place in places(found, 39)) == {None: 12, "liar": 6}
    assert Counter(found[place] for place in places(found, 10)) == {None: 7, "liar": 3}
