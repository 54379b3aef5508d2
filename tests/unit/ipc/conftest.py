"""A server on a real socket for each test: before the real engine, or before a stand-in for it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from ipc_served import Served, served_at
from ipc_world import World


@pytest.fixture
def world(empty_home: Path) -> Iterator[World]:
    with World(empty_home) as made:
        yield made


@pytest.fixture
def served(empty_home: Path) -> Iterator[Served]:
    with served_at(empty_home) as made:
        yield made
