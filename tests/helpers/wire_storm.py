"""Storms over the wire: many wounded calls, and many clients at once; what came of them is told in figures.

Must not be used without a server whose folder and engine are the caller's own.
"""

from __future__ import annotations

import contextlib
import json
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wire_walk import Walk, wrong_with

from core.errors import LociError
from core.ipc.client.client import Client
from core.ipc.protocol.contract import Registry
from core.ipc.protocol.messages import parse_request_line

ALWAYS = frozenset({"E4001", "E4005", "E4006", "E4007", "E4009", "E4010", "E5004"})
"""What any call may be answered with, whatever it asked."""

_CHUNK = 1 << 16
_POOL = 200


def open_sockets() -> int:
    """Open sockets of this process; the vault's readers open files of their own whenever two of them work at once."""
    found = 0
    for link in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # the listing's own descriptor is closed by now
            found += str(link.readlink()).startswith("socket:")
    return found


@dataclass
class Fuzzed:
    """What came of a walk.

    Attributes:
        sent: lines.
        answers: how many answers had which code; `result` for those that were carried out.
        hung_up: connections the server ended.
        findings: what must not be; empty where all is well.
    """

    sent: int = 0
    answers: Counter[str] = field(default_factory=Counter)
    hung_up: int = 0
    findings: list[str] = field(default_factory=list)


