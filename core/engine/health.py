"""Health: the figures of E34.8 and, in plain words, what is not as it should be, what that means and what to do.

Must not do: mend anything, name a path, or hold memory text.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from itertools import accumulate
from typing import Any

from core.belief.review.items import count_open_items
from core.config.help_strings import format_count, read_help_strings
from core.engine.runtime.open_vault import CachedCount, OpenVault
from core.engine.runtime.progress import RunningImport
from core.engine.runtime.search import Search
from core.engine.runtime.storage import Storage
from core.errors import Code
from core.index.manager import IndexState
from core.intake.undo import UNPAIRED
from core.lifecycle.distill import model_queue
from core.lifecycle.gauges import count_gauges_by_state
from core.lifecycle.job_support import clock_check
from core.lifecycle.sweep import plan_sweep
from core.memory.write import count_without_vectors
from core.recall.receipt_codec import metrics_from_json
from core.score.answer_quality import rank_percentile
from core.types.belief import ModelServerState, ModelState
from core.types.lifecycle import Health, JobAction, LatencyPeriod, Trends
from core.types.replies import StatusReport
from core.types.values import Pressure
from core.vault.backup import automatic_backups, made_at_ms
from core.vault.bootstrap import Doubt
from core.vault.database.rows import Rows
from core.vault.files.home import RESERVE_BYTES

# Rows that are no memory of their own: later parts of a long text, and the text of a memory from before a merge.
# Counted apart, each through its index: a condition on every row would read the whole table.
_LATER_PARTS = "count(*) FROM memories WHERE part_of IS NOT NULL AND part_index > 0"
_BEFORE_MERGES = (
    "count(*) FROM memories AS kept JOIN memories AS old ON old.id = kept.supersedes_id "
    "WHERE kept.supersedes_id IS NOT NULL AND old.status_reason = 'merged'"
)


def status_report(open_vault: OpenVault, rows: Rows) -> StatusReport:
    """Gather the status report."""
    info = open_vault.storage.vault.info
    return StatusReport(
        {
            "state": "open",
            "vault": open_vault.storage.root.vault_id.hex(),
            "schema_version": info.schema_version,
            "seq": int(rows.value("SELECT seq FROM vault_state")),
            "memories": _memory_figures(rows),
            "lifecycle": count_gauges_by_state(rows, None, open_vault.storage.clock.now_ms()),
            "spaces": [row[0] for row in rows.all("SELECT name FROM spaces ORDER BY name")],
            "conversations": int(rows.value("SELECT count(*) FROM conversations")),
            "imports": _count_imports_by_state(rows),
            "running_imports": _list_running_imports(open_vault.imports),
            "clients": _count_clients(rows),
            "open_reviews": count_open_items(rows),
            "index": _index_figures(open_vault.search),
            "pending_embeddings": count_without_vectors(rows, open_vault.search.space),
            "embedder": {
                "model": open_vault.search.embedder.name,
                "dims": open_vault.search.embedder.dims,
                "by": _embedder_kind(open_vault.search),
            },
            "model_server": _model_figures(open_vault.model),
            "wal_bytes": _wal_bytes(open_vault.storage),
            "write_queue": open_vault.storage.queue.depth,
            "search_strategy": _recall_strategy(open_vault.search),
            "recovered_from_crash": info.recovered_from_crash,
            "lost_commits": info.lost_commits,
            "warnings": _list_warnings(open_vault.storage),
        }
    )


def status_glance(open_vault: OpenVault, rows: Rows) -> StatusReport:
    """What the window shows of the palace all the time: nothing that takes long where much waits or is to be summed up.

    Returns:
        Of the figures of `status_report`: index, memories (not by kind) and model_server.
    """
    by_status = _count_memories_by_column(rows, "status")
    return StatusReport(
        {
            "memories": {"total": sum(by_status.values()), "by_status": by_status},
            "index": _index_figures(open_vault.search),
            "model_server": _model_figures(open_vault.model),
        }
    )


def _model_figures(state: ModelState) -> dict[str, str]:
    return {"state": state.server.value, "model": state.model, "code": state.code, "sentence": state.sentence}


def _wal_bytes(storage: Storage) -> int:
    try:
        return storage.home.wal.stat().st_size  # stat, never open: see B21 of the reliability notes in core.vault
    except FileNotFoundError:
        return 0


def _memory_figures(rows: Rows) -> dict[str, Any]:
    by_status, by_kind = (_count_memories_by_column(rows, column) for column in ("status", "kind"))
    return {"total": sum(by_status.values()), "by_status": by_status, "by_kind": by_kind}


def _count_memories_by_column(rows: Rows, column: str) -> dict[str, int]:
    """Memories by a column; a long text is one memory, however many rows hold it, and so is one of two merged."""
    found = {str(k): int(v) for k, v in rows.all(f"SELECT {column}, count(*) FROM memories GROUP BY {column}")}  # noqa: S608 - a constant
    # The plus keeps the planner from walking all memories in the order of the groups: the few are found by their index.
    for without in (
        f"{column}, {_LATER_PARTS} GROUP BY +{column}",
        f"old.{column}, {_BEFORE_MERGES} GROUP BY +old.{column}",
    ):
        for name, count in rows.all(f"SELECT {without}"):
            found[str(name)] -= int(count)
    return {name: count for name, count in found.items() if count}


def _count_imports_by_state(rows: Rows) -> dict[str, int]:
    return {str(k): int(v) for k, v in rows.all("SELECT state, count(*) FROM imports GROUP BY state")}


def _list_running_imports(running: Mapping[str, RunningImport]) -> list[dict[str, Any]]:
    """Imports that go on, also where whoever began them has gone; the owner's alone to read."""
    return [
        {
            "import_id": one.id,
            "label": one.label,
            "phase": "storing" if one.is_storing else "reading",
            "done": one.done,
            "total": one.total,
            "started_at": one.started_at,
            "stop": f"loci unimport {one.id}",
        }
        for one in list(running.values())
    ]


