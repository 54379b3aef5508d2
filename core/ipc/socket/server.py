"""The socket server: lives on the engine's loop, lets its own user in, keeps the caps, ends sessions when it must.

Must not do: open a network listener, carry out a method, wait for the person (only `pair` does, and only for itself).
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import cast

from core import log
from core.engine.facade import Engine
from core.errors import Code, EnvironmentFaultError, LociError, UserError
from core.events import Changed, Event, StateChanged
from core.ipc.protocol.contract import Registry
from core.ipc.protocol.messages import encode_message, make_failure
from core.ipc.protocol.sessions import Session
from core.ipc.protocol.transport import Peer, Place, peer_of
from core.ipc.socket.connection import Call, Connection
from core.ipc.socket.dispatch import Dispatcher, locked_vault_error, older_vault_error
from core.ipc.socket.limits import Caps
from core.ipc.socket.listener import Listener
from core.ipc.socket.pairing import PairingDesk, WindowPairing, failed_turn, no_socket_error
from core.types.clients import Moves
from core.types.values import OWNER_CHANNEL

__all__ = ["Hooks", "Refusal", "Server", "failed_turn", "no_socket_error"]

_log = log.get("ipc")
_REBINDS = 10
_REFUSALS = frozenset(
    {Code.ACCESS_DENIED, Code.FORBIDDEN_FIELD, Code.UNAUTHENTICATED, Code.PAIRING_REFUSED, Code.RATE_LIMITED}
)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Somebody was refused; for the audit, without content.

    Attributes:
        client_id: whose session it was; None for a stranger, `@owner` for the owner's channel.
        method: a method that exists; empty for another.
        code: why.
    """

    client_id: str | None
    method: str
    code: Code


@dataclass(frozen=True, slots=True)
class Hooks:
    """What the server asks of whoever started it. Called on the engine's loop; must not block.

    Attributes:
        hand_over: close the engine and end within 5 s; None where the vault is not given away (a window).
        refused: somebody was refused.
        admitted: a client has proved itself; its id.
        displaced: a stranger's socket stood in our place, or ours was gone; how often so far.
    """

    hand_over: Callable[[], None] | None = None
    refused: Callable[[Refusal], None] = lambda _refusal: None
    admitted: Callable[[str], None] = lambda _client_id: None
    displaced: Callable[[int], None] = lambda _count: None


