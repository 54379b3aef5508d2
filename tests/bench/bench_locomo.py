"""Session and turn recall@10 on LoCoMo conversations: python tests/bench/bench_locomo.py DATASET [--limit N].

Not a test: it prints tables and asserts nothing. Each conversation becomes a space of one vault; each question is asked
in that space, by meaning alone, by words alone, and by both.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "helpers"), str(ROOT / "tests" / "bench")]

from locomo import CATEGORIES, Conversation, Question, read, session_recall, turn_recall  # noqa: E402

from core.embed.minilm import MiniLmEmbedder  # noqa: E402
from core.engine.facade import Engine, Home, HomeKeys, Setup  # noqa: E402
from core.security.kdf import KdfCost  # noqa: E402
from core.types.clock import SystemClock  # noqa: E402
from core.types.requests import RecallQuery  # noqa: E402
from core.types.values import OWNER_ACTOR  # noqa: E402

MODES = ("semantic", "keyword", "hybrid")


class Palace:
    """A vault in a temporary home, filled by the public JSONL import and asked through the public recall."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        keys = HomeKeys(Home(folder / "home"))
        keys.create("bench", SystemClock(), cost=KdfCost.lowest())
        self._engine = Engine(Setup(keys.home, SystemClock(), MiniLmEmbedder()))
        self._engine.unlock(keys.open("bench"))

    def load(self, conversation: Conversation) -> None:
        """Bring a conversation in as a space of its own."""
        path = self._folder / f"{conversation.name}.jsonl"
        with path.open("w", encoding="utf-8") as file:
            for turn in conversation.turns:
                row = {"text": turn.text, "author": turn.author, "ref": turn.ref, "session": turn.session}
                file.write(json.dumps({**row, "time": turn.at_ms}) + "\n")
        report = self._engine.imports.run(path, "jsonl", conversation.name, OWNER_ACTOR).result()
        if report.stored != len(conversation.turns):
            raise SystemExit(f"{report.stored} of {len(conversation.turns)} turns came in")

    def ask(self, space: str, query: str, limit: int, mode: str) -> list[str]:
        """The references of an answer, best first."""
        asked = RecallQuery(query=query, limit=limit, spaces=(space,), mode=mode)
        result = self._engine.memories.recall(asked, OWNER_ACTOR).result().result
        return [item.refs[0] for item in result.items if item.refs]

    def close(self) -> None:
        """End the engine."""
        self._engine.close()


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the bench."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dataset", type=Path)
    parser.add_argument("--limit", type=int, default=100, help="memories asked for; sessions are counted among them")
    parser.add_argument("--photos", action="store_true", help="put captions of photos behind the texts")
    parser.add_argument("--modes", default=",".join(MODES))
    chosen = parser.parse_args(arguments)
    conversations = read(chosen.dataset, photos=chosen.photos)
    with tempfile.TemporaryDirectory(prefix="loci-locomo-") as folder, closing(Palace(Path(folder))) as palace:
        began = time.perf_counter()
        for conversation in conversations:
            palace.load(conversation)
        turns = sum(len(conversation.turns) for conversation in conversations)
        print(f"{len(conversations)} conversations, {turns} turns, imported in {time.perf_counter() - began:.1f} s")
        for mode in chosen.modes.split(","):
            report(mode, palace, conversations, chosen.limit)


def report(mode: str, palace: Palace, conversations: Sequence[Conversation], limit: int) -> None:
    """Ask everything in one mode and print its table."""
    rows: list[tuple[int, float, float]] = []
    silent, times = 0, []
    for conversation in conversations:
        for question in conversation.questions:
            began = time.perf_counter()
            found = palace.ask(conversation.name, question.text, limit, mode)
            times.append((time.perf_counter() - began) * 1000)
            silent += not found
            rows.append(_measured(question, found))
    print(f"\n{mode}: {len(rows)} questions, {silent} unanswered, p50 {np.percentile(times, 50):.1f} ms, "
          f"p95 {np.percentile(times, 95):.1f} ms")  # fmt: skip
    print(f"  {'category':14} {'n':>4}  session@10  turn@10")
    for category, name in [*CATEGORIES.items(), (0, "all")]:
        part = [row for row in rows if category in (0, row[0])]
        if part:
            print(f"  {name:14} {len(part):>4}  {_mean(part, 1):9.2f}  {_mean(part, 2):8.2f}")


def _measured(question: Question, found: Sequence[str]) -> tuple[int, float, float]:
    return question.category, session_recall(found, question.evidence), turn_recall(found, question.evidence)


def _mean(rows: Sequence[tuple[int, float, float]], column: int) -> float:
    return 100.0 * float(np.mean([row[column] for row in rows]))


if __name__ == "__main__":
    main()
