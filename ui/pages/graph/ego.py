"""The canvas of a neighborhood or of paths: tints, edges, shapes, badges, labels; what stays glides to its place.

Must not do: ask the engine, or choose what is drawn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt, QVariantAnimation
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPainterPath, QPaintEvent, QPen, QPolygonF, QRegion

from core.types.values import STANDING, Status
from core.types.views import RELATION, EgoGraph, GraphNode
from ui.pages.graph.canvas import (
    GraphCanvas,
    LabelCache,
    make_motion,
    paint_edge,
    paint_ground,
    paint_plate,
    paint_ring,
    paint_tag,
    wrap_label,
)
from ui.pages.graph.geometry import (
    GraphViewport,
    LabelRequest,
    Numbers,
    Points,
    convex_hull,
    edge_lanes,
    lines_path,
    nearest_line,
    place_graph_labels,
)
from ui.pages.graph.legend import TIES, GraphCounts, edge_word
from ui.pages.graph.node_style import draw_node, mix_colours, name_apart, node_name
from ui.strings import graph_strings
from ui.theme.theme import Theme
from ui.theme.tokens import spacing

SIDES = (16, 12, 10, 9)
"""Size of a memory by its distance from the centre, px."""
ENTITY_SIDES = (34, 26, 22, 20)
"""Size of an entity by its distance from the centre, px."""
_LABELS = 90
_LABEL_PX = (260, 164, 140, 124)
"""Width of a label at most, by distance from the centre, px."""
_LABEL_SHARE = 0.3
"""Of the canvas's width, at most."""
_FOLDED = 5
_SHORT_SHARE = 0.72
_LANE_PX = 5
_WORDS = 16
"""So few edges have their words beside them."""
_TINTS = ("kind_episode", "kind_rule", "kind_procedure", "kind_digest", "kind_fact")
_TINT_SHARE = 0.09
_WIDEST = 1.7
"""How much wider than high the plane may be drawn, so that it fills a wide canvas."""


class EgoPicture:
    """An ego graph as columns; the centre is node 0.

    Attributes:
        nodes: the centre first.
        ids: their memories and entities.
        places: where each is, in the plane.
        a: node at one end of each edge, `b` at the other.
        types: of each edge; `labels` and `weight` likewise.
        rows_of: type to its edges.
        distance: edges from the centre to each node.
        is_entity: whether each node is an entity.
        names: what nodes are called that share their name with another one.
        ends: nodes that stand out: the centre, or both ends of paths.
    """

    def __init__(self, graph: EgoGraph | None = None, ends: tuple[str, ...] = (), wide: float = 1.0) -> None:
        """Take a graph; None for an empty one.

        Args:
            ends: ids of nodes that stand out; none for the centre.
            wide: how much wider than high it is drawn.
        """
        self.nodes: tuple[GraphNode, ...] = () if graph is None else graph.nodes
        edges = () if graph is None else graph.edges
        self.ids = tuple(node.id for node in self.nodes)
        number = {node_id: row for row, node_id in enumerate(self.ids)}
        self.a: Numbers = np.array([number[edge.a] for edge in edges], np.int64)
        self.b: Numbers = np.array([number[edge.b] for edge in edges], np.int64)
        self.types = tuple(edge.type for edge in edges)
        self.labels = tuple(edge.label for edge in edges)
        kinds = np.array(self.types, np.str_)
        self.rows_of = {name: np.flatnonzero(kinds == name) for name in dict.fromkeys(self.types)}
        self.weight: NDArray[np.float64] = np.array([edge.weight for edge in edges], np.float64)
        self.distance: Numbers = np.array([node.distance for node in self.nodes], np.int64)
        self.is_entity = np.array([node.row is None for node in self.nodes], np.bool_)
        self.names = name_apart(self.nodes)
        self.ends = tuple(number[one] for one in ends if one in number) or ((0,) if self.nodes else ())
        places = [] if graph is None else [graph.places[node_id] for node_id in self.ids]
        self.places: Points = np.array(places, np.float64).reshape(-1, 2) * (wide, 1.0)
        self._lane = edge_lanes(self.a, self.b)

    @property
    def counts(self) -> GraphCounts:
        """What is drawn, for the legend."""
        held = sum(node.row is not None and node.row.status is Status.QUARANTINED for node in self.nodes)
        past = sum(is_past(node) for node in self.nodes) - held
        kinds = Counter(node.kind for node in self.nodes)
        return GraphCounts(kinds, Counter(self.types), past, len(self.communities), held)

    @property
    def communities(self) -> list[Numbers]:
        """The members of each community that has at least three."""
        of = np.array([node.community for node in self.nodes], np.int64)
        counts = np.bincount(of[of >= 0])
        return [np.flatnonzero(of == number) for number in np.flatnonzero(counts >= 3).tolist()]

    def neighbours_of(self, node: int) -> Numbers:
        """The nodes at the other ends of a node's edges."""
        return np.unique(np.concatenate((self.b[self.a == node], self.a[self.b == node])))

    def edge_ends(self, px: Points) -> tuple[Points, Points]:
        """Both ends of every edge, px; edges between the same nodes lie beside each other.

        Args:
            px: where the nodes are.
        """
        start, end = px[self.a], px[self.b]
        along = end - start
        length = np.maximum(np.hypot(along[:, 0], along[:, 1]), 1e-6)
        aside = np.column_stack((-along[:, 1], along[:, 0])) / length[:, None]
        shift = aside * (self._lane * _LANE_PX)[:, None]
        return start + shift, end + shift


