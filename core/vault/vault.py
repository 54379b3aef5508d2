"""The open vault: reading on many threads, writing on one, and the bounded queue in front of the writer.

`Vault.read` lends one of the read connections and a snapshot; `Vault.write` runs one verb as one transaction. Reads
never wait for the writer. `WriteQueue` has two lanes: what a person or a client waits for goes before background work
(import batches), but every eighth turn belongs to the background. Nothing is dropped: a caller waits for room.

Must not do: start threads (the engine gives `WriteQueue.run` one), hold the lock file (the engine does), know what a
verb means.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from sqlcipher3 import dbapi2

from core.errors import BugError, CancelledError, Code, IntegrityError, LociError
from core.types.clock import Clock
from core.vault.bootstrap import OlderCopy, OpenedDatabase, OpenInfo, create_vault, open_vault
from core.vault.database.connections import copy_into, open_reader
from core.vault.database.faults import RAISED, busy_error, translate_error, vault_locked_error
from core.vault.database.maintenance import MERGE_CHANGES, MERGE_PAGES, checkpoint_log, free_pages, merge_full_text
from core.vault.database.migrations import Migration, known_migrations
from core.vault.database.read_pool import ReadPool
from core.vault.database.rows import Rows, SqlRows, fetch_rows
from core.vault.database.tx import Tx
from core.vault.files.home import Home, Reserve, SubKeys
from core.vault.head import Head, client_head_marks, retire_clients, write_head

CAPACITY = 1000
_BACKGROUND_TURN = 8


@dataclass(frozen=True)
class _Item:
    action: Callable[[Tx], Any]
    future: Future[Any]

    def refuse_busy(self) -> None:
        if self.future.set_running_or_notify_cancel():
            self.future.set_exception(busy_error())


class WriteQueue:
    """Brings verbs from any thread to the writer's."""

    def __init__(self, vault: Vault, capacity: int = CAPACITY) -> None:
        """Make an empty queue.

        Args:
            vault: where verbs are run.
            capacity: how many may wait; callers of more wait themselves.
        """
        self._vault = vault
        self._capacity = capacity
        self._changed = threading.Condition()  # guards everything below
        self._front: deque[_Item] = deque()
        self._back: deque[_Item] = deque()
        self._turn = 0
        self._is_closed = False
        self._is_stopped = False
        self._is_running = False

    @property
    def depth(self) -> int:
        """How many verbs wait."""
        with self._changed:
            return self._count_waiting()

    def submit_verb(self, fn: Callable[[Tx], T], *, background: bool = False) -> Future[T]:
        """Hand a verb in; waits while the queue is full. Never call it on an event loop.

        Args:
            fn: the verb, run by `Vault.write`.
            background: whether nobody waits for it.

        Returns:
            A future with its result; done when it is saved. Cancelling it before its turn drops the verb.

        Raises:
            EnvironmentFaultError: BUSY; the queue is closed.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._is_closed or self._count_waiting() < self._capacity)
            return self._enqueue_item(fn, background=background)

    def run(self) -> None:
        """Run verbs one after another until `close`; the body of the writer's thread."""
        while (item := self._next_item()) is not None:
            if not item.future.set_running_or_notify_cancel():
                continue
            try:
                result = self._vault.write(item.action)
            except BaseException as fault:  # noqa: BLE001 - it is handed to whoever waits for the future
                item.future.set_exception(fault)
            else:
                item.future.set_result(result)

    def close(self, drain_s: float = 2.0) -> bool:
        """Take nothing more, let what waits be run, then stop `run`.

        Args:
            drain_s: seconds for what waits; the rest is refused with BUSY.

        Returns:
            Whether everything was run.
        """
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
            is_drained = self._changed.wait_for(lambda: not self._count_waiting() and not self._is_running, drain_s)
            left = [*self._front, *self._back]
            self._front.clear()
            self._back.clear()
            self._is_stopped = True
            self._changed.notify_all()
        for item in left:
            item.refuse_busy()
        return is_drained

    def _enqueue_item(self, fn: Callable[[Tx], T], *, background: bool) -> Future[T]:
        if self._is_closed:
            raise busy_error()
        future: Future[T] = Future()
        (self._back if background else self._front).append(_Item(fn, future))
        self._changed.notify_all()
        return future

    def _next_item(self) -> _Item | None:
        with self._changed:
            self._is_running = False
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._is_stopped or self._count_waiting() > 0)
            if not self._count_waiting():
                return None
            self._turn += 1
            is_backs_turn = self._turn % _BACKGROUND_TURN == 0
            lane = self._back if self._back and (is_backs_turn or not self._front) else self._front
            item = lane.popleft()
            self._is_running = True
            self._changed.notify_all()
            return item

    def _count_waiting(self) -> int:
        return len(self._front) + len(self._back)


