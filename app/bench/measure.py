"""The measurements, in their order, on one vault in a temporary home, and their figures as a table.

Must not do: judge a figure; the bars are in the design, and a busy machine breaks them.
"""

from __future__ import annotations

import json
import secrets
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from app.bench.engine import Bench, BenchVault
from app.bench.machine import describe_machine, processor_s, read_system_load, resident_mb
from app.bench.synthetic import SyntheticMessage, SyntheticWriter, write_jsonl
from app.cli.output import Output

_MB = 1e6
QUERIES = 240
_WARM_UP = 20
_COLD_QUERIES = 50
_ALONE = 20
_PAUSE_S = 1.3  # longer than the second in which receipts are written
_STORES = 100
_SAMPLE = 4000
_PORTION = 125

Report = Callable[[str], None]


def run_bench(count: int, report: Report, *, seed: int = 1) -> dict[str, Any]:
    """Measure a vault of some size.

    Args:
        count: messages to import, at least 1.
        report: says what is under way.
        seed: names the synthetic texts.

    Returns:
        `{n, machine, import, store, recall, cold, rebuilt, memory, index, files}`; see `app.bench.measure` for the
        units.
    """
    with tempfile.TemporaryDirectory(prefix="loci-bench-") as folder:
        place = Path(folder)
        secret = place / "secret"
        secret.touch(0o600)
        secret.write_text(secrets.token_urlsafe(24), encoding="ascii")
        bench = Bench.from_paths(str(place / "home"), str(secret))
        bench.create_vault()
        return _Run(bench, place, count, seed, report).measure_all()


