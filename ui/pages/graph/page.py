"""The graph page: what lies round one memory, or the whole vault; what the person and other pages ask of it.

Must not do: read by itself (`display.py` does), paint.
"""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import Qt
from PySide6.QtGui import QHideEvent, QKeySequence, QShortcut

from core.events import Changed
from core.types.views import GraphView
from ui.context import Context, PageSpec
from ui.pages.graph.display import EGO, ORIGIN, SHOW, WHOLE, Drawn, GraphDisplay
from ui.pages.graph.views import NameDialog


class GraphPage(Drawn):
    """The Graph page."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._followed = ""
        self._connect_signals()

    def _connect_signals(self) -> None:
        for canvas in (self.stage.ego, self.stage.whole):
            canvas.picked.connect(self._on_memory_picked)
            canvas.opened.connect(self.center_on)
        self.stage.whole.wanted.connect(self.reader.read_rows)
        self.stage.back.connect(self.go_back)
        self.stage.depth_chosen.connect(self._on_depth_chosen)
        self.mode.chosen.connect(self._on_mode_chosen)
        self.line.changed.connect(self._on_query_changed)
        self.line.left.connect(self._focus_canvas)
        self.near.changed.connect(self._set_similarity)
        self.legend.switched.connect(self._on_edge_type_toggled)
        self.views.taken.connect(self._on_view_chosen)
        self.views.save_asked.connect(self._ask_view_name)
        self.views.drop_asked.connect(self.reader.remove_view)
        self.reader.views.connect(self._show_views)
        self.context.selection.changed.connect(self._on_selection_changed)
        keys = QShortcut(QKeySequence("Alt+Left"), self, context=Qt.ShortcutContext.WidgetWithChildrenShortcut)
        keys.activated.connect(self.go_back)

    # ---- the page's life

    def activate(self, wish: str = "") -> None:
        """Show it; a wish is a memory for the middle, or the whole vault."""
        self._is_shown = True
        selected = self.context.selection.current
        if wish.startswith(SHOW):
            self._show_display(replace(self.shown, mode=EGO, centre=wish.removeprefix(SHOW)))
        elif wish == WHOLE:
            self._show_display(replace(self.shown, mode=WHOLE))
        elif self.shown.mode == EGO and selected and selected != self._followed:
            self._show_display(replace(self.shown, centre=selected))
        elif self.is_stale:
            self._read_graph()
        self.reader.read_views()
        self._focus_canvas()

    def deactivate(self) -> None:
        """Another page is shown: nothing runs here any more."""
        self._is_shown = False
        self.is_stale = self.is_stale or self._refresh.isActive() or self.reader.waits > 0 or self.reader.is_placing
        self.reader.cancel_layout()
        self._stop_motion()

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802 - Qt's name
        """No timer runs while nobody looks."""
        super().hideEvent(event)
        self._stop_motion()

    def _stop_motion(self) -> None:
        self._refresh.stop()
        self.line.stop_timer()
        self.near.stop_timer()
        self.stage.ego.stop_motion()
        self.stage.whole.stop_motion()

    def handle_change(self, change: Changed) -> None:
        """Something is different: a small graph is read again, the whole vault only when the person asks."""
        if change.verb in {"save_view", "drop_view"}:
            if self._is_shown:
                self.reader.read_views()
            return
        super().handle_change(change)
        self.stage.whole.forget_rows()
        if not self._is_shown:
            return
        if self.shown.mode == WHOLE and self.stage.whole.ids:
            self._again.show()
        elif not self._refresh.isActive():
            self._refresh.start()

    # ---- what is shown

    def center_on(self, memory_id: str) -> None:
        """Put a memory into the middle."""
        self._followed = memory_id
        self.context.selection.select(memory_id, ORIGIN)
        self._show_display(replace(self.shown, mode=EGO, centre=memory_id))

    def go_back(self) -> None:
        """Show what was shown before."""
        if self._past:
            before = self._past.pop()
            if before.mode == EGO:
                self._followed = before.centre
                self.context.selection.select(before.centre, ORIGIN)
            self._show_display(replace(before, filter=self.shown.filter), remember=False)

    def _on_mode_chosen(self, mode: str) -> None:
        selected = self.context.selection.current
        self._show_display(
            replace(self.shown, mode=mode, centre=selected if mode == EGO and selected else self.shown.centre)
        )

    def _on_depth_chosen(self, depth: int) -> None:
        self._show_display(replace(self.shown, depth=depth))

    def _on_query_changed(self, query: str) -> None:
        self._show_display(replace(self.shown, filter=replace(self.shown.filter, query=query)))

    def _on_edge_type_toggled(self, edge_type: str, is_on: bool) -> None:
        off = self.shown.off - {edge_type} if is_on else self.shown.off | {edge_type}
        shown = self.shown.with_types_off(off)
        if self.shown.mode == WHOLE:
            # All of the vault was read: nothing moves when a type is hidden or shown.
            self.shown = shown
            self.views.show_name("")
            self.stage.whole.show_edge_types(off)
            self.legend.show_counts(self.stage.whole.counts, off)
        else:
            self._show_display(shown)

    def _on_memory_picked(self, memory_id: str) -> None:
        self._followed = memory_id
        self.context.selection.select(memory_id, ORIGIN)

    def _on_selection_changed(self, memory_id: str, origin: str) -> None:
        if origin == ORIGIN or not self._is_shown:
            return
        self._followed = memory_id
        if not self.stage.canvas.select_memory(memory_id) and memory_id and self.shown.mode == EGO:
            self._show_display(replace(self.shown, centre=memory_id))

    # ---- named views

    def _show_views(self, views: tuple[GraphView, ...]) -> None:
        named = next((view.name for view in views if self._is_view(view)), "")
        self.views.show_views(views, named)

    def _on_view_chosen(self, view: GraphView) -> None:
        mode = WHOLE if view.centre is None else EGO
        self._followed = view.centre or self._followed
        self._show_display(GraphDisplay(mode, view.centre or self.shown.centre, view.depth, view.filter))

    def _ask_view_name(self) -> None:
        taken = [view.name for view in self.views.views]
        NameDialog(self.context.theme, taken, "", self._save_view, self).open()

    def _save_view(self, name: str) -> None:
        shown = self.shown
        centre = None if shown.mode == WHOLE else shown.centre
        self.reader.save_view(GraphView(name, centre, shown.depth, shown.filter))


GRAPH = PageSpec(
    "graph", "Graph", "waypoints", GraphPage, "network relations edges neighbours whole vault near in meaning"
)
"""How the page is registered."""
