"""What the rooms of an import are called: python tests/bench/bench_rooms.py FILE... [--texts N].

FILE is anything that can be imported, or LoCoMo's file, of which each conversation becomes a vault of its own; the
sample palace as it stands if none is given. Files are imported together into a new vault, statements are
made, everything is arranged, and each room is printed with its size, the share of its memories that speak of its name
and some of its texts: whether the name is right for them is for a person to say. Asserts nothing.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "helpers"), str(ROOT / "tests" / "bench")]

from engine_rig import START_MS, HandClock, rig_at  # noqa: E402 - found by the path above
from locomo import read  # noqa: E402

from app.sample.sample import fill_sample, sample_engine  # noqa: E402
from core.engine.facade import Engine, built_in_embedder, built_in_readers  # noqa: E402
from core.lifecycle.job_support.job_context import TalkReader  # noqa: E402
from core.lifecycle.palace.clarity import theme_of  # noqa: E402
from core.talk.reader_model import ReaderModel  # noqa: E402
from core.talk.statements import distill_conversation  # noqa: E402
from core.text.noun_phrases import stem_of  # noqa: E402
from core.text.room_names import is_named_by_time  # noqa: E402
from core.types.values import OWNER_ACTOR  # noqa: E402

_WAIT_S = 3_600
_WORD = re.compile(r"[^\W_]+")
_LINE = 140


def write_conversations(path: Path, folder: Path) -> Iterator[tuple[str, list[Path]]]:
    """Each of LoCoMo's conversations as an import file, with its name."""
    for talk in read(path):
        made = folder / f"{talk.name}.jsonl"
        with made.open("w", encoding="utf-8") as file:
            for turn in talk.turns:
                row = {"text": turn.text, "author": turn.author, "ref": turn.ref, "session": turn.session}
                file.write(json.dumps({**row, "time": turn.at_ms}) + "\n")
        yield talk.name, [made]


def print_rooms(engine: Engine, texts: int) -> None:
    """Each room of each wing."""
    palace = engine.palace
    for wing in palace.read_plan().result(_WAIT_S).wings:
        total = sum(room.count for room in wing.rooms)
        by_time = sum(room.count for room in wing.rooms if is_named_by_time(room.name))
        print(
            f"wing {wing.space}: {len(wing.rooms)} rooms, {by_time / max(1, total):.0%} in rooms called by their time"
        )
        for room in sorted(wing.rooms, key=lambda one: -one.count):
            loci = palace.read_loci(room.id).result(_WAIT_S)
            said = [engine.memories.get(locus, OWNER_ACTOR).result(_WAIT_S).text for locus in loci.ids]
            theme = theme_of(room.name)
            about = sum(any(stem_of(word) in theme for word in _WORD.findall(text)) for text in said)
            print(f"  {room.name}: {len(said)}, {about / max(1, len(said)):.0%} speak of it")
            for text in said[:: max(1, len(said) // texts)][:texts] if texts else ():
                print("      ", " / ".join(text.split("\n"))[:_LINE])


def measure(name: str, files: Sequence[Path], texts: int) -> None:
    """Import, distil, arrange, print."""
    reader = ReaderModel()
    talk = TalkReader("bench", partial(distill_conversation, read=reader.read), reader.rest)
    with (
        tempfile.TemporaryDirectory() as folder,
        rig_at(
            Path(folder),
            clock=HandClock(START_MS),
            embedder=built_in_embedder(),
            readers=built_in_readers(),
            talk=talk,
        ) as rig,
    ):
        for path in files:
            report = rig.engine.imports.run(path, None, None, OWNER_ACTOR).result(_WAIT_S)
            rig.settle()
            rig.engine.statements.run(report.import_id).result(_WAIT_S)
            rig.settle()
        began = time.process_time()
        placed = rig.engine.palace.place_waiting().result(_WAIT_S)
        print(f"{name}: {placed} memories arranged in {time.process_time() - began:.1f} s of processor time")
        print_rooms(rig.engine, texts)


def main() -> None:
    """Run the bench."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", type=Path, nargs="*")
    parser.add_argument("--texts", type=int, default=5, help="texts shown of each room")
    chosen = parser.parse_args()
    talks = [path for path in chosen.files if path.name.startswith("locomo")]
    others = [path for path in chosen.files if path not in talks]
    with tempfile.TemporaryDirectory() as folder:
        for path in talks:
            for name, files in write_conversations(path, Path(folder)):
                measure(name, files, chosen.texts)
    if others:
        measure("import", others, chosen.texts)
    if not chosen.files:
        with sample_engine() as (engine, clock, _):
            fill_sample(engine, clock)
            print_rooms(engine, chosen.texts)


if __name__ == "__main__":
    main()
