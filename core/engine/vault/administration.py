"""The vault as a whole: made, restored and opened, its secrets, status, verify, backup, lock.

Must not do: overwrite a vault that stands, keep a secret longer than a call, run anything slow on the caller's thread,
or repair what a check found.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from core.config.window import WindowOptions
from core.engine import health as metrics
from core.engine.home.keys import HomeKeys, signs_head, sub_keys
from core.engine.home.window_file import save_window
from core.engine.runtime.open_vault import OpenVault
from core.engine.runtime.storage import Storage
from core.engine.vault.home_control import HomeControl
from core.engine.vault.verification import ReportCheck, check_deeply, check_vault
from core.errors import Code, EnvironmentFaultError, IntegrityError, LociError, UserError
from core.security.atomic import write_atomic
from core.security.keyfile import backup_of, intact_body, load_keys, parse_body, save_keys
from core.security.keys import Purpose, RootKey
from core.security.passphrase import KdfCost
from core.security.slots import create_keys, open_with_secret, remove_slot
from core.types.clock import Clock
from core.types.replies import Presence, StatusReport
from core.types.values import OWNER_ACTOR
from core.vault.backup import OpenedKeys, RestoreInfo, make_backup, restore_backup
from core.vault.bootstrap import OpenInfo
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx
from core.vault.files.home import Home
from core.vault.files.lockfile import VaultLock
from core.vault.vault import Vault
from core.vault.verification import verify_vault as verify_vault


def create_vault(
    keys: HomeKeys,
    passphrase: str | None,
    clock: Clock,
    *,
    use_keyring: bool = False,
    test_clock: bool = False,
    cost: KdfCost | None = None,
    is_locked: bool = False,
) -> str:
    """Make a vault: keys first, then the vault they open. Never overwrites anything.

    Args:
        passphrase: for the passphrase slot; None only together with the keyring.
        use_keyring: whether the system's keyring shall hold a key slot too.
        test_clock: whether `LOCI_NOW` may move this vault's clock, for good.
        cost: of a guess at the passphrase; tests use the lowest.
        is_locked: whether the caller holds the vault's lock.

    Returns:
        The recovery code, to be shown once.

    Raises:
        UserError: VAULT_EXISTS, INVALID_INPUT.
        LociError: READ_ONLY, DISK_FULL, KEYRING_UNAVAILABLE.
    """
    if keys.exists:
        raise UserError(Code.VAULT_EXISTS, "There is already a vault here. It was not changed.")
    home = keys.home
    home.prepare_folders()
    with keys.hold_lock(is_locked):
        keyring = keys.keyring if use_keyring else None
        new = create_keys(passphrase, clock=clock, keyring=keyring, cost=cost, test_clock=test_clock)
        with new.root as root, ExitStack() as undo:
            save_keys(home.keys, new.keys)
            undo.callback(_remove_unused_keys, home)
            Vault.create_files(home, sub_keys(root), root.vault_id, clock)
            undo.pop_all()
        return new.recovery_code


def _remove_unused_keys(home: Home) -> None:
    """The vault could not be made (disk full, no right): its keys would only stand in the way."""
    home.keys.unlink(missing_ok=True)
    backup_of(home.keys).unlink(missing_ok=True)


def restore_vault(home: Home, archive: Path, secret: str, clock: Clock) -> RestoreInfo:
    """Put a backup in the place of the vault; the old one stays beside it as `*.before-restore`.

    Args:
        secret: the passphrase or recovery code of the backup.

    Raises:
        LociError: BACKUP_INVALID, WRONG_SECRET, VAULT_BUSY; the present vault is untouched.
    """

    def open_backup_keys(key_file: bytes) -> OpenedKeys:
        body = intact_body(key_file)
        if body is None:
            raise UserError(Code.BACKUP_INVALID, "The backup's key file is damaged; take another backup.")
        with open_with_secret(parse_body(body), secret) as root:
            return OpenedKeys(root.vault_id, sub_keys(root), root.derive(Purpose.BACKUP))

    home.prepare_folders()
    with VaultLock(home.lock), _without_wipe_note(home):
        info = restore_backup(archive, home, open_backup_keys, clock)
        home.snapshot.unlink(missing_ok=True)
    return info


@contextmanager
def _without_wipe_note(home: Home) -> Iterator[None]:
    """A restore is the person's newer word: a wipe that was interrupted must not take what is restored.

    The note is there again where the restore fails.
    """
    note = home.wiping.read_bytes() if home.wiping.is_file() and not home.wiping.is_symlink() else None
    home.wiping.unlink(missing_ok=True)
    try:
        yield
    except BaseException:
        if note is not None:
            write_atomic(home.wiping, note)
        raise


def write_backup(open_vault: OpenVault, to: Path | None) -> dict[str, Any]:
    """Write a backup; it was opened and checked before it got its name.

    Args:
        to: the file; None for the home's `backups/`.

    Returns:
        `{path, bytes, seq, rows}`.
    """
    keys = load_keys(open_vault.storage.home.keys, repair=False).keys
    try:
        portable = remove_slot(keys, "keyring")
    except UserError:
        portable = keys  # there is none: a keyring's slot is of no use on another machine
    made = make_backup(
        open_vault.storage.vault,
        sub_keys(open_vault.storage.root).db,
        open_vault.storage.root.derive(Purpose.BACKUP),
        portable.to_bytes(),
        open_vault.storage.clock.now_ms(),
        to,
        kept=open_vault.options.backups_kept,
    )
    place = made.path.absolute()
    if not place.is_relative_to(open_vault.storage.home.path):
        _note_backup(open_vault.storage, place, made.made_at_ms)
    return {"path": str(made.path), "bytes": made.size, "seq": made.seq, "rows": dict(made.counts)}


def _note_backup(storage: Storage, place: Path, made_at: int) -> None:
    """A backup leaves the home: audit it and remember its path. An older vault that nobody accepted is read only."""
    if storage.vault.older is not None:
        return
    from core.vault.copies import note_elsewhere  # not needed to open a vault

    def note(tx: Tx) -> None:
        with storage.work.verb(tx, "backup", "Back up to another place", OWNER_ACTOR):
            note_elsewhere(tx, place, made_at)

    storage.write(note).result()


_LETTER = """Recovery code of a Loci vault

    {code}

