"""The floor plan: nothing overlaps, nothing leaves its bounds, the same input gives the same plan, kin stand near."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from core.score.communities import LEAST_MEMBERS, MOST_COMMUNITIES, MemoryFeatures, find_communities
from core.score.floor_plan import (
    FULL,
    LEAST_PLACES,
    ROOMY,
    Grid,
    Rect,
    column_count,
    free_ground,
    grid_density,
    lay_out,
    room_capacity,
    room_size,
    row_count,
    spread_places,
)
from core.score.topics import (
    blend_with_conversation,
    mean_directions,
    nearest_centres,
    normalize_rows,
)
from core.types.views import GAP, HEADER, MARGIN

COUNTS = st.lists(st.integers(0, 3_000), min_size=1, max_size=24)
SMALL = settings(max_examples=40, deadline=None)


def apart(one: Rect, other: Rect) -> bool:
    """Whether two rooms are at least GAP from each other."""
    return (
        one.x + one.w + GAP <= other.x
        or other.x + other.w + GAP <= one.x
        or one.y + one.h + GAP <= other.y
        or other.y + other.h + GAP <= one.y
    )


def topics(count: int, kinds: int, seed: int = 3, noise: float = 0.05) -> tuple[np.ndarray, np.ndarray]:
    """Vectors around random directions, and which direction each is of."""
    dice = np.random.default_rng(seed)
    own = dice.integers(0, kinds, count)
    centres = normalize_rows(dice.normal(size=(kinds, 48)).astype(np.float32))
    return normalize_rows((centres[own] + noise * dice.normal(size=(count, 48))).astype(np.float32)), own


def is_on_grid(places: np.ndarray, w: float, h: float, density: int) -> bool:
    """Whether every place is one of the room's."""
    i = (places[:, 0] - MARGIN - 0.5) * 2**density
    j = (places[:, 1] - HEADER - 0.5) * 2**density
    inside = (i >= 0) & (i < column_count(w, density)) & (j >= 0) & (j < row_count(h, density))
    return bool(np.all(inside & (i == np.floor(i)) & (j == np.floor(j))))


@SMALL
@given(COUNTS)
def test_rooms_hold_their_memories_and_do_not_overlap(counts: list[int]) -> None:
    rects = lay_out(counts)
    assert rects == lay_out(counts)
    assert min(rect.x for rect in rects) == 0
    assert min(rect.y for rect in rects) == 0
    for place, (rect, count) in enumerate(zip(rects, counts, strict=True)):
        assert room_capacity(rect.w, rect.h) >= max(LEAST_PLACES, ROOMY * count)
        assert all(apart(rect, other) for other in rects[place + 1 :])


@SMALL
@given(st.lists(st.integers(100, 1_000), min_size=6, max_size=24))
def test_a_wing_is_wider_than_high_and_wastes_little(counts: list[int]) -> None:
    rects = lay_out(counts)
    w, h = max(rect.x + rect.w for rect in rects), max(rect.y + rect.h for rect in rects)
    assert 1.2 < w / h < 1.9
    assert sum(room_capacity(rect.w, rect.h) for rect in rects) < 2.6 * sum(counts)


@SMALL
@given(st.integers(1, 400), st.integers(0, 5))
def test_first_places_are_free_places_all_over_the_room(count: int, seed: int) -> None:
    w, h = room_size(max(LEAST_PLACES, int(ROOMY * count) + 1))
    vectors, _ = topics(count, 4, seed)
    places = spread_places(vectors, w, h)
    assert np.array_equal(places, spread_places(vectors, w, h))
    assert is_on_grid(places, w, h, 0)
    assert len(np.unique(places, axis=0)) == count
    if count >= 40:
        # No quarter of the room is empty, none holds more than twice its share.
        left, top = places[:, 0] < w / 2, places[:, 1] < (h + 1) / 2
        quarters = [np.mean(a & b) for a in (left, ~left) for b in (top, ~top)]
        assert min(quarters) > 0.1
        assert max(quarters) < 0.45


def test_kin_stand_nearer_than_strangers() -> None:
    vectors, own = topics(200, 5)
    w, h = room_size(320)
    places = spread_places(vectors, w, h)
    between = np.linalg.norm(places[:, None] - places[None], axis=2)
    same = own[:, None] == own[None]
    np.fill_diagonal(same, val=False)
    assert between[same].mean() < 0.8 * between[own[:, None] != own[None]].mean()