def _count_clients(rows: Rows) -> int:
    return int(rows.value(f"SELECT count(*) FROM clients WHERE revoked_at IS NULL AND NOT {UNPAIRED}"))  # noqa: S608 - a constant


def _embedder_kind(search: Search) -> str:
    return "model server" if search.space.served else "built-in"


def _index_figures(search: Search) -> dict[str, Any]:
    status = search.index.status()
    return {
        "state": status.state.value,
        "backend": status.backend,
        "loaded": status.done,
        "total": status.total,
        "waiting_for_graph": status.staged,
        "revision": status.revision,
        "memory_bytes": status.memory_bytes,
        "snapshot_refused": None if status.snapshot is None else status.snapshot.value,
    }


def _recall_strategy(search: Search) -> str:
    return "keyword_only" if search.index.status().state is IndexState.EMPTY else "hybrid"


def _list_warnings(storage: Storage) -> list[str]:
    return [describe_problem(key, **more) for key, more in opening_warnings(storage)]


_MB = 1024 * 1024
_DISK_LOW = 500 * _MB
_DAY_MS, _HOUR_MS, _MINUTE_MS = 86_400_000, 3_600_000, 60_000
_LONG_S, _RESTS = 0.05, 20
_BACKUP_DAYS = 7
_QUEUE_LONG = 100
_KINDS = {"episodes": "episode", "facts": "fact", "rules": "rule", "procedures": "procedure", "digests": "digest"}
_LAST = "SELECT max(finished_at) FROM jobs WHERE type = ? AND state = 'done'"
_UNSEEN = "SELECT count(*) FROM memories WHERE status = 'active' AND part_of IS NULL AND recorded_at > ?"


@dataclass(frozen=True, slots=True)
class _Found:
    """Readings that are taken once and used by several checks."""

    open_vault: OpenVault
    rows: Rows
    pending: int
    free: int | None
    used_mb: float
    pressure: Pressure


