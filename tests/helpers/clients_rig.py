"""Clients of invented doings, for tests of the Clients page: frozen values, no engine behind them.

`FakeClients` answers like the engine's group `clients`, `FakePort` like the socket's pairing; what is asked of them is
written down.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypeVar

from answered import finished
from PySide6.QtWidgets import QDialog, QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot
from window_rig import settle

from core.errors import Code, UserError
from core.types.clients import (
    ActivityLine,
    ActivityPage,
    ClientCard,
    ClientState,
    ContextPreview,
    Denied,
    Did,
    PairingCode,
    PairingEnd,
    PairingOutcome,
    PairingQuestion,
    PairingTurn,
    Removal,
    TakenBack,
    Terms,
    Undoable,
)
from core.types.recall import Receipt, ReceiptPage, ReceiptRow
from core.types.replies import Paired
from core.types.views import Facets
from ui.context import Context
from ui.lists.list_view import ListView
from ui.pages.clients.client_rows import ClientRow
from ui.pages.clients.page import ClientsPage
from ui.strings import clients_strings

D = TypeVar("D", bound=QDialog)
HOUR_MS, DAY_MS = 3_600_000, 86_400_000
CODE = "QW3RTYUIOPAS2DFG"
HOSTILE = "Scribe‮\n<b>admin</b>"


def failed(code: Code, sentence: str) -> Future[Any]:
    """A future that has failed."""
    made: Future[Any] = Future()
    made.set_exception(UserError(code, sentence))
    return made


def card_of(name: str, now_ms: int, **more: Any) -> ClientCard:
    """A client that is awake."""
    member: dict[str, Any] = {
        "id": f"id-{name}",
        "standing": ClientState.AWAKE,
        "grants": ("read", "propose"),
        "spaces": (),
        "trust_ceiling": 0.85,
        "limit_minute": 20,
        "limit_session": 200,
        "paired_at": now_ms - 20 * DAY_MS,
        "seen_at": now_ms - HOUR_MS,
        "asked_by": "",
        "stands": 12,
        "waits": 3,
        "answers": 41,
        "refusals": 1,
        "steps": 5,
        **more,
    }
    return ClientCard(name=name, **member)


def receipt_row(receipt_id: str, at: int, query: str, items: int = 2) -> ReceiptRow:
    """An answer that was kept."""
    return ReceiptRow(receipt_id, at, "client", "Scribe", None, "recall", query, items, None, at + 90 * DAY_MS)


class FakeClients:
    """The group.

    Attributes:
        items: the clients, by name.
        asked: verbs with what they were given, in their order.
        lines: what they did.
        found: what taking back would do.
        seen: what is seen for a prompt.
        nos: names the person said no to.
        refuses: what the next verb says instead; "" for nothing.
    """

    def __init__(self, now_ms: int) -> None:
        self.now = now_ms
        self.items: dict[str, ClientCard] = {}
        self.asked: list[tuple[Any, ...]] = []
        self.lines: list[ActivityLine] = []
        self.found = Undoable(4, 3, {"store": 3, "dispute": 1}, 0)
        self.seen = ContextPreview("# Memory Context\nThe boat is called Heron.", 120, 1000, (), {})
        self.refuses = ""
        self.nos: list[Denied] = []

    def list_denied(self) -> Future[tuple[Denied, ...]]:
        """The names the person said no to."""
        return finished(tuple(self.nos))

    def allow_again(self, name: str) -> Future[str]:
        """Take a no back."""
        if self.refuses:
            return failed(Code.INVALID_INPUT, self.refuses)
        self.asked.append(("allow_again", name))
        self.nos = [one for one in self.nos if one.name_key != name]
        return finished(f"step-{len(self.asked)}")

    def add(self, name: str, **more: Any) -> ClientCard:
        """One more client."""
        self.items[name] = card_of(name, self.now, **more)
        return self.items[name]

    def _put(self, name: str, **more: Any) -> Future[str]:
        if self.refuses:
            return failed(Code.INVALID_INPUT, self.refuses)
        self.items[name] = replace(self.items[name], **more)
        return finished(f"step-{len(self.asked)}")

    # ---- the group's verbs

    def list_cards(self) -> Future[tuple[ClientCard, ...]]:
        """All."""
        return finished(tuple(self.items.values()))

    def pause(self, name: str) -> Future[str]:
        """Pause one."""
        self.asked.append(("pause", name))
        return self._put(name, standing=ClientState.PAUSED)

    def disclose(self, name: str, minutes: int) -> Future[int]:
        """Let one have what is sensitive."""
        self.asked.append(("disclose", name, minutes))
        self.items[name] = replace(self.items[name], sensitive_s=minutes * 60)
        return finished(minutes * 60)

    def resume(self, name: str) -> Future[str]:
        """Resume or wake one."""
        self.asked.append(("resume", name))
        return self._put(name, standing=ClientState.AWAKE)

    def revoke(self, name: str) -> Future[str]:
        """Revoke one."""
        self.asked.append(("revoke", name))
        return self._put(name, standing=ClientState.REVOKED)

    def change_terms(self, name: str, terms: Terms) -> Future[str]:
        """Other terms."""
        self.asked.append(("regrant", name, terms))
        spaces = tuple(one.removeprefix("space:") for one in terms.grants if one.startswith("space:"))
        return self._put(
            name,
            grants=tuple(one for one in terms.grants if not one.startswith("space:")),
            spaces=spaces,
            limit_minute=terms.limit_minute,
            limit_session=terms.limit_session,
            trust_ceiling=0.85 if terms.trust_ceiling is None else terms.trust_ceiling,
        )

    def stop_all(self) -> Future[str]:
        """Pause all."""
        self.asked.append(("stop_all",))
        for name, one in self.items.items():
            if one.standing is ClientState.AWAKE:
                self._put(name, standing=ClientState.PAUSED)
        return finished("step-stop")

    def resume_all(self) -> Future[str]:
        """Resume all."""
        self.asked.append(("resume_all",))
        for name, one in self.items.items():
            if one.standing is ClientState.PAUSED:
                self._put(name, standing=ClientState.AWAKE)
        return finished("step-resume")

    def preview_undo(self, name: str, since_ms: int) -> Future[Undoable]:
        """What would be undone."""
        self.asked.append(("undoable", name, since_ms))
        return finished(self.found)

    def undo_since(self, name: str, since_ms: int) -> Future[TakenBack]:
        """Take back."""
        self.asked.append(("undo_since", name, since_ms))
        return finished(TakenBack("step-undo" if self.found.steps else "", self.found.steps, self.found.left))

    def remove_all(self, name: str) -> Future[Removal]:
        """Take all away."""
        self.asked.append(("remove_all", name))
        found = self.found
        return finished(Removal("step-remove", found.steps, found.left_removing, found.archived))

    def list_activity(self, name: str | None, after: str | None, limit: int) -> Future[ActivityPage]:
        """A page of what was done."""
        begin = int(after or 0)
        page = tuple(self.lines[begin : begin + limit])
        more = begin + limit
        return finished(ActivityPage(page, str(more) if more < len(self.lines) else None))

    def preview_context(self, name: str, prompt: str, budget: int, model: str | None) -> Future[ContextPreview]:
        """What it would see."""
        self.asked.append(("sight", name, prompt, budget, model))
        return finished(replace(self.seen, budget=budget))

    def pair(self, name: str, grants: Sequence[str]) -> Future[Paired]:
        """A token."""
        self.asked.append(("pair", name, tuple(grants)))
        if self.refuses:
            return failed(Code.INVALID_INPUT, self.refuses)
        self.add(name, grants=tuple(grants), seen_at=None)
        return finished(Paired(f"id-{name}", name, bytes(range(32))))


class FakeLaboratory:
    """Receipts alone.

    Attributes:
        rows: newest first.
        bodies: each as a whole, by its id.
        asked: limits and cursors of the pages that were asked for.
    """

    def __init__(self) -> None:
        self.rows: list[ReceiptRow] = []
        self.asked: list[tuple[int, str | None]] = []
        self.bodies: dict[str, Receipt] = {}

    def add(self, row: ReceiptRow, given: Sequence[str], withheld: dict[str, str]) -> None:
        """One more receipt."""
        self.rows.insert(0, row)
        self.bodies[row.id] = Receipt(row, "", "hybrid", "usual", tuple(given), withheld, None, {})

    def list_receipts(self, limit: int, after: str | None, client: str | None) -> Future[ReceiptPage]:
        """A page; as of the engine, its cursor is the last receipt of it."""
        self.asked.append((limit, after))
        assert 1 <= limit <= 500
        begin = 0 if after is None else 1 + next(at for at, row in enumerate(self.rows) if row.id == after)
        page = tuple(self.rows[begin : begin + limit])
        return finished(ReceiptPage(page, page[-1].id if begin + limit < len(self.rows) else None))

    def read_receipt(self, receipt_id: str) -> Future[Receipt]:
        """One."""
        return finished(self.bodies[receipt_id])


class FakePort:
    """The socket's pairing.

    Attributes:
        turns: those that were opened, newest last, with the name they were opened for.
        answers: what was answered. `granted`: with which grants, newest last.
        missed: wrong codes so far.
        cancelled: how often it was cancelled.
    """

    def __init__(self) -> None:
        self.turns: list[tuple[str | None, PairingTurn]] = []
        self.answers: list[tuple[str, bool]] = []
        self.granted: list[tuple[str, ...] | None] = []
        self.missed = 0
        self.cancelled = 0

    @property
    def turn(self) -> PairingTurn:
        """The newest."""
        return self.turns[-1][1]

    def open_pairing(
        self, name: str | None, grants: tuple[str, ...] | None, limit: int | str | None = None
    ) -> PairingTurn:
        """A code at once."""
        assert grants is None
        assert limit is None
        made = PairingTurn(finished(PairingCode(CODE, 120.0, lambda: self.missed)), Future(), Future())
        self.turns.append((name, made))
        return made

    def ask(self, **more: Any) -> PairingQuestion:
        """Somebody redeems the code."""
        member: dict[str, Any] = {
            "id": "q1",
            "client": HOSTILE,
            "name": "Scribe",
            "grants": ("read", "propose", "space:work"),
            "asked_by": "python3.11, pid 4711",
            "code_end": CODE[-4:],
            "answer_s": 120.0,
            **more,
        }
        question = PairingQuestion(**member)
        self.turn.asked.set_result(question)
        return question

    def end(self, outcome: PairingOutcome, name: str = "Scribe", grants: tuple[str, ...] = ()) -> None:
        """It is over."""
        self.turn.asked.cancel()
        self.turn.ended.set_result(PairingEnd(outcome, name, grants, self.missed))

    def answer_question(self, request_id: str, allow: bool, grants: tuple[str, ...] | None = None) -> Future[bool]:
        """The person's answer ends it."""
        self.answers.append((request_id, allow))
        self.granted.append(grants)
        self.end(PairingOutcome.PAIRED if allow else PairingOutcome.DENIED, grants=grants or ())
        return finished(value=True)

    def cancel_pairing(self) -> Future[None]:
        """Nobody shall use it."""
        self.cancelled += 1
        return finished(None)


