"""The everyday walks through the program stay as short as they are."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WALKS = 6


def test_no_walk_passes_more_files_than_it_may() -> None:
    done = subprocess.run(
        [sys.executable, "tests/arch/trace_walks.py", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(done.stdout.splitlines()) == 1 + WALKS
