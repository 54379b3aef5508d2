"""What is drawn on the graph page: reads graphs, places and rows, hands them to a canvas, and says what is seen.

Must not do: paint, or listen to the person (`page.py` does).
"""

from __future__ import annotations

from dataclasses import replace

from core.errors import Code, LociError
from core.types.views import EDGE_TYPES, MEANING, EgoGraph, GraphFilter, GraphPaths, MemoryRow, Placed, WholeGraph
from ui.bridge import problem_of
from ui.context import Context
from ui.pages.graph.frame import EGO, WHOLE, GraphDisplay, GraphFrame
from ui.pages.graph.legend import GraphCounts
from ui.pages.graph.node_style import quote_node
from ui.pages.graph.overview import count_graph, slice_community, summarize_communities
from ui.strings import format_count, graph_strings
from ui.widgets.basics import make_timer
from ui.widgets.plaintext import one_line
from ui.widgets.states import EmptyState

_REFRESH_MS = 500
_TRIES = 5
_ENOUGH = 3
_HISTORY = 50
_LOWER = 0.1
_LEAST = 0.2


class GraphReadings(GraphFrame):
    """The page with what is read for it on its canvases."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._candidates: list[str] = []
        self._best: EgoGraph | None = None
        self._connect_reader()
        self._again.clicked.connect(lambda: self._read_graph())
        self._refresh = make_timer(self, self._read_graph, _REFRESH_MS)

    def is_settled(self) -> bool:
        """Whether it shows all it is about to show."""
        return not self._refresh.isActive() and super().is_settled()

    def _connect_reader(self) -> None:
        reader = self.reader
        reader.ego.connect(self._on_ego_read)
        reader.paths.connect(self._on_paths_read)
        reader.whole.connect(self._on_whole_read)
        reader.placed.connect(self._on_layout_placed)
        reader.rows.connect(self._on_rows_read)
        reader.start.connect(self._on_start_found)
        reader.newest.connect(self._on_newest_found)
        reader.failed.connect(self._on_read_failed)

    # ---- what is shown

    def _show_display(self, shown: GraphDisplay, *, remember: bool = True) -> None:
        """Show something else; what was shown can be come back to."""
        old, self.shown = self.shown, shown
        moved = (old.mode, old.centre, old.end, old.community) != (
            shown.mode, shown.centre, shown.end, shown.community,
        )  # fmt: skip
        if remember and moved and (old.centre or old.mode == WHOLE):
            self._past = [*self._past[-_HISTORY:], old]
        self._show_filter()
        named = next((view for view in self.views.views if self._is_view(view)), None)
        self.views.show_name("" if named is None else named.name)
        if shown.centre != old.centre:
            self._candidates, self._best = [], None
        same = replace(old.filter, edge_types=None) == replace(shown.filter, edge_types=None)
        is_read = old.mode == shown.mode == WHOLE and same and self._vault is not None
        if is_read and self._is_shown and not self.is_stale:
            self._show_vault()
        else:
            self._read_graph()

    # ---- reading

    def _read_graph(self) -> None:
        if not self._is_shown:
            self.is_stale = True
            return
        self.is_stale = False
        self._again.hide()
        if not self.stage.canvas.ids or self.stage.canvas is not self._current_canvas():
            self.states.show_loading()
        shown = self.shown
        if shown.mode == WHOLE:
            # All types are read: nothing moves when one is hidden or shown, and what is alike is together.
            self.reader.read_whole(replace(shown.filter, edge_types=EDGE_TYPES))
        elif shown.centre and shown.end:
            self.reader.read_paths(shown.centre, shown.end, shown.filter)
        elif shown.centre:
            self.reader.read_ego(shown.centre, shown.depth, shown.filter)
        else:
            self.reader.find_start()

    def _on_start_found(self, node_id: str) -> None:
        if node_id:
            self.shown = replace(self.shown, centre=node_id)
            self.reader.read_ego(node_id, self.shown.depth, self.shown.filter)
        else:
            self.reader.read_newest()

    def _on_newest_found(self, ids: tuple[str, ...]) -> None:
        if not ids:
            self._show_nothing()
            return
        # The first picture shall show something: of the newest memories the first that is tied to several others.
        self._candidates, self._best = list(ids[1:_TRIES]), None
        self.shown = replace(self.shown, centre=ids[0])
        self.reader.read_ego(ids[0], self.shown.depth, self.shown.filter)

    def _on_ego_read(self, graph: EgoGraph) -> None:
        if self._candidates:
            if self._best is None or len(graph.nodes) > len(self._best.nodes):
                self._best = graph
            if len(graph.nodes) < _ENOUGH:
                self.reader.read_ego(self._candidates.pop(0), self.shown.depth, self.shown.filter)
                return
        if self._best is not None and len(self._best.nodes) > len(graph.nodes):
            graph = self._best
        self._candidates, self._best = [], None
        self.shown = replace(self.shown, centre=graph.centre)
        self._show_canvas()
        self.stage.ego.show_graph(graph)
        self.stage.ego.select_node(self.context.selection.current)
        self.stage.show_actions()
        self._show_counts(_describe_ego(graph), self.stage.ego.counts)
        self._show_alone_notice(is_alone=len(graph.nodes) == 1)

    def _on_paths_read(self, found: GraphPaths) -> None:
        self._show_canvas()
        self.stage.show_notice("")
        self.stage.ego.show_graph(found.graph, (found.graph.centre, found.end))
        self.stage.show_actions()
        self.panel.show_paths(found, can_widen=self.shown.filter.hides_messages)
        self.panel.show()
        self._show_counts(self.panel.accessibleName(), self.stage.ego.counts)

    def _show_alone_notice(self, *, is_alone: bool) -> None:
        similarity, strings = self.shown.filter.min_similarity, graph_strings()["notices"]
        if not is_alone:
            self.stage.show_notice("")
        elif self.shown.filter.query or (self.shown.filter.edge_types is not None and MEANING in self.shown.off):
            self.stage.show_notice(strings["filtered"], (strings["show_all"], self._clear_filter))
        elif MEANING in self.shown.off:
            self.stage.show_notice(strings["alone"], (strings["try_meaning"], self._show_meaning))
        elif similarity > _LEAST:
            lower = max(_LEAST, round(similarity - _LOWER, 2))
            self.stage.show_notice(
                strings["below"].format(value=f"{similarity:.2f}"),
                (strings["lower"].format(value=f"{lower:.2f}"), self._lower_similarity),
            )
        else:
            self.stage.show_notice(strings["nothing"], (strings["start"], self._begin_anew))

    def _begin_anew(self) -> None:
        """Round whoever is tied to most."""
        self._show_display(replace(self.shown, centre="", end=""))

    def _clear_filter(self) -> None:
        self._show_display(replace(self.shown, filter=GraphFilter(min_similarity=self.shown.filter.min_similarity)))

    def _show_meaning(self) -> None:
        self._show_display(self.shown.with_switch(MEANING, is_on=True))
        self._focus_canvas()

    def _set_similarity(self, value: float) -> None:
        self._show_display(replace(self.shown, filter=replace(self.shown.filter, min_similarity=value)))

    def _lower_similarity(self) -> None:
        self._set_similarity(max(_LEAST, round(self.shown.filter.min_similarity - _LOWER, 2)))
        self._focus_canvas()

    def _show_whole(self) -> None:
        self._show_display(replace(self.shown, mode=WHOLE, end="", community=""))

    def _on_whole_read(self, graph: WholeGraph) -> None:
        if not graph.ids:
            self._show_nothing()
            return
        self._vault = graph
        self.stage.overview.show_overview(summarize_communities(graph, self.shown.off))
        self._show_vault()

    def _show_vault(self) -> None:
        """All communities, or the open one; where it is gone since, all of them."""
        graph, counts = self._vault, graph_strings()["counts"]
        if graph is None:
            return
        if self.shown.community not in graph.group_names:
            self.shown = replace(self.shown, community="")
        self.reader.cancel_layout()
        self._show_canvas()
        self.stage.show_notice("")
        if not self.shown.community:
            parts = [format_count(counts["entities"], len(graph.entities)),
                    format_count(counts["memories"], len(graph.ids) - len(graph.entities))]  # fmt: skip
            parts.append(format_count(counts["communities"], len(graph.group_names)))
            self._show_counts(" · ".join(parts), count_graph(graph))
            return
        part = slice_community(graph, graph.group_names.index(self.shown.community))
        self.stage.whole.show_graph(part, self.shown.off)
        self.stage.whole.select_node(self.context.selection.current)
        self.stage.show_actions()
        self.reader.place_graph(part)
        parts = [one_line(self.shown.community, 60), format_count(counts["nodes"], len(part.ids))]
        self._show_counts(" · ".join(parts), self.stage.whole.counts)

    def _on_layout_placed(self, placed: Placed) -> None:
        if self.shown.mode == WHOLE and self._is_shown:
            self.stage.whole.move_nodes(placed.xy)

    def _on_rows_read(self, rows: tuple[MemoryRow, ...]) -> None:
        self.stage.whole.show_rows(rows)

    def _on_read_failed(self, error: BaseException) -> None:
        code = error.code if isinstance(error, LociError) else None
        if code is Code.NOT_FOUND and self.shown.mode == EGO:
            # Forgotten for good meanwhile: begin as if nothing had been chosen.
            self._past = [one for one in self._past if one.centre != self.shown.centre]
            self.shown = replace(self.shown, centre="", end="")
            self._read_graph()
        elif code is Code.INVALID_QUERY and isinstance(error, LociError):
            self._show_canvas()
            self.line.show_problem(error.sentence)
        else:
            problem = problem_of(error)
            if problem is not None:
                self._show_counts("", GraphCounts({}, {}))
                self.states.show_trouble(problem, self._read_graph)

    # ---- what is said

    def _show_nothing(self) -> None:
        theme, desk, strings = self.context.theme, self.context.desk, graph_strings()["empty"]
        self.panel.hide()
        self._show_counts("", GraphCounts({}, {}))
        self.legend.hide()
        if self.shown.filter.query:
            action = (strings["filtered_action"], self._clear_filter)
            self.states.show_empty(
                EmptyState(theme, "waypoints", strings["filtered_title"], strings["filtered"], action)
            )
        else:
            opens = (strings["action"], lambda: desk.import_paths.emit([]))
            self.states.show_empty(EmptyState(theme, "waypoints", strings["title"], strings["sentence"], opens))


def _describe_ego(graph: EgoGraph) -> str:
    """What is drawn, in one line."""
    strings, centre = graph_strings()["counts"], quote_node(graph.nodes[0])
    if len(graph.nodes) == 1:
        return str(strings["alone"].format(name=centre))
    entities = sum(node.row is None for node in graph.nodes)
    parts = [
        strings["round"].format(name=centre),
        format_count(strings["entities"], entities),
        format_count(strings["memories"], len(graph.nodes) - entities),
    ]
    parts += [strings["left_out"].format(count=f"{graph.left_out:,}")] if graph.left_out else []
    return " · ".join(parts)[:1].upper() + " · ".join(parts)[1:]
