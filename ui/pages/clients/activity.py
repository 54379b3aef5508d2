"""The views of what a client does, newest first, and of what it was given: answers, changes, refusals, receipts.

A change names the memory it was about. Must not do: show a word that was asked but in its receipt, change a receipt,
or show to anybody but the person what was withheld.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QWidget

from core.types.clients import ActivityLine, ActivityPage, Did
from core.types.recall import Receipt, ReceiptPage, ReceiptRow
from core.types.views import MemoryRow
from ui.bridge import make_query
from ui.context import CLOSER, Context
from ui.lists.list_view import ListView
from ui.lists.row_spec import Heading, insert_headings
from ui.pages.clients.client_header import (
    ClientTab,
    client_memory_row,
    has_keyboard,
    set_button_offer,
)
from ui.pages.clients.client_rows import ClientRow, Line, client_list, is_reading_below
from ui.pages.clients.labels import describe_action, describe_activity, describe_verb, describe_withheld_reason
from ui.strings import clients_strings, format_count
from ui.undo import undo_step
from ui.widgets.basics import make_button, make_column, make_label, make_row, wrap_in_card
from ui.widgets.labels import capitalize_first, format_clock, format_day_heading
from ui.widgets.plaintext import one_line
from ui.widgets.states import FOOT, EmptyState

RECEIPTS_AT_ONCE = 50
_MOST_RECEIPTS_AGAIN = 500  # the engine gives no larger page
_BESIDE = 440
_QUESTION = 160
_CONTEXT, _RECALL = "context", "recall"


def receipt_row(receipt: ReceiptRow) -> ClientRow:
    """A receipt as a line."""
    gave, question = clients_strings()["activity"], one_line(receipt.query, _QUESTION)
    given = format_count(gave["gave"], receipt.items) if receipt.items else gave["gave_none"]
    done = capitalize_first(describe_verb(receipt.verb))
    why = (
        clients_strings()["receipts"]["context"]
        if receipt.verb == _CONTEXT
        else ""
        if receipt.verb == _RECALL
        else done
    )
    return ClientRow(
        id=receipt.id,
        title=question or done,
        note=" · ".join(part for part in (why if question else "", given) if part),
        icon="quote",
        aside=format_clock(receipt.at),
        value=receipt,
    )


def receipt_lines(receipts: Sequence[ReceiptRow], now_ms: int, after: str = "") -> list[Line]:
    """Receipts under the headings of their days.

    Args:
        receipts: newest first.
        after: the heading they follow.
    """
    return _head_days(map(receipt_row, receipts), now_ms, after)


def _head_days(rows: Iterable[ClientRow], now_ms: int, after: str) -> list[Line]:
    """Rows of what happened, under the headings of their days."""
    return [*insert_headings(rows, lambda row: format_day_heading(row.value.at, now_ms), after)]


def given_lines(given: Sequence[str], withheld: Mapping[str, str], rows: Sequence[MemoryRow]) -> list[Line]:
    """What was given and what was withheld, each with its reason.

    Args:
        given: ids in the order of the answer.
        withheld: id to the reason.
        rows: the memories that are still there.
    """
    strings, known = clients_strings()["receipts"], {one.id: one for one in rows}

    def make_memory_row(memory_id: str, note: str = "") -> ClientRow:
        row = known.get(memory_id)
        return (
            client_memory_row(row, note)
            if row
            else ClientRow(memory_id, strings["gone"], note, icon="circle", value="")
        )

    lines: list[Line] = []
    if given:
        lines += [Heading(f"{strings['given']} · {len(given):,}"), *(make_memory_row(one) for one in given)]
    left = {one: why for one, why in withheld.items() if one not in given}
    if left:
        lines.append(Heading(f"{strings['withheld']} · {len(left):,}"))
        lines += [make_memory_row(one, capitalize_first(describe_withheld_reason(why))) for one, why in left.items()]
    return lines


def withheld_of(receipt: Receipt) -> dict[str, str]:
    """All that was found and not handed out: what recall dropped, and what did not fit into a context.

    Args:
        receipt: as it was kept.
    """
    packed = receipt.body.get(_CONTEXT)
    excluded = packed.get("excluded", ()) if isinstance(packed, Mapping) else ()
    return {**receipt.withheld, **{str(one["id"]): str(one["reason"]) for one in excluded}}


def receipt_memory_list(context: Context, name: str) -> ListView:
    """A list of memories; a click or Enter opens one beside the page.

    Args:
        name: for those who do not see it.
    """
    made = client_list(context.theme, name)

    def select_memory(row: ClientRow | None) -> None:
        if row is not None and row.value:
            context.selection.reselect(row.value, CLOSER)

    made.opened.connect(select_memory)
    made.clicked.connect(lambda _: select_memory(made.current))
    return made


class ReceiptsTab(ClientTab):
    """The view of what a client was given, with the receipt of each answer."""

    poll_ms = 3_000

    def __init__(self, context: Context) -> None:
        strings = clients_strings()["receipts"]
        super().__init__(context, strings["reading"])
        self._next: str | None = None
        self._target = ""
        self.receipt: Receipt | None = None
        self.list = client_list(context.theme, strings["name"])
        self.detail = receipt_memory_list(context, strings["detail"])
        self.question = make_label("", "strong", wrap=True)
        self.note = make_label("", "small", wrap=True)
        side = QWidget()
        make_column(side, self.question, self.note, wrap_in_card(self.detail), gap=6).setStretch(2, 1)
        self._line = make_row(wrap_in_card(self.list), side, gap=12, parent=self.inside)
        self._line.setStretch(0, 1)
        self._line.setStretch(1, 1)
        self.list.looked_at.connect(self._on_receipt_chosen)
        self.list.lines.more.connect(self._load_more)
        self._is_whole = True

    @property
    def is_settled(self) -> bool:
        """Whether the list and the receipt that is looked at were read."""
        return super().is_settled and (not self._is_seen or self._is_whole)

    def forget_client(self) -> None:
        """Drop what was read of the client before."""
        self.list.show_lines([])
        self._show_nothing()

    def select_receipt_next(self, receipt_id: str) -> None:
        """Look at this receipt next."""
        self._target = receipt_id

    def reload(self) -> None:
        """Read again from the newest on, as far as it was read before."""
        if not self._is_read:
            self.states.show_loading()
        again = max(RECEIPTS_AT_ONCE, min(_MOST_RECEIPTS_AGAIN, self.list.lines.rowCount()))
        self._request_page(None, _MOST_RECEIPTS_AGAIN if self._target else again)

    def reload_near_top(self) -> None:
        """Read again, unless somebody reads far below: what is there stays then."""
        if not is_reading_below(self.list, _MOST_RECEIPTS_AGAIN):
            self.reload()

    def _load_more(self) -> None:
        self._request_page(self._next, RECEIPTS_AT_ONCE)

    def _request_page(self, after: str | None, limit: int) -> None:
        card = self.card
        if card is None:
            return
        laboratory = self.context.bridge.engine.recall_trials

        def show_page(page: ReceiptPage) -> None:
            if self.card is not None and self.card.name == card.name:
                self._show_first_page(page) if after is None else self._append_page(page)

        task = make_query(
            clients_strings()["receipts"]["reading"], lambda: laboratory.list_receipts(limit, after, card.name)
        )
        self.context.tasks.run(task.within(self, "receipts").success(show_page).failure(self.show_failure))

    def _show_first_page(self, page: ReceiptPage) -> None:
        self._is_read, self._next = True, page.next
        wished, self._target = self._target, ""
        if not page.rows:
            strings = clients_strings()["receipts"]
            self.states.show_empty(EmptyState(self.context.theme, "quote", strings["empty_title"], strings["empty"]))
            return
        lines = receipt_lines(page.rows, self.context.clock.now_ms())
        self.states.show_content()
        self.list.show_lines(lines, wanted=wished, has_more=page.next is not None)

    def _append_page(self, page: ReceiptPage) -> None:
        self._next = page.next
        now = self.context.clock.now_ms()
        last = next((one for one in reversed(self.list.lines.lines) if isinstance(one, ClientRow)), None)
        after = format_day_heading(last.value.at, now) if last is not None else ""
        self.list.lines.append_lines(receipt_lines(page.rows, now, after), has_more=page.next is not None)

    # ---- one receipt

    def _on_receipt_chosen(self, shown: ClientRow | None) -> None:
        if shown is None:
            self._show_nothing()
            return
        self._is_whole = False
        laboratory, library = self.context.bridge.engine.recall_trials, self.context.bridge.engine.library

        def read_memories(receipt: Receipt) -> None:
            ids = (*receipt.given, *withheld_of(receipt))

            def start_query() -> Future[tuple[MemoryRow, ...]]:
                return library.read_rows(ids)

            task = make_query(clients_strings()["receipts"]["one"], start_query).within(self, "memories")
            self.context.tasks.run(
                task.success(lambda rows: self._show_receipt(receipt, rows)).failure(self._on_receipt_failed)
            )

        task = make_query(clients_strings()["receipts"]["one"], lambda: laboratory.read_receipt(shown.id)).within(
            self, "receipt"
        )
        self.context.tasks.run(task.success(read_memories).failure(self._on_receipt_failed))

    def _on_receipt_failed(self, error: BaseException) -> None:
        self._is_whole = True
        self.show_failure(error)

    def _show_receipt(self, receipt: Receipt, rows: Sequence[MemoryRow]) -> None:
        strings = clients_strings()["receipts"]
        self._is_whole = True
        current = self.list.current
        if current is None or current.id != receipt.row.id:
            return  # another one is looked at by now
        self.receipt = receipt
        withheld = withheld_of(receipt)
        self.question.setText(receipt_row(receipt.row).title)
        none = [strings["none_given"]] if not receipt.given else []
        none += [strings["none_withheld"]] if not withheld and not receipt.sealed else []
        none += [format_count(strings["sealed"], receipt.sealed)] if receipt.sealed else []
        none += [format_count(strings["unlisted"], receipt.unlisted)] if receipt.unlisted else []
        none += [format_count(strings["reads"], receipt.reads)] if receipt.reads > 1 else []
        self.note.setText(" ".join([*none, strings["open"]] if receipt.given or withheld else none))
        self.detail.show_lines(given_lines(receipt.given, withheld, rows))

    def _show_nothing(self) -> None:
        self._is_whole, self.receipt = True, None
        self.question.setText("")
        self.note.setText("")
        self.detail.show_lines([])

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Where it is narrow, the receipt is under the list."""
        super().resizeEvent(event)
        is_wide = self.width() >= self.context.theme.px(_BESIDE)
        way = QBoxLayout.Direction.LeftToRight if is_wide else QBoxLayout.Direction.TopToBottom
        self._line.setDirection(way)


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


