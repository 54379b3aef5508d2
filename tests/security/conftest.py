"""What the security tests share: an engine behind its socket, and a palace that is attacked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from engine_rig import Rig
from poison_rig import Victim, victim_of
from poison_socket import Wire, wire_to


@pytest.fixture
def wire(rig: Rig, tmp_path: Path) -> Iterator[Wire]:
    with wire_to(rig, tmp_path) as made:
        yield made


@pytest.fixture
def victim(tmp_path: Path) -> Iterator[Victim]:
    with victim_of(tmp_path) as made:
        yield made
