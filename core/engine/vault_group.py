"""The facade's group for the vault as a whole: status, verify, backup, lock, unlock."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

from core.engine import checks, health
from core.engine.keys import signs_head
from core.engine.opened import Opened
from core.errors import Code, IntegrityError, UserError
from core.security.subkeys import RootKey
from core.types.replies import StatusReport
from core.vault.home import Home
from core.vault.opening import OpenInfo


class VaultGroup:
    """The vault as a whole. `lock` and `unlock` run on a thread that outlives the vault's own."""

    def __init__(
        self,
        opened: Callable[[], Opened],
        control: Executor,
        unlock: Callable[[RootKey], OpenInfo],
        lock: Callable[[], None],
        vault_id: Callable[[], bytes],
        home: Home,
    ) -> None:
        self._opened = opened
        self._control = control
        self._unlock = unlock
        self._lock = lock
        self._vault_id = vault_id
        self._home = home

    def status(self) -> Future[StatusReport]:
        """Counts, index, journal and the vault's own figures (E34.8)."""
        opened = self._opened()
        return opened.read(lambda rows: health.report(opened, rows))

    def verify(self) -> Future[dict[str, Any]]:
        """Check everything that can be checked; *failed* and *not checked* are told apart."""
        opened = self._opened()
        return opened.on(opened.threads.checks, checks.verify, opened)

    def backup(self, to: Path | None = None) -> Future[dict[str, Any]]:
        """Write a backup and verify it by opening it.

        Args:
            to: the file; None for the home's `backups/`, where the newest are kept.
        """
        opened = self._opened()
        return opened.on(opened.threads.checks, checks.backup, opened, to)

    def lock(self) -> Future[None]:
        """Close the vault."""
        return self._control.submit(self._lock)

    def unlock(self, root: bytes) -> Future[OpenInfo]:
        """Open the vault with its root key.

        Args:
            root: 32 bytes.

        Returns:
            What opening found; the future raises WRONG_SECRET where the key is not this vault's.
        """
        return self._control.submit(self._unlock_with, root)

    def _unlock_with(self, root: bytes) -> OpenInfo:
        key = RootKey(root, self._vault_id())
        try:
            return self._unlock(key)
        except BaseException as error:
            # A key that came over the socket was not opened from a slot here: where it does not sign the head either,
            # it is the key that is wrong, not the vault.
            damaged = isinstance(error, IntegrityError) and error.code is Code.VAULT_DAMAGED
            is_wrong = damaged and not signs_head(self._home, key)
            key.wipe()
            if is_wrong:
                raise UserError(Code.WRONG_SECRET, "That key does not open this vault.") from None
            raise
