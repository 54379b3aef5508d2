"""Vectors, an independent exact answer, and a sealer for the index tests."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from numpy.typing import NDArray

from core.errors import Code, IntegrityError


def _clustered(count: int, dims: int = 32, seed: int = 1) -> NDArray[np.float32]:
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(max(1, count // 20), dims))
    rows = centres[rng.integers(0, len(centres), count)] + 0.6 * rng.normal(size=(count, dims))
    return np.asarray(rows, np.float32)


def _exact(labels: NDArray[np.int64], vectors: NDArray[np.float32], query: NDArray[np.float32], k: int) -> list[int]:
    """Written apart from the code under test: the order of cosines of the float16-rounded unit rows, in float64."""
    unit = (vectors / np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)).astype(np.float16)
    rows = unit.astype(np.float64)
    cosines = rows @ (query / np.linalg.norm(query)).astype(np.float64) / np.linalg.norm(rows, axis=1)
    ranked = sorted(zip(np.round(-cosines, 6).tolist(), labels.tolist(), strict=True))
    return [label for _, label in ranked[:k]]


class TestSealer:
    """ChaCha20-Poly1305 under a fixed key."""

    __test__ = False

    def __init__(self, key: bytes = b"k" * 32) -> None:
        self._cipher = ChaCha20Poly1305(key)

    def seal(self, data: bytes, aad: bytes) -> bytes:
        nonce = os.urandom(12)
        return nonce + self._cipher.encrypt(nonce, data, aad)

    def open(self, sealed: bytes, aad: bytes) -> bytes:
        if len(sealed) < 28:
            raise IntegrityError(Code.ENCRYPTION_FAILED, "Too short.")
        try:
            return self._cipher.decrypt(sealed[:12], sealed[12:], aad)
        except InvalidTag:
            raise IntegrityError(Code.ENCRYPTION_FAILED, "Does not open.") from None


@pytest.fixture(scope="session")
def clustered() -> Callable[..., NDArray[np.float32]]:
    return _clustered


@pytest.fixture
def exact() -> Callable[..., list[int]]:
    return _exact


@pytest.fixture
def sealer() -> TestSealer:
    return TestSealer()


@pytest.fixture
def other_sealer() -> TestSealer:
    return TestSealer(b"o" * 32)


class FakeVault:
    """A vault's embeddings with revisions: the loader and the fetch callback of the manager."""

    def __init__(self, dims: int = 32, chunk: int = 50) -> None:
        self.rows: dict[int, NDArray[np.float32]] = {}
        self.written: dict[int, int] = {}
        self.now = 0
        self.dims = dims
        self.chunk = chunk
        self.asked: list[int] = []
        self.between: Callable[[int], Any] = lambda _done: None

    def set(self, labels: NDArray[np.int64], vectors: NDArray[np.float32]) -> int:
        self.now += 1
        for label, vector in zip(labels.tolist(), vectors, strict=True):
            self.rows[label] = vector
            self.written[label] = self.now
        return self.now

    def drop(self, labels: NDArray[np.int64]) -> int:
        self.now += 1
        for label in labels.tolist():
            self.rows.pop(label, None)
            self.written.pop(label, None)
        return self.now

    def matrix(self) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        labels = np.array(sorted(self.rows), np.int64)
        rows = [self.rows[label] for label in labels.tolist()]
        return labels, np.array(rows, np.float32).reshape(len(rows), self.dims)

    def fetch(self, labels: NDArray[np.int64]) -> list[tuple[NDArray[np.int64], NDArray[np.float32]]]:
        here = np.array([n for n in labels.tolist() if n in self.rows], np.int64)
        rows = [self.rows[n] for n in here.tolist()]
        return [(here, np.array(rows, np.float32).reshape(len(rows), self.dims))]

    def loader(self) -> FakeLoader:
        return FakeLoader(self)


class FakeLoader:
    """What one read transaction of a FakeVault sees."""

    def __init__(self, vault: FakeVault) -> None:
        self._vault = vault
        self._now = vault.now
        self._rows = dict(vault.rows)
        self._written = dict(vault.written)

    def revision(self) -> int:
        return self._now

    def live_labels(self) -> NDArray[np.int64]:
        return np.array(sorted(self._rows), np.int64)

    def changed_since(self, revision: int) -> NDArray[np.int64]:
        return np.array(sorted(n for n, at in self._written.items() if at > revision), np.int64)

    def vectors(self, labels: NDArray[np.int64]) -> Any:
        self._vault.asked.extend(labels.tolist())
        for low in range(0, labels.size, self._vault.chunk):
            self._vault.between(low)
            part = labels[low : low + self._vault.chunk]
            yield part, np.array([self._rows[n] for n in part.tolist()], np.float32)


@pytest.fixture
def vault() -> FakeVault:
    return FakeVault()
