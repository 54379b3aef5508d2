"""What is there while the vault is open: rail, pages, inspector. Made at unlocking, gone at locking.

Must not do: know a single page; they come as registered parts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QFrame,
    QLabel,
    QScrollArea,
    QSizePolicy,
    QSplitter,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from core.events import Changed
from core.types.replies import WaitingKind
from ui.bridge import make_query
from ui.context import RUNS_SEEN, Context, PageSpec, WindowPage
from ui.shell.actions import DIGITS
from ui.strings import window_strings
from ui.theme.theme import Theme
from ui.theme.tokens import sizes
from ui.widgets.basics import Stack, make_row, make_timer

_MOST_SHOWN = 99


class RailButton(QToolButton):
    """The button of a page, with a count on its icon where something waits there.

    Attributes:
        badge: shows the count; hidden at 0.

    Signals:
        reached: the keyboard came to it.
    """

    reached = Signal()

    def __init__(self, theme: Theme, title: str, counts: str = "open") -> None:
        super().__init__()
        self.setObjectName("place")
        self.setText(title)
        self.setAccessibleName(title)
        self._theme, self._title, self._counts = theme, title, counts
        self.badge = QLabel(self)
        self.badge.setObjectName("badge")
        self.badge.setTextFormat(Qt.TextFormat.PlainText)
        self.badge.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.badge.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.badge.hide()

    def set_tight(self, *, is_tight: bool) -> None:
        """Leave less room around icon and word.

        Args:
            is_tight: whether there is little.
        """
        if bool(self.property("tight")) != is_tight:
            self.setProperty("tight", is_tight)
            self.style().unpolish(self)
            self.style().polish(self)

    def show_count(self, count: int) -> None:
        """Say how much waits.

        Args:
            count: 0 for nothing.
        """
        self.badge.setText(f"{count:,}" if count <= _MOST_SHOWN else f"{_MOST_SHOWN}+")
        self.badge.setVisible(count > 0)
        self.setAccessibleName(
            window_strings()["rail"]["waiting"].format(title=self._title, count=count, counts=self._counts)
            if count
            else self._title
        )
        self.place_badge()

    def place_badge(self) -> None:
        """Put it on the icon's upper right corner."""
        px = self._theme.px
        high = px(16)
        wide = max(high, self.badge.fontMetrics().horizontalAdvance(self.badge.text()) + px(9))
        left = min(self.width() // 2 + px(4), self.width() - wide - 1)
        self.badge.setGeometry(left, px(2), wide, high)

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802 - Qt's name
        """It shall be seen."""
        super().focusInEvent(event)
        self.reached.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """The badge keeps its corner."""
        super().resizeEvent(event)
        self.place_badge()


class Rail(QScrollArea):
    """Buttons of the pages, in the order they were registered: every page can be reached at every size.

    Where it is low icons and words draw together; where it is too low for the words the icons are alone, and where
    it is too low for those too it scrolls.

    Signals:
        chosen: the id of the page that was chosen.
    """

    chosen = Signal(str)

    def __init__(self, theme: Theme, pages: Sequence[PageSpec]) -> None:
        super().__init__()
        self.setObjectName("rail")
        self.setAccessibleName(window_strings()["rail"]["title"])
        self._theme = theme
        self._pages = {page.id: page for page in pages}
        self._buttons: dict[str, RailButton] = {}
        self._group = QButtonGroup(self)
        self._group.setExclusive(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        for bar in (self.setVerticalScrollBarPolicy, self.setHorizontalScrollBarPolicy):
            bar(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        inside = QWidget()
        inside.setObjectName("railbed")
        self.setWidget(inside)
        self._layout = QVBoxLayout(inside)
        for number, page in enumerate(pages, 1):
            self._add_page(page, number)
        self._layout.addStretch(1)
        self._paint_buttons()
        theme.changed.connect(self._paint_buttons)

    def _add_page(self, page: PageSpec, number: int) -> None:
        made = RailButton(self._theme, page.title, page.counts)
        made.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextUnderIcon)
        made.setCheckable(True)
        made.setToolTip(
            window_strings()["rail"]["hint"].format(title=page.title, number=number) if number <= DIGITS else page.title
        )
        made.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        made.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        made.clicked.connect(lambda: self.chosen.emit(page.id))
        made.reached.connect(lambda: self.ensureWidgetVisible(made, 0, 0))
        self._group.addButton(made)
        self._layout.addWidget(made)
        self._buttons[page.id] = made

    def show_page(self, page_id: str) -> None:
        """Mark the page that is shown."""
        self._buttons[page_id].setChecked(True)
        self._paint_buttons()
        self.ensureWidgetVisible(self._buttons[page_id], 0, 0)

    def show_count(self, page_id: str, count: int) -> None:
        """Say how much waits on a page.

        Args:
            count: 0 for nothing.
        """
        self._buttons[page_id].show_count(count)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Words, or icons alone."""
        super().resizeEvent(event)
        self._fit_buttons()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """Another text size needs another room."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.StyleChange:
            self._fit_buttons()

    def _fit_buttons(self) -> None:
        """Show the words where all of them have room."""
        words, icons = Qt.ToolButtonStyle.ToolButtonTextUnderIcon, Qt.ToolButtonStyle.ToolButtonIconOnly
        ways = (
            (words, 8, 2, False),
            (words, 3, 0, False),
            (words, 3, 0, True),
            (icons, 8, 2, False),
            (icons, 3, 0, True),
        )
        for style, edge, gap, is_tight in ways:
            self._layout.setContentsMargins(6, edge, 6, edge)
            self._layout.setSpacing(gap)
            side = self._theme.px(sizes().icon if is_tight else sizes().icon_large)
            for made in self._buttons.values():
                made.setToolButtonStyle(style)
                made.setIconSize(QSize(side, side))
                made.set_tight(is_tight=is_tight)
            if self._layout.minimumSize().height() <= self.height():
                return

    def _paint_buttons(self) -> None:
        self.setFixedWidth(self._theme.px(sizes().rail) if self._theme.scale <= 125 else self._theme.px(66))
        for page_id, made in self._buttons.items():
            made.setIcon(self._theme.icon(self._pages[page_id].icon, "accent" if made.isChecked() else "muted"))
            made.place_badge()
        self._fit_buttons()


_SPLIT = "house.split"
_PAGE = "house.page"
_LAST = "last"
_GATHER_MS = 120
_COUNT_MS = 200
_ORIGIN = "house"
_ROOMY = 1_180  # pixels at 100 % from which an empty inspector may stay


class House(QWidget):
    """Rail, one page at a time, inspector.

    Attributes:
        while_making: what holds while a page is made and put in place.

    Signals:
        shown: the id of the page that is shown now.
        left: the page that was shown gives way to another.
        inspects: whether the inspector can be seen now.
        counted: the id and title of a page, how much waits there, and what it is in a word.
    """

    shown = Signal(str)
    left = Signal()
    inspects = Signal(bool)
    counted = Signal(str, str, int, str)

    def __init__(self, context: Context, pages: Sequence[PageSpec], inspector: QWidget | None) -> None:
        super().__init__()
        self.setObjectName("ground")
        self._context = context
        self._specs = {page.id: page for page in pages}
        self.while_making: Callable[[], AbstractContextManager[None]] = nullcontext
        self._made: dict[str, WindowPage] = {}
        self.current = ""
        self._rail = Rail(context.theme, pages)
        self._rail.chosen.connect(self.show_page)
        self._stack = Stack()
        self.inspector = inspector
        self._choices: dict[str, str] = {}
        self._is_asked = False  # the inspector was asked for while there is nothing in it
        self._is_inspecting: bool | None = None  # as last told; None before anybody was
        self._wants = {False: True, True: False}  # by whether the inspector is beside a page only on request
        self._split = QSplitter(Qt.Orientation.Horizontal)
        self._split.setChildrenCollapsible(False)
        self._split.setHandleWidth(1)
        self._split.addWidget(self._stack)
        if inspector is not None:
            self._split.addWidget(inspector)
            self._split.setStretchFactor(0, 1)
            self._split.setStretchFactor(1, 0)
        make_row(self._rail, self._split, parent=self, gap=0)
        self._waiting: list[Changed] = []
        self._gather = make_timer(self, self._forward_changes)
        self._count = make_timer(self, self._request_counts, _COUNT_MS)
        self._enter_soon = make_timer(self, self._enter_first_page)
        context.bridge.changed.connect(self._queue_change)
        context.tasks.settled.connect(self._count.start)
        context.desk.looked.connect(self._count.start)
        context.pairing.changed.connect(self._show_pairings)
        context.selection.changed.connect(self._on_selection_changed)
        self._restore_split()
        self._request_counts()
        self._split.splitterMoved.connect(lambda *_: context.prefs.store_value(_SPLIT, self._split.saveState()))

    def _restore_split(self) -> None:
        state = self._context.prefs.read_state(_SPLIT)
        if state.isEmpty() or not self._split.restoreState(state):
            self._split.setSizes([1200 - sizes().inspector, sizes().inspector])

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        """The first page is entered once it can be seen: before, Qt would give the keyboard to the search field."""
        super().showEvent(event)
        screen = self.window().windowHandle()
        if screen is not None and screen.isExposed():
            self._enter_soon.start()  # the window is looked at: it shows its frame before the page is made
        else:
            self._enter_first_page()

    def _enter_first_page(self) -> None:
        if self.isVisible() and not self.current:
            self.show_first_page()

    @property
    def page(self) -> WindowPage | None:
        """The page that is shown."""
        return self._made.get(self.current)

    def show_first_page(self) -> None:
        """Show the page that was shown last, or the first one of the options."""
        first = self._context.prefs.options.first_page
        stored = self._context.prefs.read_text(_PAGE) if first == _LAST else first
        self.show_page(stored if stored in self._specs else next(iter(self._specs)))

    def show_page(self, page_id: str, target: str = "") -> None:
        """Show a page.

        Args:
            target: what the page should show; it understands the text.

        Raises:
            KeyError: there is no such page.
        """
        with self.while_making():
            self._put_in_place(page_id, target)
        self._context.desk.is_searching = False  # the page has the keyboard, until the person puts it elsewhere
        self._made[page_id].setFocus()
        self._made[page_id].activate(target)
        self.shown.emit(page_id)

    def _put_in_place(self, page_id: str, target: str) -> None:
        spec = self._specs[page_id]
        old = self.page
        if page_id not in self._made:
            made = spec.make(self._context)
            made.setObjectName("page")
            made.setAccessibleName(spec.title)
            made.emptied.connect(self._fit_inspector)
            self._made[page_id] = made
            self._stack.addWidget(made)
        if old is not None and old is not self._made[page_id]:
            old.deactivate()
            self.left.emit()
            if not target:
                self._swap_choice(self._specs[self.current], spec)
        self._is_asked = False
        self.current = page_id
        self._rail.show_page(page_id)
        self._stack.setCurrentWidget(self._made[page_id])
        self._context.prefs.store_value(_PAGE, page_id)
        self._fit_inspector()

    def toggle_inspector(self) -> None:
        """Show or hide the inspector, on every page it is beside."""
        if self.current and self.inspector is not None:
            self._is_asked = self.inspector.isHidden()
            self._wants[self._specs[self.current].on_request] = self._is_asked
            self._fit_inspector()

    def show_inspector(self) -> None:
        """Make sure that the inspector can be seen; a page without one gives way to the library, which lists it."""
        if not self._specs[self.current].inspects and "library" in self._specs:
            self.show_page("library", f"show:{self._context.selection.current}")
        self._wants[self._specs[self.current].on_request] = True
        self._fit_inspector()

    def _fit_inspector(self) -> None:
        if self.inspector is not None:
            spec = self._specs[self.current]
            is_seen = spec.inspects and self._wants[spec.on_request] and (self._has_something or self._is_asked)
            if is_seen is self.inspector.isHidden():
                self.inspector.setVisible(is_seen)
            if is_seen is not self._is_inspecting:
                self._is_inspecting = is_seen
                self.inspects.emit(is_seen)

    @property
    def _has_something(self) -> bool:
        """Whether there is anything to inspect, or room to say that there is not."""
        selection, spec = self._context.selection, self._specs[self.current]
        if selection.current or selection.summary is not None:
            return True
        is_empty = self.page is not None and self.page.is_empty
        return not is_empty and not _has_own_choice(spec) and self.width() >= self._context.theme.px(_ROOMY)

    def _on_selection_changed(self, memory_id: str, _origin: str) -> None:
        if self.current:
            self._is_asked = self._is_asked and not memory_id
            self._fit_inspector()

    def _swap_choice(self, left: PageSpec, entered: PageSpec) -> None:
        """What is looked at on a page of its own stays there, and is looked at again when one comes back.

        Where the other pages look at nothing, it goes along to them: who found a memory may go on with it.
        """
        selection = self._context.selection
        keys = [spec.id if _has_own_choice(spec) else "" for spec in (left, entered)]
        if keys[0] != keys[1]:
            self._choices[keys[0]] = selection.current
            along = "" if keys[1] else selection.current
            selection.select(self._choices.get(keys[1]) or along, _ORIGIN)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """An inspector with nothing in it needs a wide window."""
        super().resizeEvent(event)
        if self.current:
            self._fit_inspector()

    def _queue_change(self, change: Changed) -> None:
        # An import announces every batch: pages hear of them together, a few times a second.
        self._waiting.append(change)
        if not self._gather.isActive():
            self._gather.start(_GATHER_MS)
        if not self._count.isActive():
            self._count.start()

    def _request_counts(self) -> None:
        """Ask once how much waits, for all pages; where it cannot be asked now the counts stay."""
        if not self._context.bridge.is_open:
            return
        runs_since = self._context.prefs.read_moment(RUNS_SEEN, self._context.clock.now_ms())
        conflicts = self._context.bridge.engine.conflicts
        task = make_query(window_strings()["rail"]["counting"], lambda: conflicts.count_waiting(runs_since)).within(
            self, "counts"
        )
        self._context.tasks.run(task.success(self._show_counts).failure(lambda _: None))

    def _show_pairings(self) -> None:
        self._show_counts({})

    def _show_counts(self, counts: Mapping[WaitingKind, int]) -> None:
        # Who asks to be paired is known here, so the engine is not asked.
        known = {**counts, WaitingKind.PAIRINGS: int(self._context.pairing.question is not None)}
        for spec in self._specs.values():
            count = None if spec.badge is None else known.get(spec.badge)
            if count is not None:
                self._rail.show_count(spec.id, count)
                self.counted.emit(spec.id, spec.title, count, spec.counts)

    def _forward_changes(self) -> None:
        waiting, self._waiting = self._waiting, []
        for change in _merge_changes(waiting):
            for page in self._made.values():
                page.handle_change(change)


def _has_own_choice(spec: PageSpec) -> bool:
    return spec.on_request or spec.has_choice


def _merge_changes(changes: Sequence[Changed]) -> list[Changed]:
    """Changes of the same verb and origin as one; one without ids represents anything."""
    grouped: dict[tuple[str, object], Changed] = {}
    for change in changes:
        key = (change.verb, change.origin)
        before = grouped.get(key)
        ids = change.ids if before is None else (before.ids + change.ids if before.ids and change.ids else ())
        grouped[key] = Changed(change.verb, ids, change.origin, change.seq)
    return list(grouped.values())
