"""Attacks and load on the socket, in full size: python tests/bench/bench_socket.py --json.

Three parts on a real engine behind a real socket, each in a home of its own:

- fuzz: wounded calls of every method (100,000), most from a paired client, some from strangers, beside an honest one;
- storm: 200 connections that say nothing or one byte a second, clients that never read, beside an honest one;
- load: 8 clients that store and search 200 times each while consolidation runs, against one client alone. Each waits a
  quarter of a second before a call, on average (`--pause`); without, they stand in a queue behind each other.

`--part` runs one; `--lines`, `--peers`, `--clients` and `--times` make it smaller. Exit code 1 where something is found
that must not be: an answer that tells too much, a line without an answer, a failed honest call, sockets that stay
open, memory that grows, rows that are missing, an answer later than three times what it takes alone.
"""

from __future__ import annotations

import argparse
import json
import logging
import random
import socket
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "helpers")]

from engine_rig import Rig, rig_at  # noqa: E402
from poison_socket import Wire, wire_to  # noqa: E402
from wire_storm import Fuzzer, Loaded, load, open_sockets, sentence  # noqa: E402
from wire_walk import PLANTED, Walk  # noqa: E402

from app.bench.machine import describe_machine, resident_mb  # noqa: E402
from core.errors import LociError  # noqa: E402
from core.ipc.client.client import Client  # noqa: E402
from core.ipc.client.connection import connect_to  # noqa: E402
from core.ipc.protocol import contract  # noqa: E402

ALL = ("read", "propose", "write", "curate", "space:home")
GROWTH_MB = 60.0  # from a fifth of the fuzzed lines to their end; what they stored is held too
TIMES_IDLE = 3.0  # the second-slowest twentieth beside seven others and consolidation, against alone
STORM_S = 12.0


class Heard(logging.Handler):
    """Log lines that nobody expects."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep one."""
        self.lines.append(f"{record.name}: {record.getMessage()}")