def health_report(open_vault: OpenVault, rows: Rows) -> Health:
    """How the palace is.

    Returns:
        The figures and the warnings, the worst first.
    """
    pending = count_without_vectors(rows, open_vault.search.space)
    found = _Found(
        open_vault,
        rows,
        pending,
        _free_disk_bytes(open_vault.storage),
        open_vault.load.resources.used_mb(),
        open_vault.load.resources.read_pressure(),
    )
    warnings = tuple(describe_problem(key, **more) for key, more in _find_warnings(found))
    index = open_vault.search.index.status()
    return Health(
        counts=_count_vault_rows(rows, pending),
        performance={
            "avg_search_ms": open_vault.load.latency.mean_ms(),
            "p99_search_ms": open_vault.load.latency.slowest_ms(),
            "write_queue": open_vault.storage.queue.depth,
            "readers_idle": open_vault.storage.vault.readers_idle,
        },
        ram={
            "index_mb": index.memory_bytes / _MB,
            "total_mb": found.used_mb,
            "budget_mb": open_vault.load.resources.budget_mb(),
            "pressure": found.pressure.value,
            "index_kind": index.backend,
        },
        background=_background_json(open_vault, rows),
        degradation={
            "search_strategy": search_strategy(open_vault.storage, open_vault.search),
            "model_server": open_vault.model.server.value,
            "warnings": list(warnings),
        },
        warnings=warnings,
    )


def search_strategy(storage: Storage, search: Search) -> str:
    """By what a search goes now (E32.3 with C17).

    Returns:
        `full` by words and meaning; `bm25_only` by words alone: the embedder does not answer, or no vector is known
        yet; `degraded` where not everything can be looked at: changes are missing in the index, or every reader is
        at work.
    """
    index = search.index.status()
    if index.state is IndexState.EMPTY or search.active_space.fault.code is not None:
        return "bm25_only"
    return "degraded" if index.needs_warm or not storage.vault.readers_idle else "full"


def describe_problem(key: str, **more: object) -> str:
    """What is wrong and what to do, in one line of two or three sentences.

    Args:
        key: of `resources/help/health.json`.
        **more: what its words leave open.

    Returns:
        Plain text.
    """
    wording = read_help_strings("health")[key]
    says = wording["says"]
    said = says.format(**more) if isinstance(says, str) else format_count(says, int(str(more["n"])))
    return f"{said} {wording['do']}"


def _count_vault_rows(rows: Rows, pending: int) -> dict[str, int]:
    by_kind = _count_memories_by_column(rows, "kind")
    edges = int(rows.value("SELECT count(*) FROM edges"))
    return {
        **{name: by_kind.get(kind, 0) for name, kind in _KINDS.items()},
        "edges": edges,
        "pending_embeddings": pending,
    }


def _background_json(open_vault: OpenVault, rows: Rows) -> dict[str, int | None]:
    last, swept = rows.value(_LAST, ("consolidate",)), rows.value(_LAST, ("sweep",))
    return {
        "last_consolidation": last,
        "last_sweep": swept,
        "consolidation_backlog": int(rows.value(_UNSEEN, (last or 0,))),
        "archive_candidates": count_next_archived(open_vault, rows),
    }


