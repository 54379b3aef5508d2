"""The window on a large vault: first paint, unlock to interactive, longest stall, frames: bench_window.py --n 10000.

    .venv/bin/python tests/bench/bench_window.py [--n N] [--home DIR] [--word-vectors] [--platform offscreen|xcb]

Not a test: it prints JSON and asserts nothing. With `--home` the vault is kept there and used again, so that it is
imported once. Frames are of the GUI thread's own time. Software rendering; the texts are those of `loci bench`.
`--word-vectors` takes the tests' vectors of words instead of the built-in model, so that a vault of 100,000 is made in
minutes. It ends where not every memory has a place in the palace: an empty one would be fast.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "helpers")]

PASSPHRASE = "window bench"
FRAMES = 120
LIST_STEPS = 60
PLACING_S = 120.0


def main() -> int:
    """Measure and print."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--n", type=int, default=10_000)
    asked.add_argument("--home", type=Path)
    asked.add_argument("--word-vectors", action="store_true")
    asked.add_argument("--platform", default="offscreen")
    given = asked.parse_args()
    os.environ["QT_QPA_PLATFORM"] = given.platform
    with tempfile.TemporaryDirectory(prefix="loci-window-bench-") as folder:
        home = given.home or Path(folder) / "home"
        from app.bench.machine import describe_machine, read_system_load

        embedder = _make_embedder(word_vectors=given.word_vectors)
        made = _vault(home, given.n, Path(folder), embedder)
        print(
            json.dumps(
                {
                    "machine": describe_machine(),
                    "load": read_system_load(),
                    "vault": made,
                    **_Tour(home, embedder).run(),
                },
                indent=1,
            )
        )
    return 0


def _make_embedder(*, word_vectors: bool) -> Any:
    from engine_rig import WordEmbedder

    from core.engine.facade import built_in_embedder

    return WordEmbedder() if word_vectors else built_in_embedder()


def _vault(home_path: Path, count: int, folder: Path, embedder: Any) -> dict[str, Any]:
    """A vault of synthetic texts, arranged; made where there is none yet."""
    from app.bench.synthetic import SyntheticWriter, write_jsonl
    from core.engine.facade import Engine, Home, HomeKeys, Setup, create_vault
    from core.types.clock import SystemClock
    from core.types.values import OWNER_ACTOR

    home, clock = Home(home_path), SystemClock()
    keys = HomeKeys(home)
    is_new = not keys.exists
    if is_new:
        create_vault(keys, PASSPHRASE, clock)
    engine = Engine(Setup(home, clock, embedder, background=False))
    try:
        engine.unlock(keys.open(PASSPHRASE))
        begun = time.perf_counter()
        if is_new:
            path = folder / "messages.jsonl"
            write_jsonl(path, list(SyntheticWriter(1).write_messages(count)))
            engine.imports.run(path, None, None, OWNER_ACTOR).result()
        imported = time.perf_counter()
        palace = _fill_palace(engine)
        arranged = time.perf_counter()
        total = engine.vault.read_status().result().values["memories"]["total"]
        return {
            "memories": total,
            "import_s": round(imported - begun, 1),
            **palace,
            "arrange_s": round(arranged - imported, 1),
        }
    finally:
        engine.close()


def _fill_palace(engine: Any) -> dict[str, int]:
    """Give every memory its place; how many have one, newly placed or from an earlier run, and in how many rooms."""
    until = time.perf_counter() + PLACING_S
    while True:
        engine.palace.place_waiting().result()
        plan = engine.palace.read_plan().result()
        rooms = [room for wing in plan.wings for room in wing.rooms]
        if rooms and not any(wing.waiting for wing in plan.wings):
            return {"placed": sum(room.count for room in rooms), "rooms": len(rooms), "wings": len(plan.wings)}
        if time.perf_counter() > until:
            raise SystemExit("memories still wait for a place in the palace")
        time.sleep(1.0)  # some wait for their vectors


