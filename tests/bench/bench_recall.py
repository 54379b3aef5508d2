"""How long a recall takes, by its parts: python tests/bench/bench_recall.py --n 10000 [--home DIR], or --sizes.

Not a test: it prints a table and asserts nothing. The vault holds the synthetic texts of `loci bench`. It is asked
through the public facade, mostly in natural questions of 3 to 12 words, most of them common ones; some nothing can
answer. Each part is told without the parts inside it, in wall time and in processor time of its thread: on a busy
machine only the second compares. A part that the pipeline does not have any more is left out. The last line is a row of
a Markdown table; `--sizes` asks vaults of several sizes, each in a process of its own, and prints the table.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import secrets
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from app.bench.engine import Bench, BenchVault  # noqa: E402
from app.bench.machine import describe_machine, processor_s, read_system_load, resident_mb  # noqa: E402
from app.bench.measure import compute_percentiles  # noqa: E402
from app.bench.synthetic import SyntheticWriter, write_jsonl  # noqa: E402
from core.embed.embedder import MiniLmEmbedder  # noqa: E402
from core.index.flat import FlatIndex  # noqa: E402

_SEED = 1
_WARM_UP = 30
_ROUNDS = 3
_PAUSE_S = 1.3  # longer than the second in which receipts are written
_WORD = re.compile(r"[A-Za-z]+")
_FORMS = (
    "what did we say about the {a} and the {b}",
    "do you remember when {c} came with the {a}",
    "where did I put the {a} that {c} gave me",
    "was there anything new with the {a} in the {b} last month",
    "who told me that the {a} was not as {b} as before",
    "how many days did the work on the {a} take us in the end",
    "why is the {a} so late this time",
    "{a} {b} {c}",
    "tell me all about {c}",
    "when will the people with the {a} come back to look at the {b}",
    "is the {a} good",
    "what time did they say on the day of the {a}",
    "which of the two was better, the {a} or the {b}",
)
_STRANGE = (
    "quasar",
    "sextant",
    "marsupial",
    "tundra",
    "isotope",
    "sonnet",
    "glockenspiel",
    "papyrus",
    "fjord",
    "lichen",
)
_SIZES = (1_000, 10_000, 100_000)
_MILLION = 1_000_000
_NEAREST = 10
_SAME = 1e-6  # cosines nearer than this are a tie, and either of the two is right
_PARTS = (
    ("understanding", "core.recall.request", "read_question"),
    ("embedding", "core.embed.embedder", "MiniLmEmbedder.embed"),
    ("vectors", "core.index.manager", "IndexManager.search"),
    ("stored vectors", "core.index.manager", "IndexManager.fetch"),
    ("word lookups", "core.recall.lexical", "read_query_words"),
    ("BM25", "core.recall.lexical", "score_bm25"),
    ("covered list", "core.recall.lexical", "find_best_covered"),
    ("scope", "core.recall.predicate", "build_predicate"),
    ("scope", "core.recall.predicate", "wanted_labels"),
    ("reading rows", "core.recall.candidates", "_read_candidate_rows"),
    ("neighbours", "core.recall.vectors", "read_neighbours"),
    ("cosines", "core.recall.vectors", "window_cosines"),
    ("coverage", "core.recall.vectors", "query_coverage"),
    ("graph", "core.recall.candidates", "activate_neighbours"),
    ("time", "core.recall.candidates", "nearest_in_period"),
    ("sources", "core.recall.ranking", "find_representatives"),
    ("successors", "core.recall.ranking", "credit_successors"),
    ("ranking", "core.recall.ranking", "rank_candidates"),
    ("items", "core.recall.answer", "RecallAnswer.items"),
    ("near misses", "core.recall.answer", "RecallAnswer.near_misses"),
    ("trace", "core.recall.answer", "build_trace"),
    ("rest of the pipeline", "core.recall.pipeline", "Recall.run"),
    ("snapshot", "core.vault.vault", "Vault.read"),
    ("receipt", "core.engine.runtime.read_log", "ReadJournal.note"),
)
_GROUPS = {
    "embedding": ("embedding",),
    "vectors": ("vectors", "stored vectors"),
    "words": ("word lookups", "BM25", "covered list"),
    "scope and rows": ("scope", "reading rows"),
    "surroundings": ("neighbours", "cosines", "coverage"),
    "ties": ("graph", "time", "sources", "successors"),
    "order and answer": ("ranking", "items", "near misses", "trace"),
}
_HEAD = (
    "memories", "p50", "p95", "p99", "processor", *_GROUPS, "the rest", "answered", "recall@10 of the index",
    "resident MB",
)  # fmt: skip


class Parts:
    """Adds up what each part takes, without what is inside it."""

    def __init__(self) -> None:
        self._open = threading.local()
        self.took: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
        self.rows: list[dict[str, tuple[float, float]]] = []

    def put_in(self) -> list[str]:
        """Time every part that there is; tells which are not."""
        missing = []
        for part, module_name, name in _PARTS:
            owner: Any = sys.modules.get(module_name)
            *within, last = name.split(".")
            for one in within:
                owner = getattr(owner, one, None)
            if owner is None or not hasattr(owner, last):
                missing.append(name)
                continue
            real = getattr(owner, last)
            self._replace(owner, last, real, self._timed(part, real))
        return missing

    def _replace(self, owner: Any, name: str, real: Any, timed: Any) -> None:
        setattr(owner, name, timed)
        if isinstance(owner, ModuleType):
            for module in [one for key, one in sys.modules.items() if key.startswith("core.")]:
                if getattr(module, name, None) is real:
                    setattr(module, name, timed)

    def _timed(self, part: str, real: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(real)
        def run(*given: Any, **named: Any) -> Any:
            stack = self._stack()
            inside = [0.0, 0.0]
            stack.append(inside)
            begun = time.perf_counter(), time.thread_time()
            try:
                return real(*given, **named)
            finally:
                took = time.perf_counter() - begun[0], time.thread_time() - begun[1]
                stack.pop()
                for place in (0, 1):
                    self.took[part][place] += took[place] - inside[place]
                    if stack:
                        stack[-1][place] += took[place]

        return run

    def _stack(self) -> list[list[float]]:
        if not hasattr(self._open, "stack"):
            self._open.stack = []
        found: list[list[float]] = self._open.stack
        return found

    def close_row(self, total: float) -> None:
        """A question ends: what no part has is hops between threads."""
        row = {part: (wall * 1000, busy * 1000) for part, (wall, busy) in self.took.items()}
        row["hops between threads"] = (total - sum(wall for wall, _ in row.values()), 0.0)
        row["whole"] = (total, sum(busy for _, busy in row.values()))
        self.rows.append(row)
        self.took.clear()

    def table(self) -> list[str]:
        """p50, p95 and p99 of every part, the longest first."""
        names = {name for row in self.rows for name in row}
        lines = [f"{'part':24}{'p50':>8}{'p95':>8}{'p99':>8}   processor p50     p95"]
        for name in sorted(names, key=lambda one: -self._at(one, 0)["p50_ms"]):
            wall, busy = self._at(name, 0), self._at(name, 1)
            lines.append(
                f"{name:24}{wall['p50_ms']:8.2f}{wall['p95_ms']:8.2f}{wall['p99_ms']:8.2f}"
                f"{busy['p50_ms']:16.2f}{busy['p95_ms']:8.2f}"
            )
        return lines

    def cells(self) -> list[str]:
        """Wall time of each group of parts and of the rest, p50 / p95 in ms."""
        told = {part for parts in _GROUPS.values() for part in (*parts, "whole")}
        groups = [*_GROUPS.values(), tuple({name for row in self.rows for name in row} - told)]
        sums = [[sum(row.get(part, (0.0, 0.0))[0] for part in parts) for row in self.rows] for parts in groups]
        found = [compute_percentiles(values) for values in sums]
        return [f"{one['p50_ms']:.1f} / {one['p95_ms']:.1f}" for one in found]

    def _at(self, name: str, place: int) -> dict[str, float]:
        return compute_percentiles([row.get(name, (0.0, 0.0))[place] for row in self.rows])


def questions(count: int, messages: int) -> list[str]:
    """Natural questions of 3 to 12 words in the words of the texts; one in ten is about what no text has."""
    dice = random.Random(f"{_SEED}/natural")
    texts = [_WORD.findall(one.text) for one in SyntheticWriter(_SEED).write_messages(min(messages, 2000))]
    # Words that stand for things are long here; the templates bring the common ones.
    found = dict.fromkeys(SyntheticWriter(_SEED).write_questions(count // 4, messages))
    while len(found) < count:
        words = [word for word in dice.choice(texts) if len(word) > 4]
        if dice.random() < 0.1:
            words = list(_STRANGE)
        a, b, c = dice.sample(words, 3) if len(words) >= 3 else ("house", "garden", "people")
        found[dice.choice(_FORMS).format(a=a, b=b, c=c)] = None
    asked = list(found)
    dice.shuffle(asked)
    return asked


def fill(folder: Path, count: int) -> None:
    """Make a vault of synthetic messages in a folder, with its graph and its snapshot."""
    secret = folder / "secret"
    secret.touch(0o600)
    secret.write_text(secrets.token_urlsafe(24), encoding="ascii")
    bench = Bench.from_paths(str(folder / "home"), str(secret))
    bench.create_vault()
    file = folder / "messages.jsonl"
    write_jsonl(file, list(SyntheticWriter(_SEED).write_messages(count)))
    with bench.open_engine(bench.open_root()) as palace:
        palace.import_file(file)
        palace.wait_until_linked()


def ask(
    palace: BenchVault, asked: Sequence[str], parts: Parts | None, pause_s: float
) -> tuple[list[float], list[list[int]]]:
    """Ask all questions; gives the time of each in ms, and the labels of each answer."""
    times, answers, rest = [], [], threading.Event()
    for question in asked:
        if pause_s:
            rest.wait(pause_s)
        if parts is not None:
            parts.took.clear()
        begun = time.perf_counter()
        answers.append(palace.recall_labels(question))
        times.append((time.perf_counter() - begun) * 1000)
        if parts is not None:
            parts.close_row(times[-1])
    return times, answers


def index_recall(palace: BenchVault, asked: Sequence[str]) -> str:
    """Share of the exact ten nearest that the index in use finds for the questions; `exact` where it scans."""
    opened = palace._engine._slot.require_vault()
    index = opened.search.index.settled_index()
    if index is None or index.backend == "flat":
        return "exact" if index is not None else "not ready"
    exact, hits = FlatIndex(index.dims), 0
    exact.add(*index.fetch(index.labels()))
    for question in asked:
        vector = opened.search.embed([question]).result()[0]
        last = float(exact.search(vector, _NEAREST).cosines[-1])
        hits += int((index.search(vector, _NEAREST).cosines >= last - _SAME).sum())
    return f"{hits / (_NEAREST * len(asked)):.4f} ({index.backend})"


def measure(home: Path, secret: Path, arguments: argparse.Namespace) -> None:
    """Ask and print."""
    bench = Bench.from_paths(str(home), str(secret))
    asked = questions(arguments.questions, arguments.n)
    with bench.open_engine(bench.open_root()) as palace:
        palace.wait_until_loaded()
        palace.wait_until_linked()
        _, answers = ask(palace, asked, None, 0.0)  # also warms what is kept between questions
        busy, whole = processor_s(), []
        for _ in range(_ROUNDS):
            whole += ask(palace, asked, None, 0.0)[0]
        busy = (processor_s() - busy) / len(whole) * 1000
        alone = ask(palace, asked[: arguments.pauses], None, _PAUSE_S)[0]
        parts = Parts()
        missing = parts.put_in()
        for _ in range(_ROUNDS):
            ask(palace, asked, parts, 0.0)
        apart = Parts()
        if arguments.pauses:
            apart.put_in()
            ask(palace, asked[: arguments.pauses], apart, _PAUSE_S)
        print(
            f"{arguments.n:,} memories, {len(asked)} questions {_ROUNDS} times; {describe_machine()}; "
            f"load after {read_system_load()}"
        )
        print(f"answered {sum(map(bool, answers))} of {len(answers)}; resident {resident_mb()} MB")
        print(f"whole, untimed parts: {compute_percentiles(whole)}; processor {busy:.2f} ms, all threads")
        if alone:
            print(f"after a pause, in which receipts were written: {compute_percentiles(alone)}")
        print(*parts.table(), sep="\n")
        if apart.rows:
            print("after a pause:", *apart.table(), sep="\n")
        if missing:
            print("not there:", *missing)
        held = resident_mb()
        row = [f"{arguments.n:,}", *(f"{value:.1f}" for value in compute_percentiles(whole).values()), f"{busy:.1f}"]
        row += [*parts.cells(), f"{sum(map(bool, answers))} of {len(answers)}", index_recall(palace, asked), f"{held}"]
    if arguments.answers:
        _compare(arguments.answers, asked, answers)
    print(_markdown(row))


def _markdown(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def compare_sizes(sizes: Sequence[int], arguments: argparse.Namespace) -> None:
    """Ask a vault of each size, each in a process of its own, and print the rows as one table."""
    rows = []
    for size in sizes:
        command = [sys.executable, str(Path(__file__).resolve()), "--n", str(size)]
        command += ["--questions", str(arguments.questions), "--pauses", str(arguments.pauses)]
        if arguments.home:
            command += ["--home", str(arguments.home / str(size))]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        print(done.stdout, flush=True)
        rows.append(done.stdout.splitlines()[-1])
    print("times in ms; a group of parts as p50 / p95 of wall time", _markdown(_HEAD), sep="\n\n")
    print(_markdown(["---"] * len(_HEAD)), *rows, sep="\n")


def _compare(file: Path, asked: Sequence[str], answers: Sequence[Sequence[int]]) -> None:
    """Keep the answers, or tell how many differ from those that are kept."""
    now = dict(zip(asked, map(list, answers), strict=True))
    if not file.exists():
        file.write_text(json.dumps(now), encoding="utf-8")
        return
    before = json.loads(file.read_text(encoding="utf-8"))
    other = [question for question in asked if before.get(question) != now[question]]
    print(f"answers that differ from {file.name}: {len(other)} of {len(asked)}", *other[:5], sep="\n  ")


def main() -> None:
    """Fill, ask and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=10_000)
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--pauses", type=int, default=0, help="questions that are also asked alone, after a pause")
    parser.add_argument("--home", type=Path, help="a folder that is kept; filled if it is empty, never changed after")
    parser.add_argument("--sizes", nargs="?", const=",".join(map(str, _SIZES)), help="several sizes, by commas")
    parser.add_argument("--million", action="store_true", help="a million as well; takes hours to fill")
    parser.add_argument("--answers", type=Path, help="keeps the answers there, or compares with what is kept")
    arguments = parser.parse_args()
    if arguments.sizes or arguments.million:
        sizes = [int(size) for size in (arguments.sizes or ",".join(map(str, _SIZES))).split(",")]
        compare_sizes(sizes + [_MILLION] * arguments.million, arguments)
        return
    MiniLmEmbedder()  # its module must be there before its parts are timed
    with tempfile.TemporaryDirectory(prefix="loci-recall-") as temporary:
        folder = arguments.home or Path(temporary) / "kept"
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / "secret").exists():
            fill(folder, arguments.n)
        # Asking leaves receipts and counts behind: a copy is asked, so that each run finds the same vault.
        copy = Path(temporary) / "home"
        shutil.copytree(folder / "home", copy)
        measure(copy, folder / "secret", arguments)


if __name__ == "__main__":
    main()
