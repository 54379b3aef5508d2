"""What the checks of the tree share: a syntax tree holds no circles, so nothing is searched for garbage meanwhile."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module", autouse=True)
def trees_are_not_searched() -> Iterator[None]:
    """The trees of the whole house are a million objects that stay; half of the time went into looking at them."""
    gc.disable()
    yield
    gc.freeze()
    gc.enable()
