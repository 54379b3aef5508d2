"""What is there while the vault is open: rail, pages, inspector. Made at unlocking, gone at locking.

Must not do: know a single page; they come as registered parts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QSplitter, QStackedWidget, QWidget

from core.events import Changed
from ui.context import Context, Page, PageSpec
from ui.shell.rail import Rail
from ui.tasks import query
from ui.widgets.basics import row

_SPLIT = "house.split"
_PAGE = "house.page"
_LAST = "last"
_GATHER_MS = 120
_COUNT_MS = 200
_INSPECTOR = 360


class House(QWidget):
    """Rail, one page at a time, inspector.

    Signals:
        shown: the id of the page that is shown now.
        inspects: whether the inspector can be seen now.
        counted: the id and title of a page, how much waits there, and what it is in a word.
    """

    shown = Signal(str)
    inspects = Signal(bool)
    counted = Signal(str, str, int, str)

    def __init__(self, context: Context, pages: Sequence[PageSpec], inspector: QWidget | None) -> None:
        super().__init__()
        self.setObjectName("ground")
        self._context = context
        self._specs = {page.id: page for page in pages}
        self._made: dict[str, Page] = {}
        self.current = ""
        self._rail = Rail(context.theme, pages)
        self._rail.chosen.connect(self.go)
        self._stack = QStackedWidget()
        self.inspector = inspector
        self._wants = {False: True, True: False}  # by whether the inspector stands beside a page only on request
        self._split = QSplitter(Qt.Orientation.Horizontal)
        self._split.setChildrenCollapsible(False)
        self._split.setHandleWidth(1)
        self._split.addWidget(self._stack)
        if inspector is not None:
            self._split.addWidget(inspector)
            self._split.setStretchFactor(0, 1)
            self._split.setStretchFactor(1, 0)
        row(self._rail, self._split, parent=self, gap=0)
        self._waiting: list[Changed] = []
        self._gather = QTimer(self)
        self._gather.setSingleShot(True)
        self._gather.timeout.connect(self._spread)
        self._count = QTimer(self)
        self._count.setSingleShot(True)
        self._count.setInterval(_COUNT_MS)
        self._count.timeout.connect(self._ask_counts)
        context.bridge.changed.connect(self._note)
        context.tasks.settled.connect(self._count.start)
        context.desk.looked.connect(self._count.start)
        self._restore()
        self._ask_counts()
        self._split.splitterMoved.connect(lambda *_: context.prefs.keep(_SPLIT, self._split.saveState()))

    def _restore(self) -> None:
        state = self._context.prefs.state(_SPLIT)
        if state.isEmpty() or not self._split.restoreState(state):
            self._split.setSizes([1200 - _INSPECTOR, _INSPECTOR])

    @property
    def page(self) -> Page | None:
        """The page that is shown."""
        return self._made.get(self.current)

    def pages(self) -> tuple[PageSpec, ...]:
        """All pages, in order."""
        return tuple(self._specs.values())

    def begin(self) -> None:
        """Show the page that was shown last, or the first one of the options."""
        first = self._context.prefs.options.first_page
        wished = self._context.prefs.text(_PAGE) if first == _LAST else first
        self.go(wished if wished in self._specs else next(iter(self._specs)))

    def go(self, page_id: str, wish: str = "") -> None:
        """Show a page.

        Args:
            page_id: which.
            wish: something the page understands.

        Raises:
            KeyError: there is no such page.
        """
        spec = self._specs[page_id]
        old = self.page
        if page_id not in self._made:
            made = spec.make(self._context)
            made.setObjectName("page")
            made.setAccessibleName(spec.title)
            self._made[page_id] = made
            self._stack.addWidget(made)
        if old is not None and old is not self._made[page_id]:
            old.leave()
        self.current = page_id
        self._rail.show_page(page_id)
        self._stack.setCurrentWidget(self._made[page_id])
        self._context.prefs.keep(_PAGE, page_id)
        self._fit_inspector()
        self._made[page_id].setFocus()
        self._made[page_id].enter(wish)
        self.shown.emit(page_id)

    def toggle_inspector(self) -> None:
        """Show or hide the inspector, on every page it stands beside."""
        if self.current:
            kind = self._specs[self.current].on_request
            self._wants[kind] = not self._wants[kind]
            self._fit_inspector()

    def show_inspector(self) -> None:
        """Make sure that the inspector can be seen; a page without one gives way to the library."""
        if not self._specs[self.current].inspects and "library" in self._specs:
            self.go("library")
        self._wants[self._specs[self.current].on_request] = True
        self._fit_inspector()

    def _fit_inspector(self) -> None:
        if self.inspector is not None:
            spec = self._specs[self.current]
            is_seen = spec.inspects and self._wants[spec.on_request]
            self.inspector.setVisible(is_seen)
            self.inspects.emit(is_seen)

    def _note(self, change: Changed) -> None:
        # An import announces every batch: pages hear of them together, a few times a second.
        self._waiting.append(change)
        if not self._gather.isActive():
            self._gather.start(_GATHER_MS)
        if not self._count.isActive():
            self._count.start()

    def _ask_counts(self) -> None:
        """Ask every page that has a badge how much waits there; what cannot be asked now keeps its count."""
        if not self._context.bridge.is_open:
            return
        for spec in self._specs.values():
            if spec.badge is not None:
                self._ask_count(spec, spec.badge)

    def _ask_count(self, spec: PageSpec, badge: Callable[[Context], Future[int]]) -> None:
        def show(count: int) -> None:
            self._rail.show_count(spec.id, count)
            self.counted.emit(spec.id, spec.title, count, spec.counts)

        asked = query("Counting what waits", lambda: badge(self._context)).within(self, f"count.{spec.id}")
        self._context.tasks.run(asked.success(show).failure(lambda _: None))

    def _spread(self) -> None:
        waiting, self._waiting = self._waiting, []
        for change in _together(waiting):
            for page in self._made.values():
                page.changed(change)

    def each(self, action: Callable[[Page], None]) -> None:
        """Do something with every page that was made."""
        for page in self._made.values():
            action(page)


def _together(changes: Sequence[Changed]) -> list[Changed]:
    """Changes of the same verb and origin as one; one without ids stands for anything."""
    grouped: dict[tuple[str, object], Changed] = {}
    for change in changes:
        key = (change.verb, change.origin)
        before = grouped.get(key)
        ids = change.ids if before is None else (before.ids + change.ids if before.ids and change.ids else ())
        grouped[key] = Changed(change.verb, ids, change.origin, change.seq)
    return list(grouped.values())
