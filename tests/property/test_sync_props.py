"""Any order of delivery ends in the same vault: random histories of two to five devices, with kills in between.

`tests/bench/bench_sync.py` runs hundreds of them.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sync_histories import History


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    made = Path(tempfile.mkdtemp())
    yield made
    shutil.rmtree(made)


@settings(max_examples=5, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 2**32), st.integers(10, 40))
def test_every_order_ends_in_the_same_rows(folder: Path, seed: int, steps: int) -> None:
    own = Path(tempfile.mkdtemp(dir=folder))
    history = History.begin(own, seed)
    try:
        history.run(steps)
        history.finish()
        assert history.differences() == []
    finally:
        history.close()
        shutil.rmtree(own)


@settings(max_examples=5, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 2**32), st.integers(5, 25), st.integers(1, 3))
def test_who_is_taken_out_reads_nothing_more_and_the_others_agree(
    folder: Path, seed: int, steps: int, removals: int
) -> None:
    own = Path(tempfile.mkdtemp(dir=folder))
    history = History.begin(own, seed)
    try:
        for _ in range(removals):
            history.run(steps)
            history.take_out()
        history.run(steps)
        history.finish()
        assert history.opened_by_removed() == []
        assert history.differences() == []
    finally:
        history.close()
        shutil.rmtree(own)
