"""Stories of changing facts, told in order through the public engine; asks what stands in the end.

    nice .venv/bin/python tests/bench/bench_stories.py FOLDER [--errors] [--limit N]

FOLDER holds `stale-dev.jsonl` (or `--name F`): each line is a story of memories in time order, a question, a text that
the active answer must include and one that it must not. The clock stands at each memory's time, and a day after the
last one for the question. Told counts: stories right; stories in which a document, a tool or an
inference displaced what the person had said (must be 0).
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "helpers")]

from engine_rig import HandClock, Rig, rig_at  # noqa: E402

from core.belief.relate.relation_model import RelationModel  # noqa: E402
from core.engine.facade import built_in_embedder, built_in_readers  # noqa: E402
from core.types.values import Source, When  # noqa: E402

_DAY = 86_400_000
_PERSON = ("user_explicit", "user_implicit")


def ms(text: str) -> int:
    """Epoch ms of an ISO time without a zone, taken as UTC."""
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)


def tell(rig: Rig, clock: HandClock, story: Mapping[str, Any]) -> list[tuple[str, str, Any]]:
    """Tell one story, each memory at its time.

    Returns:
        Source, id and reply of each memory.
    """
    told = []
    for memory in story["memories"]:
        clock.at_ms = ms(memory["time"])
        reply = rig.store(memory["text"], source=Source(memory["source"]), occurred=When(clock.at_ms))
        told.append((memory["source"], reply.memory_id, reply))
    return told


def displaced(rig: Rig, told: list[tuple[str, str, Any]]) -> bool:
    """Whether something that is not the person's took the place of what the person said."""
    # A memory that several told is the person's as soon as the person told it too.
    persons = {memory_id for source, memory_id, _ in told if source in _PERSON}
    for memory_id in persons:
        memory = rig.get(memory_id)
        if memory.status.value in ("superseded", "quarantined", "disputed", "archived"):
            by = memory.superseded_by_id
            if by is None or (by not in persons and by in {one for _, one, _ in told}):
                return True
    return False


def main() -> None:
    """Run all stories and print the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--name", default="stale-dev.jsonl")
    parser.add_argument("--errors", action="store_true")
    parser.add_argument("--model", type=Path, help="folder of another relation model")
    parser.add_argument("--limit", type=int, default=10)
    parser.add_argument("--skip", type=int, default=0, help="stories at the beginning that are left out")
    arguments = parser.parse_args()
    stories = [json.loads(line) for line in (arguments.folder / arguments.name).read_text("utf-8").splitlines()]
    stories = stories[arguments.skip :]
    counts: Counter[str] = Counter()
    embedder, readers = built_in_embedder(), built_in_readers()
    if arguments.model is not None:
        readers = replace(readers, relate=RelationModel(arguments.model))
    for story in stories:
        clock = HandClock(ms(story["memories"][0]["time"]))
        with (
            tempfile.TemporaryDirectory() as folder,
            rig_at(Path(folder), clock=clock, embedder=embedder, readers=readers) as rig,
        ):
            told = tell(rig, clock, story)
            clock.at_ms += _DAY
            counts["displaced"] += displaced(rig, told)
            texts = [text.casefold() for text in rig.found(story["query"], limit=arguments.limit)]
            has = any(story["must_include"].casefold() in text for text in texts)
            stale = any(story["must_not_include"].casefold() in text for text in texts)
            counts["right" if has and not stale else "wrong"] += 1
            counts["missing"] += not has
            counts["stale"] += stale
            if arguments.errors and (not has or stale):
                report(rig, story, told, has=has, stale=stale)
    print({**counts, "stories": len(stories), "share": round(counts["right"] / len(stories), 3)})


def report(rig: Rig, story: Mapping[str, Any], told: list[tuple[str, str, Any]], *, has: bool, stale: bool) -> None:
    """Print what became of a story that went wrong."""
    print(f"\n{story['id']}: {'' if has else 'missing '}{'stale' if stale else ''}  ? {story['query']}")
    for source, memory_id, reply in told:
        memory = rig.get(memory_id)
        kind = f"{reply.operation}/{reply.classification.label}/{reply.classification.confidence}"
        print(f"   [{memory.status.value:11}] {source:13} {kind:28} {memory.text[:90]!r}")


if __name__ == "__main__":
    main()