T = TypeVar("T")

_CLOSE_WAIT_S = 2.0


class Vault:
    """One open vault.

    Attributes:
        home: its files.
        info: what opening found.
        vault_id: its public id, 16 bytes.
        older: it may not be the newest copy, and nobody has accepted it: until then nothing is written.
    """

    @staticmethod
    def create_files(home: Home, keys: SubKeys, vault_id: bytes, clock: Clock) -> None:
        """Make a new vault with the spaces GLOBAL and home; refuses where anything has its name.

        Args:
            home: where; the caller holds its lock and has written `vault.keys`.
            vault_id: 16 bytes.
            clock: for its birthday.

        Raises:
            UserError: VAULT_EXISTS.
            LociError: DISK_FULL, READ_ONLY …
        """
        create_vault(home, keys, vault_id, clock, known_migrations())

    @staticmethod
    def open(
        home: Home,
        keys: SubKeys,
        vault_id: bytes,
        clock: Clock,
        readers: int = 4,
        migrations: Sequence[Migration] | None = None,
        counter: int | None = None,
    ) -> Vault:
        """Open a vault, bringing its schema up to date.

        Args:
            home: where; the caller holds its lock, and no connection to it is open in this process.
            vault_id: 16 bytes.
            readers: read connections at most.
            migrations: all steps; None for those this program knows.
            counter: the sequence last seen, as the keyring tells it; None where it tells nothing.

        Returns:
            The open vault; close it.

        Raises:
            LociError: NO_VAULT, VAULT_DAMAGED, NEWER_VERSION, MIGRATION_FAILED, READ_ONLY, DISK_FULL …
        """
        steps = known_migrations() if migrations is None else migrations
        return Vault(home, keys, vault_id, clock, open_vault(home, keys, vault_id, clock, steps, counter), readers)

    def __init__(
        self, home: Home, keys: SubKeys, vault_id: bytes, clock: Clock, opened: OpenedDatabase, readers: int
    ) -> None:
        """Take over the parts of an opened vault; use `open`."""
        self.home = home
        self.info: OpenInfo = opened.info
        self.vault_id = vault_id
        self._keys = keys
        self._clock = clock
        self._writer = opened.writer
        self._schema = opened.schema
        self._pool = ReadPool(opened.reader, readers, partial(_open_reader, home, keys, self.check_files), clock)
        self._reserve = Reserve(home)
        self._lock = threading.Lock()  # guards the writer's connection
        self._writing_thread: int | None = None
        self._closing = threading.Event()
        self._is_closed = False
        self._is_replaced = False
        self._copying: dbapi2.Connection | None = None
        self._seq = opened.info.seq
        self._last_at = opened.info.last_at_ms
        self.older: OlderCopy | None = opened.info.older_than_head
        self._files = _same_files(home)

    @property
    def seq(self) -> int:
        """The sequence of the last committed change."""
        return self._seq

    @property
    def readers_idle(self) -> int:
        """How many read connections nobody uses at the moment."""
        return self._pool.idle

    def read(self, fn: Callable[[Rows], T], *, deadline_s: float | None = 30) -> T:
        """Read on one snapshot, from any thread.

        Args:
            fn: reads and returns; must not keep the rows object.
            deadline_s: seconds it may take; None for no limit.

        Returns:
            What `fn` returned.

        Raises:
            LociError: SEARCH_TIMEOUT, VAULT_LOCKED, BUSY, or what the vault said.
        """
        return self._pool.read(fn, deadline_s)

    def write(self, fn: Callable[[Tx], T]) -> T:
        """Run one verb as one transaction. Only the writer's thread calls this.

        Args:
            fn: the verb; what it raises rolls everything back.

        Returns:
            What `fn` returned; by then it is saved.

        Raises:
            LociError: what `fn` raised, or OLDER_VAULT, DISK_FULL, VAULT_REPLACED, VAULT_LOCKED …
        """
        with self._hold_writer():
            # A write would make a second history, and its sequence would soon pass the one last seen.
            self.need_accepted()
            result, tx = self._run_transaction(fn)
            if tx.is_terms_changed:
                with suppress(LociError):  # the next checkpoint notes it
                    self._note_head()
        return _run_actions(result, tx)

    def need_accepted(self) -> None:
        """Refuse while the vault is an older copy that nobody has accepted.

        Raises:
            IntegrityError: OLDER_VAULT.
        """
        if self.older is not None:
            raise older_copy_error()

    def accept_older(self, fn: Callable[[Tx, int], T], above: int = 0) -> T:
        """The person goes on with an older copy: from here on it is the one that counts.

        Its sequence passes everything that was seen, so that no other copy from the time between is taken for the
        newest. Clients that were revoked, paired anew or given other terms since are revoked.

        Args:
            fn: notes it in the same transaction; told how many clients were revoked.
            above: a sequence that it must pass besides.

        Returns:
            What `fn` returned.

        Raises:
            LociError: what `fn` raised, or DISK_FULL, VAULT_REPLACED, VAULT_LOCKED …
        """
        older = self.older

        def accept_and_retire(tx: Tx) -> T:
            tx.run("UPDATE vault_state SET last_at = ? WHERE one = 1", (tx.now_ms,))  # the new sequence holds, always
            admitted_marks = frozenset[str]() if older is None else older.clients
            return fn(tx, retire_clients(tx, self._keys.head, self.vault_id, admitted_marks))

        with self._hold_writer():
            result, tx = self._run_transaction(accept_and_retire, max(above, 0 if older is None else older.head_seq))
            self.older = None
            with suppress(LociError):  # it is accepted by its sequence already
                self._note_head()
        return _run_actions(result, tx)

    def with_writer(self, fn: Callable[[dbapi2.Connection], T]) -> T:
        """Keep every verb out while something looks at the writer's connection; for checks.

        Args:
            fn: must leave no transaction open and change no row.

        Returns:
            What `fn` returned.

        Raises:
            LociError: VAULT_LOCKED, or what the vault said.
        """
        with self._hold_writer():
            try:
                return fn(self._writer)
            except RAISED as error:
                fault = translate_error(error, self._stop_reason())
            raise fault

    def interrupt_all(self) -> None:
        """Stop what is running on all connections, the writer's among them."""
        self._pool.interrupt_all()
        for connection in (self._writer, self._copying):
            # Closed meanwhile: then there is nothing to stop.
            with suppress(*RAISED):
                if connection is not None:
                    connection.interrupt()

    def checkpoint_log(self, truncate: bool = True) -> bool:
        """Move the log into the vault's file and note the head. Do so within 5 s of a deletion.

        Args:
            truncate: also empty the log; needs a moment without readers.

        Returns:
            Whether everything was moved; False where readers held it up.

        Raises:
            LociError: DISK_FULL even with the reserve given back, VAULT_REPLACED …
        """
        with self._hold_writer():
            is_done = self._try_checkpoint(truncate)
            self._note_head()
        self._reserve.ensure_file()
        return is_done

    def scrub_deleted(self, stopped: Callable[[], bool] = lambda: False) -> bool:
        """Rewrite what the full-text index still keeps of vanished rows, then checkpoint. After every purge.

        The index marks rows as gone and keeps their words until it merges; other verbs run between the steps. Behind
        it, room that a great purge left in the file goes back to the system (E10.18.2).

        Args:
            stopped: asked between steps; what is left is done by the next scrub.

        Returns:
            Whether nothing is left of them, in the log neither, as `checkpoint_log` tells.

        Raises:
            LociError: as for `checkpoint_log`.
        """
        # A negative number starts a merge of everything; a step that changes next to nothing was the last one.
        pages = -MERGE_PAGES
        while self._run_upkeep(partial(merge_full_text, pages=pages)) >= MERGE_CHANGES:
            if stopped():
                return False
            pages = MERGE_PAGES
        is_done, is_shorter = self.checkpoint_log(), False
        while is_done and not stopped() and self._run_upkeep(free_pages):
            is_shorter = True
        if is_shorter:
            self.checkpoint_log()
        return is_done

    def write_head(self) -> None:
        """Note the sequence and the clients in `vault.head`. An older copy does not until `accept_older`.

        Raises:
            EnvironmentFaultError: DISK_FULL, READ_ONLY or WRITE_FAILED.
        """
        with self._hold_writer():
            self._note_head()

    def copy_into(self, target: Path) -> None:
        """Copy the whole vault under the same key while it is in use; `interrupt_all` stops it.

        Args:
            target: a name that is free.

        Raises:
            LociError: DISK_FULL, CANCELLED, VAULT_LOCKED …
        """
        if self._closing.is_set():
            raise vault_locked_error()
        copy_into(self.home.vault, self._keys.db, target, self._watch_copy)

    def check_files(self) -> None:
        """Notice that the vault's files were deleted or replaced; call every few seconds.

        Raises:
            IntegrityError: VAULT_REPLACED; from now on every write is refused.
        """
        if self._is_replaced or _same_files(self.home) != self._files:
            self._is_replaced = True
            raise IntegrityError(
                Code.VAULT_REPLACED,
                "The vault's file was deleted or replaced while it was open; nothing more is saved. "
                "Put it back or restore a backup, then open the vault again.",
            )

    def close(self, wait_s: float = _CLOSE_WAIT_S) -> tuple[str, ...]:
        """Close the vault: stop readers, checkpoint, head, connections. Always completes; safe to call twice.

        Args:
            wait_s: how long to wait for readers and the writer to stop, all in all.

        Returns:
            Which steps failed, in code words; empty when all went well.
        """
        self._closing.set()
        with suppress(LociError):
            self.check_files()
        self.interrupt_all()
        failed = [] if self._pool.close(wait_s / 2) else ["readers"]
        if not self._lock.acquire(timeout=wait_s / 2):
            # The writer did not stop; its transaction is rolled back when the process ends.
            return (*failed, "writer")
        try:
            if not self._is_closed:
                failed.extend(self._close_writer())
        finally:
            self._lock.release()
        return tuple(failed)

    def _close_writer(self) -> list[str]:
        failed: list[str] = []
        if not self._is_replaced:
            for name, step in (("checkpoint", lambda: self._try_checkpoint(truncate=True)), ("head", self._note_head)):
                try:
                    step()
                except LociError:
                    failed.append(name)
        self._is_closed = True
        try:
            self._writer.close()
        except RAISED:
            failed.append("connection")
        self._reserve.ensure_file()
        return failed

    def _run_transaction(self, fn: Callable[[Tx], T], above: int = 0) -> tuple[T, Tx]:
        self.check_files()
        fetch_rows(self._writer, "BEGIN IMMEDIATE")
        try:
            ((seq, last_at),) = fetch_rows(self._writer, "SELECT seq, last_at FROM vault_state")
            at = self._clock.now_ms()
            next_seq = max(seq, above) + 1
            ended = self._closing.is_set
            tx = Tx(self._writer, self._schema, max(at, last_at), next_seq, self._stop_reason, ended, at)
            result = fn(tx)
            if tx.is_changed and self._closing.is_set():
                raise vault_locked_error()
            tx.need_closed_gate()
            if tx.is_changed:
                self.check_files()
            fetch_rows(self._writer, "COMMIT", stopped=self._stop_reason)
        finally:
            if self._writer.in_transaction:
                # Failing here leaves the transaction open, and the next BEGIN says so.
                with suppress(LociError):
                    fetch_rows(self._writer, "ROLLBACK")
        if tx.is_changed:
            self._seq, self._last_at = tx.seq, tx.now_ms
        return result, tx

    def _run_upkeep(self, step: Callable[[dbapi2.Connection], int]) -> int:
        with self._hold_writer():
            self.need_accepted()
            self.check_files()
            return step(self._writer)

    def _try_checkpoint(self, truncate: bool) -> bool:
        self.check_files()
        try:
            return checkpoint_log(self._writer, truncate=truncate)
        except LociError as error:
            if error.code is not Code.DISK_FULL or not self._reserve.release_file():
                raise
        return checkpoint_log(self._writer, truncate=truncate)

    def _note_head(self) -> None:
        self.check_files()
        if self.older is not None:
            return
        clients = client_head_marks(SqlRows(self._writer), self._keys.head, self.vault_id)
        head = Head(self._seq, max(self._clock.now_ms(), self._last_at), frozenset(clients.values()))
        try:
            write_head(self.home.head, self._keys.head, self.vault_id, head)
        except LociError as error:
            if error.code is not Code.DISK_FULL or not self._reserve.release_file():
                raise
        else:
            return
        write_head(self.home.head, self._keys.head, self.vault_id, head)

    @contextmanager
    def _hold_writer(self) -> Iterator[None]:
        """The writer's connection for one piece of work; a second one on the same thread is a fault of ours."""
        if self._writing_thread == threading.get_ident():
            raise BugError("write inside a write")
        with self._lock:
            if self._closing.is_set():
                raise vault_locked_error()
            self._writing_thread = threading.get_ident()
            try:
                yield
            finally:
                self._writing_thread = None

    def _stop_reason(self) -> LociError:
        return vault_locked_error() if self._closing.is_set() else CancelledError()

    def _watch_copy(self, connection: dbapi2.Connection | None) -> None:
        self._copying = connection
        if connection is not None and self._closing.is_set():
            connection.interrupt()


def older_copy_error() -> LociError:
    """Why nothing is written into an older copy, and why no client is let in."""
    return IntegrityError(
        Code.OLDER_VAULT,
        "This vault is older than the one last seen here, or it cannot be told whether it is; nothing is changed and "
        "no assistant is let in until its owner accepts it with `loci verify --accept-older` or in the window.",
    )


def _open_reader(home: Home, keys: SubKeys, check_files: Callable[[], None]) -> dbapi2.Connection:
    """Open one more reader of the vault that is open already."""
    connection = open_reader(home.vault, keys.db)
    try:
        check_files()  # a file put there meanwhile is another vault's, or the same of another time
    except IntegrityError:
        connection.close()
        raise
    return connection


def _run_actions(result: T, tx: Tx) -> T:
    # A stack runs the actions in reverse: they are pushed back to front. All of them run.
    with ExitStack() as actions:
        for action in reversed(tx.actions):
            actions.callback(action)
    return result


def _same_files(home: Home) -> tuple[tuple[int, int, int] | None, ...]:
    return tuple(_file_signature(path) for path in (home.vault, home.wal, home.shm))


def _file_signature(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_nlink