def did(at: int, what: Did, verb: str, **more: Any) -> ActivityLine:
    """A line of activity."""
    return ActivityLine(at, what, verb, "Scribe", **more)


class ClientsRoom:
    """A shown page over invented clients.

    Attributes:
        page: the page. `clients`, `laboratory`: the groups. `port`: the socket.
        said: sentences the person was told, with their action. `facets_read`: how often all the library was counted.
    """

    def __init__(self, context: Context, qtbot: QtBot) -> None:
        self.context, self.qtbot = context, qtbot
        self.now = context.clock.now_ms()
        self.clients, self.laboratory, self.port = FakeClients(self.now), FakeLaboratory(), FakePort()
        self.facets = Facets(
            {}, {}, {"GLOBAL": 1, "home": 4, "work": 2, "client:Scribe": 1}, {}, {}, {}, {}, None, None
        )
        self.facets_read = 0
        self.said: list[tuple[str, str, Any]] = []
        context.desk.message_asked.connect(lambda sentence, act, run, _stays: self.said.append((sentence, act, run)))
        self.page = ClientsPage(context)

    def enter(self, wish: str = "") -> ClientsPage:
        """Show the page and wait until it rests."""
        self.page.resize(1100, 760)
        self.page.show()
        self.qtbot.waitExposed(self.page)
        self.page.activate(wish)
        self.rest()
        return self.page

    def rest(self) -> None:
        """Wait until nothing is under way but a code that waits to be used."""
        waiting = clients_strings()["pairing"]["task"]

        def rests() -> bool:
            busy = [running for running in self.context.tasks.running if running.label != waiting]
            return self.page.is_settled() and not busy

        settle(self.qtbot, rests)

    def read_facets(self) -> Future[Facets]:
        """Of the whole library."""
        self.facets_read += 1
        return finished(self.facets)

    def words(self, inside: QWidget | None = None) -> str:
        """All that can be read on labels."""
        found = (inside or self.page).findChildren(QLabel)
        return "\n".join(one.text() for one in found if one.isVisible())

    def dialog(self, kind: type[D]) -> D:
        """The open dialog of a kind."""
        found = [one for one in self.page.findChildren(kind) if one.isVisible()]
        assert len(found) == 1
        return found[0]

    def press(self, made: QPushButton) -> None:
        """Press a button that can be pressed."""
        assert made.isEnabled()
        assert made.isVisible()
        made.click()
        self.rest()


def two(room: ClientsRoom) -> ClientsRoom:
    """One that is awake and one that is paused."""
    room.clients.add("Scribe", spaces=("work",))
    room.clients.add("Clipper", standing=ClientState.PAUSED, waits=0, seen_at=None)
    return room


def rows_of(shown: ListView) -> list[ClientRow]:
    """The lines of a list without its headings."""
    return [line for line in shown.lines.lines if isinstance(line, ClientRow)]


@contextmanager
def clients_over(context: Context, qtbot: QtBot, monkeypatch: Any) -> Iterator[ClientsRoom]:
    """A page whose engine has invented clients.

    Args:
        context: what pages are given; its engine gets the invented groups for the test.
        qtbot: of the test.
        monkeypatch: of the test.
    """
    room = ClientsRoom(context, qtbot)
    engine = context.bridge.engine
    monkeypatch.setattr(engine, "clients", room.clients)
    monkeypatch.setattr(engine, "recall_trials", room.laboratory)
    monkeypatch.setattr(engine.library, "count_facets", room.read_facets)
    context.pairing.port = room.port
    try:
        yield room
    finally:
        room.page.deactivate()
        room.page.close()
        room.page.deleteLater()
