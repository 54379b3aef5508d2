"""The view of what a client does, as it does it: answers, changes, refusals, newest first.

A change names the memory it was about. Must not do: show a word that was asked; the receipt does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Signal

from core.types.clients import ActivityLine, ActivityPage, Did
from ui.context import Context
from ui.lists.row_spec import Heading
from ui.pages.clients.common.lines import Line, Row, client_list, is_below
from ui.pages.clients.common.words import did_note, did_told
from ui.pages.clients.views.tab import Tab, clock_told, day_heading, has_keyboard, offer
from ui.strings import clients_strings
from ui.tasks import query
from ui.undo import take_back
from ui.widgets.basics import button, card_of, column, row
from ui.widgets.states import FOOT, EmptyState

PAGE_ROWS = 100
_MOST_AGAIN = 200  # the engine gives no larger page
_ICONS: Mapping[Did, tuple[str, str]] = {
    Did.ASKED: ("search", "muted"),
    Did.WROTE: ("pencil", "accent"),
    Did.REFUSED: ("circle-alert", "danger"),
}
_ASKED_FOR, _HELD_BACK = ("circle-help", "accent"), ("triangle-alert", "warning")
# A wish is one by its verb, whatever was answered.
_WISHES = frozenset({"ask_update", "ask_delete", "ask_forget", "entity_propose"})


def activity_row(line: ActivityLine, number: int) -> Row:
    """A line of the list.

    Args:
        line: what was done.
        number: tells lines of the same moment apart.
    """
    icon, ink = _mark_of(line)
    return Row(
        id=line.receipt_id or line.step_id or f"{line.at}-{line.verb}-{line.code}-{number}",
        head=did_told(line),
        note=did_note(line),
        icon=icon,
        ink=ink,
        aside=clock_told(line.at),
        is_struck=line.is_undone,
        value=line,
    )


def _mark_of(line: ActivityLine) -> tuple[str, str]:
    """An icon and its colour: what only waits for the person does not look like what was done."""
    if line.operation == "QUARANTINE":
        return _HELD_BACK
    return _ASKED_FOR if line.operation == "PROPOSED" or line.verb in _WISHES else _ICONS[line.did]


def activity_lines(found: Sequence[ActivityLine], now_ms: int, after: str = "") -> list[Line]:
    """Lines under the headings of their days.

    Args:
        found: newest first.
        now_ms: the present.
        after: the heading they follow.
    """
    made: list[Line] = []
    same: dict[tuple[int, str, str], int] = {}
    for line in found:
        day = day_heading(line.at, now_ms)
        if day != after:
            after = day
            made.append(Heading(day))
        key = (line.at, line.verb, line.code)
        same[key] = same.get(key, 0) + 1
        made.append(activity_row(line, same[key]))
    return made


class ActivityTab(Tab):
    """The view.

    Signals:
        receipt_asked: the id of a receipt somebody wants to see.
    """

    receipt_asked = Signal(str)
    poll_ms = 3_000

    def __init__(self, context: Context) -> None:
        said = clients_strings()["activity"]
        super().__init__(context, said["reading"])
        self._next: str | None = None
        self.list = client_list(context.theme, said["name"])
        self.receipt = button(said["receipt"], self._show_receipt, theme=context.theme, icon="scan-search")
        self.undo = button(said["undo"], self._undo, theme=context.theme, icon="undo-2")
        self.receipt.setProperty(FOOT, True)  # noqa: FBT003 - Qt's name
        box = column(self.inside, card_of(self.list), gap=10)
        box.setStretch(0, 1)
        box.addLayout(row(self.receipt, self.undo, None))
        self.list.looked_at.connect(self._offer)
        self.list.opened.connect(lambda _: self._show_receipt())
        self.list.lines.more.connect(self._more)
        self._offer(None)

    def forget(self) -> None:
        """Another client."""
        self.list.show_lines([])

    def read(self) -> None:
        """Read again from the newest on, as far as it was read before."""
        if not self._is_read:
            self.states.loading()
        self._ask(None, max(PAGE_ROWS, min(_MOST_AGAIN, self.list.lines.rowCount())))

    def look_again(self) -> None:
        """Read again, unless somebody reads far below: what is there stays then."""
        if not is_below(self.list, _MOST_AGAIN):
            self.read()

    def _more(self) -> None:
        self._ask(self._next, PAGE_ROWS)

    def _ask(self, after: str | None, limit: int) -> None:
        card = self.card
        if card is None:
            return
        clients, is_first = self.context.bridge.engine.clients, after is None

        def show(page: ActivityPage) -> None:
            if self.card is not None and self.card.name == card.name:
                self._show(page) if is_first else self._append(page)

        asked = query(clients_strings()["activity"]["reading"], lambda: clients.activity(card.name, after, limit))
        self.context.tasks.run(asked.within(self, "activity").success(show).failure(self.fail))

    def _show(self, page: ActivityPage) -> None:
        self._is_read, self._next = True, page.next
        if not page.lines:
            said = clients_strings()["activity"]
            self.states.empty(EmptyState(self.context.theme, "activity", said["empty_title"], said["empty"]))
            return
        now = self.context.clock.now_ms()
        self.list.show_lines(activity_lines(page.lines, now), has_more=page.next is not None)
        self.states.content()

    def _append(self, page: ActivityPage) -> None:
        self._next = page.next
        now = self.context.clock.now_ms()
        last = next((one for one in reversed(self.list.lines.lines) if isinstance(one, Row)), None)
        after = day_heading(last.value.at, now) if last is not None else ""
        self.list.lines.append(activity_lines(page.lines, now, after), has_more=page.next is not None)

    # ---- what can be done with a line

    def _offer(self, shown: Row | None) -> None:
        line = None if shown is None else shown.value
        held = next((made for made in (self.receipt, self.undo) if has_keyboard(made)), None)
        said = clients_strings()["activity"]
        offer(self.receipt, "" if line is not None and line.receipt_id else said["no_receipt"], said["receipt_hint"])
        is_undone = line is not None and line.is_undone
        cannot = said["undone_already"] if is_undone else "" if line is not None and line.step_id else said["no_step"]
        offer(self.undo, cannot, said["undo_hint"])
        if held is not None and not held.isEnabled():
            self.list.setFocus()

    def _show_receipt(self) -> None:
        current = self.list.current
        if current is not None and current.value.receipt_id:
            self.receipt_asked.emit(current.value.receipt_id)

    def _undo(self) -> None:
        current = self.list.current
        if current is not None and current.value.step_id:
            take_back(self.context, current.value.step_id)
