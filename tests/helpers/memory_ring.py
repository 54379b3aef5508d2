"""A keyring in memory, for an engine under test."""

from __future__ import annotations

import threading

from core.security.keyring_client import KeyringCause, KeyringEntry, KeyringFaultError


class Ring:
    """A keyring in memory; `cause` is why it cannot be used, None where it can."""

    def __init__(self, cause: KeyringCause | None = None) -> None:
        self.cause = cause
        self.kept: dict[bytes, bytes] = {}
        self.counters: dict[tuple[bytes, str], str] = {}
        self.threads: set[str] = set()

    def _need(self) -> None:
        self.threads.add(threading.current_thread().name)
        if self.cause is not None:
            raise KeyringFaultError(self.cause, "nothing was changed")

    def probe(self) -> str:
        self._need()
        return "Ring"

    def store(self, vault_id: bytes, kek: bytes) -> KeyringEntry:
        self._need()
        return KeyringEntry("Ring", self.kept.setdefault(vault_id, kek))

    def fetch(self, vault_id: bytes, backend: str) -> KeyringEntry:
        self._need()
        return KeyringEntry("Ring", self.kept[vault_id])

    def fetch_counter(self, vault_id: bytes, place: str, backend: str) -> str:
        self._need()
        if (vault_id, place) not in self.counters:
            raise KeyringFaultError(KeyringCause.MISSING, "nothing was changed")
        return self.counters[vault_id, place]

    def store_counter(self, vault_id: bytes, place: str, backend: str, sealed: str) -> None:
        self._need()
        self.counters[vault_id, place] = sealed

    def remove_counter(self, vault_id: bytes, place: str, backend: str) -> None:
        self._need()
        self.counters.pop((vault_id, place), None)

    def remove(self, vault_id: bytes, backend: str) -> None:
        self._need()
        del self.kept[vault_id]
