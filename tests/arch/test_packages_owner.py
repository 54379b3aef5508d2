"""`app`, `core` and `ui` are common names: nobody else's distribution may bring one of them."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from pathlib import Path

import pytest
from arch_tree import ROOT

OURS = "loci-palace"


@pytest.mark.parametrize("name", ["app", "core", "ui", "resources"])
def test_no_other_owner(name: str) -> None:
    owners = importlib.metadata.packages_distributions().get(name, [])
    assert set(owners) <= {OURS}
    spec = importlib.util.find_spec(name)
    assert spec is not None
    assert spec.origin is not None
    assert Path(spec.origin).is_relative_to(ROOT / name)


def test_our_packaging_folder_does_not_shadow_the_library() -> None:
    assert not (ROOT / "packaging" / "__init__.py").exists()
    spec = importlib.util.find_spec("packaging.requirements")
    assert spec is not None
    assert spec.origin is not None
    assert not Path(spec.origin).is_relative_to(ROOT / "packaging")
