"""The facade's group for the graph: what lies round a memory, the whole vault, their places, and named views.

The owner's alone. First places are worked out here at once, better ones in a child process that gets counts and index
arrays, never an id or a text. Reading and placing run on a pool of their own, so that neither a search nor an import
waits for a layout. Must not do: compute a layout in this process.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError as Dropped
from concurrent.futures import Executor, Future
from contextlib import suppress
from dataclasses import asdict, replace
from enum import Enum
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from core import log
from core.engine.runtime.search import Search
from core.engine.runtime.storage import Storage, submit_work
from core.engine.views.layout_process import EGO, LENGTH, STEP, WHOLE, LayoutJob, Places, pack_job
from core.errors import CancelledError, Code, EnvironmentFaultError, UserError
from core.recall.browse import graph as reading
from core.recall.browse import whole_graph
from core.recall.browse.entity_links import EntityIndex, find_graph_start
from core.recall.browse.graph_paths import read_paths
from core.recall.vectors import SnapshotVectors
from core.types.clock import Clock
from core.types.values import OWNER_ACTOR
from core.types.views import EgoGraph, GraphFilter, GraphPaths, GraphView, Placed, WholeGraph
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

_START_CHILD = (
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "from core.engine.views.layout_process import lower_priority, main; lower_priority(); sys.exit(main())"
)
_POLL_S = 0.05
_DEADLINE_S = 30.0
_DEADLINE_NODE_S = 0.002  # 100,000 nodes may take four minutes on a slow machine
_log = log.get("engine")


def layout_command() -> tuple[str, ...]:
    """How the child is started: by the interpreter, or by the frozen program itself, which knows it by its module.

    Returns:
        The command and its arguments.
    """
    if getattr(sys, "frozen", False):
        return (sys.executable, "-m", "core.engine.views.layout_process")
    return (sys.executable, "-I", "-c", _START_CHILD, str(Path(__file__).resolve().parents[3]))


class LayoutExit(Enum):
    """Why a child is over."""

    DONE = "done"
    STOPPED = "stopped"
    LATE = "late"


def _layout_failed_error() -> EnvironmentFaultError:
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
            raise _layout_failed_error() from None
        try:
            self._ending: Future[LayoutExit] = submit_work(guards, self._watch_child)
        except BaseException:
            self._end_child()
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
        self._end_child()

    def _watch_child(self) -> LayoutExit:
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

    def _end_child(self) -> None:
        self._process.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):  # what was not written is of no use any more
                    pipe.close()
        self._process.wait()

    def place_nodes(self, job: LayoutJob) -> Iterator[tuple[Places, bool]]:
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
            raise _layout_failed_error()
        try:
            with sink:
                sink.write(pack_job(job))
            is_last = False
            while not is_last:
                placed, is_last = _read_reply(source, nodes)
                yield placed, is_last
        except (OSError, EOFError, ValueError) as error:
            cause = type(error).__name__
        else:
            return
        self._over.set()
        raise self._layout_exit_error(cause)

    def _layout_exit_error(self, cause: str) -> CancelledError | EnvironmentFaultError:
        try:
            ending = self._ending.result()
        except Dropped:  # the pool ended with the vault
            ending = LayoutExit.STOPPED
        if ending is LayoutExit.STOPPED:
            return CancelledError()
        _log.warning("a layout stopped: %s, %s", ending.value, cause)
        return _layout_failed_error()


def _read_reply(source: IO[bytes], nodes: int) -> tuple[Places, bool]:
    """One reply; its length is known before, so nothing a child says makes us read more.

    Raises:
        EOFError: the child is gone.
        ValueError: it lies.
    """
    size = STEP.size + 8 * nodes
    length = source.read(LENGTH.size)
    if len(length) == LENGTH.size and LENGTH.unpack(length) != (size,):
        raise ValueError("length")
    body = source.read(size) if length else b""
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
        on_step: called at every step, the last one too.
        stopped: whether nobody waits any more.

    Returns:
        The last step. Where the child died, was late or lied, that is the last good one again.

    Raises:
        CancelledError: it was stopped.
    """
    if stopped():
        raise CancelledError
    step = Placed(make_read_only(layout.first), 1, not layout.needs_child)
    on_step(step)
    if step.is_last:
        return step
    try:
        with start() as child:
            for placed, is_last in child.place_nodes(layout.job):
                step = Placed(make_read_only(layout.join_isolated(placed)), step.step + 1, is_last)
                on_step(step)
    except EnvironmentFaultError:
        if not step.is_last:
            step = Placed(step.xy, step.step + 1, is_last=True)
            on_step(step)
    return step


