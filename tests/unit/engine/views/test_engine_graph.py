"""The graph's group over a real vault: what is tied to what, what a filter leaves, places, views, locking."""

from __future__ import annotations

import sys
import threading
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from engine_rig import Rig, error_of, refused, talk

from core.engine.views.graph import Graph
from core.errors import Code
from core.recall.browse import links
from core.types.views import EDGE_TYPES, NODE_KINDS, EgoGraph, GraphFilter, GraphView, Placed
from core.vault.database.tx import Tx

HANGING = (sys.executable, "-I", "-c", "import sys, time; sys.stdin.buffer.read(); time.sleep(600)")
DYING = (sys.executable, "-I", "-c", "pass")
TIED = GraphFilter(edge_types=tuple(name for name in EDGE_TYPES if name != "meaning"))
ALIKE = GraphFilter(edge_types=EDGE_TYPES)


def ego(rig: Rig, memory_id: str, depth: int = 1, cap: int = 300, wanted: GraphFilter = TIED) -> EgoGraph:
    return rig.engine.graph.read_ego(memory_id, depth, cap, wanted).result(60)


def edge(rig: Rig, a: str, b: str, kind: str = "supports", weight: float = 1.0) -> None:
    space = rig.value("SELECT space_id FROM memories WHERE id = ?", a)

    def write(tx: Tx) -> None:
        row: dict[str, Any] = {"from_id": a, "to_id": b, "type": kind, "space_id": space, "weight": weight}
        tx.insert("edges", {"id": f"{a}{b}{kind}", **row, "made_by": "owner", "recorded_at": tx.now_ms})

    rig.write(write)


def derive(rig: Rig, derived: str, source: str) -> None:
    space = rig.value("SELECT space_id FROM memories WHERE id = ?", derived)
    row = {"derived_id": derived, "source_id": source, "space_id": space}
    rig.write(lambda tx: tx.insert("derivations", {**row, "recorded_at": tx.now_ms}))


def change(rig: Rig, memory_id: str, **columns: object) -> None:
    rig.write(lambda tx: tx.update("memories", {"id": memory_id}, columns))


def facts(rig: Rig, count: int) -> list[str]:
    words = ["plum", "stove", "harbour", "violin", "glacier", "tax", "lantern", "moss", "ferry", "quince"]
    return [rig.store(f"{words[n % 10]}{n // 10} {words[n // 10]}x{n % 10} note{n}").memory_id for n in range(count)]


def drawn(graph: EgoGraph) -> set[tuple[str, str, str]]:
    return {(one.a, one.b, one.type) for one in graph.edges}


def shown(graph: EgoGraph) -> dict[str, int]:
    return {node.id: node.distance for node in graph.nodes}


@pytest.mark.starts_process
def test_stored_edges_lead_both_ways(rig: Rig) -> None:
    a, b, c, d = facts(rig, 4)
    edge(rig, a, b, "caused_by", 0.7)
    edge(rig, c, a, "contradicts")
    derive(rig, b, d)
    graph = ego(rig, a, 2)
    assert shown(graph) == {a: 0, c: 1, b: 1, d: 2}
    assert drawn(graph) == {(a, b, "caused_by"), (c, a, "contradicts"), (b, d, "derived_from")}
    assert {one.weight for one in graph.edges if one.type == "caused_by"} == {0.7}
    assert shown(ego(rig, a, 1)) == {a: 0, c: 1, b: 1}
    assert drawn(ego(rig, a, 3, wanted=GraphFilter(edge_types=("caused_by",)))) == {(a, b, "caused_by")}


@pytest.mark.starts_process
def test_messages_and_parts_stand_in_a_row(rig: Rig) -> None:
    long = " ".join(f"Sentence {n} about the harbour and its boats." for n in range(600))
    rig.bring([*talk(3), {"text": long, "session": "s", "author": "user", "ref": "s-long"}])
    rows = rig.rows("SELECT id, position, part_of, part_index FROM memories ORDER BY position, part_index")
    parts = [row[0] for row in rows if row[2] is not None]
    first, middle, last = (row[0] for row in rows if row[2] is None)
    assert len(parts) > 2
    near = ego(rig, middle, 1)
    assert drawn(near) == {(first, middle, "conversation"), (middle, last, "conversation")}
    row = ego(rig, parts[0], 1)
    assert drawn(row) == {(last, parts[0], "conversation"), (parts[0], parts[1], "part")}
    assert shown(ego(rig, parts[1], 1)) == {parts[1]: 0, parts[0]: 1, parts[2]: 1}


