"""How often recall keeps silent, and how often it should: python tests/bench/bench_abstain.py NEGATIVES LOCOMO.

NEGATIVES holds a line of JSON with a `query` for each question that no ordinary vault answers; LOCOMO holds
conversations with answerable questions. The negatives are asked in each conversation's space and in all at once, in
vaults of 1, 10 and 100 memories, and in the sample vault, with the sample's own questions. Not a test: it prints a
table and asserts nothing.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "helpers"), str(ROOT / "tests" / "bench")]

from locomo import Conversation, read  # noqa: E402
from recall_rig import Note, Rig  # noqa: E402

from app.sample.sample import fill_sample, sample_engine  # noqa: E402
from core.embed.embedder import MiniLmEmbedder  # noqa: E402
from core.types.requests import RecallQuery  # noqa: E402
from core.types.values import OWNER_ACTOR  # noqa: E402

SMALL = (1, 10, 100)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the bench."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("negatives", type=Path)
    parser.add_argument("locomo", type=Path)
    chosen = parser.parse_args(arguments)
    negatives = [json.loads(line)["query"] for line in chosen.negatives.read_text("utf-8").splitlines() if line]
    conversations = read(chosen.locomo)
    embedder = MiniLmEmbedder(threads=1)
    rig = Rig(embedder)
    for conversation in conversations:
        rig.add(_notes(conversation))
    rig.warm()
    spaces: list[tuple[str, tuple[str, ...] | None]] = [(c.name, (c.name,)) for c in conversations]
    for name, space in [*spaces, ("all together", None)]:
        silent = sum(rig.ask(query, spaces=space).abstained for query in negatives)
        asked = [q.text for c in conversations if space in (None, (c.name,)) for q in c.questions]
        answered = sum(not rig.ask(query, spaces=space).abstained for query in asked)
        print(f"{name:14} silent {silent}/{len(negatives)}   answered {answered}/{len(asked)}")
    for size in SMALL:
        print(f"{size:>4} memories  silent {_small(embedder, conversations[0], size, negatives)}/{len(negatives)}")
    _sample(negatives)


def _sample(negatives: Sequence[str]) -> None:
    """The sample vault through the engine."""
    told = json.loads((ROOT / "resources" / "demo" / "queries.json").read_text("utf-8"))
    with sample_engine() as (engine, clock, _):
        fill_sample(engine, clock)

        def empty(query: str) -> bool:
            return engine.memories.recall(RecallQuery(query), OWNER_ACTOR).result().result.abstained

        silent = sum(empty(query) for query in negatives)
        own = [row["query"] for row in told["unanswerable"]]
        asked = [row["query"] for row in [*told["tour"], *told["answerable"]]]
        answered = sum(not empty(query) for query in asked)
        print(f"sample vault   silent {silent}/{len(negatives)}   answered {answered}/{len(asked)}")
        print(f"  of its own   silent {sum(map(empty, own))}/{len(own)}")


def _notes(conversation: Conversation) -> list[Note]:
    return [
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


def _small(embedder: MiniLmEmbedder, conversation: Conversation, size: int, negatives: Sequence[str]) -> int:
    rig = Rig(embedder)
    rig.add(_notes(conversation)[:size])
    rig.warm()
    return sum(rig.ask(query).abstained for query in negatives)


if __name__ == "__main__":
    main()
