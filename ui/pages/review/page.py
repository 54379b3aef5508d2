"""The Review page: the queue at the left, the item at the right, decided by one key each.

Must not do: know another page, or decide while something is being decided, read or written.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future

from PySide6.QtCore import QTimer

from core.events import Changed
from core.types.reviews import DecisionReply, Queue, QueueRequest, ReviewItem, ReviewRow
from core.types.values import Action
from ui.context import Context, Page, PageSpec
from ui.pages.review.decisions import DecisionKeys, DecisionRunner
from ui.pages.review.panes import ORIGIN, Links, Panes
from ui.pages.review.queue import ALL, ClosedDialog, RulesDialog, kinds_of
from ui.strings import review_strings
from ui.tasks import problem_of, query
from ui.widgets.basics import column
from ui.widgets.states import EmptyState, States

_REFRESH_MS = 250
_REMEMBERED = 200


class ReviewPage(Page):
    """The Review page."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._is_shown = self._is_read = self._wants_focus = False
        self._wished = ""
        self._decided: list[str] = []
        self.decider = DecisionRunner(context, self)
        self.decider.done.connect(self._on_decided)
        self.decider.refused.connect(self._on_decision_refused)
        self.stand = Panes(context.theme)
        self.states = States(context.theme, self.stand, "Reading the queue …")
        column(self, self.states)
        self.stand.build(Links(context, self))
        self.queue, self.desk, self.batch = self.stand.queue, self.stand.desk, self.stand.batch
        self.queue.list.looked_at.connect(self._look)
        self.queue.filtered.connect(lambda _: self.read())
        self.queue.closed_asked.connect(lambda: ClosedDialog(context, self).open())
        self.queue.rules_asked.connect(lambda: RulesDialog(context, self).open())
        self._presses = DecisionKeys(context, self.stand, self.decider, self)
        self._presses.is_open = lambda: self._is_shown and self.states.currentWidget() is self.stand
        self._presses.taken.connect(self._take_out)
        self._presses.bind()
        self._refresh = QTimer(self)
        self._refresh.setSingleShot(True)
        self._refresh.setInterval(_REFRESH_MS)
        self._refresh.timeout.connect(self.read)

    # ---- the page's life

    def enter(self, wish: str = "") -> None:
        """Show the page and read what it needs.

        Args:
            wish: an item's id, to look at that one; "" for none.
        """
        self._is_shown = self._wants_focus = True
        self._wished = wish
        if self.is_stale or not self._is_read:
            self.read()
            return
        self._take_focus()
        if wish:
            self.queue.show_again(wish)

    def leave(self) -> None:
        """Another page is shown: nothing runs here any more."""
        self._is_shown = False
        self.is_stale = self.is_stale or self._refresh.isActive()
        self._refresh.stop()
        self.decider.rest()

    def is_settled(self) -> bool:
        """Whether it shows all it is about to show."""
        current, shown = self.queue.list.current, self.desk.item
        shows = current is None or (shown is not None and shown.id == current.id)
        return self._is_read and shows and not self._refresh.isActive()

    def changed(self, change: Changed) -> None:
        """What was stored, decided, undone or forgotten may open or close items: read again."""
        super().changed(change)
        if self._is_shown and not self._refresh.isActive():
            self._refresh.start()

    def _take_focus(self) -> None:
        self._wants_focus = False
        self.stand.take_focus(self)

    # ---- the queue

    def read(self) -> None:
        """Read the queue as it stands."""
        self.is_stale = False
        if not self._is_read:
            self.states.show_loading()
        wanted = QueueRequest(kinds=kinds_of(self.queue.filters.current))
        conflicts = self.context.bridge.engine.conflicts
        asked = query("Reading the queue", lambda: conflicts.queue(wanted)).within(self, "queue")
        self.context.tasks.run(asked.success(self._show).failure(self._fail))

    def _show(self, queue: Queue) -> None:
        self._is_read = True
        if self.decider.is_deciding:
            self._refresh.start()  # what is being decided would come back for a moment
            return
        wanted = self._wished or self._came_back(queue)
        self._wished = ""
        before = self.queue.list.current
        self.queue.show_queue(queue, wanted)
        if not queue.rows:
            self._show_empty(queue)
            return
        self.states.show_content()
        after = self.queue.list.current
        if after is not None and after == before:
            self._read_item(after)  # the same row, but its memories may be others now
        self.stand.say_place()
        if self._wants_focus:
            self._take_focus()

    def _came_back(self, queue: Queue) -> str:
        """What an undo brought back is looked at again; "" where nothing came back."""
        there = {one.id for one in queue.rows if not one.later}
        found = [one for one in self._decided if one in there]
        self._decided = [one for one in self._decided if one not in there][-_REMEMBERED:]
        return found[-1] if found else ""

    def _show_empty(self, queue: Queue) -> None:
        is_filtered = self.queue.filters.current != ALL and queue.total > 0
        said = review_strings()["empty_filter" if is_filtered else "empty"]
        actions = [("Show all", self._show_all)] if is_filtered else []
        if queue.closed:
            actions.append(("What closed lately", self.queue.closed_asked.emit))
        actions.append(("Decisions that repeat", self.queue.rules_asked.emit))
        icon = "filter" if is_filtered else "circle-check"
        self.states.show_empty(EmptyState(self.context.theme, icon, said["title"], said["sentence"], *actions))
        if self._wants_focus:
            self._wants_focus = False
            self.setFocus()

    def _show_all(self) -> None:
        self.queue.filters.show_all()
        self.read()

    def _fail(self, error: BaseException) -> None:
        self.states.show_failure(error, self.read, self.context.desk.say if self._is_read else None)

    # ---- the item

    def _look(self, shown: ReviewRow | None) -> None:
        if shown is None:
            self._presses.item_id, self.desk.item = "", None
            return
        self._read_item(shown)
        self.context.selection.select(shown.incoming_id, ORIGIN)
        self.stand.say_place()

    def _read_item(self, shown: ReviewRow) -> None:
        self._presses.item_id = shown.id
        conflicts = self.context.bridge.engine.conflicts
        asked = query("Reading the item", lambda: conflicts.item(shown.id)).within(self, "item")
        self.context.tasks.run(asked.success(self._show_item).failure(self._fail_item))

    def _show_item(self, item: ReviewItem) -> None:
        if item.id == self._presses.item_id:
            self.desk.show_item(item)
            self.stand.desk_states.show_content()

    def _fail_item(self, error: BaseException) -> None:
        problem = problem_of(error)
        self.desk.item = None
        if problem is not None:
            self.stand.desk_states.show_trouble(problem, self.read)

    # ---- deciding

    @property
    def is_ready(self) -> bool:
        """Whether a key decides now."""
        return self._presses.is_ready

    def press(self, action: Action) -> None:
        """A button or a key, pressed by hand or by a test."""
        self._presses.press(action)

    def _take_out(self, ids: Sequence[str]) -> None:
        self._decided += ids
        self.queue.take_away(ids)
        self.stand.show_chosen()
        self.stand.say_place()
        self._take_focus()

    def _on_decided(self, _ids: tuple[str, ...], decided: DecisionReply) -> None:
        if decided.closed:
            self.queue.take_away(decided.closed)
        self._refresh.start()
        current = self.context.selection.current
        if current in {*decided.active, *decided.retired}:
            self.context.selection.again(current, ORIGIN)

    def _on_decision_refused(self, ids: tuple[str, ...]) -> None:
        self._decided = [one for one in self._decided if one not in ids]
        self._wished = ids[0]
        self.queue.put_back()
        self.read()


def _count_waiting(context: Context) -> Future[int]:
    return context.bridge.engine.conflicts.count_waiting()


REVIEW = PageSpec(
    "review",
    "Review",
    "arrow-up-down",
    ReviewPage,
    "conflicts desk contradictions proposals held back decide settle inbox queue",
    on_request=True,
    badge=_count_waiting,
)
