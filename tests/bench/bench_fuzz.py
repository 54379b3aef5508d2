"""Feed the parsers what nobody should send: python tests/bench/bench_fuzz.py --seconds 600.

Three targets take turns: the importers (fixtures and random bytes, mutated), strict JSON against Python's own parser,
and the socket of a real `loci serve`. Anything but an answer or an error of Loci's own kind is a finding. Every case
has a number; `--only N` repeats it.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "helpers")]

from cli_rig import FIXTURES, Palace, Serving, make_template, palace_from  # noqa: E402
from importer_checks import memory_bundle  # noqa: E402

from app.bench.machine import describe_machine  # noqa: E402
from core.errors import BugError, LociError  # noqa: E402
from core.importers.detect import detect_format, list_importers  # noqa: E402
from core.importers.dry_run import import_items  # noqa: E402
from core.importers.input.streams import BadJson, parse_json_text  # noqa: E402
from core.importers.records import Record  # noqa: E402
from core.ipc.client.client import Client  # noqa: E402
from core.ipc.client.connection import connect_to  # noqa: E402
from core.ipc.protocol.messages import (  # noqa: E402
    LINE_BYTES,
    BadMessage,
    parse_message,
)

LONGEST_S = 20.0  # one case; a longer one is a finding
ANSWER_S = 10.0
LAST = b'{"jsonrpc":"2.0","id":"last","method":"health"}\n'
SEED_BYTES = 200_000
PLANTED = "quinquagesima"
TOLD_BY = ("Traceback", '.py"', "/tmp", "/root", "/home", "sqlite", PLANTED)

SHARDS = [
    b'"', b"\\", b"{", b"}", b"[", b"]", b":", b",", b"null", b"true", b"NaN", b"1e999", b"-0", b"\x00", b"\xff",
    b"\r\n", b"\xef\xbb\xbf", b"\xff\xfe", b"\\u0000", b"\\ud800", b"\\udc00", b"9" * 40, b"---\n", b"[[", b"]]",
    b"'", b"PK\x03\x04", "é".encode(), "🧭".encode(), b"[" * 600, b'{"a":' * 40,
]  # fmt: skip

# Calls that a service answers; what is wrong with a line is then put into it.
SOUND: list[tuple[str, dict[str, Any]]] = [
    ("owner.remember", {"text": "The lamp stands in the hall.", "tags": ["a"], "importance": 0.5, "kind": "fact"}),
    ("owner.recall", {"query": "Where is the lamp?", "limit": 5, "explain": True, "mode": "hybrid"}),
    ("owner.list", {"text": "lamp", "limit": 3, "status": ["active"]}),
    ("owner.show", {"id": "00000000-0000-7000-8000-000000000001"}),
    ("memory_search", {"query": "lamp", "limit": 5, "spaces": ["home"]}),
    ("memory_store", {"text": "The lamp is green.", "time": "2026-05-01T12:00:00Z"}),
    ("owner.status", {}),
    ("hello", {"protocol": 1, "client": "x", "nonce": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}),
]


class Found(Exception):  # noqa: N818 - a finding, not an error
    """Something that must not be."""


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """A case that hangs is a finding too."""

    def stop(*_: object) -> None:
        raise Found("it took too long")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def mutated(data: bytes, dice: random.Random) -> bytes:
    """The same bytes with a few wounds."""
    body = bytearray(data)
    for _ in range(dice.choice((1, 1, 2, 3, 8))):
        at = dice.randrange(len(body) + 1)
        kind = dice.randrange(6)
        if kind == 0 and body:
            body[min(at, len(body) - 1)] ^= 1 << dice.randrange(8)
        elif kind == 1:
            body[at:at] = dice.choice(SHARDS)
        elif kind == 2:
            del body[at : at + dice.choice((1, 2, 16, 300))]
        elif kind == 3:
            body[at:at] = body[dice.randrange(len(body) + 1) :][: dice.choice((4, 64, 2000))]
        elif kind == 4:
            body[at : at + dice.choice((1, 8))] = dice.randbytes(dice.choice((1, 8)))
        else:
            del body[at:]
    return bytes(body)


class Importing:
    """Every importer reads anything to the end, or refuses it in Loci's own words."""

    def __init__(self) -> None:
        files = [path for path in sorted(FIXTURES.rglob("*")) if path.is_file() and not path.is_symlink()]
        self._seeds = [(path.name, path.read_bytes()) for path in files if path.stat().st_size <= SEED_BYTES]

    def case(self, dice: random.Random) -> str:
        name, data = dice.choice(self._seeds)
        if dice.random() < 0.05:
            data = b"".join(dice.choices(SHARDS, k=dice.randrange(200)))
        elif dice.random() < 0.9:
            data = mutated(data, dice)
        kind = "folder" if dice.random() < 0.2 else "file"
        bundle = memory_bundle({name: data}, kind)
        try:
            importer = dice.choice(list_importers()) if dice.random() < 0.5 else detect_format(bundle, None)
            for item in import_items(bundle, importer):
                if isinstance(item, Record):
                    _sound(item)
        except BugError:
            raise
        except LociError as refusal:
            return f"refused {refusal.code.value}"
        return importer.format


