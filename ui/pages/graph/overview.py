"""The whole vault as communities: a bubble each with its name, its count and what is most named in it.

Must not do: ask the engine, or find communities; they come with the graph.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QPen

from core.types.views import EDGE_TYPES, NODE_KINDS, GraphNode, WholeGraph
from ui.pages.graph.canvas import GraphCanvas, paint_edge, paint_ground, wrap_label
from ui.pages.graph.geometry import GraphViewport, Numbers, Points, pack_circles
from ui.pages.graph.legend import GraphCounts
from ui.pages.graph.node_style import mix_colours
from ui.strings import format_count, graph_strings
from ui.theme.theme import Theme
from ui.theme.tokens import spacing
from ui.widgets.plaintext import one_line

_LEAST, _MOST = 0.13, 0.26
"""Radius of a bubble, in the plane."""
_NAMES = 4
_TINTS = ("kind_fact", "kind_episode", "kind_rule", "kind_procedure", "kind_digest")


@dataclass(frozen=True, slots=True)
class CommunityOverview:
    """Communities as columns, the largest first.

    Attributes:
        names: what each is called.
        counts: nodes of each.
        entities: names of what is most named in each.
        a: one end of each tie between two of them, `b` the other.
        ties: how many edges lead from one to the other.
    """

    names: tuple[str, ...]
    counts: Numbers
    entities: tuple[tuple[str, ...], ...]
    a: Numbers
    b: Numbers
    ties: Numbers


def summarize_communities(graph: WholeGraph, off: frozenset[str] = frozenset()) -> CommunityOverview:
    """The communities of a graph with what ties them.

    Args:
        off: edge types that do not count as ties.
    """
    total = len(graph.group_names)
    one, other = graph.group[graph.a].astype(np.int64), graph.group[graph.b].astype(np.int64)
    apart = (one != other) & ~np.isin(graph.edge_type, [EDGE_TYPES.index(name) for name in off])
    low, high = np.minimum(one, other)[apart], np.maximum(one, other)[apart]
    keys, ties = np.unique(low * max(total, 1) + high, return_counts=True)
    first = len(graph.entities)
    order = np.argsort(-graph.rank[:first], kind="stable")
    named: list[list[str]] = [[] for _ in range(total)]
    for at in order.tolist():
        names = named[int(graph.group[at])]
        if len(names) == _NAMES:
            continue  # before a name is read: there may be tens of thousands
        name = one_line(graph.entities[at].name, 40)
        if name != graph.group_names[int(graph.group[at])]:
            names.append(name)
    return CommunityOverview(
        names=tuple(one_line(name, 60) for name in graph.group_names),
        counts=np.bincount(graph.group, minlength=total).astype(np.int64),
        entities=tuple(tuple(names) for names in named),
        a=keys // max(total, 1),
        b=keys % max(total, 1),
        ties=ties.astype(np.int64),
    )


def slice_community(graph: WholeGraph, number: int) -> WholeGraph:
    """The members of one community and their edges."""
    members = np.flatnonzero(graph.group == number)
    place = np.full(len(graph.ids), -1, np.int32)
    place[members] = np.arange(len(members), dtype=np.int32)
    rows = np.flatnonzero((place[graph.a] >= 0) & (place[graph.b] >= 0))
    first = int((members < len(graph.entities)).sum())
    return WholeGraph(
        ids=tuple(graph.ids[at] for at in members.tolist()),
        entities=tuple(graph.entities[at] for at in members[:first].tolist()),
        kind=graph.kind[members],
        trust=graph.trust[members],
        said_at=graph.said_at[members],
        rank=graph.rank[members],
        group=np.zeros(len(members), np.int32),
        group_names=(graph.group_names[number],),
        a=place[graph.a[rows]],
        b=place[graph.b[rows]],
        edge_type=graph.edge_type[rows],
        weight=graph.weight[rows],
    )


def count_graph(graph: WholeGraph) -> GraphCounts:
    """What a graph holds, for the legend."""
    kinds, ties = np.bincount(graph.kind).tolist(), np.bincount(graph.edge_type).tolist()
    return GraphCounts(
        {NODE_KINDS[number]: count for number, count in enumerate(kinds) if count},
        {EDGE_TYPES[number]: count for number, count in enumerate(ties) if count},
    )


class OverviewCanvas(GraphCanvas):
    """The communities; a node is one of them, its id is its number."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, graph_strings()["canvas"]["overview"])
        self.overview: CommunityOverview | None = None
        self._radius: NDArray[np.float64] = np.zeros(0)

    def show_overview(self, overview: CommunityOverview) -> None:
        """Draw other communities."""
        self.overview = overview
        self.ids = tuple(str(number) for number in range(len(overview.names)))
        share = np.sqrt(overview.counts / max(int(overview.counts.max(initial=1)), 1))
        self._radius = _LEAST + (_MOST - _LEAST) * share
        self._arrange_bubbles()
        self.hovered = self.selected = -1
        self.describe_selected()
        self.update()

    def _arrange_bubbles(self) -> None:
        if self.overview is not None:
            wide = float(np.clip(self.look.w / self.look.h, 0.7, 2.2))
            self.xy = pack_circles(self._radius, self.overview.a, self.overview.b, self.overview.ties, wide)
            self.fit_view()

    # ---- what the ground asks

    def home_viewport(self) -> GraphViewport:
        """All bubbles."""
        if not len(self.xy):
            return self.look
        corners = np.concatenate((self.xy - self._radius[:, None], self.xy + self._radius[:, None]))
        pad = self.theme.px(spacing().loose)
        return self.look.fit_points(corners, pad, pad, 460.0)

    def on_look_changed(self) -> None:
        """The look is another one."""
        self.update()

    def neighbours_of(self, node: int) -> Numbers:
        """Communities that are tied to one."""
        if self.overview is None:
            return np.zeros(0, np.int64)
        one, other = self.overview.a, self.overview.b
        return np.concatenate((other[one == node], one[other == node]))

    def node_of(self, node: int) -> GraphNode | None:  # noqa: ARG002 - the base's name
        """A community is no node of the vault."""
        return None

    def describe_selected(self) -> None:
        """Say which community is chosen."""
        words = "" if self.overview is None or self.selected < 0 else self._describe_bubble(self.selected)
        self.setAccessibleDescription(words)

    def _describe_bubble(self, number: int) -> str:
        found, strings = self.overview, graph_strings()["overview"]
        if found is None:
            return ""
        count = format_count(strings["members"], int(found.counts[number]))
        return ", ".join((f"{found.names[number]}: {count}", *found.entities[number]))

    def node_at(self, at: QPointF) -> int:
        """The bubble at a point of the canvas; -1 for none."""
        if not len(self.xy):
            return -1
        away = np.hypot(*(self.look.to_px(self.xy) - (at.x(), at.y())).T)
        inside = np.flatnonzero(away <= self._radius * self.look.scale)
        return int(inside[np.argmin(away[inside])]) if inside.size else -1

    def hit_radius(self) -> float:
        """As far as the smallest bubble."""
        return _LEAST * self.look.scale

    # ---- painting

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Paint ties, then bubbles with their words."""
        painter = QPainter(self)
        painter.setClipRect(event.rect())
        paint_ground(painter, self, self.theme)
        if self.overview is not None and len(self.xy):
            px = self.look.to_px(self.xy)
            self._paint_ties(painter, px, self.overview)
            for number in range(len(px)):
                self._paint_bubble(painter, px[number], number, self.overview)
        paint_edge(painter, self, self.theme, is_focused=self.is_ringed)
        painter.end()

    def _paint_ties(self, painter: QPainter, px: Points, found: CommunityOverview) -> None:
        highlighted = self.hovered if self.hovered >= 0 else self.selected
        most = float(found.ties.max(initial=1))
        for a, b, ties in zip(found.a.tolist(), found.b.tolist(), found.ties.tolist(), strict=True):
            is_meant = highlighted in (a, b)
            wide = 1 + 5 * float(np.sqrt(ties / most))
            colour = self.theme.colour("accent" if is_meant else "line")
            painter.setPen(QPen(colour, wide if is_meant else max(1.0, wide * 0.7)))
            painter.drawLine(QPointF(*px[a]), QPointF(*px[b]))

    def _paint_bubble(self, painter: QPainter, at: NDArray[np.float64], number: int, found: CommunityOverview) -> None:
        theme, radius = self.theme, float(self._radius[number] * self.look.scale)
        token = _TINTS[number % len(_TINTS)]
        background, tone = theme.colour("surface"), theme.colour(token)
        is_lit = number in (self.hovered, self.selected)
        painter.setBrush(mix_colours(background, tone, 0.22 if is_lit else 0.12))
        ring = theme.colour("accent") if number == self.selected else mix_colours(background, tone, 0.8)
        painter.setPen(QPen(ring, 2.5 if number == self.selected else 1.4))
        painter.drawEllipse(QPointF(*at), radius, radius)
        self._paint_words(painter, at, radius, number, found)

    def _paint_words(
        self, painter: QPainter, at: NDArray[np.float64], radius: float, number: int, found: CommunityOverview
    ) -> None:
        theme = self.theme
        name_font, small_font = theme.font("strong" if radius > theme.px(44) else "caption"), theme.font("caption")
        metrics, line = QFontMetricsF(name_font), QFontMetricsF(small_font).height()
        name = wrap_label(found.names[number], metrics, radius * 1.62, 2)
        high = metrics.lineSpacing() * (name.count("\n") + 1)
        more = self._entity_lines(found.entities[number], radius, QFontMetricsF(small_font), high)
        top = at[1] - (high + line * (1 + len(more))) / 2
        flags = Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop
        painter.setFont(name_font)
        painter.setPen(theme.colour("ink"))
        painter.drawText(QRectF(at[0] - radius, top, 2 * radius, high), flags, name)
        painter.setFont(small_font)
        painter.setPen(theme.colour("muted"))
        count = format_count(graph_strings()["overview"]["members"], int(found.counts[number]))
        for nr, text in enumerate((count, *more)):
            painter.drawText(QRectF(at[0] - radius, top + high + nr * line, 2 * radius, line + 2), flags, text)

    def _entity_lines(
        self, names: tuple[str, ...], radius: float, metrics: QFontMetricsF, high: float
    ) -> tuple[str, ...]:
        """Names that fit under the count, one a line, narrower towards the rim."""
        line, found = metrics.height(), list[str]()
        for nr, name in enumerate(names):
            below = (high + line * (2 + nr)) / 2 + line * 0.4
            room = 2 * float(np.sqrt(max(0.0, (radius * 0.92) ** 2 - below**2)))
            if room < self.theme.px(40) or metrics.horizontalAdvance(name) > room:
                break
            found.append(name)
        return tuple(found)

    def resizeEvent(self, event: object) -> None:  # noqa: N802 - Qt's name
        """A canvas of another shape has another arrangement."""
        super().resizeEvent(event)  # type: ignore[arg-type]  # the base's own event
        if self._fits:
            self._arrange_bubbles()
