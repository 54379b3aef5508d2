"""The figures of `app.bench.measure` as a table for a person; must not do: measure, or judge."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.cli.output import Output

_MB = 1e6


def print_report(out: Output, found: Mapping[str, Any]) -> None:
    """Print the table.

    Args:
        out: where to.
        found: from `app.bench.measure.run`.
    """
    box = found["machine"]
    out.line(f"{found['n']:,} messages on {_words(box)}")
    out.line()
    out.table(rows(found))


def rows(found: Mapping[str, Any]) -> list[tuple[str, object]]:
    """Names and values of the table.

    Args:
        found: from `app.bench.measure.run`.

    Returns:
        The rows.
    """
    brought, recall, cold, rebuilt = found["import"], found["recall"], found["cold"], found["rebuilt"]
    memory, index, files = cold["memory"], cold["index"], found["files"]
    return [
        ("store one", f"{_three(found['store'])} ms"),
        ("import", f"{brought['per_s']:,.0f} a second ({brought['seconds']:.1f} s)"),
        ("bare embedder, two workers", f"{brought['embedder_per_s']:,.0f} a second; import is {brought['share']:.0%}"),
        (
            "processor time a text",
            f"import {brought['processor_ms']:.2f} ms, bare embedder {brought['embedder_processor_ms']:.2f} ms",
        ),
        ("graph complete", f"{brought['graph_done_s']:.1f} s after the import began"),
        ("recall, all", f"{_three(recall['total'])} ms ({recall['answered']} of {recall['queries']} answered)"),
        ("recall, embedding", f"{_three(recall['embed'])} ms"),
        ("recall, search", f"{_three(recall['search'])} ms"),
        ("recall after a pause", f"{_three(recall['alone'])} ms"),
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
            f"{_mb(memory['asked_mb'])} MB, {_above(memory)} MB above the bare process, peak {_mb(memory['peak_mb'])}",
        ),
        ("index", f"{index['backend']}, {index['memory_bytes'] / _MB:,.0f} MB"),
        ("files", f"vault {files['vault_bytes'] / _MB:,.1f} MB, snapshot {files['snapshot_bytes'] / _MB:,.1f} MB"),
    ]


def _words(box: Mapping[str, Any]) -> str:
    return (
        f"{box['cores']} cores, {box['memory_gib']} GiB, Python {box['python']}, {box['system']}; "
        f"load {box['load']} at the start, {box['load_at_the_end']} at the end"
    )


def _three(of: Mapping[str, float]) -> str:
    return f"p50 {of['p50_ms']:.1f}  p95 {of['p95_ms']:.1f}  p99 {of['p99_ms']:.1f}"


def _mb(value: float | None) -> str:
    return "?" if value is None else f"{value:,.0f}"


def _above(memory: Mapping[str, float | None]) -> str:
    used, bare = memory["asked_mb"], memory["bare_mb"]
    return "?" if used is None or bare is None else f"{used - bare:,.0f}"
