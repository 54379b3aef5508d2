"""Scripts of `packaging/` and benches that take options say which: whoever moves a module must not break them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
FOLDERS = ROOT / "packaging", ROOT / "tests" / "bench"
SCRIPTS = sorted(
    path.relative_to(ROOT).as_posix()
    for folder in FOLDERS
    for path in folder.rglob("*.py")
    if "ArgumentParser(" in path.read_text("utf-8") and '__name__ == "__main__"' in path.read_text("utf-8")
)


def test_scripts_are_found() -> None:
    assert "packaging/training/train_reader.py" in SCRIPTS
    assert "tests/bench/bench_store.py" in SCRIPTS


@pytest.mark.starts_process
@pytest.mark.parametrize("script", SCRIPTS)
def test_script_says_what_it_takes(script: str) -> None:
    ran = subprocess.run(
        [sys.executable, script, "--help"], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )
    assert ran.returncode == 0, ran.stderr[-1000:]
    assert ran.stdout.startswith("usage: ")