class Fuzzer:
    """Sends a walk's lines, some at a time, and looks at each answer."""

    def __init__(self, walk: Walk, registry: Registry, come_in: Callable[[], Client], at_once: int = 8) -> None:
        """Make a fuzzer.

        Args:
            walk: where lines come from.
            registry: against which results are checked.
            come_in: opens a connection; called anew whenever the server ended one.
            at_once: lines that are sent before their answers are read.
        """
        self._walk, self._registry, self._come_in, self._at_once = walk, registry, come_in, at_once
        self._client: Client | None = None
        self._heard = bytearray()
        self._number = 0
        self.seen = Fuzzed()

    def run(self, count: int) -> Fuzzed:
        """Send at least so many lines more."""
        until = self.seen.sent + count
        while self.seen.sent < until:
            self._some()
        return self.seen

    def close(self) -> None:
        """Go away."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def _some(self) -> None:
        if self._client is None:
            self._client = self._come_in()
            self._client._sock.settimeout(60)
            self._heard.clear()
        lines: dict[int, bytes] = {}
        for _ in range(self._at_once):
            self._number += 1
            lines[self._number] = self._walk.line(self._number)
        self.seen.sent += self._at_once
        try:
            self._client._sock.sendall(b"".join(lines.values()))
            self._match(lines)
        except ConnectionError:
            self.seen.hung_up += 1
            self.close()
        except TimeoutError:
            self.seen.findings.append(f"line {self._number}: neither an answer nor an end")
            self.close()

    def _match(self, lines: Mapping[int, bytes]) -> None:
        """Read until every line has its own answer: under its id, or without one where it could not be read."""
        waiting, nameless = dict(lines), 0
        while nameless < len(waiting):
            message = json.loads(self._line())
            if "method" in message:
                continue
            ident = message.get("id")
            line = waiting.pop(ident, None) if isinstance(ident, int) else None
            if ident is None:
                nameless += 1
            elif line is None:
                self.seen.findings.append(f"an answer to nothing, or a second one: {lines.get(ident, b'')[:300]!r}")
            self._look(message, line)
        for line in waiting.values():
            if _is_call(line):
                self.seen.findings.append(f"a call that was answered without its id: {line[:300]!r}")

    def _line(self) -> bytes:
        assert self._client is not None
        while (end := self._heard.find(b"\n")) < 0:
            more = self._client._sock.recv(_CHUNK)
            if not more:
                raise ConnectionResetError
            self._heard += more
        line = bytes(self._heard[:end])
        del self._heard[: end + 1]
        return line

    def _look(self, message: dict[str, Any], line: bytes | None) -> None:
        wrong = wrong_with(message) or (self._against_protocol(message, line) if line else None)
        if wrong is not None:
            self.seen.findings.append(f"{wrong}: {(line or b'')[:300]!r}")
        self.seen.answers["result" if "result" in message else message["error"]["data"]["code"]] += 1
        self._gather(message.get("result"))

    def _against_protocol(self, message: Mapping[str, Any], line: bytes) -> str | None:
        """What is otherwise than the protocol says of the method that the line calls."""
        try:
            name = json.loads(line)["method"]
        except (ValueError, KeyError, TypeError, RecursionError):
            return "a line that is none was carried out" if "result" in message else None
        method = self._registry.methods.get(name) if isinstance(name, str) else None
        if "result" in message:
            sound = method is not None and self._registry.result_checker(name).is_valid(message["result"])
            return None if sound else "a result that its schema does not allow"
        code = message["error"]["data"]["code"]
        known = method is None or code in ALWAYS or code in method.errors
        return None if known else f"{code}, which the protocol does not list"

    def _gather(self, result: Any) -> None:
        if isinstance(result, dict):
            found = [result.get(name) for name in ("memory_id", "entity_id", "id", "turn")]
            self._walk.pool += [one for one in found if isinstance(one, str)]
            del self._walk.pool[1:-_POOL]


def _is_call(line: bytes) -> bool:
    """Whether the protocol can read a line as a call."""
    try:
        parse_request_line(line.removesuffix(b"\n"))
    except LociError:
        return False
    return True


@dataclass
class Loaded:
    """What many clients at once came to.

    Attributes:
        ids: of what was stored, as the server said.
        stores: seconds of each store.
        searches: seconds of each search.
        rounds: consolidations that ran meanwhile.
        errors: whatever failed.
    """

    ids: list[str] = field(default_factory=list)
    stores: list[float] = field(default_factory=list)
    searches: list[float] = field(default_factory=list)
    rounds: int = 0
    errors: list[str] = field(default_factory=list)

    def worst(self, share: float = 0.95) -> tuple[float, float]:
        """The seconds within which that share of stores, and of searches, was answered."""
        return _at(self.stores, share), _at(self.searches, share)


def _at(values: Sequence[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


_NOUNS = ("lamp", "kettle", "garden", "ladder", "violin", "harbour", "window", "pepper", "tunnel", "saddle", "turnip")
_VERBS = ("stands", "leans", "hides", "waits", "glows", "rests", "turns", "hangs", "swims", "sings", "melts", "burns")


def sentence(dice: random.Random) -> str:
    """A sentence of its own; two are hardly ever alike."""
    mark = "".join(dice.choices("bcdfghklmnprstvz", k=9))
    return f"The {mark} {dice.choice(_NOUNS)} {dice.choice(_VERBS)} by the {dice.choice(_NOUNS)} of {mark[::-1]}."


def load(
    clients: Sequence[Client], count: int, beside: Callable[[], None] | None = None, pause_s: float = 0.0
) -> Loaded:
    """Let all clients store and search at the same time.

    Args:
        clients: greeted; one thread each.
        count: stores, and searches, of each.
        beside: done over and over meanwhile; None for nothing.
        pause_s: seconds that each client waits before a store and before a search, on average; 0 for as fast as it is
            answered.
    """
    seen = Loaded()

    def work(number: int, client: Client) -> None:
        dice = random.Random(number)

        def rest() -> None:
            if pause_s:
                # It waits for nothing: it is the pace of the load, as people's messages come by chance.
                time.sleep(dice.expovariate(1 / pause_s))

        try:
            for n in range(count):
                text = sentence(dice)
                rest()
                began = time.perf_counter()
                reply = client.call("memory_store", {"text": text, "request_id": f"q{n}"})
                seen.stores.append(time.perf_counter() - began)
                rest()
                began = time.perf_counter()
                client.call("memory_search", {"query": text, "limit": 5})
                seen.searches.append(time.perf_counter() - began)
                seen.ids.append(reply["memory_id"])
        except (LociError, OSError) as wrong:
            seen.errors.append(f"client {number}: {wrong!r}")

    threads = [threading.Thread(target=work, args=pair) for pair in enumerate(clients)]
    for thread in threads:
        thread.start()
    while beside is not None and any(thread.is_alive() for thread in threads):
        try:
            beside()
            seen.rounds += 1
        except LociError as wrong:
            seen.errors.append(f"beside: {wrong!r}")
            break
    for thread in threads:
        thread.join()
    return seen
