"""Qt's first import keeps the bindings from reading every later module as source."""

from __future__ import annotations

import importlib
import inspect
import subprocess
import sys

import pytest

_PROBE = """
import linecache, sys
{first}
import PySide6.QtCore
import app.window.desktop
ours = [name for name in linecache.cache if any(part in name for part in ("/core/", "/ui/", "numpy", "pydantic"))]
print(len(ours), "PySide6.QtWidgets" in sys.modules)
"""


def read_as_source(first: str) -> tuple[int, str]:
    """How many modules' texts were read while the window's were loaded, and whether Qt was."""
    done = subprocess.run(
        [sys.executable, "-c", _PROBE.format(first=first)], capture_output=True, text=True, check=True
    )
    count, has_qt = done.stdout.split()
    return int(count), has_qt


@pytest.mark.starts_process
def test_no_module_is_read_as_source_behind_it() -> None:
    assert read_as_source("from app.qt import load_qt; load_qt(); load_qt()") == (0, "True")


@pytest.mark.starts_process
def test_without_it_they_are() -> None:
    """When this fails the bindings have been mended, and `app.qt` can go."""
    count, has_qt = read_as_source("")
    assert has_qt == "True"
    assert count > 100


@pytest.mark.parametrize(("door", "windows"), [("root", 1), ("sandbox", 2)])
def test_every_door_to_a_window_calls_it_first(door: str, windows: int) -> None:
    lines = [line.strip() for line in inspect.getsource(importlib.import_module(f"app.cli.{door}")).splitlines()]
    imports = [at for at, line in enumerate(lines) if "# Qt is loaded by" in line]
    assert len(imports) == windows
    assert all(lines[at - 1] == "load_qt()" for at in imports)