def activity_row(line: ActivityLine, number: int) -> ClientRow:
    """A line of the list.

    Args:
        number: tells lines of the same moment apart.
    """
    icon, ink = _activity_icon(line)
    return ClientRow(
        id=line.receipt_id or line.step_id or f"{line.at}-{line.verb}-{line.code}-{number}",
        title=describe_action(line),
        note=describe_activity(line),
        icon=icon,
        ink=ink,
        aside=format_clock(line.at),
        is_struck=line.is_undone,
        value=line,
    )


def _activity_icon(line: ActivityLine) -> tuple[str, str]:
    """An icon and its colour: what only waits for the person does not look like what was done."""
    if line.operation == "QUARANTINE":
        return _HELD_BACK
    return _ASKED_FOR if line.operation == "PROPOSED" or line.verb in _WISHES else _ICONS[line.did]


def activity_lines(activity: Sequence[ActivityLine], now_ms: int, after: str = "") -> list[Line]:
    """Lines under the headings of their days.

    Args:
        activity: newest first.
        after: the heading they follow.
    """
    same = Counter[tuple[int, str, str]]()
    rows = []
    for line in activity:
        key = (line.at, line.verb, line.code)
        same[key] += 1
        rows.append(activity_row(line, same[key]))
    return _head_days(rows, now_ms, after)


