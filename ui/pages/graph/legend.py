"""How edges are distinguished, by colour and by dashes, and the legend that says so and switches them off and on.

Must not do: know which graph is drawn.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QSize, Qt, Signal
from PySide6.QtGui import QIcon, QPainter, QPen, QPixmap
from PySide6.QtWidgets import QPushButton, QWidget

from core.types.views import (
    ABOUT,
    CONVERSATION,
    EDGE_TYPES,
    ENTITY_TYPES,
    MEANING,
    MENTIONS,
    NODE_KINDS,
    PART,
    RELATION,
    SAYS,
)
from ui.pages.graph.node_style import NodeMark, mix_colours, node_style
from ui.strings import belief_strings, format_count, graph_strings
from ui.theme.theme import Theme
from ui.theme.tokens import spacing
from ui.widgets.basics import FlowLayout, clear_layout, make_button, make_label, make_row

_SAMPLE = QSize(24, 12)


@dataclass(frozen=True, slots=True)
class EdgeStyle:
    """How edges of a type are drawn; no two types share both colour and dashes.

    Attributes:
        colour: name of a token.
        dashes: lengths of dashes and gaps in widths of the line; none for an unbroken one.
        width: px.
        is_directed: whether its far end has an arrow.
    """

    colour: str
    dashes: tuple[float, ...] = ()
    width: float = 1.5
    is_directed: bool = True

    def make_pen(self, theme: Theme) -> QPen:
        """The pen it is drawn with."""
        pen = QPen(theme.colour(self.colour), self.width)
        pen.setCapStyle(Qt.PenCapStyle.FlatCap)
        if self.dashes:
            pen.setDashPattern(list(self.dashes))
        return pen


TIES: Mapping[str, EdgeStyle] = {
    RELATION: EdgeStyle("accent", (), 2.0),
    ABOUT: EdgeStyle("outline", (), 1.3, is_directed=False),
    SAYS: EdgeStyle("kind_episode", (7, 3), 1.0, is_directed=False),
    MENTIONS: EdgeStyle("outline", (3, 3), 1.1, is_directed=False),
    "caused_by": EdgeStyle("kind_rule", (6, 2.5)),
    "instance_of": EdgeStyle("kind_procedure"),
    "inferred_from": EdgeStyle("kind_procedure", (6, 2, 1.5, 2)),
    "contradicts": EdgeStyle("danger", (3, 2), 2.0, is_directed=False),
    "supports": EdgeStyle("success"),
    "related_to": EdgeStyle("muted", (5, 3, 1, 3), is_directed=False),
    "supersedes": EdgeStyle("warning"),
    "coexists_with": EdgeStyle("accent", (8, 3), is_directed=False),
    "example_of": EdgeStyle("kind_procedure", (2, 2)),
    "derived_from": EdgeStyle("kind_digest", (8, 3)),
    CONVERSATION: EdgeStyle("kind_episode", (4, 3), 1.2),
    PART: EdgeStyle("kind_episode", (1.2, 2), 1.8, is_directed=False),
    MEANING: EdgeStyle("outline", (1.5, 3), 1.0, is_directed=False),
}


def name_edge_type(edge_type: str) -> str:
    """What edges of a type are called, in the legend."""
    return str(graph_strings()["edges"][edge_type]["name"])


def edge_word(edge_type: str, label: str = "") -> str:
    """What is beside an edge: `about`, `works at`.

    Args:
        label: of a relation its predicate.
    """
    return str(graph_strings()["edges"][edge_type]["word"]).format(label=predicate_words(label))


def predicate_words(predicate: str, *, is_owner: bool = False) -> str:
    """A claim's predicate in words: `works_at` is `works at`.

    Args:
        is_owner: whether the owner of the vault is its subject: `work at`.
    """
    forms = belief_strings()["predicates"].get(predicate)
    return str(forms["you" if is_owner else "other"]) if forms is not None else predicate.replace("_", " ")


def make_sample_icon(theme: Theme, tie: EdgeStyle, ratio: float = 2.0) -> QIcon:
    """A short piece of an edge, for the legend."""
    size = QSize(theme.px(_SAMPLE.width()), theme.px(_SAMPLE.height()))
    pixmap = QPixmap(size * ratio)
    pixmap.setDevicePixelRatio(ratio)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    pen = tie.make_pen(theme)
    pen.setWidthF(max(tie.width, 1.5))
    painter.setPen(pen)
    painter.drawLine(QPointF(0, size.height() / 2), QPointF(size.width(), size.height() / 2))
    painter.end()
    return QIcon(pixmap)


@dataclass(frozen=True, slots=True)
class GraphCounts:
    """What is drawn.

    Attributes:
        kinds: nodes by kind, of `NODE_KINDS`.
        ties: edges by type.
        past: outdated nodes.
        communities: tinted areas.
        held: nodes that are held back.
    """

    kinds: Mapping[str, int]
    ties: Mapping[str, int]
    past: int = 0
    communities: int = 0
    held: int = 0


class _Area(QWidget):
    """A tinted patch, as a community is drawn."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.setFixedSize(theme.px(spacing().loose), theme.px(spacing().side))
        self.setAccessibleName(graph_strings()["legend"]["area"])

    def paintEvent(self, _event: object) -> None:  # noqa: N802 - Qt's name
        """Paint the widget."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(mix_colours(self._theme.colour("background"), self._theme.colour("kind_episode"), 0.3))
        painter.drawRoundedRect(self.rect(), self.height() / 2, self.height() / 2)


class _Past(QWidget):
    """A hollow shape, as outdated nodes are drawn."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.setFixedSize(theme.px(14), theme.px(14))
        self.setAccessibleName(graph_strings()["legend"]["hollow"])

    def paintEvent(self, _event: object) -> None:  # noqa: N802 - Qt's name
        """Paint the widget."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self._theme.colour("muted"), 1.5))
        painter.drawEllipse(self.rect().adjusted(2, 2, -2, -2))


class GraphLegend(QWidget):
    """Kinds with their counts, edge types with theirs; each type can be switched off.

    Signals:
        switched: a type of `EDGE_TYPES`, and whether it shows now.
    """

    switched = Signal(str, bool)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._shown: tuple[object, ...] = ()
        self._counts, self._off = GraphCounts({}, {}), frozenset[str]()
        self._flow = FlowLayout(self, gap=4)
        self.setAccessibleName(graph_strings()["legend"]["name"])
        theme.changed.connect(self._restyle_entries)

    def show_counts(self, counts: GraphCounts, off: frozenset[str]) -> None:
        """Say what is drawn.

        Args:
            counts: how many of each.
            off: types that are switched off; they stay in the legend so that they can come back.
        """
        kinds, ties = tuple(counts.kinds.items()), tuple(counts.ties.items())
        shown = (kinds, ties, counts.past, counts.communities, counts.held, off)
        if shown != self._shown:
            self._shown, self._counts, self._off = shown, counts, off
            self._fill_entries()

    def find_toggle(self, edge_type: str) -> QPushButton | None:
        """The switch of a type, where it is in the legend."""
        return next((made for made in self.findChildren(QPushButton) if made.property("tie") == edge_type), None)

    def _restyle_entries(self) -> None:
        if self._shown:
            self._fill_entries()

    def _fill_entries(self) -> None:
        focus = self.focusWidget()
        had = "" if focus is None or not focus.hasFocus() else str(focus.property("tie") or "")
        clear_layout(self._flow)
        for edge_type in EDGE_TYPES:
            if edge_type in self._counts.ties or edge_type in self._off:
                self._flow.addWidget(self._make_toggle(edge_type))
        for kind in (*ENTITY_TYPES, *(kind for kind in NODE_KINDS if kind not in ENTITY_TYPES)):
            if self._counts.kinds.get(kind):
                number, style = self._counts.kinds[kind], node_style(kind)
                text = style.word if number == 1 else style.many
                self._flow.addWidget(self._make_entry(NodeMark(self._theme, kind), f"{text}  {number:,}"))
        for name, number in (("outdated", self._counts.past), ("held", self._counts.held)):
            if number:
                text = graph_strings()["legend"][name]
                self._flow.addWidget(self._make_entry(_Past(self._theme), f"{text}  {number:,}"))
        if self._counts.communities:
            text = format_count(graph_strings()["legend"]["communities"], self._counts.communities)
            self._flow.addWidget(self._make_entry(_Area(self._theme), text))
        again = self.find_toggle(had) if had else None
        if again is not None:
            again.setFocus()

    def _make_entry(self, mark: QWidget, text: str) -> QWidget:
        widget = QWidget()
        inner = make_row(mark, make_label(text, "small"), gap=6, parent=widget)
        inner.setContentsMargins(8, 0, 8, 0)
        widget.setFixedHeight(self._theme.px(26))
        return widget

    def _make_toggle(self, edge_type: str) -> QPushButton:
        tie, number = TIES[edge_type], self._counts.ties.get(edge_type, 0)
        is_on = edge_type not in self._off
        name, hint = name_edge_type(edge_type), graph_strings()["legend"]["hide" if is_on else "show"]
        button = make_button(f"{name}  {number:,}" if is_on else name, kind="toggle", hint=hint.format(name=name))
        button.setProperty("tie", edge_type)
        button.setCheckable(True)
        button.setChecked(is_on)
        button.setIconSize(QSize(self._theme.px(_SAMPLE.width()), self._theme.px(_SAMPLE.height())))
        button.setIcon(make_sample_icon(self._theme, tie) if is_on else self._theme.icon("eye-off", "muted"))
        button.clicked.connect(lambda checked: self.switched.emit(edge_type, checked))
        return button
