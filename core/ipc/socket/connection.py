"""One connection: reads lines, keeps its calls apart, writes answers and notifications of changes, and cleans up.

A subscription's queue holds what waits for a slow reader. When it is full, or one change was of more memories than a
line should name, the reader is told once that it missed something and should ask again, if any of that was for its
eyes; only where those memories lie is kept for it meanwhile. Must not do: know what a method does, let one peer's fault
reach another, tell a sequence or a count of the vault, let it be felt that others are busy.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from core import log
from core.engine.facade import Engine
from core.errors import BugError, Code, LociError, UserError
from core.ipc.methods.definition.entry import CallProgress, await_future
from core.ipc.protocol.messages import (
    LINE_BYTES,
    BadMessage,
    Ident,
    Request,
    encode_message,
    make_failure,
    make_notification,
    parse_request_line,
)
from core.ipc.protocol.sessions import Handshake, Session
from core.ipc.protocol.transport import Peer
from core.ipc.socket.limits import Caps
from core.ipc.socket.line_stream import LineReader, LineTooLongError, LineWriter, StreamEndedError
from core.ipc.socket.pairing import pairing_refused_error
from core.types.clients import Moved, Moves, Place
from core.types.values import Actor

_log = log.get("ipc")
_SESSIONS = 200  # remembered before it is looked which of them are in use; those are fewer, however long a peer stays


KINDS = ("stored", "changed", "gone")
_QUEUED = 64
_DROPPED = 4000  # places of changes that did not fit; behind that many the reader is told that it missed something
_BREATH_S = 0.25
_IDS = 500  # of one change; a line stays far below its cap

Actors = Callable[[], Actor | None]


@dataclass(eq=False)
class Call:
    """One call that is being carried out.

    Attributes:
        request: what was asked.
        effect: `read` and `session` are given up when the peer goes, `write` is finished.
        progress: set for long calls.
        stopped: why it was given up while the peer is still there; becomes its answer.
        closes: the connection ends after the answer.
        after: run once the answer is out.
    """

    request: Request
    effect: str = "read"
    progress: CallProgress | None = None
    stopped: LociError | None = None
    closes: bool = False
    after: Callable[[], None] | None = None
    task: asyncio.Task[None] | None = field(default=None, repr=False)

    def stop(self, why: LociError) -> None:
        """Give it up and answer why."""
        if self.task is not None and not self.task.done():
            self.stopped = why
            self.task.cancel()


Answer = Callable[["Connection", Call], Awaitable[bytes]]
Refused = Callable[["Connection", str, Code], None]


class Connection:
    """A peer of our own user.

    Attributes:
        peer: who the kernel says it is.
        session: who it proved to be; None until then, and again after a lock.
        handshake: between `hello` and `auth`.
        hellos: how many it began.
        was_known: it had a session before the vault was locked.
        born: loop time of its beginning.
        answers: questions to the owner that wait for `owner.pair_answer`.
        sessions: clients and sessions that began a turn here; they are left when the peer goes.
        subscription: tells the peer of changes; None while it did not ask for that.
        idle_s: seconds a client may be silent; None for no end.
        barred: why nothing at all is answered now, not even what is wrong with a line; None while something is.
    """

    def __init__(
        self,
        streams: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        peer: Peer,
        caps: Caps,
        answer: Answer,
        refused: Refused,
    ) -> None:
        self._caps, self._answer, self._refused = caps, answer, refused
        self._stream = streams[1]
        self._reader = LineReader(streams[0], line_s=caps.line_s, cap=LINE_BYTES - 1)
        self._writer = LineWriter(streams[1], drain_s=caps.drain_s)
        self._loop = asyncio.get_running_loop()
        self.peer = peer
        self.session: Session | None = None
        self.handshake: Handshake | None = None
        self.hellos = 0
        self.was_known = False
        self.born = self._last = self._loop.time()
        self.answers: dict[str, asyncio.Future[bool]] = {}
        self.sessions: set[tuple[str | None, str]] = set()
        self.subscription: Subscription | None = None
        self.idle_s: Callable[[], float | None] = lambda: caps.idle_s
        self.barred: Callable[[], LociError | None] = lambda: None
        self.calls: dict[Ident, Call] = {}
        self._room = asyncio.Event()
        self._malformed = 0
        self._ending = False

    @property
    def is_stranger(self) -> bool:
        """Whether it has yet to prove who it is."""
        return self.session is None and not self.was_known

    @property
    def is_silent(self) -> bool:
        """Whether a peer that is known has said nothing, and waited for nothing, for longer than it may.

        Who listens to changes waits for them, however long none comes.
        """
        waits = self.session is None or self.calls or self.subscription is not None
        idle_s = None if waits else self.idle_s()
        return idle_s is not None and self._loop.time() - self._last >= idle_s

    @property
    def keeps_its_place(self) -> bool:
        """Whether something is under way that a stranger may wait for: the person's yes, or the vault's opening."""
        return any(call.effect == "write" or call.request.method == "pair" for call in self.calls.values())

    async def run(self) -> None:
        """Serve the peer until it goes, is too slow, sends too much nonsense, or is put out."""
        try:
            while not self._ending:
                line = await self._reader.next_line(
                    None
                )  # silence is the server's watch: a session begins amid this wait
                self._last = self._loop.time()
                await self._take_line(line)
        except LineTooLongError:
            await self._reader.discard_line()
            await self._refuse_line(BadMessage(f"A message may have at most {LINE_BYTES} bytes."))
        except StreamEndedError:
            pass
        finally:
            self.end_connection()

    async def _take_line(self, line: bytes) -> None:
        try:
            request = parse_request_line(line)
            if request.ident in self.calls:
                raise BadMessage("A call with this id is still running.", None)
        except BadMessage as bad:
            if bad.ident in self.calls:
                bad.ident = None  # that id's answer is still to come
            await self._refuse_line(bad)
            self._count_nonsense()
            return
        while len(self.calls) >= (1 if self.session is None else self._caps.calls):
            self._room.clear()
            await self._room.wait()
        if not self._ending:
            self._start_call(request)

    def _count_nonsense(self) -> None:
        self._malformed += 1
        self._ending = self._ending or self._malformed >= self._caps.malformed

    async def _refuse_line(self, bad: BadMessage) -> None:
        try:
            await self._writer.send_line(encode_message(make_failure(bad.ident, self.barred() or bad)))
        except StreamEndedError:
            self._ending = True

    def _start_call(self, request: Request) -> None:
        call = Call(request)
        self.calls[request.ident] = call
        call.task = self._loop.create_task(self._carry_out(call))
        call.task.add_done_callback(lambda task: self._on_call_done(call, task))

    async def _carry_out(self, call: Call) -> None:
        try:
            line = await self._answer(self, call)
        except LociError as error:
            self._refused(self, call.request.method, error.code)
            if self.is_stranger and error.code is Code.UNAUTHENTICATED:
                self._count_nonsense()  # who goes on calling without having said who it is only takes a place
                call.closes = call.closes or self._ending
            line = encode_message(make_failure(call.request.ident, error))
        except asyncio.CancelledError:
            if call.stopped is None:
                raise
            line = encode_message(make_failure(call.request.ident, call.stopped))
        await self._writer.send_line(line)

    def _on_call_done(self, call: Call, task: asyncio.Task[None]) -> None:
        self.calls.pop(call.request.ident, None)
        self._last = self._loop.time()
        self._room.set()
        fault = None if task.cancelled() else task.exception()
        if fault is not None and not isinstance(fault, StreamEndedError):
            _log.error("a call failed inside Loci", exc_info=(type(fault), fault, fault.__traceback__))
            if not self._stream.is_closing():
                self._stream.write(encode_message(make_failure(call.request.ident, BugError("socket"))))
        if call.after is not None:
            call.after()
        if call.closes:
            self.end_connection()

    async def send_notification(self, method: str, params: Mapping[str, Any]) -> None:
        """Send a notification that must arrive.

        Raises:
            UserError: CANCELLED when the peer has gone.
        """
        try:
            await self._writer.send_line(encode_message(make_notification(method, params)))
        except StreamEndedError:
            raise UserError(Code.CANCELLED, "The other side has gone.") from None

    def report_progress(self, ident: Ident, label: str, done: int, total: int | None) -> None:
        """Send a progress report if there is room; on any thread."""
        message = make_notification("progress", {"id": ident, "label": label, "done": done, "total": total})
        self._loop.call_soon_threadsafe(self._writer.post_message, message)

    @property
    def has_room(self) -> bool:
        """Whether the peer has read nearly all it was sent."""
        return self._writer.has_room

    def post_notification(self, message: Mapping[str, Any]) -> None:
        """Write a notification if there is room now; on the loop."""
        self._writer.post_message(message)

    def take_up(self, name: tuple[str | None, str], in_use: Callable[[], Collection[tuple[str | None, str]]]) -> None:
        """A turn is begun in a session here: it is left when the peer goes.

        Args:
            name: whose and which session.
            in_use: the client's sessions that are in use, which are bounded; the others need no leaving any more.
        """
        if len(self.sessions) >= _SESSIONS and name not in self.sessions:
            self.sessions.intersection_update(in_use())
        self.sessions.add(name)

    def unsubscribe(self) -> None:
        """Tell the peer of no change any more."""
        if self.subscription is not None:
            self.subscription.end_subscription()
            self.subscription = None

    def lock_out(self, why: LociError) -> None:
        """The vault was locked: the session is over, reads are answered with the reason, writes end by themselves."""
        self.unsubscribe()
        self.was_known = self.was_known or self.session is not None
        self.session, self.handshake, self.hellos = None, None, 0
        self.give_up(why)

    def give_up(self, why: LociError) -> None:
        """Answer all that is under way with a reason, except writes."""
        for call in list(self.calls.values()):
            if call.effect != "write":
                call.stop(why)

    def end_connection(self) -> None:
        """Close after what has been written; calls that only read are given up."""
        self._ending = True
        self.unsubscribe()
        self._give_up()
        if not self._stream.is_closing():
            self._stream.close()
            # A peer that does not read must not keep the descriptor.
            self._loop.call_later(self._caps.drain_s, self._stream.transport.abort)

    def _give_up(self) -> None:
        current = asyncio.current_task()
        for call in list(self.calls.values()):
            if call.effect != "write" and call.task is not None and call.task is not current:
                call.task.cancel()
        for waiting in self.answers.values():
            if not waiting.done():
                waiting.set_exception(pairing_refused_error())


class Subscription:
    """One connection's. Lives on the engine's loop."""

    def __init__(self, engine: Engine, outlet: Connection, actor: Actors, kinds: frozenset[str]) -> None:
        """Begin to listen.

        Args:
            engine: says what may be seen.
            outlet: where notifications go.
            actor: who listens, by its present grants; None once it is not welcome any more.
            kinds: of `KINDS`.
        """
        self._engine, self._outlet, self._actor, self.kinds = engine, outlet, actor, kinds
        self._waiting: deque[Moves] = deque()
        self._dropped: set[tuple[Place | None, Place | None]] = set()
        self._missed = False
        self._number = 0
        self._stir = asyncio.Event()
        self._pump = asyncio.get_running_loop().create_task(self._run_pump())

    def offer_moves(self, moves: Moves) -> None:
        """Take a change; of what does not fit, it is remembered where those memories were and are.

        Args:
            moves: as the engine told it.
        """
        self._waiting.append(moves)
        if len(self._waiting) > _QUEUED:
            self._dropped.update((move.before, move.after) for one in self._waiting for move in one)
            self._waiting.clear()
            if len(self._dropped) > _DROPPED:
                self._dropped.clear()
                self._missed = True
        self._stir.set()

    def end_subscription(self) -> None:
        """Tell nothing any more."""
        self._waiting.clear()
        self._dropped.clear()
        self._pump.cancel()

    async def _run_pump(self) -> None:
        while True:
            await self._stir.wait()
            if not self._outlet.has_room:  # nothing is gathered for a peer that does not read
                await asyncio.sleep(_BREATH_S)
                continue
            if self._dropped:
                dropped, self._dropped = self._dropped, set()
                visible = await self._visible_changes(tuple(Moved(*way, ()) for way in dropped))
                self._missed = self._missed or bool(visible)
            elif self._missed:
                self._missed = False
                self._post_notification("missed", {})
            elif self._waiting:
                await self._post_moves(self._waiting.popleft())
            else:
                self._stir.clear()

    async def _post_moves(self, moves: Moves) -> None:
        visible = await self._visible_changes(moves)
        if sum(map(len, visible.values())) > _IDS:
            self._missed = True
            return
        for kind, ids in visible.items():
            self._post_notification("changed", {"kind": kind, "ids": list(ids)})

    async def _visible_changes(self, moves: Moves) -> Mapping[str, tuple[str, ...]]:
        """What of a change is told; nothing while the vault is locked, or the client may not read."""
        actor = self._actor()
        if actor is not None:
            with suppress(LociError):
                visible = await await_future(self._engine.subscriptions.visible_changes(moves, actor))
                return {kind: visible[kind] for kind in KINDS if kind in visible and kind in self.kinds}
        return {}

    def _post_notification(self, method: str, params: Mapping[str, Any]) -> None:
        if not self._outlet.has_room:  # gone while the vault was asked: what is not written has no number either
            self._missed = True
            return
        self._number += 1  # its own count: a gap of the vault's would tell of what it may not see
        self._outlet.post_notification(make_notification(method, {"seq": self._number, **params}))