def layout_ego(graph: EgoGraph, job: LayoutJob, child: LayoutProcess) -> Mapping[str, tuple[float, float]]:
    """Place an ego graph.

    Args:
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
            placed = [places for places, _ in child.place_nodes(job)][-1]
    parted = separate_coincident(placed).tolist()
    return {node.id: (float(x), float(y)) for node, (x, y) in zip(graph.nodes, parted, strict=True)}


MAX_NODES = 1_000_000
MAX_EDGES = 4_000_000

_GOLDEN_ANGLE = np.pi * (3 - np.sqrt(5))
_LEAST_WEIGHT = 0.01
_CHAIN_WEIGHT = 0.5
_APART = 1e-3
_RING_FROM = 0.9


def check_graph(nodes: int, a: NDArray[np.integer], b: NDArray[np.integer], weight: NDArray[np.floating]) -> LayoutJob:
    """A graph as the child takes it.

    Args:
        a: one end of each edge, 0 to nodes - 1.
        b: the other.
        weight: one each, 0 to 1.

    Returns:
        The job, without places.

    Raises:
        UserError: INVALID_INPUT; they do not fit together.
    """
    first, second = np.asarray(a), np.asarray(b)
    worth = np.asarray(weight, np.float32)
    ends = np.concatenate((first.ravel(), second.ravel()))
    fits = (
        0 <= nodes <= MAX_NODES
        and first.ndim == 1
        and first.shape == second.shape == worth.shape
        and first.size <= MAX_EDGES
        and (ends.size == 0 or (ends.dtype.kind in "iu" and ends.min() >= 0 and ends.max() < nodes))
        and bool(np.isfinite(worth).all())
    )
    if not fits:
        raise UserError(Code.INVALID_INPUT, "The edges of that graph do not fit its nodes.")
    places = np.zeros((nodes, 2), np.float32)
    return LayoutJob(WHOLE, first.astype(np.int32), second.astype(np.int32), np.clip(worth, _LEAST_WEIGHT, 1), places)


def place_isolated(group: NDArray[np.integer]) -> Places:
    """Places without any edge: each group a round patch, the patches in a sunflower, the largest in the middle.

    Args:
        group: any whole number a node.

    Returns:
        (nodes, 2) within -1 to 1; the same for the same groups, no two on one spot.
    """
    nodes = group.size
    if nodes == 0:
        return np.zeros((0, 2), np.float32)
    _, member, counts = np.unique(group, return_inverse=True, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    before = np.zeros(counts.size)
    before[order] = np.cumsum(counts[order]) - counts[order]
    turn = np.empty(counts.size)
    turn[order] = np.arange(counts.size) * _GOLDEN_ANGLE
    far = np.where(counts.size > 1, np.sqrt((before + counts / 2) / nodes), 0.0)
    far[order[0]] = 0.0
    by_group = np.argsort(member, kind="stable")
    nr = np.empty(nodes)
    nr[by_group] = np.arange(nodes) - np.repeat(np.cumsum(counts) - counts, counts)
    radius = np.sqrt((nr + 0.5) / counts[member]) * np.sqrt(counts[member] / nodes) * 0.7
    x = far[member] * np.cos(turn[member]) + radius * np.cos(nr * _GOLDEN_ANGLE)
    y = far[member] * np.sin(turn[member]) + radius * np.sin(nr * _GOLDEN_ANGLE)
    placed = np.column_stack((x, y))
    return np.asarray(placed / max(1.0, float(np.sqrt((placed**2).sum(axis=1)).max())), np.float32)


class WholeLayout:
    """What stands between a whole graph and its child: nodes without an edge are not laid out but put on a ring."""

    def __init__(self, job: LayoutJob, group: NDArray[np.integer] | None) -> None:
        """Prepare.

        Args:
            job: from `check_graph`.
            group: a group a node; None for one group.

        Raises:
            UserError: INVALID_INPUT; not one group a node.
        """
        nodes = job.places.shape[0]
        self._group = np.zeros(nodes, np.int64) if group is None else np.asarray(group)
        if self._group.shape != (nodes,) or self._group.dtype.kind not in "iu":
            raise UserError(Code.INVALID_INPUT, "A graph has one group for each node.")
        self.first = place_isolated(self._group)
        proper = job.a != job.b
        tied = np.zeros(nodes, np.bool_)
        tied[job.a[proper]] = True
        tied[job.b[proper]] = True
        self._tied, self._alone = np.flatnonzero(tied), np.flatnonzero(~tied)
        number = np.full(nodes, -1, np.int32)
        number[self._tied] = np.arange(self._tied.size, dtype=np.int32)
        self.job = LayoutJob(
            WHOLE, number[job.a[proper]], number[job.b[proper]], job.weight[proper], self.first[self._tied]
        )
        self._ring = self._place_unlinked()

    @property
    def needs_child(self) -> bool:
        """Whether there is an edge at all."""
        return bool(self.job.a.size)

    def _place_unlinked(self) -> Places:
        """Places of the nodes without an edge: outside the others, a sector a group."""
        count = self._alone.size
        inner = self._inner_radius()
        order = np.argsort(self._group[self._alone], kind="stable")
        nr = np.empty(count)
        nr[order] = np.arange(count)
        angle = 2 * np.pi * (nr + 0.5) / max(count, 1)
        spread = (nr * _GOLDEN_ANGLE / (2 * np.pi)) % 1.0
        radius = np.sqrt(inner**2 + (1 - inner**2) * spread)
        return np.column_stack((radius * np.cos(angle), radius * np.sin(angle))).astype(np.float32)

    def _inner_radius(self) -> float:
        """Where the ring begins: as much room a node as inside, but never all of it."""
        if self._alone.size == 0:
            return 1.0
        return float(np.clip(np.sqrt(self._tied.size / (self._tied.size + self._alone.size)), 0.35, _RING_FROM))

    def join_isolated(self, placed: Places) -> Places:
        """Positions of all nodes.

        Args:
            placed: of those with an edge.

        Returns:
            (nodes, 2) float32 within -1 to 1.
        """
        whole = np.empty((self._group.size, 2), np.float32)
        room = self._inner_radius()
        whole[self._tied] = placed * np.float32(room if self._alone.size == 0 else room * 0.97)
        whole[self._alone] = self._ring
        return whole


def ego_job(graph: EgoGraph) -> LayoutJob:
    """An ego graph as the child takes it; what belongs to one community is kept together.

    Args:
        graph: the centre is its first node.

    Returns:
        The job, with places on rings by distance.
    """
    number = {node.id: place for place, node in enumerate(graph.nodes)}
    a = np.array([number[edge.a] for edge in graph.edges], np.int32)
    b = np.array([number[edge.b] for edge in graph.edges], np.int32)
    weight = np.array([max(edge.weight, _LEAST_WEIGHT) for edge in graph.edges], np.float32)
    chain_links = _chain_communities(graph) if a.size else np.zeros((0, 2), np.int32)
    a, b = np.concatenate((a, chain_links[:, 0])), np.concatenate((b, chain_links[:, 1]))
    weight = np.concatenate((weight, np.full(len(chain_links), _CHAIN_WEIGHT, np.float32)))
    distance = np.array([node.distance for node in graph.nodes], np.int64)
    return LayoutJob(EGO, a, b, weight, place_on_rings(distance, a, b))


def _chain_communities(graph: EgoGraph) -> NDArray[np.int32]:
    """Each member of a community beside the next one."""
    last: dict[int, int] = {}
    found = []
    for place, node in enumerate(graph.nodes):
        if node.community >= 0:
            if node.community in last:
                found.append((last[node.community], place))
            last[node.community] = place
    return np.array(found, np.int32).reshape(-1, 2)


def place_on_rings(distance: NDArray[np.int64], a: NDArray[np.int32], b: NDArray[np.int32]) -> Places:
    """Nodes on rings by distance, each near the one it hangs on.

    Args:
        distance: edges from the centre, ascending, the first 0.
        a: one end of each edge.
        b: the other.

    Returns:
        (nodes, 2) within -1 to 1, the first at 0, 0; no two on one spot.
    """
    nodes = distance.size
    angle = np.zeros(nodes)
    parent = np.zeros(nodes, np.int64)
    for i, j in zip(a.tolist() + b.tolist(), b.tolist() + a.tolist(), strict=True):
        if distance[i] == distance[j] + 1:
            parent[i] = j
    deepest = int(distance.max(initial=0))
    for far in range(1, deepest + 1):
        ring = np.flatnonzero(distance == far)
        order = ring[np.argsort(angle[parent[ring]], kind="stable")]
        angle[order] = 2 * np.pi * np.arange(order.size) / max(order.size, 1) + 0.5 * far
    radius = distance / max(deepest, 1)
    return np.column_stack((radius * np.cos(angle), radius * np.sin(angle))).astype(np.float32)


def make_read_only(placed: Places) -> Places:
    """The same positions, read-only."""
    placed.setflags(write=False)
    return placed


def separate_coincident(placed: Places) -> Places:
    """Part nodes that stand on the same spot.

    Args:
        placed: (nodes, 2) within -1 to 1.

    Returns:
        The same, but of those closer than `_APART` in both directions all but the first step aside.
    """
    taken: set[tuple[int, int]] = set()
    moved = placed.astype(np.float64)
    for nr in range(moved.shape[0]):
        x, y = moved[nr]
        turn = 0
        while (spot := (round(x / _APART), round(y / _APART))) in taken:
            turn += 1
            far = 4 * _APART * np.sqrt(turn)
            x = float(np.clip(moved[nr, 0] + far * np.cos(turn * _GOLDEN_ANGLE), -1, 1))
            y = float(np.clip(moved[nr, 1] + far * np.sin(turn * _GOLDEN_ANGLE), -1, 1))
        taken.add(spot)
        moved[nr] = x, y
    return np.asarray(moved, np.float32)


VIEWS = "graph_views"
"""The key of the named views in `settings`."""
MAX_VIEWS = 100
MAX_NAME = 64

_EVERYTHING = GraphFilter()


class Graph:
    """The graph of memories and entities. Each method returns at once with a Future."""

    def __init__(
        self, storage: Callable[[], Storage], search: Callable[[], Search], command: Sequence[str] | None = None
    ) -> None:
        """Wire the group.

        Args:
            command: starts the child that places nodes; None for the usual one.
        """
        self._storage, self._search = storage, search
        self._command = tuple(command or layout_command())

    def find_start(self) -> Future[str | None]:
        """Where a graph begins when nothing is chosen: the owner, else the person named most often, else what is.

        Returns:
            The id of its node; None where no entity is known.
        """
        return self._storage().read(lambda rows: find_graph_start(EntityIndex(rows), rows))

    def read_ego(
        self,
        node_id: str,
        depth: int = 1,
        cap: int = 300,
        filter: GraphFilter = _EVERYTHING,  # noqa: A002 - the contract's name
    ) -> Future[EgoGraph]:
        """What lies round one memory or entity, placed.

        Args:
            node_id: the centre.
            depth: edges from it, 1 to 3.
            cap: nodes at most, the centre among them, 1 to 1000.

        Returns:
            The graph; the same graph has the same places. The future raises NOT_FOUND, INVALID_INPUT, INVALID_QUERY.
        """
        storage, search = self._storage(), self._search()
        return storage.run_on(
            storage.threads.layouts,
            self._read_placed_ego,
            storage,
            search,
            node_id,
            depth,
            cap,
            filter,
        )

    def _read_placed_ego(
        self, storage: Storage, search: Search, node_id: str, depth: int, cap: int, wanted: GraphFilter
    ) -> EgoGraph:
        now = storage.clock.now_ms()

        def read(rows: Rows) -> EgoGraph:
            return reading.read_ego(rows, _snapshot_vectors(search, rows), node_id, depth, cap, wanted, now)

        # Started first: it loads its library while the vault is read.
        with self._start_layout_process(storage, storage.closing.is_set, deadline_for(cap)) as child:
            graph = storage.vault.read(read)
            return replace(graph, places=layout_ego(graph, ego_job(graph), child))

    def read_whole(self, filter: GraphFilter = _EVERYTHING) -> Future[WholeGraph]:  # noqa: A002 - the contract's name
        """The whole vault as columns with its communities; `place_whole` places it.

        Returns:
            The columns. The future raises INVALID_INPUT, INVALID_QUERY.
        """
        storage = self._storage()
        return storage.run_on(storage.threads.layouts, self._read_whole, storage, self._search(), filter)

    @staticmethod
    def _read_whole(storage: Storage, search: Search, wanted: GraphFilter) -> WholeGraph:
        now = storage.clock.now_ms()
        gathered = storage.vault.read(
            lambda rows: whole_graph.gather_whole(rows, _snapshot_vectors(search, rows), wanted, now),
            deadline_s=None,
        )
        drawn = whole_graph.draw_whole(gathered, wanted, storage.closing.is_set)
        return storage.vault.read(lambda rows: whole_graph.name_groups(rows, drawn), deadline_s=None)

    def find_paths(
        self,
        start_id: str,
        end_id: str,
        filter: GraphFilter = _EVERYTHING,  # noqa: A002 - the contract's name
    ) -> Future[GraphPaths]:
        """The shortest paths between two memories or entities, placed.

        Returns:
            Up to three. The future raises NOT_FOUND, INVALID_INPUT, INVALID_QUERY.
        """
        storage, search = self._storage(), self._search()
        now = storage.clock.now_ms()

        def read(rows: Rows) -> GraphPaths:
            return read_paths(rows, _snapshot_vectors(search, rows), start_id, end_id, filter, now)

        return storage.run_on(storage.threads.layouts, lambda: storage.vault.read(read))

    def place_whole(
        self,
        nodes: int,
        a: NDArray[np.integer],
        b: NDArray[np.integer],
        weight: NDArray[np.floating],
        group: NDArray[np.integer] | None = None,
        *,
        on_step: Callable[[Placed], None],
        cancelled: Callable[[], bool],
    ) -> Future[Placed]:
        """Place a whole graph, in steps: at once by group, then better and better by its edges.

        Args:
            a: one end of each edge, 0 to nodes - 1.
            b: the other.
            weight: one each, 0 to 1.
            group: the group of each node.
            on_step: called at each step, on an engine thread; quick.
            cancelled: asked twenty times a second, on an engine thread; quick.

        Returns:
            The last step. Where the child process failed, the last good positions; the same graph has the same
            positions. The future raises CANCELLED.

        Raises:
            UserError: INVALID_INPUT; the arrays do not fit together.
        """
        storage = self._storage()
        layout = WholeLayout(check_graph(nodes, a, b, weight), group)

        def is_stopped() -> bool:
            return storage.closing.is_set() or cancelled()

        def start_child() -> LayoutProcess:
            return self._start_layout_process(storage, is_stopped, deadline_for(nodes))

        return storage.run_on(storage.threads.layouts, layout_whole, layout, start_child, on_step, is_stopped)

    def _start_layout_process(self, storage: Storage, stopped: Callable[[], bool], deadline_s: float) -> LayoutProcess:
        return LayoutProcess(storage.threads.guards, storage.clock, stopped, self._command, deadline_s)

    # ---- named views

    def list_views(self) -> Future[tuple[GraphView, ...]]:
        """The named views, by name."""
        return self._storage().read(_read_views)

    def save_view(self, view: GraphView) -> Future[None]:
        """Keep a view under its name; one of the same name is replaced.

        Args:
            view: its name has 1 to 64 characters.

        Returns:
            Nothing, once it is saved. The future raises INVALID_INPUT.
        """
        storage = self._storage()

        def write(tx: Tx) -> None:
            _check_view(view)
            others = tuple(one for one in _read_views(tx) if one.name != view.name)
            if len(others) >= MAX_VIEWS:
                raise UserError(Code.INVALID_INPUT, f"There are {MAX_VIEWS} views already; remove one first.")
            _write_views(tx, storage, "save_view", (*others, view))

        return storage.write(write)

    def drop_view(self, name: str) -> Future[None]:
        """Forget a view.

        Returns:
            Nothing, once it is gone. The future raises NOT_FOUND.
        """
        storage = self._storage()

        def write(tx: Tx) -> None:
            before = _read_views(tx)
            left = tuple(one for one in before if one.name != name)
            if len(left) == len(before):
                raise UserError(Code.NOT_FOUND, "There is no such view.")
            _write_views(tx, storage, "drop_view", left)

        return storage.write(write)


def _snapshot_vectors(search: Search, rows: Rows) -> SnapshotVectors:
    space = search.active_space
    return SnapshotVectors(rows, space.index, space.space.name, space.space.dims)


def _check_view(view: GraphView) -> None:
    if not (view.name.strip() and len(view.name) <= MAX_NAME and view.name.isprintable()):
        raise UserError(Code.INVALID_INPUT, f"A view has a name of 1 to {MAX_NAME} characters on one line.")
    if not 1 <= view.depth <= reading.MAX_DEPTH:
        raise UserError(Code.INVALID_INPUT, f"Depth is 1 to {reading.MAX_DEPTH}.")
    reading.check_filter(view.filter)


def _write_views(tx: Tx, storage: Storage, name: str, views: Sequence[GraphView]) -> None:
    """Settings are no rows that undo looks at: the audit tells how many there are, not what they are called."""
    with storage.verb(tx, OWNER_ACTOR, name, label="Change the graph's views") as verb:
        tx.run(
            "INSERT INTO settings (key, value, changed_at) VALUES (?, ?, ?) "
            "ON CONFLICT (key) DO UPDATE SET value = excluded.value, changed_at = excluded.changed_at",
            (VIEWS, json.dumps([asdict(view) for view in views]), tx.now_ms),
        )
        verb.note_audit(views=len(views))
        verb.set_outcome(())


def _read_views(rows: Rows) -> tuple[GraphView, ...]:
    stored = rows.value("SELECT value FROM settings WHERE key = ?", (VIEWS,), default="[]")
    found = [_view_from_json(one) for one in json.loads(stored)]
    return tuple(sorted(found, key=lambda view: (view.name.casefold(), view.name)))


def _view_from_json(stored: dict[str, Any]) -> GraphView:
    wanted = stored["filter"]
    types = wanted["edge_types"]
    return GraphView(
        name=stored["name"],
        centre=stored["centre"],
        depth=stored["depth"],
        filter=GraphFilter(
            wanted["query"],
            None if types is None else tuple(types),
            wanted["min_similarity"],
            bool(wanted.get("hides_small_talk", True)),
            bool(wanted.get("hides_messages", True)),
            bool(wanted.get("hides_outdated", False)),
        ),
    )