@SMALL
@given(st.integers(6, 14), st.integers(6, 14), st.lists(st.tuples(st.floats(0, 14), st.floats(0, 14)), max_size=200))
def test_a_grid_gives_each_place_once_and_moves_none(w: int, h: int, wishes: list[tuple[float, float]]) -> None:
    grid = Grid(w, h, np.empty((0, 2)))
    given_out: list[tuple[float, float]] = []
    for x, y in wishes:
        before = grid.density
        place = grid.take_nearest(x, y)
        assert place not in given_out
        if grid.density > before:
            assert len(given_out) >= int(FULL * room_capacity(w, h, before))
        given_out.append(place)
    placed = np.array(given_out, np.float64).reshape(-1, 2)
    assert is_on_grid(placed, w, h, grid.density)
    assert grid_density(placed) <= grid.density
    again = Grid(w, h, placed)
    assert again.take_nearest(0, 0) not in given_out


def test_the_nearest_free_place_is_taken() -> None:
    grid = Grid(8, 8, np.array([(3.5, 4.5)]))
    assert grid.take_nearest(3.6, 4.4) in {(4.5, 4.5), (3.5, 3.5)}
    assert grid.take_nearest(100, 100) == (6.5, 6.5)


@SMALL
@given(
    COUNTS,
    st.integers(6, 30),
    st.integers(6, 30),
    st.one_of(st.none(), st.tuples(st.integers(-9, 99), st.integers(-9, 99))),
)
def test_free_ground_is_free(counts: list[int], w: int, h: int, near: tuple[int, int] | None) -> None:
    taken = lay_out(counts)
    width = max(rect.x + rect.w for rect in taken)
    assume(w <= width)
    x, y = free_ground(taken, w, h, width, near)
    new = Rect(x, y, w, h)
    assert x >= 0
    assert y >= 0
    assert x + w <= width
    assert all(apart(new, other) for other in taken)


def test_free_ground_stays_where_it_is_asked_for() -> None:
    assert free_ground([Rect(0, 0, 6, 6)], 6, 6, 30, (12.2, 3.1)) == (12, 3)


@SMALL
@given(st.integers(0, 120), st.integers(1, 6), st.integers(0, 3))
def test_communities_are_the_same_each_time_and_none_is_tiny(count: int, kinds: int, seed: int) -> None:
    vectors, own = topics(max(1, count), kinds, seed)
    features = MemoryFeatures(
        vectors, [frozenset({(f"thing {kind}",)}) for kind in own.tolist()], np.full(len(own), -1)
    )
    groups = find_communities(features)
    assert np.array_equal(groups, find_communities(features))
    sizes = np.bincount(groups)
    assert len(sizes) <= MOST_COMMUNITIES
    assert list(sizes) == sorted(sizes, reverse=True)
    assert len(sizes) == 1 or sizes.min() >= LEAST_MEMBERS


def test_clear_communities_are_found_in_small_and_in_large() -> None:
    for count in (300, 25_000):
        vectors, own = topics(count, 6, noise=0.02)
        none: list[frozenset[tuple[str, ...]]] = [frozenset()] * count
        groups = find_communities(MemoryFeatures(vectors, none, np.full(count, -1)))
        for kind in range(6):
            assert np.bincount(groups[own == kind]).max() > 0.99 * np.sum(own == kind)


def test_what_is_called_by_the_same_words_is_one_community_though_vectors_say_nothing() -> None:
    vectors = normalize_rows(np.random.default_rng(3).normal(size=(80, 64)).astype(np.float32))
    own = np.arange(80) % 2
    words = [
        frozenset({("kitchen",), ("oven",)}) if kind else frozenset({("boat",), ("sail",)}) for kind in own.tolist()
    ]
    # A third of the texts: more would be a word that says nothing.
    some = [words[at] if at % 10 < 2 else frozenset() for at in range(80)]
    groups = find_communities(MemoryFeatures(vectors, some, np.full(80, -1)))
    boats = {int(groups[at]) for at in range(0, 80, 10)}
    kitchens = {int(groups[at]) for at in range(1, 80, 10)}
    assert len(boats) == len(kitchens) == 1
    assert boats != kitchens


def test_a_talk_draws_its_replies_together() -> None:
    vectors, _ = topics(40, 20, noise=0.3)
    talks = np.repeat(np.arange(4), 10)
    talks[5] = -1
    alone = vectors[5].copy()
    before = nearest_centres(vectors, mean_directions(vectors, talks.clip(0), 4))[1].mean()
    mixed = blend_with_conversation(vectors, talks)
    assert nearest_centres(mixed, mean_directions(mixed, talks.clip(0), 4))[1].mean() > before
    assert np.array_equal(mixed[5], alone)
    assert np.allclose(np.linalg.norm(mixed, axis=1), 1, atol=1e-5)


def test_no_rooms_need_no_ground() -> None:
    assert not lay_out([])
