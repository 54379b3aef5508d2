"""Reads graphs, paths, places, rows and named views for the graph page.

Must not do: know a widget, or keep what was read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from PySide6.QtCore import QObject, Qt, Signal

from core.types.entities import EntityQuery
from core.types.views import EgoGraph, FindRequest, FindResult, GraphFilter, GraphPaths, GraphView, Placed, WholeGraph
from ui.bridge import Running, Task, make_query, make_write
from ui.context import Context
from ui.strings import graph_strings

T = TypeVar("T")

_OFFERED = 8
_CAP = 41
"""The centre and its best forty neighbours."""


class _Steps(QObject):
    """Carries the steps of one layout from an engine thread to the GUI's: a queued signal of an object born there.

    Signals:
        placed: (the run, a `Placed`).
    """

    placed = Signal(int, object)

    def __init__(self, run: int) -> None:
        super().__init__()
        self._run = run

    def emit_placed(self, placed: Placed) -> None:
        """Called on an engine thread."""
        self.placed.emit(self._run, placed)


class GraphLoader(QObject):
    """Reads; a later question of the same kind makes the answer to an earlier one void.

    Signals:
        ego: an `EgoGraph`.
        paths: a `GraphPaths`.
        whole: a `WholeGraph`.
        placed: a `Placed` of the whole graph that was read last.
        rows: light rows that were asked for.
        start: the id of the node to begin with, "" where no entity is known.
        newest: ids, the newest memory first.
        names: entities of the name that was asked for, those named most often first.
        failed: what a graph could not be read for.
    """

    ego = Signal(object)
    paths = Signal(object)
    whole = Signal(object)
    placed = Signal(object)
    rows = Signal(tuple)
    start = Signal(str)
    newest = Signal(tuple)
    names = Signal(tuple)
    failed = Signal(object)

    def __init__(self, context: Context, parent: QObject) -> None:
        super().__init__(parent)
        self._context = context
        self._run = 0
        self._steps: _Steps | None = None
        self._layout: Running | None = None
        self.pending_reads = 0

    def find_start(self) -> None:
        """Ask where to begin."""
        graph, label = self._context.bridge.engine.graph, graph_strings()["tasks"]["start"]
        self._run_task(make_query(label, graph.find_start).success(self._on_start_found))

    def _on_start_found(self, found: str | None) -> None:
        self._on_read_ended()
        self.start.emit(found or "")

    def read_names(self, text: str) -> None:
        """Ask whose names are like a text."""
        entities, label = self._context.bridge.engine.entities, graph_strings()["begin"]["task"]
        wanted = EntityQuery(text, limit=_OFFERED)
        task = make_query(label, lambda: entities.list_entities(wanted)).within(self, "names")
        self._context.tasks.run(task.success(lambda found: self.names.emit(found.lines)).failure(lambda _: None))

    def read_newest(self) -> None:
        """Ask which memories came last."""
        library = self._context.bridge.engine.library
        self._run_task(
            make_query(graph_strings()["tasks"]["start"], lambda: library.find_memories(FindRequest())).success(
                self._on_newest_found
            )
        )

    def _on_newest_found(self, found: FindResult) -> None:
        self._on_read_ended()
        self.newest.emit(found.ids)

    def read_ego(self, centre: str, depth: int, wanted: GraphFilter) -> None:
        """Ask what lies round a memory or an entity."""
        self.cancel_layout()
        graph = self._context.bridge.engine.graph
        self._run_task(
            make_query(graph_strings()["tasks"]["ego"], lambda: graph.read_ego(centre, depth, _CAP, wanted)).success(
                self._on_ego_read
            )
        )

    def _on_ego_read(self, found: EgoGraph) -> None:
        self._on_read_ended()
        self.ego.emit(found)

    def read_paths(self, start: str, end: str, wanted: GraphFilter) -> None:
        """Ask for the shortest paths between two nodes."""
        self.cancel_layout()
        graph, label = self._context.bridge.engine.graph, graph_strings()["paths"]["loading"]
        self._run_task(make_query(label, lambda: graph.find_paths(start, end, wanted)).success(self._on_paths_read))

    def _on_paths_read(self, found: GraphPaths) -> None:
        self._on_read_ended()
        self.paths.emit(found)

    def read_whole(self, wanted: GraphFilter) -> None:
        """Ask for the whole vault; `place_graph` places what is shown of it."""
        self.cancel_layout()
        graph = self._context.bridge.engine.graph
        self._run_task(
            make_query(graph_strings()["tasks"]["whole"], lambda: graph.read_whole(wanted)).success(self._on_whole_read)
        )

    def _on_whole_read(self, found: WholeGraph) -> None:
        self._on_read_ended()
        self.whole.emit(found)

    def _run_task(self, task: Task[T]) -> None:
        self.pending_reads = 1
        self._context.tasks.run(task.within(self, "graph").failure(self._on_read_failed))

    def _on_read_ended(self) -> None:
        self.pending_reads = 0

    def _on_read_failed(self, error: BaseException) -> None:
        self._on_read_ended()
        self.failed.emit(error)

    # ---- places

    @property
    def is_placing(self) -> bool:
        """Whether places are still to come."""
        return self._layout is not None

    def place_graph(self, found: WholeGraph) -> None:
        """Ask for the places of a graph's nodes; they come in steps."""
        self.cancel_layout()
        self._run += 1
        steps = _Steps(self._run)
        steps.placed.connect(self._on_nodes_placed, Qt.ConnectionType.QueuedConnection)
        self._steps = steps
        graph = self._context.bridge.engine.graph
        task: Task[Placed] = Task(
            graph_strings()["tasks"]["layout"],
            lambda watch: graph.place_whole(
                len(found.ids), found.a, found.b, found.weight, found.group,
                on_step=steps.emit_placed, cancelled=watch.cancelled,
            ),
            can_cancel=True,
        )  # fmt: skip
        self._layout = self._context.tasks.run(
            task.within(self, "layout").success(self._on_layout_done).failure(self._on_layout_failed)
        )
        self._layout.ended.connect(self._on_layout_ended)

    def _on_nodes_placed(self, run: int, placed: Placed) -> None:
        if run == self._run:
            self.placed.emit(placed)

    def _on_layout_done(self, placed: Placed) -> None:
        if not placed.is_last:  # the layout failed on the way: what came stays
            self.placed.emit(placed)

    def _on_layout_failed(self, error: BaseException) -> None:
        self.failed.emit(error)

    def _on_layout_ended(self) -> None:
        if self.sender() is self._layout:
            self._layout = None

    def cancel_layout(self) -> None:
        """Nobody waits for places any more."""
        self._run += 1
        if self._layout is not None:
            self._layout.cancel()
            self._layout = None
        self._steps = None

    # ---- rows

    def read_rows(self, ids: Sequence[str]) -> None:
        """Ask for light rows."""
        library = self._context.bridge.engine.library
        task = make_query(graph_strings()["tasks"]["rows"], lambda: library.read_rows(ids)).within(self, "rows")
        self._context.tasks.run(task.success(self.rows.emit).failure(lambda _: None))


