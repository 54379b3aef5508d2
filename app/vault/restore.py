"""Putting a backup in the place of a vault."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from app.parts import Parts
from app.vault.connection import ask_secret
from core.engine.facade import restore_vault
from core.ipc.protocol.time_format import iso
from core.types.clock import SystemClock


def restore_backup(parts: Parts, archive: Path, tell: Callable[[str], None]) -> dict[str, Any]:
    """Restore a backup into the home.

    Args:
        parts: the process's parts.
        archive: the backup.
        tell: says what the person should know.

    Returns:
        `{made_at, seq, rows, dropped_clients, kept_old}`.

    Raises:
        LociError: BACKUP_INVALID, WRONG_SECRET, VAULT_BUSY; the present vault is untouched.
    """
    info = restore_vault(parts.home, archive, ask_secret(parts), SystemClock())
    if info.has_old:
        tell("The vault that was here is kept beside the new one, with the ending .before-restore.")
    return {
        "made_at": iso(info.made_at_ms),
        "seq": info.seq,
        "rows": dict(info.counts),
        "dropped_clients": info.dropped_clients,
        "kept_old": info.has_old,
    }