def _sound(record: Record) -> None:
    (record.text + record.identity + record.where + str(record.author) + str(record.ref)).encode()
    json.dumps(dict(record.extra), allow_nan=False).encode()
    if not record.identity:
        raise Found("a record without an identity")


class Json:
    """What our parsers take, Python's takes too and reads alike; what they refuse is refused in their own words."""

    def case(self, dice: random.Random) -> str:
        data = _json_bytes(dice)
        if dice.random() < 0.8:
            data = mutated(data, dice)
        return f"{_strict(data)}, {_lenient(data)}"


def _json_bytes(dice: random.Random) -> bytes:
    tree = {_word(dice): _value(dice, 1) for _ in range(dice.randrange(5))} if dice.random() < 0.8 else _value(dice, 0)
    return json.dumps(tree, ensure_ascii=dice.random() < 0.5).encode("utf-8", "replace")


def _value(dice: random.Random, depth: int) -> Any:
    kind = dice.randrange(8 if depth < 6 else 6)
    if kind == 7:
        return {_word(dice): _value(dice, depth + 1) for _ in range(dice.randrange(4))}
    if kind == 6:
        return [_value(dice, depth + 1) for _ in range(dice.randrange(4))]
    return (None, True, dice.randrange(-(10**18), 10**18), dice.uniform(-1e9, 1e9), _word(dice), "")[kind]


def _word(dice: random.Random) -> str:
    return "".join(dice.choice('aé"\\/\n\t本🧭\u2028 {}[]0') for _ in range(dice.randrange(8)))


def _strict(data: bytes) -> str:
    try:
        ours = parse_message(data)
    except BadMessage:
        return "refused"
    if ours != json.loads(data):
        raise Found("strict JSON reads another value")
    return "taken"


def _lenient(data: bytes) -> str:
    text = data.decode("utf-8", "replace")
    try:
        ours = parse_json_text(text)
    except BadJson:
        return "refused"
    theirs = json.loads(text)
    if ours.value != theirs and not ours.surrogates:
        raise Found("the importers' JSON reads another value")
    return "taken"


class Socket:
    """A real service: every line gets a typed answer or the connection ends, and it goes on answering."""

    def __init__(self, palace: Palace, serving: Serving) -> None:
        self._palace, self._serving = palace, serving
        self._registry = json.loads((ROOT / "resources" / "protocol.json").read_text("utf-8"))["methods"]
        # Verbs that would end the service, touch files or wait for a person are left out.
        left_out = ("lock", "handover", "import", "backup", "pair_code", "unlock")
        self._methods = [name for name in self._registry if not name.endswith(left_out)]
        with palace.owner() as owner:
            owner.call("owner.remember", {"text": f"{PLANTED} lies in the vault"})

    def case(self, dice: random.Random) -> str:
        lines = b"".join(self._line(dice) for _ in range(dice.choice((1, 1, 2, 5))))
        greeted = dice.random() < 0.6
        with self._client(greeted) as client:
            codes = _answers(client, lines, dice)
        if not self._serving.is_running:
            raise Found("the service ended")
        with self._palace.owner() as owner:
            owner.call("health", timeout_s=ANSWER_S)
        return ("greeted" if greeted else "stranger") + (f" {min(codes)}" if codes else " hung up")

    def _client(self, greeted: bool) -> Client:
        return self._palace.owner() if greeted else Client(connect_to(self._palace.place, ANSWER_S))

    def _line(self, dice: random.Random) -> bytes:
        method, params = dice.choice(self._methods), {name: _value(dice, 3) for name in self._names(dice)}
        if dice.random() < 0.5:
            method, params = dice.choice(SOUND)
            params = {name: dice.choice((value, value, value, _value(dice, 3))) for name, value in params.items()}
        ident = dice.choice((1, "a", 2**40))
        line = json.dumps({"jsonrpc": "2.0", "id": ident, "method": method, "params": params}).encode()
        if dice.random() < 0.5:
            line = mutated(line, dice)
        if dice.random() < 0.02:
            line = line[:-1] + b"x" * LINE_BYTES
        return line + (b"\n" if dice.random() < 0.95 else b"")

    def _names(self, dice: random.Random) -> list[str]:
        known = sorted({name for method in self._registry.values() for name in method["params"].get("properties", {})})
        return dice.choices(known, k=dice.randrange(4))


