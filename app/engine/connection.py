"""The way to an engine: the key slots of the home, then the engine that runs, else one in this process.

Two commands that start together want one vault; the second has its turn a moment later. Must not do: load the engine
where another one answers.
"""

from __future__ import annotations

import getpass
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from app.context import AppContext
from app.engine.session import Report, Tell, VerbSession
from app.garbage_collection import pause_collection
from core.engine.home.keys import HomeKeys, RootKey, read_secret_file
from core.errors import Code, LociError, PreconditionError, UserError
from core.ipc.client.client import Client
from core.types.clock import SystemClock
from core.types.values import OWNER_CHANNEL

_LONG_S = 3600.0
_PAGED = frozenset({"recall", "list", "history", "export", "exported"})
_LIMITS = {"recall": 10, "list": 50}  # items where the person names no limit, as the verbs themselves have it
_PATIENCE_S = 2.0
_POLL_S = 0.05
_ARCHIVE_FILE = "Name a file with the archive's passphrase with --archive-passphrase-file."


class RemoteSession:
    """The owner's channel of an engine that already runs.

    Attributes:
        client: greeted as the owner.
        has_unlocked: whether it was locked, and open for everybody from here on.
    """

    def __init__(self, client: Client) -> None:
        self.client = client
        self.has_unlocked = False

    def call(self, verb: str, params: Mapping[str, Any], progress: Report | None = None) -> dict[str, Any]:
        """Carry out one verb over the socket; see `VerbSession.call`."""
        has_items = verb != "export" or "to" not in params  # what goes into a file has none
        if verb in _PAGED and has_items:
            # Without a limit `collect` would follow `next` to the very end.
            limit = {"limit": _LIMITS[verb]} if verb in _LIMITS else {}
            return self.client.collect(
                f"owner.{verb}", {**limit, **params}, timeout_s=_LONG_S, with_next=verb == "list"
            )
        return self.client.call(f"owner.{verb}", params, progress=progress, timeout_s=_LONG_S)

    def older_copy(self) -> dict[str, Any] | None:
        """What the engine that runs says of its vault."""
        try:
            told: dict[str, Any] | None = self.client.call("owner.older_copy")["older_copy"]
        except LociError as error:
            if error.code is not Code.UNKNOWN_METHOD:  # an engine from before an update
                raise
            return None
        return told

    def close(self) -> None:
        """Hang up."""
        self.client.close()


_ARCHIVE_LEAST = 12  # as `core.archive.container` has it; said here before the second question


def ask_secret(app_context: AppContext) -> str:
    """The passphrase or recovery code: from the named file, else from the person.

    Raises:
        UserError: VAULT_LOCKED when there is neither a file nor somebody to ask.
    """
    if app_context.environment.secret_file is not None:
        return read_secret_file(app_context.environment.secret_file)
    if sys.stdin.isatty() and sys.stderr.isatty():
        return getpass.getpass("Passphrase: ", stream=sys.stderr)
    raise UserError(Code.VAULT_LOCKED, "This needs your passphrase: name a file that holds it with --passphrase-file.")


def ask_archive_passphrase(file: Path | None) -> str:
    """The passphrase of an archive that is there.

    Raises:
        PreconditionError: there is neither a file nor somebody to ask.
    """
    if file is not None:
        return read_secret_file(file)
    _need_terminal(_ARCHIVE_FILE)
    return getpass.getpass("Passphrase of the archive: ", stream=sys.stderr)


def ask_new_archive_passphrase(file: Path | None) -> str:
    """The passphrase of an archive that is to be written.

    Raises:
        UserError: INVALID_INPUT where it is too short, or the two that were typed do not match.
        PreconditionError: as `ask_archive_passphrase`.
    """
    if file is not None:
        return read_secret_file(file)
    _need_terminal(_ARCHIVE_FILE)
    first = getpass.getpass("Passphrase for the archive: ", stream=sys.stderr)
    if len(first) < _ARCHIVE_LEAST:
        raise UserError(
            Code.INVALID_INPUT,
            f"The passphrase of an archive has at least {_ARCHIVE_LEAST} characters. Nothing was written.",
        )
    if getpass.getpass("Repeat it: ", stream=sys.stderr) != first:
        raise UserError(Code.INVALID_INPUT, "The passphrases do not match. Nothing was written.")
    return first


def ask_sealed_passphrase(file: Path | None) -> str:
    """What opens the sealed memories: their passphrase or recovery code.

    Raises:
        PreconditionError: there is neither a file nor somebody to ask.
    """
    if file is not None:
        return read_secret_file(file)
    _need_terminal("Name a file with the passphrase of the sealed memories with --sealed-passphrase-file.")
    return getpass.getpass("Passphrase of the sealed memories: ", stream=sys.stderr)


