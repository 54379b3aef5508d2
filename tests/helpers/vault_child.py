"""A process that works on a vault and is killed by its parent: `vault_child.py MODE HOME [..]`.

It prints one line for each thing that is certain (an id after its commit), flushed at once.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
from pathlib import Path

import vault_kit as kit

from core.errors import LociError
from core.types.clock import SystemClock
from core.vault.backup import make_backup
from core.vault.database.migrations import Migration, known_migrations
from core.vault.database.tx import Tx
from core.vault.files.lockfile import VaultLock
from core.vault.vault import Vault

SLOW = Migration(
    len(known_migrations()) + 1,
    "slow",
    (
        "ALTER TABLE rooms ADD COLUMN colour TEXT",
        *(("UPDATE memories SET importance = importance / 2",) * 50),
        "CREATE INDEX ix_rooms_colour ON rooms (colour)",
        "UPDATE memories SET importance = 0.125",
    ),
)


def say(line: object) -> None:
    """One certain thing."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def write(home: Path, first: int) -> None:
    """Memories in batches of one to nine, each batch one transaction, for ever."""
    vault = Vault.open(kit.home_at(home), kit.KEYS, kit.VAULT_ID, SystemClock(), 1)
    n = first
    while True:
        size = n % 9 + 1

        def batch(tx: Tx, start: int = n, count: int = size) -> None:
            for nr in range(start, start + count):
                kit.store(tx, nr, f"{kit.MARKER} number {nr} " + "word " * (nr % 200))

        vault.write(batch)
        n += size
        say(n - 1)


def migrate(home: Path) -> None:
    """Open with a slow further step."""
    say("start")
    steps = (*known_migrations(), SLOW)
    Vault.open(kit.home_at(home), kit.KEYS, kit.VAULT_ID, SystemClock(), 1, steps).close()
    say("done")


def back_up(home: Path, target: Path) -> None:
    """Backups, for ever."""
    vault = Vault.open(kit.home_at(home), kit.KEYS, kit.VAULT_ID, SystemClock(), 1)
    nr = 0
    while True:
        say("start")
        nr += 1
        at = kit.START_MS + nr * 1000
        made = make_backup(vault, kit.KEYS.db, kit.BACKUP_KEY, b"keys", at, target / f"{nr}.tar")
        say(made.path.name)


def open_once(home: Path) -> None:
    """Take the lock, open, say how it went, hold until stdin closes."""
    lock = VaultLock(kit.home_at(home).lock)
    try:
        lock.acquire()
        vault = Vault.open(kit.home_at(home), kit.KEYS, kit.VAULT_ID, SystemClock(), 1)
    except LociError as error:
        say(error.code.value)
        sys.exit(error.exit_code)
    say("open")
    sys.stdin.read()
    vault.close()
    lock.release()


def create(home: Path) -> None:
    """Make vaults under numbered names, for ever."""
    nr = 0
    while True:
        kit.new_vault(home / str(nr), SystemClock())
        say(nr)
        nr += 1


def limited(home: Path, size: int) -> None:
    """Write with a limit on the size of files; closing and reading must still work."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    vault = Vault.open(kit.home_at(home), kit.KEYS, kit.VAULT_ID, SystemClock(), 1)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    saved = 0
    try:
        while True:
            vault.write(lambda tx, n=saved + 1: kit.store(tx, n, "x" * 5000))  # type: ignore[misc]
            saved += 1
    except LociError as error:
        say(error.code.value)
    say(vault.read(lambda rows: rows.value("SELECT count(*) FROM memories")))
    say(saved)
    vault.close()
    say("closed")


if __name__ == "__main__":
    os.umask(0)
    mode, folder, *rest = sys.argv[1:]
    path = Path(folder)
    if mode == "write":
        write(path, int(rest[0]))
    elif mode == "migrate":
        migrate(path)
    elif mode == "back_up":
        back_up(path, Path(rest[0]))
    elif mode == "open":
        open_once(path)
    elif mode == "create":
        create(path)
    elif mode == "limited":
        limited(path, int(rest[0]))
