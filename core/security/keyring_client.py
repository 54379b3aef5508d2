"""The engine's side of the system's keyring: one child process a call, five seconds each.

The keyring never holds the root, only a random key that wraps it. Nothing here creates,
replaces or removes an entry after an error. Must not do: import the keyring library, run
on the GUI thread (a call may take five seconds), put a secret on a command line.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

from core.errors import Code, EnvironmentFaultError

SERVICE = "loci"
"""Service name of every entry; the user is ``kek:<vault id in hex>``, of a counter ``seq:<vault id>:<place>``."""

TIMEOUT_S = 5.0

_MAX_REPLY_BYTES = 4096
_KEY = re.compile(r"[0-9a-f]{64}")
_START_HELPER = "import sys; sys.path.insert(0, sys.argv[1]); from core.security.keyring_helper import main; main()"


class KeyringCause(StrEnum):
    """Why the keyring was of no use."""

    NO_BACKEND = "no_backend"
    LOCKED = "locked"
    MISSING = "missing"
    CHANGED_BACKEND = "changed_backend"
    NOT_KEPT = "not_kept"
    TIMEOUT = "timeout"
    UNEXPECTED_ENTRY = "unexpected_entry"
    REFUSED = "refused"


_WHAT = {
    KeyringCause.NO_BACKEND: "No keyring of this system can be reached",
    KeyringCause.LOCKED: "The system's keyring is locked",
    KeyringCause.MISSING: "The system's keyring no longer has this vault's entry",
    KeyringCause.CHANGED_BACKEND: "This vault's entry is in another keyring than the one that runs now",
    KeyringCause.NOT_KEPT: "The system's keyring did not keep what it was given",
    KeyringCause.TIMEOUT: "The system's keyring did not answer within 5 seconds",
    KeyringCause.UNEXPECTED_ENTRY: "The system's keyring holds an entry for this vault that Loci did not write",
    KeyringCause.REFUSED: "The system's keyring refused the request",
}


class KeyringFaultError(EnvironmentFaultError):
    """The keyring could not be used; passphrase and recovery code still work.

    Attributes:
        cause: why.
    """

    def __init__(self, cause: KeyringCause, advice: str) -> None:
        super().__init__(Code.KEYRING_UNAVAILABLE, f"{_WHAT[cause]}; {advice}.")
        self.cause = cause


@dataclass(frozen=True)
class KeyringEntry:
    """What the keyring keeps for a vault.

    Attributes:
        backend: full name of the backend that keeps it.
        kek: the 32-byte key.
    """

    backend: str
    kek: bytes = field(repr=False)


class Keyring(Protocol):
    """What the key slots need of a keyring."""

    def probe(self) -> str:
        """The backend that would be used. Raises: KeyringFaultError."""
        ...

    def store(self, vault_id: bytes, kek: bytes) -> KeyringEntry:
        """Keep a key, or give back the one that stands already. Raises: KeyringFaultError."""
        ...

    def fetch(self, vault_id: bytes, backend: str) -> KeyringEntry:
        """Read a vault's key from one backend. Raises: KeyringFaultError."""
        ...

    def remove(self, vault_id: bytes, backend: str) -> None:
        """Delete a vault's entry from one backend. Raises: KeyringFaultError."""
        ...

    def fetch_counter(self, vault_id: bytes, place: str, backend: str) -> str:
        """Read the counter of the vault in one place. Raises: KeyringFaultError."""
        ...

    def store_counter(self, vault_id: bytes, place: str, backend: str, sealed: str) -> None:
        """Set the counter of the vault in one place. Raises: KeyringFaultError."""
        ...

    def remove_counter(self, vault_id: bytes, place: str, backend: str) -> None:
        """Delete the counter of the vault in one place. Raises: KeyringFaultError."""
        ...


def helper_command() -> tuple[str, ...]:
    """How the helper is started: by the interpreter, or by the frozen program itself, which knows it by its module.

    Returns:
        The command and its arguments; no secret in them.
    """
    if getattr(sys, "frozen", False):
        return (sys.executable, "-m", "core.security.keyring_helper")
    return (sys.executable, "-I", "-c", _START_HELPER, str(Path(__file__).resolve().parents[2]))


