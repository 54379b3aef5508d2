"""What opens, closes and re-keys a vault: the parts of an engine that the groups of this room share.

Everything here runs on one thread that outlives the vault's own. Must not do: check a secret, or read a vault.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass

from core.engine.home.key_log import audit_key_events
from core.engine.home.keys import HomeKeys
from core.engine.runtime.open_vault import VaultSlot
from core.errors import LociError
from core.security.keys import RootKey
from core.security.passphrase import KdfCost
from core.types.clock import Clock
from core.vault.bootstrap import OpenInfo


@dataclass(frozen=True, slots=True)
class HomeControl:
    """A home that this process may open.

    Attributes:
        slot: holds the open vault, while there is one.
        thread: the thread for opening and closing.
        unlock: opens the vault with its root key, which the engine wipes.
        lock: closes it.
        claim: takes the home for this process, if it has not got it; raises VAULT_BUSY, READ_ONLY.
        keys: the home's key file.
        cost: of a guess at a passphrase that is set here; None for the standard.
        take_over: asks another process that owns the vault to hand it over; None where it may keep it.
    """

    slot: VaultSlot
    thread: Executor
    unlock: Callable[[RootKey], OpenInfo]
    lock: Callable[[], None]
    claim: Callable[[], None]
    keys: HomeKeys
    clock: Clock
    cost: KdfCost | None = None
    take_over: Callable[[RootKey], None] | None = None

    def claim_present(self) -> None:
        """As `claim`, where there is a vault; a home that is not there is not made."""
        if self.keys.exists:
            self.claim()

    def audit_keys(self) -> None:
        """Put what just happened to the keys into the audit, where the vault is open; else its next opening does."""
        if self.slot.vault is not None:
            with suppress(LociError):  # the change itself is done
                audit_key_events(self.slot.vault.storage)