def is_past(node: GraphNode) -> bool:
    """Whether it is a memory that does not count now: outdated, or held back."""
    return node.row is not None and node.row.status not in STANDING


@dataclass(frozen=True, slots=True)
class EgoMarks:
    """What is meant; -1 for none.

    Attributes:
        selected: the node that is looked at.
        hovered: the node under the pointer.
        edge: the edge under the pointer.
        is_moving: whether nodes are on their way: no texts then, they would flicker.
    """

    selected: int
    hovered: int
    edge: int
    is_moving: bool

    @property
    def stands_out(self) -> int:
        """The node whose edges stand out."""
        return self.hovered if self.hovered >= 0 else self.selected


class EgoPainter:
    """Draws a `EgoPicture`.

    Attributes:
        picture: what is drawn.
        blocked: where controls float on the canvas; no label goes there.
    """

    def __init__(self, theme: Theme) -> None:
        self._theme = theme
        self._texts: dict[int, str] = {}
        self._pictures = LabelCache(theme)
        self._labels: tuple[object, dict[int, QRectF]] = ((), {})
        self._small, self._width = 1.0, 1e6
        self.blocked: tuple[QRectF, ...] = ()
        self.picture = EgoPicture()

    def show_picture(self, picture: EgoPicture) -> None:
        """Draw another one."""
        self.picture = picture
        self.clear_labels()

    def clear_labels(self) -> None:
        """Texts have other widths."""
        self._texts, self._labels = {}, ((), {})

    def node_size(self, node: int) -> float:
        """Size of a node, px."""
        far = min(int(self.picture.distance[node]), len(SIDES) - 1)
        if self.picture.is_entity[node]:
            return self._theme.px(ENTITY_SIDES[far]) * max(self._small, 0.8)
        return self._theme.px(SIDES[far]) * self._small

    def badge_rects(self, px: Points) -> list[tuple[int, QRectF]]:
        """Nodes with folded neighbours, and where their badges are; of memories only where there are several."""
        font, found = QFontMetricsF(self._theme.font("caption")), []
        for row, node in enumerate(self.picture.nodes):
            if node.folded >= (1 if node.row is None else _FOLDED):
                wide = font.horizontalAdvance(f"+{node.folded:,}") + self._theme.px(8)
                off = self.node_size(row) * 0.45
                found.append((row, QRectF(px[row, 0] + off, px[row, 1] - off - font.height(), wide, font.height())))
        return found

    def paint(self, painter: QPainter, px: Points, look: GraphViewport, marks: EgoMarks) -> None:
        """Paint everything onto the canvas.

        Args:
            px: where the nodes are.
            look: how the canvas looks at the plane.
        """
        if look.w != self._width:
            self._width = look.w
            self.clear_labels()
        # Where many are close together each is drawn smaller; nearer they have their full size again.
        room = 2 * look.scale / float(np.sqrt(len(px)))
        self._small = float(np.clip(room / self._theme.px(52), 0.5, 1.0))
        self._paint_tints(painter, px)
        painter.save()
        if not marks.is_moving:
            free = QRegion(0, 0, round(look.w), round(look.h))
            for rect in self.label_rects(px, look, marks.selected).values():
                free -= QRegion(rect.toAlignedRect())
            painter.setClipRegion(free, Qt.ClipOperation.IntersectClip)  # lines pass behind words with a gap
        self._paint_edges(painter, px, marks)
        painter.restore()
        self._paint_nodes(painter, px)
        self._paint_labels(painter, px, look, marks)
        self._paint_rings(painter, px, marks)
        self._paint_badges(painter, px)
        if marks.is_moving:
            return
        self._paint_words(painter, px, look, marks)
        if marks.hovered >= 0:
            node, off = self.picture.nodes[marks.hovered], self.node_size(marks.hovered) / 2 + self._theme.px(12)
            paint_plate(painter, self._theme, node, QPointF(*px[marks.hovered]), off, look)
        elif marks.edge >= 0:
            self._paint_edge(painter, px, marks.edge)

    # ---- communities

    def _paint_tints(self, painter: QPainter, px: Points) -> None:
        """A soft patch behind each community."""
        round_pen = (Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin)
        for number, members in enumerate(self.picture.communities):
            corners = convex_hull(px[members])
            token = _TINTS[number % len(_TINTS)]
            colour = mix_colours(self._theme.colour("surface"), self._theme.colour(token), _TINT_SHARE)
            path = QPainterPath()
            path.addPolygon(QPolygonF([QPointF(*corner) for corner in corners.tolist()]))
            path.closeSubpath()
            painter.fillPath(path, colour)
            painter.strokePath(path, QPen(colour, 2 * self._theme.px(spacing().xxl), *round_pen))

    # ---- edges

    def _paint_edges(self, painter: QPainter, px: Points, marks: EgoMarks) -> None:
        picture, is_marked = self.picture, marks.stands_out
        start, end = picture.edge_ends(px)
        stands = (picture.a == is_marked) | (picture.b == is_marked)
        is_calm = is_marked <= 0 or not stands.any()
        crowd = float(np.clip(1.1 - len(picture.a) / 700, 0.4, 0.9))
        for name, rows in picture.rows_of.items():
            pen = TIES[name].make_pen(self._theme)
            out = rows[stands[rows]]
            painter.setOpacity(crowd if is_calm else 0.3)
            painter.strokePath(lines_path(start[rows], end[rows]), pen)
            if not is_calm and len(out):
                painter.setOpacity(1.0)
                pen.setWidthF(pen.widthF() + 0.7)
                painter.strokePath(lines_path(start[out], end[out]), pen)
            if TIES[name].is_directed:
                painter.setOpacity(1.0 if is_calm else 0.5)
                self._paint_arrows(painter, start, end, rows)
        painter.setOpacity(1.0)

    def _paint_arrows(self, painter: QPainter, start: Points, end: Points, rows: Numbers) -> None:
        arrow_size = self._theme.px(7)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.colour(TIES[self.picture.types[int(rows[0])]].colour))
        for row in rows.tolist():
            way = end[row] - start[row]
            length = float(np.hypot(*way))
            if length < 3 * arrow_size:
                continue
            ahead = way / length
            tip = end[row] - ahead * (self.node_size(int(self.picture.b[row])) / 2 + 3)
            back, aside = tip - ahead * arrow_size, np.array((-ahead[1], ahead[0])) * arrow_size * 0.42
            painter.drawPolygon(QPolygonF([QPointF(*tip), QPointF(*(back + aside)), QPointF(*(back - aside))]))

    def _paint_edge(self, painter: QPainter, px: Points, edge: int) -> None:
        """The edge under the pointer says what it is, in its middle."""
        start, end = (ends[edge] for ends in self.picture.edge_ends(px))
        tie = TIES[self.picture.types[edge]]
        pen = tie.make_pen(self._theme)
        pen.setWidthF(tie.width + 1.2)
        painter.setPen(pen)
        painter.drawLine(QPointF(*start), QPointF(*end))
        words = edge_word(self.picture.types[edge], self.picture.labels[edge])
        font = self._theme.font("small")
        metrics = QFontMetricsF(font)
        wide, high = metrics.horizontalAdvance(words) + self._theme.px(20), metrics.height() + self._theme.px(8)
        x, y = (start + end) / 2
        self._paint_pill(painter, QRectF(x - wide / 2, y - high / 2, wide, high), words, font)

    def _paint_words(self, painter: QPainter, px: Points, look: GraphViewport, marks: EgoMarks) -> None:
        """What edges say: all where they are few, else the selected node's, else relations; none over a label."""
        picture, is_marked = self.picture, marks.stands_out
        rows = np.arange(len(picture.a))
        if len(rows) > _WORDS:
            rows = np.flatnonzero((picture.a == is_marked) | (picture.b == is_marked))
            if not 0 < len(rows) <= _WORDS:
                rows = picture.rows_of.get(RELATION, rows)
        if not 0 < len(rows) <= _WORDS:
            return
        font, metrics = self._theme.font("caption"), QFontMetricsF(self._theme.font("caption"))
        taken = [*self.label_rects(px, look, marks.selected).values(), *self.blocked, *self._node_rects(px)]
        start, end = picture.edge_ends(px)
        background = self._theme.colour("surface")
        for row in rows.tolist():
            words = edge_word(picture.types[row], picture.labels[row])
            size = QSizeF(metrics.horizontalAdvance(words) + 8, metrics.height())
            for share in (0.5, 0.42, 0.58, 0.34, 0.66):
                x, y = start[row] + (end[row] - start[row]) * share
                rect = QRectF(QPointF(x - size.width() / 2, y - size.height() / 2), size)
                if not any(rect.intersects(other) for other in taken):
                    taken.append(rect)
                    paint_tag(painter, rect, words, font, self._theme.colour("muted"), background)
                    break

    def _relation_rects(self, px: Points) -> list[QRectF]:
        """Where the words of relations are: in the middle of their edges, of so many as may be said."""
        rows = self.picture.rows_of.get(RELATION, np.empty(0, np.int64))[:_WORDS].tolist()
        metrics, (start, end) = QFontMetricsF(self._theme.font("caption")), self.picture.edge_ends(px)
        found = []
        for row in rows:
            wide = metrics.horizontalAdvance(edge_word(RELATION, self.picture.labels[row])) + 8
            x, y = ((start[row] + end[row]) / 2).tolist()
            found.append(QRectF(x - wide / 2, y - metrics.height() / 2, wide, metrics.height()))
        return found

    def _node_rects(self, px: Points) -> list[QRectF]:
        sides = [self.node_size(row) for row in range(len(px))]
        return [QRectF(x - w / 2, y - w / 2, w, w) for (x, y), w in zip(px.tolist(), sides, strict=True)]

    # ---- nodes

    def _paint_nodes(self, painter: QPainter, px: Points) -> None:
        for row, node in enumerate(self.picture.nodes):
            at, side = QPointF(*px[row]), self.node_size(row)
            draw_node(painter, self._theme, node.kind, at, side, hollow=is_past(node))

    def _paint_rings(self, painter: QPainter, px: Points, marks: EgoMarks) -> None:
        gap, colour = self._theme.px(5), self._theme.colour
        for end in self.picture.ends:
            if marks.selected != end:
                paint_ring(painter, QPointF(*px[end]), self.node_size(end) / 2 + gap, colour("outline"), 1.5)
        for node, name, width in ((marks.selected, "accent", 2.2), (marks.hovered, "muted", 1.2)):
            if node >= 0 and (name == "accent" or node != marks.selected):
                paint_ring(painter, QPointF(*px[node]), self.node_size(node) / 2 + gap, colour(name), width)

    def _paint_badges(self, painter: QPainter, px: Points) -> None:
        font = self._theme.font("caption")
        for row, rect in self.badge_rects(px):
            self._paint_pill(painter, rect, f"+{self.picture.nodes[row].folded:,}", font)

    def _paint_pill(self, painter: QPainter, rect: QRectF, text: str, font: QFont) -> None:
        shape = QPainterPath()
        shape.addRoundedRect(rect, rect.height() / 2, rect.height() / 2)
        painter.fillPath(shape, self._theme.colour("raised"))
        painter.strokePath(shape, QPen(self._theme.colour("outline"), 1))
        paint_tag(painter, rect, text, font, self._theme.colour("ink"))

    # ---- labels

    def label_font(self, node: int) -> QFont:
        """The font of a node's label."""
        if self.picture.is_entity[node] or node in self.picture.ends:
            return self._theme.font("strong")
        return self._theme.font("small" if self.picture.distance[node] <= 1 else "caption")

    def label_text(self, node: int) -> str:
        """A node's label: its first words; fewer where there was no room for more."""
        if node not in self._texts:
            self._texts[node] = self._cut_label(node, 1 if self.picture.is_entity[node] else 2, 1.0)
        return self._texts[node]

    def _cut_label(self, node: int, lines: int, share: float) -> str:
        wide = self._theme.px(_LABEL_PX[min(int(self.picture.distance[node]), len(_LABEL_PX) - 1)])
        words = self.picture.names.get(node, node_name(self.picture.nodes[node], 120))
        metrics = QFontMetricsF(self.label_font(node))
        return wrap_label(words, metrics, min(wide, self._width * _LABEL_SHARE) * share, lines)

    def label_rects(self, px: Points, look: GraphViewport, selected: int) -> dict[int, QRectF]:
        """Nodes that have a label, and where it is."""
        key = (look, selected, self._theme.scale, self.blocked)
        if key != self._labels[0]:
            self._labels = (key, self._place_labels(px, look, selected))
        return self._labels[1]

    def _place_labels(self, px: Points, look: GraphViewport, selected: int) -> dict[int, QRectF]:
        ends = self.picture.ends
        first = [*ends, *([selected] if selected >= 0 and selected not in ends else [])]
        # The most important first: what comes later finds less room.
        importance = np.array([0.0 if node.row is None else node.row.importance for node in self.picture.nodes])
        distance = np.asarray(self.picture.distance)
        rest = np.lexsort((np.arange(len(px)), -importance, distance, ~self.picture.is_entity))
        order = first + [row for row in rest.tolist() if row not in first]
        radius = np.array([self.node_size(row) / 2 + 2 for row in range(len(self.picture.nodes))])
        # A label is on the side where fewer edges leave, so that it does not lie over them.
        pull, way = np.zeros(len(px)), np.sign(px[self.picture.b, 0] - px[self.picture.a, 0])
        np.add.at(pull, self.picture.a, way)
        np.add.at(pull, self.picture.b, -way)

        def place(rows: Sequence[int], taken: Iterable[QRectF]) -> dict[int, QRectF]:
            requests = [self._request_label(row, selected, leftward=bool(pull[row] > 0)) for row in rows]
            return place_graph_labels(requests, px, radius, look, (*self.blocked, *taken))

        self._texts = {}
        badges = [*(rect for _, rect in self.badge_rects(px)), *self._relation_rects(px)]
        found = place(order[:_LABELS], badges)
        # Where two lines have no room, a few words may have.
        missing = [row for row in order[:_LABELS] if row not in found and not self.picture.is_entity[row]]
        self._texts |= {row: self._cut_label(row, 1, _SHORT_SHARE) for row in missing}
        return found | place(missing, [*found.values(), *badges])

    def _request_label(self, row: int, selected: int, *, leftward: bool) -> LabelRequest:
        metrics, lines = QFontMetricsF(self.label_font(row)), self.label_text(row).split("\n")
        wide = max(metrics.horizontalAdvance(line) for line in lines) + 8
        size = QSizeF(wide, metrics.lineSpacing() * len(lines) + 2)
        below = row in self.picture.ends or bool(self.picture.is_entity[row])
        return LabelRequest(row, size, below=below, leftward=leftward, must=row in {*self.picture.ends, selected})

    def _paint_labels(self, painter: QPainter, px: Points, look: GraphViewport, marks: EgoMarks) -> None:
        if marks.is_moving:
            return
        for row, rect in self.label_rects(px, look, marks.selected).items():
            is_near = self.picture.is_entity[row] or row in {*self.picture.ends, marks.selected}
            ink = "ink" if is_near or self.picture.distance[row] <= 1 else "muted"
            side = Qt.AlignmentFlag.AlignHCenter
            if not rect.left() <= px[row, 0] <= rect.right():
                side = Qt.AlignmentFlag.AlignLeft if rect.left() > px[row, 0] else Qt.AlignmentFlag.AlignRight
            inner = rect.adjusted(4, 1, -4, -1)
            self._pictures.paint(painter, inner, self.label_text(row), self.label_font(row), ink, side)


