"""The vault as the engine's verbs use it: reads, writes and verbs, each of which answers with a Future.

Futures are chained without a thread that waits, and every road of an error ends in the reply. What a transaction did is
read from the rows that changed, not from the verb that was asked for, and told to listeners once it is saved. Must not
do: swallow an error, judge who may know of a change, or let a pool's own words (a shut-down pool, a cancelled task)
reach a caller: while the vault closes, both mean that it is locked.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError as Dropped
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ParamSpec, TypeVar

from core.engine.runtime.threads import Threads
from core.errors import BugError, Code, LociError, UserError
from core.events import Changed, Hub
from core.intake.transaction.unit_of_work import IdempotentCall, UnitOfWork, Verb
from core.recall.scope import PLACE, PLACE_SQL
from core.security.keys import RootKey
from core.types.clients import Moved, Moves, Place
from core.types.clock import Clock
from core.types.values import TIER_BY, Actor, IdMaker
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx
from core.vault.files.home import Home
from core.vault.vault import Vault, WriteQueue

_AT_ONCE = 500
_AFTER = f"SELECT id, part_of, {PLACE_SQL} FROM memories WHERE id IN (SELECT value FROM json_each(?))"  # noqa: S608

_Step = tuple[Place | None, Place | None]
# While the vault closes, a queue that takes nothing more and an interrupted statement mean the same.
_CLOSING = frozenset({Code.BUSY, Code.CANCELLED})
# The vault can be read and not written; the next write that is saved says that this is over.
_UNWRITABLE = frozenset({Code.DISK_FULL, Code.READ_ONLY, Code.WRITE_FAILED, Code.VAULT_REPLACED})

A = TypeVar("A")
T = TypeVar("T")
B = TypeVar("B")
E = TypeVar("E", bound=BaseException)
P = ParamSpec("P")


def locked_error() -> UserError:
    """The error of every verb while no vault is open."""
    return UserError(Code.VAULT_LOCKED, "The vault is locked; `loci unlock` or the window opens it.")


def submit_work(pool: Executor, work: Callable[P, A], *args: P.args, **kwargs: P.kwargs) -> Future[A]:
    """Hand work to a pool.

    Args:
        pool: where it runs.

    Raises:
        UserError: VAULT_LOCKED; the pool has ended with its vault.
    """
    try:
        return pool.submit(work, *args, **kwargs)
    except RuntimeError:
        raise locked_error() from None


def chain_work(first: Future[A], then: Callable[[A], Future[B]]) -> Future[B]:
    """Begin a second work with the result of a first.

    Args:
        then: begins the second; called on the thread that ended the first.

    Returns:
        The second's result, or the first error of either. Cancelling it stops neither once it runs.
    """
    reply: Future[B] = Future()

    def start_second(done: Future[A]) -> None:
        if not reply.set_running_or_notify_cancel():
            return
        try:
            second = then(_result_of(done))
        except BaseException as error:  # noqa: BLE001 - the caller of the future gets whatever went wrong
            reply.set_exception(error)
        else:
            second.add_done_callback(lambda done: _settle_reply(done, reply, _return_error, _return_error))

    _cancel_together(reply, first)
    first.add_done_callback(start_second)
    return reply


def map_result(
    first: Future[A], then: Callable[[A], B], map_error: Callable[[BaseException], BaseException] | None = None
) -> Future[B]:
    """Turn the result of a work into another value.

    Args:
        then: quick; called on the thread that ended the first.
        map_error: turns its error into another; None leaves it.

    Returns:
        What `then` makes of it, or the error of either.
    """
    reply: Future[B] = Future()

    def settle_reply(done: Future[A]) -> None:
        if reply.set_running_or_notify_cancel():
            _settle_reply(done, reply, then, map_error or _return_error)

    _cancel_together(reply, first)
    first.add_done_callback(settle_reply)
    return reply


def recover_from(first: Future[A], kind: type[E], then: Callable[[E], A]) -> Future[A]:
    """Turn one kind of error of a work into its result.

    Args:
        kind: the error that carries a result.
        then: quick; takes it out.

    Returns:
        The result, or any other error.
    """
    reply: Future[A] = Future()

    def settle_or_recover(done: Future[A]) -> None:
        if not reply.set_running_or_notify_cancel():
            return
        try:
            value = _result_of(done)
        except kind as error:
            reply.set_result(then(error))
        except BaseException as error:  # noqa: BLE001 - the caller of the future gets whatever went wrong
            reply.set_exception(error)
        else:
            reply.set_result(value)

    _cancel_together(reply, first)
    first.add_done_callback(settle_or_recover)
    return reply


def log_failure(work: Future[A], log: logging.Logger, name: str) -> None:
    """Log the failure of work that nobody waits for; a lock on the way, and the end that comes with it, is no fault.

    Args:
        name: what it is, in words; no memory text.
    """

    def log_if_failed(done: Future[A]) -> None:
        try:
            _result_of(done)
        except LociError as error:
            if error.code not in (Code.VAULT_LOCKED, Code.CANCELLED):
                log.warning("%s stopped: %s", name, error.code.value)
        except BaseException as error:  # noqa: BLE001 - it ends here: nobody else would ever hear of it
            log.error("%s stopped: %s", name, type(error).__name__)

    work.add_done_callback(log_if_failed)


BUSY_S = 0.25
"""Somebody who searched within this time is likely to do so again: background work waits."""


class Activity:
    """Two moments on the clock's monotonic seconds; written without a lock: the later of two writers wins."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._called_at = self._hand_at = clock.monotonic()

    def note_call(self) -> None:
        """Note that a verb of a person or a client began or ended."""
        self._called_at = self._clock.monotonic()

    def note_input(self) -> None:
        """Note that the person touched the window."""
        self._hand_at = self._clock.monotonic()

    @property
    def is_busy(self) -> bool:
        """Whether a verb ran within the last quarter of a second."""
        return self._clock.monotonic() - self._called_at < BUSY_S

    @property
    def idle_s(self) -> float:
        """Seconds since anybody did anything."""
        return max(0.0, self._clock.monotonic() - max(self._called_at, self._hand_at))


