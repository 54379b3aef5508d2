"""What every embedder promises.

Must not do: import any model runtime.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from core.errors import Code

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

        Args:
            text: any string.

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
            version: its version.
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
