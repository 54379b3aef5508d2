"""`vault.keys` and `vault.keys.bak` on the disk.

Both hold the same bytes; the second is there for the day the first is damaged.
Must not do: open slots, create a vault, write when it is not told it may.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from core.errors import Code, EnvironmentFaultError, UserError
from core.security.atomic import write_atomic
from core.security.keyfile import MAX_FILE_BYTES, KeyFile, intact_body, key_file_damaged, parse_body

_BACKUP = ".bak"


@dataclass(frozen=True)
class LoadedKeys:
    """A key file as it was found.

    Attributes:
        keys: its content.
        from_backup: the main copy was missing or damaged, the second one was used.
        repaired: a missing, damaged or differing copy was written anew.
    """

    keys: KeyFile
    from_backup: bool
    repaired: bool


def backup_of(path: Path) -> Path:
    """Where the second copy of a key file is.

    Args:
        path: `vault.keys`.

    Returns:
        `vault.keys.bak` beside it.
    """
    return path.with_name(path.name + _BACKUP)


def keys_exist(path: Path) -> bool:
    """Whether there is anything, whole or not, under either name; then no vault may be created here.

    Args:
        path: `vault.keys`.

    Returns:
        True when either name is taken, be it by a broken link.
    """
    return os.path.lexists(path) or os.path.lexists(backup_of(path))


def load_keys(path: Path, *, repair: bool = True) -> LoadedKeys:
    """Read the key file, from its second copy if need be. Tries no secret.

    Args:
        path: `vault.keys`.
        repair: write the bad or outdated copy anew from the good one. Only the holder of the
            vault's lock may: another process could be saving new slots just now.

    Returns:
        The key file and where it came from.

    Raises:
        UserError: NO_VAULT where neither copy exists; NEWER_VERSION.
        IntegrityError: KEY_FILE_DAMAGED; both copies are damaged, or an intact one holds
            what Loci does not accept.
        EnvironmentFaultError: ACCESS_DENIED; no right to read.
    """
    if not keys_exist(path):
        raise UserError(Code.NO_VAULT, "There is no vault here yet; make one with `loci init`.")
    main, backup = _read(path), _read(backup_of(path))
    main_body = None if main is None else intact_body(main)
    backup_body = None if backup is None else intact_body(backup)
    body = backup_body if main_body is None else main_body
    if body is None:
        raise key_file_damaged()
    # An intact main copy with unacceptable content was written so on purpose: falling back to the
    # second copy would quietly bring back slots that someone removed, so this refuses instead.
    keys = parse_body(body)
    repaired = repair and main_body != backup_body and _repair(path, keys, main_is_bad=main_body is None)
    return LoadedKeys(keys, from_backup=main_body is None, repaired=repaired)


def save_keys(path: Path, keys: KeyFile) -> None:
    """Write both copies, the main one first; a kill at any moment leaves a whole file in each place.

    Args:
        path: `vault.keys`; the caller holds the vault's lock.
        keys: what to keep.

    Raises:
        EnvironmentFaultError: DISK_FULL, READ_ONLY or WRITE_FAILED.
    """
    data = keys.to_bytes()
    write_atomic(path, data)
    write_atomic(backup_of(path), data)


def _repair(path: Path, keys: KeyFile, *, main_is_bad: bool) -> bool:
    try:
        write_atomic(path if main_is_bad else backup_of(path), keys.to_bytes())
    except EnvironmentFaultError:
        # A full or read-only disk must not keep a person from a vault whose keys were read well.
        return False
    return True


def _read(path: Path) -> bytes | None:
    """At most one byte more than a key file may have; None for what is no readable regular file."""
    denied = False
    try:
        # Not blocking, or a FIFO under this name would hold us for ever.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except PermissionError:
        denied = True
    except OSError:
        return None
    if denied:
        raise EnvironmentFaultError(Code.ACCESS_DENIED, "The key file may not be read; check its permissions.")
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        return _read_some(descriptor, MAX_FILE_BYTES + 1)
    except OSError:
        return None
    finally:
        os.close(descriptor)


def _read_some(descriptor: int, most: int) -> bytes:
    held = b""
    while len(held) < most:
        more = os.read(descriptor, most - len(held))
        if not more:
            break
        held += more
    return held
