"""The graph's drawing without an engine: labels, steps, clipping, badges, edge types, the sliced picture."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt, QTimer
from PySide6.QtGui import QPainter, QRegion
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot
from window_rig import Asked, settle

from core.types.entities import EntityLine
from core.types.values import Kind, Role, Source, Status
from core.types.views import (
    ABOUT,
    EDGE_TYPES,
    MEANING,
    NODE_KINDS,
    RELATION,
    EgoGraph,
    GraphEdge,
    GraphFilter,
    GraphNode,
    GraphView,
    MemoryRow,
    WholeGraph,
)
from ui.pages.graph.ego import EgoCanvas
from ui.pages.graph.geometry import (
    GraphViewport,
    LabelRequest,
    clip_lines,
    convex_hull,
    edge_lanes,
    lines_path,
    nearest_line,
    nearest_node,
    node_in_direction,
    pack_circles,
    place_graph_labels,
    typical_distance,
)
from ui.pages.graph.legend import TIES, GraphCounts, GraphLegend, edge_word
from ui.pages.graph.node_style import node_pixmap, node_style
from ui.pages.graph.overview import slice_community, summarize_communities
from ui.pages.graph.views import ViewsChip
from ui.pages.graph.whole import FrameMaker, WholeCanvas, WholeScene, labelled_nodes
from ui.strings import graph_strings
from ui.theme.theme import Theme


@pytest.fixture
def theme(qapp: QApplication) -> Theme:
    """The light theme, nothing moves by itself."""
    made = Theme(qapp, Asked())
    made.apply_theme("light", 100, reduced_motion=True)
    return made


def memory(name: str, kind: Kind = Kind.FACT, status: Status = Status.ACTIVE) -> MemoryRow:
    return MemoryRow(
        id=name, n=1, kind=kind, status=status, head=f"Text of {name}", is_cut=False, space="home",
        source=Source.USER_EXPLICIT, role=Role.USER, author=None, client=None, category="", importance=0.5, tags=(),
        occurred=None, recorded_at=1_700_000_000_000, trust=0.9, confidence=0.9, strength=0.5, pinned=False,
        access_count=0, last_accessed_at=None, conversation=None, room=None,
    )  # fmt: skip


def star() -> EgoGraph:
    """A centre with a node to each side, the right one with folded neighbours."""
    rows = [memory("c"), memory("l"), memory("r", Kind.RULE), memory("u", status=Status.SUPERSEDED)]
    nodes = tuple(GraphNode(row, None, int(row.id != "c"), 42 if row.id == "r" else 0) for row in rows)
    edges = (
        GraphEdge("c", "l", MEANING, 0.6),
        GraphEdge("c", "r", "contradicts", 1.0),
        GraphEdge("c", "r", "caused_by", 1.0),
        GraphEdge("c", "u", "supersedes", 1.0),
    )
    places = {"c": (0.0, 0.0), "l": (-1.0, 0.0), "r": (1.0, 0.0), "u": (0.0, -1.0)}
    return EgoGraph("c", nodes, edges, places, 42)


def vault(count: int, edges: int) -> WholeGraph:
    """A synthetic vault of three groups."""
    made = np.random.default_rng(5)
    return WholeGraph(
        ids=tuple(f"m{nr}" for nr in range(count)),
        entities=(),
        kind=made.integers(0, 5, count).astype(np.int8),
        trust=np.ones(count, np.float32),
        said_at=np.zeros(count, np.int64),
        rank=np.linspace(1, 0, count, dtype=np.float32),
        group=(np.arange(count) % 3).astype(np.int32),
        group_names=("One", "Two", "Three"),
        a=made.integers(0, count, edges).astype(np.int32),
        b=made.integers(0, count, edges).astype(np.int32),
        edge_type=made.integers(0, len(EDGE_TYPES), edges).astype(np.int8),
        weight=np.linspace(1, 0, edges, dtype=np.float32),
    )


def disc(count: int) -> NDArray[np.float32]:
    angle = np.arange(count) * 2.4
    return (np.column_stack((np.cos(angle), np.sin(angle))) * np.sqrt(np.arange(1, count + 1) / count)[:, None]).astype(
        np.float32
    )


# ---- geometry


def test_a_look_keeps_the_place_under_the_pointer_while_it_zooms() -> None:
    look, at = GraphViewport(0.3, -0.2, 150, 800, 600), QPointF(700, 80)
    place = (np.array([[at.x(), at.y()]]) - (400, 300)) / look.scale + (look.x, look.y)
    assert look.zoomed_within(2.0, at, 1, 1e6).to_px(place) == pytest.approx(np.array([[700, 80]]))


def test_fitting_shows_every_point_within_its_margins() -> None:
    xy = np.random.default_rng(1).normal(size=(50, 2)) * 7
    px = GraphViewport(w=900, h=500).fit_points(xy, 100, 40, 1e9).to_px(xy)
    assert px[:, 0].min() >= 100 - 1e-6
    assert px[:, 0].max() <= 800 + 1e-6
    assert px[:, 1].min() >= 40 - 1e-6
    assert px[:, 1].max() <= 460 + 1e-6


def test_labels_lie_over_no_node_no_control_and_no_other_label() -> None:
    made = np.random.default_rng(2)
    px, look = made.uniform(20, 580, (60, 2)), GraphViewport(w=600, h=600)
    control = QRectF(0, 0, 200, 60)
    wishes = [LabelRequest(row, QSizeF(90, 16)) for row in range(60)]
    found = place_graph_labels(wishes, px, np.full(60, 6.0), look, [control])
    assert 10 < len(found) < 60
    rects = list(found.values())
    assert not any(a.intersects(b) for nr, a in enumerate(rects) for b in rects[:nr])
    assert not any(rect.contains(x, y) for rect in rects for x, y in px.tolist())
    assert not any(rect.intersects(control) for rect in rects)
    assert 0 in found or any(rect.intersects(QRectF(px[0, 0] - 110, px[0, 1] - 40, 220, 80)) for rect in rects)


def test_a_label_that_must_be_there_is_there_even_in_a_crowd() -> None:
    px = np.stack(np.meshgrid(np.arange(0, 300, 12.0), np.arange(0, 300, 12.0)), axis=-1).reshape(-1, 2)
    wish = LabelRequest(300, QSizeF(100, 16), must=True)
    assert place_graph_labels([wish], px, np.full(len(px), 5.0), GraphViewport(w=300, h=300)).keys() == {300}
    assert not place_graph_labels(
        [LabelRequest(300, QSizeF(100, 16))], px, np.full(len(px), 5.0), GraphViewport(w=300, h=300)
    )


def test_lines_are_clipped_to_the_canvas() -> None:
    start = np.array([[-50.0, 50.0], [-10.0, -10.0], [20.0, 20.0], [-20.0, 150.0]])
    end = np.array([[150.0, 50.0], [-20.0, 200.0], [30.0, 40.0], [250.0, 150.0]])
    rows, begin, stop = clip_lines(start, end, 100, 100)
    assert rows.tolist() == [0, 2]
    assert begin.tolist() == [[0, 50], [20, 20]]
    assert stop.tolist() == [[100, 50], [30, 40]]


def test_a_path_has_two_points_a_line() -> None:
    path = lines_path(np.array([[1.0, 2.0], [5.0, 6.0]]), np.array([[3.0, 4.0], [7.0, 8.0]]))
    found = [(path.elementAt(nr).x, path.elementAt(nr).y, path.elementAt(nr).isMoveTo()) for nr in range(4)]
    assert found == [(1, 2, True), (3, 4, False), (5, 6, True), (7, 8, False)]
    assert path.elementCount() == 4
    assert lines_path(np.zeros((0, 2)), np.zeros((0, 2))).isEmpty()


def test_steps_go_to_the_nearest_in_a_direction() -> None:
    xy = np.array([[0.0, 0.0], [1.0, 0.1], [2.0, 0.0], [0.1, -3.0]])
    assert node_in_direction(xy, 0, 1, 0) == 1
    assert node_in_direction(xy, 0, 1, 0, np.array([0, 2])) == 2
    assert node_in_direction(xy, 0, 0, -1) == 3
    assert node_in_direction(xy, 0, -1, 0) == -1


def test_hits_and_gaps() -> None:
    px = np.array([[10.0, 10.0], [90.0, 10.0]])
    assert nearest_node(px, QPointF(12, 12), 5) == 0
    assert nearest_node(px, QPointF(50, 10), 5) == -1
    assert nearest_node(np.zeros((0, 2)), QPointF(0, 0), 5) == -1
    assert nearest_line(px[:1], px[1:], QPointF(50, 14), 5) == 0
    assert nearest_line(px[:1], px[1:], QPointF(50, 16), 5) == -1
    assert typical_distance(np.array([[0.0, 0.0], [0.0, 2.0], [0.0, 4.0]])) == 2.0


def test_edges_between_the_same_nodes_lie_beside_each_other_whichever_way_they_go() -> None:
    found = edge_lanes(np.array([0, 1, 2]), np.array([1, 0, 0]))
    assert found.tolist() == [-0.5, -0.5, 0.0]  # opposite ways: the same number is the other side
    assert edge_lanes(np.array([0, 0]), np.array([1, 1])).tolist() == [-0.5, 0.5]


# ---- edge types


def test_every_type_of_edge_has_words_and_a_look_of_its_own() -> None:
    assert set(TIES) == set(EDGE_TYPES) == set(graph_strings()["edges"])
    assert len({(tie.colour, tie.dashes) for tie in TIES.values()}) == len(EDGE_TYPES)
    for part in ("name", "word", "step"):
        assert len({words[part] for words in graph_strings()["edges"].values()}) == len(EDGE_TYPES)
    assert edge_word(RELATION, "works_at") == "works at"
    assert edge_word(RELATION, "feeds_the") == "feeds the"


def test_every_kind_of_node_has_a_word_and_a_look_of_its_own(theme: Theme) -> None:
    styles = [node_style(kind) for kind in NODE_KINDS]
    assert len({style.word for style in styles}) == len(NODE_KINDS)
    drawn = [node_pixmap(theme, kind, 40, 1.0).toImage() for kind in NODE_KINDS]
    assert all(one != other for nr, one in enumerate(drawn) for other in drawn[:nr])


def test_the_legend_counts_and_keeps_what_is_off(qtbot: QtBot, theme: Theme) -> None:
    legend = GraphLegend(theme)
    qtbot.addWidget(legend)
    legend.show_counts(GraphCounts({"fact": 2, "person": 1}, {MEANING: 1234}, 1), frozenset({"part"}))
    on, off = legend.find_toggle(MEANING), legend.find_toggle("part")
    assert on is not None
    assert off is not None
    assert "1,234" in on.text()
    assert not off.isChecked()
    assert legend.find_toggle("supports") is None
    assert {label.text() for label in legend.findChildren(QLabel)} == {"Facts  2", "Person  1", "Outdated  1"}
    with qtbot.waitSignal(legend.switched, timeout=60_000) as told:
        off.click()
    assert told.args == ["part", True]


def test_the_chip_of_views_says_names_as_they_are_and_acts_without_being_chosen(qtbot: QtBot, theme: Theme) -> None:
    chip = ViewsChip(theme)
    qtbot.addWidget(chip)
    view = GraphView("Harbour & Norrland and all their many customers", None, 1, GraphFilter())
    chip.show_views([view], "")
    assert chip.text() == "View: not saved"
    with qtbot.waitSignal(chip.taken, timeout=60_000) as told:
        chip.menu().actions()[0].trigger()
    assert told.args == [view]
    with qtbot.waitSignal(chip.save_asked, timeout=60_000):
        chip.menu().actions()[1].trigger()
    chip.show_name(view.name)
    assert chip.text() == "View: Harbour && Norrland an…"
    with qtbot.waitSignal(chip.drop_asked, timeout=60_000) as dropped:
        chip.menu().actions()[2].trigger()
    assert dropped.args == [view]


# ---- the ego canvas


@pytest.fixture
def ego(qtbot: QtBot, theme: Theme) -> EgoCanvas:
    """The star, drawn."""
    canvas = EgoCanvas(theme)
    qtbot.addWidget(canvas)
    canvas.resize(800, 500)
    with qtbot.waitExposed(canvas):
        canvas.show()
    canvas.show_graph(star())
    return canvas


def test_arrows_walk_along_the_edges(qtbot: QtBot, ego: EgoCanvas) -> None:
    ego.select_node("c")
    for key, there in ((Qt.Key.Key_Right, "r"), (Qt.Key.Key_Left, "c"), (Qt.Key.Key_Up, "u"), (Qt.Key.Key_Up, "u")):
        QTest.keyClick(ego, key)
        assert ego.ids[ego.selected] == there


def test_a_badge_unfolds_by_going_there(qtbot: QtBot, ego: EgoCanvas) -> None:
    [(node, rect)] = ego.painter.badge_rects(ego.look.to_px(ego.xy))
    assert ego.ids[node] == "r"
    with qtbot.waitSignal(ego.centered, timeout=60_000) as told:
        QTest.mouseClick(ego, Qt.MouseButton.LeftButton, pos=rect.center().toPoint())
    assert told.args == ["r"]


def test_every_node_of_a_small_graph_has_its_label_the_centre_first(ego: EgoCanvas) -> None:
    found = ego.painter.label_rects(ego.look.to_px(ego.xy), ego.look, ego.selected)
    assert set(found) == {0, 1, 2, 3}
    assert ego.painter.label_text(0) == "Text of c"


def test_in_a_crowd_the_most_important_are_labelled(ego: EgoCanvas) -> None:
    rows = [replace(memory(f"m{nr}"), importance=nr / 60) for nr in range(60)]
    nodes = tuple(GraphNode(row, None, min(nr, 1)) for nr, row in enumerate(rows))
    ego.show_graph(EgoGraph("m0", nodes, (), {row.id: (0.0, 0.0) for row in rows}, 0))
    found = ego.painter.label_rects(np.full((60, 2), (400.0, 250.0)), ego.look, -1)
    others = sorted(found)[1:]
    assert 0 < len(others) < 8  # there is room on a few sides of the one spot
    assert others == list(range(60 - len(others), 60))


def test_a_relation_is_named_where_other_edges_are_too_many(ego: EgoCanvas, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [memory(f"m{nr}") for nr in range(30)]
    nodes = tuple(GraphNode(row, None, min(nr, 1)) for nr, row in enumerate(rows))
    about = [GraphEdge(row.id, "m0", ABOUT, 1.0) for row in rows[2:]]
    related = GraphEdge("m0", "m1", RELATION, 1.0, "talks_with")
    places = {row.id: (1.0, nr / 15 - 1) for nr, row in enumerate(rows)} | {"m0": (0.5, 0.0), "m1": (-1.0, 0.0)}
    ego.show_graph(EgoGraph("m0", nodes, (*about, related), places, 0))
    said: list[str] = []
    monkeypatch.setattr("ui.pages.graph.ego.paint_tag", lambda *given: said.append(given[2]))
    ego.grab()
    assert said == ["talks with"]
    px = ego.look.to_px(ego.xy)
    (words,) = ego.painter._relation_rects(px)
    assert not any(words.intersects(rect) for rect in ego.painter.label_rects(px, ego.look, -1).values())


def test_no_line_runs_through_a_label(ego: EgoCanvas, monkeypatch: pytest.MonkeyPatch) -> None:
    clips: list[QRegion] = []
    drawn = ego.painter._paint_edges

    def paint_edges(painter: QPainter, *given: Any) -> None:
        clips.append(painter.clipRegion())
        drawn(painter, *given)

    monkeypatch.setattr(ego.painter, "_paint_edges", paint_edges)
    ego.grab()
    labels = ego.painter.label_rects(ego.look.to_px(ego.xy), ego.look, ego.selected)
    assert labels
    assert all(not clips[-1].intersects(rect.toAlignedRect()) for rect in labels.values())
    assert clips[-1].contains(ego.rect().center())


def test_the_edge_under_the_pointer_is_named(ego: EgoCanvas) -> None:
    before = ego.grab().toImage()
    start, end = ego.picture.edge_ends(ego.look.to_px(ego.xy))
    ego.hover_at(QPointF(*((start[0] + end[0]) / 2)))
    assert ego.hovered == -1
    assert ego._edge == 0
    assert ego.grab().toImage() != before
    ego.hover_at(None)
    assert ego._edge == -1


def test_the_plane_is_pushed_by_a_drag(qtbot: QtBot, ego: EgoCanvas) -> None:
    before = ego.look.to_px(ego.xy)
    at = QPointF(100, 400).toPoint()
    QTest.mousePress(ego, Qt.MouseButton.LeftButton, pos=at)
    for step in (15, 30):
        QTest.mouseMove(ego, at + QPointF(step, step).toPoint())
    QTest.mouseRelease(ego, Qt.MouseButton.LeftButton, pos=at + QPointF(30, 30).toPoint())
    assert ego.look.to_px(ego.xy) - before == pytest.approx(np.full((4, 2), 30.0))
    assert ego.selected == -1


def test_what_stays_glides_unless_nothing_may_move(qtbot: QtBot, ego: EgoCanvas, theme: Theme) -> None:
    ego.show_graph(star())
    still = ego.is_moving
    theme.apply_theme("light", 100)
    ego.show_graph(star())
    moving = ego.is_moving
    assert (still, moving) == (False, True)
    settle(qtbot, lambda: not ego.is_moving)
    assert ego.xy == pytest.approx(ego.picture.places)


# ---- the whole vault


def test_the_picture_is_made_in_slices_and_is_the_same_however_it_is_cut(theme: Theme) -> None:
    graph = vault(400, 900)
    scene = WholeScene(graph, disc(400).astype(np.float64), np.ones(900, np.bool_), 0.05)
    look = GraphViewport(w=300, h=200, scale=90)
    at_once = FrameMaker(scene, look, theme, 1.0).draw_slices(lambda: True)
    assert at_once is not None
    slowly, turns, frame = FrameMaker(scene, look, theme, 1.0), 0, None
    while frame is None:
        budget = iter((True, False))
        frame = slowly.draw_slices(lambda budget=budget: next(budget))  # type: ignore[misc]  # a lambda with a default
        turns += 1
    assert turns > 5
    assert frame.image == at_once.image
    assert (frame.image.width(), frame.image.height()) == (450, 300)


def test_a_picture_reaches_a_margin_beyond_the_canvas(theme: Theme) -> None:
    scene = WholeScene(vault(9, 9), disc(9).astype(np.float64), np.ones(9, np.bool_), 0.3)
    look = GraphViewport(w=400, h=400, scale=100)
    frame = FrameMaker(scene, look, theme, 1.0).draw_slices(lambda: True)
    assert frame is not None
    assert frame.covers_canvas(look.panned_by(99, -99))
    assert not frame.covers_canvas(look.panned_by(101, 0))


def test_bubbles_lie_apart_and_the_largest_in_the_middle() -> None:
    radius = np.sort(np.random.default_rng(3).uniform(0.1, 0.3, 24))[::-1]
    a, b = np.arange(20), np.arange(1, 21)
    found = pack_circles(radius, a, b, np.ones(20, np.int64), 1.6)
    gaps = np.hypot(*(found[:, None] - found[None]).transpose(2, 0, 1)) - (radius[:, None] + radius[None])
    assert gaps[~np.eye(24, dtype=bool)].min() >= 0
    assert found[0].tolist() == [0, 0]
    assert (found == pack_circles(radius, a, b, np.ones(20, np.int64), 1.6)).all()


def test_a_hull_holds_every_point() -> None:
    points = np.random.default_rng(4).normal(size=(40, 2))
    corners = convex_hull(points)
    along = np.roll(corners, -1, axis=0) - corners
    off = points[:, None] - corners[None]
    side = along[:, 0] * off[..., 1] - along[:, 1] * off[..., 0]
    assert (side >= -1e-9).all()
    assert convex_hull(points[:2]).shape == (2, 2)


def test_communities_are_told_with_what_is_named_in_them_and_can_be_cut_out() -> None:
    graph = replace(
        vault(30, 60),
        entities=(EntityLine("m0", "Ann", "person", "home", 9), EntityLine("m1", "Bergen", "place", "home", 2)),
    )
    found = summarize_communities(graph)
    assert found.counts.tolist() == [10, 10, 10]
    assert found.entities == (("Ann",), ("Bergen",), ())
    assert int(found.ties.sum()) == int((graph.group[graph.a] != graph.group[graph.b]).sum())
    part = slice_community(graph, 1)
    assert part.ids == tuple(f"m{nr}" for nr in range(1, 30, 3))
    assert [line.name for line in part.entities] == ["Bergen"]
    ends = {(part.ids[a], part.ids[b]) for a, b in zip(part.a.tolist(), part.b.tolist(), strict=True)}
    inside = (graph.group[graph.a] == 1) & (graph.group[graph.b] == 1)
    assert ends == {(f"m{a}", f"m{b}") for a, b in zip(graph.a[inside], graph.b[inside], strict=True)}


def test_labels_of_a_crowd_are_those_of_names(theme: Theme) -> None:
    graph = replace(vault(400, 9), entities=tuple(EntityLine(f"m{n}", f"E{n}", "person", "", n) for n in range(5)))
    scene = WholeScene(graph, disc(400).astype(np.float64), np.ones(9, np.bool_), 0.05)
    look = GraphViewport(w=800, h=800, scale=390)
    assert labelled_nodes(scene, look, -1).tolist() == [0, 1, 2, 3, 4]
    assert labelled_nodes(scene, look, 77).tolist() == [77, 0, 1, 2, 3, 4]
    near = labelled_nodes(scene, look.zoomed_within(4, None, 1, 1e6), -1)
    assert len(near) > 5
    assert near.tolist() == sorted(near.tolist())  # by rank, which falls with the number


@pytest.fixture
def whole(qtbot: QtBot, theme: Theme) -> WholeCanvas:
    """A vault of 300, drawn."""
    canvas = WholeCanvas(theme)
    qtbot.addWidget(canvas)
    canvas.resize(800, 500)
    with qtbot.waitExposed(canvas):
        canvas.show()
    canvas.show_graph(vault(300, 800), frozenset())
    canvas.move_nodes(disc(300))
    settle(qtbot, lambda: canvas.is_settled)
    return canvas


def test_pushing_blits_and_a_new_picture_follows(qtbot: QtBot, whole: WholeCanvas) -> None:
    frame = whole._frame
    whole.show_look(whole.look.panned_by(30, 0))
    whole.repaint()
    assert whole._frame is frame
    assert not whole.is_settled
    settle(qtbot, lambda: whole.is_settled)
    assert whole._frame is not frame
    before = whole._frame
    whole.show_look(whole.look.panned_by(10_000, 0))
    assert whole._maker is not None
    settle(qtbot, lambda: whole.is_settled)
    assert whole._frame is not before


def test_near_nodes_and_the_chosen_one_want_their_texts(qtbot: QtBot, whole: WholeCanvas) -> None:
    with qtbot.waitSignal(whole.wanted, timeout=60_000) as told:
        whole.pick_node(7)
    assert told.args == [("m7",)]
    whole.show_rows([memory("m7")])
    assert whole.accessibleDescription().startswith("Fact: Text of m7")
    with qtbot.waitSignal(whole.wanted, timeout=60_000) as more:
        whole.zoom_by(12)
    assert "m7" not in more.args[0]
    assert 0 < len(more.args[0]) <= 90


def test_steps_animate_and_resting_ends_every_timer(whole: WholeCanvas, theme: Theme) -> None:
    theme.apply_theme("light", 100)
    whole.move_nodes(-disc(300))
    before = whole.is_moving
    whole.grab()
    whole.stop_motion()
    assert (before, whole.is_moving) == (True, False)
    assert whole.xy[:, 1] == pytest.approx(-disc(300)[:, 1])
    assert not any(timer.isActive() for timer in whole.findChildren(QTimer))


def test_places_of_another_vault_are_not_taken(whole: WholeCanvas) -> None:
    before = whole.xy.copy()
    whole.move_nodes(disc(299))
    assert (whole.xy == before).all()
