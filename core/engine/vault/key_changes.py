"""Changes of the keys that reach further than one slot: new keys for the whole vault, and the keyring on and off.

They run on the thread that opens and closes the vault. Must not do: keep a secret longer than a call, or say that keys
hold before they do.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress

from core.engine.home.keys import NextKeys, sub_keys
from core.engine.vault.home_control import HomeControl
from core.errors import CancelledError, LociError, PreconditionError
from core.security.keys import RootKey
from core.types.replies import KeyRotationReport
from core.vault.rotation import RotationInfo, RotationStep, rotate_vault

ReportRotation = Callable[[str, int, int | None], None]


class KeyGroup:
    """New keys for a vault, and whether the system's keyring opens it."""

    def __init__(self, home: HomeControl) -> None:
        """Work on one home.

        Args:
            home: what opens and closes its vault.
        """
        self._home = home
        self._next: NextKeys | None = None

    def prepare_rotation(self, secret: str) -> Future[str]:
        """Make new keys in memory; `rotate` puts them in force.

        Args:
            secret: the passphrase; the recovery code where the vault has no passphrase.

        Returns:
            The new recovery code, to be shown once; keys made before and not put in force are forgotten. The future
            raises WRONG_SECRET, INVALID_INPUT, KEYRING_UNAVAILABLE, VAULT_BUSY, MEMORY_PRESSURE.
        """
        return self._home.thread.submit(self._prepare_rotation, secret)

    def _prepare_rotation(self, secret: str) -> str:
        self._home.claim_present()
        self._forget_next()
        self._next = self._home.keys.make_next_keys(secret, self._home.cost)
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
        return self._home.thread.submit(self._rotate, code, report, is_cancelled)

    def _rotate(self, code: str, report: ReportRotation, is_cancelled: Callable[[], bool]) -> KeyRotationReport | None:
        staged = self._next
        if staged is None or not staged.is_recovery_code(code):
            return None
        self._home.claim_present()
        try:
            if not self._home.keys.holds(staged.before):
                raise PreconditionError("The keys were changed meanwhile, so nothing was done; begin again.")
            done = self._rotate_to(staged, report, is_cancelled)
        finally:
            self._forget_next()
        return KeyRotationReport(done.rows, done.vault_bytes, done.old_backups, done.closed_copies)

    def _rotate_to(self, staged: NextKeys, report: ReportRotation, is_cancelled: Callable[[], bool]) -> RotationInfo:
        was_open = self._home.slot.vault is not None
        # Opened first in any case: that mends what a crash left and brings the schema up to date.
        self._home.unlock(_copy_root(staged.old))
        open_vault = self._home.slot.vault
        if open_vault is not None:
            open_vault.storage.vault.need_accepted()
        self._home.lock()
        is_switched = False

        def report_step(step: RotationStep, done: int, total: int) -> None:
            nonlocal is_switched
            is_switched = is_switched or step is RotationStep.SWITCH
            report(step.value, done, total)
            if is_cancelled() and not is_switched:
                raise CancelledError

        try:
            done = rotate_vault(
                self._home.keys.home,
                sub_keys(staged.old),
                sub_keys(staged.new.root),
                staged.old.vault_id,
                staged.new.keys.to_bytes(),
                self._home.clock,
                report_step,
            )
        except BaseException:
            if was_open:
                with suppress(LociError):  # the person is told of the first failure, and opens it again
                    self._home.unlock(_copy_root(staged.new.root if is_switched else staged.old))
            raise
        if was_open:
            self._home.unlock(_copy_root(staged.new.root))
        return done

    def turn_keyring_on(self, secret: str) -> Future[None]:
        """Let the system's keyring open the vault too.

        Args:
            secret: the passphrase or the recovery code.

        Returns:
            When it is saved. The future raises WRONG_SECRET, KEYRING_UNAVAILABLE, VAULT_BUSY, DISK_FULL; then nothing
            was changed.
        """
        return self._home.thread.submit(self._turn_keyring_on, secret)

    def _turn_keyring_on(self, secret: str) -> None:
        self._home.claim_present()
        self._home.keys.turn_keyring_on(secret, is_locked=True)
        self._home.audit_keys()

    def turn_keyring_off(self, secret: str) -> Future[bool]:
        """Let the system's keyring open the vault no more.

        Args:
            secret: the passphrase or the recovery code.

        Returns:
            Whether the keyring's entry is gone too; it opens nothing any more in any case. The future raises
            WRONG_SECRET, INVALID_INPUT, VAULT_BUSY, DISK_FULL; then nothing was changed.
        """
        return self._home.thread.submit(self._turn_keyring_off, secret)

    def _turn_keyring_off(self, secret: str) -> bool:
        self._home.claim_present()
        is_removed = self._home.keys.turn_keyring_off(secret, is_locked=True)
        self._home.audit_keys()
        return is_removed

    def _forget_next(self) -> None:
        if self._next is not None:
            self._next.wipe()
        self._next = None


def _copy_root(root: RootKey) -> RootKey:
    """A root that the engine may wipe."""
    return RootKey(root.expose_copy(), root.vault_id)