@pytest.mark.starts_process
def test_nearness_in_meaning(rig: Rig) -> None:
    alike = [rig.store(f"the old red boat in the harbour {n}").memory_id for n in range(4)]
    other = rig.store("quince jelly sets slowly").memory_id
    graph = ego(rig, alike[0], 1, wanted=replace(ALIKE, min_similarity=0.5))
    assert shown(graph).keys() == set(alike)
    assert {one.type for one in graph.edges} == {"meaning"}
    assert all(0.5 <= one.weight <= 1 for one in graph.edges)
    assert len(graph.edges) == 6  # neighbours are tied among themselves, too
    assert shown(ego(rig, other, 1, wanted=replace(ALIKE, min_similarity=0.9))) == {other: 0}
    assert shown(ego(rig, alike[0], 1, wanted=replace(ALIKE, min_similarity=1.0))) == {alike[0]: 0}


@pytest.mark.starts_process
def test_nearness_is_found_behind_what_is_filtered(rig: Rig) -> None:
    many = [rig.store(f"the old red boat in the harbour {n}").memory_id for n in range(50)]
    rows = rig.rows("SELECT id FROM memories ORDER BY n")
    assert [row[0] for row in rows] == many
    kept = {many[0], many[7], many[49]}
    for memory_id in set(many) - kept:
        change(rig, memory_id, status="archived")
    assert shown(ego(rig, many[0], 1, wanted=ALIKE)).keys() == kept


@pytest.mark.starts_process
def test_what_no_longer_stands_shows_beside_what_replaced_it(rig: Rig) -> None:
    new, old, near, gone = facts(rig, 4)
    change(rig, old, status="superseded", superseded_by_id=new)
    change(rig, new, supersedes_id=old)
    edge(rig, old, near)
    edge(rig, new, gone)
    rig.forget(gone)
    assert drawn(ego(rig, new, 1)) == {(new, old, "supersedes")}
    assert shown(ego(rig, near, 1)) == {near: 0}
    assert shown(ego(rig, gone, 1)) == {gone: 0, new: 1}  # the centre always shows
    assert shown(ego(rig, new, 1, wanted=GraphFilter("status:deleted"))) == {new: 0, gone: 1}


@pytest.mark.starts_process
def test_a_search_narrows_the_graph_but_for_its_centre(rig: Rig) -> None:
    a, b, c, d = facts(rig, 4)
    edge(rig, a, b)
    edge(rig, b, c)
    edge(rig, a, d)
    change(rig, d, kind="episode")
    graph = ego(rig, d, 3, wanted=GraphFilter("kind:fact", TIED.edge_types))
    assert shown(graph) == {d: 0, a: 1, b: 2, c: 3}
    assert shown(ego(rig, a, 3, wanted=GraphFilter("kind:episode", TIED.edge_types))) == {a: 0, d: 1}
    assert error_of(rig.engine.graph.read_ego(a, 1, 9, GraphFilter("nosuchkey:x"))).code is Code.INVALID_QUERY


@pytest.mark.starts_process
def test_hubs_fold_and_the_cap_counts_the_centre(rig: Rig) -> None:
    ids = facts(rig, 42)
    hub, beside = ids[0], ids[41]
    for nr, other in enumerate(ids[1:41], 1):
        edge(rig, hub, other, "related_to", nr / 100)
    edge(rig, hub, beside)
    graph = ego(rig, beside, 2)
    # The hub beside the centre keeps twelve links: that to the centre and its strongest.
    assert [node.id for node in graph.nodes] == [beside, hub, *reversed(ids[30:41])]
    assert graph.nodes[1].folded == graph.left_out == 29
    whole = ego(rig, hub)
    assert len(whole.nodes) == 42  # in the middle a hub shows all that fit
    assert (whole.nodes[0].folded, whole.left_out) == (0, 0)
    few = ego(rig, ids[0], cap=5)
    assert len(few.nodes) == 5
    assert few.left_out == 37
    alone = ego(rig, ids[0], cap=1)
    assert (shown(alone), dict(alone.places), alone.left_out) == ({ids[0]: 0}, {ids[0]: (0.0, 0.0)}, 41)


