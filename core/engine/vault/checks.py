"""Verifying and backing up an open vault, on behalf of the facade.

Must not do: repair anything; it only tells what it found.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from core.embed.codec import from_blob
from core.engine.home.keys import sub_keys
from core.engine.runtime.open_vault import Opened
from core.errors import UserError
from core.index.manager import State
from core.security.keystore import load_keys
from core.security.slots import remove_slot
from core.security.subkeys import Purpose
from core.vault.backup.backup import make_backup
from core.vault.database.rows import Rows
from core.vault.verification import Check, Outcome
from core.vault.verification import verify as verify_vault

_SAMPLE = 200
_ALIKE = 0.995  # float16 in the vault against float16 or float32 in memory
_TRIES = 5
_TURN_S = 5.0  # for the writer to come to us


def verify(opened: Opened) -> dict[str, Any]:
    """Check the vault and, by samples, the index against it.

    Args:
        opened: the open vault.

    Returns:
        `{status, checks}` in the shape of `verify --json`.
    """
    report = verify_vault(opened.vault, sub_keys(opened.root), {"index": lambda: _index(opened)})
    return dict(report.as_json())


def _index(opened: Opened) -> Check:
    status = opened.index.status()
    if status.state is not State.READY:
        return Check(Outcome.NOT_CHECKED, status.state.value)
    if status.needs_warm:
        return Check(Outcome.NOT_CHECKED, "behind")
    for _ in range(_TRIES):
        try:
            # On the writer's thread everything committed before is in the index already.
            seq = opened.vault.seq if opened.vault.older else opened.write(lambda tx: tx.seq - 1).result(_TURN_S)
        except TimeoutError:
            break
        found = opened.vault.read(lambda rows: _sample(opened, rows, seq))  # noqa: B023 - called at once
        if found is not None:
            return found
    return Check(Outcome.NOT_CHECKED, "busy")


def _sample(opened: Opened, rows: Rows, settled: int) -> Check | None:
    """Compare, or None where a write came between: then the index and this snapshot are of two moments."""
    if int(rows.value("SELECT seq FROM vault_state")) != settled:
        return None
    found = rows.all(
        "SELECT n, vector FROM embeddings WHERE owner = 'memory' AND vector_space = ? "
        "ORDER BY (n * 2654435761) % 1000003 LIMIT ?",
        (opened.space.name, _SAMPLE),
    )
    total = int(
        rows.value("SELECT count(*) FROM embeddings WHERE owner = 'memory' AND vector_space = ?", (opened.space.name,))
    )
    labels = np.array([row[0] for row in found], dtype=np.int64)
    held, vectors = opened.index.fetch(labels)
    stored = {int(n): from_blob(blob, opened.space.dims) for n, blob in found}
    wrong = sum(float(stored[int(n)] @ vector) < _ALIKE for n, vector in zip(held, vectors, strict=True))
    missing = len(found) - len(held)
    held_total = opened.index.status().total
    if opened.index.revision > settled:
        return None
    if not found and not held_total:
        return Check(Outcome.OK, "no vectors yet")
    if wrong or missing or held_total != total:
        return Check(Outcome.FAILED, f"{wrong} wrong, {missing} missing of {len(found)}")
    return Check(Outcome.OK, f"{len(found)} of {total} vectors compared")


def backup(opened: Opened, to: Path | None) -> dict[str, Any]:
    """Write a backup; it was opened and checked before it got its name.

    Args:
        opened: the open vault.
        to: the file; None for the home's `backups/`.

    Returns:
        `{path, bytes, seq, rows}`.
    """
    keys = load_keys(opened.home.keys, repair=False).keys
    try:
        portable = remove_slot(keys, "keyring")
    except UserError:
        portable = keys  # there is none: a keyring's slot is of no use on another machine
    made = make_backup(
        opened.vault,
        sub_keys(opened.root).db,
        opened.root.derive(Purpose.BACKUP),
        portable.to_bytes(),
        opened.clock.now_ms(),
        to,
        kept=opened.options.backups_kept,
    )
    return {"path": str(made.path), "bytes": made.size, "seq": made.seq, "rows": dict(made.counts)}
