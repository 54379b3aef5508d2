"""A server on a real socket before a stand-in engine, for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from ipc_world import World


@pytest.fixture
def world(empty_home: Path) -> Iterator[World]:
    with World(empty_home) as made:
        yield made