@pytest.mark.starts_process
def test_places_are_apart_and_always_the_same(rig: Rig) -> None:
    ids = facts(rig, 12)
    for other in ids[1:]:
        edge(rig, ids[0], other)
    graph = ego(rig, ids[0], 2)
    assert graph.places.keys() == set(ids)
    assert graph.places[ids[0]] == (0.0, 0.0)
    assert all(abs(x) <= 1 and abs(y) <= 1 for x, y in graph.places.values())
    assert len(set(graph.places.values())) == 12
    assert ego(rig, ids[0], 2) == graph


@pytest.mark.starts_process
@pytest.mark.expected_logs("a layout stopped: .*")
def test_without_its_child_an_ego_graph_stands_on_rings(rig: Rig) -> None:
    a, b, c = facts(rig, 3)
    edge(rig, a, b)
    edge(rig, b, c)
    graph = Graph(lambda: rig.opened.storage, lambda: rig.opened.search, DYING).read_ego(a, 2).result(60)
    away = {memory_id: float(np.hypot(*place)) for memory_id, place in graph.places.items()}
    assert away == pytest.approx({a: 0.0, b: 0.5, c: 1.0}, abs=1e-3)


@pytest.mark.starts_process
def test_what_makes_no_sense_is_refused(rig: Rig) -> None:
    (a,) = facts(rig, 1)
    graph = rig.engine.graph
    assert error_of(graph.read_ego("nobody")).code is Code.NOT_FOUND
    for wrong in (
        graph.read_ego(a, 0),
        graph.read_ego(a, 4),
        graph.read_ego(a, 1, 0),
        graph.read_ego(a, 1, 9, GraphFilter(edge_types=("likes",))),
        graph.read_whole(GraphFilter(min_similarity=1.5)),
        graph.save_view(GraphView("", a, 1, GraphFilter())),
        graph.save_view(GraphView("two\nlines", a, 1, GraphFilter())),
        graph.save_view(GraphView("deep", a, 9, GraphFilter())),
    ):
        assert error_of(wrong).code is Code.INVALID_INPUT
    rig.lock()
    for verb in (graph.read_whole, graph.list_views, lambda: graph.read_ego(a)):
        with refused(Code.VAULT_LOCKED):
            verb()


def test_the_whole_vault_as_columns(rig: Rig) -> None:
    rig.bring(talk(6), space="trips")
    a, b, c = facts(rig, 3)
    edge(rig, a, b, "contradicts", 0.25)
    rig.forget(c)
    whole = rig.engine.graph.read_whole(TIED).result(60)
    rows = rig.rows("SELECT id, kind, trust, coalesce(occurred_at, recorded_at) FROM memories ORDER BY n")
    rows = [row for row in rows if row[0] != c]
    assert whole.ids == tuple(row[0] for row in rows)
    assert [NODE_KINDS[k] for k in whole.kind] == [row[1] for row in rows]
    assert whole.trust.tolist() == pytest.approx([row[2] for row in rows])
    assert whole.said_at.tolist() == [row[3] for row in rows]
    assert whole.entities == ()
    assert set(whole.group.tolist()) == set(range(len(whole.group_names)))
    edges = [
        (whole.ids[i], whole.ids[j], EDGE_TYPES[t]) for i, j, t in zip(whole.a, whole.b, whole.edge_type, strict=True)
    ]
    talked = [(whole.ids[n], whole.ids[n + 1], "conversation") for n in range(5)]
    # A contradiction counts more than what was said before, at half its weight.
    assert edges == [(a, b, "contradicts"), *talked]
    assert whole.weight.tolist() == [0.25] + [0.5] * 5
    narrow = rig.engine.graph.read_whole(GraphFilter("kind:fact")).result(60)
    assert narrow.ids == (a, b)


