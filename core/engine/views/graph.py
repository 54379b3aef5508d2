"""The facade's group for the graph: what lies round a memory, the whole vault, their places, and named views.

The owner's alone. Reading and placing run on a pool of their own, so that neither a search nor an import waits for a
layout. Must not do: compute a layout in this process.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import asdict, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.engine.runtime.open_vault import OpenVault
from core.engine.views import graph_layouts
from core.engine.views.graph_layouts import LayoutProcess, child_command, deadline_for
from core.engine.views.graph_positions import WholeLayout, check_graph, ego_job
from core.errors import Code, UserError
from core.recall.browse import graph as reading
from core.recall.candidates.vector import SnapshotVectors
from core.types.values import OWNER_ACTOR
from core.types.views import EgoGraph, GraphFilter, GraphView, Placed, WholeGraph
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

VIEWS = "graph_views"
"""The key of the named views in `settings`."""
MAX_VIEWS = 100
MAX_NAME = 64

_EVERYTHING = GraphFilter()


class Graph:
    """The graph of memories. Each method returns at once with a Future."""

    def __init__(self, opened: Callable[[], OpenVault], command: Sequence[str] | None = None) -> None:
        """Wire the group.

        Args:
            command: starts the child that places nodes; None for the usual one.
        """
        self._opened = opened
        self._command = tuple(command or child_command())

    def ego(
        self,
        memory_id: str,
        depth: int = 1,
        cap: int = 300,
        filter: GraphFilter = _EVERYTHING,  # noqa: A002 - the contract's name
    ) -> Future[EgoGraph]:
        """What lies round one memory, placed.

        Args:
            memory_id: the centre.
            depth: edges from it, 1 to 3.
            cap: memories at most, the centre among them, 1 to 1000.
            filter: what is shown.

        Returns:
            The graph; the same graph has the same places. The future raises NOT_FOUND, INVALID_INPUT, INVALID_QUERY.
        """
        opened = self._opened()
        return opened.on(opened.threads.layouts, self._ego, opened, memory_id, depth, cap, filter)

    def _ego(self, opened: OpenVault, memory_id: str, depth: int, cap: int, wanted: GraphFilter) -> EgoGraph:
        now = opened.clock.now_ms()

        def read(rows: Rows) -> EgoGraph:
            return reading.read_ego(rows, _stored(opened, rows), memory_id, depth, cap, wanted, now)

        # Started first: it loads its library while the vault is read.
        with self._child(opened, opened.closing.is_set, deadline_for(cap)) as child:
            graph = opened.vault.read(read)
            return replace(graph, places=graph_layouts.layout_ego(graph, ego_job(graph), child))

    def whole(self, filter: GraphFilter = _EVERYTHING) -> Future[WholeGraph]:  # noqa: A002 - the contract's name
        """The whole vault as columns; `layout` places it.

        Args:
            filter: what is shown.

        Returns:
            The columns. The future raises INVALID_INPUT, INVALID_QUERY.
        """
        opened = self._opened()
        return opened.on(opened.threads.layouts, self._whole, opened, filter)

    @staticmethod
    def _whole(opened: OpenVault, wanted: GraphFilter) -> WholeGraph:
        now = opened.clock.now_ms()
        gathered = opened.vault.read(
            lambda rows: reading.gather_whole(rows, _stored(opened, rows), wanted, now), deadline_s=None
        )
        return reading.draw_whole(gathered, wanted, opened.closing.is_set)

    def layout(
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
            on_step: told each step, on an engine thread; quick.
            cancelled: asked twenty times a second, on an engine thread; quick.

        Returns:
            The last step. Where the child process failed, the last good positions; the same graph has the same
            positions. The future raises CANCELLED.

        Raises:
            UserError: INVALID_INPUT; the arrays do not fit together.
        """
        opened = self._opened()
        layout = WholeLayout(check_graph(nodes, a, b, weight), group)

        def stopped() -> bool:
            return opened.closing.is_set() or cancelled()

        def start() -> LayoutProcess:
            return self._child(opened, stopped, deadline_for(nodes))

        return opened.on(opened.threads.layouts, graph_layouts.layout_whole, layout, start, on_step, stopped)

    def _child(self, opened: OpenVault, stopped: Callable[[], bool], deadline_s: float) -> LayoutProcess:
        return LayoutProcess(opened.threads.guards, opened.clock, stopped, self._command, deadline_s)

    # ---- named views

    def views(self) -> Future[tuple[GraphView, ...]]:
        """The named views, by name."""
        return self._opened().read(_views)

    def save_view(self, view: GraphView) -> Future[None]:
        """Keep a view under its name; one of the same name is replaced.

        Args:
            view: its name has 1 to 64 characters.

        Returns:
            Nothing, once it is saved. The future raises INVALID_INPUT.
        """
        opened = self._opened()

        def write(tx: Tx) -> None:
            _check(view)
            others = tuple(one for one in _views(tx) if one.name != view.name)
            if len(others) >= MAX_VIEWS:
                raise UserError(Code.INVALID_INPUT, f"There are {MAX_VIEWS} views already; remove one first.")
            _put(tx, opened, "save_view", (*others, view))

        return opened.write(write)

    def drop_view(self, name: str) -> Future[None]:
        """Forget a view.

        Returns:
            Nothing, once it is gone. The future raises NOT_FOUND.
        """
        opened = self._opened()

        def write(tx: Tx) -> None:
            before = _views(tx)
            left = tuple(one for one in before if one.name != name)
            if len(left) == len(before):
                raise UserError(Code.NOT_FOUND, "There is no such view.")
            _put(tx, opened, "drop_view", left)

        return opened.write(write)