_MOVE_MS = 260
_EDGE_REACH = 6
_PAD = (150, 44)
_ROOM_PX = 96
"""The plane's scale grows with the root of the number of nodes: a few nodes are together, not in the corners."""


class EgoCanvas(GraphCanvas):
    """The graph round one memory; the centre is node 0."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, graph_strings()["canvas"]["ego"])
        self.painter = EgoPainter(theme)
        self._from: Points = self.xy
        self._edge = -1
        self._moving = make_motion(self, self._set_progress, _MOVE_MS)

    @property
    def picture(self) -> EgoPicture:
        """What is drawn."""
        return self.painter.picture

    @property
    def counts(self) -> GraphCounts:
        """What is drawn, for the legend."""
        return self.picture.counts

    @property
    def is_moving(self) -> bool:
        """Whether nodes are on their way."""
        return self._moving.state() == QVariantAnimation.State.Running

    def show_graph(self, graph: EgoGraph, ends: tuple[str, ...] = ()) -> None:
        """Draw another graph; what stays glides to its new place unless nothing may move by itself.

        Args:
            ends: the two nodes between which it shows paths; none for a neighborhood.
        """
        before = dict(zip(self.ids, self.look.to_px(self.xy), strict=True)) if self.isVisible() else {}
        chosen = self.ids[self.selected] if self.selected >= 0 else ""
        self._moving.stop()
        picture = EgoPicture(graph, ends, float(np.clip(self.look.w / self.look.h, 1.0, _WIDEST)))
        self.setAccessibleName(graph_strings()["canvas"]["paths" if ends else "ego"])
        self.painter.show_picture(picture)
        self.ids, self.xy, self.hovered, self._edge = picture.ids, picture.places, -1, -1
        self.select_node(chosen)
        self.show_look(self.home_viewport(), fits=True)
        if not self.theme.reduced_motion and any(memory_id in before for memory_id in self.ids):
            self._animate_from(before)
        self.update()

    def _animate_from(self, before: dict[str, Points]) -> None:
        now = self.look.to_px(self.picture.places)
        start = np.array([before.get(one, place) for one, place in zip(self.ids, now, strict=True)])
        self._from = (start - (self.look.w / 2, self.look.h / 2)) / self.look.scale + (self.look.x, self.look.y)
        self._set_progress(0.0)
        self._moving.start()

    def _set_progress(self, share: float) -> None:
        to = self.picture.places
        self.xy = to if share >= 1 else self._from + (to - self._from) * share
        self.update()

    def stop_motion(self) -> None:
        """Nobody looks: nothing moves any more."""
        self._moving.stop()
        self.xy, self.hovered, self._edge = self.picture.places, -1, -1

    # ---- what the ground asks

    def home_viewport(self) -> GraphViewport:
        """Everything, with room for labels at the sides; as wide as the canvas allows."""
        across, down = min(self.theme.px(_PAD[0]), self.look.w * 0.18), min(self.theme.px(_PAD[1]), self.look.h * 0.16)
        most = self.theme.px(_ROOM_PX) * float(np.sqrt(len(self.ids) + 1))
        return self.look.fit_points(self.picture.places, across, down, most)

    def neighbours_of(self, node: int) -> Numbers:
        """The nodes at the other ends of a node's edges."""
        return self.picture.neighbours_of(node)

    def node_of(self, node: int) -> GraphNode | None:
        """What is known of a node."""
        return self.picture.nodes[node] if node < len(self.picture.nodes) else None

    def hit_radius(self) -> float:
        """As far as the largest shape, and a little more."""
        return self.theme.px(ENTITY_SIDES[1]) * 0.6

    def restyle_canvas(self) -> None:
        """The theme is another one: texts have other widths."""
        self.painter.clear_labels()
        if self._fits:
            self.fit_view()
        super().restyle_canvas()

    def hover_at(self, at: QPointF | None) -> None:
        """The pointer is over a node, else perhaps over an edge."""
        super().hover_at(at)
        edge = -1
        if at is not None and self.hovered < 0:
            edge = nearest_line(*self.picture.edge_ends(self.look.to_px(self.xy)), at, _EDGE_REACH)
        if edge != self._edge:
            self._edge = edge
            self.update()

    def click_at(self, at: QPointF, *, adds: bool = False) -> None:
        """Choose a node; a badge unfolds what is folded behind it."""
        for node, rect in self.painter.badge_rects(self.look.to_px(self.xy)):
            if rect.contains(at):
                self.centered.emit(self.ids[node])
                return
        super().click_at(at, adds=adds)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Paint the graph."""
        painter = QPainter(self)
        painter.setClipRect(event.rect())
        paint_ground(painter, self, self.theme)
        if self.ids:
            marks = EgoMarks(self.selected, self.hovered, self._edge, self.is_moving)
            self.painter.blocked = self.blocked
            self.painter.paint(painter, self.look.to_px(self.xy), self.look, marks)
        paint_edge(painter, self, self.theme, is_focused=self.is_ringed)
        painter.end()
