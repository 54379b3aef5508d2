"""The graph page: a neighborhood, paths, or the whole vault; what the person and other pages ask of it.

Must not do: read by itself (`display.py` does), paint.
"""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import Qt
from PySide6.QtGui import QHideEvent, QKeySequence, QShortcut

from core.events import Changed
from core.types.views import MEANING, OWNER_NODE, GraphView
from ui.context import CLOSER, Context, PageSpec
from ui.pages.graph.display import GraphReadings
from ui.pages.graph.frame import EGO, ORIGIN, OUTDATED, SHOW, SHOWS_OUTDATED, WHOLE, GraphDisplay
from ui.pages.graph.views import NameDialog
from ui.strings import graph_strings


class GraphPage(GraphReadings):
    """The Graph page."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._followed = ""
        self._connect_signals()

    def _connect_signals(self) -> None:
        self.states.changed.connect(self.note_empty)
        for canvas in (self.stage.ego, self.stage.whole):
            canvas.picked.connect(self._on_node_picked)
            canvas.opened.connect(self._open_node)
            canvas.centered.connect(self.center_on)
            canvas.path_wanted.connect(self._on_path_wanted)
            canvas.closed.connect(self._on_escape)
        self.stage.overview.opened.connect(self._open_community)
        self.stage.overview.centered.connect(self._open_community)
        self.stage.overview.closed.connect(self._on_escape)
        self.stage.whole.wanted.connect(self.reader.read_rows)
        self.stage.back.connect(self.go_back)
        self.stage.depth_chosen.connect(self._on_depth_chosen)
        self.panel.closed.connect(self.go_back)
        self.panel.wider.connect(lambda: self._on_switched("messages", is_on=True))
        self.switches.switched.connect(lambda name, is_on: self._on_switched(name, is_on=is_on))
        self.mode.chosen.connect(self._on_mode_chosen)
        self.begin.chosen.connect(self.center_on)
        self.begin.chosen.connect(lambda _: self._focus_canvas())
        self.begin.asked.connect(self.reader.read_names)
        self.begin.missed.connect(self.context.desk.show_message)
        self.reader.names.connect(self.begin.offer_names)
        self.line.changed.connect(self._on_query_changed)
        self.line.left.connect(self._focus_canvas)
        self.similarity.changed.connect(self._set_similarity)
        self.legend.switched.connect(self._on_edge_type_toggled)
        self.views.taken.connect(self._on_view_chosen)
        self.views.save_asked.connect(self._ask_view_name)
        self.views.drop_asked.connect(self.store.remove_view)
        self.store.views.connect(self._show_views)
        self.context.selection.changed.connect(self._on_selection_changed)
        keys = QShortcut(QKeySequence("Alt+Left"), self, context=Qt.ShortcutContext.WidgetWithChildrenShortcut)
        keys.activated.connect(self.go_back)

    # ---- the page's life

    def activate(self, target: str = "") -> None:
        """Show it; a target is a memory or an entity for the middle, or the whole vault."""
        self._is_shown = True
        if target.startswith(SHOW):
            self._show_display(replace(self.shown, mode=EGO, centre=target.removeprefix(SHOW), end=""))
        elif target == WHOLE:
            self._show_whole()
        elif self.is_stale:
            self._read_graph()
        self.store.read_views()
        self._focus_canvas()

    def deactivate(self) -> None:
        """Another page is shown: nothing runs here any more."""
        self._is_shown = False
        self.is_stale = (
            self.is_stale or self._refresh.isActive() or self.reader.pending_reads > 0 or self.reader.is_placing
        )
        self.reader.cancel_layout()
        self._stop_motion()

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802 - Qt's name
        """No timer runs while nobody looks."""
        super().hideEvent(event)
        self._stop_motion()

    def _stop_motion(self) -> None:
        self._refresh.stop()
        self.line.stop_timer()
        self.similarity.stop_timer()
        for canvas in self.stage.canvases:
            canvas.stop_motion()

    def handle_change(self, change: Changed) -> None:
        """Something is different: a small graph is read again, the whole vault only when the person asks."""
        if change.verb in {"save_view", "drop_view"}:
            if self._is_shown:
                self.store.read_views()
            return
        super().handle_change(change)
        self.stage.whole.forget_rows()
        if not self._is_shown:
            return
        if self.shown.mode == WHOLE and self._vault is not None:
            self._again.show()
        elif not self._refresh.isActive():
            self._refresh.start()

    # ---- what is shown

    def center_on(self, node_id: str) -> None:
        """Put a memory or an entity into the middle."""
        self.stage.stop_choosing()
        self._note_selected(node_id)
        self._show_display(replace(self.shown, mode=EGO, centre=node_id, end="", community=""))

    def _note_selected(self, node_id: str) -> None:
        """The window looks at a memory that is chosen here; an entity has a page of its own."""
        canvas = self.stage.canvas
        if node_id in canvas.ids and canvas.is_memory(canvas.ids.index(node_id)):
            self._followed = node_id
            self.context.selection.select(node_id, ORIGIN)

    def _open_node(self, node_id: str) -> None:
        """A memory in the inspector, an entity on its page."""
        canvas = self.stage.canvas
        if canvas.is_memory(canvas.ids.index(node_id)):
            self._followed = node_id
            self.context.selection.reselect(node_id, CLOSER)
        elif node_id != OWNER_NODE:
            self.context.desk.go.emit("entities", node_id)

    def _open_community(self, number: str) -> None:
        if self._vault is not None:
            self._show_display(replace(self.shown, community=self._vault.group_names[int(number)]))
            self._focus_canvas()

    # ---- paths

    def _on_path_wanted(self, start: str, end: str) -> None:
        if end:
            self.stage.stop_choosing()
            self._show_display(replace(self.shown, mode=EGO, centre=start, end=end, community=""))
            return
        self.stage.choose_path_end(start)

    def _on_escape(self) -> None:
        if self.stage.canvas.path_from:
            self.stage.stop_choosing()
        elif self.shown.end or self.shown.community:
            self.go_back()

    def go_back(self) -> None:
        """Show what was shown before."""
        if self._past:
            before = self._past.pop()
            self.stage.stop_choosing()
            self._show_display(replace(before, filter=self.shown.filter), remember=False)
            self._focus_canvas()

    def _on_mode_chosen(self, mode: str) -> None:
        self._show_display(replace(self.shown, mode=mode, end="", community=""))

    def _on_switched(self, name: str, *, is_on: bool) -> None:
        if name == MEANING and self.shown.mode == WHOLE:
            self._on_edge_type_toggled(name, is_on)
        else:
            if name == OUTDATED:
                self.context.prefs.store_value(SHOWS_OUTDATED, "on" if is_on else "")
            self._show_display(self.shown.with_switch(name, is_on=is_on))

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
            self._show_filter()
            self._show_counts(self._count.whole, self._whole_counts())
        else:
            self._show_display(shown)

    def _on_node_picked(self, node_id: str) -> None:
        self._note_selected(node_id)
        self.stage.show_actions()

    def _on_selection_changed(self, memory_id: str, origin: str) -> None:
        if origin == ORIGIN or not self._is_shown:
            return
        self._followed = memory_id
        is_drawn = self.stage.canvas.select_node(memory_id)
        self.stage.show_actions()
        if not is_drawn and memory_id and self.shown.mode == EGO and not self.shown.end:
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
        self.store.save_view(GraphView(name, centre, shown.depth, shown.filter))


GRAPH = PageSpec("graph", graph_strings, "waypoints", GraphPage)
"""How the page is registered."""
