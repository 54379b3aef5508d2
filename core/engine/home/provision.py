"""A vault where a home has none: made new with its keys, or put back from a backup.

Must not do: overwrite a vault that stands; a restore keeps the old one beside the new one.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from core.engine.home.keys import HomeKeys, sub_keys
from core.errors import Code, UserError
from core.security.kdf import KdfCost
from core.security.keyfile import intact_body, parse_body
from core.security.keystore import backup_of, save_keys
from core.security.slots import create_keys, open_with_secret
from core.security.subkeys import Purpose
from core.types.clock import Clock
from core.vault.backup import OpenedKeys, RestoreInfo, restore
from core.vault.files.home import Home
from core.vault.files.lockfile import VaultLock
from core.vault.vault import Vault


def create_vault(
    keys: HomeKeys,
    passphrase: str | None,
    clock: Clock,
    *,
    use_keyring: bool = False,
    test_clock: bool = False,
    cost: KdfCost | None = None,
    is_held: bool = False,
) -> str:
    """Make a vault: keys first, then the vault they open. Never overwrites anything.

    Args:
        keys: of the home.
        passphrase: for the passphrase slot; None only together with the keyring.
        use_keyring: whether the system's keyring shall hold a key slot too.
        test_clock: whether `LOCI_NOW` may move this vault's clock, for good.
        cost: of a guess at the passphrase; tests use the lowest.
        is_held: whether the caller holds the vault's lock.

    Returns:
        The recovery code, to be shown once.

    Raises:
        UserError: VAULT_EXISTS, INVALID_INPUT.
        LociError: READ_ONLY, DISK_FULL, KEYRING_UNAVAILABLE.
    """
    if keys.exist:
        raise UserError(Code.VAULT_EXISTS, "There is a vault here already; it is left as it is.")
    home = keys.home
    home.prepare()
    with keys.held(is_held):
        keyring = keys.keyring if use_keyring else None
        new = create_keys(passphrase, clock=clock, keyring=keyring, cost=cost, test_clock=test_clock)
        with new.root as root, ExitStack() as undo:
            save_keys(home.keys, new.keys)
            undo.callback(_remove_keys, home)
            Vault.create(home, sub_keys(root), root.vault_id, clock)
            undo.pop_all()
        return new.recovery_code


def _remove_keys(home: Home) -> None:
    """The vault could not be made (disk full, no right): its keys would only stand in the way."""
    home.keys.unlink(missing_ok=True)
    backup_of(home.keys).unlink(missing_ok=True)


def restore_vault(home: Home, archive: Path, secret: str, clock: Clock) -> RestoreInfo:
    """Put a backup in the place of the vault; the old one stays beside it as `*.before-restore`.

    Args:
        home: where to.
        archive: the backup.
        secret: the passphrase or recovery code of the backup.

    Returns:
        What was restored.

    Raises:
        LociError: BACKUP_INVALID, WRONG_SECRET, VAULT_BUSY; the present vault is untouched.
    """

    def opened(key_file: bytes) -> OpenedKeys:
        body = intact_body(key_file)
        if body is None:
            raise UserError(Code.BACKUP_INVALID, "The backup's key file is damaged; take another backup.")
        with open_with_secret(parse_body(body), secret) as root:
            return OpenedKeys(root.vault_id, sub_keys(root), root.derive(Purpose.BACKUP))

    home.prepare()
    with VaultLock(home.lock):
        info = restore(archive, home, opened, clock)
        home.snapshot.unlink(missing_ok=True)
    return info
