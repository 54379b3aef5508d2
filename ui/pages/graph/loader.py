"""Asks the engine for graphs, places, rows and views, and hands the answers to the page on the GUI thread.

Must not do: draw, decide what is shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from PySide6.QtCore import QObject, Qt, Signal

from core.types.views import EgoGraph, FindRequest, Found, GraphFilter, GraphView, Placed, WholeGraph
from ui.context import Context
from ui.tasks import Running, Task, query, write

T = TypeVar("T")

_CAP = 300


class _Steps(QObject):
    """Carries the steps of one layout from an engine thread to the GUI's: a queued signal of an object born there.

    Signals:
        came: (the run, a `Placed`).
    """

    came = Signal(int, object)

    def __init__(self, run: int) -> None:
        super().__init__()
        self._run = run

    def tell(self, placed: Placed) -> None:
        """Called on an engine thread."""
        self.came.emit(self._run, placed)


class Reader(QObject):
    """Reads; a later question of the same kind makes the answer to an earlier one void.

    Signals:
        ego: an `EgoGraph`.
        whole: a `WholeGraph`.
        placed: a `Placed` of the whole graph that was read last.
        rows: light rows that were asked for.
        newest: ids, the newest memory first.
        views: all named views.
        failed: what a graph could not be read for.
    """

    ego = Signal(object)
    whole = Signal(object)
    placed = Signal(object)
    rows = Signal(tuple)
    newest = Signal(tuple)
    views = Signal(tuple)
    failed = Signal(object)

    def __init__(self, context: Context, parent: QObject) -> None:
        super().__init__(parent)
        self._context = context
        self._run = 0
        self._steps: _Steps | None = None
        self._layout: Running | None = None
        self.waits = 0

    def read_newest(self) -> None:
        """Ask which memories came last."""
        library = self._context.bridge.engine.library
        self._ask(
            query("Looking for the newest memory", lambda: library.find(FindRequest())).success(self._take_newest)
        )

    def _take_newest(self, found: Found) -> None:
        self._end()
        self.newest.emit(found.ids)

    def read_ego(self, centre: str, depth: int, wanted: GraphFilter) -> None:
        """Ask what lies round a memory."""
        self.cancel()
        graph = self._context.bridge.engine.graph
        self._ask(query("Drawing the graph", lambda: graph.ego(centre, depth, _CAP, wanted)).success(self._take_ego))

    def _take_ego(self, found: EgoGraph) -> None:
        self._end()
        self.ego.emit(found)

    def read_whole(self, wanted: GraphFilter) -> None:
        """Ask for the whole vault; its places follow in steps."""
        self.cancel()
        graph = self._context.bridge.engine.graph
        self._ask(query("Reading the whole vault", lambda: graph.whole(wanted)).success(self._take_whole))

    def _take_whole(self, found: WholeGraph) -> None:
        self._end()
        self.whole.emit(found)
        if found.ids:
            self._lay_out(found)

    def _ask(self, task: Task[T]) -> None:
        self.waits = 1
        self._context.tasks.run(task.within(self, "graph").failure(self._fail))

    def _end(self) -> None:
        self.waits = 0

    def _fail(self, error: BaseException) -> None:
        self._end()
        self.failed.emit(error)

    # ---- places

    @property
    def is_placing(self) -> bool:
        """Whether places are still to come."""
        return self._layout is not None

    def _lay_out(self, found: WholeGraph) -> None:
        self._run += 1
        steps = _Steps(self._run)
        steps.came.connect(self._step, Qt.ConnectionType.QueuedConnection)
        self._steps = steps
        graph = self._context.bridge.engine.graph
        task: Task[Placed] = Task(
            "Arranging the graph",
            lambda watch: graph.layout(
                len(found.ids), found.a, found.b, found.weight, found.group,
                on_step=steps.tell, cancelled=watch.cancelled,
            ),
            can_cancel=True,
        )  # fmt: skip
        self._layout = self._context.tasks.run(
            task.within(self, "layout").success(self._placed_last).failure(self._not_placed)
        )
        self._layout.ended.connect(self._layout_over)

    def _step(self, run: int, placed: Placed) -> None:
        if run == self._run:
            self.placed.emit(placed)

    def _placed_last(self, placed: Placed) -> None:
        if not placed.is_last:  # the layout failed on the way: what came stands
            self.placed.emit(placed)

    def _not_placed(self, error: BaseException) -> None:
        self.failed.emit(error)

    def _layout_over(self) -> None:
        if self.sender() is self._layout:
            self._layout = None

    def cancel(self) -> None:
        """Nobody waits for places any more."""
        self._run += 1
        if self._layout is not None:
            self._layout.cancel()
            self._layout = None
        self._steps = None

    # ---- rows and views

    def read_rows(self, ids: Sequence[str]) -> None:
        """Ask for light rows."""
        library = self._context.bridge.engine.library
        task = query("Reading memories", lambda: library.rows(ids)).within(self, "rows")
        self._context.tasks.run(task.success(self.rows.emit).failure(lambda _: None))

    def read_views(self) -> None:
        """Ask for the named views."""
        graph = self._context.bridge.engine.graph
        task = query("Reading the views", graph.views).within(self, "views")
        self._context.tasks.run(task.success(self.views.emit).failure(lambda _: None))

    def save_view(self, view: GraphView) -> None:
        """Keep a view; the views are read again."""
        graph = self._context.bridge.engine.graph
        task = write("Saving the view", lambda: graph.save_view(view)).within(self)
        self._context.tasks.run(task.success(lambda _: self.read_views()))

    def drop_view(self, view: GraphView) -> None:
        """Forget a view; it can be brought back at once."""
        graph, desk = self._context.bridge.engine.graph, self._context.desk
        task = write("Removing the view", lambda: graph.drop_view(view.name)).within(self)

        def gone(_: None) -> None:
            self.read_views()
            desk.say("The view is gone.", "Bring it back", lambda: self._bring_back(view))

        self._context.tasks.run(task.success(gone))

    def _bring_back(self, view: GraphView) -> None:
        graph = self._context.bridge.engine.graph
        # Not within this reader: the page may be gone by the time the person asks for it.
        self._context.tasks.run(write("Bringing the view back", lambda: graph.save_view(view)))
