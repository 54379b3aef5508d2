"""The keys of a home, for callers outside the engine: loading, opening, changing, and the owner's token.

This is the door for whoever only greets an engine that runs. Must not do: load the database or anything that lives
while a vault is open; what makes a vault is `core.engine.vault.administration`.
"""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core import log
from core.engine.home.key_log import KeyEvent, note_key_event
from core.errors import BugError, Code, IntegrityError, LociError, UserError
from core.security.guesses import GuessDelay
from core.security.handshake import owner_token
from core.security.keyfile import (
    KeyFile,
    RecoverySlot,
    is_copy_of_another_vault,
    keys_exist,
    load_keys,
    save_keys,
)
from core.security.keyring_client import HelperKeyring, Keyring, KeyringFaultError
from core.security.keys import Purpose, RootKey
from core.security.passphrase import KdfCost, read_secret_file
from core.security.slots import (
    NewKeys,
    add_keyring,
    change_passphrase,
    open_with_keyring,
    open_with_recovery,
    remove_slot,
    renew_recovery_code,
    renew_root,
    with_recovery_slot,
)
from core.types.clock import Clock, SystemClock
from core.vault.files.home import Home, SubKeys
from core.vault.files.lockfile import VaultLock
from core.vault.files.replacement import finish_replacement
from core.vault.head import open_counter, read_head, seal_counter

if TYPE_CHECKING:
    from core.types.files.wipe import WipeReport
    from core.types.replies import Presence

__all__ = ["Home", "HomeKeys", "NextKeys", "RootKey", "read_secret_file", "signs_head", "sub_keys"]

_log = log.get("engine")


def sub_keys(root: RootKey) -> SubKeys:
    """The keys the vault works with, derived from the root."""
    return SubKeys(db=root.derive(Purpose.VAULT), head=root.derive(Purpose.HEAD), audit=root.derive(Purpose.AUDIT))


def signs_head(home: Home, root: RootKey) -> bool:
    """Whether a root is the one that signed the home's `vault.head`.

    Returns:
        False also where the head is missing or damaged.
    """
    return read_head(home.head, root.derive(Purpose.HEAD), root.vault_id).state == "ok"


def _is_recovery_code(keys: KeyFile, typed: str) -> bool:
    try:
        open_with_recovery(keys, typed).wipe()
    except UserError as error:
        if error.code is not Code.WRONG_SECRET:
            raise
        return False
    return True


def _explain_wrong_secret(home: Home, error: UserError) -> UserError:
    """A secret that does not open the second copy may be right: the copy may be another vault's."""
    if error.code is not Code.WRONG_SECRET:
        return error
    if is_copy_of_another_vault(home.keys):
        return UserError(
            Code.WRONG_SECRET,
            "That does not open vault.keys, and vault.keys.bak beside it is another vault's; if the secret is right, "
            "vault.keys was exchanged: put this vault's own back (vault.keys.bak may be it).",
        )
    if not load_keys(home.keys, repair=False).from_backup:
        return error
    return UserError(
        Code.WRONG_SECRET,
        "That does not open vault.keys.bak, which was tried since vault.keys is missing or damaged; if the secret is "
        "right, the copy is another vault's: put this vault's own vault.keys back or restore a backup.",
    )


@dataclass(frozen=True)
class NextKeys:
    """Another root for a vault, with the slots that open it; nothing of it holds yet.

    Attributes:
        before: the key file that holds now.
        old: the root it opens; whoever asked wipes it.
        new: the next key file, root and recovery code.
    """

    before: KeyFile
    old: RootKey
    new: NewKeys

    def is_recovery_code(self, typed: str) -> bool:
        """Whether a text is the recovery code of the next keys.

        Args:
            typed: as a person types it.
        """
        return _is_recovery_code(self.new.keys, typed)

    def wipe(self) -> None:
        """Forget both roots."""
        self.old.wipe()
        self.new.root.wipe()