class Server:
    """The engine's ear."""

    def __init__(
        self,
        engine: Engine,
        place: Place,
        registry: Registry,
        *,
        version: str,
        caps: Caps | None = None,
        hooks: Hooks | None = None,
    ) -> None:
        """Make a server; it does nothing until `start`.

        Args:
            engine: locked or open.
            place: where the socket lies.
            registry: the methods that exist.
            version: Loci's version, told to clients.
            caps: bounds; the defaults are the design's.
            hooks: who is told of hand-over, refusals and squatters.
        """
        self._engine, self._place, self._registry = engine, place, registry
        self._caps, self._hooks = caps or Caps(), hooks or Hooks()
        registry.load_checkers()
        self._dispatcher = Dispatcher(engine, registry, self._caps, version, self)
        self._connections: set[Connection] = set()
        self._serving: set[asyncio.Task[None]] = set()
        self._listener: Listener | None = None
        self._watch: asyncio.Task[None] | None = None
        self._unsubscribe: Callable[[], None] = lambda: None
        self._unwatch: Callable[[], None] = lambda: None
        self._pairing: WindowPairing | None = None
        self._displaced = 0
        self._handing_over = False
        self._stopping = False

    @property
    def desk(self) -> PairingDesk:
        """Where the window opens pairing; only on the loop."""
        return self._dispatcher.desk

    @property
    def pairing(self) -> WindowPairing | None:
        """Where a window in this process pairs assistants, from any thread; None until it has begun to listen."""
        return self._pairing

    @property
    def connected(self) -> int:
        """Authenticated connections."""
        return sum(connection.session is not None for connection in self._connections)

    @property
    def handing_over(self) -> bool:
        """Whether no new call is taken."""
        return self._handing_over

    async def start(self, *, publish: bool) -> None:
        """Bind, accept and watch.

        Args:
            publish: whether the socket appears in its place at once; otherwise when `publish_socket` is called.

        Raises:
            EnvironmentFaultError: the place is not fit or taken.
        """
        self._listener = await self._bind_listener()
        loop = asyncio.get_running_loop()
        self._pairing = WindowPairing(self.desk, loop, self._refusal_for)
        self._unsubscribe = self._engine.hub.subscribe(lambda event: self._on_engine_event(loop, event))
        self._unwatch = self._engine.hub.watch(partial(self._on_change, loop))
        if publish:
            self.publish_socket()
        self._watch = loop.create_task(self._keep_watch())

    async def _bind_listener(self) -> Listener:
        listener = Listener.bind_to(self._place)
        await listener.serve(self._on_connect)
        return listener

    def publish_socket(self) -> None:
        """Rename the socket into its place.

        Raises:
            EnvironmentFaultError: the place is taken.
        """
        if self._listener is not None and not self._listener.published:
            self._listener.publish_socket()

    async def stop(self, drain_s: float = 1.0) -> None:
        """Take the socket away, let writes end, close every connection. Safe to call twice.

        Args:
            drain_s: seconds writes get.
        """
        self._stopping = self._handing_over = True
        self._unsubscribe()
        self._unwatch()
        if self._watch is not None:
            self._watch.cancel()
        if self._listener is not None:
            await self._listener.close()
            self._listener = None
        await self._await_calls(None, drain_s)
        for connection in tuple(self._connections):
            connection.end_connection()
        if self._serving:
            await asyncio.wait(self._serving, timeout=1.0)

    # Coming in

    async def _on_connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        peer = _known_peer(writer)
        if peer is None or self._stopping:
            writer.transport.abort()
            return
        if not self._make_room():
            busy = UserError(Code.BUSY, "Too many connections are waiting; try again in a second.")
            writer.write(encode_message(make_failure(None, busy)))
            writer.close()
            return
        connection = Connection((reader, writer), peer, self._caps, self._dispatcher.answer_call, self._note_refusal)
        connection.barred = lambda: self._refusal_for(connection.session)
        connection.idle_s = lambda: self._idle_s(connection)
        task = asyncio.current_task()
        self._connections.add(connection)
        if task is not None:
            self._serving.add(task)
        try:
            await connection.run()
        finally:
            if connection.session is not None and not connection.session.actor.is_owner:
                self._hooks.admitted(connection.session.record.id)  # seen until now
            self._dispatcher.leave_sessions(connection)
            self._connections.discard(connection)
            self._serving.discard(cast("asyncio.Task[None]", task))

    def _refusal_for(self, session: Session | None = None) -> LociError | None:
        if self._engine.state != "open":
            return locked_vault_error()
        is_let_in = self._engine.older is None or (session is not None and session.actor.is_owner)
        return None if is_let_in else older_vault_error()

    def _idle_s(self, connection: Connection) -> float | None:
        """How long a peer may be silent: the person's own tools as long as they like."""
        minutes = self._engine.options.client_idle_minutes
        if connection.session is None or connection.session.actor.is_owner or not minutes:
            return self._caps.idle_s
        return minutes * 60.0

    def _make_room(self) -> bool:
        """Make room for one more stranger: the oldest unfinished greeting of the process with most of them is ended.

        By age alone, a process that connects anew as often as it is put out would push every newcomer past its place
        within one greeting. Where the system tells no process, age alone decides.
        """
        strangers = [connection for connection in self._connections if connection.is_stranger]
        if len(strangers) < self._caps.strangers:
            return True
        idle = [one for one in strangers if not one.keeps_its_place]
        if not idle:
            return False
        of_process = Counter(connection.peer.pid for connection in strangers)
        oldest = min(idle, key=lambda connection: (-of_process[connection.peer.pid], connection.born))
        self._connections.discard(oldest)
        oldest.end_connection()
        return True

    def admit_session(self, session: Session) -> None:
        """Let a session in, if the caps allow it.

        Args:
            session: just proved.

        Raises:
            UserError: BUSY.
        """
        sessions = [connection.session for connection in self._connections if connection.session is not None]
        owners = sum(other.actor.is_owner for other in sessions)
        same = sum(other.record.id == session.record.id for other in sessions)
        full = (
            owners >= self._caps.owners
            if session.actor.is_owner
            else same >= self._caps.per_client or len(sessions) - owners >= self._caps.connections
        )
        if full:
            raise UserError(Code.BUSY, "This client, or all clients together, have too many connections.")
        if not session.actor.is_owner:
            self._hooks.admitted(session.record.id)

    # Going out

    def _on_engine_event(self, loop: asyncio.AbstractEventLoop, event: Event) -> None:
        if isinstance(event, StateChanged) and event.state != "open":
            loop.call_soon_threadsafe(self._lock_out)
        elif isinstance(event, Changed):
            loop.call_soon_threadsafe(self.end_unwelcome)

    def _on_change(self, loop: asyncio.AbstractEventLoop, moves: Moves) -> None:
        loop.call_soon_threadsafe(self._spread_moves, moves)

    def _spread_moves(self, moves: Moves) -> None:
        self.end_unwelcome()  # first: who is revoked by it hears nothing of it
        for connection in self._connections:
            if connection.subscription is not None:
                connection.subscription.offer_moves(moves)

    def _lock_out(self) -> None:
        self.desk.cancel_all()
        for connection in tuple(self._connections):
            if connection.session is not None:
                connection.lock_out(locked_vault_error())
            else:
                connection.give_up(locked_vault_error())  # who waits to be paired waits no longer

    def end_unwelcome(self) -> None:
        """End the connections of clients that are revoked, paused or have another token by now."""
        if self._engine.state != "open":
            return
        for connection in tuple(self._connections):
            session = connection.session
            if session is not None and not session.is_still_valid(self._dispatcher.token_for):
                connection.session = None
                self._connections.discard(connection)
                connection.end_connection()

    async def hand_over(self, call: Call) -> None:
        """Take no new call, let running ones end, and close once this one is answered.

        Args:
            call: the `owner.handover` call.

        Raises:
            EnvironmentFaultError: NOT_HERE where the vault is not given away.
        """
        if self._hooks.hand_over is None:
            raise EnvironmentFaultError(Code.NOT_HERE, "The window keeps the vault; close it first.")
        self._handing_over = True
        await self._await_calls(call, self._caps.handover_s)
        call.after = self._hooks.hand_over

    async def _await_calls(self, but: Call | None, seconds: float) -> None:
        tasks = [
            call.task
            for connection in self._connections
            for call in connection.calls.values()
            if call is not but and call.task is not None and call.effect != "session"
        ]
        if tasks:
            await asyncio.wait(tasks, timeout=seconds)

    # Watching

    async def _keep_watch(self) -> None:
        while True:
            await asyncio.sleep(self._caps.watch_s)
            self._end_slow_and_silent()
            self._dispatcher.desk.end_expired()
            if self._engine.state == "open":
                self.end_unwelcome()
            else:
                self._lock_out()
            await self._keep_place()

    def _end_slow_and_silent(self) -> None:
        too_old = asyncio.get_running_loop().time() - self._caps.handshake_s
        for connection in tuple(self._connections):
            slow = connection.is_stranger and not connection.keeps_its_place and connection.born <= too_old
            if slow or connection.is_silent:
                connection.end_connection()

    async def _keep_place(self) -> None:
        """Trigger: the file at our place is not ours. Why: removed, or a squatter. Outcome: bound anew, and told."""
        listener = self._listener
        if listener is None or not listener.published or listener.in_place() or self._displaced >= _REBINDS:
            return
        self._displaced += 1
        _log.warning("the socket was displaced (%d)", self._displaced)
        self._hooks.displaced(self._displaced)
        with suppress(LociError):
            fresh = await self._bind_listener()
            try:
                fresh.publish_socket()
            except LociError:
                await fresh.close()
                raise
            self._listener = fresh
            await listener.close()

    def _note_refusal(self, connection: Connection, method: str, code: Code) -> None:
        if code in _REFUSALS:
            session = connection.session
            who = None if session is None else OWNER_CHANNEL if session.actor.is_owner else session.record.id
            self._hooks.refused(Refusal(who, method if method in self._registry.methods else "", code))


def _known_peer(writer: asyncio.StreamWriter) -> Peer | None:
    """The peer, if it is our own user."""
    try:
        peer = peer_of(cast("socket.socket", writer.get_extra_info("socket")))
    except OSError:
        return None
    return peer if peer.uid == os.geteuid() else None
