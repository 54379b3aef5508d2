"""What the benches that kill the engine share: the owner's channel after a start, and a run with its outcome."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "helpers")]

from cli_rig import Palace, make_template, palace_from  # noqa: E402

from app.bench.machine import describe_machine  # noqa: E402
from core.errors import Code, LociError  # noqa: E402
from core.ipc.client.client import Client  # noqa: E402

SOCKET_S = 2.0

Tell = Callable[[str], None]


class KillOutcome(Protocol):
    """A dataclass of what the rounds found."""

    @property
    def is_clean(self) -> bool:
        """Whether nothing was lost or doubled."""
        ...


def connect_owner(palace: Palace) -> Client:
    """The owner's channel; the words "is listening" may come a moment before the socket is in its place."""
    until = time.monotonic() + SOCKET_S
    while True:
        try:
            return palace.owner()
        except LociError as error:
            if error.code is not Code.NOT_HERE or time.monotonic() > until:
                raise
        time.sleep(0.02)  # another process makes the socket: there is nothing to wait on


def run_rounds(description: str | None, rounds: int, kill: Callable[[Palace, int, Tell, int], KillOutcome]) -> None:
    """Read the command line, run on a palace of its own, print the outcome; exit code 1 where it is not clean.

    Args:
        rounds: how many by default.
        kill: given a palace with an empty vault, the seed, what says how it goes, and the number of rounds.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="one JSON document on standard output")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="loci-kill-") as folder:
        template, place = Path(folder) / "template", Path(folder) / "palace"
        template.mkdir()
        place.mkdir()
        palace = palace_from(make_template(template), place)
        begun = time.monotonic()
        outcome = kill(palace, given.seed, _tell, given.rounds)
        seconds = time.monotonic() - begun
    found: dict[str, Any] = asdict(outcome)  # type: ignore[call-overload]  # every outcome is a dataclass
    figures = {"machine": describe_machine(), "seed": given.seed, "seconds": round(seconds, 1), **found}
    if given.json:
        print(json.dumps(figures, indent=2))
    else:
        print("\n".join(f"{name:<24} {value}" for name, value in figures.items()))
        print("clean" if outcome.is_clean else "NOT CLEAN")
    sys.exit(0 if outcome.is_clean else 1)


def _tell(words: str) -> None:
    print(words, file=sys.stderr, flush=True)
