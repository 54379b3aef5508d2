"""The timeline page: over time, or the line of a topic; what both are narrowed by.

Must not do: know another page.
"""

from __future__ import annotations

from core.types.values import Kind
from core.types.views import Facets, TimeFilter
from ui.bridge import make_query
from ui.context import Context, PageSpec, RefreshingPage
from ui.pages.timeline.evolution import EvolutionTab
from ui.pages.timeline.over_time import OverTime
from ui.strings import timeline_strings
from ui.widgets.basics import (
    FlowLayout,
    MenuChip,
    Segments,
    Stack,
    make_button,
    make_column,
    make_label,
    make_row,
    make_scroll_area,
)
from ui.widgets.labels import KIND_PLURALS
from ui.widgets.plaintext import one_line

ORIGIN = "timeline"
ASK = "ask:"
"""Begins a target that names the topic of the line; the topic follows."""
_TABS = ("time", "topic")
_STATE = "timeline.tab"
_ALL = ""


class TimelinePage(RefreshingPage):
    """The Timeline page."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        strings = timeline_strings()["page"]
        stored = context.prefs.read_text(_STATE, "time")
        self.tab = stored if stored in _TABS else "time"
        self.segments = Segments([(tab, strings["tab_names"][tab]) for tab in _TABS], self.tab, strings["tabs"])
        self.time, self.topic = OverTime(context), EvolutionTab(context)
        kinds = {_ALL: strings["all"]} | {kind.value: KIND_PLURALS[kind] for kind in Kind}
        self.kinds = MenuChip(context.theme, strings["kind"], kinds, _ALL)
        self.spaces = MenuChip(context.theme, strings["space"], {_ALL: strings["all"]}, _ALL)
        self.over = make_button(strings["outdated"], kind="chip", hint=strings["outdated_hint"])
        self.over.setCheckable(True)
        self._stack = Stack()
        for tab in (self.time, self.topic):
            self._stack.addWidget(make_scroll_area(tab))  # large text needs more height than a small window has
        self._build_layout()
        self.segments.chosen.connect(self.show_tab)
        self.kinds.chosen.connect(lambda _: self._apply_filter())
        self.spaces.chosen.connect(lambda _: self._apply_filter())
        self.over.clicked.connect(lambda: self._apply_filter())
        self.time.below.looked_at.connect(self._on_memory_chosen)
        self.topic.looked_at.connect(self._on_memory_chosen)
        context.selection.changed.connect(self._on_selection_changed)

    def _build_layout(self) -> None:
        layout = make_column(self, gap=10)
        layout.setContentsMargins(24, 16, 24, 16)
        header = make_row(make_label(timeline_strings()["page"]["title"], "title"), None, gap=10)
        header.addStrut(self.context.theme.px(self.context.theme.tokens.sizes.control))
        layout.addLayout(header)
        flow = FlowLayout(gap=6)
        for widget in (self.segments, self.kinds, self.spaces, self.over):
            flow.addWidget(widget)
        layout.addLayout(flow)
        layout.addWidget(self._stack, 1)
        self._show_tab()

    # ---- the page's life

    def activate(self, target: str = "") -> None:
        """Show the page and read what it needs.

        Args:
            target: `time`, `topic`, or `ask:` with a topic behind it; "" for what was shown last.
        """
        super().activate(target)
        tab = "topic" if target.startswith(ASK) else target
        if tab in _TABS and tab != self.tab:
            self.segments.show_choice(tab)
            self.show_tab(tab)
        elif self.is_stale:
            self.reload_stale()
        if self.tab == "topic":
            self.topic.activate()
            if target.startswith(ASK):
                self.topic.show_topic(target.removeprefix(ASK))
        else:
            self.time.plot.front.setFocus()

    def deactivate(self) -> None:
        """Another page is shown: nothing runs here any more."""
        super().deactivate()
        self.time.below.stop_timer()

    def is_settled(self) -> bool:
        """Whether the tab that is shown was read."""
        tab = self.time if self.tab == "time" else self.topic
        return tab.is_settled and not self._refresh.isActive()

    # ---- tabs and filters

    def show_tab(self, name: str) -> None:
        """Show one of the tabs.

        Args:
            name: `time` or `topic`.
        """
        self.tab = name
        self.context.prefs.store_value(_STATE, name)
        self._show_tab()
        if self._is_shown:
            self.reload_stale()
            if name == "topic":
                self.topic.activate()

    def _show_tab(self) -> None:
        self._stack.setCurrentIndex(_TABS.index(self.tab))
        for widget in (self.kinds, self.spaces, self.over):
            widget.setVisible(self.tab == "time")

    def reload_stale(self) -> None:
        """The tab that is shown."""
        self.is_stale = False
        if self.tab == "topic":
            self.topic.reload()
            return
        self.time.reload()
        library = self.context.bridge.engine.library
        task = (
            make_query(timeline_strings()["tasks"]["facets"], library.count_facets)
            .within(self, "facets")
            .failure(lambda _: None)
        )
        self.context.tasks.run(task.success(self._on_facets_read))

    def _on_facets_read(self, facets: Facets) -> None:
        spaces = {_ALL: timeline_strings()["page"]["all"]} | {
            name: one_line(name, 40) for name in sorted(facets.spaces, key=str.casefold)
        }
        if self.spaces.current not in spaces:
            self.spaces.set_choices(spaces, _ALL)
            self._apply_filter()
        else:
            self.spaces.set_choices(spaces, self.spaces.current)

    def _apply_filter(self) -> None:
        self.time.use_filter(
            TimeFilter(
                kinds=(Kind(self.kinds.current),) if self.kinds.current else (),
                spaces=(self.spaces.current,) if self.spaces.current else (),
                with_over=self.over.isChecked(),
            )
        )

    # ---- the memory that is looked at

    def _on_memory_chosen(self, memory_id: str) -> None:
        self.context.selection.select(memory_id, ORIGIN)

    def _on_selection_changed(self, memory_id: str, origin: str) -> None:
        if origin != ORIGIN and self._is_shown:
            if self.tab == "time":
                self.time.below.list.select_rows(memory_id)
            else:
                self.topic.select_memory(memory_id)


TIMELINE = PageSpec("timeline", timeline_strings, "calendar", TimelinePage, has_choice=True)
"""How the page is registered."""