class HomeKeys:
    """What can be known and done with the key file of one home.

    Attributes:
        home: where it lies.
        may_repair: whether this process holds the vault's lock, so that a damaged copy may be written anew.
        keyring: the system's.
    """

    def __init__(
        self,
        home: Home,
        *,
        may_repair: bool = False,
        keyring: Keyring | None = None,
        guess_clock: Clock | None = None,
    ) -> None:
        self.home = home
        self._clock = guess_clock or SystemClock()
        self._guesses = GuessDelay(home.guesses, self._clock, lambda wrong: self._note(KeyEvent.FAILED_UNLOCKS, wrong))
        self.may_repair = may_repair
        self.keyring = keyring or HelperKeyring()
        self._staged: RecoverySlot | None = None

    @property
    def exists(self) -> bool:
        """Whether there is a vault or a key file, whole or not."""
        return keys_exist(self.home.keys) or not self.home.is_free()

    @property
    def vault_id(self) -> bytes:
        """The vault's public id, 16 bytes.

        Raises:
            LociError: NO_VAULT, KEY_FILE_DAMAGED, NEWER_VERSION.
        """
        return self._load_key_file().vault_id

    @property
    def has_test_clock(self) -> bool:
        """Whether this vault's clock may be moved (`init --test-clock`)."""
        return self._load_key_file().test_clock

    @property
    def in_keyring(self) -> bool:
        """Whether the system's keyring can open this vault."""
        return self._load_key_file().keyring_slot is not None

    def read_presence(self) -> Presence:
        """Whether there is a vault, and how it may be opened; opens nothing and changes nothing."""
        from core.types.replies import Presence  # a window asks this; a verb that greets an engine does not

        if not self.exists:
            return Presence(exists=False)
        try:
            keys = self._load_key_file()
        except LociError as error:
            return Presence(exists=True, problem=error.code.value, sentence=error.sentence)
        return Presence(
            exists=True,
            in_keyring=keys.keyring_slot is not None,
            has_passphrase=keys.passphrase_slot is not None,
            vault_id=keys.vault_id.hex(),
        )

    def _load_key_file(self) -> KeyFile:
        if not keys_exist(self.home.keys) and not self.home.is_free():
            raise IntegrityError(
                Code.KEY_FILE_DAMAGED, "The key file is missing; restore a backup or put vault.keys back."
            )
        return load_keys(self.home.keys, repair=self.may_repair).keys

    def open(self, secret: str | None) -> RootKey:
        """Open a slot.

        Args:
            secret: the passphrase or the recovery code; None for the system's keyring.

        Returns:
            The root; whoever asks wipes it.

        Raises:
            LociError: WRONG_SECRET, TOO_MANY_GUESSES, KEYRING_UNAVAILABLE, KEY_FILE_DAMAGED, NO_VAULT.
        """
        keys = self._load_key_file()
        if secret is not None:
            try:
                return self._guesses.open_slot(keys, secret)
            except UserError as error:
                fault = _explain_wrong_secret(self.home, error)
            raise fault
        if keys.keyring_slot is None:
            raise UserError(
                Code.VAULT_LOCKED, "The vault is locked; give its passphrase, for example with --passphrase-file."
            )
        return open_with_keyring(keys, self.keyring)

    def finish_replacement(self, *, is_locked: bool = False) -> None:
        """Finish a restore, a rotation or a wipe that was killed once decided, so that keys and vault belong together.

        Args:
            is_locked: whether the caller holds the vault's lock.

        Raises:
            EnvironmentFaultError: VAULT_BUSY, DISK_FULL, READ_ONLY.
        """
        self.finish_wipe(is_locked=is_locked)
        if self.home.has_replacement:
            with self.hold_lock(is_locked):
                finish_replacement(self.home)

    def finish_wipe(self, *, is_locked: bool = False) -> WipeReport | None:
        """Finish a wipe that was interrupted.

        Args:
            is_locked: whether the caller holds the vault's lock.

        Returns:
            What was done; None where there was nothing to finish.

        Raises:
            EnvironmentFaultError: VAULT_BUSY, READ_ONLY, WRITE_FAILED; call it again later.
        """
        if not os.path.lexists(self.home.wiping):
            return None
        from core.engine.home.removal import resume_wipe  # hardly ever asked for

        with self.hold_lock(is_locked):
            return resume_wipe(self.home, self.keyring, lambda: self.vault_id)

    def hold_lock(self, is_locked: bool) -> AbstractContextManager[object]:
        """The vault's lock for as long as a block runs, unless the caller holds it."""
        return nullcontext() if is_locked else VaultLock(self.home.lock)

    def change_passphrase(self, old: str, new: str, *, is_locked: bool = False, cost: KdfCost | None = None) -> None:
        """Set or replace the passphrase; recovery code and keyring stay. Earlier backups keep their old one.

        Args:
            old: the passphrase or the recovery code, so that a forgotten passphrase can be replaced.
            is_locked: whether the caller holds the vault's lock.
            cost: of a guess at it; tests use the lowest.

        Raises:
            UserError: WRONG_SECRET, INVALID_INPUT; nothing was changed.
            LociError: VAULT_BUSY, KEY_FILE_DAMAGED, NO_VAULT, MEMORY_PRESSURE, DISK_FULL, READ_ONLY.
        """
        with self.hold_lock(is_locked):
            keys = self._load_key_file()
            with self._guesses.open_slot(keys, old) as root:
                save_keys(self.home.keys, change_passphrase(keys, root, new, cost))
                self._note(KeyEvent.PASSPHRASE_CHANGED)

    def new_recovery_code(self, secret: str) -> str:
        """Make a recovery code and keep its slot in memory; nothing is written, and the old code holds.

        Args:
            secret: the passphrase or the recovery code.

        Returns:
            The new code, to be shown once.

        Raises:
            UserError: WRONG_SECRET.
            LociError: KEY_FILE_DAMAGED, NO_VAULT, MEMORY_PRESSURE.
        """
        keys = self._load_key_file()
        with self._guesses.open_slot(keys, secret) as root:
            renewed, code = renew_recovery_code(keys, root)
        self._staged = renewed.recovery_slot
        return code

    def confirm_recovery_code(self, typed: str, *, is_locked: bool = False) -> bool:
        """Put the slot that was made last in force; the old code opens nothing any more.

        Args:
            typed: the new code as a person types it.
            is_locked: whether the caller holds the vault's lock.

        Returns:
            False where it does not open that slot; nothing was changed.

        Raises:
            LociError: VAULT_BUSY, KEY_FILE_DAMAGED, NO_VAULT, DISK_FULL, READ_ONLY; the old code still holds.
        """
        if self._staged is None:
            return False
        with self.hold_lock(is_locked):
            renewed = with_recovery_slot(self._load_key_file(), self._staged)
            if not _is_recovery_code(renewed, typed):
                return False
            save_keys(self.home.keys, renewed)
            self._note(KeyEvent.RECOVERY_CODE)
        self._staged = None
        return True

    def make_next_keys(self, secret: str, cost: KdfCost | None = None) -> NextKeys:
        """Make another root and its slots in memory; nothing is written, and what holds goes on holding.

        Args:
            secret: the passphrase; the recovery code where the vault has no passphrase.
            cost: of a guess at the passphrase; tests use the lowest.

        Raises:
            UserError: WRONG_SECRET, INVALID_INPUT.
            LociError: KEY_FILE_DAMAGED, NO_VAULT, KEYRING_UNAVAILABLE, MEMORY_PRESSURE.
        """
        keys = self._load_key_file()
        old = self._guesses.open_slot(keys, secret)
        try:
            passphrase = None if _is_recovery_code(keys, secret) else secret
            return NextKeys(keys, old, renew_root(keys, passphrase, keyring=self.keyring, cost=cost))
        except BaseException:
            old.wipe()
            raise

    def holds(self, keys: KeyFile) -> bool:
        """Whether a key file is the one of the home now.

        Args:
            keys: as it was read before.
        """
        return self._load_key_file() == keys

    def turn_keyring_on(self, secret: str, *, is_locked: bool = False) -> None:
        """Let the system's keyring open the vault too; it keeps a random key, never the root.

        Args:
            secret: the passphrase or the recovery code.
            is_locked: whether the caller holds the vault's lock.

        Raises:
            UserError: WRONG_SECRET; nothing was changed.
            LociError: KEYRING_UNAVAILABLE, VAULT_BUSY, KEY_FILE_DAMAGED, NO_VAULT, DISK_FULL, READ_ONLY.
        """
        with self.hold_lock(is_locked):
            keys = self._load_key_file()
            with self._guesses.open_slot(keys, secret) as root:
                save_keys(self.home.keys, add_keyring(keys, root, self.keyring))
                self._note(KeyEvent.KEYRING_ON)

    def turn_keyring_off(self, secret: str, *, is_locked: bool = False) -> bool:
        """Let the system's keyring open the vault no more, and remove what it keeps of it.

        Args:
            secret: the passphrase or the recovery code: whoever turns it off can open the vault afterwards.
            is_locked: whether the caller holds the vault's lock.

        Returns:
            Whether the keyring's entry is gone; where it is not, it opens nothing any more.

        Raises:
            UserError: WRONG_SECRET, INVALID_INPUT; nothing was changed.
            LociError: VAULT_BUSY, KEY_FILE_DAMAGED, NO_VAULT, DISK_FULL, READ_ONLY.
        """
        with self.hold_lock(is_locked):
            keys = self._load_key_file()
            self._guesses.open_slot(keys, secret).wipe()
            slot = keys.keyring_slot
            save_keys(self.home.keys, remove_slot(keys, "keyring"))
            self._note(KeyEvent.KEYRING_OFF)
        if slot is None:
            raise BugError("keyring slot that was removed")
        try:
            self.keyring.remove(keys.vault_id, slot.backend)
        except KeyringFaultError:
            return False
        return True

    def _note(self, event: KeyEvent, count: int = 0) -> None:
        note_key_event(self.home, event, self._clock.now_ms(), count)

    def keyring_available(self) -> bool:
        """Whether the system has a keyring that may be used; asks it, which may take five seconds."""
        try:
            self.keyring.probe()
        except KeyringFaultError:
            return False
        return True

    def seen_counter(self, root: RootKey) -> int | None:
        """The sequence last seen here, as the system's keyring tells it; may take five seconds.

        Returns:
            None where the vault is in no keyring, or the keyring tells nothing: that is never an alarm.
        """
        try:
            slot = self._load_key_file().keyring_slot
            if slot is not None:
                sealed = self.keyring.fetch_counter(root.vault_id, self.home.digest, slot.backend)
                return open_counter(root.derive(Purpose.HEAD), root.vault_id, sealed)
        except Exception as error:  # noqa: BLE001 - whatever is wrong with a keyring, the vault opens without it
            _log.info("the keyring tells no counter: %s", type(error).__name__)
        return None

    def keep_counter(self, root: RootKey, seq: int) -> bool:
        """Let the system's keyring know the sequence last saved, where the vault is in one; may take five seconds.

        Args:
            seq: what was saved; never more.

        Returns:
            Whether it is kept; otherwise the counter lags behind, which does no harm.
        """
        try:
            slot = self._load_key_file().keyring_slot
            if slot is not None:
                sealed = seal_counter(root.derive(Purpose.HEAD), root.vault_id, seq)
                self.keyring.store_counter(root.vault_id, self.home.digest, slot.backend, sealed)
                return True
        except Exception as error:  # noqa: BLE001 - as for reading it
            _log.info("the keyring kept no counter: %s", type(error).__name__)
        return False

    def lock_holder(self) -> int | None:
        """The process that has the vault, where that is told."""
        return VaultLock(self.home.lock).find_holder()

    def export_root(self, root: RootKey) -> bytes:
        """The root's bytes, for the one call that unlocks an engine of the same user over the owner's channel."""
        return root.expose_copy()

    def owner_token(self, root: RootKey) -> bytes:
        """The token of the owner's channel, 32 bytes."""
        return owner_token(root)
