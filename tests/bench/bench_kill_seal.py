"""Kill the engine again and again while it seals and puts back: python tests/bench/bench_kill_seal.py --rounds 50.

Each round starts `loci serve`, stores texts, seals them, one by one and all that is confidential at once, and puts
some back, and ends the process with SIGKILL at a random moment. After the next start every memory must be in one place,
among the others or sealed, where the last acknowledged call put it, with its text as it was; of a sealed one no list
may hold the words; and `verify` must be clean.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "helpers"), str(ROOT / "tests" / "bench")]

from cli_rig import Palace, Serving  # noqa: E402 - found by the path above
from kill_rounds import connect_owner, run_rounds  # noqa: E402

from core.errors import LociError  # noqa: E402
from core.ipc.client.client import Client  # noqa: E402

SECRET = "a second secret"
OPEN, SEALED, EITHER = "open", "sealed", "either"
LONGEST_S, PATIENCE_S = 1.5, 120.0
CARD = "4111 1111 1111 1111"


@dataclass
class KilledRound:
    """What one round was told.

    Attributes:
        mark: a word in every text of the round.
        texts: id to text.
        places: id to where the last acknowledged call put it; `either` while a call about it is not answered.
    """

    mark: str
    texts: dict[str, str] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)


@dataclass
class SealOutcome:
    """Sums over all rounds; the last six must be 0 and `failures` empty."""

    rounds: int = 0
    memories: int = 0
    seals: int = 0
    unseals: int = 0
    undecided: int = 0
    lost: int = 0
    in_both: int = 0
    misplaced: int = 0
    wrong_text: int = 0
    readable: int = 0
    verify_not_clean: int = 0
    failures: list[str] = field(default_factory=list)

    @property
    def is_clean(self) -> bool:
        """Whether nothing was lost, doubled, misplaced or left readable."""
        bad = (self.lost, self.in_both, self.misplaced, self.wrong_text, self.readable, self.verify_not_clean)
        return not any(bad) and not self.failures


class SealKiller:
    """Rounds on one vault that grows."""

    def __init__(self, palace: Palace, seed: int, tell: Callable[[str], None]) -> None:
        """Take a palace with an empty vault.

        Args:
            palace: where.
            seed: chooses the moments.
            tell: says how it goes.
        """
        self._palace, self._seed, self._tell = palace, seed, tell
        self.outcome = SealOutcome()

    def run(self, rounds: int) -> SealOutcome:
        """Kill so many times, and check after each."""
        last: KilledRound | None = None
        for number in range(rounds + 1):
            with self._palace.serving() as serving:
                with connect_owner(self._palace) as owner:
                    owner.call(
                        "owner.seal_key",
                        {"action": "open", "secret": SECRET} if number else {"action": "new", "passphrase": SECRET},
                        timeout_s=PATIENCE_S,
                    )
                    if last is not None:
                        self._check(owner, last)
                if number == rounds:
                    serving.end()
                    break
                last = self._round(number, serving)
            self.outcome.rounds += 1
            if (number + 1) % 10 == 0:
                self._tell(f"{number + 1} of {rounds} rounds, {self.outcome.memories} memories")
        return self.outcome

    def _round(self, number: int, serving: Serving) -> KilledRound:
        dice = random.Random(f"{self._seed}/{number}")
        this = KilledRound(f"s{self._seed}x{number:04}z")
        worker = threading.Thread(target=self._work, args=(this, dice.random()))
        worker.start()
        # The first text waits until the models are loaded; a kill before it would try nothing.
        until = time.monotonic() + PATIENCE_S
        while not this.texts and worker.is_alive() and time.monotonic() < until:
            time.sleep(0.01)  # the worker is in a call: there is nothing to wait on
        time.sleep(dice.uniform(0.05, LONGEST_S))  # the moment of the kill
        os.kill(serving.pid, signal.SIGKILL)
        worker.join(PATIENCE_S)
        serving.ended()
        return this

    def _work(self, this: KilledRound, start: float) -> None:
        dice = random.Random(start)
        try:
            with connect_owner(self._palace) as owner:
                for number in range(100_000):
                    self._step(owner, this, dice, number)
        except LociError:
            return  # the engine is gone, which is the point

    def _step(self, owner: Client, this: KilledRound, dice: random.Random, number: int) -> None:
        is_card = number % 4 == 0
        text = f"{this.mark} keeps number {number}" + (f", card {CARD}." if is_card else ".")
        ident = str(owner.call("owner.remember", {"text": text})["memory_id"])
        this.texts[ident], this.places[ident] = text, OPEN
        if is_card and dice.random() < 0.5:
            cards = [one for one in this.texts if this.places[one] == OPEN and CARD in this.texts[one]]
            self._move(owner, this, "owner.seal_found", {}, cards, SEALED)
            return
        self._move(owner, this, "owner.seal", {"id": ident}, [ident], SEALED)
        if dice.random() < 0.5:
            self._move(owner, this, "owner.unseal", {"id": ident}, [ident], OPEN)

    @staticmethod
    def _move(
        owner: Client, this: KilledRound, verb: str, params: dict[str, str], idents: list[str], place: str
    ) -> None:
        this.places.update(dict.fromkeys(idents, EITHER))
        owner.call(verb, params, timeout_s=PATIENCE_S)
        this.places.update(dict.fromkeys(idents, place))

    def _check(self, owner: Client, last: KilledRound) -> None:
        outcome = self.outcome
        listed = owner.collect("owner.list", {"text": last.mark, "status": "all", "limit": 1_000_000})["items"]
        open_texts = {item["id"]: item["text"] for item in listed}
        sealed = {row["id"] for row in owner.call("owner.sealed", {})["items"]}
        outcome.memories += len(last.texts)
        for ident, text in last.texts.items():
            wanted = last.places[ident]
            outcome.undecided += wanted == EITHER
            outcome.seals += wanted == SEALED
            outcome.unseals += wanted == OPEN
            is_open, is_sealed = ident in open_texts, ident in sealed
            outcome.lost += not (is_open or is_sealed)
            outcome.in_both += is_open and is_sealed
            outcome.misplaced += wanted != EITHER and (is_open != (wanted == OPEN))
            if is_sealed:
                outcome.readable += text in open_texts.values()
                outcome.wrong_text += owner.call("owner.sealed_text", {"id": ident})["text"] != text
            elif is_open:
                outcome.wrong_text += open_texts[ident] != text
        verified = owner.call("owner.verify", timeout_s=PATIENCE_S)
        if verified["status"] != "ok":
            outcome.verify_not_clean += 1
            outcome.failures.append(json.dumps(verified["checks"]))


def main() -> None:
    """Kill and print."""
    run_rounds(__doc__, 50, lambda palace, seed, tell, rounds: SealKiller(palace, seed, tell).run(rounds))


if __name__ == "__main__":
    main()
