"""What is drawn on the graph page: reads graphs, places and rows, hands them to a canvas, and says what is seen.

Must not do: paint, or listen to the person (`page.py` does).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

from PySide6.QtCore import QObject, QPoint, QRectF, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QPushButton, QStackedWidget, QWidget

from core.errors import Code, LociError
from core.types.views import (
    EDGE_TYPES,
    MEANING,
    EgoGraph,
    FindRequest,
    FindResult,
    GraphFilter,
    GraphView,
    MemoryRow,
    Placed,
    WholeGraph,
)
from ui.bridge import Running, Task, make_query, make_write, problem_of
from ui.context import Context, Page
from ui.pages.graph.canvas import STEP, Canvas
from ui.pages.graph.ego import EgoCanvas
from ui.pages.graph.legend import Counts, Legend
from ui.pages.graph.views import FilterLine, Nearness, ViewsChip
from ui.pages.graph.whole import WholeCanvas
from ui.theme.theme import Theme
from ui.widgets.basics import (
    Elided,
    Segments,
    make_button,
    make_column,
    make_label,
    make_row,
    make_timer,
    make_tool_button,
)
from ui.widgets.labels import count_memories, count_of
from ui.widgets.plaintext import one_line
from ui.widgets.states import EmptyState, States

_EDGE = 12
_DEPTHS = (("1", "1"), ("2", "2"), ("3", "3"))


class Stage(QWidget):
    """Both canvases, one of them shown.

    Signals:
        back: to what was shown before.
        depth_chosen: edges from the centre, 1 to 3.
    """

    back = Signal()
    depth_chosen = Signal(int)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.ego, self.whole = EgoCanvas(theme), WholeCanvas(theme)
        self._stack = QStackedWidget(self)
        self._stack.addWidget(self.ego)
        self._stack.addWidget(self.whole)
        self.go_back = make_button("Back", self.back.emit, kind="chip", hint="Back (Alt+Left)", theme=theme,
                              icon="chevron-left")  # fmt: skip
        self.go_back.hide()
        self.depths = Segments(_DEPTHS, "2", "Depth")
        self.depths.chosen.connect(lambda value: self.depth_chosen.emit(int(value)))
        for made in self.depths.findChildren(QPushButton):
            made.setAccessibleName(f"Depth {made.text()}")
        self._depth = QWidget()
        make_row(make_label("Depth", "small"), self.depths, gap=8, parent=self._depth)
        self._top = _make_floating_frame(self, self.go_back, self._depth)
        self._zoom = _make_floating_frame(
            self,
            make_tool_button(theme, "zoom-in", "Nearer (+)", lambda: self.canvas.zoom_by(STEP)),
            make_tool_button(theme, "zoom-out", "Farther (−)", lambda: self.canvas.zoom_by(1 / STEP)),
            make_tool_button(theme, "maximize", "Show everything (Home)", lambda: self.canvas.fit_view()),
        )
        self._notice: QFrame | None = None
        theme.changed.connect(self._place_frames)

    @property
    def canvas(self) -> Canvas:
        """The canvas that is shown."""
        return self.whole if self._stack.currentWidget() is self.whole else self.ego

    def show_canvas(self, *, whole: bool) -> None:
        """Show one of them; the other rests."""
        (self.ego if whole else self.whole).stop_motion()
        self._stack.setCurrentWidget(self.whole if whole else self.ego)
        self._depth.setVisible(not whole)
        self._place_frames()

    def show_back_button(self, *, is_there: bool) -> None:
        """Offer the way back, where there is one."""
        if is_there == self.go_back.isHidden():
            had = self.go_back.hasFocus()
            self.go_back.setVisible(is_there)
            if had:
                self.canvas.setFocus()
            self._place_frames()

    def show_notice(self, sentence: str, *actions: tuple[str, Callable[[], None]]) -> None:
        """Say something at the lower edge; "" says nothing.

        Args:
            *actions: titles and what they do.
        """
        if self._notice is not None:
            self._notice.hide()
            self._notice.deleteLater()
            self._notice = None
        if sentence:
            frame = QFrame(self)
            frame.setObjectName("banner")
            frame.setAccessibleName(sentence)
            words = make_label(sentence, wrap=True)
            words.setMinimumWidth(self._theme.px(150))
            inner = make_row(words, *(make_button(name, run) for name, run in actions), gap=8, parent=frame)
            inner.setContentsMargins(16, 8, 8, 8)
            inner.setStretch(0, 1)
            self._notice = frame
            frame.show()
            self._place_frames()

    @property
    def said(self) -> str:
        """The notice, "" where there is none."""
        return "" if self._notice is None else self._notice.accessibleName()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """What floats keeps its corner."""
        super().resizeEvent(event)
        self._stack.resize(event.size())
        self._place_frames()

    def _place_frames(self) -> None:
        for frame in (self._top, self._zoom):
            frame.adjustSize()
        self._top.setVisible(not self.go_back.isHidden() or not self._depth.isHidden())
        self._top.move(_EDGE, _EDGE)
        self._zoom.move(self.width() - self._zoom.width() - _EDGE, _EDGE)
        shown = [QRectF(frame.geometry()) for frame in (self._top, self._zoom) if not frame.isHidden()]
        self.ego.blocked = self.whole.blocked = tuple(shown)
        if self._notice is not None:
            wide = min(self._theme.px(560), self.width() - 2 * _EDGE)
            layout = self._notice.layout()
            high = self._notice.sizeHint().height() if layout is None else layout.totalHeightForWidth(wide)
            self._notice.resize(wide, high)
            self._notice.move(QPoint((self.width() - wide) // 2, self.height() - high - _EDGE))


def _make_floating_frame(parent: QWidget, *widgets: QWidget) -> QFrame:
    frame = QFrame(parent)
    frame.setObjectName("floating")
    frame.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
    inner = make_row(*widgets, gap=8, parent=frame)
    inner.setContentsMargins(4, 0, 4, 0)
    return frame


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

    def emit_placed(self, placed: Placed) -> None:
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
        self._run_task(
            make_query("Looking for the newest memory", lambda: library.find_memories(FindRequest())).success(
                self._on_newest_found
            )
        )

    def _on_newest_found(self, found: FindResult) -> None:
        self._on_read_ended()
        self.newest.emit(found.ids)

    def read_ego(self, centre: str, depth: int, wanted: GraphFilter) -> None:
        """Ask what lies round a memory."""
        self.cancel_layout()
        graph = self._context.bridge.engine.graph
        self._run_task(
            make_query("Drawing the graph", lambda: graph.read_ego(centre, depth, _CAP, wanted)).success(
                self._on_ego_read
            )
        )

    def _on_ego_read(self, found: EgoGraph) -> None:
        self._on_read_ended()
        self.ego.emit(found)

    def read_whole(self, wanted: GraphFilter) -> None:
        """Ask for the whole vault; its places follow in steps."""
        self.cancel_layout()
        graph = self._context.bridge.engine.graph
        self._run_task(
            make_query("Reading the whole vault", lambda: graph.read_whole(wanted)).success(self._on_whole_read)
        )

    def _on_whole_read(self, found: WholeGraph) -> None:
        self._on_read_ended()
        self.whole.emit(found)
        if found.ids:
            self._start_layout(found)

    def _run_task(self, task: Task[T]) -> None:
        self.waits = 1
        self._context.tasks.run(task.within(self, "graph").failure(self._on_read_failed))

    def _on_read_ended(self) -> None:
        self.waits = 0

    def _on_read_failed(self, error: BaseException) -> None:
        self._on_read_ended()
        self.failed.emit(error)

    # ---- places

    @property
    def is_placing(self) -> bool:
        """Whether places are still to come."""
        return self._layout is not None

    def _start_layout(self, found: WholeGraph) -> None:
        self._run += 1
        steps = _Steps(self._run)
        steps.came.connect(self._on_places_came, Qt.ConnectionType.QueuedConnection)
        self._steps = steps
        graph = self._context.bridge.engine.graph
        task: Task[Placed] = Task(
            "Arranging the graph",
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

    def _on_places_came(self, run: int, placed: Placed) -> None:
        if run == self._run:
            self.placed.emit(placed)

    def _on_layout_done(self, placed: Placed) -> None:
        if not placed.is_last:  # the layout failed on the way: what came stands
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

    # ---- rows and views

    def read_rows(self, ids: Sequence[str]) -> None:
        """Ask for light rows."""
        library = self._context.bridge.engine.library
        task = make_query("Reading memories", lambda: library.read_rows(ids)).within(self, "rows")
        self._context.tasks.run(task.success(self.rows.emit).failure(lambda _: None))

    def read_views(self) -> None:
        """Ask for the named views."""
        graph = self._context.bridge.engine.graph
        task = make_query("Reading the views", graph.list_views).within(self, "views")
        self._context.tasks.run(task.success(self.views.emit).failure(lambda _: None))

    def save_view(self, view: GraphView) -> None:
        """Keep a view; the views are read again."""
        graph = self._context.bridge.engine.graph
        task = make_write("Saving the view", lambda: graph.save_view(view)).within(self)
        self._context.tasks.run(task.success(lambda _: self.read_views()))

    def remove_view(self, view: GraphView) -> None:
        """Forget a view; it can be brought back at once."""
        graph, desk = self._context.bridge.engine.graph, self._context.desk
        task = make_write("Removing the view", lambda: graph.drop_view(view.name)).within(self)

        def report_dropped_view(_: None) -> None:
            self.read_views()
            desk.show_message("The view is gone.", "Bring it back", lambda: self._restore_view(view))

        self._context.tasks.run(task.success(report_dropped_view))

    def _restore_view(self, view: GraphView) -> None:
        graph = self._context.bridge.engine.graph
        # Not within this reader: the page may be gone by the time the person asks for it.
        self._context.tasks.run(make_write("Bringing the view back", lambda: graph.save_view(view)))


ORIGIN = "graph"
SHOW: Final = "show:"
"""A wish: put this memory into the middle."""
WHOLE: Final = "whole"
"""A wish: show the whole vault. Also the name of that mode, as `EGO` is of the other."""
EGO: Final = "ego"
_REFRESH_MS = 500
_TRIES = 8
_ENOUGH = 8
_HISTORY = 50
_LOWER = 0.1
_FIRST_NEAR = 0.4
_LEAST = 0.2
_NARROW = 560


@dataclass(frozen=True, slots=True)
class GraphDisplay:
    """What is shown.

    Attributes:
        mode: `EGO` or `WHOLE`.
        centre: the memory in the middle; "" while none was chosen.
        depth: edges from it.
        filter: what is left out.
    """

    mode: str = EGO
    centre: str = ""
    depth: int = 2
    filter: GraphFilter = field(default_factory=lambda: GraphFilter(min_similarity=_FIRST_NEAR))

    @property
    def off(self) -> frozenset[str]:
        """Edge types that are switched off."""
        return frozenset() if self.filter.edge_types is None else frozenset(EDGE_TYPES) - set(self.filter.edge_types)

    def with_types_off(self, off: frozenset[str]) -> GraphDisplay:
        """The same with other types switched off."""
        kept = tuple(name for name in EDGE_TYPES if name not in off) if off else None
        return replace(self, filter=replace(self.filter, edge_types=kept))


_EGO_WORDS, _EGO_SHORT = "Round one memory", "One memory"
_ASIDE = 16 + 8 + 24 + 2 * 12  # px of margins and gaps beside title and switch


class Drawn(Page):
    """The page's widgets and what is on them.

    Attributes:
        shown: what is shown, or about to be.
    """

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        theme = context.theme
        self.shown = GraphDisplay()
        self._past: list[GraphDisplay] = []
        self._candidates: list[str] = []
        self._best: EgoGraph | None = None
        self._is_shown = self._wants_focus = False
        self.reader = Reader(context, self)
        self.stage, self.legend = Stage(theme), Legend(theme)
        self.states = States(theme, self.stage, "Drawing the graph …")
        self.line, self.near, self.views = FilterLine(context), Nearness(theme), ViewsChip(theme)
        self.mode = Segments(((EGO, _EGO_WORDS), (WHOLE, "Whole vault")), EGO, "What the graph shows")
        self._count = Elided("", "muted")
        self._again = make_button("Draw it again", self._read_graph, kind="link")
        self._again.hide()
        self._refresh = make_timer(self, self._read_graph, _REFRESH_MS)
        self._build_layout()
        self._connect_reader()
        self.near.show_value(self.shown.filter.min_similarity)

    def _build_layout(self) -> None:
        # The legend's entries have room round them to be pressed: their signs stand in line with the rest all the same.
        outer = make_column(self, gap=12)
        outer.setContentsMargins(16, 16, 24, 12)
        layout = make_column(gap=12)
        layout.setContentsMargins(8, 0, 0, 0)
        outer.addLayout(layout, 1)
        self._title = make_label("Graph", "title")
        self.mode.setMinimumWidth(1)  # or its long words would be the least width of the page; see `_shorten`
        top = make_row(self._title, None, self.mode, gap=12)
        layout.addLayout(top)
        line = make_row(self.line, self.views, gap=12)
        line.setStretch(0, 1)
        layout.addLayout(line)
        layout.addWidget(self.line.trouble)
        self._said = make_row(self._count, self._again, self.near, gap=12)
        self._said.setStretch(0, 1)
        self._said.setAlignment(self.near, Qt.AlignmentFlag.AlignLeft)
        layout.addLayout(self._said)
        layout.addWidget(self.states, 1)
        outer.addWidget(self.legend)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """In a narrow window what is drawn and the slider have a line each."""
        super().resizeEvent(event)
        is_narrow = event.size().width() < self.context.theme.px(_NARROW)
        way = QBoxLayout.Direction.TopToBottom if is_narrow else QBoxLayout.Direction.LeftToRight
        self._said.setDirection(way)
        self._said.setSpacing(4 if is_narrow else 12)
        self._shorten_switch(event.size().width())

    def _shorten_switch(self, width: int) -> None:
        """Where the switch has no room for its words it has shorter ones; it would cut them."""
        self.mode.name_choice(EGO, _EGO_WORDS)
        needed = self._title.sizeHint().width() + self.mode.sizeHint().width() + _ASIDE
        if needed > width:
            self.mode.name_choice(EGO, _EGO_SHORT)

    def _connect_reader(self) -> None:
        reader = self.reader
        reader.ego.connect(self._on_ego_read)
        reader.whole.connect(self._on_whole_read)
        reader.placed.connect(self._on_layout_placed)
        reader.rows.connect(self._on_rows_read)
        reader.newest.connect(self._on_newest_found)
        reader.failed.connect(self._on_read_failed)

    def is_settled(self) -> bool:
        """Whether it shows all it is about to show."""
        if self.reader.waits or self.reader.is_placing or self._refresh.isActive():
            return False
        return self.stage.whole.is_settled if self.shown.mode == WHOLE else not self.stage.ego.is_moving

    def _focus_canvas(self) -> None:
        """The keyboard goes to the graph, as soon as there is one."""
        self._wants_focus = self.states.currentWidget() is not self.stage
        if not self._wants_focus:
            self.stage.canvas.setFocus()

    # ---- what is shown

    def _show_display(self, shown: GraphDisplay, *, remember: bool = True) -> None:
        """Show something else; what was shown can be come back to."""
        old, self.shown = self.shown, shown
        moved = (old.mode, old.centre) != (shown.mode, shown.centre)
        if remember and moved and (old.centre or old.mode == WHOLE):
            self._past = [*self._past[-_HISTORY:], old]
        self.mode.show_choice(shown.mode)
        self.stage.depths.show_choice(str(shown.depth))
        self.near.show_value(shown.filter.min_similarity)
        self.line.show_query(shown.filter.query)
        self.stage.show_back_button(is_there=bool(self._past))
        named = next((view for view in self.views.views if self._is_view(view)), None)
        self.views.show_name("" if named is None else named.name)
        if shown.centre != old.centre:
            self._candidates, self._best = [], None
        self._read_graph()

    def _is_view(self, view: GraphView) -> bool:
        shown = self.shown
        centre = None if shown.mode == WHOLE else shown.centre
        return (view.centre, view.filter) == (centre, shown.filter) and (centre is None or view.depth == shown.depth)

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
            self.reader.read_whole(replace(shown.filter, edge_types=None))
        elif shown.centre:
            self.reader.read_ego(shown.centre, shown.depth, shown.filter)
        else:
            self.reader.read_newest()

    def _current_canvas(self) -> QWidget:
        return self.stage.whole if self.shown.mode == WHOLE else self.stage.ego

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
        self.stage.ego.select_memory(self.context.selection.current)
        nodes, ties = len(graph.nodes), len(graph.edges)
        head = one_line(graph.nodes[0].row.head, 120)
        words = f"{count_memories(nodes)} and {count_of(ties, 'edge')}"
        words += f", {graph.left_out:,} more folded" if graph.left_out else ""
        words = f"{words} · round “{head}”" if nodes > 1 else f"Alone: “{head}”"
        self._show_counts(words, self.stage.ego.counts)
        self._show_alone_notice(is_alone=nodes == 1)

    def _show_alone_notice(self, *, is_alone: bool) -> None:
        near = self.shown.filter.min_similarity
        if not is_alone:
            self.stage.show_notice("")
        elif self.shown.filter.query or self.shown.off:
            self.stage.show_notice(
                "Nothing that is shown is tied to this memory.", ("Show everything", self._clear_filter)
            )
        elif near > _LEAST:
            lower = max(_LEAST, round(near - _LOWER, 2))
            self.stage.show_notice(
                f"Nothing is tied to this memory, and nothing is nearer to it in meaning than {near:.2f}.",
                (f"Look from {lower:.2f}", self._lower_similarity),
            )
        else:
            self.stage.show_notice("Nothing is tied to this memory.", ("Show the whole vault", self._show_whole))

    def _clear_filter(self) -> None:
        self._show_display(replace(self.shown, filter=GraphFilter(min_similarity=self.shown.filter.min_similarity)))

    def _set_similarity(self, value: float) -> None:
        self._show_display(replace(self.shown, filter=replace(self.shown.filter, min_similarity=value)))

    def _lower_similarity(self) -> None:
        self._set_similarity(max(_LEAST, round(self.shown.filter.min_similarity - _LOWER, 2)))
        self._focus_canvas()

    def _show_whole(self) -> None:
        self._show_display(replace(self.shown, mode=WHOLE))

    def _on_whole_read(self, graph: WholeGraph) -> None:
        if not graph.ids:
            self._show_nothing()
            return
        self._show_canvas()
        self.stage.show_notice("")
        self.stage.whole.show_graph(graph, self.shown.off)
        self.stage.whole.select_memory(self.context.selection.current)
        rooms = count_of(len(graph.group_names), "room")
        words = f"{count_memories(len(graph.ids))} in {rooms}, {count_of(len(graph.a), 'edge')}"
        self._show_counts(words, self.stage.whole.counts)

    def _on_layout_placed(self, placed: Placed) -> None:
        if self.shown.mode == WHOLE and self._is_shown:
            self.stage.whole.move_nodes(placed.xy)

    def _on_rows_read(self, rows: tuple[MemoryRow, ...]) -> None:
        self.stage.whole.show_rows(rows)

    def _on_read_failed(self, error: BaseException) -> None:
        code = error.code if isinstance(error, LociError) else None
        if code is Code.NOT_FOUND and self.shown.mode == EGO:
            # Forgotten for good meanwhile: begin with the newest.
            self._past = [one for one in self._past if one.centre != self.shown.centre]
            self.shown = replace(self.shown, centre="")
            self._read_graph()
        elif code is Code.INVALID_QUERY and isinstance(error, LociError):
            self._show_canvas()
            self.line.show_problem(error.sentence)
        else:
            problem = problem_of(error)
            if problem is not None:
                self._show_counts("", Counts({}, {}))
                self.states.show_trouble(problem, self._read_graph)

    # ---- what is said

    def _show_canvas(self) -> None:
        self.stage.show_canvas(whole=self.shown.mode == WHOLE)
        self.states.show_content()
        self.legend.show()
        if self._wants_focus:
            self._focus_canvas()

    def _show_counts(self, words: str, counts: Counts) -> None:
        self._count.set_text(words)
        self.legend.show_counts(counts, self.shown.off)
        self.near.setVisible(MEANING not in self.shown.off)

    def _show_nothing(self) -> None:
        theme, desk = self.context.theme, self.context.desk
        self._show_counts("", Counts({}, {}))
        self.legend.hide()
        if self.shown.filter.query:
            self.states.show_empty(
                EmptyState(
                    theme, "waypoints", "Nothing to draw", "No memory is like that.", ("Show all", self._clear_filter)
                )
            )
        else:
            self.states.show_empty(
                EmptyState(
                    theme, "waypoints", "No memories yet",
                    "Once there are some, this page draws how they hang together: what supports, contradicts or "
                    "replaces what, and what is near in meaning.",
                    ("Import …", lambda: desk.import_paths.emit([])),
                )
            )  # fmt: skip
