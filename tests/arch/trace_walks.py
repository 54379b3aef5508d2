"""Count the files, functions and layers that a few everyday calls pass: trace_walks.py [--files] [--check].

Each walk is made once unmeasured on the sample palace, then once under a profiler that sees every thread but those of
the chores that run every second or two whatever is asked (the window's heartbeat, what its status bar reads, and the
sample's clock too): a text is stored (without and with something that stands against it), a question is answered, the
Recall page is asked, an item of the review is decided by a key, and Ctrl+Z takes that back. Counted is our own code
only (`app`, `core`, `ui`).
A layer is one file of `core` on the stack between a verb and its row: the caller's until the write is queued, then the
writer's. Of a walk that ends at its commit, too, only these two threads are counted: what the window draws meanwhile
depends on how fast the machine is.
It prints a table; with `--check` it ends with 1 where a walk is longer than it may be (`CEILINGS`), which
`tests/e2e/test_walks.py` looks at. A walk that grows over its ceiling passes a file that does nothing for it.
"""

from __future__ import annotations

import argparse
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
os.environ["QT_QPA_PLATFORM"] = "offscreen"
_OWN = tuple(f"{ROOT / house}{os.sep}" for house in ("app", "core", "ui"))
_CORE = f"{ROOT / 'core'}{os.sep}"
_ENQUEUE = ("vault.py", "submit_verb")
_INSERT = ("tx.py", "insert")
_COMMIT = ("vault.py", "_run_transaction")
_WRITER = "loci-writer"
_CHORES = frozenset({"loci-watch", "loci-index", "loci-journal", "loci-counter", "loci-palace", "loci-loci-watchdog"})
_ASIDE = frozenset(str(ROOT / name) for name in ("ui/watchdog.py", "app/sample/sample.py"))
_SETTLE_S = 0.4
STORED, STORED_AGAINST = "remember, nothing against it", "remember, against what stands"
ASKED, DECIDED = "Recall page: ask, until the answer is drawn", "Review page: key Left, until the row is committed"
UNDONE = "Ctrl+Z, until the window shows it"
CEILINGS = {STORED: 60, STORED_AGAINST: 60, ASKED: 77, DECIDED: 45, UNDONE: 70}
"""Files that a walk may pass."""
MOST_LAYERS = 6
"""Files of `core` on the stack between a verb and its row."""


@dataclass
class Trace:
    """What one walk passed.

    Attributes:
        files: of our own code.
        functions: file and name.
        calls: how many calls of our own functions.
        above: files of `core` on the caller's stack when the write was queued.
        below: files of `core` on the writer's stack when the first row was inserted.
    """

    files: set[str] = field(default_factory=set)
    functions: set[tuple[str, str]] = field(default_factory=set)
    calls: int = 0
    above: tuple[str, ...] = ()
    below: tuple[str, ...] = ()

    @property
    def layers(self) -> int:
        """Files between verb and row, the queue counted once; 0 where no row was written."""
        return len({*self.above, *self.below}) if self.below else 0


class Tracer:
    """Profiles every thread that is born after `install`; records between `begin` and `end`."""

    def __init__(self) -> None:
        self._trace: Trace | None = None
        self._ends_at_commit = False

    def install(self) -> None:
        """Watch this thread and all later ones."""
        threading.setprofile(self._seen)
        sys.setprofile(self._seen)

    @contextmanager
    def recorded(self, *, ends_at_commit: bool = False) -> Iterator[Trace]:
        """Record for as long as a block runs, or until its first row is committed."""
        self._ends_at_commit = ends_at_commit
        self._trace = trace = Trace()
        try:
            yield trace
        finally:
            self._trace = None

    def _seen(self, frame: FrameType, event: str, _argument: object) -> None:
        trace = self._trace
        if trace is None or event not in ("call", "return"):
            return
        name = frame.f_code.co_filename
        thread = threading.current_thread().name
        if not name.startswith(_OWN) or name in _ASIDE or thread in _CHORES:
            return
        if self._ends_at_commit and trace.above and thread != _WRITER:
            return  # the window draws what comes next while the row is written
        if event == "return":
            is_commit = (Path(name).name, frame.f_code.co_name) == _COMMIT
            if self._ends_at_commit and trace.below and is_commit:
                self._trace = None
            return
        trace.calls += 1
        trace.files.add(name)
        trace.functions.add((name, frame.f_code.co_qualname))
        here = (Path(name).name, frame.f_code.co_name)
        if here == _ENQUEUE and not trace.above:
            trace.above = tuple(_stack(frame))
        elif here == _INSERT and not trace.below:
            trace.below = tuple(_stack(frame))