class _Tour:
    """Opens the window and walks through it."""

    def __init__(self, home: Path, embedder: Any) -> None:
        self._home, self._embedder = home, embedder

    def run(self) -> dict[str, Any]:
        """Open, unlock, walk."""
        begun = time.perf_counter()
        from app.qt import load_qt

        load_qt()
        from app.window.application import make_application
        from app.window.desktop import build_desktop, make_fixed_store
        from core.engine.facade import Engine, Home, Setup
        from core.types.clock import SystemClock

        self._app = make_application()
        engine = Engine(Setup(Home(self._home), SystemClock(), self._embedder))
        try:
            self._desktop = build_desktop(engine, self._app, make_fixed_store("light", 100, "palace"))
            window = self._desktop.window
            window.resize(1440, 900)
            window.show()
            self._turn(0.05)
            first_paint = time.perf_counter()
            unlocking = time.perf_counter()
            opening = engine.vault.open(PASSPHRASE)
            self._until(lambda: window.house is not None)
            house_at = time.perf_counter()
            self._rest()
            found = {
                "first_paint_s": round(first_paint - begun, 2),
                "unlock_with_key_derivation_s": round(self._done_at(opening, unlocking), 2),
                "house_shown_s": round(house_at - unlocking, 2),
                "first_page_settled_s": round(time.perf_counter() - unlocking, 2),
                "stalls_while_opening": self._stalls(),
                "pages": {name: self._page(name) for name in ("library", "graph", "journal", "settings", "palace")},
                "palace_flights_ms": self._flights(),
            }
            window.close()
            self._desktop.free_window()
        finally:
            engine.close()
        return found

    @staticmethod
    def _done_at(opening: Future[Any], begun: float) -> float:
        opening.result()
        return time.perf_counter() - begun

    def _page(self, name: str) -> dict[str, Any]:
        self._desktop.watchdog.clear_stalls()
        begun = time.perf_counter()
        self._desktop.window.show_page(name)
        self._rest()
        shown = time.perf_counter() - begun
        return {"settled_s": round(shown, 2), **self._stalls(), "repaint_ms": self._frames()}

    def _frames(self) -> dict[str, float]:
        """How long one whole repaint of the page takes."""
        house = self._desktop.window.house
        page = None if house is None else house.page
        if page is None:
            return {}
        return _three([self._timed(page.repaint) for _ in range(FRAMES)])

    def _flights(self) -> dict[str, dict[str, float]]:
        """How long a frame takes while the camera flies to the largest wing, room and back, and while it is pushed."""
        house = self._desktop.window.house
        page: Any = None if house is None else house.page
        canvas, camera = page.canvas, page.canvas.camera
        canvas.theme.reduced_motion = False
        room = max(page.scene.rooms.values(), key=lambda one: one.plan.count)
        ways = {
            "wing": lambda: canvas.enter_wing(room.wing.id),
            "room": lambda: canvas.enter_room(room.id),
            "whole": camera.show_whole,
        }
        found = {}
        for name, go in ways.items():
            took = [self._timed(lambda go=go: (go(), canvas.repaint()))]  # type: ignore[misc]  # defaults in a lambda
            while camera.is_flying:
                self._app.processEvents()  # a benchmark drives the loop itself
                took.append(self._timed(canvas.repaint))
            self._rest()
            found[name] = _three(took)
            pushed = []
            for _ in range(LIST_STEPS):
                camera.pan_by(5, 3)
                pushed.append(self._timed(canvas.repaint))
            found[f"{name}_pushed"] = _three(pushed)
        return found

    @staticmethod
    def _timed(run: Callable[[], object]) -> float:
        """Milliseconds of its own processor time that the GUI thread takes: others may load the machine."""
        begun = time.thread_time()
        run()
        return (time.thread_time() - begun) * 1000

    def _stalls(self) -> dict[str, Any]:
        dog = self._desktop.watchdog
        found = {
            "longest_stall_ms": round(max((stall.ms for stall in dog.stalls), default=0.0)),
            "busiest_ms": round(max((stall.busy_ms for stall in dog.stalls), default=0.0)),
            "at": max(dog.stalls, key=lambda stall: stall.ms).place.split(" < ")[:4] if dog.stalls else [],
        }
        dog.clear_stalls()
        return found

    def _turn(self, seconds: float) -> None:
        until = time.perf_counter() + seconds
        while time.perf_counter() < until:
            self._app.processEvents()  # a benchmark drives the loop itself
            time.sleep(0.001)  # leaves the processor to the engine's threads between turns

    def _until(self, holds: Callable[[], bool], most: float = 600.0) -> None:
        until = time.perf_counter() + most
        while not holds():
            if time.perf_counter() > until:
                tasks = self._desktop.context.tasks.running
                raise SystemExit(f"not settled after {most:.0f} s; under way: {sorted(one.label for one in tasks)}")
            self._turn(0.002)

    def _rest(self) -> None:
        window = self._desktop.window

        def rests() -> bool:
            page = None if window.house is None else window.house.page
            return page is not None and page.is_settled() and not self._desktop.context.tasks.running

        quiet = 0
        while quiet < 6:
            self._until(rests)
            quiet = quiet + 1 if rests() else 0
            self._turn(0.02)


def _three(took: Sequence[float]) -> dict[str, float]:
    ordered = sorted(took)
    return {f"p{part}": round(ordered[min(len(ordered) - 1, len(ordered) * part // 100)], 1) for part in (50, 95, 99)}


if __name__ == "__main__":
    sys.exit(main())
