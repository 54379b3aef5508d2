"""The pool of read connections: it lends one of four a call at a time.

A call sees one snapshot (BEGIN .. ROLLBACK) and ends at its deadline. Must not do: write, start threads, say more about
a failure than its kind.
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
from core.vault.database.faults import RAISED, busy_error, translate_error, vault_locked_error
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

    def set_deadline(self, deadline_s: float | None) -> None:
        self._late = False
        self._deadline = None if deadline_s is None else self._clock.monotonic() + deadline_s

    def stop_reason(self) -> LociError:
        if self._is_closing():
            return vault_locked_error()
        if self._late:
            return EnvironmentFaultError(Code.SEARCH_TIMEOUT, "The search took too long and was stopped; narrow it.")
        return CancelledError()

    def _stop_now(self) -> int:
        self._late = self._deadline is not None and self._clock.monotonic() > self._deadline
        return int(self._late or self._is_closing())


class ReadPool:
    """Lends read connections to whatever thread asks, and opens another only where all that are open are lent.

    Each connection reads the whole schema when it is opened (3 ms), and most of the time one is enough.
    """

    def __init__(
        self, first: dbapi2.Connection, size: int, open_connection: Callable[[], dbapi2.Connection], clock: Clock
    ) -> None:
        """Take over a connection; it and those opened later are closed by `close`.

        Args:
            first: opened read-only and `query_only`.
            size: how many there are at most, the first among them.
            open_connection: opens another like the first; raises LociError where it cannot.
            clock: for deadlines.
        """
        self._closing = threading.Event()
        self._open_connection = open_connection
        self._clock = clock
        self._opening = threading.Lock()  # guards _unopened, _readers and, until _closing is set, _open
        self._unopened = size - 1
        self._readers = [_Reader(first, clock, self._closing.is_set)]
        # Last back, first lent: its cached pages are warm, and idle connections hold few.
        self._idle: queue.LifoQueue[_Reader] = queue.LifoQueue()
        self._open = 1  # those not closed yet
        self._abandoned = False
        self._lock = threading.Lock()  # guards _abandoned, and with it _open, against a late return
        self._idle.put(self._readers[0])

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
        reader = self._borrow_reader(deadline_s)
        try:
            reader.set_deadline(deadline_s)
            return _read_snapshot(reader, fn)
        finally:
            reader.set_deadline(None)
            self._give_back(reader)

    @property
    def idle(self) -> int:
        """How many connections nobody uses at the moment, those not opened yet among them."""
        return self._idle.qsize() + self._unopened

    def interrupt_all(self) -> None:
        """Stop what is running on all connections."""
        for reader in tuple(self._readers):
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
        with self._opening:  # from here on none is opened
            self.interrupt_all()
        share = wait_s / max(self._open, 1)
        while self._open and self._close_idle(share):
            self._open -= 1
        with self._lock:
            self._abandoned = True
        while self._open and self._close_idle(0):
            self._open -= 1
        return not self._open

    def _borrow_reader(self, deadline_s: float | None) -> _Reader:
        reader: _Reader | None = None
        if not self._closing.is_set():
            reader = self._find_reader(_WAIT_S if deadline_s is None else deadline_s)
        if self._closing.is_set():
            if reader is not None:
                self._give_back(reader)
            raise vault_locked_error()
        if reader is None:
            raise busy_error()
        return reader

    def _find_reader(self, wait_s: float) -> _Reader | None:
        with suppress(queue.Empty):
            return self._idle.get_nowait()
        # It cannot be opened now, for want of file handles or since the file was replaced: one that is open will do.
        with suppress(LociError):
            if (another := self._open_another()) is not None:
                return another
        with suppress(queue.Empty):
            return self._idle.get(timeout=wait_s)
        return None

    def _open_another(self) -> _Reader | None:
        with self._opening:
            if not self._unopened or self._closing.is_set():
                return None
            reader = _Reader(self._open_connection(), self._clock, self._closing.is_set)
            self._unopened -= 1
            self._readers.append(reader)
            self._open += 1
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


def _read_snapshot(reader: _Reader, fn: Callable[[Rows], T]) -> T:
    connection = reader.connection
    _run_statement(connection, "BEGIN", reader.stop_reason)
    try:
        return fn(SqlRows(connection, reader.stop_reason))
    finally:
        if connection.in_transaction:
            _run_statement(connection, "ROLLBACK", reader.stop_reason)


def _run_statement(connection: dbapi2.Connection, sql: str, why: Callable[[], LociError]) -> None:
    try:
        connection.execute(sql)
    except RAISED as error:
        fault = translate_error(error, why())
    else:
        return
    raise fault