class Honest:
    """A client that means well, on a thread of its own: it asks for what it stored, over and over."""

    def __init__(self, client: Client) -> None:
        self._client, self._stop = client, threading.Event()
        self.times: list[float] = []
        self.failed: list[str] = []
        self._kept = client.call("memory_store", {"text": "The honest one keeps bees."})["memory_id"]
        self._thread = threading.Thread(target=self._work)
        self._thread.start()

    def _work(self) -> None:
        while not self._stop.wait(0.02):
            began = time.perf_counter()
            try:
                found = self._client.call("memory_get", {"id": self._kept})["text"]
                if found != "The honest one keeps bees.":
                    self.failed.append("another text")
            except LociError as wrong:
                self.failed.append(repr(wrong))
                return
            self.times.append(time.perf_counter() - began)

    def figures(self) -> dict[str, Any]:
        """End, and tell how it was served."""
        self._stop.set()
        self._thread.join()
        times = sorted(self.times) or [float("nan")]
        return {
            "calls": len(self.times),
            "failed": self.failed,
            "p50_ms": round(times[len(times) // 2] * 1000, 1),
            "p95_ms": round(times[int(len(times) * 0.95)] * 1000, 1),
            "p99_ms": round(times[int(len(times) * 0.99)] * 1000, 1),
        }


@contextmanager
def served() -> Iterator[tuple[Rig, Wire]]:
    """A new home, its engine and its socket."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="loci-socket-")))
        rig = stack.enter_context(rig_at(folder))
        yield rig, stack.enter_context(wire_to(rig, folder))


def fuzz(lines: int, seed: int) -> tuple[dict[str, Any], list[str]]:
    """Send wounded calls; four of five from a client with every grant, the rest from strangers."""
    document = json.loads(files("resources").joinpath("protocol.json").read_text("utf-8"))
    registry = contract.load_registry()
    with served() as (rig, wire):
        # The limits would answer most of it: what lies behind them is to be met as well.
        for limit in ("writes_minute", "reads_minute"):
            rig.engine.settings.set_option(limit, value=100_000).result(30)
        rig.store(f"{PLANTED} lies in a drawer.", space="cellar")
        token = rig.engine.clients.pair("liar", ALL, "none").result(30).token
        honest = Honest(wire.client("honest", "read", "write"))
        before, began = open_sockets(), time.perf_counter()
        client = Fuzzer(Walk(document, seed), registry, lambda: wire.greet("liar", token))
        stranger = Fuzzer(Walk(document, -seed), registry, lambda: Client(connect_to(wire.place, 10)), at_once=4)
        memory = []
        for _ in range(10):
            client.run(lines * 4 // 50)
            stranger.run(lines // 50)
            memory.append(resident_mb() or 0.0)
        client.close()
        stranger.close()
        seconds = time.perf_counter() - began
        served_so = honest.figures()
        is_back = wire.settled(lambda: open_sockets() <= before)
        rows = rig.value("SELECT count(*) FROM memories")
        verified = rig.verify()["status"]
    findings = client.seen.findings + stranger.seen.findings
    findings += [f"honest: {failed}" for failed in served_so["failed"]]
    findings += [] if is_back else ["sockets stayed open"]
    findings += [] if verified == "ok" else [f"verify: {verified}"]
    findings += [f"memory grew from {memory[1]} to {memory[-1]} MB"] if memory[-1] - memory[1] > GROWTH_MB else []
    return {
        "lines": client.seen.sent + stranger.seen.sent,
        "seconds": round(seconds, 1),
        "client": dict(sorted(client.seen.answers.items())),
        "strangers": dict(sorted(stranger.seen.answers.items())),
        "hung_up": client.seen.hung_up + stranger.seen.hung_up,
        "resident_mb": memory,
        "rows": rows,
        "honest": served_so,
    }, findings


def storm(count: int) -> tuple[dict[str, Any], list[str]]:
    """Strangers that say nothing or drip, and clients that never read, for twelve seconds."""
    with served() as (rig, wire):
        token = rig.engine.clients.pair("deaf", ALL, "none").result(30).token
        dice = random.Random(0)
        for _ in range(40):
            rig.store(f"{sentence(dice)} {'x' * 7000}", space="home")
        honest = Honest(wire.client("honest", "read", "write"))
        before, peers = open_sockets(), [wire.greet("deaf", token)._sock for _ in range(4)]
        for deaf in peers:
            deaf.settimeout(0)
            for n in range(200):
                _drip(deaf, b'{"jsonrpc":"2.0","id":%d,"method":"memory_list","params":{"limit":100}}\n' % n)
        held, refused = 0, Counter[str]()
        for _ in range(count):
            try:
                peers.append(connect_to(wire.place, 2))
                held += 1
            except (LociError, OSError) as wrong:
                refused[type(wrong).__name__] += 1
        began = time.perf_counter()
        while time.perf_counter() - began < STORM_S:
            for peer in peers[4:]:
                peer.settimeout(0)
                _drip(peer, b"{")
            time.sleep(1.0)
        cut = sum(_is_cut(peer) for peer in peers)
        served_so = honest.figures()
        for peer in peers:
            peer.close()
        is_back = wire.settled(lambda: open_sockets() <= before)
    findings = [f"honest: {failed}" for failed in served_so["failed"]]
    findings += [] if is_back else ["sockets stayed open"]
    findings += [] if cut == len(peers) else [f"{len(peers) - cut} peers were not cut within {STORM_S} s"]
    return {"peers": held, "not_let_in": dict(refused), "cut": cut, "honest": served_so}, findings


def _drip(sock: socket.socket, data: bytes) -> None:
    try:
        sock.send(data)
    except OSError:
        return  # cut, or full; both are looked at later


def _is_cut(sock: socket.socket) -> bool:
    """Whether the other side has ended it; what it said before is read away."""
    try:
        while sock.recv(1 << 16):
            pass
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


def loaded(clients: int, times: int, pause_s: float) -> tuple[dict[str, Any], list[str]]:
    """One client alone, then many while consolidation runs."""
    with served() as (rig, wire):
        with wire.client("alone", "read", "write") as one:
            alone = load([one], times, pause_s=pause_s)
        many = [wire.client(f"client {n}", "read", "write") for n in range(clients)]
        with wire.client("keeper", "read", "curate", "all_spaces") as keeper:
            seen = load(many, times, _consolidating(keeper), pause_s)
        for client in many:
            client.close()
        rows = rig.value(
            "SELECT count(*) FROM memories WHERE client_id IN (SELECT id FROM clients WHERE name LIKE 'client %')"
        )
        verified = rig.verify()["status"]
    findings = [*alone.errors, *seen.errors, *([] if verified == "ok" else [f"verify: {verified}"])]
    wanted = clients * times
    if (rows, len(set(seen.ids))) != (wanted, wanted):
        findings.append(f"{rows} rows and {len(set(seen.ids))} ids instead of {wanted}")
    figures = {
        "pause_s": pause_s,
        "rows": rows,
        "consolidations": seen.rounds,
        "alone": _told(alone),
        "together": _told(seen),
    }
    for name, idle, busy in zip(("stores", "searches"), alone.worst(), seen.worst(), strict=True):
        if busy > TIMES_IDLE * idle:
            findings.append(f"95 % of {name} took up to {busy / idle:.1f} times what they take alone")
    return figures, findings


def _consolidating(keeper: Client) -> Callable[[], None]:
    def once() -> None:
        keeper.call("memory_run_consolidation", timeout_s=300)

    return once


def _told(seen: Loaded) -> dict[str, float]:
    store, search = seen.worst()
    return {"store_p95_ms": round(store * 1000, 1), "search_p95_ms": round(search * 1000, 1)}


def main() -> None:
    """Print what was seen; exit code 1 where there are findings."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=("fuzz", "storm", "load"), help="only this one")
    parser.add_argument("--lines", type=int, default=100_000)
    parser.add_argument("--peers", type=int, default=200)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--times", type=int, default=200)
    parser.add_argument("--pause", type=float, default=0.25, help="seconds a client waits before a call; 0 for none")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="one JSON document on standard output")
    given = parser.parse_args()
    heard = Heard()
    logging.getLogger().addHandler(heard)
    logging.getLogger("loci").addHandler(heard)
    parts: dict[str, Callable[[], tuple[dict[str, Any], list[str]]]] = {
        "fuzz": lambda: fuzz(given.lines, given.seed),
        "storm": lambda: storm(given.peers),
        "load": lambda: loaded(given.clients, given.times, given.pause),
    }
    figures: dict[str, Any] = {"machine": describe_machine(), "seed": given.seed}
    findings: list[str] = []
    for name, part in parts.items():
        if given.part in (None, name):
            figures[name], found = part()
            findings += [f"{name}: {one}" for one in found]
    figures["findings"] = findings + [f"log: {line}" for line in heard.lines]
    if given.json:
        print(json.dumps(figures, indent=2))
    else:
        for name, value in figures.items():
            print(f"{name}: {value}")
    sys.exit(1 if figures["findings"] else 0)


if __name__ == "__main__":
    main()
