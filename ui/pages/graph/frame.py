"""The graph page's widgets: filter line, switches, canvases, list of paths, legend; and what is shown on them.

Must not do: read, paint, or listen to the person.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout

from core.types.views import EDGE_TYPES, MEANING, USUAL_TYPES, GraphFilter, GraphView, WholeGraph
from ui.context import Context, WindowPage
from ui.pages.graph.canvas import GraphCanvas
from ui.pages.graph.legend import GraphCounts, GraphLegend
from ui.pages.graph.loader import GraphLoader, ViewStore
from ui.pages.graph.overview import count_graph
from ui.pages.graph.paths import PathsPanel
from ui.pages.graph.stage import GraphStage
from ui.pages.graph.views import DisplaySwitches, FilterLine, SimilaritySlider, StartNameField, ViewsChip
from ui.strings import graph_strings
from ui.theme.tokens import sizes
from ui.widgets.basics import Elided, Segments, make_button, make_column, make_label, make_row
from ui.widgets.states import States

ORIGIN = "graph"
SHOW: Final = "show:"
"""A target: put this memory or entity into the middle."""
WHOLE: Final = "whole"
"""A target: show the whole vault. Also the name of that mode, as `EGO` is of the other."""
EGO: Final = "ego"
OUTDATED: Final = "outdated"
"""The switch of what was replaced."""
SHOWS_OUTDATED: Final = "graph.outdated"
"""The state that remembers that switch; empty while it is off."""
_FIRST_NEAR = 0.4
_ENDLESS = 16_777_215  # Qt's own largest size


@dataclass(frozen=True, slots=True)
class GraphDisplay:
    """What is shown.

    Attributes:
        mode: `EGO` or `WHOLE`.
        centre: the memory or entity in the middle; "" while none was chosen.
        depth: edges from it.
        filter: what is left out.
        end: the node to which paths lead from the centre; "" for its neighborhood.
        community: name of the community that is open; "" for all of them.
    """

    mode: str = EGO
    centre: str = ""
    depth: int = 2
    filter: GraphFilter = field(default_factory=lambda: GraphFilter(min_similarity=_FIRST_NEAR, hides_outdated=True))
    end: str = ""
    community: str = ""

    @property
    def off(self) -> frozenset[str]:
        """Edge types that are switched off."""
        shown = USUAL_TYPES if self.filter.edge_types is None else self.filter.edge_types
        return frozenset(EDGE_TYPES) - set(shown)

    def with_types_off(self, off: frozenset[str]) -> GraphDisplay:
        """The same with other types switched off."""
        shown = tuple(name for name in EDGE_TYPES if name not in off)
        return replace(self, filter=replace(self.filter, edge_types=None if shown == USUAL_TYPES else shown))

    def with_switch(self, name: str, *, is_on: bool) -> GraphDisplay:
        """The same with a switch on or off.

        Args:
            name: one of `views.SWITCHES`.
        """
        if name == MEANING:
            return self.with_types_off(self.off - {MEANING} if is_on else self.off | {MEANING})
        hides = {one: not state for one, state in (self.switches | {name: is_on}).items()}
        return replace(
            self,
            filter=replace(
                self.filter,
                hides_small_talk=hides["small_talk"],
                hides_messages=hides["messages"],
                hides_outdated=hides["outdated"],
            ),
        )

    @property
    def switches(self) -> dict[str, bool]:
        """Which switches are on."""
        wanted = self.filter
        return {
            MEANING: MEANING not in self.off,
            "small_talk": not wanted.hides_small_talk,
            "messages": not wanted.hides_messages,
            "outdated": not wanted.hides_outdated,
        }


class GraphFrame(WindowPage):
    """The page's widgets.

    Attributes:
        shown: what is shown, or about to be.
    """

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        theme, strings = context.theme, graph_strings()
        self.shown = GraphDisplay().with_switch(OUTDATED, is_on=bool(context.prefs.read_text(SHOWS_OUTDATED)))
        self._past: list[GraphDisplay] = []
        self._vault: WholeGraph | None = None
        self._is_shown = self._wants_focus = False
        self.reader, self.store = GraphLoader(context, self), ViewStore(context, self)
        self.stage, self.legend, self.panel = GraphStage(theme), GraphLegend(theme), PathsPanel(theme)
        self.panel.hide()
        self.states = States(theme, self.stage, f"{strings['tasks']['ego']} …")
        self.line, self.similarity, self.views = FilterLine(context), SimilaritySlider(theme), ViewsChip(theme)
        self.switches = DisplaySwitches()
        self.mode = Segments(
            ((EGO, strings["modes"]["ego"]), (WHOLE, strings["modes"]["whole"])), EGO, graph_strings()["mode"]
        )
        self.begin = StartNameField()
        self._count = Elided("", "muted")
        self._again = make_button(strings["empty"]["again"], kind="link")
        self._again.hide()
        self._build_layout()
        self._show_filter()

    def _build_layout(self) -> None:
        # The legend's entries have room round them to be pressed: their signs are in line with the rest all the same.
        outer = make_column(self, gap=10)
        outer.setContentsMargins(16, 16, 24, 10)
        layout = make_column(gap=10)
        layout.setContentsMargins(8, 0, 0, 0)
        outer.addLayout(layout, 1)
        self.mode.setMinimumWidth(1)
        layout.addLayout(make_row(make_label(graph_strings()["title"], "title"), None, self.mode, gap=12))
        line = make_row(self.begin, self.line, self.views, gap=12)
        line.setStretch(0, 1)
        line.setStretch(1, 2)
        layout.addLayout(line)
        layout.addWidget(self.line.trouble)
        self._filters = make_row(self.switches, self.similarity, gap=12)
        self._filters.setStretch(0, 1)
        self._filters.setAlignment(self.similarity, Qt.AlignmentFlag.AlignLeft)
        layout.addLayout(self._filters)
        status = make_row(self._count, self._again, gap=12)
        status.setStretch(0, 1)
        layout.addLayout(status)
        self._body = make_row(self.states, self.panel, gap=12)
        self._body.setStretch(0, 1)
        layout.addLayout(self._body, 1)
        outer.addWidget(self.legend)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """In a narrow window what is side by side is one below the other."""
        super().resizeEvent(event)
        theme = self.context.theme
        is_narrow = event.size().width() < theme.px(sizes().page_narrow)
        way = QBoxLayout.Direction.TopToBottom if is_narrow else QBoxLayout.Direction.LeftToRight
        self._filters.setDirection(way)
        self._filters.setSpacing(4 if is_narrow else 12)
        self._body.setDirection(way)
        wide, high = theme.px(sizes().list), theme.px(sizes().row * 5)
        self.panel.setMinimumSize(0 if is_narrow else wide, high if is_narrow else 0)
        self.panel.setMaximumSize(_ENDLESS if is_narrow else wide, high if is_narrow else _ENDLESS)

    def is_settled(self) -> bool:
        """Whether it shows all it is about to show."""
        if self.reader.pending_reads or self.reader.is_placing:
            return False
        if self._current_canvas() is self.stage.whole:
            return self.stage.whole.is_settled
        return not self.stage.ego.is_moving

    def _focus_canvas(self) -> None:
        """The keyboard goes to the graph, as soon as there is one."""
        self._wants_focus = self.states.currentWidget() is not self.stage
        if not self._wants_focus:
            self.stage.canvas.setFocus()

    def _show_filter(self) -> None:
        """Show what is asked for on the controls."""
        shown = self.shown
        self.mode.show_choice(shown.mode)
        self.stage.depths.show_choice(str(shown.depth))
        self.similarity.show_value(shown.filter.min_similarity)
        self.similarity.setVisible(MEANING not in shown.off)
        self.switches.show_states(shown.switches)
        self.line.show_query(shown.filter.query)
        self.stage.show_back_button(is_there=bool(self._past))

    def _is_view(self, view: GraphView) -> bool:
        shown = self.shown
        centre = None if shown.mode == WHOLE else shown.centre
        is_plain = not (shown.end or shown.community)
        same = (view.centre, view.filter) == (centre, shown.filter)
        return is_plain and same and (centre is None or view.depth == shown.depth)

    def _current_canvas(self) -> GraphCanvas:
        if self.shown.mode == EGO:
            return self.stage.ego
        return self.stage.whole if self.shown.community else self.stage.overview

    def _show_canvas(self) -> None:
        shown = self.shown
        self.panel.hide()
        self.stage.show_canvas(self._current_canvas(), has_depth=shown.mode == EGO and not shown.end)
        self.stage.show_back_button(is_there=bool(self._past))
        self.states.show_content()
        self.legend.show()
        if self._wants_focus:
            self._focus_canvas()

    def _show_counts(self, text: str, counts: GraphCounts) -> None:
        self._count.set_text(text)
        off = self.shown.off
        ties = {name: count for name, count in counts.ties.items() if name != MEANING or MEANING not in off}
        self.legend.show_counts(replace(counts, ties=ties), off - {MEANING})

    def _whole_counts(self) -> GraphCounts:
        """What the whole vault or its open community holds."""
        if self.shown.community or self._vault is None:
            return self.stage.whole.counts
        return count_graph(self._vault)