class RunningVerb:
    """One call of a verb in its transaction.

    Attributes:
        earlier: what the same call was answered before; None where it is new, or the caller gave no id.
    """

    def __init__(self, earlier: Mapping[str, Any] | None) -> None:
        self.earlier = earlier
        self._step: Verb | None = None
        self.reply: Mapping[str, Any] | None = None
        self.ids: Sequence[str] | None = None

    def set_outcome(self, ids: Sequence[str] | None, reply: Mapping[str, Any] | None = None) -> None:
        """Say what was done.

        Args:
            ids: the memories that changed, for the announcement; None where nothing is to be told.
            reply: ids and words, JSON-able, never memory text; kept as the answer to the same call.
        """
        self.ids, self.reply = ids, reply

    @property
    def step(self) -> Verb:
        """The undo step that collects this verb's changed rows and audit row; only where the verb was given a label."""
        if self._step is None:
            raise BugError("a verb without a step of its own")
        return self._step

    @property
    def step_id(self) -> str:
        """The undo step's id; as `step`."""
        return self.step.step_id

    def note_audit(self, obj: str = "", **detail: object) -> None:
        """Say what the audit row shall hold (`core.intake.transaction.unit_of_work.Verb.note_audit`); as `step`."""
        self.step.note_audit(obj, **detail)

    def record_step(self, step: Verb) -> None:
        """Let a step collect what this verb changes."""
        self._step = step


