"""How nodes are distinguished: memories by the shape of their kind, entities by a disc with the icon of their type.

Must not do: know which graph is drawn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen, QPixmap
from PySide6.QtWidgets import QWidget

from core.types.values import Kind, Status
from core.types.views import GraphNode
from ui.strings import entities_strings, graph_strings
from ui.theme.theme import Theme
from ui.widgets.labels import KIND_PLURALS, KIND_WORDS, STATUS_WORDS, name_space
from ui.widgets.plaintext import one_line
from ui.widgets.shapes import KIND_TOKENS, cached_kind_path

_KINDS = {kind.value: kind for kind in Kind}
_FILLED = 0.58


@dataclass(frozen=True, slots=True)
class NodeStyle:
    """How nodes of a kind are drawn.

    Attributes:
        word: what one is called; `many` what several are.
        colour: name of a token.
        icon: name of an icon; "" for a memory, which has a shape.
    """

    word: str
    many: str
    colour: str
    icon: str = ""


@cache
def node_style(kind: str) -> NodeStyle:
    """The style of one of `NODE_KINDS`."""
    if kind in _KINDS:
        memory = _KINDS[kind]
        return NodeStyle(KIND_WORDS[memory], KIND_PLURALS[memory], KIND_TOKENS[memory])
    found = entities_strings()["types"].get(kind, entities_strings()["types"]["other"])
    return NodeStyle(found["word"], found["many"], found["role"], found["icon"])


def is_entity(kind: str) -> bool:
    """Whether it is a type of entity, not a kind of memory."""
    return kind not in _KINDS


def node_path(kind: str) -> QPainterPath:
    """The outline of a node, round the origin, for a side of 1."""
    if kind in _KINDS:
        return cached_kind_path(_KINDS[kind])
    path = QPainterPath()
    path.addEllipse(QPointF(0, 0), 0.56, 0.56)
    return path


def draw_node(painter: QPainter, theme: Theme, kind: str, at: QPointF, side: float, *, hollow: bool = False) -> None:
    """Draw a node with a seam of the ground's colour, which keeps edges off it.

    Args:
        painter: with antialiasing set by the caller.
        at: its middle.
        side: px.
        hollow: whether it is outdated.
    """
    style = node_style(kind)
    colour, background = theme.colour(style.colour), theme.colour("surface")
    painter.save()
    painter.translate(at)
    painter.scale(side, side)
    path = node_path(kind)
    painter.strokePath(path, QPen(background, 4 / side))
    if hollow:
        painter.fillPath(path, background)
        painter.strokePath(path, QPen(colour, 2 / side))
    elif style.icon:
        painter.fillPath(path, mix_colours(background, colour, 0.18))
        painter.strokePath(path, QPen(colour, 1.6 / side))
    else:
        painter.fillPath(path, colour)
    painter.restore()
    if style.icon and side >= theme.px(12):
        box = round(side * _FILLED)
        theme.icon(style.icon, style.colour).paint(
            painter, QRect(round(at.x() - box / 2), round(at.y() - box / 2), box, box)
        )


def mix_colours(background: QColor, colour: QColor, share: float) -> QColor:
    """A colour as it would look were it translucent.

    Args:
        background: below.
        colour: above.
        share: of the colour, 0 to 1.
    """
    parts = zip(background.getRgb()[:3], colour.getRgb()[:3], strict=True)  # type: ignore[index]  # the stubs say object; it is a tuple
    return QColor(*(round(below + (above - below) * share) for below, above in parts))


def node_pixmap(theme: Theme, kind: str, side: int, ratio: float) -> QPixmap:
    """A node as a picture, for drawing many.

    Args:
        side: px of the picture; the shape takes about three quarters of it.
        ratio: device pixels a pixel.
    """
    pixmap = QPixmap(QSize(round(side * ratio), round(side * ratio)))
    pixmap.setDevicePixelRatio(ratio)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    draw_node(painter, theme, kind, QPointF(side / 2, side / 2), side * 0.76)
    painter.end()
    return pixmap


def describe_node(node: GraphNode, most: int = 140) -> str:
    """A node for those who do not see it: what it is, and its words."""
    if node.row is not None:
        return f"{describe_kind(node)}: {one_line(node.row.head, most)}"
    return f"{describe_kind(node)}: {node_name(node)}"


def describe_kind(node: GraphNode) -> str:
    """What a node is, in a word or two."""
    word = node_style(node.kind).word
    row = node.row
    return word if row is None or row.status is Status.ACTIVE else f"{word}, {STATUS_WORDS[row.status].lower()}"


def node_name(node: GraphNode, most: int = 90) -> str:
    """What a node is called on its label: an entity by its name, a memory by its first words."""
    return one_line(node.text, most)


def is_owner(node: GraphNode) -> bool:
    """Whether it represents the owner of the vault."""
    return node.entity is not None and node.entity.name == graph_strings()["owner"]["name"]


def quote_node(node: GraphNode, most: int = 70) -> str:
    """A node inside a sentence: a memory's words in quotation marks, a name as it is."""
    if is_owner(node):
        return str(graph_strings()["owner"]["inside"])
    name = node_name(node, most)
    return name if node.row is None else str(graph_strings()["memory"]).format(text=name.rstrip("."))


def name_apart(nodes: Sequence[GraphNode]) -> dict[int, str]:
    """Names with their spaces, of entities that share a name with another one.

    Args:
        nodes: those that are drawn together.

    Returns:
        Place of a node to what it is called.
    """
    names = Counter(node.entity.name for node in nodes if node.entity is not None)
    form = str(graph_strings()["in_space"])
    return {
        place: form.format(name=one_line(node.entity.name, 60), space=name_space(node.entity.space, 24))
        for place, node in enumerate(nodes)
        if node.entity is not None and names[node.entity.name] > 1
    }


class NodeMark(QWidget):
    """A node's shape, as a small widget with a name for those who do not see it."""

    def __init__(self, theme: Theme, kind: str, size: int = 16) -> None:
        super().__init__()
        self._theme, self._kind, self._size = theme, kind, size
        self.setFixedSize(theme.px(size), theme.px(size))
        self.setAccessibleName(node_style(kind).word)
        theme.changed.connect(self._restyle_mark)

    def _restyle_mark(self) -> None:
        self.setFixedSize(self._theme.px(self._size), self._theme.px(self._size))
        self.update()

    def paintEvent(self, _event: object) -> None:  # noqa: N802 - Qt's name
        """Draw the shape."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        middle = QRectF(self.rect()).center()
        draw_node(painter, self._theme, self._kind, middle, self.width() * (0.82 if is_entity(self._kind) else 0.62))
