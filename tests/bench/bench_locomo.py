"""How well recall finds evidence in labelled conversations: python tests/bench/bench_locomo.py DATASET [--ablation].

DATASET is the file of LoCoMo's conversations, or `tests/bench/heldout/conversations`. Not a test: it prints tables and
asserts nothing. Each conversation becomes a space of one vault; each question is asked in that space: by looking for
words as grep does, by words alone, by meaning alone, and by both. Every way asks a copy of the vault as it was filled,
because a recall counts what it returns. Figures are percent. `--ablation` prints what each stage is worth instead; in a
space of some hundred turns nearly all are candidates, so what brings candidates shows with `--limit 20` only.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "helpers"), str(ROOT / "tests" / "bench")]

from ablation import DEFAULT, VARIANTS  # noqa: E402
from baseline import grepped  # noqa: E402
from conversations import read_ours  # noqa: E402
from locomo import Conversation, Question, read  # noqa: E402
from measures import binary_ndcg, reciprocal_rank, session_recall, turn_recall  # noqa: E402

from app.bench.machine import describe_machine, read_system_load  # noqa: E402
from core.embed.embedder import MiniLmEmbedder  # noqa: E402
from core.engine.facade import Engine, Home, HomeKeys, RootKey, Setup, create_vault  # noqa: E402
from core.engine.recall.recall_runner import run_recall  # noqa: E402
from core.engine.runtime.search import Embedded  # noqa: E402
from core.recall.request import RecallRequest  # noqa: E402
from core.recall.scope import OWNER_SCOPE  # noqa: E402
from core.score.profile import Profile  # noqa: E402
from core.security.passphrase import KdfCost  # noqa: E402
from core.types.clock import SystemClock  # noqa: E402
from core.types.lifecycle import JobState, JobType  # noqa: E402
from core.types.requests import RecallQuery  # noqa: E402
from core.types.values import OWNER_ACTOR  # noqa: E402

GREP = "grep"
MODES = {GREP: GREP, "lexical": "keyword", "vector": "semantic", "hybrid": "hybrid"}
CUTS = (5, 10, 20)
COLUMNS = (*(f"session@{k}" for k in CUTS), *(f"turn@{k}" for k in CUTS), "MRR", "NDCG@10")
SESSION_10, TURN_10, MRR = COLUMNS.index("session@10"), COLUMNS.index("turn@10"), COLUMNS.index("MRR")
_POLL_S = 0.2

Ask = Callable[[Conversation, str], list[str]]
Asked = Sequence[tuple[Conversation, Question]]


@dataclass(frozen=True)
class Result:
    """One question asked one way: its figures, 0 to 100 each (none without evidence), and how long it took."""

    question: Question
    figures: tuple[float, ...]
    is_silent: bool
    took_ms: float


class Palace:
    """An open vault in a temporary home: filled by the public JSONL import, asked through the public recall."""

    def __init__(self, engine: Engine, limit: int) -> None:
        self._engine = engine
        self._limit = limit
        self._embedded: dict[str, Embedded] = {}

    def load(self, conversation: Conversation, folder: Path) -> None:
        """Bring a conversation in as a space of its own."""
        path = folder / f"{conversation.name}.jsonl"
        with path.open("w", encoding="utf-8") as file:
            for turn in conversation.turns:
                row = {"text": turn.text, "author": turn.author, "ref": turn.ref, "session": turn.session}
                file.write(json.dumps({**row, "time": turn.at_ms}) + "\n")
        report = self._engine.imports.run(path, "jsonl", conversation.name, OWNER_ACTOR).result()
        if report.stored != len(conversation.turns):
            raise SystemExit(f"{report.stored} of {len(conversation.turns)} turns came in")

    def distill(self) -> None:
        """Read names, and make statements of what was said."""
        for job in (JobType.ENRICH, JobType.DISTILL, JobType.ENRICH):
            if self._engine.jobs.run(job).result().state is not JobState.DONE:
                raise SystemExit(f"{job.value} did not end")

    def wait(self) -> None:
        """Wait until the index holds every vector, and its graph too."""
        pause = threading.Event()
        while (found := dict(self._engine.vault.read_status().result().values["index"]))["state"] != "ready" or found[
            "waiting_for_graph"
        ]:
            pause.wait(_POLL_S)

    def ask(self, space: str, query: str, mode: str) -> list[str]:
        """The references of an answer, best first."""
        asked = RecallQuery(query=query, limit=self._limit, spaces=(space,), mode=mode)
        result = self._engine.memories.recall(asked, OWNER_ACTOR).result().result
        return [item.refs[0] for item in result.items if item.refs]

    def under(self, profile: Profile) -> Ask:
        """Asks under other weights, without a trace: no receipt, nothing counted; as the laboratory asks."""
        opened = self._engine._slot.require_vault()

        def ask(conversation: Conversation, query: str) -> list[str]:
            request = RecallRequest(query=query, scope=OWNER_SCOPE, limit=self._limit, spaces=(conversation.name,))
            if query not in self._embedded:
                self._embedded[query] = opened.search.embed_texts([request.embed_text]).result()
            meant, now = self._embedded[query], opened.storage.clock.now_ms()
            result = opened.storage.vault.read(
                lambda rows: run_recall(opened.search, rows, request, meant, now, profile)
            )
            return [item.refs[0] for item in result.items if item.refs]

        return ask


class Filled:
    """A home with every conversation in it; copies of it are asked."""

    def __init__(self, folder: Path, limit: int) -> None:
        self._folder = folder
        self._limit = limit
        self._embedder = MiniLmEmbedder()
        keys = HomeKeys(Home(folder / "filled"))
        create_vault(keys, "bench", SystemClock(), cost=KdfCost.lowest())
        self._root = keys.open("bench")

    def fill(self, conversations: Sequence[Conversation], *, distills: bool) -> None:
        """Import all, and make statements of it where that is wished."""
        with self._opened(self._folder / "filled", self._root) as palace:
            for conversation in conversations:
                palace.load(conversation, self._folder)
            if distills:
                palace.distill()

    @contextmanager
    def copy(self, name: str) -> Iterator[Palace]:
        """A copy, opened and removed again."""
        home = self._folder / name
        shutil.copytree(self._folder / "filled", home)
        with self._opened(home, HomeKeys(Home(home)).open("bench")) as palace:
            yield palace
        shutil.rmtree(home)

    @contextmanager
    def _opened(self, home: Path, root: RootKey) -> Iterator[Palace]:
        engine = Engine(Setup(Home(home), SystemClock(), self._embedder))
        try:
            engine.unlock(root)
            palace = Palace(engine, self._limit)
            palace.wait()
            yield palace
            palace.wait()
        finally:
            engine.close()


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the bench."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dataset", type=Path)
    parser.add_argument("--limit", type=int, default=100, help="memories asked for; sessions are counted among them")
    parser.add_argument("--photos", action="store_true", help="put captions of photos behind the texts")
    parser.add_argument("--distill", action="store_true", help="make statements of the conversations before asking")
    parser.add_argument("--modes", default=",".join(MODES), help=f"some of {', '.join(MODES)}")
    parser.add_argument("--ablation", action="store_true", help="hybrid search with one stage off at a time")
    parser.add_argument("--variants", default="", help="only the ablations whose names hold one of these, by commas")
    parser.add_argument("--conversations", type=int, help="only the first so many, for a quick try")
    parser.add_argument("--questions", type=int, help="only the first so many of each, for a quick try")
    chosen = parser.parse_args(arguments)
    if unknown := set(chosen.modes.split(",")) - set(MODES):
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    found = read_ours(chosen.dataset) if chosen.dataset.is_dir() else read(chosen.dataset, photos=chosen.photos)
    conversations = found[: chosen.conversations]
    asked = [(one, question) for one in conversations for question in one.questions[: chosen.questions]]
    words = [word for word in chosen.variants.split(",") if word]
    variants = [name for name in VARIANTS if not words or any(word in name for word in words)]
    if not variants:
        parser.error(f"no variant is called so; there are: {', '.join(VARIANTS)}")
    if not any(question.evidence for _, question in asked):
        parser.error("no question of the data set has evidence")
    with tempfile.TemporaryDirectory(prefix="loci-locomo-") as folder:
        filled = Filled(Path(folder), chosen.limit)
        began = time.perf_counter()
        filled.fill(conversations, distills=chosen.distill)
        turns = sum(len(conversation.turns) for conversation in conversations)
        print(f"{len(conversations)} conversations, {turns} turns, imported in {time.perf_counter() - began:.1f} s")
        print(f"limit {chosen.limit}; {describe_machine()}")
        if chosen.ablation:
            ablation(filled, asked, variants)
        else:
            for mode in chosen.modes.split(","):
                report(mode, filled, asked, chosen.limit)
    print(f"\nload after {read_system_load()}")


def report(name: str, filled: Filled, asked: Asked, limit: int) -> None:
    """Ask everything one way and print its table."""
    if name == GREP:
        results = run(asked, lambda conversation, query: grepped(conversation.turns, query, limit))
    else:
        with filled.copy(name) as palace:
            palace.ask(asked[0][0].name, asked[0][1].text, MODES[name])  # the first one loads what all others use
            results = run(asked, lambda conversation, query: palace.ask(conversation.name, query, MODES[name]))
    answerable = [result for result in results if result.question.evidence]
    silence = _silence(results)
    nowhere = f"; of those without, {silence} stay unanswered" if silence else ""
    print(f"\n{name}: {len(answerable)} questions with evidence{nowhere}")
    print(f"  {'category':14}{'n':>5}" + "".join(f"{column:>12}" for column in COLUMNS)
          + f"{'unanswered':>12}{'p50 ms':>8}{'p95 ms':>8}")  # fmt: skip
    for category in [*sorted({result.question.category for result in answerable}), "all"]:
        part = [result for result in answerable if category in ("all", result.question.category)]
        if part:
            print(f"  {category:14}{len(part):>5}{_row(part)}")


def run(asked: Asked, ask: Ask) -> list[Result]:
    """Ask everything one way.

    Args:
        asked: conversations and questions on them.
        ask: gives references, best first.

    Returns:
        A result each.
    """
    results = []
    for conversation, question in asked:
        began = time.perf_counter()
        found = ask(conversation, question.text)
        took_ms = (time.perf_counter() - began) * 1000
        results.append(Result(question, _figures(found, question.evidence), not found, took_ms))
    return results


def _figures(found: Sequence[str], evidence: Sequence[str]) -> tuple[float, ...]:
    if not evidence:
        return ()
    sessions = (session_recall(found, evidence, k) for k in CUTS)
    turns = (turn_recall(found, evidence, k) for k in CUTS)
    all_of_them = (*sessions, *turns, reciprocal_rank(found, evidence), binary_ndcg(found, evidence))
    return tuple(100.0 * figure for figure in all_of_them)


def _row(results: Sequence[Result]) -> str:
    took = [result.took_ms for result in results]
    figures = "".join(f"{figure:12.1f}" for figure in _means(results))
    silent = sum(result.is_silent for result in results)
    return f"{figures}{silent:>12}{np.percentile(took, 50):8.1f}{np.percentile(took, 95):8.1f}"


def _means(results: Sequence[Result]) -> list[float]:
    return [float(np.mean(column)) for column in zip(*(result.figures for result in results), strict=True)]


def _silence(results: Sequence[Result]) -> str:
    nowhere = [result for result in results if not result.question.evidence]
    silent = sum(result.is_silent for result in nowhere)
    return f"{silent} of {len(nowhere)}" if nowhere else ""


def ablation(filled: Filled, asked: Asked, names: Sequence[str]) -> None:
    """Ask everything with one stage off at a time, and print a line each with the difference to the default."""
    print(f"\n  {'hybrid':44}{'session@10':>18}{'turn@10':>18}{'MRR':>18}{'unanswered':>12}  without evidence")
    usual: list[float] = []
    with filled.copy("ablation") as palace:
        for name in (DEFAULT, *(name for name in names if name != DEFAULT)):
            results = run(asked, palace.under(VARIANTS[name]))
            answerable = [result for result in results if result.question.evidence]
            means = _means(answerable)
            usual = usual or means
            cells = "".join(f"{means[at]:10.1f} ({means[at] - usual[at]:+5.1f})" for at in (SESSION_10, TURN_10, MRR))
            silent = sum(result.is_silent for result in answerable)
            print(f"  {name:44}{cells}{silent:>12}  {_silence(results)}", flush=True)


if __name__ == "__main__":
    main()
