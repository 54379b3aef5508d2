"""When the open vault is backed up without being asked: the newest automatic backup is older than the person wants.

A vault in which nothing changed since its newest backup is not backed up again: copies of one state would push older
states out. What hinders a backup is logged, and tried again some hours later; Health tells how old the newest is.
Must not do: write a backup itself, or begin one in an engine that answers a single command.
"""

from __future__ import annotations

import threading
from concurrent.futures import Future

from core import log
from core.engine.runtime.open_vault import OpenVault
from core.engine.vault.administration import write_backup
from core.errors import LociError
from core.vault.backup import automatic_backups, made_at_ms, seq_of

FIRST_S = 120.0
"""After opening: whoever opens a vault waits for other things first."""
_LOOK_S = 600.0
_RETRY_S = 6 * 3600.0
_DAY_MS = 86_400_000
_log = log.get("engine")


class BackupSchedule:
    """The automatic backups of one open vault after another."""

    def __init__(self) -> None:
        """Nothing is looked at yet."""
        self._lock = threading.Lock()  # guards all below: looks and backups are on two threads
        self._vault: OpenVault | None = None
        self._look_at = 0.0
        self._is_running = False

    def run_when_due(self, open_vault: OpenVault) -> Future[object] | None:
        """Begin a backup where one is due.

        Returns:
            The backup; None where none begins now.

        Raises:
            LociError: what the vault said.
        """
        now = open_vault.storage.clock.monotonic()
        with self._lock:
            if self._vault is not open_vault:
                self._vault, self._look_at = open_vault, now + FIRST_S
            if self._is_running or now < self._look_at:
                return None
            self._look_at = now + _LOOK_S
        if not is_backup_due(open_vault):
            return None
        with self._lock:
            self._is_running = True
        storage = open_vault.storage
        running: Future[object] = storage.run_on(storage.threads.checks, write_backup, open_vault, None)
        running.add_done_callback(lambda done: self._end(open_vault, done))
        return running

    def _end(self, open_vault: OpenVault, done: Future[object]) -> None:
        error = None if done.cancelled() else done.exception()
        with self._lock:
            self._is_running = False
            if error is None:
                return
            self._look_at = open_vault.storage.clock.monotonic() + _RETRY_S
        if not open_vault.storage.closing.is_set():
            code = error.code.value if isinstance(error, LociError) else type(error).__name__
            _log.warning("an automatic backup was not made: %s", code)


def is_backup_due(open_vault: OpenVault) -> bool:
    """Whether the newest automatic backup is older than the person wants, and something changed since.

    Raises:
        LociError: what the vault said.
    """
    days, storage = open_vault.options.backup_days, open_vault.storage
    if days <= 0 or storage.vault.older is not None:
        return False
    made = automatic_backups(storage.home)
    if not made:
        return storage.vault.read(lambda rows: bool(rows.value("SELECT EXISTS (SELECT 1 FROM memories)")))
    seq = storage.vault.read(lambda rows: int(rows.value("SELECT seq FROM vault_state")))
    age = storage.clock.now_ms() - made_at_ms(made[0])
    return seq_of(made[0]) != seq and not 0 <= age < days * _DAY_MS