Whoever has this code can open the vault without its passphrase. Keep it where nobody else looks,
and not on the computer the vault is on.
"""
_SEALED_LETTER = """Recovery code of the sealed memories in a Loci vault

    {code}

Whoever has this code and can open the vault can read its sealed memories without their passphrase. Keep it
where nobody else looks, and not on the computer the vault is on.
"""


class VaultGroup:
    """The vault as a whole. What opens, closes or concerns secrets runs on a thread that outlives the vault's own."""

    def __init__(self, home: HomeControl, check_sealed: Callable[[Rows], tuple[int, int, int]]) -> None:
        """Work on one home.

        Args:
            home: what opens and closes its vault.
            check_sealed: tells how many sealed memories open, are damaged, and are closed.
        """
        self._home, self._check_sealed = home, check_sealed

    def read_presence(self) -> Future[Presence]:
        """Whether there is a vault, and how it may be opened; quick, opens nothing."""
        return self._home.thread.submit(self._read_presence)

    def _read_presence(self) -> Presence:
        if os.path.lexists(self._home.keys.home.wiping):
            with suppress(LociError):  # it is tried again; what is there meanwhile opens no more
                self._home.keys.finish_replacement()
        return self._home.keys.read_presence()

    def create(self, passphrase: str | None, use_keyring: bool = False) -> Future[str]:
        """Make a vault. It stays locked; open it next.

        Args:
            passphrase: for the passphrase slot; None only together with the keyring.
            use_keyring: whether the system's keyring shall hold a key slot too.

        Returns:
            The recovery code, to be shown once. The future raises VAULT_EXISTS, INVALID_INPUT, KEYRING_UNAVAILABLE,
            VAULT_BUSY, MEMORY_PRESSURE, DISK_FULL, READ_ONLY.
        """
        return self._home.thread.submit(self._create_vault, passphrase, use_keyring)

    def _create_vault(self, passphrase: str | None, use_keyring: bool) -> str:
        if self._home.keys.exists:
            raise UserError(Code.VAULT_EXISTS, "There is already a vault here. It was not changed.")
        self._home.claim()
        return create_vault(
            self._home.keys, passphrase, self._home.clock, use_keyring=use_keyring, cost=self._home.cost, is_locked=True
        )

    def open(self, secret: str | None = None) -> Future[OpenInfo]:
        """Open a key slot, then the vault.

        Args:
            secret: the passphrase or the recovery code; None for the system's keyring.

        Returns:
            What opening found. The future raises WRONG_SECRET, told at the slot before the vault is touched,
            KEYRING_UNAVAILABLE, VAULT_LOCKED where there is no keyring slot to go by, NO_VAULT, KEY_FILE_DAMAGED,
            VAULT_DAMAGED, VAULT_BUSY, NEWER_VERSION.
        """
        return self._home.thread.submit(self._open_with_secret, secret)

    def _open_with_secret(self, secret: str | None) -> OpenInfo:
        is_first = self._claim_for_opening()
        root = self._home.keys.open(secret)
        try:
            if not is_first and self._home.take_over is not None:
                self._home.take_over(root)
                self._home.claim()
            return self._home.unlock(root)
        except BaseException:
            root.wipe()
            raise

    def _claim_for_opening(self) -> bool:
        """Take the home, if there is one to take.

        Returns:
            Whether it is this process's now; False only where another one has it that may be asked to hand it over.
        """
        if not self._home.keys.exists and not self._home.keys.home.has_replacement:
            return True  # there is nothing to take, and no home to make
        try:
            self._home.claim()
        except EnvironmentFaultError as error:
            if error.code is not Code.VAULT_BUSY or self._home.take_over is None:
                raise
            return False
        self._home.keys.finish_replacement(is_locked=True)
        return True

    def change_passphrase(self, old: str, new: str) -> Future[None]:
        """Set or replace the passphrase, whether the vault is open or locked.

        Backups made earlier still open with the passphrase they were made with.

        Args:
            old: the passphrase or the recovery code.

        Returns:
            When it is saved. The future raises WRONG_SECRET, INVALID_INPUT, VAULT_BUSY, MEMORY_PRESSURE, DISK_FULL;
            then the old one still holds.
        """
        return self._home.thread.submit(self._change_passphrase, old, new)

    def _change_passphrase(self, old: str, new: str) -> None:
        self._home.claim_present()
        self._home.keys.change_passphrase(old, new, is_locked=True, cost=self._home.cost)
        self._home.audit_keys()

    def new_recovery_code(self, secret: str) -> Future[str]:
        """Make a recovery code. It opens nothing yet: `confirm_recovery_code` puts it in the old one's place.

        Args:
            secret: the passphrase or the recovery code.

        Returns:
            The new code, to be shown once; one made before and not confirmed is forgotten. The future raises
            WRONG_SECRET, VAULT_BUSY, MEMORY_PRESSURE.
        """
        return self._home.thread.submit(self._new_recovery_code, secret)

    def _new_recovery_code(self, secret: str) -> str:
        self._home.claim_present()
        return self._home.keys.new_recovery_code(secret)

    def confirm_recovery_code(self, code: str) -> Future[bool]:
        """Let the code that was made last replace the old one, which opens nothing from then on.

        Args:
            code: the new code as the person typed it back.

        Returns:
            False where that is not the new code, or none was made; then the old one still holds. The future raises
            VAULT_BUSY, DISK_FULL, READ_ONLY; then it holds too.
        """
        return self._home.thread.submit(self._confirm_recovery_code, code)

    def _confirm_recovery_code(self, code: str) -> bool:
        self._home.claim_present()
        is_held = self._home.keys.confirm_recovery_code(code, is_locked=True)
        self._home.audit_keys()
        return is_held

    def keep_recovery_code(self, code: str, to: Path, *, opens_sealed: bool = False) -> Future[None]:
        """Write a recovery code into a file that only this person may read.

        Args:
            code: as it was shown.
            to: the file; one that is there, or a link, is replaced.
            opens_sealed: whether it opens the sealed memories, not the vault; the file says which.

        Returns:
            When it is saved. The future raises INVALID_INPUT for a place in Loci's home, DISK_FULL, READ_ONLY,
            WRITE_FAILED.
        """
        return self._home.thread.submit(self._keep_recovery_code, _SEALED_LETTER if opens_sealed else _LETTER, code, to)

    def _keep_recovery_code(self, letter: str, code: str, to: Path) -> None:
        if to.parent.resolve().is_relative_to(self._home.keys.home.path.resolve()):
            raise UserError(Code.INVALID_INPUT, "That folder is Loci's own; keep the code in another place.")
        write_atomic(to, letter.format(code=code).encode("utf-8"))

    def keyring_available(self) -> Future[bool]:
        """Whether the system has a keyring that may be used; asking takes up to five seconds."""
        return self._home.thread.submit(self._home.keys.keyring_available)

    def keep_window(self, options: WindowOptions, state: Mapping[str, str] | None = None) -> Future[None]:
        """Write the window's options and state beside the vault; works while it is locked, and before there is one.

        Args:
            state: geometry and the like, text by name; None keeps what is there.

        Returns:
            When it is saved; see `core.engine.home.window_file.save_window` for what the future raises.
        """
        return self._home.thread.submit(save_window, self._home.keys.home.path, options, state)

    def read_status(self, *, brief: bool = False) -> Future[StatusReport]:
        """Counts, index, journal and the vault's own figures (E34.8).

        Args:
            brief: the few of them alone that may be asked for every other second.
        """
        open_vault = self._home.slot.require_vault()
        report_status = metrics.status_glance if brief else metrics.status_report
        return open_vault.storage.read_quietly(lambda rows: report_status(open_vault, rows))

    def verify(
        self,
        *,
        deep: bool = False,
        report: ReportCheck = lambda *_: None,
        is_cancelled: Callable[[], bool] = lambda: False,
    ) -> Future[dict[str, Any]]:
        """Check everything that can be checked; *failed* and *not checked* are told apart.

        Args:
            deep: every vector, both key files, certificates and known copies too; takes longer.
            report: told what is checked; of a deep check alone.
            is_cancelled: asked between its parts; the future raises CANCELLED then.
        """
        storage, search = self._home.slot.require_storage(), self._home.slot.require_search()
        if not deep:
            return storage.run_on(storage.threads.checks, check_vault, storage, search)
        return storage.run_on(
            storage.threads.checks, check_deeply, storage, search, report, is_cancelled, self._check_sealed
        )

    def backup(self, to: Path | None = None) -> Future[dict[str, Any]]:
        """Write a backup and verify it by opening it.

        Args:
            to: the file; None for the home's `backups/`, where the newest are kept.
        """
        open_vault = self._home.slot.require_vault()
        return open_vault.storage.run_on(open_vault.storage.threads.checks, write_backup, open_vault, to)

    def lock(self) -> Future[None]:
        """Close the vault."""
        return self._home.thread.submit(self._home.lock)

    def unlock(self, root: bytes) -> Future[OpenInfo]:
        """Open the vault with its root key.

        Args:
            root: 32 bytes.

        Returns:
            What opening found; the future raises WRONG_SECRET where the key is not this vault's.
        """
        return self._home.thread.submit(self._unlock_with, root)

    def _unlock_with(self, root: bytes) -> OpenInfo:
        key = RootKey(root, self._home.keys.vault_id)
        try:
            return self._home.unlock(key)
        except BaseException as error:
            # A key that came over the socket was not opened from a slot here: where it does not sign the head either,
            # it is the key that is wrong, not the vault.
            damaged = isinstance(error, IntegrityError) and error.code in (Code.VAULT_DAMAGED, Code.KEY_FILE_DAMAGED)
            is_wrong = damaged and not signs_head(self._home.keys.home, key)
            key.wipe()
            if is_wrong:
                raise UserError(Code.WRONG_SECRET, "That key does not open this vault.") from None
            raise
