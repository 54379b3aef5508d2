"""One conversation with the engine: in this process, or with the engine that already runs."""

from __future__ import annotations

import getpass
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from app.parts import Parts
from core.engine.home.keys import HomeKeys, RootKey, read_secret_file
from core.errors import Code, LociError, UserError
from core.ipc.client.client import Client
from core.ipc.protocol.document import protocol_document

OWNER = "@owner"
_LONG_S = 3600.0
_PAGED = frozenset({"recall", "list", "history", "export", "exported"})
_LIMITS = {"recall": 10, "list": 50}  # items where the person names no limit, as the verbs themselves have it

Tell = Callable[[str], None]
Report = Callable[[str, int, int | None], None]


class Session(Protocol):
    """Something that answers the command line's verbs."""

    def call(self, verb: str, params: Mapping[str, Any], progress: Report | None = None) -> dict[str, Any]:
        """Carry out one verb.

        Args:
            verb: a name of `core.ipc.methods.owner.table.VERBS`.
            params: its parameters.
            progress: told (label, done, total).

        Returns:
            The reply in the shape of the contract.
        """
        ...

    def older_copy(self) -> dict[str, Any] | None:
        """What is known of an older copy of the vault that nobody has accepted; None where there is nothing to say."""
        ...

    def close(self) -> None:
        """End the conversation."""
        ...


def changes(verb: str) -> bool:
    """Whether a verb of the command line changes what is kept.

    Args:
        verb: as for `Session.call`.
    """
    method = protocol_document()["methods"][f"owner.{verb}"]
    return bool(method["effect"] == "write")


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
        """Carry out one verb over the socket; see `Session.call`."""
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


def ask_secret(parts: Parts) -> str:
    """The passphrase or recovery code: from the named file, else from the person.

    Args:
        parts: the process's parts.

    Returns:
        The secret.

    Raises:
        UserError: VAULT_LOCKED when there is neither a file nor somebody to ask.
    """
    if parts.environment.secret_file is not None:
        return read_secret_file(parts.environment.secret_file)
    if sys.stdin.isatty() and sys.stderr.isatty():
        return getpass.getpass("Passphrase: ", stream=sys.stderr)
    raise UserError(Code.VAULT_LOCKED, "This needs your passphrase: name a file that holds it with --passphrase-file.")


def open_root(parts: Parts, secret: str | None = None) -> RootKey:
    """Open a key slot of the home.

    Args:
        parts: the process's parts.
        secret: the passphrase or recovery code, where it was asked for already.

    Returns:
        The root; whoever asks wipes it.

    Raises:
        LociError: NO_VAULT, WRONG_SECRET, VAULT_LOCKED, KEYRING_UNAVAILABLE, KEY_FILE_DAMAGED.
    """
    keys = HomeKeys(parts.home)
    keys.finish_restore()
    if not keys.exist:
        raise UserError(Code.NO_VAULT, "There is no vault here yet; make one with `loci init`.")
    if secret is None and parts.environment.secret_file is None and keys.in_keyring:
        return keys.open(None)
    return keys.open(ask_secret(parts) if secret is None else secret)


def connect(parts: Parts, root: RootKey, *, unlock: bool = True) -> RemoteSession | None:
    """Greet the engine that runs, if one does; a locked one is unlocked.

    Args:
        parts: the process's parts.
        root: an opened root.
        unlock: whether to unlock a locked one.

    Returns:
        The owner's channel; None where no engine answers, or where it is locked and stays so.

    Raises:
        LociError: VAULT_BUSY where another vault answers, ACCESS_DENIED where another program does.
    """
    keys = HomeKeys(parts.home)
    try:
        return _greeted(parts, keys, root)
    except LociError as error:
        if error.code is Code.NOT_HERE:
            return None
        if error.code is not Code.VAULT_LOCKED:
            raise
        if not unlock:
            return None
    with Client.connect(parts.place) as client:
        client.unlock(keys.vault_id, keys.handed(root), keys.lock_holder())
    session = _greeted(parts, keys, root)
    session.has_unlocked = True
    return session


def _greeted(parts: Parts, keys: HomeKeys, root: RootKey) -> RemoteSession:
    client = Client.connect(parts.place)
    try:
        client.greet(OWNER, keys.owner_token(root), keys.vault_id)
    except BaseException:
        client.close()
        raise
    return RemoteSession(client)


def open_session(parts: Parts, tell: Tell) -> Session:
    """The engine that runs, or one in this process.

    Args:
        parts: the process's parts.
        tell: says what the person should know, on standard error.

    Returns:
        A session; the caller closes it.

    Raises:
        LociError: VAULT_BUSY where another process owns the vault and cannot be asked.
    """
    root = open_root(parts)
    try:
        remote = connect(parts, root)
        if remote is not None:
            root.wipe()
            if remote.has_unlocked:
                tell("The vault was locked; it is open again, for your assistants too.")
            return remote
        from app.local_session import local_session  # the engine is loaded where no other one runs

        return local_session(parts, root, tell)
    except LociError:
        root.wipe()
        raise


def existing(path: str) -> Path:
    """A path as the person wrote it, made absolute, so that another process can open it."""
    return Path(path).expanduser().absolute()
