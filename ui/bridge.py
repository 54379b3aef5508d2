"""The only crossing between the engine's threads and Qt's.

A Future or an event becomes a queued signal of an object born on the GUI thread. Work is a value, a `Task`: what it is
called, how it begins, what becomes of its end; `TaskRunner.run` starts it, shows it in the status bar after 600 ms, and
says errors by family. Must not do: wait, interpret results, or be called from any thread but the GUI's.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import CancelledError as Dropped
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

import shiboken6
from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot

from core.engine.facade import (
    Engine,
    OlderCopy,
    OpenInfo,
    cited_sources,
    mark_spans,
    passphrase_strength,
    read_emblems,
    remove_citations,
    split_citations,
)
from core.errors import BugError, CancelledError, Code, EnvironmentFaultError, IntegrityError, LociError
from core.events import Changed, Event, Progress, Stalled, StateChanged
from ui.streams import Begin, Stream, StreamRunner

SHOWN_AFTER_MS = 600
POLL_MS = 100

__all__ = [
    "Bridge",
    "Engine",
    "OlderCopy",
    "OpenInfo",
    "cited_sources",
    "mark_spans",
    "passphrase_strength",
    "read_emblems",
    "remove_citations",
    "split_citations",
]

T = TypeVar("T")
Done = Callable[[Any, BaseException | None], None]


class Bridge(QObject):
    """Hands work to the engine and brings answers and events back.

    Attributes:
        engine: the one engine; calling its groups is quick, what they give back is a Future for `call`.

    Signals:
        changed: a `core.events.Changed`; something in the vault is different.
        progressed: a `core.events.Progress` of work nobody in the window asked for.
        state: the engine's state: `locked`, `opening`, `open`, `closing`.
        warned: a `core.events.Stalled`; what goes on by itself cannot.
    """

    changed = Signal(object)
    progressed = Signal(object)
    warned = Signal(object)
    state = Signal(str)
    _settled = Signal(object, object)
    _event = Signal(object)

    def __init__(self, engine: Engine, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.engine = engine
        self._open: set[Future[Any]] = set()
        self._streams = StreamRunner(engine.run_aside, self)
        # Queued, always: a future that is finished already would answer before `call` has returned.
        self._settled.connect(self._deliver_result, Qt.ConnectionType.QueuedConnection)
        self._event.connect(self._forward_event, Qt.ConnectionType.QueuedConnection)
        self._unsubscribe: Callable[[], None] | None = engine.hub.subscribe(self._event.emit)

    @property
    def is_open(self) -> bool:
        """Whether the vault is open now."""
        return self.engine.state == "open"

    def run_call(
        self, begin: Callable[[], Future[T]], done: Callable[[T | None, BaseException | None], None]
    ) -> Future[T]:
        """Begin work and be told of its end on the GUI thread, later than this call.

        Args:
            begin: asks the engine; what it raises is delivered like what its future raises.
            done: called with (result, None) or (None, error); dropped after `close_bridge`.

        Returns:
            The work; cancelled before the engine has begun it, it is never done.
        """
        future: Future[T]
        try:
            future = begin()
        except BaseException as error:  # noqa: BLE001 - every road of an error ends in `done`
            future = Future()
            future.set_exception(error)
        self._open.add(future)
        future.add_done_callback(lambda ended: self._settled.emit(ended, done))
        return future

    def open_stream(self, begin: Begin) -> Stream:
        """Run what the engine gives piece by piece; it is hung up on when the vault is locked or the bridge closed.

        Args:
            begin: gives the engine's asynchronous generator.
        """
        return self._streams.open_stream(begin)

    @Slot(object, object)
    def _deliver_result(self, future: Future[Any], done: Done) -> None:
        if future not in self._open:
            return
        self._open.discard(future)
        error = _error_of_future(future)
        done(None if error is not None else future.result(), error)

    @Slot(object)
    def _forward_event(self, event: Event) -> None:
        if self._unsubscribe is None:
            return
        match event:
            case Changed():
                self.changed.emit(event)
            case Progress():
                self.progressed.emit(event)
            case Stalled():
                self.warned.emit(event)
            case StateChanged(state):
                if state != "open":
                    self._streams.stop_all()
                self.state.emit(state)

    def close_bridge(self) -> None:
        """Deliver nothing any more; what runs is asked to stop where it has not begun."""
        if self._unsubscribe is not None:
            self._unsubscribe()
            self._unsubscribe = None
        self._streams.close()
        for future in self._open:
            future.cancel()
        self._open.clear()


class Watch:
    """What a long work is handed: where to tell its progress, and whether to stop. Used from engine threads.

    Attributes:
        done: units done so far.
        total: units in all; None while unknown.
    """

    def __init__(self) -> None:
        self.done = 0
        self.total: int | None = None
        self._stop = threading.Event()

    def progress(self, done: int, total: int | None) -> None:
        """Told by the engine; read by the window every 100 ms."""
        self.done, self.total = done, total

    def cancelled(self) -> bool:
        """Asked by the engine at safe points."""
        return self._stop.is_set()

    def cancel(self) -> None:
        """The person asks it to stop."""
        self._stop.set()


@dataclass(frozen=True, slots=True)
class Task(Generic[T]):
    """Work to be done.

    Attributes:
        label: what it does, for the status bar: `Reading the library`; no memory text.
        begin: asks the engine.
        writes: whether it changes the vault.
        can_cancel: whether the person may stop it.
        on_success: called with the result on the GUI thread.
        on_failure: called with the error; without it the shell says it. `CancelledError` is silent either way.
        owner: results are dropped once this object is gone.
        key: a later task with the same key makes the answer of an earlier one void.
    """

    label: str
    begin: Callable[[Watch], Future[T]]
    writes: bool = False
    can_cancel: bool = False
    on_success: Callable[[T], None] | None = None
    on_failure: Callable[[BaseException], None] | None = None
    owner: QObject | None = None
    key: str | None = None

    def success(self, then: Callable[[T], None]) -> Task[T]:
        """The same task that tells its result to `then`."""
        return replace(self, on_success=then)

    def failure(self, then: Callable[[BaseException], None]) -> Task[T]:
        """The same task that tells its error to `then`."""
        return replace(self, on_failure=then)

    def within(self, owner: QObject, key: str | None = None) -> Task[T]:
        """The same task, void once `owner` is gone or a later task of the same key was started.

        Args:
            owner: a widget or model.
            key: what is asked, unique within the owner; None where every answer counts.
        """
        return replace(self, owner=owner, key=None if key is None else f"{id(owner)}:{key}")


def make_query(label: str, begin: Callable[[], Future[T]]) -> Task[T]:
    """A reading: nothing changes."""
    return Task(label, lambda _: begin())


def make_write(label: str, begin: Callable[[], Future[T]]) -> Task[T]:
    """A change: one undo step."""
    return Task(label, lambda _: begin(), writes=True)


def make_job(label: str, begin: Callable[[Watch], Future[T]]) -> Task[T]:
    """A long work that tells its progress and can be stopped."""
    return Task(label, begin, writes=True, can_cancel=True)


class Running(QObject):
    """A task under way.

    Signals:
        moved: (done, total or -1); at most every 100 ms, once it is shown.
        ended: it is over, well or not.
    """

    moved = Signal(int, int)
    ended = Signal()

    def __init__(self, label: str, can_cancel: bool, parent: QObject) -> None:
        super().__init__(parent)
        self.label, self.can_cancel = label, can_cancel
        self.watch = Watch()
        self.is_over = False
        self._poll = QTimer(self)
        self._poll.setInterval(POLL_MS)
        self._poll.timeout.connect(self._emit_progress)

    def show_progress(self) -> None:
        """Begin to tell progress."""
        self._poll.start()
        self._emit_progress()

    def _emit_progress(self) -> None:
        self.moved.emit(self.watch.done, -1 if self.watch.total is None else self.watch.total)

    def cancel(self) -> None:
        """Ask it to stop at its next safe point."""
        self.watch.cancel()

    def mark_over(self) -> None:
        """It is over."""
        self.is_over = True
        self._poll.stop()
        self.ended.emit()
        self.deleteLater()


@dataclass(frozen=True, slots=True)
class Problem:
    """An error as the person is told of it.

    Attributes:
        family: `user`, `environment`, `integrity` or `bug`.
        sentence: one sentence, with what to do.
        code: the stable code.
        retry: runs the task once more; None where that makes no sense.
    """

    family: str
    sentence: str
    code: str
    retry: Callable[[], None] | None = None


class TaskRunner(QObject):
    """Runs tasks of the window on the engine, one Future each.

    Signals:
        shown: a `Running` that takes longer than 600 ms.
        problem: a `Problem` nobody else takes care of.
        settled: a task that writes is over, well or not: views that are stale may ask again.
    """

    shown = Signal(object)
    problem = Signal(object)
    settled = Signal()

    def __init__(self, bridge: Bridge, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._newest: dict[str, int] = {}
        self._readings: dict[str, Future[Any]] = {}
        self._number = 0
        self._running: set[Running] = set()

    @property
    def running(self) -> tuple[Running, ...]:
        """What is under way."""
        return tuple(self._running)

    def run(self, task: Task[T]) -> Running:
        """Start a task."""
        running = Running(task.label, task.can_cancel, self)
        self._running.add(running)
        self._number += 1
        number = self._number
        if task.key is not None:
            self._newest[task.key] = number
            if not task.writes and (earlier := self._readings.pop(task.key, None)) is not None:
                # Its answer is void: where the engine is busy, such readings would queue up before the one that counts.
                earlier.cancel()
        timer = QTimer(running)
        timer.setSingleShot(True)
        timer.timeout.connect(lambda: self._show_running(running))
        timer.start(SHOWN_AFTER_MS)
        work = self._bridge.run_call(
            lambda: task.begin(running.watch),
            lambda result, error: self._end_task(task, number, running, result, error),
        )
        if task.key is not None and not task.writes:
            self._readings[task.key] = work
        return running

    def _show_running(self, running: Running) -> None:
        if not running.is_over:
            self.shown.emit(running)
            running.show_progress()

    def _end_task(
        self, task: Task[Any], number: int, running: Running, result: Any, error: BaseException | None
    ) -> None:
        self._running.discard(running)
        running.mark_over()
        is_void = task.key is not None and self._newest.get(task.key) != number
        if task.key is not None and not is_void:
            del self._newest[task.key]
            self._readings.pop(task.key, None)
        is_owner_deleted = task.owner is not None and not shiboken6.isValid(task.owner)
        if not is_owner_deleted and not is_void:
            self._deliver_end(task, result, error)
        elif error is not None and task.writes:
            self._emit_problem(task, error)  # a change that failed is told even where its page is gone
        if task.writes:
            self.settled.emit()

    def _deliver_end(self, task: Task[Any], result: Any, error: BaseException | None) -> None:
        if error is None:
            if task.on_success is not None:
                task.on_success(result)
        elif isinstance(error, CancelledError):
            return
        elif task.on_failure is not None:
            task.on_failure(error)
        else:
            self._emit_problem(task, error)

    def _emit_problem(self, task: Task[Any], error: BaseException) -> None:
        problem = problem_of(error, lambda: self._run_again(task))
        if problem is not None:
            self.problem.emit(problem)

    def _run_again(self, task: Task[Any]) -> None:
        self.run(task)

    def cancel_all(self) -> None:
        """Ask everything to stop; the window closes or the vault is being locked."""
        for running in tuple(self._running):
            running.cancel()


def problem_of(error: BaseException, retry: Callable[[], None] | None = None) -> Problem | None:
    """An error in the words of its family (design section 2).

    Args:
        error: what a task ended with.
        retry: runs it once more.

    Returns:
        What to show; None where nothing is to be shown: it was cancelled, or the vault was locked meanwhile.
    """
    if not isinstance(error, LociError):
        bug = BugError(type(error).__name__)
        return Problem("bug", bug.sentence, bug.code.value)
    if isinstance(error, CancelledError) or error.code is Code.VAULT_LOCKED:
        return None
    if isinstance(error, EnvironmentFaultError):
        return Problem("environment", error.sentence, error.code.value, retry)
    if isinstance(error, BugError):
        return Problem("bug", error.sentence, error.code.value)
    family = "integrity" if isinstance(error, IntegrityError) else "user"
    return Problem(family, error.sentence, error.code.value)


def _error_of_future(future: Future[Any]) -> BaseException | None:
    try:
        return future.exception()
    except Dropped:
        return CancelledError()
    except Exception as error:  # noqa: BLE001 - a future that cannot even tell is a bug of ours
        return BugError(type(error).__name__)
