"""Places a graph's nodes, the parent's side: first places at once, better ones from a child process.

The child gets counts and index arrays, never an id or a text. It is ended when the person cancels, when the vault
closes and when it is late; where it dies or lies, the last good places stand. Must not do: import the layout library,
wait on the engine's read or job threads.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError as Dropped
from concurrent.futures import Executor, Future
from contextlib import suppress
from enum import Enum
from pathlib import Path
from types import TracebackType
from typing import IO

import numpy as np

from core import log
from core.engine.runtime.futures import begin
from core.engine.views.graph_positions import WholeLayout, freeze, separate_coincident
from core.engine.views.layout_process import LENGTH, STEP, LayoutJob, Places, pack_job
from core.errors import CancelledError, Code, EnvironmentFaultError
from core.types.clock import Clock
from core.types.views import EgoGraph, Placed

_START_CHILD = (
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "from core.engine.views.layout_process import lower_priority, main; lower_priority(); sys.exit(main())"
)
_POLL_S = 0.05
_DEADLINE_S = 30.0
_DEADLINE_NODE_S = 0.002  # 100,000 nodes may take four minutes on a slow machine
_log = log.get("engine")


def child_command() -> tuple[str, ...]:
    """How the child is started from a checkout or an installed package.

    A frozen program has no interpreter to start and passes its own command.

    Returns:
        The command and its arguments.
    """
    return (sys.executable, "-I", "-c", _START_CHILD, str(Path(__file__).resolve().parents[3]))


class LayoutExit(Enum):
    """Why a child is over."""

    DONE = "done"
    STOPPED = "stopped"
    LATE = "late"


def _failed() -> EnvironmentFaultError:
    return EnvironmentFaultError(Code.BACKGROUND_STALLED, "The graph could not be laid out; try again.")


class LayoutProcess:
    """One child process and the guard that ends it. Use with `with`; nothing of it is left afterwards."""

    def __init__(
        self, guards: Executor, clock: Clock, stopped: Callable[[], bool], command: Sequence[str], deadline_s: float
    ) -> None:
        """Start the child.

        Args:
            guards: a pool with a free thread, on which this child is watched.
            clock: for the deadline.
            stopped: asked twenty times a second; true ends the child.
            command: starts it.
            deadline_s: seconds it may live.

        Raises:
            EnvironmentFaultError: it could not be started.
            UserError: VAULT_LOCKED.
        """
        self._over = threading.Event()
        self._stopped, self._clock = stopped, clock
        self._until = clock.monotonic() + deadline_s
        try:
            self._process = subprocess.Popen(
                tuple(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )
        except OSError:
            raise _failed() from None
        try:
            self._ending: Future[LayoutExit] = begin(guards, self._guard)
        except BaseException:
            self._bury()
            raise

    def __enter__(self) -> LayoutProcess:
        """The running child."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End it."""
        self._over.set()
        with suppress(Dropped):
            self._ending.exception()  # waits: the next layout shall find the guard's thread free
        self._bury()

    def _guard(self) -> LayoutExit:
        # A pipe cannot be waited for with a deadline on every system: whoever reads it wakes when the child is killed.
        ending = LayoutExit.DONE
        try:
            while ending is LayoutExit.DONE and not self._over.wait(_POLL_S):
                if self._stopped():
                    ending = LayoutExit.STOPPED
                elif self._clock.monotonic() > self._until:
                    ending = LayoutExit.LATE
        finally:
            self._process.kill()
        return ending

    def _bury(self) -> None:
        self._process.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):  # what was not written is of no use any more
                    pipe.close()
        self._process.wait()

    def steps(self, job: LayoutJob) -> Iterator[tuple[Places, bool]]:
        """Have nodes placed.

        Args:
            job: what shall be placed; once a child.

        Yields:
            Positions as they come, and whether they are the last.

        Raises:
            CancelledError: `stopped` said so.
            EnvironmentFaultError: the child died, was late, or did not keep to the protocol.
        """
        nodes = job.places.shape[0]
        sink, source = self._process.stdin, self._process.stdout
        if sink is None or source is None:
            raise _failed()
        try:
            with sink:
                sink.write(pack_job(job))
            is_last = False
            while not is_last:
                placed, is_last = _reply(source, nodes)
                yield placed, is_last
        except (OSError, EOFError, ValueError) as error:
            cause = type(error).__name__
        else:
            return
        self._over.set()
        raise self._said(cause)

    def _said(self, cause: str) -> CancelledError | EnvironmentFaultError:
        try:
            ending = self._ending.result()
        except Dropped:  # the pool ended with the vault
            ending = LayoutExit.STOPPED
        if ending is LayoutExit.STOPPED:
            return CancelledError()
        _log.warning("a layout stopped: %s, %s", ending.value, cause)
        return _failed()


def _reply(source: IO[bytes], nodes: int) -> tuple[Places, bool]:
    """One reply; its length is known before, so nothing a child says makes us read more.

    Raises:
        EOFError: the child is gone.
        ValueError: it lies.
    """
    size = STEP.size + 8 * nodes
    head = source.read(LENGTH.size)
    if len(head) == LENGTH.size and LENGTH.unpack(head) != (size,):
        raise ValueError("length")
    body = source.read(size) if head else b""
    if len(body) < size:
        raise EOFError
    placed = np.frombuffer(body, "<f4", 2 * nodes, STEP.size).astype(np.float32).reshape(nodes, 2)
    (flag,) = STEP.unpack_from(body)
    if flag > 1 or not bool((np.abs(placed) <= 1.001).all()):  # false for what is not a number, too
        raise ValueError("values")
    return placed, bool(flag)


def deadline_for(nodes: int) -> float:
    """Seconds a layout may take.

    Returns:
        Many times what it takes on a common machine.
    """
    return _DEADLINE_S + _DEADLINE_NODE_S * nodes


def layout_whole(
    layout: WholeLayout,
    start: Callable[[], LayoutProcess],
    on_step: Callable[[Placed], None],
    stopped: Callable[[], bool],
) -> Placed:
    """Place a whole graph in steps.

    Args:
        layout: the prepared graph.
        start: starts a child.
        on_step: told every step, the last one too.
        stopped: whether nobody waits any more.

    Returns:
        The last step. Where the child died, was late or lied, that is the last good one again.

    Raises:
        CancelledError: it was stopped.
    """
    if stopped():
        raise CancelledError
    step = Placed(freeze(layout.first), 1, not layout.needs_child)
    on_step(step)
    if step.is_last:
        return step
    try:
        with start() as child:
            for placed, is_last in child.steps(layout.job):
                step = Placed(freeze(layout.joined(placed)), step.step + 1, is_last)
                on_step(step)
    except EnvironmentFaultError:
        if not step.is_last:
            step = Placed(step.xy, step.step + 1, is_last=True)
            on_step(step)
    return step


def layout_ego(graph: EgoGraph, job: LayoutJob, child: LayoutProcess) -> Mapping[str, tuple[float, float]]:
    """Place an ego graph.

    Args:
        graph: the graph.
        job: of it, from `ego_job`.
        child: started before, while the graph was read.

    Returns:
        Id to position; on rings where the child died, was late or lied.

    Raises:
        CancelledError: the vault closes.
    """
    placed = job.places
    if job.a.size:
        with suppress(EnvironmentFaultError):
            placed = [places for places, _ in child.steps(job)][-1]
    parted = separate_coincident(placed).tolist()
    return {node.row.id: (float(x), float(y)) for node, (x, y) in zip(graph.nodes, parted, strict=True)}
