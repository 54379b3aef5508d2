"""Divides among the workers of a run what Python must translate first; else each of them would translate all of it.

In a fresh checkout that is half a minute of processor time for each worker. Must not import what it translates.
"""

from __future__ import annotations

import compileall
import os
import sys
from pathlib import Path

import pytest
from _pytest.assertion.rewrite import PYC_TAIL, _rewrite_test, _write_pyc, assertstate_key, get_cache_dir

ROOT = Path(__file__).resolve().parents[2]
_LOADED = ("app", "core", "resources", "ui", "tests/helpers")
"""Folders whose files are loaded as they are; tests are rewritten by pytest."""


def translate_share(config: pytest.Config) -> None:
    """Write the bytecode of this worker's share of what has none; nothing where none may be written."""
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if worker is None or sys.dont_write_bytecode:
        return
    number, count = int(worker.removeprefix("gw")), int(os.environ["PYTEST_XDIST_WORKER_COUNT"])
    for path in share(plain_files(ROOT), number, count):
        compileall.compile_file(path, quiet=2)
    for path in share(test_files([Path(name) for name in config.args]), number, count):
        bytecode = get_cache_dir(path) / (path.stem + PYC_TAIL)
        if not bytecode.exists():
            bytecode.parent.mkdir(exist_ok=True)
            source_hash, code = _rewrite_test(path, config)
            _write_pyc(config.stash[assertstate_key], code, source_hash, bytecode)


def share(files: list[Path], number: int, count: int) -> list[Path]:
    """The files of one worker of so many, the large ones evenly divided."""
    return sorted(files, key=lambda path: (path.stat().st_size, path))[number::count]


def plain_files(root: Path) -> list[Path]:
    """What is loaded as it is."""
    return [path for folder in _LOADED for path in (root / folder).rglob("*.py")]


def test_files(asked: list[Path]) -> list[Path]:
    """The files of tests below the folders that were asked for."""
    return sorted({path for folder in asked if folder.is_dir() for path in folder.rglob("test_*.py")})
