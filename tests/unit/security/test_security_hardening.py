from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from core.security import process_protection

ROOT = str(Path(__file__).resolve().parents[3])

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the switches are those of POSIX and Linux")

CHILD = f"""
import ctypes, dataclasses, json, os, resource, sys
sys.path.insert(0, {ROOT!r})
os.umask(0)
before = os.umask(0), resource.getrlimit(resource.RLIMIT_CORE)
from core.security import process_protection
assert (os.umask(0), resource.getrlimit(resource.RLIMIT_CORE)) == before
report = process_protection.harden_process(**json.loads(sys.argv[1]))
os.mkdir("directory"); open("file", "w").close()
dumpable = ctypes.CDLL(None).prctl(3, 0, 0, 0, 0) if sys.platform == "linux" else None
print(json.dumps({{"report": dataclasses.asdict(report), "dumpable": dumpable,
    "core": resource.getrlimit(resource.RLIMIT_CORE),
    "modes": [os.stat(name).st_mode & 0o777 for name in ("directory", "file")]}}))
"""


def run(tmp_path: Path, **arguments: bool) -> dict[str, Any]:
    """In a child: hardening cannot be taken back."""
    done = subprocess.run(
        [sys.executable, "-I", "-c", CHILD, json.dumps(arguments)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found


@pytest.mark.starts_process
def test_hardened_process_is_private_and_reports_it(tmp_path: Path) -> None:
    found = run(tmp_path)
    assert found["modes"] == [0o700, 0o600]
    assert found["core"] == [0, 0]
    hidden = True if sys.platform == "linux" else None
    assert found["report"] == {"private_files": True, "no_core_dumps": True, "memory_hidden": hidden}
    if sys.platform == "linux":
        assert found["dumpable"] == 0


@pytest.mark.starts_process
def test_memory_can_be_left_readable_on_request(tmp_path: Path) -> None:
    found = run(tmp_path, leave_readable=True)
    assert found["report"] == {"private_files": True, "no_core_dumps": True, "memory_hidden": None}
    if sys.platform == "linux":
        assert found["dumpable"] == 1


def test_a_system_without_the_switch_reports_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert process_protection._hide_memory() is None
