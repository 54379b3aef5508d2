"""The only file in which threads are born.

GUI thread (not ours) · one engine loop · one writer · a read pool · one compute
pool. Everything else receives callables. Must not do: any work of its own.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from core import log

_log = log.get("engine")
READERS = 4
LAYOUTS = 3


class EngineLoop:
    """An asyncio loop on a thread of its own.

    Attributes:
        loop: the loop, once started.
        control: one thread for opening and closing the vault; it outlives the vault's own pools.
    """

    def __init__(self) -> None:
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run_loop, name="loci-engine", daemon=True)  # noqa: TID251 - the one birthplace
        self.control = ThreadPoolExecutor(1, thread_name_prefix="loci-control")
        self.loop: asyncio.AbstractEventLoop
        self._stop: asyncio.Event

    def start(self) -> None:
        """Start the thread and wait until the loop runs."""
        self._thread.start()
        self._ready.wait()

    def _run_loop(self) -> None:
        async def main() -> None:
            self.loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
            self._ready.set()
            await self._stop.wait()

        asyncio.run(main())

    def stop(self) -> None:
        """Cancel what is left on the loop and join the thread; safe to call twice."""
        if self._thread.is_alive():
            self.loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(5)
        self.control.shutdown(wait=True)


class Threads:
    """Pools for reading and computing, and the writer's thread.

    Attributes:
        reads: four threads, one vault connection each.
        compute: two threads for embedding much at once; the libraries release the GIL.
        prompt: two threads for embedding what somebody waits for, so that it never stands behind an import.
        jobs: one thread on which a long job (an import) is driven.
        checks: one thread for verifying and backing up, beside a job and beside locking.
        layouts: three threads that read and place graphs; most of the time they wait for a child process.
        guards: as many, each watches the child process of one layout.
    """

    def __init__(self) -> None:
        self.reads = ThreadPoolExecutor(READERS, thread_name_prefix="loci-read")
        self.compute = ThreadPoolExecutor(2, thread_name_prefix="loci-compute")
        self.prompt = ThreadPoolExecutor(2, thread_name_prefix="loci-prompt")
        self.jobs = ThreadPoolExecutor(1, thread_name_prefix="loci-job")
        self.checks = ThreadPoolExecutor(1, thread_name_prefix="loci-check")
        self.layouts = ThreadPoolExecutor(LAYOUTS, thread_name_prefix="loci-layout")
        self.guards = ThreadPoolExecutor(LAYOUTS, thread_name_prefix="loci-guard")
        self._writer: threading.Thread | None = None  # noqa: TID251 - the one birthplace
        self._timers: list[_Ticker] = []

    def start_writer(self, body: Callable[[], None]) -> None:
        """Start the one writer thread.

        Args:
            body: `WriteQueue.run`; returns when the queue is closed.
        """
        self._writer = threading.Thread(target=body, name="loci-writer", daemon=True)  # noqa: TID251 - the one birthplace
        self._writer.start()

    def join_writer(self, seconds: float) -> bool:
        """Wait for the writer to end.

        Args:
            seconds: how long at most.

        Returns:
            Whether it has ended.
        """
        if self._writer is None:
            return True
        self._writer.join(seconds)
        ended = not self._writer.is_alive()
        if ended:
            self._writer = None
        return ended

    def run_every(self, seconds: float, action: Callable[[], None], name: str) -> None:
        """Call an action again and again on a thread of its own until `shutdown`.

        Args:
            seconds: pause between the end of one call and the next.
            action: must not raise.
            name: the thread's name.
        """
        ticker = _Ticker(seconds, action, name)
        self._timers.append(ticker)
        ticker.start()

    def stop_tickers(self, within_s: float = 5.0) -> None:
        """End every repeated action; the current call of each is waited for.

        Args:
            within_s: seconds for all of them together.
        """
        until = time.monotonic() + within_s
        for ticker in self._timers:
            ticker.ask_to_stop()
        for ticker in self._timers:
            ticker.join(max(0.0, until - time.monotonic()))
        self._timers.clear()

    def shutdown(self, within_s: float | None = None) -> None:
        """End the pools; queued work that has not begun is cancelled.

        Args:
            within_s: seconds to wait for what runs, a batch that is embedded for one; None for as long as it takes.
        """
        self.stop_tickers(5.0 if within_s is None else within_s)
        ending = threading.Thread(target=self._end_pools, name="loci-end", daemon=True)  # noqa: TID251 - the one birthplace
        ending.start()
        ending.join(within_s)

    def _end_pools(self) -> None:
        pools = (self.jobs, self.checks, self.layouts, self.guards, self.reads, self.prompt, self.compute)
        for pool in pools:
            pool.shutdown(wait=False, cancel_futures=True)
        for pool in pools:
            pool.shutdown(wait=True)


def start_ticker(seconds: float, action: Callable[[], None], name: str) -> Callable[[], None]:
    """Call an action again and again on a thread of its own, apart from any vault.

    Args:
        seconds: pause between the end of one call and the next.
        action: what it raises is logged by the name of its type, and it is called again.
        name: the thread's name.

    Returns:
        A function that ends it and waits for the current call.
    """
    ticker = _Ticker(seconds, action, name)
    ticker.start()

    def stop() -> None:
        ticker.ask_to_stop()
        ticker.join(5.0)

    return stop


class _Ticker:
    def __init__(self, seconds: float, action: Callable[[], None], name: str) -> None:
        self._seconds, self._action = seconds, action
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run_ticks, name=f"loci-{name}", daemon=True)  # noqa: TID251 - the one birthplace

    def start(self) -> None:
        self._thread.start()

    def _run_ticks(self) -> None:
        while not self._stopped.wait(self._seconds):
            try:
                self._action()
            except Exception as error:  # noqa: BLE001 - one fault must not end what is to come every second
                _log.error("a chore stopped: %s", type(error).__name__)

    def ask_to_stop(self) -> None:
        self._stopped.set()

    def join(self, seconds: float) -> None:
        if self._thread is not threading.current_thread():
            self._thread.join(seconds)
