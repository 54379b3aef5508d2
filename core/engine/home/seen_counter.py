"""The sequence last saved, kept in the system's keyring beside `vault.head`."""

from __future__ import annotations

from concurrent.futures import TimeoutError as TooLate
from contextlib import suppress

from core.engine.home.keys import HomeKeys
from core.engine.runtime.futures import begin
from core.engine.runtime.open_vault import OpenVault
from core.engine.runtime.threads import Threads
from core.errors import LociError
from core.security.subkeys import RootKey

_KEYRING_S = 2.0  # of the time a person waits for the vault to open
_KEPT_EVERY_S = 300.0


class SeenCounter:
    """The sequence last saved, in the system's keyring too where the vault is in one.

    It tells an older copy where `vault.head` was put back together with it. It is set when the vault closes and every
    few minutes, never with each change: it may lag behind, and never runs ahead of what is saved.
    """

    def __init__(self, keys: HomeKeys) -> None:
        """Know nothing yet.

        Args:
            keys: of the home.
        """
        self._keys = keys
        self._kept: int | None = None

    def read(self, root: RootKey, threads: Threads) -> int | None:
        """What the keyring tells; a keyring that does not answer holds up nothing for long.

        Args:
            threads: of the vault that is being opened.

        Returns:
            The sequence; None where it tells nothing.
        """
        self._kept = None
        with suppress(LociError, TooLate):
            if self._keys.in_keyring:
                self._kept = begin(threads.checks, self._keys.seen_counter, root).result(_KEYRING_S)
        return self._kept

    def begin(self, opened: OpenVault) -> None:
        """Keep it up to date until the vault closes.

        Args:
            opened: the open vault, which is the newest, or accepted.
        """
        with suppress(LociError):
            if self._keys.in_keyring:
                opened.threads.every(_KEPT_EVERY_S, lambda: self._keep(opened), "counter")
                if self._kept is None or self._kept > opened.vault.seq:
                    begin(opened.threads.checks, self._keep, opened)

    def end(self, opened: OpenVault) -> None:
        """Set it once more, beside what else closing does.

        Args:
            opened: the vault, still open.
        """
        with suppress(LociError):
            if self._keys.in_keyring and opened.vault.older is None:
                begin(opened.threads.checks, self._keep, opened)

    def _keep(self, opened: OpenVault) -> None:
        seq = opened.vault.seq
        if seq != self._kept and self._keys.keep_counter(opened.root, seq):
            self._kept = seq
