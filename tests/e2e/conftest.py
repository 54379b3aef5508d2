"""Palaces for the end-to-end tests: each test has its own copy of a vault that was made once."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_rig import Palace, make_template, palace_from


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed, empty vault."""
    return make_template(tmp_path_factory.mktemp("template"))


@pytest.fixture(scope="session")
def clock_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed, empty vault whose clock may be moved."""
    return make_template(tmp_path_factory.mktemp("clocked"), test_clock=True)


@pytest.fixture
def palace(template: Path, tmp_path: Path) -> Palace:
    """A palace with an empty vault."""
    return palace_from(template, tmp_path)


@pytest.fixture
def clocked(clock_template: Path, tmp_path: Path) -> Palace:
    """A palace with an empty vault whose clock may be moved."""
    folder = tmp_path / "clocked"
    folder.mkdir()
    return palace_from(clock_template, folder)