class ViewStore(QObject):
    """Reads, keeps and removes named views.

    Signals:
        views: all of them.
    """

    views = Signal(tuple)

    def __init__(self, context: Context, parent: QObject) -> None:
        super().__init__(parent)
        self._context = context

    def read_views(self) -> None:
        """Ask for the named views."""
        graph = self._context.bridge.engine.graph
        task = make_query(graph_strings()["tasks"]["views"], graph.list_views).within(self, "views")
        self._context.tasks.run(task.success(self.views.emit).failure(lambda _: None))

    def save_view(self, view: GraphView) -> None:
        """Keep a view; the views are read again."""
        graph = self._context.bridge.engine.graph
        task = make_write(graph_strings()["tasks"]["save"], lambda: graph.save_view(view)).within(self)
        self._context.tasks.run(task.success(lambda _: self.read_views()))

    def remove_view(self, view: GraphView) -> None:
        """Forget a view; it can be brought back at once."""
        graph, desk = self._context.bridge.engine.graph, self._context.desk
        task = make_write(graph_strings()["tasks"]["remove"], lambda: graph.drop_view(view.name)).within(self)

        def report_dropped_view(_: None) -> None:
            self.read_views()
            strings = graph_strings()["views"]
            desk.show_message(strings["removed"], strings["restore"], lambda: self._restore_view(view))

        self._context.tasks.run(task.success(report_dropped_view))

    def _restore_view(self, view: GraphView) -> None:
        graph = self._context.bridge.engine.graph
        # Not within this reader: the page may be gone by the time the person asks for it.
        self._context.tasks.run(make_write(graph_strings()["tasks"]["restore"], lambda: graph.save_view(view)))
