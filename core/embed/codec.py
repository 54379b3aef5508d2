"""Vectors as the vault keeps them: little-endian float16, one blob a vector.

float16 halves the space and moves a unit vector's cosines by less than 0.001. Must not do: normalise or judge; it
only refuses what is not a finite vector of the right length.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.embed.base import Vectors
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
