"""The Review page: the queue at the left, the item at the right, decided by one key each.

A press decides at once, asks first or says why not; nothing fires twice. Must not do: know another page, or decide
while something is being decided, read or written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtGui import QCursor, QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import QMenu, QWidget

from core.events import Changed
from core.types.replies import WaitingKind
from core.types.reviews import Decision, DecisionReply, Queue, QueueRequest, ReviewItem, ReviewRow
from core.types.values import OWNER_ACTOR, Action
from core.types.views import MemoryRow
from ui.bridge import make_query, make_write, problem_of
from ui.context import CLOSER, Context, Page, PageSpec
from ui.pages.review.dialogs import CAME, make_decision_dialog
from ui.pages.review.item_panel import BatchPanel, ItemPanel, acts_at_once
from ui.pages.review.labels import ASKS
from ui.pages.review.queue import ALL, ClosedDialog, QueuePanel, RulesDialog, family_kinds
from ui.strings import format_count, review_strings
from ui.theme.theme import Theme
from ui.theme.tokens import sizes
from ui.undo import offer_undo
from ui.widgets.basics import UNBOUND, Stack, make_button, make_column, make_row, make_timer
from ui.widgets.plaintext import one_line
from ui.widgets.states import EmptyState, States, add_page_title

BREATH_MS = 300
"""After a decision, so long nothing is taken: the second press of a double click would decide the next item."""


class DecisionRunner(QObject):
    """Sends decisions to the engine.

    Signals:
        done: (ids, `DecisionReply`): it is decided.
        refused: (ids): nothing was decided.
    """

    done = Signal(tuple, object)
    refused = Signal(tuple)

    def __init__(self, context: Context, parent: QObject) -> None:
        super().__init__(parent)
        self._context = context
        self._under_way = 0
        self.breath = QTimer(self)
        self.breath.setSingleShot(True)
        self.breath.setInterval(BREATH_MS)

    @property
    def is_free(self) -> bool:
        """Whether a decision can be taken now."""
        return not self._under_way and not self.breath.isActive() and self._context.bridge.is_open

    @property
    def is_deciding(self) -> bool:
        """Whether the engine has not answered yet."""
        return self._under_way > 0

    def stop_timer(self) -> None:
        """Nobody looks any more."""
        self.breath.stop()

    def decide_items(self, ids: Sequence[str], decision: Decision) -> None:
        """Decide one item, or several alike as one step."""
        strings = review_strings()["tasks"]
        wanted = tuple(ids)
        conflicts = self._context.bridge.engine.conflicts
        self._under_way += 1
        self.breath.start()
        if len(wanted) == 1:
            task = make_write(strings["decide"], lambda: conflicts.resolve(wanted[0], decision, OWNER_ACTOR))
        else:
            task = make_write(strings["decide"], lambda: conflicts.resolve_many(wanted, decision, OWNER_ACTOR))
        running = self._context.tasks.run(
            task.within(self)
            .success(lambda decided: self._on_decided(wanted, decision, decided))
            .failure(lambda error: self._on_decision_failed(wanted, error))
        )
        running.ended.connect(self._on_task_ended)

    def _on_task_ended(self) -> None:
        self._under_way -= 1

    def _on_decided(self, ids: tuple[str, ...], decision: Decision, decided: DecisionReply) -> None:
        sentence = describe_decision(decision, decided, len(ids))
        if decided.step_id is not None:
            offer_undo(self._context, sentence, decided.step_id)
        else:
            self._context.desk.show_message(sentence)
        self.done.emit(ids, decided)

    def _on_decision_failed(self, ids: tuple[str, ...], error: BaseException) -> None:
        problem = problem_of(error)
        if problem is not None:
            self._context.desk.show_message(problem.sentence)
        self.refused.emit(ids)


def describe_decision(decision: Decision, decided: DecisionReply, asked: int) -> str:
    """What was done, in words without any memory's text.

    Args:
        asked: for how many items.
    """
    strings = review_strings()["decided"]
    if decision.action is Action.SKIP:
        outcome = format_count(strings["postponed"], asked)
    else:
        outcome = strings["done"].format(label=decided.label) if decided.label else strings["unchanged"]
    sentences = [outcome]
    if decided.asked:
        sentences.append(format_count(review_strings()["asked_on"], len(decided.asked)))
    if decided.closed:
        sentences.append(format_count(strings["closed"], len(decided.closed)))
    if decided.refused:
        reasons = " ".join(dict.fromkeys(decided.refused.values()))
        sentences.append(format_count(strings["refused"], len(decided.refused), reasons=reasons))
    if decided.withheld:
        sentences.append(format_count(review_strings()["withheld"], len(decided.withheld)))
    if decision.remember and decided.step_id is not None:
        sentences.append(review_strings()["repeated"])
    return " ".join(sentences)


ORIGIN = "review"


class ReviewLinks(QObject):
    """The ways from an item to the inspector, the palace and what follows from it."""

    def __init__(self, context: Context, host: QWidget) -> None:
        """Make them.

        Args:
            host: the page; menus are its children.
        """
        super().__init__(host)
        self._context, self._host = context, host

    def open_inspector(self, memory_id: str) -> None:
        """Open the inspector on a memory."""
        self._context.selection.reselect(memory_id, CLOSER)

    def go_to_palace(self, memory_id: str) -> None:
        """Show a memory in the palace."""
        self._context.selection.select(memory_id, ORIGIN)
        self._context.desk.go.emit("palace", f"show:{memory_id}")

    def show_memories(self, ids: tuple[str, ...]) -> None:
        """Show one memory, or a menu of several."""
        if len(ids) == 1:
            self.open_inspector(ids[0])
            return
        library = self._context.bridge.engine.library
        task = make_query(review_strings()["tasks"]["follows"], lambda: library.read_rows(ids)).within(self, "follows")
        self._context.tasks.run(task.success(self._show_memory_menu))

    def _show_memory_menu(self, rows: Sequence[MemoryRow]) -> None:
        menu = QMenu(self._host)
        menu.setAccessibleName(review_strings()["derived"])
        menu.aboutToHide.connect(menu.deleteLater)
        for one in rows:
            action = menu.addAction(one_line(one.head, 70).replace("&", "&&"))
            action.triggered.connect(lambda _checked=False, one=one: self.open_inspector(one.id))
        keyboard = self._host.focusWidget()
        is_pointed = self._host.underMouse() or keyboard is None
        menu.popup(
            QCursor.pos() if is_pointed or keyboard is None else keyboard.mapToGlobal(keyboard.rect().bottomLeft())
        )


class ReviewPanes(QWidget):
    """Queue and item.

    Attributes:
        queue: the list at the left.
        item_panel: one item. `desk_states` holds it, and what is in its place.
        batch: several items at once.
        back: leads to the queue where it is hidden.
    """

    def __init__(self, theme: Theme) -> None:
        """Make it, empty."""
        super().__init__()
        self._theme = theme
        self.is_narrow = self._shows_queue = False

    def build_layout(self, links: ReviewLinks) -> None:
        """Fill it once it is in its place, from the outside in.

        Args:
            links: the ways from an item to elsewhere.
        """
        theme = self._theme
        self.queue, self._side = QueuePanel(theme), QWidget()
        make_row(self.queue, self._side, parent=self, gap=0).setStretch(1, 1)
        self._bar, self._right = QWidget(), Stack()
        make_column(self._side, self._bar, self._right, gap=0)
        self.back = make_button(
            review_strings()["back"], self.show_queue, theme=theme, icon="chevron-left", kind="ghost"
        )
        make_row(self.back, None, parent=self._bar).setContentsMargins(12, 8, 12, 0)
        self._bar.hide()
        self.item_panel = ItemPanel(theme, links.open_inspector, links.go_to_palace)
        self.item_panel.memories_asked.connect(links.show_memories)
        self.desk_states = States(theme, self.item_panel, review_strings()["reading_item"])
        self._right.addWidget(self.desk_states)
        self.item_panel.build_layout()
        self.batch = BatchPanel(theme)
        self._right.addWidget(self.batch)
        self.queue.list.picked.connect(self.show_chosen)
        self.queue.list.clicked.connect(lambda _: self._on_row_clicked())
        theme.changed.connect(self._fit_width)

    # ---- what is shown

    @property
    def is_batch(self) -> bool:
        """Whether several items are chosen."""
        return self._right.currentWidget() is self.batch

    def show_chosen(self) -> None:
        """Show the item that is looked at, or all that are chosen."""
        chosen = self.queue.list.chosen
        if len(chosen) > 1:
            self.batch.show_rows(chosen)
            self._right.setCurrentWidget(self.batch)
        elif self.is_batch:
            self._right.setCurrentWidget(self.desk_states)

    def show_position(self) -> None:
        """Say which one of how many is looked at."""
        current, total = self.queue.list.current, self.queue.open_count
        ids = [one.id for one in self.queue.rows]
        number = ids.index(current.id) + 1 if current is not None and current.id in ids else 1
        self.item_panel.show_place(number, total)
        place = review_strings()["item"]["place"].format(number=number, total=total)
        self.back.setText(f"\u2009{review_strings()['back']} · {place}")

    def focus_queue_or(self, otherwise: QWidget) -> None:
        """Give the keyboard to the queue, or to another widget where it is hidden."""
        (otherwise if self.queue.isHidden() else self.queue.list).setFocus()

    # ---- taking turns

    def show_queue(self) -> None:
        """Show the queue, in the place of the item where there is little room."""
        self._shows_queue = True
        self._arrange_panes()
        self.queue.list.setFocus()

    def open_item(self) -> None:
        """On from the queue to what can be decided."""
        self._shows_queue = False
        self._arrange_panes()
        first = self.item_panel.suggestion.act or next(iter(self.item_panel.actions_bar.buttons.values()), None)
        if first is not None and not self.is_batch:
            first.setFocus(Qt.FocusReason.TabFocusReason)

    def leave_batch(self) -> None:
        """Escape: one item again, or the queue where it is hidden."""
        if self.is_batch:
            self.queue.list.select_near(self.queue.list.currentIndex().row())
        elif self.is_narrow and not self._shows_queue:
            self.show_queue()

    def _on_row_clicked(self) -> None:
        if self.is_narrow and not self.is_batch:
            self.open_item()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Where there is little room, the queue and the item take turns."""
        super().resizeEvent(event)
        self._fit_width()

    def _fit_width(self) -> None:
        self.is_narrow = self.width() < self._theme.px(sizes().page_narrow)
        self._shows_queue = self._shows_queue and self.is_narrow
        self._arrange_panes()

    def _arrange_panes(self) -> None:
        px = self._theme.px
        wide = px(sizes().list if self.width() >= px(sizes().page_wide) else sizes().list_narrow)
        self.queue.setMinimumWidth(0 if self.is_narrow else wide)
        self.queue.setMaximumWidth(UNBOUND if self.is_narrow else wide)
        self.queue.setVisible(not self.is_narrow or self._shows_queue)
        self._side.setVisible(not self.is_narrow or not self._shows_queue)
        self._bar.setVisible(self.is_narrow)
        self.item_panel.name_place(is_named=not self.is_narrow)


