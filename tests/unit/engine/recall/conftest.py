"""An engine whose background beats stand still: what a test asks is all that is asked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from engine_rig import Rig, rig_at

from core.engine.recall.recall_trials import RecallTrials


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with rig_at(tmp_path) as rig:
        rig.opened.storage.threads.stop_tickers()
        yield rig


@pytest.fixture
def lab(rig: Rig) -> RecallTrials:
    return rig.engine.recall_trials
