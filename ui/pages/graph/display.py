"""What is drawn on the graph page, and what is said about it: from what is wished for to the canvas.

Must not do: read by itself (`reading.py` does), paint, listen to the person (`page.py` does).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QWidget

from core.errors import Code, LociError
from core.types.views import EDGE_TYPES, MEANING, EgoGraph, GraphFilter, GraphView, MemoryRow, Placed, WholeGraph
from ui.context import Context, Page
from ui.pages.graph.legend import Counts, Legend
from ui.pages.graph.loader import Reader
from ui.pages.graph.stage import Stage
from ui.pages.graph.views import FilterLine, Nearness, ViewsChip
from ui.tasks import problem_of
from ui.widgets.basics import Elided, Segments, button, column, label, row
from ui.widgets.plaintext import one_line
from ui.widgets.states import EmptyState, States
from ui.widgets.words import count_of, memories

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

    def with_off(self, off: frozenset[str]) -> GraphDisplay:
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
        self._again = button("Draw it again", self._read, kind="link")
        self._again.hide()
        self._refresh = QTimer(self)
        self._refresh.setSingleShot(True)
        self._refresh.setInterval(_REFRESH_MS)
        self._refresh.timeout.connect(self._read)
        self._lay_out()
        self._listen()
        self.near.show_value(self.shown.filter.min_similarity)

    def _lay_out(self) -> None:
        # The legend's entries have room round them to be pressed: their signs stand in line with the rest all the same.
        outer = column(self, gap=12)
        outer.setContentsMargins(16, 16, 24, 12)
        layout = column(gap=12)
        layout.setContentsMargins(8, 0, 0, 0)
        outer.addLayout(layout, 1)
        self._title = label("Graph", "title")
        self.mode.setMinimumWidth(1)  # or its long words would be the least width of the page; see `_shorten`
        top = row(self._title, None, self.mode, gap=12)
        layout.addLayout(top)
        line = row(self.line, self.views, gap=12)
        line.setStretch(0, 1)
        layout.addLayout(line)
        layout.addWidget(self.line.trouble)
        self._said = row(self._count, self._again, self.near, gap=12)
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
        self._shorten(event.size().width())

    def _shorten(self, width: int) -> None:
        """Where the switch has no room for its words it has shorter ones; it would cut them."""
        self.mode.name_choice(EGO, _EGO_WORDS)
        needed = self._title.sizeHint().width() + self.mode.sizeHint().width() + _ASIDE
        if needed > width:
            self.mode.name_choice(EGO, _EGO_SHORT)

    def _listen(self) -> None:
        reader = self.reader
        reader.ego.connect(self._take_ego)
        reader.whole.connect(self._take_whole)
        reader.placed.connect(self._placed)
        reader.rows.connect(self._take_rows)
        reader.newest.connect(self._take_newest)
        reader.failed.connect(self._fail)

    def is_settled(self) -> bool:
        """Whether it shows all it is about to show."""
        if self.reader.waits or self.reader.is_placing or self._refresh.isActive():
            return False
        return self.stage.whole.is_settled if self.shown.mode == WHOLE else not self.stage.ego.is_moving

    def _to_canvas(self) -> None:
        """The keyboard goes to the graph, as soon as there is one."""
        self._wants_focus = self.states.currentWidget() is not self.stage
        if not self._wants_focus:
            self.stage.canvas.setFocus()

    # ---- what is shown

    def _go(self, shown: GraphDisplay, *, remember: bool = True) -> None:
        """Show something else; what was shown can be come back to."""
        old, self.shown = self.shown, shown
        moved = (old.mode, old.centre) != (shown.mode, shown.centre)
        if remember and moved and (old.centre or old.mode == WHOLE):
            self._past = [*self._past[-_HISTORY:], old]
        self.mode.show_choice(shown.mode)
        self.stage.depths.show_choice(str(shown.depth))
        self.near.show_value(shown.filter.min_similarity)
        self.line.show_query(shown.filter.query)
        self.stage.show_back(is_there=bool(self._past))
        named = next((view for view in self.views.views if self._is_view(view)), None)
        self.views.show_name("" if named is None else named.name)
        if shown.centre != old.centre:
            self._candidates, self._best = [], None
        self._read()

    def _is_view(self, view: GraphView) -> bool:
        shown = self.shown
        centre = None if shown.mode == WHOLE else shown.centre
        return (view.centre, view.filter) == (centre, shown.filter) and (centre is None or view.depth == shown.depth)

    # ---- reading

    def _read(self) -> None:
        if not self._is_shown:
            self.is_stale = True
            return
        self.is_stale = False
        self._again.hide()
        if not self.stage.canvas.ids or self.stage.canvas is not self._canvas():
            self.states.loading()
        shown = self.shown
        if shown.mode == WHOLE:
            self.reader.read_whole(replace(shown.filter, edge_types=None))
        elif shown.centre:
            self.reader.read_ego(shown.centre, shown.depth, shown.filter)
        else:
            self.reader.read_newest()

    def _canvas(self) -> QWidget:
        return self.stage.whole if self.shown.mode == WHOLE else self.stage.ego

    def _take_newest(self, ids: tuple[str, ...]) -> None:
        if not ids:
            self._show_nothing()
            return
        # The first picture shall show something: of the newest memories the first that is tied to several others.
        self._candidates, self._best = list(ids[1:_TRIES]), None
        self.shown = replace(self.shown, centre=ids[0])
        self.reader.read_ego(ids[0], self.shown.depth, self.shown.filter)

    def _take_ego(self, graph: EgoGraph) -> None:
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
        self.stage.ego.choose(self.context.selection.current)
        nodes, ties = len(graph.nodes), len(graph.edges)
        head = one_line(graph.nodes[0].row.head, 120)
        words = f"{memories(nodes)} and {count_of(ties, 'edge')}"
        words += f", {graph.left_out:,} more folded" if graph.left_out else ""
        words = f"{words} · round “{head}”" if nodes > 1 else f"Alone: “{head}”"
        self._say(words, self.stage.ego.counts)
        self._say_alone(is_alone=nodes == 1)

    def _say_alone(self, *, is_alone: bool) -> None:
        near = self.shown.filter.min_similarity
        if not is_alone:
            self.stage.notice("")
        elif self.shown.filter.query or self.shown.off:
            self.stage.notice("Nothing that is shown is tied to this memory.", ("Show everything", self._clear))
        elif near > _LEAST:
            lower = max(_LEAST, round(near - _LOWER, 2))
            self.stage.notice(
                f"Nothing is tied to this memory, and nothing is nearer to it in meaning than {near:.2f}.",
                (f"Look from {lower:.2f}", self._look_farther),
            )
        else:
            self.stage.notice("Nothing is tied to this memory.", ("Show the whole vault", self._show_whole))

    def _clear(self) -> None:
        self._go(replace(self.shown, filter=GraphFilter(min_similarity=self.shown.filter.min_similarity)))

    def _similarity(self, value: float) -> None:
        self._go(replace(self.shown, filter=replace(self.shown.filter, min_similarity=value)))

    def _look_farther(self) -> None:
        self._similarity(max(_LEAST, round(self.shown.filter.min_similarity - _LOWER, 2)))
        self._to_canvas()

    def _show_whole(self) -> None:
        self._go(replace(self.shown, mode=WHOLE))

    def _take_whole(self, graph: WholeGraph) -> None:
        if not graph.ids:
            self._show_nothing()
            return
        self._show_canvas()
        self.stage.notice("")
        self.stage.whole.show_graph(graph, self.shown.off)
        self.stage.whole.choose(self.context.selection.current)
        rooms = count_of(len(graph.group_names), "room")
        words = f"{memories(len(graph.ids))} in {rooms}, {count_of(len(graph.a), 'edge')}"
        self._say(words, self.stage.whole.counts)

    def _placed(self, placed: Placed) -> None:
        if self.shown.mode == WHOLE and self._is_shown:
            self.stage.whole.place(placed.xy)

    def _take_rows(self, rows: tuple[MemoryRow, ...]) -> None:
        self.stage.whole.show_rows(rows)

    def _fail(self, error: BaseException) -> None:
        code = error.code if isinstance(error, LociError) else None
        if code is Code.NOT_FOUND and self.shown.mode == EGO:
            # Forgotten for good meanwhile: begin with the newest.
            self._past = [one for one in self._past if one.centre != self.shown.centre]
            self.shown = replace(self.shown, centre="")
            self._read()
        elif code is Code.INVALID_QUERY and isinstance(error, LociError):
            self._show_canvas()
            self.line.complain(error.sentence)
        else:
            problem = problem_of(error)
            if problem is not None:
                self._say("", Counts({}, {}))
                self.states.trouble(problem, self._read)

    # ---- what is said

    def _show_canvas(self) -> None:
        self.stage.show_canvas(whole=self.shown.mode == WHOLE)
        self.states.content()
        self.legend.show()
        if self._wants_focus:
            self._to_canvas()

    def _say(self, words: str, counts: Counts) -> None:
        self._count.say(words)
        self.legend.show_counts(counts, self.shown.off)
        self.near.setVisible(MEANING not in self.shown.off)

    def _show_nothing(self) -> None:
        theme, desk = self.context.theme, self.context.desk
        self._say("", Counts({}, {}))
        self.legend.hide()
        if self.shown.filter.query:
            self.states.empty(
                EmptyState(theme, "waypoints", "Nothing to draw", "No memory is like that.", ("Show all", self._clear))
            )
        else:
            self.states.empty(
                EmptyState(
                    theme, "waypoints", "No memories yet",
                    "Once there are some, this page draws how they hang together: what supports, contradicts or "
                    "replaces what, and what is near in meaning.",
                    ("Import …", lambda: desk.import_paths.emit([])),
                )
            )  # fmt: skip
