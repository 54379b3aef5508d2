"""Verifying and backing up an open vault, on behalf of the facade.

Must not do: repair anything; it only tells what it found.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from core.embed.codec import from_blob
from core.engine.keys import sub_keys
from core.engine.opened import Opened
from core.errors import UserError
from core.index.manager import State
from core.security.keystore import load_keys
from core.security.slots import remove_slot
from core.security.subkeys import Purpose
from core.vault.backup import make_backup
from core.vault.rows import Rows
from core.vault.verify import Check, Outcome
from core.vault.verify import verify as verify_vault

_SAMPLE = 200
_ALIKE = 0.995  # float16 in the vault against float16 or float32 in memory


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
    return opened.vault.read(lambda rows: _sample(opened, rows))


def _sample(opened: Opened, rows: Rows) -> Check:
    seq = int(rows.value("SELECT seq FROM vault_state"))
    if opened.index.revision < seq - 1 and opened.index.status().needs_warm:
        return Check(Outcome.NOT_CHECKED, "behind")
    found = rows.all(
        "SELECT n, vector FROM embeddings WHERE owner = 'memory' AND vector_space = ? "
        "ORDER BY (n * 2654435761) % 1000003 LIMIT ?",
        (opened.space.name, _SAMPLE),
    )
    total = int(
        rows.value("SELECT count(*) FROM embeddings WHERE owner = 'memory' AND vector_space = ?", (opened.space.name,))
    )
    if not found:
        return Check(Outcome.OK, "no vectors yet")
    labels = np.array([row[0] for row in found], dtype=np.int64)
    held, vectors = opened.index.fetch(labels)
    stored = {int(n): from_blob(blob, opened.space.dims) for n, blob in found}
    wrong = sum(float(stored[int(n)] @ vector) < _ALIKE for n, vector in zip(held, vectors, strict=True))
    missing = len(found) - len(held)
    if wrong or missing or opened.index.status().total != total:
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
    )
    return {"path": str(made.path), "bytes": made.size, "seq": made.seq, "rows": dict(made.counts)}
