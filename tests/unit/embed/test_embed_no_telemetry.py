"""Loci promises no telemetry: the runtime that runs the embedder must not bring any."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

WHY = (
    "onnxruntime 1.29 and later carry a telemetry client on Linux that writes a device id into the person's cache when "
    "it is imported and uploads events; stay below 1.29 or find a build without it"
)
MARKS = (b"Microsoft12Applications6Events", b"OneDsTelemetry")


def test_the_library_holds_no_telemetry_client() -> None:
    spec = find_spec("onnxruntime")
    assert spec is not None
    assert spec.origin is not None
    libraries = [
        path for path in (Path(spec.origin).parent / "capi").iterdir() if ".so" in path.name or path.suffix == ".pyd"
    ]
    assert libraries
    for library in libraries:
        data = library.read_bytes()
        assert not any(mark in data for mark in MARKS), f"{library.name}: {WHY}"


@pytest.mark.starts_process
def test_embedding_writes_nothing_into_the_home(tmp_path: Path) -> None:
    root = Path(__file__).parents[3]
    env = {**{k: v for k, v in os.environ.items() if not k.startswith("XDG_")}, "HOME": str(tmp_path)}
    code = "from core.embed.embedder import MiniLmEmbedder; print(len(MiniLmEmbedder().embed_one('a word')))"
    done = subprocess.run([sys.executable, "-c", code], cwd=root, env=env, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "384"
    assert list(tmp_path.iterdir()) == [], WHY
