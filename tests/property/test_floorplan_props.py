"""The floor plan: nothing overlaps, nothing leaves its bounds, the same input gives the same plan, kin stand near."""

from __future__ import annotations

import numpy as np
import pytest
from example_counts import count_examples
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from core.lifecycle.palace.landmark_choice import LandmarkCandidates, choose_landmarks
from core.score.appearance import Look, are_neighbours, choose_emblem, choose_look
from core.score.centres import blend_with_conversation, mean_directions, nearest_centres, normalize_rows
from core.score.communities import LEAST_MEMBERS, MOST_COMMUNITIES, MemoryFeatures, find_communities
from core.score.floor_plan import (
    FULL,
    LEAST_PLACES,
    ROOMY,
    Grid,
    Rect,
    column_count,
    count_cards,
    free_ground,
    grid_density,
    lay_out,
    places_needed,
    room_capacity,
    room_size,
    row_count,
    stretch_rooms,
)
from core.score.room_sections import (
    Members,
    RoomSection,
    apportion,
    below_name,
    card_places,
    ground_of,
    lay_section,
    split_alcoves,
    whole_room,
)
from core.types.views import GAP, HEADER, MARGIN, SLOT_ASPECT

COUNTS = st.lists(st.integers(0, 3_000), min_size=1, max_size=24)
SMALL = settings(max_examples=count_examples(40), deadline=None)


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
@given(st.lists(st.integers(1, 400), min_size=2, max_size=24), st.integers(0, 23))
def test_a_room_that_is_laid_last_lies_at_the_far_corner(counts: list[int], chosen: int) -> None:
    last = chosen % len(counts)
    rects = lay_out(counts, [last])
    assert rects[last].x + rects[last].w == max(rect.x + rect.w for rect in rects)
    assert rects[last].y + rects[last].h == max(rect.y + rect.h for rect in rects)
    for place, (rect, count) in enumerate(zip(rects, counts, strict=True)):
        assert room_capacity(rect.w, rect.h) >= max(LEAST_PLACES, ROOMY * count)
        assert all(apart(rect, other) for other in rects[place + 1 :])


@SMALL
@given(st.lists(st.integers(100, 1_000), min_size=6, max_size=24))
def test_a_wing_is_wider_than_high_and_wastes_little(counts: list[int]) -> None:
    rects = lay_out(counts)
    w, h = max(rect.x + rect.w for rect in rects), max(rect.y + rect.h for rect in rects)
    assert 1.0 < w * SLOT_ASPECT / h < 2.1
    assert sum(room_capacity(rect.w, rect.h) for rect in rects) < 1.5 * ROOMY * sum(counts)


@SMALL
@given(st.integers(12, 2_000))
def test_a_room_for_itself_is_drawn_a_little_wider_than_high(places: int) -> None:
    w, h = room_size(places)
    assert room_capacity(w, h) >= places
    assert 1.0 < w * SLOT_ASPECT / h < 1.9
    assert room_capacity(*room_size(places, 6)) >= places


def member_rows(count: int, seed: int) -> Members:
    """Members with vectors of four topics, some of them ground, said at various times."""
    dice = np.random.default_rng(seed)
    vectors, _ = topics(count, 4, seed)
    return Members(vectors, dice.integers(0, 10**12, count), dice.random(count) < 0.2)


@SMALL
@given(st.integers(0, 200), st.integers(0, 6), st.integers(0, 5), st.floats(1.0, 6.0))
def test_first_places_are_free_places_with_the_landmarks_on_top(
    count: int, landmarks: int, seed: int, roomy: float
) -> None:
    w, h = room_size(max(LEAST_PLACES, int(roomy * count) + 1))
    section, members = whole_room(w, h), member_rows(count, seed)
    heads = list(np.random.default_rng(seed).permutation(count)[:landmarks].tolist())
    places = lay_section(section, members, heads)
    assert np.array_equal(places, lay_section(section, members, heads))
    assert is_on_grid(places, w, h, 0)
    assert len(np.unique(places, axis=0)) == count
    if roomy >= ROOMY and count >= 20:
        top = places[heads]
        assert np.all(top[:, 1] == HEADER + 0.5)
        assert np.all(np.diff(top[:, 0]) > 0)


