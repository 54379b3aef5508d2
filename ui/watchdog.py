"""Keeps the GUI thread free: notices when it does not come back and says where it was; collects garbage on it.

The GUI thread beats; another thread looks. Logged are the time and the place in the code, never what was shown.
"""

from __future__ import annotations

import gc
import logging
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType

from PySide6.QtCore import QObject, QTimer

YOUNG_MS = 1_000
OLD_EVERY = 60  # young collections
_ENOUGH = 2_000  # allocations since the last young collection


class Collector(QObject):
    """Collects Python's garbage from a timer on the GUI thread, until `stop_collector` gives that back to Python.

    The interpreter collects on whichever thread happens to allocate, and an engine thread that frees a widget or a
    timer ends the program: so while a window lives it is switched off and done here, little by little.
    """

    def __init__(self) -> None:
        super().__init__()
        self._rounds = 0
        # What is loaded by now stays: looking through it again and again would stall the window.
        gc.collect()
        gc.freeze()
        gc.disable()
        self._timer = QTimer(self)
        self._timer.setInterval(YOUNG_MS)
        self._timer.timeout.connect(self._collect_garbage)
        self._timer.start()

    def _collect_garbage(self) -> None:
        self._rounds += 1
        if self._rounds % OLD_EVERY == 0:
            gc.collect(2)
        elif gc.get_count()[0] > _ENOUGH:
            gc.collect(1)

    def stop_collector(self) -> None:
        """Let the interpreter collect again; the window is gone."""
        self._timer.stop()
        gc.enable()
        gc.unfreeze()


BEAT_MS = 10
LOOK_S = 0.02
LOGGED_MS = 200.0
COUNTED_MS = 50.0
_KEPT = 200
_FRAMES = 12
_log = logging.getLogger("loci.ui.watchdog")

Ticking = Callable[[float, Callable[[], None], str], Callable[[], None]]


@dataclass(frozen=True, slots=True)
class Stall:
    """The GUI thread was away.

    Attributes:
        ms: how long, milliseconds.
        busy_ms: how much of it the GUI thread computed; the rest it waited, for the machine or for a lock.
        place: module and line it was at, innermost first; empty where it was back before anybody looked.
    """

    ms: float
    busy_ms: float
    place: str


class Watchdog(QObject):
    """Watches the thread it was made on.

    Attributes:
        stalls: the last ones over 50 ms.
    """

    def __init__(self, ticking: Ticking, parent: QObject | None = None) -> None:
        """Begin to watch.

        Args:
            ticking: `core.engine.facade.start_ticker`.
        """
        super().__init__(parent)
        self.stalls: deque[Stall] = deque(maxlen=_KEPT)
        self._thread = threading.get_ident()
        self._beat = time.perf_counter()
        self._spent = time.thread_time()
        self._place = ""
        self._is_reported = False
        self._timer = QTimer(self)
        self._timer.setInterval(BEAT_MS)
        self._timer.timeout.connect(self._on_beat)
        self._timer.start()
        self._stop: Callable[[], None] | None = ticking(LOOK_S, self._check_stall, "loci-watchdog")

    def clear_stalls(self) -> None:
        """Begin to count anew."""
        self.stalls.clear()
        self._beat, self._spent = time.perf_counter(), time.thread_time()

    def _on_beat(self) -> None:
        now, spent = time.perf_counter(), time.thread_time()
        away, busy = (now - self._beat) * 1000 - BEAT_MS, (spent - self._spent) * 1000
        self._beat, self._spent = now, spent
        if away > COUNTED_MS:
            self.stalls.append(Stall(away, busy, self._place))
            if away > LOGGED_MS:
                _log.warning("the window stood still for %d ms: %s", away, self._place or "unknown")
        self._place, self._is_reported = "", False

    def _check_stall(self) -> None:
        away = (time.perf_counter() - self._beat) * 1000
        if away < COUNTED_MS or self._is_reported:
            return
        # Once a stall: the first place seen after 50 ms, and once more when it is long enough to be logged.
        frame = sys._current_frames().get(self._thread)  # noqa: SLF001 - the interpreter's own way to ask for it
        self._place = _describe_stack(frame)
        self._is_reported = away > LOGGED_MS / 2

    def stop_watching(self) -> None:
        """Watch no more."""
        self._timer.stop()
        if self._stop is not None:
            self._stop()
            self._stop = None


def _describe_stack(frame: FrameType | None) -> str:
    places: list[str] = []
    while frame is not None and len(places) < _FRAMES:
        places.append(f"{frame.f_globals.get('__name__', '?')}:{frame.f_lineno}")
        frame = frame.f_back
    return " < ".join(places)
