"""Garbage collection while a command loads its modules."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def pause_collection() -> Iterator[None]:
    """Collect nothing while modules are loaded.

    Loading makes some 300 000 objects that all stay. The collector would look through them dozens of times, a tenth of
    a second in all, and find nothing; so what stands when the block ends is not looked at later either.
    """
    if not gc.isenabled():  # within another such block
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