def count_next_archived(open_vault: OpenVault, rows: Rows) -> int:
    """How many memories a sweep would archive now (E34.8, `gc_candidates`).

    It goes through all that stands: looked at again when the vault changed or a minute is over, and where it takes long
    not again and again.

    Returns:
        Memories; a split text counts once.
    """
    clock, known = open_vault.storage.clock, open_vault.next_archived
    begun, mark = clock.monotonic(), (open_vault.storage.vault.seq, clock.now_ms() // _MINUTE_MS, open_vault.options)
    if known is not None and (known.mark == mark or begun < known.rests_until):
        return known.count
    leaves = {JobAction.EXPIRE, JobAction.ARCHIVE}
    count = sum(one.action in leaves for one in plan_sweep(rows, open_vault.options, clock.now_ms()))
    took = clock.monotonic() - begun
    open_vault.next_archived = CachedCount(count, mark, begun + (took * _RESTS if took > _LONG_S else 0.0))
    return count


def _free_disk_bytes(storage: Storage) -> int | None:
    """Bytes left on the vault's disk; None where the system does not tell."""
    try:
        return shutil.disk_usage(storage.home.path).free
    except OSError:
        return None


_Warning = tuple[str, dict[str, Any]]


def _find_warnings(found: _Found) -> Iterator[_Warning]:
    """Everything that is wrong, the worst first."""
    yield from _find_disk_warnings(found)
    yield from _find_startup_warnings(found)
    yield from _find_search_warnings(found)
    yield from _find_memory_warnings(found)
    yield from _find_job_warnings(found)
    yield from _find_model_warnings(found)
    yield from _find_backup_warnings(found)


def _find_disk_warnings(found: _Found) -> Iterator[_Warning]:
    fault = found.open_vault.storage.write_fault
    if fault is Code.DISK_FULL or (found.free is not None and found.free < RESERVE_BYTES):
        yield "disk_full", {}
    elif found.free is not None and found.free < _DISK_LOW:
        yield "disk_low", {"mb": found.free // _MB}
    if fault is not None and fault is not Code.DISK_FULL:
        yield "read_only", {"code": fault.value}


def opening_warnings(storage: Storage) -> Iterator[tuple[str, dict[str, Any]]]:
    """What opening found to be wrong with the vault, and what of it the person has not answered.

    Yields:
        Keys of sentences, each with its values.
    """
    info, older = storage.vault.info, storage.vault.older
    if info.lost_commits:
        yield "damaged_log", {}
    if older is not None:
        yield ("older_copy" if older.doubt is Doubt.OLDER else "newest_unknown"), {"state": info.head_state}
    elif info.head_state != "ok" and info.older_than_head is None:
        yield "head_unknown", {"state": info.head_state}


def _find_startup_warnings(found: _Found) -> Iterator[_Warning]:
    yield from opening_warnings(found.open_vault.storage)
    if int(found.rows.value("SELECT last_at FROM vault_state")) > found.open_vault.storage.clock.now_ms() + _HOUR_MS:
        yield "clock_back", {}
    clock_watch = clock_check.read_clock(found.rows)
    seen = (
        None if clock_watch is None else clock_check.judge_clock(clock_watch, found.open_vault.storage.clock.now_ms())
    )
    if seen is not None and seen.is_ahead:
        yield "clock_ahead", {"days": (seen.last - seen.believed) // _DAY_MS}


def _find_search_warnings(found: _Found) -> Iterator[_Warning]:
    open_vault = found.open_vault
    code, index = open_vault.search.active_space.fault.code, open_vault.search.index.status()
    if code is Code.MODEL_CHANGED:
        yield "model_changed", {}
    elif code is not None:
        yield "embedder_away" if open_vault.search.space.served else "embedder_built_in", {"code": code.value}
    if index.state is not IndexState.READY:
        yield "index_loading", {"done": index.done, "total": index.total}
    elif index.needs_warm:
        yield "index_behind", {}
    if found.pending:
        yield "embeddings_pending", {"n": found.pending}
    if not open_vault.storage.vault.readers_idle:
        yield "readers_busy", {}


def _find_memory_warnings(found: _Found) -> Iterator[_Warning]:
    if found.pressure is not Pressure.NORMAL:
        budget = round(found.open_vault.load.resources.budget_mb())
        yield f"memory_{found.pressure.value}", {"mb": round(found.used_mb), "budget": budget}


def _find_job_warnings(found: _Found) -> Iterator[_Warning]:
    now = found.open_vault.storage.clock.now_ms()
    poison = int(found.rows.value("SELECT count(*) FROM jobs WHERE state = 'poison'"))
    stuck = "SELECT count(*) FROM jobs WHERE state = 'running' AND lease_until < ?"
    if poison:
        yield "jobs_poison", {"n": poison}
    if int(found.rows.value(stuck, (now - _HOUR_MS,))):
        yield "jobs_stuck", {}
    left = model_queue.count_dead(found.rows)
    if left:
        yield "episodes_left", {"n": left}
    if found.open_vault.storage.queue.depth > _QUEUE_LONG:
        yield "queue_long", {"n": found.open_vault.storage.queue.depth}


def _find_model_warnings(found: _Found) -> Iterator[_Warning]:
    """A server nobody asked for may be away: nothing needs it."""
    state, chosen = found.open_vault.model, found.open_vault.options
    if state.server is ModelServerState.FAILING:
        yield "model_failing", {"code": state.code}
    elif state.server is ModelServerState.ABSENT and chosen.model_name:
        yield "model_absent", {}


def _find_backup_warnings(found: _Found) -> Iterator[_Warning]:
    now = found.open_vault.storage.clock.now_ms()
    made = automatic_backups(found.open_vault.storage.home)
    since = made_at_ms(made[0]) if made else int(found.rows.value("SELECT created_at FROM vault_state"))
    days = (now - since) // _DAY_MS
    if days >= _BACKUP_DAYS:
        yield ("backup_old", {"days": days}) if made else ("backup_none", {})


_SLOT_MS = 900_000
"""A quarter of an hour: every zone is a number of them away from UTC, so that each lies within one local day."""
_STORED_BY_SLOT = f"SELECT recorded_at / {_SLOT_MS}, count(*) FROM memories GROUP BY 1"  # noqa: S608 - a constant
# What is no memory of its own, each through its index: the total is that of `status_glance`.
_NOT_COUNTED = (
    f"SELECT recorded_at / {_SLOT_MS}, {_LATER_PARTS} GROUP BY 1",
    f"SELECT old.recorded_at / {_SLOT_MS}, {_BEFORE_MERGES} GROUP BY 1",
)
_LATENCIES = "SELECT at, metrics FROM receipts WHERE metrics IS NOT NULL ORDER BY at DESC LIMIT 2000"
_FEW_DAYS = 3
_MEDIAN, _SLOW = 0.5, 0.95


def read_trends(rows: Rows, now_ms: int, zone: tzinfo | None = None) -> Trends:
    """How the vault grew, and how long the last two thousand recalls took.

    Args:
        now_ms: epoch ms.
        zone: whose days; None for the system's.
    """
    return Trends(_read_growth(rows, now_ms, zone), _read_latency(rows, zone))


def _read_growth(rows: Rows, now_ms: int, zone: tzinfo | None) -> tuple[tuple[int, int], ...]:
    by_slot = Counter({int(slot): int(count) for slot, count in rows.all(_STORED_BY_SLOT)})
    for query in _NOT_COUNTED:
        by_slot.subtract({int(slot): int(count) for slot, count in rows.all(query)})
    by_day: Counter[int] = Counter()
    for slot, count in by_slot.items():
        by_day[_begin_of_day(slot * _SLOT_MS, zone)] += count
    days = sorted(day for day, count in by_day.items() if count)
    found = list(zip(days, accumulate(by_day[day] for day in days), strict=True))
    today = _begin_of_day(now_ms, zone)
    if found and found[-1][0] < today:
        found.append((today, found[-1][1]))
    return tuple(found)


def _begin_of_day(at_ms: int, zone: tzinfo | None) -> int:
    at = datetime.fromtimestamp(at_ms / 1000, UTC).astimezone(zone)
    begin = datetime(at.year, at.month, at.day, tzinfo=zone)
    return int((begin if zone is not None else begin.astimezone()).timestamp()) * 1000


def _read_latency(rows: Rows, zone: tzinfo | None) -> tuple[LatencyPeriod, ...]:
    told = ((int(at), metrics_from_json(json.loads(metrics))) for at, metrics in rows.all(_LATENCIES))
    took = [(at, metrics.search_latency_ms) for at, metrics in told if metrics is not None]
    if not took:
        return ()
    is_hourly = took[0][0] - took[-1][0] < _FEW_DAYS * _DAY_MS
    periods: dict[int, list[float]] = {}
    for at, milliseconds in reversed(took):
        begin = at // _HOUR_MS * _HOUR_MS if is_hourly else _begin_of_day(at, zone)
        periods.setdefault(begin, []).append(milliseconds)
    return tuple(_latency_period(begin, times) for begin, times in sorted(periods.items()))


def _latency_period(at: int, times: list[float]) -> LatencyPeriod:
    return LatencyPeriod(at, len(times), rank_percentile(times, _MEDIAN) or 0.0, rank_percentile(times, _SLOW) or 0.0)
