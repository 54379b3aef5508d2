"""An empty vault for each test, closed at its end."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import vault_kit as kit

from core.types.clock import ManualClock
from core.vault.files.home import Home
from core.vault.vault import Vault


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """One new vault that every test copies: copying is ten times faster than making."""
    return kit.new_vault(tmp_path_factory.mktemp("template") / "home")


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(kit.START_MS)


@pytest.fixture
def home(tmp_path: Path, template: Home) -> Home:
    shutil.copytree(template.path, tmp_path / "home")
    return kit.home_at(tmp_path / "home")


@pytest.fixture
def vault(home: Home, clock: ManualClock) -> Iterator[Vault]:
    vault = kit.open_at(home, clock)
    yield vault
    vault.close()
