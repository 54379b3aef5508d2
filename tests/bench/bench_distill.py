"""What distilling costs beside an import, in processor time: python tests/bench/bench_distill.py FILE [--profile FILE].

FILE is an import file of JSON Lines, or LoCoMo's file, whose first conversation is taken (`--conversations` takes
more). It is imported into a new vault with the built-in embedder and readers and waited for; then statements are made.
One reader model serves both, as in the engine. Processor time is that of the whole process, so that a machine at work
beside it does not count. Reading is the model's, telling the rest of `core.talk`, writing what the run does besides.
Asserts nothing.
"""

from __future__ import annotations

import argparse
import cProfile
import gc
import json
import pstats
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "helpers"), str(ROOT / "tests" / "bench")]

from engine_rig import START_MS, HandClock, Rig, rig_at  # noqa: E402 - found by the path above
from locomo import read  # noqa: E402

from core.engine.facade import built_in_embedder, built_in_readers  # noqa: E402
from core.lifecycle.job_support.job_context import TalkReader  # noqa: E402
from core.talk.reader_model import ReaderModel  # noqa: E402
from core.talk.statements import distill_conversation  # noqa: E402
from core.types.belief import ComparedText  # noqa: E402
from core.types.talk import ConversationStatements, Reading, SentenceInContext, Turn  # noqa: E402
from core.types.values import OWNER_ACTOR  # noqa: E402

_WAIT_S = 3_600


@dataclass
class TimedReader:
    """The built-in reader with a clock: processor seconds of the thread that reads, and what it was given."""

    model: ReaderModel = field(default_factory=ReaderModel)
    read_s: float = 0.0
    whole_s: float = 0.0
    sentences: int = 0

    def read(self, said: Sequence[SentenceInContext]) -> Sequence[Reading]:
        """Read sentences."""
        self.sentences += len(said)
        began = time.thread_time()
        found = self.model.read(said)
        self.read_s += time.thread_time() - began
        return found

    def distill(self, turns: Sequence[Turn], profile: cProfile.Profile | None = None) -> ConversationStatements:
        """Make statements; both times count it."""
        began = time.thread_time()
        if profile:
            profile.enable()
        found = distill_conversation(turns, self.read)
        if profile:
            profile.disable()
        self.whole_s += time.thread_time() - began
        return found


def write_rows(path: Path, folder: Path, conversations: int) -> Path:
    """The import file: `path` itself, or LoCoMo's conversations as one."""
    if path.suffix != ".json":
        return path
    made = folder / "talk.jsonl"
    with made.open("w", encoding="utf-8") as file:
        for talk in read(path)[:conversations]:
            for turn in talk.turns:
                session = f"{talk.name}:{turn.session}"
                row = {"text": turn.text, "author": turn.author, "ref": turn.ref, "session": session}
                file.write(json.dumps({**row, "time": turn.at_ms}) + "\n")
    return made


def measure(rig: Rig, path: Path, reader: TimedReader, evidence: frozenset[tuple[str, str]]) -> None:
    """Import, distil, print."""
    began, start = time.process_time(), time.monotonic()
    report = rig.engine.imports.run(path, None, None, OWNER_ACTOR).result(_WAIT_S)
    rig.settle()
    imported, first = time.process_time() - began, time.monotonic() - start
    began, start = time.process_time(), time.monotonic()
    done = rig.engine.statements.run(report.import_id).result(_WAIT_S)
    rig.settle()
    distilled, then = time.process_time() - began, time.monotonic() - start
    print(f"turns {report.stored}, sentences read {reader.sentences}, statements {len(done.statements)}")
    print(f"small talk {len(done.small_talk)}; skipped {dict(done.skipped)}")
    print(f"import alone {imported:.1f} s, distilling {distilled:.1f} s of processor time")
    told = reader.whole_s - reader.read_s
    print(f"  reading {reader.read_s:.1f} s, telling {told:.1f} s, writing {distilled - reader.whole_s:.1f} s")
    ratios = (imported + distilled) / imported, (first + then) / first
    print(f"with distilling against without: {ratios[0]:.2f} (bar 1.6)")
    print(f"by the clock: import alone {first:.1f} s, distilling {then:.1f} s: {ratios[1]:.2f}")
    print_kept(rig, frozenset(done.small_talk), evidence)


def list_evidence(path: Path, conversations: int) -> frozenset[tuple[str, str]]:
    """LoCoMo's turns that answer a question: conversation and reference; none of another file."""
    if path.suffix != ".json":
        return frozenset()
    return frozenset(
        (talk.name, ref) for talk in read(path)[:conversations] for one in talk.questions for ref in one.evidence
    )


def print_kept(rig: Rig, small: frozenset[str], evidence: frozenset[tuple[str, str]]) -> None:
    """Print how much is marked small talk, and how many of the turns that answer a question are not."""
    turns = {
        str(memory_id): (str(session).partition(":")[0], str(ref))
        for memory_id, session, ref in rig.rows("SELECT id, session, ref FROM memories WHERE kind = 'episode'")
    }
    answers = [memory_id for memory_id, turn in turns.items() if turn in evidence]
    print(f"small talk: {len(small) / max(1, len(turns)):.3f} of the turns (bar 0.40)")
    if answers:
        kept = sum(memory_id not in small for memory_id in answers) / len(answers)
        print(f"kept of {len(answers)} turns that answer a question: {kept:.3f} (bar 0.90)")


def main() -> None:
    """Run the bench."""
    gc.freeze()  # as a command does when its modules are loaded, and before models and a vault are
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--conversations", type=int, default=1)
    parser.add_argument("--profile", action="store_true", help="show where reading and telling spend their time")
    chosen = parser.parse_args()
    reader, profile = TimedReader(), cProfile.Profile() if chosen.profile else None
    embedder, readers = built_in_embedder(), built_in_readers()
    readers = replace(readers, read_sentence=lambda text: reader.model.read_closely([SentenceInContext(text, ())])[0])
    readers.extract("I live in Graz.")
    if readers.relate is not None:
        readers.relate.classify([(ComparedText("Mara lives in Graz."), ComparedText("Mara has two cats."))])
    embedder.embed(["A first text, so that no load counts."])
    reader.model.read([SentenceInContext("A first sentence.", ())])
    talk = TalkReader("bench", partial(reader.distill, profile=profile), reader.model.rest)
    with (
        tempfile.TemporaryDirectory() as folder,
        rig_at(Path(folder), clock=HandClock(START_MS), embedder=embedder, readers=readers, talk=talk) as rig,
    ):
        evidence = list_evidence(chosen.file, chosen.conversations)
        measure(rig, write_rows(chosen.file, Path(folder), chosen.conversations), reader, evidence)
    if profile:
        pstats.Stats(profile).sort_stats("tottime").print_stats(30)


if __name__ == "__main__":
    main()
