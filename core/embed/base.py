"""What every embedder promises, and vectors as the vault keeps them: little-endian float16, one blob a vector.

float16 halves the space and moves a unit vector's cosines by less than 0.001. Must not do: import any model runtime,
normalise or judge; a blob is refused only where it is not a finite vector of the right length.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from core.errors import Code, IntegrityError, LociError

_STORED = np.dtype("<f2")


def to_blob(vector: NDArray[np.floating]) -> bytes:
    """Pack one vector.

    Args:
        vector: one dimension, finite, within the range of float16 (a unit vector always is).

    Returns:
        Two bytes a component.

    Raises:
        LociError: E3003 for another shape, E3002 for a component that float16 cannot hold.
    """
    if vector.ndim != 1:
        raise LociError(Code.DIMENSION_MISMATCH, "A vector to store must have one dimension.")
    # Compared before the cast: numpy would turn 70000.0 into inf with a warning.
    if not bool(np.all(np.abs(vector) <= np.finfo(np.float16).max)):
        raise LociError(Code.EMBEDDING_FAILED, "A vector to store holds a value that is not a number or too large.")
    return vector.astype(_STORED).tobytes()


def from_blob(blob: bytes, dims: int) -> Vectors:
    """Unpack one vector.

    Args:
        blob: what `to_blob` made.
        dims: the length it must have.

    Returns:
        float32, shape (dims,).

    Raises:
        LociError: E3003 for another length, E3002 if a component is not finite.
    """
    return from_blobs((blob,), dims).reshape(dims)


def from_blobs(blobs: Sequence[bytes], dims: int) -> Vectors:
    """Unpack many vectors at once.

    Args:
        blobs: what `to_blob` made, one each.
        dims: the length each must have.

    Returns:
        float32, shape (len(blobs), dims).

    Raises:
        LociError: E3003 for another length, E3002 if a component is not finite.
    """
    if any(len(blob) != dims * _STORED.itemsize for blob in blobs):
        raise LociError(Code.DIMENSION_MISMATCH, f"A stored vector does not have {dims} dimensions.")
    rows = np.frombuffer(b"".join(blobs), _STORED).reshape(len(blobs), dims).astype(np.float32)
    if not bool(np.isfinite(rows).all()):
        raise IntegrityError(Code.EMBEDDING_FAILED, "A stored vector is damaged; embed its text again.")
    return rows


Vectors = NDArray[np.float32]

AWAY = frozenset(
    {
        Code.EMBEDDER_UNAVAILABLE,
        Code.EMBEDDING_FAILED,
        Code.DIMENSION_MISMATCH,
        Code.MODEL_CHANGED,
        Code.MODEL_SERVER_FAILED,
    }
)
"""Codes of an embedder that cannot answer: what is asked is compared by words, what is stored waits for its vector."""


class Embedder(Protocol):
    """Turns texts into unit vectors.

    A text's vector depends on the text and on `version` alone: never on what it was embedded together with, on
    the number of threads or on the order of calls. An embedder may be used from several threads at once.
    """

    @property
    def name(self) -> str:
        """The model's name, for people and for the vault's `model` column."""
        ...

    @property
    def dims(self) -> int:
        """Length of a vector."""
        ...

    @property
    def version(self) -> str:
        """Changes whenever the same text could get another vector; vectors of two versions do not mix."""
        ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed several texts.

        Args:
            texts: any strings, of any length, also empty.

        Returns:
            One unit row a text, shape (len(texts), dims), finite.

        Raises:
            LociError: E3001 if the model cannot be used, E3002 if it gave no usable vector.
        """
        ...

    def embed_one(self, text: str) -> Vectors:
        """Embed one text.

        Returns:
            A unit vector, shape (dims,).

        Raises:
            LociError: as `embed`.
        """
        ...


class NamedEmbedder:
    """Says what an embedder is before anything of its model is there."""

    def __init__(self, name: str, version: str, dims: int) -> None:
        """Keep it.

        Args:
            name: the model's name.
            dims: length of a vector.
        """
        self._facts = name, version, dims

    @property
    def name(self) -> str:
        """The model's name."""
        return self._facts[0]

    @property
    def version(self) -> str:
        """The model's version."""
        return self._facts[1]

    @property
    def dims(self) -> int:
        """Length of a vector."""
        return self._facts[2]