def _stack(frame: FrameType | None) -> Iterator[str]:
    while frame is not None:
        if frame.f_code.co_filename.startswith(_CORE):
            yield frame.f_code.co_filename
        frame = frame.f_back


def _print(title: str, trace: Trace, *, with_files: bool) -> None:
    layers = str(trace.layers) if trace.layers else "-"
    print(f"{title:<52} {len(trace.files):>5} {len(trace.functions):>9} {trace.calls:>7} {layers:>6}", flush=True)
    if with_files:
        for name in sorted(trace.files):
            print(f"    {Path(name).relative_to(ROOT)}")


class Walks:
    """The walks, each a call that is made twice with other words."""

    def __init__(self, tracer: Tracer, *, with_files: bool) -> None:
        self._tracer, self._with_files = tracer, with_files
        self.too_long: list[str] = []

    def measure(self, title: str, walk: Callable[[int], Any], *, ends_at_commit: bool = False) -> None:
        """Make a walk once to warm up and once to count.

        Args:
            title: for the table.
            walk: given the number of the time, 0 or 1.
            ends_at_commit: whether the walk ends when its row is committed, not when the window rests.
        """
        walk(0)
        time.sleep(_SETTLE_S)
        with self._tracer.recorded(ends_at_commit=ends_at_commit) as trace:
            walk(1)
        _print(title, trace, with_files=self._with_files)
        if len(trace.files) > CEILINGS.get(title, len(trace.files)) or trace.layers > MOST_LAYERS:
            self.too_long.append(title)


def engine_walks(engine: Any, walks: Walks) -> None:
    """Store, contradict and ask, as the command line does in its own process."""
    from app.engine.local_session import LocalSession

    session = LocalSession(engine)
    plain = ("I keep the garden shears behind the door.", "I keep the tape measure in the blue drawer.")
    against = ("I am allergic to penicillin.", "I am not allergic to penicillin.")
    asked = ("Where does Ingrid live?", "Which boat does Nils own?")
    walks.measure(STORED, lambda n: session.call("remember", {"text": plain[n]}))
    walks.measure(STORED_AGAINST, lambda n: session.call("remember", {"text": against[n]}))
    walks.measure("recall", lambda n: session.call("recall", {"query": asked[n]}))


def window_walks(engine: Any, walks: Walks) -> None:
    """Ask the Recall page, decide an item of the review by a key, take it back."""
    from PySide6.QtCore import QCoreApplication, Qt
    from PySide6.QtTest import QTest

    from app.window.application import make_application
    from app.window.desktop import build_desktop, make_fixed_store

    app = make_application()
    desktop = build_desktop(engine, app, make_fixed_store("light", 100, "recall"))
    desktop.window.show()

    def settle() -> None:
        quiet = 0
        while quiet < 8:
            QCoreApplication.processEvents()
            time.sleep(0.02)
            house = desktop.window.house
            page = None if house is None else house.page
            rests = not desktop.context.tasks.running and page is not None and page.is_settled()
            quiet = quiet + 1 if rests else 0

    def press(key: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        QTest.keyClick(desktop.window.focusWidget() or desktop.window, key, modifier)
        settle()

    def ask(n: int) -> None:
        desktop.context.desk.go.emit("recall", ("ask:What does Ingrid do?", "ask:Where is the boat?")[n])
        settle()

    try:
        settle()
        desktop.window._status.stop()  # what the status bar reads every other second is a chore
        walks.measure(ASKED, ask)
        desktop.context.desk.go.emit("review", "")
        settle()
        walks.measure(
            DECIDED,
            lambda _: press(Qt.Key.Key_Left),
            ends_at_commit=True,
        )
        walks.measure(
            UNDONE,
            lambda _: press(Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier),
        )
    finally:
        desktop.window.close()
        desktop.free_window()


def main() -> None:
    """Trace and print."""
    parser = argparse.ArgumentParser(description="Count the files, functions and layers that everyday calls pass.")
    parser.add_argument("--files", action="store_true", help="name the files of each walk")
    parser.add_argument("--check", action="store_true", help="end with 1 where a walk is longer than it may be")
    chosen = parser.parse_args()
    tracer = Tracer()
    tracer.install()
    from app.sample.sample import fill_sample, sample_engine

    with sample_engine() as (engine, clock, _):
        fill_sample(engine, clock)
        print(f"{'walk':<52} {'files':>5} {'functions':>9} {'calls':>7} {'layers':>6}")
        walks = Walks(tracer, with_files=chosen.files)
        engine_walks(engine, walks)
        window_walks(engine, walks)
    if chosen.check and walks.too_long:
        sys.exit(f"longer than it may be: {'; '.join(walks.too_long)}")


if __name__ == "__main__":
    main()
