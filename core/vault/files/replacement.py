"""The renames that put a checked backup in the place of the vault; killed at any step, they are finished later.

What a killed backup left behind is removed here too. Asked for before the keys of a home are read, so it loads nothing
of the database. Must not do: check a backup.
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path

from core.security.atomic import clear_partial_files, file_write_error, sync_directory
from core.vault.files.home import Home

WORK = ".restore-"
OLD = ".before-restore"
BACKUP_WORK, PARTIAL = ".work-", ".partial"
"""Beginning and end of the names of what a backup makes before it is whole."""


def finish_restore(home: Home) -> bool:
    """Finish a restore that was killed after it had been decided. First thing under the lock, before keys are read.

    Returns:
        Whether there was one.

    Raises:
        EnvironmentFaultError: DISK_FULL, READ_ONLY or WRITE_FAILED; call it again later.
    """
    try:
        if not home.path.is_dir():
            return False
        for entry in home.path.glob(f"{WORK}*"):
            shutil.rmtree(entry, ignore_errors=True)
        if not home.restoring.is_dir():
            return False
        take_place(home)
    except OSError as error:
        fault = file_write_error(error)
    else:
        return True
    raise fault


def take_place(home: Home) -> None:
    """Each step is one rename and may be done already; killed anywhere, calling this again goes on."""
    home.snapshot.unlink(missing_ok=True)
    stage = home.restoring
    # The database last, so that it never stands beside foreign keys for long.
    for present in (home.keys, home.head, home.vault):
        new = stage / present.name
        if not new.exists():
            continue
        if present == home.keys:
            _set_aside(present.with_name(f"{present.name}.bak"))
        if present == home.vault:
            # A log goes with its vault: beside another one it would be played into it.
            for suffix in ("-wal", "-shm"):
                log = present.with_name(present.name + suffix)
                if log.exists():
                    log.replace(present.with_name(f"{present.name}{OLD}{suffix}"))
        _set_aside(present)
        new.rename(present)
    sync_directory(home.path)
    stage.rmdir()


def _set_aside(present: Path) -> None:
    if os.path.lexists(present):
        present.replace(present.with_name(present.name + OLD))


def clear_leftovers(home: Home) -> int:
    """Remove what a killed backup, and a killed write of the vault's own files, left behind.

    Call it under the vault's lock, with no backup running.

    Returns:
        How many things were removed.

    Raises:
        EnvironmentFaultError: READ_ONLY or WRITE_FAILED.
    """
    # Only files that the holder of the lock writes: the window may be saving its layout in this moment.
    removed = sum(map(clear_partial_files, (home.head, home.keys, home.snapshot)))
    with suppress(FileNotFoundError):
        for entry in list(home.backups.iterdir()):
            if entry.name.startswith(BACKUP_WORK):
                shutil.rmtree(entry, ignore_errors=True)
                removed += 1
            elif entry.name.endswith(PARTIAL):
                entry.unlink(missing_ok=True)
                removed += 1
    return removed
