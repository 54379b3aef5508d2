"""Everything that lives while the vault is open, and only then."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from dataclasses import InitVar, dataclass, field
from typing import Any, ParamSpec, TypeVar

from core.config.options import Options
from core.config.retrieval import RetrievalOptions
from core.engine.runtime.futures import begin, locked_error, map_result
from core.engine.runtime.monitor import Load
from core.engine.runtime.progress import RunningImport
from core.engine.runtime.read_log import ReadLog
from core.engine.runtime.search import ActiveVectorSpace, Search
from core.engine.runtime.threads import Threads
from core.errors import BugError, Code, LociError
from core.events import Changed, Hub
from core.intake.claims import TextReaders
from core.intake.store.import_batch import ImportWriter
from core.intake.store.store import StoreService
from core.intake.transaction.unit_of_work import IdempotentCall, UnitOfWork, Verb
from core.recall.scope import PLACE
from core.security.subkeys import RootKey
from core.text.screening.injection import ScanLimitsHolder, limits_from_options
from core.types.belief import ModelState, Server
from core.types.clients import Moved, Moves, Place
from core.types.clock import Clock
from core.types.ids import IdMaker
from core.types.values import Actor
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx
from core.vault.files.home import Home
from core.vault.vault import Vault, WriteQueue

_AT_ONCE = 500
_AFTER = f"SELECT id, part_of, {', '.join(PLACE)} FROM memories WHERE id IN (SELECT value FROM json_each(?))"  # noqa: S608

_Step = tuple[Place | None, Place | None]


def publish_changes(tx: Tx, hub: Hub) -> None:
    """Publish the changes of a transaction after its other commit actions.

    Args:
        tx: the transaction, at its end.
        hub: where they listen; where nobody does, nothing is looked up.
    """
    if not hub.is_watched:
        return
    moves = _moves(tx)
    if moves:
        tx.after_commit(lambda: hub.tell(moves))


def _moves(tx: Tx) -> Moves:
    """The heads of split texts stand for their parts."""
    found: dict[_Step, list[str]] = {}
    for memory_id, step in _steps(tx):
        if step != (None, None):
            found.setdefault(step, []).append(memory_id)
    return tuple(Moved(*step, tuple(ids)) for step, ids in found.items())


def _steps(tx: Tx) -> Iterator[tuple[str, _Step]]:
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
                part_of, before = row["part_of"], tuple(row[name] for name in PLACE)
            if part_of in (None, one):
                yield one, (before, after)


T = TypeVar("T")
P = ParamSpec("P")

# While the vault closes, a queue that takes nothing more and an interrupted statement mean the same.
_CLOSING = frozenset({Code.BUSY, Code.CANCELLED})
# The vault can be read and not written; the next write that is saved says that this is over.
_UNWRITABLE = frozenset({Code.DISK_FULL, Code.READ_ONLY, Code.WRITE_FAILED, Code.VAULT_REPLACED})


@dataclass(frozen=True, slots=True)
class CachedCount:
    """A count with what it depends on, kept because counting is slow.

    Attributes:
        mark: how everything was that it depends on.
        rests_until: on the clock's monotonic seconds; until then it is not counted anew whatever changed.
    """

    count: int
    mark: tuple[object, ...]
    rests_until: float


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

    def end(self, ids: Sequence[str] | None, reply: Mapping[str, Any] | None = None) -> None:
        """Say what was done.

        Args:
            ids: the memories that changed, for the announcement; None where nothing is to be told.
            reply: ids and words, JSON-able, never memory text; kept as the answer to the same call.
        """
        self.ids, self.reply = ids, reply

    @property
    def step(self) -> Verb:
        """What collects the audit row and the undo step; only where the verb was given a label."""
        if self._step is None:
            raise BugError("a verb without a step of its own")
        return self._step

    @property
    def step_id(self) -> str:
        """The undo step's id; as `step`."""
        return self.step.step_id

    def note(self, obj: str = "", **detail: object) -> None:
        """Say what the audit row shall hold (`core.intake.transaction.unit_of_work.Verb.note`); as `step`."""
        self.step.note(obj, **detail)

    def record(self, step: Verb) -> None:
        """Let a step collect what this verb changes."""
        self._step = step


