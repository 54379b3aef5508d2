"""An embedder that loads its model when the first text comes: most verbs of the command line need none."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from core.embed.base import Embedder, Named, Vectors


class LazyEmbedder(Named):
    """Stands for an embedder whose name and version are known before it is loaded."""

    def __init__(self, name: str, version: str, dims: int, load: Callable[[], Embedder]) -> None:
        """Make one.

        Args:
            name: the model's name.
            version: its version, as the loaded one will say.
            dims: length of a vector.
            load: makes the real one; called at most once that succeeds.
        """
        super().__init__(name, version, dims)
        self._load = load
        self._lock = threading.Lock()  # guards _real
        self._real: Embedder | None = None

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed texts; see `Embedder.embed`."""
        return self.loaded().embed(texts)

    def embed_one(self, text: str) -> Vectors:
        """Embed one text; see `Embedder.embed_one`."""
        return self.loaded().embed_one(text)

    def loaded(self) -> Embedder:
        """The real embedder, loaded now if it was not.

        Raises:
            EnvironmentFaultError: E3001 when it cannot be loaded.
        """
        with self._lock:
            if self._real is None:
                self._real = self._load()
            return self._real