def _stored(opened: OpenVault, rows: Rows) -> SnapshotVectors:
    space = opened.search.active_space
    return SnapshotVectors(rows, space.index, space.space.name, space.space.dims)


def _check(view: GraphView) -> None:
    if not (view.name.strip() and len(view.name) <= MAX_NAME and view.name.isprintable()):
        raise UserError(Code.INVALID_INPUT, f"A view has a name of 1 to {MAX_NAME} characters on one line.")
    if not 1 <= view.depth <= reading.MAX_DEPTH:
        raise UserError(Code.INVALID_INPUT, f"Depth is 1 to {reading.MAX_DEPTH}.")
    reading.check_filter(view.filter)


def _put(tx: Tx, opened: OpenVault, verb: str, views: Sequence[GraphView]) -> None:
    """Settings are no rows that undo looks at: the audit tells how many there are, not what they are called."""
    with opened.work.verb(tx, verb, "Change the graph's views", OWNER_ACTOR) as running:
        tx.run(
            "INSERT INTO settings (key, value, changed_at) VALUES (?, ?, ?) "
            "ON CONFLICT (key) DO UPDATE SET value = excluded.value, changed_at = excluded.changed_at",
            (VIEWS, json.dumps([asdict(view) for view in views]), tx.now_ms),
        )
        running.note(views=len(views))
    opened.announce_after(tx, verb, (), OWNER_ACTOR)


def _views(rows: Rows) -> tuple[GraphView, ...]:
    stored = rows.value("SELECT value FROM settings WHERE key = ?", (VIEWS,), default="[]")
    found = [_view(one) for one in json.loads(stored)]
    return tuple(sorted(found, key=lambda view: (view.name.casefold(), view.name)))


def _view(stored: dict[str, Any]) -> GraphView:
    wanted = stored["filter"]
    types = wanted["edge_types"]
    return GraphView(
        name=stored["name"],
        centre=stored["centre"],
        depth=stored["depth"],
        filter=GraphFilter(wanted["query"], None if types is None else tuple(types), wanted["min_similarity"]),
    )