@dataclass
class OpenVault:
    """The parts of an open vault.

    Attributes:
        root: wiped when the vault closes.
        search: the vector space that is searched, what embeds in it, and the options of recall.
        readers: read claims and relations.
        tidied_at: when what expired was last looked for, on the clock's monotonic seconds; None for never.
        closing: set when long reads should give up.
        model: what is known of a local model server.
        write_fault: why the last write was not saved, where the vault itself could not be written; None otherwise.
        load: how busy the person and the machine are: last activity, recall latency, memory and battery.
        imports: what is being imported, by the id of the import.
        next_archived: how many memories a sweep would archive; None before anybody asked.
    """

    home: Home
    root: RootKey
    vault: Vault
    queue: WriteQueue
    active_space: InitVar[ActiveVectorSpace]
    retrieval: InitVar[RetrievalOptions]
    readers: TextReaders
    options: Options
    clock: Clock
    make_id: IdMaker
    work: UnitOfWork
    read_log: ReadLog
    threads: Threads
    hub: Hub
    log_handler: logging.Handler
    closing: threading.Event = field(default_factory=threading.Event)
    tidied_at: float | None = None
    model: ModelState = field(default_factory=lambda: ModelState(Server.ABSENT))

    def __post_init__(self, active_space: ActiveVectorSpace, retrieval: RetrievalOptions) -> None:
        """Nobody did anything yet."""
        self.load = Load(self.clock, self.options.memory_budget_mb)
        self.search = Search(active_space, retrieval, self.threads, self.load.activity, self._said)
        self.write_fault: Code | None = None
        self.imports: dict[str, RunningImport] = {}
        self.next_archived: CachedCount | None = None
        self.limits = ScanLimitsHolder()
        self.limits.set(limits_from_options(self.options))

    @property
    def store_service(self) -> StoreService:
        """Stores."""
        return self.search.active_space.store_service

    @property
    def import_writer(self) -> ImportWriter:
        """Imports."""
        return self.search.active_space.import_writer

    def read(self, fn: Callable[[Rows], T]) -> Future[T]:
        """Read on the pool, one snapshot; never waits for the writer."""
        self.load.activity.called()
        return self.read_quietly(fn)

    def read_quietly(self, fn: Callable[[Rows], T]) -> Future[T]:
        """`read` for what looks by itself again and again: it is no sign of somebody being at work."""
        return self.on(self.threads.reads, lambda: self.vault.read(fn))

    def write(self, fn: Callable[[Tx], T], *, background: bool = False) -> Future[T]:
        """Hand a verb to the writer.

        Args:
            fn: the verb.
            background: whether nobody waits for it.

        Returns:
            Its result, once it is saved.

        Raises:
            LociError: VAULT_LOCKED; the vault is closing.
        """
        if not background:
            self.load.activity.called()
        try:
            first = self.queue.submit(self._told(fn), background=background)
        except LociError as error:
            raise self._said(error) from None
        return map_result(first, self._saved, self._unsaved)

    def _told(self, fn: Callable[[Tx], T]) -> Callable[[Tx], T]:
        """A verb, of which listeners are told what it did."""

        def carried_out(tx: Tx) -> T:
            value = fn(tx)
            publish_changes(tx, self.hub)
            return value

        return carried_out

    def _saved(self, value: T) -> T:
        self.write_fault = None
        return value

    def _unsaved(self, error: BaseException) -> BaseException:
        if isinstance(error, LociError) and error.code in _UNWRITABLE:
            self.write_fault = error.code
        return self._said(error)

    def on(self, pool: Executor, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run work on one of the pools.

        Args:
            pool: of `threads`.

        Returns:
            Its result; VAULT_LOCKED where the vault closed before its turn.
        """
        return map_result(begin(pool, work, *args, **kwargs), lambda value: value, self._said)

    def _said(self, error: BaseException) -> BaseException:
        if self.closing.is_set() and isinstance(error, LociError) and error.code in _CLOSING:
            return locked_error()
        return error

    def use_options(self, chosen: Options) -> None:
        """Go by other options from here on; what is read at opening only (`needs_restart`) stays as it is.

        Args:
            chosen: all of them.
        """
        self.options = chosen
        self.work.undo_days = chosen.undo_days
        self.work.client_waits = chosen.client_waits
        self.read_log.receipt_days = chosen.receipt_days
        self.load.resources.use_budget(chosen.memory_budget_mb)
        self.limits.set(limits_from_options(chosen))

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
        running = RunningVerb(None if call is None else call.known(tx))
        if label is None or running.earlier is not None:
            yield running
        else:
            with self.work.verb(tx, name, label, actor) as step:
                running.record(step)
                yield running
        if running.earlier is not None:
            return
        if call is not None and running.reply is not None:
            call.keep(tx, running.reply)
        if running.ids is not None:
            self.announce_after(tx, name, running.ids, actor)

    def announce_after(self, tx: Tx, verb: str, ids: Sequence[str], actor: Actor) -> None:
        """As `announce`, once the transaction is committed; nothing is told of one that is not."""
        seq = tx.seq
        tx.after_commit(lambda: self.announce(verb, ids, actor, seq))

    def announce(self, verb: str, ids: Sequence[str], actor: Actor, seq: int) -> None:
        """Tell subscribers that rows changed."""
        self.hub.publish(Changed(verb, tuple(ids), actor, seq))
