"""`loci shot` looks at the place of the picture before it loads what draws one."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from app.cli.root import CommandContext
from app.cli.sandbox import shot
from core.errors import Code, EnvironmentFaultError


def test_a_folder_that_is_missing_is_said_before_anything_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "app.sample.screenshot", None)  # an import of it would fail
    out = tmp_path / "nowhere" / "palace.png"
    with pytest.raises(EnvironmentFaultError, match="no such folder") as caught:
        shot.main(
            ["--page", "palace", "--out", str(out)], standalone_mode=False, obj=CommandContext.__new__(CommandContext)
        )
    assert caught.value.code is Code.WRITE_FAILED