@dataclass
class Storage:
    """The vault as verbs use it: read on the pool, written by the one writer, told to subscribers.

    Attributes:
        root: wiped when the vault closes.
        make_id: makes UUIDv7 ids.
        work: opens the steps of verbs.
        threads: the pools that belong to the vault.
        hub: where subscribers listen.
        activity: told that somebody is at work.
        closing: set when long reads should give up.
        write_fault: why the last write was not saved, where the vault itself could not be written; None otherwise.
    """

    home: Home
    root: RootKey
    vault: Vault
    queue: WriteQueue
    clock: Clock
    make_id: IdMaker
    work: UnitOfWork
    threads: Threads
    hub: Hub
    activity: Activity
    closing: threading.Event = field(default_factory=threading.Event)
    write_fault: Code | None = None

    def read(self, fn: Callable[[Rows], T]) -> Future[T]:
        """Read on the pool, one snapshot; never waits for the writer."""
        self.activity.note_call()
        return self.read_quietly(fn)

    def read_quietly(self, fn: Callable[[Rows], T]) -> Future[T]:
        """`read` for what looks by itself again and again: it is no sign of somebody being at work."""
        return self.run_on(self.threads.reads, lambda: self.vault.read(fn))

    def write(self, fn: Callable[[Tx], T], *, background: bool = False) -> Future[T]:
        """Hand a verb to the writer.

        Args:
            background: whether nobody waits for it.

        Returns:
            Its result, once it is saved.

        Raises:
            LociError: VAULT_LOCKED; the vault is closing.
        """
        if not background:
            self.activity.note_call()
        try:
            first = self.queue.submit_verb(self._with_publishing(fn), background=background)
        except LociError as error:
            raise self.translate_error(error) from None
        return map_result(first, self._note_write_success, self._note_write_failure)

    def _with_publishing(self, fn: Callable[[Tx], T]) -> Callable[[Tx], T]:
        """A verb, of which listeners are told what it did."""

        def carried_out(tx: Tx) -> T:
            value = fn(tx)
            publish_changes(tx, self.hub)
            return value

        return carried_out

    def _note_write_success(self, value: T) -> T:
        self.write_fault = None
        return value

    def _note_write_failure(self, error: BaseException) -> BaseException:
        if isinstance(error, LociError) and error.code in _UNWRITABLE:
            self.write_fault = error.code
        return self.translate_error(error)

    def run_on(self, pool: Executor, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run work on one of the pools.

        Args:
            pool: of `threads`.

        Returns:
            Its result; VAULT_LOCKED where the vault closed before its turn.
        """
        return map_result(submit_work(pool, work, *args, **kwargs), lambda value: value, self.translate_error)

    def translate_error(self, error: BaseException) -> BaseException:
        """While the vault closes, what a queue or an interrupted statement says means that it is locked."""
        if self.closing.is_set() and isinstance(error, LociError) and error.code in _CLOSING:
            return locked_error()
        return error

    @contextmanager
    def verb(
        self, tx: Tx, actor: Actor, name: str, call: IdempotentCall | None = None, *, label: str | None = None
    ) -> Iterator[RunningVerb]:
        """Run one call of a verb: repeated calls, audit row, undo step and announcement in one place.

        The first answer is kept for a repeated call; subscribers are told once all is saved.

        Args:
            name: as it is announced, and as it stands in the audit.
            call: by what a repeated call is known; None where it is not kept.
            label: the undo step's name; None where a service of `core.intake` opens the step itself.

        Yields:
            The running verb; where it has an `earlier` answer nothing is to be done any more.

        Raises:
            UserError: INVALID_INPUT where the id was used for something else.
        """
        running = RunningVerb(None if call is None else call.find_reply(tx))
        if label is None or running.earlier is not None:
            yield running
        else:
            with self.work.verb(tx, name, label, actor) as step:
                running.record_step(step)
                yield running
        if running.earlier is not None:
            return
        if call is not None and running.reply is not None:
            call.keep_reply(tx, running.reply)
        if running.ids is not None:
            self.announce_after(tx, name, running.ids, actor)

    def announce_after(self, tx: Tx, verb: str, ids: Sequence[str], actor: Actor) -> None:
        """As `announce_change`, once the transaction is committed; nothing is told of one that is not."""
        seq = tx.seq
        tx.after_commit(lambda: self.announce_change(verb, ids, actor, seq))

    def announce_change(self, verb: str, ids: Sequence[str], actor: Actor, seq: int) -> None:
        """Tell subscribers that rows changed."""
        self.hub.publish(Changed(verb, tuple(ids), actor, seq))


def publish_changes(tx: Tx, hub: Hub) -> None:
    """Publish the changes of a transaction after its other commit actions.

    Args:
        tx: the transaction, at its end.
        hub: where they listen; where nobody does, nothing is looked up.
    """
    if not hub.is_watched:
        return
    moves = _list_moves(tx)
    if moves:
        tx.after_commit(lambda: hub.tell(moves))


def _list_moves(tx: Tx) -> Moves:
    """The heads of split texts stand for their parts."""
    found: dict[_Step, list[str]] = {}
    for memory_id, step in _read_memory_moves(tx):
        if step != (None, None):
            found.setdefault(step, []).append(memory_id)
    return tuple(Moved(*step, tuple(ids)) for step, ids in found.items())


def _read_memory_moves(tx: Tx) -> Iterator[tuple[str, _Step]]:
    touched = tx.touched
    ids = list({**touched.before, **touched.beside})
    for at in range(0, len(ids), _AT_ONCE):
        some = ids[at : at + _AT_ONCE]
        now = {str(one): (part_of, tuple(place)) for one, part_of, *place in tx.all(_AFTER, (json.dumps(some),))}
        for one in some:
            part_of, after = now.get(one, (None, None))
            row = touched.before.get(one)
            before = after if one not in touched.before else None
            if row is not None:
                part_of, before = row["part_of"], _place_of_image(row)
            if part_of in (None, one):
                yield one, (before, after)


def _place_of_image(row: Mapping[str, Any]) -> Place:
    """Where a memory was, from the image of its row."""
    said = {**row, TIER_BY: json.loads(str(row["extra"])).get(TIER_BY)}
    return tuple(said[name] for name in PLACE)


def _cancel_together(reply: Future[B], first: Future[A]) -> None:
    """A reply that is cancelled before its work began takes the work with it."""
    reply.add_done_callback(lambda done: first.cancel() if done.cancelled() else None)


def _result_of(done: Future[A]) -> A:
    try:
        return done.result()
    except Dropped:
        raise locked_error() from None


def _settle_reply(
    done: Future[A], reply: Future[B], then: Callable[[A], B], map_error: Callable[[BaseException], BaseException]
) -> None:
    try:
        value = then(_result_of(done))
    except BaseException as error:  # noqa: BLE001 - the caller of the future gets whatever went wrong
        reply.set_exception(map_error(error))
    else:
        reply.set_result(value)


def _return_error(value: A) -> A:
    return value
