"""Where things of a graph lie on the canvas: the look at the plane, labels that do not cover each other, hits, steps.

Pure but for Qt's value types; whole arrays at a time. Must not do: paint, know a memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QByteArray, QDataStream, QPointF, QRectF, QSizeF
from PySide6.QtGui import QPainterPath

from ui.widgets.viewport import Viewport, nearest_in_direction

Points = NDArray[np.float64]
"""(n, 2): x and y."""
Numbers = NDArray[np.int64]

_LOOKED_AT = 1_000_000
_ELEMENT = np.dtype([("type", ">i4"), ("x", ">f8"), ("y", ">f8")])


@dataclass(frozen=True, slots=True)
class GraphViewport(Viewport):
    """How the canvas looks at the plane of a graph."""

    def to_px(self, xy: Points) -> Points:
        """Where points of the plane lie on the canvas."""
        return np.asarray((xy - (self.x, self.y)) * self.scale + (self.w / 2, self.h / 2), np.float64)

    def zoomed_within(self, factor: float, at: QPointF | None, least: float, most: float) -> GraphViewport:
        """Nearer or farther, with the place under a point of the canvas where it is.

        Args:
            factor: above 1 for nearer.
            at: the point; None for the middle.
            least: the smallest scale.
            most: the largest scale.
        """
        scale = min(max(self.scale * factor, least), most)
        px, py = (self.w / 2, self.h / 2) if at is None else (at.x(), at.y())
        return self.zoomed_at(scale / self.scale, px, py)

    def pan_to_reveal(self, place: NDArray[np.float64]) -> GraphViewport:
        """The same look where a place is well on the canvas, else with that place in the middle."""
        x, y = self.to_px(place[None, :])[0]
        edge = min(24.0, self.w / 4, self.h / 4)
        is_seen = edge <= x <= self.w - edge and edge <= y <= self.h - edge
        return self if is_seen else replace(self, x=float(place[0]), y=float(place[1]))

    def fit_points(self, xy: Points, across: float, down: float, most: float) -> GraphViewport:
        """All points as large as the canvas allows.

        Args:
            xy: the points; none for the plane's middle.
            across: px kept free left and right.
            down: px kept free above and below.
            most: the largest scale.
        """
        if not len(xy):
            return replace(self, x=0.0, y=0.0, scale=most)
        low, high = xy.min(axis=0), xy.max(axis=0)
        wide, tall = np.maximum(high - low, 1e-6)
        room_w, room_h = max(self.w - 2 * across, self.w / 3, 1.0), max(self.h - 2 * down, self.h / 3, 1.0)
        x, y = (low + high) / 2
        return replace(self, x=float(x), y=float(y), scale=float(min(room_w / wide, room_h / tall, most)))


def typical_distance(xy: Points) -> float:
    """How far a node is from the nearest other one: the median of a sample.

    Args:
        xy: where all nodes are.

    Returns:
        A length of the plane; 1 for fewer than two nodes.
    """
    if len(xy) < 2:
        return 1.0
    # A hundred of ten thousand take some 10 ms; of more nodes fewer are looked at, so that it stays so.
    sample = min(len(xy), int(np.clip(_LOOKED_AT / len(xy), 10, 100)))
    rows = np.unique(np.linspace(0, len(xy) - 1, sample).astype(np.int64))
    away = np.empty(len(rows))
    for nr, row in enumerate(rows.tolist()):
        far = ((xy - xy[row]) ** 2).sum(axis=1)
        far[row] = np.inf
        away[nr] = far.min()
    return float(np.sqrt(np.median(away)))


def lines_path(start: Points, end: Points) -> QPainterPath:
    """Separate lines as one path, made without a loop: Qt's own stream format is filled as an array.

    Args:
        start: where each begins, px, finite.
        end: where it ends.
    """
    path = QPainterPath()
    count = len(start)
    if not count:
        return path
    elements = np.empty(2 * count, _ELEMENT)
    elements["type"][0::2], elements["type"][1::2] = 0, 1
    for nr, name in enumerate(("x", "y")):
        elements[name][0::2], elements[name][1::2] = start[:, nr], end[:, nr]
    header = np.array([2 * count], ">i4").tobytes()
    # Behind the elements: where the last line begins, and the fill rule.
    tail = np.array([2 * count - 2, 0], ">i4").tobytes()
    QDataStream(QByteArray(header + elements.tobytes() + tail)) >> path
    return path


def clip_lines(start: Points, end: Points, w: float, h: float) -> tuple[Numbers, Points, Points]:
    """The parts of lines that lie within a canvas (Liang and Barsky, on whole arrays).

    Args:
        start: where each begins, px.
        end: where it ends.
        w: the canvas's width, px.
        h: its height.

    Returns:
        Rows of the lines that cross it, and both ends of what of them is inside.
    """
    along = end - start
    enter, leave = np.zeros(len(start)), np.ones(len(start))
    for axis, size in ((0, w), (1, h)):
        way, low, high = along[:, axis], -start[:, axis], size - start[:, axis]
        still = np.abs(way) < 1e-12
        safe = np.where(still, 1.0, way)
        first, last = np.minimum(low / safe, high / safe), np.maximum(low / safe, high / safe)
        outside = still & ((low > 0) | (high < 0))
        enter = np.where(still, np.where(outside, 2.0, enter), np.maximum(enter, first))
        leave = np.where(still, leave, np.minimum(leave, last))
    rows = np.flatnonzero(enter <= leave)
    begin = start[rows]
    return rows, begin + along[rows] * enter[rows, None], begin + along[rows] * leave[rows, None]


def node_in_direction(xy: Points, here: int, dx: int, dy: int, among: Numbers | None = None) -> int:
    """The nearest of some nodes in a direction; one straight ahead is nearer than one aside.

    Args:
        xy: where all nodes are.
        here: the current position, a row of `xy`.
        dx: -1, 0 or 1.
        dy: likewise; one of them is 0.
        among: rows to choose from; None for all.

    Returns:
        Its row, or -1 where there is none in that direction.
    """
    rows = np.arange(len(xy)) if among is None else among
    rows = rows[rows != here]
    at = nearest_in_direction(xy[rows, 0], xy[rows, 1], xy[here, 0], xy[here, 1], dx, dy)
    return -1 if at < 0 else int(rows[at])


def nearest_node(px: Points, at: QPointF, reach: float) -> int:
    """The node at a point of the canvas.

    Args:
        px: where all nodes are, px.
        reach: how far off it may be, px.

    Returns:
        Its row; -1 for none.
    """
    if not len(px):
        return -1
    away = ((px - (at.x(), at.y())) ** 2).sum(axis=1)
    best = int(np.argmin(away))
    return best if away[best] <= reach * reach else -1


def nearest_line(start: Points, end: Points, at: QPointF, reach: float) -> int:
    """The line at a point of the canvas.

    Args:
        start: where each line begins, px.
        end: where it ends.
        reach: how far off it may be, px.

    Returns:
        Its row; -1 for none.
    """
    if not len(start):
        return -1
    along = end - start
    off = np.array((at.x(), at.y())) - start
    length = np.maximum((along**2).sum(axis=1), 1e-9)
    share = np.clip((off * along).sum(axis=1) / length, 0.0, 1.0)
    away = ((off - along * share[:, None]) ** 2).sum(axis=1)
    best = int(np.argmin(away))
    return best if away[best] <= reach * reach else -1


def edge_lanes(a: Numbers, b: Numbers) -> NDArray[np.float64]:
    """How far each of several lines between the same two nodes steps aside, in steps; 0 for one alone.

    Args:
        a: one end of each.
        b: the other.
    """
    found = np.zeros(len(a))
    if not len(a):
        return found
    key = np.minimum(a, b) * (int(max(a.max(), b.max())) + 1) + np.maximum(a, b)
    _, member, counts = np.unique(key, return_inverse=True, return_counts=True)
    for pair in np.flatnonzero(counts > 1):
        rows = np.flatnonzero(member == pair)
        # Aside of the line from the lower to the higher node, whichever way the edge goes.
        way = np.where(a[rows] <= b[rows], 1.0, -1.0)
        found[rows] = (np.arange(len(rows)) - (len(rows) - 1) / 2) * way
    return found


_SPIRAL = 900
_BUBBLES_APART = 0.035


def pack_circles(radius: NDArray[np.float64], a: Numbers, b: Numbers, weight: Numbers, wide: float) -> Points:
    """Places for circles, none over another: the largest in the middle, each as near as can be to what it is tied to.

    Args:
        radius: of each, the largest first.
        a: one end of each tie.
        b: the other.
        weight: how firm it is.
        wide: how much wider than high the whole shall be.

    Returns:
        The middles; the same for the same circles.
    """
    count = len(radius)
    found = np.zeros((count, 2))
    turn, far = np.arange(_SPIRAL) * (np.pi * (3 - np.sqrt(5))), np.sqrt(np.arange(_SPIRAL) / _SPIRAL)
    reach = 2.2 * float(np.sqrt((radius**2).sum())) if count else 0.0
    spiral = np.column_stack((np.cos(turn) * far * wide, np.sin(turn) * far)) * reach
    for nr in range(1, count):
        others = np.concatenate((b[(a == nr) & (b < nr)], a[(b == nr) & (a < nr)]))
        firm = np.concatenate((weight[(a == nr) & (b < nr)], weight[(b == nr) & (a < nr)])).astype(np.float64)
        pull = (found[others] * firm[:, None]).sum(axis=0) / firm.sum() if others.size else np.zeros(2)
        gaps = np.hypot(spiral[:, None, 0] - found[None, :nr, 0], spiral[:, None, 1] - found[None, :nr, 1]) - (
            radius[:nr] + radius[nr] + _BUBBLES_APART
        )
        free = spiral[(gaps >= 0).all(axis=1)]
        # As round as it is wide: a place counts by its distance from the middle and from what it is tied to.
        cost = np.hypot(free[:, 0] / wide, free[:, 1]) + 0.5 * np.hypot(*(free - pull).T)
        found[nr] = free[int(np.argmin(cost))] if len(free) else (reach * 2 * nr, 0.0)
    return found


def convex_hull(points: Points) -> Points:
    """The corners of the smallest convex polygon round points (Andrew's monotone chain), in order.

    Args:
        points: (n, 2).

    Returns:
        The corners; the points themselves where there are fewer than three.
    """
    ordered = np.unique(points, axis=0)
    if len(ordered) < 3:
        return ordered

    def half(rows: Points) -> list[NDArray[np.float64]]:
        chain: list[NDArray[np.float64]] = []
        for point in rows:
            while len(chain) > 1 and _turns_right(chain[-2], chain[-1], point):
                chain.pop()
            chain.append(point)
        return chain[:-1]

    return np.array(half(ordered) + half(ordered[::-1]))


def _turns_right(a: NDArray[np.float64], b: NDArray[np.float64], c: NDArray[np.float64]) -> bool:
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])) <= 0


@dataclass(frozen=True, slots=True)
class LabelRequest:
    """A label that wants a place.

    Attributes:
        node: the row of its node.
        size: px.
        below: whether it is under its node if it can, else beside it.
        leftward: whether the left side is the better one: most edges leave to the right.
        must: whether it gets a place even where it covers something.
    """

    node: int
    size: QSizeF
    below: bool = False
    leftward: bool = False
    must: bool = False


def place_graph_labels(
    requests: Sequence[LabelRequest],
    px: Points,
    radius: NDArray[np.float64],
    look: GraphViewport,
    blocked: Sequence[QRectF] = (),
) -> dict[int, QRectF]:
    """Places for labels, none over another or over a node; the first in order have the choice.

    Args:
        requests: most important first.
        px: where all nodes are, px.
        radius: of each node, px.
        look: for the canvas's size; no label is cut by its border.
        blocked: where controls float on the canvas.

    Returns:
        Row of a node to the place of its label; a label without a place is missing.
    """
    taken = np.empty((len(px) + len(blocked) + len(requests), 4))
    count = len(px) + len(blocked)
    taken[: len(px), :2], taken[: len(px), 2:] = px - radius[:, None], px + radius[:, None]
    taken[len(px) : count] = np.array([_edges_of(rect) for rect in blocked]).reshape(-1, 4)
    found: dict[int, QRectF] = {}
    for request in requests:
        x, y, r = float(px[request.node, 0]), float(px[request.node, 1]), float(radius[request.node])
        free = [rect for rect in _label_positions(x, y, r + 3, request) if _is_on_canvas(rect, look)]
        covered = [_count_overlaps(taken[:count], rect) for rect in free]
        best = int(np.argmin(covered)) if covered else -1
        if best >= 0 and (request.must or not covered[best]):
            rect = free[best]
            taken[count] = _edges_of(rect)
            count += 1
            found[request.node] = rect
    return found


def _label_positions(x: float, y: float, off: float, request: LabelRequest) -> tuple[QRectF, ...]:
    w, h = request.size.width(), request.size.height()
    right, left = QRectF(x + off, y - h / 2, w, h), QRectF(x - off - w, y - h / 2, w, h)
    below, above = QRectF(x - w / 2, y + off, w, h), QRectF(x - w / 2, y - off - h, w, h)
    aside = w / 2 - off
    corners = (below.translated(aside, 0), below.translated(-aside, 0), above.translated(aside, 0),
               above.translated(-aside, 0))  # fmt: skip
    if request.below:
        return (below, above, *corners, right, left)
    return ((left, right) if request.leftward else (right, left)) + (below, above, *corners)


def _edges_of(rect: QRectF) -> tuple[float, float, float, float]:
    return rect.left(), rect.top(), rect.right(), rect.bottom()


def _is_on_canvas(rect: QRectF, look: GraphViewport) -> bool:
    return rect.left() >= 4 and rect.top() >= 4 and rect.right() <= look.w - 4 and rect.bottom() <= look.h - 4


def _count_overlaps(taken: NDArray[np.float64], rect: QRectF) -> int:
    """How many places a rectangle would lie over."""
    across = (taken[:, 0] < rect.right()) & (taken[:, 2] > rect.left())
    return int((across & (taken[:, 1] < rect.bottom()) & (taken[:, 3] > rect.top())).sum())