_KEYS: Mapping[str, Action] = {
    "Left": Action.REJECT,
    "Right": Action.SUPERSEDE,
    "B": Action.KEEP_BOTH,
    "D": Action.KEEP_BOTH_DATED,
    "M": Action.MERGE,
    "W": Action.SCOPE_SPLIT,
    "N": Action.DISPUTE_BOTH,
    "S": Action.SKIP,
}


class DecisionKeys(QObject):
    """Turns presses of buttons and keys into decisions.

    Attributes:
        item_id: the item that is looked at, whether it is read already or not; "" for none.
        is_open: whether the page is shown with something on it.

    Signals:
        taken: the ids of what is being decided now.
    """

    taken = Signal(tuple)

    def __init__(self, context: Context, panes: ReviewPanes, decider: DecisionRunner, host: QWidget) -> None:
        super().__init__(host)
        self._context, self._panes, self._decider, self._host = context, panes, decider, host
        self.item_id = ""
        self.is_open: Callable[[], bool] = lambda: False
        panes.item_panel.decided.connect(self.run_action)
        panes.item_panel.dates_asked.connect(lambda: self._ask_details(Action.KEEP_BOTH_DATED))
        panes.batch.decided.connect(self.run_action)

    def bind_keys(self) -> None:
        """Keys of the page: Qt keeps them from text fields, menus and dialogs, and from what has not the keyboard."""
        moves = self._panes.queue.list
        for key, action in _KEYS.items():
            _bind_shortcut(self._host, key, partial(self.run_action, action))
        _bind_shortcut(self._host, "E", self._edit_incoming)
        _bind_shortcut(self._host, "G", lambda: moves.choose_group(moves.currentIndex().row()))
        _bind_shortcut(self._host, "Escape", self._panes.leave_batch)
        _bind_shortcut(self._host, "Up", lambda: moves.move_current(-1), repeats=True)
        _bind_shortcut(self._host, "Down", lambda: moves.move_current(1), repeats=True)
        for key in ("Return", "Enter"):
            _bind_shortcut(moves, key, self._panes.open_item, Qt.ShortcutContext.WidgetShortcut)

    @property
    def is_ready(self) -> bool:
        """Whether a key decides now: the item that is looked at is shown, and nothing is under way."""
        if not self.is_open() or not self._decider.is_free:
            return False
        item = self._panes.item_panel.item
        return self._panes.is_batch or (item is not None and item.id == self.item_id and item.state == "open")

    def run_action(self, action: Action) -> None:
        """A button or a key."""
        if not self.is_ready:
            return
        item = self._panes.item_panel.item
        if self._panes.is_batch:
            self._decide_many(action)
        elif item is None or action not in item.actions:
            self._context.desk.show_message(review_strings()["not_offered"])
        elif not self._panes.item_panel.actions_bar.is_allowed(action):
            self._context.desk.show_message(review_strings()["not_repeated"])
        elif action in ASKS and not _is_suggested(item, action):
            self._ask_details(action)
        else:
            begin = item.suggestion.at if item.suggestion is not None and action in ASKS else None
            self._submit_decision((item.id,), Decision(action, begin=begin, remember=self._is_repeating(action)))

    def _is_repeating(self, action: Action) -> bool:
        bar = self._panes.item_panel.actions_bar
        return bar.remember.isChecked() and action is not Action.SKIP and bar.is_allowed(action)

    def _edit_incoming(self) -> None:
        """E: rewrite what arrived, then accept it."""
        item = self._panes.item_panel.item
        if not self.is_ready or self._panes.is_batch or item is None:
            return
        if Action.MERGE not in item.actions:
            self._context.desk.show_message(review_strings()["not_offered"])
        elif not self._panes.item_panel.actions_bar.is_allowed(Action.MERGE):
            self._context.desk.show_message(review_strings()["not_repeated"])
        else:
            self._ask_details(Action.MERGE, CAME)

    def _ask_details(self, action: Action, begin: str = "") -> None:
        item = self._panes.item_panel.item
        if item is not None and self.is_ready:
            dialog = make_decision_dialog(self._context, item, action, self._host, begin)
            dialog.agreed.connect(lambda decision: self._submit_decision((item.id,), decision))
            dialog.open()

    def _decide_many(self, action: Action) -> None:
        if action in self._panes.batch.buttons:
            self._submit_decision([one.id for one in self._panes.queue.list.chosen], Decision(action))
        else:
            self._context.desk.show_message(review_strings()["batch"]["needs_each"])

    def _submit_decision(self, ids: Sequence[str], decision: Decision) -> None:
        """The next row is looked at before the engine has answered."""
        if self._decider.is_free:
            self.taken.emit(tuple(ids))
            self._decider.decide_items(ids, decision)


