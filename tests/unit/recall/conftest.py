"""A small vault for each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from recall_rig import Rig, WordEmbedder


@pytest.fixture
def rig() -> Iterator[Rig]:
    made = Rig(WordEmbedder())
    yield made
    made.close()
