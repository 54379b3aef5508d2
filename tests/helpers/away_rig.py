"""An engine whose server, embedder, disk, memory or clock a test takes away, and short words for what is told then."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from engine_rig import HandClock, Rig
from fake_ollama import MODEL, PATIENT, Answer, Asked, FakeOllama

from core.engine.jobs.scheduler import SchedulerPacing
from core.types.lifecycle import Health, JobRow, JobState, JobType

HOUR_MS = 3_600_000


class LeapingClock(HandClock):
    """A test moves its monotonic time ahead too, for pauses that are longer than a test."""

    leap = 0.0

    def monotonic(self) -> float:
        """Seconds that never run backwards."""
        return time.monotonic() + self.leap


def quiet(rig: Rig) -> None:
    """No pause between batches, and a model server that is waited for."""
    rig.engine.scheduler.beats = SchedulerPacing(every_s=0.0, quiet_s=0.0)
    rig.engine.refinement.limits = PATIENT


@contextmanager
def server_at(port: int, *answers: str | Answer | Callable[[Asked], Answer]) -> Iterator[FakeOllama]:
    """The server comes, and goes at the end."""
    with FakeOllama(port) as server:
        server.says(*(answers or ("{}",)))
        yield server


def use_model(rig: Rig, port: int) -> None:
    """Choose the model of a server on this machine."""
    rig.engine.settings.set_option("model_host", f"127.0.0.1:{port}").result(30)
    rig.engine.settings.set_option("model_name", MODEL).result(30)


def how(rig: Rig) -> Health:
    """How the palace is."""
    return rig.engine.jobs.read_health().result(30)


def later(rig: Rig, hours: float) -> None:
    """The wall clock moves on."""
    assert isinstance(rig.clock, HandClock)
    rig.clock.advance(int(hours * HOUR_MS))


def beat(rig: Rig) -> None:
    """The heartbeat, now."""
    rig.engine.scheduler.queue_due(rig.opened, force=True)


def until(holds: Callable[[], bool], what: str) -> None:
    """Wait until it is so, a minute at most."""
    pause = threading.Event()
    for _ in range(1200):
        if holds():
            return
        pause.wait(0.05)
    raise AssertionError(f"it never came to that: {what}")


def rows(rig: Rig, kind: JobType) -> list[JobRow]:
    """Jobs of a kind, as the journal lists them."""
    return [row for row in rig.engine.jobs.read_state().result(30).rows if row.type is kind]


def ended(rig: Rig, kind: JobType) -> bool:
    """Whether all its jobs ended well, and there was one."""
    found = rows(rig, kind)
    return bool(found) and all(row.state is JobState.DONE for row in found)
