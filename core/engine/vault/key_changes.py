"""Changes of the keys that reach further than one slot: new keys for the whole vault, and the keyring on and off.

They run on the thread that opens and closes the vault. Must not do: keep a secret longer than a call, or say that keys
hold before they do.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from contextlib import suppress

from core.engine.home.keys import HomeKeys, NextKeys, sub_keys
from core.engine.runtime.open_vault import OpenVault
from core.errors import CancelledError, LociError, PreconditionError
from core.security.keys import RootKey
from core.security.passphrase import KdfCost
from core.types.clock import Clock
from core.types.replies import KeyRotationReport
from core.vault.bootstrap import OpenInfo
from core.vault.rotation import RotationInfo, RotationStep, rotate_vault

ReportRotation = Callable[[str, int, int | None], None]


class KeyGroup:
    """New keys for a vault, and whether the system's keyring opens it."""

    def __init__(
        self,
        control: Executor,
        open_vault: Callable[[], OpenVault | None],
        unlock: Callable[[RootKey], OpenInfo],
        lock: Callable[[], None],
        claim: Callable[[], None],
        keys: HomeKeys,
        clock: Clock,
        cost: KdfCost | None = None,
    ) -> None:
        """Tie the ends together.

        Args:
            control: the thread for opening and closing.
            open_vault: gives the open vault; None where it is locked.
            lock: closes it.
            claim: takes the vault's lock for this process, if it has not got it.
            keys: the home's key file.
            cost: of a guess at a passphrase that is set here; None for the standard.
        """
        self._control = control
        self._get_vault = open_vault
        self._unlock = unlock
        self._lock = lock
        self._claim = claim
        self._keys = keys
        self._clock = clock
        self._cost = cost
        self._next: NextKeys | None = None

    def prepare_rotation(self, secret: str) -> Future[str]:
        """Make new keys in memory; `rotate` puts them in force.

        Args:
            secret: the passphrase; the recovery code where the vault has no passphrase.

        Returns:
            The new recovery code, to be shown once; keys made before and not put in force are forgotten. The future
            raises WRONG_SECRET, INVALID_INPUT, KEYRING_UNAVAILABLE, VAULT_BUSY, MEMORY_PRESSURE.
        """
        return self._control.submit(self._prepare_rotation, secret)

    def _prepare_rotation(self, secret: str) -> str:
        self._claim_present()
        self._forget_next()
        self._next = self._keys.make_next_keys(secret, self._cost)
        return self._next.new.recovery_code

    def rotate(
        self,
        code: str,
        report: ReportRotation = lambda *_: None,
        is_cancelled: Callable[[], bool] = lambda: False,
    ) -> Future[KeyRotationReport | None]:
        """Encrypt the whole vault under the keys that were made last; it is closed meanwhile, and every session ends.

        Args:
            code: the new recovery code as the person typed it back.
            report: told what is done by its code word, with done and total.
            is_cancelled: asked at safe points until the new keys hold.

        Returns:
            What was done; None where that is not the new code, or no keys were made, and nothing was changed. The
            future raises DISK_FULL, READ_ONLY, VAULT_DAMAGED, OLDER_VAULT, CANCELLED; then the old keys hold.
        """
        return self._control.submit(self._rotate, code, report, is_cancelled)

    def _rotate(self, code: str, report: ReportRotation, is_cancelled: Callable[[], bool]) -> KeyRotationReport | None:
        staged = self._next
        if staged is None or not staged.is_recovery_code(code):
            return None
        self._claim_present()
        try:
            if not self._keys.holds(staged.before):
                raise PreconditionError("The keys were changed meanwhile, so nothing was done; begin again.")
            done = self._rotate_to(staged, report, is_cancelled)
        finally:
            self._forget_next()
        return KeyRotationReport(done.rows, done.vault_bytes, done.old_backups, done.closed_copies)

    def _rotate_to(self, staged: NextKeys, report: ReportRotation, is_cancelled: Callable[[], bool]) -> RotationInfo:
        was_open = self._get_vault() is not None
        # Opened first in any case: that mends what a crash left and brings the schema up to date.
        self._unlock(_copy_root(staged.old))
        open_vault = self._get_vault()
        if open_vault is not None:
            open_vault.storage.vault.need_accepted()
        self._lock()
        is_switched = False

        def report_step(step: RotationStep, done: int, total: int) -> None:
            nonlocal is_switched
            is_switched = is_switched or step is RotationStep.SWITCH
            report(step.value, done, total)
            if is_cancelled() and not is_switched:
                raise CancelledError

        try:
            done = rotate_vault(
                self._keys.home,
                sub_keys(staged.old),
                sub_keys(staged.new.root),
                staged.old.vault_id,
                staged.new.keys.to_bytes(),
                self._clock,
                report_step,
            )
        except BaseException:
            if was_open:
                with suppress(LociError):  # the person is told of the first failure, and opens it again
                    self._unlock(_copy_root(staged.new.root if is_switched else staged.old))
            raise
        if was_open:
            self._unlock(_copy_root(staged.new.root))
        return done

    def turn_keyring_on(self, secret: str) -> Future[None]:
        """Let the system's keyring open the vault too.

        Args:
            secret: the passphrase or the recovery code.

        Returns:
            When it is saved. The future raises WRONG_SECRET, KEYRING_UNAVAILABLE, VAULT_BUSY, DISK_FULL; then nothing
            was changed.
        """
        return self._control.submit(self._turn_keyring_on, secret)

    def _turn_keyring_on(self, secret: str) -> None:
        self._claim_present()
        self._keys.turn_keyring_on(secret, is_locked=True)

    def turn_keyring_off(self, secret: str) -> Future[bool]:
        """Let the system's keyring open the vault no more.

        Args:
            secret: the passphrase or the recovery code.

        Returns:
            Whether the keyring's entry is gone too; it opens nothing any more in any case. The future raises
            WRONG_SECRET, INVALID_INPUT, VAULT_BUSY, DISK_FULL; then nothing was changed.
        """
        return self._control.submit(self._turn_keyring_off, secret)

    def _turn_keyring_off(self, secret: str) -> bool:
        self._claim_present()
        return self._keys.turn_keyring_off(secret, is_locked=True)

    def _claim_present(self) -> None:
        if self._keys.exists:
            self._claim()

    def _forget_next(self) -> None:
        if self._next is not None:
            self._next.wipe()
        self._next = None


def _copy_root(root: RootKey) -> RootKey:
    """A root that the engine may wipe."""
    return RootKey(root.expose_copy(), root.vault_id)