@SMALL
@given(st.integers(12, 120), st.integers(0, 6), st.integers(0, 5))
def test_in_a_new_room_every_card_has_its_places_and_small_talk_stands_below(
    count: int, landmarks: int, seed: int
) -> None:
    members = member_rows(count, seed)
    told = np.flatnonzero(~members.is_ground)
    heads = told[:landmarks].tolist()
    w, h = room_size(places_needed(count_cards(count, count - len(told))))
    places = lay_section(whole_room(w, h), members, heads)
    cells = {tuple(place) for place in places.tolist()}
    for x, y in places[told].tolist():
        beside = {(x + across, y + down) for across in range(2) for down in range(2 if count >= 60 else 1)}
        assert beside & cells == {(x, y)}
    if 0 < len(told) < count:
        assert places[members.is_ground, 1].min() > places[told, 1].max()


def test_kin_stand_in_the_column_of_their_landmark_in_order_of_time() -> None:
    vectors, own = topics(30, 3)
    times = np.random.default_rng(1).permutation(30).astype(np.int64)
    heads = [int(np.flatnonzero(own == kind)[0]) for kind in range(3)]
    members = Members(vectors, times, np.zeros(30, np.bool_))
    places = lay_section(RoomSection(0, 0, 3, 17), members, heads)
    for column, kind in enumerate(range(3)):
        kin = [at for at in np.flatnonzero(own == kind).tolist() if at != heads[kind]]
        assert {float(places[at, 0]) for at in kin} == {MARGIN + 0.5 + column}
        order = sorted(kin, key=lambda at: float(places[at, 1]))
        assert [int(times[at]) for at in order] == sorted(int(times[at]) for at in kin)


def test_ground_stands_below_what_is_told() -> None:
    vectors, _ = topics(20, 1)
    is_ground = np.arange(20) % 3 == 0
    places = lay_section(RoomSection(0, 0, 1, 32), Members(vectors, np.arange(20), is_ground), [1])
    assert places[is_ground, 1].min() > places[~is_ground, 1].max()


@SMALL
@given(st.lists(st.integers(8, 90), min_size=2, max_size=12))
def test_alcoves_share_a_room_and_hold_their_members(sizes: list[int]) -> None:
    w, h = room_size(places_needed(max(61, sum(sizes))))
    section = whole_room(w, h)
    found = split_alcoves(sizes, section)
    assert found is not None
    held = np.zeros((section.rows, section.columns), np.int64)
    for alcove, size in zip(found, sizes, strict=True):
        held[alcove.row : alcove.row + alcove.rows, alcove.column : alcove.column + alcove.columns] += 1
        assert below_name(alcove).size >= size
        assert ground_of(alcove).y >= HEADER
    assert np.all(held == 1)


@SMALL
@given(st.lists(st.tuples(st.integers(8, 90), st.floats(0, 1)), min_size=2, max_size=12), st.integers(0, 5))
def test_alcoves_of_a_new_room_have_room_for_cards(parts: list[tuple[int, float]], seed: int) -> None:
    sizes = [(count, int(share * count)) for count, share in parts]
    w, h = room_size(places_needed(max(61, sum(count_cards(count, ground) for count, ground in sizes))))
    found = split_alcoves([card_places(count, ground) for count, ground in sizes], whole_room(w, h))
    assert found is not None
    for alcove, (count, ground) in zip(found, sizes, strict=True):
        vectors, _ = topics(count, 3, seed)
        members = Members(vectors, np.arange(count), np.arange(count) < ground)
        places = lay_section(below_name(alcove), members, [])
        assert len(np.unique(places, axis=0)) == count


def test_too_many_alcoves_for_a_room_are_refused() -> None:
    assert split_alcoves([4] * 40, RoomSection(0, 0, 4, 6)) is None


@SMALL
@given(st.lists(st.floats(0, 50), min_size=1, max_size=9), st.integers(0, 30))
def test_shares_are_whole_and_none_is_nothing(shares: list[float], more: int) -> None:
    found = apportion(shares, len(shares) + more)
    assert sum(found) == len(shares) + more
    assert min(found) >= 1