class ActivityTab(ClientTab):
    """The view of what a client does, newest first.

    Signals:
        receipt_asked: the id of a receipt somebody wants to see.
    """

    receipt_asked = Signal(str)
    poll_ms = 3_000

    def __init__(self, context: Context) -> None:
        strings = clients_strings()["activity"]
        super().__init__(context, strings["reading"])
        self._next: str | None = None
        self.list = client_list(context.theme, strings["name"])
        self.receipt = make_button(strings["receipt"], self._show_receipt, theme=context.theme, icon="scan-search")
        self.undo = make_button(strings["undo"], self._undo_chosen, theme=context.theme, icon="undo-2")
        self.receipt.setProperty(FOOT, True)  # noqa: FBT003 - Qt's name
        box = make_column(self.inside, wrap_in_card(self.list), gap=10)
        box.setStretch(0, 1)
        box.addLayout(make_row(self.receipt, self.undo, None))
        self.list.looked_at.connect(self._update_actions)
        self.list.opened.connect(lambda _: self._show_receipt())
        self.list.lines.more.connect(self._load_more)
        self._update_actions(None)

    def forget_client(self) -> None:
        """Drop what was read of the client before."""
        self.list.show_lines([])

    def reload(self) -> None:
        """Read again from the newest on, as far as it was read before."""
        if not self._is_read:
            self.states.show_loading()
        self._request_page(None, max(PAGE_ROWS, min(_MOST_AGAIN, self.list.lines.rowCount())))

    def reload_near_top(self) -> None:
        """Read again, unless somebody reads far below: what is there stays then."""
        if not is_reading_below(self.list, _MOST_AGAIN):
            self.reload()

    def _load_more(self) -> None:
        self._request_page(self._next, PAGE_ROWS)

    def _request_page(self, after: str | None, limit: int) -> None:
        card = self.card
        if card is None:
            return
        clients, is_first = self.context.bridge.engine.clients, after is None

        def show_page(page: ActivityPage) -> None:
            if self.card is not None and self.card.name == card.name:
                self._show_first_page(page) if is_first else self._append_page(page)

        task = make_query(
            clients_strings()["activity"]["reading"], lambda: clients.list_activity(card.name, after, limit)
        )
        self.context.tasks.run(task.within(self, "activity").success(show_page).failure(self.show_failure))

    def _show_first_page(self, page: ActivityPage) -> None:
        self._is_read, self._next = True, page.next
        if not page.lines:
            strings = clients_strings()["activity"]
            self.states.show_empty(EmptyState(self.context.theme, "activity", strings["empty_title"], strings["empty"]))
            return
        now = self.context.clock.now_ms()
        self.list.show_lines(activity_lines(page.lines, now), has_more=page.next is not None)
        self.states.show_content()

    def _append_page(self, page: ActivityPage) -> None:
        self._next = page.next
        now = self.context.clock.now_ms()
        last = next((one for one in reversed(self.list.lines.lines) if isinstance(one, ClientRow)), None)
        after = format_day_heading(last.value.at, now) if last is not None else ""
        self.list.lines.append_lines(activity_lines(page.lines, now, after), has_more=page.next is not None)

    # ---- what can be done with a line

    def _update_actions(self, shown: ClientRow | None) -> None:
        line = None if shown is None else shown.value
        focused = next((button for button in (self.receipt, self.undo) if has_keyboard(button)), None)
        strings = clients_strings()["activity"]
        set_button_offer(
            self.receipt, "" if line is not None and line.receipt_id else strings["no_receipt"], strings["receipt_hint"]
        )
        is_undone = line is not None and line.is_undone
        cannot = (
            strings["undone_already"] if is_undone else "" if line is not None and line.step_id else strings["no_step"]
        )
        set_button_offer(self.undo, cannot, strings["undo_hint"])
        if focused is not None and not focused.isEnabled():
            self.list.setFocus()

    def _show_receipt(self) -> None:
        current = self.list.current
        if current is not None and current.value.receipt_id:
            self.receipt_asked.emit(current.value.receipt_id)

    def _undo_chosen(self) -> None:
        current = self.list.current
        if current is not None and current.value.step_id:
            undo_step(self.context, current.value.step_id)
