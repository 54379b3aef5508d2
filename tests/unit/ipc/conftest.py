"""A server on a real socket for each test: before a real engine with a cheap embedder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from ipc_served import Served, served_at


@pytest.fixture
def served(empty_home: Path) -> Iterator[Served]:
    with served_at(empty_home) as made:
        yield made