class HelperKeyring:
    """The system's keyring behind a helper process.

    Args of the constructor: `command` starts the helper; `timeout_s` is how long a call may take.
    """

    def __init__(self, command: Sequence[str] | None = None, timeout_s: float = TIMEOUT_S) -> None:
        self._command = tuple(helper_command() if command is None else command)
        self._timeout_s = timeout_s

    def probe(self) -> str:
        """Ask which backend would be used; reads no entry.

        Returns:
            Its full name.

        Raises:
            KeyringFaultError: there is none that may be used.
        """
        return _backend_in(self._call_helper({"verb": "probe", "user": ""}, _STORING), _STORING)

    def store(self, vault_id: bytes, kek: bytes) -> KeyringEntry:
        """Keep a key: looked for, set, read back and compared in one call.

        Args:
            vault_id: the 16 raw bytes.
            kek: the 32-byte key.

        Returns:
            What stands in the keyring now; an older entry of this vault is never
            overwritten but returned.

        Raises:
            KeyringFaultError: nothing may be relied on; the caller changes nothing.
        """
        reply = self._call_helper({"verb": "store", "user": _key_entry_name(vault_id), "secret": kek.hex()}, _STORING)
        return _entry_in(reply, _STORING)

    def fetch(self, vault_id: bytes, backend: str) -> KeyringEntry:
        """Read the key of a vault.

        Args:
            vault_id: the 16 raw bytes.
            backend: the backend its slot names; no other is asked.

        Raises:
            KeyringFaultError: locked, gone, another keyring, no answer.
        """
        reply = self._call_helper({"verb": "fetch", "user": _key_entry_name(vault_id), "backend": backend}, _OPENING)
        return _entry_in(reply, _OPENING)

    def remove(self, vault_id: bytes, backend: str) -> None:
        """Delete the entry of a vault; call it after the key file without the slot is saved.

        Args:
            vault_id: the 16 raw bytes.
            backend: the backend its slot named.

        Raises:
            KeyringFaultError: it may still be there.
        """
        self._call_helper({"verb": "remove", "user": _key_entry_name(vault_id), "backend": backend}, _REMOVING)

    def fetch_counter(self, vault_id: bytes, place: str, backend: str) -> str:
        """Read the counter of a vault.

        Args:
            vault_id: the 16 raw bytes.
            place: tells one home from another: copies of a vault count each for itself.
            backend: the backend its slot names.

        Returns:
            As it was stored.

        Raises:
            KeyringFaultError: there is none, or nothing can be told.
        """
        request = {"verb": "fetch", "user": _counter_entry_name(vault_id, place), "backend": backend}
        sealed = self._call_helper(request, _COUNTING).get("secret")
        if not isinstance(sealed, str):
            raise KeyringFaultError(KeyringCause.UNEXPECTED_ENTRY, _COUNTING)
        return sealed

    def store_counter(self, vault_id: bytes, place: str, backend: str, sealed: str) -> None:
        """Set the counter of a vault, whatever stands there.

        Args:
            vault_id: the 16 raw bytes.
            place: as for `fetch_counter`.
            backend: the backend its slot names.
            sealed: what to keep; no secret.

        Raises:
            KeyringFaultError: it may not have been kept.
        """
        request = {
            "verb": "replace",
            "user": _counter_entry_name(vault_id, place),
            "backend": backend,
            "secret": sealed,
        }
        self._call_helper(request, _COUNTING)

    def remove_counter(self, vault_id: bytes, place: str, backend: str) -> None:
        """Delete the counter of a vault.

        Args:
            vault_id: the 16 raw bytes.
            place: as for `fetch_counter`.
            backend: the backend its slot named.

        Raises:
            KeyringFaultError: there is none, or it may still be there.
        """
        request = {"verb": "remove", "user": _counter_entry_name(vault_id, place), "backend": backend}
        self._call_helper(request, _REMOVING)

    def _call_helper(self, request: dict[str, Any], advice: str) -> dict[str, Any]:
        line = json.dumps({**request, "service": SERVICE}).encode("ascii") + b"\n"
        output: bytes | None = b""
        try:
            output = subprocess.run(
                self._command,
                input=line,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                timeout=self._timeout_s,
                check=False,
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            ).stdout
        except subprocess.TimeoutExpired:
            output = None
        except OSError:
            output = b""
        # Raised out here, so that no exception with the child's output hangs on to this one.
        if output is None:
            raise KeyringFaultError(KeyringCause.TIMEOUT, advice)
        reply = _reply_in(output)
        if reply.get("ok") is not True:
            raise KeyringFaultError(_cause_in(reply), advice)
        return reply


_OPENING = "open the vault with its passphrase or recovery code"
_STORING = "nothing was changed"
_REMOVING = "its entry may remain there and opens nothing any more"
_COUNTING = "vault.head alone tells whether the vault is the newest copy"


def _key_entry_name(vault_id: bytes) -> str:
    return f"kek:{vault_id.hex()}"


def _counter_entry_name(vault_id: bytes, place: str) -> str:
    return f"seq:{vault_id.hex()}:{place}"


def _reply_in(output: bytes) -> dict[str, Any]:
    if len(output) > _MAX_REPLY_BYTES:
        return {}
    try:
        reply = json.loads(output)
    except (ValueError, RecursionError):
        return {}
    return reply if isinstance(reply, dict) else {}


def _cause_in(reply: dict[str, Any]) -> KeyringCause:
    try:
        return KeyringCause(str(reply.get("cause")))
    except ValueError:
        return KeyringCause.REFUSED


def _backend_in(reply: dict[str, Any], advice: str) -> str:
    backend = reply.get("backend")
    if not isinstance(backend, str):
        raise KeyringFaultError(KeyringCause.REFUSED, advice)
    return backend


def _entry_in(reply: dict[str, Any], advice: str) -> KeyringEntry:
    secret = reply.get("secret")
    if not isinstance(secret, str) or _KEY.fullmatch(secret) is None:
        raise KeyringFaultError(KeyringCause.UNEXPECTED_ENTRY, advice)
    return KeyringEntry(_backend_in(reply, advice), bytes.fromhex(secret))
