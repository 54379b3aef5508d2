"""The child process that speaks to the system's keyring, one request a life.

A keyring can hang for ever on a prompt nobody sees, so the engine never calls one
itself: it starts this program, writes one JSON line to its stdin, reads one from its stdout,
and ends it after five seconds (`keyring_client`). Secrets travel through the pipes only.

Only four native keyrings are ever loaded, by name. The keyring library's own choice is not
asked: its configuration file, its environment variable and its plugins can name a
plain-text file or a keyring that forgets everything. That also looks past its chainer, whose
members are these four. Must not do: log, print anything else, keep anything.
"""

from __future__ import annotations

import hmac
import importlib
import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any, TextIO

from keyring.backend import KeyringBackend
from keyring.errors import InitError, KeyringError, KeyringLocked, NoKeyringError, PasswordDeleteError

from core.security.process_protection import harden_process

COUNTER_PREFIX = "seq:"
"""Begins the user of an entry that may be replaced."""

ALLOWED = (
    "keyring.backends.SecretService.Keyring",
    "keyring.backends.kwallet.DBusKeyring",
    "keyring.backends.macOS.Keyring",
    "keyring.backends.Windows.WinVaultKeyring",
)
"""Full names of the backends that encrypt at rest and belong to the system."""


def backend_name(backend: KeyringBackend) -> str:
    """The full name of a backend's class.

    Returns:
        Module and class, joined by a dot.
    """
    return f"{type(backend).__module__}.{type(backend).__qualname__}"


def usable_backends() -> list[KeyringBackend]:
    """Load the allowed keyrings that run here.

    Returns:
        Best first by the library's own priority; empty where there is none.
    """
    found: list[KeyringBackend] = []
    for name in ALLOWED:
        module, _, class_name = name.rpartition(".")
        backend_class = getattr(importlib.import_module(module), class_name)
        if backend_class.viable:
            found.append(backend_class())
    return sorted(found, key=lambda backend: -float(type(backend).priority))


def answer_request(request: Mapping[str, Any], backends: Sequence[KeyringBackend]) -> dict[str, Any]:
    """Do one request.

    Args:
        request: ``verb`` (probe, store, fetch, remove, replace), ``service``, ``user``; ``secret`` to store or
            replace; ``backend``, the name of the one that must be used, to fetch, remove and replace.
        backends: those that may be used, best first.

    Returns:
        ``{"ok": true, "backend", "secret"?}`` or ``{"ok": false, "cause"}``.
    """
    if not backends:
        return _failure_reply("no_backend")
    wanted = request.get("backend")
    backend = next((one for one in backends if wanted in (None, backend_name(one))), None)
    if backend is None:
        return _failure_reply("changed_backend")
    try:
        return _execute_request(request, backend)
    except (KeyringLocked, InitError):
        return _failure_reply("locked")
    except NoKeyringError:
        return _failure_reply("no_backend")
    except PasswordDeleteError:
        return _failure_reply("missing")
    except KeyringError:
        return _failure_reply("refused")


def _execute_request(request: Mapping[str, Any], backend: KeyringBackend) -> dict[str, Any]:
    service, user = str(request["service"]), str(request["user"])
    match request.get("verb"):
        case "probe":
            return _success_reply(backend)
        case "fetch":
            secret = backend.get_password(service, user)
            return _failure_reply("missing") if secret is None else _success_reply(backend, secret)
        case "remove":
            backend.delete_password(service, user)
            return _success_reply(backend)
        case "store":
            return _store_secret(backend, service, user, str(request["secret"]))
        case "replace" if user.startswith(COUNTER_PREFIX):  # never a key: that would lock its vault
            backend.set_password(service, user, str(request["secret"]))
            return _success_reply(backend)
        case _:
            return _failure_reply("refused")


def _store_secret(backend: KeyringBackend, service: str, user: str, secret: str) -> dict[str, Any]:
    standing = backend.get_password(service, user)
    if standing is not None:
        # An entry of this vault's id is there: left by a kill before the key file was saved, or in use by
        # another copy of the vault. Overwriting it would break that copy, so it is handed back and used.
        return _success_reply(backend, standing)
    backend.set_password(service, user, secret)
    kept = backend.get_password(service, user)
    if kept is None or not hmac.compare_digest(kept.encode(), secret.encode()):
        return _failure_reply("not_kept")
    return _success_reply(backend, kept)


def _success_reply(backend: KeyringBackend, secret: str | None = None) -> dict[str, Any]:
    plain = {"ok": True, "backend": backend_name(backend)}
    return plain if secret is None else {**plain, "secret": secret}


def _failure_reply(cause: str) -> dict[str, Any]:
    return {"ok": False, "cause": cause}


def main(reader: TextIO = sys.stdin, writer: TextIO = sys.stdout) -> int:
    """Answer the one request on stdin.

    Args:
        reader: where the JSON line comes from.
        writer: where the JSON line goes.

    Returns:
        0. A fault that is not the keyring's own ends the process with a traceback on stderr,
        which the parent throws away and takes for a refusal.
    """
    harden_process()
    request = json.loads(reader.readline())
    writer.write(json.dumps(answer_request(request, usable_backends())) + "\n")
    writer.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