def _is_suggested(item: ReviewItem, action: Action) -> bool:
    suggestion = item.suggestion
    return suggestion is not None and suggestion.action is action and acts_at_once(suggestion)


def _bind_shortcut(
    host: QWidget,
    key: str,
    run: Callable[[], None],
    where: Qt.ShortcutContext = Qt.ShortcutContext.WidgetWithChildrenShortcut,
    *,
    repeats: bool = False,
) -> None:
    shortcut = QShortcut(QKeySequence(key), host)
    shortcut.setContext(where)
    shortcut.setAutoRepeat(repeats)
    shortcut.activated.connect(run)


_REFRESH_MS = 250
_REMEMBERED = 200


class ReviewPage(Page):
    """The Review page."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._is_shown = self._is_read = self._wants_focus = False
        self._target = ""
        self._decided: list[str] = []
        self.decider = DecisionRunner(context, self)
        self.decider.done.connect(self._on_decided)
        self.decider.refused.connect(self._on_decision_refused)
        self.panes = ReviewPanes(context.theme)
        self.states = States(context.theme, self.panes, review_strings()["reading"])
        make_column(self, self.states)
        self.panes.build_layout(ReviewLinks(context, self))
        self.queue, self.item_panel, self.batch = self.panes.queue, self.panes.item_panel, self.panes.batch
        self.queue.list.looked_at.connect(self._on_row_chosen)
        self.queue.filtered.connect(lambda _: self.reload())
        self.queue.closed_asked.connect(lambda: ClosedDialog(context, self).open())
        self.queue.rules_asked.connect(lambda: RulesDialog(context, self).open())
        self._decision_keys = DecisionKeys(context, self.panes, self.decider, self)
        self._decision_keys.is_open = lambda: self._is_shown and self.states.currentWidget() is self.panes
        self._decision_keys.taken.connect(self._remove_decided)
        self._decision_keys.bind_keys()
        self._refresh = make_timer(self, self.reload, _REFRESH_MS)

    # ---- the page's life

    def activate(self, target: str = "") -> None:
        """Show the page and read what it needs.

        Args:
            target: an item's id, to look at that one; "" for none.
        """
        self._is_shown = self._wants_focus = True
        self._target = target
        if self.is_stale or not self._is_read:
            self.reload()
            return
        self._focus_content()
        if target:
            self.queue.refill_list(target)

    def deactivate(self) -> None:
        """Another page is shown: nothing runs here any more."""
        self._is_shown = False
        self.is_stale = self.is_stale or self._refresh.isActive()
        self._refresh.stop()
        self.decider.stop_timer()

    def is_settled(self) -> bool:
        """Whether it shows all it is about to show."""
        current, shown = self.queue.list.current, self.item_panel.item
        shows = current is None or (shown is not None and shown.id == current.id)
        return self._is_read and shows and not self._refresh.isActive()

    def handle_change(self, change: Changed) -> None:
        """What was stored, decided, undone or forgotten may open or close items: read again."""
        super().handle_change(change)
        if self._is_shown and not self._refresh.isActive():
            self._refresh.start()

    def _focus_content(self) -> None:
        self._wants_focus = False
        self.panes.focus_queue_or(self)

    # ---- the queue

    def reload(self) -> None:
        """Read the queue as it is."""
        self.is_stale = False
        if not self._is_read:
            self.states.show_loading()
        wanted = QueueRequest(kinds=family_kinds(self.queue.filters.current))
        conflicts = self.context.bridge.engine.conflicts
        task = make_query(review_strings()["tasks"]["queue"], lambda: conflicts.list_queue(wanted)).within(
            self, "queue"
        )
        self.context.tasks.run(task.success(self._show_queue).failure(self._show_failure))

    def _show_queue(self, queue: Queue) -> None:
        self._is_read = True
        if self.decider.is_deciding:
            self._refresh.start()  # what is being decided would come back for a moment
            return
        wanted = self._target or self._find_restored(queue)
        self._target = ""
        before = self.queue.list.current
        self.queue.show_queue(queue, wanted)
        if not queue.rows:
            self._show_empty(queue)
            return
        self.states.show_content()
        after = self.queue.list.current
        if after is not None and after == before:
            self._read_item(after)  # the same row, but its memories may be others now
        self.panes.show_position()
        if self._wants_focus:
            self._focus_content()

    def _find_restored(self, queue: Queue) -> str:
        """What an undo brought back is looked at again; "" where nothing came back."""
        waiting = {one.id for one in queue.rows if not one.later}
        found = [one for one in self._decided if one in waiting]
        self._decided = [one for one in self._decided if one not in waiting][-_REMEMBERED:]
        return found[-1] if found else ""

    def _show_empty(self, queue: Queue) -> None:
        is_filtered = self.queue.filters.current != ALL and queue.total > 0
        strings = review_strings()["empty_filter" if is_filtered else "empty"]
        actions = [(strings["act"], self._show_all if is_filtered else self._open_library)]
        if queue.closed:
            actions.append((review_strings()["closed"]["recent"], self.queue.closed_asked.emit))
        actions.append((review_strings()["rules"]["button"], self.queue.rules_asked.emit))
        icon = "filter" if is_filtered else "circle-check"
        state = EmptyState(self.context.theme, icon, strings["title"], strings["sentence"], *actions)
        self.states.show_empty(add_page_title(review_strings()["page"], state))
        if self._wants_focus:
            self._wants_focus = False
            self.setFocus()

    def _open_library(self) -> None:
        self.context.desk.go.emit("library", "")

    def _show_all(self) -> None:
        self.queue.filters.show_all()
        self.reload()

    def _show_failure(self, error: BaseException) -> None:
        self.states.show_failure(error, self.reload, self.context.desk.show_message if self._is_read else None)

    # ---- the item

    def _on_row_chosen(self, shown: ReviewRow | None) -> None:
        if shown is None:
            self._decision_keys.item_id, self.item_panel.item = "", None
            return
        self._read_item(shown)
        self.context.selection.select(shown.incoming_id, ORIGIN)
        self.panes.show_position()

    def _read_item(self, shown: ReviewRow) -> None:
        self._decision_keys.item_id = shown.id
        conflicts = self.context.bridge.engine.conflicts
        task = make_query(review_strings()["tasks"]["item"], lambda: conflicts.read_item(shown.id)).within(self, "item")
        self.context.tasks.run(task.success(self._show_item).failure(self._fail_item))

    def _show_item(self, item: ReviewItem) -> None:
        if item.id == self._decision_keys.item_id:
            self.item_panel.show_item(item)
            self.panes.desk_states.show_content()

    def _fail_item(self, error: BaseException) -> None:
        problem = problem_of(error)
        self.item_panel.item = None
        if problem is not None:
            self.panes.desk_states.show_trouble(problem, self.reload)

    # ---- deciding

    @property
    def is_ready(self) -> bool:
        """Whether a key decides now."""
        return self._decision_keys.is_ready

    def run_action(self, action: Action) -> None:
        """A button or a key, pressed by hand or by a test."""
        self._decision_keys.run_action(action)

    def _remove_decided(self, ids: Sequence[str]) -> None:
        self._decided += ids
        self.queue.remove_rows(ids)
        self.panes.show_chosen()
        self.panes.show_position()
        self._focus_content()

    def _on_decided(self, _ids: tuple[str, ...], decided: DecisionReply) -> None:
        if decided.closed:
            self.queue.remove_rows(decided.closed)
        self._refresh.start()
        current = self.context.selection.current
        if current in {*decided.active, *decided.retired}:
            self.context.selection.reselect(current, ORIGIN)

    def _on_decision_refused(self, ids: tuple[str, ...]) -> None:
        self._decided = [one for one in self._decided if one not in ids]
        self._target = ids[0]
        self.queue.restore_rows()
        self.reload()


REVIEW = PageSpec("review", review_strings, "arrow-up-down", ReviewPage, on_request=True, badge=WaitingKind.REVIEWS)