def _answers(client: Client, lines: bytes, dice: random.Random) -> list[str]:
    """Send raw lines in pieces and one sound line behind them, then hear everything up to its answer, or the end."""
    sock = client._sock
    sock.settimeout(ANSWER_S)
    heard, whole = b"", lines.removesuffix(b"\n") + b"\n" + LAST
    try:
        at = 0
        while at < len(whole):
            step = dice.choice((1, 100, 70_000))
            sock.sendall(whole[at : at + step])
            at += step
        while b'"id":"last"' not in heard.replace(b" ", b"") and (more := sock.recv(65_536)):
            heard += more
    except TimeoutError:
        raise Found("neither an answer nor an end") from None
    except OSError:
        pass  # it hung up on us, as it may
    return [_code(json.loads(line)) for line in heard.splitlines() if not _is_last(line)]


def _is_last(line: bytes) -> bool:
    return bool(json.loads(line).get("id") == "last")


def _code(answer: dict[str, Any]) -> str:
    if "error" not in answer:
        return "answered" if "result" in answer else "notified"
    text = json.dumps(answer)
    if any(word in text for word in TOLD_BY):
        raise Found("an error that tells too much")
    code = str(answer["error"]["data"]["code"])
    if code == BugError("").code.value:
        raise Found("a bug behind the socket")
    return code


Target = Callable[[random.Random], str]


def run(targets: dict[str, Target], numbers: Iterator[int], seed: int, until: float) -> tuple[Counter[str], list[str]]:
    """Take turns until the time is up.

    Args:
        targets: by name.
        numbers: of the cases.
        seed: of all.
        until: monotonic time.

    Returns:
        How many cases ended how, and the findings.
    """
    counts: Counter[str] = Counter()
    findings: list[str] = []
    names = list(targets)
    for number in numbers:
        if time.monotonic() > until:
            break
        name = names[number % len(names)]
        try:
            with deadline(LONGEST_S):
                counts[f"{name}: {targets[name](random.Random(f'{seed}/{number}'))}"] += 1
        except Exception as wrong:  # noqa: BLE001 - whatever it is, it is a finding
            place = traceback.extract_tb(wrong.__traceback__)[-1]
            where = f"{Path(place.filename).name}:{place.lineno}"
            findings.append(f"case {number} ({name}): {type(wrong).__name__} {wrong} at {where}")
            print(findings[-1], file=sys.stderr, flush=True)
    return counts, findings


def counted() -> Iterator[int]:
    """0, 1, 2 …"""
    number = 0
    while True:
        yield number
        number += 1


def main() -> None:
    """Print what was seen; exit code 1 where there are findings."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="repeat one case")
    parser.add_argument("--json", action="store_true", help="one JSON document on standard output")
    given = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="loci-fuzz-")))
        (folder / "template").mkdir()
        (folder / "palace").mkdir()
        palace = palace_from(make_template(folder / "template"), folder / "palace")
        serving = stack.enter_context(palace.serving())
        targets: dict[str, Target] = {
            "import": Importing().case,
            "json": Json().case,
            "socket": Socket(palace, serving).case,
        }
        numbers = counted() if given.only is None else iter((given.only,))
        counts, findings = run(targets, numbers, given.seed, time.monotonic() + given.seconds)
    figures = {
        "machine": describe_machine(),
        "seed": given.seed,
        "seconds": given.seconds,
        "cases": counts.total(),
        "ended": dict(sorted(counts.items())),
        "findings": findings,
    }
    if given.json:
        print(json.dumps(figures, indent=2))
    else:
        print("\n".join(f"{count:>8}  {how}" for how, count in sorted(counts.items())))
        print(f"{figures['cases']} cases, {len(findings)} findings")
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
