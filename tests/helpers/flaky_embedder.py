"""An embedder that a test takes away and brings back."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from engine_rig import WordEmbedder
from numpy.typing import NDArray

from core.errors import Code, EnvironmentFaultError


class FlakyEmbedder(WordEmbedder):
    """Answers unless `code` is set.

    Attributes:
        code: why it does not answer; None while it does.
        asked: how many texts it was given while it answered.
    """

    def __init__(self, code: Code | None = None) -> None:
        self.code = code
        self.asked = 0

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed several texts, or fail."""
        self._need()
        self.asked += len(texts)
        return super().embed(texts)

    def embed_one(self, text: str) -> NDArray[np.float32]:
        """Embed one text, or fail."""
        self._need()
        return super().embed_one(text)

    def _need(self) -> None:
        if self.code is not None:
            raise EnvironmentFaultError(self.code, "The embedder is away.")
