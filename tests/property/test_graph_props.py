"""What is drawn of any graph keeps its caps and counts honestly; placing keeps its bounds; octets come back."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Collection, Sequence
from random import Random

import numpy as np
import pytest
from example_counts import count_examples
from hypothesis import given, settings
from hypothesis import strategies as st

from core.engine.views.graph import (
    WholeLayout,
    check_graph,
    place_isolated,
    place_on_rings,
    separate_coincident,
)
from core.engine.views.layout_process import (
    EGO,
    HEAD,
    LENGTH,
    WHOLE,
    LayoutJob,
    centre_on_first,
    pack_job,
    unpack_job,
    within_circle,
)
from core.recall.browse.ego_selection import HUB, KEPT, MEMORY_SHARE, EgoSelection, select_ego
from core.recall.browse.links import Link, Links, nearest_pairs, sample_links
from core.types.views import EDGE_TYPES

NODES = 60


@st.composite
def webs(draw: st.DrawFn) -> Links:
    count = draw(st.integers(2, NODES))
    ends = st.integers(0, count - 1)
    pairs = draw(st.lists(st.tuples(ends, ends, st.sampled_from(EDGE_TYPES)), max_size=150))
    if draw(st.booleans()):
        pairs += [(0, n, "derived_from") for n in range(1, count)]  # the centre is a hub
    weights = st.integers(1, 100).map(lambda n: n / 100)
    return {Link(a, b, kind): draw(weights) for a, b, kind in pairs if a != b}


def picked(web: Links, depth: int, cap: int) -> EgoSelection:
    def look(labels: Sequence[int], drawn: Collection[int]) -> Links:
        assert set(labels) <= set(drawn)
        return {link: weight for link, weight in web.items() if link.a in labels or link.b in labels}

    def among(labels: Collection[int]) -> Links:
        return {link: weight for link, weight in web.items() if link.a in labels and link.b in labels}

    return select_ego(0, depth, cap, look, among, lambda labels: dict.fromkeys(labels, 1.0))


def neighbours(web: Links, n: int) -> set[int]:
    return {link.other_end(n) for link in web if n in (link.a, link.b)}


def reached(links: Links) -> dict[int, int]:
    far, waiting = {0: 0}, deque([0])
    while waiting:
        n = waiting.popleft()
        for other in sorted(neighbours(links, n) - far.keys()):
            far[other] = far[n] + 1
            waiting.append(other)
    return far


@given(webs(), st.integers(1, 3), st.integers(1, 40))
def test_what_is_drawn_is_connected_and_within_its_caps(web: Links, depth: int, cap: int) -> None:
    found = picked(web, depth, cap)
    assert 1 <= len(found.distance) <= cap
    assert next(iter(found.distance)) == 0
    assert reached(found.links) == dict(found.distance)
    assert max(found.distance.values()) <= depth
    assert set(found.links) <= set(web)
    own = {n: [link for link in found.links if n in (link.a, link.b)] for n in found.distance}
    ways = len(found.distance) - 1
    for n in found.folded.keys() - {0}:
        if len(neighbours(web, n)) > HUB:
            assert len(own[n]) <= KEPT
    assert len(found.links) <= KEPT * len(found.distance) + ways


@given(webs(), st.integers(1, 3), st.integers(1, 40))
def test_what_is_not_drawn_is_counted(web: Links, depth: int, cap: int) -> None:
    found = picked(web, depth, cap)
    missing = {n: neighbours(web, n) - found.distance.keys() for n in found.folded}
    assert found.folded == {n: len(others) for n, others in missing.items()}
    assert found.left_out == len(set().union(*missing.values()))
    if len(found.distance) < cap:
        # There was room: only hubs fold.
        assert all(not others for n, others in missing.items() if len(neighbours(web, n)) <= HUB)


@given(webs(), st.integers(1, 3), st.randoms(use_true_random=False))
def test_the_order_of_reading_does_not_matter(web: Links, depth: int, shuffled: Random) -> None:
    items = list(web.items())
    shuffled.shuffle(items)
    assert picked(dict(items), depth, 20) == picked(web, depth, 20)


def test_a_hub_shows_its_strongest_and_the_centre_as_many_as_fit() -> None:
    star = {Link(0, n, "derived_from"): n / 100 for n in range(1, 51)}
    found = picked(star, 2, 41)
    assert sorted(found.distance) == [0, *range(11, 51)]
    assert found.folded[0] == found.left_out == 10
    beside = {Link(1, n + 1, "derived_from"): n / 100 for n in range(1, 51)}
    folded = picked({Link(0, 1, "derived_from"): 1.0} | beside, 2, 300)
    assert sorted(folded.distance) == [0, 1, *range(41, 52)]
    assert folded.folded[1] == folded.left_out == 39


@given(st.integers(1, 40), st.integers(1, 40), st.integers(2, 40))
def test_memories_leave_room_for_entities(memories: int, entities: int, cap: int) -> None:
    # Entities hang on the strongest memory: without the share they would come last.
    web = {Link(0, n, "supports"): 1.0 for n in range(1, memories + 1)}
    web |= {Link(1, -n, "mentions"): 0.1 for n in range(1, entities + 1)}
    found = picked(web, 2, cap)
    drawn = [n for n in found.distance if n]
    assert len(drawn) == min(cap - 1, memories + min(entities, KEPT - 1 if entities >= HUB else entities))
    named, rest = sum(n < 0 for n in drawn), sum(n > 0 for n in drawn)
    assert rest <= math.ceil(MEMORY_SHARE * (cap - 1)) or named == min(
        entities, KEPT - 1 if entities >= HUB else entities
    )


def test_a_memory_with_few_neighbours_shows_all() -> None:
    found = picked({Link(0, n, "supports"): 1.0 for n in range(1, HUB + 1)}, 1, 300)
    assert len(found.distance) == HUB + 1
    assert found.left_out == 0


@given(st.integers(0, 40), st.integers(1, 5), st.floats(-0.5, 0.9), st.integers(0, 1000))
def test_nearest_pairs_are_the_exact_ones(count: int, most: int, least: float, seed: int) -> None:
    rows = np.random.default_rng(seed).normal(size=(count, 8)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True) if count else 1
    i, j, cosines = nearest_pairs(rows, most, least)
    table = rows @ rows.T
    np.fill_diagonal(table, -2)
    wanted = {
        (min(a, int(b)), max(a, int(b)))
        for a in range(count)
        for b in np.argsort(-table[a], kind="stable")[: min(most, count - 1)]
        if table[a, b] >= least
    }
    assert set(zip(i.tolist(), j.tolist(), strict=True)) == wanted
    assert np.allclose(cosines, table[i, j], atol=1e-5)


@given(st.integers(0, 500), st.integers(1, 100))
def test_a_sample_is_bounded_and_repeatable(count: int, most: int) -> None:
    labels = np.arange(count, dtype=np.int64) * 3
    part = sample_links(labels, most)
    assert part.size == min(count, most)
    assert np.isin(part, labels).all()
    assert bool(np.all(np.diff(part) > 0))
    assert np.array_equal(part, sample_links(labels, most))


@given(st.lists(st.integers(-3, 7), max_size=200))
def test_groups_stand_in_patches(groups: list[int]) -> None:
    group = np.array(groups, np.int64)
    placed = place_isolated(group)
    assert placed.shape == (len(groups), 2)
    assert bool((np.abs(placed) <= 1).all())
    assert len({tuple(spot) for spot in placed.tolist()}) == len(groups)
    assert np.array_equal(placed, place_isolated(group))


@given(st.lists(st.tuples(st.floats(-1, 1, width=32), st.floats(-1, 1, width=32)), max_size=60))
def test_no_two_nodes_stand_on_one_spot(spots: list[tuple[float, float]]) -> None:
    placed = np.array([*spots, *spots], np.float32).reshape(-1, 2)
    parted = separate_coincident(placed)
    assert len({tuple(spot) for spot in parted.tolist()}) == 2 * len(spots)
    assert bool((np.abs(parted) <= 1).all())
    assert np.array_equal(parted[:1], placed[:1])


@given(st.lists(st.integers(1, 3), max_size=40))
def test_rings_keep_the_distance(far: list[int]) -> None:
    distance = np.array([0, *sorted(far)], np.int64)
    none = np.empty(0, np.int32)
    placed = place_on_rings(distance, none, none)
    radius = np.sqrt((placed.astype(np.float64) ** 2).sum(axis=1))
    assert np.allclose(radius, distance / max(int(distance.max()), 1), atol=1e-6)


@given(st.lists(st.tuples(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6)), min_size=1, max_size=60))
def test_positions_come_within_the_circle(spots: list[tuple[float, float]]) -> None:
    placed = np.array(spots)
    for brought in (within_circle(placed), centre_on_first(placed)):
        assert brought.shape == placed.shape
        assert bool((np.sqrt((brought.astype(np.float64) ** 2).sum(axis=1)) <= 1.0001).all())
    assert not centre_on_first(placed)[0].any()


@st.composite
def jobs(draw: st.DrawFn) -> LayoutJob:
    nodes, edges = draw(st.integers(1, 20)), draw(st.integers(0, 30))
    random = np.random.default_rng(draw(st.integers(0, 999)))
    a, b = random.integers(0, nodes, (2, edges)).astype(np.int32)
    weight = random.uniform(0.01, 1, edges).astype(np.float32)
    return LayoutJob(
        draw(st.sampled_from((EGO, WHOLE))), a, b, weight, random.uniform(-1, 1, (nodes, 2)).astype(np.float32), 7
    )


@given(jobs())
def test_a_request_comes_back(job: LayoutJob) -> None:
    octets = pack_job(job)
    assert LENGTH.unpack_from(octets) == (len(octets) - LENGTH.size,)
    again = unpack_job(octets[LENGTH.size :])
    assert (again.way, again.seed) == (job.way, job.seed)
    for name in ("a", "b", "weight", "places"):
        assert np.array_equal(getattr(again, name), getattr(job, name))


@given(jobs(), st.data())
def test_a_request_that_lies_is_refused(job: LayoutJob, data: st.DataObject) -> None:
    body = pack_job(job)[LENGTH.size :]
    with pytest.raises(ValueError):
        unpack_job(body[: data.draw(st.integers(0, len(body) - 1))])
    with pytest.raises(ValueError):
        unpack_job(body + b"\0")
    if job.a.size:
        with pytest.raises(ValueError):
            unpack_job(
                pack_job(LayoutJob(job.way, job.a + job.places.shape[0], job.b, job.weight, job.places))[LENGTH.size :]
            )
    with pytest.raises(ValueError):
        unpack_job(pack_job(LayoutJob(job.way, job.a, job.b, job.weight, job.places * np.nan))[LENGTH.size :])


@settings(max_examples=count_examples(30))
@given(st.binary(max_size=200))
def test_noise_is_no_request(noise: bytes) -> None:
    with pytest.raises(ValueError):
        unpack_job(noise)
    with pytest.raises(ValueError):
        unpack_job(HEAD.pack(b"LOCILAY1", 3, 0, 0, 1) + noise)


@given(st.integers(1, 60), st.integers(0, 40), st.integers(0, 999))
def test_the_lonely_stand_outside_and_all_have_a_place(nodes: int, edges: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    a, b = random.integers(0, nodes, (2, edges))
    layout = WholeLayout(check_graph(nodes, a, b, np.ones(edges)), random.integers(0, 4, nodes))
    tied = sorted({int(n) for x, y in zip(a, b, strict=True) if x != y for n in (x, y)})
    assert layout.needs_child == bool(tied)
    assert layout.job.places.shape == (len(tied), 2)
    if tied:
        assert set(layout.job.a.tolist()) | set(layout.job.b.tolist()) == set(range(len(tied)))
    # The innermost of the lonely stand farther out than anything the child may say.
    spread = random.uniform(-0.7, 0.7, (len(tied), 2)).astype(np.float32)
    radius = np.sqrt((layout.join_isolated(spread).astype(np.float64) ** 2).sum(axis=1))
    assert bool((radius <= 1.0001).all())
    alone = np.setdiff1d(np.arange(nodes), tied)
    if tied and alone.size:
        assert radius[tied].max() < radius[alone].min()