def test_the_whole_vault_is_bounded(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    rig.bring([{"text": f"the old red boat in the harbour {n}", "ref": f"{n}"} for n in range(30)])
    rig.settle()
    everything = rig.engine.graph.read_whole(replace(ALIKE, min_similarity=0.0)).result(60)
    meaning = EDGE_TYPES.index("meaning")
    assert set(everything.edge_type.tolist()) == {meaning}
    assert 45 <= everything.a.size <= 90
    assert len(set(zip(everything.a.tolist(), everything.b.tolist(), strict=True))) == everything.a.size
    assert np.all(np.diff(everything.weight) <= 0)  # all of one type: the strongest first
    monkeypatch.setattr(links.sample_links, "__defaults__", (8,))
    part = rig.engine.graph.read_whole(replace(ALIKE, min_similarity=0.0)).result(60)
    assert part.ids == everything.ids
    assert len(set(part.a.tolist()) | set(part.b.tolist())) == 8
    assert np.array_equal(part.a, rig.engine.graph.read_whole(replace(ALIKE, min_similarity=0.0)).result(60).a)


def test_an_empty_vault_has_an_empty_graph(rig: Rig) -> None:
    whole = rig.engine.graph.read_whole().result(60)
    assert (whole.ids, whole.group_names, whole.a.size, whole.kind.size) == ((), (), 0, 0)
    steps: list[Placed] = []
    placed = rig.engine.graph.place_whole(
        0, whole.a, whole.b, whole.weight, on_step=steps.append, cancelled=lambda: False
    )
    assert placed.result(60).xy.shape == (0, 2)
    assert [step.is_last for step in steps] == [True]


@pytest.mark.starts_process
def test_locking_ends_a_running_layout(rig: Rig) -> None:
    begun = threading.Event()
    graph = Graph(lambda: rig.opened.storage, lambda: rig.opened.search, HANGING)
    ends = np.array([0, 1]), np.array([1, 2])
    waiting = graph.place_whole(3, *ends, np.ones(2), on_step=lambda _: begun.set(), cancelled=lambda: False)
    (a,) = facts(rig, 1)
    assert begun.wait(30)
    rig.lock()
    assert error_of(waiting).code is Code.VAULT_LOCKED
    with refused(Code.VAULT_LOCKED):
        rig.engine.graph.read_ego(a)


@pytest.mark.starts_process
def test_cancelling_ends_a_running_layout(rig: Rig) -> None:
    begun = threading.Event()
    graph = Graph(lambda: rig.opened.storage, lambda: rig.opened.search, HANGING)
    ends = np.array([0, 1]), np.array([1, 2])
    stopped = graph.place_whole(3, *ends, np.ones(2), on_step=lambda _: begun.set(), cancelled=begun.is_set)
    assert error_of(stopped).code is Code.CANCELLED
    assert begun.is_set()


def test_views_are_kept_replaced_and_dropped(rig: Rig) -> None:
    graph = rig.engine.graph
    steps = rig.value("SELECT count(*) FROM undo_steps")
    boats = GraphView("Boats", None, 1, GraphFilter("boat -red", ("meaning", "part"), 0.7))
    ashore = GraphView("ashore", "some-id", 3, GraphFilter())
    for view in (boats, ashore):
        graph.save_view(view).result(30)
    assert graph.list_views().result(30) == (ashore, boats)
    changed = GraphView("Boats", "other-id", 2, GraphFilter())
    graph.save_view(changed).result(30)
    rig.lock()
    rig.unlock()
    assert graph.list_views().result(30) == (ashore, changed)
    graph.drop_view("ashore").result(30)
    assert graph.list_views().result(30) == (changed,)
    assert error_of(graph.drop_view("ashore")).code is Code.NOT_FOUND
    audit = rig.rows("SELECT * FROM audit WHERE verb IN ('save_view', 'drop_view')")
    assert len(audit) == 4
    assert "Boats" not in str(audit)
    assert rig.value("SELECT count(*) FROM undo_steps") == steps


def test_views_have_a_bound(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.engine.views.graph.MAX_VIEWS", 2)
    views = [GraphView(f"view {n}", None, 1, GraphFilter()) for n in range(3)]
    for view in views[:2]:
        rig.engine.graph.save_view(view).result(30)
    assert error_of(rig.engine.graph.save_view(views[2])).code is Code.INVALID_INPUT
    rig.engine.graph.save_view(views[0]).result(30)  # replacing is no new one


def test_likeness_ties_nothing_of_two_spaces(rig: Rig) -> None:
    spaces = {
        rig.store(f"The harbour crane number {number} is broken.", space=space).memory_id: space
        for number, space in enumerate(("shed", "shed", "boat", "boat"))
    }
    wanted = replace(ALIKE, min_similarity=0.2)
    graph = rig.engine.graph.read_whole(wanted).result(60)
    ends = [
        (spaces[graph.ids[a]], spaces[graph.ids[b]]) for a, b in zip(graph.a.tolist(), graph.b.tolist(), strict=True)
    ]
    assert ends
    assert all(one == other for one, other in ends)
