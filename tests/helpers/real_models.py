"""The models that are shipped, for tests whose numbers are theirs: read once a run, however many engines have them."""

from __future__ import annotations

from functools import cache

from core.embed.embedder import Embedder
from core.engine.facade import built_in_embedder, built_in_readers
from core.intake.claims import TextReaders


@cache
def real_embedder() -> Embedder:
    """The embedder that is shipped."""
    return built_in_embedder()


@cache
def real_readers() -> TextReaders:
    """The readers that are shipped."""
    return built_in_readers()