class _Run:
    def __init__(self, bench: Bench, folder: Path, count: int, seed: int, report: Report) -> None:
        self._bench, self._folder, self._count, self._report = bench, folder, count, report
        self._clock = bench.clock
        self._writer = SyntheticWriter(seed)
        self._stores = min(_STORES, max(10, count // 10))
        # One series: what is stored singly comes after what is imported, so no text is stored twice.
        self._messages = list(self._writer.write_messages(count + self._stores))

    def measure_all(self) -> dict[str, Any]:
        found: dict[str, Any] = {"n": self._count, "machine": describe_machine()}
        with self._bench.open_engine(self._bench.open_root()) as palace:
            found["import"] = self._measure_import(palace, self._messages[: self._count])
            found["store"] = self._measure_stores(palace, self._messages[self._count :])
            found["recall"] = self._measure_recall(palace)
            self._report("closing")
            found["memory_mb_at_the_end"] = resident_mb()
        found["files"] = self._measure_files()
        found["cold"] = self._measure_cold_start("a cold start with the snapshot")
        self._bench.app_context.home.snapshot.unlink(missing_ok=True)
        found["rebuilt"] = self._measure_cold_start("a cold start without it")
        found["machine"]["load_at_the_end"] = read_system_load()
        return found

    def _measure_import(self, palace: BenchVault, messages: Sequence[SyntheticMessage]) -> dict[str, Any]:
        file = self._folder.joinpath("messages.jsonl")
        write_jsonl(file, messages)
        # Half before and half after: a machine that becomes busy meanwhile slows both alike.
        texts = [message.text for message in messages[:: max(1, len(messages) // _SAMPLE)]]
        middle = max(1, len(texts) // 2)
        palace.embed_texts(texts[:1], 1)  # loads the model
        self._report(f"the bare embedder on {len(texts)} of the texts")
        busy = processor_s()
        bare = self._time_work(lambda: palace.embed_texts(texts[:middle], _PORTION))
        bare_busy = processor_s() - busy
        self._report(f"importing {len(messages)} messages")
        begun, busy = self._clock.monotonic(), processor_s()
        report = palace.import_file(file)
        seconds, import_busy = self._clock.monotonic() - begun, processor_s() - busy
        bare += self._time_work(lambda: palace.embed_texts(texts[middle:], _PORTION))
        self._report("waiting for the graph")
        linked = palace.wait_until_linked() - begun
        rate, bare_rate = report.stored / seconds, len(texts) / bare
        return {
            "stored": report.stored,
            "seconds": round(seconds, 2),
            "per_s": round(rate, 1),
            "embedder_per_s": round(bare_rate, 1),
            "share": round(rate / bare_rate, 3),
            "processor_ms": round(import_busy / report.stored * 1000, 3),
            "embedder_processor_ms": round(bare_busy / middle * 1000, 3),
            "graph_done_s": round(linked, 2),
        }

    def _measure_stores(self, palace: BenchVault, messages: Sequence[SyntheticMessage]) -> dict[str, Any]:
        self._report(f"storing {len(messages)} texts one by one")
        times = [self._time_work(partial(palace.store_text, message.text)) * 1000 for message in messages]
        return {"count": len(times), **compute_percentiles(times)}

    def _measure_recall(self, palace: BenchVault) -> dict[str, Any]:
        questions = self._writer.write_questions(_WARM_UP + QUERIES, self._count)
        self._report(f"asking {len(questions)} questions")
        for question in questions[:_WARM_UP]:
            palace.time_question(question)
        busy = processor_s()
        asked = [palace.ask_in_parts(question) for question in questions[_WARM_UP:]]
        busy = processor_s() - busy
        alone = self._measure_single_recalls(palace, questions[: min(_ALONE, max(2, self._count // 100))])
        return {
            "queries": len(asked),
            "answered": sum(answered for _, _, answered in asked),
            "total": compute_percentiles([total for total, _, _ in asked]),
            "embed": compute_percentiles([embed for _, embed, _ in asked]),
            "search": compute_percentiles([total - embed for total, embed, _ in asked]),
            "alone": compute_percentiles(alone),
            "processor_ms": round(busy / len(asked) * 1000, 2),
        }

    def _measure_single_recalls(self, palace: BenchVault, questions: Sequence[str]) -> list[float]:
        """A person asks after a pause, in which the receipt of the question before was written."""
        self._report("asking with pauses")
        pause, times = threading.Event(), []
        for question in questions:
            pause.wait(_PAUSE_S)
            times.append(palace.time_question(question))
        return times

    def _measure_files(self) -> dict[str, Any]:
        home = self._bench.app_context.home
        sizes = {"vault_bytes": home.vault, "snapshot_bytes": home.snapshot}
        return {name: path.stat().st_size if path.exists() else 0 for name, path in sizes.items()}

    def _measure_cold_start(self, what: str) -> dict[str, Any]:
        self._report(what)
        environment = self._bench.app_context.environment
        orders = {
            "home": str(environment.home),
            "secret": str(environment.secret_file),
            "queries": self._writer.write_questions(1 + _COLD_QUERIES, self._count),
            "started": self._clock.monotonic(),
        }
        # A process of its own: what is loaded and cached here would make the start warm.
        done = subprocess.run(
            [sys.executable, "-m", "app.bench.cold"],
            input=json.dumps(orders),
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        figures: dict[str, Any] = json.loads(done.stdout)
        figures["answers"] = compute_percentiles(figures.pop("answers_ms"))
        return figures

    def _time_work(self, work: Callable[[], object]) -> float:
        begun = self._clock.monotonic()
        work()
        return self._clock.monotonic() - begun


def compute_percentiles(values: Sequence[float]) -> dict[str, float]:
    """The usual three, by the nearest rank.

    Args:
        values: at least one.

    Returns:
        `{p50_ms, p95_ms, p99_ms}`.
    """
    ordered = sorted(values)
    return {
        f"p{share}_ms": round(ordered[min(len(ordered) - 1, -(-len(ordered) * share // 100) - 1)], 2)
        for share in (50, 95, 99)
    }


def print_report(out: Output, found: Mapping[str, Any]) -> None:
    """Print the table.

    Args:
        found: from `app.bench.measure.run_bench`.
    """
    box = found["machine"]
    out.print_line(f"{found['n']:,} messages on {_describe_machine_line(box)}")
    out.print_line()
    out.print_table(measurement_rows(found))


def measurement_rows(found: Mapping[str, Any]) -> list[tuple[str, object]]:
    """Names and values of the table.

    Args:
        found: from `app.bench.measure.run_bench`.

    Returns:
        The rows.
    """
    brought, recall, cold, rebuilt = found["import"], found["recall"], found["cold"], found["rebuilt"]
    memory, index, files = cold["memory"], cold["index"], found["files"]
    return [
        ("store one", f"{_format_percentiles(found['store'])} ms"),
        ("import", f"{brought['per_s']:,.0f} a second ({brought['seconds']:.1f} s)"),
        ("bare embedder, two workers", f"{brought['embedder_per_s']:,.0f} a second; import is {brought['share']:.0%}"),
        (
            "processor time a text",
            f"import {brought['processor_ms']:.2f} ms, bare embedder {brought['embedder_processor_ms']:.2f} ms",
        ),
        ("graph complete", f"{brought['graph_done_s']:.1f} s after the import began"),
        (
            "recall, all",
            f"{_format_percentiles(recall['total'])} ms ({recall['answered']} of {recall['queries']} answered)",
        ),
        ("recall, embedding", f"{_format_percentiles(recall['embed'])} ms"),
        ("recall, search", f"{_format_percentiles(recall['search'])} ms"),
        ("recall after a pause", f"{_format_percentiles(recall['alone'])} ms"),
        ("processor time a recall", f"{recall['processor_ms']:.1f} ms, all threads"),
        ("process start", f"{cold['start_ms']:,.0f} ms"),
        ("passphrase", f"{cold['kdf_ms']:,.0f} ms"),
        ("unlock", f"{cold['unlock_ms']:,.0f} ms"),
        (
            "unlock to first answer",
            f"{cold['first_ms']:,.0f} ms; {cold['first_ms'] + cold['kdf_ms']:,.0f} with passphrase",
        ),
        ("index warm from the snapshot", f"{cold['warm_ms'] / 1000:.2f} s after unlocking began"),
        ("without the snapshot", f"{rebuilt['warm_ms'] / 1000:.2f} s; its graph {rebuilt['linked_ms'] / 1000:.1f} s"),
        ("first answer without it", f"{rebuilt['first_ms']:,.0f} ms"),
        (
            "memory",
            (
                f"{_format_mb(memory['asked_mb'])} MB, {_format_memory_used(memory)} MB above the bare process, "
                f"peak {_format_mb(memory['peak_mb'])}"
            ),
        ),
        ("index", f"{index['backend']}, {index['memory_bytes'] / _MB:,.0f} MB"),
        ("files", f"vault {files['vault_bytes'] / _MB:,.1f} MB, snapshot {files['snapshot_bytes'] / _MB:,.1f} MB"),
    ]


def _describe_machine_line(box: Mapping[str, Any]) -> str:
    return (
        f"{box['cores']} cores, {box['memory_gib']} GiB, Python {box['python']}, {box['system']}; "
        f"load {box['load']} at the start, {box['load_at_the_end']} at the end"
    )


def _format_percentiles(of: Mapping[str, float]) -> str:
    return f"p50 {of['p50_ms']:.1f}  p95 {of['p95_ms']:.1f}  p99 {of['p99_ms']:.1f}"


def _format_mb(value: float | None) -> str:
    return "?" if value is None else f"{value:,.0f}"


def _format_memory_used(memory: Mapping[str, float | None]) -> str:
    used, bare = memory["asked_mb"], memory["bare_mb"]
    return "?" if used is None or bare is None else f"{used - bare:,.0f}"
