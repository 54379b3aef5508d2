"""The models that are shipped, for tests whose numbers are theirs: read once a run, however many engines have them.

What a model says depends on what it is asked alone (`core.embed.embedder.Embedder`, `RelationModel`), so it is asked
each thing once a run: tests of one room mostly tell the same stories. Must not do: answer otherwise than the model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache, lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from core.belief.relate.relation_model import RelationModel
from core.embed.embedder import Embedder
from core.engine.facade import built_in_embedder, built_in_readers
from core.intake.claims import Extract, TextReaders
from core.types.belief import ClaimDraft, ComparedText, Relation

_KEPT = 20_000


class RecallingEmbedder:
    """The embedder that is shipped, asked once for each text."""

    def __init__(self) -> None:
        model = built_in_embedder()
        self.name, self.version, self.dims = model.name, model.version, model.dims
        self._ask = lru_cache(_KEPT)(model.embed_one)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed several texts; none depends on the others."""
        return np.array([self._ask(text) for text in texts], np.float32).reshape(-1, self.dims)

    def embed_one(self, text: str) -> NDArray[np.float32]:
        """Embed one text."""
        return self._ask(text).copy()


class RecallingRelations(RelationModel):
    """The relation model that is shipped, asked once for each pair."""

    def __init__(self) -> None:
        super().__init__()
        self._known: dict[str, Relation] = {}

    def classify(self, pairs: Sequence[tuple[ComparedText, ComparedText]]) -> tuple[Relation, ...]:
        """Say of each pair how the newcomer relates to what stands."""
        asked = {repr(pair): pair for pair in pairs}
        new = {key: pair for key, pair in asked.items() if key not in self._known}
        self._known.update(zip(new, super().classify(tuple(new.values())), strict=True))
        return tuple(self._known[repr(pair)] for pair in pairs)


class _Read(Protocol):
    def __call__(self, text: str, *, now_ms: int | None, said_ms: int | None) -> tuple[ClaimDraft, ...]: ...


def _recalling(extract: Extract) -> Extract:
    ask: _Read = lru_cache(_KEPT)(extract)

    def read(text: str, *, now_ms: int | None = None, said_ms: int | None = None) -> tuple[ClaimDraft, ...]:
        return ask(text, now_ms=now_ms, said_ms=said_ms)

    return read


@cache
def real_embedder() -> Embedder:
    """The embedder that is shipped."""
    return RecallingEmbedder()


@cache
def real_readers() -> TextReaders:
    """The readers that are shipped."""
    shipped = built_in_readers()
    return replace(shipped, extract_stored=_recalling(shipped.stored), relate=RecallingRelations())
