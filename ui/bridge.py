"""The only crossing between the engine's threads and Qt's.

A Future or an event becomes a queued signal of an object born on the GUI thread. Must not do: wait, interpret
results, or be called from any thread but the GUI's.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import CancelledError as Dropped
from concurrent.futures import Future
from typing import Any, TypeVar

from PySide6.QtCore import QObject, Qt, Signal, Slot

from core.engine.facade import Engine, OlderCopy, OpenInfo, passphrase_strength
from core.errors import BugError, CancelledError
from core.events import Changed, Event, Progress, StateChanged

T = TypeVar("T")
Done = Callable[[Any, BaseException | None], None]

__all__ = ["Bridge", "Engine", "OlderCopy", "OpenInfo", "passphrase_strength"]


class Bridge(QObject):
    """Hands work to the engine and brings answers and events back.

    Attributes:
        engine: the one engine; calling its groups is quick, what they give back is a Future for `call`.

    Signals:
        changed: a `core.events.Changed`; something in the vault is different.
        progressed: a `core.events.Progress` of work nobody in the window asked for.
        state: the engine's state: `locked`, `opening`, `open`, `closing`.
    """

    changed = Signal(object)
    progressed = Signal(object)
    state = Signal(str)
    _settled = Signal(object, object)
    _event = Signal(object)

    def __init__(self, engine: Engine, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.engine = engine
        self._open: set[Future[Any]] = set()
        # Queued, always: a future that is finished already would answer before `call` has returned.
        self._settled.connect(self._deliver, Qt.ConnectionType.QueuedConnection)
        self._event.connect(self._publish, Qt.ConnectionType.QueuedConnection)
        self._unsubscribe: Callable[[], None] | None = engine.hub.subscribe(self._event.emit)

    @property
    def is_open(self) -> bool:
        """Whether the vault is open now."""
        return self.engine.state == "open"

    def call(self, begin: Callable[[], Future[T]], done: Callable[[T | None, BaseException | None], None]) -> None:
        """Begin work and be told of its end on the GUI thread, later than this call.

        Args:
            begin: asks the engine; what it raises is delivered like what its future raises.
            done: told (result, None) or (None, error); dropped after `shut`.
        """
        future: Future[T]
        try:
            future = begin()
        except BaseException as error:  # noqa: BLE001 - every road of an error ends in `done`
            future = Future()
            future.set_exception(error)
        self._open.add(future)
        future.add_done_callback(lambda ended: self._settled.emit(ended, done))

    @Slot(object, object)
    def _deliver(self, future: Future[Any], done: Done) -> None:
        if future not in self._open:
            return
        self._open.discard(future)
        error = _error_of(future)
        done(None if error is not None else future.result(), error)

    @Slot(object)
    def _publish(self, event: Event) -> None:
        if self._unsubscribe is None:
            return
        match event:
            case Changed():
                self.changed.emit(event)
            case Progress():
                self.progressed.emit(event)
            case StateChanged(state):
                self.state.emit(state)

    def shut(self) -> None:
        """Deliver nothing any more; what runs is asked to stop where it has not begun."""
        if self._unsubscribe is not None:
            self._unsubscribe()
            self._unsubscribe = None
        for future in self._open:
            future.cancel()
        self._open.clear()


def _error_of(future: Future[Any]) -> BaseException | None:
    try:
        return future.exception()
    except Dropped:
        return CancelledError()
    except Exception as error:  # noqa: BLE001 - a future that cannot even tell is a bug of ours
        return BugError(type(error).__name__)
