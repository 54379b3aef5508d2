"""Kill the engine again and again while it stores and imports: python tests/bench/bench_kill.py --rounds 100.

Each round starts `loci serve`, lets clients store texts and the owner import a file through the socket, and ends the
process with SIGKILL at a random moment, sometimes while it is closing. After the next start every acknowledged text
must be there exactly once, no text twice, every import whole or absent, none `running`, and `verify` clean.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "helpers"), str(ROOT / "tests" / "bench")]

from cli_rig import Palace, Serving  # noqa: E402 - found by the path above
from kill_rounds import connect_owner, run_rounds  # noqa: E402

from app.bench.synthetic import SyntheticWriter  # noqa: E402
from core.errors import LociError  # noqa: E402
from core.ipc.client.client import Client  # noqa: E402

CLIENTS = 2
IMPORT_ROWS = 600
LONGEST_S = 3.0
TERM_SHARE = 0.25  # rounds in which the engine is told to end first, and killed while it closes
PATIENCE_S = 120.0


@dataclass
class Round:
    """What one round was told to be saved.

    Attributes:
        mark: a word in every text of the round.
        acknowledged: id to text.
        tried: texts that were sent.
        imported: rows of the import; None while it was not acknowledged.
    """

    mark: str
    acknowledged: dict[str, str] = field(default_factory=dict)
    tried: set[str] = field(default_factory=set)
    imported: int | None = None


@dataclass
class Outcome:
    """Sums over all rounds; the last seven must be 0 and `failures` empty."""

    rounds: int = 0
    kills_while_closing: int = 0
    stored: int = 0
    imports_acknowledged: int = 0
    imports_finished_later: int = 0
    imports_taken_back: int = 0
    unacknowledged_kept: int = 0
    missing: int = 0
    wrong: int = 0
    twice: int = 0
    strangers: int = 0
    half_imports: int = 0
    left_running: int = 0
    verify_not_clean: int = 0
    failures: list[str] = field(default_factory=list)

    @property
    def is_clean(self) -> bool:
        """Whether nothing was lost, doubled or damaged."""
        bad = (self.missing, self.wrong, self.twice, self.strangers, self.half_imports, self.left_running)
        return not any(bad) and not self.verify_not_clean and not self.failures


class Killer:
    """Rounds on one vault that grows."""

    def __init__(self, palace: Palace, seed: int, tell: Callable[[str], None]) -> None:
        """Take a palace with an empty vault.

        Args:
            palace: where.
            seed: chooses the moments.
            tell: says how it goes.
        """
        self._palace, self._seed, self._tell = palace, seed, tell
        self._texts = [message.text for message in SyntheticWriter(seed).write_messages(4000)]
        self.outcome = Outcome()

    def run(self, rounds: int) -> Outcome:
        """Kill so many times, and check after each."""
        last: Round | None = None
        for number in range(rounds + 1):
            with self._palace.serving() as serving:
                if last is not None:
                    self._check(last)
                if number == rounds:
                    serving.end()
                    break
                last = self._round(number, serving)
            self.outcome.rounds += 1
            if (number + 1) % 10 == 0:
                self._tell(f"{number + 1} of {rounds} rounds, {self.outcome.stored} texts acknowledged")
        return self.outcome

    def _round(self, number: int, serving: Serving) -> Round:
        dice = random.Random(f"{self._seed}/{number}")
        this = Round(f"k{self._seed}x{number:04}z")
        file = self._palace.folder / f"{this.mark}.jsonl"
        file.write_text("".join(self._rows(this)), encoding="utf-8")
        workers = [
            threading.Thread(target=self._import, args=(this, file)),
            *(threading.Thread(target=self._store, args=(this, who, dice.random())) for who in range(CLIENTS)),
        ]
        for worker in workers:
            worker.start()
        time.sleep(dice.uniform(0.02, LONGEST_S))
        if dice.random() < TERM_SHARE:
            self.outcome.kills_while_closing += 1
            os.kill(serving.pid, signal.SIGTERM)
            time.sleep(dice.uniform(0.0, 1.0))
        os.kill(serving.pid, signal.SIGKILL)
        for worker in workers:
            worker.join(PATIENCE_S)
        serving.ended()
        return this

    def _rows(self, this: Round) -> list[str]:
        chosen = random.Random(this.mark).choices(self._texts, k=IMPORT_ROWS)
        rows = [
            {"text": f"{this.mark} row {i}: {text}", "session": f"{this.mark}-{i // 20}"}
            for i, text in enumerate(chosen)
        ]
        return [json.dumps(row) + "\n" for row in rows]

    def _import(self, this: Round, file: Path) -> None:
        def bring(owner: Client) -> None:
            this.imported = int(owner.call("owner.import", {"path": str(file)}, timeout_s=PATIENCE_S)["stored"])

        self._until_dead(bring)

    def _store(self, this: Round, who: int, start: float) -> None:
        def keep_storing(owner: Client) -> None:
            dice = random.Random(start)
            for number in range(100_000):
                text = f"{this.mark} said by {who} as number {number}: {dice.choice(self._texts)}"
                this.tried.add(text)
                reply = owner.call("owner.remember", {"text": text, "request_id": f"{this.mark}-{who}-{number}"})
                this.acknowledged[str(reply["memory_id"])] = text

        self._until_dead(keep_storing)

    def _until_dead(self, work: Callable[[Client], None]) -> None:
        try:
            with connect_owner(self._palace) as owner:
                work(owner)
        except LociError:
            return  # the engine is gone, which is the point

    def _check(self, last: Round) -> None:
        with connect_owner(self._palace) as owner:
            self._wait_for_imports(owner)
            found = owner.collect("owner.list", {"text": last.mark, "status": "all", "limit": 1_000_000})["items"]
            self._check_stored(last, found)
            self._check_imported(last, [item for item in found if f"{last.mark} row " in item["text"]])
            verified = owner.call("owner.verify", timeout_s=PATIENCE_S)
            if verified["status"] != "ok":
                self.outcome.verify_not_clean += 1
                self.outcome.failures.append(json.dumps(verified["checks"]))

    def _wait_for_imports(self, owner: Client) -> None:
        until = time.monotonic() + PATIENCE_S
        while _running(owner):
            if time.monotonic() > until:
                self.outcome.left_running += 1
                return
            time.sleep(0.05)

    def _check_stored(self, last: Round, found: list[dict[str, Any]]) -> None:
        outcome = self.outcome
        by_id = {item["id"]: item["text"] for item in found}
        outcome.stored += len(last.acknowledged)
        outcome.missing += sum(ident not in by_id for ident in last.acknowledged)
        outcome.wrong += sum(by_id.get(ident, text) != text for ident, text in last.acknowledged.items())
        counts = Counter(item["text"] for item in found)
        outcome.twice += sum(count > 1 for count in counts.values())
        said = {text for text in counts if f"{last.mark} said by " in text}
        outcome.strangers += len(said - last.tried)
        outcome.unacknowledged_kept += len(said - set(last.acknowledged.values()))

    def _check_imported(self, last: Round, rows: list[dict[str, Any]]) -> None:
        outcome = self.outcome
        if last.imported is not None:
            outcome.imports_acknowledged += 1
            outcome.half_imports += len(rows) != last.imported or last.imported != IMPORT_ROWS
        elif rows:
            outcome.imports_finished_later += 1
            outcome.half_imports += len(rows) != IMPORT_ROWS
        else:
            outcome.imports_taken_back += 1


def _running(owner: Client) -> int:
    return int(owner.call("owner.status")["imports"].get("running", 0))


def main() -> None:
    """Kill and print."""
    run_rounds(__doc__, 100, lambda palace, seed, tell, rounds: Killer(palace, seed, tell).run(rounds))


if __name__ == "__main__":
    main()
