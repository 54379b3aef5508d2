"""Session and turn recall@10 on LoCoMo conversations: python tests/bench/bench_locomo.py DATASET [--limit N].

Not a test: it prints tables and asserts nothing. Each conversation becomes a space of one vault; each question is asked
in that space, by meaning alone, by words alone, and by both.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "helpers"), str(ROOT / "tests" / "bench")]

from locomo import CATEGORIES, Conversation, Question, read, session_recall, turn_recall  # noqa: E402
from recall_rig import Note, Rig  # noqa: E402

from core.embed.minilm import MiniLmEmbedder  # noqa: E402

MODES = ("semantic", "keyword", "hybrid")


class Palace(Protocol):
    """What the bench needs; `DirectPalace` drives recall itself, the public commands can stand in."""

    def load(self, conversation: Conversation) -> None:
        """Bring a conversation in as a space of its own."""
        ...

    def ready(self) -> None:
        """Everything is in."""
        ...

    def ask(self, space: str, query: str, limit: int, mode: str) -> list[str]:
        """The references of an answer, best first."""
        ...


class DirectPalace:
    """Core parts on a throwaway vault in memory."""

    def __init__(self) -> None:
        self._rig = Rig(MiniLmEmbedder(threads=1))

    def load(self, conversation: Conversation) -> None:
        """Bring a conversation in."""
        self._rig.add(
            [
                Note(
                    text=turn.text,
                    space=conversation.name,
                    author=turn.author,
                    ref=turn.ref,
                    conversation=f"{conversation.name}/{turn.session}",
                    position=turn.position,
                    occurred_ms=turn.at_ms,
                )
                for turn in conversation.turns
            ]
        )

    def ready(self) -> None:
        """Warm the index."""
        self._rig.warm()

    def ask(self, space: str, query: str, limit: int, mode: str) -> list[str]:
        """Ask recall."""
        result = self._rig.ask(query, spaces=(space,), limit=limit, mode=mode)
        return [item.refs[0] for item in result.items if item.refs]


def main(arguments: Sequence[str] | None = None, make: Callable[[], Palace] = DirectPalace) -> None:
    """Run the bench."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dataset", type=Path)
    parser.add_argument("--limit", type=int, default=100, help="memories asked for; sessions are counted among them")
    parser.add_argument("--photos", action="store_true", help="put captions of photos behind the texts")
    parser.add_argument("--modes", default=",".join(MODES))
    chosen = parser.parse_args(arguments)
    palace, conversations = make(), read(chosen.dataset, photos=chosen.photos)
    began = time.perf_counter()
    for conversation in conversations:
        palace.load(conversation)
    palace.ready()
    turns = sum(len(conversation.turns) for conversation in conversations)
    print(f"{len(conversations)} conversations, {turns} turns, loaded in {time.perf_counter() - began:.1f} s")
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
