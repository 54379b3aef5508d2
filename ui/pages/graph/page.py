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
        self._connect()

    def _connect(self) -> None:
        for canvas in (self.stage.ego, self.stage.whole):
            canvas.picked.connect(self._on_memory_picked)
            canvas.opened.connect(self.centre_on)
        self.stage.whole.wanted.connect(self.reader.read_rows)
        self.stage.back.connect(self.go_back)
        self.stage.depth_chosen.connect(self._depth)
        self.mode.chosen.connect(self._mode)
        self.line.changed.connect(self._query)
        self.line.left.connect(self._focus_canvas)
        self.near.changed.connect(self._similarity)
        self.legend.switched.connect(self._switch)
        self.views.taken.connect(self._take_view)
        self.views.save_asked.connect(self._ask_name)
        self.views.drop_asked.connect(self.reader.drop_view)
        self.reader.views.connect(self._show_views)
        self.context.selection.changed.connect(self._looked_at)
        keys = QShortcut(QKeySequence("Alt+Left"), self, context=Qt.ShortcutContext.WidgetWithChildrenShortcut)
        keys.activated.connect(self.go_back)

    # ---- the page's life

    def enter(self, wish: str = "") -> None:
        """Show it; a wish is a memory for the middle, or the whole vault."""
        self._is_shown = True
        selected = self.context.selection.current
        if wish.startswith(SHOW):
            self._go(replace(self.shown, mode=EGO, centre=wish.removeprefix(SHOW)))
        elif wish == WHOLE:
            self._go(replace(self.shown, mode=WHOLE))
        elif self.shown.mode == EGO and selected and selected != self._followed:
            self._go(replace(self.shown, centre=selected))
        elif self.is_stale:
            self._read()
        self.reader.read_views()
        self._focus_canvas()

    def leave(self) -> None:
        """Another page is shown: nothing runs here any more."""
        self._is_shown = False
        self.is_stale = self.is_stale or self._refresh.isActive() or self.reader.waits > 0 or self.reader.is_placing
        self.reader.cancel()
        self._rest()

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802 - Qt's name
        """No timer runs while nobody looks."""
        super().hideEvent(event)
        self._rest()

    def _rest(self) -> None:
        self._refresh.stop()
        self.line.rest()
        self.near.rest()
        self.stage.ego.rest()
        self.stage.whole.rest()

    def changed(self, change: Changed) -> None:
        """Something is different: a small graph is read again, the whole vault only when the person asks."""
        if change.verb in {"save_view", "drop_view"}:
            if self._is_shown:
                self.reader.read_views()
            return
        super().changed(change)
        self.stage.whole.forget()
        if not self._is_shown:
            return
        if self.shown.mode == WHOLE and self.stage.whole.ids:
            self._again.show()
        elif not self._refresh.isActive():
            self._refresh.start()

    # ---- what is shown

    def centre_on(self, memory_id: str) -> None:
        """Put a memory into the middle."""
        self._followed = memory_id
        self.context.selection.select(memory_id, ORIGIN)
        self._go(replace(self.shown, mode=EGO, centre=memory_id))

    def go_back(self) -> None:
        """Show what was shown before."""
        if self._past:
            before = self._past.pop()
            if before.mode == EGO:
                self._followed = before.centre
                self.context.selection.select(before.centre, ORIGIN)
            self._go(replace(before, filter=self.shown.filter), remember=False)

    def _mode(self, mode: str) -> None:
        selected = self.context.selection.current
        self._go(replace(self.shown, mode=mode, centre=selected if mode == EGO and selected else self.shown.centre))

    def _depth(self, depth: int) -> None:
        self._go(replace(self.shown, depth=depth))

    def _query(self, query: str) -> None:
        self._go(replace(self.shown, filter=replace(self.shown.filter, query=query)))

    def _switch(self, edge_type: str, is_on: bool) -> None:
        off = self.shown.off - {edge_type} if is_on else self.shown.off | {edge_type}
        shown = self.shown.with_off(off)
        if self.shown.mode == WHOLE:
            # All of the vault was read: nothing moves when a type is hidden or shown.
            self.shown = shown
            self.views.show_name("")
            self.stage.whole.switch(off)
            self.legend.show_counts(self.stage.whole.counts, off)
        else:
            self._go(shown)

    def _on_memory_picked(self, memory_id: str) -> None:
        self._followed = memory_id
        self.context.selection.select(memory_id, ORIGIN)

    def _looked_at(self, memory_id: str, origin: str) -> None:
        if origin == ORIGIN or not self._is_shown:
            return
        self._followed = memory_id
        if not self.stage.canvas.choose(memory_id) and memory_id and self.shown.mode == EGO:
            self._go(replace(self.shown, centre=memory_id))

    # ---- named views

    def _show_views(self, views: tuple[GraphView, ...]) -> None:
        named = next((view.name for view in views if self._is_view(view)), "")
        self.views.show_views(views, named)

    def _take_view(self, view: GraphView) -> None:
        mode = WHOLE if view.centre is None else EGO
        self._followed = view.centre or self._followed
        self._go(GraphDisplay(mode, view.centre or self.shown.centre, view.depth, view.filter))

    def _ask_name(self) -> None:
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
