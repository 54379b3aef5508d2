"""Frames of the whole vault's graph in software rendering: python tests/bench/bench_graph.py --n 10000.

Not a test: it prints a table and asserts nothing. A synthetic vault of communities, three edges a memory, 8 % of them
long. Every frame is a whole repaint of the canvas together with what the event loop does between two frames.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QPointF  # noqa: E402
from PySide6.QtWidgets import QApplication  # noqa: E402

from core.types.entities import EntityLine  # noqa: E402
from core.types.views import EDGE_TYPES, WholeGraph  # noqa: E402
from ui.pages.graph.whole import WholeCanvas  # noqa: E402
from ui.theme.theme import Theme  # noqa: E402

FRAMES = 240
STEP_PX = 9.0


def clustered(nodes: int, seed: int = 7) -> tuple[WholeGraph, NDArray[np.float32]]:
    """A vault of communities, and its places.

    Args:
        nodes: how many memories.
        seed: of the drawing of lots.
    """
    made = np.random.default_rng(seed)
    groups = max(3, nodes // 160)
    group = made.integers(0, groups, nodes).astype(np.int32)
    middle = made.uniform(-0.9, 0.9, (groups, 2))
    xy = (middle[group] + made.normal(size=(nodes, 2)) * 0.045).clip(-1, 1).astype(np.float32)
    a = np.repeat(np.arange(nodes, dtype=np.int32), 3)
    by_group = np.argsort(group, kind="stable")
    rank = np.empty(nodes, np.int64)
    rank[by_group] = np.arange(nodes)
    near = by_group[(rank[a] + made.integers(1, 60, a.size)) % nodes]
    b = np.where(made.random(a.size) < 0.08, made.integers(0, nodes, a.size), near).astype(np.int32)
    types = made.choice(len(EDGE_TYPES), a.size, p=[0.01] * 14 + [0.2, 0.05, 0.61]).astype(np.int8)
    weight = np.sort(made.random(a.size).astype(np.float32))[::-1]
    graph = WholeGraph(
        ids=tuple(f"m{nr}" for nr in range(nodes)),
        entities=tuple(EntityLine(f"m{nr}", f"Name {nr}", "person", "home", 9) for nr in range(nodes // 20)),
        kind=made.integers(0, 5, nodes).astype(np.int8),
        trust=made.random(nodes).astype(np.float32),
        said_at=np.zeros(nodes, np.int64),
        rank=np.linspace(1, 0, nodes, dtype=np.float32),
        group=group,
        group_names=tuple(f"Room {nr}" for nr in range(groups)),
        a=a, b=b, edge_type=types, weight=weight,
    )  # fmt: skip
    return graph, xy


class Bench:
    """One canvas under the stopwatch."""

    def __init__(self, nodes: int, width: int, height: int) -> None:
        found = QApplication.instance() or QApplication([])
        assert isinstance(found, QApplication)
        self._application = found
        theme = Theme(found)
        theme.apply_theme("light", 100)
        self._canvas = WholeCanvas(theme)
        self._canvas.resize(width, height)
        self._canvas.show()
        self._graph, self._xy = clustered(nodes)
        self._canvas.show_graph(self._graph, frozenset())
        self._canvas.move_nodes(self._xy)

    def run(self) -> None:
        """Measure and print."""
        print(f"{len(self._graph.ids):,} memories, {len(self._graph.a):,} edges, "
              f"{self._canvas.width()} x {self._canvas.height()}, load {os.getloadavg()[0]:.1f}")  # fmt: skip
        begun = time.perf_counter()
        longest = self._rest()
        print(f"first picture {(time.perf_counter() - begun) * 1000:.0f} ms, longest turn {longest:.1f} ms")
        print(f"{'':<34}{'p50':>8}{'p95':>8}{'worst':>8}{'fps at p95':>12}")
        self._frames("pan", lambda nr: self._pan(nr))
        self._rest()
        self._canvas.zoom_by(4.0)
        self._rest()
        self._frames("pan, four times nearer", lambda nr: self._pan(nr))
        self._canvas.fit_view()
        self._rest()
        self._frames("zoom by the wheel", self._zoom)
        self._canvas.fit_view()
        self._rest()
        self._frames("nodes glide (a layout's step)", self._glide)

    def _frames(self, name: str, move: Callable[[int], None]) -> None:
        took = []
        for nr in range(FRAMES):
            begun = time.perf_counter()
            move(nr)
            self._canvas.repaint()
            self._application.processEvents()
            took.append((time.perf_counter() - begun) * 1000)
        low, high = np.percentile(took, [50, 95])
        print(f"{name:<34}{low:8.1f}{high:8.1f}{max(took):8.1f}{1000 / high:12.0f}")

    def _pan(self, nr: int) -> None:
        way = 1 if nr % 160 < 80 else -1
        self._canvas.show_look(self._canvas.look.panned_by(way * STEP_PX, way * STEP_PX / 2))

    def _zoom(self, nr: int) -> None:
        self._canvas.zoom_by(1.06 if nr % 60 < 30 else 1 / 1.06, QPointF(500, 300))

    def _glide(self, nr: int) -> None:
        if not self._canvas.is_moving:
            self._canvas.move_nodes(self._xy if nr % 2 else self._xy[:, ::-1])

    def _rest(self) -> float:
        """Wait until the picture is finished; the longest turn of the event loop, ms."""
        longest = 0.0
        while not self._canvas.is_settled:
            begun = time.perf_counter()
            self._application.processEvents()
            longest = max(longest, (time.perf_counter() - begun) * 1000)
        return longest


def main() -> int:
    """Run."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--n", type=int, default=10_000, help="memories")
    asked.add_argument("--size", default="1280x800", help="of the canvas, px")
    given = asked.parse_args()
    width, height = (int(part) for part in given.size.split("x"))
    Bench(given.n, width, height).run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