def ask_new_sealed_passphrase(file: Path | None) -> str:
    """A new passphrase for the sealed memories.

    Raises:
        UserError: INVALID_INPUT where the two that were typed do not match.
        PreconditionError: as `ask_sealed_passphrase`.
    """
    if file is not None:
        return read_secret_file(file)
    _need_terminal("Name a file with the new passphrase with --new-passphrase-file.")
    first = getpass.getpass("New passphrase for sealed memories: ", stream=sys.stderr)
    if getpass.getpass("Repeat it: ", stream=sys.stderr) != first:
        raise UserError(Code.INVALID_INPUT, "The passphrases do not match. Nothing was changed.")
    return first


def _need_terminal(otherwise: str) -> None:
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise PreconditionError(otherwise)


def open_root(app_context: AppContext, secret: str | None = None) -> RootKey:
    """Open a key slot of the home.

    Args:
        secret: the passphrase or recovery code, where it was asked for already.

    Returns:
        The root; whoever asks wipes it.

    Raises:
        LociError: NO_VAULT, WRONG_SECRET, VAULT_LOCKED, KEYRING_UNAVAILABLE, KEY_FILE_DAMAGED.
    """
    keys = HomeKeys(app_context.home)
    keys.finish_replacement()
    if not keys.exists:
        raise UserError(Code.NO_VAULT, "There is no vault here yet; make one with `loci init`.")
    if secret is None and app_context.environment.secret_file is None and keys.in_keyring:
        return keys.open(None)
    return keys.open(ask_secret(app_context) if secret is None else secret)


def connect(app_context: AppContext, root: RootKey, *, unlock: bool = True) -> RemoteSession | None:
    """Greet the engine that runs, if one does; a locked one is unlocked.

    Args:
        root: an opened root.
        unlock: whether to unlock a locked one.

    Returns:
        The owner's channel; None where no engine answers, or where it is locked and stays so.

    Raises:
        LociError: VAULT_BUSY where another vault answers, ACCESS_DENIED where another program does.
    """
    keys = HomeKeys(app_context.home)
    try:
        return _greet_as_owner(app_context, keys, root)
    except LociError as error:
        if error.code is Code.NOT_HERE:
            return None
        if error.code is not Code.VAULT_LOCKED:
            raise
        if not unlock:
            return None
    with Client.connect(app_context.place) as client:
        client.unlock(keys.vault_id, keys.export_root(root), keys.lock_holder())
    session = _greet_as_owner(app_context, keys, root)
    session.has_unlocked = True
    return session


def _greet_as_owner(app_context: AppContext, keys: HomeKeys, root: RootKey) -> RemoteSession:
    client = Client.connect(app_context.place)
    try:
        client.greet(OWNER_CHANNEL, keys.owner_token(root), keys.vault_id)
    except BaseException:
        client.close()
        raise
    return RemoteSession(client)


def open_session(app_context: AppContext, tell: Tell) -> VerbSession:
    """The engine that runs, or one in this process.

    Args:
        tell: says what the person should know, on standard error.

    Returns:
        A session; the caller closes it.

    Raises:
        LociError: VAULT_BUSY where another process owns the vault and cannot be asked.
    """
    root = open_root(app_context)
    try:
        remote = connect(app_context, root)
        if remote is not None:
            root.wipe()
            if remote.has_unlocked:
                tell("The vault was locked; it is open again, for your assistants too.")
            return remote
        with pause_collection():
            from app.engine.local_session import open_local_session  # the engine is loaded where no other one runs

        return open_local_session(app_context, root, tell)
    except LociError:
        root.wipe()
        raise


def open_patient_session(app_context: AppContext, tell: Tell) -> VerbSession:
    """Open a session; where another process has the vault and does not answer yet, wait a little for it.

    Args:
        tell: says what the person should know, on standard error; nothing is said twice.

    Returns:
        A session; the caller closes it.

    Raises:
        LociError: VAULT_BUSY where it is still held after two seconds; as `open_session`.
    """
    said: set[str] = set()

    def tell_once(text: str) -> None:
        if text not in said:
            said.add(text)
            tell(text)

    clock = SystemClock()
    until: float | None = None
    while True:
        try:
            return open_session(app_context, tell_once)
        except LociError as error:
            if error.code is not Code.VAULT_BUSY:
                raise
            if until is None:
                until = clock.monotonic() + _PATIENCE_S
            if not _wait_until_free(app_context, clock, until):
                raise


def _wait_until_free(app_context: AppContext, clock: SystemClock, until: float) -> bool:
    """Wait until the lock is free or a socket answers; False when the time is over."""
    keys = HomeKeys(app_context.home)
    while clock.monotonic() < until:
        threading.Event().wait(_POLL_S)
        if keys.lock_holder() is None or app_context.is_answered:
            return True
    return False