@SMALL
@given(COUNTS)
def test_stretched_rooms_keep_their_neighbours_and_overlap_none(counts: list[int]) -> None:
    rects = [Rect(11 * (at % 5), 9 * (at // 5), 10, 8) for at in range(len(counts))]
    small = [min(count, 40) for count in counts]
    found = stretch_rooms(rects, small, 0.62)
    for place, (rect, count) in enumerate(zip(found, small, strict=True)):
        assert room_capacity(rect.w, rect.h) >= count
        for other_place, other in enumerate(found[place + 1 :], place + 1):
            assert apart(rect, other)
            if rects[place].x < rects[other_place].x:
                assert rect.x < other.x
            if rects[place].y < rects[other_place].y:
                assert rect.y < other.y


@SMALL
@given(COUNTS, st.integers(0, 99))
def test_neighbours_never_look_alike(counts: list[int], turn: int) -> None:
    rects = lay_out(counts)
    looks: list[Look] = []
    for place, rect in enumerate(rects):
        near = [looks[other] for other in range(place) if are_neighbours(rect, rects[other])]
        look = choose_look(f"{turn}/{place}", near, looks)
        assert look == choose_look(f"{turn}/{place}", near, looks)
        for other in near:
            assert look.tint != other.tint or len({one.tint for one in near}) == 8
            assert (look.outline, look.floor) != (other.outline, other.floor)
        looks.append(look)


def test_an_emblem_fits_and_is_no_neighbours() -> None:
    scores = {"bird": 0.2, "boat": 0.9, "bread": 0.8}
    assert choose_emblem("Harbour", scores, (), ()) == "boat"
    assert choose_emblem("Harbour", scores, {"boat"}, ()) == "bread"
    assert choose_emblem("Harbour", scores, {"boat"}, {"boat", "bread"}) == "bird"
    assert choose_emblem("Harbour", scores, set(scores), set(scores)) == "boat"
    nothing = dict.fromkeys(scores, 0.0)
    assert choose_emblem("Harbour", nothing, {"boat"}, ()) == choose_emblem("Harbour", nothing, {"boat"}, ()) != "boat"


def candidates(vectors: np.ndarray, **more: np.ndarray) -> LandmarkCandidates:
    count = len(vectors)
    rows = {"importance": np.full(count, 0.5), "uses": np.zeros(count, np.int64), "clarity": np.ones(count), **more}
    return LandmarkCandidates(vectors, **rows)


@SMALL
@given(st.integers(0, 80), st.integers(0, 6), st.integers(0, 5))
def test_landmarks_are_different_memories_that_read_well(count: int, wanted: int, seed: int) -> None:
    vectors, _ = topics(count, 5, seed)
    clarity = np.random.default_rng(seed).random(count).round(1)
    found = candidates(vectors, clarity=clarity)
    chosen = choose_landmarks(found, wanted)
    assert chosen == choose_landmarks(found, wanted)
    assert len(set(chosen)) == len(chosen) <= wanted
    assert all(clarity[place] > 0 for place in chosen)
    more = choose_landmarks(found, 6, chosen)
    assert not set(more) & set(chosen)


def test_landmarks_are_of_each_topic_and_what_is_used_comes_first() -> None:
    vectors, own = topics(60, 3, noise=0.02)
    assert {int(own[place]) for place in choose_landmarks(candidates(vectors), 3)} == {0, 1, 2}
    uses = np.zeros(60, np.int64)
    uses[17] = 50
    assert choose_landmarks(candidates(vectors, uses=uses), 3)[0] == 17


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
@given(st.integers(6, 14), st.integers(8, 18), st.lists(st.tuples(st.floats(0, 14), st.floats(0, 18)), max_size=60))
def test_a_newcomer_takes_no_place_of_a_card_while_there_is_room(
    w: int, h: int, wishes: list[tuple[float, float]]
) -> None:
    grid, given_out = Grid(w, h, np.empty((0, 2))), list[tuple[float, float]]()
    for x, y in wishes:
        place = grid.take_with_card(x, y)
        assert place not in given_out
        cards = [{(a + across, b + down) for across in range(2) for down in range(2)} for a, b in given_out]
        own = {(place[0] + across, place[1] + down) for across in range(2) for down in range(2)}
        if any(own & card for card in cards):
            break  # no room for a card is left near it: from here on cards are narrowed
        given_out.append(place)
    else:
        return
    rest = [(a, b) for a in np.arange(1.5, w - 2) for b in np.arange(2.5, h - 2) if max(abs(a - x), abs(b - y)) <= 4]
    for a, b in rest:
        block = {(a + across, b + down) for across in range(2) for down in range(2)}
        assert any(block & card for card in cards)


def test_a_card_is_given_places_beside_its_kin() -> None:
    grid = Grid(10, 12, np.array([(3.5, 4.5)]))
    assert grid.take_with_card(3.5, 4.5) in {(5.5, 4.5), (1.5, 4.5), (3.5, 2.5), (3.5, 6.5)}
    full = Grid(6, 6, np.array([(a + 0.5, b + 0.5) for a in (1, 3) for b in (2, 4)]))
    assert full.take_with_card(1.5, 2.5) in {(2.5, 2.5), (1.5, 3.5)}


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


@pytest.mark.slow
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
