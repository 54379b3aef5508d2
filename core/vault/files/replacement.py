"""The renames that put a checked vault in the place of the present one; killed at any step, they are finished later.

A restore leaves the old vault beside the new one. A rotation of the keys removes it: it would still open with keys that
shall open nothing any more. What a killed backup left behind is removed here too. Asked for before the keys of a home
are read, so it loads nothing of the database. Must not do: check what takes the place.
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path

from core.security.atomic import clear_partial_files, file_write_error, sync_directory
from core.vault.files.home import Home

WORK, ROTATION_WORK = ".restore-", ".rotate-"
OLD = ".before-restore"
_ROTATED = ".before-rotation"
BACKUP_WORK, PARTIAL = ".work-", ".partial"
"""Beginning and end of the names of what a backup makes before it is whole."""


def finish_replacement(home: Home) -> bool:
    """Finish a restore or a rotation that was killed after it was decided. First thing under the lock, before keys.

    Returns:
        Whether there was one.

    Raises:
        EnvironmentFaultError: DISK_FULL, READ_ONLY or WRITE_FAILED; call it again later.
    """
    try:
        if not home.path.is_dir():
            return False
        for beginning in (WORK, ROTATION_WORK):
            for entry in home.path.glob(f"{beginning}*"):
                shutil.rmtree(entry, ignore_errors=True)
        is_found = home.has_replacement
        if home.restoring.is_dir():
            take_place(home)
        if home.rotating.is_dir():
            take_rotated_place(home)
        _remove_rotated(home)  # what a kill behind the last rename left
    except OSError as error:
        fault = file_write_error(error)
    else:
        return is_found
    raise fault


def take_place(home: Home) -> None:
    """Put a restored vault in its place; killed anywhere, calling this again goes on."""
    _move_stage(home, home.restoring, OLD)


def take_rotated_place(home: Home) -> None:
    """Put the vault under its new keys in its place and remove the old one; killed anywhere, calling it again goes on.

    Raises:
        OSError: the disk refused; the next start goes on.
    """
    _move_stage(home, home.rotating, _ROTATED)
    _remove_rotated(home)


def _move_stage(home: Home, stage: Path, suffix: str) -> None:
    """Each step is one rename and may be done already."""
    home.snapshot.unlink(missing_ok=True)
    # The database last, so that it never stands beside foreign keys for long.
    second_keys = home.keys.with_name(f"{home.keys.name}.bak")
    for present in (home.keys, second_keys, home.head, home.vault):
        new = stage / present.name
        if not new.exists():
            continue
        if present == home.keys:
            _set_aside(second_keys, suffix)  # that of a restored vault is written with its first opening
        if present == home.vault:
            # A log goes with its vault: beside another one it would be played into it.
            for end in ("-wal", "-shm"):
                log = present.with_name(present.name + end)
                if log.exists():
                    log.replace(present.with_name(f"{present.name}{suffix}{end}"))
        _set_aside(present, suffix)
        new.rename(present)
    sync_directory(home.path)
    stage.rmdir()


def _set_aside(present: Path, suffix: str) -> None:
    if os.path.lexists(present):
        present.replace(present.with_name(present.name + suffix))


def _remove_rotated(home: Home) -> None:
    for old in home.path.glob(f"vault.*{_ROTATED}*"):
        old.unlink(missing_ok=True)


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
