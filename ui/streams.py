"""What comes in pieces: an asynchronous generator of the engine's, run in the window's own event loop through qasync.

The window has an asyncio loop from its first stream until the bridge is closed. Qt's loop drives it; it has no threads
of its own, and what would block it is run on one of the engine's. Must not do: know what streams, or call anybody from
within a step of a coroutine (a dialog opened there would stop all others).
"""

from __future__ import annotations

import asyncio
import logging
import sys
from asyncio.events import _set_running_loop
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import Future
from contextlib import aclosing
from functools import partial
from typing import Any, cast

from PySide6.QtCore import QCoreApplication, QElapsedTimer, QEventLoop, QObject, Qt, Signal, Slot

Begin = Callable[[], AsyncGenerator[str, None]]
RunAside = Callable[[Callable[[], Any]], Future[Any]]

_TURNS_TO_CLOSE = 4
_CLOSE_MS, _STEP_MS = 1_000, 20
_log = logging.getLogger("loci.ui")


class Stream(QObject):
    """One generator under way.

    Signals:
        arrived: its next piece.
        ended: it is over: None where it came to its end, else the error; `asyncio.CancelledError` where it was stopped.
    """

    arrived = Signal(str)
    ended = Signal(object)
    _piece = Signal(str)
    _over = Signal(object)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._task: asyncio.Task[None] | None = None
        self.is_over = False
        # Queued, always: who is told may open a dialog, whose loop must not run inside a step of a task.
        self._piece.connect(self._deliver_piece, Qt.ConnectionType.QueuedConnection)
        self._over.connect(self._deliver_end, Qt.ConnectionType.QueuedConnection)

    def start(self, loop: asyncio.AbstractEventLoop, begin: Begin, on_end: Callable[[], None]) -> None:
        """Begin; called once, by the runner.

        Args:
            on_end: told on the loop when the task is over.
        """
        self._task = loop.create_task(self._forward_pieces(begin))
        self._task.add_done_callback(lambda task: self._note_end(task, on_end))

    async def _forward_pieces(self, begin: Begin) -> None:
        async with aclosing(begin()) as pieces:
            async for piece in pieces:
                self._piece.emit(piece)

    def _note_end(self, task: asyncio.Task[None], on_end: Callable[[], None]) -> None:
        self._over.emit(asyncio.CancelledError() if task.cancelled() else task.exception())
        on_end()

    def stop(self) -> None:
        """Hang up; `ended` follows."""
        if self._task is not None:
            self._task.cancel()

    @Slot(str)
    def _deliver_piece(self, piece: str) -> None:
        if not self.is_over:
            self.arrived.emit(piece)

    @Slot(object)
    def _deliver_end(self, error: BaseException | None) -> None:
        self.is_over = True
        self.ended.emit(error)
        self.deleteLater()


class StreamRunner(QObject):
    """Runs streams, each as a task of one loop."""

    def __init__(self, run_aside: RunAside, parent: QObject | None = None) -> None:
        """Make it; nothing of asyncio is made yet.

        Args:
            run_aside: runs what blocks, such as looking up a name, on a thread of the engine.
        """
        super().__init__(parent)
        self._run_aside = run_aside
        self._loop: asyncio.AbstractEventLoop | None = None
        self._streams: set[Stream] = set()

    @property
    def is_running(self) -> bool:
        """Whether anything streams."""
        return bool(self._streams)

    def open_stream(self, begin: Begin) -> Stream:
        """Begin a stream.

        Args:
            begin: gives the generator; called on the window's loop.
        """
        if self._loop is None:
            self._loop = _make_loop(self._run_aside)
        made = Stream(self)
        self._streams.add(made)
        made.start(self._loop, begin, lambda: self._streams.discard(made))
        return made

    def stop_all(self) -> None:
        """Hang up on everything; the ends follow."""
        for stream in tuple(self._streams):
            stream.stop()

    def close(self) -> None:
        """Hang up, wait until every connection is given back, at most a second, and close the loop."""
        loop, self._loop = self._loop, None
        if loop is None:
            return
        self.stop_all()
        drained = loop.create_task(_drain_loop(loop))
        waited = QElapsedTimer()
        waited.start()
        while not drained.done() and waited.elapsed() < _CLOSE_MS:
            QCoreApplication.processEvents(QEventLoop.ProcessEventsFlag.ExcludeUserInputEvents, _STEP_MS)
        loop.close()


async def _drain_loop(loop: asyncio.AbstractEventLoop) -> None:
    """Wait for what runs, and for generators that a library left open."""
    await _wait_for_others(loop)
    await loop.shutdown_asyncgens()
    await _wait_for_others(loop)
    for _ in range(_TURNS_TO_CLOSE):  # a transport is closed in turns of the loop
        await asyncio.sleep(0)


async def _wait_for_others(loop: asyncio.AbstractEventLoop) -> None:
    await asyncio.gather(*(asyncio.all_tasks(loop) - {asyncio.current_task(loop)}), return_exceptions=True)


def _make_loop(run_aside: RunAside) -> asyncio.AbstractEventLoop:
    """A loop that runs in this thread until it is closed; qasync is imported with the first one."""
    import qasync

    class WindowLoop(qasync.QEventLoop):  # type: ignore[misc]  # untyped library
        """Driven by the loop in which the window runs anyway: it neither starts that one nor ends it."""

        _is_open = True

        def begin(self) -> None:
            """Be this thread's loop; a generator that is dropped half read is closed on it, which qasync leaves out."""
            self._earlier_hooks = sys.get_asyncgen_hooks()
            sys.set_asyncgen_hooks(self._asyncgen_firstiter_hook, self._asyncgen_finalizer_hook)
            _set_running_loop(self)

        def is_running(self) -> bool:
            """As long as it is open: Qt runs whenever one of its callbacks does."""
            return self._is_open

        def run_in_executor(self, executor: Any, work: Callable[..., Any], *args: Any) -> asyncio.Future[Any]:
            """Run what blocks on a thread of the engine."""
            del executor
            return asyncio.wrap_future(run_aside(partial(work, *args)), loop=self)

        def close(self) -> None:
            """Give everything back."""
            self._is_open = False
            _set_running_loop(None)
            sys.set_asyncgen_hooks(*self._earlier_hooks)
            super().close()

    made = WindowLoop(QCoreApplication.instance())
    made.set_exception_handler(_log_exception)
    made.begin()
    return cast("asyncio.AbstractEventLoop", made)


def _log_exception(_loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """By its type alone: what a server or a memory says is in no log."""
    _log.error("a callback of a stream failed: %s", type(context.get("exception")).__name__)
