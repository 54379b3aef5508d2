"""How the palace is: the figures of E34.8 for what exists today. No memory text, no paths."""

from __future__ import annotations

from typing import Any

from core.belief.review.items import open_count
from core.engine.health.report import describe_problem, opening_warnings
from core.engine.runtime.open_vault import OpenVault
from core.index.manager import IndexState
from core.intake.undo.client_pairing import UNPAIRED
from core.lifecycle.kit.stats import count_by_state
from core.memory.write import count_without_vectors
from core.types.replies import StatusReport
from core.vault.database.rows import Rows

# Rows that are no memory of their own: later parts of a long text, and the text of a memory from before a merge.
# Counted apart, each through its index: a condition on every row would read the whole table.
_LATER_PARTS = "count(*) FROM memories WHERE part_of IS NOT NULL AND part_index > 0"
_BEFORE_MERGES = (
    "count(*) FROM memories AS kept JOIN memories AS old ON old.id = kept.supersedes_id "
    "WHERE kept.supersedes_id IS NOT NULL AND old.status_reason = 'merged'"
)


def status_report(opened: OpenVault, rows: Rows) -> StatusReport:
    """Gather the status report.

    Returns:
        The figures.
    """
    info = opened.vault.info
    return StatusReport(
        {
            "state": "open",
            "vault": opened.root.vault_id.hex(),
            "schema_version": info.schema_version,
            "seq": int(rows.value("SELECT seq FROM vault_state")),
            "memories": _memories(rows),
            "lifecycle": count_by_state(rows, None, opened.clock.now_ms()),
            "spaces": [row[0] for row in rows.all("SELECT name FROM spaces ORDER BY name")],
            "conversations": int(rows.value("SELECT count(*) FROM conversations")),
            "imports": _imports(rows),
            "running_imports": _running(opened),
            "clients": _clients(rows),
            "open_reviews": open_count(rows),
            "index": _index(opened),
            "pending_embeddings": count_without_vectors(rows, opened.search.space),
            "embedder": {"model": opened.search.embedder.name, "dims": opened.search.embedder.dims, "by": _by(opened)},
            "model_server": _model(opened),
            "wal_bytes": _wal_bytes(opened),
            "write_queue": opened.queue.depth,
            "search_strategy": _strategy(opened),
            "recovered_from_crash": info.recovered_from_crash,
            "lost_commits": info.lost_commits,
            "warnings": _warnings(opened),
        }
    )


def status_glance(opened: OpenVault, rows: Rows) -> StatusReport:
    """What the window shows of the palace all the time: nothing that takes long where much waits or is to be summed up.

    Returns:
        Of the figures of `status_report`: index, memories (their total alone) and model_server.
    """
    total = int(rows.value("SELECT count(*) FROM memories"))
    total -= sum(int(rows.value(f"SELECT {without}")) for without in (_LATER_PARTS, _BEFORE_MERGES))
    return StatusReport({"memories": {"total": total}, "index": _index(opened), "model_server": _model(opened)})


def _model(opened: OpenVault) -> dict[str, str]:
    state = opened.model
    return {"state": state.server.value, "model": state.model, "code": state.code, "sentence": state.sentence}


def _wal_bytes(opened: OpenVault) -> int:
    try:
        return opened.home.wal.stat().st_size  # stat, never open: see B21 of the reliability notes in core.vault
    except FileNotFoundError:
        return 0


def _memories(rows: Rows) -> dict[str, Any]:
    by_status, by_kind = (_counted(rows, column) for column in ("status", "kind"))
    return {"total": sum(by_status.values()), "by_status": by_status, "by_kind": by_kind}


def _counted(rows: Rows, column: str) -> dict[str, int]:
    """Memories by a column; a long text is one memory, however many rows hold it, and so is one of two merged."""
    found = {str(k): int(v) for k, v in rows.all(f"SELECT {column}, count(*) FROM memories GROUP BY {column}")}  # noqa: S608 - a constant
    for without in (f"{column}, {_LATER_PARTS} GROUP BY {column}", f"old.{column}, {_BEFORE_MERGES} GROUP BY 1"):
        for name, count in rows.all(f"SELECT {without}"):
            found[str(name)] -= int(count)
    return {name: count for name, count in found.items() if count}


def _imports(rows: Rows) -> dict[str, int]:
    return {str(k): int(v) for k, v in rows.all("SELECT state, count(*) FROM imports GROUP BY state")}


def _running(opened: OpenVault) -> list[dict[str, Any]]:
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
        for one in list(opened.imports.values())
    ]


def _clients(rows: Rows) -> int:
    return int(rows.value(f"SELECT count(*) FROM clients WHERE revoked_at IS NULL AND NOT {UNPAIRED}"))  # noqa: S608 - a constant


def _by(opened: OpenVault) -> str:
    return "model server" if opened.search.space.served else "built-in"


def _index(opened: OpenVault) -> dict[str, Any]:
    status = opened.search.index.status()
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


def _strategy(opened: OpenVault) -> str:
    return "keyword_only" if opened.search.index.status().state is IndexState.EMPTY else "hybrid"


def _warnings(opened: OpenVault) -> list[str]:
    return [describe_problem(key, **more) for key, more in opening_warnings(opened)]
