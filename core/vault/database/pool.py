"""The four read connections, lent out one call at a time.

A call sees one snapshot (BEGIN .. ROLLBACK) and ends at its deadline. Must not do: write,
start threads, keep a snapshot between calls.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from sqlcipher3 import dbapi2

from core.errors import CancelledError, Code, EnvironmentFaultError, LociError
from core.types.clock import Clock
from core.vault.database.faults import RAISED, busy, locked, translate
from core.vault.database.rows import Rows, SqlRows

T = TypeVar("T")

_STEPS = 8000
"""Virtual machine steps between two looks at the deadline: a few milliseconds at most. Each look waits for the
interpreter, which other threads may hold for 5 ms; at 1,000 steps a recall among 100,000 memories looked 180 times."""

_WAIT_S = 30.0


class _Reader:
    """One connection and the deadline of the call that has it."""

    def __init__(self, connection: dbapi2.Connection, clock: Clock, is_closing: Callable[[], bool]) -> None:
        self.connection = connection
        self._clock = clock
        self._is_closing = is_closing
        self._deadline: float | None = None
        self._late = False
        connection.set_progress_handler(self._stop_now, _STEPS)

    def arm(self, deadline_s: float | None) -> None:
        self._late = False
        self._deadline = None if deadline_s is None else self._clock.monotonic() + deadline_s

    def why(self) -> LociError:
        if self._is_closing():
            return locked()
        if self._late:
            return EnvironmentFaultError(Code.SEARCH_TIMEOUT, "The search took too long and was stopped; narrow it.")
        return CancelledError()

    def _stop_now(self) -> int:
        self._late = self._deadline is not None and self._clock.monotonic() > self._deadline
        return int(self._late or self._is_closing())


class ReadPool:
    """Lends read connections to whatever thread asks."""

    def __init__(self, connections: list[dbapi2.Connection], clock: Clock) -> None:
        """Take over some connections; they are closed by `close`.

        Args:
            connections: opened read-only and `query_only`.
            clock: for deadlines.
        """
        self._closing = threading.Event()
        self._readers = [_Reader(one, clock, self._closing.is_set) for one in connections]
        # Last back, first lent: its cached pages are warm, and idle connections hold few.
        self._idle: queue.LifoQueue[_Reader] = queue.LifoQueue()
        self._open = len(connections)  # those not closed yet
        self._abandoned = False
        self._lock = threading.Lock()  # guards _abandoned, and with it _open, against a late return
        for reader in self._readers:
            self._idle.put(reader)

    def read(self, fn: Callable[[Rows], T], deadline_s: float | None) -> T:
        """Run a closure on one snapshot.

        Args:
            fn: reads and returns; must not keep the rows object.
            deadline_s: seconds it may take; None for no limit.

        Returns:
            What `fn` returned.

        Raises:
            LociError: SEARCH_TIMEOUT, VAULT_LOCKED, BUSY, or what the vault said.
        """
        reader = self._borrow(deadline_s)
        try:
            reader.arm(deadline_s)
            return _snapshot(reader, fn)
        finally:
            reader.arm(None)
            self._give_back(reader)

    @property
    def idle(self) -> int:
        """How many connections nobody uses at the moment."""
        return self._idle.qsize()

    def interrupt(self) -> None:
        """Stop what is running on all connections."""
        for reader in self._readers:
            # Closed meanwhile: then there is nothing to stop.
            with suppress(*RAISED):
                reader.connection.interrupt()

    def close(self, wait_s: float) -> bool:
        """Refuse new reads, stop the running ones, close the connections.

        Args:
            wait_s: how long to wait for running calls to come back, all in all.

        Returns:
            Whether all came back; the rest close when they do.
        """
        self._closing.set()
        self.interrupt()
        share = wait_s / max(self._open, 1)
        while self._open and self._close_idle(share):
            self._open -= 1
        with self._lock:
            self._abandoned = True
        while self._open and self._close_idle(0):
            self._open -= 1
        return not self._open

    def _borrow(self, deadline_s: float | None) -> _Reader:
        reader: _Reader | None = None
        if not self._closing.is_set():
            try:
                reader = self._idle.get(timeout=_WAIT_S if deadline_s is None else deadline_s)
            except queue.Empty:
                reader = None
        if self._closing.is_set():
            if reader is not None:
                self._give_back(reader)
            raise locked()
        if reader is None:
            raise busy()
        return reader

    def _give_back(self, reader: _Reader) -> None:
        with self._lock:
            if not self._abandoned:
                self._idle.put(reader)
                return
            self._open -= 1
        reader.connection.close()

    def _close_idle(self, wait_s: float) -> bool:
        try:
            reader = self._idle.get(timeout=wait_s) if wait_s else self._idle.get_nowait()
        except queue.Empty:
            return False
        reader.connection.close()
        return True


def _snapshot(reader: _Reader, fn: Callable[[Rows], T]) -> T:
    connection = reader.connection
    _run(connection, "BEGIN", reader.why)
    try:
        return fn(SqlRows(connection, reader.why))
    finally:
        if connection.in_transaction:
            _run(connection, "ROLLBACK", reader.why)


def _run(connection: dbapi2.Connection, sql: str, why: Callable[[], LociError]) -> None:
    try:
        connection.execute(sql)
    except RAISED as error:
        fault = translate(error, why())
    else:
        return
    raise fault
