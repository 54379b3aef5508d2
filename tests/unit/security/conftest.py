"""What the security tests share: cheap keys and a keyring in memory."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.security.keyfile import save_keys
from core.security.keyring_client import KeyringCause, KeyringEntry, KeyringFaultError
from core.security.passphrase import KdfCost
from core.security.slots import NewKeys, create_keys
from core.types.clock import ManualClock

PASSPHRASE = "correct horse Bätterie"


class MemoryKeyring:
    """A keyring that lives as long as the test; `broken` makes every call fail."""

    def __init__(self) -> None:
        self.entries: dict[bytes, bytes] = {}
        self.counters: dict[tuple[bytes, str], str] = {}
        self.backend = "keyring.backends.SecretService.Keyring"
        self.broken: KeyringCause | None = None

    def _check(self) -> None:
        if self.broken is not None:
            raise KeyringFaultError(self.broken, "test")

    def probe(self) -> str:
        self._check()
        return self.backend

    def store(self, vault_id: bytes, kek: bytes) -> KeyringEntry:
        self._check()
        return KeyringEntry(self.backend, self.entries.setdefault(vault_id, kek))

    def fetch(self, vault_id: bytes, backend: str) -> KeyringEntry:
        self._check()
        if backend != self.backend:
            raise KeyringFaultError(KeyringCause.CHANGED_BACKEND, "test")
        if vault_id not in self.entries:
            raise KeyringFaultError(KeyringCause.MISSING, "test")
        return KeyringEntry(backend, self.entries[vault_id])

    def remove(self, vault_id: bytes, backend: str) -> None:
        self._check()
        del self.entries[vault_id]

    def fetch_counter(self, vault_id: bytes, place: str, backend: str) -> str:
        self._check()
        if (vault_id, place) not in self.counters:
            raise KeyringFaultError(KeyringCause.MISSING, "test")
        return self.counters[vault_id, place]

    def store_counter(self, vault_id: bytes, place: str, backend: str, sealed: str) -> None:
        self._check()
        self.counters[vault_id, place] = sealed

    def remove_counter(self, vault_id: bytes, place: str, backend: str) -> None:
        self._check()
        self.counters.pop((vault_id, place), None)


@pytest.fixture
def passphrase() -> str:
    return PASSPHRASE


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(1_780_000_000_000)


@pytest.fixture
def memory_keyring() -> MemoryKeyring:
    return MemoryKeyring()


@pytest.fixture(scope="session")
def made() -> NewKeys:
    """Keys with all three slots; made once, values only."""
    return create_keys(PASSPHRASE, clock=ManualClock(1_780_000_000_000), keyring=MemoryKeyring(), cost=KdfCost.lowest())


@pytest.fixture
def saved(made: NewKeys, tmp_path: Path) -> Path:
    path = tmp_path / "vault.keys"
    save_keys(path, made.keys)
    return path


@pytest.fixture
def open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)
