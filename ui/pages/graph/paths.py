"""The list beside the paths between two nodes: each path with its steps, each step a sentence that says why.

Must not do: find paths, or draw them.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QWidget

from core.types.views import GraphEdge, GraphNode, GraphPaths
from ui.pages.graph.legend import predicate_words
from ui.pages.graph.node_style import is_owner, quote_node
from ui.strings import format_count, graph_strings
from ui.theme.theme import Theme
from ui.widgets.basics import clear_layout, make_button, make_column, make_label, make_row, make_scroll_area


def describe_path_step(edge: GraphEdge, nodes: dict[str, GraphNode]) -> str:
    """Why two nodes are tied, as a sentence such as `Mara is mentioned in “Mara has two older brothers”`.

    Args:
        nodes: by id.
    """
    form = str(graph_strings()["edges"][edge.type]["step"])
    a, b = quote_node(nodes[edge.a]), quote_node(nodes[edge.b])
    sentence = form.format(a=a, b=b, label=predicate_words(edge.label, is_owner=is_owner(nodes[edge.a])))
    return f"{sentence[:1].upper()}{sentence[1:]}."


class PathsPanel(QFrame):
    """Paths in words.

    Signals:
        closed: the paths shall go.
        wider: messages shall be looked at, too.
    """

    closed = Signal()
    wider = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme, strings = theme, graph_strings()["paths"]
        self.setObjectName("card")
        self.title = make_label("", "section", wrap=True)
        self._between = make_label("", "small", wrap=True)
        self.close_button = make_button(strings["close"], self.closed.emit, kind="chip")
        self._wider = make_button(strings["wider"], self.wider.emit, kind="chip")
        inner = QWidget()
        self._list = make_column(inner, gap=6)
        area = make_scroll_area(inner)
        area.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        area.setAccessibleName(strings["list"])
        header = make_row(self.title, self.close_button, gap=8)
        header.setStretch(0, 1)
        layout = make_column(self, margins=16, gap=8)
        layout.addLayout(header)
        layout.addWidget(self._between)
        layout.addWidget(self._wider, 0, Qt.AlignmentFlag.AlignLeft)
        layout.addWidget(area, 1)
        self.steps: tuple[str, ...] = ()

    def show_paths(self, found: GraphPaths, *, can_widen: bool) -> None:
        """Put paths into words.

        Args:
            can_widen: whether messages are left out so far.
        """
        strings, nodes = graph_strings()["paths"], {node.id: node for node in found.graph.nodes}
        a, b = quote_node(nodes[found.graph.centre]), quote_node(nodes[found.end])
        clear_layout(self._list)
        self.title.setText(format_count(strings["title"], len(found.paths)))
        form = strings["between"] if found.paths else strings["none"]
        between = form.format(a=a, b=b)
        self._between.setText(f"{between[:1].upper()}{between[1:]}")
        self._wider.setVisible(can_widen)
        sentences: list[str] = []
        for path in found.paths:
            self._list.addWidget(make_label(format_count(strings["steps"], len(path)), "label"))
            for nr, edge in enumerate(path, 1):
                sentences.append(describe_path_step(edge, nodes))
                self._list.addWidget(make_label(f"{nr}. {sentences[-1]}", wrap=True))
        self._list.addStretch(1)
        self.steps = tuple(sentences)
        self.setAccessibleName(f"{self.title.text()}. {self._between.text()}")
